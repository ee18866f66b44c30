/* universe_host.h - threads for a worker: what a process does that runs worlds.
 *
 * One thread renews the session, one steps each role, and some run handlers, so that a handler that takes
 * long holds up no other world. They run the very functions that the simulator steps. */
#ifndef SAPLING_TESTS_UNIVERSE_HOST_H
#define SAPLING_TESTS_UNIVERSE_HOST_H

#include "sapling/universe.h"

typedef struct UniverseHost UniverseHost;

enum { UNIVERSE_HOST_MAX_HANDLERS = 16 };

typedef struct UniverseHostOptions {
    SapWorkerOptions worker;
    uint32_t handlers; /* threads for them; 0: the thread that steps runs them */
    bool keeps_house;  /* steps all other roles too */
    int (*prepare)(SapWorker *worker, void *ctx); /* before the first step; NULL: nothing */
    void *prepare_ctx;
} UniverseHostOptions;

/* Opens a worker and starts its threads. The universe is borrowed until the host is stopped. The caller
 * owns *host_out: universe_host_stop(). */
int universe_host_start(SapUniverse *universe, const UniverseHostOptions *options,
                        UniverseHost **host_out);

/* Borrowed. */
SapWorker *universe_host_worker(UniverseHost *host);

/* What the worker had counted when its last step ended. */
void universe_host_stats(UniverseHost *host, SapWorkerStats *stats_out);

/* The first code that ended a thread: SAP_FENCED. SAP_OK: all run. */
int universe_host_code(UniverseHost *host);

/* Ends the threads, gives the worlds back and closes the worker; waits for handlers. Returns
 * universe_host_code(), or the code of closing. NULL is accepted. */
int universe_host_stop(UniverseHost *host);

#endif
