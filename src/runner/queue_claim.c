/* queue_claim.c - claims, and waiting for something to claim; see queue.h. */
#include "runner/queue.h"

#include "common/assert.h"
#include "common/clock.h"
#include "common/mem.h"
#include "runner/durable.h"
#include "runner/lease_v0.h"
#include "runner/mailbox_v0.h"
#include "runner/rows.h"
#include "runner/timer_v0.h"
#include "runner/wire_v0.h"

#include <time.h>

enum {
    POLL_MS = 20,     /* between looks where nobody can ring */
    BATCH_MAX = 1024, /* messages of one claim */
    BATCH_FEW = 16,   /* for which no memory is needed */
    TIMERS_AT_ONCE = 256,
    BUSY_NAP_US = 50,
    BUSY_NAPS = 100000,
};

/* For how long something has lasted: wall time may jump. */
static int64_t lasting_ms(const SapQueue *queue)
{
    return queue->time.now_ms != NULL ? queue->time.now_ms(queue->time.ctx)
                                      : (int64_t)(clock_mono_ns(NULL) / 1000000);
}

static void nap_us(uint32_t us)
{
    (void)nanosleep(
        &(struct timespec){.tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000}, NULL);
}

/* ---- The bell ------------------------------------------------------------------------------- */

/* False: the queue is being closed, nobody is to wait any more. */
static bool rings_so_far(SapQueue *queue, uint64_t *rings_out)
{
    mutex_lock(&queue->lock);
    *rings_out = queue->rings;
    bool open = !queue->closing;
    mutex_unlock(&queue->lock);
    return open;
}

static void ring(SapQueue *queue)
{
    mutex_lock(&queue->lock);
    queue->rings++;
    cond_signal(&queue->rung);
    mutex_unlock(&queue->lock);
}

#if SAPLING_THREADED

static void on_inbox(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                     void *ctx)
{
    SapQueue *queue = ctx;

    (void)key;
    (void)key_len;
    (void)val_len;
    if (val != NULL) {
        ring(queue);
    }
}

/* Sleepers find timers that are further away themselves, in time. */
static void on_timer(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                     void *ctx)
{
    SapQueue *queue = ctx;
    int64_t due_ms;
    uint64_t seq;

    (void)val_len;
    if (val != NULL && row_timer_key_read(key, key_len, &due_ms, &seq) == SAP_OK &&
        due_ms < queue_later(queue_now_ms(queue), QUEUE_IDLE_MAX_MS)) {
        ring(queue);
    }
}

static int watch(SapQueue *queue)
{
    MailboxRange range = mailbox_range(queue->worker);
    int rc = db_watch_dbi(queue->db, WIT_DBI_INBOX, range.lo, 8, on_inbox, queue);

    if (rc == SAP_OK || rc == SAP_EXISTS) {
        rc = db_watch_dbi(queue->db, WIT_DBI_TIMERS, NULL, 0, on_timer, queue);
    }
    return rc == SAP_EXISTS ? SAP_OK : rc;
}

static int unwatch(SapQueue *queue)
{
    MailboxRange range = mailbox_range(queue->worker);
    int rc = db_unwatch_dbi(queue->db, WIT_DBI_INBOX, range.lo, 8, on_inbox, queue);

    if (rc == SAP_OK || rc == SAP_NOTFOUND) {
        rc = db_unwatch_dbi(queue->db, WIT_DBI_TIMERS, NULL, 0, on_timer, queue);
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* Queues that nobody waits for cost their commits nothing: only a first sleep asks to be woken.
 * False: a writer is in the way just now; sleep shortly. */
static bool watched(SapQueue *queue)
{
    mutex_lock(&queue->lock);
    bool watching = queue->watching;
    queue->watch_begun = true;
    mutex_unlock(&queue->lock);
    if (watching) {
        return true;
    }
    if (watch(queue) != SAP_OK) {
        return false;
    }
    /* No ring announced what came before the watch: the caller looks again before it sleeps. */
    mutex_lock(&queue->lock);
    queue->watching = true;
    queue->rings++;
    mutex_unlock(&queue->lock);
    return true;
}

/* Watches can only be removed while no write transaction is open, and others begin one after the
 * other: their gaps are short, but they come. SAP_BUSY: one has been open for seconds. */
int queue_stop_watching(SapQueue *queue)
{
    int rc = queue->watch_begun ? unwatch(queue) : SAP_OK;

    for (uint32_t i = 0; i < BUSY_NAPS && rc == SAP_BUSY; i++) {
        nap_us(BUSY_NAP_US);
        rc = unwatch(queue);
    }
    SAP_ASSERT(rc == SAP_OK || rc == SAP_BUSY);
    queue->watching = queue->watching && rc != SAP_OK;
    queue->watch_begun = queue->watch_begun && rc != SAP_OK;
    return rc;
}

#else

int queue_stop_watching(SapQueue *queue)
{
    (void)queue;
    return SAP_OK;
}

#endif

/* Sleeps until a ring after the first `seen`, or so long. */
static void wait_for_ring(SapQueue *queue, uint64_t seen, uint32_t ms)
{
#if SAPLING_THREADED
    if (queue->time.sleep_ms == NULL) {
        uint32_t longest = watched(queue) || ms == 0 ? ms : 1;
        uint64_t until_ns = clock_mono_ns(NULL) + (uint64_t)longest * 1000000;
        mutex_lock(&queue->lock);
        while (queue->rings == seen && !queue->closing) {
            uint64_t at_ns = clock_mono_ns(NULL);
            if (at_ns >= until_ns) {
                break;
            }
            cond_wait_ns(&queue->rung, &queue->lock, until_ns - at_ns);
        }
        mutex_unlock(&queue->lock);
        return;
    }
#endif
    (void)seen;
    uint32_t slice = ms < POLL_MS ? ms : POLL_MS;
    if (queue->time.sleep_ms != NULL) {
        queue->time.sleep_ms(slice, queue->time.ctx);
    } else {
        nap_us(slice * 1000);
    }
}

void sap_queue_interrupt(SapQueue *queue)
{
    if (!queue_usable(queue)) {
        return;
    }
    mutex_lock(&queue->lock);
    queue->closing = true;
    cond_broadcast(&queue->rung);
    mutex_unlock(&queue->lock);
}

void queue_wake_and_wait(SapQueue *queue)
{
    sap_queue_interrupt(queue);
    mutex_lock(&queue->lock);
    while (queue->inside > 0) {
        cond_wait(&queue->rung, &queue->lock);
    }
    mutex_unlock(&queue->lock);
}

/* ---- Leases that this queue knows of -------------------------------------------------------- */

static int64_t quiet_until(SapQueue *queue)
{
    mutex_lock(&queue->lock);
    int64_t ms = queue->quiet_until_ms;
    mutex_unlock(&queue->lock);
    return ms;
}

/* All leases were looked at; the write transaction that did is still open. */
static void leases_looked_at(SapQueue *queue, int64_t at_ms, int64_t next_expiry_ms)
{
    int64_t limit_ms = queue_later(at_ms, QUEUE_IDLE_MAX_MS);

    mutex_lock(&queue->lock);
    queue->quiet_until_ms = next_expiry_ms < limit_ms ? next_expiry_ms : limit_ms;
    mutex_unlock(&queue->lock);
}

/* One may have expired. */
static void leases_unknown(SapQueue *queue)
{
    mutex_lock(&queue->lock);
    queue->quiet_until_ms = INT64_MIN;
    mutex_unlock(&queue->lock);
}

/* Sleepers that know of nothing so early plan anew. */
void queue_lease_until(SapQueue *queue, int64_t at_ms, int64_t deadline_ms)
{
    mutex_lock(&queue->lock);
    if (deadline_ms < queue->quiet_until_ms) {
        queue->quiet_until_ms = deadline_ms;
    }
    if (deadline_ms < queue_later(at_ms, QUEUE_IDLE_MAX_MS)) {
        queue->rings++;
        cond_signal(&queue->rung);
    }
    mutex_unlock(&queue->lock);
}

/* ---- Claim ---------------------------------------------------------------------------------- */

/* What a snapshot says about what there is to do. */
typedef struct Look {
    bool claimable;  /* there are messages that nobody holds, or whose lease may be over */
    bool timers_due; /* there are timers to be moved */
    int64_t next_ms; /* when the next lease or timer is due; INT64_MAX: none is known */
} Look;

/* `last`: the claim may return SAP_NOTFOUND after this look, so it also looks for expired leases
 * that other handles made and this queue does not know of. */
static int look_at(Txn *txn, SapQueue *queue, int64_t at_ms, bool last, Look *look)
{
    uint64_t count;
    uint64_t leased;
    int64_t due_ms;
    int64_t quiet_ms = quiet_until(queue);
    int rc = sap_runner_mailbox_v0_stat(txn, queue->worker, &count, &leased, NULL);

    *look = (Look){.next_ms = INT64_MAX};
    if (rc != SAP_OK) {
        return rc;
    }
    look->claimable = count > leased || (leased > 0 && quiet_ms <= at_ms);
    if (leased > 0) {
        look->next_ms = quiet_ms;
    }
    if (last && leased > 0 && !look->claimable) {
        rc = mailbox_any_expired(txn, queue->worker, at_ms, &look->claimable);
        if (rc != SAP_OK) {
            return rc;
        }
        if (look->claimable) {
            leases_unknown(queue); /* so that the claim looks at them, too */
        }
    }
    rc = sap_runner_scheduler_v0_next_due(txn, &due_ms);
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    look->timers_due = due_ms <= at_ms;
    if (due_ms < look->next_ms) {
        look->next_ms = due_ms;
    }
    return SAP_OK;
}

static int look(SapQueue *queue, int64_t at_ms, bool last, Look *look_out)
{
    Txn *txn;
    int rc = txn_begin_rc(queue->db, NULL, TXN_RDONLY | TXN_NEWEST, &txn);

    if (rc != SAP_OK) {
        return rc;
    }
    rc = look_at(txn, queue, at_ms, last, look_out);
    txn_abort(txn);
    return rc;
}

/* All queues of the DB are as local as this one. Timers for workers that are not queues go to the
 * outbox, where those who route know which of them are. */
static int is_queue(int64_t worker, void *ctx)
{
    (void)ctx;
    return worker >= QUEUE_WORKERS;
}

static int move_timers(Txn *txn, SapQueue *queue, int64_t at_ms, MailboxLog *log)
{
    SapRunnerV0ClaimOptions options = {
        .worker_id = queue->worker, .owner = queue->owner, .now_ms = at_ms};
    LocalWorkers local = {.fn = is_queue};
    TimersTaken taken;
    int rc;

    do {
        rc = timer_claim_due(txn, &options, &local, NULL, TIMERS_AT_ONCE, log, &taken);
    } while (rc == SAP_OK && taken.moved + taken.dead == TIMERS_AT_ONCE);
    return rc;
}

static int claim_in(Txn *txn, SapQueue *queue, const SapRunnerV0ClaimOptions *options,
                    SapRunnerV0Claim *claims, uint32_t max, uint32_t *count_out, MailboxLog *log)
{
    SapRunnerV0ClaimReport report = {0};
    int rc = mailbox_claim(txn, options, claims, max, count_out, &report, log);

    if (rc == SAP_OK && options->quiet_until_ms <= options->now_ms) {
        leases_looked_at(queue, options->now_ms, report.next_expiry_ms);
    }
    return rc;
}

/* How messages are claimed. */
typedef struct Terms {
    uint32_t lease_ms;
    uint32_t budget; /* of attempts: leases that expired count */
} Terms;

/* Claims what there is. SAP_OK with none: what was seen has gone to others, or was nothing to
 * claim. */
static int claim_now(SapQueue *queue, const Terms *terms, const Look *seen,
                     SapRunnerV0Claim *claims, uint32_t max, uint32_t *count_out)
{
    SapRunnerV0ClaimOptions options = {.worker_id = queue->worker,
                                       .owner = queue->owner,
                                       .lease_ttl_ms = terms->lease_ms,
                                       .retry_budget_max = terms->budget};
    MailboxLog met = {0};
    MailboxLog *log = reports_wanted(&queue->reports) ? &met : NULL;
    Txn *txn;
    uint32_t count = 0;
    int rc = txn_begin_rc(queue->db, NULL, TXN_WAIT | TXN_DRAIN, &txn);

    *count_out = 0;
    if (rc != SAP_OK) {
        return rc;
    }
    uint64_t base_lsn = txn_base_lsn(txn);
    /* A lease lasts from now, however long others wrote. */
    int64_t at_ms = queue_now_ms(queue);
    options.now_ms = at_ms;
    if (seen->timers_due) {
        rc = move_timers(txn, queue, at_ms, log);
    }
    if (rc == SAP_OK) {
        options.quiet_until_ms = quiet_until(queue);
        rc = claim_in(txn, queue, &options, claims, max, &count, log);
    }
    rc = queue_end(txn, rc, false);
    if (rc != SAP_OK) {
        leases_unknown(queue); /* expired ones are there again */
    } else {
        reports_met(&queue->reports, &met);
    }
    mailbox_log_release(&met);
    if (rc == SAP_OK && count > 0) {
        queue_lease_until(queue, at_ms, claims[0].deadline_ms);
        rc = mailbox_wait_durable(queue->db, claims, count, base_lsn);
    }
    if (rc != SAP_OK) {
        while (count > 0) {
            sap_runner_v0_claim_release(&claims[--count]);
        }
    }
    *count_out = count;
    return rc;
}

static void fill(SapQueueMessage *message, const SapRunnerV0Claim *claim)
{
    SapRunnerV0Message msg;
    int rc = sap_runner_wire_v0_decode_message(claim->frame, claim->frame_len, &msg);

    SAP_ASSERT(rc == SAP_RUNNER_WIRE_OK);
    *message = (SapQueueMessage){.id = msg.message_id,
                                 .id_len = msg.message_id_len,
                                 .trace_id = msg.trace_id,
                                 .trace_id_len = msg.trace_id_len,
                                 .payload = msg.payload,
                                 .payload_len = msg.payload_len,
                                 .seq = claim->seq,
                                 .attempts = claim->attempts,
                                 .sent_ms = msg.route_timestamp,
                                 .deadline_ms = claim->deadline_ms,
                                 .claim = *claim};
}

static void free_messages(SapQueueMessage **messages, uint32_t count)
{
    while (count > 0) {
        mem_free(MEM_RUNNER, messages[--count], sizeof **messages);
    }
}

/* Memory first: a message that was claimed and cannot be handed out would wait for its lease to
 * expire. */
static int claim_messages(SapQueue *queue, const Terms *terms, const Look *seen,
                          SapQueueMessage **messages, uint32_t max, uint32_t *count_out)
{
    SapRunnerV0Claim few[BATCH_FEW];
    SapRunnerV0Claim *claims = few;
    uint32_t count = 0;
    uint32_t made = 0;
    int rc = SAP_OK;

    if (max > BATCH_FEW) {
        claims = mem_alloc(MEM_RUNNER, max * sizeof *claims);
        if (claims == NULL) {
            return SAP_NOMEM;
        }
    }
    for (; made < max && rc == SAP_OK; made += rc == SAP_OK) {
        messages[made] = mem_alloc(MEM_RUNNER, sizeof **messages);
        rc = messages[made] != NULL ? SAP_OK : SAP_NOMEM;
    }
    if (rc == SAP_OK) {
        rc = claim_now(queue, terms, seen, claims, max, &count);
    }
    for (uint32_t i = 0; i < count; i++) {
        fill(messages[i], &claims[i]);
    }
    free_messages(messages + count, made - count);
    if (claims != few) {
        mem_free(MEM_RUNNER, claims, max * sizeof *claims);
    }
    *count_out = count;
    return rc;
}

/* Claims, and waits until there is something to claim. */
static int claim_or_wait(SapQueue *queue, const Terms *terms, uint32_t timeout_ms,
                         SapQueueMessage **messages, uint32_t max, uint32_t *count_out)
{
    int64_t started_ms = timeout_ms > 0 ? lasting_ms(queue) : 0;
    bool slept = false;

    for (;;) {
        Look seen;
        uint32_t count = 0;
        uint64_t rings = 0;
        int64_t left_ms = 0;
        if (timeout_ms > 0 && rings_so_far(queue, &rings)) {
            left_ms = timeout_ms == UINT32_MAX
                          ? INT64_MAX
                          : (int64_t)timeout_ms - (lasting_ms(queue) - started_ms);
        }
        int64_t at_ms = queue_now_ms(queue);
        int rc = look(queue, at_ms, left_ms <= 0, &seen);

        if (rc == SAP_OK && (seen.claimable || seen.timers_due)) {
            rc = claim_messages(queue, terms, &seen, messages, max, &count);
            if (rc == SAP_OK && count == 0) {
                continue; /* and see what is left */
            }
        }
        if (rc != SAP_OK || count > 0 || left_ms <= 0) {
            if (slept && (rc != SAP_OK || seen.next_ms != INT64_MAX)) {
                ring(queue);
            }
            *count_out = count;
            return rc == SAP_OK && count == 0 ? SAP_NOTFOUND : rc;
        }
        uint32_t ms = sap_runner_scheduler_v0_sleep_budget(at_ms, seen.next_ms, QUEUE_IDLE_MAX_MS);
        wait_for_ring(queue, rings, left_ms < ms ? (uint32_t)left_ms : ms);
        slept = true;
    }
}

int sap_queue_claim_many(SapQueue *queue, uint32_t lease_ms, uint32_t timeout_ms,
                         SapQueueMessage **messages, uint32_t max, uint32_t *count_out)
{
    return queue_claim_many(queue, lease_ms, timeout_ms, 0, messages, max, count_out);
}

int queue_claim_many(SapQueue *queue, uint32_t lease_ms, uint32_t timeout_ms, uint32_t budget,
                     SapQueueMessage **messages, uint32_t max, uint32_t *count_out)
{
    uint32_t count = 0;

    if (!queue_usable(queue) || messages == NULL || max == 0 || count_out == NULL) {
        return SAP_ERROR;
    }
    Terms terms = {.lease_ms = lease_ms > 0 ? lease_ms : queue->lease_ms,
                   .budget = budget > 0 ? budget : queue->retry_budget_max};
    mutex_lock(&queue->lock);
    queue->inside++;
    mutex_unlock(&queue->lock);
    int rc = claim_or_wait(queue, &terms, timeout_ms, messages, max < BATCH_MAX ? max : BATCH_MAX,
                           &count);
    mutex_lock(&queue->lock);
    if (--queue->inside == 0 && queue->closing) {
        cond_broadcast(&queue->rung);
    }
    mutex_unlock(&queue->lock);
    if (rc == SAP_OK) {
        *count_out = count;
    }
    return rc;
}

int sap_queue_claim(SapQueue *queue, uint32_t lease_ms, uint32_t timeout_ms,
                    SapQueueMessage **message_out)
{
    SapQueueMessage *message = NULL;
    uint32_t count;

    if (message_out == NULL) {
        return SAP_ERROR;
    }
    int rc = sap_queue_claim_many(queue, lease_ms, timeout_ms, &message, 1, &count);
    if (rc == SAP_OK) {
        *message_out = message;
    }
    return rc;
}

/* ---- Claims made elsewhere ------------------------------------------------------------------ */

/* Reads lease and frame of a message that is leased with the token. */
static int find_claim(Txn *txn, const SapQueue *queue, uint64_t seq, uint64_t token,
                      SapQueueMessage *message)
{
    RowKey key = row_message_key((uint64_t)queue->worker, seq);
    SapRunnerV0Claim claim = {.worker = (uint64_t)queue->worker, .seq = seq, .token = token};
    SapRunnerV0Lease lease;
    const void *frame;
    uint32_t frame_len;
    int rc = lease_check(txn, key.bytes, sizeof key.bytes, token, &lease);

    if (rc == SAP_OK) {
        rc = txn_get_dbi(txn, WIT_DBI_INBOX, key.bytes, sizeof key.bytes, &frame, &frame_len);
        rc = rc == SAP_NOTFOUND ? SAP_CONFLICT : rc;
    }
    if (rc == SAP_OK) {
        rc = row_decoded(wire_check(frame, frame_len));
    }
    if (rc != SAP_OK) {
        return rc;
    }
    claim.frame = mem_copy(MEM_RUNNER, frame, frame_len);
    if (claim.frame == NULL) {
        return SAP_NOMEM;
    }
    claim.frame_len = frame_len;
    claim.owner = lease.owner;
    claim.deadline_ms = lease.deadline_ms;
    claim.attempts = lease.attempts;
    fill(message, &claim);
    return SAP_OK;
}

int sap_queue_resume(SapQueue *queue, uint64_t seq, uint64_t token, SapQueueMessage **message_out)
{
    Txn *txn;

    if (queue == NULL || message_out == NULL) {
        return SAP_ERROR;
    }
    SapQueueMessage *message = mem_alloc(MEM_RUNNER, sizeof *message);
    if (message == NULL) {
        return SAP_NOMEM;
    }
    int rc = txn_begin_rc(queue->db, NULL, TXN_RDONLY | TXN_NEWEST, &txn);
    if (rc == SAP_OK) {
        rc = find_claim(txn, queue, seq, token, message);
        txn_abort(txn);
    }
    if (rc != SAP_OK) {
        mem_free(MEM_RUNNER, message, sizeof *message);
        return rc;
    }
    *message_out = message;
    return SAP_OK;
}

int sap_queue_put_back(SapQueue *queue, SapQueueMessage *message)
{
    Txn *txn;

    if (queue == NULL || message == NULL) {
        sap_queue_release(queue, message);
        return SAP_ERROR;
    }
    /* Failed attempts are counted when they end: without its lease this one has not been. */
    RowKey key = row_message_key(message->claim.worker, message->claim.seq);
    int rc = txn_begin_rc(queue->db, NULL, TXN_WAIT | TXN_DRAIN, &txn);
    if (rc == SAP_OK) {
        rc = sap_runner_lease_v0_release(txn, key.bytes, sizeof key.bytes, message->claim.token);
        /* One that a crash takes back is a lease that expires. */
        rc = queue_end(txn, rc, false);
    }
    if (rc == SAP_OK) {
        ring(queue);
    }
    sap_queue_release(queue, message);
    return rc;
}
