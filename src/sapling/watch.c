/* watch.c - telling watchers what a commit changed.
 *
 * While a transaction runs, the keys it changes in watched tables are noted; a nested abort cuts
 * the notes back. Before the commit the notes become a batch of events: each key once, in table
 * and key order, with a copy of its value. The commit enqueues the batch under the writer lock,
 * so that the queue is in commit order.
 *
 * One thread at a time delivers. A committing thread waits until its own batch has been delivered,
 * by itself or by another; from inside a callback it does not wait: the batch follows when the
 * callback has returned. No lock is held in a callback. A registration that is being called is not
 * freed: removing it from outside waits, removing it from inside leaves that to the deliverer. */
#include <string.h>

#include "common/assert.h"
#include "common/mem.h"
#include "sapling/tree.h"

typedef struct Watch {
    struct Watch *next;
    uint32_t dbi;
    sap_watch_fn call;
    void *ctx;
    uint64_t since; /* later commits only */
    bool removed;   /* no more calls */
    bool orphaned;  /* and removed from inside its call: the deliverer frees it */
    uint32_t prefix_len;
    uint8_t prefix[];
} Watch;

/* Events: u32 dbi, u32 key length, u32 value length or EVENT_GONE, key, value. */
typedef struct Batch {
    struct Batch *next;
    uint64_t number;
    uint64_t txnid;
    Buf events;
} Batch;

struct WatchHub {
    Mutex lock;
    Cond changed; /* delivered, delivering or calling */
    Watch *watches;
    Batch *first;
    Batch *last;
    Batch *prepared; /* (writer) of the commit being made */
    uint64_t enqueued;
    uint64_t delivered;
    bool delivering;
    ThreadId deliverer;
    uint64_t owed; /* the last batch that the deliverer enqueued from inside a call */
    Watch *calling;
};

#define EVENT_GONE UINT32_MAX

/* ---- Registering ---------------------------------------------------------------------------- */

static size_t watch_size(uint32_t prefix_len)
{
    return sizeof(Watch) + prefix_len;
}

static int hub_open(SapEnv *env)
{
    if (env->watch != NULL) {
        return SAP_OK;
    }
    WatchHub *hub = (WatchHub *)mem_zalloc(MEM_ENV, sizeof *hub);
    if (hub == NULL) {
        return SAP_NOMEM;
    }
    if (!mutex_init(&hub->lock)) {
        mem_free(MEM_ENV, hub, sizeof *hub);
        return SAP_NOMEM;
    }
    if (!cond_init(&hub->changed)) {
        mutex_destroy(&hub->lock);
        mem_free(MEM_ENV, hub, sizeof *hub);
        return SAP_NOMEM;
    }
    env->watch = hub;
    return SAP_OK;
}

static void batch_free(Batch *batch)
{
    if (batch != NULL) {
        buf_release(&batch->events);
        mem_free(MEM_ENV, batch, sizeof *batch);
    }
}

bool watch_is_busy(SapEnv *env)
{
    WatchHub *hub = env->watch;
    if (hub == NULL) {
        return false;
    }
    mutex_lock(&hub->lock);
    bool busy = hub->delivering || hub->first != NULL;
    mutex_unlock(&hub->lock);
    return busy;
}

void watch_destroy(SapEnv *env)
{
    WatchHub *hub = env->watch;
    if (hub == NULL) {
        return;
    }
    while (hub->watches != NULL) {
        Watch *next = hub->watches->next;
        mem_free(MEM_ENV, hub->watches, watch_size(hub->watches->prefix_len));
        hub->watches = next;
    }
    SAP_ASSERT(hub->first == NULL && hub->prepared == NULL);
    cond_destroy(&hub->changed);
    mutex_destroy(&hub->lock);
    mem_free(MEM_ENV, hub, sizeof *hub);
    env->watch = NULL;
}

/* The link to the registration, or to the end of the list. */
static Watch **find_link(WatchHub *hub, uint32_t dbi, const void *prefix, uint32_t prefix_len,
                         sap_watch_fn cb, const void *ctx)
{
    Watch **link = &hub->watches;
    while (*link != NULL) {
        const Watch *watch = *link;
        if (!watch->removed && watch->dbi == dbi && watch->call == cb && watch->ctx == ctx &&
            bytes_compare(watch->prefix, watch->prefix_len, prefix, prefix_len) == 0) {
            break;
        }
        link = &(*link)->next;
    }
    return link;
}

/* The caller holds the writer lock. */
static int add_watch(SapEnv *db, uint32_t dbi, const void *prefix, uint32_t prefix_len,
                     sap_watch_fn cb, void *ctx)
{
    Table *table = table_get(db, dbi);
    if (table == NULL || table->pairs != NULL) {
        return SAP_ERROR;
    }
    int rc = hub_open(db);
    if (rc != SAP_OK) {
        return rc;
    }
    Watch *watch = (Watch *)mem_zalloc(MEM_ENV, watch_size(prefix_len));
    if (watch == NULL) {
        return SAP_NOMEM;
    }
    watch->dbi = dbi;
    watch->call = cb;
    watch->ctx = ctx;
    watch->since = db->stamp;
    watch->prefix_len = prefix_len;
    if (prefix_len > 0) {
        memcpy(watch->prefix, prefix, prefix_len);
    }
    WatchHub *hub = db->watch;
    mutex_lock(&hub->lock);
    Watch **link = find_link(hub, dbi, prefix, prefix_len, cb, ctx);
    bool there = *link != NULL;
    if (!there) {
        *link = watch;
        table->watches++;
    }
    mutex_unlock(&hub->lock);
    if (there) {
        mem_free(MEM_ENV, watch, watch_size(prefix_len));
    }
    return there ? SAP_EXISTS : SAP_OK;
}

int sap_db_watch_dbi(SapEnv *db, uint32_t dbi, const void *prefix, uint32_t prefix_len,
                     sap_watch_fn cb, void *ctx)
{
    if (!env_usable(db) || cb == NULL || (prefix == NULL && prefix_len > 0)) {
        return SAP_ERROR;
    }
    if (!writer_lock_take(&db->lock, false)) {
        return SAP_BUSY;
    }
    int rc = add_watch(db, dbi, prefix, prefix_len, cb, ctx);
    writer_lock_release(&db->lock);
    return rc;
}

int sap_db_watch(SapEnv *db, const void *prefix, uint32_t prefix_len, sap_watch_fn cb, void *ctx)
{
    return sap_db_watch_dbi(db, 0, prefix, prefix_len, cb, ctx);
}

/* Ends the registration; *watch_out is what is left to wait for and to free, if anything. The
 * caller holds the writer lock. */
static int retire_watch(SapEnv *db, uint32_t dbi, const void *prefix, uint32_t prefix_len,
                        sap_watch_fn cb, const void *ctx, Watch **watch_out)
{
    Table *table = table_get(db, dbi);
    WatchHub *hub = db->watch;
    if (table == NULL) {
        return SAP_ERROR;
    }
    if (hub == NULL) {
        return SAP_NOTFOUND;
    }
    mutex_lock(&hub->lock);
    Watch *watch = *find_link(hub, dbi, prefix, prefix_len, cb, ctx);
    if (watch != NULL) {
        table->watches--;
        watch->removed = true;
        watch->orphaned = hub->calling == watch && thread_is_self(hub->deliverer);
        *watch_out = watch->orphaned ? NULL : watch;
    }
    mutex_unlock(&hub->lock);
    return watch != NULL ? SAP_OK : SAP_NOTFOUND;
}

static void unlink_and_free(WatchHub *hub, Watch *watch)
{
    Watch **link = &hub->watches;
    while (*link != watch) {
        link = &(*link)->next;
    }
    *link = watch->next;
    mem_free(MEM_ENV, watch, watch_size(watch->prefix_len));
}

int sap_db_unwatch_dbi(SapEnv *db, uint32_t dbi, const void *prefix, uint32_t prefix_len,
                       sap_watch_fn cb, void *ctx)
{
    if (!env_usable(db) || cb == NULL || (prefix == NULL && prefix_len > 0)) {
        return SAP_ERROR;
    }
    if (!writer_lock_take(&db->lock, false)) {
        return SAP_BUSY;
    }
    Watch *watch = NULL;
    int rc = retire_watch(db, dbi, prefix, prefix_len, cb, ctx, &watch);
    WatchHub *hub = db->watch;
    writer_lock_release(&db->lock); /* a call that is waited for may want to write */
    if (watch != NULL) {
        mutex_lock(&hub->lock);
        while (hub->calling == watch) {
            cond_wait(&hub->changed, &hub->lock);
        }
        unlink_and_free(hub, watch);
        mutex_unlock(&hub->lock);
    }
    return rc;
}

int sap_db_unwatch(SapEnv *db, const void *prefix, uint32_t prefix_len, sap_watch_fn cb, void *ctx)
{
    return sap_db_unwatch_dbi(db, 0, prefix, prefix_len, cb, ctx);
}

/* ---- Noting --------------------------------------------------------------------------------- */

static bool watch_matches(const Watch *watch, uint32_t dbi, uint64_t txnid, const uint8_t *key,
                          uint32_t key_len)
{
    return !watch->removed && watch->dbi == dbi && watch->since < txnid &&
           watch->prefix_len <= key_len && memcmp(watch->prefix, key, watch->prefix_len) == 0;
}

enum { NOTE_HEADER = 8 }; /* u32 dbi, u32 key length */

static bool is_watched(WatchHub *hub, uint32_t dbi, const uint8_t *key, uint32_t key_len)
{
    mutex_lock(&hub->lock);
    const Watch *watch = hub->watches;
    while (watch != NULL && !watch_matches(watch, dbi, UINT64_MAX, key, key_len)) {
        watch = watch->next;
    }
    mutex_unlock(&hub->lock);
    return watch != NULL;
}

int watch_note(SapTxnCtx *txn, uint32_t dbi, const Table *table, const uint8_t *key,
               uint32_t key_len)
{
    if (sap_likely(table->watches == 0) || !is_watched(txn->env->watch, dbi, key, key_len)) {
        return SAP_OK;
    }
    Buf *notes = &txn->env->notes;
    int rc = buf_reserve(notes, (size_t)NOTE_HEADER + key_len);
    if (rc == SAP_OK) {
        (void)buf_append_u32le(notes, dbi);
        (void)buf_append_u32le(notes, key_len);
        (void)buf_append(notes, key, key_len);
    }
    return rc;
}

static int note_compare(const SapEnv *env, const uint8_t *a, const uint8_t *b)
{
    uint32_t a_dbi = load_u32le(a);
    uint32_t b_dbi = load_u32le(b);
    if (a_dbi != b_dbi) {
        return a_dbi < b_dbi ? -1 : 1;
    }
    KeyOrder order = env->tables[a_dbi].key_order;
    uint32_t a_len = load_u32le(a + 4);
    uint32_t b_len = load_u32le(b + 4);
    return key_compare(order, a + NOTE_HEADER, a_len, b + NOTE_HEADER, b_len);
}

/* Merge sort of n notes; `spare` has room for as many. */
static void notes_sort(const SapEnv *env, const uint8_t **notes, const uint8_t **spare, size_t n)
{
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t lo = 0; lo < n; lo += 2 * width) {
            size_t mid = lo + width < n ? lo + width : n;
            size_t hi = lo + 2 * width < n ? lo + 2 * width : n;
            size_t a = lo;
            size_t b = mid;
            for (size_t to = lo; to < hi; to++) {
                bool left = b >= hi || (a < mid && note_compare(env, notes[a], notes[b]) <= 0);
                spare[to] = left ? notes[a++] : notes[b++];
            }
        }
        memcpy(notes, spare, n * sizeof *notes);
    }
}

/* Whether the key of a note was there before the transaction. */
static int note_was_there(SapEnv *env, const uint8_t *note, bool *there_out)
{
    uint32_t dbi = load_u32le(note);
    LeafRow row;
    int rc = tree_get(env, table_committed(env, dbi).root, env->tables[dbi].order,
                      note + NOTE_HEADER, load_u32le(note + 4), &row);
    *there_out = rc == SAP_OK;
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* A key that is neither there now nor was before has not changed: it makes no event. */
static int event_append(SapEnv *env, Batch *batch, const uint8_t *note)
{
    uint32_t dbi = load_u32le(note);
    uint32_t key_len = load_u32le(note + 4);
    const Table *table = &env->tables[dbi];
    const void *val = NULL;
    uint32_t val_len = 0;
    LeafRow row;
    int rc = tree_get(env, table->tree.root, table->order, note + NOTE_HEADER, key_len, &row);
    bool there = rc == SAP_OK;
    if (there) {
        rc = tree_value(env, &row, &val, &val_len);
    }
    bool was_there = there;
    if (rc == SAP_NOTFOUND) {
        rc = note_was_there(env, note, &was_there);
    }
    if (rc != SAP_OK || !was_there) {
        return rc;
    }
    /* A comparator may call different keys equal: the row's own is told. */
    const uint8_t *key = there ? row.key : note + NOTE_HEADER;
    key_len = there ? row.key_len : key_len;
    rc = buf_reserve(&batch->events, (size_t)12 + key_len + val_len);
    if (rc == SAP_OK) {
        (void)buf_append_u32le(&batch->events, dbi);
        (void)buf_append_u32le(&batch->events, key_len);
        (void)buf_append_u32le(&batch->events, there ? val_len : EVENT_GONE);
        (void)buf_append(&batch->events, key, key_len);
        (void)buf_append(&batch->events, val, val_len);
    }
    return rc;
}

static size_t notes_count(const Buf *notes)
{
    size_t n = 0;
    for (size_t at = 0; at < notes->len; at += NOTE_HEADER + load_u32le(notes->data + at + 4)) {
        n++;
    }
    return n;
}

int watch_prepare(SapTxnCtx *txn)
{
    SapEnv *env = txn->env;
    watch_discard(env);
    if (env->notes.len == 0) {
        return SAP_OK;
    }
    size_t n = notes_count(&env->notes);
    size_t bytes = 2 * n * sizeof(const uint8_t *);
    const uint8_t **notes = (const uint8_t **)mem_alloc(MEM_SCRATCH, bytes);
    Batch *batch = (Batch *)mem_zalloc(MEM_ENV, sizeof *batch);
    int rc = notes == NULL || batch == NULL ? SAP_NOMEM : SAP_OK;
    if (rc == SAP_OK) {
        const uint8_t *note = env->notes.data;
        for (size_t i = 0; i < n; i++) {
            notes[i] = note;
            note += NOTE_HEADER + load_u32le(note + 4);
        }
        notes_sort(env, notes, notes + n, n);
        for (size_t i = 0; i < n && rc == SAP_OK; i++) {
            if (i == 0 || note_compare(env, notes[i - 1], notes[i]) != 0) {
                rc = event_append(env, batch, notes[i]);
            }
        }
    }
    mem_free(MEM_SCRATCH, notes, bytes);
    if (rc != SAP_OK || batch->events.len == 0) {
        batch_free(batch);
        return rc;
    }
    env->watch->prepared = batch;
    return SAP_OK;
}

void watch_discard(SapEnv *env)
{
    if (env->watch != NULL) {
        batch_free(env->watch->prepared);
        env->watch->prepared = NULL;
    }
}

uint64_t watch_enqueue(SapEnv *env, uint64_t txnid)
{
    WatchHub *hub = env->watch;
    if (hub == NULL || hub->prepared == NULL) {
        return 0;
    }
    Batch *batch = hub->prepared;
    hub->prepared = NULL;
    batch->txnid = txnid;
    mutex_lock(&hub->lock);
    batch->number = ++hub->enqueued;
    if (hub->last != NULL) {
        hub->last->next = batch;
    } else {
        hub->first = batch;
    }
    hub->last = batch;
    uint64_t number = batch->number;
    mutex_unlock(&hub->lock);
    return number;
}

/* ---- Delivering ----------------------------------------------------------------------------- */

/* Calls one watcher; the lock is given up meanwhile. Returns the next one. */
static Watch *call_watch(WatchHub *hub, Watch *watch, const uint8_t *key, uint32_t key_len,
                         const uint8_t *val, uint32_t val_len)
{
    hub->calling = watch;
    mutex_unlock(&hub->lock);
    watch->call(key, key_len, val, val_len, watch->ctx);
    mutex_lock(&hub->lock);
    hub->calling = NULL;
    Watch *next = watch->next;
    if (watch->orphaned) {
        unlink_and_free(hub, watch);
    }
    cond_broadcast(&hub->changed);
    return next;
}

/* With the lock held, which is given up during calls. */
static void deliver_batch(WatchHub *hub, const Batch *batch)
{
    const uint8_t *at = batch->events.data;
    const uint8_t *end = at + batch->events.len;
    while (at < end) {
        uint32_t dbi = load_u32le(at);
        uint32_t key_len = load_u32le(at + 4);
        uint32_t val_len = load_u32le(at + 8);
        bool gone = val_len == EVENT_GONE;
        val_len = gone ? 0 : val_len;
        const uint8_t *key = at + 12;
        const uint8_t *val = gone ? NULL : key + key_len;
        Watch *watch = hub->watches;
        while (watch != NULL) {
            watch = watch_matches(watch, dbi, batch->txnid, key, key_len)
                        ? call_watch(hub, watch, key, key_len, val, val_len)
                        : watch->next;
        }
        at = key + key_len + val_len;
    }
}

/* Delivers in order up to batch `mine`, and what was enqueued from inside the calls made for it. With
 * the lock held, which is given up during calls. */
static void deliver_up_to(WatchHub *hub, uint64_t mine)
{
    hub->delivering = true;
    hub->deliverer = thread_self();
    hub->owed = mine;
    while (hub->first != NULL && hub->delivered < hub->owed) {
        Batch *batch = hub->first;
        deliver_batch(hub, batch);
        hub->first = batch->next;
        hub->last = hub->first == NULL ? NULL : hub->last;
        hub->delivered = batch->number;
        batch_free(batch);
        cond_broadcast(&hub->changed);
    }
    hub->delivering = false;
    cond_broadcast(&hub->changed);
}

void watch_deliver(WatchHub *hub, uint64_t number)
{
    if (number == 0) {
        return;
    }
    mutex_lock(&hub->lock);
    if (hub->delivering && thread_is_self(hub->deliverer)) {
        hub->owed = number;
    } else {
        while (hub->delivered < number) {
            if (hub->delivering) {
                cond_wait(&hub->changed, &hub->lock);
            } else {
                deliver_up_to(hub, number);
            }
        }
    }
    mutex_unlock(&hub->lock);
}

void watch_deliver_until(WatchHub *hub, uint64_t txnid, bool wait)
{
    uint64_t number = 0;
    mutex_lock(&hub->lock);
    for (const Batch *batch = hub->first; batch != NULL && batch->txnid <= txnid;
         batch = batch->next) {
        number = batch->number;
    }
    bool leave = !wait && hub->delivering && !thread_is_self(hub->deliverer);
    if (leave && hub->owed < number) {
        hub->owed = number; /* the deliverer goes on with it */
    }
    mutex_unlock(&hub->lock);
    watch_deliver(hub, leave ? 0 : number);
}

void watch_drop(WatchHub *hub)
{
    mutex_lock(&hub->lock);
    while (hub->delivering && !thread_is_self(hub->deliverer)) {
        cond_wait(&hub->changed, &hub->lock);
    }
    while (!hub->delivering && hub->first != NULL) {
        Batch *batch = hub->first;
        hub->first = batch->next;
        hub->delivered = batch->number;
        batch_free(batch);
    }
    hub->last = hub->first == NULL ? NULL : hub->last;
    cond_broadcast(&hub->changed);
    mutex_unlock(&hub->lock);
}
