/* embedded.c - messages into the inboxes of worlds without a node: what sap_enqueue_ingress() does by itself.
 *
 *   embedded FILE WORLDS THREADS SECONDS
 *
 * Prints {"per_s","p99_us"} as JSON: messages that were durable when the call returned. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sapling/universe.h"

enum { MOST_THREADS = 256, TIMES = 1 << 20 };

typedef struct Sender {
    pthread_t thread;
    SapUniverse *universe;
    unsigned seed;
    int worlds;
    double until;
    uint64_t sent;
    int rc;
    uint32_t *times; /* microseconds of the first TIMES */
} Sender;

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int ignore_event(SapWorld *world, const SapEvent *event)
{
    (void)world;
    (void)event;
    return SAP_OK;
}

SAP_WORLD_MODULE("bench", ignore_event);

static void *send_messages(void *arg)
{
    Sender *sender = (Sender *)arg;
    double begin = now_s();
    while (sender->rc == SAP_OK && begin < sender->until) {
        char world[32];
        SapIngress item = {.size = sizeof item, .payload = "{\"n\":1}", .payload_len = 7};
        (void)snprintf(world, sizeof world, "w%d", rand_r(&sender->seed) % sender->worlds);
        sender->rc = sap_enqueue_ingress(sender->universe, world, &item, NULL);
        double end = now_s();
        if (sender->sent < TIMES) {
            sender->times[sender->sent] = (uint32_t)((end - begin) * 1e6);
        }
        sender->sent++;
        begin = end;
    }
    return NULL;
}

static int compare_times(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint32_t p99_of(const Sender *senders, int threads)
{
    size_t count = 0;
    uint32_t *all = calloc((size_t)threads, TIMES * sizeof *all);
    if (all == NULL) {
        return 0;
    }
    for (int i = 0; i < threads; i++) {
        size_t kept = senders[i].sent < TIMES ? senders[i].sent : TIMES;
        memcpy(all + count, senders[i].times, kept * sizeof *all);
        count += kept;
    }
    qsort(all, count, sizeof *all, compare_times);
    uint32_t p99 = count > 0 ? all[count * 99 / 100] : 0;
    free(all);
    return p99;
}

static int measure(SapUniverse *universe, int worlds, int threads, double seconds)
{
    static Sender senders[MOST_THREADS];
    uint64_t sent = 0;
    int rc = SAP_OK;
    double begin = now_s();
    for (int i = 0; i < threads; i++) {
        senders[i] = (Sender){.universe = universe,
                              .seed = (unsigned)i + 1,
                              .worlds = worlds,
                              .until = begin + seconds,
                              .times = calloc(TIMES, sizeof(uint32_t))};
        if (senders[i].times == NULL ||
            pthread_create(&senders[i].thread, NULL, send_messages, &senders[i]) != 0) {
            return SAP_NOMEM;
        }
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(senders[i].thread, NULL);
        sent += senders[i].sent;
        rc = rc == SAP_OK ? senders[i].rc : rc;
    }
    (void)printf("{\"per_s\":%.0f,\"p99_us\":%u}\n", (double)sent / (now_s() - begin),
                 p99_of(senders, threads));
    return rc;
}

int main(int argc, char **argv)
{
    char url[4096];
    SapUniverse *universe = NULL;
    int worlds = argc == 5 ? atoi(argv[2]) : 0;
    int threads = argc == 5 ? atoi(argv[3]) : 0;
    if (worlds < 1 || threads < 1 || threads > MOST_THREADS) {
        (void)fprintf(stderr, "embedded FILE WORLDS THREADS SECONDS\n");
        return 2;
    }
    (void)snprintf(url, sizeof url, "sapling:%s", argv[1]);
    int rc = sap_universe_open(url, NULL, &universe);
    for (int i = 0; rc == SAP_OK && i < worlds; i++) {
        char world[32];
        (void)snprintf(world, sizeof world, "w%d", i);
        rc = sap_world_create(universe, world, "bench", SAP_ENCODING_JSON, NULL, 0);
    }
    rc = rc == SAP_OK ? measure(universe, worlds, threads, atof(argv[4])) : rc;
    (void)sap_universe_close(universe);
    if (rc != SAP_OK) {
        (void)fprintf(stderr, "embedded: %s\n", sap_strerror(rc));
    }
    return rc == SAP_OK ? 0 : 1;
}
