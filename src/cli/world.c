/* world.c - worlds: made, listed, shown, and what an operator does to one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/node_commands.h"
#include "cli/node_common.h"

static const Field list_fields[] = {
    {"WORLD", "world", FIELD_TEXT},
    {"MODULE", "module", FIELD_TEXT},
    {"STATUS", "status", FIELD_TEXT},
    {"STEP", "step", FIELD_COUNT},
    {"WAITING", "inbox.messages", FIELD_COUNT},
    {"OLDEST", "inbox.age_ms", FIELD_AGE},
    {"REASON", "reason", FIELD_TEXT},
    {0},
};

static const Field world_fields[] = {
    {"world", "world", FIELD_TEXT},
    {"module", "module", FIELD_TEXT},
    {"status", "status", FIELD_TEXT},
    {"reason", "reason", FIELD_TEXT},
    {"step", "step", FIELD_COUNT},
    {"messages", "inbox.messages", FIELD_COUNT},
    {"receipts", "inbox.receipts", FIELD_COUNT},
    {"control", "inbox.control", FIELD_COUNT},
    {"oldest", "inbox.age_ms", FIELD_AGE},
    {"holder", "holder", FIELD_TEXT},
    {"assigned", "assigned", FIELD_TEXT},
    {"pin", "pin", FIELD_NUMBER},
    {"tags", "tags", FIELD_PAIRS},
    {0},
};

static const Field outstanding_fields[] = {
    {"HASH", "hash", FIELD_HASH},
    {"REF", "ref", FIELD_TEXT},
    {"TIMER", "timer", FIELD_TEXT},
    {0},
};

/* A request about the world of the first operand; `rest` comes behind its path. */
static NodeRequest world_request(const Call *call, const char *method, const char *rest,
                                 json_t *body)
{
    const char *world = call_operand(call, 0);
    char *path = node_path("/v1/worlds/%s", world);
    NodeRequest request = {.method = method, .world = world, .body = body};

    if (path != NULL && asprintf(&request.path, "%s%s", path, rest) < 0) {
        request.path = NULL;
    }
    free(path);
    return request;
}

int world_create_verb(const Call *call)
{
    const char *world = call_operand(call, 0);
    const char *module = call_value(call, OPTION_MODULE);
    const char *encoding = NULL;
    json_t *body = NULL;
    Program program = {0};
    NodeClient client = {.directory = -1};
    NodeAnswer answer = {0};

    if (module == NULL) {
        return call_usage(call, "which module? --module NAME, or --module ./PROGRAM");
    }
    int code = payload_read(call, call_operand(call, 1), &body, &encoding);
    code = code == EXIT_DONE ? program_read(call, module, &program) : code;
    code = code == EXIT_DONE ? node_open(call, &client) : code;
    code = code == EXIT_DONE ? program_register(&client, &program) : code;
    if (code == EXIT_DONE) {
        NodeRequest request = {.method = "POST", .path = node_path("/v1/worlds")};
        request.body = json_pack("{s:s, s:s, s:O*, s:s*}", "world", world, "module", program.name,
                                 "body", body, "encoding", encoding);
        request.module = program.name;
        code = node_call(&client, request, &answer);
    }
    if (code == EXIT_DONE && call->ui->json) {
        code = show_line(call->ui, answer.json);
    } else if (code == EXIT_DONE) {
        ui_note(call->ui, "%s %s, of the module %s", world,
                answer.status == 201 ? "was created" : "is there", program.name);
    }
    node_answer_release(&answer);
    node_close(&client);
    program_release(&program);
    json_decref(body);
    return code;
}

/* ---- list and show ----------------------------------------------------------------------------- */

int world_list_verb(const Call *call)
{
    char *path = node_query(node_path("/v1/worlds"), "prefix", call_value(call, OPTION_PREFIX));

    path = node_query(path, "status", call_value(call, OPTION_STATUS));
    path = node_query(path, "tag", call_value(call, OPTION_TAG));
    path = node_query(path, "module", call_value(call, OPTION_MODULE));
    return show_list_command(call, path, list_fields, "there are no such worlds");
}

int world_show_verb(const Call *call)
{
    return command_once(call, world_request(call, "GET", "", NULL), world_fields);
}

int world_outstanding_verb(const Call *call)
{
    return show_list_command(
        call, node_path(SHOW_WHOLE "/v1/worlds/%s/outstanding", call_operand(call, 0)),
        outstanding_fields, "it waits for nothing");
}

/* ---- What an operator does --------------------------------------------------------------------- */

/* POST, the answer of which is the world. */
static int change_world(const Call *call, const char *rest, json_t *body, const char *done)
{
    int code = command_once(call, world_request(call, "POST", rest, body), NULL);

    if (code == EXIT_DONE) {
        ui_note(call->ui, "%s %s", call_operand(call, 0), done);
    }
    return code;
}

int world_pause_verb(const Call *call)
{
    const char *reason = call_value(call, OPTION_REASON);

    return change_world(call, "/pause", json_pack("{s:s*}", "reason", reason), "is paused");
}

int world_resume_verb(const Call *call)
{
    bool skip = call_has(call, OPTION_SKIP);

    return change_world(call, "/resume", skip ? json_pack("{s:b}", "skip", 1) : json_object(),
                        skip ? "goes on; the item that failed is a dead letter" : "goes on");
}

int world_cancel_verb(const Call *call)
{
    const char *reason = call_value(call, OPTION_REASON);

    return change_world(call, "/cancel", json_pack("{s:s*}", "reason", reason),
                        "is asked to end: its handler gets a cancel event");
}

int world_pin_verb(const Call *call)
{
    const char *text = call_operand(call, 1);
    char *end = NULL;
    bool newest = strcmp(text, "newest") == 0;
    unsigned long long version = newest ? 0 : strtoull(text, &end, 10);

    if (!newest && (text[0] < '1' || text[0] > '9' || *end != '\0' || strlen(text) > 18)) {
        return call_usage(call, "'%s' is not a version: a number from 1 on, or newest", text);
    }
    return change_world(call, "/pin", json_pack("{s:I}", "version", (json_int_t)version),
                        newest ? "runs the newest version of its module" : "is pinned");
}

int world_delete_verb(const Call *call)
{
    const char *world = call_operand(call, 0);
    char question[400];

    (void)snprintf(question, sizeof question, "delete %.300s with its state and its journal",
                   world);
    int code = ui_confirm(call->ui, call_has(call, OPTION_YES), question);
    if (code == EXIT_DONE) {
        code = command_once(call, world_request(call, "DELETE", "", NULL), NULL);
    }
    if (code == EXIT_DONE) {
        ui_note(call->ui, "%s is deleted", world);
    }
    return code;
}
