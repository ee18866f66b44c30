/* worker.c - a worker: holds worlds that have something to do, and runs their cycles.
 *
 * A step of it:
 *
 *   collect jobs that have ended -> choose worlds by their hints, acquire, restore, load (hints.c)
 *   -> start their jobs -> write what is ready in one fenced transaction (batch.c)
 *   -> say in meta rows what an operator should know
 *
 * Handlers are not run again when a batch is submitted again. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/options.h"
#include "store/store_impl.h"
#include "universe/modules.h"
#include "universe/worker_impl.h"

enum {
    DEFAULT_WORLDS = 100000,
    DEFAULT_BATCH = 16,
    DEFAULT_ITEMS = 64,
    MOST_ITEMS = 4096,
    DEFAULT_EFFECTS = 1024,
    DEFAULT_WALL_MS = 50,
    DEFAULT_ATTEMPTS = 8,
    DEFAULT_HANDLER_MS = 10000,
    DEFAULT_IDLE_MS = 60000,
    RUNNING_BATCHES = 2, /* worlds that run at once, in batches */
    GIVEN_BACK_AT_ONCE = 16,
};

#define DEFAULT_MEMORY (UINT64_C(256) << 20)
#define NS_PER_MS      UINT64_C(1000000)
#define STUCK_CHECK_NS UINT64_C(1000000000)
#define QUEUED_TOLD_NS UINT64_C(10000000000)
#define SLOW_NS        UINT64_C(100000000) /* after which a handler leaves its place to another */
#define DAMAGE_TOLD_NS UINT64_C(3600000000000)

OPTIONS_LAYOUT(SapWorkerOptions, max_memory, resolve_ctx);

/* ---- Lists ----------------------------------------------------------------------------------- */

void hot_list_add(HotList *list, HotWorld *world)
{
    world->next = NULL;
    *(list->last != NULL ? &list->last->next : &list->first) = world;
    list->last = world;
    list->count++;
}

void hot_list_remove(HotList *list, HotWorld *world)
{
    HotWorld *before = NULL;
    HotWorld **at = &list->first;
    while (*at != world) {
        SAP_ASSERT(*at != NULL);
        before = *at;
        at = &before->next;
    }
    *at = world->next;
    if (list->last == world) {
        list->last = before;
    }
    world->next = NULL;
    list->count--;
}

/* ---- Executors ------------------------------------------------------------------------------- */

void worker_set_executor(SapWorker *worker, const Executor *executor)
{
    worker->executor = *executor;
}

void universe_poke(SapUniverse *universe)
{
    store_poke(universe->store, STORE_POKE_JOB);
}

void universe_poke_all(SapUniverse *universe)
{
    store_poke(universe->store, STORE_POKE_JOB);
    store_poke(universe->store, STORE_POKE_CALL);
}

/* ---- Opening --------------------------------------------------------------------------------- */

static uint32_t or_default(uint32_t given, uint32_t otherwise)
{
    return given != 0 ? given : otherwise;
}

static uint32_t at_most(uint32_t given, uint32_t most)
{
    return given < most ? given : most;
}

static void set_limits(SapWorker *worker, const SapWorkerOptions *options)
{
    worker->max_worlds = or_default(options->max_worlds, DEFAULT_WORLDS);
    worker->max_batch = or_default(options->max_worlds_per_commit, DEFAULT_BATCH);
    worker->max_memory = options->max_memory != 0 ? options->max_memory : DEFAULT_MEMORY;
    worker->max_idle_ns = NS_PER_MS * or_default(options->max_idle_ms, DEFAULT_IDLE_MS);
    worker->max_handler_ns = NS_PER_MS * or_default(options->max_handler_ms, DEFAULT_HANDLER_MS);
    worker->limits = (CycleLimits){
        .outstanding = worker->universe->max_outstanding,
        .items = at_most(or_default(options->max_inbox_batch, DEFAULT_ITEMS), MOST_ITEMS),
        .steps = or_default(options->max_tick_steps_per_cycle, DEFAULT_ITEMS),
        .effects = or_default(options->max_effects_per_cycle, DEFAULT_EFFECTS),
        .wall_ns = NS_PER_MS * or_default(options->max_cycle_wall_ms, DEFAULT_WALL_MS),
        .attempts = or_default(options->max_attempts, DEFAULT_ATTEMPTS),
    };
}

static void count_worker(SapUniverse *universe, int change)
{
    mutex_lock(&universe->lock);
    universe->workers += (uint32_t)change;
    mutex_unlock(&universe->lock);
    modules_use(change);
}

static int start_session(SapWorker *worker, const char *name)
{
    SapUniverse *universe = worker->universe;
    char drawn[32];
    uint8_t bytes[6];
    if (name == NULL) {
        int rc = random_fill(universe->random, bytes, sizeof bytes);
        if (rc != SAP_OK) {
            return rc;
        }
        (void)snprintf(drawn, sizeof drawn, "worker-%02x%02x%02x%02x%02x%02x", bytes[0], bytes[1],
                       bytes[2], bytes[3], bytes[4], bytes[5]);
        name = drawn;
    }
    int rc = session_init(&worker->session, universe->store, universe->clock, universe->random,
                          universe->number, name);
    rc = rc == SAP_OK ? modules_check() : rc;
    rc = rc == SAP_OK ? modules_publish(universe->store, universe->number) : rc;
    if (rc == SAP_OK && universe->session_ttl_ns != 0) {
        worker->session.ttl_ns = universe->session_ttl_ns;
        worker->session.renewal_ns = universe->session_ttl_ns / 4;
        worker->session.margin_ns = universe->session_ttl_ns / 4;
    }
    return rc == SAP_OK ? session_start(&worker->session) : rc;
}

int sap_worker_open(SapUniverse *universe, const SapWorkerOptions *options, SapWorker **worker_out)
{
    SapWorkerOptions all = {.size = sizeof all};
    if (universe == NULL || worker_out == NULL ||
        OPTIONS_READ(SapWorkerOptions, &all, options) != SAP_OK ||
        all.max_worlds_per_commit > BATCH_WORLDS) {
        return SAP_ERROR;
    }
    SapWorker *worker = (SapWorker *)mem_zalloc(MEM_UNIVERSE, sizeof *worker);
    if (worker == NULL) {
        return SAP_NOMEM;
    }
    worker->universe = universe;
    worker->retry_at_ns = UINT64_MAX;
    worker->resolver.resolve = all.resolve;
    worker->resolver.release = all.release;
    worker->resolver.ctx = all.resolve_ctx;
    set_limits(worker, &all);
    int rc = hot_init(&worker->hot);
    if (rc != SAP_OK) {
        goto free_worker;
    }
    rc = inline_init(worker);
    if (rc != SAP_OK) {
        goto release_hot;
    }
    count_worker(universe, 1); /* from here on the universe is not closed */
    rc = start_session(worker, all.name);
    if (rc != SAP_OK) {
        goto release_session;
    }
    serving_init(worker);
    LOG_EVENT(universe->meters.log, LOG_LEVEL_INFO, "universe.worker_started",
              LOG_STR("worker", worker->session.worker.text));
    *worker_out = worker;
    return SAP_OK;

release_session:
    count_worker(universe, -1);
    session_release(&worker->session);
    inline_release(worker);
release_hot:
    hot_release(&worker->hot);
free_worker:
    mem_free(MEM_UNIVERSE, worker, sizeof *worker);
    return rc;
}

static void leave_batch(SapWorker *worker, const HotWorld *world)
{
    for (uint32_t i = 0; i < worker->batch_count; i++) {
        if (worker->batch[i] == world) {
            worker->batch[i] = worker->batch[--worker->batch_count];
            return;
        }
    }
}

static void free_world(SapWorker *worker, HotWorld *world)
{
    if (world->careful) {
        atomic_store(&worker->universe->careful, false);
    }
    resolver_use(&worker->resolver, world, NULL);
    cycle_world_free(world);
}

void worker_drop(SapWorker *worker, HotWorld *world)
{
    hot_remove(&worker->hot, world);
    switch (world->state_now) {
    case HOT_IDLE:
        break;
    case HOT_LOADED:
        hot_list_remove(&worker->chosen, world);
        break;
    case HOT_RUNNING:
        hot_list_remove(&worker->running, world);
        hot_list_add(&worker->lost, world);
        atomic_store_relaxed(&world->cancelled, true);
        worker->executor.cancel(worker->executor.ctx, &world->job);
        return; /* freed when its job has ended */
    case HOT_READY:
        hot_list_remove(&worker->ready, world);
        break;
    case HOT_SUBMITTED:
        leave_batch(worker, world);
        break;
    case HOT_ATTENTION:
        hot_list_remove(&worker->attention, world);
        break;
    }
    free_world(worker, world);
}

/* Frees worlds that were lost while their jobs ran, and whose jobs have ended. */
static void free_lost(SapWorker *worker)
{
    HotWorld *next = NULL;
    for (HotWorld *world = worker->lost.first; world != NULL; world = next) {
        next = world->next;
        if (worker->executor.poll(worker->executor.ctx, &world->job)) {
            hot_list_remove(&worker->lost, world);
            world->state_now = HOT_READY;
            free_world(worker, world);
        }
    }
}

void worker_abandon(SapWorker *worker)
{
    if (worker == NULL) {
        return;
    }
    while (worker->hot.newest != NULL) {
        worker_drop(worker, worker->hot.newest);
    }
    free_lost(worker);
    SAP_ASSERT(worker->lost.count == 0);
    resolver_close(&worker->resolver);
    serving_release(worker);
    inline_release(worker);
    hot_release(&worker->hot);
    session_release(&worker->session);
    gauge_set(meters_of(worker)->hot, 0);
    gauge_set(meters_of(worker)->memory, 0);
    gauge_set(meters_of(worker)->running, 0);
    gauge_set(meters_of(worker)->effects_running, 0);
    gauge_set(meters_of(worker)->orchestrates, 0);
    gauge_set(meters_of(worker)->reaps, 0);
    count_worker(worker->universe, -1);
    mem_free(MEM_UNIVERSE, worker, sizeof *worker);
}

static int renew_session(SapWorker *worker)
{
    Session *session = &worker->session;
    Meters *meters = &worker->universe->meters;
    if (clock_boot_ns(session->clock) < relaxed_load(&session->renew_at_ns)) {
        return SAP_OK;
    }
    uint64_t start_ns = clock_mono_ns(session->clock);
    int rc = session_renew(session);
    histogram_record(meters->renewal_ns, clock_mono_ns(session->clock) - start_ns);
    counter_add(meters->renewals, rc == SAP_OK);
    counter_add(meters->renewal_failures, rc != SAP_OK);
    if (rc != SAP_OK) {
        LOG_EVENT(meters->log, rc == SAP_FENCED ? LOG_LEVEL_ERROR : LOG_LEVEL_WARN,
                  "universe.renewal_failed", LOG_STR("worker", session->worker.text),
                  LOG_STR("code", sap_strerror(rc)));
        counter_add(meters->sessions_lost, rc == SAP_FENCED);
    }
    return rc;
}

int sap_worker_renew(SapWorker *worker)
{
    if (worker == NULL) {
        return SAP_ERROR;
    }
    int rc = renew_session(worker);
    inline_check(worker); /* after the renewal, which must not wait for it */
    return rc;
}

int sap_worker_stats(SapWorker *worker, SapWorkerStats *stats_out)
{
    if (worker == NULL || stats_out == NULL) {
        return SAP_ERROR;
    }
    *stats_out = worker->stats;
    stats_out->held = worker->hot.count;
    return SAP_OK;
}

/* ---- Worlds that are given up ---------------------------------------------------------------- */

void worker_fence(SapWorker *worker, HotWorld *world)
{
    worker->stats.fenced++;
    counter_add(worker->universe->meters.fenced, 1);
    LOG_EVENT(worker->universe->meters.log, LOG_LEVEL_WARN, "universe.fenced",
              LOG_STR("world", world->lease.name.text), LOG_U64("epoch", world->lease.epoch),
              LOG_U64("height", world->head.height));
    worker_drop(worker, world);
}

static int uncount_body(SapStoreTxn *store_txn, void *ctx)
{
    HotWorld *world = (HotWorld *)ctx;
    WriteSet *sets[1] = {&world->writes};
    UniverseTxn txn;
    UniverseGuard guard = {world->lease.key, true};
    int rc = universe_txn_start(&txn, store_txn, PARTY_HOLDER, &guard, 1, NULL, 0);
    rc = rc == SAP_OK ? lease_stands(&world->lease, store_txn) : rc;
    return rc == SAP_OK ? writes_apply(sets, 1, &txn) : rc;
}

/* Gives back the lease of a world. One that has begun an item and not ended it, because its commit failed
 * or nobody waited for it, has not ended its process. */
static int release_world(SapWorker *worker, HotWorld *world)
{
    uint64_t mark = 0;
    int rc = SAP_OK;
    if (world->begun) {
        writes_clear(&world->writes);
        rc = cycle_write_attempt(world, false);
        rc = rc == SAP_OK ? sap_store_run(worker->universe->store, SAP_STORE_GUARDED, uncount_body,
                                          world, NULL)
                          : rc;
        writes_clear(&world->writes);
    }
    rc = rc == SAP_OK ? lease_release(&world->lease, &mark) : rc;
    if (rc == SAP_OK) {
        worker->mark = mark; /* it comes after what was committed */
        worker->stats.released++;
        counter_add(meters_of(worker)->released, 1);
    }
    return rc;
}

int worker_give_back(SapWorker *worker, HotWorld *world)
{
    int rc = release_world(worker, world);
    if (rc == SAP_OK || rc == SAP_FENCED) {
        worker_drop(worker, world);
        return SAP_OK;
    }
    return rc;
}

void worker_note_damage(const SapWorker *worker, const char *what, const UniverseName *world)
{
    LOG_EVENT(meters_of(worker)->log, LOG_LEVEL_ERROR, "universe.damaged", LOG_STR("what", what),
              LOG_STR("world", world == NULL ? "" : world->text));
}

void worker_note_damage_hourly(const SapWorker *worker, const char *what, uint64_t *again_at_ns)
{
    uint64_t now_ns = clock_boot_ns(worker->universe->clock);
    if (now_ns >= *again_at_ns) {
        *again_at_ns = now_ns + DAMAGE_TOLD_NS;
        worker_note_damage(worker, what, NULL);
    }
}

bool worker_lost(SapWorker *worker, HotWorld *world, int rc)
{
    if (rc == SAP_CORRUPT) {
        worker_note_damage(worker, "a row of meta, lease or head", &world->lease.name);
    } else if (rc != SAP_FENCED && rc != SAP_NOTFOUND) {
        return false;
    }
    worker_fence(worker, world);
    return true;
}

int worker_pause(SapWorker *worker, HotWorld *world, const char *reason)
{
    bool failed = world->pause;
    HeldChange change = {
        .status = WIT_UNIVERSE_WORLD_STATUS_PAUSED,
        .reason = reason,
        .failed_class = world->failed_class,
        .failed_seq = failed ? world->failed_seq : NULL,
        .failed_version = failed ? module_version(world->module) : 0,
    };
    int rc = world_change_held(worker->universe, &world->lease, &change);
    if (rc != SAP_OK) {
        return worker_lost(worker, world, rc) ? SAP_OK : rc;
    }
    worker->stats.paused++;
    counter_add(worker->universe->meters.paused, 1);
    LOG_EVENT(worker->universe->meters.log, LOG_LEVEL_ERROR, "universe.paused",
              LOG_STR("world", world->lease.name.text), LOG_U64("epoch", world->lease.epoch),
              LOG_U64("height", world->head.height),
              LOG_STR("correlation_id", failed ? world->correlation : ""),
              LOG_STR("reason", reason));
    worker_drop(worker, world);
    return SAP_OK;
}

/* ---- What operators should know -------------------------------------------------------------- */

static uint64_t hash_reason(const char *reason)
{
    return reason[0] == 0 ? 0 : hash_bytes(reason, strlen(reason), 1) | 1;
}

/* Brings the meta row of the world in line with what it does. */
static int note_world(SapWorker *worker, HotWorld *world, WitUniverseWorldStatus status,
                      const char *reason)
{
    HeldChange change = {.status = status, .reason = reason};
    int rc = world_change_held(worker->universe, &world->lease, &change);
    if (rc == SAP_OK) {
        world->noted = hash_reason(reason);
        world->is_stuck = status == WIT_UNIVERSE_WORLD_STATUS_STUCK;
    }
    return rc;
}

void worker_cycle_ended(SapWorker *worker, HotWorld *world, bool committed)
{
    const char *reason = world->waits ? world->reason : "";
    bool tells = committed || world->waits || world->pause;
    if (world->careful) {
        world->careful = false;
        atomic_store(&worker->universe->careful, false);
    }
    world->used_ns = clock_boot_ns(worker->universe->clock);
    if (world->waits && world->retry_at_ns < worker->retry_at_ns) {
        worker->retry_at_ns = world->retry_at_ns;
    }
    hot_used(&worker->hot, world, cycle_world_memory(world));
    if (world->pause || world->is_stuck || (tells && world->noted != hash_reason(reason))) {
        world->state_now = HOT_ATTENTION;
        hot_list_add(&worker->attention, world);
    }
}

static int attend(SapWorker *worker, HotWorld *world)
{
    if (world->pause) {
        return worker_pause(worker, world, world->reason);
    }
    int rc = note_world(worker, world, WIT_UNIVERSE_WORLD_STATUS_ACTIVE,
                        world->waits ? world->reason : "");
    if (rc == SAP_OK && world->waits) {
        LOG_EVENT(meters_of(worker)->log, LOG_LEVEL_WARN, "universe.waiting",
                  LOG_STR("world", world->lease.name.text), LOG_U64("epoch", world->lease.epoch),
                  LOG_U64("height", world->head.height),
                  LOG_STR("correlation_id", world->correlation), LOG_STR("reason", world->reason));
    }
    if (rc == SAP_OK) {
        hot_list_remove(&worker->attention, world);
        world->state_now = HOT_IDLE;
        worker->retry_at_ns = 0; /* its hints were passed over meanwhile */
        return SAP_OK;
    }
    return worker_lost(worker, world, rc) ? SAP_OK : rc;
}

static int attend_all(SapWorker *worker)
{
    int rc = SAP_OK;
    while (rc == SAP_OK && worker->attention.first != NULL) {
        rc = attend(worker, worker->attention.first);
    }
    return rc;
}

uint64_t worker_longest_run(const SapWorker *worker, const HotWorld *world)
{
    return world->module->timeout_ns != 0 ? world->module->timeout_ns : worker->max_handler_ns;
}

int worker_mark_stuck(SapWorker *worker, HotWorld *world)
{
    char reason[128];
    (void)snprintf(reason, sizeof reason, "its handler has run for %" PRIu64 " s",
                   worker_longest_run(worker, world) / (1000 * NS_PER_MS));
    int rc = note_world(worker, world, WIT_UNIVERSE_WORLD_STATUS_STUCK, reason);
    if (rc != SAP_OK) {
        return rc;
    }
    if (world->careful) { /* it may run for ever: other suspects have their turn */
        world->careful = false;
        atomic_store(&worker->universe->careful, false);
    }
    counter_add(worker->universe->meters.stuck, 1);
    LOG_EVENT(worker->universe->meters.log, LOG_LEVEL_ERROR, "universe.stuck",
              LOG_STR("world", world->lease.name.text), LOG_U64("epoch", world->lease.epoch),
              LOG_U64("height", world->head.height));
    return SAP_OK;
}

int worker_check_stuck(SapWorker *worker, const HotWorld *world)
{
    SapStoreTxn *txn = NULL;
    int rc = sap_store_begin(worker->universe->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? lease_stands(&world->lease, txn) : rc;
    sap_store_abort(txn);
    return rc;
}

/* Its executor has not begun it: others run for long. If that lasts, its meta row says so. */
static int check_waiting(SapWorker *worker, HotWorld *world, uint64_t now_ns)
{
    static const char reason[] = "its handler waits for those of other worlds";
    if (now_ns - world->started_ns < QUEUED_TOLD_NS || world->noted == hash_reason(reason)) {
        return SAP_OK;
    }
    return note_world(worker, world, WIT_UNIVERSE_WORLD_STATUS_ACTIVE, reason);
}

/* Looks at a handler that runs for too long: first at its time, then every second at its lease. */
static int check_running(SapWorker *worker, HotWorld *world, uint64_t now_ns)
{
    int rc = SAP_OK;
    if (world->began_ns == 0 && atomic_load_relaxed(&world->job.begun)) {
        world->began_ns = now_ns;
    }
    if (world->began_ns == 0) {
        rc = check_waiting(worker, world, now_ns);
    } else if (!world->is_stuck) {
        world->checked_ns = now_ns;
        if (now_ns - world->began_ns < worker_longest_run(worker, world)) {
            return SAP_OK;
        }
        rc = worker_mark_stuck(worker, world);
        worker->stats.stuck += rc == SAP_OK;
    } else if (now_ns - world->checked_ns >= STUCK_CHECK_NS) {
        world->checked_ns = now_ns;
        rc = worker_check_stuck(worker, world);
    }
    return worker_lost(worker, world, rc) ? SAP_OK : rc;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* Whose job has ended: ready, or aborted. */
static int collect_job(SapWorker *worker, HotWorld *world)
{
    Meters *meters = &worker->universe->meters;
    hot_list_remove(&worker->running, world);
    histogram_record(meters->cycle_ns, clock_boot_ns(worker->universe->clock) - world->started_ns);
    counter_add(meters->failures, world->failed);
    counter_add(meters->waits, world->waits && world->failed == 0);
    worker->stats.failures += world->failed;
    int rc = cycle_finish(world);
    if (rc == SAP_OK) {
        hot_list_add(&worker->ready, world);
    } else {
        worker_cycle_ended(worker, world, false);
    }
    return rc == SAP_FENCED ? SAP_OK : rc;
}

static int collect_jobs(SapWorker *worker)
{
    HotWorld *next = NULL;
    int rc = SAP_OK;
    uint64_t now_ns = clock_boot_ns(worker->universe->clock);
    for (HotWorld *world = worker->running.first; rc == SAP_OK && world != NULL; world = next) {
        next = world->next;
        bool ended = worker->executor.poll(worker->executor.ctx, &world->job);
        rc = ended ? collect_job(worker, world) : check_running(worker, world, now_ns);
    }
    gauge_set(meters_of(worker)->running, worker->running.count);
    return rc;
}

/* How many processes have begun this item and not ended it: counted before the handler begins. */
typedef struct Attempt {
    const HotWorld *world;
    const uint8_t *seq;
    uint32_t before;
} Attempt;

static int attempt_body(SapStoreTxn *store_txn, void *ctx)
{
    Attempt *attempt = (Attempt *)ctx;
    const Lease *lease = &attempt->world->lease;
    UniverseTxn txn;
    UniverseGuard guard = {lease->key, true};
    RowKey key;
    Slice val = {0};
    Buf buf = {0};
    WitUniverseDbi27AttemptValue row;
    row_key_world(&key, WIT_DBI_ATTEMPT, lease->session->universe, &lease->name);
    int rc = universe_txn_start(&txn, store_txn, PARTY_HOLDER, &guard, 1, NULL, 0);
    rc = rc == SAP_OK ? lease_stands(lease, store_txn) : rc;
    rc = rc == SAP_OK ? universe_get(store_txn, &key, &val) : rc;
    attempt->before = 0;
    if (rc == SAP_OK) {
        rc =
            row_decode_code(wit_universe_dbi27_attempt_value_decode(val.data, val.len, &row, NULL));
        if (rc != SAP_OK) {
            return rc;
        }
        bool same = memcmp(row.seq.data, attempt->seq, UNIVERSE_SEQ) == 0;
        attempt->before = same ? row.count : 0;
        wit_universe_dbi27_attempt_value_free(&row);
    }
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    row =
        (WitUniverseDbi27AttemptValue){lend_bytes(attempt->seq, UNIVERSE_SEQ), attempt->before + 1};
    rc = wit_universe_dbi27_attempt_value_encode(&row, &buf, NULL);
    rc = rc == SAP_OK ? universe_put(&txn, &key, (Slice){buf.data, buf.len}) : rc;
    buf_release(&buf);
    return rc;
}

/* Durable: a process that ends in the handler leaves its count behind. */
static int count_attempt(SapWorker *worker, HotWorld *world)
{
    const InboxItem *item = cycle_first_item(world);
    Attempt attempt = {.world = world};
    if (item == NULL || (world->begun && memcmp(world->begun_seq, item->seq, UNIVERSE_SEQ) == 0)) {
        return SAP_OK; /* its row counts this process already */
    }
    attempt.seq = item->seq;
    int rc =
        sap_store_run(worker->universe->store, SAP_STORE_GUARDED, attempt_body, &attempt, NULL);
    if (rc == SAP_OK) {
        world->begun = true;
        world->begun_before = attempt.before;
        memcpy(world->begun_seq, item->seq, UNIVERSE_SEQ);
    }
    return rc;
}

void worker_unchoose(SapWorker *worker, HotWorld *world)
{
    hot_list_remove(&worker->chosen, world);
    cycle_forget(world);
    world->state_now = HOT_IDLE;
    if (world->careful) {
        world->careful = false;
        atomic_store(&worker->universe->careful, false);
    }
}

/* Starts a world that was chosen. It leaves `chosen` in any case. */
static int start_job(SapWorker *worker, HotWorld *world)
{
    CycleLimits limits = worker->limits;
    int rc = SAP_OK;
    if (world->careful) {
        limits.steps = 1;
        rc = count_attempt(worker, world);
    }
    rc = rc == SAP_OK ? cycle_begin(world, worker->universe, &limits) : rc;
    if (rc != SAP_OK) {
        worker_unchoose(worker, world);
        if (rc == SAP_CORRUPT) {
            return worker_pause(worker, world, "its lease or its row of attempts is damaged");
        }
        if (rc == SAP_FENCED) {
            worker_fence(worker, world);
        }
        return rc == SAP_FENCED ? SAP_OK : rc;
    }
    hot_list_remove(&worker->chosen, world);
    world->state_now = HOT_RUNNING;
    hot_list_add(&worker->running, world);
    worker->executor.start(worker->executor.ctx, &world->job);
    return SAP_OK;
}

/* Leases are durable before handlers run: if one of them ends the process, the next one sees from its
 * lease that the world was not given back. */
static int start_jobs(SapWorker *worker)
{
    int first = worker->taken_mark == 0
                    ? SAP_OK
                    : sap_store_wait_durable(worker->universe->store, worker->taken_mark);
    if (first != SAP_OK) {
        return first;
    }
    worker->taken_mark = 0;
    while (worker->chosen.first != NULL) {
        int rc = start_job(worker, worker->chosen.first);
        first = first == SAP_OK ? rc : first;
    }
    return first;
}

/* ---- The step -------------------------------------------------------------------------------- */

HotWorld *worker_oldest_idle(const SapWorker *worker)
{
    uint64_t now_ns = clock_boot_ns(worker->universe->clock);
    return hot_oldest_idle(&worker->hot,
                           now_ns > worker->max_idle_ns ? now_ns - worker->max_idle_ns : 0);
}

/* Worlds that were not used for long, or for which there is no more memory, are given back: some in a step, and
 * steps follow one another until none is left. */
static int give_back_idle(SapWorker *worker, bool *busy_out)
{
    uint64_t now_ns = clock_boot_ns(worker->universe->clock);
    int rc = SAP_OK;
    int given = 0;
    for (; rc == SAP_OK && given < GIVEN_BACK_AT_ONCE; given++) {
        HotWorld *world = worker_oldest_idle(worker);
        bool large = worker->hot.memory > worker->max_memory && worker->hot.count > 1;
        if (world == NULL || !(large || now_ns - world->used_ns >= worker->max_idle_ns)) {
            break;
        }
        rc = worker_give_back(worker, world);
    }
    *busy_out = *busy_out || (rc == SAP_OK && given == GIVEN_BACK_AT_ONCE);
    gauge_set(meters_of(worker)->hot, worker->hot.count);
    gauge_set(meters_of(worker)->memory, (int64_t)worker->hot.memory);
    return rc;
}

/* The session may be over soon: nothing of what was done will be committed. */
static void stop_cycles(SapWorker *worker)
{
    for (HotWorld *world = worker->running.first; world != NULL; world = world->next) {
        atomic_store_relaxed(&world->cancelled, true);
        worker->executor.cancel(worker->executor.ctx, &world->job);
    }
    (void)collect_jobs(worker);
    while (worker->ready.first != NULL) {
        HotWorld *world = worker->ready.first;
        hot_list_remove(&worker->ready, world);
        (void)cycle_end(world, false);
        worker_cycle_ended(worker, world, false);
    }
    if (worker->batch_state == BATCH_RUN) {
        batch_end(worker, false);
    }
}

/* Whether a running world keeps no other from being started: its handler does not return, or takes long
 * where the executor has room for more. */
static bool has_left_place(const SapWorker *worker, const HotWorld *world, uint64_t now_ns)
{
    return world->is_stuck ||
           (worker->executor.capacity > 0 && now_ns - world->started_ns >= SLOW_NS);
}

/* How many worlds more may be under way. Handlers that do not return are not waited for. */
static uint32_t room_for_cycles(const SapWorker *worker)
{
    uint32_t under_way = worker->ready.count;
    uint32_t most = worker->max_batch * RUNNING_BATCHES;
    uint64_t now_ns = clock_boot_ns(worker->universe->clock);
    for (const HotWorld *world = worker->running.first; world != NULL; world = world->next) {
        under_way += !has_left_place(worker, world, now_ns);
    }
    uint32_t room = at_most(under_way < most ? most - under_way : 0, worker->max_batch);
    if (worker->executor.capacity > 0) {
        uint32_t jobs = worker->running.count + worker->lost.count;
        uint32_t left = jobs < worker->executor.capacity ? worker->executor.capacity - jobs : 0;
        room = at_most(room, left);
    }
    return room;
}

/* Chooses worlds and runs them, as far as there is room. */
static int begin_cycles(SapWorker *worker)
{
    uint32_t room = room_for_cycles(worker);
    if (room == 0) {
        return SAP_OK;
    }
    int rc = worker_choose(worker, room);
    rc = rc == SAP_OK ? start_jobs(worker) : rc;
    if (rc != SAP_OK) {
        while (worker->chosen.first != NULL) {
            worker_unchoose(worker, worker->chosen.first);
        }
    }
    return rc;
}

static int step_worlds(SapWorker *worker, bool *busy_out)
{
    worker->pokes = store_pokes(worker->universe->store, STORE_POKE_JOB);
    free_lost(worker);
    if (!session_may_work(&worker->session)) {
        stop_cycles(worker);
        return relaxed_load(&worker->session.deadline_ns) == 0 ? SAP_FENCED : SAP_BUSY;
    }
    int modules = resolver_step(&worker->resolver, worker->universe, &worker->session);
    bool resolves = worker->batch_state == BATCH_UNKNOWN;
    int rc = resolves ? batch_resolve(worker) : SAP_OK;
    rc = rc == SAP_OK ? collect_jobs(worker) : rc;
    if (rc == SAP_OK && worker->batch_state == BATCH_IDLE) {
        uint32_t running = worker->running.count;
        rc = begin_cycles(worker);
        *busy_out = resolves || worker->running.count > running;
        rc = rc == SAP_OK ? collect_jobs(worker) : rc;
        batch_fill(worker);
        *busy_out = *busy_out || (worker->hint_from.len > 0 && room_for_cycles(worker) > 0);
    }
    if (rc == SAP_OK && worker->batch_state == BATCH_RUN) {
        *busy_out = true;
        rc = batch_submit(worker);
    }
    rc = rc == SAP_OK ? attend_all(worker) : rc;
    rc = rc == SAP_OK && !*busy_out ? batch_settle(worker) : rc;
    rc = rc == SAP_OK ? give_back_idle(worker, busy_out) : rc;
    return rc == SAP_OK ? modules : rc; /* worlds do not wait for those that nobody needs yet */
}

int sap_worker_step_role(SapWorker *worker, SapRole role, bool *busy_out)
{
    int rc = SAP_ERROR;
    if (worker == NULL || busy_out == NULL) {
        return SAP_ERROR;
    }
    *busy_out = false;
    switch (role) {
    case SAP_ROLE_WORLDS:
        if (atomic_exchange(&worker->stepping, true)) {
            return SAP_BUSY; /* a handler calls its own worker */
        }
        rc = step_worlds(worker, busy_out);
        atomic_store(&worker->stepping, false);
        return rc;
    case SAP_ROLE_ORCHESTRATOR:
        return orchestrator_step(worker, busy_out);
    case SAP_ROLE_REAPER:
        return reaper_step(worker, busy_out);
    case SAP_ROLE_TIMERS:
        return timers_step(worker, busy_out);
    case SAP_ROLE_EFFECTS:
        return effects_step(worker, busy_out);
    }
    return rc;
}

int sap_worker_step(SapWorker *worker, bool *busy_out)
{
    return sap_worker_step_role(worker, SAP_ROLE_WORLDS, busy_out);
}

/* When the first of the worlds that wait for another attempt is due; UINT64_MAX: there are none. One that runs says
 * it when its job has ended. */
static uint64_t next_retry(const SapWorker *worker, uint64_t now_ns)
{
    uint64_t next_ns = UINT64_MAX;
    for (const HotWorld *world = worker->hot.newest; world != NULL; world = world->older) {
        if (world->state_now != HOT_RUNNING && world->retry_at_ns > now_ns &&
            world->retry_at_ns < next_ns) {
            next_ns = world->retry_at_ns;
        }
    }
    return next_ns;
}

static int wait_for_worlds(SapWorker *worker, uint64_t timeout_ns)
{
    RowKey key;
    uint64_t now_ns = clock_boot_ns(worker->universe->clock);
    if (worker->retry_at_ns <= now_ns) { /* one is due: look again */
        worker->retry_at_ns = next_retry(worker, now_ns);
        return SAP_OK;
    }
    uint64_t left_ns = worker->retry_at_ns - now_ns;
    bool full = room_for_cycles(worker) == 0;
    if (full && worker->executor.capacity > 0) { /* a slow one may leave its place */
        left_ns = SLOW_NS < left_ns ? SLOW_NS : left_ns;
    }
    row_key_universe(&key, WIT_DBI_READY, worker->universe->number);
    SapStorePrefix prefix = {key.table, key.bytes, key.len};
    /* Without room for another world only the end of a job matters. */
    uint64_t version = full ? UINT64_MAX : worker->hints_version;
    int rc = store_wait_poked(worker->universe->store, SAP_STORE_READ_NEWEST, &prefix, version,
                              STORE_POKE_JOB, worker->pokes,
                              timeout_ns < left_ns ? timeout_ns : left_ns);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

int sap_worker_wait_role(SapWorker *worker, SapRole role, uint64_t timeout_ns)
{
    if (worker == NULL) {
        return SAP_ERROR;
    }
    switch (role) {
    case SAP_ROLE_WORLDS:
        return wait_for_worlds(worker, timeout_ns);
    case SAP_ROLE_TIMERS:
        return timer_worker_wait(&worker->serving.timers, timeout_ns);
    case SAP_ROLE_EFFECTS:
        return worker->serving.adapter != NULL ? adapter_wait(worker->serving.adapter, timeout_ns)
                                               : SAP_OK;
    case SAP_ROLE_ORCHESTRATOR:
    case SAP_ROLE_REAPER:
        break;
    }
    return SAP_ERROR;
}

int sap_worker_wait(SapWorker *worker, uint64_t timeout_ns)
{
    return sap_worker_wait_role(worker, SAP_ROLE_WORLDS, timeout_ns);
}

/* ---- Closing --------------------------------------------------------------------------------- */

static int release_all(SapWorker *worker)
{
    uint64_t mark = 0;
    int rc = SAP_OK;
    while (rc == SAP_OK && worker->hot.newest != NULL) {
        rc = worker_give_back(worker, worker->hot.newest);
    }
    rc = rc == SAP_OK && worker->orchestrator.role.lease.epoch != 0
             ? lease_release(&worker->orchestrator.role.lease, &mark)
             : rc;
    rc = (rc == SAP_OK || rc == SAP_FENCED) && worker->reaper.role.lease.epoch != 0
             ? lease_release(&worker->reaper.role.lease, &mark)
             : rc;
    return rc == SAP_OK || rc == SAP_FENCED ? session_end(&worker->session) : rc;
}

int sap_worker_close(SapWorker *worker)
{
    if (worker == NULL) {
        return SAP_OK;
    }
    if (atomic_load(&worker->stepping)) {
        return SAP_BUSY; /* a handler closes its own worker */
    }
    stop_cycles(worker); /* what runs now will not be committed */
    free_lost(worker);
    if (worker->running.count > 0 || worker->lost.count > 0) {
        return SAP_BUSY;
    }
    int settled = batch_settle(worker);
    bool gives_back = settled == SAP_OK && session_may_work(&worker->session) &&
                      worker->batch_state != BATCH_UNKNOWN;
    if (gives_back) {
        serving_settle(worker);
    }
    int rc = gives_back ? release_all(worker) : settled;
    LOG_EVENT(worker->universe->meters.log, LOG_LEVEL_INFO, "universe.worker_closed",
              LOG_STR("worker", worker->session.worker.text), LOG_U64("steps", worker->stats.steps),
              LOG_I64("code", rc));
    worker_abandon(worker);
    return rc;
}
