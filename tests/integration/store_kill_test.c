/* Real deaths of a process that works on a store: producers make rows under a guard, claimers move them,
 * and both tell the parent through a pipe what is durable. The process is killed at any moment, again and
 * again, also while it opens the file. What was told is there, and each row is in one place.
 *
 * SAP_KILLS says how many deaths, SAP_KILL_SECONDS how long to go on instead; SAP_TEST_SEED decides the
 * moments. */
#include "common/bytes.h"
#include "common/random.h"
#include "sapling/store.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TIMEOUT_S = 300,
    KILLS = 30,
    KILLS_PER_FILE = 10,
    PRODUCERS = 2,
    CLAIMERS = 2,
    MOST_CLAIMED = 8,
    NUMBERS = 16, /* table: a role -> the number of its last commit */
    READY = 17,   /* table: producer and number -> nothing */
    TAKEN = 18,   /* table: producer and number -> claimer and the number of its claim */
};

/* Roles have numbers of their own: producers from 0 on, then claimers. */
enum { ROLES = PRODUCERS + CLAIMERS };

/* What the child says is durable. */
typedef struct Told {
    uint32_t role;
    uint32_t rows;   /* that the claim moved */
    uint64_t number; /* of the role's commit */
} Told;

typedef struct Killing {
    FileBed bed;
    char url[FILES_PATH_MAX + 16];
    uint64_t seed;
    SapStore *store;         /* the child's */
    int told_fd;             /* the child's */
    uint64_t told[ROLES];    /* the parent's: the last number of each role */
    uint64_t claimed[ROLES]; /* rows moved by claims up to that number */
} Killing;

typedef struct Worker {
    Killing *killing;
    uint32_t role;
    Rng rng;
} Worker;

static const uint32_t tables[] = {NUMBERS, READY, TAKEN};

static SapStore *open_store(const Killing *killing)
{
    SapStore *store = NULL;
    SapStoreOptions options = {.tables = tables, .table_count = 3, .schema = "kill@1"};
    EXPECT(sap_store_open(killing->url, &options, &store) == SAP_OK, "%s", sap_open_error());
    return store;
}

static uint64_t get_number(SapStoreTxn *txn, uint32_t role)
{
    uint8_t key[4];
    const void *val = NULL;
    uint32_t len = 0;
    store_u32be(key, role);
    int rc = sap_store_get(txn, NUMBERS, key, sizeof key, &val, &len);
    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "get returned %d", rc);
    return rc == SAP_OK ? load_u64be(val) : 0;
}

static void put_number(SapStoreTxn *txn, uint32_t role, uint64_t number)
{
    uint8_t key[4];
    uint8_t val[8];
    store_u32be(key, role);
    store_u64be(val, number);
    EXPECT_RC(sap_store_put(txn, NUMBERS, key, sizeof key, val, sizeof val), SAP_OK);
}

/* ---- The child ------------------------------------------------------------------------------- */

static SapStoreTxn *begin(const Worker *worker, SapStoreKind kind)
{
    SapStoreTxn *txn = NULL;
    EXPECT_RC(sap_store_begin(worker->killing->store, kind, &txn), SAP_OK);
    return txn;
}

static SapStoreTxn *begin_guarded(const Worker *worker)
{
    uint8_t key[4];
    SapStoreGuard guard = {NUMBERS, key, sizeof key, true};
    SapStoreTxn *txn = begin(worker, SAP_STORE_GUARDED);
    store_u32be(key, worker->role);
    EXPECT_RC(sap_store_guard(txn, &guard, 1), SAP_OK);
    return txn;
}

/* Commits, in one of two ways, and tells what is durable then. */
static void commit_and_tell(Worker *worker, SapStoreTxn *txn, uint64_t number, uint32_t rows)
{
    Told told = {worker->role, rows, number};
    if (rng_chance(&worker->rng, 1, 3)) {
        uint64_t mark = 0;
        EXPECT_RC(sap_store_commit_async(txn, &mark, NULL), SAP_OK);
        EXPECT_RC(sap_store_wait_durable(worker->killing->store, mark), SAP_OK);
    } else {
        EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
    }
    EXPECT(write(worker->killing->told_fd, &told, sizeof told) == (ssize_t)sizeof told,
           "the parent does not listen");
}

static void put_row(const Worker *worker, SapStoreTxn *txn, uint64_t number)
{
    uint8_t key[12];
    store_u32be(key, worker->role);
    store_u64be(key + 4, number);
    EXPECT_RC(sap_store_put_if_absent(txn, READY, key, sizeof key, "", 0), SAP_OK);
}

/* Sometimes a commit that nobody waits for comes first: what follows it acknowledges it too. */
static void produce(Worker *worker)
{
    SapStoreTxn *txn = begin_guarded(worker);
    uint64_t number = get_number(txn, worker->role) + 1;
    put_row(worker, txn, number);
    put_number(txn, worker->role, number);
    if (rng_chance(&worker->rng, 1, 4)) {
        uint64_t mark = 0;
        EXPECT_RC(sap_store_commit_async(txn, &mark, NULL), SAP_OK);
        txn = begin_guarded(worker); /* writes nothing, and tells what it has read */
        EXPECT(get_number(txn, worker->role) == number, "another number than the one committed");
    }
    commit_and_tell(worker, txn, number, 0);
}

typedef struct Claim {
    uint8_t value[12]; /* claimer and number */
} Claim;

static int take_row(void *ctx, SapStoreTxn *txn, const SapStoreRow *row, SapStoreTarget *target)
{
    const Claim *claim = (const Claim *)ctx;
    (void)txn;
    *target = (SapStoreTarget){TAKEN, {row->key, claim->value, row->key_len, sizeof claim->value}};
    return SAP_OK;
}

/* Waits for rows where there are none. */
static void claim(Worker *worker)
{
    const SapStoreRange range = {.table = READY};
    const SapStorePrefix all = {.table = READY};
    Claim claim;
    uint32_t count = 0;
    SapStoreTxn *txn = begin(worker, SAP_STORE_CLAIM);
    uint64_t version = sap_store_version(txn);
    uint64_t number = get_number(txn, worker->role) + 1;
    uint32_t limit = 1 + (uint32_t)rng_below(&worker->rng, MOST_CLAIMED);
    store_u32be(claim.value, worker->role);
    store_u64be(claim.value + 4, number);
    EXPECT_RC(sap_store_claim(txn, &range, limit, take_row, &claim, &count), SAP_OK);
    if (count > 0) {
        put_number(txn, worker->role, number);
        commit_and_tell(worker, txn, number, count);
        return;
    }
    sap_store_abort(txn);
    (void)sap_store_wait(worker->killing->store, SAP_STORE_READ_NEWEST, &all, version, 1000000000);
}

static void *work_forever(void *arg)
{
    Worker *worker = (Worker *)arg;
    for (;;) {
        if (worker->role < PRODUCERS) {
            produce(worker);
        } else {
            claim(worker);
        }
    }
    return NULL;
}

static _Noreturn void live(Killing *killing, uint64_t seed)
{
    static Worker workers[ROLES];
    static pthread_t threads[ROLES];
    killing->store = open_store(killing);
    for (uint32_t i = 0; i < ROLES; i++) {
        workers[i] = (Worker){.killing = killing, .role = i};
        rng_seed(&workers[i].rng, seed * ROLES + i);
        EXPECT(pthread_create(&threads[i], NULL, work_forever, &workers[i]) == 0, "no thread");
    }
    (void)pthread_join(threads[0], NULL);
    abort();
}

/* ---- The parent ------------------------------------------------------------------------------ */

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void hear(Killing *killing, const Told *told)
{
    EXPECT(told->role < ROLES && told->number == killing->told[told->role] + 1,
           "role %u committed %" PRIu64 " after %" PRIu64, told->role, told->number,
           told->role < ROLES ? killing->told[told->role] : 0);
    killing->told[told->role] = told->number;
    killing->claimed[told->role] += told->rows;
}

/* Returns false at the end of the pipe. */
static bool hear_some(Killing *killing, int fd)
{
    Told told[256];
    ssize_t got = read(fd, told, sizeof told);
    EXPECT(got >= 0 && (size_t)got % sizeof told[0] == 0, "read returned %zd", got);
    for (size_t i = 0; i < (size_t)got / sizeof told[0]; i++) {
        hear(killing, &told[i]);
    }
    return got > 0;
}

/* Hears what the child tells until then; the child does not end by itself. */
static void hear_until(Killing *killing, int fd, uint64_t end_ns)
{
    for (uint64_t now = now_ns(); now < end_ns; now = now_ns()) {
        struct pollfd one = {.fd = fd, .events = POLLIN};
        struct timespec left = {.tv_sec = (time_t)((end_ns - now) / 1000000000),
                                .tv_nsec = (long)((end_ns - now) % 1000000000)};
        if (ppoll(&one, 1, &left, NULL) == 1) {
            EXPECT(hear_some(killing, fd), "the child has ended by itself");
        }
    }
}

static void wait_for_word(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    EXPECT(poll(&one, 1, 60000) == 1, "the child says nothing");
}

/* Half of the children live until they have said something, the others may die in recovery. */
static void live_and_be_killed(Killing *killing, Rng *rng, uint64_t death)
{
    bool any_time = rng_chance(rng, 1, 2);
    int fds[2];
    int status = 0;
    EXPECT(pipe(fds) == 0, "no pipe");
    (void)fflush(NULL);
    pid_t pid = fork();
    EXPECT(pid >= 0, "no process");
    if (pid == 0) {
        (void)close(fds[0]);
        killing->told_fd = fds[1];
        live(killing, killing->seed * 1000 + death);
    }
    (void)close(fds[1]);
    if (!any_time) {
        wait_for_word(fds[0]);
    }
    hear_until(killing, fds[0], now_ns() + rng_below(rng, any_time ? 40000 : 120000) * 1000);
    EXPECT(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid, "no child");
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the child failed with status %d",
           status);
    while (hear_some(killing, fds[0])) {
    }
    (void)close(fds[0]);
}

/* What the rows say: which numbers each producer has made, and how many rows each claimer has moved, in
 * claims that were told and in the one that may not have been. */
typedef struct Found {
    uint64_t numbers[ROLES];  /* of the last commits */
    uint8_t *made[PRODUCERS]; /* 1 for each number that has a row */
    uint64_t claimed[ROLES];
    uint64_t untold[ROLES];
} Found;

static void note_row(const Killing *killing, const SapStoreRow *row, uint32_t table, Found *found)
{
    const uint8_t *key = (const uint8_t *)row->key;
    const uint8_t *val = (const uint8_t *)row->val;
    EXPECT(row->key_len == 12 && load_u32be(key) < PRODUCERS, "a row that nobody made");
    uint32_t producer = load_u32be(key);
    uint64_t number = load_u64be(key + 4);
    EXPECT(number > 0 && number <= found->numbers[producer], "a row of no commit");
    EXPECT(found->made[producer][number] == 0, "row %" PRIu64 " is in two places", number);
    found->made[producer][number] = 1;
    if (table == TAKEN) {
        EXPECT(row->val_len == 12 && load_u32be(val) < ROLES, "a claim of nobody");
        uint32_t role = load_u32be(val);
        found->claimed[role] += load_u64be(val + 4) <= killing->told[role];
        found->untold[role] += load_u64be(val + 4) > killing->told[role];
    }
}

static void note_rows(const Killing *killing, SapStoreTxn *txn, uint32_t table, Found *found)
{
    const SapStoreRange all = {.table = table};
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    EXPECT_RC(sap_store_scan(txn, &all, false, UINT32_MAX, &rows, &count), SAP_OK);
    for (uint32_t i = 0; i < count; i++) {
        note_row(killing, &rows[i], table, found);
    }
}

static void find_everything(const Killing *killing, Found *found)
{
    SapStoreTxn *txn = NULL;
    SapStore *store = open_store(killing);
    EXPECT_RC(sap_store_begin(store, SAP_STORE_READ_DURABLE, &txn), SAP_OK);
    for (uint32_t role = 0; role < ROLES; role++) {
        found->numbers[role] = get_number(txn, role);
    }
    for (uint32_t role = 0; role < PRODUCERS; role++) {
        found->made[role] = (uint8_t *)calloc(1, found->numbers[role] + 1);
        EXPECT(found->made[role] != NULL, "no memory");
    }
    note_rows(killing, txn, READY, found);
    note_rows(killing, txn, TAKEN, found);
    sap_store_abort(txn);
    EXPECT_RC(sap_store_close(store), SAP_OK);
}

/* Frees what was found. */
static void expect_made(Found *found, uint32_t producer)
{
    for (uint64_t number = 1; number <= found->numbers[producer]; number++) {
        EXPECT(found->made[producer][number] == 1, "row %" PRIu64 " is lost", number);
    }
    free(found->made[producer]);
}

static void expect_role(Killing *killing, const Found *found, uint32_t role)
{
    uint64_t number = found->numbers[role];
    uint64_t told = killing->told[role];
    EXPECT(number == told || number == told + 1,
           "role %u: commit %" PRIu64 " was told, %" PRIu64 " is last", role, told, number);
    EXPECT(found->claimed[role] == killing->claimed[role],
           "claimer %u moved %" PRIu64 " rows, %" PRIu64 " have moved", role,
           killing->claimed[role], found->claimed[role]);
    EXPECT((found->untold[role] > 0) == (role >= PRODUCERS && number > told),
           "claimer %u: a claim is there in part", role);
    killing->told[role] = number; /* from now on it must stay */
    killing->claimed[role] += found->untold[role];
}

/* Returns the commits that there are. */
static uint64_t expect_everything(Killing *killing)
{
    Found found = {{0}, {0}, {0}, {0}};
    uint64_t commits = 0;
    find_everything(killing, &found);
    for (uint32_t role = 0; role < ROLES; role++) {
        expect_role(killing, &found, role);
        commits += found.numbers[role];
    }
    for (uint32_t producer = 0; producer < PRODUCERS; producer++) {
        expect_made(&found, producer);
    }
    return commits;
}

/* A file of its own, through some deaths. Returns the commits it holds in the end. */
static uint64_t kill_file(uint64_t seed, uint64_t kills)
{
    Killing *killing = (Killing *)calloc(1, sizeof *killing);
    Rng rng;
    uint64_t commits = 0;
    EXPECT(killing != NULL, "no memory");
    killing->seed = seed;
    rng_seed(&rng, seed);
    file_bed_start(&killing->bed);
    (void)snprintf(killing->url, sizeof killing->url, "sapling:%s", killing->bed.path);
    for (uint64_t i = 0; i < kills; i++) {
        expect_context("SAP_TEST_SEED=%" PRIu64 ", death %" PRIu64, seed, i + 1);
        live_and_be_killed(killing, &rng, i);
        commits = expect_everything(killing);
    }
    file_bed_end(&killing->bed);
    free(killing);
    return commits;
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text == NULL || *text == '\0' ? otherwise : strtoull(text, NULL, 10);
}

START_TEST(killed_process_loses_nothing_acknowledged_and_no_row_is_in_two_places)
{
    uint64_t seed = choice_first_seed();
    uint64_t seconds = number_from("SAP_KILL_SECONDS", 0);
    uint64_t kills = seconds != 0 ? UINT64_MAX : number_from("SAP_KILLS", KILLS);
    uint64_t end_ns = now_ns() + seconds * UINT64_C(1000000000);
    uint64_t done = 0;
    uint64_t commits = 0;
    for (; done < kills && (seconds == 0 || now_ns() < end_ns); seed++) {
        uint64_t part = kills - done < KILLS_PER_FILE ? kills - done : KILLS_PER_FILE;
        commits += kill_file(seed, part);
        done += part;
    }
    (void)printf("store_kill: %" PRIu64 " kills, %" PRIu64 " commits, seeds %" PRIu64 " to %" PRIu64
                 "\n",
                 done, commits, choice_first_seed(), seed - 1);
    EXPECT(done > 0 && commits > 0, "nothing was tried");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_kill");
    TCase *tc = tcase_create("store_kill");
    tcase_set_timeout(tc, (double)(TIMEOUT_S + 2 * number_from("SAP_KILL_SECONDS", 0)));
    tcase_add_test(tc, killed_process_loses_nothing_acknowledged_and_no_row_is_in_two_places);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
