/* The runner's frames: their bytes, written by hand, every rule broken once, and the decoder that is
 * generated of the schema as a second opinion. Frames that are decoded end where a page begins that
 * cannot be read: a decoder that looks further dies. */
#include "common/bytes.h"
#include "common/fault.h"
#include "common/mem.h"
#include "runner/wire_v0.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/suite.h"
#include "wit_runtime.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_BODY = 200, MAX_FRAME = 60 + 3 * MAX_BODY, ROUNDS = 20000 };

/* ---- Bytes before a page that cannot be read ------------------------------------------------ */

static uint8_t *guard; /* the first byte that cannot be read */
static size_t guard_room;

static void guard_start(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ck_assert(map != MAP_FAILED);
    ck_assert_int_eq(mprotect(map + page, page, PROT_NONE), 0);
    guard = map + page;
    guard_room = page;
}

static void guard_end(void)
{
    munmap(guard - guard_room, 2 * guard_room);
}

static uint8_t *guarded(const void *bytes, size_t len)
{
    EXPECT(len <= guard_room, "%zu bytes do not fit the guarded page", len);
    memcpy(guard - len, bytes, len);
    return guard - len;
}

static int decode(const void *bytes, uint32_t len, SapRunnerV0Message *msg)
{
    return sap_runner_wire_v0_decode_message(guarded(bytes, len), len, msg);
}

static int decode_intent(const void *bytes, uint32_t len, SapRunnerV0Intent *intent)
{
    return sap_runner_wire_v0_decode_intent(guarded(bytes, len), len, intent);
}

/* ---- Golden bytes --------------------------------------------------------------------------- */

static const uint8_t plain_bytes[] = {
    'L',  'M',  'S',  'G',                          /* 0 magic */
    0,    0,                                        /* 4 major */
    0,    0,                                        /* 6 minor */
    65,   0,    0,    0,                            /* 8 frame_len */
    1,                                              /* 12 kind: event */
    0x05,                                           /* 13 durable, dedupe */
    0,    0,                                        /* 14 zero */
    7,    0,    0,    0,    0,    0,    0,    0,    /* 16 to_worker */
    0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* 24 route_worker: -2 */
    0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* 32 route_timestamp */
    0,    0,    0,    0,    0,    0,    0,    0,    /* 40 from_worker: absent */
    2,    0,    0,    0,                            /* 48 message_id_len */
    0xff, 0xff, 0xff, 0xff,                         /* 52 trace_id_len: absent */
    3,    0,    0,    0,                            /* 56 payload_len */
    'm',  '1',  'p',  'a',  'y',
};

static const SapRunnerV0Message plain = {
    .kind = SAP_RUNNER_V0_EVENT,
    .flags = SAP_RUNNER_V0_DURABLE | SAP_RUNNER_V0_DEDUPE,
    .to_worker = 7,
    .route_worker = -2,
    .route_timestamp = 0x1122334455667788,
    .message_id = "m1",
    .message_id_len = 2,
    .payload = "pay",
    .payload_len = 3,
};

static const uint8_t full_bytes[] = {
    'L',  'M',  'S',  'G',  0,    0,    0,    0,    /* 0 magic, 4 major, 6 minor */
    68,   0,    0,    0,                            /* 8 frame_len */
    2,                                              /* 12 kind: timer */
    0x3f,                                           /* 13 all flags */
    0,    0,                                        /* 14 zero */
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, /* 16 to_worker: the last there is */
    1,    0,    0,    0,    0,    0,    0,    0,    /* 24 route_worker */
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* 32 route_timestamp: -1 */
    0,    0,    0,    0,    0,    0,    0,    0x80, /* 40 from_worker: the lowest there is */
    1,    0,    0,    0,                            /* 48 message_id_len */
    5,    0,    0,    0,                            /* 52 trace_id_len */
    2,    0,    0,    0,                            /* 56 payload_len */
    'i',  't',  'r',  'a',  'c',  'e',  'h',  'i',
};

static const SapRunnerV0Message full = {
    .kind = SAP_RUNNER_V0_TIMER,
    .flags = 0x3f,
    .to_worker = INT64_MAX,
    .route_worker = 1,
    .route_timestamp = -1,
    .from_worker = INT64_MIN,
    .message_id = "i",
    .message_id_len = 1,
    .trace_id = "trace",
    .trace_id_len = 5,
    .payload = "hi",
    .payload_len = 2,
};

static void expect_same(const SapRunnerV0Message *a, const SapRunnerV0Message *b)
{
    EXPECT(a->kind == b->kind && a->flags == b->flags && a->to_worker == b->to_worker &&
               a->route_worker == b->route_worker && a->route_timestamp == b->route_timestamp &&
               a->from_worker == b->from_worker,
           "other numbers");
    EXPECT(bytes_compare(a->message_id, a->message_id_len, b->message_id, b->message_id_len) == 0,
           "another id");
    EXPECT((a->trace_id == NULL) == (b->trace_id == NULL) &&
               bytes_compare(a->trace_id, a->trace_id_len, b->trace_id, b->trace_id_len) == 0,
           "another trace");
    EXPECT(bytes_compare(a->payload, a->payload_len, b->payload, b->payload_len) == 0,
           "another payload");
}

static void expect_golden(const SapRunnerV0Message *msg, const uint8_t *bytes, uint32_t len)
{
    uint8_t out[MAX_FRAME];
    uint32_t out_len = 0;
    SapRunnerV0Message again;

    memset(out, 0xaa, sizeof out);
    ck_assert_uint_eq(sap_runner_wire_v0_message_size(msg), len);
    ck_assert_int_eq(sap_runner_wire_v0_encode_message(msg, out, sizeof out, &out_len), 0);
    ck_assert_uint_eq(out_len, len);
    ck_assert_mem_eq(out, bytes, len);
    ck_assert_uint_eq(out[len], 0xaa);
    ck_assert_int_eq(decode(bytes, len, &again), 0);
    expect_same(msg, &again);
    ck_assert_int_eq(wire_check(bytes, len), SAP_OK);
    ck_assert_int_eq(wire_to_worker(bytes), msg->to_worker);
    ck_assert_uint_eq(wire_flags(bytes), msg->flags);
    ck_assert_int_eq(wire_route_timestamp(bytes), msg->route_timestamp);
}

START_TEST(a_message_frame_has_these_bytes)
{
    expect_golden(&plain, plain_bytes, sizeof plain_bytes);
    expect_golden(&full, full_bytes, sizeof full_bytes);
    ck_assert_uint_eq(SAP_RUNNER_V0_DURABLE, 1);
    ck_assert_uint_eq(SAP_RUNNER_V0_HIGH_PRIORITY, 2);
    ck_assert_uint_eq(SAP_RUNNER_V0_DEDUPE, 4);
    ck_assert_uint_eq(SAP_RUNNER_V0_REQUIRES_ACK, 8);
    ck_assert_uint_eq(SAP_RUNNER_V0_HAS_FROM, 0x10);
    ck_assert_uint_eq(SAP_RUNNER_V0_HAS_TRACE, 0x20);
    ck_assert_int_eq(SAP_RUNNER_V0_COMMAND, 0);
}
END_TEST

/* An intent around the plain message. */
static uint32_t intent_bytes(uint8_t *out, uint8_t kind, uint8_t flags, uint8_t due)
{
    const uint8_t head[28] = {
        'L',  'I',   'N', 'T', 0,   0,   0,   0,   /* 0 magic, 4 major, 6 minor */
        93,   0,     0,   0,                       /* 8 frame_len */
        kind, flags, 0,   0,                       /* 12 kind, 13 flags, 14 zero */
        due,  due,   due, due, due, due, due, due, /* 16 due_ts */
        65,   0,     0,   0};                      /* 24 message_len */

    memcpy(out, head, sizeof head);
    memcpy(out + sizeof head, plain_bytes, sizeof plain_bytes);
    return sizeof head + sizeof plain_bytes;
}

START_TEST(an_intent_frame_has_these_bytes)
{
    uint8_t want[93];
    uint8_t out[100];
    uint32_t len = 0;
    SapRunnerV0Intent again;
    const SapRunnerV0Intent emit = {.kind = SAP_RUNNER_V0_OUTBOX_EMIT,
                                    .message = plain_bytes,
                                    .message_len = sizeof plain_bytes};
    const SapRunnerV0Intent arm = {.kind = SAP_RUNNER_V0_TIMER_ARM,
                                   .flags = SAP_RUNNER_V0_HAS_DUE,
                                   .due_ts = 0x0505050505050505,
                                   .message = plain_bytes,
                                   .message_len = sizeof plain_bytes};

    ck_assert_uint_eq(intent_bytes(want, 0, 0, 0), 93);
    ck_assert_int_eq(sap_runner_wire_v0_encode_intent(&emit, out, sizeof out, &len), 0);
    ck_assert_uint_eq(len, 93);
    ck_assert_mem_eq(out, want, len);
    ck_assert_int_eq(decode_intent(out, len, &again), 0);
    ck_assert_uint_eq(again.kind, 0);
    ck_assert_uint_eq(again.flags, 0);
    ck_assert_int_eq(again.due_ts, 0);
    ck_assert_uint_eq(again.message_len, sizeof plain_bytes);
    ck_assert_mem_eq(again.message, plain_bytes, sizeof plain_bytes);

    intent_bytes(want, 1, 1, 5);
    ck_assert_int_eq(sap_runner_wire_v0_encode_intent(&arm, out, sizeof out, &len), 0);
    ck_assert_mem_eq(out, want, len);
    ck_assert_int_eq(decode_intent(out, len, &again), 0);
    ck_assert_uint_eq(again.kind, SAP_RUNNER_V0_TIMER_ARM);
    ck_assert_uint_eq(again.flags, SAP_RUNNER_V0_HAS_DUE);
    ck_assert_int_eq(again.due_ts, 0x0505050505050505);
    ck_assert_uint_eq(sap_runner_wire_v0_intent_size(&arm), 93);
}
END_TEST

/* ---- Rules ---------------------------------------------------------------------------------- */

/* What the generated decoder makes of the bytes; of an intent, together with the message within. */
static bool schema_accepts(const uint8_t *bytes, size_t len)
{
    WitRuntimeMessage msg;

    if (wit_runtime_message_decode(bytes, len, &msg, NULL) != SAP_OK) {
        return false;
    }
    wit_runtime_message_free(&msg);
    return true;
}

static bool schema_accepts_intent(const uint8_t *bytes, size_t len)
{
    WitRuntimeIntent intent;

    if (wit_runtime_intent_decode(bytes, len, &intent, NULL) != SAP_OK) {
        return false;
    }
    bool ok = schema_accepts(intent.message.data, intent.message.len);
    wit_runtime_intent_free(&intent);
    return ok;
}

typedef struct Change {
    uint8_t at, value;
} Change;

typedef struct Violation {
    const char *what;
    int rc;
    Change changes[4];
    uint32_t count;
} Violation;

#define VIOLATION(what, rc, ...)                                                  \
    {                                                                             \
        what, rc, {__VA_ARGS__}, sizeof((Change[]){__VA_ARGS__}) / sizeof(Change) \
    }

/* Each breaks one rule of the full frame (of 68 bytes) and leaves the others. */
static const Violation message_violations[] = {
    VIOLATION("magic", SAP_RUNNER_WIRE_EFORMAT, {3, 'H'}),
    VIOLATION("magic of an intent", SAP_RUNNER_WIRE_EFORMAT, {1, 'I'}, {2, 'N'}, {3, 'T'}),
    VIOLATION("major", SAP_RUNNER_WIRE_EVERSION, {4, 1}),
    VIOLATION("major, high byte", SAP_RUNNER_WIRE_EVERSION, {5, 1}),
    VIOLATION("minor", SAP_RUNNER_WIRE_EVERSION, {6, 1}),
    VIOLATION("minor, high byte", SAP_RUNNER_WIRE_EVERSION, {7, 0x80}),
    VIOLATION("frame_len below", SAP_RUNNER_WIRE_EFORMAT, {8, 67}),
    VIOLATION("frame_len above", SAP_RUNNER_WIRE_ETRUNC, {8, 69}),
    VIOLATION("frame_len above every frame", SAP_RUNNER_WIRE_EFORMAT, {11, 0x41}),
    VIOLATION("kind", SAP_RUNNER_WIRE_EFORMAT, {12, 3}),
    VIOLATION("flag 0x40", SAP_RUNNER_WIRE_EFORMAT, {13, 0x7f}),
    VIOLATION("flag 0x80", SAP_RUNNER_WIRE_EFORMAT, {13, 0xbf}),
    VIOLATION("reserved", SAP_RUNNER_WIRE_EFORMAT, {14, 1}),
    VIOLATION("reserved, high byte", SAP_RUNNER_WIRE_EFORMAT, {15, 1}),
    VIOLATION("to_worker negative", SAP_RUNNER_WIRE_EFORMAT, {23, 0x80}),
    VIOLATION("no message id", SAP_RUNNER_WIRE_EFORMAT, {48, 0}, {52, 6}),
    VIOLATION("trace length without the flag", SAP_RUNNER_WIRE_EFORMAT, {13, 0x1f}),
    VIOLATION("empty trace without the flag", SAP_RUNNER_WIRE_EFORMAT, {13, 0x1f}, {52, 0},
              {56, 7}),
    VIOLATION("absent trace with the flag", SAP_RUNNER_WIRE_EFORMAT, {52, 0xff}, {53, 0xff},
              {54, 0xff}, {55, 0xff}),
    VIOLATION("lengths one too few", SAP_RUNNER_WIRE_EFORMAT, {56, 1}),
    VIOLATION("lengths one too many", SAP_RUNNER_WIRE_EFORMAT, {56, 3}),
    /* 1 + (2^31 + 5) + (2^31 + 2) is 8 in 32 bits. */
    VIOLATION("lengths that fit when they wrap", SAP_RUNNER_WIRE_EFORMAT, {55, 0x80}, {59, 0x80}),
};

/* Of a timer arm around the plain message, 93 bytes. */
static const Violation intent_violations[] = {
    VIOLATION("magic", SAP_RUNNER_WIRE_EFORMAT, {0, 'l'}),
    VIOLATION("major", SAP_RUNNER_WIRE_EVERSION, {4, 1}),
    VIOLATION("minor", SAP_RUNNER_WIRE_EVERSION, {6, 1}),
    VIOLATION("frame_len below", SAP_RUNNER_WIRE_EFORMAT, {8, 92}),
    VIOLATION("frame_len above", SAP_RUNNER_WIRE_ETRUNC, {8, 94}),
    VIOLATION("kind", SAP_RUNNER_WIRE_EFORMAT, {12, 2}),
    VIOLATION("flag", SAP_RUNNER_WIRE_EFORMAT, {13, 3}),
    VIOLATION("reserved", SAP_RUNNER_WIRE_EFORMAT, {14, 1}),
    VIOLATION("a timer without due", SAP_RUNNER_WIRE_EFORMAT, {13, 0}),
    VIOLATION("an emit with due", SAP_RUNNER_WIRE_EFORMAT, {12, 0}),
    VIOLATION("message_len below", SAP_RUNNER_WIRE_EFORMAT, {24, 64}),
    VIOLATION("message_len above", SAP_RUNNER_WIRE_EFORMAT, {24, 66}),
    VIOLATION("message_len 0", SAP_RUNNER_WIRE_EFORMAT, {24, 0}),
    VIOLATION("magic within", SAP_RUNNER_WIRE_EFORMAT, {28, 'l'}),
    VIOLATION("major within", SAP_RUNNER_WIRE_EVERSION, {32, 1}),
    VIOLATION("frame_len above within", SAP_RUNNER_WIRE_EFORMAT, {36, 66}),
    VIOLATION("to_worker negative within", SAP_RUNNER_WIRE_EFORMAT, {51, 0x80}),
};

static void apply(uint8_t *bytes, const Violation *violation)
{
    for (uint32_t i = 0; i < violation->count; i++) {
        bytes[violation->changes[i].at] = violation->changes[i].value;
    }
}

START_TEST(every_rule_of_a_message_broken_once_has_its_code)
{
    size_t count = sizeof message_violations / sizeof message_violations[0];

    for (size_t i = 0; i < count; i++) {
        const Violation *violation = &message_violations[i];
        uint8_t bytes[sizeof full_bytes];
        SapRunnerV0Message msg = {.kind = 77};

        expect_context("%s", violation->what);
        memcpy(bytes, full_bytes, sizeof bytes);
        apply(bytes, violation);
        EXPECT_RC(decode(bytes, sizeof bytes, &msg), violation->rc);
        EXPECT(msg.kind == 77, "written to on failure");
        EXPECT(!schema_accepts(bytes, sizeof bytes), "the schema accepts it");
        EXPECT_RC(wire_check(bytes, sizeof bytes), SAP_INVALID);
    }
    printf("%zu rules of a message\n", count);
}
END_TEST

START_TEST(every_rule_of_an_intent_broken_once_has_its_code)
{
    size_t count = sizeof intent_violations / sizeof intent_violations[0];

    for (size_t i = 0; i < count; i++) {
        const Violation *violation = &intent_violations[i];
        uint8_t bytes[93];
        SapRunnerV0Intent intent = {.kind = 77};

        expect_context("%s", violation->what);
        uint32_t len = intent_bytes(bytes, 1, 1, 5);
        apply(bytes, violation);
        EXPECT_RC(decode_intent(bytes, len, &intent), violation->rc);
        EXPECT(intent.kind == 77, "written to on failure");
        EXPECT(!schema_accepts_intent(bytes, len), "the schema accepts it");
    }
    printf("%zu rules of an intent\n", count);
}
END_TEST

START_TEST(a_field_without_its_flag_decodes_as_absent_whatever_its_bytes)
{
    uint8_t bytes[93];
    SapRunnerV0Message msg;
    SapRunnerV0Intent intent;

    memcpy(bytes, plain_bytes, sizeof plain_bytes);
    memset(bytes + 40, 0x77, 8);
    ck_assert_int_eq(decode(bytes, sizeof plain_bytes, &msg), 0);
    expect_same(&plain, &msg);
    ck_assert(schema_accepts(bytes, sizeof plain_bytes));

    uint32_t len = intent_bytes(bytes, 0, 0, 5);
    ck_assert_int_eq(decode_intent(bytes, len, &intent), 0);
    ck_assert_int_eq(intent.due_ts, 0);
    ck_assert(schema_accepts_intent(bytes, len));
}
END_TEST

START_TEST(an_empty_trace_is_not_an_absent_one)
{
    uint8_t bytes[sizeof full_bytes];
    uint32_t len = 0;
    SapRunnerV0Message msg = full;

    msg.trace_id_len = 0;
    ck_assert_int_eq(sap_runner_wire_v0_encode_message(&msg, bytes, sizeof bytes, &len), 0);
    ck_assert_uint_eq(len, 63);
    ck_assert_uint_eq(load_u32le(bytes + 52), 0);
    ck_assert_int_eq(decode(bytes, len, &msg), 0);
    ck_assert_ptr_nonnull(msg.trace_id);
    ck_assert_uint_eq(msg.trace_id_len, 0);

    msg = full;
    msg.trace_id = NULL;
    msg.trace_id_len = 0;
    ck_assert_uint_eq(sap_runner_wire_v0_message_size(&msg), 63);
}
END_TEST

START_TEST(a_message_that_no_frame_can_hold_is_refused)
{
    uint8_t out[100];
    uint32_t len = 1234;
    uint32_t count = 0;

#define REFUSED(base, change)                                                            \
    do {                                                                                 \
        SapRunnerV0Message bad = (base);                                                 \
        change;                                                                          \
        ck_assert_uint_eq(sap_runner_wire_v0_message_size(&bad), 0);                     \
        ck_assert_int_eq(sap_runner_wire_v0_encode_message(&bad, out, sizeof out, &len), \
                         SAP_RUNNER_WIRE_EINVAL);                                        \
        Buf refused_buf = {0};                                                           \
        ck_assert_int_eq(wire_encode_buf(&bad, &refused_buf), SAP_INVALID);              \
        count++;                                                                         \
    } while (0)

    REFUSED(plain, bad.kind = 3);
    REFUSED(plain, bad.flags = 0x40);
    REFUSED(plain, bad.flags = 0x80);
    REFUSED(plain, bad.to_worker = -1);
    REFUSED(plain, bad.from_worker = 1);
    REFUSED(plain, bad.trace_id = "t");
    REFUSED(plain, bad.trace_id_len = 1);
    REFUSED(full, (bad.trace_id = NULL));
    REFUSED(plain, bad.message_id_len = 0);
    REFUSED(plain, bad.message_id = NULL);
    REFUSED(plain, bad.payload = NULL);
    REFUSED(plain, bad.payload_len = SAP_RUNNER_V0_MAX_FRAME - 60 - 2 + 1);
    REFUSED(plain, bad.payload_len = UINT32_MAX);
    REFUSED(plain, (bad.message_id_len = UINT32_MAX, bad.payload_len = 70));
#undef REFUSED
    SapRunnerV0Message longest = plain;
    longest.payload_len = SAP_RUNNER_V0_MAX_FRAME - 60 - 2;
    ck_assert_uint_eq(sap_runner_wire_v0_message_size(&longest), SAP_RUNNER_V0_MAX_FRAME);

    ck_assert_uint_eq(sap_runner_wire_v0_message_size(NULL), 0);
    ck_assert_int_eq(sap_runner_wire_v0_encode_message(NULL, out, sizeof out, &len),
                     SAP_RUNNER_WIRE_EINVAL);
    ck_assert_int_eq(sap_runner_wire_v0_encode_message(&plain, out, sizeof out, NULL),
                     SAP_RUNNER_WIRE_EINVAL);
    ck_assert_int_eq(sap_runner_wire_v0_encode_message(&plain, NULL, 100, &len),
                     SAP_RUNNER_WIRE_EINVAL);
    ck_assert_uint_eq(len, 1234);
    SapRunnerV0Message msg;
    ck_assert_int_eq(sap_runner_wire_v0_decode_message(NULL, 0, &msg), SAP_RUNNER_WIRE_EINVAL);
    ck_assert_int_eq(sap_runner_wire_v0_decode_message(plain_bytes, sizeof plain_bytes, NULL),
                     SAP_RUNNER_WIRE_EINVAL);
    printf("%u messages without a frame\n", count);
}
END_TEST

START_TEST(an_intent_that_no_frame_can_hold_is_refused)
{
    const SapRunnerV0Intent good = {.kind = SAP_RUNNER_V0_TIMER_ARM,
                                    .flags = SAP_RUNNER_V0_HAS_DUE,
                                    .due_ts = 9,
                                    .message = plain_bytes,
                                    .message_len = sizeof plain_bytes};
    SapRunnerV0Intent bad[8];
    uint8_t out[100];
    uint32_t len = 1234;

    for (size_t i = 0; i < 8; i++) {
        bad[i] = good;
    }
    bad[0].kind = 2;
    bad[1].flags = 3;
    bad[2].flags = 0;
    bad[3].kind = SAP_RUNNER_V0_OUTBOX_EMIT;
    bad[4] =
        (SapRunnerV0Intent){.due_ts = 9, .message = plain_bytes, .message_len = sizeof plain_bytes};
    bad[5].message = NULL;
    bad[6].message_len = sizeof plain_bytes - 1;
    bad[7].message_len = 0;
    for (size_t i = 0; i < 8; i++) {
        expect_context("intent %zu", i);
        EXPECT(sap_runner_wire_v0_intent_size(&bad[i]) == 0, "it has a size");
        EXPECT_RC(sap_runner_wire_v0_encode_intent(&bad[i], out, sizeof out, &len),
                  SAP_RUNNER_WIRE_EINVAL);
    }
    ck_assert_uint_eq(sap_runner_wire_v0_intent_size(NULL), 0);
    ck_assert_int_eq(sap_runner_wire_v0_encode_intent(&good, out, sizeof out, NULL),
                     SAP_RUNNER_WIRE_EINVAL);
    ck_assert_uint_eq(len, 1234);
    SapRunnerV0Intent intent;
    ck_assert_int_eq(sap_runner_wire_v0_decode_intent(NULL, 0, &intent), SAP_RUNNER_WIRE_EINVAL);
    intent_bytes(out, 1, 1, 5);
    ck_assert_int_eq(sap_runner_wire_v0_decode_intent(out, 93, NULL), SAP_RUNNER_WIRE_EINVAL);
}
END_TEST

START_TEST(a_buffer_that_is_too_small_gets_the_size_and_no_byte)
{
    const SapRunnerV0Intent emit = {.message = plain_bytes, .message_len = sizeof plain_bytes};
    uint8_t out[93];

    for (uint32_t cap = 0; cap < 93; cap++) {
        uint32_t len = 0;
        memset(out, 0xaa, sizeof out);
        ck_assert_int_eq(sap_runner_wire_v0_encode_intent(&emit, cap == 0 ? NULL : out, cap, &len),
                         SAP_RUNNER_WIRE_E2BIG);
        ck_assert_uint_eq(len, 93);
        len = 0;
        if (cap < sizeof full_bytes) {
            ck_assert_int_eq(
                sap_runner_wire_v0_encode_message(&full, cap == 0 ? NULL : out, cap, &len),
                SAP_RUNNER_WIRE_E2BIG);
            ck_assert_uint_eq(len, sizeof full_bytes);
        }
        for (size_t i = 0; i < sizeof out; i++) {
            ck_assert_uint_eq(out[i], 0xaa);
        }
    }
    uint32_t len = 0;
    ck_assert_int_eq(sap_runner_wire_v0_encode_message(&full, out, sizeof full_bytes, &len), 0);
    ck_assert_int_eq(sap_runner_wire_v0_encode_intent(&emit, out, 93, &len), 0);
}
END_TEST

START_TEST(every_truncation_is_refused_as_truncated_and_read_to_its_end_at_most)
{
    uint8_t intent[93];
    SapRunnerV0Message msg;
    SapRunnerV0Intent out;
    uint32_t intent_len = intent_bytes(intent, 1, 1, 5);

    for (uint32_t len = 0; len < sizeof full_bytes; len++) {
        ck_assert_int_eq(decode(full_bytes, len, &msg), SAP_RUNNER_WIRE_ETRUNC);
    }
    for (uint32_t len = 0; len < intent_len; len++) {
        ck_assert_int_eq(decode_intent(intent, len, &out), SAP_RUNNER_WIRE_ETRUNC);
    }
    /* A cut that the length in the header admits to is no truncation but a wrong frame. */
    for (uint32_t len = 60; len < sizeof full_bytes; len++) {
        uint8_t bytes[sizeof full_bytes];
        memcpy(bytes, full_bytes, sizeof bytes);
        store_u32le(bytes + 8, len);
        ck_assert_int_eq(decode(bytes, len, &msg), SAP_RUNNER_WIRE_EFORMAT);
    }
    printf("%zu and %u truncations\n", sizeof full_bytes, intent_len);
}
END_TEST

/* ---- Random messages ------------------------------------------------------------------------ */

typedef struct RandomMessage {
    SapRunnerV0Message msg;
    uint8_t id[MAX_BODY], trace[MAX_BODY], payload[MAX_BODY];
} RandomMessage;

static int64_t random_number(Rng *rng)
{
    static const int64_t edges[] = {0, 1, -1, INT64_MAX, INT64_MIN};

    return rng_chance(rng, 1, 3) ? edges[rng_below(rng, 5)] : (int64_t)rng_next(rng);
}

static void random_message(RandomMessage *out, Rng *rng)
{
    SapRunnerV0Message *msg = &out->msg;

    *msg = (SapRunnerV0Message){.kind = (uint8_t)rng_below(rng, 3),
                                .flags = (uint8_t)rng_below(rng, 64),
                                .to_worker = random_number(rng) & INT64_MAX,
                                .route_worker = random_number(rng),
                                .route_timestamp = random_number(rng),
                                .message_id = out->id,
                                .message_id_len = (uint32_t)rng_range(rng, 1, MAX_BODY),
                                .payload = out->payload,
                                .payload_len = (uint32_t)rng_below(rng, MAX_BODY + 1)};
    if ((msg->flags & SAP_RUNNER_V0_HAS_FROM) != 0) {
        msg->from_worker = random_number(rng);
    }
    if ((msg->flags & SAP_RUNNER_V0_HAS_TRACE) != 0) {
        msg->trace_id = out->trace;
        msg->trace_id_len = (uint32_t)rng_below(rng, MAX_BODY + 1);
    }
    rng_bytes(rng, out->id, sizeof out->id);
    rng_bytes(rng, out->trace, sizeof out->trace);
    rng_bytes(rng, out->payload, sizeof out->payload);
}

/* What the generated encoder makes of the same message. */
static void expect_schema_bytes(const SapRunnerV0Message *msg, const uint8_t *bytes, uint32_t len)
{
    Buf body = {0};
    Buf frame = {0};
    CodecError error;

    EXPECT_RC(buf_append(&body, msg->message_id, msg->message_id_len), SAP_OK);
    EXPECT_RC(buf_append(&body, msg->trace_id, msg->trace_id_len), SAP_OK);
    EXPECT_RC(buf_append(&body, msg->payload, msg->payload_len), SAP_OK);
    WitRuntimeMessage v = {.frame_len = len,
                           .kind = msg->kind,
                           .flags = msg->flags,
                           .to_worker = msg->to_worker,
                           .route_worker = msg->route_worker,
                           .route_timestamp = msg->route_timestamp,
                           .from_worker = msg->from_worker,
                           .message_id_len = msg->message_id_len,
                           .trace_id_len = (msg->flags & SAP_RUNNER_V0_HAS_TRACE) != 0
                                               ? msg->trace_id_len
                                               : UINT32_MAX,
                           .payload_len = msg->payload_len,
                           .body = {body.data, body.len}};
    int rc = wit_runtime_message_encode(&v, &frame, &error);
    EXPECT(rc == SAP_OK, "the schema refuses it: %s", error.text);
    EXPECT(frame.len == len && memcmp(frame.data, bytes, len) == 0, "the schema has other bytes");
    buf_release(&body);
    buf_release(&frame);
}

START_TEST(random_messages_come_back_and_have_the_bytes_of_the_schema)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(4);
    uint64_t count = 0;

    for (uint64_t seed = first; seed < first + seeds; seed++) {
        Rng rng;
        rng_seed(&rng, seed);
        for (uint32_t i = 0; i < ROUNDS / 4; i++) {
            RandomMessage random;
            SapRunnerV0Message again;
            uint8_t bytes[MAX_FRAME];
            uint32_t len = 0;
            Buf buf = {0};

            expect_context("seed %" PRIu64 ", message %u", seed, i);
            random_message(&random, &rng);
            EXPECT_RC(sap_runner_wire_v0_encode_message(&random.msg, bytes, sizeof bytes, &len), 0);
            EXPECT_RC(decode(bytes, len, &again), 0);
            expect_same(&random.msg, &again);
            expect_schema_bytes(&random.msg, bytes, len);
            EXPECT_RC(buf_append_u8(&buf, 9), SAP_OK);
            EXPECT_RC(wire_encode_buf(&random.msg, &buf), SAP_OK);
            EXPECT(buf.len == len + 1 && memcmp(buf.data + 1, bytes, len) == 0, "another frame");
            buf_release(&buf);
            count++;
        }
    }
    printf("%" PRIu64 " messages, seeds from %" PRIu64 "\n", count, first);
    ck_assert_uint_gt(count, 0);
    ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), 0);
}
END_TEST

/* A length field gets a value near one that matters. */
static void mutate(uint8_t *bytes, uint32_t *len, Rng *rng)
{
    static const uint8_t fields[] = {8, 24, 48, 52, 56};
    uint64_t kind = rng_below(rng, 6);

    if (*len == 0) {
        return;
    }
    if (kind == 0) {
        *len = (uint32_t)rng_below(rng, *len);
    } else if (kind == 1 && *len < MAX_FRAME) {
        bytes[(*len)++] = (uint8_t)rng_next(rng);
    } else if (kind == 2 && *len >= 60) {
        uint8_t *at = bytes + fields[rng_below(rng, sizeof fields)];
        uint32_t v = load_u32le(at);
        uint32_t values[] = {v + 1, v - 1, 0, UINT32_MAX, v ^ 0x80000000u, *len};
        store_u32le(at, values[rng_below(rng, 6)]);
    } else if (kind == 3 && *len >= 14) {
        bytes[13] ^= (uint8_t)(1u << rng_below(rng, 8));
    } else {
        bytes[rng_below(rng, *len < 64 ? *len : 64)] ^= (uint8_t)(1u << rng_below(rng, 8));
    }
}

START_TEST(decoder_and_schema_agree_on_mutated_frames)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(4);
    uint64_t accepted = 0, refused = 0, intents_accepted = 0, intents_refused = 0;

    for (uint64_t seed = first; seed < first + seeds; seed++) {
        Rng rng;
        rng_seed(&rng, seed);
        for (uint32_t i = 0; i < ROUNDS; i++) {
            RandomMessage random;
            SapRunnerV0Message msg;
            SapRunnerV0Intent intent;
            uint8_t bytes[MAX_FRAME + 28];
            uint32_t len = 0;
            bool wrapped = rng_chance(&rng, 1, 3);

            expect_context("seed %" PRIu64 ", frame %u", seed, i);
            random_message(&random, &rng);
            random.msg.payload_len /= 4;
            EXPECT_RC(sap_runner_wire_v0_encode_message(&random.msg, bytes, sizeof bytes, &len), 0);
            if (wrapped) {
                uint8_t inner[MAX_FRAME];
                bool arm = rng_chance(&rng, 1, 2);
                memcpy(inner, bytes, len);
                SapRunnerV0Intent v = {
                    .kind = arm, .flags = arm, .message = inner, .message_len = len};
                EXPECT_RC(sap_runner_wire_v0_encode_intent(&v, bytes, sizeof bytes, &len), 0);
            }
            for (uint64_t n = rng_below(&rng, 3); n > 0; n--) {
                mutate(bytes, &len, &rng);
            }
            if (wrapped) {
                bool ours = decode_intent(bytes, len, &intent) == 0;
                EXPECT(ours == schema_accepts_intent(bytes, len), "we say %d, the schema not",
                       ours);
                *(ours ? &intents_accepted : &intents_refused) += 1;
            } else {
                bool ours = decode(bytes, len, &msg) == 0;
                EXPECT(ours == schema_accepts(bytes, len), "we say %d, the schema not", ours);
                *(ours ? &accepted : &refused) += 1;
            }
        }
    }
    printf("messages: %" PRIu64 " accepted, %" PRIu64 " refused; intents: %" PRIu64 ", %" PRIu64
           "; seeds from %" PRIu64 "\n",
           accepted, refused, intents_accepted, intents_refused, first);
    ck_assert_uint_gt(accepted, 1000);
    ck_assert_uint_gt(refused, 1000);
    ck_assert_uint_gt(intents_accepted, 1000);
    ck_assert_uint_gt(intents_refused, 1000);
}
END_TEST

START_TEST(encoding_to_a_buffer_without_memory_changes_nothing)
{
    Buf buf = {0};

    fault_reset();
    fault_arm_alloc(1);
    ck_assert_int_eq(wire_encode_buf(&plain, &buf), SAP_NOMEM);
    ck_assert_uint_eq(fault_fired(), 1);
    fault_reset();
    ck_assert_uint_eq(buf.len, 0);
    ck_assert_int_eq(wire_encode_buf(&plain, &buf), SAP_OK);
    ck_assert_mem_eq(buf.data, plain_bytes, sizeof plain_bytes);
    buf_release(&buf);
}
END_TEST

START_TEST(every_code_of_the_wire_is_invalid_elsewhere)
{
    ck_assert_int_eq(wire_rc(SAP_RUNNER_WIRE_OK), SAP_OK);
    for (int code = SAP_RUNNER_WIRE_ETRUNC; code <= SAP_RUNNER_WIRE_EINVAL; code++) {
        ck_assert_int_eq(wire_rc(code), SAP_INVALID);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner/wire");
    TCase *tcase = tcase_create("wire");

    tcase_add_checked_fixture(tcase, guard_start, guard_end);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, a_message_frame_has_these_bytes);
    tcase_add_test(tcase, an_intent_frame_has_these_bytes);
    tcase_add_test(tcase, every_rule_of_a_message_broken_once_has_its_code);
    tcase_add_test(tcase, every_rule_of_an_intent_broken_once_has_its_code);
    tcase_add_test(tcase, a_field_without_its_flag_decodes_as_absent_whatever_its_bytes);
    tcase_add_test(tcase, an_empty_trace_is_not_an_absent_one);
    tcase_add_test(tcase, a_message_that_no_frame_can_hold_is_refused);
    tcase_add_test(tcase, an_intent_that_no_frame_can_hold_is_refused);
    tcase_add_test(tcase, a_buffer_that_is_too_small_gets_the_size_and_no_byte);
    tcase_add_test(tcase, every_truncation_is_refused_as_truncated_and_read_to_its_end_at_most);
    tcase_add_test(tcase, random_messages_come_back_and_have_the_bytes_of_the_schema);
    tcase_add_test(tcase, decoder_and_schema_agree_on_mutated_frames);
    tcase_add_test(tcase, encoding_to_a_buffer_without_memory_changes_nothing);
    tcase_add_test(tcase, every_code_of_the_wire_is_invalid_elsewhere);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
