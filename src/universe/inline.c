/* inline.c - handlers in the thread that steps the worker: what an executor is without threads.
 *
 * While such a handler runs, that thread can do nothing about it. So the thread that renews the session
 * looks at its time and at its lease: a handler that does not return is seen from outside, and one whose
 * world was taken away, or whose session may be over soon, is told so. The lock is held by it until the
 * meta row is written, so that a handler that returns meanwhile finds out that its world was marked. */
#include "universe/worker_impl.h"

static void set_running(SapWorker *worker, HotWorld *world)
{
    InlineRun *run = &worker->inline_run;
    mutex_lock(&run->lock);
    worker->stats.stuck += run->marked;
    run->world = world;
    run->marked = false;
    mutex_unlock(&run->lock);
}

static void start_inline(void *ctx, ExecutorJob *job)
{
    SapWorker *worker = (SapWorker *)ctx;
    set_running(worker, (HotWorld *)(void *)((char *)job - offsetof(HotWorld, job)));
    job->run(job);
    set_running(worker, NULL);
}

static bool has_run_inline(void *ctx, ExecutorJob *job)
{
    (void)ctx;
    (void)job;
    return true;
}

static void cancel_inline(void *ctx, ExecutorJob *job)
{
    (void)ctx;
    (void)job;
}

int inline_init(SapWorker *worker)
{
    worker->executor = (Executor){
        .start = start_inline, .poll = has_run_inline, .cancel = cancel_inline, .ctx = worker};
    return mutex_init(&worker->inline_run.lock) ? SAP_OK : SAP_NOMEM;
}

void inline_release(SapWorker *worker)
{
    mutex_destroy(&worker->inline_run.lock);
}

/* Any other code than these two is of a store that cannot be asked now: the next look asks again. */
static bool is_lost(int rc)
{
    return rc == SAP_FENCED || rc == SAP_NOTFOUND;
}

static void check_world(SapWorker *worker, HotWorld *world)
{
    uint64_t now_ns = clock_boot_ns(worker->universe->clock);
    int rc = SAP_OK;
    if (!session_may_work(&worker->session)) {
        rc = SAP_FENCED;
    } else if (world->is_stuck) {
        rc = worker_check_stuck(worker, world);
    } else if (now_ns - world->started_ns >= worker_longest_run(worker, world)) {
        rc = worker_mark_stuck(worker, world);
        worker->inline_run.marked = rc == SAP_OK;
    }
    if (is_lost(rc)) {
        atomic_store_relaxed(&world->cancelled, true);
    }
}

void inline_check(SapWorker *worker)
{
    InlineRun *run = &worker->inline_run;
    mutex_lock(&run->lock);
    if (run->world != NULL) {
        check_world(worker, run->world);
    }
    mutex_unlock(&run->lock);
}
