/* What a block can reach, and what it cannot. */
#include "common/fault.h"
#include "common/random.h"
#include "runner/host_v0.h"
#include "support/expect.h"
#include "support/suite.h"
#include "support/tx.h"

#include <stdio.h>
#include <string.h>

#include "wit_schema_dbis.h"

enum { TIMEOUT_S = 300, WORKER = 3, OWNER = 77, NOW = 10000 };

typedef struct HostBed {
    TxBed tx;
    SapRunnerV0Message handled;
    SapRunnerHostV0 host;
    SapRunnerV0LogEvent event; /* the last, its texts in what follows */
    char text[64];
    uint32_t events;
} HostBed;

static void note_event(const SapRunnerV0LogEvent *event, void *ctx)
{
    HostBed *bed = (HostBed *)ctx;
    bed->event = *event;
    snprintf(bed->text, sizeof bed->text, "%s", event->text != NULL ? event->text : "(none)");
    bed->events++;
}

static void fill_with_5(void *out, uint32_t len, void *ctx)
{
    (void)ctx;
    memset(out, 5, len);
}

/* A block by the worker at a time. */
static void host_start(HostBed *bed, uint64_t owner, int64_t now_ms)
{
    tx_bed_begin(&bed->tx, 0);
    bed->host = (SapRunnerHostV0){.ctx = bed->tx.ctx,
                                  .worker_id = WORKER,
                                  .owner = owner,
                                  .now_ms = now_ms,
                                  .msg = &bed->handled,
                                  .seq = 12,
                                  .attempt_id = 34,
                                  .random = fill_with_5,
                                  .log_sink = note_event,
                                  .log_ctx = bed};
}

static void host_open(HostBed *bed)
{
    memset(bed, 0, sizeof *bed);
    tx_bed_open(&bed->tx, 4096);
    tx_open_runner_tables(bed->tx.db);
    bed->handled = (SapRunnerV0Message){.kind = SAP_RUNNER_V0_COMMAND,
                                        .flags = SAP_RUNNER_V0_HAS_TRACE,
                                        .to_worker = WORKER,
                                        .message_id = "order-1",
                                        .message_id_len = 7,
                                        .trace_id = "trace",
                                        .trace_id_len = 5};
    host_start(bed, OWNER, NOW);
}

static void host_close(HostBed *bed)
{
    tx_bed_close(&bed->tx);
}

/* ---- Rows ----------------------------------------------------------------------------------- */

START_TEST(a_block_writes_the_applications_rows_and_reads_all)
{
    HostBed bed;
    const void *val;
    uint32_t len;
    uint32_t rows = 0;

    host_open(&bed);
    tx_db_put(&bed.tx, 0, "runner.schema.version", "mark");
    tx_db_put(&bed.tx, WIT_DBI_INBOX, "row", "frame");
    host_start(&bed, OWNER, NOW);
    SapRunnerHostV0 *host = &bed.host;
    EXPECT_RC(sap_runner_host_v0_put(host, 0, "key", 3, "val", 3), SAP_OK);
    EXPECT_RC(sap_runner_host_v0_put(host, 8, "key", 3, "val8", 4), SAP_OK);
    EXPECT_RC(sap_runner_host_v0_put(host, 0, "runner", 6, "v", 1), SAP_OK);
    EXPECT_RC(sap_runner_host_v0_put(host, 0, "", 0, "v", 1), SAP_OK);
    EXPECT_RC(sap_runner_host_v0_put(host, 8, "runner.x", 8, "v", 1), SAP_OK);
    EXPECT_RC(sap_runner_host_v0_put(host, 0, "queue", 5, "v", 1), SAP_OK);
    EXPECT_RC(sap_runner_host_v0_put(host, 8, "queue.name.x", 12, "v", 1), SAP_OK);
    EXPECT_RC(sap_runner_host_v0_get(host, 8, "key", 3, &val, &len), SAP_OK);
    ck_assert_uint_eq(len, 4);
    ck_assert_mem_eq(val, "val8", 4);
    EXPECT_RC(sap_runner_host_v0_del(host, 0, "runner", 6), SAP_OK);

    EXPECT_RC(sap_runner_host_v0_put(host, 0, "runner.", 7, "v", 1), SAP_READONLY);
    EXPECT_RC(sap_runner_host_v0_put(host, 0, "runner.seq.leases", 17, "v", 1), SAP_READONLY);
    EXPECT_RC(sap_runner_host_v0_del(host, 0, "runner.schema.version", 21), SAP_READONLY);
    EXPECT_RC(sap_runner_host_v0_put(host, 0, "queue.", 6, "v", 1), SAP_READONLY);
    EXPECT_RC(sap_runner_host_v0_put(host, 0, "queue.name.x", 12, "v", 1), SAP_READONLY);
    EXPECT_RC(sap_runner_host_v0_del(host, 0, "queue.name.x", 12), SAP_READONLY);
    for (uint32_t dbi = WIT_DBI_INBOX; dbi <= WIT_DBI_DEDUPE_TTL; dbi++) {
        EXPECT_RC(sap_runner_host_v0_put(host, dbi, "row", 3, "v", 1), SAP_READONLY);
        EXPECT_RC(sap_runner_host_v0_del(host, dbi, "row", 3), SAP_READONLY);
    }
    EXPECT_RC(sap_runner_host_v0_get(host, 0, "runner.schema.version", 21, &val, &len), SAP_OK);
    EXPECT_RC(sap_runner_host_v0_get(host, WIT_DBI_INBOX, "row", 3, &val, &len), SAP_OK);
    EXPECT_RC(sap_runner_host_v0_scan(host, WIT_DBI_INBOX, "r", 1, tx_count_rows, &rows), SAP_OK);
    ck_assert_uint_eq(rows, 1);
    EXPECT_RC(sap_runner_host_v0_put(host, 9, "key", 3, "v", 1), SAP_ERROR); /* no such table */
    tx_bed_apply(&bed.tx);
    tx_db_expect(&bed.tx, 8, "key", "val8");
    tx_db_expect(&bed.tx, 0, "runner.schema.version", "mark");
    host_close(&bed);
}
END_TEST

START_TEST(nested_blocks_of_a_host_are_those_of_its_context)
{
    HostBed bed;
    host_open(&bed);
    SapRunnerHostV0 *host = &bed.host;
    EXPECT_RC(sap_runner_host_v0_begin(host), SAP_OK);
    EXPECT_RC(sap_runner_host_v0_put(host, 0, "a", 1, "1", 1), SAP_OK);
    EXPECT_RC(sap_runner_host_v0_commit(host), SAP_OK);
    EXPECT_RC(sap_runner_host_v0_begin(host), SAP_OK);
    EXPECT_RC(sap_runner_host_v0_put(host, 0, "b", 1, "1", 1), SAP_OK);
    EXPECT_RC(sap_runner_host_v0_abort(host), SAP_OK);
    EXPECT_RC(sap_runner_host_v0_commit(host), SAP_ERROR);
    EXPECT_RC(sap_runner_host_v0_abort(host), SAP_ERROR);
    tx_bed_apply(&bed.tx);
    tx_db_expect(&bed.tx, 0, "a", "1");
    tx_db_expect(&bed.tx, 0, "b", NULL);
    host_close(&bed);
}
END_TEST

/* ---- Messages ------------------------------------------------------------------------------- */

/* The i-th intent and its message. */
static SapRunnerV0Message sent(const HostBed *bed, uint32_t i, SapRunnerV0Intent *intent_out)
{
    const void *frame;
    uint32_t len;
    SapRunnerV0Message msg;

    EXPECT_RC(sap_runner_txctx_v0_intent(bed->tx.ctx, i, &frame, &len), SAP_OK);
    EXPECT_RC(sap_runner_wire_v0_decode_intent(frame, len, intent_out), SAP_RUNNER_WIRE_OK);
    EXPECT_RC(sap_runner_wire_v0_decode_message(intent_out->message, intent_out->message_len, &msg),
              SAP_RUNNER_WIRE_OK);
    return msg;
}

static void expect_bytes(const void *got, uint32_t len, const char *expected)
{
    EXPECT(len == strlen(expected) && memcmp(got, expected, len) == 0, "\"%.*s\" instead of \"%s\"",
           (int)len, (const char *)got, expected);
}

START_TEST(a_message_gets_what_its_sender_left_out)
{
    HostBed bed;
    SapRunnerV0Intent intent;

    host_open(&bed);
    SapRunnerV0Message msg = {.kind = SAP_RUNNER_V0_EVENT,
                              .flags = SAP_RUNNER_V0_HIGH_PRIORITY,
                              .to_worker = 9,
                              .payload = "hello",
                              .payload_len = 5};
    EXPECT_RC(sap_runner_host_v0_emit(&bed.host, &msg), SAP_OK);
    EXPECT_RC(sap_runner_host_v0_arm(&bed.host, NOW + 500, &msg), SAP_OK);
    EXPECT_RC(sap_runner_host_v0_arm(&bed.host, NOW - 500, &msg), SAP_OK);
    SapRunnerV0Message got = sent(&bed, 0, &intent);
    ck_assert_uint_eq(intent.kind, SAP_RUNNER_V0_OUTBOX_EMIT);
    ck_assert_uint_eq(intent.flags, 0);
    ck_assert_uint_eq(got.kind, SAP_RUNNER_V0_EVENT);
    ck_assert_uint_eq(got.flags, SAP_RUNNER_V0_HIGH_PRIORITY | SAP_RUNNER_V0_HAS_FROM |
                                     SAP_RUNNER_V0_HAS_TRACE);
    ck_assert_int_eq(got.to_worker, 9);
    ck_assert_int_eq(got.from_worker, WORKER);
    ck_assert_int_eq(got.route_worker, WORKER);
    ck_assert_int_eq(got.route_timestamp, NOW);
    expect_bytes(got.message_id, got.message_id_len, "order-1.1");
    expect_bytes(got.trace_id, got.trace_id_len, "trace");
    expect_bytes(got.payload, got.payload_len, "hello");
    got = sent(&bed, 1, &intent);
    ck_assert_uint_eq(intent.kind, SAP_RUNNER_V0_TIMER_ARM);
    ck_assert_uint_eq(intent.flags, SAP_RUNNER_V0_HAS_DUE);
    ck_assert_int_eq(intent.due_ts, NOW + 500);
    ck_assert_int_eq(got.route_timestamp, NOW + 500);
    expect_bytes(got.message_id, got.message_id_len, "order-1.2");
    got = sent(&bed, 2, &intent);
    ck_assert_int_eq(intent.due_ts, NOW - 500);
    ck_assert_int_eq(got.route_timestamp, NOW);
    host_close(&bed);
}
END_TEST

START_TEST(an_id_and_a_trace_that_are_given_stay)
{
    HostBed bed;
    SapRunnerV0Intent intent;
    SapRunnerV0Message msg = {.message_id = "mine",
                              .message_id_len = 4,
                              .trace_id = "own",
                              .trace_id_len = 3,
                              .route_worker = 55,
                              .from_worker = 56};

    host_open(&bed);
    EXPECT_RC(sap_runner_host_v0_emit(&bed.host, &msg), SAP_OK);
    SapRunnerV0Message got = sent(&bed, 0, &intent);
    expect_bytes(got.message_id, got.message_id_len, "mine");
    expect_bytes(got.trace_id, got.trace_id_len, "own");
    ck_assert_int_eq(got.route_worker, WORKER);
    ck_assert_int_eq(got.from_worker, WORKER);
    /* A trace that is there and empty is one that was given. */
    msg.flags = SAP_RUNNER_V0_HAS_TRACE;
    msg.trace_id = NULL;
    msg.trace_id_len = 0;
    EXPECT_RC(sap_runner_host_v0_emit(&bed.host, &msg), SAP_OK);
    got = sent(&bed, 1, &intent);
    ck_assert_uint_eq(got.trace_id_len, 0);
    ck_assert_uint_ne(got.flags & SAP_RUNNER_V0_HAS_TRACE, 0);
    /* No trace, where none was handled. */
    bed.handled.flags = 0;
    bed.handled.trace_id = NULL;
    bed.handled.trace_id_len = 0;
    msg.flags = 0;
    EXPECT_RC(sap_runner_host_v0_emit(&bed.host, &msg), SAP_OK);
    got = sent(&bed, 2, &intent);
    ck_assert_uint_eq(got.flags, SAP_RUNNER_V0_HAS_FROM);
    host_close(&bed);
}
END_TEST

START_TEST(made_ids_differ_stay_short_and_are_the_same_in_every_run)
{
    enum { HOPS = 60, EACH = 3, ALL = HOPS * EACH };
    static char first_ids[ALL][HOST_ID_MAX + 1];
    HostBed bed;
    SapRunnerV0Intent intent;
    SapRunnerV0Message msg = {.to_worker = 1};
    char handled[HOST_ID_MAX + 1];
    uint32_t longest = 0;

    host_open(&bed);
    for (int run = 0; run < 2; run++) {
        snprintf(handled, sizeof handled, "first");
        for (int hop = 0; hop < HOPS; hop++) {
            host_start(&bed, OWNER, NOW + run);
            bed.handled.message_id = handled;
            bed.handled.message_id_len = (uint32_t)strlen(handled);
            for (int i = 0; i < EACH; i++) {
                EXPECT_RC(sap_runner_host_v0_emit(&bed.host, &msg), SAP_OK);
                SapRunnerV0Message got = sent(&bed, (uint32_t)i, &intent);
                char *id = first_ids[hop * EACH + i];
                longest = got.message_id_len > longest ? got.message_id_len : longest;
                if (run == 0) {
                    ck_assert_uint_le(got.message_id_len, HOST_ID_MAX);
                    memcpy(id, got.message_id, got.message_id_len);
                } else {
                    expect_bytes(got.message_id, got.message_id_len, id);
                }
            }
            snprintf(handled, sizeof handled, "%s", first_ids[hop * EACH + EACH - 1]);
        }
    }
    for (int i = 0; i < ALL; i++) {
        for (int j = 0; j < i; j++) {
            EXPECT(strcmp(first_ids[i], first_ids[j]) != 0, "%s twice", first_ids[i]);
        }
    }
    printf("made ids: %d, the longest of %u bytes\n", (int)ALL, longest);
    host_close(&bed);
}
END_TEST

START_TEST(without_a_handled_message_an_id_is_drawn)
{
    HostBed bed;
    SapRunnerV0Intent intent;
    SapRunnerV0Message msg = {.to_worker = 1};
    char first[HOST_ID_MAX];

    host_open(&bed);
    bed.host.msg = NULL;
    bed.host.random = NULL;
    EXPECT_RC(sap_runner_host_v0_emit(&bed.host, &msg), SAP_OK);
    SapRunnerV0Message got = sent(&bed, 0, &intent);
    ck_assert_uint_eq(got.message_id_len, 34);
    memcpy(first, got.message_id, 32);
    EXPECT_RC(sap_runner_host_v0_emit(&bed.host, &msg), SAP_OK);
    got = sent(&bed, 1, &intent);
    ck_assert_uint_eq(got.message_id_len, 34);
    ck_assert_mem_ne(got.message_id, first, 32);
    ck_assert_uint_eq(got.flags & SAP_RUNNER_V0_HAS_TRACE, 0);
    host_close(&bed);
}
END_TEST

START_TEST(what_no_frame_can_hold_is_refused_and_nothing_is_sent)
{
    HostBed bed;
    host_open(&bed);
    SapRunnerV0Message bad_kind = {.kind = 3};
    SapRunnerV0Message bad_flags = {.flags = 0x40};
    SapRunnerV0Message bad_worker = {.to_worker = -1};
    SapRunnerV0Message no_payload = {.payload_len = 1};
    EXPECT_RC(sap_runner_host_v0_emit(&bed.host, &bad_kind), SAP_INVALID);
    EXPECT_RC(sap_runner_host_v0_emit(&bed.host, &bad_flags), SAP_INVALID);
    EXPECT_RC(sap_runner_host_v0_emit(&bed.host, &bad_worker), SAP_INVALID);
    EXPECT_RC(sap_runner_host_v0_arm(&bed.host, 1, &no_payload), SAP_INVALID);
    EXPECT_RC(sap_runner_host_v0_emit(&bed.host, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_host_v0_emit(NULL, &bad_kind), SAP_ERROR);
    EXPECT_RC(sap_runner_host_v0_arm(NULL, 1, &bad_kind), SAP_ERROR);
    ck_assert_uint_eq(sap_runner_txctx_v0_intent_count(bed.tx.ctx), 0);
    /* A block that only reads sends nothing either. */
    SapRunnerV0Message fine = {.to_worker = 1};
    tx_bed_begin(&bed.tx, 1);
    EXPECT_RC(sap_runner_host_v0_emit(&bed.host, &fine), SAP_READONLY);
    host_close(&bed);
}
END_TEST

START_TEST(an_emit_that_runs_out_of_memory_has_sent_nothing)
{
    static char payload[5000];
    uint64_t failed = 0;

    for (uint64_t nth = 1;; nth++) {
        HostBed bed;
        SapRunnerV0Message msg = {.payload = payload, .payload_len = sizeof payload};

        host_open(&bed);
        fault_reset();
        fault_arm_alloc(nth);
        int rc = sap_runner_host_v0_emit(&bed.host, &msg);
        bool fired = fault_fired() > 0;
        fault_reset();
        EXPECT_RC(rc, fired ? SAP_NOMEM : SAP_OK);
        EXPECT(sap_runner_txctx_v0_intent_count(bed.tx.ctx) == (fired ? 0 : 1), "intents");
        host_close(&bed);
        if (!fired) {
            break;
        }
        failed++;
    }
    printf("emit: %llu allocations failed once each\n", (unsigned long long)failed);
    ck_assert_uint_gt(failed, 0);
}
END_TEST

/* ---- Leases --------------------------------------------------------------------------------- */

/* The lease on a name as others see it. */
static int committed_lease(HostBed *bed, const char *name, SapRunnerV0Lease *lease_out)
{
    uint8_t key[65] = {0xFF};
    SapTxnCtx *txn;

    memcpy(key + 1, name, strlen(name));
    EXPECT_RC(sap_txn_begin_rc(bed->tx.db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    int rc = sap_runner_lease_v0_get(txn, key, 1 + (uint32_t)strlen(name), lease_out);
    sap_txn_abort(txn);
    return rc;
}

START_TEST(a_lease_on_a_name_is_held_from_the_commit_on_until_its_deadline)
{
    HostBed bed;
    SapRunnerV0Lease lease;

    host_open(&bed);
    EXPECT_RC(sap_runner_host_v0_lease_acquire(&bed.host, "printer", 7, 100), SAP_OK);
    EXPECT_RC(committed_lease(&bed, "printer", &lease), SAP_NOTFOUND);
    tx_bed_apply(&bed.tx);
    EXPECT_RC(committed_lease(&bed, "printer", &lease), SAP_OK);
    ck_assert_uint_eq(lease.owner, OWNER);
    ck_assert_int_eq(lease.deadline_ms, NOW + 100);
    ck_assert_uint_eq(lease.attempts, 1);
    uint64_t token = lease.token;

    /* Another has to wait. */
    host_start(&bed, OWNER + 1, NOW + 99);
    EXPECT_RC(sap_runner_host_v0_lease_acquire(&bed.host, "printer", 7, 100), SAP_BUSY);
    EXPECT_RC(sap_runner_host_v0_lease_release(&bed.host, "printer", 7), SAP_NOTFOUND);
    EXPECT_RC(sap_runner_host_v0_lease_acquire(&bed.host, "scanner", 7, 100), SAP_OK);
    tx_bed_apply(&bed.tx);

    /* The owner renews: the same lease, another deadline. */
    host_start(&bed, OWNER, NOW + 50);
    EXPECT_RC(sap_runner_host_v0_lease_acquire(&bed.host, "printer", 7, 100), SAP_OK);
    tx_bed_apply(&bed.tx);
    EXPECT_RC(committed_lease(&bed, "printer", &lease), SAP_OK);
    ck_assert_uint_eq(lease.token, token);
    ck_assert_int_eq(lease.deadline_ms, NOW + 150);

    /* From the deadline on it is free, and not the owner's any more. */
    host_start(&bed, OWNER, NOW + 150);
    EXPECT_RC(sap_runner_host_v0_lease_release(&bed.host, "printer", 7), SAP_NOTFOUND);
    host_start(&bed, OWNER + 1, NOW + 150);
    EXPECT_RC(sap_runner_host_v0_lease_acquire(&bed.host, "printer", 7, 100), SAP_OK);
    tx_bed_apply(&bed.tx);
    EXPECT_RC(committed_lease(&bed, "printer", &lease), SAP_OK);
    ck_assert_uint_eq(lease.owner, OWNER + 1);
    ck_assert_uint_gt(lease.token, token);
    ck_assert_uint_eq(lease.attempts, 2);

    host_start(&bed, OWNER + 1, NOW + 160);
    EXPECT_RC(sap_runner_host_v0_lease_release(&bed.host, "printer", 7), SAP_OK);
    EXPECT_RC(sap_runner_host_v0_lease_release(&bed.host, "printer", 7), SAP_NOTFOUND);
    tx_bed_apply(&bed.tx);
    EXPECT_RC(committed_lease(&bed, "printer", &lease), SAP_NOTFOUND);
    host_close(&bed);
}
END_TEST

START_TEST(two_blocks_that_take_one_lease_conflict)
{
    HostBed bed;
    SapRunnerTxCtxV0 *other = NULL;
    SapTxnCtx *txn;

    host_open(&bed);
    EXPECT_RC(sap_runner_host_v0_lease_acquire(&bed.host, "printer", 7, 100), SAP_OK);
    EXPECT_RC(sap_runner_txctx_v0_create(bed.tx.db, &other), SAP_OK);
    EXPECT_RC(sap_runner_txctx_v0_reset(other, bed.tx.snapshot, 0), SAP_OK);
    SapRunnerHostV0 second = bed.host;
    second.ctx = other;
    second.owner = OWNER + 1;
    EXPECT_RC(sap_runner_host_v0_lease_acquire(&second, "printer", 7, 100), SAP_OK);
    tx_bed_apply(&bed.tx);
    EXPECT_RC(sap_txn_begin_rc(bed.tx.db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_runner_txctx_v0_validate(other, txn), SAP_CONFLICT);
    sap_txn_abort(txn);
    sap_runner_txctx_v0_dispose(other);
    host_close(&bed);
}
END_TEST

START_TEST(a_claim_does_not_conflict_with_a_block_that_takes_a_name)
{
    HostBed bed;
    SapRunnerV0Lease lease;
    SapRunnerV0Lease first;
    SapRunnerV0Lease second;
    SapTxnCtx *txn;

    host_open(&bed);
    host_start(&bed, OWNER, NOW);
    EXPECT_RC(sap_runner_host_v0_lease_acquire(&bed.host, "a", 1, 100), SAP_OK);
    EXPECT_RC(sap_runner_host_v0_lease_acquire(&bed.host, "b", 1, 100), SAP_OK);
    EXPECT_RC(sap_txn_begin_rc(bed.tx.db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_runner_lease_v0_acquire(txn, "x", 1, 1, NOW, 10, &lease), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    EXPECT_RC(sap_txn_begin_rc(bed.tx.db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_runner_txctx_v0_validate(bed.tx.ctx, txn), SAP_OK);
    sap_txn_abort(txn);
    tx_bed_apply(&bed.tx);
    EXPECT_RC(committed_lease(&bed, "a", &first), SAP_OK);
    EXPECT_RC(committed_lease(&bed, "b", &second), SAP_OK);
    ck_assert_uint_gt(second.token, first.token);
    /* However many claims there are, theirs stay below. */
    ck_assert_uint_ge(first.token, UINT64_C(1) << 63);
    ck_assert_uint_lt(lease.token, UINT64_C(1) << 63);
    host_close(&bed);
}
END_TEST

START_TEST(a_lease_row_or_a_mark_that_does_not_decode_is_corrupt)
{
    HostBed bed;
    char key[] = "\xFFprinter";

    host_open(&bed);
    tx_db_put(&bed.tx, WIT_DBI_LEASES, key, "no lease");
    host_start(&bed, OWNER, NOW);
    EXPECT_RC(sap_runner_host_v0_lease_acquire(&bed.host, "printer", 7, 100), SAP_CORRUPT);
    EXPECT_RC(sap_runner_host_v0_lease_release(&bed.host, "printer", 7), SAP_CORRUPT);
    tx_db_put(&bed.tx, 0, "runner.seq.names", "no mark");
    host_start(&bed, OWNER, NOW);
    EXPECT_RC(sap_runner_host_v0_lease_acquire(&bed.host, "free", 4, 100), SAP_CORRUPT);
    ck_assert_uint_eq(sap_runner_txctx_v0_write_count(bed.tx.ctx), 0);
    host_close(&bed);
}
END_TEST

START_TEST(a_lease_needs_a_name_that_fits_and_a_time)
{
    HostBed bed;
    char name[SAP_RUNNER_HOST_V0_NAME_MAX + 1];

    memset(name, 'n', sizeof name);
    host_open(&bed);
    EXPECT_RC(sap_runner_host_v0_lease_acquire(&bed.host, name, sizeof name, 1), SAP_ERROR);
    EXPECT_RC(sap_runner_host_v0_lease_acquire(&bed.host, name, 0, 1), SAP_ERROR);
    EXPECT_RC(sap_runner_host_v0_lease_acquire(&bed.host, NULL, 1, 1), SAP_ERROR);
    EXPECT_RC(sap_runner_host_v0_lease_acquire(&bed.host, name, 1, 0), SAP_ERROR);
    EXPECT_RC(sap_runner_host_v0_lease_acquire(&bed.host, name, 1, -1), SAP_ERROR);
    EXPECT_RC(sap_runner_host_v0_lease_acquire(NULL, name, 1, 1), SAP_ERROR);
    EXPECT_RC(sap_runner_host_v0_lease_release(&bed.host, name, sizeof name), SAP_ERROR);
    EXPECT_RC(sap_runner_host_v0_lease_release(NULL, name, 1), SAP_ERROR);
    EXPECT_RC(sap_runner_host_v0_lease_acquire(&bed.host, name, sizeof name - 1, INT64_MAX),
              SAP_OK);
    tx_bed_begin(&bed.tx, 1);
    EXPECT_RC(sap_runner_host_v0_lease_acquire(&bed.host, name, 1, 1), SAP_READONLY);
    host_close(&bed);
}
END_TEST

/* ---- The rest ------------------------------------------------------------------------------- */

START_TEST(log_time_random_and_worker_are_what_the_host_was_made_with)
{
    HostBed bed;
    uint8_t bytes[8];

    host_open(&bed);
    sap_runner_host_v0_log(&bed.host, 4, "said");
    ck_assert_uint_eq(bed.events, 1);
    ck_assert_int_eq(bed.event.kind, SAP_RUNNER_V0_LOG_GUEST);
    ck_assert_int_eq(bed.event.worker_id, WORKER);
    ck_assert_uint_eq(bed.event.seq, 12);
    ck_assert_uint_eq(bed.event.attempt_id, 34);
    ck_assert_uint_eq(bed.event.detail, 4);
    expect_bytes(bed.event.message_id, bed.event.message_id_len, "order-1");
    expect_bytes(bed.event.trace_id, bed.event.trace_id_len, "trace");
    ck_assert_str_eq(bed.text, "said");
    bed.host.msg = NULL;
    sap_runner_host_v0_log(&bed.host, 0, NULL);
    ck_assert_ptr_null(bed.event.message_id);
    ck_assert_str_eq(bed.text, "(none)");
    bed.host.log_sink = NULL;
    sap_runner_host_v0_log(&bed.host, 0, "nobody");
    sap_runner_host_v0_log(NULL, 0, "nobody");
    ck_assert_uint_eq(bed.events, 2);

    ck_assert_int_eq(sap_runner_host_v0_now_ms(&bed.host), NOW);
    ck_assert_int_eq(sap_runner_host_v0_worker_id(&bed.host), WORKER);
    ck_assert_int_eq(sap_runner_host_v0_worker_id(NULL), -1);
    ck_assert_int_eq(sap_runner_host_v0_now_ms(NULL), 0);
    EXPECT_RC(sap_runner_host_v0_random(&bed.host, bytes, sizeof bytes), SAP_OK);
    ck_assert_mem_eq(bytes, "\5\5\5\5\5\5\5\5", 8);
    EXPECT_RC(sap_runner_host_v0_random(&bed.host, NULL, 1), SAP_ERROR);
    EXPECT_RC(sap_runner_host_v0_random(NULL, bytes, 1), SAP_ERROR);
    bed.host.random = NULL;
    EXPECT_RC(sap_runner_host_v0_random(&bed.host, bytes, sizeof bytes), SAP_OK);
    ck_assert_mem_ne(bytes, "\5\5\5\5\5\5\5\5", 8);
    fault_reset();
    fault_arm_io(1, 5);
    EXPECT_RC(sap_runner_host_v0_random(&bed.host, bytes, sizeof bytes), SAP_IO);
    fault_reset();
    host_close(&bed);
}
END_TEST

START_TEST(a_host_without_a_context_answers_errors)
{
    SapRunnerHostV0 host = {.worker_id = 1, .owner = 1, .random = fill_with_5};
    SapRunnerV0Message msg = {.to_worker = 1};
    uint32_t rows = 0;

    for (int i = 0; i < 2; i++) {
        SapRunnerHostV0 *h = i == 0 ? NULL : &host;
        EXPECT_RC(sap_runner_host_v0_get(h, 0, "a", 1, NULL, NULL), SAP_ERROR);
        EXPECT_RC(sap_runner_host_v0_put(h, 0, "a", 1, "b", 1), SAP_ERROR);
        EXPECT_RC(sap_runner_host_v0_del(h, 0, "a", 1), SAP_ERROR);
        EXPECT_RC(sap_runner_host_v0_scan(h, 0, "a", 1, tx_count_rows, &rows), SAP_ERROR);
        EXPECT_RC(sap_runner_host_v0_emit(h, &msg), SAP_ERROR);
        EXPECT_RC(sap_runner_host_v0_begin(h), SAP_ERROR);
        EXPECT_RC(sap_runner_host_v0_commit(h), SAP_ERROR);
        EXPECT_RC(sap_runner_host_v0_abort(h), SAP_ERROR);
        EXPECT_RC(sap_runner_host_v0_lease_acquire(h, "n", 1, 1), SAP_ERROR);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner_host");
    TCase *tcase = tcase_create("host");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, a_block_writes_the_applications_rows_and_reads_all);
    tcase_add_test(tcase, nested_blocks_of_a_host_are_those_of_its_context);
    tcase_add_test(tcase, a_message_gets_what_its_sender_left_out);
    tcase_add_test(tcase, an_id_and_a_trace_that_are_given_stay);
    tcase_add_test(tcase, made_ids_differ_stay_short_and_are_the_same_in_every_run);
    tcase_add_test(tcase, without_a_handled_message_an_id_is_drawn);
    tcase_add_test(tcase, what_no_frame_can_hold_is_refused_and_nothing_is_sent);
    tcase_add_test(tcase, an_emit_that_runs_out_of_memory_has_sent_nothing);
    tcase_add_test(tcase, a_lease_on_a_name_is_held_from_the_commit_on_until_its_deadline);
    tcase_add_test(tcase, two_blocks_that_take_one_lease_conflict);
    tcase_add_test(tcase, a_claim_does_not_conflict_with_a_block_that_takes_a_name);
    tcase_add_test(tcase, a_lease_row_or_a_mark_that_does_not_decode_is_corrupt);
    tcase_add_test(tcase, a_lease_needs_a_name_that_fits_and_a_time);
    tcase_add_test(tcase, log_time_random_and_worker_are_what_the_host_was_made_with);
    tcase_add_test(tcase, a_host_without_a_context_answers_errors);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
