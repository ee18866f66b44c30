/* queue.c - the queue over Sapling.
 *
 * A transaction puts and takes BATCH messages. Commits are asynchronous, but every SYNC_EVERY-th
 * waits until it is durable, and so all before it: the work is that of a durable queue, without
 * its waiting for the disk 200,000 times. */
#include "queue.h"

#include "data.h"
#include "run.h"
#include "util.h"

#include "sapling/sapling.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { BATCH = 50, SYNC_EVERY = 64 };

typedef struct Queue {
    DB *db;
    uint64_t head, tail; /* the first message that is in it, and the next to come */
    uint64_t batches;
    uint8_t val[BENCH_VAL_LEN];
} Queue;

/* In order of n. */
static void make_key(uint64_t n, uint8_t key[BENCH_KEY_LEN])
{
    uint64_t big_endian = htobe64(n);
    memset(key, 0, BENCH_KEY_LEN);
    memcpy(key, &big_endian, sizeof big_endian);
}

static int put_tail(Queue *queue, Txn *txn)
{
    uint8_t key[BENCH_KEY_LEN];
    make_key(queue->tail, key);
    int rc = txn_put(txn, key, BENCH_KEY_LEN, queue->val, BENCH_VAL_LEN);
    queue->tail += rc == SAP_OK;
    return rc;
}

/* SAP_CORRUPT: another message than the one that must be the first. */
static int check_head(const Queue *queue, Cursor *cur)
{
    const void *key;
    uint32_t key_len;
    uint8_t expected[BENCH_KEY_LEN];
    make_key(queue->head, expected);
    int rc = cursor_first(cur);
    if (rc == SAP_OK)
        rc = cursor_get_key(cur, &key, &key_len);
    if (rc == SAP_OK && (key_len != BENCH_KEY_LEN || memcmp(key, expected, key_len) != 0))
        rc = SAP_CORRUPT;
    return rc == SAP_NOTFOUND ? SAP_CORRUPT : rc;
}

static int take_head(Queue *queue, Cursor *cur)
{
    int rc = check_head(queue, cur);
    if (rc == SAP_OK)
        rc = cursor_del(cur);
    queue->head += rc == SAP_OK;
    return rc;
}

static int run_batch(Queue *queue, uint64_t end)
{
    Txn *txn;
    int rc = txn_begin_rc(queue->db, NULL, TXN_WAIT, &txn);
    if (rc != SAP_OK)
        return rc;
    Cursor *cur = cursor_open(txn);
    if (!cur)
        rc = SAP_NOMEM;
    for (int i = 0; i < BATCH && queue->tail < end && rc == SAP_OK; i++) {
        rc = put_tail(queue, txn);
        if (rc == SAP_OK && queue->tail - queue->head > DUR_QUEUE_LIVE)
            rc = take_head(queue, cur);
    }
    cursor_close(cur);
    if (rc != SAP_OK) {
        txn_abort(txn);
        return rc;
    }
    return ++queue->batches % SYNC_EVERY ? txn_commit_async(txn, NULL) : txn_commit(txn);
}

static uint64_t file_size(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* What is left must be the last DUR_QUEUE_LIVE messages. */
static int check_rest(const Queue *queue)
{
    Txn *txn;
    int rc = txn_begin_rc(queue->db, NULL, TXN_RDONLY, &txn);
    if (rc != SAP_OK)
        return rc;
    Cursor *cur = cursor_open(txn);
    uint64_t rows = 0;
    if (!cur)
        rc = SAP_NOMEM;
    else
        rc = check_head(queue, cur);
    for (; rc == SAP_OK; rc = cursor_next(cur))
        rows++;
    cursor_close(cur);
    txn_abort(txn);
    if (rc == SAP_NOTFOUND)
        rc = rows == queue->tail - queue->head ? SAP_OK : SAP_CORRUPT;
    return rc;
}

/* Ends with the queue closed, whatever it answers. */
static int run_parts(Queue *queue, const char *path, uint64_t messages, DurQueue *out)
{
    int rc = SAP_OK;
    for (unsigned part = 0; part < DUR_QUEUE_PARTS && rc == SAP_OK; part++) {
        uint64_t first = queue->tail, begin_ns = bench_now_ns();
        uint64_t end = messages * (part + 1) / DUR_QUEUE_PARTS;
        while (queue->tail < end && rc == SAP_OK)
            rc = run_batch(queue, end);
        out->rates[part] =
            (double)(queue->tail - first) * 1e9 / (double)(bench_now_ns() - begin_ns);
    }
    /* It never shrinks. */
    out->file_bytes = file_size(path);
    db_close(queue->db);
    uint64_t closed = file_size(path);
    if (closed > out->file_bytes)
        out->file_bytes = closed;
    return rc;
}

int dur_run_queue(const char *dir, uint64_t messages, DurQueue *out)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/queue", dir);
    Queue queue = {0};
    DurRow row;
    dur_make_row(0, 0, &row);
    memcpy(queue.val, row.val, sizeof queue.val);
    int rc = db_open_path(path, NULL, &queue.db);
    if (rc == SAP_OK)
        rc = run_parts(&queue, path, messages, out);
    if (rc == SAP_OK)
        rc = db_open_path(path, NULL, &queue.db);
    if (rc == SAP_OK) {
        rc = check_rest(&queue);
        db_close(queue.db);
    }
    out->messages = messages;
    if (rc != SAP_OK) {
        fprintf(stderr, "bench: queue: %s at message %llu\n", sap_strerror(rc),
                (unsigned long long)queue.tail);
        return -1;
    }
    return 0;
}
