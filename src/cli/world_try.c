/* world_try.c - one event given to a program, without a node. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/node.h"
#include "cli/node_commands.h"
#include "cli/node_common.h"
#include "node/exec_try.h"

static int exit_of_try(int rc)
{
    switch (rc) {
    case SAP_OK:
        return EXIT_DONE;
    case SAP_INVALID:
        return EXIT_USAGE;
    case SAP_NOTFOUND:
        return EXIT_NOT_FOUND;
    default:
        return EXIT_FAILED;
    }
}

/* On one line, as what a node answers. */
static int print_answer(const Call *call, const char *text, size_t len)
{
    json_t *answer = payload_parse(text, len, NULL);
    int code = answer != NULL ? show_line(call->ui, answer) : ui_no_memory(call->ui);

    json_decref(answer);
    return code;
}

static int try_program(const Call *call, const Program *program, const Config *config,
                       uint64_t timeout_ms)
{
    char message[1024] = "";
    const char *state = call_value(call, OPTION_STATE);
    char python[CONFIG_PATH_MAX];
    ExecTry trial = {.runner = program->runner,
                     .python_path = config_python_path(config, python),
                     .timeout_ns = timeout_ms * 1000000,
                     .asks = state != NULL && strcmp(state, "ask") == 0};

    if (isatty(STDIN_FILENO) == 1) {
        ui_note(call->ui,
                "reads an event, such as {\"type\":\"message\",\"name\":\"hi\",\"body\":1}, "
                "until Ctrl-D");
    }
    char *text = NULL;
    size_t len = 0;
    FILE *answer = open_memstream(&text, &len);
    if (answer == NULL) {
        return ui_no_memory(call->ui);
    }
    int rc = exec_try(&trial, stdin, answer, stderr, message, sizeof message);
    bool whole = fclose(answer) == 0;
    int code = rc != SAP_OK ? ui_fail(call->ui, exit_of_try(rc), NULL, "%s",
                                      message[0] != '\0' ? message : sap_strerror(rc))
               : whole ? print_answer(call, text, len)
                            : ui_no_memory(call->ui);
    free(text);
    return code;
}

int world_try_verb(const Call *call)
{
    const char *text = call_operand(call, 0);
    Program program = {0};
    Config *config = NULL;
    uint64_t timeout_ms = 0;
    int code = call_duration(call, OPTION_TIMEOUT, 1, UINT64_C(86400000), 0, &timeout_ms);

    code = code == EXIT_DONE ? program_read(call, text, &program) : code;
    if (code == EXIT_DONE && program.runner == NULL) {
        code = call_usage(call, "'%s' is not a program: ./hello.py, or exec:PROGRAM", text);
    }
    code = code == EXIT_DONE ? node_config(call, &config) : code;
    code = code == EXIT_DONE ? try_program(call, &program, config, timeout_ms) : code;
    config_free(config);
    program_release(&program);
    return code;
}
