/* once.h - calls of clients that create something, made once: by a key that the client chose.
 *
 * The row of a key has the hash of the request and the answer, and expires after 24 hours. It is put if absent,
 * and never overwritten, also when its time has passed: what is there decides. */
#ifndef SAPLING_UNIVERSE_ONCE_H
#define SAPLING_UNIVERSE_ONCE_H

#include "universe/universe_impl.h"

/* A key, and what its row will be. */
typedef struct OnceRow {
    RowKey key;
    Digest request;
    Slice answer; /* borrowed */
    uint64_t expires_ns;
    uint8_t expiry_seq[UNIVERSE_SEQ];
} OnceRow;

/* SAP_INVALID: scope or key are no texts, or too long. */
int once_row_make(SapUniverse *universe, const SapOnce *once, OnceRow *row_out);

/* In a transaction. SAP_NOTFOUND: the key was not used. SAP_EXISTS: with another request. SAP_OK: with this one;
 * the caller owns *answer_out, unless it passed NULL: sap_reply_free(). */
int once_row_get(SapStoreTxn *txn, const OnceRow *row, SapReply **answer_out);
/* By PARTY_OPERATOR, with an exclusive guard on row->key, after once_row_get() found nothing. */
int once_row_put(UniverseTxn *txn, uint32_t universe, const OnceRow *row);

#endif
