/* adapter.h - what a storage engine must offer to be measured.
 *
 * An engine is one BenchAdapter: a table of functions over its own BenchDb and BenchTxn, which
 * each adapter defines for itself. The workloads know engines only through this table, so that all
 * of them do the same work. Calls answer 0 or a code of the engine's own, which error_text() names.
 *
 * One call per operation goes through a function pointer, about a nanosecond for every engine
 * alike. Where that would show (a row of a scan, a row of a load, a count), the loop lives in the
 * adapter.
 *
 * A commit is visible, and durable some time later or never; for durable ones see durable/. */
#ifndef BENCH_ADAPTER_H
#define BENCH_ADAPTER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct BenchDb BenchDb;
typedef struct BenchTxn BenchTxn;

/* What a workload may ask of an engine beyond the ordinary. */
enum {
    BENCH_CAN_NEST = 1u /* write transactions within write transactions */
};

typedef struct BenchOpen {
    const char *dir; /* empty, for this store alone; removed by the driver */
    int dupsort;     /* the table holds many sorted values per key */
} BenchOpen;

/* Rows in ascending order, distinct; of a DUPSORT table, pairs. */
typedef struct BenchRows {
    uint32_t count;
    const void **keys;
    uint32_t *key_lens;
    const void **vals;
    uint32_t *val_lens;
} BenchRows;

/* The keys k with lo <= k < hi. */
typedef struct BenchRange {
    const void *lo, *hi;
    uint32_t lo_len, hi_len;
} BenchRange;

/* Whether a key that is at or above the range's lo is in the range. */
static inline int bench_in_range(const BenchRange *range, const void *key, size_t key_len)
{
    size_t shorter = key_len < range->hi_len ? key_len : range->hi_len;
    int order = memcmp(key, range->hi, shorter);
    return order ? order < 0 : key_len < range->hi_len;
}

/* What a scan saw: proof that every row was visited, and its key and value touched. */
typedef struct BenchScan {
    uint64_t rows;
    uint64_t sum; /* of the first bytes of all keys and values */
} BenchScan;

static inline void bench_scan_row(BenchScan *scan, const void *key, const void *val)
{
    scan->rows++;
    scan->sum += *(const uint8_t *)key;
    scan->sum += *(const uint8_t *)val;
}

typedef struct BenchAdapter {
    const char *name; /* as in --engines, the reports and the baseline */
    const char *what; /* one line: how the engine is set up */
    unsigned can;     /* BENCH_CAN_... */

    /* Caller owns *db_out, release with close(). */
    int (*open)(const BenchOpen *options, BenchDb **db_out);
    void (*close)(BenchDb *db);

    /* `parent` is NULL unless the engine can nest. commit() and abort() end the transaction
     * whatever they answer. */
    int (*begin_read)(BenchDb *db, BenchTxn **txn_out);
    int (*begin_write)(BenchDb *db, BenchTxn *parent, BenchTxn **txn_out);
    int (*commit)(BenchDb *db, BenchTxn *txn);
    void (*abort)(BenchDb *db, BenchTxn *txn);

    int (*put)(BenchDb *db, BenchTxn *txn, const void *key, size_t key_len, const void *val,
               size_t val_len);
    /* The value is borrowed until the transaction's next call. A missing key is an error. */
    int (*get)(BenchDb *db, BenchTxn *txn, const void *key, size_t key_len, const void **val_out,
               size_t *val_len_out);
    /* Every row in key order through bench_scan_row(); *scan is zeroed by the caller. */
    int (*scan)(BenchDb *db, BenchTxn *txn, BenchScan *scan);

    /* Those below may be NULL: the engine has no such operation. */

    /* Begins a transaction for a load; NULL: begin_write() does. */
    int (*begin_load)(BenchDb *db, BenchTxn **txn_out);
    /* Puts the rows into the empty table by the engine's best means. */
    int (*load_sorted)(BenchDb *db, BenchTxn *txn, const BenchRows *rows);
    /* Counts the rows of a range by a cursor's way through them; values are not touched. */
    int (*walk_range)(BenchDb *db, BenchTxn *txn, const BenchRange *range, uint64_t *count_out);
    /* The same without that way. */
    int (*count_range)(BenchDb *db, BenchTxn *txn, const BenchRange *range, uint64_t *count_out);
    /* Removes the rows of a range by the engine's best means; *count_out is how many. */
    int (*del_range)(BenchDb *db, BenchTxn *txn, const BenchRange *range, uint64_t *count_out);
    /* DUPSORT: with one cursor, `times` times, finds the key and counts its values, the first from
     * one to the next, the second by asking. A missing key is an error. */
    int (*walk_dup)(BenchDb *db, BenchTxn *txn, const void *key, size_t key_len, unsigned times,
                    uint64_t *count_out);
    int (*count_dup)(BenchDb *db, BenchTxn *txn, const void *key, size_t key_len, unsigned times,
                     uint64_t *count_out);

    const char *(*error_text)(int rc);
} BenchAdapter;

extern const BenchAdapter bench_sapling;
extern const BenchAdapter bench_sapling_file;
extern const BenchAdapter bench_lmdb;
extern const BenchAdapter bench_lmdb_writemap;

#endif
