/* Lease time of several stores on one PostgreSQL server, whose clock is set while they live and while
 * nobody does. The server's clock is a function of the test's own, in a schema that the stores' search
 * path names first. */
#include "common/mem.h"
#include "common/random.h"
#include "sapling/store.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/store_pg_server.h"
#include "support/store_suite.h"
#include "support/suite.h"
#include "wit_store.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS_NS      UINT64_C(1000000)
#define SECOND_NS  UINT64_C(1000000000)
#define HOUR_NS    (3600 * SECOND_NS)
#define RENEWAL_NS (200 * MS_NS)
/* How late threads and statements may be on a busy machine. */
#define SLACK_NS (150 * MS_NS)

enum { TABLE = 16, TIMEOUT_S = 120, ROUNDS = 20, TIME_BYTES = 64 };

static PgServer server;
static char url[PG_SERVER_URL_MAX];

/* ---- Stores ---------------------------------------------------------------------------------- */

static void nap_ns(uint64_t ns)
{
    struct timespec time = {.tv_sec = (time_t)(ns / SECOND_NS), .tv_nsec = (long)(ns % SECOND_NS)};
    nanosleep(&time, NULL);
}

static uint64_t boot_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static SapStoreOptions time_options(void)
{
    static const uint32_t tables[] = {TABLE};
    return (SapStoreOptions){.size = sizeof(SapStoreOptions),
                             .tables = tables,
                             .table_count = 1,
                             .renewal_ns = RENEWAL_NS};
}

static SapStore *open_with(const SapStoreOptions *options)
{
    SapStore *store = NULL;
    int rc = sap_store_open(url, options, &store);
    EXPECT(rc == SAP_OK, "open: %s: %s", code_name(rc), sap_open_error());
    return store;
}

static SapStore *open_store(void)
{
    SapStoreOptions options = time_options();
    return open_with(&options);
}

static void close_store(SapStore *store)
{
    EXPECT_RC(sap_store_close(store), SAP_OK);
}

static int renew_body(SapStoreTxn *txn, void *ctx)
{
    (void)ctx;
    return sap_store_put_time(txn);
}

static void renew(SapStore *store)
{
    EXPECT_RC(sap_store_run(store, SAP_STORE_GUARDED, renew_body, NULL, NULL), SAP_OK);
}

static uint64_t stored_lease_ns(void)
{
    char hex[2 * TIME_BYTES + 1];
    uint8_t bytes[TIME_BYTES];
    WitStoreTime time;
    pg_server_ask(&server, hex, sizeof hex,
                  "SELECT encode(v, 'hex') FROM time.t8 WHERE k = '\\x01'");
    size_t len = strlen(hex) / 2;
    for (size_t i = 0; i < len; i++) {
        char two[3] = {hex[2 * i], hex[2 * i + 1], 0};
        bytes[i] = (uint8_t)strtoul(two, NULL, 16);
    }
    EXPECT(wit_store_time_decode(bytes, (uint32_t)len, &time, NULL) == SAP_OK, "no time: %s", hex);
    return time.lease_ns;
}

/* Sets the clock of the server: seconds to what it is. */
static void set_server_clock(long seconds)
{
    pg_server_sql(&server, "UPDATE fake.step SET by = make_interval(secs => %ld)", seconds);
}

/* False: no server. */
static bool start_time(void)
{
    SapStoreOptions options = time_options();
    if (!pg_server_start(&server, NULL)) {
        return false;
    }
    pg_server_sql(
        &server, "CREATE SCHEMA fake; CREATE TABLE fake.step (by interval NOT NULL);"
                 "INSERT INTO fake.step VALUES ('0');"
                 "CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE "
                 "AS 'SELECT pg_catalog.clock_timestamp() + by FROM fake.step'");
    pg_server_url(&server, "schema=time&options=-csearch_path%3Dfake,pg_catalog", url, sizeof url);
    int rc = sap_store_init(url, &options);
    EXPECT(rc == SAP_OK, "init: %s: %s", code_name(rc), sap_open_error());
    return true;
}

static void end_time(void)
{
    EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes are left", mem_live_bytes(MEM_STORE));
    pg_server_end(&server);
}

/* ---- One who renews --------------------------------------------------------------------------- */

typedef struct Renewer {
    SapStore *store;
    pthread_t thread;
    atomic_bool stop;
} Renewer;

static void *renew_often(void *arg)
{
    Renewer *renewer = arg;
    while (!atomic_load(&renewer->stop)) {
        renew(renewer->store);
        nap_ns(RENEWAL_NS * 3 / 4);
    }
    return NULL;
}

static void start_renewer(Renewer *renewer)
{
    renewer->store = open_store();
    atomic_store(&renewer->stop, false);
    renew(renewer->store);
    EXPECT(pthread_create(&renewer->thread, NULL, renew_often, renewer) == 0, "no thread");
}

static void stop_renewer(Renewer *renewer)
{
    atomic_store(&renewer->stop, true);
    EXPECT(pthread_join(renewer->thread, NULL) == 0, "no join");
}

/* How far the two are apart. */
static uint64_t distance_ns(SapStore *one, SapStore *other)
{
    uint64_t first = sap_store_lease_ns(one);
    uint64_t second = sap_store_lease_ns(other);
    return first > second ? first - second : second - first;
}

/* ---- Somebody is alive ------------------------------------------------------------------------ */

START_TEST(a_step_of_the_servers_clock_does_not_move_the_time_of_the_living)
{
    static const long steps[] = {0, 3600, 0, -3600, 0, 7200};
    Renewer renewer = {0};
    uint64_t greatest = 0;
    if (!start_time()) {
        return;
    }
    start_renewer(&renewer);
    uint64_t first_lease = sap_store_lease_ns(renewer.store);
    uint64_t first_boot = boot_now_ns();
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        expect_context("the server's clock is set to %ld s", steps[i]);
        set_server_clock(steps[i]);
        uint64_t start = boot_now_ns();
        SapStore *joined = open_store();
        uint64_t took_ns = boot_now_ns() - start;
        uint64_t apart_ns = distance_ns(renewer.store, joined);
        greatest = apart_ns > greatest ? apart_ns : greatest;
        EXPECT(apart_ns <= RENEWAL_NS + SLACK_NS, "the times differ by %" PRIu64 " ms",
               apart_ns / MS_NS);
        EXPECT(took_ns <= 2 * RENEWAL_NS + SECOND_NS, "the open took %" PRIu64 " ms",
               took_ns / MS_NS);
        nap_ns(2 * RENEWAL_NS);
        renew(joined);
        apart_ns = distance_ns(renewer.store, joined);
        EXPECT(apart_ns <= RENEWAL_NS + SLACK_NS, "the times differ by %" PRIu64 " ms",
               apart_ns / MS_NS);
        close_store(joined);
    }
    uint64_t lease_ns = sap_store_lease_ns(renewer.store) - first_lease;
    uint64_t boot_ns = boot_now_ns() - first_boot;
    EXPECT(lease_ns + SLACK_NS >= boot_ns && lease_ns <= boot_ns + RENEWAL_NS + SLACK_NS,
           "%" PRIu64 " ms of lease time in %" PRIu64 " ms", lease_ns / MS_NS, boot_ns / MS_NS);
    printf("store_postgres_time: 6 joins, at most %" PRIu64 " ms apart\n", greatest / MS_NS);
    stop_renewer(&renewer);
    close_store(renewer.store);
    end_time();
}
END_TEST

/* ---- Nobody is alive -------------------------------------------------------------------------- */

/* Stores the time and closes; the next open, after the pause and this step of the server's clock, has
 * gone on by how much. */
static uint64_t gain_after(uint64_t pause_ns, long clock_s)
{
    SapStore *store = open_store();
    renew(store);
    uint64_t stored = stored_lease_ns();
    close_store(store);
    nap_ns(pause_ns);
    set_server_clock(clock_s);
    store = open_store();
    uint64_t lease_ns = sap_store_lease_ns(store);
    EXPECT(lease_ns >= stored, "lease time went back by %" PRIu64 " ms",
           (stored - lease_ns) / MS_NS);
    renew(store);
    EXPECT(stored_lease_ns() >= lease_ns, "less was stored than was given out");
    close_store(store);
    return lease_ns - stored;
}

START_TEST(time_in_which_nobody_lived_is_added_by_the_servers_clock)
{
    if (!start_time()) {
        return;
    }
    uint64_t gain = gain_after(SECOND_NS, 0);
    printf("store_postgres_time: closed for 1000 ms: %" PRIu64 " ms\n", gain / MS_NS);
    EXPECT(gain + SLACK_NS >= SECOND_NS && gain <= 2 * SECOND_NS + 2 * RENEWAL_NS,
           "closed for 1 s, and %" PRIu64 " ms passed", gain / MS_NS);
    /* Set forward by an hour while nobody could know better. */
    gain = gain_after(SECOND_NS, 3600);
    printf("store_postgres_time: the same, set forward by 1 h: %" PRIu64 " ms\n", gain / MS_NS);
    EXPECT(gain >= HOUR_NS && gain <= HOUR_NS + 3 * SECOND_NS, "%" PRIu64 " ms", gain / MS_NS);
    /* Set back: nothing is added but the time of the open itself. */
    gain = gain_after(SECOND_NS, -3600);
    printf("store_postgres_time: the same, set back by 2 h: %" PRIu64 " ms\n", gain / MS_NS);
    EXPECT(gain <= 2 * RENEWAL_NS + SECOND_NS / 2, "%" PRIu64 " ms", gain / MS_NS);
    end_time();
}
END_TEST

/* A pause shorter than one renewal is no reason to watch. */
START_TEST(an_open_right_after_a_renewal_does_not_wait)
{
    if (!start_time()) {
        return;
    }
    SapStore *store = open_store();
    renew(store);
    uint64_t start = boot_now_ns();
    SapStore *second = open_store();
    uint64_t took_ns = boot_now_ns() - start;
    printf("store_postgres_time: open right after a renewal took %" PRIu64 " ms\n",
           took_ns / MS_NS);
    EXPECT(took_ns < 2 * RENEWAL_NS, "it took %" PRIu64 " ms", took_ns / MS_NS);
    EXPECT(distance_ns(store, second) <= RENEWAL_NS + SLACK_NS, "the times differ");
    close_store(second);
    close_store(store);
    end_time();
}
END_TEST

/* ---- Clocks of different pace ------------------------------------------------------------------ */

/* A clock of its own: `per_mille` of the real pace since the start, plus a jump. */
typedef struct PacedClock {
    uint64_t start_ns;
    uint64_t per_mille;
    _Atomic uint64_t jump_ns;
} PacedClock;

static uint64_t paced_boot_ns(void *ctx)
{
    PacedClock *clock = ctx;
    uint64_t since = boot_now_ns() - clock->start_ns;
    return clock->start_ns + since / 1000 * clock->per_mille + atomic_load(&clock->jump_ns);
}

static uint64_t real_wall_ns(void *ctx)
{
    struct timespec now;
    (void)ctx;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static SapStore *open_paced(PacedClock *clock, uint64_t per_mille)
{
    SapStoreOptions options = time_options();
    *clock = (PacedClock){.start_ns = boot_now_ns(), .per_mille = per_mille};
    options.boot_ns = paced_boot_ns;
    options.wall_ns = real_wall_ns;
    options.clock_ctx = clock;
    return open_with(&options);
}

START_TEST(stores_that_renew_differ_by_less_than_one_interval_and_never_go_back)
{
    PacedClock clocks[2];
    SapStore *stores[2];
    uint64_t last[2] = {0};
    uint64_t greatest = 0;
    uint64_t stored = 0;
    Rng rng;
    if (!start_time()) {
        return;
    }
    rng_seed(&rng, choice_first_seed());
    stores[0] = open_paced(&clocks[0], 1000);
    stores[1] = open_paced(&clocks[1], 1200);
    for (int i = 0; i < ROUNDS; i++) {
        expect_context("SAP_TEST_SEED=%" PRIu64 ", round %d", choice_first_seed(), i);
        nap_ns(rng_below(&rng, RENEWAL_NS));
        for (int s = 0; s < 2; s++) {
            uint64_t lease_ns = sap_store_lease_ns(stores[s]);
            EXPECT(lease_ns >= last[s], "lease time of store %d went back", s);
            last[s] = lease_ns;
        }
        uint64_t apart_ns = distance_ns(stores[0], stores[1]);
        greatest = apart_ns > greatest ? apart_ns : greatest;
        EXPECT(apart_ns <= RENEWAL_NS + SLACK_NS, "the times differ by %" PRIu64 " ms",
               apart_ns / MS_NS);
        renew(stores[i % 2]);
        renew(stores[(i + 1) % 2]);
        uint64_t now_stored = stored_lease_ns();
        EXPECT(now_stored >= stored, "what is stored went back");
        stored = now_stored;
    }
    printf("store_postgres_time: %d rounds of two paces, at most %" PRIu64 " ms apart\n", ROUNDS,
           greatest / MS_NS);
    close_store(stores[0]);
    close_store(stores[1]);
    end_time();
}
END_TEST

START_TEST(a_renewal_stores_the_greater_value_and_goes_on_from_it)
{
    PacedClock clocks[2];
    if (!start_time()) {
        return;
    }
    SapStore *ahead = open_paced(&clocks[0], 1000);
    SapStore *after = open_paced(&clocks[1], 1000);
    atomic_store(&clocks[0].jump_ns, 10 * SECOND_NS); /* that machine was suspended, this one not */
    renew(ahead);
    uint64_t stored = stored_lease_ns();
    EXPECT(sap_store_lease_ns(after) + 9 * SECOND_NS < stored, "the clock did not jump");
    renew(after);
    EXPECT(stored_lease_ns() >= stored, "a smaller value was stored");
    EXPECT(sap_store_lease_ns(after) >= stored, "it did not go on from the greater value");
    EXPECT(distance_ns(ahead, after) <= RENEWAL_NS + SLACK_NS, "the times differ by %" PRIu64 " ms",
           distance_ns(ahead, after) / MS_NS);
    close_store(ahead);
    close_store(after);
    end_time();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_postgres_time");
    TCase *tc = tcase_create("time");
    tcase_set_timeout(tc, TIMEOUT_S);
    tcase_add_test(tc, a_step_of_the_servers_clock_does_not_move_the_time_of_the_living);
    tcase_add_test(tc, time_in_which_nobody_lived_is_added_by_the_servers_clock);
    tcase_add_test(tc, an_open_right_after_a_renewal_does_not_wait);
    tcase_add_test(tc, stores_that_renew_differ_by_less_than_one_interval_and_never_go_back);
    tcase_add_test(tc, a_renewal_stores_the_greater_value_and_goes_on_from_it);
    suite_add_tcase(suite, tc);
    (void)pg_server_is_installed(); /* once for all tests */
    return suite_run(suite);
}
