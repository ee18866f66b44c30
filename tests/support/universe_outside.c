#include "support/universe_outside.h"

#include "common/bytes.h"
#include "common/clock.h"
#include "support/expect.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/universe_outside_impl.h"

const OutsideKind outside_kinds[OUTSIDE_KINDS] = {
    {"again", {.attempts = 60, .first_ns = 1000000, .cap_ns = 10000000}, false},
    {"few", {.attempts = 3, .first_ns = 1000000}, false},
    {"once", {.attempts = 5, .first_ns = 1000000}, true},
    {"final", {.attempts = 60, .first_ns = 1000000}, false},
    {"slow", {.attempts = 60, .first_ns = 1000000}, false},
};

/* ---- What follows from a number -------------------------------------------------------------- */

enum { CANCELS_ONE_IN = 4, UNNAMED_ONE_IN = 13, REF_MAX = 24, ID_MAX = 16 };

static uint64_t mix_number(uint64_t number)
{
    return (number + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 24;
}

uint32_t outside_kind_of(uint64_t number)
{
    return (uint32_t)(mix_number(number) % OUTSIDE_KINDS);
}

uint32_t outside_failures(uint32_t kind, const char *key)
{
    switch (kind) {
    case OUTSIDE_AGAIN:
        return (uint32_t)key[0] % 4;
    case OUTSIDE_FEW:
        return key[2] % 2 == 0 ? UINT32_MAX : 0;
    case OUTSIDE_ONCE:
        return key[2] % 4 == 0 ? UINT32_MAX : 0;
    default:
        return 0;
    }
}

void outside_world_name(uint32_t world, char name_out[OUTSIDE_NAME_MAX])
{
    (void)snprintf(name_out, OUTSIDE_NAME_MAX, "world-%" PRIu32, world);
}

/* ---- The handler ----------------------------------------------------------------------------- */

static int ask_effect(SapWorld *world, uint64_t number)
{
    char ref[REF_MAX];
    uint8_t params[8];
    SapEffect effect = {.size = sizeof effect,
                        .kind = outside_kinds[outside_kind_of(number)].name,
                        .encoding = SAP_ENCODING_RAW,
                        .params = params,
                        .params_len = sizeof params};
    store_u64be(params, number);
    (void)snprintf(ref, sizeof ref, "e%" PRIu64, number);
    effect.ref = number % UNNAMED_ONE_IN == 0 ? NULL : ref;
    return sap_world_effect(world, &effect);
}

static int arm_timers(SapWorld *world, uint64_t number)
{
    char ref[REF_MAX];
    SapTimer timer = {.size = sizeof timer, .ref = ref, .after_ns = number % 7 * 1000000};
    (void)snprintf(ref, sizeof ref, "t%" PRIu64, number);
    int rc = number % 3 == 0 ? sap_world_timer(world, &timer) : SAP_OK;
    (void)snprintf(ref, sizeof ref, "a%" PRIu64, number);
    timer.after_ns = 0;
    timer.at_ns = sap_world_time_ns(world) + number % 11 * 1000000;
    return rc == SAP_OK && number % 6 == 0 ? sap_world_timer(world, &timer) : rc;
}

/* What is awaited by name is noted once; anything else is a defect that a handler would see. */
static int note_answer(SapWorld *world, const SapEvent *event)
{
    const void *val = NULL;
    size_t len = 0;
    char text[REF_MAX];
    int rc = sap_world_get(world, event->ref, strlen(event->ref), &val, &len, NULL);
    EXPECT(rc != SAP_OK, "%s: %s was answered twice", sap_world_name(world), event->ref);
    int wrote = snprintf(text, sizeof text, "%d %u", (int)event->status, event->attempts);
    return rc == SAP_NOTFOUND ? sap_world_put(world, event->ref, strlen(event->ref),
                                              SAP_ENCODING_RAW, text, (size_t)wrote)
                              : rc;
}

/* What the message before this one has asked for, unless it was answered. */
static int cancel_earlier(SapWorld *world, char what, uint64_t number)
{
    char ref[REF_MAX];
    if (number < OUTSIDE_WORLDS) {
        return SAP_OK;
    }
    (void)snprintf(ref, sizeof ref, "%c%" PRIu64, what, number - OUTSIDE_WORLDS);
    int rc = sap_world_cancel(world, ref);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

int outside_handle(SapWorld *world, const SapEvent *event)
{
    if (event->kind == SAP_EVENT_RECEIPT || event->kind == SAP_EVENT_TIMER) {
        return note_answer(world, event);
    }
    if (event->kind != SAP_EVENT_MESSAGE) {
        return SAP_OK;
    }
    EXPECT(event->payload_len == 8, "a payload of %zu bytes", event->payload_len);
    uint64_t number = load_u64be(event->payload);
    int rc = ask_effect(world, number);
    rc = rc == SAP_OK ? arm_timers(world, number) : rc;
    bool cancels = mix_number(number) / OUTSIDE_KINDS % CANCELS_ONE_IN == 0;
    rc = rc == SAP_OK && cancels ? cancel_earlier(world, 'e', number) : rc;
    return rc == SAP_OK && cancels ? cancel_earlier(world, 't', number) : rc;
}

void outside_make_worlds(SapUniverse *universe)
{
    for (uint32_t i = 0; i < OUTSIDE_WORLDS; i++) {
        char name[OUTSIDE_NAME_MAX];
        outside_world_name(i, name);
        int rc = sap_world_create(universe, name, OUTSIDE_MODULE, SAP_ENCODING_JSON, NULL, 0);
        EXPECT(rc == SAP_OK || rc == SAP_EXISTS, "creating %s returned %d", name, rc);
    }
}

int outside_send(SapUniverse *universe, uint32_t number)
{
    char world[OUTSIDE_NAME_MAX];
    char id[ID_MAX];
    uint8_t payload[8];
    SapIngress item = {.size = sizeof item,
                       .name = "number",
                       .id = id,
                       .encoding = SAP_ENCODING_RAW,
                       .payload = payload,
                       .payload_len = sizeof payload};
    store_u64be(payload, number);
    (void)snprintf(id, sizeof id, "m%" PRIu32, number);
    outside_world_name(number % OUTSIDE_WORLDS, world);
    return sap_enqueue_ingress(universe, world, &item, NULL);
}

/* ---- The account ----------------------------------------------------------------------------- */

static int account_fd = -1;

void outside_open_account(const char *path)
{
    account_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    EXPECT(account_fd >= 0, "opening %s failed", path);
}

void outside_close_account(void)
{
    (void)close(account_fd);
    account_fd = -1;
}

/* One write, which a process that is killed has made or not. */
static void add_record(const OutsideRecord *record)
{
    EXPECT(write(account_fd, record, sizeof *record) == (ssize_t)sizeof *record,
           "the account cannot be written");
}

void outside_note_ready(void)
{
    OutsideRecord record = {.what = RECORD_READY};
    add_record(&record);
}

void outside_note_sent(uint32_t number)
{
    OutsideRecord record = {.what = RECORD_SENT, .number = number};
    add_record(&record);
}

/* ---- The kinds ------------------------------------------------------------------------------- */

static void note_call(const SapEffectCall *call)
{
    OutsideRecord record = {.what = RECORD_CALL, .attempt = call->attempt};
    EXPECT(call->params_len == 8, "params of %zu bytes", call->params_len);
    record.number = (uint32_t)load_u64be(call->params);
    memcpy(record.key, call->idempotency_key, sizeof record.key);
    add_record(&record);
}

static int perform_call(void *ctx, const SapEffectCall *call, SapEffectResult *result)
{
    const OutsideKind *kind = (const OutsideKind *)ctx;
    struct timespec pause = {.tv_nsec = (long)(call->idempotency_key[1] % 8) * 100000};
    note_call(call);
    (void)nanosleep(&pause, NULL);
    if (kind == &outside_kinds[OUTSIDE_FINAL]) {
        return sap_effect_result(result, SAP_RECEIPT_ERROR, "refused", SAP_ENCODING_JSON, NULL, 0);
    }
    uint32_t failures = outside_failures((uint32_t)(kind - outside_kinds), call->idempotency_key);
    return call->attempt <= failures ? SAP_IO : SAP_OK;
}

/* A call of "slow" that is under way: until when. */
typedef struct SlowCall {
    uint64_t end_ns;
} SlowCall;

static int start_slow(void *ctx, const SapEffectCall *call, void **handle_out)
{
    SlowCall *slow = (SlowCall *)calloc(1, sizeof *slow);
    (void)ctx;
    EXPECT(slow != NULL, "no memory");
    note_call(call);
    slow->end_ns = clock_mono_ns(NULL) + (uint64_t)(call->idempotency_key[1] % 16) * 1000000;
    *handle_out = slow;
    return SAP_OK;
}

static int poll_slow(void *ctx, void *handle, SapEffectResult *result, bool *done_out)
{
    SlowCall *slow = (SlowCall *)handle;
    (void)ctx;
    (void)result;
    *done_out = clock_mono_ns(NULL) >= slow->end_ns;
    if (*done_out) {
        free(slow);
    }
    return SAP_OK;
}

static void cancel_slow(void *ctx, void *handle)
{
    (void)ctx;
    free(handle);
}

int outside_serve(SapWorker *worker, void *ctx)
{
    int rc = SAP_OK;
    (void)ctx;
    for (uint32_t i = 0; rc == SAP_OK && i < OUTSIDE_SLOW; i++) {
        SapEffectKind kind = {.size = sizeof kind,
                              .kind = outside_kinds[i].name,
                              .at_most_once = outside_kinds[i].at_most_once,
                              .function = perform_call,
                              .ctx = (void *)(uintptr_t)&outside_kinds[i],
                              .retry = outside_kinds[i].retry};
        rc = sap_worker_serve(worker, &kind);
    }
    SapEffectAdapter adapter = {.size = sizeof adapter,
                                .kind = outside_kinds[OUTSIDE_SLOW].name,
                                .start = start_slow,
                                .poll = poll_slow,
                                .cancel = cancel_slow,
                                .retry = outside_kinds[OUTSIDE_SLOW].retry};
    return rc == SAP_OK ? sap_worker_serve_adapter(worker, &adapter) : rc;
}
