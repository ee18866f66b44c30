/* state.c - see state.h. */
#include "universe/state.h"

#include <string.h>

#define SAPLING_NO_SHORT_NAMES
#include "common/assert.h"
#include "common/bytes.h"
#include "common/hash.h"
#include "common/mem.h"
#include "sapling/sapling.h"

enum { STATE_PAGE = 2048, STATE_DEPTH = 2 };

/* 128 bits, added modulo 2^128. */
typedef struct Sum {
    uint64_t high;
    uint64_t low;
} Sum;

struct WorldState {
    SapMemArena *arena; /* of this world alone */
    SapEnv *db;
    uint32_t depth; /* of open transactions */
    SapTxnCtx *txn[STATE_DEPTH];
    Sum before[STATE_DEPTH]; /* the sum when that transaction began */
    Sum sum;
};

/* Each page is a block of the process's heap: an arena that takes chunks of its own would cost every
 * small world its first chunk, 32 KiB. */
static void *alloc_page(void *ctx, uint32_t size)
{
    (void)ctx;
    return mem_alloc(MEM_ARENA, size);
}

static void free_page(void *ctx, void *page, uint32_t size)
{
    (void)ctx;
    mem_free(MEM_ARENA, page, size);
}

int state_open(WorldState **state_out)
{
    SapArenaOptions options = {
        .size = sizeof options, .type = SAP_ARENA_BACKING_CUSTOM, .page_size = STATE_PAGE};
    options.cfg.custom.alloc_page = alloc_page;
    options.cfg.custom.free_page = free_page;
    WorldState *state = (WorldState *)mem_zalloc(MEM_UNIVERSE, sizeof *state);
    if (state == NULL) {
        return SAP_NOMEM;
    }
    int rc = sap_arena_init(&state->arena, &options);
    state->db = rc == SAP_OK ? sap_db_open(state->arena, STATE_PAGE, NULL, NULL) : NULL;
    if (state->db == NULL) {
        sap_arena_destroy(state->arena);
        mem_free(MEM_UNIVERSE, state, sizeof *state);
        return SAP_NOMEM;
    }
    *state_out = state;
    return SAP_OK;
}

void state_close(WorldState *state)
{
    if (state == NULL) {
        return;
    }
    while (state->depth > 0) {
        state_abort(state);
    }
    int rc = sap_db_close(state->db);
    SAP_ASSERT(rc == SAP_OK);
    sap_arena_destroy(state->arena);
    mem_free(MEM_UNIVERSE, state, sizeof *state);
}

/* ---- Transactions ---------------------------------------------------------------------------- */

static SapTxnCtx *innermost(const WorldState *state)
{
    SAP_ASSERT(state->depth > 0);
    return state->txn[state->depth - 1];
}

int state_begin(WorldState *state)
{
    SapTxnCtx *parent = state->depth > 0 ? innermost(state) : NULL;
    SAP_ASSERT(state->depth < STATE_DEPTH);
    int rc = sap_txn_begin_rc(state->db, parent, 0, &state->txn[state->depth]);
    if (rc == SAP_OK) {
        state->before[state->depth++] = state->sum;
    }
    return rc;
}

int state_commit(WorldState *state)
{
    int rc = sap_txn_commit(innermost(state));
    SAP_ASSERT(rc != SAP_BUSY && rc != SAP_ERROR);
    state->depth--;
    if (rc != SAP_OK) {
        state->sum = state->before[state->depth];
    }
    return rc;
}

void state_abort(WorldState *state)
{
    sap_txn_abort(innermost(state));
    state->sum = state->before[--state->depth];
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static Sum hash_row(Slice key, Slice val)
{
    HashState hash;
    uint8_t len[4];
    uint8_t out[HASH128_SIZE];
    store_u32be(len, (uint32_t)key.len);
    hash_init(&hash, 0);
    hash_update(&hash, len, sizeof len);
    hash_update(&hash, key.data, key.len);
    hash_update(&hash, val.data, val.len);
    hash_final128(&hash, out);
    return (Sum){load_u64be(out), load_u64be(out + 8)};
}

static void sum_add(Sum *sum, Sum row)
{
    sum->low += row.low;
    sum->high += row.high + (sum->low < row.low);
}

static void sum_subtract(Sum *sum, Sum row)
{
    sum->high -= row.high + (sum->low < row.low);
    sum->low -= row.low;
}

size_t state_memory(const WorldState *state)
{
    enum { ENGINE_BYTES = 5 * 1024 }; /* measured: an engine and its arena, without pages */
    return ENGINE_BYTES + sap_arena_active_pages(state->arena) * STATE_PAGE;
}

void state_sum(const WorldState *state, uint8_t sum_out[UNIVERSE_SUM])
{
    store_u64be(sum_out, state->sum.high);
    store_u64be(sum_out + 8, state->sum.low);
}

int state_get(WorldState *state, Slice key, Slice *val_out)
{
    const void *val = NULL;
    uint32_t len = 0;
    int rc = sap_txn_get(innermost(state), key.data, (uint32_t)key.len, &val, &len);
    if (rc == SAP_OK) {
        *val_out = (Slice){val, len};
    }
    return rc;
}

int state_put(WorldState *state, Slice key, Slice val)
{
    Slice old = {0};
    Sum sum = state->sum;
    int rc = state_get(state, key, &old);
    if (rc == SAP_OK) {
        sum_subtract(&sum, hash_row(key, old));
    } else if (rc != SAP_NOTFOUND) {
        return rc;
    }
    rc = sap_txn_put(innermost(state), key.data, (uint32_t)key.len, val.data, (uint32_t)val.len);
    if (rc == SAP_OK) {
        sum_add(&sum, hash_row(key, val));
        state->sum = sum;
    }
    return rc;
}

int state_del(WorldState *state, Slice key)
{
    Slice old = {0};
    Sum sum = state->sum;
    int rc = state_get(state, key, &old);
    if (rc != SAP_OK) {
        return rc;
    }
    sum_subtract(&sum, hash_row(key, old));
    rc = sap_txn_del(innermost(state), key.data, (uint32_t)key.len);
    if (rc == SAP_OK) {
        state->sum = sum;
    }
    return rc;
}

int state_count(WorldState *state, Slice prefix, uint64_t *count_out)
{
    enum { PREFIX_MOST = 16 };
    uint8_t end[PREFIX_MOST];
    SAP_ASSERT(prefix.len > 0 && prefix.len <= sizeof end);
    memcpy(end, prefix.data, prefix.len);
    SAP_ASSERT(end[prefix.len - 1] < UINT8_MAX);
    end[prefix.len - 1]++;
    return sap_txn_count_range(innermost(state), 0, prefix.data, (uint32_t)prefix.len, end,
                               (uint32_t)prefix.len, count_out);
}

int state_scan(WorldState *state, Slice prefix, StateRow row, void *ctx)
{
    SapCursor *cursor = sap_cursor_open(innermost(state));
    if (cursor == NULL) {
        return SAP_NOMEM;
    }
    int rc = sap_cursor_seek_prefix(cursor, prefix.data, (uint32_t)prefix.len);
    while (rc == SAP_OK && sap_cursor_in_prefix(cursor, prefix.data, (uint32_t)prefix.len)) {
        const void *key = NULL;
        const void *val = NULL;
        uint32_t key_len = 0;
        uint32_t val_len = 0;
        rc = sap_cursor_get(cursor, &key, &key_len, &val, &val_len);
        rc = rc == SAP_OK ? row(ctx, (Slice){key, key_len}, (Slice){val, val_len}) : rc;
        if (rc != SAP_OK) {
            sap_cursor_close(cursor);
            return rc;
        }
        rc = sap_cursor_next(cursor);
    }
    sap_cursor_close(cursor);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}
