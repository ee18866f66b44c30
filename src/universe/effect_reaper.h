/* effect_reaper.h - the part of the reaper that ends what nobody else will: lost claims, and effects of kinds without a node.
 *
 * A claim is lost when it was not renewed in time or its session is over; both are looked at again under
 * the guards.
 *
 * A kind is without a node once this reaper has seen it so for a minute. A node that starts again has time
 * to register, however old what waits for it is. A pause between two looks that is so long that sessions
 * may have expired in it begins the minute again: a machine that stood still finds everybody dead. */
#ifndef SAPLING_UNIVERSE_EFFECT_REAPER_H
#define SAPLING_UNIVERSE_EFFECT_REAPER_H

#include "common/log.h"
#include "universe/effect_end.h"

typedef struct EffectReaperStats {
    uint64_t returned; /* claims whose effects are pending again */
    uint64_t timeouts; /* claims that ended with the receipt `timeout` */
    uint64_t unserved; /* effects that ended with the receipt `no_adapter` */
    uint64_t dropped;  /* ended without a receipt: cancelled, or their world is gone */
    uint64_t
        damaged; /* rows that were passed over: they, or those of their worlds, do not decode */
} EffectReaperStats;

typedef struct EffectReaper {
    const Session *session; /* borrowed, as is the producer */
    Producer *producer;
    RowKey inflight_from;  /* where the next look at claims begins; len 0: at the first */
    UniverseName kind;     /* the last that was looked at; len 0: none */
    uint64_t looked_ns;    /* boot time of that look */
    Buf unserved;          /* UnservedKind */
    uint64_t first_due_ns; /* of all that was seen in this pass over the kinds */
    uint64_t due_age_ns; /* when the last pass ended: of the effect that has been due for longest */
    const Log *log;      /* borrowed; NULL: silent */
    EffectReaperStats stats;
} EffectReaper;

void effect_reaper_init(EffectReaper *reaper, const Session *session, Producer *producer);
void effect_reaper_release(EffectReaper *reaper);

/* Looks at the next claims and kinds; call it twice a second. *busy_out: something was ended, or the look
 * at the claims is not at their end. On any code but SAP_OK, call it again. */
int effect_reaper_step(EffectReaper *reaper, bool *busy_out);

#endif
