/* What a PostgreSQL server, or the connection to it, can do to a store: it is killed, replaced by its
 * standby, cut off at any message, or cancels a commit. What was acknowledged is there, what was refused
 * is not, and what is unknown is there as a whole or not at all. */
#include "common/bytes.h"
#include "common/mem.h"
#include "common/random.h"
#include "sapling/store.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/store_pg_server.h"
#include "support/store_proxy.h"
#include "support/store_suite.h"
#include "support/suite.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    COUNTERS = 16, /* table: a counter's number -> its value */
    ROWS = 17,     /* table: thread and number of the transaction -> nothing */
    TIMEOUT_S = 300,
    THREADS = 4,
    COUNTER_COUNT = 3,
    MOST_OPS = 400000, /* of one thread in all rounds */
    KILLS = 6,
    AFTER = 20,       /* acknowledged by each thread before a round ends */
    ROUND_MS = 60000, /* at most, for the store to go on */
    MOST_MESSAGES = 400,
    HELD_MS = 6000, /* 5 s and some slack */
    TAKEOVER_MS = 20000,
};

static PgServer server;

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void nap_ms(uint64_t ms)
{
    struct timespec time = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

static SapStoreOptions fault_options(void)
{
    static const uint32_t tables[] = {COUNTERS, ROWS};
    return (SapStoreOptions){.size = sizeof(SapStoreOptions), .tables = tables, .table_count = 2};
}

static void init_url(const char *url)
{
    SapStoreOptions options = fault_options();
    int rc = sap_store_init(url, &options);
    EXPECT(rc == SAP_OK, "init: %s: %s", code_name(rc), sap_open_error());
}

static SapStore *open_url(const char *url)
{
    SapStoreOptions options = fault_options();
    SapStore *store = NULL;
    int rc = sap_store_open(url, &options, &store);
    EXPECT(rc == SAP_OK, "open of %s: %s: %s", url, code_name(rc), sap_open_error());
    return store;
}

static void close_store(SapStore *store)
{
    EXPECT_RC(sap_store_close(store), SAP_OK);
    EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes are left", mem_live_bytes(MEM_STORE));
}

/* ---- Load: guarded increments, each with a row of its own ----------------------------------------- */

typedef enum Outcome { REFUSED, ACKNOWLEDGED, UNKNOWN } Outcome;

typedef struct Load Load;

typedef struct Worker {
    Load *load;
    uint32_t number;
    pthread_t thread;
    uint8_t *outcomes; /* by transaction */
    uint32_t count;
} Worker;

struct Load {
    SapStore *store;
    Worker workers[THREADS];
    atomic_bool stop;
    _Atomic uint64_t acknowledged[THREADS];
    _Atomic uint64_t refused;
    _Atomic uint64_t unknown;
};

static uint8_t counter_of(uint32_t worker, uint32_t op)
{
    return (uint8_t)((worker + op) % COUNTER_COUNT);
}

static int read_counter(SapStoreTxn *txn, uint8_t counter, uint64_t *value_out)
{
    const void *val = NULL;
    uint32_t len = 0;
    int rc = sap_store_get(txn, COUNTERS, &counter, 1, &val, &len);
    *value_out = rc == SAP_OK ? load_u64be(val) : 0;
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int add_one(SapStoreTxn *txn, uint8_t counter, const uint8_t *row)
{
    SapStoreGuard guard = {COUNTERS, &counter, 1, true};
    uint64_t value = 0;
    uint8_t bytes[8];
    int rc = sap_store_guard(txn, &guard, 1);
    rc = rc == SAP_OK ? read_counter(txn, counter, &value) : rc;
    store_u64be(bytes, value + 1);
    rc = rc == SAP_OK ? sap_store_put(txn, COUNTERS, &counter, 1, bytes, sizeof bytes) : rc;
    return rc == SAP_OK ? sap_store_put_if_absent(txn, ROWS, row, 8, "", 0) : rc;
}

/* A code that a server which comes and goes may give. */
static void expect_passing(int rc)
{
    EXPECT(rc == SAP_IO || rc == SAP_BUSY || rc == SAP_CONFLICT || rc == SAP_READONLY, "%s",
           code_name(rc));
}

static Outcome try_one(SapStore *store, uint32_t worker, uint32_t op)
{
    SapStoreTxn *txn = NULL;
    bool unknown = true;
    uint8_t row[8];
    store_u32be(row, worker);
    store_u32be(row + 4, op);
    int rc = sap_store_begin(store, SAP_STORE_GUARDED, &txn);
    if (rc != SAP_OK) {
        expect_passing(rc);
        nap_ms(5);
        return REFUSED;
    }
    rc = add_one(txn, counter_of(worker, op), row);
    if (rc != SAP_OK) {
        expect_passing(rc);
        sap_store_abort(txn);
        return REFUSED;
    }
    rc = sap_store_commit(txn, &unknown);
    if (rc == SAP_OK) {
        EXPECT(!unknown, "acknowledged, and unknown");
        return ACKNOWLEDGED;
    }
    expect_passing(rc);
    EXPECT(!unknown || rc == SAP_IO, "%s with an unknown outcome", code_name(rc));
    return unknown ? UNKNOWN : REFUSED;
}

static void *work(void *arg)
{
    Worker *worker = arg;
    Load *load = worker->load;
    expect_context("worker %u", worker->number);
    while (!atomic_load(&load->stop)) {
        EXPECT(worker->count < MOST_OPS, "more transactions than there is room for");
        Outcome outcome = try_one(load->store, worker->number, worker->count);
        worker->outcomes[worker->count++] = (uint8_t)outcome;
        if (outcome == ACKNOWLEDGED) {
            atomic_fetch_add(&load->acknowledged[worker->number], 1);
        } else {
            atomic_fetch_add(outcome == UNKNOWN ? &load->unknown : &load->refused, 1);
        }
    }
    return NULL;
}

static Load *make_load(SapStore *store)
{
    Load *load = calloc(1, sizeof *load);
    EXPECT(load != NULL, "no memory");
    load->store = store;
    for (uint32_t i = 0; i < THREADS; i++) {
        load->workers[i] = (Worker){.load = load, .number = i, .outcomes = calloc(1, MOST_OPS)};
        EXPECT(load->workers[i].outcomes != NULL, "no memory");
    }
    return load;
}

static void free_load(Load *load)
{
    for (uint32_t i = 0; i < THREADS; i++) {
        free(load->workers[i].outcomes);
    }
    free(load);
}

static void start_load(Load *load)
{
    atomic_store(&load->stop, false);
    for (uint32_t i = 0; i < THREADS; i++) {
        EXPECT(pthread_create(&load->workers[i].thread, NULL, work, &load->workers[i]) == 0,
               "none");
    }
}

static void stop_load(Load *load)
{
    atomic_store(&load->stop, true);
    for (uint32_t i = 0; i < THREADS; i++) {
        EXPECT(pthread_join(load->workers[i].thread, NULL) == 0, "no join");
    }
}

static uint64_t sum_acknowledged(Load *load)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < THREADS; i++) {
        sum += atomic_load(&load->acknowledged[i]);
    }
    return sum;
}

/* Every thread has had some acknowledged since; returns when the first was. */
static uint64_t await_progress(Load *load)
{
    uint64_t end = now_ms() + ROUND_MS;
    uint64_t before[THREADS];
    uint64_t first_ms = 0;
    uint64_t sum = sum_acknowledged(load);
    for (uint32_t i = 0; i < THREADS; i++) {
        before[i] = atomic_load(&load->acknowledged[i]);
    }
    for (uint32_t i = 0; i < THREADS;) {
        first_ms = first_ms == 0 && sum_acknowledged(load) > sum ? now_ms() : first_ms;
        if (atomic_load(&load->acknowledged[i]) >= before[i] + AFTER) {
            i++;
            continue;
        }
        EXPECT(now_ms() < end, "worker %u does not go on", i);
        nap_ms(1);
    }
    return first_ms;
}

/* Returns how many of the unknown ones have happened. */
static uint64_t expect_load(Load *load)
{
    SapStoreTxn *txn = NULL;
    uint64_t sums[COUNTER_COUNT] = {0};
    uint64_t happened = 0;
    EXPECT_RC(sap_store_begin(load->store, SAP_STORE_READ_DURABLE, &txn), SAP_OK);
    for (uint32_t i = 0; i < THREADS; i++) {
        const Worker *worker = &load->workers[i];
        uint8_t from[4];
        uint8_t to[4];
        const SapStoreRow *rows = NULL;
        uint32_t count = 0;
        uint32_t at = 0;
        store_u32be(from, i);
        store_u32be(to, i + 1);
        SapStoreRange range = {ROWS, from, 4, to, 4};
        EXPECT_RC(sap_store_scan(txn, &range, false, UINT32_MAX, &rows, &count), SAP_OK);
        for (uint32_t op = 0; op < worker->count; op++) {
            bool is_there = at < count && load_u32be((const uint8_t *)rows[at].key + 4) == op;
            at += is_there;
            sums[counter_of(i, op)] += is_there;
            EXPECT(is_there || worker->outcomes[op] != ACKNOWLEDGED,
                   "transaction %u of worker %u was acknowledged, and is lost", op, i);
            EXPECT(!is_there || worker->outcomes[op] != REFUSED,
                   "transaction %u of worker %u was refused, and is there", op, i);
            happened += is_there && worker->outcomes[op] == UNKNOWN;
        }
        EXPECT(at == count, "rows that nobody has put");
    }
    for (uint8_t counter = 0; counter < COUNTER_COUNT; counter++) {
        uint64_t value = 0;
        EXPECT_RC(read_counter(txn, counter, &value), SAP_OK);
        EXPECT(value == sums[counter], "counter %u is %" PRIu64 ", not %" PRIu64, counter, value,
               sums[counter]);
    }
    sap_store_abort(txn);
    return happened;
}

static void print_load(const char *what, Load *load, uint64_t happened)
{
    printf("store_postgres_faults: %s: %" PRIu64 " acknowledged, %" PRIu64 " refused, %" PRIu64
           " unknown, of which %" PRIu64 " happened\n",
           what, sum_acknowledged(load), atomic_load(&load->refused), atomic_load(&load->unknown),
           happened);
}

/* ---- The server is killed -------------------------------------------------------------------------- */

START_TEST(a_killed_server_loses_nothing_acknowledged_and_the_store_goes_on)
{
    char url[PG_SERVER_URL_MAX];
    uint64_t happened = 0;
    Rng rng;
    if (!pg_server_start(&server, NULL)) {
        return;
    }
    rng_seed(&rng, choice_first_seed());
    pg_server_url(&server, "schema=killed", url, sizeof url);
    init_url(url);
    Load *load = make_load(open_url(url));
    for (int i = 0; i < KILLS; i++) {
        expect_context("SAP_TEST_SEED=%" PRIu64 ", kill %d", choice_first_seed(), i + 1);
        start_load(load);
        (void)await_progress(load);
        nap_ms(rng_below(&rng, 200));
        pg_server_kill(&server);
        nap_ms(rng_below(&rng, 100));
        pg_server_run(&server);
        (void)await_progress(load);
        stop_load(load);
        happened = expect_load(load);
    }
    print_load("server killed", load, happened);
    EXPECT(atomic_load(&load->refused) > 0, "nothing was refused");
    close_store(load->store);
    free_load(load);
    pg_server_end(&server);
}
END_TEST

/* ---- A stopped client ------------------------------------------------------------------------------ */

/* In a process of its own: takes the guard, writes, and commits when it is continued. */
static _Noreturn void hold_guard(const char *url, int said_fd, int go_fd)
{
    uint8_t counter = 0;
    SapStoreGuard guard = {COUNTERS, &counter, 1, true};
    SapStoreTxn *txn = NULL;
    bool unknown = true;
    char byte = 0;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    SapStore *store = open_url(url);
    EXPECT_RC(sap_store_begin(store, SAP_STORE_GUARDED, &txn), SAP_OK);
    EXPECT_RC(sap_store_guard(txn, &guard, 1), SAP_OK);
    EXPECT_RC(sap_store_put(txn, ROWS, "stopped", 7, "", 0), SAP_OK);
    EXPECT(write(said_fd, &byte, 1) == 1 && read(go_fd, &byte, 1) == 1, "no parent");
    int rc = sap_store_commit(txn, &unknown);
    printf("store_postgres_faults: the stopped client: commit returned %s, outcome %s\n",
           code_name(rc), unknown ? "unknown" : "known");
    EXPECT(rc != SAP_OK, "the commit of one that had lost its guard was acknowledged");
    EXPECT_RC(sap_store_begin(store, SAP_STORE_READ_NEWEST, &txn), SAP_OK);
    sap_store_abort(txn);
    EXPECT_RC(sap_store_close(store), SAP_OK);
    (void)fflush(stdout);
    _exit(0);
}

/* How long it takes until somebody else has the guard. */
static uint64_t await_guard(SapStore *store)
{
    uint64_t start = now_ms();
    int rc = SAP_BUSY;
    while (rc != SAP_OK) {
        uint8_t counter = 0;
        SapStoreGuard guard = {COUNTERS, &counter, 1, true};
        SapStoreTxn *txn = NULL;
        EXPECT_RC(sap_store_begin(store, SAP_STORE_GUARDED, &txn), SAP_OK);
        rc = sap_store_guard(txn, &guard, 1);
        EXPECT(rc == SAP_OK || rc == SAP_BUSY, "guard returned %s", code_name(rc));
        sap_store_abort(txn);
        EXPECT(now_ms() < start + 2 * HELD_MS, "the guard is still held");
    }
    return now_ms() - start;
}

START_TEST(a_stopped_client_holds_its_guard_for_five_seconds_and_commits_nothing)
{
    char url[PG_SERVER_URL_MAX];
    int said[2];
    int go[2];
    int status = 0;
    char byte = 0;
    if (!pg_server_start(&server, NULL)) {
        return;
    }
    pg_server_url(&server, "schema=stopped", url, sizeof url);
    init_url(url);
    EXPECT(pipe(said) == 0 && pipe(go) == 0, "no pipe");
    (void)fflush(NULL);
    pid_t pid = fork();
    EXPECT(pid >= 0, "no process");
    if (pid == 0) {
        hold_guard(url, said[1], go[0]);
    }
    EXPECT(read(said[0], &byte, 1) == 1, "the client failed");
    EXPECT(kill(pid, SIGSTOP) == 0, "no client");
    SapStore *store = open_url(url);
    uint64_t held_ms = await_guard(store);
    printf("store_postgres_faults: a stopped client held its guard for %" PRIu64 " ms\n", held_ms);
    EXPECT(held_ms <= HELD_MS, "too long");
    EXPECT(write(go[1], &byte, 1) == 1 && kill(pid, SIGCONT) == 0, "no client");
    EXPECT(waitpid(pid, &status, 0) == pid && status == 0, "the client ended with %d", status);
    EXPECT(pg_server_count(&server, "SELECT count(*) FROM stopped.t%d", ROWS) == 0,
           "the stopped client has committed");
    close_store(store);
    for (int i = 0; i < 2; i++) {
        (void)close(said[i]);
        (void)close(go[i]);
    }
    pg_server_end(&server);
}
END_TEST

/* ---- The connection is cut ------------------------------------------------------------------------- */

typedef struct Cuts {
    StoreProxy *proxy;
    char url[PG_SERVER_URL_MAX];    /* through the proxy */
    char direct[PG_SERVER_URL_MAX]; /* past it */
    uint32_t next;                  /* rows of the next transaction */
    uint32_t cuts, acknowledged, refused, unknown, happened;
} Cuts;

static bool start_cuts(Cuts *cuts)
{
    char path[PG_SERVER_URL_MAX];
    *cuts = (Cuts){0};
    if (!pg_server_start(&server, NULL)) {
        return false;
    }
    pg_server_socket(&server, path, sizeof path);
    cuts->proxy = proxy_start(path);
    (void)snprintf(cuts->url, sizeof cuts->url,
                   "postgres://postgres@127.0.0.1:%u/postgres?schema=cut&connect_timeout=5",
                   proxy_port(cuts->proxy));
    pg_server_url(&server, "schema=cut", cuts->direct, sizeof cuts->direct);
    init_url(cuts->direct);
    return true;
}

static void end_cuts(Cuts *cuts, const char *what)
{
    printf("store_postgres_faults: %s: %u cuts: %u acknowledged, %u refused, %u unknown, of which "
           "%u happened\n",
           what, cuts->cuts, cuts->acknowledged, cuts->refused, cuts->unknown, cuts->happened);
    ProxyCounts counts = proxy_counts(cuts->proxy);
    printf("store_postgres_faults: through the proxy: %" PRIu64 " connections, %" PRIu64
           " messages to the server, %" PRIu64 " of the server, %" PRIu64 " COMMIT\n",
           counts.connections, counts.client_messages, counts.server_messages, counts.commits);
    EXPECT(cuts->cuts > 0, "there was no cut");
    proxy_end(cuts->proxy);
    pg_server_end(&server);
}

/* Several calls of each sort, and two rows that belong together. */
static int write_two(SapStoreTxn *txn, uint32_t number)
{
    uint8_t key[4];
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    uint64_t value = 0;
    store_u32be(key, number);
    SapStoreGuard guards[] = {{COUNTERS, key, 4, true}, {ROWS, key, 4, false}};
    SapStoreRange range = {.table = COUNTERS};
    int rc = sap_store_guard(txn, guards, 2);
    rc = rc == SAP_OK ? read_counter(txn, 0, &value) : rc;
    rc = rc == SAP_OK ? sap_store_put(txn, COUNTERS, key, 4, "one", 3) : rc;
    rc = rc == SAP_OK ? sap_store_scan(txn, &range, false, 3, &rows, &count) : rc;
    return rc == SAP_OK ? sap_store_put_if_absent(txn, ROWS, key, 4, "two", 3) : rc;
}

static int run_two(SapStore *store, uint32_t number, bool *unknown_out)
{
    SapStoreTxn *txn = NULL;
    *unknown_out = false;
    int rc = sap_store_begin(store, SAP_STORE_GUARDED, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = write_two(txn, number);
    if (rc != SAP_OK) {
        int first = rc;
        /* Half of those that have failed are committed all the same. */
        if (number % 2 == 0) {
            sap_store_abort(txn);
            return first;
        }
        rc = sap_store_commit(txn, unknown_out);
        EXPECT(rc == first && !*unknown_out, "the commit of a failed transaction returned %s",
               code_name(rc));
        return rc;
    }
    return sap_store_commit(txn, unknown_out);
}

/* 0 or 2. */
static uint32_t count_two(uint32_t number)
{
    long long count = pg_server_count(&server,
                                      "SELECT (SELECT count(*) FROM cut.t16 WHERE k = '\\x%08x') + "
                                      "(SELECT count(*) FROM cut.t17 WHERE k = '\\x%08x')",
                                      number, number);
    EXPECT(count == 0 || count == 2, "a part of transaction %u is there", number);
    return (uint32_t)count;
}

/* Tells what happened, and compares it with what the server has. */
static void note_two(Cuts *cuts, uint32_t number, int rc, bool unknown)
{
    if (rc == SAP_OK) {
        EXPECT(!unknown && count_two(number) == 2, "acknowledged, and not there");
        cuts->acknowledged++;
    } else if (!unknown) {
        EXPECT(rc == SAP_IO, "a lost connection is %s", code_name(rc));
        EXPECT(count_two(number) == 0, "refused, and there");
        cuts->refused++;
    } else {
        EXPECT(rc == SAP_IO, "unknown with %s", code_name(rc));
        nap_ms(20); /* the server may still be executing it */
        cuts->happened += count_two(number) == 2;
        cuts->unknown++;
    }
}

/* The store has lost a connection; it must go on with the next transaction. */
static void expect_store_goes_on(Cuts *cuts, SapStore *store)
{
    bool unknown = true;
    uint32_t number = cuts->next++;
    int rc = run_two(store, number, &unknown);
    EXPECT(rc == SAP_OK, "the transaction after a lost connection: %s", code_name(rc));
    EXPECT(count_two(number) == 2, "acknowledged, and not there");
}

static void cut_at_every_message(ProxyOrder order, const char *what)
{
    Cuts cuts;
    if (!start_cuts(&cuts)) {
        return;
    }
    SapStore *store = open_url(cuts.url);
    for (uint32_t nth = 1; nth < MOST_MESSAGES; nth++) {
        bool unknown = false;
        uint32_t number = cuts.next++;
        expect_context("%s, cut at message %u", what, nth);
        expect_store_goes_on(&cuts, store);
        proxy_order(cuts.proxy, order, nth);
        int rc = run_two(store, number, &unknown);
        bool has_cut = proxy_has_cut(cuts.proxy);
        proxy_order(cuts.proxy, PROXY_PASS, 0);
        EXPECT(has_cut || rc == SAP_OK, "nothing was cut, but %s", code_name(rc));
        if (!has_cut) {
            break;
        }
        cuts.cuts++;
        note_two(&cuts, number, rc, unknown);
        expect_store_goes_on(&cuts, store);
    }
    EXPECT(cuts.cuts + 1 < MOST_MESSAGES, "there is no end of messages");
    close_store(store);
    end_cuts(&cuts, what);
}

START_TEST(a_connection_cut_at_any_message_to_the_server_leaves_all_or_nothing)
{
    cut_at_every_message(PROXY_CUT_AT_CLIENT, "cut at every message to the server");
}
END_TEST

START_TEST(a_connection_cut_at_any_message_of_the_server_leaves_all_or_nothing)
{
    cut_at_every_message(PROXY_CUT_AT_SERVER, "cut at every message of the server");
}
END_TEST

/* The same from the first message of the open on. */
static void cut_while_opening(ProxyOrder order, const char *what)
{
    Cuts cuts;
    if (!start_cuts(&cuts)) {
        return;
    }
    for (uint32_t nth = 1; nth < MOST_MESSAGES; nth++) {
        SapStoreOptions options = fault_options();
        SapStore *store = NULL;
        expect_context("%s, cut at message %u of an open", what, nth);
        proxy_order(cuts.proxy, order, nth);
        int rc = sap_store_open(cuts.url, &options, &store);
        bool has_cut = proxy_has_cut(cuts.proxy);
        proxy_order(cuts.proxy, PROXY_PASS, 0);
        EXPECT(rc == SAP_OK || (rc == SAP_IO && has_cut), "open returned %s: %s", code_name(rc),
               sap_open_error());
        EXPECT(rc == SAP_OK || sap_open_error()[0] != 0, "there is no text");
        if (rc == SAP_OK) {
            expect_store_goes_on(&cuts, store);
            close_store(store);
            cuts.acknowledged++;
        } else {
            EXPECT(store == NULL, "a refused open gave a store");
            EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes left", mem_live_bytes(MEM_STORE));
            cuts.refused++;
        }
        if (!has_cut) {
            break;
        }
        cuts.cuts++;
    }
    end_cuts(&cuts, what);
}

START_TEST(a_connection_cut_while_opening_is_an_io_error_and_the_next_open_works)
{
    cut_while_opening(PROXY_CUT_AT_CLIENT, "open, cut at every message to the server");
    cut_while_opening(PROXY_CUT_AT_SERVER, "open, cut at every message of the server");
}
END_TEST

START_TEST(a_connection_cut_in_commit_leaves_the_outcome_unknown)
{
    static const ProxyOrder orders[] = {PROXY_CUT_BEFORE_COMMIT, PROXY_CUT_IN_COMMIT,
                                        PROXY_CUT_AFTER_COMMIT};
    Cuts cuts;
    if (!start_cuts(&cuts)) {
        return;
    }
    SapStore *store = open_url(cuts.url);
    for (int i = 0; i < 12; i++) {
        ProxyOrder order = orders[i % 3];
        bool unknown = false;
        uint32_t number = cuts.next++;
        expect_context("cut %d of the commit", (int)order);
        proxy_order(cuts.proxy, order, 1);
        int rc = run_two(store, number, &unknown);
        EXPECT(proxy_has_cut(cuts.proxy), "there was no COMMIT to cut");
        proxy_order(cuts.proxy, PROXY_PASS, 0);
        EXPECT(rc == SAP_IO && unknown, "%s, outcome %s", code_name(rc),
               unknown ? "unknown" : "known");
        cuts.cuts++;
        note_two(&cuts, number, rc, unknown);
        EXPECT((count_two(number) == 2) == (order == PROXY_CUT_AFTER_COMMIT),
               "the server did something else");
        expect_store_goes_on(&cuts, store);
    }
    SapStoreStats stats;
    EXPECT_RC(sap_store_stats(store, &stats), SAP_OK);
    EXPECT(stats.outcome_unknown == cuts.unknown, "%" PRIu64 " unknown outcomes are counted",
           stats.outcome_unknown);
    close_store(store);
    end_cuts(&cuts, "cut before, in and after COMMIT");
}
END_TEST

START_TEST(a_store_whose_idle_connections_were_all_cut_goes_on)
{
    Cuts cuts;
    if (!start_cuts(&cuts)) {
        return;
    }
    SapStore *store = open_url(cuts.url);
    for (int i = 0; i < 5; i++) {
        expect_context("all connections cut %d times", i);
        expect_store_goes_on(&cuts, store);
        proxy_cut_all(cuts.proxy);
        cuts.cuts++;
        nap_ms(10);
    }
    expect_store_goes_on(&cuts, store);
    close_store(store);
    end_cuts(&cuts, "idle connections cut");
}
END_TEST

/* ---- A standby takes over -------------------------------------------------------------------------- */

START_TEST(a_promoted_standby_has_everything_that_was_acknowledged)
{
    PgServer standby;
    char url[PG_SERVER_URL_MAX];
    if (!pg_server_start(&server, NULL)) {
        return;
    }
    pg_server_url(&server, "schema=moved", url, sizeof url);
    init_url(url);
    pg_server_start_standby(&standby, &server);
    (void)snprintf(url, sizeof url,
                   "postgres://postgres@/postgres?host=%s,%s&port=%u,%u&connect_timeout=3"
                   "&target_session_attrs=read-write&schema=moved",
                   server.dir, standby.dir, server.port, standby.port);
    Load *load = make_load(open_url(url));
    start_load(load);
    (void)await_progress(load);
    nap_ms(300);
    uint64_t killed_ms = now_ms();
    pg_server_kill(&server);
    pg_server_promote(&standby);
    uint64_t promoted_ms = now_ms();
    uint64_t first_ms = await_progress(load);
    stop_load(load);
    uint64_t happened = expect_load(load);
    print_load("standby promoted", load, happened);
    printf("store_postgres_faults: takeover: promoted after %" PRIu64 " ms, first commit after "
           "%" PRIu64 " ms\n",
           promoted_ms - killed_ms, first_ms - killed_ms);
    EXPECT(first_ms - killed_ms < TAKEOVER_MS, "the takeover took too long");
    close_store(load->store);
    free_load(load);
    pg_server_end(&standby);
    pg_server_end(&server);
}
END_TEST

/* ---- A commit that waits for a standby that is gone ------------------------------------------------ */

typedef struct Waiting {
    SapStore *store;
    uint32_t number;
    int rc;
    bool unknown;
} Waiting;

static void *commit_and_wait(void *arg)
{
    Waiting *waiting = arg;
    waiting->rc = run_two(waiting->store, waiting->number, &waiting->unknown);
    return NULL;
}

static void end_sync_wait(const char *call)
{
    uint64_t end = now_ms() + ROUND_MS;
    while (pg_server_count(&server,
                           "SELECT count(*) FROM (SELECT %s(pid) FROM pg_stat_activity WHERE "
                           "wait_event = 'SyncRep') x",
                           call) == 0) {
        EXPECT(now_ms() < end, "no commit waits for the standby");
        nap_ms(5);
    }
}

/* `call` is the function that ends the wait; NULL: the statement timeout of the store. */
static void cancel_commit(const char *url, const char *call, uint32_t number)
{
    pthread_t thread;
    Waiting waiting = {.store = open_url(url), .number = number};
    expect_context("%s while the commit waits", call == NULL ? "statement timeout" : call);
    EXPECT(pthread_create(&thread, NULL, commit_and_wait, &waiting) == 0, "no thread");
    if (call != NULL) {
        end_sync_wait(call);
    }
    EXPECT(pthread_join(thread, NULL) == 0, "no join");
    printf("store_postgres_faults: %s: %s, outcome %s\n", call == NULL ? "statement timeout" : call,
           code_name(waiting.rc), waiting.unknown ? "unknown" : "known");
    EXPECT(waiting.rc == SAP_IO && waiting.unknown,
           "a commit that the standby does not have: %s, %s", code_name(waiting.rc),
           waiting.unknown ? "unknown" : "known");
    EXPECT_RC(sap_store_close(waiting.store), SAP_OK);
}

START_TEST(a_commit_cancelled_while_it_waits_for_a_standby_is_not_acknowledged)
{
    PgServer standby;
    char url[PG_SERVER_URL_MAX];
    char hasty[PG_SERVER_URL_MAX];
    bool unknown = true;
    if (!pg_server_start(&server, NULL)) {
        return;
    }
    pg_server_url(&server, "schema=cut", url, sizeof url);
    pg_server_url(&server, "schema=cut&statement_timeout_ms=700", hasty, sizeof hasty);
    init_url(url);
    pg_server_start_standby(&standby, &server);
    pg_server_end(&standby);
    cancel_commit(url, "pg_cancel_backend", 1);
    cancel_commit(url, "pg_terminate_backend", 2);
    cancel_commit(hasty, NULL, 3);
    pg_server_sql(&server, "ALTER SYSTEM RESET synchronous_standby_names");
    pg_server_sql(&server, "SELECT pg_reload_conf()");
    SapStore *store = open_url(url);
    EXPECT_RC(run_two(store, 4, &unknown), SAP_OK);
    close_store(store);
    pg_server_end(&server);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_postgres_faults");
    TCase *tc = tcase_create("faults");
    tcase_set_timeout(tc, TIMEOUT_S);
    tcase_add_test(tc, a_killed_server_loses_nothing_acknowledged_and_the_store_goes_on);
    tcase_add_test(tc, a_stopped_client_holds_its_guard_for_five_seconds_and_commits_nothing);
    tcase_add_test(tc, a_connection_cut_at_any_message_to_the_server_leaves_all_or_nothing);
    tcase_add_test(tc, a_connection_cut_at_any_message_of_the_server_leaves_all_or_nothing);
    tcase_add_test(tc, a_connection_cut_while_opening_is_an_io_error_and_the_next_open_works);
    tcase_add_test(tc, a_connection_cut_in_commit_leaves_the_outcome_unknown);
    tcase_add_test(tc, a_store_whose_idle_connections_were_all_cut_goes_on);
    tcase_add_test(tc, a_promoted_standby_has_everything_that_was_acknowledged);
    tcase_add_test(tc, a_commit_cancelled_while_it_waits_for_a_standby_is_not_acknowledged);
    suite_add_tcase(suite, tc);
    (void)pg_server_is_installed(); /* once for all tests */
    return suite_run(suite);
}
