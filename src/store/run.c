/* run.c - a transaction that runs again until it meets nobody. */
#include <time.h>

#include "common/clock.h"
#include "common/random.h"
#include "store/store_impl.h"

enum { FIRST_PAUSE_US = 500, LONGEST_PAUSE_US = 50000 };

/* Between half of the attempt's pause and all of it. */
static void pause_before(uint32_t attempt, Rng *rng)
{
    uint64_t longest_us = (uint64_t)FIRST_PAUSE_US << attempt;
    longest_us = longest_us < LONGEST_PAUSE_US ? longest_us : LONGEST_PAUSE_US;
    uint64_t ns = rng_range(rng, longest_us / 2, longest_us) * 1000;
    struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000),
                             .tv_nsec = (long)(ns % 1000000000)};
    (void)nanosleep(&pause, NULL);
}

/* mark_out NULL: waits until it is durable. */
static int run_once(SapStore *store, SapStoreKind kind, SapStoreBody body, void *ctx,
                    uint64_t *mark_out, bool *unknown_out, bool *again_out)
{
    SapStoreTxn *txn = NULL;
    *unknown_out = false;
    int rc = store_begin(store, kind, &txn, again_out);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = body(txn, ctx);
    if (rc == SAP_OK) {
        rc = mark_out == NULL ? sap_store_commit(txn, unknown_out)
                              : sap_store_commit_async(txn, mark_out, unknown_out);
        *again_out = rc == SAP_BUSY || rc == SAP_CONFLICT;
    } else {
        /* The store's own answer counts, not a code of the same number that the body chose. */
        *again_out = txn->failed == SAP_BUSY || txn->failed == SAP_CONFLICT;
        sap_store_abort(txn);
    }
    return rc;
}

static int run_body(SapStore *store, SapStoreKind kind, SapStoreBody body, void *ctx,
                    uint64_t *mark_out, bool *outcome_unknown)
{
    bool unknown = false;
    bool again = true;
    Rng rng = {{0}};
    int rc = SAP_ERROR;
    if (!store_is_usable(store) || body == NULL || (unsigned)kind > SAP_STORE_CLAIM) {
        again = false;
    }
    for (uint32_t attempt = 0; again && attempt < SAP_STORE_RUN_ATTEMPTS; attempt++) {
        if (attempt == 1 && store->ops->blocks) {
            rng_seed(&rng, clock_mono_ns(NULL) ^ (uint64_t)(uintptr_t)&rng);
        }
        if (attempt > 0) {
            relaxed_add(&store->counts.run_again, 1);
        }
        if (attempt > 0 && store->ops->blocks) {
            pause_before(attempt - 1, &rng);
        }
        rc = run_once(store, kind, body, ctx, mark_out, &unknown, &again);
    }
    if (outcome_unknown != NULL) {
        *outcome_unknown = unknown;
    }
    return rc;
}

int sap_store_run(SapStore *store, SapStoreKind kind, SapStoreBody body, void *ctx,
                  bool *outcome_unknown)
{
    return run_body(store, kind, body, ctx, NULL, outcome_unknown);
}

int store_run_async(SapStore *store, SapStoreKind kind, SapStoreBody body, void *ctx,
                    uint64_t *mark_out, bool *outcome_unknown)
{
    return run_body(store, kind, body, ctx, mark_out, outcome_unknown);
}
