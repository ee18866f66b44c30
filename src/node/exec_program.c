/* exec_program.c - see exec_program.h. */
#include "node/exec_program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/assert.h"
#include "common/fd.h"
#include "common/mem.h"
#include "common/utf8.h"
#include "store/digest.h"
#include "universe/modules.h"

enum { FIRST_LINE = 256 };

/* ---- Words
 * ------------------------------------------------------------------------------------- */

/* Copies the next word to *to, with a NUL. *from is after it. False: a quote is not closed. */
static bool take_word(const char **from, char **to)
{
    const char *p = *from;
    char quote = 0;
    while (*p != 0 && (quote != 0 || (*p != ' ' && *p != '\t'))) {
        if (quote == 0 && (*p == '\'' || *p == '"')) {
            quote = *p;
        } else if (*p == quote) {
            quote = 0;
        } else {
            *(*to)++ = *p;
        }
        p++;
    }
    *(*to)++ = 0;
    *from = p;
    return quote == 0;
}

static int split_words(const char *command, ExecProgram *program, ExecError *error)
{
    char *to = program->text;
    const char *p = command;
    for (p += strspn(p, " \t"); *p != 0; p += strspn(p, " \t")) {
        char *word = to;
        if (program->argc == EXEC_WORDS) {
            return exec_refuse(error, "a runner has at most %d words", EXEC_WORDS);
        }
        if (!take_word(&p, &to)) {
            return exec_refuse(error, "a quote in the runner is not closed");
        }
        program->argv[program->argc++] = word;
    }
    return SAP_OK;
}

static bool is_file(const char *path)
{
    struct stat st;
    return path[0] == '/' && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* An interpreter's first argument that is a file is what people call the program. */
static void name_program(ExecProgram *program)
{
    const char *path = program->argv[0];
    if (program->argc > 1 && is_file(program->argv[1])) {
        path = program->argv[1];
    }
    const char *slash = strrchr(path, '/');
    const char *base = slash == NULL ? path : slash + 1;
    char excerpt[4 * EXEC_EXCERPT + 4];
    exec_excerpt(base, strlen(base), excerpt);
    size_t kept = utf8_prefix(excerpt, strlen(excerpt), sizeof program->name - 1);
    (void)snprintf(program->name, sizeof program->name, "%.*s", (int)kept, excerpt);
    size_t len = slash == NULL || slash == path ? 1 : (size_t)(slash - path);
    (void)snprintf(program->directory, sizeof program->directory, "%.*s", (int)len, path);
}

int exec_program_parse(const char *command, ExecProgram *program, ExecError *error)
{
    *program = (ExecProgram){.text_size = strlen(command) + 2};
    if (program->text_size > SAP_MODULE_MAX_RUNNER) {
        return exec_refuse(error, "a runner has at most %u bytes", SAP_MODULE_MAX_RUNNER);
    }
    program->text = (char *)mem_zalloc(MEM_COMMON, program->text_size);
    if (program->text == NULL) {
        return SAP_NOMEM;
    }
    int rc = split_words(command, program, error);
    if (rc == SAP_OK && program->argc == 0) {
        rc = exec_refuse(error, "exec: needs the path of a program, such as exec:/srv/hello.py");
    }
    SAP_ASSERT(rc != SAP_OK || program->argv[0] != NULL);
    if (rc == SAP_OK && program->argv[0][0] != '/') {
        char excerpt[4 * EXEC_EXCERPT + 4];
        exec_excerpt(program->argv[0], strlen(program->argv[0]), excerpt);
        rc = exec_refuse(error, "%s is not an absolute path: write it as in exec:/srv/hello.py",
                         excerpt);
    }
    if (rc == SAP_OK) {
        name_program(program);
    }
    return rc;
}

void exec_program_release(ExecProgram *program)
{
    mem_free(MEM_COMMON, program->text, program->text == NULL ? 0 : program->text_size);
    program->text = NULL;
    program->argc = 0;
}

/* ---- Whether it can be started
 * ----------------------------------------------------------------- */

const char *exec_search_path(void)
{
    const char *path = getenv("PATH");
    return path != NULL && path[0] != 0
               ? path
               : "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
}

static bool is_on_path(const char *name)
{
    const char *path = exec_search_path();
    if (strchr(name, '/') != NULL) {
        return access(name, X_OK) == 0;
    }
    while (*path != 0) {
        char full[4096];
        size_t len = strcspn(path, ":");
        int size = snprintf(full, sizeof full, "%.*s/%s", (int)len, path, name);
        if (size > 0 && (size_t)size < sizeof full && is_file(full) && access(full, X_OK) == 0) {
            return true;
        }
        path += len + (path[len] == ':');
    }
    return false;
}

/* "#!/usr/bin/env python3": what it runs must be there. */
static int check_interpreter(const ExecProgram *program, char *line, ExecError *error)
{
    char *rest = NULL;
    const char *name = program->name;
    line[strcspn(line, "\n")] = 0;
    size_t len = strlen(line);
    if (len > 0 && line[len - 1] == '\r') {
        return exec_refuse(
            error,
            "%s: its first line ends with CR LF, which no interpreter has in its name: sed -i 's/\\r$//' %s",
            name, name);
    }
    char *interpreter = strtok_r(line + 2, " \t", &rest);
    if (interpreter == NULL) {
        return exec_refuse(error, "%s: its first line names no interpreter: #!/usr/bin/env python3",
                           name);
    }
    char excerpt[4 * EXEC_EXCERPT + 4];
    exec_excerpt(interpreter, strlen(interpreter), excerpt);
    if (access(interpreter, X_OK) != 0) {
        return exec_refuse(error, "%s: its first line names %s, which is not there", name, excerpt);
    }
    const char *base = strrchr(interpreter, '/');
    const char *command = strtok_r(NULL, " \t", &rest);
    if (base != NULL && strcmp(base, "/env") == 0 && command != NULL && command[0] != '-' &&
        strchr(command, '=') == NULL && !is_on_path(command)) {
        exec_excerpt(command, strlen(command), excerpt);
        return exec_refuse(error, "%s: its first line names %s, which is not on the PATH", name,
                           excerpt);
    }
    return SAP_OK;
}

/* What the file begins with: an interpreter, or machine code of whatever form the system knows. */
static int check_first_line(const ExecProgram *program, ExecError *error)
{
    char line[FIRST_LINE + 1];
    int fd = fd_open(program->argv[0], O_RDONLY | O_NONBLOCK, 0);
    ssize_t got = fd < 0 ? -1 : read(fd, line, FIRST_LINE);
    if (fd >= 0) {
        (void)close(fd);
    }
    if (got < 0) {
        return SAP_OK; /* it may be executable and not readable */
    }
    line[got] = 0;
    if (got >= 2 && line[0] == '#' && line[1] == '!') {
        return check_interpreter(program, line, error);
    }
    if (got == 0 || utf8_valid(line, got > 3 ? (size_t)got - 3 : (size_t)got)) {
        bool binary = got > 0 && memchr(line, 0, (size_t)got) != NULL;
        return binary ? SAP_OK
                      : exec_refuse(
                            error,
                            "%s is text without a first line that says what runs it: begin it with "
                            "#!/usr/bin/env python3",
                            program->name);
    }
    return SAP_OK;
}

int exec_program_check(const ExecProgram *program, ExecError *error)
{
    struct stat st;
    const char *path = program->argv[0];
    char excerpt[4 * EXEC_EXCERPT + 4];
    SAP_ASSERT(path != NULL);
    exec_excerpt(path, strlen(path), excerpt);
    if (stat(path, &st) != 0) {
        bool missing = errno == ENOENT || errno == ENOTDIR;
        (void)exec_refuse(error,
                          missing ? "there is no program %s" : "the program %s cannot be reached",
                          excerpt);
        return SAP_NOTFOUND;
    }
    if (!S_ISREG(st.st_mode)) {
        return exec_refuse(error, "%s is not a file that can be run", excerpt);
    }
    if (access(path, X_OK) != 0) {
        const char *slash = strrchr(excerpt, '/');
        const char *base = slash == NULL ? excerpt : slash + 1;
        return exec_refuse(error, "%s is not executable: chmod +x %s", base, base);
    }
    return check_first_line(program, error);
}

/* ---- Its code
 * ---------------------------------------------------------------------------------- */

void exec_program_stamp(const ExecProgram *program, ExecStamp *stamp)
{
    memset(stamp, 0, sizeof *stamp);
    for (uint32_t i = 0; i < program->argc && stamp->count < EXEC_FILES; i++) {
        struct stat st;
        if (program->argv[i][0] == '/' && stat(program->argv[i], &st) == 0 && S_ISREG(st.st_mode)) {
            stamp->files[stamp->count].device = st.st_dev;
            stamp->files[stamp->count].inode = st.st_ino;
            stamp->files[stamp->count].size = st.st_size;
            stamp->files[stamp->count].modified = st.st_mtim;
            stamp->files[stamp->count].changed = st.st_ctim;
            stamp->count++;
        }
    }
}

bool exec_stamp_equal(const ExecStamp *a, const ExecStamp *b)
{
    bool equal = a->count == b->count;
    for (uint32_t i = 0; equal && i < a->count; i++) {
        equal = a->files[i].device == b->files[i].device &&
                a->files[i].inode == b->files[i].inode && a->files[i].size == b->files[i].size &&
                a->files[i].modified.tv_sec == b->files[i].modified.tv_sec &&
                a->files[i].modified.tv_nsec == b->files[i].modified.tv_nsec &&
                a->files[i].changed.tv_sec == b->files[i].changed.tv_sec &&
                a->files[i].changed.tv_nsec == b->files[i].changed.tv_nsec;
    }
    return equal;
}

static int hash_file(const char *path, Digest *out)
{
    enum { PIECE = 32768 };
    uint8_t piece[PIECE];
    DigestState state;
    ssize_t got = 0;
    int fd = fd_open(path, O_RDONLY, 0);
    if (fd < 0) {
        return errno == ENOENT || errno == ENOTDIR ? SAP_NOTFOUND : SAP_IO;
    }
    digest_init(&state);
    do {
        got = read(fd, piece, sizeof piece);
        if (got > 0) {
            digest_update(&state, piece, (size_t)got);
        }
    } while (got > 0 || (got < 0 && errno == EINTR));
    (void)close(fd);
    digest_final(&state, out);
    return got < 0 ? SAP_IO : SAP_OK;
}

int exec_program_code(const ExecProgram *program, uint8_t code_out[32])
{
    Digest digests[EXEC_FILES] = {{{0}}};
    uint32_t count = 0;
    _Static_assert(sizeof digests[0] == 32, "digests stand side by side");
    for (uint32_t i = 0; i < program->argc && count < EXEC_FILES; i++) {
        if (i > 0 && !is_file(program->argv[i])) {
            continue;
        }
        int rc = hash_file(program->argv[i], &digests[count]);
        if (rc != SAP_OK) {
            return rc;
        }
        count++;
    }
    SAP_ASSERT(count > 0);
    if (count > 1) {
        Digest all;
        digest_bytes(digests, count * sizeof digests[0], &all);
        digests[0] = all;
    }
    memcpy(code_out, digests[0].bytes, 32);
    return SAP_OK;
}

/* ---- Checking a runner's text
 * ------------------------------------------------------------------ */

static int check_native(const char *name, ExecError *error)
{
    UniverseName module;
    char excerpt[4 * EXEC_EXCERPT + 4];
    exec_excerpt(name, strlen(name), excerpt);
    if (universe_name_set(&module, name) != SAP_OK) {
        return exec_refuse(error, "native: needs the name of a module, such as native:counter");
    }
    if (module_find(&module, 0) == NULL) {
        (void)exec_refuse(error, "no module %s is built into this program", excerpt);
        return SAP_NOTFOUND;
    }
    return SAP_OK;
}

static int check_exec(const char *command, uint8_t code_out[32], ExecError *error)
{
    ExecProgram program;
    int rc = exec_program_parse(command, &program, error);
    rc = rc == SAP_OK ? exec_program_check(&program, error) : rc;
    if (rc == SAP_OK) {
        rc = exec_program_code(&program, code_out);
        if (rc != SAP_OK) {
            (void)exec_refuse(error, "%s cannot be read: its code is compared to notice changes",
                              program.name);
        }
    }
    exec_program_release(&program);
    return rc;
}

int exec_check(const char *runner, uint8_t code_out[32], char *message, size_t message_size)
{
    ExecError error = {""};
    int rc = SAP_OK;
    memset(code_out, 0, 32);
    if (strncmp(runner, EXEC_RUNNER, sizeof EXEC_RUNNER - 1) == 0) {
        rc = check_exec(runner + sizeof EXEC_RUNNER - 1, code_out, &error);
    } else if (strncmp(runner, NATIVE_RUNNER, sizeof NATIVE_RUNNER - 1) == 0) {
        rc = check_native(runner + sizeof NATIVE_RUNNER - 1, &error);
    } else {
        char excerpt[4 * EXEC_EXCERPT + 4];
        exec_excerpt(runner, strlen(runner), excerpt);
        rc = exec_refuse(&error, "%s is no runner: write exec:/srv/hello.py, or native:NAME",
                         excerpt);
    }
    if (message_size > 0) {
        (void)snprintf(message, message_size, "%s",
                       rc == SAP_OK || error.text[0] != 0 ? error.text : sap_strerror(rc));
    }
    return rc;
}
