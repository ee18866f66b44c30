/* journal.h - a world's history: entries that only the holder of its lease appends.
 *
 * Each entry has a height, one above the last, and the head of the world names the last one with a
 * digest over all of them. The state of a world is what the deltas of its entries make of an empty one:
 * restoring runs no user code.
 *
 * When the outcome of an append is unknown, the head alone decides (journal_resolve): it has the new
 * digest, then the append has happened; it is unchanged, then it has not; or somebody else has written,
 * which the fence makes impossible while the lease stands. */
#ifndef SAPLING_UNIVERSE_JOURNAL_H
#define SAPLING_UNIVERSE_JOURNAL_H

#include "universe/lease.h"
#include "universe/state.h"
#include "universe/writes.h"

/* From a world's meta row: what does not change while the lease is held, as whoever changes it takes the
 * lease away, and what the holder itself has written there. */
typedef struct WorldBirth {
    UniverseName module;
    uint64_t pin;    /* version of the module; 0: the newest */
    bool has_reason; /* why it does not run */
    bool is_stuck;
    uint8_t seed[16];
    uint64_t height; /* of the head when it was created; its state was empty there */
    uint8_t digest[UNIVERSE_DIGEST];
} WorldBirth;

/* The guards of a transaction that appends: lease and head. */
enum { JOURNAL_GUARDS = 2 };
void journal_guards(const Lease *lease, UniverseGuard guards_out[JOURNAL_GUARDS]);

/* In a transaction that has these guards: SAP_FENCED unless the lease stands and the head is `head`. */
int journal_check(const Lease *lease, SapStoreTxn *txn, const HeadRow *head);

/* Reads head and birth; a new world has the height of its birth. SAP_FENCED: the lease does not stand. */
int journal_open(const Lease *lease, HeadRow *head_out, WorldBirth *birth_out);

/* The head after an entry of these bytes. */
void journal_next(const HeadRow *head, Slice content, const uint8_t state_sum[UNIVERSE_SUM],
                  uint64_t time_ns, HeadRow *next_out);

/* Adds the rows of an entry, and those of a head. */
int journal_write_entry(WriteSet *writes, const Lease *lease, uint64_t height, Slice content);
int journal_write_head(WriteSet *writes, const Lease *lease, const HeadRow *head);

/* After an append with an unknown outcome that would have moved the head from `before` to `after`.
 * SAP_OK: *happened_out says whether it happened. SAP_FENCED: neither; drop everything. Other codes: ask
 * again. */
int journal_resolve(const Lease *lease, const HeadRow *before, const HeadRow *after,
                    bool *happened_out);

/* Calls `entry` for each of the heights, in order, with the epoch under which it was written. Its code
 * ends the call. SAP_CORRUPT: an entry is missing or does not decode. */
typedef int (*JournalEntry)(void *ctx, uint64_t height, uint64_t epoch, Slice content,
                            const WitUniverseEntry *entry);
int journal_read(SapStore *store, uint32_t universe, const UniverseName *world, uint64_t first,
                 uint64_t last, JournalEntry entry, void *ctx);

/* Applies the changes of an entry to the innermost transaction of the state, and compares the sum.
 * SAP_CORRUPT: it is another. */
int journal_apply(WorldState *state, const WitUniverseEntry *entry);

/* Makes the state of a world at its durable head, whoever holds it, also if it is deleted. SAP_NOTFOUND:
 * there is no such world. The caller owns *state_out. */
int journal_look(SapStore *store, uint32_t universe, const UniverseName *world,
                 WorldState **state_out);

/* A state that was made so. */
typedef struct JournalView {
    WorldBirth birth;
    HeadRow head; /* as it was there */
    WorldState *state;
} JournalView;

/* Reads what is durable of head and birth. SAP_NOTFOUND: there is no such world. */
int journal_peek(SapStore *store, uint32_t universe, const UniverseName *world,
                 WorldBirth *birth_out, HeadRow *head_out);
/* Brings a view to a later head of the same world. SAP_CORRUPT: its entries do not lead there. After any code
 * but SAP_OK the view is as it was. */
int journal_forward(SapStore *store, uint32_t universe, const UniverseName *world,
                    JournalView *view, const HeadRow *head);

/* The same at a height, UINT64_MAX for the newest. SAP_NOTFOUND: also, it is above the durable head, or before
 * the world's creation. The caller owns view_out->state. */
int journal_look_at(SapStore *store, uint32_t universe, const UniverseName *world, uint64_t height,
                    JournalView *view_out);

/* Makes the state at `head` of the entries since `birth`. SAP_CORRUPT: they do not lead there. The caller
 * owns *state_out. */
int journal_restore(SapStore *store, uint32_t universe, const UniverseName *world,
                    const WorldBirth *birth, const HeadRow *head, WorldState **state_out);

#endif
