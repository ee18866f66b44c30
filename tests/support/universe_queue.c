/* universe_queue.c - see universe_queue.h. */
#include "support/universe_queue.h"

#include <string.h>

#include "support/expect.h"

enum { QUEUE_UNIVERSE = 1 };

static void start_queue(Queue *queue, const Clock *clock)
{
    EXPECT_RC(universe_open_on(queue->store, clock, NULL, QUEUE_UNIVERSE, &queue->universe),
              SAP_OK);
    EXPECT_RC(sap_world_create(queue->universe, "w", "m", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    EXPECT_RC(universe_name_set(&queue->world, "w"), SAP_OK);
    EXPECT_RC(session_init(&queue->session, queue->store, clock, NULL, QUEUE_UNIVERSE, "node"),
              SAP_OK);
    EXPECT_RC(session_start(&queue->session), SAP_OK);
    EXPECT_RC(lease_acquire_world(&queue->session, &queue->world, NULL, &queue->lease), SAP_OK);
}

void queue_open(Queue *queue)
{
    SapStoreOptions options = {.size = sizeof options};
    memset(queue, 0, sizeof *queue);
    manual_clock_init(&queue->manual, UINT64_C(1700000000000000000));
    queue->clock = manual_clock(&queue->manual);
    options.tables = universe_tables(&options.table_count);
    options.wall_ns = queue->clock.wall_ns;
    options.boot_ns = queue->clock.boot_ns;
    options.clock_ctx = queue->clock.ctx;
    EXPECT_RC(sap_store_open("memory:", &options, &queue->store), SAP_OK);
    start_queue(queue, &queue->clock);
}

void queue_open_on(Queue *queue, SapStore *store)
{
    memset(queue, 0, sizeof *queue);
    queue->store = store;
    start_queue(queue, NULL);
}

void queue_close(Queue *queue)
{
    session_release(&queue->session);
    EXPECT_RC(sap_universe_close(queue->universe), SAP_OK);
    EXPECT_RC(sap_store_close(queue->store), SAP_OK);
}

void queue_pass(Queue *queue, uint64_t ms)
{
    while (ms > 0) {
        uint64_t part_ms = ms < 4000 ? ms : 4000;
        manual_clock_advance_ms(&queue->manual, part_ms);
        EXPECT_RC(session_renew(&queue->session), SAP_OK);
        ms -= part_ms;
    }
}

void queue_hash(uint8_t number, uint8_t hash_out[UNIVERSE_DIGEST])
{
    memset(hash_out, number, UNIVERSE_DIGEST);
}

/* ---- Cycles ---------------------------------------------------------------------------------- */

typedef struct QueueCycle {
    Queue *queue;
    WriteSet *writes;
    IntentCancel *cancel; /* NULL: none */
} QueueCycle;

static int submit_body(SapStoreTxn *store_txn, void *ctx)
{
    const QueueCycle *cycle = (const QueueCycle *)ctx;
    uint32_t cancels = cycle->cancel != NULL;
    UniverseTxn txn;
    UniverseGuard guards[2 + INTENT_CANCEL_GUARDS];
    guards[0] = (UniverseGuard){cycle->queue->lease.key, true};
    guards[1].exclusive = true;
    row_key_world(&guards[1].key, WIT_DBI_HEAD, QUEUE_UNIVERSE, &cycle->queue->world);
    uint32_t count = 2 + intents_cancel_guards(QUEUE_UNIVERSE, cycle->cancel, cancels, &guards[2]);
    int rc = universe_txn_start(&txn, store_txn, PARTY_HOLDER, guards, count, NULL, 0);
    rc = rc == SAP_OK ? lease_stands(&cycle->queue->lease, store_txn) : rc;
    rc = rc == SAP_OK ? writes_apply(&cycle->writes, 1, &txn) : rc;
    return rc == SAP_OK ? intents_cancel_apply(&txn, QUEUE_UNIVERSE, cycle->cancel, cancels) : rc;
}

static int drop_writes(WriteSet *writes, int rc)
{
    writes_release(writes);
    return rc;
}

static int submit(Queue *queue, WriteSet *writes, IntentCancel *cancel)
{
    QueueCycle cycle = {queue, writes, cancel};
    int rc = cancel == NULL ? SAP_OK : intents_cancel_find(queue->store, QUEUE_UNIVERSE, cancel, 1);
    rc = rc == SAP_OK ? sap_store_run(queue->store, SAP_STORE_GUARDED, submit_body, &cycle, NULL)
                      : rc;
    writes_release(writes);
    return rc;
}

int queue_submit(Queue *queue, WriteSet *writes)
{
    return submit(queue, writes, NULL);
}

int queue_publish(Queue *queue, uint8_t number, const char *kind, const WitUniverseRetry *retry)
{
    static const uint8_t policy_hash[UNIVERSE_DIGEST];
    WriteSet writes = {0};
    uint8_t hash[UNIVERSE_DIGEST];
    uint8_t seq[UNIVERSE_SEQ];
    uint64_t now_ns = sap_store_lease_ns(queue->store);
    queue_hash(number, hash);
    producer_next(&queue->universe->producer, queue->store, seq);
    WitUniverseEffect effect = {
        .world = lend_name(&queue->world),
        .height = number,
        .intent_hash = lend_bytes(hash, sizeof hash),
        .kind = lend_bytes(kind, strlen(kind)),
        .encoding = WIT_UNIVERSE_ENCODING_RAW,
        .params = lend_bytes(&number, 1),
        .origin_name = lend_bytes("ref", 3),
        .policy_context_hash = lend_bytes(policy_hash, sizeof policy_hash),
        .enqueued_at_ns = now_ns,
    };
    effect.retry = retry == NULL ? effect.retry : *retry;
    int rc = effects_publish(&writes, QUEUE_UNIVERSE, &effect, now_ns, seq);
    return rc == SAP_OK ? submit(queue, &writes, NULL) : drop_writes(&writes, rc);
}

int queue_arm(Queue *queue, uint8_t number, WitUniverseTimerClock clock, uint64_t at_ns)
{
    WriteSet writes = {0};
    TimerIntent timer = {.world = queue->world,
                         .height = number,
                         .clock = clock,
                         .at_ns = at_ns,
                         .ref = {"tick", 4},
                         .encoding = WIT_UNIVERSE_ENCODING_RAW};
    queue_hash(number, timer.hash);
    int rc = timers_arm(&writes, QUEUE_UNIVERSE, &timer);
    return rc == SAP_OK ? submit(queue, &writes, NULL) : drop_writes(&writes, rc);
}

int queue_cancel(Queue *queue, uint8_t number, bool timer)
{
    WriteSet writes = {0};
    IntentCancel cancel = {.of = timer ? CANCEL_TIMER : CANCEL_EFFECT};
    queue_hash(number, cancel.hash);
    return submit(queue, &writes, &cancel);
}

/* The item of the intent, and the key of its row. */
static int find_item(Queue *queue, uint8_t number, RowKey *key_out, WitUniverseInboxItem *item_out)
{
    SapStoreTxn *txn = NULL;
    RowKey prefix;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    int found = SAP_NOTFOUND;
    row_key_world(&prefix, WIT_DBI_WORLD_INBOX, QUEUE_UNIVERSE, &queue->world);
    row_range(&prefix, &to, &range);
    int rc = sap_store_begin(queue->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? sap_store_scan(txn, &range, false, 256, &rows, &count) : rc;
    for (uint32_t i = 0; rc == SAP_OK && found != SAP_OK && i < count; i++) {
        WitUniverseDbi24WorldInboxValue val;
        rc = wit_universe_dbi24_world_inbox_value_decode(rows[i].val, rows[i].val_len, &val, NULL);
        bool wanted = rc == SAP_OK && val.item.kind != WIT_UNIVERSE_ITEM_KIND_CREATE &&
                      val.item.hash.data[0] == number;
        if (wanted) {
            found = SAP_OK;
            *item_out = val.item;
            rc = row_key_copy(key_out, WIT_DBI_WORLD_INBOX, rows[i].key, rows[i].key_len);
        } else if (rc == SAP_OK) {
            wit_universe_dbi24_world_inbox_value_free(&val);
        }
    }
    sap_store_abort(txn);
    return rc == SAP_OK ? found : rc;
}

int queue_consume(Queue *queue, uint8_t number, WitUniverseInboxItem *item_out)
{
    WriteSet writes = {0};
    WitUniverseInboxItem item;
    RowKey key;
    int rc = find_item(queue, number, &key, &item);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = writes_add(&writes, ROW_DEL_MUST, &key, (Slice){"", 0});
    if (rc == SAP_OK && item.kind == WIT_UNIVERSE_ITEM_KIND_RECEIPT) {
        rc = effects_consume(&writes, QUEUE_UNIVERSE, item.hash.data);
    }
    rc = rc == SAP_OK ? submit(queue, &writes, NULL) : drop_writes(&writes, rc);
    if (rc == SAP_OK && item_out != NULL) {
        *item_out = item;
    } else {
        wit_universe_inbox_item_free(&item);
    }
    return rc;
}

/* ---- Looking --------------------------------------------------------------------------------- */

uint32_t queue_rows_of(Queue *queue, uint32_t table)
{
    SapStoreTxn *txn = NULL;
    RowKey prefix;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    row_key_universe(&prefix, table, QUEUE_UNIVERSE);
    row_range(&prefix, &to, &range);
    EXPECT_RC(sap_store_begin(queue->store, SAP_STORE_READ_NEWEST, &txn), SAP_OK);
    EXPECT_RC(sap_store_scan(txn, &range, false, 100000, &rows, &count), SAP_OK);
    sap_store_abort(txn);
    return count;
}

uint32_t queue_rows(Queue *queue)
{
    uint32_t count = 0;
    for (uint32_t table = WIT_DBI_EFFECTS_PENDING; table <= WIT_DBI_TIMERS_DEDUPE; table++) {
        count += queue_rows_of(queue, table);
    }
    return count;
}

bool queue_find(Queue *queue, uint8_t number, DispatchRow *row_out)
{
    SapStoreTxn *txn = NULL;
    RowKey key;
    uint8_t hash[UNIVERSE_DIGEST];
    queue_hash(number, hash);
    row_key_dedupe(&key, WIT_DBI_EFFECTS_DEDUPE, QUEUE_UNIVERSE, hash);
    EXPECT_RC(sap_store_begin(queue->store, SAP_STORE_READ_NEWEST, &txn), SAP_OK);
    int rc = dispatch_row_get(txn, &key, row_out);
    sap_store_abort(txn);
    return rc == SAP_OK;
}
