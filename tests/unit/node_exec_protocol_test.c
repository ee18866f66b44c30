/* What is written to programs, and what of their answers is done to a world. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/fault.h"
#include "node/exec_answer.h"
#include "support/expect.h"
#include "support/suite.h"
#include "universe/handler.h"

enum { HEIGHT = 7 };

#define TIME_NS UINT64_C(1700000000123000000)

/* ---- A world of its own
 * ------------------------------------------------------------------------ */

static SapWorld world;
static WorldState *state;
static UniverseName name;
static WorldBirth birth;
static Buf more;
static ExecError error;
static ExecAnswer answer;

static const ExecAsked asked = {.id = "w@7#1", .reply_to = "outside:1"};

static void set_up(void)
{
    EXPECT_RC(universe_name_set(&name, "w"), SAP_OK);
    EXPECT_RC(state_open(&state), SAP_OK);
    EXPECT_RC(state_begin(state), SAP_OK);
    handler_init(&world, 1, &name, &birth, state);
    handler_begin(&world, HEIGHT, TIME_NS);
}

static void tear_down(void)
{
    handler_release(&world);
    state_close(state);
    buf_release(&more);
}

static int apply_as(const ExecAsked *as, const char *line)
{
    buf_clear(&more);
    int rc = exec_answer_apply(&world, as, line, strlen(line), &more, &answer, &error);
    EXPECT(rc == SAP_INVALID || rc == SAP_OK || error.text[0] == 0, "a text without a mistake: %s",
           error.text);
    return rc;
}

static int apply(const char *line)
{
    return apply_as(&asked, line);
}

static void expect_row(const char *key, SapEncoding encoding, const char *val)
{
    const void *got = NULL;
    size_t len = 0;
    SapEncoding is = SAP_ENCODING_JSON;
    ck_assert_int_eq(sap_world_get(&world, key, strlen(key), &got, &len, &is), SAP_OK);
    ck_assert_int_eq(is, encoding);
    ck_assert_uint_eq(len, strlen(val));
    ck_assert_mem_eq(got, val, len);
}

static void expect_no_row(const char *key)
{
    const void *got = NULL;
    size_t len = 0;
    ck_assert_int_eq(sap_world_get(&world, key, strlen(key), &got, &len, NULL), SAP_NOTFOUND);
}

/* The answer is refused, and the text is this. */
static void expect_refused(const char *line, const char *text)
{
    ck_assert_int_eq(apply(line), SAP_INVALID);
    ck_assert_str_eq(error.text, text);
}

/* ---- Intents
 * ----------------------------------------------------------------------------------- */

typedef struct Seen {
    char text[2048];
} Seen;

static int note_intent(void *ctx, const IntentView *intent)
{
    Seen *seen = (Seen *)ctx;
    size_t at = strlen(seen->text);
    (void)snprintf(seen->text + at, sizeof seen->text - at,
                   "%.*s|%.*s|%.*s|%" PRIu64 "|%u/%" PRIu64 "/%" PRIu64 "\n", (int)intent->kind.len,
                   (const char *)intent->kind.data, (int)intent->ref.len,
                   (const char *)intent->ref.data, (int)intent->params.len,
                   (const char *)intent->params.data, intent->time_ns, intent->retry.attempts,
                   intent->retry.first_ns, intent->retry.timeout_ns);
    return SAP_OK;
}

static void expect_intents(const char *text)
{
    Seen seen = {""};
    ck_assert_int_eq(handler_intents(&world, note_intent, &seen), SAP_OK);
    ck_assert_str_eq(seen.text, text);
}

/* ---- Events
 * ------------------------------------------------------------------------------------ */

START_TEST(an_event_is_one_line)
{
    Buf line = {0};
    SapEvent event = {.kind = SAP_EVENT_RECEIPT,
                      .name = "",
                      .id = "",
                      .correlation_id = "c\"1",
                      .from_world = "",
                      .reply_to = "",
                      .payload = "{\"a\":1}",
                      .payload_len = 7,
                      .ref = "charge",
                      .status = SAP_RECEIPT_ERROR,
                      .code = "no_adapter"};
    char id[EXEC_ID_MAX];
    ExecEvent out;
    exec_event_of_world(&world, &event, 3, id, &out);
    memset(out.random, 0xab, sizeof out.random);
    out.state = slice_from_str("{\"n\":1}");
    ck_assert_int_eq(exec_event_line(&out, &line, &error), SAP_OK);
    ck_assert_int_eq(buf_append_u8(&line, 0), SAP_OK);
    ck_assert_str_eq(
        (char *)line.data,
        "{\"v\":1,\"id\":\"w@7#3\",\"world\":\"w\",\"type\":\"receipt\",\"ref\":\"charge\","
        "\"status\":\"error\",\"code\":\"no_adapter\",\"correlation_id\":\"c\\\"1\","
        "\"body\":{\"a\":1},\"now\":1700000000123,\"random\":\"abababababababababababababababab\","
        "\"attempt\":3,\"state\":{\"n\":1}}\n");
    buf_release(&line);
}
END_TEST

START_TEST(bytes_in_events_are_base64)
{
    Buf line = {0};
    ExecEvent event = {.id = "i",
                       .type = "message",
                       .encoding = SAP_ENCODING_RAW,
                       .payload = "\0\xff",
                       .payload_len = 2};
    ck_assert_int_eq(exec_event_line(&event, &line, &error), SAP_OK);
    event.encoding = SAP_ENCODING_CBOR;
    event.payload = "\xf6";
    event.payload_len = 1;
    ck_assert_int_eq(exec_event_line(&event, &line, &error), SAP_OK);
    event.payload_len = 0;
    event.encoding = SAP_ENCODING_JSON;
    ck_assert_int_eq(exec_event_line(&event, &line, &error), SAP_OK);
    ck_assert_int_eq(buf_append_u8(&line, 0), SAP_OK);
    ck_assert_ptr_nonnull(strstr((char *)line.data, "\"body\":{\"b64\":\"AP8=\"},"));
    ck_assert_ptr_nonnull(
        strstr((char *)line.data, "\"body\":{\"b64\":\"9g==\",\"encoding\":\"cbor\"},"));
    ck_assert_ptr_nonnull(strstr((char *)line.data, "\"body\":null,"));
    buf_release(&line);
}
END_TEST

START_TEST(a_state_is_written_as_members_up_to_a_limit)
{
    Buf out = {0};
    ck_assert_int_eq(
        apply("{\"id\":\"w@7#1\",\"put\":{\"b\":[1,2],\"a\":{\"b64\":\"AA==\"},\"p/1\":\"x\"}}"),
        SAP_OK);
    ck_assert_int_eq(exec_state_members(&world, (Slice){"", 0}, 1000, &out, &error), SAP_OK);
    ck_assert_int_eq(buf_append_u8(&out, 0), SAP_OK);
    ck_assert_str_eq((char *)out.data, "\"a\":{\"b64\":\"AA==\"},\"b\":[1,2],\"p/1\":\"x\"");
    buf_clear(&out);
    ck_assert_int_eq(exec_state_members(&world, slice_from_str("p/"), 1000, &out, &error), SAP_OK);
    ck_assert_uint_eq(out.len, 9);
    buf_clear(&out);
    ck_assert_int_eq(exec_state_members(&world, (Slice){"", 0}, 20, &out, &error), SAP_FULL);
    ck_assert_int_eq(sap_world_put(&world, "\xff", 1, SAP_ENCODING_JSON, "1", 1), SAP_OK);
    buf_clear(&out);
    ck_assert_int_eq(exec_state_members(&world, (Slice){"", 0}, 1000, &out, &error), SAP_INVALID);
    ck_assert_ptr_nonnull(strstr(error.text, "the key \"\\xff\""));
    buf_release(&out);
}
END_TEST

/* ---- Answers
 * ----------------------------------------------------------------------------------- */

START_TEST(an_answer_changes_the_world)
{
    ck_assert_int_eq(
        apply(
            "{\"id\":\"w@7#1\",\"put\":{\"n\":1,\"gone\":2,\"x\":{\"b64\":\"AAE=\"},\"big\":1.5e300}}"),
        SAP_OK);
    ck_assert_int_eq(
        apply(
            "{\"id\":\"w@7#1\",\"put\":{\"n\":{\"z\":1,\"a\":\"\\u00e9\"}},\"del\":[\"gone\",\"never\"]}"),
        SAP_OK);
    ck_assert_int_eq(answer.verdict, EXEC_DONE);
    expect_row("n", SAP_ENCODING_JSON, "{\"a\":\"\xc3\xa9\",\"z\":1}");
    expect_row("big", SAP_ENCODING_JSON, "1.5e+300");
    expect_no_row("gone");
    const void *got = NULL;
    size_t len = 0;
    SapEncoding encoding = SAP_ENCODING_JSON;
    ck_assert_int_eq(sap_world_get(&world, "x", 1, &got, &len, &encoding), SAP_OK);
    ck_assert_int_eq(encoding, SAP_ENCODING_RAW);
    ck_assert_uint_eq(len, 2);
    ck_assert_mem_eq(got, "\0\1", 2);
}
END_TEST

START_TEST(what_is_to_be_done_becomes_intents)
{
    ck_assert_int_eq(
        apply(
            "{\"id\":\"w@7#1\",\"do\":["
            "{\"task\":\"charge\",\"args\":{\"n\":1},\"ref\":\"c\",\"retry\":{\"attempts\":3,\"first\":\"2s\",\"timeout\":500}},"
            "{\"task\":\"plain\"},"
            "{\"effect\":\"http.request\",\"params\":{\"url\":\"x\"},\"ref\":\"h\"},"
            "{\"timer\":\"t\",\"after\":\"15m\",\"body\":7},"
            "{\"timer\":\"u\",\"at\":1700000000123},"
            "{\"timer\":\"v\",\"at\":\"2031-05-06T07:08:09.010Z\"},"
            "{\"reply\":\"outside:9\",\"body\":true},"
            "{\"job\":[\"make\",\"all\"],\"ref\":\"j\"}],\"reply\":\"yes\",\"done\":{\"b64\":\"eA==\"},\"failed\":true}"),
        SAP_OK);
    expect_intents("task|c|{\"args\":{\"n\":1},\"task\":\"charge\"}|0|3/2000000000/500000000\n"
                   "task||{\"args\":null,\"task\":\"plain\"}|0|0/0/0\n"
                   "http.request|h|{\"url\":\"x\"}|0|0/0/0\n"
                   "timer|t|7|900000000000|0/0/0\n"
                   "timer|u|null|1700000000123000000|0/0/0\n"
                   "timer|v|null|1935817689010000000|0/0/0\n"
                   "reply|outside:9|true|0|0/0/0\n"
                   "job.run|j|{\"argv\":[\"make\",\"all\"]}|0|0/0/0\n"
                   "reply|outside:1|\"yes\"|0|0/0/0\n"
                   "done|failed|x|0|0/0/0\n");
}
END_TEST

typedef struct Said {
    WitUniverseFabricSendParams params[4];
    uint32_t count;
    uint64_t time_ns[4];
} Said;

static int take_words(void *ctx, const IntentView *intent)
{
    Said *said = (Said *)ctx;
    said->time_ns[said->count] = intent->time_ns;
    return wit_universe_fabric_send_params_decode(intent->params.data, intent->params.len,
                                                  &said->params[said->count++], NULL);
}

static void expect_bytes(const CodecBytes *bytes, const char *text)
{
    ck_assert_uint_eq(bytes->len, strlen(text));
    ck_assert_mem_eq(bytes->data, text, bytes->len);
}

START_TEST(messages_and_questions_go_to_other_worlds)
{
    Said said = {.count = 0};
    ck_assert_int_eq(
        apply(
            "{\"id\":\"w@7#1\",\"do\":["
            "{\"send\":\"mail-1\",\"name\":\"hi\",\"body\":{\"n\":1},\"ref\":\"m\",\"id\":\"once\","
            "\"create\":\"mail\",\"after\":\"2s\",\"headers\":{\"a\":\"b\"}},"
            "{\"ask\":\"stock-1\",\"name\":\"reserve\",\"body\":{\"b64\":\"eA==\"},\"ref\":\"stock\",\"timeout\":\"5s\"}]}"),
        SAP_OK);
    ck_assert_int_eq(handler_intents(&world, take_words, &said), SAP_OK);
    ck_assert_uint_eq(said.count, 2);
    expect_bytes(&said.params[0].dest_world, "mail-1");
    expect_bytes(&said.params[0].inbox, "hi");
    expect_bytes(&said.params[0].payload, "{\"n\":1}");
    expect_bytes(&said.params[0].message_id, "once");
    expect_bytes(&said.params[0].create, "mail");
    ck_assert_uint_eq(said.params[0].headers.count, 1);
    expect_bytes(&said.params[0].headers.items[0].value, "b");
    ck_assert_uint_eq(said.time_ns[0], UINT64_C(2000000000));
    expect_bytes(&said.params[1].dest_world, "stock-1");
    expect_bytes(&said.params[1].payload, "x");
    ck_assert(said.params[1].ask && !said.params[0].ask);
    ck_assert_uint_eq(said.time_ns[1], UINT64_C(5000000000));
    for (uint32_t i = 0; i < said.count; i++) {
        wit_universe_fabric_send_params_free(&said.params[i]);
    }
}
END_TEST

START_TEST(headers_and_deliveries_stand_in_events)
{
    Buf line = {0};
    const SapHeader headers[] = {{"a", "b\""}, {"c", ""}};
    ExecEvent event = {.id = "i",
                       .type = "receipt",
                       .header_count = 2,
                       .headers = headers,
                       .has_delivery = true,
                       .delivery = {.enqueued = true, .world = "mail-1"}};
    ck_assert_int_eq(exec_event_line(&event, &line, &error), SAP_OK);
    ck_assert_int_eq(buf_append_u8(&line, 0), SAP_OK);
    ck_assert_ptr_nonnull(strstr(
        (char *)line.data, "\"headers\":{\"a\":\"b\\\"\",\"c\":\"\"},\"body\":{\"enqueued\":true,"
                           "\"already\":false,\"world\":\"mail-1\"},\"now\""));
    buf_release(&line);
}
END_TEST

START_TEST(a_reply_to_nobody_is_dropped)
{
    ExecAsked nobody = asked;
    nobody.reply_to = "";
    ck_assert_int_eq(apply_as(&nobody, "{\"id\":\"w@7#1\",\"reply\":1}"), SAP_OK);
    expect_intents("");
}
END_TEST

START_TEST(a_program_may_fail)
{
    ck_assert_int_eq(apply("{\"id\":\"w@7#1\",\"fail\":{\"message\":\"no such item\"}}"), SAP_OK);
    ck_assert_int_eq(answer.verdict, EXEC_FAILED);
    ck_assert(!answer.retry && !answer.stray);
    ck_assert_str_eq(error.text, "no such item");
    ck_assert_int_eq(apply("{\"id\":\"w@7#1\",\"fail\":{\"message\":\"later\",\"retry\":true}}"),
                     SAP_OK);
    ck_assert(answer.retry);
    expect_refused("{\"id\":\"w@7#1\",\"fail\":{\"message\":\"m\"},\"put\":{}}",
                   "an answer with \"fail\" has the unknown field \"put\"; known are: id, fail");
    expect_refused(
        "{\"id\":\"w@7#1\",\"fail\":\"m\"}",
        "\"fail\" must be an object, {\"message\":\"...\",\"retry\":false}, and is a string");
    expect_refused("{\"id\":\"w@7#1\",\"fail\":{}}", "\"fail\" needs \"message\", a string");
}
END_TEST

START_TEST(a_program_may_ask_for_rows)
{
    ExecAsked asks = asked;
    asks.may_ask = true;
    ck_assert_int_eq(apply("{\"id\":\"w@7#1\",\"put\":{\"a\":1,\"p/1\":2,\"p/2\":3}}"), SAP_OK);
    ck_assert_int_eq(
        apply_as(&asks,
                 "{\"id\":\"w@7#1\",\"get\":[\"a\",\"none\",\"a\",\"p/1\",\"\"],\"scan\":\"p/\"}"),
        SAP_OK);
    ck_assert_int_eq(answer.verdict, EXEC_ASKED);
    ck_assert_int_eq(buf_append_u8(&more, 0), SAP_OK);
    ck_assert_str_eq((char *)more.data,
                     "{\"id\":\"w@7#1\",\"got\":{\"a\":1,\"p/1\":2,\"p/2\":3}}\n");
    ck_assert_int_eq(apply_as(&asks, "{\"id\":\"w@7#1\",\"get\":[1]}"), SAP_INVALID);
    ck_assert_int_eq(apply_as(&asks, "{\"id\":\"w@7#1\",\"get\":[],\"put\":{}}"), SAP_INVALID);
    ck_assert_int_eq(apply("{\"id\":\"w@7#1\",\"get\":[\"a\"]}"), SAP_INVALID);
    ck_assert_ptr_nonnull(strstr(error.text, "its module says state \"whole\""));
}
END_TEST

START_TEST(a_query_may_only_reply_or_fail)
{
    ExecAsked query = asked;
    query.query = true;
    ck_assert_int_eq(apply_as(&query, "{\"id\":\"w@7#1\",\"reply\":1}"), SAP_OK);
    ck_assert_int_eq(apply_as(&query, "{\"id\":\"w@7#1\",\"fail\":{\"message\":\"m\"}}"), SAP_OK);
    ck_assert_int_eq(apply_as(&query, "{\"id\":\"w@7#1\",\"put\":{\"a\":1}}"), SAP_INVALID);
    ck_assert_str_eq(
        error.text,
        "the answer to a query, which may only reply or fail, has the unknown field \"put\"; "
        "known are: id, reply");
    expect_no_row("a");
}
END_TEST

START_TEST(what_is_no_answer_is_stray)
{
    static const struct {
        const char *line;
        const char *text;
    } cases[] = {
        {"got here", "wrote \"got here\", not JSON: print to standard error"},
        {"", "wrote \"\", not JSON: print to standard error"},
        {"\x01\xff\t", "wrote \"\\x01\\xff\\t\", not JSON: print to standard error"},
        {"12", "wrote \"12\", not a JSON object: print to standard error"},
        {"[1]", "wrote \"[1]\", not a JSON object: print to standard error"},
        {"{}", "answered without \"id\": repeat the id of the event, \"w@7#1\""},
        {"{\"id\":\"w@6#1\"}",
         "answered another id, \"w@6#1\" in place of \"w@7#1\": write one line for each event"},
        {"{\"id\":7}",
         "answered another id, \"\" in place of \"w@7#1\": write one line for each event"},
        {"{\"id\":\"w@7#1\\u0000\"}",
         "answered another id, \"w@7#1\\x00\" in place of \"w@7#1\": write one line for each event"},
        {"{\"id\":\"w@7#1\",\"put\":{\"n\":18446744073709551616}}",
         "answered with a number that is too large (byte 45 of the line): write it as a string"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect_refused(cases[i].line, cases[i].text);
        ck_assert_msg(answer.stray, "%s", cases[i].line);
    }
    /* The words of the library that reads JSON differ by version. */
    static const char *const broken[] = {
        "{\"id\":\"w@7#1\",\"put\":{\"a\":1,\"a\":2}}", "{\"id\":\"w@7#1\"", "{\"id\":\"w@7#1\"}{}",
        "{\"id\":\"w@7#1\",\"put\":{\"n\":NaN}}", "{\"id\":\"\xc3\x28\"}"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        ck_assert_int_eq(apply(broken[i]), SAP_INVALID);
        ck_assert(answer.stray);
        ck_assert_msg(strncmp(error.text, "answered with what is not JSON, at byte ", 40) == 0,
                      "%s", error.text);
    }
}
END_TEST

START_TEST(mistakes_in_answers_are_named)
{
    static const struct {
        const char *fields;
        const char *text;
    } cases[] = {
        {"\"putt\":{}",
         "the answer has the unknown field \"putt\"; known are: id, put, del, reply, done, failed, tags, do, fail, get, scan"},
        {"\"put\":[]", "\"put\" must be an object, and is an array"},
        {"\"del\":\"k\"", "\"del\" must be an array, and is a string"},
        {"\"del\":[1]", "\"del\" must be an array of strings"},
        {"\"put\":{\"\":1}", "put \"\": a key has 1 to 900 bytes"},
        {"\"put\":{\"k\":1},\"del\":[\"k\"]", "del \"k\": the same key is in \"put\""},
        {"\"put\":{\"k\":{\"b64\":\"?\"}}",
         "put \"k\": b64 is not base64 (A-Z a-z 0-9 + / and = at the end)"},
        {"\"put\":{\"k\":{\"b64\":\"\",\"encoding\":\"x\"}}",
         "put \"k\": encoding must be \"raw\" or \"cbor\""},
        {"\"put\":{\"k\":{\"b64\":\"/w==\",\"encoding\":\"cbor\"}}",
         "put \"k\": the bytes are not CBOR"},
        {"\"tags\":{\"a\":1}",
         "tags \"a\": a tag's value is a string, \"\" for none, or null to remove the tag"},
        {"\"tags\":{\"a=b\":\"\"}",
         "tags \"a=b\": name and value have up to 128 bytes together, and no '='"},
        {"\"failed\":true", "\"failed\" says how a world ends, and needs \"done\""},
        {"\"do\":{}", "\"do\" must be an array, and is an object"},
        {"\"do\":[1]", "do[0]: must be an object, and is a number"},
        {"\"do\":[{}]",
         "do[0]: says none of what can be done: task, effect, timer, cancel, send, ask, reply, job"},
        {"\"do\":[{\"task\":\"a\",\"timer\":\"b\"}]",
         "do[0]: \"task\" and \"timer\" are two things: write them as two objects"},
        {"\"do\":[{\"task\":\"a\",\"arg\":1}]",
         "do[0]: a task has the unknown field \"arg\"; known are: task, args, ref, retry"},
        {"\"do\":[{\"task\":7}]", "do[0]: \"task\" must be a string, and is a number"},
        {"\"do\":[{\"effect\":\"\"}]",
         "do[0]: \"effect\" must have 1 to 128 bytes, none of them 0"},
        {"\"do\":[{\"timer\":\"a\"}]", "do[0]: a timer needs \"after\" or \"at\", one of them"},
        {"\"do\":[{\"timer\":\"a\",\"after\":1,\"at\":1}]",
         "do[0]: a timer needs \"after\" or \"at\", one of them"},
        {"\"do\":[{\"timer\":\"a\",\"after\":\"15 m\"}]",
         "do[0]: \"after\" must be a duration: a number of milliseconds, or text such as \"500ms\", \"30s\", \"15m\", \"2h\", \"7d\""},
        {"\"do\":[{\"timer\":\"a\",\"at\":\"tomorrow\"}]",
         "do[0]: \"at\" must be a time of day: milliseconds since 1970, as in \"now\", or text such as \"2031-05-06T07:08:09Z\""},
        {"\"do\":[{\"task\":\"a\",\"retry\":{\"attempts\":0}}]",
         "do[0]: retry.\"attempts\" must be a whole number from 1 to 100"},
        {"\"do\":[{\"task\":\"a\",\"retry\":{\"tries\":1}}]",
         "do[0]: retry has the unknown field \"tries\"; known are: attempts, first, factor, cap, timeout"},
        {"\"do\":[{\"task\":\"a\",\"ref\":\"r\"},{\"effect\":\"b\",\"ref\":\"r\"}]",
         "do[1]: effect: the ref \"r\" is in use (ref_in_use): wait for its receipt, or cancel it"},
        {"\"do\":[{\"send\":\"w2\",\"to\":\"hi\"}]",
         "do[0]: a send has the unknown field \"to\"; known are: send, name, body, ref, id, create, "
         "after, headers, retry"},
        {"\"do\":[{\"send\":\"w2\",\"headers\":{\"a\":1}}]",
         "do[0]: \"headers\" must be a string, and is a number"},
        {"\"do\":[{\"send\":\"w2\",\"headers\":[]}]",
         "do[0]: \"headers\" must be an object of at most 16 strings"},
        {"\"do\":[{\"ask\":\"w2\"}]", "do[0]: an ask needs \"ref\", by which its reply comes"},
        {"\"do\":[{\"reply\":\"t\"}]", "do[0]: a reply needs \"body\""},
        {"\"do\":[{\"reply\":\"t\",\"body\":1}]",
         "\"reply\": this is no reply_to of an event, or the bytes are not CBOR"},
        {"\"do\":[{\"job\":\"make\"}]",
         "do[0]: \"job\" must be an array of strings, the program first"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[512];
        handler_begin(&world, HEIGHT, TIME_NS);
        (void)snprintf(line, sizeof line, "{\"id\":\"w@7#1\",%s}", cases[i].fields);
        expect_refused(line, cases[i].text);
        ck_assert_msg(!answer.stray, "%s", line);
        state_abort(state);
        ck_assert_int_eq(state_begin(state), SAP_OK);
    }
}
END_TEST

START_TEST(a_value_above_its_limit_is_refused_by_name)
{
    enum { SIZE = SAP_WORLD_MAX_VALUE };
    Buf line = {0};
    ck_assert_int_eq(buf_append_str(&line, "{\"id\":\"w@7#1\",\"put\":{\"k\":\""), SAP_OK);
    for (int i = 0; i < SIZE; i++) {
        ck_assert_int_eq(buf_append_u8(&line, 'x'), SAP_OK);
    }
    ck_assert_int_eq(buf_append(&line, "\"}}", 4), SAP_OK);
    expect_refused(
        (char *)line.data,
        "put \"k\": the value has 65538 bytes, more than 65536: divide it among several keys");
    buf_clear(&line);
    ck_assert_int_eq(buf_append_str(&line, "{\"id\":\"w@7#1\",\"put\":{\"k\":"), SAP_OK);
    for (int i = 0; i < 200; i++) {
        ck_assert_int_eq(buf_append_u8(&line, i < 100 ? '[' : ']'), SAP_OK);
    }
    ck_assert_int_eq(buf_append(&line, "}}", 3), SAP_OK);
    ck_assert_int_eq(apply((char *)line.data), SAP_INVALID);
    ck_assert_ptr_nonnull(strstr(error.text, "nested 64 deep"));
    buf_release(&line);
}
END_TEST

/* The n-th allocation of the tree's own fails, for every n. */
START_TEST(an_answer_is_applied_or_refused_for_lack_of_memory)
{
    static const char line[] =
        "{\"id\":\"w@7#1\",\"put\":{\"a\":{\"b64\":\"AAE=\"},\"b\":[1,2]},\"del\":[\"c\"],\"do\":["
        "{\"task\":\"t\",\"args\":1,\"ref\":\"r\"},{\"timer\":\"x\",\"after\":1}],\"reply\":2}";
    uint64_t n = 0;
    int rc = SAP_NOMEM;
    for (n = 1; rc == SAP_NOMEM; n++) {
        fault_reset();
        fault_arm_alloc(n);
        rc = apply(line);
        bool fired = fault_fired() > 0;
        fault_reset();
        ck_assert_msg(rc == (fired ? SAP_NOMEM : SAP_OK), "allocation %" PRIu64 ": %d %s", n, rc,
                      error.text);
        if (fired) {
            handler_begin(&world, HEIGHT, TIME_NS);
            state_abort(state);
            ck_assert_int_eq(state_begin(state), SAP_OK);
        }
    }
    printf("%" PRIu64 " allocations failed\n", n - 2);
    ck_assert_uint_gt(n, 5);
    expect_row("b", SAP_ENCODING_JSON, "[1,2]");
}
END_TEST

/* ---- Tasks
 * ------------------------------------------------------------------------------------- */

START_TEST(tasks_answer_ok_error_or_beat)
{
    ExecTaskAnswer out = {0};
    const char *line = "{\"id\":\"t\",\"beat\":{\"done\":3}}";
    ck_assert_int_eq(exec_task_answer_read("t", line, strlen(line), &out, &error), SAP_OK);
    ck_assert_int_eq(out.answer.verdict, EXEC_BEAT);
    line = "{\"id\":\"t\",\"ok\":[1]}";
    ck_assert_int_eq(exec_task_answer_read("t", line, strlen(line), &out, &error), SAP_OK);
    ck_assert_int_eq(out.answer.verdict, EXEC_DONE);
    ck_assert_uint_eq(out.payload.len, 3);
    ck_assert_mem_eq(out.payload.data, "[1]", 3);
    line = "{\"id\":\"t\",\"error\":{\"message\":\"m\",\"code\":\"declined\",\"retry\":false}}";
    ck_assert_int_eq(exec_task_answer_read("t", line, strlen(line), &out, &error), SAP_OK);
    ck_assert_int_eq(out.answer.verdict, EXEC_FAILED);
    ck_assert(!out.answer.retry);
    ck_assert_str_eq(out.code, "declined");
    line = "{\"id\":\"t\",\"error\":{}}";
    ck_assert_int_eq(exec_task_answer_read("t", line, strlen(line), &out, &error), SAP_OK);
    ck_assert(out.answer.retry);
    ck_assert_str_eq(out.code, "task_failed");
    static const char *const wrong[] = {"{\"id\":\"t\"}", "{\"id\":\"t\",\"ok\":1,\"beat\":1}",
                                        "{\"id\":\"t\",\"error\":1}", "{\"id\":\"t\",\"put\":{}}",
                                        "{\"id\":\"t\",\"error\":{\"code\":\"\"}}"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_int_eq(exec_task_answer_read("t", wrong[i], strlen(wrong[i]), &out, &error),
                         SAP_INVALID);
        ck_assert(!out.answer.stray);
    }
    buf_release(&out.payload);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("node_exec_protocol");
    TCase *tests = tcase_create("protocol");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, an_event_is_one_line);
    tcase_add_test(tests, bytes_in_events_are_base64);
    tcase_add_test(tests, a_state_is_written_as_members_up_to_a_limit);
    tcase_add_test(tests, an_answer_changes_the_world);
    tcase_add_test(tests, what_is_to_be_done_becomes_intents);
    tcase_add_test(tests, messages_and_questions_go_to_other_worlds);
    tcase_add_test(tests, headers_and_deliveries_stand_in_events);
    tcase_add_test(tests, a_reply_to_nobody_is_dropped);
    tcase_add_test(tests, a_program_may_fail);
    tcase_add_test(tests, a_program_may_ask_for_rows);
    tcase_add_test(tests, a_query_may_only_reply_or_fail);
    tcase_add_test(tests, what_is_no_answer_is_stray);
    tcase_add_test(tests, mistakes_in_answers_are_named);
    tcase_add_test(tests, a_value_above_its_limit_is_refused_by_name);
    tcase_add_test(tests, an_answer_is_applied_or_refused_for_lack_of_memory);
    tcase_add_test(tests, tasks_answer_ok_error_or_beat);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
