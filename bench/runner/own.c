/* own.c - idle workers, timers and queued messages. */
#include "own.h"

#include "data.h"
#include "peer.h"
#include "util.h"

#include "sapling/queue.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { WORKER = 1, INBOX_DBI = 1 };

static int failed(const char *what, int rc)
{
    fprintf(stderr, "bench: sapling: %s: %s\n", what, sap_strerror(rc));
    return -1;
}

static SapRunnerV0Message message_to_worker(const RunMessage *message)
{
    return (SapRunnerV0Message){.flags = SAP_RUNNER_V0_DURABLE,
                                .to_worker = WORKER,
                                .message_id = "a message of us",
                                .message_id_len = 16,
                                .payload = message->payload,
                                .payload_len = RUN_PAYLOAD};
}

/* ---- A worker on a DB ----------------------------------------------------------------------- */

typedef struct Served {
    SapEnv *db;
    SapRunnerV0Worker worker;
    atomic_uint_fast64_t
        started_ns; /* when the last handler began; 0: since it was last cleared, none */
} Served;

static int plain_handler(SapRunnerV0 *runner, const SapRunnerV0Message *msg, void *ctx)
{
    Served *served = ctx;
    (void)runner;
    (void)msg;
    atomic_store(&served->started_ns, bench_now_ns());
    return SAP_OK;
}

static int atomic_handler(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, void *ctx)
{
    Served *served = ctx;
    (void)host;
    (void)msg;
    atomic_store(&served->started_ns, bench_now_ns());
    return SAP_OK;
}

/* Path NULL: in memory. */
static int open_served(Served *served, const char *path, int atomic)
{
    int rc = SAP_OK;
    if (path)
        rc = sap_db_open_path(path, NULL, &served->db);
    else
        rc = (served->db = sap_db_open(NULL, 0, NULL, NULL)) ? SAP_OK : SAP_NOMEM;
    if (rc != SAP_OK)
        return failed("open", rc);
    SapRunnerV0WorkerConfig config = {
        .runner = {.db = served->db, .worker_id = WORKER, .bootstrap_schema_if_missing = 1},
        .handler = {.ctx = served},
        .max_batch = RUN_BATCH,
    };
    if (atomic)
        config.handler.atomic = atomic_handler;
    else
        config.handler.plain = plain_handler;
    rc = sap_runner_v0_worker_init(&served->worker, &config);
    if (rc == SAP_OK)
        return 0;
    sap_db_close(served->db);
    return failed("worker", rc);
}

static int close_served(Served *served)
{
    int rc = sap_runner_v0_worker_shutdown(&served->worker);
    int closed = sap_db_close(served->db);
    if (rc == SAP_OK)
        rc = closed;
    return rc == SAP_OK ? 0 : failed("close", rc);
}

/* ---- Start and idle ------------------------------------------------------------------------- */

enum { STARTS = 200, IDLE_US = 10000, PATIENCE_MS = 10000, IDLE_SECONDS = 3 };

static int start_one(Served *served, BenchSamples *samples, BenchSamples *sends)
{
    static const RunMessage payload;
    SapRunnerV0Message message = message_to_worker(&payload);
    bench_sleep_us(IDLE_US);
    atomic_store(&served->started_ns, 0);
    uint64_t sent_ns = bench_now_ns(), started_ns;
    int rc = sap_runner_v0_send(served->db, &message, NULL);
    if (rc != SAP_OK)
        return failed("send", rc);
    uint64_t returned_ns = bench_now_ns();
    while ((started_ns = atomic_load(&served->started_ns)) == 0) {
        if (bench_now_ns() - sent_ns > PATIENCE_MS * UINT64_C(1000000)) {
            fprintf(stderr, "bench: sapling: a message was not handled in %d ms\n", PATIENCE_MS);
            return -1;
        }
        bench_sleep_us(100);
    }
    if (bench_samples_add(sends, returned_ns - sent_ns) != 0)
        return -1;
    return bench_samples_add(samples, started_ns - sent_ns);
}

int own_start(int atomic, OwnStart *out)
{
    Served served = {0};
    BenchSamples samples = {0}, sends = {0};
    if (open_served(&served, "data", atomic) != 0)
        return -1;
    int rc = sap_runner_v0_worker_start(&served.worker);
    rc = rc == SAP_OK ? 0 : failed("start", rc);
    for (int i = 0; i < STARTS && !rc; i++)
        rc = start_one(&served, &samples, &sends);
    if (!rc) {
        bench_samples_sort(&samples);
        bench_samples_sort(&sends);
        *out = (OwnStart){.messages = samples.count,
                          .p50_ns = samples.ns[samples.count / 2],
                          .p95_ns = samples.ns[samples.count - 1 - samples.count / 20],
                          .max_ns = samples.ns[samples.count - 1],
                          .send_p50_ns = sends.ns[sends.count / 2]};
    }
    bench_samples_release(&samples);
    bench_samples_release(&sends);
    return close_served(&served) == 0 && !rc ? 0 : -1;
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

int own_idle(OwnIdle *out)
{
    Served served = {0};
    BenchSamples samples = {0}, sends = {0};
    if (open_served(&served, "data", 0) != 0)
        return -1;
    int rc = sap_runner_v0_worker_start(&served.worker);
    rc = rc == SAP_OK ? start_one(&served, &samples, &sends) : failed("start", rc);
    bench_samples_release(&samples);
    bench_samples_release(&sends);
    if (!rc) {
        bench_sleep_us(IDLE_US);
        double cpu = cpu_seconds();
        uint64_t begin_ns = bench_now_ns();
        bench_sleep_us(IDLE_SECONDS * UINT64_C(1000000));
        *out = (OwnIdle){.seconds = (double)(bench_now_ns() - begin_ns) / 1e9,
                         .cpu_seconds = cpu_seconds() - cpu};
    }
    return close_served(&served) == 0 && !rc ? 0 : -1;
}

/* ---- Timers --------------------------------------------------------------------------------- */

enum { DUE = 1000, TURNS = 10, ARM_BATCH = 1000, PER_HOUR_MS = 3600000 };

/* `count` timers in one transaction; those that are due now, or some hours from now, in no order. */
static int arm(Served *served, uint64_t first, uint64_t count, int due)
{
    static const RunMessage payload;
    SapRunnerV0Message message = message_to_worker(&payload);
    uint8_t frame[512];
    uint32_t len;
    message.kind = SAP_RUNNER_V0_TIMER;
    if (sap_runner_wire_v0_encode_message(&message, frame, sizeof frame, &len) !=
        SAP_RUNNER_WIRE_OK)
        return SAP_INVALID;
    int64_t now_ms = (int64_t)time(NULL) * 1000;
    SapTxnCtx *txn;
    int rc = sap_txn_begin_rc(served->db, NULL, SAP_TXN_WAIT, &txn);
    if (rc != SAP_OK)
        return rc;
    for (uint64_t i = first; i < first + count && rc == SAP_OK; i++) {
        int64_t spread = (int64_t)(bench_mix(i) % PER_HOUR_MS);
        rc = sap_runner_timer_v0_append(
            txn, due ? now_ms - PER_HOUR_MS + spread : now_ms + 24 * (int64_t)PER_HOUR_MS + spread,
            frame, len, NULL);
    }
    if (rc == SAP_OK)
        return sap_txn_commit(txn);
    sap_txn_abort(txn);
    return rc;
}

static int arm_many(Served *served, uint64_t count)
{
    int rc = SAP_OK;
    for (uint64_t first = 0; first < count && rc == SAP_OK; first += ARM_BATCH)
        rc = arm(served, first, count - first < ARM_BATCH ? count - first : ARM_BATCH, 0);
    return rc == SAP_OK ? 0 : failed("arm", rc);
}

/* Arms some that are due and dispatches them; *ns is lowered to what one took. */
static int dispatch_due(Served *served, uint64_t first, double *ns)
{
    uint64_t fired = 0;
    int rc = arm(served, first, DUE, 1);
    uint64_t begin_ns = bench_now_ns();
    while (fired < DUE && rc == SAP_OK) {
        uint32_t handled = 0;
        rc = sap_runner_v0_worker_tick(&served->worker, &handled);
        fired += handled;
    }
    double each = (double)(bench_now_ns() - begin_ns) / DUE;
    if (rc != SAP_OK)
        return failed("tick", rc);
    if (fired > DUE) {
        fprintf(stderr, "bench: sapling: more timers than were due\n");
        return -1;
    }
    *ns = *ns > 0 && *ns < each ? *ns : each;
    return 0;
}

int own_timers(uint64_t few, uint64_t many, OwnTimers *out)
{
    static Served served[OWN_TIMER_SIZES];
    OwnTimers timers = {.armed = {few, many}};
    int rc = 0, open = 0;
    while (open < OWN_TIMER_SIZES && !rc) {
        rc = open_served(&served[open], NULL, 1);
        open += !rc;
    }
    for (int i = 0; i < OWN_TIMER_SIZES && !rc; i++)
        rc = arm_many(&served[i], timers.armed[i]);
    for (uint64_t turn = 0; turn < TURNS && !rc; turn++)
        for (int i = 0; i < OWN_TIMER_SIZES && !rc; i++)
            rc = dispatch_due(&served[i], turn * DUE, &timers.ns[i]);
    while (open > 0)
        if (close_served(&served[--open]) != 0)
            rc = -1;
    if (!rc)
        *out = timers;
    return rc;
}

/* ---- Memory --------------------------------------------------------------------------------- */

static uint64_t process_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*u %llu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int push_many(SapQueue *queue, uint64_t count)
{
    static const RunMessage message;
    const void *payloads[RUN_BATCH];
    uint32_t lens[RUN_BATCH];
    SapQueuePushOptions options = {.no_wait = 1};
    int rc = SAP_OK;
    for (int i = 0; i < RUN_BATCH; i++) {
        payloads[i] = message.payload;
        lens[i] = RUN_PAYLOAD;
    }
    for (uint64_t done = 0; done < count && rc == SAP_OK; done += RUN_BATCH)
        rc = sap_queue_push_many(queue, payloads, lens, RUN_BATCH, &options);
    return rc;
}

/* The rows of the inbox: how many, and the bytes of their frames. */
static int sum_frames(SapEnv *db, OwnMemory *memory)
{
    SapTxnCtx *txn;
    int rc = sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY | SAP_TXN_NEWEST, &txn);
    if (rc != SAP_OK)
        return rc;
    SapCursor *cursor = sap_cursor_open_dbi(txn, INBOX_DBI);
    rc = cursor ? sap_cursor_first(cursor) : SAP_NOMEM;
    for (; rc == SAP_OK; rc = sap_cursor_next(cursor)) {
        const void *key, *val;
        uint32_t key_len, val_len;
        rc = sap_cursor_get(cursor, &key, &key_len, &val, &val_len);
        if (rc != SAP_OK)
            break;
        memory->messages++;
        memory->frame_bytes += val_len;
    }
    sap_cursor_close(cursor);
    sap_txn_abort(txn);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int measure_queue(SapQueue *queue, uint64_t messages, int file, OwnMemory *out)
{
    SapEnv *db = sap_queue_db(queue);
    SapStat stat;
    OwnMemory memory = {0};
    uint64_t pages = sap_db_num_pages(db), bytes = process_bytes();
    int rc = push_many(queue, messages);
    if (rc == SAP_OK)
        rc = sap_db_sync(db);
    memory.process_bytes = file ? 0 : process_bytes() - bytes;
    if (rc == SAP_OK)
        rc = sap_db_stat(db, &stat);
    if (rc == SAP_OK)
        rc = sum_frames(db, &memory);
    if (rc != SAP_OK)
        return failed("queue", rc);
    memory.page_bytes = (stat.num_pages - pages) * stat.page_size;
    if (memory.messages != messages) {
        fprintf(stderr, "bench: sapling: %llu messages were put and %llu are there\n",
                (unsigned long long)messages, (unsigned long long)memory.messages);
        return -1;
    }
    *out = memory;
    return 0;
}

int own_memory(uint64_t messages, int file, OwnMemory *out)
{
    SapEnv *db = NULL;
    SapQueue *queue = NULL;
    int rc = SAP_OK;
    messages -= messages % RUN_BATCH;
    if (file) {
        rc = sap_queue_open("data", NULL, &queue);
    } else {
        db = sap_db_open(NULL, 0, NULL, NULL);
        rc = db ? sap_queue_open_db(db, NULL, &queue) : SAP_NOMEM;
    }
    if (rc != SAP_OK) {
        sap_db_close(db);
        return failed("open", rc);
    }
    rc = measure_queue(queue, messages, file, out);
    int closed = sap_queue_close(queue);
    sap_db_close(db);
    return closed == SAP_OK ? rc : failed("close", closed);
}
