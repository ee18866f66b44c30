/* sapling.h - an ordered key-value engine: many tables, snapshots, nested transactions.
 *
 * CONCEPTS
 *
 * A DB holds up to 1024 tables (DBI 0 .. SAP_MAX_DBI). Each is a copy-on-write B+ tree of unique
 * keys in byte order, or in the order of a comparator. DBI 0 is there from the start, others come
 * with dbi_open(). All tables share transactions: see sapling/txn.h.
 *
 * The functions below begin with sap_. By default sapling/short_names.h lets you leave that out
 * and write DB, Txn, txn_put(), cursor_open(), as the text here does; define
 * SAPLING_NO_SHORT_NAMES before the include to keep those names for yourself.
 *
 * LIFETIMES
 *
 * Keys and values that a call returns point into the tree; nothing is copied. In a read
 * transaction they stay valid until it ends. In a write transaction they stay valid until the next
 * change made in it. Never write through them (what SAP_RESERVE returns excepted).
 *
 * LIMITS
 *
 * Pages of 256 to 65535 bytes. A key may have 0 to 65535 bytes as long as two rows with such keys
 * fit one leaf page (about half the page size), a value 0 bytes to 1 GiB. Above that a call
 * answers SAP_FULL.
 *
 * ERRORS
 *
 * Every call checks its arguments. Misuse (NULL, a DBI that is not open, flags that do not fit, a
 * transaction that has ended and whose object no other one uses yet) is SAP_ERROR, a write through a reader SAP_READONLY, a parent with an open
 * child SAP_BUSY: nothing has changed then. A call that fails with SAP_NOMEM, SAP_FULL or SAP_IO
 * has changed nothing either, and the transaction goes on; a commit that fails is an abort. */
#ifndef SAPLING_SAPLING_H
#define SAPLING_SAPLING_H

#include <stdint.h>

#include "sapling/arena.h"
#include "sapling/error.h"
#include "sapling/txn.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SapCursor SapCursor;
typedef uint32_t SapDbi;

#define SAP_MAX_DBI     1023u
#define SAP_MAX_KEY_LEN 65535u
#define SAP_MAX_VAL_LEN (1u << 30)

/* Put flags. */
#define SAP_NOOVERWRITE 0x01u /* SAP_EXISTS if the key is there */
#define SAP_RESERVE     0x02u /* make room for the value; the caller writes it */

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
} SapStat;

/* ---- The DB --------------------------------------------------------------------------------- */

/* Opens a DB in memory over `arena` (borrowed until db_close(); NULL: a private heap arena).
 * page_size 0: that of the arena. cmp orders DBI 0 (NULL: byte order); ctx is passed to it.
 * NULL on bad arguments or when out of memory. The caller owns it: db_close(). */
SAP_API SapEnv *sap_db_open(SapMemArena *arena, uint32_t page_size, sap_keycmp_fn cmp, void *ctx);

/* Adds the tables to an environment made by sap_env_create(); db_open() is the two together.
 * SAP_EXISTS: done already. SAP_BUSY: a transaction is open. */
SAP_API int sap_btree_subsystem_init(SapEnv *env, sap_keycmp_fn cmp, void *ctx);

/* Closes and frees. Accepts NULL. SAP_BUSY: a transaction is open; nothing was done. */
SAP_API int sap_db_close(SapEnv *db);

/* Pages in use, those that old snapshots still need included. */
SAP_API uint64_t sap_db_num_pages(SapEnv *db);

/* State of DBI 0 as the last commit left it. */
SAP_API int sap_db_stat(SapEnv *db, SapStat *stat_out);

/* Makes everything committed so far durable. In memory there is nothing to do. */
SAP_API int sap_db_sync(SapEnv *db);
/* Returns when the commit `lsn` (and all before it) is durable. SAP_ERROR: no such commit. */
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

/* Walks every table of the newest snapshot and checks each rule the trees must keep. Each finding
 * is one call of `report` (may be NULL) with a text. SAP_CORRUPT if there was any. A read
 * transaction like any other: subsystems see it begin. */
SAP_API int sap_db_verify(SapEnv *db, void (*report)(const char *text, void *ctx), void *ctx);

/* ---- Tables --------------------------------------------------------------------------------- */

/* Opens table `dbi` for this DB handle; cmp as in db_open(), flags 0. Opening it again with the
 * same comparator, context and flags is SAP_OK at any time; with others SAP_ERROR.
 * SAP_BUSY: a transaction is open. SAP_ERROR: dbi above SAP_MAX_DBI, unknown flags. SAP_NOMEM. */
SAP_API int sap_dbi_open(SapEnv *db, uint32_t dbi, sap_keycmp_fn cmp, void *cmp_ctx,
                         unsigned flags);

/* State of a table as the transaction sees it; txn_stat() is that of DBI 0. */
SAP_API int sap_dbi_stat(SapTxnCtx *txn, uint32_t dbi, SapStat *stat_out);
SAP_API int sap_txn_stat(SapTxnCtx *txn, SapStat *stat_out);

/* ---- Rows ----------------------------------------------------------------------------------- */

/* The calls without _dbi work on DBI 0. A key or value pointer may be NULL if its length is 0. */

/* SAP_NOTFOUND: no such key; the out-parameters are untouched. Both out-parameters may be NULL. */
SAP_API int sap_txn_get(SapTxnCtx *txn, const void *key, uint32_t key_len, const void **val_out,
                        uint32_t *val_len_out);
SAP_API int sap_txn_get_dbi(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len,
                            const void **val_out, uint32_t *val_len_out);

/* Inserts the row or replaces its value. */
SAP_API int sap_txn_put(SapTxnCtx *txn, const void *key, uint32_t key_len, const void *val,
                        uint32_t val_len);
SAP_API int sap_txn_put_dbi(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len,
                            const void *val, uint32_t val_len);

/* As txn_put(), with flags. SAP_NOOVERWRITE: answers SAP_EXISTS if the key is there.
 * SAP_RESERVE: `val` is ignored; *reserved_out (required) is val_len writable bytes, to be filled
 * before the next change or the commit. It is rejected with SAP_ERROR where the value would not
 * lie in a leaf page. Without SAP_RESERVE reserved_out must be NULL. */
SAP_API int sap_txn_put_flags(SapTxnCtx *txn, const void *key, uint32_t key_len, const void *val,
                              uint32_t val_len, unsigned flags, void **reserved_out);
SAP_API int sap_txn_put_flags_dbi(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len,
                                  const void *val, uint32_t val_len, unsigned flags,
                                  void **reserved_out);

/* Removes the row. SAP_NOTFOUND: there was none. */
SAP_API int sap_txn_del(SapTxnCtx *txn, const void *key, uint32_t key_len);
SAP_API int sap_txn_del_dbi(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len);

/* How many keys k have lo <= k < hi; a NULL lo (or hi) is no bound on that side. O(log n). */
SAP_API int sap_txn_count_range(SapTxnCtx *txn, uint32_t dbi, const void *lo, uint32_t lo_len,
                                const void *hi, uint32_t hi_len, uint64_t *count_out);

/* ---- Cursors -------------------------------------------------------------------------------- */

/* A cursor walks one table within one transaction. It begins on no row. When it stands on a row,
 * and the row is removed through anything but this cursor, cursor_get() answers SAP_NOTFOUND,
 * cursor_next() goes to the row that followed and cursor_prev() to the one before. Any other
 * change to the table leaves it on its row. Past either end it stands on no row; moving on from
 * there answers SAP_NOTFOUND.
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
/* To the row with n rows before it, O(log n); and the number of rows before the cursor's. */
SAP_API int sap_cursor_seek_nth(SapCursor *cur, uint64_t n);
SAP_API int sap_cursor_rank(SapCursor *cur, uint64_t *rank_out);

/* The row under the cursor; any out-parameter may be NULL. SAP_NOTFOUND: it is on none. */
SAP_API int sap_cursor_get(SapCursor *cur, const void **key_out, uint32_t *key_len_out,
                           const void **val_out, uint32_t *val_len_out);
/* The key alone; the value is not touched. */
SAP_API int sap_cursor_get_key(SapCursor *cur, const void **key_out, uint32_t *key_len_out);

/* Replaces the value of the row under the cursor; flags 0. SAP_NOTFOUND: it is on none. */
SAP_API int sap_cursor_put(SapCursor *cur, const void *val, uint32_t val_len, unsigned flags);
/* Removes the row under the cursor, which then stands on the next one (if any: cursor_get() tells).
 * SAP_NOTFOUND: it is on none. */
SAP_API int sap_cursor_del(SapCursor *cur);

#ifdef __cplusplus
}
#endif

#ifndef SAPLING_NO_SHORT_NAMES
#include "sapling/short_names.h"
#endif
#endif
