/* api_messages.c - see api_messages.h. */
#include "node/api_messages.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/clock.h"
#include "common/random.h"
#include "node/api_history.h"
#include "node/api_worlds.h"
#include "node/http_pool.h"
#include "node/http_wait.h"
#include "universe/callers.h"

static const char key_prefix[] = "key:";

/* One message on its way into an inbox. */
typedef struct Sending {
    Call *call;
    CallerSend send;
    Payload payload;
    const char *module; /* creates the world where it is missing; NULL: it does not */
    bool waits;
    uint64_t wait_ms;
} Sending;

/* ---- What is to be sent ---------------------------------------------------------------------- */

/* The id of the item: given, made of the key, or random where only a wait needs one. */
static bool choose_id(Call *call, const char *given, bool waits)
{
    if (given != NULL && strncmp(given, key_prefix, sizeof key_prefix - 1) == 0) {
        return call_fail_detail(call, API_BAD_REQUEST, json_pack("{s:s}", "field", "id"),
                                "the field \"id\" may not begin with \"%s\": such ids are made of "
                                "the Idempotency-Key",
                                key_prefix);
    }
    if (given != NULL) {
        (void)snprintf(call->id, sizeof call->id, "%s", given);
    } else if (call->key[0] != 0) {
        (void)snprintf(call->id, sizeof call->id, "%s%s:%s", key_prefix, call->caller.id,
                       call->key);
    } else if (waits) {
        uint8_t bytes[16];
        char digits[2 * sizeof bytes + 1];
        if (random_fill(NULL, bytes, sizeof bytes) != SAP_OK) {
            return call_fail_code(call, SAP_IO, "message");
        }
        (void)sodium_bin2hex(digits, sizeof digits, bytes, sizeof bytes);
        (void)snprintf(call->id, sizeof call->id, "wait:%s", digits);
    }
    return true;
}

static bool read_sending(Sending *sending)
{
    Call *call = sending->call;
    const char *name = NULL;
    const char *id = NULL;
    const char *correlation_id = NULL;
    uint64_t priority = 0;
    if (!call_query_wait(call, &sending->waits, &sending->wait_ms) || !call_read_body(call) ||
        !call_field_text(call, "name", SAP_WORLD_MAX_NAME, false, &name) ||
        !call_field_text(call, "id", SAP_WORLD_MAX_ID, false, &id) ||
        !call_field_text(call, "correlation_id", SAP_WORLD_MAX_ID, false, &correlation_id) ||
        !call_field_text(call, "module", SAP_WORLD_MAX_NAME, false, &sending->module) ||
        !call_field_u64(call, "priority", UINT8_MAX, 0, &priority) ||
        !call_field_payload(call, &sending->payload) ||
        !choose_id(call, id == NULL || id[0] == 0 ? NULL : id, sending->waits)) {
        return false;
    }
    sending->send = (CallerSend){
        .world = call->arg,
        .item = {.size = sizeof(SapIngress),
                 .name = name,
                 .id = call->id[0] == 0 ? NULL : call->id,
                 .correlation_id = correlation_id,
                 .trace_parent = call->trace_parent[0] == 0 ? NULL : call->trace_parent,
                 .encoding = sending->payload.encoding,
                 .payload = sending->payload.data,
                 .payload_len = sending->payload.len,
                 .priority = (uint8_t)priority,
                 .want_reply = sending->waits},
        .whole_id = id == NULL && call->key[0] != 0,
    };
    return true;
}

/* ---- Answers --------------------------------------------------------------------------------- */

static json_t *sent_json(const Call *call)
{
    return json_pack("{s:o, s:s, s:b}", "seq", call_hex_json(call->wait.seq, sizeof call->wait.seq),
                     "id", call->id, "duplicate", (int)call->wait.duplicate);
}

static void answer_reply(Call *call, SapReply *reply)
{
    if (reply->failed) {
        (void)call_fail_detail(
            call, API_HANDLER_FAILED,
            json_pack("{s:s, s:I}", "world", call->arg, "step", (json_int_t)reply->height), "%.*s",
            (int)(reply->payload_len < 900 ? reply->payload_len : 900), reply->payload);
    } else {
        json_t *answer = json_object();
        bool done =
            answer != NULL &&
            call_set_payload(call, answer, "reply", reply->encoding, reply->payload,
                             reply->payload_len) &&
            json_object_set_new(answer, "step", json_integer((json_int_t)reply->height)) == 0;
        if (!done) {
            json_decref(answer);
        }
        call_answer(call, 200, done ? answer : NULL);
    }
    sap_reply_free(reply);
}

static int note_outstanding(void *ctx, const SapOutstanding *outstanding)
{
    (void)outstanding;
    *(bool *)ctx = true;
    return SAP_EXISTS; /* one is enough */
}

/* The item was handled, and nobody has replied. A later step may, if the world waits for something. */
static void check_later_step(Call *call)
{
    bool waits = false;
    int rc = sap_world_outstanding(call->api->universe, call->arg, note_outstanding, &waits);
    if (rc == SAP_OK && !waits) {
        call_answer_empty(call, 204);
        return;
    }
    uint64_t now_ns = clock_boot_ns(NULL);
    uint64_t left_ns = call->wait.deadline_ns > now_ns ? call->wait.deadline_ns - now_ns : 0;
    call->wait.handled = true;
    call->wait.look_first = true;
    call_park(call, call->api->replies, left_ns / 1000000);
}

bool api_message_look(SapStoreTxn *txn, Call *call, bool over)
{
    CallerWait wait;
    SapReply *reply = NULL;
    bool handled = false;
    int rc = txn == NULL ? SAP_NOTFOUND
                         : caller_wait_init(call->api->universe, call->arg, call->id,
                                            call->wait.seq, &wait);
    if (txn != NULL && rc == SAP_OK) {
        rc = caller_wait_read(txn, call->api->universe, &wait, &reply, &handled);
    }
    if (rc == SAP_OK) {
        answer_reply(call, reply);
    } else if (over) {
        call_answer(call, 202, sent_json(call));
    } else if (rc == SAP_CORRUPT || rc == SAP_INVALID) {
        (void)call_fail_code(call, rc, "reply");
    } else if (handled && !call->wait.handled) {
        call->run = check_later_step;
        if (pool_give(call->api->pool, POOL_CALLS, call)) {
            return true;
        }
    } else {
        return false;
    }
    call->finish(call);
    return true;
}

bool api_result_look(SapStoreTxn *txn, Call *call, bool over)
{
    SapReply *result = NULL;
    (void)txn;
    int rc = sap_world_result_wait(call->api->universe, call->arg, 0, &result);
    if (rc == SAP_OK) {
        api_result_answer(call, result);
    } else if (rc == SAP_CONFLICT) {
        SapWorldInfo info;
        if (sap_world_info(call->api->universe, call->arg, &info) == SAP_OK) {
            (void)call_fail(call, API_NO_RESULT,
                            "the world \"%s\" was deleted and will have no result", call->arg);
        } else {
            (void)call_fail_world(call, SAP_NOTFOUND, call->arg);
        }
    } else if (rc != SAP_NOTFOUND) {
        (void)call_fail_code(call, rc, "result");
    } else if (over) {
        call_answer_empty(call, 204);
    } else {
        return false;
    }
    call->finish(call);
    return true;
}

/* ---- Sending --------------------------------------------------------------------------------- */

static void fail_send(Call *call, const CallerSend *send)
{
    if (send->rc == SAP_EXISTS) {
        (void)call_fail(call, API_KEY_REUSED, "the %s was used with another message: use a new one",
                        send->whole_id ? "Idempotency-Key" : "id");
    } else if (send->rc == SAP_IO && send->result.outcome_unknown) {
        (void)call_fail(
            call, API_OUTCOME_UNKNOWN,
            "the store failed while the message was written, and nobody knows whether it "
            "was: send it again with the same Idempotency-Key");
    } else if (send->rc == SAP_INVALID && send->result.invalid[0] != 0) {
        (void)call_fail_detail(call, API_BAD_REQUEST, json_pack("{s:s}", "field", "body"),
                               "the body is not what the module takes: %s", send->result.invalid);
    } else if (send->rc == SAP_INVALID) {
        (void)call_fail(call, API_BAD_REQUEST,
                        "the payload is not valid for its encoding, or a name or id is not text of "
                        "its length");
    } else {
        (void)call_fail_world(call, send->rc, call->arg);
    }
}

/* Answers what is done, or parks the caller that waits. */
static void end_send(Sending *sending)
{
    Call *call = sending->call;
    const CallerSend *send = &sending->send;
    buf_release(&sending->payload.bytes);
    if (send->rc != SAP_OK) {
        fail_send(call, send);
        return;
    }
    memcpy(call->wait.seq, send->result.seq, sizeof call->wait.seq);
    call->wait.duplicate = send->result.duplicate;
    if (!sending->waits) {
        call_answer(call, 202, sent_json(call));
        return;
    }
    call->wait.look_first = send->result.duplicate;
    call_park(call, call->api->replies, sending->wait_ms);
}

/* Creates the world that is missing. Another may do so at the same time: then its creation need not be durable
 * yet, and sending says whether the world takes messages. */
static bool create_missing(Sending *sending)
{
    Call *call = sending->call;
    if (!api_module_exists(call, sending->module)) {
        return false;
    }
    int rc = sap_world_create(call->api->universe, call->arg, sending->module, SAP_ENCODING_JSON,
                              NULL, 0);
    if (rc == SAP_OK || rc == SAP_EXISTS) {
        return true;
    }
    if (rc == SAP_BUSY) {
        return call_fail(call, API_BUSY,
                         "the world \"%s\" was deleted and is being emptied: try again in a moment",
                         call->arg);
    }
    return call_fail_code(call, rc, "world");
}

void api_message_send(Call *call)
{
    Sending sending = {.call = call};
    if (!read_sending(&sending)) {
        buf_release(&sending.payload.bytes);
        return;
    }
    callers_send(call->api->universe, &sending.send, 1);
    if (sending.send.rc == SAP_NOTFOUND && sending.module != NULL) {
        if (!create_missing(&sending)) {
            buf_release(&sending.payload.bytes);
            return;
        }
        callers_send(call->api->universe, &sending.send, 1);
    }
    end_send(&sending);
}

/* A call that was refused or that somebody else has to run goes; the others are to be sent. */
static bool is_ready(Sending *sending)
{
    Call *call = sending->call;
    if (read_sending(sending)) {
        return true;
    }
    buf_release(&sending->payload.bytes);
    call->finish(call);
    return false;
}

/* Creating takes commits of its own: the pool does that, from the beginning. */
static void give_to_pool(Sending *sending)
{
    Call *call = sending->call;
    buf_release(&sending->payload.bytes);
    json_decref(call->fields);
    call->fields = NULL;
    call->payload = (Slice){NULL, 0};
    if (!pool_give(call->api->pool, POOL_CALLS, call)) {
        call->finish(call);
    }
}

void api_messages_send(Call *calls)
{
    Sending sendings[API_SENDS_AT_ONCE];
    CallerSend sends[API_SENDS_AT_ONCE];
    uint32_t count = 0;
    SapUniverse *universe = calls->api->universe;
    _Static_assert((int)API_SENDS_AT_ONCE <= (int)CALLER_SENDS, "a group is one commit");
    for (Call *next = calls; next != NULL;) {
        Call *call = next;
        next = call->next;
        SAP_ASSERT(count < API_SENDS_AT_ONCE);
        sendings[count] = (Sending){.call = call};
        count += is_ready(&sendings[count]);
    }
    if (count == 0) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        sends[i] = sendings[i].send;
    }
    callers_send(universe, sends, count);
    for (uint32_t i = 0; i < count; i++) {
        Call *call = sendings[i].call;
        sendings[i].send = sends[i];
        if (sends[i].rc == SAP_NOTFOUND && sendings[i].module != NULL) {
            give_to_pool(&sendings[i]);
            continue;
        }
        end_send(&sendings[i]);
        call_end(call);
    }
}
