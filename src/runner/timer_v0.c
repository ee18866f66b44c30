/* timer_v0.c - see timer_v0.h. */
#include "runner/timer_v0.h"

#include "common/mem.h"
#include "runner/dead_letter_v0.h"
#include "runner/drain.h"
#include "runner/mailbox_v0.h"
#include "runner/rows.h"
#include "runner/wire_v0.h"

#include <string.h>

int sap_runner_timer_v0_append(SapTxnCtx *txn, int64_t due_ms, const void *frame,
                               uint32_t frame_len, uint64_t *seq_out)
{
    uint64_t seq;
    int rc = wire_check(frame, frame_len);

    if (rc == SAP_OK) {
        rc = row_take_number(txn, "timers", NULL, &seq);
    }
    if (rc == SAP_OK) {
        RowKey key = row_timer_key(due_ms, seq);
        rc = txn_put_dbi(txn, WIT_DBI_TIMERS, key.bytes, sizeof key.bytes, frame, frame_len);
    }
    if (rc == SAP_OK && seq_out != NULL) {
        *seq_out = seq;
    }
    return rc;
}

int sap_runner_timer_v0_cancel(SapTxnCtx *txn, int64_t due_ms, uint64_t seq)
{
    RowKey key = row_timer_key(due_ms, seq);

    return txn_del_dbi(txn, WIT_DBI_TIMERS, key.bytes, sizeof key.bytes);
}

/* ---- Due timers as messages ----------------------------------------------------------------- */

/* A due timer, its frame copied: the row moves when the transaction changes. */
typedef struct Due {
    RowKey key;
    uint64_t seq;
    void *frame;
    uint32_t frame_len;
} Due;

/* The first timer that is due. SAP_NOTFOUND: none is. Caller owns the frame, release with
 * mem_free(MEM_RUNNER, ...). */
static int first_due(Txn *txn, int64_t now_ms, Due *due_out)
{
    const void *key;
    const void *val;
    uint32_t key_len;
    uint32_t val_len;
    int64_t due_ms = 0;
    Due due;
    Cursor *cur;
    int rc = row_cursor_open(txn, WIT_DBI_TIMERS, &cur);

    if (rc != SAP_OK) {
        return rc;
    }
    rc = cursor_first(cur);
    if (rc == SAP_OK) {
        rc = cursor_get(cur, &key, &key_len, &val, &val_len);
    }
    if (rc == SAP_OK) {
        rc = row_timer_key_read(key, key_len, &due_ms, &due.seq);
    }
    if (rc == SAP_OK && due_ms > now_ms) {
        rc = SAP_NOTFOUND;
    }
    if (rc == SAP_OK) {
        memcpy(due.key.bytes, key, sizeof due.key.bytes);
        due.frame = mem_copy(MEM_RUNNER, val, val_len);
        due.frame_len = val_len;
        rc = due.frame != NULL ? SAP_OK : SAP_NOMEM;
    }
    if (rc == SAP_OK) {
        *due_out = due;
    }
    cursor_close(cur);
    return rc;
}

int timer_claim_due(Txn *txn, const SapRunnerV0ClaimOptions *options, LocalWorkers *local,
                    SapRunnerV0Claim *claims, uint32_t max, uint32_t *count_out,
                    uint32_t *moved_out)
{
    uint32_t count = 0;
    uint32_t moved = 0;
    int rc = SAP_OK;

    while (rc == SAP_OK && count + moved < max) {
        Due due;
        rc = first_due(txn, options->now_ms, &due);
        if (rc != SAP_OK) {
            break;
        }
        if (wire_check(due.frame, due.frame_len) != SAP_OK) {
            rc = dead_letter_put(txn, (uint64_t)options->worker_id, due.frame, due.frame_len,
                                 SAP_INVALID);
            moved++;
        } else if (wire_to_worker(due.frame) == options->worker_id && claims != NULL) {
            rc = mailbox_put_claimed(txn, options, due.frame, due.frame_len, &claims[count]);
            if (rc == SAP_OK) {
                claims[count++].timer_seq = due.seq;
            }
        } else if (outbox_is_local(wire_to_worker(due.frame), local)) {
            rc = sap_runner_mailbox_v0_send(txn, due.frame, due.frame_len, NULL);
            moved++;
        } else {
            rc = sap_runner_outbox_v0_append(txn, due.frame, due.frame_len, NULL);
            moved++;
        }
        if (rc == SAP_OK) {
            rc = txn_del_dbi(txn, WIT_DBI_TIMERS, due.key.bytes, sizeof due.key.bytes);
        }
        mem_free(MEM_RUNNER, due.frame, due.frame_len);
    }
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        while (count > 0) {
            sap_runner_v0_claim_release(&claims[--count]);
        }
        return rc;
    }
    *count_out = count;
    *moved_out = moved;
    return SAP_OK;
}

int sap_runner_timer_v0_move_due(SapTxnCtx *txn, int64_t now_ms, uint32_t max, uint32_t *moved_out)
{
    SapRunnerV0ClaimOptions options = {.now_ms = now_ms};
    LocalWorkers everyone = {0};
    uint32_t claimed;
    uint32_t moved;
    int rc = timer_claim_due(txn, &options, &everyone, NULL, max, &claimed, &moved);

    if (rc == SAP_OK && moved_out != NULL) {
        *moved_out = moved;
    }
    return rc;
}

/* ---- Drain ---------------------------------------------------------------------------------- */

typedef struct Firing {
    sap_runner_timer_v0_fire_fn fire;
    void *ctx;
} Firing;

static int offer(const void *key, uint32_t key_len, const void *val, uint32_t val_len, void *ctx)
{
    const Firing *firing = ctx;
    int64_t due_ms;
    uint64_t seq;
    int rc = row_timer_key_read(key, key_len, &due_ms, &seq);

    return rc == SAP_OK ? firing->fire(due_ms, seq, val, val_len, firing->ctx) : rc;
}

int sap_runner_timer_v0_drain_due(SapEnv *db, int64_t now_ms, uint32_t max,
                                  sap_runner_timer_v0_fire_fn fire, void *ctx, uint32_t *fired_out)
{
    Firing firing = {fire, ctx};
    /* Numbers begin at 1: this is behind all that are due, and before all that are not. */
    RowKey end = row_timer_key(now_ms < INT64_MAX ? now_ms + 1 : now_ms,
                               now_ms < INT64_MAX ? 0 : UINT64_MAX);

    if (db == NULL || fire == NULL) {
        return SAP_ERROR;
    }
    DrainRange range = {.end = end.bytes, .end_len = sizeof end.bytes};
    return drain_rows(db, WIT_DBI_TIMERS, &range, max, offer, &firing, fired_out);
}
