/* Damaged rows of effects and timers: each costs its own intent, and stops no other. */
#include <stdio.h>
#include <string.h>

#include "support/expect.h"
#include "support/suite.h"
#include "support/universe_queue.h"

enum { TIMEOUT_S = 120, MOST_STEPS = 1000 };

/* ---- Calls that go on until they are done ---------------------------------------------------- */

typedef struct Work {
    uint32_t started;
    bool done;
} Work;

static int start_work(void *ctx, const EffectCall *call, void **handle_out)
{
    Work *work = (Work *)ctx;
    (void)call;
    work->started++;
    *handle_out = work;
    return SAP_OK;
}

static int poll_work(void *ctx, void *handle, EffectResult *result, bool *done_out)
{
    (void)ctx;
    result->encoding = SAP_ENCODING_RAW;
    *done_out = ((Work *)handle)->done;
    return SAP_OK;
}

static void cancel_work(void *ctx, void *handle)
{
    (void)ctx;
    (void)handle;
}

static AdapterKind work_kind(const char *name, Work *work)
{
    return (AdapterKind){
        .kind = name, .ctx = work, .start = start_work, .poll = poll_work, .cancel = cancel_work};
}

static void work_on(Adapter *adapter)
{
    bool busy = true;
    for (int i = 0; busy; i++) {
        EXPECT_RC(adapter_step(adapter, &busy), SAP_OK);
        EXPECT(i < MOST_STEPS, "the adapter has no end of work");
    }
}

static void fire_all_due(TimerWorker *worker)
{
    bool busy = true;
    for (int i = 0; busy; i++) {
        EXPECT_RC(timer_worker_step(worker, &busy), SAP_OK);
        EXPECT(i < MOST_STEPS, "the timers have no end of work");
    }
}

static void expect_answer(Queue *queue, uint8_t number, WitUniverseReceiptStatus status,
                          const char *code, uint32_t attempts)
{
    WitUniverseInboxItem item;
    EXPECT_RC(queue_consume(queue, number, &item), SAP_OK);
    EXPECT(item.status == status && item.attempts.count == attempts &&
               item.code.len == strlen(code) &&
               (item.code.len == 0 || memcmp(item.code.data, code, item.code.len) == 0),
           "effect %u: status %d, %u attempts", number, (int)item.status, item.attempts.count);
    wit_universe_inbox_item_free(&item);
}

/* ---- Damage ---------------------------------------------------------------------------------- */

/* Overwrites the first row of the table that has these bytes in its key; of timers' dedupe rows, which are
 * never decoded when a timer fires, deletes it. */
static void damage_row(Queue *queue, uint32_t table, const void *part, size_t len)
{
    RowKey all;
    RowKey key = {.table = table};
    RowKey to;
    SapStoreRange range;
    SapStoreTxn *txn = NULL;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    row_key_universe(&all, table, 1);
    row_range(&all, &to, &range);
    EXPECT_RC(sap_store_begin(queue->store, SAP_STORE_READ_NEWEST, &txn), SAP_OK);
    EXPECT_RC(sap_store_scan(txn, &range, false, 256, &rows, &count), SAP_OK);
    for (uint32_t i = 0; key.len == 0 && i < count; i++) {
        if (memmem(rows[i].key, rows[i].key_len, part, len) != NULL) {
            EXPECT_RC(row_key_copy(&key, table, rows[i].key, rows[i].key_len), SAP_OK);
        }
    }
    sap_store_abort(txn);
    EXPECT(key.len > 0, "table %u has no such row", table);
    SapStoreGuard guard = {table, key.bytes, key.len, true};
    EXPECT_RC(sap_store_begin(queue->store, SAP_STORE_GUARDED, &txn), SAP_OK);
    EXPECT_RC(sap_store_guard(txn, &guard, 1), SAP_OK);
    if (table == WIT_DBI_TIMERS_DEDUPE) {
        EXPECT_RC(sap_store_del(txn, table, key.bytes, key.len), SAP_OK);
    } else {
        EXPECT_RC(sap_store_put(txn, table, key.bytes, key.len, "\xff", 1), SAP_OK);
    }
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
}

static void damage_intent(Queue *queue, uint32_t table, uint8_t number)
{
    uint8_t hash[UNIVERSE_DIGEST];
    queue_hash(number, hash);
    damage_row(queue, table, hash, sizeof hash);
}

/* Two effects that are due: of the first a row is damaged, of the second none. */
static void damage_effect(uint32_t table, bool running)
{
    Queue queue;
    EffectReaper reaper;
    Work first = {.started = 0};
    Work second = {.started = 0};
    bool busy = false;
    expect_context("table %u, %s", table, running ? "running" : "pending");
    queue_open(&queue);
    AdapterKind kinds[] = {work_kind("a", &first), work_kind("b", &second)};
    kinds[0].policy.timeout_ns = kinds[1].policy.timeout_ns = 1000 * QUEUE_SECOND_NS;
    Adapter *adapter = NULL;
    EXPECT_RC(adapter_open(&queue.session, &queue.universe->producer, NULL, kinds, 2, &adapter),
              SAP_OK);
    effect_reaper_init(&reaper, &queue.session, &queue.universe->producer);
    EXPECT_RC(queue_publish(&queue, 1, "a", NULL), SAP_OK);
    EXPECT_RC(queue_publish(&queue, 2, "b", NULL), SAP_OK);
    if (running) {
        work_on(adapter);
    }
    if (table == WIT_DBI_EFFECTS_DEDUPE) {
        damage_intent(&queue, table, 1);
    } else if (table == WIT_DBI_KINDS) {
        damage_row(&queue, table, "a", 1);
    } else {
        damage_row(&queue, table, "", 0); /* the row of the first is the first */
    }
    for (int i = 0; i < 60; i++) { /* claims are renewed, and none of the second is lost */
        work_on(adapter);
        EXPECT_RC(effect_reaper_step(&reaper, &busy), SAP_OK);
        queue_pass(&queue, 1000);
    }
    ck_assert_uint_eq(second.started, 1);
    first.done = second.done = true;
    work_on(adapter);
    expect_answer(&queue, 2, WIT_UNIVERSE_RECEIPT_STATUS_OK, "", 1);
    EXPECT_RC(effect_reaper_step(&reaper, &busy), SAP_OK);
    /* A lost claim of it is passed over too, and an effect of a kind that nobody serves comes to its end. */
    EXPECT_RC(queue_publish(&queue, 3, "nobody", NULL), SAP_OK);
    for (int i = 0; i < 140; i++) {
        EXPECT_RC(effect_reaper_step(&reaper, &busy), SAP_OK);
        queue_pass(&queue, 1000);
    }
    expect_answer(&queue, 3, WIT_UNIVERSE_RECEIPT_STATUS_ERROR, "no_adapter", 0);
    effect_reaper_release(&reaper);
    adapter_close(adapter);
    queue_close(&queue);
}

START_TEST(a_damaged_row_of_an_effect_stops_no_other)
{
    damage_effect(WIT_DBI_EFFECTS_PENDING, false);
    damage_effect(WIT_DBI_EFFECTS_DEDUPE, false);
    damage_effect(WIT_DBI_EFFECTS_INFLIGHT, true);
    damage_effect(WIT_DBI_EFFECTS_DEDUPE, true);
    damage_effect(WIT_DBI_KINDS, true);
}
END_TEST

START_TEST(damaged_rows_of_timers_stop_no_other)
{
    enum { DAMAGED = 30 }; /* more than a step reads */
    static const uint32_t tables[] = {WIT_DBI_TIMERS_DUE, WIT_DBI_TIMERS_DEDUPE};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        Queue queue;
        TimerWorker worker;
        bool busy = false;
        expect_context("table %u", tables[t]);
        queue_open(&queue);
        timer_worker_init(&worker, queue.store, 1, &queue.universe->producer);
        for (uint8_t i = 1; i <= DAMAGED + 1; i++) {
            EXPECT_RC(queue_arm(&queue, i, WIT_UNIVERSE_TIMER_CLOCK_LEASE, i), SAP_OK);
        }
        EXPECT_RC(queue_arm(&queue, DAMAGED + 2, WIT_UNIVERSE_TIMER_CLOCK_DUE, 1), SAP_OK);
        for (uint8_t i = 1; i <= DAMAGED; i++) {
            damage_intent(&queue, tables[t], i);
        }
        for (int i = 0; i < 10; i++) {
            EXPECT_RC(timer_worker_step(&worker, &busy), SAP_OK);
        }
        ck_assert_uint_eq(worker.stats.fired, 2);
        EXPECT_RC(queue_consume(&queue, DAMAGED + 1, NULL), SAP_OK);
        EXPECT_RC(queue_consume(&queue, DAMAGED + 2, NULL), SAP_OK);
        fire_all_due(&worker); /* it comes to rest, and goes on */
        EXPECT_RC(queue_arm(&queue, DAMAGED + 3, WIT_UNIVERSE_TIMER_CLOCK_LEASE,
                            timer_after(queue.store, QUEUE_SECOND_NS)),
                  SAP_OK);
        queue_pass(&queue, 1000);
        for (int i = 0; i < 10; i++) {
            EXPECT_RC(timer_worker_step(&worker, &busy), SAP_OK);
        }
        ck_assert_uint_eq(worker.stats.fired, 3);
        queue_close(&queue);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_effects_damage");
    TCase *test_case = tcase_create("damage");
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, a_damaged_row_of_an_effect_stops_no_other);
    tcase_add_test(test_case, damaged_rows_of_timers_stop_no_other);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
