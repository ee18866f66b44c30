/* queue_look.c - peek and stat: what is in queues. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/db.h"
#include "cli/queue.h"
#include "common/clock.h"

enum {
    LINE_MOST = 1024, /* a line of peek, and an object without what is of the message itself */
    ESCAPE_MOST = 6,  /* bytes of JSON for one of a message */
};

/* ---- peek -------------------------------------------------------------------------------------- */

typedef struct Show {
    const Call *call;
    const char *queue;
    const Access *access;
    bool served;   /* or read-only, since no owner can be had */
    size_t held;   /* bytes of output at most */
    bool too_long; /* more than standard output holds back: nothing of it was written */
    bool headed;
    Buf text;
    int code; /* what ended it, if not EXIT_DONE */
} Show;

/* A message with a due time waits for its next attempt, or was pushed with a delay. Once the time is
 * over it can be claimed. */
static const char *state_of(const AccessMessage *message)
{
    return message->leased                          ? "leased"
           : message->due_ms <= clock_wall_ms(NULL) ? "ready"
           : message->attempts > 0                  ? "retry"
                                                    : "delayed";
}

static int show_json(const Show *show, const AccessMessage *message)
{
    json_t *object = queue_message_json(show->queue, message);

    if (object == NULL ||
        json_object_set_new(object, "state", json_string(state_of(message))) != 0 ||
        (message->due_ms != 0 && json_set_int(object, "due_ms", message->due_ms) != 0) ||
        (message->leased && json_set_int(object, "lease_until_ms", message->deadline_ms) != 0) ||
        json_set_bytes(object, "payload", message->payload) != 0) {
        json_decref(object);
        return ui_no_memory(show->call->ui);
    }
    return ui_object(show->call->ui, object);
}

static int show_text(Show *show, const AccessMessage *message)
{
    char age[UI_TEXT];
    char due[UI_TEXT];

    if (!show->headed) {
        (void)printf("%8s  %-7s  %8s  %10s  %10s  %-32s  %s\n", "SEQ", "STATE", "ATTEMPTS",
                     "DUE IN", "AGE", "ID", "PAYLOAD");
        show->headed = true;
    }
    buf_clear(&show->text);
    int rc = buf_printf(&show->text, "%8" PRIu64 "%s %-7s  %8" PRIu32 "  %10s  %10s  ",
                        queue_number(message->seq), queue_is_high(message->seq) ? "!" : " ",
                        state_of(message), message->attempts, queue_due(message->due_ms, due),
                        queue_age(message->sent_ms, age));
    size_t start = show->text.len;
    rc = rc == SAP_OK ? queue_id_text(&show->text, message->id) : rc;
    rc = rc == SAP_OK ? queue_pad(&show->text, start, 32) : rc;
    rc = rc == SAP_OK ? queue_preview(&show->text, message->payload) : rc;
    rc = rc == SAP_OK ? buf_append_u8(&show->text, '\n') : rc;
    if (rc != SAP_OK) {
        return ui_no_memory(show->call->ui);
    }
    return fwrite(show->text.data, 1, show->text.len, stdout) == show->text.len
               ? EXIT_DONE
               : ui_finish(show->call->ui);
}

static int show_message(const AccessMessage *message, void *ctx)
{
    Show *show = (Show *)ctx;
    size_t bytes = message->id.len + message->trace.len + message->payload.len;

    /* A lock is not kept while somebody reads the output. */
    show->held += LINE_MOST + (show->call->ui->json ? ESCAPE_MOST * bytes : 0);
    show->too_long = !show->served && show->held > UI_HELD && !access_is_remote(show->access);
    if (show->too_long) {
        return SAP_IO;
    }
    show->code = show->call->ui->json ? show_json(show, message) : show_text(show, message);
    return show->code == EXIT_DONE ? SAP_OK : SAP_IO;
}

static int peek_into(Show *show, const char *path, uint64_t limit, const AccessOptions *options)
{
    const Call *call = show->call;
    Access *access = NULL;
    int code = file_open(call, path, options, &access);

    if (code != EXIT_DONE) {
        return code;
    }
    show->access = access;
    code = queue_find(call, path, access, show->queue);
    if (code == EXIT_DONE) {
        int rc = access_queue_peek(access, show->queue, limit, show_message, show);
        code = show->code != EXIT_DONE          ? show->code
               : rc == SAP_OK || show->too_long ? EXIT_DONE
                                                : db_failed(call, path, access, rc);
    }
    return file_close(call, path, access, code);
}

/* What is short is printed when the file is closed. What is not is begun again as an owner that serves
 * the file: there a queue is opened with a commit, which a short look does without. */
int queue_peek_verb(const Call *call)
{
    const char *path = call_operand(call, 0);
    Show show = {.call = call};
    uint64_t limit = 0;
    int code = queue_name(call, &show.queue);

    if (code == EXIT_DONE) {
        code = call_number(call, OPTION_LIMIT, 1, UINT64_MAX, 10, &limit);
    }
    if (code == EXIT_DONE) {
        code = peek_into(&show, path, limit, &(AccessOptions){.flags = ACCESS_READ});
    }
    if (code == EXIT_DONE && show.too_long) {
        ui_drop_output();
        show.headed = false;
        show.served = true;
        code = peek_into(&show, path, limit, &db_reading);
    }
    buf_release(&show.text);
    return code;
}

/* ---- stat -------------------------------------------------------------------------------------- */

/* Names, each ended by NUL. */
static int add_name(const char *name, void *ctx)
{
    return buf_append((Buf *)ctx, name, strlen(name) + 1);
}

typedef struct Stats {
    const Call *call;
    const char *path;
    bool headed; /* something was shown */
    int code;    /* what ended it, if not EXIT_DONE */
} Stats;

/* Prints the figures of a queue or, with name NULL, of a worker that is not a queue. */
static int stat_json(const Call *call, const char *name, uint64_t worker, const SapQueueStat *stat)
{
    json_t *object = json_object();

    if (object == NULL ||
        (name != NULL ? json_set_bytes(object, "queue", slice_from_str(name))
                      : json_set_int(object, "worker", (int64_t)worker)) != 0 ||
        json_set_int(object, "ready", (int64_t)stat->ready) != 0 ||
        json_set_int(object, "leased", (int64_t)stat->leased) != 0 ||
        json_set_int(object, "delayed", (int64_t)stat->delayed) != 0 ||
        json_set_int(object, "retrying", (int64_t)stat->retrying) != 0 ||
        json_set_int(object, "dead_letters", (int64_t)stat->dead_letters) != 0 ||
        (stat->oldest_ms > 0 && json_set_int(object, "oldest_ms", stat->oldest_ms) != 0)) {
        json_decref(object);
        return ui_no_memory(call->ui);
    }
    return ui_object(call->ui, object);
}

static void stat_text(const Stats *stats, const char *name, const SapQueueStat *stat)
{
    char age[UI_TEXT];
    char shown[QUEUE_SHOWN];

    if (!stats->headed) {
        (void)printf("%-24s %10s %10s %10s %10s %10s  %s\n", "QUEUE", "READY", "LEASED", "DELAYED",
                     "RETRY", "DEAD", "OLDEST");
    }
    (void)printf("%-24s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64
                 "  %s\n",
                 queue_shown(slice_from_str(name), shown), stat->ready, stat->leased, stat->delayed,
                 stat->retrying, stat->dead_letters, queue_age(stat->oldest_ms, age));
}

static int stat_queues(Stats *stats, Access *access, const Buf *names)
{
    const Call *call = stats->call;
    int code = EXIT_DONE;

    for (size_t at = 0; at < names->len && code == EXIT_DONE;) {
        const char *name = (const char *)names->data + at;
        SapQueueStat stat;
        int rc = access_queue_stat(access, name, &stat);
        if (rc != SAP_OK) {
            return db_failed(call, stats->path, access, rc);
        }
        if (call->ui->json) {
            code = stat_json(call, name, 0, &stat);
        } else {
            stat_text(stats, name, &stat);
        }
        stats->headed = true;
        at += strlen(name) + 1;
    }
    return code;
}

static int show_inbox(uint64_t worker, const SapQueueStat *stat, void *ctx)
{
    Stats *stats = (Stats *)ctx;
    char name[UI_TEXT];

    if (stats->call->ui->json) {
        stats->code = stat_json(stats->call, NULL, worker, stat);
    } else {
        (void)snprintf(name, sizeof name, "worker %" PRIu64, worker);
        stat_text(stats, name, stat);
    }
    stats->headed = true;
    return stats->code == EXIT_DONE ? SAP_OK : SAP_IO;
}

static int stat_all(Stats *stats, Access *access)
{
    Buf names = {0};
    int rc = access_queues(access, add_name, &names);
    int code = rc == SAP_OK ? stat_queues(stats, access, &names)
                            : db_failed(stats->call, stats->path, access, rc);

    buf_release(&names);
    if (code != EXIT_DONE) {
        return code;
    }
    rc = access_inboxes(access, show_inbox, stats);
    if (stats->code != EXIT_DONE || rc != SAP_OK) {
        return stats->code != EXIT_DONE ? stats->code
                                        : db_failed(stats->call, stats->path, access, rc);
    }
    if (!stats->headed) {
        ui_note(stats->call->ui, "%s has no queues", stats->path);
    }
    return EXIT_DONE;
}

static int stat_one(Stats *stats, Access *access, const char *name)
{
    Buf names = {0};
    int code = queue_find(stats->call, stats->path, access, name);

    if (code == EXIT_DONE) {
        code = add_name(name, &names) == SAP_OK ? stat_queues(stats, access, &names)
                                                : ui_no_memory(stats->call->ui);
    }
    buf_release(&names);
    return code;
}

int queue_stat_verb(const Call *call)
{
    Stats stats = {.call = call, .path = call_operand(call, 0)};
    const char *only = call_value(call, OPTION_QUEUE);
    Access *access = NULL;
    int code = file_open(call, stats.path, &(AccessOptions){.flags = ACCESS_READ}, &access);

    if (code != EXIT_DONE) {
        return code;
    }
    code = only != NULL ? stat_one(&stats, access, only) : stat_all(&stats, access);
    return file_close(call, stats.path, access, code);
}
