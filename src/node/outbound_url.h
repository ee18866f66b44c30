/* outbound_url.h - a URL taken apart, checked, and followed.
 *
 * libcurl's parser does it, which also connects by what it finds, so that no two readings of one
 * text can differ: it decodes and normalises hosts, and brings 127.1 and 2130706433 to
 * 127.0.0.1. Only http and https, no user, no scope of an address, no host that is not ASCII. */
#ifndef SAPLING_NODE_OUTBOUND_URL_H
#define SAPLING_NODE_OUTBOUND_URL_H

#include "node/outbound_guard.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

enum { URL_REASON_MAX = 256 };

typedef struct Url {
    CURLU *parts; /* for CURLOPT_CURLU */
    bool tls;
    char host[GUARD_HOST_MAX + 1]; /* lower case; an IPv6 address without brackets */
    uint16_t port;
} Url;

/* Fills *out, which is released with url_release(). SAP_INVALID: `reason` says why it cannot be
 * called. SAP_NOMEM. After both there is nothing to release. */
int url_read(const char *text, Url *out, char reason[URL_REASON_MAX]);
/* All-zero bytes are accepted. */
void url_release(Url *url);

/* Whether both have one scheme, host and port. */
bool url_same_origin(const Url *a, const Url *b);

/* The origin, for messages and logs; the rest of a URL may hold what is nobody's business. */
enum { URL_ORIGIN_MAX = GUARD_HOST_MAX + 24 };
void url_origin(const Url *url, char out[URL_ORIGIN_MAX]);

#endif
