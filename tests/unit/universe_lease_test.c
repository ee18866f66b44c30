/* Sessions, leases and the fence, in the simulator: several workers, two worlds, every fault.
 *
 * Each node is a worker with two roles. One renews the session. The other takes worlds, appends entries
 * to their journals, and now and then gives a world back. What must hold after every commit: entries
 * have the heights 1, 2, ... without a gap, their epochs never fall, one epoch belongs to one session,
 * the head has the digest of all entries; nothing that was acknowledged is lost or replaced; no epoch
 * that was given to somebody is above the lease's. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "simulator/simulator.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/suite.h"
#include "universe/journal.h"

enum {
    TIMEOUT_S = 300,
    SEEDS = 2000,
    ANY_SEEDS = 100,
    NODES = 3,
    WORLDS = 2,
    MOST_HEIGHT = 400,
    MOST_EPOCH = 400,
    CONTENT = 32,
    NEWEST = 4, /* entries that are looked at after every commit */
    WANTED = 3, /* entries of each world when all is quiet */
};

static const char *const world_names[WORLDS] = {"alpha", "beta"};

/* What was acknowledged, outside of all processes. */
typedef struct Outside {
    char acknowledged[WORLDS][MOST_HEIGHT + 1][CONTENT];
    uint64_t top[WORLDS];                                  /* the greatest height acknowledged */
    uint64_t epoch[WORLDS];                                /* the greatest given out */
    uint8_t owner[WORLDS][MOST_EPOCH + 1][UNIVERSE_NONCE]; /* of the epochs given out */
    bool given[WORLDS][MOST_EPOCH + 1];
    uint64_t appends, fenced, takeovers, resolved, releases;
} Outside;

typedef struct Worker {
    Outside *outside;
    SimulatorProcess process;
    Session session;
    uint32_t count; /* of contents made */
    /* Of each world. */
    WorldLease lease[WORLDS];
    HeadRow head[WORLDS];
    bool open[WORLDS];    /* its head is known */
    bool unknown[WORLDS]; /* the outcome of the last append */
    char content[WORLDS][CONTENT];
} Worker;

/* ---- The worker ------------------------------------------------------------------------------ */

static Slice content_of(const Worker *self, uint32_t world)
{
    return (Slice){self->content[world], CONTENT};
}

static uint64_t draw(const Worker *self, uint64_t below)
{
    uint64_t number = 0;
    EXPECT(random_fill(self->process.random, &number, sizeof number) == SAP_OK, "no randomness");
    return number % below;
}

static void note_lease(Worker *self, uint32_t world)
{
    Outside *outside = self->outside;
    uint64_t epoch = self->lease[world].epoch;
    if (!simulator_alive(self->process.simulator)) {
        return;
    }
    EXPECT(epoch <= MOST_EPOCH, "too many epochs");
    if (outside->given[world][epoch] &&
        memcmp(outside->owner[world][epoch], self->session.nonce, UNIVERSE_NONCE) != 0) {
        simulator_violation(self->process.simulator, "two sessions have epoch %" PRIu64, epoch);
    }
    outside->given[world][epoch] = true;
    memcpy(outside->owner[world][epoch], self->session.nonce, UNIVERSE_NONCE);
    /* A worker may hear of its epoch when another one has the world already: the fence is for that. */
    outside->takeovers += epoch > outside->epoch[world];
    outside->epoch[world] = epoch > outside->epoch[world] ? epoch : outside->epoch[world];
}

static void note_append(Worker *self, uint32_t world)
{
    Outside *outside = self->outside;
    uint64_t height = self->head[world].height;
    if (!simulator_alive(self->process.simulator)) {
        return;
    }
    EXPECT(height <= MOST_HEIGHT, "too many entries");
    memcpy(outside->acknowledged[world][height], self->content[world], CONTENT);
    outside->top[world] = height > outside->top[world] ? height : outside->top[world];
    outside->appends++;
}

static void drop_world(Worker *self, uint32_t world)
{
    self->lease[world].epoch = 0;
    self->open[world] = false;
    self->unknown[world] = false;
}

static int take_world(Worker *self, uint32_t world)
{
    int rc = world_lease_acquire(&self->session, world_names[world], &self->lease[world]);
    if (rc == SAP_OK) {
        note_lease(self, world);
    }
    return rc;
}

static int append_entry(Worker *self, uint32_t world)
{
    (void)snprintf(self->content[world], CONTENT, "%u.%02x%02x.%u", self->process.node,
                   self->session.nonce[0], self->session.nonce[1], self->count++);
    int rc = journal_append(&self->lease[world], &self->head[world], content_of(self, world),
                            &self->unknown[world]);
    if (rc == SAP_OK) {
        note_append(self, world);
    }
    return rc;
}

static int resolve_append(Worker *self, uint32_t world)
{
    bool happened = false;
    int rc = journal_resolve(&self->lease[world], &self->head[world], content_of(self, world),
                             &happened);
    if (rc == SAP_OK) {
        self->unknown[world] = false;
        self->outside->resolved++;
        if (happened) {
            note_append(self, world);
        }
    }
    return rc;
}

static int work_on(Worker *self, uint32_t world)
{
    if (self->lease[world].epoch == 0) {
        return take_world(self, world);
    }
    if (!self->open[world]) {
        int rc = journal_open(&self->lease[world], &self->head[world]);
        self->open[world] = rc == SAP_OK;
        return rc;
    }
    if (self->unknown[world]) {
        return resolve_append(self, world);
    }
    if (draw(self, 8) == 0) {
        int rc = world_lease_release(&self->lease[world]);
        self->outside->releases += rc == SAP_OK;
        if (rc == SAP_OK) {
            drop_world(self, world);
        }
        return rc;
    }
    return append_entry(self, world);
}

/* The next step tries again; a session that is over ends the process. */
static int code_of_step(int rc)
{
    return rc == SAP_NOMEM ? rc : SAP_OK;
}

static int step_worker(void *ctx, uint64_t now_ns)
{
    Worker *self = (Worker *)ctx;
    uint32_t world = (uint32_t)draw(self, WORLDS);
    (void)now_ns;
    int rc = work_on(self, world);
    if (rc == SAP_FENCED) {
        self->outside->fenced += self->lease[world].epoch != 0;
        drop_world(self, world);
    }
    return code_of_step(rc);
}

static int step_renewer(void *ctx, uint64_t now_ns)
{
    Worker *self = (Worker *)ctx;
    if (now_ns < self->session.renew_at_ns) {
        return SAP_OK;
    }
    int rc = session_renew(&self->session);
    return rc == SAP_FENCED ? rc : code_of_step(rc);
}

static int start_worker(void *ctx, const SimulatorProcess *process, SimulatorRoles *roles_out)
{
    char name[16];
    Worker *self = (Worker *)mem_zalloc(MEM_TEST, sizeof *self);
    if (self == NULL) {
        return SAP_NOMEM;
    }
    self->outside = (Outside *)ctx;
    self->process = *process;
    (void)snprintf(name, sizeof name, "worker-%u", process->node);
    int rc = session_init(&self->session, process->store, process->clock, process->random, 1, name);
    rc = rc == SAP_OK ? session_start(&self->session) : rc;
    if (rc != SAP_OK) {
        mem_free(MEM_TEST, self, sizeof *self);
        return rc;
    }
    *roles_out = (SimulatorRoles){
        .state = self,
        .count = 2,
        .roles = {{"renewer", step_renewer, self}, {"worker", step_worker, self}},
    };
    return SAP_OK;
}

static void stop_worker(void *ctx, void *state)
{
    (void)ctx;
    mem_free(MEM_TEST, state, sizeof(Worker));
}

/* ---- What must hold -------------------------------------------------------------------------- */

static UniverseName world_name(uint32_t world)
{
    UniverseName name;
    EXPECT(universe_name_set(&name, world_names[world]) == SAP_OK, "no name");
    return name;
}

/* False: no memory, or a violation. */
static bool check_entry(const Outside *outside, Simulator *simulator, SapStoreTxn *txn,
                        uint32_t world, uint64_t height, uint64_t *epoch, HeadRow *head)
{
    UniverseName name = world_name(world);
    RowKey key;
    Buf content = {0};
    uint64_t last = *epoch;
    row_key_journal(&key, 1, &name, height, 0);
    int rc = journal_row_get(txn, &key, epoch, &content);
    bool fine = rc == SAP_OK && content.len == CONTENT;
    if (rc == SAP_NOTFOUND) {
        simulator_violation(simulator, "entry %" PRIu64 " is missing", height);
    } else if (fine && *epoch < last) {
        simulator_violation(simulator, "entry %" PRIu64 " of epoch %" PRIu64 " after %" PRIu64,
                            height, *epoch, last);
    } else if (fine && outside->acknowledged[world][height][0] != 0 &&
               memcmp(outside->acknowledged[world][height], content.data, CONTENT) != 0) {
        simulator_violation(simulator, "entry %" PRIu64 " is not the one acknowledged", height);
    }
    if (fine) {
        HeadRow before = *head;
        journal_next(&before, (Slice){content.data, content.len}, head);
    }
    buf_release(&content);
    return fine;
}

/* All entries and the digest, or without `whole` the newest entries. */
static void check_world(const Outside *outside, Simulator *simulator, SapStoreTxn *txn,
                        uint32_t world, bool whole)
{
    UniverseName name = world_name(world);
    RowKey key;
    HeadRow head = {0};
    HeadRow computed = {0};
    LeaseRow lease = {.epoch = 0};
    uint64_t epoch = 0;
    row_key_head(&key, 1, &name);
    int rc = head_row_get(txn, &key, &head);
    if (rc == SAP_NOMEM) {
        return;
    }
    uint64_t first = whole || head.height <= NEWEST ? 1 : head.height - NEWEST;
    for (uint64_t height = first; height <= head.height; height++) {
        if (!check_entry(outside, simulator, txn, world, height, &epoch, &computed)) {
            return;
        }
    }
    if (whole && memcmp(computed.digest, head.digest, sizeof head.digest) != 0) {
        simulator_violation(simulator, "the head of %s has another digest", world_names[world]);
    }
    if (head.height < outside->top[world]) {
        simulator_violation(simulator, "entry %" PRIu64 " was acknowledged and is lost",
                            outside->top[world]);
    }
    row_key_lease(&key, 1, &name);
    rc = lease_row_get(txn, &key, &lease);
    if (rc != SAP_NOMEM && lease.epoch < outside->epoch[world]) {
        simulator_violation(simulator, "epoch %" PRIu64 " was given out, the lease has %" PRIu64,
                            outside->epoch[world], lease.epoch);
    }
    if (rc != SAP_NOMEM && epoch > lease.epoch) {
        simulator_violation(simulator, "an entry of epoch %" PRIu64 " above the lease's", epoch);
    }
}

static void check_universe(void *ctx, Simulator *simulator, SapStoreTxn *txn)
{
    for (uint32_t world = 0; world < WORLDS; world++) {
        check_world((const Outside *)ctx, simulator, txn, world, false);
    }
}

static void check_progress(void *ctx, Simulator *simulator, SapStoreTxn *txn)
{
    const Outside *outside = (const Outside *)ctx;
    for (uint32_t world = 0; world < WORLDS; world++) {
        check_world(outside, simulator, txn, world, true);
        if (outside->top[world] < WANTED) {
            simulator_violation(simulator, "world %s has %" PRIu64 " entries, and all was quiet",
                                world_names[world], outside->top[world]);
        }
    }
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static void set_options(SimulatorOptions *options, Outside *outside)
{
    simulator_options_init(options);
    options->ctx = outside;
    options->tables = universe_tables(&options->table_count);
    options->node_count = NODES;
    options->start = start_worker;
    options->stop = stop_worker;
    options->check = check_universe;
    options->check_commits = true;
    options->check_end = check_progress;
    options->pass_ms = 400;      /* so that sessions expire within a run, */
    options->settle_steps = 600; /* and again while all is quiet */
}

START_TEST(stale_workers_write_nothing_and_nothing_acknowledged_is_lost)
{
    uint64_t first = choice_first_seed();
    uint64_t count = choice_seed_count(SEEDS);
    uint64_t happened[SIMULATOR_CHANCES] = {0};
    uint64_t commits = 0;
    uint64_t nested = 0;
    Outside sum = {0};
    for (uint64_t seed = first; seed < first + count; seed++) {
        static Outside outside;
        SimulatorOptions options;
        SimulatorReport report = {0};
        memset(&outside, 0, sizeof outside);
        set_options(&options, &outside);
        int rc = simulator_run(&options, seed, &report);
        EXPECT(rc == SAP_OK, "seed %" PRIu64 ", step %" PRIu64 ", trace %016" PRIx64 ": %d: %s",
               seed, report.violation_step, report.trace_hash, rc, report.violation);
        for (int i = 0; i < SIMULATOR_CHANCES; i++) {
            happened[i] += report.happened[i];
        }
        commits += report.commits;
        nested += report.commits_in_txn;
        sum.appends += outside.appends;
        sum.fenced += outside.fenced;
        sum.takeovers += outside.takeovers;
        sum.resolved += outside.resolved;
        sum.releases += outside.releases;
        if (count >= ANY_SEEDS && (seed - first + 1) % ANY_SEEDS == 0) {
            for (int i = 0; i < SIMULATOR_CHANCES; i++) {
                EXPECT(happened[i] > 0, "no %s in %d seeds",
                       simulator_chance_name((SimulatorChance)i), ANY_SEEDS);
            }
        }
    }
    printf("universe_lease: %" PRIu64 " seeds from %" PRIu64 ": %" PRIu64 " commits, %" PRIu64
           " of them inside other transactions; %" PRIu64 " entries, %" PRIu64
           " times a world changed hands, %" PRIu64 " released, %" PRIu64 " fenced, %" PRIu64
           " unknown outcomes resolved\n",
           count, first, commits, nested, sum.appends, sum.takeovers, sum.releases, sum.fenced,
           sum.resolved);
    for (int i = 0; i < SIMULATOR_CHANCES; i++) {
        printf("  %s %" PRIu64, simulator_chance_name((SimulatorChance)i), happened[i]);
    }
    printf("\n");
    EXPECT(sum.fenced > 0 && sum.takeovers > 0 && sum.resolved > 0 && sum.releases > 0,
           "something never happened");
    ck_assert_uint_eq(mem_live_bytes(MEM_TEST), 0);
    ck_assert_uint_eq(mem_live_bytes(MEM_STORE), 0);
}
END_TEST

START_TEST(a_seed_runs_again_exactly)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        static Outside outside[2];
        uint64_t hash[2];
        for (int i = 0; i < 2; i++) {
            SimulatorOptions options;
            SimulatorReport report = {0};
            memset(&outside[i], 0, sizeof outside[i]);
            set_options(&options, &outside[i]);
            ck_assert_int_eq(simulator_run(&options, seed, &report), SAP_OK);
            hash[i] = report.trace_hash;
        }
        ck_assert_uint_eq(hash[0], hash[1]);
        ck_assert_mem_eq(&outside[0], &outside[1], sizeof outside[0]);
    }
}
END_TEST

/* A worker that has started again under its name: the session before is over. */
START_TEST(an_old_session_renews_and_takes_nothing)
{
    SapStoreOptions options = {.size = sizeof options};
    SapStore *store = NULL;
    Session old;
    Session young;
    WorldLease lease;
    options.tables = universe_tables(&options.table_count);
    ck_assert_int_eq(sap_store_open("memory:", &options, &store), SAP_OK);
    ck_assert_int_eq(session_init(&old, store, NULL, NULL, 1, "worker"), SAP_OK);
    ck_assert_int_eq(session_init(&young, store, NULL, NULL, 1, "worker"), SAP_OK);
    ck_assert_int_eq(session_renew(&old), SAP_FENCED); /* it has not started */
    ck_assert_int_eq(session_start(&old), SAP_OK);
    ck_assert_int_eq(session_renew(&old), SAP_OK);
    ck_assert_int_eq(session_start(&young), SAP_OK);
    ck_assert_int_eq(world_lease_acquire(&old, "alpha", &lease), SAP_FENCED);
    ck_assert_int_eq(session_renew(&old), SAP_FENCED);
    ck_assert(!session_may_work(&old));
    ck_assert_int_eq(session_renew(&young), SAP_OK);
    ck_assert_int_eq(world_lease_acquire(&young, "alpha", &lease), SAP_OK);
    ck_assert_uint_eq(lease.epoch, 1);
    ck_assert_int_eq(sap_store_close(store), SAP_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_lease");
    TCase *test_case = tcase_create("simulator");

    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, stale_workers_write_nothing_and_nothing_acknowledged_is_lost);
    tcase_add_test(test_case, a_seed_runs_again_exactly);
    tcase_add_test(test_case, an_old_session_renews_and_takes_nothing);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
