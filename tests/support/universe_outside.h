/* universe_outside.h - worlds that ask for effects and timers, and the outside that keeps account of the calls.
 *
 * Message n of a world says which effects and timers its handler asks for, and which earlier effect it
 * cancels: all of that follows from n. The kinds fail, take their time and may be begun once, as the key of
 * the effect says, so that every process performs an attempt alike.
 *
 * The account is a file to which a call is added before it is performed: what is killed takes nothing of it
 * back. An audit compares it with the journals, and with the claims that the dead held:
 *
 *   every effect that was not cancelled has one receipt in the journal of its world, every timer one firing,
 *   and neither before its time; of those that were cancelled none has reached a handler;
 *   a receipt lists as many attempts as there were claims: each one was begun, or held when a process died;
 *   an attempt that was lost was held by one that died, any other was begun; none was begun twice;
 *   all attempts of an effect have the same key; one of at_most_once was begun at most once;
 *   a receipt is what its attempts and the policy make of it;
 *   a message that was acknowledged is in the journal once. */
#ifndef SAPLING_TESTS_UNIVERSE_OUTSIDE_H
#define SAPLING_TESTS_UNIVERSE_OUTSIDE_H

#include "sapling/universe.h"

#include <stdbool.h>
#include <stdint.h>

enum { OUTSIDE_WORLDS = 6, OUTSIDE_MESSAGES = 3000 /* at most, of a store */ };

#define OUTSIDE_MODULE "outside"

/* ---- In every process ------------------------------------------------------------------------ */

/* The handler. */
int outside_handle(SapWorld *world, const SapEvent *event);

void outside_make_worlds(SapUniverse *universe);
/* Sends it once. Codes are those of sap_enqueue_ingress(). */
int outside_send(SapUniverse *universe, uint32_t number);

/* Opens the account, to which the calls of this process are added from now on. */
void outside_open_account(const char *path);
void outside_close_account(void);
/* Adds that the process is ready, and that a message was acknowledged. */
void outside_note_ready(void);
void outside_note_sent(uint32_t number);

/* Makes the worker serve the kinds: for HostOptions.prepare. */
int outside_serve(SapWorker *worker, void *ctx);

/* ---- The test -------------------------------------------------------------------------------- */

typedef struct OutsideAudit OutsideAudit;

/* Reads the account of that path. The caller owns it: outside_audit_free(). */
OutsideAudit *outside_audit_new(const char *path);
void outside_audit_free(OutsideAudit *audit);

/* Reads what was added; returns how many processes have said that they are ready. */
uint32_t outside_audit_read(OutsideAudit *audit);
/* The last message that was acknowledged. */
uint32_t outside_audit_sent(const OutsideAudit *audit);

/* Notes the claims that are held in the store of that url, which no process has open. */
void outside_audit_claims(OutsideAudit *audit, const char *url);

typedef struct OutsideCounts {
    uint64_t messages;
    uint64_t effects;
    uint64_t timers;
    uint64_t cancelled;      /* of both */
    uint64_t cancelled_late; /* their receipts were there already */
    uint64_t unnamed;        /* effects without a ref */
    uint64_t ok;             /* receipts */
    uint64_t errors;
    uint64_t timeouts;
    uint64_t attempts; /* of all receipts */
    uint64_t begun;
    uint64_t held;  /* claims that the dead held */
    uint64_t lost;  /* attempts, of them those that had begun */
    uint64_t again; /* calls that were begun for an effect that was begun before */
} OutsideCounts;

/* How many rows of effects and timers, and items of inboxes, there are. */
uint64_t outside_waiting(SapUniverse *universe);

/* Nothing waits, and no worker is open. Aborts where something above does not hold, and adds to *counts. */
void outside_audit_end(OutsideAudit *audit, SapUniverse *universe, OutsideCounts *counts);

#endif
