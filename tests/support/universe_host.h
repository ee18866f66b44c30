/* universe_host.h - threads for a worker: what a process does that runs worlds.
 *
 * One thread renews the session, one steps the worlds. They run the very functions that the simulator
 * steps. */
#ifndef SAPLING_TESTS_UNIVERSE_HOST_H
#define SAPLING_TESTS_UNIVERSE_HOST_H

#include "sapling/universe.h"

typedef struct UniverseHost UniverseHost;

/* Opens a worker and starts its threads. The universe is borrowed until the host is stopped. The caller
 * owns *host_out: universe_host_stop(). */
int universe_host_start(SapUniverse *universe, const SapWorkerOptions *options,
                        UniverseHost **host_out);

/* Borrowed: for its stats. */
SapWorker *universe_host_worker(UniverseHost *host);

/* The first code that ended a thread: SAP_FENCED, or SAP_IO of a file. SAP_OK: all run. */
int universe_host_code(UniverseHost *host);

/* Ends the threads, gives the worlds back and closes the worker. Returns universe_host_code(). NULL is
 * accepted. */
int universe_host_stop(UniverseHost *host);

#endif
