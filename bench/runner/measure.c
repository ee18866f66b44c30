/* measure.c - threads that send messages, and the account of them. */
#include "measure.h"

#include "data.h"
#include "util.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* How many messages, and a sum of what they are; the same for put and taken if none is lost or
 * doubled. */
typedef struct Tally {
    uint64_t count, sum;
} Tally;

/* The same, added to by several threads. */
typedef struct SharedTally {
    atomic_uint_fast64_t count, sum;
} SharedTally;

/* One run of all threads. */
typedef struct Phase {
    const RunTask *task;
    RunStore *store;
    uint64_t begin_ns, end_ns; /* nothing is put after it */
    SharedTally put, handled;
    atomic_int wrong; /* messages that nobody put */
    atomic_int over;  /* no more will come */
    uint64_t last_ns; /* when the consumer last acknowledged */
} Phase;

typedef struct Thread {
    Phase *phase;
    RunSession *session;
    uint64_t next; /* number of the next message; those of other threads differ */
    BenchSamples samples;
    uint64_t messages; /* of the phase */
    uint64_t last_ns;  /* when the last of them was done */
    int rc;
} Thread;

/* ---- Messages ------------------------------------------------------------------------------- */

/* It follows from its number, with which it begins. */
static void make_message(uint64_t number, RunMessage *message)
{
    uint64_t word = number;
    for (size_t at = 0; at < RUN_PAYLOAD; at += sizeof word) {
        size_t len = RUN_PAYLOAD - at < sizeof word ? RUN_PAYLOAD - at : sizeof word;
        memcpy(message->payload + at, &word, len);
        word = bench_mix(word);
    }
}

static void count_message(const void *payload, uint32_t len, Tally *tally, atomic_int *wrong)
{
    RunMessage expected;
    uint64_t number = 0;
    if (len == RUN_PAYLOAD)
        memcpy(&number, payload, sizeof number);
    make_message(number, &expected);
    if (len != RUN_PAYLOAD || memcmp(payload, expected.payload, RUN_PAYLOAD) != 0)
        atomic_store(wrong, 1);
    tally->count++;
    tally->sum += bench_mix(number);
}

static void add_tally(SharedTally *shared, const Tally *tally)
{
    atomic_fetch_add(&shared->count, tally->count);
    atomic_fetch_add(&shared->sum, tally->sum);
}

static int put_batch(Thread *thread)
{
    Phase *phase = thread->phase;
    RunMessage messages[RUN_BATCH];
    Tally tally = {0};
    uint32_t batch = phase->task->batch;
    for (uint32_t i = 0; i < batch; i++) {
        make_message(thread->next++, &messages[i]);
        count_message(messages[i].payload, RUN_PAYLOAD, &tally, &phase->wrong);
    }
    if (phase->task->peer->put(thread->session, messages, batch) != 0)
        return -1;
    add_tally(&phase->put, &tally);
    return 0;
}

/* From none to `max`. */
static int take_some(Thread *thread, uint32_t max, uint32_t *count_out)
{
    Phase *phase = thread->phase;
    RunMessage messages[RUN_BATCH];
    Tally tally = {0};
    if (phase->task->peer->take(thread->session, messages, max, count_out) != 0)
        return -1;
    for (uint32_t i = 0; i < *count_out; i++)
        count_message(messages[i].payload, RUN_PAYLOAD, &tally, &phase->wrong);
    add_tally(&phase->handled, &tally);
    return 0;
}

/* ---- Threads -------------------------------------------------------------------------------- */

/* As many as were put: there are always so many for each client that has put and not yet taken. */
static int client_round(Thread *thread)
{
    uint32_t batch = thread->phase->task->batch;
    int rc = put_batch(thread);
    for (uint32_t taken = 0, count; taken < batch && !rc; taken += rc ? 0 : count)
        rc = take_some(thread, batch - taken, &count);
    return rc ? rc : thread->phase->task->peer->ack(thread->session);
}

static void *work(void *arg)
{
    Thread *thread = arg;
    const Phase *phase = thread->phase;
    uint64_t before = bench_now_ns();
    /* At least once, however late the thread was started. */
    do {
        thread->rc = phase->task->shape == RUN_CLIENTS ? client_round(thread) : put_batch(thread);
        uint64_t after = bench_now_ns();
        if (!thread->rc) {
            thread->rc = bench_samples_add(&thread->samples, after - before);
            thread->messages += phase->task->batch;
            thread->last_ns = after;
        }
        before = after;
    } while (before < phase->end_ns && !thread->rc);
    return NULL;
}

/* Until nothing more comes and all that came is acknowledged. */
static void *consume(void *arg)
{
    Thread *thread = arg;
    Phase *phase = thread->phase;
    while (!thread->rc && !(atomic_load(&phase->over) &&
                            atomic_load(&phase->handled.count) == atomic_load(&phase->put.count))) {
        uint32_t count = 0;
        thread->rc = take_some(thread, RUN_BATCH, &count);
        if (!thread->rc && count) {
            thread->rc = phase->task->peer->ack(thread->session);
            phase->last_ns = bench_now_ns();
        }
    }
    return NULL;
}

static int start_thread(pthread_t *id, void *(*fn)(void *), Thread *thread)
{
    int rc = pthread_create(id, NULL, fn, thread);
    if (rc)
        fprintf(stderr, "bench: no thread: %s\n", strerror(rc));
    return rc ? -1 : 0;
}

/* Runs all threads of the task until the end of the phase. */
static int run_threads(const Phase *phase, Thread *threads)
{
    pthread_t ids[RUN_MAX_THREADS];
    uint32_t started = 0;
    int rc = 0;
    while (started < phase->task->threads && !rc) {
        rc = start_thread(&ids[started], work, &threads[started]);
        started += !rc;
    }
    for (uint32_t i = 0; i < started; i++) {
        pthread_join(ids[i], NULL);
        if (threads[i].rc)
            rc = -1;
    }
    return rc;
}

/* ---- The two shapes ------------------------------------------------------------------------- */

/* Called by a peer's own consumer. */
static void handle(const void *payload, uint32_t len, void *ctx)
{
    Phase *phase = ctx;
    Tally tally = {0};
    count_message(payload, len, &tally, &phase->wrong);
    add_tally(&phase->handled, &tally);
}

static int drained(const Phase *phase)
{
    return atomic_load(&phase->handled.count) >= atomic_load(&phase->put.count);
}

/* Its own consumer does not say when it has drained the queue: it is asked now and then. */
static int run_served(Phase *phase, Thread *threads)
{
    enum { DRAIN_MS = 60000 };
    const RunPeer *peer = phase->task->peer;
    if (peer->serve_start(phase->store, handle, phase) != 0)
        return -1;
    int rc = run_threads(phase, threads);
    for (uint64_t until = bench_now_ns() + DRAIN_MS * UINT64_C(1000000);
         !rc && !drained(phase) && bench_now_ns() < until;)
        bench_sleep_us(100);
    if (peer->serve_stop(phase->store) != 0)
        rc = -1;
    phase->last_ns = bench_now_ns();
    return rc;
}

static int run_consumed(Phase *phase, Thread *threads)
{
    const RunPeer *peer = phase->task->peer;
    Thread consumer = {.phase = phase};
    pthread_t id;
    if (peer->session_open(phase->store, &consumer.session) != 0)
        return -1;
    int rc = start_thread(&id, consume, &consumer);
    if (!rc) {
        rc = run_threads(phase, threads);
        atomic_store(&phase->over, 1);
        pthread_join(id, NULL);
    }
    peer->session_close(consumer.session);
    return rc || consumer.rc ? -1 : 0;
}

static int run_phase(Phase *phase, Thread *threads)
{
    if (phase->task->shape == RUN_CLIENTS)
        return run_threads(phase, threads);
    return phase->task->peer->serve_start ? run_served(phase, threads)
                                          : run_consumed(phase, threads);
}

/* ---- One measurement ------------------------------------------------------------------------ */

static int check_tallies(const Phase *phase)
{
    uint64_t put = atomic_load(&phase->put.count), handled = atomic_load(&phase->handled.count);
    const char *name = phase->task->peer->name;
    if (put != handled) {
        fprintf(stderr, "bench: %s: %llu messages were put and %llu taken\n", name,
                (unsigned long long)put, (unsigned long long)handled);
        return -1;
    }
    if (atomic_load(&phase->wrong) ||
        atomic_load(&phase->put.sum) != atomic_load(&phase->handled.sum)) {
        fprintf(stderr, "bench: %s: other messages were taken than put\n", name);
        return -1;
    }
    return 0;
}

static int check_empty(const RunPeer *peer)
{
    RunStore *store;
    uint64_t left = 0;
    if (peer->open(&store) != 0)
        return -1;
    int rc = peer->left(store, &left);
    if (!rc && left) {
        fprintf(stderr, "bench: %s: %llu messages are left though all were acknowledged\n",
                peer->name, (unsigned long long)left);
        rc = -1;
    }
    return peer->close(store) == 0 && !rc ? 0 : -1;
}

/* Every thread has its own end, since it ends what it began: a slow one may take far longer than the
 * others. So the rates of the threads are added up, rather than their messages. Of producers it is
 * all they put, until the last is acknowledged. */
static double rate_of(const Phase *phase, const Thread *threads)
{
    double rate = 0;
    if (phase->task->shape == RUN_PRODUCERS)
        return (double)atomic_load(&phase->put.count) * 1e9 /
               (double)(phase->last_ns - phase->begin_ns);
    for (uint32_t i = 0; i < phase->task->threads; i++)
        rate += (double)threads[i].messages * 1e9 / (double)(threads[i].last_ns - phase->begin_ns);
    return rate;
}

static int summarize(const Phase *phase, const Thread *threads, RunFigure *out)
{
    BenchSamples all = {0};
    int rc = 0;
    for (uint32_t i = 0; i < phase->task->threads && !rc; i++)
        rc = bench_samples_append(&all, &threads[i].samples);
    if (!rc) {
        bench_samples_sort(&all);
        *out = (RunFigure){.messages = atomic_load(&phase->put.count),
                           .per_s = rate_of(phase, threads),
                           .p50_ns = all.ns[all.count / 2],
                           .p99_ns = all.ns[all.count - 1 - all.count / 100],
                           .max_ns = all.ns[all.count - 1]};
    }
    bench_samples_release(&all);
    return rc;
}

/* Sessions are open. A phase that is the warm-up has no `out`. */
static int run_one(const RunTask *task, RunStore *store, Thread *threads, uint32_t ms,
                   RunFigure *out)
{
    Phase phase = {.task = task, .store = store, .begin_ns = bench_now_ns()};
    phase.end_ns = phase.begin_ns + (uint64_t)ms * 1000000u;
    for (uint32_t i = 0; i < task->threads; i++)
        threads[i].phase = &phase;
    int rc = run_phase(&phase, threads);
    rc = rc ? rc : check_tallies(&phase);
    if (!rc && out)
        rc = summarize(&phase, threads, out);
    for (uint32_t i = 0; i < task->threads; i++) {
        bench_samples_release(&threads[i].samples);
        threads[i].messages = 0;
    }
    return rc;
}

int run_measure(const RunTask *task, RunFigure *out)
{
    static Thread threads[RUN_MAX_THREADS];
    RunStore *store;
    uint32_t open = 0;
    if (task->peer->open(&store) != 0)
        return -1;
    int rc = 0;
    while (open < task->threads && !rc) {
        threads[open] = (Thread){.next = (uint64_t)(open + 1) << 40};
        rc = task->peer->session_open(store, &threads[open].session);
        open += !rc;
    }
    rc = rc ? rc : run_one(task, store, threads, RUN_WARM_UP_MS, NULL);
    rc = rc ? rc : run_one(task, store, threads, task->ms, out);
    for (uint32_t i = 0; i < open; i++)
        task->peer->session_close(threads[i].session);
    if (task->peer->close(store) != 0)
        rc = -1;
    return rc ? rc : check_empty(task->peer);
}
