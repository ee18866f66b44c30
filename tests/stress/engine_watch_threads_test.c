/* Watches while several threads commit. Clean under the thread sanitizer; bounded by counts of
 * commits, never by time. What a watch writes is not atomic: its calls must follow each other. */
#include "common/bytes.h"
#include "common/mem.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/model.h"
#include "support/suite.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TIMEOUT_S = 600, THREADS = 4, COMMITS = 400 };

/* Counts of one DB that its threads share. */
typedef struct Shared {
    SapEnv *db;
    uint64_t last;  /* the newest count that was told; written by the watch alone */
    uint64_t calls; /* so were these */
    int inside;
    atomic_ullong seen; /* `last`, for threads that want to know */
    atomic_ullong followed;
    atomic_uint running;
    atomic_uint registered;
    atomic_uint refused;
} Shared;

static Shared shared;
static size_t live_before;

static void set_up(void)
{
    live_before = mem_live_total();
    memset(&shared, 0, sizeof shared);
    shared.db = sap_db_open(NULL, 512, NULL, NULL);
    ck_assert_ptr_nonnull(shared.db);
    ck_assert_int_eq(sap_dbi_open(shared.db, 1, NULL, NULL, 0), SAP_OK);
}

static void tear_down(void)
{
    model_expect_verified(shared.db);
    ck_assert_int_eq(sap_db_close(shared.db), SAP_OK);
    ck_assert_uint_eq(mem_live_total(), live_before);
}

static SapTxnCtx *begin_writing(void)
{
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_txn_begin_rc(shared.db, NULL, SAP_TXN_WAIT, &txn), SAP_OK);
    return txn;
}

/* Adds one to the count at "n" and answers what it is in this transaction. */
static uint64_t count_on(SapTxnCtx *txn)
{
    const void *val = NULL;
    uint32_t len = 0;
    uint8_t next[8];
    int rc = sap_txn_get(txn, "n", 1, &val, &len);

    EXPECT(rc == SAP_NOTFOUND || (rc == SAP_OK && len == 8), "get answered %d", rc);
    uint64_t n = rc == SAP_OK ? load_u64le(val) + 1 : 1;
    store_u64le(next, n);
    EXPECT_RC(sap_txn_put(txn, "n", 1, next, 8), SAP_OK);
    return n;
}

static void run_threads(void *(*run)(void *), uint32_t count)
{
    pthread_t threads[8];

    EXPECT(count <= 8, "too many threads");
    atomic_store(&shared.running, count);
    for (uint32_t i = 0; i < count; i++) {
        EXPECT(pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)(i + 1)) == 0,
               "no thread");
    }
    for (uint32_t i = 0; i < count; i++) {
        EXPECT(pthread_join(threads[i], NULL) == 0, "no join");
    }
}

/* ---- Order ---------------------------------------------------------------------------------- */

static void note_count(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                       void *ctx)
{
    Shared *s = ctx;

    EXPECT(s->inside++ == 0, "two calls at once");
    EXPECT(key_len == 1 && memcmp(key, "n", 1) == 0 && val_len == 8, "another row");
    EXPECT(load_u64le(val) == s->last + 1, "count %llu after %llu",
           (unsigned long long)load_u64le(val), (unsigned long long)s->last);
    s->last++;
    s->calls++;
    atomic_store(&s->seen, s->last);
    s->inside--;
}

static void *count_and_check(void *arg)
{
    Choice choice;

    choice_from_seed(&choice, (uint64_t)(uintptr_t)arg);
    for (uint32_t i = 0; i < COMMITS; i++) {
        SapTxnCtx *txn = begin_writing();
        uint64_t n = count_on(txn);
        if (choice_one_in(&choice, 5)) {
            sap_txn_abort(txn);
            continue;
        }
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        EXPECT(atomic_load(&shared.seen) >= n, "commit %llu has returned and was not told of",
               (unsigned long long)n);
    }
    return NULL;
}

START_TEST(commits_of_many_threads_are_told_of_in_their_order)
{
    ck_assert_int_eq(sap_db_watch(shared.db, "n", 1, note_count, &shared), SAP_OK);
    run_threads(count_and_check, THREADS);
    printf("order: %llu commits told of\n", (unsigned long long)shared.calls);
    ck_assert_uint_gt(shared.calls, COMMITS);
    ck_assert_uint_eq(shared.calls, shared.last);
    ck_assert_int_eq(sap_db_unwatch(shared.db, "n", 1, note_count, &shared), SAP_OK);
}
END_TEST

/* ---- Commits inside calls ------------------------------------------------------------------- */

/* Follows each count with a commit of its own in another table. */
static void follow_count(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                         void *ctx)
{
    Shared *s = ctx;

    (void)val_len;
    SapTxnCtx *txn = begin_writing();
    EXPECT_RC(sap_txn_put_dbi(txn, 1, key, key_len, val, 8), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    s->calls++;
}

static void note_follower(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                          void *ctx)
{
    Shared *s = ctx;

    (void)key;
    (void)key_len;
    (void)val_len;
    EXPECT(load_u64le(val) == s->last + 1, "follower %llu after %llu",
           (unsigned long long)load_u64le(val), (unsigned long long)s->last);
    s->last++;
    atomic_fetch_add(&s->followed, 1);
}

static void *count_only(void *arg)
{
    (void)arg;
    for (uint32_t i = 0; i < COMMITS; i++) {
        SapTxnCtx *txn = begin_writing();
        count_on(txn);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    }
    return NULL;
}

START_TEST(a_call_may_commit_while_other_threads_do)
{
    ck_assert_int_eq(sap_db_watch(shared.db, "n", 1, follow_count, &shared), SAP_OK);
    ck_assert_int_eq(sap_db_watch_dbi(shared.db, 1, "", 0, note_follower, &shared), SAP_OK);
    run_threads(count_only, THREADS);
    ck_assert_uint_eq(shared.calls, THREADS * COMMITS);
    ck_assert_uint_eq(atomic_load(&shared.followed), THREADS * COMMITS);
    printf("followers: %llu\n", (unsigned long long)atomic_load(&shared.followed));
}
END_TEST

/* ---- Unregistering -------------------------------------------------------------------------- */

/* A watch whose call stays until it is let go. */
typedef struct Slow {
    atomic_int entered;
    atomic_int let_go;
    atomic_int returned; /* of db_unwatch() */
    int inside;          /* written by the watch, and after db_unwatch() by its caller */
} Slow;

static Slow slow;

static void stay(const void *key, uint32_t key_len, const void *val, uint32_t val_len, void *ctx)
{
    Slow *s = ctx;

    (void)key;
    (void)key_len;
    (void)val;
    (void)val_len;
    s->inside = 1;
    atomic_store(&s->entered, 1);
    while (atomic_load(&s->let_go) == 0) {
        sched_yield();
    }
    s->inside = 0;
}

static void *commit_once(void *arg)
{
    (void)arg;
    SapTxnCtx *txn = begin_writing();
    count_on(txn);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    return NULL;
}

static void *unwatch_slow(void *arg)
{
    (void)arg;
    EXPECT_RC(sap_db_unwatch(shared.db, "n", 1, stay, &slow), SAP_OK);
    EXPECT(slow.inside == 0, "a call was running");
    /* The caller may free what the watch used now. */
    slow.inside = 2;
    atomic_store(&slow.returned, 1);
    return NULL;
}

START_TEST(unwatch_waits_for_a_running_call)
{
    pthread_t committer;
    pthread_t unwatcher;

    memset(&slow, 0, sizeof slow);
    ck_assert_int_eq(sap_db_watch(shared.db, "n", 1, stay, &slow), SAP_OK);
    EXPECT(pthread_create(&committer, NULL, commit_once, NULL) == 0, "no thread");
    while (atomic_load(&slow.entered) == 0) {
        sched_yield();
    }
    EXPECT(pthread_create(&unwatcher, NULL, unwatch_slow, NULL) == 0, "no thread");
    usleep(100 * 1000);
    EXPECT(atomic_load(&slow.returned) == 0, "unwatch has returned from under a call");
    /* Nothing is locked meanwhile: others read and write tables that no one watches. */
    SapTxnCtx *txn = NULL;
    ck_assert_int_eq(sap_txn_begin_rc(shared.db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    ck_assert_int_eq(sap_txn_get(txn, "n", 1, NULL, NULL), SAP_OK);
    sap_txn_abort(txn);
    ck_assert_int_eq(sap_txn_begin_rc(shared.db, NULL, 0, &txn), SAP_OK);
    sap_txn_abort(txn);
    atomic_store(&slow.let_go, 1);
    EXPECT(pthread_join(committer, NULL) == 0, "no join");
    EXPECT(pthread_join(unwatcher, NULL) == 0, "no join");
    ck_assert_int_eq(slow.inside, 2);
    commit_once(NULL);
    ck_assert_int_eq(slow.inside, 2);
}
END_TEST

/* A registration of one thread, on its stack, gone when the function returns. */
typedef struct Brief {
    uint64_t calls;
    uint32_t magic;
} Brief;

static void note_brief(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                       void *ctx)
{
    Brief *brief = ctx;

    (void)key;
    (void)key_len;
    (void)val;
    (void)val_len;
    EXPECT(brief->magic == 0x600d, "a call after unwatch");
    brief->calls++;
}

static int until_not_busy(int (*call)(SapEnv *, const void *, uint32_t, sap_watch_fn, void *),
                          Brief *brief)
{
    for (;;) {
        int rc = call(shared.db, "n", 1, note_brief, brief);
        if (rc != SAP_BUSY) {
            return rc;
        }
        atomic_fetch_add(&shared.refused, 1);
        sched_yield();
    }
}

static uint64_t watch_briefly(void)
{
    Brief brief = {0, 0x600d};

    EXPECT_RC(until_not_busy(sap_db_watch, &brief), SAP_OK);
    atomic_fetch_add(&shared.registered, 1);
    sched_yield();
    EXPECT_RC(until_not_busy(sap_db_unwatch, &brief), SAP_OK);
    brief.magic = 0xdead;
    return brief.calls;
}

static void *watch_or_count(void *arg)
{
    uint64_t number = (uint64_t)(uintptr_t)arg;

    if (number <= 2) {
        count_only(NULL);
        atomic_fetch_sub(&shared.running, 1);
        return NULL;
    }
    uint64_t calls = 0;
    /* The writers are the first two of four. */
    while (atomic_load(&shared.running) > 2) {
        calls += watch_briefly();
    }
    atomic_fetch_add(&shared.followed, calls);
    return NULL;
}

START_TEST(watches_come_and_go_while_others_commit)
{
    run_threads(watch_or_count, 4);
    printf("brief watches: %u registered, %u times busy, %llu calls\n",
           atomic_load(&shared.registered), atomic_load(&shared.refused),
           (unsigned long long)atomic_load(&shared.followed));
}
END_TEST

/* Two watches that unregister each other's kind from inside their calls, in two threads. */
static void *commit_and_leave(void *arg)
{
    char key[8];
    int len = snprintf(key, sizeof key, "t%u", (unsigned)(uintptr_t)arg);

    for (uint32_t i = 0; i < COMMITS / 4; i++) {
        SapTxnCtx *txn = begin_writing();
        EXPECT_RC(sap_txn_put(txn, key, (uint32_t)len, "v", 1), SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    }
    return NULL;
}

static void leave_and_come_back(const void *key, uint32_t key_len, const void *val,
                                uint32_t val_len, void *ctx)
{
    Shared *s = ctx;
    char prefix[8];

    (void)val;
    (void)val_len;
    memcpy(prefix, key, key_len);
    /* Another thread's writer may be open: then the watch stays. */
    if (sap_db_unwatch(s->db, prefix, key_len, leave_and_come_back, ctx) == SAP_OK) {
        int rc = SAP_BUSY;
        while (rc == SAP_BUSY) {
            rc = sap_db_watch(s->db, prefix, key_len, leave_and_come_back, ctx);
            sched_yield();
        }
        EXPECT(rc == SAP_OK, "watch answered %d", rc);
    }
    atomic_fetch_add(&s->followed, 1);
}

START_TEST(watches_unregister_themselves_while_others_commit)
{
    char prefix[8];

    for (unsigned i = 1; i <= THREADS; i++) {
        int len = snprintf(prefix, sizeof prefix, "t%u", i);
        ck_assert_int_eq(
            sap_db_watch(shared.db, prefix, (uint32_t)len, leave_and_come_back, &shared), SAP_OK);
    }
    run_threads(commit_and_leave, THREADS);
    printf("self-unregistering: %llu calls\n", (unsigned long long)atomic_load(&shared.followed));
    ck_assert_uint_gt(atomic_load(&shared.followed), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_watch_threads");
    TCase *tcase = tcase_create("threads");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, commits_of_many_threads_are_told_of_in_their_order);
    tcase_add_test(tcase, a_call_may_commit_while_other_threads_do);
    tcase_add_test(tcase, unwatch_waits_for_a_running_call);
    tcase_add_test(tcase, watches_come_and_go_while_others_commit);
    tcase_add_test(tcase, watches_unregister_themselves_while_others_commit);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
