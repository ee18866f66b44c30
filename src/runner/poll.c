/* poll.c - see poll.h. */
#include "runner/poll.h"

#include "common/assert.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/options.h"
#include "runner/attempt_handler_v0.h"
#include "runner/lease_v0.h"
#include "runner/mailbox_v0.h"
#include "runner/rows.h"
#include "runner/timer_v0.h"
#include "runner/wire_v0.h"

#include <limits.h>
#include <string.h>

enum {
    ROUTE_MAX = 256, /* frames of the outbox routed in one transaction */
    BATCH_MAX =
        1024, /* messages claimed at once: the memory of a poll does not grow with its `max` */
};

/* Results of claims that are not codes of a handler, which may be almost any number. */
enum {
    RESULT_NONE = INT_MIN, /* not handled yet */
    RESULT_GONE,           /* not ours to end any more */
    RESULT_LOST,           /* the same, and still to be reported */
    RESULT_DUPLICATE,      /* to be dropped */
    RESULT_DIFFERS,        /* the same, and its payload is another */
    RESULT_FIRST = INT_MIN + 16,
};

/* Returns whether a claim with this result is still to be ended. */
static bool result_open(int result)
{
    return result >= RESULT_FIRST || result == RESULT_DUPLICATE || result == RESULT_DIFFERS;
}

bool poll_handler_valid(const SapRunnerV0Handler *handler)
{
    return handler != NULL && (handler->plain != NULL) != (handler->atomic != NULL) &&
           (handler->atomic != NULL || !handler->read_only) &&
           options_all_zero(handler->reserved, sizeof handler->reserved);
}

/* ---- Look ----------------------------------------------------------------------------------- */

/* How far the outbox need not be looked at. Now and then from the start: who is local may have
 * changed, and the DB may have been restored to where its numbers were lower. */
static uint64_t outbox_seen(const struct SapRunnerV0Core *core, int64_t now_ms)
{
    return now_ms >= core->next_sweep_ms ? 0 : core->outbox_seen;
}

/* What a look at the tables saw. */
typedef struct Seen {
    uint64_t depth;
    uint64_t age_ms;
    unsigned work;
    int64_t next_ms;
} Seen;

/* Finds which parts of `what` have work. Depth and age are of the inbox, if `what` includes it. */
static int look(SapRunnerV0 *runner, Txn *txn, unsigned what, int64_t now_ms, Seen *seen_out)
{
    struct SapRunnerV0Core *core = runner->core;
    Seen seen = {0};
    unsigned work = 0;
    int64_t next_ms = INT64_MAX;
    int rc = SAP_OK;

    if (what & POLL_INBOX) {
        uint64_t count;
        uint64_t leased;
        int64_t oldest_ms;
        rc = sap_runner_mailbox_v0_stat(txn, runner->worker_id, &count, &leased, &oldest_ms);
        if (rc == SAP_OK) {
            seen.depth = count;
            seen.age_ms =
                count > 0 && oldest_ms < now_ms ? (uint64_t)now_ms - (uint64_t)oldest_ms : 0;
            /* Leases that another process did not end are looked through once, if there are any. */
            if (count > leased || (leased > 0 && core->quiet_until_ms <= now_ms)) {
                work |= POLL_INBOX;
            } else if (leased > 0) {
                next_ms = core->quiet_until_ms;
            }
        }
    }
    if (rc == SAP_OK && (what & POLL_TIMERS)) {
        int64_t due_ms;
        rc = sap_runner_scheduler_v0_next_due(txn, &due_ms);
        if (rc == SAP_OK && due_ms <= now_ms) {
            work |= POLL_TIMERS;
        } else if (rc == SAP_OK && due_ms < next_ms) {
            next_ms = due_ms;
        }
        rc = rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    if (rc == SAP_OK && (what & POLL_RETRIES)) {
        bool found;
        rc = timer_find_retry(txn, runner->worker_id, now_ms, &core->retries_from, &found);
        work |= rc == SAP_OK && found ? (unsigned)POLL_INBOX | POLL_RETRIES : 0;
    }
    if (rc == SAP_OK && (what & POLL_OUTBOX)) {
        uint64_t last;
        rc = outbox_last(txn, &last);
        if (rc == SAP_OK && last > outbox_seen(core, now_ms)) {
            work |= POLL_OUTBOX;
        }
    }
    if (rc == SAP_OK && (what & POLL_SWEEP) && core->next_sweep_ms <= now_ms) {
        SapStat stat;
        rc = dbi_stat(txn, WIT_DBI_DEDUPE_TTL, &stat);
        if (rc == SAP_OK && stat.num_entries > 0) {
            work |= POLL_SWEEP;
        }
    }
    if (rc == SAP_OK) {
        seen.work = work;
        seen.next_ms = work & ~(unsigned)POLL_SWEEP ? now_ms : next_ms;
        *seen_out = seen;
    }
    return rc;
}

/* The same, and updates the metrics. The sink is called after transaction and gate have ended. */
static int look_once(SapRunnerV0 *runner, unsigned what, int64_t now_ms, Seen *seen_out)
{
    Txn *txn;

    runner_gate_enter(runner);
    int rc = txn_begin_rc(runner->db, NULL, TXN_RDONLY | TXN_NEWEST, &txn);
    if (rc == SAP_OK) {
        rc = look(runner, txn, what, now_ms, seen_out);
        txn_abort(txn);
    }
    runner_gate_leave(runner);
    if (rc == SAP_OK && (what & POLL_INBOX)) {
        runner_queue_seen(runner, seen_out->depth, seen_out->age_ms);
    }
    return rc;
}

int poll_next_ms(SapRunnerV0 *runner, unsigned what, int64_t now_ms, int64_t *next_ms_out)
{
    Seen seen;
    int rc = look_once(runner, what, now_ms, &seen);

    if (rc == SAP_OK) {
        *next_ms_out = seen.next_ms;
    }
    return rc;
}

void poll_count_queue(SapRunnerV0 *runner)
{
    Seen seen;

    /* If it fails, the next look will say. */
    (void)look_once(runner, POLL_INBOX, runner_now_ms(runner), &seen);
}

/* ---- Claim ---------------------------------------------------------------------------------- */

static int make_room(struct SapRunnerV0Core *core, uint32_t max)
{
    SAP_ASSERT(max <= BATCH_MAX);
    if (max <= core->claim_room) {
        return SAP_OK;
    }
    SapRunnerV0Claim *claims = mem_alloc(MEM_RUNNER, max * sizeof *claims);
    int *results = mem_alloc(MEM_RUNNER, max * sizeof *results);
    if (claims == NULL || results == NULL) {
        mem_free(MEM_RUNNER, claims, max * sizeof *claims);
        mem_free(MEM_RUNNER, results, max * sizeof *results);
        return SAP_NOMEM;
    }
    if (core->claim_room > 0) {
        mem_free(MEM_RUNNER, core->claims, core->claim_room * sizeof *core->claims);
        mem_free(MEM_RUNNER, core->results, core->claim_room * sizeof *core->results);
    }
    core->claims = claims;
    core->results = results;
    core->claim_room = max;
    return SAP_OK;
}

/* What a claiming transaction did. */
typedef struct Claimed {
    uint32_t messages;
    uint32_t timers;
    bool timers_waited;
    bool timers_turn;
    uint32_t passed_on; /* timers, to others */
    uint32_t routed;
    uint64_t swept;
    uint64_t outbox_seen;
    uint64_t base_lsn;
    int64_t at_ms;
    SapRunnerV0ClaimReport report;
    MailboxLog log;
} Claimed;

static void count_claimed(SapRunnerV0 *runner, unsigned work, const Claimed *claimed)
{
    SapRunnerV0Metrics *metrics = runner_metrics_lock(runner);

    metrics->lease_timeouts += claimed->report.expired;
    metrics->duplicates_skipped += claimed->report.duplicates;
    metrics->dead_letter_moves += claimed->report.dead;
    metrics->timers_dispatched += claimed->timers;
    metrics->queue_depth += claimed->timers; /* they are messages of the inbox now */
    metrics->timers_moved += claimed->passed_on;
    metrics->outbox_routed += claimed->routed;
    if (work & POLL_SWEEP) {
        metrics->ttl_sweeps++;
        metrics->ttl_rows_swept += claimed->swept;
    }
    runner_metrics_unlock(runner);
    reports_met(&runner->core->reports, &claimed->log);
}

static int claim_in(SapRunnerV0 *runner, Txn *txn, unsigned work, int64_t now_ms, uint32_t max,
                    Claimed *claimed)
{
    struct SapRunnerV0Core *core = runner->core;
    SapRunnerV0ClaimOptions options = {.worker_id = runner->worker_id,
                                       .owner = core->owner,
                                       .now_ms = now_ms,
                                       .lease_ttl_ms = core->policy.lease_ttl_ms,
                                       .retry_budget_max = core->policy.retry_budget_max,
                                       .quiet_until_ms = core->quiet_until_ms,
                                       .retried_alone = 1};
    MailboxLog *log = reports_wanted(&core->reports) ? &claimed->log : NULL;
    int rc = SAP_OK;

    claimed->report.next_expiry_ms = core->quiet_until_ms;
    if (work & POLL_RETRIES) {
        rc = timer_move_retries(txn, runner->worker_id, now_ms, max, &core->retries_from,
                                &claimed->passed_on);
    }
    /* Messages go first, but not for ever: timers that found no room have a place in the next
     * batch, and after a message that came alone it is all theirs. */
    bool timers = (work & POLL_TIMERS) != 0;
    uint32_t room = timers && core->timers_turn ? 0 : timers && core->timers_waited ? max - 1 : max;
    if (rc == SAP_OK && (work & POLL_INBOX) && room > 0) {
        rc = mailbox_claim(txn, &options, core->claims, room, &claimed->messages, &claimed->report,
                           log);
    }
    claimed->timers_waited = timers && claimed->messages == max;
    claimed->timers_turn = timers && claimed->messages == 1 && core->claims[0].attempts > 1;
    if (rc == SAP_OK && timers && !claimed->timers_waited && !claimed->timers_turn) {
        TimersTaken taken = {0};
        rc = timer_claim_due(txn, &options, &core->local, core->claims + claimed->messages,
                             max - claimed->messages, log, &taken);
        claimed->timers = taken.claimed;
        claimed->passed_on += taken.moved;
        claimed->report.dead += taken.dead;
    }
    if (rc == SAP_OK && (work & POLL_OUTBOX)) {
        uint64_t last;
        claimed->outbox_seen = outbox_seen(core, now_ms);
        rc = outbox_last(txn, &last);
        if (rc == SAP_OK) {
            OutboxRouted routed = {0};
            rc = outbox_route(txn, ROUTE_MAX, outbox_is_local, &core->local, &claimed->outbox_seen,
                              log, &routed);
            claimed->routed = routed.moved;
            claimed->report.dead += routed.dead;
        }
        claimed->outbox_seen = claimed->outbox_seen == 0 ? last : claimed->outbox_seen;
    }
    if (rc == SAP_OK && (work & POLL_SWEEP)) {
        rc = sap_runner_dedupe_v0_sweep(txn, now_ms, core->policy.sweep_max, &claimed->swept);
    }
    return rc;
}

static int claim(SapRunnerV0 *runner, unsigned work, uint32_t max, Claimed *claimed)
{
    struct SapRunnerV0Core *core = runner->core;
    uint64_t started_ns = clock_mono_ns(NULL);
    Txn *txn;

    *claimed = (Claimed){0};
    core->local.notes = (BellNotes){0};
    int rc = runner_begin(runner, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    claimed->base_lsn = txn_base_lsn(txn);
    /* A lease lasts from now, however long others wrote. */
    int64_t now_ms = runner_now_ms(runner);
    claimed->at_ms = now_ms;
    rc = claim_in(runner, txn, work, now_ms, max, claimed);
    if (rc == SAP_OK) {
        rc = runner_commit(runner, txn, started_ns, NULL);
    } else {
        runner_abort(runner, txn);
    }
    if (rc != SAP_OK) {
        for (uint32_t i = 0; i < claimed->messages + claimed->timers; i++) {
            sap_runner_v0_claim_release(&core->claims[i]);
        }
        mailbox_log_release(&claimed->log);
        claimed->messages = 0;
        claimed->timers = 0;
        return rc;
    }
    bells_ring(runner->db, &core->local.notes);
    core->timers_waited = claimed->timers_waited;
    core->timers_turn = claimed->timers_turn;
    /* Others may lease messages of this worker for shorter than the report knows: it is believed
     * for one lease's time. */
    int64_t believed_ms = lease_deadline(now_ms, core->policy.lease_ttl_ms);
    core->quiet_until_ms =
        claimed->report.next_expiry_ms < believed_ms ? claimed->report.next_expiry_ms : believed_ms;
    if (work & POLL_OUTBOX) {
        core->outbox_seen = claimed->outbox_seen;
    }
    if (now_ms >= core->next_sweep_ms) {
        core->next_sweep_ms = lease_deadline(now_ms, core->policy.sweep_period_ms);
    }
    count_claimed(runner, work, claimed);
    mailbox_log_release(&claimed->log);
    return SAP_OK;
}

/* ---- Settle --------------------------------------------------------------------------------- */

/* What became of one claim in a settling transaction. */
typedef enum Fate {
    FATE_NONE,
    FATE_ACKED,
    FATE_DUPLICATE,
    FATE_REQUEUED,
    FATE_DEAD,
    FATE_LOST
} Fate;

static int64_t retry_wait_ms(SapRunnerV0 *runner, uint32_t failed)
{
    struct SapRunnerV0Core *core = runner->core;
    uint32_t dice = 0;

    if (core->policy.retry_backoff_ms > 0) {
        core->random(&dice, sizeof dice, core->random_ctx);
    }
    return mailbox_backoff_ms(core->policy.retry_backoff_ms, core->policy.retry_backoff_max_ms,
                              failed, dice);
}

static int end_one(SapRunnerV0 *runner, Txn *txn, const SapRunnerV0Claim *claim, int result,
                   int64_t now_ms, Fate *fate_out)
{
    const SapRunnerV0Policy *policy = &runner->core->policy;
    int rc;

    if (result == SAP_OK) {
        *fate_out = FATE_ACKED;
        rc = sap_runner_mailbox_v0_ack(txn, claim, now_ms, policy->dedupe_ttl_ms);
    } else if (result == RESULT_DUPLICATE || result == RESULT_DIFFERS) {
        *fate_out = FATE_DUPLICATE;
        rc = mailbox_drop_duplicate(txn, claim, now_ms);
    } else if (claim->attempts >= policy->retry_budget_max) {
        *fate_out = FATE_DEAD;
        rc = sap_runner_dead_letter_v0_move(txn, claim, result);
    } else {
        *fate_out = FATE_REQUEUED;
        rc = mailbox_retry(txn, claim, policy->requeue_max_attempts, now_ms,
                           retry_wait_ms(runner, claim->attempts));
    }
    if (rc == SAP_CONFLICT) {
        *fate_out = FATE_LOST;
        rc = SAP_OK;
    } else if (rc == SAP_EXISTS) {
        /* No slot for it now: it keeps its place and lease, and others of its batch must not
         * wait. */
        *fate_out = FATE_NONE;
        rc = SAP_OK;
    }
    return rc;
}

static void report_fate(SapRunnerV0 *runner, const SapRunnerV0Claim *claim, Fate fate, int result,
                        uint64_t latency_us)
{
    SapRunnerV0Metrics *metrics = runner_metrics_lock(runner);

    metrics->requeues += fate == FATE_REQUEUED;
    metrics->dead_letter_moves += fate == FATE_DEAD;
    metrics->lease_losses += fate == FATE_LOST;
    metrics->duplicates_skipped += fate == FATE_DUPLICATE;
    metrics->step_successes += fate == FATE_ACKED;
    runner->core->steps_completed += fate == FATE_ACKED;
    if ((fate == FATE_ACKED || fate == FATE_DUPLICATE || fate == FATE_DEAD) &&
        metrics->queue_depth > 0) {
        metrics->queue_depth--;
        metrics->queue_age_ms = metrics->queue_depth > 0 ? metrics->queue_age_ms : 0;
    }
    runner_metrics_unlock(runner);

    switch (fate) {
    case FATE_REQUEUED:
        runner_replay(runner, SAP_RUNNER_V0_REPLAY_REQUEUE, claim, result);
        runner_log(runner, SAP_RUNNER_V0_LOG_REQUEUED, claim, result, claim->attempts, latency_us);
        break;
    case FATE_DEAD:
        runner_replay(runner, SAP_RUNNER_V0_REPLAY_DEAD_LETTER, claim, result);
        runner_log(runner, SAP_RUNNER_V0_LOG_DEAD_LETTERED, claim, result, claim->attempts,
                   latency_us);
        break;
    case FATE_LOST:
        runner_log(runner, SAP_RUNNER_V0_LOG_LEASE_LOST, claim, SAP_CONFLICT, claim->attempts,
                   latency_us);
        break;
    case FATE_DUPLICATE:
        runner_log(runner, SAP_RUNNER_V0_LOG_DUPLICATE, claim, SAP_EXISTS, result == RESULT_DIFFERS,
                   latency_us);
        break;
    case FATE_NONE:
    case FATE_ACKED:
        break;
    }
}

/* Ends the claims with a result among [from, to), all in one commit. */
static int settle(SapRunnerV0 *runner, uint32_t from, uint32_t to)
{
    struct SapRunnerV0Core *core = runner->core;
    uint64_t started_ns = clock_mono_ns(NULL);
    uint64_t latency_us;
    uint32_t open = 0;
    Txn *txn;

    for (uint32_t i = from; i < to; i++) {
        open += result_open(core->results[i]);
    }
    if (open == 0) {
        return SAP_OK;
    }
    Fate *fates = mem_zalloc(MEM_RUNNER, (to - from) * sizeof *fates);
    if (fates == NULL) {
        return SAP_NOMEM;
    }
    int64_t now_ms = runner_now_ms(runner);
    int rc = runner_begin(runner, &txn);
    if (rc == SAP_OK) {
        for (uint32_t i = from; i < to && rc == SAP_OK; i++) {
            if (result_open(core->results[i])) {
                rc = end_one(runner, txn, &core->claims[i], core->results[i], now_ms,
                             &fates[i - from]);
            }
        }
        if (rc == SAP_OK) {
            rc = runner_commit(runner, txn, started_ns, &latency_us);
        } else {
            runner_abort(runner, txn);
        }
    }
    for (uint32_t i = from; i < to && rc == SAP_OK; i++) {
        if (fates[i - from] != FATE_NONE) {
            report_fate(runner, &core->claims[i], fates[i - from], core->results[i], latency_us);
            core->results[i] = RESULT_GONE;
        }
    }
    mem_free(MEM_RUNNER, fates, (to - from) * sizeof *fates);
    return rc;
}

/* ---- Handle --------------------------------------------------------------------------------- */

/* Returns whether to renew the batch's leases: an eighth of their time is over. So a handler begins
 * with at least seven eighths of it left, and a batch is renewed at most eight times per lease. */
static bool leases_aged(SapRunnerV0 *runner, int64_t now_ms)
{
    uint64_t eighth_ms = (uint64_t)runner->core->policy.lease_ttl_ms / 8;
    int64_t from_ms = runner->core->leases_from_ms;

    return now_ms > from_ms && (uint64_t)now_ms - (uint64_t)from_ms >= eighth_ms;
}

/* Renews the leases of [from, to) that are not handled yet; those that were lost are left to
 * whoever has them. */
static int renew(SapRunnerV0 *runner, uint32_t from, uint32_t to, int64_t now_ms)
{
    struct SapRunnerV0Core *core = runner->core;
    uint64_t started_ns = clock_mono_ns(NULL);
    Txn *txn;
    int rc = runner_begin(runner, &txn);

    if (rc != SAP_OK) {
        return rc;
    }
    for (uint32_t i = from; i < to && rc == SAP_OK; i++) {
        if (core->results[i] != RESULT_NONE) {
            continue;
        }
        rc = sap_runner_mailbox_v0_touch(txn, &core->claims[i], now_ms, core->policy.lease_ttl_ms);
        if (rc == SAP_CONFLICT) {
            core->results[i] = RESULT_LOST;
            rc = SAP_OK;
        }
    }
    if (rc != SAP_OK) {
        runner_abort(runner, txn);
        return rc;
    }
    rc = runner_commit(runner, txn, started_ns, NULL);
    for (uint32_t i = from; i < to && rc == SAP_OK; i++) {
        if (core->results[i] == RESULT_LOST) {
            report_fate(runner, &core->claims[i], FATE_LOST, SAP_CONFLICT, 0);
            core->results[i] = RESULT_GONE;
        }
    }
    return rc;
}

/* Once some of the leases' time is over, ends the claims before `done`, which are handled, and
 * renews those from `rest` on. */
static int keep_leases(SapRunnerV0 *runner, uint32_t done, uint32_t rest)
{
    struct SapRunnerV0Core *core = runner->core;
    int64_t now_ms = runner_now_ms(runner);

    if (!leases_aged(runner, now_ms)) {
        return SAP_OK;
    }
    int rc = settle(runner, 0, done);
    if (rc == SAP_OK && rest < core->batch) {
        rc = renew(runner, rest, core->batch, now_ms);
    }
    if (rc == SAP_OK) {
        core->leases_from_ms = now_ms;
    }
    return rc;
}

/* `rc` is SAP_OK also where the step was refused. */
static void count_step(SapRunnerV0 *runner, int rc, int64_t latency_ms)
{
    SapRunnerV0Metrics *metrics = runner_metrics_lock(runner);
    uint64_t ms = latency_ms > 0 ? (uint64_t)latency_ms : 0;

    metrics->step_attempts++;
    metrics->retryable_conflicts += rc == SAP_CONFLICT;
    metrics->retryable_busy += rc == SAP_BUSY;
    metrics->non_retryable_failures += rc != SAP_OK && !runner_retryable(rc);
    metrics->step_latency_samples++;
    metrics->step_latency_total_ms += ms;
    if (ms > metrics->step_latency_max_ms) {
        metrics->step_latency_max_ms = ms;
    }
    runner_metrics_unlock(runner);
}

/* Whether a message flagged for it was handled before, by the newest state. */
static int seen_before(SapRunnerV0 *runner, const SapRunnerV0Message *msg,
                       AttemptRefused *refused_out)
{
    int seen = 0;
    int differs = 0;
    Txn *txn;
    int rc = txn_begin_rc(runner->db, NULL, TXN_RDONLY | TXN_NEWEST, &txn);

    if (rc == SAP_OK) {
        rc = sap_runner_dedupe_v0_seen(txn, runner->worker_id, msg->message_id, msg->message_id_len,
                                       msg->payload, msg->payload_len, runner_now_ms(runner), &seen,
                                       &differs);
        txn_abort(txn);
    }
    *refused_out = (AttemptRefused){.duplicate = seen != 0, .differs = differs != 0};
    return rc;
}

/* Acknowledgements of a batch share a commit; those of blocks that write are in the blocks' own. */
static bool shares_commits(const SapRunnerV0Handler *handler)
{
    return handler->plain != NULL || handler->read_only;
}

/* Runs the handler for claim `i`. *result_out: its code; RESULT_GONE: the claim has ended with
 * it. */
static int handle_one(SapRunnerV0 *runner, const SapRunnerV0Handler *handler, uint32_t i,
                      int *result_out, int *handler_rc)
{
    struct SapRunnerV0Core *core = runner->core;
    SapRunnerV0Claim *claim = &core->claims[i];
    bool timer = claim->timer_seq != 0;
    AttemptRefused refused = {0};
    SapRunnerV0Message msg;
    int64_t started_ms = runner_now_ms(runner);
    int rc = wire_rc(sap_runner_wire_v0_decode_message(claim->frame, claim->frame_len, &msg));

    SAP_ASSERT(rc == SAP_OK);
    runner_replay(runner,
                  timer ? SAP_RUNNER_V0_REPLAY_TIMER_ATTEMPT : SAP_RUNNER_V0_REPLAY_INBOX_ATTEMPT,
                  claim, SAP_OK);
    if (shares_commits(handler) && (msg.flags & SAP_RUNNER_V0_DEDUPE) != 0) {
        /* One of the same id may be among those handled and not yet settled. */
        rc = settle(runner, 0, i);
        if (rc == SAP_OK) {
            rc = seen_before(runner, &msg, &refused);
        }
        if (rc != SAP_OK) {
            return rc;
        }
    }
    if (refused.duplicate) {
        rc = SAP_EXISTS;
    } else if (handler->atomic != NULL) {
        rc = attempt_handler_run(runner, handler, &msg, claim, &refused);
    } else {
        core->current = claim;
        rc = handler->plain(runner, &msg, handler->ctx);
        core->current = NULL;
    }
    bool was_refused = refused.lost || refused.duplicate;
    rc = rc < RESULT_FIRST ? SAP_ERROR : rc;
    count_step(runner, was_refused ? SAP_OK : rc, runner_now_ms(runner) - started_ms);
    runner_replay(runner,
                  timer ? SAP_RUNNER_V0_REPLAY_TIMER_RESULT : SAP_RUNNER_V0_REPLAY_INBOX_RESULT,
                  claim, rc);
    *result_out = rc;
    if (refused.duplicate) {
        *result_out = refused.differs ? RESULT_DIFFERS : RESULT_DUPLICATE;
    } else if (refused.lost || (rc == SAP_OK && handler->atomic != NULL && !handler->read_only)) {
        report_fate(runner, claim, refused.lost ? FATE_LOST : FATE_ACKED, rc, 0);
        *result_out = RESULT_GONE;
    } else if (rc != SAP_OK) {
        bool retryable = runner_retryable(rc);
        runner_log(runner,
                   retryable ? SAP_RUNNER_V0_LOG_RETRYABLE_FAILURE
                             : SAP_RUNNER_V0_LOG_NON_RETRYABLE_FAILURE,
                   claim, rc, claim->attempts, 0);
        if (!retryable && *handler_rc == SAP_OK) {
            *handler_rc = rc;
        }
    }
    return SAP_OK;
}

/* Handles the claims [0, count), whose leases began at `claimed_ms`. */
static int handle_all(SapRunnerV0 *runner, const SapRunnerV0Handler *handler, uint32_t count,
                      uint64_t base_lsn, int64_t claimed_ms, int *handler_rc)
{
    struct SapRunnerV0Core *core = runner->core;
    int rc = SAP_OK;

    core->batch = count;
    core->leases_from_ms = claimed_ms;
    for (uint32_t i = 0; i < count; i++) {
        core->results[i] = RESULT_NONE;
    }
    if (handler->plain != NULL) {
        rc = mailbox_wait_durable(runner->db, core->claims, count, base_lsn);
    }
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        rc = keep_leases(runner, i, i);
        if (rc == SAP_OK && core->results[i] == RESULT_NONE) {
            rc = handle_one(runner, handler, i, &core->results[i], handler_rc);
        }
        if (rc == SAP_OK && !shares_commits(handler)) {
            rc = settle(runner, i, i + 1);
        }
    }
    int settled = settle(runner, 0, count);
    return rc == SAP_OK ? settled : rc;
}

int poll_run(SapRunnerV0 *runner, unsigned what, const SapRunnerV0Handler *handler, uint32_t max,
             PollResult *result_out)
{
    struct SapRunnerV0Core *core = runner->core;
    int64_t now_ms = runner_now_ms(runner);
    Seen seen;
    Claimed claimed;

    *result_out = (PollResult){0};
    max = max < BATCH_MAX ? max : BATCH_MAX;
    int rc = make_room(core, max);
    if (rc == SAP_OK) {
        rc = look_once(runner, what, now_ms, &seen);
    }
    if (rc == SAP_OK && seen.work == 0) {
        rc = SAP_BUSY;
    }
    if (rc == SAP_OK) {
        rc = claim(runner, seen.work, max, &claimed);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    result_out->handled = claimed.messages + claimed.timers;
    result_out->full = claimed.messages == max;
    result_out->moved = claimed.passed_on + claimed.routed;
    if (result_out->handled > 0) {
        rc = handle_all(runner, handler, result_out->handled, claimed.base_lsn, claimed.at_ms,
                        &result_out->handler_rc);
        for (uint32_t i = 0; i < result_out->handled; i++) {
            sap_runner_v0_claim_release(&core->claims[i]);
        }
        /* SAP_BUSY would say that there was nothing. This is a handler that left a write
         * transaction open: what it handled could not be ended, and comes again. */
        rc = rc == SAP_BUSY ? SAP_ERROR : rc;
    } else if (result_out->moved == 0 && claimed.report.dead + claimed.report.duplicates == 0) {
        rc = SAP_BUSY;
    }
    return rc;
}

/* ---- The public ways in --------------------------------------------------------------------- */

static int run_message(SapRunnerV0 *runner, const SapRunnerV0Message *msg,
                       const SapRunnerV0Handler *handler)
{
    AttemptRefused refused;
    int64_t started_ms = runner_now_ms(runner);
    int rc = handler->atomic != NULL ? attempt_handler_run(runner, handler, msg, NULL, &refused)
                                     : handler->plain(runner, msg, handler->ctx);
    if (rc == SAP_OK) {
        rc = runner_wait_last(runner);
    }
    count_step(runner, rc, runner_now_ms(runner) - started_ms);
    if (rc == SAP_OK) {
        runner_metrics_lock(runner)->step_successes++;
        runner->core->steps_completed++;
        runner_metrics_unlock(runner);
    }
    return rc;
}

int sap_runner_v0_run_step(SapRunnerV0 *runner, const void *frame, uint32_t frame_len,
                           const SapRunnerV0Handler *handler)
{
    SapRunnerV0Message msg;

    if (!runner_usable(runner) || !poll_handler_valid(handler)) {
        return SAP_ERROR;
    }
    int rc = wire_rc(sap_runner_wire_v0_decode_message(frame, frame_len, &msg));
    if (rc != SAP_OK) {
        return rc;
    }
    if (msg.to_worker != runner->worker_id) {
        return SAP_ERROR;
    }
    if (!runner_take(runner)) {
        return SAP_BUSY;
    }
    rc = run_message(runner, &msg, handler);
    runner_give(runner);
    return rc;
}

/* Batch after batch, while there are as many messages as one can take. */
static int poll_batches(SapRunnerV0 *runner, const SapRunnerV0Handler *handler, uint32_t max,
                        uint32_t *handled_out)
{
    PollResult result = {.full = true};
    uint32_t handled = 0;
    int handler_rc = SAP_OK;
    int rc = SAP_OK;

    while (rc == SAP_OK && result.full && handled < max) {
        rc = poll_run(runner, POLL_INBOX | POLL_RETRIES, handler, max - handled, &result);
        handled += result.handled;
        handler_rc = handler_rc == SAP_OK ? result.handler_rc : handler_rc;
    }
    if (rc != SAP_BUSY) {
        poll_count_queue(runner);
    } else if (handled > 0) {
        rc = SAP_OK; /* no more to claim */
    }
    int waited = runner_wait_last(runner);
    *handled_out = handled;
    if (rc != SAP_OK) {
        return rc;
    }
    if (waited != SAP_OK) {
        return waited;
    }
    return handled == 0 ? SAP_BUSY : handler_rc;
}

int sap_runner_v0_poll_inbox(SapRunnerV0 *runner, const SapRunnerV0Handler *handler, uint32_t max,
                             uint32_t *handled_out)
{
    uint32_t handled = 0;

    if (!runner_usable(runner) || max == 0 || !poll_handler_valid(handler)) {
        return SAP_ERROR;
    }
    int rc = SAP_BUSY;
    if (runner_take(runner)) {
        rc = poll_batches(runner, handler, max, &handled);
        runner_give(runner);
    }
    if (handled_out != NULL) {
        *handled_out = handled;
    }
    return rc;
}

/* Renews the lease of the message that the handler is at, and those of its batch. */
static int touch_current(SapRunnerV0 *runner)
{
    struct SapRunnerV0Core *core = runner->core;
    uint64_t started_ns = clock_mono_ns(NULL);
    Txn *txn;
    int rc = runner_begin(runner, &txn);

    if (rc != SAP_OK) {
        return rc;
    }
    rc = sap_runner_mailbox_v0_touch(txn, core->current, runner_now_ms(runner),
                                     core->policy.lease_ttl_ms);
    if (rc != SAP_OK) {
        runner_abort(runner, txn);
        return rc;
    }
    rc = runner_commit(runner, txn, started_ns, NULL);
    if (rc == SAP_OK) {
        uint32_t i = (uint32_t)(core->current - core->claims);
        rc = keep_leases(runner, i, i + 1);
    }
    return rc;
}

int sap_runner_v0_touch(SapRunnerV0 *runner)
{
    if (!runner_usable(runner) || runner->core->current == NULL) {
        return SAP_ERROR;
    }
    if (runner->core->touching) {
        return SAP_BUSY; /* a sink, called by the touch */
    }
    runner->core->touching = true;
    int rc = touch_current(runner);
    runner->core->touching = false;
    return rc;
}
