/* dead_letter_v0.c - see dead_letter_v0.h. */
#include "runner/dead_letter_v0.h"

#include "common/buf.h"
#include "common/mem.h"
#include "runner/dedupe_v0.h"
#include "runner/drain.h"
#include "runner/lease_v0.h"
#include "runner/rows.h"
#include "runner/wire_v0.h"
#include "wit_runtime.h"

static int put_row(Txn *txn, const RowKey *key, uint32_t attempts, int why, const void *frame,
                   uint32_t frame_len)
{
    Buf buf = {0};
    WitRuntimeDbi6DeadLetterValue row = {
        .rc = why, .attempts = attempts, .frame = {(uint8_t *)(uintptr_t)frame, frame_len}};
    int rc = wit_runtime_dbi6_dead_letter_value_encode(&row, &buf, NULL);

    if (rc == SAP_OK) {
        rc = txn_put_flags_dbi(txn, WIT_DBI_DEAD_LETTER, key->bytes, sizeof key->bytes, buf.data,
                               (uint32_t)buf.len, SAP_NOOVERWRITE, NULL);
    }
    buf_release(&buf);
    return rc;
}

/* Under the next number that is free, which all but rows of somebody else leave it. */
static int put_anywhere(Txn *txn, uint64_t worker, uint32_t attempts, int why, const void *frame,
                        uint32_t frame_len, uint64_t *seq_out)
{
    int rc = SAP_EXISTS;

    while (rc == SAP_EXISTS) {
        uint64_t number;
        rc = row_take_number(txn, "inbox", NULL, &number);
        if (rc == SAP_OK) {
            *seq_out = number | ROW_NORMAL_BIT;
            RowKey key = row_message_key(worker, *seq_out);
            rc = put_row(txn, &key, attempts, why, frame, frame_len);
        }
    }
    return rc;
}

/* The letter of the message whose row is under the key: under the same, or elsewhere if that is not
 * free. */
static int put_letter(Txn *txn, uint64_t worker, const RowKey *key, uint32_t attempts, int why,
                      const void *frame, uint32_t frame_len)
{
    int rc = put_row(txn, key, attempts, why, frame, frame_len);

    if (rc == SAP_EXISTS) {
        void *copy = mem_copy(MEM_RUNNER, frame, frame_len); /* taking a number changes a table */
        if (copy == NULL) {
            return SAP_NOMEM;
        }
        uint64_t seq;
        rc = put_anywhere(txn, worker, attempts, why, copy, frame_len, &seq);
        mem_free(MEM_RUNNER, copy, frame_len);
    }
    return rc;
}

int dead_letter_move_row(Txn *txn, uint64_t worker, uint64_t seq, uint32_t attempts, int why)
{
    RowKey key = row_message_key(worker, seq);
    const void *frame;
    uint32_t frame_len;
    int rc = txn_get_dbi(txn, WIT_DBI_INBOX, key.bytes, sizeof key.bytes, &frame, &frame_len);

    if (rc == SAP_OK) {
        /* Encoded into memory of its own before the tables change. */
        rc = put_letter(txn, worker, &key, attempts, why, frame, frame_len);
    }
    if (rc == SAP_OK) {
        rc = dedupe_set_retries(txn, WIT_DBI_INBOX, &key, 0);
    }
    if (rc == SAP_OK) {
        rc = txn_del_dbi(txn, WIT_DBI_INBOX, key.bytes, sizeof key.bytes);
    }
    if (rc == SAP_OK) {
        rc = txn_del_dbi(txn, WIT_DBI_LEASES, key.bytes, sizeof key.bytes);
        rc = rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    return rc;
}

int dead_letter_put_garbage(Txn *txn, uint64_t worker, const void *bytes, uint32_t len,
                            MailboxLog *log)
{
    SapRunnerV0Claim claim = {
        .worker = worker, .frame = (void *)(uintptr_t)bytes, .frame_len = len};
    int rc = put_anywhere(txn, worker, 0, SAP_INVALID, bytes, len, &claim.seq);

    return rc == SAP_OK ? mailbox_note(log, SAP_RUNNER_V0_LOG_DEAD_LETTERED, &claim, SAP_INVALID, 0)
                        : rc;
}

int sap_runner_dead_letter_v0_move(SapTxnCtx *txn, const SapRunnerV0Claim *claim, int why)
{
    if (claim == NULL || claim->token == 0) {
        return SAP_ERROR;
    }
    RowKey key = row_message_key(claim->worker, claim->seq);
    int rc = lease_check(txn, key.bytes, sizeof key.bytes, claim->token, NULL);
    if (rc == SAP_OK) {
        rc = dead_letter_move_row(txn, claim->worker, claim->seq, claim->attempts, why);
    }
    return rc == SAP_NOTFOUND ? SAP_CONFLICT : rc;
}

/* *letter_out borrows its frame from `val`. */
static int decode(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                  SapRunnerV0DeadLetter *letter_out)
{
    SapRunnerV0DeadLetter letter = {0};
    WitRuntimeDbi6DeadLetterValue row;
    int rc = row_message_key_read(key, key_len, &letter.worker, &letter.seq);

    if (rc == SAP_OK) {
        rc = row_decoded(wit_runtime_dbi6_dead_letter_value_decode(val, val_len, &row, NULL));
    }
    if (rc == SAP_OK) {
        letter.rc = row.rc;
        letter.attempts = row.attempts;
        letter.frame_len = row.frame.len;
        letter.frame = (const uint8_t *)val + (val_len - row.frame.len);
        wit_runtime_dbi6_dead_letter_value_free(&row);
        *letter_out = letter;
    }
    return rc;
}

int sap_runner_dead_letter_v0_get(SapTxnCtx *txn, uint64_t worker, uint64_t seq,
                                  SapRunnerV0DeadLetter *letter_out)
{
    RowKey key = row_message_key(worker, seq);
    const void *val;
    uint32_t val_len;

    if (letter_out == NULL) {
        return SAP_ERROR;
    }
    int rc = txn_get_dbi(txn, WIT_DBI_DEAD_LETTER, key.bytes, sizeof key.bytes, &val, &val_len);
    return rc == SAP_OK ? decode(key.bytes, sizeof key.bytes, val, val_len, letter_out) : rc;
}

int sap_runner_dead_letter_v0_list(SapTxnCtx *txn, uint64_t worker, uint64_t seq,
                                   int (*fn)(const SapRunnerV0DeadLetter *letter, void *ctx),
                                   void *ctx)
{
    RowKey from = row_message_key(worker, seq);

    if (fn == NULL) {
        return SAP_ERROR;
    }
    Cursor *cur;
    int rc = row_cursor_open(txn, WIT_DBI_DEAD_LETTER, &cur);
    if (rc != SAP_OK) {
        return rc;
    }
    int answer = SAP_OK;
    rc = cursor_seek(cur, from.bytes, sizeof from.bytes);
    while (rc == SAP_OK && answer == SAP_OK) {
        SapRunnerV0DeadLetter letter;
        const void *key;
        const void *val;
        uint32_t key_len;
        uint32_t val_len;

        rc = cursor_get(cur, &key, &key_len, &val, &val_len);
        if (rc == SAP_OK) {
            rc = decode(key, key_len, val, val_len, &letter);
        }
        if (rc == SAP_OK) {
            answer = fn(&letter, ctx);
            rc = cursor_next(cur);
        }
    }
    cursor_close(cur);
    return rc == SAP_OK || rc == SAP_NOTFOUND ? answer : rc;
}

int sap_runner_dead_letter_v0_replay(SapTxnCtx *txn, uint64_t worker, uint64_t seq,
                                     uint64_t *seq_out)
{
    SapRunnerV0DeadLetter letter;
    SapRunnerV0Message msg;
    uint64_t new_seq;
    RowKey key = row_message_key(worker, seq);
    int rc = sap_runner_dead_letter_v0_get(txn, worker, seq, &letter);

    if (rc == SAP_OK) {
        rc = wire_rc(sap_runner_wire_v0_decode_message(letter.frame, letter.frame_len, &msg));
    }
    if (rc == SAP_OK && (uint64_t)msg.to_worker != worker) {
        rc = SAP_INVALID;
    }
    if (rc != SAP_OK) {
        return rc;
    }
    /* The row moves when the transaction changes. */
    void *frame = mem_copy(MEM_RUNNER, letter.frame, letter.frame_len);
    if (frame == NULL) {
        return SAP_NOMEM;
    }
    rc = sap_runner_mailbox_v0_send(txn, frame, letter.frame_len, &new_seq);
    mem_free(MEM_RUNNER, frame, letter.frame_len);
    if (rc == SAP_OK) {
        rc = txn_del_dbi(txn, WIT_DBI_DEAD_LETTER, key.bytes, sizeof key.bytes);
    }
    if (rc == SAP_OK && seq_out != NULL) {
        *seq_out = new_seq;
    }
    return rc;
}

int sap_runner_dead_letter_v0_drop(SapTxnCtx *txn, uint64_t worker, uint64_t seq)
{
    RowKey key = row_message_key(worker, seq);

    return txn_del_dbi(txn, WIT_DBI_DEAD_LETTER, key.bytes, sizeof key.bytes);
}

/* ---- Drain ---------------------------------------------------------------------------------- */

typedef struct Taker {
    int (*take)(const SapRunnerV0DeadLetter *letter, void *ctx);
    void *ctx;
} Taker;

static int offer(const void *key, uint32_t key_len, const void *val, uint32_t val_len, void *ctx)
{
    const Taker *taker = ctx;
    SapRunnerV0DeadLetter letter;
    int rc = decode(key, key_len, val, val_len, &letter);

    return rc == SAP_OK ? taker->take(&letter, taker->ctx) : rc;
}

int sap_runner_dead_letter_v0_drain(SapEnv *db, uint32_t max,
                                    int (*take)(const SapRunnerV0DeadLetter *letter, void *ctx),
                                    void *ctx, uint32_t *drained_out)
{
    Taker taker = {take, ctx};

    if (db == NULL || take == NULL) {
        return SAP_ERROR;
    }
    return drain_rows(db, WIT_DBI_DEAD_LETTER, &(DrainRange){0}, max, offer, &taker, drained_out);
}
