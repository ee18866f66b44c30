/* txctx_v0.c - see txctx_v0.h. */
#include "runner/txctx_v0.h"

#include "common/assert.h"
#include "common/bytes.h"
#include "common/hash.h"
#include "common/mem.h"
#include "runner/wire_v0.h"
#include "sapling/env.h"

enum {
    ROW_PREFIX = 4, /* the table's number, big-endian, so that rows sort by table */
    ROW_PUT = 1,
    ROW_DELETED = 2,
    MAX_PAGE_SIZE = 65535,
    KEEP_BYTES = 1 << 20, /* a buffer above that is not kept for the next block */
    INDEX_LEAST = 16,     /* slots of the index of reads */
    INDEX_KEPT = 1024,    /* above that it is not kept for the next block, which would clear it */
};

typedef enum ReadKind {
    READ_ROW,
    READ_NO_ROW,
    READ_SCAN,          /* all rows of the prefix */
    READ_SCAN_TO_BOUND, /* those up to a key, which is included */
} ReadKind;

/* In `reads`; the key (or prefix) and the bound follow it. */
typedef struct ReadEntry {
    uint32_t kind;
    uint32_t dbi;
    uint32_t key_len;
    uint32_t bound_len;
    uint8_t hash[HASH128_SIZE];
} ReadEntry;

/* ---- Life ----------------------------------------------------------------------------------- */

int sap_runner_txctx_v0_create(SapEnv *db, SapRunnerTxCtxV0 **ctx_out)
{
    if (!env_usable(db) || ctx_out == NULL) {
        return SAP_ERROR;
    }
    SapRunnerTxCtxV0 *ctx = (SapRunnerTxCtxV0 *)mem_zalloc(MEM_RUNNER, sizeof *ctx);
    if (ctx == NULL) {
        return SAP_NOMEM;
    }
    /* Pages of twice the size take every key of the DB with its prefix; where they cannot be that
     * large, all but keys of the last few bytes below the limit. */
    uint32_t page_size = sap_env_get_page_size(db);
    page_size = page_size > MAX_PAGE_SIZE / 2 ? MAX_PAGE_SIZE : 2 * page_size;
    ctx->db = db;
    ctx->store = sap_db_open(NULL, page_size, NULL, NULL);
    int rc = ctx->store != NULL ? txctx_start(ctx, NULL, 0) : SAP_NOMEM;
    if (rc != SAP_OK) {
        sap_runner_txctx_v0_dispose(ctx);
        return rc;
    }
    *ctx_out = ctx;
    return SAP_OK;
}

void sap_runner_txctx_v0_dispose(SapRunnerTxCtxV0 *ctx)
{
    if (ctx == NULL) {
        return;
    }
    sap_txn_abort(ctx->outermost);
    sap_cursor_close(ctx->own.cur);
    for (uint32_t i = 0; i < TXCTX_CURSOR_SLOTS; i++) {
        sap_cursor_close(ctx->cursors[i].cur);
    }
    int rc = sap_db_close(ctx->store);
    SAP_ASSERT(rc == SAP_OK);
    buf_release(&ctx->reads);
    buf_release(&ctx->read_index);
    buf_release(&ctx->intents);
    buf_release(&ctx->intent_offsets);
    buf_release(&ctx->frames);
    buf_release(&ctx->row);
    mem_free(MEM_RUNNER, ctx, sizeof *ctx);
}

static void empty(Buf *buf)
{
    if (buf->cap > KEEP_BYTES) {
        buf_release(buf);
    } else {
        buf_clear(buf);
    }
}

static void empty_index(Buf *index)
{
    if (index->len > INDEX_KEPT * sizeof(size_t)) {
        buf_release(index);
    } else if (index->len > 0) {
        memset(index->data, 0, index->len);
    }
}

int txctx_start(SapRunnerTxCtxV0 *ctx, SapTxnCtx *snapshot, int read_only)
{
    SAP_ASSERT(ctx->scans == 0);
    sap_txn_abort(ctx->outermost);
    ctx->outermost = NULL;
    ctx->snapshot = NULL;
    ctx->unrecorded = SAP_OK;
    ctx->read_count = 0;
    empty(&ctx->reads);
    empty_index(&ctx->read_index);
    empty(&ctx->intents);
    empty(&ctx->intent_offsets);
    empty(&ctx->frames);
    empty(&ctx->row);
    memset(ctx->writable, 0, sizeof ctx->writable);

    int rc = read_only ? SAP_OK : sap_txn_begin_rc(ctx->store, NULL, 0, &ctx->outermost);
    ctx->writes = ctx->outermost;
    ctx->read_only = read_only != 0;
    ctx->sealed = rc != SAP_OK;
    if (rc == SAP_OK) {
        ctx->snapshot = snapshot;
    }
    return rc;
}

int sap_runner_txctx_v0_reset(SapRunnerTxCtxV0 *ctx, SapTxnCtx *snapshot, int read_only)
{
    if (ctx == NULL || (snapshot != NULL && sap_txn_env(snapshot) != ctx->db)) {
        return SAP_ERROR;
    }
    if (ctx->scans > 0 || ctx->running) {
        return SAP_BUSY;
    }
    return txctx_start(ctx, snapshot, read_only);
}

void txctx_seal(SapRunnerTxCtxV0 *ctx)
{
    ctx->snapshot = NULL;
    ctx->sealed = true;
}

int txctx_check_open(const SapRunnerTxCtxV0 *ctx)
{
    if (ctx == NULL || ctx->sealed) {
        return SAP_ERROR;
    }
    return ctx->scans > 0 ? SAP_BUSY : SAP_OK;
}

/* ---- Cursors -------------------------------------------------------------------------------- */

/* The slot where a cursor of the table waits; if none does, one that is empty or may become so. */
static TxCursorSlot *cursor_slot(SapRunnerTxCtxV0 *ctx, uint32_t dbi)
{
    TxCursorSlot *empty_slot = NULL;

    for (uint32_t i = 0; i < TXCTX_CURSOR_SLOTS; i++) {
        TxCursorSlot *slot = &ctx->cursors[i];
        if (slot->cur == NULL) {
            empty_slot = slot;
        } else if (slot->dbi == dbi) {
            return slot;
        }
    }
    return empty_slot != NULL ? empty_slot : &ctx->cursors[ctx->oldest_slot++ % TXCTX_CURSOR_SLOTS];
}

/* Ends with cursor_give(). SAP_ERROR: no such table. */
static int cursor_take(TxCursorSlot *slot, SapTxnCtx *txn, uint32_t dbi, SapCursor **cur_out)
{
    SapDbiInfo info;

    if (slot->cur != NULL && slot->dbi == dbi) {
        int rc = sap_cursor_renew(slot->cur, txn);
        if (rc == SAP_OK) {
            *cur_out = slot->cur;
            slot->cur = NULL;
        }
        return rc;
    }
    *cur_out = sap_cursor_open_dbi(txn, dbi);
    if (*cur_out == NULL) {
        return sap_dbi_info(sap_txn_env(txn), dbi, &info) == SAP_OK ? SAP_NOMEM : SAP_ERROR;
    }
    return SAP_OK;
}

/* Puts a cursor back into its slot; `txn` is the one it was taken for. It stands on no row there,
 * or it would have to follow changes. */
static void cursor_give(TxCursorSlot *slot, SapTxnCtx *txn, uint32_t dbi, SapCursor *cur)
{
    if (sap_cursor_renew(cur, txn) != SAP_OK) {
        sap_cursor_close(cur);
        return;
    }
    sap_cursor_close(slot->cur);
    *slot = (TxCursorSlot){cur, dbi};
}

/* ---- The write set -------------------------------------------------------------------------- */

/* Puts the row's key into ctx->row, with room after it for `extra` bytes. */
static int row_key(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const void *key, uint32_t key_len,
                   size_t extra)
{
    buf_clear(&ctx->row);
    int rc = buf_reserve(&ctx->row, ROW_PREFIX + (size_t)key_len + extra);
    if (rc == SAP_OK) {
        rc = buf_append_u32be(&ctx->row, dbi);
    }
    return rc == SAP_OK ? buf_append(&ctx->row, key, key_len) : rc;
}

/* Tables whose rows are more than a key and its value cannot be staged. */
static int check_table(SapRunnerTxCtxV0 *ctx, uint32_t dbi)
{
    SapDbiInfo info;

    if (dbi > SAP_MAX_DBI) {
        return SAP_ERROR;
    }
    if ((ctx->writable[dbi / 64] >> dbi % 64 & 1) != 0) {
        return SAP_OK;
    }
    if (sap_dbi_info(ctx->db, dbi, &info) != SAP_OK ||
        (info.flags & (SAP_DBI_DUPSORT | SAP_DBI_TTL_META)) != 0) {
        return SAP_ERROR;
    }
    ctx->writable[dbi / 64] |= UINT64_C(1) << dbi % 64;
    return SAP_OK;
}

static int stage(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const void *key, uint32_t key_len,
                 uint8_t what, const void *val, uint32_t val_len)
{
    int rc = txctx_check_open(ctx);
    if (rc != SAP_OK) {
        return rc;
    }
    if ((key == NULL && key_len > 0) || (val == NULL && val_len > 0)) {
        return SAP_ERROR;
    }
    if (ctx->read_only) {
        return SAP_READONLY;
    }
    rc = check_table(ctx, dbi);
    if (rc != SAP_OK) {
        return rc;
    }
    if (key_len > SAP_MAX_KEY_LEN || val_len >= SAP_MAX_VAL_LEN) {
        return SAP_FULL;
    }
    /* A copy, also so that the value may be one that the context has shown. */
    rc = row_key(ctx, dbi, key, key_len, 1 + (size_t)val_len);
    if (rc != SAP_OK) {
        return rc;
    }
    uint32_t row_key_len = (uint32_t)ctx->row.len;
    rc = buf_append_u8(&ctx->row, what);
    if (rc == SAP_OK) {
        rc = buf_append(&ctx->row, val, val_len);
    }
    return rc == SAP_OK ? sap_txn_put(ctx->writes, ctx->row.data, row_key_len,
                                      ctx->row.data + row_key_len, 1 + val_len)
                        : rc;
}

int sap_runner_txctx_v0_put(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const void *key, uint32_t key_len,
                            const void *val, uint32_t val_len)
{
    return stage(ctx, dbi, key, key_len, ROW_PUT, val, val_len);
}

int sap_runner_txctx_v0_del(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const void *key, uint32_t key_len)
{
    return stage(ctx, dbi, key, key_len, ROW_DELETED, NULL, 0);
}

uint32_t sap_runner_txctx_v0_write_count(const SapRunnerTxCtxV0 *ctx)
{
    SapStat stat = {0};

    if (ctx == NULL || ctx->writes == NULL) {
        return 0;
    }
    int rc = sap_txn_stat(ctx->writes, &stat);
    SAP_ASSERT(rc == SAP_OK);
    return stat.num_entries > UINT32_MAX ? UINT32_MAX : (uint32_t)stat.num_entries;
}

/* ---- The read set --------------------------------------------------------------------------- */

/* Returns whether both read the same key or range. What a get found does not matter. */
static bool same_read(const ReadEntry *a, const ReadEntry *b)
{
    uint32_t kind_a = a->kind == READ_NO_ROW ? READ_ROW : a->kind;
    uint32_t kind_b = b->kind == READ_NO_ROW ? READ_ROW : b->kind;

    return kind_a == kind_b && a->dbi == b->dbi && a->key_len == b->key_len &&
           a->bound_len == b->bound_len;
}

static uint64_t read_hash(const ReadEntry *entry, const void *key, const void *bound)
{
    uint64_t hash = hash_bytes(key, entry->key_len, entry->dbi);

    return entry->bound_len > 0 ? hash_bytes(bound, entry->bound_len, hash) : hash;
}

/* The slot of the entry with that key and bound, or the empty one where it belongs. The index has
 * slots. */
static size_t *read_slot(const SapRunnerTxCtxV0 *ctx, const ReadEntry *entry, const void *key,
                         const void *bound)
{
    size_t *slots = (size_t *)(void *)ctx->read_index.data;
    size_t mask = ctx->read_index.len / sizeof *slots - 1;
    size_t at = (size_t)read_hash(entry, key, bound) & mask;

    while (slots[at] != 0) {
        const uint8_t *bytes = ctx->reads.data + slots[at] - 1;
        ReadEntry other;
        memcpy(&other, bytes, sizeof other);
        bytes += sizeof other;
        if (same_read(entry, &other) &&
            bytes_compare(bytes, other.key_len, key, entry->key_len) == 0 &&
            (bound == NULL || memcmp(bytes + other.key_len, bound, entry->bound_len) == 0)) {
            break;
        }
        at = (at + 1) & mask;
    }
    return &slots[at];
}

/* Returns whether it is in the read set. */
static bool recorded(const SapRunnerTxCtxV0 *ctx, const ReadEntry *entry, const void *key,
                     const void *bound)
{
    return ctx->read_count > 0 && *read_slot(ctx, entry, key, bound) != 0;
}

/* Makes room for one more. */
static int index_reserve(SapRunnerTxCtxV0 *ctx)
{
    size_t slots = ctx->read_index.len / sizeof(size_t);
    Buf old = ctx->read_index;
    Buf larger = {0};

    if (slots / 2 > ctx->read_count) {
        return SAP_OK;
    }
    size_t len = (slots > 0 ? slots * 2 : INDEX_LEAST) * sizeof(size_t);
    int rc = buf_reserve(&larger, len);
    if (rc != SAP_OK) {
        return rc;
    }
    memset(larger.data, 0, len);
    larger.len = len;
    ctx->read_index = larger;
    buf_release(&old);
    for (size_t at = 0; at < ctx->reads.len;) {
        ReadEntry entry;
        const uint8_t *key = ctx->reads.data + at + sizeof entry;
        memcpy(&entry, ctx->reads.data + at, sizeof entry);
        *read_slot(ctx, &entry, key, key + entry.key_len) = at + 1;
        at += sizeof entry + entry.key_len + entry.bound_len;
    }
    return SAP_OK;
}

/* All or nothing. */
static int record(SapRunnerTxCtxV0 *ctx, const ReadEntry *entry, const void *key, const void *bound)
{
    int rc = ctx->read_count < UINT32_MAX ? index_reserve(ctx) : SAP_FULL;
    size_t *slot = rc == SAP_OK ? read_slot(ctx, entry, key, bound) : NULL;
    if (slot == NULL || *slot != 0) {
        return rc;
    }
    rc = buf_reserve(&ctx->reads, sizeof *entry + entry->key_len + entry->bound_len);
    if (rc != SAP_OK) {
        return rc;
    }
    *slot = ctx->reads.len + 1;
    rc = buf_append(&ctx->reads, entry, sizeof *entry);
    if (rc == SAP_OK) {
        rc = buf_append(&ctx->reads, key, entry->key_len);
    }
    if (rc == SAP_OK) {
        rc = buf_append(&ctx->reads, bound, entry->bound_len);
    }
    SAP_ASSERT(rc == SAP_OK);
    ctx->read_count++;
    return SAP_OK;
}

uint32_t sap_runner_txctx_v0_read_count(const SapRunnerTxCtxV0 *ctx)
{
    return ctx == NULL ? 0 : ctx->read_count;
}

static int get_own(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const void *key, uint32_t key_len,
                   bool *deleted_out, const void **val_out, uint32_t *val_len_out)
{
    const void *val = NULL;
    uint32_t val_len = 0;

    if (ctx->writes == NULL || key_len > SAP_MAX_KEY_LEN) {
        return SAP_NOTFOUND;
    }
    int rc = row_key(ctx, dbi, key, key_len, 0);
    if (rc == SAP_OK) {
        rc = sap_txn_get(ctx->writes, ctx->row.data, (uint32_t)ctx->row.len, &val, &val_len);
    }
    if (rc == SAP_OK) {
        SAP_ASSERT(val_len > 0);
        *deleted_out = *(const uint8_t *)val == ROW_DELETED;
        *val_out = (const uint8_t *)val + 1;
        *val_len_out = val_len - 1;
    }
    return rc;
}

/* From the snapshot, and into the read set before it is shown. */
static int get_snapshot(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const void *key, uint32_t key_len,
                        const void **val_out, uint32_t *val_len_out)
{
    ReadEntry entry = {.kind = READ_NO_ROW, .dbi = dbi, .key_len = key_len};
    int rc = sap_txn_get_dbi(ctx->snapshot, dbi, key, key_len, val_out, val_len_out);

    if ((rc != SAP_OK && rc != SAP_NOTFOUND) || key_len > SAP_MAX_KEY_LEN ||
        recorded(ctx, &entry, key, NULL)) {
        return rc;
    }
    if (rc == SAP_OK) {
        entry.kind = READ_ROW;
        hash_bytes128(*val_out, *val_len_out, entry.hash);
    }
    int kept = record(ctx, &entry, key, NULL);
    return kept != SAP_OK ? kept : rc;
}

int sap_runner_txctx_v0_get(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const void *key, uint32_t key_len,
                            const void **val_out, uint32_t *val_len_out)
{
    const void *val = NULL;
    uint32_t val_len = 0;
    bool deleted = false;

    if (ctx == NULL || ctx->snapshot == NULL || (key == NULL && key_len > 0)) {
        return SAP_ERROR;
    }
    int rc = get_own(ctx, dbi, key, key_len, &deleted, &val, &val_len);
    if (rc == SAP_NOTFOUND) {
        rc = get_snapshot(ctx, dbi, key, key_len, &val, &val_len);
    } else if (rc == SAP_OK && deleted) {
        rc = SAP_NOTFOUND;
    }
    if (rc != SAP_OK) {
        return rc;
    }
    if (val_out != NULL) {
        *val_out = val;
    }
    if (val_len_out != NULL) {
        *val_len_out = val_len;
    }
    return SAP_OK;
}

/* ---- Scans ---------------------------------------------------------------------------------- */

typedef struct ScanRow {
    const uint8_t *key;
    uint32_t key_len;
    const uint8_t *val;
    uint32_t val_len;
} ScanRow;

/* One of the two sides of a scan: rows of a prefix under a cursor. */
typedef struct ScanSide {
    SapCursor *cur;
    uint32_t dbi;
    const uint8_t *prefix;
    uint32_t prefix_len;
    bool own; /* of the write set: the table's number is in front of its keys */
    int rc;   /* SAP_OK: there is a row; SAP_NOTFOUND: no more */
    ScanRow row;
} ScanSide;

static bool side_has_prefix(const ScanSide *side)
{
    return side->row.key_len >= side->prefix_len &&
           (side->prefix_len == 0 || memcmp(side->row.key, side->prefix, side->prefix_len) == 0);
}

/* Looks at the row that the cursor has come to. */
static void side_load(ScanSide *side, int rc)
{
    const void *key = NULL;
    const void *val = NULL;
    uint32_t dbi = side->dbi;

    side->rc = rc;
    if (rc == SAP_OK) {
        side->rc = sap_cursor_get(side->cur, &key, &side->row.key_len, &val, &side->row.val_len);
    }
    if (side->rc != SAP_OK) {
        return;
    }
    side->row.key = (const uint8_t *)key;
    side->row.val = (const uint8_t *)val;
    if (side->own) {
        dbi = load_u32be(key);
        side->row.key += ROW_PREFIX;
        side->row.key_len -= ROW_PREFIX;
    }
    if (dbi != side->dbi || !side_has_prefix(side)) {
        side->rc = SAP_NOTFOUND;
    }
}

static void side_next(ScanSide *side)
{
    side_load(side, sap_cursor_next(side->cur));
}

static void hash_row(HashState *hash, const ScanRow *row)
{
    uint8_t lens[8];

    store_u32le(lens, row->key_len);
    store_u32le(lens + 4, row->val_len);
    hash_update(hash, lens, sizeof lens);
    hash_update(hash, row->key, row->key_len);
    hash_update(hash, row->val, row->val_len);
}

/* The rows from where the side stands to the bound, which is included; NULL: to the end. */
static int hash_to_bound(ScanSide *side, const ScanRow *bound, HashState *hash)
{
    while (side->rc == SAP_OK &&
           (bound == NULL ||
            bytes_compare(side->row.key, side->row.key_len, bound->key, bound->key_len) <= 0)) {
        hash_row(hash, &side->row);
        side_next(side);
    }
    return side->rc == SAP_NOTFOUND ? SAP_OK : side->rc;
}

typedef int (*row_fn)(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                      void *fn_ctx);

/* Shows both sides' rows in order, of a key that both have the own one. Everything of the snapshot
 * up to where it ends is in the hash, also what own rows hide: validation sees it too. *answer_out
 * is fn's last, *bound_out the row where that ended it. */
static int merge(ScanSide *snapshot, ScanSide *own, HashState *hash, row_fn fn, void *fn_ctx,
                 int *answer_out, ScanRow *bound_out)
{
    while (snapshot->rc == SAP_OK || own->rc == SAP_OK) {
        int order = snapshot->rc != SAP_OK ? 1
                    : own->rc != SAP_OK    ? -1
                                           : bytes_compare(snapshot->row.key, snapshot->row.key_len,
                                                           own->row.key, own->row.key_len);
        ScanRow row = order < 0 ? snapshot->row : own->row;
        bool shown = true;

        if (order >= 0) {
            shown = *row.val == ROW_PUT;
            row.val++;
            row.val_len--;
        }
        int answer = shown ? fn(row.key, row.key_len, row.val, row.val_len, fn_ctx) : 0;
        if (answer != 0) {
            *answer_out = answer;
            *bound_out = row;
            return hash_to_bound(snapshot, &row, hash);
        }
        if (order <= 0) {
            hash_row(hash, &snapshot->row);
            side_next(snapshot);
        }
        if (order >= 0) {
            side_next(own);
        }
    }
    return snapshot->rc != SAP_NOTFOUND ? snapshot->rc : own->rc == SAP_NOTFOUND ? SAP_OK : own->rc;
}

static int scan_sides(SapRunnerTxCtxV0 *ctx, ScanSide *snapshot, ScanSide *own, row_fn fn,
                      void *fn_ctx)
{
    ReadEntry entry = {.kind = READ_SCAN, .dbi = snapshot->dbi, .key_len = snapshot->prefix_len};
    HashState hash;
    ScanRow bound = {0};
    int answer = 0;

    hash_init(&hash, 0);
    ctx->scans++;
    int rc = merge(snapshot, own, &hash, fn, fn_ctx, &answer, &bound);
    ctx->scans--;
    if (answer != 0) {
        entry.kind = READ_SCAN_TO_BOUND;
        entry.bound_len = bound.key_len;
    }
    if (rc == SAP_OK) {
        hash_final128(&hash, entry.hash);
        rc = record(ctx, &entry, snapshot->prefix, bound.key);
    }
    if (rc != SAP_OK) {
        ctx->unrecorded = rc; /* rows may have been shown */
        return rc;
    }
    return answer;
}

/* To the first row of the write set that the scan covers. */
static int first_own(SapRunnerTxCtxV0 *ctx, ScanSide *own)
{
    int rc = row_key(ctx, own->dbi, own->prefix, own->prefix_len, 0);
    if (rc == SAP_OK) {
        rc = cursor_take(&ctx->own, ctx->writes, 0, &own->cur);
    }
    if (rc == SAP_OK) {
        side_load(own, sap_cursor_seek(own->cur, ctx->row.data, (uint32_t)ctx->row.len));
        rc = own->rc == SAP_NOTFOUND ? SAP_OK : own->rc;
    }
    return rc;
}

int sap_runner_txctx_v0_scan(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const void *prefix,
                             uint32_t prefix_len, row_fn fn, void *fn_ctx)
{
    ScanSide snapshot = {.dbi = dbi, .prefix = (const uint8_t *)prefix, .prefix_len = prefix_len};
    ScanSide own = snapshot;

    if (ctx == NULL || ctx->snapshot == NULL || (prefix == NULL && prefix_len > 0) || fn == NULL) {
        return SAP_ERROR;
    }
    if (prefix_len > SAP_MAX_KEY_LEN) {
        return SAP_OK; /* no key is that long */
    }
    SapTxnCtx *read = ctx->snapshot;
    int rc = cursor_take(cursor_slot(ctx, dbi), read, dbi, &snapshot.cur);
    if (rc != SAP_OK) {
        return rc;
    }
    side_load(&snapshot, sap_cursor_seek_prefix(snapshot.cur, prefix, prefix_len));
    rc = snapshot.rc == SAP_NOTFOUND ? SAP_OK : snapshot.rc;
    own.own = true;
    own.rc = SAP_NOTFOUND;
    if (rc == SAP_OK && ctx->writes != NULL) {
        rc = first_own(ctx, &own);
    }
    if (rc == SAP_OK) {
        rc = scan_sides(ctx, &snapshot, &own, fn, fn_ctx);
    }
    if (own.cur != NULL) {
        cursor_give(&ctx->own, ctx->writes, 0, own.cur);
    }
    cursor_give(cursor_slot(ctx, dbi), read, dbi, snapshot.cur);
    return rc;
}

/* ---- Intents -------------------------------------------------------------------------------- */

static int check_intents(const SapRunnerTxCtxV0 *ctx)
{
    if (ctx == NULL || ctx->sealed) {
        return SAP_ERROR;
    }
    if (ctx->read_only) {
        return SAP_READONLY;
    }
    return sap_runner_txctx_v0_intent_count(ctx) == UINT32_MAX ? SAP_FULL : SAP_OK;
}

/* Room for an intent of that length: *frame_out is where it goes. */
static int intent_reserve(SapRunnerTxCtxV0 *ctx, uint32_t frame_len, uint8_t **frame_out)
{
    int rc = buf_reserve(&ctx->intent_offsets, sizeof(size_t));
    if (rc == SAP_OK) {
        rc = buf_reserve(&ctx->intents, frame_len);
    }
    if (rc == SAP_OK) {
        *frame_out = ctx->intents.data + ctx->intents.len;
    }
    return rc;
}

/* What was written there is an intent from now on. */
static void intent_add(SapRunnerTxCtxV0 *ctx, uint32_t frame_len)
{
    size_t offset = ctx->intents.len;
    int rc = buf_append(&ctx->intent_offsets, &offset, sizeof offset);

    SAP_ASSERT(rc == SAP_OK && ctx->intents.cap - offset >= frame_len);
    ctx->intents.len += frame_len;
}

int sap_runner_txctx_v0_push_intent(SapRunnerTxCtxV0 *ctx, const void *frame, uint32_t frame_len)
{
    SapRunnerV0Intent intent;
    uint8_t *to = NULL;

    int rc = check_intents(ctx);
    if (rc == SAP_OK) {
        rc = wire_rc(sap_runner_wire_v0_decode_intent(frame, frame_len, &intent));
    }
    if (rc == SAP_OK) {
        rc = intent_reserve(ctx, frame_len, &to);
    }
    if (rc == SAP_OK) {
        memcpy(to, frame, frame_len);
        intent_add(ctx, frame_len);
    }
    return rc;
}

int txctx_push_message(SapRunnerTxCtxV0 *ctx, SapRunnerV0Intent intent,
                       const SapRunnerV0Message *msg)
{
    uint8_t *to = NULL;

    int rc = check_intents(ctx);
    if (rc != SAP_OK) {
        return rc;
    }
    buf_clear(&ctx->row);
    rc = wire_encode_buf(msg, &ctx->row);
    if (rc != SAP_OK) {
        return rc;
    }
    intent.message = ctx->row.data;
    intent.message_len = (uint32_t)ctx->row.len;
    uint32_t len = sap_runner_wire_v0_intent_size(&intent);
    rc = len > 0 ? intent_reserve(ctx, len, &to) : SAP_INVALID;
    if (rc == SAP_OK) {
        rc = wire_rc(sap_runner_wire_v0_encode_intent(&intent, to, len, &len));
    }
    if (rc == SAP_OK) {
        intent_add(ctx, len);
    }
    return rc;
}

uint32_t sap_runner_txctx_v0_intent_count(const SapRunnerTxCtxV0 *ctx)
{
    return ctx == NULL ? 0 : (uint32_t)(ctx->intent_offsets.len / sizeof(size_t));
}

int sap_runner_txctx_v0_intent(const SapRunnerTxCtxV0 *ctx, uint32_t i, const void **frame_out,
                               uint32_t *frame_len_out)
{
    size_t from;
    size_t to;

    if (ctx == NULL || frame_out == NULL || frame_len_out == NULL) {
        return SAP_ERROR;
    }
    if (i >= sap_runner_txctx_v0_intent_count(ctx)) {
        return SAP_NOTFOUND;
    }
    const uint8_t *offset = ctx->intent_offsets.data + i * sizeof from;
    bool last = i + 1 == sap_runner_txctx_v0_intent_count(ctx);
    memcpy(&from, offset, sizeof from);
    to = ctx->intents.len;
    if (!last) {
        memcpy(&to, offset + sizeof from, sizeof to);
    }
    *frame_out = ctx->intents.data + from;
    *frame_len_out = (uint32_t)(to - from);
    return SAP_OK;
}

/* ---- Validation and apply ------------------------------------------------------------------- */

static int check_target(const SapRunnerTxCtxV0 *ctx, SapTxnCtx *txn)
{
    if (ctx == NULL || txn == NULL || sap_txn_env(txn) != ctx->db) {
        return SAP_ERROR;
    }
    return sap_runner_txstack_v0_depth(ctx) > 0 ? SAP_BUSY : SAP_OK;
}

static int validate_row(SapTxnCtx *txn, const ReadEntry *entry, const void *key)
{
    const void *val = NULL;
    uint32_t val_len = 0;
    uint8_t hash[HASH128_SIZE];
    int rc = sap_txn_get_dbi(txn, entry->dbi, key, entry->key_len, &val, &val_len);

    if (rc == SAP_NOTFOUND) {
        return entry->kind == READ_NO_ROW ? SAP_OK : SAP_CONFLICT;
    }
    if (rc != SAP_OK) {
        return rc;
    }
    if (entry->kind == READ_NO_ROW) {
        return SAP_CONFLICT;
    }
    hash_bytes128(val, val_len, hash);
    return memcmp(hash, entry->hash, sizeof hash) == 0 ? SAP_OK : SAP_CONFLICT;
}

static int validate_scan(SapRunnerTxCtxV0 *ctx, SapTxnCtx *txn, const ReadEntry *entry,
                         const uint8_t *prefix, const ScanRow *bound)
{
    ScanSide side = {.dbi = entry->dbi, .prefix = prefix, .prefix_len = entry->key_len};
    HashState state;
    uint8_t hash[HASH128_SIZE];
    int rc = cursor_take(cursor_slot(ctx, entry->dbi), txn, entry->dbi, &side.cur);

    if (rc != SAP_OK) {
        return rc;
    }
    hash_init(&state, 0);
    side_load(&side, sap_cursor_seek_prefix(side.cur, prefix, entry->key_len));
    rc = hash_to_bound(&side, bound, &state);
    cursor_give(cursor_slot(ctx, entry->dbi), txn, entry->dbi, side.cur);
    if (rc != SAP_OK) {
        return rc;
    }
    hash_final128(&state, hash);
    return memcmp(hash, entry->hash, sizeof hash) == 0 ? SAP_OK : SAP_CONFLICT;
}

int sap_runner_txctx_v0_validate(SapRunnerTxCtxV0 *ctx, SapTxnCtx *txn)
{
    int rc = check_target(ctx, txn);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = ctx->unrecorded;
    for (size_t at = 0; rc == SAP_OK && at < ctx->reads.len;) {
        ReadEntry entry;
        const uint8_t *key = ctx->reads.data + at + sizeof entry;

        memcpy(&entry, ctx->reads.data + at, sizeof entry);
        ScanRow bound = {.key = key + entry.key_len, .key_len = entry.bound_len};
        rc = entry.kind == READ_ROW || entry.kind == READ_NO_ROW
                 ? validate_row(txn, &entry, key)
                 : validate_scan(ctx, txn, &entry, key,
                                 entry.kind == READ_SCAN_TO_BOUND ? &bound : NULL);
        at += sizeof entry + entry.key_len + entry.bound_len;
    }
    return rc;
}

static int apply_row(SapTxnCtx *txn, const uint8_t *key, uint32_t key_len, const uint8_t *val,
                     uint32_t val_len)
{
    uint32_t dbi = load_u32be(key);

    key += ROW_PREFIX;
    key_len -= ROW_PREFIX;
    if (*val == ROW_PUT) {
        return sap_txn_put_dbi(txn, dbi, key, key_len, val + 1, val_len - 1);
    }
    int rc = sap_txn_del_dbi(txn, dbi, key, key_len);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int apply_rows(SapCursor *cur, SapTxnCtx *txn)
{
    const void *key = NULL;
    const void *val = NULL;
    uint32_t key_len = 0;
    uint32_t val_len = 0;
    int rc = sap_cursor_first(cur);

    while (rc == SAP_OK) {
        rc = sap_cursor_get(cur, &key, &key_len, &val, &val_len);
        if (rc == SAP_OK) {
            rc = apply_row(txn, (const uint8_t *)key, key_len, (const uint8_t *)val, val_len);
        }
        if (rc != SAP_OK) {
            return rc;
        }
        rc = sap_cursor_next(cur);
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

int sap_runner_txctx_v0_apply(SapRunnerTxCtxV0 *ctx, SapTxnCtx *txn)
{
    SapCursor *cur = NULL;

    int rc = check_target(ctx, txn);
    if (rc != SAP_OK || ctx->writes == NULL) {
        return rc;
    }
    rc = cursor_take(&ctx->own, ctx->writes, 0, &cur);
    if (rc == SAP_OK) {
        rc = apply_rows(cur, txn);
        cursor_give(&ctx->own, ctx->writes, 0, cur);
    }
    return rc;
}
