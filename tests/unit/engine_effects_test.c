/* What a transaction records for the log: the bytes of each effect, that failed calls and aborts
 * leave none behind, and that making them again elsewhere gives the same tables. */
#include "common/fault.h"
#include "sapling/effects.h"
#include "support/driver.h"
#include "support/expect.h"
#include "support/orders.h"
#include "support/stream.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum { TIMEOUT_S = 600, PAGE_SIZE = 512, PAIRS = 3, DATA = 4, EXPIRY = 5, OTHER = 0x0102 };

typedef struct Recorded {
    SapEnv *db;
    SapTxnCtx *txn;
} Recorded;

static SapEnv *open_tables(void)
{
    SapEnv *db = sap_db_open(NULL, PAGE_SIZE, NULL, NULL);

    EXPECT(db != NULL, "no DB");
    EXPECT_RC(sap_dbi_open(db, PAIRS, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, DATA, NULL, NULL, 0), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, EXPIRY, NULL, NULL, SAP_DBI_TTL_META), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, OTHER, NULL, NULL, 0), SAP_OK);
    return db;
}

static Recorded record_begin(void)
{
    Recorded r = {.db = open_tables()};

    r.db->log_effects = true;
    EXPECT_RC(sap_txn_begin_rc(r.db, NULL, 0, &r.txn), SAP_OK);
    return r;
}

static void record_end(Recorded *r)
{
    EXPECT_RC(sap_txn_commit(r->txn), SAP_OK);
    EXPECT(r->db->effects.len == 0, "effects are left after the commit");
    EXPECT_RC(sap_db_close(r->db), SAP_OK);
}

static Slice finish(SapTxnCtx *txn)
{
    Slice record = {0};

    EXPECT_RC(effects_finish(txn, &record), SAP_OK);
    return record;
}

#define EXPECT_RECORD(txn, literal)                               \
    do {                                                          \
        Slice got = finish(txn);                                  \
        ck_assert_uint_eq(got.len, sizeof(literal) - 1);          \
        ck_assert_mem_eq(got.data, literal, sizeof(literal) - 1); \
    } while (0)

/* ---- Bytes ---------------------------------------------------------------------------------- */

START_TEST(a_put_is_its_table_key_and_value)
{
    Recorded r = record_begin();
    EXPECT_RC(sap_txn_put_dbi(r.txn, OTHER, "key", 3, "value", 5), SAP_OK);
    EXPECT_RECORD(r.txn, "\1\2\1\3\0\0\0\5\0\0\0keyvalue");
    record_end(&r);
}
END_TEST

START_TEST(a_put_of_nothing_has_two_empty_parts)
{
    Recorded r = record_begin();
    EXPECT_RC(sap_txn_put(r.txn, NULL, 0, NULL, 0), SAP_OK);
    EXPECT_RECORD(r.txn, "\1\0\0\0\0\0\0\0\0\0\0");
    record_end(&r);
}
END_TEST

START_TEST(a_pair_is_a_put_of_its_tree_key)
{
    Recorded r = record_begin();
    EXPECT_RC(sap_txn_put_dbi(r.txn, PAIRS, "key", 3, "value", 5), SAP_OK);
    EXPECT_RECORD(r.txn, "\1\3\0\x0a\0\0\0\0\0\0\0\3\0keyvalue");
    record_end(&r);
}
END_TEST

START_TEST(a_delete_is_its_table_and_key)
{
    Recorded r = record_begin();
    EXPECT_RC(sap_txn_put_dbi(r.txn, OTHER, "k", 1, "v", 1), SAP_OK);
    EXPECT_RC(sap_txn_del_dbi(r.txn, OTHER, "k", 1), SAP_OK);
    EXPECT_RECORD(r.txn, "\1\2\1\1\0\0\0\1\0\0\0kv"
                         "\2\2\1\1\0\0\0k");
    record_end(&r);
}
END_TEST

START_TEST(a_range_is_its_bounds)
{
    Recorded r = record_begin();
    EXPECT_RC(sap_txn_put(r.txn, "b", 1, "v", 1), SAP_OK);
    EXPECT_RC(sap_txn_del_range(r.txn, 0, "a", 1, "cc", 2, NULL), SAP_OK);
    EXPECT_RECORD(r.txn, "\1\0\0\1\0\0\0\1\0\0\0bv"
                         "\3\0\0\1\0\0\0\2\0\0\0acc");
    record_end(&r);
}
END_TEST

START_TEST(a_range_without_bounds_has_no_parts)
{
    Recorded r = record_begin();
    EXPECT_RC(sap_txn_put(r.txn, "b", 1, "v", 1), SAP_OK);
    EXPECT_RC(sap_txn_del_range(r.txn, 0, NULL, 0, NULL, 0, NULL), SAP_OK);
    EXPECT_RECORD(r.txn, "\1\0\0\1\0\0\0\1\0\0\0bv"
                         "\3\0\0\xff\xff\xff\xff\xff\xff\xff\xff");
    record_end(&r);
}
END_TEST

START_TEST(the_values_of_a_key_go_as_a_range_of_places)
{
    Recorded r = record_begin();
    EXPECT_RC(sap_txn_put_dbi(r.txn, PAIRS, "k", 1, "v", 1), SAP_OK);
    EXPECT_RC(sap_txn_del_dbi(r.txn, PAIRS, "k", 1), SAP_OK);
    EXPECT_RECORD(r.txn, "\1\3\0\4\0\0\0\0\0\0\0\1\0kv"
                         "\3\3\0\4\0\0\0\4\0\0\0\1\x80k\0\1\x80k\1");
    record_end(&r);
}
END_TEST

START_TEST(a_definition_is_its_flags_and_the_names_of_orders)
{
    Recorded r = record_begin();
    EXPECT_RC(effects_define(r.txn, 7, SAP_DBI_DUPSORT, "folded", NULL), SAP_OK);
    ck_assert_uint_eq(SAP_DBI_DUPSORT, 1);
    EXPECT_RECORD(r.txn, "\4\7\0\1\0\0\0\6\0\0\0\xff\xff\xff\xff"
                         "folded");
    record_end(&r);
}
END_TEST

START_TEST(a_reserved_row_has_the_value_that_was_written_to_it)
{
    Recorded r = record_begin();
    void *room = NULL;
    EXPECT_RC(sap_txn_put_flags(r.txn, "k", 1, NULL, 3, SAP_RESERVE, &room), SAP_OK);
    memcpy(room, "abc", 3);
    EXPECT_RECORD(r.txn, "\1\0\0\1\0\0\0\3\0\0\0kabc");
    record_end(&r);
}
END_TEST

START_TEST(a_reserved_row_that_changed_since_has_zeros)
{
    Recorded r = record_begin();
    void *room = NULL;
    EXPECT_RC(sap_txn_put_flags(r.txn, "k", 1, NULL, 3, SAP_RESERVE, &room), SAP_OK);
    memcpy(room, "abc", 3);
    EXPECT_RC(sap_txn_put(r.txn, "k", 1, "longer", 6), SAP_OK);
    EXPECT_RC(sap_txn_put_flags(r.txn, "m", 1, NULL, 1, SAP_RESERVE, &room), SAP_OK);
    memcpy(room, "x", 1);
    EXPECT_RC(sap_txn_del(r.txn, "m", 1), SAP_OK);
    EXPECT_RECORD(r.txn, "\1\0\0\1\0\0\0\3\0\0\0k\0\0\0"
                         "\1\0\0\1\0\0\0\6\0\0\0klonger"
                         "\1\0\0\1\0\0\0\1\0\0\0m\0"
                         "\2\0\0\1\0\0\0m");
    record_end(&r);
}
END_TEST

/* ---- What leaves none ----------------------------------------------------------------------- */

START_TEST(calls_that_change_nothing_record_nothing)
{
    Recorded r = record_begin();
    EXPECT_RC(sap_txn_put(r.txn, "k", 1, "v", 1), SAP_OK);
    EXPECT_RC(sap_txn_put_dbi(r.txn, PAIRS, "k", 1, "v", 1), SAP_OK);
    size_t len = r.db->effects.len;
    EXPECT_RC(sap_txn_put_flags(r.txn, "k", 1, "w", 1, SAP_NOOVERWRITE, NULL), SAP_EXISTS);
    EXPECT_RC(sap_txn_put_dbi(r.txn, PAIRS, "k", 1, "v", 1), SAP_OK); /* is there */
    EXPECT_RC(sap_txn_put_if(r.txn, 0, "k", 1, "w", 1, "x", 1), SAP_CONFLICT);
    EXPECT_RC(sap_txn_del(r.txn, "absent", 6), SAP_NOTFOUND);
    EXPECT_RC(sap_txn_del_dup_dbi(r.txn, PAIRS, "k", 1, "w", 1), SAP_NOTFOUND);
    EXPECT_RC(sap_txn_del_range(r.txn, 0, "x", 1, NULL, 0, NULL), SAP_OK);
    ck_assert_uint_eq(r.db->effects.len, len);
    record_end(&r);
}
END_TEST

START_TEST(an_aborted_child_takes_its_effects_back)
{
    Recorded r = record_begin();
    SapTxnCtx *child = NULL;
    EXPECT_RC(sap_txn_put(r.txn, "k", 1, "v", 1), SAP_OK);
    EXPECT_RC(sap_txn_begin_rc(r.db, r.txn, 0, &child), SAP_OK);
    EXPECT_RC(sap_txn_del(child, "k", 1), SAP_OK);
    sap_txn_abort(child);
    EXPECT_RC(sap_txn_begin_rc(r.db, r.txn, 0, &child), SAP_OK);
    EXPECT_RC(sap_txn_put(child, "m", 1, "", 0), SAP_OK);
    EXPECT_RC(sap_txn_commit(child), SAP_OK);
    EXPECT_RECORD(r.txn, "\1\0\0\1\0\0\0\1\0\0\0kv"
                         "\1\0\0\1\0\0\0\0\0\0\0m");
    record_end(&r);
}
END_TEST

START_TEST(without_a_log_nothing_is_recorded)
{
    Recorded r = record_begin();
    r.db->log_effects = false;
    EXPECT_RC(sap_txn_put(r.txn, "k", 1, "v", 1), SAP_OK);
    EXPECT_RC(sap_txn_del_range(r.txn, 0, NULL, 0, NULL, 0, NULL), SAP_OK);
    EXPECT_RC(effects_define(r.txn, 1, 0, NULL, NULL), SAP_OK);
    ck_assert_uint_eq(finish(r.txn).len, 0);
    record_end(&r);
}
END_TEST

/* ---- Making them again ---------------------------------------------------------------------- */

static int define_none(void *ctx, uint32_t dbi, unsigned flags, Slice key_order, Slice val_order)
{
    (void)dbi;
    (void)flags;
    (void)key_order;
    (void)val_order;
    return *(int *)ctx;
}

/* Counts the bytes by subsystem. */
static uint64_t subsystem_bytes[SAP_MAX_SUBSYSTEMS];

static int count_subsystem(void *ctx, uint32_t id, Slice bytes)
{
    (void)ctx;
    EXPECT(id < SAP_MAX_SUBSYSTEMS, "subsystem %u", id);
    subsystem_bytes[id] += bytes.len;
    return SAP_OK;
}

static int apply(SapEnv *db, const void *bytes, size_t len)
{
    SapTxnCtx *txn = NULL;
    int defined = SAP_INVALID;
    const EffectCalls calls = {
        .define = define_none, .subsystem = count_subsystem, .ctx = &defined};

    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    int rc = effects_apply(txn, (Slice){bytes, len}, &calls);
    if (rc == SAP_OK) {
        return sap_txn_commit(txn);
    }
    sap_txn_abort(txn);
    return rc;
}

static void expect_same_streams(SapEnv *a, SapEnv *b)
{
    Stream left;
    Stream right;

    stream_init(&left);
    stream_init(&right);
    EXPECT_RC(sap_db_checkpoint(a, stream_write, &left), SAP_OK);
    EXPECT_RC(sap_db_checkpoint(b, stream_write, &right), SAP_OK);
    EXPECT(left.len == right.len && memcmp(left.bytes, right.bytes, left.len) == 0,
           "the tables differ: streams of %zu and %zu bytes", left.len, right.len);
    EXPECT_RC(sap_db_verify(b, NULL, NULL), SAP_OK);
    stream_free(&left);
    stream_free(&right);
}

/* A bit of everything: rows in leaves and in runs, pairs, ranges, loads, expiries, cursors. */
static int change_everything(SapTxnCtx *txn)
{
    static uint8_t big[3 * PAGE_SIZE];
    const void *keys[40];
    uint32_t key_lens[40];
    uint32_t val_lens[40];
    char names[40][4];
    int rc = SAP_OK;

    for (int i = 0; i < 40; i++) {
        snprintf(names[i], sizeof names[i], "%03d", i);
        keys[i] = names[i];
        key_lens[i] = 3;
        val_lens[i] = 3;
    }
    memset(big, 'b', sizeof big);
    rc = sap_txn_load_sorted(txn, DATA, keys, key_lens, keys, val_lens, 40);
    if (rc == SAP_OK) {
        rc = sap_txn_load_sorted(txn, PAIRS, keys, key_lens, keys, val_lens, 40);
    }
    if (rc == SAP_OK) {
        rc = sap_txn_put(txn, "big", 3, big, sizeof big);
    }
    if (rc == SAP_OK) {
        rc = sap_txn_put_dbi(txn, PAIRS, "007", 3, "another", 7);
    }
    if (rc == SAP_OK) {
        rc = sap_txn_del_dbi(txn, PAIRS, "007", 3);
    }
    if (rc == SAP_OK) {
        rc = sap_txn_put_ttl_dbi(txn, DATA, EXPIRY, "020", 3, "short", 5, 10);
    }
    if (rc == SAP_OK) {
        rc = sap_txn_put_ttl_dbi(txn, DATA, EXPIRY, "t", 1, "long", 4, 1000);
    }
    if (rc == SAP_OK) {
        rc = sap_txn_sweep_ttl_dbi(txn, DATA, EXPIRY, 100, NULL);
    }
    if (rc == SAP_OK) {
        rc = sap_txn_del_range(txn, DATA, "003", 3, "030", 3, NULL);
    }
    SapCursor *cur = rc == SAP_OK ? sap_cursor_open_dbi(txn, DATA) : NULL;
    if (rc == SAP_OK) {
        rc = cur != NULL ? sap_cursor_last(cur) : SAP_NOMEM;
    }
    if (rc == SAP_OK) {
        rc = sap_cursor_put(cur, big, sizeof big, 0);
    }
    if (rc == SAP_OK) {
        rc = sap_cursor_prev(cur);
    }
    if (rc == SAP_OK) {
        rc = sap_cursor_del(cur);
    }
    sap_cursor_close(cur);
    return rc;
}

START_TEST(a_record_applied_elsewhere_gives_the_same_tables)
{
    Recorded r = record_begin();
    SapEnv *replica = open_tables();
    EXPECT_RC(change_everything(r.txn), SAP_OK);
    Slice record = finish(r.txn);
    EXPECT_RC(apply(replica, record.data, record.len), SAP_OK);
    EXPECT_RC(sap_txn_commit(r.txn), SAP_OK);
    expect_same_streams(r.db, replica);
    EXPECT_RC(sap_db_close(r.db), SAP_OK);
    EXPECT_RC(sap_db_close(replica), SAP_OK);
}
END_TEST

/* Every effect is whole or missing: a record cut within one does not decode. */
START_TEST(a_record_that_is_cut_is_corrupt_or_ends_at_an_effect)
{
    Recorded r = record_begin();
    SapEnv *replica = open_tables();
    uint32_t whole = 0;
    EXPECT_RC(sap_txn_put_dbi(r.txn, OTHER, "key", 3, "value", 5), SAP_OK);
    EXPECT_RC(sap_txn_del_range(r.txn, OTHER, "a", 1, "z", 1, NULL), SAP_OK);
    EXPECT_RC(sap_txn_put_dbi(r.txn, PAIRS, "k", 1, "v", 1), SAP_OK);
    EXPECT_RC(sap_txn_del_dup_dbi(r.txn, PAIRS, "k", 1, "v", 1), SAP_OK);
    EXPECT_RC(effects_subsystem(r.txn, 3, (Slice){"state", 5}), SAP_OK);
    Slice record = finish(r.txn);
    for (size_t len = 0; len <= record.len; len++) {
        int rc = apply(replica, record.data, len);
        EXPECT(rc == SAP_OK || rc == SAP_CORRUPT, "%zu bytes answered %d", len, rc);
        whole += rc == SAP_OK ? 1 : 0;
    }
    ck_assert_uint_eq(whole, 6);
    ck_assert_uint_eq(subsystem_bytes[3], 5);
    record_end(&r);
    EXPECT_RC(sap_db_close(replica), SAP_OK);
}
END_TEST

#define EXPECT_CORRUPT(db, literal) EXPECT_RC(apply(db, literal, sizeof(literal) - 1), SAP_CORRUPT)

START_TEST(a_record_that_cannot_be_is_corrupt)
{
    SapEnv *db = open_tables();
    EXPECT_CORRUPT(db, "\1\1\0\1\0\0\0\1\0\0\0kv");                /* no such table */
    EXPECT_CORRUPT(db, "\1\xff\xff\1\0\0\0\1\0\0\0kv");            /* no table at all */
    EXPECT_CORRUPT(db, "\2\0\0\1\0\0\0k");                         /* no such row */
    EXPECT_CORRUPT(db, "\0\0\0\1\0\0\0\1\0\0\0kv");                /* no such kind */
    EXPECT_CORRUPT(db, "\x80\0\0\1\0\0\0\1\0\0\0kv");              /* not finished */
    EXPECT_CORRUPT(db, "\1\0\0\xff\xff\xff\xff\1\0\0\0v");         /* no key */
    EXPECT_CORRUPT(db, "\1\0\0\1\0\0\0\xff\xff\xff\xffk");         /* no value */
    EXPECT_CORRUPT(db, "\1\3\0\4\0\0\0\1\0\0\0\1\0kvx");           /* a pair with a value */
    EXPECT_CORRUPT(db, "\1\3\0\1\0\0\0\0\0\0\0k");                 /* no pair */
    EXPECT_CORRUPT(db, "\1\3\0\4\0\0\0\0\0\0\0\3\0kv");            /* its key is cut */
    EXPECT_CORRUPT(db, "\1\3\0\4\0\0\0\0\0\0\0\1\x80k\1");         /* a place as a row */
    EXPECT_CORRUPT(db, "\3\3\0\3\0\0\0\xff\xff\xff\xff\1\x80k");   /* a place without a side */
    EXPECT_CORRUPT(db, "\3\3\0\4\0\0\0\xff\xff\xff\xff\1\x80k\2"); /* with a third one */
    EXPECT_CORRUPT(db, "\5\x8\0\1\0\0\0x");                        /* no such subsystem */
    EXPECT_CORRUPT(db, "\5\0\0\0\0\0\0");                          /* a change without bytes */
    EXPECT_CORRUPT(db, "\5\0\0\xff\xff\xff\xff");                  /* nor a length */
    EXPECT_CORRUPT(db, "\6\0\0\1\0\0\0\1\0\0\0kv");                /* no kind yet */
    char longer[300] = "\1\0\0\0\1\0\0\0\0\0";                     /* a key of 256 bytes */
    EXPECT_RC(apply(db, longer, 11 + 256), SAP_CORRUPT);
    EXPECT_RC(sap_db_close(db), SAP_OK);
}
END_TEST

typedef struct Defined {
    uint32_t dbi;
    unsigned flags;
    char text[32];
} Defined;

static int define_into(void *ctx, uint32_t dbi, unsigned flags, Slice key_order, Slice val_order)
{
    Defined *defined = ctx;

    EXPECT(key_order.data == NULL && key_order.len == 0, "an order of keys");
    EXPECT(val_order.len < sizeof defined->text, "a long name");
    defined->dbi = dbi;
    defined->flags = flags;
    memcpy(defined->text, val_order.data, val_order.len);
    return SAP_OK;
}

START_TEST(a_definition_is_passed_on)
{
    Recorded r = record_begin();
    Defined defined = {0};
    SapEnv *replica = open_tables();
    SapTxnCtx *txn = NULL;
    EXPECT_RC(effects_define(r.txn, 1023, SAP_DBI_DUPSORT, NULL, "by length"), SAP_OK);
    Slice record = finish(r.txn);
    EXPECT_RC(apply(replica, record.data, record.len), SAP_INVALID); /* what the callee says */
    EXPECT_RC(sap_txn_begin_rc(replica, NULL, 0, &txn), SAP_OK);
    const EffectCalls calls = {
        .define = define_into, .subsystem = count_subsystem, .ctx = &defined};
    EXPECT_RC(effects_apply(txn, record, &calls), SAP_OK);
    sap_txn_abort(txn);
    ck_assert_uint_eq(defined.dbi, 1023);
    ck_assert_uint_eq(defined.flags, SAP_DBI_DUPSORT);
    ck_assert_str_eq(defined.text, "by length");
    record_end(&r);
    EXPECT_RC(sap_db_close(replica), SAP_OK);
}
END_TEST

/* ---- Without memory ------------------------------------------------------------------------- */

START_TEST(an_allocation_that_fails_leaves_no_effect_of_its_call)
{
    uint64_t fired = 0;

    for (uint64_t nth = 1;; nth++) {
        Recorded r = record_begin();
        SapEnv *replica = open_tables();
        fault_reset();
        fault_arm_alloc(nth);
        int rc = change_everything(r.txn);
        bool failed = fault_fired() != 0;
        fault_reset();
        EXPECT(rc == SAP_OK || (failed && rc == SAP_NOMEM), "answered %d", rc);
        fired += failed ? 1 : 0;
        /* What was done before the failure is in the record, and nothing else. */
        Slice record = finish(r.txn);
        EXPECT_RC(apply(replica, record.data, record.len), SAP_OK);
        EXPECT_RC(sap_txn_commit(r.txn), SAP_OK);
        expect_same_streams(r.db, replica);
        EXPECT_RC(sap_db_close(r.db), SAP_OK);
        EXPECT_RC(sap_db_close(replica), SAP_OK);
        if (!failed) {
            break;
        }
    }
    printf("recording: %llu faults fired\n", (unsigned long long)fired);
    ck_assert_uint_gt(fired, 20);
}
END_TEST

START_TEST(applying_without_memory_can_be_tried_again)
{
    Recorded r = record_begin();
    SapEnv *replica = open_tables();
    uint64_t fired = 0;
    EXPECT_RC(change_everything(r.txn), SAP_OK);
    Slice record = finish(r.txn);
    for (uint64_t nth = 1;; nth++) {
        fault_reset();
        fault_arm_alloc(nth);
        int rc = apply(replica, record.data, record.len);
        bool failed = fault_fired() != 0;
        fault_reset();
        EXPECT(rc == SAP_OK || (failed && rc == SAP_NOMEM), "answered %d", rc);
        if (!failed) {
            break;
        }
        fired++;
        if (rc == SAP_OK) { /* merging pages can do without memory */
            EXPECT_RC(sap_db_close(replica), SAP_OK);
            replica = open_tables();
        }
    }
    printf("applying: %llu faults fired\n", (unsigned long long)fired);
    ck_assert_uint_gt(fired, 3);
    EXPECT_RC(sap_txn_commit(r.txn), SAP_OK);
    expect_same_streams(r.db, replica);
    EXPECT_RC(sap_db_close(r.db), SAP_OK);
    EXPECT_RC(sap_db_close(replica), SAP_OK);
}
END_TEST

/* ---- Everything ----------------------------------------------------------------------------- */

typedef struct Replay {
    Stream record; /* of the commit that is under way; not in memory that the driver counts */
    uint64_t records;
    uint64_t bytes;
} Replay;

static void replay_opened(SapEnv *db, void *ctx)
{
    (void)ctx;
    db->log_effects = true;
}

static void replay_committing(SapTxnCtx *txn, void *ctx)
{
    Replay *replay = ctx;
    Slice record = finish(txn);

    stream_free(&replay->record);
    stream_init(&replay->record);
    EXPECT_RC(stream_write(record.data, (uint32_t)record.len, &replay->record), SAP_OK);
}

static void replay_committed(SapEnv *db, SapEnv *replica, void *ctx)
{
    Replay *replay = ctx;

    EXPECT(db->effects.len == 0, "effects are left after the commit");
    EXPECT_RC(apply(replica, replay->record.bytes, replay->record.len), SAP_OK);
    expect_same_streams(db, replica);
    replay->records++;
    replay->bytes += replay->record.len;
}

static void run_histories(const char *name, uint64_t default_count, uint32_t fault_one_in)
{
    Replay replay;
    DriverObserver observer = {.opened = replay_opened,
                               .committing = replay_committing,
                               .committed = replay_committed,
                               .ctx = &replay};
    DriverCounts counts = {0};
    uint64_t first = choice_first_seed();
    uint64_t count = choice_seed_count(default_count);

    memset(&replay, 0, sizeof replay);
    stream_init(&replay.record);
    for (uint64_t seed = first; seed < first + count; seed++) {
        Choice choice;
        choice_from_seed(&choice, seed);
        DriverConfig config = {
            .page_size = driver_page_sizes[seed % driver_page_size_count],
            .backing = (BackingKind)(seed % BACKING_KIND_COUNT),
            .order = (OrderKind)(seed / 3 % ORDER_COUNT),
            .keys = (KeyShape)choice_below(&choice, KEY_SHAPE_COUNT),
            .values = (ValueShape)choice_below(&choice, VALUE_SHAPE_COUNT),
            .key_space = seed % 2 == 0 ? 40 : 300,
            .operations = 500,
            .fault_one_in = fault_one_in,
            .value_budget = 1 << 20,
            .observer = &observer,
        };
        expect_context("%s, SAP_TEST_SEED=%llu", name, (unsigned long long)seed);
        driver_run(&config, &choice, &counts);
    }
    stream_free(&replay.record);
    printf("%s: %llu records, %llu bytes\n", name, (unsigned long long)replay.records,
           (unsigned long long)replay.bytes);
    ck_assert(replay.records != 0 && replay.bytes != 0);
}

START_TEST(histories_replayed_from_their_records_end_the_same)
{
    run_histories("histories", 165, 0);
}
END_TEST

START_TEST(histories_with_failing_allocations_replay_the_same)
{
    run_histories("failing allocations", 110, 6);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_effects");
    TCase *tcase = tcase_create("effects");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, a_put_is_its_table_key_and_value);
    tcase_add_test(tcase, a_put_of_nothing_has_two_empty_parts);
    tcase_add_test(tcase, a_pair_is_a_put_of_its_tree_key);
    tcase_add_test(tcase, a_delete_is_its_table_and_key);
    tcase_add_test(tcase, a_range_is_its_bounds);
    tcase_add_test(tcase, a_range_without_bounds_has_no_parts);
    tcase_add_test(tcase, the_values_of_a_key_go_as_a_range_of_places);
    tcase_add_test(tcase, a_definition_is_its_flags_and_the_names_of_orders);
    tcase_add_test(tcase, a_reserved_row_has_the_value_that_was_written_to_it);
    tcase_add_test(tcase, a_reserved_row_that_changed_since_has_zeros);
    tcase_add_test(tcase, calls_that_change_nothing_record_nothing);
    tcase_add_test(tcase, an_aborted_child_takes_its_effects_back);
    tcase_add_test(tcase, without_a_log_nothing_is_recorded);
    tcase_add_test(tcase, a_record_applied_elsewhere_gives_the_same_tables);
    tcase_add_test(tcase, a_record_that_is_cut_is_corrupt_or_ends_at_an_effect);
    tcase_add_test(tcase, a_record_that_cannot_be_is_corrupt);
    tcase_add_test(tcase, a_definition_is_passed_on);
    tcase_add_test(tcase, an_allocation_that_fails_leaves_no_effect_of_its_call);
    tcase_add_test(tcase, applying_without_memory_can_be_tried_again);
    tcase_add_test(tcase, histories_replayed_from_their_records_end_the_same);
    tcase_add_test(tcase, histories_with_failing_allocations_replay_the_same);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
