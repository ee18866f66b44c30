/* api_history.c - see api_history.h. */
#include "node/api_history.h"

#include <string.h>

#include "node/api_list.h"
#include "node/api_params.h"

#define MS_NS UINT64_C(1000000)

/* ---- State ----------------------------------------------------------------------------------- */

typedef struct StateRows {
    Call *call;
    json_t *rows;
    uint32_t limit;
    bool more;
    Buf last; /* the key of the last row shown */
} StateRows;

/* One more row than was asked for says that there are more. */
static int add_row(void *ctx, const void *key, size_t key_len, SapEncoding encoding,
                   const void *val, size_t val_len)
{
    StateRows *state = (StateRows *)ctx;
    if (json_array_size(state->rows) == state->limit) {
        state->more = true;
        return SAP_OK;
    }
    json_t *row = json_pack("{s:o}", "key", call_key_json(key, key_len));
    buf_clear(&state->last);
    if (row == NULL || !call_set_payload(state->call, row, "value", encoding, val, val_len) ||
        buf_append(&state->last, key, key_len) != SAP_OK) {
        json_decref(row);
        return SAP_NOMEM;
    }
    return json_array_append_new(state->rows, row) == 0 ? SAP_OK : SAP_NOMEM;
}

/* A key as text that goes into an address. */
static json_t *next_json(const Buf *key)
{
    static const char digits[] = "0123456789abcdef";
    char text[2 * SAP_WORLD_MAX_KEY];
    size_t len = 0;
    for (size_t i = 0; i < key->len && len + 2 <= sizeof text; i++) {
        text[len++] = digits[key->data[i] >> 4];
        text[len++] = digits[key->data[i] & 15];
    }
    return json_stringn(text, len);
}

static bool read_after(Call *call, uint8_t out[SAP_WORLD_MAX_KEY], SapStateQuery *query)
{
    const char *after = call_query(call, "after");
    size_t len = after == NULL ? 0 : strlen(after) / 2;
    if (after == NULL || after[0] == 0) {
        return true;
    }
    if (len > SAP_WORLD_MAX_KEY || !call_hex_read(after, out, len)) {
        return call_fail(call, API_BAD_REQUEST, "after=%.64s: give the \"next\" of the page before",
                         after);
    }
    query->after = out;
    query->after_len = len;
    return true;
}

void api_world_state(Call *call)
{
    Page page;
    uint8_t after[SAP_WORLD_MAX_KEY];
    uint64_t height = 0;
    SapStateQuery query = {.size = sizeof query};
    if (!page_begin(call, &page)) {
        return;
    }
    StateRows state = {.call = call, .rows = page.items, .limit = page.query.limit};
    query.limit = state.limit + 1;
    query.prefix = page.query.prefix == NULL ? "" : page.query.prefix;
    query.prefix_len = strlen((const char *)query.prefix);
    if (!call_query_u64(call, "step", UINT64_MAX, 0, &query.height) ||
        !read_after(call, after, &query)) {
        page_release(&page);
        return;
    }
    int rc = sap_world_state_read(call->api->universe, call->arg, &query, add_row, &state, &height);
    if (rc == SAP_OK) {
        json_t *answer = json_pack("{s:I, s:O}", "step", (json_int_t)height, "rows", state.rows);
        if (answer != NULL && state.more &&
            json_object_set_new(answer, "next", next_json(&state.last)) != 0) {
            json_decref(answer);
            answer = NULL;
        }
        call_answer(call, 200, answer);
    } else if (rc == SAP_NOTFOUND && query.height > 0) {
        (void)call_fail(
            call, API_NOT_FOUND,
            "the world \"%s\" has no step %llu: GET /v1/worlds/%s says how many there are",
            call->arg, (unsigned long long)query.height, call->arg);
    } else if (rc == SAP_FULL) {
        (void)call_fail(call, API_BAD_REQUEST, "the prefix is longer than a key may be: %u bytes",
                        SAP_WORLD_MAX_KEY);
    } else {
        (void)call_fail_world(call, rc, call->arg);
    }
    buf_release(&state.last);
    page_release(&page);
}

/* ---- Journal --------------------------------------------------------------------------------- */

static const char *const entry_kinds[] = {
    [SAP_ENTRY_ITEM] = "item",           [SAP_ENTRY_REJECTED] = "rejected",
    [SAP_ENTRY_DUPLICATE] = "duplicate", [SAP_ENTRY_CODE] = "code",
    [SAP_ENTRY_FORKED] = "forked",
};

static const char *event_type(SapEventKind kind)
{
    static const char *const names[] = {
        [SAP_EVENT_CREATE] = "create",   [SAP_EVENT_MESSAGE] = "message",
        [SAP_EVENT_RECEIPT] = "receipt", [SAP_EVENT_TIMER] = "timer",
        [SAP_EVENT_CANCEL] = "cancel",
    };
    return (size_t)kind < sizeof names / sizeof names[0] ? names[kind] : "other";
}

static const char *receipt_status(SapReceiptStatus status)
{
    static const char *const names[] = {[SAP_RECEIPT_NONE] = "",
                                        [SAP_RECEIPT_OK] = "ok",
                                        [SAP_RECEIPT_ERROR] = "error",
                                        [SAP_RECEIPT_TIMEOUT] = "timeout"};
    return (size_t)status < sizeof names / sizeof names[0] ? names[status] : "other";
}

static bool set_text(json_t *object, const char *name, const char *text)
{
    return text == NULL || text[0] == 0 ||
           json_object_set_new(object, name, call_text_json(text)) == 0;
}

/* Members that are empty are left out. */
static json_t *event_json(Call *call, const SapJournalEntry *entry)
{
    const SapEvent *event = &entry->item;
    json_t *object = json_pack("{s:s, s:o}", "type", event_type(event->kind), "seq",
                               call_hex_json(entry->seq, sizeof entry->seq));
    bool done = object != NULL && set_text(object, "name", event->name) &&
                set_text(object, "ref", event->ref) && set_text(object, "id", event->id) &&
                set_text(object, "correlation_id", event->correlation_id) &&
                set_text(object, "from", event->from_world) &&
                set_text(object, "reply_to", event->reply_to) &&
                set_text(object, "status", receipt_status(event->status)) &&
                set_text(object, "code", event->code);
    if (done && event->from_world[0] != 0) {
        done = json_object_set_new(object, "from_step",
                                   json_integer((json_int_t)event->from_height)) == 0;
    }
    if (done && event->attempts > 0) {
        done = json_object_set_new(object, "attempts", json_integer(event->attempts)) == 0;
    }
    if (done && entry->payload_is_blob) {
        done = json_object_set_new(object, "body_too_large", json_true()) == 0;
    } else if (done) {
        done = call_set_payload(call, object, "body", event->encoding, event->payload,
                                event->payload_len);
    }
    if (!done) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *changes_json(Call *call, const SapJournalEntry *entry)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list != NULL && i < entry->change_count; i++) {
        const SapChange *change = &entry->changes[i];
        json_t *object = json_pack("{s:o}", "key", call_key_json(change->key, change->key_len));
        bool done = object != NULL &&
                    (!change->put || call_set_payload(call, object, "value", change->encoding,
                                                      change->val, change->val_len));
        if (!done) {
            json_decref(object);
            object = NULL;
        }
        if (json_array_append_new(list, object) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

static json_t *intent_json(Call *call, const SapIntent *intent)
{
    json_t *object = json_pack("{s:s, s:o}", "kind", intent->kind, "hash",
                               call_hex_json(intent->hash, sizeof intent->hash));
    bool is_timer = strcmp(intent->kind, "timer") == 0;
    bool is_cancel = strcmp(intent->kind, "cancel") == 0;
    bool done = object != NULL && set_text(object, "ref", intent->ref);
    if (done && is_timer) {
        done = json_object_set_new(object, intent->time_of_day ? "at_ms" : "after_ms",
                                   json_integer((json_int_t)(intent->time_ns / MS_NS))) == 0;
    }
    if (done && is_cancel && intent->params_len <= 32) {
        done = json_object_set_new(
                   object, "cancels",
                   call_hex_json((const uint8_t *)intent->params, intent->params_len)) == 0;
    } else if (done) {
        done = call_set_params(call, object, intent->kind, intent->encoding, intent->params,
                               intent->params_len);
    }
    if (!done) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *intents_json(Call *call, const SapJournalEntry *entry)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list != NULL && i < entry->intent_count; i++) {
        if (json_array_append_new(list, intent_json(call, &entry->intents[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

static int add_entry(void *ctx, const SapJournalEntry *entry)
{
    Page *page = (Page *)ctx;
    Call *call = page->call;
    json_t *object = json_pack(
        "{s:I, s:I, s:s, s:I, s:o, s:o, s:o, s:o}", "step", (json_int_t)entry->height, "time_ms",
        (json_int_t)(entry->time_ns / MS_NS), "kind",
        (size_t)entry->kind < sizeof entry_kinds / sizeof entry_kinds[0] ? entry_kinds[entry->kind]
                                                                         : "other",
        "epoch", (json_int_t)entry->epoch, "event",
        entry->has_item ? event_json(call, entry) : json_null(), "changes",
        changes_json(call, entry), "intents", intents_json(call, entry), "state_sum",
        call_hex_json(entry->state_sum, sizeof entry->state_sum));
    if (object != NULL && !set_text(object, "error", entry->error)) {
        json_decref(object);
        object = NULL;
    }
    return page_add(page, object);
}

void api_world_journal(Call *call)
{
    Page page;
    uint64_t after = 0;
    uint64_t height = 0;
    if (!page_begin(call, &page)) {
        return;
    }
    if (!call_query_u64(call, "after", UINT64_MAX, 0, &after)) {
        page_release(&page);
        return;
    }
    int rc = sap_journal_read(call->api->universe, call->arg, after, page.query.limit, add_entry,
                              &page, &height);
    if (rc == SAP_OK) {
        call_answer(call, 200,
                    json_pack("{s:I, s:O}", "step", (json_int_t)height, "entries", page.items));
    } else {
        (void)call_fail_world(call, rc, call->arg);
    }
    page_release(&page);
}

/* ---- Outstanding ----------------------------------------------------------------------------- */

static int add_outstanding(void *ctx, const SapOutstanding *outstanding)
{
    return page_add((Page *)ctx, json_pack("{s:o, s:s, s:b}", "hash",
                                           call_hex_json(outstanding->intent_hash, 32), "ref",
                                           outstanding->ref, "timer", (int)outstanding->timer));
}

void api_world_outstanding(Call *call)
{
    Page page;
    if (!page_begin(call, &page)) {
        return;
    }
    int rc = sap_world_outstanding(call->api->universe, call->arg, add_outstanding, &page);
    if (rc == SAP_NOTFOUND) {
        (void)call_fail_world(call, rc, call->arg);
        page_release(&page);
        return;
    }
    page_answer(&page, rc);
}

/* ---- Queries --------------------------------------------------------------------------------- */

static void answer_query(Call *call, int rc, SapReply *reply)
{
    SapWorldInfo info;
    if (rc == SAP_OK && reply->failed) {
        (void)call_fail_detail(call, API_HANDLER_FAILED,
                               json_pack("{s:I}", "step", (json_int_t)reply->height), "%s",
                               reply->payload);
    } else if (rc == SAP_OK) {
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
    } else if (rc == SAP_NOTFOUND &&
               sap_world_info(call->api->universe, call->arg, &info) == SAP_OK &&
               info.status != SAP_WORLD_DELETED) {
        (void)call_fail(
            call, API_HANDLER_FAILED,
            "the handler of \"%s\" did not reply to the query: it is to reply to events of "
            "the type \"query\"",
            call->arg);
    } else if (rc == SAP_CONFLICT) {
        (void)call_fail(call, API_CONFLICT,
                        "this node does not run the module of \"%s\": ask a node that does (GET "
                        "/v1/workers)",
                        call->arg);
    } else {
        (void)call_fail_world(call, rc, call->arg);
    }
    sap_reply_free(reply);
}

/* The handler that answers in place of the world's worker. SAP_CONFLICT: this node does not run the module. */
static int find_handler(Call *call, SapQuery *query)
{
    const HttpOptions *options = &call->api->options;
    SapWorldInfo info;
    if (options->query_handler == NULL) {
        return SAP_OK;
    }
    int rc = sap_world_info(call->api->universe, call->arg, &info);
    if (rc != SAP_OK) {
        return rc;
    }
    SapWorldHandler handler = NULL;
    void *module_ctx = NULL;
    rc = options->query_handler(options->query_ctx, info.module, &handler, &module_ctx);
    if (rc == SAP_OK) {
        query->handler = handler;
        query->module_ctx = module_ctx;
    }
    return rc == SAP_NOTFOUND ? SAP_CONFLICT : rc;
}

void api_world_query(Call *call)
{
    const HttpOptions *options = &call->api->options;
    const char *name = NULL;
    Payload payload = {0};
    SapReply *reply = NULL;
    uint64_t strong = 0;
    if (!call_read_body(call) || !call_field_text(call, "name", SAP_WORLD_MAX_NAME, false, &name) ||
        !call_query_u64(call, "strong", 1, 0, &strong) || !call_field_payload(call, &payload)) {
        buf_release(&payload.bytes);
        return;
    }
    SapQuery query = {.size = sizeof query,
                      .strong = strong != 0,
                      .name = name,
                      .encoding = payload.encoding,
                      .payload = payload.data,
                      .payload_len = payload.len};
    int rc = find_handler(call, &query);
    rc = rc == SAP_OK ? sap_world_query(call->api->universe, call->arg, &query, &reply) : rc;
    if (query.handler != NULL && options->query_release != NULL) {
        options->query_release(options->query_ctx, query.module_ctx);
    }
    answer_query(call, rc, reply);
    buf_release(&payload.bytes);
}

/* ---- Result ---------------------------------------------------------------------------------- */

void api_result_answer(Call *call, SapReply *result)
{
    json_t *answer = json_pack("{s:b}", "failed", (int)result->failed);
    bool done = answer != NULL &&
                call_set_payload(call, answer, "result", result->encoding, result->payload,
                                 result->payload_len) &&
                json_object_set_new(answer, "step", json_integer((json_int_t)result->height)) == 0;
    if (!done) {
        json_decref(answer);
    }
    call_answer(call, 200, done ? answer : NULL);
    sap_reply_free(result);
}

void api_world_result(Call *call)
{
    bool given = false;
    uint64_t wait_ms = 0;
    if (call_query_wait(call, &given, &wait_ms)) {
        call->wait.look_first = true;
        call_park(call, call->api->results, wait_ms);
    }
}
