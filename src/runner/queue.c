/* queue.c - see queue.h. */
#include "runner/queue.h"

#include "common/assert.h"
#include "common/buf.h"
#include "common/bytes.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/options.h"
#include "common/random.h"
#include "runner/lease_v0.h"
#include "runner/mailbox_v0.h"
#include "runner/rows.h"
#include "runner/wire_v0.h"
#include "sapling/open_error.h"
#include "wit_runtime.h"

#include <stdio.h>
#include <string.h>

enum {
    LEASE_MS = 30000,
    NAME_MAX_LEN = 255,
    ID_LEN = 16,
    SWEEP_PER_ACK = 2, /* more than one: ids go faster than they come */
};

#define NAME_PREFIX     "queue.name."
#define NAME_PREFIX_LEN ((uint32_t)sizeof NAME_PREFIX - 1)

int64_t queue_now_ms(const SapQueue *queue)
{
    return queue->time.now_ms != NULL ? queue->time.now_ms(queue->time.ctx) : clock_wall_ms(NULL);
}

int64_t queue_later(int64_t at_ms, int64_t by_ms)
{
    return at_ms > INT64_MAX - by_ms ? INT64_MAX : at_ms + by_ms;
}

int queue_end(Txn *txn, int rc, bool wait)
{
    if (rc != SAP_OK) {
        txn_abort(txn);
        return rc;
    }
    return wait ? txn_commit(txn) : txn_commit_async(txn, NULL);
}

/* ---- Open and close ------------------------------------------------------------------------- */

/* SAP_EXISTS: a row that no queue has written. */
static int decode_worker(const void *val, uint32_t val_len, int64_t *worker_out)
{
    WitRuntimeQueueName row;
    int rc = wit_runtime_queue_name_decode(val, val_len, &row, NULL);

    if (rc == SAP_OK) {
        *worker_out = (int64_t)row.worker;
    }
    return rc == SAP_INVALID ? SAP_EXISTS : rc;
}

static int find_name(Txn *txn, const char *key, int64_t *worker_out)
{
    const void *val;
    uint32_t val_len;
    int rc = txn_get(txn, key, (uint32_t)strlen(key), &val, &val_len);

    return rc == SAP_OK ? decode_worker(val, val_len, worker_out) : rc;
}

static int add_name(Txn *txn, const char *key, int64_t *worker_out)
{
    uint8_t bytes[8];
    Buf buf = buf_in(bytes, sizeof bytes);
    uint64_t number;
    int rc = row_take_number(txn, "queues", NULL, &number);

    if (rc != SAP_OK) {
        return rc;
    }
    if (number > INT64_MAX - (uint64_t)QUEUE_WORKERS) {
        return SAP_FULL;
    }
    WitRuntimeQueueName row = {(uint64_t)QUEUE_WORKERS + number};
    rc = wit_runtime_queue_name_encode(&row, &buf, NULL);
    SAP_ASSERT(rc == SAP_OK && buf.data == bytes);
    rc = txn_put(txn, key, (uint32_t)strlen(key), bytes, (uint32_t)buf.len);
    if (rc == SAP_OK) {
        *worker_out = (int64_t)row.worker;
    }
    return rc;
}

/* The worker of the name, which gets one if it has none. */
static int worker_of_name(SapEnv *db, const char *name, int64_t *worker_out)
{
    char key[sizeof NAME_PREFIX + NAME_MAX_LEN];
    Txn *txn;

    (void)snprintf(key, sizeof key, "%s%s", NAME_PREFIX, name);
    int rc = txn_begin_rc(db, NULL, TXN_RDONLY, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = find_name(txn, key, worker_out);
    txn_abort(txn);
    if (rc != SAP_NOTFOUND) {
        return rc;
    }
    rc = txn_begin_rc(db, NULL, TXN_WAIT, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    int64_t worker = 0;
    rc = find_name(txn, key, &worker);
    if (rc == SAP_NOTFOUND) {
        rc = add_name(txn, key, &worker);
    }
    if (rc != SAP_OK) {
        txn_abort(txn);
        return rc;
    }
    /* Also where the row is there: it may not be durable yet. */
    rc = txn_commit(txn);
    if (rc == SAP_OK) {
        *worker_out = worker;
    }
    return rc;
}

/* Lists the row under the cursor, whose key is prefix and name; skips one that no queue has
 * written. */
static int list_row(Cursor *cur, int (*fn)(const char *name, int64_t worker, void *ctx), void *ctx)
{
    char name[NAME_MAX_LEN + 1];
    const void *key;
    const void *val;
    uint32_t key_len;
    uint32_t val_len;
    int64_t worker;
    int rc = cursor_get(cur, &key, &key_len, &val, &val_len);

    if (rc == SAP_OK) {
        rc = decode_worker(val, val_len, &worker);
    }
    if (rc != SAP_OK) {
        return rc == SAP_EXISTS ? SAP_OK : rc;
    }
    uint32_t name_len = key_len - NAME_PREFIX_LEN;
    if (name_len == 0 || name_len > NAME_MAX_LEN) {
        return SAP_OK;
    }
    memcpy(name, (const char *)key + NAME_PREFIX_LEN, name_len);
    name[name_len] = '\0';
    return fn(name, worker, ctx);
}

int sap_queue_list(SapEnv *db, int (*fn)(const char *name, int64_t worker, void *ctx), void *ctx)
{
    SapDbiInfo info;
    Txn *txn;

    if (db == NULL || fn == NULL) {
        return SAP_ERROR;
    }
    /* Without the last of the runner's tables, keys of that prefix are somebody else's. */
    int rc = dbi_info(db, WIT_DBI_DEDUPE_TTL, &info);
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    rc = txn_begin_rc(db, NULL, TXN_RDONLY, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    Cursor *cur = cursor_open(txn);
    int at = cur == NULL ? SAP_NOMEM : cursor_seek(cur, NAME_PREFIX, NAME_PREFIX_LEN);
    while (at == SAP_OK && rc == SAP_OK && cursor_in_prefix(cur, NAME_PREFIX, NAME_PREFIX_LEN)) {
        rc = list_row(cur, fn, ctx);
        at = cursor_next(cur);
    }
    cursor_close(cur);
    txn_abort(txn);
    return rc == SAP_OK && at != SAP_NOTFOUND ? at : rc;
}

/* All but the tables and the name. */
static int make(SapEnv *db, const SapQueueOptions *options, SapQueue **queue_out)
{
    uint64_t random[2];
    SapQueue *queue = mem_zalloc(MEM_RUNNER, sizeof *queue);

    if (queue == NULL) {
        return SAP_NOMEM;
    }
    int rc = random_fill(NULL, random, sizeof random);
    if (rc != SAP_OK) {
        goto free_queue;
    }
    *queue = (SapQueue){
        .quiet_until_ms = INT64_MIN,
        .db = db,
        .owner = random[0] | 1,
        .id_prefix = random[1],
        .lease_ms = options->lease_ms > 0 ? options->lease_ms : LEASE_MS,
        .retry_budget_max =
            options->retry_budget_max > 0 ? options->retry_budget_max : MAILBOX_RETRY_BUDGET,
        .time = options->time,
        .reports = {options->log, options->log_ctx, options->replay, options->replay_ctx},
    };
    if (!mailbox_backoff_complete(options->retry_backoff_ms, options->retry_backoff_max_ms,
                                  &queue->retry_backoff_ms, &queue->retry_backoff_max_ms)) {
        rc = SAP_ERROR;
        goto free_queue;
    }
    rc = SAP_NOMEM;
    if (!mutex_init(&queue->lock)) {
        goto free_queue;
    }
    if (!cond_init(&queue->rung)) {
        goto destroy_lock;
    }
    *queue_out = queue;
    return SAP_OK;

destroy_lock:
    mutex_destroy(&queue->lock);
free_queue:
    mem_free(MEM_RUNNER, queue, sizeof *queue);
    return rc;
}

static void unmake(SapQueue *queue)
{
    cond_destroy(&queue->rung);
    mutex_destroy(&queue->lock);
    mem_free(MEM_RUNNER, queue, sizeof *queue);
}

OPTIONS_LAYOUT(SapQueueOptions, time, replay_ctx);

/* Explains a code of opening a queue in an open DB. */
static const char *open_refusal(int rc)
{
    switch (rc) {
    case SAP_ERROR:
        return "the DB or the name is missing, the name is longer than 255 bytes, or the DB is "
               "another process's";
    case SAP_CONFLICT:
        return "the DB has another version of the queue's tables";
    case SAP_EXISTS:
        return "the DB is a store's file or has rows of another program in tables 1 to 7, or a row of "
               "the queue's name that no queue has written";
    case SAP_BUSY:
        return "the queue's tables cannot be opened while a transaction is open";
    default:
        return sap_strerror(rc);
    }
}

static int open_queue(SapEnv *db, const SapQueueOptions *options, SapQueue **queue_out)
{
    SapQueueOptions known;
    SapQueue *queue = NULL;

    if (OPTIONS_READ(SapQueueOptions, &known, options) != SAP_OK) {
        return SAP_ERROR;
    }
    const char *name = known.name != NULL ? known.name : "default";
    if (!env_usable(db) || queue_out == NULL || name[0] == '\0' || strlen(name) > NAME_MAX_LEN) {
        return SAP_ERROR;
    }
    int rc = make(db, &known, &queue);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = sap_runner_v0_bootstrap_dbis(db);
    if (rc == SAP_OK) {
        rc = sap_runner_v0_ensure_schema_version(db, WIT_RUNTIME_MAJOR, WIT_RUNTIME_MINOR, 1);
    }
    if (rc == SAP_OK) {
        rc = lease_jump_tokens(db);
    }
    if (rc == SAP_OK) {
        rc = worker_of_name(db, name, &queue->worker);
    }
    if (rc != SAP_OK) {
        unmake(queue);
        return rc;
    }
    *queue_out = queue;
    return SAP_OK;
}

int sap_queue_open_db(SapEnv *db, const SapQueueOptions *options, SapQueue **queue_out)
{
    open_error_clear();
    bool listening = open_error_listen(true);
    int rc = open_queue(db, options, queue_out);
    (void)open_error_listen(listening);
    bool of_disk = rc == SAP_FULL || rc == SAP_IO || rc == SAP_CORRUPT;
    if (rc == SAP_OK) {
        open_error_clear();
    } else if (!of_disk || sap_open_error()[0] == '\0') { /* else the DB has said it better */
        open_error_set(open_refusal(rc));
    }
    return rc;
}

int sap_queue_open(const char *path, const SapQueueOptions *options, SapQueue **queue_out)
{
    SapQueueOptions known;
    SapEnv *db = NULL;

    if (path == NULL || queue_out == NULL ||
        OPTIONS_READ(SapQueueOptions, &known, options) != SAP_OK) {
        open_error_set("the path is missing, or the options are of an unknown size");
        return SAP_ERROR;
    }
    int rc = db_open_path(path, known.file, &db);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = sap_queue_open_db(db, &known, queue_out);
    if (rc != SAP_OK) {
        (void)db_close(db);
        return rc;
    }
    (*queue_out)->owns_db = true;
    return SAP_OK;
}

int sap_queue_close(SapQueue *queue)
{
    if (queue == NULL) {
        return SAP_OK;
    }
    if (env_is_foreign(queue->db)) {
        /* Threads that wait here are the other process's: destroying the condition would wait. */
        int closed = queue->owns_db ? db_close(queue->db) : SAP_OK;
        mem_free(MEM_RUNNER, queue, sizeof *queue);
        return closed;
    }
    queue_wake_and_wait(queue);
    int rc = queue_stop_watching(queue);
    if (rc == SAP_OK && queue->owns_db) {
        rc = db_close(queue->db);
    }
    if (rc == SAP_BUSY) {
        queue->closing = false;
        return rc;
    }
    unmake(queue);
    return rc;
}

SapEnv *sap_queue_db(SapQueue *queue)
{
    return queue != NULL ? queue->db : NULL;
}

int64_t sap_queue_worker(SapQueue *queue)
{
    return queue != NULL ? queue->worker : -1;
}

/* ---- Push ----------------------------------------------------------------------------------- */

OPTIONS_LAYOUT(SapQueuePushOptions, seqs, seqs);

/* Reads what was given to a push. False: it makes no sense. */
static bool push_options_read(const SapQueuePushOptions *given, SapQueuePushOptions *options)
{
    return OPTIONS_READ(SapQueuePushOptions, options, given) == SAP_OK &&
           (options->id != NULL ? options->id_len > 0 : options->id_len == 0) &&
           (options->trace_id != NULL || options->trace_id_len == 0) && options->delay_ms >= 0;
}

static uint8_t push_flags(const SapQueuePushOptions *options)
{
    unsigned flags = options->no_wait ? 0 : SAP_RUNNER_V0_DURABLE;

    flags |= options->trace_id != NULL ? SAP_RUNNER_V0_HAS_TRACE : 0;
    flags |= options->dedupe ? SAP_RUNNER_V0_DEDUPE : 0;
    flags |= options->high_priority ? SAP_RUNNER_V0_HIGH_PRIORITY : 0;
    return (uint8_t)flags;
}

/* Encodes the message into `frame`, replacing what was there. */
static int encode(SapQueue *queue, const void *payload, uint32_t len,
                  const SapQueuePushOptions *options, int64_t at_ms, Buf *frame)
{
    uint8_t id[ID_LEN];
    SapRunnerV0Message msg = {.kind = SAP_RUNNER_V0_COMMAND,
                              .flags = push_flags(options),
                              .to_worker = queue->worker,
                              .route_worker = queue->worker,
                              .route_timestamp = at_ms,
                              .message_id = options->id,
                              .message_id_len = options->id_len,
                              .trace_id = options->trace_id,
                              .trace_id_len = options->trace_id_len,
                              .payload = payload,
                              .payload_len = len};

    if (options->id == NULL) {
        store_u64be(id, queue->id_prefix);
        store_u64be(id + 8, relaxed_add(&queue->id_next, 1));
        msg.message_id = id;
        msg.message_id_len = sizeof id;
    }
    buf_clear(frame);
    int rc = wire_encode_buf(&msg, frame);
    /* Everything else about it is in order. */
    return rc == SAP_INVALID ? SAP_FULL : rc;
}

static int put(Txn *txn, RowNumbers *numbers, const Buf *frame, int64_t at_ms, int64_t delay_ms,
               uint64_t *seq_out)
{
    return delay_ms > 0
               ? sap_runner_timer_v0_append(txn, queue_later(at_ms, delay_ms), frame->data,
                                            (uint32_t)frame->len, seq_out)
               : mailbox_send_numbered(txn, numbers, frame->data, (uint32_t)frame->len, seq_out);
}

int sap_queue_push_many(SapQueue *queue, const void *const *payloads, const uint32_t *lens,
                        uint32_t count, const SapQueuePushOptions *given)
{
    SapQueuePushOptions known;
    const SapQueuePushOptions *options = &known;
    Buf frame = {0};
    RowNumbers numbers = {0};
    Txn *txn = NULL;

    if (!queue_usable(queue) || (count > 0 && (payloads == NULL || lens == NULL)) ||
        !push_options_read(given, &known) || (options->id != NULL && count > 1)) {
        return SAP_ERROR;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (payloads[i] == NULL && lens[i] > 0) {
            return SAP_ERROR;
        }
    }
    int64_t at_ms = queue_now_ms(queue);
    int rc = txn_begin_rc(queue->db, NULL, TXN_WAIT, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    if (options->delay_ms <= 0 && count > 0) {
        rc = row_take_numbers(txn, "inbox", count, &numbers);
    }
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        rc = encode(queue, payloads[i], lens[i], options, at_ms, &frame);
        if (rc == SAP_OK) {
            rc = put(txn, &numbers, &frame, at_ms, options->delay_ms,
                     options->seqs != NULL ? &options->seqs[i] : NULL);
        }
    }
    buf_release(&frame);
    return queue_end(txn, rc, !options->no_wait);
}

int sap_queue_push(SapQueue *queue, const void *payload, uint32_t len,
                   const SapQueuePushOptions *given, uint64_t *seq_out)
{
    SapQueuePushOptions known;
    const SapQueuePushOptions *options = &known;
    Buf frame = {0};
    Txn *txn = NULL;
    uint64_t seq = 0;

    if (!queue_usable(queue) || (payload == NULL && len > 0) || !push_options_read(given, &known)) {
        return SAP_ERROR;
    }
    /* Encoded before the writer lock is taken: others need not wait for that. */
    int64_t at_ms = queue_now_ms(queue);
    int rc = encode(queue, payload, len, options, at_ms, &frame);
    if (rc == SAP_OK) {
        rc = txn_begin_rc(queue->db, NULL, TXN_WAIT, &txn);
    }
    if (rc == SAP_OK) {
        rc = queue_end(txn, put(txn, NULL, &frame, at_ms, options->delay_ms, &seq),
                       !options->no_wait);
    }
    buf_release(&frame);
    if (rc == SAP_OK && seq_out != NULL) {
        *seq_out = seq;
    }
    return rc;
}

/* ---- What becomes of a claim ---------------------------------------------------------------- */

void sap_queue_release(SapQueue *queue, SapQueueMessage *message)
{
    (void)queue;
    if (message != NULL) {
        sap_runner_v0_claim_release(&message->claim);
        mem_free(MEM_RUNNER, message, sizeof *message);
    }
}

int sap_queue_touch(SapQueue *queue, SapQueueMessage *message, uint32_t lease_ms)
{
    Txn *txn;

    if (queue == NULL || message == NULL) {
        return SAP_ERROR;
    }
    SapRunnerV0Claim claim = message->claim;
    int rc = txn_begin_rc(queue->db, NULL, TXN_WAIT | TXN_DRAIN, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    int64_t at_ms = queue_now_ms(queue); /* the lease lasts from now, however long others wrote */
    rc = sap_runner_mailbox_v0_touch(txn, &claim, at_ms, lease_ms > 0 ? lease_ms : queue->lease_ms);
    /* A renewal that a crash takes back is a lease that expires: nobody need wait for the disk. */
    rc = queue_end(txn, rc, false);
    if (rc == SAP_OK) {
        message->claim.deadline_ms = claim.deadline_ms;
        message->deadline_ms = claim.deadline_ms;
        queue_lease_until(queue, at_ms, claim.deadline_ms);
    }
    return rc;
}

/* Ids that are remembered make room for themselves: nobody else need sweep. */
static int ack_one(Txn *txn, const SapQueueMessage *message, int64_t at_ms)
{
    int rc = sap_runner_mailbox_v0_ack(txn, &message->claim, at_ms, 0);

    if (rc == SAP_OK && (wire_flags(message->claim.frame) & SAP_RUNNER_V0_DEDUPE) != 0) {
        uint64_t removed;
        rc = sap_runner_dedupe_v0_sweep(txn, at_ms, SWEEP_PER_ACK, &removed);
    }
    return rc;
}

int sap_queue_ack_many(SapQueue *queue, SapQueueMessage **messages, uint32_t count)
{
    Txn *txn = NULL;
    bool lost = false;
    int rc = SAP_OK;

    if (messages == NULL && count > 0) {
        return SAP_ERROR;
    }
    rc = queue == NULL ? SAP_ERROR : SAP_OK;
    for (uint32_t i = 0; i < count; i++) {
        rc = messages[i] == NULL ? SAP_ERROR : rc;
    }
    if (rc == SAP_OK && count > 0) {
        rc = txn_begin_rc(queue->db, NULL, TXN_WAIT | TXN_DRAIN, &txn);
    }
    if (txn != NULL) {
        int64_t at_ms = queue_now_ms(queue);
        for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
            rc = ack_one(txn, messages[i], at_ms);
            if (rc == SAP_CONFLICT) {
                lost = true;
                rc = SAP_OK;
            }
        }
        rc = queue_end(txn, rc, true);
    }
    for (uint32_t i = 0; i < count; i++) {
        sap_queue_release(queue, messages[i]);
    }
    return rc == SAP_OK && lost ? SAP_CONFLICT : rc;
}

int sap_queue_ack(SapQueue *queue, SapQueueMessage *message)
{
    return sap_queue_ack_many(queue, &message, 1);
}

static int64_t backoff_ms(const SapQueue *queue, uint32_t failed)
{
    uint32_t dice = 0;

    if (queue->retry_backoff_ms > 0 && random_fill(NULL, &dice, sizeof dice) != SAP_OK) {
        dice = 0; /* jitter is a courtesy: without it retries are only less spread */
    }
    return mailbox_backoff_ms(queue->retry_backoff_ms, queue->retry_backoff_max_ms, failed, dice);
}

static void report_failed(const SapQueue *queue, const SapRunnerV0Claim *claim, int rc, bool dead)
{
    SapRunnerV0LogEvent event = {.kind = dead ? SAP_RUNNER_V0_LOG_DEAD_LETTERED
                                              : SAP_RUNNER_V0_LOG_REQUEUED,
                                 .rc = rc,
                                 .detail = claim->attempts};

    reports_replay(&queue->reports,
                   dead ? SAP_RUNNER_V0_REPLAY_DEAD_LETTER : SAP_RUNNER_V0_REPLAY_REQUEUE, claim,
                   rc);
    reports_log(&queue->reports, event, claim);
}

int sap_queue_fail(SapQueue *queue, SapQueueMessage *message, int rc, int64_t delay_ms)
{
    return queue_fail(queue, message, rc, delay_ms, 0);
}

int queue_fail(SapQueue *queue, SapQueueMessage *message, int rc, int64_t delay_ms, uint32_t budget)
{
    Txn *txn;

    if (queue == NULL || message == NULL) {
        sap_queue_release(queue, message);
        return SAP_ERROR;
    }
    const SapRunnerV0Claim *claim = &message->claim;
    bool dead = claim->attempts >= (budget > 0 ? budget : queue->retry_budget_max);
    int done = txn_begin_rc(queue->db, NULL, TXN_WAIT | TXN_DRAIN, &txn);
    if (done == SAP_OK) {
        if (dead) {
            done = sap_runner_dead_letter_v0_move(txn, claim, rc);
        } else {
            int64_t wait_ms = delay_ms != 0 ? delay_ms : backoff_ms(queue, claim->attempts);
            done = mailbox_retry(txn, claim, MAILBOX_REQUEUE_SLOTS, queue_now_ms(queue), wait_ms);
        }
        done = queue_end(txn, done, true);
    }
    if (done == SAP_OK) {
        report_failed(queue, claim, rc, dead);
    }
    sap_queue_release(queue, message);
    return done;
}
