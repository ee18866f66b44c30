#include "support/post.h"

#include "common/bytes.h"
#include "common/hash.h"
#include "common/mem.h"
#include "support/expect.h"

#include <string.h>

enum { LEASE_MS = 1000, MAX_SLOTS = 4 };

void post_open(Post *post)
{
    post->memory = mem_live_total();
    post->db = sap_db_open(NULL, 4096, NULL, NULL);
    EXPECT(post->db != NULL, "no DB");
    EXPECT_RC(sap_runner_v0_bootstrap_dbis(post->db), SAP_OK);
}

void post_close(Post *post)
{
    EXPECT_RC(sap_db_verify(post->db, NULL, NULL), SAP_OK);
    EXPECT_RC(sap_db_close(post->db), SAP_OK);
    EXPECT(mem_live_total() == post->memory, "%zu bytes are still in use",
           mem_live_total() - post->memory);
}

SapTxnCtx *post_begin(SapEnv *db)
{
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT, &txn), SAP_OK);
    return txn;
}

void post_commit(SapTxnCtx *txn)
{
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

static SapTxnCtx *begin_read(SapEnv *db)
{
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY | SAP_TXN_NEWEST, &txn), SAP_OK);
    return txn;
}

static int end(SapTxnCtx *txn, int rc)
{
    if (rc == SAP_OK) {
        post_commit(txn);
    } else {
        sap_txn_abort(txn);
    }
    return rc;
}

void post_message(SapRunnerV0Message *msg, int64_t to, unsigned flags, const char *id)
{
    memset(msg, 0, sizeof *msg);
    msg->kind = SAP_RUNNER_V0_COMMAND;
    msg->flags = (uint8_t)flags;
    msg->to_worker = to;
    msg->route_worker = 0;
    msg->route_timestamp = POST_ROUTED_MS;
    msg->message_id = id;
    msg->message_id_len = (uint32_t)strlen(id);
    msg->payload = id;
    msg->payload_len = msg->message_id_len;
}

uint32_t post_frame(uint8_t buf[POST_FRAME_MAX], int64_t to, unsigned flags, const char *id)
{
    SapRunnerV0Message msg;
    uint32_t len = 0;

    post_message(&msg, to, flags, id);
    EXPECT_RC(sap_runner_wire_v0_encode_message(&msg, buf, POST_FRAME_MAX, &len),
              SAP_RUNNER_WIRE_OK);
    return len;
}

uint64_t post_send_in(SapTxnCtx *txn, int64_t to, unsigned flags, const char *id)
{
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = post_frame(frame, to, flags, id);
    uint64_t seq = 0;

    EXPECT_RC(sap_runner_mailbox_v0_send(txn, frame, len, &seq), SAP_OK);
    return seq;
}

uint64_t post_send(SapEnv *db, int64_t to, unsigned flags, const char *id)
{
    SapTxnCtx *txn = post_begin(db);
    uint64_t seq = post_send_in(txn, to, flags, id);

    post_commit(txn);
    return seq;
}

const char *post_id(const void *frame, uint32_t len, char text[POST_ID_MAX])
{
    SapRunnerV0Message msg;

    EXPECT_RC(sap_runner_wire_v0_decode_message(frame, len, &msg), SAP_RUNNER_WIRE_OK);
    EXPECT(msg.message_id_len < POST_ID_MAX, "an id of %u bytes", msg.message_id_len);
    memcpy(text, msg.message_id, msg.message_id_len);
    text[msg.message_id_len] = 0;
    return text;
}

void post_expect_id(const void *frame, uint32_t len, const char *id)
{
    char text[POST_ID_MAX];

    EXPECT(strcmp(post_id(frame, len, text), id) == 0, "message '%s' instead of '%s'", text, id);
}

int post_claim(SapEnv *db, int64_t worker, uint64_t owner, int64_t now_ms,
               SapRunnerV0Claim *claim_out)
{
    SapRunnerV0ClaimOptions options = {
        .worker_id = worker, .owner = owner, .now_ms = now_ms, .lease_ttl_ms = LEASE_MS};
    SapTxnCtx *txn = post_begin(db);
    uint32_t count = 9;

    EXPECT_RC(sap_runner_mailbox_v0_claim(txn, &options, claim_out, 1, &count, NULL), SAP_OK);
    EXPECT(count <= 1, "%u claims of 1", count);
    post_commit(txn);
    return (int)count;
}

void post_expect_claim(SapEnv *db, int64_t worker, uint64_t owner, int64_t now_ms, const char *id,
                       SapRunnerV0Claim *claim_out)
{
    EXPECT(post_claim(db, worker, owner, now_ms, claim_out) == 1, "nothing to claim, not even '%s'",
           id);
    post_expect_id(claim_out->frame, claim_out->frame_len, id);
}

void post_expect_no_claim(SapEnv *db, int64_t worker, int64_t now_ms)
{
    SapRunnerV0Claim claim;
    char text[POST_ID_MAX];

    EXPECT(post_claim(db, worker, 99, now_ms, &claim) == 0, "'%s' could be claimed",
           post_id(claim.frame, claim.frame_len, text));
}

int post_ack(SapEnv *db, const SapRunnerV0Claim *claim, int64_t now_ms)
{
    SapTxnCtx *txn = post_begin(db);

    return end(txn, sap_runner_mailbox_v0_ack(txn, claim, now_ms, 60000));
}

int post_touch(SapEnv *db, SapRunnerV0Claim *claim, int64_t now_ms, int64_t ttl_ms)
{
    SapTxnCtx *txn = post_begin(db);

    return end(txn, sap_runner_mailbox_v0_touch(txn, claim, now_ms, ttl_ms));
}

int post_requeue(SapEnv *db, const SapRunnerV0Claim *claim)
{
    SapTxnCtx *txn = post_begin(db);

    return end(txn, sap_runner_mailbox_v0_requeue(txn, claim, MAX_SLOTS, NULL));
}

int post_requeue_at(SapEnv *db, const SapRunnerV0Claim *claim, int64_t due_ms)
{
    SapTxnCtx *txn = post_begin(db);

    return end(txn, sap_runner_mailbox_v0_requeue_at(txn, claim, due_ms));
}

int post_dead(SapEnv *db, const SapRunnerV0Claim *claim, int rc)
{
    SapTxnCtx *txn = post_begin(db);

    return end(txn, sap_runner_dead_letter_v0_move(txn, claim, rc));
}

uint32_t post_move_due(SapEnv *db, int64_t now_ms)
{
    SapTxnCtx *txn = post_begin(db);
    uint32_t moved = 0;

    EXPECT_RC(sap_runner_timer_v0_move_due(txn, now_ms, UINT32_MAX, &moved), SAP_OK);
    post_commit(txn);
    return moved;
}

static uint64_t rows_with_prefix(SapEnv *db, uint32_t dbi, const char *prefix)
{
    SapTxnCtx *txn = begin_read(db);
    SapCursor *cur = sap_cursor_open_dbi(txn, dbi);
    uint64_t rows = 0;
    uint32_t len = (uint32_t)strlen(prefix);

    EXPECT(cur != NULL, "no cursor");
    for (int rc = sap_cursor_seek_prefix(cur, prefix, len);
         rc == SAP_OK && sap_cursor_in_prefix(cur, prefix, len); rc = sap_cursor_next(cur)) {
        rows++;
    }
    sap_cursor_close(cur);
    sap_txn_abort(txn);
    return rows;
}

uint64_t post_rows(SapEnv *db, uint32_t dbi)
{
    return rows_with_prefix(db, dbi, "");
}

uint64_t post_retry_rows(SapEnv *db)
{
    return rows_with_prefix(db, POST_DEDUPE, "retry:");
}

uint64_t post_seen_rows(SapEnv *db)
{
    return rows_with_prefix(db, POST_DEDUPE, "seen:");
}

void post_put(SapEnv *db, uint32_t dbi, const void *key, uint32_t key_len, const void *val,
              uint32_t val_len)
{
    SapTxnCtx *txn = post_begin(db);

    EXPECT_RC(sap_txn_put_dbi(txn, dbi, key, key_len, val, val_len), SAP_OK);
    post_commit(txn);
}

void post_key(uint8_t key[16], uint64_t worker, uint64_t seq)
{
    store_u64be(key, worker);
    store_u64be(key + 8, seq);
}

uint64_t post_digest(SapEnv *db)
{
    return post_digest_from(db, 0);
}

uint64_t post_digest_from(SapEnv *db, uint32_t first_dbi)
{
    SapTxnCtx *txn = begin_read(db);
    uint64_t digest = 0;

    for (uint32_t dbi = first_dbi; dbi < POST_TABLES; dbi++) {
        SapCursor *cur = sap_cursor_open_dbi(txn, dbi);
        EXPECT(cur != NULL, "no cursor");
        for (int rc = sap_cursor_first(cur); rc == SAP_OK; rc = sap_cursor_next(cur)) {
            const void *key = NULL;
            const void *val = NULL;
            uint32_t key_len = 0;
            uint32_t val_len = 0;
            EXPECT_RC(sap_cursor_get(cur, &key, &key_len, &val, &val_len), SAP_OK);
            digest = hash_bytes(key, key_len, digest + dbi + 1);
            digest = hash_bytes(val, val_len, digest);
        }
        sap_cursor_close(cur);
    }
    sap_txn_abort(txn);
    return digest;
}

static int64_t clock_now(void *ctx)
{
    PostClock *clock = ctx;

    clock->now_ms += clock->step_ms;
    return clock->now_ms;
}

static void clock_sleep(uint32_t ms, void *ctx)
{
    PostClock *clock = ctx;

    clock->sleeps++;
    clock->slept_ms += ms;
    clock->now_ms += ms;
}

SapRunnerV0TimeHooks post_clock_hooks(PostClock *clock)
{
    SapRunnerV0TimeHooks hooks = {clock_now, clock_sleep, clock};

    return hooks;
}
