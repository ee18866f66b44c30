/* db_files.c - stat and verify: the file as a whole. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/db.h"
#include "cli/progress.h"

/* ---- stat -------------------------------------------------------------------------------------- */

static const char *kind_name(unsigned flags)
{
    return (flags & SAP_DBI_DUPSORT) != 0    ? "dupsort"
           : (flags & SAP_DBI_TTL_META) != 0 ? "expiry"
                                             : "plain";
}

static int print_table(const AccessTable *table, void *ctx)
{
    (void)ctx;
    (void)printf("%5" PRIu32 "  %-8s %14" PRIu64 " %6" PRIu32 "\n", table->dbi,
                 kind_name(table->flags), table->rows, table->depth);
    return 0;
}

static int add_table(const AccessTable *table, void *ctx)
{
    json_t *object = json_pack("{s:I,s:s,s:I,s:I}", "table", (json_int_t)table->dbi, "kind",
                               kind_name(table->flags), "rows", (json_int_t)table->rows, "depth",
                               (json_int_t)table->depth);
    return json_array_append_new((json_t *)ctx, object) == 0 ? SAP_OK : SAP_NOMEM;
}

static int stat_as_json(const Call *call, const char *path, Access *access, const AccessStat *stat)
{
    json_t *tables = json_array();
    json_t *object = json_object();
    int rc =
        tables == NULL || object == NULL ? SAP_NOMEM : access_tables(access, add_table, tables);

    if (rc == SAP_OK &&
        (json_object_set_new(object, "file", json_text(path)) != 0 ||
         json_object_set_new(object, "served", json_boolean(access_is_remote(access))) != 0 ||
         json_object_set_new(object, "page_size", json_integer(stat->page_size)) != 0 ||
         json_object_set_new(object, "data_bytes", json_integer((json_int_t)stat->data_size)) !=
             0 ||
         json_object_set_new(object, "log_bytes", json_integer((json_int_t)stat->log_size)) != 0 ||
         json_object_set_new(object, "pages", json_integer((json_int_t)stat->pages)) != 0 ||
         json_object_set_new(object, "commit", json_integer((json_int_t)stat->txnid)) != 0 ||
         json_object_set_new(object, "readers", json_integer((json_int_t)stat->readers)) != 0 ||
         json_object_set(object, "tables", tables) != 0)) {
        rc = SAP_NOMEM;
    }
    json_decref(tables);
    if (rc != SAP_OK) {
        json_decref(object);
        return db_failed(call, path, access, rc);
    }
    return ui_object(call->ui, object);
}

static int stat_as_text(const Call *call, const char *path, Access *access, const AccessStat *stat)
{
    char data[UI_TEXT];
    char log[UI_TEXT];
    char used[UI_TEXT];

    (void)fputs("file       ", stdout);
    (void)ui_write(stdout, slice_from_str(path));
    (void)putchar('\n');
    if (access_is_remote(access)) {
        (void)printf("owner      another process, through %s.sock\n", access_real_path(access));
    }
    (void)printf("page size  %" PRIu32 "\n", stat->page_size);
    (void)printf("data       %s\n", ui_bytes(stat->data_size, data));
    (void)printf("log        %s\n", ui_bytes(stat->log_size, log));
    (void)printf("in use     %s, %" PRIu64 " pages\n",
                 ui_bytes(stat->pages * stat->page_size, used), stat->pages);
    (void)printf("commit     %" PRIu64 "\n", stat->txnid);
    (void)printf("readers    %" PRIu64 "\n\n", stat->readers);
    (void)printf("table  kind               rows  depth\n");
    int rc = access_tables(access, print_table, NULL);
    return rc == SAP_OK ? EXIT_DONE : db_failed(call, path, access, rc);
}

int db_stat_verb(const Call *call)
{
    const char *path = call_operand(call, 0);
    Access *access = NULL;
    AccessStat stat;
    int code = file_open(call, path, &(AccessOptions){.flags = ACCESS_READ}, &access);

    if (code != EXIT_DONE) {
        return code;
    }
    int rc = access_stat(access, &stat);
    if (rc != SAP_OK) {
        code = db_failed(call, path, access, rc);
    } else {
        code = call->ui->json ? stat_as_json(call, path, access, &stat)
                              : stat_as_text(call, path, access, &stat);
    }
    return file_close(call, path, access, code);
}

/* ---- verify ------------------------------------------------------------------------------------ */

typedef struct Findings {
    json_t *list; /* NULL: printed as they come */
    uint64_t count;
    Progress progress;
} Findings;

static void on_finding(const char *text, void *ctx)
{
    Findings *findings = (Findings *)ctx;

    findings->count++;
    if (findings->list != NULL) {
        (void)json_array_append_new(findings->list, json_text(text));
    } else {
        progress_end(&findings->progress);
        (void)puts(text);
    }
}

static int on_progress(uint64_t done, uint64_t total, void *ctx)
{
    Findings *findings = (Findings *)ctx;

    findings->progress.total = total;
    progress_at(&findings->progress, done);
    return SAP_OK;
}

int db_verify_verb(const Call *call)
{
    const char *path = call_operand(call, 0);
    Access *access = NULL;
    Findings findings = {.list = call->ui->json ? json_array() : NULL};
    char time[UI_TEXT];
    char count[UI_TEXT];
    int code = file_open(call, path, &db_reading, &access);

    if (code != EXIT_DONE) {
        json_decref(findings.list);
        return code;
    }
    progress_start(&findings.progress, call->ui, "verify", false, 0);
    int rc = access_verify(access, on_finding, on_progress, &findings);
    progress_end(&findings.progress);
    if (rc != SAP_OK && rc != SAP_CORRUPT) {
        json_decref(findings.list);
        return file_close(call, path, access, db_failed(call, path, access, rc));
    }
    code = rc == SAP_OK ? EXIT_DONE : EXIT_CORRUPT;
    if (call->ui->json) {
        int said = ui_object(call->ui, json_pack("{s:o,s:b,s:o}", "file", json_text(path), "ok",
                                                 rc == SAP_OK, "findings", findings.list));
        code = code == EXIT_DONE ? said : code;
    } else if (rc == SAP_OK) {
        ui_note(call->ui, "%s: no damage found in %s", path,
                ui_seconds(progress_seconds(&findings.progress), time));
    } else {
        ui_note(call->ui, "%s: %s findings; see what can be saved: sapling db recover %s", path,
                ui_count(findings.count, count), path);
    }
    return file_close(call, path, access, code);
}
