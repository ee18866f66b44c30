/* lease.h - which worker may write a world, or do what only one may do.
 *
 * A lease names the session that holds it, and an epoch that rises with every change of the holder.
 * Whatever is done under a lease guards its row and compares both (lease_stands): so a worker that was
 * stopped, cut off or declared dead changes nothing, even if it believes that it holds the lease.
 *
 *   free      no row, or an empty holder: anybody takes it, epoch + 1
 *   held      the holder's session is alive: others get SAP_BUSY
 *   expired   it is not: anybody takes it over, epoch + 1
 *
 * A lease of a world has a `held` row beside it, by which the worlds of a dead session are found. A lease
 * of a role (the timer worker of a shard, say) has none. The worker's own state `fenced` is never a row:
 * it is a Lease for which a call returned SAP_FENCED. */
#ifndef SAPLING_UNIVERSE_LEASE_H
#define SAPLING_UNIVERSE_LEASE_H

#include "universe/producer.h"
#include "universe/session.h"

typedef struct Lease {
    const Session *session; /* borrowed */
    UniverseName name;      /* of the world or role */
    RowKey key;             /* of the lease's row */
    uint64_t epoch;         /* 0: not held */
    bool unclean;           /* a session lost the world, and no cycle has succeeded since */
} Lease;

/* Takes the world for the session, or finds that the session holds it already: then the epoch is the
 * same as before, so it may be called again after an unknown outcome. SAP_BUSY: another session holds
 * it. SAP_CONFLICT: it is assigned to another worker. SAP_FENCED: the session itself is over.
 * SAP_NOTFOUND: there is no such world, or it is not to run. *lease_out is written on SAP_OK only.
 * mark_out NULL: waits until it is durable; else *mark_out is for sap_store_wait_durable(). */
int lease_acquire_world(const Session *session, const UniverseName *world, uint64_t *mark_out,
                        Lease *lease_out);

/* The same for a role, durable. SAP_INVALID: the name is invalid. */
int lease_acquire_role(const Session *session, const char *role, uint8_t shard, Lease *lease_out);

/* The holder gives it back: the row stays, with its epoch. SAP_FENCED: it has another holder by now, and
 * nothing changed. After either the lease is not held any more. mark_out as above. */
int lease_release(Lease *lease, uint64_t *mark_out);

/* In a transaction that guards the lease's row: SAP_FENCED unless the lease stands as it was taken. */
int lease_stands(const Lease *lease, SapStoreTxn *txn);

/* In a transaction of an operator that guards lease and meta: takes the world from whoever holds it. The
 * epoch rises, so that its holder is fenced, and its `held` row goes. */
int lease_revoke(UniverseTxn *txn, uint32_t universe, const UniverseName *world);

/* Frees up to `limit` worlds of sessions that are dead, and puts a hint of each that has something in
 * its inbox, which wakes those who may take it; deletes the rows of sessions that hold nothing any more.
 * *cleared_out: how many worlds. *more_out: call it again at once. */
int lease_clear_dead(const Session *session, Producer *producer, uint32_t limit,
                     uint32_t *cleared_out, bool *more_out);

#endif
