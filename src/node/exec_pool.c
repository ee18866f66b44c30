/* exec_pool.c - see exec_pool.h. */
#include "node/exec_pool.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/assert.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/mem.h"
#include "common/sync.h"

#define MS_NS      UINT64_C(1000000)
#define GRACE_NS   (500 * MS_NS)  /* for a program whose standard input was closed */
#define STALLED_NS (2000 * MS_NS) /* without a good answer of any process: waiting is of no use */
#define WAIT_NS    (50 * MS_NS)
#define LOOK_NS    (1000 * MS_NS) /* between looks at which processes are idle, while there are any */

typedef struct StartRequest {
    ExecPool *pool;
    ExecProcess *process;
    ExecError *error;
    int code;
    bool done;
    struct StartRequest *next;
} StartRequest;

struct ExecPool {
    ExecKeeper *keeper;
    ExecSpawn spawn;
    const char *module;
    uint32_t max_processes;
    uint32_t count;
    uint32_t taken; /* of these */
    uint32_t waiting;
    uint64_t progress_ns; /* when one was last given back in good order, or the first was taken */
    ExecProcess *idle;    /* the one used last comes first */
    ExecPool *next;
};

struct ExecKeeper {
    Mutex lock; /* of all below, and of all pools */
    Cond changed;
    pthread_t thread;
    int wake_fd;
    bool stopping;
    const Log *log;
    ExecMeters *meters;
    uint64_t idle_ns;
    ExecGuard guard;
    ExecPool *pools;
    ExecProcess *ending;
    StartRequest *starts;
    Buf fds;     /* struct pollfd; the keeper's own */
    Buf watched; /* ExecProcess *, one for each */
};

static void wake_keeper(const ExecKeeper *keeper)
{
    uint64_t one = 1;
    ssize_t put = write(keeper->wake_fd, &one, sizeof one);
    SAP_ASSERT(put == (ssize_t)sizeof one || errno == EAGAIN || errno == EINTR);
}

static ExecVoice pool_voice(const ExecPool *pool)
{
    return (ExecVoice){pool->keeper->log, pool->module, ""};
}

/* The lock is held. */
static void pool_assert_valid(const ExecPool *pool)
{
    uint32_t idle = 0;
    for (const ExecProcess *process = pool->idle; process != NULL; process = process->next) {
        SAP_ASSERT(!process->killed);
        idle++;
    }
    SAP_ASSERT(idle + pool->taken <= pool->count && pool->count <= pool->max_processes);
}

/* ---- Ending; the lock is held
 * ------------------------------------------------------------------ */

/* The pool has it no more; the keeper waits for its end. */
static void retire_process(ExecPool *pool, ExecProcess *process)
{
    ExecKeeper *keeper = pool->keeper;
    SAP_ASSERT(pool->count > 0);
    pool->count--;
    process->next = keeper->ending;
    keeper->ending = process;
    cond_broadcast(&keeper->changed);
    wake_keeper(keeper);
}

static void end_gently(ExecPool *pool, ExecProcess *process)
{
    exec_process_ask_to_end(process, clock_mono_ns(NULL) + GRACE_NS);
    retire_process(pool, process);
}

static void end_at_once(ExecPool *pool, ExecProcess *process)
{
    exec_process_kill(process);
    retire_process(pool, process);
}

/* Takes it from the idle ones; false: it is not there any more. */
static bool unlink_idle(ExecPool *pool, const ExecProcess *process)
{
    for (ExecProcess **at = &pool->idle; *at != NULL; at = &(*at)->next) {
        if (*at == process) {
            *at = process->next;
            return true;
        }
    }
    return false;
}

/* ---- The keeper
 * -------------------------------------------------------------------------------- */

static void start_process(ExecKeeper *keeper, StartRequest *request)
{
    ExecProcess *process = NULL;
    int rc = exec_process_start(&request->pool->spawn, &process, request->error);
    mutex_lock(&keeper->lock);
    if (rc == SAP_OK) {
        counter_add(keeper->meters->starts, 1);
        gauge_add(keeper->meters->processes, 1);
    }
    request->process = process;
    request->code = rc;
    request->done = true;
    cond_broadcast(&keeper->changed);
    mutex_unlock(&keeper->lock);
}

static StartRequest *take_start(ExecKeeper *keeper)
{
    mutex_lock(&keeper->lock);
    StartRequest *request = keeper->starts;
    if (request != NULL) {
        keeper->starts = request->next;
    }
    mutex_unlock(&keeper->lock);
    return request;
}

/* Frees what has ended, kills what does not end by itself. */
static void reap_ending(ExecKeeper *keeper, uint64_t now_ns)
{
    ExecProcess *ended = NULL;
    mutex_lock(&keeper->lock);
    for (ExecProcess **at = &keeper->ending; *at != NULL;) {
        ExecProcess *process = *at;
        if (exec_process_has_ended(process)) {
            *at = process->next;
            process->next = ended;
            ended = process;
            continue;
        }
        if (!process->killed && now_ns >= process->kill_at_ns) {
            exec_process_kill(process);
        }
        at = &process->next;
    }
    mutex_unlock(&keeper->lock);
    while (ended != NULL) {
        ExecProcess *process = ended;
        ended = process->next;
        exec_process_free(process, &keeper->guard);
        gauge_add(keeper->meters->processes, -1);
    }
}

static void end_idle(ExecPool *pool, uint64_t now_ns)
{
    for (ExecProcess **at = &pool->idle; *at != NULL;) {
        ExecProcess *process = *at;
        if (now_ns - process->idle_since_ns >= pool->keeper->idle_ns) {
            *at = process->next;
            end_gently(pool, process);
        } else {
            at = &process->next;
        }
    }
}

static bool has_pool(const ExecKeeper *keeper, const ExecPool *pool)
{
    const ExecPool *at = keeper->pools;
    while (at != NULL && at != pool) {
        at = at->next;
    }
    return at != NULL;
}

/* Something happened to a process that was idle a moment ago: it, and its pool, may be gone
 * since. */
static void look_at_idle(ExecKeeper *keeper, ExecPool *pool, ExecProcess *process)
{
    mutex_lock(&keeper->lock);
    bool mine = has_pool(keeper, pool) && unlink_idle(pool, process);
    mutex_unlock(&keeper->lock);
    if (!mine) {
        return;
    }
    /* It is counted, so its pool stays. */
    ExecVoice voice = pool_voice(pool);
    exec_process_drain_errors(process, &voice);
    bool quiet = exec_process_is_quiet(process);
    if (!quiet) {
        LOG_EVENT(keeper->log, LOG_LEVEL_INFO, "exec.ended", LOG_STR("module", pool->module),
                  LOG_I64("pid", process->pid),
                  LOG_STR("reason", "it ended, or wrote what nobody had asked for"));
    }
    mutex_lock(&keeper->lock);
    if (quiet) {
        ExecProcess **at = &pool->idle;
        while (*at != NULL) {
            at = &(*at)->next;
        }
        process->next = NULL;
        *at = process;
        cond_broadcast(&keeper->changed);
    } else {
        end_at_once(pool, process);
    }
    mutex_unlock(&keeper->lock);
}

/* What the keeper waits for: an entry of `fds` for each. */
typedef struct Watched {
    ExecPool *pool; /* NULL: it is ending */
    ExecProcess *process;
} Watched;

static bool watch_fd(ExecKeeper *keeper, int fd, ExecPool *pool, ExecProcess *process)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    Watched watched = {pool, process};
    size_t before = keeper->fds.len;
    if (buf_append(&keeper->fds, &one, sizeof one) != SAP_OK) {
        return false;
    }
    if (buf_append(&keeper->watched, &watched, sizeof watched) != SAP_OK) {
        buf_truncate(&keeper->fds, before);
        return false;
    }
    return true;
}

static void lower_wait(uint64_t *wait_ns, uint64_t at_ns, uint64_t now_ns)
{
    uint64_t left_ns = at_ns > now_ns ? at_ns - now_ns : 0;
    *wait_ns = left_ns < *wait_ns ? left_ns : *wait_ns;
}

/* Sets what is waited for, and for how long. */
static void watch_all(ExecKeeper *keeper, uint64_t *wait_ns)
{
    uint64_t now_ns = clock_mono_ns(NULL);
    buf_clear(&keeper->fds);
    buf_clear(&keeper->watched);
    mutex_lock(&keeper->lock);
    bool all = watch_fd(keeper, keeper->wake_fd, NULL, NULL);
    for (ExecPool *pool = keeper->pools; pool != NULL; pool = pool->next) {
        pool_assert_valid(pool);
        end_idle(pool, now_ns);
        if (pool->count > 0) {
            lower_wait(wait_ns, now_ns + LOOK_NS, now_ns);
        }
        for (ExecProcess *process = pool->idle; process != NULL; process = process->next) {
            int error_fd = exec_process_error_fd(process, now_ns);
            all = watch_fd(keeper, process->pidfd, pool, process) && all;
            all = watch_fd(keeper, process->out, pool, process) && all;
            all = watch_fd(keeper, error_fd, pool, process) && all;
            lower_wait(wait_ns, process->idle_since_ns + keeper->idle_ns, now_ns);
            if (error_fd < 0 && process->err >= 0) {
                lower_wait(wait_ns, process->errors.read_from_ns, now_ns);
            }
        }
    }
    for (ExecProcess *process = keeper->ending; process != NULL; process = process->next) {
        all = watch_fd(keeper, process->pidfd, NULL, process) && all;
        if (!process->killed) {
            lower_wait(wait_ns, process->kill_at_ns, now_ns);
        }
    }
    mutex_unlock(&keeper->lock);
    if (!all) {
        lower_wait(wait_ns, now_ns + WAIT_NS,
                   now_ns); /* no memory: look at all of them again soon */
    }
}

static void wait_and_look(ExecKeeper *keeper)
{
    uint64_t wait_ns = UINT64_MAX;
    watch_all(keeper, &wait_ns);
    struct pollfd *fds = (struct pollfd *)(void *)keeper->fds.data;
    size_t count = keeper->fds.len / sizeof *fds;
    uint64_t wait_ms = wait_ns / MS_NS + 1;
    int ready =
        poll(fds, count, wait_ns == UINT64_MAX ? -1 : (int)(wait_ms < 60000 ? wait_ms : 60000));
    for (size_t i = 0; ready > 0 && i < count; i++) {
        Watched watched;
        memcpy(&watched, keeper->watched.data + i * sizeof watched, sizeof watched);
        if (fds[i].revents == 0) {
            continue;
        }
        if (watched.process == NULL) {
            uint64_t calls = 0;
            ssize_t got = read(keeper->wake_fd, &calls, sizeof calls);
            SAP_ASSERT(got == (ssize_t)sizeof calls || errno == EAGAIN || errno == EINTR);
        } else if (watched.pool != NULL) {
            look_at_idle(keeper, watched.pool, watched.process);
        }
    }
}

static bool keeper_goes_on(ExecKeeper *keeper)
{
    mutex_lock(&keeper->lock);
    bool on = !keeper->stopping || keeper->ending != NULL || keeper->starts != NULL;
    mutex_unlock(&keeper->lock);
    return on;
}

static void *keep_processes(void *arg)
{
    ExecKeeper *keeper = (ExecKeeper *)arg;
    StartRequest *request = NULL;
    while (keeper_goes_on(keeper)) {
        while ((request = take_start(keeper)) != NULL) {
            start_process(keeper, request);
        }
        reap_ending(keeper, clock_mono_ns(NULL));
        if (keeper_goes_on(keeper)) {
            wait_and_look(keeper);
        }
    }
    return NULL;
}

/* The thread takes no signals: they are for others, and it writes to pipes. */
static int start_keeper_thread(ExecKeeper *keeper)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&keeper->thread, NULL, keep_processes, keeper);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0 ? SAP_OK : SAP_NOMEM;
}

int exec_keeper_open(const Log *log, ExecMeters *meters, uint64_t idle_ns, ExecKeeper **keeper_out)
{
    ExecKeeper *keeper = (ExecKeeper *)mem_zalloc(MEM_COMMON, sizeof *keeper);
    int rc = SAP_NOMEM;
    if (keeper == NULL) {
        return SAP_NOMEM;
    }
    keeper->log = log;
    keeper->meters = meters;
    keeper->idle_ns = idle_ns;
    if (!mutex_init(&keeper->lock)) {
        goto free_keeper;
    }
    if (!cond_init(&keeper->changed)) {
        goto destroy_lock;
    }
    keeper->wake_fd = fd_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (keeper->wake_fd < 0) {
        goto destroy_cond;
    }
    rc = exec_guard_start(&keeper->guard);
    if (rc != SAP_OK) {
        goto close_wake;
    }
    rc = start_keeper_thread(keeper);
    if (rc != SAP_OK) {
        goto stop_guard;
    }
    *keeper_out = keeper;
    return SAP_OK;

stop_guard:
    exec_guard_stop(&keeper->guard);
close_wake:
    (void)close(keeper->wake_fd);
destroy_cond:
    cond_destroy(&keeper->changed);
destroy_lock:
    mutex_destroy(&keeper->lock);
free_keeper:
    mem_free(MEM_COMMON, keeper, sizeof *keeper);
    return rc;
}

void exec_keeper_close(ExecKeeper *keeper)
{
    if (keeper == NULL) {
        return;
    }
    mutex_lock(&keeper->lock);
    SAP_ASSERT(keeper->pools == NULL);
    keeper->stopping = true;
    wake_keeper(keeper);
    mutex_unlock(&keeper->lock);
    pthread_join(keeper->thread, NULL);
    SAP_ASSERT(keeper->ending == NULL);
    exec_guard_stop(&keeper->guard);
    (void)close(keeper->wake_fd);
    cond_destroy(&keeper->changed);
    mutex_destroy(&keeper->lock);
    buf_release(&keeper->fds);
    buf_release(&keeper->watched);
    mem_free(MEM_COMMON, keeper, sizeof *keeper);
}

const ExecGuard *exec_keeper_guard(const ExecKeeper *keeper)
{
    return &keeper->guard;
}

/* ---- Pools
 * ------------------------------------------------------------------------------------- */

int exec_pool_open(ExecKeeper *keeper, const ExecSpawn *spawn, const char *module,
                   uint32_t max_processes, ExecPool **pool_out)
{
    ExecPool *pool = (ExecPool *)mem_zalloc(MEM_COMMON, sizeof *pool);
    if (pool == NULL) {
        return SAP_NOMEM;
    }
    *pool = (ExecPool){
        .keeper = keeper, .spawn = *spawn, .module = module, .max_processes = max_processes};
    mutex_lock(&keeper->lock);
    pool->next = keeper->pools;
    keeper->pools = pool;
    mutex_unlock(&keeper->lock);
    *pool_out = pool;
    return SAP_OK;
}

void exec_pool_close(ExecPool *pool)
{
    if (pool == NULL) {
        return;
    }
    ExecKeeper *keeper = pool->keeper;
    mutex_lock(&keeper->lock);
    /* The keeper may be looking at an idle one, and gives it back. */
    while (pool->count > 0) {
        if (pool->idle == NULL) {
            cond_wait_ns(&keeper->changed, &keeper->lock, WAIT_NS);
            continue;
        }
        ExecProcess *process = pool->idle;
        pool->idle = process->next;
        end_gently(pool, process);
    }
    SAP_ASSERT(pool->waiting == 0);
    ExecPool **at = &keeper->pools;
    while (*at != pool) {
        at = &(*at)->next;
    }
    *at = pool->next;
    mutex_unlock(&keeper->lock);
    mem_free(MEM_COMMON, pool, sizeof *pool);
}

/* An idle process that can be used; the others are ended. The lock is held, and given up
 * meanwhile. */
static ExecProcess *take_idle(ExecPool *pool, uint64_t generation)
{
    ExecKeeper *keeper = pool->keeper;
    while (pool->idle != NULL) {
        ExecProcess *process = pool->idle;
        pool->idle = process->next;
        process->next = NULL;
        if (process->generation != generation) {
            end_gently(pool, process);
            continue;
        }
        mutex_unlock(&keeper->lock);
        bool quiet = exec_process_is_quiet(process);
        mutex_lock(&keeper->lock);
        if (quiet) {
            return process;
        }
        end_at_once(pool, process);
    }
    return NULL;
}

/* The keeper starts one. The lock is held, and given up meanwhile. */
static int start_another(ExecPool *pool, uint64_t generation, ExecProcess **process_out,
                         ExecError *error)
{
    ExecKeeper *keeper = pool->keeper;
    StartRequest request = {.pool = pool, .error = error};
    pool->count++;
    request.next = keeper->starts;
    keeper->starts = &request;
    wake_keeper(keeper);
    while (!request.done) {
        cond_wait(&keeper->changed, &keeper->lock);
    }
    if (request.code != SAP_OK) {
        pool->count--;
        cond_broadcast(&keeper->changed);
        return request.code;
    }
    request.process->generation = generation;
    *process_out = request.process;
    return SAP_OK;
}

static int refuse_busy(const ExecPool *pool, ExecError *error)
{
    (void)exec_refuse(error, "all %u processes of %s are at work", pool->max_processes,
                      pool->spawn.name);
    return SAP_BUSY;
}

int exec_pool_take(ExecPool *pool, uint64_t generation, const ExecWait *wait,
                   ExecProcess **process_out, ExecError *error)
{
    ExecKeeper *keeper = pool->keeper;
    ExecProcess *process = NULL;
    int rc = SAP_OK;
    mutex_lock(&keeper->lock);
    for (;;) {
        uint64_t now_ns = clock_mono_ns(NULL);
        process = take_idle(pool, generation);
        if (process != NULL) {
            break;
        }
        if (pool->count < pool->max_processes) {
            rc = start_another(pool, generation, &process, error);
            break;
        }
        if (!wait->patient && now_ns - pool->progress_ns >= STALLED_NS) {
            rc = refuse_busy(pool, error);
            break;
        }
        pool->waiting++;
        cond_wait_ns(&keeper->changed, &keeper->lock, WAIT_NS);
        pool->waiting--;
        if (wait->cancelled(wait->ctx) || clock_mono_ns(NULL) >= wait->deadline_ns) {
            rc = SAP_FENCED;
            break;
        }
    }
    if (rc == SAP_OK) {
        pool->progress_ns = pool->taken == 0 ? clock_mono_ns(NULL) : pool->progress_ns;
        pool->taken++;
        process->calls++;
        *process_out = process;
    }
    pool_assert_valid(pool);
    mutex_unlock(&keeper->lock);
    return rc;
}

void exec_pool_give(ExecPool *pool, ExecProcess *process, bool usable)
{
    ExecKeeper *keeper = pool->keeper;
    bool quiet = usable && exec_process_is_quiet(process);
    if (!quiet) {
        exec_process_kill(process);
    }
    mutex_lock(&keeper->lock);
    SAP_ASSERT(pool->taken > 0);
    pool->taken--;
    pool->progress_ns = usable ? clock_mono_ns(NULL) : pool->progress_ns;
    if (quiet) {
        process->idle_since_ns = clock_mono_ns(NULL);
        process->next = pool->idle;
        pool->idle = process;
        if (pool->waiting > 0) {
            cond_broadcast(&keeper->changed);
        }
    } else {
        retire_process(pool, process);
    }
    mutex_unlock(&keeper->lock);
}
