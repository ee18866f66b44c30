/* world_send.c - messages to worlds and what comes back: replies, answers to queries, results.
 *
 * A message goes out under a key, which --id names. Sent again under the same key it is the same message: it
 * is not handled twice, and --wait waits on for its reply. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/interrupt.h"
#include "cli/node_commands.h"
#include "cli/node_common.h"

enum {
    WAIT_MS = 30000,       /* of --wait without a time */
    WAIT_SLICE_MS = 20000, /* that a node is asked to wait at once */
    PAUSE_MS = 100,        /* where it did not wait */
};
#define WAIT_MOST_MS UINT64_C(86400000)

/* ---- send -------------------------------------------------------------------------------------- */

typedef struct Send {
    const Call *call;
    const char *world;
    const char *name;     /* NULL: none */
    json_t *body;         /* NULL: none */
    const char *encoding; /* NULL: JSON */
    const char *key;
    char own_key[NODE_KEY];
    Program program; /* of --module */
    uint64_t priority;
    bool waits;
    uint64_t wait_ms;
} Send;

/* Operands behind the world: one alone is the body if it is JSON, "-", or bytes, otherwise the name. */
static int read_message(Send *send)
{
    const Call *call = send->call;
    const char *first = call_operand(call, 1);
    const char *second = call_operand(call, 2);

    if (first != NULL && second == NULL) {
        json_t *json = payload_parse(first, strlen(first), NULL);
        if (json != NULL || strcmp(first, "-") == 0 || call_has(call, OPTION_RAW)) {
            second = first;
            first = NULL;
        }
        json_decref(json);
    }
    send->name = first;
    return payload_read(call, second, &send->body, &send->encoding);
}

static int read_send(Send *send)
{
    const Call *call = send->call;
    const char *module = call_value(call, OPTION_MODULE);
    int code = call_number(call, OPTION_PRIORITY, 0, 255, 0, &send->priority);

    send->waits = call_has(call, OPTION_WAIT);
    code = code == EXIT_DONE
               ? call_duration(call, OPTION_WAIT, 1, WAIT_MOST_MS, WAIT_MS, &send->wait_ms)
               : code;
    send->key = call_value(call, OPTION_ID);
    if (code == EXIT_DONE && send->key != NULL &&
        (send->key[0] == '\0' || strlen(send->key) > 200)) {
        code = call_usage(call, "--id '%s': an id has 1 to 200 bytes", send->key);
    }
    for (const char *at = send->key; code == EXIT_DONE && at != NULL && *at != '\0'; at++) {
        if (*at <= ' ' || *at > '~') {
            code = call_usage(call, "--id '%s': an id has letters, digits and signs of ASCII",
                              send->key);
        }
    }
    if (code == EXIT_DONE && send->key == NULL) {
        send->key = send->own_key;
        code = node_make_key(send->own_key)
                   ? EXIT_DONE
                   : ui_fail(call->ui, EXIT_FAILED, NULL, "the system gives no random bytes");
    }
    code = code == EXIT_DONE ? read_message(send) : code;
    return code == EXIT_DONE && module != NULL ? program_read(call, module, &send->program) : code;
}

static NodeRequest message_request(const Send *send, uint64_t wait_ms)
{
    char wait[UI_TEXT];
    NodeRequest request = {.method = "POST", .key = send->key, .world = send->world};

    (void)snprintf(wait, sizeof wait, "%" PRIu64 "ms", wait_ms);
    request.path = node_query(node_path("/v1/worlds/%s/messages", send->world), "wait",
                              send->waits ? wait : NULL);
    request.wait_ms = send->waits ? wait_ms : 0;
    request.module = send->program.name;
    request.body =
        json_pack("{s:s*, s:O*, s:s*, s:s*, s:s*}", "name", send->name, "body", send->body,
                  "encoding", send->encoding, "correlation_id",
                  call_value(send->call, OPTION_CORRELATION), "module", send->program.name);
    if (request.body != NULL && send->priority > 0 &&
        json_object_set_new(request.body, "priority", json_integer((json_int_t)send->priority)) !=
            0) {
        json_decref(request.body);
        request.body = NULL;
    }
    return request;
}

/* How to wait on, printed by the thread that ends the process. */
static void say_how_to_wait(void *ctx)
{
    const char *text = (const char *)ctx;
    ssize_t written = write(STDERR_FILENO, text, strlen(text));

    (void)written;
}

static int wait_is_over(const Send *send)
{
    char hint[300];
    char text[UI_TEXT];

    (void)snprintf(hint, sizeof hint, "wait on with the same command and --id %s", send->key);
    return ui_fail(send->call->ui, EXIT_TIMED_OUT, hint,
                   "no reply of %s in %s: the message is in its inbox", send->world,
                   ui_seconds((double)send->wait_ms / 1000, text));
}

/* Sends and waits, in parts: under the same key the node waits on. */
static int send_and_wait(const Send *send, NodeClient *client)
{
    const Ui *ui = send->call->ui;
    uint64_t end_ms = node_clock_ms() + send->wait_ms;
    int code = EXIT_DONE;

    for (;;) {
        NodeAnswer answer = {0};
        uint64_t now = node_clock_ms();
        uint64_t left_ms = now < end_ms ? end_ms - now : 1;
        code = node_call(client,
                         message_request(send, left_ms < WAIT_SLICE_MS ? left_ms : WAIT_SLICE_MS),
                         &answer);
        long status = code == EXIT_DONE ? answer.status : 0;
        if (status == 200) {
            code = show_line(ui, ui->json ? answer.json : json_object_get(answer.json, "reply"));
        } else if (status == 204 && ui->json) {
            code = ui_object(ui, json_pack("{s:b}", "handled", 1));
        } else if (status == 204) {
            ui_note(ui, "%s handled it, without a reply", send->world);
        }
        node_answer_release(&answer);
        if (status != 202) {
            return code;
        }
        /* A node that is asked to wait does; one that does not is not asked all the time. */
        uint64_t pause_ms = node_clock_ms() < now + PAUSE_MS ? PAUSE_MS : 0;
        if (node_clock_ms() + pause_ms >= end_ms) {
            return wait_is_over(send);
        }
        node_pause(pause_ms);
    }
}

static int send_once(const Send *send, NodeClient *client)
{
    const Ui *ui = send->call->ui;
    NodeAnswer answer = {0};
    int code = node_call(client, message_request(send, 0), &answer);

    if (code == EXIT_DONE && ui->json) {
        code = show_line(ui, answer.json);
    } else if (code == EXIT_DONE) {
        if (json_is_true(json_object_get(answer.json, "duplicate"))) {
            ui_note(ui, "it was sent before, and is not sent again");
        }
        (void)printf("%s\n", send->key);
    }
    node_answer_release(&answer);
    return code;
}

static int send_message(const Send *send, NodeClient *client)
{
    char *how = NULL;

    if (!send->waits) {
        return send_once(send, client);
    }
    if (!send->call->ui->json && asprintf(&how,
                                          "the message may be in the inbox of the world: "
                                          "wait on with the same command and --id %s\n",
                                          send->key) >= 0) {
        interrupt_say_goodbye(say_how_to_wait, how);
    } else {
        how = NULL;
    }
    int code = send_and_wait(send, client);
    interrupt_say_goodbye(NULL, NULL);
    free(how);
    return code;
}

int world_send_verb(const Call *call)
{
    Send send = {.call = call, .world = call_operand(call, 0)};
    NodeClient client = {.directory = -1};
    int code = read_send(&send);

    code = code == EXIT_DONE ? node_open(call, &client) : code;
    code = code == EXIT_DONE ? program_register(&client, &send.program) : code;
    code = code == EXIT_DONE ? send_message(&send, &client) : code;
    node_close(&client);
    program_release(&send.program);
    json_decref(send.body);
    return code;
}

/* ---- query ------------------------------------------------------------------------------------- */

int world_query_verb(const Call *call)
{
    const char *world = call_operand(call, 0);
    const char *encoding = NULL;
    json_t *body = NULL;
    NodeClient client = {.directory = -1};
    NodeAnswer answer = {0};
    int code = payload_read(call, call_operand(call, 2), &body, &encoding);

    code = code == EXIT_DONE ? node_open(call, &client) : code;
    if (code == EXIT_DONE) {
        NodeRequest request = {.method = "POST", .world = world};
        request.path = node_query(node_path("/v1/worlds/%s/query", world), "strong",
                                  call_has(call, OPTION_STRONG) ? "1" : NULL);
        request.body = json_pack("{s:s, s:O*, s:s*}", "name", call_operand(call, 1), "body", body,
                                 "encoding", encoding);
        code = node_call(&client, request, &answer);
    }
    if (code == EXIT_DONE) {
        code = show_line(call->ui,
                         call->ui->json ? answer.json : json_object_get(answer.json, "reply"));
    }
    node_answer_release(&answer);
    node_close(&client);
    json_decref(body);
    return code;
}

/* ---- result ------------------------------------------------------------------------------------ */

static int print_result(const Call *call, const NodeAnswer *answer)
{
    const json_t *result = json_object_get(answer->json, "result");
    bool failed = json_is_true(json_object_get(answer->json, "failed"));
    int code = show_line(call->ui, call->ui->json ? answer->json : result);

    return code == EXIT_DONE && failed
               ? ui_fail(call->ui, EXIT_FAILED, NULL, "%s failed; its result says why",
                         call_operand(call, 0))
               : code;
}

static int no_result_yet(const Call *call, uint64_t wait_ms)
{
    char hint[400];
    char text[UI_TEXT];

    (void)snprintf(hint, sizeof hint, "wait for it: sapling world result %.200s --wait=10m",
                   call_operand(call, 0));
    return wait_ms == 0 ? ui_fail(call->ui, EXIT_TIMED_OUT, hint, "%s has not finished yet",
                                  call_operand(call, 0))
                        : ui_fail(call->ui, EXIT_TIMED_OUT, NULL, "%s has not finished in %s",
                                  call_operand(call, 0), ui_seconds((double)wait_ms / 1000, text));
}

int world_result_verb(const Call *call)
{
    const char *world = call_operand(call, 0);
    bool waits = call_has(call, OPTION_WAIT);
    uint64_t wait_ms = 0;
    NodeClient client = {.directory = -1};
    int code = call_duration(call, OPTION_WAIT, 1, WAIT_MOST_MS, waits ? WAIT_MS : 0, &wait_ms);
    uint64_t end_ms = node_clock_ms() + wait_ms;
    bool more = true;

    code = code == EXIT_DONE ? node_open(call, &client) : code;
    while (code == EXIT_DONE && more) {
        NodeAnswer answer = {0};
        char wait[UI_TEXT];
        uint64_t now = node_clock_ms();
        uint64_t left_ms = now < end_ms ? end_ms - now : 0;
        NodeRequest request = {.method = "GET", .world = world};
        request.wait_ms = left_ms < WAIT_SLICE_MS ? left_ms : WAIT_SLICE_MS;
        (void)snprintf(wait, sizeof wait, "%" PRIu64 "ms", request.wait_ms);
        request.path = node_query(node_path("/v1/worlds/%s/result", world), "wait",
                                  request.wait_ms > 0 ? wait : NULL);
        code = node_call(&client, request, &answer);
        more = code == EXIT_DONE && answer.status == 204 && node_clock_ms() + PAUSE_MS < end_ms;
        if (more && node_clock_ms() < now + PAUSE_MS) {
            node_pause(PAUSE_MS);
        }
        if (code == EXIT_DONE && !more) {
            code =
                answer.status == 204 ? no_result_yet(call, wait_ms) : print_result(call, &answer);
        }
        node_answer_release(&answer);
    }
    node_close(&client);
    return code;
}
