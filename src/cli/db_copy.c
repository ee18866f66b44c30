/* db_copy.c - backup and compact: the file into another one. */
#include <string.h>

#include "cli/db.h"
#include "cli/interrupt.h"
#include "cli/progress.h"

typedef struct Copy {
    const Call *call;
    Target target;
    Progress progress;
    uint64_t bytes;
} Copy;

static int put_bytes(const void *data, uint32_t len, void *ctx)
{
    Copy *copy = (Copy *)ctx;
    int rc = target_write(&copy->target, data, len);

    copy->bytes += len;
    progress_at(&copy->progress, copy->bytes);
    return interrupt_pending() ? SAP_IO : rc;
}

static int show_progress(uint64_t done, uint64_t total, void *ctx)
{
    Copy *copy = (Copy *)ctx;

    copy->progress.total = total;
    progress_at(&copy->progress, done);
    return interrupt_pending() ? SAP_IO : SAP_OK;
}

static int report_copy(const Copy *copy, uint64_t from_size)
{
    const Call *call = copy->call;
    const char *target = copy->target.path;
    double seconds = progress_seconds(&copy->progress);
    char size[UI_TEXT];
    char from[UI_TEXT];
    char time[UI_TEXT];

    if (target == NULL) {
        return EXIT_DONE;
    }
    if (call->ui->json) {
        return ui_object(call->ui, json_pack("{s:o,s:I,s:f}", "target", json_text(target), "bytes",
                                             (json_int_t)copy->target.size, "seconds", seconds));
    }
    if (from_size > 0) {
        ui_note(call->ui, "%s: %s, from %s, in %s", target, ui_bytes(copy->target.size, size),
                ui_bytes(from_size, from), ui_seconds(seconds, time));
    } else {
        ui_note(call->ui, "%s: %s in %s", target, ui_bytes(copy->target.size, size),
                ui_seconds(seconds, time));
    }
    return EXIT_DONE;
}

int db_backup_verb(const Call *call)
{
    const char *path = call_operand(call, 0);
    const char *target = call_operand(call, 1);
    Copy copy = {.call = call};
    Access *access = NULL;
    AccessStat stat = {0};

    if (call->ui->json && strcmp(target, "-") == 0) {
        return call_usage(call, "--json needs a TARGET that is a file");
    }
    int code = file_open(call, path, &db_reading, &access);
    if (code != EXIT_DONE) {
        return code;
    }
    interrupt_hold();
    int rc = access_stat(access, &stat);
    progress_start(&copy.progress, call->ui, "backup", true, stat.pages * stat.page_size);
    code = rc == SAP_OK ? db_start_target(call, path, &copy.target, target)
                        : db_failed(call, path, access, rc);
    if (code == EXIT_DONE) {
        code = target_open(&copy.target);
        if (code == EXIT_DONE) {
            code = -access_backup(access, put_bytes, &copy);
        }
        progress_end(&copy.progress);
        code = db_finish_target(call, path, &copy.target, access, code);
    }
    if (code == EXIT_DONE) {
        code = report_copy(&copy, 0);
    }
    return file_close(call, path, access, code);
}

int db_compact_verb(const Call *call)
{
    const char *path = call_operand(call, 0);
    const char *target = call_operand(call, 1);
    Copy copy = {.call = call};
    Access *access = NULL;
    AccessStat stat;

    if (strcmp(target, "-") == 0) {
        return call_usage(call, "TARGET is a file; backup writes to standard output");
    }
    int code = file_open(call, path, &db_reading, &access);
    if (code != EXIT_DONE) {
        return code;
    }
    interrupt_hold();
    int rc = access_stat(access, &stat);
    progress_start(&copy.progress, call->ui, "compact", false, 0);
    code = rc == SAP_OK ? db_start_target(call, path, &copy.target, target)
                        : db_failed(call, path, access, rc);
    if (code == EXIT_DONE) {
        code = -access_compact(access, copy.target.temp, show_progress, &copy);
        progress_end(&copy.progress);
        code = db_finish_target(call, path, &copy.target, access, code);
    }
    if (code == EXIT_DONE) {
        code = report_copy(&copy, stat.data_size);
    }
    return file_close(call, path, access, code);
}
