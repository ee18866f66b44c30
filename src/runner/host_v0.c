/* host_v0.c - see host_v0.h. */
#include "runner/host_v0.h"

#include "common/assert.h"
#include "common/hash.h"
#include "common/random.h"
#include "runner/lease_v0.h"
#include "runner/rows.h"
#include "runner/txctx_v0.h"

#include <stdio.h>
#include <string.h>

/* Tables from here on are the application's. */
enum { FIRST_APP_DBI = WIT_DBI_DEDUPE_TTL + 1 };

/* Keys of app_state that are not. */
static const char *const own_prefixes[] = {"runner.", "queue."};

static SapRunnerTxCtxV0 *ctx_of(const SapRunnerHostV0 *host)
{
    return host != NULL ? host->ctx : NULL;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static bool is_own_row(uint32_t dbi, const void *key, uint32_t key_len)
{
    bool own = false;

    if (dbi != WIT_DBI_APP_STATE) {
        return dbi < FIRST_APP_DBI;
    }
    for (size_t i = 0; i < sizeof own_prefixes / sizeof *own_prefixes && key != NULL; i++) {
        size_t len = strlen(own_prefixes[i]);
        own = own || (key_len >= len && memcmp(key, own_prefixes[i], len) == 0);
    }
    return own;
}

int sap_runner_host_v0_get(SapRunnerHostV0 *host, uint32_t dbi, const void *key, uint32_t key_len,
                           const void **val_out, uint32_t *val_len_out)
{
    return sap_runner_txctx_v0_get(ctx_of(host), dbi, key, key_len, val_out, val_len_out);
}

int sap_runner_host_v0_put(SapRunnerHostV0 *host, uint32_t dbi, const void *key, uint32_t key_len,
                           const void *val, uint32_t val_len)
{
    return is_own_row(dbi, key, key_len)
               ? SAP_READONLY
               : sap_runner_txctx_v0_put(ctx_of(host), dbi, key, key_len, val, val_len);
}

int sap_runner_host_v0_del(SapRunnerHostV0 *host, uint32_t dbi, const void *key, uint32_t key_len)
{
    return is_own_row(dbi, key, key_len) ? SAP_READONLY
                                         : sap_runner_txctx_v0_del(ctx_of(host), dbi, key, key_len);
}

int sap_runner_host_v0_scan(SapRunnerHostV0 *host, uint32_t dbi, const void *prefix,
                            uint32_t prefix_len,
                            int (*fn)(const void *key, uint32_t key_len, const void *val,
                                      uint32_t val_len, void *ctx),
                            void *ctx)
{
    return sap_runner_txctx_v0_scan(ctx_of(host), dbi, prefix, prefix_len, fn, ctx);
}

/* ---- Messages ------------------------------------------------------------------------------- */

/* The hash of `bytes` in hexadecimal digits. */
static void hex_of_hash(const void *bytes, uint32_t len, char hex[2 * HASH128_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t hash[HASH128_SIZE];

    hash_bytes128(bytes, len, hash);
    for (uint32_t i = 0; i < HASH128_SIZE; i++) {
        hex[2 * i] = digits[hash[i] >> 4];
        hex[2 * i + 1] = digits[hash[i] & 15];
    }
}

/* An id for the next message: that of the handled one and a number, the same in every run. What
 * answers an answer gets longer with each; where that would be too long, a hash stands for it. */
static int make_id(SapRunnerHostV0 *host, char id[HOST_ID_MAX], uint32_t *len_out)
{
    char number[16];
    int number_len = snprintf(number, sizeof number, ".%u", host->emitted + 1);
    uint8_t seed[HASH128_SIZE];
    const void *base = seed;
    uint32_t base_len = sizeof seed;
    bool readable = host->msg != NULL;

    if (readable) {
        base = host->msg->message_id;
        base_len = host->msg->message_id_len;
    } else {
        int rc = sap_runner_host_v0_random(host, seed, sizeof seed);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    if (readable && base_len + (uint32_t)number_len <= HOST_ID_MAX) {
        memcpy(id, base, base_len);
    } else {
        hex_of_hash(base, base_len, id);
        base_len = 2 * HASH128_SIZE;
    }
    memcpy(id + base_len, number, (size_t)number_len);
    *len_out = base_len + (uint32_t)number_len;
    return SAP_OK;
}

static int send(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, uint8_t kind, uint8_t flags,
                int64_t due_ms)
{
    char id[HOST_ID_MAX];

    if (host == NULL || msg == NULL) {
        return SAP_ERROR;
    }
    SapRunnerV0Message sent = *msg;
    sent.route_worker = host->worker_id;
    sent.route_timestamp = due_ms > host->now_ms ? due_ms : host->now_ms;
    sent.from_worker = host->worker_id;
    sent.flags |= SAP_RUNNER_V0_HAS_FROM;
    if (sent.trace_id != NULL) {
        sent.flags |= SAP_RUNNER_V0_HAS_TRACE;
    } else if ((sent.flags & SAP_RUNNER_V0_HAS_TRACE) == 0 && host->msg != NULL &&
               (host->msg->flags & SAP_RUNNER_V0_HAS_TRACE) != 0) {
        sent.flags |= SAP_RUNNER_V0_HAS_TRACE;
        sent.trace_id = host->msg->trace_id;
        sent.trace_id_len = host->msg->trace_id_len;
    }
    if (sent.message_id_len == 0) {
        int rc = make_id(host, id, &sent.message_id_len);
        if (rc != SAP_OK) {
            return rc;
        }
        sent.message_id = id;
    }
    SapRunnerV0Intent intent = {.kind = kind, .flags = flags, .due_ts = due_ms};
    int rc = txctx_push_message(host->ctx, intent, &sent);
    if (rc == SAP_OK) {
        host->emitted++;
    }
    return rc;
}

int sap_runner_host_v0_emit(SapRunnerHostV0 *host, const SapRunnerV0Message *msg)
{
    return send(host, msg, SAP_RUNNER_V0_OUTBOX_EMIT, 0, 0);
}

int sap_runner_host_v0_arm(SapRunnerHostV0 *host, int64_t due_ms, const SapRunnerV0Message *msg)
{
    return send(host, msg, SAP_RUNNER_V0_TIMER_ARM, SAP_RUNNER_V0_HAS_DUE, due_ms);
}

/* ---- Leases on names ------------------------------------------------------------------------ */

typedef struct NameKey {
    uint8_t bytes[1 + SAP_RUNNER_HOST_V0_NAME_MAX];
    uint32_t len;
} NameKey;

/* SAP_NOTFOUND: nobody has ever held it, or it was released. */
static int lease_of_name(SapRunnerHostV0 *host, const void *name, uint32_t name_len,
                         NameKey *key_out, SapRunnerV0Lease *lease_out)
{
    const void *val = NULL;
    uint32_t val_len = 0;

    if (host == NULL || name == NULL || name_len == 0 || name_len > SAP_RUNNER_HOST_V0_NAME_MAX) {
        return SAP_ERROR;
    }
    key_out->bytes[0] = HOST_NAME_KEY;
    memcpy(key_out->bytes + 1, name, name_len);
    key_out->len = 1 + name_len;
    int rc = sap_runner_txctx_v0_get(host->ctx, WIT_DBI_LEASES, key_out->bytes, key_out->len, &val,
                                     &val_len);
    return rc == SAP_OK ? lease_decode(val, val_len, lease_out) : rc;
}

/* The next token. Its mark is not that of claims, which every claim moves: a block that reads it
 * would conflict with all of them. The highest bit keeps the two kinds apart. */
static int take_token(SapRunnerHostV0 *host, uint64_t *token_out)
{
    char key[ROW_MARK_KEY_MAX];
    uint32_t key_len = row_mark_key("names", key);
    const void *val = NULL;
    uint32_t val_len = 0;
    uint8_t mark[ROW_MARK_SIZE];
    int rc = sap_runner_txctx_v0_get(host->ctx, WIT_DBI_APP_STATE, key, key_len, &val, &val_len);

    if (rc == SAP_OK || rc == SAP_NOTFOUND) {
        rc = row_mark_next(val, val_len, 1, mark, token_out);
    }
    if (rc == SAP_OK) {
        *token_out |= HOST_TOKEN_BIT;
        rc = sap_runner_txctx_v0_put(host->ctx, WIT_DBI_APP_STATE, key, key_len, mark, sizeof mark);
    }
    return rc;
}

int sap_runner_host_v0_lease_acquire(SapRunnerHostV0 *host, const void *name, uint32_t name_len,
                                     int64_t ttl_ms)
{
    NameKey key;
    SapRunnerV0Lease lease = {0};
    uint8_t row[LEASE_SIZE];

    if (ttl_ms <= 0) {
        return SAP_ERROR;
    }
    int rc = lease_of_name(host, name, name_len, &key, &lease);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    bool held = rc == SAP_OK && lease.deadline_ms > host->now_ms;
    if (held && lease.owner != host->owner) {
        return SAP_BUSY;
    }
    if (!held) {
        rc = take_token(host, &lease.token);
        if (rc != SAP_OK) {
            return rc;
        }
        lease.owner = host->owner;
        lease.attempts = lease.attempts < UINT32_MAX ? lease.attempts + 1 : UINT32_MAX;
    }
    lease.deadline_ms = lease_deadline(host->now_ms, ttl_ms);
    lease_encode(&lease, row);
    return sap_runner_txctx_v0_put(host->ctx, WIT_DBI_LEASES, key.bytes, key.len, row, sizeof row);
}

int sap_runner_host_v0_lease_release(SapRunnerHostV0 *host, const void *name, uint32_t name_len)
{
    NameKey key;
    SapRunnerV0Lease lease;
    int rc = lease_of_name(host, name, name_len, &key, &lease);

    if (rc != SAP_OK) {
        return rc;
    }
    if (lease.owner != host->owner || lease.deadline_ms <= host->now_ms) {
        return SAP_NOTFOUND;
    }
    return sap_runner_txctx_v0_del(host->ctx, WIT_DBI_LEASES, key.bytes, key.len);
}

/* ---- The rest ------------------------------------------------------------------------------- */

void sap_runner_host_v0_log(SapRunnerHostV0 *host, uint32_t level, const char *text)
{
    if (host == NULL || host->log_sink == NULL) {
        return;
    }
    SapRunnerV0LogEvent event = {.kind = SAP_RUNNER_V0_LOG_GUEST,
                                 .worker_id = host->worker_id,
                                 .seq = host->seq,
                                 .detail = level,
                                 .attempt_id = host->attempt_id,
                                 .text = text};
    if (host->msg != NULL) {
        event.message_id = host->msg->message_id;
        event.message_id_len = host->msg->message_id_len;
        event.trace_id = host->msg->trace_id;
        event.trace_id_len = host->msg->trace_id_len;
    }
    host->log_sink(&event, host->log_ctx);
}

int64_t sap_runner_host_v0_now_ms(SapRunnerHostV0 *host)
{
    return host != NULL ? host->now_ms : 0;
}

int sap_runner_host_v0_random(SapRunnerHostV0 *host, void *out, uint32_t len)
{
    if (host == NULL || (out == NULL && len > 0)) {
        return SAP_ERROR;
    }
    if (host->random == NULL) {
        return random_fill(NULL, out, len);
    }
    host->random(out, len, host->random_ctx);
    return SAP_OK;
}

int64_t sap_runner_host_v0_worker_id(SapRunnerHostV0 *host)
{
    return host != NULL ? host->worker_id : -1;
}

int sap_runner_host_v0_begin(SapRunnerHostV0 *host)
{
    return sap_runner_txstack_v0_push(ctx_of(host));
}

int sap_runner_host_v0_commit(SapRunnerHostV0 *host)
{
    return sap_runner_txstack_v0_commit(ctx_of(host));
}

int sap_runner_host_v0_abort(SapRunnerHostV0 *host)
{
    return sap_runner_txstack_v0_abort(ctx_of(host));
}
