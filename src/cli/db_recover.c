/* db_recover.c - recover: what can still be read of a damaged file. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/db.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "sapling/sapling.h"

enum { MESSAGE = 1024, LOG_NAMES = 600 };

typedef struct Recover {
    const Call *call;
    const char *path;
    const char *target; /* NULL: only look */
    json_t *losses;     /* NULL: printed as they come */
    bool silent;        /* they have been told already */
    char last[MESSAGE]; /* the last message, not told yet: if the call fails, that is why */
    Progress progress;
    SapRecoverReport report;
} Recover;

/* The last message is a loss, once it is known that it is not why the call failed. */
static void tell_last(Recover *recover)
{
    if (recover->last[0] == '\0' || recover->silent) {
        return;
    }
    if (recover->losses != NULL) {
        (void)json_array_append_new(recover->losses, json_text(recover->last));
    } else {
        (void)puts(recover->last);
    }
}

static void on_message(const char *text, void *ctx)
{
    Recover *recover = (Recover *)ctx;

    tell_last(recover);
    (void)snprintf(recover->last, sizeof recover->last, "%s", text);
}

static int on_progress(uint64_t done, void *ctx)
{
    Recover *recover = (Recover *)ctx;

    progress_at(&recover->progress, done);
    return interrupt_pending() ? SAP_CONFLICT : SAP_OK;
}

static bool is_sound(const SapRecoverReport *report)
{
    return report->pages_damaged == 0 && report->rows_lost == 0 && report->commits_lost == 0 &&
           report->tables_lost == 0 && report->first_lost_lsn == 0 && report->doubtful == 0 &&
           report->subsystems_lost == 0;
}

static int try_recover(Recover *recover, const char *target)
{
    SapRecoverOptions options = {
        .on_message = on_message, .on_progress = on_progress, .callback_ctx = recover};
    const Ui *ui = recover->call->ui;

    recover->last[0] = '\0';
    progress_start(&recover->progress, ui, "recover", false, 0);
    int rc = sap_db_recover(recover->path, target, &options, &recover->report);
    progress_end(&recover->progress);
    if (rc == SAP_OK) {
        tell_last(recover);
        return EXIT_DONE;
    }
    if (interrupt_pending()) {
        return ui_fail(ui, EXIT_INTERRUPTED, NULL, "interrupted");
    }
    if (rc == SAP_NOTFOUND && target_has_log(recover->path)) {
        char log[LOG_NAMES];
        return ui_fail(ui, EXIT_NOT_FOUND, "put its data file back: the log has only the last rows",
                       "there is no file %s, only its log: %s", recover->path,
                       target_log_names(recover->path, log, sizeof log));
    }
    if (rc == SAP_NOTFOUND) {
        return file_missing(ui, recover->path, "file", NULL);
    }
    if (rc == SAP_EXISTS) {
        return ui_fail(ui, EXIT_CONFLICT, "choose another name", "%s, or its log, exists", target);
    }
    return ui_fail_code(ui, rc, recover->path, recover->last);
}

static void show_report(const Recover *recover, bool done)
{
    const SapRecoverReport *report = &recover->report;
    char rows[UI_TEXT];
    char lost[UI_TEXT];

    (void)printf("%s: %s of %" PRIu64 " %s, %" PRIu64 " commits of the log\n",
                 done ? "saved" : "can be saved", ui_rows(report->rows, rows), report->tables,
                 report->tables == 1 ? "table" : "tables", report->commits_replayed);
    if (target_has_foreign_log(recover->path)) {
        char log[LOG_NAMES];
        (void)printf("not used: the log beside it, which belongs to another database: %s\n",
                     target_log_names(recover->path, log, sizeof log));
    }
    if (is_sound(report)) {
        (void)puts("lost: nothing");
        return;
    }
    /* How many rows a table had that cannot be read is not known. */
    (void)printf("lost: %s, %s%" PRIu64 " %s, %" PRIu64 " commits; damaged pages: %" PRIu64 "\n",
                 ui_rows(report->rows_lost, lost), report->tables_lost > 0 ? "the rows of " : "",
                 report->tables_lost, report->tables_lost == 1 ? "table" : "tables",
                 report->commits_lost, report->pages_damaged);
    if (report->rows_unplaced > 0) {
        (void)printf("found apart from their table: %s\n", ui_rows(report->rows_unplaced, rows));
    }
    if (report->subsystems_lost > 0) {
        (void)printf("lost: states of subsystems: %" PRIu32 "\n", report->subsystems_lost);
    }
    if (report->doubtful != 0) {
        (void)puts("doubtful: rows that had been deleted or replaced may have come back");
    }
}

static int report_as_json(const Recover *recover)
{
    const SapRecoverReport *r = &recover->report;

    return ui_object(
        recover->call->ui,
        json_pack("{s:o,s:o?,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:b,s:b,s:O}", "file",
                  json_text(recover->path), "target",
                  recover->target == NULL ? NULL : json_text(recover->target), "rows",
                  (json_int_t)r->rows, "rows_lost", (json_int_t)r->rows_lost, "rows_unplaced",
                  (json_int_t)r->rows_unplaced, "tables", (json_int_t)r->tables, "tables_lost",
                  (json_int_t)r->tables_lost, "commits_replayed", (json_int_t)r->commits_replayed,
                  "commits_lost", (json_int_t)r->commits_lost, "pages_damaged",
                  (json_int_t)r->pages_damaged, "subsystems_lost", (json_int_t)r->subsystems_lost,
                  "doubtful", r->doubtful != 0, "foreign_log",
                  target_has_foreign_log(recover->path), "losses", recover->losses));
}

static int show(const Recover *recover, bool done)
{
    if (recover->call->ui->json) {
        return report_as_json(recover);
    }
    show_report(recover, done);
    return EXIT_DONE;
}

static int look(Recover *recover)
{
    int code = try_recover(recover, NULL);

    if (code == EXIT_DONE) {
        code = show(recover, false);
    }
    return code == EXIT_DONE && !is_sound(&recover->report) ? EXIT_CORRUPT : code;
}

/* What would be lost is shown first; whoever says --yes has seen it. */
static int save(Recover *recover)
{
    const Call *call = recover->call;
    char question[MESSAGE];

    if (!call_has(call, OPTION_YES)) {
        int code = try_recover(recover, NULL);
        if (code != EXIT_DONE) {
            return code;
        }
        if (!is_sound(&recover->report)) {
            if (!call->ui->json) {
                show_report(recover, false);
                (void)fflush(stdout);
            }
            (void)snprintf(question, sizeof question, "make %.300s of what can be saved",
                           recover->target);
            code = ui_confirm(call->ui, false, question);
            if (code != EXIT_DONE) {
                return code;
            }
        }
        recover->silent = true;
    }
    interrupt_hold();
    int code = try_recover(recover, recover->target);
    return code == EXIT_DONE ? show(recover, true) : code;
}

int db_recover_verb(const Call *call)
{
    Recover recover = {.call = call,
                       .path = call_operand(call, 0),
                       .target = call_operand(call, 1),
                       .losses = call->ui->json ? json_array() : NULL};
    struct stat st;
    int code;

    if (recover.target != NULL && lstat(recover.target, &st) == 0) {
        code = ui_fail(call->ui, EXIT_CONFLICT, "choose another name", "%s exists", recover.target);
    } else {
        code = recover.target == NULL ? look(&recover) : save(&recover);
    }
    json_decref(recover.losses);
    return code;
}
