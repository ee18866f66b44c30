/* db_migrate.c - `sapling db migrate`: the runtime's rows, from the version that the marker has. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/db.h"
#include "runner/migrate.h"

/* "0.1" */
enum { VERSION_TEXT = 16 };

static const char *version_text(SchemaVersion version, char text[VERSION_TEXT])
{
    (void)snprintf(text, VERSION_TEXT, "%u.%u", version.major, version.minor);
    return text;
}

/* Digits up to `end`, at most 65535. */
static bool parse_part(const char **p, char end, uint16_t *part_out)
{
    char *stop = NULL;
    unsigned long part = strtoul(*p, &stop, 10);

    if (**p < '0' || **p > '9' || *stop != end || part > UINT16_MAX) {
        return false;
    }
    *part_out = (uint16_t)part;
    *p = stop + 1;
    return true;
}

static int wanted_version(const Call *call, SchemaVersion *version_out)
{
    const char *text = call_value(call, OPTION_TO);
    const char *p = text;

    *version_out = runtime_schema_version();
    if (text != NULL &&
        (!parse_part(&p, '.', &version_out->major) || !parse_part(&p, '\0', &version_out->minor))) {
        return call_usage(call, "--to %s: a version is two numbers, as in 0.1", text);
    }
    return EXIT_DONE;
}

/* The version that the file has. */
static int found_version(const Call *call, const char *path, DB *db, SchemaVersion *version_out)
{
    Txn *txn = txn_begin(db, NULL, TXN_RDONLY);

    if (txn == NULL) {
        return ui_no_memory(call->ui);
    }
    int rc = migrate_read_version(txn, version_out);
    txn_abort(txn);
    switch (rc) {
    case SAP_OK:
        return EXIT_DONE;
    case SAP_NOTFOUND:
        return ui_fail(call->ui, EXIT_NOT_FOUND, "the runner writes one when it first uses a file",
                       "%s: nothing to migrate: no schema marker", path);
    case SAP_CORRUPT:
        return ui_fail(call->ui, EXIT_CORRUPT,
                       "look at it: sapling db scan FILE app_state --schema",
                       "%s: the schema marker does not decode", path);
    default:
        return ui_fail_code(call->ui, rc, path, "");
    }
}

static int find_path(const Call *call, const char *path, SchemaVersion from, SchemaVersion to,
                     MigratePath *found)
{
    SchemaVersion own = runtime_schema_version();
    size_t count = 0;
    const Migration *list = runtime_migrations(&count);
    char a[VERSION_TEXT];
    char b[VERSION_TEXT];

    if (schema_version_compare(from, own) > 0) {
        return ui_fail(call->ui, EXIT_CONFLICT, "use the sapling that wrote it, or a newer one",
                       "%s is of version %s, newer than this program's %s", path,
                       version_text(from, a), version_text(own, b));
    }
    if (migrate_plan(list, count, from, to, found) != SAP_OK) {
        const char *hint = schema_version_compare(to, from) < 0
                               ? "migrations do not go back: restore a backup"
                           : schema_version_compare(to, own) > 0
                               ? "this program knows its own version and those before"
                               : "a sapling of a version between may have them";
        return ui_fail(call->ui, EXIT_CONFLICT, hint,
                       "%s: no migrations lead from version %s to %s", path, version_text(from, a),
                       version_text(to, b));
    }
    return EXIT_DONE;
}

static json_t *step_json(const Migration *migration, const MigrateCounts *counts)
{
    char from[VERSION_TEXT];
    char to[VERSION_TEXT];

    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I}", "from", version_text(migration->from, from),
                     "to", version_text(migration->to, to), "name", migration->name, "read",
                     (json_int_t)counts->read, "written", (json_int_t)counts->written, "deleted",
                     (json_int_t)counts->deleted);
}

static int print_json(const Call *call, const char *path, const MigratePath *found,
                      const MigrateReport *report, bool dry_run)
{
    char from[VERSION_TEXT];
    char to[VERSION_TEXT];
    json_t *steps = json_array();

    for (size_t i = 0; i < report->done && steps != NULL; i++) {
        if (json_array_append_new(steps, step_json(found->steps[i], &report->counts[i])) != 0) {
            json_decref(steps);
            steps = NULL;
        }
    }
    return ui_object(call->ui,
                     json_pack("{s:o, s:s, s:s, s:b, s:o}", "file", json_text(path), "from",
                               version_text(found->from, from), "to", version_text(found->to, to),
                               "dry_run", dry_run, "migrations", steps));
}

static int print_report(const Call *call, const char *path, const MigratePath *found,
                        const MigrateReport *report, bool dry_run)
{
    char from[VERSION_TEXT];
    char to[VERSION_TEXT];
    char text[3][UI_TEXT];

    if (call->ui->json) {
        return print_json(call, path, found, report, dry_run);
    }
    for (size_t i = 0; i < report->done; i++) {
        const MigrateCounts *counts = &report->counts[i];
        (void)printf("%s to %s: %s: %s read, %s written, %s deleted\n",
                     version_text(found->steps[i]->from, from),
                     version_text(found->steps[i]->to, to), found->steps[i]->name,
                     ui_rows(counts->read, text[0]), ui_count(counts->written, text[1]),
                     ui_count(counts->deleted, text[2]));
    }
    if (found->count == 0) {
        ui_note(call->ui, "%s is of version %s: nothing to do", path, version_text(found->to, to));
    } else {
        ui_note(call->ui, "%s %s version %s", path, dry_run ? "would be of" : "is of",
                version_text(found->to, to));
    }
    return EXIT_DONE;
}

static int confirm(const Call *call, const char *path, const MigratePath *found)
{
    char question[400];
    char from[VERSION_TEXT];
    char to[VERSION_TEXT];

    (void)snprintf(question, sizeof question, "migrate %.300s from version %s to %s", path,
                   version_text(found->from, from), version_text(found->to, to));
    return ui_confirm(call->ui, call_has(call, OPTION_YES), question);
}

static int migrate(const Call *call, const char *path, DB *db, SchemaVersion to)
{
    bool dry_run = call_has(call, OPTION_DRY_RUN);
    SchemaVersion from = {0, 0};
    MigratePath found = {0};
    MigrateReport report = {0};
    int code = found_version(call, path, db, &from);

    if (code == EXIT_DONE) {
        code = find_path(call, path, from, to, &found);
    }
    if (code == EXIT_DONE && found.count > 0 && !dry_run) {
        code = confirm(call, path, &found);
    }
    if (code != EXIT_DONE) {
        return code;
    }
    if (found.count > 0) {
        int rc = migrate_run(db, &found, dry_run, &report);
        if (rc != SAP_OK) {
            return ui_fail(call->ui,
                           rc == SAP_CONFLICT                       ? EXIT_CONFLICT
                           : rc == SAP_CORRUPT || rc == SAP_INVALID ? EXIT_CORRUPT
                                                                    : EXIT_FAILED,
                           rc == SAP_IO ? "whether it is done, its marker tells: run this again"
                                        : "nothing was changed",
                           "%s: %s", path, report.reason);
        }
    }
    return print_report(call, path, &found, &report, dry_run);
}

int db_migrate_verb(const Call *call)
{
    const char *path = call_operand(call, 0);
    SchemaVersion to;
    Access *access = NULL;
    int code = wanted_version(call, &to);

    if (code == EXIT_DONE) {
        code = file_open(call, path, &(AccessOptions){0}, &access);
    }
    if (code != EXIT_DONE) {
        return code;
    }
    code = access_db(access) != NULL
               ? migrate(call, path, access_db(access), to)
               : ui_fail(call->ui, EXIT_CONFLICT, "stop it, and try again",
                         "%s is in use by another process, which a migration cannot share", path);
    return file_close(call, path, access, code);
}
