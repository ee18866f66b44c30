/* store_check.c - check: what a store is, and what keeps programs from opening it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/db.h"
#include "cli/store.h"
#include "common/clock.h"
#include "store/meta.h"
#include "store/pg_check.h"

typedef struct Check {
    const Call *call;
    json_t *object; /* NULL: lines are printed as they come */
    json_t *findings;
    json_t *notes;
    bool failed; /* no memory for the object */
    int code;    /* of the first finding */
} Check;

/* ---- Text -------------------------------------------------------------------------------------- */

static void print_text(const char *text)
{
    (void)ui_write(stdout, slice_from_str(text));
}

/* Names of fields end with their unit, which the value has. */
static void print_field(const PgField *field)
{
    char text[UI_TEXT];
    size_t len = strlen(field->name);

    switch (field->kind) {
    case PG_FIELD_TEXT:
        (void)printf("%s ", field->name);
        print_text(field->text[0] != '\0' ? field->text : "''");
        break;
    case PG_FIELD_NUMBER:
        (void)printf("%s %" PRId64, field->name, field->number);
        break;
    case PG_FIELD_BOOL:
        (void)printf("%s %s", field->name, field->number != 0 ? "yes" : "no");
        break;
    case PG_FIELD_BYTES:
        (void)fputs(ui_bytes((uint64_t)field->number, text), stdout);
        break;
    case PG_FIELD_SECONDS:
        (void)printf("%.*s %s", (int)len - 2, field->name, ui_seconds((double)field->number, text));
        break;
    }
}

static void print_line(const PgCheckLine *line)
{
    (void)printf("%-12s", line->name);
    for (uint32_t i = 0; i < line->field_count; i++) {
        (void)fputs(i == 0 ? " " : ", ", stdout);
        print_field(&line->fields[i]);
    }
    (void)putchar('\n');
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static json_t *line_json(const PgCheckLine *line)
{
    json_t *object = json_object();

    for (uint32_t i = 0; i < line->field_count && object != NULL; i++) {
        const PgField *field = &line->fields[i];
        json_t *value = field->kind == PG_FIELD_TEXT   ? json_text(field->text)
                        : field->kind == PG_FIELD_BOOL ? json_boolean(field->number != 0)
                                                       : json_integer(field->number);
        if (json_object_set_new(object, field->name, value) != 0) {
            json_decref(object);
            object = NULL;
        }
    }
    return object;
}

/* A table is one of a list, all else is a field of the object. */
static void add_line(Check *check, const PgCheckLine *line)
{
    json_t *value = line_json(line);
    int failed = strcmp(line->name, "table") == 0
                     ? json_array_append_new(json_object_get(check->object, "tables"), value)
                     : json_object_set_new(check->object, line->name, value);

    check->failed = check->failed || failed != 0;
}

static int start_json(Check *check, const char *shown)
{
    check->object = json_object();
    check->findings = json_array();
    check->notes = json_array();
    if (check->object == NULL || check->findings == NULL || check->notes == NULL ||
        json_object_set_new(check->object, "store", json_text(shown)) != 0 ||
        json_object_set_new(check->object, "tables", json_array()) != 0) {
        check->failed = true;
    }
    return check->failed ? ui_no_memory(check->call->ui) : EXIT_DONE;
}

static int finish_json(Check *check)
{
    if (json_object_set_new(check->object, "ok", json_boolean(check->code == EXIT_DONE)) != 0 ||
        json_object_set(check->object, "findings", check->findings) != 0 ||
        json_object_set(check->object, "notes", check->notes) != 0) {
        check->failed = true;
    }
    if (check->failed) {
        return ui_no_memory(check->call->ui);
    }
    int said = ui_object(check->call->ui, json_incref(check->object));
    return check->code == EXIT_DONE ? said : check->code;
}

static void release_json(Check *check)
{
    json_decref(check->object);
    json_decref(check->findings);
    json_decref(check->notes);
}

/* ---- Both -------------------------------------------------------------------------------------- */

static void on_line(void *ctx, const PgCheckLine *line)
{
    Check *check = (Check *)ctx;

    if (check->object != NULL) {
        add_line(check, line);
    } else {
        print_line(line);
    }
}

static void on_finding(void *ctx, const PgFinding *finding)
{
    Check *check = (Check *)ctx;
    int code = store_exit_code(finding->line, finding->rc);

    check->code = check->code == EXIT_DONE ? code : check->code;
    if (check->object != NULL) {
        json_t *found = json_pack("{s:s,s:i,s:o}", "line", finding->line, "exit", code, "message",
                                  json_text(finding->text));
        check->failed =
            json_array_append_new(code == EXIT_DONE ? check->notes : check->findings, found) != 0 ||
            check->failed;
    } else if (code == EXIT_DONE) {
        ui_note(check->call->ui, "%s", finding->text);
    } else {
        (void)ui_fail(check->call->ui, code, NULL, "%s", finding->text);
    }
}

static void find_in_file(Check *check, const char *line, int rc, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void find_in_file(Check *check, const char *line, int rc, const char *format, ...)
{
    char text[600];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    on_finding(check, &(PgFinding){line, rc, text});
}

/* ---- A file ------------------------------------------------------------------------------------ */

static void report_marker(Check *check, const StoreFile *file)
{
    PgField marker[] = {
        {"present", PG_FIELD_BOOL, NULL, file->has_marker},
        {"format", PG_FIELD_NUMBER, NULL, file->format},
        {"schema", PG_FIELD_TEXT, file->schema, 0},
    };

    on_line(check, &(PgCheckLine){"marker", marker, file->has_marker ? 3 : 1});
}

static void report_time(Check *check, const StoreFile *file)
{
    enum { NS_PER_SECOND = 1000000000, MS_PER_SECOND = 1000 };
    char due[32] = "?";
    struct tm parts;
    time_t due_s = (time_t)(file->time.due_ns / NS_PER_SECOND);
    int64_t ago =
        clock_wall_ms(NULL) / MS_PER_SECOND - (int64_t)(file->time.wall_ns / NS_PER_SECOND);

    if (gmtime_r(&due_s, &parts) != NULL) {
        (void)strftime(due, sizeof due, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
    PgField time[] = {
        {"lease_s", PG_FIELD_SECONDS, NULL, (int64_t)(file->time.lease_ns / NS_PER_SECOND)},
        {"due", PG_FIELD_TEXT, due, 0},
        {"stored_s", PG_FIELD_SECONDS, NULL, ago > 0 ? ago : 0},
    };
    on_line(check, &(PgCheckLine){"time", time, 3});
}

/* The first table that is not a store's stands for all. */
static void report_table(Check *check, const char *path, const AccessTable *table, bool marked)
{
    PgField fields[] = {
        {"number", PG_FIELD_NUMBER, NULL, table->dbi},
        {"rows", PG_FIELD_NUMBER, NULL, (int64_t)table->rows},
    };

    on_line(check, &(PgCheckLine){"table", fields, 2});
    if (check->code != EXIT_DONE) {
        return;
    }
    if (table->rows > 0 && (table->dbi < STORE_FIRST_OWN_TABLE || !marked)) {
        find_in_file(check, "table", SAP_INVALID,
                     "%.300s: table %" PRIu32 " has rows%s: another program made the file, which "
                     "is not a store",
                     path, table->dbi, marked ? "" : ", but there is no marker of a store");
    } else if (table->flags != 0) {
        find_in_file(check, "table", SAP_INVALID,
                     "%.300s: table %" PRIu32 " was made by another program, with flags that "
                     "tables of a store do not have",
                     path, table->dbi);
    }
}

static void report_file(Check *check, const char *path, const StoreFile *file)
{
    const AccessTable *tables = (const AccessTable *)(const void *)file->tables.data;
    bool marked = file->has_marker;

    for (size_t i = 0; i < file->tables.len / sizeof *tables; i++) {
        report_table(check, path, &tables[i], marked);
    }
    if (file->damage[0] != '\0') {
        find_in_file(check, "marker", SAP_CORRUPT, "%.300s: %s: restore a backup", path,
                     file->damage);
        return;
    }
    report_marker(check, file);
    if (marked && file->format != META_FORMAT) {
        find_in_file(check, "marker", SAP_INVALID,
                     "%.300s: the store has format %" PRIu32 ", this program reads format %d: use "
                     "the version that made it",
                     path, file->format, META_FORMAT);
    }
    if (marked) {
        report_time(check, file);
    }
    if (check->code == EXIT_DONE) {
        ui_note(check->call->ui, "check every page: sapling db verify %s", path);
    }
}

static int check_file(Check *check, const char *path)
{
    StoreFile file;
    int code = store_file_look(check->call, path, &file);

    if (code == EXIT_DONE) {
        report_file(check, path, &file);
    }
    store_file_release(&file);
    return code;
}

/* ---- A server ---------------------------------------------------------------------------------- */

static int check_server(Check *check, const char *url)
{
    char why[PG_WHY_MAX];
    PgReport report = {on_line, on_finding, check};
    int rc = pg_check(url, &report, why);

    return rc == SAP_OK ? EXIT_DONE
                        : ui_fail(check->call->ui, store_exit_code("server", rc), NULL, "%s",
                                  why[0] != '\0' ? why : sap_strerror(rc));
}

int store_check_verb(const Call *call)
{
    Check check = {.call = call};
    const char *url = call_operand(call, 0);
    char shown[PG_SHOWN_MAX];
    StorePlace place = STORE_IN_FILE;
    int code = store_place(call, url, &place);

    store_url_show(url, shown, sizeof shown);
    if (code == EXIT_DONE && call->ui->json) {
        code = start_json(&check, shown);
    }
    if (code == EXIT_DONE) {
        code = place == STORE_ON_SERVER ? check_server(&check, url)
                                        : check_file(&check, store_path(url));
    }
    if (code == EXIT_DONE) {
        code = check.object != NULL ? finish_json(&check) : check.code;
    }
    release_json(&check);
    return code;
}
