/* store.c - the calls of store.h: what is checked once for all stores.
 *
 * A transaction works, has failed, or has ended. It fails when a call of the implementation returns
 * anything but SAP_OK, SAP_NOTFOUND or SAP_EXISTS, or when the hook asks for it; then only commit,
 * which returns the same code, and abort are left. An ended one stays in a list of its store until
 * it is used again, so that a late call on it is refused.
 *
 * Public calls check their arguments, then call the function of the same name without sap_, which
 * asks the hook. */
#include "sapling/store.h"

#include <stdlib.h>
#include <string.h>

#include "common/assert.h"
#include "common/mem.h"
#include "store/time.h"

enum { KEEP_ENDED = 16 }; /* transactions that are not used again at once */

/* ---- Keys ------------------------------------------------------------------------------------ */

int store_key_compare(StoreKey a, StoreKey b)
{
    if (a.table != b.table) {
        return a.table < b.table ? -1 : 1;
    }
    size_t len = a.bytes.len < b.bytes.len ? a.bytes.len : b.bytes.len;
    int order = len == 0 ? 0 : memcmp(a.bytes.data, b.bytes.data, len);
    return order != 0 ? order : (a.bytes.len > b.bytes.len) - (a.bytes.len < b.bytes.len);
}

/* ---- Copies ---------------------------------------------------------------------------------- */

struct StorePiece {
    StorePiece *next;
    size_t used;
    size_t size;
    _Alignas(16) uint8_t bytes[];
};

enum { PIECE_LEAST = 4096, PIECE_ALIGN = 16 };

void *store_txn_room(SapStoreTxn *txn, size_t size)
{
    StorePiece *piece = txn->pieces;
    size = (size + PIECE_ALIGN - 1) / PIECE_ALIGN * PIECE_ALIGN;
    if (piece == NULL || piece->size - piece->used < size) {
        size_t bytes = size > PIECE_LEAST ? size : PIECE_LEAST;
        piece = (StorePiece *)mem_alloc(MEM_STORE, sizeof *piece + bytes);
        if (piece == NULL) {
            return NULL;
        }
        piece->next = txn->pieces;
        piece->used = 0;
        piece->size = bytes;
        txn->pieces = piece;
    }
    void *room = piece->bytes + piece->used;
    piece->used += size;
    return room;
}

int store_txn_copy(SapStoreTxn *txn, Slice from, Slice *copy_out)
{
    void *room = store_txn_room(txn, from.len);
    if (room == NULL) {
        return SAP_NOMEM;
    }
    if (from.len > 0) {
        memcpy(room, from.data, from.len);
    }
    *copy_out = (Slice){room, from.len};
    return SAP_OK;
}

/* Frees all pieces but one of the usual size, which the next transaction begins with. */
static void reset_pieces(SapStoreTxn *txn, bool keep_one)
{
    StorePiece *kept = NULL;
    for (StorePiece *piece = txn->pieces; piece != NULL;) {
        StorePiece *next = piece->next;
        if (keep_one && kept == NULL && piece->size == PIECE_LEAST) {
            kept = piece;
            kept->next = NULL;
            kept->used = 0;
        } else {
            mem_free(MEM_STORE, piece, sizeof *piece + piece->size);
        }
        piece = next;
    }
    txn->pieces = kept;
}

/* ---- Ended transactions ---------------------------------------------------------------------- */

static void free_txn(SapStoreTxn *txn)
{
    size_t size = txn->store->ops->txn_size;
    reset_pieces(txn, false);
    buf_release(&txn->touched);
    mem_free(MEM_STORE, txn, size);
}

void store_free_ended(SapStore *store)
{
    while (store->oldest != NULL) {
        SapStoreTxn *next = store->oldest->next_ended;
        free_txn(store->oldest);
        store->oldest = next;
    }
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static SapStoreFault ask_hook(SapStore *store, SapStoreCall call)
{
    if (atomic_load_relaxed(&store->crashed)) {
        return SAP_STORE_FAULT_CRASH;
    }
    SapStoreFault fault =
        store->hook == NULL ? SAP_STORE_FAULT_NONE : store->hook(store->hook_ctx, call);
    if (fault == SAP_STORE_FAULT_CRASH) {
        atomic_store_relaxed(&store->crashed, true);
    }
    relaxed_add(&store->counts.faults, fault != SAP_STORE_FAULT_NONE);
    return fault;
}

static int code_of_fault(SapStoreFault fault)
{
    switch (fault) {
    case SAP_STORE_FAULT_NONE:
        return SAP_OK;
    case SAP_STORE_FAULT_BUSY:
        return SAP_BUSY;
    case SAP_STORE_FAULT_CONFLICT:
        return SAP_CONFLICT;
    default:
        return SAP_IO;
    }
}

static void count_code(SapStore *store, int rc)
{
    relaxed_add(&store->counts.busy, rc == SAP_BUSY);
    relaxed_add(&store->counts.conflicts, rc == SAP_CONFLICT);
}

/* The transaction's work is over with `rc`. A dead caller holds no locks; another keeps them until
 * it aborts, as on a server. */
int store_fail(SapStoreTxn *txn, int rc)
{
    SAP_ASSERT(rc != SAP_OK && txn->failed == SAP_OK);
    txn->failed = rc;
    count_code(txn->store, rc);
    if (atomic_load_relaxed(&txn->store->crashed)) {
        txn->store->ops->rollback(txn);
    }
    return rc;
}

/* Before a call on a transaction does anything. */
static int enter_call(SapStoreTxn *txn, SapStoreCall call)
{
    if (txn->failed != SAP_OK) {
        return txn->failed;
    }
    int rc = code_of_fault(ask_hook(txn->store, call));
    txn->begun_work = true;
    return rc == SAP_OK ? SAP_OK : store_fail(txn, rc);
}

/* After the implementation's call. */
static int leave_call(SapStoreTxn *txn, int rc)
{
    bool refused = rc == SAP_NOTFOUND || rc == SAP_EXISTS;
    return rc == SAP_OK || refused ? rc : store_fail(txn, rc);
}

/* ---- Begin ----------------------------------------------------------------------------------- */

/* A transaction object, the one that ended longest ago where there are enough. NULL: no memory. */
static SapStoreTxn *take_txn(SapStore *store)
{
    SapStoreTxn *txn = NULL;
    mutex_lock(&store->lock);
    store->open++;
    if (store->ended >= KEEP_ENDED) {
        txn = store->oldest;
        store->oldest = txn->next_ended;
        store->ended--;
    }
    mutex_unlock(&store->lock);
    return txn != NULL ? txn : (SapStoreTxn *)mem_zalloc(MEM_STORE, store->ops->txn_size);
}

/* Its end; with `waits` the thread is about to wait, and the store is in use until leave_wait(). */
static void give_txn(SapStore *store, SapStoreTxn *txn, bool waits)
{
    mutex_lock(&store->lock);
    SAP_ASSERT(store->open > 0);
    store->open--;
    store->waiting += waits;
    if (txn != NULL) {
        txn->next_ended = NULL;
        if (store->oldest == NULL) {
            store->oldest = txn;
        } else {
            store->latest->next_ended = txn;
        }
        store->latest = txn;
        store->ended++;
    }
    mutex_unlock(&store->lock);
}

/* Empties a transaction for its next use, but keeps its memory. */
static void reset_txn(SapStore *store, SapStoreTxn *txn, SapStoreKind kind)
{
    StorePiece *pieces = txn->pieces;
    Buf touched = txn->touched;
    memset(txn, 0, store->ops->txn_size);
    txn->store = store;
    txn->kind = kind;
    txn->pieces = pieces;
    txn->touched = touched;
}

static bool is_refused(int rc)
{
    return rc == SAP_BUSY || rc == SAP_CONFLICT;
}

int store_begin(SapStore *store, SapStoreKind kind, SapStoreTxn **txn_out, bool *again_out)
{
    int rc = code_of_fault(ask_hook(store, SAP_STORE_CALL_BEGIN));
    *again_out = is_refused(rc);
    if (rc != SAP_OK) {
        count_code(store, rc);
        return rc;
    }
    SapStoreTxn *txn = take_txn(store);
    if (txn != NULL) {
        reset_txn(store, txn, kind);
        rc = store->ops->begin(txn);
    } else {
        rc = SAP_NOMEM;
    }
    if (rc != SAP_OK) {
        *again_out = is_refused(rc) && !(store->ops->busy_is_own && kind >= SAP_STORE_GUARDED);
        count_code(store, rc);
        if (txn != NULL) {
            txn->ended = true;
        }
        give_txn(store, txn, false);
        return rc;
    }
    relaxed_add(&store->counts.begun[kind], 1);
    *txn_out = txn;
    return SAP_OK;
}

int sap_store_begin(SapStore *store, SapStoreKind kind, SapStoreTxn **txn_out)
{
    bool again = false;
    if (!store_is_usable(store) || txn_out == NULL || (unsigned)kind > SAP_STORE_CLAIM) {
        return SAP_ERROR;
    }
    return store_begin(store, kind, txn_out, &again);
}

static bool is_usable(const SapStoreTxn *txn)
{
    return txn != NULL && !txn->ended && !store_is_foreign(txn->store);
}

uint64_t sap_store_version(SapStoreTxn *txn)
{
    return is_usable(txn) ? txn->version : 0;
}

/* ---- Guards ---------------------------------------------------------------------------------- */

/* SAP_ERROR: misuse. SAP_FULL: too long to exist. */
static int check_key(const SapStoreTxn *txn, uint32_t table, const void *key, uint32_t key_len)
{
    if (!is_usable(txn) || (key == NULL && key_len > 0) || !store_has_table(txn->store, table)) {
        return SAP_ERROR;
    }
    return key_len > SAP_STORE_MAX_KEY ? SAP_FULL : SAP_OK;
}

static StoreKey key_of_guard(const SapStoreGuard *guard)
{
    return (StoreKey){guard->table, {guard->key, guard->key_len}};
}

static int compare_guards(const void *a, const void *b)
{
    const SapStoreGuard *x = (const SapStoreGuard *)a;
    const SapStoreGuard *y = (const SapStoreGuard *)b;
    int order = store_key_compare(key_of_guard(x), key_of_guard(y));
    return order != 0 ? order : (int)y->exclusive - (int)x->exclusive;
}

/* Sorts, and drops all but the strongest guard of each key. */
static uint32_t order_guards(SapStoreGuard *guards, uint32_t count)
{
    uint32_t kept = 0;
    qsort(guards, count, sizeof *guards, compare_guards);
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 ||
            store_key_compare(key_of_guard(&guards[kept - 1]), key_of_guard(&guards[i])) != 0) {
            guards[kept++] = guards[i];
        }
    }
    return kept;
}

int store_guard(SapStoreTxn *txn, const SapStoreGuard *guards, uint32_t count)
{
    SapStoreGuard sorted[SAP_STORE_MAX_GUARDS];
    SAP_ASSERT(count > 0 && count <= SAP_STORE_MAX_GUARDS);
    if (txn->failed == SAP_OK && txn->begun_work) {
        return SAP_ERROR;
    }
    int rc = enter_call(txn, SAP_STORE_CALL_GUARD);
    if (rc != SAP_OK) {
        return rc;
    }
    memcpy(sorted, guards, count * sizeof *guards);
    return leave_call(txn, txn->store->ops->guard(txn, sorted, order_guards(sorted, count)));
}

int sap_store_guard(SapStoreTxn *txn, const SapStoreGuard *guards, uint32_t count)
{
    if (!is_usable(txn) || guards == NULL || count == 0 || txn->kind != SAP_STORE_GUARDED) {
        return SAP_ERROR;
    }
    if (count > SAP_STORE_MAX_GUARDS) {
        return SAP_FULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        int rc = check_key(txn, guards[i].table, guards[i].key, guards[i].key_len);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return store_guard(txn, guards, count);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

int store_get(SapStoreTxn *txn, StoreKey key, Slice *val_out)
{
    int rc = enter_call(txn, SAP_STORE_CALL_GET);
    if (rc == SAP_OK) {
        rc = leave_call(txn, txn->store->ops->get(txn, key, val_out));
        relaxed_add(&txn->store->counts.rows_read, rc == SAP_OK);
    }
    return rc;
}

/* The row alone is the range from its key to the shortest key after it. */
static int lock_one_row(SapStoreTxn *txn, StoreKey key, Slice *val_out)
{
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    uint8_t *after = (uint8_t *)store_txn_room(txn, key.bytes.len + 1);
    if (after == NULL) {
        return SAP_NOMEM;
    }
    memcpy(after, key.bytes.data, key.bytes.len);
    after[key.bytes.len] = 0;
    SapStoreRange range = {key.table, key.bytes.data, (uint32_t)key.bytes.len, after,
                           (uint32_t)key.bytes.len + 1};
    int rc = txn->store->ops->lock_rows(txn, &range, 1, &rows, &count);
    if (rc == SAP_OK && count == 0) {
        rc = txn->store->ops->get(txn, key, val_out);
        return rc == SAP_OK ? SAP_BUSY : rc;
    }
    if (rc == SAP_OK) {
        *val_out = (Slice){rows[0].val, rows[0].val_len};
    }
    return rc;
}

int store_get_locked(SapStoreTxn *txn, StoreKey key, Slice *val_out)
{
    int rc = enter_call(txn, SAP_STORE_CALL_GET);
    if (rc == SAP_OK) {
        rc = leave_call(txn, lock_one_row(txn, key, val_out));
        relaxed_add(&txn->store->counts.rows_read, rc == SAP_OK);
    }
    return rc;
}

int sap_store_get(SapStoreTxn *txn, uint32_t table, const void *key, uint32_t key_len,
                  const void **val_out, uint32_t *val_len_out)
{
    Slice val = {0};
    int rc = check_key(txn, table, key, key_len);
    if (rc != SAP_OK) {
        return rc;
    }
    if (val_out == NULL || val_len_out == NULL) {
        return SAP_ERROR;
    }
    rc = store_get(txn, (StoreKey){table, {key, key_len}}, &val);
    if (rc == SAP_OK) {
        *val_out = val.data;
        *val_len_out = (uint32_t)val.len;
    }
    return rc;
}

static int check_write(const SapStoreTxn *txn, uint32_t table, const void *key, uint32_t key_len,
                       const void *val, uint32_t val_len)
{
    int rc = check_key(txn, table, key, key_len);
    if (rc == SAP_ERROR || (val == NULL && val_len > 0)) {
        return SAP_ERROR;
    }
    if (txn->kind < SAP_STORE_GUARDED) {
        return SAP_READONLY;
    }
    return val_len > SAP_STORE_MAX_VALUE ? SAP_FULL : rc;
}

/* Room for one more row to be noted, so that it can be noted once it is written. */
static int reserve_touched(SapStoreTxn *txn)
{
    int rc = buf_reserve(&txn->touched, sizeof(WakeKey));
    return rc == SAP_OK ? SAP_OK : store_fail(txn, rc);
}

/* A later row of a claim that its callback has changed is not moved by that claim. */
static int note_in_claims(SapStoreTxn *txn, StoreKey key)
{
    int rc = SAP_OK;
    for (StoreClaim *claim = txn->claim; claim != NULL && rc == SAP_OK; claim = claim->outer) {
        if (claim->deletes_current || store_key_compare(key, claim->current) <= 0 ||
            store_key_compare(key, claim->last) > 0) {
            continue;
        }
        StoreKey copy = {.table = key.table};
        rc = store_txn_copy(txn, key.bytes, &copy.bytes);
        rc = rc == SAP_OK ? buf_append(&claim->changed, &copy, sizeof copy) : rc;
    }
    return rc == SAP_OK ? SAP_OK : store_fail(txn, rc);
}

/* The row was written or deleted. */
static int note_write(SapStoreTxn *txn, StoreKey key)
{
    WakeKey *touched = (WakeKey *)(void *)(txn->touched.data + txn->touched.len);
    wake_key_set(touched, key.table, key.bytes.data, (uint32_t)key.bytes.len);
    txn->touched.len += sizeof *touched;
    txn->wrote = true;
    relaxed_add(&txn->store->counts.rows_written, 1);
    return txn->claim == NULL ? SAP_OK : note_in_claims(txn, key);
}

int store_put(SapStoreTxn *txn, StoreKey key, Slice val, StorePutMode mode)
{
    int rc = enter_call(txn, SAP_STORE_CALL_PUT);
    rc = rc == SAP_OK ? reserve_touched(txn) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = leave_call(txn, txn->store->ops->put(txn, key, val, mode));
    return rc == SAP_OK ? note_write(txn, key) : rc;
}

int sap_store_put(SapStoreTxn *txn, uint32_t table, const void *key, uint32_t key_len,
                  const void *val, uint32_t val_len)
{
    int rc = check_write(txn, table, key, key_len, val, val_len);
    return rc == SAP_OK ? store_put(txn, (StoreKey){table, {key, key_len}}, (Slice){val, val_len},
                                    STORE_PUT_ANY)
                        : rc;
}

int sap_store_put_time(SapStoreTxn *txn)
{
    if (!is_usable(txn) || txn->kind == SAP_STORE_CLAIM) {
        return SAP_ERROR;
    }
    return txn->kind == SAP_STORE_GUARDED ? store_put_time(txn) : SAP_READONLY;
}

int sap_store_put_if_absent(SapStoreTxn *txn, uint32_t table, const void *key, uint32_t key_len,
                            const void *val, uint32_t val_len)
{
    int rc = check_write(txn, table, key, key_len, val, val_len);
    return rc == SAP_OK ? store_put(txn, (StoreKey){table, {key, key_len}}, (Slice){val, val_len},
                                    STORE_PUT_ABSENT)
                        : rc;
}

int store_del(SapStoreTxn *txn, StoreKey key)
{
    int rc = enter_call(txn, SAP_STORE_CALL_PUT);
    rc = rc == SAP_OK ? reserve_touched(txn) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = leave_call(txn, txn->store->ops->del(txn, key));
    return rc == SAP_OK ? note_write(txn, key) : rc;
}

int sap_store_del(SapStoreTxn *txn, uint32_t table, const void *key, uint32_t key_len)
{
    int rc = check_write(txn, table, key, key_len, NULL, 0);
    return rc == SAP_OK ? store_del(txn, (StoreKey){table, {key, key_len}}) : rc;
}

/* Bounds of a range may be longer than any key. */
static int check_range(const SapStoreTxn *txn, const SapStoreRange *range)
{
    if (range == NULL || (range->to == NULL && range->to_len > 0) ||
        (range->from == NULL && range->from_len > 0)) {
        return SAP_ERROR;
    }
    return check_key(txn, range->table, NULL, 0);
}

int store_scan(SapStoreTxn *txn, const SapStoreRange *range, bool backward, uint32_t limit,
               const SapStoreRow **rows_out, uint32_t *count_out)
{
    int rc = enter_call(txn, SAP_STORE_CALL_SCAN);
    if (rc == SAP_OK) {
        rc = leave_call(txn,
                        txn->store->ops->scan(txn, range, backward, limit, rows_out, count_out));
    }
    if (rc == SAP_OK) {
        relaxed_add(&txn->store->counts.rows_read, *count_out);
    }
    return rc;
}

int sap_store_scan(SapStoreTxn *txn, const SapStoreRange *range, bool backward, uint32_t limit,
                   const SapStoreRow **rows_out, uint32_t *count_out)
{
    int rc = check_range(txn, range);
    if (rc != SAP_OK) {
        return rc;
    }
    if (limit == 0 || rows_out == NULL || count_out == NULL) {
        return SAP_ERROR;
    }
    return store_scan(txn, range, backward, limit, rows_out, count_out);
}

/* ---- Claims ---------------------------------------------------------------------------------- */

/* One claimed row to its new place. */
static int move_row(SapStoreTxn *txn, const SapStoreRow *row, SapStoreMove move, void *ctx)
{
    SapStoreTarget target = {0};
    int rc = move(ctx, txn, row, &target);
    if (rc == SAP_OK) {
        txn->claim->deletes_current = true;
        rc = sap_store_del(txn, txn->claim->current.table, row->key, row->key_len);
        txn->claim->deletes_current = false;
    }
    if (rc == SAP_OK) {
        rc = sap_store_put(txn, target.table, target.row.key, target.row.key_len, target.row.val,
                           target.row.val_len);
    }
    return rc == SAP_OK || txn->failed != SAP_OK ? rc : store_fail(txn, rc);
}

static bool was_changed(const StoreClaim *claim, StoreKey key)
{
    const StoreKey *changed = (const StoreKey *)(const void *)claim->changed.data;
    for (size_t i = 0; i < claim->changed.len / sizeof *changed; i++) {
        if (store_key_compare(changed[i], key) == 0) {
            return true;
        }
    }
    return false;
}

static StoreKey key_of_row(uint32_t table, const SapStoreRow *row)
{
    return (StoreKey){table, {row->key, row->key_len}};
}

/* *count_out is changed on SAP_OK only. */
static int move_rows(SapStoreTxn *txn, uint32_t table, const SapStoreRow *rows, uint32_t count,
                     SapStoreMove move, void *ctx, uint32_t *count_out)
{
    StoreClaim claim = {.outer = txn->claim, .last = key_of_row(table, &rows[count - 1])};
    uint32_t moved = 0;
    int rc = SAP_OK;
    txn->claim = &claim;
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        claim.current = key_of_row(table, &rows[i]);
        if (!was_changed(&claim, claim.current)) {
            rc = move_row(txn, &rows[i], move, ctx);
            moved++;
        }
    }
    txn->claim = claim.outer;
    buf_release(&claim.changed);
    if (rc == SAP_OK) {
        *count_out = moved;
    }
    return rc;
}

static int claim_rows(SapStoreTxn *txn, const SapStoreRange *range, uint32_t limit,
                      SapStoreMove move, void *ctx, uint32_t *count_out)
{
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    uint32_t moved = 0;
    int rc = leave_call(txn, txn->store->ops->lock_rows(txn, range, limit, &rows, &count));
    if (rc == SAP_OK && count > 0) {
        rc = move_rows(txn, range->table, rows, count, move, ctx, &moved);
    }
    if (rc == SAP_OK) {
        relaxed_add(&txn->store->counts.rows_claimed, moved);
        *count_out = moved;
    }
    return rc;
}

int sap_store_claim(SapStoreTxn *txn, const SapStoreRange *range, uint32_t limit, SapStoreMove move,
                    void *ctx, uint32_t *count_out)
{
    int rc = check_range(txn, range);
    if (rc != SAP_OK) {
        return rc;
    }
    if (txn->kind != SAP_STORE_CLAIM || limit == 0 || move == NULL || count_out == NULL) {
        return SAP_ERROR;
    }
    rc = enter_call(txn, SAP_STORE_CALL_CLAIM);
    return rc == SAP_OK ? claim_rows(txn, range, limit, move, ctx, count_out) : rc;
}

/* ---- Ends ------------------------------------------------------------------------------------ */

static void end_txn(SapStoreTxn *txn, bool waits)
{
    SapStore *store = txn->store;
    store->ops->rollback(txn);
    reset_pieces(txn, true);
    buf_clear(&txn->touched);
    txn->ended = true;
    give_txn(store, txn, waits);
}

/* Commits as far as the hook lets it. */
static int apply_txn(SapStoreTxn *txn, uint64_t *mark_out, bool *unknown_out)
{
    SapStore *store = txn->store;
    if (txn->failed != SAP_OK) {
        return txn->failed;
    }
    SapStoreFault fault = ask_hook(store, SAP_STORE_CALL_COMMIT);
    if (fault != SAP_STORE_FAULT_NONE && fault != SAP_STORE_FAULT_LOST_AFTER) {
        *unknown_out = fault == SAP_STORE_FAULT_LOST_BEFORE && txn->wrote;
        return store_fail(txn, code_of_fault(fault));
    }
    int rc = store->ops->commit(txn, mark_out, unknown_out);
    if (rc != SAP_OK) {
        return store_fail(txn, rc);
    }
    if (txn->wrote) {
        relaxed_add(&store->counts.committed, 1);
        wake_note(store->wake, *mark_out, (const WakeKey *)(const void *)txn->touched.data,
                  (uint32_t)(txn->touched.len / sizeof(WakeKey)));
    }
    *unknown_out = fault == SAP_STORE_FAULT_LOST_AFTER && txn->wrote;
    return fault == SAP_STORE_FAULT_LOST_AFTER ? SAP_IO : SAP_OK;
}

/* As commit_async; with `waits`, SAP_OK means that the caller waits now, then leave_wait(). */
static int end_with_commit(SapStoreTxn *txn, bool waits, uint64_t *mark_out, bool *unknown_out)
{
    SapStore *store = txn->store;
    uint64_t mark = 0;
    bool unknown = false;
    int rc = apply_txn(txn, &mark, &unknown);
    relaxed_add(&store->counts.aborted, rc != SAP_OK && !unknown);
    relaxed_add(&store->counts.outcome_unknown, unknown);
    end_txn(txn, waits && rc == SAP_OK);
    if (rc == SAP_OK) {
        *mark_out = mark;
    }
    *unknown_out = unknown;
    return rc;
}

int sap_store_commit_async(SapStoreTxn *txn, uint64_t *mark_out, bool *outcome_unknown)
{
    bool unknown = false;
    int rc = SAP_ERROR;
    uint64_t mark = 0;
    if (is_usable(txn)) {
        rc = end_with_commit(txn, false, mark_out != NULL ? mark_out : &mark, &unknown);
    }
    if (outcome_unknown != NULL) {
        *outcome_unknown = unknown;
    }
    return rc;
}

/* The store is in use while a thread waits: it cannot be closed. */
static void enter_wait(SapStore *store)
{
    mutex_lock(&store->lock);
    store->waiting++;
    mutex_unlock(&store->lock);
}

static void leave_wait(SapStore *store)
{
    mutex_lock(&store->lock);
    SAP_ASSERT(store->waiting > 0);
    store->waiting--;
    mutex_unlock(&store->lock);
}

static int wait_for_mark(SapStore *store, uint64_t mark)
{
    SapStoreFault fault = ask_hook(store, SAP_STORE_CALL_WAIT_DURABLE);
    return fault == SAP_STORE_FAULT_NONE ? store->ops->wait_durable(store, mark) : SAP_IO;
}

int sap_store_wait_durable(SapStore *store, uint64_t mark)
{
    if (!store_is_usable(store)) {
        return SAP_ERROR;
    }
    enter_wait(store);
    int rc = wait_for_mark(store, mark);
    leave_wait(store);
    return rc;
}

static int commit_and_wait(SapStoreTxn *txn, bool *unknown_out)
{
    SapStore *store = txn->store;
    uint64_t mark = 0;
    bool wrote = txn->wrote;
    int rc = end_with_commit(txn, true, &mark, unknown_out);
    if (rc == SAP_OK) {
        rc = wait_for_mark(store, mark);
        *unknown_out = rc != SAP_OK && wrote; /* committed, but the next crash may take it back */
        relaxed_add(&store->counts.outcome_unknown, *unknown_out);
        leave_wait(store);
    }
    return rc;
}

int sap_store_commit(SapStoreTxn *txn, bool *outcome_unknown)
{
    bool unknown = false;
    int rc = is_usable(txn) ? commit_and_wait(txn, &unknown) : SAP_ERROR;
    if (outcome_unknown != NULL) {
        *outcome_unknown = unknown;
    }
    return rc;
}

void sap_store_abort(SapStoreTxn *txn)
{
    if (is_usable(txn)) {
        relaxed_add(&txn->store->counts.aborted, 1);
        end_txn(txn, false);
    }
}

/* ---- Wake-ups and numbers -------------------------------------------------------------------- */

/* pokes NULL: pokes do not end it. */
static int wait_for_rows(SapStore *store, SapStoreKind kind, const SapStorePrefix *prefix,
                         uint64_t version_seen, const WakePokes *pokes, uint64_t timeout_ns)
{
    WakeKey key;
    bool durable = kind == SAP_STORE_READ_DURABLE;
    if (!store_is_usable(store) || prefix == NULL || (unsigned)kind > SAP_STORE_CLAIM ||
        (prefix->prefix == NULL && prefix->prefix_len > 0) ||
        !store_has_table(store, prefix->table)) {
        return SAP_ERROR;
    }
    if (atomic_load_relaxed(&store->crashed)) {
        return SAP_IO;
    }
    wake_key_set(&key, prefix->table, prefix->prefix, prefix->prefix_len);
    enter_wait(store);
    uint64_t poll_ns = store->ops->poll_ns;
    bool polls = poll_ns != 0 && poll_ns < timeout_ns; /* then it looks in any case */
    uint64_t wait_ns = !store->ops->blocks ? 0 : polls ? poll_ns : timeout_ns;
    bool woken = pokes == NULL
                     ? wake_wait(store->wake, &key, durable, version_seen, wait_ns)
                     : wake_wait_poked(store->wake, &key, durable, version_seen, pokes, wait_ns);
    relaxed_add(&store->counts.waits, 1);
    relaxed_add(&store->counts.wakes, woken);
    leave_wait(store);
    return woken || polls ? SAP_OK : SAP_NOTFOUND;
}

int sap_store_wait(SapStore *store, SapStoreKind kind, const SapStorePrefix *prefix,
                   uint64_t version_seen, uint64_t timeout_ns)
{
    return wait_for_rows(store, kind, prefix, version_seen, NULL, timeout_ns);
}

uint64_t store_pokes(SapStore *store, StorePoke sort)
{
    return store_is_usable(store) ? wake_pokes(store->wake, sort) : 0;
}

void store_poke(SapStore *store, StorePoke sort)
{
    if (store_is_usable(store)) {
        wake_poke(store->wake, sort);
    }
}

int store_wait_poked(SapStore *store, SapStoreKind kind, const SapStorePrefix *prefix,
                     uint64_t version_seen, StorePoke sort, uint64_t pokes_seen,
                     uint64_t timeout_ns)
{
    WakePokes pokes = {(uint32_t)sort, pokes_seen};
    return wait_for_rows(store, kind, prefix, version_seen, &pokes, timeout_ns);
}

int sap_store_stats(SapStore *store, SapStoreStats *stats_out)
{
    if (!store_is_usable(store) || stats_out == NULL) {
        return SAP_ERROR;
    }
    const StoreCounts *counts = &store->counts;
    SapStoreStats stats = {
        .committed = relaxed_load(&counts->committed),
        .aborted = relaxed_load(&counts->aborted),
        .busy = relaxed_load(&counts->busy),
        .conflicts = relaxed_load(&counts->conflicts),
        .run_again = relaxed_load(&counts->run_again),
        .outcome_unknown = relaxed_load(&counts->outcome_unknown),
        .faults = relaxed_load(&counts->faults),
        .rows_read = relaxed_load(&counts->rows_read),
        .rows_written = relaxed_load(&counts->rows_written),
        .rows_claimed = relaxed_load(&counts->rows_claimed),
        .waits = relaxed_load(&counts->waits),
        .wakes = relaxed_load(&counts->wakes),
        .connects = relaxed_load(&counts->connects),
        .connections_lost = relaxed_load(&counts->connections_lost),
    };
    for (unsigned kind = 0; kind < 4; kind++) {
        stats.begun[kind] = relaxed_load(&counts->begun[kind]);
    }
    *stats_out = stats;
    return SAP_OK;
}
