/* outbound_transfer.c - see outbound_transfer.h. */
#include "node/outbound_transfer.h"

#include "common/assert.h"
#include "common/clock.h"
#include "common/fd.h"
#include "sapling/error.h"
#include "sapling/version.h"

#include <string.h>
#include <sys/socket.h>

enum {
    CONNECT_MOST_MS = 10000,
    CONNECTION_MOST_S = 600,
    SKIPPED_MOST = 64 << 10, /* of a body of which only the beginning is wanted */
};

/* ---- What libcurl calls ---------------------------------------------------------------------- */

static size_t take_header(char *line, size_t size, size_t count, void *arg)
{
    Transfer *transfer = (Transfer *)arg;
    size_t len = size * count;
    transfer->received += len;
    int rc = answer_add_header(&transfer->answer, line, len);
    if (rc != SAP_OK) {
        transfer->fault = rc == SAP_FULL ? TRANSFER_HEAD_TOO_LARGE : TRANSFER_NO_MEMORY;
        return 0;
    }
    return len;
}

/* Of a body of which only the beginning is wanted. A short rest is read, so that the connection
 * can be used again. */
static size_t skip_rest(Transfer *transfer, size_t len)
{
    transfer->skipped += len;
    transfer->complete = true;
    return transfer->skipped <= SKIPPED_MOST ? len : 0;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *arg)
{
    Transfer *transfer = (Transfer *)arg;
    Buf *body = &transfer->answer.body;
    size_t len = size * count;
    size_t room = (size_t)transfer->request.max_bytes - body->len;
    size_t wanted = len < room ? len : room;
    transfer->received += len;
    if (len > room && !transfer->request.beginning) {
        transfer->fault = TRANSFER_BODY_TOO_LARGE;
        return 0;
    }
    if (buf_append(body, bytes, wanted) != SAP_OK) {
        transfer->fault = TRANSFER_NO_MEMORY;
        return 0;
    }
    return len == wanted || skip_rest(transfer, len - wanted) > 0 ? len : 0;
}

/* Called several times a second. A server may think as long as the timeout lets it; once it has
 * begun to answer, it has to go on. */
static int watch_speed(void *arg, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                       curl_off_t up)
{
    Transfer *transfer = (Transfer *)arg;
    uint64_t now_ns = clock_mono_ns(NULL);
    (void)down_total;
    (void)down;
    (void)up_total;
    (void)up;
    if (transfer->received == 0) {
        return 0;
    }
    if (transfer->window_ns == 0) {
        transfer->window_ns = now_ns;
        transfer->window_from = transfer->received;
    }
    if (now_ns - transfer->window_ns < transfer->request.slow_ms * 1000000) {
        return 0;
    }
    if (transfer->received - transfer->window_from < TRANSFER_SLOW_BYTES) {
        transfer->fault = TRANSFER_TOO_SLOW;
        return 1;
    }
    transfer->window_ns = now_ns;
    transfer->window_from = transfer->received;
    return 0;
}

/* The last word on where a connection goes. */
static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *to)
{
    Transfer *transfer = (Transfer *)arg;
    Address address;
    bool known = purpose == CURLSOCKTYPE_IPCXN && address_from_socket(&to->addr, &address);
    bool permitted = false;
    for (size_t i = 0; known && !permitted && i < transfer->request.address_count; i++) {
        permitted = address_equal(&address, &transfer->request.addresses[i]);
    }
    if (!permitted) {
        transfer->fault = TRANSFER_SOCKET_REFUSED;
        return CURL_SOCKET_BAD;
    }
    return fd_raise(socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol));
}

/* ---- Setting up ------------------------------------------------------------------------------ */

/* "HOST:PORT:ADDRESS,ADDRESS" */
static int list_addresses(Transfer *transfer)
{
    const TransferRequest *request = &transfer->request;
    char text[ADDRESS_TEXT_MAX];
    Buf line = {0};
    int rc = buf_printf(&line, "%s:%u:", request->url->host, request->url->port);
    for (size_t i = 0; rc == SAP_OK && i < request->address_count; i++) {
        address_text(&request->addresses[i], true, text);
        rc = buf_printf(&line, "%s%s", i == 0 ? "" : ",", text);
    }
    rc = rc == SAP_OK ? buf_append_u8(&line, '\0') : rc;
    if (rc == SAP_OK) {
        transfer->resolve = curl_slist_append(NULL, (const char *)line.data);
        rc = transfer->resolve == NULL ? SAP_NOMEM : SAP_OK;
    }
    buf_release(&line);
    return rc;
}

/* Options fail only for want of memory, or where libcurl was built without them: then nothing is
 * called. */
#define SET_OPTION(easy, ok, option, value) \
    ((ok) = (ok) && curl_easy_setopt((easy), (option), (value)) == CURLE_OK)

static bool set_method(const Transfer *transfer)
{
    const TransferRequest *request = &transfer->request;
    CURL *easy = transfer->easy;
    const char *method = request->method;
    bool ok = true;
    if (strcmp(method, "HEAD") == 0) {
        SET_OPTION(easy, ok, CURLOPT_NOBODY, 1L);
        return ok;
    }
    if (request->has_body ||
        (method[0] == 'P')) { /* POST, PUT and PATCH say how long their body is */
        SET_OPTION(easy, ok, CURLOPT_POST, 1L);
        SET_OPTION(easy, ok, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
        SET_OPTION(easy, ok, CURLOPT_POSTFIELDS,
                   request->body.len > 0 ? (const char *)request->body.data : "");
    }
    if (strcmp(method, "GET") != 0 && strcmp(method, "POST") != 0) {
        SET_OPTION(easy, ok, CURLOPT_CUSTOMREQUEST, method);
    }
    return ok;
}

static bool set_limits_of_transfer(const Transfer *transfer)
{
    const TransferRequest *request = &transfer->request;
    CURL *easy = transfer->easy;
    uint64_t connect_ms =
        request->timeout_ms < CONNECT_MOST_MS ? request->timeout_ms : CONNECT_MOST_MS;
    bool ok = true;
    SET_OPTION(easy, ok, CURLOPT_NOSIGNAL, 1L);
    SET_OPTION(easy, ok, CURLOPT_PROTOCOLS_STR, "http,https");
    SET_OPTION(easy, ok, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    SET_OPTION(easy, ok, CURLOPT_FOLLOWLOCATION, 0L);
    SET_OPTION(easy, ok, CURLOPT_PROXY, "");
    SET_OPTION(easy, ok, CURLOPT_NOPROXY, "*");
    SET_OPTION(easy, ok, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    SET_OPTION(easy, ok, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET_OPTION(easy, ok, CURLOPT_HTTP09_ALLOWED, 0L);
    SET_OPTION(easy, ok, CURLOPT_SSL_VERIFYPEER, 1L);
    SET_OPTION(easy, ok, CURLOPT_SSL_VERIFYHOST, 2L);
    SET_OPTION(easy, ok, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    SET_OPTION(easy, ok, CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
    SET_OPTION(easy, ok, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
    SET_OPTION(easy, ok, CURLOPT_MAXLIFETIME_CONN, (long)CONNECTION_MOST_S);
    /* The answer to HEAD names a length that does not come. */
    if (!request->beginning && strcmp(request->method, "HEAD") != 0) {
        SET_OPTION(easy, ok, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)request->max_bytes);
    }
    if (request->ca_file != NULL) {
        SET_OPTION(easy, ok, CURLOPT_CAINFO, request->ca_file);
    }
    return ok;
}

static bool set_callbacks(Transfer *transfer)
{
    CURL *easy = transfer->easy;
    bool ok = true;
    SET_OPTION(easy, ok, CURLOPT_PRIVATE, transfer->request.owner);
    SET_OPTION(easy, ok, CURLOPT_ERRORBUFFER, transfer->error);
    SET_OPTION(easy, ok, CURLOPT_HEADERFUNCTION, take_header);
    SET_OPTION(easy, ok, CURLOPT_HEADERDATA, transfer);
    SET_OPTION(easy, ok, CURLOPT_WRITEFUNCTION, take_body);
    SET_OPTION(easy, ok, CURLOPT_WRITEDATA, transfer);
    SET_OPTION(easy, ok, CURLOPT_XFERINFOFUNCTION, watch_speed);
    SET_OPTION(easy, ok, CURLOPT_XFERINFODATA, transfer);
    SET_OPTION(easy, ok, CURLOPT_NOPROGRESS, 0L);
    SET_OPTION(easy, ok, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    SET_OPTION(easy, ok, CURLOPT_OPENSOCKETDATA, transfer);
    return ok;
}

static bool set_target(const Transfer *transfer)
{
    const TransferRequest *request = &transfer->request;
    CURL *easy = transfer->easy;
    bool ok = true;
    SET_OPTION(easy, ok, CURLOPT_CURLU, request->url->parts);
    SET_OPTION(easy, ok, CURLOPT_SHARE, transfer->names);
    SET_OPTION(easy, ok, CURLOPT_RESOLVE, transfer->resolve);
    SET_OPTION(easy, ok, CURLOPT_USERAGENT, "sapling/" SAPLING_VERSION);
    SET_OPTION(easy, ok, CURLOPT_HTTPHEADER, request->headers);
    return ok;
}

static int set_up(Transfer *transfer)
{
    /* libcurl itself connects to an IPv6 address in a URL, without asking for a name. */
    int rc = strchr(transfer->request.url->host, ':') == NULL ? list_addresses(transfer) : SAP_OK;
    if (rc != SAP_OK) {
        return rc;
    }
    transfer->easy = curl_easy_init();
    transfer->names = curl_share_init();
    bool ok = transfer->easy != NULL && transfer->names != NULL &&
              curl_share_setopt(transfer->names, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS) == CURLSHE_OK;
    ok = ok && set_limits_of_transfer(transfer) && set_callbacks(transfer) &&
         set_target(transfer) && set_method(transfer);
    return ok && curl_multi_add_handle(transfer->multi, transfer->easy) == CURLM_OK ? SAP_OK
                                                                                    : SAP_NOMEM;
}

int transfer_start(Transfer *transfer, CURLM *multi, const TransferRequest *request)
{
    SAP_ASSERT(request->address_count > 0 && request->timeout_ms > 0);
    *transfer = (Transfer){.request = *request, .multi = multi};
    int rc = set_up(transfer);
    if (rc != SAP_OK) {
        transfer_end(transfer);
    }
    return rc;
}

void transfer_end(Transfer *transfer)
{
    if (transfer->easy != NULL) {
        /* Nothing is added and then removed twice: libcurl ignores a handle that it does not
         * have. */
        (void)curl_multi_remove_handle(transfer->multi, transfer->easy);
        curl_easy_cleanup(transfer->easy);
    }
    if (transfer->names != NULL) {
        (void)curl_share_cleanup(transfer->names);
    }
    curl_slist_free_all(transfer->resolve);
    answer_release(&transfer->answer);
    *transfer = (Transfer){0};
}

/* ---- What came ------------------------------------------------------------------------------- */

void *transfer_owner(CURL *easy)
{
    char *owner = NULL;
    (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, &owner);
    SAP_ASSERT(owner != NULL);
    return owner;
}

long transfer_status(const Transfer *transfer)
{
    long status = 0;
    (void)curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

uint64_t transfer_retry_after_s(const Transfer *transfer)
{
    curl_off_t seconds = 0;
    (void)curl_easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &seconds);
    return seconds > 0 ? (uint64_t)seconds : 0;
}

const char *transfer_redirect(const Transfer *transfer)
{
    const char *url = NULL;
    (void)curl_easy_getinfo(transfer->easy, CURLINFO_REDIRECT_URL, &url);
    return url;
}
