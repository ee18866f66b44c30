/* outbound_call.c - see outbound_call.h. */
#include "node/outbound_call.h"

#include "common/assert.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/utf8.h"

#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MS_NS UINT64_C(1000000)

enum {
    MESSAGE_MAX = 1280,
    ATTEMPT_MS = 30000, /* of a call that nobody has limited */
    GRACE_MS = 1000,    /* after an attempt's time is up: who asked ends the call before */
    SIGNING = PARAMS_HEADERS_MAX, /* its place in OutboundCall.secrets */
    PAUSE_MOST_S = 3600,
    MASKED_PART_MIN = 8,
};

/* ---- Ending ---------------------------------------------------------------------------------- */

static void set_result(OutboundCall *call, CallVerdict verdict, const char *code)
{
    SAP_ASSERT(call->stage != CALL_ENDED && strlen(code) < sizeof call->result.code);
    lookup_release(call->lookup);
    call->lookup = NULL;
    call->result.verdict = verdict;
    (void)snprintf(call->result.code, sizeof call->result.code, "%s", code);
    call->stage = CALL_ENDED;
}

/* Ends the call without an answer of the server. The message reaches the world. */
__attribute__((format(printf, 4, 5))) static void end_call(OutboundCall *call, CallVerdict verdict,
                                                           const char *code, const char *format,
                                                           ...)
{
    const Answer none = {{0}, 0, {0}};
    char message[MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    set_result(call, verdict, code);
    if (answer_write(&none, 0, true, message, &call->result.payload) != SAP_OK) {
        buf_release(&call->result.payload);
    }
}

static void end_without_memory(OutboundCall *call)
{
    end_call(call, CALL_RETRY, "no_memory", "the node is out of memory");
}

/* ---- Secrets --------------------------------------------------------------------------------- */

/* Ends the call if the secret is not to be had. */
static bool fetch_secret(OutboundCall *call, const CallContext *context, const char *name,
                         Buf *value)
{
    char reason[SECRET_REASON_MAX] = "this node has no secrets";
    int rc = context->secrets.get == NULL
                 ? SAP_NOTFOUND
                 : context->secrets.get(context->secrets.ctx, name, &call->url, value, reason);
    if (rc == SAP_OK && !request_value_valid((const char *)value->data, value->len)) {
        rc = SAP_INVALID;
        (void)snprintf(reason, sizeof reason, "the value of \"%.128s\" has a control character",
                       name);
    }
    switch (rc) {
    case SAP_OK:
        return true;
    case SAP_NOMEM:
        end_without_memory(call);
        break;
    case SAP_IO:
        end_call(call, CALL_RETRY, "secret_unreadable", "%s", reason);
        break;
    default:
        end_call(call, CALL_ERROR, rc == SAP_NOTFOUND ? "secret_unknown" : "secret_refused", "%s",
                 reason);
        break;
    }
    return false;
}

static bool fetch_secrets(OutboundCall *call, const CallContext *context)
{
    bool ok = true;
    for (size_t i = 0; ok && i < call->request.header_count; i++) {
        const char *name = call->request.headers[i].secret;
        ok = name == NULL || fetch_secret(call, context, name, &call->secrets[i]);
    }
    const char *signing = call->request.signing_secret;
    return ok && (signing == NULL || fetch_secret(call, context, signing, &call->secrets[SIGNING]));
}

/* Servers repeat what they were sent, also without the word before it ("Bearer"). */
static void mask_secrets(const OutboundCall *call, Answer *answer)
{
    for (size_t i = 0; i <= SIGNING; i++) {
        const Buf *value = &call->secrets[i];
        const uint8_t *space =
            value->len == 0 ? NULL : (const uint8_t *)memrchr(value->data, ' ', value->len);
        secret_mask(value, answer->headers.data, answer->headers.len);
        secret_mask(value, answer->body.data, answer->body.len);
        if (space != NULL) {
            size_t at = (size_t)(space + 1 - value->data);
            const Buf part = {value->data + at, value->len - at, value->cap - at};
            if (part.len >= MASKED_PART_MIN) {
                secret_mask(&part, answer->headers.data, answer->headers.len);
                secret_mask(&part, answer->body.data, answer->body.len);
            }
        }
    }
}

/* ---- Headers --------------------------------------------------------------------------------- */

static void free_headers(OutboundCall *call)
{
    for (struct curl_slist *at = call->headers; at != NULL; at = at->next) {
        explicit_bzero(at->data, strlen(at->data)); /* secrets may be among them */
    }
    curl_slist_free_all(call->headers);
    call->headers = NULL;
}

/* "name: value", or "name;" for an empty value, as libcurl wants it. */
static bool add_header(OutboundCall *call, const char *name, const void *value, size_t len)
{
    Buf line = {0};
    int rc = buf_reserve(&line, strlen(name) + len + 3);
    rc = rc == SAP_OK ? buf_printf(&line, len == 0 ? "%s;" : "%s: ", name) : rc;
    rc = rc == SAP_OK ? buf_append(&line, value, len) : rc;
    rc = rc == SAP_OK ? buf_append_u8(&line, '\0') : rc;
    struct curl_slist *list =
        rc == SAP_OK ? curl_slist_append(call->headers, (const char *)line.data) : NULL;
    call->headers = list == NULL ? call->headers : list;
    secret_wipe(&line);
    return list != NULL;
}

/* HMAC-SHA256 of the time, a dot and the body, so that neither can be changed nor used again
 * later. */
static bool add_signature(OutboundCall *call)
{
    crypto_auth_hmacsha256_state state;
    uint8_t mac[crypto_auth_hmacsha256_BYTES];
    char hex[2 * sizeof mac + 1];
    char text[sizeof hex + 48];
    const Buf *secret = &call->secrets[SIGNING];
    int len = snprintf(text, sizeof text, "%llu.",
                       (unsigned long long)(clock_wall_ns(NULL) / UINT64_C(1000000000)));
    (void)crypto_auth_hmacsha256_init(&state, secret->data, secret->len);
    (void)crypto_auth_hmacsha256_update(&state, (const uint8_t *)text, strlen(text));
    (void)crypto_auth_hmacsha256_update(&state, call->request.body.data, call->request.body.len);
    (void)crypto_auth_hmacsha256_final(&state, mac);
    explicit_bzero(&state, sizeof state);
    char value[sizeof text + 8];
    int value_len = snprintf(value, sizeof value, "t=%.*s,v1=%s", len - 1, text,
                             sodium_bin2hex(hex, sizeof hex, mac, sizeof mac));
    return add_header(call, "Sapling-Signature", value, (size_t)value_len);
}

/* Headers that say who asks: they stay with the origin that they were meant for. */
static bool stays_with_origin(const RequestHeader *header)
{
    return header->secret != NULL || strcasecmp(header->name, "authorization") == 0 ||
           strcasecmp(header->name, "cookie") == 0;
}

/* A header of a body that is not sent any more would describe nothing. */
static bool describes_body(const RequestHeader *header)
{
    return strncasecmp(header->name, "content-", 8) == 0;
}

static bool add_headers(OutboundCall *call)
{
    const Request *request = &call->request;
    const char *type = call->send_body ? request->content_type : NULL;
    bool has_type = false;
    bool ok = add_header(call, "Idempotency-Key", call->key, strlen(call->key));
    for (size_t i = 0; ok && i < request->header_count; i++) {
        const RequestHeader *header = &request->headers[i];
        if ((call->strayed && stays_with_origin(header)) ||
            (!call->send_body && request->has_body && describes_body(header))) {
            continue;
        }
        has_type = has_type || strcasecmp(header->name, "content-type") == 0;
        ok = header->secret == NULL
                 ? add_header(call, header->name, header->value, strlen(header->value))
                 : add_header(call, header->name, call->secrets[i].data, call->secrets[i].len);
    }
    if (ok && request->signing_secret != NULL) {
        ok = add_signature(call);
    }
    /* libcurl would add a type of its own, and wait for a "100 Continue". */
    if (ok && !has_type) {
        ok = type != NULL ? add_header(call, "Content-Type", type, strlen(type))
                          : curl_slist_append(call->headers, "Content-Type:") != NULL;
    }
    return ok && curl_slist_append(call->headers, "Expect:") != NULL;
}

/* ---- A hop ----------------------------------------------------------------------------------- */

static uint64_t left_ms(const OutboundCall *call)
{
    uint64_t now_ns = clock_mono_ns(NULL);
    return now_ns + MS_NS > call->deadline_ns ? 0 : (call->deadline_ns - now_ns) / MS_NS;
}

static void end_late(OutboundCall *call)
{
    char origin[URL_ORIGIN_MAX];
    url_origin(&call->url, origin);
    end_call(call, CALL_RETRY, "timeout", "%s has not answered in time", origin);
}

static void connect_call(OutboundCall *call, const CallContext *context)
{
    char reason[GUARD_REASON_MAX];
    if (!guard_check(context->guard, call->url.host, call->addresses, &call->address_count,
                     reason)) {
        end_call(call, CALL_ERROR, "address_refused", "%s", reason);
        return;
    }
    uint64_t timeout_ms = left_ms(call);
    if (timeout_ms == 0) {
        end_late(call);
        return;
    }
    free_headers(call);
    const TransferRequest request = {
        .url = &call->url,
        .method = call->method,
        .headers = add_headers(call) ? call->headers : NULL,
        .body = {call->request.body.data, call->send_body ? call->request.body.len : 0},
        .has_body = call->send_body,
        .addresses = call->addresses,
        .address_count = call->address_count,
        .timeout_ms = timeout_ms,
        .slow_ms = context->slow_ms,
        .max_bytes = call->request.max_bytes,
        .beginning = call->request.webhook,
        .ca_file = context->ca_file,
        .owner = call,
    };
    if (request.headers == NULL ||
        transfer_start(&call->transfer, context->multi, &request) != SAP_OK) {
        end_without_memory(call);
        return;
    }
    call->stage = CALL_TALKING;
}

/* The URL is read. */
static void begin_hop(OutboundCall *call, const CallContext *context)
{
    if (address_read(call->url.host, call->url.port, &call->addresses[0])) {
        call->address_count = 1;
        connect_call(call, context);
        return;
    }
    call->stage = CALL_RESOLVING;
    if (lookup_start(context->lookups, call->url.host, &call->lookup) != SAP_OK) {
        end_without_memory(call);
    }
}

void call_begin(OutboundCall *call, const CallContext *context)
{
    char reason[URL_REASON_MAX];
    SAP_ASSERT(call->stage == CALL_NEW);
    int rc = url_read(call->request.url, &call->url, reason);
    if (rc == SAP_NOMEM) {
        end_without_memory(call);
    } else if (rc != SAP_OK) {
        end_call(call, CALL_ERROR, "bad_params", "url: %s", reason);
    } else if (fetch_secrets(call, context)) {
        begin_hop(call, context);
    }
}

void call_step(OutboundCall *call, const CallContext *context)
{
    LookupAnswer answer;
    SAP_ASSERT(call->stage == CALL_RESOLVING);
    if (!lookup_poll(call->lookup, &answer)) {
        if (left_ms(call) == 0) {
            end_call(call, CALL_RETRY, "timeout", "the name %s was not resolved in time",
                     call->url.host);
        }
        return;
    }
    lookup_release(call->lookup);
    call->lookup = NULL;
    if (answer.outcome != LOOKUP_FOUND || answer.count == 0) {
        bool unknown = answer.outcome != LOOKUP_FAILED;
        end_call(
            call, unknown ? CALL_ERROR : CALL_RETRY, unknown ? "host_not_found" : "lookup_failed",
            unknown ? "there is no host %s" : "the name %s cannot be resolved now", call->url.host);
        return;
    }
    call->address_count = answer.count;
    for (size_t i = 0; i < answer.count; i++) {
        call->addresses[i] = answer.addresses[i];
        call->addresses[i].port = call->url.port;
    }
    connect_call(call, context);
}

/* ---- Redirects ------------------------------------------------------------------------------- */

static bool is_redirect(long status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* Which method the next hop has, by RFC 9110 and as browsers do it. */
static void change_method(OutboundCall *call, long status)
{
    bool reads = strcmp(call->method, "GET") == 0 || strcmp(call->method, "HEAD") == 0;
    bool changes = (status == 303 && !reads) ||
                   ((status == 301 || status == 302) && strcmp(call->method, "POST") == 0);
    if (changes) {
        call->method = "GET";
        call->send_body = false;
    }
}

/* Goes where the answer points, or ends the call. */
static void follow_redirect(OutboundCall *call, const CallContext *context, const char *target,
                            long status)
{
    char reason[URL_REASON_MAX];
    char origin[URL_ORIGIN_MAX];
    Url next;
    url_origin(&call->url, origin);
    if (call->redirects == CALL_REDIRECTS_MAX) {
        transfer_end(&call->transfer);
        end_call(call, CALL_ERROR, "too_many_redirects", "%s redirects further, after %d redirects",
                 origin, (int)CALL_REDIRECTS_MAX);
        return;
    }
    int rc = url_read(target, &next, reason);
    transfer_end(&call->transfer);
    if (rc != SAP_OK) {
        rc == SAP_NOMEM ? end_without_memory(call)
                        : end_call(call, CALL_ERROR, "redirect_refused",
                                   "%s redirects to what cannot be called: %s", origin, reason);
        return;
    }
    if (call->url.tls && !next.tls) {
        url_release(&next);
        end_call(call, CALL_ERROR, "redirect_refused", "%s redirects to a URL without TLS", origin);
        return;
    }
    call->redirects++;
    call->strayed = call->strayed || !url_same_origin(&call->url, &next);
    change_method(call, status);
    url_release(&call->url);
    call->url = next;
    begin_hop(call, context);
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* A character that was cut at the end of the beginning of a body would make bytes of a text. */
static void drop_cut_character(const Transfer *transfer, Buf *body)
{
    size_t whole = body->len;
    if (!transfer->complete) {
        return;
    }
    while (whole > 0 && body->len - whole < 4 && !utf8_valid(body->data, whole)) {
        whole--;
    }
    if (utf8_valid(body->data, whole)) {
        buf_truncate(body, whole);
    }
}

static bool may_be_repeated(long status)
{
    return status == 408 || status == 429 || (status >= 500 && status <= 599);
}

static void end_with_answer(OutboundCall *call, long status)
{
    Transfer *transfer = &call->transfer;
    Buf *payload = &call->result.payload;
    char code[CALL_CODE_MAX] = "";
    bool ok = status >= 200 && status <= 299;
    mask_secrets(call, &transfer->answer);
    drop_cut_character(transfer, &transfer->answer.body);
    int rc = answer_write(&transfer->answer, status, call->request.webhook, NULL, payload);
    uint64_t pause_s = may_be_repeated(status) ? transfer_retry_after_s(transfer) : 0;
    transfer_end(transfer);
    call->result.status = status;
    if (rc != SAP_OK) {
        buf_release(payload);
        end_without_memory(call);
        return;
    }
    if (payload->len > SAP_WORLD_MAX_PAYLOAD) {
        buf_release(payload);
        end_call(
            call, CALL_ERROR, "response_too_large",
            "the answer (status %ld) does not fit a receipt of %u bytes; lower max_bytes, or ask "
            "for less",
            status, SAP_WORLD_MAX_PAYLOAD);
        return;
    }
    if (!ok) {
        (void)snprintf(code, sizeof code, "http_%ld", status);
    }
    call->result.pause_ms = 1000 * (pause_s < PAUSE_MOST_S ? pause_s : PAUSE_MOST_S);
    set_result(call, ok ? CALL_OK : may_be_repeated(status) ? CALL_RETRY : CALL_ERROR, code);
}

/* ---- Failures -------------------------------------------------------------------------------- */

/* Codes of libcurl that mean more than "failed". */
typedef struct FailureName {
    CURLcode from;
    CallVerdict verdict;
    const char *code;
} FailureName;

static const FailureName failure_names[] = {
    {CURLE_COULDNT_CONNECT, CALL_RETRY, "connect_failed"},
    {CURLE_SSL_CONNECT_ERROR, CALL_RETRY, "connect_failed"},
    {CURLE_OPERATION_TIMEDOUT, CALL_RETRY, "timeout"},
    {CURLE_RECV_ERROR, CALL_RETRY, "connection_lost"},
    {CURLE_SEND_ERROR, CALL_RETRY, "connection_lost"},
    {CURLE_GOT_NOTHING, CALL_RETRY, "connection_lost"},
    {CURLE_PARTIAL_FILE, CALL_RETRY, "connection_lost"},
    {CURLE_PEER_FAILED_VERIFICATION, CALL_ERROR, "tls_refused"},
    {CURLE_SSL_CACERT_BADFILE, CALL_ERROR, "tls_refused"},
    {CURLE_SSL_ISSUER_ERROR, CALL_ERROR, "tls_refused"},
    {CURLE_FILESIZE_EXCEEDED, CALL_ERROR, "response_too_large"},
    {CURLE_WEIRD_SERVER_REPLY, CALL_RETRY, "bad_answer"},
    {CURLE_UNSUPPORTED_PROTOCOL, CALL_RETRY, "bad_answer"}, /* what comes is not HTTP */
    {CURLE_OUT_OF_MEMORY, CALL_RETRY, "no_memory"},
    {CURLE_OK, CALL_RETRY, "failed"}, /* all others; the last */
};

static const FailureName *name_failure(CURLcode code)
{
    const FailureName *at = failure_names;
    while (at->from != code && at->from != CURLE_OK) {
        at++;
    }
    return at;
}

static void end_with_failure(OutboundCall *call, CURLcode code)
{
    const Transfer *transfer = &call->transfer;
    const FailureName *name = name_failure(code);
    char origin[URL_ORIGIN_MAX];
    char error[CURL_ERROR_SIZE];
    TransferFault fault = transfer->fault;
    long status = transfer_status(transfer);
    (void)snprintf(error, sizeof error, "%s",
                   transfer->error[0] != '\0' ? transfer->error : curl_easy_strerror(code));
    url_origin(&call->url, origin);
    transfer_end(&call->transfer);
    call->result.status = status;
    switch (fault) {
    case TRANSFER_BODY_TOO_LARGE:
        end_call(call, CALL_ERROR, "response_too_large",
                 "the answer of %s (status %ld) has more than max_bytes, %llu bytes", origin,
                 status, (unsigned long long)call->request.max_bytes);
        break;
    case TRANSFER_HEAD_TOO_LARGE:
        end_call(call, CALL_ERROR, "response_too_large",
                 "the answer of %s has more than %d headers or %d bytes of them", origin,
                 (int)ANSWER_HEADER_COUNT_MAX, (int)ANSWER_HEADERS_MAX);
        break;
    case TRANSFER_TOO_SLOW:
        end_call(call, CALL_RETRY, "too_slow", "%s sends its answer too slowly", origin);
        break;
    case TRANSFER_NO_MEMORY:
        end_without_memory(call);
        break;
    case TRANSFER_SOCKET_REFUSED:
        end_call(call, CALL_ERROR, "address_refused",
                 "%s was to be called at an address that was not checked", origin);
        break;
    case TRANSFER_NO_FAULT:
        end_call(call, name->verdict, name->code, "%s: %s", origin, error);
        break;
    }
}

void call_continue(OutboundCall *call, const CallContext *context, CURLcode code)
{
    Transfer *transfer = &call->transfer;
    SAP_ASSERT(call->stage == CALL_TALKING);
    long status = transfer_status(transfer);
    const char *target = code == CURLE_OK ? transfer_redirect(transfer) : NULL;
    /* A webhook is delivered when its status has come: the rest of the answer is of no interest. */
    bool delivered = call->request.webhook && status >= 200 && status <= 299;
    if (code == CURLE_OK || transfer->complete || delivered) {
        if (call->request.follow && target != NULL && is_redirect(status)) {
            follow_redirect(call, context, target, status);
        } else {
            end_with_answer(call, status);
        }
    } else {
        end_with_failure(call, code);
    }
}

/* ---- Making and freeing ---------------------------------------------------------------------- */

static void set_deadline(OutboundCall *call, uint64_t attempt_ns)
{
    uint64_t attempt_ms = attempt_ns == 0 ? ATTEMPT_MS : attempt_ns / MS_NS;
    uint64_t asked_ms = call->request.timeout_ms;
    uint64_t limit_ms = asked_ms > 0 && asked_ms < attempt_ms ? asked_ms : attempt_ms + GRACE_MS;
    call->begun_ns = clock_mono_ns(NULL);
    call->deadline_ns = call->begun_ns + limit_ms * MS_NS;
}

int call_new(bool webhook, const SapEffectCall *asked, OutboundCall **call_out)
{
    char reason[PARAMS_REASON_MAX];
    OutboundCall *call = (OutboundCall *)mem_zalloc(MEM_COMMON, sizeof *call);
    if (call == NULL) {
        return SAP_NOMEM;
    }
    (void)snprintf(call->world, sizeof call->world, "%s", asked->world);
    (void)snprintf(call->ref, sizeof call->ref, "%s", asked->ref);
    (void)snprintf(call->key, sizeof call->key, "%s", asked->idempotency_key);
    call->attempt = asked->attempt;
    int rc = request_read(webhook, asked->encoding, asked->params, asked->params_len,
                          &call->request, reason);
    if (rc == SAP_NOMEM) {
        call_free(call);
        return rc;
    }
    set_deadline(call, asked->timeout_ns);
    call->method = call->request.method;
    call->send_body = call->request.has_body;
    if (rc != SAP_OK) {
        end_call(call, CALL_ERROR, "bad_params", "%s", reason);
    }
    *call_out = call;
    return SAP_OK;
}

void call_free(OutboundCall *call)
{
    if (call == NULL) {
        return;
    }
    transfer_end(&call->transfer);
    lookup_release(call->lookup);
    free_headers(call);
    for (size_t i = 0; i <= SIGNING; i++) {
        secret_wipe(&call->secrets[i]);
    }
    url_release(&call->url);
    request_release(&call->request);
    buf_release(&call->result.payload);
    mem_free(MEM_COMMON, call, sizeof *call);
}
