/* queue_look.c - what a queue holds, without claiming it; see queue.h. */
#include "runner/queue.h"

#include "common/buf.h"
#include "runner/dedupe_v0.h"
#include "runner/lease_v0.h"
#include "runner/mailbox_v0.h"
#include "runner/rows.h"
#include "runner/wire_v0.h"

#include <stdlib.h>
#include <string.h>

typedef struct Peek {
    int64_t worker;
    int64_t at_ms;
    int (*fn)(const SapQueueMessage *message, int leased, void *ctx);
    void *ctx;
} Peek;

/* Fills in what the frame says. Borrows from it. */
static void describe_frame(const SapRunnerV0Message *msg, SapQueueMessage *message)
{
    message->id = msg->message_id;
    message->id_len = msg->message_id_len;
    message->trace_id = msg->trace_id;
    message->trace_id_len = msg->trace_id_len;
    message->payload = msg->payload;
    message->payload_len = msg->payload_len;
    message->sent_ms = msg->route_timestamp;
}

/* Fills a message as it lies in the inbox. What is not a frame has no members but its number: a
 * claim will move it to the dead letters. */
static int describe(Txn *txn, const Peek *peek, const void *key, uint32_t key_len, const void *val,
                    uint32_t val_len, SapQueueMessage *message, bool *leased_out)
{
    SapRunnerV0Lease lease = {0};
    SapRunnerV0Message msg;
    uint64_t worker;

    *message = (SapQueueMessage){0};
    int rc = row_message_key_read(key, key_len, &worker, &message->seq);
    if (rc == SAP_OK) {
        rc = sap_runner_lease_v0_get(txn, key, key_len, &lease);
    }
    *leased_out = rc == SAP_OK && lease.deadline_ms > peek->at_ms;
    if (rc == SAP_NOTFOUND) {
        rc = SAP_OK;
    }
    if (rc != SAP_OK || sap_runner_wire_v0_decode_message(val, val_len, &msg) != 0) {
        return rc;
    }
    describe_frame(&msg, message);
    message->deadline_ms = lease.deadline_ms;
    if (lease.attempts > 0) {
        message->attempts = lease.attempts;
        return SAP_OK;
    }
    RowKey row = row_message_key(worker, message->seq);
    return dedupe_retries(txn, WIT_DBI_INBOX, &row, &message->attempts);
}

static int peek_in(Txn *txn, const Peek *peek)
{
    MailboxRange range = mailbox_range(peek->worker);
    Cursor *cur = cursor_open_dbi(txn, WIT_DBI_INBOX);

    if (cur == NULL) {
        return SAP_NOMEM;
    }
    int rc = cursor_seek(cur, range.lo, sizeof range.lo);
    while (rc == SAP_OK && cursor_in_prefix(cur, range.lo, 8)) {
        const void *key;
        const void *val;
        uint32_t key_len;
        uint32_t val_len;
        SapQueueMessage message;
        bool leased;

        rc = cursor_get(cur, &key, &key_len, &val, &val_len);
        if (rc == SAP_OK) {
            rc = describe(txn, peek, key, key_len, val, val_len, &message, &leased);
        }
        if (rc == SAP_OK) {
            int answer = peek->fn(&message, leased, peek->ctx);
            if (answer != 0) {
                cursor_close(cur);
                return answer;
            }
            rc = cursor_next(cur);
        }
    }
    cursor_close(cur);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* Calls fn for each timer that is a message of the worker, in the order of time, until it returns
 * non-zero, which is then returned. */
static int each_delayed(Txn *txn, int64_t worker,
                        int (*fn)(const SapQueueMessage *message, void *ctx), void *ctx)
{
    Cursor *cur = cursor_open_dbi(txn, WIT_DBI_TIMERS);
    int answer = 0;

    if (cur == NULL) {
        return SAP_NOMEM;
    }
    int rc = cursor_first(cur);
    while (rc == SAP_OK && answer == 0) {
        const void *key;
        const void *val;
        uint32_t key_len;
        uint32_t val_len;
        SapQueueMessage message = {0};
        SapRunnerV0Message msg;

        rc = cursor_get(cur, &key, &key_len, &val, &val_len);
        if (rc == SAP_OK && wire_check(val, val_len) == SAP_OK && wire_to_worker(val) == worker) {
            rc = row_decoded(wire_rc(sap_runner_wire_v0_decode_message(val, val_len, &msg)));
            if (rc == SAP_OK) {
                describe_frame(&msg, &message);
                rc = row_timer_key_read(key, key_len, &message.due_ms, &message.seq);
            }
            if (rc == SAP_OK) {
                RowKey row = row_timer_key(message.due_ms, message.seq);
                rc = dedupe_retries(txn, WIT_DBI_TIMERS, &row, &message.attempts);
                message.seq |= (msg.flags & SAP_RUNNER_V0_HIGH_PRIORITY) == 0 ? ROW_NORMAL_BIT : 0;
            }
            answer = rc == SAP_OK ? fn(&message, ctx) : 0;
        }
        if (rc == SAP_OK) {
            rc = cursor_next(cur);
        }
    }
    cursor_close(cur);
    return answer != 0 ? answer : rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int peek_delayed(const SapQueueMessage *message, void *ctx)
{
    const Peek *peek = ctx;

    return peek->fn(message, 0, peek->ctx);
}

int sap_queue_peek(SapQueue *queue,
                   int (*fn)(const SapQueueMessage *message, int leased, void *ctx), void *ctx)
{
    Txn *txn;

    if (queue == NULL || fn == NULL) {
        return SAP_ERROR;
    }
    int rc = txn_begin_rc(queue->db, NULL, TXN_RDONLY | TXN_NEWEST, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    Peek peek = {.worker = queue->worker, .at_ms = queue_now_ms(queue), .fn = fn, .ctx = ctx};
    rc = peek_in(txn, &peek);
    if (rc == SAP_OK) {
        rc = each_delayed(txn, queue->worker, peek_delayed, &peek);
    }
    txn_abort(txn);
    return rc;
}

static int first_that_waits(const SapQueueMessage *message, int leased, void *ctx)
{
    if (leased) {
        return 0;
    }
    *(int64_t *)ctx = message->sent_ms;
    return 1;
}

/* Leases whose time is not over. */
static int count_held(Txn *txn, int64_t worker, int64_t at_ms, uint64_t *count_out)
{
    MailboxRange range = mailbox_range(worker);
    Cursor *cur = cursor_open_dbi(txn, WIT_DBI_LEASES);

    *count_out = 0;
    if (cur == NULL) {
        return SAP_NOMEM;
    }
    int rc = cursor_seek(cur, range.lo, sizeof range.lo);
    while (rc == SAP_OK && cursor_in_prefix(cur, range.lo, 8)) {
        const void *val;
        uint32_t val_len;
        SapRunnerV0Lease lease;

        rc = cursor_get(cur, NULL, NULL, &val, &val_len);
        if (rc == SAP_OK) {
            rc = lease_decode(val, val_len, &lease);
        }
        if (rc == SAP_OK) {
            *count_out += lease.deadline_ms > at_ms;
            rc = cursor_next(cur);
        }
    }
    cursor_close(cur);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

typedef struct TimerCount {
    SapQueueStat *stat;
    int64_t at_ms;
    uint64_t due;         /* timers whose time has come: a claim takes them */
    int64_t first_due_ms; /* when the first of them was pushed */
} TimerCount;

static int count_timer(const SapQueueMessage *message, void *ctx)
{
    TimerCount *count = ctx;

    if (message->due_ms > count->at_ms) {
        count->stat->delayed++;
        count->stat->retrying += message->attempts > 0;
        return 0;
    }
    if (count->due == 0) {
        count->first_due_ms = message->sent_ms;
    }
    count->due++;
    return 0;
}

int queue_stat_of(Txn *txn, int64_t worker, int64_t at_ms, SapQueueStat *stat_out)
{
    MailboxRange range = mailbox_range(worker);
    SapQueueStat stat = {0};
    TimerCount timers = {.stat = &stat, .at_ms = at_ms};
    uint64_t count;
    int rc = sap_runner_mailbox_v0_stat(txn, worker, &count, NULL, NULL);

    if (rc == SAP_OK) {
        rc = count_held(txn, worker, at_ms, &stat.leased);
    }
    if (rc == SAP_OK) {
        stat.ready = count - stat.leased;
        rc = each_delayed(txn, worker, count_timer, &timers);
    }
    if (rc == SAP_OK) {
        rc = txn_count_range(txn, WIT_DBI_DEAD_LETTER, range.lo, sizeof range.lo, range.hi,
                             sizeof range.hi, &stat.dead_letters);
    }
    if (rc == SAP_OK && stat.ready > 0) {
        Peek peek = {
            .worker = worker, .at_ms = at_ms, .fn = first_that_waits, .ctx = &stat.oldest_ms};
        rc = peek_in(txn, &peek);
        rc = rc == 1 ? SAP_OK : rc;
    }
    if (rc == SAP_OK) {
        stat.oldest_ms = stat.ready > 0 ? stat.oldest_ms : timers.first_due_ms;
        stat.ready += timers.due;
        *stat_out = stat;
    }
    return rc;
}

int sap_queue_stat(SapQueue *queue, SapQueueStat *stat_out)
{
    Txn *txn;

    if (queue == NULL || stat_out == NULL) {
        return SAP_ERROR;
    }
    int rc = txn_begin_rc(queue->db, NULL, TXN_RDONLY | TXN_NEWEST, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = queue_stat_of(txn, queue->worker, queue_now_ms(queue), stat_out);
    txn_abort(txn);
    return rc;
}

/* ---- Workers -------------------------------------------------------------------------------- */

/* Numbers that no worker can have are left out. */
static int add_worker(Buf *workers, uint64_t worker)
{
    bool again = workers->len > 0 &&
                 memcmp(workers->data + workers->len - sizeof worker, &worker, sizeof worker) == 0;

    return again || worker > INT64_MAX ? SAP_OK : buf_append(workers, &worker, sizeof worker);
}

/* Those of a table whose keys begin with the worker: one step for each. */
static int add_workers(Txn *txn, uint32_t dbi, Buf *workers)
{
    Cursor *cur = NULL;
    int rc = row_cursor_open(txn, dbi, &cur);
    int at = rc == SAP_OK ? cursor_first(cur) : SAP_NOTFOUND;

    while (rc == SAP_OK && at == SAP_OK) {
        const void *key;
        uint32_t key_len;
        uint64_t worker = UINT64_MAX;
        uint64_t seq;

        rc = cursor_get(cur, &key, &key_len, NULL, NULL);
        rc = rc == SAP_OK ? row_message_key_read(key, key_len, &worker, &seq) : rc;
        rc = rc == SAP_OK ? add_worker(workers, worker) : rc;
        RowKey next = row_message_key(worker + 1, 0);
        at = worker < UINT64_MAX ? cursor_seek(cur, next.bytes, sizeof next.bytes) : SAP_NOTFOUND;
    }
    cursor_close(cur);
    return rc != SAP_OK ? rc : at == SAP_NOTFOUND ? SAP_OK : at;
}

static int add_workers_of_timers(Txn *txn, Buf *workers)
{
    Cursor *cur = NULL;
    int rc = row_cursor_open(txn, WIT_DBI_TIMERS, &cur);
    int at = rc == SAP_OK ? cursor_first(cur) : SAP_NOTFOUND;

    while (rc == SAP_OK && at == SAP_OK) {
        const void *val;
        uint32_t val_len;

        rc = cursor_get(cur, NULL, NULL, &val, &val_len);
        if (rc == SAP_OK && wire_check(val, val_len) == SAP_OK) {
            rc = add_worker(workers, (uint64_t)wire_to_worker(val));
        }
        at = cursor_next(cur);
    }
    cursor_close(cur);
    return rc != SAP_OK ? rc : at == SAP_NOTFOUND ? SAP_OK : at;
}

static int by_number(const void *a, const void *b)
{
    uint64_t left;
    uint64_t right;

    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return left < right ? -1 : left > right;
}

int queue_workers(Txn *txn, int (*fn)(uint64_t worker, void *ctx), void *ctx)
{
    Buf workers = {0};
    uint64_t worker = 0;
    int rc = add_workers(txn, WIT_DBI_INBOX, &workers);

    rc = rc == SAP_OK ? add_workers(txn, WIT_DBI_DEAD_LETTER, &workers) : rc;
    rc = rc == SAP_OK ? add_workers_of_timers(txn, &workers) : rc;
    if (rc == SAP_OK && workers.len > 0) {
        qsort(workers.data, workers.len / sizeof worker, sizeof worker, by_number);
    }
    for (size_t at = 0; at < workers.len && rc == SAP_OK; at += sizeof worker) {
        uint64_t before = worker;
        memcpy(&worker, workers.data + at, sizeof worker);
        rc = at == 0 || worker != before ? fn(worker, ctx) : SAP_OK;
    }
    buf_release(&workers);
    return rc;
}
