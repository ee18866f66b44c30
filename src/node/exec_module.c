/* exec_module.c - see exec_module.h. */
#include "node/exec_module.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "node/exec_answer.h"
#include "node/exec_runner.h"
#include "universe/handler.h"
#include "universe/modules.h"

#define MS_NS       UINT64_C(1000000)
#define MARGIN_MOST (500 * MS_NS)

void exec_duration_text(uint64_t ns, char out[32])
{
    uint64_t ms = ns / MS_NS;
    if (ms % 1000 == 0) {
        (void)snprintf(out, 32, "%" PRIu64 " s", ms / 1000);
    } else if (ms < 1000) {
        (void)snprintf(out, 32, "%" PRIu64 " ms", ms);
    } else {
        (void)snprintf(out, 32, "%" PRIu64 ".%" PRIu64 " s", ms / 1000, ms % 1000 / 100);
    }
}

/* ---- A call
 * ------------------------------------------------------------------------------------ */

typedef struct Call {
    ExecModule *module;
    SapWorld *world;
    const SapEvent *event;
    ExecAsked asked;
    ExecWait wait;
    ExecVoice voice;
    char id[EXEC_ID_MAX];
    Buf line; /* what is written to the program */
    Buf state;
    ExecError error;
} Call;

static bool call_is_cancelled(void *ctx)
{
    return sap_world_cancelled((const SapWorld *)ctx);
}

static void count_failure(const Call *call, ExecReason reason)
{
    counter_add(call->module->runner->meters.failures[reason], 1);
}

/* The world fails, or waits, with this text; it is also logged, since the world's own reason
 * changes. */
static void log_failure(const Call *call, LogLevel level, const char *text)
{
    LOG_EVENT(call->voice.log, level, "exec.failed", LOG_STR("world", call->voice.world),
              LOG_STR("module", call->module->name), LOG_STR("event_id", call->id),
              LOG_STR("reason", text));
}

/* `text` follows the name of the program: ": " or " " between them. */
static int fail_call(Call *call, ExecReason reason, const char *between, const char *text)
{
    char message[HANDLER_MESSAGE + 1];
    (void)snprintf(message, sizeof message, "%s%s%s", call->module->program.name, between, text);
    count_failure(call, reason);
    log_failure(call, LOG_LEVEL_WARN, message);
    return sap_world_fail(call->world, true, message);
}

static int wait_call(Call *call, ExecReason reason)
{
    count_failure(call, reason);
    /* That others are at work is what worlds are told by the thousand. */
    log_failure(call, reason == EXEC_REASON_BUSY ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARN,
                call->error.text);
    return handler_wait(call->world, call->error.text);
}

/* A world whose state cannot be given to the program. */
static int halt_call(Call *call)
{
    char message[512];
    (void)snprintf(
        message, sizeof message,
        "state_too_big: the state of the world has more than %d KiB, too much to give %s all of it with "
        "each event: register the module with state \"ask\"",
        EXEC_STATE_MOST / 1024, call->module->program.name);
    count_failure(call, EXEC_REASON_INVALID);
    log_failure(call, LOG_LEVEL_WARN, message);
    return handler_halt(call->world, message);
}

/* The event as a line, with the state if the module wants it whole. */
static int write_event(Call *call)
{
    ExecEvent event;
    int rc = SAP_OK;
    exec_event_of_world(call->world, call->event, handler_attempt(call->world), call->id, &event);
    if (call->module->state == SAP_MODULE_STATE_WHOLE) {
        rc = buf_append_u8(&call->state, '{');
        rc = rc == SAP_OK ? exec_state_members(call->world, (Slice){"", 0}, EXEC_STATE_MOST,
                                               &call->state, &call->error)
                          : rc;
        rc = rc == SAP_OK ? buf_append_u8(&call->state, '}') : rc;
        event.state = (Slice){call->state.data, call->state.len};
    }
    return rc == SAP_OK ? exec_event_line(&event, &call->line, &call->error) : rc;
}

/* What the program's line has done. *more_out: it asked for rows, which are in call->line. */
static int take_line(Call *call, Slice line, bool *usable_out, bool *more_out)
{
    ExecAnswer answer;
    Buf more = {0};
    int rc = exec_answer_apply(call->world, &call->asked, (const char *)line.data, line.len, &more,
                               &answer, &call->error);
    *usable_out = !answer.stray;
    *more_out = false;
    if (rc == SAP_OK && answer.verdict == EXEC_ASKED) {
        buf_release(&call->line);
        call->line = more;
        *more_out = true;
        return SAP_OK;
    }
    buf_release(&more);
    if (rc == SAP_INVALID) {
        return fail_call(call, answer.stray ? EXEC_REASON_STRAY : EXEC_REASON_INVALID,
                         answer.stray ? " " : ": ", call->error.text);
    }
    if (rc == SAP_OK && answer.verdict == EXEC_FAILED) {
        count_failure(call, EXEC_REASON_FAILED);
        return sap_world_fail(call->world, answer.retry, call->error.text);
    }
    return rc;
}

/* The time that the module gives a call, as people set it. */
static uint64_t call_timeout(const ExecModule *module)
{
    return module->timeout_ns != 0 ? module->timeout_ns : module->runner->options.timeout_ns;
}

static int time_out(Call *call)
{
    char time[32];
    char text[96];
    exec_duration_text(call_timeout(call->module), time);
    (void)snprintf(text, sizeof text, "no answer in %s; flush each line", time);
    return fail_call(call, EXEC_REASON_TIMEOUT, ": ", text);
}

/* Talks to a process until the event is answered. *again_out: it had ended without reading the
 * event. */
static int talk(Call *call, ExecProcess *process, bool *usable_out, bool *again_out)
{
    bool more = true;
    int rc = SAP_OK;
    for (bool first = true; rc == SAP_OK && more; first = false) {
        Slice line = {0};
        bool unread = false;
        ExecTalk talk = exec_process_talk(process, (Slice){call->line.data, call->line.len},
                                          &call->wait, &call->voice, &line, &unread);
        *usable_out = false;
        more = false;
        switch (talk) {
        case EXEC_TALK_LINE:
            rc = take_line(call, line, usable_out, &more);
            break;
        case EXEC_TALK_CANCELLED:
            count_failure(call, EXEC_REASON_CANCELLED);
            return SAP_FENCED;
        case EXEC_TALK_TIMEOUT:
            return time_out(call);
        case EXEC_TALK_TOO_LONG:
            return fail_call(call, EXEC_REASON_STRAY, " ", "wrote more than 8 MiB in one line");
        case EXEC_TALK_FAILED:
            return SAP_NOMEM;
        case EXEC_TALK_ENDED:
            if (first && unread && process->calls > 1) {
                *again_out = true;
                return SAP_OK;
            }
            exec_process_explain_end(process, &call->voice, call->module->settings.max_memory,
                                     &call->error);
            return fail_call(call, EXEC_REASON_ENDED, " ", call->error.text);
        }
    }
    return rc;
}

/* One process is asked. A program that ends after an answer may have been given this event too
 * late. */
static int ask_process(Call *call, bool *again_out)
{
    ExecModule *module = call->module;
    ExecProcess *process = NULL;
    bool usable = false;
    int rc = exec_pool_take(module->pool, exec_module_generation(module), &call->wait, &process,
                            &call->error);
    if (rc == SAP_FENCED) {
        return sap_world_cancelled(call->world) ? SAP_FENCED : time_out(call);
    }
    if (rc != SAP_OK) {
        if (rc == SAP_NOTFOUND) {
            exec_module_explain_start(module, &call->error);
        }
        return wait_call(call, rc == SAP_BUSY ? EXEC_REASON_BUSY : EXEC_REASON_NOT_STARTED);
    }
    rc = talk(call, process, &usable, again_out);
    exec_process_drain_errors(process, &call->voice);
    exec_pool_give(module->pool, process, usable);
    return rc;
}

static int perform_call(Call *call)
{
    bool again = true;
    int rc = write_event(call);
    if (rc == SAP_FULL) {
        return halt_call(call);
    }
    if (rc == SAP_INVALID) {
        return fail_call(call, EXEC_REASON_INVALID, ": ", call->error.text);
    }
    while (rc == SAP_OK && again) {
        again = false;
        rc = ask_process(call, &again);
    }
    return rc;
}

/* The worker counts a handler as stuck after the module's time, and the call is a part of what it
 * measures. */
static uint64_t call_deadline(const ExecModule *module)
{
    uint64_t timeout_ns = call_timeout(module);
    uint64_t margin_ns = timeout_ns / 20 < MARGIN_MOST ? timeout_ns / 20 : MARGIN_MOST;
    return clock_mono_ns(NULL) + timeout_ns - margin_ns;
}

static int exec_on_event(SapWorld *world, const SapEvent *event)
{
    ExecModule *module = (ExecModule *)sap_world_module_ctx(world);
    ExecMeters *meters = &module->runner->meters;
    uint64_t start_ns = clock_mono_ns(NULL);
    Call call = {
        .module = module,
        .world = world,
        .event = event,
        .asked = {.id = call.id,
                  .reply_to = event->reply_to,
                  .query = event->kind == SAP_EVENT_QUERY,
                  .may_ask = module->state == SAP_MODULE_STATE_ASK},
        .wait = {.deadline_ns = call_deadline(module),
                 .cancelled = call_is_cancelled,
                 .ctx = world},
        .voice = {module->runner->options.log, module->name, sap_world_name(world)},
    };
    counter_add(meters->calls, 1);
    if (!module->program_ok) {
        call.error = module->why;
        return wait_call(&call, EXEC_REASON_NOT_STARTED);
    }
    int rc = perform_call(&call);
    histogram_record(meters->call_ns, clock_mono_ns(NULL) - start_ns);
    buf_release(&call.line);
    buf_release(&call.state);
    return rc;
}

/* ---- Resolving
 * --------------------------------------------------------------------------------- */

static int resolve_native(const char *name, SapWorldHandler *handler_out, void **module_ctx_out)
{
    UniverseName found;
    if (universe_name_set(&found, name) != SAP_OK) {
        return SAP_NOTFOUND;
    }
    const SapWorldModule *own = module_find(&found, 0);
    if (own == NULL) {
        return SAP_NOTFOUND;
    }
    *handler_out = own->handler;
    *module_ctx_out = own->ctx;
    return SAP_OK;
}

int exec_runner_resolve(void *ctx, const SapModule *module, SapWorldHandler *handler_out,
                        void **module_ctx_out)
{
    ExecRunner *runner = (ExecRunner *)ctx;
    ExecModule *made = NULL;
    if (strncmp(module->runner, NATIVE_RUNNER, sizeof NATIVE_RUNNER - 1) == 0) {
        return resolve_native(module->runner + sizeof NATIVE_RUNNER - 1, handler_out,
                              module_ctx_out);
    }
    int rc = exec_module_use(runner, module, &made);
    if (rc == SAP_OK) {
        *handler_out = exec_on_event;
        *module_ctx_out = made;
    }
    return rc;
}

void exec_runner_release(void *ctx, void *module_ctx)
{
    exec_module_unuse((ExecRunner *)ctx, module_ctx);
}

int exec_check_settings(const char *settings, char *message, size_t message_size)
{
    ExecSettings read = {0};
    ExecError error = {""};
    int rc = exec_settings_read(settings, &read, &error);
    if (message_size > 0) {
        (void)snprintf(message, message_size, "%s", error.text);
    }
    return rc;
}
