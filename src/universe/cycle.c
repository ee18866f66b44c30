/* cycle.c - see cycle.h. */
#include "universe/cycle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/assert.h"
#include "common/mem.h"
#include "store/blob.h"

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

static void drop_items(HotWorld *world)
{
    for (size_t i = 0; i < item_count(world); i++) {
        free_item(item_at(world, i));
    }
    buf_clear(&world->items);
}

void cycle_world_free(HotWorld *world)
{
    if (world == NULL) {
        return;
    }
    drop_items(world);
    buf_release(&world->items);
    writes_release(&world->writes);
    state_close(world->state);
    mem_free(MEM_UNIVERSE, world, sizeof *world);
}

int cycle_add_hint(HotWorld *world, const RowKey *hint)
{
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

/* The oldest items of one class. */
static int load_class(HotWorld *world, SapStoreTxn *txn, uint8_t item_class, uint32_t limit)
{
    uint32_t universe = world->lease.session->universe;
    uint8_t seq[UNIVERSE_SEQ] = {0};
    RowKey from;
    RowKey to;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    row_key_inbox(&from, universe, &world->lease.name, item_class, seq);
    memset(seq, UINT8_MAX, sizeof seq);
    row_key_inbox(&to, universe, &world->lease.name, item_class, seq);
    SapStoreRange range = {from.table, from.bytes, from.len, to.bytes, to.len};
    int rc = sap_store_scan(txn, &range, false, limit + 1, &rows, &count);
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        InboxItem item;
        rc = buf_reserve(&world->items, sizeof item);
        rc = rc == SAP_OK ? decode_item(&rows[i], &item) : rc;
        rc = rc == SAP_OK ? buf_append(&world->items, &item, sizeof item) : rc;
    }
    return rc;
}

static int compare_items(const void *a, const void *b)
{
    const InboxItem *x = (const InboxItem *)a;
    const InboxItem *y = (const InboxItem *)b;
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
    world->more = keep < count;
    for (size_t i = keep; i < count; i++) {
        free_item(item_at(world, i));
    }
    buf_truncate(&world->items, keep * sizeof(InboxItem));
    return rc;
}

int cycle_load(HotWorld *world, SapStore *store, SapStoreTxn *newest, const CycleLimits *limits)
{
    int rc = SAP_OK;
    drop_items(world);
    for (uint8_t i = WIT_UNIVERSE_ITEM_CLASS_CONTROL;
         rc == SAP_OK && i <= WIT_UNIVERSE_ITEM_CLASS_MESSAGE; i++) {
        rc = load_class(world, newest, i, limits->items);
    }
    if (rc == SAP_OK && world->items.len > 0) {
        qsort(world->items.data, item_count(world), sizeof(InboxItem), compare_items);
        rc = cut_items(world, store, limits);
    }
    return rc;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* A row that goes away at a time: the row and its expiry. */
static int write_expiring(HotWorld *world, SapUniverse *universe, const RowKey *key, Slice val,
                          uint64_t expires_ns)
{
    RowKey expiry_key;
    uint8_t seq[UNIVERSE_SEQ];
    Buf expiry = {0};
    WitUniverseDbi41ExpiryValue fields = {key->table, lend_bytes(key->bytes, key->len)};
    producer_next(&universe->producer, universe->store, seq);
    row_key_expiry(&expiry_key, universe->number, expires_ns, seq);
    int rc = writes_add(&world->writes, ROW_PUT_ABSENT, key, val);
    rc = rc == SAP_OK ? wit_universe_dbi41_expiry_value_encode(&fields, &expiry, NULL) : rc;
    rc = rc == SAP_OK
             ? writes_add(&world->writes, ROW_PUT, &expiry_key, (Slice){expiry.data, expiry.len})
             : rc;
    buf_release(&expiry);
    return rc;
}

typedef struct Replying {
    HotWorld *world;
    SapUniverse *universe;
    WitUniverseReceiptStatus status;
} Replying;

static int write_reply(void *ctx, Slice reply_to, SapEncoding encoding, Slice payload)
{
    const Replying *replying = (const Replying *)ctx;
    HotWorld *world = replying->world;
    uint64_t expires_ns = sap_store_lease_ns(replying->universe->store) + INGRESS_KEPT_NS;
    WitUniverseDbi26ReplyValue fields = {replying->status, (WitUniverseEncoding)encoding,
                                         lend_bytes(payload.data, payload.len),
                                         world->after.height + 1, expires_ns};
    RowKey key;
    Buf val = {0};
    row_key_id(&key, WIT_DBI_REPLY, replying->universe->number, &world->lease.name,
               handler_reply_id(reply_to));
    int rc = wit_universe_dbi26_reply_value_encode(&fields, &val, NULL);
    rc = rc == SAP_OK ? write_expiring(world, replying->universe, &key, (Slice){val.data, val.len},
                                       expires_ns)
                      : rc;
    buf_release(&val);
    return rc;
}

/* The item becomes a dead letter, and who waits for a reply hears of it. */
static int write_dead_letter(HotWorld *world, SapUniverse *universe, const InboxItem *item,
                             const char *error)
{
    Replying replying = {world, universe, WIT_UNIVERSE_RECEIPT_STATUS_ERROR};
    WitUniverseDbi28WorldDlqValue fields = {item->item, lend_bytes(error, strlen(error)),
                                            world->failures + 1, sap_store_due_ns(universe->store)};
    RowKey key;
    Buf val = {0};
    Slice reply_to = {item->item.reply_to.data, item->item.reply_to.len};
    row_key_dlq(&key, universe->number, &world->lease.name, world->after.height + 1, item->seq);
    int rc = wit_universe_dbi28_world_dlq_value_encode(&fields, &val, NULL);
    rc = rc == SAP_OK ? writes_add(&world->writes, ROW_PUT, &key, (Slice){val.data, val.len}) : rc;
    buf_release(&val);
    if (rc == SAP_OK && handler_reply_id(reply_to).len > 0) {
        rc = write_reply(&replying, reply_to, SAP_ENCODING_RAW, slice_from_str(error));
    }
    return rc;
}

/* The rows of a step that is done: entry, replies, dead letter, and the item gone from the inbox. */
static int write_step(HotWorld *world, SapUniverse *universe, SapWorld *view, const InboxItem *item,
                      bool rejected)
{
    Replying replying = {world, universe, WIT_UNIVERSE_RECEIPT_STATUS_OK};
    HeadRow before = world->after;
    uint8_t sum[UNIVERSE_SUM];
    RowKey inbox;
    Buf content = {0};
    row_key_inbox(&inbox, universe->number, &world->lease.name, item->item_class, item->seq);
    int rc = handler_entry(view, item, rejected, &content);
    Slice bytes = {content.data, content.len};
    rc = rc == SAP_OK ? journal_write_entry(&world->writes, &world->lease, before.height + 1, bytes)
                      : rc;
    rc = rc == SAP_OK ? writes_add(&world->writes, ROW_DEL_MUST, &inbox, (Slice){"", 0}) : rc;
    if (rc == SAP_OK) {
        rc = rejected ? write_dead_letter(world, universe, item, view->message)
                      : handler_replies(view, write_reply, &replying);
    }
    if (rc == SAP_OK) {
        state_sum(world->state, sum);
        journal_next(&before, bytes, sum, view->time_ns, &world->after);
        world->steps++;
        world->rejected += rejected;
        world->failures = 0;
    }
    buf_release(&content);
    return rc;
}

/* The item is tried again later, or the world is paused. */
static void note_failure(HotWorld *world, SapUniverse *universe, const InboxItem *item,
                         const SapWorld *view, const CycleLimits *limits)
{
    bool same = world->failures > 0 && memcmp(world->failed_seq, item->seq, UNIVERSE_SEQ) == 0;
    uint64_t wait_ns = RETRY_FIRST_NS;
    world->failures = same ? world->failures + 1 : 1;
    memcpy(world->failed_seq, item->seq, UNIVERSE_SEQ);
    for (uint32_t i = 1; i < world->failures && wait_ns < RETRY_MOST_NS; i++) {
        wait_ns *= 2;
    }
    wait_ns = wait_ns < RETRY_MOST_NS ? wait_ns : RETRY_MOST_NS;
    world->retry_at_ns = clock_boot_ns(universe->clock) + wait_ns;
    world->failed++;
    if (world->failures >= limits->attempts) {
        world->pause = true;
        (void)snprintf(world->reason, sizeof world->reason, "%s", view->message);
    }
}

/* One item. *go_on_out: the next one may follow. */
static int run_item(HotWorld *world, SapUniverse *universe, SapWorld *view, const InboxItem *item,
                    const CycleLimits *limits, bool *go_on_out)
{
    uint64_t time_ns = item->item.time_ns;
    *go_on_out = false;
    time_ns = time_ns > world->after.time_ns ? time_ns : world->after.time_ns;
    int rc = state_begin(world->state);
    if (rc != SAP_OK) {
        return rc;
    }
    HandlerOutcome outcome =
        handler_call(view, world->module->handler, item, world->after.height + 1, time_ns);
    if (outcome == HANDLER_FAILED) {
        note_failure(world, universe, item, view, limits);
    }
    if (outcome == HANDLER_WAITS) {
        world->retry_at_ns = clock_boot_ns(universe->clock) + RETRY_FIRST_NS;
    }
    if (outcome == HANDLER_FAILED || outcome == HANDLER_WAITS) {
        state_abort(world->state);
        return SAP_OK;
    }
    if (outcome == HANDLER_REJECTED) {
        state_abort(world->state);
        *go_on_out = true;
        return write_step(world, universe, view, item, true);
    }
    rc = state_commit(world->state);
    *go_on_out = true;
    return rc == SAP_OK ? write_step(world, universe, view, item, false) : rc;
}

static int run_items(HotWorld *world, SapUniverse *universe, const CycleLimits *limits)
{
    SapWorld view;
    size_t count = item_count(world);
    size_t done = 0;
    uint64_t effects = 0;
    uint64_t end_ns = clock_boot_ns(universe->clock) + limits->wall_ns;
    bool go_on = true;
    int rc = SAP_OK;
    handler_init(&view, universe->number, &world->lease.name, &world->birth, world->state);
    while (rc == SAP_OK && done < count && done < limits->steps && effects < limits->effects &&
           (done == 0 || clock_boot_ns(universe->clock) < end_ns)) {
        rc = run_item(world, universe, &view, item_at(world, done), limits, &go_on);
        if (rc != SAP_OK || !go_on) {
            break;
        }
        effects += handler_intent_count(&view);
        done++;
    }
    handler_release(&view);
    world->more = world->more || done < count;
    return rc;
}

/* Something still waits: a new hint takes the place of those that were read. */
static int write_hint(HotWorld *world, SapUniverse *universe)
{
    RowKey key;
    uint8_t seq[UNIVERSE_SEQ];
    producer_next(&universe->producer, universe->store, seq);
    row_key_ready(&key, universe->number, 0, seq, &world->lease.name);
    return writes_add(&world->writes, ROW_PUT, &key, (Slice){"", 0});
}

int cycle_run(HotWorld *world, SapUniverse *universe, const CycleLimits *limits)
{
    SAP_ASSERT(!world->running && world->state != NULL);
    int rc = state_begin(world->state);
    if (rc != SAP_OK) {
        return rc;
    }
    world->running = true;
    world->after = world->head;
    world->steps = 0;
    world->rejected = 0;
    world->failed = 0;
    world->pause = false;
    rc = run_items(world, universe, limits);
    rc = rc == SAP_OK && world->steps > 0
             ? journal_write_head(&world->writes, &world->lease, &world->after)
             : rc;
    rc = rc == SAP_OK && world->more ? write_hint(world, universe) : rc;
    drop_items(world);
    if (rc != SAP_OK) {
        (void)cycle_end(world, false);
    }
    return rc;
}

int cycle_end(HotWorld *world, bool committed)
{
    int rc = SAP_OK;
    SAP_ASSERT(world->running);
    world->running = false;
    writes_clear(&world->writes);
    if (!committed) {
        state_abort(world->state);
        return SAP_OK;
    }
    rc = state_commit(world->state);
    if (rc != SAP_OK) {
        state_close(world->state);
        world->state = NULL;
    }
    world->head = world->after;
    return rc;
}
