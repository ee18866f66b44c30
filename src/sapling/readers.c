/* readers.c - read transactions: snapshots taken without a lock. The protocol is in env.h. */
#include <string.h>

#include "common/assert.h"
#include "common/clock.h"
#include "common/fault.h"
#include "common/mem.h"
#include "sapling/env.h"

#if SAPLING_THREADED
#include <sched.h>
#include <time.h>

enum { GATE_SPINS = 100, GATE_NAP_NS = 200000 };
#endif

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

/* Pins the newest version and copies it to the transaction. */
static void pin_newest(SapEnv *env, SapTxnCtx *txn)
{
    for (;;) {
        uint64_t newest = atomic_load_full(&env->newest);
        Version *version = &env->versions[newest % ENV_VERSIONS];
        txn->base = atomic_load_acquire(&version->txnid);
        txn->catalog = atomic_load_acquire(&version->catalog);
        for (uint32_t i = 0; i < SAP_MAX_SUBSYSTEMS; i++) {
            txn->subsystem[i] = atomic_load_acquire(&version->subsystem[i]);
        }
        atomic_store_full(&txn->pin, txn->base);
        /* The gate first: a metadata call that did not see the pin and is over by now has moved
         * `newest` before it opened the gate. */
        if (atomic_load_full(&env->gate)) {
            atomic_store_full(&txn->pin, 0);
            wait_for_gate(env);
        } else if (atomic_load_full(&env->newest) == newest) {
            return;
        }
    }
}

int reader_begin(SapEnv *env, SapTxnCtx *parent, SapTxnCtx **txn_out)
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
    atomic_store_relaxed(&txn->since_ns, clock_mono_ns(NULL));
    if (parent != NULL) {
        txn->base = parent->base;
        txn->catalog = parent->catalog;
        memcpy(txn->subsystem, parent->subsystem, sizeof txn->subsystem);
    } else {
        pin_newest(env, txn);
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

void readers_scan(Pager *pager, void *env)
{
    SapTxnCtx *txn = atomic_load_full(&((SapEnv *)env)->readers);
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
    if (db == NULL || fn == NULL) {
        return SAP_ERROR;
    }
    for (SapTxnCtx *txn = atomic_load_full(&db->readers); txn != NULL; txn = txn->next) {
        uint64_t now = clock_mono_ns(NULL);
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
