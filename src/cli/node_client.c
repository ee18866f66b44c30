#include "cli/node_client.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "cli/json_write.h"
#include "common/assert.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/random.h"
#include "common/utf8.h"
#include "node/nearest.h"

enum {
    CONNECT_MS = 5000,
    TOKEN_MOST = 4096,
    LOST_MOST = 3,        /* times that a request is sent again because its connection broke */
    LOST_PAUSE_MS = 200,  /* before it is */
    BUSY_PAUSE_MS = 1000, /* where a busy node does not say how long */
    SUGGEST_MS = 2000,    /* for the names that a wrong one is compared with */
};

/* ---- Paths and keys ---------------------------------------------------------------------------- */

static int append_encoded(Buf *out, const char *text)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    int rc = SAP_OK;

    for (; *text != '\0' && rc == SAP_OK; text++) {
        rc = strchr(plain, *text) != NULL ? buf_append_u8(out, (uint8_t)*text)
                                          : buf_printf(out, "%%%02X", (unsigned char)*text);
    }
    return rc;
}

char *node_text(Buf *buf, int rc)
{
    char *text = NULL;

    if (rc == SAP_OK && buf_append_u8(buf, 0) == SAP_OK) {
        text = strdup((const char *)buf->data);
    }
    buf_release(buf);
    return text;
}

/* A body as text; NULL: no memory. */
static char *body_text(const json_t *body)
{
    Buf text = {0};
    int rc = json_write(&text, body);

    return node_text(&text, rc);
}

char *node_path(const char *format, ...)
{
    Buf path = {0};
    int rc = SAP_OK;
    va_list args;

    va_start(args, format);
    for (; *format != '\0' && rc == SAP_OK; format++) {
        if (*format == '%') {
            SAP_ASSERT(format[1] == 's');
            format++;
            rc = append_encoded(&path, va_arg(args, const char *));
        } else {
            rc = buf_append_u8(&path, (uint8_t)*format);
        }
    }
    va_end(args);
    return node_text(&path, rc);
}

char *node_query(char *path, const char *name, const char *value)
{
    Buf longer = {0};

    if (path == NULL || value == NULL) {
        return path;
    }
    int rc = buf_printf(&longer, "%s%c%s=", path, strchr(path, '?') != NULL ? '&' : '?', name);
    rc = rc == SAP_OK ? append_encoded(&longer, value) : rc;
    free(path);
    return node_text(&longer, rc);
}

bool node_make_key(char key[NODE_KEY])
{
    uint8_t bytes[(NODE_KEY - 1) / 2];

    if (random_fill(NULL, bytes, sizeof bytes) != SAP_OK) {
        return false;
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        (void)snprintf(key + 2 * i, 3, "%02x", bytes[i]);
    }
    return true;
}

/* ---- Opening ----------------------------------------------------------------------------------- */

bool node_token_valid(const char *token)
{
    const char *at = token;

    while (*at > ' ' && *at <= '~') {
        at++;
    }
    return at > token && *at == '\0';
}

/* The first line of the token file, which is all it may hold. */
static int read_token(NodeClient *client)
{
    const Ui *ui = client->call->ui;
    const char *path = client->place.token_file;
    char token[TOKEN_MOST];
    int fd = fd_open(path, O_RDONLY, 0);
    ssize_t len = fd >= 0 ? read(fd, token, sizeof token - 1) : -1;
    int error = errno;

    if (fd >= 0) {
        (void)close(fd);
    }
    if (len < 0) {
        return ui_fail(ui, error == ENOENT ? EXIT_NOT_FOUND : EXIT_FAILED,
                       "the user who started the node may read its token",
                       "cannot read the token file %s: %s", path, strerror(error));
    }
    while (len > 0 && strchr(" \t\r\n", token[len - 1]) != NULL) {
        len--;
    }
    token[len] = '\0';
    if (!node_token_valid(token)) {
        return ui_fail(ui, EXIT_FAILED, "make one: sapling token create",
                       "the token file %s does not hold a token", path);
    }
    client->token = strdup(token);
    return client->token != NULL ? EXIT_DONE : ui_no_memory(ui);
}

/* The socket by a name that fits an address: one that is too long goes through its directory. */
static int shorten_socket(NodeClient *client)
{
    const char *path = client->place.socket;
    const char *slash = strrchr(path, '/');
    int len;

    if (strlen(path) < sizeof(((struct sockaddr_un *)0)->sun_path) || slash == NULL) {
        client->reach = strdup(path);
        return client->reach != NULL ? EXIT_DONE : ui_no_memory(client->call->ui);
    }
    char *directory = strndup(path, (size_t)(slash - path) + 1);
    if (directory == NULL) {
        return ui_no_memory(client->call->ui);
    }
    client->directory = fd_open(directory, O_PATH | O_DIRECTORY, 0);
    int error = errno;
    free(directory);
    if (client->directory < 0) {
        return ui_fail(client->call->ui, EXIT_NO_NODE, "start one: sapling up",
                       "no node at %s (%s)", client->place.address, strerror(error));
    }
    len = asprintf(&client->reach, "/proc/self/fd/%d/%s", client->directory, slash + 1);
    if (len < 0) {
        client->reach = NULL;
        return ui_no_memory(client->call->ui);
    }
    return EXIT_DONE;
}

/* Names go into paths and JSON: an argument that is not UTF-8 can be none. */
static int check_words(const Call *call)
{
    const char *bad = NULL;

    for (uint32_t i = 0; i < call->operand_count && bad == NULL; i++) {
        bad = utf8_valid(call->operands[i], strlen(call->operands[i])) ? NULL : call->operands[i];
    }
    for (uint32_t i = 0; i < call->given_count && bad == NULL; i++) {
        const char *value = call->given[i].value;
        bool path = call->given[i].id == OPTION_ADDRESS || call->given[i].id == OPTION_TOKEN_FILE;
        bad = value == NULL || path || utf8_valid(value, strlen(value)) ? NULL : value;
    }
    return bad == NULL
               ? EXIT_DONE
               : call_usage(call, "'%s' is not UTF-8: bytes come by standard input, as -", bad);
}

int node_open(const Call *call, NodeClient *client)
{
    *client = (NodeClient){.call = call, .directory = -1};
    int code = call_duration(call, OPTION_GIVE_UP, 1, UINT64_C(86400000), NODE_GIVE_UP_MS,
                             &client->give_up_ms);

    code = code == EXIT_DONE ? check_words(call) : code;
    code = code == EXIT_DONE ? node_find(call, &client->place) : code;
    if (code == EXIT_DONE && client->place.socket != NULL) {
        code = shorten_socket(client);
    }
    /* Over the socket the node knows the user. */
    if (code == EXIT_DONE && client->place.token_file != NULL &&
        (client->reach == NULL || call_has(call, OPTION_TOKEN_FILE))) {
        code = read_token(client);
    }
    if (code == EXIT_DONE) {
        client->curl = curl_easy_init();
        code = client->curl != NULL ? EXIT_DONE : ui_no_memory(call->ui);
    }
    return code;
}

void node_close(NodeClient *client)
{
    curl_easy_cleanup((CURL *)client->curl);
    if (client->directory >= 0) {
        (void)close(client->directory);
    }
    free(client->reach);
    free(client->token);
    node_place_release(&client->place);
    *client = (NodeClient){.directory = -1};
}

void node_answer_release(NodeAnswer *answer)
{
    json_decref(answer->json);
    buf_release(&answer->text);
    *answer = (NodeAnswer){0};
}

/* ---- One exchange ------------------------------------------------------------------------------ */

typedef struct Exchange {
    NodeClient *client;
    const NodeRequest *request;
    const char *key;  /* NULL: none */
    char *body;       /* of the request, as text; NULL: none */
    Buf text;         /* of the answer */
    bool too_large;   /* it was */
    bool no_memory;   /* for it */
    long status;      /* 0: there was no answer */
    uint64_t busy_ms; /* that the node asks to wait; 0: it does not say */
    CURLcode code;    /* what ended it */
    int error;        /* of the system, if it had one */
    char why[CURL_ERROR_SIZE];
} Exchange;

static size_t take_answer(char *data, size_t size, size_t count, void *ctx)
{
    Exchange *exchange = (Exchange *)ctx;
    size_t len = size * count;

    exchange->too_large = exchange->text.len + len > NODE_ANSWER_MOST;
    exchange->no_memory = !exchange->too_large && buf_append(&exchange->text, data, len) != SAP_OK;
    return exchange->too_large || exchange->no_memory ? 0 : len;
}

/* Adds a line to the head of a request; false: no memory. */
static bool add_head(struct curl_slist **heads, const char *name, const char *value)
{
    char *line = NULL;

    if (asprintf(&line, "%s: %s", name, value) < 0) {
        return false;
    }
    struct curl_slist *longer = curl_slist_append(*heads, line);
    *heads = longer != NULL ? longer : *heads;
    free(line);
    return longer != NULL;
}

static bool make_heads(const Exchange *exchange, struct curl_slist **heads)
{
    char *authorization = NULL;
    const char *token = exchange->client->token;
    bool ok = (exchange->body == NULL || add_head(heads, "Content-Type", "application/json")) &&
              (exchange->key == NULL || add_head(heads, "Idempotency-Key", exchange->key));

    if (ok && token != NULL) {
        ok = asprintf(&authorization, "Bearer %s", token) >= 0;
        if (ok) {
            ok = add_head(heads, "Authorization", authorization);
            free(authorization);
        }
    }
    /* Never "100-continue": the node would have to answer twice. */
    struct curl_slist *longer = ok ? curl_slist_append(*heads, "Expect:") : NULL;
    *heads = longer != NULL ? longer : *heads;
    return longer != NULL;
}

static bool set_request(Exchange *exchange, CURL *curl, const char *url, struct curl_slist *heads,
                        uint64_t most_ms)
{
    const NodeClient *client = exchange->client;
    const char *body = exchange->body;

    /* No proxy, no redirect, no other protocol, whatever the environment says. */
    return curl_easy_setopt(curl, CURLOPT_URL, url) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http") == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_PROXY, "") == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_NOPROXY, "*") == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, client->reach) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_HTTPHEADER, heads) == CURLE_OK &&
           (body == NULL || (curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body) == CURLE_OK &&
                             curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                                              (curl_off_t)strlen(body)) == CURLE_OK)) &&
           curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, exchange->request->method) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)most_ms) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, exchange->why) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_WRITEDATA, exchange) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_answer) == CURLE_OK;
}

/* Sends the request once. False: no memory. */
static bool exchange_once(Exchange *exchange, uint64_t most_ms)
{
    CURL *curl = (CURL *)exchange->client->curl;
    struct curl_slist *heads = NULL;
    const char *host =
        exchange->client->reach != NULL ? "localhost" : exchange->client->place.address;
    char *url = NULL;
    curl_off_t after_s = 0;
    long error = 0;

    buf_clear(&exchange->text);
    exchange->status = 0;
    exchange->why[0] = '\0';
    bool ok = asprintf(&url, "http://%s%s", host, exchange->request->path) >= 0;
    url = ok ? url : NULL;
    curl_easy_reset(curl);
    ok = ok && make_heads(exchange, &heads) && set_request(exchange, curl, url, heads, most_ms);
    if (ok) {
        exchange->code = curl_easy_perform(curl);
        (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &exchange->status);
        (void)curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &error);
        (void)curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &after_s);
        exchange->error = (int)error;
        exchange->busy_ms = after_s > 0 ? (uint64_t)after_s * 1000 : 0;
        ok = !exchange->no_memory && exchange->code != CURLE_OUT_OF_MEMORY;
    }
    curl_slist_free_all(heads);
    free(url);
    return ok;
}

/* The connection broke when the request may have been sent, and before the answer was complete. */
static bool connection_broke(const Exchange *exchange)
{
    return exchange->code == CURLE_GOT_NOTHING || exchange->code == CURLE_RECV_ERROR ||
           exchange->code == CURLE_SEND_ERROR || exchange->code == CURLE_PARTIAL_FILE;
}

void node_pause(uint64_t ms)
{
    struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

    while (nanosleep(&time, &time) != 0 && errno == EINTR) {
    }
}

uint64_t node_clock_ms(void)
{
    return clock_mono_ns(NULL) / 1000000;
}

/* Sends the request until it has an answer that is final. False: no memory. */
static bool exchange_all(Exchange *exchange)
{
    uint64_t start_ms = node_clock_ms();
    uint64_t most_ms = exchange->client->give_up_ms + exchange->request->wait_ms;
    uint32_t lost = 0;

    for (;;) {
        uint64_t gone_ms = node_clock_ms() - start_ms;
        uint64_t left_ms = gone_ms < most_ms ? most_ms - gone_ms : 1;
        if (!exchange_once(exchange, left_ms)) {
            return false;
        }
        /* A node that went away may be back in a moment. */
        bool again =
            connection_broke(exchange) || (lost > 0 && exchange->code == CURLE_COULDNT_CONNECT);
        uint64_t wait_ms = (uint64_t)LOST_PAUSE_MS << lost;
        if (again) {
            lost++;
            again = lost <= LOST_MOST;
        } else if (exchange->code == CURLE_OK &&
                   (exchange->status == 429 ||
                    (exchange->status == 503 && exchange->busy_ms > 0))) {
            again = true;
            wait_ms = exchange->busy_ms > 0 ? exchange->busy_ms : BUSY_PAUSE_MS;
        }
        if (!again || node_clock_ms() - start_ms + wait_ms >= most_ms) {
            return true;
        }
        node_pause(wait_ms);
    }
}

/* ---- What went wrong --------------------------------------------------------------------------- */

int node_nonsense(const NodeClient *client, const char *what)
{
    return ui_fail(
        client->call->ui, EXIT_FAILED, "if another program listens there, name the node: --node",
        "what answers at %s is not a node of this version: %s", client->place.address, what);
}

static bool changes_something(const char *method)
{
    return strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0;
}

static int fail_unreached(const NodeClient *client, const Exchange *exchange)
{
    const Ui *ui = client->call->ui;
    const char *address = client->place.address;
    char why[CURL_ERROR_SIZE + 1];

    if (exchange->error == EACCES || exchange->error == EPERM) {
        return ui_fail(ui, EXIT_FAILED,
                       "run this as the user of the node, or give --token-file FILE",
                       "the node at %s belongs to another user (%s)", address, "permission denied");
    }
    (void)snprintf(why, sizeof why, "%s",
                   exchange->error != 0                         ? strerror(exchange->error)
                   : exchange->code == CURLE_OPERATION_TIMEDOUT ? "connection timed out"
                                                                : exchange->why);
    if (why[0] >= 'A' && why[0] <= 'Z' && why[1] >= 'a' && why[1] <= 'z') {
        why[0] = (char)(why[0] - 'A' + 'a');
    }
    return ui_fail(ui, EXIT_NO_NODE, "start one: sapling up", "no node at %s (%s)", address, why);
}

static int fail_transfer(const NodeClient *client, const Exchange *exchange)
{
    const Ui *ui = client->call->ui;
    const char *address = client->place.address;
    const char *unknown = changes_something(exchange->request->method)
                              ? "it may have been done all the same: look before you ask again"
                              : NULL;
    char text[UI_TEXT];
    double seconds = (double)(client->give_up_ms + exchange->request->wait_ms) / 1000;
    curl_off_t connected_us = 0;

    (void)curl_easy_getinfo((CURL *)client->curl, CURLINFO_CONNECT_TIME_T, &connected_us);
    if (exchange->too_large) {
        return ui_fail(ui, EXIT_FAILED, "ask for less, as with --limit",
                       "the answer of the node at %s is larger than %s", address,
                       ui_bytes(NODE_ANSWER_MOST, text));
    }
    if (exchange->code == CURLE_OPERATION_TIMEDOUT && connected_us > 0) {
        return ui_fail(ui, EXIT_TIMED_OUT, unknown, "the node at %s has not answered in %s",
                       address, ui_seconds(seconds, text));
    }
    if (exchange->code == CURLE_COULDNT_CONNECT || exchange->code == CURLE_COULDNT_RESOLVE_HOST ||
        exchange->code == CURLE_OPERATION_TIMEDOUT) {
        return fail_unreached(client, exchange);
    }
    if (connection_broke(exchange)) {
        return ui_fail(ui, EXIT_FAILED, unknown,
                       "the node at %s closed the connection without an answer", address);
    }
    return node_nonsense(client, exchange->why[0] != '\0' ? exchange->why
                                                          : curl_easy_strerror(exchange->code));
}

static int exit_of_status(long status)
{
    switch (status) {
    case 400:
        return EXIT_USAGE;
    case 404:
        return EXIT_NOT_FOUND;
    case 409:
    case 429:
    case 503:
        return EXIT_CONFLICT;
    default:
        return EXIT_FAILED;
    }
}

/* Of the names that the node knows the one that is nearest; the caller frees it. NULL: none is near. */
static char *suggest_name(NodeClient *client, const char *lists, const char *member,
                          const char *wanted)
{
    NodeAnswer answer = {0};
    Nearest nearest;
    json_t *item;
    size_t i;
    uint64_t give_up_ms = client->give_up_ms;
    NodeRequest request = {.method = "GET", .quiet = true};

    request.path = node_query(node_path("/v1/%s", lists), "limit", "1000");
    client->give_up_ms = SUGGEST_MS;
    int code = node_call(client, request, &answer);
    client->give_up_ms = give_up_ms;
    nearest_start(&nearest, wanted, strlen(wanted));
    json_array_foreach(code == EXIT_DONE ? json_object_get(answer.json, "items") : NULL, i, item)
    {
        const char *name = json_string_value(json_object_get(item, member));
        if (name != NULL) {
            nearest_try(&nearest, name);
        }
    }
    char *name = nearest.name != NULL ? strdup(nearest.name) : NULL;
    node_answer_release(&answer);
    return name;
}

/* What to do about an answer of this code; "": what the node says is enough. */
static void find_hint(NodeClient *client, const NodeRequest *request, const char *code, char *hint,
                      size_t size)
{
    bool world = strcmp(code, "unknown_world") == 0;
    const char *wanted = world                                 ? request->world
                         : strcmp(code, "unknown_module") == 0 ? request->module
                                                               : NULL;

    hint[0] = '\0';
    if (wanted != NULL) {
        char *near = world ? suggest_name(client, "worlds", "world", wanted)
                           : suggest_name(client, "modules", "name", wanted);
        if (near != NULL) {
            (void)snprintf(hint, size, "did you mean %.200s?", near);
        } else {
            (void)snprintf(hint, size, "see which there are: sapling %s list",
                           world ? "world" : "module");
        }
        free(near);
    } else if (strcmp(code, "needs_token") == 0) {
        (void)snprintf(hint, size, "run this as the user of the node, or give --token-file FILE");
    }
}

/* Tells of an answer that says no. */
static int fail_answer(NodeClient *client, const NodeRequest *request, const NodeAnswer *answer)
{
    const Ui *ui = client->call->ui;
    const char *message = json_string_value(json_object_get(answer->json, "message"));
    const char *code = json_string_value(json_object_get(answer->json, "code"));
    char hint[300];
    char own[600];

    if (message == NULL || code == NULL) {
        int len = answer->text.len < 200 ? (int)answer->text.len : 200;
        (void)snprintf(own, sizeof own, "status %ld, %.*s", answer->status, len > 0 ? len : 11,
                       len > 0 ? (const char *)answer->text.data : "and no text");
        return request->text && answer->status == 503
                   ? ui_fail(ui, EXIT_CONFLICT, NULL, "the node at %s: %s", client->place.address,
                             own)
                   : node_nonsense(client, own);
    }
    find_hint(client, request, code, hint, sizeof hint);
    if (strcmp(code, "needs_token") == 0) {
        (void)snprintf(own, sizeof own,
                       client->token != NULL
                           ? "the node at %.200s does not know the token of %.300s"
                           : "the node at %.200s needs a token",
                       client->place.address,
                       client->place.token_file != NULL ? client->place.token_file : "");
        message = own;
    }
    return ui_fail_typed(ui, exit_of_status(answer->status), hint[0] != '\0' ? hint : NULL, message,
                         code, json_object_get(answer->json, "detail"));
}

/* ---- Calling ----------------------------------------------------------------------------------- */

/* A number beyond 64 bits, which is a double elsewhere too, must not make an answer unreadable. */
static json_t *read_json(const Buf *text)
{
    size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL;
    json_error_t error;
    json_t *json = json_loadb((const char *)text->data, text->len, flags, &error);

    if (json == NULL && json_error_code(&error) == json_error_numeric_overflow) {
        json =
            json_loadb((const char *)text->data, text->len, flags | JSON_DECODE_INT_AS_REAL, NULL);
    }
    return json;
}

static int finish_answer(NodeClient *client, const NodeRequest *request, Exchange *exchange,
                         NodeAnswer *answer_out)
{
    NodeAnswer answer = {.status = exchange->status, .text = exchange->text};
    bool good = (answer.status >= 200 && answer.status < 300) || answer.status == request->accept;
    int code = EXIT_DONE;

    exchange->text = (Buf){0};
    if (answer.text.len > 0 && !(good && request->text)) {
        answer.json = read_json(&answer.text);
        if (answer.json == NULL && good) {
            code = request->quiet ? EXIT_FAILED : node_nonsense(client, "its answer is not JSON");
        }
    }
    if (code == EXIT_DONE && !good) {
        code =
            request->quiet ? exit_of_status(answer.status) : fail_answer(client, request, &answer);
    }
    if (code != EXIT_DONE) {
        node_answer_release(&answer);
        return code;
    }
    *answer_out = answer;
    return EXIT_DONE;
}

static int call_node(NodeClient *client, const NodeRequest *request, NodeAnswer *answer_out)
{
    const Ui *ui = client->call->ui;
    bool changes = changes_something(request->method);
    char key[NODE_KEY];
    Exchange exchange = {.client = client, .request = request, .key = request->key};
    int code = EXIT_DONE;

    if (request->path == NULL || (changes && !request->bare && request->body == NULL &&
                                  strcmp(request->method, "DELETE") != 0)) {
        return ui_no_memory(ui);
    }
    if (changes && request->key == NULL) {
        if (!node_make_key(key)) {
            return ui_fail(ui, EXIT_FAILED, NULL, "the system gives no random bytes");
        }
        exchange.key = key;
    }
    if (request->body != NULL) {
        exchange.body = body_text(request->body);
        code = exchange.body != NULL ? EXIT_DONE : ui_no_memory(ui);
    }
    if (code == EXIT_DONE && !exchange_all(&exchange)) {
        code = ui_no_memory(ui);
    } else if (code == EXIT_DONE && exchange.code != CURLE_OK) {
        code = request->quiet ? EXIT_NO_NODE : fail_transfer(client, &exchange);
    } else if (code == EXIT_DONE) {
        code = finish_answer(client, request, &exchange, answer_out);
    }
    free(exchange.body);
    buf_release(&exchange.text);
    return code;
}

int node_call(NodeClient *client, NodeRequest request, NodeAnswer *answer_out)
{
    int code = call_node(client, &request, answer_out);

    SAP_ASSERT(code != EXIT_DONE || answer_out->status >= 200);
    free(request.path);
    json_decref(request.body);
    return code;
}

/* ---- The same by curl -------------------------------------------------------------------------- */

/* A word of a shell. */
static int append_quoted(Buf *out, const char *text)
{
    bool plain = text[0] != '\0';

    for (const char *at = text; *at != '\0'; at++) {
        plain =
            plain && strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._/:=%",
                            *at) != NULL;
    }
    if (plain) {
        return buf_append_str(out, text);
    }
    int rc = buf_append_u8(out, '\'');
    for (; *text != '\0' && rc == SAP_OK; text++) {
        rc = *text == '\'' ? buf_append_str(out, "'\\''") : buf_append_u8(out, (uint8_t)*text);
    }
    return rc == SAP_OK ? buf_append_u8(out, '\'') : rc;
}

/* The parts of the command: how the node is reached, and by which credential. */
static int append_reach(Buf *out, const NodeClient *client)
{
    int rc = SAP_OK;

    if (client->reach != NULL) {
        rc = buf_append_str(out, " --unix-socket ");
        return rc == SAP_OK ? append_quoted(out, client->place.socket) : rc;
    }
    if (client->place.token_file != NULL) {
        rc = buf_append_str(out, " -H \"Authorization: Bearer $(cat ");
        rc = rc == SAP_OK ? append_quoted(out, client->place.token_file) : rc;
        rc = rc == SAP_OK ? buf_append_str(out, ")\"") : rc;
    }
    return rc;
}

char *node_curl_command(const NodeClient *client, const NodeRequest *request)
{
    Buf out = {0};
    char *url = NULL;
    char *body = request->body != NULL ? body_text(request->body) : NULL;
    const char *usual = body != NULL ? "POST" : "GET";
    int rc = request->path == NULL || (request->body != NULL && body == NULL)
                 ? SAP_NOMEM
                 : buf_append_str(&out, "curl");

    rc = rc == SAP_OK ? append_reach(&out, client) : rc;
    if (rc == SAP_OK && strcmp(request->method, usual) != 0) {
        rc = buf_printf(&out, " -X %s", request->method);
    }
    if (rc == SAP_OK && body != NULL) {
        rc = buf_append_str(&out, " --json ");
        rc = rc == SAP_OK ? append_quoted(&out, body) : rc;
    }
    if (rc == SAP_OK &&
        asprintf(&url, "http://%s%s", client->reach != NULL ? "localhost" : client->place.address,
                 request->path) < 0) {
        url = NULL;
        rc = SAP_NOMEM;
    }
    rc = rc == SAP_OK ? buf_append_u8(&out, ' ') : rc;
    rc = rc == SAP_OK ? append_quoted(&out, url) : rc;
    free(body);
    free(url);
    return node_text(&out, rc);
}
