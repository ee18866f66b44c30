/* Calls to the outside: what they may not reach, and what they may not give away. */
#include "node_outbound_bed.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sodium.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { TIMEOUT_S = 240, HEX_MAC = 2 * crypto_auth_hmacsha256_BYTES };

#define SECRET "hidden-value-1"

/* ---- The server ------------------------------------------------------------------------------ */

/* Answers with what it was sent, as text: a server that repeats secrets. */
static bool repeat_request(int fd, const HttpRequest *request)
{
    char headers[2048];
    char value[512] = "";
    (void)http_header(request, "Authorization", value, sizeof value);
    (void)snprintf(headers, sizeof headers, "Content-Type: text/plain\r\nX-Back: %s\r\n", value);
    return http_answer(fd, 200, headers, request->head);
}

/* "/to?STATUS&URL" redirects there; "/hops/N" redirects N times. */
static bool redirect(int fd, const HttpRequest *request, const OutboundBed *bed)
{
    char headers[2048];
    if (strncmp(request->path, "/hops/", 6) == 0) {
        long left = strtol(request->path + 6, NULL, 10);
        (void)snprintf(headers, sizeof headers, "Location: http://%s/%s%ld\r\n", bed->place,
                       left == 1 ? "show?" : "hops/", left - 1);
        return http_answer(fd, 302, headers, "");
    }
    long status = strtol(request->path + 4, NULL, 10);
    const char *to = strchr(request->path, '&');
    (void)snprintf(headers, sizeof headers, "Location: %s\r\n", to == NULL ? "" : to + 1);
    bool bare = status == 304 || strcmp(request->method, "HEAD") == 0;
    return http_answer(fd, (int)status, headers, bare ? "" : "moved");
}

/* Which headers came. */
static bool show_request(int fd, const HttpRequest *request)
{
    char text[2048];
    char value[512];
    static const char *const names[] = {"Authorization", "Cookie",       "X-Secret",
                                        "X-Plain",       "Content-Type", "Host"};
    int len = snprintf(text, sizeof text, "%s %s body=%s;", request->method, request->path,
                       request->body);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (http_header(request, names[i], value, sizeof value)) {
            len += snprintf(text + len, sizeof text - (size_t)len, " %s=%s;", names[i], value);
        }
    }
    bool bare = strcmp(request->method, "HEAD") == 0;
    return http_answer(fd, 200, "Content-Type: text/plain\r\n", bare ? "" : text);
}

/* Whether the signature is that of SECRET over the time, a dot and the body. */
static bool check_signature(int fd, const HttpRequest *request)
{
    char value[512];
    char text[64];
    char hex[HEX_MAC + 1];
    uint8_t mac[crypto_auth_hmacsha256_BYTES];
    crypto_auth_hmacsha256_state state;
    if (!http_header(request, "Sapling-Signature", value, sizeof value)) {
        return http_answer(fd, 200, "", "unsigned");
    }
    unsigned long long at = strtoull(value + 2, NULL, 10);
    uint64_t now = clock_wall_ns(NULL) / UINT64_C(1000000000);
    (void)snprintf(text, sizeof text, "%llu.", at);
    (void)crypto_auth_hmacsha256_init(&state, (const uint8_t *)SECRET, strlen(SECRET));
    (void)crypto_auth_hmacsha256_update(&state, (const uint8_t *)text, strlen(text));
    (void)crypto_auth_hmacsha256_update(&state, (const uint8_t *)request->body, request->body_len);
    (void)crypto_auth_hmacsha256_final(&state, mac);
    const char *given = strstr(value, ",v1=");
    bool good = given != NULL && at <= now && now - at < 3600 &&
                strcmp(given + 4, sodium_bin2hex(hex, sizeof hex, mac, sizeof mac)) == 0;
    return http_answer(fd, 200, "", good ? "signed" : "forged");
}

static bool serve_path(HttpServer *server, int fd, const HttpRequest *request, void *ctx)
{
    const char *path = request->path;
    (void)server;
    if (strncmp(path, "/to?", 4) == 0 || strncmp(path, "/hops/", 6) == 0) {
        return redirect(fd, request, (const OutboundBed *)ctx);
    }
    if (strcmp(path, "/loop") == 0) {
        return http_answer(fd, 302, "Location: loop\r\n", "");
    }
    if (strcmp(path, "/nowhere") == 0) {
        return http_answer(fd, 302, "", "no location");
    }
    if (strcmp(path, "/signature") == 0) {
        return check_signature(fd, request);
    }
    if (strcmp(path, "/repeat") == 0) {
        return repeat_request(fd, request);
    }
    return show_request(fd, request);
}

/* ---- Addresses ------------------------------------------------------------------------------- */

/* Expects that the URL, with "PORT" replaced by that of the server, is not called. */
static void expect_refused(OutboundBed *bed, const char *url, const char *part)
{
    char params[BED_TEXT];
    const char *port = strstr(url, "PORT");
    if (port == NULL) {
        (void)snprintf(params, sizeof params, "{\"url\":\"%s\"}", url);
    } else {
        (void)snprintf(params, sizeof params, "{\"url\":\"%.*s%u%s\"}", (int)(port - url), url,
                       http_server_port(bed->server), port + 4);
    }
    bed_expect(bed, false, params, CALL_ERROR, "address_refused", part);
    bed_expect(bed, true, params, CALL_ERROR, "address_refused", part);
}

static const char *const loopback_urls[] = {
    "http://127.0.0.1:PORT/",
    "http://127.1:PORT/",
    "http://127.0.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0x7f.0.0.1:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://%31%32%37.0.0.1:PORT/",
    "http://0:PORT/",
    "http://0.0.0.0:PORT/",
    "http://127.0.0.1.:PORT/",
    "http://[::]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "http://[64:ff9b::127.0.0.1]:PORT/",
    "http://[2002:7f00:1::]:PORT/",
    "http://[0:0:0:0:0:ffff:7f00:0001]:PORT/",
    "http://loop.test:PORT/",
    "http://LOOP.Test.:PORT/",
    "http://127.0.0.1.addr.test:PORT/",
};

START_TEST(what_only_this_machine_or_its_network_can_reach_is_not_called)
{
    static const char *const others[] = {
        "http://10.0.0.1/",           "http://192.168.1.1/",
        "https://172.16.0.1/",        "http://169.254.169.254/latest/meta-data/",
        "http://100.64.0.1/",         "http://224.0.0.1/",
        "http://255.255.255.255/",    "http://[::1]/",
        "http://[fe80::1]/",          "http://[fd00::1]/",
        "http://[fec0::1]/",          "http://[ff02::1]/",
        "http://10.0.0.1.addr.test/", "http://169.254.169.254.addr.test/",
    };
    OutboundBed bed;
    bed_start(&bed, serve_path);
    bed.options.allow_count = 0;
    bed_open(&bed);
    size_t count = sizeof loopback_urls / sizeof loopback_urls[0];
    for (size_t i = 0; i < count; i++) {
        expect_refused(&bed, loopback_urls[i], "unless the node is started with --allow-http ");
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        expect_refused(&bed, others[i], "unless the node is started with --allow-http ");
    }
    expect_refused(&bed, "http://loop.test:81/",
                   "loop.test is 127.0.0.1, a loopback address: worlds may "
                   "not call it unless the node is started with "
                   "--allow-http loop.test:81\"");
    ck_assert_uint_eq(http_server_connections(bed.server), 0);
    bed_end(&bed);
}
END_TEST

START_TEST(the_nodes_own_listener_is_not_called_however_it_is_written_and_whatever_is_allowed)
{
    OutboundBed bed;
    char name[64];
    char zero[64];
    bed_start(&bed, serve_path);
    (void)snprintf(name, sizeof name, "loop.test:%u", http_server_port(bed.server));
    (void)snprintf(zero, sizeof zero, "0.0.0.0:%u", http_server_port(bed.server));
    bed.allow[1] = name;
    bed.allow[2] = zero;
    bed.options.allow_count = 3;
    bed.own[0] = bed.place;
    bed.options.own_count = 1;
    bed_open(&bed);
    size_t count = sizeof loopback_urls / sizeof loopback_urls[0];
    for (size_t i = 0; i < count; i++) {
        expect_refused(&bed, loopback_urls[i], "where this node itself listens");
    }
    ck_assert_uint_eq(http_server_connections(bed.server), 0);
    bed_end(&bed);
}
END_TEST

START_TEST(what_is_allowed_is_called_and_its_neighbour_is_not)
{
    OutboundBed bed;
    char params[BED_TEXT];
    bed_start(&bed, serve_path);
    bed_open(&bed);
    bed_expect_request(&bed, "/", "", CALL_OK, "", "GET / body=;");
    (void)snprintf(params, sizeof params, "{\"url\":\"http://[::ffff:127.0.0.1]:%u/\"}",
                   http_server_port(bed.server));
    bed_expect(&bed, false, params, CALL_OK, "", "GET / body=;");
    (void)snprintf(params, sizeof params, "{\"url\":\"http://127.0.0.1:%u/\"}",
                   http_server_port(bed.other));
    bed_expect(&bed, false, params, CALL_ERROR, "address_refused", "--allow-http 127.0.0.1:");
    (void)snprintf(params, sizeof params, "{\"url\":\"http://127.0.0.2:%u/\"}",
                   http_server_port(bed.server));
    bed_expect(&bed, false, params, CALL_ERROR, "address_refused", NULL);
    ck_assert_uint_eq(http_server_connections(bed.other), 0);
    bed_end(&bed);
}
END_TEST

START_TEST(a_name_is_resolved_once_and_called_at_that_address)
{
    OutboundBed bed;
    char params[BED_TEXT];
    bed_start(&bed, serve_path);
    bed_open(&bed);
    /* 127.0.0.1, which is allowed, and 127.0.0.2, which is not, if anybody asks again. */
    (void)snprintf(params, sizeof params, "{\"url\":\"http://rebind.test:%u/a\"}",
                   http_server_port(bed.server));
    bed_expect(&bed, false, params, CALL_OK, "", "Host=rebind.test:");
    ck_assert_uint_eq(bed.lookups, 1);
    bed_expect(&bed, false, params, CALL_ERROR, "address_refused", "rebind.test is 127.0.0.2");
    ck_assert_uint_eq(bed.lookups, 2);
    bed_end(&bed);
}
END_TEST

/* Runs a transfer to its end; returns libcurl's code. */
static CURLcode run_transfer(CURLM *multi)
{
    int running = 1;
    int left = 0;
    while (running > 0) {
        EXPECT(curl_multi_perform(multi, &running) == CURLM_OK, "no transfer");
        EXPECT(curl_multi_poll(multi, NULL, 0, 1000, NULL) == CURLM_OK, "no transfer");
    }
    CURLMsg *message = curl_multi_info_read(multi, &left);
    EXPECT(message != NULL && message->msg == CURLMSG_DONE, "not done");
    return message->data.result;
}

START_TEST(a_socket_is_opened_only_to_an_address_that_was_checked)
{
    OutboundBed bed;
    Url url;
    Address address;
    char text[BED_TEXT];
    int owner = 0;
    bed_start(&bed, serve_path);
    bed_open(&bed);
    (void)snprintf(text, sizeof text, "http://127.0.0.1:%u/", http_server_port(bed.server));
    EXPECT_RC(url_read(text, &url, text), SAP_OK);
    for (int i = 0; i < 2; i++) {
        Transfer transfer = {.multi = NULL};
        CURLM *multi = curl_multi_init(); /* what was connected must not serve the next one */
        ck_assert(address_read("127.0.0.1", (uint16_t)(url.port + i), &address));
        const TransferRequest request = {.url = &url,
                                         .method = "GET",
                                         .addresses = &address,
                                         .address_count = 1,
                                         .timeout_ms = 60000,
                                         .slow_ms = 60000,
                                         .max_bytes = 1000,
                                         .owner = &owner};
        EXPECT_RC(transfer_start(&transfer, multi, &request), SAP_OK);
        CURLcode code = run_transfer(multi);
        ck_assert_int_eq(transfer.fault, i == 0 ? TRANSFER_NO_FAULT : TRANSFER_SOCKET_REFUSED);
        ck_assert_int_eq(code == CURLE_OK, i == 0);
        transfer_end(&transfer);
        (void)curl_multi_cleanup(multi);
    }
    ck_assert_uint_eq(http_server_connections(bed.server), 1);
    url_release(&url);
    bed_end(&bed);
}
END_TEST

START_TEST(a_server_with_an_ipv6_address_is_called)
{
    OutboundBed bed;
    char place[64];
    char params[BED_TEXT];
    bed_start(&bed, serve_path);
    HttpServer *six = http_server_start("::1", serve_path, &bed);
    if (six != NULL) {
        (void)snprintf(place, sizeof place, "[::1]:%u", http_server_port(six));
        bed.allow[1] = place;
        bed.options.allow_count = 2;
        bed_open(&bed);
        (void)snprintf(params, sizeof params, "{\"url\":\"http://[0:0::1]:%u/six\"}",
                       http_server_port(six));
        bed_expect(&bed, false, params, CALL_OK, "", "GET /six body=; Host=[::1]:");
    } else {
        printf("this machine has no ::1\n");
    }
    bed_end(&bed);
    http_server_stop(six);
}
END_TEST

/* ---- Redirects ------------------------------------------------------------------------------- */

/* A path that redirects to `rest` at the bed's server. */
static const char *path_to(const OutboundBed *bed, int status, const char *rest, char room[512])
{
    (void)snprintf(room, 512, "/to?%d&http://%s%s", status, bed->place, rest);
    return room;
}

START_TEST(a_redirect_is_an_answer_unless_the_world_wants_it_followed)
{
    OutboundBed bed;
    char room[512];
    bed_start(&bed, serve_path);
    bed_open(&bed);
    bed_expect_request(&bed, path_to(&bed, 302, "/a", room), "", CALL_ERROR, "http_302",
                       "\"location\":\"http://127.0.0.1:");
    bed_expect_request(&bed, path_to(&bed, 302, "/a", room), ",\"follow\":true", CALL_OK, "",
                       "GET /a body=;");
    bed_expect_request(&bed, "/to?302&/a", ",\"follow\":true", CALL_OK, "", "GET /a body=;");
    bed_expect_request(&bed, "/nowhere", ",\"follow\":true", CALL_ERROR, "http_302", "no location");
    bed_expect_request(&bed, path_to(&bed, 304, "/a", room), ",\"follow\":true", CALL_ERROR,
                       "http_304", NULL);
    bed_expect(&bed, true, bed_params(&bed, "/to?302&/a", "", (char[BED_TEXT]){0}), CALL_ERROR,
               "http_302", NULL);
    bed_end(&bed);
}
END_TEST

START_TEST(a_redirect_changes_the_method_as_its_status_says)
{
    static const struct {
        int status;
        const char *method;
        const char *seen;
    } rows[] = {
        {301, "POST", "GET /a body=; Host"},
        {302, "POST", "GET /a body=; Host"},
        {303, "POST", "GET /a body=; Host"},
        {307, "POST", "POST /a body=[1]; Content-Type"},
        {308, "POST", "POST /a body=[1]; Content-Type"},
        {301, "PUT", "PUT /a body=[1]; Content-Type"},
        {302, "PATCH", "PATCH /a body=[1]; Content-Type"},
        {303, "PUT", "GET /a body=; Host"},
        {303, "DELETE", "GET /a body=; Host"},
        {307, "DELETE", "DELETE /a body=[1]; Content-Type"},
    };
    OutboundBed bed;
    char room[512];
    char more[128];
    bed_start(&bed, serve_path);
    bed_open(&bed);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        (void)snprintf(more, sizeof more, ",\"follow\":true,\"body\":[1],\"method\":\"%s\"",
                       rows[i].method);
        bed_expect_request(&bed, path_to(&bed, rows[i].status, "/a", room), more, CALL_OK, "",
                           rows[i].seen);
    }
    bed_expect_request(&bed, path_to(&bed, 302, "/a", room), ",\"follow\":true,\"method\":\"HEAD\"",
                       CALL_OK, "", "\"status\":200");
    bed_end(&bed);
}
END_TEST

START_TEST(redirects_end)
{
    OutboundBed bed;
    bed_start(&bed, serve_path);
    bed_open(&bed);
    bed_expect_request(&bed, "/hops/5", ",\"follow\":true", CALL_OK, "", "GET /show?0");
    uint32_t before = http_server_requests(bed.server);
    bed_expect_request(&bed, "/hops/6", ",\"follow\":true", CALL_ERROR, "too_many_redirects",
                       "redirects further, after 5 redirects");
    bed_expect_request(&bed, "/loop", ",\"follow\":true", CALL_ERROR, "too_many_redirects", NULL);
    ck_assert_uint_eq(http_server_requests(bed.server), before + 12);
    bed_end(&bed);
}
END_TEST

START_TEST(a_redirect_is_checked_as_the_first_url_was)
{
    static const char *const refused[] = {"http://10.0.0.1/",    "http://169.254.169.254/latest/",
                                          "http://[::1]/",       "http://127.1:1/",
                                          "http://loop.test:9/", "http://10.1.2.3.addr.test/"};
    static const char *const wrong[] = {"file:///etc/passwd", "ftp://a/", "http://user:pw@a/",
                                        "gopher://127.0.0.1:25/_", "http://a:0/"};
    OutboundBed bed;
    char path[512];
    char own[64];
    bed_start(&bed, serve_path);
    (void)snprintf(own, sizeof own, "127.0.0.1:%u", http_server_port(bed.other));
    bed.own[0] = own;
    bed.options.own_count = 1;
    bed.allow[1] = own;
    bed.options.allow_count = 2;
    bed_open(&bed);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        (void)snprintf(path, sizeof path, "/to?307&%s", refused[i]);
        bed_expect_request(&bed, path, ",\"follow\":true", CALL_ERROR, "address_refused",
                           "--allow-http");
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        (void)snprintf(path, sizeof path, "/to?307&%s", wrong[i]);
        bed_expect_request(&bed, path, ",\"follow\":true", CALL_ERROR, "redirect_refused",
                           "redirects to what cannot be called: ");
    }
    (void)snprintf(path, sizeof path, "/to?307&http://loop.test:%u/", http_server_port(bed.other));
    bed_expect_request(&bed, path, ",\"follow\":true", CALL_ERROR, "address_refused",
                       "this node itself listens");
    ck_assert_uint_eq(http_server_connections(bed.other), 0);
    bed_end(&bed);
}
END_TEST

START_TEST(another_origin_gets_neither_authorization_nor_cookies_nor_secrets)
{
    static const char more[] =
        ",\"follow\":true,\"headers\":{\"Authorization\":\"Basic xyz\",\"Cookie\":\"a=b\","
        "\"X-Secret\":{\"secret\":\"s\"},\"X-Plain\":\"p\"}";
    OutboundBed bed;
    char other[64];
    char path[512];
    bed_start(&bed, serve_path);
    bed_write_secrets(&bed, "{\"s\":{\"value\":\"v\",\"hosts\":[\"http://127.0.0.1\"]}}");
    (void)snprintf(other, sizeof other, "127.0.0.1:%u", http_server_port(bed.other));
    bed.allow[1] = other;
    bed.options.allow_count = 2;
    bed_open(&bed);
    bed_expect_request(&bed, path_to(&bed, 302, "/a", path), more, CALL_OK, "",
                       "Authorization=Basic xyz; Cookie=a=b; X-Secret=v; X-Plain=p;");
    (void)snprintf(path, sizeof path, "/to?302&http://%s/b", other);
    bed_expect_request(&bed, path, more, CALL_OK, "", "GET /b body=; X-Plain=p;");
    /* Nor the first origin, once the way back is another's. */
    (void)snprintf(path, sizeof path, "/to?302&http://%s/to?302&http://%s/c", other, bed.place);
    bed_expect_request(&bed, path, more, CALL_OK, "", "GET /c body=; X-Plain=p;");
    bed_end(&bed);
}
END_TEST

/* ---- Secrets --------------------------------------------------------------------------------- */

START_TEST(a_secret_reaches_the_server_and_nothing_else)
{
    OutboundBed bed;
    CallResult result;
    char room[BED_TEXT];
    bed_start(&bed, serve_path);
    bed_write_secrets(&bed,
                      "{\"s\":{\"value\":\"Bearer " SECRET "\",\"hosts\":[\"http://127.0.0.1\"]}}");
    bed_open(&bed);
    static const char more[] = ",\"headers\":{\"Authorization\":{\"secret\":\"s\"}}";
    bed_wait(&bed, bed_ask(&bed, false, bed_params(&bed, "/repeat", more, room)), &result);
    const char *payload = (const char *)result.payload.data;
    ck_assert_ptr_null(strstr(payload, SECRET));
    ck_assert_ptr_null(strstr(payload, "Bearer"));
    ck_assert_ptr_nonnull(strstr(payload, "Authorization: *********************\\r"));
    ck_assert_ptr_nonnull(strstr(payload, "\"x-back\":\"*********************\""));
    bed_expect_result(&result, CALL_OK, "", NULL);
    bed_expect(&bed, false, bed_params(&bed, "/to?402&/a", more, room), CALL_ERROR, "http_402",
               NULL);
    ck_assert(!bed_logged(&bed, SECRET));
    bed_end(&bed);
}
END_TEST

START_TEST(a_secret_that_may_not_go_there_ends_the_call_before_it_begins)
{
    static const char more[] = ",\"headers\":{\"X-Secret\":{\"secret\":\"s\"}}";
    OutboundBed bed;
    char room[BED_TEXT];
    bed_start(&bed, serve_path);
    bed_open(&bed);
    bed_expect_request(&bed, "/", more, CALL_ERROR, "secret_unknown", "there are no secrets: ");
    bed_write_secrets(&bed, "{\"s\":{\"value\":\"" SECRET
                            "\",\"hosts\":[\"127.0.0.1\",\"http://other\"]}}");
    bed_expect_request(&bed, "/", more, CALL_ERROR, "secret_refused",
                       "the secret \\\"s\\\" may not go to http://127.0.0.1:");
    bed_expect_request(&bed, "/", ",\"headers\":{\"X-Secret\":{\"secret\":\"t\"}}", CALL_ERROR,
                       "secret_unknown", "has no secret of the name \\\"t\\\"");
    bed_expect(&bed, true,
               bed_params(&bed, "/signature", ",\"body\":1,\"secret\":{\"secret\":\"s\"}", room),
               CALL_ERROR, "secret_refused", NULL);
    ck_assert_int_eq(chmod(bed.secrets, 0644), 0);
    bed_expect_request(&bed, "/", more, CALL_ERROR, "secret_refused", "chmod 600");
    bed_write_secrets(&bed,
                      "{\"s\":{\"value\":\"a\\r\\nX-Plain: b\",\"hosts\":[\"http://127.0.0.1\"]}}");
    bed_expect_request(&bed, "/", more, CALL_ERROR, "secret_refused",
                       "the value of \\\"s\\\" has a control character");
    ck_assert_uint_eq(http_server_connections(bed.server), 0);
    ck_assert(!bed_logged(&bed, SECRET));
    bed_end(&bed);
}
END_TEST

START_TEST(a_node_without_secrets_says_so)
{
    OutboundBed bed;
    bed_start(&bed, serve_path);
    bed.options.secrets = (SecretSource){NULL, NULL};
    bed_open(&bed);
    bed_expect_request(&bed, "/", ",\"headers\":{\"X-Secret\":{\"secret\":\"s\"}}", CALL_ERROR,
                       "secret_unknown", "this node has no secrets");
    bed_end(&bed);
}
END_TEST

START_TEST(a_webhook_is_signed_with_its_secret)
{
    OutboundBed bed;
    char room[BED_TEXT];
    bed_start(&bed, serve_path);
    bed_write_secrets(&bed, "{\"s\":{\"value\":\"" SECRET "\",\"hosts\":[\"http://127.0.0.1\"]},"
                            "\"t\":{\"value\":\"another\",\"hosts\":[\"http://127.0.0.1\"]}}");
    bed_open(&bed);
    bed_expect(
        &bed, true,
        bed_params(&bed, "/signature", ",\"body\":{\"a\":1},\"secret\":{\"secret\":\"s\"}", room),
        CALL_OK, "", "\"text\":\"signed\"");
    bed_expect(&bed, true, bed_params(&bed, "/signature", ",\"secret\":{\"secret\":\"s\"}", room),
               CALL_OK, "", "\"text\":\"signed\"");
    bed_expect(
        &bed, true,
        bed_params(&bed, "/signature", ",\"body\":{\"a\":1},\"secret\":{\"secret\":\"t\"}", room),
        CALL_OK, "", "\"text\":\"forged\"");
    bed_expect(&bed, true, bed_params(&bed, "/signature", ",\"body\":{\"a\":1}", room), CALL_OK, "",
               "\"text\":\"unsigned\"");
    bed_end(&bed);
}
END_TEST

/* ---- TLS ------------------------------------------------------------------------------------- */

/* Of tls.test, signed by itself; from 2000 to 2099. */
static const char tls_key[] = "-----BEGIN PRIVATE KEY-----\n"
                              "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgrCHo/ykfHCP6hL0y\n"
                              "qmM4J2LJ1F3gmnlnoXmPA4DLoSKhRANCAARC9JfV+caGfjhcJObvQs/wzsxmDlki\n"
                              "TUHbZlhcsVWMGEdFeoRmZYhEnv5s8w4P60+7zi2R0ZuLU/pnIJHHMwke\n"
                              "-----END PRIVATE KEY-----\n";
static const char tls_certificate[] =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBcTCCARegAwIBAgIUS5R8funuWfdcm0LaqjqLbt2r3h4wCgYIKoZIzj0EAwIw\n"
    "EzERMA8GA1UEAwwIdGxzLnRlc3QwIBcNMDAwMTAxMDAwMDAwWhgPMjA5OTAxMDEw\n"
    "MDAwMDBaMBMxETAPBgNVBAMMCHRscy50ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0D\n"
    "AQcDQgAEQvSX1fnGhn44XCTm70LP8M7MZg5ZIk1B22ZYXLFVjBhHRXqEZmWIRJ7+\n"
    "bPMOD+tPu84tkdGbi1P6ZyCRxzMJHqNHMEUwEwYDVR0RBAwwCoIIdGxzLnRlc3Qw\n"
    "DwYDVR0TAQH/BAUwAwEB/zAdBgNVHQ4EFgQUtXW/CW6JtB83JBPi84xwmo9aF0Qw\n"
    "CgYIKoZIzj0EAwIDSAAwRQIgD67gd5jTg7Pcr596ow3KdzY1lz6r1w/SIUbLG5Nq\n"
    "LwsCIQCvr3Q+/YNVv5zw5A5tXJ6wJlwbsnk4T0iWqL7TMVrLkg==\n"
    "-----END CERTIFICATE-----\n";

/* Answers "GET /down" with a redirect to a URL without TLS, and everything else with "over TLS". */
static const char tls_program[] =
    "import socket, ssl, sys\n"
    "context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)\n"
    "context.load_cert_chain(sys.argv[1], sys.argv[2])\n"
    "listener = socket.create_server(('127.0.0.1', 0))\n"
    "print(listener.getsockname()[1], flush=True)\n"
    "while True:\n"
    "    plain, _ = listener.accept()\n"
    "    try:\n"
    "        with context.wrap_socket(plain, server_side=True) as s:\n"
    "            head = b''\n"
    "            while b'\\r\\n\\r\\n' not in head:\n"
    "                head += s.recv(4096) or b'\\r\\n\\r\\n'\n"
    "            if b'/down' in head:\n"
    "                s.sendall(b'HTTP/1.1 302 Down\\r\\nLocation: ' + sys.argv[3].encode() +\n"
    "                          b'\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n')\n"
    "            else:\n"
    "                s.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 8\\r\\nConnection: close\\r\\n\\r\\nover TLS')\n"
    "    except (ssl.SSLError, OSError):\n"
    "        plain.close()\n";

typedef struct TlsServer {
    pid_t pid;
    unsigned port;
    char certificate[FILES_PATH_MAX + 16];
    char key[FILES_PATH_MAX + 16];
    char program[FILES_PATH_MAX + 16];
} TlsServer;

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    EXPECT(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "cannot write %s", path);
}

static void start_tls(TlsServer *tls, const OutboundBed *bed)
{
    int ends[2];
    char down[128];
    char text[32] = "";
    (void)snprintf(tls->certificate, sizeof tls->certificate, "%s/cert.pem", bed->files.dir);
    (void)snprintf(tls->key, sizeof tls->key, "%s/key.pem", bed->files.dir);
    (void)snprintf(tls->program, sizeof tls->program, "%s/tls.py", bed->files.dir);
    (void)snprintf(down, sizeof down, "http://%s/", bed->place);
    write_text(tls->certificate, tls_certificate);
    write_text(tls->key, tls_key);
    write_text(tls->program, tls_program);
    EXPECT(pipe2(ends, O_CLOEXEC) == 0, "no pipe");
    tls->pid = fork();
    EXPECT(tls->pid >= 0, "no process");
    if (tls->pid == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)execlp("python3", "python3", tls->program, tls->certificate, tls->key, down,
                     (char *)NULL);
        _exit(1);
    }
    (void)close(ends[1]);
    for (size_t len = 0; strchr(text, '\n') == NULL; len++) {
        EXPECT(len < sizeof text - 1 && read(ends[0], text + len, 1) == 1,
               "python3 does not serve TLS");
    }
    (void)close(ends[0]);
    tls->port = (unsigned)strtoul(text, NULL, 10);
}

static void end_tls(const TlsServer *tls)
{
    int status = 0;
    (void)kill(tls->pid, SIGKILL);
    (void)waitpid(tls->pid, &status, 0);
    (void)unlink(tls->certificate);
    (void)unlink(tls->key);
    (void)unlink(tls->program);
}

static void expect_tls(OutboundBed *bed, const TlsServer *tls, const char *rest,
                       CallVerdict verdict, const char *code, const char *part)
{
    char params[BED_TEXT];
    (void)snprintf(params, sizeof params, "{\"url\":\"https://%.*s:%u/%s\",\"follow\":true}",
                   (int)strcspn(rest, "/"), rest, tls->port, strchr(rest, '/') + 1);
    bed_expect(bed, false, params, verdict, code, part);
}

START_TEST(a_certificate_must_be_of_the_host_and_of_an_authority_that_is_trusted)
{
    OutboundBed bed;
    TlsServer tls;
    char place[64];
    bed_start(&bed, serve_path);
    start_tls(&tls, &bed);
    (void)snprintf(place, sizeof place, "127.0.0.1:%u", tls.port);
    bed.allow[0] = place;
    bed_open(&bed);
    expect_tls(&bed, &tls, "loop.test/", CALL_ERROR, "tls_refused", "certificate");
    outbound_close(bed.outbound);
    metrics_release(&bed.metrics);
    EXPECT_RC(metrics_init(&bed.metrics), SAP_OK);
    bed.options.ca_file = tls.certificate;
    bed.lookups = 0;
    bed_open(&bed);
    expect_tls(&bed, &tls, "tls.test/", CALL_OK, "", "over TLS");
    bed.lookups = 0;
    expect_tls(&bed, &tls, "loop.test/", CALL_ERROR, "tls_refused", NULL);
    expect_tls(&bed, &tls, "127.0.0.1/", CALL_ERROR, "tls_refused", NULL);
    bed.lookups = 0;
    expect_tls(&bed, &tls, "tls.test/down", CALL_ERROR, "redirect_refused",
               "redirects to a URL without TLS");
    ck_assert_uint_eq(http_server_connections(bed.server), 0);
    end_tls(&tls);
    bed_end(&bed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("node_outbound_guards");
    TCase *test_case = tcase_create("addresses");
    EXPECT(sodium_init() >= 0, "no libsodium");
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, what_only_this_machine_or_its_network_can_reach_is_not_called);
    tcase_add_test(
        test_case,
        the_nodes_own_listener_is_not_called_however_it_is_written_and_whatever_is_allowed);
    tcase_add_test(test_case, what_is_allowed_is_called_and_its_neighbour_is_not);
    tcase_add_test(test_case, a_name_is_resolved_once_and_called_at_that_address);
    tcase_add_test(test_case, a_socket_is_opened_only_to_an_address_that_was_checked);
    tcase_add_test(test_case, a_server_with_an_ipv6_address_is_called);
    suite_add_tcase(suite, test_case);
    test_case = tcase_create("redirects");
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, a_redirect_is_an_answer_unless_the_world_wants_it_followed);
    tcase_add_test(test_case, a_redirect_changes_the_method_as_its_status_says);
    tcase_add_test(test_case, redirects_end);
    tcase_add_test(test_case, a_redirect_is_checked_as_the_first_url_was);
    tcase_add_test(test_case, another_origin_gets_neither_authorization_nor_cookies_nor_secrets);
    suite_add_tcase(suite, test_case);
    test_case = tcase_create("secrets");
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, a_secret_reaches_the_server_and_nothing_else);
    tcase_add_test(test_case, a_secret_that_may_not_go_there_ends_the_call_before_it_begins);
    tcase_add_test(test_case, a_node_without_secrets_says_so);
    tcase_add_test(test_case, a_webhook_is_signed_with_its_secret);
    tcase_add_test(test_case,
                   a_certificate_must_be_of_the_host_and_of_an_authority_that_is_trusted);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
