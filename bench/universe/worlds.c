/* worlds.c - see worlds.h. */
#include "universe/worlds.h"

#include "universe/rows.h"
#include "util.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { MAX_THREADS = 256, POLL_US = 200, LOOK_US = 50, STILL_S = 120, REPLY_S = 60, NO_WORLD = -1 };

enum { HANDLER_THREADS = 4 };

int worlds_check(const char *what, int rc)
{
    if (rc != SAP_OK)
        fprintf(stderr, "bench: %s: %s\n", what, sap_strerror(rc));
    return rc == SAP_OK ? 0 : -1;
}

void worlds_name(const Worlds *worlds, uint32_t world, char name[16])
{
    snprintf(name, 16, "w%08u", worlds->first + world);
}

double worlds_cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* ---- Handlers ------------------------------------------------------------------------------- */

static atomic_uint_least64_t handled;
static atomic_int_least64_t first_world = NO_WORLD;
static atomic_int held;
static atomic_int stuck;

static void note_call(SapWorld *world)
{
    int_least64_t none = NO_WORLD;
    int_least64_t number = strtol(sap_world_name(world) + 1, NULL, 10);
    if (atomic_load(&first_world) == NO_WORLD)
        atomic_compare_exchange_strong(&first_world, &none, number);
    atomic_fetch_add(&handled, 1);
    while (atomic_load(&held))
        bench_sleep_us(POLL_US);
}

/* Adds 1 to the world's count, which is also the reply. */
static int count_item(SapWorld *world, const SapEvent *event)
{
    const void *val = "0";
    size_t len = 1;
    char text[24];
    note_call(world);
    if (strcmp(event->name, WORLDS_STUCK) == 0) {
        atomic_store(&stuck, 1);
        bench_sleep_us(WORLDS_STUCK_S * UINT64_C(1000000));
    }
    int rc = sap_world_get(world, "count", 5, &val, &len, NULL);
    if (rc != SAP_OK && rc != SAP_NOTFOUND)
        return rc;
    snprintf(text, sizeof text, "%.*s", (int)len, (const char *)val);
    len = (size_t)snprintf(text, sizeof text, "%ld", strtol(text, NULL, 10) + 1);
    rc = sap_world_put(world, "count", 5, SAP_ENCODING_JSON, text, len);
    if (rc == SAP_OK && event->reply_to[0])
        rc = sap_world_reply(world, event->reply_to, SAP_ENCODING_JSON, text, len);
    return rc;
}

SAP_WORLD_MODULE("count", count_item);

int worlds_await_first(uint32_t *world_out)
{
    for (uint64_t waited_us = 0; waited_us < STILL_S * UINT64_C(1000000); waited_us += LOOK_US) {
        int_least64_t first = atomic_load(&first_world);
        if (first != NO_WORLD) {
            *world_out = (uint32_t)first;
            return 0;
        }
        bench_sleep_us(LOOK_US);
    }
    fprintf(stderr, "bench: no handler was called for %d s\n", STILL_S);
    return -1;
}

void worlds_hold_handlers(int hold)
{
    atomic_store(&held, hold);
}

int worlds_await_stuck(void)
{
    for (int i = 0; i < STILL_S * 1000; i++) {
        if (atomic_load(&stuck))
            return 0;
        bench_sleep_us(1000);
    }
    fprintf(stderr, "bench: the message that keeps its handler was not handled\n");
    return -1;
}

/* ---- Threads -------------------------------------------------------------------------------- */

typedef struct Thread {
    WorldsThread body;
    void *ctx;
    uint32_t number;
    int rc;
} Thread;

static void *run_thread(void *arg)
{
    Thread *thread = arg;
    thread->rc = thread->body(thread->ctx, thread->number);
    return NULL;
}

int worlds_threads(uint32_t count, WorldsThread body, void *ctx)
{
    Thread threads[MAX_THREADS];
    pthread_t ids[MAX_THREADS];
    uint32_t started = 0;
    int rc = count <= MAX_THREADS ? 0 : -1;
    for (; started < count && !rc; started += !rc) {
        threads[started] = (Thread){body, ctx, started, 0};
        rc = pthread_create(&ids[started], NULL, run_thread, &threads[started]) ? -1 : 0;
    }
    if (rc)
        fprintf(stderr, "bench: no thread\n");
    while (started > 0) {
        pthread_join(ids[--started], NULL);
        rc |= threads[started].rc;
    }
    return rc;
}

/* ---- Worlds --------------------------------------------------------------------------------- */

static int open_universe(const char *url, Worlds *worlds)
{
    *worlds = (Worlds){.count = 0};
    int rc = sap_universe_open(url, NULL, &worlds->universe);
    if (rc != SAP_OK)
        fprintf(stderr, "bench: %s\n", sap_open_error());
    return rc == SAP_OK ? 0 : -1;
}

static int count_items(Worlds *worlds, uint32_t count, uint64_t items)
{
    free(worlds->items);
    worlds->items = calloc(count, sizeof *worlds->items);
    if (!worlds->items)
        return worlds_check("worlds", SAP_NOMEM);
    worlds->first += worlds->count;
    worlds->count = count;
    for (uint32_t i = 0; i < count; i++)
        atomic_init(&worlds->items[i], items);
    return 0;
}

int worlds_make(const char *url, Worlds *worlds)
{
    int rc = sap_universe_init(url);
    if (rc != SAP_OK)
        fprintf(stderr, "bench: %s\n", sap_open_error());
    return rc == SAP_OK ? open_universe(url, worlds) : -1;
}

int worlds_open(const char *url, uint32_t count, uint64_t items, Worlds *worlds)
{
    return open_universe(url, worlds) == 0 ? count_items(worlds, count, items) : -1;
}

int worlds_close(Worlds *worlds)
{
    int rc = sap_universe_close(worlds->universe);
    free(worlds->items);
    *worlds = (Worlds){.count = 0};
    return worlds_check("close", rc);
}

static int create_some(void *ctx, uint32_t thread)
{
    Worlds *worlds = ctx;
    int rc = SAP_OK;
    for (uint32_t i = thread; i < worlds->count && rc == SAP_OK; i += WORLDS_CLIENTS) {
        char name[16];
        worlds_name(worlds, i, name);
        rc = sap_world_create(worlds->universe, name, "count", SAP_ENCODING_JSON, "null", 4);
    }
    return worlds_check("create", rc);
}

int worlds_create(Worlds *worlds, uint32_t count)
{
    if (count_items(worlds, count, 1) != 0)
        return -1;
    return worlds_threads(WORLDS_CLIENTS, create_some, worlds);
}

int worlds_send(Worlds *worlds, uint32_t world, const char *message, const char *id)
{
    char name[16], payload[WORLDS_PAYLOAD + 1];
    worlds_name(worlds, world, name);
    int len =
        snprintf(payload, sizeof payload,
                 "{\"amount\":%u,\"customer\":\"c-%08u\",\"item\":\"a small blue one\",\"text\":\"",
                 world % 1000 + 1000, world);
    memset(payload + len, 'x', (size_t)(WORLDS_PAYLOAD - len - 2));
    memcpy(payload + WORLDS_PAYLOAD - 2, "\"}", 2);
    SapIngress item = {.size = sizeof item,
                       .name = message,
                       .id = id,
                       .want_reply = id != NULL,
                       .payload = payload,
                       .payload_len = WORLDS_PAYLOAD};
    atomic_fetch_add(&worlds->items[world], 1);
    return worlds_check("send", sap_enqueue_ingress(worlds->universe, name, &item, NULL));
}

typedef struct Sending {
    Worlds *worlds;
    uint64_t each;
} Sending;

/* Every thread has worlds of its own, so that these take the messages in turn. */
static int send_some(void *ctx, uint32_t thread)
{
    Sending *sending = ctx;
    int rc = 0;
    for (uint64_t i = 0; i < sending->each && !rc; i++)
        for (uint32_t w = thread; w < sending->worlds->count && !rc; w += WORLDS_CLIENTS)
            rc = worlds_send(sending->worlds, w, NULL, NULL);
    return rc;
}

int worlds_send_each(Worlds *worlds, uint64_t each)
{
    Sending sending = {worlds, each};
    return worlds_threads(WORLDS_CLIENTS, send_some, &sending);
}

int worlds_await(Worlds *worlds, uint32_t world, const char *id)
{
    char name[16];
    SapReply *reply = NULL;
    worlds_name(worlds, world, name);
    int rc =
        sap_world_reply_wait(worlds->universe, name, id, REPLY_S * UINT64_C(1000000000), &reply);
    if (rc == SAP_OK && reply->failed)
        rc = SAP_ERROR;
    sap_reply_free(reply);
    return worlds_check("reply", rc);
}

int worlds_height(Worlds *worlds, uint32_t world, uint64_t *height_out)
{
    char name[16];
    SapWorldInfo info;
    worlds_name(worlds, world, name);
    int rc = sap_world_info(worlds->universe, name, &info);
    if (rc == SAP_OK)
        *height_out = info.height;
    return worlds_check("height", rc);
}

int worlds_settle(Worlds *worlds)
{
    uint64_t calls = atomic_load(&handled), since_ns = bench_now_ns();
    for (uint32_t i = 0; i < worlds->count;) {
        uint64_t height = 0, items = atomic_load(&worlds->items[i]);
        if (worlds_height(worlds, i, &height) != 0)
            return -1;
        if (height > items) {
            fprintf(stderr, "bench: world %u made more steps than it was sent items\n", i);
            return -1;
        }
        if (height == items) {
            i++;
            continue;
        }
        if (calls != atomic_load(&handled)) {
            calls = atomic_load(&handled);
            since_ns = bench_now_ns();
        }
        if (bench_now_ns() - since_ns > STILL_S * UINT64_C(1000000000)) {
            fprintf(stderr, "bench: world %u stands still at step %llu of %llu\n", i,
                    (unsigned long long)height, (unsigned long long)items);
            return -1;
        }
        bench_sleep_us(POLL_US);
    }
    return 0;
}

/* Of hints, up to `limit`. */
static int count_hints(Worlds *worlds, uint32_t limit, uint32_t *count_out)
{
    RowKey from, to;
    SapStoreRange range;
    SapStoreTxn *txn = NULL;
    const SapStoreRow *rows = NULL;
    row_key_universe(&from, WIT_DBI_READY, 0);
    row_range(&from, &to, &range);
    int rc = sap_store_begin(sap_universe_store(worlds->universe), SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? sap_store_scan(txn, &range, false, limit, &rows, count_out) : rc;
    sap_store_abort(txn);
    return worlds_check("hints", rc);
}

int worlds_rest(Worlds *worlds)
{
    uint32_t count = 1;
    uint64_t begin_ns = bench_now_ns();
    int rc = worlds_settle(worlds);
    while (!rc && count > 0) {
        rc = count_hints(worlds, 1, &count);
        if (count > 0 && bench_now_ns() - begin_ns > STILL_S * UINT64_C(1000000000)) {
            fprintf(stderr, "bench: hints are left after %d s\n", STILL_S);
            return -1;
        }
        bench_sleep_us(POLL_US);
    }
    return rc;
}

uint64_t worlds_steps(const Worlds *worlds)
{
    uint64_t steps = 0;
    for (uint32_t i = 0; i < worlds->count; i++)
        steps += atomic_load(&worlds->items[i]);
    return steps;
}

/* ---- Workers -------------------------------------------------------------------------------- */

int worlds_host(Worlds *worlds, uint32_t max_worlds, Host **host_out)
{
    HostOptions options = {.worker = {.name = "bench", .max_worlds = max_worlds},
                           .handlers = HANDLER_THREADS};
    return worlds_check("worker", host_start(worlds->universe, &options, host_out));
}

int worlds_host_stop(Host *host)
{
    return worlds_check("worker", host_stop(host, UINT64_MAX));
}
