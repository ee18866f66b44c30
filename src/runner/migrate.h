/* migrate.h - from rows of one version of the runtime's schema to those of another.
 *
 * 1. The marker in app_state says which version all rows have. It changes in the transaction that
 *    changes the rows, and in no other: whatever crashes, a file has all of the old version or all
 *    of the new.
 * 2. A migration meets only rows of the version it is from: the marker is read again inside the
 *    transaction.
 * 3. Migrations of a chain run in one transaction: the last one that fails undoes the first.
 * 4. A dry run does the same work, with the same counts, and leaves nothing.
 *
 * Tables that a migration adds are made before the transaction, since the engine makes tables only
 * outside of one. If it fails they stay, empty, and nothing reads them. */
#ifndef SAPLING_RUNNER_MIGRATE_H
#define SAPLING_RUNNER_MIGRATE_H

#include "sapling/sapling.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct SchemaVersion {
    uint16_t major;
    uint16_t minor;
} SchemaVersion;

/* Below, at or above 0. */
int schema_version_compare(SchemaVersion a, SchemaVersion b);

typedef struct MigrateCounts {
    uint64_t read;
    uint64_t written;
    uint64_t deleted;
} MigrateCounts;

enum { MIGRATE_REASON_SIZE = 256, MIGRATE_MOST_STEPS = 64 };

/* A migration at work. */
typedef struct MigrateStep {
    Txn *txn; /* for what the calls below do not offer; the counts are its author's then */
    MigrateCounts counts;
    char reason[MIGRATE_REASON_SIZE]; /* why it failed, for people; "": the code says all */
} MigrateStep;

typedef struct Migration {
    SchemaVersion from;
    SchemaVersion to; /* above `from` */
    const char *name; /* what it does, for people */
    uint32_t adds[8]; /* tables that are made for it where they are not; 0 ends the list */
    int (*run)(
        MigrateStep *step); /* SAP_OK, or why all of it is undone; NULL: rows stay as they are */
} Migration;

/* --- what migrations do ----------------------------------------------------------------------- */

typedef struct MigrateRow {
    const void *key; /* both borrowed for the call */
    uint32_t key_len;
    const void *val;
    uint32_t val_len;
} MigrateRow;

/* Calls fn for every row that the table had when this was called, and that is still there, in
 * order; rows that fn adds are not visited. fn returns SAP_OK or the code to stop with. Takes
 * memory for all keys. SAP_ERROR: no such table, or one with many values per key. */
int migrate_each(MigrateStep *step, uint32_t dbi,
                 int (*fn)(MigrateStep *step, const MigrateRow *row, void *ctx), void *ctx);
int migrate_put(MigrateStep *step, uint32_t dbi, const void *key, uint32_t key_len, const void *val,
                uint32_t val_len);
int migrate_del(MigrateStep *step, uint32_t dbi, const void *key, uint32_t key_len);
/* Says why it cannot go on; SAP_INVALID. */
int migrate_refuse(MigrateStep *step, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- what runs them --------------------------------------------------------------------------- */

/* The version that all rows have. SAP_NOTFOUND: no marker. SAP_CORRUPT: it does not decode. */
int migrate_read_version(Txn *txn, SchemaVersion *version_out);
int migrate_write_version(Txn *txn, SchemaVersion version);

typedef struct MigratePath {
    SchemaVersion from;
    SchemaVersion to;
    const Migration *steps[MIGRATE_MOST_STEPS];
    size_t count;
} MigratePath;

/* The fewest of the migrations that lead from one version to another. SAP_NOTFOUND: none do. */
int migrate_plan(const Migration *list, size_t count, SchemaVersion from, SchemaVersion to,
                 MigratePath *path_out);

typedef struct MigrateReport {
    MigrateCounts counts[MIGRATE_MOST_STEPS]; /* of each step that was run */
    size_t done;                              /* so many of them succeeded */
    char reason[2 * MIGRATE_REASON_SIZE];     /* on failure: which one, and why */
} MigrateReport;

/* Runs all steps of the path and moves the marker, in one durable commit. On failure rows and
 * marker are as they were. SAP_CONFLICT: the marker is not (any more) that of path->from. SAP_BUSY:
 * a transaction is open in this thread. With dry_run nothing changes, not even where tables would
 * be added: then it works on a copy in memory. Not within a transaction. */
int migrate_run(DB *db, const MigratePath *path, bool dry_run, MigrateReport *report_out);

/* --- those of the runtime's schema (migrations.c) --------------------------------------------- */

/* The version whose rows this program reads and writes. */
SchemaVersion runtime_schema_version(void);
/* Static storage. NULL, with *count_out 0, as long as there is one version only. */
const Migration *runtime_migrations(size_t *count_out);

#endif
