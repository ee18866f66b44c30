/* rows.h - the rows of the universe: their keys, and who may write which.
 *
 * A UniverseTxn is a guarded transaction of the store that says who writes (its party) and which guards
 * it has taken. Every put and del is compared with one table (row_rules in rows.c): the party must be
 * one that may write such rows, and the guards that the row needs must have been taken. A write that
 * breaks the table is our own bug, and an assertion.
 *
 * Values are the records of schemas/wit/universe-schema.wit. Rows that are read in many places have a
 * reader here; others are decoded where they are used. */
#ifndef SAPLING_UNIVERSE_ROWS_H
#define SAPLING_UNIVERSE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/codec.h"
#include "sapling/store.h"
#include "store/digest.h"
#include "wit_schema_dbis.h"
#include "wit_universe.h"

enum {
    UNIVERSE_NAME_MAX = 128, /* bytes of the name of a world or worker */
    UNIVERSE_ID_MAX = 256,   /* bytes of the id of an item */
    UNIVERSE_NONCE = 16,
    UNIVERSE_DIGEST = DIGEST_SIZE,
    UNIVERSE_SUM = 16,
    UNIVERSE_SEQ = 32,
    UNIVERSE_KEY_MAX = 960, /* bytes of the longest key: names and an id with every byte escaped */
    UNIVERSE_INLINE_MAX = 64 * 1024, /* bytes of a payload that is kept in its row */
    UNIVERSE_PART_MAX = 256 * 1024,  /* bytes of a part of a journal entry */
};

/* Who writes. */
typedef enum UniverseParty {
    PARTY_SESSION, /* a worker, its own session; or who opens the only store there is */
    PARTY_LEASE,   /* protocols A and B: taking and releasing a lease, clearing up after the dead */
    PARTY_HOLDER,  /* the worker that holds the world's lease, in a cycle */
    PARTY_PRODUCER, /* whoever enqueues */
    PARTY_OPERATOR, /* creates, pauses, resumes, deletes, assigns a world; a holder that stops its own */
    PARTY_DRAIN,        /* empties a world that is deleted */
    PARTY_CLAIM,        /* an adapter that claims effects, in a claim transaction */
    PARTY_ADAPTER,      /* what it does with those that it has claimed */
    PARTY_TIMER,        /* fires timers */
    PARTY_REAPER,       /* deletes rows whose time has passed; ends and returns lost claims */
    PARTY_ORCHESTRATOR, /* assigns, and revokes what the dead were assigned */
} UniverseParty;

/* A name that the caller owns; longer than UNIVERSE_NAME_MAX it is no name. */
typedef struct UniverseName {
    uint32_t len;
    char text[UNIVERSE_NAME_MAX + 1];
} UniverseName;

/* SAP_INVALID: empty, too long, not UTF-8, or with control characters. */
int universe_name_set(UniverseName *name, const char *text);

bool universe_name_equal(const UniverseName *a, const UniverseName *b);

/* Of a field that was decoded, whose schema limits its length. */
void universe_name_copy(UniverseName *name, const CodecBytes *field);

/* Encoders only read what they are given: these lend it to them. */
CodecBytes lend_bytes(const void *data, size_t len);
CodecBytes lend_name(const UniverseName *name);

/* A stored row that does not decode is damage, not bad input. */
int row_decode_code(int rc);

/* ---- Keys ------------------------------------------------------------------------------------ */

typedef struct RowKey {
    uint32_t table;
    uint32_t len;
    uint8_t bytes[UNIVERSE_KEY_MAX];
} RowKey;

/* Rows of which a world has one: `table` is that of lease, head, meta or another keyed by universe and
 * world. Also the beginning of the keys of all tables whose keys go on from there. */
void row_key_world(RowKey *key, uint32_t table, uint32_t universe, const UniverseName *world);
void row_key_session(RowKey *key, uint32_t universe, const UniverseName *worker);
void row_key_held(RowKey *key, uint32_t universe, const uint8_t nonce[UNIVERSE_NONCE],
                  const UniverseName *world);
/* The beginnings of the keys of all held rows of a session, and of all rows of a universe. */
void row_key_held_all(RowKey *key, uint32_t universe, const uint8_t nonce[UNIVERSE_NONCE]);
void row_key_universe(RowKey *key, uint32_t table, uint32_t universe);
void row_key_role(RowKey *key, uint32_t universe, const UniverseName *role, uint8_t shard);
void row_key_journal(RowKey *key, uint32_t universe, const UniverseName *world, uint64_t height,
                     uint32_t part);
void row_key_inbox(RowKey *key, uint32_t universe, const UniverseName *world, uint8_t item_class,
                   const uint8_t seq[UNIVERSE_SEQ]);
/* `id` has 1 to UNIVERSE_ID_MAX bytes; the table is that of idem or reply. */
void row_key_id(RowKey *key, uint32_t table, uint32_t universe, const UniverseName *world,
                Slice id);
void row_key_dlq(RowKey *key, uint32_t universe, const UniverseName *world, uint64_t height,
                 const uint8_t seq[UNIVERSE_SEQ]);
void row_key_ready(RowKey *key, uint32_t universe, uint8_t priority,
                   const uint8_t seq[UNIVERSE_SEQ], const UniverseName *world);
/* Below all keys of hints of that priority, and above those of higher ones. */
void row_key_priority(RowKey *key, uint32_t universe, uint8_t priority);
void row_key_module(RowKey *key, uint32_t universe, const UniverseName *name, uint64_t version);
void row_key_assigned(RowKey *key, uint32_t universe, const UniverseName *worker,
                      const UniverseName *world);
void row_key_tag(RowKey *key, uint32_t universe, const UniverseName *tag,
                 const UniverseName *world);
/* `name` has 1 to UNIVERSE_NAME_MAX bytes. */
void row_key_world_tag(RowKey *key, uint32_t universe, const UniverseName *world, Slice name);
void row_key_once(RowKey *key, uint32_t universe, const UniverseName *scope, Slice id);
void row_key_expiry(RowKey *key, uint32_t universe, uint64_t at_ns,
                    const uint8_t seq[UNIVERSE_SEQ]);

/* `hash`: of the message's id (fabric.h). */
void row_key_fabric(RowKey *key, uint32_t universe, const UniverseName *world,
                    const uint8_t hash[UNIVERSE_DIGEST]);
void row_key_promise(RowKey *key, uint32_t universe, const uint8_t id[UNIVERSE_DIGEST]);

/* The first key behind that of the row, whose table `key` has. */
void row_key_after(RowKey *key, const SapStoreRow *row);

/* All keys that begin with this one. `to` has room for the end of the range. */
void row_range(const RowKey *prefix, RowKey *to, SapStoreRange *range_out);

/* ---- Transactions ---------------------------------------------------------------------------- */

typedef struct UniverseGuard {
    RowKey key;
    bool exclusive;
} UniverseGuard;

typedef struct UniverseTxn {
    SapStoreTxn *txn; /* borrowed: whoever began it ends it */
    UniverseParty party;
    uint32_t guard_count;
    const UniverseGuard *guards; /* borrowed */
} UniverseTxn;

/* Takes the guards, and shared ones of the blobs; the first call on the transaction. The guards are
 * borrowed until it ends. */
int universe_txn_start(UniverseTxn *txn, SapStoreTxn *store_txn, UniverseParty party,
                       const UniverseGuard *guards, uint32_t count, const Digest *blobs,
                       uint32_t blob_count);

/* A claim transaction, which has no guards; and the claim itself. */
void universe_claim_start(UniverseTxn *txn, SapStoreTxn *store_txn);
int universe_claim(const UniverseTxn *txn, const SapStoreRange *range, uint32_t limit,
                   SapStoreMove move, void *ctx, uint32_t *count_out);

/* Whether the transaction has guarded this very row exclusively. */
bool universe_guards(const UniverseTxn *txn, const RowKey *key);

/* As the calls of store.h, and each asserts that the party may write the row. */
int universe_put(UniverseTxn *txn, const RowKey *key, Slice val);
int universe_put_if_absent(UniverseTxn *txn, const RowKey *key, Slice val);
int universe_del(UniverseTxn *txn, const RowKey *key);

/* A row that says when another one, which `named` is the key of, is to be deleted. */
int expiry_row_put(UniverseTxn *txn, uint32_t universe, uint64_t at_ns,
                   const uint8_t seq[UNIVERSE_SEQ], const RowKey *named);

/* The value is borrowed until the transaction ends. */
int universe_get(SapStoreTxn *txn, const RowKey *key, Slice *val_out);

/* ---- Rows that are read in many places ------------------------------------------------------- */

typedef struct LeaseRow {
    UniverseName holder; /* empty: nobody */
    uint8_t nonce[UNIVERSE_NONCE];
    uint64_t epoch;
    bool unclean; /* see the schema */
} LeaseRow;

typedef struct SessionRow {
    uint8_t nonce[UNIVERSE_NONCE];
    uint64_t expires_ns;
} SessionRow;

typedef struct HeadRow {
    uint64_t height;
    uint8_t digest[UNIVERSE_DIGEST];
    uint8_t state_sum[UNIVERSE_SUM];
    uint64_t time_ns;
} HeadRow;

/* SAP_NOTFOUND: there is no such row. SAP_CORRUPT: it does not decode. The lease may be a role's. */
int lease_row_get(SapStoreTxn *txn, const RowKey *key, LeaseRow *row_out);
int session_row_get(SapStoreTxn *txn, const RowKey *key, SessionRow *row_out);
int head_row_get(SapStoreTxn *txn, const RowKey *key, HeadRow *row_out);
/* The caller owns *row_out: wit_universe_dbi21_world_meta_value_free(). */
int meta_row_get(SapStoreTxn *txn, const RowKey *key, WitUniverseDbi21WorldMetaValue *row_out);

/* Whether the world takes items: it is there, and neither deleted nor done. */
int world_takes(SapStoreTxn *txn, const RowKey *meta_key, bool *takes_out);

int lease_row_put(UniverseTxn *txn, const RowKey *key, const LeaseRow *row);
int session_row_put(UniverseTxn *txn, const RowKey *key, const SessionRow *row,
                    const WitUniverseListModuleRef *modules);
/* To which worker the world is assigned. SAP_NOTFOUND: to none. */
int assignment_get(SapStoreTxn *txn, uint32_t universe, const UniverseName *world,
                   UniverseName *worker_out);
/* Whether a world of this status is to run: an active one, or one whose handler does not return, if its
 * worker is gone. */
bool world_status_runs(WitUniverseWorldStatus status);

int meta_row_put(UniverseTxn *txn, const RowKey *key, const WitUniverseDbi21WorldMetaValue *row);
int head_row_encode(const HeadRow *row, Buf *out);

/* The numbers of the universe's tables, and the name of what they hold: for SapStoreOptions. */
#define UNIVERSE_SCHEMA "sapling:universe@1"
const uint32_t *universe_tables(uint32_t *count_out);

#endif
