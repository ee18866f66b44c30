/* Readers, writers and table openers at once. Clean under the thread sanitizer; bounded by counts
 * of operations, never by time. SAP_TEST_SEED and SAP_TEST_SEEDS repeat and extend. */
#include "common/bytes.h"
#include "common/mem.h"
#include "support/backing.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/model.h"
#include "support/suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { TIMEOUT_S = 900, ACCOUNTS = 120, TOTAL = ACCOUNTS * 1000, MAX_PAD = 900 };

/* DBI 0 holds accounts, DBI 1 the same again; the sum over each is TOTAL in every commit. */
typedef struct Bank {
    SapEnv *db;
    uint64_t seed;
    uint32_t writer_rounds;
    uint32_t reader_rounds;
    atomic_uint next_thread;
    atomic_uint writers_left;
    atomic_ullong commits;
    atomic_ullong aborts;
    atomic_ullong children;
    atomic_ullong snapshots;
    atomic_ullong rows;
    atomic_ullong opened;
    atomic_ullong refused;
} Bank;

static SapTxnCtx *begin(SapEnv *db, SapTxnCtx *parent, unsigned flags)
{
    SapTxnCtx *txn = NULL;
    int rc = sap_txn_begin_rc(db, parent, flags, &txn);

    EXPECT(rc == SAP_OK && txn != NULL, "begin of a %s with flags %u answered %d",
           parent == NULL ? "transaction" : "child", flags, rc);
    return txn;
}

static void start(pthread_t *thread, void *(*run)(void *), void *arg)
{
    EXPECT(pthread_create(thread, NULL, run, arg) == 0, "no thread");
}

static void join_all(pthread_t *threads, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        EXPECT(pthread_join(threads[i], NULL) == 0, "no join");
    }
}

/* The amount, and a length that depends on it, so that a torn row is seen. */
static uint32_t encode_account(uint8_t *out, int64_t amount, uint32_t pad)
{
    store_u64le(out, (uint64_t)amount);
    store_u32le(out + 8, pad);
    memset(out + 12, (int)(pad & 0xff), pad);
    return 12 + pad;
}

static int64_t decode_account(const void *val, uint32_t val_len)
{
    const uint8_t *bytes = val;

    EXPECT(val_len >= 12, "an account of %u bytes", val_len);
    uint32_t pad = load_u32le(bytes + 8);
    EXPECT(val_len == 12 + pad, "an account of %u bytes with %u of padding", val_len, pad);
    for (uint32_t i = 0; i < pad; i += 61) {
        EXPECT(bytes[12 + i] == (uint8_t)pad, "torn padding");
    }
    return (int64_t)load_u64le(bytes);
}

static void put_account(SapTxnCtx *txn, uint32_t account, int64_t amount, Choice *choice)
{
    uint8_t key[4];
    uint8_t val[12 + MAX_PAD];
    uint32_t pad =
        choice_one_in(choice, 8) ? choice_below(choice, MAX_PAD) : choice_below(choice, 30);

    store_u32be(key, account);
    uint32_t len = encode_account(val, amount, pad);
    EXPECT_RC(sap_txn_put_dbi(txn, 0, key, 4, val, len), SAP_OK);
    EXPECT_RC(sap_txn_put_dbi(txn, 1, key, 4, val, len), SAP_OK);
}

/* An account that is missing holds nothing. */
static int64_t get_account(SapTxnCtx *txn, uint32_t account)
{
    uint8_t key[4];
    const void *val = NULL;
    uint32_t val_len = 0;

    store_u32be(key, account);
    int rc = sap_txn_get_dbi(txn, account % 2, key, 4, &val, &val_len);
    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "get answered %d", rc);
    return rc == SAP_OK ? decode_account(val, val_len) : 0;
}

static void set_account(SapTxnCtx *txn, uint32_t account, int64_t amount, Choice *choice)
{
    uint8_t key[4];

    if (amount != 0) {
        put_account(txn, account, amount, choice);
        return;
    }
    store_u32be(key, account);
    for (uint32_t dbi = 0; dbi < 2; dbi++) {
        int rc = sap_txn_del_dbi(txn, dbi, key, 4);
        EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "del answered %d", rc);
    }
}

static void transfer(SapTxnCtx *txn, Choice *choice)
{
    uint32_t from = choice_below(choice, ACCOUNTS);
    uint32_t to = choice_below(choice, ACCOUNTS);

    if (from == to) {
        return;
    }
    int64_t have = get_account(txn, from);
    int64_t amount = choice_one_in(choice, 4) ? have : have / 3;
    set_account(txn, from, have - amount, choice);
    set_account(txn, to, get_account(txn, to) + amount, choice);
}

/* Breaks the sum on purpose, in a child that is aborted. */
static void spoil_and_abort(Bank *bank, SapTxnCtx *txn, Choice *choice)
{
    SapTxnCtx *child = begin(bank->db, txn, 0);

    for (uint32_t i = 0; i < 10; i++) {
        put_account(child, choice_below(choice, ACCOUNTS), -12345, choice);
    }
    sap_txn_abort(child);
    atomic_fetch_add(&bank->aborts, 1);
}

static uint64_t sum_of(SapTxnCtx *txn, uint32_t dbi, int64_t *sum_out)
{
    SapCursor *cur = sap_cursor_open_dbi(txn, dbi);
    uint64_t rows = 0;
    int64_t sum = 0;

    EXPECT(cur != NULL, "no cursor");
    for (int rc = sap_cursor_first(cur); rc == SAP_OK; rc = sap_cursor_next(cur)) {
        const void *val = NULL;
        uint32_t val_len = 0;
        EXPECT_RC(sap_cursor_get(cur, NULL, NULL, &val, &val_len), SAP_OK);
        sum += decode_account(val, val_len);
        rows++;
    }
    sap_cursor_close(cur);
    *sum_out = sum;
    return rows;
}

static void expect_sums(Bank *bank, SapTxnCtx *txn)
{
    SapStat stats[2];

    for (uint32_t dbi = 0; dbi < 2; dbi++) {
        int64_t sum = 0;
        uint64_t rows = sum_of(txn, dbi, &sum);
        EXPECT(sum == TOTAL, "the sum of dbi %u is %lld", dbi, (long long)sum);
        EXPECT_RC(sap_dbi_stat(txn, dbi, &stats[dbi]), SAP_OK);
        EXPECT(stats[dbi].num_entries == rows, "dbi %u has %llu rows and says %llu", dbi,
               (unsigned long long)rows, (unsigned long long)stats[dbi].num_entries);
        atomic_fetch_add(&bank->rows, rows);
    }
    EXPECT(stats[0].num_entries == stats[1].num_entries, "the tables differ");
    EXPECT(stats[0].txnid == stats[1].txnid, "two snapshots in one transaction");
}

static void writer_round(Bank *bank, Choice *choice)
{
    SapTxnCtx *txn = begin(bank->db, NULL, SAP_TXN_WAIT);
    uint32_t transfers = 1 + choice_below(choice, 6);

    for (uint32_t i = 0; i < transfers; i++) {
        if (choice_one_in(choice, 3)) {
            SapTxnCtx *child = begin(bank->db, txn, 0);
            transfer(child, choice);
            if (choice_one_in(choice, 4)) {
                SapTxnCtx *reader = begin(bank->db, child, SAP_TXN_RDONLY);
                expect_sums(bank, reader);
                sap_txn_abort(reader);
            }
            EXPECT_RC(sap_txn_commit(child), SAP_OK);
            atomic_fetch_add(&bank->children, 1);
        } else {
            transfer(txn, choice);
        }
        if (choice_one_in(choice, 6)) {
            spoil_and_abort(bank, txn, choice);
        }
    }
    if (choice_one_in(choice, 7)) {
        sap_txn_abort(txn);
        atomic_fetch_add(&bank->aborts, 1);
    } else {
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        atomic_fetch_add(&bank->commits, 1);
    }
}

static void *run_writer(void *arg)
{
    Bank *bank = arg;
    Choice choice;

    choice_from_seed(&choice, bank->seed * 1000 + atomic_fetch_add(&bank->next_thread, 1));
    expect_context("bank writer, SAP_TEST_SEED=%llu", (unsigned long long)bank->seed);
    for (uint32_t i = 0; i < bank->writer_rounds; i++) {
        writer_round(bank, &choice);
    }
    atomic_fetch_sub(&bank->writers_left, 1);
    return NULL;
}

/* Some values seen early must be the same bytes at the same place at the end. */
static void reader_round(Bank *bank, Choice *choice)
{
    enum { SEEN = 6 };
    uint8_t copies[SEEN][12 + MAX_PAD];
    const void *seen[SEEN];
    uint32_t lens[SEEN];
    uint32_t count = 0;
    SapTxnCtx *txn = begin(bank->db, NULL, SAP_TXN_RDONLY);

    for (uint32_t i = 0; i < SEEN; i++) {
        uint8_t key[4];
        store_u32be(key, choice_below(choice, ACCOUNTS));
        if (sap_txn_get_dbi(txn, i % 2, key, 4, &seen[count], &lens[count]) == SAP_OK) {
            memcpy(copies[count], seen[count], lens[count]);
            count++;
        }
    }
    uint32_t walks = 1 + choice_below(choice, 3);
    for (uint32_t i = 0; i < walks; i++) {
        expect_sums(bank, txn);
        if (choice_one_in(choice, 4)) {
            SapTxnCtx *child = begin(bank->db, txn, SAP_TXN_RDONLY);
            expect_sums(bank, child);
            sap_txn_abort(child);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        EXPECT(memcmp(copies[i], seen[i], lens[i]) == 0, "a value changed under its reader");
    }
    sap_txn_abort(txn);
    atomic_fetch_add(&bank->snapshots, 1);
}

static void *run_reader(void *arg)
{
    Bank *bank = arg;
    Choice choice;

    choice_from_seed(&choice, bank->seed * 1000 + atomic_fetch_add(&bank->next_thread, 1));
    expect_context("bank reader, SAP_TEST_SEED=%llu", (unsigned long long)bank->seed);
    for (uint32_t i = 0; i < bank->reader_rounds; i++) {
        reader_round(bank, &choice);
    }
    return NULL;
}

/* Opens tables and asks for everything that a monitor would while the others work. */
static void *run_opener(void *arg)
{
    Bank *bank = arg;
    uint32_t dbi = 2;

    expect_context("bank opener, SAP_TEST_SEED=%llu", (unsigned long long)bank->seed);
    for (uint32_t i = 0; i < bank->reader_rounds * 4; i++) {
        SapStat stat;
        int rc = sap_dbi_open(bank->db, dbi, NULL, NULL, 0);
        EXPECT(rc == SAP_OK || rc == SAP_BUSY, "dbi_open answered %d", rc);
        if (rc == SAP_OK) {
            atomic_fetch_add(&bank->opened, 1);
            dbi = dbi == SAP_MAX_DBI ? 2 : dbi + 1;
        } else {
            atomic_fetch_add(&bank->refused, 1);
        }
        EXPECT_RC(sap_dbi_open(bank->db, 1, NULL, NULL, 0), SAP_OK);
        EXPECT_RC(sap_db_stat(bank->db, &stat), SAP_OK);
        EXPECT(stat.num_entries <= ACCOUNTS, "%llu accounts", (unsigned long long)stat.num_entries);
        EXPECT(sap_db_num_pages(bank->db) > 0, "no pages");
        if (i % 16 == 0) {
            model_expect_verified(bank->db);
        }
    }
    return NULL;
}

static int count_reader(const SapReaderInfo *info, void *ctx)
{
    (void)info;
    ++*(uint32_t *)ctx;
    return 0;
}

static void *run_monitor(void *arg)
{
    Bank *bank = arg;

    expect_context("bank monitor, SAP_TEST_SEED=%llu", (unsigned long long)bank->seed);
    for (uint32_t i = 0; i < bank->reader_rounds; i++) {
        uint32_t readers = 0;
        EXPECT_RC(sap_db_readers(bank->db, count_reader, &readers), SAP_OK);
        EXPECT(readers <= 64, "%u readers", readers);
        EXPECT_RC(sap_db_wait_durable(bank->db, sap_db_durable_lsn(bank->db)), SAP_OK);
        EXPECT_RC(sap_db_close(bank->db), SAP_BUSY);
    }
    return NULL;
}

static void bank_open(Bank *bank, SapMemArena *arena, uint32_t page_size, uint64_t seed)
{
    Choice choice;

    memset(bank, 0, sizeof *bank);
    bank->seed = seed;
    bank->db = sap_db_open(arena, page_size, NULL, NULL);
    EXPECT(bank->db != NULL, "no DB");
    EXPECT_RC(sap_dbi_open(bank->db, 1, NULL, NULL, 0), SAP_OK);
    choice_from_seed(&choice, seed);
    SapTxnCtx *txn = begin(bank->db, NULL, 0);
    for (uint32_t i = 0; i < ACCOUNTS; i++) {
        put_account(txn, i, TOTAL / ACCOUNTS, &choice);
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

static void run_bank(BackingKind kind, uint32_t page_size, uint64_t seed)
{
    enum { WRITERS = 3, READERS = 4 };
    pthread_t threads[WRITERS + READERS + 2];
    Backing backing;
    Bank bank;
    uint32_t count = 0;
    size_t live = mem_live_total();

    backing_open(&backing, kind, page_size, UINT64_C(256) << 20);
    bank_open(&bank, backing.arena, page_size, seed);
    bank.writer_rounds = 500;
    bank.reader_rounds = 150;
    atomic_store(&bank.writers_left, WRITERS);
    /* Held open, so that closing the DB is refused and an old snapshot lives through it all. */
    SapTxnCtx *old = begin(bank.db, NULL, SAP_TXN_RDONLY);
    for (uint32_t i = 0; i < WRITERS; i++) {
        start(&threads[count++], run_writer, &bank);
    }
    for (uint32_t i = 0; i < READERS; i++) {
        start(&threads[count++], run_reader, &bank);
    }
    start(&threads[count++], run_opener, &bank);
    start(&threads[count++], run_monitor, &bank);
    join_all(threads, count);
    expect_sums(&bank, old);
    sap_txn_abort(old);
    model_expect_verified(bank.db);
    SapTxnCtx *last = begin(bank.db, NULL, SAP_TXN_RDONLY);
    expect_sums(&bank, last);
    sap_txn_abort(last);
    EXPECT_RC(sap_db_close(bank.db), SAP_OK);
    backing_close(&backing);
    EXPECT(mem_live_total() == live, "%zu bytes live instead of %zu", mem_live_total(), live);
    printf("bank, seed %llu, %s arena, page size %u: %llu commits, %llu aborts, %llu children, "
           "%llu snapshots, %llu rows, %llu tables opened, %llu refused\n",
           (unsigned long long)seed, backing_name(kind), page_size,
           (unsigned long long)atomic_load(&bank.commits),
           (unsigned long long)atomic_load(&bank.aborts),
           (unsigned long long)atomic_load(&bank.children),
           (unsigned long long)atomic_load(&bank.snapshots),
           (unsigned long long)atomic_load(&bank.rows),
           (unsigned long long)atomic_load(&bank.opened),
           (unsigned long long)atomic_load(&bank.refused));
    fflush(stdout);
    EXPECT(atomic_load(&bank.commits) != 0 && atomic_load(&bank.snapshots) != 0, "an empty run");
}

START_TEST(every_snapshot_has_the_same_sum_in_both_tables)
{
    static const uint32_t page_sizes[] = {256, 1024, 4096};
    uint64_t first = choice_first_seed();
    uint64_t count = choice_seed_count(5);

    for (uint64_t seed = first; seed < first + count; seed++) {
        run_bank((BackingKind)(seed % BACKING_KIND_COUNT), page_sizes[seed % 3], seed);
    }
}
END_TEST

/* ---- Tables opened beside short transactions ------------------------------------------------ */

static void *run_short_transactions(void *arg)
{
    Bank *bank = arg;
    Choice choice;

    choice_from_seed(&choice, atomic_fetch_add(&bank->next_thread, 1));
    for (uint32_t i = 0; i < 1500; i++) {
        bool reads = choice_one_in(&choice, 2);
        SapTxnCtx *txn = begin(bank->db, NULL, reads ? SAP_TXN_RDONLY : SAP_TXN_WAIT);
        if (reads) {
            get_account(txn, choice_below(&choice, ACCOUNTS));
        } else {
            transfer(txn, &choice);
        }
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        if (i % 64 == 0) {
            sched_yield();
        }
    }
    atomic_fetch_sub(&bank->writers_left, 1);
    return NULL;
}

START_TEST(tables_open_between_transactions_or_are_refused)
{
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    Bank bank;
    uint32_t dbi = 2;

    bank_open(&bank, NULL, 512, 99);
    atomic_store(&bank.writers_left, THREADS);
    for (uint32_t i = 0; i < THREADS; i++) {
        start(&threads[i], run_short_transactions, &bank);
    }
    while (dbi <= SAP_MAX_DBI && atomic_load(&bank.writers_left) != 0) {
        int rc = sap_dbi_open(bank.db, dbi, NULL, NULL, 0);
        EXPECT(rc == SAP_OK || rc == SAP_BUSY, "dbi_open answered %d", rc);
        atomic_fetch_add(rc == SAP_OK ? &bank.opened : &bank.refused, 1);
        if (rc == SAP_OK) {
            SapTxnCtx *txn = begin(bank.db, NULL, SAP_TXN_WAIT);
            EXPECT_RC(sap_txn_put_dbi(txn, dbi, "k", 1, "v", 1), SAP_OK);
            EXPECT_RC(sap_txn_commit(txn), SAP_OK);
            dbi++;
        }
    }
    join_all(threads, THREADS);
    EXPECT_RC(sap_dbi_open(bank.db, SAP_MAX_DBI, NULL, NULL, 0), SAP_OK);
    SapTxnCtx *txn = begin(bank.db, NULL, SAP_TXN_RDONLY);
    for (uint32_t i = 2; i < dbi; i++) {
        EXPECT_RC(sap_txn_get_dbi(txn, i, "k", 1, NULL, NULL), SAP_OK);
    }
    expect_sums(&bank, txn);
    sap_txn_abort(txn);
    printf("opener: %llu tables opened, %llu times refused\n",
           (unsigned long long)atomic_load(&bank.opened),
           (unsigned long long)atomic_load(&bank.refused));
    model_expect_verified(bank.db);
    EXPECT_RC(sap_db_close(bank.db), SAP_OK);
}
END_TEST

/* ---- The writer lock ------------------------------------------------------------------------ */

typedef struct Counter {
    SapEnv *db;
    uint32_t rounds;
    bool with_hog; /* begin when the hog has */
    atomic_uint unfinished;
    atomic_ullong hog_commits;
    atomic_ullong busy;
} Counter;

static void increment(Counter *counter, const char *key, unsigned flags)
{
    SapTxnCtx *txn = NULL;
    const void *val = NULL;
    uint32_t val_len = 0;
    uint8_t word[8];
    int rc;

    while ((rc = sap_txn_begin_rc(counter->db, NULL, flags, &txn)) == SAP_BUSY) {
        EXPECT((flags & SAP_TXN_WAIT) == 0, "busy in spite of waiting");
        atomic_fetch_add(&counter->busy, 1);
        sched_yield();
    }
    EXPECT(rc == SAP_OK, "begin answered %d", rc);
    rc = sap_txn_get(txn, key, (uint32_t)strlen(key), &val, &val_len);
    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "get answered %d", rc);
    store_u64be(word, rc == SAP_OK ? load_u64be(val) + 1 : 1);
    EXPECT_RC(sap_txn_put(txn, key, (uint32_t)strlen(key), word, 8), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

static uint64_t counted(SapEnv *db, const char *key)
{
    SapTxnCtx *txn = begin(db, NULL, SAP_TXN_RDONLY);
    const void *val = NULL;
    uint32_t val_len = 0;

    EXPECT_RC(sap_txn_get(txn, key, (uint32_t)strlen(key), &val, &val_len), SAP_OK);
    EXPECT(val_len == 8, "a counter of %u bytes", val_len);
    uint64_t value = load_u64be(val);
    sap_txn_abort(txn);
    return value;
}

static void *run_waiting(void *arg)
{
    Counter *counter = arg;

    while (counter->with_hog && atomic_load(&counter->hog_commits) == 0) {
        sched_yield();
    }
    for (uint32_t i = 0; i < counter->rounds; i++) {
        increment(counter, "count", SAP_TXN_WAIT);
    }
    atomic_fetch_sub(&counter->unfinished, 1);
    return NULL;
}

static void *run_retrying(void *arg)
{
    Counter *counter = arg;

    for (uint32_t i = 0; i < counter->rounds; i++) {
        increment(counter, "count", 0);
    }
    atomic_fetch_sub(&counter->unfinished, 1);
    return NULL;
}

/* Takes the lock again at once after each commit, as long as anyone else is at work. */
static void *run_hog(void *arg)
{
    Counter *counter = arg;

    while (atomic_load(&counter->unfinished) != 0) {
        increment(counter, "hog", SAP_TXN_WAIT);
        atomic_fetch_add(&counter->hog_commits, 1);
    }
    return NULL;
}

START_TEST(increments_from_many_threads_add_up)
{
    enum { WAITING = 6, RETRYING = 2, ROUNDS = 1500 };
    pthread_t threads[WAITING + RETRYING];
    Counter counter;

    memset(&counter, 0, sizeof counter);
    counter.db = sap_db_open(NULL, 512, NULL, NULL);
    counter.rounds = ROUNDS;
    for (uint32_t i = 0; i < WAITING + RETRYING; i++) {
        start(&threads[i], i < WAITING ? run_waiting : run_retrying, &counter);
    }
    join_all(threads, WAITING + RETRYING);
    ck_assert_uint_eq(counted(counter.db, "count"), (WAITING + RETRYING) * ROUNDS);
    printf("increments: %d, %llu times busy\n", (WAITING + RETRYING) * ROUNDS,
           (unsigned long long)atomic_load(&counter.busy));
    EXPECT_RC(sap_db_close(counter.db), SAP_OK);
}
END_TEST

START_TEST(every_waiter_gets_its_turn_beside_one_that_never_rests)
{
    enum { WAITING = 4, ROUNDS = 100 };
    pthread_t threads[WAITING + 1];
    Counter counter;

    memset(&counter, 0, sizeof counter);
    counter.db = sap_db_open(NULL, 512, NULL, NULL);
    counter.rounds = ROUNDS;
    counter.with_hog = true;
    atomic_store(&counter.unfinished, WAITING);
    start(&threads[WAITING], run_hog, &counter);
    for (uint32_t i = 0; i < WAITING; i++) {
        start(&threads[i], run_waiting, &counter);
    }
    join_all(threads, WAITING + 1);
    uint64_t hog = atomic_load(&counter.hog_commits);
    printf("turns: %d waiters with %d turns each beside %llu of the hog\n", WAITING, ROUNDS,
           (unsigned long long)hog);
    ck_assert_uint_eq(counted(counter.db, "count"), WAITING * ROUNDS);
    ck_assert_uint_gt(hog, 0);
    ck_assert_uint_eq(counted(counter.db, "hog"), hog);
    EXPECT_RC(sap_db_close(counter.db), SAP_OK);
}
END_TEST

/* ---- Transactions are not bound to threads -------------------------------------------------- */

static void *commit_for_another(void *arg)
{
    SapTxnCtx *txn = arg;

    EXPECT_RC(sap_txn_put(txn, "second", 6, "there", 5), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    return NULL;
}

static void *end_reader_for_another(void *arg)
{
    SapTxnCtx *txn = arg;

    EXPECT_RC(sap_txn_get(txn, "first", 5, NULL, NULL), SAP_NOTFOUND);
    sap_txn_abort(txn);
    return NULL;
}

START_TEST(a_transaction_may_pass_from_thread_to_thread)
{
    SapEnv *db = sap_db_open(NULL, 512, NULL, NULL);

    for (uint32_t i = 0; i < 20; i++) {
        pthread_t threads[2];
        SapTxnCtx *reader = begin(db, NULL, SAP_TXN_RDONLY);
        SapTxnCtx *txn = begin(db, NULL, SAP_TXN_WAIT);
        EXPECT_RC(sap_txn_put(txn, "first", 5, "here", 4), SAP_OK);
        start(&threads[0], commit_for_another, txn);
        start(&threads[1], end_reader_for_another, reader);
        join_all(threads, 2);
        reader = begin(db, NULL, SAP_TXN_RDONLY);
        EXPECT_RC(sap_txn_get(reader, "second", 6, NULL, NULL), SAP_OK);
        sap_txn_abort(reader);
        txn = begin(db, NULL, SAP_TXN_WAIT);
        EXPECT_RC(sap_txn_del(txn, "first", 5), SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    }
    EXPECT_RC(sap_db_close(db), SAP_OK);
}
END_TEST

/* ---- One arena, many environments ----------------------------------------------------------- */

static void *run_environment(void *arg)
{
    static atomic_ullong seeds;
    SapMemArena *arena = arg;
    Choice choice;

    choice_from_seed(&choice, atomic_fetch_add(&seeds, 1));
    for (uint32_t i = 0; i < 8; i++) {
        Bank bank;
        bank_open(&bank, arena, 0, i);
        for (uint32_t j = 0; j < 40; j++) {
            writer_round(&bank, &choice);
        }
        SapTxnCtx *txn = begin(bank.db, NULL, SAP_TXN_RDONLY);
        expect_sums(&bank, txn);
        sap_txn_abort(txn);
        EXPECT_RC(sap_db_close(bank.db), SAP_OK);
    }
    return NULL;
}

START_TEST(threads_with_their_own_environments_can_share_an_arena)
{
    enum { THREADS = 4 };

    for (int kind = 0; kind < BACKING_KIND_COUNT; kind++) {
        pthread_t threads[THREADS];
        Backing backing;
        backing_open(&backing, (BackingKind)kind, 512, UINT64_C(64) << 20);
        for (uint32_t i = 0; i < THREADS; i++) {
            start(&threads[i], run_environment, backing.arena);
        }
        join_all(threads, THREADS);
        backing_close(&backing);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_readers_writer_threads");
    TCase *tcase = tcase_create("threads");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, every_snapshot_has_the_same_sum_in_both_tables);
    tcase_add_test(tcase, tables_open_between_transactions_or_are_refused);
    tcase_add_test(tcase, increments_from_many_threads_add_up);
    tcase_add_test(tcase, every_waiter_gets_its_turn_beside_one_that_never_rests);
    tcase_add_test(tcase, a_transaction_may_pass_from_thread_to_thread);
    tcase_add_test(tcase, threads_with_their_own_environments_can_share_an_arena);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
