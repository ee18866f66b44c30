/* The rows of the runner. All bytes here are written by hand from the runner's contract: they are
 * what other programs and other versions rely on. */
#include "common/mem.h"
#include "samples/golden.h"
#include "wit_runtime.h"
#include "wit_runtime_samples.h"
#include "wit_schema_dbis.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint8_t id_and_payload[] = {'m', '1', 'p', 'a', 'y'};
static uint8_t id_trace_payload[] = {'m', '1', 't', 'p', 'a', 'y'};

static const uint8_t message_bytes[] = {
    'L',  'M',  'S',  'G',                          /* 0 magic */
    0,    0,                                        /* 4 major */
    0,    0,                                        /* 6 minor */
    65,   0,    0,    0,                            /* 8 frame_len */
    1,                                              /* 12 kind: event */
    0x05,                                           /* 13 durable, dedupe required */
    0,    0,                                        /* 14 zero */
    7,    0,    0,    0,    0,    0,    0,    0,    /* 16 to_worker */
    8,    0,    0,    0,    0,    0,    0,    0,    /* 24 route_worker */
    0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* 32 route_timestamp */
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* 40 from_worker */
    2,    0,    0,    0,                            /* 48 message_id_len */
    0xff, 0xff, 0xff, 0xff,                         /* 52 trace_id_len: absent */
    3,    0,    0,    0,                            /* 56 payload_len */
    'm',  '1',  'p',  'a',  'y',
};

static WitRuntimeMessage message(void)
{
    return (WitRuntimeMessage){
        .frame_len = 65,
        .kind = WIT_RUNTIME_MESSAGE_KIND_EVENT,
        .flags = WIT_RUNTIME_MESSAGE_FLAGS_DURABLE | WIT_RUNTIME_MESSAGE_FLAGS_DEDUPE_REQUIRED,
        .to_worker = 7,
        .route_worker = 8,
        .route_timestamp = 0x1122334455667788,
        .from_worker = -1,
        .message_id_len = 2,
        .trace_id_len = UINT32_MAX,
        .payload_len = 3,
        .body = {id_and_payload, sizeof id_and_payload},
    };
}

START_TEST(a_message_frame_has_these_bytes)
{
    WitRuntimeMessage v = message();

    GOLDEN(wit_runtime_message, WitRuntimeMessage, v, message_bytes);
    ck_assert_uint_eq(WIT_RUNTIME_MESSAGE_KIND_COMMAND, 0);
    ck_assert_uint_eq(WIT_RUNTIME_MESSAGE_KIND_TIMER, 2);
    ck_assert_uint_eq(WIT_RUNTIME_MESSAGE_FLAGS_HIGH_PRIORITY, 2);
    ck_assert_uint_eq(WIT_RUNTIME_MESSAGE_FLAGS_REQUIRES_ACK, 8);
    ck_assert_uint_eq(WIT_RUNTIME_MESSAGE_FLAGS_HAS_FROM, 0x10);
    ck_assert_uint_eq(WIT_RUNTIME_MESSAGE_FLAGS_HAS_TRACE, 0x20);
}
END_TEST

START_TEST(a_message_frame_that_breaks_its_rules_is_refused)
{
    static const struct {
        size_t at;
        uint8_t byte;
        const char *message;
    } bad[] = {
        {3, 'X', "record message, field major: at byte 0: it does not begin with LMSG"},
        {4, 1, "record message, field major: breaks value == 0"},
        {6, 1, "record message, field minor: breaks value == 0"},
        {8, 64, "record message: breaks frame-len == 60 + len(body)"},
        {12, 3, "enum message-kind: there is no case number 3"},
        {13, 0x40, "flags message-flags: unknown flags in 0x40"},
        {14, 1, "record message, field reserved: breaks value == 0"},
        {23, 0x80, "record message, field to-worker: breaks value >= 0"},
        {48, 0, "record message, field message-id-len: breaks value > 0"},
        {52, 0, "record message: breaks flags.has-trace || trace-id-len == 0xFFFFFFFF"},
        {56, 4,
         "record message: breaks flags.has-trace || message-id-len + payload-len == len(body)"},
    };
    uint8_t bytes[sizeof message_bytes];
    WitRuntimeMessage v;
    CodecError error;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        memcpy(bytes, message_bytes, sizeof bytes);
        bytes[bad[i].at] = bad[i].byte;
        ck_assert_int_eq(wit_runtime_message_decode(bytes, sizeof bytes, &v, &error), SAP_INVALID);
        ck_assert_str_eq(error.text, bad[i].message);
    }
    v = message();
    v.flags |= WIT_RUNTIME_MESSAGE_FLAGS_HAS_TRACE;
    v.trace_id_len = 1;
    v.frame_len = 66;
    v.body = (CodecBytes){id_trace_payload, sizeof id_trace_payload};
    ck_assert_int_eq(wit_runtime_message_validate(&v, &error), SAP_OK);
    /* Three lengths whose sum does not fit 32 bits are not taken for one that does. */
    v.trace_id_len = UINT32_MAX - 4;
    v.payload_len = 9;
    ck_assert_int_eq(wit_runtime_message_validate(&v, &error), SAP_INVALID);
}
END_TEST

START_TEST(an_intent_frame_has_these_bytes)
{
    static uint8_t frame[] = {'f', 'r'};
    static const uint8_t expected[] = {
        'L', 'I', 'N', 'T', 0, 0, 0, 0, 30, 0, 0, 0, 1, /* 12 kind: timer arm */
        1,                                              /* 13 has due */
        0,   0,   9,   0,   0, 0, 0, 0, 0,  0,          /* 16 due_ts */
        2,   0,   0,   0,                               /* 24 message_len */
        'f', 'r',
    };
    WitRuntimeIntent v = {.frame_len = 30,
                          .kind = WIT_RUNTIME_INTENT_KIND_TIMER_ARM,
                          .flags = WIT_RUNTIME_INTENT_FLAGS_HAS_DUE,
                          .due_ts = 9,
                          .message_len = 2,
                          .message = {frame, 2}};
    CodecError error;

    GOLDEN(wit_runtime_intent, WitRuntimeIntent, v, expected);
    v.kind = WIT_RUNTIME_INTENT_KIND_OUTBOX_EMIT;
    ck_assert_int_eq(wit_runtime_intent_validate(&v, &error), SAP_INVALID);
    ck_assert_str_eq(error.text, "record intent: breaks flags.has-due == (kind == timer-arm)");
    v.kind = WIT_RUNTIME_INTENT_KIND_TIMER_ARM;
    v.flags = 0;
    ck_assert_int_eq(wit_runtime_intent_validate(&v, &error), SAP_INVALID);
}
END_TEST

START_TEST(state_rows_have_these_bytes)
{
    static const uint8_t marker[] = {'R', 'S', 'V', '0', 1, 0, 2, 0};
    static const uint8_t mark[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static uint8_t raw[] = "runner.schema.version";
    WitRuntimeSchemaMarker m = {1, 2};
    WitRuntimeHighWaterMark w = {0x0102030405060708};
    WitRuntimeDbi0AppStateKey key = {{raw, sizeof raw}};
    WitRuntimeDbi0AppStateValue value = {{raw, sizeof raw}};

    GOLDEN(wit_runtime_schema_marker, WitRuntimeSchemaMarker, m, marker);
    GOLDEN(wit_runtime_high_water_mark, WitRuntimeHighWaterMark, w, mark);
    GOLDEN(wit_runtime_dbi0_app_state_key, WitRuntimeDbi0AppStateKey, key, raw);
    GOLDEN(wit_runtime_dbi0_app_state_value, WitRuntimeDbi0AppStateValue, value, raw);
}
END_TEST

START_TEST(queue_rows_have_these_bytes)
{
    static const uint8_t worker_seq[] = {0, 0, 0, 0, 0, 0, 1, 2, 0x80, 0, 0, 0, 0, 0, 0, 9};
    static const uint8_t seq[] = {0, 0, 0, 0, 0, 0, 1, 0};
    static uint8_t frame[] = {'L', 'M', 'S', 'G', 0};
    WitRuntimeDbi1InboxKey inbox = {0x0102, 0x8000000000000009};
    WitRuntimeDbi2OutboxKey outbox = {256};
    WitRuntimeDbi3LeasesKey lease = {0x0102, 0x8000000000000009};
    WitRuntimeDbi6DeadLetterKey dead = {0x0102, 0x8000000000000009};
    WitRuntimeDbi1InboxValue in = {{frame, sizeof frame}};
    WitRuntimeDbi2OutboxValue sent = {{frame, sizeof frame}};
    WitRuntimeDbi4TimersValue timer = {{frame, sizeof frame}};

    GOLDEN(wit_runtime_dbi1_inbox_key, WitRuntimeDbi1InboxKey, inbox, worker_seq);
    GOLDEN(wit_runtime_dbi2_outbox_key, WitRuntimeDbi2OutboxKey, outbox, seq);
    GOLDEN(wit_runtime_dbi3_leases_key, WitRuntimeDbi3LeasesKey, lease, worker_seq);
    GOLDEN(wit_runtime_dbi6_dead_letter_key, WitRuntimeDbi6DeadLetterKey, dead, worker_seq);
    GOLDEN(wit_runtime_dbi1_inbox_value, WitRuntimeDbi1InboxValue, in, frame);
    GOLDEN(wit_runtime_dbi2_outbox_value, WitRuntimeDbi2OutboxValue, sent, frame);
    GOLDEN(wit_runtime_dbi4_timers_value, WitRuntimeDbi4TimersValue, timer, frame);
}
END_TEST

START_TEST(timer_keys_have_these_bytes_and_negative_times_sort_first)
{
    static const uint8_t after[] = {0x80, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 1};
    static const uint8_t before[] = {0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                     0,    0,    0,    0,    0,    0,    0,    1};
    WitRuntimeDbi4TimersKey five = {5, 1};
    WitRuntimeDbi4TimersKey minus = {-1, 1};

    GOLDEN(wit_runtime_dbi4_timers_key, WitRuntimeDbi4TimersKey, five, after);
    GOLDEN(wit_runtime_dbi4_timers_key, WitRuntimeDbi4TimersKey, minus, before);
}
END_TEST

START_TEST(a_lease_has_these_bytes)
{
    static const uint8_t expected[] = {
        'L',  'S',  'E',  '0',  8,    7,    6,    5,    4, 3, 2, 1, /* owner */
        0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,             /* deadline = -2 */
        3,    0,    0,    0,                                        /* attempts */
        9,    0,    0,    0,    0,    0,    0,    0,                /* token */
    };
    WitRuntimeDbi3LeasesValue v = {0x0102030405060708, -2, 3, 9};
    CodecError error;

    GOLDEN(wit_runtime_dbi3_leases_value, WitRuntimeDbi3LeasesValue, v, expected);
    ck_assert_uint_eq(sizeof expected, 32);
    ck_assert_int_eq(wit_runtime_dbi3_leases_value_decode(expected, 31, &v, &error), SAP_INVALID);
    v.attempts = 0;
    ck_assert_int_eq(wit_runtime_dbi3_leases_value_validate(&v, &error), SAP_INVALID);
    ck_assert_str_eq(error.text, "record dbi3-leases-value, field attempts: breaks value >= 1");
}
END_TEST

START_TEST(dedupe_rows_have_these_bytes)
{
    static uint8_t id[] = {'m', 0, '1'};
    static uint8_t row[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    static const uint8_t retry_key[] = {'r', 'e', 't', 'r', 'y', ':', 4,  1,  2,  3,  4, 5,
                                        6,   7,   8,   9,   10,  11,  12, 13, 14, 15, 16};
    static const uint8_t seen_key[] = {'s', 'e', 'e', 'n', ':', 0,   0, 0,
                                       1,   0,   0,   0,   2,   'm', 0, '1'};
    static const uint8_t count[] = {4, 3, 2, 1};
    static const uint8_t seen_bytes[] = {1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                         8, 7,    6,    5,    4,    3,    2,    1};
    static uint8_t raw[] = {0, 'x'};
    WitRuntimeRetryKey retry = {4, {row, sizeof row}};
    WitRuntimeSeenKey seen = {0x100000002, {id, 3}};
    WitRuntimeRetryValue tried = {0x01020304};
    WitRuntimeSeenValue accepted = {true, -1, 0x0102030405060708};
    WitRuntimeDbi5DedupeKey key = {{raw, 2}};
    WitRuntimeDbi5DedupeValue value = {{raw, 2}};
    WitRuntimeDbi7DedupeTtlKey ttl_key = {{raw, 2}};
    WitRuntimeDbi7DedupeTtlValue ttl_value = {{raw, 2}};

    GOLDEN(wit_runtime_retry_key, WitRuntimeRetryKey, retry, retry_key);
    GOLDEN(wit_runtime_seen_key, WitRuntimeSeenKey, seen, seen_key);
    GOLDEN(wit_runtime_retry_value, WitRuntimeRetryValue, tried, count);
    GOLDEN(wit_runtime_seen_value, WitRuntimeSeenValue, accepted, seen_bytes);
    GOLDEN(wit_runtime_dbi5_dedupe_key, WitRuntimeDbi5DedupeKey, key, raw);
    GOLDEN(wit_runtime_dbi5_dedupe_value, WitRuntimeDbi5DedupeValue, value, raw);
    GOLDEN(wit_runtime_dbi7_dedupe_ttl_key, WitRuntimeDbi7DedupeTtlKey, ttl_key, raw);
    GOLDEN(wit_runtime_dbi7_dedupe_ttl_value, WitRuntimeDbi7DedupeTtlValue, ttl_value, raw);
}
END_TEST

START_TEST(a_dead_letter_has_these_bytes)
{
    static uint8_t frame[] = {'L', 'M'};
    static const uint8_t expected[] = {
        'D', 'L', 'Q', '0', 0xf9, 0xff, 0xff, 0xff, /* rc = -7 */
        4,   0,   0,   0,                           /* attempts */
        2,   0,   0,   0,   'L',  'M',
    };
    WitRuntimeDbi6DeadLetterValue v = {-7, 4, {frame, 2}};

    GOLDEN(wit_runtime_dbi6_dead_letter_value, WitRuntimeDbi6DeadLetterValue, v, expected);
}
END_TEST

START_TEST(the_tables_are_those_of_the_contract)
{
    static const char *const names[] = {"app_state", "inbox",  "outbox",      "leases",
                                        "timers",    "dedupe", "dead_letter", "dedupe_ttl"};

    ck_assert_uint_eq(WIT_RUNTIME_DBI_BASE, 0);
    ck_assert_uint_eq(WIT_RUNTIME_DBI_COUNT, 8);
    ck_assert_uint_ge(wit_schema_dbi_count, 8);
    for (uint32_t i = 0; i < 8; i++) {
        ck_assert_uint_eq(wit_schema_dbis[i].dbi, i);
        ck_assert_str_eq(wit_schema_dbis[i].name, names[i]);
        ck_assert_str_eq(wit_schema_dbis[i].owner, "runner");
    }
    ck_assert_uint_eq(WIT_DBI_DEDUPE_TTL, 7);
    ck_assert_str_eq(wit_schema_dbis[WIT_DBI_TIMERS].key_format,
                     "due s64be sign-flipped; seq u64be");
    ck_assert_str_eq(wit_schema_dbis[WIT_DBI_LEASES].value_format,
                     "LSE0; owner u64le; deadline s64le; attempts u32le; token u64le");
}
END_TEST

START_TEST(random_rows_come_back_and_edges_are_as_computed)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(200);
    unsigned valid = 0;
    size_t edges = 0;

    for (size_t i = 0; i < wit_runtime_sample_count; i++) {
        const SampleType *type = &wit_runtime_samples[i];
        for (uint64_t seed = first; seed < first + seeds; seed++) {
            Choice choice;
            expect_context("seed %" PRIu64 ", type %s", seed, type->name);
            choice_from_seed(&choice, seed);
            valid += sample_round_trip(type, &choice);
        }
        Choice choice;
        choice_from_seed(&choice, first);
        edges += sample_edges(type, &choice);
    }
    printf("%u valid values of %zu types, %zu edges, seeds from %" PRIu64 "\n", valid,
           wit_runtime_sample_count, edges, first);
    ck_assert_uint_gt(valid, 0);
    ck_assert_uint_gt(edges, 40);
    ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wit/runtime");
    TCase *tcase = tcase_create("runtime");

    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, a_message_frame_has_these_bytes);
    tcase_add_test(tcase, a_message_frame_that_breaks_its_rules_is_refused);
    tcase_add_test(tcase, an_intent_frame_has_these_bytes);
    tcase_add_test(tcase, state_rows_have_these_bytes);
    tcase_add_test(tcase, queue_rows_have_these_bytes);
    tcase_add_test(tcase, timer_keys_have_these_bytes_and_negative_times_sort_first);
    tcase_add_test(tcase, a_lease_has_these_bytes);
    tcase_add_test(tcase, dedupe_rows_have_these_bytes);
    tcase_add_test(tcase, a_dead_letter_has_these_bytes);
    tcase_add_test(tcase, the_tables_are_those_of_the_contract);
    tcase_add_test(tcase, random_rows_come_back_and_edges_are_as_computed);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
