/* dedupe_v0.c - see dedupe_v0.h. */
#include "runner/dedupe_v0.h"

#include "common/assert.h"
#include "common/buf.h"
#include "common/hash.h"
#include "runner/rows.h"
#include "wit_runtime.h"

#include <string.h>

enum {
    ID_KEPT_WHOLE = 256,
    SEEN_KEY_ROOM = 5 + 8 + ID_KEPT_WHOLE, /* "seen:" and the worker before the id */
    RETRY_KEY_SIZE = 6 + 1 + ROW_KEY_SIZE, /* "retry:" and the table before the row */
    SEEN_SIZE = 17
};

/* ---- Failed attempts ------------------------------------------------------------------------ */

typedef struct RetryKey {
    uint8_t bytes[RETRY_KEY_SIZE];
} RetryKey;

static RetryKey retry_key(uint32_t dbi, const RowKey *row)
{
    RetryKey key = {{0}};
    Buf buf = buf_in(key.bytes, sizeof key.bytes);
    WitRuntimeRetryKey fields = {(uint8_t)dbi,
                                 {(uint8_t *)(uintptr_t)row->bytes, sizeof row->bytes}};

    SAP_ASSERT(dbi == WIT_DBI_INBOX || dbi == WIT_DBI_TIMERS);
    int rc = wit_runtime_retry_key_encode(&fields, &buf, NULL);
    SAP_ASSERT(rc == SAP_OK && buf.data == key.bytes && buf.len == sizeof key.bytes);
    return key;
}

int dedupe_retries(Txn *txn, uint32_t dbi, const RowKey *row, uint32_t *count_out)
{
    RetryKey key = retry_key(dbi, row);
    WitRuntimeRetryValue value = {0};
    const void *val;
    uint32_t val_len;
    int rc = txn_get_dbi(txn, WIT_DBI_DEDUPE, key.bytes, sizeof key.bytes, &val, &val_len);

    if (rc == SAP_OK) {
        rc = row_decoded(wit_runtime_retry_value_decode(val, val_len, &value, NULL));
    }
    if (rc == SAP_OK || rc == SAP_NOTFOUND) {
        *count_out = value.count;
        return SAP_OK;
    }
    return rc;
}

int dedupe_set_retries(Txn *txn, uint32_t dbi, const RowKey *row, uint32_t count)
{
    RetryKey key = retry_key(dbi, row);

    if (count == 0) {
        int rc = txn_del_dbi(txn, WIT_DBI_DEDUPE, key.bytes, sizeof key.bytes);
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    uint8_t bytes[4];
    Buf buf = buf_in(bytes, sizeof bytes);
    int rc = wit_runtime_retry_value_encode(&(WitRuntimeRetryValue){count}, &buf, NULL);
    SAP_ASSERT(rc == SAP_OK && buf.data == bytes);
    return txn_put_dbi(txn, WIT_DBI_DEDUPE, key.bytes, sizeof key.bytes, bytes, (uint32_t)buf.len);
}

/* ---- Ids that were handled ------------------------------------------------------------------ */

typedef struct SeenKey {
    uint8_t bytes[SEEN_KEY_ROOM];
    uint32_t len;
} SeenKey;

/* A long id is its hash, so that the key fits every page size. */
static SeenKey seen_key(uint64_t worker, const void *id, uint32_t id_len)
{
    SeenKey key;
    uint8_t hash[HASH128_SIZE];
    Buf buf = buf_in(key.bytes, sizeof key.bytes);
    CodecBytes bytes = {(uint8_t *)(uintptr_t)id, id_len};

    if (id_len > ID_KEPT_WHOLE) {
        hash_bytes128(id, id_len, hash);
        bytes = (CodecBytes){hash, sizeof hash};
    }
    int rc = wit_runtime_seen_key_encode(&(WitRuntimeSeenKey){worker, bytes}, &buf, NULL);
    SAP_ASSERT(rc == SAP_OK && buf.data == key.bytes);
    key.len = (uint32_t)buf.len;
    return key;
}

/* A time before 1970 has expired by any clock that a program meets. */
static uint64_t ttl_time(int64_t ms)
{
    return ms < 0 ? 0 : (uint64_t)ms;
}

static int read_seen(Txn *txn, const SeenKey *key, int64_t now_ms, WitRuntimeSeenValue *row_out)
{
    const void *val;
    uint32_t val_len;
    int rc = txn_get_ttl_dbi(txn, WIT_DBI_DEDUPE, WIT_DBI_DEDUPE_TTL, key->bytes, key->len,
                             ttl_time(now_ms), &val, &val_len);

    return rc == SAP_OK ? row_decoded(wit_runtime_seen_value_decode(val, val_len, row_out, NULL))
                        : rc;
}

static void encode_seen(const WitRuntimeSeenValue *row, uint8_t bytes[SEEN_SIZE])
{
    Buf buf = buf_in(bytes, SEEN_SIZE);
    int rc = wit_runtime_seen_value_encode(row, &buf, NULL);

    SAP_ASSERT(rc == SAP_OK && buf.data == bytes && buf.len == SEEN_SIZE);
}

int sap_runner_dedupe_v0_seen(SapTxnCtx *txn, int64_t worker_id, const void *id, uint32_t id_len,
                              const void *payload, uint32_t payload_len, int64_t now_ms,
                              int *seen_out, int *differs_out)
{
    WitRuntimeSeenValue row = {0};

    if (worker_id < 0 || id == NULL || id_len == 0 || (payload == NULL && payload_len > 0) ||
        seen_out == NULL) {
        return SAP_ERROR;
    }
    SeenKey key = seen_key((uint64_t)worker_id, id, id_len);
    int rc = read_seen(txn, &key, now_ms, &row);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    *seen_out = rc == SAP_OK && row.accepted;
    if (differs_out != NULL) {
        *differs_out = *seen_out && row.checksum != hash_bytes(payload, payload_len, 0);
    }
    return SAP_OK;
}

int sap_runner_dedupe_v0_accept(SapTxnCtx *txn, int64_t worker_id, const void *id, uint32_t id_len,
                                const void *payload, uint32_t payload_len, int64_t now_ms,
                                uint64_t ttl_ms)
{
    uint8_t bytes[SEEN_SIZE];

    if (worker_id < 0 || id == NULL || id_len == 0 || (payload == NULL && payload_len > 0)) {
        return SAP_ERROR;
    }
    SeenKey key = seen_key((uint64_t)worker_id, id, id_len);
    uint64_t now = ttl_time(now_ms);
    uint64_t expiry = ttl_ms > UINT64_MAX - now ? UINT64_MAX : now + ttl_ms;
    encode_seen(&(WitRuntimeSeenValue){.accepted = true,
                                       .last_seen = now_ms,
                                       .checksum = hash_bytes(payload, payload_len, 0)},
                bytes);
    return txn_put_ttl_dbi(txn, WIT_DBI_DEDUPE, WIT_DBI_DEDUPE_TTL, key.bytes, key.len, bytes,
                           sizeof bytes, expiry);
}

int dedupe_note_again(Txn *txn, uint64_t worker, const void *id, uint32_t id_len, int64_t now_ms)
{
    uint8_t bytes[SEEN_SIZE];
    WitRuntimeSeenValue row;
    SeenKey key = seen_key(worker, id, id_len);
    int rc = read_seen(txn, &key, now_ms, &row);

    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    row.last_seen = now_ms;
    encode_seen(&row, bytes);
    return txn_put_dbi(txn, WIT_DBI_DEDUPE, key.bytes, key.len, bytes, sizeof bytes);
}

int sap_runner_dedupe_v0_sweep(SapTxnCtx *txn, int64_t now_ms, uint32_t max, uint64_t *removed_out)
{
    return txn_sweep_ttl_dbi_limit(txn, WIT_DBI_DEDUPE, WIT_DBI_DEDUPE_TTL, ttl_time(now_ms), max,
                                   removed_out);
}
