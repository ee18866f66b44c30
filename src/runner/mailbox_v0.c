/* mailbox_v0.c - see mailbox_v0.h. */
#include "runner/mailbox_v0.h"

#include "common/assert.h"
#include "common/bytes.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/options.h"
#include "runner/dead_letter_v0.h"
#include "runner/dedupe_v0.h"
#include "runner/durable.h"
#include "runner/lease_v0.h"
#include "runner/rows.h"
#include "runner/scheduler_v0.h"
#include "runner/wire_v0.h"

#include <string.h>

enum {
    WALK_MAX = 16,    /* leased rows walked over one by one before their number is made use of */
    BATCH_IDS = 4096, /* ids that a batch distinguishes without comparing */
    MET_FIRST = 8,    /* room of a log when it gets its first row, doubled when it is full */
};

_Static_assert(sizeof(((MailboxRange *)0)->lo) == ROW_KEY_SIZE, "a range is two keys");

MailboxRange mailbox_range(int64_t worker_id)
{
    MailboxRange range;
    RowKey lo = row_message_key((uint64_t)worker_id, 0);
    RowKey hi = row_message_key((uint64_t)worker_id + 1, 0);

    memcpy(range.lo, lo.bytes, sizeof range.lo);
    memcpy(range.hi, hi.bytes, sizeof range.hi);
    return range;
}

int mailbox_counts(Txn *txn, int64_t worker_id, uint64_t *count_out, uint64_t *leased_out)
{
    MailboxRange range = mailbox_range(worker_id);
    int rc = txn_count_range(txn, WIT_DBI_INBOX, range.lo, sizeof range.lo, range.hi,
                             sizeof range.hi, count_out);

    if (rc == SAP_OK) {
        rc = txn_count_range(txn, WIT_DBI_LEASES, range.lo, sizeof range.lo, range.hi,
                             sizeof range.hi, leased_out);
    }
    return rc;
}

int sap_runner_mailbox_v0_stat(SapTxnCtx *txn, int64_t worker_id, uint64_t *count_out,
                               uint64_t *leased_out, int64_t *oldest_ms_out)
{
    uint64_t count;
    uint64_t leased;
    int64_t oldest_ms = 0;

    if (worker_id < 0) {
        return SAP_ERROR;
    }
    int rc = mailbox_counts(txn, worker_id, &count, &leased);
    if (rc != SAP_OK) {
        return rc;
    }
    if (oldest_ms_out != NULL && count > 0) {
        MailboxRange range = mailbox_range(worker_id);
        SapRunnerV0Message msg;
        const void *val;
        uint32_t val_len;
        Cursor *cur = cursor_open_dbi(txn, WIT_DBI_INBOX);

        if (cur == NULL) {
            return SAP_NOMEM;
        }
        rc = cursor_seek(cur, range.lo, sizeof range.lo);
        if (rc == SAP_OK) {
            rc = cursor_get(cur, NULL, NULL, &val, &val_len);
        }
        if (rc == SAP_OK && sap_runner_wire_v0_decode_message(val, val_len, &msg) == SAP_OK) {
            oldest_ms = msg.route_timestamp;
        }
        cursor_close(cur);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    if (count_out != NULL) {
        *count_out = count;
    }
    if (leased_out != NULL) {
        *leased_out = leased;
    }
    if (oldest_ms_out != NULL) {
        *oldest_ms_out = oldest_ms;
    }
    return SAP_OK;
}

/* ---- Sending -------------------------------------------------------------------------------- */

static uint64_t with_priority(uint64_t number, uint8_t flags)
{
    return (flags & SAP_RUNNER_V0_HIGH_PRIORITY) != 0 ? number : number | ROW_NORMAL_BIT;
}

/* Puts a frame at the tail, into the first free slot of max_slots; numbers as row_take_number(). */
static int append(Txn *txn, RowNumbers *numbers, uint64_t worker, uint8_t flags, const void *frame,
                  uint32_t frame_len, uint32_t max_slots, uint64_t *seq_out)
{
    int rc = SAP_EXISTS;

    for (uint32_t slot = 0; slot < max_slots && rc == SAP_EXISTS; slot++) {
        uint64_t number;
        rc = row_take_number(txn, "inbox", numbers, &number);
        if (rc == SAP_OK) {
            *seq_out = with_priority(number, flags);
            RowKey key = row_message_key(worker, *seq_out);
            rc = txn_put_flags_dbi(txn, WIT_DBI_INBOX, key.bytes, sizeof key.bytes, frame,
                                   frame_len, SAP_NOOVERWRITE, NULL);
        }
    }
    return rc;
}

int mailbox_send_numbered(Txn *txn, RowNumbers *numbers, const void *frame, uint32_t frame_len,
                          uint64_t *seq_out)
{
    SapRunnerV0Message msg;
    uint64_t seq;
    int rc = wire_rc(sap_runner_wire_v0_decode_message(frame, frame_len, &msg));

    if (rc == SAP_OK) {
        rc = append(txn, numbers, (uint64_t)msg.to_worker, msg.flags, frame, frame_len,
                    MAILBOX_REQUEUE_SLOTS, &seq);
    }
    if (rc == SAP_OK && seq_out != NULL) {
        *seq_out = seq;
    }
    return rc;
}

int sap_runner_mailbox_v0_send(SapTxnCtx *txn, const void *frame, uint32_t frame_len,
                               uint64_t *seq_out)
{
    return mailbox_send_numbered(txn, NULL, frame, frame_len, seq_out);
}

/* ---- Claims --------------------------------------------------------------------------------- */

static int64_t options_ttl(const SapRunnerV0ClaimOptions *options)
{
    return options->lease_ttl_ms > 0 ? options->lease_ttl_ms : MAILBOX_LEASE_TTL_MS;
}

static uint32_t options_budget(const SapRunnerV0ClaimOptions *options)
{
    return options->retry_budget_max > 0 ? options->retry_budget_max : MAILBOX_RETRY_BUDGET;
}

void sap_runner_v0_claim_release(SapRunnerV0Claim *claim)
{
    if (claim != NULL) {
        mem_free(MEM_RUNNER, claim->frame, claim->frame_len);
        claim->frame = NULL;
        claim->frame_len = 0;
    }
}

/* Takes the lease on a row that nobody holds; tokens as row_take_number(). */
static int claim_row(Txn *txn, RowNumbers *tokens, const SapRunnerV0ClaimOptions *options,
                     uint64_t worker, uint64_t seq, uint32_t attempts, SapRunnerV0Claim *claim)
{
    RowKey key = row_message_key(worker, seq);
    SapRunnerV0Lease lease;
    int rc = lease_put(txn, tokens, key.bytes, sizeof key.bytes, options->owner,
                       lease_deadline(options->now_ms, options_ttl(options)), attempts, &lease);

    if (rc == SAP_OK) {
        claim->worker = worker;
        claim->seq = seq;
        claim->owner = lease.owner;
        claim->token = lease.token;
        claim->deadline_ms = lease.deadline_ms;
        claim->attempts = attempts;
    }
    return rc;
}

int mailbox_put_claimed(Txn *txn, const SapRunnerV0ClaimOptions *options, const void *frame,
                        uint32_t frame_len, SapRunnerV0Claim *claim_out)
{
    SapRunnerV0Message msg;
    SapRunnerV0Claim claim = {0};
    uint64_t seq;
    int rc = wire_rc(sap_runner_wire_v0_decode_message(frame, frame_len, &msg));

    SAP_ASSERT(rc != SAP_OK || msg.to_worker == options->worker_id);
    claim.frame = rc == SAP_OK ? mem_copy(MEM_RUNNER, frame, frame_len) : NULL;
    claim.frame_len = claim.frame != NULL ? frame_len : 0;
    if (rc == SAP_OK && claim.frame == NULL) {
        rc = SAP_NOMEM;
    }
    if (rc == SAP_OK) {
        /* `frame` is a row of another table, and may have moved once a number is taken. */
        rc = append(txn, NULL, (uint64_t)msg.to_worker, msg.flags, claim.frame, claim.frame_len,
                    MAILBOX_REQUEUE_SLOTS, &seq);
    }
    if (rc == SAP_OK) {
        rc = claim_row(txn, NULL, options, (uint64_t)options->worker_id, seq, 1, &claim);
    }
    if (rc != SAP_OK) {
        sap_runner_v0_claim_release(&claim);
        return rc;
    }
    *claim_out = claim;
    return SAP_OK;
}

void mailbox_log_release(MailboxLog *log)
{
    for (size_t i = 0; i < log->count; i++) {
        sap_runner_v0_claim_release(&log->met[i].claim);
    }
    mem_free(MEM_RUNNER, log->met, log->room * sizeof *log->met);
    *log = (MailboxLog){0};
}

static int log_grow(MailboxLog *log)
{
    if (log->room > SIZE_MAX / 2 / sizeof *log->met) {
        return SAP_NOMEM;
    }
    size_t room = log->room > 0 ? log->room * 2 : MET_FIRST;
    MailboxMet *met = mem_alloc(MEM_RUNNER, room * sizeof *met);

    if (met == NULL) {
        return SAP_NOMEM;
    }
    if (log->count > 0) {
        memcpy(met, log->met, log->count * sizeof *met);
    }
    mem_free(MEM_RUNNER, log->met, log->room * sizeof *log->met);
    log->met = met;
    log->room = room;
    return SAP_OK;
}

int mailbox_note(MailboxLog *log, SapRunnerV0LogKind kind, const SapRunnerV0Claim *claim, int why,
                 uint32_t detail)
{
    if (log == NULL) {
        return SAP_OK;
    }
    if (log->count == log->room && log_grow(log) != SAP_OK) {
        return SAP_NOMEM;
    }
    MailboxMet met = {.kind = kind, .claim = *claim, .rc = why, .detail = detail};
    met.claim.frame = mem_copy(MEM_RUNNER, claim->frame, claim->frame_len);
    if (met.claim.frame == NULL) {
        return SAP_NOMEM;
    }
    log->met[log->count++] = met;
    return SAP_OK;
}

/* An expired lease found on the way. */
typedef struct Expired {
    uint64_t seq;
    uint64_t token;
    uint32_t attempts;
} Expired;

enum { EXPIRED_AT_ONCE = 64 };

/* Ends one expired lease: its attempt has failed, and the message waits in its place again. */
static int end_expired(Txn *txn, const SapRunnerV0ClaimOptions *options, const Expired *expired,
                       SapRunnerV0ClaimReport *report, MailboxLog *log)
{
    RowKey key = row_message_key((uint64_t)options->worker_id, expired->seq);
    const void *val;
    uint32_t val_len;
    int rc = txn_get_dbi(txn, WIT_DBI_INBOX, key.bytes, sizeof key.bytes, &val, &val_len);

    report->expired++;
    if (rc == SAP_NOTFOUND) {
        return txn_del_dbi(txn, WIT_DBI_LEASES, key.bytes, sizeof key.bytes);
    }
    bool dead = expired->attempts >= options_budget(options);
    if (rc == SAP_OK) {
        SapRunnerV0Claim claim = {.worker = (uint64_t)options->worker_id,
                                  .seq = expired->seq,
                                  .token = expired->token,
                                  .frame = (void *)(uintptr_t)val,
                                  .frame_len = val_len};
        rc =
            mailbox_note(log, SAP_RUNNER_V0_LOG_LEASE_TIMEOUT, &claim, SAP_BUSY, expired->attempts);
        if (rc == SAP_OK && dead) {
            rc = mailbox_note(log, SAP_RUNNER_V0_LOG_DEAD_LETTERED, &claim, SAP_BUSY,
                              expired->attempts);
        }
    }
    if (rc != SAP_OK) {
        return rc;
    }
    if (dead) {
        report->dead++;
        return dead_letter_move_row(txn, (uint64_t)options->worker_id, expired->seq,
                                    expired->attempts, SAP_BUSY);
    }
    rc = dedupe_set_retries(txn, WIT_DBI_INBOX, &key, expired->attempts);
    return rc == SAP_OK ? txn_del_dbi(txn, WIT_DBI_LEASES, key.bytes, sizeof key.bytes) : rc;
}

/* Finds up to EXPIRED_AT_ONCE expired leases; *next_ms_out is the earliest deadline of the rest. */
static int find_expired(Txn *txn, const SapRunnerV0ClaimOptions *options, Expired *found,
                        uint32_t *count_out, int64_t *next_ms_out)
{
    MailboxRange range = mailbox_range(options->worker_id);
    Cursor *cur;
    uint32_t count = 0;
    int64_t next_ms = INT64_MAX;
    int rc = row_cursor_open(txn, WIT_DBI_LEASES, &cur);

    *count_out = 0;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = cursor_seek(cur, range.lo, sizeof range.lo);
    while (rc == SAP_OK && cursor_in_prefix(cur, range.lo, 8) && count < EXPIRED_AT_ONCE) {
        const void *key;
        const void *val;
        uint32_t key_len;
        uint32_t val_len;
        uint64_t worker;
        SapRunnerV0Lease lease = {0};

        rc = cursor_get(cur, &key, &key_len, &val, &val_len);
        if (rc == SAP_OK) {
            rc = row_message_key_read(key, key_len, &worker, &found[count].seq);
        }
        if (rc == SAP_OK) {
            rc = lease_decode(val, val_len, &lease);
        }
        if (rc == SAP_OK && lease.deadline_ms <= options->now_ms) {
            found[count].token = lease.token;
            found[count++].attempts = lease.attempts;
        } else if (rc == SAP_OK && lease.deadline_ms < next_ms) {
            next_ms = lease.deadline_ms;
        }
        if (rc == SAP_OK) {
            rc = cursor_next(cur);
        }
    }
    cursor_close(cur);
    *count_out = count;
    *next_ms_out = next_ms;
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

int mailbox_any_expired(Txn *txn, int64_t worker_id, int64_t now_ms, bool *expired_out)
{
    SapRunnerV0ClaimOptions options = {.worker_id = worker_id, .now_ms = now_ms};
    Expired found[EXPIRED_AT_ONCE];
    uint32_t count;
    int64_t next_ms;
    int rc = find_expired(txn, &options, found, &count, &next_ms);

    *expired_out = rc == SAP_OK && count > 0;
    return rc;
}

static int expire(Txn *txn, const SapRunnerV0ClaimOptions *options, SapRunnerV0ClaimReport *report,
                  MailboxLog *log)
{
    Expired found[EXPIRED_AT_ONCE];
    uint32_t count;
    int rc;

    do {
        rc = find_expired(txn, options, found, &count, &report->next_expiry_ms);
        for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
            rc = end_expired(txn, options, &found[i], report, log);
        }
    } while (rc == SAP_OK && count == EXPIRED_AT_ONCE);
    return rc;
}

/* Walks inbox and leases of one worker side by side. */
typedef struct Walk {
    Cursor *inbox;
    Cursor *leases;
    MailboxRange range;
    uint64_t first; /* rank of the worker's first row in the inbox */
    uint64_t count; /* of its rows */
    bool at_lease;  /* the cursor of leases is on a row of the worker */
} Walk;

static void walk_close(Walk *walk)
{
    cursor_close(walk->inbox);
    cursor_close(walk->leases);
}

/* Places the cursor of leases on the first key not below that of the inbox row. */
static int walk_align(Walk *walk)
{
    const void *key;
    uint32_t key_len;
    int rc = cursor_get_key(walk->inbox, &key, &key_len);

    if (rc == SAP_OK) {
        rc = cursor_seek(walk->leases, key, key_len);
    }
    walk->at_lease = rc == SAP_OK;
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* SAP_NOTFOUND: the worker has no messages. */
static int walk_open(Txn *txn, int64_t worker_id, uint64_t count, Walk *walk)
{
    *walk = (Walk){.range = mailbox_range(worker_id), .count = count};
    walk->inbox = cursor_open_dbi(txn, WIT_DBI_INBOX);
    walk->leases = cursor_open_dbi(txn, WIT_DBI_LEASES);
    if (walk->inbox == NULL || walk->leases == NULL) {
        walk_close(walk);
        return SAP_NOMEM;
    }
    int rc = cursor_seek(walk->inbox, walk->range.lo, sizeof walk->range.lo);
    if (rc == SAP_OK) {
        rc = cursor_rank(walk->inbox, &walk->first);
    }
    if (rc == SAP_OK) {
        rc = walk_align(walk);
    }
    if (rc != SAP_OK) {
        walk_close(walk);
    }
    return rc;
}

/* Finds out whether the message under the cursor is leased; the cursor of leases follows. */
static int walk_leased(Walk *walk, bool *leased_out)
{
    const void *key;
    const void *lease_key;
    uint32_t key_len;
    uint32_t lease_key_len;

    *leased_out = false;
    if (!walk->at_lease) {
        return SAP_OK;
    }
    int rc = cursor_get_key(walk->inbox, &key, &key_len);
    if (rc == SAP_OK) {
        rc = cursor_get_key(walk->leases, &lease_key, &lease_key_len);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    int order = bytes_compare(lease_key, lease_key_len, key, key_len);
    if (order == 0) {
        *leased_out = true;
        rc = cursor_next(walk->leases);
        walk->at_lease = rc == SAP_OK;
    } else if (order < 0) {
        /* A lease without its message: it is in nobody's way, and goes when it expires. */
        rc = walk_align(walk);
        if (rc == SAP_OK) {
            return walk_leased(walk, leased_out);
        }
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* How many leases of the worker lie at or before the n-th of its messages, on which it leaves the
 * cursor of the inbox. */
static int leases_through(Txn *txn, Walk *walk, uint64_t n, uint64_t *leases_out)
{
    const void *key;
    uint32_t key_len;
    uint8_t after[ROW_KEY_SIZE + 1];
    int rc = cursor_seek_nth(walk->inbox, walk->first + n);

    if (rc == SAP_OK) {
        rc = cursor_get_key(walk->inbox, &key, &key_len);
    }
    if (rc == SAP_OK && key_len != ROW_KEY_SIZE) {
        rc = SAP_CORRUPT;
    }
    if (rc != SAP_OK) {
        return rc;
    }
    memcpy(after, key, ROW_KEY_SIZE);
    after[ROW_KEY_SIZE] = 0;
    return txn_count_range(txn, WIT_DBI_LEASES, walk->range.lo, sizeof walk->range.lo, after,
                           sizeof after, leases_out);
}

/* Moves to the first message from rank `from` on (counted within the worker) that nobody holds, if
 * all before `from` are held: by halving, since the number of messages not held among the first n
 * only grows with n. SAP_NOTFOUND: there is none. */
static int walk_jump(Txn *txn, Walk *walk, uint64_t from)
{
    uint64_t lo = from;
    uint64_t hi = walk->count;
    uint64_t leases;
    int rc = SAP_OK;

    while (lo < hi && rc == SAP_OK) {
        uint64_t middle = lo + (hi - lo) / 2;
        rc = leases_through(txn, walk, middle, &leases);
        if (rc == SAP_OK && leases < middle + 1) {
            hi = middle;
        } else {
            lo = middle + 1;
        }
    }
    if (rc == SAP_OK && lo == walk->count) {
        return SAP_NOTFOUND;
    }
    if (rc == SAP_OK) {
        rc = cursor_seek_nth(walk->inbox, walk->first + lo);
    }
    return rc == SAP_OK ? walk_align(walk) : rc;
}

/* Copies number and frame of up to `max` messages that nobody holds. SAP_OK with 0: there is
 * none. */
static int collect(Txn *txn, int64_t worker_id, SapRunnerV0Claim *claims, uint32_t max,
                   uint32_t *count_out)
{
    uint64_t messages;
    uint64_t leased_count;
    Walk walk;
    uint32_t count = 0;
    uint64_t seen = 0; /* messages walked over */
    bool all_leased = true;

    *count_out = 0;
    int rc = mailbox_counts(txn, worker_id, &messages, &leased_count);
    if (rc != SAP_OK || messages == 0) {
        return rc;
    }
    rc = walk_open(txn, worker_id, messages, &walk);
    if (rc != SAP_OK) {
        return rc;
    }
    while (rc == SAP_OK && count < max && seen < messages) {
        bool leased;

        if (all_leased && seen == WALK_MAX) {
            rc = walk_jump(txn, &walk, seen);
            all_leased = false;
            if (rc != SAP_OK) {
                break;
            }
        }
        rc = walk_leased(&walk, &leased);
        if (rc == SAP_OK && !leased) {
            const void *key;
            const void *val;
            uint32_t key_len;
            SapRunnerV0Claim *claim = &claims[count];

            all_leased = false;
            *claim = (SapRunnerV0Claim){0};
            rc = cursor_get(walk.inbox, &key, &key_len, &val, &claim->frame_len);
            if (rc == SAP_OK) {
                rc = row_message_key_read(key, key_len, &claim->worker, &claim->seq);
            }
            if (rc == SAP_OK) {
                claim->frame = mem_copy(MEM_RUNNER, val, claim->frame_len);
                rc = claim->frame != NULL ? SAP_OK : SAP_NOMEM;
            }
            count += rc == SAP_OK;
        }
        if (rc == SAP_OK) {
            seen++;
            rc = cursor_next(walk.inbox);
            if (rc == SAP_OK && !cursor_in_prefix(walk.inbox, walk.range.lo, 8)) {
                rc = SAP_NOTFOUND;
            }
        }
    }
    walk_close(&walk);
    *count_out = count;
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* A claim being made. */
typedef struct Batch {
    Txn *txn;
    const SapRunnerV0ClaimOptions *options;
    SapRunnerV0Claim *claims;
    uint32_t count; /* of those claimed so far */
    RowNumbers tokens;
    SapRunnerV0ClaimReport report;
    MailboxLog *log;
    uint64_t ids[BATCH_IDS / 64]; /* a bit for each hash of an id that is to come but once */
} Batch;

/* Returns whether the batch has a message of this id that is also flagged to be handled once. */
static bool batch_has_id(Batch *batch, const SapRunnerV0Message *msg)
{
    uint64_t bit = hash_bytes(msg->message_id, msg->message_id_len, 0) % BATCH_IDS;
    uint64_t mask = UINT64_C(1) << (bit % 64);

    if ((batch->ids[bit / 64] & mask) == 0) {
        batch->ids[bit / 64] |= mask;
        return false;
    }
    for (uint32_t i = 0; i < batch->count; i++) {
        const SapRunnerV0Claim *claim = &batch->claims[i];
        SapRunnerV0Message other;
        int rc = sap_runner_wire_v0_decode_message(claim->frame, claim->frame_len, &other);

        SAP_ASSERT(rc == SAP_RUNNER_WIRE_OK);
        if ((other.flags & SAP_RUNNER_V0_DEDUPE) != 0 &&
            bytes_compare(other.message_id, other.message_id_len, msg->message_id,
                          msg->message_id_len) == 0) {
            return true;
        }
    }
    return false;
}

/* A message whose id was handled before goes. */
static int drop_seen(Batch *batch, const SapRunnerV0Claim *claim, const SapRunnerV0Message *msg,
                     bool differs)
{
    RowKey key = row_message_key(claim->worker, claim->seq);
    int rc = mailbox_note(batch->log, SAP_RUNNER_V0_LOG_DUPLICATE, claim, SAP_EXISTS, differs);

    batch->report.duplicates++;
    if (rc == SAP_OK) {
        rc = dedupe_note_again(batch->txn, claim->worker, msg->message_id, msg->message_id_len,
                               batch->options->now_ms);
    }
    if (rc == SAP_OK) {
        /* It may have failed before another message of its id succeeded. */
        rc = dedupe_set_retries(batch->txn, WIT_DBI_INBOX, &key, 0);
    }
    return rc == SAP_OK ? txn_del_dbi(batch->txn, WIT_DBI_INBOX, key.bytes, sizeof key.bytes) : rc;
}

/* What became of a collected message. */
typedef enum Taken {
    TAKEN_GONE,    /* it was nothing to claim */
    TAKEN_CLAIMED, /* and others may follow */
    TAKEN_LAST,    /* claimed, and the batch is complete */
    TAKEN_LATER    /* the batch is complete without it */
} Taken;

static int take(Batch *batch, SapRunnerV0Claim *claim, Taken *taken_out)
{
    const SapRunnerV0ClaimOptions *options = batch->options;
    Txn *txn = batch->txn;
    SapRunnerV0Message msg;
    uint32_t failed = 0;
    int seen = 0;
    int differs = 0;
    int rc = SAP_OK;

    *taken_out = TAKEN_GONE;
    if (sap_runner_wire_v0_decode_message(claim->frame, claim->frame_len, &msg) != SAP_OK ||
        msg.to_worker != options->worker_id) {
        batch->report.dead++;
        rc = mailbox_note(batch->log, SAP_RUNNER_V0_LOG_DEAD_LETTERED, claim, SAP_INVALID, 0);
        return rc == SAP_OK ? dead_letter_move_row(txn, claim->worker, claim->seq, 0, SAP_INVALID)
                            : rc;
    }
    bool once = (msg.flags & SAP_RUNNER_V0_DEDUPE) != 0;
    if (once) {
        rc = sap_runner_dedupe_v0_seen(txn, options->worker_id, msg.message_id, msg.message_id_len,
                                       msg.payload, msg.payload_len, options->now_ms, &seen,
                                       &differs);
    }
    if (rc == SAP_OK && seen) {
        return drop_seen(batch, claim, &msg, differs != 0);
    }
    if (rc == SAP_OK) {
        RowKey key = row_message_key(claim->worker, claim->seq);
        rc = dedupe_retries(txn, WIT_DBI_INBOX, &key, &failed);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    bool alone = failed > 0 && options->retried_alone;
    if ((alone && batch->count > 0) || (once && batch_has_id(batch, &msg))) {
        *taken_out = TAKEN_LATER;
        return SAP_OK;
    }
    rc = claim_row(txn, &batch->tokens, options, claim->worker, claim->seq,
                   failed < UINT32_MAX ? failed + 1 : failed, claim);
    if (rc == SAP_OK) {
        *taken_out = alone ? TAKEN_LAST : TAKEN_CLAIMED;
    }
    return rc;
}

int mailbox_claim(Txn *txn, const SapRunnerV0ClaimOptions *options, SapRunnerV0Claim *claims,
                  uint32_t max, uint32_t *count_out, SapRunnerV0ClaimReport *report_out,
                  MailboxLog *log)
{
    Batch batch = {.txn = txn, .options = options, .claims = claims, .log = log};
    uint32_t found = 0;
    uint32_t dropped;
    bool complete = false;
    int rc = SAP_OK;

    if (txn == NULL || options == NULL || options->worker_id < 0 || options->owner == 0 ||
        (claims == NULL && max > 0) || count_out == NULL) {
        return SAP_ERROR;
    }
    if (report_out != NULL) {
        batch.report = *report_out;
    }
    batch.report.next_expiry_ms = options->quiet_until_ms;
    if (options->quiet_until_ms == 0 || options->quiet_until_ms <= options->now_ms) {
        rc = expire(txn, options, &batch.report, log);
    }
    do {
        uint32_t before = batch.count;
        if (rc == SAP_OK) {
            rc = collect(txn, options->worker_id, claims + before, max - before, &found);
        }
        if (rc == SAP_OK && found > 0) {
            rc = row_take_numbers(txn, "leases", found, &batch.tokens);
        }
        for (uint32_t i = before; i < before + found; i++) {
            Taken taken = TAKEN_LATER;
            if (rc == SAP_OK && !complete) {
                rc = take(&batch, &claims[i], &taken);
                complete = taken == TAKEN_LAST || taken == TAKEN_LATER;
            }
            if (taken != TAKEN_CLAIMED && taken != TAKEN_LAST) {
                sap_runner_v0_claim_release(&claims[i]);
                continue;
            }
            if (claims[i].deadline_ms < batch.report.next_expiry_ms) {
                batch.report.next_expiry_ms = claims[i].deadline_ms;
            }
            SapRunnerV0Claim claim = claims[i];
            claims[i].frame = NULL;
            claims[batch.count++] = claim;
        }
        dropped = before + found - batch.count;
        /* Rows that turned out to be nothing to claim made room for others. */
    } while (rc == SAP_OK && dropped > 0 && !complete);

    if (rc != SAP_OK) {
        while (batch.count > 0) {
            sap_runner_v0_claim_release(&claims[--batch.count]);
        }
        return rc;
    }
    *count_out = batch.count;
    if (report_out != NULL) {
        *report_out = batch.report;
    }
    return SAP_OK;
}

/* Returns whether plain readers, who see what is on disk, find every message. Numbers do not
 * repeat, so a row of that key is that message. */
static bool all_durable(DB *db, const SapRunnerV0Claim *claims, uint32_t count)
{
    const void *val;
    uint32_t val_len;
    Txn *txn;
    uint32_t found = 0;

    if (txn_begin_rc(db, NULL, TXN_RDONLY, &txn) != SAP_OK) {
        return false;
    }
    while (found < count) {
        RowKey key = row_message_key(claims[found].worker, claims[found].seq);
        if (txn_get_dbi(txn, WIT_DBI_INBOX, key.bytes, sizeof key.bytes, &val, &val_len) !=
            SAP_OK) {
            break;
        }
        found++;
    }
    txn_abort(txn);
    return found == count;
}

int mailbox_wait_durable(DB *db, const SapRunnerV0Claim *claims, uint32_t count, uint64_t base_lsn)
{
    return all_durable(db, claims, count) ? SAP_OK : durable_wait(db, base_lsn);
}

OPTIONS_LAYOUT(SapRunnerV0ClaimOptions, reserved, reserved);

int sap_runner_mailbox_v0_claim(SapTxnCtx *txn, const SapRunnerV0ClaimOptions *options,
                                SapRunnerV0Claim *claims, uint32_t max, uint32_t *count_out,
                                SapRunnerV0ClaimReport *report_out)
{
    SapRunnerV0ClaimOptions known;

    if (OPTIONS_READ(SapRunnerV0ClaimOptions, &known, options) != SAP_OK || known.reserved != 0) {
        return SAP_ERROR;
    }
    return mailbox_claim(txn, &known, claims, max, count_out, report_out, NULL);
}

/* ---- Ends of a claim ------------------------------------------------------------------------ */

static int claim_check(Txn *txn, const SapRunnerV0Claim *claim)
{
    if (claim == NULL || claim->token == 0) {
        return SAP_ERROR;
    }
    RowKey key = row_message_key(claim->worker, claim->seq);
    return lease_check(txn, key.bytes, sizeof key.bytes, claim->token, NULL);
}

/* Removes row, lease and retry count of a claim that has been checked. */
static int remove_row(Txn *txn, const SapRunnerV0Claim *claim)
{
    RowKey key = row_message_key(claim->worker, claim->seq);
    int rc = txn_del_dbi(txn, WIT_DBI_INBOX, key.bytes, sizeof key.bytes);

    if (rc == SAP_NOTFOUND) {
        return SAP_CONFLICT;
    }
    if (rc == SAP_OK && claim->attempts > 1) {
        rc = dedupe_set_retries(txn, WIT_DBI_INBOX, &key, 0);
    }
    return rc == SAP_OK ? txn_del_dbi(txn, WIT_DBI_LEASES, key.bytes, sizeof key.bytes) : rc;
}

int mailbox_remove(Txn *txn, const SapRunnerV0Claim *claim)
{
    int rc = claim_check(txn, claim);

    return rc == SAP_OK ? remove_row(txn, claim) : rc;
}

int sap_runner_mailbox_v0_ack(SapTxnCtx *txn, const SapRunnerV0Claim *claim, int64_t now_ms,
                              uint64_t dedupe_ttl_ms)
{
    SapRunnerV0Message msg = {0};
    int rc = mailbox_remove(txn, claim);

    if (rc == SAP_OK) {
        rc = wire_rc(sap_runner_wire_v0_decode_message(claim->frame, claim->frame_len, &msg));
    }
    if (rc == SAP_OK && (msg.flags & SAP_RUNNER_V0_DEDUPE) != 0) {
        rc = sap_runner_dedupe_v0_accept(txn, (int64_t)claim->worker, msg.message_id,
                                         msg.message_id_len, msg.payload, msg.payload_len, now_ms,
                                         dedupe_ttl_ms > 0 ? dedupe_ttl_ms : MAILBOX_DEDUPE_TTL_MS);
    }
    return rc;
}

int mailbox_drop_duplicate(Txn *txn, const SapRunnerV0Claim *claim, int64_t now_ms)
{
    SapRunnerV0Message msg;
    int rc = mailbox_remove(txn, claim);

    if (rc == SAP_OK) {
        rc = wire_rc(sap_runner_wire_v0_decode_message(claim->frame, claim->frame_len, &msg));
    }
    return rc == SAP_OK
               ? dedupe_note_again(txn, claim->worker, msg.message_id, msg.message_id_len, now_ms)
               : rc;
}

int sap_runner_mailbox_v0_touch(SapTxnCtx *txn, SapRunnerV0Claim *claim, int64_t now_ms,
                                int64_t lease_ttl_ms)
{
    SapRunnerV0Lease lease;

    if (claim == NULL || claim->token == 0 || lease_ttl_ms <= 0) {
        return SAP_ERROR;
    }
    RowKey key = row_message_key(claim->worker, claim->seq);
    int rc = sap_runner_lease_v0_renew(txn, key.bytes, sizeof key.bytes, claim->token, now_ms,
                                       lease_ttl_ms, &lease);
    if (rc == SAP_OK) {
        claim->deadline_ms = lease.deadline_ms;
    }
    return rc;
}

/* The message is in row `row` of table `dbi` from now on: removes its old row and counts the failed
 * attempt for the new one. */
static int leave(Txn *txn, const SapRunnerV0Claim *claim, uint32_t dbi, const RowKey *row)
{
    int rc = remove_row(txn, claim);

    return rc == SAP_OK ? dedupe_set_retries(txn, dbi, row, claim->attempts) : rc;
}

static int claim_decode(Txn *txn, const SapRunnerV0Claim *claim, SapRunnerV0Message *msg_out)
{
    int rc = claim_check(txn, claim);

    return rc == SAP_OK
               ? wire_rc(sap_runner_wire_v0_decode_message(claim->frame, claim->frame_len, msg_out))
               : rc;
}

int sap_runner_mailbox_v0_requeue(SapTxnCtx *txn, const SapRunnerV0Claim *claim, uint32_t max_slots,
                                  uint64_t *seq_out)
{
    SapRunnerV0Message msg;
    uint64_t seq;
    int rc = claim_decode(txn, claim, &msg);

    if (rc == SAP_OK) {
        rc = append(txn, NULL, claim->worker, msg.flags, claim->frame, claim->frame_len,
                    max_slots > 0 ? max_slots : MAILBOX_REQUEUE_SLOTS, &seq);
    }
    if (rc == SAP_OK) {
        RowKey row = row_message_key(claim->worker, seq);
        rc = leave(txn, claim, WIT_DBI_INBOX, &row);
    }
    if (rc == SAP_OK && seq_out != NULL) {
        *seq_out = seq;
    }
    return rc;
}

int sap_runner_mailbox_v0_requeue_at(SapTxnCtx *txn, const SapRunnerV0Claim *claim, int64_t due_ms)
{
    uint64_t timer_seq;
    int rc = claim_check(txn, claim);

    if (rc == SAP_OK) {
        rc = sap_runner_timer_v0_append(txn, due_ms, claim->frame, claim->frame_len, &timer_seq);
    }
    if (rc == SAP_OK) {
        RowKey row = row_timer_key(due_ms, timer_seq);
        rc = leave(txn, claim, WIT_DBI_TIMERS, &row);
    }
    return rc;
}

/* ---- Waits between attempts ----------------------------------------------------------------- */

bool mailbox_backoff_complete(int64_t first_ms, int64_t longest_ms, int64_t *first_out,
                              int64_t *longest_out)
{
    int64_t first = first_ms != 0 ? first_ms : MAILBOX_BACKOFF_MS;
    int64_t longest = longest_ms != 0 ? longest_ms : MAILBOX_BACKOFF_MAX_MS;

    if (longest < 0) {
        return false;
    }
    /* Where only one of the two was given, the default of the other follows it. */
    if (first > longest && first_ms == 0) {
        first = longest;
    } else if (first > longest && longest_ms == 0) {
        longest = first;
    }
    *first_out = first;
    *longest_out = longest;
    return first <= longest;
}

int64_t mailbox_backoff_ms(int64_t first_ms, int64_t longest_ms, uint32_t failed, uint32_t dice)
{
    SAP_ASSERT(failed > 0 && first_ms <= longest_ms);
    return first_ms <= 0 ? 0
                         : (int64_t)scheduler_backoff((uint64_t)first_ms, (uint64_t)longest_ms,
                                                      failed - 1, dice);
}

int mailbox_retry(Txn *txn, const SapRunnerV0Claim *claim, uint32_t max_slots, int64_t now_ms,
                  int64_t wait_ms)
{
    return wait_ms > 0
               ? sap_runner_mailbox_v0_requeue_at(txn, claim, lease_deadline(now_ms, wait_ms))
               : sap_runner_mailbox_v0_requeue(txn, claim, max_slots, NULL);
}
