/* errands.h - messages that beget messages, and accounts of what became of each.
 *
 * An errand is a message whose id says everything: by hashing it with a seed, everybody knows to
 * which worker it goes, whether it fails, what it moves between accounts, and which errands follow
 * from it. So a test needs to remember nothing: from the ids of the first ones, the roots, it can
 * name every row that must be there when all is done.
 *
 *   root "3-17"     the 17th of producer 3; a number has a row in the commit that sent it, or its
 *                   message is flagged for dedupe and can be sent again
 *   "3-17.0.1"      the second of the first that follows from it; sent, or armed as a timer
 *
 * An errand that is applied adds one to its row in ERRAND_APPLIED and moves an amount from one
 * account to another. Each ends applied exactly once or as exactly one dead letter; of one flagged for dedupe, which may
 * have been sent several times, one copy at most is applied. Ids that end at worker `workers` are
 * for elsewhere: a forwarder gets them. */
#ifndef SAPLING_TESTS_ERRANDS_H
#define SAPLING_TESTS_ERRANDS_H

#include "sapling/runner_v0.h"
#include "sapling/sapling.h"
#include "support/choice.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    ERRAND_APPLIED = 8, /* table: id -> how often */
    ERRAND_ACCOUNTS = 12,
    ERRAND_FUNDS = 1000, /* of each account at first */
    ERRAND_MAX_ID = 40,
    ERRAND_MAX_CHILDREN = 2,
    ERRAND_MAX_PAYLOAD = 6000,
};

typedef struct ErrandPlan {
    uint64_t seed;
    uint32_t workers;     /* 0 .. workers - 1 are local */
    uint32_t generations; /* below the roots */
    bool elsewhere;       /* some errands are for worker `workers` */
    uint32_t poison_one_in;
    uint32_t flaky_one_in;
    uint32_t max_delay_ms; /* of timers */
} ErrandPlan;

typedef enum { ERRAND_FINE, ERRAND_FLAKY, ERRAND_POISON } ErrandTemper;

typedef struct Errand {
    char id[ERRAND_MAX_ID];
    uint32_t id_len;
    int64_t worker;
    uint8_t flags;
    ErrandTemper temper;
    uint32_t children;
    int64_t delay_ms; /* 0: sent at once */
    uint32_t payload_len;
} Errand;

Errand errand_root(const ErrandPlan *plan, uint32_t producer, uint64_t number);
Errand errand_child(const ErrandPlan *plan, const Errand *parent, uint32_t i);
/* The errand that a message is. Aborts if the message is not what its errand says: worker, flags,
 * payload, trace. */
Errand errand_of(const ErrandPlan *plan, const SapRunnerV0Message *msg);
/* Borrows from the errand and from `payload`, ERRAND_MAX_PAYLOAD bytes, which it fills. */
SapRunnerV0Message errand_message(const ErrandPlan *plan, const Errand *errand, uint8_t *payload,
                                  int64_t now_ms);

/* The table, and the accounts with their funds, unless they are there. */
void errands_open(SapEnv *db);

/* Sends root `number`, and where its hash says so twice. With *durable it is on disk when this
 * returns. Odd numbers are noted in the same commit; even ones go through sap_runner_v0_send(), and
 * may be sent again by whoever does not know whether they were. */
void errands_send(const ErrandPlan *plan, SapEnv *db, uint32_t producer, uint64_t number,
                  int64_t now_ms, bool durable);
/* The last number of the producer that is noted. */
uint64_t errands_noted(SapEnv *db, uint32_t producer);

/* Applies an errand within a block: its row, the accounts, what follows. `sum`: also looks at all
 * accounts. Answers codes of the host. */
int errand_apply(const ErrandPlan *plan, SapRunnerHostV0 *host, const Errand *errand, bool sum);

/* A code with which a handler fails, of any kind. */
int errand_failure(uint32_t dice);
/* Whether it is one of them. */
bool errand_is_failure(int rc);

/* How often an errand is known to be applied. */
uint64_t errand_applied(SapEnv *db, const char *id, uint32_t id_len);

typedef struct ErrandCounts {
    uint64_t applied;
    uint64_t dead;
    uint64_t elsewhere;
} ErrandCounts;

/* Every errand that follows from numbers 1 to last[p] of producers p < producers has ended as it
 * should and nothing else is there: no other row, nothing in inbox, outbox, leases and timers, no
 * count of retries; the accounts have what they had; the DB verifies. `forwarded` says how often an
 * errand was given to the forwarder (NULL: there is none). */
ErrandCounts errands_expect_done(const ErrandPlan *plan, SapEnv *db, const uint64_t *last,
                                 uint32_t producers, uint32_t retry_budget,
                                 uint64_t (*forwarded)(const char *id, void *ctx), void *ctx);

/* How many rows the tables of messages on their way have: inbox, outbox, leases, timers. */
uint64_t errands_on_the_way(SapEnv *db);
uint64_t errands_rows(SapEnv *db, uint32_t dbi);

#endif
