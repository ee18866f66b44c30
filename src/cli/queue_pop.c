/* queue_pop.c - pop: takes messages out of a queue, and prints them or runs a command for each.
 *
 * A message is acknowledged once it has been written, or its command has ended well; what goes wrong
 * before that leaves it in the queue. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/db.h"
#include "cli/interrupt.h"
#include "cli/queue.h"
#include "common/clock.h"

enum {
    BATCH_MOST = 100, /* printed and acknowledged at once */
    SLICE_MS = 200,   /* between looks whether there was a signal */
};

void claimed_release(Claimed *claimed)
{
    buf_release(&claimed->bytes);
}

int pop_open(Pop *pop, uint32_t patience_ms)
{
    AccessOptions options = {.flags = ACCESS_SERVE, .patience_ms = patience_ms};

    return file_open(pop->call, pop->path, &options, &pop->access);
}

int pop_close(Pop *pop, int code)
{
    Access *access = pop->access;

    pop->access = NULL;
    return access == NULL ? code : file_close(pop->call, pop->path, access, code);
}

bool queue_claim_was_lost(const Pop *pop, const AccessMessage *message)
{
    if (!access_was_repeated(pop->access) && clock_wall_ms(NULL) >= message->deadline_ms) {
        return false;
    }
    ui_note(pop->call->ui,
            "%s: its owner died before the end of message %" PRIu64
            " was on disk: it may come again",
            pop->path, queue_number(message->seq));
    return true;
}

/* ---- Claims ------------------------------------------------------------------------------------ */

typedef struct Batch {
    Claimed claimed[BATCH_MOST];
    uint32_t count;
} Batch;

static void batch_release(Batch *batch)
{
    while (batch->count > 0) {
        claimed_release(&batch->claimed[--batch->count]);
    }
}

static int keep(const AccessMessage *message, void *ctx)
{
    Batch *batch = (Batch *)ctx;
    Claimed *claimed = &batch->claimed[batch->count];

    *claimed = (Claimed){.message = *message};
    int rc = batch->count == BATCH_MOST ? SAP_INVALID : SAP_OK;
    rc = rc == SAP_OK ? buf_reserve(&claimed->bytes,
                                    message->id.len + message->trace.len + message->payload.len + 1)
                      : rc;
    enum { PARTS = 3 };
    Slice *const parts[PARTS] = {&claimed->message.id, &claimed->message.trace,
                                 &claimed->message.payload};
    for (size_t i = 0; i < PARTS && rc == SAP_OK; i++) {
        const uint8_t *at = claimed->bytes.data + claimed->bytes.len;
        rc = buf_append(&claimed->bytes, parts[i]->data, parts[i]->len);
        parts[i]->data = parts[i]->data == NULL ? NULL : at;
    }
    batch->count += rc == SAP_OK;
    return rc;
}

/* Claims up to `max`, and waits for one until the time is over; EXIT_DONE with none: it is. */
static int claim(Pop *pop, uint64_t wait_ms, uint32_t max, Batch *batch)
{
    uint64_t start_ns = clock_mono_ns(NULL);
    int rc = SAP_NOTFOUND;

    for (;;) {
        uint64_t gone_ms = (clock_mono_ns(NULL) - start_ns) / 1000000;
        uint64_t left_ms = wait_ms > gone_ms ? wait_ms - gone_ms : 0;
        AccessClaim how = {.lease_ms = pop->lease_ms,
                           .wait_ms = (uint32_t)(left_ms < SLICE_MS ? left_ms : SLICE_MS),
                           .max = max,
                           .attempts = pop->attempts};
        if (interrupt_pending()) {
            return ui_fail(pop->call->ui, EXIT_INTERRUPTED, NULL, "interrupted");
        }
        rc = access_queue_claim(pop->access, pop->queue, &how, keep, batch);
        if (rc != SAP_NOTFOUND || left_ms == 0) {
            break;
        }
    }
    return rc == SAP_OK || rc == SAP_NOTFOUND ? EXIT_DONE
                                              : db_failed(pop->call, pop->path, pop->access, rc);
}

/* ---- Printing ---------------------------------------------------------------------------------- */

static int end_batch(Pop *pop, const Batch *batch, AccessEndOp op)
{
    AccessLease leases[BATCH_MOST];

    for (uint32_t i = 0; i < batch->count; i++) {
        leases[i] = (AccessLease){batch->claimed[i].message.seq, batch->claimed[i].message.token};
    }
    return access_queue_end(pop->access, pop->queue, &(AccessEnd){.op = op}, leases, batch->count,
                            NULL);
}

static int print_message(const Pop *pop, const AccessMessage *message)
{
    if (pop->call->ui->json) {
        json_t *object = queue_message_json(pop->queue, message);
        if (object == NULL || json_set_bytes(object, "payload", message->payload) != 0 ||
            json_dumpf(object, stdout, JSON_COMPACT) != 0) {
            json_decref(object);
            return SAP_IO;
        }
        json_decref(object);
        return putchar('\n') == EOF ? SAP_IO : SAP_OK;
    }
    bool raw = call_has(pop->call, OPTION_RAW);
    bool ok = !raw ? ui_write(stdout, message->payload)
                   : message->payload.len == 0 ||
                         fwrite(message->payload.data, 1, message->payload.len, stdout) ==
                             message->payload.len;
    if (!ok) {
        return SAP_IO;
    }
    return raw || putchar('\n') != EOF ? SAP_OK : SAP_IO;
}

static int print_batch(Pop *pop, const Batch *batch)
{
    int rc = SAP_OK;

    for (uint32_t i = 0; i < batch->count && rc == SAP_OK; i++) {
        rc = print_message(pop, &batch->claimed[i].message);
    }
    if (rc != SAP_OK || fflush(stdout) != 0) {
        int error = errno;
        (void)end_batch(pop, batch, ACCESS_PUT_BACK);
        int code = pop_close(pop, EXIT_DONE);
        errno = error;
        int written = ui_finish(pop->call->ui);
        return written != EXIT_DONE ? written : code != EXIT_DONE ? code : EXIT_FAILED;
    }
    rc = end_batch(pop, batch, ACCESS_ACK);
    if (rc == SAP_CONFLICT && queue_claim_was_lost(pop, &batch->claimed[0].message)) {
        return EXIT_DONE;
    }
    if (rc == SAP_CONFLICT) {
        return ui_fail(pop->call->ui, EXIT_CONFLICT, "read faster, or take fewer at once",
                       "%s: what was printed last took so long that others may get it too",
                       pop->path);
    }
    return rc == SAP_OK ? EXIT_DONE : db_failed(pop->call, pop->path, pop->access, rc);
}

/* ---- The verb ---------------------------------------------------------------------------------- */

typedef struct Plan {
    uint64_t count;   /* messages to take */
    uint64_t wait_ms; /* for each of them */
    bool waits;       /* --wait or --follow: no message yet is no error */
} Plan;

static int nothing_there(const Pop *pop, const Plan *plan)
{
    return plan->waits ? ui_fail(pop->call->ui, EXIT_TIMED_OUT, NULL,
                                 "no message came to the queue '%s' in time", pop->queue)
                       : ui_fail(pop->call->ui, EXIT_NOT_FOUND, "wait for one with --wait 10s",
                                 "there is no message in the queue '%s'", pop->queue);
}

static int take_messages(Pop *pop, const Plan *plan)
{
    Batch *batch = (Batch *)calloc(1, sizeof *batch);
    uint64_t taken = 0;
    int code = EXIT_DONE;

    if (batch == NULL) {
        return ui_no_memory(pop->call->ui);
    }
    while (taken < plan->count && code == EXIT_DONE) {
        uint64_t left = plan->count - taken;
        uint32_t max = pop->command != NULL ? 1 : (uint32_t)(left < BATCH_MOST ? left : BATCH_MOST);
        code = claim(pop, plan->wait_ms, max, batch);
        if (code == EXIT_DONE && batch->count == 0) {
            break;
        }
        if (code == EXIT_DONE) {
            taken += batch->count;
            code = pop->command != NULL ? exec_message(pop, &batch->claimed[0].message)
                                        : print_batch(pop, batch);
        }
        batch_release(batch);
    }
    free(batch);
    return code == EXIT_DONE && taken == 0 ? nothing_there(pop, plan) : code;
}

static int check(const Call *call, Pop *pop, Plan *plan)
{
    uint64_t lease_ms = 0;
    uint64_t retry_ms = 0;
    uint64_t attempts = 0;
    bool follow = call_has(call, OPTION_FOLLOW);
    int code = queue_name(call, &pop->queue);

    plan->waits = follow || call_has(call, OPTION_WAIT);
    if (code == EXIT_DONE) {
        code =
            call_number(call, OPTION_COUNT, 1, UINT64_MAX, follow ? UINT64_MAX : 1, &plan->count);
    }
    if (code == EXIT_DONE) {
        code = call_duration(call, OPTION_WAIT, 0, UINT32_MAX, follow ? UINT64_MAX : 0,
                             &plan->wait_ms);
    }
    if (code == EXIT_DONE) {
        code = call_duration(call, OPTION_LEASE, 100, UINT32_MAX / 2, 0, &lease_ms);
    }
    if (code == EXIT_DONE) {
        code = call_duration(call, OPTION_RETRY_DELAY, 0, INT64_MAX / 2, 0, &retry_ms);
    }
    if (code == EXIT_DONE) {
        code = call_number(call, OPTION_MAX_ATTEMPTS, 1, UINT32_MAX, 0, &attempts);
    }
    if (code != EXIT_DONE) {
        return code;
    }
    pop->lease_ms = (uint32_t)lease_ms;
    pop->attempts = (uint32_t)attempts;
    pop->retry_ms = retry_ms > 0 ? (int64_t)retry_ms : call_has(call, OPTION_RETRY_DELAY) ? -1 : 0;
    pop->command = call_value(call, OPTION_EXEC);
    if (pop->command == NULL &&
        (call_has(call, OPTION_LEASE) || call_has(call, OPTION_RETRY_DELAY) ||
         call_has(call, OPTION_MAX_ATTEMPTS))) {
        return call_usage(call, "--lease, --retry-delay and --max-attempts go with --exec");
    }
    if (pop->command != NULL && call_has(call, OPTION_RAW)) {
        return call_usage(call, "--raw goes without --exec: a command gets messages as they are");
    }
    return EXIT_DONE;
}

int queue_pop_verb(const Call *call)
{
    Pop pop = {.call = call, .path = call_operand(call, 0)};
    Plan plan = {0};
    int code = check(call, &pop, &plan);

    if (code != EXIT_DONE) {
        return code;
    }
    interrupt_hold();
    code = pop_open(&pop, 0);
    if (code == EXIT_DONE && !plan.waits) {
        code = queue_find(call, pop.path, pop.access, pop.queue);
    }
    if (code == EXIT_DONE) {
        code = take_messages(&pop, &plan);
    }
    code = pop_close(&pop, code);
    return code == EXIT_DONE && pop.failed > 0 ? EXIT_FAILED : code;
}
