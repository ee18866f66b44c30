/* exec_program.h - what a runner's text "exec:/srv/hello.py arg" names.
 *
 * Words are separated by blanks; '...' and "..." keep blanks in a word. The first word is the
 * absolute path of the program. The program's code is its file, and every further word that names a
 * file by an absolute path, so that `exec:/usr/bin/python3 /srv/hello.py` has the code of both. */
#ifndef SAPLING_NODE_EXEC_PROGRAM_H
#define SAPLING_NODE_EXEC_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "node/exec_protocol.h"

#define EXEC_RUNNER   "exec:"
#define NATIVE_RUNNER "native:"

enum { EXEC_WORDS = 64, EXEC_FILES = 4, EXEC_NAME_MAX = 64 };

typedef struct ExecProgram {
    char *text; /* owned: the words, a NUL after each */
    size_t text_size;
    char *argv[EXEC_WORDS + 1]; /* in `text`; NULL after the last */
    uint32_t argc;
    char name[EXEC_NAME_MAX]; /* for people: hello.py */
    char directory[4096];     /* of that file: where it runs */
} ExecProgram;

/* Parses the text after "exec:". SAP_INVALID: *error says what is wrong. SAP_NOMEM. Release with
 * exec_program_release(), also after a failure. */
int exec_program_parse(const char *command, ExecProgram *program, ExecError *error);
void exec_program_release(ExecProgram *program);

/* Whether it could be started. SAP_NOTFOUND: it is not there. SAP_INVALID: it is not executable, or
 * its first line names an interpreter that is not there. *error begins with the program's name. */
int exec_program_check(const ExecProgram *program, ExecError *error);

/* What tells that a file may have changed, without reading it. */
typedef struct ExecStamp {
    struct {
        dev_t device;
        ino_t inode;
        off_t size;
        struct timespec modified;
        struct timespec changed;
    } files[EXEC_FILES];
    uint32_t count;
} ExecStamp;

void exec_program_stamp(const ExecProgram *program, ExecStamp *stamp);
bool exec_stamp_equal(const ExecStamp *a, const ExecStamp *b);

/* SHA-256 of the file; of several, that over the digests. SAP_NOTFOUND, SAP_IO: a file cannot be
 * read. */
int exec_program_code(const ExecProgram *program, uint8_t code_out[32]);

/* Where programs are looked for that a first line names by `env`; the PATH that programs get. */
const char *exec_search_path(void);

/* What a runner's text means, checked before a module is registered: SAP_OK and the code, or an
 * error with a text for the user. A native one has a code of zeros. */
int exec_check(const char *runner, uint8_t code_out[32], char *message, size_t message_size);

#endif
