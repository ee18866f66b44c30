/* env.h - the environment and its transactions from the inside.
 *
 * State and who may touch it:
 *   - A VersionCell holds a version that readers copy without a lock: `count` versions were put in,
 *     ring[count % ENV_VERSIONS] is the last. Who puts one in fills the next entry before moving
 *     `count`. A reader copies the entry, stores its pin, and looks at `count` again: if it moved,
 *     what was copied may be torn or no longer pinned, and the reader starts over. So a pin that
 *     stays was taken while its version was in the cell, and a scan after the move sees it.
 *   - `newest` is what the last commit left; `visible` points to the cell that readers use: the
 *     same, or in a file where commits wait for the disk that of the durable version (dbfile.h).
 *   - Reader objects are only ever added to `readers`, and used again through `claimed`.
 *   - Everything marked (writer) belongs to the holder of the writer lock.
 *   - A metadata call holds `metadata` and the writer lock, closes `gate`, and goes on only if
 *     no pin is stored. A reader that has stored its pin looks at `gate` and withdraws while it
 *     is closed. So `tables` never changes under a reader.
 *
 * A transaction object is never freed before its environment: a call through an ended one finds it
 * ended until the object is used for another. */
#ifndef SAPLING_SAPLING_ENV_H
#define SAPLING_SAPLING_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/sync.h"
#include "sapling/node.h"
#include "sapling/owner.h"
#include "sapling/pager.h"
#include "sapling/pairs.h"
#include "sapling/sapling.h"
#include "sapling/writer_lock.h"

enum {
    ENV_VERSIONS = 4,
    ENV_CATALOG = SAP_MAX_DBI + 1, /* the catalog's number where a DBI is asked for */
    ENV_STATES = ENV_CATALOG + 1,  /* the same of the run of subsystems' states */
    TXN_TREE_CACHE = 8,            /* tables whose root a reader remembers */
    ENV_FIRST_COMMIT = 1,          /* id of the empty state; 0 is no pin */
    CATALOG_KEY = 2,               /* length of the catalog's keys that lead to roots */
    CATALOG_VALUE = 16,            /* and of their values */
};

/* The root of a tree as some transaction sees it. */
typedef struct TreeState {
    uint32_t root; /* 0: empty */
    uint64_t entries;
} TreeState;

typedef struct Table {
    bool open;
    unsigned flags;
    const char *key_name; /* files: of the comparators; NULL: bytes */
    const char *val_name;
    KeyOrder key_order;  /* of the user's keys */
    KeyOrder order;      /* of the tree's keys: the same, or that of pairs */
    PairOrder *pairs;    /* DUPSORT; else NULL */
    uint32_t watches;    /* how many registrations */
    TreeState tree;      /* (writer) newest, with the open transaction's changes */
    uint64_t saved_at;   /* (writer) stamp of the level that last saved `tree` for undoing */
    uint32_t cursors_on; /* (writer) cursors of the write transaction that stand on a row by path */
    uint32_t page_flags; /* for new pages */
} Table;

/* What a level changed first: to be put back by its abort. */
typedef struct TreeUndo {
    uint32_t dbi;
    TreeState tree;
    uint64_t saved_at;
} TreeUndo;

/* What a commit left. */
typedef struct Version {
    uint64_t txnid;
    uint32_t catalog; /* its root */
    void *subsystem[SAP_MAX_SUBSYSTEMS];
} Version;

typedef struct VersionEntry {
    SAP_ATOMIC(uint64_t) txnid;
    SAP_ATOMIC(uint32_t) catalog;
    SAP_ATOMIC(void *) subsystem[SAP_MAX_SUBSYSTEMS];
} VersionEntry;

typedef struct VersionCell {
    SAP_ATOMIC(uint64_t) count;
    VersionEntry ring[ENV_VERSIONS];
} VersionCell;

typedef struct Subsystem {
    SAP_ATOMIC(bool) registered;
    SapSubsystemCallbacks calls;
} Subsystem;

typedef struct ScratchBlock ScratchBlock;
typedef struct WatchHub WatchHub;
typedef struct DbFile DbFile;

typedef enum TxnKind {
    TXN_ENDED = 0,
    TXN_READER,       /* a snapshot of its own, or its parent's */
    TXN_WRITER,       /* a level of the write transaction */
    TXN_WRITER_READER /* a read-only child within it */
} TxnKind;

/* How much is recorded of what the transaction changed: for watchers and for the log. */
typedef struct ChangeMark {
    size_t notes;
    size_t effects;
} ChangeMark;

typedef struct CachedTree {
    uint32_t dbi_plus_1; /* 0: none */
    TreeState tree;
} CachedTree;

struct SapTxnCtx {
    SapEnv *env;
    SapTxnCtx *parent;
    SapTxnCtx *child; /* the open one */
    TxnKind kind;
    unsigned flags;
    uint64_t base;    /* the commit it began on */
    uint32_t catalog; /* readers: root of the snapshot's catalog */
    void *subsystem[SAP_MAX_SUBSYSTEMS];
    uint32_t subsystem_count; /* how many had on_begin */
    SapCursor *cursors;
    ScratchBlock *scratch;
    PageLevel level;     /* writers */
    uint32_t undo_start; /* writers: length of the undo stack when it began */
    ChangeMark mark;     /* writers: what was recorded when it began */
    bool savepoint;      /* a level of the engine's own, of which subsystems hear nothing */

    SapTxnCtx *next; /* in the list of readers, or of spare writer levels */
    SAP_ATOMIC(bool) claimed;
    SAP_ATOMIC(uint64_t) pin; /* 0: none */
    SAP_ATOMIC(uint64_t) since_ns;
    CachedTree cache[TXN_TREE_CACHE];
};

struct SapEnv {
    SapMemArena *arena;
    bool owns_arena;
    uint32_t process; /* the one it may be used in (owner.h); 0: any, a fork copies all of it */
    uint32_t page_size;
    WriterLock lock;
    Mutex metadata; /* one metadata call at a time; taken before the writer lock */
    SAP_ATOMIC(bool) gate;
    VersionCell newest;
    VersionCell *visible;
    DbFile *file; /* NULL: in memory */
    SAP_ATOMIC(SapTxnCtx *) readers;
    SAP_ATOMIC(SapTxnCtx *) spare_reader; /* a hint: the one that ended last */
    Subsystem subsystems[SAP_MAX_SUBSYSTEMS];
    WatchHub *watch; /* (writer) NULL until the first watch */

    Table *tables; /* DBI 0 .. table_count-1 */
    uint32_t table_count;
    Table catalog; /* (writer) DBI number, big-endian, to root and entries */

    Pager pager;       /* (writer) */
    uint64_t stamp;    /* (writer) last one taken */
    SapTxnCtx *writer; /* (writer) innermost open level */
    SapTxnCtx *spare_levels;
    SapTxnCtx first_level; /* so that beginning a write transaction allocates nothing */
    TreeUndo *undo;
    uint32_t undo_count;
    uint32_t undo_capacity;
    Buf notes;        /* (writer) keys of watched tables that the transaction changed */
    Buf effects;      /* (writer) what it changed, for the log: effects.h */
    bool log_effects; /* (writer) whether the open transaction records them */
    Slice record;     /* (writer) files: what the log will say of the commit being made */
    /* Memory to rebuild pages in: NULL until first needed, and in an engine without a file after each
     * write transaction. */
    NodeScratch scratch;
    uint8_t *alias; /* two pages' room for arguments that point into a page being rebuilt */
};

/* ---- env.c ---- */

/* Whether this process has only inherited it, from one that called fork(): its files, its mapping
 * and its threads are the other's, and so may be any of its locks. */
static inline bool env_is_foreign(const SapEnv *env)
{
    return sap_unlikely(env->process != owner_process()) && env->process != 0;
}
/* Whether public calls may use it. */
static inline bool env_usable(const SapEnv *env)
{
    return env != NULL && !env_is_foreign(env);
}

/* As sap_env_destroy(). In the same step it removes a file that this open made and that nothing was
 * ever committed to, no definition of a table either; every other file it closes as usual. */
int env_discard(SapEnv *env);
/* Whether the path of its file still leads to it. If not, the reason is reported and nothing more is
 * written. True for one that has no file. */
bool env_has_name(SapEnv *env);

/* A transaction that may be used now: SAP_OK, SAP_ERROR (NULL, ended or of another process),
 * SAP_BUSY (open child). */
static inline int txn_check(const SapTxnCtx *txn)
{
    if (sap_unlikely(txn == NULL || txn->kind == TXN_ENDED || env_is_foreign(txn->env))) {
        return SAP_ERROR;
    }
    return sap_unlikely(txn->child != NULL) ? SAP_BUSY : SAP_OK;
}
/* The same for changing rows: also SAP_READONLY. */
static inline int txn_check_write(const SapTxnCtx *txn)
{
    int rc = txn_check(txn);
    return rc == SAP_OK && txn->kind != TXN_WRITER ? SAP_READONLY : rc;
}

/* A level below `txn` for a call that changes several rows: all of it, or with keep false none. */
int savepoint_begin(SapTxnCtx *txn, SapTxnCtx **level_out);
void savepoint_end(SapTxnCtx *level, bool keep);

/* A write transaction beside which there is no other of any kind, so that it may also define
 * tables. SAP_BUSY: one is open. Its end commits it, once exclusive_prepare() has said that this
 * will succeed, or with keep false aborts it. In memory a commit cannot fail then; in a file it can
 * when the disk fails, and *lsn_out is to be waited for. */
int exclusive_begin(SapEnv *env, unsigned flags, SapTxnCtx **txn_out);
int exclusive_prepare(SapTxnCtx *txn);
int exclusive_end(SapTxnCtx *txn, bool keep, uint64_t *lsn_out);

/* For recovery: a write level of its own under the writer lock, and its end, which makes commit
 * `txnid` the newest without a record in the log, or with 0 none. SAP_NOMEM, SAP_CORRUPT: none. */
int replay_begin(SapEnv *env, SapTxnCtx **txn_out);
int replay_end(SapTxnCtx *txn, uint64_t txnid);

/* Excludes all transactions for a change of metadata. SAP_BUSY: one is open. */
int env_metadata_begin(SapEnv *env);
void env_metadata_end(SapEnv *env);

/* ---- subsystems.c ---- */

/* The flag of a transaction that makes again what subsystems once did: they hear nothing of it but
 * apply(), which has the only pointer to a state. So even its abort leaves the states behind. */
#define TXN_UNHEARD 0x80000000u

/* The i-th of an array, whose elements have the size that the program was compiled with. */
int subsystem_read(const SapSubsystem *subsystems, uint32_t i, SapSubsystem *subsystem_out);
void subsystems_add(SapEnv *env, const SapSubsystem *subsystems, uint32_t count);
/* Whether the subsystem can be one of a file. */
bool subsystem_is_durable(const SapSubsystemCallbacks *callbacks);
bool subsystem_known(const SapEnv *env, uint32_t id);
bool subsystems_any(const SapEnv *env);

int subsystems_begin(SapTxnCtx *txn);
int subsystems_commit(SapTxnCtx *txn);
/* Tells those that had their begin, last first, that the transaction leaves no trace. */
void subsystems_abort(SapTxnCtx *txn);
/* And all, last first, that the environment goes. */
void subsystems_destroy(SapEnv *env);
/* Whether a write transaction has other states than the newest version. */
bool subsystems_changed(const SapTxnCtx *txn);

/* Records as effects what the outermost transaction changed. A subsystem's code; SAP_NOMEM, SAP_FULL. */
int subsystems_encode(SapTxnCtx *txn);
/* The bytes of an effect, or of a saved state, on top of *state. SAP_NOTFOUND: there is no such
 * subsystem; SAP_CORRUPT: it refused them. SAP_NOMEM. */
int subsystem_apply(SapEnv *env, uint32_t id, Slice bytes, void **state);

/* All states as bytes, none if there is nothing to save:
 *
 *   0   u8   1: a state follows; 0: the end, behind which are only zeros
 *   1   u8   id of the subsystem, higher than the one before
 *   2   u32  length of its bytes, at least 1; little-endian
 *       the bytes
 *
 * The end is not part of what is written here. A subsystem's code; SAP_NOMEM, SAP_FULL. */
int subsystems_save(SapEnv *env, void *const states[SAP_MAX_SUBSYSTEMS], Buf *saved);
/* Takes the next from such bytes; *bytes is that before it, or empty. SAP_NOTFOUND: the end.
 * SAP_CORRUPT. */
int saved_state_take(ByteReader *reader, uint32_t *id, Slice *bytes);

/* ---- readers.c ---- */

/* Puts a version into the cell; one thread at a time. */
void version_put(VersionCell *cell, const Version *version);
/* Copies the last version and returns the cell's count; what was copied is one version, whole, if
 * the count is still that. */
uint64_t version_copy(VersionCell *cell, Version *version_out);
/* Copies until that is so. */
void version_get(VersionCell *cell, Version *version_out);

/* A reader on the version in `cell` (parent NULL) or on its parent's. */
int reader_begin(SapEnv *env, SapTxnCtx *parent, VersionCell *cell, SapTxnCtx **txn_out);
void reader_end(SapTxnCtx *txn);
void readers_scan(Pager *pager, void *ctx);
/* Whether any reader is open; and whether any is open, beginning or ending. */
bool readers_any(SapEnv *env);
bool readers_in_use(SapEnv *env);
void readers_destroy(SapEnv *env);

/* ---- tables.c ---- */

void tables_destroy(SapEnv *env);
/* Writes the changed roots to the catalog; cannot fail. */
void tables_commit(SapTxnCtx *txn);
void tables_abort(SapTxnCtx *txn);
void tables_merge(SapTxnCtx *txn);
/* The table of an open DBI, or NULL. */
static inline Table *table_get(const SapEnv *env, uint32_t dbi)
{
    return sap_likely(dbi < env->table_count && env->tables[dbi].open) ? &env->tables[dbi] : NULL;
}
/* The table's root as `txn` sees it. SAP_CORRUPT: the catalog's row does not decode. */
int table_state(SapTxnCtx *txn, uint32_t dbi, TreeState *tree_out);
/* Before a level's first change of the table. */
int table_save(SapTxnCtx *txn, uint32_t dbi, Table *table);
/* (writer) The tree as the commit left it that the open transaction began on. */
TreeState table_committed(const SapEnv *env, uint32_t dbi);

typedef struct TableDef {
    unsigned flags;
    KeyOrder keys;
    KeyOrder vals;        /* DUPSORT */
    const char *key_name; /* files */
    const char *val_name;
} TableDef;

/* Opens a table, or changes one without rows; the caller holds env_metadata_begin(). *before_out is
 * for one of the two calls that follow: table_keep(), or table_take_back(). */
int table_define(SapEnv *env, uint32_t dbi, const TableDef *def, Table *before_out);
void table_keep(const Table *before);
void table_take_back(SapEnv *env, uint32_t dbi, const Table *before);

/* The catalog as a tree of its own, for definitions.c. */
int catalog_put_row(SapTxnCtx *txn, const uint8_t *key, uint32_t key_len, const uint8_t *val,
                    uint32_t val_len);
/* A root as the catalog holds it. SAP_CORRUPT: does not decode. */
void catalog_encode_root(TreeState tree, uint8_t val[CATALOG_VALUE]);
int catalog_decode_root(const uint8_t *val, uint32_t len, TreeState *tree_out);

/* ---- definitions.c: tables as a file remembers them ---- */

enum {
    DEF_KEY = 3,         /* length of the catalog's keys that lead to definitions */
    DEF_VALUE_MAX = 132, /* and of their values at most */
};

/* The row of the catalog; returns the value's length. */
uint32_t definition_encode(const Table *table, uint32_t dbi, uint8_t key[DEF_KEY],
                           uint8_t val[DEF_VALUE_MAX]);
/* Makes the table's present definition part of the file, in the transaction. */
int definition_put(SapTxnCtx *txn, uint32_t dbi);
/* What recovery finds in the log: defines the table again. Names may be empty. SAP_ERROR: a
 * comparator is not among the options'; SAP_CORRUPT: the definition makes no sense. */
int definition_replay(SapTxnCtx *txn, uint32_t dbi, unsigned flags, Slice key_name, Slice val_name);
/* A definition as a row of the catalog has it; the names are borrowed as the row is. SAP_CORRUPT: it
 * does not decode. Whether it makes sense is the next call's answer. */
int definition_decode(const LeafRow *row, uint32_t *dbi_out, unsigned *flags_out, Slice names[2]);
bool definition_valid(uint32_t dbi, unsigned flags, Slice key_name, Slice val_name);
/* Opens all tables of the version that the catalog's root is from. Codes as above. */
int definitions_load(SapEnv *env, uint32_t catalog);
/* Fills in the names of the orders, in a file; SAP_ERROR: it has none for one of them. */
int definition_name(const SapEnv *env, TableDef *def);
/* Opens or changes the table, durably. SAP_EXISTS: is_new, and by now it is open. */
int definition_change(SapEnv *env, uint32_t dbi, const TableDef *def, bool is_new);

/* ---- watch.c ---- */

/* Before the row changes: its key is noted if the table is watched. */
int watch_note(SapTxnCtx *txn, uint32_t dbi, const Table *table, const uint8_t *key,
               uint32_t key_len);
/* Turns the notes into events, before the commit. SAP_NOMEM, SAP_CORRUPT: the commit must not be. */
int watch_prepare(SapTxnCtx *txn);
/* Makes the prepared events part of commit `txnid`, in commit order, or drops them. */
uint64_t watch_enqueue(SapEnv *env, uint64_t txnid);
void watch_discard(SapEnv *env);
/* Returns when the batch that watch_enqueue() numbered (0: none) has been delivered; no lock is
 * held. */
void watch_deliver(WatchHub *hub, uint64_t number);
/* Delivers the batches of commits up to `txnid`, which are durable by now. Without `wait` another
 * thread that is delivering is left to do it. */
void watch_deliver_until(WatchHub *hub, uint64_t txnid, bool wait);
/* Drops what was not delivered and never will be. */
void watch_drop(WatchHub *hub);
/* Whether events wait or are being delivered; asked under the writer lock. */
bool watch_is_busy(SapEnv *env);
void watch_destroy(SapEnv *env);

/* ---- effects.c ---- */

static inline ChangeMark change_mark(const SapEnv *env)
{
    return (ChangeMark){.notes = env->notes.len, .effects = env->effects.len};
}
/* Forgets what was recorded since. */
void change_rewind(SapEnv *env, ChangeMark mark);

/* ---- cursor.c ---- */

/* The transaction ends: its cursors are unusable from now on. */
void cursors_end(SapTxnCtx *txn);
/* Before a change of the table: cursors on it, but for `except`, remember their key instead of
 * their path. SAP_NOMEM: nothing may be changed. */
int cursors_detach(SapTxnCtx *txn, uint32_t dbi, const SapCursor *except);

#endif
