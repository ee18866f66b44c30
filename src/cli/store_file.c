/* store_file.c - what the file of a store has. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/db.h"
#include "cli/store.h"
#include "store/meta.h"

/* Every file has a table 0; below a store's own tables it has no rows. */
static int keep_table(const AccessTable *table, void *ctx)
{
    bool foreign = table->dbi < STORE_FIRST_OWN_TABLE;

    return foreign && table->rows == 0 ? SAP_OK : buf_append((Buf *)ctx, table, sizeof *table);
}

static bool has_own_table(const StoreFile *file)
{
    const AccessTable *tables = (const AccessTable *)(const void *)file->tables.data;

    for (size_t i = 0; i < file->tables.len / sizeof *tables; i++) {
        if (tables[i].dbi == STORE_TABLE_META) {
            return true;
        }
    }
    return false;
}

static void note_damage(StoreFile *file, const char *row, const char *what)
{
    (void)snprintf(file->damage, sizeof file->damage, "the store's %s is damaged (%.120s)", row,
                   what);
}

/* SAP_INVALID is noted as damage. */
static int decode_marker(StoreFile *file, Slice bytes)
{
    WitStoreMarker marker;
    CodecError error;
    int rc = wit_store_marker_decode(bytes.data, bytes.len, &marker, &error);

    if (rc == SAP_OK) {
        file->format = marker.format;
        (void)snprintf(file->schema, sizeof file->schema, "%.*s", (int)marker.schema.len,
                       (const char *)marker.schema.data);
        wit_store_marker_free(&marker);
    } else if (rc == SAP_INVALID) {
        note_damage(file, "marker", error.text);
    }
    return rc == SAP_INVALID ? SAP_OK : rc;
}

static int decode_time(StoreFile *file, Slice bytes)
{
    CodecError error;
    int rc = wit_store_time_decode(bytes.data, bytes.len, &file->time, &error);

    if (rc == SAP_INVALID) {
        note_damage(file, "time", error.text);
    }
    return rc == SAP_INVALID ? SAP_OK : rc;
}

/* Reads the row, if it is there, into the file by `decode`. */
static int read_row(Access *access, StoreFile *file, WitStoreMetaRow row, bool *has_out,
                    int (*decode)(StoreFile *file, Slice bytes))
{
    MetaKey key = meta_key(row);
    Buf val = {0};
    int rc = access_get(access, STORE_TABLE_META, (Slice){key.bytes, sizeof key.bytes}, &val);

    *has_out = rc == SAP_OK;
    if (rc == SAP_OK) {
        rc = decode(file, (Slice){val.data, val.len});
    }
    buf_release(&val);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int read_file(Access *access, StoreFile *file)
{
    int rc = access_tables(access, keep_table, &file->tables);

    if (rc != SAP_OK || !has_own_table(file)) {
        return rc;
    }
    rc = read_row(access, file, WIT_STORE_META_ROW_MARKER, &file->has_marker, decode_marker);
    if (rc == SAP_OK) {
        rc = read_row(access, file, WIT_STORE_META_ROW_TIME, &file->has_time, decode_time);
    }
    if (rc == SAP_OK && file->has_marker && !file->has_time && file->damage[0] == '\0') {
        note_damage(file, "time", "it is missing");
    }
    return rc;
}

int store_file_look(const Call *call, const char *path, StoreFile *file)
{
    static const AccessOptions reading = {.flags = ACCESS_READ};
    struct stat st;
    Access *access = NULL;

    *file = (StoreFile){.has_marker = false};
    if (stat(path, &st) != 0 && errno == ENOENT) {
        char hint[300];
        (void)snprintf(hint, sizeof hint,
                       "make one: sapling store init sapling:%.150s --tables LIST --schema NAME",
                       path);
        return file_missing(call->ui, path, "store", hint);
    }
    int code = file_open(call, path, &reading, &access);
    if (code != EXIT_DONE) {
        return code;
    }
    int rc = read_file(access, file);
    code = rc == SAP_OK ? EXIT_DONE : db_failed(call, path, access, rc);
    return file_close(call, path, access, code);
}

void store_file_release(StoreFile *file)
{
    buf_release(&file->tables);
}
