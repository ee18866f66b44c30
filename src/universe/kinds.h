/* kinds.h - which nodes serve which kind of effect: rows that name the session of a node.
 *
 * A row counts as long as its session is alive, so that nobody has to renew it. */
#ifndef SAPLING_UNIVERSE_KINDS_H
#define SAPLING_UNIVERSE_KINDS_H

#include "universe/effect_rows.h"
#include "universe/session.h"

/* The session's node serves the kind from now on. May be called again. */
int kind_register(const Session *session, Slice kind, bool at_most_once,
                  const WitUniverseRetry *policy);
/* Deletes rows of sessions that are over, up to `limit`: their rows are gone, or others'. */
int kinds_clear_dead(const Session *asking, uint32_t limit);

/* In a transaction: whether a node that is alive serves the kind. */
int kind_is_served(const Session *asking, SapStoreTxn *txn, Slice kind, bool *served_out);

#endif
