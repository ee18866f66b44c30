/* Effects and timers on every store that threads may share: two adapters, a timer worker and a reaper, each
 * in a thread of its own, while the holder asks and consumes. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/relaxed.h"
#include "support/expect.h"
#include "support/store_suite.h"
#include "support/suite.h"
#include "support/universe_queue.h"

enum {
    TIMEOUT_S = 120,
    EFFECTS = 150,
    TIMERS = 40,
    CANCELLED = 20,
    MOST_ROUNDS = 20000,
    WAIT_NS = 20000000,
};

static StoreBeds beds;

typedef struct Outside {
    SAP_ATOMIC(bool) stopping;
    RelaxedU64 calls[256]; /* by the number of the intent */
} Outside;

typedef struct Role {
    Queue *queue;
    Outside *outside;
    Session session;
    pthread_t thread;
} Role;

static int count_call(void *ctx, const EffectCall *call, EffectResult *result)
{
    Outside *outside = (Outside *)ctx;
    relaxed_add(&outside->calls[call->effect->params.data[0]], 1);
    result->encoding = SAP_ENCODING_RAW;
    return buf_append(&result->payload, call->effect->params.data, 1);
}

static bool goes_on(const Role *role)
{
    return !atomic_load_full(&role->outside->stopping);
}

static void expect_soft(int rc, const char *call)
{
    EXPECT(rc == SAP_OK || rc == SAP_BUSY || rc == SAP_CONFLICT, "%s returned %d", call, rc);
}

static void *run_adapter(void *ctx)
{
    Role *role = (Role *)ctx;
    Adapter *adapter = NULL;
    AdapterKind kind;
    EffectFunction function = {count_call, role->outside};
    adapter_kind_function(&kind, "k", &function);
    EXPECT_RC(
        adapter_open(&role->session, &role->queue->universe->producer, NULL, &kind, 1, &adapter),
        SAP_OK);
    while (goes_on(role)) {
        bool busy = false;
        int rc = adapter_step(adapter, &busy);
        expect_soft(rc, "adapter_step");
        if (rc == SAP_OK && !busy) {
            EXPECT_RC(adapter_wait(adapter, WAIT_NS), SAP_OK);
        }
    }
    adapter_close(adapter);
    return NULL;
}

static void *run_timers(void *ctx)
{
    Role *role = (Role *)ctx;
    TimerWorker timers;
    timer_worker_init(&timers, role->queue->store, 1, &role->queue->universe->producer);
    while (goes_on(role)) {
        bool busy = false;
        int rc = timer_worker_step(&timers, &busy);
        expect_soft(rc, "timer_worker_step");
        if (rc == SAP_OK && !busy) {
            EXPECT_RC(timer_worker_wait(&timers, WAIT_NS), SAP_OK);
        }
    }
    return NULL;
}

static void *run_reaper(void *ctx)
{
    Role *role = (Role *)ctx;
    EffectReaper reaper;
    effect_reaper_init(&reaper, &role->session, &role->queue->universe->producer);
    while (goes_on(role)) {
        bool busy = false;
        expect_soft(effect_reaper_step(&reaper, &busy), "effect_reaper_step");
        struct timespec pause = {.tv_nsec = WAIT_NS};
        (void)nanosleep(&pause, NULL);
    }
    EXPECT(reaper.stats.returned + reaper.stats.timeouts + reaper.stats.unserved == 0,
           "the reaper took what was not lost");
    effect_reaper_release(&reaper);
    return NULL;
}

static void start_role(Role *role, Queue *queue, Outside *outside, const char *name,
                       void *(*run)(void *))
{
    *role = (Role){.queue = queue, .outside = outside};
    EXPECT_RC(session_init(&role->session, queue->store, NULL, NULL, 1, name), SAP_OK);
    EXPECT_RC(session_start(&role->session), SAP_OK);
    EXPECT(pthread_create(&role->thread, NULL, run, role) == 0, "no thread");
}

/* The roles get in the holder's way now and then. */
static int again(int rc)
{
    expect_soft(rc, "a cycle");
    return rc;
}

static void ask(Queue *queue)
{
    for (uint32_t i = 0; i < EFFECTS + TIMERS; i++) {
        uint8_t number = (uint8_t)(i + 1);
        int rc = SAP_BUSY;
        while (rc != SAP_OK) {
            rc = again(i < EFFECTS ? queue_publish(queue, number, "k", NULL)
                                   : queue_arm(queue, number, WIT_UNIVERSE_TIMER_CLOCK_LEASE,
                                               timer_after(queue->store, i * 1000000)));
        }
    }
    for (uint32_t i = 0; i < CANCELLED; i++) {
        uint8_t number = (uint8_t)(EFFECTS + TIMERS + 1 + i);
        while (again(queue_publish(queue, number, "nobody", NULL)) != SAP_OK) {
        }
        while (again(queue_cancel(queue, number, false)) != SAP_OK) {
        }
    }
}

static void consume_all(Queue *queue)
{
    bool consumed[EFFECTS + TIMERS] = {false};
    uint32_t left = EFFECTS + TIMERS;
    for (uint32_t round = 0; left > 0; round++) {
        EXPECT(round < MOST_ROUNDS, "%u intents have no end", left);
        for (uint32_t i = 0; i < EFFECTS + TIMERS; i++) {
            int rc = consumed[i] ? SAP_NOTFOUND : queue_consume(queue, (uint8_t)(i + 1), NULL);
            if (rc != SAP_NOTFOUND && again(rc) == SAP_OK) {
                consumed[i] = true;
                left--;
            }
        }
    }
    for (uint32_t i = 0; i < EFFECTS + TIMERS; i++) {
        EXPECT_RC(queue_consume(queue, (uint8_t)(i + 1), NULL), SAP_NOTFOUND);
    }
}

static void run_on(int bed)
{
    enum { ROLES = 4 };
    static const char *const names[ROLES] = {"adapter-1", "adapter-2", "timers", "reaper"};
    static void *(*const runs[ROLES])(void *) = {run_adapter, run_adapter, run_timers, run_reaper};
    SapStoreOptions options = {.size = sizeof options};
    char url[SUITE_URL_MAX];
    SapStore *store = NULL;
    Queue queue;
    Outside outside = {.stopping = false};
    Role roles[ROLES];
    if (bed >= beds.count) {
        return;
    }
    options.tables = universe_tables(&options.table_count);
    store_suite_next_url(&beds.all[bed], url, sizeof url);
    store_suite_make(&beds.all[bed], url, &options);
    EXPECT_RC(sap_store_open(url, &options, &store), SAP_OK);
    queue_open_on(&queue, store);
    for (int i = 0; i < ROLES; i++) {
        start_role(&roles[i], &queue, &outside, names[i], runs[i]);
    }
    uint64_t begin_ns = clock_mono_ns(NULL);
    ask(&queue);
    consume_all(&queue);
    uint64_t ms = (clock_mono_ns(NULL) - begin_ns) / 1000000;
    atomic_store_full(&outside.stopping, true);
    for (int i = 0; i < ROLES; i++) {
        pthread_join(roles[i].thread, NULL);
        session_release(&roles[i].session);
    }
    for (uint32_t i = 1; i <= EFFECTS; i++) {
        EXPECT(relaxed_load(&outside.calls[i]) == 1, "effect %u was called %" PRIu64 " times", i,
               relaxed_load(&outside.calls[i]));
    }
    EXPECT(queue_rows(&queue) == 0, "%u rows are left", queue_rows(&queue));
    printf("universe_effects_threads: %s: %d effects and %d timers in %" PRIu64 " ms\n",
           beds.all[bed].name, EFFECTS, TIMERS, ms);
    queue_close(&queue);
}

START_TEST(roles_of_several_threads_end_each_intent_once_in_a_file)
{
    run_on(STORE_BED_FILE);
}
END_TEST

START_TEST(roles_of_several_threads_end_each_intent_once_on_a_server)
{
    run_on(STORE_BED_POSTGRES);
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
    Suite *suite = suite_create("universe_effects_threads");
    TCase *test_case = tcase_create("stores");
    tcase_add_checked_fixture(test_case, set_up, tear_down);
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, roles_of_several_threads_end_each_intent_once_in_a_file);
    tcase_add_test(test_case, roles_of_several_threads_end_each_intent_once_on_a_server);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
