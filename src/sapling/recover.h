/* recover.h - building a sound database from a damaged one: between recover.c and recover_rows.c.
 *
 * Everything goes into one write transaction of the target: the rows of the newest checkpoint first,
 * then the log on top. In order of trust:
 *
 *   1. rows to which a way of sound pages leads from a root: they are right;
 *   2. rows on sound leaves that are in use and were not reached: right too, since the trees of a
 *      checkpoint use each page once;
 *   3. where it is not known which pages are in use, rows on any sound leaf, the youngest first. They
 *      were right at some time. They count only in ranges of keys that a damaged page stood for.
 *
 * A row once placed is never replaced but by the log. */
#ifndef SAPLING_SAPLING_RECOVER_H
#define SAPLING_SAPLING_RECOVER_H

#include "sapling/dbfile.h"
#include "sapling/salvage.h"
#include "sapling/tree.h"

/* What the source says of a table. */
typedef struct SourceTable {
    bool defined;
    unsigned flags;
    char key_name[DBFILE_NAME_SIZE];
    char val_name[DBFILE_NAME_SIZE];
    bool rooted;
    TreeState tree;
    bool refused; /* cannot be opened in the target */
} SourceTable;

typedef struct Recover {
    Salvage source;
    const char *shown; /* the source as the caller named it */
    SapRecoverOptions options;
    SapRecoverReport report;
    bool told; /* there was a message */

    SapEnv *env; /* the target */
    SapTxnCtx *txn;

    SourceTable *tables;           /* SAP_MAX_DBI + 1 */
    uint8_t *room[TREE_MAX_DEPTH]; /* on the way down: a page and two separators each */
    Buf run;
    Buf lost;        /* LostRange each, in order of tables and keys */
    Buf bounds;      /* the keys of those */
    Buf leaves;      /* FoundLeaf each; of all tables, in order of tables, the youngest first */
    uint64_t *known; /* pages counted as damaged, or as a value by some row: need not be so */
    uint64_t *sound; /* pages that looking for leaves found in order; NULL: not looked yet */

    uint32_t states_lost; /* bit for each subsystem whose state is lost, or left out */
    bool states_known;    /* what the checkpoint had of them */

    uint64_t dropped; /* puts of the log that could not be made */
    bool stopped;     /* the rest of the log depends on what is not there */
    uint64_t stop_lsn;
    uint64_t behind_stop; /* commits */
    uint64_t last_seen_lsn;
    uint64_t done; /* rows and commits, for on_progress */
} Recover;

/* So many more rows or commits are done; whether to go on. */
int recover_progress(Recover *r, uint64_t more);
/* Tells the user, if there is a callback for it. Returns rc. */
int recover_tell(Recover *r, int rc, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Opens a table in the target, or gives one that is open another definition: it loses its rows then,
 * as only tables without rows are given one. The names are borrowed for the call. SAP_ERROR: a
 * comparator is not among the options'; the user was told. SAP_CORRUPT: it makes no sense. */
int recover_define(Recover *r, uint32_t dbi, unsigned flags, Slice key_name, Slice val_name);

/* The table is not to be in the target, as far as it has rows. */
int recover_refuse(Recover *r, uint32_t dbi);

/* Brings tables and rows of the checkpoint to the target. Codes: those of memory and disk. */
int recover_rows(Recover *r);
void recover_rows_release(Recover *r);

#endif
