/* node_http_bed.c - see node_http_bed.h. */
#include "support/node_http_bed.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "common/sync.h"
#include "support/expect.h"

#define STOP_NS UINT64_C(60000000000)

enum { ANSWER_WAIT_MS = 20000, ANSWER_MOST = 64 << 20 };

#define MS_NS UINT64_C(1000000)

static SAP_ATOMIC(bool) let_go; /* of "hang" */

/* ---- The module ------------------------------------------------------------------------------ */

static int read_count(SapWorld *world, unsigned *count_out)
{
    const void *val = NULL;
    size_t len = 0;
    char text[16];
    int rc = sap_world_get(world, "count", 5, &val, &len, NULL);
    *count_out = 0;
    if (rc == SAP_OK) {
        (void)snprintf(text, sizeof text, "%.*s", (int)len, (const char *)val);
        *count_out = (unsigned)strtoul(text, NULL, 10);
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int reply_count(SapWorld *world, const SapEvent *event)
{
    unsigned count = 0;
    char text[16];
    int rc = read_count(world, &count);
    (void)snprintf(text, sizeof text, "%u", count);
    return rc == SAP_OK
               ? sap_world_reply(world, event->reply_to, SAP_ENCODING_JSON, text, strlen(text))
               : rc;
}

static int count_message(SapWorld *world)
{
    unsigned count = 0;
    char text[16];
    int rc = read_count(world, &count);
    (void)snprintf(text, sizeof text, "%u", count + 1);
    return rc == SAP_OK ? sap_world_put(world, "count", 5, SAP_ENCODING_JSON, text, strlen(text))
                        : rc;
}

static int reply_later(SapWorld *world, const SapEvent *event)
{
    SapTimer timer = {.size = sizeof timer, .ref = "later", .after_ns = 50 * MS_NS};
    int rc = sap_world_put(world, "reply_to", 8, SAP_ENCODING_RAW, event->reply_to,
                           strlen(event->reply_to));
    return rc == SAP_OK ? sap_world_timer(world, &timer) : rc;
}

static int on_timer(SapWorld *world, const SapEvent *event)
{
    const void *val = NULL;
    size_t len = 0;
    char reply_to[400];
    if (strcmp(event->ref, "later") != 0) {
        return SAP_OK;
    }
    int rc = sap_world_get(world, "reply_to", 8, &val, &len, NULL);
    (void)snprintf(reply_to, sizeof reply_to, "%.*s", rc == SAP_OK ? (int)len : 0,
                   (const char *)val);
    return rc == SAP_OK ? sap_world_reply(world, reply_to, SAP_ENCODING_JSON, "\"late\"", 6) : rc;
}

static void hang(SapWorld *world)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    while (!atomic_load_full(&let_go) && !sap_world_cancelled(world)) {
        (void)nanosleep(&pause, NULL);
    }
}

static int on_message(SapWorld *world, const SapEvent *event)
{
    SapEffect favour = {.size = sizeof favour, .kind = "nobody", .ref = "favour"};
    SapTimer hour = {.size = sizeof hour, .ref = "hour", .after_ns = 3600000 * MS_NS};
    if (strcmp(event->name, "refuse") == 0) {
        return sap_world_fail(world, false, "the desk refuses this");
    }
    int rc = count_message(world);
    if (rc != SAP_OK || strcmp(event->name, "silent") == 0) {
        return rc;
    }
    if (strcmp(event->name, "later") == 0) {
        return reply_later(world, event);
    }
    if (strcmp(event->name, "done") == 0) {
        return sap_world_done(world, false, event->encoding, event->payload, event->payload_len);
    }
    if (strcmp(event->name, "ask") == 0) {
        return sap_world_effect(world, &favour);
    }
    if (strcmp(event->name, "wait") == 0) {
        return sap_world_timer(world, &hour);
    }
    if (strcmp(event->name, "tag") == 0) {
        return sap_world_tag(world, "kind", "desk");
    }
    if (strcmp(event->name, "hang") == 0) {
        hang(world);
        return SAP_OK;
    }
    return event->reply_to[0] == 0 ? SAP_OK
                                   : sap_world_reply(world, event->reply_to, event->encoding,
                                                     event->payload, event->payload_len);
}

static int on_event(SapWorld *world, const SapEvent *event)
{
    switch (event->kind) {
    case SAP_EVENT_MESSAGE:
        return on_message(world, event);
    case SAP_EVENT_QUERY:
        return reply_count(world, event);
    case SAP_EVENT_TIMER:
        return on_timer(world, event);
    default:
        return SAP_OK;
    }
}

static int resolve_desk(void *ctx, const SapModule *module, SapWorldHandler *handler_out,
                        void **module_ctx_out)
{
    (void)ctx;
    if (strcmp(module->runner, "native:desk") != 0) {
        return SAP_NOTFOUND;
    }
    *handler_out = on_event;
    *module_ctx_out = NULL;
    return SAP_OK;
}

static int find_query_handler(void *ctx, const char *module, SapWorldHandler *handler_out,
                              void **module_ctx_out)
{
    (void)ctx;
    if (strcmp(module, "desk") != 0) {
        return SAP_NOTFOUND;
    }
    *handler_out = on_event;
    *module_ctx_out = NULL;
    return SAP_OK;
}

/* ---- The bed --------------------------------------------------------------------------------- */

void http_bed_open(HttpBed *bed)
{
    char url[FILES_PATH_MAX + 16];
    memset(bed, 0, sizeof *bed);
    atomic_store_full(&let_go, false);
    file_bed_start(&bed->file);
    (void)snprintf(url, sizeof url, "sapling:%s", bed->file.path);
    EXPECT_RC(sap_universe_open(url, NULL, &bed->universe), SAP_OK);
    HostOptions host = {.handlers = HTTP_BED_HANDLERS, .roles = HOST_ALL_ROLES};
    host.worker.name = "worker-1";
    host.worker.resolve = resolve_desk;
    EXPECT_RC(host_start(bed->universe, &host, &bed->host), SAP_OK);
    EXPECT_RC(metrics_init(&bed->metrics), SAP_OK);
    bed->options = (HttpOptions){.universe = bed->universe,
                                 .data = bed->file.dir,
                                 .listen = "127.0.0.1:0",
                                 .metrics = &bed->metrics,
                                 .query_handler = find_query_handler,
                                 .store_url = url[0] == 0 ? NULL : "sapling:test"};
}

void http_bed_start_server(HttpBed *bed)
{
    char message[512];
    char path[FILES_PATH_MAX + 16];
    int rc = http_start(&bed->options, &bed->http, message, sizeof message);
    EXPECT(rc == SAP_OK, "the server starts: %s", message);
    (void)snprintf(path, sizeof path, "%s/token", bed->file.dir);
    FILE *file = fopen(path, "r");
    EXPECT(file != NULL && fgets(bed->token, sizeof bed->token, file) != NULL, "there is a token");
    (void)fclose(file);
    bed->token[strcspn(bed->token, "\n")] = 0;
}

void http_bed_stop_server(HttpBed *bed)
{
    http_stop(bed->http);
    bed->http = NULL;
    metrics_release(&bed->metrics);
    EXPECT_RC(metrics_init(&bed->metrics), SAP_OK);
}

void http_bed_close(HttpBed *bed)
{
    atomic_store_full(&let_go, true);
    http_bed_stop_server(bed);
    EXPECT_RC(host_stop(bed->host, STOP_NS), SAP_OK);
    EXPECT_RC(sap_universe_close(bed->universe), SAP_OK);
    metrics_release(&bed->metrics);
    file_bed_end_clean(&bed->file);
}

/* ---- The client ------------------------------------------------------------------------------ */

static int connect_local(const HttpBed *bed)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int len = snprintf(address.sun_path, sizeof address.sun_path, "%s/node.sock", bed->file.dir);
    EXPECT(len > 0 && (size_t)len < sizeof address.sun_path, "the path fits a socket");
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT(fd >= 0, "there is a socket");
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

static int connect_tcp(const HttpBed *bed)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const char *colon = strrchr(http_address(bed->http), ':');
    EXPECT(colon != NULL, "it listens on TCP");
    address.sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT(fd >= 0, "there is a socket");
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

int http_bed_connect(const HttpBed *bed, bool local)
{
    return local ? connect_local(bed) : connect_tcp(bed);
}

bool http_send_all(int fd, const void *data, size_t len)
{
    const char *at = (const char *)data;
    while (len > 0) {
        ssize_t sent = send(fd, at, len, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        at += sent;
        len -= (size_t)sent;
    }
    return true;
}

/* Bytes that came; 0: the end, or nothing came in time. */
static size_t receive_some(int fd, char *out, size_t size)
{
    struct pollfd poller = {.fd = fd, .events = POLLIN};
    if (poll(&poller, 1, ANSWER_WAIT_MS) <= 0) {
        return 0;
    }
    ssize_t got = recv(fd, out, size, 0);
    return got > 0 ? (size_t)got : 0;
}

static size_t content_length(const char *head)
{
    const char *at = strcasestr(head, "\r\nContent-Length:");
    return at == NULL ? 0 : (size_t)strtoull(at + 17, NULL, 10);
}

void http_read_answer(int fd, HttpAnswer *answer_out)
{
    size_t size = 1 << 16;
    size_t len = 0;
    char *text = (char *)malloc(size + 1);
    char *end = NULL;
    *answer_out = (HttpAnswer){.status = 0};
    EXPECT(text != NULL, "memory");
    for (;;) {
        text[len] = 0;
        end = strstr(text, "\r\n\r\n");
        size_t head_len = end == NULL ? 0 : (size_t)(end - text) + 4;
        if (end != NULL && len >= head_len + content_length(text)) {
            break;
        }
        if (len == size) {
            size *= 2;
            EXPECT(size <= ANSWER_MOST, "an answer ends");
            text = (char *)realloc(text, size + 1);
            EXPECT(text != NULL, "memory");
        }
        size_t got = receive_some(fd, text + len, size - len);
        if (got == 0) {
            free(text);
            return;
        }
        len += got;
    }
    answer_out->status = (int)strtol(text + 9, NULL, 10);
    answer_out->body_len = content_length(text);
    answer_out->body = (char *)malloc(answer_out->body_len + 1);
    EXPECT(answer_out->body != NULL, "memory");
    memcpy(answer_out->body, end + 4, answer_out->body_len);
    answer_out->body[answer_out->body_len] = 0;
    end[0] = 0;
    answer_out->head = text;
    answer_out->json = json_loadb(answer_out->body, answer_out->body_len, 0, NULL);
}

void http_answer_free(HttpAnswer *answer)
{
    free(answer->head);
    free(answer->body);
    json_decref(answer->json);
    *answer = (HttpAnswer){.status = 0};
}

const char *http_answer_code(const HttpAnswer *answer)
{
    const char *code = json_string_value(json_object_get(answer->json, "code"));
    return code == NULL ? "" : code;
}

void http_ask(const HttpBed *bed, const HttpAsk *ask, const char *method, const char *path,
              const char *body, HttpAnswer *answer_out)
{
    char head[4096];
    bool has_token = ask->token != NULL && ask->token[0] != 0;
    int len = snprintf(
        head, sizeof head, "%s %s HTTP/1.1\r\nHost: %s\r\n%s%s%s%s%s%s%s", method, path,
        ask->host == NULL ? "localhost" : ask->host, has_token ? "Authorization: Bearer " : "",
        has_token ? ask->token : "", has_token ? "\r\n" : "",
        ask->key == NULL ? "" : "Idempotency-Key: ", ask->key == NULL ? "" : ask->key,
        ask->key == NULL ? "" : "\r\n", ask->headers == NULL ? "" : ask->headers);
    if (body != NULL) {
        len += snprintf(head + len, sizeof head - (size_t)len,
                        "Content-Type: application/json\r\nContent-Length: %zu\r\n", strlen(body));
    }
    len += snprintf(head + len, sizeof head - (size_t)len, "\r\n");
    EXPECT(len > 0 && (size_t)len < sizeof head, "the headers fit");
    int fd = http_bed_connect(bed, ask->local);
    *answer_out = (HttpAnswer){.status = 0};
    if (fd < 0) {
        return;
    }
    if (http_send_all(fd, head, (size_t)len) &&
        (body == NULL || http_send_all(fd, body, strlen(body)))) {
        http_read_answer(fd, answer_out);
    }
    (void)close(fd);
}

json_t *http_bed_do(const HttpBed *bed, const char *method, const char *path, const char *body,
                    int status)
{
    HttpAsk ask = {.local = true};
    HttpAnswer answer;
    http_ask(bed, &ask, method, path, body, &answer);
    EXPECT(answer.status == status, "%s %s answered %d instead of %d: %s", method, path,
           answer.status, status, answer.body == NULL ? "" : answer.body);
    json_t *json = json_incref(answer.json);
    http_answer_free(&answer);
    return json;
}

void http_bed_make_world(const HttpBed *bed, const char *world)
{
    char body[256];
    json_decref(http_bed_do(bed, "PUT", "/v1/modules/desk", "{\"runner\":\"native:desk\"}", 200));
    (void)snprintf(body, sizeof body, "{\"world\":\"%s\",\"module\":\"desk\"}", world);
    json_decref(http_bed_do(bed, "POST", "/v1/worlds", body, 201));
}
