/* intents.c - what a handler asks of the outside, and what is outstanding of it: see handler.h. */
#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/options.h"
#include "universe/fabric.h"
#include "universe/handler.h"
#include "universe/payload.h"

OPTIONS_LAYOUT(SapEffect, retry, retry);
OPTIONS_LAYOUT(SapTimer, payload_len, payload_len);

/* ---- What is outstanding --------------------------------------------------------------------- */

enum {
    ROW_HOST = 0,
    ROW_HASH = 'h',
    ROW_REF = 'r',
    HOST_KEY_MAX = 2 + SAP_WORLD_MAX_NAME,
};
_Static_assert(HOST_KEY_MAX >= 2 + UNIVERSE_DIGEST, "a hash is no longer than a ref");

typedef struct HostKey {
    size_t len;
    uint8_t bytes[HOST_KEY_MAX];
} HostKey;

static Slice host_key(HostKey *room, uint8_t kind, const void *name, size_t len)
{
    SAP_ASSERT(len <= HOST_KEY_MAX - 2);
    room->bytes[0] = ROW_HOST;
    room->bytes[1] = kind;
    if (len > 0) {
        memcpy(room->bytes + 2, name, len);
    }
    return (Slice){room->bytes, len + 2};
}

/* The row of a hash: the type of the intent, and its ref. SAP_CORRUPT: it is none. */
static int decode_outstanding(Slice row, Outstanding *out)
{
    const uint8_t *bytes = (const uint8_t *)row.data;
    if (row.len < 1 || row.len - 1 > SAP_WORLD_MAX_NAME) {
        return SAP_CORRUPT;
    }
    out->type = (IntentType)bytes[0];
    memcpy(out->ref, bytes + 1, row.len - 1);
    out->ref[row.len - 1] = 0;
    return SAP_OK;
}

int outstanding_get(WorldState *state, const uint8_t hash[UNIVERSE_DIGEST], Outstanding *out)
{
    HostKey room;
    Slice row = {0};
    int rc = state_get(state, host_key(&room, ROW_HASH, hash, UNIVERSE_DIGEST), &row);
    return rc == SAP_OK ? decode_outstanding(row, out) : rc;
}

static int outstanding_end(SapWorld *world, const uint8_t hash[UNIVERSE_DIGEST],
                           const Outstanding *outstanding)
{
    HostKey room;
    int rc = handler_del_row(world, host_key(&room, ROW_HASH, hash, UNIVERSE_DIGEST));
    if (rc == SAP_OK && outstanding->ref[0] != 0) {
        rc = handler_del_row(world,
                             host_key(&room, ROW_REF, outstanding->ref, strlen(outstanding->ref)));
    }
    return rc;
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* What an item answers. */
typedef struct Answer {
    bool answers; /* a receipt or a firing, which is not from the dead letters */
    bool awaited; /* it is outstanding */
    Outstanding outstanding;
} Answer;

static bool is_answer(WitUniverseItemKind kind)
{
    return kind == WIT_UNIVERSE_ITEM_KIND_RECEIPT || kind == WIT_UNIVERSE_ITEM_KIND_TIMER ||
           kind == WIT_UNIVERSE_ITEM_KIND_REPLY || kind == WIT_UNIVERSE_ITEM_KIND_TIMEOUT;
}

/* Whether the item can answer an intent of this type. Another world answers asks and nothing else. */
static bool can_answer(const WitUniverseInboxItem *item, IntentType type)
{
    switch (item->kind) {
    case WIT_UNIVERSE_ITEM_KIND_RECEIPT:
        /* Also of a timer that a person cancelled, and of an ask that was refused. */
        return type == INTENT_EFFECT || type == INTENT_TIMER || type == INTENT_ASK;
    case WIT_UNIVERSE_ITEM_KIND_TIMER:
        return type == INTENT_TIMER;
    case WIT_UNIVERSE_ITEM_KIND_REPLY:
        return type == (item->from_world.len > 0 ? INTENT_ASK : INTENT_PROMISE);
    case WIT_UNIVERSE_ITEM_KIND_TIMEOUT:
        return type == INTENT_ASK || type == INTENT_PROMISE;
    default:
        return false;
    }
}

/* What the item answers is not outstanding any more. */
static int end_answered(SapWorld *world, const InboxItem *item, Answer *answer)
{
    const uint8_t *hash = item->item.hash.data;
    *answer = (Answer){.answers = false};
    world->ended = (EndedIntent){.type = INTENT_REPLY};
    if (!is_answer(item->item.kind)) {
        return SAP_OK;
    }
    answer->answers = !item->item.replayed;
    int rc = outstanding_get(world->state, hash, &answer->outstanding);
    if (rc != SAP_OK || !can_answer(&item->item, answer->outstanding.type)) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    answer->awaited = true;
    world->ended.type = answer->outstanding.type;
    memcpy(world->ended.hash, hash, sizeof world->ended.hash);
    return outstanding_end(world, hash, &answer->outstanding);
}

/* A reply that could not be delivered comes back to the world that has replied, which awaits nothing. */
static bool is_lost_reply(const InboxItem *item)
{
    const CodecBytes *name = &item->item.name;
    return item->item.kind == WIT_UNIVERSE_ITEM_KIND_RECEIPT && item->item.ref.len == 0 &&
           name->len == sizeof FABRIC_KIND - 1 && memcmp(name->data, FABRIC_KIND, name->len) == 0;
}

/* A receipt that nobody waits for by name: what failed is a dead letter. */
static HandlerOutcome take_unnamed(SapWorld *world, const InboxItem *item)
{
    char why[SAP_WORLD_MAX_NAME + 64];
    if (item->item.status == WIT_UNIVERSE_RECEIPT_STATUS_OK ||
        item->item.status == WIT_UNIVERSE_RECEIPT_STATUS_NONE) {
        return HANDLER_DONE;
    }
    (void)snprintf(why, sizeof why, "an effect without a ref has failed: %.*s",
                   (int)item->item.code.len, (const char *)item->item.code.data);
    handler_refuse(world, why);
    return HANDLER_REJECTED;
}

HandlerOutcome handler_perform(SapWorld *world, SapWorldHandler handler, const InboxItem *item,
                               WitUniverseEntryKind *kind_out)
{
    Answer answer;
    *kind_out = WIT_UNIVERSE_ENTRY_KIND_ITEM;
    int rc = end_answered(world, item, &answer);
    if (rc != SAP_OK) {
        handler_refuse(world, "no memory for what is outstanding");
        return HANDLER_WAITS;
    }
    if (answer.answers && !answer.awaited && is_lost_reply(item)) {
        return take_unnamed(world, item);
    }
    if (answer.answers && !answer.awaited) {
        *kind_out = WIT_UNIVERSE_ENTRY_KIND_DUPLICATE;
        return HANDLER_DONE;
    }
    if (answer.answers && answer.outstanding.ref[0] == 0) {
        return take_unnamed(world, item);
    }
    return handler_call(world, handler, item);
}

int handler_reject(SapWorld *world, const InboxItem *item)
{
    Answer answer;
    handler_forget(world);
    return end_answered(world, item, &answer);
}

typedef struct Each {
    OutstandingVisitor visitor;
    void *ctx;
} Each;

static int visit_row(void *ctx, Slice key, Slice val)
{
    const Each *each = (const Each *)ctx;
    Outstanding outstanding;
    if (key.len != 2 + UNIVERSE_DIGEST) {
        return SAP_CORRUPT;
    }
    int rc = decode_outstanding(val, &outstanding);
    return rc == SAP_OK ? each->visitor(each->ctx, (const uint8_t *)key.data + 2, &outstanding)
                        : rc;
}

int outstanding_each(WorldState *state, OutstandingVisitor visitor, void *ctx)
{
    Each each = {visitor, ctx};
    HostKey room;
    return state_scan(state, host_key(&room, ROW_HASH, "", 0), visit_row, &each);
}

int outstanding_count(WorldState *state, uint64_t *count_out)
{
    HostKey room;
    return state_count(state, host_key(&room, ROW_HASH, "", 0), count_out);
}

static int outstanding_add(SapWorld *world, const IntentView *intent)
{
    HostKey room;
    uint8_t row[1 + SAP_WORLD_MAX_NAME];
    row[0] = (uint8_t)intent->type;
    if (intent->ref.len > 0) {
        memcpy(row + 1, intent->ref.data, intent->ref.len);
    }
    int rc = handler_put_row(world, host_key(&room, ROW_HASH, intent->hash, UNIVERSE_DIGEST),
                             (Slice){row, 1 + intent->ref.len});
    if (rc == SAP_OK && intent->ref.len > 0) {
        rc = handler_put_row(world, host_key(&room, ROW_REF, intent->ref.data, intent->ref.len),
                             (Slice){intent->hash, UNIVERSE_DIGEST});
    }
    return rc;
}

/* The outstanding intent that the handler calls so. SAP_NOTFOUND: there is none. */
static int find_ref(SapWorld *world, Slice ref, uint8_t hash_out[UNIVERSE_DIGEST], Outstanding *out)
{
    HostKey room;
    Slice row = {0};
    int rc = state_get(world->state, host_key(&room, ROW_REF, ref.data, ref.len), &row);
    if (rc != SAP_OK) {
        return rc;
    }
    if (row.len != UNIVERSE_DIGEST) {
        return SAP_CORRUPT;
    }
    memcpy(hash_out, row.data, UNIVERSE_DIGEST);
    rc = outstanding_get(world->state, hash_out, out);
    return rc == SAP_NOTFOUND ? SAP_CORRUPT : rc;
}

/* ---- Cancelling ------------------------------------------------------------------------------ */

static int cancel_outstanding(SapWorld *world, Slice ref, const uint8_t hash[UNIVERSE_DIGEST],
                              const Outstanding *outstanding)
{
    IntentView intent = {
        .type = INTENT_CANCEL,
        .kind = slice_from_str("cancel"),
        .ref = ref,
        .encoding = SAP_ENCODING_RAW,
        .params = {hash, UNIVERSE_DIGEST},
        .of = outstanding->type,
    };
    bool two = outstanding->type == INTENT_ASK || outstanding->type == INTENT_PROMISE;
    memcpy(intent.hash, hash, sizeof intent.hash);
    bool own = handler_cancel_own(world, hash);
    if (!own && world->cancels + 1 + two > CANCELS_MAX) {
        return SAP_FULL;
    }
    world->cancels += own ? 0 : 1 + two;
    intent.cancelled = own; /* it was never put: there is nothing to cancel outside */
    int rc = handler_add_intent(world, &intent);
    return rc == SAP_OK ? outstanding_end(world, hash, outstanding) : rc;
}

int sap_world_cancel(SapWorld *world, const char *ref)
{
    uint8_t hash[UNIVERSE_DIGEST];
    Outstanding outstanding;
    if (world == NULL || ref == NULL) {
        return SAP_ERROR;
    }
    if (handler_is_cancelled(world)) {
        return SAP_FENCED;
    }
    Slice name = slice_from_str(ref);
    if (name.len == 0 || name.len > SAP_WORLD_MAX_NAME) {
        return SAP_INVALID;
    }
    int rc = find_ref(world, name, hash, &outstanding);
    return rc == SAP_OK ? cancel_outstanding(world, name, hash, &outstanding) : rc;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

bool intent_ref_valid(const char *ref)
{
    return payload_text_valid(ref, SAP_WORLD_MAX_NAME);
}

int intent_ask(SapWorld *world, IntentView *intent)
{
    uint8_t hash[UNIVERSE_DIGEST];
    Outstanding old;
    int rc = intent->ref.len == 0 ? SAP_NOTFOUND : find_ref(world, intent->ref, hash, &old);
    if (rc == SAP_OK) {
        bool replaces = intent->type == INTENT_TIMER && old.type == INTENT_TIMER;
        rc = replaces ? cancel_outstanding(world, intent->ref, hash, &old) : SAP_EXISTS;
    } else if (rc == SAP_NOTFOUND) {
        rc = SAP_OK;
    }
    rc = rc == SAP_OK ? handler_add_intent(world, intent) : rc;
    return rc == SAP_OK ? outstanding_add(world, intent) : rc;
}

int sap_world_effect(SapWorld *world, const SapEffect *effect)
{
    SapEffect all = {.size = sizeof all};
    UniverseName kind;
    Buf params = {0};
    if (world == NULL || effect == NULL || OPTIONS_READ(SapEffect, &all, effect) != SAP_OK) {
        return SAP_ERROR;
    }
    if (handler_is_cancelled(world)) {
        return SAP_FENCED;
    }
    int rc = universe_name_set(&kind, all.kind);
    if (rc != SAP_OK || !intent_ref_valid(all.ref) ||
        all.retry.attempts > SAP_EFFECT_MAX_ATTEMPTS) {
        return SAP_INVALID;
    }
    if (all.params_len > SAP_WORLD_MAX_VALUE) {
        return SAP_FULL;
    }
    rc = payload_append_or_null(all.encoding, all.params, all.params_len, &params);
    rc = rc == SAP_OK && params.len > SAP_WORLD_MAX_VALUE ? SAP_FULL : rc;
    IntentView intent = {
        .type = INTENT_EFFECT,
        .kind = {kind.text, kind.len},
        .ref = slice_from_str(all.ref == NULL ? "" : all.ref),
        .encoding = all.encoding,
        .params = {params.data, params.len},
        .retry = {all.retry.attempts, all.retry.first_ns, all.retry.factor, all.retry.cap_ns,
                  all.retry.timeout_ns},
    };
    rc = rc == SAP_OK ? intent_ask(world, &intent) : rc;
    buf_release(&params);
    return rc;
}

int sap_world_timer(SapWorld *world, const SapTimer *timer)
{
    SapTimer all = {.size = sizeof all};
    Buf payload = {0};
    if (world == NULL || timer == NULL || OPTIONS_READ(SapTimer, &all, timer) != SAP_OK) {
        return SAP_ERROR;
    }
    if (handler_is_cancelled(world)) {
        return SAP_FENCED;
    }
    if (!intent_ref_valid(all.ref) || all.ref == NULL || all.ref[0] == 0 ||
        (all.after_ns != 0 && all.at_ns != 0) || all.at_ns >= INT64_MAX) {
        return SAP_INVALID;
    }
    if (all.payload_len > SAP_WORLD_MAX_VALUE) {
        return SAP_FULL;
    }
    int rc = payload_append_or_null(all.encoding, all.payload, all.payload_len, &payload);
    rc = rc == SAP_OK && payload.len > SAP_WORLD_MAX_VALUE ? SAP_FULL : rc;
    IntentView intent = {
        .type = INTENT_TIMER,
        .kind = slice_from_str("timer"),
        .ref = slice_from_str(all.ref),
        .encoding = all.encoding,
        .params = {payload.data, payload.len},
        .clock = all.at_ns != 0 ? WIT_UNIVERSE_TIMER_CLOCK_DUE : WIT_UNIVERSE_TIMER_CLOCK_LEASE,
        .time_ns = all.at_ns != 0 ? all.at_ns : all.after_ns,
    };
    rc = rc == SAP_OK ? intent_ask(world, &intent) : rc;
    buf_release(&payload);
    return rc;
}
