/* db.h - the verbs of `sapling db`, and what they share. Each takes a call whose words have been
 * checked against the table and returns the exit status. */
#ifndef SAPLING_CLI_DB_H
#define SAPLING_CLI_DB_H

#include <stdint.h>

#include "cli/command.h"
#include "cli/format.h"
#include "cli/target.h"
#include "common/buf.h"
#include "node/access.h"

int db_stat_verb(const Call *call);
int db_get_verb(const Call *call);
int db_put_verb(const Call *call);
int db_del_verb(const Call *call);
int db_scan_verb(const Call *call);
/* scan --schema, within the bounds of the range (db_schema.c). */
int db_scan_schema(const Call *call, AccessRange *range);
int db_load_verb(const Call *call);
int db_dump_verb(const Call *call);
int db_verify_verb(const Call *call);
int db_compact_verb(const Call *call);
int db_backup_verb(const Call *call);
int db_restore_verb(const Call *call);
int db_recover_verb(const Call *call);
int db_migrate_verb(const Call *call);

/* ---- Shared (db_common.c) ---------------------------------------------------------------------- */

/* All below answer EXIT_DONE, or the exit status after saying what is wrong. */

/* Says that there is no such file (`what` it would be; the hint may be NULL), or that its directory is
 * missing. EXIT_NOT_FOUND. */
int file_missing(const Ui *ui, const char *path, const char *what, const char *hint);
/* Opens the file. The caller owns *access_out on EXIT_DONE: file_close(). Otherwise it is NULL. */
int file_open(const Call *call, const char *path, const AccessOptions *options,
              Access **access_out);
/* How verbs open a file whose output may be long, or whose reader slow: others use the file meanwhile,
 * and the verb goes on with its snapshot. Verbs whose output is short read it and close the file before
 * they print (ui_hold_output). */
extern const AccessOptions db_reading;
/* Closes it; what went wrong in that counts if `code` is EXIT_DONE. Otherwise a file that file_open()
 * made, and that nothing is in, is removed. */
int file_close(const Call *call, const char *path, Access *access, int code);
/* What a call on an open file answered, other than SAP_OK. */
int db_failed(const Call *call, const char *path, const Access *access, int rc);

int db_table(const Call *call, uint32_t *dbi_out);
/* Finds the table. EXIT_NOT_FOUND: there is none; the message names those that are. */
int db_find_table(const Call *call, const char *path, Access *access, uint32_t dbi,
                  AccessTable *table_out);
/* What the table is, or will be by --dupsort if it is made: *missing_out. EXIT_CONFLICT: --dupsort, and
 * it is of another kind. */
int db_plan_table(const Call *call, const char *path, Access *access, uint32_t dbi,
                  unsigned *flags_out, bool *missing_out);
/* Makes the table if there is none, by --dupsort; *flags_out is what it is. EXIT_CONFLICT: --dupsort,
 * and it is of another kind. */
int db_make_table(const Call *call, const char *path, Access *access, uint32_t dbi,
                  unsigned *flags_out);
/* Whether a row of the table may be changed: not without --force where it is one of the tables that
 * the runner keeps its queues in, and the file has them. EXIT_CONFLICT. */
int db_check_change(const Call *call, const char *path, Access *access, uint32_t dbi);
/* Whether the file has queues or workers of a runner: then tables 0 to 7 are theirs. */
int db_has_runner(const Call *call, const char *path, Access *access, bool *has_out);
/* Says that the table is the runner's. EXIT_CONFLICT. */
int db_not_without_force(const Call *call, const char *path, uint32_t dbi);
int db_page_size(const Call *call, uint32_t *size_out);

/* Bytes as an argument has them: text with escapes, with --hex hexadecimal digits. */
int db_bytes(const Call *call, const char *argument, Buf *bytes);

/* The range that --from, --to and --prefix name. Its slices point into `bounds`. */
typedef struct DbBounds {
    Buf from;
    Buf to;
} DbBounds;
int db_scan_range(const Call *call, DbBounds *bounds, AccessRange *range);
/* The range of keys that begin with the prefix. */
int db_prefix_range(const Call *call, const char *prefix, DbBounds *bounds, AccessRange *range);
void db_bounds_release(DbBounds *bounds);

/* Begins work on the database `path` whose result goes to `output`, NULL or "-" standard output: not to
 * `path` itself, and not to a database with a log. Release the target with db_finish_target() on
 * EXIT_DONE. */
int db_start_target(const Call *call, const char *path, Target *target, const char *output);
/* Ends work whose result went to the target: gives it its name if `code` is EXIT_DONE and there was no
 * interruption, otherwise removes it. A code below 0 is one of the engine, negated. */
int db_finish_target(const Call *call, const char *path, Target *target, const Access *access,
                     int code);

#endif
