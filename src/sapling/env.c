/* env.c - the transaction machine: environments, begin, commit, abort, subsystems. See env.h. */
#include "sapling/env.h"

#include <string.h>

#include "common/assert.h"
#include "common/clock.h"
#include "common/fault.h"
#include "common/mem.h"

enum { SCRATCH_ALIGN = 16 };

struct ScratchBlock {
    struct ScratchBlock *next;
    size_t size; /* with this header */
    _Alignas(SCRATCH_ALIGN) uint8_t data[];
};

enum {
    DEFAULT_PAGE_SIZE = 4096,
    ALL_TXN_FLAGS = SAP_TXN_RDONLY | SAP_TXN_WAIT | SAP_TXN_NEWEST | SAP_TXN_BULK,
};

/* ---- Environments --------------------------------------------------------------------------- */

static int arena_for_env(SapMemArena *arena, uint32_t *page_size, SapMemArena **own_out)
{
    *own_out = NULL;
    if (arena != NULL) {
        uint32_t most = arena->options.page_size;
        *page_size = *page_size == 0 ? most : *page_size;
        return *page_size < SAP_MIN_PAGE_SIZE || *page_size > most ? SAP_ERROR : SAP_OK;
    }
    *page_size = *page_size == 0 ? DEFAULT_PAGE_SIZE : *page_size;
    SapArenaOptions options = {.type = SAP_ARENA_BACKING_MALLOC, .page_size = *page_size};
    return sap_arena_init(own_out, &options);
}

static bool locks_init(SapEnv *env)
{
    if (!writer_lock_init(&env->lock)) {
        return false;
    }
    if (!mutex_init(&env->metadata)) {
        writer_lock_destroy(&env->lock);
        return false;
    }
    return true;
}

SapEnv *sap_env_create(SapMemArena *arena, uint32_t page_size)
{
    SapMemArena *own = NULL;
    if (arena_for_env(arena, &page_size, &own) != SAP_OK) {
        return NULL;
    }
    SapEnv *env = (SapEnv *)mem_zalloc(MEM_ENV, sizeof *env);
    if (env == NULL || !locks_init(env)) {
        mem_free(MEM_ENV, env, sizeof *env);
        sap_arena_destroy(own);
        return NULL;
    }
    env->arena = own != NULL ? own : arena;
    env->owns_arena = own != NULL;
    env->page_size = page_size;
    env->stamp = ENV_FIRST_COMMIT;
    atomic_store_relaxed(&env->versions[0].txnid, ENV_FIRST_COMMIT);
    pager_init(&env->pager, env->arena, ENV_FIRST_COMMIT, readers_scan, env);
    buf_init(&env->notes);
    env->first_level.env = env;
    env->spare_levels = &env->first_level;
    return env;
}

/* For the holder of the writer lock, under whom the version does not change. */
static Version *newest_version(SapEnv *env)
{
    return &env->versions[atomic_load_full(&env->newest) % ENV_VERSIONS];
}

int sap_env_destroy(SapEnv *env)
{
    if (env == NULL) {
        return SAP_OK;
    }
    int rc = env_metadata_begin(env);
    if (rc == SAP_OK && (readers_in_use(env) || watch_is_busy(env))) {
        env_metadata_end(env);
        rc = SAP_BUSY;
    }
    if (rc != SAP_OK) {
        return rc;
    }
    for (uint32_t i = SAP_MAX_SUBSYSTEMS; i-- > 0;) {
        Subsystem *subsystem = &env->subsystems[i];
        if (atomic_load_relaxed(&subsystem->registered) &&
            subsystem->calls.on_env_destroy != NULL) {
            void *state = atomic_load_relaxed(&newest_version(env)->subsystem[i]);
            subsystem->calls.on_env_destroy(env, state);
        }
    }
    watch_destroy(env);
    buf_release(&env->notes);
    tables_destroy(env);
    pager_release(&env->pager);
    readers_destroy(env);
    while (env->spare_levels != NULL) {
        SapTxnCtx *level = env->spare_levels;
        env->spare_levels = level->next;
        if (level != &env->first_level) {
            mem_free(MEM_TXN, level, sizeof *level);
        }
    }
    mem_free(MEM_ENV, env->undo, env->undo_capacity * sizeof *env->undo);
    node_scratch_release(&env->scratch);
    mem_free(MEM_SCRATCH, env->alias, (size_t)2 * env->page_size);
    env_metadata_end(env);
    writer_lock_destroy(&env->lock);
    mutex_destroy(&env->metadata);
    if (env->owns_arena) {
        sap_arena_destroy(env->arena);
    }
    mem_free(MEM_ENV, env, sizeof *env);
    return SAP_OK;
}

SapMemArena *sap_env_get_arena(const SapEnv *env)
{
    return env == NULL ? NULL : env->arena;
}

uint32_t sap_env_get_page_size(const SapEnv *env)
{
    return env == NULL ? 0 : env->page_size;
}

int env_metadata_begin(SapEnv *env)
{
    mutex_lock(&env->metadata);
    if (!writer_lock_take(&env->lock, false)) {
        mutex_unlock(&env->metadata);
        return SAP_BUSY;
    }
    atomic_store_full(&env->gate, true);
    if (readers_any(env)) {
        env_metadata_end(env);
        return SAP_BUSY;
    }
    return SAP_OK;
}

void env_metadata_end(SapEnv *env)
{
    atomic_store_full(&env->gate, false);
    writer_lock_release(&env->lock);
    mutex_unlock(&env->metadata);
}

/* ---- Subsystems ----------------------------------------------------------------------------- */

static bool env_has_subsystem(SapEnv *env, uint32_t id)
{
    return id < SAP_MAX_SUBSYSTEMS && atomic_load_acquire(&env->subsystems[id].registered);
}

int sap_env_register_subsystem(SapEnv *env, uint32_t id, const SapSubsystemCallbacks *callbacks)
{
    if (env == NULL || callbacks == NULL || id >= SAP_MAX_SUBSYSTEMS) {
        return SAP_ERROR;
    }
    int rc = env_metadata_begin(env);
    if (rc != SAP_OK) {
        return rc;
    }
    if (env_has_subsystem(env, id)) {
        rc = SAP_EXISTS;
    } else {
        env->subsystems[id].calls = *callbacks;
        atomic_store_release(&env->subsystems[id].registered, true);
    }
    env_metadata_end(env);
    return rc;
}

int sap_env_subsystem_state(SapEnv *env, uint32_t id, void **state_out)
{
    if (env == NULL || state_out == NULL || !env_has_subsystem(env, id)) {
        return SAP_ERROR;
    }
    uint64_t newest = 0;
    do { /* an entry that stays the newest is not being written */
        newest = atomic_load_full(&env->newest);
        *state_out = atomic_load_acquire(&env->versions[newest % ENV_VERSIONS].subsystem[id]);
    } while (atomic_load_full(&env->newest) != newest);
    return SAP_OK;
}

/* Fills the entry after the newest with a copy of it, for the holder of the writer lock to change
 * and then to publish by moving `newest`. */
static Version *copy_version(SapEnv *env)
{
    uint64_t newest = atomic_load_relaxed(&env->newest);
    Version *from = &env->versions[newest % ENV_VERSIONS];
    Version *to = &env->versions[(newest + 1) % ENV_VERSIONS];
    atomic_store_relaxed(&to->txnid, atomic_load_relaxed(&from->txnid));
    atomic_store_relaxed(&to->catalog, atomic_load_relaxed(&from->catalog));
    for (uint32_t i = 0; i < SAP_MAX_SUBSYSTEMS; i++) {
        atomic_store_relaxed(&to->subsystem[i], atomic_load_relaxed(&from->subsystem[i]));
    }
    return to;
}

int sap_env_set_subsystem_state(SapEnv *env, uint32_t id, void *state)
{
    if (env == NULL || !env_has_subsystem(env, id)) {
        return SAP_ERROR;
    }
    int rc = env_metadata_begin(env);
    if (rc != SAP_OK) {
        return rc;
    }
    /* A version of its own: a reader that copied the present one before the gate closed, and stores
     * its pin after, finds that it must start over. */
    Version *version = copy_version(env);
    atomic_store_relaxed(&version->subsystem[id], state);
    atomic_store_full(&env->newest, atomic_load_relaxed(&env->newest) + 1);
    env_metadata_end(env);
    return SAP_OK;
}

int sap_txn_subsystem_state(SapTxnCtx *txn, uint32_t id, void **state_out)
{
    int rc = txn_check(txn);
    if (rc == SAP_OK && (state_out == NULL || !env_has_subsystem(txn->env, id))) {
        rc = SAP_ERROR;
    }
    if (rc == SAP_OK) {
        *state_out = txn->subsystem[id];
    }
    return rc;
}

int sap_txn_set_subsystem_state(SapTxnCtx *txn, uint32_t id, void *state)
{
    int rc = txn_check_write(txn);
    if (rc == SAP_OK && !env_has_subsystem(txn->env, id)) {
        rc = SAP_ERROR;
    }
    if (rc == SAP_OK) {
        txn->subsystem[id] = state;
    }
    return rc;
}

/* Tells the subsystems that had their begin, last first, that the transaction leaves no trace. */
static void subsystems_abort(SapTxnCtx *txn)
{
    while (txn->subsystem_count > 0) {
        uint32_t id = --txn->subsystem_count;
        Subsystem *subsystem = &txn->env->subsystems[id];
        if (atomic_load_relaxed(&subsystem->registered) && subsystem->calls.on_abort != NULL) {
            subsystem->calls.on_abort(txn, txn->subsystem[id]);
        }
    }
}

/* txn->subsystem holds the parent's states. */
static int subsystems_begin(SapTxnCtx *txn)
{
    for (uint32_t id = 0; id < SAP_MAX_SUBSYSTEMS; id++) {
        Subsystem *subsystem = &txn->env->subsystems[id];
        if (atomic_load_relaxed(&subsystem->registered) && subsystem->calls.on_begin != NULL) {
            void *state = txn->subsystem[id];
            int rc = subsystem->calls.on_begin(txn, state, &state);
            if (rc != SAP_OK) {
                subsystems_abort(txn);
                return rc;
            }
            txn->subsystem[id] = state;
        }
        txn->subsystem_count = id + 1;
    }
    return SAP_OK;
}

static int subsystems_commit(SapTxnCtx *txn)
{
    for (uint32_t id = 0; id < SAP_MAX_SUBSYSTEMS; id++) {
        Subsystem *subsystem = &txn->env->subsystems[id];
        if (atomic_load_relaxed(&subsystem->registered) && subsystem->calls.on_commit != NULL) {
            int rc = subsystem->calls.on_commit(txn, &txn->subsystem[id]);
            if (txn->child != NULL) {
                sap_txn_abort(txn->child); /* the callback left it open */
                rc = rc == SAP_OK ? SAP_ERROR : rc;
            }
            if (rc != SAP_OK) {
                return rc;
            }
        }
    }
    return SAP_OK;
}

/* ---- Begin ---------------------------------------------------------------------------------- */

/* A level of the write transaction, whose lock is held; a read-only one changes nothing. */
static int level_begin(SapEnv *env, SapTxnCtx *parent, bool read_only, SapTxnCtx **txn_out)
{
    SapTxnCtx *txn = env->spare_levels;
    if (txn != NULL) {
        env->spare_levels = txn->next;
    } else {
        txn = (SapTxnCtx *)mem_zalloc(MEM_TXN, sizeof *txn);
        if (txn == NULL) {
            return SAP_NOMEM;
        }
        txn->env = env;
    }
    txn->parent = parent;
    txn->child = NULL;
    txn->cursors = NULL;
    txn->scratch = NULL;
    txn->subsystem_count = 0;
    txn->undo_start = env->undo_count;
    txn->notes_start = env->notes.len;
    txn->savepoint = false;
    if (parent != NULL) {
        txn->base = parent->base;
        memcpy(txn->subsystem, parent->subsystem, sizeof txn->subsystem);
    } else {
        Version *version = newest_version(env);
        txn->base = atomic_load_relaxed(&version->txnid);
        for (uint32_t i = 0; i < SAP_MAX_SUBSYSTEMS; i++) {
            txn->subsystem[i] = atomic_load_relaxed(&version->subsystem[i]);
        }
    }
    txn->kind = read_only ? TXN_WRITER_READER : TXN_WRITER;
    if (!read_only) {
        pager_level_begin(&txn->level, ++env->stamp);
    }
    env->writer = txn;
    *txn_out = txn;
    return SAP_OK;
}

/* Ends a level without deciding what becomes of its changes. */
static void level_end(SapTxnCtx *txn)
{
    SapEnv *env = txn->env;
    SAP_ASSERT(env->writer == txn);
    env->writer = txn->parent;
    txn->kind = TXN_ENDED;
    txn->next = env->spare_levels;
    env->spare_levels = txn;
    if (txn->parent == NULL) {
        writer_lock_release(&env->lock);
    }
}

static int begin_any(SapEnv *env, SapTxnCtx *parent, unsigned flags, SapTxnCtx **txn_out)
{
    bool read_only = (flags & SAP_TXN_RDONLY) != 0;
    if (parent != NULL) {
        if (parent->kind == TXN_READER || parent->kind == TXN_WRITER_READER) {
            if (!read_only) {
                return SAP_READONLY;
            }
        }
        return parent->kind == TXN_READER ? reader_begin(env, parent, txn_out)
                                          : level_begin(env, parent, read_only, txn_out);
    }
    if (read_only) {
        return reader_begin(env, NULL, txn_out);
    }
    if (fault_busy() || !writer_lock_take(&env->lock, (flags & SAP_TXN_WAIT) != 0)) {
        return SAP_BUSY;
    }
    int rc = level_begin(env, NULL, false, txn_out);
    if (rc != SAP_OK) {
        writer_lock_release(&env->lock);
    }
    return rc;
}

static void scratch_release(SapTxnCtx *txn)
{
    while (txn->scratch != NULL) {
        ScratchBlock *next = txn->scratch->next;
        mem_free_aligned(MEM_TXN, txn->scratch, txn->scratch->size);
        txn->scratch = next;
    }
}

/* The end that all transactions share: cursors, scratch memory, place in the tree of levels. */
static void txn_end(SapTxnCtx *txn)
{
    cursors_end(txn);
    scratch_release(txn);
    if (txn->parent != NULL) {
        txn->parent->child = NULL;
    }
    if (txn->kind == TXN_READER) {
        reader_end(txn);
    } else {
        level_end(txn);
    }
}

static void abort_one(SapTxnCtx *txn)
{
    subsystems_abort(txn);
    if (txn->kind == TXN_WRITER) {
        tables_abort(txn);
        buf_truncate(&txn->env->notes, txn->notes_start);
        pager_level_abort(&txn->env->pager, &txn->level);
    }
    txn_end(txn);
}

int sap_txn_begin_rc(SapEnv *env, SapTxnCtx *parent, unsigned flags, SapTxnCtx **txn_out)
{
    if (env == NULL || txn_out == NULL || (flags & ~(unsigned)ALL_TXN_FLAGS) != 0) {
        return SAP_ERROR;
    }
    if (parent != NULL) {
        int rc = txn_check(parent);
        if (rc != SAP_OK) {
            return rc;
        }
        if (parent->env != env) {
            return SAP_ERROR;
        }
    }
    SapTxnCtx *txn = NULL;
    int rc = begin_any(env, parent, flags, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    txn->flags = flags;
    if (parent != NULL) {
        parent->child = txn;
    }
    rc = subsystems_begin(txn);
    if (rc != SAP_OK) {
        abort_one(txn);
        return rc;
    }
    *txn_out = txn;
    return SAP_OK;
}

SapTxnCtx *sap_txn_begin(SapEnv *env, SapTxnCtx *parent, unsigned flags)
{
    SapTxnCtx *txn = NULL;
    return sap_txn_begin_rc(env, parent, flags, &txn) == SAP_OK ? txn : NULL;
}

int savepoint_begin(SapTxnCtx *txn, SapTxnCtx **level_out)
{
    int rc = level_begin(txn->env, txn, false, level_out);
    if (rc == SAP_OK) {
        (*level_out)->savepoint = true;
        (*level_out)->flags = txn->flags;
        txn->child = *level_out;
    }
    return rc;
}

static void merge_into_parent(SapTxnCtx *txn)
{
    tables_merge(txn);
    pager_level_merge(&txn->env->pager, &txn->parent->level, &txn->level);
    txn_end(txn);
}

void savepoint_end(SapTxnCtx *level, bool keep)
{
    SAP_ASSERT(level->savepoint);
    if (keep) {
        merge_into_parent(level);
    } else {
        abort_one(level);
    }
}

/* ---- End ------------------------------------------------------------------------------------ */

void sap_txn_abort(SapTxnCtx *txn)
{
    if (txn == NULL || txn->kind == TXN_ENDED) {
        return;
    }
    SapTxnCtx *innermost = txn;
    while (innermost->child != NULL) {
        innermost = innermost->child;
    }
    for (;;) {
        SapTxnCtx *parent = innermost->parent;
        bool last = innermost == txn;
        abort_one(innermost);
        if (last) {
            return;
        }
        innermost = parent;
    }
}

/* Whether an outermost commit has anything to publish. */
static bool has_changes(const SapTxnCtx *txn)
{
    const SapEnv *env = txn->env;
    if (env->undo_count > 0 || txn->level.taken != 0 || txn->level.freed != 0) {
        return true;
    }
    Version *version = newest_version(txn->env);
    for (uint32_t i = 0; i < SAP_MAX_SUBSYSTEMS; i++) {
        if (atomic_load_relaxed(&version->subsystem[i]) != txn->subsystem[i]) {
            return true;
        }
    }
    return false;
}

/* Makes the writer's state the newest version. Nothing here can fail. */
static void publish(SapTxnCtx *txn)
{
    SapEnv *env = txn->env;
    Version *version = copy_version(env);
    atomic_store_relaxed(&version->txnid, env->stamp);
    atomic_store_relaxed(&version->catalog, env->catalog.tree.root);
    for (uint32_t i = 0; i < SAP_MAX_SUBSYSTEMS; i++) {
        atomic_store_relaxed(&version->subsystem[i], txn->subsystem[i]);
    }
    atomic_store_full(&env->newest, atomic_load_relaxed(&env->newest) + 1);
    env->undo_count = 0;
    pager_commit(&env->pager, &txn->level, env->stamp);
}

/* Everything of an outermost commit that can fail; the transaction goes on. */
static int commit_prepare(SapTxnCtx *txn)
{
    SapEnv *env = txn->env;
    int rc = pager_prepare_commit(&env->pager);
    if (rc == SAP_OK) {
        rc = watch_prepare(txn);
    }
    size_t noted = env->notes.len;
    if (rc == SAP_OK) {
        rc = subsystems_commit(txn);
    }
    if (rc == SAP_OK && env->notes.len != noted) {
        rc = watch_prepare(txn); /* the subsystems changed watched rows themselves */
    }
    if (rc != SAP_OK) {
        watch_discard(env);
    }
    return rc;
}

/* And what cannot. Returns the commit's id. */
static uint64_t commit_finish(SapTxnCtx *txn)
{
    SapEnv *env = txn->env;
    uint64_t lsn = txn->base;
    uint64_t batch = 0;
    tables_commit(txn);
    if (has_changes(txn)) {
        lsn = env->stamp;
        publish(txn);
        batch = watch_enqueue(env, env->stamp);
    }
    WatchHub *hub = env->watch; /* before the lock is given up */
    txn_end(txn);
    watch_deliver(hub, batch);
    return lsn;
}

static int commit_outermost(SapTxnCtx *txn, uint64_t *lsn_out)
{
    int rc = commit_prepare(txn);
    if (rc != SAP_OK) {
        abort_one(txn);
        return rc;
    }
    *lsn_out = commit_finish(txn);
    return SAP_OK;
}

static int commit_nested(SapTxnCtx *txn)
{
    int rc = subsystems_commit(txn);
    if (rc != SAP_OK) {
        abort_one(txn);
        return rc;
    }
    SapTxnCtx *parent = txn->parent;
    memcpy(parent->subsystem, txn->subsystem, sizeof parent->subsystem);
    merge_into_parent(txn);
    return SAP_OK;
}

int exclusive_begin(SapEnv *env, SapTxnCtx **txn_out)
{
    int rc = env_metadata_begin(env);
    if (rc != SAP_OK) {
        return rc;
    }
    SapTxnCtx *txn = NULL;
    rc = level_begin(env, NULL, false, &txn);
    if (rc != SAP_OK) {
        env_metadata_end(env);
        return rc;
    }
    txn->flags = SAP_TXN_BULK;
    rc = subsystems_begin(txn);
    if (rc != SAP_OK) {
        exclusive_end(txn, false);
        return rc;
    }
    *txn_out = txn;
    return SAP_OK;
}

int exclusive_prepare(SapTxnCtx *txn)
{
    int rc = commit_prepare(txn);
    watch_discard(txn->env); /* nobody is told, also not of what subsystems changed */
    return rc;
}

/* The transaction's end gives up the writer lock that env_metadata_begin() took. */
void exclusive_end(SapTxnCtx *txn, bool keep)
{
    SapEnv *env = txn->env;
    if (keep) {
        (void)commit_finish(txn);
    } else {
        abort_one(txn);
    }
    atomic_store_full(&env->gate, false);
    mutex_unlock(&env->metadata);
}

int sap_txn_commit(SapTxnCtx *txn)
{
    return sap_txn_commit_async(txn, NULL);
}

int sap_txn_commit_async(SapTxnCtx *txn, uint64_t *lsn_out)
{
    int rc = txn_check(txn);
    if (rc != SAP_OK) {
        return rc;
    }
    uint64_t lsn = txn->base;
    if (txn->kind != TXN_WRITER) {
        abort_one(txn);
    } else if (txn->parent != NULL) {
        rc = commit_nested(txn);
    } else {
        rc = commit_outermost(txn, &lsn);
    }
    if (rc == SAP_OK && lsn_out != NULL) {
        *lsn_out = lsn;
    }
    return rc;
}

uint64_t sap_txn_base_lsn(SapTxnCtx *txn)
{
    return txn == NULL || txn->kind == TXN_ENDED ? 0 : txn->base;
}

/* ---- Around a transaction ------------------------------------------------------------------- */

SapMemArena *sap_txn_arena(SapTxnCtx *txn)
{
    return txn == NULL || txn->kind == TXN_ENDED ? NULL : txn->env->arena;
}

SapEnv *sap_txn_env(SapTxnCtx *txn)
{
    return txn == NULL || txn->kind == TXN_ENDED ? NULL : txn->env;
}

unsigned sap_txn_flags(SapTxnCtx *txn)
{
    return txn == NULL || txn->kind == TXN_ENDED ? 0 : txn->flags;
}

void *sap_txn_scratch_alloc(SapTxnCtx *txn, uint32_t len)
{
    if (txn_check(txn) != SAP_OK) {
        return NULL;
    }
    uint64_t wanted = align_up_u64(sizeof(ScratchBlock) + (uint64_t)len, SCRATCH_ALIGN);
    if (wanted > PTRDIFF_MAX) {
        return NULL;
    }
    size_t size = (size_t)wanted;
    ScratchBlock *block = (ScratchBlock *)mem_alloc_aligned(MEM_TXN, SCRATCH_ALIGN, size);
    if (block == NULL) {
        return NULL;
    }
    block->next = txn->scratch;
    block->size = size;
    txn->scratch = block;
    return block->data;
}

/* ---- Durability in memory: what is published is durable ------------------------------------- */

int sap_db_sync(SapEnv *db)
{
    return db == NULL ? SAP_ERROR : SAP_OK;
}

uint64_t sap_db_durable_lsn(SapEnv *db)
{
    if (db == NULL) {
        return 0;
    }
    for (;;) {
        uint64_t newest = atomic_load_full(&db->newest);
        uint64_t txnid = atomic_load_acquire(&db->versions[newest % ENV_VERSIONS].txnid);
        if (atomic_load_full(&db->newest) == newest) {
            return txnid;
        }
    }
}

int sap_db_wait_durable(SapEnv *db, uint64_t lsn)
{
    return db == NULL || lsn > sap_db_durable_lsn(db) ? SAP_ERROR : SAP_OK;
}
