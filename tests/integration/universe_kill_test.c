/* Real deaths of a process that runs worlds in a file and sends to them: it is killed at any moment, again
 * and again, also while it opens the file or makes the worlds. Each message whose acknowledgement it had
 * reported is there once, and the state of each world is that of its journal.
 *
 * SAP_KILLS says how many deaths; SAP_TEST_SEED decides the moments, the load and the number of worlds. */
#include "common/random.h"
#include "node/host.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"
#include "support/universe_program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TIMEOUT_S = 300,
    KILLS = 40,
    KILLS_PER_FILE = 10,
    KILLS_PER_SECOND = 2, /* at least, on a slow machine */
    PRODUCERS_MAX = 4,
    WORLDS_MAX = 8,
    ANY_TIME_US = 40000, /* from its start, for the half of the deaths that may come in recovery */
    AT_WORK_US = 200000, /* from when it is ready, for the others */
    DRAIN_MS = 60000,
};

#define POLL_NS UINT64_C(5000000)

typedef struct Killing {
    FileBed bed;
    char url[FILES_PATH_MAX + 16];
    uint64_t seed;
    Rng rng;
    Ledger ledger;
    uint64_t duplicates;
} Killing;

typedef struct Totals {
    uint64_t kills;
    uint64_t acknowledged;
    uint64_t unknown;
    uint64_t duplicates;
    LedgerCounts ends;
} Totals;

/* Half of the processes live until they are ready, the others may die in recovery. */
static void live_and_be_killed(Killing *killing)
{
    bool any_time = rng_chance(&killing->rng, 1, 2);
    UniverseProgram program = {.url = killing->url, .worker = "worker", .sends = true};
    UniverseProcess process;
    UniverseProcess *one = &process;
    program.seed = rng_next(&killing->rng);
    program.pause_us = rng_chance(&killing->rng, 1, 2) ? 0 : 2000;
    universe_process_start(&process, &program, &killing->ledger);
    while (!any_time && !process.ready) {
        universe_processes_hear(&one, 1, POLL_NS);
    }
    uint64_t us = rng_below(&killing->rng, any_time ? ANY_TIME_US : AT_WORK_US);
    universe_processes_hear(&one, 1, us * 1000);
    universe_process_kill(&process);
    killing->duplicates += process.duplicates;
}

static SapUniverse *open_killed_file(const Killing *killing)
{
    SapUniverse *universe = NULL;
    int rc = sap_universe_open(killing->url, NULL, &universe);
    EXPECT(rc == SAP_OK, "opening %s returned %d: %s", killing->url, rc, sap_open_error());
    return universe;
}

/* Runs the worlds until nothing waits. */
static void drain_worlds(SapUniverse *universe, uint32_t worlds)
{
    uint64_t end_ns = universe_test_now_ns() + UINT64_C(1000000) * DRAIN_MS;
    HostOptions options = {.roles = HOST_ALL_ROLES};
    Host *host = NULL;
    EXPECT_RC(host_start(universe, &options, &host), SAP_OK);
    while (ledger_waiting(universe, worlds) > 0) {
        EXPECT(universe_test_now_ns() < end_ns, "the worlds do not go on");
        universe_processes_hear(NULL, 0, POLL_NS);
    }
    EXPECT_RC(host_stop(host, UINT64_MAX), SAP_OK);
}

/* A file of its own, through some deaths. */
static void kill_file(uint64_t seed, uint64_t kills, Totals *totals)
{
    Killing *killing = (Killing *)calloc(1, sizeof *killing);
    EXPECT(killing != NULL, "no memory");
    killing->seed = seed;
    rng_seed(&killing->rng, seed);
    killing->ledger.producers = 1 + (uint32_t)rng_below(&killing->rng, PRODUCERS_MAX);
    killing->ledger.worlds = 1 + (uint32_t)rng_below(&killing->rng, WORLDS_MAX);
    file_bed_start(&killing->bed);
    (void)snprintf(killing->url, sizeof killing->url, "sapling:%s", killing->bed.path);
    for (uint64_t i = 0; i < kills; i++) {
        expect_context("SAP_TEST_SEED=%" PRIu64 ", death %" PRIu64, seed, i + 1);
        live_and_be_killed(killing);
        SapUniverse *universe = open_killed_file(killing);
        totals->unknown += ledger_audit(universe, &killing->ledger).unknown;
        EXPECT_RC(sap_universe_close(universe), SAP_OK);
    }
    SapUniverse *universe = open_killed_file(killing);
    drain_worlds(universe, killing->ledger.worlds);
    LedgerCounts end = ledger_audit(universe, &killing->ledger);
    EXPECT(end.waiting == 0, "%" PRIu64 " items wait", end.waiting);
    EXPECT_RC(sap_universe_close(universe), SAP_OK);
    totals->kills += kills;
    totals->ends.entries += end.entries;
    totals->ends.rejected += end.rejected;
    totals->ends.epochs += end.epochs;
    totals->duplicates += killing->duplicates;
    for (uint32_t i = 0; i < killing->ledger.producers; i++) {
        totals->acknowledged += killing->ledger.acknowledged[i];
    }
    file_bed_end(&killing->bed);
    free(killing);
}

START_TEST(a_killed_process_loses_nothing_acknowledged_and_handles_nothing_twice)
{
    uint64_t seed = choice_first_seed();
    uint64_t kills = choice_setting("SAP_KILLS", KILLS);
    Totals totals = {.kills = 0};
    for (; totals.kills < kills; seed++) {
        uint64_t left = kills - totals.kills;
        kill_file(seed, left < KILLS_PER_FILE ? left : KILLS_PER_FILE, &totals);
    }
    printf("universe_kill: %" PRIu64 " kills, %" PRIu64 " acknowledged, %" PRIu64
           " outcomes unknown to the dead, %" PRIu64 " duplicates, %" PRIu64 " entries, %" PRIu64
           " rejected, %" PRIu64 " epochs, seeds %" PRIu64 " to %" PRIu64 "\n",
           totals.kills, totals.acknowledged, totals.unknown, totals.duplicates,
           totals.ends.entries, totals.ends.rejected, totals.ends.epochs, choice_first_seed(),
           seed - 1);
    EXPECT(totals.acknowledged > 0 && totals.ends.entries > 0, "nothing was tried");
}
END_TEST

int main(int argc, char **argv)
{
    if (universe_program_is(argc, argv)) {
        return universe_program_main(argc, argv);
    }
    Suite *suite = suite_create("universe_kill");
    TCase *tc = tcase_create("universe_kill");
    uint64_t kills = choice_setting("SAP_KILLS", KILLS);
    tcase_set_timeout(tc, (double)(TIMEOUT_S + kills / KILLS_PER_SECOND));
    tcase_add_test(tc, a_killed_process_loses_nothing_acknowledged_and_handles_nothing_twice);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
