/* runner_v0.c - see runner_v0.h. */
#include "runner/runner_v0.h"

#include "common/assert.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/options.h"
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
            .retry_backoff_ms = MAILBOX_BACKOFF_MS,
            .retry_backoff_max_ms = MAILBOX_BACKOFF_MAX_MS,
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
    /* Where only one of the two was given, the default of the other follows it. */
    if (all.attempt_backoff_us > all.attempt_backoff_max_us) {
        if (given->attempt_backoff_us == 0) {
            all.attempt_backoff_us = all.attempt_backoff_max_us;
        } else if (given->attempt_backoff_max_us == 0) {
            all.attempt_backoff_max_us = all.attempt_backoff_us;
        }
    }
    bool backoff = mailbox_backoff_complete(given->retry_backoff_ms, given->retry_backoff_max_ms,
                                            &all.retry_backoff_ms, &all.retry_backoff_max_ms);
    *policy_out = all;
    return options_all_zero(given->reserved, sizeof given->reserved) && backoff &&
           all.lease_ttl_ms > 0 && all.attempt_backoff_us <= all.attempt_backoff_max_us;
}

int sap_runner_v0_set_policy(SapRunnerV0 *runner, const SapRunnerV0Policy *policy)
{
    SapRunnerV0Policy all;

    if (!runner_usable(runner) || policy == NULL || !policy_complete(policy, &all)) {
        return SAP_ERROR;
    }
    runner->core->policy = all;
    return SAP_OK;
}

/* ---- Tables and their version --------------------------------------------------------------- */

_Static_assert(WIT_RUNTIME_DBI_BASE == 0, "DBI 0, which every file has, is the runtime's");

#define KEY_PREFIX "runner." /* of the keys in DBI 0 that are not the application's */

static unsigned table_flags(uint32_t dbi)
{
    return dbi == WIT_DBI_DEDUPE_TTL ? DBI_TTL_META : 0;
}

/* SAP_OK: the runner has written to the DB, its marker or a high-water mark. SAP_NOTFOUND: it has
 * not. */
static int check_runner_rows(Txn *txn)
{
    Cursor *cur = cursor_open(txn);
    int rc = cur == NULL ? SAP_NOMEM : cursor_seek(cur, KEY_PREFIX, sizeof KEY_PREFIX - 1);

    if (rc == SAP_OK && !cursor_in_prefix(cur, KEY_PREFIX, sizeof KEY_PREFIX - 1)) {
        rc = SAP_NOTFOUND;
    }
    cursor_close(cur);
    return rc;
}

/* Checks that the table is missing or as the runner makes it; with `foreign`, also that it has no
 * row. */
static int check_table(Txn *txn, uint32_t dbi, bool foreign)
{
    SapDbiInfo info;
    SapStat stat;
    int rc = dbi_info(sap_txn_env(txn), dbi, &info);

    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    if (info.flags != table_flags(dbi)) {
        return SAP_ERROR;
    }
    rc = dbi_stat(txn, dbi, &stat);
    return rc == SAP_OK && foreign && stat.num_entries > 0 ? SAP_EXISTS : rc;
}

static int refuse_store(Txn *txn)
{
    bool store = false;
    int rc = row_find_store(txn, &store);

    return rc == SAP_OK && store ? SAP_EXISTS : rc;
}

/* Rows of tables 1 to 7 are the runner's, or there are none; DBI 0 is the application's too, but not
 * where the file is a store's. Nothing is changed before that is known. */
static int check_tables(SapEnv *db)
{
    Txn *txn;
    int rc = txn_begin_rc(db, NULL, TXN_RDONLY | TXN_NEWEST, &txn);

    if (rc != SAP_OK) {
        return rc;
    }
    rc = check_runner_rows(txn);
    bool foreign = rc == SAP_NOTFOUND;
    rc = foreign ? refuse_store(txn) : rc;
    for (uint32_t dbi = 1; dbi < WIT_RUNTIME_DBI_COUNT && rc == SAP_OK; dbi++) {
        rc = check_table(txn, dbi, foreign);
    }
    txn_abort(txn);
    return rc;
}

int sap_runner_v0_bootstrap_dbis(SapEnv *db)
{
    if (db == NULL) {
        return SAP_ERROR;
    }
    int rc = check_tables(db);
    /* Tables of other packages are for those who own them to open. DBI 0 is there from the
     * start. */
    for (uint32_t dbi = 1; dbi < WIT_RUNTIME_DBI_COUNT && rc == SAP_OK; dbi++) {
        rc = dbi_open(db, dbi, NULL, NULL, table_flags(dbi));
    }
    return rc;
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
    /* This is used for jitter and for ids of lease owners only. */
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

OPTIONS_LAYOUT(SapRunnerV0Config, random_ctx, random_ctx);

int sap_runner_v0_init(SapRunnerV0 *runner, const SapRunnerV0Config *given)
{
    SapRunnerV0Config known;
    const SapRunnerV0Config *config = &known;
    SapRunnerV0Policy policy;

    if (runner == NULL) {
        return SAP_ERROR;
    }
    *runner = (SapRunnerV0){.state = SAP_RUNNER_V0_STOPPED};
    if (OPTIONS_READ(SapRunnerV0Config, &known, given) != SAP_OK || config->db == NULL ||
        config->worker_id < 0) {
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
    rc = transfer_join(&core->transfers, config->db);
    if (rc != SAP_OK) {
        core_free(core);
        return rc;
    }
    *runner = (SapRunnerV0){.state = SAP_RUNNER_V0_RUNNING,
                            .worker_id = config->worker_id,
                            .db = config->db,
                            .core = core};
    return SAP_OK;
}

bool runner_take(SapRunnerV0 *runner)
{
    uint32_t nobody = 0;

    return atomic_cas_full(&runner->core->taken, &nobody, 1);
}

void runner_give(SapRunnerV0 *runner)
{
    SAP_ASSERT(atomic_load_relaxed(&runner->core->taken) == 1);
    atomic_store_release(&runner->core->taken, 0);
}

int sap_runner_v0_shutdown(SapRunnerV0 *runner)
{
    if (runner == NULL || runner->core == NULL) {
        return SAP_OK;
    }
    if (env_is_foreign(runner->db)) {
        /* Lists of this process lead to the core, and it may have been copied at any moment. */
        *runner = (SapRunnerV0){.state = SAP_RUNNER_V0_STOPPED};
        return SAP_OK;
    }
    if (!runner_take(runner)) {
        return SAP_BUSY;
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

    if (core->metrics_sink == NULL) {
        mutex_unlock(&core->lock);
        return;
    }
    SapRunnerV0Metrics copy = core->metrics;
    mutex_unlock(&core->lock);
    core->metrics_sink(&copy, core->metrics_ctx);
}

void runner_queue_seen(SapRunnerV0 *runner, uint64_t depth, uint64_t age_ms)
{
    SapRunnerV0Metrics *metrics = runner_metrics_lock(runner);

    if (metrics->queue_depth == depth && metrics->queue_age_ms == age_ms) {
        mutex_unlock(&runner->core->lock);
        return;
    }
    metrics->queue_depth = depth;
    metrics->queue_age_ms = age_ms;
    runner_metrics_unlock(runner);
}

void sap_runner_v0_metrics_snapshot(SapRunnerV0 *runner, SapRunnerV0Metrics *metrics_out)
{
    if (runner_usable(runner) && metrics_out != NULL) {
        mutex_lock(&runner->core->lock);
        *metrics_out = runner->core->metrics;
        mutex_unlock(&runner->core->lock);
    }
}

void sap_runner_v0_metrics_reset(SapRunnerV0 *runner)
{
    if (runner_usable(runner)) {
        SapRunnerV0Metrics *metrics = runner_metrics_lock(runner);
        *metrics = (SapRunnerV0Metrics){.queue_depth = metrics->queue_depth,
                                        .queue_age_ms = metrics->queue_age_ms};
        runner->core->fresh = (RunnerCommits){0};
        runner->core->lagging = (RunnerCommits){0};
        mutex_unlock(&runner->core->lock);
    }
}

uint64_t sap_runner_v0_steps_completed(SapRunnerV0 *runner)
{
    uint64_t steps = 0;

    if (runner_usable(runner)) {
        mutex_lock(&runner->core->lock);
        steps = runner->core->steps_completed;
        mutex_unlock(&runner->core->lock);
    }
    return steps;
}

void sap_runner_v0_set_metrics_sink(SapRunnerV0 *runner, sap_runner_v0_metrics_sink sink, void *ctx)
{
    if (runner_usable(runner)) {
        runner->core->metrics_sink = sink;
        runner->core->metrics_ctx = ctx;
    }
}

void sap_runner_v0_set_log_sink(SapRunnerV0 *runner, sap_runner_v0_log_sink sink, void *ctx)
{
    if (runner_usable(runner)) {
        runner->core->reports.log = sink;
        runner->core->reports.log_ctx = ctx;
    }
}

void sap_runner_v0_set_replay_hook(SapRunnerV0 *runner, sap_runner_v0_replay_hook hook, void *ctx)
{
    if (runner_usable(runner)) {
        runner->core->reports.replay = hook;
        runner->core->reports.replay_ctx = ctx;
    }
}

void runner_log(SapRunnerV0 *runner, SapRunnerV0LogKind kind, const SapRunnerV0Claim *claim, int rc,
                uint32_t detail, uint64_t commit_latency_us)
{
    SapRunnerV0LogEvent event = {.kind = kind,
                                 .worker_id = runner->worker_id,
                                 .rc = rc,
                                 .detail = detail,
                                 .commit_latency_us = commit_latency_us};

    reports_log(&runner->core->reports, event, claim);
}

void runner_replay(SapRunnerV0 *runner, SapRunnerV0ReplayKind kind, const SapRunnerV0Claim *claim,
                   int rc)
{
    reports_replay(&runner->core->reports, kind, claim, rc);
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

void runner_relies_on(SapRunnerV0 *runner, uint64_t lsn)
{
    if (lsn > runner->core->last_lsn) {
        runner->core->last_lsn = lsn;
    }
}

void runner_committed(SapRunnerV0 *runner, uint64_t lsn, uint64_t latency_us)
{
    SapRunnerV0Metrics *metrics = runner_metrics_lock(runner);
    RunnerCommits *fresh = &runner->core->fresh;

    runner_relies_on(runner, lsn);
    fresh->count++;
    fresh->longest_us = latency_us > fresh->longest_us ? latency_us : fresh->longest_us;
    metrics->commits++;
    metrics->commit_latency_total_us += latency_us;
    if (latency_us > metrics->commit_latency_max_us) {
        metrics->commit_latency_max_us = latency_us;
    }
    runner_metrics_unlock(runner);
}

/* Waits up to `lsn`, which commits of `lagging` were for, and those of `fresh` with `all`. */
static int wait_for(SapRunnerV0 *runner, uint64_t lsn, bool all)
{
    struct SapRunnerV0Core *core = runner->core;
    uint64_t started_ns = clock_mono_ns(NULL);
    int rc = durable_wait(runner->db, lsn);
    uint64_t waited_us = (clock_mono_ns(NULL) - started_ns) / 1000;
    SapRunnerV0Metrics *metrics = runner_metrics_lock(runner);
    RunnerCommits commits = core->lagging;

    if (all && core->fresh.longest_us > commits.longest_us) {
        commits.longest_us = core->fresh.longest_us;
    }
    commits.count += all ? core->fresh.count : 0;
    static const RunnerCommits none;
    core->lagging = all ? none : core->fresh;
    core->lagging_lsn = all ? 0 : core->last_lsn;
    core->fresh = (RunnerCommits){0};
    if (commits.count == 0 || waited_us == 0) {
        mutex_unlock(&core->lock);
        return rc;
    }
    metrics->commit_latency_total_us += commits.count * waited_us;
    if (commits.longest_us + waited_us > metrics->commit_latency_max_us) {
        metrics->commit_latency_max_us = commits.longest_us + waited_us;
    }
    runner_metrics_unlock(runner);
    return rc;
}

int runner_wait_last(SapRunnerV0 *runner)
{
    return wait_for(runner, runner->core->last_lsn, true);
}

int runner_wait_lagging(SapRunnerV0 *runner)
{
    return wait_for(runner, runner->core->lagging_lsn, false);
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
