/* universe_host.c - see universe_host.h. */
#include "support/universe_host.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/relaxed.h"
#include "common/sync.h"

enum { THREADS = 2, RENEW_EVERY_MS = 250 };

#define WAIT_NS  UINT64_C(100000000)
#define PAUSE_NS UINT64_C(20000000)

struct UniverseHost {
    SapWorker *worker;
    SAP_ATOMIC(bool) stopping;
    SAP_ATOMIC(int) code;
    pthread_t threads[THREADS];
    int thread_count;
};

static void pause_ns(uint64_t ns)
{
    struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000),
                             .tv_nsec = (long)(ns % 1000000000)};
    (void)nanosleep(&pause, NULL);
}

/* Whether the thread may call again after this code. */
static bool goes_on(UniverseHost *host, int rc)
{
    if (rc == SAP_OK || rc == SAP_BUSY || rc == SAP_CONFLICT || rc == SAP_NOMEM || rc == SAP_FULL ||
        rc == SAP_IO) {
        return true;
    }
    int none = SAP_OK;
    (void)atomic_cas_full(&host->code, &none, rc);
    return false;
}

static void *renew(void *arg)
{
    UniverseHost *host = (UniverseHost *)arg;
    int rc = SAP_OK;
    while (!atomic_load_full(&host->stopping) && goes_on(host, rc)) {
        rc = sap_worker_renew(host->worker);
        pause_ns(UINT64_C(1000000) * RENEW_EVERY_MS);
    }
    return NULL;
}

static void *step(void *arg)
{
    UniverseHost *host = (UniverseHost *)arg;
    int rc = SAP_OK;
    while (!atomic_load_full(&host->stopping) && goes_on(host, rc)) {
        bool busy = false;
        rc = sap_worker_step(host->worker, &busy);
        if (rc == SAP_OK && !busy) {
            rc = sap_worker_wait(host->worker, WAIT_NS);
        }
        if (rc != SAP_OK) {
            pause_ns(PAUSE_NS);
        }
    }
    return NULL;
}

static int start_thread(UniverseHost *host, void *(*run)(void *))
{
    if (pthread_create(&host->threads[host->thread_count], NULL, run, host) != 0) {
        return SAP_NOMEM;
    }
    host->thread_count++;
    return SAP_OK;
}

int universe_host_start(SapUniverse *universe, const SapWorkerOptions *options,
                        UniverseHost **host_out)
{
    UniverseHost *host = (UniverseHost *)calloc(1, sizeof *host);
    if (host == NULL) {
        return SAP_NOMEM;
    }
    int rc = sap_worker_open(universe, options, &host->worker);
    if (rc != SAP_OK) {
        free(host);
        return rc;
    }
    rc = start_thread(host, renew);
    rc = rc == SAP_OK ? start_thread(host, step) : rc;
    if (rc != SAP_OK) {
        (void)universe_host_stop(host);
        return rc;
    }
    *host_out = host;
    return SAP_OK;
}

SapWorker *universe_host_worker(UniverseHost *host)
{
    return host->worker;
}

int universe_host_code(UniverseHost *host)
{
    return atomic_load_full(&host->code);
}

int universe_host_stop(UniverseHost *host)
{
    if (host == NULL) {
        return SAP_OK;
    }
    atomic_store_full(&host->stopping, true);
    for (int i = 0; i < host->thread_count; i++) {
        pthread_join(host->threads[i], NULL);
    }
    int code = universe_host_code(host);
    int rc = sap_worker_close(host->worker);
    free(host);
    return code == SAP_OK ? rc : code;
}
