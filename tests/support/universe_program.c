#include "support/universe_program.h"

#include "common/mem.h"
#include "common/random.h"
#include "common/sync.h"
#include "node/host.h"
#include "support/expect.h"
#include "universe/universe_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ARGS_MAX = 16,
    NUMBER_MAX = 24,
    TOLD_FD = 3, /* of the program */
    HANDLERS = 3,
    TICK_MS = 50,
    SETTLE_MS = 100,
    RETRY_MS = 5,
    MOST_PROCESSES = 8,
    RECORDS_AT_ONCE = 64,
    STOP_MS = 60000,
    LEAST_PUTS = 3, /* of the commit of a cycle: a renewal makes fewer */
};

static const char role_name[] = "universe-program";

typedef enum ToldWhat { TOLD_READY, TOLD_ACKNOWLEDGED, TOLD_STATS } ToldWhat;

/* What the program says. Short enough for one write. */
typedef struct Told {
    ToldWhat what;
    uint32_t producer;
    uint64_t number;
    uint64_t duplicate;
    UniverseProgramStats stats;
} Told;

uint64_t universe_test_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void nap_us(uint64_t us)
{
    struct timespec pause = {.tv_sec = (time_t)(us / 1000000),
                             .tv_nsec = (long)(us % 1000000) * 1000};
    (void)nanosleep(&pause, NULL);
}

/* ---- The program ----------------------------------------------------------------------------- */

typedef struct Running {
    const char *url;
    const char *worker; /* NULL: none */
    uint32_t producers;
    uint32_t worlds;
    uint32_t pause_us;
    uint64_t seed;
    uint64_t ttl_ns;
    SapStore *store; /* NULL: the universe's own */
    SapUniverse *universe;
    Host *host;                 /* NULL: there is none now */
    UniverseProgramStats stats; /* of hosts that have ended */
    SAP_ATOMIC(bool) ending;
} Running;

static void tell_test(const Told *told)
{
    EXPECT(write(TOLD_FD, told, sizeof *told) == (ssize_t)sizeof *told, "nobody listens");
}

/* Where the program is to stop itself (UniverseStop), and whether handlers have run since the last commit
 * of a cycle. */
static SAP_ATOMIC(int) stop_order;
static SAP_ATOMIC(bool) has_handled;
static SAP_ATOMIC(uint64_t) late_guards;

static int handle_event(SapWorld *world, const SapEvent *event)
{
    int rc = ledger_handle(world, event);
    atomic_store_full(&has_handled, true);
    return rc;
}

SAP_WORLD_MODULE(UNIVERSE_PROGRAM_MODULE, handle_event);

/* By tgkill, so that this thread goes no further until it is continued. */
static void stop_this_thread(void)
{
    atomic_store_full(&stop_order, 0);
    EXPECT(raise(SIGSTOP) == 0, "cannot stop");
}

/* What one thread does with the store. */
typedef struct Calls {
    bool commits_cycles; /* it has done so before */
    uint32_t puts;       /* of its transaction */
    bool late;           /* its transaction begins after the process was stopped */
} Calls;

/* A server knows nothing of a transaction before the call that takes its guards. */
static void note_guard(Calls *calls, bool stop)
{
    calls->late = stop;
    if (stop) {
        stop_this_thread();
        (void)atomic_add_full(&late_guards, 1);
    }
}

static void note_commit(Calls *calls, bool stop)
{
    atomic_store_full(&has_handled, false);
    calls->commits_cycles = true;
    if (stop) {
        stop_this_thread();
    }
}

static SapStoreFault watch_store(void *ctx, SapStoreCall call)
{
    static _Thread_local Calls calls;
    int order = atomic_load_full(&stop_order);
    bool handled = atomic_load_full(&has_handled);
    (void)ctx;
    switch (call) {
    case SAP_STORE_CALL_BEGIN:
        calls.puts = 0;
        calls.late = false;
        break;
    case SAP_STORE_CALL_GUARD:
        note_guard(&calls, order == UNIVERSE_STOP_BEFORE && handled && calls.commits_cycles);
        break;
    case SAP_STORE_CALL_PUT:
        calls.puts++;
        EXPECT(!calls.late, "a worker that was stopped for too long writes");
        break;
    case SAP_STORE_CALL_COMMIT:
        if (handled && calls.puts >= LEAST_PUTS) {
            note_commit(&calls, order == UNIVERSE_STOP_INSIDE);
        }
        break;
    default:
        break;
    }
    return SAP_STORE_FAULT_NONE;
}

static bool is_on_server(const char *url)
{
    return strncmp(url, "postgres", 8) == 0;
}

/* A worker on a server has a store of its own, with the hook; everything else is as programs do it. */
static void open_for_program(Running *running)
{
    SapStoreOptions options = {.size = sizeof options,
                               .schema = UNIVERSE_SCHEMA,
                               .hook = watch_store,
                               .renewal_ns = running->ttl_ns / 4};
    int rc = SAP_OK;
    if (running->worker == NULL || !is_on_server(running->url)) {
        rc = sap_universe_open(running->url, NULL, &running->universe);
        EXPECT(rc == SAP_OK, "opening %s returned %d: %s", running->url, rc, sap_open_error());
        return;
    }
    options.tables = universe_tables(&options.table_count);
    rc = sap_store_open(running->url, &options, &running->store);
    EXPECT(rc == SAP_OK, "opening %s returned %d: %s", running->url, rc, sap_open_error());
    EXPECT_RC(universe_open_on(running->store, NULL, NULL, 0, &running->universe), SAP_OK);
    running->universe->session_ttl_ns = running->ttl_ns;
}

static void close_for_program(const Running *running)
{
    EXPECT_RC(sap_universe_close(running->universe), SAP_OK);
    if (running->store != NULL) {
        EXPECT_RC(sap_store_close(running->store), SAP_OK);
    }
    EXPECT(mem_live_bytes(MEM_UNIVERSE) == 0 && mem_live_bytes(MEM_STORE) == 0,
           "%zu and %zu bytes are left", mem_live_bytes(MEM_UNIVERSE), mem_live_bytes(MEM_STORE));
}

static UniverseProgramStats sum_stats(const Running *running)
{
    UniverseProgramStats sum = running->stats;
    HostStats now;
    sum.late = atomic_load_full(&late_guards);
    if (running->host != NULL) {
        host_stats(running->host, &now);
        sum.steps += now.worker.steps;
        sum.acquired += now.worker.acquired;
        sum.fenced += now.worker.fenced;
        sum.unknown += now.worker.unknown;
    }
    return sum;
}

static void end_host(Running *running)
{
    running->stats = sum_stats(running);
    int rc = host_stop(running->host, UINT64_MAX);
    EXPECT(rc == SAP_OK || rc == SAP_FENCED || rc == SAP_IO || rc == SAP_BUSY,
           "the worker ended with %d", rc);
    running->host = NULL;
}

/* Keeps a worker running: where its session is over another one begins, as soon as the store lets it. */
static void keep_host(Running *running)
{
    HostOptions options = {
        .worker = {.name = running->worker}, .handlers = HANDLERS, .roles = HOST_ALL_ROLES};
    if (running->host != NULL && host_code(running->host) == SAP_OK) {
        return;
    }
    if (running->host != NULL) {
        EXPECT_RC(host_code(running->host), SAP_FENCED);
        nap_us((uint64_t)SETTLE_MS * 1000); /* the other thread's call ends, and is counted */
        end_host(running);
    }
    int rc = host_start(running->universe, &options, &running->host);
    EXPECT(rc == SAP_OK || rc == SAP_IO || rc == SAP_BUSY, "starting a worker returned %d", rc);
    running->stats.sessions += rc == SAP_OK;
}

/* ---- Its producers --------------------------------------------------------------------------- */

typedef struct Sender {
    Running *running;
    uint32_t producer;
    uint64_t next;
    pthread_t thread;
} Sender;

/* False: the program ends, and nobody knows whether the message was enqueued. */
static bool send_until_known(const Sender *sender, bool *duplicate_out)
{
    const Running *running = sender->running;
    for (bool first = true;; first = false) {
        int rc = ledger_send(running->universe, running->worlds, sender->producer, sender->next,
                             duplicate_out);
        if (rc == SAP_OK) {
            *duplicate_out = *duplicate_out && first;
            return true;
        }
        EXPECT(rc == SAP_IO || rc == SAP_BUSY || rc == SAP_CONFLICT, "sending returned %d", rc);
        if (atomic_load_full(&running->ending)) {
            return false;
        }
        nap_us((uint64_t)RETRY_MS * 1000);
    }
}

static void *send_numbers(void *arg)
{
    Sender *sender = (Sender *)arg;
    const Running *running = sender->running;
    Rng rng;
    bool duplicate = false;
    rng_seed(&rng, running->seed * LEDGER_PRODUCERS + sender->producer);
    while (!atomic_load_full(&running->ending) && send_until_known(sender, &duplicate)) {
        Told told = {.what = TOLD_ACKNOWLEDGED,
                     .producer = sender->producer,
                     .number = sender->next++,
                     .duplicate = duplicate};
        tell_test(&told);
        if (running->pause_us > 0) {
            nap_us(rng_below(&rng, running->pause_us));
        }
    }
    return NULL;
}

/* ---- Its life -------------------------------------------------------------------------------- */

/* Returns at the end of the orders. */
static void obey_orders(Running *running)
{
    for (;;) {
        struct pollfd orders = {.fd = STDIN_FILENO, .events = POLLIN};
        char order = 0;
        if (poll(&orders, 1, TICK_MS) == 1) {
            if (read(STDIN_FILENO, &order, 1) != 1) {
                return;
            }
            atomic_store_full(&stop_order, order);
        }
        if (running->worker != NULL) {
            keep_host(running);
            Told told = {.what = TOLD_STATS, .stats = sum_stats(running)};
            tell_test(&told);
        }
    }
}

static uint64_t next_argument(char **argv, int *at)
{
    char *end = NULL;
    const char *text = argv[*at];
    EXPECT(text != NULL, "argument %d is missing", *at);
    uint64_t number = strtoull(text, &end, 10);
    EXPECT(*text != 0 && *end == 0, "argument %d is no number: %s", *at, text);
    (*at)++;
    return number;
}

bool universe_program_is(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], role_name) == 0;
}

int universe_program_main(int argc, char **argv)
{
    static Running running;
    static Sender senders[LEDGER_PRODUCERS];
    Told ready = {.what = TOLD_READY};
    int at = 4;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    EXPECT(argc > at, "too few arguments");
    running.url = argv[2];
    running.worker = argv[3][0] == 0 ? NULL : argv[3];
    running.seed = next_argument(argv, &at);
    running.pause_us = (uint32_t)next_argument(argv, &at);
    running.ttl_ns = next_argument(argv, &at) * 1000000;
    running.worlds = (uint32_t)next_argument(argv, &at);
    running.producers = (uint32_t)next_argument(argv, &at);
    expect_context("%s, worker '%s'", running.url, argv[3]);
    EXPECT(running.producers <= LEDGER_PRODUCERS, "too many producers");
    open_for_program(&running);
    if (running.producers > 0) {
        ledger_make_worlds(running.universe, running.worlds, UNIVERSE_PROGRAM_MODULE);
    }
    if (running.worker != NULL) {
        keep_host(&running);
    }
    tell_test(&ready);
    for (uint32_t i = 0; i < running.producers; i++) {
        senders[i] = (Sender){.running = &running, .producer = i, .next = next_argument(argv, &at)};
        EXPECT(pthread_create(&senders[i].thread, NULL, send_numbers, &senders[i]) == 0, "none");
    }
    obey_orders(&running);
    atomic_store_full(&running.ending, true);
    for (uint32_t i = 0; i < running.producers; i++) {
        EXPECT(pthread_join(senders[i].thread, NULL) == 0, "no thread");
    }
    if (running.host != NULL) {
        end_host(&running);
    }
    close_for_program(&running);
    return EXIT_SUCCESS;
}

/* ---- The test's end of it -------------------------------------------------------------------- */

typedef struct Arguments {
    char *argv[ARGS_MAX + LEDGER_PRODUCERS];
    char numbers[ARGS_MAX + LEDGER_PRODUCERS][NUMBER_MAX];
    int count;
} Arguments;

static void add_text(Arguments *arguments, const char *text)
{
    arguments->argv[arguments->count++] = (char *)(uintptr_t)text;
}

static void add_number(Arguments *arguments, uint64_t number)
{
    char *text = arguments->numbers[arguments->count];
    (void)snprintf(text, NUMBER_MAX, "%" PRIu64, number);
    add_text(arguments, text);
}

static void make_arguments(Arguments *arguments, const UniverseProgram *program,
                           const Ledger *ledger)
{
    uint32_t producers = program->sends ? ledger->producers : 0;
    *arguments = (Arguments){.count = 0};
    add_text(arguments, role_name);
    add_text(arguments, role_name);
    add_text(arguments, program->url);
    add_text(arguments, program->worker == NULL ? "" : program->worker);
    add_number(arguments, program->seed);
    add_number(arguments, program->pause_us);
    add_number(arguments, program->ttl_ms);
    add_number(arguments, ledger->worlds);
    add_number(arguments, producers);
    for (uint32_t i = 0; i < producers; i++) {
        add_number(arguments, ledger->acknowledged[i] + 1);
    }
}

/* Of a process that is to become the program. Only what is safe beside other threads. */
static _Noreturn void become_program(const UniverseProgram *program, const Arguments *arguments,
                                     int orders_fd, int told_fd)
{
    bool moved = program->net_fd == 0 || setns(program->net_fd, CLONE_NEWNET) == 0;
    /* Neither may be in the place of the other. */
    int orders = fcntl(orders_fd, F_DUPFD, TOLD_FD + 1);
    int told = fcntl(told_fd, F_DUPFD, TOLD_FD + 1);
    if (moved && dup2(orders, STDIN_FILENO) == STDIN_FILENO && dup2(told, TOLD_FD) == TOLD_FD) {
        (void)close(orders);
        (void)close(told);
        (void)execv("/proc/self/exe", arguments->argv);
    }
    _exit(EXIT_FAILURE);
}

void universe_process_start(UniverseProcess *process, const UniverseProgram *program,
                            Ledger *ledger)
{
    Arguments arguments;
    int orders[2];
    int told[2];
    make_arguments(&arguments, program, ledger);
    EXPECT(pipe2(orders, O_CLOEXEC) == 0 && pipe2(told, O_CLOEXEC) == 0, "no pipe");
    (void)fflush(NULL);
    pid_t pid = fork();
    EXPECT(pid >= 0, "no process");
    if (pid == 0) {
        become_program(program, &arguments, orders[0], told[1]);
    }
    (void)close(orders[0]);
    (void)close(told[1]);
    *process =
        (UniverseProcess){.pid = pid, .orders_fd = orders[1], .told_fd = told[0], .ledger = ledger};
}

static void hear_record(UniverseProcess *process, const Told *told)
{
    switch (told->what) {
    case TOLD_READY:
        process->ready = true;
        break;
    case TOLD_ACKNOWLEDGED:
        ledger_acknowledge(process->ledger, told->producer, told->number);
        process->duplicates += told->duplicate;
        break;
    default:
        process->stats = told->stats;
    }
}

/* Waits for the next records. */
static void hear_some(UniverseProcess *process)
{
    Told told[RECORDS_AT_ONCE];
    ssize_t got = read(process->told_fd, told, sizeof told);
    EXPECT(got >= 0 && (size_t)got % sizeof told[0] == 0, "read returned %zd", got);
    for (size_t i = 0; i < (size_t)got / sizeof told[0]; i++) {
        hear_record(process, &told[i]);
    }
    process->ended = got == 0;
}

/* What is told next, if it is within this time. */
static void hear_next(UniverseProcess *const *processes, uint32_t count, uint64_t ns)
{
    struct pollfd fds[MOST_PROCESSES];
    struct timespec time = {.tv_sec = (time_t)(ns / 1000000000),
                            .tv_nsec = (long)(ns % 1000000000)};
    EXPECT(count <= MOST_PROCESSES, "too many processes");
    for (uint32_t i = 0; i < count; i++) {
        bool open = processes[i]->pid != 0 && !processes[i]->ended;
        fds[i] = (struct pollfd){.fd = open ? processes[i]->told_fd : -1, .events = POLLIN};
    }
    int ready = ppoll(fds, count, &time, NULL);
    EXPECT(ready >= 0 || errno == EINTR, "ppoll failed");
    for (uint32_t i = 0; i < count && ready > 0; i++) {
        if (fds[i].revents != 0) {
            hear_some(processes[i]);
        }
    }
}

void universe_processes_hear(UniverseProcess *const *processes, uint32_t count, uint64_t ns)
{
    uint64_t end_ns = universe_test_now_ns() + ns;
    for (uint64_t now = end_ns - ns; now < end_ns; now = universe_test_now_ns()) {
        hear_next(processes, count, end_ns - now);
        for (uint32_t i = 0; i < count; i++) {
            EXPECT(processes[i]->pid == 0 || !processes[i]->ended, "process %d has ended by itself",
                   (int)processes[i]->pid);
        }
    }
}

static int reap_process(UniverseProcess *process)
{
    int status = 0;
    while (!process->ended) {
        hear_some(process);
    }
    while (waitpid(process->pid, &status, 0) < 0) {
        EXPECT(errno == EINTR, "no child");
    }
    (void)close(process->told_fd);
    process->pid = 0;
    return status;
}

void universe_process_kill(UniverseProcess *process)
{
    EXPECT(kill(process->pid, SIGKILL) == 0, "no process");
    int status = reap_process(process);
    (void)close(process->orders_fd);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the process ended with status %d",
           status);
}

void universe_process_end(UniverseProcess *process)
{
    (void)close(process->orders_fd);
    int status = reap_process(process);
    EXPECT(status == 0, "the process ended with status %d", status);
}

void universe_process_order_stop(UniverseProcess *process, UniverseStop stop)
{
    char order = (char)stop;
    EXPECT(write(process->orders_fd, &order, 1) == 1, "no process");
}

void universe_process_await_stop(const UniverseProcess *process)
{
    uint64_t end_ns = universe_test_now_ns() + UINT64_C(1000000) * STOP_MS;
    int status = 0;
    pid_t pid = 0;
    while (pid == 0) {
        pid = waitpid(process->pid, &status, WUNTRACED | WNOHANG);
        EXPECT(pid >= 0 && universe_test_now_ns() < end_ns, "the process does not stop");
        nap_us(1000);
    }
    EXPECT(WIFSTOPPED(status), "the process ended with status %d", status);
}
