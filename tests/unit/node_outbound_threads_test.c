/* Calls to the outside: servers that answer, and servers that do not, or too much, or too
 * little. */
#include "node_outbound_bed.h"
#include "sapling/version.h"

enum { TIMEOUT_S = 240, MANY = 100, PIECE = 65536, SLOW_MS = 400 };

/* ---- The server ------------------------------------------------------------------------------ */

static bool send_piece_forever(int fd, const char *piece, size_t len)
{
    while (http_send(fd, piece, len)) {
    }
    return false;
}

/* One byte every 20 ms, until somebody has enough. */
static bool drip_forever(HttpServer *server, int fd, const char *text)
{
    for (size_t i = 0;; i = text[i + 1] == '\0' ? i : i + 1) {
        if (!http_send(fd, &text[i], 1) || !http_server_pause(server, 20)) {
            return false;
        }
    }
}

static bool answer_endlessly(int fd, const char *head)
{
    static char piece[PIECE];
    return http_send_text(fd, head) && send_piece_forever(fd, piece, sizeof piece);
}

static bool answer_hugely(int fd, const char *path)
{
    static const char line[] =
        "X-Filler: 0123456789012345678901234567890123456789012345678901234\r\n";
    if (!http_send_text(fd, "HTTP/1.1 200 OK\r\n")) {
        return false;
    }
    return strcmp(path, "/headers") == 0
               ? send_piece_forever(fd, line, sizeof line - 1)
               : http_send_text(fd, "X: ") && send_piece_forever(fd, "aaaaaaaa", 8);
}

/* What was asked, in JSON. */
static bool show_request(int fd, const HttpRequest *request)
{
    static const char *const names[] = {"Idempotency-Key",
                                        "Content-Type",
                                        "User-Agent",
                                        "Accept",
                                        "Accept-Encoding",
                                        "Expect",
                                        "Cookie",
                                        "X-Own",
                                        "Host",
                                        "Content-Length",
                                        "Transfer-Encoding",
                                        "traceparent"};
    char body[BED_TEXT];
    char value[256];
    int len = snprintf(body, sizeof body, "{\"method\":\"%s\",\"sent\":\"%s\"", request->method,
                       request->body);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (http_header(request, names[i], value, sizeof value)) {
            len +=
                snprintf(body + len, sizeof body - (size_t)len, ",\"%s\":\"%s\"", names[i], value);
        }
    }
    (void)snprintf(body + len, sizeof body - (size_t)len, "}");
    return http_answer(fd, 200, "Content-Type: application/json\r\n", body);
}

static bool misbehave(HttpServer *server, int fd, const char *path)
{
    if (strcmp(path, "/hang") == 0) {
        (void)http_server_pause(server, 120000);
    } else if (strcmp(path, "/reset") == 0) {
        http_reset(fd);
    } else if (strcmp(path, "/close") == 0) {
        return false;
    } else if (strcmp(path, "/drip") == 0) {
        (void)drip_forever(server, fd, "HTTP/1.1 200 OK\r\n\r\nx");
    } else if (strcmp(path, "/drip-head") == 0) {
        (void)drip_forever(server, fd, "HTTP/1.1 200 OK\r\nX: x");
    } else if (strcmp(path, "/endless") == 0) {
        (void)answer_endlessly(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n");
    } else if (strcmp(path, "/large") == 0) {
        (void)answer_endlessly(fd, "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n");
    } else if (strcmp(path, "/headers") == 0 || strcmp(path, "/header") == 0) {
        (void)answer_hugely(fd, path);
    } else if (strcmp(path, "/short") == 0) {
        (void)http_send_text(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nnot 100");
    } else if (strcmp(path, "/chunk") == 0) {
        (void)http_send_text(
            fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz");
    } else if (strcmp(path, "/noise") == 0) {
        (void)http_send_text(fd, "\x16\x03\x01 this is not HTTP\r\n\r\n");
    } else if (strcmp(path, "/old") == 0) {
        (void)http_send_text(fd, "an answer of HTTP/0.9");
    } else if (strcmp(path, "/cut") == 0) { /* delivered, but its body is lost */
        (void)http_send_text(fd, "HTTP/1.1 202 Accepted\r\nContent-Length: 100\r\n\r\nnot");
        http_reset(fd);
    }
    return false;
}

static bool serve_path(HttpServer *server, int fd, const HttpRequest *request, void *ctx)
{
    const char *path = request->path;
    (void)ctx;
    if (strcmp(path, "/show") == 0) {
        return show_request(fd, request);
    }
    if (strcmp(path, "/gzip") == 0) {
        return http_answer(fd, 200, "Content-Encoding: gzip\r\nContent-Type: application/json\r\n",
                           "\x1f\x8b\x08zz");
    }
    if (strcmp(path, "/again") == 0) {
        return http_answer(fd, 503, "Retry-After: 7\r\n", "later");
    }
    if (strcmp(path, "/much-later") == 0) {
        return http_answer(fd, 429, "Retry-After: 99999999\r\n", "");
    }
    if (strcmp(path, "/cookie") == 0) {
        return http_answer(fd, 200, "Set-Cookie: a=b; Path=/\r\n", "");
    }
    if (strcmp(path, "/text") == 0) {
        return http_answer(fd, 200, "Content-Type: text/plain\r\n", "h\xc3\xa9llo");
    }
    if (strcmp(path, "/long") == 0) { /* a character lies across the 1024th byte */
        char body[3001];
        memset(body, 'a', sizeof body - 1);
        memcpy(body + 1023, "\xc3\xa9", 2);
        body[sizeof body - 1] = '\0';
        return http_answer(fd, 200, "Content-Type: text/plain\r\n", body);
    }
    if (strncmp(path, "/status/", 8) == 0) {
        int status = (int)strtol(path + 8, NULL, 10);
        return status == 204   ? http_send_text(fd, "HTTP/1.1 204 No Content\r\n\r\n")
               : status == 304 ? http_send_text(fd, "HTTP/1.1 304 Not Modified\r\n\r\n")
                               : http_answer(fd, status, "Content-Type: application/json\r\n",
                                             "{\"reason\": \"card declined\"}");
    }
    return misbehave(server, fd, path);
}

/* ---- What becomes of answers ----------------------------------------------------------------- */

START_TEST(statuses_decide_whether_a_call_is_ok_final_or_made_again)
{
    static const struct {
        int status;
        CallVerdict verdict;
    } rows[] = {
        {200, CALL_OK},    {201, CALL_OK},    {299, CALL_OK},    {300, CALL_ERROR},
        {304, CALL_ERROR}, {302, CALL_ERROR}, {400, CALL_ERROR}, {401, CALL_ERROR},
        {402, CALL_ERROR}, {404, CALL_ERROR}, {407, CALL_ERROR}, {408, CALL_RETRY},
        {409, CALL_ERROR}, {425, CALL_ERROR}, {429, CALL_RETRY}, {500, CALL_RETRY},
        {501, CALL_RETRY}, {503, CALL_RETRY}, {599, CALL_RETRY}, {600, CALL_ERROR},
    };
    OutboundBed bed;
    bed_start(&bed, serve_path);
    bed_open(&bed);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[32];
        char code[32] = "";
        (void)snprintf(path, sizeof path, "/status/%d", rows[i].status);
        if (rows[i].verdict != CALL_OK) {
            (void)snprintf(code, sizeof code, "http_%d", rows[i].status);
        }
        bool empty = rows[i].status == 304;
        for (int webhook = 0; webhook < 2; webhook++) {
            char room[BED_TEXT];
            bed_expect(&bed, webhook == 1, bed_params(&bed, path, "", room), rows[i].verdict, code,
                       empty ? NULL : "\"body\":{\"reason\":\"card declined\"}");
        }
    }
    bed_expect_request(&bed, "/status/204", "", CALL_OK, "", "{\"status\":204,\"headers\":{}}");
    bed_end(&bed);
}
END_TEST

START_TEST(a_request_says_what_the_world_asked_and_nothing_more)
{
    OutboundBed bed;
    bed_start(&bed, serve_path);
    bed_open(&bed);
    bed_expect_request(&bed, "/show", "", CALL_OK, "",
                       "\"body\":{\"Accept\":\"*/*\",\"Host\":\"127.0.0.1:");
    bed_expect_request(&bed, "/show", "", CALL_OK, "",
                       "\"Idempotency-Key\":\"" BED_KEY
                       "\",\"User-Agent\":\"sapling/" SAPLING_VERSION
                       "\",\"method\":\"GET\",\"sent\":\"\"}}");
    bed_expect_request(
        &bed, "/show", ",\"body\":[1,2],\"headers\":{\"X-Own\":\"a  b\",\"traceparent\":\"00-1\"}",
        CALL_OK, "", "\"Content-Length\":\"5\",\"Content-Type\":\"application/json\"");
    bed_expect_request(
        &bed, "/show", ",\"body\":[1,2],\"headers\":{\"X-Own\":\"a  b\",\"traceparent\":\"00-1\"}",
        CALL_OK, "",
        "\"X-Own\":\"a  b\",\"method\":\"POST\",\"sent\":\"[1,2]\",\"traceparent\":\"00-1\"");
    bed_expect_request(&bed, "/show", ",\"method\":\"PUT\",\"text\":\"\"", CALL_OK, "",
                       "\"Content-Length\":\"0\",\"Content-Type\":\"text/plain; charset=utf-8\"");
    bed_expect_request(&bed, "/show", ",\"method\":\"POST\"", CALL_OK, "",
                       "\"Accept\":\"*/*\",\"Content-Length\":\"0\",\"Host\"");
    bed_expect_request(&bed, "/show", ",\"method\":\"DELETE\"", CALL_OK, "",
                       "\"method\":\"DELETE\"");
    bed_expect_request(&bed, "/show", ",\"method\":\"PATCH\",\"b64\":\"YWI=\"", CALL_OK, "",
                       "\"method\":\"PATCH\",\"sent\":\"ab\"");
    bed_expect_request(&bed, "/show", ",\"method\":\"OPTIONS\"", CALL_OK, "",
                       "\"method\":\"OPTIONS\"");
    bed_expect_request(&bed, "/show", ",\"headers\":{\"X-Own\":\"\"}", CALL_OK, "",
                       "\"X-Own\":\"\"");
    bed_end(&bed);
}
END_TEST

START_TEST(neither_proxies_nor_cookies_of_the_environment_are_used)
{
    OutboundBed bed;
    bed_start(&bed, serve_path);
    (void)setenv("http_proxy", "http://127.0.0.1:1", 1);
    (void)setenv("all_proxy", "http://127.0.0.1:1", 1);
    (void)setenv("HOME", bed.files.dir, 1);
    char netrc[FILES_PATH_MAX + 16];
    (void)snprintf(netrc, sizeof netrc, "%s/.netrc", bed.files.dir);
    FILE *file = fopen(netrc, "w");
    ck_assert(file != NULL && fputs("default login me password it\n", file) >= 0 &&
              fclose(file) == 0);
    bed_open(&bed);
    bed_expect_request(&bed, "/cookie", "", CALL_OK, "",
                       "{\"status\":200,\"headers\":{\"content-length\":\"0\"}}");
    bed_expect_request(&bed, "/show", "", CALL_OK, "", "\"body\":{\"Accept\":\"*/*\",\"Host\"");
    ck_assert_int_eq(unlink(netrc), 0);
    bed_end(&bed);
}
END_TEST

START_TEST(a_head_request_has_headers_and_no_body)
{
    OutboundBed bed;
    bed_start(&bed, serve_path);
    bed_open(&bed);
    /* The length is that of a body which does not come, and may be above the limit. */
    bed_expect_request(&bed, "/large", ",\"method\":\"HEAD\"", CALL_OK, "",
                       "{\"status\":200,\"headers\":{\"content-length\":\"99999999999\"}}");
    bed_end(&bed);
}
END_TEST

START_TEST(what_a_server_compresses_unasked_stays_compressed)
{
    OutboundBed bed;
    bed_start(&bed, serve_path);
    bed_open(&bed);
    bed_expect_request(&bed, "/gzip", "", CALL_OK, "", "\"b64\":\"H4sIeno=\"");
    bed_expect_request(&bed, "/text", "", CALL_OK, "", "\"text\":\"h\xc3\xa9llo\"");
    bed_end(&bed);
}
END_TEST

START_TEST(a_server_says_how_long_to_wait_before_the_next_attempt)
{
    OutboundBed bed;
    CallResult result;
    char room[BED_TEXT];
    bed_start(&bed, serve_path);
    bed_open(&bed);
    bed_wait(&bed, bed_ask(&bed, false, bed_params(&bed, "/again", "", room)), &result);
    ck_assert_uint_eq(result.pause_ms, 7000);
    bed_expect_result(&result, CALL_RETRY, "http_503", "\"text\":\"later\"");
    bed_wait(&bed, bed_ask(&bed, true, bed_params(&bed, "/much-later", "", room)), &result);
    ck_assert_uint_eq(result.pause_ms, 3600 * 1000);
    bed_expect_result(&result, CALL_RETRY, "http_429", NULL);
    bed_wait(&bed, bed_ask(&bed, false, bed_params(&bed, "/status/500", "", room)), &result);
    ck_assert_uint_eq(result.pause_ms, 0);
    bed_expect_result(&result, CALL_RETRY, "http_500", NULL);
    bed_end(&bed);
}
END_TEST

/* ---- Servers that misbehave ------------------------------------------------------------------ */

START_TEST(a_server_that_fails_is_called_again_another_time)
{
    OutboundBed bed;
    char room[BED_TEXT];
    bed_start(&bed, serve_path);
    bed.options.slow_ms = SLOW_MS;
    bed.allow[1] = "127.0.0.1:1";
    bed.options.allow_count = 2;
    bed_open(&bed);
    bed_expect(&bed, false, "{\"url\":\"http://127.0.0.1:1/\"}", CALL_RETRY, "connect_failed",
               "http://127.0.0.1:1: ");
    bed_expect_request(&bed, "/hang", ",\"timeout_ms\":200", CALL_RETRY, "timeout", "message");
    bed_expect_request(&bed, "/reset", "", CALL_RETRY, "connection_lost", "message");
    bed_expect_request(&bed, "/close", "", CALL_RETRY, "connection_lost", "message");
    bed_expect_request(&bed, "/short", "", CALL_RETRY, "connection_lost", "message");
    bed_expect_request(&bed, "/chunk", "", CALL_RETRY, "connection_lost", "message");
    bed_expect_request(&bed, "/noise", "", CALL_RETRY, "bad_answer", "message");
    bed_expect_request(&bed, "/old", "", CALL_RETRY, "bad_answer", "message");
    bed_expect_request(&bed, "/drip", "", CALL_RETRY, "too_slow", "sends its answer too slowly");
    bed_expect_request(&bed, "/drip-head", "", CALL_RETRY, "too_slow",
                       "sends its answer too slowly");
    bed_expect(&bed, true, bed_params(&bed, "/hang", ",\"timeout_ms\":200", room), CALL_RETRY,
               "timeout", NULL);
    bed_expect_request(&bed, "/status/200", "", CALL_OK, "", NULL);
    bed_end(&bed);
}
END_TEST

START_TEST(a_server_may_think_for_longer_than_it_may_be_slow)
{
    OutboundBed bed;
    bed_start(&bed, serve_path);
    bed.options.slow_ms = 1;
    bed_open(&bed);
    bed_expect_request(&bed, "/hang", ",\"timeout_ms\":1500", CALL_RETRY, "timeout", NULL);
    bed_end(&bed);
}
END_TEST

START_TEST(an_answer_that_is_too_large_is_cut_off_and_not_asked_for_again)
{
    OutboundBed bed;
    char room[BED_TEXT];
    bed_start(&bed, serve_path);
    bed_open(&bed);
    bed_expect_request(&bed, "/endless", "", CALL_ERROR, "response_too_large",
                       "max_bytes, 1048576 bytes");
    bed_expect_request(&bed, "/endless", ",\"max_bytes\":10", CALL_ERROR, "response_too_large",
                       "max_bytes, 10 bytes");
    bed_expect_request(&bed, "/large", ",\"max_bytes\":16777216", CALL_ERROR, "response_too_large",
                       NULL);
    bed_expect_request(&bed, "/headers", "", CALL_ERROR, "response_too_large", "headers");
    bed_expect_request(&bed, "/text", ",\"max_bytes\":6", CALL_OK, "", "h\xc3\xa9llo");
    bed_expect_request(&bed, "/text", ",\"max_bytes\":5", CALL_ERROR, "response_too_large", NULL);
    /* All zeros fit, but not as the escapes of a text. */
    bed_expect(&bed, true, bed_params(&bed, "/endless", "", room), CALL_OK, "", "\"status\":200");
    bed_end(&bed);
}
END_TEST

START_TEST(a_header_without_end_is_cut_off)
{
    OutboundBed bed;
    CallResult result;
    char room[BED_TEXT];
    bed_start(&bed, serve_path);
    bed_open(&bed);
    bed_wait(&bed, bed_ask(&bed, false, bed_params(&bed, "/header", "", room)), &result);
    ck_assert_int_ne(result.verdict, CALL_OK);
    buf_release(&result.payload);
    bed_end(&bed);
}
END_TEST

START_TEST(of_the_answer_to_a_webhook_the_beginning_is_kept)
{
    OutboundBed bed;
    CallResult result;
    char room[BED_TEXT];
    bed_start(&bed, serve_path);
    bed_open(&bed);
    bed_wait(&bed, bed_ask(&bed, true, bed_params(&bed, "/long", ",\"body\":1", room)), &result);
    ck_assert_uint_eq(result.payload.len, strlen("{\"status\":200,\"text\":\"\"}") + 1023 + 1);
    bed_expect_result(&result, CALL_OK, "", "{\"status\":200,\"text\":\"aaa");
    bed_expect(&bed, true, bed_params(&bed, "/show", ",\"body\":1", room), CALL_OK, "",
               "\"method\":\"POST\",\"sent\":\"1\"}}");
    bed_expect(&bed, true, bed_params(&bed, "/status/204", "", room), CALL_OK, "",
               "{\"status\":204}");
    /* Once the status says that it was taken, it is not sent again. */
    bed_expect(&bed, true, bed_params(&bed, "/cut", "", room), CALL_OK, "", "\"status\":202");
    bed_expect(&bed, true, bed_params(&bed, "/short", "", room), CALL_OK, "", "\"status\":200");
    bed_expect_request(&bed, "/cut", "", CALL_RETRY, "connection_lost", NULL);
    bed_end(&bed);
}
END_TEST

START_TEST(params_that_are_wrong_end_the_call_for_good)
{
    OutboundBed bed;
    bed_start(&bed, serve_path);
    bed_open(&bed);
    bed_expect(&bed, false, "{}", CALL_ERROR, "bad_params", "{\"message\":\"url: is missing\"}");
    bed_expect(&bed, false, "{\"url\":\"ftp://a/\"}", CALL_ERROR, "bad_params",
               "url: only http:// and https:// can be called");
    bed_expect(&bed, true, "{\"url\":\"http://a/\",\"method\":\"GET\"}", CALL_ERROR, "bad_params",
               "method: ");
    ck_assert_uint_eq(bed.lookups, 0);
    bed_end(&bed);
}
END_TEST

/* ---- Many, and none any more ----------------------------------------------------------------- */

START_TEST(a_hundred_calls_are_made_at_once)
{
    OutboundBed bed;
    OutboundCall *calls[MANY];
    char room[BED_TEXT];
    bed_start(&bed, serve_path);
    bed_open(&bed);
    for (int i = 0; i < MANY; i++) {
        calls[i] =
            bed_ask(&bed, i % 2 == 0, bed_params(&bed, "/hang", ",\"timeout_ms\":2000", room));
    }
    for (int i = 0; i < MANY; i++) {
        CallResult result;
        bed_wait(&bed, calls[i], &result);
        bed_expect_result(&result, CALL_RETRY, "timeout", NULL);
    }
    ck_assert_uint_ge(http_server_connections(bed.server), MANY); /* none waited for another */
    for (int i = 0; i < MANY; i++) {
        calls[i] = bed_ask(&bed, i % 2 == 0, bed_params(&bed, "/show", "", room));
    }
    for (int i = 0; i < MANY; i++) {
        CallResult result;
        bed_wait(&bed, calls[i], &result);
        bed_expect_result(&result, CALL_OK, "", "\"status\":200");
    }
    ck_assert_uint_eq(http_server_requests(bed.server), 2 * MANY);
    bed_end(&bed);
}
END_TEST

START_TEST(a_connection_is_used_again)
{
    OutboundBed bed;
    bed_start(&bed, serve_path);
    bed_open(&bed);
    for (int i = 0; i < 20; i++) {
        bed_expect_request(&bed, "/text", "", CALL_OK, "", NULL);
    }
    ck_assert_uint_eq(http_server_requests(bed.server), 20);
    ck_assert_uint_eq(http_server_connections(bed.server), 1);
    bed_end(&bed);
}
END_TEST

static void expect_metric(OutboundBed *bed, const char *line)
{
    Buf text = {0};
    EXPECT_RC(metrics_format_prometheus(&bed->metrics, &text), SAP_OK);
    EXPECT_RC(buf_append_u8(&text, 0), SAP_OK);
    EXPECT(strstr((const char *)text.data, line) != NULL, "no %s in %s", line,
           (const char *)text.data);
    buf_release(&text);
}

static void wait_for_requests(HttpServer *server, uint32_t count)
{
    while (http_server_requests(server) < count) {
        (void)usleep(1000);
    }
}

START_TEST(a_call_that_nobody_wants_any_more_ends_at_once)
{
    OutboundBed bed;
    char room[BED_TEXT];
    bed_start(&bed, serve_path);
    bed_open(&bed);
    OutboundCall *unstarted = bed_ask(&bed, false, bed_params(&bed, "/hang", "", room));
    outbound_drop(bed.outbound, unstarted);
    OutboundCall *running =
        bed_ask(&bed, false, bed_params(&bed, "/endless", ",\"max_bytes\":16777216", room));
    outbound_drop(bed.outbound, running);
    uint32_t before = http_server_requests(bed.server);
    running = bed_ask(&bed, false, bed_params(&bed, "/hang", "", room));
    wait_for_requests(bed.server, before + 1);
    outbound_drop(bed.outbound, running);
    OutboundCall *ended = bed_ask(&bed, false, "{}");
    CallResult result;
    bed_wait(&bed, bed_ask(&bed, false, bed_params(&bed, "/text", "", room)), &result);
    buf_release(&result.payload);
    outbound_drop(bed.outbound, ended);
    expect_metric(&bed, "sapling_outbound_running 0\n");
    bed_end(&bed);
}
END_TEST

START_TEST(closing_ends_calls_that_run)
{
    OutboundBed bed;
    char room[BED_TEXT];
    bed_start(&bed, serve_path);
    bed_open(&bed);
    for (int i = 0; i < 20; i++) {
        (void)bed_ask(&bed, i % 2 == 0,
                      bed_params(&bed, i % 3 == 0 ? "/endless" : "/hang", "", room));
    }
    (void)bed_ask(&bed, false, "{}");
    wait_for_requests(bed.server, 5);
    uint64_t before_ns = clock_mono_ns(NULL);
    outbound_close(bed.outbound);
    bed.outbound = NULL;
    ck_assert_uint_lt(clock_mono_ns(NULL) - before_ns, UINT64_C(20000000000));
    expect_metric(&bed, "sapling_outbound_running 0\n");
    bed_end(&bed);
}
END_TEST

/* ---- Names ----------------------------------------------------------------------------------- */

/* A name server that does not answer until the test ends. */
typedef struct SilentNames {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool released;
    uint32_t asked;
} SilentNames;

static SilentNames silent = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0};

static void wait_for_name(void *ctx, const char *host, LookupAnswer *out)
{
    SilentNames *names = (SilentNames *)ctx;
    (void)host;
    pthread_mutex_lock(&names->lock);
    names->asked++;
    while (!names->released) {
        pthread_cond_wait(&names->cond, &names->lock);
    }
    pthread_mutex_unlock(&names->lock);
    out->outcome = LOOKUP_UNKNOWN;
}

static void let_names_answer(void)
{
    pthread_mutex_lock(&silent.lock);
    silent.released = true;
    pthread_cond_broadcast(&silent.cond);
    pthread_mutex_unlock(&silent.lock);
}

START_TEST(a_name_server_that_is_silent_holds_up_nothing_but_the_names_it_was_asked_for)
{
    OutboundBed bed;
    OutboundCall *calls[MANY];
    bed_start(&bed, serve_path);
    bed.options.lookup = wait_for_name;
    bed.options.lookup_ctx = &silent;
    bed.options.log = NULL;
    bed.options.metrics = NULL;
    size_t live_before = mem_live_bytes(MEM_COMMON);
    bed_open(&bed);
    for (int i = 0; i < MANY; i++) {
        calls[i] = bed_ask(&bed, false, "{\"url\":\"http://silent.test/\"}");
    }
    bed_expect_request(&bed, "/text", "", CALL_OK, "", NULL);
    bed_expect(&bed, false, "{\"url\":\"http://silent.test/\",\"timeout_ms\":50}", CALL_RETRY,
               "timeout", "the name silent.test was not resolved in time");
    for (int i = 0; i < MANY / 2; i++) {
        outbound_drop(bed.outbound, calls[i]);
    }
    outbound_close(bed.outbound); /* though the name server is still silent */
    bed.outbound = NULL;
    ck_assert_uint_gt(mem_live_bytes(MEM_COMMON), live_before);
    let_names_answer();
    while (mem_live_bytes(MEM_COMMON) > live_before) { /* the threads free what they have */
        (void)usleep(1000);
    }
    bed_end(&bed);
}
END_TEST

START_TEST(names_that_are_not_known_are_final_and_those_that_cannot_be_asked_for_are_not)
{
    OutboundBed bed;
    bed_start(&bed, serve_path);
    bed_open(&bed);
    bed_expect(&bed, false, "{\"url\":\"http://none.test/\"}", CALL_ERROR, "host_not_found",
               "there is no host none.test");
    bed_expect(&bed, false, "{\"url\":\"http://later.test/\"}", CALL_RETRY, "lookup_failed",
               "the name later.test cannot be resolved now");
    bed_end(&bed);
}
END_TEST

START_TEST(the_system_resolves_names)
{
    OutboundBed bed;
    char place[64];
    char room[BED_TEXT];
    bed_start(&bed, serve_path);
    (void)snprintf(place, sizeof place, "localhost:%u", http_server_port(bed.server));
    bed.allow[0] = place;
    bed.options.lookup = NULL;
    bed_open(&bed);
    (void)snprintf(room, sizeof room, "{\"url\":\"http://LOCALHOST.:%u/text\"}",
                   http_server_port(bed.server));
    bed_expect(&bed, false, room, CALL_OK, "", "h\xc3\xa9llo");
    bed_end(&bed);
}
END_TEST

/* ---- Metrics and log ------------------------------------------------------------------------- */

START_TEST(calls_are_counted_and_logged_without_what_is_the_servers_alone)
{
    OutboundBed bed;
    bed_start(&bed, serve_path);
    bed_open(&bed);
    bed_expect_request(&bed, "/status/200?token=quiet-please", "", CALL_OK, "", NULL);
    bed_expect_request(&bed, "/status/402?token=quiet-please", "", CALL_ERROR, "http_402", NULL);
    bed_expect_request(&bed, "/status/503?token=quiet-please", "", CALL_RETRY, "http_503", NULL);
    bed_expect(&bed, false, "{\"url\":\"http://127.0.0.1:2/\"}", CALL_ERROR, "address_refused",
               NULL);
    expect_metric(&bed, "sapling_outbound_calls_total{outcome=\"ok\"} 1\n");
    expect_metric(&bed, "sapling_outbound_calls_total{outcome=\"error\"} 2\n");
    expect_metric(&bed, "sapling_outbound_calls_total{outcome=\"retry\"} 1\n");
    expect_metric(&bed, "sapling_outbound_calls_total{outcome=\"cancelled\"} 0\n");
    expect_metric(&bed, "sapling_outbound_refused_total 1\n");
    expect_metric(&bed, "sapling_outbound_running 0\n");
    expect_metric(&bed, "sapling_outbound_call_ns_count 4\n");
    ck_assert(bed_logged(
        &bed, "info outbound.call outcome=error code=http_402 world=order-1 ref=charge"));
    ck_assert(bed_logged(&bed, "warn outbound.call outcome=error code=address_refused"));
    ck_assert(bed_logged(&bed, "origin=http://127.0.0.1:"));
    ck_assert(!bed_logged(&bed, "quiet-please"));
    bed_end(&bed);
}
END_TEST

/* ---- Without memory -------------------------------------------------------------------------- */

START_TEST(opening_without_memory_leaves_nothing)
{
    OutboundBed bed;
    uint64_t tries = 0;
    int rc = SAP_NOMEM;
    bed_start(&bed, serve_path);
    bed.own[0] = "127.0.0.1:7227";
    bed.options.own_count = 1;
    while (rc != SAP_OK) {
        bed.options.metrics = NULL;
        fault_reset();
        fault_arm_alloc(++tries);
        rc = outbound_open(&bed.options, &bed.outbound);
        fault_arm_alloc(0);
        ck_assert(rc == SAP_OK || rc == SAP_NOMEM);
    }
    ck_assert_uint_gt(tries, 4);
    bed_end(&bed);
}
END_TEST

/* libcurl and jansson ask too. */
static void *ask_malloc(size_t size)
{
    return fault_alloc() ? NULL : malloc(size);
}

static void *ask_calloc(size_t count, size_t size)
{
    return fault_alloc() ? NULL : calloc(count, size);
}

static void *ask_realloc(void *p, size_t size)
{
    return fault_alloc() ? NULL : realloc(p, size);
}

static char *ask_strdup(const char *text)
{
    return fault_alloc() ? NULL : strdup(text);
}

/* Makes the call once while the n-th allocation fails. False: there was no n-th. */
static bool call_without_memory(OutboundBed *bed, const char *params, uint64_t nth, bool *ok_out)
{
    OutboundCall *call = NULL;
    CallResult result = {.verdict = CALL_RETRY};
    const SapEffectCall asked = {.world = "w",
                                 .ref = "",
                                 .idempotency_key = BED_KEY,
                                 .encoding = SAP_ENCODING_JSON,
                                 .params = params,
                                 .params_len = strlen(params)};
    fault_reset();
    fault_arm_alloc(nth);
    int rc = outbound_ask(bed->outbound, false, &asked, &call);
    EXPECT(rc == SAP_OK || rc == SAP_NOMEM, "%d", rc);
    while (rc == SAP_OK && !outbound_take(bed->outbound, call, &result)) {
        (void)usleep(200);
    }
    bool fired = fault_fired() > 0;
    fault_arm_alloc(0);
    *ok_out = rc == SAP_OK && result.verdict == CALL_OK;
    EXPECT(rc != SAP_OK || result.verdict != CALL_ERROR, "%s: %.*s", result.code,
           (int)result.payload.len, (const char *)result.payload.data);
    EXPECT(!*ok_out ||
               (memmem(result.payload.data, result.payload.len, "\"sent\":\"[1]\"", 12) != NULL &&
                memmem(result.payload.data, result.payload.len, "hidden-value", 12) == NULL),
           "%.*s", (int)result.payload.len, (const char *)result.payload.data);
    buf_release(&result.payload);
    return fired;
}

START_TEST(a_call_without_memory_is_made_again_and_leaks_nothing)
{
    OutboundBed bed;
    char place[64];
    char params[BED_TEXT];
    uint64_t tries = 0;
    uint64_t failed = 0;
    bool ok;
    json_set_alloc_funcs(ask_malloc, free);
    ck_assert_int_eq(curl_global_init_mem(CURL_GLOBAL_DEFAULT, ask_malloc, free, ask_realloc,
                                          ask_strdup, ask_calloc),
                     CURLE_OK);
    bed_start(&bed, serve_path);
    bed_write_secrets(&bed,
                      "{\"s\":{\"value\":\"hidden-value\",\"hosts\":[\"http://loop.test\"]}}");
    (void)snprintf(place, sizeof place, "loop.test:%u", http_server_port(bed.server));
    bed.allow[1] = place;
    bed.options.allow_count = 2;
    bed.options.log = NULL;
    bed_open(&bed);
    (void)snprintf(
        params, sizeof params,
        "{\"url\":\"http://%s/show\",\"body\":[1],\"headers\":{\"X-Own\":{\"secret\":\"s\"}}}",
        place);
    while (call_without_memory(&bed, params, ++tries, &ok)) {
        failed += !ok;
    }
    ck_assert(ok);
    ck_assert_uint_gt(failed, 100);
    printf("%llu allocations failed, %llu calls with them\n", (unsigned long long)tries - 1,
           (unsigned long long)failed);
    bed_end(&bed);
    curl_global_cleanup();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("node_outbound");
    TCase *test_case = tcase_create("answers");
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, statuses_decide_whether_a_call_is_ok_final_or_made_again);
    tcase_add_test(test_case, a_request_says_what_the_world_asked_and_nothing_more);
    tcase_add_test(test_case, neither_proxies_nor_cookies_of_the_environment_are_used);
    tcase_add_test(test_case, a_head_request_has_headers_and_no_body);
    tcase_add_test(test_case, what_a_server_compresses_unasked_stays_compressed);
    tcase_add_test(test_case, a_server_says_how_long_to_wait_before_the_next_attempt);
    tcase_add_test(test_case, a_server_that_fails_is_called_again_another_time);
    tcase_add_test(test_case, a_server_may_think_for_longer_than_it_may_be_slow);
    tcase_add_test(test_case, an_answer_that_is_too_large_is_cut_off_and_not_asked_for_again);
    tcase_add_test(test_case, a_header_without_end_is_cut_off);
    tcase_add_test(test_case, of_the_answer_to_a_webhook_the_beginning_is_kept);
    tcase_add_test(test_case, params_that_are_wrong_end_the_call_for_good);
    suite_add_tcase(suite, test_case);
    test_case = tcase_create("calls");
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, a_hundred_calls_are_made_at_once);
    tcase_add_test(test_case, a_connection_is_used_again);
    tcase_add_test(test_case, a_call_that_nobody_wants_any_more_ends_at_once);
    tcase_add_test(test_case, closing_ends_calls_that_run);
    tcase_add_test(test_case,
                   a_name_server_that_is_silent_holds_up_nothing_but_the_names_it_was_asked_for);
    tcase_add_test(test_case,
                   names_that_are_not_known_are_final_and_those_that_cannot_be_asked_for_are_not);
    tcase_add_test(test_case, the_system_resolves_names);
    tcase_add_test(test_case, calls_are_counted_and_logged_without_what_is_the_servers_alone);
    tcase_add_test(test_case, opening_without_memory_leaves_nothing);
    tcase_add_test(test_case, a_call_without_memory_is_made_again_and_leaks_nothing);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
