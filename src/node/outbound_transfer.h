/* outbound_transfer.h - one exchange with a server: a request, and the answer as far as it is
 * wanted.
 *
 * The transfer connects to the addresses that it is given and to no others, whatever the name in
 * the URL resolves to by now: libcurl gets them for the name, in a cache of this transfer's own,
 * and each socket's address is compared before it is opened. No proxy, no cookies, no .netrc, no
 * compression, no redirects, HTTP/1.1. A server that sends too much, or next to nothing for long,
 * is cut off.
 *
 * All of it in the thread that drives the multi handle. */
#ifndef SAPLING_NODE_OUTBOUND_TRANSFER_H
#define SAPLING_NODE_OUTBOUND_TRANSFER_H

#include "node/outbound_answer.h"
#include "node/outbound_url.h"

/* Borrowed until the transfer has ended. */
typedef struct TransferRequest {
    const Url *url;
    const char *method;
    struct curl_slist *headers;
    Slice body;
    bool has_body;
    const Address *addresses; /* with ports; at least one */
    size_t address_count;
    uint64_t timeout_ms;
    uint64_t slow_ms;    /* a time in which less than TRANSFER_SLOW_BYTES come is too long */
    uint64_t max_bytes;  /* of the body */
    bool beginning;      /* the body is cut there; otherwise a longer one is an error */
    const char *ca_file; /* NULL: the system's authorities */
    void *owner;         /* transfer_owner() */
} TransferRequest;

enum { TRANSFER_SLOW_BYTES = 256 };

/* What the server has done wrong, where libcurl's code does not say it. */
typedef enum TransferFault {
    TRANSFER_NO_FAULT,
    TRANSFER_BODY_TOO_LARGE,
    TRANSFER_HEAD_TOO_LARGE,
    TRANSFER_TOO_SLOW,
    TRANSFER_NO_MEMORY,
    TRANSFER_SOCKET_REFUSED, /* libcurl wanted to connect to another address */
} TransferFault;

/* All-zero bytes are no transfer. */
typedef struct Transfer {
    TransferRequest request;
    CURLM *multi;
    CURL *easy;
    CURLSH *names;
    struct curl_slist *resolve;
    Answer answer;
    TransferFault fault;
    bool complete;        /* all that is wanted of the body has come */
    uint64_t skipped;     /* bytes of the body beyond that */
    uint64_t received;    /* of head and body */
    uint64_t window_ns;   /* since when the speed is measured; 0: it is not yet */
    uint64_t window_from; /* what had been received then */
    char error[CURL_ERROR_SIZE];
} Transfer;

/* SAP_NOMEM: nothing was begun. */
int transfer_start(Transfer *transfer, CURLM *multi, const TransferRequest *request);

/* The owner of the request of a handle that the multi handle reports as done. */
void *transfer_owner(CURL *easy);

/* 0: no answer has come. */
long transfer_status(const Transfer *transfer);
/* How many seconds the server asks to wait; 0: it does not. */
uint64_t transfer_retry_after_s(const Transfer *transfer);
/* Where a redirect points to, borrowed until the transfer ends; NULL: nowhere. */
const char *transfer_redirect(const Transfer *transfer);

/* Ends it and forgets all of it; all-zero bytes are accepted. */
void transfer_end(Transfer *transfer);

#endif
