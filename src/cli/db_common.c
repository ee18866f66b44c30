/* db_common.c - what the verbs of `sapling db` share. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/db.h"
#include "cli/interrupt.h"
#include "common/fd.h"
#include "sapling/owner.h"
#include "wit_schema_dbis.h"

enum {
    MAKING_PAUSE_MS = 2,
    MAKING_TRIES = 1000, /* a database is made in much less */
    DESCRIPTORS = 8,     /* more than a database and its socket need at once */
    LOG_NAMES = 600,
};

int file_missing(const Ui *ui, const char *path, const char *what, const char *hint)
{
    struct stat st;
    char *copy = strdup(path);
    int code;

    if (copy == NULL) {
        return ui_no_memory(ui);
    }
    const char *directory = dirname(copy);
    if (stat(directory, &st) != 0 && errno == ENOENT) {
        code = ui_fail(ui, EXIT_NOT_FOUND, "make it first", "there is no directory %s", directory);
    } else {
        code = ui_fail(ui, EXIT_NOT_FOUND, hint, "there is no %s %s", what, path);
    }
    free(copy);
    return code;
}

const AccessOptions db_reading = {.flags = ACCESS_READ | ACCESS_SERVE};

static void end_serving(void *ctx)
{
    access_end_serving((Access *)ctx);
}

static void note_wait(const char *text, void *ctx)
{
    ui_note((const Ui *)ctx, "%s", text);
}

typedef enum Orphan {
    ORPHAN_NO,        /* there is no log without its data file */
    ORPHAN_YES,       /* there is one, and nobody has the database open */
    ORPHAN_UNDECIDED, /* somebody has it open, perhaps to make it */
} Orphan;

/* Whether a log lies at the path without its data file. Only the lock decides that: a process that
 * makes a database makes its log first. */
static Orphan find_orphan(const char *path)
{
    struct stat st;
    Owner owner = OWNER_NONE;
    int64_t pid = 0;

    if (stat(path, &st) == 0 || errno != ENOENT || !target_has_log(path)) {
        return ORPHAN_NO;
    }
    if (owner_lock(&owner, path, false, &pid) == SAP_BUSY) {
        return ORPHAN_UNDECIDED;
    }
    bool orphan = stat(path, &st) != 0 && errno == ENOENT && target_has_log(path);
    owner_release(&owner);
    return orphan ? ORPHAN_YES : ORPHAN_UNDECIDED;
}

/* Opens the file, again while another process makes it. */
static int open_made(const char *path, const AccessOptions *options, Access **access_out,
                     Orphan *orphan_out)
{
    static const struct timespec pause = {.tv_nsec = MAKING_PAUSE_MS * 1000000};
    int rc = access_open(path, options, access_out);

    *orphan_out = ORPHAN_NO;
    for (int i = 0; rc == SAP_NOTFOUND && i < MAKING_TRIES; i++) {
        *orphan_out = find_orphan(path);
        if (*orphan_out != ORPHAN_UNDECIDED) {
            return rc;
        }
        (void)access_discard(*access_out);
        *access_out = NULL;
        (void)nanosleep(&pause, NULL);
        rc = access_open(path, options, access_out);
    }
    /* Under its lock, the engine has refused to make a file beside the log of another. */
    if (rc == SAP_CORRUPT) {
        *orphan_out = find_orphan(path);
    }
    return rc;
}

/* Says why there was no memory to open the file: the system also says so of limits of the process. */
static int explain_no_memory(const Ui *ui)
{
    struct rlimit space;
    char text[UI_TEXT];
    int fds[DESCRIPTORS];
    int count = 0;

    while (count < DESCRIPTORS && (fds[count] = fd_open("/dev/null", O_RDONLY, 0)) >= 0) {
        count++;
    }
    int error = errno;
    bool few = count < DESCRIPTORS && (error == EMFILE || error == ENFILE);
    while (count > 0) {
        (void)close(fds[--count]);
    }
    if (few) {
        return ui_fail(ui, EXIT_FAILED,
                       error == EMFILE ? "allow this process more of them: ulimit -n 64" : NULL,
                       "%s", strerror(error));
    }
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
        return ui_fail(
            ui, EXIT_FAILED, "allow it more: ulimit -v unlimited",
            "not enough address space: this process may use %s, and a database is mapped "
            "as a whole, with room to grow",
            ui_bytes((uint64_t)space.rlim_cur, text));
    }
    return ui_no_memory(ui);
}

/* Says why the file could not be opened, by a verb that makes it if there is none: `makes`. What is looked at here only chooses the words. */
static int explain_open(const Call *call, const char *path, bool makes, int rc, Orphan orphan,
                        const Access *access)
{
    struct stat st;
    char hint[300];
    bool queue = strcmp(call->command->group, "queue") == 0;

    if (rc == SAP_NOMEM) {
        return explain_no_memory(call->ui);
    }
    if (orphan == ORPHAN_YES) {
        char log[LOG_NAMES];
        (void)snprintf(hint, sizeof hint,
                       "put its data file back, or a backup in place of both: sapling db restore "
                       "BACKUP %.150s --force; or remove the log",
                       path);
        return ui_fail(call->ui, EXIT_CORRUPT, hint, "%s is missing, but its log is there: %s",
                       path, target_log_names(path, log, sizeof log));
    }
    if ((rc == SAP_CORRUPT || rc == SAP_NOTFOUND) && stat(path, &st) == 0 && st.st_size == 0 &&
        target_has_log(path)) {
        char log[LOG_NAMES];
        (void)snprintf(hint, sizeof hint,
                       "put its data file back, or a backup in place of both: sapling db restore "
                       "BACKUP %.150s --force; or remove both",
                       path);
        return ui_fail(call->ui, EXIT_CORRUPT, hint, "%s is empty, but its log is there: %s", path,
                       target_log_names(path, log, sizeof log));
    }
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        return ui_fail(call->ui, EXIT_FAILED, "name the database file in it", "%s is a directory",
                       path);
    }
    if (rc == SAP_NOTFOUND && lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) {
        return ui_fail(call->ui, EXIT_NOT_FOUND, "make that file, or name another", "%s",
                       access_message(access));
    }
    if (rc == SAP_NOTFOUND && makes) {
        return file_missing(call->ui, path, queue ? "file" : "database",
                            "and none can be made in its directory: name a file elsewhere");
    }
    if (rc == SAP_NOTFOUND) {
        (void)snprintf(hint, sizeof hint, "make one: sapling %s %.200s %s",
                       queue ? "queue push" : "db put", path, queue ? "MESSAGE" : "KEY VALUE");
        return file_missing(call->ui, path, queue ? "file" : "database", hint);
    }
    return ui_fail_code(call->ui, rc, path, access_message(access));
}

int file_open(const Call *call, const char *path, const AccessOptions *options, Access **access_out)
{
    union {
        const Ui *in;
        void *out;
    } ui = {.in = call->ui};
    AccessOptions noting = *options;
    Orphan orphan = ORPHAN_NO;

    *access_out = NULL;
    if (path[0] == '\0') { /* a variable of a script that is not set */
        return call_usage(call, "the name of FILE is empty");
    }
    noting.on_wait = note_wait;
    noting.callback_ctx = ui.out;
    int rc = open_made(path, &noting, access_out, &orphan);
    if (rc == SAP_OK) {
        /* The engine has something to say of a log that was cut, or of a socket that cannot be. */
        const char *said = access_message(*access_out);
        if (!access_is_remote(*access_out) && strcmp(said, sap_strerror(SAP_OK)) != 0) {
            ui_note(call->ui, "%s", said);
        }
        interrupt_say_goodbye(end_serving, *access_out);
        return EXIT_DONE;
    }
    int code =
        explain_open(call, path, (options->flags & ACCESS_CREATE) != 0, rc, orphan, *access_out);
    (void)access_discard(*access_out);
    *access_out = NULL;
    return code;
}

int file_close(const Call *call, const char *path, Access *access, int code)
{
    interrupt_say_goodbye(NULL, NULL);
    int rc = code == EXIT_DONE ? access_close(access) : access_discard(access);

    if (rc != SAP_OK && code == EXIT_DONE) {
        return ui_fail_code(call->ui, rc, path,
                            "closing it failed; what was written is in its log");
    }
    return code;
}

int db_failed(const Call *call, const char *path, const Access *access, int rc)
{
    return ui_fail_code(call->ui, rc, path, access_message(access));
}

/* ---- Arguments --------------------------------------------------------------------------------- */

int db_table(const Call *call, uint32_t *dbi_out)
{
    uint64_t number = 0;
    int code = call_number(call, OPTION_TABLE, 0, SAP_MAX_DBI, 0, &number);

    *dbi_out = (uint32_t)number;
    return code;
}

int db_page_size(const Call *call, uint32_t *size_out)
{
    uint64_t number = 0;
    int code = call_number(call, OPTION_PAGE_SIZE, 4096, 32768, 0, &number);

    *size_out = (uint32_t)number;
    return code;
}

int db_bytes(const Call *call, const char *argument, Buf *bytes)
{
    const char *why = "";
    Slice text = slice_from_str(argument);
    bool hex = call_has(call, OPTION_HEX);
    /* A bound that is empty is a bound: it needs an address. */
    int rc = buf_reserve(bytes, text.len + 1);

    if (rc == SAP_OK) {
        rc = hex ? parse_hex(text, bytes, &why) : parse_text(text, bytes, &why);
    }
    if (rc == SAP_INVALID) {
        return call_usage(call, "'%s': %s", argument, why);
    }
    return rc == SAP_OK ? EXIT_DONE : ui_no_memory(call->ui);
}

static Slice slice_of(const Buf *buf)
{
    return (Slice){buf->data, buf->len};
}

int db_prefix_range(const Call *call, const char *prefix, DbBounds *bounds, AccessRange *range)
{
    int code = db_bytes(call, prefix, &bounds->from);

    if (code != EXIT_DONE) {
        return code;
    }
    if (buf_append(&bounds->to, bounds->from.data, bounds->from.len) != SAP_OK) {
        return ui_no_memory(call->ui);
    }
    /* The least key above all with the prefix: its last byte that can be raised, raised. */
    while (bounds->to.len > 0 && bounds->to.data[bounds->to.len - 1] == 0xff) {
        buf_truncate(&bounds->to, bounds->to.len - 1);
    }
    range->from = slice_of(&bounds->from);
    if (bounds->to.len > 0) {
        bounds->to.data[bounds->to.len - 1]++;
        range->to = slice_of(&bounds->to);
    }
    return EXIT_DONE;
}

int db_scan_range(const Call *call, DbBounds *bounds, AccessRange *range)
{
    const char *from = call_value(call, OPTION_FROM);
    const char *to = call_value(call, OPTION_TO);
    const char *prefix = call_value(call, OPTION_PREFIX);
    int code = EXIT_DONE;

    if (prefix != NULL && (from != NULL || to != NULL)) {
        return call_usage(call, "--prefix is a range of its own: without --from and --to");
    }
    if (prefix != NULL) {
        return db_prefix_range(call, prefix, bounds, range);
    }
    if (from != NULL) {
        code = db_bytes(call, from, &bounds->from);
        range->from = slice_of(&bounds->from);
    }
    if (to != NULL && code == EXIT_DONE) {
        code = db_bytes(call, to, &bounds->to);
        range->to = slice_of(&bounds->to);
    }
    return code;
}

void db_bounds_release(DbBounds *bounds)
{
    buf_release(&bounds->from);
    buf_release(&bounds->to);
}

/* ---- Tables ------------------------------------------------------------------------------------ */

typedef struct Search {
    uint32_t dbi;
    AccessTable table;
    bool found;
    char others[200]; /* " 0 3 17" */
} Search;

static int look(const AccessTable *table, void *ctx)
{
    Search *search = (Search *)ctx;
    size_t len = strlen(search->others);

    if (table->dbi == search->dbi) {
        search->table = *table;
        search->found = true;
    }
    (void)snprintf(search->others + len, sizeof search->others - len, " %" PRIu32, table->dbi);
    return 0;
}

int db_find_table(const Call *call, const char *path, Access *access, uint32_t dbi,
                  AccessTable *table_out)
{
    Search search = {.dbi = dbi};
    char hint[300];
    int rc = access_tables(access, look, &search);

    if (rc != SAP_OK) {
        return db_failed(call, path, access, rc);
    }
    if (!search.found) {
        (void)snprintf(hint, sizeof hint, "its tables:%s", search.others);
        return ui_fail(call->ui, EXIT_NOT_FOUND, hint, "there is no table %" PRIu32 " in %s", dbi,
                       path);
    }
    *table_out = search.table;
    return EXIT_DONE;
}

int db_plan_table(const Call *call, const char *path, Access *access, uint32_t dbi,
                  unsigned *flags_out, bool *missing_out)
{
    Search search = {.dbi = dbi};
    bool dupsort = call_has(call, OPTION_DUPSORT);
    int rc = access_tables(access, look, &search);

    if (rc != SAP_OK) {
        return db_failed(call, path, access, rc);
    }
    *missing_out = !search.found;
    if (!search.found) {
        search.table.flags = dupsort ? SAP_DBI_DUPSORT : 0;
    }
    if (dupsort && (search.table.flags & SAP_DBI_DUPSORT) == 0) {
        return ui_fail(call->ui, EXIT_CONFLICT, "choose another table with --table",
                       "table %" PRIu32 " of %s holds one value per key", dbi, path);
    }
    *flags_out = search.table.flags;
    return EXIT_DONE;
}

int db_make_table(const Call *call, const char *path, Access *access, uint32_t dbi,
                  unsigned *flags_out)
{
    bool missing = false;
    int code = db_plan_table(call, path, access, dbi, flags_out, &missing);

    if (code == EXIT_DONE && missing) {
        int rc = access_open_table(access, dbi, *flags_out);
        code = rc == SAP_OK ? EXIT_DONE : db_failed(call, path, access, rc);
    }
    return code;
}

int db_has_runner(const Call *call, const char *path, Access *access, bool *has_out)
{
    Buf marker = {0};
    int rc =
        access_get(access, WIT_DBI_APP_STATE, slice_from_str(SAP_RUNNER_V0_SCHEMA_KEY), &marker);

    buf_release(&marker);
    *has_out = rc == SAP_OK;
    return rc == SAP_OK || rc == SAP_NOTFOUND ? EXIT_DONE : db_failed(call, path, access, rc);
}

int db_not_without_force(const Call *call, const char *path, uint32_t dbi)
{
    return ui_fail(call->ui, EXIT_CONFLICT,
                   "use another table: --table 8 or above; or, if you are sure, --force",
                   "table %" PRIu32 " of %s belongs to its queues", dbi, path);
}

int db_check_change(const Call *call, const char *path, Access *access, uint32_t dbi)
{
    bool has_runner = false;

    if (dbi >= WIT_RUNTIME_DBI_COUNT || call_has(call, OPTION_FORCE)) {
        return EXIT_DONE;
    }
    int code = db_has_runner(call, path, access, &has_runner);
    return code == EXIT_DONE && has_runner ? db_not_without_force(call, path, dbi) : code;
}
