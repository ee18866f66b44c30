/* Who may do what over HTTP: every route by every credential, and requests that are none. */
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/api_modules.h"
#include "node/api_routes.h"
#include "support/expect.h"
#include "support/node_http_bed.h"
#include "support/suite.h"

enum { TIMEOUT_S = 240, NOBODY = 65534, TOKEN_SIZE = 80 };

static HttpBed bed;
static char reader[TOKEN_SIZE];
static char sender[TOKEN_SIZE];
static char admin[TOKEN_SIZE];
static char revoked[TOKEN_SIZE];

/* Who may use which route, said a second time: a route that is not here, or has another scope in the table of
 * routes, fails. */
static const struct {
    const char *scope;
    const char *route;
} expected[] = {
    {"open", "GET /healthz"},
    {"open", "GET /readyz"},
    {"read", "GET /metrics"},
    {"read", "GET /v1/status"},
    {"read", "GET /v1/modules"},
    {"read", "GET /v1/modules/{}"},
    {"admin", "PUT /v1/modules/{}"},
    {"send", "POST /v1/worlds"},
    {"read", "GET /v1/worlds"},
    {"read", "GET /v1/worlds/{}"},
    {"admin", "DELETE /v1/worlds/{}"},
    {"send", "POST /v1/worlds/{}/messages"},
    {"read", "GET /v1/worlds/{}/state"},
    {"read", "GET /v1/worlds/{}/journal"},
    {"read", "GET /v1/worlds/{}/outstanding"},
    {"read", "POST /v1/worlds/{}/query"},
    {"read", "GET /v1/worlds/{}/result"},
    {"admin", "POST /v1/worlds/{}/pause"},
    {"admin", "POST /v1/worlds/{}/resume"},
    {"admin", "POST /v1/worlds/{}/cancel"},
    {"admin", "POST /v1/worlds/{}/pin"},
    {"read", "GET /v1/worlds/{}/dead-letters"},
    {"read", "GET /v1/dead-letters"},
    {"admin", "POST /v1/dead-letters/replay"},
    {"admin", "POST /v1/dead-letters/drop"},
    {"read", "GET /v1/effects"},
    {"read", "GET /v1/effects/{}"},
    {"admin", "POST /v1/effects/{}/retry"},
    {"admin", "POST /v1/effects/{}/cancel"},
    {"admin", "POST /v1/effects/{}/receipt"},
    {"read", "GET /v1/timers"},
    {"admin", "POST /v1/timers/{}/cancel"},
    {"read", "GET /v1/leases"},
    {"read", "GET /v1/workers"},
    {"read", "GET /v1/assignments"},
    {"admin", "PUT /v1/assignments/{}"},
    {"admin", "DELETE /v1/assignments/{}"},
    {"admin", "GET /v1/tokens"},
    {"admin", "POST /v1/tokens"},
    {"admin", "DELETE /v1/tokens/{}"},
};

static void make_token(const char *scope, char out[TOKEN_SIZE], char *id_out)
{
    char body[128];
    (void)snprintf(body, sizeof body, "{\"scopes\":[\"%s\"],\"name\":\"of a test\"}", scope);
    json_t *json = http_bed_do(&bed, "POST", "/v1/tokens", body, 201);
    (void)snprintf(out, TOKEN_SIZE, "%s", json_string_value(json_object_get(json, "token")));
    if (id_out != NULL) {
        (void)snprintf(id_out, TOKEN_SIZE, "%s", json_string_value(json_object_get(json, "id")));
    }
    json_decref(json);
}

static void open_bed(void)
{
    char id[TOKEN_SIZE];
    char path[TOKEN_SIZE + 32];
    http_bed_open(&bed);
    bed.options.deadlines.headers_ms = 1500;
    http_bed_start_server(&bed);
    http_bed_make_world(&bed, "w1");
    make_token("read", reader, NULL);
    make_token("send", sender, NULL);
    make_token("admin", admin, NULL);
    make_token("admin", revoked, id);
    (void)snprintf(path, sizeof path, "/v1/tokens/%s", id);
    json_decref(http_bed_do(&bed, "DELETE", path, NULL, 200));
}

static void close_bed(void)
{
    http_bed_close(&bed);
}

/* A request to the route with a name that nothing has, so that it changes nothing. */
static void ask_route(const Route *route, const HttpAsk *ask, HttpAnswer *answer)
{
    char path[256];
    const char *mark = strstr(route->path, "{}");
    bool has_body = strcmp(route->method, "POST") == 0 || strcmp(route->method, "PUT") == 0;
    (void)snprintf(path, sizeof path, "%.*s%s%s",
                   mark == NULL ? (int)strlen(route->path) : (int)(mark - route->path), route->path,
                   mark == NULL ? "" : "nothing%20there", mark == NULL ? "" : mark + 2);
    http_ask(&bed, ask, route->method, path, has_body ? "{}" : NULL, answer);
}

static const char *scope_of(const Route *route)
{
    return route->scope == SCOPE_OPEN   ? "open"
           : route->scope == SCOPE_READ ? "read"
           : route->scope == SCOPE_SEND ? "send"
                                        : "admin";
}

/* Expects of every route that it is refused with this status and code, or let through where `allowed` says so:
 * "all", "" or scopes. */
static void expect_all(const char *who, const HttpAsk *ask, const char *allowed, int status,
                       const char *code)
{
    size_t count = 0;
    const Route *routes = api_routes(&count);
    for (size_t i = 0; i < count; i++) {
        HttpAnswer answer;
        bool may = strcmp(allowed, "all") == 0 || api_names_have(allowed, scope_of(&routes[i]));
        ask_route(&routes[i], ask, &answer);
        if (may) {
            EXPECT(answer.status != 0 && answer.status != 401 && answer.status != 403,
                   "%s %s for %s answered %d %s", routes[i].method, routes[i].path, who,
                   answer.status, answer.body);
        } else {
            EXPECT(answer.status == status && strcmp(http_answer_code(&answer), code) == 0,
                   "%s %s for %s answered %d %s instead of %d", routes[i].method, routes[i].path,
                   who, answer.status, answer.body == NULL ? "" : answer.body, status);
        }
        http_answer_free(&answer);
    }
}

START_TEST(every_route_is_in_the_table_of_scopes)
{
    size_t count = 0;
    const Route *routes = api_routes(&count);
    ck_assert_uint_eq(count, sizeof expected / sizeof expected[0]);
    for (size_t i = 0; i < count; i++) {
        char name[128];
        (void)snprintf(name, sizeof name, "%s %s", routes[i].method, routes[i].path);
        bool found = false;
        for (size_t e = 0; e < count; e++) {
            found |= strcmp(expected[e].route, name) == 0 &&
                     strcmp(expected[e].scope, scope_of(&routes[i])) == 0;
        }
        EXPECT(found, "%s with the scope %s is not expected", name, scope_of(&routes[i]));
    }
}
END_TEST

START_TEST(without_a_token_only_the_open_routes_answer)
{
    HttpAsk none = {.token = ""};
    expect_all("nobody", &none, "open", 401, "needs_token");
}
END_TEST

START_TEST(a_wrong_token_is_no_token)
{
    HttpAsk wrong = {.token = "sapling_12345678_0123456789abcdef0123456789abcdef"};
    HttpAsk gone = {.token = revoked};
    HttpAsk basic = {.headers = "Authorization: Basic c2FwOnNhcA==\r\n"};
    char cut[TOKEN_SIZE];
    (void)snprintf(cut, sizeof cut, "%.*s", (int)strlen(admin) - 1, admin);
    HttpAsk shorter = {.token = cut};
    expect_all("a wrong token", &wrong, "open", 401, "needs_token");
    expect_all("a revoked token", &gone, "open", 401, "needs_token");
    expect_all("another scheme", &basic, "open", 401, "needs_token");
    expect_all("a part of a token", &shorter, "open", 401, "needs_token");
}
END_TEST

START_TEST(each_scope_opens_its_routes_and_no_others)
{
    HttpAsk read = {.token = reader};
    HttpAsk send = {.token = sender};
    HttpAsk all = {.token = admin};
    HttpAsk first = {.token = bed.token};
    expect_all("read", &read, "open read", 403, "needs_scope");
    expect_all("send", &send, "open send", 403, "needs_scope");
    expect_all("admin", &all, "all", 0, "");
    expect_all("the first token", &first, "all", 0, "");
}
END_TEST

START_TEST(the_same_user_needs_no_token_on_the_socket)
{
    HttpAsk local = {.local = true};
    expect_all("the same user", &local, "all", 0, "");
}
END_TEST

START_TEST(under_another_host_name_nothing_answers)
{
    static const char *const hosts[] = {"evil.example",
                                        "localhost.evil.example",
                                        "127.0.0.1.evil.example",
                                        "localhost:80:80",
                                        "",
                                        "[::2]",
                                        "localhost:x"};
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        HttpAsk ask = {.token = admin, .host = hosts[i]};
        HttpAsk local = {.local = true, .host = hosts[i]};
        expect_all("another host", &ask, "", 403, "bad_host");
        expect_all("another host on the socket", &local, "", 403, "bad_host");
    }
    static const char *const good[] = {"localhost", "LOCALHOST:7227", "127.0.0.1:1", "[::1]",
                                       "[::1]:80"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        HttpAsk ask = {.token = admin, .host = good[i]};
        HttpAnswer answer;
        http_ask(&bed, &ask, "GET", "/v1/status", NULL, &answer);
        EXPECT(answer.status == 200, "%s is this machine", good[i]);
        http_answer_free(&answer);
    }
}
END_TEST

START_TEST(pages_of_other_sites_get_nothing)
{
    static const char *const origins[] = {
        "Origin: http://evil.example\r\n", "Origin: null\r\n", "Origin: https://localhost\r\n",
        "Origin: http://localhost:81\r\n", "Origin: http://localhost.evil.example\r\n"};
    for (size_t i = 0; i < sizeof origins / sizeof origins[0]; i++) {
        HttpAsk ask = {.token = admin, .headers = origins[i]};
        expect_all("another origin", &ask, "", 403, "bad_origin");
    }
    HttpAsk same = {.token = admin, .headers = "Origin: http://localhost\r\n"};
    HttpAnswer answer;
    http_ask(&bed, &same, "GET", "/v1/status", NULL, &answer);
    ck_assert_int_eq(answer.status, 200);
    ck_assert_ptr_null(strcasestr(answer.head, "access-control"));
    http_answer_free(&answer);
}
END_TEST

START_TEST(a_configured_name_is_accepted)
{
    static const char *const names[] = {"node.example"};
    HttpAsk ask = {.local = true, .host = "node.example:7227"};
    HttpAnswer answer;
    http_bed_stop_server(&bed);
    bed.options.names = names;
    bed.options.name_count = 1;
    http_bed_start_server(&bed);
    http_ask(&bed, &ask, "GET", "/v1/status", NULL, &answer);
    ck_assert_int_eq(answer.status, 200);
    http_answer_free(&answer);
}
END_TEST

/* Runs in a child that is another user. */
static int ask_as_another(const char *allowed)
{
    HttpAsk local = {.local = true};
    if (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0) {
        return 77;
    }
    expect_all("another user", &local, allowed, 401, "needs_token");
    HttpAsk with_token = {.local = true, .token = reader};
    expect_all("another user with a token", &with_token, "open read",
               strcmp(allowed, "all") == 0 ? 0 : 403, "needs_scope");
    return 0;
}

static int run_as_another(const char *allowed)
{
    char socket_path[FILES_PATH_MAX + 16];
    int status = 0;
    (void)snprintf(socket_path, sizeof socket_path, "%s/node.sock", bed.file.dir);
    ck_assert_int_eq(chmod(bed.file.dir, 0755), 0);
    ck_assert_int_eq(chmod(socket_path, 0666), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        _exit(ask_as_another(allowed));
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    EXPECT(WIFEXITED(status), "the other user's requests ended as they should");
    return WEXITSTATUS(status);
}

START_TEST(another_user_on_the_socket_needs_a_token)
{
    if (geteuid() != 0) {
        printf("another user: skipped, needs root\n");
        return;
    }
    ck_assert_int_eq(run_as_another("open"), 0);
}
END_TEST

START_TEST(the_socket_and_its_tokens_are_for_their_owner)
{
    static const char *const names[] = {"node.sock", "token", "tokens"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[FILES_PATH_MAX + 16];
        struct stat st;
        (void)snprintf(path, sizeof path, "%s/%s", bed.file.dir, names[i]);
        ck_assert_int_eq(stat(path, &st), 0);
        EXPECT((st.st_mode & 0777) == 0600, "%s has the mode %o", names[i], st.st_mode & 0777);
    }
}
END_TEST

START_TEST(a_route_that_is_not_there_says_so_to_those_who_may_ask)
{
    HttpAsk none = {.token = ""};
    HttpAsk read = {.token = reader};
    HttpAnswer answer;
    http_ask(&bed, &none, "GET", "/v1/world", NULL, &answer);
    ck_assert_int_eq(answer.status, 401);
    http_answer_free(&answer);
    static const char *const paths[] = {
        "/v1/world",      "/",          "/v1/worlds/", "/v1/worlds//messages",
        "/v1/worlds/a/b", "/v2/worlds", "*",           "/v1/worlds/a/messages/"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        http_ask(&bed, &read, "GET", paths[i], NULL, &answer);
        EXPECT(answer.status == 404 && strcmp(http_answer_code(&answer), "unknown_route") == 0,
               "GET %s answered %d", paths[i], answer.status);
        http_answer_free(&answer);
    }
    http_ask(&bed, &read, "GET", "/v1/world", NULL, &answer);
    EXPECT(strstr(answer.body, "/v1/worlds") != NULL, "it names the nearest: %s", answer.body);
    http_answer_free(&answer);
}
END_TEST

START_TEST(another_method_is_405_with_those_that_there_are)
{
    HttpAsk all = {.token = admin};
    HttpAnswer answer;
    static const char *const methods[] = {"PATCH", "OPTIONS", "TRACE", "BREW", "PUT"};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        http_ask(&bed, &all, methods[i], "/v1/worlds", NULL, &answer);
        EXPECT(answer.status == 405 && strcmp(http_answer_code(&answer), "method") == 0,
               "%s answered %d", methods[i], answer.status);
        EXPECT(strstr(answer.head, "Allow: POST, GET") != NULL, "it says which: %s", answer.head);
        http_answer_free(&answer);
    }
}
END_TEST

START_TEST(a_token_does_not_appear_in_any_answer)
{
    HttpAsk all = {.token = admin};
    static const char *const paths[] = {"/v1/tokens", "/v1/status", "/metrics", "/v1/nothing"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        HttpAnswer answer;
        http_ask(&bed, &all, "GET", paths[i], NULL, &answer);
        EXPECT(answer.status != 0 && strstr(answer.body, admin + 20) == NULL, "%s shows a token",
               paths[i]);
        http_answer_free(&answer);
    }
}
END_TEST

/* ---- Modules --------------------------------------------------------------------------------- */

START_TEST(programs_are_registered_by_the_socket_or_by_modules_allow)
{
    HttpAsk all = {.token = admin};
    HttpAnswer answer;
    http_ask(&bed, &all, "PUT", "/v1/modules/evil", "{\"runner\":\"exec:/bin/sh\"}", &answer);
    ck_assert_int_eq(answer.status, 403);
    ck_assert_str_eq(http_answer_code(&answer), "module_not_allowed");
    http_answer_free(&answer);
    http_ask(&bed, &all, "PUT", "/v1/modules/evil", "{\"runner\":\"native:desk\"}", &answer);
    ck_assert_int_eq(answer.status, 403);
    http_answer_free(&answer);
    json_decref(http_bed_do(&bed, "PUT", "/v1/modules/good", "{\"runner\":\"exec:/bin/sh\"}", 200));
}
END_TEST

START_TEST(modules_allow_means_the_whole_command_by_its_resolved_path)
{
    char good[FILES_PATH_MAX + 32];
    char with_argument[FILES_PATH_MAX + 64];
    char by_link[FILES_PATH_MAX + 32];
    char command[FILES_PATH_MAX * 2];
    char path[FILES_PATH_MAX + 16];
    char link_path[FILES_PATH_MAX + 16];
    (void)snprintf(path, sizeof path, "%s/program", bed.file.dir);
    (void)snprintf(link_path, sizeof link_path, "%s/link", bed.file.dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(close(fd), 0);
    ck_assert_int_eq(symlink(path, link_path), 0);
    (void)snprintf(good, sizeof good, "exec:%s", path);
    (void)snprintf(with_argument, sizeof with_argument, "exec:%s --all", path);
    (void)snprintf(by_link, sizeof by_link, "exec:%s", link_path);
    const char *lines[] = {good};
    ck_assert(api_runner_allowed(good, lines, 1));
    ck_assert(api_runner_allowed(by_link, lines, 1));
    ck_assert(!api_runner_allowed(with_argument, lines, 1));
    ck_assert(!api_runner_allowed("exec:/bin/sh", lines, 1));
    ck_assert(!api_runner_allowed("exec:", lines, 1));
    ck_assert(!api_runner_allowed("", lines, 1));
    (void)snprintf(command, sizeof command, "exec:%s  --all", path);
    const char *longer[] = {with_argument};
    ck_assert(api_runner_allowed(command, longer, 1));
    ck_assert(!api_runner_allowed(good, longer, 1));
    (void)snprintf(command, sizeof command, "exec:%s '--all'", path);
    ck_assert(api_runner_allowed(command, longer, 1));
    (void)snprintf(command, sizeof command, "exec:%s '--all '", path);
    ck_assert(!api_runner_allowed(command, longer, 1));
    (void)snprintf(command, sizeof command, "exec:/bin/sh %s", path);
    const char *script[] = {command};
    ck_assert(api_runner_allowed(command, script, 1));
    ck_assert_int_eq(chmod(path, 0722), 0);
    ck_assert(!api_runner_allowed(good, lines, 1)); /* others can write it */
    ck_assert(!api_runner_allowed(command, script, 1));
    ck_assert_int_eq(unlink(link_path), 0);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

/* ---- Bad input ------------------------------------------------------------------------------- */

typedef struct BadInput {
    const char *method;
    const char *path;
    const char *body;
    int status;
    const char *code;
    const char *says; /* a part of the message */
} BadInput;

static const BadInput bad_inputs[] = {
    {"POST", "/v1/worlds", "{\"world\":", 400, "bad_request", "not JSON"},
    {"POST", "/v1/worlds", "", 400, "bad_request", "\"world\" is missing"},
    {"POST", "/v1/worlds", "[]", 400, "bad_request", "not an object"},
    {"POST", "/v1/worlds", "1 2", 400, "bad_request", "not JSON"},
    {"POST", "/v1/worlds", "{\"world\":\"a\",\"world\":\"b\"}", 400, "bad_request", "twice"},
    {"POST", "/v1/worlds", "{\"world\":\"a\"}", 400, "bad_request", "\"module\" is missing"},
    {"POST", "/v1/worlds", "{\"world\":1,\"module\":\"desk\"}", 400, "bad_request", "\"world\""},
    {"POST", "/v1/worlds", "{\"world\":\"\",\"module\":\"desk\"}", 400, "bad_request", "\"world\""},
    {"POST", "/v1/worlds", "{\"world\":\"a\\u0000b\",\"module\":\"desk\"}", 400, "bad_request",
     "NUL"},
    {"POST", "/v1/worlds", "{\"world\":\"a\\nb\",\"module\":\"desk\"}", 400, "bad_request",
     "not valid"},
    {"POST", "/v1/worlds", "{\"world\":\"a\",\"module\":\"none\"}", 404, "unknown_module", "PUT"},
    {"POST", "/v1/worlds", "{\"world\":\"w1\",\"module\":\"desk\"}", 409, "world_exists", "w1"},
    {"POST", "/v1/worlds", "{\"world\":\"a\",\"module\":\"desk\",\"size\":1}", 400, "unknown_field",
     "size"},
    {"POST", "/v1/worlds/w1/messages", "{\"nam\":\"x\"}", 400, "unknown_field", "\"nam\""},
    {"POST", "/v1/worlds/w1/messages", "{\"name\":7}", 400, "bad_request", "\"name\""},
    {"POST", "/v1/worlds/w1/messages", "{\"priority\":-1}", 400, "bad_request", "\"priority\""},
    {"POST", "/v1/worlds/w1/messages", "{\"priority\":1.5}", 400, "bad_request", "\"priority\""},
    {"POST", "/v1/worlds/w1/messages", "{\"id\":\"key:uid:0:x\"}", 400, "bad_request", "\"id\""},
    {"POST", "/v1/worlds/w1/messages", "{\"encoding\":\"xml\"}", 400, "bad_request",
     "\"encoding\""},
    {"POST", "/v1/worlds/w1/messages", "{\"encoding\":\"raw\"}", 400, "bad_request", "b64"},
    {"POST", "/v1/worlds/w1/messages", "{\"encoding\":\"raw\",\"body\":\"x\"}", 400, "bad_request",
     "b64"},
    {"POST", "/v1/worlds/w1/messages", "{\"encoding\":\"raw\",\"body\":{\"b64\":\"x\"}}", 400,
     "bad_request", "base64"},
    {"POST", "/v1/worlds/w1/messages", "{\"encoding\":\"cbor\",\"body\":{\"b64\":\"/w==\"}}", 400,
     "bad_request", "payload"},
    {"POST", "/v1/worlds/w1/messages?wait=soon", "{}", 400, "bad_request", "wait"},
    {"POST", "/v1/worlds/w1/messages?wait=-1s", "{}", 400, "bad_request", "wait"},
    {"POST", "/v1/worlds/w1/messages?wait=99999999999999999999s", "{}", 400, "bad_request", "wait"},
    {"POST", "/v1/worlds/w1/messages?weight=1", "{}", 400, "unknown_field", "weight"},
    {"POST", "/v1/worlds/none/messages", "{}", 404, "unknown_world", "none"},
    {"POST", "/v1/worlds/%ff/messages", "{}", 400, "bad_request", "path"},
    {"POST", "/v1/worlds/a%00b/messages", "{}", 400, "bad_request", "path"},
    {"POST", "/v1/worlds/a%0ab/messages", "{}", 400, "bad_request", "not"},
    {"POST", "/v1/worlds/%zz/messages", "{}", 400, "bad_request", "path"},
    {"POST", "/v1/worlds/none/messages", "{\"module\":\"none\"}", 404, "unknown_module", "none"},
    {"GET", "/v1/worlds/none", NULL, 404, "unknown_world", "none"},
    {"GET", "/v1/worlds?limit=x", NULL, 400, "bad_request", "limit"},
    {"GET", "/v1/worlds?limit=1001", NULL, 400, "bad_request", "limit"},
    {"GET", "/v1/worlds?limit=1&limit=2", NULL, 400, "bad_request", "twice"},
    {"GET", "/v1/worlds?after=zz", NULL, 400, "bad_request", "after"},
    {"GET", "/v1/worlds?status=tired", NULL, 400, "bad_request", "paused"},
    {"GET", "/v1/worlds?prefix=%ff", NULL, 400, "bad_request", "UTF-8"},
    {"GET", "/v1/worlds/w1/state?step=9999999", NULL, 404, "not_found", "step"},
    {"GET", "/v1/worlds/w1/state?after=xyz", NULL, 400, "bad_request", "after"},
    {"GET", "/v1/worlds/none/state", NULL, 404, "unknown_world", "none"},
    {"GET", "/v1/worlds/none/journal", NULL, 404, "unknown_world", "none"},
    {"GET", "/v1/worlds/none/outstanding", NULL, 404, "unknown_world", "none"},
    {"GET", "/v1/worlds/none/result", NULL, 404, "unknown_world", "none"},
    {"POST", "/v1/worlds/none/query", "{}", 404, "unknown_world", "none"},
    {"POST", "/v1/worlds/none/pause", "{}", 404, "unknown_world", "none"},
    {"POST", "/v1/worlds/w1/resume", "{\"skip\":true}", 409, "conflict", "skip"},
    {"POST", "/v1/worlds/w1/resume", "{\"skip\":1}", 400, "bad_request", "skip"},
    {"DELETE", "/v1/worlds/none", NULL, 404, "unknown_world", "none"},
    {"GET", "/v1/modules/none", NULL, 404, "unknown_module", "none"},
    {"PUT", "/v1/modules/desk", "{}", 400, "bad_request", "runner"},
    {"PUT", "/v1/modules/desk", "{\"runner\":\"native:desk\",\"state\":\"some\"}", 400,
     "bad_request", "state"},
    {"PUT", "/v1/modules/desk", "{\"runner\":\"native:desk\",\"settings\":[]}", 400, "bad_request",
     "settings"},
    {"GET", "/v1/effects/xy", NULL, 400, "bad_request", "hash"},
    {"GET", "/v1/effects?state=odd", NULL, 400, "bad_request", "pending"},
    {"GET", "/v1/effects/0000000000000000000000000000000000000000000000000000000000000000", NULL,
     404, "not_found", "effect"},
    {"POST", "/v1/effects/0000000000000000000000000000000000000000000000000000000000000000/retry",
     "{\"world\":\"w1\"}", 404, "not_found", "outstanding"},
    {"POST", "/v1/effects/0000000000000000000000000000000000000000000000000000000000000000/receipt",
     "{\"world\":\"w1\",\"status\":\"good\"}", 400, "bad_request", "status"},
    {"POST", "/v1/timers/0000000000000000000000000000000000000000000000000000000000000000/cancel",
     "{\"world\":\"w1\"}", 404, "not_found", "timer"},
    {"POST", "/v1/dead-letters/replay", "{}", 400, "bad_request", "letters"},
    {"POST", "/v1/dead-letters/replay", "{\"letters\":[{}]}", 400, "bad_request", "letter 0"},
    {"POST", "/v1/dead-letters/drop", "{\"letters\":[],\"all\":true}", 400, "bad_request", "which"},
    {"PUT", "/v1/assignments/w1", "{\"worker\":\"none\"}", 404, "not_found", "worker"},
    {"PUT", "/v1/assignments/none", "{\"worker\":\"worker-1\"}", 404, "unknown_world", "none"},
    {"POST", "/v1/tokens", "{\"scopes\":[]}", 400, "bad_request", "scopes"},
    {"POST", "/v1/tokens", "{\"scopes\":[\"root\"]}", 400, "bad_request", "scopes"},
    {"POST", "/v1/tokens", "{\"scopes\":\"read\"}", 400, "bad_request", "scopes"},
    {"DELETE", "/v1/tokens/none", NULL, 404, "not_found", "none"},
};

START_TEST(bad_input_gets_the_right_status_and_says_what_to_do)
{
    HttpAsk local = {.local = true};
    size_t count = sizeof bad_inputs / sizeof bad_inputs[0];
    for (size_t i = 0; i < count; i++) {
        const BadInput *bad = &bad_inputs[i];
        HttpAnswer answer;
        http_ask(&bed, &local, bad->method, bad->path, bad->body, &answer);
        const char *message = json_string_value(json_object_get(answer.json, "message"));
        EXPECT(answer.status == bad->status && strcmp(http_answer_code(&answer), bad->code) == 0,
               "%s %s %s answered %d %s", bad->method, bad->path,
               bad->body == NULL ? "" : bad->body, answer.status,
               answer.body == NULL ? "" : answer.body);
        EXPECT(message != NULL && strstr(message, bad->says) != NULL, "%s %s %s says %s",
               bad->method, bad->path, bad->body == NULL ? "" : bad->body, message);
        EXPECT(json_is_object(json_object_get(answer.json, "detail")), "there is a detail");
        http_answer_free(&answer);
    }
    printf("bad input: %zu requests\n", count);
    json_t *world = http_bed_do(&bed, "GET", "/v1/worlds/w1", NULL, 200);
    ck_assert_int_le(json_integer_value(json_object_get(world, "step")),
                     1); /* the creation's alone */
    json_decref(world);
}
END_TEST

/* Sends bytes, and returns the status of the answer; 0: the connection ended. */
static int send_raw(const char *bytes, size_t len)
{
    HttpAnswer answer = {.status = 0};
    int fd = http_bed_connect(&bed, true);
    ck_assert_int_ge(fd, 0);
    (void)http_send_all(fd, bytes, len);
    http_read_answer(fd, &answer);
    int status = answer.status;
    http_answer_free(&answer);
    (void)close(fd);
    return status;
}

START_TEST(bytes_that_are_no_utf8_and_nul_are_refused)
{
    static const char utf8[] = "POST /v1/worlds HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                               "application/json\r\nContent-Length: 13\r\n\r\n{\"world\":\"\xff\"}";
    static const char nul[] = "POST /v1/worlds HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                              "application/json\r\nContent-Length: 3\r\n\r\n{\0}";
    ck_assert_int_eq(send_raw(utf8, sizeof utf8 - 1), 400);
    ck_assert_int_eq(send_raw(nul, sizeof nul - 1), 400);
}
END_TEST

START_TEST(another_content_type_is_told_to_send_json)
{
    static const char *const types[] = {"Content-Type: text/plain\r\n",
                                        "Content-Type: application/jsonp\r\n",
                                        "Content-Type: application/x-www-form-urlencoded\r\n", ""};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char text[256];
        int len = snprintf(text, sizeof text,
                           "POST /v1/worlds/w1/messages HTTP/1.1\r\nHost: localhost\r\n%s"
                           "Content-Length: 2\r\n\r\n{}",
                           types[i]);
        ck_assert_int_eq(send_raw(text, (size_t)len), 415);
    }
    static const char charset[] =
        "POST /v1/worlds/w1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
        "application/json; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}";
    ck_assert_int_eq(send_raw(charset, sizeof charset - 1), 202);
}
END_TEST

START_TEST(requests_that_are_none_end_the_connection_or_are_refused)
{
    static const char *const texts[] = {
        "\r\n\r\n\r\n",
        "GET\r\n\r\n",
        "GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n",
        "GET /healthz HTTP/1.1\r\n\r\n", /* no Host */
        "POST /v1/worlds HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        "POST /v1/worlds HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "POST /v1/worlds HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
        "GET /healthz\r\nHost : localhost\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        int status = send_raw(texts[i], strlen(texts[i]));
        EXPECT(status == 0 || status >= 400, "text %zu answered %d", i, status);
    }
    json_decref(http_bed_do(&bed, "GET", "/v1/status", NULL, 200));
}
END_TEST

START_TEST(a_body_above_the_limit_is_413_before_it_is_sent)
{
    static const char announced[] =
        "POST /v1/worlds/w1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
        "application/json\r\nContent-Length: 99999999\r\n\r\n";
    static const char plain[] =
        "POST /v1/worlds/w1/pause HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
        "application/json\r\nContent-Length: 1000000\r\n\r\n";
    ck_assert_int_eq(send_raw(announced, sizeof announced - 1), 413);
    ck_assert_int_eq(send_raw(plain, sizeof plain - 1), 413);
}
END_TEST

START_TEST(a_body_in_pieces_above_the_limit_is_413_or_cut)
{
    enum { PIECES = 10, PIECE = 64 << 10 };
    static const char head[] =
        "POST /v1/worlds/w1/pause HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
        "application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    char *piece = (char *)malloc(PIECE + 16);
    HttpAnswer answer = {.status = 0};
    ck_assert_ptr_nonnull(piece);
    int len = snprintf(piece, 16, "%x\r\n", PIECE);
    memset(piece + len, 'x', PIECE);
    memcpy(piece + len + PIECE, "\r\n", 2);
    int fd = http_bed_connect(&bed, true);
    bool sent = http_send_all(fd, head, sizeof head - 1);
    for (int i = 0; i < PIECES && sent; i++) {
        sent = http_send_all(fd, piece, (size_t)len + PIECE + 2);
    }
    if (sent && http_send_all(fd, "0\r\n\r\n", 5)) {
        http_read_answer(fd, &answer);
    }
    EXPECT(answer.status == 0 || answer.status == 413, "it answered %d", answer.status);
    http_answer_free(&answer);
    (void)close(fd);
    free(piece);
}
END_TEST

START_TEST(a_payload_above_its_limit_is_413)
{
    size_t len = (size_t)SAP_WORLD_MAX_PAYLOAD + 1000;
    char *body = (char *)malloc(len + 64);
    HttpAsk local = {.local = true};
    HttpAnswer answer;
    ck_assert_ptr_nonnull(body);
    int at = snprintf(body, 64, "{\"body\":\"");
    memset(body + at, 'x', len);
    memcpy(body + (size_t)at + len, "\"}", 3);
    http_ask(&bed, &local, "POST", "/v1/worlds/w1/messages", body, &answer);
    ck_assert_int_eq(answer.status, 413);
    ck_assert_str_eq(http_answer_code(&answer), "too_large");
    http_answer_free(&answer);
    memcpy(body + at + SAP_WORLD_MAX_PAYLOAD / 2, "\"}", 3);
    http_ask(&bed, &local, "POST", "/v1/worlds/w1/messages", body, &answer);
    ck_assert_int_eq(answer.status, 202);
    http_answer_free(&answer);
    free(body);
}
END_TEST

START_TEST(long_headers_are_refused)
{
    size_t len = 100000;
    char *text = (char *)malloc(len + 128);
    ck_assert_ptr_nonnull(text);
    int at = snprintf(text, 128, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: ");
    memset(text + at, 'x', len);
    memcpy(text + (size_t)at + len, "\r\n\r\n", 5);
    int status = send_raw(text, strlen(text));
    EXPECT(status == 0 || (status >= 400 && status < 500), "long headers answered %d", status);
    free(text);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("node_http_guard");
    TCase *guard = tcase_create("guard");
    tcase_set_timeout(guard, TIMEOUT_S);
    tcase_add_checked_fixture(guard, open_bed, close_bed);
    tcase_add_test(guard, every_route_is_in_the_table_of_scopes);
    tcase_add_test(guard, without_a_token_only_the_open_routes_answer);
    tcase_add_test(guard, a_wrong_token_is_no_token);
    tcase_add_test(guard, each_scope_opens_its_routes_and_no_others);
    tcase_add_test(guard, the_same_user_needs_no_token_on_the_socket);
    tcase_add_test(guard, under_another_host_name_nothing_answers);
    tcase_add_test(guard, pages_of_other_sites_get_nothing);
    tcase_add_test(guard, a_configured_name_is_accepted);
    tcase_add_test(guard, another_user_on_the_socket_needs_a_token);
    tcase_add_test(guard, the_socket_and_its_tokens_are_for_their_owner);
    tcase_add_test(guard, a_route_that_is_not_there_says_so_to_those_who_may_ask);
    tcase_add_test(guard, another_method_is_405_with_those_that_there_are);
    tcase_add_test(guard, a_token_does_not_appear_in_any_answer);
    tcase_add_test(guard, programs_are_registered_by_the_socket_or_by_modules_allow);
    tcase_add_test(guard, modules_allow_means_the_whole_command_by_its_resolved_path);
    suite_add_tcase(suite, guard);
    TCase *input = tcase_create("bad input");
    tcase_set_timeout(input, TIMEOUT_S);
    tcase_add_checked_fixture(input, open_bed, close_bed);
    tcase_add_test(input, bad_input_gets_the_right_status_and_says_what_to_do);
    tcase_add_test(input, bytes_that_are_no_utf8_and_nul_are_refused);
    tcase_add_test(input, another_content_type_is_told_to_send_json);
    tcase_add_test(input, requests_that_are_none_end_the_connection_or_are_refused);
    tcase_add_test(input, a_body_above_the_limit_is_413_before_it_is_sent);
    tcase_add_test(input, a_body_in_pieces_above_the_limit_is_413_or_cut);
    tcase_add_test(input, a_payload_above_its_limit_is_413);
    tcase_add_test(input, long_headers_are_refused);
    suite_add_tcase(suite, input);
    return suite;
}

int main(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    return suite_run(make_suite());
}
