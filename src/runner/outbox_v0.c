/* outbox_v0.c - see outbox_v0.h. */
#include "runner/outbox_v0.h"

#include "common/assert.h"
#include "common/buf.h"
#include "common/mem.h"
#include "runner/dead_letter_v0.h"
#include "runner/drain.h"
#include "runner/rows.h"
#include "runner/wire_v0.h"
#include "wit_runtime.h"

/* Rows looked at for each that may be routed: the others are for elsewhere. */
enum { LOOKS_PER_ROUTE = 4, KEY_SIZE = 8 };

int outbox_is_local(int64_t worker, void *ctx)
{
    LocalWorkers *local = ctx;
    int is = local->fn != NULL ? local->fn(worker, local->ctx)
                               : !local->only_self || worker == local->self;

    if (is) {
        bells_note(&local->notes, worker);
    }
    return is;
}

static void outbox_key(uint64_t seq, uint8_t key[KEY_SIZE])
{
    Buf buf = buf_in(key, KEY_SIZE);
    int rc = wit_runtime_dbi2_outbox_key_encode(&(WitRuntimeDbi2OutboxKey){seq}, &buf, NULL);

    SAP_ASSERT(rc == SAP_OK && buf.data == key && buf.len == KEY_SIZE);
}

static int outbox_key_read(const void *key, uint32_t key_len, uint64_t *seq_out)
{
    WitRuntimeDbi2OutboxKey decoded;
    int rc = row_decoded(wit_runtime_dbi2_outbox_key_decode(key, key_len, &decoded, NULL));

    if (rc == SAP_OK) {
        *seq_out = decoded.seq;
    }
    return rc;
}

int outbox_last(Txn *txn, uint64_t *seq_out)
{
    const void *key;
    uint32_t key_len;
    Cursor *cur;
    int rc = row_cursor_open(txn, WIT_DBI_OUTBOX, &cur);

    if (rc != SAP_OK) {
        return rc;
    }
    *seq_out = 0;
    rc = cursor_last(cur);
    if (rc == SAP_OK) {
        rc = cursor_get_key(cur, &key, &key_len);
    }
    if (rc == SAP_OK) {
        rc = outbox_key_read(key, key_len, seq_out);
    }
    cursor_close(cur);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

int sap_runner_outbox_v0_append(SapTxnCtx *txn, const void *frame, uint32_t frame_len,
                                uint64_t *seq_out)
{
    uint8_t key[KEY_SIZE];
    uint64_t seq;
    int rc = wire_check(frame, frame_len);

    if (rc == SAP_OK) {
        rc = row_take_number(txn, "outbox", NULL, &seq);
    }
    if (rc == SAP_OK) {
        outbox_key(seq, key);
        rc = txn_put_dbi(txn, WIT_DBI_OUTBOX, key, sizeof key, frame, frame_len);
    }
    if (rc == SAP_OK && seq_out != NULL) {
        *seq_out = seq;
    }
    return rc;
}

/* ---- To local workers ----------------------------------------------------------------------- */

/* Moves the row under the cursor, which then stands on the next one. A row that is not a message,
 * which nobody could deliver, goes among the dead letters of worker 0. */
static int move_row(Txn *txn, Cursor *cur, const void *frame, uint32_t frame_len, bool garbage,
                    MailboxLog *log)
{
    void *copy = mem_copy(MEM_RUNNER, frame, frame_len);
    int rc;

    if (copy == NULL) {
        return SAP_NOMEM;
    }
    rc = garbage ? dead_letter_put_garbage(txn, 0, copy, frame_len, log)
                 : sap_runner_mailbox_v0_send(txn, copy, frame_len, NULL);
    mem_free(MEM_RUNNER, copy, frame_len);
    return rc == SAP_OK ? cursor_del(cur) : rc;
}

int outbox_route(Txn *txn, uint32_t max, int (*is_local)(int64_t worker, void *ctx), void *ctx,
                 uint64_t *resume, MailboxLog *log, OutboxRouted *routed_out)
{
    uint8_t from[KEY_SIZE];
    uint64_t looks = (uint64_t)max * LOOKS_PER_ROUTE;
    OutboxRouted routed = {0};
    uint64_t last = *resume;
    Cursor *cur;
    int rc = row_cursor_open(txn, WIT_DBI_OUTBOX, &cur);
    if (rc != SAP_OK) {
        return rc;
    }
    outbox_key(last + 1, from);
    rc = cursor_seek(cur, from, sizeof from);
    while (rc == SAP_OK && routed.moved + routed.dead < max && looks-- > 0) {
        const void *key;
        const void *frame;
        uint32_t key_len;
        uint32_t frame_len;

        rc = cursor_get(cur, &key, &key_len, &frame, &frame_len);
        if (rc == SAP_OK) {
            rc = outbox_key_read(key, key_len, &last);
        }
        if (rc != SAP_OK) {
            break;
        }
        bool garbage = wire_check(frame, frame_len) != SAP_OK;
        if (garbage || is_local(wire_to_worker(frame), ctx) != 0) {
            rc = move_row(txn, cur, frame, frame_len, garbage, log);
            routed.moved += rc == SAP_OK && !garbage;
            routed.dead += rc == SAP_OK && garbage;
            if (rc == SAP_OK) {
                rc = cursor_get_key(cur, &key, &key_len);
            }
        } else {
            rc = cursor_next(cur);
        }
    }
    cursor_close(cur);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    *resume = rc == SAP_NOTFOUND ? 0 : last;
    *routed_out = routed;
    return SAP_OK;
}

int sap_runner_outbox_v0_route(SapTxnCtx *txn, uint32_t max,
                               int (*is_local)(int64_t worker, void *ctx), void *ctx,
                               uint64_t *resume, uint32_t *routed_out)
{
    uint64_t from_the_first = 0;
    uint64_t *from = resume != NULL ? resume : &from_the_first;
    OutboxRouted routed;

    if (txn == NULL || is_local == NULL || *from == UINT64_MAX) {
        return SAP_ERROR;
    }
    int rc = outbox_route(txn, max, is_local, ctx, from, NULL, &routed);
    if (rc == SAP_OK && routed_out != NULL) {
        *routed_out = routed.moved + routed.dead;
    }
    return rc;
}

/* ---- To others ------------------------------------------------------------------------------ */

typedef struct Forwarder {
    sap_runner_outbox_v0_forward_fn forward;
    void *ctx;
    uint64_t last; /* the number of the last frame offered */
    uint32_t offered;
} Forwarder;

static int offer(const void *key, uint32_t key_len, const void *val, uint32_t val_len, void *ctx)
{
    Forwarder *forwarder = ctx;
    int rc = outbox_key_read(key, key_len, &forwarder->last);

    forwarder->offered++;
    return rc == SAP_OK ? forwarder->forward(val, val_len, forwarder->last, forwarder->ctx) : rc;
}

int outbox_drain_from(DB *db, uint64_t *resume, uint32_t max,
                      sap_runner_outbox_v0_forward_fn forward, void *ctx, uint32_t *sent_out)
{
    Forwarder forwarder = {.forward = forward, .ctx = ctx};
    uint8_t after[KEY_SIZE];

    outbox_key(*resume, after);
    int rc =
        drain_rows(db, WIT_DBI_OUTBOX, &(DrainRange){.after = after, .after_len = sizeof after},
                   max, offer, &forwarder, sent_out);
    /* Behind a frame that ended the drain: those after it have their turn first. */
    *resume = forwarder.offered == max || rc != SAP_OK ? forwarder.last : 0;
    return rc;
}

int sap_runner_outbox_v0_drain(SapEnv *db, uint32_t max, sap_runner_outbox_v0_forward_fn forward,
                               void *ctx, uint32_t *sent_out)
{
    uint64_t from_the_first = 0;

    if (db == NULL || forward == NULL) {
        return SAP_ERROR;
    }
    return outbox_drain_from(db, &from_the_first, max, forward, ctx, sent_out);
}
