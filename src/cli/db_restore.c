/* db_restore.c - restore: a database of an image or a canonical stream.
 *
 * The new database is made and checked under a temporary name, then renamed. One that is replaced
 * keeps its log until then, and loses it after: in between, opening refuses the pair and says so,
 * since the new file's id is another. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/db.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "common/fd.h"
#include "sapling/file_format.h"
#include "sapling/owner.h"
#include "sapling/sapling.h"

enum { MAGIC_LEN = 8, PIECE = 64 << 10, MESSAGE = 400 };

static const char stream_magic[] = "SAPSTRM1";

typedef struct Restore {
    const Call *call;
    const char *backup; /* its name in messages */
    const char *path;
    int fd;
    uint8_t start[FILE_HEADER]; /* read already: an image may have its magic in any meta */
    size_t start_len;
    size_t start_used;  /* handed on */
    bool cut;           /* the backup ended too early */
    int read_error;     /* errno */
    uint32_t page_size; /* 0: the default */
    uint64_t bytes;
    uint64_t findings;
    char message[MESSAGE]; /* the engine's last */
    Target target;
    Progress progress;
    Owner owner; /* of the place, once it is locked */
    bool locked;
} Restore;

static void on_message(const char *text, void *ctx)
{
    Restore *restore = (Restore *)ctx;
    const char *temp = restore->target.temp;
    size_t len = strlen(temp);

    /* The message is about the new file, whatever it is called meanwhile. */
    if (strncmp(text, temp, len) == 0) {
        const char *end = strstr(text + len, ": ");
        text = end == NULL ? text : end + 2;
    }
    target_tell(&restore->target, text, restore->message, sizeof restore->message);
}

static void on_finding(const char *text, void *ctx)
{
    Restore *restore = (Restore *)ctx;

    if (restore->findings++ == 0) {
        on_message(text, ctx);
    }
}

/* ---- Reading the backup ------------------------------------------------------------------------ */

/* How many bytes came, up to len; below that only at the end or after an error. */
static size_t read_some(Restore *restore, void *bytes, size_t len)
{
    uint8_t *to = (uint8_t *)bytes;
    size_t done = 0;

    while (restore->start_used < restore->start_len && done < len) {
        to[done++] = restore->start[restore->start_used++];
    }
    while (done < len && !interrupt_pending()) {
        ssize_t got = interrupt_read(restore->fd, to + done, len - done);
        if (got == 0) {
            break;
        }
        if (got < 0 && errno != EINTR) {
            restore->read_error = errno;
            break;
        }
        done += got > 0 ? (size_t)got : 0;
    }
    restore->bytes += done;
    progress_at(&restore->progress, restore->bytes);
    return done;
}

static int read_exactly(void *bytes, uint32_t len, void *ctx)
{
    Restore *restore = (Restore *)ctx;

    if (read_some(restore, bytes, len) == len) {
        return SAP_OK;
    }
    restore->cut = restore->read_error == 0 && !interrupt_pending();
    return restore->cut ? SAP_CORRUPT : SAP_IO;
}

static bool is_stream(const Restore *restore)
{
    return restore->start_len >= MAGIC_LEN && memcmp(restore->start, stream_magic, MAGIC_LEN) == 0;
}

/* What went wrong with the backup, not with the new file. */
static int backup_failed(const Restore *restore, int rc)
{
    const Ui *ui = restore->call->ui;

    if (restore->read_error != 0) {
        return ui_fail(ui, EXIT_FAILED, NULL, "cannot read %s: %s", restore->backup,
                       strerror(restore->read_error));
    }
    if (restore->cut) {
        return ui_fail(ui, EXIT_CORRUPT, "use another backup", "%s is cut off", restore->backup);
    }
    if (rc == SAP_CORRUPT || rc == SAP_INVALID) {
        return ui_fail(ui, EXIT_CORRUPT, "use another backup", "%s is damaged%s%s", restore->backup,
                       restore->message[0] != '\0' ? ": " : "", restore->message);
    }
    if (rc == SAP_FULL && restore->message[0] == '\0') {
        return ui_fail(ui, EXIT_FAILED,
                       "make room on the disk, or give rows that do not fit larger pages: "
                       "--page-size",
                       "%s: no room for it", restore->path);
    }
    return ui_fail_code(ui, rc, restore->path, restore->message);
}

/* ---- The two kinds ----------------------------------------------------------------------------- */

static int copy_image(Restore *restore)
{
    static uint8_t piece[PIECE];
    int code = target_open(&restore->target);
    size_t got = PIECE;

    while (code == EXIT_DONE && got == PIECE) {
        got = read_some(restore, piece, PIECE);
        if (target_write(&restore->target, piece, got) != SAP_OK) {
            return EXIT_FAILED;
        }
    }
    if (code == EXIT_DONE && restore->read_error != 0) {
        return backup_failed(restore, SAP_IO);
    }
    return code == EXIT_DONE && target_flush(&restore->target) != SAP_OK ? EXIT_FAILED : code;
}

/* A stream becomes a database beside the target, and that a single file. */
static int build_from_stream(Restore *restore)
{
    Buf work = {0};
    SapEnv *db = NULL;
    SapOpenOptions options = {.flags = SAP_OPEN_CREATE | SAP_OPEN_EXCLUSIVE,
                              .page_size = restore->page_size,
                              .sync_mode = SAP_SYNC_NONE,
                              .on_message = on_message,
                              .callback_ctx = restore};

    if (buf_printf(&work, "%s-work%c", restore->target.temp, '\0') != SAP_OK) {
        return ui_no_memory(restore->call->ui);
    }
    int rc = sap_db_open_path((const char *)work.data, &options, &db);
    if (rc == SAP_OK) {
        rc = sap_db_restore(db, read_exactly, restore);
        rc = rc == SAP_OK ? sap_db_compact(db, restore->target.temp) : rc;
        int closed = sap_db_close(db);
        rc = rc == SAP_OK ? closed : rc;
    }
    target_remove_db((const char *)work.data);
    buf_release(&work);
    return rc == SAP_OK          ? EXIT_DONE
           : interrupt_pending() ? EXIT_FAILED
                                 : backup_failed(restore, rc);
}

static int check_new(Restore *restore)
{
    SapOpenOptions options = {
        .flags = SAP_OPEN_RDONLY, .on_message = on_message, .callback_ctx = restore};
    SapEnv *db = NULL;
    int rc = sap_db_open_path(restore->target.temp, &options, &db);

    if (rc == SAP_OK) {
        rc = sap_db_verify(db, on_finding, restore);
        int closed = sap_db_close(db);
        rc = rc == SAP_OK ? closed : rc;
    }
    return rc == SAP_OK ? EXIT_DONE : backup_failed(restore, rc);
}

/* ---- The place -------------------------------------------------------------------------------- */

static bool place_is_empty(const Restore *restore)
{
    return access(restore->path, F_OK) != 0 && !target_has_log(restore->path);
}

static int made_meanwhile(const Restore *restore)
{
    return ui_fail(restore->call->ui, EXIT_CONFLICT,
                   "choose another name, or replace it with --force",
                   "%s was made by another process meanwhile", restore->path);
}

/* Keeps everybody out of the place. */
static int lock_place(Restore *restore)
{
    const Ui *ui = restore->call->ui;
    int64_t pid = 0;
    int rc = owner_lock(&restore->owner, restore->path, false, &pid);

    if (rc == SAP_BUSY) {
        char who[UI_TEXT] = "a process that reads it";
        if (pid != 0) {
            (void)snprintf(who, sizeof who, "process %" PRId64, pid);
        }
        return ui_fail(ui, EXIT_CONFLICT, "end it, or restore under another name",
                       "%s is open in %s", restore->path, who);
    }
    restore->locked = rc == SAP_OK;
    return rc == SAP_OK ? EXIT_DONE : target_failed(&restore->target, "write", errno);
}

/* Takes the place if something is there, and asks first. An empty one is taken by hold_place(), so that
 * a backup that cannot be restored leaves nothing there. */
static int take_place(Restore *restore)
{
    const Call *call = restore->call;
    char question[MESSAGE];

    if (place_is_empty(restore)) {
        return EXIT_DONE;
    }
    if (call_has(call, OPTION_FORCE)) {
        (void)snprintf(question, sizeof question, "replace the database %.200s by %.100s",
                       restore->path, restore->backup);
        int code = ui_confirm(call->ui, call_has(call, OPTION_YES), question);
        return code == EXIT_DONE ? lock_place(restore) : code;
    }
    int code = lock_place(restore);
    if (code != EXIT_DONE || place_is_empty(restore)) {
        return code;
    }
    return access(restore->path, F_OK) == 0
               ? made_meanwhile(restore)
               : ui_fail(call->ui, EXIT_CONFLICT,
                         "restore its data file, or replace both with --force",
                         "%s is missing, but its log is there", restore->path);
}

/* Takes the lock of the target before it is looked at. Without the lock, another process that makes a
 * database of the same name could rename its new file over the restored one. */
static int hold_place(Restore *restore)
{
    if (restore->locked) {
        return EXIT_DONE;
    }
    int code = lock_place(restore);
    return code == EXIT_DONE && !place_is_empty(restore) ? made_meanwhile(restore) : code;
}

static int restore_all(Restore *restore)
{
    int code = !is_stream(restore) ? copy_image(restore) : build_from_stream(restore);

    progress_end(&restore->progress);
    if (code == EXIT_DONE && !interrupt_pending()) {
        code = check_new(restore);
    }
    if (code == EXIT_DONE && !interrupt_pending()) {
        code = hold_place(restore);
    }
    code = db_finish_target(restore->call, restore->path, &restore->target, NULL, code);
    return code == EXIT_DONE ? target_remove_log(&restore->target) : code;
}

/* ---- The call ---------------------------------------------------------------------------------- */

static int open_backup(Restore *restore, const char *name)
{
    const Ui *ui = restore->call->ui;

    restore->fd = strcmp(name, "-") == 0 ? STDIN_FILENO : fd_open(name, O_RDONLY, 0);
    if (restore->fd < 0) {
        return ui_fail(ui, errno == ENOENT ? EXIT_NOT_FOUND : EXIT_FAILED, NULL,
                       "cannot read %s: %s", name, strerror(errno));
    }
    size_t got = read_some(restore, restore->start, sizeof restore->start);
    if (restore->read_error != 0) {
        return backup_failed(restore, SAP_IO);
    }
    restore->start_len = got;
    if (!is_stream(restore) && !target_is_image(restore->start, restore->start_len)) {
        return ui_fail(ui, EXIT_CORRUPT,
                       "a dump or CSV is loaded: sapling db load; what is compressed comes through "
                       "a pipe",
                       "%s is no backup: neither an image nor a stream", restore->backup);
    }
    restore->bytes = 0;
    return EXIT_DONE;
}

static int report(const Restore *restore)
{
    const Ui *ui = restore->call->ui;
    double seconds = progress_seconds(&restore->progress);
    char size[UI_TEXT];
    char time[UI_TEXT];

    if (ui->json) {
        return ui_object(ui, json_pack("{s:o,s:I,s:f}", "file", json_text(restore->path), "bytes",
                                       (json_int_t)restore->target.size, "seconds", seconds));
    }
    ui_note(ui, "%s: %s, checked, in %s", restore->path, ui_bytes(restore->target.size, size),
            ui_seconds(seconds, time));
    return EXIT_DONE;
}

int db_restore_verb(const Call *call)
{
    const char *backup = call_operand(call, 0);
    Restore restore = {.call = call,
                       .backup = strcmp(backup, "-") == 0 ? "standard input" : backup,
                       .path = call_operand(call, 1),
                       .fd = -1,
                       .owner = OWNER_NONE};
    struct stat source = {0};
    int code = db_page_size(call, &restore.page_size);

    progress_start(&restore.progress, call->ui, "restore", true, 0);
    interrupt_hold();
    if (code == EXIT_DONE) {
        code = open_backup(&restore, backup);
    }
    if (code == EXIT_DONE) {
        (void)fstat(restore.fd, &source);
        code = target_start(&restore.target, call->ui, restore.path, &source,
                            call_has(call, OPTION_FORCE));
        if (code == EXIT_DONE) {
            code = take_place(&restore);
        }
        if (code == EXIT_DONE) {
            code = restore_all(&restore);
        } else {
            (void)target_abandon(&restore.target);
        }
    }
    owner_release(&restore.owner);
    if (restore.fd >= 0 && restore.fd != STDIN_FILENO) {
        (void)close(restore.fd);
    }
    return code == EXIT_DONE ? report(&restore) : code;
}
