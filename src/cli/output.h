/* output.h - what the command says, and where.
 *
 * Data goes to standard output, everything else to standard error. With --json a result is one
 * object (a list: an object per line) and an error is one on standard error; fields are only ever
 * added. Colour is for terminals. */
#ifndef SAPLING_CLI_OUTPUT_H
#define SAPLING_CLI_OUTPUT_H

#include <jansson.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/buf.h"

/* X(name, number, name in JSON, text). */
#define EXIT_TABLE(X)                                                              \
    X(EXIT_DONE, 0, "done", "done")                                                \
    X(EXIT_FAILED, 1, "failed", "failed")                                          \
    X(EXIT_USAGE, 2, "usage", "wrong arguments")                                   \
    X(EXIT_NOT_FOUND, 3, "not_found", "no such file, table, key, world or effect") \
    X(EXIT_CONFLICT, 4, "conflict", "exists already, or in use by another")        \
    X(EXIT_NO_NODE, 5, "no_node", "no node there")                                 \
    X(EXIT_CORRUPT, 6, "corrupt", "damaged, or not a database")                    \
    X(EXIT_TIMED_OUT, 124, "timed_out", "timed out")                               \
    X(EXIT_INTERRUPTED, 130, "interrupted", "interrupted")

typedef enum ExitCode {
#define EXIT_ENUM(name, number, json, text) name = number,
    EXIT_TABLE(EXIT_ENUM)
#undef EXIT_ENUM
} ExitCode;

/* Of a command whose reader went away: it ends its work, closes its file, says nothing, and then ends by
 * SIGPIPE, as other programs do (command_main). Never seen as a status of exit(). */
enum { EXIT_READER_GONE = 128 + SIGPIPE };

/* What help says of a code. */
const char *exit_text(int code);

typedef struct Ui {
    bool json;
    bool quiet;     /* no notes, no progress */
    bool color_out; /* on standard output */
    bool color_err;
} Ui;

/* Colours by --color (auto, always, never; NULL: auto), NO_COLOR and what the streams are. */
void ui_colors(Ui *ui, const char *when);

/* `sapling: MESSAGE`, then the hint on a line of its own (NULL: none). Returns the exit code. */
int ui_fail(const Ui *ui, int exit_code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int ui_fail_v(const Ui *ui, int exit_code, const char *hint, const char *format, va_list args)
    __attribute__((format(printf, 4, 0)));
/* The same with the code and the detail that another process gave for it (NULL: none): fields of the error
 * with --json, `type` and `detail`. The detail is borrowed. */
int ui_fail_typed(const Ui *ui, int exit_code, const char *hint, const char *message,
                  const char *type, json_t *detail);
/* The same of a code of the engine: its exit code and, where the hint is NULL, what to do. */
int ui_fail_code(const Ui *ui, int rc, const char *path, const char *message);
/* The same; `then` comes behind what to do (NULL: nothing). */
int ui_fail_code_then(const Ui *ui, int rc, const char *path, const char *message,
                      const char *then);
int ui_no_memory(const Ui *ui);

/* A line on standard error, unless quiet or --json. */
void ui_note(const Ui *ui, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes what came from outside: as it is, but where the stream is a terminal as format_shown() has it.
 * False: not written. */
bool ui_write(FILE *stream, Slice bytes);

/* Asks "WHAT? [y/N]" at a terminal; without one, `yes` is needed. EXIT_DONE: go on. */
int ui_confirm(const Ui *ui, bool yes, const char *what);

/* Prints the object as a line on standard output and releases it. NULL: out of memory. EXIT_DONE,
 * or what went wrong. */
int ui_object(const Ui *ui, json_t *object);
/* A text from outside as a string, with escapes if it is not UTF-8. NULL: out of memory. */
json_t *json_text(const char *text);
/* Adds bytes to an object: as NAME if they are UTF-8, otherwise as NAME_hex. */
int json_set_bytes(json_t *object, const char *name, Slice bytes);

enum { UI_HELD = 4 << 20 };
/* Before anything is written to standard output: up to UI_HELD bytes are held back until ui_finish(), which
 * commands call when they have closed their file. A reader that is slow, or has stopped reading, does
 * not keep the file from others then. */
void ui_hold_output(void);
/* Drops what is held back. At most UI_HELD bytes were printed so far, and no note or error. */
void ui_drop_output(void);

/* Whether all of standard output was written, since this was last asked: what went wrong is told once.
 * EXIT_DONE, or that; EXIT_READER_GONE, without a word, where the reader went away. */
int ui_finish(const Ui *ui);
/* The same; `done` (NULL: nothing) is what has been done all the same, and is told with it. */
int ui_finish_after(const Ui *ui, const char *done);

/* "12.3 MiB", "1,234,567", "1 row", "1 min 5 s" as texts; buffers of UI_TEXT bytes. */
enum { UI_TEXT = 40 };
const char *ui_bytes(uint64_t bytes, char text[UI_TEXT]);
const char *ui_count(uint64_t count, char text[UI_TEXT]);
const char *ui_rows(uint64_t rows, char text[UI_TEXT]);
const char *ui_seconds(double seconds, char text[UI_TEXT]);

#endif
