/* lease_v0.c - see lease_v0.h. */
#include "runner/lease_v0.h"

#include "common/assert.h"
#include "common/buf.h"
#include "runner/rows.h"
#include "wit_runtime.h"

int64_t lease_deadline(int64_t now_ms, int64_t ttl_ms)
{
    return ttl_ms > 0 && now_ms > INT64_MAX - ttl_ms ? INT64_MAX : now_ms + ttl_ms;
}

int lease_jump_tokens(DB *db)
{
    RowNumbers lost;
    Txn *txn;
    int rc = txn_begin_rc(db, NULL, TXN_WAIT | TXN_DRAIN, &txn);

    if (rc == SAP_READONLY) {
        return SAP_OK; /* a DB that is only looked at: nobody claims through it */
    }
    if (rc != SAP_OK) {
        return rc;
    }
    rc = row_take_numbers(txn, "leases", UINT32_MAX, &lost);
    if (rc != SAP_OK) {
        txn_abort(txn);
        return rc;
    }
    return txn_commit(txn);
}

int lease_decode(const void *val, uint32_t val_len, SapRunnerV0Lease *lease_out)
{
    WitRuntimeDbi3LeasesValue row;
    int rc = row_decoded(wit_runtime_dbi3_leases_value_decode(val, val_len, &row, NULL));

    if (rc == SAP_OK) {
        *lease_out = (SapRunnerV0Lease){.owner = row.owner,
                                        .deadline_ms = row.deadline,
                                        .attempts = row.attempts,
                                        .token = row.token};
    }
    return rc;
}

void lease_encode(const SapRunnerV0Lease *lease, uint8_t row_out[LEASE_SIZE])
{
    Buf buf = buf_in(row_out, LEASE_SIZE);
    WitRuntimeDbi3LeasesValue row = {.owner = lease->owner,
                                     .deadline = lease->deadline_ms,
                                     .attempts = lease->attempts,
                                     .token = lease->token};

    SAP_ASSERT(lease->owner != 0 && lease->attempts >= 1);
    int rc = wit_runtime_dbi3_leases_value_encode(&row, &buf, NULL);
    SAP_ASSERT(rc == SAP_OK && buf.data == row_out && buf.len == LEASE_SIZE);
}

static int store(Txn *txn, const void *key, uint32_t key_len, const SapRunnerV0Lease *lease)
{
    uint8_t row[LEASE_SIZE];

    lease_encode(lease, row);
    return txn_put_dbi(txn, WIT_DBI_LEASES, key, key_len, row, sizeof row);
}

int lease_put(Txn *txn, RowNumbers *tokens, const void *key, uint32_t key_len, uint64_t owner,
              int64_t deadline_ms, uint32_t attempts, SapRunnerV0Lease *lease_out)
{
    SapRunnerV0Lease lease = {.owner = owner, .deadline_ms = deadline_ms, .attempts = attempts};
    int rc = row_take_number(txn, "leases", tokens, &lease.token);

    if (rc == SAP_OK) {
        rc = store(txn, key, key_len, &lease);
    }
    if (rc == SAP_OK) {
        *lease_out = lease;
    }
    return rc;
}

int sap_runner_lease_v0_get(SapTxnCtx *txn, const void *key, uint32_t key_len,
                            SapRunnerV0Lease *lease_out)
{
    const void *val;
    uint32_t val_len;

    if (lease_out == NULL) {
        return SAP_ERROR;
    }
    int rc = txn_get_dbi(txn, WIT_DBI_LEASES, key, key_len, &val, &val_len);
    return rc == SAP_OK ? lease_decode(val, val_len, lease_out) : rc;
}

int sap_runner_lease_v0_acquire(SapTxnCtx *txn, const void *key, uint32_t key_len, uint64_t owner,
                                int64_t now_ms, int64_t ttl_ms, SapRunnerV0Lease *lease_out)
{
    SapRunnerV0Lease old = {0};

    if (owner == 0 || ttl_ms <= 0 || lease_out == NULL) {
        return SAP_ERROR;
    }
    int rc = sap_runner_lease_v0_get(txn, key, key_len, &old);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    if (rc == SAP_OK && old.deadline_ms > now_ms) {
        return SAP_BUSY;
    }
    uint32_t attempts = old.attempts < UINT32_MAX ? old.attempts + 1 : UINT32_MAX;
    return lease_put(txn, NULL, key, key_len, owner, lease_deadline(now_ms, ttl_ms), attempts,
                     lease_out);
}

int lease_check(Txn *txn, const void *key, uint32_t key_len, uint64_t token,
                SapRunnerV0Lease *lease_out)
{
    SapRunnerV0Lease lease;
    int rc = sap_runner_lease_v0_get(txn, key, key_len, &lease);

    if (rc == SAP_NOTFOUND || (rc == SAP_OK && lease.token != token)) {
        return SAP_CONFLICT;
    }
    if (rc == SAP_OK && lease_out != NULL) {
        *lease_out = lease;
    }
    return rc;
}

int sap_runner_lease_v0_renew(SapTxnCtx *txn, const void *key, uint32_t key_len, uint64_t token,
                              int64_t now_ms, int64_t ttl_ms, SapRunnerV0Lease *lease_out)
{
    SapRunnerV0Lease lease;

    if (ttl_ms <= 0) {
        return SAP_ERROR;
    }
    int rc = lease_check(txn, key, key_len, token, &lease);
    if (rc != SAP_OK) {
        return rc;
    }
    lease.deadline_ms = lease_deadline(now_ms, ttl_ms);
    rc = store(txn, key, key_len, &lease);
    if (rc == SAP_OK && lease_out != NULL) {
        *lease_out = lease;
    }
    return rc;
}

int sap_runner_lease_v0_release(SapTxnCtx *txn, const void *key, uint32_t key_len, uint64_t token)
{
    int rc = lease_check(txn, key, key_len, token, NULL);

    return rc == SAP_OK ? txn_del_dbi(txn, WIT_DBI_LEASES, key, key_len) : rc;
}
