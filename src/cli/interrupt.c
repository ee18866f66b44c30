#include "cli/interrupt.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"

enum { NAMES = 3 };

static volatile sig_atomic_t pending;
static volatile sig_atomic_t held;
static volatile sig_atomic_t as_json;
static pthread_t main_thread;
/* Set while names[] holds what is to be removed. */
static volatile sig_atomic_t armed;
static char names[NAMES][PATH_MAX + 8];

static void on_signal(int number)
{
    static const char plain[] = "sapling: interrupted\n";
    static const char json[] =
        "{\"error\":{\"code\":\"interrupted\",\"exit\":130,\"message\":\"interrupted\"}}\n";

    /* The main thread may sleep in a read, which only a signal to it ends. */
    if (pthread_equal(pthread_self(), main_thread) == 0) {
        (void)pthread_kill(main_thread, number);
        return;
    }
    if (held != 0 && pending == 0) {
        pending = 1;
        return;
    }
    for (int i = 0; armed != 0 && i < NAMES; i++) {
        (void)unlink(names[i]);
    }
    const char *text = as_json != 0 ? json : plain;
    size_t len = (as_json != 0 ? sizeof json : sizeof plain) - 1;
    if (write(STDERR_FILENO, text, len) < 0) {
        _exit(EXIT_INTERRUPTED);
    }
    _exit(EXIT_INTERRUPTED);
}

void interrupt_install(bool json)
{
    struct sigaction action;

    as_json = json ? 1 : 0;
    main_thread = pthread_self();
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaddset(&action.sa_mask, SIGINT);
    (void)sigaddset(&action.sa_mask, SIGTERM);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    /* A reader that went away, and a file at its largest, are found where they are written to. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
}

void interrupt_hold(void)
{
    held = 1;
}

bool interrupt_pending(void)
{
    return pending != 0;
}

void interrupt_remove(const char *path)
{
    static const char *const suffixes[NAMES] = {"", "-lock", "-new"};

    armed = 0;
    if (path == NULL || strlen(path) >= PATH_MAX) {
        return;
    }
    for (int i = 0; i < NAMES; i++) {
        (void)snprintf(names[i], sizeof names[i], "%s%s", path, suffixes[i]);
    }
    armed = 1;
}
