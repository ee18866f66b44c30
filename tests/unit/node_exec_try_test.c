/* One event given to a program without a node. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/mem.h"
#include "node/exec_try.h"
#include "support/expect.h"
#include "support/suite.h"
#include "universe/handler.h"

enum { TIMEOUT_S = 60, TEXT = 4096 };

static char dir[] = "/tmp/exec_try_XXXXXX";
static char path[64];
static char runner[80];
static char out_text[TEXT];
static char err_text[TEXT];
static char message[1024];
static size_t live_before;

static void write_program(const char *text)
{
    FILE *file = fopen(path, "we");
    EXPECT(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(path, 0755) == 0,
           "%s: %s", path, strerror(errno));
}

static void set_up(void)
{
    live_before = mem_live_total();
    EXPECT(mkdtemp(dir) != NULL, "%s", strerror(errno));
    (void)snprintf(path, sizeof path, "%s/hello.py", dir);
    (void)snprintf(runner, sizeof runner, "exec:%s", path);
}

static void tear_down(void)
{
    (void)unlink(path);
    EXPECT(rmdir(dir) == 0, "%s: %s", dir, strerror(errno));
    ck_assert_uint_eq(mem_live_total(), live_before);
}

static int try_event(const ExecTry *options, const char *event)
{
    FILE *in = fmemopen((char *)(uintptr_t)event, strlen(event), "r");
    memset(out_text, 0, sizeof out_text);
    memset(err_text, 0, sizeof err_text);
    FILE *out = fmemopen(out_text, sizeof out_text - 1, "w");
    FILE *err = fmemopen(err_text, sizeof err_text - 1, "w");
    EXPECT(in != NULL && out != NULL && err != NULL, "no memory");
    int rc = exec_try(options, in, out, err, message, sizeof message);
    (void)fclose(in);
    (void)fclose(out);
    (void)fclose(err);
    return rc;
}

START_TEST(what_a_program_would_do_is_shown_as_an_answer)
{
    write_program(
        "#!/usr/bin/python3\nimport sys, json\n"
        "for line in sys.stdin:\n    e = json.loads(line)\n    print('seen', e['type'], file=sys.stderr)\n"
        "    print(json.dumps({'id': e['id'], 'put': {'n': e['state']['n'] + e['body'], 'big': 1e19}, 'del': ['old'],\n"
        "      'reply': e['world'], 'tags': {'a': 'b'}, 'done': 7, 'failed': True, 'do': [\n"
        "      {'task': 't', 'ref': 'r', 'retry': {'attempts': 2}}, {'timer': 'x', 'after': '2s', 'body': 1},\n"
        "      {'timer': 'y', 'at': 1700000000000}, {'cancel': 'x'}]}))\n");
    ExecTry options = {.runner = runner};
    int rc = try_event(&options, "{\"body\":2,\"state\":{\"n\":40,\"old\":1},\"world\":\"w\"}");
    ck_assert_msg(rc == SAP_OK, "%d %s", rc, message);
    ck_assert_str_eq(message, "");
    ck_assert_str_eq(err_text, "seen message\n");
    ck_assert_str_eq(
        out_text,
        "{\n  \"put\": {\n    \"n\": 42,\n    \"big\": 1e19\n  },\n  \"del\": [\n    \"old\"\n  ],\n"
        "  \"tags\": {\n    \"a\": \"b\"\n  },\n  \"do\": [\n    {\n      \"effect\": \"task\",\n"
        "      \"params\": {\n        \"args\": null,\n        \"task\": \"t\"\n      },\n"
        "      \"ref\": \"r\",\n      \"retry\": {\n        \"attempts\": 2\n      }\n    },\n"
        "    {\n      \"timer\": \"x\",\n      \"after\": 2000,\n      \"body\": 1\n    },\n"
        "    {\n      \"timer\": \"y\",\n      \"at\": 1700000000000,\n      \"body\": null\n    },\n"
        "    {\n      \"cancel\": \"x\"\n    }\n  ],\n  \"reply\": \"w\",\n  \"done\": 7,\n"
        "  \"failed\": true\n}\n");
}
END_TEST

START_TEST(mistakes_are_explained)
{
    static const struct {
        const char *event;
        const char *says;
    } cases[] = {
        {"", "the event is not JSON: line 1, column 0"},
        {"[]", "the event must be an object, such as {\"type\":\"message\",\"name\":\"hi\"}"},
        {"{\"type\":\"messag\"}",
         "\"type\" must be one of message, create, receipt, timer, cancel, query"},
        {"{\"status\":\"no\"}", "\"status\" must be ok, error or timeout"},
        {"{\"state\":[]}", "\"state\" must be an object, and is an array"},
        {"{\"state\":{\"\":1}}", "\"state\": a key has 1 to 900 bytes, and a value up to 65536"},
    };
    ExecTry options = {.runner = runner};
    write_program("#!/bin/sh\nread line\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_int_eq(try_event(&options, cases[i].event), SAP_INVALID);
        ck_assert_str_eq(message, cases[i].says);
    }
    ck_assert_int_eq(try_event(&options, "{\"event\":1}"), SAP_INVALID);
    ck_assert_ptr_nonnull(strstr(
        message, "the event has the unknown field \"event\"; known are: type, world, name,"));
    ck_assert_int_eq(try_event(&options, "{}"), SAP_ERROR);
    ck_assert_str_eq(message, "hello.py exited with status 0 and did not answer");
    ck_assert_int_eq(chmod(path, 0644), 0);
    ck_assert_int_eq(try_event(&options, "{}"), SAP_INVALID);
    ck_assert_str_eq(message, "hello.py is not executable: chmod +x hello.py");
    options.runner = "exec:/no/such/program";
    ck_assert_int_eq(try_event(&options, "{}"), SAP_NOTFOUND);
    ck_assert_str_eq(message, "there is no program /no/such/program");
}
END_TEST

START_TEST(a_line_that_a_program_has_read_can_be_tried)
{
    write_program(
        "#!/usr/bin/python3\nimport sys, json\n"
        "for line in sys.stdin:\n    e = json.loads(line)\n    print(json.dumps({'id': e['id'], 'reply': [e['type'], e['name']]}))\n");
    ExecTry options = {.runner = runner};
    int rc = try_event(
        &options,
        "{\"v\":1,\"id\":\"w@7#1\",\"world\":\"w\",\"type\":\"query\",\"name\":\"n\",\"body\":null,"
        "\"now\":1700000000123,\"random\":\"00\",\"attempt\":3,\"state\":{}}");
    ck_assert_msg(rc == SAP_OK, "%d %s", rc, message);
    ck_assert_str_eq(out_text, "{\n  \"reply\": [\n    \"query\",\n    \"n\"\n  ]\n}\n");
}
END_TEST

static int on_native(SapWorld *world, const SapEvent *event)
{
    return sap_world_put(world, "name", 4, event->encoding, event->payload, event->payload_len);
}

SAP_WORLD_MODULE("tried", on_native);

START_TEST(a_native_handler_can_be_tried)
{
    ExecTry options = {.runner = "native:tried"};
    ck_assert_int_eq(try_event(&options, "{\"body\":{\"b64\":\"AAE=\"}}"), SAP_OK);
    ck_assert_str_eq(out_text,
                     "{\n  \"put\": {\n    \"name\": {\n      \"b64\": \"AAE=\"\n    }\n  }\n}\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("node_exec_try");
    TCase *tests = tcase_create("try");
    tcase_set_timeout(tests, TIMEOUT_S);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, what_a_program_would_do_is_shown_as_an_answer);
    tcase_add_test(tests, mistakes_are_explained);
    tcase_add_test(tests, a_line_that_a_program_has_read_can_be_tried);
    tcase_add_test(tests, a_native_handler_can_be_tried);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
