/* store_init.c - init: makes a store, and says what was there. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/db.h"
#include "cli/store.h"
#include "store/pg_check.h"
#include "store/store_impl.h"
#include "universe/rows.h"

typedef struct Init {
    const Call *call;
    const char *url;
    char shown[PG_SHOWN_MAX]; /* without its secrets */
    const char *schema;       /* NULL: no marker is written */
    TableSet wanted;          /* the store's own included */
    uint32_t tables[SAP_STORE_LAST_TABLE + 1];
    uint32_t table_count; /* those of programs */
    TableSet found;
    bool found_schema; /* of a server */
    bool found_marker;
    char marker[SAP_STORE_MAX_SCHEMA + 1]; /* the schema that it names */
    int code;                              /* of the first thing that forbids it */
} Init;

/* ---- --tables, --schema, --universe ------------------------------------------------------------ */

/* A number at *at, which goes on behind it. */
static bool read_table(const char **at, uint32_t *table_out)
{
    char *end = NULL;

    if (!isdigit((unsigned char)**at)) {
        return false;
    }
    unsigned long number = strtoul(*at, &end, 10);
    *at = end;
    *table_out = (uint32_t)number;
    return number >= SAP_STORE_FIRST_TABLE && number <= SAP_STORE_LAST_TABLE;
}

static bool read_tables(const char *at, TableSet *set)
{
    for (;;) {
        uint32_t first = 0;
        if (!read_table(&at, &first)) {
            return false;
        }
        uint32_t last = first;
        if (*at == '-') {
            at++;
            if (!read_table(&at, &last) || last < first) {
                return false;
            }
        }
        for (uint32_t i = first; i <= last; i++) {
            set->has[i] = true;
        }
        if (*at == '\0') {
            return true;
        }
        if (*at++ != ',') {
            return false;
        }
    }
}

/* Tables and schema are those of sap_universe_init(). */
static int take_universe(Init *init)
{
    uint32_t count = 0;
    const uint32_t *tables = universe_tables(&count);

    if (call_has(init->call, OPTION_TABLES) || call_has(init->call, OPTION_SCHEMA)) {
        return call_usage(init->call,
                          "--universe stands for --tables and --schema: leave these out");
    }
    for (uint32_t i = 0; i < count; i++) {
        init->wanted.has[tables[i]] = true;
    }
    init->schema = UNIVERSE_SCHEMA;
    return EXIT_DONE;
}

static int take_tables(Init *init)
{
    const char *list = call_value(init->call, OPTION_TABLES);
    int code = EXIT_DONE;

    if (list != NULL && !read_tables(list, &init->wanted)) {
        return call_usage(init->call,
                          "--tables %s: it is numbers from 16 to 1023 and ranges, as in 16-20,64",
                          list);
    }
    init->schema = call_value(init->call, OPTION_SCHEMA);
    if (call_has(init->call, OPTION_UNIVERSE)) {
        code = take_universe(init);
    }
    for (uint32_t i = 0; i <= SAP_STORE_LAST_TABLE; i++) {
        if (init->wanted.has[i]) {
            init->tables[init->table_count++] = i;
        }
    }
    for (uint32_t i = 0; i < STORE_OWN_TABLES; i++) {
        init->wanted.has[STORE_FIRST_OWN_TABLE + i] = true;
    }
    return code;
}

static int check_schema(const Init *init, StorePlace place)
{
    if (place == STORE_IN_FILE && (init->schema == NULL || init->table_count == 0)) {
        return call_usage(init->call,
                          "a store in a file is made with --tables and --schema, or --universe");
    }
    if (init->schema != NULL && init->table_count == 0) {
        return call_usage(init->call, "--schema names what tables hold: which, by --tables");
    }
    if (init->schema != NULL && strlen(init->schema) > SAP_STORE_MAX_SCHEMA) {
        return call_usage(init->call, "--schema has at most 64 bytes");
    }
    return EXIT_DONE;
}

/* ---- What is there ----------------------------------------------------------------------------- */

static const PgField *find_field(const PgCheckLine *line, const char *name)
{
    for (uint32_t i = 0; i < line->field_count; i++) {
        if (strcmp(line->fields[i].name, name) == 0) {
            return &line->fields[i];
        }
    }
    return NULL;
}

static void take_line(void *ctx, const PgCheckLine *line)
{
    Init *init = (Init *)ctx;
    const PgField *present = find_field(line, "present");
    const PgField *schema = find_field(line, "schema");

    if (strcmp(line->name, "table") == 0) {
        init->found.has[find_field(line, "number")->number] = true;
    } else if (strcmp(line->name, "schema") == 0) {
        init->found_schema = present->number != 0;
    } else if (strcmp(line->name, "marker") == 0) {
        init->found_marker = present->number != 0;
        (void)snprintf(init->marker, sizeof init->marker, "%s", schema != NULL ? schema->text : "");
    }
}

/* What is missing will be made; any other refusal ends it before anything is. */
static void take_finding(void *ctx, const PgFinding *finding)
{
    Init *init = (Init *)ctx;

    if (finding->rc != SAP_OK && finding->rc != SAP_NOTFOUND && init->code == EXIT_DONE) {
        init->code = ui_fail(init->call->ui, store_exit_code(finding->line, finding->rc), NULL,
                             "%s", finding->text);
    }
}

static int look_at_server(Init *init)
{
    char why[PG_WHY_MAX];
    PgReport report = {take_line, take_finding, init};
    int rc = pg_check(init->url, &report, why);

    if (rc != SAP_OK && init->code == EXIT_DONE) {
        return ui_fail(init->call->ui, store_exit_code("server", rc), NULL, "%s",
                       why[0] != '\0' ? why : sap_strerror(rc));
    }
    return init->code;
}

static int look_at_file(Init *init)
{
    StoreFile file;
    struct stat st;
    const char *path = store_path(init->url);

    if (stat(path, &st) != 0 || st.st_size == 0) {
        return EXIT_DONE; /* there is none, or whatever is wrong shows when it is made */
    }
    int code = store_file_look(init->call, path, &file);
    const AccessTable *tables = (const AccessTable *)(const void *)file.tables.data;
    for (size_t i = 0; i < file.tables.len / sizeof *tables; i++) {
        if (tables[i].dbi <= SAP_STORE_LAST_TABLE) {
            init->found.has[tables[i].dbi] = true;
        }
    }
    init->found_marker = file.has_marker && file.damage[0] == '\0';
    (void)snprintf(init->marker, sizeof init->marker, "%s", file.schema);
    store_file_release(&file);
    return code;
}

static int compare_schema(const Init *init)
{
    if (!init->found_marker || init->schema == NULL || strcmp(init->schema, init->marker) == 0) {
        return EXIT_DONE;
    }
    return ui_fail(init->call->ui, EXIT_CONFLICT,
                   "give --schema the name that it holds, or choose another store",
                   "%s: the store holds schema \"%s\", not \"%s\"", init->shown, init->marker,
                   init->schema);
}

/* ---- Making ------------------------------------------------------------------------------------ */

static int make_store(const Init *init, StorePlace place)
{
    SapStoreOptions options = {
        .size = sizeof options,
        .tables = init->tables,
        .table_count = init->table_count,
        .schema = init->schema,
    };
    int rc = init->schema != NULL ? sap_store_init(init->url, &options)
                                  : postgres_store_init(init->url, &options);

    if (rc == SAP_OK) {
        return EXIT_DONE;
    }
    const char *text = sap_open_error();
    if (place == STORE_IN_FILE) {
        return ui_fail_code(init->call->ui, rc, store_path(init->url), text);
    }
    return ui_fail(init->call->ui, store_exit_code("server", rc), NULL, "%s",
                   text[0] != '\0' ? text : sap_strerror(rc));
}

static int say_as_json(const Init *init, const TableSet *made, const TableSet *there,
                       StorePlace place)
{
    bool marker = init->schema != NULL && !init->found_marker;
    json_t *object = json_object();
    json_t *made_object = json_object();

    if (object == NULL || made_object == NULL ||
        json_object_set_new(object, "store", json_text(init->shown)) != 0 ||
        json_object_set_new(made_object, "tables", table_set_json(made)) != 0 ||
        (place == STORE_ON_SERVER &&
         json_object_set_new(made_object, "schema", json_boolean(!init->found_schema)) != 0) ||
        json_object_set_new(made_object, "marker", json_boolean(marker)) != 0 ||
        json_object_set(object, "made", made_object) != 0 ||
        json_object_set_new(object, "there", json_pack("{s:o}", "tables", table_set_json(there))) !=
            0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(made_object);
    return ui_object(init->call->ui, object);
}

static int say_as_text(const Init *init, const TableSet *made, const TableSet *there,
                       StorePlace place)
{
    Buf text = {0};
    bool marker = init->schema != NULL && !init->found_marker;
    bool schema = place == STORE_ON_SERVER && !init->found_schema;
    int rc = buf_printf(&text, "%s: made %stables ", init->shown, schema ? "the schema, " : "");

    rc = rc == SAP_OK ? table_set_text(made, &text) : rc;
    rc = rc == SAP_OK ? buf_printf(&text, "%s; there were tables ", marker ? ", the marker" : "")
                      : rc;
    rc = rc == SAP_OK ? table_set_text(there, &text) : rc;
    rc = rc == SAP_OK ? buf_append_u8(&text, '\0') : rc;
    if (rc == SAP_OK) {
        ui_note(init->call->ui, "%s", (const char *)text.data);
    }
    buf_release(&text);
    return rc == SAP_OK ? EXIT_DONE : ui_no_memory(init->call->ui);
}

static int say_result(const Init *init, StorePlace place)
{
    TableSet made = {{false}};
    TableSet there = {{false}};

    for (uint32_t i = 0; i <= SAP_STORE_LAST_TABLE; i++) {
        made.has[i] = init->wanted.has[i] && !init->found.has[i];
        there.has[i] = init->found.has[i];
    }
    return init->call->ui->json ? say_as_json(init, &made, &there, place)
                                : say_as_text(init, &made, &there, place);
}

int store_init_verb(const Call *call)
{
    Init init = {.call = call, .url = call_operand(call, 0)};
    StorePlace place = STORE_IN_FILE;
    int code = store_place(call, init.url, &place);

    store_url_show(init.url, init.shown, sizeof init.shown);
    code = code == EXIT_DONE ? take_tables(&init) : code;
    code = code == EXIT_DONE ? check_schema(&init, place) : code;
    if (code == EXIT_DONE) {
        code = place == STORE_ON_SERVER ? look_at_server(&init) : look_at_file(&init);
    }
    code = code == EXIT_DONE ? compare_schema(&init) : code;
    code = code == EXIT_DONE ? make_store(&init, place) : code;
    return code == EXIT_DONE ? say_result(&init, place) : code;
}
