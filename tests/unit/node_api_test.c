/* Calls without connections: routes, parameters, bodies, answers; tokens in their file. */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fault.h"
#include "common/mem.h"
#include "node/api_routes.h"
#include "node/http_guard.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"

enum { TIMEOUT_S = 60, ALLOCATIONS_MOST = 2000 };

static Api api;
static Call call;

static void open_call(void)
{
    api = (Api){.options = {.data = "data"}};
    call_init(&call, &api);
}

static void close_call(void)
{
    call_release(&call);
}

static void next_call(void)
{
    call_release(&call);
    call_init(&call, &api);
}

/* The call's answer is this error. */
static void expect_error(ApiError error)
{
    ck_assert_uint_eq(call.status, api_error_status(error));
    ck_assert_int_eq(call.error, error);
}

static void set_body(const char *text)
{
    ck_assert_int_eq(buf_append_str(&call.body, text), SAP_OK);
}

/* ---- Routes ---------------------------------------------------------------------------------- */

START_TEST(every_route_is_found_by_its_method_and_path)
{
    size_t count = 0;
    const Route *routes = api_routes(&count);
    ck_assert_uint_gt(count, 30);
    for (size_t i = 0; i < count; i++) {
        char path[128];
        const char *mark = strstr(routes[i].path, "{}");
        (void)snprintf(path, sizeof path, "%.*s%s%s",
                       mark == NULL ? (int)strlen(routes[i].path) : (int)(mark - routes[i].path),
                       routes[i].path, mark == NULL ? "" : "a%20b", mark == NULL ? "" : mark + 2);
        ck_assert(api_route_find(&call, routes[i].method, path));
        ck_assert_ptr_eq(call.route, &routes[i]);
        ck_assert_str_eq(call.arg, mark == NULL ? "" : "a b");
        for (size_t k = i + 1; k < count; k++) {
            ck_assert(strcmp(routes[i].method, routes[k].method) != 0 ||
                      strcmp(routes[i].path, routes[k].path) != 0);
        }
        next_call();
    }
}
END_TEST

START_TEST(names_in_paths_are_decoded_or_refused)
{
    static const struct {
        const char *path;
        const char *name; /* NULL: refused */
    } cases[] = {{"/v1/worlds/%2F%3f%25", "/?%"},   {"/v1/worlds/a+b", "a+b"},
                 {"/v1/worlds/%C3%A9", "\xC3\xA9"}, {"/v1/worlds/%", NULL},
                 {"/v1/worlds/%4", NULL},           {"/v1/worlds/%4g", NULL},
                 {"/v1/worlds/%00", NULL},          {"/v1/worlds/%ff", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool found = api_route_find(&call, "GET", cases[i].path);
        ck_assert_int_eq(found, cases[i].name != NULL);
        if (found) {
            ck_assert_str_eq(call.arg, cases[i].name);
        } else {
            expect_error(API_BAD_REQUEST);
        }
        next_call();
    }
    char longest[200] = "/v1/worlds/";
    memset(longest + 11, 'x', SAP_WORLD_MAX_NAME);
    ck_assert(api_route_find(&call, "GET", longest));
    next_call();
    longest[11 + SAP_WORLD_MAX_NAME] = 'x';
    ck_assert(!api_route_find(&call, "GET", longest));
}
END_TEST

/* ---- Parameters and bodies ------------------------------------------------------------------- */

START_TEST(times_of_waits_have_units_and_a_most)
{
    static const struct {
        const char *text;
        long long ms; /* -1: refused */
    } cases[] = {{"5s", 5000},  {"5", 5000},    {"500ms", 500}, {"1m", 60000},       {"0", 0},
                 {"2m", 60000}, {"90s", 60000}, {"", -1},       {"s", -1},           {"5 s", -1},
                 {"-1s", -1},   {"1h", -1},     {"5sx", -1},    {"99999999999s", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char query[64];
        bool given = false;
        uint64_t ms = 0;
        ck_assert(api_route_find(&call, "GET", "/v1/worlds/a/result"));
        (void)snprintf(query, sizeof query, "wait=%s", cases[i].text);
        ck_assert(call_read_query(&call, query));
        bool good = call_query_wait(&call, &given, &ms);
        EXPECT(good == (cases[i].ms >= 0), "wait=%s", cases[i].text);
        EXPECT(!good || (given && (long long)ms == cases[i].ms), "wait=%s is %llu ms",
               cases[i].text, (unsigned long long)ms);
        next_call();
    }
}
END_TEST

START_TEST(parameters_are_decoded_and_many_of_them_are_kept)
{
    ck_assert(api_route_find(&call, "GET", "/v1/worlds"));
    ck_assert(call_read_query(&call, "&prefix=a%26b+c&&tag=x%3D1&limit=7&status=&module"));
    ck_assert_str_eq(call_query(&call, "prefix"), "a&b c");
    ck_assert_str_eq(call_query(&call, "tag"), "x=1");
    ck_assert_str_eq(call_query(&call, "limit"), "7");
    ck_assert_str_eq(call_query(&call, "status"), "");
    ck_assert_str_eq(call_query(&call, "module"), "");
    ck_assert_ptr_null(call_query(&call, "after"));
}
END_TEST

START_TEST(the_payload_is_the_text_of_the_member_body_and_nothing_else)
{
    static const struct {
        const char *body;
        const char *payload; /* NULL: there is none */
    } cases[] = {
        {"{\"body\":1}", "1"},
        {" { \"body\" : { \"body\" : [1, 2] } , \"name\":\"x\" } ", "{\"body\":[1,2]}"},
        {"{\"name\":\"body\"}", NULL},
        {"{\"name\":\"\\\"body\\\":1\",\"id\":\",\"}", NULL},
        {"{\"b\\u006fdy\":\"\\\\\\\"}]\",\"name\":\"\"}", "\"\\\\\\\"}]\""},
        {"{\"body\":18446744073709551615}", "18446744073709551615"},
        {"{\"body\":1e2,\"priority\":1}", "100"},
        {"{\"body\":null}", "null"},
        {"{}", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Payload payload;
        ck_assert(api_route_find(&call, "POST", "/v1/worlds/a/messages"));
        set_body(cases[i].body);
        EXPECT(call_read_body(&call), "%s is read: %s", cases[i].body, (char *)call.text.data);
        ck_assert(call_field_payload(&call, &payload));
        if (cases[i].payload == NULL) {
            ck_assert_uint_eq(payload.len, 0);
        } else {
            EXPECT(payload.len == strlen(cases[i].payload) &&
                       memcmp(payload.data, cases[i].payload, payload.len) == 0,
                   "%s has the payload %.*s", cases[i].body, (int)payload.len,
                   (const char *)payload.data);
        }
        next_call();
    }
}
END_TEST

START_TEST(payloads_stand_in_answers_as_they_are)
{
    json_t *list = json_array();
    static const char *const texts[] = {"18446744073709551615", "0.1", "{\"b64\":\"raw:\"}",
                                        "\"\\u0000\""};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        json_t *object = json_object();
        ck_assert(call_set_payload(&call, object, "value", SAP_ENCODING_JSON, texts[i],
                                   strlen(texts[i])));
        ck_assert_int_eq(json_array_append_new(list, object), 0);
    }
    json_t *object = json_object();
    ck_assert(call_set_payload(&call, object, "value", SAP_ENCODING_RAW, "\0\xff", 2));
    ck_assert_int_eq(json_array_append_new(list, object), 0);
    call_answer(&call, 200, list);
    ck_assert_int_eq(buf_append_u8(&call.text, 0), SAP_OK);
    ck_assert_str_eq(
        (const char *)call.text.data,
        "[{\"value\":18446744073709551615},{\"value\":0.1},{\"value\":{\"b64\":\"raw:\"}},"
        "{\"value\":\"\\u0000\"},{\"value\":{\"b64\":\"AP8=\"},\"encoding\":\"raw\"}]\n");
}
END_TEST

START_TEST(a_call_has_one_answer_the_first)
{
    (void)call_fail(&call, API_BUSY, "first");
    (void)call_fail(&call, API_STOPPING, "second");
    call_answer(&call, 200, json_object());
    call_answer_empty(&call, 204);
    expect_error(API_BUSY);
    ck_assert_uint_eq(call.retry_after_s, 1);
}
END_TEST

START_TEST(text_that_is_no_utf8_in_a_message_is_shown_all_the_same)
{
    (void)call_fail(&call, API_BAD_REQUEST, "the name \"%s\"", "a\xff\xfe");
    expect_error(API_BAD_REQUEST);
    json_t *json = json_loadb((const char *)call.text.data, call.text.len, 0, NULL);
    ck_assert_ptr_nonnull(json_object_get(json, "message"));
    json_decref(json);
}
END_TEST

/* ---- Memory ---------------------------------------------------------------------------------- */

static uint64_t json_allocations; /* until one fails; 0: none does */
static bool json_failed;

static void *json_alloc(size_t size)
{
    if (json_allocations > 0 && --json_allocations == 0) {
        json_failed = true;
        return NULL;
    }
    return malloc(size);
}

/* What a route does, without a universe. */
static void run_call(void)
{
    Payload payload = {0};
    const char *name = NULL;
    GuardHeaders headers = {.host = "localhost", .key = "k"};
    Caller caller = {.known = true, .socket = true, .scopes = SCOPE_ALL, .id = "uid:0"};
    bool good = guard_request(&call, &caller, "POST", "/v1/worlds/w%201/messages", &headers) &&
                call_read_query(&call, "wait=5s") && call_read_body(&call) &&
                call_field_text(&call, "name", 128, true, &name) &&
                call_field_payload(&call, &payload);
    if (good) {
        json_t *answer = json_object();
        good = answer != NULL && call_set_payload(&call, answer, "reply", payload.encoding,
                                                  payload.data, payload.len);
        if (!good) {
            json_decref(answer);
        }
        call_answer(&call, 200, good ? answer : NULL);
    }
    buf_release(&payload.bytes);
}

static void run_with_body(const char *body)
{
    set_body(body);
    run_call();
    ck_assert_uint_ne(call.status, 0);
}

START_TEST(a_call_that_runs_out_of_memory_has_an_answer_and_leaks_nothing)
{
    static const char *const bodies[] = {
        "{\"name\":\"n\",\"body\":{\"x\":[1,2]}}",
        "{\"name\":\"n\",\"encoding\":\"raw\",\"body\":{\"b64\":\"AAAA\"}}", "{\"nam\":1}", "{"};
    size_t live = mem_live_total();
    uint64_t runs = 0;
    json_set_alloc_funcs(json_alloc, free);
    for (size_t b = 0; b < sizeof bodies / sizeof bodies[0]; b++) {
        for (uint64_t nth = 1; nth < ALLOCATIONS_MOST; nth++, runs++) {
            json_failed = false;
            json_allocations = nth;
            run_with_body(bodies[b]);
            json_allocations = 0;
            EXPECT(!json_failed || call.status != 200 || call.text.len > 0, "it has an answer");
            next_call();
            if (!json_failed) {
                break;
            }
        }
#if SAP_FAULTS
        for (uint64_t nth = 1; nth < ALLOCATIONS_MOST; nth++, runs++) {
            set_body(bodies[b]);
            fault_reset();
            fault_arm_alloc(nth);
            run_call();
            bool fired = fault_fired() > 0;
            fault_reset();
            ck_assert_uint_ne(call.status, 0);
            next_call();
            if (!fired) {
                break;
            }
        }
#endif
    }
    json_set_alloc_funcs(malloc, free);
    close_call();
    ck_assert_uint_eq(mem_live_total(), live);
    printf("memory: %llu calls\n", (unsigned long long)runs);
    ck_assert_uint_gt(runs, 50);
}
END_TEST

/* ---- Tokens ---------------------------------------------------------------------------------- */

static FileBed bed;

static void open_bed(void)
{
    file_bed_start(&bed);
}

static void close_bed(void)
{
    file_bed_end_clean(&bed);
}

static Tokens *open_tokens(void)
{
    char message[512];
    Tokens *tokens = NULL;
    int rc = tokens_open(bed.dir, &tokens, message, sizeof message);
    EXPECT(rc == SAP_OK, "the tokens open: %s", message);
    return tokens;
}

static bool is_token(Tokens *tokens, const char *text)
{
    TokenInfo info;
    return tokens_find(tokens, text, strlen(text), &info);
}

START_TEST(a_token_is_found_until_it_is_revoked_also_after_a_restart)
{
    TokenInfo info;
    TokenInfo found;
    char text[TOKEN_TEXT_SIZE];
    Tokens *tokens = open_tokens();
    ck_assert_int_eq(tokens_create(tokens, SCOPE_READ, "mine", NULL, &info, text), SAP_OK);
    ck_assert_uint_lt(strlen(text), TOKEN_TEXT_SIZE);
    ck_assert(tokens_find(tokens, text, strlen(text), &found));
    ck_assert_uint_eq(found.scopes, SCOPE_READ);
    ck_assert(!tokens_find(tokens, text, strlen(text) - 1, &found));
    ck_assert(!is_token(tokens, ""));
    tokens_close(tokens);
    tokens = open_tokens();
    ck_assert(is_token(tokens, text));
    ck_assert_int_eq(tokens_revoke(tokens, info.id), SAP_OK);
    ck_assert_int_eq(tokens_revoke(tokens, info.id), SAP_NOTFOUND);
    ck_assert(!is_token(tokens, text));
    tokens_close(tokens);
    tokens = open_tokens();
    ck_assert(!is_token(tokens, text));
    tokens_close(tokens);
}
END_TEST

START_TEST(a_token_stands_in_no_file_but_the_first)
{
    TokenInfo info;
    char text[TOKEN_TEXT_SIZE];
    char path[FILES_PATH_MAX];
    char content[8192];
    Tokens *tokens = open_tokens();
    ck_assert_int_eq(tokens_create(tokens, SCOPE_ADMIN, "", NULL, &info, text), SAP_OK);
    (void)snprintf(path, sizeof path, "%s/tokens", bed.dir);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    size_t len = fread(content, 1, sizeof content - 1, file);
    (void)fclose(file);
    content[len] = 0;
    ck_assert_ptr_nonnull(strstr(content, info.id));
    ck_assert_ptr_null(strstr(content, text + strlen(text) - 32));
    tokens_close(tokens);
}
END_TEST

START_TEST(the_same_key_gives_the_same_token_until_it_is_revoked)
{
    TokenInfo info;
    char first[TOKEN_TEXT_SIZE];
    char again[TOKEN_TEXT_SIZE];
    TokenKey key = {"uid:0", "k"};
    TokenKey other = {"uid:1", "k"};
    Tokens *tokens = open_tokens();
    ck_assert_int_eq(tokens_create(tokens, SCOPE_READ, "n", &key, &info, first), SAP_OK);
    tokens_close(tokens);
    tokens = open_tokens();
    ck_assert_int_eq(tokens_create(tokens, SCOPE_READ, "n", &key, &info, again), SAP_OK);
    ck_assert_str_eq(first, again);
    ck_assert_int_eq(tokens_create(tokens, SCOPE_SEND, "n", &key, &info, again), SAP_EXISTS);
    ck_assert_int_eq(tokens_create(tokens, SCOPE_READ, "m", &key, &info, again), SAP_EXISTS);
    ck_assert_int_eq(tokens_create(tokens, SCOPE_READ, "n", &other, &info, again), SAP_OK);
    ck_assert_str_ne(first, again);
    TokenInfo found;
    ck_assert(tokens_find(tokens, first, strlen(first), &found));
    ck_assert_int_eq(tokens_revoke(tokens, found.id), SAP_OK);
    ck_assert_int_eq(tokens_create(tokens, SCOPE_READ, "n", &key, &info, again), SAP_EXISTS);
    ck_assert(!is_token(tokens, first));
    tokens_close(tokens);
}
END_TEST

START_TEST(a_file_of_tokens_that_others_may_read_or_that_is_damaged_is_refused)
{
    char path[FILES_PATH_MAX];
    char message[512];
    Tokens *tokens = open_tokens();
    tokens_close(tokens);
    tokens = NULL;
    (void)snprintf(path, sizeof path, "%s/tokens", bed.dir);
    ck_assert_int_eq(chmod(path, 0640), 0);
    ck_assert_int_eq(tokens_open(bed.dir, &tokens, message, sizeof message), SAP_INVALID);
    EXPECT(strstr(message, "chmod 600") != NULL, "it says: %s", message);
    ck_assert_int_eq(chmod(path, 0600), 0);
    static const char *const damaged[] = {"", "{}", "{\"secret\":\"\",\"tokens\":[]}", "[1,2",
                                          "{\"secret\":\"00\",\"tokens\":[{}]}"};
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        FILE *file = fopen(path, "w");
        ck_assert_ptr_nonnull(file);
        ck_assert_int_ge(fputs(damaged[i], file), 0);
        ck_assert_int_eq(fclose(file), 0);
        ck_assert_int_eq(tokens_open(bed.dir, &tokens, message, sizeof message), SAP_INVALID);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("node_api");
    TCase *calls = tcase_create("calls");
    tcase_set_timeout(calls, TIMEOUT_S);
    tcase_add_checked_fixture(calls, open_call, close_call);
    tcase_add_test(calls, every_route_is_found_by_its_method_and_path);
    tcase_add_test(calls, names_in_paths_are_decoded_or_refused);
    tcase_add_test(calls, times_of_waits_have_units_and_a_most);
    tcase_add_test(calls, parameters_are_decoded_and_many_of_them_are_kept);
    tcase_add_test(calls, the_payload_is_the_text_of_the_member_body_and_nothing_else);
    tcase_add_test(calls, payloads_stand_in_answers_as_they_are);
    tcase_add_test(calls, a_call_has_one_answer_the_first);
    tcase_add_test(calls, text_that_is_no_utf8_in_a_message_is_shown_all_the_same);
    tcase_add_test(calls, a_call_that_runs_out_of_memory_has_an_answer_and_leaks_nothing);
    suite_add_tcase(suite, calls);
    TCase *tokens = tcase_create("tokens");
    tcase_set_timeout(tokens, TIMEOUT_S);
    tcase_add_checked_fixture(tokens, open_bed, close_bed);
    tcase_add_test(tokens, a_token_is_found_until_it_is_revoked_also_after_a_restart);
    tcase_add_test(tokens, a_token_stands_in_no_file_but_the_first);
    tcase_add_test(tokens, the_same_key_gives_the_same_token_until_it_is_revoked);
    tcase_add_test(tokens, a_file_of_tokens_that_others_may_read_or_that_is_damaged_is_refused);
    suite_add_tcase(suite, tokens);
    return suite;
}

int main(void)
{
    return suite_run(make_suite());
}
