/* What a world may ask of http.request and webhook, what of an answer becomes a receipt, and
 * secrets. */
#include "common/fault.h"
#include "common/mem.h"
#include "node/outbound_answer.h"
#include "node/outbound_params.h"
#include "node/outbound_secrets.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TIMEOUT_S = 60 };

static int read_params(bool webhook, const char *params, Request *request, char *reason)
{
    return request_read(webhook, SAP_ENCODING_JSON, params, strlen(params), request, reason);
}

/* ---- Params ---------------------------------------------------------------------------------- */

typedef struct BadParams {
    bool webhook;
    const char *params;
    const char *reason; /* its beginning */
} BadParams;

static const BadParams bad_params[] = {
    {false, "", "params: must be a JSON object"},
    {false, "null", "params: must be a JSON object"},
    {false, "[]", "params: must be a JSON object"},
    {false, "{", "params: must be a JSON object: "},
    {false, "{\"url\":\"http://a/\",\"url\":\"http://b/\"}", "params: must be a JSON object: "},
    {false, "{}", "url: is missing"},
    {false, "{\"url\":1}", "url: must be a text"},
    {false, "{\"url\":\"\"}", "url: must be a text"},
    {false, "{\"url\":\"http://a/\",\"uri\":1}", "uri: there is no such field; http.request has"},
    {false, "{\"url\":\"http://a/\",\"secret\":{\"secret\":\"a\"}}",
     "secret: there is no such field"},
    {false, "{\"url\":\"http://a/\",\"method\":\"get\"}", "method: must be GET"},
    {false, "{\"url\":\"http://a/\",\"method\":\"TRACE\"}", "method: must be GET"},
    {false, "{\"url\":\"http://a/\",\"method\":\"CONNECT\"}", "method: must be GET"},
    {false, "{\"url\":\"http://a/\",\"method\":\"GET / HTTP/1.1\\r\\n\"}", "method: must be GET"},
    {false, "{\"url\":\"http://a/\",\"method\":null}", "method: must be GET"},
    {false, "{\"url\":\"http://a/\",\"headers\":[]}", "headers: must be an object"},
    {false, "{\"url\":\"http://a/\",\"headers\":{\"\":\"b\"}}", "headers: \"\" is not the name"},
    {false, "{\"url\":\"http://a/\",\"headers\":{\"a b\":\"c\"}}",
     "headers: \"a b\" is not the name"},
    {false, "{\"url\":\"http://a/\",\"headers\":{\"a:\":\"c\"}}",
     "headers: \"a:\" is not the name"},
    {false, "{\"url\":\"http://a/\",\"headers\":{\"a\\n\":\"c\"}}",
     "headers: \"a?\" is not the name"},
    {false, "{\"url\":\"http://a/\",\"headers\":{\"a\":1}}", "headers.a: must be a text or"},
    {false, "{\"url\":\"http://a/\",\"headers\":{\"a\":{\"secret\":\"\"}}}", "headers.a: must be"},
    {false, "{\"url\":\"http://a/\",\"headers\":{\"a\":{\"secret\":\"b\",\"c\":1}}}",
     "headers.a: must be"},
    {false, "{\"url\":\"http://a/\",\"headers\":{\"a\":\"b\\r\\nc: d\"}}",
     "headers.a: has a control character"},
    {false, "{\"url\":\"http://a/\",\"headers\":{\"a\":\"b\",\"A\":\"c\"}}",
     "headers.A: is given twice"},
    {false, "{\"url\":\"http://a/\",\"headers\":{\"Host\":\"b\"}}",
     "headers.Host: is set by the node"},
    {false, "{\"url\":\"http://a/\",\"headers\":{\"content-length\":\"1\"}}",
     "headers.content-length: is set by the node"},
    {false, "{\"url\":\"http://a/\",\"headers\":{\"Transfer-Encoding\":\"chunked\"}}",
     "headers.Transfer-Encoding: is set"},
    {false, "{\"url\":\"http://a/\",\"headers\":{\"Accept-Encoding\":\"gzip\"}}",
     "headers.Accept-Encoding: is set"},
    {false, "{\"url\":\"http://a/\",\"headers\":{\"Idempotency-Key\":\"1\"}}",
     "headers.Idempotency-Key: is set"},
    {false, "{\"url\":\"http://a/\",\"headers\":{\"Proxy-Authorization\":\"1\"}}",
     "headers.Proxy-Authorization: is set"},
    {false, "{\"url\":\"http://a/\",\"body\":1,\"text\":\"a\"}", "body: give one of"},
    {false, "{\"url\":\"http://a/\",\"text\":1}", "text: must be a text"},
    {false, "{\"url\":\"http://a/\",\"b64\":1}", "b64: must be a text"},
    {false, "{\"url\":\"http://a/\",\"b64\":\"a\"}", "b64: is not base64"},
    {false, "{\"url\":\"http://a/\",\"b64\":\"aaa\"}", "b64: is not base64"},
    {false, "{\"url\":\"http://a/\",\"b64\":\"aa==x\"}", "b64: is not base64"},
    {false, "{\"url\":\"http://a/\",\"method\":\"GET\",\"body\":1}",
     "body: a GET request has none"},
    {false, "{\"url\":\"http://a/\",\"method\":\"HEAD\",\"text\":\"\"}",
     "body: a HEAD request has none"},
    {false, "{\"url\":\"http://a/\",\"timeout_ms\":0}",
     "timeout_ms: must be a whole number from 1"},
    {false, "{\"url\":\"http://a/\",\"timeout_ms\":-1}", "timeout_ms: must be"},
    {false, "{\"url\":\"http://a/\",\"timeout_ms\":1.5}", "timeout_ms: must be"},
    {false, "{\"url\":\"http://a/\",\"timeout_ms\":\"1\"}", "timeout_ms: must be"},
    {false, "{\"url\":\"http://a/\",\"timeout_ms\":86400001}", "timeout_ms: must be"},
    {false, "{\"url\":\"http://a/\",\"max_bytes\":0}", "max_bytes: must be"},
    {false, "{\"url\":\"http://a/\",\"max_bytes\":16777217}", "max_bytes: must be"},
    {false, "{\"url\":\"http://a/\",\"follow\":1}", "follow: must be true or false"},
    {true, "{\"url\":\"http://a/\",\"method\":\"GET\"}",
     "method: there is no such field; webhook has"},
    {true, "{\"url\":\"http://a/\",\"follow\":true}", "follow: there is no such field"},
    {true, "{\"url\":\"http://a/\",\"max_bytes\":1}", "max_bytes: there is no such field"},
    {true, "{\"url\":\"http://a/\",\"secret\":\"plain\"}", "secret: must be {\"secret\":\"NAME\"}"},
    {true, "{\"url\":\"http://a/\",\"headers\":{\"Sapling-Signature\":\"x\"}}",
     "headers.Sapling-Signature: is set"},
};

START_TEST(params_that_are_wrong_are_refused_and_the_field_is_named)
{
    size_t count = sizeof bad_params / sizeof bad_params[0];
    for (size_t i = 0; i < count; i++) {
        Request request;
        char reason[PARAMS_REASON_MAX] = "";
        int rc = read_params(bad_params[i].webhook, bad_params[i].params, &request, reason);
        ck_assert_msg(rc == SAP_INVALID, "%s: %d", bad_params[i].params, rc);
        ck_assert_msg(strncmp(reason, bad_params[i].reason, strlen(bad_params[i].reason)) == 0,
                      "%s: %s", bad_params[i].params, reason);
    }
    ck_assert_uint_eq(mem_live_bytes(MEM_COMMON), 0);
    printf("%zu params\n", count);
}
END_TEST

START_TEST(params_of_another_encoding_are_refused)
{
    Request request;
    char reason[PARAMS_REASON_MAX];
    ck_assert_int_eq(request_read(false, SAP_ENCODING_RAW, "{}", 2, &request, reason), SAP_INVALID);
    ck_assert_int_eq(request_read(false, SAP_ENCODING_CBOR, "\xa0", 1, &request, reason),
                     SAP_INVALID);
    ck_assert_str_eq(reason, "params: must be JSON, not another encoding");
}
END_TEST

START_TEST(params_have_defaults)
{
    Request request;
    char reason[PARAMS_REASON_MAX];
    ck_assert_int_eq(read_params(false, "{\"url\":\"http://a/\"}", &request, reason), SAP_OK);
    ck_assert_str_eq(request.url, "http://a/");
    ck_assert_str_eq(request.method, "GET");
    ck_assert(!request.has_body && !request.follow && request.content_type == NULL);
    ck_assert_uint_eq(request.max_bytes, 1 << 20);
    ck_assert_uint_eq(request.timeout_ms, 0);
    request_release(&request);
    ck_assert_int_eq(read_params(true, "{\"url\":\"http://a/\"}", &request, reason), SAP_OK);
    ck_assert_str_eq(request.method, "POST");
    ck_assert_uint_eq(request.max_bytes, 1024);
    request_release(&request);
}
END_TEST

typedef struct BodyRow {
    const char *params;
    const char *method;
    const char *type;
    const char *body;
} BodyRow;

START_TEST(a_body_is_sent_as_it_was_written_with_its_type)
{
    static const BodyRow rows[] = {
        {"{\"url\":\"u\",\"body\":{\"b\":0.1,\"a\":[1,true,null,\"\xc3\xbc\"]}}", "POST",
         "application/json", "{\"a\":[1,true,null,\"\xc3\xbc\"],\"b\":0.1}"},
        {"{\"url\":\"u\",\"body\":9007199254740993}", "POST", "application/json",
         "9007199254740993"},
        {"{\"url\":\"u\",\"body\":null,\"method\":\"PATCH\"}", "PATCH", "application/json", "null"},
        {"{\"url\":\"u\",\"text\":\"h\xc3\xa9\"}", "POST", "text/plain; charset=utf-8",
         "h\xc3\xa9"},
        {"{\"url\":\"u\",\"text\":\"\",\"method\":\"PUT\"}", "PUT", "text/plain; charset=utf-8",
         ""},
        {"{\"url\":\"u\",\"b64\":\"AQL/\",\"method\":\"DELETE\"}", "DELETE",
         "application/octet-stream", "\x01\x02\xff"},
        {"{\"url\":\"u\",\"b64\":\"\"}", "POST", "application/octet-stream", ""},
        {"{\"url\":\"u\",\"text\":\"a=b\",\"headers\":{\"CONTENT-type\":\"x/y\"}}", "POST", NULL,
         "a=b"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Request request;
        char reason[PARAMS_REASON_MAX] = "";
        ck_assert_msg(read_params(false, rows[i].params, &request, reason) == SAP_OK, "%s: %s",
                      rows[i].params, reason);
        ck_assert_str_eq(request.method, rows[i].method);
        ck_assert_uint_eq(request.body.len, strlen(rows[i].body));
        ck_assert(request.has_body);
        ck_assert(request.body.len == 0 ||
                  memcmp(request.body.data, rows[i].body, request.body.len) == 0);
        ck_assert((request.content_type == NULL) == (rows[i].type == NULL));
        ck_assert(rows[i].type == NULL || strcmp(request.content_type, rows[i].type) == 0);
        request_release(&request);
    }
    ck_assert_uint_eq(mem_live_bytes(MEM_COMMON), 0);
}
END_TEST

START_TEST(reading_params_without_memory_can_be_repeated)
{
    static const char params[] =
        "{\"url\":\"http://a/\",\"headers\":{\"a\":\"b\",\"c\":{\"secret\":\"d\"}},"
        "\"b64\":\"AQL/\"}";
    uint64_t tries = 0;
    int rc = SAP_NOMEM;
    while (rc != SAP_OK) {
        Request request;
        char reason[PARAMS_REASON_MAX];
        fault_reset();
        fault_arm_alloc(++tries);
        rc = read_params(false, params, &request, reason);
        fault_arm_alloc(0);
        ck_assert(rc == SAP_OK || rc == SAP_NOMEM);
        if (rc == SAP_OK) {
            ck_assert_uint_eq(request.header_count, 2);
            request_release(&request);
        }
        ck_assert_uint_eq(mem_live_bytes(MEM_COMMON), 0);
    }
    ck_assert_uint_gt(tries, 2);
}
END_TEST

/* ---- URLs ------------------------------------------------------------------------------------ */

typedef struct UrlRow {
    const char *text;
    const char *host; /* NULL: refused */
    uint16_t port;
} UrlRow;

START_TEST(urls_are_read_as_they_will_be_called)
{
    static const UrlRow rows[] = {
        {"http://example.com", "example.com", 80},
        {"https://EXAMPLE.com./a?b#c", "example.com", 443},
        {"http://example.com:8080/", "example.com", 8080},
        {"http://127.1/", "127.0.0.1", 80},
        {"http://2130706433/", "127.0.0.1", 80},
        {"http://0x7f.1/", "127.0.0.1", 80},
        {"http://0177.0.0.1/", "127.0.0.1", 80},
        {"http://%31%32%37.0.0.1/", "127.0.0.1", 80},
        {"http://127.0.0.1./", "127.0.0.1", 80},
        {"http://127.1./", "127.0.0.1", 80},
        {"http://7./", "0.0.0.7", 80},
        {"http://[::1]:81/", "::1", 81},
        {"http://[::FFFF:127.0.0.1]/", "::ffff:127.0.0.1", 80},
        {"ftp://example.com/", NULL, 0},
        {"file:///etc/passwd", NULL, 0},
        {"gopher://example.com/", NULL, 0},
        {"example.com/", NULL, 0},
        {"/path", NULL, 0},
        {"http://", NULL, 0},
        {"http:///path", "path", 80}, /* libcurl reads it so, and so it is called */
        {"http://a..b/", NULL, 0},
        {"http://.a/", NULL, 0},
        {"http://a../", NULL, 0},
        {"http://./", NULL, 0},
        {"http://user@example.com/", NULL, 0},
        {"http://user:pass@example.com/", NULL, 0},
        {"http://example.com@127.0.0.1/", NULL, 0},
        {"http://example.com:0/", NULL, 0},
        {"http://example.com:65536/", NULL, 0},
        {"http://example.com:x/", NULL, 0},
        {"http://exa mple.com/", NULL, 0},
        {"http://example.com/\r\nHost: x", NULL, 0},
        {"http://ex\xc3\xa4mple.com/", NULL, 0},
        {"http://[fe80::1%25eth0]/", NULL, 0},
        {"http://[::1", NULL, 0},
        {"http://[zz]/", NULL, 0},
        {"http://a_b-c.d/", "a_b-c.d", 80},
        {"http://exa%2fmple.com/", NULL, 0},
        {"http://exam%00ple.com/", NULL, 0},
        {"http://example.com\\@127.0.0.1/", NULL, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Url url;
        char reason[URL_REASON_MAX] = "";
        int rc = url_read(rows[i].text, &url, reason);
        ck_assert_msg(rc == (rows[i].host == NULL ? SAP_INVALID : SAP_OK), "%s: %d %s %s",
                      rows[i].text, rc, reason, rc == SAP_OK ? url.host : "");
        if (rc == SAP_OK) {
            ck_assert_str_eq(url.host, rows[i].host);
            ck_assert_uint_eq(url.port, rows[i].port);
            url_release(&url);
        } else {
            ck_assert_uint_gt(strlen(reason), 0);
        }
    }
}
END_TEST

/* ---- Answers --------------------------------------------------------------------------------- */

static void add_lines(Answer *answer, const char *const *lines)
{
    for (; *lines != NULL; lines++) {
        EXPECT_RC(answer_add_header(answer, *lines, strlen(*lines)), SAP_OK);
    }
}

static void expect_written(const Answer *answer, long status, bool bare, const char *message,
                           const char *want)
{
    Buf out = {0};
    EXPECT_RC(answer_write(answer, status, bare, message, &out), SAP_OK);
    EXPECT(out.len == strlen(want) && memcmp(out.data, want, out.len) == 0, "%.*s, not %s",
           (int)out.len, (const char *)out.data, want);
    buf_release(&out);
}

START_TEST(an_answer_becomes_a_receipt_by_its_type)
{
    static const char *const json[] = {"HTTP/1.1 100 Continue\r\n",
                                       "X: no\r\n",
                                       "\r\n",
                                       "HTTP/1.1 200 OK\r\n",
                                       "Content-Type: Application/JSON ; charset=utf-8\r\n",
                                       "X-A:  1 \r\n",
                                       "x-a: 2\r\n",
                                       "Set-Cookie: a=b\r\n",
                                       "\r\n",
                                       NULL};
    static const char *const problem[] = {"HTTP/1.1 402 No\r\n",
                                          "content-type:application/problem+json\r\n", NULL};
    static const char *const plain[] = {"HTTP/1.1 200 OK\r\n", "Content-Type: text/plain\r\n",
                                        "X-Latin: caf\xe9\r\n", NULL};
    Answer answer = {0};
    add_lines(&answer, json);
    EXPECT_RC(buf_append_str(&answer.body, " {\"b\": 18446744073709551615, \"a\": 1.0}\n"), SAP_OK);
    expect_written(
        &answer, 200, false, NULL,
        "{\"status\":200,\"headers\":{\"content-type\":\"Application/JSON ; "
        "charset=utf-8\",\"x-a\":\"1, 2\"},\"body\":{\"a\":1,\"b\":18446744073709551615}}");
    expect_written(&answer, 200, true, NULL,
                   "{\"status\":200,\"body\":{\"a\":1,\"b\":18446744073709551615}}");
    buf_clear(&answer.body);
    expect_written(&answer, 200, true, NULL, "{\"status\":200}");
    EXPECT_RC(buf_append_str(&answer.body, "{\"a\":1,\"a\":2}"), SAP_OK);
    expect_written(&answer, 200, true, NULL,
                   "{\"status\":200,\"text\":\"{\\\"a\\\":1,\\\"a\\\":2}\"}");
    answer_clear(&answer);
    add_lines(&answer, problem);
    EXPECT_RC(buf_append_str(&answer.body, "[]"), SAP_OK);
    expect_written(&answer, 402, true, NULL, "{\"status\":402,\"body\":[]}");
    answer_clear(&answer);
    add_lines(&answer, plain);
    EXPECT_RC(buf_append_str(&answer.body, "{\"a\":1}"), SAP_OK);
    expect_written(&answer, 200, false, NULL,
                   "{\"status\":200,\"headers\":{\"content-type\":\"text/plain\",\"x-latin\":"
                   "\"caf\xc3\xa9\"},\"text\":\"{\\\"a\\\":1}\"}");
    buf_clear(&answer.body);
    EXPECT_RC(buf_append(&answer.body, "\x00\xff", 2), SAP_OK);
    expect_written(&answer, 200, true, NULL, "{\"status\":200,\"b64\":\"AP8=\"}");
    expect_written(&answer, 0, true, "no\nway", "{\"message\":\"noway\"}");
    answer_release(&answer);
}
END_TEST

START_TEST(an_answer_that_nests_too_deep_is_text)
{
    static const char *const json[] = {"HTTP/1.1 200 OK\r\n", "Content-Type: application/json\r\n",
                                       NULL};
    for (int depth = 60; depth < 70; depth++) {
        Answer answer = {0};
        Buf out = {0};
        add_lines(&answer, json);
        for (int i = 0; i < depth; i++) {
            EXPECT_RC(buf_append_u8(&answer.body, '['), SAP_OK);
        }
        for (int i = 0; i < depth; i++) {
            EXPECT_RC(buf_append_u8(&answer.body, ']'), SAP_OK);
        }
        EXPECT_RC(answer_write(&answer, 200, true, NULL, &out), SAP_OK);
        EXPECT_RC(buf_append_u8(&out, '\0'), SAP_OK);
        ck_assert_msg((strstr((char *)out.data, "\"body\"") != NULL) == (depth < 64), "%d", depth);
        buf_release(&out);
        answer_release(&answer);
    }
}
END_TEST

START_TEST(headers_have_limits)
{
    Answer answer = {0};
    char *line = (char *)malloc(ANSWER_HEADERS_MAX + 2);
    EXPECT(line != NULL, "no memory");
    int count = 0;
    while (answer_add_header(&answer, "a: b\r\n", 6) == SAP_OK) {
        count++;
    }
    ck_assert_int_eq(count, ANSWER_HEADER_COUNT_MAX);
    ck_assert_int_eq(answer_add_header(&answer, "HTTP/1.1 200 OK\r\n", 17), SAP_OK);
    memset(line, 'a', ANSWER_HEADERS_MAX + 2);
    line[1] = ':';
    ck_assert_int_eq(answer_add_header(&answer, line, ANSWER_HEADERS_MAX), SAP_FULL);
    ck_assert_int_eq(answer_add_header(&answer, line, ANSWER_HEADERS_MAX - 1), SAP_OK);
    ck_assert_int_eq(answer_add_header(&answer, line, 3), SAP_FULL);
    free(line);
    answer_release(&answer);
}
END_TEST

START_TEST(writing_a_receipt_without_memory_can_be_repeated)
{
    static const char *const json[] = {"HTTP/1.1 200 OK\r\n", "Content-Type: application/json\r\n",
                                       "a: b\r\n", "A: c\r\n", NULL};
    uint64_t tries = 0;
    Answer answer = {0};
    add_lines(&answer, json);
    EXPECT_RC(buf_append_str(&answer.body, "{\"a\":[1,2,3]}"), SAP_OK);
    size_t before = mem_live_bytes(MEM_COMMON);
    int rc = SAP_NOMEM;
    while (rc != SAP_OK) {
        Buf out = {0};
        fault_reset();
        fault_arm_alloc(++tries);
        rc = answer_write(&answer, 200, false, NULL, &out);
        fault_arm_alloc(0);
        ck_assert(rc == SAP_OK || rc == SAP_NOMEM);
        buf_release(&out);
        ck_assert_uint_eq(mem_live_bytes(MEM_COMMON), before);
    }
    ck_assert_uint_gt(tries, 5);
    answer_release(&answer);
}
END_TEST

/* ---- Secrets --------------------------------------------------------------------------------- */

typedef struct SecretBed {
    FileBed files;
    char path[FILES_PATH_MAX + 16];
    SecretSource source;
} SecretBed;

static void start_secrets(SecretBed *bed, const char *text, unsigned mode)
{
    file_bed_start(&bed->files);
    (void)snprintf(bed->path, sizeof bed->path, "%s/secrets.json", bed->files.dir);
    FILE *file = fopen(bed->path, "w");
    EXPECT(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0 &&
               chmod(bed->path, mode) == 0,
           "cannot write %s", bed->path);
    bed->source = secrets_file_source(bed->path);
}

static void end_secrets(SecretBed *bed)
{
    (void)unlink(bed->path);
    file_bed_end(&bed->files);
}

static int get_secret(const SecretBed *bed, const char *name, const char *to, char *value,
                      char *reason)
{
    Url url;
    Buf got = {0};
    EXPECT_RC(url_read(to, &url, reason), SAP_OK);
    reason[0] = '\0';
    int rc = bed->source.get(bed->source.ctx, name, &url, &got, reason);
    (void)snprintf(value, 64, "%.*s", (int)got.len, got.data == NULL ? "" : (const char *)got.data);
    secret_wipe(&got);
    url_release(&url);
    return rc;
}

static const char secrets[] =
    "{\"pay\":{\"value\":\"Bearer sk_live_1\",\"hosts\":[\"api.example.com\",\"b.example:8443\"]},"
    "\"plain\":{\"value\":\"v\",\"hosts\":[\"http://127.0.0.1:8080\",\"http://local\"]},"
    "\"broken\":{\"value\":1,\"hosts\":[]},\"nowhere\":{\"value\":\"sk_live_2\",\"hosts\":[]},"
    "\"bare\":\"sk_live_3\"}";

START_TEST(a_secret_goes_to_the_hosts_that_it_names_and_over_tls)
{
    SecretBed bed;
    char value[64];
    char reason[SECRET_REASON_MAX];
    start_secrets(&bed, secrets, 0600);
    ck_assert_int_eq(get_secret(&bed, "pay", "https://api.example.com/x", value, reason), SAP_OK);
    ck_assert_str_eq(value, "Bearer sk_live_1");
    ck_assert_int_eq(get_secret(&bed, "pay", "https://API.example.com.:9/x", value, reason),
                     SAP_OK);
    ck_assert_int_eq(get_secret(&bed, "pay", "https://b.example:8443/", value, reason), SAP_OK);
    ck_assert_int_eq(get_secret(&bed, "pay", "https://b.example/", value, reason), SAP_FENCED);
    ck_assert_int_eq(get_secret(&bed, "pay", "http://api.example.com/x", value, reason),
                     SAP_FENCED);
    ck_assert_str_eq(value, "");
    ck_assert_int_eq(get_secret(&bed, "pay", "https://evil.example/x", value, reason), SAP_FENCED);
    ck_assert_ptr_nonnull(strstr(reason,
                                 "the secret \"pay\" may not go to https://evil.example:443: "
                                 "add evil.example to its hosts in "));
    ck_assert_int_eq(get_secret(&bed, "pay", "https://xapi.example.com/", value, reason),
                     SAP_FENCED);
    ck_assert_int_eq(get_secret(&bed, "pay", "https://api.example.com.evil/", value, reason),
                     SAP_FENCED);
    ck_assert_int_eq(get_secret(&bed, "plain", "http://127.0.0.1:8080/", value, reason), SAP_OK);
    ck_assert_int_eq(get_secret(&bed, "plain", "http://127.0.0.1:8081/", value, reason),
                     SAP_FENCED);
    ck_assert_int_eq(get_secret(&bed, "plain", "http://local:1/", value, reason), SAP_OK);
    ck_assert_int_eq(get_secret(&bed, "plain", "https://local/", value, reason), SAP_FENCED);
    ck_assert_int_eq(get_secret(&bed, "nowhere", "https://a/", value, reason), SAP_FENCED);
    ck_assert_int_eq(get_secret(&bed, "none", "https://a/", value, reason), SAP_NOTFOUND);
    ck_assert_int_eq(get_secret(&bed, "broken", "https://a/", value, reason), SAP_INVALID);
    ck_assert_int_eq(get_secret(&bed, "bare", "https://a/", value, reason), SAP_INVALID);
    ck_assert_ptr_null(strstr(reason, "sk_live"));
    end_secrets(&bed);
}
END_TEST

START_TEST(a_file_of_secrets_that_others_may_read_is_not_used)
{
    static const unsigned modes[] = {0640, 0604, 0660, 0644, 0602, 0777};
    char value[64];
    char reason[SECRET_REASON_MAX];
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        SecretBed bed;
        start_secrets(&bed, secrets, modes[i]);
        ck_assert_int_eq(get_secret(&bed, "pay", "https://api.example.com/", value, reason),
                         SAP_INVALID);
        ck_assert_ptr_nonnull(strstr(reason, "chmod 600"));
        ck_assert_str_eq(value, "");
        end_secrets(&bed);
    }
}
END_TEST

START_TEST(a_file_of_secrets_that_is_broken_or_missing_is_told_without_showing_it)
{
    static const char *const texts[] = {"", "[]", "{\"pay\":{\"value\":\"sk_live_1\"", "sk_live_1",
                                        "{\"a\":\"sk_live_1\"}x"};
    char value[64];
    char reason[SECRET_REASON_MAX];
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        SecretBed bed;
        start_secrets(&bed, texts[i], 0600);
        ck_assert_int_eq(get_secret(&bed, "pay", "https://a/", value, reason), SAP_INVALID);
        ck_assert_uint_gt(strlen(reason), 0);
        ck_assert_ptr_null(strstr(reason, "sk_live"));
        end_secrets(&bed);
    }
    SecretBed bed;
    start_secrets(&bed, secrets, 0600);
    ck_assert_int_eq(unlink(bed.path), 0);
    ck_assert_int_eq(get_secret(&bed, "pay", "https://a/", value, reason), SAP_NOTFOUND);
    ck_assert_ptr_nonnull(strstr(reason, "does not exist"));
    ck_assert_int_eq(symlink("/etc/hostname", bed.path), 0);
    ck_assert_int_eq(get_secret(&bed, "pay", "https://a/", value, reason), SAP_IO);
    end_secrets(&bed);
}
END_TEST

START_TEST(what_repeats_a_secret_is_masked)
{
    Buf value = {0};
    Buf shorter = {0};
    char text[] = "sk_1sk_1 xsk_1x sk_ sk_1";
    char same[] = "abc";
    EXPECT_RC(buf_append_str(&value, "sk_1"), SAP_OK);
    EXPECT_RC(buf_append_str(&shorter, "abc"), SAP_OK);
    secret_mask(&value, text, strlen(text));
    ck_assert_str_eq(text, "******** x****x sk_ ****");
    secret_mask(&shorter, same, 3);
    ck_assert_str_eq(same, "abc");
    secret_mask(&value, NULL, 0);
    secret_wipe(&value);
    secret_wipe(&shorter);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("node_outbound_params");
    TCase *test_case = tcase_create("params");
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, params_that_are_wrong_are_refused_and_the_field_is_named);
    tcase_add_test(test_case, params_of_another_encoding_are_refused);
    tcase_add_test(test_case, params_have_defaults);
    tcase_add_test(test_case, a_body_is_sent_as_it_was_written_with_its_type);
    tcase_add_test(test_case, reading_params_without_memory_can_be_repeated);
    tcase_add_test(test_case, urls_are_read_as_they_will_be_called);
    suite_add_tcase(suite, test_case);
    test_case = tcase_create("answers");
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, an_answer_becomes_a_receipt_by_its_type);
    tcase_add_test(test_case, an_answer_that_nests_too_deep_is_text);
    tcase_add_test(test_case, headers_have_limits);
    tcase_add_test(test_case, writing_a_receipt_without_memory_can_be_repeated);
    suite_add_tcase(suite, test_case);
    test_case = tcase_create("secrets");
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, a_secret_goes_to_the_hosts_that_it_names_and_over_tls);
    tcase_add_test(test_case, a_file_of_secrets_that_others_may_read_is_not_used);
    tcase_add_test(test_case,
                   a_file_of_secrets_that_is_broken_or_missing_is_told_without_showing_it);
    tcase_add_test(test_case, what_repeats_a_secret_is_masked);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
