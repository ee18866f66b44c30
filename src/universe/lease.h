/* lease.h - which worker may write a world.
 *
 * A lease names the session that holds the world, and an epoch that rises with every change of the
 * holder. Whatever writes a world guards the lease and compares both (world_lease_check): so a worker that was
 * stopped, cut off or declared dead changes nothing, even if it believes that it holds the world.
 *
 *   free      no row, or an empty holder: anybody takes it, epoch + 1
 *   held      the holder's session is alive: others get SAP_BUSY
 *   expired   it is not: anybody takes it over, epoch + 1, and its `held` row goes
 *
 * The worker's own state `fenced` is never a row: it is a WorldLease that returned SAP_FENCED. */
#ifndef SAPLING_UNIVERSE_LEASE_H
#define SAPLING_UNIVERSE_LEASE_H

#include "universe/session.h"

typedef struct WorldLease {
    const Session *session; /* borrowed */
    UniverseName world;
    uint64_t epoch; /* 0: not held */
} WorldLease;

/* Takes the world for the session, or finds that the session holds it already: then the epoch is the
 * same as before, so it may be called again after an unknown outcome. SAP_BUSY: another session holds
 * it. SAP_FENCED: the session itself is over. SAP_INVALID: the name is none. *lease_out is written on
 * SAP_OK only. */
int world_lease_acquire(const Session *session, const char *world, WorldLease *lease_out);

/* The holder gives it back: the row stays, with its epoch. SAP_FENCED: it has another holder by now, and
 * nothing changed. After either the lease is not held any more. */
int world_lease_release(WorldLease *lease);

/* In a transaction that guards the lease's row: SAP_FENCED unless the lease stands as it was taken. */
int world_lease_check(const WorldLease *lease, const UniverseTxn *txn);

/* The key of the lease's row, to be guarded. */
void world_lease_key(const WorldLease *lease, RowKey *key_out);

#endif
