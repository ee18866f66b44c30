/* worker.c - who runs worlds: leases, workers, assignments. */
#include <string.h>

#include "cli/node_commands.h"
#include "cli/node_common.h"

static const Field lease_columns[] = {
    {"WORLD", "world", FIELD_TEXT},
    {"HOLDER", "holder", FIELD_TEXT},
    {"EPOCH", "epoch", FIELD_TEXT},
    {"LEFT", "left_ms", FIELD_AGE},
    {"ALIVE", "alive", FIELD_TEXT},
    {"UNCLEAN", "unclean", FIELD_TEXT},
    {0},
};

static const Field worker_columns[] = {
    {"WORKER", "worker", FIELD_TEXT},
    {"ALIVE", "alive", FIELD_TEXT},
    {"LEFT", "left_ms", FIELD_AGE},
    {"WORLDS", "worlds", FIELD_COUNT},
    {"MODULES", "modules", FIELD_NAMES},
    {"KINDS", "kinds", FIELD_NAMES},
    {0},
};

static const Field assignment_columns[] = {
    {"WORLD", "world", FIELD_TEXT},
    {"WORKER", "worker", FIELD_TEXT},
    {"PRIORITY", "priority", FIELD_COUNT},
    {"REASON", "reason", FIELD_TEXT},
    {0},
};

int lease_list_verb(const Call *call)
{
    return show_list_command(call, node_path("/v1/leases"), lease_columns,
                             "no worker holds a world");
}

int worker_list_verb(const Call *call)
{
    return show_list_command(call, node_path("/v1/workers"), worker_columns,
                             "there are no workers");
}

int assign_verb(const Call *call)
{
    const char *world = call_operand(call, 0);
    const char *worker = call_operand(call, 1);
    uint64_t priority = 0;

    if (world == NULL) {
        return show_list_command(call, node_path("/v1/assignments"), assignment_columns,
                                 "no world is assigned: any worker may take any of them");
    }
    if (worker == NULL) {
        return call_usage(call, "to which worker? sapling worker list shows them");
    }
    int code = call_number(call, OPTION_PRIORITY, 0, 255, 0, &priority);
    if (code == EXIT_DONE) {
        NodeRequest request = {.method = "PUT", .world = world};
        request.path = node_path("/v1/assignments/%s", world);
        request.body =
            json_pack("{s:s, s:o*, s:s*}", "worker", worker, "priority",
                      call_has(call, OPTION_PRIORITY) ? json_integer((json_int_t)priority) : NULL,
                      "reason", call_value(call, OPTION_REASON));
        code = command_once(call, request, NULL);
    }
    if (code == EXIT_DONE) {
        ui_note(call->ui, "%s is assigned to %s", world, worker);
    }
    return code;
}

int unassign_verb(const Call *call)
{
    const char *world = call_operand(call, 0);
    int code = command_once(call,
                            (NodeRequest){.method = "DELETE",
                                          .path = node_path("/v1/assignments/%s", world),
                                          .world = world},
                            NULL);

    if (code == EXIT_DONE) {
        ui_note(call->ui, "%s may run on any worker", world);
    }
    return code;
}
