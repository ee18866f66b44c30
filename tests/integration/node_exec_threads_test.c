/* Worlds whose handlers are programs: good ones, and all that a program can do wrong. Each is run
 * by a worker with threads, as a node does, on a store in a file. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/config.h"
#include "common/mem.h"
#include "node/exec_module.h"
#include "node/exec_program.h"
#include "node/exec_task.h"
#include "node/host.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"

#define STOP_NS UINT64_C(60000000000)

enum { TIMEOUT_S = 120, HANDLERS = 6, PATIENCE_MS = 20000, LOOK_MS = 10, TEXT = 4096 };

#define MS_NS   UINT64_C(1000000)
#define PYTHON  "#!/usr/bin/python3\nimport sys, json, os, time\n"
#define ANSWERS "for line in sys.stdin:\n    e = json.loads(line)\n"

static void pause_ms(long ms)
{
    struct timespec some = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&some, NULL);
}

/* ---- What is logged
 * ---------------------------------------------------------------------------- */

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static Buf logged;

static void take_record(void *ctx, const LogRecord *record)
{
    (void)ctx;
    pthread_mutex_lock(&log_lock);
    EXPECT_RC(log_format_text(record, &logged), SAP_OK);
    pthread_mutex_unlock(&log_lock);
}

static size_t count_logged(const char *part)
{
    size_t count = 0;
    pthread_mutex_lock(&log_lock);
    EXPECT_RC(buf_append_u8(&logged, 0), SAP_OK);
    for (const char *at = (const char *)logged.data; (at = strstr(at, part)) != NULL; at++) {
        count++;
    }
    buf_truncate(&logged, logged.len - 1);
    pthread_mutex_unlock(&log_lock);
    return count;
}

/* ---- The stage
 * --------------------------------------------------------------------------------- */

static FileBed bed;
static char dir[] = "/tmp/exec_test_XXXXXX";
static SapUniverse *universe;
static ExecRunner *runner;
static Host *host;
static Log test_log;
static ExecRunnerOptions runner_options;
static MetricsRegistry metrics;
static size_t live_before;

static void path_in(char out[128], const char *name)
{
    (void)snprintf(out, 128, "%s/%s", dir, name);
}

/* Replaced as an editor does: another file takes the name. */
static void write_file(const char *name, const char *text, mode_t mode)
{
    char path[128];
    char made[128];
    path_in(path, name);
    path_in(made, "new");
    int fd = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    EXPECT(fd >= 0, "%s: %s", made, strerror(errno));
    EXPECT(write(fd, text, strlen(text)) == (ssize_t)strlen(text), "%s: %s", made, strerror(errno));
    EXPECT(fchmod(fd, mode) == 0 && close(fd) == 0 && rename(made, path) == 0, "%s: %s", path,
           strerror(errno));
}

static void write_program(const char *name, const char *text)
{
    write_file(name, text, 0755);
}

static int prepare_worker(SapWorker *worker, void *ctx)
{
    SapEffectAdapter adapter;
    (void)ctx;
    exec_task_adapter(runner, universe, &adapter);
    adapter.retry.attempts = 2;
    adapter.retry.first_ns = MS_NS;
    return sap_worker_serve_adapter(worker, &adapter);
}

static void start_host(void)
{
    HostOptions options = {
        .handlers = HANDLERS, .roles = HOST_ALL_ROLES, .prepare = prepare_worker};
    options.worker.resolve = exec_runner_resolve;
    options.worker.release = exec_runner_release;
    options.worker.resolve_ctx = runner;
    EXPECT_RC(host_start(universe, &options, &host), SAP_OK);
}

static void open_stage(void)
{
    char url[FILES_PATH_MAX + 16];
    live_before = mem_live_total();
    file_bed_start(&bed);
    EXPECT(mkdtemp(dir) != NULL, "no directory: %s", strerror(errno));
    EXPECT(chmod(dir, 0755) == 0, "no directory");
    log_init(&test_log, take_record, NULL, LOG_LEVEL_DEBUG, NULL);
    EXPECT_RC(metrics_init(&metrics), SAP_OK);
    (void)snprintf(url, sizeof url, "sapling:%s", bed.path);
    EXPECT_RC(sap_universe_open(url, NULL, &universe), SAP_OK);
    runner_options.log = &test_log;
    runner_options.metrics = &metrics;
    EXPECT_RC(exec_runner_open(&runner_options, &runner), SAP_OK);
    start_host();
}

static void set_up(void)
{
    runner_options = (ExecRunnerOptions){0};
    open_stage();
}

static void remove_dir(void)
{
    char command[160];
    (void)snprintf(command, sizeof command, "rm -rf %s", dir);
    EXPECT(system(command) == 0, "%s stays", dir);
}

static void tear_down(void)
{
    EXPECT_RC(host_stop(host, STOP_NS), SAP_OK);
    exec_runner_close(runner);
    EXPECT_RC(sap_universe_close(universe), SAP_OK);
    metrics_release(&metrics);
    file_bed_end(&bed);
    remove_dir();
    buf_release(&logged);
    ck_assert_uint_eq(mem_live_total(), live_before);
}

/* ---- Modules and worlds
 * ------------------------------------------------------------------------ */

static SapModule module_of(const char *name, char runner_text[160])
{
    (void)snprintf(runner_text, 160, "exec:%s/%s", dir, name);
    return (SapModule){.size = sizeof(SapModule),
                       .name = name,
                       .runner = runner_text,
                       .max_attempts = 1,
                       .on_failure = SAP_ON_FAILURE_SKIP,
                       .timeout_ns = 10000 * MS_NS};
}

static void put_module(const SapModule *module)
{
    EXPECT_RC(sap_module_put(universe, module, NULL), SAP_OK);
}

/* A program, its module of the same name, and a world of that name. Its first event is the
 * create. */
static void put_program(const char *name, const char *text)
{
    char runner_text[160];
    SapModule module = module_of(name, runner_text);
    write_program(name, text);
    put_module(&module);
    EXPECT_RC(sap_world_create(universe, name, name, SAP_ENCODING_JSON, NULL, 0), SAP_OK);
}

static uint32_t sent;

/* Sends, and returns the id. */
static const char *send_to(const char *world, const char *event, const char *body)
{
    static char id[32];
    (void)snprintf(id, sizeof id, "m%u", ++sent);
    SapIngress item = {.size = sizeof item,
                       .name = event,
                       .id = id,
                       .payload = body,
                       .payload_len = strlen(body),
                       .want_reply = true};
    EXPECT_RC(sap_enqueue_ingress(universe, world, &item, NULL), SAP_OK);
    return id;
}

/* The reply as text; after a failure what it says. */
static const char *await(const char *world, const char *id, bool failed)
{
    static char text[TEXT];
    SapReply *reply = NULL;
    int rc = sap_world_reply_wait(universe, world, id, PATIENCE_MS * MS_NS, &reply);
    if (rc != SAP_OK) {
        SapWorldInfo info;
        (void)sap_world_info(universe, world, &info);
        expect_fail(__FILE__, __LINE__, "no reply of %s: %d, status %d, %s", world, rc,
                    (int)info.status, info.reason);
    }
    size_t len = reply->payload_len < TEXT - 1 ? reply->payload_len : TEXT - 1;
    memcpy(text, reply->payload, len);
    text[len] = 0;
    EXPECT(reply->failed == failed, "%s %s: %s", world, reply->failed ? "failed" : "did not fail",
           text);
    sap_reply_free(reply);
    return text;
}

static const char *ask(const char *world, const char *event, const char *body)
{
    return await(world, send_to(world, event, body), false);
}

/* What the program is told that fails with this event: whoever waited for a reply hears the
 * same. */
static const char *ask_to_fail(const char *world, const char *event)
{
    return await(world, send_to(world, event, "null"), true);
}

static void await_status(const char *world, SapWorldStatus status, const char *reason)
{
    SapWorldInfo info = {0};
    for (int ms = 0; ms < PATIENCE_MS; ms += LOOK_MS) {
        EXPECT_RC(sap_world_info(universe, world, &info), SAP_OK);
        if (info.status == status && strstr(info.reason, reason) != NULL) {
            return;
        }
        pause_ms(LOOK_MS);
    }
    ck_abort_msg("status %d, reason %s", (int)info.status, info.reason);
}

/* ---- Processes
 * --------------------------------------------------------------------------------- */

/* A number that a program wrote into a file. */
static pid_t read_pid(const char *name)
{
    char path[128];
    char text[32] = "";
    path_in(path, name);
    for (int ms = 0; ms < PATIENCE_MS; ms += LOOK_MS) {
        FILE *file = fopen(path, "re");
        bool got =
            file != NULL && fgets(text, sizeof text, file) != NULL && strchr(text, '\n') != NULL;
        if (file != NULL) {
            (void)fclose(file);
        }
        if (got) {
            return (pid_t)strtol(text, NULL, 10);
        }
        pause_ms(LOOK_MS);
    }
    expect_fail(__FILE__, __LINE__, "no process wrote its number to %s", path);
}

static void expect_gone(pid_t pid)
{
    for (int ms = 0; ms < PATIENCE_MS; ms += LOOK_MS) {
        char path[64];
        char state[512] = "";
        (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        FILE *file = fopen(path, "re");
        if (file == NULL) {
            return;
        }
        bool zombie = fgets(state, sizeof state, file) != NULL && strstr(state, ") Z ") != NULL;
        (void)fclose(file);
        if (zombie) {
            return; /* an orphan that init has not waited for yet */
        }
        pause_ms(LOOK_MS);
    }
    ck_abort_msg("process %d is still there", (int)pid);
}

static void expect_part(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "no %s in %s", part, text);
}

static uint64_t metric_sum(const char *name);

typedef struct Sum {
    const char *name;
    const char *label;
    uint64_t sum;
} Sum;

static int add_metric(void *ctx, const MetricView *view)
{
    Sum *sum = (Sum *)ctx;
    if (strcmp(view->desc.name, sum->name) != 0 ||
        (sum->label != NULL && strcmp(view->desc.label_value, sum->label) != 0)) {
        return SAP_OK;
    }
    sum->sum += view->type == METRIC_COUNTER ? counter_value(view->as.counter)
                : view->type == METRIC_GAUGE ? (uint64_t)gauge_value(view->as.gauge)
                                             : histogram_count(view->as.histogram);
    return SAP_OK;
}

static uint64_t metric_of(const char *name, const char *label)
{
    Sum sum = {name, label, 0};
    EXPECT_RC(metrics_visit(&metrics, add_metric, &sum), SAP_OK);
    return sum.sum;
}

static uint64_t metric_sum(const char *name)
{
    return metric_of(name, NULL);
}

/* ---- Good programs
 * ----------------------------------------------------------------------------- */

static const char counter[] = PYTHON ANSWERS
    "    n = e.get('state', {}).get('n', 0)\n"
    "    a = {'id': e['id']}\n"
    "    if e['type'] == 'message':\n"
    "        a['put'] = {'n': n + 1}\n"
    "        a['reply'] = {'n': n + 1, 'name': e['name'], 'body': e['body'], 'attempt': e['attempt']}\n"
    "    if e['type'] == 'query':\n"
    "        a['reply'] = n\n"
    "    print(json.dumps(a))\n";

START_TEST(a_program_counts)
{
    put_program("counter", counter);
    ck_assert_str_eq(ask("counter", "hi", "\"x\""),
                     "{\"attempt\":1,\"body\":\"x\",\"n\":1,\"name\":\"hi\"}");
    ck_assert_str_eq(ask("counter", "hi", "[1]"),
                     "{\"attempt\":1,\"body\":[1],\"n\":2,\"name\":\"hi\"}");
    ck_assert_uint_eq(metric_sum("sapling_exec_starts_total"), 1); /* it is used again */
    ck_assert_uint_eq(metric_sum("sapling_exec_calls_total"), 3);
    ck_assert_uint_eq(metric_sum("sapling_exec_call_ns"), 3);
    ck_assert_uint_eq(metric_sum("sapling_exec_failures_total"), 0);
}
END_TEST

START_TEST(a_query_is_answered_by_a_process)
{
    SapWorldHandler handler = NULL;
    void *module_ctx = NULL;
    SapModule *row = NULL;
    SapReply *reply = NULL;
    put_program("counter", counter);
    (void)ask("counter", "hi", "1");
    EXPECT_RC(sap_module_get(universe, "counter", 0, &row), SAP_OK);
    EXPECT_RC(exec_runner_resolve(runner, row, &handler, &module_ctx), SAP_OK);
    SapQuery query = {
        .size = sizeof query, .name = "n", .handler = handler, .module_ctx = module_ctx};
    EXPECT_RC(sap_world_query(universe, "counter", &query, &reply), SAP_OK);
    ck_assert_msg(!reply->failed, "%s", reply->payload);
    ck_assert_str_eq(reply->payload, "1");
    sap_reply_free(reply);
    exec_runner_release(runner, module_ctx);
    sap_module_free(row);
}
END_TEST

START_TEST(a_shell_script_may_answer_once_and_end)
{
    put_program(
        "once",
        "#!/bin/sh\nread line\nid=$(printf '%s' \"$line\" | sed 's/.*\"id\":\"\\([^\"]*\\)\".*/\\1/')\n"
        "printf '{\"id\":\"%s\",\"reply\":\"done\"}\\n' \"$id\"\n");
    for (int i = 0; i < 20; i++) {
        ck_assert_str_eq(ask("once", "hi", "1"), "\"done\"");
    }
    ck_assert_uint_eq(metric_sum("sapling_exec_failures_total"), 0);
}
END_TEST

START_TEST(a_program_reads_a_large_state_by_asking)
{
    char runner_text[160];
    SapModule module = module_of("asks", runner_text);
    module.state = SAP_MODULE_STATE_ASK;
    write_program(
        "asks", PYTHON
        "def ask(o):\n    print(json.dumps(o)); return json.loads(sys.stdin.readline())\n" ANSWERS
        "    a = {'id': e['id']}\n"
        "    assert 'state' not in e\n"
        "    if e['name'] == 'fill':\n"
        "        a['put'] = {'k/%d/%d' % (e['body'], i): 'x' * 60000 for i in range(40)}\n"
        "        a['reply'] = 1\n"
        "    elif e['name'] == 'all':\n"
        "        got = ask({'id': e['id'], 'scan': 'k/0/', 'get': ['none', 'k/1/1']})['got']\n"
        "        a['reply'] = [len(got), len(got['k/1/1'])]\n"
        "    elif e['name'] == 'too much':\n"
        "        ask({'id': e['id'], 'scan': 'k/'})\n"
        "    print(json.dumps(a))\n");
    put_module(&module);
    EXPECT_RC(sap_world_create(universe, "asks", "asks", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    for (int i = 0; i < 4; i++) {
        char body[8];
        (void)snprintf(body, sizeof body, "%d", i);
        (void)ask("asks", "fill", body);
    }
    ck_assert_str_eq(ask("asks", "all", "0"), "[41,60000]");
    ck_assert_str_eq(ask_to_fail("asks", "too much"),
                     "asks: asked for more than 8 MiB of its state at once: scan a longer prefix");
}
END_TEST

START_TEST(a_state_that_is_too_large_to_be_given_whole_pauses_the_world)
{
    char runner_text[160];
    put_program(
        "grows", PYTHON ANSWERS
        "    n = len(e['state'])\n"
        "    print(json.dumps({'id': e['id'], 'put': {str(n): 'x' * 65000}, 'reply': n}))\n");
    for (int i = 1; i <= 16; i++) { /* the create was the first */
        (void)ask("grows", "more", "null");
    }
    const char *id = send_to("grows", "more", "null");
    await_status("grows", SAP_WORLD_PAUSED,
                 "state_too_big: the state of the world has more than 1024 KiB");
    /* As it says: with the state asked for, the world goes on. */
    SapModule module = module_of("grows", runner_text);
    module.state = SAP_MODULE_STATE_ASK;
    write_program("grows",
                  PYTHON ANSWERS "    print(json.dumps({'id': e['id'], 'reply': 'on'}))\n");
    put_module(&module);
    ck_assert_str_eq(await("grows", id, false), "\"on\"");
}
END_TEST

START_TEST(worlds_of_programs_send_and_ask_each_other)
{
    put_program(
        "stock", PYTHON ANSWERS
        "    a = {'id': e['id']}\n"
        "    if e['type'] == 'message': a['reply'] = [e['name'], e['body'], e.get('headers'), e['from']]\n"
        "    print(json.dumps(a))\n");
    put_program(
        "order", PYTHON ANSWERS
        "    a = {'id': e['id']}\n"
        "    if e['type'] == 'message':\n"
        "        a['put'] = {'who': e['reply_to']}\n"
        "        a['do'] = [{'ask': 'stock', 'name': 'reserve', 'body': e['body'], 'ref': 'r', 'timeout': '30s', "
        "'headers': {'h': 'v'}}]\n"
        "        if e['name'] == 'send': a['do'] = [{'send': e['body'], 'name': 'hi', 'ref': 's'}]\n"
        "    if e['type'] == 'receipt':\n"
        "        a['do'] = [{'reply': e['state']['who'], 'body': [e['ref'], e['status'], e.get('code'), e['body']]}]\n"
        "    print(json.dumps(a))\n");
    ck_assert_str_eq(ask("order", "ask", "3"),
                     "[\"r\",\"ok\",null,[\"reserve\",3,{\"h\":\"v\"},\"order\"]]");
    ck_assert_str_eq(
        ask("order", "send", "\"stock\""),
        "[\"s\",\"ok\",null,{\"already\":false,\"enqueued\":true,\"world\":\"stock\"}]");
    const char *failed = ask("order", "send", "\"nobody\"");
    expect_part(
        failed,
        "[\"s\",\"error\",\"no_such_world\",{\"already\":false,\"enqueued\":false,\"world\":\"nobody\"}]");
}
END_TEST

/* What a program finds around itself. */
static const char looks_around[] = PYTHON ANSWERS
    "    import resource\n"
    "    status = open('/proc/self/status').read()\n"
    "    a = {'id': e['id'], 'reply': {\n"
    "        'env': sorted(k for k in os.environ if k != 'LC_CTYPE'), 'fds': sorted(int(f) for f in os.listdir('/proc/self/fd'))[:3],\n"
    "        'more': [os.readlink('/proc/self/fd/' + f) for f in os.listdir('/proc/self/fd') if int(f) > 2 and os.path.exists('/proc/self/fd/' + f)],\n"
    "        'privs': 'NoNewPrivs:\\t1' in status, 'group': os.getpgrp() == os.getpid(), 'uid': os.getuid(),\n"
    "        'groups': os.getgroups(), 'cwd': os.getcwd(), 'as': resource.getrlimit(resource.RLIMIT_AS)[0],\n"
    "        'core': resource.getrlimit(resource.RLIMIT_CORE)[0], 'blocked': 'SigBlk:\\t0000000000000000' in status,\n"
    "        'ignored': [l for l in status.split('\\n') if l.startswith('SigIgn')][0].split()[1], 'seed': os.environ.get('PYTHONHASHSEED'),\n"
    "        'unbuffered': os.environ.get('PYTHONUNBUFFERED')}}\n"
    "    print(json.dumps(a))\n";

START_TEST(a_program_gets_nothing_of_the_process_that_starts_it)
{
    char cwd[160];
    int leaks = open("/dev/null", O_RDONLY); /* not closed on exec */
    ck_assert_int_eq(setenv("SECRET_TOKEN", "x", 1), 0);
    (void)signal(SIGUSR1, SIG_IGN);
    put_program("looks", looks_around);
    const char *seen = ask("looks", "hi", "1");
    ck_assert_ptr_null(strstr(seen, "SECRET_TOKEN"));
    expect_part(seen, "\"fds\":[0,1,2]");
    expect_part(seen, "\"more\":[]");
    expect_part(seen, "\"privs\":true");
    expect_part(seen, "\"group\":true");
    expect_part(seen, "\"blocked\":true");
    expect_part(seen,
                "\"ignored\":\"0000000001001000\""); /* SIGPIPE and SIGXFSZ, by Python itself */
    expect_part(seen, "\"as\":1073741824");
    expect_part(seen, "\"core\":0");
    expect_part(seen, "\"seed\":\"0\"");
    expect_part(seen, "\"unbuffered\":\"1\"");
    (void)snprintf(cwd, sizeof cwd, "\"cwd\":\"%s\"", dir);
    expect_part(seen, cwd);
    (void)close(leaks);
}
END_TEST

static void set_up_as_nobody(void)
{
    runner_options = (ExecRunnerOptions){.user = "nobody", .python_path = "/srv/python"};
    open_stage();
}

START_TEST(a_program_runs_as_another_user)
{
    char uid[32];
    struct passwd *nobody = getpwnam("nobody");
    ck_assert_ptr_nonnull(nobody);
    (void)snprintf(uid, sizeof uid, "\"uid\":%u", (unsigned)nobody->pw_uid);
    put_program("looks", looks_around);
    const char *seen = ask("looks", "hi", "1");
    expect_part(seen, uid);
    expect_part(seen, "\"PYTHONPATH\"");
    ck_assert_ptr_null(strstr(seen, "\"groups\":[0"));
}
END_TEST

START_TEST(a_user_that_does_not_exist_is_refused)
{
    ExecRunner *none = NULL;
    ExecRunnerOptions options = {.user = "no-such-user-here"};
    ck_assert_int_eq(exec_runner_open(&options, &none), SAP_INVALID);
}
END_TEST

/* ---- Bad programs
 * ------------------------------------------------------------------------------ */

typedef struct BadCase {
    const char *name;
    const char *program;
    const char *says;   /* the whole text; or its beginning, if it ends with '*' */
    const char *reason; /* of the metric */
} BadCase;

#define FAILS(name, body) \
    name, PYTHON ANSWERS  \
        "    if e['type'] == 'create': print(json.dumps({'id': e['id']})); continue\n" body

static const BadCase bad_cases[] = {
    {FAILS("divides", "    1 / 0\n"),
     "divides exited with status 1: ZeroDivisionError: division by zero", "ended"},
    {FAILS("quits", "    sys.exit(3)\n"), "quits exited with status 3 and did not answer", "ended"},
    {FAILS("killed", "    os.kill(os.getpid(), 11)\n"),
     "killed was killed by signal 11 (Segmentation fault)", "ended"},
    {FAILS("prints", "    print('got here')\n    print(json.dumps({'id': e['id']}))\n"),
     "prints wrote \"got here\", not JSON: print to standard error", "stray"},
    {FAILS("other", "    print(json.dumps({'id': 'x'}))\n"),
     "other answered another id, \"x\" in place of \"other@2#1\": write one line for each event",
     "stray"},
    {FAILS("floods", "    while True: sys.stdout.write('x' * 65536)\n"),
     "floods wrote more than 8 MiB in one line", "stray"},
    {FAILS("lines", "    while True: print('y' * 100)\n"),
     "lines wrote \"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy...\", not JSON: print to standard error",
     "stray"},
    {FAILS("eats", "    x = bytearray(2 << 30)\n"),
     "eats ran out of memory, of which it may have 1024 MiB: MemoryError", "ended"},
    {FAILS("closes", "    sys.stdout.flush(); os.close(1); time.sleep(60)\n"),
     "closes closed its standard output and did not answer", "ended"},
    {FAILS("nul", "    sys.stdout.write(json.dumps({'id': e['id']}) + '\\0\\n')\n"),
     "nul answered with what is not JSON, at byte *", "stray"},
    {FAILS(
         "latin",
         "    sys.stdout.buffer.write(b'{\"id\":\"' + e['id'].encode() + b'\",\"reply\":\"\\xe9\"}\\n')\n    sys.stdout.flush()\n"),
     "latin answered with what is not JSON, at byte *", "stray"},
    {FAILS("huge", "    print('{\"id\":\"' + e['id'] + '\",\"reply\":' + '9' * 400 + '}')\n"),
     "huge answered with a number that is too large (byte *", "stray"},
    {FAILS("twins", "    print('{\"id\":\"' + e['id'] + '\",\"reply\":1,\"reply\":2}')\n"),
     "twins answered with what is not JSON, at byte *", "stray"},
    {FAILS("unknown", "    print(json.dumps({'id': e['id'], 'answer': 1}))\n"),
     "unknown: the answer has the unknown field \"answer\"; known are: *", "invalid"},
    {FAILS("says", "    print(json.dumps({'id': e['id'], 'fail': {'message': 'out of stock'}}))\n"),
     "out of stock", "failed"},
    {FAILS(
         "repeats",
         "    print(json.dumps({'id': e['id'], 'fail': {'message': 'not now', 'retry': True}}))\n"),
     "not now", "failed"},
    {"mute", "#!/bin/sh\nexit 0\n", "mute exited with status 0 and did not answer", "ended"},
    {"early", "#!/bin/sh\necho starting\nread line\n",
     "early wrote \"starting\", not JSON: print to standard error", "stray"},
    {"parent", "#!/bin/sh\nsleep 600 &\necho $! > child.pid\nread line\nexit 4\n",
     "parent exited with status 4 and did not answer", "ended"},
};

START_TEST(a_bad_program_fails_its_item_with_a_text_that_says_why)
{
    const BadCase *bad = &bad_cases[_i];
    size_t len = strlen(bad->says);
    put_program(bad->name, bad->program);
    const char *text = ask_to_fail(bad->name, "hi");
    bool whole = bad->says[len - 1] != '*';
    ck_assert_msg(whole ? strcmp(text, bad->says) == 0 : strncmp(text, bad->says, len - 1) == 0,
                  "%s", text);
    ck_assert_uint_ge(metric_of("sapling_exec_failures_total", bad->reason), 1);
    if (strcmp(bad->name, "parent") == 0) {
        expect_gone(read_pid("child.pid"));
    }
}
END_TEST

START_TEST(a_program_that_does_not_answer_is_killed_with_its_children)
{
    char runner_text[160];
    SapModule module = module_of("hangs", runner_text);
    module.timeout_ns = 700 * MS_NS;
    write_program(
        "hangs",
        "#!/bin/sh\ntrap '' TERM HUP INT\necho $$ > hangs.pid\n(trap '' TERM; echo $(exec sh -c 'echo $PPID') > child.pid; sleep 600) &\n"
        "read line\nsleep 600\n");
    put_module(&module);
    EXPECT_RC(sap_world_create(universe, "hangs", "hangs", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    ck_assert_str_eq(ask_to_fail("hangs", "hi"), "hangs: no answer in 700 ms; flush each line");
    expect_gone(read_pid("hangs.pid"));
    expect_gone(read_pid("child.pid"));
    ck_assert_uint_eq(metric_of("sapling_exec_failures_total", "timeout"), 2); /* the create, too */
}
END_TEST

START_TEST(an_answer_that_comes_twice_is_not_taken_for_another)
{
    char runner_text[160];
    SapModule module = module_of("twice", runner_text);
    module.max_attempts = 8;
    write_program("twice", PYTHON ANSWERS
                  "    a = json.dumps({'id': e['id'], 'reply': e['body']})\n    print(a)\n"
                  "    time.sleep(e['body'] or 0)\n    print(a)\n");
    put_module(&module);
    EXPECT_RC(sap_world_create(universe, "twice", "twice", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    ck_assert_str_eq(ask("twice", "hi", "0"), "0");
    ck_assert_str_eq(ask("twice", "hi", "0.2"), "0.2");
    ck_assert_str_eq(ask("twice", "hi", "1e-9"),
                     "1e-9"); /* the other answer comes when this one is awaited */
    pause_ms(400);
    ck_assert_str_eq(ask("twice", "hi", "0"), "0");
}
END_TEST

START_TEST(answers_may_be_long)
{
    put_program(
        "long", PYTHON ANSWERS
        "    a = {'id': e['id'], 'reply': 'x' * 400000}\n    a['put'] = {str(i): 'y' * 30000 for i in range(10)}\n    print(json.dumps(a))\n");
    ck_assert_uint_eq(strlen(ask("long", "hi", "1")), TEXT - 1);
    (void)ask("long", "hi", "1");
}
END_TEST

START_TEST(standard_error_is_the_log_of_the_world)
{
    put_program(
        "talks", PYTHON ANSWERS
        "    print('hello ' + e['type'], file=sys.stderr)\n    print('\\x1b[31mred', file=sys.stderr)\n"
        "    print('z' * 5000, file=sys.stderr)\n"
        "    for i in range(e['body'] or 0): print('line', i, file=sys.stderr)\n"
        "    print(json.dumps({'id': e['id'], 'reply': 1}))\n");
    (void)ask("talks", "hi", "0");
    ck_assert_uint_eq(count_logged("world.log world=talks module=talks text=\"hello message\""), 1);
    ck_assert_uint_eq(count_logged("\x1b"), 0);
    ck_assert_uint_eq(count_logged("zzzz"), 2 * 1020); /* one line of 1023 bytes for each event */
    (void)ask("talks", "hi", "5000");
    (void)ask("talks", "hi", "0");
    ck_assert_uint_lt(count_logged("text=\"line "), 1500);
    pause_ms(1100);
    (void)ask("talks", "hi", "0");
    ck_assert_uint_ge(count_logged("more lines in one second were dropped"), 1);
}
END_TEST

START_TEST(a_program_that_writes_errors_without_end_is_still_bounded_in_time)
{
    char runner_text[160];
    SapModule module = module_of("shouts", runner_text);
    module.timeout_ns = 1000 * MS_NS;
    write_program("shouts", PYTHON "while True: os.write(2, b'e' * 65536)\n");
    put_module(&module);
    EXPECT_RC(sap_world_create(universe, "shouts", "shouts", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    ck_assert_str_eq(ask_to_fail("shouts", "hi"), "shouts: no answer in 1 s; flush each line");
}
END_TEST

/* ---- Programs that are not there
 * --------------------------------------------------------------- */

START_TEST(a_missing_program_makes_its_world_wait)
{
    char runner_text[160];
    char reason[200];
    SapModule module = module_of("late", runner_text);
    put_module(&module);
    EXPECT_RC(sap_world_create(universe, "late", "late", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    (void)snprintf(reason, sizeof reason, "waiting to try again: there is no program %s/late", dir);
    await_status("late", SAP_WORLD_ACTIVE, reason);
    write_file("late", counter, 0644);
    await_status("late", SAP_WORLD_ACTIVE,
                 "waiting to try again: late is not executable: chmod +x late");
    write_file("late", "#!/no/such/thing\n", 0755);
    await_status(
        "late", SAP_WORLD_ACTIVE,
        "waiting to try again: late: its first line names /no/such/thing, which is not there");
    const char *id = send_to("late", "hi", "1");
    write_program("late", counter);
    ck_assert_str_eq(await("late", id, false),
                     "{\"attempt\":1,\"body\":1,\"n\":1,\"name\":\"hi\"}");
}
END_TEST

START_TEST(checking_a_runner_says_what_is_wrong_with_it)
{
    static const struct {
        const char *file; /* NULL: none */
        mode_t mode;
        const char *runner;
        int code;
        const char *says; /* %s: the directory */
    } cases[] = {
        {"#!/bin/sh\n", 0755, "exec:%s/p", SAP_OK, ""},
        {"#!/usr/bin/env -S python3 -u\n", 0755, "exec:%s/p  'a b' \"c\"", SAP_OK, ""},
        {"\x7f"
         "ELF",
         0644, "exec:%s/p", SAP_INVALID, "p is not executable: chmod +x p"},
        {NULL, 0, "exec:%s/gone", SAP_NOTFOUND, "there is no program %s/gone"},
        {NULL, 0, "exec:%s", SAP_INVALID, "%s is not a file that can be run"},
        {"echo hi\n", 0755, "exec:%s/p", SAP_INVALID,
         "p is text without a first line that says what runs it: begin it with #!/usr/bin/env python3"},
        {"", 0755, "exec:%s/p", SAP_INVALID,
         "p is text without a first line that says what runs it: begin it with #!/usr/bin/env python3"},
        {"#!/bin/sh\r\n", 0755, "exec:%s/p", SAP_INVALID,
         "p: its first line ends with CR LF, which no interpreter has in its name: sed -i 's/\\r$//' p"},
        {"#!/no/python\n", 0755, "exec:%s/p", SAP_INVALID,
         "p: its first line names /no/python, which is not there"},
        {"#!/usr/bin/env pythonn3\n", 0755, "exec:%s/p", SAP_INVALID,
         "p: its first line names pythonn3, which is not on the PATH"},
        {"#!\n", 0755, "exec:%s/p", SAP_INVALID,
         "p: its first line names no interpreter: #!/usr/bin/env python3"},
        {NULL, 0, "exec:hello.py", SAP_INVALID,
         "hello.py is not an absolute path: write it as in exec:/srv/hello.py"},
        {NULL, 0, "exec:", SAP_INVALID,
         "exec: needs the path of a program, such as exec:/srv/hello.py"},
        {NULL, 0, "exec:/bin/sh 'x", SAP_INVALID, "a quote in the runner is not closed"},
        {NULL, 0, "native:nobody", SAP_NOTFOUND, "no module nobody is built into this program"},
        {NULL, 0, "native:", SAP_INVALID,
         "native: needs the name of a module, such as native:counter"},
        {NULL, 0, "http://x", SAP_INVALID,
         "http://x is no runner: write exec:/srv/hello.py, or native:NAME"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char runner_text[256];
        char says[256];
        char message[512];
        uint8_t code[32];
        if (cases[i].file != NULL) {
            write_file("p", cases[i].file, cases[i].mode);
        }
        const char *at = strstr(cases[i].runner, "%s");
        (void)snprintf(runner_text, sizeof runner_text, "%.*s%s%s",
                       at == NULL ? 256 : (int)(at - cases[i].runner), cases[i].runner,
                       at == NULL ? "" : dir, at == NULL ? "" : at + 2);
        at = strstr(cases[i].says, "%s");
        (void)snprintf(says, sizeof says, "%.*s%s%s", at == NULL ? 256 : (int)(at - cases[i].says),
                       cases[i].says, at == NULL ? "" : dir, at == NULL ? "" : at + 2);
        int rc = exec_check(runner_text, code, message, sizeof message);
        ck_assert_msg(rc == cases[i].code, "%s: %d %s", runner_text, rc, message);
        ck_assert_str_eq(message, says);
    }
}
END_TEST

START_TEST(settings_that_are_wrong_are_named)
{
    static const struct {
        const char *settings;
        const char *says;
    } cases[] = {
        {"", ""},
        {"{}", ""},
        {"{\"processes\":2,\"task_processes\":256,\"max_memory_mib\":64,\"heartbeat\":\"30s\"}",
         ""},
        {"[]", "the module's settings must be an object of JSON"},
        {"{\"pool\":4}",
         "the module's settings has the unknown field \"pool\"; known are: processes, task_processes, "
         "max_memory_mib, heartbeat"},
        {"{\"processes\":0}", "settings: \"processes\" must be a whole number from 1 to 256"},
        {"{\"max_memory_mib\":1}",
         "settings: \"max_memory_mib\" must be a whole number from 16 to 1048576"},
        {"{\"heartbeat\":true}",
         "settings: \"heartbeat\" must be a duration: a number of milliseconds, or text such as "
         "\"500ms\", \"30s\", \"15m\", \"2h\", \"7d\""},
    };
    char runner_text[160];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char message[256];
        ck_assert_int_eq(exec_check_settings(cases[i].settings, message, sizeof message),
                         cases[i].says[0] == 0 ? SAP_OK : SAP_INVALID);
        ck_assert_str_eq(message, cases[i].says);
    }
    SapModule module = module_of("wrong", runner_text);
    module.settings = cases[3].settings;
    write_program("wrong", counter);
    put_module(&module);
    EXPECT_RC(sap_world_create(universe, "wrong", "wrong", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    await_status("wrong", SAP_WORLD_ACTIVE,
                 "waiting to try again: the module's settings must be an object of JSON");
}
END_TEST

/* ---- Code that changes
 * ------------------------------------------------------------------------- */

START_TEST(changed_code_runs_with_the_next_event)
{
    put_program("edited",
                PYTHON ANSWERS "    print(json.dumps({'id': e['id'], 'reply': 'old'}))\n");
    ck_assert_str_eq(ask("edited", "hi", "1"), "\"old\"");
    ck_assert_uint_eq(count_logged("edited: new code "), 0);
    write_program("edited",
                  PYTHON ANSWERS "    print(json.dumps({'id': e['id'], 'reply': 'new'}))\n");
    ck_assert_str_eq(ask("edited", "hi", "1"), "\"new\"");
    ck_assert_uint_eq(count_logged("edited: new code "), 1);
    /* The same bytes under another time are the same code. */
    write_program("edited",
                  PYTHON ANSWERS "    print(json.dumps({'id': e['id'], 'reply': 'new'}))\n");
    ck_assert_str_eq(ask("edited", "hi", "1"), "\"new\"");
    ck_assert_uint_eq(count_logged("edited: new code "), 1);
    ck_assert_uint_eq(metric_sum("sapling_exec_starts_total"), 2);
}
END_TEST

START_TEST(the_script_of_an_interpreter_is_code_too)
{
    char runner_text[160];
    SapModule module = module_of("script", runner_text);
    (void)snprintf(runner_text, sizeof runner_text, "exec:/usr/bin/python3 %s/script", dir);
    write_file("script", PYTHON ANSWERS "    print(json.dumps({'id': e['id'], 'reply': 'old'}))\n",
               0644);
    put_module(&module);
    EXPECT_RC(sap_world_create(universe, "script", "script", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    ck_assert_str_eq(ask("script", "hi", "1"), "\"old\"");
    write_file("script", PYTHON ANSWERS "    1 / 0\n", 0644);
    ck_assert_str_eq(ask_to_fail("script", "hi"),
                     "script exited with status 1: ZeroDivisionError: division by zero");
}
END_TEST

/* ---- Many at once
 * ------------------------------------------------------------------------------ */

START_TEST(a_program_that_hangs_holds_up_no_other_world)
{
    char runner_text[160];
    enum { STUCK = 24 };
    SapModule module = module_of("stuck", runner_text);
    module.timeout_ns = 20000 * MS_NS;
    write_program("stuck", "#!/bin/sh\nread line\nsleep 600\n");
    put_module(&module);
    put_program("quick", counter);
    (void)ask("quick", "hi", "1");
    for (int i = 0; i < STUCK; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "stuck%d", i);
        EXPECT_RC(sap_world_create(universe, name, "stuck", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    }
    pause_ms(1500); /* all its processes hang now */
    uint64_t start_ns = clock_mono_ns(NULL);
    for (int i = 0; i < 10; i++) {
        (void)ask("quick", "hi", "1");
    }
    uint64_t took_ms = (clock_mono_ns(NULL) - start_ns) / MS_NS;
    printf("10 messages beside %d worlds that hang: %" PRIu64 " ms\n", STUCK, took_ms);
    ck_assert_uint_lt(took_ms, 15000); /* less than what hangs may take */
    for (int i = 0; i < STUCK; i++) {  /* whoever stops a world ends its call at once */
        char name[16];
        (void)snprintf(name, sizeof name, "stuck%d", i);
        EXPECT_RC(sap_world_pause(universe, name, "enough"), SAP_OK);
    }
}
END_TEST

START_TEST(many_worlds_share_the_processes_of_a_module)
{
    enum { WORLDS = 20, MESSAGES = SAP_SANITIZED ? 5 : 20 };
    put_program("shared", counter);
    char ids[WORLDS][32];
    uint64_t start_ns = clock_mono_ns(NULL);
    for (int w = 0; w < WORLDS; w++) {
        char name[16];
        (void)snprintf(name, sizeof name, "s%d", w);
        EXPECT_RC(sap_world_create(universe, name, "shared", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
        for (int i = 0; i < MESSAGES; i++) {
            (void)snprintf(ids[w], sizeof ids[w], "%s", send_to(name, "hi", "1"));
        }
    }
    for (int w = 0; w < WORLDS; w++) {
        char name[16];
        char wanted[80];
        (void)snprintf(name, sizeof name, "s%d", w);
        (void)snprintf(wanted, sizeof wanted, "{\"attempt\":1,\"body\":1,\"n\":%d,\"name\":\"hi\"}",
                       MESSAGES);
        ck_assert_str_eq(await(name, ids[w], false), wanted);
    }
    printf("%d messages to %d worlds in %" PRIu64 " ms\n", WORLDS * MESSAGES, WORLDS,
           (clock_mono_ns(NULL) - start_ns) / MS_NS);
    ck_assert_uint_le(metric_sum("sapling_exec_starts_total"), 4);
    /* On a slow machine some may have waited for a process in vain, and have come again. */
    ck_assert_uint_eq(metric_sum("sapling_exec_failures_total"),
                      metric_of("sapling_exec_failures_total", "busy"));
}
END_TEST

/* ---- Tasks
 * ------------------------------------------------------------------------------------- */

/* A world whose messages ask for a task, and that keeps what becomes of it. */
#define TASKS(body)                                                                                                     \
    PYTHON ANSWERS                                                                                                      \
        "    a = {'id': e['id']}\n"                                                                                     \
        "    if e['type'] == 'message' and e['name'] == 'run':\n"                                                       \
        "        a['do'] = [{'task': 't', 'args': e['body'], 'ref': 'r', 'retry': {'timeout': '30s'}}]\n"               \
        "        a['put'] = {'who': e['reply_to']}\n"                                                                   \
        "    if e['type'] == 'message' and e['name'] == 'cancel':\n"                                                    \
        "        a['do'] = [{'cancel': 'r'}]\n"                                                                         \
        "        a['reply'] = 'cancelled'\n"                                                                            \
        "    if e['type'] == 'receipt':\n"                                                                              \
        "        a['do'] = [{'reply': e['state']['who'], 'body': [e['ref'], e['status'], e.get('code'), e['body']]}]\n" \
        "    if e['type'] == 'task':\n" body "    print(json.dumps(a))\n"

typedef struct TaskCase {
    const char *program;
    const char *settings;
    const char *receipt;
} TaskCase;

static const TaskCase task_cases[] = {
    {TASKS("        a['ok'] = [e['name'], e['body'], len(e['key']), e['attempt'], e['world']]\n"),
     NULL, "[\"r\",\"ok\",null,[\"t\",{\"n\":1},64,1,\"tasks\"]]"},
    {TASKS("        a['error'] = {'code': 'declined', 'message': 'no', 'retry': False}\n"), NULL,
     "[\"r\",\"error\",\"declined\",{\"code\":\"declined\",\"message\":\"no\",\"retry\":false}]"},
    {TASKS("        a['error' if e['attempt'] == 1 else 'ok'] = {'n': e['attempt']}\n"), NULL,
     "[\"r\",\"ok\",null,{\"n\":2}]"},
    {TASKS("        a['error'] = {'n': e['attempt']}\n"), NULL,
     "[\"r\",\"error\",\"task_failed\",{\"n\":2}]"},
    {TASKS(
         "        print(json.dumps({'id': e['id'], 'beat': 1}))\n        print(json.dumps({'id': e['id'], 'beat': None}))\n        a['ok'] = 1\n"),
     NULL, "[\"r\",\"ok\",null,1]"},
    {TASKS("        sys.exit(7)\n"), NULL,
     "[\"r\",\"error\",\"exited\",{\"message\":\"tasks exited with status 7 and did not answer\"}]"},
    {TASKS("        print('working')\n"), NULL,
     "[\"r\",\"error\",\"bad_answer\",{\"message\":\"tasks wrote \\\"working\\\", not JSON: print to standard error\"}]"},
    {TASKS("        a['put'] = {}\n"), NULL,
     "[\"r\",\"error\",\"bad_answer\",{\"message\":\"tasks: the answer to a task has the unknown field \\\"put\\\"; known are: id, ok, error, beat\"}]"},
    {TASKS("        time.sleep(60)\n"), "{\"heartbeat\":\"300ms\"}",
     "[\"r\",\"error\",\"no_heartbeat\",{\"message\":\"tasks: no sign of life in 300 ms; write {\\\"id\\\":...,\\\"beat\\\":null}, and flush each line\"}]"},
    {TASKS(
         "        for i in range(5):\n            time.sleep(0.2)\n            print(json.dumps({'id': e['id'], 'beat': i}))\n        a['ok'] = 'alive'\n"),
     "{\"heartbeat\":\"5s\"}", "[\"r\",\"ok\",null,\"alive\"]"},
    {TASKS("        a['ok'] = {'b64': 'AAE='}\n"), NULL, "[\"r\",\"ok\",null,{\"b64\":\"AAE=\"}]"},
};

static void put_tasks(const char *program, const char *settings)
{
    char runner_text[160];
    SapModule module = module_of("tasks", runner_text);
    module.settings = settings;
    write_program("tasks", program);
    put_module(&module);
    EXPECT_RC(sap_world_create(universe, "tasks", "tasks", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
}

START_TEST(a_task_ends_with_a_receipt)
{
    const TaskCase *task = &task_cases[_i];
    put_tasks(task->program, task->settings);
    ck_assert_str_eq(ask("tasks", "run", "{\"n\":1}"), task->receipt);
    ck_assert_uint_eq(metric_sum("sapling_exec_tasks_running"), 0);
}
END_TEST

START_TEST(a_cancelled_task_is_killed_with_its_children)
{
    put_tasks(
        TASKS(
            "        os.system('sleep 600 & echo $! > child.pid')\n"
            "        open('task.new', 'w').write('%d\\n' % os.getpid()); os.rename('task.new', 'task.pid')\n"
            "        time.sleep(600)\n"),
        NULL);
    (void)send_to("tasks", "run", "1");
    pid_t pid = read_pid("task.pid");
    pid_t child = read_pid("child.pid");
    ck_assert_str_eq(ask("tasks", "cancel", "1"), "\"cancelled\"");
    expect_gone(pid);
    expect_gone(child);
}
END_TEST

START_TEST(a_host_that_stops_ends_its_tasks)
{
    put_tasks(
        TASKS(
            "        open('task.new', 'w').write('%d\\n' % os.getpid()); os.rename('task.new', 'task.pid')\n        time.sleep(600)\n"),
        NULL);
    (void)send_to("tasks", "run", "1");
    pid_t pid = read_pid("task.pid");
    EXPECT_RC(host_stop(host, STOP_NS), SAP_OK);
    expect_gone(pid);
    start_host();
}
END_TEST

/* ---- What is left
 * ------------------------------------------------------------------------------ */

static const char family[] =
    "#!/bin/sh\nsleep 600 &\necho $! > child.new; mv child.new child.pid\necho $$ > own.new; mv own.new own.pid\n"
    "while read line; do\nid=$(printf '%s' \"$line\" | sed 's/.*\"id\":\"\\([^\"]*\\)\".*/\\1/')\n"
    "printf '{\"id\":\"%s\",\"reply\":1}\\n' \"$id\"\ndone\n";

START_TEST(a_runner_that_is_closed_leaves_no_process)
{
    put_program("family", family);
    (void)ask("family", "hi", "1");
    pid_t own = read_pid("own.pid");
    pid_t child = read_pid("child.pid");
    ck_assert_int_eq(kill(own, 0), 0);
    EXPECT_RC(host_stop(host, STOP_NS), SAP_OK);
    exec_runner_close(runner);
    ck_assert_int_eq(kill(own, 0), -1);
    expect_gone(child);
    metrics_release(&metrics);
    EXPECT_RC(metrics_init(&metrics), SAP_OK);
    EXPECT_RC(exec_runner_open(&runner_options, &runner), SAP_OK);
    start_host();
}
END_TEST

static void run_family(void)
{
    runner_options = (ExecRunnerOptions){0};
    open_stage();
    put_program("family", family);
    (void)ask("family", "hi", "1");
}

START_TEST(a_process_that_is_killed_leaves_no_program)
{
    int ends[2]; /* the child says by it where its programs are */
    ck_assert_int_eq(pipe(ends), 0);
    pid_t node = fork();
    if (node == 0) {
        (void)close(ends[0]);
        run_family();
        EXPECT(write(ends[1], dir, sizeof dir) == (ssize_t)sizeof dir, "no pipe");
        for (;;) {
            pause();
        }
    }
    (void)close(ends[1]);
    ck_assert_int_eq(read(ends[0], dir, sizeof dir), sizeof dir);
    pid_t own = read_pid("own.pid");
    pid_t child = read_pid("child.pid");
    ck_assert_int_eq(kill(own, 0), 0);
    ck_assert_int_eq(kill(child, 0), 0);
    ck_assert_int_eq(kill(node, SIGKILL), 0);
    ck_assert_int_eq(waitpid(node, NULL, 0), node);
    expect_gone(own);
    expect_gone(child);
    remove_dir();
    (void)close(ends[0]);
}
END_TEST

/* The next event gets another one, and nobody notices. */
START_TEST(a_process_may_die_while_it_is_idle)
{
    put_program("family", family);
    (void)ask("family", "hi", "1");
    ck_assert_int_eq(kill(read_pid("own.pid"), SIGKILL), 0);
    ck_assert_str_eq(ask("family", "hi", "1"), "1");
    ck_assert_uint_eq(metric_sum("sapling_exec_failures_total"), 0);
}
END_TEST

static void set_up_impatient(void)
{
    runner_options = (ExecRunnerOptions){.idle_ns = 300 * MS_NS};
    open_stage();
}

START_TEST(a_process_without_work_is_ended_with_its_children)
{
    put_program("family", family);
    (void)ask("family", "hi", "1");
    pid_t own = read_pid("own.pid");
    pid_t child = read_pid("child.pid");
    expect_gone(own);
    expect_gone(child);
    for (int ms = 0; ms < PATIENCE_MS && metric_sum("sapling_exec_processes") > 0; ms += LOOK_MS) {
        pause_ms(LOOK_MS);
    }
    ck_assert_uint_eq(metric_sum("sapling_exec_processes"), 0);
    (void)ask("family", "hi", "1");
    ck_assert_uint_eq(metric_sum("sapling_exec_starts_total"), 2);
}
END_TEST

static TCase *new_case(Suite *suite, const char *name, void (*before)(void), void (*after)(void))
{
    TCase *tests = tcase_create(name);
    tcase_set_timeout(tests, TIMEOUT_S);
    tcase_add_checked_fixture(tests, before, after);
    suite_add_tcase(suite, tests);
    return tests;
}

int main(void)
{
    Suite *suite = suite_create("node_exec");
    TCase *good = new_case(suite, "good programs", set_up, tear_down);
    tcase_add_test(good, a_program_counts);
    tcase_add_test(good, a_query_is_answered_by_a_process);
    tcase_add_test(good, a_shell_script_may_answer_once_and_end);
    tcase_add_test(good, a_program_reads_a_large_state_by_asking);
    tcase_add_test(good, a_state_that_is_too_large_to_be_given_whole_pauses_the_world);
    tcase_add_test(good, worlds_of_programs_send_and_ask_each_other);
    tcase_add_test(good, a_program_gets_nothing_of_the_process_that_starts_it);
    tcase_add_test(good, a_user_that_does_not_exist_is_refused);
    tcase_add_test(good, answers_may_be_long);
    tcase_add_test(good, standard_error_is_the_log_of_the_world);
    if (geteuid() == 0) {
        TCase *others = new_case(suite, "other users", set_up_as_nobody, tear_down);
        tcase_add_test(others, a_program_runs_as_another_user);
    } else {
        printf("not root: programs were not run as another user\n");
    }
    TCase *bad = new_case(suite, "bad programs", set_up, tear_down);
    tcase_add_loop_test(bad, a_bad_program_fails_its_item_with_a_text_that_says_why, 0,
                        sizeof bad_cases / sizeof bad_cases[0]);
    tcase_add_test(bad, a_program_that_does_not_answer_is_killed_with_its_children);
    tcase_add_test(bad, an_answer_that_comes_twice_is_not_taken_for_another);
    tcase_add_test(bad, a_program_that_writes_errors_without_end_is_still_bounded_in_time);
    tcase_add_test(bad, a_missing_program_makes_its_world_wait);
    tcase_add_test(bad, checking_a_runner_says_what_is_wrong_with_it);
    tcase_add_test(bad, settings_that_are_wrong_are_named);
    tcase_add_test(bad, changed_code_runs_with_the_next_event);
    tcase_add_test(bad, the_script_of_an_interpreter_is_code_too);
    TCase *many = new_case(suite, "many at once", set_up, tear_down);
    tcase_add_test(many, a_program_that_hangs_holds_up_no_other_world);
    tcase_add_test(many, many_worlds_share_the_processes_of_a_module);
    TCase *tasks = new_case(suite, "tasks", set_up, tear_down);
    tcase_add_loop_test(tasks, a_task_ends_with_a_receipt, 0,
                        sizeof task_cases / sizeof task_cases[0]);
    tcase_add_test(tasks, a_cancelled_task_is_killed_with_its_children);
    tcase_add_test(tasks, a_host_that_stops_ends_its_tasks);
    TCase *left = new_case(suite, "what is left", set_up, tear_down);
    tcase_add_test(left, a_runner_that_is_closed_leaves_no_process);
    tcase_add_test(left, a_process_may_die_while_it_is_idle);
    TCase *idle = new_case(suite, "idle", set_up_impatient, tear_down);
    tcase_add_test(idle, a_process_without_work_is_ended_with_its_children);
    TCase *killed = tcase_create("killed");
    tcase_set_timeout(killed, TIMEOUT_S);
    tcase_add_test(killed, a_process_that_is_killed_leaves_no_program);
    suite_add_tcase(suite, killed);
    return suite_run(suite);
}
