/* effect.c - what worlds asked of the outside, receipts put by hand, and timers. */
#include <stdlib.h>
#include <string.h>

#include "cli/node_commands.h"
#include "cli/node_common.h"

static const Field effect_columns[] = {
    {"WORLD", "world", FIELD_TEXT},     {"HASH", "hash", FIELD_HASH},
    {"KIND", "kind", FIELD_TEXT},       {"REF", "ref", FIELD_TEXT},
    {"STATE", "state", FIELD_TEXT},     {"ATTEMPTS", "attempts", FIELD_COUNT},
    {"DUE IN", "due_in_ms", FIELD_AGE}, {"AGE", "age_ms", FIELD_AGE},
    {"PARAMS", "params", FIELD_VALUE},  {0},
};

static const Field effect_fields[] = {
    {"world", "world", FIELD_TEXT},     {"hash", "hash", FIELD_HASH},
    {"kind", "kind", FIELD_TEXT},       {"ref", "ref", FIELD_TEXT},
    {"state", "state", FIELD_TEXT},     {"attempts", "attempts", FIELD_COUNT},
    {"code", "code", FIELD_TEXT},       {"worker", "worker", FIELD_TEXT},
    {"due in", "due_in_ms", FIELD_AGE}, {"age", "age_ms", FIELD_AGE},
    {"params", "params", FIELD_VALUE},  {0},
};

static const Field timer_columns[] = {
    {"WORLD", "world", FIELD_TEXT},
    {"HASH", "hash", FIELD_HASH},
    {"REF", "ref", FIELD_TEXT},
    {"DUE IN", "in_ms", FIELD_AGE},
    {"STEP", "step", FIELD_COUNT},
    {"BODY", "body", FIELD_VALUE},
    {0},
};

int effect_list_verb(const Call *call)
{
    char *path = node_query(node_path("/v1/effects"), "world", call_operand(call, 0));

    path = node_query(path, "kind", call_value(call, OPTION_KIND));
    path = node_query(path, "state", call_value(call, OPTION_STATE));
    return show_list_command(call, path, effect_columns, "no effects are under way");
}

int timer_list_verb(const Call *call)
{
    return show_list_command(call,
                             node_query(node_path("/v1/timers"), "world", call_operand(call, 0)),
                             timer_columns, "there are no timers");
}

/* Opens the node and finds what the operands WORLD and HASH name. */
static int open_hash(const Call *call, const char *lists, NodeClient *client, char **hash_out)
{
    int code = node_open(call, client);

    return code == EXIT_DONE
               ? hash_find(client, lists, call_operand(call, 0), call_operand(call, 1), hash_out)
               : code;
}

int effect_show_verb(const Call *call)
{
    NodeClient client;
    NodeAnswer answer = {0};
    char *hash = NULL;
    int code = open_hash(call, "effects", &client, &hash);

    if (code == EXIT_DONE) {
        NodeRequest request = {.method = "GET", .world = call_operand(call, 0)};
        request.path =
            node_query(node_path("/v1/effects/%s", hash), "world", call_operand(call, 0));
        code = node_call(&client, request, &answer);
    }
    code = code == EXIT_DONE ? show_item(call->ui, answer.json, effect_fields) : code;
    node_answer_release(&answer);
    free(hash);
    node_close(&client);
    return code;
}

/* POST /v1/LISTS/HASH/VERB with the body, to which the world is added. Takes ownership of the body. */
static int act_on_hash(const Call *call, const char *lists, const char *verb, json_t *body,
                       const char *done)
{
    NodeClient client;
    NodeAnswer answer = {0};
    char *hash = NULL;
    int code = open_hash(call, lists, &client, &hash);

    if (code == EXIT_DONE &&
        json_object_set_new(body, "world", json_string(call_operand(call, 0))) != 0) {
        code = ui_no_memory(call->ui);
    }
    if (code == EXIT_DONE) {
        NodeRequest request = {.method = "POST", .world = call_operand(call, 0)};
        request.path = node_path("/v1/%s/%s/%s", lists, hash, verb);
        request.body = json_incref(body);
        code = node_call(&client, request, &answer);
    }
    if (code == EXIT_DONE && call->ui->json) {
        code = ui_object(call->ui,
                         json_pack("{s:s, s:s}", "world", call_operand(call, 0), "hash", hash));
    } else if (code == EXIT_DONE) {
        ui_note(call->ui, "%.12s of %s %s", hash, call_operand(call, 0), done);
    }
    node_answer_release(&answer);
    json_decref(body);
    free(hash);
    node_close(&client);
    return code;
}

int effect_retry_verb(const Call *call)
{
    return act_on_hash(call, "effects", "retry", json_object(), "is tried again now");
}

int effect_cancel_verb(const Call *call)
{
    return act_on_hash(call, "effects", "cancel", json_object(), "is cancelled");
}

int timer_cancel_verb(const Call *call)
{
    return act_on_hash(call, "timers", "cancel", json_object(), "is cancelled");
}

int receipt_inject_verb(const Call *call)
{
    const char *status = call_value(call, OPTION_STATUS);
    const char *encoding = NULL;
    json_t *body = NULL;
    int code = payload_read(call, call_operand(call, 2), &body, &encoding);

    if (code != EXIT_DONE) {
        return code;
    }
    json_t *receipt =
        json_pack("{s:s, s:s*, s:o*, s:s*}", "status", status != NULL ? status : "ok", "code",
                  call_value(call, OPTION_CODE), "body", body, "encoding", encoding);
    return act_on_hash(call, "effects", "receipt", receipt, "has this receipt");
}
