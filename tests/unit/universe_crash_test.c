/* The crash matrix of worlds: a worker dies at every store call of a moment, on every store. Another
 * process goes on, and the end is that of a run in which nobody died. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/expect.h"
#include "support/store_suite.h"
#include "support/suite.h"
#include "universe/universe_impl.h"

enum { TIMEOUT_S = 300, ITEMS = 5, MOST_CALLS = 1000 };

typedef enum Moment {
    AFTER_ACQUIRE,      /* the lease is the worker's, no handler has run */
    AFTER_INBOX_DRAIN,  /* handlers have run, nothing of it is in the store */
    AFTER_APPEND,       /* the transaction has entries, and has not been committed */
    AFTER_CYCLE_COMMIT, /* the transaction is committed, and the worker does not know it */
} Moment;

/* What the hook has seen of the worker, and where it is to die. */
typedef struct Death {
    bool watching;
    Moment moment;
    uint32_t nth; /* call of the moment; 0: nobody dies */
    uint32_t commits;
    uint32_t puts; /* since a handler ran */
    uint32_t calls;
    bool died;
} Death;

static StoreBeds beds;
static uint32_t handler_calls;
static uint32_t handler_calls_at_start;

/* Appends the payload and what it draws, so that the state tells in which order it was made. */
static int append(SapWorld *world, const SapEvent *event)
{
    uint8_t drawn[8];
    const void *old = "";
    size_t len = 0;
    char text[512];
    handler_calls++;
    int rc = sap_world_get(world, "text", 4, &old, &len, NULL);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    sap_world_random(world, drawn, sizeof drawn);
    int wrote = snprintf(text, sizeof text, "%.*s %.*s:%02x", (int)len, (const char *)old,
                         (int)event->payload_len, (const char *)event->payload, (unsigned)drawn[0]);
    rc = sap_world_put(world, "text", 4, SAP_ENCODING_RAW, text, (size_t)wrote);
    if (rc == SAP_OK && event->reply_to[0] != 0) {
        rc = sap_world_reply(world, event->reply_to, SAP_ENCODING_RAW, text, (size_t)wrote);
    }
    return rc;
}

SAP_WORLD_MODULE("append", append);

static bool in_moment(const Death *death, SapStoreCall call)
{
    bool ran = handler_calls > handler_calls_at_start;
    switch (death->moment) {
    case AFTER_ACQUIRE:
        return death->commits >= 1 && !ran;
    case AFTER_INBOX_DRAIN:
        return ran && death->puts == 0;
    case AFTER_APPEND:
        return ran && death->puts > 0 && call != SAP_STORE_CALL_WAIT_DURABLE;
    default:
        return ran && death->puts > 0 && call == SAP_STORE_CALL_WAIT_DURABLE;
    }
}

static SapStoreFault hook(void *ctx, SapStoreCall call)
{
    Death *death = (Death *)ctx;
    if (!death->watching || death->died) {
        return SAP_STORE_FAULT_NONE;
    }
    if (in_moment(death, call) && ++death->calls == death->nth) {
        death->died = true;
        return SAP_STORE_FAULT_CRASH;
    }
    death->commits += call == SAP_STORE_CALL_COMMIT;
    death->puts += handler_calls > handler_calls_at_start && call == SAP_STORE_CALL_PUT;
    return SAP_STORE_FAULT_NONE;
}

/* A process: a store, a universe on it and a worker. */
typedef struct Process {
    SapStore *store;
    SapUniverse *universe;
    SapWorker *worker;
} Process;

static SapStoreOptions store_options(Death *death)
{
    SapStoreOptions options = {.size = sizeof options, .hook = hook, .hook_ctx = death};
    options.tables = universe_tables(&options.table_count);
    return options;
}

static Process start(const char *url, Death *death)
{
    Process process;
    SapStoreOptions options = store_options(death);
    SapWorkerOptions worker = {.size = sizeof worker, .name = "worker", .max_inbox_batch = 2};
    ck_assert_int_eq(sap_store_open(url, &options, &process.store), SAP_OK);
    ck_assert_int_eq(universe_open_on(process.store, NULL, NULL, 1, &process.universe), SAP_OK);
    ck_assert_int_eq(sap_worker_open(process.universe, &worker, &process.worker), SAP_OK);
    handler_calls_at_start = handler_calls;
    return process;
}

static void end(Process *process)
{
    worker_abandon(process->worker);
    ck_assert_int_eq(sap_universe_close(process->universe), SAP_OK);
    (void)sap_store_close(process->store); /* a store whose process has died may say so */
}

/* The id of an item, which is also its payload. */
static void item_id(int i, char id[8])
{
    (void)snprintf(id, 8, "i%d", i);
}

static void send_items(const Process *process)
{
    ck_assert_int_eq(sap_world_create(process->universe, "w", "append", SAP_ENCODING_RAW, "new", 3),
                     SAP_OK);
    for (int i = 0; i < ITEMS; i++) {
        char id[8];
        item_id(i, id);
        SapIngress item = {.size = sizeof item, .id = id, .payload = id, .payload_len = strlen(id)};
        item.encoding = SAP_ENCODING_RAW;
        item.want_reply = true;
        ck_assert_int_eq(sap_enqueue_ingress(process->universe, "w", &item, NULL), SAP_OK);
    }
}

static void run(const Process *process, const Death *death)
{
    bool busy = true;
    while (busy && !death->died) {
        int rc = sap_worker_step(process->worker, &busy);
        EXPECT(rc == SAP_OK || death->died, "a step returned %d", rc);
    }
}

/* What must be the same in all runs of a world: its random bytes are its own, so texts without them. */
static void expect_end(const Process *process)
{
    SapWorldInfo info;
    ck_assert_int_eq(sap_world_info(process->universe, "w", &info), SAP_OK);
    EXPECT(info.height == ITEMS + 1, "height %" PRIu64, info.height);
    for (int i = 0; i < ITEMS; i++) {
        char id[8];
        char want[128] = " new";
        SapReply *reply = NULL;
        item_id(i, id);
        ck_assert_int_eq(sap_world_reply_wait(process->universe, "w", id, 0, &reply), SAP_OK);
        EXPECT(!reply->failed && reply->height == (uint64_t)i + 2, "reply %d", i);
        const char *at = reply->payload;
        for (int j = -1; j <= i; j++) { /* " new:xx i0:xx i1:xx ..." */
            char part[8];
            item_id(j, part);
            (void)snprintf(want, sizeof want, " %s:", j < 0 ? "new" : part);
            EXPECT(strncmp(at, want, strlen(want)) == 0, "reply %d is '%s'", i, reply->payload);
            at += strlen(want) + 2;
        }
        EXPECT(*at == '\0', "reply %d has more: '%s'", i, reply->payload);
        sap_reply_free(reply);
    }
}

/* Another worker restores the world from its journal, or does not run it: one more step shows it. */
static void expect_restores(const Process *process, const Death *death)
{
    SapIngress item = {.size = sizeof item, .payload = "1", .payload_len = 1};
    SapWorkerStats stats;
    SapWorldInfo info;
    ck_assert_int_eq(sap_enqueue_ingress(process->universe, "w", &item, NULL), SAP_OK);
    run(process, death);
    ck_assert_int_eq(sap_world_info(process->universe, "w", &info), SAP_OK);
    ck_assert_int_eq(sap_worker_stats(process->worker, &stats), SAP_OK);
    EXPECT(info.height == ITEMS + 2 && info.status == SAP_WORLD_ACTIVE, "height %" PRIu64,
           info.height);
    EXPECT(stats.restored == ITEMS + 1, "%" PRIu64 " entries restored", stats.restored);
}

/* One death. False: the moment has no such call. */
static bool die_at(const StoreBed *bed, Moment moment, uint32_t nth)
{
    char url[SUITE_URL_MAX];
    Death death = {.moment = moment, .nth = nth};
    Death nobody = {0};
    SapStore *anchor = NULL;
    store_suite_next_url(bed, url, sizeof url);
    SapStoreOptions options = store_options(&nobody);
    store_suite_make(bed, url, &options);
    if (bed->is_shared) { /* what is in memory stays while it is open */
        ck_assert_int_eq(sap_store_open(url, &options, &anchor), SAP_OK);
    }
    Process first = start(url, &death);
    send_items(&first);
    death.watching = true;
    run(&first, &death);
    end(&first);
    /* The same name: its new session ends the old one, so nobody waits for that to expire. */
    Process second = start(url, &nobody);
    run(&second, &nobody);
    expect_end(&second);
    end(&second);
    Process third = start(url, &nobody);
    expect_restores(&third, &nobody);
    end(&third);
    if (anchor != NULL) {
        ck_assert_int_eq(sap_store_close(anchor), SAP_OK);
    }
    return death.died;
}

static void die_everywhere(int bed, Moment moment, const char *name)
{
    uint32_t nth = 1;
    if (bed >= beds.count) {
        return;
    }
    for (;; nth++) {
        expect_context("%s, %s, call %" PRIu32, beds.all[bed].name, name, nth);
        if (!die_at(&beds.all[bed], moment, nth)) {
            break;
        }
        EXPECT(nth < MOST_CALLS, "there is no end of calls");
    }
    EXPECT(nth > 1, "the moment has no call");
    printf("universe_crash: %s: %" PRIu32 " deaths %s\n", beds.all[bed].name, nth - 1, name);
}

START_TEST(crash_matrix_1_after_lease_acquire)
{
    die_everywhere(_i, AFTER_ACQUIRE, "after the lease was acquired");
}
END_TEST

START_TEST(crash_matrix_2_after_inbox_drain_before_append)
{
    die_everywhere(_i, AFTER_INBOX_DRAIN, "after the inbox was read, before the append");
}
END_TEST

START_TEST(crash_matrix_3_after_append_before_cursor_advance)
{
    die_everywhere(_i, AFTER_APPEND, "after the append, before the inbox rows are gone");
    die_everywhere(_i, AFTER_CYCLE_COMMIT, "after the commit, before the worker knows");
}
END_TEST

static void set_up(void)
{
    store_beds_start(&beds);
}

static void tear_down(void)
{
    store_beds_end(&beds);
}

int main(void)
{
    Suite *suite = suite_create("universe_crash");
    TCase *matrix = tcase_create("crash matrix");
    tcase_add_checked_fixture(matrix, set_up, tear_down);
    tcase_set_timeout(matrix, TIMEOUT_S);
    tcase_add_loop_test(matrix, crash_matrix_1_after_lease_acquire, 0, STORE_BED_MAX);
    tcase_add_loop_test(matrix, crash_matrix_2_after_inbox_drain_before_append, 0, STORE_BED_MAX);
    tcase_add_loop_test(matrix, crash_matrix_3_after_append_before_cursor_advance, 0,
                        STORE_BED_MAX);
    suite_add_tcase(suite, matrix);
    return suite_run(suite);
}
