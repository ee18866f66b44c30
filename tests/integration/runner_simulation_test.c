/* A simulation of workers: one thread, a clock and a source of chance of the test's own, and a power
 * cut at every point of a run. Errands (errands.h) are sent, fail, expire, are handled twice at
 * once, arm timers and beget others; whatever is cut off when, in the end each was applied exactly
 * once or is exactly one dead letter, in the order in which they had come.
 *
 * Interleaving without threads: within its handler a worker lets others tick, and time pass.
 * SAP_TEST_SEED and SAP_TEST_SEEDS repeat and extend. */
#include "common/bytes.h"
#include "common/config.h"
#include "common/hash.h"
#include "support/choice.h"
#include "support/crash.h"
#include "support/errands.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/reach.h"
#include "support/suite.h"
#include "wit_schema_dbis.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TIMEOUT_S = 900,
    WORKERS = 3,
    INSTANCES = 4, /* the last serves the inbox of worker 0 as the first does */
    BUDGET = 4,
    LEASE_MS = 1000,
    MAX_BATCH = 3,
    MAX_DEPTH = 2, /* ticks within handlers within ticks */
    IDLE_MS = 3600000,
    ROUNDS = 20000, /* a run that takes more hangs */
    WAITING_MAX = 512,
    ATTEMPTS_MAX = 4096,
    LOST_MAX = 1024,
    START_MS = 1000000,
};

/* ---- What outlives a cut -------------------------------------------------------------------- */

/* Something that the world outside of the DB has seen. */
typedef struct Sighting {
    char id[ERRAND_MAX_ID];
    bool ok; /* of a plain handler: it succeeded */
} Sighting;

/* What was known when a mark of the trace was set. */
typedef struct Known {
    uint64_t sent;  /* roots acknowledged */
    size_t applied; /* sightings of each kind */
    size_t called;
    size_t forwarded;
    int64_t now_ms;
} Known;

typedef struct Sightings {
    Sighting *items;
    size_t count;
    size_t room;
} Sightings;

typedef struct Witness {
    Known *marks; /* mark n is marks[n - 1] */
    size_t mark_count;
    size_t mark_room;
    Known now;
    Sightings applied;
    Sightings called;
    Sightings forwarded;
} Witness;

typedef struct Counts {
    uint64_t lives;
    uint64_t messages;
    uint64_t dead;
    uint64_t elsewhere;
    uint64_t retries;
    uint64_t requeues;
    uint64_t timeouts;
    uint64_t losses;
    uint64_t duplicates;
    uint64_t timers;
    uint64_t routed;
    uint64_t conflicts;
    uint64_t refused; /* ends of claims that had passed to others */
    uint64_t takeovers_after_a_cut;
} Counts;

typedef struct Sim Sim;

/* A message that a claim could take. */
typedef struct Waiting {
    uint64_t seq;
    bool expired; /* it has a lease whose time is over */
} Waiting;

typedef struct Instance {
    Sim *sim;
    SapRunnerV0Worker worker;
    bool in_tick;
    bool disturbed; /* time was lost or others worked during the tick: claims may have gone */
    /* What lay in the inbox, free to be claimed, when the tick began. */
    Waiting waiting[WAITING_MAX];
    uint32_t waiting_count;
    uint32_t waiting_at;
} Instance;

struct Sim {
    ErrandPlan plan;
    SapEnv *db;
    Choice choice;
    int64_t now_ms;
    Instance instances[INSTANCES];
    uint32_t depth;
    bool plain;
    uint64_t roots;
    uint64_t next_root;
    CrashTrace *trace; /* NULL: nobody will cut this life */
    Witness *witness;
    Counts *counts;
    bool first_life;                 /* everything that ever happened was seen */
    uint64_t last_first[WORKERS][2]; /* the root whose first attempt came last, by priority */
    Sighting attempts[ATTEMPTS_MAX]; /* of all messages that no other shares its id with */
    size_t attempt_count;
    SapRunnerV0Claim held;   /* by the straggler; no frame: nothing */
    uint64_t lost[LOST_MAX]; /* leases that workers said to have lost */
    size_t lost_count;
};

static void see(Sightings *list, const char *id, bool ok)
{
    if (list->count == list->room) {
        list->room = list->room == 0 ? 64 : list->room * 2;
        list->items = realloc(list->items, list->room * sizeof *list->items);
        EXPECT(list->items != NULL, "no memory");
    }
    Sighting *item = &list->items[list->count++];
    *item = (Sighting){.ok = ok};
    memcpy(item->id, id, strlen(id));
}

static uint64_t seen(const Sightings *list, const char *id, bool only_ok)
{
    uint64_t times = 0;

    for (size_t i = 0; i < list->count; i++) {
        times += strcmp(list->items[i].id, id) == 0 && (!only_ok || list->items[i].ok);
    }
    return times;
}

/* The witness knows from here on what it has seen so far. */
static void mark(Sim *sim)
{
    Witness *w = sim->witness;

    if (sim->trace == NULL) {
        return;
    }
    if (w->mark_count == w->mark_room) {
        w->mark_room = w->mark_room == 0 ? 256 : w->mark_room * 2;
        w->marks = realloc(w->marks, w->mark_room * sizeof *w->marks);
        EXPECT(w->marks != NULL, "no memory");
    }
    w->now.called = w->called.count;
    w->now.forwarded = w->forwarded.count;
    w->now.now_ms = sim->now_ms;
    w->marks[w->mark_count++] = w->now;
    crash_mark(sim->trace, w->mark_count);
}

static void witness_free(Witness *w)
{
    free(w->marks);
    free(w->applied.items);
    free(w->called.items);
    free(w->forwarded.items);
    *w = (Witness){0};
}

static void copy_sightings(Sightings *to, const Sightings *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        see(to, from->items[i].id, from->items[i].ok);
    }
}

/* What `from` knew at a mark; 0: nothing. */
static void witness_at(const Witness *from, uint64_t at, Witness *to)
{
    *to = (Witness){0};
    if (at == 0) {
        to->now.now_ms = START_MS;
        return;
    }
    to->now = from->marks[at - 1];
    copy_sightings(&to->applied, &from->applied, to->now.applied);
    copy_sightings(&to->called, &from->called, to->now.called);
    copy_sightings(&to->forwarded, &from->forwarded, to->now.forwarded);
}

/* ---- The world of the workers --------------------------------------------------------------- */

static int64_t sim_now(void *ctx)
{
    return ((Sim *)ctx)->now_ms;
}

static void sim_sleep(uint32_t ms, void *ctx)
{
    ((Sim *)ctx)->now_ms += ms;
}

static void sim_random(void *out, uint32_t len, void *ctx)
{
    rng_bytes(&((Sim *)ctx)->choice.rng, out, len);
}

static int is_local(int64_t worker, void *ctx)
{
    (void)ctx;
    return worker < WORKERS;
}

static void sim_tick(Sim *sim, uint32_t i);
static void note_attempt(Sim *sim, const Errand *errand);

static void disturb(Sim *sim)
{
    for (uint32_t i = 0; i < INSTANCES; i++) {
        sim->instances[i].disturbed = true;
    }
}

/* Claims a message as somebody who takes his time. */
static void straggler_claims(Sim *sim)
{
    SapRunnerV0ClaimOptions options = {.worker_id = choice_below(&sim->choice, WORKERS),
                                       .owner = 2,
                                       .now_ms = sim->now_ms,
                                       .lease_ttl_ms = LEASE_MS};
    SapRunnerV0Message msg;
    SapTxnCtx *txn = NULL;
    uint32_t count = 0;

    EXPECT_RC(sap_txn_begin_rc(sim->db, NULL, SAP_TXN_WAIT, &txn), SAP_OK);
    EXPECT_RC(sap_runner_mailbox_v0_claim(txn, &options, &sim->held, 1, &count, NULL), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    if (count == 1) {
        EXPECT_RC(sap_runner_wire_v0_decode_message(sim->held.frame, sim->held.frame_len, &msg),
                  SAP_OK);
        Errand errand = errand_of(&sim->plan, &msg);
        note_attempt(sim, &errand);
    }
}

/* Whatever the straggler tries is refused once another holds the message, or nobody does any more;
 * otherwise he puts it back, or gives it up when its budget is used. */
static void straggler_returns(Sim *sim)
{
    SapRunnerV0Claim *held = &sim->held;
    SapRunnerV0Lease lease;
    SapTxnCtx *txn = NULL;
    uint8_t key[16];
    int rc;

    EXPECT_RC(sap_txn_begin_rc(sim->db, NULL, SAP_TXN_WAIT, &txn), SAP_OK);
    store_u64be(key, held->worker);
    store_u64be(key + 8, held->seq);
    rc = sap_runner_lease_v0_get(txn, key, sizeof key, &lease);
    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "the lease answered %d", rc);
    if (rc == SAP_OK && lease.token == held->token) {
        EXPECT_RC(sap_runner_mailbox_v0_touch(txn, held, sim->now_ms, LEASE_MS), SAP_OK);
        EXPECT_RC(held->attempts < BUDGET ? sap_runner_mailbox_v0_requeue(txn, held, 4, NULL)
                                          : sap_runner_dead_letter_v0_move(txn, held, SAP_BUSY),
                  SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    } else {
        EXPECT_RC(sap_runner_mailbox_v0_ack(txn, held, sim->now_ms, 1000), SAP_CONFLICT);
        EXPECT_RC(sap_runner_mailbox_v0_touch(txn, held, sim->now_ms, LEASE_MS), SAP_CONFLICT);
        EXPECT_RC(sap_runner_mailbox_v0_requeue(txn, held, 4, NULL), SAP_CONFLICT);
        EXPECT_RC(sap_runner_mailbox_v0_requeue_at(txn, held, sim->now_ms), SAP_CONFLICT);
        EXPECT_RC(sap_runner_dead_letter_v0_move(txn, held, SAP_ERROR), SAP_CONFLICT);
        /* Committed, so that a change that should not be there would show. */
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        sim->counts->refused++;
    }
    sap_runner_v0_claim_release(held);
}

/* In the middle of a handler: time passes, others work. */
static void pause_in_handler(Sim *sim)
{
    if (sim->held.frame != NULL && choice_one_in(&sim->choice, 6)) {
        disturb(sim);
        straggler_returns(sim);
    }
    if (choice_one_in(&sim->choice, 10)) {
        sim->now_ms += LEASE_MS + choice_below(&sim->choice, 500);
        disturb(sim);
    }
    if (sim->depth < MAX_DEPTH && choice_one_in(&sim->choice, 5)) {
        /* As often as not those that share an inbox. */
        uint32_t i = choice_one_in(&sim->choice, 2) ? choice_below(&sim->choice, INSTANCES)
                     : sim->instances[0].in_tick    ? INSTANCES - 1
                                                    : 0;
        if (!sim->instances[i].in_tick) {
            disturb(sim);
            sim_tick(sim, i);
        }
    }
}

static bool fails(Sim *sim, const Errand *errand)
{
    return errand->temper == ERRAND_POISON ||
           (errand->temper == ERRAND_FLAKY && choice_one_in(&sim->choice, 2));
}

static int handle_block(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, void *ctx)
{
    Instance *instance = ctx;
    Sim *sim = instance->sim;
    Errand errand = errand_of(&sim->plan, msg);
    bool failing = fails(sim, &errand);

    if (failing && choice_one_in(&sim->choice, 2)) {
        return errand_failure(choice_below(&sim->choice, 100));
    }
    int rc = errand_apply(&sim->plan, host, &errand, choice_one_in(&sim->choice, 4));
    pause_in_handler(sim);
    return failing ? errand_failure(choice_below(&sim->choice, 100)) : rc;
}

/* A plain handler acts on the outside at once; what follows it sends itself. */
static int handle_plainly(SapRunnerV0 *runner, const SapRunnerV0Message *msg, void *ctx)
{
    Instance *instance = ctx;
    Sim *sim = instance->sim;
    uint8_t payload[ERRAND_MAX_PAYLOAD];
    Errand errand = errand_of(&sim->plan, msg);
    bool failing = fails(sim, &errand);

    see(&sim->witness->called, errand.id, !failing);
    mark(sim);
    pause_in_handler(sim);
    if (failing) {
        return errand_failure(choice_below(&sim->choice, 100));
    }
    for (uint32_t i = 0; i < errand.children; i++) {
        Errand child = errand_child(&sim->plan, &errand, i);
        SapRunnerV0Message sent = errand_message(&sim->plan, &child, payload, sim->now_ms);
        EXPECT_RC(sap_runner_v0_send(sim->db, &sent, NULL), SAP_OK);
    }
    int rc = choice_one_in(&sim->choice, 3) ? sap_runner_v0_touch(runner) : SAP_OK;
    EXPECT(rc == SAP_OK || rc == SAP_CONFLICT, "touch answered %d", rc);
    return SAP_OK;
}

static int forward(const void *frame, uint32_t frame_len, uint64_t seq, void *ctx)
{
    Sim *sim = ctx;
    SapRunnerV0Message msg;

    (void)seq;
    EXPECT_RC(sap_runner_wire_v0_decode_message(frame, frame_len, &msg), SAP_OK);
    Errand errand = errand_of(&sim->plan, &msg);
    EXPECT(errand.worker == WORKERS, "%s is not for elsewhere", errand.id);
    if (choice_one_in(&sim->choice, 4)) {
        return SAP_BUSY;
    }
    see(&sim->witness->forwarded, errand.id, true);
    mark(sim);
    return SAP_OK;
}

/* ---- Order ---------------------------------------------------------------------------------- */

/* Whether a copy of a message flagged for it was handled: then a claim skips it. */
static bool is_duplicate(SapTxnCtx *txn, const SapRunnerV0Message *msg, int64_t now_ms)
{
    int found = 0;

    if ((msg->flags & SAP_RUNNER_V0_DEDUPE) != 0) {
        EXPECT_RC(sap_runner_dedupe_v0_seen(txn, msg->to_worker, msg->message_id,
                                            msg->message_id_len, msg->payload, msg->payload_len,
                                            now_ms, &found, NULL),
                  SAP_OK);
    }
    return found != 0;
}

/* Notes what a claim would find now, in the order of the keys. */
static void note_waiting(Instance *instance)
{
    Sim *sim = instance->sim;
    uint8_t prefix[8];
    SapTxnCtx *txn = NULL;

    instance->waiting_count = 0;
    instance->waiting_at = 0;
    store_u64be(prefix, (uint64_t)instance->worker.runner.worker_id);
    EXPECT_RC(sap_txn_begin_rc(sim->db, NULL, SAP_TXN_RDONLY | SAP_TXN_NEWEST, &txn), SAP_OK);
    SapCursor *cur = sap_cursor_open_dbi(txn, WIT_DBI_INBOX);
    EXPECT(cur != NULL, "no cursor");
    for (int rc = sap_cursor_seek(cur, prefix, sizeof prefix);
         rc == SAP_OK && sap_cursor_in_prefix(cur, prefix, sizeof prefix);
         rc = sap_cursor_next(cur)) {
        const void *key = NULL;
        const void *frame = NULL;
        uint32_t key_len = 0;
        uint32_t frame_len = 0;
        SapRunnerV0Message msg;
        SapRunnerV0Lease lease;
        EXPECT_RC(sap_cursor_get(cur, &key, &key_len, &frame, &frame_len), SAP_OK);
        EXPECT_RC(sap_runner_wire_v0_decode_message(frame, frame_len, &msg), SAP_OK);
        uint64_t seq = load_u64be((const uint8_t *)key + 8);
        EXPECT((seq >> 63 == 0) == ((msg.flags & SAP_RUNNER_V0_HIGH_PRIORITY) != 0),
               "message %" PRIu64 " lies among those of another priority", seq);
        int leased = sap_runner_lease_v0_get(txn, key, key_len, &lease);
        bool expired = leased == SAP_OK && lease.deadline_ms <= sim->now_ms;
        if ((leased == SAP_OK && !expired) || (expired && lease.attempts >= BUDGET) ||
            is_duplicate(txn, &msg, sim->now_ms)) {
            continue;
        }
        EXPECT(instance->waiting_count < WAITING_MAX, "a long inbox");
        instance->waiting[instance->waiting_count++] = (Waiting){seq, expired};
    }
    sap_cursor_close(cur);
    sap_txn_abort(txn);
}

/* Attempts come in the order in which messages were waiting. None is passed over, unless it was lost
 * to others meanwhile. (A worker that knows when the leases of its inbox expire does not look for
 * others before: one that expired earlier may be passed over.) */
static void expect_next(Instance *instance, uint64_t seq)
{
    uint32_t i = instance->waiting_at;

    for (; i < instance->waiting_count && instance->waiting[i].seq != seq; i++) {
        EXPECT(instance->disturbed || instance->waiting[i].expired,
               "message %" PRIu64 " is passed over", instance->waiting[i].seq);
    }
    EXPECT(i < instance->waiting_count, "message %" PRIu64 " is handled out of turn", seq);
    instance->waiting_at = i + 1;
}

/* Roots of one worker and priority are first attempted in the order in which they were sent; where
 * two serve one inbox, only their claims are in order. */
static void expect_root_order(Sim *sim, const Errand *errand)
{
    uint64_t *last =
        &sim->last_first[errand->worker][(errand->flags & SAP_RUNNER_V0_HIGH_PRIORITY) != 0];
    uint64_t number = strtoull(strchr(errand->id, '-') + 1, NULL, 10);

    EXPECT(number > *last, "root %" PRIu64 " is handled for the first time after %" PRIu64, number,
           *last);
    *last = number;
}

static void note_attempt(Sim *sim, const Errand *errand)
{
    uint64_t before = 0;

    for (size_t i = 0; i < sim->attempt_count; i++) {
        before += strcmp(sim->attempts[i].id, errand->id) == 0;
    }
    EXPECT(sim->attempt_count < ATTEMPTS_MAX, "many attempts");
    memcpy(sim->attempts[sim->attempt_count++].id, errand->id, sizeof errand->id);
    if (!sim->first_life) {
        return;
    }
    bool root = strchr(errand->id, '.') == NULL;
    /* What follows from a message that is handled plainly again is sent again. */
    if ((errand->flags & SAP_RUNNER_V0_DEDUPE) == 0 && (root || !sim->plain)) {
        EXPECT(before < BUDGET, "%s is attempted more often than its budget allows", errand->id);
    }
    if (before == 0 && root && errand->worker >= INSTANCES - WORKERS) {
        expect_root_order(sim, errand);
    }
}

static void on_replay(const SapRunnerV0ReplayEvent *event, void *ctx)
{
    Instance *instance = ctx;
    Sim *sim = instance->sim;
    SapRunnerV0Message msg;

    EXPECT_RC(sap_runner_wire_v0_decode_message(event->frame, event->frame_len, &msg), SAP_OK);
    Errand errand = errand_of(&sim->plan, &msg);
    switch (event->kind) {
    case SAP_RUNNER_V0_REPLAY_INBOX_ATTEMPT:
        expect_next(instance, event->seq);
        note_attempt(sim, &errand);
        break;
    case SAP_RUNNER_V0_REPLAY_TIMER_ATTEMPT:
        note_attempt(sim, &errand);
        break;
    case SAP_RUNNER_V0_REPLAY_INBOX_RESULT:
    case SAP_RUNNER_V0_REPLAY_TIMER_RESULT:
        if (event->rc == SAP_OK && !sim->plain) {
            see(&sim->witness->applied, errand.id, true);
        }
        break;
    case SAP_RUNNER_V0_REPLAY_REQUEUE:
    case SAP_RUNNER_V0_REPLAY_DEAD_LETTER:
        break;
    }
}

/* A lease is lost once. */
static void on_log(const SapRunnerV0LogEvent *event, void *ctx)
{
    Sim *sim = ((Instance *)ctx)->sim;

    if (event->kind != SAP_RUNNER_V0_LOG_LEASE_LOST) {
        return;
    }
    for (size_t i = 0; i < sim->lost_count; i++) {
        EXPECT(sim->lost[i] != event->attempt_id, "lease %" PRIu64 " was lost twice",
               event->attempt_id);
    }
    EXPECT(sim->lost_count < LOST_MAX, "many leases lost");
    sim->lost[sim->lost_count++] = event->attempt_id;
}

/* ---- A life --------------------------------------------------------------------------------- */

static void sim_tick(Sim *sim, uint32_t i)
{
    Instance *instance = &sim->instances[i];
    uint32_t handled = 0;

    instance->in_tick = true;
    instance->disturbed = false;
    note_waiting(instance);
    sim->depth++;
    int rc = sap_runner_v0_worker_tick(&instance->worker, &handled);
    sim->depth--;
    instance->in_tick = false;
    bool own = rc == SAP_OK || rc == SAP_BUSY;
    EXPECT(own || handled > 0, "a tick of nothing answered %d", rc);
    EXPECT(own || errand_is_failure(rc), "a tick answered %d", rc);
    /* What a tick within acknowledged is on disk, what the tick around it did is not yet. */
    if (sim->depth == 0) {
        sim->witness->now.applied = sim->witness->applied.count;
        mark(sim);
    }
}

static void sim_workers_start(Sim *sim)
{
    SapRunnerV0Policy policy;

    sap_runner_v0_policy_default(&policy);
    policy.lease_ttl_ms = LEASE_MS;
    policy.retry_budget_max = BUDGET;
    policy.attempt_backoff_us = 1;
    policy.attempt_backoff_max_us = 1;
    for (uint32_t i = 0; i < INSTANCES; i++) {
        Instance *instance = &sim->instances[i];
        SapRunnerV0WorkerConfig config = {
            .runner = {.db = sim->db,
                       .worker_id = i % WORKERS,
                       .bootstrap_schema_if_missing = 1,
                       .policy = &policy,
                       .time = {sim_now, sim_sleep, sim},
                       .random = sim_random,
                       .random_ctx = sim},
            .handler = {.plain = sim->plain ? handle_plainly : NULL,
                        .atomic = sim->plain ? NULL : handle_block,
                        .ctx = instance},
            .max_batch = 1 + choice_below(&sim->choice, MAX_BATCH),
            .max_idle_sleep_ms = IDLE_MS,
            .is_local = is_local,
            .forward = sim->plan.elsewhere ? forward : NULL,
            .forward_ctx = sim,
        };
        instance->sim = sim;
        EXPECT_RC(sap_runner_v0_worker_init(&instance->worker, &config), SAP_OK);
        sap_runner_v0_set_replay_hook(&instance->worker.runner, on_replay, instance);
        sap_runner_v0_set_log_sink(&instance->worker.runner, on_log, instance);
    }
}

static void sim_workers_stop(Sim *sim)
{
    for (uint32_t i = 0; i < INSTANCES; i++) {
        SapRunnerV0Metrics metrics;
        sap_runner_v0_metrics_snapshot(&sim->instances[i].worker.runner, &metrics);
        sim->counts->retries += metrics.attempt_retries;
        sim->counts->requeues += metrics.requeues;
        sim->counts->timeouts += metrics.lease_timeouts;
        sim->counts->losses += metrics.lease_losses;
        sim->counts->duplicates += metrics.duplicates_skipped;
        sim->counts->timers += metrics.timers_dispatched + metrics.timers_moved;
        sim->counts->routed += metrics.outbox_routed;
        sim->counts->conflicts += metrics.retryable_conflicts;
        EXPECT_RC(sap_runner_v0_worker_shutdown(&sim->instances[i].worker), SAP_OK);
    }
}

static void send_next(Sim *sim)
{
    bool durable = choice_one_in(&sim->choice, 2);
    uint64_t number = sim->next_root++;

    errands_send(&sim->plan, sim->db, 0, number, sim->now_ms, durable);
    if (durable) {
        sim->witness->now.sent = number;
        mark(sim);
    } else if (choice_one_in(&sim->choice, 2)) {
        /* It is handled while it is on no disk yet, if anybody dares. */
        sim_tick(sim, (uint32_t)errand_root(&sim->plan, 0, number).worker);
    }
}

/* Until nothing is on its way any more. Nobody may sleep past what there is to do. */
static void finish(Sim *sim)
{
    for (uint32_t round = 0;; round++) {
        uint32_t sleep_ms = IDLE_MS;
        EXPECT(round < ROUNDS, "%" PRIu64 " messages are on their way for ever",
               errands_on_the_way(sim->db));
        for (uint32_t i = 0; i < INSTANCES; i++) {
            sim_tick(sim, i);
        }
        if (errands_on_the_way(sim->db) == 0) {
            return;
        }
        for (uint32_t i = 0; i < INSTANCES; i++) {
            uint32_t ms = 0;
            EXPECT_RC(sap_runner_v0_worker_compute_idle_sleep_ms(&sim->instances[i].worker, &ms),
                      SAP_OK);
            sleep_ms = ms < sleep_ms ? ms : sleep_ms;
        }
        EXPECT(sleep_ms < IDLE_MS || errands_rows(sim->db, WIT_DBI_OUTBOX) > 0,
               "nobody would wake up for what is left");
        sim->now_ms += sleep_ms < IDLE_MS ? sleep_ms : 1;
    }
}

static void live(Sim *sim)
{
    sap_runner_v0_bootstrap_dbis(sim->db);
    errands_open(sim->db);
    sim_workers_start(sim);
    sim->counts->lives++;
    while (sim->next_root <= sim->roots) {
        switch (choice_below(&sim->choice, 8)) {
        case 0:
        case 1:
        case 2:
            send_next(sim);
            break;
        case 3:
            sim->now_ms += choice_below(&sim->choice, 400);
            break;
        case 4:
            if (sim->held.frame == NULL) {
                straggler_claims(sim);
            } else if (choice_one_in(&sim->choice, 4)) {
                straggler_returns(sim);
            }
            break;
        default:
            sim_tick(sim, choice_below(&sim->choice, INSTANCES));
            break;
        }
    }
    finish(sim);
    sap_runner_v0_claim_release(&sim->held);
    sim_workers_stop(sim);
}

static void sim_begin(Sim *sim, uint64_t seed, bool plain, uint64_t roots, Witness *witness,
                      Counts *counts)
{
    *sim = (Sim){.plan = {.seed = seed,
                          .workers = WORKERS,
                          .generations = 3,
                          .elsewhere = !plain,
                          .poison_one_in = 13,
                          .flaky_one_in = 4,
                          .max_delay_ms = 3000},
                 .now_ms = START_MS,
                 .plain = plain,
                 .roots = roots,
                 .next_root = 1,
                 .witness = witness,
                 .counts = counts};
}

/* ---- What must be there in the end ---------------------------------------------------------- */

static uint64_t forwarded(const char *id, void *ctx)
{
    return seen(&((Sim *)ctx)->witness->forwarded, id, true);
}

/* What the outside has seen, of a DB that was just opened. */
static void expect_witnessed(Sim *sim, uint64_t noted)
{
    const Witness *w = sim->witness;

    for (size_t i = 0; i < w->applied.count; i++) {
        const char *id = w->applied.items[i].id;
        EXPECT(errand_applied(sim->db, id, (uint32_t)strlen(id)) == 1,
               "%s was acknowledged and is not applied", id);
    }
    for (size_t i = 0; i < w->forwarded.count; i++) {
        const char *id = w->forwarded.items[i].id;
        EXPECT(errand_applied(sim->db, id, (uint32_t)(strrchr(id, '.') - id)) == 1,
               "%s was forwarded, what it follows from is lost", id);
    }
    for (size_t i = 0; i < w->called.count; i++) {
        const char *id = w->called.items[i].id;
        uint64_t number = strtoull(strchr(id, '-') + 1, NULL, 10);
        EXPECT(number % 2 == 0 || number <= noted, "%s was handled and its sending is lost", id);
    }
}

typedef struct PlainAudit {
    Sim *sim;
    Sightings dead;
} PlainAudit;

static int note_letter(const SapRunnerV0DeadLetter *letter, void *ctx)
{
    PlainAudit *a = ctx;
    SapRunnerV0Message msg;

    EXPECT_RC(sap_runner_wire_v0_decode_message(letter->frame, letter->frame_len, &msg), SAP_OK);
    see(&a->dead, errand_of(&a->sim->plan, &msg).id, true);
    return SAP_OK;
}

/* At least once: each has succeeded or was given up. One that succeeded before a cut may have been
 * given up after it, then what follows from it may be missing. */
static void audit_plain(PlainAudit *a, const Errand *errand, bool may_be_missing)
{
    uint64_t ok = seen(&a->sim->witness->called, errand->id, true);
    uint64_t dead = seen(&a->dead, errand->id, true);

    EXPECT(may_be_missing || ok + dead > 0, "%s is lost", errand->id);
    a->sim->counts->messages += ok > 0;
    a->sim->counts->dead += dead;
    for (uint32_t i = 0; i < errand->children && ok > 0; i++) {
        Errand child = errand_child(&a->sim->plan, errand, i);
        audit_plain(a, &child, may_be_missing || dead > 0);
    }
}

static void expect_done_plainly(Sim *sim)
{
    PlainAudit a = {.sim = sim};
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_txn_begin_rc(sim->db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    EXPECT_RC(sap_runner_dead_letter_v0_list(txn, 0, 0, note_letter, &a), SAP_OK);
    sap_txn_abort(txn);
    EXPECT(errands_on_the_way(sim->db) == 0, "messages are on their way");
    for (uint64_t number = 1; number <= sim->roots; number++) {
        Errand root = errand_root(&sim->plan, 0, number);
        audit_plain(&a, &root, false);
    }
    free(a.dead.items);
}

static void expect_done(Sim *sim)
{
    if (sim->plain) {
        expect_done_plainly(sim);
        return;
    }
    ErrandCounts counts =
        errands_expect_done(&sim->plan, sim->db, &sim->roots, 1, BUDGET, forwarded, sim);
    sim->counts->messages += counts.applied;
    sim->counts->dead += counts.dead;
    sim->counts->elsewhere += counts.elsewhere;
}

/* All rows of all tables. */
static uint64_t digest(SapEnv *db)
{
    uint64_t sum = 0;
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    for (uint32_t dbi = 0; dbi <= ERRAND_APPLIED; dbi++) {
        SapCursor *cur = sap_cursor_open_dbi(txn, dbi);
        EXPECT(cur != NULL, "no cursor");
        for (int rc = sap_cursor_first(cur); rc == SAP_OK; rc = sap_cursor_next(cur)) {
            const void *key = NULL;
            const void *val = NULL;
            uint32_t key_len = 0;
            uint32_t len = 0;
            EXPECT_RC(sap_cursor_get(cur, &key, &key_len, &val, &len), SAP_OK);
            sum = hash_bytes(key, key_len, sum + dbi);
            sum = hash_bytes(val, len, sum);
        }
        sap_cursor_close(cur);
    }
    sap_txn_abort(txn);
    return sum;
}

static void print_counts(const char *what, const Counts *c)
{
    printf("%s: %" PRIu64 " lives, %" PRIu64 " messages applied, %" PRIu64 " dead, %" PRIu64
           " forwarded; %" PRIu64 " blocks run again, %" PRIu64 " requeued, %" PRIu64
           " leases expired, %" PRIu64 " lost, %" PRIu64 " duplicates, %" PRIu64 " timers, %" PRIu64
           " routed, %" PRIu64 " late ends refused\n",
           what, c->lives, c->messages, c->dead, c->elsewhere, c->retries, c->requeues, c->timeouts,
           c->losses, c->duplicates, c->timers, c->routed, c->refused);
}

static void expect_counts(const Counts *c, bool plain)
{
    ck_assert_uint_gt(c->messages, 0);
    ck_assert_uint_gt(c->dead, 0);
    ck_assert_uint_gt(c->requeues, 0);
    ck_assert_uint_gt(c->timeouts, 0);
    ck_assert_uint_gt(c->losses, 0);
    ck_assert_uint_gt(c->duplicates, 0);
    ck_assert_uint_gt(c->refused, 0);
    if (!plain) {
        ck_assert_uint_gt(c->retries, 0);
        ck_assert_uint_gt(c->elsewhere, 0);
        ck_assert_uint_gt(c->timers, 0);
        ck_assert_uint_gt(c->routed, 0);
    }
}

/* ---- Without cuts --------------------------------------------------------------------------- */

static uint64_t live_in_memory(uint64_t seed, bool plain, uint64_t roots, Counts *counts)
{
    Sim *sim = malloc(sizeof *sim);
    Witness witness = {0};

    EXPECT(sim != NULL, "no memory");
    sim_begin(sim, seed, plain, roots, &witness, counts);
    sim->first_life = true;
    choice_from_seed(&sim->choice, seed);
    sim->db = sap_db_open(NULL, 4096, NULL, NULL);
    EXPECT(sim->db != NULL, "no DB");
    live(sim);
    expect_done(sim);
    uint64_t sum = digest(sim->db);
    EXPECT_RC(sap_db_close(sim->db), SAP_OK);
    witness_free(&witness);
    free(sim);
    return sum;
}

static void live_many(const char *what, bool plain, uint64_t default_seeds)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(SAP_SANITIZED ? default_seeds / 8 : default_seeds);
    Counts counts = {0};

    for (uint64_t seed = first; seed < first + seeds; seed++) {
        expect_context("%s, SAP_TEST_SEED=%" PRIu64, what, seed);
        live_in_memory(seed, plain, 60, &counts);
    }
    print_counts(what, &counts);
    printf("seeds %" PRIu64 " to %" PRIu64 "\n", first, first + seeds - 1);
    expect_counts(&counts, plain);
}

START_TEST(blocks_apply_each_message_once_and_in_order)
{
    live_many("blocks", false, 80);
}
END_TEST

START_TEST(plain_handlers_are_called_at_least_once_and_in_order)
{
    live_many("plain handlers", true, 80);
}
END_TEST

START_TEST(same_seed_is_the_same_run)
{
    uint64_t first = choice_first_seed();
    Counts counts = {0};

    for (uint64_t seed = first; seed < first + 5; seed++) {
        expect_context("twice the same, SAP_TEST_SEED=%" PRIu64, seed);
        uint64_t once = live_in_memory(seed, false, 30, &counts);
        ck_assert_uint_eq(once, live_in_memory(seed, false, 30, &counts));
        ck_assert_uint_ne(once, live_in_memory(seed + 1, false, 30, &counts));
    }
}
END_TEST

/* ---- With cuts ------------------------------------------------------------------------------ */

#if SAP_FAULTS

typedef struct Cutting {
    FileBed run;
    FileBed state;
    Rng rng;
    Counts *counts;
    uint64_t seed;
    bool plain;
    uint64_t roots;
    uint64_t states;
    uint64_t cut_twice;
} Cutting;

static CrashTrace *first_life(Cutting *c, Witness *witness)
{
    Sim *sim = malloc(sizeof *sim);
    CrashTrace *trace = crash_trace_start();

    EXPECT(sim != NULL, "no memory");
    sim_begin(sim, c->seed, c->plain, c->roots, witness, c->counts);
    choice_from_seed(&sim->choice, c->seed);
    sim->trace = trace;
    sim->first_life = true;
    sim->db = file_bed_open(&c->run);
    live(sim);
    expect_done(sim);
    file_bed_close(sim->db);
    mark(sim);
    crash_trace_stop(trace);
    crash_dir_empty(c->run.dir);
    free(sim);
    return trace;
}

/* Goes on with the files in `bed` to the end. The trace, if given, is that of this life. */
static void next_life(Cutting *c, FileBed *bed, Witness *witness, uint64_t variant,
                      CrashTrace *trace)
{
    Sim *sim = malloc(sizeof *sim);

    EXPECT(sim != NULL, "no memory");
    sim_begin(sim, c->seed, c->plain, c->roots, witness, c->counts);
    choice_from_seed(&sim->choice, c->seed * 100003 + variant);
    sim->now_ms = witness->now.now_ms;
    sim->trace = trace;
    sim->db = file_bed_open(bed);
    EXPECT_RC(sap_runner_v0_bootstrap_dbis(sim->db), SAP_OK);
    errands_open(sim->db);
    uint64_t noted = errands_noted(sim->db, 0);
    expect_witnessed(sim, noted);
    sim->next_root = (noted > witness->now.sent ? noted : witness->now.sent) + 1;
    c->counts->takeovers_after_a_cut += errands_rows(sim->db, WIT_DBI_LEASES);
    live(sim);
    expect_done(sim);
    file_bed_close(sim->db);
    free(sim);
}

static void cut_once(Cutting *c, CrashTrace *trace, const Witness *witness, size_t length,
                     CrashFate fate)
{
    Witness known;

    witness_at(witness, crash_mark_at(trace, length), &known);
    crash_build(trace, length, fate, &c->rng, c->state.dir);
    (void)reach_spoil(c->state.path, &c->rng);
    next_life(c, &c->state, &known, length, NULL);
    crash_dir_empty(c->state.dir);
    witness_free(&known);
    c->states++;
}

/* The life after a cut is cut, too. */
static void cut_again(Cutting *c, CrashTrace *first, const Witness *witness, size_t length)
{
    Witness known;
    Witness later;

    witness_at(witness, crash_mark_at(first, length), &known);
    crash_build(first, length, CRASH_RANDOM, &c->rng, c->run.dir);
    (void)reach_spoil(c->run.path, &c->rng);
    CrashTrace *trace = crash_trace_start_in(c->run.dir);
    size_t start = crash_length(trace);
    Known before = known.now;
    next_life(c, &c->run, &known, length, trace);
    crash_trace_stop(trace);
    crash_dir_empty(c->run.dir);
    for (int i = 0; i < 4; i++) {
        size_t cut = start + (size_t)rng_below(&c->rng, crash_length(trace) - start) + 1;
        uint64_t at = crash_mark_at(trace, cut);
        witness_at(&known, at, &later);
        if (at == 0) {
            witness_free(&later);
            later.now = before;
            copy_sightings(&later.applied, &known.applied, before.applied);
            copy_sightings(&later.called, &known.called, before.called);
            copy_sightings(&later.forwarded, &known.forwarded, before.forwarded);
        }
        expect_context("SAP_TEST_SEED=%" PRIu64 ", cut after %zu, then after %zu of %zu", c->seed,
                       length, cut, crash_length(trace));
        crash_build(trace, cut, i % 2 == 0 ? CRASH_DROP : CRASH_RANDOM, &c->rng, c->state.dir);
        next_life(c, &c->state, &later, cut, NULL);
        crash_dir_empty(c->state.dir);
        witness_free(&later);
        c->cut_twice++;
    }
    crash_trace_free(trace);
    witness_free(&known);
}

static void cut_everywhere(Cutting *c)
{
    Witness witness = {0};
    CrashTrace *trace = first_life(c, &witness);
    uint32_t stride = SAP_SANITIZED ? 5 : 1; /* how many of the cuts one is taken of */
    uint32_t cuts = 0;

    for (size_t length = 1; length <= crash_length(trace); length++) {
        if (!crash_is_cut(trace, length) || cuts++ % stride != 0) {
            continue;
        }
        expect_context("SAP_TEST_SEED=%" PRIu64 ", cut after %zu of %zu", c->seed, length,
                       crash_length(trace));
        cut_once(c, trace, &witness, length, CRASH_DROP);
        cut_once(c, trace, &witness, length, length % 2 == 0 ? CRASH_KEEP : CRASH_RANDOM);
    }
    for (int i = 0; i < 8; i++) {
        cut_again(c, trace, &witness, 1 + (size_t)rng_below(&c->rng, crash_length(trace)));
    }
    crash_trace_free(trace);
    witness_free(&witness);
}

static void cut_many(const char *what, bool plain, uint64_t default_seeds)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(default_seeds);
    Counts counts = {0};
    uint64_t states = 0;
    uint64_t twice = 0;

    for (uint64_t seed = first; seed < first + seeds; seed++) {
        Cutting c = {.seed = seed, .plain = plain, .roots = 8, .counts = &counts};
        rng_seed(&c.rng, seed);
        file_bed_start(&c.run);
        file_bed_start(&c.state);
        c.run.options.checkpoint_bytes = seed % 2 == 0 ? 32 * 1024 : 256 * 1024;
        c.state.options.checkpoint_bytes = c.run.options.checkpoint_bytes;
        cut_everywhere(&c);
        file_bed_end(&c.run);
        file_bed_end(&c.state);
        states += c.states;
        twice += c.cut_twice;
    }
    print_counts(what, &counts);
    printf("%" PRIu64 " cuts, %" PRIu64 " second cuts, %" PRIu64
           " leases found of the dead, seeds %" PRIu64 " to %" PRIu64 "\n",
           states, twice, counts.takeovers_after_a_cut, first, first + seeds - 1);
    expect_counts(&counts, plain);
    ck_assert_uint_gt(states, 100);
    ck_assert_uint_gt(twice, 0);
    ck_assert_uint_gt(counts.takeovers_after_a_cut, 0);
}

START_TEST(power_cut_anywhere_loses_no_block_and_repeats_none)
{
    cut_many("blocks cut off", false, 4);
}
END_TEST

START_TEST(power_cut_anywhere_loses_no_plain_message)
{
    cut_many("plain handlers cut off", true, 3);
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("runner_simulation");
    TCase *tcase = tcase_create("simulation");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, blocks_apply_each_message_once_and_in_order);
    tcase_add_test(tcase, plain_handlers_are_called_at_least_once_and_in_order);
    tcase_add_test(tcase, same_seed_is_the_same_run);
#if SAP_FAULTS
    tcase_add_test(tcase, power_cut_anywhere_loses_no_block_and_repeats_none);
    tcase_add_test(tcase, power_cut_anywhere_loses_no_plain_message);
#endif
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
