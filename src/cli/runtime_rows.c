#include "cli/runtime_rows.h"

#include "cli/output.h"
#include "common/bytes.h"
#include "wit_runtime_json.h"
#include "wit_schema_dbis.h"
#include "json/codec_json.h"

#define MARKER_KEY "runner.schema.version"
#define SEQ_PREFIX "runner.seq."

/* ---- Parts ------------------------------------------------------------------------------------- */

static Slice slice_of(const CodecBytes *bytes)
{
    return (Slice){bytes->data, bytes->len};
}

static bool starts_with(Slice bytes, const char *text)
{
    size_t len = strlen(text);

    return bytes.len >= len && memcmp(bytes.data, text, len) == 0;
}

/* Sets a field and takes the reference. */
static int set(json_t *object, const char *name, json_t *value)
{
    return codec_json_add(object, name, value) ? SAP_OK : SAP_NOMEM;
}

/* {NAME: bytes}, as text where they are. */
static json_t *bytes_object(const char *name, Slice bytes)
{
    json_t *json = json_object();

    return codec_json_done(json, json != NULL && json_set_bytes(json, name, bytes) == 0);
}

/* Decodes `data` as a record of `type` and writes its JSON to *json_out. */
#define RECORD_JSON(type, fn)                                                \
    static int fn##_object(Slice data, json_t **json_out, CodecError *error) \
    {                                                                        \
        type v;                                                              \
        int rc = wit_runtime_##fn##_decode(data.data, data.len, &v, error);  \
        if (rc == SAP_OK) {                                                  \
            rc = wit_runtime_##fn##_to_json(&v, json_out, error);            \
            wit_runtime_##fn##_free(&v);                                     \
        }                                                                    \
        return rc;                                                           \
    }

RECORD_JSON(WitRuntimeSchemaMarker, schema_marker)
RECORD_JSON(WitRuntimeHighWaterMark, high_water_mark)
RECORD_JSON(WitRuntimeRetryValue, retry_value)
RECORD_JSON(WitRuntimeSeenValue, seen_value)
RECORD_JSON(WitRuntimeDbi1InboxKey, dbi1_inbox_key)
RECORD_JSON(WitRuntimeDbi2OutboxKey, dbi2_outbox_key)
RECORD_JSON(WitRuntimeDbi3LeasesKey, dbi3_leases_key)
RECORD_JSON(WitRuntimeDbi3LeasesValue, dbi3_leases_value)
RECORD_JSON(WitRuntimeDbi4TimersKey, dbi4_timers_key)
RECORD_JSON(WitRuntimeDbi6DeadLetterKey, dbi6_dead_letter_key)

typedef int ObjectFn(Slice data, json_t **json_out, CodecError *error);

static int set_record(json_t *object, const char *name, ObjectFn *decode, Slice data,
                      CodecError *error)
{
    json_t *json = NULL;
    int rc = decode(data, &json, error);

    return rc == SAP_OK ? set(object, name, json) : rc;
}

/* {NAME: {the record}} */
static int set_named(json_t *object, const char *name, const char *record, ObjectFn *decode,
                     Slice data, CodecError *error)
{
    json_t *json = NULL;
    int rc = decode(data, &json, error);

    return rc == SAP_OK ? set(object, name, codec_json_one(record, json)) : rc;
}

/* A message, with its id, trace and payload in place of the body that holds them. */
static int message_object(Slice data, json_t **json_out, CodecError *error)
{
    WitRuntimeMessage v;
    json_t *json = NULL;
    int rc = wit_runtime_message_decode(data.data, data.len, &v, error);

    if (rc != SAP_OK) {
        return rc;
    }
    rc = wit_runtime_message_to_json(&v, &json, error);
    if (rc == SAP_OK) {
        /* The refinements of the record: the lengths add up to the body. */
        bool traced = (v.flags & WIT_RUNTIME_MESSAGE_FLAGS_HAS_TRACE) != 0;
        size_t trace_len = traced ? v.trace_id_len : 0;
        const uint8_t *trace = v.body.data + v.message_id_len;
        const uint8_t *payload = trace + trace_len;
        bool ok = json_object_del(json, "body") == 0 &&
                  json_set_bytes(json, "message-id", (Slice){v.body.data, v.message_id_len}) == 0 &&
                  (!traced || json_set_bytes(json, "trace-id", (Slice){trace, trace_len}) == 0) &&
                  json_set_bytes(json, "payload", (Slice){payload, v.payload_len}) == 0;
        *json_out = codec_json_done(json, ok);
        rc = ok ? SAP_OK : SAP_NOMEM;
    }
    wit_runtime_message_free(&v);
    return rc;
}

static int set_frame(json_t *object, Slice val, CodecError *error)
{
    return set_named(object, "value", "frame", message_object, val, error);
}

/* {TABLE: {the key of the message's row there}} */
static int retry_key_object(Slice data, json_t **json_out, CodecError *error)
{
    WitRuntimeRetryKey v;
    json_t *row = NULL;
    int rc = wit_runtime_retry_key_decode(data.data, data.len, &v, error);

    if (rc != SAP_OK) {
        return rc;
    }
    bool timer = v.table == WIT_DBI_TIMERS;
    rc = timer ? dbi4_timers_key_object(slice_of(&v.row), &row, error)
               : dbi1_inbox_key_object(slice_of(&v.row), &row, error);
    wit_runtime_retry_key_free(&v);
    if (rc == SAP_OK) {
        *json_out = codec_json_one(timer ? "timers" : "inbox", row);
        rc = *json_out != NULL ? SAP_OK : SAP_NOMEM;
    }
    return rc;
}

static int seen_key_object(Slice data, json_t **json_out, CodecError *error)
{
    WitRuntimeSeenKey v;
    int rc = wit_runtime_seen_key_decode(data.data, data.len, &v, error);

    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = json_object();
    bool ok = json != NULL && codec_json_add(json, "worker", codec_json_unsigned(v.worker)) &&
              json_set_bytes(json, "id", slice_of(&v.id)) == 0;
    wit_runtime_seen_key_free(&v);
    *json_out = codec_json_done(json, ok);
    return *json_out != NULL ? SAP_OK : SAP_NOMEM;
}

/* The key of a dedupe row, into `object` under `name`; *retry_out says which kind it is. */
static int set_dedupe_key(json_t *object, const char *name, Slice key, bool *retry_out,
                          CodecError *error)
{
    *retry_out = starts_with(key, "retry:");
    return *retry_out ? set_named(object, name, "retry-key", retry_key_object, key, error)
                      : set_named(object, name, "seen-key", seen_key_object, key, error);
}

/* ---- Tables ------------------------------------------------------------------------------------ */

static int app_state_row(Slice key, Slice val, json_t *object, CodecError *error)
{
    int rc = set(object, "key", bytes_object("key", key));

    if (rc != SAP_OK) {
        return rc;
    }
    if (key.len == strlen(MARKER_KEY) && starts_with(key, MARKER_KEY)) {
        return set_named(object, "value", "schema-marker", schema_marker_object, val, error);
    }
    if (starts_with(key, SEQ_PREFIX)) {
        return set_named(object, "value", "high-water-mark", high_water_mark_object, val, error);
    }
    return set(object, "value", bytes_object("value", val));
}

static int inbox_row(Slice key, Slice val, json_t *object, CodecError *error)
{
    int rc = set_record(object, "key", dbi1_inbox_key_object, key, error);

    return rc == SAP_OK ? set_frame(object, val, error) : rc;
}

static int outbox_row(Slice key, Slice val, json_t *object, CodecError *error)
{
    int rc = set_record(object, "key", dbi2_outbox_key_object, key, error);

    return rc == SAP_OK ? set_frame(object, val, error) : rc;
}

static int leases_row(Slice key, Slice val, json_t *object, CodecError *error)
{
    int rc = set_record(object, "key", dbi3_leases_key_object, key, error);

    return rc == SAP_OK ? set_record(object, "value", dbi3_leases_value_object, val, error) : rc;
}

static int timers_row(Slice key, Slice val, json_t *object, CodecError *error)
{
    int rc = set_record(object, "key", dbi4_timers_key_object, key, error);

    return rc == SAP_OK ? set_frame(object, val, error) : rc;
}

static int dedupe_row(Slice key, Slice val, json_t *object, CodecError *error)
{
    bool retry = false;
    int rc = set_dedupe_key(object, "key", key, &retry, error);

    if (rc != SAP_OK) {
        return rc;
    }
    return retry ? set_named(object, "value", "retry-value", retry_value_object, val, error)
                 : set_named(object, "value", "seen-value", seen_value_object, val, error);
}

static int dead_letter_row(Slice key, Slice val, json_t *object, CodecError *error)
{
    WitRuntimeDbi6DeadLetterValue v;
    json_t *json = NULL;
    int rc = set_record(object, "key", dbi6_dead_letter_key_object, key, error);

    if (rc == SAP_OK) {
        rc = wit_runtime_dbi6_dead_letter_value_decode(val.data, val.len, &v, error);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    rc = wit_runtime_dbi6_dead_letter_value_to_json(&v, &json, error);
    if (rc == SAP_OK) {
        rc = set_record(json, "frame", message_object, slice_of(&v.frame), error);
    }
    wit_runtime_dbi6_dead_letter_value_free(&v);
    if (rc != SAP_OK) {
        json_decref(json);
        return rc;
    }
    return set(object, "value", json);
}

/* Two rows for each that expires: by its key, and by its time (docs/reference/expiry.md). */
static int dedupe_ttl_row(Slice key, Slice val, json_t *object, CodecError *error)
{
    const uint8_t *p = key.data;
    bool index = key.len >= 9 && p[0] == 1;
    size_t before = index ? 9 : 1;
    bool retry = false;

    if (key.len < 2 || p[0] > 1 || (p[0] == 1 && !index) || val.len != (index ? 0u : 8u)) {
        return codec_refuse(error, "record dbi7-dedupe-ttl-key: no row of an expiry table");
    }
    json_t *json = json_object();
    int rc = json == NULL ? SAP_NOMEM : SAP_OK;
    if (index && rc == SAP_OK) {
        rc = set(json, "expires", codec_json_unsigned(load_u64be(p + 1)));
    }
    if (rc == SAP_OK) {
        rc = set_dedupe_key(json, "of", (Slice){p + before, key.len - before}, &retry, error);
    }
    if (rc != SAP_OK) {
        json_decref(json);
        return rc;
    }
    rc = set(object, "key", json);
    if (rc == SAP_OK) {
        rc = set(object, "value",
                 index ? json_object()
                       : codec_json_one("expires", codec_json_unsigned(load_u64be(val.data))));
    }
    return rc;
}

int runtime_row(const char *table, Slice key, Slice val, json_t *object, CodecError *error)
{
    static const struct {
        const char *table;
        int (*row)(Slice key, Slice val, json_t *object, CodecError *error);
    } rows[] = {{"app_state", app_state_row},     {"inbox", inbox_row},
                {"outbox", outbox_row},           {"leases", leases_row},
                {"timers", timers_row},           {"dedupe", dedupe_row},
                {"dead_letter", dead_letter_row}, {"dedupe_ttl", dedupe_ttl_row}};

    error->text[0] = '\0';
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].table, table) == 0) {
            return rows[i].row(key, val, object, error);
        }
    }
    return codec_refuse(error, "table %s: this program knows no rows of it", table);
}
