/* The HTTP server: what its routes do. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/api_routes.h"
#include "support/expect.h"
#include "support/node_http_bed.h"
#include "support/suite.h"

enum { TIMEOUT_S = 120 };

static HttpBed bed;

static void open_bed(void)
{
    http_bed_open(&bed);
    http_bed_start_server(&bed);
}

static void close_bed(void)
{
    http_bed_close(&bed);
}

/* The number under a name. */
static long long number_of(const json_t *json, const char *name)
{
    const json_t *value = json_object_get(json, name);
    EXPECT(json_is_integer(value), "there is a number %s", name);
    return json_integer_value(value);
}

static const char *text_of(const json_t *json, const char *name)
{
    const char *text = json_string_value(json_object_get(json, name));
    EXPECT(text != NULL, "there is a text %s", name);
    return text;
}

START_TEST(a_message_that_waits_gets_its_reply)
{
    HttpAsk ask = {.local = true};
    HttpAnswer answer;
    http_bed_make_world(&bed, "w1");
    http_ask(&bed, &ask, "POST", "/v1/worlds/w1/messages?wait=10s",
             "{\"name\":\"hi\",\"body\":{\"n\":0.1,\"id\":18446744073709551615}}", &answer);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_str_eq(answer.body,
                     "{\"reply\":{\"id\":18446744073709551615,\"n\":0.1},\"step\":2}\n");
    http_answer_free(&answer);
    json_t *json = http_bed_do(&bed, "GET", "/v1/worlds/w1", NULL, 200);
    ck_assert_str_eq(text_of(json, "status"), "active");
    ck_assert_str_eq(text_of(json, "module"), "desk");
    ck_assert_int_eq(number_of(json, "step"), 2);
    json_decref(json);
}
END_TEST

/* ---- Messages -------------------------------------------------------------------------------- */

START_TEST(what_comes_of_a_message_has_a_status_of_its_own)
{
    http_bed_make_world(&bed, "w1");
    json_decref(
        http_bed_do(&bed, "POST", "/v1/worlds/w1/messages?wait=10s", "{\"name\":\"silent\"}", 204));
    json_t *json =
        http_bed_do(&bed, "POST", "/v1/worlds/w1/messages?wait=10s", "{\"name\":\"later\"}", 200);
    ck_assert_str_eq(text_of(json, "reply"), "late");
    json_decref(json);
    json =
        http_bed_do(&bed, "POST", "/v1/worlds/w1/messages?wait=10s", "{\"name\":\"refuse\"}", 422);
    ck_assert_str_eq(text_of(json, "code"), "handler_failed");
    ck_assert_str_eq(text_of(json, "message"), "the desk refuses this");
    json_decref(json);
    json = http_bed_do(&bed, "POST", "/v1/worlds/w1/messages", "{}", 202);
    ck_assert_uint_eq(strlen(text_of(json, "seq")), 64);
    json_decref(json);
}
END_TEST

START_TEST(bytes_come_back_as_base64_with_their_encoding)
{
    http_bed_make_world(&bed, "w1");
    json_t *json = http_bed_do(&bed, "POST", "/v1/worlds/w1/messages?wait=10s",
                               "{\"encoding\":\"raw\",\"body\":{\"b64\":\"AP8=\"}}", 200);
    ck_assert_str_eq(text_of(json, "encoding"), "raw");
    ck_assert_str_eq(text_of(json_object_get(json, "reply"), "b64"), "AP8=");
    json_decref(json);
    json = http_bed_do(&bed, "POST", "/v1/worlds/w1/messages?wait=10s",
                       "{\"encoding\":\"cbor\",\"body\":{\"b64\":\"gQE=\"}}", 200);
    ck_assert_str_eq(text_of(json, "encoding"), "cbor");
    ck_assert_str_eq(text_of(json_object_get(json, "reply"), "b64"), "gQE=");
    json_decref(json);
    /* Text that looks like a mark of the answer's is text. */
    json =
        http_bed_do(&bed, "POST", "/v1/worlds/w1/messages?wait=10s",
                    "{\"body\":[\"raw:0\",\"\\\"body\\\":{\",{\"body\":[\"}\",\"\\\\\"]}]}", 200);
    char *text = json_dumps(json_object_get(json, "reply"), JSON_COMPACT);
    ck_assert_str_eq(text, "[\"raw:0\",\"\\\"body\\\":{\",{\"body\":[\"}\",\"\\\\\"]}]");
    free(text);
    json_decref(json);
}
END_TEST

START_TEST(a_message_with_a_module_creates_the_world_that_is_missing)
{
    http_bed_make_world(&bed, "other");
    for (int i = 0; i < 3; i++) {
        json_t *json = http_bed_do(&bed, "POST", "/v1/worlds/na%C3%AFve%2Fw/messages?wait=10s",
                                   "{\"module\":\"desk\",\"body\":7}", 200);
        ck_assert_int_eq(number_of(json, "reply"), 7);
        json_decref(json);
    }
    json_t *json = http_bed_do(&bed, "GET", "/v1/worlds/na%C3%AFve%2Fw", NULL, 200);
    ck_assert_str_eq(text_of(json, "world"), "na\xC3\xAFve/w");
    ck_assert_int_eq(number_of(json, "step"), 4);
    json_decref(json);
}
END_TEST

/* Sends {"name", "body"} with a key, and returns the answer. */
static void send_with_key(const char *token, const char *key, const char *body, HttpAnswer *answer)
{
    HttpAsk ask = {.token = token, .key = key};
    http_ask(&bed, &ask, "POST", "/v1/worlds/w1/messages?wait=10s", body, answer);
}

START_TEST(a_repeated_key_is_the_same_message_and_another_body_is_409)
{
    HttpAnswer answer;
    http_bed_make_world(&bed, "w1");
    for (int i = 0; i < 3; i++) {
        send_with_key(bed.token, "k1", "{\"name\":\"hi\",\"body\":1}", &answer);
        EXPECT(answer.status == 200, "try %d got %d %s", i, answer.status, answer.body);
        ck_assert_int_eq(number_of(answer.json, "step"), 2);
        http_answer_free(&answer);
    }
    static const char *const others[] = {
        "{\"name\":\"hi\",\"body\":2}",
        "{\"name\":\"ho\",\"body\":1}",
        "{\"name\":\"hi\"}",
        "{\"name\":\"hi\",\"body\":1,\"priority\":1}",
        "{\"name\":\"hi\",\"body\":1,\"correlation_id\":\"c\"}",
        "{\"name\":\"hi\",\"encoding\":\"raw\",\"body\":{\"b64\":\"MQ==\"}}"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        send_with_key(bed.token, "k1", others[i], &answer);
        EXPECT(answer.status == 409 && strcmp(http_answer_code(&answer), "key_reused") == 0,
               "%s got %d %s", others[i], answer.status, answer.body);
        http_answer_free(&answer);
    }
    json_t *json = http_bed_do(&bed, "GET", "/v1/worlds/w1", NULL, 200);
    ck_assert_int_eq(number_of(json, "step"), 2);
    json_decref(json);
}
END_TEST

START_TEST(keys_of_two_callers_are_two_keys)
{
    HttpAnswer first;
    HttpAnswer second;
    http_bed_make_world(&bed, "w1");
    json_t *json = http_bed_do(&bed, "POST", "/v1/tokens", "{\"scopes\":[\"send\"]}", 201);
    send_with_key(bed.token, "same", "{\"body\":\"mine\"}", &first);
    send_with_key(text_of(json, "token"), "same", "{\"body\":\"mine\"}", &second);
    ck_assert_int_eq(first.status, 200);
    ck_assert_int_eq(second.status, 200);
    ck_assert_int_ne(number_of(first.json, "step"), number_of(second.json, "step"));
    http_answer_free(&first);
    http_answer_free(&second);
    send_with_key(text_of(json, "token"), "same2", "{\"body\":\"mine\"}", &second);
    http_answer_free(&second);
    json_decref(json);
    /* An id that looks like that of another's key is refused, so nobody can ask for that reply. */
    json = http_bed_do(&bed, "POST", "/v1/worlds/w1/messages?wait=1s",
                       "{\"id\":\"key:token:12345678:same\",\"body\":\"mine\"}", 400);
    json_decref(json);
}
END_TEST

START_TEST(an_id_of_the_callers_own_is_the_items_id)
{
    http_bed_make_world(&bed, "w1");
    json_t *json = http_bed_do(&bed, "POST", "/v1/worlds/w1/messages?wait=10s",
                               "{\"id\":\"order-7\",\"body\":1}", 200);
    json_decref(json);
    json =
        http_bed_do(&bed, "POST", "/v1/worlds/w1/messages", "{\"id\":\"order-7\",\"body\":1}", 202);
    ck_assert_str_eq(text_of(json, "id"), "order-7");
    ck_assert(json_is_true(json_object_get(json, "duplicate")));
    json_decref(json);
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/messages",
                            "{\"id\":\"order-7\",\"body\":2}", 409));
}
END_TEST

START_TEST(creating_with_a_key_may_be_repeated)
{
    HttpAsk ask = {.local = true, .key = "make-a"};
    HttpAnswer answer;
    http_bed_make_world(&bed, "w1");
    for (int i = 0; i < 2; i++) {
        http_ask(&bed, &ask, "POST", "/v1/worlds", "{\"world\":\"a\",\"module\":\"desk\"}",
                 &answer);
        ck_assert_int_eq(answer.status, 201);
        http_answer_free(&answer);
    }
    http_ask(&bed, &ask, "POST", "/v1/worlds", "{\"world\":\"b\",\"module\":\"desk\"}", &answer);
    ck_assert_int_eq(answer.status, 409);
    ck_assert_str_eq(http_answer_code(&answer), "key_reused");
    http_answer_free(&answer);
    ask.key = NULL;
    http_ask(&bed, &ask, "POST", "/v1/worlds", "{\"world\":\"a\",\"module\":\"desk\"}", &answer);
    ck_assert_str_eq(http_answer_code(&answer), "world_exists");
    http_answer_free(&answer);
}
END_TEST

START_TEST(operators_calls_with_a_key_give_the_same_answer_again)
{
    HttpAsk ask = {.local = true, .key = "pause-1"};
    HttpAnswer first;
    HttpAnswer again;
    http_bed_make_world(&bed, "w1");
    http_ask(&bed, &ask, "POST", "/v1/worlds/w1/pause", "{\"reason\":\"lunch\"}", &first);
    ck_assert_int_eq(first.status, 200);
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/resume", "{}", 200));
    http_ask(&bed, &ask, "POST", "/v1/worlds/w1/pause", "{\"reason\":\"lunch\"}", &again);
    ck_assert_int_eq(again.status, 200);
    ck_assert_str_eq(first.body, again.body);
    http_answer_free(&first);
    http_answer_free(&again);
    json_t *json = http_bed_do(&bed, "GET", "/v1/worlds/w1", NULL, 200);
    ck_assert_str_eq(text_of(json, "status"), "active"); /* it was not done again */
    json_decref(json);
    http_ask(&bed, &ask, "POST", "/v1/worlds/w1/pause", "{\"reason\":\"dinner\"}", &again);
    ck_assert_int_eq(again.status, 409);
    http_answer_free(&again);
    ask.key = "token-1";
    http_ask(&bed, &ask, "POST", "/v1/tokens", "{\"scopes\":[\"read\"]}", &first);
    http_ask(&bed, &ask, "POST", "/v1/tokens", "{\"scopes\":[\"read\"]}", &again);
    ck_assert_int_eq(first.status, 201);
    ck_assert_str_eq(first.body, again.body);
    http_answer_free(&first);
    http_answer_free(&again);
    http_ask(&bed, &ask, "POST", "/v1/tokens", "{\"scopes\":[\"admin\"]}", &again);
    ck_assert_int_eq(again.status, 409);
    http_answer_free(&again);
}
END_TEST

/* ---- Worlds and what is in them -------------------------------------------------------------- */

START_TEST(worlds_are_listed_page_by_page_and_by_what_they_are)
{
    char path[4096] = "/v1/worlds?limit=2&prefix=w";
    int seen = 0;
    for (int i = 0; i < 5; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "w%d", i);
        http_bed_make_world(&bed, name);
    }
    http_bed_make_world(&bed, "other");
    for (int pages = 0; path[0] != 0 && pages < 10; pages++) {
        json_t *json = http_bed_do(&bed, "GET", path, NULL, 200);
        const json_t *items = json_object_get(json, "items");
        const char *next = json_string_value(json_object_get(json, "next"));
        ck_assert_uint_le(json_array_size(items), 2);
        for (size_t i = 0; i < json_array_size(items); i++, seen++) {
            ck_assert_int_eq(text_of(json_array_get(items, i), "world")[1], '0' + seen);
        }
        path[0] = 0;
        if (next != NULL) {
            (void)snprintf(path, sizeof path, "/v1/worlds?limit=2&prefix=w&after=%s", next);
        }
        json_decref(json);
    }
    ck_assert_int_eq(seen, 5);
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w3/pause", "{\"reason\":\"tea\"}", 200));
    json_decref(
        http_bed_do(&bed, "POST", "/v1/worlds/w4/messages?wait=5s", "{\"name\":\"tag\"}", 204));
    json_t *json = http_bed_do(&bed, "GET", "/v1/worlds?status=paused,stuck", NULL, 200);
    ck_assert_uint_eq(json_array_size(json_object_get(json, "items")), 1);
    const json_t *paused = json_array_get(json_object_get(json, "items"), 0);
    ck_assert_str_eq(text_of(paused, "world"), "w3");
    ck_assert_str_eq(text_of(paused, "reason"), "tea");
    json_decref(json);
    json = http_bed_do(&bed, "GET", "/v1/worlds?tag=kind%3Ddesk", NULL, 200);
    ck_assert_uint_eq(json_array_size(json_object_get(json, "items")), 1);
    const json_t *tagged = json_array_get(json_object_get(json, "items"), 0);
    ck_assert_str_eq(text_of(json_object_get(tagged, "tags"), "kind"), "desk");
    json_decref(json);
    json = http_bed_do(&bed, "GET", "/v1/status", NULL, 200);
    ck_assert_int_eq(number_of(json_object_get(json, "worlds"), "total"), 6);
    ck_assert_int_eq(number_of(json_object_get(json, "worlds"), "paused"), 1);
    ck_assert_int_eq(number_of(json, "workers"), 1);
    ck_assert_uint_eq(json_array_size(json_object_get(json, "attention")), 1);
    json_decref(json);
}
END_TEST

START_TEST(state_and_journal_show_every_step)
{
    http_bed_make_world(&bed, "w1");
    for (int i = 0; i < 3; i++) {
        json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/messages?wait=5s",
                                "{\"name\":\"a\",\"body\":1}", 200));
    }
    json_t *json = http_bed_do(&bed, "GET", "/v1/worlds/w1/state", NULL, 200);
    const json_t *row = json_array_get(json_object_get(json, "rows"), 0);
    ck_assert_int_eq(number_of(json, "step"), 4);
    ck_assert_str_eq(text_of(row, "key"), "count");
    ck_assert_int_eq(number_of(row, "value"), 3);
    json_decref(json);
    json = http_bed_do(&bed, "GET", "/v1/worlds/w1/state?step=2&prefix=co", NULL, 200);
    ck_assert_int_eq(number_of(json, "step"), 2);
    ck_assert_int_eq(number_of(json_array_get(json_object_get(json, "rows"), 0), "value"), 1);
    json_decref(json);
    json = http_bed_do(&bed, "GET", "/v1/worlds/w1/state?prefix=x", NULL, 200);
    ck_assert_uint_eq(json_array_size(json_object_get(json, "rows")), 0);
    json_decref(json);
    json = http_bed_do(&bed, "GET", "/v1/worlds/w1/journal?after=1&limit=2", NULL, 200);
    const json_t *entries = json_object_get(json, "entries");
    ck_assert_int_eq(number_of(json, "step"), 4);
    ck_assert_uint_eq(json_array_size(entries), 2);
    const json_t *entry = json_array_get(entries, 1);
    ck_assert_int_eq(number_of(entry, "step"), 3);
    ck_assert_str_eq(text_of(entry, "kind"), "item");
    ck_assert_str_eq(text_of(json_object_get(entry, "event"), "type"), "message");
    ck_assert_str_eq(text_of(json_object_get(entry, "event"), "name"), "a");
    ck_assert_int_eq(number_of(json_object_get(entry, "event"), "body"), 1);
    ck_assert_str_eq(text_of(json_array_get(json_object_get(entry, "changes"), 0), "key"), "count");
    ck_assert_str_eq(text_of(json_array_get(json_object_get(entry, "intents"), 0), "kind"),
                     "reply");
    json_decref(json);
}
END_TEST

START_TEST(the_state_is_shown_page_by_page)
{
    http_bed_make_world(&bed, "w1");
    json_decref(
        http_bed_do(&bed, "POST", "/v1/worlds/w1/messages?wait=5s", "{\"name\":\"later\"}", 200));
    json_t *json = http_bed_do(&bed, "GET", "/v1/worlds/w1/state?limit=1", NULL, 200);
    char path[256];
    ck_assert_uint_eq(json_array_size(json_object_get(json, "rows")), 1);
    (void)snprintf(path, sizeof path, "/v1/worlds/w1/state?limit=1&after=%s",
                   text_of(json, "next"));
    json_decref(json);
    json = http_bed_do(&bed, "GET", path, NULL, 200);
    ck_assert_str_eq(text_of(json_array_get(json_object_get(json, "rows"), 0), "key"), "reply_to");
    ck_assert_ptr_null(json_object_get(json, "next"));
    json_decref(json);
}
END_TEST

START_TEST(a_world_is_paused_resumed_pinned_cancelled_and_deleted)
{
    http_bed_make_world(&bed, "w1");
    json_t *json = http_bed_do(&bed, "POST", "/v1/worlds/w1/pause", "{\"reason\":\"tea\"}", 200);
    ck_assert_str_eq(text_of(json, "status"), "paused");
    json_decref(json);
    json = http_bed_do(&bed, "POST", "/v1/worlds/w1/resume", "{}", 200);
    ck_assert_str_eq(text_of(json, "status"), "active");
    json_decref(json);
    json = http_bed_do(&bed, "POST", "/v1/worlds/w1/pin", "{\"version\":1}", 200);
    ck_assert_int_eq(number_of(json, "pin"), 1);
    json_decref(json);
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/cancel", "{\"reason\":\"enough\"}", 200));
    json = http_bed_do(&bed, "DELETE", "/v1/worlds/w1?reason=old", NULL, 202);
    ck_assert_str_eq(text_of(json, "status"), "deleted");
    json_decref(json);
    json = http_bed_do(&bed, "POST", "/v1/worlds/w1/messages", "{}", 404);
    ck_assert_str_eq(text_of(json, "code"), "unknown_world");
    json_decref(json);
    json_decref(http_bed_do(&bed, "GET", "/v1/worlds/w1/result?wait=5s", NULL, 409));
}
END_TEST

START_TEST(a_world_that_has_finished_gives_its_result_and_takes_nothing)
{
    http_bed_make_world(&bed, "w1");
    json_decref(http_bed_do(&bed, "GET", "/v1/worlds/w1/result", NULL, 204));
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/messages",
                            "{\"name\":\"done\",\"body\":\"x\"}", 202));
    json_t *json = http_bed_do(&bed, "GET", "/v1/worlds/w1/result?wait=10s", NULL, 200);
    ck_assert_str_eq(text_of(json, "result"), "x");
    json_decref(json);
    json = http_bed_do(&bed, "POST", "/v1/worlds/w1/messages", "{}", 409);
    ck_assert_str_eq(text_of(json, "code"), "world_done");
    json_decref(json);
    json = http_bed_do(&bed, "POST", "/v1/worlds/w1/messages", "{\"module\":\"desk\"}", 409);
    ck_assert_str_eq(text_of(json, "code"), "world_done");
    json_decref(json);
    json = http_bed_do(&bed, "POST", "/v1/worlds/w1/pause", "{}", 409);
    ck_assert_str_eq(text_of(json, "code"), "world_done");
    json_decref(json);
}
END_TEST

START_TEST(queries_answer_from_the_state_and_change_nothing)
{
    http_bed_make_world(&bed, "w1");
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/messages?wait=5s", "{}", 200));
    json_t *json =
        http_bed_do(&bed, "POST", "/v1/worlds/w1/query?strong=1", "{\"name\":\"count\"}", 200);
    ck_assert_int_eq(number_of(json, "reply"), 1);
    ck_assert_int_eq(number_of(json, "step"), 2);
    json_decref(json);
    json_decref(http_bed_do(&bed, "PUT", "/v1/modules/far", "{\"runner\":\"native:far\"}", 200));
    json_decref(
        http_bed_do(&bed, "POST", "/v1/worlds", "{\"world\":\"f\",\"module\":\"far\"}", 201));
    json = http_bed_do(&bed, "POST", "/v1/worlds/f/query", "{}", 409);
    ck_assert_str_eq(text_of(json, "code"), "conflict");
    json_decref(json);
}
END_TEST

/* ---- Letters, effects, timers, workers ------------------------------------------------------- */

START_TEST(dead_letters_are_listed_replayed_and_dropped)
{
    http_bed_make_world(&bed, "w1");
    for (int i = 0; i < 3; i++) {
        json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/messages?wait=5s",
                                "{\"name\":\"refuse\",\"body\":[1]}", 422));
    }
    json_t *json = http_bed_do(&bed, "GET", "/v1/dead-letters?world=w1", NULL, 200);
    const json_t *items = json_object_get(json, "items");
    char body[512];
    ck_assert_uint_eq(json_array_size(items), 3);
    const json_t *letter = json_array_get(items, 0);
    ck_assert_str_eq(text_of(letter, "error"), "the desk refuses this");
    ck_assert_str_eq(text_of(letter, "name"), "refuse");
    (void)snprintf(body, sizeof body, "{\"letters\":[{\"world\":\"w1\",\"id\":\"%s\"}]}",
                   text_of(letter, "id"));
    json_decref(json);
    json = http_bed_do(&bed, "POST", "/v1/dead-letters/drop", body, 200);
    ck_assert_int_eq(number_of(json, "count"), 1);
    json_decref(json);
    json = http_bed_do(&bed, "POST", "/v1/dead-letters/drop", body, 200);
    ck_assert_int_eq(number_of(json, "count"), 0); /* it is gone */
    json_decref(json);
    json = http_bed_do(&bed, "POST", "/v1/dead-letters/replay",
                       "{\"all\":true,\"world\":\"w1\",\"dry_run\":true}", 200);
    ck_assert_int_eq(number_of(json, "count"), 2);
    json_decref(json);
    json = http_bed_do(&bed, "GET", "/v1/worlds/w1/dead-letters", NULL, 200);
    ck_assert_uint_eq(json_array_size(json_object_get(json, "items")), 2);
    json_decref(json);
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/pause", "{}", 200));
    json = http_bed_do(&bed, "POST", "/v1/dead-letters/replay", "{\"all\":true}", 200);
    ck_assert_int_eq(number_of(json, "count"), 2);
    json_decref(json);
    json = http_bed_do(&bed, "GET", "/v1/dead-letters", NULL, 200);
    ck_assert_uint_eq(json_array_size(json_object_get(json, "items")), 0);
    json_decref(json);
}
END_TEST

/* The hash of the only item of a list. */
static void only_hash(const char *path, char out[65])
{
    for (int i = 0; i < 500; i++) {
        json_t *json = http_bed_do(&bed, "GET", path, NULL, 200);
        const json_t *items = json_object_get(json, "items");
        bool found = json_array_size(items) == 1;
        (void)snprintf(out, 65, "%s", found ? text_of(json_array_get(items, 0), "hash") : "");
        json_decref(json);
        if (found) {
            return;
        }
        (void)usleep(10000);
    }
    EXPECT(false, "%s shows one item", path);
}

START_TEST(effects_are_listed_retried_and_get_receipts_by_hand)
{
    char hash[65];
    char path[256];
    http_bed_make_world(&bed, "w1");
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/messages", "{\"name\":\"ask\"}", 202));
    only_hash("/v1/effects?world=w1&state=pending&kind=nobody", hash);
    (void)snprintf(path, sizeof path, "/v1/effects/%s?world=w1", hash);
    json_t *json = http_bed_do(&bed, "GET", path, NULL, 200);
    ck_assert_str_eq(text_of(json, "ref"), "favour");
    ck_assert_str_eq(text_of(json, "state"), "pending");
    json_decref(json);
    (void)snprintf(path, sizeof path, "/v1/effects/%s/retry", hash);
    json_decref(http_bed_do(&bed, "POST", path, "{\"world\":\"w1\"}", 200));
    (void)snprintf(path, sizeof path, "/v1/effects/%s/receipt", hash);
    json_decref(http_bed_do(&bed, "POST", path,
                            "{\"world\":\"w1\",\"status\":\"ok\",\"body\":{\"paid\":true}}", 200));
    json_t *outstanding = NULL;
    for (int i = 0; i < 500; i++) {
        outstanding = http_bed_do(&bed, "GET", "/v1/worlds/w1/outstanding", NULL, 200);
        if (json_array_size(json_object_get(outstanding, "items")) == 0) {
            break;
        }
        json_decref(outstanding);
        outstanding = NULL;
        (void)usleep(10000);
    }
    EXPECT(outstanding != NULL, "the receipt was taken");
    json_decref(outstanding);
    json_decref(http_bed_do(&bed, "POST", path, "{\"world\":\"w1\",\"status\":\"ok\"}", 404));
}
END_TEST

START_TEST(effects_and_timers_are_cancelled)
{
    char hash[65];
    char path[256];
    http_bed_make_world(&bed, "w1");
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/messages", "{\"name\":\"ask\"}", 202));
    only_hash("/v1/effects", hash);
    (void)snprintf(path, sizeof path, "/v1/effects/%s/cancel", hash);
    json_decref(http_bed_do(&bed, "POST", path, "{\"world\":\"w1\"}", 200));
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/messages", "{\"name\":\"wait\"}", 202));
    only_hash("/v1/timers?world=w1", hash);
    (void)snprintf(path, sizeof path, "/v1/timers/%s/cancel", hash);
    json_decref(http_bed_do(&bed, "POST", path, "{\"world\":\"w1\"}", 200));
    json_t *json = http_bed_do(&bed, "GET", "/v1/timers", NULL, 200);
    ck_assert_uint_eq(json_array_size(json_object_get(json, "items")), 0);
    json_decref(json);
}
END_TEST

START_TEST(leases_workers_and_assignments_are_shown)
{
    http_bed_make_world(&bed, "w1");
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/messages?wait=5s", "{}", 200));
    json_t *json = http_bed_do(&bed, "GET", "/v1/leases?prefix=w", NULL, 200);
    ck_assert_str_eq(text_of(json_array_get(json_object_get(json, "items"), 0), "holder"),
                     "worker-1");
    json_decref(json);
    json = http_bed_do(&bed, "GET", "/v1/workers", NULL, 200);
    ck_assert_str_eq(text_of(json_array_get(json_object_get(json, "items"), 0), "worker"),
                     "worker-1");
    json_decref(json);
    json_decref(http_bed_do(&bed, "PUT", "/v1/assignments/w1",
                            "{\"worker\":\"worker-1\",\"priority\":3,\"reason\":\"near\"}", 200));
    json = http_bed_do(&bed, "GET", "/v1/assignments", NULL, 200);
    const json_t *item = json_array_get(json_object_get(json, "items"), 0);
    ck_assert_str_eq(text_of(item, "reason"), "near");
    ck_assert_int_eq(number_of(item, "priority"), 3);
    json_decref(json);
    json_decref(http_bed_do(&bed, "DELETE", "/v1/assignments/w1", NULL, 200));
    json = http_bed_do(&bed, "GET", "/v1/assignments", NULL, 200);
    ck_assert_uint_eq(json_array_size(json_object_get(json, "items")), 0);
    json_decref(json);
}
END_TEST

START_TEST(modules_are_registered_once_for_the_same_text)
{
    json_t *json =
        http_bed_do(&bed, "PUT", "/v1/modules/m",
                    "{\"runner\":\"exec:/bin/cat -u\",\"state\":\"ask\",\"timeout_ms\":500,"
                    "\"max_attempts\":3,\"on_failure\":\"skip\",\"settings\":{\"x\":1}}",
                    200);
    ck_assert_int_eq(number_of(json, "version"), 1);
    ck_assert(json_is_true(json_object_get(json, "changed")));
    json_decref(json);
    json = http_bed_do(&bed, "GET", "/v1/modules/m", NULL, 200);
    ck_assert_str_eq(text_of(json, "state"), "ask");
    ck_assert_str_eq(text_of(json, "on_failure"), "skip");
    ck_assert_int_eq(number_of(json, "timeout_ms"), 500);
    ck_assert_int_eq(number_of(json_object_get(json, "settings"), "x"), 1);
    json_decref(json);
    json = http_bed_do(&bed, "PUT", "/v1/modules/m",
                       "{\"runner\":\"exec:/bin/cat -u\",\"state\":\"ask\",\"timeout_ms\":500,"
                       "\"max_attempts\":3,\"on_failure\":\"skip\",\"settings\":{\"x\":1}}",
                       200);
    ck_assert(json_is_false(json_object_get(json, "changed")));
    json_decref(json);
    json = http_bed_do(&bed, "PUT", "/v1/modules/m", "{\"runner\":\"exec:/bin/cat\"}", 200);
    ck_assert_int_eq(number_of(json, "version"), 2);
    json_decref(json);
    json = http_bed_do(&bed, "GET", "/v1/modules", NULL, 200);
    ck_assert_uint_ge(json_array_size(json_object_get(json, "items")), 1);
    json_decref(json);
}
END_TEST

static int refuse_runner(void *ctx, const SapModule *module, uint8_t code_out[32], char *message,
                         size_t message_size)
{
    (void)ctx;
    memset(code_out, 0xab, 32);
    (void)snprintf(message, message_size, "hello.py is not executable: chmod +x hello.py");
    return strstr(module->runner, "hello.py") == NULL ? SAP_OK : SAP_INVALID;
}

START_TEST(a_body_that_a_module_does_not_declare_is_refused_with_what_is_wrong)
{
    json_t *json =
        http_bed_do(&bed, "PUT", "/v1/modules/m",
                    "{\"runner\":\"exec:/bin/cat\",\"schemas\":{\"add\":{\"kind\":1}}}", 400);
    ck_assert_str_eq(text_of(json_object_get(json, "detail"), "field"), "schemas");
    json_decref(json);
    json = http_bed_do(
        &bed, "PUT", "/v1/modules/m",
        "{\"runner\":\"exec:/bin/cat\",\"schemas\":{\"add\":{\"type\":\"integer\"}}}", 200);
    json_decref(json);
    json = http_bed_do(&bed, "GET", "/v1/modules/m", NULL, 200);
    ck_assert_str_eq(text_of(json_object_get(json_object_get(json, "schemas"), "add"), "type"),
                     "integer");
    json_decref(json);
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds", "{\"world\":\"w\",\"module\":\"m\"}", 201));
    json = http_bed_do(&bed, "POST", "/v1/worlds/w/messages",
                       "{\"name\":\"add\",\"body\":\"three\"}", 400);
    ck_assert_str_eq(text_of(json, "code"), "bad_request");
    ck_assert_ptr_nonnull(strstr(text_of(json, "message"), "not what the module takes"));
    ck_assert_ptr_nonnull(strstr(text_of(json, "message"), "integer"));
    json_decref(json);
    json_decref(
        http_bed_do(&bed, "POST", "/v1/worlds/w/messages", "{\"name\":\"add\",\"body\":3}", 202));
}
END_TEST

START_TEST(a_runner_that_cannot_run_is_refused_with_the_reason)
{
    http_bed_stop_server(&bed);
    bed.options.module_check = refuse_runner;
    http_bed_start_server(&bed);
    json_t *json =
        http_bed_do(&bed, "PUT", "/v1/modules/m", "{\"runner\":\"exec:/tmp/hello.py\"}", 400);
    ck_assert_str_eq(text_of(json, "message"), "hello.py is not executable: chmod +x hello.py");
    json_decref(json);
    json = http_bed_do(&bed, "PUT", "/v1/modules/m", "{\"runner\":\"exec:/bin/cat\"}", 200);
    ck_assert_uint_eq(strlen(text_of(json, "code")), 64);
    ck_assert_str_eq(text_of(json, "code") + 60, "abab");
    json_decref(json);
}
END_TEST

/* ---- The node -------------------------------------------------------------------------------- */

static bool is_not_ready(void *ctx, char *why, size_t why_size)
{
    (void)ctx;
    (void)snprintf(why, why_size, "the worker lost its session");
    return false;
}

START_TEST(health_and_metrics_are_text)
{
    HttpAsk none = {.token = ""};
    HttpAnswer answer;
    http_ask(&bed, &none, "GET", "/healthz", NULL, &answer);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_str_eq(answer.body, "ok\n");
    http_answer_free(&answer);
    HttpAsk local = {.local = true};
    http_ask(&bed, &local, "GET", "/metrics", NULL, &answer);
    ck_assert_ptr_nonnull(
        strstr(answer.body, "sapling_http_requests_total{route=\"GET /healthz\"} 1"));
    ck_assert_ptr_nonnull(strstr(answer.body, "sapling_universe_enqueued_total"));
    ck_assert_ptr_nonnull(strstr(answer.head, "version=0.0.4"));
    http_answer_free(&answer);
    http_bed_stop_server(&bed);
    bed.options.ready = is_not_ready;
    http_bed_start_server(&bed);
    http_ask(&bed, &none, "GET", "/readyz", NULL, &answer);
    ck_assert_int_eq(answer.status, 503);
    ck_assert_str_eq(answer.body, "the worker lost its session\n");
    http_answer_free(&answer);
}
END_TEST

START_TEST(tokens_survive_a_restart_and_so_does_their_end)
{
    char path[64];
    HttpAnswer answer;
    json_t *kept =
        http_bed_do(&bed, "POST", "/v1/tokens", "{\"scopes\":[\"read\"],\"name\":\"kept\"}", 201);
    json_t *gone =
        http_bed_do(&bed, "POST", "/v1/tokens", "{\"scopes\":[\"read\"],\"name\":\"gone\"}", 201);
    (void)snprintf(path, sizeof path, "/v1/tokens/%s", text_of(gone, "id"));
    json_decref(http_bed_do(&bed, "DELETE", path, NULL, 200));
    char first[80];
    (void)snprintf(first, sizeof first, "%s", bed.token);
    http_bed_stop_server(&bed);
    http_bed_start_server(&bed);
    ck_assert_str_eq(first, bed.token);
    HttpAsk ask = {.token = text_of(kept, "token")};
    http_ask(&bed, &ask, "GET", "/v1/status", NULL, &answer);
    ck_assert_int_eq(answer.status, 200);
    http_answer_free(&answer);
    ask.token = text_of(gone, "token");
    http_ask(&bed, &ask, "GET", "/v1/status", NULL, &answer);
    ck_assert_int_eq(answer.status, 401);
    http_answer_free(&answer);
    json_t *list = http_bed_do(&bed, "GET", "/v1/tokens", NULL, 200);
    ck_assert_uint_eq(json_array_size(json_object_get(list, "items")), 2);
    json_decref(list);
    json_decref(kept);
    json_decref(gone);
}
END_TEST

START_TEST(an_address_that_is_taken_or_not_of_this_machine_is_an_error_that_says_so)
{
    static const struct {
        const char *listen;
        const char *says;
    } bad[] = {
        {"0.0.0.0:0", "TLS"}, {"127.0.0.1", "ADDRESS:PORT"}, {"127.0.0.1:99999", "ADDRESS:PORT"},
        {"[::]:0", "TLS"},    {"", "ADDRESS:PORT"},          {":80", "ADDRESS:PORT"}};
    char message[512];
    char taken[80];
    Http *other = NULL;
    (void)snprintf(taken, sizeof taken, "%s", http_address(bed.http));
    HttpOptions options = bed.options;
    MetricsRegistry metrics;
    char dir[FILES_DIR_MAX + 8];
    (void)snprintf(dir, sizeof dir, "%s/b", bed.file.dir);
    ck_assert_int_eq(mkdir(dir, 0700), 0);
    options.data = dir;
    options.listen = taken;
    ck_assert_int_eq(metrics_init(&metrics), SAP_OK);
    options.metrics = &metrics;
    ck_assert_int_eq(http_start(&options, &other, message, sizeof message), SAP_BUSY);
    EXPECT(strstr(message, "in use") != NULL && strstr(message, "--listen") != NULL, "it says: %s",
           message);
    options.metrics = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        options.listen = bad[i].listen;
        ck_assert_int_eq(http_start(&options, &other, message, sizeof message), SAP_INVALID);
        EXPECT(strstr(message, bad[i].says) != NULL, "%s says: %s", bad[i].listen, message);
    }
    options.listen = NULL;
    options.socket_group = "no-such-group";
    ck_assert_int_eq(http_start(&options, &other, message, sizeof message), SAP_INVALID);
    options.socket_group = NULL;
    ck_assert_int_eq(http_start(&options, &other, message, sizeof message), SAP_OK);
    ck_assert_str_eq(http_address(other), "");
    http_stop(other);
    metrics_release(&metrics);
}
END_TEST

START_TEST(the_page_about_routes_has_each_of_them)
{
    size_t count = 0;
    const Route *routes = api_routes(&count);
    FILE *file = fopen("docs/reference/http-api.md", "r");
    ck_assert_msg(file != NULL, "docs/reference/http-api.md cannot be read");
    char *page = (char *)calloc(1, 1 << 20);
    ck_assert_ptr_nonnull(page);
    size_t len = fread(page, 1, (1 << 20) - 1, file);
    ck_assert_uint_gt(len, 0);
    (void)fclose(file);
    for (size_t i = 0; i < count; i++) {
        static const char *const scopes[] = {[SCOPE_OPEN] = "open",
                                             [SCOPE_READ] = "read",
                                             [SCOPE_SEND] = "send",
                                             [SCOPE_ADMIN] = "admin"};
        char line[160];
        (void)snprintf(line, sizeof line, "\n| `%s %s` | %s |", routes[i].method, routes[i].path,
                       scopes[routes[i].scope]);
        EXPECT(strstr(page, line) != NULL, "the page has no line %s", line + 1);
    }
    size_t lines = 0;
    for (const char *at = strstr(page, "\n| `"); at != NULL; at = strstr(at + 1, "\n| `")) {
        lines += strncmp(at + 4, "GET /", 5) == 0 || strncmp(at + 4, "POST /", 6) == 0 ||
                 strncmp(at + 4, "PUT /", 5) == 0 || strncmp(at + 4, "DELETE /", 8) == 0;
    }
    ck_assert_uint_eq(lines, count);
    for (int i = 0; i < API_ERROR_COUNT; i++) {
        char line[80];
        (void)snprintf(line, sizeof line, "\n| %u `%s` |", api_error_status((ApiError)i),
                       api_error_code((ApiError)i));
        EXPECT(strstr(page, line) != NULL, "the page has no line %s", line + 1);
    }
    free(page);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("node_http");
    TCase *routes = tcase_create("routes");
    tcase_set_timeout(routes, TIMEOUT_S);
    tcase_add_checked_fixture(routes, open_bed, close_bed);
    tcase_add_test(routes, a_message_that_waits_gets_its_reply);
    tcase_add_test(routes, what_comes_of_a_message_has_a_status_of_its_own);
    tcase_add_test(routes, bytes_come_back_as_base64_with_their_encoding);
    tcase_add_test(routes, a_message_with_a_module_creates_the_world_that_is_missing);
    tcase_add_test(routes, a_repeated_key_is_the_same_message_and_another_body_is_409);
    tcase_add_test(routes, keys_of_two_callers_are_two_keys);
    tcase_add_test(routes, an_id_of_the_callers_own_is_the_items_id);
    tcase_add_test(routes, creating_with_a_key_may_be_repeated);
    tcase_add_test(routes, operators_calls_with_a_key_give_the_same_answer_again);
    tcase_add_test(routes, worlds_are_listed_page_by_page_and_by_what_they_are);
    tcase_add_test(routes, state_and_journal_show_every_step);
    tcase_add_test(routes, the_state_is_shown_page_by_page);
    tcase_add_test(routes, a_world_is_paused_resumed_pinned_cancelled_and_deleted);
    tcase_add_test(routes, a_world_that_has_finished_gives_its_result_and_takes_nothing);
    tcase_add_test(routes, queries_answer_from_the_state_and_change_nothing);
    tcase_add_test(routes, dead_letters_are_listed_replayed_and_dropped);
    tcase_add_test(routes, effects_are_listed_retried_and_get_receipts_by_hand);
    tcase_add_test(routes, effects_and_timers_are_cancelled);
    tcase_add_test(routes, leases_workers_and_assignments_are_shown);
    tcase_add_test(routes, modules_are_registered_once_for_the_same_text);
    tcase_add_test(routes, a_body_that_a_module_does_not_declare_is_refused_with_what_is_wrong);
    tcase_add_test(routes, a_runner_that_cannot_run_is_refused_with_the_reason);
    tcase_add_test(routes, health_and_metrics_are_text);
    tcase_add_test(routes, tokens_survive_a_restart_and_so_does_their_end);
    tcase_add_test(routes,
                   an_address_that_is_taken_or_not_of_this_machine_is_an_error_that_says_so);
    tcase_add_test(routes, the_page_about_routes_has_each_of_them);
    suite_add_tcase(suite, routes);
    return suite;
}

/* For programs that try the routes by hand: serves until it is killed. */
static void serve_for_ever(const char *listen)
{
    open_bed();
    http_bed_stop_server(&bed);
    bed.options.listen = listen;
    http_bed_start_server(&bed);
    json_decref(http_bed_do(&bed, "PUT", "/v1/modules/desk", "{\"runner\":\"native:desk\"}", 200));
    printf("listen %s\ndata %s\ntoken %s\n", http_address(bed.http), bed.file.dir, bed.token);
    (void)fflush(stdout);
    for (;;) {
        (void)pause();
    }
}

int main(void)
{
    const char *listen = getenv("SAP_HTTP_SERVE");
    if (listen != NULL) {
        serve_for_ever(listen);
    }
    return suite_run(make_suite());
}
