/* timers.h - timers: armed in a cycle, fired once, never early by the store's clock (protocol E).
 *
 * A firing is one transaction without a claim: it deletes the due row and the dedupe row and puts the item,
 * of class receipt, with a hint. Whoever deletes the due row under its guard has fired or cancelled the
 * timer; for everybody else it is gone. Several timer workers do no harm, and get in each other's way.
 *
 * The time of an ask or of a promise is a timer too: its firing is the receipt `timeout`. That of a promise is
 * over in the transaction that deletes the promise's row; if somebody has resolved it, nothing fires.
 *
 * Timers that wait cost nothing: a worker reads from the front of the two clocks' ranges only. */
#ifndef SAPLING_UNIVERSE_TIMERS_H
#define SAPLING_UNIVERSE_TIMERS_H

#include "universe/effect_rows.h"
#include "universe/producer.h"
#include "universe/writes.h"

/* ---- In a cycle ------------------------------------------------------------------------------ */

typedef struct TimerIntent {
    uint8_t hash[UNIVERSE_DIGEST];
    UniverseName world;
    uint64_t height;
    /* lease: `at_ns` is lease time now plus the delay, due: a time of day. */
    WitUniverseTimerClock clock;
    uint64_t at_ns;
    Slice ref;
    WitUniverseEncoding encoding;
    Slice payload; /* canonical, up to UNIVERSE_INLINE_MAX; of a promise its id */
    WitUniverseTimerUse use;
    CodecBytes correlation_id;
    CodecBytes trace_parent;
} TimerIntent;

/* The time for a delay by lease time, and never beyond what the clocks can show. */
uint64_t timer_after(SapStore *store, uint64_t delay_ns);

/* Adds the rows of a timer that is armed, written by the holder under lease and head. Replacing one is to
 * cancel it (intents_cancel_find(), effects.h) and to arm the other. */
int timers_arm(WriteSet *writes, uint32_t universe, const TimerIntent *timer);

/* The item of a timer that has fired; it borrows what it names. */
void timer_item(const WitUniverseDbi37TimersDueValue *due, const uint8_t hash[UNIVERSE_DIGEST],
                uint64_t time_ns, WitUniverseInboxItem *item_out);

/* The row of the promise whose time the timer is; len 0: it is none's. */
void timer_promise(const WitUniverseDbi37TimersDueValue *due, uint32_t universe,
                   RowKey *promise_out);

/* ---- Firing ---------------------------------------------------------------------------------- */

typedef struct TimerStats {
    uint64_t fired;
    uint64_t dropped; /* of worlds that are gone */
    uint64_t gone;    /* others have fired or cancelled them meanwhile */
    uint64_t
        damaged; /* rows that were passed over: they, or those of their worlds, do not decode */
} TimerStats;

enum { TIMER_CLOCKS = 2 };

typedef struct TimerWorker {
    SapStore *store;    /* borrowed, as what follows */
    Producer *producer; /* of the seqs of firings */
    uint32_t universe;
    uint64_t version; /* of the rows at the last step */
    uint64_t pokes;   /* of the store, before the last step */
    uint64_t wait_ns; /* from the last step to the first timer that is not due; UINT64_MAX: none */
    /* Where the next look begins, so that damaged rows hold up none after them; len 0: at the first. */
    RowKey from[TIMER_CLOCKS];
    TimerStats stats;
} TimerWorker;

/* Needs no release. */
void timer_worker_init(TimerWorker *worker, SapStore *store, uint32_t universe, Producer *producer);

/* Fires what is due, up to 20 timers. *busy_out: there may be more. Damaged rows stay, and stop nothing. On
 * any code but SAP_OK, call it again. */
int timer_worker_step(TimerWorker *worker, bool *busy_out);

/* How long the timer that has been due for longest has waited; 0: none is due. */
int timers_due_age(SapStore *store, uint32_t universe, uint64_t *age_ns_out);

/* Waits until there may be something to fire, at most timeout_ns. */
int timer_worker_wait(TimerWorker *worker, uint64_t timeout_ns);

#endif
