#include "common/fault.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/random.h"
#include "common/utf8.h"
#include "support/choice.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>

#define BILLION_S_MS INT64_C(1000000000000)

static void check_text(const LogRecord *record, const char *expected)
{
    Buf buf;

    buf_init(&buf);
    ck_assert_int_eq(log_format_text(record, &buf), SAP_OK);
    ck_assert_int_eq(buf_append_u8(&buf, 0), SAP_OK);
    ck_assert_str_eq((const char *)buf.data, expected);
    buf_release(&buf);
}

static void check_json(const LogRecord *record, const char *expected)
{
    Buf buf;

    buf_init(&buf);
    ck_assert_int_eq(log_format_json(record, &buf), SAP_OK);
    ck_assert_int_eq(buf_append_u8(&buf, 0), SAP_OK);
    ck_assert_str_eq((const char *)buf.data, expected);
    buf_release(&buf);
}

/* How a text field comes out, between "k= and the end of the line. */
static void check_value(const char *text, size_t len, const char *as_text, const char *as_json)
{
    LogField field = LOG_TEXT("k", text, len);
    LogRecord record = {BILLION_S_MS, LOG_LEVEL_INFO, "e", &field, 1};
    char line[500];

    snprintf(line, sizeof line, "2001-09-09T01:46:40.000Z info e k=%s\n", as_text);
    check_text(&record, line);
    snprintf(
        line, sizeof line,
        "{\"time\":\"2001-09-09T01:46:40.000Z\",\"level\":\"info\",\"event\":\"e\",\"k\":%s}\n",
        as_json);
    check_json(&record, line);
}

START_TEST(every_type_of_field_has_its_form)
{
    static const uint8_t bytes[3] = {0x00, 0xab, 0xff};
    LogField fields[] = {
        LOG_I64("low", INT64_MIN), LOG_U64("high", UINT64_MAX),   LOG_STR("plain", "a/b-c_d.e:1@+"),
        LOG_STR("spaced", "a b"),  LOG_HEX("hex", bytes, 3),      LOG_BOOL("yes", true),
        LOG_BOOL("no", false),     LOG_TEXT("part", "abcdef", 3),
    };
    LogRecord record = {BILLION_S_MS + 7, LOG_LEVEL_WARN, "lease.taken", fields,
                        sizeof fields / sizeof fields[0]};

    check_text(&record, "2001-09-09T01:46:40.007Z warn lease.taken low=-9223372036854775808 "
                        "high=18446744073709551615 plain=a/b-c_d.e:1@+ spaced=\"a b\" hex=00abff "
                        "yes=true no=false part=abc\n");
    check_json(
        &record,
        "{\"time\":\"2001-09-09T01:46:40.007Z\",\"level\":\"warn\",\"event\":\"lease.taken\","
        "\"low\":-9223372036854775808,\"high\":18446744073709551615,"
        "\"plain\":\"a/b-c_d.e:1@+\",\"spaced\":\"a b\",\"hex\":\"00abff\",\"yes\":true,"
        "\"no\":false,\"part\":\"abc\"}\n");
}
END_TEST

START_TEST(a_record_without_fields_is_a_line_too)
{
    LogRecord record = {BILLION_S_MS, LOG_LEVEL_DEBUG, "start", NULL, 0};

    check_text(&record, "2001-09-09T01:46:40.000Z debug start\n");
    check_json(&record, "{\"time\":\"2001-09-09T01:46:40.000Z\",\"level\":\"debug\","
                        "\"event\":\"start\"}\n");
}
END_TEST

START_TEST(every_time_has_its_date)
{
    static const struct {
        int64_t wall_ms;
        const char *line;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000Z info e\n"},
        {-1, "1969-12-31T23:59:59.999Z info e\n"},
        {-1000, "1969-12-31T23:59:59.000Z info e\n"},
        {INT64_C(951782400000), "2000-02-29T00:00:00.000Z info e\n"},
        {INT64_C(253402300799999), "9999-12-31T23:59:59.999Z info e\n"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        LogRecord record = {cases[i].wall_ms, LOG_LEVEL_INFO, "e", NULL, 0};
        check_text(&record, cases[i].line);
    }
}
END_TEST

START_TEST(times_beyond_any_calendar_still_give_a_line)
{
    static const int64_t times[] = {INT64_MIN, INT64_MAX};

    for (size_t i = 0; i < 2; i++) {
        LogRecord record = {times[i], LOG_LEVEL_INFO, "e", NULL, 0};
        Buf buf;

        buf_init(&buf);
        ck_assert_int_eq(log_format_json(&record, &buf), SAP_OK);
        ck_assert_uint_gt(buf.len, 0);
        buf_release(&buf);
    }
}
END_TEST

START_TEST(quotes_backslashes_and_controls_are_escaped)
{
    check_value("say \"x\\y\"", 9, "\"say \\\"x\\\\y\\\"\"", "\"say \\\"x\\\\y\\\"\"");
    check_value("a\nb\rc\td", 7, "\"a\\nb\\rc\\td\"", "\"a\\nb\\rc\\td\"");
    check_value("\0\x01\x1b\x7f", 4, "\"\\u0000\\u0001\\u001b\\u007f\"",
                "\"\\u0000\\u0001\\u001b\\u007f\"");
    /* U+0085 and U+009B, which some terminals obey, and the line separator U+2028. */
    check_value("\xc2\x85\xc2\x9b\xe2\x80\xa8", 7, "\"\\u0085\\u009b\\u2028\"",
                "\"\\u0085\\u009b\\u2028\"");
}
END_TEST

START_TEST(text_that_is_not_plain_is_quoted)
{
    check_value("", 0, "\"\"", "\"\"");
    check_value(NULL, 0, "\"\"", "\"\"");
    check_value("a=b", 3, "\"a=b\"", "\"a=b\"");
    check_value("plain", 5, "plain", "\"plain\"");
    check_value("gr\xc3\xbc\xc3\x9f", 6, "\"gr\xc3\xbc\xc3\x9f\"", "\"gr\xc3\xbc\xc3\x9f\"");
}
END_TEST

START_TEST(ill_formed_text_shows_as_replacement_characters)
{
    check_value("a\xff"
                "b",
                3, "\"a\\ufffdb\"", "\"a\\ufffdb\"");
    check_value("\xe2\x82", 2, "\"\\ufffd\"", "\"\\ufffd\"");
    check_value("\xed\xa0\x80", 3, "\"\\ufffd\\ufffd\\ufffd\"", "\"\\ufffd\\ufffd\\ufffd\"");
}
END_TEST

START_TEST(no_bytes_are_an_empty_hex_string)
{
    LogField field = LOG_HEX("h", NULL, 0);
    LogRecord record = {0, LOG_LEVEL_INFO, "e", &field, 1};

    check_text(&record, "1970-01-01T00:00:00.000Z info e h=\"\"\n");
    check_json(&record, "{\"time\":\"1970-01-01T00:00:00.000Z\",\"level\":\"info\",\"event\":\"e\","
                        "\"h\":\"\"}\n");
}
END_TEST

START_TEST(events_and_keys_are_escaped_as_values_are)
{
    LogField field = LOG_I64("a\nb", 1);
    LogRecord record = {0, LOG_LEVEL_INFO, "x y", &field, 1};

    check_text(&record, "1970-01-01T00:00:00.000Z info \"x y\" \"a\\nb\"=1\n");
    check_json(&record, "{\"time\":\"1970-01-01T00:00:00.000Z\",\"level\":\"info\","
                        "\"event\":\"x y\",\"a\\nb\":1}\n");
}
END_TEST

START_TEST(any_bytes_give_one_line_of_well_formed_text_without_controls)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(20);

    printf("log: %" PRIu64 " seeds from %" PRIu64 "\n", seeds, first);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        Rng rng;

        rng_seed(&rng, seed);
        for (int i = 0; i < 500; i++) {
            uint8_t bytes[40];
            size_t len = (size_t)rng_below(&rng, sizeof bytes + 1);
            rng_bytes(&rng, bytes, len);
            LogField field = LOG_TEXT("k", bytes, len);
            LogRecord record = {(int64_t)rng_below(&rng, UINT64_C(1) << 50), LOG_LEVEL_INFO, "e",
                                &field, 1};
            Buf buf;

            buf_init(&buf);
            ck_assert_int_eq(log_format_text(&record, &buf), SAP_OK);
            ck_assert_int_eq(log_format_json(&record, &buf), SAP_OK);
            ck_assert_msg(utf8_valid(buf.data, buf.len), "seed %" PRIu64, seed);
            size_t lines = 0, controls = 0;
            for (size_t at = 0; at < buf.len; at++) {
                lines += buf.data[at] == '\n';
                controls += buf.data[at] < 0x20 || buf.data[at] == 0x7f;
            }
            ck_assert_msg(lines == 2 && controls == 2, "seed %" PRIu64, seed);
            buf_release(&buf);
        }
    }
}
END_TEST

START_TEST(formatting_that_runs_out_of_memory_leaves_the_buffer_as_it_was)
{
    static const char long_text[] = "some text that is long enough to make the buffer grow twice, "
                                    "once here\n and once there, with \"quotes\" and a \xff byte";
    LogField fields[] = {LOG_STR("text", long_text), LOG_HEX("hex", long_text, sizeof long_text),
                         LOG_I64("n", 1)};
    LogRecord record = {BILLION_S_MS, LOG_LEVEL_INFO, "event", fields, 3};

    for (int json = 0; json < 2; json++) {
        uint64_t nth = 1;

        for (;; nth++) {
            Buf buf;

            buf_init(&buf);
            ck_assert_int_eq(buf_append_str(&buf, "kept"), SAP_OK);
            fault_reset();
            fault_arm_alloc(nth);
            int rc = json ? log_format_json(&record, &buf) : log_format_text(&record, &buf);
            uint64_t fired = fault_fired();
            fault_reset();
            ck_assert_int_eq(rc, fired == 0 ? SAP_OK : SAP_NOMEM);
            ck_assert_mem_eq(buf.data, "kept", 4);
            ck_assert_int_eq(buf.len == 4, fired != 0);
            buf_release(&buf);
            ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), 0);
            if (fired == 0) {
                break;
            }
        }
        ck_assert_uint_gt(nth, 2);
    }
}
END_TEST

/* Keeps the last record and how many there were. */
typedef struct Seen {
    size_t count;
    LogLevel level;
    int64_t wall_ms;
    size_t field_count;
    int64_t first_i64;
    char event[32];
} Seen;

static void remember(void *ctx, const LogRecord *record)
{
    Seen *seen = ctx;

    seen->count++;
    seen->level = record->level;
    seen->wall_ms = record->wall_ms;
    seen->field_count = record->field_count;
    seen->first_i64 = record->field_count > 0 ? record->fields[0].as.i64 : 0;
    snprintf(seen->event, sizeof seen->event, "%s", record->event);
}

START_TEST(a_log_passes_records_of_its_level_and_above_with_the_clocks_time)
{
    ManualClock manual;
    Seen seen = {0};
    Log log;

    manual_clock_init(&manual, UINT64_C(5000000000));
    Clock clock = manual_clock(&manual);
    log_init(&log, remember, &seen, LOG_LEVEL_WARN, &clock);
    log_write(&log, LOG_LEVEL_DEBUG, "no", NULL, 0);
    log_write(&log, LOG_LEVEL_INFO, "no", NULL, 0);
    ck_assert_uint_eq(seen.count, 0);
    log_write(&log, LOG_LEVEL_WARN, "yes", NULL, 0);
    ck_assert_uint_eq(seen.count, 1);
    ck_assert_int_eq(seen.wall_ms, 5000);
    ck_assert_int_eq(seen.level, LOG_LEVEL_WARN);
    ck_assert_str_eq(seen.event, "yes");
    LogField field = LOG_I64("n", -3);
    log_write(&log, LOG_LEVEL_ERROR, "worse", &field, 1);
    ck_assert_uint_eq(seen.count, 2);
    ck_assert_uint_eq(seen.field_count, 1);
    ck_assert_int_eq(seen.first_i64, -3);
}
END_TEST

START_TEST(no_log_is_silent)
{
    log_write(NULL, LOG_LEVEL_ERROR, "lost", NULL, 0);
    LOG_EVENT(NULL, LOG_LEVEL_ERROR, "lost", LOG_I64("n", 1));
    ck_assert(!log_enabled(NULL, LOG_LEVEL_ERROR));
}
END_TEST

START_TEST(fields_of_a_disabled_event_are_not_evaluated)
{
    Seen seen = {0};
    int64_t evaluated = 0;
    Log log;

    log_init(&log, remember, &seen, LOG_LEVEL_INFO, NULL);
    LOG_EVENT(&log, LOG_LEVEL_DEBUG, "no", LOG_I64("n", ++evaluated));
    ck_assert_int_eq(evaluated, 0);
    LOG_EVENT(&log, LOG_LEVEL_INFO, "yes", LOG_I64("n", ++evaluated), LOG_BOOL("b", true));
    ck_assert_int_eq(evaluated, 1);
    ck_assert_uint_eq(seen.count, 1);
    ck_assert_uint_eq(seen.field_count, 2);
    ck_assert_int_eq(seen.first_i64, 1);
}
END_TEST

START_TEST(levels_have_their_names)
{
    ck_assert_str_eq(log_level_name(LOG_LEVEL_DEBUG), "debug");
    ck_assert_str_eq(log_level_name(LOG_LEVEL_INFO), "info");
    ck_assert_str_eq(log_level_name(LOG_LEVEL_WARN), "warn");
    ck_assert_str_eq(log_level_name(LOG_LEVEL_ERROR), "error");
}
END_TEST

START_TEST(a_file_gets_each_record_as_a_line_at_once)
{
    char *text = NULL;
    size_t size = 0;
    ManualClock manual;
    LogFile out = {.file = open_memstream(&text, &size)};
    Log log;

    ck_assert_ptr_nonnull(out.file);
    manual_clock_init(&manual, 0);
    Clock clock = manual_clock(&manual);
    log_init(&log, log_file_sink, &out, LOG_LEVEL_INFO, &clock);
    log_write(&log, LOG_LEVEL_INFO, "one", NULL, 0);
    ck_assert_str_eq(text, "1970-01-01T00:00:00.000Z info one\n");
    out.json = true;
    LOG_EVENT(&log, LOG_LEVEL_INFO, "two", LOG_U64("n", 2));
    ck_assert_str_eq(text,
                     "1970-01-01T00:00:00.000Z info one\n"
                     "{\"time\":\"1970-01-01T00:00:00.000Z\",\"level\":\"info\",\"event\":\"two\","
                     "\"n\":2}\n");
    ck_assert_uint_eq(relaxed_load(&out.lost), 0);
    fclose(out.file);
    free(text);
    ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), 0);
}
END_TEST

START_TEST(records_that_cannot_be_formatted_or_written_are_counted_as_lost)
{
    LogFile out = {.file = fopen("/dev/full", "w")};
    Log log;

    ck_assert_ptr_nonnull(out.file);
    log_init(&log, log_file_sink, &out, LOG_LEVEL_INFO, NULL);
    log_write(&log, LOG_LEVEL_INFO, "no room", NULL, 0);
    ck_assert_uint_eq(relaxed_load(&out.lost), 1);
    fault_reset();
    fault_arm_alloc(1);
    log_write(&log, LOG_LEVEL_INFO, "no memory", NULL, 0);
    ck_assert_uint_eq(fault_fired(), 1);
    fault_reset();
    ck_assert_uint_eq(relaxed_load(&out.lost), 2);
    fclose(out.file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common/log");
    TCase *tcase = tcase_create("log");

    tcase_add_test(tcase, every_type_of_field_has_its_form);
    tcase_add_test(tcase, a_record_without_fields_is_a_line_too);
    tcase_add_test(tcase, every_time_has_its_date);
    tcase_add_test(tcase, times_beyond_any_calendar_still_give_a_line);
    tcase_add_test(tcase, quotes_backslashes_and_controls_are_escaped);
    tcase_add_test(tcase, text_that_is_not_plain_is_quoted);
    tcase_add_test(tcase, ill_formed_text_shows_as_replacement_characters);
    tcase_add_test(tcase, no_bytes_are_an_empty_hex_string);
    tcase_add_test(tcase, events_and_keys_are_escaped_as_values_are);
    tcase_add_test(tcase, any_bytes_give_one_line_of_well_formed_text_without_controls);
    tcase_add_test(tcase, formatting_that_runs_out_of_memory_leaves_the_buffer_as_it_was);
    tcase_add_test(tcase, a_log_passes_records_of_its_level_and_above_with_the_clocks_time);
    tcase_add_test(tcase, no_log_is_silent);
    tcase_add_test(tcase, fields_of_a_disabled_event_are_not_evaluated);
    tcase_add_test(tcase, levels_have_their_names);
    tcase_add_test(tcase, a_file_gets_each_record_as_a_line_at_once);
    tcase_add_test(tcase, records_that_cannot_be_formatted_or_written_are_counted_as_lost);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
