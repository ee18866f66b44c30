/* wit_universe_json.c - its types as JSON.
 *
 * Generated from schemas/wit/universe-schema.wit by tools/wit_codegen: change the schema. */
#include "wit_universe_json.h"

#include "common/bytes.h"

static int read_u8(const json_t *json, uint8_t *out, CodecError *error)
{
    uint64_t v = 0;
    int rc = codec_json_read_unsigned(json, UINT8_MAX, &v, error);

    *out = (uint8_t)v;
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

static const char *const wit_universe_encoding_names[] = {
    "json",
    "cbor",
    "raw",
};

static json_t *wit_universe_encoding_write_json(const WitUniverseEncoding *v)
{
    return json_string(wit_universe_encoding_names[*v]);
}

static int wit_universe_encoding_read_json(const json_t *json, WitUniverseEncoding *v, CodecError *error)
{
    uint32_t number = 0;
    int rc = codec_json_read_case(json, wit_universe_encoding_names, 3, &number, error);

    *v = (WitUniverseEncoding)number;
    return rc;
}

int wit_universe_encoding_to_json(const WitUniverseEncoding *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_encoding_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_encoding_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_encoding_from_json(const json_t *json, WitUniverseEncoding *v_out, CodecError *error)
{
    WitUniverseEncoding v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_encoding_read_json(json, &v, error);
    (void)codec_blame(error, "enum encoding", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_encoding_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_encoding_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_item_kind_names[] = {
    "create",
    "message",
    "receipt",
    "timer",
    "cancel",
    "forked",
    "migrate",
    "reply",
    "timeout",
};

static json_t *wit_universe_item_kind_write_json(const WitUniverseItemKind *v)
{
    return json_string(wit_universe_item_kind_names[*v]);
}

static int wit_universe_item_kind_read_json(const json_t *json, WitUniverseItemKind *v, CodecError *error)
{
    uint32_t number = 0;
    int rc = codec_json_read_case(json, wit_universe_item_kind_names, 9, &number, error);

    *v = (WitUniverseItemKind)number;
    return rc;
}

int wit_universe_item_kind_to_json(const WitUniverseItemKind *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_item_kind_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_item_kind_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_item_kind_from_json(const json_t *json, WitUniverseItemKind *v_out, CodecError *error)
{
    WitUniverseItemKind v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_item_kind_read_json(json, &v, error);
    (void)codec_blame(error, "enum item-kind", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_item_kind_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_item_kind_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_receipt_status_names[] = {
    "none",
    "ok",
    "error",
    "timeout",
};

static json_t *wit_universe_receipt_status_write_json(const WitUniverseReceiptStatus *v)
{
    return json_string(wit_universe_receipt_status_names[*v]);
}

static int wit_universe_receipt_status_read_json(const json_t *json, WitUniverseReceiptStatus *v, CodecError *error)
{
    uint32_t number = 0;
    int rc = codec_json_read_case(json, wit_universe_receipt_status_names, 4, &number, error);

    *v = (WitUniverseReceiptStatus)number;
    return rc;
}

int wit_universe_receipt_status_to_json(const WitUniverseReceiptStatus *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_receipt_status_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_receipt_status_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_receipt_status_from_json(const json_t *json, WitUniverseReceiptStatus *v_out, CodecError *error)
{
    WitUniverseReceiptStatus v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_receipt_status_read_json(json, &v, error);
    (void)codec_blame(error, "enum receipt-status", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_receipt_status_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_receipt_status_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_attempt_outcome_names[] = {
    "ok",
    "error",
    "timeout",
    "lost",
};

static json_t *wit_universe_attempt_outcome_write_json(const WitUniverseAttemptOutcome *v)
{
    return json_string(wit_universe_attempt_outcome_names[*v]);
}

static int wit_universe_attempt_outcome_read_json(const json_t *json, WitUniverseAttemptOutcome *v, CodecError *error)
{
    uint32_t number = 0;
    int rc = codec_json_read_case(json, wit_universe_attempt_outcome_names, 4, &number, error);

    *v = (WitUniverseAttemptOutcome)number;
    return rc;
}

int wit_universe_attempt_outcome_to_json(const WitUniverseAttemptOutcome *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_attempt_outcome_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_attempt_outcome_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_attempt_outcome_from_json(const json_t *json, WitUniverseAttemptOutcome *v_out, CodecError *error)
{
    WitUniverseAttemptOutcome v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_attempt_outcome_read_json(json, &v, error);
    (void)codec_blame(error, "enum attempt-outcome", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_attempt_outcome_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_attempt_outcome_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_effect_attempt_names[] = {
    "begun-ns",
    "ended-ns",
    "outcome",
    "code",
};

static json_t *wit_universe_effect_attempt_write_json(const WitUniverseEffectAttempt *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "begun-ns", codec_json_unsigned(v->begun_ns));
    ok = ok && codec_json_add(json, "ended-ns", codec_json_unsigned(v->ended_ns));
    ok = ok && codec_json_add(json, "outcome", wit_universe_attempt_outcome_write_json(&v->outcome));
    ok = ok && codec_json_add(json, "code", codec_json_string(&v->code));
    return codec_json_done(json, ok);
}

static int wit_universe_effect_attempt_read_json(const json_t *json, WitUniverseEffectAttempt *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_effect_attempt_names, 4, error);
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "begun-ns"), &v->begun_ns, error);
        (void)codec_blame(error, "record effect-attempt", "begun-ns", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "ended-ns"), &v->ended_ns, error);
        (void)codec_blame(error, "record effect-attempt", "ended-ns", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_attempt_outcome_read_json(json_object_get(json, "outcome"), &v->outcome, error);
        (void)codec_blame(error, "record effect-attempt", "outcome", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "code"), &v->code, error);
        (void)codec_blame(error, "record effect-attempt", "code", rc);
    }
    return rc;
}

int wit_universe_effect_attempt_to_json(const WitUniverseEffectAttempt *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_effect_attempt_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_effect_attempt_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_effect_attempt_from_json(const json_t *json, WitUniverseEffectAttempt *v_out, CodecError *error)
{
    WitUniverseEffectAttempt v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_effect_attempt_read_json(json, &v, error);
    (void)codec_blame(error, "record effect-attempt", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_effect_attempt_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_effect_attempt_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_header_names[] = {
    "name",
    "value",
};

static json_t *wit_universe_header_write_json(const WitUniverseHeader *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "name", codec_json_string(&v->name));
    ok = ok && codec_json_add(json, "value", codec_json_string(&v->value));
    return codec_json_done(json, ok);
}

static int wit_universe_header_read_json(const json_t *json, WitUniverseHeader *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_header_names, 2, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "name"), &v->name, error);
        (void)codec_blame(error, "record header", "name", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "value"), &v->value, error);
        (void)codec_blame(error, "record header", "value", rc);
    }
    return rc;
}

int wit_universe_header_to_json(const WitUniverseHeader *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_header_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_header_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_header_from_json(const json_t *json, WitUniverseHeader *v_out, CodecError *error)
{
    WitUniverseHeader v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_header_read_json(json, &v, error);
    (void)codec_blame(error, "record header", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_header_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_header_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static json_t *wit_universe_list_effect_attempt_write_json(const WitUniverseListEffectAttempt *v)
{
    json_t *json = json_array();
    bool ok = json != NULL;

    for (uint32_t i = 0; i < v->count && ok; i++) {
        ok = codec_json_append(json, wit_universe_effect_attempt_write_json(&v->items[i]));
    }
    return codec_json_done(json, ok);
}

static int wit_universe_list_effect_attempt_read_json(const json_t *json, WitUniverseListEffectAttempt *v, CodecError *error)
{
    uint32_t count = 0;
    int rc = codec_json_read_array(json, &count, error);
    if (rc != SAP_OK || count == 0) {
        return rc;
    }
    v->items = codec_items_new(count, sizeof *v->items);
    if (v->items == NULL) {
        return SAP_NOMEM;
    }
    v->count = count;
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        rc = wit_universe_effect_attempt_read_json(json_array_get(json, i), &v->items[i], error);
    }
    return rc;
}

static json_t *wit_universe_list_header_write_json(const WitUniverseListHeader *v)
{
    json_t *json = json_array();
    bool ok = json != NULL;

    for (uint32_t i = 0; i < v->count && ok; i++) {
        ok = codec_json_append(json, wit_universe_header_write_json(&v->items[i]));
    }
    return codec_json_done(json, ok);
}

static int wit_universe_list_header_read_json(const json_t *json, WitUniverseListHeader *v, CodecError *error)
{
    uint32_t count = 0;
    int rc = codec_json_read_array(json, &count, error);
    if (rc != SAP_OK || count == 0) {
        return rc;
    }
    v->items = codec_items_new(count, sizeof *v->items);
    if (v->items == NULL) {
        return SAP_NOMEM;
    }
    v->count = count;
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        rc = wit_universe_header_read_json(json_array_get(json, i), &v->items[i], error);
    }
    return rc;
}

static const char *const wit_universe_inbox_item_names[] = {
    "kind",
    "name",
    "id",
    "correlation-id",
    "hash",
    "ref",
    "status",
    "from-world",
    "from-height",
    "reply-to",
    "encoding",
    "payload",
    "blob",
    "trace-parent",
    "time-ns",
    "replayed",
    "priority",
    "code",
    "attempts",
    "headers",
};

static json_t *wit_universe_inbox_item_write_json(const WitUniverseInboxItem *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "kind", wit_universe_item_kind_write_json(&v->kind));
    ok = ok && codec_json_add(json, "name", codec_json_string(&v->name));
    ok = ok && codec_json_add(json, "id", codec_json_string(&v->id));
    ok = ok && codec_json_add(json, "correlation-id", codec_json_string(&v->correlation_id));
    ok = ok && codec_json_add(json, "hash", codec_json_bytes(&v->hash));
    ok = ok && codec_json_add(json, "ref", codec_json_string(&v->ref));
    ok = ok && codec_json_add(json, "status", wit_universe_receipt_status_write_json(&v->status));
    ok = ok && codec_json_add(json, "from-world", codec_json_string(&v->from_world));
    ok = ok && codec_json_add(json, "from-height", codec_json_unsigned(v->from_height));
    ok = ok && codec_json_add(json, "reply-to", codec_json_string(&v->reply_to));
    ok = ok && codec_json_add(json, "encoding", wit_universe_encoding_write_json(&v->encoding));
    ok = ok && codec_json_add(json, "payload", codec_json_bytes(&v->payload));
    ok = ok && codec_json_add(json, "blob", codec_json_bytes(&v->blob));
    ok = ok && codec_json_add(json, "trace-parent", codec_json_string(&v->trace_parent));
    ok = ok && codec_json_add(json, "time-ns", codec_json_unsigned(v->time_ns));
    ok = ok && codec_json_add(json, "replayed", json_boolean(v->replayed));
    ok = ok && codec_json_add(json, "priority", codec_json_unsigned(v->priority));
    ok = ok && codec_json_add(json, "code", codec_json_string(&v->code));
    ok = ok && codec_json_add(json, "attempts", wit_universe_list_effect_attempt_write_json(&v->attempts));
    ok = ok && codec_json_add(json, "headers", wit_universe_list_header_write_json(&v->headers));
    return codec_json_done(json, ok);
}

static int wit_universe_inbox_item_read_json(const json_t *json, WitUniverseInboxItem *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_inbox_item_names, 20, error);
    if (rc == SAP_OK) {
        rc = wit_universe_item_kind_read_json(json_object_get(json, "kind"), &v->kind, error);
        (void)codec_blame(error, "record inbox-item", "kind", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "name"), &v->name, error);
        (void)codec_blame(error, "record inbox-item", "name", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "id"), &v->id, error);
        (void)codec_blame(error, "record inbox-item", "id", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "correlation-id"), &v->correlation_id, error);
        (void)codec_blame(error, "record inbox-item", "correlation-id", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "hash"), &v->hash, error);
        (void)codec_blame(error, "record inbox-item", "hash", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "ref"), &v->ref, error);
        (void)codec_blame(error, "record inbox-item", "ref", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_receipt_status_read_json(json_object_get(json, "status"), &v->status, error);
        (void)codec_blame(error, "record inbox-item", "status", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "from-world"), &v->from_world, error);
        (void)codec_blame(error, "record inbox-item", "from-world", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "from-height"), &v->from_height, error);
        (void)codec_blame(error, "record inbox-item", "from-height", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "reply-to"), &v->reply_to, error);
        (void)codec_blame(error, "record inbox-item", "reply-to", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_encoding_read_json(json_object_get(json, "encoding"), &v->encoding, error);
        (void)codec_blame(error, "record inbox-item", "encoding", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "payload"), &v->payload, error);
        (void)codec_blame(error, "record inbox-item", "payload", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "blob"), &v->blob, error);
        (void)codec_blame(error, "record inbox-item", "blob", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "trace-parent"), &v->trace_parent, error);
        (void)codec_blame(error, "record inbox-item", "trace-parent", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "time-ns"), &v->time_ns, error);
        (void)codec_blame(error, "record inbox-item", "time-ns", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bool(json_object_get(json, "replayed"), &v->replayed, error);
        (void)codec_blame(error, "record inbox-item", "replayed", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u8(json_object_get(json, "priority"), &v->priority, error);
        (void)codec_blame(error, "record inbox-item", "priority", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "code"), &v->code, error);
        (void)codec_blame(error, "record inbox-item", "code", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_list_effect_attempt_read_json(json_object_get(json, "attempts"), &v->attempts, error);
        (void)codec_blame(error, "record inbox-item", "attempts", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_list_header_read_json(json_object_get(json, "headers"), &v->headers, error);
        (void)codec_blame(error, "record inbox-item", "headers", rc);
    }
    return rc;
}

int wit_universe_inbox_item_to_json(const WitUniverseInboxItem *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_inbox_item_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_inbox_item_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_inbox_item_from_json(const json_t *json, WitUniverseInboxItem *v_out, CodecError *error)
{
    WitUniverseInboxItem v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_inbox_item_read_json(json, &v, error);
    (void)codec_blame(error, "record inbox-item", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_inbox_item_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_inbox_item_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_fabric_mode_names[] = {
    "typed-event",
    "inbox",
};

static json_t *wit_universe_fabric_mode_write_json(const WitUniverseFabricMode *v)
{
    return json_string(wit_universe_fabric_mode_names[*v]);
}

static int wit_universe_fabric_mode_read_json(const json_t *json, WitUniverseFabricMode *v, CodecError *error)
{
    uint32_t number = 0;
    int rc = codec_json_read_case(json, wit_universe_fabric_mode_names, 2, &number, error);

    *v = (WitUniverseFabricMode)number;
    return rc;
}

int wit_universe_fabric_mode_to_json(const WitUniverseFabricMode *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_fabric_mode_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_fabric_mode_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_fabric_mode_from_json(const json_t *json, WitUniverseFabricMode *v_out, CodecError *error)
{
    WitUniverseFabricMode v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_fabric_mode_read_json(json, &v, error);
    (void)codec_blame(error, "enum fabric-mode", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_fabric_mode_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_fabric_mode_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static json_t *wit_universe_option_u32_write_json(const WitUniverseOptionU32 *v)
{
    return v->some ? codec_json_unsigned(v->value) : json_null();
}

static int wit_universe_option_u32_read_json(const json_t *json, WitUniverseOptionU32 *v, CodecError *error)
{
    if (json == NULL || json_is_null(json)) {
        return SAP_OK;
    }
    v->some = true;
    return read_u32(json, &v->value, error);
}

static const char *const wit_universe_fabric_send_params_names[] = {
    "dest-universe",
    "dest-world",
    "mode",
    "schema",
    "inbox",
    "encoding",
    "payload",
    "headers",
    "correlation-id",
    "message-id",
    "create",
    "ask",
    "answers",
    "ref",
    "status",
    "code",
};

static json_t *wit_universe_fabric_send_params_write_json(const WitUniverseFabricSendParams *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "dest-universe", wit_universe_option_u32_write_json(&v->dest_universe));
    ok = ok && codec_json_add(json, "dest-world", codec_json_string(&v->dest_world));
    ok = ok && codec_json_add(json, "mode", wit_universe_fabric_mode_write_json(&v->mode));
    ok = ok && codec_json_add(json, "schema", codec_json_string(&v->schema));
    ok = ok && codec_json_add(json, "inbox", codec_json_string(&v->inbox));
    ok = ok && codec_json_add(json, "encoding", wit_universe_encoding_write_json(&v->encoding));
    ok = ok && codec_json_add(json, "payload", codec_json_bytes(&v->payload));
    ok = ok && codec_json_add(json, "headers", wit_universe_list_header_write_json(&v->headers));
    ok = ok && codec_json_add(json, "correlation-id", codec_json_string(&v->correlation_id));
    ok = ok && codec_json_add(json, "message-id", codec_json_string(&v->message_id));
    ok = ok && codec_json_add(json, "create", codec_json_string(&v->create));
    ok = ok && codec_json_add(json, "ask", json_boolean(v->ask));
    ok = ok && codec_json_add(json, "answers", codec_json_bytes(&v->answers));
    ok = ok && codec_json_add(json, "ref", codec_json_string(&v->ref));
    ok = ok && codec_json_add(json, "status", wit_universe_receipt_status_write_json(&v->status));
    ok = ok && codec_json_add(json, "code", codec_json_string(&v->code));
    return codec_json_done(json, ok);
}

static int wit_universe_fabric_send_params_read_json(const json_t *json, WitUniverseFabricSendParams *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_fabric_send_params_names, 16, error);
    if (rc == SAP_OK) {
        rc = wit_universe_option_u32_read_json(json_object_get(json, "dest-universe"), &v->dest_universe, error);
        (void)codec_blame(error, "record fabric-send-params", "dest-universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "dest-world"), &v->dest_world, error);
        (void)codec_blame(error, "record fabric-send-params", "dest-world", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_fabric_mode_read_json(json_object_get(json, "mode"), &v->mode, error);
        (void)codec_blame(error, "record fabric-send-params", "mode", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "schema"), &v->schema, error);
        (void)codec_blame(error, "record fabric-send-params", "schema", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "inbox"), &v->inbox, error);
        (void)codec_blame(error, "record fabric-send-params", "inbox", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_encoding_read_json(json_object_get(json, "encoding"), &v->encoding, error);
        (void)codec_blame(error, "record fabric-send-params", "encoding", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "payload"), &v->payload, error);
        (void)codec_blame(error, "record fabric-send-params", "payload", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_list_header_read_json(json_object_get(json, "headers"), &v->headers, error);
        (void)codec_blame(error, "record fabric-send-params", "headers", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "correlation-id"), &v->correlation_id, error);
        (void)codec_blame(error, "record fabric-send-params", "correlation-id", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "message-id"), &v->message_id, error);
        (void)codec_blame(error, "record fabric-send-params", "message-id", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "create"), &v->create, error);
        (void)codec_blame(error, "record fabric-send-params", "create", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bool(json_object_get(json, "ask"), &v->ask, error);
        (void)codec_blame(error, "record fabric-send-params", "ask", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "answers"), &v->answers, error);
        (void)codec_blame(error, "record fabric-send-params", "answers", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "ref"), &v->ref, error);
        (void)codec_blame(error, "record fabric-send-params", "ref", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_receipt_status_read_json(json_object_get(json, "status"), &v->status, error);
        (void)codec_blame(error, "record fabric-send-params", "status", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "code"), &v->code, error);
        (void)codec_blame(error, "record fabric-send-params", "code", rc);
    }
    return rc;
}

int wit_universe_fabric_send_params_to_json(const WitUniverseFabricSendParams *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_fabric_send_params_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_fabric_send_params_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_fabric_send_params_from_json(const json_t *json, WitUniverseFabricSendParams *v_out, CodecError *error)
{
    WitUniverseFabricSendParams v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_fabric_send_params_read_json(json, &v, error);
    (void)codec_blame(error, "record fabric-send-params", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_fabric_send_params_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_fabric_send_params_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_fabric_status_names[] = {
    "ok",
    "already-enqueued",
    "error",
};

static json_t *wit_universe_fabric_status_write_json(const WitUniverseFabricStatus *v)
{
    return json_string(wit_universe_fabric_status_names[*v]);
}

static int wit_universe_fabric_status_read_json(const json_t *json, WitUniverseFabricStatus *v, CodecError *error)
{
    uint32_t number = 0;
    int rc = codec_json_read_case(json, wit_universe_fabric_status_names, 3, &number, error);

    *v = (WitUniverseFabricStatus)number;
    return rc;
}

int wit_universe_fabric_status_to_json(const WitUniverseFabricStatus *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_fabric_status_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_fabric_status_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_fabric_status_from_json(const json_t *json, WitUniverseFabricStatus *v_out, CodecError *error)
{
    WitUniverseFabricStatus v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_fabric_status_read_json(json, &v, error);
    (void)codec_blame(error, "enum fabric-status", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_fabric_status_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_fabric_status_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_fabric_send_receipt_names[] = {
    "status",
    "message-id",
    "dest-world",
    "enqueued-seq",
};

static json_t *wit_universe_fabric_send_receipt_write_json(const WitUniverseFabricSendReceipt *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "status", wit_universe_fabric_status_write_json(&v->status));
    ok = ok && codec_json_add(json, "message-id", codec_json_bytes(&v->message_id));
    ok = ok && codec_json_add(json, "dest-world", codec_json_string(&v->dest_world));
    ok = ok && codec_json_add(json, "enqueued-seq", codec_json_bytes(&v->enqueued_seq));
    return codec_json_done(json, ok);
}

static int wit_universe_fabric_send_receipt_read_json(const json_t *json, WitUniverseFabricSendReceipt *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_fabric_send_receipt_names, 4, error);
    if (rc == SAP_OK) {
        rc = wit_universe_fabric_status_read_json(json_object_get(json, "status"), &v->status, error);
        (void)codec_blame(error, "record fabric-send-receipt", "status", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "message-id"), &v->message_id, error);
        (void)codec_blame(error, "record fabric-send-receipt", "message-id", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "dest-world"), &v->dest_world, error);
        (void)codec_blame(error, "record fabric-send-receipt", "dest-world", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "enqueued-seq"), &v->enqueued_seq, error);
        (void)codec_blame(error, "record fabric-send-receipt", "enqueued-seq", rc);
    }
    return rc;
}

int wit_universe_fabric_send_receipt_to_json(const WitUniverseFabricSendReceipt *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_fabric_send_receipt_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_fabric_send_receipt_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_fabric_send_receipt_from_json(const json_t *json, WitUniverseFabricSendReceipt *v_out, CodecError *error)
{
    WitUniverseFabricSendReceipt v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_fabric_send_receipt_read_json(json, &v, error);
    (void)codec_blame(error, "record fabric-send-receipt", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_fabric_send_receipt_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_fabric_send_receipt_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_entry_kind_names[] = {
    "item",
    "rejected",
    "duplicate",
    "code",
    "forked",
};

static json_t *wit_universe_entry_kind_write_json(const WitUniverseEntryKind *v)
{
    return json_string(wit_universe_entry_kind_names[*v]);
}

static int wit_universe_entry_kind_read_json(const json_t *json, WitUniverseEntryKind *v, CodecError *error)
{
    uint32_t number = 0;
    int rc = codec_json_read_case(json, wit_universe_entry_kind_names, 5, &number, error);

    *v = (WitUniverseEntryKind)number;
    return rc;
}

int wit_universe_entry_kind_to_json(const WitUniverseEntryKind *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_entry_kind_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_entry_kind_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_entry_kind_from_json(const json_t *json, WitUniverseEntryKind *v_out, CodecError *error)
{
    WitUniverseEntryKind v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_entry_kind_read_json(json, &v, error);
    (void)codec_blame(error, "enum entry-kind", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_entry_kind_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_entry_kind_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static json_t *wit_universe_option_bytes_write_json(const WitUniverseOptionBytes *v)
{
    return v->some ? codec_json_bytes(&v->value) : json_null();
}

static int wit_universe_option_bytes_read_json(const json_t *json, WitUniverseOptionBytes *v, CodecError *error)
{
    if (json == NULL || json_is_null(json)) {
        return SAP_OK;
    }
    v->some = true;
    return codec_json_read_bytes(json, &v->value, error);
}

static const char *const wit_universe_change_names[] = {
    "key",
    "value",
};

static json_t *wit_universe_change_write_json(const WitUniverseChange *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "key", codec_json_bytes(&v->key));
    ok = ok && codec_json_add(json, "value", wit_universe_option_bytes_write_json(&v->value));
    return codec_json_done(json, ok);
}

static int wit_universe_change_read_json(const json_t *json, WitUniverseChange *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_change_names, 2, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "key"), &v->key, error);
        (void)codec_blame(error, "record change", "key", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_option_bytes_read_json(json_object_get(json, "value"), &v->value, error);
        (void)codec_blame(error, "record change", "value", rc);
    }
    return rc;
}

int wit_universe_change_to_json(const WitUniverseChange *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_change_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_change_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_change_from_json(const json_t *json, WitUniverseChange *v_out, CodecError *error)
{
    WitUniverseChange v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_change_read_json(json, &v, error);
    (void)codec_blame(error, "record change", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_change_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_change_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_retry_names[] = {
    "attempts",
    "first-ns",
    "factor",
    "cap-ns",
    "timeout-ns",
};

static json_t *wit_universe_retry_write_json(const WitUniverseRetry *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "attempts", codec_json_unsigned(v->attempts));
    ok = ok && codec_json_add(json, "first-ns", codec_json_unsigned(v->first_ns));
    ok = ok && codec_json_add(json, "factor", codec_json_unsigned(v->factor));
    ok = ok && codec_json_add(json, "cap-ns", codec_json_unsigned(v->cap_ns));
    ok = ok && codec_json_add(json, "timeout-ns", codec_json_unsigned(v->timeout_ns));
    return codec_json_done(json, ok);
}

static int wit_universe_retry_read_json(const json_t *json, WitUniverseRetry *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_retry_names, 5, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "attempts"), &v->attempts, error);
        (void)codec_blame(error, "record retry", "attempts", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "first-ns"), &v->first_ns, error);
        (void)codec_blame(error, "record retry", "first-ns", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "factor"), &v->factor, error);
        (void)codec_blame(error, "record retry", "factor", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "cap-ns"), &v->cap_ns, error);
        (void)codec_blame(error, "record retry", "cap-ns", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "timeout-ns"), &v->timeout_ns, error);
        (void)codec_blame(error, "record retry", "timeout-ns", rc);
    }
    return rc;
}

int wit_universe_retry_to_json(const WitUniverseRetry *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_retry_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_retry_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_retry_from_json(const json_t *json, WitUniverseRetry *v_out, CodecError *error)
{
    WitUniverseRetry v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_retry_read_json(json, &v, error);
    (void)codec_blame(error, "record retry", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_retry_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_retry_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_timer_clock_names[] = {
    "lease",
    "due",
};

static json_t *wit_universe_timer_clock_write_json(const WitUniverseTimerClock *v)
{
    return json_string(wit_universe_timer_clock_names[*v]);
}

static int wit_universe_timer_clock_read_json(const json_t *json, WitUniverseTimerClock *v, CodecError *error)
{
    uint32_t number = 0;
    int rc = codec_json_read_case(json, wit_universe_timer_clock_names, 2, &number, error);

    *v = (WitUniverseTimerClock)number;
    return rc;
}

int wit_universe_timer_clock_to_json(const WitUniverseTimerClock *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_timer_clock_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_timer_clock_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_timer_clock_from_json(const json_t *json, WitUniverseTimerClock *v_out, CodecError *error)
{
    WitUniverseTimerClock v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_timer_clock_read_json(json, &v, error);
    (void)codec_blame(error, "enum timer-clock", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_timer_clock_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_timer_clock_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_intent_names[] = {
    "kind",
    "ref",
    "encoding",
    "params",
    "hash",
    "retry",
    "clock",
    "time-ns",
};

static json_t *wit_universe_intent_write_json(const WitUniverseIntent *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "kind", codec_json_string(&v->kind));
    ok = ok && codec_json_add(json, "ref", codec_json_string(&v->ref));
    ok = ok && codec_json_add(json, "encoding", wit_universe_encoding_write_json(&v->encoding));
    ok = ok && codec_json_add(json, "params", codec_json_bytes(&v->params));
    ok = ok && codec_json_add(json, "hash", codec_json_bytes(&v->hash));
    ok = ok && codec_json_add(json, "retry", wit_universe_retry_write_json(&v->retry));
    ok = ok && codec_json_add(json, "clock", wit_universe_timer_clock_write_json(&v->clock));
    ok = ok && codec_json_add(json, "time-ns", codec_json_unsigned(v->time_ns));
    return codec_json_done(json, ok);
}

static int wit_universe_intent_read_json(const json_t *json, WitUniverseIntent *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_intent_names, 8, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "kind"), &v->kind, error);
        (void)codec_blame(error, "record intent", "kind", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "ref"), &v->ref, error);
        (void)codec_blame(error, "record intent", "ref", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_encoding_read_json(json_object_get(json, "encoding"), &v->encoding, error);
        (void)codec_blame(error, "record intent", "encoding", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "params"), &v->params, error);
        (void)codec_blame(error, "record intent", "params", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "hash"), &v->hash, error);
        (void)codec_blame(error, "record intent", "hash", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_retry_read_json(json_object_get(json, "retry"), &v->retry, error);
        (void)codec_blame(error, "record intent", "retry", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_timer_clock_read_json(json_object_get(json, "clock"), &v->clock, error);
        (void)codec_blame(error, "record intent", "clock", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "time-ns"), &v->time_ns, error);
        (void)codec_blame(error, "record intent", "time-ns", rc);
    }
    return rc;
}

int wit_universe_intent_to_json(const WitUniverseIntent *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_intent_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_intent_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_intent_from_json(const json_t *json, WitUniverseIntent *v_out, CodecError *error)
{
    WitUniverseIntent v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_intent_read_json(json, &v, error);
    (void)codec_blame(error, "record intent", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_intent_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_intent_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static json_t *wit_universe_option_inbox_item_write_json(const WitUniverseOptionInboxItem *v)
{
    return v->some ? wit_universe_inbox_item_write_json(&v->value) : json_null();
}

static int wit_universe_option_inbox_item_read_json(const json_t *json, WitUniverseOptionInboxItem *v, CodecError *error)
{
    if (json == NULL || json_is_null(json)) {
        return SAP_OK;
    }
    v->some = true;
    return wit_universe_inbox_item_read_json(json, &v->value, error);
}

static json_t *wit_universe_list_change_write_json(const WitUniverseListChange *v)
{
    json_t *json = json_array();
    bool ok = json != NULL;

    for (uint32_t i = 0; i < v->count && ok; i++) {
        ok = codec_json_append(json, wit_universe_change_write_json(&v->items[i]));
    }
    return codec_json_done(json, ok);
}

static int wit_universe_list_change_read_json(const json_t *json, WitUniverseListChange *v, CodecError *error)
{
    uint32_t count = 0;
    int rc = codec_json_read_array(json, &count, error);
    if (rc != SAP_OK || count == 0) {
        return rc;
    }
    v->items = codec_items_new(count, sizeof *v->items);
    if (v->items == NULL) {
        return SAP_NOMEM;
    }
    v->count = count;
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        rc = wit_universe_change_read_json(json_array_get(json, i), &v->items[i], error);
    }
    return rc;
}

static json_t *wit_universe_list_intent_write_json(const WitUniverseListIntent *v)
{
    json_t *json = json_array();
    bool ok = json != NULL;

    for (uint32_t i = 0; i < v->count && ok; i++) {
        ok = codec_json_append(json, wit_universe_intent_write_json(&v->items[i]));
    }
    return codec_json_done(json, ok);
}

static int wit_universe_list_intent_read_json(const json_t *json, WitUniverseListIntent *v, CodecError *error)
{
    uint32_t count = 0;
    int rc = codec_json_read_array(json, &count, error);
    if (rc != SAP_OK || count == 0) {
        return rc;
    }
    v->items = codec_items_new(count, sizeof *v->items);
    if (v->items == NULL) {
        return SAP_NOMEM;
    }
    v->count = count;
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        rc = wit_universe_intent_read_json(json_array_get(json, i), &v->items[i], error);
    }
    return rc;
}

static const char *const wit_universe_entry_names[] = {
    "kind",
    "time-ns",
    "seq",
    "item",
    "error",
    "delta",
    "intents",
    "state-sum",
};

static json_t *wit_universe_entry_write_json(const WitUniverseEntry *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "kind", wit_universe_entry_kind_write_json(&v->kind));
    ok = ok && codec_json_add(json, "time-ns", codec_json_unsigned(v->time_ns));
    ok = ok && codec_json_add(json, "seq", codec_json_bytes(&v->seq));
    ok = ok && codec_json_add(json, "item", wit_universe_option_inbox_item_write_json(&v->item));
    ok = ok && codec_json_add(json, "error", codec_json_string(&v->error));
    ok = ok && codec_json_add(json, "delta", wit_universe_list_change_write_json(&v->delta));
    ok = ok && codec_json_add(json, "intents", wit_universe_list_intent_write_json(&v->intents));
    ok = ok && codec_json_add(json, "state-sum", codec_json_bytes(&v->state_sum));
    return codec_json_done(json, ok);
}

static int wit_universe_entry_read_json(const json_t *json, WitUniverseEntry *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_entry_names, 8, error);
    if (rc == SAP_OK) {
        rc = wit_universe_entry_kind_read_json(json_object_get(json, "kind"), &v->kind, error);
        (void)codec_blame(error, "record entry", "kind", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "time-ns"), &v->time_ns, error);
        (void)codec_blame(error, "record entry", "time-ns", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "seq"), &v->seq, error);
        (void)codec_blame(error, "record entry", "seq", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_option_inbox_item_read_json(json_object_get(json, "item"), &v->item, error);
        (void)codec_blame(error, "record entry", "item", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "error"), &v->error, error);
        (void)codec_blame(error, "record entry", "error", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_list_change_read_json(json_object_get(json, "delta"), &v->delta, error);
        (void)codec_blame(error, "record entry", "delta", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_list_intent_read_json(json_object_get(json, "intents"), &v->intents, error);
        (void)codec_blame(error, "record entry", "intents", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "state-sum"), &v->state_sum, error);
        (void)codec_blame(error, "record entry", "state-sum", rc);
    }
    return rc;
}

int wit_universe_entry_to_json(const WitUniverseEntry *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_entry_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_entry_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_entry_from_json(const json_t *json, WitUniverseEntry *v_out, CodecError *error)
{
    WitUniverseEntry v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_entry_read_json(json, &v, error);
    (void)codec_blame(error, "record entry", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_entry_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_entry_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi16_lease_key_names[] = {
    "universe",
    "world",
};

static json_t *wit_universe_dbi16_lease_key_write_json(const WitUniverseDbi16LeaseKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi16_lease_key_read_json(const json_t *json, WitUniverseDbi16LeaseKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi16_lease_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi16-lease-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi16-lease-key", "world", rc);
    }
    return rc;
}

int wit_universe_dbi16_lease_key_to_json(const WitUniverseDbi16LeaseKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi16_lease_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi16_lease_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi16_lease_key_from_json(const json_t *json, WitUniverseDbi16LeaseKey *v_out, CodecError *error)
{
    WitUniverseDbi16LeaseKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi16_lease_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi16-lease-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi16_lease_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi16_lease_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi16_lease_value_names[] = {
    "holder",
    "nonce",
    "epoch",
    "unclean",
};

static json_t *wit_universe_dbi16_lease_value_write_json(const WitUniverseDbi16LeaseValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "holder", codec_json_string(&v->holder));
    ok = ok && codec_json_add(json, "nonce", codec_json_bytes(&v->nonce));
    ok = ok && codec_json_add(json, "epoch", codec_json_unsigned(v->epoch));
    ok = ok && codec_json_add(json, "unclean", json_boolean(v->unclean));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi16_lease_value_read_json(const json_t *json, WitUniverseDbi16LeaseValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi16_lease_value_names, 4, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "holder"), &v->holder, error);
        (void)codec_blame(error, "record dbi16-lease-value", "holder", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "nonce"), &v->nonce, error);
        (void)codec_blame(error, "record dbi16-lease-value", "nonce", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "epoch"), &v->epoch, error);
        (void)codec_blame(error, "record dbi16-lease-value", "epoch", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bool(json_object_get(json, "unclean"), &v->unclean, error);
        (void)codec_blame(error, "record dbi16-lease-value", "unclean", rc);
    }
    return rc;
}

int wit_universe_dbi16_lease_value_to_json(const WitUniverseDbi16LeaseValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi16_lease_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi16_lease_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi16_lease_value_from_json(const json_t *json, WitUniverseDbi16LeaseValue *v_out, CodecError *error)
{
    WitUniverseDbi16LeaseValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi16_lease_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi16-lease-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi16_lease_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi16_lease_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_module_ref_names[] = {
    "name",
    "version",
};

static json_t *wit_universe_module_ref_write_json(const WitUniverseModuleRef *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "name", codec_json_string(&v->name));
    ok = ok && codec_json_add(json, "version", codec_json_unsigned(v->version));
    return codec_json_done(json, ok);
}

static int wit_universe_module_ref_read_json(const json_t *json, WitUniverseModuleRef *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_module_ref_names, 2, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "name"), &v->name, error);
        (void)codec_blame(error, "record module-ref", "name", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "version"), &v->version, error);
        (void)codec_blame(error, "record module-ref", "version", rc);
    }
    return rc;
}

int wit_universe_module_ref_to_json(const WitUniverseModuleRef *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_module_ref_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_module_ref_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_module_ref_from_json(const json_t *json, WitUniverseModuleRef *v_out, CodecError *error)
{
    WitUniverseModuleRef v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_module_ref_read_json(json, &v, error);
    (void)codec_blame(error, "record module-ref", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_module_ref_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_module_ref_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi17_sessions_key_names[] = {
    "universe",
    "worker",
};

static json_t *wit_universe_dbi17_sessions_key_write_json(const WitUniverseDbi17SessionsKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "worker", codec_json_string(&v->worker));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi17_sessions_key_read_json(const json_t *json, WitUniverseDbi17SessionsKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi17_sessions_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi17-sessions-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "worker"), &v->worker, error);
        (void)codec_blame(error, "record dbi17-sessions-key", "worker", rc);
    }
    return rc;
}

int wit_universe_dbi17_sessions_key_to_json(const WitUniverseDbi17SessionsKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi17_sessions_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi17_sessions_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi17_sessions_key_from_json(const json_t *json, WitUniverseDbi17SessionsKey *v_out, CodecError *error)
{
    WitUniverseDbi17SessionsKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi17_sessions_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi17-sessions-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi17_sessions_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi17_sessions_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static json_t *wit_universe_list_module_ref_write_json(const WitUniverseListModuleRef *v)
{
    json_t *json = json_array();
    bool ok = json != NULL;

    for (uint32_t i = 0; i < v->count && ok; i++) {
        ok = codec_json_append(json, wit_universe_module_ref_write_json(&v->items[i]));
    }
    return codec_json_done(json, ok);
}

static int wit_universe_list_module_ref_read_json(const json_t *json, WitUniverseListModuleRef *v, CodecError *error)
{
    uint32_t count = 0;
    int rc = codec_json_read_array(json, &count, error);
    if (rc != SAP_OK || count == 0) {
        return rc;
    }
    v->items = codec_items_new(count, sizeof *v->items);
    if (v->items == NULL) {
        return SAP_NOMEM;
    }
    v->count = count;
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        rc = wit_universe_module_ref_read_json(json_array_get(json, i), &v->items[i], error);
    }
    return rc;
}

static const char *const wit_universe_dbi17_sessions_value_names[] = {
    "nonce",
    "expires-ns",
    "modules",
};

static json_t *wit_universe_dbi17_sessions_value_write_json(const WitUniverseDbi17SessionsValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "nonce", codec_json_bytes(&v->nonce));
    ok = ok && codec_json_add(json, "expires-ns", codec_json_unsigned(v->expires_ns));
    ok = ok && codec_json_add(json, "modules", wit_universe_list_module_ref_write_json(&v->modules));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi17_sessions_value_read_json(const json_t *json, WitUniverseDbi17SessionsValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi17_sessions_value_names, 3, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "nonce"), &v->nonce, error);
        (void)codec_blame(error, "record dbi17-sessions-value", "nonce", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "expires-ns"), &v->expires_ns, error);
        (void)codec_blame(error, "record dbi17-sessions-value", "expires-ns", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_list_module_ref_read_json(json_object_get(json, "modules"), &v->modules, error);
        (void)codec_blame(error, "record dbi17-sessions-value", "modules", rc);
    }
    return rc;
}

int wit_universe_dbi17_sessions_value_to_json(const WitUniverseDbi17SessionsValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi17_sessions_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi17_sessions_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi17_sessions_value_from_json(const json_t *json, WitUniverseDbi17SessionsValue *v_out, CodecError *error)
{
    WitUniverseDbi17SessionsValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi17_sessions_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi17-sessions-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi17_sessions_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi17_sessions_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi18_held_key_names[] = {
    "universe",
    "nonce",
    "world",
};

static json_t *wit_universe_dbi18_held_key_write_json(const WitUniverseDbi18HeldKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "nonce", codec_json_bytes(&v->nonce));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi18_held_key_read_json(const json_t *json, WitUniverseDbi18HeldKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi18_held_key_names, 3, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi18-held-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "nonce"), &v->nonce, error);
        (void)codec_blame(error, "record dbi18-held-key", "nonce", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi18-held-key", "world", rc);
    }
    return rc;
}

int wit_universe_dbi18_held_key_to_json(const WitUniverseDbi18HeldKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi18_held_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi18_held_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi18_held_key_from_json(const json_t *json, WitUniverseDbi18HeldKey *v_out, CodecError *error)
{
    WitUniverseDbi18HeldKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi18_held_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi18-held-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi18_held_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi18_held_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi18_held_value_names[] = {
    "value",
};

static json_t *wit_universe_dbi18_held_value_write_json(const WitUniverseDbi18HeldValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "value", codec_json_bytes(&v->value));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi18_held_value_read_json(const json_t *json, WitUniverseDbi18HeldValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi18_held_value_names, 1, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "value"), &v->value, error);
        (void)codec_blame(error, "record dbi18-held-value", "value", rc);
    }
    return rc;
}

int wit_universe_dbi18_held_value_to_json(const WitUniverseDbi18HeldValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi18_held_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi18_held_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi18_held_value_from_json(const json_t *json, WitUniverseDbi18HeldValue *v_out, CodecError *error)
{
    WitUniverseDbi18HeldValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi18_held_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi18-held-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi18_held_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi18_held_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi19_head_key_names[] = {
    "universe",
    "world",
};

static json_t *wit_universe_dbi19_head_key_write_json(const WitUniverseDbi19HeadKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi19_head_key_read_json(const json_t *json, WitUniverseDbi19HeadKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi19_head_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi19-head-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi19-head-key", "world", rc);
    }
    return rc;
}

int wit_universe_dbi19_head_key_to_json(const WitUniverseDbi19HeadKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi19_head_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi19_head_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi19_head_key_from_json(const json_t *json, WitUniverseDbi19HeadKey *v_out, CodecError *error)
{
    WitUniverseDbi19HeadKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi19_head_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi19-head-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi19_head_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi19_head_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi19_head_value_names[] = {
    "height",
    "digest",
    "state-sum",
    "time-ns",
};

static json_t *wit_universe_dbi19_head_value_write_json(const WitUniverseDbi19HeadValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "height", codec_json_unsigned(v->height));
    ok = ok && codec_json_add(json, "digest", codec_json_bytes(&v->digest));
    ok = ok && codec_json_add(json, "state-sum", codec_json_bytes(&v->state_sum));
    ok = ok && codec_json_add(json, "time-ns", codec_json_unsigned(v->time_ns));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi19_head_value_read_json(const json_t *json, WitUniverseDbi19HeadValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi19_head_value_names, 4, error);
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "height"), &v->height, error);
        (void)codec_blame(error, "record dbi19-head-value", "height", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "digest"), &v->digest, error);
        (void)codec_blame(error, "record dbi19-head-value", "digest", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "state-sum"), &v->state_sum, error);
        (void)codec_blame(error, "record dbi19-head-value", "state-sum", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "time-ns"), &v->time_ns, error);
        (void)codec_blame(error, "record dbi19-head-value", "time-ns", rc);
    }
    return rc;
}

int wit_universe_dbi19_head_value_to_json(const WitUniverseDbi19HeadValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi19_head_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi19_head_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi19_head_value_from_json(const json_t *json, WitUniverseDbi19HeadValue *v_out, CodecError *error)
{
    WitUniverseDbi19HeadValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi19_head_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi19-head-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi19_head_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi19_head_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi20_journal_key_names[] = {
    "universe",
    "world",
    "height",
    "part",
};

static json_t *wit_universe_dbi20_journal_key_write_json(const WitUniverseDbi20JournalKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    ok = ok && codec_json_add(json, "height", codec_json_unsigned(v->height));
    ok = ok && codec_json_add(json, "part", codec_json_unsigned(v->part));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi20_journal_key_read_json(const json_t *json, WitUniverseDbi20JournalKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi20_journal_key_names, 4, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi20-journal-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi20-journal-key", "world", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "height"), &v->height, error);
        (void)codec_blame(error, "record dbi20-journal-key", "height", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "part"), &v->part, error);
        (void)codec_blame(error, "record dbi20-journal-key", "part", rc);
    }
    return rc;
}

int wit_universe_dbi20_journal_key_to_json(const WitUniverseDbi20JournalKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi20_journal_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi20_journal_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi20_journal_key_from_json(const json_t *json, WitUniverseDbi20JournalKey *v_out, CodecError *error)
{
    WitUniverseDbi20JournalKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi20_journal_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi20-journal-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi20_journal_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi20_journal_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi20_journal_value_names[] = {
    "epoch",
    "parts",
    "content",
};

static json_t *wit_universe_dbi20_journal_value_write_json(const WitUniverseDbi20JournalValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "epoch", codec_json_unsigned(v->epoch));
    ok = ok && codec_json_add(json, "parts", codec_json_unsigned(v->parts));
    ok = ok && codec_json_add(json, "content", codec_json_bytes(&v->content));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi20_journal_value_read_json(const json_t *json, WitUniverseDbi20JournalValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi20_journal_value_names, 3, error);
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "epoch"), &v->epoch, error);
        (void)codec_blame(error, "record dbi20-journal-value", "epoch", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "parts"), &v->parts, error);
        (void)codec_blame(error, "record dbi20-journal-value", "parts", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "content"), &v->content, error);
        (void)codec_blame(error, "record dbi20-journal-value", "content", rc);
    }
    return rc;
}

int wit_universe_dbi20_journal_value_to_json(const WitUniverseDbi20JournalValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi20_journal_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi20_journal_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi20_journal_value_from_json(const json_t *json, WitUniverseDbi20JournalValue *v_out, CodecError *error)
{
    WitUniverseDbi20JournalValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi20_journal_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi20-journal-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi20_journal_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi20_journal_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_item_class_names[] = {
    "control",
    "receipt",
    "message",
};

static json_t *wit_universe_item_class_write_json(const WitUniverseItemClass *v)
{
    return json_string(wit_universe_item_class_names[*v]);
}

static int wit_universe_item_class_read_json(const json_t *json, WitUniverseItemClass *v, CodecError *error)
{
    uint32_t number = 0;
    int rc = codec_json_read_case(json, wit_universe_item_class_names, 3, &number, error);

    *v = (WitUniverseItemClass)number;
    return rc;
}

int wit_universe_item_class_to_json(const WitUniverseItemClass *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_item_class_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_item_class_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_item_class_from_json(const json_t *json, WitUniverseItemClass *v_out, CodecError *error)
{
    WitUniverseItemClass v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_item_class_read_json(json, &v, error);
    (void)codec_blame(error, "enum item-class", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_item_class_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_item_class_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_world_status_names[] = {
    "active",
    "paused",
    "stuck",
    "done",
    "deleted",
};

static json_t *wit_universe_world_status_write_json(const WitUniverseWorldStatus *v)
{
    return json_string(wit_universe_world_status_names[*v]);
}

static int wit_universe_world_status_read_json(const json_t *json, WitUniverseWorldStatus *v, CodecError *error)
{
    uint32_t number = 0;
    int rc = codec_json_read_case(json, wit_universe_world_status_names, 5, &number, error);

    *v = (WitUniverseWorldStatus)number;
    return rc;
}

int wit_universe_world_status_to_json(const WitUniverseWorldStatus *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_world_status_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_world_status_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_world_status_from_json(const json_t *json, WitUniverseWorldStatus *v_out, CodecError *error)
{
    WitUniverseWorldStatus v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_world_status_read_json(json, &v, error);
    (void)codec_blame(error, "enum world-status", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_world_status_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_world_status_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi21_world_meta_key_names[] = {
    "universe",
    "world",
};

static json_t *wit_universe_dbi21_world_meta_key_write_json(const WitUniverseDbi21WorldMetaKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi21_world_meta_key_read_json(const json_t *json, WitUniverseDbi21WorldMetaKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi21_world_meta_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi21-world-meta-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi21-world-meta-key", "world", rc);
    }
    return rc;
}

int wit_universe_dbi21_world_meta_key_to_json(const WitUniverseDbi21WorldMetaKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi21_world_meta_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi21_world_meta_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi21_world_meta_key_from_json(const json_t *json, WitUniverseDbi21WorldMetaKey *v_out, CodecError *error)
{
    WitUniverseDbi21WorldMetaKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi21_world_meta_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi21-world-meta-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi21_world_meta_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi21_world_meta_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi21_world_meta_value_names[] = {
    "module",
    "pin",
    "status",
    "reason",
    "drained",
    "seed",
    "born-height",
    "born-digest",
    "created-ns",
    "parent-world",
    "parent-snapshot",
    "forked-at",
    "failed-class",
    "failed-seq",
    "failed-version",
};

static json_t *wit_universe_dbi21_world_meta_value_write_json(const WitUniverseDbi21WorldMetaValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "module", codec_json_string(&v->module));
    ok = ok && codec_json_add(json, "pin", codec_json_unsigned(v->pin));
    ok = ok && codec_json_add(json, "status", wit_universe_world_status_write_json(&v->status));
    ok = ok && codec_json_add(json, "reason", codec_json_string(&v->reason));
    ok = ok && codec_json_add(json, "drained", json_boolean(v->drained));
    ok = ok && codec_json_add(json, "seed", codec_json_bytes(&v->seed));
    ok = ok && codec_json_add(json, "born-height", codec_json_unsigned(v->born_height));
    ok = ok && codec_json_add(json, "born-digest", codec_json_bytes(&v->born_digest));
    ok = ok && codec_json_add(json, "created-ns", codec_json_unsigned(v->created_ns));
    ok = ok && codec_json_add(json, "parent-world", codec_json_string(&v->parent_world));
    ok = ok && codec_json_add(json, "parent-snapshot", codec_json_bytes(&v->parent_snapshot));
    ok = ok && codec_json_add(json, "forked-at", codec_json_unsigned(v->forked_at));
    ok = ok && codec_json_add(json, "failed-class", wit_universe_item_class_write_json(&v->failed_class));
    ok = ok && codec_json_add(json, "failed-seq", codec_json_bytes(&v->failed_seq));
    ok = ok && codec_json_add(json, "failed-version", codec_json_unsigned(v->failed_version));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi21_world_meta_value_read_json(const json_t *json, WitUniverseDbi21WorldMetaValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi21_world_meta_value_names, 15, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "module"), &v->module, error);
        (void)codec_blame(error, "record dbi21-world-meta-value", "module", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "pin"), &v->pin, error);
        (void)codec_blame(error, "record dbi21-world-meta-value", "pin", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_world_status_read_json(json_object_get(json, "status"), &v->status, error);
        (void)codec_blame(error, "record dbi21-world-meta-value", "status", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "reason"), &v->reason, error);
        (void)codec_blame(error, "record dbi21-world-meta-value", "reason", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bool(json_object_get(json, "drained"), &v->drained, error);
        (void)codec_blame(error, "record dbi21-world-meta-value", "drained", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "seed"), &v->seed, error);
        (void)codec_blame(error, "record dbi21-world-meta-value", "seed", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "born-height"), &v->born_height, error);
        (void)codec_blame(error, "record dbi21-world-meta-value", "born-height", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "born-digest"), &v->born_digest, error);
        (void)codec_blame(error, "record dbi21-world-meta-value", "born-digest", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "created-ns"), &v->created_ns, error);
        (void)codec_blame(error, "record dbi21-world-meta-value", "created-ns", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "parent-world"), &v->parent_world, error);
        (void)codec_blame(error, "record dbi21-world-meta-value", "parent-world", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "parent-snapshot"), &v->parent_snapshot, error);
        (void)codec_blame(error, "record dbi21-world-meta-value", "parent-snapshot", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "forked-at"), &v->forked_at, error);
        (void)codec_blame(error, "record dbi21-world-meta-value", "forked-at", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_item_class_read_json(json_object_get(json, "failed-class"), &v->failed_class, error);
        (void)codec_blame(error, "record dbi21-world-meta-value", "failed-class", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "failed-seq"), &v->failed_seq, error);
        (void)codec_blame(error, "record dbi21-world-meta-value", "failed-seq", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "failed-version"), &v->failed_version, error);
        (void)codec_blame(error, "record dbi21-world-meta-value", "failed-version", rc);
    }
    return rc;
}

int wit_universe_dbi21_world_meta_value_to_json(const WitUniverseDbi21WorldMetaValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi21_world_meta_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi21_world_meta_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi21_world_meta_value_from_json(const json_t *json, WitUniverseDbi21WorldMetaValue *v_out, CodecError *error)
{
    WitUniverseDbi21WorldMetaValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi21_world_meta_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi21-world-meta-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi21_world_meta_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi21_world_meta_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi22_assignment_key_names[] = {
    "universe",
    "world",
};

static json_t *wit_universe_dbi22_assignment_key_write_json(const WitUniverseDbi22AssignmentKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi22_assignment_key_read_json(const json_t *json, WitUniverseDbi22AssignmentKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi22_assignment_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi22-assignment-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi22-assignment-key", "world", rc);
    }
    return rc;
}

int wit_universe_dbi22_assignment_key_to_json(const WitUniverseDbi22AssignmentKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi22_assignment_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi22_assignment_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi22_assignment_key_from_json(const json_t *json, WitUniverseDbi22AssignmentKey *v_out, CodecError *error)
{
    WitUniverseDbi22AssignmentKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi22_assignment_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi22-assignment-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi22_assignment_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi22_assignment_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi22_assignment_value_names[] = {
    "worker",
    "priority",
    "reason",
};

static json_t *wit_universe_dbi22_assignment_value_write_json(const WitUniverseDbi22AssignmentValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "worker", codec_json_string(&v->worker));
    ok = ok && codec_json_add(json, "priority", codec_json_unsigned(v->priority));
    ok = ok && codec_json_add(json, "reason", codec_json_string(&v->reason));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi22_assignment_value_read_json(const json_t *json, WitUniverseDbi22AssignmentValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi22_assignment_value_names, 3, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "worker"), &v->worker, error);
        (void)codec_blame(error, "record dbi22-assignment-value", "worker", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u8(json_object_get(json, "priority"), &v->priority, error);
        (void)codec_blame(error, "record dbi22-assignment-value", "priority", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "reason"), &v->reason, error);
        (void)codec_blame(error, "record dbi22-assignment-value", "reason", rc);
    }
    return rc;
}

int wit_universe_dbi22_assignment_value_to_json(const WitUniverseDbi22AssignmentValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi22_assignment_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi22_assignment_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi22_assignment_value_from_json(const json_t *json, WitUniverseDbi22AssignmentValue *v_out, CodecError *error)
{
    WitUniverseDbi22AssignmentValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi22_assignment_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi22-assignment-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi22_assignment_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi22_assignment_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi23_assigned_key_names[] = {
    "universe",
    "worker",
    "world",
};

static json_t *wit_universe_dbi23_assigned_key_write_json(const WitUniverseDbi23AssignedKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "worker", codec_json_string(&v->worker));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi23_assigned_key_read_json(const json_t *json, WitUniverseDbi23AssignedKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi23_assigned_key_names, 3, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi23-assigned-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "worker"), &v->worker, error);
        (void)codec_blame(error, "record dbi23-assigned-key", "worker", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi23-assigned-key", "world", rc);
    }
    return rc;
}

int wit_universe_dbi23_assigned_key_to_json(const WitUniverseDbi23AssignedKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi23_assigned_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi23_assigned_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi23_assigned_key_from_json(const json_t *json, WitUniverseDbi23AssignedKey *v_out, CodecError *error)
{
    WitUniverseDbi23AssignedKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi23_assigned_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi23-assigned-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi23_assigned_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi23_assigned_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi23_assigned_value_names[] = {
    "value",
};

static json_t *wit_universe_dbi23_assigned_value_write_json(const WitUniverseDbi23AssignedValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "value", codec_json_bytes(&v->value));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi23_assigned_value_read_json(const json_t *json, WitUniverseDbi23AssignedValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi23_assigned_value_names, 1, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "value"), &v->value, error);
        (void)codec_blame(error, "record dbi23-assigned-value", "value", rc);
    }
    return rc;
}

int wit_universe_dbi23_assigned_value_to_json(const WitUniverseDbi23AssignedValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi23_assigned_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi23_assigned_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi23_assigned_value_from_json(const json_t *json, WitUniverseDbi23AssignedValue *v_out, CodecError *error)
{
    WitUniverseDbi23AssignedValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi23_assigned_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi23-assigned-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi23_assigned_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi23_assigned_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi24_world_inbox_key_names[] = {
    "universe",
    "world",
    "class",
    "seq",
};

static json_t *wit_universe_dbi24_world_inbox_key_write_json(const WitUniverseDbi24WorldInboxKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    ok = ok && codec_json_add(json, "class", wit_universe_item_class_write_json(&v->class));
    ok = ok && codec_json_add(json, "seq", codec_json_bytes(&v->seq));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi24_world_inbox_key_read_json(const json_t *json, WitUniverseDbi24WorldInboxKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi24_world_inbox_key_names, 4, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi24-world-inbox-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi24-world-inbox-key", "world", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_item_class_read_json(json_object_get(json, "class"), &v->class, error);
        (void)codec_blame(error, "record dbi24-world-inbox-key", "class", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "seq"), &v->seq, error);
        (void)codec_blame(error, "record dbi24-world-inbox-key", "seq", rc);
    }
    return rc;
}

int wit_universe_dbi24_world_inbox_key_to_json(const WitUniverseDbi24WorldInboxKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi24_world_inbox_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi24_world_inbox_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi24_world_inbox_key_from_json(const json_t *json, WitUniverseDbi24WorldInboxKey *v_out, CodecError *error)
{
    WitUniverseDbi24WorldInboxKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi24_world_inbox_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi24-world-inbox-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi24_world_inbox_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi24_world_inbox_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi24_world_inbox_value_names[] = {
    "item",
};

static json_t *wit_universe_dbi24_world_inbox_value_write_json(const WitUniverseDbi24WorldInboxValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "item", wit_universe_inbox_item_write_json(&v->item));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi24_world_inbox_value_read_json(const json_t *json, WitUniverseDbi24WorldInboxValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi24_world_inbox_value_names, 1, error);
    if (rc == SAP_OK) {
        rc = wit_universe_inbox_item_read_json(json_object_get(json, "item"), &v->item, error);
        (void)codec_blame(error, "record dbi24-world-inbox-value", "item", rc);
    }
    return rc;
}

int wit_universe_dbi24_world_inbox_value_to_json(const WitUniverseDbi24WorldInboxValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi24_world_inbox_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi24_world_inbox_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi24_world_inbox_value_from_json(const json_t *json, WitUniverseDbi24WorldInboxValue *v_out, CodecError *error)
{
    WitUniverseDbi24WorldInboxValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi24_world_inbox_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi24-world-inbox-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi24_world_inbox_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi24_world_inbox_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi25_idem_key_names[] = {
    "universe",
    "world",
    "id",
};

static json_t *wit_universe_dbi25_idem_key_write_json(const WitUniverseDbi25IdemKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    ok = ok && codec_json_add(json, "id", codec_json_string(&v->id));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi25_idem_key_read_json(const json_t *json, WitUniverseDbi25IdemKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi25_idem_key_names, 3, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi25-idem-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi25-idem-key", "world", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "id"), &v->id, error);
        (void)codec_blame(error, "record dbi25-idem-key", "id", rc);
    }
    return rc;
}

int wit_universe_dbi25_idem_key_to_json(const WitUniverseDbi25IdemKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi25_idem_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi25_idem_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi25_idem_key_from_json(const json_t *json, WitUniverseDbi25IdemKey *v_out, CodecError *error)
{
    WitUniverseDbi25IdemKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi25_idem_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi25-idem-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi25_idem_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi25_idem_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi25_idem_value_names[] = {
    "seq",
    "hash",
    "expires-ns",
};

static json_t *wit_universe_dbi25_idem_value_write_json(const WitUniverseDbi25IdemValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "seq", codec_json_bytes(&v->seq));
    ok = ok && codec_json_add(json, "hash", codec_json_bytes(&v->hash));
    ok = ok && codec_json_add(json, "expires-ns", codec_json_unsigned(v->expires_ns));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi25_idem_value_read_json(const json_t *json, WitUniverseDbi25IdemValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi25_idem_value_names, 3, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "seq"), &v->seq, error);
        (void)codec_blame(error, "record dbi25-idem-value", "seq", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "hash"), &v->hash, error);
        (void)codec_blame(error, "record dbi25-idem-value", "hash", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "expires-ns"), &v->expires_ns, error);
        (void)codec_blame(error, "record dbi25-idem-value", "expires-ns", rc);
    }
    return rc;
}

int wit_universe_dbi25_idem_value_to_json(const WitUniverseDbi25IdemValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi25_idem_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi25_idem_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi25_idem_value_from_json(const json_t *json, WitUniverseDbi25IdemValue *v_out, CodecError *error)
{
    WitUniverseDbi25IdemValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi25_idem_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi25-idem-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi25_idem_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi25_idem_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi26_reply_key_names[] = {
    "universe",
    "world",
    "id",
};

static json_t *wit_universe_dbi26_reply_key_write_json(const WitUniverseDbi26ReplyKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    ok = ok && codec_json_add(json, "id", codec_json_string(&v->id));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi26_reply_key_read_json(const json_t *json, WitUniverseDbi26ReplyKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi26_reply_key_names, 3, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi26-reply-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi26-reply-key", "world", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "id"), &v->id, error);
        (void)codec_blame(error, "record dbi26-reply-key", "id", rc);
    }
    return rc;
}

int wit_universe_dbi26_reply_key_to_json(const WitUniverseDbi26ReplyKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi26_reply_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi26_reply_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi26_reply_key_from_json(const json_t *json, WitUniverseDbi26ReplyKey *v_out, CodecError *error)
{
    WitUniverseDbi26ReplyKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi26_reply_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi26-reply-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi26_reply_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi26_reply_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi26_reply_value_names[] = {
    "status",
    "encoding",
    "payload",
    "height",
    "expires-ns",
};

static json_t *wit_universe_dbi26_reply_value_write_json(const WitUniverseDbi26ReplyValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "status", wit_universe_receipt_status_write_json(&v->status));
    ok = ok && codec_json_add(json, "encoding", wit_universe_encoding_write_json(&v->encoding));
    ok = ok && codec_json_add(json, "payload", codec_json_bytes(&v->payload));
    ok = ok && codec_json_add(json, "height", codec_json_unsigned(v->height));
    ok = ok && codec_json_add(json, "expires-ns", codec_json_unsigned(v->expires_ns));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi26_reply_value_read_json(const json_t *json, WitUniverseDbi26ReplyValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi26_reply_value_names, 5, error);
    if (rc == SAP_OK) {
        rc = wit_universe_receipt_status_read_json(json_object_get(json, "status"), &v->status, error);
        (void)codec_blame(error, "record dbi26-reply-value", "status", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_encoding_read_json(json_object_get(json, "encoding"), &v->encoding, error);
        (void)codec_blame(error, "record dbi26-reply-value", "encoding", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "payload"), &v->payload, error);
        (void)codec_blame(error, "record dbi26-reply-value", "payload", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "height"), &v->height, error);
        (void)codec_blame(error, "record dbi26-reply-value", "height", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "expires-ns"), &v->expires_ns, error);
        (void)codec_blame(error, "record dbi26-reply-value", "expires-ns", rc);
    }
    return rc;
}

int wit_universe_dbi26_reply_value_to_json(const WitUniverseDbi26ReplyValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi26_reply_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi26_reply_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi26_reply_value_from_json(const json_t *json, WitUniverseDbi26ReplyValue *v_out, CodecError *error)
{
    WitUniverseDbi26ReplyValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi26_reply_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi26-reply-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi26_reply_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi26_reply_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi27_attempt_key_names[] = {
    "universe",
    "world",
};

static json_t *wit_universe_dbi27_attempt_key_write_json(const WitUniverseDbi27AttemptKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi27_attempt_key_read_json(const json_t *json, WitUniverseDbi27AttemptKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi27_attempt_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi27-attempt-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi27-attempt-key", "world", rc);
    }
    return rc;
}

int wit_universe_dbi27_attempt_key_to_json(const WitUniverseDbi27AttemptKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi27_attempt_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi27_attempt_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi27_attempt_key_from_json(const json_t *json, WitUniverseDbi27AttemptKey *v_out, CodecError *error)
{
    WitUniverseDbi27AttemptKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi27_attempt_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi27-attempt-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi27_attempt_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi27_attempt_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi27_attempt_value_names[] = {
    "seq",
    "count",
};

static json_t *wit_universe_dbi27_attempt_value_write_json(const WitUniverseDbi27AttemptValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "seq", codec_json_bytes(&v->seq));
    ok = ok && codec_json_add(json, "count", codec_json_unsigned(v->count));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi27_attempt_value_read_json(const json_t *json, WitUniverseDbi27AttemptValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi27_attempt_value_names, 2, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "seq"), &v->seq, error);
        (void)codec_blame(error, "record dbi27-attempt-value", "seq", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "count"), &v->count, error);
        (void)codec_blame(error, "record dbi27-attempt-value", "count", rc);
    }
    return rc;
}

int wit_universe_dbi27_attempt_value_to_json(const WitUniverseDbi27AttemptValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi27_attempt_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi27_attempt_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi27_attempt_value_from_json(const json_t *json, WitUniverseDbi27AttemptValue *v_out, CodecError *error)
{
    WitUniverseDbi27AttemptValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi27_attempt_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi27-attempt-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi27_attempt_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi27_attempt_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi28_world_dlq_key_names[] = {
    "universe",
    "world",
    "height",
    "seq",
};

static json_t *wit_universe_dbi28_world_dlq_key_write_json(const WitUniverseDbi28WorldDlqKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    ok = ok && codec_json_add(json, "height", codec_json_unsigned(v->height));
    ok = ok && codec_json_add(json, "seq", codec_json_bytes(&v->seq));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi28_world_dlq_key_read_json(const json_t *json, WitUniverseDbi28WorldDlqKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi28_world_dlq_key_names, 4, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi28-world-dlq-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi28-world-dlq-key", "world", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "height"), &v->height, error);
        (void)codec_blame(error, "record dbi28-world-dlq-key", "height", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "seq"), &v->seq, error);
        (void)codec_blame(error, "record dbi28-world-dlq-key", "seq", rc);
    }
    return rc;
}

int wit_universe_dbi28_world_dlq_key_to_json(const WitUniverseDbi28WorldDlqKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi28_world_dlq_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi28_world_dlq_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi28_world_dlq_key_from_json(const json_t *json, WitUniverseDbi28WorldDlqKey *v_out, CodecError *error)
{
    WitUniverseDbi28WorldDlqKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi28_world_dlq_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi28-world-dlq-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi28_world_dlq_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi28_world_dlq_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi28_world_dlq_value_names[] = {
    "item",
    "error",
    "attempts",
    "at-ns",
    "class",
    "journaled",
};

static json_t *wit_universe_dbi28_world_dlq_value_write_json(const WitUniverseDbi28WorldDlqValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "item", wit_universe_inbox_item_write_json(&v->item));
    ok = ok && codec_json_add(json, "error", codec_json_string(&v->error));
    ok = ok && codec_json_add(json, "attempts", codec_json_unsigned(v->attempts));
    ok = ok && codec_json_add(json, "at-ns", codec_json_unsigned(v->at_ns));
    ok = ok && codec_json_add(json, "class", wit_universe_item_class_write_json(&v->class));
    ok = ok && codec_json_add(json, "journaled", json_boolean(v->journaled));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi28_world_dlq_value_read_json(const json_t *json, WitUniverseDbi28WorldDlqValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi28_world_dlq_value_names, 6, error);
    if (rc == SAP_OK) {
        rc = wit_universe_inbox_item_read_json(json_object_get(json, "item"), &v->item, error);
        (void)codec_blame(error, "record dbi28-world-dlq-value", "item", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "error"), &v->error, error);
        (void)codec_blame(error, "record dbi28-world-dlq-value", "error", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "attempts"), &v->attempts, error);
        (void)codec_blame(error, "record dbi28-world-dlq-value", "attempts", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "at-ns"), &v->at_ns, error);
        (void)codec_blame(error, "record dbi28-world-dlq-value", "at-ns", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_item_class_read_json(json_object_get(json, "class"), &v->class, error);
        (void)codec_blame(error, "record dbi28-world-dlq-value", "class", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bool(json_object_get(json, "journaled"), &v->journaled, error);
        (void)codec_blame(error, "record dbi28-world-dlq-value", "journaled", rc);
    }
    return rc;
}

int wit_universe_dbi28_world_dlq_value_to_json(const WitUniverseDbi28WorldDlqValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi28_world_dlq_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi28_world_dlq_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi28_world_dlq_value_from_json(const json_t *json, WitUniverseDbi28WorldDlqValue *v_out, CodecError *error)
{
    WitUniverseDbi28WorldDlqValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi28_world_dlq_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi28-world-dlq-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi28_world_dlq_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi28_world_dlq_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi29_fabric_dedupe_key_names[] = {
    "universe",
    "world",
    "hash",
};

static json_t *wit_universe_dbi29_fabric_dedupe_key_write_json(const WitUniverseDbi29FabricDedupeKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    ok = ok && codec_json_add(json, "hash", codec_json_bytes(&v->hash));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi29_fabric_dedupe_key_read_json(const json_t *json, WitUniverseDbi29FabricDedupeKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi29_fabric_dedupe_key_names, 3, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi29-fabric-dedupe-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi29-fabric-dedupe-key", "world", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "hash"), &v->hash, error);
        (void)codec_blame(error, "record dbi29-fabric-dedupe-key", "hash", rc);
    }
    return rc;
}

int wit_universe_dbi29_fabric_dedupe_key_to_json(const WitUniverseDbi29FabricDedupeKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi29_fabric_dedupe_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi29_fabric_dedupe_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi29_fabric_dedupe_key_from_json(const json_t *json, WitUniverseDbi29FabricDedupeKey *v_out, CodecError *error)
{
    WitUniverseDbi29FabricDedupeKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi29_fabric_dedupe_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi29-fabric-dedupe-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi29_fabric_dedupe_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi29_fabric_dedupe_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi29_fabric_dedupe_value_names[] = {
    "seq",
    "expires-ns",
};

static json_t *wit_universe_dbi29_fabric_dedupe_value_write_json(const WitUniverseDbi29FabricDedupeValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "seq", codec_json_bytes(&v->seq));
    ok = ok && codec_json_add(json, "expires-ns", codec_json_unsigned(v->expires_ns));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi29_fabric_dedupe_value_read_json(const json_t *json, WitUniverseDbi29FabricDedupeValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi29_fabric_dedupe_value_names, 2, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "seq"), &v->seq, error);
        (void)codec_blame(error, "record dbi29-fabric-dedupe-value", "seq", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "expires-ns"), &v->expires_ns, error);
        (void)codec_blame(error, "record dbi29-fabric-dedupe-value", "expires-ns", rc);
    }
    return rc;
}

int wit_universe_dbi29_fabric_dedupe_value_to_json(const WitUniverseDbi29FabricDedupeValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi29_fabric_dedupe_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi29_fabric_dedupe_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi29_fabric_dedupe_value_from_json(const json_t *json, WitUniverseDbi29FabricDedupeValue *v_out, CodecError *error)
{
    WitUniverseDbi29FabricDedupeValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi29_fabric_dedupe_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi29-fabric-dedupe-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi29_fabric_dedupe_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi29_fabric_dedupe_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi30_snapshot_key_names[] = {
    "universe",
    "world",
    "height",
};

static json_t *wit_universe_dbi30_snapshot_key_write_json(const WitUniverseDbi30SnapshotKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    ok = ok && codec_json_add(json, "height", codec_json_unsigned(v->height));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi30_snapshot_key_read_json(const json_t *json, WitUniverseDbi30SnapshotKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi30_snapshot_key_names, 3, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi30-snapshot-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi30-snapshot-key", "world", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "height"), &v->height, error);
        (void)codec_blame(error, "record dbi30-snapshot-key", "height", rc);
    }
    return rc;
}

int wit_universe_dbi30_snapshot_key_to_json(const WitUniverseDbi30SnapshotKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi30_snapshot_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi30_snapshot_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi30_snapshot_key_from_json(const json_t *json, WitUniverseDbi30SnapshotKey *v_out, CodecError *error)
{
    WitUniverseDbi30SnapshotKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi30_snapshot_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi30-snapshot-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi30_snapshot_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi30_snapshot_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi30_snapshot_value_names[] = {
    "root",
    "digest",
    "state-sum",
    "time-ns",
    "state-bytes",
};

static json_t *wit_universe_dbi30_snapshot_value_write_json(const WitUniverseDbi30SnapshotValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "root", codec_json_bytes(&v->root));
    ok = ok && codec_json_add(json, "digest", codec_json_bytes(&v->digest));
    ok = ok && codec_json_add(json, "state-sum", codec_json_bytes(&v->state_sum));
    ok = ok && codec_json_add(json, "time-ns", codec_json_unsigned(v->time_ns));
    ok = ok && codec_json_add(json, "state-bytes", codec_json_unsigned(v->state_bytes));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi30_snapshot_value_read_json(const json_t *json, WitUniverseDbi30SnapshotValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi30_snapshot_value_names, 5, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "root"), &v->root, error);
        (void)codec_blame(error, "record dbi30-snapshot-value", "root", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "digest"), &v->digest, error);
        (void)codec_blame(error, "record dbi30-snapshot-value", "digest", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "state-sum"), &v->state_sum, error);
        (void)codec_blame(error, "record dbi30-snapshot-value", "state-sum", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "time-ns"), &v->time_ns, error);
        (void)codec_blame(error, "record dbi30-snapshot-value", "time-ns", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "state-bytes"), &v->state_bytes, error);
        (void)codec_blame(error, "record dbi30-snapshot-value", "state-bytes", rc);
    }
    return rc;
}

int wit_universe_dbi30_snapshot_value_to_json(const WitUniverseDbi30SnapshotValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi30_snapshot_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi30_snapshot_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi30_snapshot_value_from_json(const json_t *json, WitUniverseDbi30SnapshotValue *v_out, CodecError *error)
{
    WitUniverseDbi30SnapshotValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi30_snapshot_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi30-snapshot-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi30_snapshot_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi30_snapshot_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi31_baseline_key_names[] = {
    "universe",
    "world",
};

static json_t *wit_universe_dbi31_baseline_key_write_json(const WitUniverseDbi31BaselineKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi31_baseline_key_read_json(const json_t *json, WitUniverseDbi31BaselineKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi31_baseline_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi31-baseline-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi31-baseline-key", "world", rc);
    }
    return rc;
}

int wit_universe_dbi31_baseline_key_to_json(const WitUniverseDbi31BaselineKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi31_baseline_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi31_baseline_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi31_baseline_key_from_json(const json_t *json, WitUniverseDbi31BaselineKey *v_out, CodecError *error)
{
    WitUniverseDbi31BaselineKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi31_baseline_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi31-baseline-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi31_baseline_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi31_baseline_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi31_baseline_value_names[] = {
    "owner",
    "height",
};

static json_t *wit_universe_dbi31_baseline_value_write_json(const WitUniverseDbi31BaselineValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "owner", codec_json_string(&v->owner));
    ok = ok && codec_json_add(json, "height", codec_json_unsigned(v->height));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi31_baseline_value_read_json(const json_t *json, WitUniverseDbi31BaselineValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi31_baseline_value_names, 2, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "owner"), &v->owner, error);
        (void)codec_blame(error, "record dbi31-baseline-value", "owner", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "height"), &v->height, error);
        (void)codec_blame(error, "record dbi31-baseline-value", "height", rc);
    }
    return rc;
}

int wit_universe_dbi31_baseline_value_to_json(const WitUniverseDbi31BaselineValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi31_baseline_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi31_baseline_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi31_baseline_value_from_json(const json_t *json, WitUniverseDbi31BaselineValue *v_out, CodecError *error)
{
    WitUniverseDbi31BaselineValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi31_baseline_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi31-baseline-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi31_baseline_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi31_baseline_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi32_pins_key_names[] = {
    "universe",
    "world",
    "sha256",
};

static json_t *wit_universe_dbi32_pins_key_write_json(const WitUniverseDbi32PinsKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    ok = ok && codec_json_add(json, "sha256", codec_json_bytes(&v->sha256));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi32_pins_key_read_json(const json_t *json, WitUniverseDbi32PinsKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi32_pins_key_names, 3, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi32-pins-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi32-pins-key", "world", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "sha256"), &v->sha256, error);
        (void)codec_blame(error, "record dbi32-pins-key", "sha256", rc);
    }
    return rc;
}

int wit_universe_dbi32_pins_key_to_json(const WitUniverseDbi32PinsKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi32_pins_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi32_pins_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi32_pins_key_from_json(const json_t *json, WitUniverseDbi32PinsKey *v_out, CodecError *error)
{
    WitUniverseDbi32PinsKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi32_pins_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi32-pins-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi32_pins_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi32_pins_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi32_pins_value_names[] = {
    "height",
};

static json_t *wit_universe_dbi32_pins_value_write_json(const WitUniverseDbi32PinsValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "height", codec_json_unsigned(v->height));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi32_pins_value_read_json(const json_t *json, WitUniverseDbi32PinsValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi32_pins_value_names, 1, error);
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "height"), &v->height, error);
        (void)codec_blame(error, "record dbi32-pins-value", "height", rc);
    }
    return rc;
}

int wit_universe_dbi32_pins_value_to_json(const WitUniverseDbi32PinsValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi32_pins_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi32_pins_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi32_pins_value_from_json(const json_t *json, WitUniverseDbi32PinsValue *v_out, CodecError *error)
{
    WitUniverseDbi32PinsValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi32_pins_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi32-pins-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi32_pins_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi32_pins_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi33_segments_key_names[] = {
    "universe",
    "world",
    "end",
};

static json_t *wit_universe_dbi33_segments_key_write_json(const WitUniverseDbi33SegmentsKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    ok = ok && codec_json_add(json, "end", codec_json_unsigned(v->end));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi33_segments_key_read_json(const json_t *json, WitUniverseDbi33SegmentsKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi33_segments_key_names, 3, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi33-segments-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi33-segments-key", "world", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "end"), &v->end, error);
        (void)codec_blame(error, "record dbi33-segments-key", "end", rc);
    }
    return rc;
}

int wit_universe_dbi33_segments_key_to_json(const WitUniverseDbi33SegmentsKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi33_segments_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi33_segments_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi33_segments_key_from_json(const json_t *json, WitUniverseDbi33SegmentsKey *v_out, CodecError *error)
{
    WitUniverseDbi33SegmentsKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi33_segments_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi33-segments-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi33_segments_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi33_segments_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi33_segments_value_names[] = {
    "begin",
    "blob",
};

static json_t *wit_universe_dbi33_segments_value_write_json(const WitUniverseDbi33SegmentsValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "begin", codec_json_unsigned(v->begin));
    ok = ok && codec_json_add(json, "blob", codec_json_bytes(&v->blob));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi33_segments_value_read_json(const json_t *json, WitUniverseDbi33SegmentsValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi33_segments_value_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "begin"), &v->begin, error);
        (void)codec_blame(error, "record dbi33-segments-value", "begin", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "blob"), &v->blob, error);
        (void)codec_blame(error, "record dbi33-segments-value", "blob", rc);
    }
    return rc;
}

int wit_universe_dbi33_segments_value_to_json(const WitUniverseDbi33SegmentsValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi33_segments_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi33_segments_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi33_segments_value_from_json(const json_t *json, WitUniverseDbi33SegmentsValue *v_out, CodecError *error)
{
    WitUniverseDbi33SegmentsValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi33_segments_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi33-segments-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi33_segments_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi33_segments_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_effect_names[] = {
    "world",
    "height",
    "intent-hash",
    "kind",
    "encoding",
    "params",
    "blob",
    "origin-name",
    "policy-context-hash",
    "enqueued-at-ns",
    "retry",
    "attempt",
    "attempts",
    "correlation-id",
    "trace-parent",
};

static json_t *wit_universe_effect_write_json(const WitUniverseEffect *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    ok = ok && codec_json_add(json, "height", codec_json_unsigned(v->height));
    ok = ok && codec_json_add(json, "intent-hash", codec_json_bytes(&v->intent_hash));
    ok = ok && codec_json_add(json, "kind", codec_json_string(&v->kind));
    ok = ok && codec_json_add(json, "encoding", wit_universe_encoding_write_json(&v->encoding));
    ok = ok && codec_json_add(json, "params", codec_json_bytes(&v->params));
    ok = ok && codec_json_add(json, "blob", codec_json_bytes(&v->blob));
    ok = ok && codec_json_add(json, "origin-name", codec_json_string(&v->origin_name));
    ok = ok && codec_json_add(json, "policy-context-hash", codec_json_bytes(&v->policy_context_hash));
    ok = ok && codec_json_add(json, "enqueued-at-ns", codec_json_unsigned(v->enqueued_at_ns));
    ok = ok && codec_json_add(json, "retry", wit_universe_retry_write_json(&v->retry));
    ok = ok && codec_json_add(json, "attempt", codec_json_unsigned(v->attempt));
    ok = ok && codec_json_add(json, "attempts", wit_universe_list_effect_attempt_write_json(&v->attempts));
    ok = ok && codec_json_add(json, "correlation-id", codec_json_string(&v->correlation_id));
    ok = ok && codec_json_add(json, "trace-parent", codec_json_string(&v->trace_parent));
    return codec_json_done(json, ok);
}

static int wit_universe_effect_read_json(const json_t *json, WitUniverseEffect *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_effect_names, 15, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record effect", "world", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "height"), &v->height, error);
        (void)codec_blame(error, "record effect", "height", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "intent-hash"), &v->intent_hash, error);
        (void)codec_blame(error, "record effect", "intent-hash", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "kind"), &v->kind, error);
        (void)codec_blame(error, "record effect", "kind", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_encoding_read_json(json_object_get(json, "encoding"), &v->encoding, error);
        (void)codec_blame(error, "record effect", "encoding", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "params"), &v->params, error);
        (void)codec_blame(error, "record effect", "params", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "blob"), &v->blob, error);
        (void)codec_blame(error, "record effect", "blob", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "origin-name"), &v->origin_name, error);
        (void)codec_blame(error, "record effect", "origin-name", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "policy-context-hash"), &v->policy_context_hash, error);
        (void)codec_blame(error, "record effect", "policy-context-hash", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "enqueued-at-ns"), &v->enqueued_at_ns, error);
        (void)codec_blame(error, "record effect", "enqueued-at-ns", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_retry_read_json(json_object_get(json, "retry"), &v->retry, error);
        (void)codec_blame(error, "record effect", "retry", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "attempt"), &v->attempt, error);
        (void)codec_blame(error, "record effect", "attempt", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_list_effect_attempt_read_json(json_object_get(json, "attempts"), &v->attempts, error);
        (void)codec_blame(error, "record effect", "attempts", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "correlation-id"), &v->correlation_id, error);
        (void)codec_blame(error, "record effect", "correlation-id", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "trace-parent"), &v->trace_parent, error);
        (void)codec_blame(error, "record effect", "trace-parent", rc);
    }
    return rc;
}

int wit_universe_effect_to_json(const WitUniverseEffect *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_effect_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_effect_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_effect_from_json(const json_t *json, WitUniverseEffect *v_out, CodecError *error)
{
    WitUniverseEffect v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_effect_read_json(json, &v, error);
    (void)codec_blame(error, "record effect", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_effect_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_effect_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi34_effects_pending_key_names[] = {
    "universe",
    "shard",
    "kind",
    "due-ns",
    "seq",
};

static json_t *wit_universe_dbi34_effects_pending_key_write_json(const WitUniverseDbi34EffectsPendingKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "shard", codec_json_unsigned(v->shard));
    ok = ok && codec_json_add(json, "kind", codec_json_string(&v->kind));
    ok = ok && codec_json_add(json, "due-ns", codec_json_unsigned(v->due_ns));
    ok = ok && codec_json_add(json, "seq", codec_json_bytes(&v->seq));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi34_effects_pending_key_read_json(const json_t *json, WitUniverseDbi34EffectsPendingKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi34_effects_pending_key_names, 5, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi34-effects-pending-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u8(json_object_get(json, "shard"), &v->shard, error);
        (void)codec_blame(error, "record dbi34-effects-pending-key", "shard", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "kind"), &v->kind, error);
        (void)codec_blame(error, "record dbi34-effects-pending-key", "kind", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "due-ns"), &v->due_ns, error);
        (void)codec_blame(error, "record dbi34-effects-pending-key", "due-ns", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "seq"), &v->seq, error);
        (void)codec_blame(error, "record dbi34-effects-pending-key", "seq", rc);
    }
    return rc;
}

int wit_universe_dbi34_effects_pending_key_to_json(const WitUniverseDbi34EffectsPendingKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi34_effects_pending_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi34_effects_pending_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi34_effects_pending_key_from_json(const json_t *json, WitUniverseDbi34EffectsPendingKey *v_out, CodecError *error)
{
    WitUniverseDbi34EffectsPendingKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi34_effects_pending_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi34-effects-pending-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi34_effects_pending_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi34_effects_pending_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi34_effects_pending_value_names[] = {
    "effect",
};

static json_t *wit_universe_dbi34_effects_pending_value_write_json(const WitUniverseDbi34EffectsPendingValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "effect", wit_universe_effect_write_json(&v->effect));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi34_effects_pending_value_read_json(const json_t *json, WitUniverseDbi34EffectsPendingValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi34_effects_pending_value_names, 1, error);
    if (rc == SAP_OK) {
        rc = wit_universe_effect_read_json(json_object_get(json, "effect"), &v->effect, error);
        (void)codec_blame(error, "record dbi34-effects-pending-value", "effect", rc);
    }
    return rc;
}

int wit_universe_dbi34_effects_pending_value_to_json(const WitUniverseDbi34EffectsPendingValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi34_effects_pending_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi34_effects_pending_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi34_effects_pending_value_from_json(const json_t *json, WitUniverseDbi34EffectsPendingValue *v_out, CodecError *error)
{
    WitUniverseDbi34EffectsPendingValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi34_effects_pending_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi34-effects-pending-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi34_effects_pending_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi34_effects_pending_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi35_effects_inflight_key_names[] = {
    "universe",
    "shard",
    "seq",
};

static json_t *wit_universe_dbi35_effects_inflight_key_write_json(const WitUniverseDbi35EffectsInflightKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "shard", codec_json_unsigned(v->shard));
    ok = ok && codec_json_add(json, "seq", codec_json_bytes(&v->seq));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi35_effects_inflight_key_read_json(const json_t *json, WitUniverseDbi35EffectsInflightKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi35_effects_inflight_key_names, 3, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi35-effects-inflight-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u8(json_object_get(json, "shard"), &v->shard, error);
        (void)codec_blame(error, "record dbi35-effects-inflight-key", "shard", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "seq"), &v->seq, error);
        (void)codec_blame(error, "record dbi35-effects-inflight-key", "seq", rc);
    }
    return rc;
}

int wit_universe_dbi35_effects_inflight_key_to_json(const WitUniverseDbi35EffectsInflightKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi35_effects_inflight_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi35_effects_inflight_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi35_effects_inflight_key_from_json(const json_t *json, WitUniverseDbi35EffectsInflightKey *v_out, CodecError *error)
{
    WitUniverseDbi35EffectsInflightKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi35_effects_inflight_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi35-effects-inflight-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi35_effects_inflight_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi35_effects_inflight_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi35_effects_inflight_value_names[] = {
    "effect",
    "token",
    "claimed-ns",
    "deadline-ns",
    "policy",
    "at-most-once",
    "worker",
    "nonce",
};

static json_t *wit_universe_dbi35_effects_inflight_value_write_json(const WitUniverseDbi35EffectsInflightValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "effect", wit_universe_effect_write_json(&v->effect));
    ok = ok && codec_json_add(json, "token", codec_json_bytes(&v->token));
    ok = ok && codec_json_add(json, "claimed-ns", codec_json_unsigned(v->claimed_ns));
    ok = ok && codec_json_add(json, "deadline-ns", codec_json_unsigned(v->deadline_ns));
    ok = ok && codec_json_add(json, "policy", wit_universe_retry_write_json(&v->policy));
    ok = ok && codec_json_add(json, "at-most-once", json_boolean(v->at_most_once));
    ok = ok && codec_json_add(json, "worker", codec_json_string(&v->worker));
    ok = ok && codec_json_add(json, "nonce", codec_json_bytes(&v->nonce));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi35_effects_inflight_value_read_json(const json_t *json, WitUniverseDbi35EffectsInflightValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi35_effects_inflight_value_names, 8, error);
    if (rc == SAP_OK) {
        rc = wit_universe_effect_read_json(json_object_get(json, "effect"), &v->effect, error);
        (void)codec_blame(error, "record dbi35-effects-inflight-value", "effect", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "token"), &v->token, error);
        (void)codec_blame(error, "record dbi35-effects-inflight-value", "token", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "claimed-ns"), &v->claimed_ns, error);
        (void)codec_blame(error, "record dbi35-effects-inflight-value", "claimed-ns", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "deadline-ns"), &v->deadline_ns, error);
        (void)codec_blame(error, "record dbi35-effects-inflight-value", "deadline-ns", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_retry_read_json(json_object_get(json, "policy"), &v->policy, error);
        (void)codec_blame(error, "record dbi35-effects-inflight-value", "policy", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bool(json_object_get(json, "at-most-once"), &v->at_most_once, error);
        (void)codec_blame(error, "record dbi35-effects-inflight-value", "at-most-once", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "worker"), &v->worker, error);
        (void)codec_blame(error, "record dbi35-effects-inflight-value", "worker", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "nonce"), &v->nonce, error);
        (void)codec_blame(error, "record dbi35-effects-inflight-value", "nonce", rc);
    }
    return rc;
}

int wit_universe_dbi35_effects_inflight_value_to_json(const WitUniverseDbi35EffectsInflightValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi35_effects_inflight_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi35_effects_inflight_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi35_effects_inflight_value_from_json(const json_t *json, WitUniverseDbi35EffectsInflightValue *v_out, CodecError *error)
{
    WitUniverseDbi35EffectsInflightValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi35_effects_inflight_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi35-effects-inflight-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi35_effects_inflight_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi35_effects_inflight_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dispatch_status_names[] = {
    "pending",
    "inflight",
    "complete",
    "cancelled",
};

static json_t *wit_universe_dispatch_status_write_json(const WitUniverseDispatchStatus *v)
{
    return json_string(wit_universe_dispatch_status_names[*v]);
}

static int wit_universe_dispatch_status_read_json(const json_t *json, WitUniverseDispatchStatus *v, CodecError *error)
{
    uint32_t number = 0;
    int rc = codec_json_read_case(json, wit_universe_dispatch_status_names, 4, &number, error);

    *v = (WitUniverseDispatchStatus)number;
    return rc;
}

int wit_universe_dispatch_status_to_json(const WitUniverseDispatchStatus *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dispatch_status_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dispatch_status_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dispatch_status_from_json(const json_t *json, WitUniverseDispatchStatus *v_out, CodecError *error)
{
    WitUniverseDispatchStatus v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dispatch_status_read_json(json, &v, error);
    (void)codec_blame(error, "enum dispatch-status", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dispatch_status_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dispatch_status_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi36_effects_dedupe_key_names[] = {
    "universe",
    "intent-hash",
};

static json_t *wit_universe_dbi36_effects_dedupe_key_write_json(const WitUniverseDbi36EffectsDedupeKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "intent-hash", codec_json_bytes(&v->intent_hash));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi36_effects_dedupe_key_read_json(const json_t *json, WitUniverseDbi36EffectsDedupeKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi36_effects_dedupe_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi36-effects-dedupe-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "intent-hash"), &v->intent_hash, error);
        (void)codec_blame(error, "record dbi36-effects-dedupe-key", "intent-hash", rc);
    }
    return rc;
}

int wit_universe_dbi36_effects_dedupe_key_to_json(const WitUniverseDbi36EffectsDedupeKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi36_effects_dedupe_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi36_effects_dedupe_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi36_effects_dedupe_key_from_json(const json_t *json, WitUniverseDbi36EffectsDedupeKey *v_out, CodecError *error)
{
    WitUniverseDbi36EffectsDedupeKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi36_effects_dedupe_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi36-effects-dedupe-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi36_effects_dedupe_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi36_effects_dedupe_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi36_effects_dedupe_value_names[] = {
    "status",
    "world",
    "table",
    "key",
};

static json_t *wit_universe_dbi36_effects_dedupe_value_write_json(const WitUniverseDbi36EffectsDedupeValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "status", wit_universe_dispatch_status_write_json(&v->status));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    ok = ok && codec_json_add(json, "table", codec_json_unsigned(v->table));
    ok = ok && codec_json_add(json, "key", codec_json_bytes(&v->key));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi36_effects_dedupe_value_read_json(const json_t *json, WitUniverseDbi36EffectsDedupeValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi36_effects_dedupe_value_names, 4, error);
    if (rc == SAP_OK) {
        rc = wit_universe_dispatch_status_read_json(json_object_get(json, "status"), &v->status, error);
        (void)codec_blame(error, "record dbi36-effects-dedupe-value", "status", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi36-effects-dedupe-value", "world", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "table"), &v->table, error);
        (void)codec_blame(error, "record dbi36-effects-dedupe-value", "table", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "key"), &v->key, error);
        (void)codec_blame(error, "record dbi36-effects-dedupe-value", "key", rc);
    }
    return rc;
}

int wit_universe_dbi36_effects_dedupe_value_to_json(const WitUniverseDbi36EffectsDedupeValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi36_effects_dedupe_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi36_effects_dedupe_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi36_effects_dedupe_value_from_json(const json_t *json, WitUniverseDbi36EffectsDedupeValue *v_out, CodecError *error)
{
    WitUniverseDbi36EffectsDedupeValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi36_effects_dedupe_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi36-effects-dedupe-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi36_effects_dedupe_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi36_effects_dedupe_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_timer_use_names[] = {
    "timer",
    "ask",
    "promise",
};

static json_t *wit_universe_timer_use_write_json(const WitUniverseTimerUse *v)
{
    return json_string(wit_universe_timer_use_names[*v]);
}

static int wit_universe_timer_use_read_json(const json_t *json, WitUniverseTimerUse *v, CodecError *error)
{
    uint32_t number = 0;
    int rc = codec_json_read_case(json, wit_universe_timer_use_names, 3, &number, error);

    *v = (WitUniverseTimerUse)number;
    return rc;
}

int wit_universe_timer_use_to_json(const WitUniverseTimerUse *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_timer_use_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_timer_use_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_timer_use_from_json(const json_t *json, WitUniverseTimerUse *v_out, CodecError *error)
{
    WitUniverseTimerUse v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_timer_use_read_json(json, &v, error);
    (void)codec_blame(error, "enum timer-use", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_timer_use_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_timer_use_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi37_timers_due_key_names[] = {
    "universe",
    "shard",
    "clock",
    "deliver-at-ns",
    "intent-hash",
};

static json_t *wit_universe_dbi37_timers_due_key_write_json(const WitUniverseDbi37TimersDueKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "shard", codec_json_unsigned(v->shard));
    ok = ok && codec_json_add(json, "clock", wit_universe_timer_clock_write_json(&v->clock));
    ok = ok && codec_json_add(json, "deliver-at-ns", codec_json_unsigned(v->deliver_at_ns));
    ok = ok && codec_json_add(json, "intent-hash", codec_json_bytes(&v->intent_hash));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi37_timers_due_key_read_json(const json_t *json, WitUniverseDbi37TimersDueKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi37_timers_due_key_names, 5, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi37-timers-due-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u8(json_object_get(json, "shard"), &v->shard, error);
        (void)codec_blame(error, "record dbi37-timers-due-key", "shard", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_timer_clock_read_json(json_object_get(json, "clock"), &v->clock, error);
        (void)codec_blame(error, "record dbi37-timers-due-key", "clock", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "deliver-at-ns"), &v->deliver_at_ns, error);
        (void)codec_blame(error, "record dbi37-timers-due-key", "deliver-at-ns", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "intent-hash"), &v->intent_hash, error);
        (void)codec_blame(error, "record dbi37-timers-due-key", "intent-hash", rc);
    }
    return rc;
}

int wit_universe_dbi37_timers_due_key_to_json(const WitUniverseDbi37TimersDueKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi37_timers_due_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi37_timers_due_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi37_timers_due_key_from_json(const json_t *json, WitUniverseDbi37TimersDueKey *v_out, CodecError *error)
{
    WitUniverseDbi37TimersDueKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi37_timers_due_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi37-timers-due-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi37_timers_due_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi37_timers_due_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi37_timers_due_value_names[] = {
    "world",
    "height",
    "ref",
    "encoding",
    "payload",
    "use",
    "correlation-id",
    "trace-parent",
};

static json_t *wit_universe_dbi37_timers_due_value_write_json(const WitUniverseDbi37TimersDueValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    ok = ok && codec_json_add(json, "height", codec_json_unsigned(v->height));
    ok = ok && codec_json_add(json, "ref", codec_json_string(&v->ref));
    ok = ok && codec_json_add(json, "encoding", wit_universe_encoding_write_json(&v->encoding));
    ok = ok && codec_json_add(json, "payload", codec_json_bytes(&v->payload));
    ok = ok && codec_json_add(json, "use", wit_universe_timer_use_write_json(&v->use));
    ok = ok && codec_json_add(json, "correlation-id", codec_json_string(&v->correlation_id));
    ok = ok && codec_json_add(json, "trace-parent", codec_json_string(&v->trace_parent));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi37_timers_due_value_read_json(const json_t *json, WitUniverseDbi37TimersDueValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi37_timers_due_value_names, 8, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi37-timers-due-value", "world", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "height"), &v->height, error);
        (void)codec_blame(error, "record dbi37-timers-due-value", "height", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "ref"), &v->ref, error);
        (void)codec_blame(error, "record dbi37-timers-due-value", "ref", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_encoding_read_json(json_object_get(json, "encoding"), &v->encoding, error);
        (void)codec_blame(error, "record dbi37-timers-due-value", "encoding", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "payload"), &v->payload, error);
        (void)codec_blame(error, "record dbi37-timers-due-value", "payload", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_timer_use_read_json(json_object_get(json, "use"), &v->use, error);
        (void)codec_blame(error, "record dbi37-timers-due-value", "use", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "correlation-id"), &v->correlation_id, error);
        (void)codec_blame(error, "record dbi37-timers-due-value", "correlation-id", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "trace-parent"), &v->trace_parent, error);
        (void)codec_blame(error, "record dbi37-timers-due-value", "trace-parent", rc);
    }
    return rc;
}

int wit_universe_dbi37_timers_due_value_to_json(const WitUniverseDbi37TimersDueValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi37_timers_due_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi37_timers_due_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi37_timers_due_value_from_json(const json_t *json, WitUniverseDbi37TimersDueValue *v_out, CodecError *error)
{
    WitUniverseDbi37TimersDueValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi37_timers_due_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi37-timers-due-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi37_timers_due_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi37_timers_due_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi38_timers_dedupe_key_names[] = {
    "universe",
    "intent-hash",
};

static json_t *wit_universe_dbi38_timers_dedupe_key_write_json(const WitUniverseDbi38TimersDedupeKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "intent-hash", codec_json_bytes(&v->intent_hash));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi38_timers_dedupe_key_read_json(const json_t *json, WitUniverseDbi38TimersDedupeKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi38_timers_dedupe_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi38-timers-dedupe-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "intent-hash"), &v->intent_hash, error);
        (void)codec_blame(error, "record dbi38-timers-dedupe-key", "intent-hash", rc);
    }
    return rc;
}

int wit_universe_dbi38_timers_dedupe_key_to_json(const WitUniverseDbi38TimersDedupeKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi38_timers_dedupe_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi38_timers_dedupe_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi38_timers_dedupe_key_from_json(const json_t *json, WitUniverseDbi38TimersDedupeKey *v_out, CodecError *error)
{
    WitUniverseDbi38TimersDedupeKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi38_timers_dedupe_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi38-timers-dedupe-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi38_timers_dedupe_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi38_timers_dedupe_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi38_timers_dedupe_value_names[] = {
    "key",
};

static json_t *wit_universe_dbi38_timers_dedupe_value_write_json(const WitUniverseDbi38TimersDedupeValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "key", codec_json_bytes(&v->key));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi38_timers_dedupe_value_read_json(const json_t *json, WitUniverseDbi38TimersDedupeValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi38_timers_dedupe_value_names, 1, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "key"), &v->key, error);
        (void)codec_blame(error, "record dbi38-timers-dedupe-value", "key", rc);
    }
    return rc;
}

int wit_universe_dbi38_timers_dedupe_value_to_json(const WitUniverseDbi38TimersDedupeValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi38_timers_dedupe_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi38_timers_dedupe_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi38_timers_dedupe_value_from_json(const json_t *json, WitUniverseDbi38TimersDedupeValue *v_out, CodecError *error)
{
    WitUniverseDbi38TimersDedupeValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi38_timers_dedupe_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi38-timers-dedupe-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi38_timers_dedupe_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi38_timers_dedupe_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi39_ready_key_names[] = {
    "universe",
    "shard",
    "priority",
    "seq",
    "world",
};

static json_t *wit_universe_dbi39_ready_key_write_json(const WitUniverseDbi39ReadyKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "shard", codec_json_unsigned(v->shard));
    ok = ok && codec_json_add(json, "priority", codec_json_unsigned(v->priority));
    ok = ok && codec_json_add(json, "seq", codec_json_bytes(&v->seq));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi39_ready_key_read_json(const json_t *json, WitUniverseDbi39ReadyKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi39_ready_key_names, 5, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi39-ready-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u8(json_object_get(json, "shard"), &v->shard, error);
        (void)codec_blame(error, "record dbi39-ready-key", "shard", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u8(json_object_get(json, "priority"), &v->priority, error);
        (void)codec_blame(error, "record dbi39-ready-key", "priority", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "seq"), &v->seq, error);
        (void)codec_blame(error, "record dbi39-ready-key", "seq", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi39-ready-key", "world", rc);
    }
    return rc;
}

int wit_universe_dbi39_ready_key_to_json(const WitUniverseDbi39ReadyKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi39_ready_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi39_ready_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi39_ready_key_from_json(const json_t *json, WitUniverseDbi39ReadyKey *v_out, CodecError *error)
{
    WitUniverseDbi39ReadyKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi39_ready_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi39-ready-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi39_ready_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi39_ready_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi39_ready_value_names[] = {
    "value",
};

static json_t *wit_universe_dbi39_ready_value_write_json(const WitUniverseDbi39ReadyValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "value", codec_json_bytes(&v->value));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi39_ready_value_read_json(const json_t *json, WitUniverseDbi39ReadyValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi39_ready_value_names, 1, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "value"), &v->value, error);
        (void)codec_blame(error, "record dbi39-ready-value", "value", rc);
    }
    return rc;
}

int wit_universe_dbi39_ready_value_to_json(const WitUniverseDbi39ReadyValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi39_ready_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi39_ready_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi39_ready_value_from_json(const json_t *json, WitUniverseDbi39ReadyValue *v_out, CodecError *error)
{
    WitUniverseDbi39ReadyValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi39_ready_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi39-ready-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi39_ready_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi39_ready_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi40_rolelease_key_names[] = {
    "universe",
    "role",
    "shard",
};

static json_t *wit_universe_dbi40_rolelease_key_write_json(const WitUniverseDbi40RoleleaseKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "role", codec_json_string(&v->role));
    ok = ok && codec_json_add(json, "shard", codec_json_unsigned(v->shard));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi40_rolelease_key_read_json(const json_t *json, WitUniverseDbi40RoleleaseKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi40_rolelease_key_names, 3, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi40-rolelease-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "role"), &v->role, error);
        (void)codec_blame(error, "record dbi40-rolelease-key", "role", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u8(json_object_get(json, "shard"), &v->shard, error);
        (void)codec_blame(error, "record dbi40-rolelease-key", "shard", rc);
    }
    return rc;
}

int wit_universe_dbi40_rolelease_key_to_json(const WitUniverseDbi40RoleleaseKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi40_rolelease_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi40_rolelease_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi40_rolelease_key_from_json(const json_t *json, WitUniverseDbi40RoleleaseKey *v_out, CodecError *error)
{
    WitUniverseDbi40RoleleaseKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi40_rolelease_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi40-rolelease-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi40_rolelease_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi40_rolelease_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi40_rolelease_value_names[] = {
    "holder",
    "nonce",
    "epoch",
    "unclean",
};

static json_t *wit_universe_dbi40_rolelease_value_write_json(const WitUniverseDbi40RoleleaseValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "holder", codec_json_string(&v->holder));
    ok = ok && codec_json_add(json, "nonce", codec_json_bytes(&v->nonce));
    ok = ok && codec_json_add(json, "epoch", codec_json_unsigned(v->epoch));
    ok = ok && codec_json_add(json, "unclean", json_boolean(v->unclean));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi40_rolelease_value_read_json(const json_t *json, WitUniverseDbi40RoleleaseValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi40_rolelease_value_names, 4, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "holder"), &v->holder, error);
        (void)codec_blame(error, "record dbi40-rolelease-value", "holder", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "nonce"), &v->nonce, error);
        (void)codec_blame(error, "record dbi40-rolelease-value", "nonce", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "epoch"), &v->epoch, error);
        (void)codec_blame(error, "record dbi40-rolelease-value", "epoch", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bool(json_object_get(json, "unclean"), &v->unclean, error);
        (void)codec_blame(error, "record dbi40-rolelease-value", "unclean", rc);
    }
    return rc;
}

int wit_universe_dbi40_rolelease_value_to_json(const WitUniverseDbi40RoleleaseValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi40_rolelease_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi40_rolelease_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi40_rolelease_value_from_json(const json_t *json, WitUniverseDbi40RoleleaseValue *v_out, CodecError *error)
{
    WitUniverseDbi40RoleleaseValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi40_rolelease_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi40-rolelease-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi40_rolelease_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi40_rolelease_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi41_expiry_key_names[] = {
    "universe",
    "at-ns",
    "seq",
};

static json_t *wit_universe_dbi41_expiry_key_write_json(const WitUniverseDbi41ExpiryKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "at-ns", codec_json_unsigned(v->at_ns));
    ok = ok && codec_json_add(json, "seq", codec_json_bytes(&v->seq));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi41_expiry_key_read_json(const json_t *json, WitUniverseDbi41ExpiryKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi41_expiry_key_names, 3, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi41-expiry-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "at-ns"), &v->at_ns, error);
        (void)codec_blame(error, "record dbi41-expiry-key", "at-ns", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "seq"), &v->seq, error);
        (void)codec_blame(error, "record dbi41-expiry-key", "seq", rc);
    }
    return rc;
}

int wit_universe_dbi41_expiry_key_to_json(const WitUniverseDbi41ExpiryKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi41_expiry_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi41_expiry_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi41_expiry_key_from_json(const json_t *json, WitUniverseDbi41ExpiryKey *v_out, CodecError *error)
{
    WitUniverseDbi41ExpiryKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi41_expiry_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi41-expiry-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi41_expiry_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi41_expiry_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi41_expiry_value_names[] = {
    "table",
    "key",
};

static json_t *wit_universe_dbi41_expiry_value_write_json(const WitUniverseDbi41ExpiryValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "table", codec_json_unsigned(v->table));
    ok = ok && codec_json_add(json, "key", codec_json_bytes(&v->key));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi41_expiry_value_read_json(const json_t *json, WitUniverseDbi41ExpiryValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi41_expiry_value_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "table"), &v->table, error);
        (void)codec_blame(error, "record dbi41-expiry-value", "table", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "key"), &v->key, error);
        (void)codec_blame(error, "record dbi41-expiry-value", "key", rc);
    }
    return rc;
}

int wit_universe_dbi41_expiry_value_to_json(const WitUniverseDbi41ExpiryValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi41_expiry_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi41_expiry_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi41_expiry_value_from_json(const json_t *json, WitUniverseDbi41ExpiryValue *v_out, CodecError *error)
{
    WitUniverseDbi41ExpiryValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi41_expiry_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi41-expiry-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi41_expiry_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi41_expiry_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi42_promises_key_names[] = {
    "universe",
    "id",
};

static json_t *wit_universe_dbi42_promises_key_write_json(const WitUniverseDbi42PromisesKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "id", codec_json_bytes(&v->id));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi42_promises_key_read_json(const json_t *json, WitUniverseDbi42PromisesKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi42_promises_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi42-promises-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "id"), &v->id, error);
        (void)codec_blame(error, "record dbi42-promises-key", "id", rc);
    }
    return rc;
}

int wit_universe_dbi42_promises_key_to_json(const WitUniverseDbi42PromisesKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi42_promises_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi42_promises_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi42_promises_key_from_json(const json_t *json, WitUniverseDbi42PromisesKey *v_out, CodecError *error)
{
    WitUniverseDbi42PromisesKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi42_promises_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi42-promises-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi42_promises_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi42_promises_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi42_promises_value_names[] = {
    "world",
    "intent-hash",
    "deadline-ns",
    "height",
    "ref",
    "correlation-id",
    "trace-parent",
};

static json_t *wit_universe_dbi42_promises_value_write_json(const WitUniverseDbi42PromisesValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    ok = ok && codec_json_add(json, "intent-hash", codec_json_bytes(&v->intent_hash));
    ok = ok && codec_json_add(json, "deadline-ns", codec_json_unsigned(v->deadline_ns));
    ok = ok && codec_json_add(json, "height", codec_json_unsigned(v->height));
    ok = ok && codec_json_add(json, "ref", codec_json_string(&v->ref));
    ok = ok && codec_json_add(json, "correlation-id", codec_json_string(&v->correlation_id));
    ok = ok && codec_json_add(json, "trace-parent", codec_json_string(&v->trace_parent));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi42_promises_value_read_json(const json_t *json, WitUniverseDbi42PromisesValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi42_promises_value_names, 7, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi42-promises-value", "world", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "intent-hash"), &v->intent_hash, error);
        (void)codec_blame(error, "record dbi42-promises-value", "intent-hash", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "deadline-ns"), &v->deadline_ns, error);
        (void)codec_blame(error, "record dbi42-promises-value", "deadline-ns", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "height"), &v->height, error);
        (void)codec_blame(error, "record dbi42-promises-value", "height", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "ref"), &v->ref, error);
        (void)codec_blame(error, "record dbi42-promises-value", "ref", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "correlation-id"), &v->correlation_id, error);
        (void)codec_blame(error, "record dbi42-promises-value", "correlation-id", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "trace-parent"), &v->trace_parent, error);
        (void)codec_blame(error, "record dbi42-promises-value", "trace-parent", rc);
    }
    return rc;
}

int wit_universe_dbi42_promises_value_to_json(const WitUniverseDbi42PromisesValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi42_promises_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi42_promises_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi42_promises_value_from_json(const json_t *json, WitUniverseDbi42PromisesValue *v_out, CodecError *error)
{
    WitUniverseDbi42PromisesValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi42_promises_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi42-promises-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi42_promises_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi42_promises_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_module_state_names[] = {
    "whole",
    "ask",
};

static json_t *wit_universe_module_state_write_json(const WitUniverseModuleState *v)
{
    return json_string(wit_universe_module_state_names[*v]);
}

static int wit_universe_module_state_read_json(const json_t *json, WitUniverseModuleState *v, CodecError *error)
{
    uint32_t number = 0;
    int rc = codec_json_read_case(json, wit_universe_module_state_names, 2, &number, error);

    *v = (WitUniverseModuleState)number;
    return rc;
}

int wit_universe_module_state_to_json(const WitUniverseModuleState *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_module_state_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_module_state_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_module_state_from_json(const json_t *json, WitUniverseModuleState *v_out, CodecError *error)
{
    WitUniverseModuleState v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_module_state_read_json(json, &v, error);
    (void)codec_blame(error, "enum module-state", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_module_state_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_module_state_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi43_modules_key_names[] = {
    "universe",
    "name",
    "version",
};

static json_t *wit_universe_dbi43_modules_key_write_json(const WitUniverseDbi43ModulesKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "name", codec_json_string(&v->name));
    ok = ok && codec_json_add(json, "version", codec_json_unsigned(v->version));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi43_modules_key_read_json(const json_t *json, WitUniverseDbi43ModulesKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi43_modules_key_names, 3, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi43-modules-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "name"), &v->name, error);
        (void)codec_blame(error, "record dbi43-modules-key", "name", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "version"), &v->version, error);
        (void)codec_blame(error, "record dbi43-modules-key", "version", rc);
    }
    return rc;
}

int wit_universe_dbi43_modules_key_to_json(const WitUniverseDbi43ModulesKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi43_modules_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi43_modules_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi43_modules_key_from_json(const json_t *json, WitUniverseDbi43ModulesKey *v_out, CodecError *error)
{
    WitUniverseDbi43ModulesKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi43_modules_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi43-modules-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi43_modules_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi43_modules_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi43_modules_value_names[] = {
    "runner",
    "code",
    "max-attempts",
    "skip",
    "registered-ns",
    "resumed",
    "state",
    "timeout-ns",
    "settings",
    "schemas",
};

static json_t *wit_universe_dbi43_modules_value_write_json(const WitUniverseDbi43ModulesValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "runner", codec_json_string(&v->runner));
    ok = ok && codec_json_add(json, "code", codec_json_bytes(&v->code));
    ok = ok && codec_json_add(json, "max-attempts", codec_json_unsigned(v->max_attempts));
    ok = ok && codec_json_add(json, "skip", json_boolean(v->skip));
    ok = ok && codec_json_add(json, "registered-ns", codec_json_unsigned(v->registered_ns));
    ok = ok && codec_json_add(json, "resumed", json_boolean(v->resumed));
    ok = ok && codec_json_add(json, "state", wit_universe_module_state_write_json(&v->state));
    ok = ok && codec_json_add(json, "timeout-ns", codec_json_unsigned(v->timeout_ns));
    ok = ok && codec_json_add(json, "settings", codec_json_string(&v->settings));
    ok = ok && codec_json_add(json, "schemas", codec_json_string(&v->schemas));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi43_modules_value_read_json(const json_t *json, WitUniverseDbi43ModulesValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi43_modules_value_names, 10, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "runner"), &v->runner, error);
        (void)codec_blame(error, "record dbi43-modules-value", "runner", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "code"), &v->code, error);
        (void)codec_blame(error, "record dbi43-modules-value", "code", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "max-attempts"), &v->max_attempts, error);
        (void)codec_blame(error, "record dbi43-modules-value", "max-attempts", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bool(json_object_get(json, "skip"), &v->skip, error);
        (void)codec_blame(error, "record dbi43-modules-value", "skip", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "registered-ns"), &v->registered_ns, error);
        (void)codec_blame(error, "record dbi43-modules-value", "registered-ns", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bool(json_object_get(json, "resumed"), &v->resumed, error);
        (void)codec_blame(error, "record dbi43-modules-value", "resumed", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_module_state_read_json(json_object_get(json, "state"), &v->state, error);
        (void)codec_blame(error, "record dbi43-modules-value", "state", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "timeout-ns"), &v->timeout_ns, error);
        (void)codec_blame(error, "record dbi43-modules-value", "timeout-ns", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "settings"), &v->settings, error);
        (void)codec_blame(error, "record dbi43-modules-value", "settings", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "schemas"), &v->schemas, error);
        (void)codec_blame(error, "record dbi43-modules-value", "schemas", rc);
    }
    return rc;
}

int wit_universe_dbi43_modules_value_to_json(const WitUniverseDbi43ModulesValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi43_modules_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi43_modules_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi43_modules_value_from_json(const json_t *json, WitUniverseDbi43ModulesValue *v_out, CodecError *error)
{
    WitUniverseDbi43ModulesValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi43_modules_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi43-modules-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi43_modules_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi43_modules_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi44_cron_key_names[] = {
    "universe",
    "id",
};

static json_t *wit_universe_dbi44_cron_key_write_json(const WitUniverseDbi44CronKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "id", codec_json_string(&v->id));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi44_cron_key_read_json(const json_t *json, WitUniverseDbi44CronKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi44_cron_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi44-cron-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "id"), &v->id, error);
        (void)codec_blame(error, "record dbi44-cron-key", "id", rc);
    }
    return rc;
}

int wit_universe_dbi44_cron_key_to_json(const WitUniverseDbi44CronKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi44_cron_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi44_cron_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi44_cron_key_from_json(const json_t *json, WitUniverseDbi44CronKey *v_out, CodecError *error)
{
    WitUniverseDbi44CronKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi44_cron_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi44-cron-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi44_cron_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi44_cron_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi44_cron_value_names[] = {
    "schedule",
    "world",
    "name",
    "encoding",
    "payload",
    "next-ns",
};

static json_t *wit_universe_dbi44_cron_value_write_json(const WitUniverseDbi44CronValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "schedule", codec_json_string(&v->schedule));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    ok = ok && codec_json_add(json, "name", codec_json_string(&v->name));
    ok = ok && codec_json_add(json, "encoding", wit_universe_encoding_write_json(&v->encoding));
    ok = ok && codec_json_add(json, "payload", codec_json_bytes(&v->payload));
    ok = ok && codec_json_add(json, "next-ns", codec_json_unsigned(v->next_ns));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi44_cron_value_read_json(const json_t *json, WitUniverseDbi44CronValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi44_cron_value_names, 6, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "schedule"), &v->schedule, error);
        (void)codec_blame(error, "record dbi44-cron-value", "schedule", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi44-cron-value", "world", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "name"), &v->name, error);
        (void)codec_blame(error, "record dbi44-cron-value", "name", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_encoding_read_json(json_object_get(json, "encoding"), &v->encoding, error);
        (void)codec_blame(error, "record dbi44-cron-value", "encoding", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "payload"), &v->payload, error);
        (void)codec_blame(error, "record dbi44-cron-value", "payload", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "next-ns"), &v->next_ns, error);
        (void)codec_blame(error, "record dbi44-cron-value", "next-ns", rc);
    }
    return rc;
}

int wit_universe_dbi44_cron_value_to_json(const WitUniverseDbi44CronValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi44_cron_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi44_cron_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi44_cron_value_from_json(const json_t *json, WitUniverseDbi44CronValue *v_out, CodecError *error)
{
    WitUniverseDbi44CronValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi44_cron_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi44-cron-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi44_cron_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi44_cron_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi45_kinds_key_names[] = {
    "universe",
    "kind",
    "node",
};

static json_t *wit_universe_dbi45_kinds_key_write_json(const WitUniverseDbi45KindsKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "kind", codec_json_string(&v->kind));
    ok = ok && codec_json_add(json, "node", codec_json_string(&v->node));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi45_kinds_key_read_json(const json_t *json, WitUniverseDbi45KindsKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi45_kinds_key_names, 3, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi45-kinds-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "kind"), &v->kind, error);
        (void)codec_blame(error, "record dbi45-kinds-key", "kind", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "node"), &v->node, error);
        (void)codec_blame(error, "record dbi45-kinds-key", "node", rc);
    }
    return rc;
}

int wit_universe_dbi45_kinds_key_to_json(const WitUniverseDbi45KindsKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi45_kinds_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi45_kinds_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi45_kinds_key_from_json(const json_t *json, WitUniverseDbi45KindsKey *v_out, CodecError *error)
{
    WitUniverseDbi45KindsKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi45_kinds_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi45-kinds-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi45_kinds_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi45_kinds_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi45_kinds_value_names[] = {
    "nonce",
    "at-most-once",
    "retry",
};

static json_t *wit_universe_dbi45_kinds_value_write_json(const WitUniverseDbi45KindsValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "nonce", codec_json_bytes(&v->nonce));
    ok = ok && codec_json_add(json, "at-most-once", json_boolean(v->at_most_once));
    ok = ok && codec_json_add(json, "retry", wit_universe_retry_write_json(&v->retry));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi45_kinds_value_read_json(const json_t *json, WitUniverseDbi45KindsValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi45_kinds_value_names, 3, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "nonce"), &v->nonce, error);
        (void)codec_blame(error, "record dbi45-kinds-value", "nonce", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bool(json_object_get(json, "at-most-once"), &v->at_most_once, error);
        (void)codec_blame(error, "record dbi45-kinds-value", "at-most-once", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_retry_read_json(json_object_get(json, "retry"), &v->retry, error);
        (void)codec_blame(error, "record dbi45-kinds-value", "retry", rc);
    }
    return rc;
}

int wit_universe_dbi45_kinds_value_to_json(const WitUniverseDbi45KindsValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi45_kinds_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi45_kinds_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi45_kinds_value_from_json(const json_t *json, WitUniverseDbi45KindsValue *v_out, CodecError *error)
{
    WitUniverseDbi45KindsValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi45_kinds_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi45-kinds-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi45_kinds_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi45_kinds_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi46_tags_key_names[] = {
    "universe",
    "tag",
    "world",
};

static json_t *wit_universe_dbi46_tags_key_write_json(const WitUniverseDbi46TagsKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "tag", codec_json_string(&v->tag));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi46_tags_key_read_json(const json_t *json, WitUniverseDbi46TagsKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi46_tags_key_names, 3, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi46-tags-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "tag"), &v->tag, error);
        (void)codec_blame(error, "record dbi46-tags-key", "tag", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi46-tags-key", "world", rc);
    }
    return rc;
}

int wit_universe_dbi46_tags_key_to_json(const WitUniverseDbi46TagsKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi46_tags_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi46_tags_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi46_tags_key_from_json(const json_t *json, WitUniverseDbi46TagsKey *v_out, CodecError *error)
{
    WitUniverseDbi46TagsKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi46_tags_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi46-tags-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi46_tags_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi46_tags_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi46_tags_value_names[] = {
    "value",
};

static json_t *wit_universe_dbi46_tags_value_write_json(const WitUniverseDbi46TagsValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "value", codec_json_bytes(&v->value));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi46_tags_value_read_json(const json_t *json, WitUniverseDbi46TagsValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi46_tags_value_names, 1, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "value"), &v->value, error);
        (void)codec_blame(error, "record dbi46-tags-value", "value", rc);
    }
    return rc;
}

int wit_universe_dbi46_tags_value_to_json(const WitUniverseDbi46TagsValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi46_tags_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi46_tags_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi46_tags_value_from_json(const json_t *json, WitUniverseDbi46TagsValue *v_out, CodecError *error)
{
    WitUniverseDbi46TagsValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi46_tags_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi46-tags-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi46_tags_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi46_tags_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi48_world_tags_key_names[] = {
    "universe",
    "world",
    "name",
};

static json_t *wit_universe_dbi48_world_tags_key_write_json(const WitUniverseDbi48WorldTagsKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    ok = ok && codec_json_add(json, "name", codec_json_string(&v->name));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi48_world_tags_key_read_json(const json_t *json, WitUniverseDbi48WorldTagsKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi48_world_tags_key_names, 3, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi48-world-tags-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi48-world-tags-key", "world", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "name"), &v->name, error);
        (void)codec_blame(error, "record dbi48-world-tags-key", "name", rc);
    }
    return rc;
}

int wit_universe_dbi48_world_tags_key_to_json(const WitUniverseDbi48WorldTagsKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi48_world_tags_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi48_world_tags_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi48_world_tags_key_from_json(const json_t *json, WitUniverseDbi48WorldTagsKey *v_out, CodecError *error)
{
    WitUniverseDbi48WorldTagsKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi48_world_tags_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi48-world-tags-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi48_world_tags_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi48_world_tags_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi48_world_tags_value_names[] = {
    "value",
};

static json_t *wit_universe_dbi48_world_tags_value_write_json(const WitUniverseDbi48WorldTagsValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "value", codec_json_string(&v->value));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi48_world_tags_value_read_json(const json_t *json, WitUniverseDbi48WorldTagsValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi48_world_tags_value_names, 1, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "value"), &v->value, error);
        (void)codec_blame(error, "record dbi48-world-tags-value", "value", rc);
    }
    return rc;
}

int wit_universe_dbi48_world_tags_value_to_json(const WitUniverseDbi48WorldTagsValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi48_world_tags_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi48_world_tags_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi48_world_tags_value_from_json(const json_t *json, WitUniverseDbi48WorldTagsValue *v_out, CodecError *error)
{
    WitUniverseDbi48WorldTagsValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi48_world_tags_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi48-world-tags-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi48_world_tags_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi48_world_tags_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi49_results_key_names[] = {
    "universe",
    "world",
};

static json_t *wit_universe_dbi49_results_key_write_json(const WitUniverseDbi49ResultsKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi49_results_key_read_json(const json_t *json, WitUniverseDbi49ResultsKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi49_results_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi49-results-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi49-results-key", "world", rc);
    }
    return rc;
}

int wit_universe_dbi49_results_key_to_json(const WitUniverseDbi49ResultsKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi49_results_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi49_results_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi49_results_key_from_json(const json_t *json, WitUniverseDbi49ResultsKey *v_out, CodecError *error)
{
    WitUniverseDbi49ResultsKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi49_results_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi49-results-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi49_results_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi49_results_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi49_results_value_names[] = {
    "status",
    "encoding",
    "payload",
    "height",
};

static json_t *wit_universe_dbi49_results_value_write_json(const WitUniverseDbi49ResultsValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "status", wit_universe_receipt_status_write_json(&v->status));
    ok = ok && codec_json_add(json, "encoding", wit_universe_encoding_write_json(&v->encoding));
    ok = ok && codec_json_add(json, "payload", codec_json_bytes(&v->payload));
    ok = ok && codec_json_add(json, "height", codec_json_unsigned(v->height));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi49_results_value_read_json(const json_t *json, WitUniverseDbi49ResultsValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi49_results_value_names, 4, error);
    if (rc == SAP_OK) {
        rc = wit_universe_receipt_status_read_json(json_object_get(json, "status"), &v->status, error);
        (void)codec_blame(error, "record dbi49-results-value", "status", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_universe_encoding_read_json(json_object_get(json, "encoding"), &v->encoding, error);
        (void)codec_blame(error, "record dbi49-results-value", "encoding", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "payload"), &v->payload, error);
        (void)codec_blame(error, "record dbi49-results-value", "payload", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "height"), &v->height, error);
        (void)codec_blame(error, "record dbi49-results-value", "height", rc);
    }
    return rc;
}

int wit_universe_dbi49_results_value_to_json(const WitUniverseDbi49ResultsValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi49_results_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi49_results_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi49_results_value_from_json(const json_t *json, WitUniverseDbi49ResultsValue *v_out, CodecError *error)
{
    WitUniverseDbi49ResultsValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi49_results_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi49-results-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi49_results_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi49_results_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi47_idempotency_key_names[] = {
    "universe",
    "scope",
    "key",
};

static json_t *wit_universe_dbi47_idempotency_key_write_json(const WitUniverseDbi47IdempotencyKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "scope", codec_json_string(&v->scope));
    ok = ok && codec_json_add(json, "key", codec_json_string(&v->key));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi47_idempotency_key_read_json(const json_t *json, WitUniverseDbi47IdempotencyKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi47_idempotency_key_names, 3, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi47-idempotency-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "scope"), &v->scope, error);
        (void)codec_blame(error, "record dbi47-idempotency-key", "scope", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "key"), &v->key, error);
        (void)codec_blame(error, "record dbi47-idempotency-key", "key", rc);
    }
    return rc;
}

int wit_universe_dbi47_idempotency_key_to_json(const WitUniverseDbi47IdempotencyKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi47_idempotency_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi47_idempotency_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi47_idempotency_key_from_json(const json_t *json, WitUniverseDbi47IdempotencyKey *v_out, CodecError *error)
{
    WitUniverseDbi47IdempotencyKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi47_idempotency_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi47-idempotency-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi47_idempotency_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi47_idempotency_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi47_idempotency_value_names[] = {
    "request",
    "answer",
    "expires-ns",
};

static json_t *wit_universe_dbi47_idempotency_value_write_json(const WitUniverseDbi47IdempotencyValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "request", codec_json_bytes(&v->request));
    ok = ok && codec_json_add(json, "answer", codec_json_bytes(&v->answer));
    ok = ok && codec_json_add(json, "expires-ns", codec_json_unsigned(v->expires_ns));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi47_idempotency_value_read_json(const json_t *json, WitUniverseDbi47IdempotencyValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi47_idempotency_value_names, 3, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "request"), &v->request, error);
        (void)codec_blame(error, "record dbi47-idempotency-value", "request", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "answer"), &v->answer, error);
        (void)codec_blame(error, "record dbi47-idempotency-value", "answer", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "expires-ns"), &v->expires_ns, error);
        (void)codec_blame(error, "record dbi47-idempotency-value", "expires-ns", rc);
    }
    return rc;
}

int wit_universe_dbi47_idempotency_value_to_json(const WitUniverseDbi47IdempotencyValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi47_idempotency_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi47_idempotency_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi47_idempotency_value_from_json(const json_t *json, WitUniverseDbi47IdempotencyValue *v_out, CodecError *error)
{
    WitUniverseDbi47IdempotencyValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi47_idempotency_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi47-idempotency-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi47_idempotency_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi47_idempotency_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

