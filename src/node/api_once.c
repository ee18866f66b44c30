/* api_once.c - see api_once.h. */
#include "node/api_once.h"

#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "node/api_routes.h"

enum { KEPT_MOST = SAP_WORLD_MAX_VALUE, STATUS_DIGITS = 3 };

void api_once_scope(const Call *call, const char *kind, char out[SAP_WORLD_MAX_NAME + 1])
{
    (void)snprintf(out, SAP_WORLD_MAX_NAME + 1, "%s:%s", kind, call->caller.id);
}

/* What is asked for: method, path with its name, parameters, body. Each ends with a NUL. */
static int describe_request(const Call *call, Buf *out)
{
    int rc = buf_append(out, call->route->method, strlen(call->route->method) + 1);
    rc = rc == SAP_OK ? buf_append(out, call->route->path, strlen(call->route->path) + 1) : rc;
    rc = rc == SAP_OK ? buf_append(out, call->arg, strlen(call->arg) + 1) : rc;
    rc = rc == SAP_OK ? buf_append(out, call->queries_text.data, call->queries_text.len) : rc;
    return rc == SAP_OK ? buf_append(out, call->body.data, call->body.len) : rc;
}

/* The kept answer: the status, then the text. */
static bool answer_kept(Call *call, const SapReply *kept)
{
    Buf text = {0};
    uint32_t status = 0;
    SAP_ASSERT(kept->payload_len >= STATUS_DIGITS);
    for (int i = 0; i < STATUS_DIGITS; i++) {
        status = status * 10 + (uint32_t)(kept->payload[i] - '0');
    }
    if (buf_append(&text, kept->payload + STATUS_DIGITS, kept->payload_len - STATUS_DIGITS) !=
        SAP_OK) {
        return call_fail_code(call, SAP_NOMEM, "answer");
    }
    call_answer_text(call, status, "application/json", &text);
    return true;
}

static void keep_answer(Call *call, const SapOnce *once)
{
    Buf kept = {0};
    int rc = buf_printf(&kept, "%0*u", STATUS_DIGITS, call->status);
    rc = rc == SAP_OK ? buf_append(&kept, call->text.data, call->text.len) : rc;
    if (rc == SAP_OK && kept.len <= KEPT_MOST) {
        /* What failed to be kept is done again when it is asked for again. */
        (void)sap_once_put(call->api->universe, once, kept.data, kept.len, NULL);
    }
    buf_release(&kept);
}

void api_run_once(Call *call)
{
    char scope[SAP_WORLD_MAX_NAME + 1];
    Buf request = {0};
    SapReply *kept = NULL;
    if (call->key[0] == 0) {
        call->route->run(call);
        return;
    }
    if (describe_request(call, &request) != SAP_OK) {
        (void)call_fail_code(call, SAP_NOMEM, "request");
        buf_release(&request);
        return;
    }
    api_once_scope(call, "call", scope);
    SapOnce once = {.size = sizeof once,
                    .scope = scope,
                    .key = call->key,
                    .request = request.data,
                    .request_len = request.len};
    int rc = sap_once_get(call->api->universe, &once, &kept);
    if (rc == SAP_OK) {
        (void)answer_kept(call, kept);
    } else if (rc == SAP_EXISTS) {
        (void)call_fail(call, API_KEY_REUSED,
                        "the Idempotency-Key was used with another request: use a new one");
    } else if (rc != SAP_NOTFOUND) {
        (void)call_fail_code(call, rc, "key");
    } else {
        call->route->run(call);
        SAP_ASSERT(call->status != 0 && call->park_in == NULL);
        if (call->status < 300) {
            keep_answer(call, &once);
        }
    }
    sap_reply_free(kept);
    buf_release(&request);
}
