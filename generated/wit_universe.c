/* wit_universe.c - codecs of the types in its header.
 *
 * Generated from schemas/wit/universe-schema.wit by tools/wit_codegen: change the schema. */
#include "wit_universe.h"

static void wit_universe_encoding_write(CodecWriter *w, const WitUniverseEncoding *v)
{
    codec_write_u8(w, *v);
}

static void wit_universe_encoding_read(CodecReader *r, WitUniverseEncoding *v)
{
    *v = codec_read_u8(r);
}

static int wit_universe_encoding_check(const WitUniverseEncoding *v, CodecError *error)
{
    return codec_blame(error, "enum encoding", "", codec_check_case(*v, 3, error));
}

bool wit_universe_encoding_equal(const WitUniverseEncoding *a, const WitUniverseEncoding *b)
{
    return *a == *b;
}

void wit_universe_encoding_free(WitUniverseEncoding *v)
{
    memset(v, 0, sizeof *v);
}

int wit_universe_encoding_validate(const WitUniverseEncoding *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_encoding_check(v, error);
}

int wit_universe_encoding_encode(const WitUniverseEncoding *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_encoding_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_encoding_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_encoding_decode(const void *data, size_t len, WitUniverseEncoding *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseEncoding v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_encoding_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "enum encoding", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_encoding_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_item_kind_write(CodecWriter *w, const WitUniverseItemKind *v)
{
    codec_write_u8(w, *v);
}

static void wit_universe_item_kind_read(CodecReader *r, WitUniverseItemKind *v)
{
    *v = codec_read_u8(r);
}

static int wit_universe_item_kind_check(const WitUniverseItemKind *v, CodecError *error)
{
    return codec_blame(error, "enum item-kind", "", codec_check_case(*v, 9, error));
}

bool wit_universe_item_kind_equal(const WitUniverseItemKind *a, const WitUniverseItemKind *b)
{
    return *a == *b;
}

void wit_universe_item_kind_free(WitUniverseItemKind *v)
{
    memset(v, 0, sizeof *v);
}

int wit_universe_item_kind_validate(const WitUniverseItemKind *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_item_kind_check(v, error);
}

int wit_universe_item_kind_encode(const WitUniverseItemKind *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_item_kind_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_item_kind_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_item_kind_decode(const void *data, size_t len, WitUniverseItemKind *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseItemKind v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_item_kind_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "enum item-kind", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_item_kind_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_receipt_status_write(CodecWriter *w, const WitUniverseReceiptStatus *v)
{
    codec_write_u8(w, *v);
}

static void wit_universe_receipt_status_read(CodecReader *r, WitUniverseReceiptStatus *v)
{
    *v = codec_read_u8(r);
}

static int wit_universe_receipt_status_check(const WitUniverseReceiptStatus *v, CodecError *error)
{
    return codec_blame(error, "enum receipt-status", "", codec_check_case(*v, 4, error));
}

bool wit_universe_receipt_status_equal(const WitUniverseReceiptStatus *a, const WitUniverseReceiptStatus *b)
{
    return *a == *b;
}

void wit_universe_receipt_status_free(WitUniverseReceiptStatus *v)
{
    memset(v, 0, sizeof *v);
}

int wit_universe_receipt_status_validate(const WitUniverseReceiptStatus *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_receipt_status_check(v, error);
}

int wit_universe_receipt_status_encode(const WitUniverseReceiptStatus *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_receipt_status_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_receipt_status_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_receipt_status_decode(const void *data, size_t len, WitUniverseReceiptStatus *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseReceiptStatus v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_receipt_status_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "enum receipt-status", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_receipt_status_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_attempt_outcome_write(CodecWriter *w, const WitUniverseAttemptOutcome *v)
{
    codec_write_u8(w, *v);
}

static void wit_universe_attempt_outcome_read(CodecReader *r, WitUniverseAttemptOutcome *v)
{
    *v = codec_read_u8(r);
}

static int wit_universe_attempt_outcome_check(const WitUniverseAttemptOutcome *v, CodecError *error)
{
    return codec_blame(error, "enum attempt-outcome", "", codec_check_case(*v, 4, error));
}

bool wit_universe_attempt_outcome_equal(const WitUniverseAttemptOutcome *a, const WitUniverseAttemptOutcome *b)
{
    return *a == *b;
}

void wit_universe_attempt_outcome_free(WitUniverseAttemptOutcome *v)
{
    memset(v, 0, sizeof *v);
}

int wit_universe_attempt_outcome_validate(const WitUniverseAttemptOutcome *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_attempt_outcome_check(v, error);
}

int wit_universe_attempt_outcome_encode(const WitUniverseAttemptOutcome *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_attempt_outcome_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_attempt_outcome_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_attempt_outcome_decode(const void *data, size_t len, WitUniverseAttemptOutcome *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseAttemptOutcome v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_attempt_outcome_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "enum attempt-outcome", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_attempt_outcome_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_effect_attempt_write(CodecWriter *w, const WitUniverseEffectAttempt *v)
{
    uint8_t *at_begun_ns = codec_write_room(w, 17);
    if (at_begun_ns != NULL) {
        store_u64le(at_begun_ns + 0, (uint64_t)v->begun_ns);
        store_u64le(at_begun_ns + 8, (uint64_t)v->ended_ns);
        at_begun_ns[16] = (uint8_t)v->outcome;
    }
    codec_write_bytes(w, &v->code);
}

static void wit_universe_effect_attempt_read(CodecReader *r, WitUniverseEffectAttempt *v)
{
    const uint8_t *at_begun_ns = codec_read_run(r, 17);
    if (at_begun_ns == NULL) {
        static const CodecField fields[] = {{"begun-ns", 8}, {"ended-ns", 8}, {"outcome", 1}};
        codec_read_no_run(r, "record effect-attempt", fields, 3);
        return;
    }
    v->begun_ns = (uint64_t)load_u64le(at_begun_ns + 0);
    v->ended_ns = (uint64_t)load_u64le(at_begun_ns + 8);
    v->outcome = (WitUniverseAttemptOutcome)at_begun_ns[16];
    codec_read_bytes(r, &v->code);
    if (codec_read_failed(r, "record effect-attempt", "code")) {
        return;
    }
}

static int wit_universe_effect_attempt_check(const WitUniverseEffectAttempt *v, CodecError *error)
{
    int rc = wit_universe_attempt_outcome_check(&v->outcome, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record effect-attempt", "outcome", rc);
    }
    rc = codec_check_string(&v->code, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record effect-attempt", "code", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->code.len), codec_number_u(UINT64_C(64))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record effect-attempt", "code", "len(value) <= 64");
        }
    }
    return SAP_OK;
}

bool wit_universe_effect_attempt_equal(const WitUniverseEffectAttempt *a, const WitUniverseEffectAttempt *b)
{
    return a->begun_ns == b->begun_ns &&
           a->ended_ns == b->ended_ns &&
           wit_universe_attempt_outcome_equal(&a->outcome, &b->outcome) &&
           codec_bytes_equal(&a->code, &b->code);
}

void wit_universe_effect_attempt_free(WitUniverseEffectAttempt *v)
{
    codec_bytes_free(&v->code);
    memset(v, 0, sizeof *v);
}

int wit_universe_effect_attempt_validate(const WitUniverseEffectAttempt *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_effect_attempt_check(v, error);
}

int wit_universe_effect_attempt_encode(const WitUniverseEffectAttempt *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_effect_attempt_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_effect_attempt_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_effect_attempt_decode(const void *data, size_t len, WitUniverseEffectAttempt *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseEffectAttempt v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_effect_attempt_read(&r, &v);
    (void)codec_read_failed(&r, "record effect-attempt", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_effect_attempt_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_effect_attempt_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_header_write(CodecWriter *w, const WitUniverseHeader *v)
{
    codec_write_bytes(w, &v->name);
    codec_write_bytes(w, &v->value);
}

static void wit_universe_header_read(CodecReader *r, WitUniverseHeader *v)
{
    codec_read_bytes(r, &v->name);
    if (codec_read_failed(r, "record header", "name")) {
        return;
    }
    codec_read_bytes(r, &v->value);
    if (codec_read_failed(r, "record header", "value")) {
        return;
    }
}

static int wit_universe_header_check(const WitUniverseHeader *v, CodecError *error)
{
    int rc = codec_check_string(&v->name, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record header", "name", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->name.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->name.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record header", "name", "len(value) >= 1 && len(value) <= 128");
        }
    }
    rc = codec_check_string(&v->value, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record header", "value", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->value.len), codec_number_u(UINT64_C(1024))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record header", "value", "len(value) <= 1024");
        }
    }
    return SAP_OK;
}

bool wit_universe_header_equal(const WitUniverseHeader *a, const WitUniverseHeader *b)
{
    return codec_bytes_equal(&a->name, &b->name) &&
           codec_bytes_equal(&a->value, &b->value);
}

void wit_universe_header_free(WitUniverseHeader *v)
{
    codec_bytes_free(&v->name);
    codec_bytes_free(&v->value);
    memset(v, 0, sizeof *v);
}

int wit_universe_header_validate(const WitUniverseHeader *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_header_check(v, error);
}

int wit_universe_header_encode(const WitUniverseHeader *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_header_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_header_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_header_decode(const void *data, size_t len, WitUniverseHeader *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseHeader v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_header_read(&r, &v);
    (void)codec_read_failed(&r, "record header", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_header_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_header_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_list_effect_attempt_write(CodecWriter *w, const WitUniverseListEffectAttempt *v)
{
    codec_write_u32(w, v->count);
    for (uint32_t i = 0; i < v->count; i++) {
        wit_universe_effect_attempt_write(w, &v->items[i]);
    }
}

static void wit_universe_list_effect_attempt_read(CodecReader *r, WitUniverseListEffectAttempt *v)
{
    v->items = codec_read_items(r, 21, sizeof *v->items, &v->count);
    for (uint32_t i = 0; i < v->count && r->rc == SAP_OK; i++) {
        wit_universe_effect_attempt_read(r, &v->items[i]);
    }
}

static int wit_universe_list_effect_attempt_check(const WitUniverseListEffectAttempt *v, CodecError *error)
{
    for (uint32_t i = 0; i < v->count; i++) {
        int rc = wit_universe_effect_attempt_check(&v->items[i], error);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return SAP_OK;
}

static bool wit_universe_list_effect_attempt_equal(const WitUniverseListEffectAttempt *a, const WitUniverseListEffectAttempt *b)
{
    if (a->count != b->count) {
        return false;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        if (!(wit_universe_effect_attempt_equal(&a->items[i], &b->items[i]))) {
            return false;
        }
    }
    return true;
}

static void wit_universe_list_effect_attempt_free(WitUniverseListEffectAttempt *v)
{
    for (uint32_t i = 0; i < v->count; i++) {
        wit_universe_effect_attempt_free(&v->items[i]);
    }
    codec_items_free(v->items, v->count, sizeof *v->items);
    memset(v, 0, sizeof *v);
}

static void wit_universe_list_header_write(CodecWriter *w, const WitUniverseListHeader *v)
{
    codec_write_u32(w, v->count);
    for (uint32_t i = 0; i < v->count; i++) {
        wit_universe_header_write(w, &v->items[i]);
    }
}

static void wit_universe_list_header_read(CodecReader *r, WitUniverseListHeader *v)
{
    v->items = codec_read_items(r, 8, sizeof *v->items, &v->count);
    for (uint32_t i = 0; i < v->count && r->rc == SAP_OK; i++) {
        wit_universe_header_read(r, &v->items[i]);
    }
}

static int wit_universe_list_header_check(const WitUniverseListHeader *v, CodecError *error)
{
    for (uint32_t i = 0; i < v->count; i++) {
        int rc = wit_universe_header_check(&v->items[i], error);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return SAP_OK;
}

static bool wit_universe_list_header_equal(const WitUniverseListHeader *a, const WitUniverseListHeader *b)
{
    if (a->count != b->count) {
        return false;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        if (!(wit_universe_header_equal(&a->items[i], &b->items[i]))) {
            return false;
        }
    }
    return true;
}

static void wit_universe_list_header_free(WitUniverseListHeader *v)
{
    for (uint32_t i = 0; i < v->count; i++) {
        wit_universe_header_free(&v->items[i]);
    }
    codec_items_free(v->items, v->count, sizeof *v->items);
    memset(v, 0, sizeof *v);
}

static void wit_universe_inbox_item_write(CodecWriter *w, const WitUniverseInboxItem *v)
{
    wit_universe_item_kind_write(w, &v->kind);
    codec_write_bytes(w, &v->name);
    codec_write_bytes(w, &v->id);
    codec_write_bytes(w, &v->correlation_id);
    codec_write_bytes(w, &v->hash);
    codec_write_bytes(w, &v->ref);
    wit_universe_receipt_status_write(w, &v->status);
    codec_write_bytes(w, &v->from_world);
    codec_write_u64(w, v->from_height);
    codec_write_bytes(w, &v->reply_to);
    wit_universe_encoding_write(w, &v->encoding);
    codec_write_bytes(w, &v->payload);
    codec_write_bytes(w, &v->blob);
    codec_write_bytes(w, &v->trace_parent);
    codec_write_u64(w, v->time_ns);
    codec_write_u8(w, v->replayed);
    codec_write_u8(w, v->priority);
    codec_write_bytes(w, &v->code);
    wit_universe_list_effect_attempt_write(w, &v->attempts);
    wit_universe_list_header_write(w, &v->headers);
}

static void wit_universe_inbox_item_read(CodecReader *r, WitUniverseInboxItem *v)
{
    wit_universe_item_kind_read(r, &v->kind);
    if (codec_read_failed(r, "record inbox-item", "kind")) {
        return;
    }
    codec_read_bytes(r, &v->name);
    if (codec_read_failed(r, "record inbox-item", "name")) {
        return;
    }
    codec_read_bytes(r, &v->id);
    if (codec_read_failed(r, "record inbox-item", "id")) {
        return;
    }
    codec_read_bytes(r, &v->correlation_id);
    if (codec_read_failed(r, "record inbox-item", "correlation-id")) {
        return;
    }
    codec_read_bytes(r, &v->hash);
    if (codec_read_failed(r, "record inbox-item", "hash")) {
        return;
    }
    codec_read_bytes(r, &v->ref);
    if (codec_read_failed(r, "record inbox-item", "ref")) {
        return;
    }
    wit_universe_receipt_status_read(r, &v->status);
    if (codec_read_failed(r, "record inbox-item", "status")) {
        return;
    }
    codec_read_bytes(r, &v->from_world);
    if (codec_read_failed(r, "record inbox-item", "from-world")) {
        return;
    }
    v->from_height = codec_read_u64(r);
    if (codec_read_failed(r, "record inbox-item", "from-height")) {
        return;
    }
    codec_read_bytes(r, &v->reply_to);
    if (codec_read_failed(r, "record inbox-item", "reply-to")) {
        return;
    }
    wit_universe_encoding_read(r, &v->encoding);
    if (codec_read_failed(r, "record inbox-item", "encoding")) {
        return;
    }
    codec_read_bytes(r, &v->payload);
    if (codec_read_failed(r, "record inbox-item", "payload")) {
        return;
    }
    codec_read_bytes(r, &v->blob);
    if (codec_read_failed(r, "record inbox-item", "blob")) {
        return;
    }
    codec_read_bytes(r, &v->trace_parent);
    if (codec_read_failed(r, "record inbox-item", "trace-parent")) {
        return;
    }
    v->time_ns = codec_read_u64(r);
    if (codec_read_failed(r, "record inbox-item", "time-ns")) {
        return;
    }
    v->replayed = codec_read_bool(r);
    if (codec_read_failed(r, "record inbox-item", "replayed")) {
        return;
    }
    v->priority = codec_read_u8(r);
    if (codec_read_failed(r, "record inbox-item", "priority")) {
        return;
    }
    codec_read_bytes(r, &v->code);
    if (codec_read_failed(r, "record inbox-item", "code")) {
        return;
    }
    wit_universe_list_effect_attempt_read(r, &v->attempts);
    if (codec_read_failed(r, "record inbox-item", "attempts")) {
        return;
    }
    wit_universe_list_header_read(r, &v->headers);
    if (codec_read_failed(r, "record inbox-item", "headers")) {
        return;
    }
}

static int wit_universe_inbox_item_check(const WitUniverseInboxItem *v, CodecError *error)
{
    int rc = wit_universe_item_kind_check(&v->kind, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record inbox-item", "kind", rc);
    }
    rc = codec_check_string(&v->name, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record inbox-item", "name", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->name.len), codec_number_u(UINT64_C(128))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record inbox-item", "name", "len(value) <= 128");
        }
    }
    rc = codec_check_string(&v->id, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record inbox-item", "id", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->id.len), codec_number_u(UINT64_C(256))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record inbox-item", "id", "len(value) <= 256");
        }
    }
    rc = codec_check_string(&v->correlation_id, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record inbox-item", "correlation-id", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->correlation_id.len), codec_number_u(UINT64_C(256))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record inbox-item", "correlation-id", "len(value) <= 256");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->hash.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record inbox-item", "hash", "len(value) == 32");
        }
    }
    rc = codec_check_string(&v->ref, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record inbox-item", "ref", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->ref.len), codec_number_u(UINT64_C(128))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record inbox-item", "ref", "len(value) <= 128");
        }
    }
    rc = wit_universe_receipt_status_check(&v->status, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record inbox-item", "status", rc);
    }
    rc = codec_check_string(&v->from_world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record inbox-item", "from-world", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->from_world.len), codec_number_u(UINT64_C(128))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record inbox-item", "from-world", "len(value) <= 128");
        }
    }
    rc = codec_check_string(&v->reply_to, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record inbox-item", "reply-to", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->reply_to.len), codec_number_u(UINT64_C(400))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record inbox-item", "reply-to", "len(value) <= 400");
        }
    }
    rc = wit_universe_encoding_check(&v->encoding, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record inbox-item", "encoding", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->payload.len), codec_number_u(UINT64_C(65536))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record inbox-item", "payload", "len(value) <= 65536");
        }
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->blob.len), codec_number_u(UINT64_C(0))) == 0) || (codec_number_compare(codec_number_u(v->blob.len), codec_number_u(UINT64_C(32))) == 0));
        if (bad || !holds) {
            return codec_broken(error, "record inbox-item", "blob", "len(value) == 0 || len(value) == 32");
        }
    }
    rc = codec_check_string(&v->trace_parent, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record inbox-item", "trace-parent", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->trace_parent.len), codec_number_u(UINT64_C(128))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record inbox-item", "trace-parent", "len(value) <= 128");
        }
    }
    rc = codec_check_string(&v->code, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record inbox-item", "code", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->code.len), codec_number_u(UINT64_C(64))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record inbox-item", "code", "len(value) <= 64");
        }
    }
    rc = wit_universe_list_effect_attempt_check(&v->attempts, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record inbox-item", "attempts", rc);
    }
    rc = wit_universe_list_header_check(&v->headers, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record inbox-item", "headers", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->blob.len), codec_number_u(UINT64_C(0))) == 0) || (codec_number_compare(codec_number_u(v->payload.len), codec_number_u(UINT64_C(0))) == 0));
        if (bad || !holds) {
            return codec_broken(error, "record inbox-item", "", "len(blob) == 0 || len(payload) == 0");
        }
    }
    return SAP_OK;
}

bool wit_universe_inbox_item_equal(const WitUniverseInboxItem *a, const WitUniverseInboxItem *b)
{
    return wit_universe_item_kind_equal(&a->kind, &b->kind) &&
           codec_bytes_equal(&a->name, &b->name) &&
           codec_bytes_equal(&a->id, &b->id) &&
           codec_bytes_equal(&a->correlation_id, &b->correlation_id) &&
           codec_bytes_equal(&a->hash, &b->hash) &&
           codec_bytes_equal(&a->ref, &b->ref) &&
           wit_universe_receipt_status_equal(&a->status, &b->status) &&
           codec_bytes_equal(&a->from_world, &b->from_world) &&
           a->from_height == b->from_height &&
           codec_bytes_equal(&a->reply_to, &b->reply_to) &&
           wit_universe_encoding_equal(&a->encoding, &b->encoding) &&
           codec_bytes_equal(&a->payload, &b->payload) &&
           codec_bytes_equal(&a->blob, &b->blob) &&
           codec_bytes_equal(&a->trace_parent, &b->trace_parent) &&
           a->time_ns == b->time_ns &&
           a->replayed == b->replayed &&
           a->priority == b->priority &&
           codec_bytes_equal(&a->code, &b->code) &&
           wit_universe_list_effect_attempt_equal(&a->attempts, &b->attempts) &&
           wit_universe_list_header_equal(&a->headers, &b->headers);
}

void wit_universe_inbox_item_free(WitUniverseInboxItem *v)
{
    codec_bytes_free(&v->name);
    codec_bytes_free(&v->id);
    codec_bytes_free(&v->correlation_id);
    codec_bytes_free(&v->hash);
    codec_bytes_free(&v->ref);
    codec_bytes_free(&v->from_world);
    codec_bytes_free(&v->reply_to);
    codec_bytes_free(&v->payload);
    codec_bytes_free(&v->blob);
    codec_bytes_free(&v->trace_parent);
    codec_bytes_free(&v->code);
    wit_universe_list_effect_attempt_free(&v->attempts);
    wit_universe_list_header_free(&v->headers);
    memset(v, 0, sizeof *v);
}

int wit_universe_inbox_item_validate(const WitUniverseInboxItem *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_inbox_item_check(v, error);
}

int wit_universe_inbox_item_encode(const WitUniverseInboxItem *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_inbox_item_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_inbox_item_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_inbox_item_decode(const void *data, size_t len, WitUniverseInboxItem *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseInboxItem v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_inbox_item_read(&r, &v);
    (void)codec_read_failed(&r, "record inbox-item", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_inbox_item_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_inbox_item_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_fabric_mode_write(CodecWriter *w, const WitUniverseFabricMode *v)
{
    codec_write_u8(w, *v);
}

static void wit_universe_fabric_mode_read(CodecReader *r, WitUniverseFabricMode *v)
{
    *v = codec_read_u8(r);
}

static int wit_universe_fabric_mode_check(const WitUniverseFabricMode *v, CodecError *error)
{
    return codec_blame(error, "enum fabric-mode", "", codec_check_case(*v, 2, error));
}

bool wit_universe_fabric_mode_equal(const WitUniverseFabricMode *a, const WitUniverseFabricMode *b)
{
    return *a == *b;
}

void wit_universe_fabric_mode_free(WitUniverseFabricMode *v)
{
    memset(v, 0, sizeof *v);
}

int wit_universe_fabric_mode_validate(const WitUniverseFabricMode *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_fabric_mode_check(v, error);
}

int wit_universe_fabric_mode_encode(const WitUniverseFabricMode *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_fabric_mode_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_fabric_mode_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_fabric_mode_decode(const void *data, size_t len, WitUniverseFabricMode *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseFabricMode v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_fabric_mode_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "enum fabric-mode", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_fabric_mode_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_option_u32_write(CodecWriter *w, const WitUniverseOptionU32 *v)
{
    codec_write_u8(w, v->some);
    if (v->some) {
        codec_write_u32(w, v->value);
    }
}

static void wit_universe_option_u32_read(CodecReader *r, WitUniverseOptionU32 *v)
{
    v->some = codec_read_bool(r);
    if (v->some) {
        v->value = codec_read_u32(r);
    }
}

static bool wit_universe_option_u32_equal(const WitUniverseOptionU32 *a, const WitUniverseOptionU32 *b)
{
    return a->some == b->some && (!a->some || a->value == b->value);
}

static void wit_universe_fabric_send_params_write(CodecWriter *w, const WitUniverseFabricSendParams *v)
{
    wit_universe_option_u32_write(w, &v->dest_universe);
    codec_write_bytes(w, &v->dest_world);
    wit_universe_fabric_mode_write(w, &v->mode);
    codec_write_bytes(w, &v->schema);
    codec_write_bytes(w, &v->inbox);
    wit_universe_encoding_write(w, &v->encoding);
    codec_write_bytes(w, &v->payload);
    wit_universe_list_header_write(w, &v->headers);
    codec_write_bytes(w, &v->correlation_id);
    codec_write_bytes(w, &v->message_id);
    codec_write_bytes(w, &v->create);
    codec_write_u8(w, v->ask);
    codec_write_bytes(w, &v->answers);
    codec_write_bytes(w, &v->ref);
    wit_universe_receipt_status_write(w, &v->status);
    codec_write_bytes(w, &v->code);
}

static void wit_universe_fabric_send_params_read(CodecReader *r, WitUniverseFabricSendParams *v)
{
    wit_universe_option_u32_read(r, &v->dest_universe);
    if (codec_read_failed(r, "record fabric-send-params", "dest-universe")) {
        return;
    }
    codec_read_bytes(r, &v->dest_world);
    if (codec_read_failed(r, "record fabric-send-params", "dest-world")) {
        return;
    }
    wit_universe_fabric_mode_read(r, &v->mode);
    if (codec_read_failed(r, "record fabric-send-params", "mode")) {
        return;
    }
    codec_read_bytes(r, &v->schema);
    if (codec_read_failed(r, "record fabric-send-params", "schema")) {
        return;
    }
    codec_read_bytes(r, &v->inbox);
    if (codec_read_failed(r, "record fabric-send-params", "inbox")) {
        return;
    }
    wit_universe_encoding_read(r, &v->encoding);
    if (codec_read_failed(r, "record fabric-send-params", "encoding")) {
        return;
    }
    codec_read_bytes(r, &v->payload);
    if (codec_read_failed(r, "record fabric-send-params", "payload")) {
        return;
    }
    wit_universe_list_header_read(r, &v->headers);
    if (codec_read_failed(r, "record fabric-send-params", "headers")) {
        return;
    }
    codec_read_bytes(r, &v->correlation_id);
    if (codec_read_failed(r, "record fabric-send-params", "correlation-id")) {
        return;
    }
    codec_read_bytes(r, &v->message_id);
    if (codec_read_failed(r, "record fabric-send-params", "message-id")) {
        return;
    }
    codec_read_bytes(r, &v->create);
    if (codec_read_failed(r, "record fabric-send-params", "create")) {
        return;
    }
    v->ask = codec_read_bool(r);
    if (codec_read_failed(r, "record fabric-send-params", "ask")) {
        return;
    }
    codec_read_bytes(r, &v->answers);
    if (codec_read_failed(r, "record fabric-send-params", "answers")) {
        return;
    }
    codec_read_bytes(r, &v->ref);
    if (codec_read_failed(r, "record fabric-send-params", "ref")) {
        return;
    }
    wit_universe_receipt_status_read(r, &v->status);
    if (codec_read_failed(r, "record fabric-send-params", "status")) {
        return;
    }
    codec_read_bytes(r, &v->code);
    if (codec_read_failed(r, "record fabric-send-params", "code")) {
        return;
    }
}

static int wit_universe_fabric_send_params_check(const WitUniverseFabricSendParams *v, CodecError *error)
{
    int rc = codec_check_string(&v->dest_world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record fabric-send-params", "dest-world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->dest_world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->dest_world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record fabric-send-params", "dest-world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    rc = wit_universe_fabric_mode_check(&v->mode, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record fabric-send-params", "mode", rc);
    }
    rc = codec_check_string(&v->schema, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record fabric-send-params", "schema", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->schema.len), codec_number_u(UINT64_C(128))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record fabric-send-params", "schema", "len(value) <= 128");
        }
    }
    rc = codec_check_string(&v->inbox, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record fabric-send-params", "inbox", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->inbox.len), codec_number_u(UINT64_C(128))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record fabric-send-params", "inbox", "len(value) <= 128");
        }
    }
    rc = wit_universe_encoding_check(&v->encoding, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record fabric-send-params", "encoding", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->payload.len), codec_number_u(UINT64_C(65536))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record fabric-send-params", "payload", "len(value) <= 65536");
        }
    }
    rc = wit_universe_list_header_check(&v->headers, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record fabric-send-params", "headers", rc);
    }
    rc = codec_check_string(&v->correlation_id, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record fabric-send-params", "correlation-id", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->correlation_id.len), codec_number_u(UINT64_C(256))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record fabric-send-params", "correlation-id", "len(value) <= 256");
        }
    }
    rc = codec_check_string(&v->message_id, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record fabric-send-params", "message-id", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->message_id.len), codec_number_u(UINT64_C(256))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record fabric-send-params", "message-id", "len(value) <= 256");
        }
    }
    rc = codec_check_string(&v->create, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record fabric-send-params", "create", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->create.len), codec_number_u(UINT64_C(128))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record fabric-send-params", "create", "len(value) <= 128");
        }
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->answers.len), codec_number_u(UINT64_C(0))) == 0) || (codec_number_compare(codec_number_u(v->answers.len), codec_number_u(UINT64_C(32))) == 0));
        if (bad || !holds) {
            return codec_broken(error, "record fabric-send-params", "answers", "len(value) == 0 || len(value) == 32");
        }
    }
    rc = codec_check_string(&v->ref, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record fabric-send-params", "ref", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->ref.len), codec_number_u(UINT64_C(128))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record fabric-send-params", "ref", "len(value) <= 128");
        }
    }
    rc = wit_universe_receipt_status_check(&v->status, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record fabric-send-params", "status", rc);
    }
    rc = codec_check_string(&v->code, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record fabric-send-params", "code", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->code.len), codec_number_u(UINT64_C(64))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record fabric-send-params", "code", "len(value) <= 64");
        }
    }
    return SAP_OK;
}

bool wit_universe_fabric_send_params_equal(const WitUniverseFabricSendParams *a, const WitUniverseFabricSendParams *b)
{
    return wit_universe_option_u32_equal(&a->dest_universe, &b->dest_universe) &&
           codec_bytes_equal(&a->dest_world, &b->dest_world) &&
           wit_universe_fabric_mode_equal(&a->mode, &b->mode) &&
           codec_bytes_equal(&a->schema, &b->schema) &&
           codec_bytes_equal(&a->inbox, &b->inbox) &&
           wit_universe_encoding_equal(&a->encoding, &b->encoding) &&
           codec_bytes_equal(&a->payload, &b->payload) &&
           wit_universe_list_header_equal(&a->headers, &b->headers) &&
           codec_bytes_equal(&a->correlation_id, &b->correlation_id) &&
           codec_bytes_equal(&a->message_id, &b->message_id) &&
           codec_bytes_equal(&a->create, &b->create) &&
           a->ask == b->ask &&
           codec_bytes_equal(&a->answers, &b->answers) &&
           codec_bytes_equal(&a->ref, &b->ref) &&
           wit_universe_receipt_status_equal(&a->status, &b->status) &&
           codec_bytes_equal(&a->code, &b->code);
}

void wit_universe_fabric_send_params_free(WitUniverseFabricSendParams *v)
{
    codec_bytes_free(&v->dest_world);
    codec_bytes_free(&v->schema);
    codec_bytes_free(&v->inbox);
    codec_bytes_free(&v->payload);
    wit_universe_list_header_free(&v->headers);
    codec_bytes_free(&v->correlation_id);
    codec_bytes_free(&v->message_id);
    codec_bytes_free(&v->create);
    codec_bytes_free(&v->answers);
    codec_bytes_free(&v->ref);
    codec_bytes_free(&v->code);
    memset(v, 0, sizeof *v);
}

int wit_universe_fabric_send_params_validate(const WitUniverseFabricSendParams *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_fabric_send_params_check(v, error);
}

int wit_universe_fabric_send_params_encode(const WitUniverseFabricSendParams *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_fabric_send_params_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_fabric_send_params_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_fabric_send_params_decode(const void *data, size_t len, WitUniverseFabricSendParams *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseFabricSendParams v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_fabric_send_params_read(&r, &v);
    (void)codec_read_failed(&r, "record fabric-send-params", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_fabric_send_params_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_fabric_send_params_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_fabric_status_write(CodecWriter *w, const WitUniverseFabricStatus *v)
{
    codec_write_u8(w, *v);
}

static void wit_universe_fabric_status_read(CodecReader *r, WitUniverseFabricStatus *v)
{
    *v = codec_read_u8(r);
}

static int wit_universe_fabric_status_check(const WitUniverseFabricStatus *v, CodecError *error)
{
    return codec_blame(error, "enum fabric-status", "", codec_check_case(*v, 3, error));
}

bool wit_universe_fabric_status_equal(const WitUniverseFabricStatus *a, const WitUniverseFabricStatus *b)
{
    return *a == *b;
}

void wit_universe_fabric_status_free(WitUniverseFabricStatus *v)
{
    memset(v, 0, sizeof *v);
}

int wit_universe_fabric_status_validate(const WitUniverseFabricStatus *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_fabric_status_check(v, error);
}

int wit_universe_fabric_status_encode(const WitUniverseFabricStatus *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_fabric_status_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_fabric_status_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_fabric_status_decode(const void *data, size_t len, WitUniverseFabricStatus *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseFabricStatus v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_fabric_status_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "enum fabric-status", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_fabric_status_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_fabric_send_receipt_write(CodecWriter *w, const WitUniverseFabricSendReceipt *v)
{
    wit_universe_fabric_status_write(w, &v->status);
    codec_write_bytes(w, &v->message_id);
    codec_write_bytes(w, &v->dest_world);
    codec_write_bytes(w, &v->enqueued_seq);
}

static void wit_universe_fabric_send_receipt_read(CodecReader *r, WitUniverseFabricSendReceipt *v)
{
    wit_universe_fabric_status_read(r, &v->status);
    if (codec_read_failed(r, "record fabric-send-receipt", "status")) {
        return;
    }
    codec_read_bytes(r, &v->message_id);
    if (codec_read_failed(r, "record fabric-send-receipt", "message-id")) {
        return;
    }
    codec_read_bytes(r, &v->dest_world);
    if (codec_read_failed(r, "record fabric-send-receipt", "dest-world")) {
        return;
    }
    codec_read_bytes(r, &v->enqueued_seq);
    if (codec_read_failed(r, "record fabric-send-receipt", "enqueued-seq")) {
        return;
    }
}

static int wit_universe_fabric_send_receipt_check(const WitUniverseFabricSendReceipt *v, CodecError *error)
{
    int rc = wit_universe_fabric_status_check(&v->status, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record fabric-send-receipt", "status", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->message_id.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record fabric-send-receipt", "message-id", "len(value) == 32");
        }
    }
    rc = codec_check_string(&v->dest_world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record fabric-send-receipt", "dest-world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->dest_world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->dest_world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record fabric-send-receipt", "dest-world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->enqueued_seq.len), codec_number_u(UINT64_C(0))) == 0) || (codec_number_compare(codec_number_u(v->enqueued_seq.len), codec_number_u(UINT64_C(32))) == 0));
        if (bad || !holds) {
            return codec_broken(error, "record fabric-send-receipt", "enqueued-seq", "len(value) == 0 || len(value) == 32");
        }
    }
    return SAP_OK;
}

bool wit_universe_fabric_send_receipt_equal(const WitUniverseFabricSendReceipt *a, const WitUniverseFabricSendReceipt *b)
{
    return wit_universe_fabric_status_equal(&a->status, &b->status) &&
           codec_bytes_equal(&a->message_id, &b->message_id) &&
           codec_bytes_equal(&a->dest_world, &b->dest_world) &&
           codec_bytes_equal(&a->enqueued_seq, &b->enqueued_seq);
}

void wit_universe_fabric_send_receipt_free(WitUniverseFabricSendReceipt *v)
{
    codec_bytes_free(&v->message_id);
    codec_bytes_free(&v->dest_world);
    codec_bytes_free(&v->enqueued_seq);
    memset(v, 0, sizeof *v);
}

int wit_universe_fabric_send_receipt_validate(const WitUniverseFabricSendReceipt *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_fabric_send_receipt_check(v, error);
}

int wit_universe_fabric_send_receipt_encode(const WitUniverseFabricSendReceipt *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_fabric_send_receipt_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_fabric_send_receipt_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_fabric_send_receipt_decode(const void *data, size_t len, WitUniverseFabricSendReceipt *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseFabricSendReceipt v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_fabric_send_receipt_read(&r, &v);
    (void)codec_read_failed(&r, "record fabric-send-receipt", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_fabric_send_receipt_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_fabric_send_receipt_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_entry_kind_write(CodecWriter *w, const WitUniverseEntryKind *v)
{
    codec_write_u8(w, *v);
}

static void wit_universe_entry_kind_read(CodecReader *r, WitUniverseEntryKind *v)
{
    *v = codec_read_u8(r);
}

static int wit_universe_entry_kind_check(const WitUniverseEntryKind *v, CodecError *error)
{
    return codec_blame(error, "enum entry-kind", "", codec_check_case(*v, 5, error));
}

bool wit_universe_entry_kind_equal(const WitUniverseEntryKind *a, const WitUniverseEntryKind *b)
{
    return *a == *b;
}

void wit_universe_entry_kind_free(WitUniverseEntryKind *v)
{
    memset(v, 0, sizeof *v);
}

int wit_universe_entry_kind_validate(const WitUniverseEntryKind *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_entry_kind_check(v, error);
}

int wit_universe_entry_kind_encode(const WitUniverseEntryKind *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_entry_kind_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_entry_kind_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_entry_kind_decode(const void *data, size_t len, WitUniverseEntryKind *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseEntryKind v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_entry_kind_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "enum entry-kind", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_entry_kind_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_option_bytes_write(CodecWriter *w, const WitUniverseOptionBytes *v)
{
    codec_write_u8(w, v->some);
    if (v->some) {
        codec_write_bytes(w, &v->value);
    }
}

static void wit_universe_option_bytes_read(CodecReader *r, WitUniverseOptionBytes *v)
{
    v->some = codec_read_bool(r);
    if (v->some) {
        codec_read_bytes(r, &v->value);
    }
}

static bool wit_universe_option_bytes_equal(const WitUniverseOptionBytes *a, const WitUniverseOptionBytes *b)
{
    return a->some == b->some && (!a->some || codec_bytes_equal(&a->value, &b->value));
}

static void wit_universe_option_bytes_free(WitUniverseOptionBytes *v)
{
    if (v->some) {
        codec_bytes_free(&v->value);
    }
    memset(v, 0, sizeof *v);
}

static void wit_universe_change_write(CodecWriter *w, const WitUniverseChange *v)
{
    codec_write_bytes(w, &v->key);
    wit_universe_option_bytes_write(w, &v->value);
}

static void wit_universe_change_read_top(CodecReader *r, WitUniverseChange *v)
{
    codec_read_bytes(r, &v->key);
    if (codec_read_failed(r, "record change", "key")) {
        return;
    }
    if (codec_at_end(r)) {
        return;
    }
    wit_universe_option_bytes_read(r, &v->value);
    if (codec_read_failed(r, "record change", "value")) {
        return;
    }
}

static void wit_universe_change_read(CodecReader *r, WitUniverseChange *v)
{
    codec_read_bytes(r, &v->key);
    if (codec_read_failed(r, "record change", "key")) {
        return;
    }
    wit_universe_option_bytes_read(r, &v->value);
    if (codec_read_failed(r, "record change", "value")) {
        return;
    }
}

bool wit_universe_change_equal(const WitUniverseChange *a, const WitUniverseChange *b)
{
    return codec_bytes_equal(&a->key, &b->key) &&
           wit_universe_option_bytes_equal(&a->value, &b->value);
}

void wit_universe_change_free(WitUniverseChange *v)
{
    codec_bytes_free(&v->key);
    wit_universe_option_bytes_free(&v->value);
    memset(v, 0, sizeof *v);
}

int wit_universe_change_validate(const WitUniverseChange *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_universe_change_encode(const WitUniverseChange *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_change_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_change_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_change_decode(const void *data, size_t len, WitUniverseChange *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseChange v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_change_read_top(&r, &v);
    (void)codec_read_failed(&r, "record change", "");
    if (r.rc != SAP_OK) {
        wit_universe_change_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_retry_write(CodecWriter *w, const WitUniverseRetry *v)
{
    uint8_t *at_attempts = codec_write_room(w, 32);
    if (at_attempts != NULL) {
        store_u32le(at_attempts + 0, (uint32_t)v->attempts);
        store_u64le(at_attempts + 4, (uint64_t)v->first_ns);
        store_u32le(at_attempts + 12, (uint32_t)v->factor);
        store_u64le(at_attempts + 16, (uint64_t)v->cap_ns);
        store_u64le(at_attempts + 24, (uint64_t)v->timeout_ns);
    }
}

static void wit_universe_retry_read(CodecReader *r, WitUniverseRetry *v)
{
    const uint8_t *at_attempts = codec_read_run(r, 32);
    if (at_attempts == NULL) {
        static const CodecField fields[] = {{"attempts", 4}, {"first-ns", 8}, {"factor", 4}, {"cap-ns", 8}, {"timeout-ns", 8}};
        codec_read_no_run(r, "record retry", fields, 5);
        return;
    }
    v->attempts = (uint32_t)load_u32le(at_attempts + 0);
    v->first_ns = (uint64_t)load_u64le(at_attempts + 4);
    v->factor = (uint32_t)load_u32le(at_attempts + 12);
    v->cap_ns = (uint64_t)load_u64le(at_attempts + 16);
    v->timeout_ns = (uint64_t)load_u64le(at_attempts + 24);
}

static int wit_universe_retry_check(const WitUniverseRetry *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->attempts), codec_number_u(UINT64_C(100))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record retry", "", "attempts <= 100");
        }
    }
    return SAP_OK;
}

bool wit_universe_retry_equal(const WitUniverseRetry *a, const WitUniverseRetry *b)
{
    return a->attempts == b->attempts &&
           a->first_ns == b->first_ns &&
           a->factor == b->factor &&
           a->cap_ns == b->cap_ns &&
           a->timeout_ns == b->timeout_ns;
}

void wit_universe_retry_free(WitUniverseRetry *v)
{
    memset(v, 0, sizeof *v);
}

int wit_universe_retry_validate(const WitUniverseRetry *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_retry_check(v, error);
}

int wit_universe_retry_encode(const WitUniverseRetry *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_retry_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_retry_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_retry_decode(const void *data, size_t len, WitUniverseRetry *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseRetry v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_retry_read(&r, &v);
    (void)codec_read_failed(&r, "record retry", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_retry_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    v_out->attempts = v.attempts;
    v_out->first_ns = v.first_ns;
    v_out->factor = v.factor;
    v_out->cap_ns = v.cap_ns;
    v_out->timeout_ns = v.timeout_ns;
    return SAP_OK;
}

static void wit_universe_timer_clock_write(CodecWriter *w, const WitUniverseTimerClock *v)
{
    codec_write_u8(w, *v);
}

static void wit_universe_timer_clock_read(CodecReader *r, WitUniverseTimerClock *v)
{
    *v = codec_read_u8(r);
}

static void wit_universe_timer_clock_write_key(CodecWriter *w, const WitUniverseTimerClock *v)
{
    codec_write_u8(w, *v);
}

static void wit_universe_timer_clock_read_key(CodecReader *r, WitUniverseTimerClock *v)
{
    *v = codec_read_u8(r);
}

static int wit_universe_timer_clock_check(const WitUniverseTimerClock *v, CodecError *error)
{
    return codec_blame(error, "enum timer-clock", "", codec_check_case(*v, 2, error));
}

bool wit_universe_timer_clock_equal(const WitUniverseTimerClock *a, const WitUniverseTimerClock *b)
{
    return *a == *b;
}

void wit_universe_timer_clock_free(WitUniverseTimerClock *v)
{
    memset(v, 0, sizeof *v);
}

int wit_universe_timer_clock_validate(const WitUniverseTimerClock *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_timer_clock_check(v, error);
}

int wit_universe_timer_clock_encode(const WitUniverseTimerClock *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_timer_clock_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_timer_clock_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_timer_clock_decode(const void *data, size_t len, WitUniverseTimerClock *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseTimerClock v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_timer_clock_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "enum timer-clock", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_timer_clock_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_intent_write(CodecWriter *w, const WitUniverseIntent *v)
{
    codec_write_bytes(w, &v->kind);
    codec_write_bytes(w, &v->ref);
    wit_universe_encoding_write(w, &v->encoding);
    codec_write_bytes(w, &v->params);
    codec_write_bytes(w, &v->hash);
    wit_universe_retry_write(w, &v->retry);
    uint8_t *at_clock = codec_write_room(w, 9);
    if (at_clock != NULL) {
        at_clock[0] = (uint8_t)v->clock;
        store_u64le(at_clock + 1, (uint64_t)v->time_ns);
    }
}

static void wit_universe_intent_read(CodecReader *r, WitUniverseIntent *v)
{
    codec_read_bytes(r, &v->kind);
    if (codec_read_failed(r, "record intent", "kind")) {
        return;
    }
    codec_read_bytes(r, &v->ref);
    if (codec_read_failed(r, "record intent", "ref")) {
        return;
    }
    wit_universe_encoding_read(r, &v->encoding);
    if (codec_read_failed(r, "record intent", "encoding")) {
        return;
    }
    codec_read_bytes(r, &v->params);
    if (codec_read_failed(r, "record intent", "params")) {
        return;
    }
    codec_read_bytes(r, &v->hash);
    if (codec_read_failed(r, "record intent", "hash")) {
        return;
    }
    wit_universe_retry_read(r, &v->retry);
    if (codec_read_failed(r, "record intent", "retry")) {
        return;
    }
    const uint8_t *at_clock = codec_read_run(r, 9);
    if (at_clock == NULL) {
        static const CodecField fields[] = {{"clock", 1}, {"time-ns", 8}};
        codec_read_no_run(r, "record intent", fields, 2);
        return;
    }
    v->clock = (WitUniverseTimerClock)at_clock[0];
    v->time_ns = (uint64_t)load_u64le(at_clock + 1);
}

static int wit_universe_intent_check(const WitUniverseIntent *v, CodecError *error)
{
    int rc = codec_check_string(&v->kind, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record intent", "kind", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->kind.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->kind.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record intent", "kind", "len(value) >= 1 && len(value) <= 128");
        }
    }
    rc = codec_check_string(&v->ref, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record intent", "ref", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->ref.len), codec_number_u(UINT64_C(400))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record intent", "ref", "len(value) <= 400");
        }
    }
    rc = wit_universe_encoding_check(&v->encoding, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record intent", "encoding", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->hash.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record intent", "hash", "len(value) == 32");
        }
    }
    rc = wit_universe_retry_check(&v->retry, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record intent", "retry", rc);
    }
    rc = wit_universe_timer_clock_check(&v->clock, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record intent", "clock", rc);
    }
    return SAP_OK;
}

bool wit_universe_intent_equal(const WitUniverseIntent *a, const WitUniverseIntent *b)
{
    return codec_bytes_equal(&a->kind, &b->kind) &&
           codec_bytes_equal(&a->ref, &b->ref) &&
           wit_universe_encoding_equal(&a->encoding, &b->encoding) &&
           codec_bytes_equal(&a->params, &b->params) &&
           codec_bytes_equal(&a->hash, &b->hash) &&
           wit_universe_retry_equal(&a->retry, &b->retry) &&
           wit_universe_timer_clock_equal(&a->clock, &b->clock) &&
           a->time_ns == b->time_ns;
}

void wit_universe_intent_free(WitUniverseIntent *v)
{
    codec_bytes_free(&v->kind);
    codec_bytes_free(&v->ref);
    codec_bytes_free(&v->params);
    codec_bytes_free(&v->hash);
    memset(v, 0, sizeof *v);
}

int wit_universe_intent_validate(const WitUniverseIntent *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_intent_check(v, error);
}

int wit_universe_intent_encode(const WitUniverseIntent *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_intent_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_intent_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_intent_decode(const void *data, size_t len, WitUniverseIntent *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseIntent v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_intent_read(&r, &v);
    (void)codec_read_failed(&r, "record intent", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_intent_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_intent_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_option_inbox_item_write(CodecWriter *w, const WitUniverseOptionInboxItem *v)
{
    codec_write_u8(w, v->some);
    if (v->some) {
        wit_universe_inbox_item_write(w, &v->value);
    }
}

static void wit_universe_option_inbox_item_read(CodecReader *r, WitUniverseOptionInboxItem *v)
{
    v->some = codec_read_bool(r);
    if (v->some) {
        wit_universe_inbox_item_read(r, &v->value);
    }
}

static int wit_universe_option_inbox_item_check(const WitUniverseOptionInboxItem *v, CodecError *error)
{
    return v->some ? wit_universe_inbox_item_check(&v->value, error) : SAP_OK;
}

static bool wit_universe_option_inbox_item_equal(const WitUniverseOptionInboxItem *a, const WitUniverseOptionInboxItem *b)
{
    return a->some == b->some && (!a->some || wit_universe_inbox_item_equal(&a->value, &b->value));
}

static void wit_universe_option_inbox_item_free(WitUniverseOptionInboxItem *v)
{
    if (v->some) {
        wit_universe_inbox_item_free(&v->value);
    }
    memset(v, 0, sizeof *v);
}

static void wit_universe_list_change_write(CodecWriter *w, const WitUniverseListChange *v)
{
    codec_write_u32(w, v->count);
    for (uint32_t i = 0; i < v->count; i++) {
        wit_universe_change_write(w, &v->items[i]);
    }
}

static void wit_universe_list_change_read(CodecReader *r, WitUniverseListChange *v)
{
    v->items = codec_read_items(r, 5, sizeof *v->items, &v->count);
    for (uint32_t i = 0; i < v->count && r->rc == SAP_OK; i++) {
        wit_universe_change_read(r, &v->items[i]);
    }
}

static bool wit_universe_list_change_equal(const WitUniverseListChange *a, const WitUniverseListChange *b)
{
    if (a->count != b->count) {
        return false;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        if (!(wit_universe_change_equal(&a->items[i], &b->items[i]))) {
            return false;
        }
    }
    return true;
}

static void wit_universe_list_change_free(WitUniverseListChange *v)
{
    for (uint32_t i = 0; i < v->count; i++) {
        wit_universe_change_free(&v->items[i]);
    }
    codec_items_free(v->items, v->count, sizeof *v->items);
    memset(v, 0, sizeof *v);
}

static void wit_universe_list_intent_write(CodecWriter *w, const WitUniverseListIntent *v)
{
    codec_write_u32(w, v->count);
    for (uint32_t i = 0; i < v->count; i++) {
        wit_universe_intent_write(w, &v->items[i]);
    }
}

static void wit_universe_list_intent_read(CodecReader *r, WitUniverseListIntent *v)
{
    v->items = codec_read_items(r, 58, sizeof *v->items, &v->count);
    for (uint32_t i = 0; i < v->count && r->rc == SAP_OK; i++) {
        wit_universe_intent_read(r, &v->items[i]);
    }
}

static int wit_universe_list_intent_check(const WitUniverseListIntent *v, CodecError *error)
{
    for (uint32_t i = 0; i < v->count; i++) {
        int rc = wit_universe_intent_check(&v->items[i], error);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return SAP_OK;
}

static bool wit_universe_list_intent_equal(const WitUniverseListIntent *a, const WitUniverseListIntent *b)
{
    if (a->count != b->count) {
        return false;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        if (!(wit_universe_intent_equal(&a->items[i], &b->items[i]))) {
            return false;
        }
    }
    return true;
}

static void wit_universe_list_intent_free(WitUniverseListIntent *v)
{
    for (uint32_t i = 0; i < v->count; i++) {
        wit_universe_intent_free(&v->items[i]);
    }
    codec_items_free(v->items, v->count, sizeof *v->items);
    memset(v, 0, sizeof *v);
}

static void wit_universe_entry_write(CodecWriter *w, const WitUniverseEntry *v)
{
    uint8_t *at_kind = codec_write_room(w, 9);
    if (at_kind != NULL) {
        at_kind[0] = (uint8_t)v->kind;
        store_u64le(at_kind + 1, (uint64_t)v->time_ns);
    }
    codec_write_bytes(w, &v->seq);
    wit_universe_option_inbox_item_write(w, &v->item);
    codec_write_bytes(w, &v->error);
    wit_universe_list_change_write(w, &v->delta);
    wit_universe_list_intent_write(w, &v->intents);
    codec_write_bytes(w, &v->state_sum);
}

static void wit_universe_entry_read(CodecReader *r, WitUniverseEntry *v)
{
    const uint8_t *at_kind = codec_read_run(r, 9);
    if (at_kind == NULL) {
        static const CodecField fields[] = {{"kind", 1}, {"time-ns", 8}};
        codec_read_no_run(r, "record entry", fields, 2);
        return;
    }
    v->kind = (WitUniverseEntryKind)at_kind[0];
    v->time_ns = (uint64_t)load_u64le(at_kind + 1);
    codec_read_bytes(r, &v->seq);
    if (codec_read_failed(r, "record entry", "seq")) {
        return;
    }
    wit_universe_option_inbox_item_read(r, &v->item);
    if (codec_read_failed(r, "record entry", "item")) {
        return;
    }
    codec_read_bytes(r, &v->error);
    if (codec_read_failed(r, "record entry", "error")) {
        return;
    }
    wit_universe_list_change_read(r, &v->delta);
    if (codec_read_failed(r, "record entry", "delta")) {
        return;
    }
    wit_universe_list_intent_read(r, &v->intents);
    if (codec_read_failed(r, "record entry", "intents")) {
        return;
    }
    codec_read_bytes(r, &v->state_sum);
    if (codec_read_failed(r, "record entry", "state-sum")) {
        return;
    }
}

static int wit_universe_entry_check(const WitUniverseEntry *v, CodecError *error)
{
    int rc = wit_universe_entry_kind_check(&v->kind, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record entry", "kind", rc);
    }
    rc = wit_universe_option_inbox_item_check(&v->item, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record entry", "item", rc);
    }
    rc = codec_check_string(&v->error, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record entry", "error", rc);
    }
    rc = wit_universe_list_intent_check(&v->intents, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record entry", "intents", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->state_sum.len), codec_number_u(UINT64_C(16))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record entry", "state-sum", "len(value) == 16");
        }
    }
    return SAP_OK;
}

bool wit_universe_entry_equal(const WitUniverseEntry *a, const WitUniverseEntry *b)
{
    return wit_universe_entry_kind_equal(&a->kind, &b->kind) &&
           a->time_ns == b->time_ns &&
           codec_bytes_equal(&a->seq, &b->seq) &&
           wit_universe_option_inbox_item_equal(&a->item, &b->item) &&
           codec_bytes_equal(&a->error, &b->error) &&
           wit_universe_list_change_equal(&a->delta, &b->delta) &&
           wit_universe_list_intent_equal(&a->intents, &b->intents) &&
           codec_bytes_equal(&a->state_sum, &b->state_sum);
}

void wit_universe_entry_free(WitUniverseEntry *v)
{
    codec_bytes_free(&v->seq);
    wit_universe_option_inbox_item_free(&v->item);
    codec_bytes_free(&v->error);
    wit_universe_list_change_free(&v->delta);
    wit_universe_list_intent_free(&v->intents);
    codec_bytes_free(&v->state_sum);
    memset(v, 0, sizeof *v);
}

int wit_universe_entry_validate(const WitUniverseEntry *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_entry_check(v, error);
}

int wit_universe_entry_encode(const WitUniverseEntry *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_entry_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_entry_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_entry_decode(const void *data, size_t len, WitUniverseEntry *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseEntry v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_entry_read(&r, &v);
    (void)codec_read_failed(&r, "record entry", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_entry_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_entry_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi16_lease_key_write_key(CodecWriter *w, const WitUniverseDbi16LeaseKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->world);
}

static void wit_universe_dbi16_lease_key_read_key(CodecReader *r, WitUniverseDbi16LeaseKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi16-lease-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi16-lease-key", "world")) {
        return;
    }
}

static int wit_universe_dbi16_lease_key_check(const WitUniverseDbi16LeaseKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi16-lease-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi16-lease-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi16_lease_key_equal(const WitUniverseDbi16LeaseKey *a, const WitUniverseDbi16LeaseKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->world, &b->world);
}

void wit_universe_dbi16_lease_key_free(WitUniverseDbi16LeaseKey *v)
{
    codec_bytes_free(&v->world);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi16_lease_key_validate(const WitUniverseDbi16LeaseKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi16_lease_key_check(v, error);
}

int wit_universe_dbi16_lease_key_encode(const WitUniverseDbi16LeaseKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi16_lease_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi16_lease_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi16_lease_key_decode(const void *data, size_t len, WitUniverseDbi16LeaseKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi16LeaseKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi16_lease_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi16-lease-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi16_lease_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi16_lease_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi16_lease_value_write(CodecWriter *w, const WitUniverseDbi16LeaseValue *v)
{
    codec_write_bytes(w, &v->holder);
    codec_write_bytes(w, &v->nonce);
    codec_write_u64(w, v->epoch);
    codec_write_u8(w, v->unclean);
}

static void wit_universe_dbi16_lease_value_read(CodecReader *r, WitUniverseDbi16LeaseValue *v)
{
    codec_read_bytes(r, &v->holder);
    if (codec_read_failed(r, "record dbi16-lease-value", "holder")) {
        return;
    }
    codec_read_bytes(r, &v->nonce);
    if (codec_read_failed(r, "record dbi16-lease-value", "nonce")) {
        return;
    }
    v->epoch = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi16-lease-value", "epoch")) {
        return;
    }
    v->unclean = codec_read_bool(r);
    if (codec_read_failed(r, "record dbi16-lease-value", "unclean")) {
        return;
    }
}

static int wit_universe_dbi16_lease_value_check(const WitUniverseDbi16LeaseValue *v, CodecError *error)
{
    int rc = codec_check_string(&v->holder, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi16-lease-value", "holder", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->holder.len), codec_number_u(UINT64_C(128))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi16-lease-value", "holder", "len(value) <= 128");
        }
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->nonce.len), codec_number_u(UINT64_C(0))) == 0) || (codec_number_compare(codec_number_u(v->nonce.len), codec_number_u(UINT64_C(16))) == 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi16-lease-value", "nonce", "len(value) == 0 || len(value) == 16");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->epoch), codec_number_u(UINT64_C(1))) >= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi16-lease-value", "epoch", "value >= 1");
        }
    }
    {
        bool bad = false;
        bool holds = codec_truths_equal((codec_number_compare(codec_number_u(v->holder.len), codec_number_u(UINT64_C(0))) == 0), (codec_number_compare(codec_number_u(v->nonce.len), codec_number_u(UINT64_C(0))) == 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi16-lease-value", "", "(len(holder) == 0) == (len(nonce) == 0)");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi16_lease_value_equal(const WitUniverseDbi16LeaseValue *a, const WitUniverseDbi16LeaseValue *b)
{
    return codec_bytes_equal(&a->holder, &b->holder) &&
           codec_bytes_equal(&a->nonce, &b->nonce) &&
           a->epoch == b->epoch &&
           a->unclean == b->unclean;
}

void wit_universe_dbi16_lease_value_free(WitUniverseDbi16LeaseValue *v)
{
    codec_bytes_free(&v->holder);
    codec_bytes_free(&v->nonce);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi16_lease_value_validate(const WitUniverseDbi16LeaseValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi16_lease_value_check(v, error);
}

int wit_universe_dbi16_lease_value_encode(const WitUniverseDbi16LeaseValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi16_lease_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi16_lease_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi16_lease_value_decode(const void *data, size_t len, WitUniverseDbi16LeaseValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi16LeaseValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi16_lease_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi16-lease-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi16_lease_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi16_lease_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_module_ref_write(CodecWriter *w, const WitUniverseModuleRef *v)
{
    codec_write_bytes(w, &v->name);
    codec_write_u64(w, v->version);
}

static void wit_universe_module_ref_read(CodecReader *r, WitUniverseModuleRef *v)
{
    codec_read_bytes(r, &v->name);
    if (codec_read_failed(r, "record module-ref", "name")) {
        return;
    }
    v->version = codec_read_u64(r);
    if (codec_read_failed(r, "record module-ref", "version")) {
        return;
    }
}

static int wit_universe_module_ref_check(const WitUniverseModuleRef *v, CodecError *error)
{
    int rc = codec_check_string(&v->name, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record module-ref", "name", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->name.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->name.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record module-ref", "name", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_module_ref_equal(const WitUniverseModuleRef *a, const WitUniverseModuleRef *b)
{
    return codec_bytes_equal(&a->name, &b->name) &&
           a->version == b->version;
}

void wit_universe_module_ref_free(WitUniverseModuleRef *v)
{
    codec_bytes_free(&v->name);
    memset(v, 0, sizeof *v);
}

int wit_universe_module_ref_validate(const WitUniverseModuleRef *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_module_ref_check(v, error);
}

int wit_universe_module_ref_encode(const WitUniverseModuleRef *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_module_ref_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_module_ref_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_module_ref_decode(const void *data, size_t len, WitUniverseModuleRef *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseModuleRef v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_module_ref_read(&r, &v);
    (void)codec_read_failed(&r, "record module-ref", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_module_ref_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_module_ref_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi17_sessions_key_write_key(CodecWriter *w, const WitUniverseDbi17SessionsKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->worker);
}

static void wit_universe_dbi17_sessions_key_read_key(CodecReader *r, WitUniverseDbi17SessionsKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi17-sessions-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->worker);
    if (codec_read_failed(r, "record dbi17-sessions-key", "worker")) {
        return;
    }
}

static int wit_universe_dbi17_sessions_key_check(const WitUniverseDbi17SessionsKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->worker, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi17-sessions-key", "worker", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->worker.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->worker.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi17-sessions-key", "worker", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi17_sessions_key_equal(const WitUniverseDbi17SessionsKey *a, const WitUniverseDbi17SessionsKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->worker, &b->worker);
}

void wit_universe_dbi17_sessions_key_free(WitUniverseDbi17SessionsKey *v)
{
    codec_bytes_free(&v->worker);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi17_sessions_key_validate(const WitUniverseDbi17SessionsKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi17_sessions_key_check(v, error);
}

int wit_universe_dbi17_sessions_key_encode(const WitUniverseDbi17SessionsKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi17_sessions_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi17_sessions_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi17_sessions_key_decode(const void *data, size_t len, WitUniverseDbi17SessionsKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi17SessionsKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi17_sessions_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi17-sessions-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi17_sessions_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi17_sessions_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_list_module_ref_write(CodecWriter *w, const WitUniverseListModuleRef *v)
{
    codec_write_u32(w, v->count);
    for (uint32_t i = 0; i < v->count; i++) {
        wit_universe_module_ref_write(w, &v->items[i]);
    }
}

static void wit_universe_list_module_ref_read(CodecReader *r, WitUniverseListModuleRef *v)
{
    v->items = codec_read_items(r, 12, sizeof *v->items, &v->count);
    for (uint32_t i = 0; i < v->count && r->rc == SAP_OK; i++) {
        wit_universe_module_ref_read(r, &v->items[i]);
    }
}

static int wit_universe_list_module_ref_check(const WitUniverseListModuleRef *v, CodecError *error)
{
    for (uint32_t i = 0; i < v->count; i++) {
        int rc = wit_universe_module_ref_check(&v->items[i], error);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return SAP_OK;
}

static bool wit_universe_list_module_ref_equal(const WitUniverseListModuleRef *a, const WitUniverseListModuleRef *b)
{
    if (a->count != b->count) {
        return false;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        if (!(wit_universe_module_ref_equal(&a->items[i], &b->items[i]))) {
            return false;
        }
    }
    return true;
}

static void wit_universe_list_module_ref_free(WitUniverseListModuleRef *v)
{
    for (uint32_t i = 0; i < v->count; i++) {
        wit_universe_module_ref_free(&v->items[i]);
    }
    codec_items_free(v->items, v->count, sizeof *v->items);
    memset(v, 0, sizeof *v);
}

static void wit_universe_dbi17_sessions_value_write(CodecWriter *w, const WitUniverseDbi17SessionsValue *v)
{
    codec_write_bytes(w, &v->nonce);
    codec_write_u64(w, v->expires_ns);
    wit_universe_list_module_ref_write(w, &v->modules);
}

static void wit_universe_dbi17_sessions_value_read(CodecReader *r, WitUniverseDbi17SessionsValue *v)
{
    codec_read_bytes(r, &v->nonce);
    if (codec_read_failed(r, "record dbi17-sessions-value", "nonce")) {
        return;
    }
    v->expires_ns = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi17-sessions-value", "expires-ns")) {
        return;
    }
    wit_universe_list_module_ref_read(r, &v->modules);
    if (codec_read_failed(r, "record dbi17-sessions-value", "modules")) {
        return;
    }
}

static int wit_universe_dbi17_sessions_value_check(const WitUniverseDbi17SessionsValue *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->nonce.len), codec_number_u(UINT64_C(16))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi17-sessions-value", "nonce", "len(value) == 16");
        }
    }
    int rc = wit_universe_list_module_ref_check(&v->modules, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi17-sessions-value", "modules", rc);
    }
    return SAP_OK;
}

bool wit_universe_dbi17_sessions_value_equal(const WitUniverseDbi17SessionsValue *a, const WitUniverseDbi17SessionsValue *b)
{
    return codec_bytes_equal(&a->nonce, &b->nonce) &&
           a->expires_ns == b->expires_ns &&
           wit_universe_list_module_ref_equal(&a->modules, &b->modules);
}

void wit_universe_dbi17_sessions_value_free(WitUniverseDbi17SessionsValue *v)
{
    codec_bytes_free(&v->nonce);
    wit_universe_list_module_ref_free(&v->modules);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi17_sessions_value_validate(const WitUniverseDbi17SessionsValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi17_sessions_value_check(v, error);
}

int wit_universe_dbi17_sessions_value_encode(const WitUniverseDbi17SessionsValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi17_sessions_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi17_sessions_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi17_sessions_value_decode(const void *data, size_t len, WitUniverseDbi17SessionsValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi17SessionsValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi17_sessions_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi17-sessions-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi17_sessions_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi17_sessions_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi18_held_key_write_key(CodecWriter *w, const WitUniverseDbi18HeldKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->nonce);
    codec_write_key_bytes(w, &v->world);
}

static void wit_universe_dbi18_held_key_read_key(CodecReader *r, WitUniverseDbi18HeldKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi18-held-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->nonce);
    if (codec_read_failed(r, "record dbi18-held-key", "nonce")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi18-held-key", "world")) {
        return;
    }
}

static int wit_universe_dbi18_held_key_check(const WitUniverseDbi18HeldKey *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->nonce.len), codec_number_u(UINT64_C(16))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi18-held-key", "nonce", "len(value) == 16");
        }
    }
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi18-held-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi18-held-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi18_held_key_equal(const WitUniverseDbi18HeldKey *a, const WitUniverseDbi18HeldKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->nonce, &b->nonce) &&
           codec_bytes_equal(&a->world, &b->world);
}

void wit_universe_dbi18_held_key_free(WitUniverseDbi18HeldKey *v)
{
    codec_bytes_free(&v->nonce);
    codec_bytes_free(&v->world);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi18_held_key_validate(const WitUniverseDbi18HeldKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi18_held_key_check(v, error);
}

int wit_universe_dbi18_held_key_encode(const WitUniverseDbi18HeldKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi18_held_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi18_held_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi18_held_key_decode(const void *data, size_t len, WitUniverseDbi18HeldKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi18HeldKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi18_held_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi18-held-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi18_held_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi18_held_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi18_held_value_write(CodecWriter *w, const WitUniverseDbi18HeldValue *v)
{
    codec_write_raw(w, v->value.data, v->value.len);
}

static void wit_universe_dbi18_held_value_read(CodecReader *r, WitUniverseDbi18HeldValue *v)
{
    codec_read_rest(r, &v->value);
    if (codec_read_failed(r, "record dbi18-held-value", "value")) {
        return;
    }
}

bool wit_universe_dbi18_held_value_equal(const WitUniverseDbi18HeldValue *a, const WitUniverseDbi18HeldValue *b)
{
    return codec_bytes_equal(&a->value, &b->value);
}

void wit_universe_dbi18_held_value_free(WitUniverseDbi18HeldValue *v)
{
    codec_bytes_free(&v->value);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi18_held_value_validate(const WitUniverseDbi18HeldValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_universe_dbi18_held_value_encode(const WitUniverseDbi18HeldValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi18_held_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi18_held_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi18_held_value_decode(const void *data, size_t len, WitUniverseDbi18HeldValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi18HeldValue v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi18_held_value_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi18-held-value", "");
    if (r.rc != SAP_OK) {
        wit_universe_dbi18_held_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi19_head_key_write_key(CodecWriter *w, const WitUniverseDbi19HeadKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->world);
}

static void wit_universe_dbi19_head_key_read_key(CodecReader *r, WitUniverseDbi19HeadKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi19-head-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi19-head-key", "world")) {
        return;
    }
}

static int wit_universe_dbi19_head_key_check(const WitUniverseDbi19HeadKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi19-head-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi19-head-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi19_head_key_equal(const WitUniverseDbi19HeadKey *a, const WitUniverseDbi19HeadKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->world, &b->world);
}

void wit_universe_dbi19_head_key_free(WitUniverseDbi19HeadKey *v)
{
    codec_bytes_free(&v->world);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi19_head_key_validate(const WitUniverseDbi19HeadKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi19_head_key_check(v, error);
}

int wit_universe_dbi19_head_key_encode(const WitUniverseDbi19HeadKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi19_head_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi19_head_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi19_head_key_decode(const void *data, size_t len, WitUniverseDbi19HeadKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi19HeadKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi19_head_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi19-head-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi19_head_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi19_head_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi19_head_value_write(CodecWriter *w, const WitUniverseDbi19HeadValue *v)
{
    codec_write_u64(w, v->height);
    codec_write_bytes(w, &v->digest);
    codec_write_bytes(w, &v->state_sum);
    codec_write_u64(w, v->time_ns);
}

static void wit_universe_dbi19_head_value_read(CodecReader *r, WitUniverseDbi19HeadValue *v)
{
    v->height = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi19-head-value", "height")) {
        return;
    }
    codec_read_bytes(r, &v->digest);
    if (codec_read_failed(r, "record dbi19-head-value", "digest")) {
        return;
    }
    codec_read_bytes(r, &v->state_sum);
    if (codec_read_failed(r, "record dbi19-head-value", "state-sum")) {
        return;
    }
    v->time_ns = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi19-head-value", "time-ns")) {
        return;
    }
}

static int wit_universe_dbi19_head_value_check(const WitUniverseDbi19HeadValue *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->digest.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi19-head-value", "digest", "len(value) == 32");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->state_sum.len), codec_number_u(UINT64_C(16))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi19-head-value", "state-sum", "len(value) == 16");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi19_head_value_equal(const WitUniverseDbi19HeadValue *a, const WitUniverseDbi19HeadValue *b)
{
    return a->height == b->height &&
           codec_bytes_equal(&a->digest, &b->digest) &&
           codec_bytes_equal(&a->state_sum, &b->state_sum) &&
           a->time_ns == b->time_ns;
}

void wit_universe_dbi19_head_value_free(WitUniverseDbi19HeadValue *v)
{
    codec_bytes_free(&v->digest);
    codec_bytes_free(&v->state_sum);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi19_head_value_validate(const WitUniverseDbi19HeadValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi19_head_value_check(v, error);
}

int wit_universe_dbi19_head_value_encode(const WitUniverseDbi19HeadValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi19_head_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi19_head_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi19_head_value_decode(const void *data, size_t len, WitUniverseDbi19HeadValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi19HeadValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi19_head_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi19-head-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi19_head_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi19_head_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi20_journal_key_write_key(CodecWriter *w, const WitUniverseDbi20JournalKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->world);
    codec_write_u64be(w, v->height);
    codec_write_u32be(w, v->part);
}

static void wit_universe_dbi20_journal_key_read_key(CodecReader *r, WitUniverseDbi20JournalKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi20-journal-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi20-journal-key", "world")) {
        return;
    }
    v->height = codec_read_u64be(r);
    if (codec_read_failed(r, "record dbi20-journal-key", "height")) {
        return;
    }
    v->part = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi20-journal-key", "part")) {
        return;
    }
}

static int wit_universe_dbi20_journal_key_check(const WitUniverseDbi20JournalKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi20-journal-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi20-journal-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->height), codec_number_u(UINT64_C(1))) >= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi20-journal-key", "height", "value >= 1");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi20_journal_key_equal(const WitUniverseDbi20JournalKey *a, const WitUniverseDbi20JournalKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->world, &b->world) &&
           a->height == b->height &&
           a->part == b->part;
}

void wit_universe_dbi20_journal_key_free(WitUniverseDbi20JournalKey *v)
{
    codec_bytes_free(&v->world);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi20_journal_key_validate(const WitUniverseDbi20JournalKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi20_journal_key_check(v, error);
}

int wit_universe_dbi20_journal_key_encode(const WitUniverseDbi20JournalKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi20_journal_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi20_journal_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi20_journal_key_decode(const void *data, size_t len, WitUniverseDbi20JournalKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi20JournalKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi20_journal_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi20-journal-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi20_journal_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi20_journal_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi20_journal_value_write(CodecWriter *w, const WitUniverseDbi20JournalValue *v)
{
    uint8_t *at_epoch = codec_write_room(w, 12);
    if (at_epoch != NULL) {
        store_u64le(at_epoch + 0, (uint64_t)v->epoch);
        store_u32le(at_epoch + 8, (uint32_t)v->parts);
    }
    codec_write_bytes(w, &v->content);
}

static void wit_universe_dbi20_journal_value_read(CodecReader *r, WitUniverseDbi20JournalValue *v)
{
    const uint8_t *at_epoch = codec_read_run(r, 12);
    if (at_epoch == NULL) {
        static const CodecField fields[] = {{"epoch", 8}, {"parts", 4}};
        codec_read_no_run(r, "record dbi20-journal-value", fields, 2);
        return;
    }
    v->epoch = (uint64_t)load_u64le(at_epoch + 0);
    v->parts = (uint32_t)load_u32le(at_epoch + 8);
    codec_read_bytes(r, &v->content);
    if (codec_read_failed(r, "record dbi20-journal-value", "content")) {
        return;
    }
}

static int wit_universe_dbi20_journal_value_check(const WitUniverseDbi20JournalValue *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->epoch), codec_number_u(UINT64_C(1))) >= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi20-journal-value", "epoch", "value >= 1");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->parts), codec_number_u(UINT64_C(1))) >= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi20-journal-value", "parts", "value >= 1");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->content.len), codec_number_u(UINT64_C(262144))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi20-journal-value", "content", "len(value) <= 262144");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi20_journal_value_equal(const WitUniverseDbi20JournalValue *a, const WitUniverseDbi20JournalValue *b)
{
    return a->epoch == b->epoch &&
           a->parts == b->parts &&
           codec_bytes_equal(&a->content, &b->content);
}

void wit_universe_dbi20_journal_value_free(WitUniverseDbi20JournalValue *v)
{
    codec_bytes_free(&v->content);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi20_journal_value_validate(const WitUniverseDbi20JournalValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi20_journal_value_check(v, error);
}

int wit_universe_dbi20_journal_value_encode(const WitUniverseDbi20JournalValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi20_journal_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi20_journal_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi20_journal_value_decode(const void *data, size_t len, WitUniverseDbi20JournalValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi20JournalValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi20_journal_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi20-journal-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi20_journal_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi20_journal_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_item_class_write(CodecWriter *w, const WitUniverseItemClass *v)
{
    codec_write_u8(w, *v);
}

static void wit_universe_item_class_read(CodecReader *r, WitUniverseItemClass *v)
{
    *v = codec_read_u8(r);
}

static void wit_universe_item_class_write_key(CodecWriter *w, const WitUniverseItemClass *v)
{
    codec_write_u8(w, *v);
}

static void wit_universe_item_class_read_key(CodecReader *r, WitUniverseItemClass *v)
{
    *v = codec_read_u8(r);
}

static int wit_universe_item_class_check(const WitUniverseItemClass *v, CodecError *error)
{
    return codec_blame(error, "enum item-class", "", codec_check_case(*v, 3, error));
}

bool wit_universe_item_class_equal(const WitUniverseItemClass *a, const WitUniverseItemClass *b)
{
    return *a == *b;
}

void wit_universe_item_class_free(WitUniverseItemClass *v)
{
    memset(v, 0, sizeof *v);
}

int wit_universe_item_class_validate(const WitUniverseItemClass *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_item_class_check(v, error);
}

int wit_universe_item_class_encode(const WitUniverseItemClass *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_item_class_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_item_class_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_item_class_decode(const void *data, size_t len, WitUniverseItemClass *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseItemClass v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_item_class_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "enum item-class", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_item_class_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_world_status_write(CodecWriter *w, const WitUniverseWorldStatus *v)
{
    codec_write_u8(w, *v);
}

static void wit_universe_world_status_read(CodecReader *r, WitUniverseWorldStatus *v)
{
    *v = codec_read_u8(r);
}

static int wit_universe_world_status_check(const WitUniverseWorldStatus *v, CodecError *error)
{
    return codec_blame(error, "enum world-status", "", codec_check_case(*v, 5, error));
}

bool wit_universe_world_status_equal(const WitUniverseWorldStatus *a, const WitUniverseWorldStatus *b)
{
    return *a == *b;
}

void wit_universe_world_status_free(WitUniverseWorldStatus *v)
{
    memset(v, 0, sizeof *v);
}

int wit_universe_world_status_validate(const WitUniverseWorldStatus *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_world_status_check(v, error);
}

int wit_universe_world_status_encode(const WitUniverseWorldStatus *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_world_status_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_world_status_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_world_status_decode(const void *data, size_t len, WitUniverseWorldStatus *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseWorldStatus v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_world_status_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "enum world-status", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_world_status_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi21_world_meta_key_write_key(CodecWriter *w, const WitUniverseDbi21WorldMetaKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->world);
}

static void wit_universe_dbi21_world_meta_key_read_key(CodecReader *r, WitUniverseDbi21WorldMetaKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi21-world-meta-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi21-world-meta-key", "world")) {
        return;
    }
}

static int wit_universe_dbi21_world_meta_key_check(const WitUniverseDbi21WorldMetaKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi21-world-meta-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi21-world-meta-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi21_world_meta_key_equal(const WitUniverseDbi21WorldMetaKey *a, const WitUniverseDbi21WorldMetaKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->world, &b->world);
}

void wit_universe_dbi21_world_meta_key_free(WitUniverseDbi21WorldMetaKey *v)
{
    codec_bytes_free(&v->world);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi21_world_meta_key_validate(const WitUniverseDbi21WorldMetaKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi21_world_meta_key_check(v, error);
}

int wit_universe_dbi21_world_meta_key_encode(const WitUniverseDbi21WorldMetaKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi21_world_meta_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi21_world_meta_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi21_world_meta_key_decode(const void *data, size_t len, WitUniverseDbi21WorldMetaKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi21WorldMetaKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi21_world_meta_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi21-world-meta-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi21_world_meta_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi21_world_meta_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi21_world_meta_value_write(CodecWriter *w, const WitUniverseDbi21WorldMetaValue *v)
{
    codec_write_bytes(w, &v->module);
    uint8_t *at_pin = codec_write_room(w, 9);
    if (at_pin != NULL) {
        store_u64le(at_pin + 0, (uint64_t)v->pin);
        at_pin[8] = (uint8_t)v->status;
    }
    codec_write_bytes(w, &v->reason);
    codec_write_u8(w, v->drained);
    codec_write_bytes(w, &v->seed);
    codec_write_u64(w, v->born_height);
    codec_write_bytes(w, &v->born_digest);
    codec_write_u64(w, v->created_ns);
    codec_write_bytes(w, &v->parent_world);
    codec_write_bytes(w, &v->parent_snapshot);
    uint8_t *at_forked_at = codec_write_room(w, 9);
    if (at_forked_at != NULL) {
        store_u64le(at_forked_at + 0, (uint64_t)v->forked_at);
        at_forked_at[8] = (uint8_t)v->failed_class;
    }
    codec_write_bytes(w, &v->failed_seq);
    codec_write_u64(w, v->failed_version);
}

static void wit_universe_dbi21_world_meta_value_read(CodecReader *r, WitUniverseDbi21WorldMetaValue *v)
{
    codec_read_bytes(r, &v->module);
    if (codec_read_failed(r, "record dbi21-world-meta-value", "module")) {
        return;
    }
    const uint8_t *at_pin = codec_read_run(r, 9);
    if (at_pin == NULL) {
        static const CodecField fields[] = {{"pin", 8}, {"status", 1}};
        codec_read_no_run(r, "record dbi21-world-meta-value", fields, 2);
        return;
    }
    v->pin = (uint64_t)load_u64le(at_pin + 0);
    v->status = (WitUniverseWorldStatus)at_pin[8];
    codec_read_bytes(r, &v->reason);
    if (codec_read_failed(r, "record dbi21-world-meta-value", "reason")) {
        return;
    }
    v->drained = codec_read_bool(r);
    if (codec_read_failed(r, "record dbi21-world-meta-value", "drained")) {
        return;
    }
    codec_read_bytes(r, &v->seed);
    if (codec_read_failed(r, "record dbi21-world-meta-value", "seed")) {
        return;
    }
    v->born_height = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi21-world-meta-value", "born-height")) {
        return;
    }
    codec_read_bytes(r, &v->born_digest);
    if (codec_read_failed(r, "record dbi21-world-meta-value", "born-digest")) {
        return;
    }
    v->created_ns = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi21-world-meta-value", "created-ns")) {
        return;
    }
    codec_read_bytes(r, &v->parent_world);
    if (codec_read_failed(r, "record dbi21-world-meta-value", "parent-world")) {
        return;
    }
    codec_read_bytes(r, &v->parent_snapshot);
    if (codec_read_failed(r, "record dbi21-world-meta-value", "parent-snapshot")) {
        return;
    }
    const uint8_t *at_forked_at = codec_read_run(r, 9);
    if (at_forked_at == NULL) {
        static const CodecField fields[] = {{"forked-at", 8}, {"failed-class", 1}};
        codec_read_no_run(r, "record dbi21-world-meta-value", fields, 2);
        return;
    }
    v->forked_at = (uint64_t)load_u64le(at_forked_at + 0);
    v->failed_class = (WitUniverseItemClass)at_forked_at[8];
    codec_read_bytes(r, &v->failed_seq);
    if (codec_read_failed(r, "record dbi21-world-meta-value", "failed-seq")) {
        return;
    }
    v->failed_version = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi21-world-meta-value", "failed-version")) {
        return;
    }
}

static int wit_universe_dbi21_world_meta_value_check(const WitUniverseDbi21WorldMetaValue *v, CodecError *error)
{
    int rc = codec_check_string(&v->module, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi21-world-meta-value", "module", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->module.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->module.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi21-world-meta-value", "module", "len(value) >= 1 && len(value) <= 128");
        }
    }
    rc = wit_universe_world_status_check(&v->status, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi21-world-meta-value", "status", rc);
    }
    rc = codec_check_string(&v->reason, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi21-world-meta-value", "reason", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->reason.len), codec_number_u(UINT64_C(1024))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi21-world-meta-value", "reason", "len(value) <= 1024");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->seed.len), codec_number_u(UINT64_C(16))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi21-world-meta-value", "seed", "len(value) == 16");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->born_digest.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi21-world-meta-value", "born-digest", "len(value) == 32");
        }
    }
    rc = codec_check_string(&v->parent_world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi21-world-meta-value", "parent-world", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->parent_world.len), codec_number_u(UINT64_C(128))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi21-world-meta-value", "parent-world", "len(value) <= 128");
        }
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->parent_snapshot.len), codec_number_u(UINT64_C(0))) == 0) || (codec_number_compare(codec_number_u(v->parent_snapshot.len), codec_number_u(UINT64_C(32))) == 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi21-world-meta-value", "parent-snapshot", "len(value) == 0 || len(value) == 32");
        }
    }
    rc = wit_universe_item_class_check(&v->failed_class, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi21-world-meta-value", "failed-class", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->failed_seq.len), codec_number_u(UINT64_C(0))) == 0) || (codec_number_compare(codec_number_u(v->failed_seq.len), codec_number_u(UINT64_C(32))) == 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi21-world-meta-value", "failed-seq", "len(value) == 0 || len(value) == 32");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi21_world_meta_value_equal(const WitUniverseDbi21WorldMetaValue *a, const WitUniverseDbi21WorldMetaValue *b)
{
    return codec_bytes_equal(&a->module, &b->module) &&
           a->pin == b->pin &&
           wit_universe_world_status_equal(&a->status, &b->status) &&
           codec_bytes_equal(&a->reason, &b->reason) &&
           a->drained == b->drained &&
           codec_bytes_equal(&a->seed, &b->seed) &&
           a->born_height == b->born_height &&
           codec_bytes_equal(&a->born_digest, &b->born_digest) &&
           a->created_ns == b->created_ns &&
           codec_bytes_equal(&a->parent_world, &b->parent_world) &&
           codec_bytes_equal(&a->parent_snapshot, &b->parent_snapshot) &&
           a->forked_at == b->forked_at &&
           wit_universe_item_class_equal(&a->failed_class, &b->failed_class) &&
           codec_bytes_equal(&a->failed_seq, &b->failed_seq) &&
           a->failed_version == b->failed_version;
}

void wit_universe_dbi21_world_meta_value_free(WitUniverseDbi21WorldMetaValue *v)
{
    codec_bytes_free(&v->module);
    codec_bytes_free(&v->reason);
    codec_bytes_free(&v->seed);
    codec_bytes_free(&v->born_digest);
    codec_bytes_free(&v->parent_world);
    codec_bytes_free(&v->parent_snapshot);
    codec_bytes_free(&v->failed_seq);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi21_world_meta_value_validate(const WitUniverseDbi21WorldMetaValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi21_world_meta_value_check(v, error);
}

int wit_universe_dbi21_world_meta_value_encode(const WitUniverseDbi21WorldMetaValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi21_world_meta_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi21_world_meta_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi21_world_meta_value_decode(const void *data, size_t len, WitUniverseDbi21WorldMetaValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi21WorldMetaValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi21_world_meta_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi21-world-meta-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi21_world_meta_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi21_world_meta_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi22_assignment_key_write_key(CodecWriter *w, const WitUniverseDbi22AssignmentKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->world);
}

static void wit_universe_dbi22_assignment_key_read_key(CodecReader *r, WitUniverseDbi22AssignmentKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi22-assignment-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi22-assignment-key", "world")) {
        return;
    }
}

static int wit_universe_dbi22_assignment_key_check(const WitUniverseDbi22AssignmentKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi22-assignment-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi22-assignment-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi22_assignment_key_equal(const WitUniverseDbi22AssignmentKey *a, const WitUniverseDbi22AssignmentKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->world, &b->world);
}

void wit_universe_dbi22_assignment_key_free(WitUniverseDbi22AssignmentKey *v)
{
    codec_bytes_free(&v->world);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi22_assignment_key_validate(const WitUniverseDbi22AssignmentKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi22_assignment_key_check(v, error);
}

int wit_universe_dbi22_assignment_key_encode(const WitUniverseDbi22AssignmentKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi22_assignment_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi22_assignment_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi22_assignment_key_decode(const void *data, size_t len, WitUniverseDbi22AssignmentKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi22AssignmentKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi22_assignment_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi22-assignment-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi22_assignment_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi22_assignment_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi22_assignment_value_write(CodecWriter *w, const WitUniverseDbi22AssignmentValue *v)
{
    codec_write_bytes(w, &v->worker);
    codec_write_u8(w, v->priority);
    codec_write_bytes(w, &v->reason);
}

static void wit_universe_dbi22_assignment_value_read(CodecReader *r, WitUniverseDbi22AssignmentValue *v)
{
    codec_read_bytes(r, &v->worker);
    if (codec_read_failed(r, "record dbi22-assignment-value", "worker")) {
        return;
    }
    v->priority = codec_read_u8(r);
    if (codec_read_failed(r, "record dbi22-assignment-value", "priority")) {
        return;
    }
    codec_read_bytes(r, &v->reason);
    if (codec_read_failed(r, "record dbi22-assignment-value", "reason")) {
        return;
    }
}

static int wit_universe_dbi22_assignment_value_check(const WitUniverseDbi22AssignmentValue *v, CodecError *error)
{
    int rc = codec_check_string(&v->worker, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi22-assignment-value", "worker", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->worker.len), codec_number_u(UINT64_C(128))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi22-assignment-value", "worker", "len(value) <= 128");
        }
    }
    rc = codec_check_string(&v->reason, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi22-assignment-value", "reason", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->reason.len), codec_number_u(UINT64_C(1024))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi22-assignment-value", "reason", "len(value) <= 1024");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi22_assignment_value_equal(const WitUniverseDbi22AssignmentValue *a, const WitUniverseDbi22AssignmentValue *b)
{
    return codec_bytes_equal(&a->worker, &b->worker) &&
           a->priority == b->priority &&
           codec_bytes_equal(&a->reason, &b->reason);
}

void wit_universe_dbi22_assignment_value_free(WitUniverseDbi22AssignmentValue *v)
{
    codec_bytes_free(&v->worker);
    codec_bytes_free(&v->reason);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi22_assignment_value_validate(const WitUniverseDbi22AssignmentValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi22_assignment_value_check(v, error);
}

int wit_universe_dbi22_assignment_value_encode(const WitUniverseDbi22AssignmentValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi22_assignment_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi22_assignment_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi22_assignment_value_decode(const void *data, size_t len, WitUniverseDbi22AssignmentValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi22AssignmentValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi22_assignment_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi22-assignment-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi22_assignment_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi22_assignment_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi23_assigned_key_write_key(CodecWriter *w, const WitUniverseDbi23AssignedKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->worker);
    codec_write_key_bytes(w, &v->world);
}

static void wit_universe_dbi23_assigned_key_read_key(CodecReader *r, WitUniverseDbi23AssignedKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi23-assigned-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->worker);
    if (codec_read_failed(r, "record dbi23-assigned-key", "worker")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi23-assigned-key", "world")) {
        return;
    }
}

static int wit_universe_dbi23_assigned_key_check(const WitUniverseDbi23AssignedKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->worker, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi23-assigned-key", "worker", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->worker.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->worker.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi23-assigned-key", "worker", "len(value) >= 1 && len(value) <= 128");
        }
    }
    rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi23-assigned-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi23-assigned-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi23_assigned_key_equal(const WitUniverseDbi23AssignedKey *a, const WitUniverseDbi23AssignedKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->worker, &b->worker) &&
           codec_bytes_equal(&a->world, &b->world);
}

void wit_universe_dbi23_assigned_key_free(WitUniverseDbi23AssignedKey *v)
{
    codec_bytes_free(&v->worker);
    codec_bytes_free(&v->world);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi23_assigned_key_validate(const WitUniverseDbi23AssignedKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi23_assigned_key_check(v, error);
}

int wit_universe_dbi23_assigned_key_encode(const WitUniverseDbi23AssignedKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi23_assigned_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi23_assigned_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi23_assigned_key_decode(const void *data, size_t len, WitUniverseDbi23AssignedKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi23AssignedKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi23_assigned_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi23-assigned-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi23_assigned_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi23_assigned_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi23_assigned_value_write(CodecWriter *w, const WitUniverseDbi23AssignedValue *v)
{
    codec_write_raw(w, v->value.data, v->value.len);
}

static void wit_universe_dbi23_assigned_value_read(CodecReader *r, WitUniverseDbi23AssignedValue *v)
{
    codec_read_rest(r, &v->value);
    if (codec_read_failed(r, "record dbi23-assigned-value", "value")) {
        return;
    }
}

bool wit_universe_dbi23_assigned_value_equal(const WitUniverseDbi23AssignedValue *a, const WitUniverseDbi23AssignedValue *b)
{
    return codec_bytes_equal(&a->value, &b->value);
}

void wit_universe_dbi23_assigned_value_free(WitUniverseDbi23AssignedValue *v)
{
    codec_bytes_free(&v->value);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi23_assigned_value_validate(const WitUniverseDbi23AssignedValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_universe_dbi23_assigned_value_encode(const WitUniverseDbi23AssignedValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi23_assigned_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi23_assigned_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi23_assigned_value_decode(const void *data, size_t len, WitUniverseDbi23AssignedValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi23AssignedValue v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi23_assigned_value_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi23-assigned-value", "");
    if (r.rc != SAP_OK) {
        wit_universe_dbi23_assigned_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi24_world_inbox_key_write_key(CodecWriter *w, const WitUniverseDbi24WorldInboxKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->world);
    wit_universe_item_class_write_key(w, &v->class);
    codec_write_key_bytes(w, &v->seq);
}

static void wit_universe_dbi24_world_inbox_key_read_key(CodecReader *r, WitUniverseDbi24WorldInboxKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi24-world-inbox-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi24-world-inbox-key", "world")) {
        return;
    }
    wit_universe_item_class_read_key(r, &v->class);
    if (codec_read_failed(r, "record dbi24-world-inbox-key", "class")) {
        return;
    }
    codec_read_key_bytes(r, &v->seq);
    if (codec_read_failed(r, "record dbi24-world-inbox-key", "seq")) {
        return;
    }
}

static int wit_universe_dbi24_world_inbox_key_check(const WitUniverseDbi24WorldInboxKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi24-world-inbox-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi24-world-inbox-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    rc = wit_universe_item_class_check(&v->class, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi24-world-inbox-key", "class", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->seq.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi24-world-inbox-key", "seq", "len(value) == 32");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi24_world_inbox_key_equal(const WitUniverseDbi24WorldInboxKey *a, const WitUniverseDbi24WorldInboxKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->world, &b->world) &&
           wit_universe_item_class_equal(&a->class, &b->class) &&
           codec_bytes_equal(&a->seq, &b->seq);
}

void wit_universe_dbi24_world_inbox_key_free(WitUniverseDbi24WorldInboxKey *v)
{
    codec_bytes_free(&v->world);
    codec_bytes_free(&v->seq);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi24_world_inbox_key_validate(const WitUniverseDbi24WorldInboxKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi24_world_inbox_key_check(v, error);
}

int wit_universe_dbi24_world_inbox_key_encode(const WitUniverseDbi24WorldInboxKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi24_world_inbox_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi24_world_inbox_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi24_world_inbox_key_decode(const void *data, size_t len, WitUniverseDbi24WorldInboxKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi24WorldInboxKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi24_world_inbox_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi24-world-inbox-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi24_world_inbox_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi24_world_inbox_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi24_world_inbox_value_write(CodecWriter *w, const WitUniverseDbi24WorldInboxValue *v)
{
    wit_universe_inbox_item_write(w, &v->item);
}

static void wit_universe_dbi24_world_inbox_value_read(CodecReader *r, WitUniverseDbi24WorldInboxValue *v)
{
    wit_universe_inbox_item_read(r, &v->item);
    if (codec_read_failed(r, "record dbi24-world-inbox-value", "item")) {
        return;
    }
}

static int wit_universe_dbi24_world_inbox_value_check(const WitUniverseDbi24WorldInboxValue *v, CodecError *error)
{
    int rc = wit_universe_inbox_item_check(&v->item, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi24-world-inbox-value", "item", rc);
    }
    return SAP_OK;
}

bool wit_universe_dbi24_world_inbox_value_equal(const WitUniverseDbi24WorldInboxValue *a, const WitUniverseDbi24WorldInboxValue *b)
{
    return wit_universe_inbox_item_equal(&a->item, &b->item);
}

void wit_universe_dbi24_world_inbox_value_free(WitUniverseDbi24WorldInboxValue *v)
{
    wit_universe_inbox_item_free(&v->item);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi24_world_inbox_value_validate(const WitUniverseDbi24WorldInboxValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi24_world_inbox_value_check(v, error);
}

int wit_universe_dbi24_world_inbox_value_encode(const WitUniverseDbi24WorldInboxValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi24_world_inbox_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi24_world_inbox_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi24_world_inbox_value_decode(const void *data, size_t len, WitUniverseDbi24WorldInboxValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi24WorldInboxValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi24_world_inbox_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi24-world-inbox-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi24_world_inbox_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi24_world_inbox_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi25_idem_key_write_key(CodecWriter *w, const WitUniverseDbi25IdemKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->world);
    codec_write_key_bytes(w, &v->id);
}

static void wit_universe_dbi25_idem_key_read_key(CodecReader *r, WitUniverseDbi25IdemKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi25-idem-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi25-idem-key", "world")) {
        return;
    }
    codec_read_key_bytes(r, &v->id);
    if (codec_read_failed(r, "record dbi25-idem-key", "id")) {
        return;
    }
}

static int wit_universe_dbi25_idem_key_check(const WitUniverseDbi25IdemKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi25-idem-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi25-idem-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    rc = codec_check_string(&v->id, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi25-idem-key", "id", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->id.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->id.len), codec_number_u(UINT64_C(256))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi25-idem-key", "id", "len(value) >= 1 && len(value) <= 256");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi25_idem_key_equal(const WitUniverseDbi25IdemKey *a, const WitUniverseDbi25IdemKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->world, &b->world) &&
           codec_bytes_equal(&a->id, &b->id);
}

void wit_universe_dbi25_idem_key_free(WitUniverseDbi25IdemKey *v)
{
    codec_bytes_free(&v->world);
    codec_bytes_free(&v->id);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi25_idem_key_validate(const WitUniverseDbi25IdemKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi25_idem_key_check(v, error);
}

int wit_universe_dbi25_idem_key_encode(const WitUniverseDbi25IdemKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi25_idem_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi25_idem_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi25_idem_key_decode(const void *data, size_t len, WitUniverseDbi25IdemKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi25IdemKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi25_idem_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi25-idem-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi25_idem_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi25_idem_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi25_idem_value_write(CodecWriter *w, const WitUniverseDbi25IdemValue *v)
{
    codec_write_bytes(w, &v->seq);
    codec_write_bytes(w, &v->hash);
    codec_write_u64(w, v->expires_ns);
}

static void wit_universe_dbi25_idem_value_read(CodecReader *r, WitUniverseDbi25IdemValue *v)
{
    codec_read_bytes(r, &v->seq);
    if (codec_read_failed(r, "record dbi25-idem-value", "seq")) {
        return;
    }
    codec_read_bytes(r, &v->hash);
    if (codec_read_failed(r, "record dbi25-idem-value", "hash")) {
        return;
    }
    v->expires_ns = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi25-idem-value", "expires-ns")) {
        return;
    }
}

static int wit_universe_dbi25_idem_value_check(const WitUniverseDbi25IdemValue *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->seq.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi25-idem-value", "seq", "len(value) == 32");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->hash.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi25-idem-value", "hash", "len(value) == 32");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi25_idem_value_equal(const WitUniverseDbi25IdemValue *a, const WitUniverseDbi25IdemValue *b)
{
    return codec_bytes_equal(&a->seq, &b->seq) &&
           codec_bytes_equal(&a->hash, &b->hash) &&
           a->expires_ns == b->expires_ns;
}

void wit_universe_dbi25_idem_value_free(WitUniverseDbi25IdemValue *v)
{
    codec_bytes_free(&v->seq);
    codec_bytes_free(&v->hash);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi25_idem_value_validate(const WitUniverseDbi25IdemValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi25_idem_value_check(v, error);
}

int wit_universe_dbi25_idem_value_encode(const WitUniverseDbi25IdemValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi25_idem_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi25_idem_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi25_idem_value_decode(const void *data, size_t len, WitUniverseDbi25IdemValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi25IdemValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi25_idem_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi25-idem-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi25_idem_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi25_idem_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi26_reply_key_write_key(CodecWriter *w, const WitUniverseDbi26ReplyKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->world);
    codec_write_key_bytes(w, &v->id);
}

static void wit_universe_dbi26_reply_key_read_key(CodecReader *r, WitUniverseDbi26ReplyKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi26-reply-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi26-reply-key", "world")) {
        return;
    }
    codec_read_key_bytes(r, &v->id);
    if (codec_read_failed(r, "record dbi26-reply-key", "id")) {
        return;
    }
}

static int wit_universe_dbi26_reply_key_check(const WitUniverseDbi26ReplyKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi26-reply-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi26-reply-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    rc = codec_check_string(&v->id, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi26-reply-key", "id", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->id.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->id.len), codec_number_u(UINT64_C(256))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi26-reply-key", "id", "len(value) >= 1 && len(value) <= 256");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi26_reply_key_equal(const WitUniverseDbi26ReplyKey *a, const WitUniverseDbi26ReplyKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->world, &b->world) &&
           codec_bytes_equal(&a->id, &b->id);
}

void wit_universe_dbi26_reply_key_free(WitUniverseDbi26ReplyKey *v)
{
    codec_bytes_free(&v->world);
    codec_bytes_free(&v->id);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi26_reply_key_validate(const WitUniverseDbi26ReplyKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi26_reply_key_check(v, error);
}

int wit_universe_dbi26_reply_key_encode(const WitUniverseDbi26ReplyKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi26_reply_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi26_reply_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi26_reply_key_decode(const void *data, size_t len, WitUniverseDbi26ReplyKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi26ReplyKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi26_reply_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi26-reply-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi26_reply_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi26_reply_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi26_reply_value_write(CodecWriter *w, const WitUniverseDbi26ReplyValue *v)
{
    uint8_t *at_status = codec_write_room(w, 2);
    if (at_status != NULL) {
        at_status[0] = (uint8_t)v->status;
        at_status[1] = (uint8_t)v->encoding;
    }
    codec_write_bytes(w, &v->payload);
    uint8_t *at_height = codec_write_room(w, 16);
    if (at_height != NULL) {
        store_u64le(at_height + 0, (uint64_t)v->height);
        store_u64le(at_height + 8, (uint64_t)v->expires_ns);
    }
}

static void wit_universe_dbi26_reply_value_read(CodecReader *r, WitUniverseDbi26ReplyValue *v)
{
    const uint8_t *at_status = codec_read_run(r, 2);
    if (at_status == NULL) {
        static const CodecField fields[] = {{"status", 1}, {"encoding", 1}};
        codec_read_no_run(r, "record dbi26-reply-value", fields, 2);
        return;
    }
    v->status = (WitUniverseReceiptStatus)at_status[0];
    v->encoding = (WitUniverseEncoding)at_status[1];
    codec_read_bytes(r, &v->payload);
    if (codec_read_failed(r, "record dbi26-reply-value", "payload")) {
        return;
    }
    const uint8_t *at_height = codec_read_run(r, 16);
    if (at_height == NULL) {
        static const CodecField fields[] = {{"height", 8}, {"expires-ns", 8}};
        codec_read_no_run(r, "record dbi26-reply-value", fields, 2);
        return;
    }
    v->height = (uint64_t)load_u64le(at_height + 0);
    v->expires_ns = (uint64_t)load_u64le(at_height + 8);
}

static int wit_universe_dbi26_reply_value_check(const WitUniverseDbi26ReplyValue *v, CodecError *error)
{
    int rc = wit_universe_receipt_status_check(&v->status, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi26-reply-value", "status", rc);
    }
    rc = wit_universe_encoding_check(&v->encoding, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi26-reply-value", "encoding", rc);
    }
    return SAP_OK;
}

bool wit_universe_dbi26_reply_value_equal(const WitUniverseDbi26ReplyValue *a, const WitUniverseDbi26ReplyValue *b)
{
    return wit_universe_receipt_status_equal(&a->status, &b->status) &&
           wit_universe_encoding_equal(&a->encoding, &b->encoding) &&
           codec_bytes_equal(&a->payload, &b->payload) &&
           a->height == b->height &&
           a->expires_ns == b->expires_ns;
}

void wit_universe_dbi26_reply_value_free(WitUniverseDbi26ReplyValue *v)
{
    codec_bytes_free(&v->payload);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi26_reply_value_validate(const WitUniverseDbi26ReplyValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi26_reply_value_check(v, error);
}

int wit_universe_dbi26_reply_value_encode(const WitUniverseDbi26ReplyValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi26_reply_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi26_reply_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi26_reply_value_decode(const void *data, size_t len, WitUniverseDbi26ReplyValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi26ReplyValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi26_reply_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi26-reply-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi26_reply_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi26_reply_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi27_attempt_key_write_key(CodecWriter *w, const WitUniverseDbi27AttemptKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->world);
}

static void wit_universe_dbi27_attempt_key_read_key(CodecReader *r, WitUniverseDbi27AttemptKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi27-attempt-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi27-attempt-key", "world")) {
        return;
    }
}

static int wit_universe_dbi27_attempt_key_check(const WitUniverseDbi27AttemptKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi27-attempt-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi27-attempt-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi27_attempt_key_equal(const WitUniverseDbi27AttemptKey *a, const WitUniverseDbi27AttemptKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->world, &b->world);
}

void wit_universe_dbi27_attempt_key_free(WitUniverseDbi27AttemptKey *v)
{
    codec_bytes_free(&v->world);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi27_attempt_key_validate(const WitUniverseDbi27AttemptKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi27_attempt_key_check(v, error);
}

int wit_universe_dbi27_attempt_key_encode(const WitUniverseDbi27AttemptKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi27_attempt_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi27_attempt_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi27_attempt_key_decode(const void *data, size_t len, WitUniverseDbi27AttemptKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi27AttemptKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi27_attempt_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi27-attempt-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi27_attempt_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi27_attempt_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi27_attempt_value_write(CodecWriter *w, const WitUniverseDbi27AttemptValue *v)
{
    codec_write_bytes(w, &v->seq);
    codec_write_u32(w, v->count);
}

static void wit_universe_dbi27_attempt_value_read(CodecReader *r, WitUniverseDbi27AttemptValue *v)
{
    codec_read_bytes(r, &v->seq);
    if (codec_read_failed(r, "record dbi27-attempt-value", "seq")) {
        return;
    }
    v->count = codec_read_u32(r);
    if (codec_read_failed(r, "record dbi27-attempt-value", "count")) {
        return;
    }
}

static int wit_universe_dbi27_attempt_value_check(const WitUniverseDbi27AttemptValue *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->seq.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi27-attempt-value", "seq", "len(value) == 32");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->count), codec_number_u(UINT64_C(1))) >= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi27-attempt-value", "count", "value >= 1");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi27_attempt_value_equal(const WitUniverseDbi27AttemptValue *a, const WitUniverseDbi27AttemptValue *b)
{
    return codec_bytes_equal(&a->seq, &b->seq) &&
           a->count == b->count;
}

void wit_universe_dbi27_attempt_value_free(WitUniverseDbi27AttemptValue *v)
{
    codec_bytes_free(&v->seq);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi27_attempt_value_validate(const WitUniverseDbi27AttemptValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi27_attempt_value_check(v, error);
}

int wit_universe_dbi27_attempt_value_encode(const WitUniverseDbi27AttemptValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi27_attempt_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi27_attempt_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi27_attempt_value_decode(const void *data, size_t len, WitUniverseDbi27AttemptValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi27AttemptValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi27_attempt_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi27-attempt-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi27_attempt_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi27_attempt_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi28_world_dlq_key_write_key(CodecWriter *w, const WitUniverseDbi28WorldDlqKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->world);
    codec_write_u64be(w, v->height);
    codec_write_key_bytes(w, &v->seq);
}

static void wit_universe_dbi28_world_dlq_key_read_key(CodecReader *r, WitUniverseDbi28WorldDlqKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi28-world-dlq-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi28-world-dlq-key", "world")) {
        return;
    }
    v->height = codec_read_u64be(r);
    if (codec_read_failed(r, "record dbi28-world-dlq-key", "height")) {
        return;
    }
    codec_read_key_bytes(r, &v->seq);
    if (codec_read_failed(r, "record dbi28-world-dlq-key", "seq")) {
        return;
    }
}

static int wit_universe_dbi28_world_dlq_key_check(const WitUniverseDbi28WorldDlqKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi28-world-dlq-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi28-world-dlq-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->seq.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi28-world-dlq-key", "seq", "len(value) == 32");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi28_world_dlq_key_equal(const WitUniverseDbi28WorldDlqKey *a, const WitUniverseDbi28WorldDlqKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->world, &b->world) &&
           a->height == b->height &&
           codec_bytes_equal(&a->seq, &b->seq);
}

void wit_universe_dbi28_world_dlq_key_free(WitUniverseDbi28WorldDlqKey *v)
{
    codec_bytes_free(&v->world);
    codec_bytes_free(&v->seq);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi28_world_dlq_key_validate(const WitUniverseDbi28WorldDlqKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi28_world_dlq_key_check(v, error);
}

int wit_universe_dbi28_world_dlq_key_encode(const WitUniverseDbi28WorldDlqKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi28_world_dlq_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi28_world_dlq_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi28_world_dlq_key_decode(const void *data, size_t len, WitUniverseDbi28WorldDlqKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi28WorldDlqKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi28_world_dlq_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi28-world-dlq-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi28_world_dlq_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi28_world_dlq_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi28_world_dlq_value_write(CodecWriter *w, const WitUniverseDbi28WorldDlqValue *v)
{
    wit_universe_inbox_item_write(w, &v->item);
    codec_write_bytes(w, &v->error);
    uint8_t *at_attempts = codec_write_room(w, 13);
    if (at_attempts != NULL) {
        store_u32le(at_attempts + 0, (uint32_t)v->attempts);
        store_u64le(at_attempts + 4, (uint64_t)v->at_ns);
        at_attempts[12] = (uint8_t)v->class;
    }
    codec_write_u8(w, v->journaled);
}

static void wit_universe_dbi28_world_dlq_value_read(CodecReader *r, WitUniverseDbi28WorldDlqValue *v)
{
    wit_universe_inbox_item_read(r, &v->item);
    if (codec_read_failed(r, "record dbi28-world-dlq-value", "item")) {
        return;
    }
    codec_read_bytes(r, &v->error);
    if (codec_read_failed(r, "record dbi28-world-dlq-value", "error")) {
        return;
    }
    const uint8_t *at_attempts = codec_read_run(r, 13);
    if (at_attempts == NULL) {
        static const CodecField fields[] = {{"attempts", 4}, {"at-ns", 8}, {"class", 1}};
        codec_read_no_run(r, "record dbi28-world-dlq-value", fields, 3);
        return;
    }
    v->attempts = (uint32_t)load_u32le(at_attempts + 0);
    v->at_ns = (uint64_t)load_u64le(at_attempts + 4);
    v->class = (WitUniverseItemClass)at_attempts[12];
    v->journaled = codec_read_bool(r);
    if (codec_read_failed(r, "record dbi28-world-dlq-value", "journaled")) {
        return;
    }
}

static int wit_universe_dbi28_world_dlq_value_check(const WitUniverseDbi28WorldDlqValue *v, CodecError *error)
{
    int rc = wit_universe_inbox_item_check(&v->item, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi28-world-dlq-value", "item", rc);
    }
    rc = codec_check_string(&v->error, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi28-world-dlq-value", "error", rc);
    }
    rc = wit_universe_item_class_check(&v->class, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi28-world-dlq-value", "class", rc);
    }
    return SAP_OK;
}

bool wit_universe_dbi28_world_dlq_value_equal(const WitUniverseDbi28WorldDlqValue *a, const WitUniverseDbi28WorldDlqValue *b)
{
    return wit_universe_inbox_item_equal(&a->item, &b->item) &&
           codec_bytes_equal(&a->error, &b->error) &&
           a->attempts == b->attempts &&
           a->at_ns == b->at_ns &&
           wit_universe_item_class_equal(&a->class, &b->class) &&
           a->journaled == b->journaled;
}

void wit_universe_dbi28_world_dlq_value_free(WitUniverseDbi28WorldDlqValue *v)
{
    wit_universe_inbox_item_free(&v->item);
    codec_bytes_free(&v->error);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi28_world_dlq_value_validate(const WitUniverseDbi28WorldDlqValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi28_world_dlq_value_check(v, error);
}

int wit_universe_dbi28_world_dlq_value_encode(const WitUniverseDbi28WorldDlqValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi28_world_dlq_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi28_world_dlq_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi28_world_dlq_value_decode(const void *data, size_t len, WitUniverseDbi28WorldDlqValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi28WorldDlqValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi28_world_dlq_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi28-world-dlq-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi28_world_dlq_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi28_world_dlq_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi29_fabric_dedupe_key_write_key(CodecWriter *w, const WitUniverseDbi29FabricDedupeKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->world);
    codec_write_key_bytes(w, &v->hash);
}

static void wit_universe_dbi29_fabric_dedupe_key_read_key(CodecReader *r, WitUniverseDbi29FabricDedupeKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi29-fabric-dedupe-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi29-fabric-dedupe-key", "world")) {
        return;
    }
    codec_read_key_bytes(r, &v->hash);
    if (codec_read_failed(r, "record dbi29-fabric-dedupe-key", "hash")) {
        return;
    }
}

static int wit_universe_dbi29_fabric_dedupe_key_check(const WitUniverseDbi29FabricDedupeKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi29-fabric-dedupe-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi29-fabric-dedupe-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->hash.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi29-fabric-dedupe-key", "hash", "len(value) == 32");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi29_fabric_dedupe_key_equal(const WitUniverseDbi29FabricDedupeKey *a, const WitUniverseDbi29FabricDedupeKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->world, &b->world) &&
           codec_bytes_equal(&a->hash, &b->hash);
}

void wit_universe_dbi29_fabric_dedupe_key_free(WitUniverseDbi29FabricDedupeKey *v)
{
    codec_bytes_free(&v->world);
    codec_bytes_free(&v->hash);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi29_fabric_dedupe_key_validate(const WitUniverseDbi29FabricDedupeKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi29_fabric_dedupe_key_check(v, error);
}

int wit_universe_dbi29_fabric_dedupe_key_encode(const WitUniverseDbi29FabricDedupeKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi29_fabric_dedupe_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi29_fabric_dedupe_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi29_fabric_dedupe_key_decode(const void *data, size_t len, WitUniverseDbi29FabricDedupeKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi29FabricDedupeKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi29_fabric_dedupe_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi29-fabric-dedupe-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi29_fabric_dedupe_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi29_fabric_dedupe_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi29_fabric_dedupe_value_write(CodecWriter *w, const WitUniverseDbi29FabricDedupeValue *v)
{
    codec_write_bytes(w, &v->seq);
    codec_write_u64(w, v->expires_ns);
}

static void wit_universe_dbi29_fabric_dedupe_value_read(CodecReader *r, WitUniverseDbi29FabricDedupeValue *v)
{
    codec_read_bytes(r, &v->seq);
    if (codec_read_failed(r, "record dbi29-fabric-dedupe-value", "seq")) {
        return;
    }
    v->expires_ns = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi29-fabric-dedupe-value", "expires-ns")) {
        return;
    }
}

static int wit_universe_dbi29_fabric_dedupe_value_check(const WitUniverseDbi29FabricDedupeValue *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->seq.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi29-fabric-dedupe-value", "seq", "len(value) == 32");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi29_fabric_dedupe_value_equal(const WitUniverseDbi29FabricDedupeValue *a, const WitUniverseDbi29FabricDedupeValue *b)
{
    return codec_bytes_equal(&a->seq, &b->seq) &&
           a->expires_ns == b->expires_ns;
}

void wit_universe_dbi29_fabric_dedupe_value_free(WitUniverseDbi29FabricDedupeValue *v)
{
    codec_bytes_free(&v->seq);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi29_fabric_dedupe_value_validate(const WitUniverseDbi29FabricDedupeValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi29_fabric_dedupe_value_check(v, error);
}

int wit_universe_dbi29_fabric_dedupe_value_encode(const WitUniverseDbi29FabricDedupeValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi29_fabric_dedupe_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi29_fabric_dedupe_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi29_fabric_dedupe_value_decode(const void *data, size_t len, WitUniverseDbi29FabricDedupeValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi29FabricDedupeValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi29_fabric_dedupe_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi29-fabric-dedupe-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi29_fabric_dedupe_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi29_fabric_dedupe_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi30_snapshot_key_write_key(CodecWriter *w, const WitUniverseDbi30SnapshotKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->world);
    codec_write_u64be(w, v->height);
}

static void wit_universe_dbi30_snapshot_key_read_key(CodecReader *r, WitUniverseDbi30SnapshotKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi30-snapshot-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi30-snapshot-key", "world")) {
        return;
    }
    v->height = codec_read_u64be(r);
    if (codec_read_failed(r, "record dbi30-snapshot-key", "height")) {
        return;
    }
}

static int wit_universe_dbi30_snapshot_key_check(const WitUniverseDbi30SnapshotKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi30-snapshot-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi30-snapshot-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi30_snapshot_key_equal(const WitUniverseDbi30SnapshotKey *a, const WitUniverseDbi30SnapshotKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->world, &b->world) &&
           a->height == b->height;
}

void wit_universe_dbi30_snapshot_key_free(WitUniverseDbi30SnapshotKey *v)
{
    codec_bytes_free(&v->world);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi30_snapshot_key_validate(const WitUniverseDbi30SnapshotKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi30_snapshot_key_check(v, error);
}

int wit_universe_dbi30_snapshot_key_encode(const WitUniverseDbi30SnapshotKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi30_snapshot_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi30_snapshot_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi30_snapshot_key_decode(const void *data, size_t len, WitUniverseDbi30SnapshotKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi30SnapshotKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi30_snapshot_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi30-snapshot-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi30_snapshot_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi30_snapshot_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi30_snapshot_value_write(CodecWriter *w, const WitUniverseDbi30SnapshotValue *v)
{
    codec_write_bytes(w, &v->root);
    codec_write_bytes(w, &v->digest);
    codec_write_bytes(w, &v->state_sum);
    uint8_t *at_time_ns = codec_write_room(w, 16);
    if (at_time_ns != NULL) {
        store_u64le(at_time_ns + 0, (uint64_t)v->time_ns);
        store_u64le(at_time_ns + 8, (uint64_t)v->state_bytes);
    }
}

static void wit_universe_dbi30_snapshot_value_read(CodecReader *r, WitUniverseDbi30SnapshotValue *v)
{
    codec_read_bytes(r, &v->root);
    if (codec_read_failed(r, "record dbi30-snapshot-value", "root")) {
        return;
    }
    codec_read_bytes(r, &v->digest);
    if (codec_read_failed(r, "record dbi30-snapshot-value", "digest")) {
        return;
    }
    codec_read_bytes(r, &v->state_sum);
    if (codec_read_failed(r, "record dbi30-snapshot-value", "state-sum")) {
        return;
    }
    const uint8_t *at_time_ns = codec_read_run(r, 16);
    if (at_time_ns == NULL) {
        static const CodecField fields[] = {{"time-ns", 8}, {"state-bytes", 8}};
        codec_read_no_run(r, "record dbi30-snapshot-value", fields, 2);
        return;
    }
    v->time_ns = (uint64_t)load_u64le(at_time_ns + 0);
    v->state_bytes = (uint64_t)load_u64le(at_time_ns + 8);
}

static int wit_universe_dbi30_snapshot_value_check(const WitUniverseDbi30SnapshotValue *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->root.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi30-snapshot-value", "root", "len(value) == 32");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->digest.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi30-snapshot-value", "digest", "len(value) == 32");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->state_sum.len), codec_number_u(UINT64_C(16))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi30-snapshot-value", "state-sum", "len(value) == 16");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi30_snapshot_value_equal(const WitUniverseDbi30SnapshotValue *a, const WitUniverseDbi30SnapshotValue *b)
{
    return codec_bytes_equal(&a->root, &b->root) &&
           codec_bytes_equal(&a->digest, &b->digest) &&
           codec_bytes_equal(&a->state_sum, &b->state_sum) &&
           a->time_ns == b->time_ns &&
           a->state_bytes == b->state_bytes;
}

void wit_universe_dbi30_snapshot_value_free(WitUniverseDbi30SnapshotValue *v)
{
    codec_bytes_free(&v->root);
    codec_bytes_free(&v->digest);
    codec_bytes_free(&v->state_sum);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi30_snapshot_value_validate(const WitUniverseDbi30SnapshotValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi30_snapshot_value_check(v, error);
}

int wit_universe_dbi30_snapshot_value_encode(const WitUniverseDbi30SnapshotValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi30_snapshot_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi30_snapshot_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi30_snapshot_value_decode(const void *data, size_t len, WitUniverseDbi30SnapshotValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi30SnapshotValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi30_snapshot_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi30-snapshot-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi30_snapshot_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi30_snapshot_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi31_baseline_key_write_key(CodecWriter *w, const WitUniverseDbi31BaselineKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->world);
}

static void wit_universe_dbi31_baseline_key_read_key(CodecReader *r, WitUniverseDbi31BaselineKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi31-baseline-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi31-baseline-key", "world")) {
        return;
    }
}

static int wit_universe_dbi31_baseline_key_check(const WitUniverseDbi31BaselineKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi31-baseline-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi31-baseline-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi31_baseline_key_equal(const WitUniverseDbi31BaselineKey *a, const WitUniverseDbi31BaselineKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->world, &b->world);
}

void wit_universe_dbi31_baseline_key_free(WitUniverseDbi31BaselineKey *v)
{
    codec_bytes_free(&v->world);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi31_baseline_key_validate(const WitUniverseDbi31BaselineKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi31_baseline_key_check(v, error);
}

int wit_universe_dbi31_baseline_key_encode(const WitUniverseDbi31BaselineKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi31_baseline_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi31_baseline_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi31_baseline_key_decode(const void *data, size_t len, WitUniverseDbi31BaselineKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi31BaselineKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi31_baseline_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi31-baseline-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi31_baseline_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi31_baseline_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi31_baseline_value_write(CodecWriter *w, const WitUniverseDbi31BaselineValue *v)
{
    codec_write_bytes(w, &v->owner);
    codec_write_u64(w, v->height);
}

static void wit_universe_dbi31_baseline_value_read(CodecReader *r, WitUniverseDbi31BaselineValue *v)
{
    codec_read_bytes(r, &v->owner);
    if (codec_read_failed(r, "record dbi31-baseline-value", "owner")) {
        return;
    }
    v->height = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi31-baseline-value", "height")) {
        return;
    }
}

static int wit_universe_dbi31_baseline_value_check(const WitUniverseDbi31BaselineValue *v, CodecError *error)
{
    int rc = codec_check_string(&v->owner, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi31-baseline-value", "owner", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->owner.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->owner.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi31-baseline-value", "owner", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi31_baseline_value_equal(const WitUniverseDbi31BaselineValue *a, const WitUniverseDbi31BaselineValue *b)
{
    return codec_bytes_equal(&a->owner, &b->owner) &&
           a->height == b->height;
}

void wit_universe_dbi31_baseline_value_free(WitUniverseDbi31BaselineValue *v)
{
    codec_bytes_free(&v->owner);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi31_baseline_value_validate(const WitUniverseDbi31BaselineValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi31_baseline_value_check(v, error);
}

int wit_universe_dbi31_baseline_value_encode(const WitUniverseDbi31BaselineValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi31_baseline_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi31_baseline_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi31_baseline_value_decode(const void *data, size_t len, WitUniverseDbi31BaselineValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi31BaselineValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi31_baseline_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi31-baseline-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi31_baseline_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi31_baseline_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi32_pins_key_write_key(CodecWriter *w, const WitUniverseDbi32PinsKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->world);
    codec_write_key_bytes(w, &v->sha256);
}

static void wit_universe_dbi32_pins_key_read_key(CodecReader *r, WitUniverseDbi32PinsKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi32-pins-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi32-pins-key", "world")) {
        return;
    }
    codec_read_key_bytes(r, &v->sha256);
    if (codec_read_failed(r, "record dbi32-pins-key", "sha256")) {
        return;
    }
}

static int wit_universe_dbi32_pins_key_check(const WitUniverseDbi32PinsKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi32-pins-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi32-pins-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->sha256.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi32-pins-key", "sha256", "len(value) == 32");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi32_pins_key_equal(const WitUniverseDbi32PinsKey *a, const WitUniverseDbi32PinsKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->world, &b->world) &&
           codec_bytes_equal(&a->sha256, &b->sha256);
}

void wit_universe_dbi32_pins_key_free(WitUniverseDbi32PinsKey *v)
{
    codec_bytes_free(&v->world);
    codec_bytes_free(&v->sha256);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi32_pins_key_validate(const WitUniverseDbi32PinsKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi32_pins_key_check(v, error);
}

int wit_universe_dbi32_pins_key_encode(const WitUniverseDbi32PinsKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi32_pins_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi32_pins_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi32_pins_key_decode(const void *data, size_t len, WitUniverseDbi32PinsKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi32PinsKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi32_pins_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi32-pins-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi32_pins_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi32_pins_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi32_pins_value_write(CodecWriter *w, const WitUniverseDbi32PinsValue *v)
{
    codec_write_u64(w, v->height);
}

static void wit_universe_dbi32_pins_value_read(CodecReader *r, WitUniverseDbi32PinsValue *v)
{
    v->height = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi32-pins-value", "height")) {
        return;
    }
}

bool wit_universe_dbi32_pins_value_equal(const WitUniverseDbi32PinsValue *a, const WitUniverseDbi32PinsValue *b)
{
    return a->height == b->height;
}

void wit_universe_dbi32_pins_value_free(WitUniverseDbi32PinsValue *v)
{
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi32_pins_value_validate(const WitUniverseDbi32PinsValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_universe_dbi32_pins_value_encode(const WitUniverseDbi32PinsValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi32_pins_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi32_pins_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi32_pins_value_decode(const void *data, size_t len, WitUniverseDbi32PinsValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi32PinsValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi32_pins_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi32-pins-value", "");
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi33_segments_key_write_key(CodecWriter *w, const WitUniverseDbi33SegmentsKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->world);
    codec_write_u64be(w, v->end);
}

static void wit_universe_dbi33_segments_key_read_key(CodecReader *r, WitUniverseDbi33SegmentsKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi33-segments-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi33-segments-key", "world")) {
        return;
    }
    v->end = codec_read_u64be(r);
    if (codec_read_failed(r, "record dbi33-segments-key", "end")) {
        return;
    }
}

static int wit_universe_dbi33_segments_key_check(const WitUniverseDbi33SegmentsKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi33-segments-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi33-segments-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi33_segments_key_equal(const WitUniverseDbi33SegmentsKey *a, const WitUniverseDbi33SegmentsKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->world, &b->world) &&
           a->end == b->end;
}

void wit_universe_dbi33_segments_key_free(WitUniverseDbi33SegmentsKey *v)
{
    codec_bytes_free(&v->world);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi33_segments_key_validate(const WitUniverseDbi33SegmentsKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi33_segments_key_check(v, error);
}

int wit_universe_dbi33_segments_key_encode(const WitUniverseDbi33SegmentsKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi33_segments_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi33_segments_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi33_segments_key_decode(const void *data, size_t len, WitUniverseDbi33SegmentsKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi33SegmentsKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi33_segments_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi33-segments-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi33_segments_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi33_segments_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi33_segments_value_write(CodecWriter *w, const WitUniverseDbi33SegmentsValue *v)
{
    codec_write_u64(w, v->begin);
    codec_write_bytes(w, &v->blob);
}

static void wit_universe_dbi33_segments_value_read(CodecReader *r, WitUniverseDbi33SegmentsValue *v)
{
    v->begin = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi33-segments-value", "begin")) {
        return;
    }
    codec_read_bytes(r, &v->blob);
    if (codec_read_failed(r, "record dbi33-segments-value", "blob")) {
        return;
    }
}

static int wit_universe_dbi33_segments_value_check(const WitUniverseDbi33SegmentsValue *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->blob.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi33-segments-value", "blob", "len(value) == 32");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi33_segments_value_equal(const WitUniverseDbi33SegmentsValue *a, const WitUniverseDbi33SegmentsValue *b)
{
    return a->begin == b->begin &&
           codec_bytes_equal(&a->blob, &b->blob);
}

void wit_universe_dbi33_segments_value_free(WitUniverseDbi33SegmentsValue *v)
{
    codec_bytes_free(&v->blob);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi33_segments_value_validate(const WitUniverseDbi33SegmentsValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi33_segments_value_check(v, error);
}

int wit_universe_dbi33_segments_value_encode(const WitUniverseDbi33SegmentsValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi33_segments_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi33_segments_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi33_segments_value_decode(const void *data, size_t len, WitUniverseDbi33SegmentsValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi33SegmentsValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi33_segments_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi33-segments-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi33_segments_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi33_segments_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_effect_write(CodecWriter *w, const WitUniverseEffect *v)
{
    codec_write_bytes(w, &v->world);
    codec_write_u64(w, v->height);
    codec_write_bytes(w, &v->intent_hash);
    codec_write_bytes(w, &v->kind);
    wit_universe_encoding_write(w, &v->encoding);
    codec_write_bytes(w, &v->params);
    codec_write_bytes(w, &v->blob);
    codec_write_bytes(w, &v->origin_name);
    codec_write_bytes(w, &v->policy_context_hash);
    codec_write_u64(w, v->enqueued_at_ns);
    wit_universe_retry_write(w, &v->retry);
    codec_write_u32(w, v->attempt);
    wit_universe_list_effect_attempt_write(w, &v->attempts);
    codec_write_bytes(w, &v->correlation_id);
    codec_write_bytes(w, &v->trace_parent);
}

static void wit_universe_effect_read(CodecReader *r, WitUniverseEffect *v)
{
    codec_read_bytes(r, &v->world);
    if (codec_read_failed(r, "record effect", "world")) {
        return;
    }
    v->height = codec_read_u64(r);
    if (codec_read_failed(r, "record effect", "height")) {
        return;
    }
    codec_read_bytes(r, &v->intent_hash);
    if (codec_read_failed(r, "record effect", "intent-hash")) {
        return;
    }
    codec_read_bytes(r, &v->kind);
    if (codec_read_failed(r, "record effect", "kind")) {
        return;
    }
    wit_universe_encoding_read(r, &v->encoding);
    if (codec_read_failed(r, "record effect", "encoding")) {
        return;
    }
    codec_read_bytes(r, &v->params);
    if (codec_read_failed(r, "record effect", "params")) {
        return;
    }
    codec_read_bytes(r, &v->blob);
    if (codec_read_failed(r, "record effect", "blob")) {
        return;
    }
    codec_read_bytes(r, &v->origin_name);
    if (codec_read_failed(r, "record effect", "origin-name")) {
        return;
    }
    codec_read_bytes(r, &v->policy_context_hash);
    if (codec_read_failed(r, "record effect", "policy-context-hash")) {
        return;
    }
    v->enqueued_at_ns = codec_read_u64(r);
    if (codec_read_failed(r, "record effect", "enqueued-at-ns")) {
        return;
    }
    wit_universe_retry_read(r, &v->retry);
    if (codec_read_failed(r, "record effect", "retry")) {
        return;
    }
    v->attempt = codec_read_u32(r);
    if (codec_read_failed(r, "record effect", "attempt")) {
        return;
    }
    wit_universe_list_effect_attempt_read(r, &v->attempts);
    if (codec_read_failed(r, "record effect", "attempts")) {
        return;
    }
    codec_read_bytes(r, &v->correlation_id);
    if (codec_read_failed(r, "record effect", "correlation-id")) {
        return;
    }
    codec_read_bytes(r, &v->trace_parent);
    if (codec_read_failed(r, "record effect", "trace-parent")) {
        return;
    }
}

static int wit_universe_effect_check(const WitUniverseEffect *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record effect", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record effect", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->intent_hash.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record effect", "intent-hash", "len(value) == 32");
        }
    }
    rc = codec_check_string(&v->kind, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record effect", "kind", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->kind.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->kind.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record effect", "kind", "len(value) >= 1 && len(value) <= 128");
        }
    }
    rc = wit_universe_encoding_check(&v->encoding, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record effect", "encoding", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->blob.len), codec_number_u(UINT64_C(0))) == 0) || (codec_number_compare(codec_number_u(v->blob.len), codec_number_u(UINT64_C(32))) == 0));
        if (bad || !holds) {
            return codec_broken(error, "record effect", "blob", "len(value) == 0 || len(value) == 32");
        }
    }
    rc = codec_check_string(&v->origin_name, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record effect", "origin-name", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->origin_name.len), codec_number_u(UINT64_C(128))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record effect", "origin-name", "len(value) <= 128");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->policy_context_hash.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record effect", "policy-context-hash", "len(value) == 32");
        }
    }
    rc = wit_universe_retry_check(&v->retry, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record effect", "retry", rc);
    }
    rc = wit_universe_list_effect_attempt_check(&v->attempts, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record effect", "attempts", rc);
    }
    rc = codec_check_string(&v->correlation_id, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record effect", "correlation-id", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->correlation_id.len), codec_number_u(UINT64_C(256))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record effect", "correlation-id", "len(value) <= 256");
        }
    }
    rc = codec_check_string(&v->trace_parent, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record effect", "trace-parent", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->trace_parent.len), codec_number_u(UINT64_C(128))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record effect", "trace-parent", "len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_effect_equal(const WitUniverseEffect *a, const WitUniverseEffect *b)
{
    return codec_bytes_equal(&a->world, &b->world) &&
           a->height == b->height &&
           codec_bytes_equal(&a->intent_hash, &b->intent_hash) &&
           codec_bytes_equal(&a->kind, &b->kind) &&
           wit_universe_encoding_equal(&a->encoding, &b->encoding) &&
           codec_bytes_equal(&a->params, &b->params) &&
           codec_bytes_equal(&a->blob, &b->blob) &&
           codec_bytes_equal(&a->origin_name, &b->origin_name) &&
           codec_bytes_equal(&a->policy_context_hash, &b->policy_context_hash) &&
           a->enqueued_at_ns == b->enqueued_at_ns &&
           wit_universe_retry_equal(&a->retry, &b->retry) &&
           a->attempt == b->attempt &&
           wit_universe_list_effect_attempt_equal(&a->attempts, &b->attempts) &&
           codec_bytes_equal(&a->correlation_id, &b->correlation_id) &&
           codec_bytes_equal(&a->trace_parent, &b->trace_parent);
}

void wit_universe_effect_free(WitUniverseEffect *v)
{
    codec_bytes_free(&v->world);
    codec_bytes_free(&v->intent_hash);
    codec_bytes_free(&v->kind);
    codec_bytes_free(&v->params);
    codec_bytes_free(&v->blob);
    codec_bytes_free(&v->origin_name);
    codec_bytes_free(&v->policy_context_hash);
    wit_universe_list_effect_attempt_free(&v->attempts);
    codec_bytes_free(&v->correlation_id);
    codec_bytes_free(&v->trace_parent);
    memset(v, 0, sizeof *v);
}

int wit_universe_effect_validate(const WitUniverseEffect *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_effect_check(v, error);
}

int wit_universe_effect_encode(const WitUniverseEffect *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_effect_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_effect_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_effect_decode(const void *data, size_t len, WitUniverseEffect *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseEffect v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_effect_read(&r, &v);
    (void)codec_read_failed(&r, "record effect", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_effect_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_effect_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi34_effects_pending_key_write_key(CodecWriter *w, const WitUniverseDbi34EffectsPendingKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_u8(w, v->shard);
    codec_write_key_bytes(w, &v->kind);
    codec_write_u64be(w, v->due_ns);
    codec_write_key_bytes(w, &v->seq);
}

static void wit_universe_dbi34_effects_pending_key_read_key(CodecReader *r, WitUniverseDbi34EffectsPendingKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi34-effects-pending-key", "universe")) {
        return;
    }
    v->shard = codec_read_u8(r);
    if (codec_read_failed(r, "record dbi34-effects-pending-key", "shard")) {
        return;
    }
    codec_read_key_bytes(r, &v->kind);
    if (codec_read_failed(r, "record dbi34-effects-pending-key", "kind")) {
        return;
    }
    v->due_ns = codec_read_u64be(r);
    if (codec_read_failed(r, "record dbi34-effects-pending-key", "due-ns")) {
        return;
    }
    codec_read_key_bytes(r, &v->seq);
    if (codec_read_failed(r, "record dbi34-effects-pending-key", "seq")) {
        return;
    }
}

static int wit_universe_dbi34_effects_pending_key_check(const WitUniverseDbi34EffectsPendingKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->kind, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi34-effects-pending-key", "kind", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->kind.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->kind.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi34-effects-pending-key", "kind", "len(value) >= 1 && len(value) <= 128");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->seq.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi34-effects-pending-key", "seq", "len(value) == 32");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi34_effects_pending_key_equal(const WitUniverseDbi34EffectsPendingKey *a, const WitUniverseDbi34EffectsPendingKey *b)
{
    return a->universe == b->universe &&
           a->shard == b->shard &&
           codec_bytes_equal(&a->kind, &b->kind) &&
           a->due_ns == b->due_ns &&
           codec_bytes_equal(&a->seq, &b->seq);
}

void wit_universe_dbi34_effects_pending_key_free(WitUniverseDbi34EffectsPendingKey *v)
{
    codec_bytes_free(&v->kind);
    codec_bytes_free(&v->seq);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi34_effects_pending_key_validate(const WitUniverseDbi34EffectsPendingKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi34_effects_pending_key_check(v, error);
}

int wit_universe_dbi34_effects_pending_key_encode(const WitUniverseDbi34EffectsPendingKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi34_effects_pending_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi34_effects_pending_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi34_effects_pending_key_decode(const void *data, size_t len, WitUniverseDbi34EffectsPendingKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi34EffectsPendingKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi34_effects_pending_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi34-effects-pending-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi34_effects_pending_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi34_effects_pending_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi34_effects_pending_value_write(CodecWriter *w, const WitUniverseDbi34EffectsPendingValue *v)
{
    wit_universe_effect_write(w, &v->effect);
}

static void wit_universe_dbi34_effects_pending_value_read(CodecReader *r, WitUniverseDbi34EffectsPendingValue *v)
{
    wit_universe_effect_read(r, &v->effect);
    if (codec_read_failed(r, "record dbi34-effects-pending-value", "effect")) {
        return;
    }
}

static int wit_universe_dbi34_effects_pending_value_check(const WitUniverseDbi34EffectsPendingValue *v, CodecError *error)
{
    int rc = wit_universe_effect_check(&v->effect, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi34-effects-pending-value", "effect", rc);
    }
    return SAP_OK;
}

bool wit_universe_dbi34_effects_pending_value_equal(const WitUniverseDbi34EffectsPendingValue *a, const WitUniverseDbi34EffectsPendingValue *b)
{
    return wit_universe_effect_equal(&a->effect, &b->effect);
}

void wit_universe_dbi34_effects_pending_value_free(WitUniverseDbi34EffectsPendingValue *v)
{
    wit_universe_effect_free(&v->effect);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi34_effects_pending_value_validate(const WitUniverseDbi34EffectsPendingValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi34_effects_pending_value_check(v, error);
}

int wit_universe_dbi34_effects_pending_value_encode(const WitUniverseDbi34EffectsPendingValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi34_effects_pending_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi34_effects_pending_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi34_effects_pending_value_decode(const void *data, size_t len, WitUniverseDbi34EffectsPendingValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi34EffectsPendingValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi34_effects_pending_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi34-effects-pending-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi34_effects_pending_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi34_effects_pending_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi35_effects_inflight_key_write_key(CodecWriter *w, const WitUniverseDbi35EffectsInflightKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_u8(w, v->shard);
    codec_write_key_bytes(w, &v->seq);
}

static void wit_universe_dbi35_effects_inflight_key_read_key(CodecReader *r, WitUniverseDbi35EffectsInflightKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi35-effects-inflight-key", "universe")) {
        return;
    }
    v->shard = codec_read_u8(r);
    if (codec_read_failed(r, "record dbi35-effects-inflight-key", "shard")) {
        return;
    }
    codec_read_key_bytes(r, &v->seq);
    if (codec_read_failed(r, "record dbi35-effects-inflight-key", "seq")) {
        return;
    }
}

static int wit_universe_dbi35_effects_inflight_key_check(const WitUniverseDbi35EffectsInflightKey *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->seq.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi35-effects-inflight-key", "seq", "len(value) == 32");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi35_effects_inflight_key_equal(const WitUniverseDbi35EffectsInflightKey *a, const WitUniverseDbi35EffectsInflightKey *b)
{
    return a->universe == b->universe &&
           a->shard == b->shard &&
           codec_bytes_equal(&a->seq, &b->seq);
}

void wit_universe_dbi35_effects_inflight_key_free(WitUniverseDbi35EffectsInflightKey *v)
{
    codec_bytes_free(&v->seq);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi35_effects_inflight_key_validate(const WitUniverseDbi35EffectsInflightKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi35_effects_inflight_key_check(v, error);
}

int wit_universe_dbi35_effects_inflight_key_encode(const WitUniverseDbi35EffectsInflightKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi35_effects_inflight_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi35_effects_inflight_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi35_effects_inflight_key_decode(const void *data, size_t len, WitUniverseDbi35EffectsInflightKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi35EffectsInflightKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi35_effects_inflight_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi35-effects-inflight-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi35_effects_inflight_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi35_effects_inflight_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi35_effects_inflight_value_write(CodecWriter *w, const WitUniverseDbi35EffectsInflightValue *v)
{
    wit_universe_effect_write(w, &v->effect);
    codec_write_bytes(w, &v->token);
    uint8_t *at_claimed_ns = codec_write_room(w, 16);
    if (at_claimed_ns != NULL) {
        store_u64le(at_claimed_ns + 0, (uint64_t)v->claimed_ns);
        store_u64le(at_claimed_ns + 8, (uint64_t)v->deadline_ns);
    }
    wit_universe_retry_write(w, &v->policy);
    codec_write_u8(w, v->at_most_once);
    codec_write_bytes(w, &v->worker);
    codec_write_bytes(w, &v->nonce);
}

static void wit_universe_dbi35_effects_inflight_value_read(CodecReader *r, WitUniverseDbi35EffectsInflightValue *v)
{
    wit_universe_effect_read(r, &v->effect);
    if (codec_read_failed(r, "record dbi35-effects-inflight-value", "effect")) {
        return;
    }
    codec_read_bytes(r, &v->token);
    if (codec_read_failed(r, "record dbi35-effects-inflight-value", "token")) {
        return;
    }
    const uint8_t *at_claimed_ns = codec_read_run(r, 16);
    if (at_claimed_ns == NULL) {
        static const CodecField fields[] = {{"claimed-ns", 8}, {"deadline-ns", 8}};
        codec_read_no_run(r, "record dbi35-effects-inflight-value", fields, 2);
        return;
    }
    v->claimed_ns = (uint64_t)load_u64le(at_claimed_ns + 0);
    v->deadline_ns = (uint64_t)load_u64le(at_claimed_ns + 8);
    wit_universe_retry_read(r, &v->policy);
    if (codec_read_failed(r, "record dbi35-effects-inflight-value", "policy")) {
        return;
    }
    v->at_most_once = codec_read_bool(r);
    if (codec_read_failed(r, "record dbi35-effects-inflight-value", "at-most-once")) {
        return;
    }
    codec_read_bytes(r, &v->worker);
    if (codec_read_failed(r, "record dbi35-effects-inflight-value", "worker")) {
        return;
    }
    codec_read_bytes(r, &v->nonce);
    if (codec_read_failed(r, "record dbi35-effects-inflight-value", "nonce")) {
        return;
    }
}

static int wit_universe_dbi35_effects_inflight_value_check(const WitUniverseDbi35EffectsInflightValue *v, CodecError *error)
{
    int rc = wit_universe_effect_check(&v->effect, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi35-effects-inflight-value", "effect", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->token.len), codec_number_u(UINT64_C(16))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi35-effects-inflight-value", "token", "len(value) == 16");
        }
    }
    rc = wit_universe_retry_check(&v->policy, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi35-effects-inflight-value", "policy", rc);
    }
    rc = codec_check_string(&v->worker, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi35-effects-inflight-value", "worker", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->worker.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->worker.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi35-effects-inflight-value", "worker", "len(value) >= 1 && len(value) <= 128");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->nonce.len), codec_number_u(UINT64_C(16))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi35-effects-inflight-value", "nonce", "len(value) == 16");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi35_effects_inflight_value_equal(const WitUniverseDbi35EffectsInflightValue *a, const WitUniverseDbi35EffectsInflightValue *b)
{
    return wit_universe_effect_equal(&a->effect, &b->effect) &&
           codec_bytes_equal(&a->token, &b->token) &&
           a->claimed_ns == b->claimed_ns &&
           a->deadline_ns == b->deadline_ns &&
           wit_universe_retry_equal(&a->policy, &b->policy) &&
           a->at_most_once == b->at_most_once &&
           codec_bytes_equal(&a->worker, &b->worker) &&
           codec_bytes_equal(&a->nonce, &b->nonce);
}

void wit_universe_dbi35_effects_inflight_value_free(WitUniverseDbi35EffectsInflightValue *v)
{
    wit_universe_effect_free(&v->effect);
    codec_bytes_free(&v->token);
    codec_bytes_free(&v->worker);
    codec_bytes_free(&v->nonce);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi35_effects_inflight_value_validate(const WitUniverseDbi35EffectsInflightValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi35_effects_inflight_value_check(v, error);
}

int wit_universe_dbi35_effects_inflight_value_encode(const WitUniverseDbi35EffectsInflightValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi35_effects_inflight_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi35_effects_inflight_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi35_effects_inflight_value_decode(const void *data, size_t len, WitUniverseDbi35EffectsInflightValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi35EffectsInflightValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi35_effects_inflight_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi35-effects-inflight-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi35_effects_inflight_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi35_effects_inflight_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dispatch_status_write(CodecWriter *w, const WitUniverseDispatchStatus *v)
{
    codec_write_u8(w, *v);
}

static void wit_universe_dispatch_status_read(CodecReader *r, WitUniverseDispatchStatus *v)
{
    *v = codec_read_u8(r);
}

static int wit_universe_dispatch_status_check(const WitUniverseDispatchStatus *v, CodecError *error)
{
    return codec_blame(error, "enum dispatch-status", "", codec_check_case(*v, 4, error));
}

bool wit_universe_dispatch_status_equal(const WitUniverseDispatchStatus *a, const WitUniverseDispatchStatus *b)
{
    return *a == *b;
}

void wit_universe_dispatch_status_free(WitUniverseDispatchStatus *v)
{
    memset(v, 0, sizeof *v);
}

int wit_universe_dispatch_status_validate(const WitUniverseDispatchStatus *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dispatch_status_check(v, error);
}

int wit_universe_dispatch_status_encode(const WitUniverseDispatchStatus *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dispatch_status_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dispatch_status_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dispatch_status_decode(const void *data, size_t len, WitUniverseDispatchStatus *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDispatchStatus v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dispatch_status_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "enum dispatch-status", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dispatch_status_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi36_effects_dedupe_key_write_key(CodecWriter *w, const WitUniverseDbi36EffectsDedupeKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->intent_hash);
}

static void wit_universe_dbi36_effects_dedupe_key_read_key(CodecReader *r, WitUniverseDbi36EffectsDedupeKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi36-effects-dedupe-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->intent_hash);
    if (codec_read_failed(r, "record dbi36-effects-dedupe-key", "intent-hash")) {
        return;
    }
}

static int wit_universe_dbi36_effects_dedupe_key_check(const WitUniverseDbi36EffectsDedupeKey *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->intent_hash.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi36-effects-dedupe-key", "intent-hash", "len(value) == 32");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi36_effects_dedupe_key_equal(const WitUniverseDbi36EffectsDedupeKey *a, const WitUniverseDbi36EffectsDedupeKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->intent_hash, &b->intent_hash);
}

void wit_universe_dbi36_effects_dedupe_key_free(WitUniverseDbi36EffectsDedupeKey *v)
{
    codec_bytes_free(&v->intent_hash);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi36_effects_dedupe_key_validate(const WitUniverseDbi36EffectsDedupeKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi36_effects_dedupe_key_check(v, error);
}

int wit_universe_dbi36_effects_dedupe_key_encode(const WitUniverseDbi36EffectsDedupeKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi36_effects_dedupe_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi36_effects_dedupe_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi36_effects_dedupe_key_decode(const void *data, size_t len, WitUniverseDbi36EffectsDedupeKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi36EffectsDedupeKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi36_effects_dedupe_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi36-effects-dedupe-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi36_effects_dedupe_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi36_effects_dedupe_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi36_effects_dedupe_value_write(CodecWriter *w, const WitUniverseDbi36EffectsDedupeValue *v)
{
    wit_universe_dispatch_status_write(w, &v->status);
    codec_write_bytes(w, &v->world);
    codec_write_u32(w, v->table);
    codec_write_bytes(w, &v->key);
}

static void wit_universe_dbi36_effects_dedupe_value_read(CodecReader *r, WitUniverseDbi36EffectsDedupeValue *v)
{
    wit_universe_dispatch_status_read(r, &v->status);
    if (codec_read_failed(r, "record dbi36-effects-dedupe-value", "status")) {
        return;
    }
    codec_read_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi36-effects-dedupe-value", "world")) {
        return;
    }
    v->table = codec_read_u32(r);
    if (codec_read_failed(r, "record dbi36-effects-dedupe-value", "table")) {
        return;
    }
    codec_read_bytes(r, &v->key);
    if (codec_read_failed(r, "record dbi36-effects-dedupe-value", "key")) {
        return;
    }
}

static int wit_universe_dbi36_effects_dedupe_value_check(const WitUniverseDbi36EffectsDedupeValue *v, CodecError *error)
{
    int rc = wit_universe_dispatch_status_check(&v->status, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi36-effects-dedupe-value", "status", rc);
    }
    rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi36-effects-dedupe-value", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi36-effects-dedupe-value", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi36_effects_dedupe_value_equal(const WitUniverseDbi36EffectsDedupeValue *a, const WitUniverseDbi36EffectsDedupeValue *b)
{
    return wit_universe_dispatch_status_equal(&a->status, &b->status) &&
           codec_bytes_equal(&a->world, &b->world) &&
           a->table == b->table &&
           codec_bytes_equal(&a->key, &b->key);
}

void wit_universe_dbi36_effects_dedupe_value_free(WitUniverseDbi36EffectsDedupeValue *v)
{
    codec_bytes_free(&v->world);
    codec_bytes_free(&v->key);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi36_effects_dedupe_value_validate(const WitUniverseDbi36EffectsDedupeValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi36_effects_dedupe_value_check(v, error);
}

int wit_universe_dbi36_effects_dedupe_value_encode(const WitUniverseDbi36EffectsDedupeValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi36_effects_dedupe_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi36_effects_dedupe_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi36_effects_dedupe_value_decode(const void *data, size_t len, WitUniverseDbi36EffectsDedupeValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi36EffectsDedupeValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi36_effects_dedupe_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi36-effects-dedupe-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi36_effects_dedupe_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi36_effects_dedupe_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_timer_use_write(CodecWriter *w, const WitUniverseTimerUse *v)
{
    codec_write_u8(w, *v);
}

static void wit_universe_timer_use_read(CodecReader *r, WitUniverseTimerUse *v)
{
    *v = codec_read_u8(r);
}

static int wit_universe_timer_use_check(const WitUniverseTimerUse *v, CodecError *error)
{
    return codec_blame(error, "enum timer-use", "", codec_check_case(*v, 3, error));
}

bool wit_universe_timer_use_equal(const WitUniverseTimerUse *a, const WitUniverseTimerUse *b)
{
    return *a == *b;
}

void wit_universe_timer_use_free(WitUniverseTimerUse *v)
{
    memset(v, 0, sizeof *v);
}

int wit_universe_timer_use_validate(const WitUniverseTimerUse *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_timer_use_check(v, error);
}

int wit_universe_timer_use_encode(const WitUniverseTimerUse *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_timer_use_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_timer_use_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_timer_use_decode(const void *data, size_t len, WitUniverseTimerUse *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseTimerUse v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_timer_use_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "enum timer-use", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_timer_use_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi37_timers_due_key_write_key(CodecWriter *w, const WitUniverseDbi37TimersDueKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_u8(w, v->shard);
    wit_universe_timer_clock_write_key(w, &v->clock);
    codec_write_u64be(w, v->deliver_at_ns);
    codec_write_key_bytes(w, &v->intent_hash);
}

static void wit_universe_dbi37_timers_due_key_read_key(CodecReader *r, WitUniverseDbi37TimersDueKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi37-timers-due-key", "universe")) {
        return;
    }
    v->shard = codec_read_u8(r);
    if (codec_read_failed(r, "record dbi37-timers-due-key", "shard")) {
        return;
    }
    wit_universe_timer_clock_read_key(r, &v->clock);
    if (codec_read_failed(r, "record dbi37-timers-due-key", "clock")) {
        return;
    }
    v->deliver_at_ns = codec_read_u64be(r);
    if (codec_read_failed(r, "record dbi37-timers-due-key", "deliver-at-ns")) {
        return;
    }
    codec_read_key_bytes(r, &v->intent_hash);
    if (codec_read_failed(r, "record dbi37-timers-due-key", "intent-hash")) {
        return;
    }
}

static int wit_universe_dbi37_timers_due_key_check(const WitUniverseDbi37TimersDueKey *v, CodecError *error)
{
    int rc = wit_universe_timer_clock_check(&v->clock, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi37-timers-due-key", "clock", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->intent_hash.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi37-timers-due-key", "intent-hash", "len(value) == 32");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi37_timers_due_key_equal(const WitUniverseDbi37TimersDueKey *a, const WitUniverseDbi37TimersDueKey *b)
{
    return a->universe == b->universe &&
           a->shard == b->shard &&
           wit_universe_timer_clock_equal(&a->clock, &b->clock) &&
           a->deliver_at_ns == b->deliver_at_ns &&
           codec_bytes_equal(&a->intent_hash, &b->intent_hash);
}

void wit_universe_dbi37_timers_due_key_free(WitUniverseDbi37TimersDueKey *v)
{
    codec_bytes_free(&v->intent_hash);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi37_timers_due_key_validate(const WitUniverseDbi37TimersDueKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi37_timers_due_key_check(v, error);
}

int wit_universe_dbi37_timers_due_key_encode(const WitUniverseDbi37TimersDueKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi37_timers_due_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi37_timers_due_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi37_timers_due_key_decode(const void *data, size_t len, WitUniverseDbi37TimersDueKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi37TimersDueKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi37_timers_due_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi37-timers-due-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi37_timers_due_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi37_timers_due_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi37_timers_due_value_write(CodecWriter *w, const WitUniverseDbi37TimersDueValue *v)
{
    codec_write_bytes(w, &v->world);
    codec_write_u64(w, v->height);
    codec_write_bytes(w, &v->ref);
    wit_universe_encoding_write(w, &v->encoding);
    codec_write_bytes(w, &v->payload);
    wit_universe_timer_use_write(w, &v->use);
    codec_write_bytes(w, &v->correlation_id);
    codec_write_bytes(w, &v->trace_parent);
}

static void wit_universe_dbi37_timers_due_value_read(CodecReader *r, WitUniverseDbi37TimersDueValue *v)
{
    codec_read_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi37-timers-due-value", "world")) {
        return;
    }
    v->height = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi37-timers-due-value", "height")) {
        return;
    }
    codec_read_bytes(r, &v->ref);
    if (codec_read_failed(r, "record dbi37-timers-due-value", "ref")) {
        return;
    }
    wit_universe_encoding_read(r, &v->encoding);
    if (codec_read_failed(r, "record dbi37-timers-due-value", "encoding")) {
        return;
    }
    codec_read_bytes(r, &v->payload);
    if (codec_read_failed(r, "record dbi37-timers-due-value", "payload")) {
        return;
    }
    wit_universe_timer_use_read(r, &v->use);
    if (codec_read_failed(r, "record dbi37-timers-due-value", "use")) {
        return;
    }
    codec_read_bytes(r, &v->correlation_id);
    if (codec_read_failed(r, "record dbi37-timers-due-value", "correlation-id")) {
        return;
    }
    codec_read_bytes(r, &v->trace_parent);
    if (codec_read_failed(r, "record dbi37-timers-due-value", "trace-parent")) {
        return;
    }
}

static int wit_universe_dbi37_timers_due_value_check(const WitUniverseDbi37TimersDueValue *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi37-timers-due-value", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi37-timers-due-value", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    rc = codec_check_string(&v->ref, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi37-timers-due-value", "ref", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->ref.len), codec_number_u(UINT64_C(128))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi37-timers-due-value", "ref", "len(value) <= 128");
        }
    }
    rc = wit_universe_encoding_check(&v->encoding, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi37-timers-due-value", "encoding", rc);
    }
    rc = wit_universe_timer_use_check(&v->use, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi37-timers-due-value", "use", rc);
    }
    rc = codec_check_string(&v->correlation_id, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi37-timers-due-value", "correlation-id", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->correlation_id.len), codec_number_u(UINT64_C(256))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi37-timers-due-value", "correlation-id", "len(value) <= 256");
        }
    }
    rc = codec_check_string(&v->trace_parent, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi37-timers-due-value", "trace-parent", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->trace_parent.len), codec_number_u(UINT64_C(128))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi37-timers-due-value", "trace-parent", "len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi37_timers_due_value_equal(const WitUniverseDbi37TimersDueValue *a, const WitUniverseDbi37TimersDueValue *b)
{
    return codec_bytes_equal(&a->world, &b->world) &&
           a->height == b->height &&
           codec_bytes_equal(&a->ref, &b->ref) &&
           wit_universe_encoding_equal(&a->encoding, &b->encoding) &&
           codec_bytes_equal(&a->payload, &b->payload) &&
           wit_universe_timer_use_equal(&a->use, &b->use) &&
           codec_bytes_equal(&a->correlation_id, &b->correlation_id) &&
           codec_bytes_equal(&a->trace_parent, &b->trace_parent);
}

void wit_universe_dbi37_timers_due_value_free(WitUniverseDbi37TimersDueValue *v)
{
    codec_bytes_free(&v->world);
    codec_bytes_free(&v->ref);
    codec_bytes_free(&v->payload);
    codec_bytes_free(&v->correlation_id);
    codec_bytes_free(&v->trace_parent);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi37_timers_due_value_validate(const WitUniverseDbi37TimersDueValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi37_timers_due_value_check(v, error);
}

int wit_universe_dbi37_timers_due_value_encode(const WitUniverseDbi37TimersDueValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi37_timers_due_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi37_timers_due_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi37_timers_due_value_decode(const void *data, size_t len, WitUniverseDbi37TimersDueValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi37TimersDueValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi37_timers_due_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi37-timers-due-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi37_timers_due_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi37_timers_due_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi38_timers_dedupe_key_write_key(CodecWriter *w, const WitUniverseDbi38TimersDedupeKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->intent_hash);
}

static void wit_universe_dbi38_timers_dedupe_key_read_key(CodecReader *r, WitUniverseDbi38TimersDedupeKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi38-timers-dedupe-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->intent_hash);
    if (codec_read_failed(r, "record dbi38-timers-dedupe-key", "intent-hash")) {
        return;
    }
}

static int wit_universe_dbi38_timers_dedupe_key_check(const WitUniverseDbi38TimersDedupeKey *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->intent_hash.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi38-timers-dedupe-key", "intent-hash", "len(value) == 32");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi38_timers_dedupe_key_equal(const WitUniverseDbi38TimersDedupeKey *a, const WitUniverseDbi38TimersDedupeKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->intent_hash, &b->intent_hash);
}

void wit_universe_dbi38_timers_dedupe_key_free(WitUniverseDbi38TimersDedupeKey *v)
{
    codec_bytes_free(&v->intent_hash);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi38_timers_dedupe_key_validate(const WitUniverseDbi38TimersDedupeKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi38_timers_dedupe_key_check(v, error);
}

int wit_universe_dbi38_timers_dedupe_key_encode(const WitUniverseDbi38TimersDedupeKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi38_timers_dedupe_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi38_timers_dedupe_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi38_timers_dedupe_key_decode(const void *data, size_t len, WitUniverseDbi38TimersDedupeKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi38TimersDedupeKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi38_timers_dedupe_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi38-timers-dedupe-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi38_timers_dedupe_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi38_timers_dedupe_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi38_timers_dedupe_value_write(CodecWriter *w, const WitUniverseDbi38TimersDedupeValue *v)
{
    codec_write_bytes(w, &v->key);
}

static void wit_universe_dbi38_timers_dedupe_value_read(CodecReader *r, WitUniverseDbi38TimersDedupeValue *v)
{
    codec_read_bytes(r, &v->key);
    if (codec_read_failed(r, "record dbi38-timers-dedupe-value", "key")) {
        return;
    }
}

bool wit_universe_dbi38_timers_dedupe_value_equal(const WitUniverseDbi38TimersDedupeValue *a, const WitUniverseDbi38TimersDedupeValue *b)
{
    return codec_bytes_equal(&a->key, &b->key);
}

void wit_universe_dbi38_timers_dedupe_value_free(WitUniverseDbi38TimersDedupeValue *v)
{
    codec_bytes_free(&v->key);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi38_timers_dedupe_value_validate(const WitUniverseDbi38TimersDedupeValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_universe_dbi38_timers_dedupe_value_encode(const WitUniverseDbi38TimersDedupeValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi38_timers_dedupe_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi38_timers_dedupe_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi38_timers_dedupe_value_decode(const void *data, size_t len, WitUniverseDbi38TimersDedupeValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi38TimersDedupeValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi38_timers_dedupe_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi38-timers-dedupe-value", "");
    if (r.rc != SAP_OK) {
        wit_universe_dbi38_timers_dedupe_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi39_ready_key_write_key(CodecWriter *w, const WitUniverseDbi39ReadyKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_u8(w, v->shard);
    codec_write_u8(w, v->priority);
    codec_write_key_bytes(w, &v->seq);
    codec_write_key_bytes(w, &v->world);
}

static void wit_universe_dbi39_ready_key_read_key(CodecReader *r, WitUniverseDbi39ReadyKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi39-ready-key", "universe")) {
        return;
    }
    v->shard = codec_read_u8(r);
    if (codec_read_failed(r, "record dbi39-ready-key", "shard")) {
        return;
    }
    v->priority = codec_read_u8(r);
    if (codec_read_failed(r, "record dbi39-ready-key", "priority")) {
        return;
    }
    codec_read_key_bytes(r, &v->seq);
    if (codec_read_failed(r, "record dbi39-ready-key", "seq")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi39-ready-key", "world")) {
        return;
    }
}

static int wit_universe_dbi39_ready_key_check(const WitUniverseDbi39ReadyKey *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->seq.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi39-ready-key", "seq", "len(value) == 32");
        }
    }
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi39-ready-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi39-ready-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi39_ready_key_equal(const WitUniverseDbi39ReadyKey *a, const WitUniverseDbi39ReadyKey *b)
{
    return a->universe == b->universe &&
           a->shard == b->shard &&
           a->priority == b->priority &&
           codec_bytes_equal(&a->seq, &b->seq) &&
           codec_bytes_equal(&a->world, &b->world);
}

void wit_universe_dbi39_ready_key_free(WitUniverseDbi39ReadyKey *v)
{
    codec_bytes_free(&v->seq);
    codec_bytes_free(&v->world);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi39_ready_key_validate(const WitUniverseDbi39ReadyKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi39_ready_key_check(v, error);
}

int wit_universe_dbi39_ready_key_encode(const WitUniverseDbi39ReadyKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi39_ready_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi39_ready_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi39_ready_key_decode(const void *data, size_t len, WitUniverseDbi39ReadyKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi39ReadyKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi39_ready_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi39-ready-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi39_ready_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi39_ready_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi39_ready_value_write(CodecWriter *w, const WitUniverseDbi39ReadyValue *v)
{
    codec_write_raw(w, v->value.data, v->value.len);
}

static void wit_universe_dbi39_ready_value_read(CodecReader *r, WitUniverseDbi39ReadyValue *v)
{
    codec_read_rest(r, &v->value);
    if (codec_read_failed(r, "record dbi39-ready-value", "value")) {
        return;
    }
}

bool wit_universe_dbi39_ready_value_equal(const WitUniverseDbi39ReadyValue *a, const WitUniverseDbi39ReadyValue *b)
{
    return codec_bytes_equal(&a->value, &b->value);
}

void wit_universe_dbi39_ready_value_free(WitUniverseDbi39ReadyValue *v)
{
    codec_bytes_free(&v->value);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi39_ready_value_validate(const WitUniverseDbi39ReadyValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_universe_dbi39_ready_value_encode(const WitUniverseDbi39ReadyValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi39_ready_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi39_ready_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi39_ready_value_decode(const void *data, size_t len, WitUniverseDbi39ReadyValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi39ReadyValue v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi39_ready_value_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi39-ready-value", "");
    if (r.rc != SAP_OK) {
        wit_universe_dbi39_ready_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi40_rolelease_key_write_key(CodecWriter *w, const WitUniverseDbi40RoleleaseKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->role);
    codec_write_u8(w, v->shard);
}

static void wit_universe_dbi40_rolelease_key_read_key(CodecReader *r, WitUniverseDbi40RoleleaseKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi40-rolelease-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->role);
    if (codec_read_failed(r, "record dbi40-rolelease-key", "role")) {
        return;
    }
    v->shard = codec_read_u8(r);
    if (codec_read_failed(r, "record dbi40-rolelease-key", "shard")) {
        return;
    }
}

static int wit_universe_dbi40_rolelease_key_check(const WitUniverseDbi40RoleleaseKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->role, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi40-rolelease-key", "role", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->role.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->role.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi40-rolelease-key", "role", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi40_rolelease_key_equal(const WitUniverseDbi40RoleleaseKey *a, const WitUniverseDbi40RoleleaseKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->role, &b->role) &&
           a->shard == b->shard;
}

void wit_universe_dbi40_rolelease_key_free(WitUniverseDbi40RoleleaseKey *v)
{
    codec_bytes_free(&v->role);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi40_rolelease_key_validate(const WitUniverseDbi40RoleleaseKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi40_rolelease_key_check(v, error);
}

int wit_universe_dbi40_rolelease_key_encode(const WitUniverseDbi40RoleleaseKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi40_rolelease_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi40_rolelease_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi40_rolelease_key_decode(const void *data, size_t len, WitUniverseDbi40RoleleaseKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi40RoleleaseKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi40_rolelease_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi40-rolelease-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi40_rolelease_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi40_rolelease_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi40_rolelease_value_write(CodecWriter *w, const WitUniverseDbi40RoleleaseValue *v)
{
    codec_write_bytes(w, &v->holder);
    codec_write_bytes(w, &v->nonce);
    codec_write_u64(w, v->epoch);
    codec_write_u8(w, v->unclean);
}

static void wit_universe_dbi40_rolelease_value_read(CodecReader *r, WitUniverseDbi40RoleleaseValue *v)
{
    codec_read_bytes(r, &v->holder);
    if (codec_read_failed(r, "record dbi40-rolelease-value", "holder")) {
        return;
    }
    codec_read_bytes(r, &v->nonce);
    if (codec_read_failed(r, "record dbi40-rolelease-value", "nonce")) {
        return;
    }
    v->epoch = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi40-rolelease-value", "epoch")) {
        return;
    }
    v->unclean = codec_read_bool(r);
    if (codec_read_failed(r, "record dbi40-rolelease-value", "unclean")) {
        return;
    }
}

static int wit_universe_dbi40_rolelease_value_check(const WitUniverseDbi40RoleleaseValue *v, CodecError *error)
{
    int rc = codec_check_string(&v->holder, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi40-rolelease-value", "holder", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->holder.len), codec_number_u(UINT64_C(128))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi40-rolelease-value", "holder", "len(value) <= 128");
        }
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->nonce.len), codec_number_u(UINT64_C(0))) == 0) || (codec_number_compare(codec_number_u(v->nonce.len), codec_number_u(UINT64_C(16))) == 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi40-rolelease-value", "nonce", "len(value) == 0 || len(value) == 16");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->epoch), codec_number_u(UINT64_C(1))) >= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi40-rolelease-value", "epoch", "value >= 1");
        }
    }
    {
        bool bad = false;
        bool holds = codec_truths_equal((codec_number_compare(codec_number_u(v->holder.len), codec_number_u(UINT64_C(0))) == 0), (codec_number_compare(codec_number_u(v->nonce.len), codec_number_u(UINT64_C(0))) == 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi40-rolelease-value", "", "(len(holder) == 0) == (len(nonce) == 0)");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi40_rolelease_value_equal(const WitUniverseDbi40RoleleaseValue *a, const WitUniverseDbi40RoleleaseValue *b)
{
    return codec_bytes_equal(&a->holder, &b->holder) &&
           codec_bytes_equal(&a->nonce, &b->nonce) &&
           a->epoch == b->epoch &&
           a->unclean == b->unclean;
}

void wit_universe_dbi40_rolelease_value_free(WitUniverseDbi40RoleleaseValue *v)
{
    codec_bytes_free(&v->holder);
    codec_bytes_free(&v->nonce);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi40_rolelease_value_validate(const WitUniverseDbi40RoleleaseValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi40_rolelease_value_check(v, error);
}

int wit_universe_dbi40_rolelease_value_encode(const WitUniverseDbi40RoleleaseValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi40_rolelease_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi40_rolelease_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi40_rolelease_value_decode(const void *data, size_t len, WitUniverseDbi40RoleleaseValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi40RoleleaseValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi40_rolelease_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi40-rolelease-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi40_rolelease_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi40_rolelease_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi41_expiry_key_write_key(CodecWriter *w, const WitUniverseDbi41ExpiryKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_u64be(w, v->at_ns);
    codec_write_key_bytes(w, &v->seq);
}

static void wit_universe_dbi41_expiry_key_read_key(CodecReader *r, WitUniverseDbi41ExpiryKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi41-expiry-key", "universe")) {
        return;
    }
    v->at_ns = codec_read_u64be(r);
    if (codec_read_failed(r, "record dbi41-expiry-key", "at-ns")) {
        return;
    }
    codec_read_key_bytes(r, &v->seq);
    if (codec_read_failed(r, "record dbi41-expiry-key", "seq")) {
        return;
    }
}

static int wit_universe_dbi41_expiry_key_check(const WitUniverseDbi41ExpiryKey *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->seq.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi41-expiry-key", "seq", "len(value) == 32");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi41_expiry_key_equal(const WitUniverseDbi41ExpiryKey *a, const WitUniverseDbi41ExpiryKey *b)
{
    return a->universe == b->universe &&
           a->at_ns == b->at_ns &&
           codec_bytes_equal(&a->seq, &b->seq);
}

void wit_universe_dbi41_expiry_key_free(WitUniverseDbi41ExpiryKey *v)
{
    codec_bytes_free(&v->seq);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi41_expiry_key_validate(const WitUniverseDbi41ExpiryKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi41_expiry_key_check(v, error);
}

int wit_universe_dbi41_expiry_key_encode(const WitUniverseDbi41ExpiryKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi41_expiry_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi41_expiry_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi41_expiry_key_decode(const void *data, size_t len, WitUniverseDbi41ExpiryKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi41ExpiryKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi41_expiry_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi41-expiry-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi41_expiry_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi41_expiry_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi41_expiry_value_write(CodecWriter *w, const WitUniverseDbi41ExpiryValue *v)
{
    codec_write_u32(w, v->table);
    codec_write_bytes(w, &v->key);
}

static void wit_universe_dbi41_expiry_value_read(CodecReader *r, WitUniverseDbi41ExpiryValue *v)
{
    v->table = codec_read_u32(r);
    if (codec_read_failed(r, "record dbi41-expiry-value", "table")) {
        return;
    }
    codec_read_bytes(r, &v->key);
    if (codec_read_failed(r, "record dbi41-expiry-value", "key")) {
        return;
    }
}

bool wit_universe_dbi41_expiry_value_equal(const WitUniverseDbi41ExpiryValue *a, const WitUniverseDbi41ExpiryValue *b)
{
    return a->table == b->table &&
           codec_bytes_equal(&a->key, &b->key);
}

void wit_universe_dbi41_expiry_value_free(WitUniverseDbi41ExpiryValue *v)
{
    codec_bytes_free(&v->key);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi41_expiry_value_validate(const WitUniverseDbi41ExpiryValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_universe_dbi41_expiry_value_encode(const WitUniverseDbi41ExpiryValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi41_expiry_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi41_expiry_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi41_expiry_value_decode(const void *data, size_t len, WitUniverseDbi41ExpiryValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi41ExpiryValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi41_expiry_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi41-expiry-value", "");
    if (r.rc != SAP_OK) {
        wit_universe_dbi41_expiry_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi42_promises_key_write_key(CodecWriter *w, const WitUniverseDbi42PromisesKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->id);
}

static void wit_universe_dbi42_promises_key_read_key(CodecReader *r, WitUniverseDbi42PromisesKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi42-promises-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->id);
    if (codec_read_failed(r, "record dbi42-promises-key", "id")) {
        return;
    }
}

static int wit_universe_dbi42_promises_key_check(const WitUniverseDbi42PromisesKey *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->id.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi42-promises-key", "id", "len(value) == 32");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi42_promises_key_equal(const WitUniverseDbi42PromisesKey *a, const WitUniverseDbi42PromisesKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->id, &b->id);
}

void wit_universe_dbi42_promises_key_free(WitUniverseDbi42PromisesKey *v)
{
    codec_bytes_free(&v->id);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi42_promises_key_validate(const WitUniverseDbi42PromisesKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi42_promises_key_check(v, error);
}

int wit_universe_dbi42_promises_key_encode(const WitUniverseDbi42PromisesKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi42_promises_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi42_promises_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi42_promises_key_decode(const void *data, size_t len, WitUniverseDbi42PromisesKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi42PromisesKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi42_promises_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi42-promises-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi42_promises_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi42_promises_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi42_promises_value_write(CodecWriter *w, const WitUniverseDbi42PromisesValue *v)
{
    codec_write_bytes(w, &v->world);
    codec_write_bytes(w, &v->intent_hash);
    uint8_t *at_deadline_ns = codec_write_room(w, 16);
    if (at_deadline_ns != NULL) {
        store_u64le(at_deadline_ns + 0, (uint64_t)v->deadline_ns);
        store_u64le(at_deadline_ns + 8, (uint64_t)v->height);
    }
    codec_write_bytes(w, &v->ref);
    codec_write_bytes(w, &v->correlation_id);
    codec_write_bytes(w, &v->trace_parent);
}

static void wit_universe_dbi42_promises_value_read(CodecReader *r, WitUniverseDbi42PromisesValue *v)
{
    codec_read_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi42-promises-value", "world")) {
        return;
    }
    codec_read_bytes(r, &v->intent_hash);
    if (codec_read_failed(r, "record dbi42-promises-value", "intent-hash")) {
        return;
    }
    const uint8_t *at_deadline_ns = codec_read_run(r, 16);
    if (at_deadline_ns == NULL) {
        static const CodecField fields[] = {{"deadline-ns", 8}, {"height", 8}};
        codec_read_no_run(r, "record dbi42-promises-value", fields, 2);
        return;
    }
    v->deadline_ns = (uint64_t)load_u64le(at_deadline_ns + 0);
    v->height = (uint64_t)load_u64le(at_deadline_ns + 8);
    codec_read_bytes(r, &v->ref);
    if (codec_read_failed(r, "record dbi42-promises-value", "ref")) {
        return;
    }
    codec_read_bytes(r, &v->correlation_id);
    if (codec_read_failed(r, "record dbi42-promises-value", "correlation-id")) {
        return;
    }
    codec_read_bytes(r, &v->trace_parent);
    if (codec_read_failed(r, "record dbi42-promises-value", "trace-parent")) {
        return;
    }
}

static int wit_universe_dbi42_promises_value_check(const WitUniverseDbi42PromisesValue *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi42-promises-value", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi42-promises-value", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->intent_hash.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi42-promises-value", "intent-hash", "len(value) == 32");
        }
    }
    rc = codec_check_string(&v->ref, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi42-promises-value", "ref", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->ref.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->ref.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi42-promises-value", "ref", "len(value) >= 1 && len(value) <= 128");
        }
    }
    rc = codec_check_string(&v->correlation_id, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi42-promises-value", "correlation-id", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->correlation_id.len), codec_number_u(UINT64_C(256))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi42-promises-value", "correlation-id", "len(value) <= 256");
        }
    }
    rc = codec_check_string(&v->trace_parent, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi42-promises-value", "trace-parent", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->trace_parent.len), codec_number_u(UINT64_C(128))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi42-promises-value", "trace-parent", "len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi42_promises_value_equal(const WitUniverseDbi42PromisesValue *a, const WitUniverseDbi42PromisesValue *b)
{
    return codec_bytes_equal(&a->world, &b->world) &&
           codec_bytes_equal(&a->intent_hash, &b->intent_hash) &&
           a->deadline_ns == b->deadline_ns &&
           a->height == b->height &&
           codec_bytes_equal(&a->ref, &b->ref) &&
           codec_bytes_equal(&a->correlation_id, &b->correlation_id) &&
           codec_bytes_equal(&a->trace_parent, &b->trace_parent);
}

void wit_universe_dbi42_promises_value_free(WitUniverseDbi42PromisesValue *v)
{
    codec_bytes_free(&v->world);
    codec_bytes_free(&v->intent_hash);
    codec_bytes_free(&v->ref);
    codec_bytes_free(&v->correlation_id);
    codec_bytes_free(&v->trace_parent);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi42_promises_value_validate(const WitUniverseDbi42PromisesValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi42_promises_value_check(v, error);
}

int wit_universe_dbi42_promises_value_encode(const WitUniverseDbi42PromisesValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi42_promises_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi42_promises_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi42_promises_value_decode(const void *data, size_t len, WitUniverseDbi42PromisesValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi42PromisesValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi42_promises_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi42-promises-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi42_promises_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi42_promises_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_module_state_write(CodecWriter *w, const WitUniverseModuleState *v)
{
    codec_write_u8(w, *v);
}

static void wit_universe_module_state_read(CodecReader *r, WitUniverseModuleState *v)
{
    *v = codec_read_u8(r);
}

static int wit_universe_module_state_check(const WitUniverseModuleState *v, CodecError *error)
{
    return codec_blame(error, "enum module-state", "", codec_check_case(*v, 2, error));
}

bool wit_universe_module_state_equal(const WitUniverseModuleState *a, const WitUniverseModuleState *b)
{
    return *a == *b;
}

void wit_universe_module_state_free(WitUniverseModuleState *v)
{
    memset(v, 0, sizeof *v);
}

int wit_universe_module_state_validate(const WitUniverseModuleState *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_module_state_check(v, error);
}

int wit_universe_module_state_encode(const WitUniverseModuleState *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_module_state_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_module_state_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_module_state_decode(const void *data, size_t len, WitUniverseModuleState *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseModuleState v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_module_state_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "enum module-state", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_module_state_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi43_modules_key_write_key(CodecWriter *w, const WitUniverseDbi43ModulesKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->name);
    codec_write_u64be(w, v->version);
}

static void wit_universe_dbi43_modules_key_read_key(CodecReader *r, WitUniverseDbi43ModulesKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi43-modules-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->name);
    if (codec_read_failed(r, "record dbi43-modules-key", "name")) {
        return;
    }
    v->version = codec_read_u64be(r);
    if (codec_read_failed(r, "record dbi43-modules-key", "version")) {
        return;
    }
}

static int wit_universe_dbi43_modules_key_check(const WitUniverseDbi43ModulesKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->name, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi43-modules-key", "name", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->name.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->name.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi43-modules-key", "name", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi43_modules_key_equal(const WitUniverseDbi43ModulesKey *a, const WitUniverseDbi43ModulesKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->name, &b->name) &&
           a->version == b->version;
}

void wit_universe_dbi43_modules_key_free(WitUniverseDbi43ModulesKey *v)
{
    codec_bytes_free(&v->name);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi43_modules_key_validate(const WitUniverseDbi43ModulesKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi43_modules_key_check(v, error);
}

int wit_universe_dbi43_modules_key_encode(const WitUniverseDbi43ModulesKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi43_modules_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi43_modules_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi43_modules_key_decode(const void *data, size_t len, WitUniverseDbi43ModulesKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi43ModulesKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi43_modules_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi43-modules-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi43_modules_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi43_modules_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi43_modules_value_write(CodecWriter *w, const WitUniverseDbi43ModulesValue *v)
{
    codec_write_bytes(w, &v->runner);
    codec_write_bytes(w, &v->code);
    codec_write_u32(w, v->max_attempts);
    codec_write_u8(w, v->skip);
    codec_write_u64(w, v->registered_ns);
    codec_write_u8(w, v->resumed);
    uint8_t *at_state = codec_write_room(w, 9);
    if (at_state != NULL) {
        at_state[0] = (uint8_t)v->state;
        store_u64le(at_state + 1, (uint64_t)v->timeout_ns);
    }
    codec_write_bytes(w, &v->settings);
    codec_write_bytes(w, &v->schemas);
}

static void wit_universe_dbi43_modules_value_read(CodecReader *r, WitUniverseDbi43ModulesValue *v)
{
    codec_read_bytes(r, &v->runner);
    if (codec_read_failed(r, "record dbi43-modules-value", "runner")) {
        return;
    }
    codec_read_bytes(r, &v->code);
    if (codec_read_failed(r, "record dbi43-modules-value", "code")) {
        return;
    }
    v->max_attempts = codec_read_u32(r);
    if (codec_read_failed(r, "record dbi43-modules-value", "max-attempts")) {
        return;
    }
    v->skip = codec_read_bool(r);
    if (codec_read_failed(r, "record dbi43-modules-value", "skip")) {
        return;
    }
    v->registered_ns = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi43-modules-value", "registered-ns")) {
        return;
    }
    v->resumed = codec_read_bool(r);
    if (codec_read_failed(r, "record dbi43-modules-value", "resumed")) {
        return;
    }
    const uint8_t *at_state = codec_read_run(r, 9);
    if (at_state == NULL) {
        static const CodecField fields[] = {{"state", 1}, {"timeout-ns", 8}};
        codec_read_no_run(r, "record dbi43-modules-value", fields, 2);
        return;
    }
    v->state = (WitUniverseModuleState)at_state[0];
    v->timeout_ns = (uint64_t)load_u64le(at_state + 1);
    codec_read_bytes(r, &v->settings);
    if (codec_read_failed(r, "record dbi43-modules-value", "settings")) {
        return;
    }
    codec_read_bytes(r, &v->schemas);
    if (codec_read_failed(r, "record dbi43-modules-value", "schemas")) {
        return;
    }
}

static int wit_universe_dbi43_modules_value_check(const WitUniverseDbi43ModulesValue *v, CodecError *error)
{
    int rc = codec_check_string(&v->runner, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi43-modules-value", "runner", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->runner.len), codec_number_u(UINT64_C(4096))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi43-modules-value", "runner", "len(value) <= 4096");
        }
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->code.len), codec_number_u(UINT64_C(0))) == 0) || (codec_number_compare(codec_number_u(v->code.len), codec_number_u(UINT64_C(32))) == 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi43-modules-value", "code", "len(value) == 0 || len(value) == 32");
        }
    }
    rc = wit_universe_module_state_check(&v->state, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi43-modules-value", "state", rc);
    }
    rc = codec_check_string(&v->settings, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi43-modules-value", "settings", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->settings.len), codec_number_u(UINT64_C(16384))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi43-modules-value", "settings", "len(value) <= 16384");
        }
    }
    rc = codec_check_string(&v->schemas, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi43-modules-value", "schemas", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->schemas.len), codec_number_u(UINT64_C(65536))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi43-modules-value", "schemas", "len(value) <= 65536");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi43_modules_value_equal(const WitUniverseDbi43ModulesValue *a, const WitUniverseDbi43ModulesValue *b)
{
    return codec_bytes_equal(&a->runner, &b->runner) &&
           codec_bytes_equal(&a->code, &b->code) &&
           a->max_attempts == b->max_attempts &&
           a->skip == b->skip &&
           a->registered_ns == b->registered_ns &&
           a->resumed == b->resumed &&
           wit_universe_module_state_equal(&a->state, &b->state) &&
           a->timeout_ns == b->timeout_ns &&
           codec_bytes_equal(&a->settings, &b->settings) &&
           codec_bytes_equal(&a->schemas, &b->schemas);
}

void wit_universe_dbi43_modules_value_free(WitUniverseDbi43ModulesValue *v)
{
    codec_bytes_free(&v->runner);
    codec_bytes_free(&v->code);
    codec_bytes_free(&v->settings);
    codec_bytes_free(&v->schemas);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi43_modules_value_validate(const WitUniverseDbi43ModulesValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi43_modules_value_check(v, error);
}

int wit_universe_dbi43_modules_value_encode(const WitUniverseDbi43ModulesValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi43_modules_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi43_modules_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi43_modules_value_decode(const void *data, size_t len, WitUniverseDbi43ModulesValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi43ModulesValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi43_modules_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi43-modules-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi43_modules_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi43_modules_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi44_cron_key_write_key(CodecWriter *w, const WitUniverseDbi44CronKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->id);
}

static void wit_universe_dbi44_cron_key_read_key(CodecReader *r, WitUniverseDbi44CronKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi44-cron-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->id);
    if (codec_read_failed(r, "record dbi44-cron-key", "id")) {
        return;
    }
}

static int wit_universe_dbi44_cron_key_check(const WitUniverseDbi44CronKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->id, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi44-cron-key", "id", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->id.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->id.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi44-cron-key", "id", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi44_cron_key_equal(const WitUniverseDbi44CronKey *a, const WitUniverseDbi44CronKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->id, &b->id);
}

void wit_universe_dbi44_cron_key_free(WitUniverseDbi44CronKey *v)
{
    codec_bytes_free(&v->id);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi44_cron_key_validate(const WitUniverseDbi44CronKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi44_cron_key_check(v, error);
}

int wit_universe_dbi44_cron_key_encode(const WitUniverseDbi44CronKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi44_cron_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi44_cron_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi44_cron_key_decode(const void *data, size_t len, WitUniverseDbi44CronKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi44CronKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi44_cron_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi44-cron-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi44_cron_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi44_cron_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi44_cron_value_write(CodecWriter *w, const WitUniverseDbi44CronValue *v)
{
    codec_write_bytes(w, &v->schedule);
    codec_write_bytes(w, &v->world);
    codec_write_bytes(w, &v->name);
    wit_universe_encoding_write(w, &v->encoding);
    codec_write_bytes(w, &v->payload);
    codec_write_u64(w, v->next_ns);
}

static void wit_universe_dbi44_cron_value_read(CodecReader *r, WitUniverseDbi44CronValue *v)
{
    codec_read_bytes(r, &v->schedule);
    if (codec_read_failed(r, "record dbi44-cron-value", "schedule")) {
        return;
    }
    codec_read_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi44-cron-value", "world")) {
        return;
    }
    codec_read_bytes(r, &v->name);
    if (codec_read_failed(r, "record dbi44-cron-value", "name")) {
        return;
    }
    wit_universe_encoding_read(r, &v->encoding);
    if (codec_read_failed(r, "record dbi44-cron-value", "encoding")) {
        return;
    }
    codec_read_bytes(r, &v->payload);
    if (codec_read_failed(r, "record dbi44-cron-value", "payload")) {
        return;
    }
    v->next_ns = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi44-cron-value", "next-ns")) {
        return;
    }
}

static int wit_universe_dbi44_cron_value_check(const WitUniverseDbi44CronValue *v, CodecError *error)
{
    int rc = codec_check_string(&v->schedule, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi44-cron-value", "schedule", rc);
    }
    rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi44-cron-value", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi44-cron-value", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    rc = codec_check_string(&v->name, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi44-cron-value", "name", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->name.len), codec_number_u(UINT64_C(128))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi44-cron-value", "name", "len(value) <= 128");
        }
    }
    rc = wit_universe_encoding_check(&v->encoding, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi44-cron-value", "encoding", rc);
    }
    return SAP_OK;
}

bool wit_universe_dbi44_cron_value_equal(const WitUniverseDbi44CronValue *a, const WitUniverseDbi44CronValue *b)
{
    return codec_bytes_equal(&a->schedule, &b->schedule) &&
           codec_bytes_equal(&a->world, &b->world) &&
           codec_bytes_equal(&a->name, &b->name) &&
           wit_universe_encoding_equal(&a->encoding, &b->encoding) &&
           codec_bytes_equal(&a->payload, &b->payload) &&
           a->next_ns == b->next_ns;
}

void wit_universe_dbi44_cron_value_free(WitUniverseDbi44CronValue *v)
{
    codec_bytes_free(&v->schedule);
    codec_bytes_free(&v->world);
    codec_bytes_free(&v->name);
    codec_bytes_free(&v->payload);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi44_cron_value_validate(const WitUniverseDbi44CronValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi44_cron_value_check(v, error);
}

int wit_universe_dbi44_cron_value_encode(const WitUniverseDbi44CronValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi44_cron_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi44_cron_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi44_cron_value_decode(const void *data, size_t len, WitUniverseDbi44CronValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi44CronValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi44_cron_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi44-cron-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi44_cron_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi44_cron_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi45_kinds_key_write_key(CodecWriter *w, const WitUniverseDbi45KindsKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->kind);
    codec_write_key_bytes(w, &v->node);
}

static void wit_universe_dbi45_kinds_key_read_key(CodecReader *r, WitUniverseDbi45KindsKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi45-kinds-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->kind);
    if (codec_read_failed(r, "record dbi45-kinds-key", "kind")) {
        return;
    }
    codec_read_key_bytes(r, &v->node);
    if (codec_read_failed(r, "record dbi45-kinds-key", "node")) {
        return;
    }
}

static int wit_universe_dbi45_kinds_key_check(const WitUniverseDbi45KindsKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->kind, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi45-kinds-key", "kind", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->kind.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->kind.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi45-kinds-key", "kind", "len(value) >= 1 && len(value) <= 128");
        }
    }
    rc = codec_check_string(&v->node, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi45-kinds-key", "node", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->node.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->node.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi45-kinds-key", "node", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi45_kinds_key_equal(const WitUniverseDbi45KindsKey *a, const WitUniverseDbi45KindsKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->kind, &b->kind) &&
           codec_bytes_equal(&a->node, &b->node);
}

void wit_universe_dbi45_kinds_key_free(WitUniverseDbi45KindsKey *v)
{
    codec_bytes_free(&v->kind);
    codec_bytes_free(&v->node);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi45_kinds_key_validate(const WitUniverseDbi45KindsKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi45_kinds_key_check(v, error);
}

int wit_universe_dbi45_kinds_key_encode(const WitUniverseDbi45KindsKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi45_kinds_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi45_kinds_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi45_kinds_key_decode(const void *data, size_t len, WitUniverseDbi45KindsKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi45KindsKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi45_kinds_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi45-kinds-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi45_kinds_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi45_kinds_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi45_kinds_value_write(CodecWriter *w, const WitUniverseDbi45KindsValue *v)
{
    codec_write_bytes(w, &v->nonce);
    codec_write_u8(w, v->at_most_once);
    wit_universe_retry_write(w, &v->retry);
}

static void wit_universe_dbi45_kinds_value_read(CodecReader *r, WitUniverseDbi45KindsValue *v)
{
    codec_read_bytes(r, &v->nonce);
    if (codec_read_failed(r, "record dbi45-kinds-value", "nonce")) {
        return;
    }
    v->at_most_once = codec_read_bool(r);
    if (codec_read_failed(r, "record dbi45-kinds-value", "at-most-once")) {
        return;
    }
    wit_universe_retry_read(r, &v->retry);
    if (codec_read_failed(r, "record dbi45-kinds-value", "retry")) {
        return;
    }
}

static int wit_universe_dbi45_kinds_value_check(const WitUniverseDbi45KindsValue *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->nonce.len), codec_number_u(UINT64_C(16))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi45-kinds-value", "nonce", "len(value) == 16");
        }
    }
    int rc = wit_universe_retry_check(&v->retry, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi45-kinds-value", "retry", rc);
    }
    return SAP_OK;
}

bool wit_universe_dbi45_kinds_value_equal(const WitUniverseDbi45KindsValue *a, const WitUniverseDbi45KindsValue *b)
{
    return codec_bytes_equal(&a->nonce, &b->nonce) &&
           a->at_most_once == b->at_most_once &&
           wit_universe_retry_equal(&a->retry, &b->retry);
}

void wit_universe_dbi45_kinds_value_free(WitUniverseDbi45KindsValue *v)
{
    codec_bytes_free(&v->nonce);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi45_kinds_value_validate(const WitUniverseDbi45KindsValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi45_kinds_value_check(v, error);
}

int wit_universe_dbi45_kinds_value_encode(const WitUniverseDbi45KindsValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi45_kinds_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi45_kinds_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi45_kinds_value_decode(const void *data, size_t len, WitUniverseDbi45KindsValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi45KindsValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi45_kinds_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi45-kinds-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi45_kinds_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi45_kinds_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi46_tags_key_write_key(CodecWriter *w, const WitUniverseDbi46TagsKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->tag);
    codec_write_key_bytes(w, &v->world);
}

static void wit_universe_dbi46_tags_key_read_key(CodecReader *r, WitUniverseDbi46TagsKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi46-tags-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->tag);
    if (codec_read_failed(r, "record dbi46-tags-key", "tag")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi46-tags-key", "world")) {
        return;
    }
}

static int wit_universe_dbi46_tags_key_check(const WitUniverseDbi46TagsKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->tag, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi46-tags-key", "tag", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->tag.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->tag.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi46-tags-key", "tag", "len(value) >= 1 && len(value) <= 128");
        }
    }
    rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi46-tags-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi46-tags-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi46_tags_key_equal(const WitUniverseDbi46TagsKey *a, const WitUniverseDbi46TagsKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->tag, &b->tag) &&
           codec_bytes_equal(&a->world, &b->world);
}

void wit_universe_dbi46_tags_key_free(WitUniverseDbi46TagsKey *v)
{
    codec_bytes_free(&v->tag);
    codec_bytes_free(&v->world);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi46_tags_key_validate(const WitUniverseDbi46TagsKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi46_tags_key_check(v, error);
}

int wit_universe_dbi46_tags_key_encode(const WitUniverseDbi46TagsKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi46_tags_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi46_tags_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi46_tags_key_decode(const void *data, size_t len, WitUniverseDbi46TagsKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi46TagsKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi46_tags_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi46-tags-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi46_tags_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi46_tags_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi46_tags_value_write(CodecWriter *w, const WitUniverseDbi46TagsValue *v)
{
    codec_write_raw(w, v->value.data, v->value.len);
}

static void wit_universe_dbi46_tags_value_read(CodecReader *r, WitUniverseDbi46TagsValue *v)
{
    codec_read_rest(r, &v->value);
    if (codec_read_failed(r, "record dbi46-tags-value", "value")) {
        return;
    }
}

bool wit_universe_dbi46_tags_value_equal(const WitUniverseDbi46TagsValue *a, const WitUniverseDbi46TagsValue *b)
{
    return codec_bytes_equal(&a->value, &b->value);
}

void wit_universe_dbi46_tags_value_free(WitUniverseDbi46TagsValue *v)
{
    codec_bytes_free(&v->value);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi46_tags_value_validate(const WitUniverseDbi46TagsValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_universe_dbi46_tags_value_encode(const WitUniverseDbi46TagsValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi46_tags_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi46_tags_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi46_tags_value_decode(const void *data, size_t len, WitUniverseDbi46TagsValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi46TagsValue v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi46_tags_value_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi46-tags-value", "");
    if (r.rc != SAP_OK) {
        wit_universe_dbi46_tags_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi48_world_tags_key_write_key(CodecWriter *w, const WitUniverseDbi48WorldTagsKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->world);
    codec_write_key_bytes(w, &v->name);
}

static void wit_universe_dbi48_world_tags_key_read_key(CodecReader *r, WitUniverseDbi48WorldTagsKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi48-world-tags-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi48-world-tags-key", "world")) {
        return;
    }
    codec_read_key_bytes(r, &v->name);
    if (codec_read_failed(r, "record dbi48-world-tags-key", "name")) {
        return;
    }
}

static int wit_universe_dbi48_world_tags_key_check(const WitUniverseDbi48WorldTagsKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi48-world-tags-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi48-world-tags-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    rc = codec_check_string(&v->name, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi48-world-tags-key", "name", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->name.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->name.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi48-world-tags-key", "name", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi48_world_tags_key_equal(const WitUniverseDbi48WorldTagsKey *a, const WitUniverseDbi48WorldTagsKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->world, &b->world) &&
           codec_bytes_equal(&a->name, &b->name);
}

void wit_universe_dbi48_world_tags_key_free(WitUniverseDbi48WorldTagsKey *v)
{
    codec_bytes_free(&v->world);
    codec_bytes_free(&v->name);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi48_world_tags_key_validate(const WitUniverseDbi48WorldTagsKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi48_world_tags_key_check(v, error);
}

int wit_universe_dbi48_world_tags_key_encode(const WitUniverseDbi48WorldTagsKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi48_world_tags_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi48_world_tags_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi48_world_tags_key_decode(const void *data, size_t len, WitUniverseDbi48WorldTagsKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi48WorldTagsKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi48_world_tags_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi48-world-tags-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi48_world_tags_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi48_world_tags_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi48_world_tags_value_write(CodecWriter *w, const WitUniverseDbi48WorldTagsValue *v)
{
    codec_write_bytes(w, &v->value);
}

static void wit_universe_dbi48_world_tags_value_read(CodecReader *r, WitUniverseDbi48WorldTagsValue *v)
{
    codec_read_bytes(r, &v->value);
    if (codec_read_failed(r, "record dbi48-world-tags-value", "value")) {
        return;
    }
}

static int wit_universe_dbi48_world_tags_value_check(const WitUniverseDbi48WorldTagsValue *v, CodecError *error)
{
    int rc = codec_check_string(&v->value, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi48-world-tags-value", "value", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->value.len), codec_number_u(UINT64_C(128))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi48-world-tags-value", "value", "len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi48_world_tags_value_equal(const WitUniverseDbi48WorldTagsValue *a, const WitUniverseDbi48WorldTagsValue *b)
{
    return codec_bytes_equal(&a->value, &b->value);
}

void wit_universe_dbi48_world_tags_value_free(WitUniverseDbi48WorldTagsValue *v)
{
    codec_bytes_free(&v->value);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi48_world_tags_value_validate(const WitUniverseDbi48WorldTagsValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi48_world_tags_value_check(v, error);
}

int wit_universe_dbi48_world_tags_value_encode(const WitUniverseDbi48WorldTagsValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi48_world_tags_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi48_world_tags_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi48_world_tags_value_decode(const void *data, size_t len, WitUniverseDbi48WorldTagsValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi48WorldTagsValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi48_world_tags_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi48-world-tags-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi48_world_tags_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi48_world_tags_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi49_results_key_write_key(CodecWriter *w, const WitUniverseDbi49ResultsKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->world);
}

static void wit_universe_dbi49_results_key_read_key(CodecReader *r, WitUniverseDbi49ResultsKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi49-results-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi49-results-key", "world")) {
        return;
    }
}

static int wit_universe_dbi49_results_key_check(const WitUniverseDbi49ResultsKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi49-results-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi49-results-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi49_results_key_equal(const WitUniverseDbi49ResultsKey *a, const WitUniverseDbi49ResultsKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->world, &b->world);
}

void wit_universe_dbi49_results_key_free(WitUniverseDbi49ResultsKey *v)
{
    codec_bytes_free(&v->world);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi49_results_key_validate(const WitUniverseDbi49ResultsKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi49_results_key_check(v, error);
}

int wit_universe_dbi49_results_key_encode(const WitUniverseDbi49ResultsKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi49_results_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi49_results_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi49_results_key_decode(const void *data, size_t len, WitUniverseDbi49ResultsKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi49ResultsKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi49_results_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi49-results-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi49_results_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi49_results_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi49_results_value_write(CodecWriter *w, const WitUniverseDbi49ResultsValue *v)
{
    uint8_t *at_status = codec_write_room(w, 2);
    if (at_status != NULL) {
        at_status[0] = (uint8_t)v->status;
        at_status[1] = (uint8_t)v->encoding;
    }
    codec_write_bytes(w, &v->payload);
    codec_write_u64(w, v->height);
}

static void wit_universe_dbi49_results_value_read(CodecReader *r, WitUniverseDbi49ResultsValue *v)
{
    const uint8_t *at_status = codec_read_run(r, 2);
    if (at_status == NULL) {
        static const CodecField fields[] = {{"status", 1}, {"encoding", 1}};
        codec_read_no_run(r, "record dbi49-results-value", fields, 2);
        return;
    }
    v->status = (WitUniverseReceiptStatus)at_status[0];
    v->encoding = (WitUniverseEncoding)at_status[1];
    codec_read_bytes(r, &v->payload);
    if (codec_read_failed(r, "record dbi49-results-value", "payload")) {
        return;
    }
    v->height = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi49-results-value", "height")) {
        return;
    }
}

static int wit_universe_dbi49_results_value_check(const WitUniverseDbi49ResultsValue *v, CodecError *error)
{
    int rc = wit_universe_receipt_status_check(&v->status, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi49-results-value", "status", rc);
    }
    rc = wit_universe_encoding_check(&v->encoding, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi49-results-value", "encoding", rc);
    }
    return SAP_OK;
}

bool wit_universe_dbi49_results_value_equal(const WitUniverseDbi49ResultsValue *a, const WitUniverseDbi49ResultsValue *b)
{
    return wit_universe_receipt_status_equal(&a->status, &b->status) &&
           wit_universe_encoding_equal(&a->encoding, &b->encoding) &&
           codec_bytes_equal(&a->payload, &b->payload) &&
           a->height == b->height;
}

void wit_universe_dbi49_results_value_free(WitUniverseDbi49ResultsValue *v)
{
    codec_bytes_free(&v->payload);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi49_results_value_validate(const WitUniverseDbi49ResultsValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi49_results_value_check(v, error);
}

int wit_universe_dbi49_results_value_encode(const WitUniverseDbi49ResultsValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi49_results_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi49_results_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi49_results_value_decode(const void *data, size_t len, WitUniverseDbi49ResultsValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi49ResultsValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi49_results_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi49-results-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi49_results_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi49_results_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi47_idempotency_key_write_key(CodecWriter *w, const WitUniverseDbi47IdempotencyKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->scope);
    codec_write_key_bytes(w, &v->key);
}

static void wit_universe_dbi47_idempotency_key_read_key(CodecReader *r, WitUniverseDbi47IdempotencyKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi47-idempotency-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->scope);
    if (codec_read_failed(r, "record dbi47-idempotency-key", "scope")) {
        return;
    }
    codec_read_key_bytes(r, &v->key);
    if (codec_read_failed(r, "record dbi47-idempotency-key", "key")) {
        return;
    }
}

static int wit_universe_dbi47_idempotency_key_check(const WitUniverseDbi47IdempotencyKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->scope, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi47-idempotency-key", "scope", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->scope.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->scope.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi47-idempotency-key", "scope", "len(value) >= 1 && len(value) <= 128");
        }
    }
    rc = codec_check_string(&v->key, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi47-idempotency-key", "key", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->key.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->key.len), codec_number_u(UINT64_C(256))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi47-idempotency-key", "key", "len(value) >= 1 && len(value) <= 256");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi47_idempotency_key_equal(const WitUniverseDbi47IdempotencyKey *a, const WitUniverseDbi47IdempotencyKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->scope, &b->scope) &&
           codec_bytes_equal(&a->key, &b->key);
}

void wit_universe_dbi47_idempotency_key_free(WitUniverseDbi47IdempotencyKey *v)
{
    codec_bytes_free(&v->scope);
    codec_bytes_free(&v->key);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi47_idempotency_key_validate(const WitUniverseDbi47IdempotencyKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi47_idempotency_key_check(v, error);
}

int wit_universe_dbi47_idempotency_key_encode(const WitUniverseDbi47IdempotencyKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi47_idempotency_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi47_idempotency_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi47_idempotency_key_decode(const void *data, size_t len, WitUniverseDbi47IdempotencyKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi47IdempotencyKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi47_idempotency_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi47-idempotency-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi47_idempotency_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi47_idempotency_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi47_idempotency_value_write(CodecWriter *w, const WitUniverseDbi47IdempotencyValue *v)
{
    codec_write_bytes(w, &v->request);
    codec_write_bytes(w, &v->answer);
    codec_write_u64(w, v->expires_ns);
}

static void wit_universe_dbi47_idempotency_value_read(CodecReader *r, WitUniverseDbi47IdempotencyValue *v)
{
    codec_read_bytes(r, &v->request);
    if (codec_read_failed(r, "record dbi47-idempotency-value", "request")) {
        return;
    }
    codec_read_bytes(r, &v->answer);
    if (codec_read_failed(r, "record dbi47-idempotency-value", "answer")) {
        return;
    }
    v->expires_ns = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi47-idempotency-value", "expires-ns")) {
        return;
    }
}

static int wit_universe_dbi47_idempotency_value_check(const WitUniverseDbi47IdempotencyValue *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->request.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi47-idempotency-value", "request", "len(value) == 32");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi47_idempotency_value_equal(const WitUniverseDbi47IdempotencyValue *a, const WitUniverseDbi47IdempotencyValue *b)
{
    return codec_bytes_equal(&a->request, &b->request) &&
           codec_bytes_equal(&a->answer, &b->answer) &&
           a->expires_ns == b->expires_ns;
}

void wit_universe_dbi47_idempotency_value_free(WitUniverseDbi47IdempotencyValue *v)
{
    codec_bytes_free(&v->request);
    codec_bytes_free(&v->answer);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi47_idempotency_value_validate(const WitUniverseDbi47IdempotencyValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi47_idempotency_value_check(v, error);
}

int wit_universe_dbi47_idempotency_value_encode(const WitUniverseDbi47IdempotencyValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi47_idempotency_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi47_idempotency_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi47_idempotency_value_decode(const void *data, size_t len, WitUniverseDbi47IdempotencyValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi47IdempotencyValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi47_idempotency_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi47-idempotency-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi47_idempotency_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi47_idempotency_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

