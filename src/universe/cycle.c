/* cycle.c - see cycle.h. */
#include "universe/cycle.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/assert.h"
#include "common/bytes.h"
#include "common/mem.h"
#include "common/utf8.h"
#include "store/blob.h"
#include "universe/fabric.h"
#include "universe/letters.h"
#include "universe/promises.h"
#include "universe/timers.h"

#define RETRY_FIRST_NS UINT64_C(1000000000)
#define RETRY_MOST_NS  UINT64_C(60000000000)

/* ---- The world ------------------------------------------------------------------------------- */

int cycle_world_make(const Lease *lease, HotWorld **world_out)
{
    HotWorld *world = (HotWorld *)mem_zalloc(MEM_UNIVERSE, sizeof *world);
    if (world == NULL) {
        return SAP_NOMEM;
    }
    world->lease = *lease;
    *world_out = world;
    return SAP_OK;
}

static InboxItem *item_at(const HotWorld *world, size_t index)
{
    return (InboxItem *)(void *)world->items.data + index;
}

static size_t item_count(const HotWorld *world)
{
    return world->items.len / sizeof(InboxItem);
}

static void free_item(InboxItem *item)
{
    wit_universe_inbox_item_free(&item->item);
    buf_release(&item->blob);
}

/* An effect or timer that a handler asked for in this cycle: the rows that the commit will put, unless a
 * later item of the cycle cancels it. */
typedef struct IntentRows {
    uint8_t hash[UNIVERSE_DIGEST];
    bool cancelled;
    WriteSet writes;
} IntentRows;

static IntentRows *asked_at(const HotWorld *world, size_t index)
{
    return (IntentRows *)(void *)world->asked.data + index;
}

static size_t asked_count(const HotWorld *world)
{
    return world->asked.len / sizeof(IntentRows);
}

static void drop_asked(HotWorld *world)
{
    for (size_t i = 0; i < asked_count(world); i++) {
        writes_release(&asked_at(world, i)->writes);
    }
    buf_clear(&world->asked);
}

IntentCancel *cycle_cancels(const HotWorld *world, uint32_t *count_out)
{
    *count_out = (uint32_t)(world->cancels.len / sizeof(IntentCancel));
    return (IntentCancel *)(void *)world->cancels.data;
}

static void drop_items(HotWorld *world)
{
    for (size_t i = 0; i < item_count(world); i++) {
        free_item(item_at(world, i));
    }
    buf_clear(&world->items);
}

/* An idle world keeps small buffers for its next cycle, and gives the others back: there may be very many
 * such worlds. */
static void trim_buf(Buf *buf)
{
    enum { KEPT = 1024 };
    SAP_ASSERT(buf->len == 0);
    if (buf->cap > KEPT) {
        buf_release(buf);
    }
}

static void trim_world(HotWorld *world)
{
    trim_buf(&world->items);
    trim_buf(&world->writes.bytes);
    trim_buf(&world->writes.list);
    trim_buf(&world->asked);
    trim_buf(&world->cancels);
}

size_t cycle_world_memory(const HotWorld *world)
{
    size_t buffers = world->items.cap + world->writes.bytes.cap + world->writes.list.cap +
                     world->asked.cap + world->cancels.cap;
    return sizeof *world + buffers + (world->state == NULL ? 0 : state_memory(world->state));
}

void cycle_world_free(HotWorld *world)
{
    if (world == NULL) {
        return;
    }
    SAP_ASSERT(world->state_now != HOT_RUNNING);
    drop_items(world);
    drop_asked(world);
    buf_release(&world->asked);
    buf_release(&world->cancels);
    buf_release(&world->rejected_items);
    buf_release(&world->items);
    writes_release(&world->writes);
    state_close(world->state);
    mem_free(MEM_UNIVERSE, world, sizeof *world);
}

int cycle_add_hint(HotWorld *world, const RowKey *hint, uint8_t priority)
{
    bool first = world->writes.list.len == 0;
    world->priority = first || priority < world->priority ? priority : world->priority;
    return writes_add(&world->writes, ROW_DEL, hint, (Slice){"", 0});
}

/* ---- What waits ------------------------------------------------------------------------------ */

static int decode_item(const SapStoreRow *row, InboxItem *item_out)
{
    WitUniverseDbi24WorldInboxKey key;
    WitUniverseDbi24WorldInboxValue val;
    int rc = row_decode_code(
        wit_universe_dbi24_world_inbox_key_decode(row->key, row->key_len, &key, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    *item_out = (InboxItem){.item_class = key.class};
    memcpy(item_out->seq, key.seq.data, UNIVERSE_SEQ);
    wit_universe_dbi24_world_inbox_key_free(&key);
    rc = row_decode_code(
        wit_universe_dbi24_world_inbox_value_decode(row->val, row->val_len, &val, NULL));
    if (rc == SAP_OK) {
        item_out->item = val.item;
    }
    return rc;
}

/* The first items of the inbox: of all classes, or of one. *full_out: there may be more. */
static int load_range(HotWorld *world, SapStoreTxn *txn, const SapStoreRange *range, uint32_t limit,
                      bool *full_out)
{
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    int rc = sap_store_scan(txn, range, false, limit + 1, &rows, &count);
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        InboxItem item;
        rc = buf_reserve(&world->items, sizeof item);
        rc = rc == SAP_OK ? decode_item(&rows[i], &item) : rc;
        rc = rc == SAP_OK ? buf_append(&world->items, &item, sizeof item) : rc;
    }
    *full_out = count > limit;
    return rc;
}

/* Whether so much is outstanding that the world takes no messages, but what answers it. */
static int look_at_outstanding(HotWorld *world, uint32_t limit)
{
    uint64_t count = 0;
    int rc = state_begin(world->state);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = outstanding_count(world->state, &count);
    state_abort(world->state);
    world->holds_back = count >= limit;
    return rc;
}

static int load_class(HotWorld *world, SapStoreTxn *txn, uint8_t item_class, uint32_t limit)
{
    uint32_t universe = world->lease.session->universe;
    uint8_t seq[UNIVERSE_SEQ] = {0};
    RowKey from;
    RowKey to;
    bool full = false;
    row_key_inbox(&from, universe, &world->lease.name, item_class, seq);
    memset(seq, UINT8_MAX, sizeof seq);
    row_key_inbox(&to, universe, &world->lease.name, item_class, seq);
    SapStoreRange range = {from.table, from.bytes, from.len, to.bytes, to.len};
    int rc = load_range(world, txn, &range, limit, &full);
    world->more = world->more || full;
    return rc;
}

/* A message that waits is not taken; that there is one is all that matters. */
static int load_held_back(HotWorld *world, SapStoreTxn *txn, uint32_t limit)
{
    int rc = load_class(world, txn, WIT_UNIVERSE_ITEM_CLASS_CONTROL, limit);
    rc = rc == SAP_OK ? load_class(world, txn, WIT_UNIVERSE_ITEM_CLASS_RECEIPT, limit) : rc;
    size_t taken = item_count(world);
    rc = rc == SAP_OK ? load_class(world, txn, WIT_UNIVERSE_ITEM_CLASS_MESSAGE, 1) : rc;
    world->holds_back = item_count(world) > taken;
    for (size_t i = taken; i < item_count(world); i++) {
        free_item(item_at(world, i));
    }
    buf_truncate(&world->items, taken * sizeof(InboxItem));
    world->more = world->more || world->holds_back;
    return rc;
}

/* The rows of an inbox are ordered by class, then by seq: where one scan has them all, it will do. */
static int load_all_classes(HotWorld *world, SapStoreTxn *txn, uint32_t limit)
{
    RowKey from;
    RowKey to;
    SapStoreRange range;
    bool full = false;
    row_key_world(&from, WIT_DBI_WORLD_INBOX, world->lease.session->universe, &world->lease.name);
    row_range(&from, &to, &range);
    int rc = load_range(world, txn, &range, limit, &full);
    if (rc == SAP_OK && full) {
        drop_items(world);
        for (uint8_t i = WIT_UNIVERSE_ITEM_CLASS_CONTROL;
             rc == SAP_OK && i <= WIT_UNIVERSE_ITEM_CLASS_MESSAGE; i++) {
            rc = load_class(world, txn, i, limit);
        }
    }
    return rc;
}

/* The creation of a world comes first: the clocks of two senders may differ. One that comes back from the
 * dead letters is an item like others. */
static int compare_items(const void *a, const void *b)
{
    const InboxItem *x = (const InboxItem *)a;
    const InboxItem *y = (const InboxItem *)b;
    bool x_creates = x->item.kind == WIT_UNIVERSE_ITEM_KIND_CREATE && !x->item.replayed;
    bool y_creates = y->item.kind == WIT_UNIVERSE_ITEM_KIND_CREATE && !y->item.replayed;
    if (x_creates != y_creates) {
        return x_creates ? -1 : 1;
    }
    return memcmp(x->seq, y->seq, UNIVERSE_SEQ);
}

/* A payload that is in a blob. */
static int load_blob(SapStore *store, InboxItem *item)
{
    Digest name;
    BlobReader *reader = NULL;
    size_t got = 0;
    memcpy(name.bytes, item->item.blob.data, sizeof name.bytes);
    int rc = blob_read_open(store, SAP_STORE_READ_NEWEST, &name, &reader);
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_CORRUPT : rc;
    }
    uint64_t size = blob_read_size(reader);
    rc = size <= SAP_WORLD_MAX_PAYLOAD ? buf_reserve(&item->blob, size + 1) : SAP_CORRUPT;
    /* The last read, of nothing, is when the whole has been compared with its name. */
    do {
        rc = rc == SAP_OK ? blob_read(reader, item->blob.data + item->blob.len,
                                      size + 1 - item->blob.len, &got)
                          : rc;
        item->blob.len += rc == SAP_OK ? got : 0;
    } while (rc == SAP_OK && got > 0);
    blob_read_close(reader);
    return rc == SAP_NOTFOUND ? SAP_CORRUPT : rc;
}

/* Keeps what one cycle takes: so many items, so many bytes, and the payloads of these. */
static int cut_items(HotWorld *world, SapStore *store, const CycleLimits *limits)
{
    size_t count = item_count(world);
    size_t keep = 0;
    size_t bytes = 0;
    int rc = SAP_OK;
    while (rc == SAP_OK && keep < count && keep < limits->items && bytes < CYCLE_BYTES) {
        InboxItem *item = item_at(world, keep++);
        rc = item->item.blob.len > 0 ? load_blob(store, item) : SAP_OK;
        bytes += item->item.payload.len + item->blob.len;
    }
    world->more = world->more || keep < count;
    for (size_t i = keep; i < count; i++) {
        free_item(item_at(world, i));
    }
    buf_truncate(&world->items, keep * sizeof(InboxItem));
    return rc;
}

int cycle_load(HotWorld *world, SapStore *store, SapStoreTxn *newest, const CycleLimits *limits)
{
    drop_items(world);
    world->more = false;
    int rc = look_at_outstanding(world, limits->outstanding);
    if (rc == SAP_OK) {
        rc = world->holds_back ? load_held_back(world, newest, limits->items)
                               : load_all_classes(world, newest, limits->items);
    }
    if (rc == SAP_OK && world->items.len > 0) {
        qsort(world->items.data, item_count(world), sizeof(InboxItem), compare_items);
        rc = cut_items(world, store, limits);
    }
    if (rc != SAP_OK) {
        drop_items(world);
    }
    return rc;
}

void cycle_forget(HotWorld *world)
{
    drop_items(world);
    writes_clear(&world->writes);
    trim_world(world);
}

size_t cycle_loaded_bytes(const HotWorld *world)
{
    size_t bytes = 0;
    for (size_t i = 0; i < item_count(world); i++) {
        bytes += item_at(world, i)->item.payload.len + item_at(world, i)->blob.len;
    }
    return bytes;
}

const InboxItem *cycle_first_item(const HotWorld *world)
{
    return world->items.len > 0 ? item_at(world, 0) : NULL;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* To a world that has asked: by a message of its own. */
static int write_reply_to_world(HotWorld *world, const IntentView *intent, const FabricAsker *asker)
{
    const WitUniverseInboxItem *item = &world->item->item;
    uint8_t seq[UNIVERSE_SEQ];
    FabricReply reply = {
        .world = &world->lease.name,
        .height = world->after.height + 1,
        .hash = intent->hash,
        .seq = seq,
        .asker = asker,
        .status = WIT_UNIVERSE_RECEIPT_STATUS_OK,
        .code = "",
        .encoding = (WitUniverseEncoding)intent->encoding,
        .payload = intent->params,
        .correlation_id = item->correlation_id,
        .trace_parent = item->trace_parent,
    };
    producer_next(&world->universe->producer, world->universe->store, seq);
    return fabric_reply_publish(&world->writes, world->universe->store, world->universe->number,
                                &reply);
}

static int write_reply(HotWorld *world, const IntentView *intent)
{
    uint8_t seq[UNIVERSE_SEQ];
    FabricAsker asker;
    if (fabric_asker_read(intent->ref, &asker)) {
        return write_reply_to_world(world, intent, &asker);
    }
    OutsideReply reply = {
        .world = &world->lease.name,
        .id = handler_reply_id(intent->ref),
        .status = WIT_UNIVERSE_RECEIPT_STATUS_OK,
        .encoding = intent->encoding,
        .payload = intent->params,
        .height = world->after.height + 1,
        .expiry_seq = seq,
    };
    producer_next(&world->universe->producer, world->universe->store, seq);
    return reply_write(&world->writes, world->universe, &reply);
}

static int write_effect(HotWorld *world, const IntentView *intent, WriteSet *writes)
{
    SapUniverse *universe = world->universe;
    uint64_t now_ns = sap_store_lease_ns(universe->store);
    bool ask = intent->type == INTENT_ASK;
    uint64_t due_ns = ask ? now_ns : timer_after(universe->store, intent->time_ns);
    uint8_t seq[UNIVERSE_SEQ];
    Digest policy;
    effect_policy_hash(&intent->retry, &policy);
    WitUniverseEffect effect = {
        .world = lend_name(&world->lease.name),
        .height = world->after.height + 1,
        .intent_hash = lend_bytes(intent->hash, UNIVERSE_DIGEST),
        .kind = ask ? lend_bytes(FABRIC_KIND, sizeof FABRIC_KIND - 1)
                    : lend_bytes(intent->kind.data, intent->kind.len),
        .encoding = (WitUniverseEncoding)intent->encoding,
        .params = lend_bytes(intent->params.data, intent->params.len),
        .origin_name = lend_bytes(intent->ref.data, intent->ref.len),
        .policy_context_hash = lend_bytes(policy.bytes, sizeof policy.bytes),
        .enqueued_at_ns = now_ns,
        .retry = intent->retry,
        .correlation_id = world->item->item.correlation_id,
        .trace_parent = world->item->item.trace_parent,
    };
    producer_next(&universe->producer, universe->store, seq);
    return effects_publish(writes, universe->number, &effect, due_ns, seq);
}

/* A timer of the handler's, or the time in which an ask or a promise must be answered; `payload` is that of its
 * event, or the id of the promise. */
static int write_timer(HotWorld *world, const IntentView *intent, WitUniverseTimerUse use,
                       Slice payload, WriteSet *writes)
{
    SapUniverse *universe = world->universe;
    bool after = intent->clock == WIT_UNIVERSE_TIMER_CLOCK_LEASE;
    TimerIntent timer = {
        .world = world->lease.name,
        .height = world->after.height + 1,
        .clock = intent->clock,
        .at_ns = after ? timer_after(universe->store, intent->time_ns) : intent->time_ns,
        .ref = intent->ref,
        .encoding = (WitUniverseEncoding)intent->encoding,
        .payload = payload,
        .use = use,
        .correlation_id = world->item->item.correlation_id,
        .trace_parent = world->item->item.trace_parent,
    };
    memcpy(timer.hash, intent->hash, sizeof timer.hash);
    return timers_arm(writes, universe->number, &timer);
}

static int write_promise(HotWorld *world, const IntentView *intent, WriteSet *writes)
{
    SapUniverse *universe = world->universe;
    bool ends = intent->time_ns > 0;
    uint8_t id[UNIVERSE_DIGEST];
    WitUniverseDbi42PromisesValue promise = {
        .world = lend_name(&world->lease.name),
        .intent_hash = lend_bytes(intent->hash, UNIVERSE_DIGEST),
        .deadline_ns = ends ? timer_after(universe->store, intent->time_ns) : 0,
        .height = world->after.height + 1,
        .ref = lend_bytes(intent->ref.data, intent->ref.len),
        .correlation_id = world->item->item.correlation_id,
        .trace_parent = world->item->item.trace_parent,
    };
    promise_id(world->birth.seed, intent->hash, id);
    int rc = promise_write(writes, universe->number, id, &promise);
    return rc == SAP_OK && ends ? write_timer(world, intent, WIT_UNIVERSE_TIMER_USE_PROMISE,
                                              (Slice){id, sizeof id}, writes)
                                : rc;
}

/* The rows of what waits for an answer. */
static int write_awaited(HotWorld *world, const IntentView *intent, WriteSet *writes)
{
    int rc = SAP_OK;
    switch (intent->type) {
    case INTENT_TIMER:
        return write_timer(world, intent, WIT_UNIVERSE_TIMER_USE_TIMER, intent->params, writes);
    case INTENT_PROMISE:
        return write_promise(world, intent, writes);
    case INTENT_ASK:
        rc = write_effect(world, intent, writes);
        return rc == SAP_OK
                   ? write_timer(world, intent, WIT_UNIVERSE_TIMER_USE_ASK, (Slice){"", 0}, writes)
                   : rc;
    default:
        return write_effect(world, intent, writes);
    }
}

/* Its rows are put when the cycle ends, unless a later item of it cancels the intent. */
static int write_asked(HotWorld *world, const IntentView *intent)
{
    IntentRows rows = {.cancelled = intent->cancelled};
    memcpy(rows.hash, intent->hash, sizeof rows.hash);
    int rc = buf_reserve(&world->asked, sizeof rows);
    if (rc == SAP_OK && !rows.cancelled) {
        rc = write_awaited(world, intent, &rows.writes);
    }
    rc = rc == SAP_OK ? buf_append(&world->asked, &rows, sizeof rows) : rc;
    if (rc != SAP_OK) {
        writes_release(&rows.writes);
    }
    return rc;
}

/* A row of an earlier cycle's intent goes with this cycle. */
static int add_cancel(HotWorld *world, CancelOf of, const uint8_t hash[UNIVERSE_DIGEST])
{
    IntentCancel cancel = {.of = of};
    if (of == CANCEL_PROMISE) {
        promise_id(world->birth.seed, hash, cancel.hash);
    } else {
        memcpy(cancel.hash, hash, sizeof cancel.hash);
    }
    return buf_append(&world->cancels, &cancel, sizeof cancel);
}

static int write_cancel(HotWorld *world, const IntentView *intent)
{
    bool of_ask = intent->of == INTENT_ASK;
    bool of_promise = intent->of == INTENT_PROMISE;
    for (size_t i = 0; i < asked_count(world); i++) {
        IntentRows *rows = asked_at(world, i);
        if (memcmp(rows->hash, intent->hash, sizeof rows->hash) == 0) {
            rows->cancelled = true;
            return SAP_OK;
        }
    }
    int rc = add_cancel(world,
                        of_promise                   ? CANCEL_PROMISE
                        : intent->of == INTENT_TIMER ? CANCEL_TIMER
                                                     : CANCEL_EFFECT,
                        intent->hash);
    return rc == SAP_OK && (of_ask || of_promise) ? add_cancel(world, CANCEL_TIMER, intent->hash)
                                                  : rc;
}

/* What is left of an ask or a promise that the item has answered: its timer, unless that is what has fired;
 * then its message that was not yet delivered, or its row. A reply finds the message delivered, and who resolves
 * a promise deletes its row. */
static int write_ended(HotWorld *world, const EndedIntent *ended, WitUniverseItemKind kind)
{
    if (ended->type != INTENT_ASK && ended->type != INTENT_PROMISE) {
        return SAP_OK;
    }
    if (kind != WIT_UNIVERSE_ITEM_KIND_TIMEOUT) {
        return add_cancel(world, CANCEL_TIMER, ended->hash);
    }
    return add_cancel(world, ended->type == INTENT_ASK ? CANCEL_EFFECT : CANCEL_PROMISE,
                      ended->hash);
}

static int write_intent(void *ctx, const IntentView *intent)
{
    HotWorld *world = (HotWorld *)ctx;
    switch (intent->type) {
    case INTENT_REPLY:
        return write_reply(world, intent);
    case INTENT_EFFECT:
    case INTENT_TIMER:
    case INTENT_ASK:
    case INTENT_PROMISE:
        return write_asked(world, intent);
    case INTENT_CANCEL:
        return write_cancel(world, intent);
    case INTENT_DONE:
        world->done = true;
        return done_write(&world->writes, world->universe->number, &world->lease.name,
                          world->after.height + 1, intent);
    case INTENT_TAG:
    case INTENT_UNTAG:
        return tag_write(&world->writes, world->universe->number, &world->lease.name, intent);
    }
    return SAP_ERROR;
}

/* How many processes have ended since they began to handle this item. */
static uint32_t deaths_of_item(const HotWorld *world, const InboxItem *item)
{
    bool begun = world->begun && memcmp(world->begun_seq, item->seq, UNIVERSE_SEQ) == 0;
    return begun ? world->begun_before : 0;
}

/* The item becomes a dead letter, and who waits for a reply hears of it. */
static int write_dead_letter(HotWorld *world, SapUniverse *universe, const InboxItem *item,
                             const char *error, uint32_t attempts)
{
    uint8_t seq[UNIVERSE_SEQ];
    Letter letter = {
        .world = &world->lease.name,
        .height = world->after.height + 1,
        .item_class = item->item_class,
        .seq = item->seq,
        .item = &item->item,
        .error = error,
        .attempts = attempts,
        .journaled = true,
        .code = "rejected",
        .expiry_seq = seq,
    };
    producer_next(&universe->producer, universe->store, seq);
    return letter_write(&world->writes, universe, &letter);
}

static bool is_failed_item(const HotWorld *world, const InboxItem *item)
{
    return world->failures > 0 && memcmp(world->failed_seq, item->seq, UNIVERSE_SEQ) == 0;
}

static void copy_correlation(char to[SAP_WORLD_MAX_ID + 1], const InboxItem *item)
{
    const CodecBytes *from = &item->item.correlation_id;
    SAP_ASSERT(from->len <= SAP_WORLD_MAX_ID);
    if (from->len > 0) {
        memcpy(to, from->data, from->len);
    }
    to[from->len] = 0;
}

static int note_rejected(HotWorld *world, const SapWorld *view, const InboxItem *item)
{
    RejectedItem rejected = {.height = world->after.height};
    copy_correlation(rejected.correlation, item);
    memcpy(rejected.error, view->message, sizeof rejected.error);
    return buf_append(&world->rejected_items, &rejected, sizeof rejected);
}

/* The rows of a step that is done: entry, what it asks for, or a dead letter, and the item gone from the
 * inbox, with the dedupe row of the effect that it is the receipt of. rejected_after 0: it was handled;
 * otherwise it is rejected after so many attempts. */
static int write_step(HotWorld *world, SapWorld *view, const InboxItem *item,
                      WitUniverseEntryKind kind, uint32_t rejected_after)
{
    SapUniverse *universe = world->universe;
    bool rejected = kind == WIT_UNIVERSE_ENTRY_KIND_REJECTED;
    SAP_ASSERT(rejected == (rejected_after > 0));
    HeadRow before = world->after;
    uint8_t sum[UNIVERSE_SUM];
    RowKey inbox;
    RowKey hint;
    Buf content = {0};
    world->item = item;
    row_key_inbox(&inbox, universe->number, &world->lease.name, item->item_class, item->seq);
    int rc = handler_entry(view, item, kind, &content);
    Slice bytes = {content.data, content.len};
    rc = rc == SAP_OK ? journal_write_entry(&world->writes, &world->lease, before.height + 1, bytes)
                      : rc;
    rc = rc == SAP_OK ? writes_add(&world->writes, ROW_DEL_MUST, &inbox, (Slice){"", 0}) : rc;
    /* The hint that came with it, read or not: others have theirs. */
    row_key_ready(&hint, universe->number, item->item.priority, item->seq, &world->lease.name);
    rc = rc == SAP_OK ? writes_add(&world->writes, ROW_DEL, &hint, (Slice){"", 0}) : rc;
    if (rc == SAP_OK && item->item.kind == WIT_UNIVERSE_ITEM_KIND_RECEIPT) {
        rc = effects_consume(&world->writes, universe->number, item->item.hash.data);
    }
    rc = rc == SAP_OK ? write_ended(world, &view->ended, item->item.kind) : rc;
    if (rc == SAP_OK) {
        rc = rejected ? write_dead_letter(world, universe, item, view->message, rejected_after)
                      : handler_intents(view, write_intent, world);
    }
    if (rc == SAP_OK) {
        state_sum(world->state, sum);
        journal_next(&before, bytes, sum, view->time_ns, &world->after);
        world->steps++;
        world->rejected += rejected;
        world->failures = is_failed_item(world, item) ? 0 : world->failures;
        rc = rejected ? note_rejected(world, view, item) : SAP_OK;
    }
    buf_release(&content);
    return rc;
}

static uint32_t attempts_allowed(const HotWorld *world)
{
    return world->module->max_attempts != 0 ? world->module->max_attempts : world->limits.attempts;
}

static void set_reason(HotWorld *world, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void set_reason(HotWorld *world, const char *format, ...)
{
    char text[CYCLE_REASON + 128];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    SAP_ASSERT(len >= 0 && (size_t)len < sizeof text);
    size_t kept = utf8_prefix(text, (size_t)len, CYCLE_REASON);
    memcpy(world->reason, text, kept);
    world->reason[kept] = 0;
}

/* The item is tried again later, or it is given up. *give_up_out: attempts are used up. */
static void note_failure(HotWorld *world, const InboxItem *item, const SapWorld *view,
                         bool *give_up_out)
{
    uint64_t wait_ns = RETRY_FIRST_NS;
    world->failures = is_failed_item(world, item) ? world->failures + 1 : 1;
    world->failed_class = item->item_class;
    memcpy(world->failed_seq, item->seq, UNIVERSE_SEQ);
    copy_correlation(world->correlation, item);
    for (uint32_t i = 1; i < world->failures && wait_ns < RETRY_MOST_NS; i++) {
        wait_ns *= 2;
    }
    wait_ns = wait_ns < RETRY_MOST_NS ? wait_ns : RETRY_MOST_NS;
    world->retry_at_ns = clock_boot_ns(world->universe->clock) + wait_ns;
    world->failed++;
    *give_up_out = world->failures >= attempts_allowed(world);
    set_reason(world, "attempt %" PRIu32 " of %" PRIu32 " failed: %s", world->failures,
               attempts_allowed(world), view->message);
}

/* Rejected: nothing of it happened, but that what it answers is over. */
static int reject_item(HotWorld *world, SapWorld *view, const InboxItem *item, uint32_t attempts)
{
    int rc = state_begin(world->state);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = handler_reject(view, item);
    if (rc != SAP_OK) {
        state_abort(world->state);
        return rc;
    }
    rc = state_commit(world->state);
    return rc == SAP_OK ? write_step(world, view, item, WIT_UNIVERSE_ENTRY_KIND_REJECTED, attempts)
                        : rc;
}

/* What the item has come to. */
typedef struct ItemResult {
    HandlerOutcome outcome;
    WitUniverseEntryKind kind; /* of its entry, if it is done */
    uint32_t attempts;         /* this one included */
} ItemResult;

/* Ends the innermost transaction of the state. *go_on_out: the next item may follow. */
static int take_outcome(HotWorld *world, SapWorld *view, const InboxItem *item,
                        const ItemResult *result, bool *go_on_out)
{
    bool give_up = false;
    *go_on_out = false;
    if (result->outcome == HANDLER_DONE) {
        int rc = state_commit(world->state);
        *go_on_out = true;
        return rc == SAP_OK ? write_step(world, view, item, result->kind, 0) : rc;
    }
    state_abort(world->state);
    if (result->outcome == HANDLER_WAITS) {
        world->retry_at_ns = clock_boot_ns(world->universe->clock) + RETRY_FIRST_NS;
        world->waits = true;
        copy_correlation(world->correlation, item);
        set_reason(world, "waiting to try again: %s", view->message);
        return SAP_OK;
    }
    if (result->outcome == HANDLER_FAILED || result->outcome == HANDLER_HALTED) {
        bool halted = result->outcome == HANDLER_HALTED;
        note_failure(world, item, view, &give_up);
        if (!give_up && !halted) {
            world->waits = true;
            return SAP_OK;
        }
        if (halted || world->module->on_failure != SAP_ON_FAILURE_SKIP) {
            world->pause = true;
            set_reason(world, "%s", view->message);
        }
    }
    if (world->pause) {
        return SAP_OK;
    }
    *go_on_out = true;
    return reject_item(world, view, item, result->attempts);
}

/* Processes have ended again and again while they handled this item: it is not tried any more. Unless its
 * module skips such items, the world is paused with it. */
static HandlerOutcome refuse_item(HotWorld *world, SapWorld *view, const InboxItem *item)
{
    char why[128];
    (void)snprintf(why, sizeof why, "%" PRIu32 " processes ended while they handled this item",
                   world->begun_before);
    handler_refuse(view, why);
    world->pause = world->module->on_failure != SAP_ON_FAILURE_SKIP;
    world->failed_class = item->item_class;
    memcpy(world->failed_seq, item->seq, UNIVERSE_SEQ);
    copy_correlation(world->correlation, item);
    set_reason(world, "%s", why);
    return HANDLER_REJECTED;
}

static int run_item(HotWorld *world, SapWorld *view, const InboxItem *item, bool *go_on_out)
{
    uint64_t time_ns = item->item.time_ns;
    ItemResult result = {HANDLER_REJECTED, WIT_UNIVERSE_ENTRY_KIND_ITEM, 0};
    uint32_t deaths = deaths_of_item(world, item);
    result.attempts = deaths + (is_failed_item(world, item) ? world->failures : 0);
    time_ns = time_ns > world->after.time_ns ? time_ns : world->after.time_ns;
    *go_on_out = false;
    handler_begin(view, world->after.height + 1, time_ns);
    int rc = state_begin(world->state);
    if (rc != SAP_OK) {
        return rc;
    }
    if (deaths >= attempts_allowed(world)) {
        result.outcome = refuse_item(world, view, item);
    } else {
        result.attempts++;
        view->attempt = result.attempts;
        result.outcome = handler_perform(view, world->module->handler, item, &result.kind);
    }
    /* Its calls may have failed for no fault of its own. */
    if (atomic_load_relaxed(&world->cancelled)) {
        state_abort(world->state);
        return SAP_FENCED;
    }
    return take_outcome(world, view, item, &result, go_on_out);
}

/* Whether there are guards left for the rows that another item may cancel, whatever it is. */
static bool has_guards_left(const HotWorld *world)
{
    enum {
        OWN_GUARDS =
            JOURNAL_GUARDS + 1, /* the last is that of the meta row, with which a world finishes */
        ITEM_GUARDS = INTENT_CANCEL_GUARDS * (CANCELS_MAX + ANSWER_CANCELS),
    };
    uint32_t count = 0;
    const IntentCancel *cancels = cycle_cancels(world, &count);
    return OWN_GUARDS + intents_cancel_most_guards(cancels, count) + ITEM_GUARDS <=
           SAP_STORE_MAX_GUARDS;
}

/* Messages wait while too much is outstanding, also by what this cycle has asked for. What answers it does not. */
static int check_held_back(HotWorld *world, const InboxItem *item, bool *waits_out)
{
    uint64_t count = 0;
    *waits_out = false;
    if (item->item_class != WIT_UNIVERSE_ITEM_CLASS_MESSAGE) {
        return SAP_OK;
    }
    int rc = outstanding_count(world->state, &count);
    *waits_out = rc == SAP_OK && count >= world->limits.outstanding;
    return rc;
}

/* One item, unless it has to wait. */
static int take_item(HotWorld *world, SapWorld *view, const InboxItem *item, bool *go_on_out)
{
    bool waits = false;
    int rc = check_held_back(world, item, &waits);
    *go_on_out = waits;
    world->more = world->more || waits;
    return rc == SAP_OK && !waits ? run_item(world, view, item, go_on_out) : rc;
}

/* The job: the handler is called for each item, as far as the budgets go. */
static void run_items(ExecutorJob *job)
{
    HotWorld *world = (HotWorld *)(void *)((char *)job - offsetof(HotWorld, job));
    uint64_t end_ns = clock_mono_ns(world->universe->clock) + world->limits.wall_ns;
    size_t count = item_count(world);
    size_t done = 0;
    size_t effects = 0;
    SapWorld view;
    atomic_store_relaxed(&job->begun, true);
    handler_init(&view, world->universe->number, &world->lease.name, &world->birth, world->state);
    view.cancelled = &world->cancelled;
    view.module = world->module;
    world->code = SAP_OK;
    while (world->code == SAP_OK && done < count && done < world->limits.steps &&
           effects < world->limits.effects && world->writes.bytes.len < CYCLE_BYTES &&
           has_guards_left(world) && !atomic_load_relaxed(&world->cancelled) &&
           (done == 0 || clock_mono_ns(world->universe->clock) < end_ns)) {
        bool go_on = false;
        handler_forget(&view);
        world->code = take_item(world, &view, item_at(world, done), &go_on);
        if (!go_on) {
            break;
        }
        if (world->done) { /* what waits is for the drain */
            producer_next(&world->universe->producer, world->universe->store, world->done_seq);
            break;
        }
        effects += handler_intent_count(&view);
        done++;
    }
    handler_release(&view);
    world->more = world->more || done < count;
}

/* Something still waits: a new hint takes the place of those that were read. */
static int write_hint(HotWorld *world)
{
    RowKey key;
    uint8_t seq[UNIVERSE_SEQ];
    producer_next(&world->universe->producer, world->universe->store, seq);
    row_key_ready(&key, world->universe->number, world->priority, seq, &world->lease.name);
    return writes_add(&world->writes, ROW_PUT, &key, (Slice){"", 0});
}

int cycle_begin(HotWorld *world, SapUniverse *universe, const CycleLimits *limits)
{
    SAP_ASSERT(world->state_now == HOT_LOADED && world->state != NULL);
    int rc = state_begin(world->state);
    if (rc != SAP_OK) {
        return rc;
    }
    world->universe = universe;
    world->limits = *limits;
    world->job = (ExecutorJob){.run = run_items};
    world->started_ns = clock_boot_ns(universe->clock);
    world->began_ns = 0;
    atomic_store_relaxed(&world->cancelled, false);
    world->code = SAP_FENCED; /* of a job that is cancelled before it runs */
    world->after = world->head;
    world->steps = 0;
    world->rejected = 0;
    world->failed = 0;
    world->done = false;
    world->waits = false;
    world->pause = false;
    return SAP_OK;
}

int cycle_write_attempt(HotWorld *world, bool over)
{
    WitUniverseDbi27AttemptValue row = {lend_bytes(world->begun_seq, UNIVERSE_SEQ),
                                        world->begun_before};
    RowKey key;
    Buf val = {0};
    row_key_world(&key, WIT_DBI_ATTEMPT, world->universe->number, &world->lease.name);
    if (over || world->begun_before == 0) {
        return writes_add(&world->writes, ROW_DEL, &key, (Slice){"", 0});
    }
    int rc = wit_universe_dbi27_attempt_value_encode(&row, &val, NULL);
    rc = rc == SAP_OK ? writes_add(&world->writes, ROW_PUT, &key, (Slice){val.data, val.len}) : rc;
    buf_release(&val);
    return rc;
}

/* The handler has returned, so this process is not one of those that ended in it. After a cycle that did
 * something, its world is not suspected of ending processes any more. */
static int write_end(HotWorld *world)
{
    int rc = SAP_OK;
    if (world->steps > 0) {
        rc = journal_write_head(&world->writes, &world->lease, &world->after);
    }
    for (size_t i = 0; rc == SAP_OK && i < asked_count(world); i++) {
        if (!asked_at(world, i)->cancelled) {
            rc = writes_add_all(&world->writes, &asked_at(world, i)->writes);
        }
    }
    drop_asked(world);
    if (rc == SAP_OK && (world->begun || (world->steps > 0 && world->lease.unclean))) {
        rc = cycle_write_attempt(world, world->steps > 0);
    }
    return rc == SAP_OK && world->more && !world->done ? write_hint(world) : rc;
}

int cycle_finish(HotWorld *world)
{
    SAP_ASSERT(world->state_now == HOT_RUNNING);
    int rc = world->code == SAP_OK ? write_end(world) : world->code;
    drop_items(world);
    world->state_now = HOT_READY;
    if (rc != SAP_OK) {
        (void)cycle_end(world, false);
    }
    return rc;
}

int cycle_end(HotWorld *world, bool committed)
{
    int rc = SAP_OK;
    SAP_ASSERT(world->state_now == HOT_READY || world->state_now == HOT_SUBMITTED);
    world->state_now = HOT_IDLE;
    writes_clear(&world->writes);
    drop_asked(world);
    buf_clear(&world->cancels);
    buf_release(&world->rejected_items);
    trim_world(world);
    if (!committed) {
        state_abort(world->state);
        return SAP_OK;
    }
    world->begun = false;
    if (world->steps > 0) {
        world->lease.unclean = false;
    }
    rc = state_commit(world->state);
    if (rc != SAP_OK) {
        state_close(world->state);
        world->state = NULL;
    }
    world->head = world->after;
    return rc;
}
