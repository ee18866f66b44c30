/* host.h - threads for a worker: what a process does that runs worlds.
 *
 * One thread, the keeper, renews the session; one steps each role; a pool runs handlers, so that a handler
 * that takes long holds up no other world. They run the very functions that the simulator steps. While
 * nothing happens they wait for commits, and look at the clock once or twice a second.
 *
 * A worker whose session is over changes nothing any more: the keeper opens another in its place, and
 * closes the old one when its last handler has returned. */
#ifndef SAPLING_NODE_HOST_H
#define SAPLING_NODE_HOST_H

#include "common/log.h"
#include "sapling/universe.h"

typedef struct Host Host;

/* Of HostOptions.roles: a bit for each, and all of them. */
#define HOST_ROLE(role) (1u << (role))
#define HOST_ALL_ROLES                                                                            \
    (HOST_ROLE(SAP_ROLE_WORLDS) | HOST_ROLE(SAP_ROLE_ORCHESTRATOR) | HOST_ROLE(SAP_ROLE_TIMERS) | \
     HOST_ROLE(SAP_ROLE_EFFECTS) | HOST_ROLE(SAP_ROLE_REAPER))

/* Zero bytes are the defaults. */
typedef struct HostOptions {
    SapWorkerOptions
        worker;        /* its size is set by the host; what it names is borrowed by the host */
    uint32_t handlers; /* threads for them at most; 0: the thread that steps runs them */
    uint32_t roles;    /* 0: SAP_ROLE_WORLDS alone */
    bool reopens;      /* a worker that was fenced is replaced; otherwise the host ends */
    bool io_is_final;  /* SAP_IO of a step ends the host: the store is in a file */
    /* Before the first step of each worker: what it serves. NULL: nothing. */
    int (*prepare)(SapWorker *worker, void *ctx);
    void *prepare_ctx;
    const Log *log; /* NULL: none */
} HostOptions;

/* Opens a worker and starts its threads. The universe is borrowed until the host is stopped. The caller
 * owns *host_out: host_stop(). */
int host_start(SapUniverse *universe, const HostOptions *options, Host **host_out);

/* The first worker; with `reopens` it may be gone. Borrowed. */
SapWorker *host_worker(Host *host);

typedef struct HostStats {
    SapWorkerStats
        worker; /* of all workers so far, when their last steps ended; held, of the present one */
    uint32_t handlers; /* that run now */
    uint64_t reopened; /* workers that took the place of one that was fenced */
} HostStats;
void host_stats(Host *host, HostStats *stats_out);

/* Why the host has ended by itself: SAP_FENCED, or SAP_IO. SAP_OK: it goes on. */
int host_code(Host *host);

/* Ends the threads, tells handlers to end, gives the worlds back and closes the worker. SAP_BUSY: after
 * patience_ns a handler has not returned; call it again, or end the process. With any other code
 * everything is freed: host_code(), or the code of closing. NULL is accepted. */
int host_stop(Host *host, uint64_t patience_ns);

#endif
