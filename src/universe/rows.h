/* rows.h - the rows of the universe: their keys, their values, and who may write which.
 *
 * A UniverseTxn is a guarded transaction of the store that says who writes (its party) and which guards
 * it has taken. Every put and del is compared with one table (row_rules in rows.c): the party must be
 * one that may write such rows, and the guards that the row needs must have been taken. A write that
 * breaks the table is our own bug, and an assertion. */
#ifndef SAPLING_UNIVERSE_ROWS_H
#define SAPLING_UNIVERSE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "sapling/store.h"
#include "wit_schema_dbis.h"

enum {
    UNIVERSE_NAME_MAX = 128, /* bytes of the name of a world or worker */
    UNIVERSE_NONCE = 16,
    UNIVERSE_DIGEST = 32,
    UNIVERSE_KEY_MAX = 640, /* bytes of the longest key: names with every byte escaped */
    UNIVERSE_GUARDS = 4,
};

/* Who writes. */
typedef enum UniverseParty {
    PARTY_SESSION, /* a worker, its own session */
    PARTY_LEASE,   /* protocols A and B: taking and releasing a lease */
    PARTY_HOLDER,  /* the worker that holds the world's lease, in a cycle */
} UniverseParty;

/* A name that the caller owns; longer than UNIVERSE_NAME_MAX it is no name. */
typedef struct UniverseName {
    uint32_t len;
    char text[UNIVERSE_NAME_MAX + 1];
} UniverseName;

/* SAP_INVALID: empty, too long or not UTF-8. */
int universe_name_set(UniverseName *name, const char *text);

typedef struct RowKey {
    uint32_t table;
    uint32_t len;
    uint8_t bytes[UNIVERSE_KEY_MAX];
} RowKey;

void row_key_lease(RowKey *key, uint32_t universe, const UniverseName *world);
void row_key_session(RowKey *key, uint32_t universe, const UniverseName *worker);
void row_key_held(RowKey *key, uint32_t universe, const uint8_t nonce[UNIVERSE_NONCE],
                  const UniverseName *world);
void row_key_head(RowKey *key, uint32_t universe, const UniverseName *world);
void row_key_journal(RowKey *key, uint32_t universe, const UniverseName *world, uint64_t height,
                     uint32_t part);

typedef struct LeaseRow {
    UniverseName holder; /* empty: nobody */
    uint8_t nonce[UNIVERSE_NONCE];
    uint64_t epoch;
} LeaseRow;

typedef struct SessionRow {
    uint8_t nonce[UNIVERSE_NONCE];
    uint64_t expires_ns;
} SessionRow;

typedef struct HeadRow {
    uint64_t height;
    uint8_t digest[UNIVERSE_DIGEST];
} HeadRow;

typedef struct UniverseTxn {
    SapStoreTxn *txn; /* borrowed: whoever began it ends it */
    UniverseParty party;
    uint32_t guard_count;
    RowKey guards[UNIVERSE_GUARDS]; /* all exclusive */
} UniverseTxn;

/* Takes the guards, all exclusive; the first call on the transaction. */
int universe_txn_start(UniverseTxn *txn, SapStoreTxn *store_txn, UniverseParty party,
                       const RowKey *guards, uint32_t count);

/* SAP_NOTFOUND: there is no such row. SAP_CORRUPT: it does not decode. */
int lease_row_get(SapStoreTxn *txn, const RowKey *key, LeaseRow *row_out);
int session_row_get(SapStoreTxn *txn, const RowKey *key, SessionRow *row_out);
int head_row_get(SapStoreTxn *txn, const RowKey *key, HeadRow *row_out);
/* *content_out is the caller's: buf_release. */
int journal_row_get(SapStoreTxn *txn, const RowKey *key, uint64_t *epoch_out, Buf *content_out);

int lease_row_put(UniverseTxn *txn, const RowKey *key, const LeaseRow *row);
int session_row_put(UniverseTxn *txn, const RowKey *key, const SessionRow *row);
int held_row_put(UniverseTxn *txn, const RowKey *key);
int head_row_put(UniverseTxn *txn, const RowKey *key, const HeadRow *row);
int journal_row_put(UniverseTxn *txn, const RowKey *key, uint64_t epoch, Slice content);

/* SAP_OK also if there is no such row. */
int held_row_del(UniverseTxn *txn, const RowKey *key);

/* The numbers of the universe's tables, for SapStoreOptions. */
const uint32_t *universe_tables(uint32_t *count_out);

#endif
