/* The HTTP server: what its routes do. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

static Suite *make_suite(void)
{
    Suite *suite = suite_create("node_http");
    TCase *routes = tcase_create("routes");
    tcase_set_timeout(routes, TIMEOUT_S);
    tcase_add_checked_fixture(routes, open_bed, close_bed);
    tcase_add_test(routes, a_message_that_waits_gets_its_reply);
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
