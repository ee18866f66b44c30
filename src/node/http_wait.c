/* http_wait.c - see http_wait.h. */
#include "node/http_wait.h"

#include <pthread.h>
#include <time.h>

#include "common/assert.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/sync.h"

#define MS_NS UINT64_C(1000000)

enum {
    SLICE_MS = 20,  /* deadlines are looked at so often while somebody waits */
    REST_NS = 4000, /* after a look, for each caller that waits: some four times what it took */
    LOOK_MOST_MS = 1000,
    FAILED_PAUSE_MS = 100,
};

struct Waits {
    SapUniverse *universe;
    RowKey prefix;
    WaitLook look;
    Mutex lock; /* of the fields below */
    Cond added;
    Call *new_calls;
    uint32_t count; /* all that wait */
    bool stopping;
    bool idle; /* the thread sleeps, since nobody waits */
    pthread_t thread;
    bool has_thread;
    Call *calls; /* the thread's own */
};

static void stop_call(Call *call)
{
    (void)call_fail(call, API_STOPPING,
                    "the node is stopping: send the same request again with the same "
                    "Idempotency-Key when it is back");
    call->finish(call);
}

static void count_down(Waits *waits, uint32_t gone)
{
    mutex_lock(&waits->lock);
    SAP_ASSERT(waits->count >= gone);
    waits->count -= gone;
    mutex_unlock(&waits->lock);
}

/* What ends a wait need not be a row of the prefix: an item that was handled without a reply is only gone. So each
 * caller is also looked for after twice the time that it has waited, and once a second at least. */
static uint64_t next_look(const Call *call, uint64_t now_ns)
{
    uint64_t passed_ns = now_ns - call->wait.start_ns;
    uint64_t least_ns = SLICE_MS * MS_NS;
    uint64_t most_ns = LOOK_MOST_MS * MS_NS;
    return now_ns + (passed_ns < least_ns ? least_ns : passed_ns > most_ns ? most_ns : passed_ns);
}

/* Looks for the callers of the thread; `only_due`: those alone whose time has come. txn NULL: the store cannot be
 * read. */
static void look_for_calls(Waits *waits, SapStoreTxn *txn, bool only_due)
{
    Call **at = &waits->calls;
    uint64_t now_ns = clock_boot_ns(NULL);
    uint32_t gone = 0;
    while (*at != NULL) {
        Call *call = *at;
        Call *next = call->next;
        bool over = now_ns >= call->wait.deadline_ns;
        bool due = over || (txn != NULL && (!only_due || now_ns >= call->wait.look_ns));
        if (due && waits->look(txn, call, over)) {
            *at = next;
            gone++;
            continue;
        }
        call->wait.look_ns = due ? next_look(call, now_ns) : call->wait.look_ns;
        at = &call->next;
    }
    count_down(waits, gone);
}

/* Whether some caller is to be looked for, though nothing has changed. */
static bool any_due(const Waits *waits)
{
    uint64_t now_ns = clock_boot_ns(NULL);
    for (const Call *call = waits->calls; call != NULL; call = call->next) {
        if (now_ns >= call->wait.deadline_ns || now_ns >= call->wait.look_ns) {
            return true;
        }
    }
    return false;
}

/* Returns whether there were any. */
static bool take_new(Waits *waits)
{
    mutex_lock(&waits->lock);
    bool found = waits->new_calls != NULL;
    while (waits->new_calls != NULL) {
        Call *call = waits->new_calls;
        waits->new_calls = call->next;
        call->next = waits->calls;
        waits->calls = call;
    }
    mutex_unlock(&waits->lock);
    return found;
}

/* Sleeps while nobody waits. False: it is time to stop. */
static bool await_callers(Waits *waits)
{
    mutex_lock(&waits->lock);
    while (!waits->stopping && waits->new_calls == NULL && waits->calls == NULL) {
        waits->idle = true;
        cond_wait(&waits->added, &waits->lock);
    }
    waits->idle = false;
    bool goes_on = !waits->stopping;
    mutex_unlock(&waits->lock);
    return goes_on;
}

/* A pause that waits_stop() ends, and no caller that is added. */
static void rest_for(Waits *waits, uint64_t ns)
{
    uint64_t start_ns = clock_mono_ns(NULL);
    uint64_t passed_ns = 0;
    mutex_lock(&waits->lock);
    while (!waits->stopping && passed_ns < ns) {
        cond_wait_ns(&waits->added, &waits->lock, ns - passed_ns);
        passed_ns = clock_mono_ns(NULL) - start_ns;
    }
    mutex_unlock(&waits->lock);
}

/* One look at the rows. *version_out, unless NULL, is for the wait that follows. */
static int look_once(Waits *waits, bool only_due, uint64_t *version_out)
{
    SapStoreTxn *txn = NULL;
    SapStore *store = sap_universe_store(waits->universe);
    int rc = sap_store_begin(store, SAP_STORE_READ_DURABLE, &txn);
    if (rc == SAP_OK && version_out != NULL) {
        *version_out = sap_store_version(txn);
    }
    (void)take_new(waits);
    look_for_calls(waits, rc == SAP_OK ? txn : NULL, only_due);
    sap_store_abort(txn);
    return rc;
}

/* Until a row has changed, or it is time to look at deadlines. SAP_NOTFOUND: no row has. */
static int await_rows(Waits *waits, uint64_t version)
{
    SapStorePrefix prefix = {waits->prefix.table, waits->prefix.bytes, waits->prefix.len};
    return sap_store_wait(sap_universe_store(waits->universe), SAP_STORE_READ_DURABLE, &prefix,
                          version, SLICE_MS * MS_NS);
}

/* Sleeps until a row has changed or a caller is new; looks meanwhile for those whose time has come. */
static void sleep_between_looks(Waits *waits, uint64_t version)
{
    while (waits->calls != NULL && await_rows(waits, version) == SAP_NOTFOUND) {
        mutex_lock(&waits->lock);
        bool stopping = waits->stopping;
        mutex_unlock(&waits->lock);
        if (stopping || take_new(waits) ||
            (any_due(waits) && look_once(waits, true, NULL) != SAP_OK)) {
            break;
        }
    }
}

static uint64_t count_calls(const Waits *waits)
{
    uint64_t count = 0;
    for (const Call *call = waits->calls; call != NULL; call = call->next) {
        count++;
    }
    return count;
}

static void *run_waits(void *arg)
{
    Waits *waits = (Waits *)arg;
    while (await_callers(waits)) {
        uint64_t version = 0;
        if (look_once(waits, false, &version) != SAP_OK) {
            rest_for(waits, FAILED_PAUSE_MS * MS_NS);
            continue;
        }
        rest_for(waits, count_calls(waits) * REST_NS);
        sleep_between_looks(waits, version);
    }
    (void)take_new(waits);
    while (waits->calls != NULL) {
        Call *call = waits->calls;
        waits->calls = call->next;
        count_down(waits, 1);
        stop_call(call);
    }
    return NULL;
}

int waits_start(SapUniverse *universe, const RowKey *prefix, WaitLook look, Waits **waits_out)
{
    Waits *waits = (Waits *)mem_zalloc(MEM_COMMON, sizeof *waits);
    if (waits == NULL) {
        return SAP_NOMEM;
    }
    waits->universe = universe;
    waits->prefix = *prefix;
    waits->look = look;
    if (!mutex_init(&waits->lock)) {
        goto free_waits;
    }
    if (!cond_init(&waits->added)) {
        goto destroy_lock;
    }
    if (pthread_create(&waits->thread, NULL, run_waits, waits) != 0) {
        goto destroy_cond;
    }
    (void)pthread_setname_np(waits->thread, "http-wait");
    waits->has_thread = true;
    *waits_out = waits;
    return SAP_OK;

destroy_cond:
    cond_destroy(&waits->added);
destroy_lock:
    mutex_destroy(&waits->lock);
free_waits:
    mem_free(MEM_COMMON, waits, sizeof *waits);
    return SAP_NOMEM;
}

void waits_stop(Waits *waits)
{
    if (waits == NULL || !waits->has_thread) {
        return;
    }
    mutex_lock(&waits->lock);
    waits->stopping = true;
    cond_broadcast(&waits->added);
    mutex_unlock(&waits->lock);
    pthread_join(waits->thread, NULL);
    waits->has_thread = false;
    SAP_ASSERT(waits->calls == NULL && waits->new_calls == NULL && waits->count == 0);
}

void waits_free(Waits *waits)
{
    if (waits != NULL) {
        SAP_ASSERT(!waits->has_thread);
        cond_destroy(&waits->added);
        mutex_destroy(&waits->lock);
        mem_free(MEM_COMMON, waits, sizeof *waits);
    }
}

/* Whether the call is dealt with already. */
static bool look_first(Waits *waits, Call *call, bool over)
{
    SapStoreTxn *txn = NULL;
    int rc = sap_store_begin(sap_universe_store(waits->universe), SAP_STORE_READ_DURABLE, &txn);
    bool gone = rc == SAP_OK ? waits->look(txn, call, over) : over && waits->look(NULL, call, over);
    sap_store_abort(txn);
    return gone;
}

static void add_call(Waits *waits, Call *call, uint64_t wait_ms)
{
    call->wait.start_ns = clock_boot_ns(NULL);
    call->wait.deadline_ns = call->wait.start_ns + wait_ms * MS_NS;
    call->wait.look_ns = next_look(call, call->wait.start_ns);
    if ((call->wait.look_first || wait_ms == 0) && look_first(waits, call, wait_ms == 0)) {
        return;
    }
    mutex_lock(&waits->lock);
    bool stopping = waits->stopping;
    if (!stopping) {
        call->next = waits->new_calls;
        waits->new_calls = call;
        waits->count++;
        if (waits->idle) {
            cond_signal(&waits->added);
        }
    }
    mutex_unlock(&waits->lock);
    if (stopping) {
        stop_call(call);
    }
}

void call_end(Call *call)
{
    Waits *waits = call->park_in;
    if (waits == NULL) {
        SAP_ASSERT(call->status != 0);
        call->finish(call);
        return;
    }
    call->park_in = NULL;
    add_call(waits, call, call->park_ms);
}
