/* outbound_url.c - see outbound_url.h. */
#include "node/outbound_url.h"

#include "common/assert.h"
#include "sapling/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse_url(char *reason, const char *text)
{
    (void)snprintf(reason, URL_REASON_MAX, "%s", text);
    return SAP_INVALID;
}

static int code_of_url(CURLUcode code, char *reason)
{
    switch (code) {
    case CURLUE_OK:
        return SAP_OK;
    case CURLUE_OUT_OF_MEMORY:
        return SAP_NOMEM;
    case CURLUE_USER_NOT_ALLOWED:
        return refuse_url(reason, "has a user or password; use a header with a secret");
    case CURLUE_UNSUPPORTED_SCHEME:
        return refuse_url(reason, "only http:// and https:// can be called");
    case CURLUE_BAD_PORT_NUMBER:
        return refuse_url(reason, "its port is not a number from 1 to 65535");
    default:
        (void)snprintf(reason, URL_REASON_MAX, "is not a URL such as https://example.com/path (%s)",
                       curl_url_strerror(code));
        return SAP_INVALID;
    }
}

/* Copies a part into out[0..size), in lower case. */
static int copy_part(CURLU *parts, CURLUPart which, char *out, size_t size, char *reason)
{
    char *text = NULL;
    int rc = code_of_url(curl_url_get(parts, which, &text, CURLU_DEFAULT_PORT), reason);
    if (rc == SAP_OK && strlen(text) >= size) {
        rc = refuse_url(reason, "its host is too long");
    }
    for (size_t i = 0; rc == SAP_OK && (i == 0 || text[i - 1] != '\0'); i++) {
        out[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];
    }
    curl_free(text);
    return rc;
}

/* Without brackets and without a dot at its end, in *out and in the URL itself. */
static int read_host(Url *out, char *reason)
{
    char text[GUARD_HOST_MAX + 4];
    char *zone = NULL;
    Address address;
    int rc = copy_part(out->parts, CURLUPART_HOST, text, sizeof text, reason);
    if (rc != SAP_OK) {
        return rc;
    }
    size_t len = strlen(text);
    CURLUcode zoned = curl_url_get(out->parts, CURLUPART_ZONEID, &zone, 0);
    curl_free(zone);
    if (zoned == CURLUE_OUT_OF_MEMORY) {
        return SAP_NOMEM;
    }
    if (zoned == CURLUE_OK) {
        return refuse_url(reason, "its address has a scope, which cannot be called");
    }
    if (text[0] == '[') {
        if (len < 4 || len > GUARD_HOST_MAX || text[len - 1] != ']') {
            return refuse_url(reason, "its host is not an address");
        }
        memcpy(out->host, text + 1, len - 2);
        return SAP_OK;
    }
    bool dot = len > 1 && text[len - 1] == '.';
    len -= dot;
    text[len] = '\0';
    if (len == 0 || len > GUARD_HOST_MAX || text[0] == '.' || text[len - 1] == '.' ||
        strstr(text, "..") != NULL ||
        strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789.-_") != len) {
        return refuse_url(reason,
                          "its host is not a name: letters, digits, dots and hyphens. Write "
                          "international names as xn--...");
    }
    /* libcurl brings an IPv4 address to its one form only where no dot follows. */
    if (address_read(text, 0, &address)) {
        address_text(&address, false, text);
    }
    len = strlen(text);
    SAP_ASSERT(len <= GUARD_HOST_MAX);
    memcpy(out->host, text, len + 1);
    return code_of_url(curl_url_set(out->parts, CURLUPART_HOST, text, 0), reason);
}

static int read_port(Url *out, char *reason)
{
    char text[16];
    int rc = copy_part(out->parts, CURLUPART_PORT, text, sizeof text, reason);
    unsigned long port = rc == SAP_OK ? strtoul(text, NULL, 10) : 0;
    if (rc == SAP_OK && (port == 0 || port > UINT16_MAX)) {
        rc = code_of_url(CURLUE_BAD_PORT_NUMBER, reason);
    }
    out->port = (uint16_t)port;
    return rc;
}

static int read_parts(const char *text, Url *out, char *reason)
{
    char scheme[16];
    int rc =
        code_of_url(curl_url_set(out->parts, CURLUPART_URL, text, CURLU_DISALLOW_USER), reason);
    rc = rc == SAP_OK ? copy_part(out->parts, CURLUPART_SCHEME, scheme, sizeof scheme, reason) : rc;
    if (rc == SAP_OK && strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0) {
        rc = code_of_url(CURLUE_UNSUPPORTED_SCHEME, reason);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    out->tls = strcmp(scheme, "https") == 0;
    rc = read_host(out, reason);
    return rc == SAP_OK ? read_port(out, reason) : rc;
}

int url_read(const char *text, Url *out, char reason[URL_REASON_MAX])
{
    *out = (Url){.parts = curl_url()};
    int rc = out->parts != NULL ? read_parts(text, out, reason) : SAP_NOMEM;
    if (rc != SAP_OK) {
        url_release(out);
    }
    return rc;
}

void url_release(Url *url)
{
    curl_url_cleanup(url->parts);
    *url = (Url){0};
}

bool url_same_origin(const Url *a, const Url *b)
{
    return a->tls == b->tls && a->port == b->port && strcmp(a->host, b->host) == 0;
}

void url_origin(const Url *url, char out[URL_ORIGIN_MAX])
{
    bool bare = strchr(url->host, ':') != NULL;
    (void)snprintf(out, URL_ORIGIN_MAX, "%s://%s%s%s:%u", url->tls ? "https" : "http",
                   bare ? "[" : "", url->host, bare ? "]" : "", url->port);
}
