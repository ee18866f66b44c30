/* db_dump.c - dump: rows as text, or all tables as one stream. */
#include <errno.h>
#include <string.h>

#include "cli/db.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/stream_text.h"
#include "cli/target.h"

enum { MESSAGE = 600 };

typedef struct Dump {
    const Call *call;
    const char *path;
    Access *access;
    Target target;
    Progress progress;
    StreamText text;
    Buf lines;
    Format format;
    uint64_t rows;
} Dump;

/* The code to go on with: SAP_IO ends the work, where why is known elsewhere. */
static int written(Dump *dump, int rc)
{
    progress_at(&dump->progress, dump->progress.bytes ? dump->target.size : dump->rows);
    return interrupt_pending() ? SAP_IO : rc;
}

static int put_stream(const void *data, uint32_t len, void *ctx)
{
    Dump *dump = (Dump *)ctx;
    return written(dump, target_write(&dump->target, data, len));
}

static int put_text(const void *data, uint32_t len, void *ctx)
{
    Dump *dump = (Dump *)ctx;

    buf_clear(&dump->lines);
    int rc = stream_text_take(&dump->text, data, len, &dump->lines);
    if (rc == SAP_OK) {
        rc = target_write(&dump->target, dump->lines.data, dump->lines.len);
    }
    dump->rows = dump->text.rows;
    return written(dump, rc);
}

static int put_row(const AccessRow *row, void *ctx)
{
    Dump *dump = (Dump *)ctx;

    buf_clear(&dump->lines);
    int rc = format_row(&dump->lines, dump->format, row->key, row->val, false);
    if (rc == SAP_OK) {
        rc = target_write(&dump->target, dump->lines.data, dump->lines.len);
    }
    dump->rows++;
    return written(dump, rc);
}

static int dump_table(Dump *dump)
{
    AccessRange range = {0};
    AccessTable table;
    int code = db_table(dump->call, &range.dbi);

    if (code == EXIT_DONE) {
        code = db_find_table(dump->call, dump->path, dump->access, range.dbi, &table);
    }
    if (code != EXIT_DONE) {
        return code;
    }
    dump->progress.total = table.rows;
    return -access_scan(dump->access, &range, put_row, dump);
}

/* An exit status, or a code of the engine below 0. */
static int dump_rows(Dump *dump, const char *name)
{
    if (strcmp(name, "stream") == 0) {
        dump->progress.bytes = true;
        return -access_stream(dump->access, put_stream, dump);
    }
    if (strcmp(name, "dump") == 0) {
        int rc = access_stream(dump->access, put_text, dump);
        return rc == SAP_OK && !stream_text_complete(&dump->text) ? -SAP_CORRUPT : -rc;
    }
    dump->format = format_by_name(name);
    return dump_table(dump);
}

static int report(Dump *dump)
{
    const Call *call = dump->call;
    char size[UI_TEXT];
    char time[UI_TEXT];

    if (call->ui->json) {
        return ui_object(call->ui, json_pack("{s:o,s:I}", "target", json_text(dump->target.path),
                                             "bytes", (json_int_t)dump->target.size));
    }
    ui_note(call->ui, "%s: %s in %s", dump->target.path, ui_bytes(dump->target.size, size),
            ui_seconds(progress_seconds(&dump->progress), time));
    return EXIT_DONE;
}

int db_start_target(const Call *call, const char *path, Target *target, const char *output)
{
    struct stat source = {0};

    (void)stat(path, &source);
    int code = target_start(target, call->ui, output, &source, call_has(call, OPTION_FORCE));
    /* A copy beside the log of another database would not open. */
    if (code == EXIT_DONE && target->path != NULL && target_has_log(target->path)) {
        code = ui_fail(call->ui, EXIT_CONFLICT, "choose another name",
                       "%s is a database with a log of its own", target->path);
    }
    if (code != EXIT_DONE) {
        (void)target_abandon(target);
    }
    return code;
}

int db_finish_target(const Call *call, const char *path, Target *target, const Access *access,
                     int code)
{
    if (interrupt_pending()) {
        (void)target_abandon(target);
        return ui_fail(call->ui, EXIT_INTERRUPTED, NULL, "interrupted");
    }
    if (code == EXIT_DONE) {
        return target_commit(target);
    }
    char why[MESSAGE];
    bool reader_gone = target->error == EPIPE;
    target_tell(target, access == NULL ? "" : access_message(access), why, sizeof why);
    bool told = target_abandon(target);
    if (code > 0 || told) {
        return code > 0 ? code : reader_gone ? EXIT_READER_GONE : EXIT_FAILED;
    }
    return ui_fail_code(call->ui, -code, path, why);
}

int db_dump_verb(const Call *call)
{
    const char *format = call_value(call, OPTION_FORMAT);
    const char *output = call_operand(call, 1);
    Dump dump = {.call = call, .path = call_operand(call, 0)};
    bool to_file = output != NULL && strcmp(output, "-") != 0;
    bool one_table = format != NULL && strcmp(format, "dump") != 0 && strcmp(format, "stream") != 0;

    if (call->ui->json && !to_file) {
        return call_usage(call, "--json needs an OUTPUT: the rows go to standard output");
    }
    if (call_has(call, OPTION_TABLE) && !one_table) {
        return call_usage(call, "--table goes with --format text, hex or csv; the others have all "
                                "tables");
    }
    int code = file_open(call, dump.path, &db_reading, &dump.access);
    if (code != EXIT_DONE) {
        return code;
    }
    progress_start(&dump.progress, call->ui, "dump", false, 0);
    interrupt_hold();
    code = db_start_target(call, dump.path, &dump.target, output);
    if (code == EXIT_DONE && to_file && target_is_db(output)) {
        code = ui_fail(call->ui, EXIT_CONFLICT, "choose another name", "%s is a database", output);
    }
    if (code == EXIT_DONE) {
        code = target_open(&dump.target);
    }
    if (code == EXIT_DONE) {
        code = dump_rows(&dump, format != NULL ? format : "dump");
    }
    progress_end(&dump.progress);
    code = db_finish_target(call, dump.path, &dump.target, dump.access, code);
    if (code == EXIT_DONE && to_file) {
        code = report(&dump);
    }
    stream_text_release(&dump.text);
    buf_release(&dump.lines);
    return file_close(call, dump.path, dump.access, code);
}
