/* wake.h - who waits for which rows, and which rows were touched lately.
 *
 * Commits are noted by version with the beginnings of the keys they touched. Only the last
 * WAKE_NOTES are kept: a wait for a version before those returns at once, which is right, since a
 * wake-up is a hint. Notes may come out of order, and after their commit is already durable.
 *
 * Invariant: a commit that is noted after version_seen, or was noted and not forgotten, and matches
 * the prefix, ends the wait. So no change is missed: a note that comes later finds the waiter in the
 * list, and one that came before is found by the waiter. */
#ifndef SAPLING_STORE_WAKE_H
#define SAPLING_STORE_WAKE_H

#include <stdbool.h>
#include <stdint.h>

enum { WAKE_KEY_BYTES = 56, WAKE_NOTES = 1024 };

typedef struct Wake Wake;

/* How a key begins. */
typedef struct WakeKey {
    uint32_t table;
    uint32_t len; /* at most WAKE_KEY_BYTES */
    uint8_t bytes[WAKE_KEY_BYTES];
} WakeKey;

void wake_key_set(WakeKey *key, uint32_t table, const void *bytes, uint32_t len);

/* NULL: no memory. Caller owns, release with wake_free, which accepts NULL. Nobody waits then. */
Wake *wake_new(void);
void wake_free(Wake *wake);

/* A commit has happened that touched these rows. */
void wake_note(Wake *wake, uint64_t version, const WakeKey *keys, uint32_t count);

/* Up to `version`, commits may have touched any row: every wait for a version before it ends. */
void wake_all(Wake *wake, uint64_t version);

/* Commits up to `version` are durable. A lower version than before changes nothing. */
void wake_durable(Wake *wake, uint64_t version);

/* Returns true when a commit above `seen` touched a key that begins with `prefix`; with `durable`,
 * when that commit is durable. False: timeout_ns have passed; with 0 it only looks. */
bool wake_wait(Wake *wake, const WakeKey *prefix, bool durable, uint64_t seen, uint64_t timeout_ns);

/* Something that happens and is no commit: each waiter waits for one of them. */
enum { WAKE_SORTS = 2 };

/* How often wake_poke() has been called for the sort. */
uint64_t wake_pokes(Wake *wake, uint32_t sort);

/* Ends every wake_wait_poked() of the sort. */
void wake_poke(Wake *wake, uint32_t sort);

/* What a wait may end with besides commits: a poke of the sort after the first `seen` of them. */
typedef struct WakePokes {
    uint32_t sort;
    uint64_t seen;
} WakePokes;

/* As wake_wait(), and returns true also when there was such a poke. */
bool wake_wait_poked(Wake *wake, const WakeKey *prefix, bool durable, uint64_t seen,
                     const WakePokes *pokes, uint64_t timeout_ns);

#endif
