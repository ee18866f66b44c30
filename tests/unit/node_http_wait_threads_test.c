/* Callers that wait, clients that are slow, and a server that stops, also while others send garbage. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/config.h"
#include "common/random.h"
#include "common/sync.h"
#include "support/expect.h"
#include "support/node_http_bed.h"
#include "support/suite.h"

enum {
    TIMEOUT_S = 240,
    CALLERS = SAP_SANITIZED ? 200 : 1000,
    LOAD_THREADS = 4,
    LOAD_REQUESTS = SAP_SANITIZED ? 100 : 500,
    GARBAGE_THREADS = 3,
};

#define MS_NS UINT64_C(1000000)

static HttpBed bed;
static int callers[CALLERS];

static void pause_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&pause, NULL);
}

static void open_bed(void)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    http_bed_open(&bed);
    bed.options.deadlines = (HttpDeadlines){.headers_ms = 5000};
}

static void close_bed(void)
{
    http_bed_close(&bed);
}

/* Threads of the server: by their names, since workers and the engine start theirs when they like. */
static int count_threads(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(tasks);
    for (const struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks)) {
        char path[300];
        char name[32] = "";
        (void)snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        FILE *file = fopen(path, "r");
        if (file != NULL) {
            (void)fgets(name, sizeof name, file);
            (void)fclose(file);
        }
        count += strncmp(name, "http-", 5) == 0 || strncmp(name, "MHD-", 4) == 0;
    }
    ck_assert_int_eq(closedir(tasks), 0);
    return count;
}

static int64_t gauge_now(const char *name)
{
    HttpAsk local = {.local = true};
    HttpAnswer answer;
    char line[64];
    http_ask(&bed, &local, "GET", "/metrics", NULL, &answer);
    EXPECT(answer.status == 200, "there are metrics");
    (void)snprintf(line, sizeof line, "\n%s ", name);
    const char *at = strstr(answer.body, line);
    EXPECT(at != NULL, "there is %s", name);
    int64_t value = strtoll(at + strlen(line), NULL, 10);
    http_answer_free(&answer);
    return value;
}

/* Sends a message of its own for each caller, who waits. */
static void start_callers(int count, const char *wait)
{
    for (int i = 0; i < count; i++) {
        char text[512];
        char body[64];
        int body_len = snprintf(body, sizeof body, "{\"body\":{\"caller\":%d}}", i);
        int len = snprintf(text, sizeof text,
                           "POST /v1/worlds/w1/messages?wait=%s HTTP/1.1\r\nHost: localhost\r\n"
                           "Authorization: Bearer %s\r\nContent-Type: application/json\r\n"
                           "Idempotency-Key: caller-%d\r\nContent-Length: %d\r\n\r\n%s",
                           wait, bed.token, i, body_len, body);
        callers[i] = http_bed_connect(&bed, false);
        EXPECT(callers[i] >= 0 && http_send_all(callers[i], text, (size_t)len), "caller %d sends",
               i);
    }
}

/* Until so many requests have no answer yet; the one that asks is one of them. */
static void await_active(int count)
{
    uint64_t start_ns = clock_mono_ns(NULL);
    while (gauge_now("sapling_http_active") != count + 1) {
        EXPECT(clock_mono_ns(NULL) - start_ns < 60000 * MS_NS, "%d requests wait", count);
        pause_ms(5);
    }
}

/* Until the world has handled so many messages, and nothing waits any more. */
static void await_count(int count)
{
    int handled = 0;
    json_int_t left = 1;
    for (int i = 0; i < 3000 && (handled < count || left > 0); i++) {
        json_t *reply = http_bed_do(&bed, "POST", "/v1/worlds/w1/query", "{}", 200);
        json_t *info = http_bed_do(&bed, "GET", "/v1/worlds/w1", NULL, 200);
        handled = (int)json_integer_value(json_object_get(reply, "reply"));
        left = json_integer_value(json_object_get(json_object_get(info, "inbox"), "messages"));
        json_decref(reply);
        json_decref(info);
        pause_ms(10);
    }
    EXPECT(handled == count, "%d messages were handled instead of %d", handled, count);
}

static void end_callers(int count)
{
    for (int i = 0; i < count; i++) {
        (void)close(callers[i]);
    }
}

START_TEST(a_thousand_callers_wait_with_at_most_16_threads)
{
    http_bed_start_server(&bed);
    http_bed_make_world(&bed, "w1");
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/pause", "{\"reason\":\"a test\"}", 200));
    start_callers(CALLERS, "1m");
    await_active(CALLERS);
    int threads = count_threads();
    EXPECT(threads >= 10 && threads <= HTTP_THREADS, "%d threads", threads);
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/resume", "{}", 200));
    for (int i = 0; i < CALLERS; i++) {
        HttpAnswer answer;
        http_read_answer(callers[i], &answer);
        EXPECT(answer.status == 200, "caller %d got %d %s", i, answer.status, answer.body);
        const json_t *reply = json_object_get(answer.json, "reply");
        EXPECT(json_integer_value(json_object_get(reply, "caller")) == i,
               "caller %d got the reply to another: %s", i, answer.body);
        http_answer_free(&answer);
    }
    printf("waiting: %d callers, %d threads\n", CALLERS, threads);
    end_callers(CALLERS);
}
END_TEST

START_TEST(a_server_that_stops_ends_waiting_callers_with_503)
{
    http_bed_start_server(&bed);
    http_bed_make_world(&bed, "w1");
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/pause", "{\"reason\":\"a test\"}", 200));
    start_callers(CALLERS, "1m");
    await_active(CALLERS);
    uint64_t start_ns = clock_mono_ns(NULL);
    http_bed_stop_server(&bed);
    uint64_t took_ms = (clock_mono_ns(NULL) - start_ns) / MS_NS;
    EXPECT(SAP_SANITIZED || took_ms < 2000, "it took %d ms", (int)took_ms);
    for (int i = 0; i < CALLERS; i++) {
        HttpAnswer answer;
        http_read_answer(callers[i], &answer);
        EXPECT(answer.status == 503 && strcmp(http_answer_code(&answer), "stopping") == 0,
               "caller %d got %d %s", i, answer.status, answer.body);
        http_answer_free(&answer);
    }
    end_callers(CALLERS);
    /* What was accepted is still there, and the same key waits on. */
    http_bed_start_server(&bed);
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/resume", "{}", 200));
    start_callers(10, "10s");
    for (int i = 0; i < 10; i++) {
        HttpAnswer answer;
        http_read_answer(callers[i], &answer);
        EXPECT(answer.status == 200, "caller %d got %d %s", i, answer.status, answer.body);
        http_answer_free(&answer);
    }
    end_callers(10);
    await_count(CALLERS);
}
END_TEST

START_TEST(a_wait_that_ends_first_is_202_and_the_same_key_waits_on)
{
    HttpAnswer answer;
    http_bed_start_server(&bed);
    http_bed_make_world(&bed, "w1");
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/pause", "{\"reason\":\"a test\"}", 200));
    start_callers(1, "100ms");
    http_read_answer(callers[0], &answer);
    ck_assert_int_eq(answer.status, 202);
    ck_assert(json_is_false(json_object_get(answer.json, "duplicate")));
    http_answer_free(&answer);
    end_callers(1);
    start_callers(1, "0s");
    http_read_answer(callers[0], &answer);
    ck_assert_int_eq(answer.status, 202);
    ck_assert(json_is_true(json_object_get(answer.json, "duplicate")));
    http_answer_free(&answer);
    end_callers(1);
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/resume", "{}", 200));
    start_callers(1, "10s");
    http_read_answer(callers[0], &answer);
    ck_assert_int_eq(answer.status, 200);
    http_answer_free(&answer);
    end_callers(1);
}
END_TEST

START_TEST(callers_that_hang_up_while_they_wait_harm_nobody)
{
    http_bed_start_server(&bed);
    http_bed_make_world(&bed, "w1");
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/pause", "{\"reason\":\"a test\"}", 200));
    start_callers(50, "1m");
    await_active(50);
    end_callers(50);
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/resume", "{}", 200));
    await_active(0);
    await_count(50);
}
END_TEST

START_TEST(results_are_waited_for_too)
{
    HttpAnswer answer;
    char text[256];
    http_bed_start_server(&bed);
    http_bed_make_world(&bed, "w1");
    int len = snprintf(text, sizeof text,
                       "GET /v1/worlds/w1/result?wait=20s HTTP/1.1\r\nHost: localhost\r\n\r\n");
    int fd = http_bed_connect(&bed, true);
    ck_assert(http_send_all(fd, text, (size_t)len));
    await_active(1);
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/messages",
                            "{\"name\":\"done\",\"body\":[1]}", 202));
    http_read_answer(fd, &answer);
    ck_assert_int_eq(answer.status, 200);
    ck_assert(json_is_false(json_object_get(answer.json, "failed")));
    ck_assert_uint_eq(json_array_size(json_object_get(answer.json, "result")), 1);
    http_answer_free(&answer);
    (void)close(fd);
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/messages", "{}", 409));
}
END_TEST

/* ---- Slow clients ---------------------------------------------------------------------------- */

/* Sends a byte now and then; how long until the other side ends the connection. */
static uint64_t drip(int fd, const char *text)
{
    uint64_t start_ns = clock_mono_ns(NULL);
    size_t len = strlen(text);
    char byte = 0;
    for (size_t i = 0; clock_mono_ns(NULL) - start_ns < 20000 * MS_NS; i++) {
        if (len > 0 && !http_send_all(fd, &text[i % len], 1)) {
            break;
        }
        if (recv(fd, &byte, 1, MSG_DONTWAIT) == 0) {
            break;
        }
        pause_ms(20);
    }
    return (clock_mono_ns(NULL) - start_ns) / MS_NS;
}

START_TEST(who_sends_headers_or_a_body_too_slowly_is_cut_off)
{
    static const char head[] =
        "POST /v1/worlds/w1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
        "application/json\r\nContent-Length: 100000\r\n\r\n";
    bed.options.deadlines = (HttpDeadlines){.headers_ms = 400, .body_ms = 400, .idle_ms = 400};
    http_bed_start_server(&bed);
    http_bed_make_world(&bed, "w1");
    int slow_head = http_bed_connect(&bed, false);
    ck_assert(http_send_all(slow_head, "GET /healthz HTTP/1.1\r\n", 23));
    ck_assert_uint_lt(drip(slow_head, "X-Slow: yes\r\n"), 15000);
    int slow_body = http_bed_connect(&bed, true);
    ck_assert(http_send_all(slow_body, head, sizeof head - 1));
    ck_assert_uint_lt(drip(slow_body, " "), 15000);
    int silent = http_bed_connect(&bed, true);
    ck_assert_uint_lt(drip(silent, ""), 15000);
    ck_assert_int_ge(gauge_now("sapling_http_cut_total"), 3);
    (void)close(slow_head);
    (void)close(slow_body);
    (void)close(silent);
}
END_TEST

START_TEST(who_waits_is_not_cut_off)
{
    HttpAnswer answer;
    bed.options.deadlines = (HttpDeadlines){.headers_ms = 200, .body_ms = 200, .idle_ms = 200};
    http_bed_start_server(&bed);
    http_bed_make_world(&bed, "w1");
    json_decref(http_bed_do(&bed, "POST", "/v1/worlds/w1/pause", "{}", 200));
    start_callers(1, "1500ms");
    http_read_answer(callers[0], &answer);
    ck_assert_int_eq(answer.status, 202);
    http_answer_free(&answer);
    end_callers(1);
}
END_TEST

START_TEST(connections_over_tcp_do_not_take_those_of_the_socket)
{
    bed.options.max_connections = 8;
    http_bed_start_server(&bed);
    for (int i = 0; i < 20; i++) {
        callers[i] = http_bed_connect(&bed, false);
    }
    json_decref(http_bed_do(&bed, "GET", "/v1/status", NULL, 200));
    end_callers(20);
}
END_TEST

START_TEST(a_token_that_asks_too_often_is_told_to_wait_and_others_are_not)
{
    int refused = 0;
    bed.options.max_per_s = 1;
    http_bed_start_server(&bed);
    HttpAsk often = {.token = bed.token};
    for (int i = 0; i < 40; i++) {
        HttpAnswer answer;
        http_ask(&bed, &often, "GET", "/v1/tokens", NULL, &answer);
        EXPECT(answer.status == 200 || answer.status == 429, "it answered %d", answer.status);
        EXPECT(answer.status == 200 || strstr(answer.head, "Retry-After: 1") != NULL,
               "it says when");
        refused += answer.status == 429;
        http_answer_free(&answer);
        json_decref(http_bed_do(&bed, "GET", "/v1/tokens", NULL, 200));
    }
    ck_assert_int_gt(refused, 0);
    json_t *json = http_bed_do(&bed, "POST", "/v1/tokens", "{\"scopes\":[\"read\"]}", 201);
    HttpAsk other = {.token = json_string_value(json_object_get(json, "token"))};
    HttpAnswer answer;
    http_ask(&bed, &other, "GET", "/v1/leases", NULL, &answer);
    ck_assert_int_eq(answer.status, 200);
    http_answer_free(&answer);
    json_decref(json);
}
END_TEST

/* ---- Load and garbage ------------------------------------------------------------------------ */

static SAP_ATOMIC(bool) load_is_over;
static SAP_ATOMIC(uint32_t) answered;
static SAP_ATOMIC(uint32_t) garbage_sent;

static void *send_load(void *arg)
{
    int number = *(const int *)arg;
    int fd = http_bed_connect(&bed, number % 2 == 0);
    for (int i = 0; i < LOAD_REQUESTS; i++) {
        char text[512];
        HttpAnswer answer;
        int len = snprintf(text, sizeof text,
                           "POST /v1/worlds/w1/messages%s HTTP/1.1\r\nHost: localhost\r\n"
                           "Authorization: Bearer %s\r\nContent-Type: application/json\r\n"
                           "Idempotency-Key: load-%d-%d\r\nContent-Length: 2\r\n\r\n{}",
                           i % 3 == 0 ? "?wait=20s" : "", bed.token, number, i);
        EXPECT(http_send_all(fd, text, (size_t)len), "a request of the load is sent");
        http_read_answer(fd, &answer);
        EXPECT(answer.status == (i % 3 == 0 ? 200 : 202), "the load got %d %s", answer.status,
               answer.body);
        (void)atomic_add_full(&answered, 1);
        http_answer_free(&answer);
    }
    (void)close(fd);
    return NULL;
}

/* Parts of requests, in any order, cut anywhere, with bytes changed. */
static size_t make_garbage(Rng *rng, char *out, size_t size)
{
    static const char *const parts[] = {
        "GET ",
        "POST ",
        "/v1/worlds/w1/messages",
        "/healthz",
        " HTTP/1.1\r\n",
        "Host: ",
        "localhost\r\n",
        "Content-Length: 10\r\n",
        "\r\n",
        "\r\n\r\n",
        "{\"body\"",
        "Transfer-Encoding: chunked\r\n",
        "ffffffff\r\n",
        "\0\0\0\0",
        "Expect: 100-continue\r\n",
        "Content-Type: application/json\r\n",
        "Authorization: Bearer x\r\n",
        "Connection: close\r\n",
        "5\r\nhello\r\n",
        "0\r\n\r\n",
        "?wait=1s",
        "%00%ff",
        "Content-Length: 99999999999\r\n",
    };
    size_t len = 0;
    uint64_t count = rng_range(rng, 1, 30);
    for (uint64_t i = 0; i < count; i++) {
        const char *part = parts[rng_below(rng, sizeof parts / sizeof parts[0])];
        size_t part_len = strlen(part);
        if (len + part_len < size) {
            memcpy(out + len, part, part_len);
            len += part_len;
        }
    }
    while (len > 0 && rng_chance(rng, 1, 2)) {
        out[rng_below(rng, len)] = (char)rng_below(rng, 256);
    }
    return len;
}

static void *send_garbage(void *arg)
{
    Rng rng;
    char text[4096];
    rng_seed(&rng, 7000 + (uint64_t) * (const int *)arg);
    while (!atomic_load_full(&load_is_over)) {
        int fd = http_bed_connect(&bed, rng_chance(&rng, 1, 2));
        if (fd < 0) {
            continue;
        }
        (void)http_send_all(fd, text, make_garbage(&rng, text, sizeof text));
        if (rng_chance(&rng, 1, 4)) {
            (void)shutdown(fd, SHUT_WR);
            (void)recv(fd, text, sizeof text, 0);
        }
        (void)close(fd);
        (void)atomic_add_full(&garbage_sent, 1);
    }
    return NULL;
}

START_TEST(load_goes_on_while_others_send_garbage)
{
    pthread_t threads[LOAD_THREADS + GARBAGE_THREADS];
    int numbers[LOAD_THREADS + GARBAGE_THREADS];
    http_bed_start_server(&bed);
    http_bed_make_world(&bed, "w1");
    for (int i = 0; i < LOAD_THREADS + GARBAGE_THREADS; i++) {
        numbers[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL,
                                        i < LOAD_THREADS ? send_load : send_garbage, &numbers[i]),
                         0);
    }
    for (int i = 0; i < LOAD_THREADS + GARBAGE_THREADS; i++) {
        if (i == LOAD_THREADS) {
            atomic_store_full(&load_is_over, true);
        }
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
    json_t *world = http_bed_do(&bed, "POST", "/v1/worlds/w1/query", "{}", 200);
    EXPECT(json_integer_value(json_object_get(world, "reply")) <= LOAD_THREADS * LOAD_REQUESTS,
           "nothing was handled twice");
    json_decref(world);
    ck_assert_uint_eq(atomic_load_full(&answered), LOAD_THREADS * LOAD_REQUESTS);
    printf("load: %u requests, beside %u of garbage\n", atomic_load_full(&answered),
           atomic_load_full(&garbage_sent));
    ck_assert_uint_gt(atomic_load_full(&garbage_sent), 0);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("node_http_wait");
    TCase *waits = tcase_create("waits");
    tcase_set_timeout(waits, TIMEOUT_S);
    tcase_add_checked_fixture(waits, open_bed, close_bed);
    tcase_add_test(waits, a_thousand_callers_wait_with_at_most_16_threads);
    tcase_add_test(waits, a_server_that_stops_ends_waiting_callers_with_503);
    tcase_add_test(waits, a_wait_that_ends_first_is_202_and_the_same_key_waits_on);
    tcase_add_test(waits, callers_that_hang_up_while_they_wait_harm_nobody);
    tcase_add_test(waits, results_are_waited_for_too);
    tcase_add_test(waits, who_sends_headers_or_a_body_too_slowly_is_cut_off);
    tcase_add_test(waits, who_waits_is_not_cut_off);
    tcase_add_test(waits, connections_over_tcp_do_not_take_those_of_the_socket);
    tcase_add_test(waits, a_token_that_asks_too_often_is_told_to_wait_and_others_are_not);
    tcase_add_test(waits, load_goes_on_while_others_send_garbage);
    suite_add_tcase(suite, waits);
    return suite;
}

int main(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    return suite_run(make_suite());
}
