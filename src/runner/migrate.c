#include "runner/migrate.h"

#include "common/assert.h"
#include "common/buf.h"
#include "common/bytes.h"
#include "common/fault.h"
#include "wit_runtime.h"
#include "wit_schema_dbis.h"

#include <stdarg.h>
#include <stdio.h>

#define MARKER_KEY "runner.schema.version"

int schema_version_compare(SchemaVersion a, SchemaVersion b)
{
    return a.major != b.major ? (int)a.major - (int)b.major : (int)a.minor - (int)b.minor;
}

/* --- the marker ------------------------------------------------------------------------------- */

int migrate_read_version(Txn *txn, SchemaVersion *version_out)
{
    WitRuntimeSchemaMarker marker;
    const void *val = NULL;
    uint32_t len = 0;
    int rc = txn_get_dbi(txn, WIT_DBI_APP_STATE, MARKER_KEY, sizeof MARKER_KEY - 1, &val, &len);

    if (rc == SAP_OK) {
        rc = wit_runtime_schema_marker_decode(val, len, &marker, NULL);
        rc = rc == SAP_INVALID ? SAP_CORRUPT : rc;
    }
    if (rc == SAP_OK) {
        *version_out = (SchemaVersion){marker.major, marker.minor};
    }
    return rc;
}

int migrate_write_version(Txn *txn, SchemaVersion version)
{
    WitRuntimeSchemaMarker marker = {version.major, version.minor};
    Buf buf = {0};
    int rc = wit_runtime_schema_marker_encode(&marker, &buf, NULL);

    if (rc == SAP_OK) {
        rc = txn_put_dbi(txn, WIT_DBI_APP_STATE, MARKER_KEY, sizeof MARKER_KEY - 1, buf.data,
                         (uint32_t)buf.len);
    }
    buf_release(&buf);
    return rc;
}

/* --- what migrations do ----------------------------------------------------------------------- */

/* All keys of the table, each behind its length. */
static int collect_keys(Txn *txn, uint32_t dbi, Buf *keys)
{
    Cursor *cur = cursor_open_dbi(txn, dbi);
    const void *key = NULL;
    uint32_t len = 0;

    if (cur == NULL) {
        return SAP_NOMEM;
    }
    int rc = cursor_first(cur);
    while (rc == SAP_OK) {
        rc = cursor_get_key(cur, &key, &len);
        if (rc == SAP_OK) {
            rc = buf_append_u32le(keys, len);
        }
        if (rc == SAP_OK) {
            rc = buf_append(keys, key, len);
        }
        if (rc == SAP_OK) {
            rc = cursor_next(cur);
        }
    }
    cursor_close(cur);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

int migrate_each(MigrateStep *step, uint32_t dbi,
                 int (*fn)(MigrateStep *step, const MigrateRow *row, void *ctx), void *ctx)
{
    SapDbiInfo info;
    Buf keys = {0};
    size_t at = 0;

    if (dbi_info(sap_txn_env(step->txn), dbi, &info) != SAP_OK || (info.flags & DBI_DUPSORT) != 0) {
        return SAP_ERROR;
    }
    int rc = collect_keys(step->txn, dbi, &keys);
    while (rc == SAP_OK && at < keys.len) {
        MigrateRow row = {.key_len = load_u32le(keys.data + at)};
        row.key = keys.data + at + sizeof row.key_len;
        at += sizeof row.key_len + row.key_len;
        rc = txn_get_dbi(step->txn, dbi, row.key, row.key_len, &row.val, &row.val_len);
        if (rc == SAP_OK) {
            step->counts.read++;
            rc = fn(step, &row, ctx);
        } else if (rc == SAP_NOTFOUND) {
            rc = SAP_OK;
        }
    }
    buf_release(&keys);
    return rc;
}

int migrate_put(MigrateStep *step, uint32_t dbi, const void *key, uint32_t key_len, const void *val,
                uint32_t val_len)
{
    int rc = txn_put_dbi(step->txn, dbi, key, key_len, val, val_len);

    step->counts.written += rc == SAP_OK ? 1 : 0;
    return rc;
}

int migrate_del(MigrateStep *step, uint32_t dbi, const void *key, uint32_t key_len)
{
    int rc = txn_del_dbi(step->txn, dbi, key, key_len);

    step->counts.deleted += rc == SAP_OK ? 1 : 0;
    return rc;
}

int migrate_refuse(MigrateStep *step, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(step->reason, sizeof step->reason, format, args);
    va_end(args);
    return SAP_INVALID;
}

/* --- planning --------------------------------------------------------------------------------- */

/* Extends the path, which stands at `at`, to one of `length` steps that ends at path->to. */
static bool extend(const Migration *list, size_t count, SchemaVersion at, size_t length,
                   MigratePath *path)
{
    if (path->count == length) {
        return schema_version_compare(at, path->to) == 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (schema_version_compare(list[i].from, at) != 0 ||
            schema_version_compare(list[i].to, path->to) > 0) {
            continue;
        }
        SAP_ASSERT(schema_version_compare(list[i].from, list[i].to) < 0);
        path->steps[path->count++] = &list[i];
        if (extend(list, count, list[i].to, length, path)) {
            return true;
        }
        path->count--;
    }
    return false;
}

int migrate_plan(const Migration *list, size_t count, SchemaVersion from, SchemaVersion to,
                 MigratePath *path_out)
{
    size_t most = count < MIGRATE_MOST_STEPS ? count : MIGRATE_MOST_STEPS;

    /* Versions only rise, so a path has no migration twice. */
    for (size_t length = 0; length <= most; length++) {
        *path_out = (MigratePath){.from = from, .to = to};
        if (extend(list, count, from, length, path_out)) {
            return SAP_OK;
        }
    }
    return SAP_NOTFOUND;
}

/* --- running ---------------------------------------------------------------------------------- */

static int blame(MigrateReport *report, int rc, const char *what, const char *why)
{
    (void)snprintf(report->reason, sizeof report->reason, "%s: %s", what,
                   why[0] != '\0' ? why : sap_strerror(rc));
    return rc;
}

static int run_steps(Txn *txn, const MigratePath *path, MigrateReport *report)
{
    SchemaVersion version = {0, 0};
    int rc = migrate_read_version(txn, &version);

    if (rc == SAP_OK && schema_version_compare(version, path->from) != 0) {
        rc = SAP_CONFLICT;
    }
    if (rc != SAP_OK) {
        return blame(report, rc, "the schema marker", rc == SAP_CONFLICT ? "has changed" : "");
    }
    for (size_t i = 0; i < path->count; i++) {
        const Migration *migration = path->steps[i];
        MigrateStep step = {.txn = txn};
        rc = migration->run != NULL ? migration->run(&step) : SAP_OK;
        if (rc == SAP_OK) {
            rc = migrate_write_version(txn, migration->to);
        }
        if (rc != SAP_OK) {
            return blame(report, rc, migration->name, step.reason);
        }
        report->counts[i] = step.counts;
        report->done++;
        fault_step("migrated, not committed");
    }
    return SAP_OK;
}

/* Makes the tables that steps add; with `only_ask`, whether there are any to make: SAP_EXISTS. */
static int add_tables(DB *db, const MigratePath *path, bool only_ask)
{
    for (size_t i = 0; i < path->count; i++) {
        const uint32_t *adds = path->steps[i]->adds;
        size_t most = sizeof path->steps[i]->adds / sizeof adds[0];
        for (size_t t = 0; t < most && adds[t] != 0; t++) {
            SapDbiInfo info;
            if (dbi_info(db, adds[t], &info) == SAP_OK) {
                continue;
            }
            int rc = only_ask ? SAP_EXISTS : dbi_open(db, adds[t], NULL, NULL, 0);
            if (rc != SAP_OK) {
                return rc;
            }
        }
    }
    return SAP_OK;
}

static int run_in(DB *db, const MigratePath *path, bool dry_run, MigrateReport *report)
{
    Txn *txn = NULL;
    int rc = add_tables(db, path, false);

    if (rc == SAP_OK) {
        rc = sap_txn_begin_rc(db, NULL, TXN_WAIT, &txn);
    }
    if (rc != SAP_OK) {
        return blame(report, rc, "the transaction", "");
    }
    rc = run_steps(txn, path, report);
    if (rc != SAP_OK || dry_run) {
        txn_abort(txn);
        return rc;
    }
    rc = txn_commit(txn);
    return rc == SAP_OK ? SAP_OK : blame(report, rc, "the commit", "");
}

/* --- a dry run that needs tables -------------------------------------------------------------- */

static int write_copy(const void *data, uint32_t len, void *ctx)
{
    Buf *copy = (Buf *)ctx;

    return buf_append(copy, data, len);
}

static int read_copy(void *data, uint32_t len, void *ctx)
{
    ByteReader *copy = (ByteReader *)ctx;
    const uint8_t *from = NULL;
    int rc = reader_bytes(copy, len, &from);

    if (rc == SAP_OK && len > 0) {
        memcpy(data, from, len);
    }
    return rc;
}

static int run_in_copy(DB *db, const MigratePath *path, MigrateReport *report)
{
    DB *copy = db_open(NULL, sap_env_get_page_size(db), NULL, NULL);
    Buf bytes = {0};
    ByteReader reader;
    int rc = copy == NULL ? SAP_NOMEM : db_checkpoint(db, write_copy, &bytes);

    if (rc == SAP_OK) {
        reader_init(&reader, bytes.data, bytes.len);
        rc = db_restore(copy, read_copy, &reader);
    }
    buf_release(&bytes);
    if (rc != SAP_OK) {
        (void)blame(report, rc, "a copy in memory for the dry run", "");
    } else {
        rc = run_in(copy, path, true, report);
    }
    (void)db_close(copy);
    return rc;
}

int migrate_run(DB *db, const MigratePath *path, bool dry_run, MigrateReport *report_out)
{
    *report_out = (MigrateReport){0};
    if (dry_run && add_tables(db, path, true) == SAP_EXISTS) {
        return run_in_copy(db, path, report_out);
    }
    return run_in(db, path, dry_run, report_out);
}
