/* universe_effects_impl.h - what the parties of universe_effects.c and its checks share. */
#ifndef SAPLING_TESTS_UNIVERSE_EFFECTS_IMPL_H
#define SAPLING_TESTS_UNIVERSE_EFFECTS_IMPL_H

#include "support/universe_effects.h"
#include "universe/adapter.h"
#include "universe/effect_reaper.h"
#include "universe/lease.h"
#include "universe/timers.h"

enum {
    EFFECT_NODES = 3,
    EFFECT_WORLDS = 2,
    EFFECT_UNIVERSE = 7,
    MOST_INTENTS = 48,
    MOST_ATTEMPTS = 32, /* of one effect that are told apart */
    MOST_ROWS = 4096,
    MOST_ALONE = 12, /* intents, of a run with one at a time */
};

/* Which effects there are, by the number of the intent. */
typedef enum EffectKind { KIND_AGAIN, KIND_ONCE, KIND_SLOW, KIND_NOBODY, KINDS } EffectKind;

/* What is known of an intent. Heights are those of the entries of its world; 0: there is none. */
typedef struct Intent {
    bool timer;
    uint8_t world;
    uint8_t kind; /* EffectKind */
    uint64_t published;
    uint64_t cancelled;
    uint32_t consumed; /* how often */
    bool had_receipt;  /* when it was cancelled */
    uint32_t waiting;  /* receipts and firings in the inbox, in the check under way */
    bool queued;       /* it has a row of a queue, likewise */
    bool complete;     /* its dedupe row says so, likewise */

    WitUniverseTimerClock clock; /* of a timer */
    uint64_t at_ns;

    /* The last claim that was seen, and when it was last pending. */
    bool claimed;
    uint8_t token[EFFECT_TOKEN];
    uint64_t deadline_ns;
    UniverseName worker;
    uint8_t nonce[UNIVERSE_NONCE];
    uint64_t due_ns;

    /* Outside: a power cut takes nothing of it back. */
    uint32_t begun[MOST_ATTEMPTS];
    uint32_t begun_count;
} Intent;

typedef struct WorldLog {
    uint64_t height; /* as far as it was read */
    uint8_t digest[UNIVERSE_DIGEST];
} WorldLog;

typedef struct NodeSession {
    SessionRow row;
    uint64_t step; /* of the run, in which it was renewed last */
} NodeSession;

/* The world outside of all processes. */
typedef struct Outside {
    EffectsPlan plan;
    Intent intents[MOST_INTENTS];
    uint32_t intent_count;
    uint32_t deletions;
    WorldLog logs[EFFECT_WORLDS];
    NodeSession sessions[EFFECT_NODES];
    uint64_t power_cuts;                   /* that the model has heard of */
    uint8_t seen[MOST_ROWS][UNIVERSE_SEQ]; /* items that were in an inbox */
    uint32_t seen_count;
    EffectsCounts counts;
} Outside;

extern const char *const effect_world_names[EFFECT_WORLDS];
extern const char *const effect_kind_names[KINDS];

/* An intent's hash begins with its number. */
void intent_hash(uint32_t number, uint8_t hash_out[UNIVERSE_DIGEST]);

/* An entry of a world is a list of these. */
typedef enum LogOpKind {
    OP_PUBLISH = 'p',
    OP_ARM = 't',
    OP_CANCEL = 'c',
    OP_CONSUME = 'r'
} LogOpKind;
enum { LOG_OP_SIZE = 5 }; /* the kind, and the number of the intent */

/* Calls `op` for those of all entries from `first` on up to the head, which it gives back. */
typedef void (*LogOp)(void *ctx, uint64_t height, LogOpKind kind, uint32_t number);
int effect_log_read(SapStoreTxn *txn, uint32_t world, uint64_t first, LogOp op, void *ctx,
                    HeadRow *head_out);

/* A world as one node's holder knows it. */
typedef struct Held {
    Lease lease; /* epoch 0: not held */
    bool loaded; /* what follows is that of the head */
    HeadRow head;
    uint32_t open[MOST_INTENTS]; /* intents that are outstanding */
    uint32_t open_count;
} Held;

typedef struct Party {
    Outside *outside;
    SimulatorProcess process;
    Session session;
    Producer producer;
    Adapter *adapter;
    AdapterStats adapter_counted;
    EffectReaper reaper;
    EffectReaperStats reaper_counted;
    TimerWorker timers;
    TimerStats timers_counted;
    Held held[EFFECT_WORLDS];
} Party;

/* Below `below`, from the generator of the run. */
uint64_t effects_draw(const Party *self, uint64_t below);
UniverseName effects_world_name(uint32_t world);
/* What a step returns for a code of what it did: it goes on after all but those that end the run. */
int effects_step_code(int rc);
/* What is outstanding at the head; a world that was created again begins with nothing. */
int effects_load_world(SapStoreTxn *txn, uint32_t world, Held *held);
bool effects_is_open(const Held *held, uint32_t number);

int effects_step_operator(void *ctx, uint64_t now_ns);

/* The checks; and that of a call that begins. */
void effects_check_commit(void *ctx, Simulator *simulator, SapStoreTxn *newest);
void effects_check_end(void *ctx, Simulator *simulator, SapStoreTxn *newest);
void effects_check_begun(Outside *outside, Simulator *simulator, const EffectCall *call);

#endif
