/* universe_scene.c - see universe_scene.h. */
#include "support/universe_scene.h"

#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "support/expect.h"
#include "universe/cycle.h"

enum { MOST_STEPS = 100000, SECOND_MS = 1000 };

#define START_NS UINT64_C(1700000000000000000)

/* ---- The store ------------------------------------------------------------------------------- */

static SapStoreFault scene_hook(void *ctx, SapStoreCall call)
{
    Scene *scene = (Scene *)ctx;
    if (scene->on_call != NULL) {
        scene->on_call(call);
    }
    if (scene->fault_times == 0 || call != scene->fault_call) {
        return SAP_STORE_FAULT_NONE;
    }
    scene->fault_times--;
    return scene->fault;
}

void scene_open(Scene *scene, const char *url, bool needs_init)
{
    SapStoreOptions options = {.size = sizeof options, .schema = "sapling:universe@1"};
    *scene = (Scene){.store = NULL};
    manual_clock_init(&scene->manual, START_NS);
    scene->clock = manual_clock(&scene->manual);
    options.tables = universe_tables(&options.table_count);
    options.hook = scene_hook;
    options.hook_ctx = scene;
    options.wall_ns = scene->clock.wall_ns;
    options.boot_ns = scene->clock.boot_ns;
    options.clock_ctx = scene->clock.ctx;
    if (needs_init) {
        EXPECT_RC(sap_universe_init(url), SAP_OK);
    }
    EXPECT_RC(sap_store_open(url, &options, &scene->store), SAP_OK);
    EXPECT_RC(universe_open_on(scene->store, &scene->clock, NULL, SCENE_UNIVERSE, &scene->universe),
              SAP_OK);
}

bool scene_open_bed(Scene *scene, StoreBeds *beds, int bed)
{
    char url[SUITE_URL_MAX];
    if (bed >= beds->count) {
        return false;
    }
    store_suite_next_url(&beds->all[bed], url, sizeof url);
    scene_open(scene, url, beds->all[bed].needs_init);
    return true;
}

void scene_close(Scene *scene)
{
    for (int i = 0; i < SCENE_WORKERS; i++) {
        if (scene->workers[i] != NULL) {
            scene_leave(scene, scene->workers[i]);
        }
    }
    EXPECT_RC(sap_universe_close(scene->universe), SAP_OK);
    EXPECT_RC(sap_store_close(scene->store), SAP_OK);
    EXPECT(mem_live_bytes(MEM_UNIVERSE) == 0 && mem_live_bytes(MEM_STORE) == 0, "memory leaked");
}

/* ---- Workers --------------------------------------------------------------------------------- */

SapWorker *scene_worker_with(Scene *scene, const SapWorkerOptions *options)
{
    int at = 0;
    while (at < SCENE_WORKERS && scene->workers[at] != NULL) {
        at++;
    }
    EXPECT(at < SCENE_WORKERS, "too many workers");
    EXPECT_RC(sap_worker_open(scene->universe, options, &scene->workers[at]), SAP_OK);
    return scene->workers[at];
}

SapWorker *scene_worker(Scene *scene, const char *name)
{
    SapWorkerOptions options = {.size = sizeof options, .name = name};
    return scene_worker_with(scene, &options);
}

static void forget_worker(Scene *scene, const SapWorker *worker)
{
    for (int i = 0; i < SCENE_WORKERS; i++) {
        if (scene->workers[i] == worker) {
            scene->workers[i] = NULL;
        }
    }
}

void scene_kill(Scene *scene, SapWorker *worker)
{
    forget_worker(scene, worker);
    worker_abandon(worker);
}

void scene_leave(Scene *scene, SapWorker *worker)
{
    forget_worker(scene, worker);
    EXPECT_RC(sap_worker_close(worker), SAP_OK);
}

void scene_pass_ms(Scene *scene, uint64_t ms)
{
    while (ms > 0) {
        uint64_t some = ms < SECOND_MS ? ms : SECOND_MS;
        manual_clock_advance_ms(&scene->manual, some);
        ms -= some;
        for (int i = 0; i < SCENE_WORKERS; i++) {
            if (scene->workers[i] != NULL) {
                (void)sap_worker_renew(scene->workers[i]);
            }
        }
    }
}

void scene_run_role(SapWorker *worker, SapRole role)
{
    bool busy = true;
    for (int i = 0; busy; i++) {
        EXPECT(i < MOST_STEPS, "there is no end of work");
        EXPECT_RC(sap_worker_step_role(worker, role, &busy), SAP_OK);
    }
}

void scene_run(SapWorker *worker)
{
    scene_run_role(worker, SAP_ROLE_WORLDS);
}

SapWorkerStats scene_stats(SapWorker *worker)
{
    SapWorkerStats stats;
    EXPECT_RC(sap_worker_stats(worker, &stats), SAP_OK);
    return stats;
}

/* ---- Worlds ---------------------------------------------------------------------------------- */

void scene_create(Scene *scene, const char *world, const char *module)
{
    EXPECT_RC(sap_world_create(scene->universe, world, module, SAP_ENCODING_JSON, NULL, 0), SAP_OK);
}

void scene_send(Scene *scene, const char *world, const char *name, const char *id)
{
    SapIngress item = {.size = sizeof item, .name = name, .id = id, .encoding = SAP_ENCODING_RAW};
    item.payload = id;
    item.payload_len = id == NULL ? 0 : strlen(id);
    item.want_reply = id != NULL;
    EXPECT_RC(sap_enqueue_ingress(scene->universe, world, &item, NULL), SAP_OK);
}

SapWorldInfo scene_info(Scene *scene, const char *world)
{
    SapWorldInfo info;
    EXPECT_RC(sap_world_info(scene->universe, world, &info), SAP_OK);
    return info;
}

static int keep_letter(void *ctx, const SapDeadLetter *letter)
{
    SceneLetter **next = (SceneLetter **)ctx;
    SceneLetter *kept = (*next)++;
    kept->height = letter->height;
    kept->attempts = letter->attempts;
    kept->payload_len = letter->payload_len;
    memcpy(kept->seq, letter->seq, sizeof kept->seq);
    (void)snprintf(kept->name, sizeof kept->name, "%s", letter->name);
    (void)snprintf(kept->id, sizeof kept->id, "%s", letter->id);
    (void)snprintf(kept->error, sizeof kept->error, "%s", letter->error);
    return SAP_OK;
}

uint32_t scene_letters(Scene *scene, const char *world, SceneLetter letters_out[SCENE_LETTERS])
{
    SceneLetter *next = letters_out;
    EXPECT_RC(sap_dead_letters(scene->universe, world, keep_letter, &next), SAP_OK);
    return (uint32_t)(next - letters_out);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Counts the rows of a range; the key of the first goes to *first. */
static uint32_t count_rows(Scene *scene, const RowKey *prefix, RowKey *first)
{
    enum { AT_ONCE = 256 };
    RowKey from = *prefix;
    RowKey to;
    SapStoreRange range;
    SapStoreTxn *txn = NULL;
    const SapStoreRow *rows = NULL;
    uint32_t count = AT_ONCE;
    uint32_t total = 0;
    row_range(prefix, &to, &range);
    EXPECT_RC(sap_store_begin(scene->store, SAP_STORE_READ_NEWEST, &txn), SAP_OK);
    while (count == AT_ONCE) {
        range.from = from.bytes;
        range.from_len = from.len;
        EXPECT_RC(sap_store_scan(txn, &range, false, AT_ONCE, &rows, &count), SAP_OK);
        if (total == 0 && count > 0) {
            *first = (RowKey){.table = prefix->table, .len = rows[0].key_len};
            memcpy(first->bytes, rows[0].key, rows[0].key_len);
        }
        total += count;
        if (count > 0) {
            row_key_after(&from, &rows[count - 1]);
        }
    }
    sap_store_abort(txn);
    return total;
}

uint32_t scene_rows(Scene *scene, uint32_t table)
{
    RowKey prefix;
    RowKey first;
    row_key_universe(&prefix, table, SCENE_UNIVERSE);
    return count_rows(scene, &prefix, &first);
}

static uint32_t find_world_rows(Scene *scene, uint32_t table, const char *world, RowKey *first)
{
    RowKey prefix;
    UniverseName name;
    EXPECT_RC(universe_name_set(&name, world), SAP_OK);
    row_key_world(&prefix, table, SCENE_UNIVERSE, &name);
    return count_rows(scene, &prefix, first);
}

uint32_t scene_world_rows(Scene *scene, uint32_t table, const char *world)
{
    RowKey first;
    return find_world_rows(scene, table, world, &first);
}

typedef struct RowPut {
    uint32_t table;
    Slice key;
    Slice val;
} RowPut;

static int put_row_body(SapStoreTxn *txn, void *ctx)
{
    const RowPut *put = (const RowPut *)ctx;
    SapStoreGuard guard = {put->table, put->key.data, (uint32_t)put->key.len, true};
    int rc = sap_store_guard(txn, &guard, 1);
    return rc == SAP_OK ? sap_store_put(txn, put->table, put->key.data, (uint32_t)put->key.len,
                                        put->val.data, (uint32_t)put->val.len)
                        : rc;
}

void scene_put_row(Scene *scene, uint32_t table, const void *key, uint32_t key_len, const void *val,
                   uint32_t val_len)
{
    RowPut put = {table, {key, key_len}, {val, val_len}};
    EXPECT_RC(sap_store_run(scene->store, SAP_STORE_GUARDED, put_row_body, &put, NULL), SAP_OK);
}

void scene_damage(Scene *scene, uint32_t table, const char *world)
{
    RowKey first;
    EXPECT(find_world_rows(scene, table, world, &first) > 0, "%s has no row there", world);
    scene_put_row(scene, table, first.bytes, first.len, "\xFF\xFEgarbage", 9);
}

/* ---- Handlers that do not return ------------------------------------------------------------- */

/* Of a job, in ExecutorJob.state. */
typedef enum SceneJob { SCENE_JOB_HELD = 1, SCENE_JOB_ENDED = 2 } SceneJob;

static const char *name_of_job(const ExecutorJob *job)
{
    const HotWorld *world =
        (const HotWorld *)(const void *)((const char *)job - offsetof(HotWorld, job));
    return world->lease.name.text;
}

static bool begins_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

static void scene_start(void *ctx, ExecutorJob *job)
{
    SceneExecutor *executor = (SceneExecutor *)ctx;
    if (executor->held == NULL || !begins_with(name_of_job(job), executor->held)) {
        job->run(job);
        job->state = SCENE_JOB_ENDED;
        return;
    }
    EXPECT(executor->count < SCENE_JOBS, "too many jobs");
    job->state = SCENE_JOB_HELD;
    atomic_store_relaxed(&job->begun, !executor->queues);
    executor->jobs[executor->count++] = job;
}

static bool scene_poll(void *ctx, ExecutorJob *job)
{
    (void)ctx;
    return job->state == SCENE_JOB_ENDED;
}

static void take_job(SceneExecutor *executor, uint32_t at)
{
    executor->jobs[at]->state = SCENE_JOB_ENDED;
    executor->count--;
    memmove(&executor->jobs[at], &executor->jobs[at + 1],
            (executor->count - at) * sizeof *executor->jobs);
}

static void scene_cancel(void *ctx, ExecutorJob *job)
{
    SceneExecutor *executor = (SceneExecutor *)ctx;
    executor->cancels++;
    for (uint32_t i = 0; i < executor->count && !executor->deaf; i++) {
        if (executor->jobs[i] == job) {
            take_job(executor, i);
            return;
        }
    }
}

void scene_executor_use(SceneExecutor *executor, SapWorker *worker)
{
    worker_set_executor(worker, &(Executor){.start = scene_start,
                                            .poll = scene_poll,
                                            .cancel = scene_cancel,
                                            .ctx = executor});
}

void scene_release(SceneExecutor *executor, const char *world)
{
    for (uint32_t i = 0; i < executor->count; i++) {
        ExecutorJob *job = executor->jobs[i];
        if (begins_with(name_of_job(job), world)) {
            job->run(job);
            take_job(executor, i);
            return;
        }
    }
    EXPECT(false, "no handler of %s runs", world);
}

uint32_t scene_held(const SceneExecutor *executor, const char *world)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < executor->count; i++) {
        count += begins_with(name_of_job(executor->jobs[i]), world);
    }
    return count;
}
