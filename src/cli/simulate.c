/* simulate.c - see simulate.h: runs of the universe in the simulator, each from one number. */
#include "cli/simulate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "universe/simulate.h"

enum { MOST_STEPS = 1000000, MOST_SEEDS = 100000000 };

/* The runs from one seed to another, and what happened in all of them. */
typedef struct Runs {
    uint64_t from;
    uint64_t to;
    uint32_t steps; /* 0: the default */
    uint64_t count; /* that have been made */
    uint64_t trace; /* hash over those of all runs */
    SimulatorReport sum;
    UniverseCounts counts;
    SimulatorReport last;
} Runs;

/* X(field of the report, what it counts). */
#define REPORT_COUNTS(X)                                            \
    X(steps, "steps that were not inside others")                   \
    X(calls, "calls of the store")                                  \
    X(checks, "times that all invariants were checked")             \
    X(starts, "starts of nodes")                                    \
    X(commits, "commits that wrote")                                \
    X(nested_in_txn, "steps inside an open transaction of another") \
    X(commits_in_txn, "commits in such a step")                     \
    X(commits_lost, "commits that a power cut took back")           \
    X(dropped, "transactions that a server dropped after its patience")

/* ---- The seeds --------------------------------------------------------------------------------- */

/* The number at *text, which is moved behind it. */
static bool read_number(const char **text, uint64_t *number_out)
{
    char *end = NULL;
    if (**text < '0' || **text > '9' || strspn(*text, "0123456789") > 19) {
        return false;
    }
    *number_out = strtoull(*text, &end, 10);
    *text = end;
    return true;
}

/* "A..B" */
static int read_range(const Call *call, const char *text, Runs *runs)
{
    const char *at = text;
    bool good = read_number(&at, &runs->from) && strncmp(at, "..", 2) == 0;
    at += good ? 2 : 0;
    good = good && read_number(&at, &runs->to) && *at == '\0' && runs->from <= runs->to;
    if (!good) {
        return call_usage(call, "--seeds is FIRST..LAST, as in 1..100, not '%s'", text);
    }
    return runs->to - runs->from < MOST_SEEDS
               ? EXIT_DONE
               : call_usage(call, "--seeds has more than %d seeds", MOST_SEEDS);
}

static int read_options(const Call *call, Runs *runs)
{
    const char *range = call_value(call, OPTION_SEEDS);
    uint64_t steps = 0;
    int code = call_number(call, OPTION_STEPS, 1, MOST_STEPS, 0, &steps);
    runs->steps = (uint32_t)steps;
    if (code == EXIT_DONE && range != NULL && call_has(call, OPTION_SEED)) {
        code = call_usage(call, "--seed and --seeds exclude each other");
    }
    if (code == EXIT_DONE && call_has(call, OPTION_TRACE) && (call->ui->json || range != NULL)) {
        code = call_usage(call, "--trace is for one seed, and not with --json");
    }
    if (code != EXIT_DONE) {
        return code;
    }
    if (range != NULL) {
        return read_range(call, range, runs);
    }
    code = call_number(call, OPTION_SEED, 0, INT64_MAX, 1, &runs->from);
    runs->to = runs->from;
    return code;
}

/* ---- The report -------------------------------------------------------------------------------- */

static void add_report(Runs *runs)
{
    const SimulatorReport *last = &runs->last;
#define REPORT_ADD(name, what) runs->sum.name += last->name;
    REPORT_COUNTS(REPORT_ADD)
#undef REPORT_ADD
    for (int i = 0; i < SIMULATOR_CHANCES; i++) {
        runs->sum.happened[i] += last->happened[i];
    }
    runs->sum.passed_ns += last->passed_ns;
    runs->trace = runs->count == 0 ? last->trace_hash
                                   : runs->trace * UINT64_C(0x100000001b3) ^ last->trace_hash;
    runs->count++;
}

static void print_count(const char *name, uint64_t count, const char *what)
{
    printf("%-16s %12" PRIu64 "  %s\n", name, count, what);
}

static void print_report(const Runs *runs)
{
    print_count("seeds", runs->count, "runs");
    print_count("simulated_s", runs->sum.passed_ns / UINT64_C(1000000000),
                "seconds of simulated time");
#define REPORT_PRINT(name, what) print_count(#name, runs->sum.name, what);
    REPORT_COUNTS(REPORT_PRINT)
#undef REPORT_PRINT
#define COUNT_PRINT(name, what) print_count(#name, runs->counts.name, what);
    UNIVERSE_COUNTS(COUNT_PRINT)
#undef COUNT_PRINT
    for (int i = 0; i < SIMULATOR_CHANCES; i++) {
        print_count("fault", runs->sum.happened[i], simulator_chance_name((SimulatorChance)i));
    }
    printf("%-16s %016" PRIx64 "  the same for the same seeds, steps and version\n", "trace",
           runs->trace);
}

static int set_number(json_t *object, const char *name, uint64_t number)
{
    return json_object_set_new(object, name, json_integer((json_int_t)number));
}

static int print_json(const Ui *ui, const Runs *runs, bool violated)
{
    char trace[24];
    json_t *object = json_object();
    json_t *faults = json_object();
    int failed = 0;
    (void)snprintf(trace, sizeof trace, "%016" PRIx64, runs->trace);
    for (int i = 0; i < SIMULATOR_CHANCES; i++) {
        failed |=
            set_number(faults, simulator_chance_name((SimulatorChance)i), runs->sum.happened[i]);
    }
    failed |= set_number(object, "from", runs->from);
    failed |= set_number(object, "seeds", runs->count);
    failed |= set_number(object, "simulated_s", runs->sum.passed_ns / UINT64_C(1000000000));
#define REPORT_SET(name, what) failed |= set_number(object, #name, runs->sum.name);
    REPORT_COUNTS(REPORT_SET)
#undef REPORT_SET
#define COUNT_SET(name, what) failed |= set_number(object, #name, runs->counts.name);
    UNIVERSE_COUNTS(COUNT_SET)
#undef COUNT_SET
    failed |= json_object_set_new(object, "faults", faults);
    failed |= json_object_set_new(object, "trace", json_string(trace));
    failed |= json_object_set_new(object, "violated", json_boolean(violated));
    if (violated) {
        failed |= set_number(object, "violation_seed", runs->last.seed);
        failed |= set_number(object, "violation_step", runs->last.violation_step);
        failed |= json_object_set_new(object, "violation", json_text(runs->last.violation));
    }
    if (failed != 0) {
        json_decref(object);
        object = NULL;
    }
    return ui_object(ui, object);
}

/* ---- The verb ---------------------------------------------------------------------------------- */

static void print_line(void *ctx, const char *line)
{
    (void)ctx;
    puts(line);
}

static int report_violation(const Ui *ui, const Runs *runs)
{
    char hint[160];
    char steps[32] = "";
    if (runs->steps > 0) {
        (void)snprintf(steps, sizeof steps, " --steps %" PRIu32, runs->steps);
    }
    (void)snprintf(hint, sizeof hint,
                   "this is a bug in Sapling; see it happen: sapling simulate --seed %" PRIu64
                   "%s --trace",
                   runs->last.seed, steps);
    return ui_fail(ui, EXIT_FAILED, hint, "seed %" PRIu64 ", step %" PRIu64 ": %s", runs->last.seed,
                   runs->last.violation_step, runs->last.violation);
}

int simulate_verb(const Call *call)
{
    Runs runs = {0};
    UniverseCounts counts;
    int rc = SAP_OK;
    int code = read_options(call, &runs);
    for (uint64_t seed = runs.from; code == EXIT_DONE && rc == SAP_OK && seed <= runs.to; seed++) {
        rc = universe_simulate(seed, runs.steps, call_has(call, OPTION_TRACE) ? print_line : NULL,
                               NULL, &runs.last, &counts);
        if (rc == SAP_OK || rc == SAP_INVALID) {
            add_report(&runs);
            universe_counts_add(&runs.counts, &counts);
        } else {
            code = ui_no_memory(call->ui);
        }
    }
    if (code != EXIT_DONE) {
        return code;
    }
    if (call->ui->json) {
        code = print_json(call->ui, &runs, rc == SAP_INVALID);
    } else {
        print_report(&runs);
    }
    return code == EXIT_DONE && rc == SAP_INVALID ? report_violation(call->ui, &runs) : code;
}
