/* exec_task.c - see exec_task.h.
 *
 * A task is QUEUED, RUNNING in a thread, DONE (its result waits for poll), and gone. One that is
 * cancelled while it runs is its thread's alone, which kills its process and frees it. */
#include "node/exec_task.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/assert.h"
#include "common/mem.h"
#include "node/exec_answer.h"
#include "node/exec_runner.h"
#include "store/digest.h"

enum { TASK_THREADS = 16, IDLE_WAIT_MS = 60000 };

#define MS_NS UINT64_C(1000000)

typedef enum TaskState { TASK_QUEUED, TASK_RUNNING, TASK_DONE } TaskState;

typedef struct Task {
    ExecTasks *tasks;
    char world[SAP_WORLD_MAX_NAME + 1];
    char ref[SAP_WORLD_MAX_NAME + 1];
    char key[65];
    uint32_t attempt;
    uint64_t timeout_ns;
    SapEncoding encoding;
    Buf params;

    TaskState state;            /* under the lock of the tasks */
    SAP_ATOMIC(bool) cancelled; /* nobody waits: once RUNNING, the thread frees it */
    struct Task *next;          /* in the queue */

    /* The result. */
    bool again; /* it failed, and may be tried again */
    SapReceiptStatus status;
    ExecTaskAnswer answer;
} Task;

struct ExecTasks {
    ExecRunner *runner;
    SapUniverse *universe;
    Mutex lock;
    Cond work;
    Cond looked;      /* a thread has read the universe */
    uint32_t looking; /* threads that read it */
    Task *first;
    Task *last;
    uint32_t idle; /* threads that wait for work */
    uint32_t thread_count;
    bool stopping;
    pthread_t threads[TASK_THREADS];
};

static void free_task(Task *task)
{
    buf_release(&task->params);
    buf_release(&task->answer.payload);
    mem_free(MEM_COMMON, task, sizeof *task);
}

static bool task_is_cancelled(void *ctx)
{
    const Task *task = (const Task *)ctx;
    return atomic_load_full(&task->cancelled);
}

/* ---- Results
 * ----------------------------------------------------------------------------------- */

/* An attempt that came to nothing, with a payload {"message":text}. */
static void end_task(Task *task, ExecReason reason, bool again, const char *code, const char *text)
{
    Buf *payload = &task->answer.payload;
    counter_add(task->tasks->runner->meters.task_failures[reason], 1);
    task->status = SAP_RECEIPT_ERROR;
    task->again = again;
    (void)snprintf(task->answer.code, sizeof task->answer.code, "%s", code);
    task->answer.encoding = SAP_ENCODING_JSON;
    buf_clear(payload);
    int rc = buf_append_str(payload, "{\"message\":");
    rc = rc == SAP_OK ? exec_append_string(payload, text, strlen(text)) : rc;
    rc = rc == SAP_OK ? buf_append_u8(payload, '}') : rc;
    if (rc != SAP_OK) {
        buf_clear(payload); /* no memory for the words: the code says it */
    }
    LOG_EVENT(task->tasks->runner->options.log, LOG_LEVEL_WARN, "task.failed",
              LOG_STR("world", task->world), LOG_STR("ref", task->ref), LOG_STR("key", task->key),
              LOG_U64("attempt", task->attempt), LOG_STR("code", code), LOG_STR("reason", text));
}

static void end_with_program(Task *task, const ExecModule *module, ExecReason reason,
                             const char *code, const char *between, const char *text)
{
    char message[EXEC_TEXT_MAX + EXEC_NAME_MAX + 4];
    (void)snprintf(message, sizeof message, "%s%s%s", module->program.name, between, text);
    end_task(task, reason, true, code, message);
}

/* ---- The event
 * --------------------------------------------------------------------------------- */

/* What {"task":NAME,"args":...} says. The caller owns *params_out. */
static int read_params(const Task *task, json_t **params_out, const char **name_out, Buf *args_out,
                       ExecError *error)
{
    SapEncoding encoding = SAP_ENCODING_JSON;
    json_t *params = task->encoding == SAP_ENCODING_JSON
                         ? exec_parse_kept(task->params.data, task->params.len)
                         : NULL;
    const json_t *args = json_object_get(params, "args");
    *params_out = params;
    if (!json_is_object(params) || json_object_get(params, "task") == NULL) {
        return exec_refuse(error, "a task is asked for with {\"task\":NAME,\"args\":...} in JSON");
    }
    int rc = exec_read_text(json_object_get(params, "task"), (ExecField){"", "task"},
                            SAP_WORLD_MAX_NAME, name_out, error);
    if (rc == SAP_OK && args != NULL) {
        rc = exec_read_payload(args, (ExecField){"", "args"}, args_out, &encoding, error);
    }
    if (rc == SAP_OK &&
        encoding != SAP_ENCODING_JSON) { /* bytes in args stay {"b64"} for the program */
        buf_clear(args_out);
        char *text = json_dumps(args, JSON_COMPACT);
        rc = text == NULL ? SAP_NOMEM : buf_append_str(args_out, text);
        free(text);
    }
    return rc;
}

static int write_task_event(Task *task, char id[EXEC_ID_MAX], Buf *line, ExecError *error)
{
    Buf args = {0};
    json_t *params = NULL;
    const char *name = "";
    Digest digest;
    ExecEvent event = {
        .id = id,
        .world = task->world,
        .type = "task",
        .ref = task->ref,
        .key = task->key,
        .now_ms = clock_wall_ms(task->tasks->runner->options.clock),
        .timeout_ms = task->timeout_ns / MS_NS,
        .attempt = task->attempt,
    };
    (void)snprintf(id, EXEC_ID_MAX, "%s#%" PRIu32, task->key, task->attempt);
    digest_bytes(id, strlen(id), &digest);
    memcpy(event.random, digest.bytes, sizeof event.random);
    int rc = read_params(task, &params, &name, &args, error);
    if (rc == SAP_OK) {
        event.name = name;
        event.payload = args.data;
        event.payload_len = args.len;
        rc = exec_event_line(&event, line, error);
    }
    json_decref(params);
    buf_release(&args);
    return rc;
}

/* ---- Running
 * ----------------------------------------------------------------------------------- */

static uint64_t next_deadline(const ExecModule *module)
{
    uint64_t heartbeat_ns = module->settings.heartbeat_ns;
    return heartbeat_ns == 0 ? UINT64_MAX : clock_mono_ns(NULL) + heartbeat_ns;
}

static void fail_talk(Task *task, const ExecModule *module, ExecProcess *process, ExecTalk talk,
                      const ExecVoice *voice)
{
    ExecError error = {""};
    char time[32];
    switch (talk) {
    case EXEC_TALK_CANCELLED:
        counter_add(task->tasks->runner->meters.task_failures[EXEC_REASON_CANCELLED], 1);
        return;
    case EXEC_TALK_TIMEOUT:
        exec_duration_text(module->settings.heartbeat_ns, time);
        (void)exec_refuse(
            &error, "no sign of life in %s; write {\"id\":...,\"beat\":null}, and flush each line",
            time);
        end_with_program(task, module, EXEC_REASON_TIMEOUT, "no_heartbeat", ": ", error.text);
        return;
    case EXEC_TALK_TOO_LONG:
        end_with_program(task, module, EXEC_REASON_STRAY, "bad_answer", " ",
                         "wrote more than 8 MiB in one line");
        return;
    case EXEC_TALK_ENDED:
        exec_process_explain_end(process, voice, module->settings.max_memory, &error);
        end_with_program(task, module, EXEC_REASON_ENDED, "exited", " ", error.text);
        return;
    case EXEC_TALK_FAILED:
    case EXEC_TALK_LINE:
        break;
    }
    end_task(task, EXEC_REASON_NOT_STARTED, true, "not_started", "out of memory");
}

/* Takes an answer. Returns whether it was the last line. */
static bool take_answer(Task *task, const ExecModule *module, const char *id, Slice line,
                        bool *usable_out)
{
    ExecError error = {""};
    ExecMeters *meters = &task->tasks->runner->meters;
    int rc = exec_task_answer_read(id, (const char *)line.data, line.len, &task->answer, &error);
    const ExecAnswer *answer = &task->answer.answer;
    *usable_out = rc == SAP_OK;
    if (rc == SAP_OK && answer->verdict == EXEC_BEAT) {
        counter_add(meters->beats, 1);
        return false;
    }
    if (rc != SAP_OK) {
        const char *text = rc == SAP_INVALID ? error.text : sap_strerror(rc);
        end_with_program(task, module, answer->stray ? EXEC_REASON_STRAY : EXEC_REASON_INVALID,
                         "bad_answer", answer->stray ? " " : ": ", text);
        return true;
    }
    task->status = answer->verdict == EXEC_DONE ? SAP_RECEIPT_OK : SAP_RECEIPT_ERROR;
    task->again = answer->verdict == EXEC_FAILED && answer->retry;
    if (answer->verdict == EXEC_FAILED) {
        counter_add(meters->task_failures[EXEC_REASON_FAILED], 1);
    }
    return true;
}

/* Returns false if the process had ended before it read anything of the task. */
static bool talk_about_task(Task *task, const ExecModule *module, ExecProcess *process,
                            const char *id, Slice request, bool *usable_out)
{
    ExecVoice voice = {task->tasks->runner->options.log, module->name, task->world};
    ExecWait wait = {.cancelled = task_is_cancelled, .ctx = task};
    bool first = true;
    for (;;) {
        Slice line = {0};
        bool unread = false;
        wait.deadline_ns = next_deadline(module);
        ExecTalk talk = exec_process_talk(process, request, &wait, &voice, &line, &unread);
        *usable_out = false;
        if (talk == EXEC_TALK_ENDED && first && unread && process->calls > 1) {
            return false;
        }
        if (talk != EXEC_TALK_LINE) {
            fail_talk(task, module, process, talk, &voice);
            return true;
        }
        if (take_answer(task, module, id, line, usable_out)) {
            exec_process_drain_errors(process, &voice);
            return true;
        }
        request = (Slice){"", 0};
        first = false;
    }
}

static void run_with_module(Task *task, ExecModule *module)
{
    ExecWait wait = {
        .deadline_ns = UINT64_MAX, .patient = true, .cancelled = task_is_cancelled, .ctx = task};
    char id[EXEC_ID_MAX];
    Buf line = {0};
    ExecError error = {""};
    int rc = write_task_event(task, id, &line, &error);
    bool done = rc != SAP_OK;
    if (done) {
        end_task(task, EXEC_REASON_INVALID, rc != SAP_INVALID,
                 rc == SAP_INVALID ? "bad_params" : "not_started",
                 rc == SAP_INVALID ? error.text : sap_strerror(rc));
    }
    while (!done) {
        ExecProcess *process = NULL;
        bool usable = false;
        rc = exec_pool_take(module->task_pool, exec_module_generation(module), &wait, &process,
                            &error);
        if (rc == SAP_FENCED) {
            counter_add(task->tasks->runner->meters.task_failures[EXEC_REASON_CANCELLED], 1);
            break;
        }
        if (rc != SAP_OK) {
            if (rc == SAP_NOTFOUND) {
                exec_module_explain_start(module, &error);
            }
            end_task(task, EXEC_REASON_NOT_STARTED, true, "not_started", error.text);
            break;
        }
        done = talk_about_task(task, module, process, id, (Slice){line.data, line.len}, &usable);
        exec_pool_give(module->task_pool, process, usable);
    }
    buf_release(&line);
}

static int read_row(SapUniverse *universe, const char *world, SapModule **row_out)
{
    SapWorldInfo info;
    int rc = sap_world_info(universe, world, &info);
    return rc == SAP_OK ? sap_module_get(universe, info.module, info.pin, row_out) : rc;
}

/* The module of the task's world. A task that was cancelled may have no universe any more. */
static int find_row(Task *task, SapModule **row_out)
{
    ExecTasks *tasks = task->tasks;
    mutex_lock(&tasks->lock);
    bool wanted = !atomic_load_full(&task->cancelled);
    SapUniverse *universe = tasks->universe;
    tasks->looking += wanted;
    mutex_unlock(&tasks->lock);
    if (!wanted) {
        return SAP_FENCED;
    }
    int rc = read_row(universe, task->world, row_out);
    mutex_lock(&tasks->lock);
    tasks->looking--;
    cond_broadcast(&tasks->looked);
    mutex_unlock(&tasks->lock);
    return rc;
}

static void run_task(Task *task)
{
    ExecRunner *runner = task->tasks->runner;
    ExecModule *module = NULL;
    SapModule *row = NULL;
    uint64_t start_ns = clock_mono_ns(NULL);
    counter_add(runner->meters.tasks, 1);
    gauge_add(runner->meters.tasks_running, 1);
    int rc = find_row(task, &row);
    rc = rc == SAP_OK ? exec_module_use(runner, row, &module) : rc;
    if (rc == SAP_NOTFOUND) {
        end_task(
            task, EXEC_REASON_NOT_STARTED, false, "no_program",
            "the world's module is not a program that this node runs: tasks need a module with an exec: runner");
    } else if (rc == SAP_FENCED) {
        counter_add(runner->meters.task_failures[EXEC_REASON_CANCELLED], 1);
    } else if (rc != SAP_OK) {
        end_task(task, EXEC_REASON_NOT_STARTED, true, "not_started", sap_strerror(rc));
    } else if (!module->program_ok) {
        end_task(task, EXEC_REASON_NOT_STARTED, true, "not_started", module->why.text);
    } else {
        run_with_module(task, module);
    }
    sap_module_free(row);
    if (module != NULL) {
        exec_module_unuse(runner, module);
    }
    histogram_record(runner->meters.task_ns, clock_mono_ns(NULL) - start_ns);
    gauge_add(runner->meters.tasks_running, -1);
}

/* ---- Threads
 * ----------------------------------------------------------------------------------- */

static Task *take_task(ExecTasks *tasks)
{
    Task *task = tasks->first;
    if (task != NULL) {
        tasks->first = task->next;
        tasks->last = tasks->first == NULL ? NULL : tasks->last;
        task->state = TASK_RUNNING;
    }
    return task;
}

static void *run_tasks(void *arg)
{
    ExecTasks *tasks = (ExecTasks *)arg;
    const ExecRunnerOptions *options = &tasks->runner->options;
    mutex_lock(&tasks->lock);
    while (!tasks->stopping) {
        Task *task = take_task(tasks);
        if (task == NULL) {
            tasks->idle++;
            cond_wait_ns(&tasks->work, &tasks->lock, IDLE_WAIT_MS * MS_NS);
            tasks->idle--;
            continue;
        }
        mutex_unlock(&tasks->lock);
        run_task(task);
        mutex_lock(&tasks->lock);
        bool wanted = !atomic_load_full(&task->cancelled);
        task->state = TASK_DONE;
        if (!wanted) {
            free_task(task);
        } else if (options->wake != NULL) {
            options->wake(options->wake_ctx); /* with the lock: cancelling it waits for that */
        }
    }
    mutex_unlock(&tasks->lock);
    return NULL;
}

/* A thread for a task that no thread waits for; the lock is held. Signals are for other threads. */
static int add_thread(ExecTasks *tasks)
{
    sigset_t all;
    sigset_t before;
    if (tasks->thread_count == TASK_THREADS) {
        return SAP_OK; /* one of them takes it when it is done with another */
    }
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&tasks->threads[tasks->thread_count], NULL, run_tasks, tasks);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    tasks->thread_count += error == 0;
    return tasks->thread_count > 0 ? SAP_OK : SAP_NOMEM;
}

/* ---- The adapter
 * ------------------------------------------------------------------------------- */

static int start_task(void *ctx, const SapEffectCall *call, void **handle_out)
{
    ExecTasks *tasks = (ExecTasks *)ctx;
    Task *task = (Task *)mem_zalloc(MEM_COMMON, sizeof *task);
    if (task == NULL) {
        return SAP_NOMEM;
    }
    task->tasks = tasks;
    (void)snprintf(task->world, sizeof task->world, "%s", call->world);
    (void)snprintf(task->ref, sizeof task->ref, "%s", call->ref);
    (void)snprintf(task->key, sizeof task->key, "%s", call->idempotency_key);
    task->attempt = call->attempt;
    task->timeout_ns = call->timeout_ns;
    task->encoding = call->encoding;
    int rc = buf_append(&task->params, call->params, call->params_len);
    mutex_lock(&tasks->lock);
    uint32_t queued = 1;
    for (const Task *other = tasks->first; other != NULL; other = other->next) {
        queued++;
    }
    if (rc == SAP_OK && queued > tasks->idle) {
        rc = add_thread(tasks);
    }
    if (rc == SAP_OK) {
        *(tasks->last != NULL ? &tasks->last->next : &tasks->first) = task;
        tasks->last = task;
        cond_signal(&tasks->work);
    }
    mutex_unlock(&tasks->lock);
    if (rc != SAP_OK) {
        free_task(task);
        return rc;
    }
    *handle_out = task;
    return SAP_OK;
}

static int poll_task(void *ctx, void *handle, SapEffectResult *result, bool *done_out)
{
    ExecTasks *tasks = (ExecTasks *)ctx;
    Task *task = (Task *)handle;
    mutex_lock(&tasks->lock);
    *done_out = task->state == TASK_DONE;
    mutex_unlock(&tasks->lock);
    if (!*done_out) {
        return SAP_OK;
    }
    int rc = sap_effect_result(result, task->status, task->answer.code, task->answer.encoding,
                               task->answer.payload.data, task->answer.payload.len);
    rc = rc == SAP_OK && task->again ? SAP_ERROR : rc;
    free_task(task);
    return rc;
}

/* Takes a task that waits out of the queue. The lock is held. */
static void unlink_task(ExecTasks *tasks, const Task *task)
{
    Task *before = NULL;
    Task *at = tasks->first;
    while (at != task) {
        SAP_ASSERT(at != NULL);
        before = at;
        at = at->next;
    }
    *(before != NULL ? &before->next : &tasks->first) = at->next;
    tasks->last = tasks->last == at ? before : tasks->last;
}

static void cancel_task(void *ctx, void *handle)
{
    ExecTasks *tasks = (ExecTasks *)ctx;
    Task *task = (Task *)handle;
    mutex_lock(&tasks->lock);
    bool runs = task->state == TASK_RUNNING;
    if (task->state == TASK_QUEUED) {
        unlink_task(tasks, task);
    }
    if (runs) {
        atomic_store_full(&task->cancelled, true);
    }
    /* Whoever cancels may close the universe next. The task may be freed while the lock is not
     * held. */
    while (runs && tasks->looking > 0) {
        cond_wait(&tasks->looked, &tasks->lock);
    }
    mutex_unlock(&tasks->lock);
    if (!runs) {
        free_task(task);
    }
}

void exec_task_adapter(ExecRunner *runner, SapUniverse *universe, SapEffectAdapter *adapter_out)
{
    runner->tasks->universe = universe;
    *adapter_out = (SapEffectAdapter){
        .size = sizeof *adapter_out,
        .kind = "task",
        .start = start_task,
        .poll = poll_task,
        .cancel = cancel_task,
        .ctx = runner->tasks,
        .max_running = TASK_THREADS,
    };
}

/* ---- Opening and closing
 * ----------------------------------------------------------------------- */

int exec_tasks_open(ExecRunner *runner, ExecTasks **tasks_out)
{
    ExecTasks *tasks = (ExecTasks *)mem_zalloc(MEM_COMMON, sizeof *tasks);
    if (tasks == NULL || !mutex_init(&tasks->lock)) {
        mem_free(MEM_COMMON, tasks, tasks == NULL ? 0 : sizeof *tasks);
        return SAP_NOMEM;
    }
    if (!cond_init(&tasks->work)) {
        mutex_destroy(&tasks->lock);
        mem_free(MEM_COMMON, tasks, sizeof *tasks);
        return SAP_NOMEM;
    }
    if (!cond_init(&tasks->looked)) {
        cond_destroy(&tasks->work);
        mutex_destroy(&tasks->lock);
        mem_free(MEM_COMMON, tasks, sizeof *tasks);
        return SAP_NOMEM;
    }
    tasks->runner = runner;
    *tasks_out = tasks;
    return SAP_OK;
}

void exec_tasks_stop(ExecTasks *tasks)
{
    mutex_lock(&tasks->lock);
    SAP_ASSERT(tasks->first == NULL); /* whoever started them has cancelled them */
    tasks->stopping = true;
    cond_broadcast(&tasks->work);
    mutex_unlock(&tasks->lock);
    for (uint32_t i = 0; i < tasks->thread_count; i++) {
        pthread_join(tasks->threads[i], NULL);
    }
    tasks->thread_count = 0;
}

void exec_tasks_close(ExecTasks *tasks)
{
    if (tasks == NULL) {
        return;
    }
    SAP_ASSERT(tasks->thread_count == 0);
    cond_destroy(&tasks->looked);
    cond_destroy(&tasks->work);
    mutex_destroy(&tasks->lock);
    mem_free(MEM_COMMON, tasks, sizeof *tasks);
}
