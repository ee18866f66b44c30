/* db_load.c - load: many rows from a file.
 *
 * Rows are gathered and put in one commit per batch. What is in is always a prefix of the input:
 * `next_line` is the first line that is not. So a load that ended early, for whatever reason, goes on
 * with --from-line. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/db.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "common/fd.h"
#include "wit_schema_dbis.h"

enum { BATCH_ROWS = 10000, BATCH_BYTES = 8 << 20, TEXT = 400 };

typedef struct Pending {
    size_t key_at; /* in `bytes` */
    size_t key_len;
    size_t val_len; /* behind the key */
    uint32_t dbi;
    uint64_t line;
} Pending;

typedef struct Load {
    const Call *call;
    const char *path;
    const char *input; /* its name in messages */
    Access *access;
    RowReader rows;
    Progress progress;
    uint32_t dbi;
    unsigned flags; /* of the table */
    bool no_table;  /* it is made when the first row is put in */
    AccessOp op;
    bool skip_bad;
    bool has_runner; /* the file had the runner's tables before */
    uint64_t batch_rows;
    uint64_t from_line;

    Buf bytes;              /* of the gathered rows */
    Buf pending;            /* Pending of each */
    uint64_t gathered_line; /* the line behind the last gathered row */

    uint64_t loaded;
    uint64_t bad;
    uint64_t next_line;
} Load;

/* The input's name and line before a text, as compilers have it. */
static int bad_line(Load *load, uint64_t line, const char *why, int exit_code)
{
    char hint[TEXT];
    char in[UI_TEXT];

    load->bad++;
    if (load->skip_bad) {
        if (!load->call->ui->quiet && !load->call->ui->json) {
            progress_end(&load->progress);
            (void)fprintf(stderr, "%s:%" PRIu64 ": %s\n", load->input, line, why);
        }
        return EXIT_DONE;
    }
    progress_end(&load->progress);
    (void)snprintf(hint, sizeof hint,
                   "in so far: %s; mend the line and go on with --from-line %" PRIu64
                   ", or leave such lines out with --skip-bad",
                   ui_rows(load->loaded, in), line);
    return ui_fail(load->call->ui, exit_code, hint, "%s:%" PRIu64 ": %s", load->input, line, why);
}

static size_t pending_count(const Load *load)
{
    return load->pending.len / sizeof(Pending);
}

static Pending pending_at(const Load *load, size_t i)
{
    Pending pending;
    memcpy(&pending, load->pending.data + i * sizeof pending, sizeof pending);
    return pending;
}

/* Fills *change with the i-th gathered row. */
static void make_change(const Load *load, size_t i, AccessChange *change)
{
    Pending row = pending_at(load, i);
    /* Rows that are all empty have no bytes. */
    const uint8_t *bytes = load->bytes.len == 0 ? (const uint8_t *)"" : load->bytes.data;
    const uint8_t *key = bytes + row.key_at;

    *change = (AccessChange){.op = load->op,
                             .dbi = row.dbi,
                             .key = {key, row.key_len},
                             .val = {key + row.key_len, row.val_len}};
}

static void forget_row(Load *load, size_t i)
{
    size_t behind = (pending_count(load) - i - 1) * sizeof(Pending);
    uint8_t *at = load->pending.data + i * sizeof(Pending);

    memmove(at, at + sizeof(Pending), behind);
    buf_truncate(&load->pending, load->pending.len - sizeof(Pending));
}

/* The engine ended the load: what is in is a first part of the input all the same. */
static int ended(Load *load, int rc, const char *why)
{
    char then[TEXT];
    char in[UI_TEXT];

    (void)snprintf(then, sizeof then, "in so far: %s; go on with --from-line %" PRIu64,
                   ui_rows(load->loaded, in), load->next_line);
    return ui_fail_code_then(load->call->ui, rc, load->path, why, then);
}

/* A row that was refused: a bad line, or the end of the load. */
static int refused(Load *load, int rc, const char *why, const Pending *row)
{
    char text[TEXT];

    if (rc == SAP_EXISTS) {
        return bad_line(load, row->line, "the key is there already", EXIT_CONFLICT);
    }
    if (rc == SAP_ERROR && (load->flags & SAP_DBI_TTL_META) == 0) {
        (void)snprintf(text, sizeof text,
                       "%.250s: a new file can have larger pages with --page-size", why);
        return bad_line(load, row->line, text, EXIT_FAILED);
    }
    return ended(load, rc, why);
}

static int make_table(Load *load)
{
    if (!load->no_table) {
        return EXIT_DONE;
    }
    load->no_table = false;
    return db_make_table(load->call, load->path, load->access, load->dbi, &load->flags);
}

/* Commits what was gathered. A row that is refused is dropped and the rest is tried again. */
static int commit(Load *load)
{
    int made = pending_count(load) > 0 ? make_table(load) : EXIT_DONE;

    if (made != EXIT_DONE) {
        return made;
    }
    while (pending_count(load) > 0) {
        size_t count = pending_count(load);
        uint32_t failed = UINT32_MAX;
        char why[TEXT];
        AccessChange *changes = (AccessChange *)calloc(count, sizeof *changes);

        if (changes == NULL) {
            return ui_no_memory(load->call->ui);
        }
        for (size_t i = 0; i < count; i++) {
            make_change(load, i, &changes[i]);
        }
        int rc = access_write(load->access, changes, (uint32_t)count, &failed);
        free(changes);
        if (rc == SAP_OK) {
            load->loaded += count;
            break;
        }
        progress_end(&load->progress);
        /* Before another call on the file takes its place. */
        (void)snprintf(why, sizeof why, "%s", access_message(load->access));
        if (failed >= count) {
            return ended(load, rc, why);
        }
        Pending row = pending_at(load, failed);
        bool ends = !load->skip_bad || (rc != SAP_EXISTS && rc != SAP_ERROR);
        if (ends) {
            /* What is before the row is put in all the same. */
            buf_truncate(&load->pending, failed * sizeof(Pending));
            int code = commit(load);
            if (code != EXIT_DONE) {
                return code;
            }
            load->next_line = row.line;
        }
        int code = refused(load, rc, why, &row);
        if (ends || code != EXIT_DONE) {
            return code;
        }
        forget_row(load, failed);
    }
    buf_clear(&load->pending);
    buf_clear(&load->bytes);
    load->next_line = load->gathered_line;
    return EXIT_DONE;
}

/* Adds the reader's row to the batch, and commits a full one. */
static int gather(Load *load)
{
    const RowReader *rows = &load->rows;
    Pending row = {.key_at = load->bytes.len,
                   .key_len = rows->key.len,
                   .val_len = rows->val.len,
                   .dbi = load->dbi,
                   .line = rows->line};

    if (rows->line < load->from_line) {
        return EXIT_DONE;
    }
    /* A batch fails as a whole, so keys that are there are better found before. */
    if (load->op == ACCESS_PUT_NEW && load->skip_bad && (load->flags & SAP_DBI_DUPSORT) == 0) {
        Buf value = {0};
        int rc = access_get(load->access, load->dbi, rows->key, &value);
        buf_release(&value);
        if (rc == SAP_OK) {
            return bad_line(load, rows->line, "the key is there already", EXIT_CONFLICT);
        }
    }
    if (buf_append(&load->bytes, rows->key.data, rows->key.len) != SAP_OK ||
        buf_append(&load->bytes, rows->val.data, rows->val.len) != SAP_OK ||
        buf_append(&load->pending, &row, sizeof row) != SAP_OK) {
        return ui_no_memory(load->call->ui);
    }
    load->gathered_line = rows->next_line;
    if (pending_count(load) >= load->batch_rows || load->bytes.len >= BATCH_BYTES) {
        int code = commit(load);
        load->progress.rows = load->loaded;
        progress_at(&load->progress, rows->bytes);
        return code;
    }
    return EXIT_DONE;
}

/* A dump says which table follows, and of what kind. */
static int begin_table(Load *load)
{
    const RowReader *rows = &load->rows;

    if (rows->flags == SAP_DBI_TTL_META) {
        return ui_fail(load->call->ui, EXIT_FAILED,
                       "move the whole database instead: dump --format stream, then restore",
                       "%s:%" PRIu64 ": table %" PRIu32
                       " holds expiry times, which cannot be loaded",
                       load->input, rows->line, rows->dbi);
    }
    if (load->has_runner && rows->dbi < WIT_RUNTIME_DBI_COUNT &&
        !call_has(load->call, OPTION_FORCE)) {
        return db_not_without_force(load->call, load->path, rows->dbi);
    }
    /* Making a table waits for open transactions, and the batch is none: first what is gathered. */
    int code = commit(load);
    if (code != EXIT_DONE) {
        return code;
    }
    load->dbi = rows->dbi;
    load->flags = rows->flags;
    int rc = access_open_table(load->access, rows->dbi, rows->flags);
    return rc == SAP_OK ? EXIT_DONE : db_failed(load->call, load->path, load->access, rc);
}

/* The input ends with an error, after line 0 if it never came to one. */
static int broken_input(const Load *load)
{
    const Ui *ui = load->call->ui;
    uint64_t line = load->rows.line;

    return line == 0 ? ui_fail(ui, EXIT_FAILED, NULL, "%s: %s", load->input, load->rows.why)
                     : ui_fail(ui, EXIT_FAILED, NULL, "%s:%" PRIu64 ": %s", load->input, line,
                               load->rows.why);
}

static int interrupted(Load *load)
{
    char hint[TEXT];
    char in[UI_TEXT];
    int code = commit(load);

    progress_end(&load->progress);
    if (code != EXIT_DONE) {
        return code;
    }
    (void)snprintf(hint, sizeof hint, "in so far: %s; go on with --from-line %" PRIu64,
                   ui_rows(load->loaded, in), load->next_line);
    return ui_fail(load->call->ui, EXIT_INTERRUPTED, hint, "interrupted");
}

static int load_rows(Load *load)
{
    int code = EXIT_DONE;

    while (code == EXIT_DONE) {
        if (interrupt_pending()) {
            return interrupted(load);
        }
        switch (row_next(&load->rows)) {
        case ROW_DATA:
            code = gather(load);
            break;
        case ROW_TABLE:
            code = begin_table(load);
            break;
        case ROW_BAD:
            if (load->rows.line < load->from_line) {
                break;
            }
            if (!load->skip_bad) {
                code = commit(load);
            }
            code = code == EXIT_DONE ? bad_line(load, load->rows.line, load->rows.why, EXIT_FAILED)
                                     : code;
            break;
        case ROW_FATAL:
            if (interrupt_pending()) {
                return interrupted(load);
            }
            code = commit(load);
            progress_end(&load->progress);
            return code != EXIT_DONE ? code : broken_input(load);
        case ROW_END:
            code = make_table(load);
            return code == EXIT_DONE ? commit(load) : code;
        }
    }
    return code;
}

/* ---- The call ---------------------------------------------------------------------------------- */

static long read_input(void *ctx, void *bytes, size_t len)
{
    return interrupt_read(*(const int *)ctx, bytes, len);
}

static int csv_columns(const Call *call, CsvColumns *columns, Buf *join, Buf *delimiter)
{
    const char *join_text = call_value(call, OPTION_JOIN);
    const char *delimiter_text = call_value(call, OPTION_DELIMITER);
    int code = db_bytes(call, join_text != NULL ? join_text : ":", join);

    if (code == EXIT_DONE) {
        code = db_bytes(call, delimiter_text != NULL ? delimiter_text : ",", delimiter);
    }
    if (code != EXIT_DONE) {
        return code;
    }
    if (delimiter->len != 1 || strchr("\"\n\r", (char)delimiter->data[0]) != NULL) {
        return call_usage(call, "--delimiter is one character, and no quote or line end");
    }
    *columns = (CsvColumns){.header = call_has(call, OPTION_HEADER),
                            .delimiter = (char)delimiter->data[0],
                            .join = (const char *)join->data,
                            .join_len = join->len,
                            .value = call_value(call, OPTION_VALUE)};
    for (uint32_t i = 0; i < call->given_count; i++) {
        if (call->given[i].id != OPTION_KEY) {
            continue;
        }
        if (columns->key_count == CSV_KEYS_MOST) {
            return call_usage(call, "a key has at most %d columns", CSV_KEYS_MOST);
        }
        columns->keys[columns->key_count++] = call->given[i].value;
    }
    return EXIT_DONE;
}

static int check_options(const Call *call, Format format)
{
    static const OptionId csv_only[] = {OPTION_HEADER, OPTION_KEY, OPTION_VALUE, OPTION_JOIN,
                                        OPTION_DELIMITER};

    for (size_t i = 0; i < sizeof csv_only / sizeof csv_only[0]; i++) {
        if (format != FORMAT_CSV && call_has(call, csv_only[i])) {
            return call_usage(call, "--header, --key, --value, --join and --delimiter go with "
                                    "--format csv");
        }
    }
    if (format == FORMAT_DUMP && (call_has(call, OPTION_TABLE) || call_has(call, OPTION_DUPSORT))) {
        return call_usage(call, "a dump names its tables: without --table and --dupsort");
    }
    return EXIT_DONE;
}

static int report(const Load *load)
{
    const Call *call = load->call;
    char rows[UI_TEXT];
    char bad[UI_TEXT];
    char time[UI_TEXT];

    if (!call->ui->json) {
        ui_note(call->ui, "%s loaded in %s%s%s", ui_rows(load->loaded, rows),
                ui_seconds(progress_seconds(&load->progress), time),
                load->bad > 0 ? "; bad lines left out: " : "",
                load->bad > 0 ? ui_count(load->bad, bad) : "");
        return EXIT_DONE;
    }
    return ui_object(call->ui, json_pack("{s:I,s:I,s:I}", "rows", (json_int_t)load->loaded, "bad",
                                         (json_int_t)load->bad, "next_line",
                                         (json_int_t)load->rows.next_line));
}

/* Everything is set but the file. */
static int load_into(Load *load, int fd, Format format, const CsvColumns *columns)
{
    const Call *call = load->call;
    AccessOptions options = {.flags = ACCESS_CREATE | ACCESS_SERVE};
    struct stat st;
    int code = db_page_size(call, &options.page_size);

    if (code == EXIT_DONE) {
        code = file_open(call, load->path, &options, &load->access);
    }
    if (code != EXIT_DONE) {
        return code;
    }
    bool sized = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    row_reader_start(&load->rows, format, columns, read_input, &fd);
    progress_start(&load->progress, call->ui, "load", true, sized ? (uint64_t)st.st_size : 0);
    interrupt_hold();
    /* Before the first row: a dump may bring the runner's tables itself. */
    code = format == FORMAT_DUMP ? db_has_runner(call, load->path, load->access, &load->has_runner)
                                 : db_check_change(call, load->path, load->access, load->dbi);
    if (code == EXIT_DONE && format != FORMAT_DUMP) {
        code =
            db_plan_table(call, load->path, load->access, load->dbi, &load->flags, &load->no_table);
    }
    if (code == EXIT_DONE) {
        code = load_rows(load);
    }
    progress_end(&load->progress);
    code = file_close(call, load->path, load->access, code);
    if (code == EXIT_DONE) {
        code = report(load);
    }
    row_reader_end(&load->rows);
    buf_release(&load->bytes);
    buf_release(&load->pending);
    return code;
}

static int open_input(const Call *call, const char *name, int *fd_out)
{
    struct stat st;

    *fd_out = name == NULL || strcmp(name, "-") == 0 ? STDIN_FILENO : fd_open(name, O_RDONLY, 0);
    if (*fd_out < 0) {
        return ui_fail(call->ui, errno == ENOENT ? EXIT_NOT_FOUND : EXIT_FAILED, NULL,
                       "cannot read %s: %s", name, strerror(errno));
    }
    if (fstat(*fd_out, &st) == 0 && S_ISDIR(st.st_mode)) {
        (void)close(*fd_out);
        return ui_fail(call->ui, EXIT_FAILED, NULL, "cannot read %s: it is a directory",
                       name != NULL ? name : "standard input");
    }
    return EXIT_DONE;
}

/* What was asked for, or what the input's name says. */
static Format choose_format(const Call *call, const char *input)
{
    const char *name = call_value(call, OPTION_FORMAT);
    size_t len = input == NULL ? 0 : strlen(input);

    if (name != NULL) {
        return format_by_name(name);
    }
    return len > 4 && strcmp(input + len - 4, ".csv") == 0 ? FORMAT_CSV : FORMAT_TEXT;
}

int db_load_verb(const Call *call)
{
    const char *input = call_operand(call, 1);
    Format format = choose_format(call, input);
    CsvColumns columns = {0};
    Buf join = {0};
    Buf delimiter = {0};
    Load load = {.call = call,
                 .path = call_operand(call, 0),
                 .input = input != NULL && strcmp(input, "-") != 0 ? input : "stdin",
                 .op = call_has(call, OPTION_NEW) ? ACCESS_PUT_NEW : ACCESS_PUT,
                 .skip_bad = call_has(call, OPTION_SKIP_BAD),
                 .next_line = 1,
                 .gathered_line = 1};
    int fd = -1;
    int code = db_table(call, &load.dbi);

    if (code == EXIT_DONE) {
        code = check_options(call, format);
    }
    if (code == EXIT_DONE) {
        code = call_number(call, OPTION_BATCH, 1, 10000000, BATCH_ROWS, &load.batch_rows);
    }
    if (code == EXIT_DONE) {
        code = call_number(call, OPTION_FROM_LINE, 1, UINT64_MAX, 1, &load.from_line);
    }
    if (code == EXIT_DONE) {
        code = csv_columns(call, &columns, &join, &delimiter);
    }
    if (code == EXIT_DONE) {
        code = open_input(call, input, &fd);
    }
    if (code == EXIT_DONE) {
        code = load_into(&load, fd, format, &columns);
        if (fd != STDIN_FILENO) {
            (void)close(fd);
        }
    }
    buf_release(&join);
    buf_release(&delimiter);
    return code;
}
