/* asks.c - what worlds ask for: effects, workflows of three steps, and very many timers.
 *
 * The handlers note the time of their calls, so that a time from one handler to another is measured where it
 * happens. Every answer is counted; a measurement in which one is missing does not end. */
#include "universe/measure.h"

#include "universe/universe_impl.h"
#include "universe/worlds.h"
#include "util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ASK_WORLDS = 100,
    ASK_THREADS = 64,
    EFFECTS_PER_S = 500,
    MOST_EFFECTS = 1 << 17,
    ARM_AT_ONCE = 1000,
    ARM_WORLDS = 1000,
    FIRED_TIMERS = 100000,
    DISPATCHES = 300,
    IDLE_MS = 5000,
    SETTLE_MS =
        10000, /* until checkpoints are written, and states above max_memory are given back */
    WAIT_MOST_S = 300,
    HANDLERS = 4,
};

#define SECOND_NS UINT64_C(1000000000)
#define HOUR_NS   (3600 * SECOND_NS)

/* ---- Handlers ------------------------------------------------------------------------------- */

static _Atomic uint64_t asked_ns[MOST_EFFECTS]; /* by the number of the effect */
static _Atomic uint64_t answered_ns[MOST_EFFECTS];
static atomic_uint_least64_t answers; /* receipts of "effect" */
static atomic_uint_least64_t fired;   /* timers of "arm" */
static atomic_uint_least64_t fire_at_ns;

static int ask_effect(SapWorld *world, const SapEvent *event)
{
    char ref[24];
    SapEffect effect = {.size = sizeof effect, .kind = "nothing", .ref = ref};
    snprintf(ref, sizeof ref, "%.*s", (int)event->payload_len, (const char *)event->payload);
    atomic_store(&asked_ns[strtoul(ref, NULL, 10) % MOST_EFFECTS], bench_now_ns());
    return sap_world_effect(world, &effect);
}

/* The reply of the last step goes to whoever sent the message of the first. */
static int begin_workflow(SapWorld *world, const SapEvent *event)
{
    SapEffect effect = {.size = sizeof effect, .kind = "nothing", .ref = "workflow"};
    int rc =
        sap_world_put(world, "to", 2, SAP_ENCODING_RAW, event->reply_to, strlen(event->reply_to));
    return rc == SAP_OK ? sap_world_effect(world, &effect) : rc;
}

static int arm_one(SapWorld *world, const char *ref, uint64_t after_ns, uint64_t at_ns)
{
    SapTimer timer = {.size = sizeof timer, .ref = ref, .after_ns = after_ns, .at_ns = at_ns};
    return sap_world_timer(world, &timer);
}

static int end_workflow(SapWorld *world)
{
    const void *val = "";
    size_t len = 0;
    char to[400];
    int rc = sap_world_get(world, "to", 2, &val, &len, NULL);
    snprintf(to, sizeof to, "%.*s", (int)len, (const char *)val);
    return rc == SAP_OK ? sap_world_reply(world, to, SAP_ENCODING_JSON, "1", 1) : rc;
}

static int arm_many(SapWorld *world, uint64_t at_ns)
{
    int rc = SAP_OK;
    for (int i = 0; i < ARM_AT_ONCE && rc == SAP_OK; i++) {
        char ref[16];
        snprintf(ref, sizeof ref, "arm-%d", i);
        rc = arm_one(world, ref, at_ns ? 0 : HOUR_NS + (uint64_t)i * SECOND_NS, at_ns);
    }
    return rc;
}

static int on_ask(SapWorld *world, const SapEvent *event)
{
    if (event->kind == SAP_EVENT_RECEIPT && strcmp(event->ref, "workflow") == 0)
        return arm_one(world, "workflow", 0, 0);
    if (event->kind == SAP_EVENT_RECEIPT) {
        atomic_store(&answered_ns[strtoul(event->ref, NULL, 10) % MOST_EFFECTS], bench_now_ns());
        atomic_fetch_add(&answers, 1);
        return SAP_OK;
    }
    if (event->kind == SAP_EVENT_TIMER && strncmp(event->ref, "arm-", 4) != 0)
        return end_workflow(world);
    if (event->kind == SAP_EVENT_TIMER) {
        atomic_fetch_add(&fired, 1);
        return SAP_OK;
    }
    if (strcmp(event->name, "effect") == 0)
        return ask_effect(world, event);
    if (strcmp(event->name, "workflow") == 0)
        return begin_workflow(world, event);
    if (strcmp(event->name, "timer") == 0) {
        int rc = sap_world_put(world, "to", 2, SAP_ENCODING_RAW, event->reply_to,
                               strlen(event->reply_to));
        return rc == SAP_OK ? arm_one(world, "timer", 0, 0) : rc;
    }
    if (strcmp(event->name, "arm") == 0)
        return arm_many(world, 0);
    return strcmp(event->name, "arm together") == 0 ? arm_many(world, atomic_load(&fire_at_ns))
                                                    : SAP_OK;
}

SAP_WORLD_MODULE("ask", on_ask);

static int do_nothing(void *ctx, const SapEffectCall *call, SapEffectResult *result)
{
    (void)ctx;
    (void)call;
    (void)result;
    return SAP_OK;
}

/* ---- Worlds --------------------------------------------------------------------------------- */

typedef struct Asks {
    SapUniverse *universe;
    Host *host;
    uint32_t worlds;
    uint32_t first_trip; /* of the worlds that round trips go to */
} Asks;

static int serve_nothing(SapWorker *worker, void *ctx)
{
    SapEffectKind kind = {
        .size = sizeof kind, .kind = "nothing", .function = do_nothing, .max_running = ASK_THREADS};
    (void)ctx;
    return sap_worker_serve(worker, &kind);
}

static int create_asking(void *ctx, uint32_t thread)
{
    const Asks *asks = ctx;
    int rc = SAP_OK;
    for (uint32_t i = thread; i < asks->worlds && rc == SAP_OK; i += ASK_THREADS) {
        char name[16];
        snprintf(name, sizeof name, "a%08u", i);
        rc = sap_world_create(asks->universe, name, "ask", SAP_ENCODING_JSON, NULL, 0);
    }
    return worlds_check("create", rc);
}

static int start_asks(const UniRun *run, uint32_t worlds, Asks *asks)
{
    HostOptions options = {.worker = {.name = "bench"},
                           .handlers = HANDLERS,
                           .roles = HOST_ALL_ROLES,
                           .prepare = serve_nothing};
    *asks = (Asks){.worlds = worlds};
    if (worlds_check("open", sap_universe_open(run->url, NULL, &asks->universe)) != 0 ||
        worlds_threads(ASK_THREADS, create_asking, asks) != 0)
        return -1;
    return worlds_check("worker", host_start(asks->universe, &options, &asks->host));
}

static int end_asks(Asks *asks)
{
    return worlds_check("worker", host_stop(asks->host, UINT64_MAX)) |
           worlds_check("close", sap_universe_close(asks->universe));
}

static int send_ask(const Asks *asks, uint32_t world, const char *what, const char *id,
                    uint64_t number)
{
    char name[16], payload[24];
    snprintf(name, sizeof name, "a%08u", world % asks->worlds);
    SapIngress item = {
        .size = sizeof item, .name = what, .id = id, .want_reply = id != NULL, .payload = payload};
    item.payload_len =
        (size_t)snprintf(payload, sizeof payload, "%llu", (unsigned long long)number);
    return worlds_check("send", sap_enqueue_ingress(asks->universe, name, &item, NULL));
}

/* Sends it and waits for its reply; adds the time to the samples. */
static int round_trip(const Asks *asks, const char *what, uint32_t number, BenchSamples *samples)
{
    char id[40], name[16];
    SapReply *reply = NULL;
    uint32_t world = asks->first_trip + number % (asks->worlds - asks->first_trip);
    snprintf(id, sizeof id, "%s-%u", what, number);
    snprintf(name, sizeof name, "a%08u", world);
    uint64_t begin_ns = bench_now_ns();
    if (send_ask(asks, world, what, id, number) != 0)
        return -1;
    int rc = sap_world_reply_wait(asks->universe, name, id, WAIT_MOST_S * SECOND_NS, &reply);
    uint64_t end_ns = bench_now_ns();
    sap_reply_free(reply);
    return worlds_check("reply", rc) | bench_samples_add(samples, end_ns - begin_ns);
}

static int await_count(const atomic_uint_least64_t *count, uint64_t wanted)
{
    uint64_t begin_ns = bench_now_ns();
    while (atomic_load(count) < wanted) {
        if (bench_now_ns() - begin_ns > WAIT_MOST_S * SECOND_NS) {
            fprintf(stderr, "bench: %llu of %llu answers\n", (unsigned long long)atomic_load(count),
                    (unsigned long long)wanted);
            return -1;
        }
        bench_sleep_us(100);
    }
    return 0;
}

static double percentile(const BenchSamples *sorted, unsigned percent)
{
    return (double)sorted->ns[sorted->count * percent / 100] / 1e6;
}

/* ---- Effects -------------------------------------------------------------------------------- */

typedef struct Load {
    const Asks *asks;
    uint64_t begin_ns;
    uint64_t first;
    uint64_t count;
    uint64_t every_ns; /* 0: as fast as they can */
} Load;

static int send_load(void *ctx, uint32_t thread)
{
    const Load *load = ctx;
    int rc = 0;
    for (uint64_t i = thread; i < load->count && !rc; i += ASK_THREADS) {
        uint64_t due_ns = load->begin_ns + i * load->every_ns, now_ns = bench_now_ns();
        if (now_ns < due_ns)
            bench_sleep_us((due_ns - now_ns) / 1000);
        rc = send_ask(load->asks, (uint32_t)i, "effect", NULL, load->first + i);
    }
    return rc;
}

static int run_load(Load *load)
{
    load->begin_ns = bench_now_ns();
    return worlds_threads(ASK_THREADS, send_load, load) |
           await_count(&answers, load->first + load->count);
}

int measure_effects(const UniRun *run, double *values)
{
    Asks asks;
    BenchSamples times = {0};
    if (start_asks(run, ASK_WORLDS, &asks) != 0)
        return -1;
    Load warm_up = {.asks = &asks, .count = 500, .every_ns = SECOND_NS / EFFECTS_PER_S};
    Load even = {.asks = &asks,
                 .first = warm_up.count,
                 .count = EFFECTS_PER_S * run->ms / 1000 * 2,
                 .every_ns = SECOND_NS / EFFECTS_PER_S};
    if (run_load(&warm_up) != 0)
        return -1;
    double cpu = worlds_cpu_seconds();
    if (run_load(&even) != 0)
        return -1;
    cpu = worlds_cpu_seconds() - cpu;
    for (uint64_t i = even.first; i < even.first + even.count; i++)
        if (bench_samples_add(&times, atomic_load(&answered_ns[i]) - atomic_load(&asked_ns[i])) !=
            0)
            return -1;
    bench_samples_sort(&times);
    values[EFFECTS_P50_MS] = percentile(&times, 50);
    values[EFFECTS_P95_MS] = percentile(&times, 95);
    values[EFFECTS_P99_MS] = percentile(&times, 99);
    values[EFFECTS_CPU_US] = cpu * 1e6 / (double)even.count;
    bench_samples_release(&times);
    Load fast = {.asks = &asks, .first = even.first + even.count, .count = 10 * run->ms};
    uint64_t begin_ns = bench_now_ns();
    if (run_load(&fast) != 0)
        return -1;
    values[EFFECTS_PER_S_MOST] = (double)fast.count / ((double)(bench_now_ns() - begin_ns) / 1e9);
    return end_asks(&asks);
}

/* ---- Workflows ------------------------------------------------------------------------------ */

int measure_workflow(const UniRun *run, double *values)
{
    Asks asks;
    BenchSamples times = {0};
    if (start_asks(run, ASK_WORLDS, &asks) != 0)
        return -1;
    uint64_t end_ns = bench_now_ns() + run->ms * 1000000;
    int rc = 0;
    for (uint32_t i = 0; !rc && (i < 100 || bench_now_ns() < end_ns); i++)
        rc = round_trip(&asks, "workflow", i, &times);
    if (rc)
        return rc;
    bench_samples_sort(&times);
    values[WORKFLOW_P50_MS] = percentile(&times, 50);
    values[WORKFLOW_P95_MS] = percentile(&times, 95);
    bench_samples_release(&times);
    return end_asks(&asks);
}

/* ---- Timers --------------------------------------------------------------------------------- */

/* Of timers of 0, from the send of the message whose handler arms one to the reply of its event. */
static int measure_dispatch(const Asks *asks, uint32_t first, double *p50_ms, double *p95_ms)
{
    BenchSamples times = {0};
    int rc = 0;
    for (uint32_t i = 0; i < DISPATCHES && !rc; i++)
        rc = round_trip(asks, "timer", first + i, &times);
    if (!rc) {
        bench_samples_sort(&times);
        *p50_ms = percentile(&times, 50);
        *p95_ms = percentile(&times, 95);
    }
    bench_samples_release(&times);
    return rc;
}

static double idle_percent(void)
{
    bench_sleep_us(SETTLE_MS * UINT64_C(1000));
    double cpu = worlds_cpu_seconds();
    bench_sleep_us(IDLE_MS * UINT64_C(1000));
    return 100 * (worlds_cpu_seconds() - cpu) / (IDLE_MS / 1e3);
}

/* Timers that wait, `limit` at most. */
static int count_timers(const Asks *asks, uint32_t limit, uint64_t *count_out)
{
    enum { AT_ONCE = 1000 };
    RowKey from, to;
    SapStoreRange range;
    uint32_t count = AT_ONCE;
    int rc = SAP_OK;
    *count_out = 0;
    row_key_universe(&from, WIT_DBI_TIMERS_DUE, 0);
    row_range(&from, &to, &range);
    while (rc == SAP_OK && count == AT_ONCE && *count_out < limit) {
        SapStoreTxn *txn = NULL;
        const SapStoreRow *rows = NULL;
        rc = sap_store_begin(sap_universe_store(asks->universe), SAP_STORE_READ_NEWEST, &txn);
        rc = rc == SAP_OK ? sap_store_scan(txn, &range, false, AT_ONCE, &rows, &count) : rc;
        *count_out += rc == SAP_OK ? count : 0;
        if (rc == SAP_OK && count > 0) {
            row_key_after(&from, &rows[count - 1]);
            range.from_len = from.len;
        }
        sap_store_abort(txn);
    }
    return worlds_check("timers", rc);
}

/* Each message arms ARM_AT_ONCE timers. */
static int arm_timers(const Asks *asks, const char *what, uint32_t messages)
{
    uint64_t count = 0, before = 0;
    uint32_t armed_worlds = asks->first_trip ? asks->first_trip : asks->worlds;
    int rc = count_timers(asks, UINT32_MAX, &before);
    for (uint32_t i = 0; i < messages && !rc; i++)
        rc = send_ask(asks, i % armed_worlds, what, NULL, 0);
    while (!rc && count < before + (uint64_t)messages * ARM_AT_ONCE) {
        bench_sleep_us(20000);
        rc = count_timers(asks, UINT32_MAX, &count);
    }
    return rc;
}

int measure_timers(const UniRun *run, double *values)
{
    Asks asks;
    uint32_t messages = run->many * 10 / ARM_AT_ONCE;
    if (start_asks(run, ARM_WORLDS + ASK_WORLDS, &asks) != 0)
        return -1;
    asks.first_trip = ARM_WORLDS; /* worlds that have no other timers */
    if (measure_dispatch(&asks, 0, &values[TIMERS_FEW_P50_MS], &values[TIMERS_FEW_P95_MS]) != 0)
        return -1;
    values[TIMERS_NONE_CPU_PERCENT] = idle_percent();
    uint64_t begin_ns = bench_now_ns();
    if (arm_timers(&asks, "arm", messages) != 0)
        return -1;
    values[TIMERS_ARMED_PER_S] =
        (double)messages * ARM_AT_ONCE / ((double)(bench_now_ns() - begin_ns) / 1e9);
    values[TIMERS_CPU_PERCENT] = idle_percent() - values[TIMERS_NONE_CPU_PERCENT];
    if (measure_dispatch(&asks, DISPATCHES, &values[TIMERS_P50_MS], &values[TIMERS_P95_MS]) != 0)
        return -1;
    values[TIMERS_RATIO] = values[TIMERS_P50_MS] / values[TIMERS_FEW_P50_MS];
    return end_asks(&asks);
}

int measure_firing(const UniRun *run, double *values)
{
    Asks asks;
    uint32_t messages = FIRED_TIMERS / ARM_AT_ONCE;
    if (start_asks(run, ASK_WORLDS, &asks) != 0)
        return -1;
    /* All at one time of day, after all of them were armed. */
    uint64_t at_ns = sap_store_due_ns(sap_universe_store(asks.universe)) + 15 * SECOND_NS;
    atomic_store(&fire_at_ns, at_ns);
    if (arm_timers(&asks, "arm together", messages) != 0)
        return -1;
    if (sap_store_due_ns(sap_universe_store(asks.universe)) >= at_ns) {
        fprintf(stderr, "bench: arming took too long\n");
        return -1;
    }
    while (sap_store_due_ns(sap_universe_store(asks.universe)) < at_ns)
        bench_sleep_us(1000);
    uint64_t begin_ns = bench_now_ns(), left = 1;
    double cpu = worlds_cpu_seconds();
    while (left > 0) {
        bench_sleep_us(1000);
        if (count_timers(&asks, 1, &left) != 0)
            return -1;
    }
    values[FIRING_PER_S] =
        (double)messages * ARM_AT_ONCE / ((double)(bench_now_ns() - begin_ns) / 1e9);
    if (await_count(&fired, (uint64_t)messages * ARM_AT_ONCE) != 0)
        return -1;
    cpu = worlds_cpu_seconds() - cpu;
    values[FIRING_HANDLED_PER_S] =
        (double)messages * ARM_AT_ONCE / ((double)(bench_now_ns() - begin_ns) / 1e9);
    values[FIRING_CPU_US] = cpu * 1e6 / ((double)messages * ARM_AT_ONCE);
    return end_asks(&asks);
}
