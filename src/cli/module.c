/* module.c - modules: which program runs the worlds of a name. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/node_commands.h"
#include "cli/node_common.h"

static const Field module_columns[] = {
    {"MODULE", "name", FIELD_TEXT},   {"VERSION", "version", FIELD_COUNT},
    {"CODE", "code", FIELD_HASH},     {"REGISTERED", "registered_ms", FIELD_SINCE},
    {"RUNNER", "runner", FIELD_TEXT}, {0},
};

static const Field module_fields[] = {
    {"module", "name", FIELD_TEXT},
    {"version", "version", FIELD_COUNT},
    {"runner", "runner", FIELD_TEXT},
    {"code", "code", FIELD_HASH},
    {"state", "state", FIELD_TEXT},
    {"timeout", "timeout_ms", FIELD_AGE},
    {"attempts", "max_attempts", FIELD_NUMBER},
    {"on failure", "on_failure", FIELD_TEXT},
    {"registered", "registered_ms", FIELD_SINCE},
    {0},
};

/* The object of --settings; NULL in *settings_out: it is not given. */
static int read_settings(const Call *call, json_t **settings_out)
{
    const char *text = call_value(call, OPTION_SETTINGS);
    json_error_t error;

    *settings_out = NULL;
    if (text == NULL) {
        return EXIT_DONE;
    }
    *settings_out = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(*settings_out)) {
        json_decref(*settings_out);
        *settings_out = NULL;
        return call_usage(
            call, "--settings is a JSON object, as in '{\"retention\":\"7d\"}', not %s", text);
    }
    return EXIT_DONE;
}

/* Adds a number to the body where the option is given. */
static int set_number(const Call *call, json_t *body, OptionId id, const char *name,
                      uint64_t number)
{
    if (!call_has(call, id)) {
        return EXIT_DONE;
    }
    return json_object_set_new(body, name, json_integer((json_int_t)number)) == 0
               ? EXIT_DONE
               : ui_no_memory(call->ui);
}

static int read_module(const Call *call, const Program *program, json_t **body_out)
{
    json_t *settings = NULL;
    uint64_t timeout_ms = 0;
    uint64_t attempts = 0;
    int code = read_settings(call, &settings);

    code = code == EXIT_DONE
               ? call_duration(call, OPTION_TIMEOUT, 1, UINT64_C(86400000), 0, &timeout_ms)
               : code;
    code = code == EXIT_DONE ? call_number(call, OPTION_MAX_ATTEMPTS, 1, UINT32_MAX, 0, &attempts)
                             : code;
    json_t *body = code == EXIT_DONE
                       ? json_pack("{s:s, s:s*, s:s*, s:O*}", "runner", program->runner, "state",
                                   call_value(call, OPTION_STATE), "on_failure",
                                   call_value(call, OPTION_ON_FAILURE), "settings", settings)
                       : NULL;
    json_decref(settings);
    if (code == EXIT_DONE && body == NULL) {
        return ui_no_memory(call->ui);
    }
    code =
        code == EXIT_DONE ? set_number(call, body, OPTION_TIMEOUT, "timeout_ms", timeout_ms) : code;
    code = code == EXIT_DONE ? set_number(call, body, OPTION_MAX_ATTEMPTS, "max_attempts", attempts)
                             : code;
    *body_out = body;
    return code;
}

/* NAME RUNNER, or RUNNER alone, which names the module too. */
static int read_names(const Call *call, Program *program)
{
    const char *first = call_operand(call, 0);
    const char *second = call_operand(call, 1);
    int code = program_read(call, second != NULL ? second : first, program);

    if (code == EXIT_DONE && program->runner == NULL) {
        return call_usage(call, "'%s' is not a program: exec:./hello.py, ./hello.py or native:NAME",
                          second != NULL ? second : first);
    }
    if (code == EXIT_DONE && second != NULL) {
        free(program->name);
        program->name = strdup(first);
        code = program->name != NULL ? EXIT_DONE : ui_no_memory(call->ui);
    }
    return code;
}

int module_put_verb(const Call *call)
{
    Program program = {0};
    json_t *body = NULL;
    NodeClient client = {.directory = -1};
    NodeAnswer answer = {0};
    int code = read_names(call, &program);

    code = code == EXIT_DONE ? read_module(call, &program, &body) : code;
    code = code == EXIT_DONE ? node_open(call, &client) : code;
    if (code == EXIT_DONE) {
        NodeRequest request = {.method = "PUT", .body = json_incref(body)};
        request.path = node_path("/v1/modules/%s", program.name);
        code = node_call(&client, request, &answer);
    }
    if (code == EXIT_DONE && call->ui->json) {
        code = show_line(call->ui, answer.json);
    } else if (code == EXIT_DONE) {
        ui_note(call->ui, "%s: version %" JSON_INTEGER_FORMAT ", %s%.8s, %s", program.name,
                json_integer_value(json_object_get(answer.json, "version")),
                json_is_true(json_object_get(answer.json, "changed")) ? "new code "
                                                                      : "unchanged, code ",
                show_text(answer.json, "code", "-"), show_text(answer.json, "runner", "-"));
    }
    json_decref(body);
    node_answer_release(&answer);
    node_close(&client);
    program_release(&program);
    return code;
}

int module_list_verb(const Call *call)
{
    return show_list_command(call, node_path("/v1/modules"), module_columns,
                             "no module is registered: sapling module put ./PROGRAM");
}

int module_show_verb(const Call *call)
{
    const char *name = call_operand(call, 0);

    return command_once(
        call,
        (NodeRequest){.method = "GET", .path = node_path("/v1/modules/%s", name), .module = name},
        module_fields);
}
