/* queue_push.c - push: messages from arguments, lines or all of standard input. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/db.h"
#include "cli/interrupt.h"
#include "cli/queue.h"

enum { READ_SIZE = 64 << 10, BATCH_MOST = 1000 };

typedef struct Push {
    const Call *call;
    const char *path;
    const char *queue;
    Access *access;
    AccessPush how;
} Push;

static int say_numbers(const Push *push, const uint64_t *seqs, uint32_t count)
{
    /* What is delayed has the number of its timer, and gets one of the queue when it comes. */
    const char *name = push->how.delay_ms > 0 ? "timer" : "seq";
    int code = EXIT_DONE;

    for (uint32_t i = 0; i < count && code == EXIT_DONE; i++) {
        uint64_t number = queue_number(seqs[i]);
        if (!push->call->ui->json) {
            (void)printf("%" PRIu64 "\n", number);
            continue;
        }
        json_t *object = json_object();
        if (object == NULL || json_set_bytes(object, "queue", slice_from_str(push->queue)) != 0 ||
            json_set_int(object, name, (int64_t)number) != 0) {
            json_decref(object);
            return ui_no_memory(push->call->ui);
        }
        code = ui_object(push->call->ui, object);
    }
    return code == EXIT_DONE
               ? ui_finish_after(push->call->ui, "the messages are in the queue: only "
                                                 "their numbers were not printed")
               : code;
}

static int push_some(const Push *push, const Slice *payloads, uint32_t count)
{
    uint64_t *seqs = (uint64_t *)calloc(count, sizeof *seqs);

    if (seqs == NULL) {
        return ui_no_memory(push->call->ui);
    }
    int rc = access_queue_push(push->access, push->queue, &push->how, payloads, count, seqs);
    int code = rc == SAP_OK ? say_numbers(push, seqs, count)
                            : db_failed(push->call, push->path, push->access, rc);
    free(seqs);
    return code;
}

static int push_arguments(const Push *push)
{
    uint32_t count = push->call->operand_count - 1;
    Slice *payloads = (Slice *)calloc(count, sizeof *payloads);

    if (payloads == NULL) {
        return ui_no_memory(push->call->ui);
    }
    for (uint32_t i = 0; i < count; i++) {
        payloads[i] = slice_from_str(call_operand(push->call, i + 1));
    }
    int code = push_some(push, payloads, count);
    free(payloads);
    return code;
}

/* Appends what there is to read. EXIT_DONE with nothing more: *ended_out. */
static int read_more(const Push *push, Buf *in, bool *ended_out)
{
    if (buf_reserve(in, READ_SIZE) != SAP_OK) {
        return ui_no_memory(push->call->ui);
    }
    ssize_t got = interrupt_read(STDIN_FILENO, in->data + in->len, READ_SIZE);
    if (got < 0 && errno != EINTR) {
        return ui_fail(push->call->ui, EXIT_FAILED, NULL, "cannot read standard input: %s",
                       strerror(errno));
    }
    *ended_out = got == 0;
    in->len += got > 0 ? (size_t)got : 0;
    if (in->len > SAP_RUNNER_V0_MAX_FRAME) {
        return ui_fail(push->call->ui, EXIT_FAILED, NULL, "a message has at most %u bytes",
                       SAP_RUNNER_V0_MAX_FRAME);
    }
    return EXIT_DONE;
}

/* Pushes the whole lines of `in`, at its end also what has no line end, and leaves the rest. */
static int push_whole_lines(const Push *push, Buf *in, bool ended)
{
    Slice lines[BATCH_MOST];
    uint32_t count = 0;
    size_t at = 0;
    int code = EXIT_DONE;

    while (at < in->len && code == EXIT_DONE) {
        const uint8_t *line = in->data + at;
        const uint8_t *end = (const uint8_t *)memchr(line, '\n', in->len - at);
        if (end == NULL && !ended) {
            break;
        }
        size_t len = end == NULL ? in->len - at : (size_t)(end - line);
        lines[count++] = (Slice){line, len};
        at += len + (end == NULL ? 0 : 1);
        if (count == BATCH_MOST) {
            code = push_some(push, lines, count);
            count = 0;
        }
    }
    if (count > 0 && code == EXIT_DONE) {
        code = push_some(push, lines, count);
    }
    if (at > 0) {
        memmove(in->data, in->data + at, in->len - at);
        buf_truncate(in, in->len - at);
    }
    return code;
}

static int push_lines(const Push *push)
{
    Buf in = {0};
    bool ended = false;
    int code = EXIT_DONE;

    interrupt_hold();
    while (!ended && code == EXIT_DONE && !interrupt_pending()) {
        code = read_more(push, &in, &ended);
        code = code == EXIT_DONE ? push_whole_lines(push, &in, ended) : code;
    }
    buf_release(&in);
    if (code == EXIT_DONE && !ended) {
        code = ui_fail(push->call->ui, EXIT_INTERRUPTED,
                       "the messages whose numbers were printed are in the queue", "interrupted");
    }
    return code;
}

static int read_raw(const Push *push, Buf *in)
{
    bool ended = false;
    int code = EXIT_DONE;

    while (!ended && code == EXIT_DONE) {
        code = read_more(push, in, &ended);
    }
    return code;
}

static bool only_operand_is_dash(const Call *call)
{
    return call->operand_count == 2 && strcmp(call_operand(call, 1), "-") == 0;
}

static int check(const Call *call, Push *push, bool *lines_out)
{
    const char *priority = call_value(call, OPTION_PRIORITY);
    const char *id = call_value(call, OPTION_ID);
    const char *trace = call_value(call, OPTION_TRACE);
    bool raw = call_has(call, OPTION_RAW);
    uint64_t delay_ms = 0;
    int code = queue_name(call, &push->queue);

    *lines_out = only_operand_is_dash(call) && !raw;
    if (code == EXIT_DONE) {
        code = call_duration(call, OPTION_DELAY, 0, INT64_MAX / 2, 0, &delay_ms);
    }
    if (code != EXIT_DONE) {
        return code;
    }
    if (call->operand_count == 1 && !raw) {
        return call_usage(call, "push what? Messages, or - for lines of standard input, or --raw");
    }
    if (raw && call->operand_count > 1 && !only_operand_is_dash(call)) {
        return call_usage(call, "--raw is all of standard input: without other messages");
    }
    if (id != NULL && (*lines_out || call->operand_count > 2)) {
        return call_usage(call, "--id is for one message");
    }
    if (id != NULL && id[0] == '\0') {
        return call_usage(call, "--id is empty");
    }
    if (call_has(call, OPTION_DEDUPE) && id == NULL) {
        return call_usage(call, "--dedupe goes by the id of a message: give one with --id");
    }
    push->how = (AccessPush){.id = slice_from_str(id),
                             .trace = slice_from_str(trace),
                             .dedupe = call_has(call, OPTION_DEDUPE),
                             .high_priority = priority != NULL && strcmp(priority, "high") == 0,
                             .delay_ms = (int64_t)delay_ms};
    return EXIT_DONE;
}

int queue_push_verb(const Call *call)
{
    Push push = {.call = call, .path = call_operand(call, 0)};
    AccessOptions options = {.flags = ACCESS_CREATE};
    Buf in = {0};
    bool lines = false;
    bool raw = call_has(call, OPTION_RAW);
    int code = check(call, &push, &lines);

    if (code == EXIT_DONE && raw) {
        code = read_raw(&push, &in);
    }
    if (code == EXIT_DONE) {
        options.flags |= lines ? ACCESS_SERVE : 0; /* lines may take their time to come */
        code = file_open(call, push.path, &options, &push.access);
    }
    if (code == EXIT_DONE) {
        code = lines ? push_lines(&push)
               : raw ? push_some(&push, &(Slice){in.data, in.len}, 1)
                     : push_arguments(&push);
        code = file_close(call, push.path, push.access, code);
    }
    buf_release(&in);
    return code;
}
