/* Every allocation failed once in every call that allocates: the call says so and nothing has
 * changed. */
#include "common/fault.h"
#include "common/mem.h"
#include "support/backing.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/model.h"
#include "support/orders.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum { TIMEOUT_S = 600, MAX_BYTES = 16 << 20, BIG = 5000 };

static uint8_t big_value[BIG];

/* A DB with two tables, a write transaction with a child, cursors, and the models of what is
 * committed and of what the innermost transaction sees. */
typedef struct Fixture {
    Backing backing;
    SapEnv *db;
    SapTxnCtx *txn;   /* outermost writer, or NULL */
    SapTxnCtx *child; /* or NULL */
    SapCursor *cur;
    SapCursor *spare;
    Model *committed;
    Model *outer;
    Model *inner; /* of the child */
} Fixture;

typedef enum Failing {
    FAIL_HEAP, /* the n-th question of fault_alloc() */
    FAIL_PAGE, /* the n-th page of a custom arena */
} Failing;

typedef struct FaultCase {
    const char *name;
    uint32_t rows;     /* committed before */
    uint32_t row_size; /* of their values */
    void (*prepare)(Fixture *f);
    int (*call)(Fixture *f);
    void (*apply)(Fixture *f); /* the same on the models */
} FaultCase;

/* ---- The fixture ---------------------------------------------------------------------------- */

static uint32_t key_of(uint32_t i, char key[16])
{
    return (uint32_t)snprintf(key, 16, "key%06u", i);
}

static void fixture_open(Fixture *f, const FaultCase *c, Failing failing)
{
    char key[16];
    SapTxnCtx *txn = NULL;

    memset(f, 0, sizeof *f);
    backing_open(&f->backing, failing == FAIL_PAGE ? BACKING_CUSTOM : BACKING_MALLOC, 256,
                 MAX_BYTES);
    f->db = sap_db_open(f->backing.arena, 256, NULL, NULL);
    EXPECT(f->db != NULL, "no DB");
    EXPECT_RC(sap_dbi_open(f->db, 5, order_cmp(ORDER_REVERSE), order_ctx(ORDER_REVERSE), 0),
              SAP_OK);
    f->committed = model_new();
    model_add_table(f->committed, 0, NULL, NULL);
    model_add_table(f->committed, 5, order_cmp(ORDER_REVERSE), order_ctx(ORDER_REVERSE));
    EXPECT_RC(sap_txn_begin_rc(f->db, NULL, 0, &txn), SAP_OK);
    for (uint32_t i = 0; i < c->rows; i++) {
        uint32_t len = key_of(i * 2, key);
        EXPECT_RC(sap_txn_put(txn, key, len, big_value, c->row_size), SAP_OK);
        EXPECT_RC(sap_txn_put_dbi(txn, 5, key, len, big_value, c->row_size), SAP_OK);
        model_put(&f->committed->tables[0], key, len, big_value, c->row_size);
        model_put(&f->committed->tables[1], key, len, big_value, c->row_size);
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    if (c->prepare != NULL) {
        c->prepare(f);
    }
}

/* Everything must be as the models say. */
static void fixture_compare(Fixture *f)
{
    if (f->child != NULL) {
        model_expect_same(f->inner, f->child);
    } else if (f->txn != NULL) {
        model_expect_same(f->outer, f->txn);
    }
    model_expect_committed(f->committed, f->db);
}

static void fixture_close(Fixture *f)
{
    sap_cursor_close(f->cur);
    sap_cursor_close(f->spare);
    sap_txn_abort(f->child);
    sap_txn_abort(f->txn);
    model_expect_committed(f->committed, f->db);
    EXPECT_RC(sap_db_close(f->db), SAP_OK);
    backing_close(&f->backing);
    model_free(f->committed);
    model_free(f->outer);
    model_free(f->inner);
}

static ModelTable *rows_of(Fixture *f, size_t table)
{
    return &(f->child != NULL ? f->inner : f->outer)->tables[table];
}

static SapTxnCtx *txn_of(Fixture *f)
{
    return f->child != NULL ? f->child : f->txn;
}

/* ---- Preparations --------------------------------------------------------------------------- */

static void in_txn(Fixture *f)
{
    EXPECT_RC(sap_txn_begin_rc(f->db, NULL, 0, &f->txn), SAP_OK);
    f->outer = model_copy(f->committed);
}

static void in_child(Fixture *f)
{
    in_txn(f);
    EXPECT_RC(sap_txn_put(f->txn, "key000004", 9, "outer", 5), SAP_OK);
    model_put(&f->outer->tables[0], "key000004", 9, "outer", 5);
    EXPECT_RC(sap_txn_begin_rc(f->db, f->txn, 0, &f->child), SAP_OK);
    f->inner = model_copy(f->outer);
}

static void change_some(Fixture *f)
{
    EXPECT_RC(sap_txn_put(txn_of(f), "key000005", 9, "five", 4), SAP_OK);
    model_put(rows_of(f, 0), "key000005", 9, "five", 4);
    EXPECT_RC(sap_txn_put_dbi(txn_of(f), 5, "big", 3, big_value, BIG), SAP_OK);
    model_put(rows_of(f, 1), "big", 3, big_value, BIG);
    EXPECT_RC(sap_txn_del_dbi(txn_of(f), 5, "key000002", 9), SAP_OK);
    model_del(rows_of(f, 1), "key000002", 9);
}

static void in_changed_txn(Fixture *f)
{
    in_txn(f);
    change_some(f);
}

static void in_changed_child(Fixture *f)
{
    in_child(f);
    change_some(f);
}

static void with_cursor(Fixture *f)
{
    in_txn(f);
    f->cur = sap_cursor_open(f->txn);
    f->spare = sap_cursor_open(f->txn);
    EXPECT(f->cur != NULL && f->spare != NULL, "no cursor");
    EXPECT_RC(sap_cursor_seek(f->cur, "key000006", 9), SAP_OK);
    EXPECT_RC(sap_cursor_seek(f->spare, "key000006", 9), SAP_OK);
}

static void with_cursor_on_big(Fixture *f)
{
    in_txn(f);
    EXPECT_RC(sap_txn_put(f->txn, "key000006", 9, big_value, BIG), SAP_OK);
    model_put(rows_of(f, 0), "key000006", 9, big_value, BIG);
    f->cur = sap_cursor_open(f->txn);
    EXPECT_RC(sap_cursor_seek(f->cur, "key000006", 9), SAP_OK);
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static int call_put_new(Fixture *f)
{
    return sap_txn_put(txn_of(f), "key000007", 9, "seven", 5);
}

static void apply_put_new(Fixture *f)
{
    model_put(rows_of(f, 0), "key000007", 9, "seven", 5);
}

static int call_replace(Fixture *f)
{
    return sap_txn_put_dbi(txn_of(f), 5, "key000006", 9, "six", 3);
}

static void apply_replace(Fixture *f)
{
    model_put(rows_of(f, 1), "key000006", 9, "six", 3);
}

static int call_put_big(Fixture *f)
{
    return sap_txn_put(txn_of(f), "key000007", 9, big_value, BIG);
}

static void apply_put_big(Fixture *f)
{
    model_put(rows_of(f, 0), "key000007", 9, big_value, BIG);
}

static int call_replace_by_big(Fixture *f)
{
    return sap_txn_put(txn_of(f), "key000006", 9, big_value, BIG - 1);
}

static void apply_replace_by_big(Fixture *f)
{
    model_put(rows_of(f, 0), "key000006", 9, big_value, BIG - 1);
}

static int call_put_wide(Fixture *f)
{
    return sap_txn_put(txn_of(f), "key000007", 9, big_value, 60);
}

static void apply_put_wide(Fixture *f)
{
    model_put(rows_of(f, 0), "key000007", 9, big_value, 60);
}

static int call_reserve(Fixture *f)
{
    void *room = NULL;
    int rc = sap_txn_put_flags(txn_of(f), "key000007", 9, NULL, 20, SAP_RESERVE, &room);

    if (rc == SAP_OK) {
        memset(room, 'R', 20);
    }
    return rc;
}

static void apply_reserve(Fixture *f)
{
    model_put(rows_of(f, 0), "key000007", 9, "RRRRRRRRRRRRRRRRRRRR", 20);
}

static int call_del(Fixture *f)
{
    return sap_txn_del(txn_of(f), "key000006", 9);
}

static void apply_del(Fixture *f)
{
    model_del(rows_of(f, 0), "key000006", 9);
}

static int call_cursor_open(Fixture *f)
{
    f->cur = sap_cursor_open_dbi(f->txn, 5);
    if (f->cur == NULL) {
        return SAP_NOMEM;
    }
    /* Moving may build a path, and that may need memory too. */
    int rc = sap_cursor_last(f->cur);
    if (rc != SAP_OK) {
        sap_cursor_close(f->cur);
        f->cur = NULL;
    }
    return rc;
}

static int call_cursor_put(Fixture *f)
{
    return sap_cursor_put(f->cur, "cursor", 6, 0);
}

static void apply_cursor_put(Fixture *f)
{
    model_put(rows_of(f, 0), "key000006", 9, "cursor", 6);
}

static int call_cursor_put_big(Fixture *f)
{
    return sap_cursor_put(f->cur, big_value, BIG, 0);
}

static void apply_cursor_put_big(Fixture *f)
{
    model_put(rows_of(f, 0), "key000006", 9, big_value, BIG);
}

static int call_cursor_del(Fixture *f)
{
    return sap_cursor_del(f->cur);
}

static int call_begin(Fixture *f)
{
    int rc = sap_txn_begin_rc(f->db, NULL, 0, &f->txn);

    if (rc == SAP_OK) {
        f->outer = model_copy(f->committed);
    }
    return rc;
}

static int call_begin_reader(Fixture *f)
{
    SapTxnCtx *reader = NULL;
    int rc = sap_txn_begin_rc(f->db, NULL, SAP_TXN_RDONLY, &reader);

    sap_txn_abort(reader);
    return rc;
}

static int call_begin_many_readers(Fixture *f)
{
    SapTxnCtx *readers[150];
    uint32_t count = 0;
    int rc = SAP_OK;

    while (rc == SAP_OK && count < 150) {
        rc = sap_txn_begin_rc(f->db, NULL, SAP_TXN_RDONLY, &readers[count]);
        count += rc == SAP_OK ? 1 : 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        sap_txn_abort(readers[i]);
    }
    return rc;
}

static int call_begin_child(Fixture *f)
{
    int rc = sap_txn_begin_rc(f->db, f->txn, 0, &f->child);

    if (rc == SAP_OK) {
        f->inner = model_copy(f->outer);
    }
    return rc;
}

static int call_begin_read_child(Fixture *f)
{
    SapTxnCtx *reader = NULL;
    int rc = sap_txn_begin_rc(f->db, f->txn, SAP_TXN_RDONLY, &reader);

    sap_txn_abort(reader);
    return rc;
}

static int call_begin_many_children(Fixture *f)
{
    SapTxnCtx *deepest = f->txn;
    SapTxnCtx *first = NULL;
    int rc = SAP_OK;

    for (uint32_t i = 0; rc == SAP_OK && i < 40; i++) {
        SapTxnCtx *next = NULL;
        rc = sap_txn_begin_rc(f->db, deepest, 0, &next);
        deepest = next;
        first = i == 0 ? next : first;
    }
    sap_txn_abort(first);
    return rc;
}

static int call_dbi_open(Fixture *f)
{
    return sap_dbi_open(f->db, 900, NULL, NULL, 0);
}

static int call_scratch(Fixture *f)
{
    for (uint32_t i = 0; i < 40; i++) {
        uint8_t *scratch = sap_txn_scratch_alloc(f->txn, 1 + i * 100);
        if (scratch == NULL) {
            return SAP_NOMEM;
        }
        memset(scratch, (int)i, 1 + i * 100);
    }
    return SAP_OK;
}

static const FaultCase cases[] = {
    {"txn_begin", 40, 10, NULL, call_begin, NULL},
    {"txn_begin of a reader", 40, 10, NULL, call_begin_reader, NULL},
    {"txn_begin of many readers", 40, 10, NULL, call_begin_many_readers, NULL},
    {"txn_begin of a child", 40, 10, in_changed_txn, call_begin_child, NULL},
    {"txn_begin of a read-only child", 40, 10, in_changed_txn, call_begin_read_child, NULL},
    {"txn_begin of many children", 40, 10, in_changed_txn, call_begin_many_children, NULL},
    {"dbi_open", 40, 10, NULL, call_dbi_open, NULL},
    {"txn_scratch_alloc", 0, 0, in_txn, call_scratch, NULL},
    {"put into an empty table", 0, 0, in_txn, call_put_new, apply_put_new},
    {"put", 40, 10, in_txn, call_put_new, apply_put_new},
    {"put into a deep tree", 400, 10, in_txn, call_put_new, apply_put_new},
    {"put that splits", 400, 60, in_txn, call_put_wide, apply_put_wide},
    {"put in a child", 40, 10, in_child, call_put_new, apply_put_new},
    {"put in a child that splits", 400, 60, in_child, call_put_wide, apply_put_wide},
    {"put after changes", 40, 10, in_changed_txn, call_put_new, apply_put_new},
    {"put of a big value", 40, 10, in_txn, call_put_big, apply_put_big},
    {"put of a big value in a child", 400, 10, in_child, call_put_big, apply_put_big},
    {"replace", 40, 10, in_txn, call_replace, apply_replace},
    {"replace in a child", 400, 60, in_child, call_replace, apply_replace},
    {"replace by a big value", 40, 10, in_txn, call_replace_by_big, apply_replace_by_big},
    {"replace of a big value", 20, BIG, in_txn, call_replace, apply_replace},
    {"replace of big by big", 20, BIG, in_child, call_replace_by_big, apply_replace_by_big},
    {"reserve", 40, 10, in_txn, call_reserve, apply_reserve},
    {"delete", 40, 10, in_txn, call_del, apply_del},
    {"delete in a child", 400, 60, in_child, call_del, apply_del},
    {"delete of a big value", 20, BIG, in_txn, call_del, apply_del},
    {"delete that merges", 9, 40, in_txn, call_del, apply_del},
    {"cursor_open", 40, 10, in_txn, call_cursor_open, NULL},
    {"cursor_put", 40, 10, with_cursor, call_cursor_put, apply_cursor_put},
    {"cursor_put of a big value", 40, 10, with_cursor, call_cursor_put_big, apply_cursor_put_big},
    {"cursor_put over a big value", 40, 10, with_cursor_on_big, call_cursor_put, apply_cursor_put},
    {"cursor_del", 40, 10, with_cursor, call_cursor_del, apply_del},
    {"cursor_del in a deep tree", 400, 60, with_cursor, call_cursor_del, apply_del},
    {"cursor_del of a big value", 40, 10, with_cursor_on_big, call_cursor_del, apply_del},
};

enum { CASE_COUNT = sizeof cases / sizeof cases[0] };

static void arm(Fixture *f, Failing failing, uint64_t nth)
{
    fault_reset();
    if (failing == FAIL_HEAP) {
        fault_arm_alloc(nth);
    } else {
        backing_fail_at(&f->backing, nth);
    }
}

/* How many faults fired. */
static uint64_t disarm(Fixture *f, Failing failing)
{
    uint64_t fired = failing == FAIL_HEAP ? fault_fired() : f->backing.failed;

    fault_reset();
    backing_fail_at(&f->backing, 0);
    f->backing.failed = 0;
    return fired;
}

/* A cursor must have stayed on its row, whatever the failed call began to do. */
static void expect_cursor_in_place(SapCursor *cur)
{
    const void *key = NULL;
    uint32_t key_len = 0;

    if (cur != NULL) {
        EXPECT_RC(sap_cursor_get_key(cur, &key, &key_len), SAP_OK);
        EXPECT(key_len == 9 && memcmp(key, "key000006", 9) == 0, "a cursor has moved");
    }
}

/* Fails the n-th allocation of one case; false when it had fewer. */
static bool fail_once(const FaultCase *c, Failing failing, uint64_t nth)
{
    Fixture f;
    size_t live = mem_live_total();

    fixture_open(&f, c, failing);
    arm(&f, failing, nth);
    int rc = c->call(&f);
    uint64_t fired = disarm(&f, failing);
    if (rc == SAP_NOMEM) {
        EXPECT(fired != 0, "out of memory without a fault");
        fixture_compare(&f);
        expect_cursor_in_place(f.cur);
        expect_cursor_in_place(f.spare);
        rc = c->call(&f);
    }
    EXPECT(rc == SAP_OK, "the call answered %d", rc);
    if (c->apply != NULL) {
        c->apply(&f);
    }
    fixture_compare(&f);
    if (f.child != NULL && nth % 2 == 0) {
        EXPECT_RC(sap_txn_commit(f.child), SAP_OK);
        f.child = NULL;
        model_free(f.outer);
        f.outer = f.inner;
        f.inner = NULL;
        fixture_compare(&f);
    }
    fixture_close(&f);
    EXPECT(mem_live_total() == live, "%zu bytes live instead of %zu", mem_live_total(), live);
    return fired != 0;
}

static void fail_each(const FaultCase *c, Failing failing, uint64_t *fired)
{
    for (uint64_t nth = 1;; nth++) {
        expect_context("%s: %s number %llu fails", c->name,
                       failing == FAIL_HEAP ? "allocation" : "page", (unsigned long long)nth);
        EXPECT(nth < 10000, "the faults do not end");
        if (!fail_once(c, failing, nth)) {
            return;
        }
        (*fired)++;
    }
}

START_TEST(a_call_that_runs_out_of_memory_changes_nothing)
{
    uint64_t fired = 0;

    for (size_t i = 0; i < CASE_COUNT; i++) {
        fail_each(&cases[i], FAIL_HEAP, &fired);
    }
    printf("heap faults: %llu fired in %d cases\n", (unsigned long long)fired, CASE_COUNT);
    ck_assert_uint_gt(fired, 0);
}
END_TEST

START_TEST(a_call_that_gets_no_page_changes_nothing)
{
    uint64_t fired = 0;

    for (size_t i = 0; i < CASE_COUNT; i++) {
        fail_each(&cases[i], FAIL_PAGE, &fired);
    }
    printf("page faults: %llu fired in %d cases\n", (unsigned long long)fired, CASE_COUNT);
    ck_assert_uint_gt(fired, CASE_COUNT / 2);
}
END_TEST

/* ---- Commits -------------------------------------------------------------------------------- */

/* Fails the n-th allocation of a commit; false when it had fewer. A commit that fails has
 * aborted. */
static bool fail_commit_once(bool nested, Failing failing, uint64_t nth)
{
    static const FaultCase c = {"commit", 300, 20, NULL, NULL, NULL};
    Fixture f;
    size_t live = mem_live_total();

    fixture_open(&f, &c, failing);
    (nested ? in_changed_child : in_changed_txn)(&f);
    arm(&f, failing, nth);
    int rc = sap_txn_commit(nested ? f.child : f.txn);
    uint64_t fired = disarm(&f, failing);
    EXPECT(rc == SAP_OK || (rc == SAP_NOMEM && fired != 0), "commit answered %d", rc);
    if (nested) {
        f.child = NULL;
        if (rc == SAP_OK) {
            model_free(f.outer);
            f.outer = f.inner;
            f.inner = NULL;
        }
    } else {
        f.txn = NULL;
        if (rc == SAP_OK) {
            model_free(f.committed);
            f.committed = f.outer;
            f.outer = NULL;
        }
    }
    fixture_compare(&f);
    if (f.txn == NULL && rc != SAP_OK) {
        model_free(f.outer);
        in_changed_txn(&f);
        EXPECT_RC(sap_txn_commit(f.txn), SAP_OK);
        f.txn = NULL;
        model_free(f.committed);
        f.committed = f.outer;
        f.outer = NULL;
    }
    fixture_close(&f);
    EXPECT(mem_live_total() == live, "%zu bytes live instead of %zu", mem_live_total(), live);
    return fired != 0;
}

START_TEST(a_commit_that_runs_out_of_memory_has_aborted)
{
    uint64_t fired = 0;

    for (int variant = 0; variant < 4; variant++) {
        bool nested = variant % 2 != 0;
        Failing failing = variant < 2 ? FAIL_HEAP : FAIL_PAGE;
        for (uint64_t nth = 1;; nth++) {
            expect_context("%s commit, allocation %llu of kind %d fails",
                           nested ? "nested" : "outer", (unsigned long long)nth, (int)failing);
            EXPECT(nth < 10000, "the faults do not end");
            if (!fail_commit_once(nested, failing, nth)) {
                break;
            }
            fired++;
        }
    }
    /* A commit need not allocate at all: zero is a good answer here. */
    printf("commit faults: %llu fired\n", (unsigned long long)fired);
}
END_TEST

/* ---- Opening -------------------------------------------------------------------------------- */

START_TEST(db_open_that_runs_out_of_memory_leaves_nothing_behind)
{
    uint64_t fired = 0;

    for (uint64_t nth = 1;; nth++) {
        size_t live = mem_live_total();
        fault_reset();
        fault_arm_alloc(nth);
        SapEnv *db = sap_db_open(NULL, 512, NULL, NULL);
        bool hit = fault_fired() != 0;
        fault_reset();
        ck_assert(db != NULL || hit);
        if (db != NULL) {
            ck_assert_int_eq(sap_db_close(db), SAP_OK);
        }
        ck_assert_uint_eq(mem_live_total(), live);
        if (!hit) {
            break;
        }
        fired++;
    }
    printf("db_open faults: %llu fired\n", (unsigned long long)fired);
    ck_assert_uint_gt(fired, 0);
}
END_TEST

START_TEST(adding_tables_to_an_environment_without_memory_can_be_retried)
{
    uint64_t fired = 0;

    for (uint64_t nth = 1;; nth++) {
        size_t live = mem_live_total();
        SapEnv *env = sap_env_create(NULL, 512);
        ck_assert_ptr_nonnull(env);
        fault_reset();
        fault_arm_alloc(nth);
        int rc = sap_btree_subsystem_init(env, NULL, NULL);
        bool hit = fault_fired() != 0;
        fault_reset();
        if (hit && rc != SAP_OK) {
            ck_assert_int_eq(rc, SAP_NOMEM);
            rc = sap_btree_subsystem_init(env, NULL, NULL);
        }
        ck_assert_int_eq(rc, SAP_OK);
        ck_assert_int_eq(sap_env_destroy(env), SAP_OK);
        ck_assert_uint_eq(mem_live_total(), live);
        if (!hit) {
            break;
        }
        fired++;
    }
    printf("subsystem faults: %llu fired\n", (unsigned long long)fired);
}
END_TEST

START_TEST(arena_init_that_runs_out_of_memory_leaves_nothing_behind)
{
    uint64_t fired = 0;

    for (int kind = 0; kind < BACKING_KIND_COUNT; kind++) {
        for (uint64_t nth = 1;; nth++) {
            size_t live = mem_live_total();
            Backing backing;
            SapArenaOptions options;
            SapMemArena *arena = NULL;
            memset(&backing, 0, sizeof backing);
            backing.kind = (BackingKind)kind;
            backing.fd = kind == BACKING_MMAP_FILE ? backing_temp_file() : -1;
            backing_options(&backing, 1024, 1 << 20, &options);
            fault_reset();
            fault_arm_alloc(nth);
            int rc = sap_arena_init(&arena, &options);
            bool hit = fault_fired() != 0;
            fault_reset();
            ck_assert(rc == SAP_OK || (hit && rc == SAP_NOMEM && arena == NULL));
            backing.arena = arena;
            if (rc == SAP_OK) {
                backing_close(&backing);
            }
            ck_assert_uint_eq(mem_live_total(), live);
            ck_assert_uint_eq(backing.live, 0);
            if (!hit) {
                break;
            }
            fired++;
        }
    }
    printf("arena_init faults: %llu fired\n", (unsigned long long)fired);
    ck_assert_uint_gt(fired, 0);
}
END_TEST

START_TEST(arena_pages_and_nodes_without_memory_can_be_retried)
{
    uint64_t fired = 0;

    for (int kind = 0; kind < BACKING_KIND_COUNT; kind++) {
        for (uint64_t nth = 1;; nth++) {
            Backing backing;
            void *p = NULL;
            uint32_t pages[40];
            uint32_t nodes[40];
            uint32_t failures = 0;
            backing_open(&backing, (BackingKind)kind, 256, 1 << 20);
            fault_reset();
            fault_arm_alloc(nth);
            for (uint32_t i = 0; i < 40;) {
                int rc = sap_arena_alloc_page(backing.arena, &p, &pages[i]);
                i += rc == SAP_OK ? 1 : 0;
                failures += rc == SAP_OK ? 0 : 1;
                ck_assert(rc == SAP_OK || rc == SAP_NOMEM);
                ck_assert_uint_le(failures, 1);
            }
            for (uint32_t i = 0; i < 40;) {
                int rc = sap_arena_alloc_node(backing.arena, 1 + i * 6, &p, &nodes[i]);
                i += rc == SAP_OK ? 1 : 0;
                failures += rc == SAP_OK ? 0 : 1;
                ck_assert(rc == SAP_OK || rc == SAP_NOMEM);
                ck_assert_uint_le(failures, 1);
            }
            bool hit = fault_fired() != 0;
            fault_reset();
            for (uint32_t i = 0; i < 40; i++) {
                ck_assert_int_eq(sap_arena_free_page(backing.arena, pages[i]), SAP_OK);
                ck_assert_int_eq(sap_arena_free_node(backing.arena, nodes[i], 1 + i * 6), SAP_OK);
            }
            backing_close(&backing);
            if (!hit) {
                break;
            }
            fired++;
        }
    }
    printf("arena faults: %llu fired\n", (unsigned long long)fired);
}
END_TEST

/* ---- Long histories ------------------------------------------------------------------------- */

/* One random change, tried with the n-th allocation failing until one try succeeds. */
static void change_despite_faults(Fixture *f, Choice *choice, Failing failing, uint64_t *fired)
{
    char key[16];
    uint32_t key_len = key_of(choice_below(choice, 300), key);
    size_t table = choice_below(choice, 2);
    uint32_t dbi = f->outer->tables[table].dbi;
    uint32_t what = choice_below(choice, 8);
    uint32_t val_len = what == 0 ? choice_below(choice, BIG) : choice_below(choice, 70);

    for (uint64_t nth = 1;; nth++) {
        arm(f, failing, nth);
        int rc = what < 5 ? sap_txn_put_dbi(f->txn, dbi, key, key_len, big_value, val_len)
                          : sap_txn_del_dbi(f->txn, dbi, key, key_len);
        uint64_t hit = disarm(f, failing);
        *fired += hit;
        if (rc != SAP_NOMEM) {
            bool there = model_find(&f->outer->tables[table], key, key_len) != NULL;
            EXPECT(rc == (what >= 5 && !there ? SAP_NOTFOUND : SAP_OK), "a change answered %d", rc);
            break;
        }
        EXPECT(hit != 0, "out of memory without a fault");
        model_expect_same(f->outer, f->txn);
    }
    if (what < 5) {
        model_put(&f->outer->tables[table], key, key_len, big_value, val_len);
    } else {
        model_del(&f->outer->tables[table], key, key_len);
    }
}

static void run_history(Failing failing, uint64_t seed, uint64_t *fired)
{
    static const FaultCase c = {"history", 60, 30, NULL, NULL, NULL};
    Fixture f;
    Choice choice;

    expect_context("history with kind %d, SAP_TEST_SEED=%llu", (int)failing,
                   (unsigned long long)seed);
    choice_from_seed(&choice, seed);
    fixture_open(&f, &c, failing);
    for (uint32_t i = 0; i < 12; i++) {
        in_txn(&f);
        for (uint32_t j = 0; j < 25; j++) {
            change_despite_faults(&f, &choice, failing, fired);
        }
        model_expect_same(f.outer, f.txn);
        if (choice_one_in(&choice, 4)) {
            sap_txn_abort(f.txn);
            model_free(f.outer);
        } else {
            EXPECT_RC(sap_txn_commit(f.txn), SAP_OK);
            model_free(f.committed);
            f.committed = f.outer;
        }
        f.txn = NULL;
        f.outer = NULL;
        model_expect_committed(f.committed, f.db);
    }
    fixture_close(&f);
}

START_TEST(a_history_in_which_every_change_fails_first_ends_like_one_without_failures)
{
    uint64_t fired = 0;
    uint64_t first = choice_first_seed();
    uint64_t count = choice_seed_count(6);

    for (uint64_t seed = first; seed < first + count; seed++) {
        run_history(FAIL_PAGE, seed, &fired);
        run_history(FAIL_HEAP, seed, &fired);
    }
    printf("histories: seeds %llu to %llu, %llu faults fired\n", (unsigned long long)first,
           (unsigned long long)(first + count - 1), (unsigned long long)fired);
    ck_assert_uint_gt(fired, 0);
}
END_TEST

/* ---- Full ----------------------------------------------------------------------------------- */

START_TEST(a_full_arena_refuses_rows_and_goes_on_after_deletes)
{
    Backing backing;
    SapTxnCtx *txn = NULL;
    char key[16];
    uint32_t count = 0;
    uint32_t deleted = 0;
    int rc = SAP_OK;
    Model *model = model_new();

    expect_context("a linear arena of 32 KiB");
    backing_open(&backing, BACKING_LINEAR, 256, 32 * 1024);
    SapEnv *db = sap_db_open(backing.arena, 256, NULL, NULL);
    ck_assert_ptr_nonnull(db);
    model_add_table(model, 0, NULL, NULL);
    ck_assert_int_eq(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    while (rc == SAP_OK) {
        uint32_t len = key_of(count, key);
        rc = sap_txn_put(txn, key, len, big_value, 20);
        if (rc == SAP_OK) {
            model_put(&model->tables[0], key, len, big_value, 20);
            count++;
        }
        ck_assert_uint_lt(count, 2000);
    }
    ck_assert_int_eq(rc, SAP_FULL);
    ck_assert_uint_gt(count, 200);
    model_expect_same(model, txn);
    ck_assert_int_eq(sap_txn_put(txn, "big", 3, big_value, BIG), SAP_FULL);
    model_expect_same(model, txn);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t len = key_of(i, key);
        if (i % 4 == 0) {
            continue;
        }
        rc = sap_txn_del(txn, key, len);
        ck_assert(rc == SAP_OK || rc == SAP_FULL);
        if (rc == SAP_OK) {
            model_del(&model->tables[0], key, len);
            deleted++;
        }
    }
    ck_assert_uint_gt(deleted, count / 2);
    model_expect_same(model, txn);
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
    model_expect_committed(model, db);

    for (uint32_t i = 0; i < 300; i++) {
        ck_assert_int_eq(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
        uint32_t len = key_of(10000 + i % 20, key);
        ck_assert_int_eq(sap_txn_put(txn, key, len, big_value, i % 50), SAP_OK);
        model_put(&model->tables[0], key, len, big_value, i % 50);
        ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
    }
    model_expect_committed(model, db);
    printf("full arena: %u rows fitted, %u deleted\n", count, deleted);
    ck_assert_int_eq(sap_db_close(db), SAP_OK);
    backing_close(&backing);
    model_free(model);
}
END_TEST

/* Small transactions until nothing more fits; aborting the one that did not must free its pages. */
START_TEST(a_full_arena_keeps_every_commit_and_an_abort_frees_what_it_took)
{
    Backing backing;
    SapTxnCtx *txn = NULL;
    char key[16];
    uint32_t rounds = 0;
    int rc = SAP_OK;
    Model *model = model_new();

    expect_context("a linear arena of 64 KiB");
    backing_open(&backing, BACKING_LINEAR, 512, 64 * 1024);
    SapEnv *db = sap_db_open(backing.arena, 512, NULL, NULL);
    ck_assert_ptr_nonnull(db);
    model_add_table(model, 0, NULL, NULL);
    while (rc == SAP_OK && rounds < 2000) {
        ck_assert_int_eq(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
        uint64_t before = sap_db_num_pages(db);
        Model *next = model_copy(model);
        for (uint32_t i = 0; i < 5 && rc == SAP_OK; i++) {
            uint32_t len = key_of(rounds * 5 + i, key);
            rc = sap_txn_put(txn, key, len, big_value, 30);
            model_put(&next->tables[0], key, len, big_value, 30);
        }
        if (rc == SAP_OK) {
            ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
            model_free(model);
            model = next;
        } else {
            ck_assert_int_eq(rc, SAP_FULL);
            sap_txn_abort(txn);
            model_free(next);
            ck_assert_uint_le(sap_db_num_pages(db), before);
        }
        rounds++;
    }
    ck_assert_int_eq(rc, SAP_FULL);
    model_expect_committed(model, db);
    printf("full arena: %u commits fitted\n", rounds - 1);
    ck_assert_uint_gt(rounds, 20);
    ck_assert_int_eq(sap_db_close(db), SAP_OK);
    backing_close(&backing);
    model_free(model);
}
END_TEST

START_TEST(a_busy_writer_lock_is_busy_and_nothing_else)
{
    SapEnv *db = sap_db_open(NULL, 512, NULL, NULL);
    SapTxnCtx *txn = NULL;

    ck_assert_ptr_nonnull(db);
    fault_reset();
    fault_arm_busy(1);
    ck_assert_int_eq(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_BUSY);
    ck_assert_ptr_null(txn);
    ck_assert_uint_eq(fault_fired(), 1);
    fault_arm_busy(1);
    ck_assert_ptr_null(sap_txn_begin(db, NULL, 0));
    ck_assert_uint_eq(fault_fired(), 2);
    fault_reset();
    ck_assert_int_eq(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    ck_assert_int_eq(sap_txn_put(txn, "a", 1, "b", 1), SAP_OK);
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
    ck_assert_int_eq(sap_db_close(db), SAP_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_faults");
    TCase *tcase = tcase_create("faults");

    for (uint32_t i = 0; i < BIG; i++) {
        big_value[i] = (uint8_t)(i * 7 + i / 256);
    }
    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, a_call_that_runs_out_of_memory_changes_nothing);
    tcase_add_test(tcase, a_call_that_gets_no_page_changes_nothing);
    tcase_add_test(tcase, a_commit_that_runs_out_of_memory_has_aborted);
    tcase_add_test(tcase, db_open_that_runs_out_of_memory_leaves_nothing_behind);
    tcase_add_test(tcase, adding_tables_to_an_environment_without_memory_can_be_retried);
    tcase_add_test(tcase, arena_init_that_runs_out_of_memory_leaves_nothing_behind);
    tcase_add_test(tcase, arena_pages_and_nodes_without_memory_can_be_retried);
    tcase_add_test(tcase,
                   a_history_in_which_every_change_fails_first_ends_like_one_without_failures);
    tcase_add_test(tcase, a_full_arena_refuses_rows_and_goes_on_after_deletes);
    tcase_add_test(tcase, a_full_arena_keeps_every_commit_and_an_abort_frees_what_it_took);
    tcase_add_test(tcase, a_busy_writer_lock_is_busy_and_nothing_else);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
