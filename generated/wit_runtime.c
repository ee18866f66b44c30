/* wit_runtime.c - codecs of the types in its header.
 *
 * Generated from schemas/wit/runtime-schema.wit by tools/wit_codegen: change the schema. */
#include "wit_runtime.h"

static void wit_runtime_message_kind_write(CodecWriter *w, const WitRuntimeMessageKind *v)
{
    codec_write_u8(w, *v);
}

static void wit_runtime_message_kind_read(CodecReader *r, WitRuntimeMessageKind *v)
{
    *v = codec_read_u8(r);
}

static int wit_runtime_message_kind_check(const WitRuntimeMessageKind *v, CodecError *error)
{
    return codec_blame(error, "enum message-kind", "", codec_check_case(*v, 3, error));
}

bool wit_runtime_message_kind_equal(const WitRuntimeMessageKind *a, const WitRuntimeMessageKind *b)
{
    return *a == *b;
}

void wit_runtime_message_kind_free(WitRuntimeMessageKind *v)
{
    memset(v, 0, sizeof *v);
}

int wit_runtime_message_kind_validate(const WitRuntimeMessageKind *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_runtime_message_kind_check(v, error);
}

int wit_runtime_message_kind_encode(const WitRuntimeMessageKind *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_message_kind_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 0);
    wit_runtime_message_kind_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_message_kind_decode(const void *data, size_t len, WitRuntimeMessageKind *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeMessageKind v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 0);
    wit_runtime_message_kind_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "enum message-kind", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_runtime_message_kind_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_message_flags_write(CodecWriter *w, const WitRuntimeMessageFlags *v)
{
    codec_write_u8(w, *v);
}

static void wit_runtime_message_flags_read(CodecReader *r, WitRuntimeMessageFlags *v)
{
    *v = codec_read_u8(r);
}

static int wit_runtime_message_flags_check(const WitRuntimeMessageFlags *v, CodecError *error)
{
    return codec_blame(error, "flags message-flags", "", codec_check_flags(*v, 6, error));
}

bool wit_runtime_message_flags_equal(const WitRuntimeMessageFlags *a, const WitRuntimeMessageFlags *b)
{
    return *a == *b;
}

void wit_runtime_message_flags_free(WitRuntimeMessageFlags *v)
{
    memset(v, 0, sizeof *v);
}

int wit_runtime_message_flags_validate(const WitRuntimeMessageFlags *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_runtime_message_flags_check(v, error);
}

int wit_runtime_message_flags_encode(const WitRuntimeMessageFlags *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_message_flags_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 0);
    wit_runtime_message_flags_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_message_flags_decode(const void *data, size_t len, WitRuntimeMessageFlags *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeMessageFlags v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 0);
    wit_runtime_message_flags_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "flags message-flags", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_runtime_message_flags_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_message_write(CodecWriter *w, const WitRuntimeMessage *v)
{
    codec_write_raw(w, "LMSG", 4);
    uint8_t *at_major = codec_write_room(w, 56);
    if (at_major != NULL) {
        store_u16le(at_major + 0, (uint16_t)v->major);
        store_u16le(at_major + 2, (uint16_t)v->minor);
        store_u32le(at_major + 4, (uint32_t)v->frame_len);
        at_major[8] = (uint8_t)v->kind;
        at_major[9] = (uint8_t)v->flags;
        store_u16le(at_major + 10, (uint16_t)v->reserved);
        store_u64le(at_major + 12, (uint64_t)v->to_worker);
        store_u64le(at_major + 20, (uint64_t)v->route_worker);
        store_u64le(at_major + 28, (uint64_t)v->route_timestamp);
        store_u64le(at_major + 36, (uint64_t)v->from_worker);
        store_u32le(at_major + 44, (uint32_t)v->message_id_len);
        store_u32le(at_major + 48, (uint32_t)v->trace_id_len);
        store_u32le(at_major + 52, (uint32_t)v->payload_len);
    }
    codec_write_raw(w, v->body.data, v->body.len);
}

static void wit_runtime_message_read(CodecReader *r, WitRuntimeMessage *v)
{
    codec_read_exactly(r, "LMSG", 4);
    const uint8_t *at_major = codec_read_run(r, 56);
    if (at_major == NULL) {
        static const CodecField fields[] = {{"major", 2}, {"minor", 2}, {"frame-len", 4}, {"kind", 1}, {"flags", 1}, {"reserved", 2}, {"to-worker", 8}, {"route-worker", 8}, {"route-timestamp", 8}, {"from-worker", 8}, {"message-id-len", 4}, {"trace-id-len", 4}, {"payload-len", 4}};
        codec_read_no_run(r, "record message", fields, 13);
        return;
    }
    v->major = (uint16_t)load_u16le(at_major + 0);
    v->minor = (uint16_t)load_u16le(at_major + 2);
    v->frame_len = (uint32_t)load_u32le(at_major + 4);
    v->kind = (WitRuntimeMessageKind)at_major[8];
    v->flags = (WitRuntimeMessageFlags)at_major[9];
    v->reserved = (uint16_t)load_u16le(at_major + 10);
    v->to_worker = (int64_t)load_u64le(at_major + 12);
    v->route_worker = (int64_t)load_u64le(at_major + 20);
    v->route_timestamp = (int64_t)load_u64le(at_major + 28);
    v->from_worker = (int64_t)load_u64le(at_major + 36);
    v->message_id_len = (uint32_t)load_u32le(at_major + 44);
    v->trace_id_len = (uint32_t)load_u32le(at_major + 48);
    v->payload_len = (uint32_t)load_u32le(at_major + 52);
    codec_read_rest(r, &v->body);
    if (codec_read_failed(r, "record message", "body")) {
        return;
    }
}

static int wit_runtime_message_check(const WitRuntimeMessage *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->major), codec_number_u(UINT64_C(0))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record message", "major", "value == 0");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->minor), codec_number_u(UINT64_C(0))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record message", "minor", "value == 0");
        }
    }
    int rc = wit_runtime_message_kind_check(&v->kind, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record message", "kind", rc);
    }
    rc = wit_runtime_message_flags_check(&v->flags, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record message", "flags", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->reserved), codec_number_u(UINT64_C(0))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record message", "reserved", "value == 0");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_s(v->to_worker), codec_number_u(UINT64_C(0))) >= 0);
        if (bad || !holds) {
            return codec_broken(error, "record message", "to-worker", "value >= 0");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->message_id_len), codec_number_u(UINT64_C(0))) > 0);
        if (bad || !holds) {
            return codec_broken(error, "record message", "message-id-len", "value > 0");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->frame_len), codec_number_add(codec_number_u(UINT64_C(60)), codec_number_u(v->body.len), &bad)) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record message", "", "frame-len == 60 + len(body)");
        }
    }
    {
        bool bad = false;
        bool holds = ((((uint64_t)v->flags >> 5 & 1) != 0) || (codec_number_compare(codec_number_u(v->trace_id_len), codec_number_u(UINT64_C(4294967295))) == 0));
        if (bad || !holds) {
            return codec_broken(error, "record message", "", "flags.has-trace || trace-id-len == 0xFFFFFFFF");
        }
    }
    {
        bool bad = false;
        bool holds = (!((((uint64_t)v->flags >> 5 & 1) != 0)) || (codec_number_compare(codec_number_add(codec_number_add(codec_number_u(v->message_id_len), codec_number_u(v->trace_id_len), &bad), codec_number_u(v->payload_len), &bad), codec_number_u(v->body.len)) == 0));
        if (bad || !holds) {
            return codec_broken(error, "record message", "", "!flags.has-trace || message-id-len + trace-id-len + payload-len == len(body)");
        }
    }
    {
        bool bad = false;
        bool holds = ((((uint64_t)v->flags >> 5 & 1) != 0) || (codec_number_compare(codec_number_add(codec_number_u(v->message_id_len), codec_number_u(v->payload_len), &bad), codec_number_u(v->body.len)) == 0));
        if (bad || !holds) {
            return codec_broken(error, "record message", "", "flags.has-trace || message-id-len + payload-len == len(body)");
        }
    }
    return SAP_OK;
}

bool wit_runtime_message_equal(const WitRuntimeMessage *a, const WitRuntimeMessage *b)
{
    return a->major == b->major &&
           a->minor == b->minor &&
           a->frame_len == b->frame_len &&
           wit_runtime_message_kind_equal(&a->kind, &b->kind) &&
           wit_runtime_message_flags_equal(&a->flags, &b->flags) &&
           a->reserved == b->reserved &&
           a->to_worker == b->to_worker &&
           a->route_worker == b->route_worker &&
           a->route_timestamp == b->route_timestamp &&
           a->from_worker == b->from_worker &&
           a->message_id_len == b->message_id_len &&
           a->trace_id_len == b->trace_id_len &&
           a->payload_len == b->payload_len &&
           codec_bytes_equal(&a->body, &b->body);
}

void wit_runtime_message_free(WitRuntimeMessage *v)
{
    codec_bytes_free(&v->body);
    memset(v, 0, sizeof *v);
}

int wit_runtime_message_validate(const WitRuntimeMessage *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_runtime_message_check(v, error);
}

int wit_runtime_message_encode(const WitRuntimeMessage *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_message_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_message_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_message_decode(const void *data, size_t len, WitRuntimeMessage *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeMessage v;

    memset(&v, 0, sizeof v);
    wit_runtime_message_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record message", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_runtime_message_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_runtime_message_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_intent_kind_write(CodecWriter *w, const WitRuntimeIntentKind *v)
{
    codec_write_u8(w, *v);
}

static void wit_runtime_intent_kind_read(CodecReader *r, WitRuntimeIntentKind *v)
{
    *v = codec_read_u8(r);
}

static int wit_runtime_intent_kind_check(const WitRuntimeIntentKind *v, CodecError *error)
{
    return codec_blame(error, "enum intent-kind", "", codec_check_case(*v, 2, error));
}

bool wit_runtime_intent_kind_equal(const WitRuntimeIntentKind *a, const WitRuntimeIntentKind *b)
{
    return *a == *b;
}

void wit_runtime_intent_kind_free(WitRuntimeIntentKind *v)
{
    memset(v, 0, sizeof *v);
}

int wit_runtime_intent_kind_validate(const WitRuntimeIntentKind *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_runtime_intent_kind_check(v, error);
}

int wit_runtime_intent_kind_encode(const WitRuntimeIntentKind *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_intent_kind_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 0);
    wit_runtime_intent_kind_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_intent_kind_decode(const void *data, size_t len, WitRuntimeIntentKind *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeIntentKind v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 0);
    wit_runtime_intent_kind_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "enum intent-kind", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_runtime_intent_kind_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_intent_flags_write(CodecWriter *w, const WitRuntimeIntentFlags *v)
{
    codec_write_u8(w, *v);
}

static void wit_runtime_intent_flags_read(CodecReader *r, WitRuntimeIntentFlags *v)
{
    *v = codec_read_u8(r);
}

static int wit_runtime_intent_flags_check(const WitRuntimeIntentFlags *v, CodecError *error)
{
    return codec_blame(error, "flags intent-flags", "", codec_check_flags(*v, 1, error));
}

bool wit_runtime_intent_flags_equal(const WitRuntimeIntentFlags *a, const WitRuntimeIntentFlags *b)
{
    return *a == *b;
}

void wit_runtime_intent_flags_free(WitRuntimeIntentFlags *v)
{
    memset(v, 0, sizeof *v);
}

int wit_runtime_intent_flags_validate(const WitRuntimeIntentFlags *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_runtime_intent_flags_check(v, error);
}

int wit_runtime_intent_flags_encode(const WitRuntimeIntentFlags *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_intent_flags_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 0);
    wit_runtime_intent_flags_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_intent_flags_decode(const void *data, size_t len, WitRuntimeIntentFlags *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeIntentFlags v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 0);
    wit_runtime_intent_flags_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "flags intent-flags", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_runtime_intent_flags_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_intent_write(CodecWriter *w, const WitRuntimeIntent *v)
{
    codec_write_raw(w, "LINT", 4);
    uint8_t *at_major = codec_write_room(w, 24);
    if (at_major != NULL) {
        store_u16le(at_major + 0, (uint16_t)v->major);
        store_u16le(at_major + 2, (uint16_t)v->minor);
        store_u32le(at_major + 4, (uint32_t)v->frame_len);
        at_major[8] = (uint8_t)v->kind;
        at_major[9] = (uint8_t)v->flags;
        store_u16le(at_major + 10, (uint16_t)v->reserved);
        store_u64le(at_major + 12, (uint64_t)v->due_ts);
        store_u32le(at_major + 20, (uint32_t)v->message_len);
    }
    codec_write_raw(w, v->message.data, v->message.len);
}

static void wit_runtime_intent_read(CodecReader *r, WitRuntimeIntent *v)
{
    codec_read_exactly(r, "LINT", 4);
    const uint8_t *at_major = codec_read_run(r, 24);
    if (at_major == NULL) {
        static const CodecField fields[] = {{"major", 2}, {"minor", 2}, {"frame-len", 4}, {"kind", 1}, {"flags", 1}, {"reserved", 2}, {"due-ts", 8}, {"message-len", 4}};
        codec_read_no_run(r, "record intent", fields, 8);
        return;
    }
    v->major = (uint16_t)load_u16le(at_major + 0);
    v->minor = (uint16_t)load_u16le(at_major + 2);
    v->frame_len = (uint32_t)load_u32le(at_major + 4);
    v->kind = (WitRuntimeIntentKind)at_major[8];
    v->flags = (WitRuntimeIntentFlags)at_major[9];
    v->reserved = (uint16_t)load_u16le(at_major + 10);
    v->due_ts = (int64_t)load_u64le(at_major + 12);
    v->message_len = (uint32_t)load_u32le(at_major + 20);
    codec_read_rest(r, &v->message);
    if (codec_read_failed(r, "record intent", "message")) {
        return;
    }
}

static int wit_runtime_intent_check(const WitRuntimeIntent *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->major), codec_number_u(UINT64_C(0))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record intent", "major", "value == 0");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->minor), codec_number_u(UINT64_C(0))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record intent", "minor", "value == 0");
        }
    }
    int rc = wit_runtime_intent_kind_check(&v->kind, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record intent", "kind", rc);
    }
    rc = wit_runtime_intent_flags_check(&v->flags, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record intent", "flags", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->reserved), codec_number_u(UINT64_C(0))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record intent", "reserved", "value == 0");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->message_len), codec_number_u(UINT64_C(0))) > 0);
        if (bad || !holds) {
            return codec_broken(error, "record intent", "message-len", "value > 0");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->frame_len), codec_number_add(codec_number_u(UINT64_C(28)), codec_number_u(v->message.len), &bad)) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record intent", "", "frame-len == 28 + len(message)");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->message_len), codec_number_u(v->message.len)) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record intent", "", "message-len == len(message)");
        }
    }
    {
        bool bad = false;
        bool holds = codec_truths_equal((((uint64_t)v->flags >> 0 & 1) != 0), (codec_number_compare(codec_number_u(v->kind), codec_number_u(UINT64_C(1))) == 0));
        if (bad || !holds) {
            return codec_broken(error, "record intent", "", "flags.has-due == (kind == timer-arm)");
        }
    }
    return SAP_OK;
}

bool wit_runtime_intent_equal(const WitRuntimeIntent *a, const WitRuntimeIntent *b)
{
    return a->major == b->major &&
           a->minor == b->minor &&
           a->frame_len == b->frame_len &&
           wit_runtime_intent_kind_equal(&a->kind, &b->kind) &&
           wit_runtime_intent_flags_equal(&a->flags, &b->flags) &&
           a->reserved == b->reserved &&
           a->due_ts == b->due_ts &&
           a->message_len == b->message_len &&
           codec_bytes_equal(&a->message, &b->message);
}

void wit_runtime_intent_free(WitRuntimeIntent *v)
{
    codec_bytes_free(&v->message);
    memset(v, 0, sizeof *v);
}

int wit_runtime_intent_validate(const WitRuntimeIntent *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_runtime_intent_check(v, error);
}

int wit_runtime_intent_encode(const WitRuntimeIntent *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_intent_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_intent_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_intent_decode(const void *data, size_t len, WitRuntimeIntent *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeIntent v;

    memset(&v, 0, sizeof v);
    wit_runtime_intent_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record intent", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_runtime_intent_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_runtime_intent_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_replay_kind_write(CodecWriter *w, const WitRuntimeReplayKind *v)
{
    codec_write_u8(w, *v);
}

static void wit_runtime_replay_kind_read(CodecReader *r, WitRuntimeReplayKind *v)
{
    *v = codec_read_u8(r);
}

static int wit_runtime_replay_kind_check(const WitRuntimeReplayKind *v, CodecError *error)
{
    return codec_blame(error, "enum replay-kind", "", codec_check_case(*v, 6, error));
}

bool wit_runtime_replay_kind_equal(const WitRuntimeReplayKind *a, const WitRuntimeReplayKind *b)
{
    return *a == *b;
}

void wit_runtime_replay_kind_free(WitRuntimeReplayKind *v)
{
    memset(v, 0, sizeof *v);
}

int wit_runtime_replay_kind_validate(const WitRuntimeReplayKind *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_runtime_replay_kind_check(v, error);
}

int wit_runtime_replay_kind_encode(const WitRuntimeReplayKind *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_replay_kind_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 0);
    wit_runtime_replay_kind_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_replay_kind_decode(const void *data, size_t len, WitRuntimeReplayKind *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeReplayKind v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 0);
    wit_runtime_replay_kind_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "enum replay-kind", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_runtime_replay_kind_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_replay_event_write(CodecWriter *w, const WitRuntimeReplayEvent *v)
{
    codec_write_raw(w, "RPL0", 4);
    uint8_t *at_kind = codec_write_room(w, 29);
    if (at_kind != NULL) {
        at_kind[0] = (uint8_t)v->kind;
        store_u64le(at_kind + 1, (uint64_t)v->worker);
        store_u64le(at_kind + 9, (uint64_t)v->seq);
        store_u32le(at_kind + 17, (uint32_t)v->rc);
        store_u64le(at_kind + 21, (uint64_t)v->time);
    }
    codec_write_bytes(w, &v->frame);
}

static void wit_runtime_replay_event_read(CodecReader *r, WitRuntimeReplayEvent *v)
{
    codec_read_exactly(r, "RPL0", 4);
    const uint8_t *at_kind = codec_read_run(r, 29);
    if (at_kind == NULL) {
        static const CodecField fields[] = {{"kind", 1}, {"worker", 8}, {"seq", 8}, {"rc", 4}, {"time", 8}};
        codec_read_no_run(r, "record replay-event", fields, 5);
        return;
    }
    v->kind = (WitRuntimeReplayKind)at_kind[0];
    v->worker = (int64_t)load_u64le(at_kind + 1);
    v->seq = (uint64_t)load_u64le(at_kind + 9);
    v->rc = (int32_t)load_u32le(at_kind + 17);
    v->time = (int64_t)load_u64le(at_kind + 21);
    codec_read_bytes(r, &v->frame);
    if (codec_read_failed(r, "record replay-event", "frame")) {
        return;
    }
}

static int wit_runtime_replay_event_check(const WitRuntimeReplayEvent *v, CodecError *error)
{
    int rc = wit_runtime_replay_kind_check(&v->kind, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record replay-event", "kind", rc);
    }
    return SAP_OK;
}

bool wit_runtime_replay_event_equal(const WitRuntimeReplayEvent *a, const WitRuntimeReplayEvent *b)
{
    return wit_runtime_replay_kind_equal(&a->kind, &b->kind) &&
           a->worker == b->worker &&
           a->seq == b->seq &&
           a->rc == b->rc &&
           a->time == b->time &&
           codec_bytes_equal(&a->frame, &b->frame);
}

void wit_runtime_replay_event_free(WitRuntimeReplayEvent *v)
{
    codec_bytes_free(&v->frame);
    memset(v, 0, sizeof *v);
}

int wit_runtime_replay_event_validate(const WitRuntimeReplayEvent *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_runtime_replay_event_check(v, error);
}

int wit_runtime_replay_event_encode(const WitRuntimeReplayEvent *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_replay_event_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_replay_event_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_replay_event_decode(const void *data, size_t len, WitRuntimeReplayEvent *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeReplayEvent v;

    memset(&v, 0, sizeof v);
    wit_runtime_replay_event_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record replay-event", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_runtime_replay_event_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_runtime_replay_event_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_schema_marker_write(CodecWriter *w, const WitRuntimeSchemaMarker *v)
{
    codec_write_raw(w, "RSV0", 4);
    uint8_t *at_major = codec_write_room(w, 4);
    if (at_major != NULL) {
        store_u16le(at_major + 0, (uint16_t)v->major);
        store_u16le(at_major + 2, (uint16_t)v->minor);
    }
}

static void wit_runtime_schema_marker_read(CodecReader *r, WitRuntimeSchemaMarker *v)
{
    codec_read_exactly(r, "RSV0", 4);
    const uint8_t *at_major = codec_read_run(r, 4);
    if (at_major == NULL) {
        static const CodecField fields[] = {{"major", 2}, {"minor", 2}};
        codec_read_no_run(r, "record schema-marker", fields, 2);
        return;
    }
    v->major = (uint16_t)load_u16le(at_major + 0);
    v->minor = (uint16_t)load_u16le(at_major + 2);
}

bool wit_runtime_schema_marker_equal(const WitRuntimeSchemaMarker *a, const WitRuntimeSchemaMarker *b)
{
    return a->major == b->major &&
           a->minor == b->minor;
}

void wit_runtime_schema_marker_free(WitRuntimeSchemaMarker *v)
{
    memset(v, 0, sizeof *v);
}

int wit_runtime_schema_marker_validate(const WitRuntimeSchemaMarker *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_runtime_schema_marker_encode(const WitRuntimeSchemaMarker *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_schema_marker_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_schema_marker_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_schema_marker_decode(const void *data, size_t len, WitRuntimeSchemaMarker *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeSchemaMarker v;

    memset(&v, 0, sizeof v);
    wit_runtime_schema_marker_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record schema-marker", "");
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    v_out->major = v.major;
    v_out->minor = v.minor;
    return SAP_OK;
}

static void wit_runtime_high_water_mark_write(CodecWriter *w, const WitRuntimeHighWaterMark *v)
{
    codec_write_u64be(w, v->last);
}

static void wit_runtime_high_water_mark_read(CodecReader *r, WitRuntimeHighWaterMark *v)
{
    v->last = codec_read_u64be(r);
    if (codec_read_failed(r, "record high-water-mark", "last")) {
        return;
    }
}

bool wit_runtime_high_water_mark_equal(const WitRuntimeHighWaterMark *a, const WitRuntimeHighWaterMark *b)
{
    return a->last == b->last;
}

void wit_runtime_high_water_mark_free(WitRuntimeHighWaterMark *v)
{
    memset(v, 0, sizeof *v);
}

int wit_runtime_high_water_mark_validate(const WitRuntimeHighWaterMark *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_runtime_high_water_mark_encode(const WitRuntimeHighWaterMark *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_high_water_mark_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_high_water_mark_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_high_water_mark_decode(const void *data, size_t len, WitRuntimeHighWaterMark *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeHighWaterMark v;

    memset(&v, 0, sizeof v);
    wit_runtime_high_water_mark_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record high-water-mark", "");
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_queue_name_write(CodecWriter *w, const WitRuntimeQueueName *v)
{
    codec_write_u64be(w, v->worker);
}

static void wit_runtime_queue_name_read(CodecReader *r, WitRuntimeQueueName *v)
{
    v->worker = codec_read_u64be(r);
    if (codec_read_failed(r, "record queue-name", "worker")) {
        return;
    }
}

static int wit_runtime_queue_name_check(const WitRuntimeQueueName *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->worker), codec_number_u(UINT64_C(4294967295))) > 0) && (codec_number_compare(codec_number_u(v->worker), codec_number_u(UINT64_C(9223372036854775807))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record queue-name", "worker", "value > 0xFFFFFFFF && value <= 0x7FFFFFFFFFFFFFFF");
        }
    }
    return SAP_OK;
}

bool wit_runtime_queue_name_equal(const WitRuntimeQueueName *a, const WitRuntimeQueueName *b)
{
    return a->worker == b->worker;
}

void wit_runtime_queue_name_free(WitRuntimeQueueName *v)
{
    memset(v, 0, sizeof *v);
}

int wit_runtime_queue_name_validate(const WitRuntimeQueueName *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_runtime_queue_name_check(v, error);
}

int wit_runtime_queue_name_encode(const WitRuntimeQueueName *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_queue_name_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_queue_name_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_queue_name_decode(const void *data, size_t len, WitRuntimeQueueName *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeQueueName v;

    memset(&v, 0, sizeof v);
    wit_runtime_queue_name_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record queue-name", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_runtime_queue_name_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_retry_key_write(CodecWriter *w, const WitRuntimeRetryKey *v)
{
    codec_write_raw(w, "retry:", 6);
    codec_write_u8(w, v->table);
    codec_write_raw(w, v->row.data, v->row.len);
}

static void wit_runtime_retry_key_read(CodecReader *r, WitRuntimeRetryKey *v)
{
    codec_read_exactly(r, "retry:", 6);
    v->table = codec_read_u8(r);
    if (codec_read_failed(r, "record retry-key", "table")) {
        return;
    }
    codec_read_rest(r, &v->row);
    if (codec_read_failed(r, "record retry-key", "row")) {
        return;
    }
}

static int wit_runtime_retry_key_check(const WitRuntimeRetryKey *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->table), codec_number_u(UINT64_C(1))) == 0) || (codec_number_compare(codec_number_u(v->table), codec_number_u(UINT64_C(4))) == 0));
        if (bad || !holds) {
            return codec_broken(error, "record retry-key", "table", "value == 1 || value == 4");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->row.len), codec_number_u(UINT64_C(16))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record retry-key", "row", "len(row) == 16");
        }
    }
    return SAP_OK;
}

bool wit_runtime_retry_key_equal(const WitRuntimeRetryKey *a, const WitRuntimeRetryKey *b)
{
    return a->table == b->table &&
           codec_bytes_equal(&a->row, &b->row);
}

void wit_runtime_retry_key_free(WitRuntimeRetryKey *v)
{
    codec_bytes_free(&v->row);
    memset(v, 0, sizeof *v);
}

int wit_runtime_retry_key_validate(const WitRuntimeRetryKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_runtime_retry_key_check(v, error);
}

int wit_runtime_retry_key_encode(const WitRuntimeRetryKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_retry_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_retry_key_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_retry_key_decode(const void *data, size_t len, WitRuntimeRetryKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeRetryKey v;

    memset(&v, 0, sizeof v);
    wit_runtime_retry_key_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record retry-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_runtime_retry_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_runtime_retry_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_retry_value_write(CodecWriter *w, const WitRuntimeRetryValue *v)
{
    codec_write_u32(w, v->count);
}

static void wit_runtime_retry_value_read(CodecReader *r, WitRuntimeRetryValue *v)
{
    v->count = codec_read_u32(r);
    if (codec_read_failed(r, "record retry-value", "count")) {
        return;
    }
}

bool wit_runtime_retry_value_equal(const WitRuntimeRetryValue *a, const WitRuntimeRetryValue *b)
{
    return a->count == b->count;
}

void wit_runtime_retry_value_free(WitRuntimeRetryValue *v)
{
    memset(v, 0, sizeof *v);
}

int wit_runtime_retry_value_validate(const WitRuntimeRetryValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_runtime_retry_value_encode(const WitRuntimeRetryValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_retry_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_retry_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_retry_value_decode(const void *data, size_t len, WitRuntimeRetryValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeRetryValue v;

    memset(&v, 0, sizeof v);
    wit_runtime_retry_value_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record retry-value", "");
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_seen_key_write(CodecWriter *w, const WitRuntimeSeenKey *v)
{
    codec_write_raw(w, "seen:", 5);
    codec_write_u64be(w, v->worker);
    codec_write_raw(w, v->id.data, v->id.len);
}

static void wit_runtime_seen_key_read(CodecReader *r, WitRuntimeSeenKey *v)
{
    codec_read_exactly(r, "seen:", 5);
    v->worker = codec_read_u64be(r);
    if (codec_read_failed(r, "record seen-key", "worker")) {
        return;
    }
    codec_read_rest(r, &v->id);
    if (codec_read_failed(r, "record seen-key", "id")) {
        return;
    }
}

static int wit_runtime_seen_key_check(const WitRuntimeSeenKey *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->id.len), codec_number_u(UINT64_C(0))) > 0) && (codec_number_compare(codec_number_u(v->id.len), codec_number_u(UINT64_C(256))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record seen-key", "id", "len(id) > 0 && len(id) <= 256");
        }
    }
    return SAP_OK;
}

bool wit_runtime_seen_key_equal(const WitRuntimeSeenKey *a, const WitRuntimeSeenKey *b)
{
    return a->worker == b->worker &&
           codec_bytes_equal(&a->id, &b->id);
}

void wit_runtime_seen_key_free(WitRuntimeSeenKey *v)
{
    codec_bytes_free(&v->id);
    memset(v, 0, sizeof *v);
}

int wit_runtime_seen_key_validate(const WitRuntimeSeenKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_runtime_seen_key_check(v, error);
}

int wit_runtime_seen_key_encode(const WitRuntimeSeenKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_seen_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_seen_key_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_seen_key_decode(const void *data, size_t len, WitRuntimeSeenKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeSeenKey v;

    memset(&v, 0, sizeof v);
    wit_runtime_seen_key_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record seen-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_runtime_seen_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_runtime_seen_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_seen_value_write(CodecWriter *w, const WitRuntimeSeenValue *v)
{
    codec_write_u8(w, v->accepted);
    uint8_t *at_last_seen = codec_write_room(w, 16);
    if (at_last_seen != NULL) {
        store_u64le(at_last_seen + 0, (uint64_t)v->last_seen);
        store_u64le(at_last_seen + 8, (uint64_t)v->checksum);
    }
}

static void wit_runtime_seen_value_read(CodecReader *r, WitRuntimeSeenValue *v)
{
    v->accepted = codec_read_bool(r);
    if (codec_read_failed(r, "record seen-value", "accepted")) {
        return;
    }
    const uint8_t *at_last_seen = codec_read_run(r, 16);
    if (at_last_seen == NULL) {
        static const CodecField fields[] = {{"last-seen", 8}, {"checksum", 8}};
        codec_read_no_run(r, "record seen-value", fields, 2);
        return;
    }
    v->last_seen = (int64_t)load_u64le(at_last_seen + 0);
    v->checksum = (uint64_t)load_u64le(at_last_seen + 8);
}

bool wit_runtime_seen_value_equal(const WitRuntimeSeenValue *a, const WitRuntimeSeenValue *b)
{
    return a->accepted == b->accepted &&
           a->last_seen == b->last_seen &&
           a->checksum == b->checksum;
}

void wit_runtime_seen_value_free(WitRuntimeSeenValue *v)
{
    memset(v, 0, sizeof *v);
}

int wit_runtime_seen_value_validate(const WitRuntimeSeenValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_runtime_seen_value_encode(const WitRuntimeSeenValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_seen_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_seen_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_seen_value_decode(const void *data, size_t len, WitRuntimeSeenValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeSeenValue v;

    memset(&v, 0, sizeof v);
    wit_runtime_seen_value_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record seen-value", "");
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_dbi0_app_state_key_write(CodecWriter *w, const WitRuntimeDbi0AppStateKey *v)
{
    codec_write_raw(w, v->key.data, v->key.len);
}

static void wit_runtime_dbi0_app_state_key_read(CodecReader *r, WitRuntimeDbi0AppStateKey *v)
{
    codec_read_rest(r, &v->key);
    if (codec_read_failed(r, "record dbi0-app-state-key", "key")) {
        return;
    }
}

bool wit_runtime_dbi0_app_state_key_equal(const WitRuntimeDbi0AppStateKey *a, const WitRuntimeDbi0AppStateKey *b)
{
    return codec_bytes_equal(&a->key, &b->key);
}

void wit_runtime_dbi0_app_state_key_free(WitRuntimeDbi0AppStateKey *v)
{
    codec_bytes_free(&v->key);
    memset(v, 0, sizeof *v);
}

int wit_runtime_dbi0_app_state_key_validate(const WitRuntimeDbi0AppStateKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_runtime_dbi0_app_state_key_encode(const WitRuntimeDbi0AppStateKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_dbi0_app_state_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_dbi0_app_state_key_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_dbi0_app_state_key_decode(const void *data, size_t len, WitRuntimeDbi0AppStateKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeDbi0AppStateKey v;

    memset(&v, 0, sizeof v);
    wit_runtime_dbi0_app_state_key_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi0-app-state-key", "");
    if (r.rc != SAP_OK) {
        wit_runtime_dbi0_app_state_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_dbi0_app_state_value_write(CodecWriter *w, const WitRuntimeDbi0AppStateValue *v)
{
    codec_write_raw(w, v->value.data, v->value.len);
}

static void wit_runtime_dbi0_app_state_value_read(CodecReader *r, WitRuntimeDbi0AppStateValue *v)
{
    codec_read_rest(r, &v->value);
    if (codec_read_failed(r, "record dbi0-app-state-value", "value")) {
        return;
    }
}

bool wit_runtime_dbi0_app_state_value_equal(const WitRuntimeDbi0AppStateValue *a, const WitRuntimeDbi0AppStateValue *b)
{
    return codec_bytes_equal(&a->value, &b->value);
}

void wit_runtime_dbi0_app_state_value_free(WitRuntimeDbi0AppStateValue *v)
{
    codec_bytes_free(&v->value);
    memset(v, 0, sizeof *v);
}

int wit_runtime_dbi0_app_state_value_validate(const WitRuntimeDbi0AppStateValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_runtime_dbi0_app_state_value_encode(const WitRuntimeDbi0AppStateValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_dbi0_app_state_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_dbi0_app_state_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_dbi0_app_state_value_decode(const void *data, size_t len, WitRuntimeDbi0AppStateValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeDbi0AppStateValue v;

    memset(&v, 0, sizeof v);
    wit_runtime_dbi0_app_state_value_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi0-app-state-value", "");
    if (r.rc != SAP_OK) {
        wit_runtime_dbi0_app_state_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_dbi1_inbox_key_write_key(CodecWriter *w, const WitRuntimeDbi1InboxKey *v)
{
    codec_write_u64be(w, v->worker);
    codec_write_u64be(w, v->seq);
}

static void wit_runtime_dbi1_inbox_key_read_key(CodecReader *r, WitRuntimeDbi1InboxKey *v)
{
    v->worker = codec_read_u64be(r);
    if (codec_read_failed(r, "record dbi1-inbox-key", "worker")) {
        return;
    }
    v->seq = codec_read_u64be(r);
    if (codec_read_failed(r, "record dbi1-inbox-key", "seq")) {
        return;
    }
}

bool wit_runtime_dbi1_inbox_key_equal(const WitRuntimeDbi1InboxKey *a, const WitRuntimeDbi1InboxKey *b)
{
    return a->worker == b->worker &&
           a->seq == b->seq;
}

void wit_runtime_dbi1_inbox_key_free(WitRuntimeDbi1InboxKey *v)
{
    memset(v, 0, sizeof *v);
}

int wit_runtime_dbi1_inbox_key_validate(const WitRuntimeDbi1InboxKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_runtime_dbi1_inbox_key_encode(const WitRuntimeDbi1InboxKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_dbi1_inbox_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_dbi1_inbox_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_dbi1_inbox_key_decode(const void *data, size_t len, WitRuntimeDbi1InboxKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeDbi1InboxKey v;

    memset(&v, 0, sizeof v);
    wit_runtime_dbi1_inbox_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi1-inbox-key", "");
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    v_out->worker = v.worker;
    v_out->seq = v.seq;
    return SAP_OK;
}

static void wit_runtime_dbi1_inbox_value_write(CodecWriter *w, const WitRuntimeDbi1InboxValue *v)
{
    codec_write_raw(w, v->frame.data, v->frame.len);
}

static void wit_runtime_dbi1_inbox_value_read(CodecReader *r, WitRuntimeDbi1InboxValue *v)
{
    codec_read_rest(r, &v->frame);
    if (codec_read_failed(r, "record dbi1-inbox-value", "frame")) {
        return;
    }
}

bool wit_runtime_dbi1_inbox_value_equal(const WitRuntimeDbi1InboxValue *a, const WitRuntimeDbi1InboxValue *b)
{
    return codec_bytes_equal(&a->frame, &b->frame);
}

void wit_runtime_dbi1_inbox_value_free(WitRuntimeDbi1InboxValue *v)
{
    codec_bytes_free(&v->frame);
    memset(v, 0, sizeof *v);
}

int wit_runtime_dbi1_inbox_value_validate(const WitRuntimeDbi1InboxValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_runtime_dbi1_inbox_value_encode(const WitRuntimeDbi1InboxValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_dbi1_inbox_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_dbi1_inbox_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_dbi1_inbox_value_decode(const void *data, size_t len, WitRuntimeDbi1InboxValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeDbi1InboxValue v;

    memset(&v, 0, sizeof v);
    wit_runtime_dbi1_inbox_value_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi1-inbox-value", "");
    if (r.rc != SAP_OK) {
        wit_runtime_dbi1_inbox_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_dbi2_outbox_key_write_key(CodecWriter *w, const WitRuntimeDbi2OutboxKey *v)
{
    codec_write_u64be(w, v->seq);
}

static void wit_runtime_dbi2_outbox_key_read_key(CodecReader *r, WitRuntimeDbi2OutboxKey *v)
{
    v->seq = codec_read_u64be(r);
    if (codec_read_failed(r, "record dbi2-outbox-key", "seq")) {
        return;
    }
}

bool wit_runtime_dbi2_outbox_key_equal(const WitRuntimeDbi2OutboxKey *a, const WitRuntimeDbi2OutboxKey *b)
{
    return a->seq == b->seq;
}

void wit_runtime_dbi2_outbox_key_free(WitRuntimeDbi2OutboxKey *v)
{
    memset(v, 0, sizeof *v);
}

int wit_runtime_dbi2_outbox_key_validate(const WitRuntimeDbi2OutboxKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_runtime_dbi2_outbox_key_encode(const WitRuntimeDbi2OutboxKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_dbi2_outbox_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_dbi2_outbox_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_dbi2_outbox_key_decode(const void *data, size_t len, WitRuntimeDbi2OutboxKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeDbi2OutboxKey v;

    memset(&v, 0, sizeof v);
    wit_runtime_dbi2_outbox_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi2-outbox-key", "");
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_dbi2_outbox_value_write(CodecWriter *w, const WitRuntimeDbi2OutboxValue *v)
{
    codec_write_raw(w, v->frame.data, v->frame.len);
}

static void wit_runtime_dbi2_outbox_value_read(CodecReader *r, WitRuntimeDbi2OutboxValue *v)
{
    codec_read_rest(r, &v->frame);
    if (codec_read_failed(r, "record dbi2-outbox-value", "frame")) {
        return;
    }
}

bool wit_runtime_dbi2_outbox_value_equal(const WitRuntimeDbi2OutboxValue *a, const WitRuntimeDbi2OutboxValue *b)
{
    return codec_bytes_equal(&a->frame, &b->frame);
}

void wit_runtime_dbi2_outbox_value_free(WitRuntimeDbi2OutboxValue *v)
{
    codec_bytes_free(&v->frame);
    memset(v, 0, sizeof *v);
}

int wit_runtime_dbi2_outbox_value_validate(const WitRuntimeDbi2OutboxValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_runtime_dbi2_outbox_value_encode(const WitRuntimeDbi2OutboxValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_dbi2_outbox_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_dbi2_outbox_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_dbi2_outbox_value_decode(const void *data, size_t len, WitRuntimeDbi2OutboxValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeDbi2OutboxValue v;

    memset(&v, 0, sizeof v);
    wit_runtime_dbi2_outbox_value_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi2-outbox-value", "");
    if (r.rc != SAP_OK) {
        wit_runtime_dbi2_outbox_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_dbi3_leases_key_write_key(CodecWriter *w, const WitRuntimeDbi3LeasesKey *v)
{
    codec_write_u64be(w, v->worker);
    codec_write_u64be(w, v->seq);
}

static void wit_runtime_dbi3_leases_key_read_key(CodecReader *r, WitRuntimeDbi3LeasesKey *v)
{
    v->worker = codec_read_u64be(r);
    if (codec_read_failed(r, "record dbi3-leases-key", "worker")) {
        return;
    }
    v->seq = codec_read_u64be(r);
    if (codec_read_failed(r, "record dbi3-leases-key", "seq")) {
        return;
    }
}

bool wit_runtime_dbi3_leases_key_equal(const WitRuntimeDbi3LeasesKey *a, const WitRuntimeDbi3LeasesKey *b)
{
    return a->worker == b->worker &&
           a->seq == b->seq;
}

void wit_runtime_dbi3_leases_key_free(WitRuntimeDbi3LeasesKey *v)
{
    memset(v, 0, sizeof *v);
}

int wit_runtime_dbi3_leases_key_validate(const WitRuntimeDbi3LeasesKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_runtime_dbi3_leases_key_encode(const WitRuntimeDbi3LeasesKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_dbi3_leases_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_dbi3_leases_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_dbi3_leases_key_decode(const void *data, size_t len, WitRuntimeDbi3LeasesKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeDbi3LeasesKey v;

    memset(&v, 0, sizeof v);
    wit_runtime_dbi3_leases_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi3-leases-key", "");
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    v_out->worker = v.worker;
    v_out->seq = v.seq;
    return SAP_OK;
}

static void wit_runtime_dbi3_leases_value_write(CodecWriter *w, const WitRuntimeDbi3LeasesValue *v)
{
    codec_write_raw(w, "LSE0", 4);
    uint8_t *at_owner = codec_write_room(w, 28);
    if (at_owner != NULL) {
        store_u64le(at_owner + 0, (uint64_t)v->owner);
        store_u64le(at_owner + 8, (uint64_t)v->deadline);
        store_u32le(at_owner + 16, (uint32_t)v->attempts);
        store_u64le(at_owner + 20, (uint64_t)v->token);
    }
}

static void wit_runtime_dbi3_leases_value_read(CodecReader *r, WitRuntimeDbi3LeasesValue *v)
{
    codec_read_exactly(r, "LSE0", 4);
    const uint8_t *at_owner = codec_read_run(r, 28);
    if (at_owner == NULL) {
        static const CodecField fields[] = {{"owner", 8}, {"deadline", 8}, {"attempts", 4}, {"token", 8}};
        codec_read_no_run(r, "record dbi3-leases-value", fields, 4);
        return;
    }
    v->owner = (uint64_t)load_u64le(at_owner + 0);
    v->deadline = (int64_t)load_u64le(at_owner + 8);
    v->attempts = (uint32_t)load_u32le(at_owner + 16);
    v->token = (uint64_t)load_u64le(at_owner + 20);
}

static int wit_runtime_dbi3_leases_value_check(const WitRuntimeDbi3LeasesValue *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->attempts), codec_number_u(UINT64_C(1))) >= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi3-leases-value", "attempts", "value >= 1");
        }
    }
    return SAP_OK;
}

bool wit_runtime_dbi3_leases_value_equal(const WitRuntimeDbi3LeasesValue *a, const WitRuntimeDbi3LeasesValue *b)
{
    return a->owner == b->owner &&
           a->deadline == b->deadline &&
           a->attempts == b->attempts &&
           a->token == b->token;
}

void wit_runtime_dbi3_leases_value_free(WitRuntimeDbi3LeasesValue *v)
{
    memset(v, 0, sizeof *v);
}

int wit_runtime_dbi3_leases_value_validate(const WitRuntimeDbi3LeasesValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_runtime_dbi3_leases_value_check(v, error);
}

int wit_runtime_dbi3_leases_value_encode(const WitRuntimeDbi3LeasesValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_dbi3_leases_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_dbi3_leases_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_dbi3_leases_value_decode(const void *data, size_t len, WitRuntimeDbi3LeasesValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeDbi3LeasesValue v;

    memset(&v, 0, sizeof v);
    wit_runtime_dbi3_leases_value_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi3-leases-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_runtime_dbi3_leases_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    v_out->owner = v.owner;
    v_out->deadline = v.deadline;
    v_out->attempts = v.attempts;
    v_out->token = v.token;
    return SAP_OK;
}

static void wit_runtime_dbi4_timers_key_write_key(CodecWriter *w, const WitRuntimeDbi4TimersKey *v)
{
    codec_write_u64be(w, (uint64_t)((uint64_t)v->due ^ UINT64_C(9223372036854775808)));
    codec_write_u64be(w, v->seq);
}

static void wit_runtime_dbi4_timers_key_read_key(CodecReader *r, WitRuntimeDbi4TimersKey *v)
{
    v->due = (int64_t)(codec_read_u64be(r) ^ UINT64_C(9223372036854775808));
    if (codec_read_failed(r, "record dbi4-timers-key", "due")) {
        return;
    }
    v->seq = codec_read_u64be(r);
    if (codec_read_failed(r, "record dbi4-timers-key", "seq")) {
        return;
    }
}

bool wit_runtime_dbi4_timers_key_equal(const WitRuntimeDbi4TimersKey *a, const WitRuntimeDbi4TimersKey *b)
{
    return a->due == b->due &&
           a->seq == b->seq;
}

void wit_runtime_dbi4_timers_key_free(WitRuntimeDbi4TimersKey *v)
{
    memset(v, 0, sizeof *v);
}

int wit_runtime_dbi4_timers_key_validate(const WitRuntimeDbi4TimersKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_runtime_dbi4_timers_key_encode(const WitRuntimeDbi4TimersKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_dbi4_timers_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_dbi4_timers_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_dbi4_timers_key_decode(const void *data, size_t len, WitRuntimeDbi4TimersKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeDbi4TimersKey v;

    memset(&v, 0, sizeof v);
    wit_runtime_dbi4_timers_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi4-timers-key", "");
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    v_out->due = v.due;
    v_out->seq = v.seq;
    return SAP_OK;
}

static void wit_runtime_dbi4_timers_value_write(CodecWriter *w, const WitRuntimeDbi4TimersValue *v)
{
    codec_write_raw(w, v->frame.data, v->frame.len);
}

static void wit_runtime_dbi4_timers_value_read(CodecReader *r, WitRuntimeDbi4TimersValue *v)
{
    codec_read_rest(r, &v->frame);
    if (codec_read_failed(r, "record dbi4-timers-value", "frame")) {
        return;
    }
}

bool wit_runtime_dbi4_timers_value_equal(const WitRuntimeDbi4TimersValue *a, const WitRuntimeDbi4TimersValue *b)
{
    return codec_bytes_equal(&a->frame, &b->frame);
}

void wit_runtime_dbi4_timers_value_free(WitRuntimeDbi4TimersValue *v)
{
    codec_bytes_free(&v->frame);
    memset(v, 0, sizeof *v);
}

int wit_runtime_dbi4_timers_value_validate(const WitRuntimeDbi4TimersValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_runtime_dbi4_timers_value_encode(const WitRuntimeDbi4TimersValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_dbi4_timers_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_dbi4_timers_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_dbi4_timers_value_decode(const void *data, size_t len, WitRuntimeDbi4TimersValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeDbi4TimersValue v;

    memset(&v, 0, sizeof v);
    wit_runtime_dbi4_timers_value_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi4-timers-value", "");
    if (r.rc != SAP_OK) {
        wit_runtime_dbi4_timers_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_dbi5_dedupe_key_write(CodecWriter *w, const WitRuntimeDbi5DedupeKey *v)
{
    codec_write_raw(w, v->key.data, v->key.len);
}

static void wit_runtime_dbi5_dedupe_key_read(CodecReader *r, WitRuntimeDbi5DedupeKey *v)
{
    codec_read_rest(r, &v->key);
    if (codec_read_failed(r, "record dbi5-dedupe-key", "key")) {
        return;
    }
}

bool wit_runtime_dbi5_dedupe_key_equal(const WitRuntimeDbi5DedupeKey *a, const WitRuntimeDbi5DedupeKey *b)
{
    return codec_bytes_equal(&a->key, &b->key);
}

void wit_runtime_dbi5_dedupe_key_free(WitRuntimeDbi5DedupeKey *v)
{
    codec_bytes_free(&v->key);
    memset(v, 0, sizeof *v);
}

int wit_runtime_dbi5_dedupe_key_validate(const WitRuntimeDbi5DedupeKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_runtime_dbi5_dedupe_key_encode(const WitRuntimeDbi5DedupeKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_dbi5_dedupe_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_dbi5_dedupe_key_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_dbi5_dedupe_key_decode(const void *data, size_t len, WitRuntimeDbi5DedupeKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeDbi5DedupeKey v;

    memset(&v, 0, sizeof v);
    wit_runtime_dbi5_dedupe_key_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi5-dedupe-key", "");
    if (r.rc != SAP_OK) {
        wit_runtime_dbi5_dedupe_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_dbi5_dedupe_value_write(CodecWriter *w, const WitRuntimeDbi5DedupeValue *v)
{
    codec_write_raw(w, v->value.data, v->value.len);
}

static void wit_runtime_dbi5_dedupe_value_read(CodecReader *r, WitRuntimeDbi5DedupeValue *v)
{
    codec_read_rest(r, &v->value);
    if (codec_read_failed(r, "record dbi5-dedupe-value", "value")) {
        return;
    }
}

bool wit_runtime_dbi5_dedupe_value_equal(const WitRuntimeDbi5DedupeValue *a, const WitRuntimeDbi5DedupeValue *b)
{
    return codec_bytes_equal(&a->value, &b->value);
}

void wit_runtime_dbi5_dedupe_value_free(WitRuntimeDbi5DedupeValue *v)
{
    codec_bytes_free(&v->value);
    memset(v, 0, sizeof *v);
}

int wit_runtime_dbi5_dedupe_value_validate(const WitRuntimeDbi5DedupeValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_runtime_dbi5_dedupe_value_encode(const WitRuntimeDbi5DedupeValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_dbi5_dedupe_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_dbi5_dedupe_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_dbi5_dedupe_value_decode(const void *data, size_t len, WitRuntimeDbi5DedupeValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeDbi5DedupeValue v;

    memset(&v, 0, sizeof v);
    wit_runtime_dbi5_dedupe_value_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi5-dedupe-value", "");
    if (r.rc != SAP_OK) {
        wit_runtime_dbi5_dedupe_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_dbi6_dead_letter_key_write_key(CodecWriter *w, const WitRuntimeDbi6DeadLetterKey *v)
{
    codec_write_u64be(w, v->worker);
    codec_write_u64be(w, v->seq);
}

static void wit_runtime_dbi6_dead_letter_key_read_key(CodecReader *r, WitRuntimeDbi6DeadLetterKey *v)
{
    v->worker = codec_read_u64be(r);
    if (codec_read_failed(r, "record dbi6-dead-letter-key", "worker")) {
        return;
    }
    v->seq = codec_read_u64be(r);
    if (codec_read_failed(r, "record dbi6-dead-letter-key", "seq")) {
        return;
    }
}

bool wit_runtime_dbi6_dead_letter_key_equal(const WitRuntimeDbi6DeadLetterKey *a, const WitRuntimeDbi6DeadLetterKey *b)
{
    return a->worker == b->worker &&
           a->seq == b->seq;
}

void wit_runtime_dbi6_dead_letter_key_free(WitRuntimeDbi6DeadLetterKey *v)
{
    memset(v, 0, sizeof *v);
}

int wit_runtime_dbi6_dead_letter_key_validate(const WitRuntimeDbi6DeadLetterKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_runtime_dbi6_dead_letter_key_encode(const WitRuntimeDbi6DeadLetterKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_dbi6_dead_letter_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_dbi6_dead_letter_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_dbi6_dead_letter_key_decode(const void *data, size_t len, WitRuntimeDbi6DeadLetterKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeDbi6DeadLetterKey v;

    memset(&v, 0, sizeof v);
    wit_runtime_dbi6_dead_letter_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi6-dead-letter-key", "");
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    v_out->worker = v.worker;
    v_out->seq = v.seq;
    return SAP_OK;
}

static void wit_runtime_dbi6_dead_letter_value_write(CodecWriter *w, const WitRuntimeDbi6DeadLetterValue *v)
{
    codec_write_raw(w, "DLQ0", 4);
    uint8_t *at_rc = codec_write_room(w, 8);
    if (at_rc != NULL) {
        store_u32le(at_rc + 0, (uint32_t)v->rc);
        store_u32le(at_rc + 4, (uint32_t)v->attempts);
    }
    codec_write_bytes(w, &v->frame);
}

static void wit_runtime_dbi6_dead_letter_value_read(CodecReader *r, WitRuntimeDbi6DeadLetterValue *v)
{
    codec_read_exactly(r, "DLQ0", 4);
    const uint8_t *at_rc = codec_read_run(r, 8);
    if (at_rc == NULL) {
        static const CodecField fields[] = {{"rc", 4}, {"attempts", 4}};
        codec_read_no_run(r, "record dbi6-dead-letter-value", fields, 2);
        return;
    }
    v->rc = (int32_t)load_u32le(at_rc + 0);
    v->attempts = (uint32_t)load_u32le(at_rc + 4);
    codec_read_bytes(r, &v->frame);
    if (codec_read_failed(r, "record dbi6-dead-letter-value", "frame")) {
        return;
    }
}

bool wit_runtime_dbi6_dead_letter_value_equal(const WitRuntimeDbi6DeadLetterValue *a, const WitRuntimeDbi6DeadLetterValue *b)
{
    return a->rc == b->rc &&
           a->attempts == b->attempts &&
           codec_bytes_equal(&a->frame, &b->frame);
}

void wit_runtime_dbi6_dead_letter_value_free(WitRuntimeDbi6DeadLetterValue *v)
{
    codec_bytes_free(&v->frame);
    memset(v, 0, sizeof *v);
}

int wit_runtime_dbi6_dead_letter_value_validate(const WitRuntimeDbi6DeadLetterValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_runtime_dbi6_dead_letter_value_encode(const WitRuntimeDbi6DeadLetterValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_dbi6_dead_letter_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_dbi6_dead_letter_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_dbi6_dead_letter_value_decode(const void *data, size_t len, WitRuntimeDbi6DeadLetterValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeDbi6DeadLetterValue v;

    memset(&v, 0, sizeof v);
    wit_runtime_dbi6_dead_letter_value_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi6-dead-letter-value", "");
    if (r.rc != SAP_OK) {
        wit_runtime_dbi6_dead_letter_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_dbi7_dedupe_ttl_key_write(CodecWriter *w, const WitRuntimeDbi7DedupeTtlKey *v)
{
    codec_write_raw(w, v->key.data, v->key.len);
}

static void wit_runtime_dbi7_dedupe_ttl_key_read(CodecReader *r, WitRuntimeDbi7DedupeTtlKey *v)
{
    codec_read_rest(r, &v->key);
    if (codec_read_failed(r, "record dbi7-dedupe-ttl-key", "key")) {
        return;
    }
}

bool wit_runtime_dbi7_dedupe_ttl_key_equal(const WitRuntimeDbi7DedupeTtlKey *a, const WitRuntimeDbi7DedupeTtlKey *b)
{
    return codec_bytes_equal(&a->key, &b->key);
}

void wit_runtime_dbi7_dedupe_ttl_key_free(WitRuntimeDbi7DedupeTtlKey *v)
{
    codec_bytes_free(&v->key);
    memset(v, 0, sizeof *v);
}

int wit_runtime_dbi7_dedupe_ttl_key_validate(const WitRuntimeDbi7DedupeTtlKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_runtime_dbi7_dedupe_ttl_key_encode(const WitRuntimeDbi7DedupeTtlKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_dbi7_dedupe_ttl_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_dbi7_dedupe_ttl_key_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_dbi7_dedupe_ttl_key_decode(const void *data, size_t len, WitRuntimeDbi7DedupeTtlKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeDbi7DedupeTtlKey v;

    memset(&v, 0, sizeof v);
    wit_runtime_dbi7_dedupe_ttl_key_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi7-dedupe-ttl-key", "");
    if (r.rc != SAP_OK) {
        wit_runtime_dbi7_dedupe_ttl_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_runtime_dbi7_dedupe_ttl_value_write(CodecWriter *w, const WitRuntimeDbi7DedupeTtlValue *v)
{
    codec_write_raw(w, v->value.data, v->value.len);
}

static void wit_runtime_dbi7_dedupe_ttl_value_read(CodecReader *r, WitRuntimeDbi7DedupeTtlValue *v)
{
    codec_read_rest(r, &v->value);
    if (codec_read_failed(r, "record dbi7-dedupe-ttl-value", "value")) {
        return;
    }
}

bool wit_runtime_dbi7_dedupe_ttl_value_equal(const WitRuntimeDbi7DedupeTtlValue *a, const WitRuntimeDbi7DedupeTtlValue *b)
{
    return codec_bytes_equal(&a->value, &b->value);
}

void wit_runtime_dbi7_dedupe_ttl_value_free(WitRuntimeDbi7DedupeTtlValue *v)
{
    codec_bytes_free(&v->value);
    memset(v, 0, sizeof *v);
}

int wit_runtime_dbi7_dedupe_ttl_value_validate(const WitRuntimeDbi7DedupeTtlValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_runtime_dbi7_dedupe_ttl_value_encode(const WitRuntimeDbi7DedupeTtlValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_runtime_dbi7_dedupe_ttl_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_runtime_dbi7_dedupe_ttl_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_runtime_dbi7_dedupe_ttl_value_decode(const void *data, size_t len, WitRuntimeDbi7DedupeTtlValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitRuntimeDbi7DedupeTtlValue v;

    memset(&v, 0, sizeof v);
    wit_runtime_dbi7_dedupe_ttl_value_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi7-dedupe-ttl-value", "");
    if (r.rc != SAP_OK) {
        wit_runtime_dbi7_dedupe_ttl_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

