/* query.c - asking a world without changing it.
 *
 * The handler is called with a copy of the durable state, made of the journal (look_cache.h), in the caller's thread: nobody
 * who runs the world is asked, and any process can do it. What the handler could change is refused. A
 * transaction that reads what is durable sees every step that anybody was told of before, so the answer is at
 * least as new as that; a strong query looks again afterwards whether there was another step meanwhile. */
#include <string.h>

#include "common/assert.h"
#include "common/options.h"
#include "universe/handler.h"
#include "universe/modules.h"
#include "universe/payload.h"
#include "universe/universe_impl.h"

OPTIONS_LAYOUT(SapQuery, module_ctx, module_ctx);

static const char reply_to[] = UNIVERSE_REPLY_OUTSIDE "query";

/* What the handler has replied: the first reply counts. */
static int take_reply(void *ctx, const IntentView *intent)
{
    SapReply *fields = (SapReply *)ctx;
    if (intent->type == INTENT_REPLY && fields->payload == NULL) {
        fields->encoding = intent->encoding;
        fields->payload = (const char *)intent->params.data;
        fields->payload_len = intent->params.len;
    }
    return SAP_OK;
}

static int make_reply(const SapWorld *view, HandlerOutcome outcome, uint64_t height,
                      SapReply **reply_out)
{
    SapReply fields = {.height = height};
    if (outcome != HANDLER_DONE) {
        fields.failed = true;
        fields.encoding = SAP_ENCODING_RAW;
        fields.payload = view->message;
        fields.payload_len = strlen(view->message);
        return reply_make(&fields, reply_out);
    }
    (void)handler_intents(view, take_reply, &fields);
    return fields.payload == NULL ? SAP_NOTFOUND : reply_make(&fields, reply_out);
}

/* The module that answers: what the caller gave, or the process's own. */
static int choose_answerer(const SapQuery *query, const WorldBirth *birth, SapWorldModule *out)
{
    const SapWorldModule *own = NULL;
    *out = (SapWorldModule){.handler = query->handler, .ctx = query->module_ctx};
    if (query->handler != NULL) {
        return SAP_OK;
    }
    own = module_find(&birth->module, birth->pin);
    if (own == NULL) {
        return SAP_CONFLICT;
    }
    *out = *own;
    return SAP_OK;
}

static int ask_state(SapUniverse *universe, const UniverseName *world, const SapQuery *query,
                     const JournalView *look, const Buf *payload, SapReply **reply_out)
{
    SapWorldModule module;
    SapWorld view;
    const char *name = query->name == NULL ? "" : query->name;
    uint64_t now_ns = sap_store_due_ns(universe->store);
    InboxItem item = {.item = {.kind = WIT_UNIVERSE_ITEM_KIND_MESSAGE,
                               .name = lend_bytes(name, strlen(name)),
                               .reply_to = lend_bytes(reply_to, sizeof reply_to - 1),
                               .encoding = (WitUniverseEncoding)query->encoding,
                               .payload = lend_bytes(payload->data, payload->len)}};
    int rc = choose_answerer(query, &look->birth, &module);
    rc = rc == SAP_OK ? state_begin(look->state) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    handler_init(&view, universe->number, world, &look->birth, look->state);
    view.module = &module;
    view.read_only = true;
    handler_begin(&view, look->head.height,
                  now_ns > look->head.time_ns ? now_ns : look->head.time_ns);
    HandlerOutcome outcome = handler_call(&view, module.handler, &item);
    rc = make_reply(&view, outcome, look->head.height, reply_out);
    handler_release(&view);
    state_abort(look->state);
    return rc;
}

/* Whether the world has made a step since. */
static int check_height(SapUniverse *universe, const UniverseName *world, uint64_t height,
                        bool *same_out)
{
    SapStoreTxn *txn = NULL;
    SapWorldInfo info;
    int rc = sap_store_begin(universe->store, SAP_STORE_READ_DURABLE, &txn);
    rc = rc == SAP_OK ? world_info_read(txn, universe->number, world, &info) : rc;
    sap_store_abort(txn);
    *same_out = rc == SAP_OK && info.height == height;
    return rc;
}

static int query_once(SapUniverse *universe, const UniverseName *world, const SapQuery *query,
                      const Buf *payload, SapReply **reply_out)
{
    JournalView look;
    int rc = look_take(&universe->looks, universe->store, universe->number, world, &look);
    if (rc == SAP_OK) {
        rc = ask_state(universe, world, query, &look, payload, reply_out);
        look_give(&universe->looks, world, &look);
    }
    return rc;
}

static int query_strongly(SapUniverse *universe, const UniverseName *world, const SapQuery *query,
                          const Buf *payload, SapReply **reply_out)
{
    enum { TRIES = 8 };
    for (int i = 0; i < TRIES; i++) {
        SapReply *reply = NULL;
        bool same = false;
        int rc = query_once(universe, world, query, payload, &reply);
        rc = rc == SAP_OK ? check_height(universe, world, reply->height, &same) : rc;
        if (rc == SAP_OK && same) {
            *reply_out = reply;
            return SAP_OK;
        }
        sap_reply_free(reply);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return SAP_BUSY;
}

int sap_world_query(SapUniverse *universe, const char *world, const SapQuery *query,
                    SapReply **reply_out)
{
    SapQuery all = {.size = sizeof all};
    UniverseName name;
    Buf payload = {0};
    if (universe == NULL || reply_out == NULL || OPTIONS_READ(SapQuery, &all, query) != SAP_OK) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&name, world);
    if (rc != SAP_OK || !payload_text_valid(all.name, SAP_WORLD_MAX_NAME)) {
        return SAP_INVALID;
    }
    if (all.payload_len > SAP_WORLD_MAX_PAYLOAD) {
        return SAP_FULL;
    }
    universe_enter(universe);
    rc = payload_append_or_null(all.encoding, all.payload, all.payload_len, &payload);
    if (rc == SAP_OK) {
        rc = all.strong ? query_strongly(universe, &name, &all, &payload, reply_out)
                        : query_once(universe, &name, &all, &payload, reply_out);
    }
    buf_release(&payload);
    universe_leave(universe);
    return rc;
}
