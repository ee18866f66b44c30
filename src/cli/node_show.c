#include "cli/node_show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/format.h"
#include "cli/json_write.h"
#include "common/assert.h"
#include "common/clock.h"
#include "common/utf8.h"

enum {
    PAGE_MOST = 1000, /* items of a page, as many as a node gives */
    HASH_SHOWN = 12,  /* digits of a hash in a table: commands take as many */
    VALUE_SHOWN = 60, /* bytes of a value in a table */
};

/* ---- Values ------------------------------------------------------------------------------------ */

const char *show_age(int64_t ms, char text[UI_TEXT])
{
    static const struct {
        int64_t ms;
        char unit;
    } units[] = {{INT64_C(86400000), 'd'}, {3600000, 'h'}, {60000, 'm'}, {1000, 's'}};
    size_t i = 0;

    if (ms < 1000) {
        (void)snprintf(text, UI_TEXT, "0.%" PRId64 "s", ms < 0 ? 0 : ms / 100);
        return text;
    }
    while (ms < units[i].ms) {
        i++;
    }
    (void)snprintf(text, UI_TEXT, "%" PRId64 "%c", ms / units[i].ms, units[i].unit);
    return text;
}

json_t *show_member(const json_t *item, const char *path)
{
    for (;;) {
        const char *dot = strchr(path, '.');
        if (dot == NULL) {
            return json_object_get(item, path);
        }
        item = json_object_getn(item, path, (size_t)(dot - path));
        path = dot + 1;
    }
}

const char *show_text(const json_t *item, const char *path, const char *otherwise)
{
    const char *text = json_string_value(show_member(item, path));

    return text != NULL ? text : otherwise;
}

int show_line(const Ui *ui, const json_t *value)
{
    Buf line = {0};
    int rc = json_write(&line, value);

    rc = rc == SAP_OK ? buf_append_u8(&line, '\n') : rc;
    if (rc != SAP_OK) {
        buf_release(&line);
        return ui_no_memory(ui);
    }
    bool written = ui_write(stdout, (Slice){line.data, line.len});
    buf_release(&line);
    return written ? EXIT_DONE : ui_finish(ui);
}

/* ---- Fields ------------------------------------------------------------------------------------ */

static bool is_capped(const json_t *item, const char *path)
{
    const char *dot = strrchr(path, '.');
    char capped[64];

    (void)snprintf(capped, sizeof capped, "%.*scapped", dot != NULL ? (int)(dot - path) + 1 : 0,
                   path);
    if (json_is_true(show_member(item, capped))) {
        return true;
    }
    (void)snprintf(capped, sizeof capped, "%.50s_capped", path);
    return json_is_true(show_member(item, capped));
}

static int append_names(Buf *out, const json_t *names)
{
    json_t *item;
    size_t i;
    int rc = SAP_OK;

    json_array_foreach(names, i, item)
    {
        const char *text =
            json_is_string(item) ? json_string_value(item) : show_text(item, "name", "-");
        json_t *version = json_object_get(item, "version");

        rc = rc == SAP_OK ? buf_printf(out, "%s%s", i > 0 ? ", " : "", text) : rc;
        if (json_is_integer(version) && rc == SAP_OK) {
            rc = buf_printf(out, "@%" JSON_INTEGER_FORMAT, json_integer_value(version));
        }
    }
    return rc;
}

static int append_pairs(Buf *out, const json_t *pairs)
{
    int rc = SAP_OK;
    void *at = json_object_iter((json_t *)(uintptr_t)pairs);

    for (const char *comma = ""; at != NULL && rc == SAP_OK; comma = ", ") {
        const json_t *value = json_object_iter_value(at);
        rc = buf_printf(out, "%s%s=", comma, json_object_iter_key(at));
        if (rc == SAP_OK) {
            rc = json_is_string(value) ? buf_append_str(out, json_string_value(value))
                                       : json_write(out, value);
        }
        at = json_object_iter_next((json_t *)(uintptr_t)pairs, at);
    }
    return rc;
}

static int append_number(Buf *out, const json_t *item, const Field *field, json_int_t number)
{
    char text[UI_TEXT];

    if (number == 0 && (field->kind == FIELD_NUMBER || field->kind == FIELD_AGE)) {
        return SAP_OK;
    }
    switch (field->kind) {
    case FIELD_COUNT:
        return buf_printf(out, "%s%s", ui_count(number > 0 ? (uint64_t)number : 0, text),
                          is_capped(item, field->member) ? "+" : "");
    case FIELD_AGE:
        return buf_append_str(out, show_age(number, text));
    case FIELD_SINCE:
        return buf_append_str(out, show_age(clock_wall_ms(NULL) - number, text));
    default:
        return buf_printf(out, "%" JSON_INTEGER_FORMAT, number);
    }
}

/* The field as it is, and "" where the item has none. */
static int append_plain(Buf *out, const json_t *item, const Field *field)
{
    const json_t *value = show_member(item, field->member);

    if (value == NULL || json_is_null(value)) {
        return SAP_OK;
    }
    if (field->kind == FIELD_VALUE) {
        return json_write(out, value);
    }
    if (json_is_integer(value)) {
        return append_number(out, item, field, json_integer_value(value));
    }
    if (json_is_string(value)) {
        return buf_append(out, json_string_value(value), json_string_length(value));
    }
    if (json_is_boolean(value)) {
        return buf_append_str(out, json_is_true(value) ? "yes" : "no");
    }
    return json_is_array(value)    ? append_names(out, value)
           : json_is_object(value) ? append_pairs(out, value)
                                   : json_write(out, value);
}

/* Cuts what does not fit a table, never within a character. */
static int cut_cell(Buf *cell, const Field *field)
{
    if (field->kind == FIELD_HASH && cell->len > HASH_SHOWN) {
        buf_truncate(cell, HASH_SHOWN);
    }
    if (field->kind == FIELD_VALUE && cell->len > VALUE_SHOWN) {
        buf_truncate(cell, utf8_prefix(cell->data, cell->len, VALUE_SHOWN));
        return buf_append_str(cell, "...");
    }
    return SAP_OK;
}

/* A cell as a person may see it; "-": there is nothing in it. */
static int append_field(Buf *out, const json_t *item, const Field *field, bool table)
{
    Buf plain = {0};
    int rc = append_plain(&plain, item, field);

    rc = rc == SAP_OK && table ? cut_cell(&plain, field) : rc;
    if (rc == SAP_OK) {
        rc = plain.len == 0 ? buf_append_u8(out, '-')
                            : format_shown(out, (Slice){plain.data, plain.len}, false);
    }
    buf_release(&plain);
    return rc;
}

int show_item(const Ui *ui, const json_t *item, const Field *fields)
{
    Buf text = {0};
    int width = 0;
    int rc = SAP_OK;

    if (ui->json) {
        return show_line(ui, item);
    }
    for (const Field *field = fields; field->head != NULL; field++) {
        int len = (int)strlen(field->head);
        width = len > width ? len : width;
    }
    for (const Field *field = fields; field->head != NULL && rc == SAP_OK; field++) {
        rc = buf_printf(&text, "%-*s  ", width, field->head);
        rc = rc == SAP_OK ? append_field(&text, item, field, false) : rc;
        rc = rc == SAP_OK ? buf_append_u8(&text, '\n') : rc;
    }
    bool written = rc == SAP_OK && fwrite(text.data, 1, text.len, stdout) == text.len;
    buf_release(&text);
    return rc != SAP_OK ? ui_no_memory(ui) : written ? EXIT_DONE : ui_finish(ui);
}

/* ---- Tables ------------------------------------------------------------------------------------ */

/* Characters, each of which takes a place at a terminal, of most writings. */
static size_t cell_width(const char *cell)
{
    size_t width = 0;

    for (; *cell != '\0'; cell++) {
        width += ((unsigned char)*cell & 0xc0) != 0x80 ? 1 : 0;
    }
    return width;
}

static bool to_the_right(const Field *field)
{
    return field->kind == FIELD_COUNT || field->kind == FIELD_AGE || field->kind == FIELD_SINCE;
}

int table_add(Table *table, const json_t *item)
{
    int rc = SAP_OK;
    size_t column = 0;

    for (const Field *field = table->fields; field->head != NULL && rc == SAP_OK; field++) {
        size_t start = table->cells.len;
        SAP_ASSERT(column < sizeof table->widths / sizeof table->widths[0]);
        rc = append_field(&table->cells, item, field, true);
        rc = rc == SAP_OK ? buf_append_u8(&table->cells, 0) : rc;
        if (rc == SAP_OK) {
            size_t width = cell_width((const char *)table->cells.data + start);
            table->widths[column] = width > table->widths[column] ? width : table->widths[column];
        }
        column++;
    }
    return rc;
}

static int append_cell(Buf *line, const Table *table, size_t column, const char *cell)
{
    const Field *field = &table->fields[column];
    bool last = field[1].head == NULL;
    size_t head = strlen(field->head);
    size_t width = table->widths[column] > head ? table->widths[column] : head;
    int fill = (int)(width - cell_width(cell));

    if (to_the_right(field)) {
        return buf_printf(line, "%*s%s%s", fill, "", cell, last ? "\n" : "  ");
    }
    return last ? buf_printf(line, "%s\n", cell) : buf_printf(line, "%s%*s  ", cell, fill, "");
}

int table_print(Table *table)
{
    Buf lines = {0};
    int rc = SAP_OK;

    if (table->cells.len == 0) {
        return EXIT_DONE;
    }
    const char *cell = (const char *)table->cells.data;
    const char *end = cell + table->cells.len;
    for (size_t i = 0; table->fields[i].head != NULL && !table->headed && rc == SAP_OK; i++) {
        rc = append_cell(&lines, table, i, table->fields[i].head);
    }
    table->headed = true;
    while (cell < end && rc == SAP_OK) {
        for (size_t i = 0; table->fields[i].head != NULL && rc == SAP_OK; i++) {
            rc = append_cell(&lines, table, i, cell);
            cell += strlen(cell) + 1;
        }
    }
    SAP_ASSERT(rc != SAP_OK || cell == end);
    buf_clear(&table->cells);
    bool written = rc == SAP_OK && fwrite(lines.data, 1, lines.len, stdout) == lines.len;
    buf_release(&lines);
    return rc != SAP_OK ? ui_no_memory(table->ui) : written ? EXIT_DONE : ui_finish(table->ui);
}

void table_release(Table *table)
{
    buf_release(&table->cells);
}

/* ---- Lists ------------------------------------------------------------------------------------- */

/* The path of the next page. */
static char *page_path(const char *path, uint64_t most, const char *after)
{
    char number[UI_TEXT];

    SAP_ASSERT(path != NULL);
    if (path[0] == SHOW_WHOLE[0]) {
        return strdup(path + 1);
    }
    (void)snprintf(number, sizeof number, "%" PRIu64, most < PAGE_MOST ? most : PAGE_MOST);
    return node_query(node_query(strdup(path), "limit", number), "after", after);
}

/* Hands on the items of a page. *left counts those that are still wanted. */
static int take_page(const json_t *items, uint64_t *left, show_fn fn, void *ctx)
{
    int code = EXIT_DONE;
    json_t *item;
    size_t i;

    json_array_foreach(items, i, item)
    {
        if (code != EXIT_DONE || *left == 0) {
            break;
        }
        code = fn(ctx, item);
        (*left)--;
    }
    return code;
}

int show_each(NodeClient *client, char *path, uint64_t limit, show_fn fn, void *ctx)
{
    uint64_t left = limit > 0 ? limit : UINT64_MAX;
    char *after = NULL;
    int code = path != NULL ? EXIT_DONE : ui_no_memory(client->call->ui);
    bool more = true;

    while (code == EXIT_DONE && more && left > 0) {
        NodeAnswer answer = {0};
        NodeRequest request = {.method = "GET", .path = page_path(path, left, after)};
        code = node_call(client, request, &answer);
        const json_t *items = json_object_get(answer.json, "items");
        const char *next = json_string_value(json_object_get(answer.json, "next"));
        if (code == EXIT_DONE && !json_is_array(items)) {
            code = node_nonsense(client, "its list has no items");
        }
        if (code == EXIT_DONE && next != NULL && after != NULL && strcmp(next, after) == 0) {
            code = node_nonsense(client, "its list does not go on");
        }
        code = code == EXIT_DONE ? take_page(items, &left, fn, ctx) : code;
        more = next != NULL;
        free(after);
        after = code == EXIT_DONE && more ? strdup(next) : NULL;
        if (code == EXIT_DONE && more && after == NULL) {
            code = ui_no_memory(client->call->ui);
        }
        node_answer_release(&answer);
    }
    free(after);
    free(path);
    return code;
}

enum { TABLE_ROWS = 1000 }; /* that are shown together */

typedef struct List {
    Table table;
    uint64_t count;
    bool names; /* only the first field of each */
} List;

/* The name of an item on a line, with escapes where it would be more than one. */
static int print_name(const List *list, const json_t *item)
{
    const Ui *ui = list->table.ui;
    Buf line = {0};
    int rc = format_text(&line, slice_from_str(show_text(item, list->table.fields->member, "-")));

    rc = rc == SAP_OK ? buf_append_u8(&line, '\n') : rc;
    bool written = rc == SAP_OK && fwrite(line.data, 1, line.len, stdout) == line.len;
    buf_release(&line);
    return rc != SAP_OK ? ui_no_memory(ui) : written ? EXIT_DONE : ui_finish(ui);
}

static int list_item(void *ctx, json_t *item)
{
    List *list = (List *)ctx;
    const Ui *ui = list->table.ui;

    list->count++;
    if (ui->json) {
        return show_line(ui, item);
    }
    if (list->names) {
        return print_name(list, item);
    }
    if (table_add(&list->table, item) != SAP_OK) {
        return ui_no_memory(ui);
    }
    return list->count % TABLE_ROWS == 0 ? table_print(&list->table) : EXIT_DONE;
}

static int print_list(NodeClient *client, char *path, const Field *fields, const char *none)
{
    const Ui *ui = client->call->ui;
    List list = {.table = {.ui = ui, .fields = fields},
                 .names = call_has(client->call, OPTION_NAMES)};
    uint64_t limit = 0;
    int code = call_number(client->call, OPTION_LIMIT, 1, UINT64_MAX - 1, 0, &limit);

    if (code == EXIT_DONE) {
        code = show_each(client, path, limit, list_item, &list);
    } else {
        free(path);
    }
    int printed = table_print(&list.table);
    code = code == EXIT_DONE ? printed : code;
    if (code == EXIT_DONE && list.count == 0) {
        ui_note(ui, "%s", none);
    }
    table_release(&list.table);
    return code;
}

int show_list_command(const Call *call, char *path, const Field *fields, const char *none)
{
    NodeClient client = {.call = call, .directory = -1};
    bool both = call_has(call, OPTION_NAMES) && call->ui->json;
    int code = both ? call_usage(call, "--names goes without --json") : node_open(call, &client);

    if (code == EXIT_DONE) {
        code = print_list(&client, path, fields, none);
    } else {
        free(path);
    }
    node_close(&client);
    return code;
}
