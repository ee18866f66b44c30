/* Real deaths of a process whose worlds ask for effects and timers, with all roles at work: it is killed at any
 * moment, again and again. What it called is in an account outside the store (support/universe_outside.h).
 *
 * SAP_KILLS says how many deaths; SAP_TEST_SEED decides their moments. */
#include "common/clock.h"
#include "common/random.h"
#include "node/host.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"
#include "support/universe_outside.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TIMEOUT_S = 300,
    KILLS = 40,
    KILLS_PER_FILE = 10,
    KILLS_PER_SECOND = 2, /* at least, on a slow machine */
    HANDLERS = 2,
    SEND_EVERY_US = 300, /* at most */
    ANY_TIME_US = 40000, /* from its start, for the half of the deaths that may come in recovery */
    AT_WORK_US = 120000, /* from when it is ready, for the others */
    LOOK_US = 1000,
    DRAIN_S = 60,
};

static const char role_name[] = "universe-effects-program";

static void nap_us(uint64_t us)
{
    struct timespec pause = {.tv_sec = (time_t)(us / 1000000),
                             .tv_nsec = (long)(us % 1000000) * 1000};
    (void)nanosleep(&pause, NULL);
}

SAP_WORLD_MODULE(OUTSIDE_MODULE, outside_handle);

static SapUniverse *open_universe(const char *url)
{
    SapUniverse *universe = NULL;
    int rc = sap_universe_open(url, NULL, &universe);
    EXPECT(rc == SAP_OK, "opening %s returned %d: %s", url, rc, sap_open_error());
    return universe;
}

static Host *start_host(SapUniverse *universe)
{
    HostOptions options = {.worker = {.name = "worker"},
                           .handlers = HANDLERS,
                           .roles = HOST_ALL_ROLES,
                           .prepare = outside_serve};
    Host *host = NULL;
    EXPECT_RC(host_start(universe, &options, &host), SAP_OK);
    return host;
}

/* ---- The program ----------------------------------------------------------------------------- */

/* Sends the next messages until it is killed. */
static int run_program(const char *url, const char *account, uint64_t seed, uint32_t next)
{
    Rng rng;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    rng_seed(&rng, seed);
    outside_open_account(account);
    SapUniverse *universe = open_universe(url);
    outside_make_worlds(universe);
    (void)start_host(universe);
    outside_note_ready();
    for (; next <= OUTSIDE_MESSAGES; next++) {
        EXPECT_RC(outside_send(universe, next), SAP_OK);
        outside_note_sent(next);
        nap_us(rng_below(&rng, SEND_EVERY_US));
    }
    for (;;) {
        (void)pause();
    }
}

/* ---- The deaths ------------------------------------------------------------------------------ */

typedef struct Killing {
    FileBed bed;
    char url[FILES_PATH_MAX + 16];
    char account[FILES_PATH_MAX + 16];
    uint64_t seed;
    Rng rng;
    OutsideAudit *audit;
} Killing;

static pid_t start_program(Killing *killing)
{
    char seed[24];
    char next[24];
    char *const argv[] = {(char *)(uintptr_t)role_name,
                          (char *)(uintptr_t)role_name,
                          killing->url,
                          killing->account,
                          seed,
                          next,
                          NULL};
    (void)snprintf(seed, sizeof seed, "%" PRIu64, rng_next(&killing->rng));
    (void)snprintf(next, sizeof next, "%" PRIu32, outside_audit_sent(killing->audit) + 1);
    (void)fflush(NULL);
    pid_t pid = fork();
    EXPECT(pid >= 0, "no process");
    if (pid == 0) {
        (void)execv("/proc/self/exe", argv);
        _exit(EXIT_FAILURE);
    }
    return pid;
}

static void kill_program(pid_t pid)
{
    int status = 0;
    EXPECT(kill(pid, SIGKILL) == 0, "no process");
    while (waitpid(pid, &status, 0) < 0) {
        EXPECT(errno == EINTR, "no child");
    }
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the process ended with status %d",
           status);
}

/* Half of the processes live until they are ready, the others may die in recovery. */
static void live_and_be_killed(Killing *killing)
{
    bool any_time = rng_chance(&killing->rng, 1, 2);
    uint32_t ready = outside_audit_read(killing->audit);
    pid_t pid = start_program(killing);
    while (!any_time && outside_audit_read(killing->audit) == ready) {
        EXPECT(waitpid(pid, NULL, WNOHANG) == 0, "the process has ended by itself");
        nap_us(LOOK_US);
    }
    nap_us(rng_below(&killing->rng, any_time ? ANY_TIME_US : AT_WORK_US));
    kill_program(pid);
    (void)outside_audit_read(killing->audit);
    outside_audit_claims(killing->audit, killing->url);
}

static void drain_and_audit(Killing *killing, OutsideCounts *counts)
{
    uint64_t end_ns = clock_mono_ns(NULL) + UINT64_C(1000000000) * DRAIN_S;
    outside_open_account(killing->account);
    SapUniverse *universe = open_universe(killing->url);
    outside_make_worlds(universe);
    Host *host = start_host(universe);
    while (outside_waiting(universe) > 0) {
        EXPECT(clock_mono_ns(NULL) < end_ns, "%" PRIu64 " rows have no end",
               outside_waiting(universe));
        nap_us(LOOK_US);
    }
    EXPECT_RC(host_stop(host, UINT64_MAX), SAP_OK);
    outside_audit_end(killing->audit, universe, counts);
    EXPECT_RC(sap_universe_close(universe), SAP_OK);
    outside_close_account();
}

/* A file of its own, through some deaths. */
static void kill_file(uint64_t seed, uint64_t kills, OutsideCounts *counts)
{
    Killing *killing = (Killing *)calloc(1, sizeof *killing);
    EXPECT(killing != NULL, "no memory");
    killing->seed = seed;
    rng_seed(&killing->rng, seed);
    file_bed_start(&killing->bed);
    (void)snprintf(killing->url, sizeof killing->url, "sapling:%s", killing->bed.path);
    (void)snprintf(killing->account, sizeof killing->account, "%s/account", killing->bed.dir);
    killing->audit = outside_audit_new(killing->account);
    for (uint64_t i = 0; i < kills; i++) {
        expect_context("SAP_TEST_SEED=%" PRIu64 ", death %" PRIu64, seed, i + 1);
        live_and_be_killed(killing);
    }
    expect_context("SAP_TEST_SEED=%" PRIu64 ", the end", seed);
    drain_and_audit(killing, counts);
    outside_audit_free(killing->audit);
    file_bed_end(&killing->bed);
    free(killing);
}

START_TEST(each_intent_has_one_receipt_however_often_the_process_is_killed)
{
    uint64_t seed = choice_first_seed();
    uint64_t kills = choice_setting("SAP_KILLS", KILLS);
    uint64_t done = 0;
    OutsideCounts sum = {.messages = 0};
    while (done < kills) {
        uint64_t some = kills - done < KILLS_PER_FILE ? kills - done : KILLS_PER_FILE;
        kill_file(seed++, some, &sum);
        done += some;
    }
    printf("universe_effects_kill: %" PRIu64 " kills, %" PRIu64 " messages; %" PRIu64
           " effects (%" PRIu64 " without a ref), %" PRIu64 " timers, %" PRIu64
           " of both cancelled (%" PRIu64 " too late); receipts: %" PRIu64 " ok, %" PRIu64
           " error, %" PRIu64 " timeout, of %" PRIu64 " attempts; %" PRIu64 " calls (%" PRIu64
           " for an effect that was called before), %" PRIu64 " claims held by the dead, %" PRIu64
           " attempts lost; seeds %" PRIu64 " to %" PRIu64 "\n",
           done, sum.messages, sum.effects, sum.unnamed, sum.timers, sum.cancelled,
           sum.cancelled_late, sum.ok, sum.errors, sum.timeouts, sum.attempts, sum.begun, sum.again,
           sum.held, sum.lost, choice_first_seed(), seed - 1);
    EXPECT(sum.ok > 0 && sum.errors > 0 && sum.timers > 0 && sum.cancelled > 0,
           "nothing was tried");
    EXPECT(kills < KILLS || (sum.lost > 0 && sum.timeouts > 0), "no process died at work");
}
END_TEST

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], role_name) == 0) {
        return run_program(argv[2], argv[3], strtoull(argv[4], NULL, 10),
                           (uint32_t)strtoul(argv[5], NULL, 10));
    }
    Suite *suite = suite_create("universe_effects_kill");
    TCase *tc = tcase_create("universe_effects_kill");
    uint64_t kills = choice_setting("SAP_KILLS", KILLS);
    tcase_set_timeout(tc, (double)(TIMEOUT_S + kills / KILLS_PER_SECOND));
    tcase_add_test(tc, each_intent_has_one_receipt_however_often_the_process_is_killed);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
