/* wit_runtime_json.c - its types as JSON.
 *
 * Generated from schemas/wit/runtime-schema.wit by tools/wit_codegen: change the schema. */
#include "wit_runtime_json.h"

#include "common/bytes.h"

static int read_u8(const json_t *json, uint8_t *out, CodecError *error)
{
    uint64_t v = 0;
    int rc = codec_json_read_unsigned(json, UINT8_MAX, &v, error);

    *out = (uint8_t)v;
    return rc;
}

static int read_u16(const json_t *json, uint16_t *out, CodecError *error)
{
    uint64_t v = 0;
    int rc = codec_json_read_unsigned(json, UINT16_MAX, &v, error);

    *out = (uint16_t)v;
    return rc;
}

static int read_u32(const json_t *json, uint32_t *out, CodecError *error)
{
    uint64_t v = 0;
    int rc = codec_json_read_unsigned(json, UINT32_MAX, &v, error);

    *out = (uint32_t)v;
    return rc;
}

static int read_u64(const json_t *json, uint64_t *out, CodecError *error)
{
    uint64_t v = 0;
    int rc = codec_json_read_unsigned(json, UINT64_MAX, &v, error);

    *out = (uint64_t)v;
    return rc;
}

static int read_s32(const json_t *json, int32_t *out, CodecError *error)
{
    int64_t v = 0;
    int rc = codec_json_read_signed(json, INT32_MIN, INT32_MAX, &v, error);

    *out = (int32_t)v;
    return rc;
}

static int read_s64(const json_t *json, int64_t *out, CodecError *error)
{
    int64_t v = 0;
    int rc = codec_json_read_signed(json, INT64_MIN, INT64_MAX, &v, error);

    *out = (int64_t)v;
    return rc;
}

static const char *const wit_runtime_message_kind_names[] = {
    "command",
    "event",
    "timer",
};

static json_t *wit_runtime_message_kind_write_json(const WitRuntimeMessageKind *v)
{
    return json_string(wit_runtime_message_kind_names[*v]);
}

static int wit_runtime_message_kind_read_json(const json_t *json, WitRuntimeMessageKind *v, CodecError *error)
{
    uint32_t number = 0;
    int rc = codec_json_read_case(json, wit_runtime_message_kind_names, 3, &number, error);

    *v = (WitRuntimeMessageKind)number;
    return rc;
}

int wit_runtime_message_kind_to_json(const WitRuntimeMessageKind *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_message_kind_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_message_kind_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_message_kind_from_json(const json_t *json, WitRuntimeMessageKind *v_out, CodecError *error)
{
    WitRuntimeMessageKind v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_message_kind_read_json(json, &v, error);
    (void)codec_blame(error, "enum message-kind", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_message_kind_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_message_kind_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_message_flags_names[] = {
    "durable",
    "high-priority",
    "dedupe-required",
    "requires-ack",
    "has-from",
    "has-trace",
};

static json_t *wit_runtime_message_flags_write_json(const WitRuntimeMessageFlags *v)
{
    uint8_t bits[1];

    bits[0] = (uint8_t)(*v >> 0);
    return codec_json_flags(bits, wit_runtime_message_flags_names, 6);
}

static int wit_runtime_message_flags_read_json(const json_t *json, WitRuntimeMessageFlags *v, CodecError *error)
{
    uint8_t bits[8] = {0};
    int rc = codec_json_read_flags(json, wit_runtime_message_flags_names, 6, bits, error);

    *v = (WitRuntimeMessageFlags)load_u64le(bits);
    return rc;
}

int wit_runtime_message_flags_to_json(const WitRuntimeMessageFlags *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_message_flags_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_message_flags_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_message_flags_from_json(const json_t *json, WitRuntimeMessageFlags *v_out, CodecError *error)
{
    WitRuntimeMessageFlags v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_message_flags_read_json(json, &v, error);
    (void)codec_blame(error, "flags message-flags", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_message_flags_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_message_flags_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_message_names[] = {
    "major",
    "minor",
    "frame-len",
    "kind",
    "flags",
    "reserved",
    "to-worker",
    "route-worker",
    "route-timestamp",
    "from-worker",
    "message-id-len",
    "trace-id-len",
    "payload-len",
    "body",
};

static json_t *wit_runtime_message_write_json(const WitRuntimeMessage *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "major", codec_json_unsigned(v->major));
    ok = ok && codec_json_add(json, "minor", codec_json_unsigned(v->minor));
    ok = ok && codec_json_add(json, "frame-len", codec_json_unsigned(v->frame_len));
    ok = ok && codec_json_add(json, "kind", wit_runtime_message_kind_write_json(&v->kind));
    ok = ok && codec_json_add(json, "flags", wit_runtime_message_flags_write_json(&v->flags));
    ok = ok && codec_json_add(json, "reserved", codec_json_unsigned(v->reserved));
    ok = ok && codec_json_add(json, "to-worker", codec_json_signed(v->to_worker));
    ok = ok && codec_json_add(json, "route-worker", codec_json_signed(v->route_worker));
    ok = ok && codec_json_add(json, "route-timestamp", codec_json_signed(v->route_timestamp));
    ok = ok && codec_json_add(json, "from-worker", codec_json_signed(v->from_worker));
    ok = ok && codec_json_add(json, "message-id-len", codec_json_unsigned(v->message_id_len));
    ok = ok && codec_json_add(json, "trace-id-len", codec_json_unsigned(v->trace_id_len));
    ok = ok && codec_json_add(json, "payload-len", codec_json_unsigned(v->payload_len));
    ok = ok && codec_json_add(json, "body", codec_json_bytes(&v->body));
    return codec_json_done(json, ok);
}

static int wit_runtime_message_read_json(const json_t *json, WitRuntimeMessage *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_message_names, 14, error);
    if (rc == SAP_OK) {
        rc = read_u16(json_object_get(json, "major"), &v->major, error);
        (void)codec_blame(error, "record message", "major", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u16(json_object_get(json, "minor"), &v->minor, error);
        (void)codec_blame(error, "record message", "minor", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "frame-len"), &v->frame_len, error);
        (void)codec_blame(error, "record message", "frame-len", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_runtime_message_kind_read_json(json_object_get(json, "kind"), &v->kind, error);
        (void)codec_blame(error, "record message", "kind", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_runtime_message_flags_read_json(json_object_get(json, "flags"), &v->flags, error);
        (void)codec_blame(error, "record message", "flags", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u16(json_object_get(json, "reserved"), &v->reserved, error);
        (void)codec_blame(error, "record message", "reserved", rc);
    }
    if (rc == SAP_OK) {
        rc = read_s64(json_object_get(json, "to-worker"), &v->to_worker, error);
        (void)codec_blame(error, "record message", "to-worker", rc);
    }
    if (rc == SAP_OK) {
        rc = read_s64(json_object_get(json, "route-worker"), &v->route_worker, error);
        (void)codec_blame(error, "record message", "route-worker", rc);
    }
    if (rc == SAP_OK) {
        rc = read_s64(json_object_get(json, "route-timestamp"), &v->route_timestamp, error);
        (void)codec_blame(error, "record message", "route-timestamp", rc);
    }
    if (rc == SAP_OK) {
        rc = read_s64(json_object_get(json, "from-worker"), &v->from_worker, error);
        (void)codec_blame(error, "record message", "from-worker", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "message-id-len"), &v->message_id_len, error);
        (void)codec_blame(error, "record message", "message-id-len", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "trace-id-len"), &v->trace_id_len, error);
        (void)codec_blame(error, "record message", "trace-id-len", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "payload-len"), &v->payload_len, error);
        (void)codec_blame(error, "record message", "payload-len", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "body"), &v->body, error);
        (void)codec_blame(error, "record message", "body", rc);
    }
    return rc;
}

int wit_runtime_message_to_json(const WitRuntimeMessage *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_message_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_message_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_message_from_json(const json_t *json, WitRuntimeMessage *v_out, CodecError *error)
{
    WitRuntimeMessage v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_message_read_json(json, &v, error);
    (void)codec_blame(error, "record message", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_message_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_message_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_intent_kind_names[] = {
    "outbox-emit",
    "timer-arm",
};

static json_t *wit_runtime_intent_kind_write_json(const WitRuntimeIntentKind *v)
{
    return json_string(wit_runtime_intent_kind_names[*v]);
}

static int wit_runtime_intent_kind_read_json(const json_t *json, WitRuntimeIntentKind *v, CodecError *error)
{
    uint32_t number = 0;
    int rc = codec_json_read_case(json, wit_runtime_intent_kind_names, 2, &number, error);

    *v = (WitRuntimeIntentKind)number;
    return rc;
}

int wit_runtime_intent_kind_to_json(const WitRuntimeIntentKind *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_intent_kind_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_intent_kind_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_intent_kind_from_json(const json_t *json, WitRuntimeIntentKind *v_out, CodecError *error)
{
    WitRuntimeIntentKind v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_intent_kind_read_json(json, &v, error);
    (void)codec_blame(error, "enum intent-kind", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_intent_kind_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_intent_kind_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_intent_flags_names[] = {
    "has-due",
};

static json_t *wit_runtime_intent_flags_write_json(const WitRuntimeIntentFlags *v)
{
    uint8_t bits[1];

    bits[0] = (uint8_t)(*v >> 0);
    return codec_json_flags(bits, wit_runtime_intent_flags_names, 1);
}

static int wit_runtime_intent_flags_read_json(const json_t *json, WitRuntimeIntentFlags *v, CodecError *error)
{
    uint8_t bits[8] = {0};
    int rc = codec_json_read_flags(json, wit_runtime_intent_flags_names, 1, bits, error);

    *v = (WitRuntimeIntentFlags)load_u64le(bits);
    return rc;
}

int wit_runtime_intent_flags_to_json(const WitRuntimeIntentFlags *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_intent_flags_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_intent_flags_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_intent_flags_from_json(const json_t *json, WitRuntimeIntentFlags *v_out, CodecError *error)
{
    WitRuntimeIntentFlags v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_intent_flags_read_json(json, &v, error);
    (void)codec_blame(error, "flags intent-flags", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_intent_flags_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_intent_flags_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_intent_names[] = {
    "major",
    "minor",
    "frame-len",
    "kind",
    "flags",
    "reserved",
    "due-ts",
    "message-len",
    "message",
};

static json_t *wit_runtime_intent_write_json(const WitRuntimeIntent *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "major", codec_json_unsigned(v->major));
    ok = ok && codec_json_add(json, "minor", codec_json_unsigned(v->minor));
    ok = ok && codec_json_add(json, "frame-len", codec_json_unsigned(v->frame_len));
    ok = ok && codec_json_add(json, "kind", wit_runtime_intent_kind_write_json(&v->kind));
    ok = ok && codec_json_add(json, "flags", wit_runtime_intent_flags_write_json(&v->flags));
    ok = ok && codec_json_add(json, "reserved", codec_json_unsigned(v->reserved));
    ok = ok && codec_json_add(json, "due-ts", codec_json_signed(v->due_ts));
    ok = ok && codec_json_add(json, "message-len", codec_json_unsigned(v->message_len));
    ok = ok && codec_json_add(json, "message", codec_json_bytes(&v->message));
    return codec_json_done(json, ok);
}

static int wit_runtime_intent_read_json(const json_t *json, WitRuntimeIntent *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_intent_names, 9, error);
    if (rc == SAP_OK) {
        rc = read_u16(json_object_get(json, "major"), &v->major, error);
        (void)codec_blame(error, "record intent", "major", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u16(json_object_get(json, "minor"), &v->minor, error);
        (void)codec_blame(error, "record intent", "minor", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "frame-len"), &v->frame_len, error);
        (void)codec_blame(error, "record intent", "frame-len", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_runtime_intent_kind_read_json(json_object_get(json, "kind"), &v->kind, error);
        (void)codec_blame(error, "record intent", "kind", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_runtime_intent_flags_read_json(json_object_get(json, "flags"), &v->flags, error);
        (void)codec_blame(error, "record intent", "flags", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u16(json_object_get(json, "reserved"), &v->reserved, error);
        (void)codec_blame(error, "record intent", "reserved", rc);
    }
    if (rc == SAP_OK) {
        rc = read_s64(json_object_get(json, "due-ts"), &v->due_ts, error);
        (void)codec_blame(error, "record intent", "due-ts", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "message-len"), &v->message_len, error);
        (void)codec_blame(error, "record intent", "message-len", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "message"), &v->message, error);
        (void)codec_blame(error, "record intent", "message", rc);
    }
    return rc;
}

int wit_runtime_intent_to_json(const WitRuntimeIntent *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_intent_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_intent_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_intent_from_json(const json_t *json, WitRuntimeIntent *v_out, CodecError *error)
{
    WitRuntimeIntent v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_intent_read_json(json, &v, error);
    (void)codec_blame(error, "record intent", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_intent_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_intent_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_replay_kind_names[] = {
    "inbox-attempt",
    "inbox-result",
    "timer-attempt",
    "timer-result",
    "requeue",
    "dead-letter",
};

static json_t *wit_runtime_replay_kind_write_json(const WitRuntimeReplayKind *v)
{
    return json_string(wit_runtime_replay_kind_names[*v]);
}

static int wit_runtime_replay_kind_read_json(const json_t *json, WitRuntimeReplayKind *v, CodecError *error)
{
    uint32_t number = 0;
    int rc = codec_json_read_case(json, wit_runtime_replay_kind_names, 6, &number, error);

    *v = (WitRuntimeReplayKind)number;
    return rc;
}

int wit_runtime_replay_kind_to_json(const WitRuntimeReplayKind *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_replay_kind_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_replay_kind_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_replay_kind_from_json(const json_t *json, WitRuntimeReplayKind *v_out, CodecError *error)
{
    WitRuntimeReplayKind v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_replay_kind_read_json(json, &v, error);
    (void)codec_blame(error, "enum replay-kind", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_replay_kind_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_replay_kind_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_replay_event_names[] = {
    "kind",
    "worker",
    "seq",
    "rc",
    "time",
    "frame",
};

static json_t *wit_runtime_replay_event_write_json(const WitRuntimeReplayEvent *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "kind", wit_runtime_replay_kind_write_json(&v->kind));
    ok = ok && codec_json_add(json, "worker", codec_json_signed(v->worker));
    ok = ok && codec_json_add(json, "seq", codec_json_unsigned(v->seq));
    ok = ok && codec_json_add(json, "rc", codec_json_signed(v->rc));
    ok = ok && codec_json_add(json, "time", codec_json_signed(v->time));
    ok = ok && codec_json_add(json, "frame", codec_json_bytes(&v->frame));
    return codec_json_done(json, ok);
}

static int wit_runtime_replay_event_read_json(const json_t *json, WitRuntimeReplayEvent *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_replay_event_names, 6, error);
    if (rc == SAP_OK) {
        rc = wit_runtime_replay_kind_read_json(json_object_get(json, "kind"), &v->kind, error);
        (void)codec_blame(error, "record replay-event", "kind", rc);
    }
    if (rc == SAP_OK) {
        rc = read_s64(json_object_get(json, "worker"), &v->worker, error);
        (void)codec_blame(error, "record replay-event", "worker", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "seq"), &v->seq, error);
        (void)codec_blame(error, "record replay-event", "seq", rc);
    }
    if (rc == SAP_OK) {
        rc = read_s32(json_object_get(json, "rc"), &v->rc, error);
        (void)codec_blame(error, "record replay-event", "rc", rc);
    }
    if (rc == SAP_OK) {
        rc = read_s64(json_object_get(json, "time"), &v->time, error);
        (void)codec_blame(error, "record replay-event", "time", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "frame"), &v->frame, error);
        (void)codec_blame(error, "record replay-event", "frame", rc);
    }
    return rc;
}

int wit_runtime_replay_event_to_json(const WitRuntimeReplayEvent *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_replay_event_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_replay_event_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_replay_event_from_json(const json_t *json, WitRuntimeReplayEvent *v_out, CodecError *error)
{
    WitRuntimeReplayEvent v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_replay_event_read_json(json, &v, error);
    (void)codec_blame(error, "record replay-event", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_replay_event_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_replay_event_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_schema_marker_names[] = {
    "major",
    "minor",
};

static json_t *wit_runtime_schema_marker_write_json(const WitRuntimeSchemaMarker *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "major", codec_json_unsigned(v->major));
    ok = ok && codec_json_add(json, "minor", codec_json_unsigned(v->minor));
    return codec_json_done(json, ok);
}

static int wit_runtime_schema_marker_read_json(const json_t *json, WitRuntimeSchemaMarker *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_schema_marker_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u16(json_object_get(json, "major"), &v->major, error);
        (void)codec_blame(error, "record schema-marker", "major", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u16(json_object_get(json, "minor"), &v->minor, error);
        (void)codec_blame(error, "record schema-marker", "minor", rc);
    }
    return rc;
}

int wit_runtime_schema_marker_to_json(const WitRuntimeSchemaMarker *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_schema_marker_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_schema_marker_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_schema_marker_from_json(const json_t *json, WitRuntimeSchemaMarker *v_out, CodecError *error)
{
    WitRuntimeSchemaMarker v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_schema_marker_read_json(json, &v, error);
    (void)codec_blame(error, "record schema-marker", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_schema_marker_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_schema_marker_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_high_water_mark_names[] = {
    "last",
};

static json_t *wit_runtime_high_water_mark_write_json(const WitRuntimeHighWaterMark *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "last", codec_json_unsigned(v->last));
    return codec_json_done(json, ok);
}

static int wit_runtime_high_water_mark_read_json(const json_t *json, WitRuntimeHighWaterMark *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_high_water_mark_names, 1, error);
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "last"), &v->last, error);
        (void)codec_blame(error, "record high-water-mark", "last", rc);
    }
    return rc;
}

int wit_runtime_high_water_mark_to_json(const WitRuntimeHighWaterMark *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_high_water_mark_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_high_water_mark_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_high_water_mark_from_json(const json_t *json, WitRuntimeHighWaterMark *v_out, CodecError *error)
{
    WitRuntimeHighWaterMark v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_high_water_mark_read_json(json, &v, error);
    (void)codec_blame(error, "record high-water-mark", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_high_water_mark_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_high_water_mark_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_queue_name_names[] = {
    "worker",
};

static json_t *wit_runtime_queue_name_write_json(const WitRuntimeQueueName *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "worker", codec_json_unsigned(v->worker));
    return codec_json_done(json, ok);
}

static int wit_runtime_queue_name_read_json(const json_t *json, WitRuntimeQueueName *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_queue_name_names, 1, error);
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "worker"), &v->worker, error);
        (void)codec_blame(error, "record queue-name", "worker", rc);
    }
    return rc;
}

int wit_runtime_queue_name_to_json(const WitRuntimeQueueName *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_queue_name_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_queue_name_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_queue_name_from_json(const json_t *json, WitRuntimeQueueName *v_out, CodecError *error)
{
    WitRuntimeQueueName v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_queue_name_read_json(json, &v, error);
    (void)codec_blame(error, "record queue-name", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_queue_name_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_queue_name_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_retry_key_names[] = {
    "table",
    "row",
};

static json_t *wit_runtime_retry_key_write_json(const WitRuntimeRetryKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "table", codec_json_unsigned(v->table));
    ok = ok && codec_json_add(json, "row", codec_json_bytes(&v->row));
    return codec_json_done(json, ok);
}

static int wit_runtime_retry_key_read_json(const json_t *json, WitRuntimeRetryKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_retry_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u8(json_object_get(json, "table"), &v->table, error);
        (void)codec_blame(error, "record retry-key", "table", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "row"), &v->row, error);
        (void)codec_blame(error, "record retry-key", "row", rc);
    }
    return rc;
}

int wit_runtime_retry_key_to_json(const WitRuntimeRetryKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_retry_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_retry_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_retry_key_from_json(const json_t *json, WitRuntimeRetryKey *v_out, CodecError *error)
{
    WitRuntimeRetryKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_retry_key_read_json(json, &v, error);
    (void)codec_blame(error, "record retry-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_retry_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_retry_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_retry_value_names[] = {
    "count",
};

static json_t *wit_runtime_retry_value_write_json(const WitRuntimeRetryValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "count", codec_json_unsigned(v->count));
    return codec_json_done(json, ok);
}

static int wit_runtime_retry_value_read_json(const json_t *json, WitRuntimeRetryValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_retry_value_names, 1, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "count"), &v->count, error);
        (void)codec_blame(error, "record retry-value", "count", rc);
    }
    return rc;
}

int wit_runtime_retry_value_to_json(const WitRuntimeRetryValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_retry_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_retry_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_retry_value_from_json(const json_t *json, WitRuntimeRetryValue *v_out, CodecError *error)
{
    WitRuntimeRetryValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_retry_value_read_json(json, &v, error);
    (void)codec_blame(error, "record retry-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_retry_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_retry_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_seen_key_names[] = {
    "worker",
    "id",
};

static json_t *wit_runtime_seen_key_write_json(const WitRuntimeSeenKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "worker", codec_json_unsigned(v->worker));
    ok = ok && codec_json_add(json, "id", codec_json_bytes(&v->id));
    return codec_json_done(json, ok);
}

static int wit_runtime_seen_key_read_json(const json_t *json, WitRuntimeSeenKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_seen_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "worker"), &v->worker, error);
        (void)codec_blame(error, "record seen-key", "worker", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "id"), &v->id, error);
        (void)codec_blame(error, "record seen-key", "id", rc);
    }
    return rc;
}

int wit_runtime_seen_key_to_json(const WitRuntimeSeenKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_seen_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_seen_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_seen_key_from_json(const json_t *json, WitRuntimeSeenKey *v_out, CodecError *error)
{
    WitRuntimeSeenKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_seen_key_read_json(json, &v, error);
    (void)codec_blame(error, "record seen-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_seen_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_seen_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_seen_value_names[] = {
    "accepted",
    "last-seen",
    "checksum",
};

static json_t *wit_runtime_seen_value_write_json(const WitRuntimeSeenValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "accepted", json_boolean(v->accepted));
    ok = ok && codec_json_add(json, "last-seen", codec_json_signed(v->last_seen));
    ok = ok && codec_json_add(json, "checksum", codec_json_unsigned(v->checksum));
    return codec_json_done(json, ok);
}

static int wit_runtime_seen_value_read_json(const json_t *json, WitRuntimeSeenValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_seen_value_names, 3, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bool(json_object_get(json, "accepted"), &v->accepted, error);
        (void)codec_blame(error, "record seen-value", "accepted", rc);
    }
    if (rc == SAP_OK) {
        rc = read_s64(json_object_get(json, "last-seen"), &v->last_seen, error);
        (void)codec_blame(error, "record seen-value", "last-seen", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "checksum"), &v->checksum, error);
        (void)codec_blame(error, "record seen-value", "checksum", rc);
    }
    return rc;
}

int wit_runtime_seen_value_to_json(const WitRuntimeSeenValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_seen_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_seen_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_seen_value_from_json(const json_t *json, WitRuntimeSeenValue *v_out, CodecError *error)
{
    WitRuntimeSeenValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_seen_value_read_json(json, &v, error);
    (void)codec_blame(error, "record seen-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_seen_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_seen_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_dbi0_app_state_key_names[] = {
    "key",
};

static json_t *wit_runtime_dbi0_app_state_key_write_json(const WitRuntimeDbi0AppStateKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "key", codec_json_bytes(&v->key));
    return codec_json_done(json, ok);
}

static int wit_runtime_dbi0_app_state_key_read_json(const json_t *json, WitRuntimeDbi0AppStateKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_dbi0_app_state_key_names, 1, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "key"), &v->key, error);
        (void)codec_blame(error, "record dbi0-app-state-key", "key", rc);
    }
    return rc;
}

int wit_runtime_dbi0_app_state_key_to_json(const WitRuntimeDbi0AppStateKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_dbi0_app_state_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_dbi0_app_state_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_dbi0_app_state_key_from_json(const json_t *json, WitRuntimeDbi0AppStateKey *v_out, CodecError *error)
{
    WitRuntimeDbi0AppStateKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_dbi0_app_state_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi0-app-state-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_dbi0_app_state_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_dbi0_app_state_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_dbi0_app_state_value_names[] = {
    "value",
};

static json_t *wit_runtime_dbi0_app_state_value_write_json(const WitRuntimeDbi0AppStateValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "value", codec_json_bytes(&v->value));
    return codec_json_done(json, ok);
}

static int wit_runtime_dbi0_app_state_value_read_json(const json_t *json, WitRuntimeDbi0AppStateValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_dbi0_app_state_value_names, 1, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "value"), &v->value, error);
        (void)codec_blame(error, "record dbi0-app-state-value", "value", rc);
    }
    return rc;
}

int wit_runtime_dbi0_app_state_value_to_json(const WitRuntimeDbi0AppStateValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_dbi0_app_state_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_dbi0_app_state_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_dbi0_app_state_value_from_json(const json_t *json, WitRuntimeDbi0AppStateValue *v_out, CodecError *error)
{
    WitRuntimeDbi0AppStateValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_dbi0_app_state_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi0-app-state-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_dbi0_app_state_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_dbi0_app_state_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_dbi1_inbox_key_names[] = {
    "worker",
    "seq",
};

static json_t *wit_runtime_dbi1_inbox_key_write_json(const WitRuntimeDbi1InboxKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "worker", codec_json_unsigned(v->worker));
    ok = ok && codec_json_add(json, "seq", codec_json_unsigned(v->seq));
    return codec_json_done(json, ok);
}

static int wit_runtime_dbi1_inbox_key_read_json(const json_t *json, WitRuntimeDbi1InboxKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_dbi1_inbox_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "worker"), &v->worker, error);
        (void)codec_blame(error, "record dbi1-inbox-key", "worker", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "seq"), &v->seq, error);
        (void)codec_blame(error, "record dbi1-inbox-key", "seq", rc);
    }
    return rc;
}

int wit_runtime_dbi1_inbox_key_to_json(const WitRuntimeDbi1InboxKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_dbi1_inbox_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_dbi1_inbox_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_dbi1_inbox_key_from_json(const json_t *json, WitRuntimeDbi1InboxKey *v_out, CodecError *error)
{
    WitRuntimeDbi1InboxKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_dbi1_inbox_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi1-inbox-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_dbi1_inbox_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_dbi1_inbox_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_dbi1_inbox_value_names[] = {
    "frame",
};

static json_t *wit_runtime_dbi1_inbox_value_write_json(const WitRuntimeDbi1InboxValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "frame", codec_json_bytes(&v->frame));
    return codec_json_done(json, ok);
}

static int wit_runtime_dbi1_inbox_value_read_json(const json_t *json, WitRuntimeDbi1InboxValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_dbi1_inbox_value_names, 1, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "frame"), &v->frame, error);
        (void)codec_blame(error, "record dbi1-inbox-value", "frame", rc);
    }
    return rc;
}

int wit_runtime_dbi1_inbox_value_to_json(const WitRuntimeDbi1InboxValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_dbi1_inbox_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_dbi1_inbox_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_dbi1_inbox_value_from_json(const json_t *json, WitRuntimeDbi1InboxValue *v_out, CodecError *error)
{
    WitRuntimeDbi1InboxValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_dbi1_inbox_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi1-inbox-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_dbi1_inbox_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_dbi1_inbox_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_dbi2_outbox_key_names[] = {
    "seq",
};

static json_t *wit_runtime_dbi2_outbox_key_write_json(const WitRuntimeDbi2OutboxKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "seq", codec_json_unsigned(v->seq));
    return codec_json_done(json, ok);
}

static int wit_runtime_dbi2_outbox_key_read_json(const json_t *json, WitRuntimeDbi2OutboxKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_dbi2_outbox_key_names, 1, error);
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "seq"), &v->seq, error);
        (void)codec_blame(error, "record dbi2-outbox-key", "seq", rc);
    }
    return rc;
}

int wit_runtime_dbi2_outbox_key_to_json(const WitRuntimeDbi2OutboxKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_dbi2_outbox_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_dbi2_outbox_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_dbi2_outbox_key_from_json(const json_t *json, WitRuntimeDbi2OutboxKey *v_out, CodecError *error)
{
    WitRuntimeDbi2OutboxKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_dbi2_outbox_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi2-outbox-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_dbi2_outbox_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_dbi2_outbox_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_dbi2_outbox_value_names[] = {
    "frame",
};

static json_t *wit_runtime_dbi2_outbox_value_write_json(const WitRuntimeDbi2OutboxValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "frame", codec_json_bytes(&v->frame));
    return codec_json_done(json, ok);
}

static int wit_runtime_dbi2_outbox_value_read_json(const json_t *json, WitRuntimeDbi2OutboxValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_dbi2_outbox_value_names, 1, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "frame"), &v->frame, error);
        (void)codec_blame(error, "record dbi2-outbox-value", "frame", rc);
    }
    return rc;
}

int wit_runtime_dbi2_outbox_value_to_json(const WitRuntimeDbi2OutboxValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_dbi2_outbox_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_dbi2_outbox_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_dbi2_outbox_value_from_json(const json_t *json, WitRuntimeDbi2OutboxValue *v_out, CodecError *error)
{
    WitRuntimeDbi2OutboxValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_dbi2_outbox_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi2-outbox-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_dbi2_outbox_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_dbi2_outbox_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_dbi3_leases_key_names[] = {
    "worker",
    "seq",
};

static json_t *wit_runtime_dbi3_leases_key_write_json(const WitRuntimeDbi3LeasesKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "worker", codec_json_unsigned(v->worker));
    ok = ok && codec_json_add(json, "seq", codec_json_unsigned(v->seq));
    return codec_json_done(json, ok);
}

static int wit_runtime_dbi3_leases_key_read_json(const json_t *json, WitRuntimeDbi3LeasesKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_dbi3_leases_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "worker"), &v->worker, error);
        (void)codec_blame(error, "record dbi3-leases-key", "worker", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "seq"), &v->seq, error);
        (void)codec_blame(error, "record dbi3-leases-key", "seq", rc);
    }
    return rc;
}

int wit_runtime_dbi3_leases_key_to_json(const WitRuntimeDbi3LeasesKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_dbi3_leases_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_dbi3_leases_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_dbi3_leases_key_from_json(const json_t *json, WitRuntimeDbi3LeasesKey *v_out, CodecError *error)
{
    WitRuntimeDbi3LeasesKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_dbi3_leases_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi3-leases-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_dbi3_leases_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_dbi3_leases_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_dbi3_leases_value_names[] = {
    "owner",
    "deadline",
    "attempts",
    "token",
};

static json_t *wit_runtime_dbi3_leases_value_write_json(const WitRuntimeDbi3LeasesValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "owner", codec_json_unsigned(v->owner));
    ok = ok && codec_json_add(json, "deadline", codec_json_signed(v->deadline));
    ok = ok && codec_json_add(json, "attempts", codec_json_unsigned(v->attempts));
    ok = ok && codec_json_add(json, "token", codec_json_unsigned(v->token));
    return codec_json_done(json, ok);
}

static int wit_runtime_dbi3_leases_value_read_json(const json_t *json, WitRuntimeDbi3LeasesValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_dbi3_leases_value_names, 4, error);
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "owner"), &v->owner, error);
        (void)codec_blame(error, "record dbi3-leases-value", "owner", rc);
    }
    if (rc == SAP_OK) {
        rc = read_s64(json_object_get(json, "deadline"), &v->deadline, error);
        (void)codec_blame(error, "record dbi3-leases-value", "deadline", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "attempts"), &v->attempts, error);
        (void)codec_blame(error, "record dbi3-leases-value", "attempts", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "token"), &v->token, error);
        (void)codec_blame(error, "record dbi3-leases-value", "token", rc);
    }
    return rc;
}

int wit_runtime_dbi3_leases_value_to_json(const WitRuntimeDbi3LeasesValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_dbi3_leases_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_dbi3_leases_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_dbi3_leases_value_from_json(const json_t *json, WitRuntimeDbi3LeasesValue *v_out, CodecError *error)
{
    WitRuntimeDbi3LeasesValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_dbi3_leases_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi3-leases-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_dbi3_leases_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_dbi3_leases_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_dbi4_timers_key_names[] = {
    "due",
    "seq",
};

static json_t *wit_runtime_dbi4_timers_key_write_json(const WitRuntimeDbi4TimersKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "due", codec_json_signed(v->due));
    ok = ok && codec_json_add(json, "seq", codec_json_unsigned(v->seq));
    return codec_json_done(json, ok);
}

static int wit_runtime_dbi4_timers_key_read_json(const json_t *json, WitRuntimeDbi4TimersKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_dbi4_timers_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_s64(json_object_get(json, "due"), &v->due, error);
        (void)codec_blame(error, "record dbi4-timers-key", "due", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "seq"), &v->seq, error);
        (void)codec_blame(error, "record dbi4-timers-key", "seq", rc);
    }
    return rc;
}

int wit_runtime_dbi4_timers_key_to_json(const WitRuntimeDbi4TimersKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_dbi4_timers_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_dbi4_timers_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_dbi4_timers_key_from_json(const json_t *json, WitRuntimeDbi4TimersKey *v_out, CodecError *error)
{
    WitRuntimeDbi4TimersKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_dbi4_timers_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi4-timers-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_dbi4_timers_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_dbi4_timers_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_dbi4_timers_value_names[] = {
    "frame",
};

static json_t *wit_runtime_dbi4_timers_value_write_json(const WitRuntimeDbi4TimersValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "frame", codec_json_bytes(&v->frame));
    return codec_json_done(json, ok);
}

static int wit_runtime_dbi4_timers_value_read_json(const json_t *json, WitRuntimeDbi4TimersValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_dbi4_timers_value_names, 1, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "frame"), &v->frame, error);
        (void)codec_blame(error, "record dbi4-timers-value", "frame", rc);
    }
    return rc;
}

int wit_runtime_dbi4_timers_value_to_json(const WitRuntimeDbi4TimersValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_dbi4_timers_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_dbi4_timers_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_dbi4_timers_value_from_json(const json_t *json, WitRuntimeDbi4TimersValue *v_out, CodecError *error)
{
    WitRuntimeDbi4TimersValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_dbi4_timers_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi4-timers-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_dbi4_timers_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_dbi4_timers_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_dbi5_dedupe_key_names[] = {
    "key",
};

static json_t *wit_runtime_dbi5_dedupe_key_write_json(const WitRuntimeDbi5DedupeKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "key", codec_json_bytes(&v->key));
    return codec_json_done(json, ok);
}

static int wit_runtime_dbi5_dedupe_key_read_json(const json_t *json, WitRuntimeDbi5DedupeKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_dbi5_dedupe_key_names, 1, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "key"), &v->key, error);
        (void)codec_blame(error, "record dbi5-dedupe-key", "key", rc);
    }
    return rc;
}

int wit_runtime_dbi5_dedupe_key_to_json(const WitRuntimeDbi5DedupeKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_dbi5_dedupe_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_dbi5_dedupe_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_dbi5_dedupe_key_from_json(const json_t *json, WitRuntimeDbi5DedupeKey *v_out, CodecError *error)
{
    WitRuntimeDbi5DedupeKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_dbi5_dedupe_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi5-dedupe-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_dbi5_dedupe_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_dbi5_dedupe_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_dbi5_dedupe_value_names[] = {
    "value",
};

static json_t *wit_runtime_dbi5_dedupe_value_write_json(const WitRuntimeDbi5DedupeValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "value", codec_json_bytes(&v->value));
    return codec_json_done(json, ok);
}

static int wit_runtime_dbi5_dedupe_value_read_json(const json_t *json, WitRuntimeDbi5DedupeValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_dbi5_dedupe_value_names, 1, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "value"), &v->value, error);
        (void)codec_blame(error, "record dbi5-dedupe-value", "value", rc);
    }
    return rc;
}

int wit_runtime_dbi5_dedupe_value_to_json(const WitRuntimeDbi5DedupeValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_dbi5_dedupe_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_dbi5_dedupe_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_dbi5_dedupe_value_from_json(const json_t *json, WitRuntimeDbi5DedupeValue *v_out, CodecError *error)
{
    WitRuntimeDbi5DedupeValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_dbi5_dedupe_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi5-dedupe-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_dbi5_dedupe_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_dbi5_dedupe_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_dbi6_dead_letter_key_names[] = {
    "worker",
    "seq",
};

static json_t *wit_runtime_dbi6_dead_letter_key_write_json(const WitRuntimeDbi6DeadLetterKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "worker", codec_json_unsigned(v->worker));
    ok = ok && codec_json_add(json, "seq", codec_json_unsigned(v->seq));
    return codec_json_done(json, ok);
}

static int wit_runtime_dbi6_dead_letter_key_read_json(const json_t *json, WitRuntimeDbi6DeadLetterKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_dbi6_dead_letter_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "worker"), &v->worker, error);
        (void)codec_blame(error, "record dbi6-dead-letter-key", "worker", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "seq"), &v->seq, error);
        (void)codec_blame(error, "record dbi6-dead-letter-key", "seq", rc);
    }
    return rc;
}

int wit_runtime_dbi6_dead_letter_key_to_json(const WitRuntimeDbi6DeadLetterKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_dbi6_dead_letter_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_dbi6_dead_letter_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_dbi6_dead_letter_key_from_json(const json_t *json, WitRuntimeDbi6DeadLetterKey *v_out, CodecError *error)
{
    WitRuntimeDbi6DeadLetterKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_dbi6_dead_letter_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi6-dead-letter-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_dbi6_dead_letter_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_dbi6_dead_letter_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_dbi6_dead_letter_value_names[] = {
    "rc",
    "attempts",
    "frame",
};

static json_t *wit_runtime_dbi6_dead_letter_value_write_json(const WitRuntimeDbi6DeadLetterValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "rc", codec_json_signed(v->rc));
    ok = ok && codec_json_add(json, "attempts", codec_json_unsigned(v->attempts));
    ok = ok && codec_json_add(json, "frame", codec_json_bytes(&v->frame));
    return codec_json_done(json, ok);
}

static int wit_runtime_dbi6_dead_letter_value_read_json(const json_t *json, WitRuntimeDbi6DeadLetterValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_dbi6_dead_letter_value_names, 3, error);
    if (rc == SAP_OK) {
        rc = read_s32(json_object_get(json, "rc"), &v->rc, error);
        (void)codec_blame(error, "record dbi6-dead-letter-value", "rc", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "attempts"), &v->attempts, error);
        (void)codec_blame(error, "record dbi6-dead-letter-value", "attempts", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "frame"), &v->frame, error);
        (void)codec_blame(error, "record dbi6-dead-letter-value", "frame", rc);
    }
    return rc;
}

int wit_runtime_dbi6_dead_letter_value_to_json(const WitRuntimeDbi6DeadLetterValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_dbi6_dead_letter_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_dbi6_dead_letter_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_dbi6_dead_letter_value_from_json(const json_t *json, WitRuntimeDbi6DeadLetterValue *v_out, CodecError *error)
{
    WitRuntimeDbi6DeadLetterValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_dbi6_dead_letter_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi6-dead-letter-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_dbi6_dead_letter_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_dbi6_dead_letter_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_dbi7_dedupe_ttl_key_names[] = {
    "key",
};

static json_t *wit_runtime_dbi7_dedupe_ttl_key_write_json(const WitRuntimeDbi7DedupeTtlKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "key", codec_json_bytes(&v->key));
    return codec_json_done(json, ok);
}

static int wit_runtime_dbi7_dedupe_ttl_key_read_json(const json_t *json, WitRuntimeDbi7DedupeTtlKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_dbi7_dedupe_ttl_key_names, 1, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "key"), &v->key, error);
        (void)codec_blame(error, "record dbi7-dedupe-ttl-key", "key", rc);
    }
    return rc;
}

int wit_runtime_dbi7_dedupe_ttl_key_to_json(const WitRuntimeDbi7DedupeTtlKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_dbi7_dedupe_ttl_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_dbi7_dedupe_ttl_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_dbi7_dedupe_ttl_key_from_json(const json_t *json, WitRuntimeDbi7DedupeTtlKey *v_out, CodecError *error)
{
    WitRuntimeDbi7DedupeTtlKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_dbi7_dedupe_ttl_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi7-dedupe-ttl-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_dbi7_dedupe_ttl_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_dbi7_dedupe_ttl_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_runtime_dbi7_dedupe_ttl_value_names[] = {
    "value",
};

static json_t *wit_runtime_dbi7_dedupe_ttl_value_write_json(const WitRuntimeDbi7DedupeTtlValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "value", codec_json_bytes(&v->value));
    return codec_json_done(json, ok);
}

static int wit_runtime_dbi7_dedupe_ttl_value_read_json(const json_t *json, WitRuntimeDbi7DedupeTtlValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_runtime_dbi7_dedupe_ttl_value_names, 1, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "value"), &v->value, error);
        (void)codec_blame(error, "record dbi7-dedupe-ttl-value", "value", rc);
    }
    return rc;
}

int wit_runtime_dbi7_dedupe_ttl_value_to_json(const WitRuntimeDbi7DedupeTtlValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_runtime_dbi7_dedupe_ttl_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_runtime_dbi7_dedupe_ttl_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_runtime_dbi7_dedupe_ttl_value_from_json(const json_t *json, WitRuntimeDbi7DedupeTtlValue *v_out, CodecError *error)
{
    WitRuntimeDbi7DedupeTtlValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_runtime_dbi7_dedupe_ttl_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi7-dedupe-ttl-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_runtime_dbi7_dedupe_ttl_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_runtime_dbi7_dedupe_ttl_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

