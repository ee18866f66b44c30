/* queue_replay_log.c - replay-log: what a replay hook wrote down, as a story for each message.
 *
 * A log is records as sap_runner_v0_replay_encode() makes them. What comes before damage is shown;
 * then it is told where the damage is. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/format.h"
#include "cli/queue.h"
#include "common/fd.h"

enum { READ_SIZE = 1 << 20 };

typedef struct Event {
    SapRunnerV0ReplayEvent event;
    SapRunnerV0Message message; /* if it decodes */
    bool decoded;
    int64_t time_ms;
    uint32_t attempt; /* of its message, in this log: 1, 2, ... */
    size_t next;      /* event of the same message; 0: none */
} Event;

typedef struct Log {
    const Call *call;
    Buf bytes;
    Event *events;
    size_t count;
    size_t room;
    size_t damage_at; /* what does not decode begins there, if it is not the end */
    const char *damage;
} Log;

static const char *kind_name(SapRunnerV0ReplayKind kind)
{
    switch (kind) {
    case SAP_RUNNER_V0_REPLAY_INBOX_ATTEMPT:
        return "attempt";
    case SAP_RUNNER_V0_REPLAY_INBOX_RESULT:
        return "result";
    case SAP_RUNNER_V0_REPLAY_TIMER_ATTEMPT:
        return "timer_attempt";
    case SAP_RUNNER_V0_REPLAY_TIMER_RESULT:
        return "timer_result";
    case SAP_RUNNER_V0_REPLAY_REQUEUE:
        return "requeue";
    case SAP_RUNNER_V0_REPLAY_DEAD_LETTER:
        return "dead_letter";
    }
    return "?";
}

static bool is_attempt(const Event *e)
{
    return e->event.kind == SAP_RUNNER_V0_REPLAY_INBOX_ATTEMPT ||
           e->event.kind == SAP_RUNNER_V0_REPLAY_TIMER_ATTEMPT;
}

static bool is_result(const Event *e)
{
    return e->event.kind == SAP_RUNNER_V0_REPLAY_INBOX_RESULT ||
           e->event.kind == SAP_RUNNER_V0_REPLAY_TIMER_RESULT;
}

/* ---- Reading ----------------------------------------------------------------------------------- */

static int read_file(const Call *call, const char *path, Buf *out)
{
    int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : fd_open(path, O_RDONLY, 0);
    int code = EXIT_DONE;

    if (fd < 0) {
        return ui_fail(call->ui, errno == ENOENT ? EXIT_NOT_FOUND : EXIT_FAILED, NULL,
                       "cannot read %s: %s", path, strerror(errno));
    }
    for (ssize_t got = 1; got != 0 && code == EXIT_DONE;) {
        if (buf_reserve(out, READ_SIZE) != SAP_OK) {
            code = ui_no_memory(call->ui);
            break;
        }
        got = read(fd, out->data + out->len, READ_SIZE);
        if (got < 0 && errno != EINTR) {
            code =
                ui_fail(call->ui, EXIT_FAILED, NULL, "cannot read %s: %s", path, strerror(errno));
        }
        out->len += got > 0 ? (size_t)got : 0;
    }
    if (fd != STDIN_FILENO) {
        (void)close(fd);
    }
    return code;
}

static bool add_event(Log *log, const Event *event)
{
    if (log->count == log->room) {
        size_t room = log->room == 0 ? 1024 : log->room * 2;
        Event *events = (Event *)realloc(log->events, room * sizeof *events);
        if (events == NULL) {
            return false;
        }
        log->events = events;
        log->room = room;
    }
    log->events[log->count++] = *event;
    return true;
}

/* Reads events until the end, or to the first that does not decode. */
static int read_events(Log *log)
{
    size_t at = 0;

    while (at < log->bytes.len) {
        Event e = {0};
        uint32_t len = 0;
        int rc = sap_runner_v0_replay_decode(log->bytes.data + at, log->bytes.len - at, &e.event,
                                             &e.time_ms, &len);
        if (rc == SAP_NOMEM) {
            return ui_no_memory(log->call->ui);
        }
        if (rc != SAP_OK) {
            log->damage_at = at;
            log->damage = rc == SAP_NOTFOUND ? "the last record is cut off" : "it is no record";
            break;
        }
        e.decoded = sap_runner_wire_v0_decode_message(e.event.frame, e.event.frame_len,
                                                      &e.message) == SAP_RUNNER_WIRE_OK;
        if (!add_event(log, &e)) {
            return ui_no_memory(log->call->ui);
        }
        at += len;
    }
    return EXIT_DONE;
}

/* ---- Messages ---------------------------------------------------------------------------------- */

/* What events of one message have in common: its id, or where there is none the whole frame. */
static Slice identity(const Event *e)
{
    return e->decoded ? (Slice){e->message.message_id, e->message.message_id_len}
                      : (Slice){e->event.frame, e->event.frame_len};
}

static bool same(const Event *a, const Event *b)
{
    Slice x = identity(a);
    Slice y = identity(b);

    return a->decoded == b->decoded && x.len == y.len &&
           (x.len == 0 || memcmp(x.data, y.data, x.len) == 0);
}

/* Orders by message, then by place in the log. */
static int by_message(const void *a, const void *b, void *ctx)
{
    const Log *log = (const Log *)ctx;
    size_t i = *(const size_t *)a;
    size_t j = *(const size_t *)b;
    Slice x = identity(&log->events[i]);
    Slice y = identity(&log->events[j]);
    size_t least = x.len < y.len ? x.len : y.len;
    int order = least == 0 ? 0 : memcmp(x.data, y.data, least);

    if (order == 0) {
        order = (x.len > y.len) - (x.len < y.len);
    }
    if (order == 0) {
        order = (int)log->events[i].decoded - (int)log->events[j].decoded;
    }
    return order != 0 ? order : (i > j) - (i < j);
}

/* Chains the events of each message and numbers its attempts. *first_out: whether the event is the
 * first of its message. Caller frees. */
static int link_messages(Log *log, bool **first_out)
{
    size_t *order = (size_t *)calloc(log->count + 1, sizeof *order);
    bool *first = (bool *)calloc(log->count + 1, sizeof *first);

    if (order == NULL || first == NULL) {
        free(order);
        free(first);
        return ui_no_memory(log->call->ui);
    }
    for (size_t i = 0; i < log->count; i++) {
        order[i] = i;
    }
    qsort_r(order, log->count, sizeof *order, by_message, log);
    for (size_t i = 0; i < log->count; i++) {
        Event *e = &log->events[order[i]];
        const Event *before = i > 0 ? &log->events[order[i - 1]] : NULL;
        bool goes_on = before != NULL && same(before, e);
        first[order[i]] = !goes_on;
        e->attempt = (goes_on ? before->attempt : 0) + (is_attempt(e) ? 1 : 0);
        if (goes_on) {
            log->events[order[i - 1]].next = order[i];
        }
    }
    free(order);
    *first_out = first;
    return EXIT_DONE;
}

static bool wanted(const Log *log, const Event *e)
{
    const char *id = call_value(log->call, OPTION_MESSAGE);
    Buf text = {0};

    if (id == NULL) {
        return true;
    }
    bool is = e->decoded && queue_id_text(&text, identity(e)) == SAP_OK && text.len == strlen(id) &&
              (text.len == 0 || memcmp(text.data, id, text.len) == 0);
    buf_release(&text);
    return is;
}

/* ---- Showing ----------------------------------------------------------------------------------- */

static int print_json(const Log *log, const Event *e)
{
    json_t *object = json_object();
    const SapRunnerV0Message *m = &e->message;
    bool ok = object != NULL && json_set_int(object, "time_ms", e->time_ms) == 0 &&
              json_object_set_new(object, "event", json_string(kind_name(e->event.kind))) == 0 &&
              json_set_int(object, "worker", e->event.worker_id) == 0 &&
              json_set_int(object, "seq", (int64_t)queue_number(e->event.seq)) == 0 &&
              json_set_int(object, "attempt", e->attempt) == 0 &&
              json_set_int(object, "rc", e->event.rc) == 0;

    if (ok && e->event.rc != SAP_OK) {
        ok = json_object_set_new(object, "error", json_text(sap_strerror(e->event.rc))) == 0;
    }
    if (ok && e->decoded) {
        ok = json_set_bytes(object, "id", identity(e)) == 0 &&
             json_set_int(object, "to_worker", m->to_worker) == 0 &&
             json_set_int(object, "sent_ms", m->route_timestamp) == 0 &&
             (m->trace_id == NULL ||
              json_set_bytes(object, "trace_id", (Slice){m->trace_id, m->trace_id_len}) == 0) &&
             json_set_bytes(object, "payload", (Slice){m->payload, m->payload_len}) == 0;
    } else if (ok) {
        ok = json_set_bytes(object, "frame", identity(e)) == 0;
    }
    if (!ok) {
        json_decref(object);
        return ui_no_memory(log->call->ui);
    }
    return ui_object(log->call->ui, object);
}

static void print_time(int64_t time_ms)
{
    time_t seconds = (time_t)(time_ms / 1000);
    struct tm tm;
    char text[32] = "?";

    if (time_ms >= 0 && gmtime_r(&seconds, &tm) != NULL) {
        (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    }
    (void)printf("%s.%03dZ", text, time_ms >= 0 ? (int)(time_ms % 1000) : 0);
}

static int print_heading(const Log *log, const Event *e)
{
    const SapRunnerV0Message *m = &e->message;
    Buf text = {0};
    int rc = buf_append_str(&text, "message ");

    if (e->decoded) {
        rc = rc == SAP_OK ? queue_id_text(&text, identity(e)) : rc;
        rc = rc == SAP_OK ? buf_printf(&text, " to worker %" PRId64, m->to_worker) : rc;
        if (m->trace_id != NULL && rc == SAP_OK) {
            rc = buf_append_str(&text, ", trace ");
            rc = rc == SAP_OK ? queue_id_text(&text, (Slice){m->trace_id, m->trace_id_len}) : rc;
        }
        rc = rc == SAP_OK ? buf_append_str(&text, ": ") : rc;
        rc = rc == SAP_OK ? queue_preview(&text, (Slice){m->payload, m->payload_len}) : rc;
    } else {
        rc = rc == SAP_OK ? buf_append_str(&text, "that does not decode: ") : rc;
        rc = rc == SAP_OK ? queue_preview(&text, identity(e)) : rc;
    }
    rc = rc == SAP_OK ? buf_append_u8(&text, '\n') : rc;
    if (rc == SAP_OK) {
        (void)fwrite(text.data, 1, text.len, stdout);
    }
    buf_release(&text);
    return rc == SAP_OK ? EXIT_DONE : ui_no_memory(log->call->ui);
}

static void print_event(const Event *e)
{
    bool timer = e->event.kind == SAP_RUNNER_V0_REPLAY_TIMER_ATTEMPT ||
                 e->event.kind == SAP_RUNNER_V0_REPLAY_TIMER_RESULT;

    (void)fputs("  ", stdout);
    print_time(e->time_ms);
    (void)printf("  worker %" PRId64 "  %s %" PRIu64 "  ", e->event.worker_id,
                 timer ? "timer" : "seq", queue_number(e->event.seq));
    if (is_attempt(e)) {
        (void)printf("attempt %" PRIu32 "\n", e->attempt);
    } else if (is_result(e)) {
        (void)printf("attempt %" PRIu32 " ended: %s\n", e->attempt, sap_strerror(e->event.rc));
    } else {
        (void)printf("%s: %s\n",
                     e->event.kind == SAP_RUNNER_V0_REPLAY_REQUEUE ? "put back" : "given up",
                     sap_strerror(e->event.rc));
    }
}

static int show(const Log *log, const bool *first, size_t *shown)
{
    int code = EXIT_DONE;

    for (size_t i = 0; i < log->count && code == EXIT_DONE; i++) {
        if (!wanted(log, &log->events[i])) {
            continue;
        }
        (*shown)++;
        if (log->call->ui->json) {
            code = print_json(log, &log->events[i]);
        } else if (first != NULL && first[i]) {
            code = print_heading(log, &log->events[i]);
            print_event(&log->events[i]);
            for (size_t j = log->events[i].next; j != 0; j = log->events[j].next) {
                print_event(&log->events[j]);
            }
        }
    }
    return code;
}

int queue_replay_log_verb(const Call *call)
{
    const char *path = call_operand(call, 0);
    const char *id = call_value(call, OPTION_MESSAGE);
    Log log = {.call = call};
    bool *first = NULL;
    size_t shown = 0;
    int code = read_file(call, path, &log.bytes);

    code = code == EXIT_DONE ? read_events(&log) : code;
    code = code == EXIT_DONE ? link_messages(&log, &first) : code;
    code = code == EXIT_DONE ? show(&log, first, &shown) : code;
    if (code == EXIT_DONE && log.damage != NULL) {
        code = ui_fail(call->ui, EXIT_CORRUPT, "what comes before it is shown",
                       "%s is damaged at byte %zu: %s", path, log.damage_at, log.damage);
    } else if (code == EXIT_DONE && id != NULL && shown == 0) {
        code = ui_fail(call->ui, EXIT_NOT_FOUND, NULL, "%s has no event of message '%s'", path, id);
    }
    free(first);
    free(log.events);
    buf_release(&log.bytes);
    return code;
}
