/* api_modules.c - see api_modules.h. */
#include "node/api_modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/api_list.h"
#include "node/exec_program.h"
#include "universe/schemas.h"

#define MS_NS UINT64_C(1000000)

enum { TIMEOUT_MOST_MS = 24 * 3600 * 1000, EXEC_LEN = sizeof EXEC_RUNNER - 1 };

static const char *const state_names[] = {
    [SAP_MODULE_STATE_WHOLE] = "whole",
    [SAP_MODULE_STATE_ASK] = "ask",
};

static const char *const failure_names[] = {
    [SAP_ON_FAILURE_HALT] = "halt",
    [SAP_ON_FAILURE_SKIP] = "skip",
};

/* ---- Showing --------------------------------------------------------------------------------- */

/* What was stored as the text of an object. */
static json_t *stored_object(const char *text)
{
    json_t *object = text == NULL || text[0] == 0 ? NULL : json_loads(text, 0, NULL);
    return object == NULL ? json_object() : object;
}

static json_t *module_json(const SapModule *module)
{
    json_t *code = module->code == NULL ? json_null() : call_hex_json(module->code, 32);
    return json_pack(
        "{s:s, s:I, s:s, s:s, s:I, s:i, s:s, s:o, s:I, s:o, s:o}", "name", module->name, "version",
        (json_int_t)module->version, "runner", module->runner, "state", state_names[module->state],
        "timeout_ms", (json_int_t)(module->timeout_ns / MS_NS), "max_attempts",
        (int)module->max_attempts, "on_failure", failure_names[module->on_failure], "code", code,
        "registered_ms", (json_int_t)(module->registered_ns / MS_NS), "settings",
        stored_object(module->settings), "schemas", stored_object(module->schemas));
}

void api_module_show(Call *call)
{
    SapModule *module = NULL;
    int rc = sap_module_get(call->api->universe, call->arg, 0, &module);
    if (rc == SAP_OK) {
        call_answer(call, 200, module_json(module));
    } else if (rc == SAP_NOTFOUND) {
        (void)call_fail(call, API_UNKNOWN_MODULE,
                        "there is no module \"%s\": GET /v1/modules lists them", call->arg);
    } else {
        (void)call_fail_code(call, rc, "module");
    }
    sap_module_free(module);
}

static int add_module(void *ctx, const SapModule *module)
{
    Page *page = (Page *)ctx;
    (void)snprintf(page->end.next, sizeof page->end.next, "%s", module->name);
    return page_add(page, module_json(module));
}

void api_modules_list(Call *call)
{
    Page page;
    if (!page_begin(call, &page)) {
        return;
    }
    int rc = sap_modules_list(call->api->universe, page.query.after, page.query.limit, add_module,
                              &page);
    page.end.more = json_array_size(page.items) == page.query.limit;
    page_answer(&page, rc);
}

/* ---- modules.allow --------------------------------------------------------------------------- */

/* The file, and each directory on the way to it: who can write one of them can put another program there. */
static bool is_safe_path(const char *path)
{
    char part[PATH_MAX];
    struct stat st;
    (void)snprintf(part, sizeof part, "%s", path);
    for (;;) {
        if (stat(part, &st) != 0 || (st.st_uid != 0 && st.st_uid != geteuid())) {
            return false;
        }
        bool sticky = S_ISDIR(st.st_mode) && (st.st_mode & S_ISVTX) != 0;
        if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !sticky) {
            return false;
        }
        char *slash = strrchr(part, '/');
        if (slash == NULL || part[1] == 0) {
            return true;
        }
        slash[slash == part ? 1 : 0] = 0;
    }
}

/* Every word that names a file is code: the program, and the script of an interpreter. */
static bool files_are_safe(const ExecProgram *program)
{
    char path[PATH_MAX];
    struct stat st;
    for (uint32_t i = 0; i < program->argc; i++) {
        bool is_file = program->argv[i][0] == '/' && realpath(program->argv[i], path) != NULL &&
                       stat(path, &st) == 0 && S_ISREG(st.st_mode);
        if (is_file ? !is_safe_path(path) : i == 0) {
            return false;
        }
    }
    return true;
}

/* The same program by its resolved path, and the same arguments. */
static bool same_words(const ExecProgram *a, const ExecProgram *b)
{
    char program[PATH_MAX];
    char allowed[PATH_MAX];
    if (a->argc != b->argc || realpath(a->argv[0], program) == NULL ||
        realpath(b->argv[0], allowed) == NULL || strcmp(program, allowed) != 0) {
        return false;
    }
    for (uint32_t i = 1; i < a->argc; i++) {
        if (strcmp(a->argv[i], b->argv[i]) != 0) {
            return false;
        }
    }
    return true;
}

static bool same_command(const char *runner, const char *line)
{
    ExecError error;
    ExecProgram wanted;
    ExecProgram allowed = {.argc = 0};
    bool same = exec_program_parse(runner, &wanted, &error) == SAP_OK &&
                exec_program_parse(line, &allowed, &error) == SAP_OK &&
                same_words(&wanted, &allowed) && files_are_safe(&wanted);
    exec_program_release(&wanted);
    exec_program_release(&allowed);
    return same;
}

bool api_runner_allowed(const char *runner, const char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool is_exec = strncmp(runner, EXEC_RUNNER, EXEC_LEN) == 0 &&
                       strncmp(lines[i], EXEC_RUNNER, EXEC_LEN) == 0;
        if (is_exec ? same_command(runner + EXEC_LEN, lines[i] + EXEC_LEN)
                    : strcmp(runner, lines[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- Registering ----------------------------------------------------------------------------- */

static bool read_choice(Call *call, const char *name, const char *const names[2], int *out)
{
    const char *text = NULL;
    *out = 0;
    if (!call_field_text(call, name, 16, false, &text)) {
        return false;
    }
    if (text == NULL || strcmp(text, names[0]) == 0 || strcmp(text, names[1]) == 0) {
        *out = text != NULL && strcmp(text, names[1]) == 0;
        return true;
    }
    return call_fail_detail(call, API_BAD_REQUEST, json_pack("{s:s}", "field", name),
                            "the field \"%s\" is to be \"%s\" or \"%s\"", name, names[0], names[1]);
}

/* A field that is an object, as text: NULL if it is absent or empty. The caller frees *text_out. */
static bool read_object(Call *call, const char *name, size_t most, char **text_out)
{
    const json_t *object = json_object_get(call->fields, name);
    if (object != NULL && !json_is_object(object)) {
        return call_fail_detail(call, API_BAD_REQUEST, json_pack("{s:s}", "field", name),
                                "the field \"%s\" is to be an object", name);
    }
    if (json_object_size(object) > 0) {
        *text_out = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);
        if (*text_out == NULL || strlen(*text_out) > most) {
            return call_fail(call, *text_out == NULL ? API_BUSY : API_TOO_LARGE,
                             "the field \"%s\" is longer than %zu bytes", name, most);
        }
    }
    return true;
}

/* The declarations of payloads must be ones that can be checked. */
static bool check_schemas(Call *call, const char *schemas)
{
    char why[JSON_SCHEMA_WHY] = "";
    Buf canonical = {0};
    int rc = schemas_canonical(schemas, &canonical, why);
    buf_release(&canonical);
    return rc == SAP_OK ||
           call_fail_detail(call, rc == SAP_INVALID ? API_BAD_REQUEST : API_BUSY,
                            json_pack("{s:s}", "field", "schemas"), "the schemas: %s",
                            rc == SAP_INVALID ? why : sap_strerror(rc));
}

/* Texts of a module that its struct borrows. */
typedef struct ModuleTexts {
    char *settings;
    char *schemas;
} ModuleTexts;

static bool read_module(Call *call, SapModule *module, ModuleTexts *texts)
{
    const char *runner = NULL;
    uint64_t timeout_ms = 0;
    uint64_t attempts = 0;
    int state = 0;
    int on_failure = 0;
    if (!call_read_body(call) ||
        !call_field_text(call, "runner", SAP_MODULE_MAX_RUNNER, true, &runner) ||
        !call_field_u64(call, "timeout_ms", TIMEOUT_MOST_MS, 0, &timeout_ms) ||
        !call_field_u64(call, "max_attempts", UINT32_MAX, 0, &attempts) ||
        !read_choice(call, "state", state_names, &state) ||
        !read_choice(call, "on_failure", failure_names, &on_failure) ||
        !read_object(call, "settings", SAP_MODULE_MAX_SETTINGS, &texts->settings) ||
        !read_object(call, "schemas", SAP_MODULE_MAX_SCHEMAS, &texts->schemas) ||
        !check_schemas(call, texts->schemas)) {
        return false;
    }
    *module = (SapModule){.size = sizeof *module,
                          .name = call->arg,
                          .runner = runner,
                          .settings = texts->settings,
                          .schemas = texts->schemas,
                          .timeout_ns = timeout_ms * MS_NS,
                          .max_attempts = (uint32_t)attempts,
                          .state = (SapModuleState)state,
                          .on_failure = (SapOnFailure)on_failure};
    return true;
}

/* Runners that start programs of this machine: more than a token allows. */
static bool check_allowed(Call *call, const char *runner)
{
    const HttpOptions *options = &call->api->options;
    bool is_local = strncmp(runner, EXEC_RUNNER, EXEC_LEN) == 0 ||
                    strncmp(runner, NATIVE_RUNNER, sizeof NATIVE_RUNNER - 1) == 0;
    if (call->caller.socket || !is_local ||
        api_runner_allowed(runner, options->modules_allow, options->modules_allow_count)) {
        return true;
    }
    return call_fail(
        call, API_MODULE_NOT_ALLOWED,
        "a token may not register the runner %.200s: use --unix-socket %s/node.sock, or "
        "put this line into modules.allow; its file and directories must be writable by "
        "their owner only",
        runner, options->data);
}

static bool check_runner(Call *call, SapModule *module, uint8_t code[32])
{
    char message[512] = "";
    const HttpOptions *options = &call->api->options;
    if (options->module_check == NULL) {
        return true;
    }
    int rc =
        options->module_check(options->module_check_ctx, module, code, message, sizeof message);
    if (rc == SAP_OK) {
        module->code = code;
        return true;
    }
    return call_fail_detail(call, API_BAD_REQUEST, json_pack("{s:s}", "field", "runner"), "%s",
                            message[0] == 0 ? sap_strerror(rc) : message);
}

static void put_module(Call *call, const SapModule *module)
{
    SapModule *before = NULL;
    uint64_t version = 0;
    int rc = sap_module_get(call->api->universe, module->name, 0, &before);
    rc = rc == SAP_OK || rc == SAP_NOTFOUND ? sap_module_put(call->api->universe, module, &version)
                                            : rc;
    if (rc == SAP_OK) {
        bool changed = before == NULL || before->version != version;
        call_answer(call, 200,
                    json_pack("{s:s, s:I, s:s, s:o, s:b}", "name", module->name, "version",
                              (json_int_t)version, "runner", module->runner, "code",
                              module->code == NULL ? json_null() : call_hex_json(module->code, 32),
                              "changed", (int)changed));
    } else {
        (void)call_fail_code(call, rc, "module");
    }
    sap_module_free(before);
}

void api_module_put(Call *call)
{
    SapModule module;
    uint8_t code[32];
    ModuleTexts texts = {0};
    if (read_module(call, &module, &texts) && check_allowed(call, module.runner) &&
        check_runner(call, &module, code)) {
        put_module(call, &module);
    }
    free(texts.settings);
    free(texts.schemas);
}
