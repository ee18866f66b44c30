#include "cli/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/format.h"
#include "common/utf8.h"
#include "sapling/error.h"

#define RED   "\033[1;31m"
#define PLAIN "\033[0m"

static const char *exit_name(int code)
{
    switch (code) {
#define EXIT_CASE(name, number, json, text) \
    case number:                            \
        return json;
        EXIT_TABLE(EXIT_CASE)
#undef EXIT_CASE
    default:
        return "failed";
    }
}

const char *exit_text(int code)
{
    switch (code) {
#define EXIT_CASE(name, number, json, text) \
    case number:                            \
        return text;
        EXIT_TABLE(EXIT_CASE)
#undef EXIT_CASE
    default:
        return "failed";
    }
}

void ui_colors(Ui *ui, const char *when)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    bool automatic = when == NULL || strcmp(when, "auto") == 0;
    bool wanted =
        (no_color == NULL || no_color[0] == '\0') && (term == NULL || strcmp(term, "dumb") != 0);

    if (automatic) {
        ui->color_out = wanted && isatty(STDOUT_FILENO) == 1;
        ui->color_err = wanted && isatty(STDERR_FILENO) == 1;
    } else {
        ui->color_out = ui->color_err = strcmp(when, "always") == 0;
    }
}

/* ---- Errors and notes ------------------------------------------------------------------------ */

/* False: out of memory, or a text that JSON cannot hold. */
static bool fail_as_json(int exit_code, const char *hint, const char *message, const char *type,
                         json_t *detail)
{
    json_t *error = json_object();
    json_t *outer = json_object();
    bool ok = error != NULL && outer != NULL &&
              json_object_set_new(error, "code", json_string(exit_name(exit_code))) == 0 &&
              json_object_set_new(error, "exit", json_integer(exit_code)) == 0 &&
              json_object_set_new(error, "message", json_text(message)) == 0 &&
              (hint == NULL || json_object_set_new(error, "hint", json_text(hint)) == 0) &&
              (type == NULL || json_object_set_new(error, "type", json_text(type)) == 0) &&
              (detail == NULL || json_object_set(error, "detail", detail) == 0) &&
              json_object_set(outer, "error", error) == 0 &&
              json_dumpf(outer, stderr, JSON_COMPACT) == 0;

    if (ok) {
        (void)fputc('\n', stderr);
    }
    json_decref(error);
    json_decref(outer);
    return ok;
}

/* Names of files and queues, and texts of other processes, may hold anything: none of it reaches a
 * terminal, or the log that standard error goes to, as a command or as a line of its own. */
static void print_message(const char *text, const char *end)
{
    Buf shown = {0};

    /* In one piece: what other processes print, or a person types, comes before or after it. */
    if (format_shown(&shown, slice_from_str(text), false) == SAP_OK &&
        buf_append_str(&shown, end) == SAP_OK && shown.len > 0) {
        (void)fwrite(shown.data, 1, shown.len, stderr);
    }
    buf_release(&shown);
}

bool ui_write(FILE *stream, Slice bytes)
{
    Buf shown = {0};
    Slice out = bytes;
    bool ok = true;

    if (isatty(fileno(stream)) == 1) {
        ok = format_shown(&shown, bytes, true) == SAP_OK;
        out = (Slice){shown.data, shown.len};
    }
    ok = ok && (out.len == 0 || fwrite(out.data, 1, out.len, stream) == out.len);
    buf_release(&shown);
    return ok;
}

int ui_fail_typed(const Ui *ui, int exit_code, const char *hint, const char *message,
                  const char *type, json_t *detail)
{
    /* What was printed so far comes before what is said about it. */
    (void)fflush(stdout);
    if (!ui->json || !fail_as_json(exit_code, hint, message, type, detail)) {
        (void)fprintf(stderr, "%ssapling:%s ", ui->color_err ? RED : "",
                      ui->color_err ? PLAIN : "");
        print_message(message, "\n");
        if (hint != NULL) {
            print_message(hint, "\n");
        }
    }
    return exit_code;
}

int ui_fail_v(const Ui *ui, int exit_code, const char *hint, const char *format, va_list args)
{
    char *message = NULL;
    int len = vasprintf(&message, format, args);

    (void)ui_fail_typed(ui, exit_code, hint, len < 0 ? "out of memory" : message, NULL, NULL);
    if (len >= 0) {
        free(message);
    }
    return exit_code;
}

int ui_fail(const Ui *ui, int exit_code, const char *hint, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)ui_fail_v(ui, exit_code, hint, format, args);
    va_end(args);
    return exit_code;
}

int ui_no_memory(const Ui *ui)
{
    return ui_fail(ui, EXIT_FAILED, NULL, "out of memory");
}

static int exit_of_code(int rc)
{
    switch (rc) {
    case SAP_NOTFOUND:
        return EXIT_NOT_FOUND;
    case SAP_BUSY:
    case SAP_EXISTS:
    case SAP_CONFLICT:
        return EXIT_CONFLICT;
    case SAP_CORRUPT:
    case SAP_INVALID:
        return EXIT_CORRUPT;
    default:
        return EXIT_FAILED;
    }
}

int ui_fail_code(const Ui *ui, int rc, const char *path, const char *message)
{
    return ui_fail_code_then(ui, rc, path, message, NULL);
}

int ui_fail_code_then(const Ui *ui, int rc, const char *path, const char *message, const char *then)
{
    char hint[768];
    const char *said = message[0] != '\0' ? message : sap_strerror(rc);

    hint[0] = '\0';
    switch (rc) {
    case SAP_BUSY:
        (void)snprintf(hint, sizeof hint, "try again when that process has closed it");
        break;
    case SAP_CORRUPT:
        (void)snprintf(hint, sizeof hint,
                       "see what can be saved: sapling db recover %.300s, or restore a backup: "
                       "sapling db restore",
                       path);
        break;
    case SAP_FULL:
        (void)snprintf(hint, sizeof hint, "make room on the disk and try again");
        break;
    default:
        break;
    }
    if (then != NULL) {
        size_t len = strlen(hint);
        (void)snprintf(hint + len, sizeof hint - len, "%s%s", len > 0 ? "; " : "", then);
    }
    /* The engine's texts often begin with the path, and need not say it twice. */
    const char *before = strstr(said, path) == NULL ? path : "";
    return ui_fail(ui, exit_of_code(rc), hint[0] != '\0' ? hint : NULL, "%s%s%s", before,
                   before[0] != '\0' ? ": " : "", said);
}

void ui_note(const Ui *ui, const char *format, ...)
{
    va_list args;

    if (ui->quiet || ui->json) {
        return;
    }
    (void)fflush(stdout);
    va_start(args, format);
    char *text = NULL;
    int len = vasprintf(&text, format, args);
    va_end(args);
    print_message(len < 0 ? "out of memory" : text, "\n");
    if (len >= 0) {
        free(text);
    }
}

int ui_confirm(const Ui *ui, bool yes, const char *what)
{
    char answer[16];

    if (yes) {
        return EXIT_DONE;
    }
    if (ui->json || isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1) {
        return ui_fail(ui, EXIT_USAGE, "say so with --yes", "%s: not done without being sure",
                       what);
    }
    print_message(what, "? [y/N] ");
    (void)fflush(stderr);
    if (fgets(answer, sizeof answer, stdin) != NULL && (answer[0] == 'y' || answer[0] == 'Y')) {
        return EXIT_DONE;
    }
    return ui_fail(ui, EXIT_FAILED, NULL, "nothing was changed");
}

/* ---- Results ---------------------------------------------------------------------------------- */

json_t *json_text(const char *text)
{
    Slice bytes = slice_from_str(text);
    Buf escaped = {0};
    json_t *string = NULL;

    if (utf8_valid(bytes.data, bytes.len)) {
        return json_string(text);
    }
    if (format_text(&escaped, bytes) == SAP_OK) {
        string = json_stringn((const char *)escaped.data, escaped.len);
    }
    buf_release(&escaped);
    return string;
}

int json_set_bytes(json_t *object, const char *name, Slice bytes)
{
    char hex_name[64];
    Buf hex = {0};
    int rc = -1;

    if (utf8_valid(bytes.data, bytes.len)) {
        return json_object_set_new(
            object, name, json_stringn(bytes.len == 0 ? "" : (const char *)bytes.data, bytes.len));
    }
    (void)snprintf(hex_name, sizeof hex_name, "%s_hex", name);
    if (format_hex(&hex, bytes) == SAP_OK) {
        rc = json_object_set_new(object, hex_name, json_stringn((const char *)hex.data, hex.len));
    }
    buf_release(&hex);
    return rc;
}

int ui_object(const Ui *ui, json_t *object)
{
    if (object == NULL) {
        return ui_no_memory(ui);
    }
    int rc = json_dumpf(object, stdout, JSON_COMPACT);
    json_decref(object);
    if (rc != 0 || putchar('\n') == EOF) {
        return ui_finish(ui);
    }
    return EXIT_DONE;
}

void ui_hold_output(void)
{
    static char held[UI_HELD]; /* of the stream until the process ends */

    (void)setvbuf(stdout, held, _IOFBF, sizeof held);
}

void ui_drop_output(void)
{
    __fpurge(stdout);
}

int ui_finish(const Ui *ui)
{
    return ui_finish_after(ui, NULL);
}

int ui_finish_after(const Ui *ui, const char *done)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0) {
        return EXIT_DONE;
    }
    int error = errno;
    int code = error == EPIPE ? EXIT_READER_GONE
                              : ui_fail(ui, EXIT_FAILED, done,
                                        "cannot write to standard output: %s", strerror(error));
    clearerr(stdout); /* told: the next who asks need not tell it again */
    return code;
}

const char *ui_bytes(uint64_t bytes, char text[UI_TEXT])
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double amount = (double)bytes / 1024;
    size_t unit = 0;

    if (bytes < 1024) {
        (void)snprintf(text, UI_TEXT, "%" PRIu64 " bytes", bytes);
        return text;
    }
    while (amount >= 1024 && unit + 1 < sizeof units / sizeof units[0]) {
        amount /= 1024;
        unit++;
    }
    (void)snprintf(text, UI_TEXT, "%.1f %s", amount, units[unit]);
    return text;
}

const char *ui_count(uint64_t count, char text[UI_TEXT])
{
    char digits[UI_TEXT];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, count);
    char *to = text;

    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) {
            *to++ = ',';
        }
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

const char *ui_rows(uint64_t rows, char text[UI_TEXT])
{
    char count[UI_TEXT];

    (void)snprintf(text, UI_TEXT, "%.30s %s", ui_count(rows, count), rows == 1 ? "row" : "rows");
    return text;
}

const char *ui_seconds(double seconds, char text[UI_TEXT])
{
    if (seconds < 60) {
        (void)snprintf(text, UI_TEXT, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
    } else if (seconds < 3600) {
        (void)snprintf(text, UI_TEXT, "%.0f min %.0f s", (double)(int)(seconds / 60),
                       seconds - 60 * (double)(int)(seconds / 60));
    } else {
        (void)snprintf(text, UI_TEXT, "%.1f h", seconds / 3600 < 1e6 ? seconds / 3600 : 1e6);
    }
    return text;
}
