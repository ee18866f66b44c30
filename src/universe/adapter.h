/* adapter.h - the role that performs effects: it claims them, calls, and puts their receipts.
 *
 * What is called is behind a vtable, so that the simulator drives the same code. A step never blocks in
 * anything but the store: it polls calls under way, ends those that are done, late or unwanted, keeps their
 * claims, and claims as many new ones as there is room for, kind by kind: a kind at its limit holds up no
 * other.
 *
 *   claimed (durable) -> started -> done -> ended: receipt, another attempt, or dropped
 *
 * A call is started only if its claim cannot have run out, by this machine's own clock; and it is stopped
 * as soon as that may have happened. Its receipt is safe in any case: the token decides. */
#ifndef SAPLING_UNIVERSE_ADAPTER_H
#define SAPLING_UNIVERSE_ADAPTER_H

#include "common/log.h"
#include "sapling/universe.h"
#include "universe/depth.h"
#include "universe/effect_end.h"

#define ADAPTER_MARGIN_NS  UINT64_C(5000000000) /* before a claim runs out */
#define ADAPTER_RENEWAL_NS UINT64_C(10000000000)

enum { ADAPTER_KEY_MAX = 2 * UNIVERSE_DIGEST }; /* of the idempotency key, as text */

/* One attempt of an effect. All is borrowed until the call has ended. */
typedef struct EffectCall {
    const WitUniverseEffect *effect;
    const char *idempotency_key; /* the intent hash in hexadecimal: the same for all attempts */
    uint32_t attempt;
    uint64_t timeout_ns;
} EffectCall;

typedef enum EffectVerdict {
    EFFECT_OK,
    EFFECT_ERROR, /* final */
    EFFECT_RETRY, /* it failed, and may not the next time */
} EffectVerdict;

/* What came of a call: filled by poll(). */
typedef struct EffectResult {
    EffectVerdict verdict;
    char code[EFFECT_CODE_MAX + 1]; /* UTF-8; "" is none */
    SapEncoding encoding;
    Buf payload;       /* of that encoding; released by the adapter */
    uint64_t pause_ns; /* with EFFECT_RETRY: the least before the next attempt */
    /* Of EFFECT_OK: a message that is to be delivered in the transaction that ends the call, and then decides
     * what came of it. Taken over by the adapter. */
    FabricDelivery *delivery;
} EffectResult;

typedef struct AdapterKind {
    const char *kind; /* 1 to UNIVERSE_NAME_MAX bytes; borrowed, as `ctx` is */
    void *ctx;
    /* Begins a call. On SAP_OK *handle_out names it until poll() says that it is done, or cancel() has
     * returned. Any other code: nothing was begun, and it is tried again as its policy says. */
    int (*start)(void *ctx, const EffectCall *call, void **handle_out);
    /* SAP_OK: *done_out says whether it is done; then *result is filled, and the handle is gone. Any other
     * code: it has failed in a way that may be tried again, and the handle is gone. */
    int (*poll)(void *ctx, void *handle, EffectResult *result, bool *done_out);
    /* Ends it as soon as it can be ended; the handle is gone. */
    void (*cancel)(void *ctx, void *handle);
    bool at_most_once;       /* else at least once, with the same idempotency key */
    WitUniverseRetry policy; /* fields of 0: the defaults of effects.h */
    uint32_t max_running;    /* 0: 16 */
    uint32_t max_per_s;      /* starts a second; 0: any number */
} AdapterKind;

typedef struct AdapterStats {
    uint64_t claimed;
    uint64_t started;
    uint64_t receipts;
    uint64_t retries;
    uint64_t dropped;   /* ended without a receipt: cancelled, or their world is gone */
    uint64_t lost;      /* claims that ran out, or were resolved by others */
    uint64_t cancelled; /* calls that were ended because nobody wanted them any more */
    uint64_t timeouts;
    uint64_t delivered; /* messages that needed no receipt */
    uint64_t damaged;   /* calls whose receipts cannot be put, since rows are damaged */
} AdapterStats;

typedef struct Adapter Adapter;

/* Session and producer are borrowed; whoever owns the session renews it. `kinds` is copied, with what its
 * entries borrow. The caller owns *adapter_out: adapter_close(). SAP_INVALID: no kinds, or one of them has
 * no name, comes twice or allows too many attempts. */
int adapter_open(const Session *session, Producer *producer, const Random *random,
                 const AdapterKind *kinds, uint32_t kind_count, Adapter **adapter_out);

/* *busy_out: there was something to do, call it again at once. SAP_FENCED: the session is over; every call
 * was ended, and nothing is claimed any more. SAP_NOMEM, SAP_BUSY, SAP_CONFLICT, SAP_FULL, SAP_IO: nothing
 * is lost, call it again. */
int adapter_step(Adapter *adapter, bool *busy_out);

/* Waits until there may be something to do, at most timeout_ns: something is published, an effect is due, a
 * rate permits another start, or universe_poke_all() says that a call has ended. While calls are under way it
 * returns after 10 ms, for those that say nothing. */
int adapter_wait(Adapter *adapter, uint64_t timeout_ns);

/* Logs effects that have failed for good. Borrowed; NULL: nothing. */
void adapter_set_log(Adapter *adapter, const Log *log);

/* How many calls are under way, and the rest. */
uint32_t adapter_running(const Adapter *adapter);
AdapterStats adapter_stats(const Adapter *adapter);

/* Puts the receipts of calls that have ended, without beginning others: before the session ends. On any code
 * but SAP_OK those that are left are lost. */
int adapter_settle(Adapter *adapter);

/* Ends all calls; their claims run out. Frees everything. NULL is accepted. */
void adapter_close(Adapter *adapter);

/* ---- In the box ------------------------------------------------------------------------------ */

/* A kind that is performed by a function of the program, which runs in the step and should not take long. It
 * fills the result; a code other than SAP_OK is a failure that may be tried again. */
typedef int (*EffectCallback)(void *ctx, const EffectCall *call, EffectResult *result);
typedef struct EffectFunction {
    EffectCallback call;
    void *ctx;
} EffectFunction;
/* `function` is borrowed as long as the kind is used. */
void adapter_kind_function(AdapterKind *kind, const char *name, EffectFunction *function);

/* What messages between worlds need. All is borrowed. */
typedef struct FabricServer {
    SapStore *store;
    Producer *producer;
    const Random *random;
    const Clock *clock;
    SapUniverse *owner; /* of the number below, for what its modules declare */
    uint32_t universe;
    DepthGate *depth;
    uint32_t limit; /* messages that wait for a world */
} FabricServer;

/* The kind `fabric.send`: delivers messages to worlds. A destination that is full is tried again for some
 * minutes. */
void adapter_kind_fabric(AdapterKind *kind, FabricServer *server, EffectFunction *room);

/* The kind `log`: writes what it is given to a log, and its receipt is null. `log` is borrowed. */
void adapter_kind_log(AdapterKind *kind, Log *log, EffectFunction *room);

#endif
