/* sapling.h - an ordered key-value engine: many tables, snapshots, nested transactions.
 *
 * CONCEPTS
 *
 * A DB holds up to 1024 tables (DBI 0 .. SAP_MAX_DBI). Each is a copy-on-write B+ tree of unique
 * keys in byte order, or in the order of a comparator. DBI 0 is there from the start, others come
 * with dbi_open(). All tables share transactions: see sapling/txn.h.
 *
 * A table with DBI_DUPSORT holds any number of values per key, sorted: its rows are (key, value)
 * pairs, each pair once. Counts, ranks and cursors count and visit rows.
 *
 * The functions below begin with sap_. By default this header and txn.h (no other header does) also
 * bring sapling/short_names.h, which lets you leave that out and write DB, Txn, txn_put(),
 * cursor_open(), as the text here does; define SAPLING_NO_SHORT_NAMES before the include to keep
 * those names for yourself.
 *
 * LIFETIMES
 *
 * Keys and values that a call returns point into the tree; nothing is copied. In a read
 * transaction they stay valid until it ends. In a write transaction they stay valid until the next
 * change made in it. Never write through them (what SAP_RESERVE returns excepted).
 *
 * LIMITS
 *
 * Pages of 256 to 65535 bytes, in files of 4096, 8192, 16384 or 32768. A key may have 0 to 65535 bytes as long as two rows with such keys
 * fit one leaf page (about half the page size), a value 0 bytes to 1 GiB. In a DUPSORT table the
 * key and the value together keep to the limit of a key. Above that a call answers SAP_FULL.
 *
 * PROCESSES
 *
 * A DB in a file, or over an arena that maps one, belongs to the process that opened it. After
 * fork() the child has the handle too, but may not use it: there every call on the DB, its
 * transactions, cursors, queues and runners returns SAP_ERROR (NULL or 0 where there is no code) and
 * changes nothing. db_close() there returns SAP_OK whatever is open; it closes the child's
 * descriptors and gives up the mapping, writes nothing, and the parent's lock stays. So does the
 * memory of the handle, which threads of the parent may have been changing at the fork. The child may
 * open files of its own, the same one once the parent has closed it. If the parent dies instead, its
 * lock lasts until the child closes the handle or ends; exec() closes everything.
 *
 * A DB in memory is copied: parent and child each have their own. The child may use its copy if no
 * other thread had a transaction open or was within a call at the fork.
 *
 * ERRORS
 *
 * Every call checks its arguments. Misuse (NULL, a DBI that is not open, flags that do not fit, a
 * transaction that has ended and whose object no other one uses yet) is SAP_ERROR, a write
 * through a reader SAP_READONLY, a parent with an open child SAP_BUSY: nothing has changed then.
 * A call that fails with SAP_NOMEM, SAP_FULL, SAP_IO or SAP_CORRUPT has changed nothing either, and
 * the transaction goes on; a commit that fails is an abort (SAP_IO in a file: see txn_commit()). */
#ifndef SAPLING_SAPLING_H
#define SAPLING_SAPLING_H

#include <stddef.h>
#include <stdint.h>

#include "sapling/arena.h"
#include "sapling/error.h"
#include "sapling/txn.h"
#include "sapling/version.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SapCursor SapCursor;
typedef uint32_t SapDbi;

#define SAP_MAX_DBI     1023u
#define SAP_MAX_KEY_LEN 65535u
#define SAP_MAX_VAL_LEN (1u << 30)

/* Put flags. */
#define SAP_NOOVERWRITE 0x01u /* SAP_EXISTS if the key is there (DUPSORT: with any value) */
#define SAP_RESERVE     0x02u /* make room for the value; the caller writes it */

/* Flags of dbi_open(). */
#define SAP_DBI_DUPSORT  0x01u /* many sorted values per key */
#define SAP_DBI_TTL_META 0x02u /* holds expiry times: written by the TTL calls only */

/* Flag of the TTL reads: remove an expired row at once, if the transaction can write. */
#define SAP_TTL_LAZY_DELETE 0x01u

/* Orders keys: below, equal to or above 0. Must be a total order, must not call into the DB. */
typedef int (*sap_keycmp_fn)(const void *a, uint32_t a_len, const void *b, uint32_t b_len,
                             void *ctx);

typedef struct SapStat {
    uint64_t num_entries; /* rows of the table */
    uint64_t txnid;       /* id of the commit that this state is from */
    uint32_t tree_depth;  /* levels of the table, 0 when empty */
    uint64_t num_pages;   /* pages in use by the whole DB, all snapshots together */
    uint32_t page_size;
    uint32_t has_write_txn; /* 1 while a write transaction is open */
    uint64_t reserved[4];   /* 0; see version.h */
} SapStat;

/* ---- The DB --------------------------------------------------------------------------------- */

/* Opens a DB in memory over `arena` (borrowed until db_close(); NULL: a private heap arena).
 * page_size 0: that of the arena. cmp orders DBI 0 (NULL: byte order); ctx is passed to it.
 * NULL on bad arguments or when out of memory. The caller owns it: db_close(). */
SAP_API SapEnv *sap_db_open(SapMemArena *arena, uint32_t page_size, sap_keycmp_fn cmp, void *ctx);

/* Adds the tables to an environment made by sap_env_create(); db_open() is the two together.
 * SAP_EXISTS: done already. SAP_BUSY: a transaction is open. */
SAP_API int sap_btree_subsystem_init(SapEnv *env, sap_keycmp_fn cmp, void *ctx);

/* Closes and frees; a file first gets a checkpoint. Accepts NULL. SAP_BUSY: a transaction is open,
 * or a watcher is being called; nothing was done. Any other code (SAP_IO, SAP_FULL, SAP_NOMEM, that
 * of a subsystem's save()): closed, but without the checkpoint; the next open finds in the log what
 * was durable. */
SAP_API int sap_db_close(SapEnv *db);

/* Pages in use, those that old snapshots still need included. */
SAP_API uint64_t sap_db_num_pages(SapEnv *db);

/* State of DBI 0 as the last commit left it. */
SAP_API int sap_db_stat(SapEnv *db, SapStat *stat_out);

/* Makes everything committed so far durable, and in a file writes a checkpoint: the log is empty
 * then. In memory there is nothing to do. SAP_IO: the disk failed; see db_open_path(). SAP_FULL,
 * SAP_NOMEM: no room for the checkpoint; everything is durable in the log all the same. SAP_BUSY:
 * this thread has a write transaction open (that of another is waited for). */
SAP_API int sap_db_sync(SapEnv *db);
/* Returns when the commit `lsn` (and all before it) is durable. SAP_ERROR: no such commit. SAP_IO:
 * the disk failed before it was. */
SAP_API int sap_db_wait_durable(SapEnv *db, uint64_t lsn);
/* The newest durable commit. */
SAP_API uint64_t sap_db_durable_lsn(SapEnv *db);

/* One open read transaction; see db_readers(). */
typedef struct SapReaderInfo {
    uint64_t txnid;  /* the snapshot it holds */
    uint64_t age_ns; /* since it began */
} SapReaderInfo;

/* Calls fn for each open outermost read transaction until it returns non-zero, which is then the
 * answer; SAP_OK otherwise. Readers may come and go meanwhile. */
SAP_API int sap_db_readers(SapEnv *db, int (*fn)(const SapReaderInfo *info, void *ctx), void *ctx);

/* Walks every table of the newest visible snapshot and checks each rule the trees must keep; in a
 * file also the checksum of every page, and that no page is used twice. Each finding is one call of
 * `report` (may be NULL) with a text. SAP_CORRUPT if there was any. A read transaction like any
 * other: subsystems see it begin. */
SAP_API int sap_db_verify(SapEnv *db, void (*report)(const char *text, void *ctx), void *ctx);

/* How far a long call is: rows done, of those that the tables say they have. Called now and then, and
 * last with done equal to total. Any answer but SAP_OK ends the call, with that. Must not end the
 * DB. */
typedef int (*sap_progress_fn)(uint64_t done, uint64_t total, void *ctx);

/* db_verify() that tells how far it is; `progress` may be NULL. Rows that damage hides count as done
 * at the end. */
SAP_API int sap_db_verify_progress(SapEnv *db, void (*report)(const char *text, void *ctx),
                                   sap_progress_fn progress, void *ctx);

/* ---- A DB in a file ------------------------------------------------------------------------- */

/* The files are PATH (data), PATH-wal.N (the log) and PATH-lock. db_close() moves everything into PATH
 * and removes the others: a closed DB is one file, which can be copied or moved. The log and the lock
 * of a process that died stay, and belong to PATH until it is opened again. PATH must not be removed,
 * renamed or replaced while it is open: write transactions then return SAP_IO as soon as that is
 * noticed, and whatever has the name is left alone. A commit that waits for the disk notices that PATH
 * was removed: it is not acknowledged.
 *
 * A commit goes to the log and is acknowledged when the log is on disk; threads that commit at the
 * same time share one write and sync. A background thread moves what is committed into the data
 * file (a checkpoint) and empties the log. After a crash db_open_path() replays the log: every
 * acknowledged commit is there, none is there in part.
 *
 * Which commits a reader sees: with SAP_SYNC_COMMIT the durable ones (SAP_TXN_NEWEST: all), with
 * the other modes all. Write transactions always build on the newest.
 *
 * A write or sync that fails is final: the commits that wait answer SAP_IO (they may or may not be
 * found by the next open), as do all later write transactions, SAP_TXN_NEWEST readers and
 * checkpoints; other readers go on; closing writes nothing. Open the file again. Where nothing was
 * written, because there is no room or no free descriptor for another file, or the system does not
 * permit to make one, the commit is taken back with SAP_FULL or SAP_NOMEM, on_message has the system's
 * words, and the DB goes on. */

/* When a commit is acknowledged. With SAP_SYNC_NONE a crash goes back to the last checkpoint, which
 * also comes when a multiple of checkpoint_bytes of pages have changed. */
typedef enum SapSyncMode {
    SAP_SYNC_COMMIT = 0,   /* when it is on disk */
    SAP_SYNC_PERIODIC = 1, /* at once; on disk within sync_period_ms, unless the system fails */
    SAP_SYNC_NONE = 2 /* at once, without a log; on disk at checkpoints, db_sync(), db_close() */
} SapSyncMode;

#define SAP_OPEN_CREATE    1u /* make the file if there is none */
#define SAP_OPEN_EXCLUSIVE 2u /* with SAP_OPEN_CREATE: SAP_EXISTS if there is one */
#define SAP_OPEN_RDONLY    4u /* shares the file with other read-only opens */

/* A comparator that tables of the file name. The name (1 to 63 bytes) is stored, the rest is not:
 * it must order keys the same way for as long as the file lives. */
typedef struct SapComparator {
    const char *name;
    sap_keycmp_fn cmp;
    void *ctx;
} SapComparator;

/* A subsystem of a DB in a file (txn.h); it has encode, apply and save. */
typedef struct SapSubsystem {
    uint32_t size; /* sizeof the struct, the same in all elements of an array; see version.h */
    uint32_t id;
    SapSubsystemCallbacks callbacks; /* last; its own size is not read */
} SapSubsystem;

/* Zero bytes are the defaults, except that without SAP_OPEN_CREATE the file must exist. Everything
 * pointed to is borrowed for the call, contexts and what callbacks need until db_close(). */
typedef struct SapOpenOptions {
    uint32_t size;                 /* sizeof the struct; see version.h */
    unsigned flags;                /* SAP_OPEN_* */
    uint32_t page_size;            /* 4096, 8192, 16384 or 32768; 0: 4096, or that of the file */
    uint64_t max_size;             /* of the data file: address space to reserve; 0: 1 TiB */
    SapSyncMode sync_mode;         /* see above */
    uint32_t sync_period_ms;       /* SAP_SYNC_PERIODIC; 0: 100 */
    uint64_t checkpoint_bytes;     /* of log that start a checkpoint; 0: 64 MiB */
    uint32_t checkpoint_period_ms; /* the longest that log waits for one; 0: 5 minutes */
    const SapComparator *comparators;
    uint32_t comparator_count;
    const char *comparator;         /* that of DBI 0 in a file made now; NULL: byte order */
    const SapSubsystem *subsystems; /* at least those whose states are in the file */
    uint32_t subsystem_count;

    /* For tests and simulation: monotonic time in nanoseconds, and random bytes for the id of a new
     * database. NULL: the system's. */
    uint64_t (*clock_ns)(void *ctx);
    void (*random)(void *bytes, uint32_t len, void *ctx);
    void *source_ctx;

    /* Called from the background thread, once per read transaction that is older than slow_reader_ms
     * (0: 60 s): it keeps the pages of its snapshot from being used again. */
    void (*on_slow_reader)(const SapReaderInfo *info, void *ctx);
    uint32_t slow_reader_ms;
    /* Called with a text, whenever a code alone would not tell what happened and what to do: by
     * db_open_path() when it fails or had to cut a torn end off the log, by any thread that meets a
     * damaged page or whose db_compact() fails, and from the background thread when no checkpoint can be made, and once when the
     * disk fails. Must not call into the DB. */
    void (*on_message)(const char *text, void *ctx);
    void *callback_ctx;

    /* Called after the durable mark has moved, whatever moved it: a commit, the background thread, a
     * checkpoint, db_sync(), db_close(). `lsn` is the mark: db_durable_lsn() is that or more. Calls do
     * not overlap, and each has a greater lsn than the one before; marks that pass while a call runs
     * come with the next one. Whoever moved the mark calls, or who waited for it, or the thread that
     * is in a call already. Not called before db_open_path() returns, nor with SAP_OPEN_RDONLY.
     *
     * For waking others. No lock of the DB is held, so the callback may take locks under which other
     * threads use the DB. It must not use the DB itself, other than by db_durable_lsn(), and not even
     * that within db_close(), which may make one last call. db_close() waits for a call of the
     * background thread: do not hold a lock then that the callback takes. */
    void (*on_durable)(void *durable_ctx, uint64_t lsn);
    void *durable_ctx;
} SapOpenOptions;

/* Opens the DB in the file `path`; NULL options: the defaults with SAP_OPEN_CREATE. The caller owns
 * *db_out: db_close(), which ends with a checkpoint. On failure the file is as it was:
 * SAP_NOTFOUND: no such file, or a symbolic link to one that is not there, also if it was to be made.
 * SAP_EXISTS: SAP_OPEN_EXCLUSIVE. SAP_BUSY: open already, in this or
 * another process; the message names it. SAP_INVALID: not a Sapling file, of another version or
 * byte order. SAP_CORRUPT: damaged; the message says what would be lost, db_recover() saves the
 * rest. SAP_ERROR: bad arguments, a page size that is not the file's, or a comparator that a table
 * needs or a subsystem that the file has a state of, and the options lack. SAP_FULL: no room, on disk or below
 * max_size. SAP_IO: the system's answer is in the message; also where the directory cannot be
 * written, without SAP_OPEN_RDONLY. SAP_NOMEM. sap_open_error() has the message, also without on_message.
 *
 * SAP_OPEN_RDONLY changes nothing on disk. What a process that died left in the log is replayed into
 * memory, in proportion to the log. That works in a directory that cannot be written, and on a full
 * disk. */
SAP_API int sap_db_open_path(const char *path, const SapOpenOptions *options, SapEnv **db_out);

/* What db_recover() found. */
typedef struct SapRecoverReport {
    uint64_t pages_damaged;    /* of the data file: fail their checksum or make no sense */
    uint64_t rows;             /* that are, or would be, in the target */
    uint64_t rows_unplaced;    /* of those: found on leaves that no branch leads to any more */
    uint64_t commits_replayed; /* of the log */
    uint64_t commits_lost;     /* of the log, behind the damage: at least; 1 also if nobody knows */
    uint64_t first_lost_lsn;   /* commits from this id on are not in the target; 0: none is lost */
    uint64_t last_lost_lsn;    /* the last that is known of; 0: none is lost */
    uint64_t tables;           /* in the target */
    uint64_t tables_lost;      /* named in the catalog, nothing readable */
    uint64_t rows_lost;        /* of the data file, as far as it is known how many there were */
    uint32_t doubtful;         /* 1: rows that had been deleted or replaced may have come back */
    uint32_t subsystems_lost;  /* whose states are not in the target, or not as they were */
    uint64_t reserved[4];      /* 0; see version.h */
} SapRecoverReport;

typedef struct SapRecoverOptions {
    uint32_t size; /* sizeof the struct; see version.h */
    uint32_t comparator_count;
    const SapComparator *comparators; /* as in SapOpenOptions */
    /* One text for each loss: which table, which range of keys or page, which part of the log, and
     * how many rows or commits where that is known; also when the call fails. */
    void (*on_message)(const char *text, void *ctx);
    void *callback_ctx;
    /* Called now and then with the rows and commits done so far. Any answer but SAP_OK ends the call,
     * with that: there is no target. */
    int (*on_progress)(uint64_t done, void *ctx);
    const SapSubsystem *subsystems; /* as in SapOpenOptions; the states of others are left out */
    uint32_t subsystem_count;
    uint32_t reserved; /* 0 */
} SapRecoverOptions;

/* Makes a new database at `target` of everything that can still be read of the one at `path`; with
 * target NULL only says what that would be, which takes memory for all of it. The source is only
 * read. Of a sound file the target has the same content. options and report_out may be NULL.
 * SAP_OK, whatever was lost: the report and the messages say it. On failure there is no target, and
 * *report_out is untouched: SAP_EXISTS: there is one already, or a log of that name. SAP_NOTFOUND: no
 * such source. SAP_BUSY: the source, or the target, is open. SAP_INVALID: nothing of the source looks
 * like a Sapling database. SAP_ERROR: bad arguments. SAP_FULL, SAP_IO, SAP_NOMEM: the message has the
 * system's answer. */
SAP_API int sap_db_recover(const char *path, const char *target, const SapRecoverOptions *options,
                           SapRecoverReport *report_out);

/* ---- Tables --------------------------------------------------------------------------------- */

/* Opens table `dbi` for this DB handle; cmp as in db_open(); flags 0, DBI_DUPSORT or DBI_TTL_META.
 * Opening it again with the same comparator, context and flags is SAP_OK at any time; with others
 * SAP_ERROR. SAP_BUSY: a transaction is open. SAP_ERROR: dbi above SAP_MAX_DBI, unknown flags, both
 * flags. SAP_NOMEM. */
SAP_API int sap_dbi_open(SapEnv *db, uint32_t dbi, sap_keycmp_fn cmp, void *cmp_ctx,
                         unsigned flags);

/* Opens table `dbi` in the order of the options' comparator of that name; NULL: byte order. In a
 * file this and dbi_open() make the table part of the file, durably; when the file is opened again
 * its tables are open. A comparator given to dbi_open() or dbi_set_dupsort() must then be one of the
 * options' (SAP_ERROR). In memory only NULL is known. */
SAP_API int sap_dbi_open_named(SapEnv *db, uint32_t dbi, const char *comparator, unsigned flags);

/* Makes vcmp order the values of each key (NULL: byte order), and the table a DUPSORT one if it was
 * not. The table must be open and empty; setting what is set already is SAP_OK at any time.
 * SAP_BUSY: a transaction is open. SAP_ERROR: not open, not empty, watched, DBI_TTL_META. */
SAP_API int sap_dbi_set_dupsort(SapEnv *db, uint32_t dbi, sap_keycmp_fn vcmp, void *vcmp_ctx);

/* What a table was opened as. The names are those of the comparators, borrowed until db_close();
 * NULL: byte order, or, in memory, a comparator, which has no name there. */
typedef struct SapDbiInfo {
    unsigned flags;
    const char *comparator;
    const char *val_comparator;
    uint64_t reserved[2]; /* 0; see version.h */
} SapDbiInfo;
/* SAP_NOTFOUND: not open. At any time, also within transactions. */
SAP_API int sap_dbi_info(SapEnv *db, uint32_t dbi, SapDbiInfo *info_out);

/* State of a table as the transaction sees it; txn_stat() is that of DBI 0. */
SAP_API int sap_dbi_stat(SapTxnCtx *txn, uint32_t dbi, SapStat *stat_out);
SAP_API int sap_txn_stat(SapTxnCtx *txn, SapStat *stat_out);

/* ---- Rows ----------------------------------------------------------------------------------- */

/* The calls without _dbi work on DBI 0. A key or value pointer may be NULL if its length is 0. */

/* SAP_NOTFOUND: no such key; the out-parameters are untouched. Both out-parameters may be NULL.
 * DUPSORT: the first value of the key. */
SAP_API int sap_txn_get(SapTxnCtx *txn, const void *key, uint32_t key_len, const void **val_out,
                        uint32_t *val_len_out);
SAP_API int sap_txn_get_dbi(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len,
                            const void **val_out, uint32_t *val_len_out);

/* Inserts the row or replaces its value. DUPSORT: adds the pair; one that is there already is SAP_OK
 * too, and nothing changes: no page, no log record, no value or cursor of the transaction.
 * SAP_ERROR for a DBI_TTL_META table, here and in every call that changes rows directly. */
SAP_API int sap_txn_put(SapTxnCtx *txn, const void *key, uint32_t key_len, const void *val,
                        uint32_t val_len);
SAP_API int sap_txn_put_dbi(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len,
                            const void *val, uint32_t val_len);

/* As txn_put(), with flags. SAP_NOOVERWRITE: answers SAP_EXISTS if the key is there (DUPSORT: with
 * any value). SAP_RESERVE: `val` is ignored; *reserved_out (required) is val_len writable bytes, to
 * be filled before the next change or the commit. It is rejected with SAP_ERROR in a DUPSORT table
 * and where the value would not lie in a leaf page. Without SAP_RESERVE reserved_out must be
 * NULL. */
SAP_API int sap_txn_put_flags(SapTxnCtx *txn, const void *key, uint32_t key_len, const void *val,
                              uint32_t val_len, unsigned flags, void **reserved_out);
SAP_API int sap_txn_put_flags_dbi(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len,
                                  const void *val, uint32_t val_len, unsigned flags,
                                  void **reserved_out);

/* Removes the row; DUPSORT: all values of the key. SAP_NOTFOUND: there was none. */
SAP_API int sap_txn_del(SapTxnCtx *txn, const void *key, uint32_t key_len);
SAP_API int sap_txn_del_dbi(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len);
/* Removes one pair of a DUPSORT table (SAP_ERROR elsewhere). SAP_NOTFOUND: there was none. */
SAP_API int sap_txn_del_dup_dbi(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len,
                                const void *val, uint32_t val_len);

/* Replaces the value if the present one equals `expected`. SAP_CONFLICT: it does not; SAP_NOTFOUND:
 * no such key. SAP_ERROR for DUPSORT. */
SAP_API int sap_txn_put_if(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len,
                           const void *val, uint32_t val_len, const void *expected_val,
                           uint32_t expected_len);

/* Computes a new value from the present one (old_len 0 if there is none) and an operand, both
 * borrowed for the call. *new_len is the room at new_val on entry, the length produced on return;
 * a length above the room asks for that much, and the function is called once more with it. It
 * must not call into the DB. */
typedef void (*sap_merge_fn)(const void *old_val, uint32_t old_len, const void *operand,
                             uint32_t op_len, void *new_val, uint32_t *new_len, void *ctx);
/* Puts what `merge` computes. SAP_FULL: it asked for more than 1 GiB, or twice for more than it was
 * given. SAP_ERROR for DUPSORT. */
SAP_API int sap_txn_merge(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len,
                          const void *operand, uint32_t op_len, sap_merge_fn merge, void *ctx);

/* Puts `count` rows given in strictly ascending order (DUPSORT: of pairs), all or none. Rows that
 * are there get the new value (DUPSORT: stay). O(count) into an empty table, O(count + rows) into
 * one that is not, less where the new rows are few. SAP_ERROR: not ascending, NULL arrays. */
SAP_API int sap_txn_load_sorted(SapTxnCtx *txn, uint32_t dbi, const void *const *keys,
                                const uint32_t *key_lens, const void *const *vals,
                                const uint32_t *val_lens, uint32_t count);

/* How many rows have a key k with lo <= k < hi; a NULL lo (or hi) is no bound on that side.
 * O(log n). */
SAP_API int sap_txn_count_range(SapTxnCtx *txn, uint32_t dbi, const void *lo, uint32_t lo_len,
                                const void *hi, uint32_t hi_len, uint64_t *count_out);

/* Removes the rows with lo <= k < hi (NULL: no bound) by unlinking subtrees: no work per row inside
 * the range. *deleted_out (may be NULL) is how many there were; none is SAP_OK. */
SAP_API int sap_txn_del_range(SapTxnCtx *txn, uint32_t dbi, const void *lo, uint32_t lo_len,
                              const void *hi, uint32_t hi_len, uint64_t *deleted_out);

/* ---- Rows that expire ----------------------------------------------------------------------- */

/* Rows of a table `data_dbi` with expiry times in a table `ttl_dbi` of its own: byte order, not
 * DUPSORT, best opened with DBI_TTL_META, so that nothing else writes to it. A row has expired when
 * its expiry is <= now_ms. The two tables change together or not at all; a row that is removed by
 * other calls leaves its expiry time behind until a sweep. Keys may be 9 bytes shorter than
 * otherwise. SAP_ERROR: the two are the same table, or not fit for it. */

SAP_API int sap_txn_put_ttl_dbi(SapTxnCtx *txn, uint32_t data_dbi, uint32_t ttl_dbi,
                                const void *key, uint32_t key_len, const void *val,
                                uint32_t val_len, uint64_t expires_at_ms);
/* SAP_NOTFOUND: no such row, no expiry time, or expired. */
SAP_API int sap_txn_get_ttl_dbi(SapTxnCtx *txn, uint32_t data_dbi, uint32_t ttl_dbi,
                                const void *key, uint32_t key_len, uint64_t now_ms,
                                const void **val_out, uint32_t *val_len_out);
/* With SAP_TTL_LAZY_DELETE an expired row is removed from both tables (in a write transaction). */
SAP_API int sap_txn_get_ttl_flags_dbi(SapTxnCtx *txn, uint32_t data_dbi, uint32_t ttl_dbi,
                                      const void *key, uint32_t key_len, uint64_t now_ms,
                                      const void **val_out, uint32_t *val_len_out, unsigned flags);
/* Removes expired rows, oldest first; *deleted_out (may be NULL) counts them. The first form stops
 * after max_to_delete. Index rows whose row was given another expiry since are dropped on the
 * way. */
SAP_API int sap_txn_sweep_ttl_dbi_limit(SapTxnCtx *txn, uint32_t data_dbi, uint32_t ttl_dbi,
                                        uint64_t now_ms, uint64_t max_to_delete,
                                        uint64_t *deleted_out);
SAP_API int sap_txn_sweep_ttl_dbi(SapTxnCtx *txn, uint32_t data_dbi, uint32_t ttl_dbi,
                                  uint64_t now_ms, uint64_t *deleted_out);

/* How far a sweep in several calls has come. Zero it, or sap_sweep_checkpoint_clear(), to begin. */
typedef struct SapSweepCheckpoint {
    uint64_t deleted;     /* rows removed so far, over all calls */
    uint64_t last_expiry; /* expiry of the last row removed */
    uint32_t done;        /* 1: the last call left no expired row behind */
    uint32_t reserved[5]; /* 0; see version.h */
} SapSweepCheckpoint;
SAP_API void sap_sweep_checkpoint_clear(SapSweepCheckpoint *checkpoint);
/* As the limited sweep, and goes on where the last call stopped; rows that came since with an
 * expiry before that are swept too. */
SAP_API int sap_txn_sweep_ttl_dbi_checkpoint(SapTxnCtx *txn, uint32_t data_dbi, uint32_t ttl_dbi,
                                             uint64_t now_ms, uint64_t max_to_delete,
                                             SapSweepCheckpoint *checkpoint, uint64_t *deleted_out);

/* ---- Watches -------------------------------------------------------------------------------- */

/* A row changed; val NULL: it is gone. Key and value are borrowed for the call. */
typedef void (*sap_watch_fn)(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                             void *ctx);

/* Calls cb for every key with the prefix that an outermost commit changed, once per key and commit
 * with the value it has then, in commit order and within a commit in table and key order. A put
 * counts as a change whatever it puts, also the value that was there. A key that the transaction put
 * and removed again, and that was not there before, has not changed: cb is not called for it. The calls are made before txn_commit() returns, by the
 * committing thread or another that delivers at the time, with no lock held: cb may use the DB. A
 * commit made inside cb is delivered after cb returns. Affects write transactions that begin
 * afterwards. SAP_EXISTS: the same registration is there. SAP_BUSY: a write transaction is open.
 * SAP_ERROR: table not open, or DUPSORT. db_watch() is DBI 0. */
SAP_API int sap_db_watch(SapEnv *db, const void *prefix, uint32_t prefix_len, sap_watch_fn cb,
                         void *ctx);
SAP_API int sap_db_watch_dbi(SapEnv *db, uint32_t dbi, const void *prefix, uint32_t prefix_len,
                             sap_watch_fn cb, void *ctx);
/* When this returns, no call of the registration runs or will run (the one it is called from
 * excepted). SAP_NOTFOUND: no such registration. SAP_BUSY: a write transaction is open. */
SAP_API int sap_db_unwatch(SapEnv *db, const void *prefix, uint32_t prefix_len, sap_watch_fn cb,
                           void *ctx);
SAP_API int sap_db_unwatch_dbi(SapEnv *db, uint32_t dbi, const void *prefix, uint32_t prefix_len,
                               sap_watch_fn cb, void *ctx);

/* ---- Snapshots as a stream ------------------------------------------------------------------ */

/* Fills exactly len bytes; any code but SAP_OK ends the restore with it. Must not use the DB. */
typedef int (*sap_read_fn)(void *buf, uint32_t len, void *ctx);

/* Writes all tables as one stream. The same content gives the same bytes, whatever its history,
 * page size or machine. txn_checkpoint() writes what a transaction sees (a writer's own changes
 * too), and for a reader other writers go on meanwhile; db_checkpoint() the newest commit. */
SAP_API int sap_db_checkpoint(SapEnv *db, sap_write_fn writer, void *ctx);
SAP_API int sap_txn_checkpoint(SapTxnCtx *txn, sap_write_fn writer, void *ctx);
/* Replaces the content of all tables by that of a stream, or changes nothing. Tables of the stream
 * that are not open are opened, if in byte order or, in a file, in that of a comparator which the
 * options have by its name. Watches are not called.
 * SAP_BUSY: a transaction is open. The reader's code: it had no more bytes. SAP_CORRUPT: damaged.
 * SAP_INVALID: not such a stream, or of another version. SAP_ERROR: an open table has other flags
 * or comparator kind, or a table with a comparator is not open. SAP_FULL: a row does not fit this
 * page size. */
SAP_API int sap_db_restore(SapEnv *db, sap_read_fn reader, void *ctx);

/* ---- Copies --------------------------------------------------------------------------------- */

/* Both copy the newest visible snapshot while transactions and checkpoints go on, also within a
 * write transaction, whose changes are not in the copy. They are readers: the pages of the snapshot
 * are not used again meanwhile. The copy is a database of its own, with an id of its own; it is one
 * file that needs no log, and must not be put beside the log of another. SAP_ERROR: pages of a size
 * that files cannot have, or (in memory) a table with a comparator, which has no name. SAP_CORRUPT:
 * a damaged page. SAP_NOMEM. SAP_IO: no random bytes for the id. */

/* Writes the copy from its first byte to its last. Any code of `write` but SAP_OK ends it, and is the
 * answer. `write` may use the DB. */
SAP_API int sap_db_backup(SapEnv *db, sap_write_fn write, void *ctx);

/* Makes the copy in a new file `path`, all pages full, none free. It is on disk when the call
 * returns; after any other code than SAP_OK, or a crash, there is no such file. SAP_EXISTS: there is
 * something of that name, or a log that would be taken for its own. SAP_BUSY: another is making or
 * opening it. SAP_NOTFOUND: no such directory. SAP_FULL: no room on disk. SAP_IO. SAP_ERROR also:
 * path with "-new" appended, its name until then, is the DB itself. */
SAP_API int sap_db_compact(SapEnv *db, const char *path);
/* db_compact() that tells how far it is; `progress` may be NULL. Ended by it, there is no file. */
SAP_API int sap_db_compact_progress(SapEnv *db, const char *path, sap_progress_fn progress,
                                    void *ctx);

/* ---- Cursors -------------------------------------------------------------------------------- */

/* A cursor walks one table within one transaction. It begins on no row. When it stands on a row,
 * and the row is removed through anything but this cursor, cursor_get() answers SAP_NOTFOUND,
 * cursor_next() goes to the row that followed and cursor_prev() to the one before. Any other
 * change to the table leaves it on its row. Past either end it stands on no row; moving further
 * answers SAP_NOTFOUND, turning back goes to the last (or first) row.
 *
 * The moves answer SAP_NOTFOUND when there is no such row. SAP_ERROR: the cursor's transaction has
 * ended. SAP_BUSY: it has an open child. */

/* NULL on misuse or when out of memory. The caller owns it: cursor_close(), before or after the
 * transaction ends. */
SAP_API SapCursor *sap_cursor_open(SapTxnCtx *txn);
SAP_API SapCursor *sap_cursor_open_dbi(SapTxnCtx *txn, uint32_t dbi);
SAP_API void sap_cursor_close(SapCursor *cur);

/* Uses the cursor again, on no row, for the same table in another transaction of the DB. */
SAP_API int sap_cursor_renew(SapCursor *cur, SapTxnCtx *txn);

SAP_API int sap_cursor_first(SapCursor *cur);
SAP_API int sap_cursor_last(SapCursor *cur);
/* From a cursor that was never placed, next is first and prev is last. */
SAP_API int sap_cursor_next(SapCursor *cur);
SAP_API int sap_cursor_prev(SapCursor *cur);
/* To the first key >= the given one. */
SAP_API int sap_cursor_seek(SapCursor *cur, const void *key, uint32_t key_len);
/* To the first key with the prefix. Byte order only (SAP_ERROR elsewhere). */
SAP_API int sap_cursor_seek_prefix(SapCursor *cur, const void *prefix, uint32_t len);
/* 1 if the key under the cursor begins with the prefix, else (or on no row, or misuse) 0. */
SAP_API int sap_cursor_in_prefix(SapCursor *cur, const void *prefix, uint32_t len);
/* To the row with n rows before it, O(log n); and the number of rows before the cursor's. */
SAP_API int sap_cursor_seek_nth(SapCursor *cur, uint64_t n);
SAP_API int sap_cursor_rank(SapCursor *cur, uint64_t *rank_out);

/* The row under the cursor; any out-parameter may be NULL. SAP_NOTFOUND: it is on none. */
SAP_API int sap_cursor_get(SapCursor *cur, const void **key_out, uint32_t *key_len_out,
                           const void **val_out, uint32_t *val_len_out);
/* The key alone; the value is not touched. */
SAP_API int sap_cursor_get_key(SapCursor *cur, const void **key_out, uint32_t *key_len_out);

/* DUPSORT (SAP_ERROR elsewhere): among the values of the key under the cursor. SAP_NOTFOUND: no
 * further value; the cursor stays where it is. Counting is O(log n). */
SAP_API int sap_cursor_next_dup(SapCursor *cur);
SAP_API int sap_cursor_prev_dup(SapCursor *cur);
SAP_API int sap_cursor_first_dup(SapCursor *cur);
SAP_API int sap_cursor_last_dup(SapCursor *cur);
SAP_API int sap_cursor_count_dup(SapCursor *cur, uint64_t *count_out);

/* The value under a cursor of a table whose expiry times are in ttl_dbi; SAP_NOTFOUND: expired, or
 * without an expiry time. With SAP_TTL_LAZY_DELETE an expired row is removed as by cursor_del(). */
SAP_API int sap_cursor_get_ttl_dbi(SapCursor *cur, uint32_t ttl_dbi, uint64_t now_ms,
                                   const void **val_out, uint32_t *val_len_out, unsigned flags);

/* Replaces the value of the row under the cursor; flags 0. SAP_NOTFOUND: it is on none. SAP_ERROR
 * for DUPSORT. */
SAP_API int sap_cursor_put(SapCursor *cur, const void *val, uint32_t val_len, unsigned flags);
/* Removes the row under the cursor, which then stands on the next one (if any: cursor_get() tells).
 * SAP_NOTFOUND: it is on none. */
SAP_API int sap_cursor_del(SapCursor *cur);

#ifdef __cplusplus
}
#endif

#define SAPLING_SAPLING_H_COMPLETE
#endif

/* Outside the include guard: a program that has this header through another one, which brings no
 * short names, gets them when it includes it by itself. */
#if !defined(SAPLING_NO_SHORT_NAMES) && !defined(SAP_DECLARATIONS_ONLY)
#include "sapling/short_names.h"
#endif
