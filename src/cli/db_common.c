/* db_common.c - what the verbs of `sapling db` share. */
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/db.h"

int file_missing(const Ui *ui, const char *path, const char *what, const char *hint)
{
    struct stat st;
    char *copy = strdup(path);
    int code;

    if (copy == NULL) {
        return ui_no_memory(ui);
    }
    const char *directory = dirname(copy);
    if (stat(directory, &st) != 0 && errno == ENOENT) {
        code = ui_fail(ui, EXIT_NOT_FOUND, "make it first", "there is no directory %s", directory);
    } else {
        code = ui_fail(ui, EXIT_NOT_FOUND, hint, "there is no %s %s", what, path);
    }
    free(copy);
    return code;
}

static void note_wait(const char *text, void *ctx)
{
    ui_note((const Ui *)ctx, "%s", text);
}

int file_open(const Call *call, const char *path, const AccessOptions *options, Access **access_out)
{
    struct stat st;
    char hint[300];
    int code = EXIT_DONE;

    *access_out = NULL;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        return ui_fail(call->ui, EXIT_FAILED, "name the database file in it", "%s is a directory",
                       path);
    }
    if (stat(path, &st) != 0 && errno == ENOENT && target_has_log(path)) {
        (void)snprintf(hint, sizeof hint,
                       "put its data file back, or a backup in place of both: sapling db restore "
                       "BACKUP %.150s --force",
                       path);
        return ui_fail(call->ui, EXIT_CORRUPT, hint, "%s is missing, but its log is there", path);
    }
    union {
        const Ui *in;
        void *out;
    } ui = {.in = call->ui};
    AccessOptions noting = *options;
    noting.on_wait = note_wait;
    noting.callback_ctx = ui.out;
    int rc = access_open(path, &noting, access_out);
    if (rc == SAP_OK) {
        /* The engine has something to say of a log that was cut, or of a socket that cannot be. */
        const char *said = access_message(*access_out);
        if (!access_is_remote(*access_out) && strcmp(said, sap_strerror(SAP_OK)) != 0) {
            ui_note(call->ui, "%s", said);
        }
        return EXIT_DONE;
    }
    if (rc == SAP_NOTFOUND && lstat(path, &st) == 0) {
        code = ui_fail(call->ui, EXIT_NOT_FOUND, "make that file, or name another", "%s",
                       access_message(*access_out));
    } else if (rc == SAP_NOTFOUND) {
        (void)snprintf(hint, sizeof hint, "make one: sapling db put %.200s KEY VALUE", path);
        code = file_missing(call->ui, path, "database", hint);
    } else if (rc == SAP_NOMEM) {
        code = ui_no_memory(call->ui);
    } else {
        code = ui_fail_code(call->ui, rc, path, access_message(*access_out));
    }
    (void)access_close(*access_out);
    *access_out = NULL;
    return code;
}

int file_close(const Call *call, const char *path, Access *access, int code)
{
    int rc = access_close(access);

    if (rc != SAP_OK && code == EXIT_DONE) {
        return ui_fail_code(call->ui, rc, path,
                            "closing it failed; what was written is in its log");
    }
    return code;
}

int db_failed(const Call *call, const char *path, const Access *access, int rc)
{
    return ui_fail_code(call->ui, rc, path, access_message(access));
}

/* ---- Arguments --------------------------------------------------------------------------------- */

int db_table(const Call *call, uint32_t *dbi_out)
{
    uint64_t number = 0;
    int code = call_number(call, OPTION_TABLE, 0, SAP_MAX_DBI, 0, &number);

    *dbi_out = (uint32_t)number;
    return code;
}

int db_page_size(const Call *call, uint32_t *size_out)
{
    uint64_t number = 0;
    int code = call_number(call, OPTION_PAGE_SIZE, 4096, 32768, 0, &number);

    *size_out = (uint32_t)number;
    return code;
}

int db_bytes(const Call *call, const char *argument, Buf *bytes)
{
    const char *why = "";
    Slice text = slice_from_str(argument);
    bool hex = call_has(call, OPTION_HEX);
    /* A bound that is empty is a bound: it needs an address. */
    int rc = buf_reserve(bytes, text.len + 1);

    if (rc == SAP_OK) {
        rc = hex ? parse_hex(text, bytes, &why) : parse_text(text, bytes, &why);
    }
    if (rc == SAP_INVALID) {
        return call_usage(call, "'%s': %s", argument, why);
    }
    return rc == SAP_OK ? EXIT_DONE : ui_no_memory(call->ui);
}

static Slice slice_of(const Buf *buf)
{
    return (Slice){buf->data, buf->len};
}

int db_prefix_range(const Call *call, const char *prefix, DbBounds *bounds, AccessRange *range)
{
    int code = db_bytes(call, prefix, &bounds->from);

    if (code != EXIT_DONE) {
        return code;
    }
    if (buf_append(&bounds->to, bounds->from.data, bounds->from.len) != SAP_OK) {
        return ui_no_memory(call->ui);
    }
    /* The least key above all with the prefix: its last byte that can be raised, raised. */
    while (bounds->to.len > 0 && bounds->to.data[bounds->to.len - 1] == 0xff) {
        buf_truncate(&bounds->to, bounds->to.len - 1);
    }
    range->from = slice_of(&bounds->from);
    if (bounds->to.len > 0) {
        bounds->to.data[bounds->to.len - 1]++;
        range->to = slice_of(&bounds->to);
    }
    return EXIT_DONE;
}

int db_scan_range(const Call *call, DbBounds *bounds, AccessRange *range)
{
    const char *from = call_value(call, OPTION_FROM);
    const char *to = call_value(call, OPTION_TO);
    const char *prefix = call_value(call, OPTION_PREFIX);
    int code = EXIT_DONE;

    if (prefix != NULL && (from != NULL || to != NULL)) {
        return call_usage(call, "--prefix is a range of its own: without --from and --to");
    }
    if (prefix != NULL) {
        return db_prefix_range(call, prefix, bounds, range);
    }
    if (from != NULL) {
        code = db_bytes(call, from, &bounds->from);
        range->from = slice_of(&bounds->from);
    }
    if (to != NULL && code == EXIT_DONE) {
        code = db_bytes(call, to, &bounds->to);
        range->to = slice_of(&bounds->to);
    }
    return code;
}

void db_bounds_release(DbBounds *bounds)
{
    buf_release(&bounds->from);
    buf_release(&bounds->to);
}

/* ---- Tables ------------------------------------------------------------------------------------ */

typedef struct Search {
    uint32_t dbi;
    AccessTable table;
    bool found;
    char others[200]; /* " 0 3 17" */
} Search;

static int look(const AccessTable *table, void *ctx)
{
    Search *search = (Search *)ctx;
    size_t len = strlen(search->others);

    if (table->dbi == search->dbi) {
        search->table = *table;
        search->found = true;
    }
    (void)snprintf(search->others + len, sizeof search->others - len, " %" PRIu32, table->dbi);
    return 0;
}

int db_find_table(const Call *call, const char *path, Access *access, uint32_t dbi,
                  AccessTable *table_out)
{
    Search search = {.dbi = dbi};
    char hint[300];
    int rc = access_tables(access, look, &search);

    if (rc != SAP_OK) {
        return db_failed(call, path, access, rc);
    }
    if (!search.found) {
        (void)snprintf(hint, sizeof hint, "its tables:%s", search.others);
        return ui_fail(call->ui, EXIT_NOT_FOUND, hint, "there is no table %" PRIu32 " in %s", dbi,
                       path);
    }
    *table_out = search.table;
    return EXIT_DONE;
}

int db_make_table(const Call *call, const char *path, Access *access, uint32_t dbi,
                  unsigned *flags_out)
{
    Search search = {.dbi = dbi};
    bool dupsort = call_has(call, OPTION_DUPSORT);
    int rc = access_tables(access, look, &search);

    if (rc == SAP_OK && !search.found) {
        search.table.flags = dupsort ? SAP_DBI_DUPSORT : 0;
        rc = access_open_table(access, dbi, search.table.flags);
    }
    if (rc != SAP_OK) {
        return db_failed(call, path, access, rc);
    }
    if (dupsort && (search.table.flags & SAP_DBI_DUPSORT) == 0) {
        return ui_fail(call->ui, EXIT_CONFLICT, "choose another table with --table",
                       "table %" PRIu32 " of %s holds one value per key", dbi, path);
    }
    *flags_out = search.table.flags;
    return EXIT_DONE;
}
