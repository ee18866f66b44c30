#include "cli/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/target.h"
#include "common/clock.h"
#include "common/sync.h"

enum { POLL_MS = 100 };

/* timeout(1) sends its signal to the process, and then to the group that the process is in: a second one this
 * soon is the first. */
#define SAME_SIGNAL_NS UINT64_C(300000000)

static atomic_bool pending;
static atomic_bool held;
static bool as_json;
static bool takes_hangup;                                /* not ignored, as nohup has it */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* what follows */
static const char *half_made;
static void (*say_goodbye)(void *ctx);
static void *goodbye_ctx;
static pid_t child_group;
static Cond came;       /* a signal that is held */
static int number_seen; /* of the held signal; 0: none came */

static void interrupted_signals(sigset_t *set)
{
    (void)sigemptyset(set);
    (void)sigaddset(set, SIGINT);
    (void)sigaddset(set, SIGTERM);
    if (takes_hangup) {
        (void)sigaddset(set, SIGHUP);
    }
}

static _Noreturn void end_now(void)
{
    const char *text =
        as_json
            ? "{\"error\":{\"code\":\"interrupted\",\"exit\":130,\"message\":\"interrupted\"}}\n"
            : "sapling: interrupted\n";

    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
    /* Never unlocked: nothing may get its name, or be begun, while the rest is removed. Last, since
     * the engine goes on meanwhile. */
    (void)pthread_mutex_lock(&lock);
    if (say_goodbye != NULL && !atomic_load(&held)) {
        say_goodbye(goodbye_ctx);
    }
    if (half_made != NULL) {
        target_remove_db(half_made);
    }
    if (child_group > 0) {
        (void)kill(-child_group, SIGKILL);
    }
    _exit(EXIT_INTERRUPTED);
}

static void *wait_for_signals(void *unused)
{
    sigset_t set;
    int number = 0;
    uint64_t first_ns = 0;

    (void)unused;
    interrupted_signals(&set);
    for (;;) {
        int rc = sigwait(&set, &number);
        bool again = atomic_load(&pending);
        if (rc == 0 && atomic_load(&held) && again &&
            clock_mono_ns(NULL) - first_ns < SAME_SIGNAL_NS) {
            continue;
        }
        if (rc == 0 && (!atomic_load(&held) || again)) {
            end_now();
        }
        first_ns = clock_mono_ns(NULL);
        /* Before the command gets it: whoever sees it end knows why. */
        atomic_store(&pending, true);
        (void)pthread_mutex_lock(&lock);
        number_seen = number;
        cond_broadcast(&came);
        if (child_group > 0) {
            (void)kill(-child_group, number);
        }
        (void)pthread_mutex_unlock(&lock);
    }
}

void interrupt_install(bool json)
{
    pthread_t thread;
    sigset_t set;

    struct sigaction hangup;

    as_json = json;
    takes_hangup = sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN;
    interrupted_signals(&set);
    /* Without the thread the signals keep what they do by default. */
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (!cond_init(&came) || pthread_create(&thread, NULL, wait_for_signals, NULL) != 0) {
        (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    } else {
        (void)pthread_detach(thread);
    }
    /* A reader that went away, and a file at its largest, are found where they are written to. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
}

void interrupt_hold(void)
{
    atomic_store(&held, true);
}

bool interrupt_pending(void)
{
    return atomic_load(&pending);
}

bool interrupt_wait(uint64_t ns)
{
    (void)pthread_mutex_lock(&lock);
    if (number_seen == 0) {
        cond_wait_ns(&came, &lock, ns);
    }
    (void)pthread_mutex_unlock(&lock);
    return interrupt_pending();
}

ssize_t interrupt_read(int fd, void *bytes, size_t len)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};

    while (poll(&wait, 1, POLL_MS) <= 0) {
        if (interrupt_pending()) {
            errno = EINTR;
            return -1;
        }
    }
    return read(fd, bytes, len);
}

void interrupt_child(pid_t group)
{
    (void)pthread_mutex_lock(&lock);
    child_group = group;
    if (group > 0 && number_seen > 0) {
        (void)kill(-group, number_seen);
    }
    (void)pthread_mutex_unlock(&lock);
}

void interrupt_say_goodbye(void (*fn)(void *ctx), void *ctx)
{
    (void)pthread_mutex_lock(&lock);
    say_goodbye = fn;
    goodbye_ctx = ctx;
    (void)pthread_mutex_unlock(&lock);
}

void interrupt_remove(const char *path)
{
    (void)pthread_mutex_lock(&lock);
    half_made = path;
    (void)pthread_mutex_unlock(&lock);
}
