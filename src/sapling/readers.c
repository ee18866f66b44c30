/* readers.c - read transactions: snapshots taken without a lock. The protocol is in env.h. */
#include <string.h>

#include "common/assert.h"
#include "common/fault.h"
#include "common/mem.h"
#include "sapling/dbfile.h"

#if SAPLING_THREADED
#include <sched.h>
#include <time.h>

enum { GATE_SPINS = 100, GATE_NAP_NS = 200000 };
#endif

void version_put(VersionCell *cell, const Version *version)
{
    uint64_t count = atomic_load_relaxed(&cell->count) + 1;
    VersionEntry *entry = &cell->ring[count % ENV_VERSIONS];
    atomic_store_relaxed(&entry->txnid, version->txnid);
    atomic_store_relaxed(&entry->catalog, version->catalog);
    for (uint32_t i = 0; i < SAP_MAX_SUBSYSTEMS; i++) {
        atomic_store_relaxed(&entry->subsystem[i], version->subsystem[i]);
    }
    atomic_store_full(&cell->count, count);
}

uint64_t version_copy(VersionCell *cell, Version *version_out)
{
    uint64_t count = atomic_load_full(&cell->count);
    VersionEntry *entry = &cell->ring[count % ENV_VERSIONS];
    version_out->txnid = atomic_load_acquire(&entry->txnid);
    version_out->catalog = atomic_load_acquire(&entry->catalog);
    for (uint32_t i = 0; i < SAP_MAX_SUBSYSTEMS; i++) {
        version_out->subsystem[i] = atomic_load_acquire(&entry->subsystem[i]);
    }
    return count;
}

void version_get(VersionCell *cell, Version *version_out)
{
    uint64_t count = version_copy(cell, version_out);
    while (atomic_load_full(&cell->count) != count) {
        count = version_copy(cell, version_out);
    }
}

static bool claim(SapTxnCtx *txn)
{
    bool expected = false;
    return txn != NULL && !atomic_load_relaxed(&txn->claimed) &&
           atomic_cas_full(&txn->claimed, &expected, true);
}

/* A reader object of our own, a used one if there is any. */
static SapTxnCtx *claim_any(SapEnv *env)
{
    SapTxnCtx *spare = atomic_load_acquire(&env->spare_reader);
    if (claim(spare)) {
        return spare;
    }
    for (SapTxnCtx *txn = atomic_load_acquire(&env->readers); txn != NULL; txn = txn->next) {
        if (claim(txn)) {
            return txn;
        }
    }
    SapTxnCtx *made = (SapTxnCtx *)mem_zalloc(MEM_TXN, sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    made->env = env;
    atomic_store_relaxed(&made->claimed, true);
    SapTxnCtx *head = atomic_load_relaxed(&env->readers);
    do {
        made->next = head;
    } while (!atomic_cas_full(&env->readers, &head, made));
    return made;
}

static void wait_for_gate(SapEnv *env)
{
#if SAPLING_THREADED
    /* Opening a table takes microseconds, restoring a stream may take long. */
    for (uint32_t tries = 0; atomic_load_full(&env->gate); tries++) {
        if (tries < GATE_SPINS) {
            sched_yield();
        } else {
            (void)nanosleep(&(struct timespec){.tv_nsec = GATE_NAP_NS}, NULL);
        }
    }
#else
    SAP_ASSERT(!env->gate);
#endif
}

/* Pins the cell's version and copies it to the transaction. */
static void pin_version(SapEnv *env, SapTxnCtx *txn, VersionCell *cell)
{
    for (;;) {
        Version version;
        uint64_t count = version_copy(cell, &version);
        atomic_store_full(&txn->pin, version.txnid);
        /* The gate first: a metadata call that did not see the pin and is over by now has moved
         * the count before it opened the gate. */
        if (atomic_load_full(&env->gate)) {
            atomic_store_full(&txn->pin, 0);
            wait_for_gate(env);
        } else if (atomic_load_full(&cell->count) == count) {
            txn->base = version.txnid;
            txn->catalog = version.catalog;
            memcpy(txn->subsystem, version.subsystem, sizeof txn->subsystem);
            return;
        }
    }
}

int reader_begin(SapEnv *env, SapTxnCtx *parent, VersionCell *cell, SapTxnCtx **txn_out)
{
    SapTxnCtx *txn = claim_any(env);
    if (txn == NULL) {
        return SAP_NOMEM;
    }
    txn->parent = parent;
    txn->child = NULL;
    txn->cursors = NULL;
    txn->scratch = NULL;
    txn->subsystem_count = 0;
    memset(txn->cache, 0, sizeof txn->cache);
    atomic_store_relaxed(&txn->since_ns, dbfile_now_ns(env->file));
    if (parent != NULL) {
        txn->base = parent->base;
        txn->catalog = parent->catalog;
        memcpy(txn->subsystem, parent->subsystem, sizeof txn->subsystem);
    } else {
        pin_version(env, txn, cell);
    }
    txn->kind = TXN_READER;
    *txn_out = txn;
    return SAP_OK;
}

void reader_end(SapTxnCtx *txn)
{
    txn->kind = TXN_ENDED;
    atomic_store_release(&txn->env->spare_reader, txn);
    atomic_store_full(&txn->pin, 0);
    atomic_store_release(&txn->claimed, false); /* last: from here on the object may be gone */
}

void readers_scan(Pager *pager, void *ctx)
{
    SapEnv *env = (SapEnv *)ctx;
    if (env->file != NULL) {
        dbfile_scan(env->file, pager); /* first: readers take their pins from there */
    }
    SapTxnCtx *txn = atomic_load_full(&env->readers);
    for (; txn != NULL; txn = txn->next) {
        uint64_t pin = atomic_load_full(&txn->pin);
        /* A reader about to start over may still show a version long gone: it will not read it. */
        if (pin != 0) {
            pager_pins_mark(pager, pin);
        }
    }
}

bool readers_any(SapEnv *env)
{
    for (SapTxnCtx *txn = atomic_load_full(&env->readers); txn != NULL; txn = txn->next) {
        if (atomic_load_full(&txn->pin) != 0) {
            return true;
        }
    }
    return false;
}

bool readers_in_use(SapEnv *env)
{
    for (SapTxnCtx *txn = atomic_load_full(&env->readers); txn != NULL; txn = txn->next) {
        if (atomic_load_acquire(&txn->claimed)) {
            return true;
        }
    }
    return false;
}

void readers_destroy(SapEnv *env)
{
    SapTxnCtx *txn = atomic_load_relaxed(&env->readers);
    while (txn != NULL) {
        SapTxnCtx *next = txn->next;
        mem_free(MEM_TXN, txn, sizeof *txn);
        txn = next;
    }
}

int sap_db_readers(SapEnv *db, int (*fn)(const SapReaderInfo *info, void *ctx), void *ctx)
{
    if (!env_usable(db) || fn == NULL) {
        return SAP_ERROR;
    }
    for (SapTxnCtx *txn = atomic_load_full(&db->readers); txn != NULL; txn = txn->next) {
        uint64_t now = dbfile_now_ns(db->file);
        uint64_t since = atomic_load_relaxed(&txn->since_ns);
        uint64_t pin = atomic_load_full(&txn->pin);
        if (pin != 0) {
            SapReaderInfo info = {.txnid = pin, .age_ns = now > since ? now - since : 0};
            int rc = fn(&info, ctx);
            if (rc != 0) {
                return rc;
            }
        }
    }
    return SAP_OK;
}
