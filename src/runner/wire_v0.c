/* wire_v0.c - see wire_v0.h. */
#include "runner/wire_v0.h"

#include "common/assert.h"
#include "common/bytes.h"

#include <stdbool.h>
#include <string.h>

/* The part that both frames have in common. */
enum {
    AT_MAGIC = 0,
    AT_MAJOR = 4,
    AT_MINOR = 6,
    AT_FRAME_LEN = 8,
    AT_KIND = 12,
    AT_FLAGS = 13,
    AT_RESERVED = 14,
    AT_OWN = 16
};

enum {
    MSG_TO_WORKER = AT_OWN,
    MSG_ROUTE_WORKER = 24,
    MSG_ROUTE_TIMESTAMP = 32,
    MSG_FROM_WORKER = 40,
    MSG_ID_LEN = 48,
    MSG_TRACE_LEN = 52,
    MSG_PAYLOAD_LEN = 56,
    MSG_BODY = WIRE_MESSAGE_HEADER
};

enum { INT_DUE_TS = AT_OWN, INT_MESSAGE_LEN = 24, INT_BODY = WIRE_INTENT_HEADER };

_Static_assert(AT_MAJOR == AT_MAGIC + 4 && AT_MINOR == AT_MAJOR + sizeof(uint16_t) &&
                   AT_FRAME_LEN == AT_MINOR + sizeof(uint16_t) &&
                   AT_KIND == AT_FRAME_LEN + sizeof(uint32_t) && AT_FLAGS == AT_KIND + 1 &&
                   AT_RESERVED == AT_FLAGS + 1 && AT_OWN == AT_RESERVED + sizeof(uint16_t),
               "fields of both frames leave no gap");
_Static_assert(MSG_ROUTE_WORKER == MSG_TO_WORKER + sizeof(int64_t) &&
                   MSG_ROUTE_TIMESTAMP == MSG_ROUTE_WORKER + sizeof(int64_t) &&
                   MSG_FROM_WORKER == MSG_ROUTE_TIMESTAMP + sizeof(int64_t) &&
                   MSG_ID_LEN == MSG_FROM_WORKER + sizeof(int64_t) &&
                   MSG_TRACE_LEN == MSG_ID_LEN + sizeof(uint32_t) &&
                   MSG_PAYLOAD_LEN == MSG_TRACE_LEN + sizeof(uint32_t) &&
                   MSG_BODY == MSG_PAYLOAD_LEN + sizeof(uint32_t),
               "fields of a message leave no gap");
_Static_assert(INT_MESSAGE_LEN == INT_DUE_TS + sizeof(int64_t) &&
                   INT_BODY == INT_MESSAGE_LEN + sizeof(uint32_t),
               "fields of an intent leave no gap");

static const char message_magic[4] = {'L', 'M', 'S', 'G'};
static const char intent_magic[4] = {'L', 'I', 'N', 'T'};

#define NO_TRACE UINT32_MAX

#define MESSAGE_FLAGS                                                             \
    (SAP_RUNNER_V0_DURABLE | SAP_RUNNER_V0_HIGH_PRIORITY | SAP_RUNNER_V0_DEDUPE | \
     SAP_RUNNER_V0_REQUIRES_ACK | SAP_RUNNER_V0_HAS_FROM | SAP_RUNNER_V0_HAS_TRACE)

int wire_rc(int wire_code)
{
    return wire_code == SAP_RUNNER_WIRE_OK ? SAP_OK : SAP_INVALID;
}

/* ---- What both frames have in common -------------------------------------------------------- */

static void put_start(uint8_t *p, const char magic[4], uint32_t frame_len, uint8_t kind,
                      uint8_t flags)
{
    memcpy(p + AT_MAGIC, magic, 4);
    store_u16le(p + AT_MAJOR, 0);
    store_u16le(p + AT_MINOR, 0);
    store_u32le(p + AT_FRAME_LEN, frame_len);
    p[AT_KIND] = kind;
    p[AT_FLAGS] = flags;
    store_u16le(p + AT_RESERVED, 0);
}

/* The version is looked at before everything that another version may have changed. */
static int check_start(const uint8_t *p, uint32_t len, const char magic[4], uint32_t header_len,
                       uint8_t last_kind, unsigned known_flags)
{
    if (len < header_len) {
        return SAP_RUNNER_WIRE_ETRUNC;
    }
    if (memcmp(p + AT_MAGIC, magic, 4) != 0) {
        return SAP_RUNNER_WIRE_EFORMAT;
    }
    if (load_u16le(p + AT_MAJOR) != 0 || load_u16le(p + AT_MINOR) != 0) {
        return SAP_RUNNER_WIRE_EVERSION;
    }
    uint32_t frame_len = load_u32le(p + AT_FRAME_LEN);
    if (frame_len > SAP_RUNNER_V0_MAX_FRAME || frame_len < len) {
        return SAP_RUNNER_WIRE_EFORMAT;
    }
    if (frame_len > len) {
        return SAP_RUNNER_WIRE_ETRUNC;
    }
    if (p[AT_KIND] > last_kind || (p[AT_FLAGS] & ~known_flags) != 0 ||
        load_u16le(p + AT_RESERVED) != 0) {
        return SAP_RUNNER_WIRE_EFORMAT;
    }
    return SAP_RUNNER_WIRE_OK;
}

/* Checks arguments and room before an encoder writes. */
static int check_room(uint32_t size, const void *buf, uint32_t cap, uint32_t *len_out)
{
    if (size == 0 || len_out == NULL || (buf == NULL && cap > 0)) {
        return SAP_RUNNER_WIRE_EINVAL;
    }
    *len_out = size;
    return size > cap ? SAP_RUNNER_WIRE_E2BIG : SAP_RUNNER_WIRE_OK;
}

static uint8_t *put_bytes(uint8_t *p, const void *bytes, uint32_t len)
{
    if (len > 0) {
        memcpy(p, bytes, len);
    }
    return p + len;
}

/* ---- Messages ------------------------------------------------------------------------------- */

/* Fields whose flag is absent must be absent too: a caller who sets one and forgets the other would
 * lose it without a word. */
static bool message_valid(const SapRunnerV0Message *msg)
{
    bool from_fits = (msg->flags & SAP_RUNNER_V0_HAS_FROM) != 0 || msg->from_worker == 0;
    bool trace_fits = (msg->flags & SAP_RUNNER_V0_HAS_TRACE) != 0
                          ? msg->trace_id != NULL || msg->trace_id_len == 0
                          : msg->trace_id == NULL && msg->trace_id_len == 0;

    return msg->kind <= SAP_RUNNER_V0_TIMER && (msg->flags & ~MESSAGE_FLAGS) == 0 &&
           msg->to_worker >= 0 && from_fits && trace_fits && msg->message_id != NULL &&
           msg->message_id_len > 0 && (msg->payload != NULL || msg->payload_len == 0);
}

uint32_t sap_runner_wire_v0_message_size(const SapRunnerV0Message *msg)
{
    if (msg == NULL || !message_valid(msg)) {
        return 0;
    }
    uint64_t size = (uint64_t)MSG_BODY + msg->message_id_len + msg->trace_id_len + msg->payload_len;
    return size > SAP_RUNNER_V0_MAX_FRAME ? 0 : (uint32_t)size;
}

int sap_runner_wire_v0_encode_message(const SapRunnerV0Message *msg, void *buf, uint32_t cap,
                                      uint32_t *len_out)
{
    uint32_t size = sap_runner_wire_v0_message_size(msg);
    int rc = check_room(size, buf, cap, len_out);

    if (rc != SAP_RUNNER_WIRE_OK) {
        return rc;
    }
    uint8_t *p = buf;
    put_start(p, message_magic, size, msg->kind, msg->flags);
    store_u64le(p + MSG_TO_WORKER, (uint64_t)msg->to_worker);
    store_u64le(p + MSG_ROUTE_WORKER, (uint64_t)msg->route_worker);
    store_u64le(p + MSG_ROUTE_TIMESTAMP, (uint64_t)msg->route_timestamp);
    store_u64le(p + MSG_FROM_WORKER, (uint64_t)msg->from_worker);
    store_u32le(p + MSG_ID_LEN, msg->message_id_len);
    store_u32le(p + MSG_TRACE_LEN,
                (msg->flags & SAP_RUNNER_V0_HAS_TRACE) != 0 ? msg->trace_id_len : NO_TRACE);
    store_u32le(p + MSG_PAYLOAD_LEN, msg->payload_len);
    uint8_t *end = put_bytes(p + MSG_BODY, msg->message_id, msg->message_id_len);
    end = put_bytes(end, msg->trace_id, msg->trace_id_len);
    end = put_bytes(end, msg->payload, msg->payload_len);
    SAP_ASSERT(end == p + size);
    return SAP_RUNNER_WIRE_OK;
}

int sap_runner_wire_v0_decode_message(const void *frame, uint32_t len, SapRunnerV0Message *msg_out)
{
    const uint8_t *p = frame;

    if (p == NULL || msg_out == NULL) {
        return SAP_RUNNER_WIRE_EINVAL;
    }
    int rc = check_start(p, len, message_magic, MSG_BODY, SAP_RUNNER_V0_TIMER, MESSAGE_FLAGS);
    if (rc != SAP_RUNNER_WIRE_OK) {
        return rc;
    }
    SapRunnerV0Message msg = {.kind = p[AT_KIND],
                              .flags = p[AT_FLAGS],
                              .to_worker = (int64_t)load_u64le(p + MSG_TO_WORKER),
                              .route_worker = (int64_t)load_u64le(p + MSG_ROUTE_WORKER),
                              .route_timestamp = (int64_t)load_u64le(p + MSG_ROUTE_TIMESTAMP),
                              .message_id = p + MSG_BODY,
                              .message_id_len = load_u32le(p + MSG_ID_LEN),
                              .payload_len = load_u32le(p + MSG_PAYLOAD_LEN)};
    uint32_t trace_len = load_u32le(p + MSG_TRACE_LEN);

    if ((msg.flags & SAP_RUNNER_V0_HAS_TRACE) != 0) {
        msg.trace_id_len = trace_len;
    } else if (trace_len != NO_TRACE) {
        return SAP_RUNNER_WIRE_EFORMAT;
    }
    if (msg.to_worker < 0 || msg.message_id_len == 0 ||
        (uint64_t)MSG_BODY + msg.message_id_len + msg.trace_id_len + msg.payload_len != len) {
        return SAP_RUNNER_WIRE_EFORMAT;
    }
    if ((msg.flags & SAP_RUNNER_V0_HAS_FROM) != 0) {
        msg.from_worker = (int64_t)load_u64le(p + MSG_FROM_WORKER);
    }
    if ((msg.flags & SAP_RUNNER_V0_HAS_TRACE) != 0) {
        msg.trace_id = p + MSG_BODY + msg.message_id_len;
    }
    msg.payload = p + MSG_BODY + msg.message_id_len + msg.trace_id_len;
    *msg_out = msg;
    return SAP_RUNNER_WIRE_OK;
}

int wire_encode_buf(const SapRunnerV0Message *msg, Buf *buf)
{
    uint32_t size = sap_runner_wire_v0_message_size(msg);

    if (size == 0) {
        return SAP_INVALID;
    }
    int rc = buf_reserve(buf, size);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = sap_runner_wire_v0_encode_message(msg, buf->data + buf->len, size, &size);
    SAP_ASSERT(rc == SAP_RUNNER_WIRE_OK);
    buf->len += size;
    return SAP_OK;
}

int wire_check(const void *frame, uint32_t len)
{
    SapRunnerV0Message msg;

    return wire_rc(sap_runner_wire_v0_decode_message(frame, len, &msg));
}

int64_t wire_to_worker(const void *frame)
{
    return (int64_t)load_u64le((const uint8_t *)frame + MSG_TO_WORKER);
}

uint8_t wire_flags(const void *frame)
{
    return ((const uint8_t *)frame)[AT_FLAGS];
}

int64_t wire_route_timestamp(const void *frame)
{
    return (int64_t)load_u64le((const uint8_t *)frame + MSG_ROUTE_TIMESTAMP);
}

/* ---- Intents -------------------------------------------------------------------------------- */

static bool due_fits(uint8_t kind, uint8_t flags)
{
    return (kind == SAP_RUNNER_V0_TIMER_ARM) == ((flags & SAP_RUNNER_V0_HAS_DUE) != 0);
}

static bool intent_valid(const SapRunnerV0Intent *intent)
{
    return intent->kind <= SAP_RUNNER_V0_TIMER_ARM &&
           (intent->flags & ~SAP_RUNNER_V0_HAS_DUE) == 0 && due_fits(intent->kind, intent->flags) &&
           ((intent->flags & SAP_RUNNER_V0_HAS_DUE) != 0 || intent->due_ts == 0) &&
           wire_check(intent->message, intent->message_len) == SAP_OK;
}

uint32_t sap_runner_wire_v0_intent_size(const SapRunnerV0Intent *intent)
{
    if (intent == NULL || !intent_valid(intent)) {
        return 0;
    }
    uint64_t size = (uint64_t)INT_BODY + intent->message_len;
    return size > SAP_RUNNER_V0_MAX_FRAME ? 0 : (uint32_t)size;
}

int sap_runner_wire_v0_encode_intent(const SapRunnerV0Intent *intent, void *buf, uint32_t cap,
                                     uint32_t *len_out)
{
    uint32_t size = sap_runner_wire_v0_intent_size(intent);
    int rc = check_room(size, buf, cap, len_out);

    if (rc != SAP_RUNNER_WIRE_OK) {
        return rc;
    }
    uint8_t *p = buf;
    put_start(p, intent_magic, size, intent->kind, intent->flags);
    store_u64le(p + INT_DUE_TS, (uint64_t)intent->due_ts);
    store_u32le(p + INT_MESSAGE_LEN, intent->message_len);
    (void)put_bytes(p + INT_BODY, intent->message, intent->message_len);
    return SAP_RUNNER_WIRE_OK;
}

int sap_runner_wire_v0_decode_intent(const void *frame, uint32_t len, SapRunnerV0Intent *intent_out)
{
    const uint8_t *p = frame;
    SapRunnerV0Message inner;

    if (p == NULL || intent_out == NULL) {
        return SAP_RUNNER_WIRE_EINVAL;
    }
    int rc =
        check_start(p, len, intent_magic, INT_BODY, SAP_RUNNER_V0_TIMER_ARM, SAP_RUNNER_V0_HAS_DUE);
    if (rc != SAP_RUNNER_WIRE_OK) {
        return rc;
    }
    uint32_t message_len = load_u32le(p + INT_MESSAGE_LEN);
    if (!due_fits(p[AT_KIND], p[AT_FLAGS]) || message_len == 0 ||
        (uint64_t)INT_BODY + message_len != len) {
        return SAP_RUNNER_WIRE_EFORMAT;
    }
    rc = sap_runner_wire_v0_decode_message(p + INT_BODY, message_len, &inner);
    if (rc != SAP_RUNNER_WIRE_OK) {
        /* All bytes of the intent are there: a message that wants more is not truncated but
         * wrong. */
        return rc == SAP_RUNNER_WIRE_EVERSION ? rc : SAP_RUNNER_WIRE_EFORMAT;
    }
    *intent_out = (SapRunnerV0Intent){.kind = p[AT_KIND],
                                      .flags = p[AT_FLAGS],
                                      .due_ts = (p[AT_FLAGS] & SAP_RUNNER_V0_HAS_DUE) != 0
                                                    ? (int64_t)load_u64le(p + INT_DUE_TS)
                                                    : 0,
                                      .message = p + INT_BODY,
                                      .message_len = message_len};
    return SAP_RUNNER_WIRE_OK;
}
