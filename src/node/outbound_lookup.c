/* outbound_lookup.c - see outbound_lookup.h. */
#include "node/outbound_lookup.h"

#include "common/assert.h"
#include "common/mem.h"
#include "common/sync.h"
#include "node/outbound_guard.h"
#include "sapling/error.h"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

enum { LOOKUP_THREADS = 8 };

/* For the threads that are idle, or nearly done, when all is closed. */
#define LOOKUP_CLOSE_NS UINT64_C(200000000)

/* Waits in the list, or is a thread's, until it is done; freed when it is done and released. */
struct Lookup {
    Lookups *lookups;
    Lookup *next;
    bool done;
    bool released;
    char host[GUARD_HOST_MAX + 1];
    LookupAnswer answer;
};

/* Freed by whoever is the last of its owner and its threads. */
struct Lookups {
    Mutex lock; /* guards all below */
    Cond work;
    Cond ended; /* a thread has ended */
    LookupsOptions options;
    Lookup *first; /* waiting */
    Lookup *last;
    uint32_t threads;
    uint32_t idle;
    bool closed;
    bool abandoned; /* by its owner, while threads still wait for name servers */
};

/* ---- The system's resolver ------------------------------------------------------------------- */

static void resolve_by_system(void *ctx, const char *host, LookupAnswer *out)
{
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    struct addrinfo *found = NULL;
    (void)ctx;
    int code = getaddrinfo(host, NULL, &hints, &found);
    if (code != 0) {
        out->outcome = code == EAI_NONAME || code == EAI_NODATA || code == EAI_ADDRFAMILY
                           ? LOOKUP_UNKNOWN
                           : LOOKUP_FAILED;
        return;
    }
    for (const struct addrinfo *at = found; at != NULL && out->count < LOOKUP_ADDRESSES_MAX;
         at = at->ai_next) {
        out->count += address_from_socket(at->ai_addr, &out->addresses[out->count]);
    }
    out->outcome = out->count > 0 ? LOOKUP_FOUND : LOOKUP_UNKNOWN;
    freeaddrinfo(found);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void free_lookup(Lookup *lookup)
{
    mem_free(MEM_COMMON, lookup, sizeof *lookup);
}

static void free_lookups(Lookups *lookups)
{
    SAP_ASSERT(lookups->closed && lookups->threads == 0 && lookups->first == NULL);
    cond_destroy(&lookups->work);
    cond_destroy(&lookups->ended);
    mutex_destroy(&lookups->lock);
    mem_free(MEM_COMMON, lookups, sizeof *lookups);
}

static Lookup *take_first(Lookups *lookups)
{
    Lookup *lookup = lookups->first;
    lookups->first = lookup->next;
    lookups->last = lookups->first == NULL ? NULL : lookups->last;
    lookup->next = NULL;
    return lookup;
}

/* With the lock, which it gives up meanwhile. */
static void resolve_one(Lookups *lookups, Lookup *lookup)
{
    LookupAnswer answer = {.outcome = LOOKUP_FAILED};
    mutex_unlock(&lookups->lock);
    lookups->options.function(lookups->options.function_ctx, lookup->host, &answer);
    SAP_ASSERT(answer.count <= LOOKUP_ADDRESSES_MAX);
    mutex_lock(&lookups->lock);
    lookup->answer = answer;
    lookup->done = true;
    if (lookup->released) {
        free_lookup(lookup);
    } else {
        SAP_ASSERT(!lookups->closed);
        lookups->options.done(lookups->options.done_ctx);
    }
}

static void *run_lookups(void *arg)
{
    Lookups *lookups = (Lookups *)arg;
    mutex_lock(&lookups->lock);
    for (;;) {
        if (lookups->first != NULL) {
            Lookup *lookup = take_first(lookups);
            if (lookup->released) {
                free_lookup(lookup);
            } else {
                resolve_one(lookups, lookup);
            }
        } else if (lookups->closed) {
            break;
        } else {
            lookups->idle++;
            cond_wait(&lookups->work, &lookups->lock);
            lookups->idle--;
        }
    }
    lookups->threads--;
    bool last = lookups->abandoned && lookups->threads == 0;
    cond_signal(&lookups->ended);
    mutex_unlock(&lookups->lock);
    if (last) {
        free_lookups(lookups);
    }
    return NULL;
}

/* With the lock. False: there is none, and none can be started. */
static bool have_thread(Lookups *lookups)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    if (lookups->idle > 0 || lookups->threads == LOOKUP_THREADS) {
        return true;
    }
    if (pthread_attr_init(&attr) != 0) {
        return lookups->threads > 0;
    }
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, &attr, run_lookups, lookups) == 0) {
        lookups->threads++;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attr);
    return lookups->threads > 0;
}

/* ---- Lookups --------------------------------------------------------------------------------- */

int lookup_start(Lookups *lookups, const char *host, Lookup **lookup_out)
{
    SAP_ASSERT(strlen(host) <= GUARD_HOST_MAX);
    Lookup *lookup = (Lookup *)mem_zalloc(MEM_COMMON, sizeof *lookup);
    if (lookup == NULL) {
        return SAP_NOMEM;
    }
    lookup->lookups = lookups;
    memcpy(lookup->host, host, strlen(host) + 1);
    mutex_lock(&lookups->lock);
    SAP_ASSERT(!lookups->closed);
    bool started = have_thread(lookups);
    if (started) {
        if (lookups->last == NULL) {
            lookups->first = lookup;
        } else {
            lookups->last->next = lookup;
        }
        lookups->last = lookup;
        cond_signal(&lookups->work);
    }
    mutex_unlock(&lookups->lock);
    if (!started) {
        free_lookup(lookup);
        return SAP_NOMEM;
    }
    *lookup_out = lookup;
    return SAP_OK;
}

bool lookup_poll(Lookup *lookup, LookupAnswer *out)
{
    mutex_lock(&lookup->lookups->lock);
    bool done = lookup->done;
    if (done) {
        *out = lookup->answer;
    }
    mutex_unlock(&lookup->lookups->lock);
    return done;
}

void lookup_release(Lookup *lookup)
{
    if (lookup == NULL) {
        return;
    }
    Lookups *lookups = lookup->lookups;
    mutex_lock(&lookups->lock);
    SAP_ASSERT(!lookup->released);
    lookup->released = true;
    if (lookup->done) {
        free_lookup(lookup);
    }
    mutex_unlock(&lookups->lock);
}

/* ---- Opening and closing --------------------------------------------------------------------- */

int lookups_open(const LookupsOptions *options, Lookups **lookups_out)
{
    Lookups *lookups = (Lookups *)mem_zalloc(MEM_COMMON, sizeof *lookups);
    if (lookups == NULL) {
        return SAP_NOMEM;
    }
    lookups->options = *options;
    if (options->function == NULL) {
        lookups->options.function = resolve_by_system;
    }
    bool locked = mutex_init(&lookups->lock);
    bool work = locked && cond_init(&lookups->work);
    bool ended = work && cond_init(&lookups->ended);
    if (ended) {
        *lookups_out = lookups;
        return SAP_OK;
    }
    if (work) {
        cond_destroy(&lookups->work);
    }
    if (locked) {
        mutex_destroy(&lookups->lock);
    }
    mem_free(MEM_COMMON, lookups, sizeof *lookups);
    return SAP_NOMEM;
}

void lookups_close(Lookups *lookups)
{
    if (lookups == NULL) {
        return;
    }
    mutex_lock(&lookups->lock);
    lookups->closed = true;
    cond_broadcast(&lookups->work);
    uint64_t until_ns = clock_mono_ns(NULL) + LOOKUP_CLOSE_NS;
    uint64_t now_ns = clock_mono_ns(NULL);
    while (lookups->threads > 0 && now_ns < until_ns) {
        cond_wait_ns(&lookups->ended, &lookups->lock, until_ns - now_ns);
        now_ns = clock_mono_ns(NULL);
    }
    lookups->abandoned = lookups->threads > 0;
    bool last = !lookups->abandoned;
    mutex_unlock(&lookups->lock);
    if (last) {
        free_lookups(lookups);
    }
}
