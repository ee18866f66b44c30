/* meta.c - see meta.h. */
#include "store/meta.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "sapling/open_error.h"
#include "store/time.h"

/* ---- Rows ------------------------------------------------------------------------------------ */

MetaKey meta_key(WitStoreMetaRow row)
{
    MetaKey key = {{0}};
    Buf buf = buf_in(key.bytes, sizeof key.bytes);
    int rc = wit_store_dbi8_store_meta_key_encode(&(WitStoreDbi8StoreMetaKey){row}, &buf, NULL);
    SAP_ASSERT(rc == SAP_OK && buf.len == sizeof key.bytes);
    return key;
}

/* Borrows `key`. */
static StoreKey store_key_of(const MetaKey *key)
{
    return (StoreKey){STORE_TABLE_META, {key->bytes, sizeof key->bytes}};
}

static int get_meta(SapStoreTxn *txn, WitStoreMetaRow row, Slice *val_out)
{
    MetaKey key = meta_key(row);
    return store_get(txn, store_key_of(&key), val_out);
}

static int put_meta(SapStoreTxn *txn, WitStoreMetaRow row, Slice val)
{
    MetaKey key = meta_key(row);
    return store_put(txn, store_key_of(&key), val, STORE_PUT_ANY);
}

/* ---- The time -------------------------------------------------------------------------------- */

enum { TIME_SIZE = 25 };

static int read_time(SapStoreTxn *txn, WitStoreTime *time_out, CodecError *error)
{
    Slice bytes = {0};
    int rc = get_meta(txn, WIT_STORE_META_ROW_TIME, &bytes);
    if (rc == SAP_NOTFOUND) {
        return codec_refuse(error, "it is missing");
    }
    return rc == SAP_OK ? wit_store_time_decode(bytes.data, bytes.len, time_out, error) : rc;
}

int meta_get_time(SapStoreTxn *txn, WitStoreTime *time_out)
{
    int rc = read_time(txn, time_out, NULL);
    return rc == SAP_INVALID ? SAP_CORRUPT : rc;
}

int meta_get_time_locked(SapStoreTxn *txn, WitStoreTime *time_out)
{
    MetaKey key = meta_key(WIT_STORE_META_ROW_TIME);
    Slice bytes = {0};
    int rc = store_get_locked(txn, store_key_of(&key), &bytes);
    rc = rc == SAP_OK ? wit_store_time_decode(bytes.data, bytes.len, time_out, NULL) : rc;
    return rc == SAP_NOTFOUND || rc == SAP_INVALID ? store_fail(txn, SAP_CORRUPT) : rc;
}

int meta_put_time(SapStoreTxn *txn, const WitStoreTime *time)
{
    uint8_t room[TIME_SIZE] = {0};
    Buf bytes = buf_in(room, sizeof room);
    int rc = wit_store_time_encode(time, &bytes, NULL);
    SAP_ASSERT(rc == SAP_OK && bytes.len == sizeof room);
    return put_meta(txn, WIT_STORE_META_ROW_TIME, (Slice){room, sizeof room});
}

/* ---- The marker ------------------------------------------------------------------------------ */

typedef struct MetaCheck {
    const char *url;
    const char *schema;
    WitStoreTime *time;
} MetaCheck;

static int compare_marker(const WitStoreMarker *marker, const MetaCheck *check)
{
    char text[512];
    size_t len = strlen(check->schema);
    if (marker->format != META_FORMAT) {
        (void)snprintf(text, sizeof text,
                       "%.100s: the store has format %" PRIu32 ", this library reads format %d: "
                       "use the version of the library that made it",
                       check->url, marker->format, META_FORMAT);
        open_error_set(text);
        return SAP_INVALID;
    }
    if (marker->schema.len != len ||
        (len > 0 && memcmp(marker->schema.data, check->schema, len) != 0)) {
        (void)snprintf(
            text, sizeof text,
            "%.100s: the store holds schema \"%.*s\", the program asks for \"%s\": open it "
            "with a program of the schema it holds, or choose another store",
            check->url, (int)marker->schema.len, (const char *)marker->schema.data, check->schema);
        open_error_set(text);
        return SAP_INVALID;
    }
    return SAP_OK;
}

static int report_damage(const MetaCheck *check, const char *row, const CodecError *error)
{
    char text[512];
    (void)snprintf(text, sizeof text, "%.100s: the store's %s is damaged (%s): restore a backup",
                   check->url, row, error->text);
    open_error_set(text);
    return SAP_CORRUPT;
}

/* SAP_NOTFOUND: there is no marker. */
static int read_marker(SapStoreTxn *txn, const MetaCheck *check)
{
    Slice bytes = {0};
    WitStoreMarker marker;
    CodecError error;
    int rc = get_meta(txn, WIT_STORE_META_ROW_MARKER, &bytes);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = wit_store_marker_decode(bytes.data, bytes.len, &marker, &error);
    if (rc == SAP_INVALID) {
        return report_damage(check, "marker", &error);
    }
    if (rc == SAP_OK) {
        rc = compare_marker(&marker, check);
        wit_store_marker_free(&marker);
    }
    return rc;
}

bool meta_is_marker(Slice key, Slice val)
{
    MetaKey marker_key = meta_key(WIT_STORE_META_ROW_MARKER);
    WitStoreMarker marker;
    if (key.len != sizeof marker_key.bytes || memcmp(key.data, marker_key.bytes, key.len) != 0 ||
        wit_store_marker_decode(val.data, val.len, &marker, NULL) != SAP_OK) {
        return false;
    }
    wit_store_marker_free(&marker);
    return true;
}

static int check_table_empty(SapStoreTxn *txn, uint32_t table, const MetaCheck *check)
{
    SapStoreRange all = {.table = table};
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    int rc = store_scan(txn, &all, false, 1, &rows, &count);
    if (rc == SAP_OK && count > 0) {
        char text[256];
        (void)snprintf(text, sizeof text,
                       "%.100s: there are rows in table %" PRIu32
                       ", but no marker of a store: choose another place",
                       check->url, table);
        open_error_set(text);
        rc = SAP_INVALID;
    }
    return rc;
}

static int check_empty(SapStoreTxn *txn, const MetaCheck *check)
{
    const SapStore *store = txn->store;
    int rc = SAP_OK;
    for (uint32_t i = 0; i < STORE_OWN_TABLES && rc == SAP_OK; i++) {
        rc = check_table_empty(txn, STORE_FIRST_OWN_TABLE + i, check);
    }
    for (uint32_t i = 0; i < store->table_count && rc == SAP_OK; i++) {
        rc = check_table_empty(txn, store->tables[i], check);
    }
    return rc;
}

static int put_marker(SapStoreTxn *txn, const char *schema)
{
    WitStoreMarker marker = {.format = META_FORMAT};
    Buf bytes = {0};
    int rc = codec_bytes_set(&marker.schema, schema, strlen(schema));
    rc = rc == SAP_OK ? wit_store_marker_encode(&marker, &bytes, NULL) : rc;
    SAP_ASSERT(rc != SAP_INVALID); /* store.c has checked the schema's name */
    rc = rc == SAP_OK ? put_meta(txn, WIT_STORE_META_ROW_MARKER, (Slice){bytes.data, bytes.len})
                      : rc;
    buf_release(&bytes);
    wit_store_marker_free(&marker);
    return rc;
}

static int guard_marker(SapStoreTxn *txn)
{
    MetaKey key = meta_key(WIT_STORE_META_ROW_MARKER);
    SapStoreGuard guard = {STORE_TABLE_META, key.bytes, sizeof key.bytes, true};
    return store_guard(txn, &guard, 1);
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* SAP_NOTFOUND: there is no marker. */
static int read_both(SapStoreTxn *txn, const MetaCheck *check)
{
    CodecError error = {{0}};
    int rc = read_marker(txn, check);
    rc = rc == SAP_OK ? read_time(txn, check->time, &error) : rc;
    return error.text[0] != '\0' ? report_damage(check, "time", &error) : rc;
}

/* Another process may have made the store since it was looked at. */
static int make_both(SapStoreTxn *txn, void *ctx)
{
    const MetaCheck *check = (const MetaCheck *)ctx;
    int rc = guard_marker(txn);
    rc = rc == SAP_OK ? read_both(txn, check) : rc;
    if (rc == SAP_NOTFOUND) {
        rc = check_empty(txn, check);
        rc = rc == SAP_OK ? store_time_wall(txn, &check->time->wall_ns) : rc;
        rc = rc == SAP_OK ? put_marker(txn, check->schema) : rc;
        rc = rc == SAP_OK ? meta_put_time(txn, check->time) : rc;
    }
    return rc;
}

int meta_open(SapStore *store, const char *url, const char *schema, WitStoreTime *time)
{
    MetaCheck check = {url, schema, time};
    SapStoreTxn *txn = NULL;
    SAP_ASSERT(store->hook == NULL);
    int rc = sap_store_begin(store, SAP_STORE_READ_NEWEST, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = read_both(txn, &check);
    sap_store_abort(txn);
    return rc == SAP_NOTFOUND ? sap_store_run(store, SAP_STORE_GUARDED, make_both, &check, NULL)
                              : rc;
}
