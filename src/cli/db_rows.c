/* db_rows.c - get, put, del, scan: rows by their keys. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/db.h"

static Slice slice_of(const Buf *buf)
{
    return (Slice){buf->data, buf->len};
}

/* A key or value for messages, cut where it is long. */
static const char *shown_key(Slice key, char text[80])
{
    Buf buf = {0};
    Slice start = {key.data, key.len < 60 ? key.len : 60};

    text[0] = '\0';
    if (format_text(&buf, start) == SAP_OK) {
        (void)snprintf(text, 80, "%.*s%s", (int)(buf.len < 70 ? buf.len : 70),
                       buf.len == 0 ? "" : (const char *)buf.data, key.len > 60 ? "..." : "");
    }
    buf_release(&buf);
    return text;
}

static int no_such_key(const Call *call, Slice key)
{
    char text[80];
    return ui_fail(call->ui, EXIT_NOT_FOUND, NULL, "there is no key '%s'", shown_key(key, text));
}

/* ---- get --------------------------------------------------------------------------------------- */

static int show_value(const Call *call, Slice key, Slice value)
{
    if (call->ui->json) {
        json_t *object = json_object();
        if (object == NULL || json_set_bytes(object, "key", key) != 0 ||
            json_set_bytes(object, "value", value) != 0) {
            json_decref(object);
            return ui_no_memory(call->ui);
        }
        return ui_object(call->ui, object);
    }
    if (call_has(call, OPTION_HEX)) {
        Buf hex = {0};
        int rc = format_hex(&hex, value);
        if (rc == SAP_OK && hex.len > 0) {
            (void)fwrite(hex.data, 1, hex.len, stdout);
        }
        (void)putchar('\n');
        buf_release(&hex);
        return rc == SAP_OK ? EXIT_DONE : ui_no_memory(call->ui);
    }
    const char *bytes = (const char *)value.data;
    (void)ui_write(stdout, value);
    if (isatty(STDOUT_FILENO) == 1 && (value.len == 0 || bytes[value.len - 1] != '\n')) {
        (void)putchar('\n');
    }
    return EXIT_DONE;
}

static int get_from(const Call *call, const char *path, Access *access, uint32_t dbi, Slice key,
                    Buf *value)
{
    AccessTable table;
    int code = db_find_table(call, path, access, dbi, &table);

    if (code != EXIT_DONE) {
        return code;
    }
    int rc = access_get(access, dbi, key, value);
    return rc == SAP_OK         ? EXIT_DONE
           : rc == SAP_NOTFOUND ? no_such_key(call, key)
                                : db_failed(call, path, access, rc);
}

int db_get_verb(const Call *call)
{
    const char *path = call_operand(call, 0);
    Buf key = {0};
    Buf value = {0};
    uint32_t dbi = 0;
    Access *access = NULL;
    int code = db_table(call, &dbi);

    if (code == EXIT_DONE) {
        code = db_bytes(call, call_operand(call, 1), &key);
    }
    if (code == EXIT_DONE) {
        code = file_open(call, path, &(AccessOptions){.flags = ACCESS_READ}, &access);
    }
    if (code == EXIT_DONE) {
        code = get_from(call, path, access, dbi, slice_of(&key), &value);
        code = file_close(call, path, access, code);
    }
    /* Others have the file again while a slow reader takes a long value. */
    code = code == EXIT_DONE ? show_value(call, slice_of(&key), slice_of(&value)) : code;
    buf_release(&key);
    buf_release(&value);
    return code;
}

/* ---- put --------------------------------------------------------------------------------------- */

static int read_all(const Call *call, Buf *out)
{
    for (;;) {
        if (buf_reserve(out, 64 << 10) != SAP_OK) {
            return ui_no_memory(call->ui);
        }
        ssize_t got = read(STDIN_FILENO, out->data + out->len, 64 << 10);
        if (got == 0) {
            return EXIT_DONE;
        }
        if (got < 0 && errno != EINTR) {
            return ui_fail(call->ui, EXIT_FAILED, NULL, "cannot read standard input: %s",
                           strerror(errno));
        }
        out->len += got > 0 ? (size_t)got : 0;
        if (out->len > SAP_MAX_VAL_LEN) {
            return ui_fail(call->ui, EXIT_FAILED, NULL, "a value has at most %u bytes",
                           SAP_MAX_VAL_LEN);
        }
    }
}

/* What a row that could not be put means to a person. */
static int put_failed(const Call *call, const char *path, Access *access, int rc,
                      const AccessChange *change)
{
    char text[80];

    if (rc == SAP_EXISTS) {
        return ui_fail(call->ui, EXIT_CONFLICT, "replace it: leave out --new",
                       "the key '%s' is there already", shown_key(change->key, text));
    }
    return db_failed(call, path, access, rc);
}

static int rows_done(const Call *call, uint64_t rows)
{
    json_t *object;

    if (!call->ui->json) {
        return EXIT_DONE;
    }
    object = json_object();
    if (object == NULL ||
        json_object_set_new(object, "rows", json_integer((json_int_t)rows)) != 0) {
        json_decref(object);
        return ui_no_memory(call->ui);
    }
    return ui_object(call->ui, object);
}

int db_put_verb(const Call *call)
{
    const char *path = call_operand(call, 0);
    const char *value = call_operand(call, 2);
    Buf key = {0};
    Buf val = {0};
    AccessChange change = {.op = call_has(call, OPTION_NEW) ? ACCESS_PUT_NEW : ACCESS_PUT};
    AccessOptions options = {.flags = ACCESS_CREATE};
    Access *access = NULL;
    unsigned flags = 0;
    int code = db_table(call, &change.dbi);

    if (code == EXIT_DONE) {
        code = db_page_size(call, &options.page_size);
    }
    if (code == EXIT_DONE) {
        code = db_bytes(call, call_operand(call, 1), &key);
    }
    if (code == EXIT_DONE) {
        code = strcmp(value, "-") == 0 ? read_all(call, &val) : db_bytes(call, value, &val);
    }
    if (code == EXIT_DONE) {
        code = file_open(call, path, &options, &access);
    }
    if (code == EXIT_DONE) {
        change.key = slice_of(&key);
        change.val = slice_of(&val);
        code = db_check_change(call, path, access, change.dbi);
        if (code == EXIT_DONE) {
            code = db_make_table(call, path, access, change.dbi, &flags);
        }
        if (code == EXIT_DONE) {
            int rc = access_write(access, &change, 1, NULL);
            code = rc == SAP_OK ? EXIT_DONE : put_failed(call, path, access, rc, &change);
        }
        code = file_close(call, path, access, code);
    }
    buf_release(&key);
    buf_release(&val);
    return code == EXIT_DONE ? rows_done(call, 1) : code;
}

/* ---- del --------------------------------------------------------------------------------------- */

static int del_many(const Call *call, const char *path, Access *access, const AccessRange *range)
{
    uint64_t count = 0;
    char question[200];
    char text[UI_TEXT];
    int rc = access_count(access, range, &count);

    if (rc != SAP_OK) {
        return db_failed(call, path, access, rc);
    }
    if (call_has(call, OPTION_DRY_RUN)) {
        ui_note(call->ui, "%s would be deleted", ui_rows(count, text));
        return rows_done(call, count);
    }
    (void)snprintf(question, sizeof question, "delete %s of table %" PRIu32, ui_rows(count, text),
                   range->dbi);
    int code = count == 0 ? EXIT_DONE : ui_confirm(call->ui, call_has(call, OPTION_YES), question);
    if (code != EXIT_DONE) {
        return code;
    }
    rc = access_del_range(access, range, &count);
    if (rc != SAP_OK) {
        return db_failed(call, path, access, rc);
    }
    ui_note(call->ui, "%s deleted", ui_rows(count, text));
    return rows_done(call, count);
}

/* Whether it is the key that is not there, or only the value. */
static int no_such_pair(const Call *call, const char *path, Access *access,
                        const AccessChange *change)
{
    char key[80];
    char val[80];
    Buf first = {0};
    int rc = access_get(access, change->dbi, change->key, &first);

    buf_release(&first);
    if (rc == SAP_NOTFOUND) {
        return no_such_key(call, change->key);
    }
    return rc != SAP_OK ? db_failed(call, path, access, rc)
                        : ui_fail(call->ui, EXIT_NOT_FOUND, NULL, "the key '%s' has no value '%s'",
                                  shown_key(change->key, key), shown_key(change->val, val));
}

static int del_one(const Call *call, const char *path, Access *access, uint32_t dbi,
                   const DbBounds *parts, bool pair)
{
    AccessChange change = {.op = pair ? ACCESS_DEL_PAIR : ACCESS_DEL,
                           .dbi = dbi,
                           .key = slice_of(&parts->from),
                           .val = slice_of(&parts->to)};

    if (call_has(call, OPTION_DRY_RUN)) {
        return call_usage(call, "--dry-run goes with --prefix or --range");
    }
    int rc = access_write(access, &change, 1, NULL);
    if (rc == SAP_NOTFOUND) {
        return pair ? no_such_pair(call, path, access, &change) : no_such_key(call, change.key);
    }
    return rc == SAP_OK ? rows_done(call, 1) : db_failed(call, path, access, rc);
}

/* What is to be deleted, from the words of the call: *many_out a range, otherwise a key in
 * bounds->from and perhaps a value in bounds->to. */
static int del_parts(const Call *call, DbBounds *bounds, AccessRange *range, bool *many_out)
{
    const char *prefix = call_value(call, OPTION_PREFIX);
    bool ranged = call_has(call, OPTION_RANGE);
    const char *first = call_operand(call, 1);
    const char *second = call_operand(call, 2);

    *many_out = ranged || prefix != NULL;
    if (prefix != NULL) {
        return ranged || first != NULL ? call_usage(call, "--prefix goes without keys and --range")
                                       : db_prefix_range(call, prefix, bounds, range);
    }
    if (first == NULL || (ranged && second == NULL)) {
        return call_usage(call, ranged ? "--range needs FROM and TO behind FILE"
                                       : "which key? (or --prefix P, or --range FROM TO)");
    }
    int code = db_bytes(call, first, &bounds->from);
    if (code == EXIT_DONE && second != NULL) {
        code = db_bytes(call, second, &bounds->to);
    }
    range->from = slice_of(&bounds->from);
    range->to = slice_of(&bounds->to);
    return code;
}

int db_del_verb(const Call *call)
{
    const char *path = call_operand(call, 0);
    DbBounds bounds = {0};
    AccessRange range = {0};
    AccessTable table;
    Access *access = NULL;
    bool many = false;
    int code = db_table(call, &range.dbi);

    if (code == EXIT_DONE) {
        code = del_parts(call, &bounds, &range, &many);
    }
    if (code == EXIT_DONE) {
        code = file_open(call, path, &(AccessOptions){0}, &access);
    }
    if (code == EXIT_DONE) {
        code = db_find_table(call, path, access, range.dbi, &table);
        if (code == EXIT_DONE && !call_has(call, OPTION_DRY_RUN)) {
            code = db_check_change(call, path, access, range.dbi);
        }
        if (code == EXIT_DONE) {
            code = many ? del_many(call, path, access, &range)
                        : del_one(call, path, access, range.dbi, &bounds,
                                  call_operand(call, 2) != NULL);
        }
        code = file_close(call, path, access, code);
    }
    db_bounds_release(&bounds);
    return code;
}

/* ---- scan -------------------------------------------------------------------------------------- */

typedef struct Show {
    const Call *call;
    Format format;
    bool json;
    bool keys_only;
    Buf line;
    int code; /* what ended it, if not EXIT_DONE */
} Show;

static int show_row(const AccessRow *row, void *ctx)
{
    Show *show = (Show *)ctx;

    if (show->json) {
        json_t *object = json_object();
        if (object == NULL || json_set_bytes(object, "key", row->key) != 0 ||
            (!show->keys_only && json_set_bytes(object, "value", row->val) != 0)) {
            json_decref(object);
            show->code = ui_no_memory(show->call->ui);
        } else {
            show->code = ui_object(show->call->ui, object);
        }
        return show->code == EXIT_DONE ? SAP_OK : SAP_IO;
    }
    buf_clear(&show->line);
    if (format_row(&show->line, show->format, row->key, row->val, show->keys_only) != SAP_OK) {
        show->code = ui_no_memory(show->call->ui);
    } else if (fwrite(show->line.data, 1, show->line.len, stdout) != show->line.len) {
        show->code = ui_finish(show->call->ui);
    }
    return show->code == EXIT_DONE ? SAP_OK : SAP_IO;
}

static int show_count(const Call *call, const char *path, Access *access, const AccessRange *range)
{
    uint64_t count = 0;
    int rc = access_count(access, range, &count);

    if (rc != SAP_OK) {
        return db_failed(call, path, access, rc);
    }
    if (range->limit != 0 && count > range->limit) {
        count = range->limit;
    }
    if (call->ui->json) {
        return rows_done(call, count);
    }
    (void)printf("%" PRIu64 "\n", count);
    return EXIT_DONE;
}

static int show_rows(const Call *call, const char *path, Access *access, const AccessRange *range)
{
    const char *name = call_value(call, OPTION_FORMAT);
    Show show = {.call = call, .keys_only = range->keys_only};

    if (name == NULL) {
        name = call_has(call, OPTION_HEX) ? "hex" : "text";
    }
    show.json = call->ui->json || strcmp(name, "json") == 0;
    show.format = format_by_name(name);
    int rc = access_scan(access, range, show_row, &show);
    buf_release(&show.line);
    if (show.code != EXIT_DONE) {
        return show.code;
    }
    return rc == SAP_OK ? EXIT_DONE : db_failed(call, path, access, rc);
}

/* The table behind FILE, or of --table: a number. With --schema a name will do, which is looked up
 * later. */
static int scan_table(const Call *call, uint32_t *dbi_out)
{
    const char *word = call_operand(call, 1);
    bool schema = call_has(call, OPTION_SCHEMA);

    if (word != NULL && call_has(call, OPTION_TABLE)) {
        return call_usage(call, "which table? '%s' and --table %s", word,
                          call_value(call, OPTION_TABLE));
    }
    if (schema) {
        *dbi_out = 0;
        return EXIT_DONE;
    }
    if (word == NULL) {
        return db_table(call, dbi_out);
    }
    char *end = NULL;
    unsigned long number = strtoul(word, &end, 10);
    if (word[0] < '0' || word[0] > '9' || *end != '\0' || number > SAP_MAX_DBI) {
        return call_usage(call, "'%s' is no number of a table; names are known with --schema",
                          word);
    }
    *dbi_out = (uint32_t)number;
    return EXIT_DONE;
}

int db_scan_verb(const Call *call)
{
    const char *path = call_operand(call, 0);
    DbBounds bounds = {0};
    AccessRange range = {.backwards = call_has(call, OPTION_REVERSE),
                         .keys_only = call_has(call, OPTION_KEYS)};
    AccessTable table;
    Access *access = NULL;
    int code = scan_table(call, &range.dbi);

    if (code == EXIT_DONE) {
        code = call_number(call, OPTION_LIMIT, 1, UINT64_MAX, 0, &range.limit);
    }
    if (code == EXIT_DONE) {
        code = db_scan_range(call, &bounds, &range);
    }
    if (code == EXIT_DONE && call_has(call, OPTION_SCHEMA)) {
        code = db_scan_schema(call, &range);
        db_bounds_release(&bounds);
        return code;
    }
    if (code == EXIT_DONE) {
        code = file_open(call, path, &db_reading, &access);
    }
    if (code == EXIT_DONE) {
        code = db_find_table(call, path, access, range.dbi, &table);
        if (code == EXIT_DONE) {
            code = call_has(call, OPTION_COUNT_ONLY) ? show_count(call, path, access, &range)
                                                     : show_rows(call, path, access, &range);
        }
        code = file_close(call, path, access, code);
    }
    db_bounds_release(&bounds);
    return code;
}
