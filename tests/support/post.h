/* post.h - a DB with the runner's tables, and messages made of a few words.
 *
 * What must succeed does, or the helper aborts. A message's payload is its id. */
#ifndef SAPLING_TESTS_POST_H
#define SAPLING_TESTS_POST_H

#include "sapling/runner_v0.h"
#include "sapling/sapling.h"

#include <stddef.h>
#include <stdint.h>

enum {
    POST_APP = 0,
    POST_INBOX = 1,
    POST_OUTBOX = 2,
    POST_LEASES = 3,
    POST_TIMERS = 4,
    POST_DEDUPE = 5,
    POST_DEAD = 6,
    POST_DEDUPE_TTL = 7,
    POST_TABLES = 8,
    POST_FRAME_MAX = 2048,
    POST_ID_MAX = 32
};

#define POST_NORMAL 0u
#define POST_HIGH   SAP_RUNNER_V0_HIGH_PRIORITY
#define POST_ONCE   SAP_RUNNER_V0_DEDUPE

/* Frames are stamped with this time. */
#define POST_ROUTED_MS 777

/* In memory. post_close() expects that the memory in use is what it was at post_open(). */
typedef struct Post {
    SapEnv *db;
    size_t memory;
} Post;
void post_open(Post *post);
void post_close(Post *post);

/* A writer, and its end. */
SapTxnCtx *post_begin(SapEnv *db);
void post_commit(SapTxnCtx *txn);

/* A message to a worker; `id` is borrowed. */
void post_message(SapRunnerV0Message *msg, int64_t to, unsigned flags, const char *id);
/* Its frame; returns the length. */
uint32_t post_frame(uint8_t buf[POST_FRAME_MAX], int64_t to, unsigned flags, const char *id);
/* Into the inbox, in a transaction of its own, or in the caller's. */
uint64_t post_send(SapEnv *db, int64_t to, unsigned flags, const char *id);
uint64_t post_send_in(SapTxnCtx *txn, int64_t to, unsigned flags, const char *id);

/* The id of a frame as a text. */
const char *post_id(const void *frame, uint32_t len, char text[POST_ID_MAX]);
void post_expect_id(const void *frame, uint32_t len, const char *id);

/* Claims at most one, in a transaction of its own, for a second. 1 if there was one; whose frame is
 * to be released. */
int post_claim(SapEnv *db, int64_t worker, uint64_t owner, int64_t now_ms,
               SapRunnerV0Claim *claim_out);
/* The same, and it must be the one of that id. */
void post_expect_claim(SapEnv *db, int64_t worker, uint64_t owner, int64_t now_ms, const char *id,
                       SapRunnerV0Claim *claim_out);
void post_expect_no_claim(SapEnv *db, int64_t worker, int64_t now_ms);

/* Each in a transaction of its own, which is committed on SAP_OK and otherwise aborted. */
int post_ack(SapEnv *db, const SapRunnerV0Claim *claim, int64_t now_ms);
int post_touch(SapEnv *db, SapRunnerV0Claim *claim, int64_t now_ms, int64_t ttl_ms);
int post_requeue(SapEnv *db, const SapRunnerV0Claim *claim);
int post_requeue_at(SapEnv *db, const SapRunnerV0Claim *claim, int64_t due_ms);
int post_dead(SapEnv *db, const SapRunnerV0Claim *claim, int rc);
uint32_t post_move_due(SapEnv *db, int64_t now_ms);

/* How many rows a table has. */
uint64_t post_rows(SapEnv *db, uint32_t dbi);
/* Those of table 5 that count failures, and those that remember ids. */
uint64_t post_retry_rows(SapEnv *db);
uint64_t post_seen_rows(SapEnv *db);

/* A row as the tables have it, in a transaction of its own. */
void post_put(SapEnv *db, uint32_t dbi, const void *key, uint32_t key_len, const void *val,
              uint32_t val_len);
/* The key of table 1 and 6. */
void post_key(uint8_t key[16], uint64_t worker, uint64_t seq);

/* The content of all tables as a number: the same if and only if nothing changed. */
uint64_t post_digest(SapEnv *db);
/* The same of the tables from one on. */
uint64_t post_digest_from(SapEnv *db, uint32_t first_dbi);

/* Time and sleep that a test moves. */
typedef struct PostClock {
    int64_t now_ms;
    int64_t step_ms; /* added at each look */
    uint32_t sleeps;
    uint64_t slept_ms;
} PostClock;
SapRunnerV0TimeHooks post_clock_hooks(PostClock *clock);

#endif
