/* program.c - a program as the module of worlds: what --module and `module put` take. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/node_common.h"

#define EXEC "exec:"

void program_release(Program *program)
{
    free(program->name);
    free(program->runner);
    *program = (Program){0};
}

/* The path from the root, without "." and doubled slashes. Where it goes up, its directory is the one that
 * links lead to. EXIT_DONE, or the exit status. */
static int make_absolute(const Call *call, const char *path, char absolute[PATH_MAX])
{
    char whole[2 * PATH_MAX];
    char directory[PATH_MAX];
    size_t len = 0;

    if (path[0] != '/' && getcwd(directory, sizeof directory) == NULL) {
        return ui_fail(call->ui, EXIT_FAILED, "go to a directory that is there",
                       "cannot find the current directory: %s", strerror(errno));
    }
    int written = snprintf(whole, sizeof whole, "%s%s%s", path[0] == '/' ? "" : directory,
                           path[0] == '/' ? "" : "/", path);
    if (written < 0 || written >= (int)sizeof whole || strlen(path) >= PATH_MAX) {
        return call_usage(call, "the path '%s' is too long", path);
    }
    char *last = strrchr(whole, '/');
    *last = '\0';
    if (strstr(whole, "/..") != NULL) {
        if (realpath(whole[0] != '\0' ? whole : "/", directory) == NULL) {
            return ui_fail(call->ui, EXIT_NOT_FOUND, NULL, "there is no %s: %s", path,
                           strerror(errno));
        }
        written = snprintf(absolute, PATH_MAX, "%s/%s",
                           strcmp(directory, "/") == 0 ? "" : directory, last + 1);
        return written > 0 && written < PATH_MAX
                   ? EXIT_DONE
                   : call_usage(call, "the path '%s' is too long", path);
    }
    *last = '/';
    for (const char *at = whole; *at != '\0'; at++) {
        bool here = at[0] == '/' && at[1] == '.' && at[2] == '/';
        if (len + 1 >= PATH_MAX) {
            return call_usage(call, "the path '%s' is too long", path);
        }
        if (here || (at[0] == '/' && at[1] == '/')) {
            at += here ? 1 : 0;
        } else {
            absolute[len++] = *at;
        }
    }
    absolute[len] = '\0';
    return EXIT_DONE;
}

/* Whether it can be run, by this user at least. */
static int check_program(const Call *call, const char *path, const char *absolute)
{
    struct stat st;
    const char *shown = strncmp(path, "./", 2) == 0 ? path + 2 : path;

    if (stat(absolute, &st) != 0) {
        return errno == ENOENT
                   ? ui_fail(call->ui, EXIT_NOT_FOUND,
                             "a program is named by its path, as in ./hello.py", "there is no %s",
                             shown)
                   : ui_fail(call->ui, EXIT_FAILED, NULL, "%s: %s", shown, strerror(errno));
    }
    if (!S_ISREG(st.st_mode)) {
        return ui_fail(call->ui, EXIT_FAILED, "name the program in it", "%s is not a file%s", shown,
                       S_ISDIR(st.st_mode) ? " but a directory" : "");
    }
    /* Not access(): to root that says yes for a file that a node of another user cannot run. */
    if ((st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == 0 || access(absolute, X_OK) != 0) {
        return ui_fail(call->ui, EXIT_FAILED, NULL, "%s is not executable: chmod +x %s", shown,
                       shown);
    }
    return EXIT_DONE;
}

/* The name of a file without its directory and its ending, from malloc(). */
static char *module_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');

    return strndup(name, dot != NULL && dot > name ? (size_t)(dot - name) : strlen(name));
}

/* `command` is a path, and arguments behind a blank unless a file has all of it for its name. */
static int read_command(const Call *call, const char *command, Program *program)
{
    struct stat st;
    char absolute[PATH_MAX];
    bool whole = stat(command, &st) == 0;
    size_t path_len = whole ? strlen(command) : strcspn(command, " \t");
    char *path = strndup(command, path_len);
    const char *quote = "";

    if (path == NULL) {
        return ui_no_memory(call->ui);
    }
    int code = path_len == 0
                   ? call_usage(call, "exec:%s names no program, as exec:./hello.py does", command)
                   : make_absolute(call, path, absolute);
    code = code == EXIT_DONE ? check_program(call, path, absolute) : code;
    if (code == EXIT_DONE && strpbrk(absolute, " \t'\"") != NULL) {
        quote = strchr(absolute, '\'') == NULL ? "'" : "\"";
        code = strchr(absolute, quote[0]) == NULL
                   ? EXIT_DONE
                   : call_usage(call, "'%s' has both kinds of quotes: rename it", absolute);
    }
    if (code == EXIT_DONE) {
        program->name = module_name(absolute);
        bool ok = asprintf(&program->runner, EXEC "%s%s%s%s", quote, absolute, quote,
                           command + path_len) >= 0;
        program->runner = ok ? program->runner : NULL;
        code = ok && program->name != NULL ? EXIT_DONE : ui_no_memory(call->ui);
    }
    free(path);
    return code;
}

int program_read(const Call *call, const char *text, Program *program_out)
{
    Program program = {0};
    bool native = strncmp(text, "native:", 7) == 0;
    bool exec = strncmp(text, EXEC, strlen(EXEC)) == 0;
    int code = EXIT_DONE;

    if (exec || strchr(text, '/') != NULL) {
        code = read_command(call, exec ? text + strlen(EXEC) : text, &program);
    } else {
        program.name = strdup(native ? text + 7 : text);
        program.runner = native ? strdup(text) : NULL;
        code = program.name == NULL || (native && program.runner == NULL) ? ui_no_memory(call->ui)
               : program.name[0] == '\0' ? call_usage(call, "'%s' names no module", text)
                                         : EXIT_DONE;
    }
    if (code != EXIT_DONE) {
        program_release(&program);
        return code;
    }
    *program_out = program;
    return EXIT_DONE;
}

/* Says that the name is that of another program. */
static int refuse_other(NodeClient *client, const Program *program, const char *runner)
{
    char *hint = NULL;
    bool ok =
        asprintf(&hint, "if all its worlds are to run the new one: sapling module put %s '%s'",
                 program->name, program->runner) >= 0;
    int code =
        ui_fail(client->call->ui, EXIT_CONFLICT, ok ? hint : NULL,
                "the module %s is %s already, not %s", program->name, runner, program->runner);
    free(ok ? hint : NULL);
    return code;
}

int program_register(NodeClient *client, const Program *program)
{
    NodeAnswer answer = {0};
    int code;

    if (program->runner == NULL) {
        return EXIT_DONE; /* the node says if there is none */
    }
    code = node_call(client,
                     (NodeRequest){.method = "GET",
                                   .path = node_path("/v1/modules/%s", program->name),
                                   .accept = 404},
                     &answer);
    if (code != EXIT_DONE) {
        return code;
    }
    bool known = answer.status != 404;
    const char *runner = show_text(answer.json, "runner", "");
    if (known && strcmp(runner, program->runner) != 0) {
        code = refuse_other(client, program, runner);
    }
    node_answer_release(&answer);
    if (code != EXIT_DONE || known) {
        return code;
    }
    code = node_call(client,
                     (NodeRequest){.method = "PUT",
                                   .path = node_path("/v1/modules/%s", program->name),
                                   .body = json_pack("{s:s}", "runner", program->runner)},
                     &answer);
    node_answer_release(&answer);
    if (code == EXIT_DONE) {
        ui_note(client->call->ui, "registered the module %s: %s", program->name, program->runner);
    }
    return code;
}
