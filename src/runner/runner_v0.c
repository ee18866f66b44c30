/* runner_v0.c - see runner_v0.h. */
#include "runner/runner_v0.h"

#include "common/assert.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/random.h"
#include "runner/durable.h"
#include "runner/lease_v0.h"
#include "runner/mailbox_v0.h"
#include "runner/poll.h"
#include "runner/rows.h"
#include "runner/wire_v0.h"
#include "wit_runtime.h"

#include <string.h>

/* ---- Policy --------------------------------------------------------------------------------- */

void sap_runner_v0_policy_default(SapRunnerV0Policy *policy_out)
{
    if (policy_out != NULL) {
        *policy_out = (SapRunnerV0Policy){
            .lease_ttl_ms = MAILBOX_LEASE_TTL_MS,
            .requeue_max_attempts = MAILBOX_REQUEUE_SLOTS,
            .retry_budget_max = MAILBOX_RETRY_BUDGET,
            .attempt_max_retries = 3,
            .attempt_backoff_us = 250,
            .attempt_backoff_max_us = 10000,
            .dedupe_ttl_ms = MAILBOX_DEDUPE_TTL_MS,
            .sweep_period_ms = 1000,
            .sweep_max = 1000,
        };
    }
}

static void set_unless_0(uint32_t *field, uint32_t given)
{
    *field = given != 0 ? given : *field;
}

/* Fills the fields that are 0. False: the others make no policy. */
static bool policy_complete(const SapRunnerV0Policy *given, SapRunnerV0Policy *policy_out)
{
    SapRunnerV0Policy all;

    sap_runner_v0_policy_default(&all);
    if (given->lease_ttl_ms != 0) {
        all.lease_ttl_ms = given->lease_ttl_ms;
    }
    if (given->dedupe_ttl_ms != 0) {
        all.dedupe_ttl_ms = given->dedupe_ttl_ms;
    }
    set_unless_0(&all.requeue_max_attempts, given->requeue_max_attempts);
    set_unless_0(&all.retry_budget_max, given->retry_budget_max);
    set_unless_0(&all.attempt_max_retries, given->attempt_max_retries);
    set_unless_0(&all.attempt_backoff_us, given->attempt_backoff_us);
    set_unless_0(&all.attempt_backoff_max_us, given->attempt_backoff_max_us);
    set_unless_0(&all.sweep_period_ms, given->sweep_period_ms);
    set_unless_0(&all.sweep_max, given->sweep_max);
    /* Of the two a default contradicts nobody. */
    if (all.attempt_backoff_us > all.attempt_backoff_max_us) {
        if (given->attempt_backoff_us == 0) {
            all.attempt_backoff_us = all.attempt_backoff_max_us;
        } else if (given->attempt_backoff_max_us == 0) {
            all.attempt_backoff_max_us = all.attempt_backoff_us;
        }
    }
    *policy_out = all;
    return all.lease_ttl_ms > 0 && all.attempt_backoff_us <= all.attempt_backoff_max_us;
}

int sap_runner_v0_set_policy(SapRunnerV0 *runner, const SapRunnerV0Policy *policy)
{
    SapRunnerV0Policy all;

    if (runner == NULL || runner->core == NULL || policy == NULL ||
        !policy_complete(policy, &all)) {
        return SAP_ERROR;
    }
    runner->core->policy = all;
    return SAP_OK;
}

/* ---- Tables and their version --------------------------------------------------------------- */

_Static_assert(WIT_RUNTIME_DBI_BASE == 0, "DBI 0, which every file has, is the runtime's");

int sap_runner_v0_bootstrap_dbis(SapEnv *db)
{
    if (db == NULL) {
        return SAP_ERROR;
    }
    /* Tables of other packages are for those who own them to open. */
    for (uint32_t dbi = 0; dbi < WIT_RUNTIME_DBI_COUNT; dbi++) {
        /* DBI 0 is there from the start. */
        unsigned flags = dbi == WIT_DBI_DEDUPE_TTL ? DBI_TTL_META : 0;
        int rc = dbi == 0 ? SAP_OK : dbi_open(db, dbi, NULL, NULL, flags);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return SAP_OK;
}

static int check_marker(Txn *txn, uint16_t major, uint16_t minor)
{
    WitRuntimeSchemaMarker marker;
    const void *val;
    uint32_t val_len;
    int rc =
        txn_get(txn, SAP_RUNNER_V0_SCHEMA_KEY, sizeof SAP_RUNNER_V0_SCHEMA_KEY - 1, &val, &val_len);

    if (rc != SAP_OK) {
        return rc;
    }
    rc = wit_runtime_schema_marker_decode(val, val_len, &marker, NULL);
    if (rc == SAP_INVALID || (rc == SAP_OK && (marker.major != major || marker.minor != minor))) {
        return SAP_CONFLICT;
    }
    return rc;
}

int sap_runner_v0_ensure_schema_version(SapEnv *db, uint16_t major, uint16_t minor, int bootstrap)
{
    Txn *txn;

    if (db == NULL) {
        return SAP_ERROR;
    }
    int rc = txn_begin_rc(db, NULL, TXN_RDONLY, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = check_marker(txn, major, minor);
    txn_abort(txn);
    if (rc != SAP_NOTFOUND || !bootstrap) {
        return rc;
    }

    rc = txn_begin_rc(db, NULL, TXN_WAIT, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = check_marker(txn, major, minor);
    if (rc == SAP_NOTFOUND) {
        uint8_t bytes[8];
        Buf buf = buf_in(bytes, sizeof bytes);
        rc = wit_runtime_schema_marker_encode(&(WitRuntimeSchemaMarker){major, minor}, &buf, NULL);
        SAP_ASSERT(rc == SAP_OK && buf.data == bytes);
        rc = txn_put(txn, SAP_RUNNER_V0_SCHEMA_KEY, sizeof SAP_RUNNER_V0_SCHEMA_KEY - 1, bytes,
                     (uint32_t)buf.len);
    }
    if (rc != SAP_OK) {
        txn_abort(txn);
        return rc;
    }
    return txn_commit(txn);
}

/* ---- Lifecycle ------------------------------------------------------------------------------ */

static void random_system_fill(void *out, uint32_t len, void *ctx)
{
    (void)ctx;
    /* What comes from here is jitter and names of lease owners. */
    if (random_fill(NULL, out, len) != SAP_OK) {
        memset(out, 0, len);
    }
}

/* Gives back what init took. */
static void core_free(struct SapRunnerV0Core *core)
{
    if (core->claim_room > 0) {
        mem_free(MEM_RUNNER, core->claims, core->claim_room * sizeof *core->claims);
        mem_free(MEM_RUNNER, core->results, core->claim_room * sizeof *core->results);
    }
    sap_runner_txctx_v0_dispose(core->ctx);
    mutex_destroy(&core->lock);
    mem_free(MEM_RUNNER, core, sizeof *core);
}

int sap_runner_v0_init(SapRunnerV0 *runner, const SapRunnerV0Config *config)
{
    SapRunnerV0Policy policy;

    if (runner == NULL) {
        return SAP_ERROR;
    }
    *runner = (SapRunnerV0){.state = SAP_RUNNER_V0_STOPPED};
    if (config == NULL || config->db == NULL || config->worker_id < 0) {
        return SAP_ERROR;
    }
    sap_runner_v0_policy_default(&policy);
    if (config->policy != NULL && !policy_complete(config->policy, &policy)) {
        return SAP_ERROR;
    }
    bool own_version = config->schema_major == 0 && config->schema_minor == 0;
    int rc = sap_runner_v0_bootstrap_dbis(config->db);
    if (rc == SAP_OK) {
        rc = sap_runner_v0_ensure_schema_version(
            config->db, own_version ? WIT_RUNTIME_MAJOR : config->schema_major,
            own_version ? WIT_RUNTIME_MINOR : config->schema_minor,
            config->bootstrap_schema_if_missing);
    }
    if (rc == SAP_OK) {
        rc = lease_jump_tokens(config->db);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    struct SapRunnerV0Core *core = mem_zalloc(MEM_RUNNER, sizeof *core);
    if (core == NULL) {
        return SAP_NOMEM;
    }
    if (!mutex_init(&core->lock)) {
        mem_free(MEM_RUNNER, core, sizeof *core);
        return SAP_NOMEM;
    }
    core->policy = policy;
    core->time = config->time;
    core->random = config->random != NULL ? config->random : random_system_fill;
    core->random_ctx = config->random_ctx;
    core->random(&core->owner, sizeof core->owner, core->random_ctx);
    core->owner |= 1; /* 0 is nobody */
    core->next_sweep_ms = INT64_MIN;
    core->quiet_until_ms = INT64_MIN;
    transfer_join(&core->transfers, config->db);
    *runner = (SapRunnerV0){.state = SAP_RUNNER_V0_RUNNING,
                            .worker_id = config->worker_id,
                            .db = config->db,
                            .core = core};
    return SAP_OK;
}

int sap_runner_v0_shutdown(SapRunnerV0 *runner)
{
    if (runner == NULL || runner->core == NULL) {
        return SAP_OK;
    }
    int rc = durable_wait(runner->db, runner->core->last_lsn);
    transfer_leave(&runner->core->transfers);
    core_free(runner->core);
    *runner = (SapRunnerV0){.state = SAP_RUNNER_V0_STOPPED};
    return rc;
}

int64_t runner_now_ms(const SapRunnerV0 *runner)
{
    const SapRunnerV0TimeHooks *time = &runner->core->time;

    return time->now_ms != NULL ? time->now_ms(time->ctx) : clock_wall_ms(NULL);
}

/* ---- Counters and reports ------------------------------------------------------------------- */

SapRunnerV0Metrics *runner_metrics_lock(SapRunnerV0 *runner)
{
    mutex_lock(&runner->core->lock);
    return &runner->core->metrics;
}

void runner_metrics_unlock(SapRunnerV0 *runner)
{
    struct SapRunnerV0Core *core = runner->core;
    SapRunnerV0Metrics copy = core->metrics;

    mutex_unlock(&core->lock);
    if (core->metrics_sink != NULL) {
        core->metrics_sink(&copy, core->metrics_ctx);
    }
}

void sap_runner_v0_metrics_snapshot(SapRunnerV0 *runner, SapRunnerV0Metrics *metrics_out)
{
    if (runner != NULL && runner->core != NULL && metrics_out != NULL) {
        mutex_lock(&runner->core->lock);
        *metrics_out = runner->core->metrics;
        mutex_unlock(&runner->core->lock);
    }
}

void sap_runner_v0_metrics_reset(SapRunnerV0 *runner)
{
    if (runner != NULL && runner->core != NULL) {
        mutex_lock(&runner->core->lock);
        runner->core->metrics = (SapRunnerV0Metrics){0};
        mutex_unlock(&runner->core->lock);
    }
}

uint64_t sap_runner_v0_steps_completed(SapRunnerV0 *runner)
{
    uint64_t steps = 0;

    if (runner != NULL && runner->core != NULL) {
        mutex_lock(&runner->core->lock);
        steps = runner->core->steps_completed;
        mutex_unlock(&runner->core->lock);
    }
    return steps;
}

void sap_runner_v0_set_metrics_sink(SapRunnerV0 *runner, sap_runner_v0_metrics_sink sink, void *ctx)
{
    if (runner != NULL && runner->core != NULL) {
        runner->core->metrics_sink = sink;
        runner->core->metrics_ctx = ctx;
    }
}

void sap_runner_v0_set_log_sink(SapRunnerV0 *runner, sap_runner_v0_log_sink sink, void *ctx)
{
    if (runner != NULL && runner->core != NULL) {
        runner->core->log_sink = sink;
        runner->core->log_ctx = ctx;
    }
}

void sap_runner_v0_set_replay_hook(SapRunnerV0 *runner, sap_runner_v0_replay_hook hook, void *ctx)
{
    if (runner != NULL && runner->core != NULL) {
        runner->core->replay_hook = hook;
        runner->core->replay_ctx = ctx;
    }
}

/* The number by which people know the message: that of its timer, if it was one. */
static uint64_t known_seq(const SapRunnerV0Claim *claim)
{
    return claim->timer_seq != 0 ? claim->timer_seq : claim->seq;
}

void runner_log(SapRunnerV0 *runner, SapRunnerV0LogKind kind, const SapRunnerV0Claim *claim, int rc,
                uint32_t detail, uint64_t commit_latency_us)
{
    struct SapRunnerV0Core *core = runner->core;
    SapRunnerV0LogEvent event = {.kind = kind,
                                 .worker_id = runner->worker_id,
                                 .rc = rc,
                                 .detail = detail,
                                 .commit_latency_us = commit_latency_us};
    SapRunnerV0Message msg;

    if (core->log_sink == NULL) {
        return;
    }
    if (claim != NULL) {
        event.seq = known_seq(claim);
        event.attempt_id = claim->token;
        if (sap_runner_wire_v0_decode_message(claim->frame, claim->frame_len, &msg) == SAP_OK) {
            event.message_id = msg.message_id;
            event.message_id_len = msg.message_id_len;
            event.trace_id = msg.trace_id;
            event.trace_id_len = msg.trace_id_len;
        }
    }
    core->log_sink(&event, core->log_ctx);
}

void runner_replay(SapRunnerV0 *runner, SapRunnerV0ReplayKind kind, const SapRunnerV0Claim *claim,
                   int rc)
{
    struct SapRunnerV0Core *core = runner->core;

    if (core->replay_hook != NULL) {
        SapRunnerV0ReplayEvent event = {.kind = kind,
                                        .worker_id = runner->worker_id,
                                        .seq = known_seq(claim),
                                        .rc = rc,
                                        .frame = claim->frame,
                                        .frame_len = claim->frame_len};
        core->replay_hook(&event, core->replay_ctx);
    }
}

/* ---- Transactions of the runner's own ------------------------------------------------------- */

void runner_gate_enter(SapRunnerV0 *runner)
{
    if (runner->core->gate != NULL) {
        mutex_lock(runner->core->gate->mutex);
    }
}

void runner_gate_leave(SapRunnerV0 *runner)
{
    if (runner->core->gate != NULL) {
        mutex_unlock(runner->core->gate->mutex);
    }
}

int runner_begin(SapRunnerV0 *runner, Txn **txn_out)
{
    runner_gate_enter(runner);
    int rc = txn_begin_rc(runner->db, NULL, TXN_WAIT, txn_out);
    if (rc != SAP_OK) {
        runner_gate_leave(runner);
    }
    return rc;
}

void runner_committed(SapRunnerV0 *runner, uint64_t lsn, uint64_t latency_us)
{
    SapRunnerV0Metrics *metrics = runner_metrics_lock(runner);

    if (lsn > runner->core->last_lsn) {
        runner->core->last_lsn = lsn;
    }
    metrics->commits++;
    metrics->commit_latency_total_us += latency_us;
    if (latency_us > metrics->commit_latency_max_us) {
        metrics->commit_latency_max_us = latency_us;
    }
    mutex_unlock(&runner->core->lock);
}

int runner_commit(SapRunnerV0 *runner, Txn *txn, uint64_t started_ns, uint64_t *latency_us_out)
{
    uint64_t lsn = 0;
    int rc = txn_commit_async(txn, &lsn);
    uint64_t latency_us = (clock_mono_ns(NULL) - started_ns) / 1000;

    runner_gate_leave(runner);
    if (rc == SAP_OK) {
        runner_committed(runner, lsn, latency_us);
    }
    if (latency_us_out != NULL) {
        *latency_us_out = latency_us;
    }
    return rc;
}

void runner_abort(SapRunnerV0 *runner, Txn *txn)
{
    txn_abort(txn);
    runner_gate_leave(runner);
}

/* ---- Sending -------------------------------------------------------------------------------- */

/* A worker that is asleep begins while the sender waits for the disk. */
static int commit_and_ring(DB *db, Txn *txn, const BellNotes *notes, bool durable)
{
    uint64_t lsn = 0;

    if (durable && !bells_hang()) {
        return txn_commit(txn);
    }
    int rc = txn_commit_async(txn, &lsn);
    if (rc == SAP_OK) {
        bells_ring(db, notes);
    }
    return rc == SAP_OK && durable ? durable_wait(db, lsn) : rc;
}

int sap_runner_v0_send_many(SapEnv *db, const SapRunnerV0Message *msgs, uint32_t count,
                            uint64_t *first_seq_out)
{
    Buf frames = {0};
    RowNumbers numbers = {0};
    Txn *txn = NULL;
    uint64_t seq = 0;
    bool durable = false;
    BellNotes notes = {0};
    int rc = SAP_OK;

    if (db == NULL || msgs == NULL || count == 0) {
        return SAP_ERROR;
    }
    /* Encoded before the transaction: the writer lock is held for no longer than it takes to put
     * the rows. */
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        SapRunnerV0Message msg = msgs[i];
        if (msg.route_timestamp == 0) {
            msg.route_timestamp = clock_wall_ms(NULL);
        }
        durable = durable || (msg.flags & SAP_RUNNER_V0_DURABLE) != 0;
        bells_note(&notes, msg.to_worker);
        rc = wire_encode_buf(&msg, &frames);
    }
    if (rc == SAP_OK) {
        rc = txn_begin_rc(db, NULL, TXN_WAIT, &txn);
    }
    if (rc == SAP_OK) {
        rc = row_take_numbers(txn, "inbox", count, &numbers);
    }
    size_t at = 0;
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        uint32_t len = sap_runner_wire_v0_message_size(&msgs[i]);
        rc = mailbox_send_numbered(txn, &numbers, frames.data + at, len, i == 0 ? &seq : NULL);
        at += len;
    }
    buf_release(&frames);
    if (rc != SAP_OK) {
        txn_abort(txn);
        return rc;
    }
    rc = commit_and_ring(db, txn, &notes, durable);
    if (rc == SAP_OK && first_seq_out != NULL) {
        *first_seq_out = seq;
    }
    return rc;
}

int sap_runner_v0_send(SapEnv *db, const SapRunnerV0Message *msg, uint64_t *seq_out)
{
    return sap_runner_v0_send_many(db, msg, 1, seq_out);
}
