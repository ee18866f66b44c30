/* exec_runner.c - a runner, and the modules that it has made pools for: see exec_runner.h. */
#include "node/exec_runner.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/assert.h"
#include "common/mem.h"

enum { DEFAULT_PROCESSES = 4, MOST_PROCESSES = 256, VARIABLES = 12, ENTRY_SIZE = 4096 };

#define DEFAULT_TIMEOUT_NS UINT64_C(10000000000)
#define DEFAULT_IDLE_NS    UINT64_C(60000000000)
#define DEFAULT_MEMORY     (UINT64_C(1) << 30)

/* ---- What programs are given
 * ------------------------------------------------------------------- */

/* Appends NAME=value with its NUL, if there is a value. */
static int add_variable(Buf *text, const char *name, const char *value)
{
    if (value == NULL || value[0] == 0) {
        return SAP_OK;
    }
    int rc = buf_printf(text, "%s=%s", name, value);
    return rc == SAP_OK ? buf_append_u8(text, 0) : rc;
}

/* Nothing of this process's environment but where programs are, and what time it is there. */
static int make_environment(ExecRunner *runner, const char *home, const char *user)
{
    Buf *text = &runner->environment_text;
    int rc = add_variable(text, "PATH", exec_search_path());
    rc = rc == SAP_OK ? add_variable(text, "HOME", home) : rc;
    rc = rc == SAP_OK ? add_variable(text, "USER", user) : rc;
    rc = rc == SAP_OK ? add_variable(text, "LANG", "C.UTF-8") : rc;
    rc = rc == SAP_OK ? add_variable(text, "TZ", getenv("TZ")) : rc;
    rc = rc == SAP_OK ? add_variable(text, "TMPDIR", getenv("TMPDIR")) : rc;
    rc = rc == SAP_OK ? add_variable(text, "PYTHONUNBUFFERED", "1") : rc;
    rc = rc == SAP_OK ? add_variable(text, "PYTHONHASHSEED", "0") : rc;
    rc = rc == SAP_OK ? add_variable(text, "PYTHONPATH", runner->options.python_path) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    runner->environment = (char **)mem_zalloc(MEM_COMMON, VARIABLES * sizeof *runner->environment);
    if (runner->environment == NULL) {
        return SAP_NOMEM;
    }
    int count = 0;
    for (size_t at = 0; at < text->len; at += strlen((char *)text->data + at) + 1) {
        SAP_ASSERT(count < VARIABLES - 1);
        runner->environment[count++] = (char *)text->data + at;
    }
    return SAP_OK;
}

/* The user that programs run as. *home_out and *user_out are in `room`. */
static int find_user(ExecRunner *runner, char room[ENTRY_SIZE], const char **home_out,
                     const char **user_out)
{
    struct passwd entry;
    struct passwd *found = NULL;
    const char *name = runner->options.user;
    int error = name != NULL ? getpwnam_r(name, &entry, room, ENTRY_SIZE, &found)
                             : getpwuid_r(geteuid(), &entry, room, ENTRY_SIZE, &found);
    if (error != 0 || found == NULL) {
        return name != NULL ? SAP_INVALID : SAP_OK;
    }
    *home_out = entry.pw_dir;
    *user_out = entry.pw_name;
    if (name == NULL || entry.pw_uid == geteuid()) {
        return SAP_OK;
    }
    int count = (int)(sizeof runner->groups / sizeof runner->groups[0]);
    if (geteuid() != 0 || getgrouplist(name, entry.pw_gid, runner->groups, &count) < 0) {
        return SAP_INVALID;
    }
    runner->spawn.switches_user = true;
    runner->spawn.uid = entry.pw_uid;
    runner->spawn.gid = entry.pw_gid;
    runner->spawn.groups = runner->groups;
    runner->spawn.group_count = (size_t)count;
    return SAP_OK;
}

static int prepare_spawn(ExecRunner *runner)
{
    char room[ENTRY_SIZE];
    const char *home = NULL;
    const char *user = NULL;
    int rc = find_user(runner, room, &home, &user);
    rc = rc == SAP_OK ? make_environment(runner, home, user) : rc;
    runner->spawn.envp = runner->environment;
    return rc;
}

/* ---- Opening and closing
 * ----------------------------------------------------------------------- */

static void fill_options(ExecRunnerOptions *options)
{
    options->max_processes =
        options->max_processes != 0 ? options->max_processes : DEFAULT_PROCESSES;
    options->max_task_processes =
        options->max_task_processes != 0 ? options->max_task_processes : DEFAULT_PROCESSES;
    options->timeout_ns = options->timeout_ns != 0 ? options->timeout_ns : DEFAULT_TIMEOUT_NS;
    options->idle_ns = options->idle_ns != 0 ? options->idle_ns : DEFAULT_IDLE_NS;
    options->max_memory = options->max_memory != 0 ? options->max_memory : DEFAULT_MEMORY;
}

static void free_runner(ExecRunner *runner)
{
    exec_tasks_close(runner->tasks);
    exec_keeper_close(runner->keeper);
    exec_meters_close(&runner->meters);
    mutex_destroy(&runner->lock);
    mem_free(MEM_COMMON, runner->environment,
             runner->environment == NULL ? 0 : VARIABLES * sizeof *runner->environment);
    buf_release(&runner->environment_text);
    mem_free(MEM_COMMON, runner, sizeof *runner);
}

int exec_runner_open(const ExecRunnerOptions *options, ExecRunner **runner_out)
{
    ExecRunner *runner = (ExecRunner *)mem_zalloc(MEM_COMMON, sizeof *runner);
    if (runner == NULL) {
        return SAP_NOMEM;
    }
    runner->options = *options;
    fill_options(&runner->options);
    if (!mutex_init(&runner->lock)) {
        mem_free(MEM_COMMON, runner, sizeof *runner);
        return SAP_NOMEM;
    }
    int rc = exec_meters_open(&runner->meters, options->metrics);
    rc = rc == SAP_OK ? prepare_spawn(runner) : rc;
    rc = rc == SAP_OK ? exec_tasks_open(runner, &runner->tasks) : rc;
    rc = rc == SAP_OK ? exec_keeper_open(options->log, &runner->meters, runner->options.idle_ns,
                                         &runner->keeper)
                      : rc;
    if (rc != SAP_OK) {
        free_runner(runner);
        return rc;
    }
    runner->spawn.guard = exec_keeper_guard(runner->keeper);
    *runner_out = runner;
    return SAP_OK;
}

static void free_module(ExecModule *module)
{
    exec_pool_close(module->pool);
    exec_pool_close(module->task_pool);
    exec_program_release(&module->program);
    mutex_destroy(&module->lock);
    mem_free(MEM_COMMON, module, sizeof *module);
}

void exec_runner_close(ExecRunner *runner)
{
    if (runner == NULL) {
        return;
    }
    exec_tasks_stop(runner->tasks);
    while (runner->modules != NULL) {
        ExecModule *module = runner->modules;
        SAP_ASSERT(module->uses == 0);
        runner->modules = module->next;
        free_module(module);
    }
    free_runner(runner);
}

/* ---- Code
 * -------------------------------------------------------------------------------------- */

static void log_code(const ExecModule *module, const char *words)
{
    char text[SAP_WORLD_MAX_NAME + 64];
    (void)snprintf(text, sizeof text, "%s: %s %02x%02x", module->name, words, module->code[0],
                   module->code[1]);
    LOG_EVENT(module->runner->options.log, LOG_LEVEL_INFO, "module.code",
              LOG_STR("module", module->name), LOG_HEX("code", module->code, sizeof module->code),
              LOG_STR("text", text));
}

uint64_t exec_module_generation(ExecModule *module)
{
    ExecStamp stamp;
    exec_program_stamp(&module->program, &stamp);
    mutex_lock(&module->lock);
    if (!exec_stamp_equal(&stamp, &module->stamp)) {
        uint8_t code[32];
        bool read = exec_program_code(&module->program, code) == SAP_OK;
        if (read && (!module->has_code || memcmp(code, module->code, sizeof code) != 0)) {
            memcpy(module->code, code, sizeof code);
            if (module->has_code) {
                log_code(module, "new code");
            }
            module->has_code = true;
            module->generation++;
        }
        module->stamp = stamp; /* what cannot be read now is not what it was when it can */
    }
    uint64_t generation = module->generation;
    mutex_unlock(&module->lock);
    return generation;
}

void exec_module_explain_start(const ExecModule *module, ExecError *error)
{
    ExecError seen = {""};
    if (exec_program_check(&module->program, &seen) != SAP_OK && seen.text[0] != 0) {
        *error = seen;
    }
}

/* ---- Modules
 * ----------------------------------------------------------------------------------- */

static int read_count(const json_t *settings, const char *name, uint32_t *count_out,
                      ExecError *error)
{
    const json_t *value = json_object_get(settings, name);
    json_int_t number = json_is_integer(value) ? json_integer_value(value) : 0;
    if (value == NULL) {
        return SAP_OK;
    }
    if (number < 1 || number > MOST_PROCESSES) {
        return exec_refuse(error, "settings: \"%s\" must be a whole number from 1 to %d", name,
                           MOST_PROCESSES);
    }
    *count_out = (uint32_t)number;
    return SAP_OK;
}

static int read_memory(const json_t *settings, uint64_t *bytes_out, ExecError *error)
{
    const json_t *value = json_object_get(settings, "max_memory_mib");
    json_int_t number = json_is_integer(value) ? json_integer_value(value) : 0;
    if (value == NULL) {
        return SAP_OK;
    }
    if (number < 16 || number > (1 << 20)) {
        return exec_refuse(
            error, "settings: \"max_memory_mib\" must be a whole number from 16 to %d", 1 << 20);
    }
    *bytes_out = (uint64_t)number << 20;
    return SAP_OK;
}

static int read_settings_object(const json_t *settings, ExecSettings *out, ExecError *error)
{
    static const char *const names[] = {"processes", "task_processes", "max_memory_mib",
                                        "heartbeat"};
    int rc = exec_read_members(settings, "the module's settings", names,
                               sizeof names / sizeof names[0], error);
    rc = rc == SAP_OK ? read_count(settings, "processes", &out->max_processes, error) : rc;
    rc =
        rc == SAP_OK ? read_count(settings, "task_processes", &out->max_task_processes, error) : rc;
    rc = rc == SAP_OK ? read_memory(settings, &out->max_memory, error) : rc;
    return rc == SAP_OK ? exec_read_duration(json_object_get(settings, "heartbeat"),
                                             (ExecField){"settings: ", "heartbeat"},
                                             &out->heartbeat_ns, error)
                        : rc;
}

int exec_settings_read(const char *text, ExecSettings *out, ExecError *error)
{
    if (text == NULL || text[0] == 0) {
        return SAP_OK;
    }
    json_t *settings = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    int rc = json_is_object(settings)
                 ? read_settings_object(settings, out, error)
                 : exec_refuse(error, "the module's settings must be an object of JSON");
    json_decref(settings);
    return rc;
}

static int open_pools(ExecModule *module)
{
    ExecRunner *runner = module->runner;
    ExecSpawn spawn = runner->spawn;
    spawn.argv = module->program.argv;
    spawn.directory = module->program.directory;
    spawn.name = module->program.name;
    spawn.max_memory = module->settings.max_memory;
    int rc = exec_pool_open(runner->keeper, &spawn, module->name, module->settings.max_processes,
                            &module->pool);
    return rc == SAP_OK ? exec_pool_open(runner->keeper, &spawn, module->name,
                                         module->settings.max_task_processes, &module->task_pool)
                        : rc;
}

static int make_module(ExecRunner *runner, const SapModule *row, ExecModule **module_out)
{
    ExecModule *module = (ExecModule *)mem_zalloc(MEM_COMMON, sizeof *module);
    if (module == NULL || !mutex_init(&module->lock)) {
        mem_free(MEM_COMMON, module, module == NULL ? 0 : sizeof *module);
        return SAP_NOMEM;
    }
    module->runner = runner;
    (void)snprintf(module->name, sizeof module->name, "%s", row->name);
    module->version = row->version;
    module->state = row->state;
    module->timeout_ns = row->timeout_ns;
    if (row->code != NULL) {
        memcpy(module->code, row->code, sizeof module->code);
        module->has_code = true;
    }
    module->generation = 1;
    module->settings = (ExecSettings){
        .max_memory = runner->options.max_memory,
        .max_processes = runner->options.max_processes,
        .max_task_processes = runner->options.max_task_processes,
    };
    int rc = exec_settings_read(row->settings, &module->settings, &module->why);
    rc = rc == SAP_OK ? exec_program_parse(row->runner + sizeof EXEC_RUNNER - 1, &module->program,
                                           &module->why)
                      : rc;
    module->program_ok = rc == SAP_OK;
    rc = rc == SAP_INVALID ? SAP_OK : rc; /* its worlds say so */
    rc = rc == SAP_OK && module->program_ok ? open_pools(module) : rc;
    if (rc != SAP_OK) {
        free_module(module);
        return rc;
    }
    *module_out = module;
    return SAP_OK;
}

/* Modules that nobody uses and of which there is a newer version; they are the caller's. The lock
 * is held. */
static ExecModule *take_outdated(ExecRunner *runner)
{
    ExecModule *taken = NULL;
    for (ExecModule **at = &runner->modules; *at != NULL;) {
        ExecModule *module = *at;
        bool outdated = false;
        for (const ExecModule *other = runner->modules; other != NULL && !outdated;
             other = other->next) {
            outdated = other->version > module->version && strcmp(other->name, module->name) == 0;
        }
        if (outdated && module->uses == 0) {
            *at = module->next;
            module->next = taken;
            taken = module;
        } else {
            at = &module->next;
        }
    }
    return taken;
}

static void free_outdated(ExecModule *taken)
{
    while (taken != NULL) {
        ExecModule *module = taken;
        taken = module->next;
        free_module(module);
    }
}

static ExecModule *find_module(const ExecRunner *runner, const SapModule *row)
{
    ExecModule *module = runner->modules;
    while (module != NULL &&
           (module->version != row->version || strcmp(module->name, row->name) != 0)) {
        module = module->next;
    }
    return module;
}

int exec_module_use(ExecRunner *runner, const SapModule *row, ExecModule **module_out)
{
    int rc = SAP_OK;
    if (strncmp(row->runner, EXEC_RUNNER, sizeof EXEC_RUNNER - 1) != 0) {
        return SAP_NOTFOUND;
    }
    mutex_lock(&runner->lock);
    ExecModule *module = find_module(runner, row);
    if (module == NULL) {
        rc = make_module(runner, row, &module);
        if (rc == SAP_OK) {
            module->next = runner->modules;
            runner->modules = module;
        }
    }
    if (rc == SAP_OK) {
        module->uses++;
        *module_out = module;
    }
    ExecModule *outdated = take_outdated(runner);
    mutex_unlock(&runner->lock);
    free_outdated(outdated);
    return rc;
}

void exec_module_unuse(ExecRunner *runner, const void *module_ctx)
{
    mutex_lock(&runner->lock);
    ExecModule *module = runner->modules;
    while (module != NULL && module != module_ctx) {
        module = module->next; /* a native one is none of these */
    }
    if (module != NULL) {
        SAP_ASSERT(module->uses > 0);
        module->uses--;
    }
    ExecModule *outdated = take_outdated(runner);
    mutex_unlock(&runner->lock);
    free_outdated(outdated);
}
