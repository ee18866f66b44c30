/* Nested blocks: a child's commit merges, its abort leaves nothing but what was read. Random blocks
 * are compared with a model that copies everything at each level. */
#include "common/fault.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/suite.h"
#include "support/tx.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TIMEOUT_S = 600 };

/* ---- By hand -------------------------------------------------------------------------------- */

static void push_intent(SapRunnerTxCtxV0 *ctx, const char *id)
{
    uint8_t frame[200];
    uint32_t len = tx_intent(frame, sizeof frame, id, -1);

    EXPECT_RC(sap_runner_txctx_v0_push_intent(ctx, frame, len), SAP_OK);
}

/* That intent `i` is the message of this id. */
static void expect_intent(SapRunnerTxCtxV0 *ctx, uint32_t i, const char *id)
{
    const void *frame;
    uint32_t len;
    SapRunnerV0Intent intent;
    SapRunnerV0Message msg;

    EXPECT_RC(sap_runner_txctx_v0_intent(ctx, i, &frame, &len), SAP_OK);
    EXPECT_RC(sap_runner_wire_v0_decode_intent(frame, len, &intent), SAP_RUNNER_WIRE_OK);
    EXPECT_RC(sap_runner_wire_v0_decode_message(intent.message, intent.message_len, &msg),
              SAP_RUNNER_WIRE_OK);
    EXPECT(msg.message_id_len == strlen(id) && memcmp(msg.message_id, id, strlen(id)) == 0,
           "intent %u is \"%.*s\"", i, (int)msg.message_id_len, (const char *)msg.message_id);
}

START_TEST(a_child_that_commits_is_part_of_the_block_around_it)
{
    TxBed bed;
    tx_bed_open(&bed, 4096);
    tx_db_put(&bed, 0, "a", "db");
    tx_bed_begin(&bed, 0);
    EXPECT_RC(tx_put(bed.ctx, 0, "b", "outer"), SAP_OK);
    push_intent(bed.ctx, "outer");
    EXPECT_RC(sap_runner_txstack_v0_push(bed.ctx), SAP_OK);
    ck_assert_uint_eq(sap_runner_txstack_v0_depth(bed.ctx), 1);
    tx_expect_get(bed.ctx, 0, "b", "outer");
    EXPECT_RC(tx_put(bed.ctx, 0, "a", "inner"), SAP_OK);
    EXPECT_RC(tx_del(bed.ctx, 0, "b"), SAP_OK);
    push_intent(bed.ctx, "inner");
    EXPECT_RC(sap_runner_txstack_v0_commit(bed.ctx), SAP_OK);
    ck_assert_uint_eq(sap_runner_txstack_v0_depth(bed.ctx), 0);
    tx_expect_get(bed.ctx, 0, "a", "inner");
    tx_expect_get(bed.ctx, 0, "b", NULL);
    ck_assert_uint_eq(sap_runner_txctx_v0_intent_count(bed.ctx), 2);
    expect_intent(bed.ctx, 0, "outer");
    expect_intent(bed.ctx, 1, "inner");
    tx_db_expect(&bed, 0, "a", "db");
    tx_bed_apply(&bed);
    tx_db_expect(&bed, 0, "a", "inner");
    tx_db_expect(&bed, 0, "b", NULL);
    tx_bed_close(&bed);
}
END_TEST

START_TEST(a_child_that_aborts_leaves_the_block_around_it_as_it_was)
{
    TxBed bed;
    tx_bed_open(&bed, 4096);
    tx_db_put(&bed, 0, "a", "db");
    tx_bed_begin(&bed, 0);
    EXPECT_RC(tx_put(bed.ctx, 0, "b", "outer"), SAP_OK);
    push_intent(bed.ctx, "outer");
    EXPECT_RC(sap_runner_txstack_v0_push(bed.ctx), SAP_OK);
    EXPECT_RC(tx_put(bed.ctx, 0, "a", "inner"), SAP_OK);
    EXPECT_RC(tx_del(bed.ctx, 0, "b"), SAP_OK);
    push_intent(bed.ctx, "inner");
    EXPECT_RC(sap_runner_txstack_v0_push(bed.ctx), SAP_OK);
    push_intent(bed.ctx, "innermost");
    EXPECT_RC(tx_put(bed.ctx, 0, "c", "innermost"), SAP_OK);
    EXPECT_RC(sap_runner_txstack_v0_commit(bed.ctx), SAP_OK);
    EXPECT_RC(sap_runner_txstack_v0_abort(bed.ctx), SAP_OK);
    tx_expect_get(bed.ctx, 0, "a", "db");
    tx_expect_get(bed.ctx, 0, "b", "outer");
    tx_expect_get(bed.ctx, 0, "c", NULL);
    ck_assert_uint_eq(sap_runner_txctx_v0_write_count(bed.ctx), 1);
    ck_assert_uint_eq(sap_runner_txctx_v0_intent_count(bed.ctx), 1);
    expect_intent(bed.ctx, 0, "outer");
    push_intent(bed.ctx, "later");
    expect_intent(bed.ctx, 1, "later");
    tx_bed_apply(&bed);
    tx_db_expect(&bed, 0, "a", "db");
    tx_db_expect(&bed, 0, "b", "outer");
    tx_db_expect(&bed, 0, "c", NULL);
    tx_bed_close(&bed);
}
END_TEST

START_TEST(an_open_child_keeps_validation_and_apply_waiting)
{
    TxBed bed;
    SapTxnCtx *txn;

    tx_bed_open(&bed, 4096);
    tx_bed_begin(&bed, 0);
    EXPECT_RC(sap_runner_txstack_v0_push(bed.ctx), SAP_OK);
    EXPECT_RC(tx_put(bed.ctx, 0, "a", "1"), SAP_OK);
    EXPECT_RC(sap_txn_begin_rc(bed.db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_runner_txctx_v0_validate(bed.ctx, txn), SAP_BUSY);
    EXPECT_RC(sap_runner_txctx_v0_apply(bed.ctx, txn), SAP_BUSY);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    tx_db_expect(&bed, 0, "a", NULL);
    /* A reset forgets open children too. */
    tx_bed_begin(&bed, 0);
    ck_assert_uint_eq(sap_runner_txstack_v0_depth(bed.ctx), 0);
    tx_expect_get(bed.ctx, 0, "a", NULL);
    tx_bed_close(&bed);
}
END_TEST

START_TEST(the_outermost_block_cannot_be_ended_as_a_child)
{
    TxBed bed;
    tx_bed_open(&bed, 4096);
    tx_bed_begin(&bed, 0);
    EXPECT_RC(tx_put(bed.ctx, 0, "a", "1"), SAP_OK);
    EXPECT_RC(sap_runner_txstack_v0_commit(bed.ctx), SAP_ERROR);
    EXPECT_RC(sap_runner_txstack_v0_abort(bed.ctx), SAP_ERROR);
    EXPECT_RC(sap_runner_txstack_v0_push(NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_txstack_v0_commit(NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_txstack_v0_abort(NULL), SAP_ERROR);
    ck_assert_uint_eq(sap_runner_txstack_v0_depth(NULL), 0);
    tx_expect_get(bed.ctx, 0, "a", "1");
    tx_bed_close(&bed);
}
END_TEST

START_TEST(blocks_nest_a_thousand_deep)
{
    enum { DEPTH = 1000 };
    TxBed bed;
    char key[16];

    tx_bed_open(&bed, 4096);
    tx_bed_begin(&bed, 0);
    for (int i = 0; i < DEPTH; i++) {
        EXPECT_RC(sap_runner_txstack_v0_push(bed.ctx), SAP_OK);
        snprintf(key, sizeof key, "k%04d", i);
        EXPECT_RC(tx_put(bed.ctx, 0, key, "x"), SAP_OK);
        push_intent(bed.ctx, key);
    }
    ck_assert_uint_eq(sap_runner_txstack_v0_depth(bed.ctx), DEPTH);
    for (int i = DEPTH - 1; i >= 0; i--) {
        EXPECT_RC(i == DEPTH / 2 ? sap_runner_txstack_v0_abort(bed.ctx)
                                 : sap_runner_txstack_v0_commit(bed.ctx),
                  SAP_OK);
    }
    ck_assert_uint_eq(sap_runner_txctx_v0_write_count(bed.ctx), DEPTH / 2);
    ck_assert_uint_eq(sap_runner_txctx_v0_intent_count(bed.ctx), DEPTH / 2);
    tx_bed_close(&bed);
}
END_TEST

/* ---- Against a model ------------------------------------------------------------------------ */

enum {
    TABLES = 2,
    KEYS = 24,
    LEVELS = 8,
    MAX_INTENTS = 400,
    MAX_READS = 2000,
    STEPS = 250,
    ALL_KEYS = 3, /* instead of the first letter of a prefix */
};

static const uint32_t model_dbis[TABLES] = {0, 8};

/* The value of each row as a number; 0: no row. */
typedef struct Rows {
    uint32_t val[TABLES][KEYS];
} Rows;

typedef struct Level {
    Rows own;                   /* what the block sees */
    bool written[TABLES][KEYS]; /* by this block or one around it */
    uint32_t intents[MAX_INTENTS];
    uint32_t intent_count;
} Level;

/* Keys first..last of a table were seen in the snapshot. */
typedef struct Seen {
    uint32_t table, first, last;
} Seen;

typedef struct ModelRun {
    TxBed bed;
    Choice choice;
    Rows db;       /* committed now */
    Rows snapshot; /* committed when the block began */
    Level level[LEVELS];
    uint32_t depth;
    Seen seen[MAX_READS];
    uint32_t seen_count;
    bool unsure; /* a scan ran out of memory: what it has shown may not be recorded */
    uint32_t next_value;
} ModelRun;

typedef struct ModelTotals {
    uint64_t steps, blocks, conflicts, commits, failures, scans;
} ModelTotals;

static void key_text(uint32_t key, char text[8])
{
    snprintf(text, 8, "%c%u", 'a' + (int)(key / 8), key % 8);
}

/* Some values are larger than a page. */
static uint32_t value_bytes(uint32_t value, char text[700])
{
    uint32_t len = (uint32_t)snprintf(text, 700, "value %u ", value);
    uint32_t more = value % 5 == 0 ? 600 : value % 40;

    memset(text + len, 'a' + (int)(value % 26), more);
    return len + more;
}

static void expect_value(uint32_t value, const void *val, uint32_t val_len, const char *key)
{
    char text[700];
    uint32_t len = value_bytes(value, text);

    EXPECT(len == val_len && memcmp(val, text, len) == 0, "%s is not value %u", key, value);
}

static Level *top(ModelRun *run)
{
    return &run->level[run->depth];
}

static void note_seen(ModelRun *run, uint32_t table, uint32_t first, uint32_t last)
{
    EXPECT(run->seen_count < MAX_READS, "too many reads");
    run->seen[run->seen_count++] = (Seen){table, first, last};
}

static void model_get(ModelRun *run)
{
    uint32_t table = choice_below(&run->choice, TABLES);
    uint32_t key = choice_below(&run->choice, KEYS);
    const void *val = NULL;
    uint32_t val_len = 0;
    char text[8];

    key_text(key, text);
    int rc = sap_runner_txctx_v0_get(run->bed.ctx, model_dbis[table], text, 2, &val, &val_len);
    if (rc == SAP_NOMEM) {
        return;
    }
    uint32_t expected = top(run)->own.val[table][key];
    EXPECT_RC(rc, expected != 0 ? SAP_OK : SAP_NOTFOUND);
    if (expected != 0) {
        expect_value(expected, val, val_len, text);
    }
    if (!top(run)->written[table][key]) {
        note_seen(run, table, key, key);
    }
}

static void model_write(ModelRun *run)
{
    uint32_t table = choice_below(&run->choice, TABLES);
    uint32_t key = choice_below(&run->choice, KEYS);
    uint32_t value = choice_one_in(&run->choice, 3) ? 0 : ++run->next_value;
    char text[8];
    char bytes[700];
    uint32_t len = value_bytes(value, bytes);

    key_text(key, text);
    int rc = value != 0
                 ? sap_runner_txctx_v0_put(run->bed.ctx, model_dbis[table], text, 2, bytes, len)
                 : sap_runner_txctx_v0_del(run->bed.ctx, model_dbis[table], text, 2);
    if (rc == SAP_NOMEM) {
        return;
    }
    EXPECT_RC(rc, SAP_OK);
    top(run)->own.val[table][key] = value;
    top(run)->written[table][key] = true;
}

typedef struct ModelScan {
    ModelRun *run;
    uint32_t table;
    uint32_t next; /* key to be shown, if it is there */
    uint32_t end;  /* of the keys with the prefix */
    uint32_t left; /* rows until it stops */
    uint32_t last; /* shown */
} ModelScan;

static void skip_absent(ModelScan *scan)
{
    while (scan->next < scan->end && top(scan->run)->own.val[scan->table][scan->next] == 0) {
        scan->next++;
    }
}

static int expect_next(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                       void *fn_ctx)
{
    ModelScan *scan = (ModelScan *)fn_ctx;
    char text[8];

    skip_absent(scan);
    EXPECT(scan->next < scan->end, "a row too many: %.*s", (int)key_len, (const char *)key);
    key_text(scan->next, text);
    EXPECT(key_len == 2 && memcmp(key, text, 2) == 0, "%.*s instead of %s", (int)key_len,
           (const char *)key, text);
    expect_value(top(scan->run)->own.val[scan->table][scan->next], val, val_len, text);
    scan->last = scan->next++;
    return --scan->left == 0 ? -99 : 0;
}

static void model_scan(ModelRun *run)
{
    uint32_t letter = choice_below(&run->choice, ALL_KEYS + 1);
    ModelScan scan = {.run = run, .table = choice_below(&run->choice, TABLES)};
    char prefix = (char)('a' + letter);

    scan.next = letter == ALL_KEYS ? 0 : letter * 8;
    scan.end = letter == ALL_KEYS ? KEYS : scan.next + 8;
    scan.left = choice_one_in(&run->choice, 2) ? UINT32_MAX : 1 + choice_below(&run->choice, 8);
    uint32_t first = scan.next;
    int rc = sap_runner_txctx_v0_scan(run->bed.ctx, model_dbis[scan.table], &prefix,
                                      letter == ALL_KEYS ? 0 : 1, expect_next, &scan);
    if (rc == SAP_NOMEM) {
        run->unsure = true;
        return;
    }
    if (rc == -99) {
        note_seen(run, scan.table, first, scan.last);
        return;
    }
    EXPECT_RC(rc, SAP_OK);
    skip_absent(&scan);
    EXPECT(scan.next == scan.end, "key %u was not shown", scan.next);
    note_seen(run, scan.table, first, scan.end - 1);
}

static void model_intent(ModelRun *run)
{
    uint8_t frame[200];
    char id[16];
    Level *level = top(run);

    if (level->intent_count == MAX_INTENTS) {
        return;
    }
    snprintf(id, sizeof id, "%u", ++run->next_value);
    uint32_t len = tx_intent(frame, sizeof frame, id, -1);
    int rc = sap_runner_txctx_v0_push_intent(run->bed.ctx, frame, len);
    if (rc != SAP_NOMEM) {
        EXPECT_RC(rc, SAP_OK);
        level->intents[level->intent_count++] = run->next_value;
    }
}

static void model_nest(ModelRun *run)
{
    SapRunnerTxCtxV0 *ctx = run->bed.ctx;

    switch (choice_below(&run->choice, 3)) {
    case 0:
        if (run->depth + 1 < LEVELS) {
            int rc = sap_runner_txstack_v0_push(ctx);
            if (rc != SAP_NOMEM) {
                EXPECT_RC(rc, SAP_OK);
                run->level[run->depth + 1] = run->level[run->depth];
                run->depth++;
            }
        }
        break;
    case 1:
        EXPECT_RC(sap_runner_txstack_v0_commit(ctx), run->depth > 0 ? SAP_OK : SAP_ERROR);
        if (run->depth > 0) {
            run->level[run->depth - 1] = run->level[run->depth];
            run->depth--;
        }
        break;
    default:
        EXPECT_RC(sap_runner_txstack_v0_abort(ctx), run->depth > 0 ? SAP_OK : SAP_ERROR);
        run->depth -= run->depth > 0;
        break;
    }
    EXPECT(sap_runner_txstack_v0_depth(ctx) == run->depth, "depth");
}

/* Someone else commits. */
static void model_other(ModelRun *run)
{
    uint32_t table = choice_below(&run->choice, TABLES);
    uint32_t key = choice_below(&run->choice, KEYS);
    SapTxnCtx *txn;
    char text[8];
    char bytes[700];

    if (!choice_one_in(&run->choice, 40)) {
        return;
    }
    key_text(key, text);
    EXPECT_RC(sap_txn_begin_rc(run->bed.db, NULL, 0, &txn), SAP_OK);
    if (run->db.val[table][key] != 0 && choice_one_in(&run->choice, 2)) {
        EXPECT_RC(sap_txn_del_dbi(txn, model_dbis[table], text, 2), SAP_OK);
        run->db.val[table][key] = 0;
    } else {
        uint32_t len = value_bytes(++run->next_value, bytes);
        EXPECT_RC(sap_txn_put_dbi(txn, model_dbis[table], text, 2, bytes, len), SAP_OK);
        run->db.val[table][key] = run->next_value;
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

static void model_step(ModelRun *run, ModelTotals *totals)
{
    bool fails = choice_one_in(&run->choice, 10);
    uint32_t what = choice_below(&run->choice, 12);

    fault_reset();
    if (fails && what != 11) {
        fault_arm_alloc(1 + choice_below(&run->choice, 3));
    }
    if (what < 3) {
        model_get(run);
    } else if (what < 6) {
        model_write(run);
    } else if (what < 8) {
        model_scan(run);
        totals->scans++;
    } else if (what < 9) {
        model_intent(run);
    } else if (what < 11) {
        model_nest(run);
    } else {
        model_other(run);
    }
    totals->failures += fault_fired();
    fault_reset();
    totals->steps++;
}

static bool model_conflicts(const ModelRun *run)
{
    for (uint32_t i = 0; i < run->seen_count; i++) {
        const Seen *seen = &run->seen[i];
        for (uint32_t key = seen->first; key <= seen->last; key++) {
            if (run->db.val[seen->table][key] != run->snapshot.val[seen->table][key]) {
                return true;
            }
        }
    }
    return false;
}

static void expect_intents(ModelRun *run)
{
    char id[16];

    EXPECT(sap_runner_txctx_v0_intent_count(run->bed.ctx) == top(run)->intent_count,
           "%u intents instead of %u", sap_runner_txctx_v0_intent_count(run->bed.ctx),
           top(run)->intent_count);
    for (uint32_t i = 0; i < top(run)->intent_count; i++) {
        snprintf(id, sizeof id, "%u", top(run)->intents[i]);
        expect_intent(run->bed.ctx, i, id);
    }
}

static void expect_db(ModelRun *run)
{
    for (uint32_t table = 0; table < TABLES; table++) {
        for (uint32_t key = 0; key < KEYS; key++) {
            char text[8];
            char bytes[700];
            uint32_t value = run->db.val[table][key];

            key_text(key, text);
            bytes[value_bytes(value, bytes)] = 0;
            tx_db_expect(&run->bed, model_dbis[table], text, value != 0 ? bytes : NULL);
        }
    }
}

static void model_block(ModelRun *run, ModelTotals *totals)
{
    SapTxnCtx *txn;

    tx_bed_begin(&run->bed, 0);
    run->snapshot = run->db;
    run->depth = 0;
    run->level[0] = (Level){.own = run->db};
    run->seen_count = 0;
    run->unsure = false;
    for (uint32_t i = 0, n = 1 + choice_below(&run->choice, STEPS); i < n; i++) {
        model_step(run, totals);
    }
    while (run->depth > 0) {
        EXPECT_RC(sap_runner_txstack_v0_commit(run->bed.ctx), SAP_OK);
        run->level[run->depth - 1] = run->level[run->depth];
        run->depth--;
    }
    expect_intents(run);
    EXPECT_RC(sap_txn_begin_rc(run->bed.db, NULL, 0, &txn), SAP_OK);
    int rc = sap_runner_txctx_v0_validate(run->bed.ctx, txn);
    bool conflicts = model_conflicts(run);
    EXPECT((run->unsure && rc == SAP_NOMEM) || rc == (conflicts ? SAP_CONFLICT : SAP_OK),
           "validation answered %d", rc);
    if (rc == SAP_OK) {
        EXPECT_RC(sap_runner_txctx_v0_apply(run->bed.ctx, txn), SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        for (uint32_t table = 0; table < TABLES; table++) {
            for (uint32_t key = 0; key < KEYS; key++) {
                if (run->level[0].written[table][key]) {
                    run->db.val[table][key] = run->level[0].own.val[table][key];
                }
            }
        }
        totals->commits++;
    } else {
        sap_txn_abort(txn);
        totals->conflicts += rc == SAP_CONFLICT;
    }
    expect_db(run);
    totals->blocks++;
}

START_TEST(random_nested_blocks_do_what_the_model_does)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(60);
    ModelTotals totals = {0};
    static ModelRun run;

    for (uint64_t seed = first; seed < first + seeds; seed++) {
        expect_context("seed %" PRIu64, seed);
        memset(&run, 0, sizeof run);
        choice_from_seed(&run.choice, seed);
        tx_bed_open(&run.bed, seed % 2 == 0 ? 256 : 4096);
        for (int i = 0; i < 12; i++) {
            model_block(&run, &totals);
        }
        tx_bed_close(&run.bed);
    }
    printf("model: seeds %" PRIu64 " to %" PRIu64 ", %" PRIu64 " blocks, %" PRIu64
           " steps, %" PRIu64 " scans, %" PRIu64 " commits, %" PRIu64 " conflicts, %" PRIu64
           " allocations failed\n",
           first, first + seeds - 1, totals.blocks, totals.steps, totals.scans, totals.commits,
           totals.conflicts, totals.failures);
    ck_assert_uint_gt(totals.commits, 0);
    ck_assert_uint_gt(totals.conflicts, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner_txstack");
    TCase *tcase = tcase_create("txstack");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, a_child_that_commits_is_part_of_the_block_around_it);
    tcase_add_test(tcase, a_child_that_aborts_leaves_the_block_around_it_as_it_was);
    tcase_add_test(tcase, an_open_child_keeps_validation_and_apply_waiting);
    tcase_add_test(tcase, the_outermost_block_cannot_be_ended_as_a_child);
    tcase_add_test(tcase, blocks_nest_a_thousand_deep);
    tcase_add_test(tcase, random_nested_blocks_do_what_the_model_does);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
