/* tally.h - a subsystem for tests: an ordered set of numbers, each state a value of its own.
 *
 * A change adds what is not there or removes what is, and its bytes say which: bytes that are applied
 * twice, in another order or on top of another state are refused. */
#ifndef SAPLING_TESTS_TALLY_H
#define SAPLING_TESTS_TALLY_H

#include "sapling/sapling.h"

enum { TALLY_ID = 5 };

/* As one of the options' subsystems. Its allocations are fault points. */
const SapSubsystem *tally_subsystem(void);

/* Adds the number, or removes it if it is there. */
int tally_flip(SapTxnCtx *txn, uint32_t number);

/* The numbers of a state, as the transaction, or with NULL a reader that begins now, sees it; with
 * spaces between them. Borrowed until the next call. */
const char *tally_text(SapEnv *db, SapTxnCtx *txn);
void tally_expect(SapEnv *db, const char *expected);

/* What the subsystem is to answer from now on; SAP_OK: what it does. */
typedef struct TallyAnswers {
    int encode;
    int apply;
    int save;
    uint32_t write; /* not 0: encode and save write so many bytes that there are not */
} TallyAnswers;
extern TallyAnswers tally_answers;

/* How often encode() was called since the start. */
extern uint64_t tally_encoded;

/* Frees all states; no DB that has one may be open. Returns how many there were. */
uint64_t tally_release(void);

#endif
