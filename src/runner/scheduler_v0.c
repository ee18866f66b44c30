/* scheduler_v0.c - see scheduler_v0.h. */
#include "runner/scheduler_v0.h"

#include "common/assert.h"
#include "runner/rows.h"

int sap_runner_scheduler_v0_next_due(SapTxnCtx *txn, int64_t *due_ms_out)
{
    const void *key;
    uint32_t key_len;
    uint64_t seq;

    if (due_ms_out == NULL) {
        return SAP_ERROR;
    }
    Cursor *cur;
    int rc = row_cursor_open(txn, WIT_DBI_TIMERS, &cur);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = cursor_first(cur);
    if (rc == SAP_OK) {
        rc = cursor_get_key(cur, &key, &key_len);
    }
    if (rc == SAP_OK) {
        rc = row_timer_key_read(key, key_len, due_ms_out, &seq);
    }
    cursor_close(cur);
    return rc;
}

uint32_t sap_runner_scheduler_v0_sleep_budget(int64_t now_ms, int64_t due_ms, uint32_t max_ms)
{
    if (due_ms <= now_ms) {
        return 0;
    }
    uint64_t wait_ms = (uint64_t)due_ms - (uint64_t)now_ms;
    return wait_ms < max_ms ? (uint32_t)wait_ms : max_ms;
}

uint64_t scheduler_backoff(uint64_t first, uint64_t longest, uint32_t n, uint32_t dice)
{
    uint64_t most = first;

    SAP_ASSERT(longest <= INT64_MAX); /* so that doubling stays within 64 bits */
    for (uint32_t i = 0; i < n && most < longest && most > 0; i++) {
        most *= 2;
    }
    most = most > longest ? longest : most;
    uint64_t least = most - most / 2;
    return least + dice % (most - least + 1);
}
