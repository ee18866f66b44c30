/* node_status.c - what a node says of itself, and any request to it. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/node_commands.h"
#include "cli/node_common.h"
#include "common/clock.h"

/* ---- status ------------------------------------------------------------------------------------ */

static const Field status_fields[] = {
    {"version", "version", FIELD_TEXT},
    {"process", "pid", FIELD_TEXT},
    {"up for", "started_ms", FIELD_SINCE},
    {"listens on", "listen", FIELD_TEXT},
    {"data", "data", FIELD_TEXT},
    {"store", "store", FIELD_TEXT},
    {"workers", "workers", FIELD_COUNT},
    {"worlds", "worlds.total", FIELD_COUNT},
    {"paused", "worlds.paused", FIELD_COUNT},
    {"stuck", "worlds.stuck", FIELD_COUNT},
    {"dead letters", "dead_letters", FIELD_COUNT},
    {0},
};

static const Field attention_fields[] = {
    {"COUNT", "count", FIELD_COUNT},
    {"NEEDS YOU", "what", FIELD_TEXT},
    {"SEE", "command", FIELD_TEXT},
    {0},
};

/* What needs a person, or that nothing does. */
static int print_attention(const Call *call, const json_t *list)
{
    Table table = {.ui = call->ui, .fields = attention_fields};
    json_t *item;
    size_t i;
    int rc = SAP_OK;

    if (json_array_size(list) == 0) {
        (void)puts("\nnothing needs you");
        return EXIT_DONE;
    }
    (void)putchar('\n');
    json_array_foreach(list, i, item)
    {
        rc = rc == SAP_OK ? table_add(&table, item) : rc;
    }
    int code = rc == SAP_OK ? table_print(&table) : ui_no_memory(call->ui);
    table_release(&table);
    return code;
}

int status_verb(const Call *call)
{
    NodeClient client;
    NodeAnswer answer = {0};
    int code = node_open(call, &client);

    if (code == EXIT_DONE) {
        code = node_call(&client, (NodeRequest){.method = "GET", .path = node_path("/v1/status")},
                         &answer);
    }
    if (code == EXIT_DONE && !json_is_object(answer.json)) {
        code = node_nonsense(&client, "its status is not an object");
    }
    if (code == EXIT_DONE) {
        code = show_item(call->ui, answer.json, status_fields);
    }
    if (code == EXIT_DONE && !call->ui->json) {
        code = print_attention(call, json_object_get(answer.json, "attention"));
    }
    node_answer_release(&answer);
    node_close(&client);
    return code;
}

/* ---- api --------------------------------------------------------------------------------------- */

enum { METHOD_MOST = 16 };

/* The method in capital letters. */
static int read_method(const Call *call, char method[METHOD_MOST])
{
    const char *given = call_operand(call, 0);
    size_t len = strlen(given);

    for (size_t i = 0; i < len && i < METHOD_MOST; i++) {
        method[i] = (char)toupper((unsigned char)given[i]);
        method[i + 1 < METHOD_MOST ? i + 1 : i] = '\0';
        if (method[i] < 'A' || method[i] > 'Z') {
            len = METHOD_MOST;
        }
    }
    return len > 0 && len < METHOD_MOST
               ? EXIT_DONE
               : call_usage(call, "'%s' is not a method: it is GET, POST, PUT or DELETE", given);
}

/* The path as it is, or behind /v1/; bytes that no path has are encoded. */
static int read_path(const Call *call, char **path_out)
{
    const char *given = call_operand(call, 1);
    Buf path = {0};
    int rc = buf_append_str(&path, given[0] == '/' ? "" : "/v1/");

    for (const char *at = given; *at != '\0' && rc == SAP_OK; at++) {
        unsigned char c = (unsigned char)*at;
        rc = c <= ' ' || c > '~' || c == '#' ? buf_printf(&path, "%%%02X", c)
                                             : buf_append_u8(&path, c);
    }
    *path_out = node_text(&path, rc);
    return *path_out != NULL ? EXIT_DONE : ui_no_memory(call->ui);
}

static int print_answer(const Call *call, const NodeAnswer *answer)
{
    bool ended = answer->text.len > 0 && answer->text.data[answer->text.len - 1] == '\n';

    if (!ui_write(stdout, (Slice){answer->text.data, answer->text.len}) ||
        (answer->text.len > 0 && !ended && putchar('\n') == EOF)) {
        return ui_finish(call->ui);
    }
    return EXIT_DONE;
}

static int print_curl(const NodeClient *client, const NodeRequest *request)
{
    char *command = node_curl_command(client, request);

    if (command == NULL) {
        return ui_no_memory(client->call->ui);
    }
    bool written = ui_write(stdout, slice_from_str(command)) && putchar('\n') != EOF;
    free(command);
    return written ? EXIT_DONE : ui_finish(client->call->ui);
}

/* Sends the request, or prints the command that would. Takes ownership of its path and body. */
static int send_request(NodeClient *client, NodeRequest request)
{
    NodeAnswer answer = {0};
    int code;

    if (call_has(client->call, OPTION_CURL)) {
        code = print_curl(client, &request);
        free(request.path);
        json_decref(request.body);
        return code;
    }
    code = node_call(client, request, &answer);
    code = code == EXIT_DONE ? print_answer(client->call, &answer) : code;
    node_answer_release(&answer);
    return code;
}

int api_verb(const Call *call)
{
    NodeClient client;
    char method[METHOD_MOST];
    const char *encoding = NULL;
    NodeRequest request = {.method = method, .text = true, .bare = true};
    int code = node_open(call, &client);

    code = code == EXIT_DONE ? read_method(call, method) : code;
    code = code == EXIT_DONE ? payload_read(call, call_operand(call, 2), &request.body, &encoding)
                             : code;
    code = code == EXIT_DONE ? read_path(call, &request.path) : code;
    if (code == EXIT_DONE) {
        code = send_request(&client, request);
    } else {
        json_decref(request.body);
    }
    node_close(&client);
    return code;
}
