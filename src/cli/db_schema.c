/* db_schema.c - `sapling db scan --schema`: rows taken apart, a JSON object a line.
 *
 * The schema is the runtime's own, by generated code, or one from a file, read now. A row that does not
 * decode is shown as it is, with the reason, and the rest still follows. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/db.h"
#include "cli/runtime_rows.h"
#include "schema/value_json.h"
#include "wit_schema_dbis.h"

typedef struct View {
    const Call *call;
    const char *path;
    const Schema *schema; /* NULL: the runtime's */
    const char *table;    /* the name of the one that is shown */
    size_t at;            /* its place among the tables of the schema */
    uint64_t rows;
    uint64_t bad;
    int code; /* what ended it, if not EXIT_DONE */
} View;

/* The runtime's tables are the first of the generated ones, which may be of other packages too. */
_Static_assert(WIT_RUNTIME_DBI_BASE == 0, "the first table is the runtime's");
_Static_assert(MOST_DBI == SAP_MAX_DBI, "schemas number tables as files do");

static size_t table_count(const View *view)
{
    return view->schema != NULL ? view->schema->table_count : WIT_RUNTIME_DBI_COUNT;
}

static const char *table_name(const View *view, size_t i)
{
    return view->schema != NULL ? view->schema->tables[i].name : wit_schema_dbis[i].name;
}

static uint32_t table_dbi(const View *view, size_t i)
{
    return view->schema != NULL ? view->schema->tables[i].dbi : wit_schema_dbis[i].dbi;
}

/* ---- The schema -------------------------------------------------------------------------------- */

/* As the manifest names tables. */
static const char *with_underscores(const char *name)
{
    char *copy = take_text(name, strlen(name));

    for (char *p = strchr(copy, '-'); p != NULL; p = strchr(p, '-')) {
        *p = '_';
    }
    return copy;
}

static int read_view(View *view, const char *file)
{
    const Ui *ui = view->call->ui;
    size_t len;
    char hint[100] = "";

    die_as("sapling", EXIT_FAILED);
    if (read_text(file, &len) == NULL) {
        return ui_fail(ui, errno == ENOENT ? EXIT_NOT_FOUND : EXIT_FAILED,
                       "--schema alone takes the schema of the runtime", "cannot read %s: %s", file,
                       strerror(errno));
    }
    Schema *schema = read_schema(file);
    check_schemas(&schema, 1);
    if (mistake_count() > 0) {
        const Mistake *first = mistakes_sorted();
        if (mistake_count() > 1) {
            (void)snprintf(hint, sizeof hint, "and %zu more", mistake_count() - 1);
        }
        return ui_fail(ui, EXIT_FAILED, hint[0] != '\0' ? hint : NULL,
                       "%s:%" PRIu32 ":%" PRIu32 ": %s", first->at.file, first->at.line,
                       first->at.column, first->text);
    }
    if (schema->table_count == 0) {
        return ui_fail(ui, EXIT_FAILED,
                       "a table is a pair of records dbi<N>-<name>-key and dbi<N>-<name>-value",
                       "%s declares no tables", file);
    }
    for (size_t i = 0; i < schema->table_count; i++) {
        schema->tables[i].name = with_underscores(schema->tables[i].name);
    }
    view->schema = schema;
    return EXIT_DONE;
}

static int no_such_table(const View *view, const char *wanted)
{
    Buf names = {0};
    int code = EXIT_FAILED;

    for (size_t i = 0; i < table_count(view); i++) {
        if (buf_printf(&names, " %s", table_name(view, i)) != SAP_OK) {
            code = ui_no_memory(view->call->ui);
            buf_release(&names);
            return code;
        }
    }
    char *hint = NULL;
    if (asprintf(&hint, "its tables:%.*s", (int)names.len, (const char *)names.data) < 0) {
        hint = NULL;
    }
    code = ui_fail(view->call->ui, EXIT_NOT_FOUND, hint, "the schema has no table %s", wanted);
    free(hint);
    buf_release(&names);
    return code;
}

/* *at_out: the table that is asked for by name or number, or the number of tables for all of them. */
static int choose_table(const View *view, size_t *at_out)
{
    const char *wanted = call_operand(view->call, 1);
    char number[16];

    *at_out = table_count(view);
    if (wanted == NULL) {
        wanted = call_value(view->call, OPTION_TABLE);
    }
    if (wanted == NULL) {
        return EXIT_DONE;
    }
    for (size_t i = 0; i < table_count(view); i++) {
        (void)snprintf(number, sizeof number, "%" PRIu32, table_dbi(view, i));
        if (strcmp(wanted, number) == 0 || strcmp(wanted, table_name(view, i)) == 0) {
            *at_out = i;
            return EXIT_DONE;
        }
    }
    return no_such_table(view, wanted);
}

/* ---- Rows -------------------------------------------------------------------------------------- */

static int set_part(const View *view, json_t *object, const char *name, Type *type, Slice bytes,
                    CodecError *error)
{
    Value value;
    int rc = value_decode(view->schema, type, bytes.data, bytes.len, &value, error);

    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = value_json(type, &value);
    value_free(&value);
    return json != NULL && json_object_set_new(object, name, json) == 0 ? SAP_OK : SAP_NOMEM;
}

static int decode_row(const View *view, const AccessRow *row, json_t *object, CodecError *error)
{
    if (view->schema == NULL) {
        return runtime_row(view->table, row->key, row->val, object, error);
    }
    const Table *table = &view->schema->tables[view->at];
    int rc = set_part(view, object, "key", table->key, row->key, error);
    return rc == SAP_OK ? set_part(view, object, "value", table->value, row->val, error) : rc;
}

static int set_hex(json_t *object, const char *name, Slice bytes)
{
    Buf text = {0};
    int rc = buf_reserve(&text, 1);

    if (rc == SAP_OK) {
        rc = format_hex(&text, bytes);
    }
    json_t *json = rc == SAP_OK ? json_stringn((const char *)text.data, text.len) : NULL;
    buf_release(&text);
    return json != NULL && json_object_set_new(object, name, json) == 0 ? SAP_OK : SAP_NOMEM;
}

/* What did not decode, as it is. */
static int set_raw(json_t *object, const AccessRow *row, const CodecError *error)
{
    int rc = json_object_get(object, "key") == NULL ? set_hex(object, "key_hex", row->key) : SAP_OK;

    if (rc == SAP_OK) {
        rc = set_hex(object, "value_hex", row->val);
    }
    json_t *text = rc == SAP_OK ? json_text(error->text) : NULL;
    return text != NULL && json_object_set_new(object, "error", text) == 0 ? SAP_OK : SAP_NOMEM;
}

static int show_decoded(const AccessRow *row, void *ctx)
{
    View *view = (View *)ctx;
    CodecError error;
    json_t *object = json_pack("{s:s}", "table", view->table);
    int rc = object == NULL ? SAP_NOMEM : decode_row(view, row, object, &error);

    view->rows++;
    if (rc == SAP_INVALID) {
        view->bad++;
        rc = set_raw(object, row, &error);
    }
    if (rc != SAP_OK) {
        json_decref(object);
        view->code = ui_no_memory(view->call->ui);
        return SAP_NOMEM;
    }
    if (call_has(view->call, OPTION_KEYS)) {
        (void)json_object_del(object, "value");
    }
    view->code = ui_object(view->call->ui, object);
    return view->code == EXIT_DONE ? SAP_OK : SAP_IO;
}

/* ---- Tables ------------------------------------------------------------------------------------ */

static int has_table(const AccessTable *table, void *ctx)
{
    return table->dbi == *(const uint32_t *)ctx ? SAP_EXISTS : SAP_OK;
}

/* Rows of table `i`; `optional`: none if the file does not have it. */
static int show_table(View *view, Access *access, AccessRange *range, size_t i, bool optional)
{
    AccessTable table;
    uint64_t before = view->rows;

    range->dbi = table_dbi(view, i);
    view->table = table_name(view, i);
    view->at = i;
    if (optional && access_tables(access, has_table, &range->dbi) == SAP_OK) {
        return EXIT_DONE;
    }
    int code = db_find_table(view->call, view->path, access, range->dbi, &table);
    if (code != EXIT_DONE) {
        return code;
    }
    int rc = access_scan(access, range, show_decoded, view);
    if (view->code != EXIT_DONE) {
        return view->code;
    }
    if (range->limit > 0) {
        range->limit -= view->rows - before;
    }
    return rc == SAP_OK ? EXIT_DONE : db_failed(view->call, view->path, access, rc);
}

static int show_tables(View *view, Access *access, AccessRange *range, size_t chosen)
{
    bool limited = range->limit > 0;
    int code = EXIT_DONE;

    if (chosen < table_count(view)) {
        return show_table(view, access, range, chosen, false);
    }
    for (size_t i = 0; i < table_count(view) && code == EXIT_DONE; i++) {
        if (limited && range->limit == 0) {
            break;
        }
        code = show_table(view, access, range, i, true);
    }
    return code;
}

static int check_words(const Call *call)
{
    const char *format = call_value(call, OPTION_FORMAT);
    bool bounds =
        call_has(call, OPTION_FROM) || call_has(call, OPTION_TO) || call_has(call, OPTION_PREFIX);

    if (format != NULL && strcmp(format, "json") != 0) {
        return call_usage(call, "rows by a schema are JSON: without --format %s", format);
    }
    if (call_has(call, OPTION_COUNT_ONLY)) {
        return call_usage(call, "--count needs no schema: without --schema");
    }
    if (bounds && call_operand(call, 1) == NULL && !call_has(call, OPTION_TABLE)) {
        return call_usage(call, "--from, --to and --prefix go with one table: name it behind FILE");
    }
    return EXIT_DONE;
}

int db_scan_schema(const Call *call, AccessRange *range)
{
    View view = {.call = call, .path = call_operand(call, 0)};
    const char *file = call_value(call, OPTION_SCHEMA);
    Access *access = NULL;
    size_t chosen = 0;
    int code = check_words(call);

    range->keys_only = false;
    if (code == EXIT_DONE && file != NULL) {
        code = read_view(&view, file);
    }
    if (code == EXIT_DONE) {
        code = choose_table(&view, &chosen);
    }
    if (code == EXIT_DONE) {
        code = file_open(call, view.path, &db_reading, &access);
    }
    if (code == EXIT_DONE) {
        code = show_tables(&view, access, range, chosen);
        code = file_close(call, view.path, access, code);
    }
    release_all();
    if (code == EXIT_DONE && view.bad > 0) {
        char bad[UI_TEXT];
        char rows[UI_TEXT];
        code = ui_fail(call->ui, EXIT_CORRUPT, "each has its reason in \"error\"",
                       "%s of %s not decoded by the schema", ui_count(view.bad, bad),
                       ui_rows(view.rows, rows));
    }
    return code;
}
