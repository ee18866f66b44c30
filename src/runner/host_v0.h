/* host_v0.h - all that an atomic block can reach. The calls themselves: sapling/runner_v0.h.
 *
 * A host is made for one run of a block and knows nothing but what it was made with, so that a run
 * has no effect except through its context.
 *
 *   - Rows of the runner's own tables can be read and not written; leases are the exception, and
 *     only those on names: their keys begin with 0xFF, where a worker's number has its sign.
 *   - Two messages that one run sends never have the same id, unless the block gave it to both. */
#ifndef SAPLING_RUNNER_HOST_V0_H
#define SAPLING_RUNNER_HOST_V0_H

#include "sapling/runner_v0.h"

struct SapRunnerHostV0 {
    SapRunnerTxCtxV0 *ctx;
    int64_t worker_id;
    uint64_t owner; /* of leases; not 0 */
    int64_t now_ms;
    const SapRunnerV0Message *msg;  /* that is being handled; NULL: none */
    uint64_t seq;                   /* of the inbox row, for the log */
    uint64_t attempt_id;            /* the claim's token, for the log */
    uint32_t emitted;               /* messages sent so far, aborted nested blocks included */
    sap_runner_v0_random_fn random; /* NULL: the system's */
    void *random_ctx;
    sap_runner_v0_log_sink log_sink; /* NULL: none */
    void *log_ctx;
};

#define HOST_TOKEN_BIT (UINT64_C(1) << 63)

enum { HOST_ID_MAX = 64, HOST_NAME_KEY = 0xFF };

#endif
