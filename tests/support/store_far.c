#include "support/store_far.h"

#include "support/expect.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGS_MAX = 16, LINKS = 32768 };

static const char inner_link[] = "sap";           /* the interface in the namespace */
static const char nobody[] = "02:00:00:00:00:01"; /* an address that no interface has */
static const char needs[] = "root and ip (iproute2)";

/* Runs `ip` with these arguments, in the namespace or outside it. */
static bool run_ip(const Far *far, bool inside, const char *const *args)
{
    const char *argv[ARGS_MAX] = {"ip"};
    int status = 0;
    for (int i = 0; args[i] != NULL; i++) {
        EXPECT(i + 2 < ARGS_MAX, "too many arguments");
        argv[i + 1] = args[i];
    }
    pid_t pid = fork();
    EXPECT(pid >= 0, "no process");
    if (pid == 0) { /* only what is safe beside other threads */
        if (!inside || setns(far->net_fd, CLONE_NEWNET) == 0) {
            (void)execvp("ip", (char *const *)(uintptr_t)argv);
        }
        _exit(EXIT_FAILURE);
    }
    while (waitpid(pid, &status, 0) < 0) {
        EXPECT(errno == EINTR, "no child");
    }
    return status == 0;
}

#define RUN_IP(far, inside, ...) run_ip(far, inside, (const char *const[]){__VA_ARGS__, NULL})

/* A new namespace; the calling thread stays where it was. */
static int make_namespace(void)
{
    int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (here < 0 || unshare(CLONE_NEWNET) != 0) {
        return 0;
    }
    int made = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    EXPECT(made > 0 && setns(here, CLONE_NEWNET) == 0, "cannot leave a network namespace");
    (void)close(here);
    return made;
}

/* Addresses are of a range for tests of networks; four for each process that makes a link. */
static void name_link(Far *far)
{
    unsigned id = (unsigned)getpid();
    unsigned first = id % LINKS * 4;
    (void)snprintf(far->link, sizeof far->link, "sap%u", id);
    (void)snprintf(far->near, sizeof far->near, "198.%u.%u.%u", 18 + (first >> 16),
                   (first >> 8) & 255, (first & 255) + 1);
    (void)snprintf(far->there, sizeof far->there, "198.%u.%u.%u", 18 + (first >> 16),
                   (first >> 8) & 255, (first & 255) + 2);
}

static bool make_link(const Far *far)
{
    char pid[FAR_TEXT_MAX];
    char near[FAR_TEXT_MAX + 4];
    char there[FAR_TEXT_MAX + 4];
    (void)snprintf(pid, sizeof pid, "%d", (int)getpid());
    (void)snprintf(near, sizeof near, "%s/30", far->near);
    (void)snprintf(there, sizeof there, "%s/30", far->there);
    return RUN_IP(far, true, "link", "add", inner_link, "type", "veth", "peer", "name", far->link,
                  "netns", pid) &&
           RUN_IP(far, false, "addr", "add", near, "dev", far->link) &&
           RUN_IP(far, false, "link", "set", far->link, "up") &&
           RUN_IP(far, true, "addr", "add", there, "dev", inner_link) &&
           RUN_IP(far, true, "link", "set", inner_link, "up");
}

bool far_start(Far *far)
{
    *far = (Far){.net_fd = geteuid() == 0 ? make_namespace() : 0};
    name_link(far);
    if (far->net_fd != 0 && make_link(far)) {
        return true;
    }
    far_end(far);
    (void)printf("SKIPPED: a network that is cut: needs %s\n", needs);
    (void)fflush(stdout);
    return false;
}

void far_end(Far *far)
{
    if (far->net_fd != 0) {
        (void)close(far->net_fd);
    }
    *far = (Far){.net_fd = 0};
}

void far_cut(const Far *far)
{
    EXPECT(RUN_IP(far, false, "neigh", "replace", far->there, "lladdr", nobody, "dev", far->link,
                  "nud", "permanent") &&
               RUN_IP(far, true, "neigh", "replace", far->near, "lladdr", nobody, "dev", inner_link,
                      "nud", "permanent"),
           "the link was not cut");
}

void far_heal(const Far *far)
{
    EXPECT(RUN_IP(far, false, "neigh", "del", far->there, "dev", far->link) &&
               RUN_IP(far, true, "neigh", "del", far->near, "dev", inner_link),
           "the link was not healed");
}
