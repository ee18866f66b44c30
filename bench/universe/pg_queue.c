/* pg_queue.c - messages to worlds as a program does it that has nothing but PostgreSQL: a table of
 * messages, a table of worlds, and one transaction a message.
 *
 * What can go to the server in one piece goes in one piece (pipeline mode): a worker sends BEGIN and
 * SELECT, then both updates and COMMIT. Between the two it does what a handler would. */
#include "universe/measure.h"

#include "universe/worlds.h"
#include "util.h"

#include <libpq-fe.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORLDS = 1000, EMPTY_PAUSE_US = 500 };

static const char *const schema_texts[] = {
    "DROP TABLE IF EXISTS queue_messages, queue_worlds",
    "CREATE TABLE queue_worlds (id int PRIMARY KEY, count bigint NOT NULL)",
    "CREATE TABLE queue_messages (id bigserial PRIMARY KEY, world int, payload text, done boolean)",
    "CREATE INDEX queue_waiting ON queue_messages (id) WHERE NOT done",
    "INSERT INTO queue_worlds SELECT n, 0 FROM generate_series(0, 999) AS n",
    "ANALYZE queue_worlds",
    "CHECKPOINT",
};
enum { SCHEMA_TEXTS = sizeof schema_texts / sizeof *schema_texts };

typedef enum Statement { INSERT, TAKE, COUNT, DONE, STATEMENTS } Statement;

static const struct {
    const char *name;
    const char *text;
    int params;
} statements[STATEMENTS] = {
    {"insert", "INSERT INTO queue_messages (world, payload, done) VALUES ($1, $2, false)", 2},
    {"take",
     "SELECT id, world, payload FROM queue_messages WHERE NOT done ORDER BY id LIMIT 1 FOR UPDATE "
     "SKIP LOCKED",
     0},
    {"count", "UPDATE queue_worlds SET count = count + 1 WHERE id = $1", 1},
    {"done", "UPDATE queue_messages SET done = true WHERE id = $1", 1},
};

typedef struct Queue {
    const char *conninfo;
    uint64_t ms;
    pthread_barrier_t connected;
    uint64_t begin_ns; /* all threads are connected */
    uint64_t end_ns;   /* of sending */
    atomic_uint_least64_t sent;
    atomic_uint_least64_t done;
    atomic_uint sending; /* producers that are not at their end */
    atomic_int failed;
} Queue;

/* ---- Connections ---------------------------------------------------------------------------- */

/* Takes the result; 0 if it is one of success. */
static int judge_result(PGconn *pg, PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    int ok =
        status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_PIPELINE_SYNC;
    if (!ok)
        fprintf(stderr, "bench: PostgreSQL: %s", PQerrorMessage(pg));
    PQclear(result);
    return ok ? 0 : -1;
}

static int connect_server(const char *conninfo, PGconn **pg)
{
    *pg = PQconnectdb(conninfo);
    int rc = PQstatus(*pg) == CONNECTION_OK ? 0 : -1;
    if (rc)
        fprintf(stderr, "bench: PostgreSQL: %s", PQerrorMessage(*pg));
    for (int i = 0; i < STATEMENTS && !rc; i++)
        rc = judge_result(*pg, PQprepare(*pg, statements[i].name, statements[i].text, 0, NULL));
    return rc;
}

static int make_tables(const char *conninfo)
{
    PGconn *pg = PQconnectdb(conninfo);
    PQclear(PQexec(pg, "SET client_min_messages = error"));
    int rc = 0;
    for (int i = 0; i < SCHEMA_TEXTS && !rc; i++)
        rc = judge_result(pg, PQexec(pg, schema_texts[i]));
    PQfinish(pg);
    return rc;
}

/* ---- Producers ------------------------------------------------------------------------------ */

static int insert_messages(Queue *queue, PGconn *pg, uint32_t producer)
{
    char payload[WORLDS_PAYLOAD + 1], world[16];
    const char *params[] = {world, payload};
    uint64_t random = producer + 1;
    int rc = 0;
    memset(payload, 'x', WORLDS_PAYLOAD);
    payload[WORLDS_PAYLOAD] = 0;
    while (!rc && bench_now_ns() < queue->end_ns) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        snprintf(world, sizeof world, "%u", (unsigned)(random >> 33) % WORLDS);
        rc =
            judge_result(pg, PQexecPrepared(pg, statements[INSERT].name, 2, params, NULL, NULL, 0));
        atomic_fetch_add(&queue->sent, !rc);
    }
    return rc;
}

/* ---- Workers -------------------------------------------------------------------------------- */

/* Sends the rest of what is queued, and reads the results of `count` statements; the rows of the last
 * one, if it has rows, to *rows_out (the caller clears it). */
static int run_pipeline(PGconn *pg, int count, PGresult **rows_out)
{
    int rc = PQpipelineSync(pg) == 1 ? 0 : -1;
    for (int i = 0; i < count + 1 && !rc; i++) {
        PGresult *result = PQgetResult(pg);
        if (PQresultStatus(result) == PGRES_TUPLES_OK)
            *rows_out = result;
        else
            rc = judge_result(pg, result);
        if (!rc && i < count)
            PQclear(PQgetResult(pg)); /* NULL: the end of a statement's results */
    }
    return rc;
}

static int queue_statement(PGconn *pg, Statement statement, const char *param)
{
    const char *params[] = {param};
    return PQsendQueryPrepared(pg, statements[statement].name, statements[statement].params, params,
                               NULL, NULL, 0);
}

static int queue_text(PGconn *pg, const char *text)
{
    return PQsendQueryParams(pg, text, 0, NULL, NULL, NULL, NULL, 0);
}

/* One message; *found_out: there was one. */
static int take_message(PGconn *pg, int *found_out)
{
    PGresult *rows = NULL;
    int ok = queue_text(pg, "BEGIN") && queue_statement(pg, TAKE, NULL);
    int rc = ok ? run_pipeline(pg, 2, &rows) : -1;
    *found_out = !rc && PQntuples(rows) == 1;
    if (!rc && *found_out) {
        ok = queue_statement(pg, COUNT, PQgetvalue(rows, 0, 1)) &&
             queue_statement(pg, DONE, PQgetvalue(rows, 0, 0)) && queue_text(pg, "COMMIT");
        rc = ok ? run_pipeline(pg, 3, NULL) : -1;
    } else if (!rc) {
        rc = queue_text(pg, "COMMIT") ? run_pipeline(pg, 1, NULL) : -1;
    }
    PQclear(rows);
    return rc;
}

static int take_messages(Queue *queue, PGconn *pg)
{
    int rc = PQenterPipelineMode(pg) == 1 ? 0 : -1;
    while (!rc && !atomic_load(&queue->failed)) {
        int found = 0;
        int over = atomic_load(&queue->sending) == 0;
        rc = take_message(pg, &found);
        atomic_fetch_add(&queue->done, !rc && found);
        if (!rc && !found) {
            if (over) /* what others hold locked is theirs */
                break;
            bench_sleep_us(EMPTY_PAUSE_US);
        }
    }
    return rc;
}

/* ---- All of them ---------------------------------------------------------------------------- */

/* Nobody begins before all are connected. */
static void await_others(Queue *queue)
{
    if (pthread_barrier_wait(&queue->connected) == PTHREAD_BARRIER_SERIAL_THREAD) {
        queue->begin_ns = bench_now_ns();
        queue->end_ns = queue->begin_ns + queue->ms * 1000000;
    }
    pthread_barrier_wait(&queue->connected);
}

static int run_thread(void *ctx, uint32_t thread)
{
    Queue *queue = ctx;
    PGconn *pg = NULL;
    int rc = connect_server(queue->conninfo, &pg);
    int produces = thread < WORLDS_CLIENTS;
    await_others(queue);
    if (!rc)
        rc = produces ? insert_messages(queue, pg, thread) : take_messages(queue, pg);
    if (produces)
        atomic_fetch_sub(&queue->sending, 1);
    if (rc)
        atomic_store(&queue->failed, 1);
    PQfinish(pg);
    return rc;
}

static int run_queue(const UniRun *run, uint32_t workers, double *per_s)
{
    Queue queue = {.conninfo = run->pg_conninfo, .ms = run->ms};
    atomic_store(&queue.sending, WORLDS_CLIENTS);
    if (make_tables(run->pg_conninfo) != 0 ||
        pthread_barrier_init(&queue.connected, NULL, WORLDS_CLIENTS + workers) != 0)
        return -1;
    int rc = worlds_threads(WORLDS_CLIENTS + workers, run_thread, &queue);
    uint64_t end_ns = bench_now_ns();
    pthread_barrier_destroy(&queue.connected);
    *per_s = (double)atomic_load(&queue.done) / ((double)(end_ns - queue.begin_ns) / 1e9);
    if (!rc && atomic_load(&queue.done) != atomic_load(&queue.sent)) {
        fprintf(stderr, "bench: PostgreSQL: a message was lost, or taken twice\n");
        rc = -1;
    }
    return rc;
}

int measure_pg_queue(const UniRun *run, double *values)
{
    if (run_queue(run, 64, &values[PG_QUEUE_64_PER_S]) != 0 ||
        run_queue(run, 16, &values[PG_QUEUE_16_PER_S]) != 0)
        return -1;
    values[PG_QUEUE_BEST_PER_S] = fmax(values[PG_QUEUE_64_PER_S], values[PG_QUEUE_16_PER_S]);
    return 0;
}
