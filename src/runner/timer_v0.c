/* timer_v0.c - see timer_v0.h. */
#include "runner/timer_v0.h"

#include "common/assert.h"
#include "common/mem.h"
#include "runner/dead_letter_v0.h"
#include "runner/dedupe_v0.h"
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
    int rc = txn_del_dbi(txn, WIT_DBI_TIMERS, key.bytes, sizeof key.bytes);

    return rc == SAP_OK ? dedupe_set_retries(txn, WIT_DBI_TIMERS, &key, 0) : rc;
}

/* ---- Due timers as messages ----------------------------------------------------------------- */

/* A due timer, its frame copied: the row moves when the transaction changes. */
typedef struct Due {
    RowKey key;
    uint64_t seq;
    void *frame;
    uint32_t frame_len;
    uint32_t failed; /* attempts; above 0: it waited for the next one */
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
        rc = dedupe_retries(txn, WIT_DBI_TIMERS, &due.key, &due.failed);
    }
    if (rc == SAP_OK) {
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

/* Puts a message into its inbox; its failed attempts count there. The caller removes the timer. */
static int send_due(Txn *txn, const Due *due)
{
    uint64_t seq;
    int rc = sap_runner_mailbox_v0_send(txn, due->frame, due->frame_len, &seq);

    if (rc == SAP_OK && due->failed > 0) {
        RowKey row = row_message_key((uint64_t)wire_to_worker(due->frame), seq);
        rc = dedupe_set_retries(txn, WIT_DBI_INBOX, &row, due->failed);
    }
    if (rc == SAP_OK && due->failed > 0) {
        rc = dedupe_set_retries(txn, WIT_DBI_TIMERS, &due->key, 0);
    }
    return rc;
}

int timer_claim_due(Txn *txn, const SapRunnerV0ClaimOptions *options, LocalWorkers *local,
                    SapRunnerV0Claim *claims, uint32_t max, MailboxLog *log, TimersTaken *taken_out)
{
    TimersTaken taken = {0};
    int rc = SAP_OK;

    while (rc == SAP_OK && taken.claimed + taken.moved + taken.dead < max) {
        Due due;
        rc = first_due(txn, options->now_ms, &due);
        if (rc != SAP_OK) {
            break;
        }
        bool valid = wire_check(due.frame, due.frame_len) == SAP_OK;
        int64_t worker = valid ? wire_to_worker(due.frame) : -1;
        bool mine = worker == options->worker_id && claims != NULL;
        if (!valid) {
            rc = dead_letter_put_garbage(txn, (uint64_t)options->worker_id, due.frame,
                                         due.frame_len, log);
            taken.dead++;
        } else if (mine && due.failed == 0) {
            rc =
                mailbox_put_claimed(txn, options, due.frame, due.frame_len, &claims[taken.claimed]);
            if (rc == SAP_OK) {
                claims[taken.claimed++].timer_seq = due.seq;
            }
        } else if (mine || outbox_is_local(worker, local) || due.failed > 0) {
            /* A message that failed before was in an inbox of this DB, and goes there again. */
            rc = send_due(txn, &due);
            taken.moved++;
        } else {
            rc = sap_runner_outbox_v0_append(txn, due.frame, due.frame_len, NULL);
            taken.moved++;
        }
        if (rc == SAP_OK) {
            rc = txn_del_dbi(txn, WIT_DBI_TIMERS, due.key.bytes, sizeof due.key.bytes);
        }
        mem_free(MEM_RUNNER, due.frame, due.frame_len);
    }
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        while (taken.claimed > 0) {
            sap_runner_v0_claim_release(&claims[--taken.claimed]);
        }
        return rc;
    }
    *taken_out = taken;
    return SAP_OK;
}

int sap_runner_timer_v0_move_due(SapTxnCtx *txn, int64_t now_ms, uint32_t max, uint32_t *moved_out)
{
    SapRunnerV0ClaimOptions options = {.now_ms = now_ms};
    LocalWorkers everyone = {0};
    TimersTaken taken;
    int rc = timer_claim_due(txn, &options, &everyone, NULL, max, NULL, &taken);

    if (rc == SAP_OK && moved_out != NULL) {
        *moved_out = taken.moved + taken.dead;
    }
    return rc;
}

/* ---- Messages that wait for their next attempt ---------------------------------------------- */

enum { RETRY_LOOKS = 256 };

int timer_find_retry(Txn *txn, int64_t worker_id, int64_t now_ms, RowKey *from, bool *found_out)
{
    const void *key;
    const void *val;
    uint32_t key_len;
    uint32_t val_len;
    int64_t due_ms = 0;
    uint64_t seq;
    bool found = false;
    Cursor *cur;
    int rc = row_cursor_open(txn, WIT_DBI_TIMERS, &cur);

    *found_out = false;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = cursor_seek(cur, from->bytes, sizeof from->bytes);
    for (uint32_t looks = 0; rc == SAP_OK && !found; looks++) {
        rc = cursor_get(cur, &key, &key_len, &val, &val_len);
        if (rc == SAP_OK) {
            rc = row_timer_key_read(key, key_len, &due_ms, &seq);
        }
        if (rc == SAP_OK && due_ms > now_ms) {
            rc = SAP_NOTFOUND;
        }
        if (rc != SAP_OK) {
            break;
        }
        memcpy(from->bytes, key, sizeof from->bytes);
        if (looks == RETRY_LOOKS) {
            break;
        }
        if (wire_check(val, val_len) == SAP_OK && wire_to_worker(val) == worker_id) {
            uint32_t failed = 0;
            rc = dedupe_retries(txn, WIT_DBI_TIMERS, from, &failed);
            found = rc == SAP_OK && failed > 0;
        }
        if (rc == SAP_OK && !found) {
            rc = cursor_next(cur);
        }
    }
    cursor_close(cur);
    if (rc == SAP_NOTFOUND) {
        *from = (RowKey){{0}}; /* all that are due were looked at */
        rc = SAP_OK;
    }
    *found_out = rc == SAP_OK && found;
    return rc;
}

int timer_move_retries(Txn *txn, int64_t worker_id, int64_t now_ms, uint32_t max, RowKey *from,
                       uint32_t *moved_out)
{
    uint32_t moved = 0;
    bool found = true;
    int rc = SAP_OK;

    while (rc == SAP_OK && found && moved < max) {
        const void *val;
        rc = timer_find_retry(txn, worker_id, now_ms, from, &found);
        if (rc != SAP_OK || !found) {
            break;
        }
        Due due = {.key = *from};
        rc = dedupe_retries(txn, WIT_DBI_TIMERS, from, &due.failed);
        if (rc == SAP_OK) {
            rc = txn_get_dbi(txn, WIT_DBI_TIMERS, from->bytes, sizeof from->bytes, &val,
                             &due.frame_len);
        }
        due.frame = rc == SAP_OK ? mem_copy(MEM_RUNNER, val, due.frame_len) : NULL;
        if (rc == SAP_OK && due.frame == NULL) {
            rc = SAP_NOMEM;
        }
        if (rc == SAP_OK) {
            rc = send_due(txn, &due);
        }
        if (rc == SAP_OK) {
            rc = txn_del_dbi(txn, WIT_DBI_TIMERS, from->bytes, sizeof from->bytes);
        }
        mem_free(MEM_RUNNER, due.frame, due.frame_len);
        moved += rc == SAP_OK;
    }
    if (rc == SAP_OK) {
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

/* The offer has found the key to be that of a timer. */
static int forget_retries(Txn *txn, const void *key, uint32_t key_len)
{
    RowKey row;

    SAP_ASSERT(key_len == sizeof row.bytes);
    memcpy(row.bytes, key, sizeof row.bytes);
    return dedupe_set_retries(txn, WIT_DBI_TIMERS, &row, 0);
}

int sap_runner_timer_v0_drain_due(SapEnv *db, int64_t now_ms, uint32_t max,
                                  sap_runner_timer_v0_fire_fn fire, void *ctx, uint32_t *fired_out)
{
    Firing firing = {fire, ctx};
    /* Numbers begin at 1: this key is after all that are due, and before all that are not. */
    RowKey end = row_timer_key(now_ms < INT64_MAX ? now_ms + 1 : now_ms,
                               now_ms < INT64_MAX ? 0 : UINT64_MAX);

    if (db == NULL || fire == NULL) {
        return SAP_ERROR;
    }
    DrainRange range = {.end = end.bytes, .end_len = sizeof end.bytes, .removed = forget_retries};
    return drain_rows(db, WIT_DBI_TIMERS, &range, max, offer, &firing, fired_out);
}
