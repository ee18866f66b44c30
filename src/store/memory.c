/* memory.c - the store in memory: what a server may do, in one thread.
 *
 * Rows keep their versions, newest first, each with the number of the commit that made it. A
 * transaction keeps its writes to itself until it commits; a read looks at its own writes, then for
 * the newest version not above its view: of a read transaction its begin, of the others the moment of
 * the call.
 *
 * Invariants:
 * - Commit numbers only grow; a row's versions fall strictly; durable <= newest.
 * - Open transactions are a list in the order of their begin; they may end in any order. (The
 *   simulator's end in reverse: a stack.) Locks, guards, writes and views are each one's own.
 * - A transaction whose store has crashed, or which was dropped, is over: it stays in the list until
 *   its caller ends it, but it holds no lock, no guard and no view, and no call on it has an effect.
 * - At most one open transaction has a row locked. It locks a row by writing or claiming it, or by
 *   guarding it exclusively while the row is there.
 * - No two open transactions hold the same guard, unless both hold it shared.
 *
 * There is nobody to wait for in one thread: whatever a server would wait for is SAP_BUSY at once, as
 * when its lock timeout has passed. */
#include "store/memory.h"

#include <string.h>

#include "common/assert.h"
#include "common/fork.h"
#include "common/mem.h"
#include "common/sync.h"

enum { SWEEP_EVERY = 256 }; /* commits between two looks for rows that are gone */

typedef struct Version {
    uint64_t commit;
    struct Version *older;
    bool deleted;
    uint32_t len;
    uint8_t bytes[];
} Version;

typedef struct Row {
    StoreKey key;    /* its bytes follow the struct */
    Version *newest; /* NULL: only until it gets its first one */
} Row;

typedef struct Memory {
    struct Memory *next; /* in the list of those with a name */
    char *name;          /* NULL: of one store alone */
    uint32_t stores;
    uint64_t newest;
    uint64_t durable;
    Row **rows; /* sorted by key */
    size_t row_count;
    size_t row_cap;
    Wake *wake;
    struct MemoryTxn *open; /* the last begun */
    uint32_t depth;         /* open transactions */
    uint32_t since_sweep;
} Memory;

typedef struct MemoryStore {
    SapStore base;
    Memory *memory;
    MemoryWatch watch;
    void *watch_ctx;
} MemoryStore;

typedef struct Lock {
    StoreKey key; /* a copy of the transaction's */
    bool exclusive;
} Lock;

/* What a transaction would do to a row; sorted by key. */
typedef struct Write {
    StoreKey key; /* a copy of the transaction's */
    Slice val;
    bool deleted;
} Write;

typedef struct MemoryTxn {
    SapStoreTxn base;
    struct MemoryTxn *below;
    bool left;     /* no longer in the list */
    bool dropped;  /* by memory_txn_drop() */
    uint64_t view; /* the last commit it has seen */
    Buf guards;    /* Lock */
    Buf locks;     /* StoreKey: rows locked without a write */
    Buf writes;    /* Write */
} MemoryTxn;

/* The list of those with a name is the process's; everything else is of one thread. */
static Mutex names_lock = MUTEX_STATIC;
static Memory *named;

/* The copies of the parent's memories are nobody's. */
static void forget_names(void)
{
    named = NULL;
}

static ForkGuard names_guard = {.lock = &names_lock, .in_child = forget_names};

static MemoryTxn *memory_txn_of(SapStoreTxn *txn)
{
    return (MemoryTxn *)txn;
}

static Memory *memory_of(const SapStore *store)
{
    return ((const MemoryStore *)store)->memory;
}

/* Holds nothing any more, whatever it has locked, guarded or seen. */
static bool txn_is_over(const MemoryTxn *txn)
{
    return txn->dropped || atomic_load_relaxed(&txn->base.store->crashed);
}

/* Only a read transaction keeps the view it began with. */
static bool is_snapshot(const MemoryTxn *txn)
{
    return txn->base.kind <= SAP_STORE_READ_NEWEST;
}

/* Reports a call that has returned; gives its code back. */
static int report_call(const SapStore *base, const MemoryEvent *event)
{
    const MemoryStore *store = (const MemoryStore *)base;
    if (store->watch != NULL) {
        store->watch(store->watch_ctx, event);
    }
    return event->rc;
}

/* ---- Arrays in a Buf ------------------------------------------------------------------------- */

#define ARRAY(buf, Type) ((Type *)(void *)(buf).data)
#define COUNT(buf, Type) ((buf).len / sizeof(Type))

static int insert_item(Buf *array, size_t at, const void *item, size_t size)
{
    int rc = buf_reserve(array, size);
    if (rc != SAP_OK) {
        return rc;
    }
    uint8_t *place = array->data + at * size;
    memmove(place + size, place, array->len - at * size);
    memcpy(place, item, size);
    array->len += size;
    return SAP_OK;
}

/* ---- Rows and versions ----------------------------------------------------------------------- */

/* The first row not before `key`. */
static size_t find_row(const Memory *memory, StoreKey key)
{
    size_t low = 0;
    size_t high = memory->row_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (store_key_compare(memory->rows[mid]->key, key) < 0) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

static bool row_is_at(const Memory *memory, size_t at, StoreKey key)
{
    return at < memory->row_count && store_key_compare(memory->rows[at]->key, key) == 0;
}

static size_t version_size(const Version *version)
{
    return sizeof *version + version->len;
}

static void free_versions(Version *version)
{
    while (version != NULL) {
        Version *older = version->older;
        mem_free(MEM_STORE, version, version_size(version));
        version = older;
    }
}

static void free_row(Row *row)
{
    free_versions(row->newest);
    mem_free(MEM_STORE, row, sizeof *row + row->key.bytes.len);
}

/* The row's state for a view; NULL: there is none. */
static const Version *version_seen(const Row *row, uint64_t view)
{
    const Version *version = row->newest;
    while (version != NULL && version->commit > view) {
        version = version->older;
    }
    return version == NULL || version->deleted ? NULL : version;
}

/* The latest commit that every view there can be includes. */
static uint64_t oldest_view(const Memory *memory)
{
    uint64_t oldest = memory->durable;
    for (const MemoryTxn *txn = memory->open; txn != NULL; txn = txn->below) {
        bool holds = is_snapshot(txn) && !txn_is_over(txn);
        oldest = holds && txn->view < oldest ? txn->view : oldest;
    }
    return oldest;
}

/* Frees the versions that nobody can see any more. */
static void prune_row(Row *row, uint64_t oldest)
{
    Version *version = row->newest;
    while (version != NULL && version->commit > oldest) {
        version = version->older;
    }
    if (version != NULL) {
        free_versions(version->older);
        version->older = NULL;
    }
}

/* Removes rows of which nothing is left but that they were deleted. */
static void sweep_rows(Memory *memory)
{
    uint64_t oldest = oldest_view(memory);
    size_t kept = 0;
    for (size_t i = 0; i < memory->row_count; i++) {
        Row *row = memory->rows[i];
        prune_row(row, oldest);
        bool gone = row->newest == NULL || (row->newest->deleted && row->newest->commit <= oldest);
        if (gone) {
            free_row(row);
        } else {
            memory->rows[kept++] = row;
        }
    }
    memory->row_count = kept;
    memory->since_sweep = 0;
}

/* ---- Locks ----------------------------------------------------------------------------------- */

/* The first write not before `key`. */
static size_t find_write(const MemoryTxn *txn, StoreKey key)
{
    size_t low = 0;
    size_t high = COUNT(txn->writes, Write);
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (store_key_compare(ARRAY(txn->writes, Write)[mid].key, key) < 0) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

static Write *own_write(const MemoryTxn *txn, StoreKey key)
{
    size_t at = find_write(txn, key);
    if (at == COUNT(txn->writes, Write)) {
        return NULL;
    }
    Write *write = ARRAY(txn->writes, Write) + at;
    return store_key_compare(write->key, key) == 0 ? write : NULL;
}

static bool has_locked(const MemoryTxn *txn, StoreKey key)
{
    for (size_t i = 0; i < COUNT(txn->locks, StoreKey); i++) {
        if (store_key_compare(ARRAY(txn->locks, StoreKey)[i], key) == 0) {
            return true;
        }
    }
    return false;
}

static bool other_has_written(const MemoryTxn *txn, StoreKey key)
{
    const MemoryTxn *other = memory_of(txn->base.store)->open;
    for (; other != NULL; other = other->below) {
        if (other != txn && !txn_is_over(other) && own_write(other, key) != NULL) {
            return true;
        }
    }
    return false;
}

static bool other_has_locked(const MemoryTxn *txn, StoreKey key)
{
    const MemoryTxn *other = memory_of(txn->base.store)->open;
    for (; other != NULL; other = other->below) {
        if (other != txn && !txn_is_over(other) &&
            (own_write(other, key) != NULL || has_locked(other, key))) {
            return true;
        }
    }
    return false;
}

static bool other_guards(const MemoryTxn *txn, StoreKey key, bool exclusive)
{
    const MemoryTxn *other = memory_of(txn->base.store)->open;
    for (; other != NULL; other = other->below) {
        bool counts = other != txn && !txn_is_over(other);
        for (size_t i = 0; counts && i < COUNT(other->guards, Lock); i++) {
            const Lock *lock = ARRAY(other->guards, Lock) + i;
            if ((exclusive || lock->exclusive) && store_key_compare(lock->key, key) == 0) {
                return true;
            }
        }
    }
    return false;
}

static int lock_row(MemoryTxn *txn, StoreKey key)
{
    StoreKey copy = {.table = key.table};
    if (has_locked(txn, key)) {
        return SAP_OK;
    }
    int rc = store_txn_copy(&txn->base, key.bytes, &copy.bytes);
    return rc == SAP_OK ? buf_append(&txn->locks, &copy, sizeof copy) : rc;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Before a call looks at anything: others see the newest commits at this moment. */
static int enter_call(MemoryTxn *txn)
{
    txn->view = is_snapshot(txn) ? txn->view : memory_of(txn->base.store)->newest;
    return txn->dropped ? SAP_IO : SAP_OK;
}

/* What the transaction sees of `key`; borrowed until anything is committed or written. */
static bool visible_row(const MemoryTxn *txn, StoreKey key, Slice *val_out)
{
    const Memory *memory = memory_of(txn->base.store);
    const Write *write = own_write(txn, key);
    if (write != NULL) {
        *val_out = write->val;
        return !write->deleted;
    }
    size_t at = find_row(memory, key);
    const Version *version =
        row_is_at(memory, at, key) ? version_seen(memory->rows[at], txn->view) : NULL;
    if (version != NULL) {
        *val_out = (Slice){version->bytes, version->len};
    }
    return version != NULL;
}

static int read_row(MemoryTxn *txn, StoreKey key, Slice *val_out)
{
    Slice val = {0};
    int rc = enter_call(txn);
    if (rc == SAP_OK && !visible_row(txn, key, &val)) {
        rc = SAP_NOTFOUND;
    }
    return rc == SAP_OK ? store_txn_copy(&txn->base, val, val_out) : rc;
}

static int memory_get(SapStoreTxn *base, StoreKey key, Slice *val_out)
{
    int rc = read_row(memory_txn_of(base), key, val_out);
    return report_call(base->store, &(MemoryEvent){.call = SAP_STORE_CALL_GET,
                                                   .rc = rc,
                                                   .key = key,
                                                   .val = rc == SAP_OK ? *val_out : (Slice){0}});
}

static int append_row(SapStoreTxn *txn, Buf *rows, StoreKey key, Slice val)
{
    Slice key_copy = {0};
    Slice val_copy = {0};
    int rc = store_txn_copy(txn, key.bytes, &key_copy);
    rc = rc == SAP_OK ? store_txn_copy(txn, val, &val_copy) : rc;
    SapStoreRow row = {key_copy.data, val_copy.data, (uint32_t)key_copy.len,
                       (uint32_t)val_copy.len};
    return rc == SAP_OK ? buf_append(rows, &row, sizeof row) : rc;
}

/* Two sorted runs seen as one: the committed rows and the transaction's own writes, [from, to) of
 * each. */
typedef struct Merge {
    size_t row, row_end;
    size_t write, write_end;
} Merge;

static Merge merge_range(const MemoryTxn *txn, const SapStoreRange *range)
{
    const Memory *memory = memory_of(txn->base.store);
    StoreKey from = {range->table, {range->from, range->from_len}};
    StoreKey to = {range->table, {range->to, range->to_len}};
    StoreKey next_table = {range->table + 1, {0}};
    if (range->to == NULL) {
        to = next_table;
    }
    Merge merge = {find_row(memory, from), find_row(memory, to), find_write(txn, from),
                   find_write(txn, to)};
    merge.row_end = merge.row_end < merge.row ? merge.row : merge.row_end;
    merge.write_end = merge.write_end < merge.write ? merge.write : merge.write_end;
    return merge;
}

/* Takes the next key of the two runs, from the front or from the back. */
static bool merge_next(const MemoryTxn *txn, Merge *merge, bool backward, StoreKey *key_out)
{
    const Memory *memory = memory_of(txn->base.store);
    bool has_row = merge->row < merge->row_end;
    bool has_write = merge->write < merge->write_end;
    if (!has_row && !has_write) {
        return false;
    }
    StoreKey row = {0};
    StoreKey write = {0};
    if (has_row) {
        row = memory->rows[backward ? merge->row_end - 1 : merge->row]->key;
    }
    if (has_write) {
        write = ARRAY(txn->writes, Write)[backward ? merge->write_end - 1 : merge->write].key;
    }
    int order = !has_row ? 1 : !has_write ? -1 : store_key_compare(row, write);
    order = has_row && has_write && backward ? -order : order;
    *key_out = order <= 0 ? row : write;
    if (order <= 0) {
        merge->row += !backward;
        merge->row_end -= backward;
    }
    if (order >= 0) {
        merge->write += !backward;
        merge->write_end -= backward;
    }
    return true;
}

/* Nothing else runs meanwhile: the rows are of one moment. */
static int collect_rows(MemoryTxn *txn, const SapStoreRange *range, bool backward, uint32_t limit,
                        bool lock, const SapStoreRow **rows_out, uint32_t *count_out)
{
    Merge merge = merge_range(txn, range);
    StoreKey key = {0};
    Slice val = {0};
    Buf rows = {0};
    int rc = enter_call(txn);
    while (rc == SAP_OK && COUNT(rows, SapStoreRow) < limit &&
           merge_next(txn, &merge, backward, &key)) {
        if (!visible_row(txn, key, &val) || (lock && other_has_locked(txn, key))) {
            continue;
        }
        rc = append_row(&txn->base, &rows, key, val);
        if (rc == SAP_OK && lock) {
            rc = lock_row(txn, key);
        }
    }
    Slice copy = {0};
    if (rc == SAP_OK) {
        rc = store_txn_copy(&txn->base, (Slice){rows.data, rows.len}, &copy);
    }
    if (rc == SAP_OK) {
        *rows_out = (const SapStoreRow *)copy.data;
        *count_out = (uint32_t)COUNT(rows, SapStoreRow);
    }
    buf_release(&rows);
    return report_call(txn->base.store,
                       &(MemoryEvent){.call = lock ? SAP_STORE_CALL_CLAIM : SAP_STORE_CALL_SCAN,
                                      .rc = rc,
                                      .key = {range->table, {range->from, range->from_len}},
                                      .rows = rc == SAP_OK ? *rows_out : NULL,
                                      .row_count = rc == SAP_OK ? *count_out : 0});
}

static int memory_scan(SapStoreTxn *txn, const SapStoreRange *range, bool backward, uint32_t limit,
                       const SapStoreRow **rows_out, uint32_t *count_out)
{
    return collect_rows(memory_txn_of(txn), range, backward, limit, false, rows_out, count_out);
}

static int memory_lock_rows(SapStoreTxn *txn, const SapStoreRange *range, uint32_t limit,
                            const SapStoreRow **rows_out, uint32_t *count_out)
{
    return collect_rows(memory_txn_of(txn), range, false, limit, true, rows_out, count_out);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static int take_guard(MemoryTxn *txn, StoreKey key, bool exclusive)
{
    Lock lock = {key, exclusive};
    Slice unused = {0};
    int rc = enter_call(txn);
    if (rc == SAP_OK && other_guards(txn, key, exclusive)) {
        rc = SAP_BUSY;
    }
    if (rc != SAP_OK) {
        return rc;
    }
    rc = store_txn_copy(&txn->base, key.bytes, &lock.key.bytes);
    rc = rc == SAP_OK ? buf_append(&txn->guards, &lock, sizeof lock) : rc;
    if (rc == SAP_OK && exclusive && visible_row(txn, key, &unused)) {
        rc = other_has_locked(txn, key) ? SAP_BUSY : lock_row(txn, key);
    }
    return rc;
}

static int memory_guard(SapStoreTxn *base, const SapStoreGuard *guards, uint32_t count)
{
    int rc = SAP_OK;
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        StoreKey key = {guards[i].table, {guards[i].key, guards[i].key_len}};
        rc = take_guard(memory_txn_of(base), key, guards[i].exclusive);
        (void)report_call(base->store,
                          &(MemoryEvent){.call = SAP_STORE_CALL_GUARD, .rc = rc, .key = key});
    }
    return rc;
}

static int note_write(MemoryTxn *txn, StoreKey key, Slice val, bool deleted)
{
    Write write = {.key.table = key.table, .deleted = deleted};
    Write *known = own_write(txn, key);
    int rc = store_txn_copy(&txn->base, val, &write.val);
    if (rc == SAP_OK && known != NULL) {
        known->val = write.val;
        known->deleted = deleted;
        return SAP_OK;
    }
    rc = rc == SAP_OK ? store_txn_copy(&txn->base, key.bytes, &write.key.bytes) : rc;
    return rc == SAP_OK ? insert_item(&txn->writes, find_write(txn, key), &write, sizeof write)
                        : rc;
}

static int put_row(MemoryTxn *txn, StoreKey key, Slice val, StorePutMode mode)
{
    Slice unused = {0};
    int rc = enter_call(txn);
    if (rc != SAP_OK) {
        return rc;
    }
    if (mode == STORE_PUT_ABSENT) {
        if (other_has_written(txn, key)) {
            return SAP_BUSY; /* whether there is one is not decided yet */
        }
        if (visible_row(txn, key, &unused)) {
            return SAP_EXISTS;
        }
    }
    return other_has_locked(txn, key) ? SAP_BUSY : note_write(txn, key, val, false);
}

static int memory_put(SapStoreTxn *base, StoreKey key, Slice val, StorePutMode mode)
{
    int rc = put_row(memory_txn_of(base), key, val, mode);
    return report_call(
        base->store, &(MemoryEvent){.call = SAP_STORE_CALL_PUT, .rc = rc, .key = key, .val = val});
}

static int del_row(MemoryTxn *txn, StoreKey key)
{
    Slice unused = {0};
    int rc = enter_call(txn);
    if (rc != SAP_OK) {
        return rc;
    }
    if (!visible_row(txn, key, &unused)) {
        return SAP_NOTFOUND;
    }
    return other_has_locked(txn, key) ? SAP_BUSY : note_write(txn, key, (Slice){0}, true);
}

static int memory_del(SapStoreTxn *base, StoreKey key)
{
    int rc = del_row(memory_txn_of(base), key);
    return report_call(base->store,
                       &(MemoryEvent){.call = SAP_STORE_CALL_PUT, .rc = rc, .key = key});
}

/* ---- Transactions ---------------------------------------------------------------------------- */

static int memory_begin(SapStoreTxn *base)
{
    MemoryTxn *txn = memory_txn_of(base);
    Memory *memory = memory_of(base->store);
    txn->view = base->kind == SAP_STORE_READ_DURABLE ? memory->durable : memory->newest;
    base->version = txn->view;
    txn->below = memory->open;
    memory->open = txn;
    memory->depth++;
    return report_call(base->store, &(MemoryEvent){.call = SAP_STORE_CALL_BEGIN, .rc = SAP_OK});
}

static void leave_list(MemoryTxn *txn)
{
    Memory *memory = memory_of(txn->base.store);
    MemoryTxn **at = &memory->open;
    SAP_ASSERT(!txn->left);
    while (*at != txn) {
        SAP_ASSERT(*at != NULL);
        at = &(*at)->below;
    }
    *at = txn->below;
    memory->depth--;
    txn->left = true;
}

/* Makes rows and versions for all writes, so that applying them cannot fail. A row made here and
 * not used has no version, which nobody sees, and goes with the next sweep. */
static int make_versions(Memory *memory, const MemoryTxn *txn, Version **versions)
{
    for (size_t i = 0; i < COUNT(txn->writes, Write); i++) {
        const Write *write = ARRAY(txn->writes, Write) + i;
        size_t at = find_row(memory, write->key);
        if (!row_is_at(memory, at, write->key)) {
            if (memory->row_count == memory->row_cap) {
                size_t cap = memory->row_cap == 0 ? 64 : 2 * memory->row_cap;
                Row **rows = (Row **)mem_resize(
                    MEM_STORE, memory->rows, memory->row_cap * sizeof(Row *), cap * sizeof(Row *));
                if (rows == NULL) {
                    return SAP_NOMEM;
                }
                memory->rows = rows;
                memory->row_cap = cap;
            }
            size_t key_len = write->key.bytes.len;
            Row *row = (Row *)mem_zalloc(MEM_STORE, sizeof *row + key_len);
            if (row == NULL) {
                return SAP_NOMEM;
            }
            if (key_len > 0) {
                memcpy(row + 1, write->key.bytes.data, key_len);
            }
            row->key = (StoreKey){write->key.table, {row + 1, key_len}};
            memmove(memory->rows + at + 1, memory->rows + at,
                    (memory->row_count - at) * sizeof(Row *));
            memory->rows[at] = row;
            memory->row_count++;
        }
        versions[i] = (Version *)mem_alloc(MEM_STORE, sizeof **versions + write->val.len);
        if (versions[i] == NULL) {
            return SAP_NOMEM;
        }
        *versions[i] = (Version){.deleted = write->deleted, .len = (uint32_t)write->val.len};
        if (write->val.len > 0) {
            memcpy(versions[i]->bytes, write->val.data, write->val.len);
        }
    }
    return SAP_OK;
}

static int apply_writes(MemoryTxn *txn)
{
    Memory *memory = memory_of(txn->base.store);
    size_t count = COUNT(txn->writes, Write);
    size_t size = count * sizeof(Version *);
    Version **versions = (Version **)mem_zalloc(MEM_STORE, size);
    int rc = versions == NULL ? SAP_NOMEM : make_versions(memory, txn, versions);

    for (size_t i = 0; i < count && rc == SAP_OK; i++) {
        size_t at = find_row(memory, ARRAY(txn->writes, Write)[i].key);
        Row *row = memory->rows[at];
        versions[i]->commit = memory->newest + 1;
        versions[i]->older = row->newest;
        row->newest = versions[i];
    }
    for (size_t i = 0; i < count && rc != SAP_OK && versions != NULL; i++) {
        free_versions(versions[i]);
    }
    mem_free(MEM_STORE, versions, size);
    memory->newest += rc == SAP_OK && count > 0;
    return rc;
}

static int memory_commit(SapStoreTxn *base, uint64_t *mark_out, bool *unknown_out)
{
    MemoryTxn *txn = memory_txn_of(base);
    Memory *memory = memory_of(base->store);
    int rc = txn->dropped ? SAP_IO : apply_writes(txn);
    *unknown_out = txn->dropped && base->wrote; /* the connection is gone, and the answer with it */
    if (rc == SAP_OK) {
        *mark_out = base->wrote ? memory->newest : txn->view;
        leave_list(txn);
        if (++memory->since_sweep >= SWEEP_EVERY) {
            sweep_rows(memory);
        }
    }
    return report_call(base->store, &(MemoryEvent){.call = SAP_STORE_CALL_COMMIT,
                                                   .rc = rc,
                                                   .wrote = rc == SAP_OK && base->wrote});
}

static void memory_rollback(SapStoreTxn *base)
{
    MemoryTxn *txn = memory_txn_of(base);
    if (!txn->left) {
        leave_list(txn);
    }
    buf_release(&txn->guards);
    buf_release(&txn->locks);
    buf_release(&txn->writes);
}

static int memory_wait_durable(SapStore *store, uint64_t mark)
{
    Memory *memory = memory_of(store);
    int rc = mark > memory->newest ? SAP_ERROR : SAP_OK;
    if (rc == SAP_OK && mark > memory->durable) {
        memory->durable = mark;
        wake_durable(memory->wake, mark);
    }
    return report_call(store, &(MemoryEvent){.call = SAP_STORE_CALL_WAIT_DURABLE, .rc = rc});
}

/* ---- For the simulator ----------------------------------------------------------------------- */

void memory_store_watch(SapStore *store, MemoryWatch watch, void *ctx)
{
    MemoryStore *memory = (MemoryStore *)store;
    memory->watch = watch;
    memory->watch_ctx = ctx;
}

uint32_t memory_store_depth(const SapStore *store)
{
    return memory_of(store)->depth;
}

SapStoreTxn *memory_store_txn(const SapStore *store, uint32_t index)
{
    const Memory *memory = memory_of(store);
    SAP_ASSERT(index < memory->depth);
    MemoryTxn *txn = memory->open;
    for (uint32_t at = memory->depth - 1; at > index; at--) {
        txn = txn->below;
    }
    return &txn->base;
}

void memory_txn_drop(SapStoreTxn *txn)
{
    memory_txn_of(txn)->dropped = true;
}

void memory_store_crash(SapStore *store)
{
    atomic_store_relaxed(&store->crashed, true);
}

uint64_t memory_store_not_durable(const SapStore *store)
{
    const Memory *memory = memory_of(store);
    return memory->newest - memory->durable;
}

void memory_store_flush(SapStore *store, uint64_t commits)
{
    Memory *memory = memory_of(store);
    SAP_ASSERT(commits <= memory->newest - memory->durable);
    memory->durable += commits;
    wake_durable(memory->wake, memory->durable);
}

void memory_store_cut_power(SapStore *store)
{
    Memory *memory = memory_of(store);
    for (const MemoryTxn *txn = memory->open; txn != NULL; txn = txn->below) {
        SAP_ASSERT(txn_is_over(txn));
    }
    for (size_t i = 0; i < memory->row_count; i++) {
        Row *row = memory->rows[i];
        while (row->newest != NULL && row->newest->commit > memory->durable) {
            Version *lost = row->newest;
            row->newest = lost->older;
            mem_free(MEM_STORE, lost, version_size(lost));
        }
    }
    memory->durable = memory->newest; /* lost numbers are not given out again */
    sweep_rows(memory);
}

/* ---- Opening --------------------------------------------------------------------------------- */

static void free_memory(Memory *memory)
{
    for (size_t i = 0; i < memory->row_count; i++) {
        free_row(memory->rows[i]);
    }
    mem_free(MEM_STORE, memory->rows, memory->row_cap * sizeof(Row *));
    wake_free(memory->wake);
    mem_free(MEM_STORE, memory->name, memory->name == NULL ? 0 : strlen(memory->name) + 1);
    mem_free(MEM_STORE, memory, sizeof *memory);
}

static Memory *find_memory(const char *name)
{
    Memory *memory = name[0] == 0 ? NULL : named;
    while (memory != NULL && strcmp(memory->name, name) != 0) {
        memory = memory->next;
    }
    return memory;
}

static Memory *make_memory(const char *name)
{
    Memory *memory = (Memory *)mem_zalloc(MEM_STORE, sizeof *memory);
    if (memory == NULL) {
        return NULL;
    }
    memory->wake = wake_new();
    if (name[0] != 0) {
        memory->name = (char *)mem_copy(MEM_STORE, name, strlen(name) + 1);
    }
    if (memory->wake == NULL || (name[0] != 0 && memory->name == NULL)) {
        free_memory(memory);
        return NULL;
    }
    if (name[0] != 0) {
        memory->next = named;
        named = memory;
    }
    return memory;
}

/* The memory of that name, with one more store. NULL: no memory is left. */
static Memory *join_memory(const char *name)
{
    mutex_lock(&names_lock);
    Memory *memory = find_memory(name);
    memory = memory == NULL ? make_memory(name) : memory;
    if (memory != NULL) {
        memory->stores++;
    }
    mutex_unlock(&names_lock);
    return memory;
}

static void leave_memory(Memory *memory)
{
    mutex_lock(&names_lock);
    if (--memory->stores == 0) {
        for (Memory **at = &named; *at != NULL; at = &(*at)->next) {
            if (*at == memory) {
                *at = memory->next;
                break;
            }
        }
        free_memory(memory);
    }
    mutex_unlock(&names_lock);
}

static int memory_close(SapStore *store)
{
    leave_memory(memory_of(store));
    mem_free(MEM_STORE, store, sizeof(MemoryStore));
    return SAP_OK;
}

/* The copy of the memory stays: a thread of the parent may have been changing it. */
static void memory_abandon(SapStore *store)
{
    (void)store;
}

int memory_store_open(const char *name, SapStore **store_out)
{
    static const StoreOps ops = {
        .txn_size = sizeof(MemoryTxn),
        .close = memory_close,
        .abandon = memory_abandon,
        .begin = memory_begin,
        .guard = memory_guard,
        .get = memory_get,
        .put = memory_put,
        .del = memory_del,
        .scan = memory_scan,
        .lock_rows = memory_lock_rows,
        .commit = memory_commit,
        .rollback = memory_rollback,
        .wait_durable = memory_wait_durable,
    };
    if (fork_guard(&names_guard) != SAP_OK) {
        return SAP_NOMEM;
    }
    MemoryStore *store = (MemoryStore *)mem_zalloc(MEM_STORE, sizeof *store);
    Memory *memory = store == NULL ? NULL : join_memory(name);
    if (memory == NULL) {
        mem_free(MEM_STORE, store, sizeof *store);
        return SAP_NOMEM;
    }
    store->memory = memory;
    store->base.ops = &ops;
    store->base.wake = memory->wake;
    *store_out = &store->base;
    return SAP_OK;
}
