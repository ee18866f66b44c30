/* worker.c - see worker.h. */
#include "runner/worker.h"

#include "common/assert.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/options.h"
#include "runner/lease_v0.h"
#include "runner/mailbox_v0.h"
#include "runner/poll.h"
#include "runner/rows.h"
#include "runner/wire_v0.h"

#include <string.h>
#include <time.h>

enum {
    IDLE_DEFAULT_MS = 1000,
    FORWARD_MAX = 64,
    /* After a failure that is not the handler's, doubled up to the idle sleep. */
    ERROR_SLEEP_MS = 10,
    /* While nobody can be asked to wake the thread. */
    UNWATCHED_SLEEP_MS = 2,
    UNWAKEABLE_SLEEP_MS = 100,
    UNWATCH_TRIES = 20000,
    UNWATCH_NAP_NS = 100000,
};

/* ---- Gate ----------------------------------------------------------------------------------- */

int sap_runner_v0_db_gate_init(SapRunnerV0DbGate *gate)
{
    if (gate == NULL) {
        return SAP_ERROR;
    }
    Mutex *mutex = mem_alloc(MEM_RUNNER, sizeof *mutex);
    if (mutex == NULL) {
        return SAP_NOMEM;
    }
    if (!mutex_init(mutex)) {
        mem_free(MEM_RUNNER, mutex, sizeof *mutex);
        return SAP_NOMEM;
    }
    gate->mutex = mutex;
    return SAP_OK;
}

void sap_runner_v0_db_gate_shutdown(SapRunnerV0DbGate *gate)
{
    if (gate != NULL && gate->mutex != NULL) {
        mutex_destroy(gate->mutex);
        mem_free(MEM_RUNNER, gate->mutex, sizeof(Mutex));
        gate->mutex = NULL;
    }
}

/* ---- Lifecycle ------------------------------------------------------------------------------ */

OPTIONS_LAYOUT(SapRunnerV0WorkerConfig, runner.random_ctx, runner);

static bool worker_usable(const SapRunnerV0Worker *worker)
{
    return worker != NULL && worker->core != NULL && runner_usable(&worker->runner);
}

int sap_runner_v0_worker_init(SapRunnerV0Worker *worker, const SapRunnerV0WorkerConfig *given)
{
    SapRunnerV0WorkerConfig known;
    const SapRunnerV0WorkerConfig *config = &known;

    if (worker == NULL) {
        return SAP_ERROR;
    }
    *worker = (SapRunnerV0Worker){0};
    if (OPTIONS_READ(SapRunnerV0WorkerConfig, &known, given) != SAP_OK ||
        !poll_handler_valid(&config->handler)) {
        return SAP_ERROR;
    }
    known.runner.size = sizeof known.runner; /* it was read as a part of the worker's */
    struct SapRunnerV0WorkerCore *core = mem_zalloc(MEM_RUNNER, sizeof *core);
    if (core == NULL) {
        return SAP_NOMEM;
    }
    core->handler = config->handler;
    core->max_batch = config->max_batch > 0 ? config->max_batch : 1;
    core->max_idle_sleep_ms =
        config->max_idle_sleep_ms > 0 ? config->max_idle_sleep_ms : IDLE_DEFAULT_MS;
    core->forward = config->forward;
    core->forward_ctx = config->forward_ctx;
    core->wake_at_ms = INT64_MIN;
    int rc = SAP_NOMEM;
    if (!mutex_init(&core->lock)) {
        goto no_lock;
    }
    if (!cond_init(&core->cond)) {
        goto no_cond;
    }
    rc = sap_runner_v0_init(&worker->runner, &config->runner);
    if (rc != SAP_OK) {
        goto no_runner;
    }
    worker->runner.core->local = (LocalWorkers){.fn = config->is_local,
                                                .ctx = config->is_local_ctx,
                                                .only_self = config->forward != NULL,
                                                .self = config->runner.worker_id};
    worker->core = core;
    return SAP_OK;

no_runner:
    cond_destroy(&core->cond);
no_cond:
    mutex_destroy(&core->lock);
no_lock:
    mem_free(MEM_RUNNER, core, sizeof *core);
    return rc;
}

int sap_runner_v0_worker_shutdown(SapRunnerV0Worker *worker)
{
    if (worker == NULL || worker->core == NULL) {
        return SAP_OK;
    }
    if (env_is_foreign(worker->runner.db)) {
        worker->core = NULL; /* its thread, its watches and its bell are the other process's */
        return sap_runner_v0_shutdown(&worker->runner);
    }
    if (worker_is_inside(worker)) {
        return SAP_BUSY;
    }
    int rc = SAP_OK;
    if (worker->core->started) {
        sap_runner_v0_worker_request_stop(worker);
        rc = sap_runner_v0_worker_join(worker);
    }
    if (worker->core->started) {
        return rc;
    }
    int shut = sap_runner_v0_shutdown(&worker->runner);
    if (worker->runner.core != NULL) {
        return shut; /* a tick is under way */
    }
    cond_destroy(&worker->core->cond);
    mutex_destroy(&worker->core->lock);
    mem_free(MEM_RUNNER, worker->core, sizeof *worker->core);
    worker->core = NULL;
    return rc == SAP_OK ? shut : rc;
}

int sap_runner_v0_worker_set_policy(SapRunnerV0Worker *worker, const SapRunnerV0Policy *policy)
{
    return worker == NULL ? SAP_ERROR : sap_runner_v0_set_policy(&worker->runner, policy);
}

void sap_runner_v0_worker_set_idle_policy(SapRunnerV0Worker *worker, uint32_t max_idle_sleep_ms)
{
    if (worker_usable(worker)) {
        worker->core->max_idle_sleep_ms =
            max_idle_sleep_ms > 0 ? max_idle_sleep_ms : IDLE_DEFAULT_MS;
    }
}

void sap_runner_v0_worker_set_time_hooks(SapRunnerV0Worker *worker,
                                         const SapRunnerV0TimeHooks *hooks)
{
    if (worker_usable(worker)) {
        worker->runner.core->time = hooks != NULL ? *hooks : (SapRunnerV0TimeHooks){0};
    }
}

void sap_runner_v0_worker_set_db_gate(SapRunnerV0Worker *worker, SapRunnerV0DbGate *gate)
{
    if (worker_usable(worker)) {
        worker->runner.core->gate = gate != NULL && gate->mutex != NULL ? gate : NULL;
    }
}

/* ---- Ticks ---------------------------------------------------------------------------------- */

/* Offers to the forwarder only what is for elsewhere. */
static int forward_one(const void *frame, uint32_t frame_len, uint64_t seq, void *ctx)
{
    SapRunnerV0Worker *worker = ctx;

    if (wire_check(frame, frame_len) != SAP_OK ||
        outbox_is_local(wire_to_worker(frame), &worker->runner.core->local)) {
        return SAP_BUSY;
    }
    return worker->core->forward(frame, frame_len, seq, worker->core->forward_ctx);
}

/* One round of everything, without waiting for the disk. */
static int tick(SapRunnerV0Worker *worker, PollResult *result)
{
    struct SapRunnerV0WorkerCore *core = worker->core;
    int rc = poll_run(&worker->runner, POLL_ALL, &core->handler, core->max_batch, result);

    if ((rc == SAP_OK || rc == SAP_BUSY) && core->forward != NULL) {
        uint32_t sent = 0;
        int drained = outbox_drain_from(worker->runner.db, &core->forward_resume, FORWARD_MAX,
                                        forward_one, worker, &sent);
        result->moved += sent;
        if (drained != SAP_OK && rc == SAP_OK) {
            /* Whatever is wrong with the way out, messages were handled, and more may wait. */
            runner_log(&worker->runner, SAP_RUNNER_V0_LOG_WORKER_ERROR, NULL, drained, 0, 0);
        } else if (drained != SAP_OK) {
            rc = drained;
        } else if (sent > 0 || core->forward_resume != 0) {
            rc = SAP_OK;
        }
    }
    if (result->handler_rc != SAP_OK) {
        runner_log(&worker->runner, SAP_RUNNER_V0_LOG_WORKER_ERROR, NULL, result->handler_rc, 0, 0);
    }
    if (rc != SAP_OK && rc != SAP_BUSY && rc != SAP_NOTFOUND && rc != SAP_CONFLICT) {
        runner_log(&worker->runner, SAP_RUNNER_V0_LOG_WORKER_ERROR, NULL, rc, 0, 0);
        return rc;
    }
    /* Others were faster, or something moved while it was looked at: it passes. */
    return rc == SAP_OK ? SAP_OK : SAP_BUSY;
}

int sap_runner_v0_worker_tick(SapRunnerV0Worker *worker, uint32_t *handled_out)
{
    PollResult result = {0};

    if (!worker_usable(worker)) {
        return SAP_ERROR;
    }
    if (!runner_take(&worker->runner)) {
        if (handled_out != NULL) {
            *handled_out = 0;
        }
        return SAP_BUSY;
    }
    int rc = tick(worker, &result);
    if (rc != SAP_BUSY) {
        poll_count_queue(&worker->runner);
    }
    if (handled_out != NULL) {
        *handled_out = result.handled;
    }
    int waited = runner_wait_last(&worker->runner);
    runner_give(&worker->runner);
    if (rc != SAP_OK && rc != SAP_BUSY) {
        return rc;
    }
    if (waited != SAP_OK) {
        return waited;
    }
    return result.handler_rc != SAP_OK ? result.handler_rc : rc;
}

int sap_runner_v0_worker_compute_idle_sleep_ms(SapRunnerV0Worker *worker, uint32_t *ms_out)
{
    int64_t next_ms;

    if (!worker_usable(worker) || ms_out == NULL) {
        return SAP_ERROR;
    }
    int64_t now_ms = runner_now_ms(&worker->runner);
    int rc = poll_next_ms(&worker->runner, POLL_ALL, now_ms, &next_ms);
    if (rc == SAP_OK) {
        *ms_out =
            sap_runner_scheduler_v0_sleep_budget(now_ms, next_ms, worker->core->max_idle_sleep_ms);
    }
    return rc;
}

/* ---- The thread ----------------------------------------------------------------------------- */

static void ring(void *ctx)
{
    struct SapRunnerV0WorkerCore *core = ctx;

    mutex_lock(&core->lock);
    core->bell++;
    if (core->asleep) {
        cond_broadcast(&core->cond);
    }
    mutex_unlock(&core->lock);
}

void sap_runner_v0_worker_request_stop(SapRunnerV0Worker *worker)
{
    if (worker_usable(worker)) {
        mutex_lock(&worker->core->lock);
        worker->core->stop = true;
        mutex_unlock(&worker->core->lock);
        ring(worker->core);
    }
}

#if SAPLING_THREADED

/* The worker whose loop this thread runs; NULL: none. */
static _Thread_local const SapRunnerV0Worker *loop_of;

bool worker_is_inside(const SapRunnerV0Worker *worker)
{
    return loop_of == worker;
}

static void on_inbox(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                     void *ctx)
{
    (void)key;
    (void)key_len;
    (void)val_len;
    if (val != NULL) {
        ring(ctx);
    }
}

static void on_timer(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                     void *ctx)
{
    struct SapRunnerV0WorkerCore *core = ctx;
    int64_t due_ms;
    uint64_t seq;

    (void)val_len;
    if (val == NULL || row_timer_key_read(key, key_len, &due_ms, &seq) != SAP_OK) {
        return;
    }
    mutex_lock(&core->lock);
    bool earlier = due_ms < core->wake_at_ms;
    mutex_unlock(&core->lock);
    if (earlier) {
        ring(core);
    }
}

/* SAP_BUSY: a write transaction is open. */
static int set_watch(SapRunnerV0Worker *worker, bool on, bool timers)
{
    MailboxRange range = mailbox_range(worker->runner.worker_id);
    uint32_t dbi = timers ? WIT_DBI_TIMERS : WIT_DBI_INBOX;
    uint32_t prefix_len = timers ? 0 : 8;
    sap_watch_fn fn = timers ? on_timer : on_inbox;
    bool *watching = timers ? &worker->core->watching_timers : &worker->core->watching_inbox;

    if (*watching == on) {
        return SAP_OK;
    }
    int rc = on ? db_watch_dbi(worker->runner.db, dbi, range.lo, prefix_len, fn, worker->core)
                : db_unwatch_dbi(worker->runner.db, dbi, range.lo, prefix_len, fn, worker->core);
    *watching = rc == SAP_OK ? on : *watching;
    return rc;
}

/* Before the first sleep the thread asks to be woken. SAP_BUSY: a writer is in the way just now. */
static int ask_to_be_woken(SapRunnerV0Worker *worker)
{
    if (worker->core->watching_inbox && worker->core->watching_timers) {
        return SAP_OK;
    }
    int rc = set_watch(worker, true, false);
    if (rc == SAP_OK) {
        rc = set_watch(worker, true, true);
    }
    if (rc == SAP_OK) {
        ring(worker->core); /* what came before is looked for once more */
    } else if (rc != SAP_BUSY) {
        runner_log(&worker->runner, SAP_RUNNER_V0_LOG_WORKER_ERROR, NULL, rc, 0, 0);
    }
    return rc;
}

/* Returns how long the thread may sleep if it wants `ms`: shorter while nothing would wake it. */
static uint32_t sleep_at_most(SapRunnerV0Worker *worker, uint32_t ms)
{
    int rc = ms > UNWATCHED_SLEEP_MS ? ask_to_be_woken(worker) : SAP_OK;
    uint32_t most = rc == SAP_OK ? ms : rc == SAP_BUSY ? UNWATCHED_SLEEP_MS : UNWAKEABLE_SLEEP_MS;

    return ms < most ? ms : most;
}

/* Others end their transactions soon. SAP_BUSY: one has been open for seconds. */
static int unwatch(SapRunnerV0Worker *worker)
{
    int rc = SAP_BUSY;

    for (uint32_t i = 0; i < UNWATCH_TRIES && rc == SAP_BUSY; i++) {
        rc = set_watch(worker, false, false);
        if (rc == SAP_OK) {
            rc = set_watch(worker, false, true);
        }
        if (rc == SAP_BUSY) {
            (void)nanosleep(&(struct timespec){.tv_nsec = UNWATCH_NAP_NS}, NULL);
        }
    }
    return rc;
}

static bool stopping(struct SapRunnerV0WorkerCore *core)
{
    mutex_lock(&core->lock);
    bool stop = core->stop;
    mutex_unlock(&core->lock);
    return stop;
}

/* Sleeps for ms unless the bell has rung since it was `heard`. */
static void sleep_unless_rung(SapRunnerV0Worker *worker, uint32_t ms, uint64_t heard)
{
    struct SapRunnerV0WorkerCore *core = worker->core;
    const SapRunnerV0TimeHooks *time = &worker->runner.core->time;

    if (time->sleep_ms != NULL) {
        time->sleep_ms(ms, time->ctx);
        return;
    }
    int64_t wake_at_ms = lease_deadline(runner_now_ms(&worker->runner), ms);
    uint64_t until_ns = clock_mono_ns(NULL) + (uint64_t)ms * 1000000;
    mutex_lock(&core->lock);
    core->wake_at_ms = wake_at_ms;
    core->asleep = true;
    while (core->bell == heard) {
        uint64_t now_ns = clock_mono_ns(NULL);
        if (now_ns >= until_ns) {
            break;
        }
        cond_wait_ns(&core->cond, &core->lock, until_ns - now_ns);
    }
    core->wake_at_ms = INT64_MIN;
    core->asleep = false;
    mutex_unlock(&core->lock);
}

static uint64_t bell_now(struct SapRunnerV0WorkerCore *core)
{
    mutex_lock(&core->lock);
    uint64_t bell = core->bell;
    /* From here on until the sleep every earlier timer matters. */
    core->wake_at_ms = INT64_MAX;
    mutex_unlock(&core->lock);
    return bell;
}

static void *loop(void *arg)
{
    SapRunnerV0Worker *worker = arg;
    struct SapRunnerV0WorkerCore *core = worker->core;
    uint32_t error_sleep_ms = ERROR_SLEEP_MS;

    loop_of = worker;
    while (!stopping(core)) {
        PollResult result = {0};
        uint32_t sleep_ms = 0;
        uint64_t heard = bell_now(core);
        int rc = tick(worker, &result);

        if (rc == SAP_OK) {
            /* The disk may be one tick late, not more, so that syncs and handlers overlap. */
            rc = runner_wait_lagging(&worker->runner);
        } else if (rc == SAP_BUSY) {
            rc = runner_wait_last(&worker->runner);
            if (rc == SAP_OK && core->forward != NULL &&
                core->forwarded_lsn != worker->runner.core->last_lsn) {
                /* Frames for elsewhere are offered when they are on disk, as they are only now. */
                core->forwarded_lsn = worker->runner.core->last_lsn;
                continue;
            }
            if (rc == SAP_OK) {
                rc = sap_runner_v0_worker_compute_idle_sleep_ms(worker, &sleep_ms);
            }
        }
        if (rc == SAP_OK) {
            error_sleep_ms = ERROR_SLEEP_MS;
        } else {
            sleep_ms = error_sleep_ms;
            error_sleep_ms = error_sleep_ms < core->max_idle_sleep_ms / 2 ? error_sleep_ms * 2
                                                                          : core->max_idle_sleep_ms;
            heard = bell_now(core);
        }
        if (sleep_ms > 0 && !stopping(core)) {
            sleep_unless_rung(worker, sleep_at_most(worker, sleep_ms), heard);
        }
    }
    poll_count_queue(&worker->runner);
    (void)runner_wait_last(&worker->runner);
    return NULL;
}

int sap_runner_v0_worker_start(SapRunnerV0Worker *worker)
{
    if (!worker_usable(worker) || worker->core->started) {
        return SAP_ERROR;
    }
    if (!runner_take(&worker->runner)) {
        return SAP_BUSY;
    }
    struct SapRunnerV0WorkerCore *core = worker->core;
    core->stop = false;
    core->own = (Bell){
        .db = worker->runner.db, .worker_id = worker->runner.worker_id, .ring = ring, .ctx = core};
    int rc = bells_add(&core->own);
    if (rc == SAP_OK && pthread_create(&core->thread, NULL, loop, worker) != 0) {
        bells_remove(&core->own);
        rc = SAP_NOMEM;
    }
    if (rc != SAP_OK) {
        runner_give(&worker->runner);
        return rc;
    }
    core->started = true;
    core->joined = false;
    return SAP_OK;
}

int sap_runner_v0_worker_join(SapRunnerV0Worker *worker)
{
    if (!worker_usable(worker) || !worker->core->started || worker_is_inside(worker)) {
        return SAP_ERROR;
    }
    struct SapRunnerV0WorkerCore *core = worker->core;
    if (!core->joined) {
        pthread_join(core->thread, NULL);
        core->joined = true;
        runner_give(&worker->runner);
        bells_remove(&core->own);
    }
    int rc = unwatch(worker);
    if (rc != SAP_OK) {
        return rc;
    }
    core->started = false;
    return runner_wait_last(&worker->runner);
}

#else

bool worker_is_inside(const SapRunnerV0Worker *worker)
{
    (void)worker;
    return false;
}

int sap_runner_v0_worker_start(SapRunnerV0Worker *worker)
{
    (void)worker;
    return SAP_ERROR;
}

int sap_runner_v0_worker_join(SapRunnerV0Worker *worker)
{
    (void)worker;
    return SAP_ERROR;
}

#endif
