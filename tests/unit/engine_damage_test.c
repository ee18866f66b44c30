/* Pages that cannot be read: each call answers SAP_CORRUPT and changes nothing, whichever of the
 * pages it reads is the damaged one; or does without it.
 *
 * The arena is one in memory that is told to check its pages like one in a file. */
#include "sapling/env.h"
#include "sapling/tree.h"
#include "support/expect.h"
#include "support/stream.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TIMEOUT_S = 300,
    PAGE_SIZE = 256,
    MAX_PAGES = 1 << 16,
    ROWS = 400,
    BIG = 1000,
    PAIRS = 1,
    DATA = 2,
    EXPIRY = 3,
    LOADED = 200,
};

static SAP_ATOMIC(uint64_t) trusted[MAX_PAGES / 64];

typedef struct Damage {
    SapEnv *db;
    uint64_t newest; /* younger pages are those of the open transaction: nobody checks them */
    uint64_t nth;    /* the check that fails; 0: none */
    uint64_t checks;
    bool fired;
} Damage;

static int check_page(void *ctx, uint32_t pgno)
{
    Damage *damage = ctx;
    const uint8_t *page = arena_page(damage->db->arena, pgno);

    EXPECT(pgno < MAX_PAGES, "more pages than there is room for");
    if (page_birth(page) <= damage->newest && ++damage->checks == damage->nth) {
        damage->fired = true;
        return SAP_CORRUPT;
    }
    atomic_store_release(&trusted[pgno / 64],
                         atomic_load_relaxed(&trusted[pgno / 64]) | UINT64_C(1) << (pgno % 64));
    return SAP_OK;
}

/* From now on every page is new to the DB, and the nth that is read is damaged. */
static void damage_arm(Damage *damage, uint64_t nth)
{
    for (uint32_t i = 0; i < MAX_PAGES / 64; i++) {
        atomic_store_relaxed(&trusted[i], 0);
    }
    damage->newest = sap_db_durable_lsn(damage->db);
    damage->nth = nth;
    damage->checks = 0;
    damage->fired = false;
}

static void key_of(uint32_t i, char key[8])
{
    snprintf(key, 8, "k%05u", i % 100000);
}

static void fill(SapEnv *db)
{
    static uint8_t big[BIG];
    SapTxnCtx *txn = NULL;

    memset(big, 'b', sizeof big);
    EXPECT_RC(sap_dbi_open(db, PAIRS, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, DATA, NULL, NULL, 0), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, EXPIRY, NULL, NULL, SAP_DBI_TTL_META), SAP_OK);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    for (uint32_t i = 0; i < ROWS; i++) {
        char key[8];
        key_of(i * 10, key);
        EXPECT_RC(sap_txn_put(txn, key, 6, big, i % 9 == 0 ? BIG : 20), SAP_OK);
        EXPECT_RC(sap_txn_put_dbi(txn, PAIRS, key, 4, key, 6), SAP_OK);
        if (i % 4 == 0) {
            EXPECT_RC(sap_txn_put_ttl_dbi(txn, DATA, EXPIRY, key, 6, "v", 1, i), SAP_OK);
        }
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

/* ---- The calls ------------------------------------------------------------------------------ */

static int get_small(SapTxnCtx *txn)
{
    return sap_txn_get(txn, "k01010", 6, NULL, NULL);
}

static int get_big(SapTxnCtx *txn)
{
    return sap_txn_get(txn, "k00900", 6, NULL, NULL);
}

static int get_pair(SapTxnCtx *txn)
{
    return sap_txn_get_dbi(txn, PAIRS, "k010", 4, NULL, NULL);
}

static int put_new(SapTxnCtx *txn)
{
    return sap_txn_put(txn, "k01011", 6, "new", 3);
}

static int put_over_big(SapTxnCtx *txn)
{
    return sap_txn_put(txn, "k00900", 6, "small", 5);
}

static int put_pair(SapTxnCtx *txn)
{
    return sap_txn_put_dbi(txn, PAIRS, "k010", 4, "another", 7);
}

static int put_if(SapTxnCtx *txn)
{
    static uint8_t old[20];
    memset(old, 'b', sizeof old);
    return sap_txn_put_if(txn, 0, "k01010", 6, "new", 3, old, sizeof old);
}

static void append(const void *old, uint32_t old_len, const void *operand, uint32_t op_len,
                   void *made, uint32_t *made_len, void *ctx)
{
    (void)ctx;
    if (old_len + op_len <= *made_len) {
        memcpy(made, old, old_len);
        memcpy((char *)made + old_len, operand, op_len);
    }
    *made_len = old_len + op_len;
}

static int merge(SapTxnCtx *txn)
{
    return sap_txn_merge(txn, 0, "k00900", 6, "more", 4, append, NULL);
}

static int del_one(SapTxnCtx *txn)
{
    return sap_txn_del(txn, "k00900", 6);
}

static int del_pairs(SapTxnCtx *txn)
{
    return sap_txn_del_dbi(txn, PAIRS, "k010", 4);
}

static int del_middle(SapTxnCtx *txn)
{
    return sap_txn_del_range(txn, 0, "k00333", 6, "k03333", 6, NULL);
}

static int del_all(SapTxnCtx *txn)
{
    return sap_txn_del_range(txn, 0, NULL, 0, NULL, 0, NULL);
}

static int del_leaf(SapTxnCtx *txn)
{
    return sap_txn_del_range(txn, 0, "k01000", 6, "k01090", 6, NULL);
}

static int count(SapTxnCtx *txn)
{
    uint64_t n = 0;
    return sap_txn_count_range(txn, 0, "k00333", 6, "k03333", 6, &n);
}

static int load(SapTxnCtx *txn, uint32_t dbi, uint32_t rows)
{
    static char names[LOADED][8];
    const void *keys[LOADED];
    uint32_t lens[LOADED];

    for (uint32_t i = 0; i < rows; i++) {
        key_of(i * 15, names[i]);
        keys[i] = names[i];
        lens[i] = 6;
    }
    return sap_txn_load_sorted(txn, dbi, keys, lens, keys, lens, rows);
}

static int load_few(SapTxnCtx *txn)
{
    return load(txn, 0, 5);
}

static int load_many(SapTxnCtx *txn)
{
    return load(txn, 0, LOADED);
}

static int load_pairs(SapTxnCtx *txn)
{
    return load(txn, PAIRS, LOADED);
}

static int ttl_put(SapTxnCtx *txn)
{
    return sap_txn_put_ttl_dbi(txn, DATA, EXPIRY, "k00400", 6, "new", 3, 9999);
}

static int ttl_get_expired(SapTxnCtx *txn)
{
    int rc = sap_txn_get_ttl_flags_dbi(txn, DATA, EXPIRY, "k00400", 6, 500, NULL, NULL,
                                       SAP_TTL_LAZY_DELETE);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int ttl_sweep(SapTxnCtx *txn)
{
    return sap_txn_sweep_ttl_dbi(txn, DATA, EXPIRY, 300, NULL);
}

static int stat(SapTxnCtx *txn)
{
    SapStat out;
    return sap_dbi_stat(txn, PAIRS, &out);
}

/* Walks with a cursor: a move that fails leaves it where it was, and can be made again. */
static int walk(SapTxnCtx *txn, uint32_t dbi, int (*start)(SapCursor *), int (*step)(SapCursor *))
{
    SapCursor *cur = sap_cursor_open_dbi(txn, dbi);
    int answer = SAP_OK;
    uint32_t rows = 0;

    EXPECT(cur != NULL, "no cursor");
    int rc = start(cur);
    if (rc == SAP_CORRUPT) {
        answer = rc;
        rc = start(cur);
    }
    while (rc == SAP_OK) {
        const void *key = NULL;
        const void *again = NULL;
        const void *val = NULL;
        uint32_t len = 0;
        rows++;
        EXPECT_RC(sap_cursor_get_key(cur, &key, &len), SAP_OK);
        rc = sap_cursor_get(cur, NULL, NULL, &val, &len);
        if (rc == SAP_CORRUPT) {
            answer = rc;
            EXPECT(val == NULL, "a value beside an error");
            EXPECT_RC(sap_cursor_get(cur, NULL, NULL, &val, &len), SAP_OK);
        }
        rc = step(cur);
        if (rc == SAP_CORRUPT) {
            answer = rc;
            EXPECT_RC(sap_cursor_get_key(cur, &again, &len), SAP_OK);
            EXPECT(key == again, "the cursor has moved");
            rc = step(cur);
        }
    }
    EXPECT_RC(rc, SAP_NOTFOUND);
    EXPECT(rows == ROWS, "%u rows", rows);
    sap_cursor_close(cur);
    return answer;
}

static int walk_up(SapTxnCtx *txn)
{
    return walk(txn, 0, sap_cursor_first, sap_cursor_next);
}

static int walk_down(SapTxnCtx *txn)
{
    return walk(txn, PAIRS, sap_cursor_last, sap_cursor_prev);
}

/* A cursor on a row, sought while nothing fails. */
static int with_cursor(SapTxnCtx *txn, uint32_t dbi, int (*use)(SapCursor *))
{
    SapCursor *cur = sap_cursor_open_dbi(txn, dbi);

    EXPECT(cur != NULL, "no cursor");
    int rc = sap_cursor_seek(cur, "k0100", 5);
    rc = rc == SAP_OK ? use(cur) : rc;
    sap_cursor_close(cur);
    return rc;
}

static int put_here(SapCursor *cur)
{
    static const uint8_t val[60];
    return sap_cursor_put(cur, val, sizeof val, 0);
}

static int del_twenty(SapCursor *cur)
{
    int rc = SAP_OK;
    for (uint32_t i = 0; i < 20 && rc == SAP_OK; i++) {
        rc = sap_cursor_del(cur);
        if (rc == SAP_OK && sap_cursor_get_key(cur, NULL, NULL) != SAP_OK) {
            EXPECT_RC(sap_cursor_next(cur), SAP_OK); /* where it could not go on by itself */
        }
    }
    return rc;
}

static int all_dups(SapCursor *cur)
{
    uint64_t n = 0;
    int rc = sap_cursor_last_dup(cur);
    if (rc == SAP_OK) {
        rc = sap_cursor_first_dup(cur);
    }
    if (rc == SAP_OK) {
        rc = sap_cursor_count_dup(cur, &n);
    }
    while (rc == SAP_OK) {
        rc = sap_cursor_next_dup(cur);
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int nth_and_rank(SapCursor *cur)
{
    uint64_t rank = 0;
    int rc = sap_cursor_seek_nth(cur, 250);
    if (rc == SAP_OK) {
        EXPECT_RC(sap_cursor_rank(cur, &rank), SAP_OK);
        EXPECT(rank == 250, "rank %llu", (unsigned long long)rank);
    }
    return rc;
}

static int put_by_cursor(SapTxnCtx *txn)
{
    return with_cursor(txn, 0, put_here);
}

static int del_by_cursor(SapTxnCtx *txn)
{
    return with_cursor(txn, 0, del_twenty);
}

static int dups_by_cursor(SapTxnCtx *txn)
{
    return with_cursor(txn, PAIRS, all_dups);
}

static int nth_by_cursor(SapTxnCtx *txn)
{
    return with_cursor(txn, 0, nth_and_rank);
}

/* ---- The loop ------------------------------------------------------------------------------- */

typedef struct Call {
    const char *name;
    int (*run)(SapTxnCtx *txn);
    bool steps; /* changes rows one by one: what went before the error stays */
} Call;

static const Call calls[] = {
    {"get_small", get_small, false},
    {"get_big", get_big, false},
    {"get_pair", get_pair, false},
    {"put_new", put_new, false},
    {"put_over_big", put_over_big, false},
    {"put_pair", put_pair, false},
    {"put_if", put_if, false},
    {"merge", merge, false},
    {"del_one", del_one, false},
    {"del_pairs", del_pairs, false},
    {"del_middle", del_middle, false},
    {"del_all", del_all, false},
    {"del_leaf", del_leaf, false},
    {"count", count, false},
    {"load_few", load_few, false},
    {"load_many", load_many, false},
    {"load_pairs", load_pairs, false},
    {"ttl_put", ttl_put, false},
    {"ttl_get_expired", ttl_get_expired, false},
    {"ttl_sweep", ttl_sweep, false},
    {"stat", stat, false},
    {"walk_up", walk_up, false},
    {"walk_down", walk_down, false},
    {"put_by_cursor", put_by_cursor, false},
    {"del_by_cursor", del_by_cursor, true},
    {"dups_by_cursor", dups_by_cursor, false},
    {"nth_by_cursor", nth_by_cursor, false},
};

static void expect_stream(SapTxnCtx *txn, const Stream *expected)
{
    Stream now;

    stream_init(&now);
    EXPECT_RC(sap_txn_checkpoint(txn, stream_write, &now), SAP_OK);
    EXPECT(now.len == expected->len && memcmp(now.bytes, expected->bytes, now.len) == 0,
           "other rows than before, or than without damage");
    stream_free(&now);
}

static SapEnv *open_filled(Damage *damage)
{
    SapEnv *db = sap_db_open(NULL, PAGE_SIZE, NULL, NULL);

    EXPECT(db != NULL, "no DB");
    fill(db);
    *damage = (Damage){.db = db};
    db->arena->check = check_page;
    db->arena->check_ctx = damage;
    db->arena->trusted = trusted;
    return db;
}

/* What a run without damage makes of the rows. */
static void run_sound(const Call *call, Stream *before, Stream *after)
{
    Damage damage;
    SapTxnCtx *txn = NULL;
    SapEnv *db = open_filled(&damage);

    damage_arm(&damage, 0);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_txn_checkpoint(txn, stream_write, before), SAP_OK);
    EXPECT_RC(call->run(txn), SAP_OK);
    EXPECT_RC(sap_txn_checkpoint(txn, stream_write, after), SAP_OK);
    sap_txn_abort(txn);
    EXPECT_RC(sap_db_close(db), SAP_OK);
}

/* False: the call reads fewer pages. */
static bool run_damaged(const Call *call, uint64_t nth, const Stream *before, const Stream *after)
{
    Damage damage;
    SapTxnCtx *txn = NULL;
    SapEnv *db = open_filled(&damage);

    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    damage_arm(&damage, nth);
    int rc = call->run(txn);
    bool fired = damage.fired;
    damage.nth = 0;
    EXPECT(rc == SAP_OK || (fired && rc == SAP_CORRUPT), "answered %d", rc);
    if (rc == SAP_OK || !call->steps) {
        expect_stream(txn, rc == SAP_OK ? after : before);
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    EXPECT_RC(sap_db_verify(db, NULL, NULL), SAP_OK);
    EXPECT_RC(sap_db_close(db), SAP_OK);
    return fired;
}

START_TEST(a_call_that_meets_a_damaged_page_changes_nothing)
{
    const Call *call = &calls[_i];
    Stream before;
    Stream after;
    uint64_t nth = 1;

    stream_init(&before);
    stream_init(&after);
    expect_context("%s", call->name);
    run_sound(call, &before, &after);
    for (;; nth++) {
        expect_context("%s, page %llu damaged", call->name, (unsigned long long)nth);
        if (!run_damaged(call, nth, &before, &after)) {
            break;
        }
    }
    printf("%s: %llu damaged pages\n", call->name, (unsigned long long)nth - 1);
    ck_assert_uint_gt(nth, 1);
    stream_free(&before);
    stream_free(&after);
}
END_TEST

START_TEST(a_restore_that_meets_a_damaged_page_changes_nothing)
{
    Stream stream;
    Stream empty;
    uint64_t nth = 1;

    stream_init(&stream);
    stream_init(&empty);
    SapEnv *none = sap_db_open(NULL, PAGE_SIZE, NULL, NULL);
    EXPECT_RC(sap_db_checkpoint(none, stream_write, &empty), SAP_OK);
    EXPECT_RC(sap_db_close(none), SAP_OK);
    for (bool fired = true; fired; nth++) {
        Damage damage;
        SapEnv *db = open_filled(&damage);
        SapTxnCtx *txn = NULL;
        damage_arm(&damage, 0);
        stream_free(&stream);
        stream_init(&stream);
        EXPECT_RC(sap_db_checkpoint(db, stream_write, &stream), SAP_OK);
        damage_arm(&damage, nth);
        stream_rewind(&empty);
        int rc = sap_db_restore(db, stream_read, &empty);
        fired = damage.fired;
        damage.nth = 0;
        EXPECT_RC(rc, fired ? SAP_CORRUPT : SAP_OK);
        if (fired) {
            EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
            expect_stream(txn, &stream);
            sap_txn_abort(txn);
        }
        EXPECT_RC(sap_db_verify(db, NULL, NULL), SAP_OK);
        EXPECT_RC(sap_db_close(db), SAP_OK);
    }
    printf("restore: %llu damaged pages\n", (unsigned long long)nth - 2);
    ck_assert_uint_gt(nth, 2);
    stream_free(&stream);
    stream_free(&empty);
}
END_TEST

static void count_finding(const char *text, void *ctx)
{
    (void)text;
    ++*(uint64_t *)ctx;
}

START_TEST(verify_finds_every_damaged_page)
{
    uint64_t nth = 1;

    for (;; nth++) {
        Damage damage;
        SapEnv *db = open_filled(&damage);
        uint64_t findings = 0;
        damage_arm(&damage, nth);
        int rc = sap_db_verify(db, count_finding, &findings);
        damage.nth = 0;
        EXPECT_RC(rc, damage.fired ? SAP_CORRUPT : SAP_OK);
        EXPECT(damage.fired == (findings > 0), "%llu findings", (unsigned long long)findings);
        EXPECT_RC(sap_db_close(db), SAP_OK);
        if (!damage.fired) {
            break;
        }
    }
    printf("verify: %llu damaged pages\n", (unsigned long long)nth - 1);
    ck_assert_uint_gt(nth, 100);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_damage");
    TCase *tcase = tcase_create("damage");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_loop_test(tcase, a_call_that_meets_a_damaged_page_changes_nothing, 0,
                        (int)(sizeof calls / sizeof calls[0]));
    tcase_add_test(tcase, a_restore_that_meets_a_damaged_page_changes_nothing);
    tcase_add_test(tcase, verify_finds_every_damaged_page);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
