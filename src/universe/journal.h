/* journal.h - a world's history: entries that only the holder of its lease appends.
 *
 * Each entry has a height, one above the last, and the head of the world names the last one with a
 * digest over all of them. An append puts entry and head in one transaction that checks the lease and
 * that the head is what the holder thinks it is.
 *
 * When the outcome of an append is unknown, the head alone decides (journal_resolve): it has the new
 * digest, then the append has happened; it is unchanged, then it has not; or somebody else has written,
 * which the fence makes impossible while the lease stands. */
#ifndef SAPLING_UNIVERSE_JOURNAL_H
#define SAPLING_UNIVERSE_JOURNAL_H

#include "universe/lease.h"

/* Reads the head; a world without one has height 0. SAP_FENCED: the lease does not stand any more. */
int journal_open(const WorldLease *lease, HeadRow *head_out);

/* The head after `content` is appended to `head`. */
void journal_next(const HeadRow *head, Slice content, HeadRow *next_out);

/* Appends an entry of at most 256 KiB; *head moves on SAP_OK only. SAP_FENCED: the lease does not stand
 * any more, drop everything that was made under it. SAP_IO with *unknown_out: ask journal_resolve(). */
int journal_append(const WorldLease *lease, HeadRow *head, Slice content, bool *unknown_out);

/* After an append of `content` to *head with an unknown outcome. SAP_OK: *happened_out says whether it
 * happened, and *head has moved if so. SAP_FENCED: neither; drop everything. Other codes: ask again. */
int journal_resolve(const WorldLease *lease, HeadRow *head, Slice content, bool *happened_out);

#endif
