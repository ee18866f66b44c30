/* Corners of the engine that are easy to lose again, one claim per test: storage at its bound,
 * memory that fails within a commit, callbacks that misbehave, keys that are equal but not the
 * same, the empty key, runs of pages, and what others cost. */
#include "common/bytes.h"
#include "common/config.h"
#include "common/fault.h"
#include "common/mem.h"
#include "sapling/arena_impl.h"
#include "support/backing.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/model.h"
#include "support/orders.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum { TIMEOUT_S = 300, BIG = 70000, KEY = 16 };

static uint8_t big_value[BIG];
static size_t live_before;

static void set_up(void)
{
    for (uint32_t i = 0; i < BIG; i++) {
        big_value[i] = (uint8_t)(i * 13 + i / 256);
    }
    live_before = mem_live_total();
    fault_reset();
}

static void tear_down(void)
{
    fault_reset();
    ck_assert_uint_eq(mem_live_total(), live_before);
}

static SapEnv *open_db(SapMemArena *arena, uint32_t page_size)
{
    SapEnv *db = sap_db_open(arena, page_size, NULL, NULL);

    ck_assert_ptr_nonnull(db);
    return db;
}

static SapTxnCtx *begin(SapEnv *db, SapTxnCtx *parent, unsigned flags)
{
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_txn_begin_rc(db, parent, flags, &txn), SAP_OK);
    return txn;
}

static uint32_t key_of(uint32_t i, char key[KEY])
{
    return (uint32_t)snprintf(key, KEY, "key%06u", i);
}

static void close_verified(SapEnv *db)
{
    model_expect_verified(db);
    ck_assert_int_eq(sap_db_close(db), SAP_OK);
}

/* ---- Storage at its bound ------------------------------------------------------------------- */

/* Rows of `val_len` bytes from number `first` on, `batch` a transaction, until one finds no room.
 * Whatever was put is committed, but for the transaction that was refused its first row. */
static uint32_t fill(SapEnv *db, Model *model, uint32_t first, uint32_t val_len, uint32_t batch)
{
    char key[KEY];
    uint32_t count = 0;
    int rc = SAP_OK;

    while (rc == SAP_OK) {
        SapTxnCtx *txn = begin(db, NULL, 0);
        uint32_t done = 0;
        while (done < batch && rc == SAP_OK) {
            uint32_t len = key_of(first + count, key);
            rc = sap_txn_put(txn, key, len, big_value, val_len);
            EXPECT(rc == SAP_OK || rc == SAP_FULL, "row %u was answered %d", count, rc);
            if (rc == SAP_OK) {
                model_put(&model->tables[0], key, len, big_value, val_len);
                count++;
                done++;
            }
        }
        /* A row that was put can be committed, however full the arena is. */
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        EXPECT(count < 100000, "the arena is never full");
    }
    return count;
}

static void empty_one_by_one(SapEnv *db, Model *model, uint32_t count)
{
    char key[KEY];

    for (uint32_t i = 0; i < count; i++) {
        SapTxnCtx *txn = begin(db, NULL, 0);
        uint32_t len = key_of(i * 7919 % count, key);
        expect_context("row %u, the %u. of %u to go", i * 7919 % count, i, count);
        EXPECT_RC(sap_txn_del(txn, key, len), SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        model_del(&model->tables[0], key, len);
        if (i % 32 == 0) {
            model_expect_committed(model, db);
        }
    }
}

static void fill_and_empty(uint32_t val_len, uint32_t batch)
{
    Backing backing;
    Model *model = model_new();

    model_add_table(model, 0, NULL, NULL);
    backing_open(&backing, BACKING_LINEAR, 4096, (uint64_t)64 * 4096);
    SapEnv *db = open_db(backing.arena, 0);
    uint32_t first = fill(db, model, 0, val_len, batch);
    EXPECT(first % 7919 != 0, "the rows would not all be visited");
    model_expect_committed(model, db);
    empty_one_by_one(db, model, first);
    model_expect_committed(model, db);
    uint32_t second = fill(db, model, 0, val_len, batch);
    printf("linear arena, values of %u bytes, %u a transaction: %u rows fitted, then %u\n", val_len,
           batch, first, second);
    ck_assert_uint_ge(first, 20);
    ck_assert_uint_eq(second, first);
    model_expect_committed(model, db);
    close_verified(db);
    backing_close(&backing);
    model_free(model);
}

START_TEST(a_full_linear_arena_commits_what_it_took_and_can_be_emptied_row_by_row)
{
    static const uint32_t val_lens[] = {20, 900, 4060, 5000};

    for (size_t i = 0; i < sizeof val_lens / sizeof val_lens[0]; i++) {
        fill_and_empty(val_lens[i], 1);
        fill_and_empty(val_lens[i], 7);
        fill_and_empty(val_lens[i], 1000000);
    }
}
END_TEST

/* ---- Runs of pages -------------------------------------------------------------------------- */

enum { RUN_PAGES = 9000, RUN_MAX = 24 };

typedef struct RunModel {
    uint8_t used[RUN_PAGES + 1]; /* by page number; 0 and the last are never free */
    uint32_t first[RUN_PAGES];
    uint32_t length[RUN_PAGES];
    uint32_t count;
} RunModel;

static bool model_has_run(const RunModel *m, uint32_t wanted)
{
    uint32_t length = 0;

    for (uint32_t i = 0; i <= RUN_PAGES; i++) {
        length = m->used[i] != 0 ? 0 : length + 1;
        if (length == wanted) {
            return true;
        }
    }
    return false;
}

static bool run_take(SapMemArena *arena, RunModel *m, uint32_t wanted)
{
    uint8_t *page = NULL;
    uint32_t pgno = 0;
    int rc = arena_alloc_run(arena, wanted, true, &page, &pgno);

    if (rc != SAP_OK) {
        EXPECT(rc == SAP_FULL, "a run of %u was answered %d", wanted, rc);
        EXPECT(!model_has_run(m, wanted), "no run of %u pages though there is one", wanted);
        return false;
    }
    for (uint32_t i = 0; i < wanted; i++) {
        EXPECT(pgno + i < RUN_PAGES && m->used[pgno + i] == 0, "page %u is in use", pgno + i);
        m->used[pgno + i] = 1;
    }
    m->first[m->count] = pgno;
    m->length[m->count++] = wanted;
    return true;
}

static void run_give_back(SapMemArena *arena, RunModel *m, uint32_t i)
{
    arena_free_run(arena, m->first[i], m->length[i]);
    memset(m->used + m->first[i], 0, m->length[i]);
    m->first[i] = m->first[--m->count];
    m->length[i] = m->length[m->count];
}

/* Singles everywhere, every other one given back, and with few exceptions nothing but holes of one
 * page: then runs come and go. */
static void run_history(uint64_t seed, uint64_t *taken, uint64_t *refused)
{
    static RunModel m;
    Backing backing;
    Choice choice;

    choice_from_seed(&choice, seed);
    expect_context("runs of pages, SAP_TEST_SEED=%llu", (unsigned long long)seed);
    memset(&m, 0, sizeof m);
    m.used[0] = m.used[RUN_PAGES] = 1;
    backing_open(&backing, BACKING_LINEAR, 256, (uint64_t)RUN_PAGES * 256);
    uint32_t singles = RUN_PAGES - 1 - choice_below(&choice, 60);
    for (uint32_t i = 0; i < singles; i++) {
        EXPECT(run_take(backing.arena, &m, 1), "no page %u", i);
    }
    for (uint32_t i = 0; i < m.count;) {
        if (m.first[i] % 2 == 0 || choice_one_in(&choice, 400)) {
            run_give_back(backing.arena, &m, i);
        } else {
            i++;
        }
    }
    for (uint32_t i = 0; i < 600; i++) {
        uint32_t wanted = 1 + choice_below(&choice, choice_one_in(&choice, 3) ? RUN_MAX : 4);
        if (choice_below(&choice, 5) < 2) {
            run_give_back(backing.arena, &m, choice_below(&choice, m.count));
        } else {
            ++*(run_take(backing.arena, &m, wanted) ? taken : refused);
        }
    }
    while (m.count > 0) {
        run_give_back(backing.arena, &m, m.count - 1);
    }
    EXPECT(run_take(backing.arena, &m, RUN_PAGES - 1), "an empty arena is not one run");
    run_give_back(backing.arena, &m, 0);
    backing_close(&backing);
}

START_TEST(a_run_of_free_pages_is_found_wherever_it_is)
{
    uint64_t taken = 0;
    uint64_t refused = 0;
    uint64_t first = choice_first_seed();
    uint64_t count = choice_seed_count(20);

    for (uint64_t seed = first; seed < first + count; seed++) {
        run_history(seed, &taken, &refused);
    }
    printf("runs: seeds %llu to %llu, %llu taken, %llu refused\n", (unsigned long long)first,
           (unsigned long long)(first + count - 1), (unsigned long long)taken,
           (unsigned long long)refused);
    ck_assert_uint_gt(taken, 0);
    ck_assert_uint_gt(refused, 0);
}
END_TEST

START_TEST(a_long_value_finds_the_room_of_one_that_went_among_many_small_holes)
{
    enum { PAGES = 12000, LONG = 40 * 256, ROWS = 4000 };
    Backing backing;
    char key[KEY];

    backing_open(&backing, BACKING_LINEAR, 256, (uint64_t)PAGES * 256);
    SapEnv *db = open_db(backing.arena, 0);
    SapTxnCtx *txn = begin(db, NULL, 0);
    for (uint32_t i = 0; i < ROWS; i++) {
        uint32_t len = key_of(i, key);
        EXPECT_RC(sap_txn_put(txn, key, len, big_value, i == ROWS / 2 ? LONG : 200), SAP_OK);
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    /* What is left of the arena goes to values as long as the one in the middle. */
    uint32_t last = ROWS;
    int rc = SAP_OK;
    while (rc == SAP_OK) {
        txn = begin(db, NULL, 0);
        uint32_t len = key_of(last, key);
        rc = sap_txn_put(txn, key, len, big_value, LONG);
        EXPECT(rc == SAP_OK || rc == SAP_FULL, "put answered %d", rc);
        last += rc == SAP_OK ? 1 : 0;
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    }
    for (uint32_t i = 1; i < ROWS; i += 2) {
        uint32_t len = key_of(i, key);
        txn = begin(db, NULL, 0);
        EXPECT_RC(sap_txn_del(txn, key, len), SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    }
    for (uint32_t i = 0; i < 300; i++) {
        uint32_t len = key_of(ROWS / 2, key);
        expect_context("round %u", i);
        txn = begin(db, NULL, 0);
        EXPECT_RC(sap_txn_del(txn, key, len), SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        txn = begin(db, NULL, 0);
        EXPECT_RC(sap_txn_put(txn, key, len, big_value, LONG), SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    }
    printf("runs among holes: %u long values at the bound\n", last - ROWS);
    close_verified(db);
    backing_close(&backing);
}
END_TEST

/* ---- Memory that fails within a commit ------------------------------------------------------ */

enum { PROBES = 3, TABLES = 60, MAX_EVENTS = 256 };

typedef struct Event {
    uint32_t id;
    bool commit; /* else abort */
} Event;

static Event events[MAX_EVENTS];
static uint32_t event_count;
static int answers[PROBES]; /* of on_commit */

static void event_add(uint32_t id, bool is_commit)
{
    EXPECT(event_count < MAX_EVENTS, "callbacks without end");
    events[event_count++] = (Event){id, is_commit};
}

static int commit_0(SapTxnCtx *txn, void **state)
{
    (void)txn;
    (void)state;
    event_add(0, true);
    return answers[0];
}

static int commit_1(SapTxnCtx *txn, void **state)
{
    (void)txn;
    (void)state;
    event_add(1, true);
    return answers[1];
}

static int commit_2(SapTxnCtx *txn, void **state)
{
    (void)txn;
    (void)state;
    event_add(2, true);
    return answers[2];
}

static void abort_0(SapTxnCtx *txn, void *state)
{
    (void)txn;
    (void)state;
    event_add(0, false);
}

static void abort_1(SapTxnCtx *txn, void *state)
{
    (void)txn;
    (void)state;
    event_add(1, false);
}

static void abort_2(SapTxnCtx *txn, void *state)
{
    (void)txn;
    (void)state;
    event_add(2, false);
}

static uint32_t events_of(bool is_commit)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < event_count; i++) {
        count += events[i].commit == is_commit ? 1 : 0;
    }
    return count;
}

/* Which allocations fail during the commit. */
typedef struct CommitFault {
    bool pages;   /* of the custom arena, else of the heap */
    bool lasting; /* all from the n-th on; heap only */
    uint64_t nth;
    int refusal; /* the last subsystem's answer */
} CommitFault;

/* Four old snapshots, so that the commit has pins to write down; many tables, of which every other
 * one becomes empty, so that it has rows to remove from a catalog of several levels. */
static void prepare_tables(SapEnv *db, SapTxnCtx *readers[4])
{
    for (uint32_t round = 0; round < 5; round++) {
        SapTxnCtx *txn = begin(db, NULL, 0);
        for (uint32_t dbi = 0; dbi < TABLES; dbi++) {
            EXPECT_RC(sap_txn_put_dbi(txn, dbi, "k", 1, &round, sizeof round), SAP_OK);
        }
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        if (round < 4) {
            readers[round] = begin(db, NULL, SAP_TXN_RDONLY);
        }
    }
}

static void change_tables(SapEnv *db, SapTxnCtx *txn)
{
    for (uint32_t dbi = 0; dbi < TABLES; dbi += 4) {
        EXPECT_RC(sap_txn_del_dbi(txn, dbi, "k", 1), SAP_OK);
    }
    SapTxnCtx *child = begin(db, txn, 0);
    for (uint32_t dbi = 0; dbi < TABLES; dbi++) {
        if (dbi % 2 != 0) {
            EXPECT_RC(sap_txn_put_dbi(child, dbi, "l", 1, big_value, 700), SAP_OK);
        } else if (dbi % 4 != 0) {
            EXPECT_RC(sap_txn_del_dbi(child, dbi, "k", 1), SAP_OK);
        }
    }
    EXPECT_RC(sap_txn_commit(child), SAP_OK);
}

static void expect_tables(SapEnv *db, bool changed)
{
    SapTxnCtx *txn = begin(db, NULL, SAP_TXN_RDONLY);

    for (uint32_t dbi = 0; dbi < TABLES; dbi++) {
        EXPECT_RC(sap_txn_get_dbi(txn, dbi, "k", 1, NULL, NULL),
                  changed && dbi % 2 == 0 ? SAP_NOTFOUND : SAP_OK);
        EXPECT_RC(sap_txn_get_dbi(txn, dbi, "l", 1, NULL, NULL),
                  changed && dbi % 2 != 0 ? SAP_OK : SAP_NOTFOUND);
    }
    sap_txn_abort(txn);
    model_expect_verified(db);
}

static int commit_with(const CommitFault *fault, Backing *backing, SapTxnCtx *txn,
                       uint64_t *fired_out)
{
    fault_reset();
    backing->failed = 0;
    if (fault->pages) {
        backing_fail_at(backing, fault->nth);
    } else if (fault->lasting) {
        fault_arm_alloc_from(fault->nth);
    } else {
        fault_arm_alloc(fault->nth);
    }
    event_count = 0;
    answers[PROBES - 1] = fault->refusal;
    int rc = sap_txn_commit(txn);
    answers[PROBES - 1] = SAP_OK;
    *fired_out = fault_fired() + backing->failed;
    fault_reset();
    backing_fail_at(backing, 0);
    return rc;
}

/* False when the commit had fewer allocations. */
static bool fail_commit(const CommitFault *fault)
{
    static const SapSubsystemCallbacks callbacks[PROBES] = {
        {.on_commit = commit_0, .on_abort = abort_0},
        {.on_commit = commit_1, .on_abort = abort_1},
        {.on_commit = commit_2, .on_abort = abort_2},
    };
    SapTxnCtx *readers[4] = {NULL};
    Backing backing;
    uint64_t fired = 0;

    backing_open(&backing, BACKING_CUSTOM, 256, 0);
    SapEnv *db = open_db(backing.arena, 0);
    for (uint32_t dbi = 1; dbi < TABLES; dbi++) {
        EXPECT_RC(sap_dbi_open(db, dbi, NULL, NULL, 0), SAP_OK);
    }
    for (uint32_t i = 0; i < PROBES; i++) {
        EXPECT_RC(sap_env_register_subsystem(db, i + 2, &callbacks[i]), SAP_OK);
    }
    event_count = 0;
    prepare_tables(db, readers);
    SapTxnCtx *txn = begin(db, NULL, 0);
    change_tables(db, txn);
    int rc = commit_with(fault, &backing, txn, &fired);
    if (rc == SAP_OK) {
        EXPECT(events_of(true) == PROBES && events_of(false) == 0, "a commit with aborts");
    } else if (rc == fault->refusal) {
        EXPECT(events_of(true) == PROBES && events_of(false) == PROBES,
               "a refusal is followed by %u aborts", events_of(false));
        EXPECT(!events[PROBES].commit, "an abort before all were asked");
    } else {
        EXPECT(rc == SAP_NOMEM && fired != 0, "commit answered %d", rc);
        EXPECT(events_of(true) == 0, "a subsystem agreed to a commit without memory");
        EXPECT(events_of(false) == PROBES, "%u aborts", events_of(false));
    }
    expect_tables(db, rc == SAP_OK);
    if (rc != SAP_OK) {
        txn = begin(db, NULL, 0);
        change_tables(db, txn);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        expect_tables(db, true);
    }
    for (uint32_t i = 0; i < 4; i++) {
        sap_txn_abort(readers[i]);
    }
    EXPECT_RC(sap_db_close(db), SAP_OK);
    backing_close(&backing);
    return fired != 0;
}

START_TEST(a_commit_without_memory_fails_before_any_subsystem_agreed)
{
    uint64_t fired = 0;
    uint64_t commits = 0;

    for (int variant = 0; variant < 6; variant++) {
        CommitFault fault = {.pages = variant % 3 == 0,
                             .lasting = variant % 3 == 1,
                             .nth = 1,
                             .refusal = variant < 3 ? SAP_OK : SAP_CONFLICT};
        for (;; fault.nth++) {
            expect_context("%s %llu%s fails, the last subsystem answers %d",
                           fault.pages ? "page" : "allocation", (unsigned long long)fault.nth,
                           fault.lasting ? " and every later one" : "", fault.refusal);
            EXPECT(fault.nth < 1000, "the faults do not end");
            commits++;
            if (!fail_commit(&fault)) {
                break;
            }
            fired++;
        }
    }
    printf("commits: %llu, %llu of them with a fault\n", (unsigned long long)commits,
           (unsigned long long)fired);
}
END_TEST

/* The list of changed tables grows with the ninth entry: there a put can fail after the catalog has
 * been prepared for it. */
START_TEST(a_put_that_fails_in_an_empty_table_leaves_the_catalog_sound)
{
    uint64_t fired = 0;

    for (uint32_t tables = 1; tables <= 20; tables++) {
        for (uint64_t nth = 1;; nth++) {
            SapEnv *db = open_db(NULL, 256);
            for (uint32_t dbi = 1; dbi < tables; dbi++) {
                EXPECT_RC(sap_dbi_open(db, dbi, NULL, NULL, 0), SAP_OK);
            }
            SapTxnCtx *txn = begin(db, NULL, 0);
            for (uint32_t dbi = 0; dbi + 1 < tables; dbi++) {
                EXPECT_RC(sap_txn_put_dbi(txn, dbi, "k", 1, "v", 1), SAP_OK);
            }
            expect_context("allocation %llu of the first put in table %u fails",
                           (unsigned long long)nth, tables - 1);
            fault_reset();
            fault_arm_alloc(nth);
            int rc = sap_txn_put_dbi(txn, tables - 1, "k", 1, "v", 1);
            uint64_t hit = fault_fired();
            fault_reset();
            EXPECT(rc == (hit != 0 ? SAP_NOMEM : SAP_OK), "put answered %d", rc);
            EXPECT_RC(sap_txn_commit(txn), SAP_OK);
            close_verified(db);
            fired += hit;
            if (hit == 0) {
                break;
            }
        }
    }
    printf("first puts: %llu faults fired\n", (unsigned long long)fired);
    ck_assert_uint_gt(fired, 0);
}
END_TEST

/* ---- Callbacks that misbehave --------------------------------------------------------------- */

typedef struct Careless {
    bool leaves_child;
    bool leaves_grandchild;
    bool writes;
    int answer;
    uint32_t commits;
    uint32_t aborts;
} Careless;

static Careless careless;

static int careless_commit(SapTxnCtx *txn, void **state)
{
    (void)state;
    Careless now = careless;
    memset(&careless, 0, sizeof careless); /* the children's own commits and aborts are plain */
    if (now.leaves_child || now.writes) {
        SapTxnCtx *child = begin(sap_txn_env(txn), txn, 0);
        EXPECT_RC(sap_txn_put(child, "by the callback", 15, big_value, 5000), SAP_OK);
        if (now.leaves_grandchild) {
            SapTxnCtx *grandchild = begin(sap_txn_env(txn), child, 0);
            EXPECT_RC(sap_txn_put(grandchild, "deeper", 6, "x", 1), SAP_OK);
        } else if (now.writes) {
            EXPECT_RC(sap_txn_commit(child), SAP_OK);
        }
    }
    careless = now;
    careless.commits++;
    return now.answer;
}

static void careless_abort(SapTxnCtx *txn, void *state)
{
    (void)txn;
    (void)state;
    careless.aborts++;
}

/* A commit with the callback as given, of an outermost transaction or of a child. */
static void commit_carelessly(Careless how, bool nested, int expected)
{
    static const SapSubsystemCallbacks callbacks = {.on_commit = careless_commit,
                                                    .on_abort = careless_abort};
    SapEnv *db = open_db(NULL, 512);
    SapStat before;
    SapStat after;

    memset(&careless, 0, sizeof careless);
    EXPECT_RC(sap_env_register_subsystem(db, 3, &callbacks), SAP_OK);
    SapTxnCtx *txn = begin(db, NULL, 0);
    EXPECT_RC(sap_txn_put(txn, "old", 3, "row", 3), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    EXPECT_RC(sap_db_stat(db, &before), SAP_OK);

    txn = begin(db, NULL, 0);
    SapTxnCtx *inner = nested ? begin(db, txn, 0) : txn;
    EXPECT_RC(sap_txn_put(inner, "new", 3, "row", 3), SAP_OK);
    careless = how;
    EXPECT_RC(sap_txn_commit(inner), expected);
    EXPECT(expected == SAP_OK || careless.aborts >= 1, "no abort");
    memset(&careless, 0, sizeof careless);
    if (nested) {
        EXPECT_RC(sap_txn_get(txn, "new", 3, NULL, NULL),
                  expected == SAP_OK ? SAP_OK : SAP_NOTFOUND);
        EXPECT_RC(sap_txn_put(txn, "parent", 6, "goes on", 7), SAP_OK);
        EXPECT_RC(sap_txn_del(txn, "parent", 6), SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    }
    EXPECT_RC(sap_db_stat(db, &after), SAP_OK);
    EXPECT(after.has_write_txn == 0, "the writer is still there");
    if (expected != SAP_OK) {
        EXPECT(after.num_entries == before.num_entries, "%llu rows",
               (unsigned long long)after.num_entries);
        EXPECT(after.num_pages == before.num_pages, "%llu pages instead of %llu",
               (unsigned long long)after.num_pages, (unsigned long long)before.num_pages);
    }
    txn = begin(db, NULL, 0);
    EXPECT_RC(sap_txn_get(txn, "old", 3, NULL, NULL), SAP_OK);
    EXPECT_RC(sap_txn_get(txn, "by the callback", 15, NULL, NULL),
              expected == SAP_OK ? SAP_OK : SAP_NOTFOUND);
    EXPECT_RC(sap_txn_put(txn, "next", 4, "row", 3), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    close_verified(db);
}

START_TEST(a_child_that_a_commit_callback_leaves_open_aborts_the_transaction)
{
    for (int nested = 0; nested < 2; nested++) {
        expect_context("a child left open, nested %d", nested);
        commit_carelessly((Careless){.leaves_child = true}, nested != 0, SAP_ERROR);
        expect_context("a child and its child left open, nested %d", nested);
        commit_carelessly((Careless){.leaves_child = true, .leaves_grandchild = true}, nested != 0,
                          SAP_ERROR);
    }
}
END_TEST

START_TEST(a_commit_callback_that_refuses_may_leave_a_child_open)
{
    for (int nested = 0; nested < 2; nested++) {
        expect_context("a refusal with a child left open, nested %d", nested);
        commit_carelessly((Careless){.leaves_child = true, .answer = SAP_CONFLICT}, nested != 0,
                          SAP_CONFLICT);
    }
}
END_TEST

START_TEST(a_commit_callback_may_write_through_a_child_of_its_own)
{
    for (int nested = 0; nested < 2; nested++) {
        expect_context("a child committed within the callback, nested %d", nested);
        commit_carelessly((Careless){.writes = true}, nested != 0, SAP_OK);
    }
}
END_TEST

/* ---- Keys that are equal but not the same --------------------------------------------------- */

static int fold(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte;
}

/* Unlike ORDER_FOLDED this calls "KEY" and "key" equal. */
static int compare_folded(const void *a, uint32_t a_len, const void *b, uint32_t b_len, void *ctx)
{
    const uint8_t *x = a;
    const uint8_t *y = b;

    (void)ctx;
    for (uint32_t i = 0; i < a_len && i < b_len; i++) {
        if (fold(x[i]) != fold(y[i])) {
            return fold(x[i]) - fold(y[i]);
        }
    }
    return a_len < b_len ? -1 : a_len > b_len;
}

static void expect_row(SapTxnCtx *txn, const char *wanted, const char *stored, uint32_t val_len)
{
    SapCursor *cur = sap_cursor_open(txn);
    uint32_t len = (uint32_t)strlen(stored);
    const void *key = NULL;
    const void *val = NULL;
    uint32_t key_len = 0;
    uint32_t got_len = 0;

    EXPECT(cur != NULL, "no cursor");
    EXPECT_RC(sap_cursor_seek(cur, wanted, (uint32_t)strlen(wanted)), SAP_OK);
    EXPECT_RC(sap_cursor_get(cur, &key, &key_len, &val, &got_len), SAP_OK);
    EXPECT(key_len == len && memcmp(key, stored, len) == 0, "the key became %.*s", (int)key_len,
           (const char *)key);
    EXPECT(got_len == val_len && memcmp(val, big_value, val_len) == 0, "another value");
    sap_cursor_close(cur);
}

START_TEST(a_row_keeps_its_key_when_an_equal_one_is_put)
{
    static const uint32_t val_lens[] = {10, 0, 10, 3, 40, 100, 700, 20, 5000, 6000, 1, 70000, 10};
    static const char *const spellings[] = {"MIDDLE ROW", "Middle Row", "middle row", "mIDDLE rOW"};
    enum { COUNT = sizeof val_lens / sizeof val_lens[0] };

    for (int neighbours = 0; neighbours <= 40; neighbours += 8) {
        SapEnv *db = sap_db_open(NULL, 512, compare_folded, NULL);
        ck_assert_ptr_nonnull(db);
        SapTxnCtx *txn = begin(db, NULL, 0);
        EXPECT_RC(sap_txn_put(txn, "middle row", 10, big_value, 10), SAP_OK);
        for (int i = 0; i < neighbours; i++) {
            char key[KEY];
            snprintf(key, sizeof key, "%s%02d", i % 2 == 0 ? "middle" : "other", i);
            EXPECT_RC(sap_txn_put(txn, key, (uint32_t)strlen(key), big_value, 30), SAP_OK);
        }
        for (uint32_t i = 0; i < COUNT * 4; i++) {
            const char *spelling = spellings[i % 4];
            uint32_t val_len = val_lens[i % COUNT];
            expect_context("%d neighbours, put %u of %u bytes", neighbours, i, val_len);
            if (i % 3 == 2) {
                EXPECT_RC(sap_txn_commit(txn), SAP_OK);
                model_expect_verified(db);
                txn = begin(db, NULL, 0);
            }
            EXPECT_RC(sap_txn_put(txn, spelling, 10, big_value, val_len), SAP_OK);
            expect_row(txn, spelling, "middle row", val_len);
            EXPECT_RC(sap_txn_put_flags(txn, "MIDDLE row", 10, "", 0, SAP_NOOVERWRITE, NULL),
                      SAP_EXISTS);
        }
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        SapStat stat;
        EXPECT_RC(sap_db_stat(db, &stat), SAP_OK);
        ck_assert_uint_eq(stat.num_entries, (uint64_t)neighbours + 1);
        model_expect_verified(db);
        /* Once removed, the row comes back as it is spelt then. */
        txn = begin(db, NULL, 0);
        EXPECT_RC(sap_txn_del(txn, "mIdDlE RoW", 10), SAP_OK);
        EXPECT_RC(sap_txn_put(txn, "MIDDLE ROW", 10, big_value, 7), SAP_OK);
        expect_row(txn, "middle row", "MIDDLE ROW", 7);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        close_verified(db);
    }
}
END_TEST

/* ---- The empty key -------------------------------------------------------------------------- */

static uint64_t count_all(SapTxnCtx *txn, uint32_t dbi)
{
    uint64_t count = 0;

    EXPECT_RC(sap_txn_count_range(txn, dbi, NULL, 0, NULL, 0, &count), SAP_OK);
    return count;
}

static void expect_empty_key(SapTxnCtx *txn, uint32_t dbi, bool there, uint64_t others)
{
    SapCursor *cur = sap_cursor_open_dbi(txn, dbi);
    const void *key = NULL;
    const void *val = NULL;
    uint32_t key_len = 77;
    uint32_t val_len = 0;
    uint64_t count = 77;
    bool first = dbi == 0; /* the empty key is the last in the backward order */

    EXPECT_RC(sap_txn_get_dbi(txn, dbi, NULL, 0, &val, &val_len), there ? SAP_OK : SAP_NOTFOUND);
    EXPECT_RC(sap_txn_get_dbi(txn, dbi, "", 0, &val, &val_len), there ? SAP_OK : SAP_NOTFOUND);
    EXPECT(!there || (val_len == 4 && memcmp(val, "none", 4) == 0), "another value");
    EXPECT(count_all(txn, dbi) == others + (there ? 1 : 0), "%llu rows",
           (unsigned long long)count_all(txn, dbi));
    /* An empty bound is a bound, no bound is NULL. */
    EXPECT_RC(sap_txn_count_range(txn, dbi, NULL, 0, "", 0, &count), SAP_OK);
    EXPECT(count == (first ? 0 : others), "%llu rows below the empty key",
           (unsigned long long)count);
    EXPECT_RC(sap_txn_count_range(txn, dbi, "", 0, NULL, 0, &count), SAP_OK);
    EXPECT(count == (first ? others : 0) + (there ? 1 : 0), "%llu rows from the empty key on",
           (unsigned long long)count);

    int rc = sap_cursor_seek(cur, NULL, 0);
    if (first ? there || others > 0 : there) {
        EXPECT(rc == SAP_OK, "seek answered %d", rc);
        EXPECT_RC(sap_cursor_get(cur, &key, &key_len, NULL, NULL), SAP_OK);
        EXPECT((key_len == 0) == there, "seek found a key of %u bytes", key_len);
        EXPECT(key != NULL, "a row's key is NULL");
    } else {
        EXPECT(rc == SAP_NOTFOUND, "seek answered %d", rc);
    }
    sap_cursor_close(cur);
}

START_TEST(the_empty_key_is_a_key_and_may_be_null)
{
    static const uint32_t others[] = {0, 1, 3, 500};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        for (uint32_t dbi = 0; dbi < 2; dbi++) {
            SapEnv *db = open_db(NULL, 256);
            char key[KEY];
            expect_context("dbi %u beside %u rows", dbi, others[i]);
            EXPECT_RC(sap_dbi_open(db, 1, order_cmp(ORDER_REVERSE), order_ctx(ORDER_REVERSE), 0),
                      SAP_OK);
            SapTxnCtx *txn = begin(db, NULL, 0);
            expect_empty_key(txn, dbi, false, 0);
            for (uint32_t j = 0; j < others[i]; j++) {
                uint32_t len = key_of(j, key);
                EXPECT_RC(sap_txn_put_dbi(txn, dbi, key, len, NULL, 0), SAP_OK);
            }
            expect_empty_key(txn, dbi, false, others[i]);
            EXPECT_RC(sap_txn_del_dbi(txn, dbi, NULL, 0), SAP_NOTFOUND);
            EXPECT_RC(sap_txn_put_dbi(txn, dbi, NULL, 0, "none", 4), SAP_OK);
            expect_empty_key(txn, dbi, true, others[i]);
            EXPECT_RC(sap_txn_put_flags_dbi(txn, dbi, NULL, 0, "other", 5, SAP_NOOVERWRITE, NULL),
                      SAP_EXISTS);
            EXPECT_RC(sap_txn_commit(txn), SAP_OK);
            model_expect_verified(db);
            txn = begin(db, NULL, SAP_TXN_RDONLY);
            expect_empty_key(txn, dbi, true, others[i]);
            sap_txn_abort(txn);
            txn = begin(db, NULL, 0);
            EXPECT_RC(sap_txn_del_dbi(txn, dbi, NULL, 0), SAP_OK);
            EXPECT_RC(sap_txn_del_dbi(txn, dbi, NULL, 0), SAP_NOTFOUND);
            expect_empty_key(txn, dbi, false, others[i]);
            EXPECT_RC(sap_txn_commit(txn), SAP_OK);
            close_verified(db);
        }
    }
}
END_TEST

START_TEST(a_cursor_on_the_empty_key_survives_changes)
{
    SapEnv *db = open_db(NULL, 256);
    SapTxnCtx *txn = begin(db, NULL, 0);
    char key[KEY];
    const void *got = NULL;
    uint32_t got_len = 77;

    EXPECT_RC(sap_txn_put(txn, NULL, 0, "none", 4), SAP_OK);
    SapCursor *cur = sap_cursor_open(txn);
    EXPECT_RC(sap_cursor_seek(cur, NULL, 0), SAP_OK);
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t len = key_of(i, key);
        EXPECT_RC(sap_txn_put(txn, key, len, "v", 1), SAP_OK);
        EXPECT_RC(sap_cursor_get(cur, &got, &got_len, NULL, NULL), SAP_OK);
        EXPECT(got_len == 0, "the cursor left the empty key");
    }
    EXPECT_RC(sap_cursor_put(cur, big_value, 3000, 0), SAP_OK);
    EXPECT_RC(sap_txn_del(txn, NULL, 0), SAP_OK);
    EXPECT_RC(sap_cursor_get(cur, NULL, NULL, NULL, NULL), SAP_NOTFOUND);
    EXPECT_RC(sap_cursor_put(cur, "x", 1, 0), SAP_NOTFOUND);
    EXPECT_RC(sap_txn_put(txn, NULL, 0, "back", 4), SAP_OK);
    EXPECT_RC(sap_cursor_get_key(cur, &got, &got_len), SAP_OK);
    EXPECT(got_len == 0, "the cursor is elsewhere");
    EXPECT_RC(sap_txn_del(txn, NULL, 0), SAP_OK);
    EXPECT_RC(sap_cursor_next(cur), SAP_OK);
    EXPECT_RC(sap_cursor_get_key(cur, &got, &got_len), SAP_OK);
    EXPECT(got_len == key_of(0, key) && memcmp(got, key, got_len) == 0, "not the successor");
    EXPECT_RC(sap_cursor_prev(cur), SAP_NOTFOUND);
    EXPECT_RC(sap_txn_put(txn, NULL, 0, "again", 5), SAP_OK);
    EXPECT_RC(sap_cursor_first(cur), SAP_OK);
    EXPECT_RC(sap_cursor_del(cur), SAP_OK);
    EXPECT_RC(sap_cursor_get_key(cur, &got, &got_len), SAP_OK);
    EXPECT(got_len == key_of(0, key), "not on the next row");
    sap_cursor_close(cur);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    close_verified(db);
}
END_TEST

/* ---- Counters as keys ----------------------------------------------------------------------- */

static uint32_t counter_key(uint8_t out[9], char group, uint64_t counter)
{
    out[0] = (uint8_t)group;
    store_u64be(out + 1, counter);
    return 9;
}

static void put_counters(SapEnv *db, Model *model, char group, uint64_t first, uint32_t count)
{
    SapTxnCtx *txn = begin(db, NULL, 0);
    uint8_t key[9];

    for (uint64_t i = first; i < first + count; i++) {
        uint32_t len = counter_key(key, group, i);
        expect_context("put %c %llx", group, (unsigned long long)i);
        EXPECT_RC(sap_txn_put(txn, key, len, key, len), SAP_OK);
        model_put(&model->tables[0], key, len, key, len);
        if (i % 97 == 0) {
            EXPECT_RC(sap_txn_commit(txn), SAP_OK);
            model_expect_verified(db);
            txn = begin(db, NULL, 0);
        }
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    model_expect_committed(model, db);
}

static void del_counters(SapEnv *db, Model *model, char group, uint64_t first, uint32_t count)
{
    SapTxnCtx *txn = begin(db, NULL, 0);
    uint8_t key[9];

    for (uint64_t i = first; i < first + count; i++) {
        uint32_t len = counter_key(key, group, i);
        expect_context("del %c %llx", group, (unsigned long long)i);
        EXPECT_RC(sap_txn_del(txn, key, len), SAP_OK);
        model_del(&model->tables[0], key, len);
        if (i % 97 == 0) {
            EXPECT_RC(sap_txn_commit(txn), SAP_OK);
            model_expect_verified(db);
            txn = begin(db, NULL, 0);
        }
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    model_expect_committed(model, db);
}

START_TEST(counters_that_grow_across_byte_boundaries_keep_the_tree_sound)
{
    static const uint32_t page_sizes[] = {260, 512, 2048, 8192};
    static const uint64_t starts[] = {0, 0xfe80, 0xfffe80, UINT64_C(0xfffffe80),
                                      UINT64_C(0xfffffffffffe80)};
    enum { PART = 900 };

    for (size_t p = 0; p < sizeof page_sizes / sizeof page_sizes[0]; p++) {
        for (size_t s = 0; s < sizeof starts / sizeof starts[0]; s++) {
            SapEnv *db = open_db(NULL, page_sizes[p]);
            Model *model = model_new();
            model_add_table(model, 0, NULL, NULL);
            put_counters(db, model, 'a', starts[s], PART);
            put_counters(db, model, 'b', starts[s], PART / 3);
            del_counters(db, model, 'a', starts[s], PART);
            put_counters(db, model, 'b', starts[s] + PART / 3, PART);
            put_counters(db, model, 'a', starts[s], PART / 9);
            del_counters(db, model, 'b', starts[s], PART);
            put_counters(db, model, 'c', starts[s], PART / 3);
            model_free(model);
            close_verified(db);
        }
    }
}
END_TEST

/* ---- What others cost ----------------------------------------------------------------------- */

START_TEST(a_small_environment_costs_little_on_an_arena_that_another_has_filled)
{
    enum { LARGE_PAGES = 100000, LIMIT = 64 * 1024 };
    Backing backing;
    char key[KEY];

    backing_open(&backing, BACKING_MALLOC, 256, 0);
    SapEnv *large = open_db(backing.arena, 0);
    SapTxnCtx *txn = begin(large, NULL, 0);
    for (uint32_t i = 0; sap_db_num_pages(large) < LARGE_PAGES; i++) {
        uint32_t len = key_of(i, key);
        EXPECT_RC(sap_txn_put(txn, key, len, big_value, BIG), SAP_OK);
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);

    size_t before = mem_live_bytes(MEM_ENV);
    SapEnv *small = open_db(backing.arena, 0);
    txn = begin(small, NULL, 0);
    EXPECT_RC(sap_txn_put(txn, "k", 1, "v", 1), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    size_t cost = mem_live_bytes(MEM_ENV) - before;
    printf("an environment with one row beside %llu pages: %zu bytes\n",
           (unsigned long long)sap_db_num_pages(large), cost);
    ck_assert_uint_lt(cost, LIMIT);
    close_verified(small);
    close_verified(large);
    backing_close(&backing);
}
END_TEST

/* How often the puts asked for memory while `count` cursors stood on another table. */
static uint64_t allocations_beside(uint32_t count)
{
    enum { ROWS = 500, PUTS = 300 };
    static SapCursor *cursors[2000];
    SapEnv *db = open_db(NULL, 512);
    char key[KEY];

    EXPECT_RC(sap_dbi_open(db, 1, NULL, NULL, 0), SAP_OK);
    SapTxnCtx *txn = begin(db, NULL, 0);
    for (uint32_t i = 0; i < ROWS; i++) {
        uint32_t len = key_of(i, key);
        EXPECT_RC(sap_txn_put_dbi(txn, 0, key, len, "row", 3), SAP_OK);
        EXPECT_RC(sap_txn_put_dbi(txn, 1, key, len, "row", 3), SAP_OK);
    }
    for (uint32_t i = 0; i < count; i++) {
        cursors[i] = sap_cursor_open_dbi(txn, 1);
        EXPECT_RC(sap_cursor_seek_nth(cursors[i], i % ROWS), SAP_OK);
    }
    fault_reset();
    for (uint32_t i = 0; i < PUTS; i++) {
        uint32_t len = key_of(i * 3, key);
        EXPECT_RC(sap_txn_put_dbi(txn, 0, key, len, big_value, i % 2 == 0 ? 3 : 60), SAP_OK);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t rank = 0;
        const void *got = NULL;
        uint32_t got_len = 0;
        uint32_t len = key_of(i % ROWS, key);
        EXPECT_RC(sap_cursor_rank(cursors[i], &rank), SAP_OK);
        EXPECT_RC(sap_cursor_get_key(cursors[i], &got, &got_len), SAP_OK);
        EXPECT(rank == i % ROWS && got_len == len && memcmp(got, key, len) == 0,
               "cursor %u lost its place", i);
    }
    uint64_t asked = fault_alloc_count();
    for (uint32_t i = 0; i < count; i++) {
        sap_cursor_close(cursors[i]);
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    close_verified(db);
    return asked;
}

START_TEST(cursors_on_another_table_stay_where_they_are_and_cost_a_put_nothing)
{
    uint64_t alone = allocations_beside(0);

    ck_assert_uint_eq(allocations_beside(1), alone);
    ck_assert_uint_eq(allocations_beside(2000), alone);
}
END_TEST

START_TEST(beginning_a_write_transaction_allocates_nothing)
{
    enum { DEPTH = 6 };
    SapEnv *db = open_db(NULL, 512);
    SapTxnCtx *txns[DEPTH];

    fault_reset();
    sap_txn_abort(begin(db, NULL, 0));
    ck_assert_uint_eq(fault_alloc_count(), 0); /* not even the first one */
    for (int round = 0; round < 3; round++) {
        uint64_t pages = sap_db_num_pages(db);
        fault_reset();
        for (int i = 0; i < DEPTH; i++) {
            txns[i] = begin(db, i == 0 ? NULL : txns[i - 1], 0);
        }
        /* A depth that was reached before costs nothing either. */
        ck_assert(round == 0 || fault_alloc_count() == 0);
        ck_assert_uint_eq(sap_db_num_pages(db), pages);
        EXPECT_RC(sap_txn_put(txns[DEPTH - 1], "k", 1, &round, sizeof round), SAP_OK);
        for (int i = DEPTH; i-- > 0;) {
            EXPECT_RC(sap_txn_commit(txns[i]), SAP_OK);
        }
    }
    close_verified(db);
}
END_TEST

static uint64_t comparisons;

static int compare_counted(const void *a, uint32_t a_len, const void *b, uint32_t b_len, void *ctx)
{
    (void)ctx;
    comparisons++;
    return bytes_compare(a, a_len, b, b_len);
}

START_TEST(counts_ranks_and_positions_do_not_visit_the_rows)
{
    enum { ROWS = 100000, LIMIT = 64 }; /* twice a search through so many rows, and some more */
    SapEnv *db = sap_db_open(NULL, 512, compare_counted, NULL);
    SapTxnCtx *txn = begin(db, NULL, 0);
    uint8_t lo[4];
    uint8_t hi[4];
    uint64_t count = 0;
    uint64_t rank = 0;

    for (uint32_t i = 0; i < ROWS; i++) {
        store_u32be(lo, i);
        EXPECT_RC(sap_txn_put(txn, lo, 4, "v", 1), SAP_OK);
    }
    SapCursor *cur = sap_cursor_open(txn);
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t from = i * 7919 % (ROWS / 2);
        uint32_t to = ROWS / 2 + i * 104729 % (ROWS / 2);
        store_u32be(lo, from);
        store_u32be(hi, to);
        comparisons = 0;
        EXPECT_RC(sap_txn_count_range(txn, 0, lo, 4, hi, 4, &count), SAP_OK);
        ck_assert_uint_eq(count, to - from);
        ck_assert_uint_le(comparisons, LIMIT);
        comparisons = 0;
        EXPECT_RC(sap_cursor_seek_nth(cur, to), SAP_OK);
        EXPECT_RC(sap_cursor_rank(cur, &rank), SAP_OK);
        ck_assert_uint_eq(rank, to);
        ck_assert_uint_eq(comparisons, 0);
    }
    sap_cursor_close(cur);
    sap_txn_abort(txn);
    close_verified(db);
}
END_TEST

/* Rows 0 to count - 1 in the order of compare_counted. */
static SapTxnCtx *begin_numbered(SapEnv *db, uint32_t count)
{
    SapTxnCtx *txn = begin(db, NULL, 0);
    uint8_t key[4];

    for (uint32_t i = 0; i < count; i++) {
        store_u32be(key, i);
        EXPECT_RC(sap_txn_put(txn, key, 4, "v", 1), SAP_OK);
    }
    return txn;
}

START_TEST(a_deleted_range_does_not_visit_its_rows)
{
    enum { ROWS = 100000, LIMIT = 200 }; /* a few searches */
    SapEnv *db = sap_db_open(NULL, 512, compare_counted, NULL);
    SapTxnCtx *txn = begin_numbered(db, ROWS);
    uint8_t lo[4];
    uint8_t hi[4];
    uint64_t deleted = 0;

    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    txn = begin(db, NULL, 0);
    store_u32be(lo, 777);
    store_u32be(hi, ROWS - 777);
    comparisons = 0;
    EXPECT_RC(sap_txn_del_range(txn, 0, lo, 4, hi, 4, &deleted), SAP_OK);
    ck_assert_uint_eq(deleted, ROWS - 2 * 777);
    ck_assert_uint_le(comparisons, LIMIT);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    close_verified(db);
}
END_TEST

/* Loads every step-th number below `rows`, and counts the comparisons. */
static uint64_t comparisons_of_load(SapTxnCtx *txn, uint32_t rows, uint32_t step)
{
    enum { MAX = 20000 };
    static uint8_t keys[MAX][4];
    static const void *key_ptrs[MAX];
    static uint32_t key_lens[MAX];
    static const void *val_ptrs[MAX];
    static uint32_t val_lens[MAX];
    uint32_t count = 0;

    for (uint32_t i = 0; i < rows; i += step, count++) {
        store_u32be(keys[count], i);
        key_ptrs[count] = keys[count];
        key_lens[count] = 4;
        val_ptrs[count] = "w";
        val_lens[count] = 1;
    }
    comparisons = 0;
    EXPECT_RC(sap_txn_load_sorted(txn, 0, key_ptrs, key_lens, val_ptrs, val_lens, count), SAP_OK);
    return comparisons;
}

START_TEST(a_sorted_load_looks_at_each_row_a_few_times)
{
    enum { ROWS = 20000 };
    SapEnv *db = sap_db_open(NULL, 512, compare_counted, NULL);
    SapTxnCtx *txn = begin(db, NULL, 0);
    uint64_t empty = comparisons_of_load(txn, ROWS, 1);

    sap_txn_abort(txn);
    txn = begin_numbered(db, ROWS);
    uint64_t merged = comparisons_of_load(txn, ROWS, 2);
    printf("load of %d rows: %llu comparisons into an empty table; half as many merged: %llu\n",
           ROWS, (unsigned long long)empty, (unsigned long long)merged);
    ck_assert_uint_le(empty, 2 * ROWS);
    ck_assert_uint_le(merged, 2 * (ROWS + ROWS / 2));
    sap_txn_abort(txn);
    close_verified(db);
}
END_TEST

START_TEST(counting_the_values_of_a_key_does_not_visit_them)
{
    enum { VALUES = 20000, LIMIT = 64 };
    SapEnv *db = open_db(NULL, 512);
    uint8_t val[4];
    uint64_t count = 0;

    EXPECT_RC(sap_dbi_open(db, 1, compare_counted, NULL, SAP_DBI_DUPSORT), SAP_OK);
    SapTxnCtx *txn = begin(db, NULL, 0);
    for (uint32_t i = 0; i < VALUES; i++) {
        store_u32be(val, i);
        EXPECT_RC(sap_txn_put_dbi(txn, 1, "k", 1, val, 4), SAP_OK);
    }
    SapCursor *cur = sap_cursor_open_dbi(txn, 1);
    EXPECT_RC(sap_cursor_first(cur), SAP_OK);
    comparisons = 0;
    EXPECT_RC(sap_cursor_count_dup(cur, &count), SAP_OK);
    ck_assert_uint_eq(count, VALUES);
    ck_assert_uint_le(comparisons, LIMIT);
    sap_cursor_close(cur);
    sap_txn_abort(txn);
    close_verified(db);
}
END_TEST

/* ---- Pages that are not there (any more) ---------------------------------------------------- */

START_TEST(a_page_that_could_not_be_had_resolves_to_nothing)
{
    Backing backing;
    void *page = NULL;
    uint32_t pgno = 0;

    backing_open(&backing, BACKING_CUSTOM, 512, 0);
    ck_assert_ptr_null(sap_arena_resolve(backing.arena, 1));
    for (uint32_t i = 0; i < 5; i++) {
        backing_fail_at(&backing, 1);
        ck_assert_int_eq(sap_arena_alloc_page(backing.arena, &page, &pgno), SAP_NOMEM);
        ck_assert_ptr_null(page);
        for (uint32_t no = 0; no < 8; no++) {
            ck_assert_ptr_null(sap_arena_resolve(backing.arena, no));
            ck_assert_int_eq(sap_arena_free_page(backing.arena, no), SAP_ERROR);
        }
    }
    backing_fail_at(&backing, 1);
    void *node = NULL;
    ck_assert_int_eq(sap_arena_alloc_node(backing.arena, 40, &node, &pgno), SAP_NOMEM);
    ck_assert_ptr_null(node);
    backing_fail_at(&backing, 0);
    ck_assert_int_eq(sap_arena_alloc_page(backing.arena, &page, &pgno), SAP_OK);
    ck_assert_ptr_nonnull(page);
    ck_assert_ptr_eq(sap_arena_resolve(backing.arena, pgno), page);
    memset(page, 0x11, 512);
    ck_assert_int_eq(sap_arena_free_page(backing.arena, pgno), SAP_OK);
    ck_assert_uint_eq(sap_arena_active_pages(backing.arena), 0);
    backing_close(&backing);
}
END_TEST

#if SAP_SLOW_ASSERTS
/* A debugging aid: who keeps a value longer than its transaction notices. */
START_TEST(in_test_builds_a_value_kept_too_long_is_no_longer_there)
{
    static const uint32_t val_lens[] = {100, 3000};

    for (size_t i = 0; i < sizeof val_lens / sizeof val_lens[0]; i++) {
        SapEnv *db = open_db(NULL, 512);
        const void *val = NULL;
        uint32_t val_len = 0;
        SapTxnCtx *txn = begin(db, NULL, 0);
        EXPECT_RC(sap_txn_put(txn, "k", 1, big_value, val_lens[i]), SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        SapTxnCtx *reader = begin(db, NULL, SAP_TXN_RDONLY);
        EXPECT_RC(sap_txn_get(reader, "k", 1, &val, &val_len), SAP_OK);
        for (uint32_t round = 0; round < 2; round++) {
            txn = begin(db, NULL, 0);
            EXPECT_RC(sap_txn_put(txn, "k", 1, &round, sizeof round), SAP_OK);
            EXPECT_RC(sap_txn_commit(txn), SAP_OK);
            if (round == 0) {
                ck_assert_mem_eq(val, big_value, val_len);
                sap_txn_abort(reader);
            }
        }
        for (uint32_t j = 0; j < val_len; j++) {
            ck_assert_uint_eq(((const uint8_t *)val)[j], 0xdb);
        }
        close_verified(db);
    }
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("engine_regress");
    TCase *tcase = tcase_create("corners");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, a_full_linear_arena_commits_what_it_took_and_can_be_emptied_row_by_row);
    tcase_add_test(tcase, a_run_of_free_pages_is_found_wherever_it_is);
    tcase_add_test(tcase, a_long_value_finds_the_room_of_one_that_went_among_many_small_holes);
    tcase_add_test(tcase, a_commit_without_memory_fails_before_any_subsystem_agreed);
    tcase_add_test(tcase, a_put_that_fails_in_an_empty_table_leaves_the_catalog_sound);
    tcase_add_test(tcase, a_child_that_a_commit_callback_leaves_open_aborts_the_transaction);
    tcase_add_test(tcase, a_commit_callback_that_refuses_may_leave_a_child_open);
    tcase_add_test(tcase, a_commit_callback_may_write_through_a_child_of_its_own);
    tcase_add_test(tcase, a_row_keeps_its_key_when_an_equal_one_is_put);
    tcase_add_test(tcase, the_empty_key_is_a_key_and_may_be_null);
    tcase_add_test(tcase, a_cursor_on_the_empty_key_survives_changes);
    tcase_add_test(tcase, counters_that_grow_across_byte_boundaries_keep_the_tree_sound);
    tcase_add_test(tcase, a_small_environment_costs_little_on_an_arena_that_another_has_filled);
    tcase_add_test(tcase, cursors_on_another_table_stay_where_they_are_and_cost_a_put_nothing);
    tcase_add_test(tcase, beginning_a_write_transaction_allocates_nothing);
    tcase_add_test(tcase, counts_ranks_and_positions_do_not_visit_the_rows);
    tcase_add_test(tcase, a_deleted_range_does_not_visit_its_rows);
    tcase_add_test(tcase, a_sorted_load_looks_at_each_row_a_few_times);
    tcase_add_test(tcase, counting_the_values_of_a_key_does_not_visit_them);
    tcase_add_test(tcase, a_page_that_could_not_be_had_resolves_to_nothing);
#if SAP_SLOW_ASSERTS
    tcase_add_test(tcase, in_test_builds_a_value_kept_too_long_is_no_longer_there);
#endif
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
