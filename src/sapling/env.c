/* env.c - the transaction machine: environments, begin, commit, abort. See env.h. */
#include "sapling/dbfile.h"

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
    ALL_TXN_FLAGS = SAP_TXN_RDONLY | SAP_TXN_WAIT | SAP_TXN_NEWEST | SAP_TXN_BULK | SAP_TXN_DRAIN,
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
    bool shared = arena != NULL && arena_is_shared(arena);
    if (shared && owner_watch_forks() != SAP_OK) {
        return NULL;
    }
    SapEnv *env = (SapEnv *)mem_zalloc(MEM_ENV, sizeof *env);
    if (env == NULL || !locks_init(env)) {
        mem_free(MEM_ENV, env, sizeof *env);
        sap_arena_destroy(own);
        return NULL;
    }
    env->arena = own != NULL ? own : arena;
    env->process = shared ? owner_process() : 0;
    env->owns_arena = own != NULL;
    env->page_size = page_size;
    env->stamp = ENV_FIRST_COMMIT;
    version_put(&env->newest, &(Version){.txnid = ENV_FIRST_COMMIT});
    env->visible = &env->newest;
    pager_init(&env->pager, env->arena, ENV_FIRST_COMMIT, readers_scan, env);
    buf_init(&env->notes);
    buf_init(&env->effects);
    env->first_level.env = env;
    env->spare_levels = &env->first_level;
    return env;
}

/* What changes of the tree rebuild pages in. */
static void rebuild_memory_release(SapEnv *env)
{
    node_scratch_release(&env->scratch);
    mem_free(MEM_SCRATCH, env->alias, (size_t)2 * env->page_size);
    env->alias = NULL;
}

int sap_env_destroy(SapEnv *env)
{
    if (env == NULL) {
        return SAP_OK;
    }
    if (env_is_foreign(env)) {
        if (env->file != NULL) {
            dbfile_abandon(env->file);
        }
        return SAP_OK;
    }
    if (env->file != NULL) {
        dbfile_settle(env->file);
    }
    int rc = env_metadata_begin(env);
    if (rc == SAP_OK && (readers_in_use(env) || watch_is_busy(env) || dbfile_is_held(env->file))) {
        env_metadata_end(env);
        rc = SAP_BUSY;
    }
    if (rc != SAP_OK) {
        return rc;
    }
    if (env->file != NULL) {
        rc = dbfile_close(env->file);
    }
    subsystems_destroy(env);
    watch_destroy(env);
    buf_release(&env->notes);
    buf_release(&env->effects);
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
    rebuild_memory_release(env);
    env_metadata_end(env);
    if (env->file != NULL) {
        dbfile_notify_durable(env->file); /* of the last checkpoint, and of the log before it */
    }
    writer_lock_destroy(&env->lock);
    mutex_destroy(&env->metadata);
    if (env->owns_arena) {
        sap_arena_destroy(env->arena);
    }
    if (env->file != NULL) {
        dbfile_free(env->file);
    }
    mem_free(MEM_ENV, env, sizeof *env);
    return rc;
}

bool env_has_name(SapEnv *env)
{
    return env->file == NULL || dbfile_owns_name(env->file);
}

int env_discard(SapEnv *env)
{
    DbFile *file = env != NULL && !env_is_foreign(env) ? env->file : NULL;
    if (file != NULL) {
        file->discard = true;
    }
    int rc = sap_env_destroy(env);
    if (rc == SAP_BUSY && file != NULL) {
        file->discard = false; /* it is open still */
    }
    return rc;
}

SapMemArena *sap_env_get_arena(const SapEnv *env)
{
    return env_usable(env) ? env->arena : NULL;
}

uint32_t sap_env_get_page_size(const SapEnv *env)
{
    return env_usable(env) ? env->page_size : 0;
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
    txn->mark = change_mark(env);
    txn->savepoint = false;
    if (parent != NULL) {
        txn->base = parent->base;
        memcpy(txn->subsystem, parent->subsystem, sizeof txn->subsystem);
    } else {
        Version version;
        version_get(&env->newest, &version);
        txn->base = version.txnid;
        memcpy(txn->subsystem, version.subsystem, sizeof txn->subsystem);
    }
    txn->kind = read_only ? TXN_WRITER_READER : TXN_WRITER;
    if (!read_only) {
        pager_level_begin(&txn->level, ++env->stamp);
    }
    env->writer = txn;
    *txn_out = txn;
    return SAP_OK;
}

/* A file keeps this memory for the next transaction. An engine in memory gives it back: a program may
 * have many thousands of those, of which few write at the same time. */
static void rebuild_memory_end(SapEnv *env)
{
    if (env->file == NULL) {
        rebuild_memory_release(env);
    }
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
        env->pager.rescue = false;
        if (env->pager.full && env->file != NULL) {
            env->pager.full = false;
            dbfile_short_of_room(env->file);
        }
        rebuild_memory_end(env);
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
        return parent->kind == TXN_READER ? reader_begin(env, parent, NULL, txn_out)
                                          : level_begin(env, parent, read_only, txn_out);
    }
    bool newest = !read_only || (flags & SAP_TXN_NEWEST) != 0;
    int rc = env->file != NULL && newest ? dbfile_check(env->file, !read_only) : SAP_OK;
    if (rc != SAP_OK) {
        return rc;
    }
    if (read_only) {
        return reader_begin(env, NULL, newest ? &env->newest : env->visible, txn_out);
    }
    if (env->file != NULL && (flags & SAP_TXN_DRAIN) == 0) {
        dbfile_make_room(env->file); /* one that drains has pages of its own */
    }
    if (fault_busy() || !writer_lock_take(&env->lock, (flags & SAP_TXN_WAIT) != 0)) {
        return SAP_BUSY;
    }
    rc = level_begin(env, NULL, false, txn_out);
    if (rc != SAP_OK) {
        writer_lock_release(&env->lock);
        return rc;
    }
    env->pager.rescue = (flags & SAP_TXN_DRAIN) != 0;
    if (env->file != NULL) {
        env->log_effects = (flags & SAP_TXN_BULK) == 0 && dbfile_is_logged(env->file);
    }
    return SAP_OK;
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
        change_rewind(txn->env, txn->mark);
        pager_level_abort(&txn->env->pager, &txn->level);
    }
    txn_end(txn);
}

int sap_txn_begin_rc(SapEnv *env, SapTxnCtx *parent, unsigned flags, SapTxnCtx **txn_out)
{
    if (!env_usable(env) || txn_out == NULL || (flags & ~(unsigned)ALL_TXN_FLAGS) != 0) {
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

/* Of this process, and not over; it may have an open child. */
static bool txn_is_open(const SapTxnCtx *txn)
{
    return txn != NULL && txn->kind != TXN_ENDED && !env_is_foreign(txn->env);
}

void sap_txn_abort(SapTxnCtx *txn)
{
    if (!txn_is_open(txn)) {
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
    return env->undo_count > 0 || txn->level.taken != 0 || txn->level.freed != 0 ||
           subsystems_changed(txn);
}

/* Makes the writer's state the newest version. */
static void publish(void *ctx)
{
    const SapTxnCtx *txn = (const SapTxnCtx *)ctx;
    SapEnv *env = txn->env;
    Version version = {.txnid = env->stamp, .catalog = env->catalog.tree.root};
    memcpy(version.subsystem, txn->subsystem, sizeof version.subsystem);
    version_put(&env->newest, &version);
}

/* Everything of an outermost commit that can fail for want of room; the transaction goes on. */
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
    if (rc == SAP_OK && env->log_effects) {
        rc = subsystems_encode(txn);
    }
    if (rc == SAP_OK && env->file != NULL) {
        rc = dbfile_reserve(env->file, txn);
    }
    if (rc != SAP_OK) {
        watch_discard(env);
    }
    return rc;
}

/* What is left to do for a commit once the lock is given up. */
typedef struct Committed {
    uint64_t lsn;
    WatchHub *hub;
    uint64_t batch;
} Committed;

/* And what cannot, unless the disk fails: SAP_IO, the transaction was aborted. In a file, that is held
 * (dbfile_hold) in both cases: until the caller has waited for the commit, or dbfile_not_committed(). */
static int commit_finish(SapTxnCtx *txn, Committed *done_out)
{
    SapEnv *env = txn->env;
    Committed done = {.lsn = txn->base, .hub = env->watch}; /* before the lock is given up */
    dbfile_hold(env->file);
    if (env->file != NULL && env->record.len == 0) {
        abort_one(txn); /* pages may have been copied, rows have not changed */
        *done_out = done;
        return SAP_OK;
    }
    tables_commit(txn);
    if (has_changes(txn)) {
        done.lsn = env->stamp;
        if (env->file == NULL) {
            publish(txn);
        } else {
            int rc = dbfile_append(env->file, done.lsn, publish, txn);
            if (rc != SAP_OK) {
                watch_discard(env);
                abort_one(txn);
                return rc;
            }
        }
        fault_step("commit published");
        env->undo_count = 0;
        pager_commit(&env->pager, &txn->level, env->stamp);
        done.batch = watch_enqueue(env, env->stamp);
    }
    change_rewind(env, txn->mark);
    txn_end(txn);
    *done_out = done;
    return SAP_OK;
}

/* `wait`: until the commit is as durable as the environment makes it. */
static int commit_outermost(SapTxnCtx *txn, bool wait, uint64_t *lsn_out)
{
    DbFile *file = txn->env->file; /* once the transaction has ended, the environment may be gone */
    Committed done;
    int rc = commit_prepare(txn);
    if (rc == SAP_OK) {
        rc = commit_finish(txn, &done);
    } else {
        dbfile_hold(file);
        abort_one(txn);
    }
    if (rc != SAP_OK) {
        dbfile_not_committed(file);
        return rc;
    }
    *lsn_out = done.lsn;
    if (file != NULL) {
        return dbfile_committed(file, done.lsn, wait, done.hub, done.batch);
    }
    watch_deliver(done.hub, done.batch);
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

int exclusive_begin(SapEnv *env, unsigned flags, SapTxnCtx **txn_out)
{
    int rc = env->file != NULL ? dbfile_check(env->file, true) : SAP_OK;
    if (rc == SAP_OK) {
        rc = env_metadata_begin(env);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    SapTxnCtx *txn = NULL;
    rc = level_begin(env, NULL, false, &txn);
    if (rc != SAP_OK) {
        env_metadata_end(env);
        return rc;
    }
    txn->flags = flags;
    if (env->file != NULL) {
        env->log_effects = (flags & SAP_TXN_BULK) == 0 && dbfile_is_logged(env->file);
    }
    rc = subsystems_begin(txn);
    if (rc != SAP_OK) {
        (void)exclusive_end(txn, false, NULL);
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
int exclusive_end(SapTxnCtx *txn, bool keep, uint64_t *lsn_out)
{
    SapEnv *env = txn->env;
    DbFile *file = env->file;
    Committed done = {0};
    int rc = SAP_OK;
    if (keep) {
        rc = commit_finish(txn, &done);
    } else {
        dbfile_hold(file);
        abort_one(txn);
    }
    atomic_store_full(&env->gate, false);
    mutex_unlock(&env->metadata);
    if (!keep || rc != SAP_OK) {
        dbfile_not_committed(file);
    } else if (lsn_out != NULL) {
        *lsn_out = done.lsn;
    }
    return rc;
}

int replay_begin(SapEnv *env, SapTxnCtx **txn_out)
{
    bool free = writer_lock_take(&env->lock, false);
    SAP_ASSERT(free);
    env->log_effects = false;
    int rc = level_begin(env, NULL, false, txn_out);
    if (rc != SAP_OK) {
        writer_lock_release(&env->lock);
        return rc;
    }
    (*txn_out)->flags = TXN_UNHEARD;
    env->pager.rescue = true; /* what was committed had its pages then */
    return SAP_OK;
}

int replay_end(SapTxnCtx *txn, uint64_t txnid)
{
    SapEnv *env = txn->env;
    int rc = pager_prepare_commit(&env->pager);
    if (rc == SAP_OK && txnid != 0) {
        rc = dbfile_check_level(env->file, txn);
    }
    if (rc != SAP_OK || txnid == 0) {
        abort_one(txn);
        return rc;
    }
    SAP_ASSERT(txnid >= env->stamp);
    env->stamp = txnid;
    tables_commit(txn);
    publish(txn);
    env->undo_count = 0;
    pager_commit(&env->pager, &txn->level, env->stamp);
    txn_end(txn);
    return SAP_OK;
}

static int commit(SapTxnCtx *txn, bool wait, uint64_t *lsn_out)
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
        rc = commit_outermost(txn, wait, &lsn);
    }
    if (rc == SAP_OK && lsn_out != NULL) {
        *lsn_out = lsn;
    }
    return rc;
}

int sap_txn_commit(SapTxnCtx *txn)
{
    return commit(txn, true, NULL);
}

int sap_txn_commit_async(SapTxnCtx *txn, uint64_t *lsn_out)
{
    return commit(txn, false, lsn_out);
}

uint64_t sap_txn_base_lsn(SapTxnCtx *txn)
{
    return txn_is_open(txn) ? txn->base : 0;
}

/* ---- Around a transaction ------------------------------------------------------------------- */

SapMemArena *sap_txn_arena(SapTxnCtx *txn)
{
    return txn_is_open(txn) ? txn->env->arena : NULL;
}

SapEnv *sap_txn_env(SapTxnCtx *txn)
{
    return txn_is_open(txn) ? txn->env : NULL;
}

unsigned sap_txn_flags(SapTxnCtx *txn)
{
    return txn_is_open(txn) ? txn->flags : 0;
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

/* ---- Durability; in memory what is published is durable ------------------------------------- */

int sap_db_sync(SapEnv *db)
{
    if (!env_usable(db)) {
        return SAP_ERROR;
    }
    return db->file != NULL ? dbfile_sync(db->file) : SAP_OK;
}

uint64_t sap_db_durable_lsn(SapEnv *db)
{
    if (!env_usable(db)) {
        return 0;
    }
    Version version;
    version_get(db->file != NULL ? dbfile_durable(db->file) : &db->newest, &version);
    return version.txnid;
}

int sap_db_wait_durable(SapEnv *db, uint64_t lsn)
{
    if (!env_usable(db)) {
        return SAP_ERROR;
    }
    Version newest;
    version_get(&db->newest, &newest);
    if (lsn > newest.txnid) {
        return SAP_ERROR;
    }
    return db->file != NULL ? dbfile_wait(db->file, lsn) : SAP_OK;
}
