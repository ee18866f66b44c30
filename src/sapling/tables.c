/* tables.c - the tables of an environment and the catalog that holds their roots.
 *
 * The catalog is a tree like the others. Its rows, for tables that are not empty:
 *   key    u16 big-endian, the DBI
 *   value  u32 root page, u32 zero, u64 rows; little-endian
 * The writer's roots are in Table.tree and reach the catalog with the outermost commit. So that
 * this cannot fail, a level that changes a table for the first time makes sure that the catalog has
 * a row for it, in pages that are the level's own: the commit then overwrites it in place. */
#include <string.h>

#include "common/assert.h"
#include "common/mem.h"
#include "sapling/tree.h"

enum {
    CATALOG_KEY = 2,
    CATALOG_ROOT = 0,
    CATALOG_ENTRIES = 8,
    CATALOG_VALUE = 16,
};

/* ---- Opening -------------------------------------------------------------------------------- */

/* Sets what depends on the orders of keys and values. */
static void table_set_order(Table *table, uint32_t dbi, KeyOrder key_order, PairOrder *pairs)
{
    table->key_order = key_order;
    table->pairs = pairs;
    table->order = key_order;
    if (pairs != NULL) {
        pairs->key_cmp = key_order.cmp;
        pairs->key_ctx = key_order.ctx;
        table->order = (KeyOrder){.cmp = pair_compare, .ctx = pairs};
    }
    table->page_flags = dbi | (table->order.cmp != NULL ? (uint32_t)PAGE_PLAIN : 0);
}

static int tables_reserve(SapEnv *env, uint32_t count)
{
    if (count <= env->table_count) {
        return SAP_OK;
    }
    Table *tables = (Table *)mem_resize(MEM_ENV, env->tables, env->table_count * sizeof *tables,
                                        count * sizeof *tables);
    if (tables == NULL) {
        return SAP_NOMEM;
    }
    memset(tables + env->table_count, 0, (count - env->table_count) * sizeof *tables);
    env->tables = tables;
    env->table_count = count;
    return SAP_OK;
}

int table_define(SapEnv *env, uint32_t dbi, KeyOrder key_order, unsigned flags)
{
    int rc = tables_reserve(env, dbi + 1);
    if (rc != SAP_OK) {
        return rc;
    }
    PairOrder *pairs = NULL;
    if ((flags & SAP_DBI_DUPSORT) != 0) {
        pairs = (PairOrder *)mem_zalloc(MEM_ENV, sizeof *pairs);
        if (pairs == NULL) {
            return SAP_NOMEM;
        }
    }
    Table *table = &env->tables[dbi];
    SAP_ASSERT(!table->open);
    *table = (Table){.open = true, .flags = flags};
    table_set_order(table, dbi, key_order, pairs);
    return SAP_OK;
}

void table_undefine(SapEnv *env, uint32_t dbi)
{
    Table *table = &env->tables[dbi];
    SAP_ASSERT(table->open && table->tree.root == 0 && table->watches == 0);
    mem_free(MEM_ENV, table->pairs, sizeof *table->pairs);
    *table = (Table){0};
}

int sap_btree_subsystem_init(SapEnv *env, sap_keycmp_fn cmp, void *ctx)
{
    if (env == NULL) {
        return SAP_ERROR;
    }
    int rc = env_metadata_begin(env);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = env->table_count > 0 ? SAP_EXISTS
                              : table_define(env, 0, (KeyOrder){.cmp = cmp, .ctx = ctx}, 0);
    if (rc == SAP_OK) {
        table_set_order(&env->catalog, ENV_CATALOG, (KeyOrder){0}, NULL);
    }
    env_metadata_end(env);
    return rc;
}

SapEnv *sap_db_open(SapMemArena *arena, uint32_t page_size, sap_keycmp_fn cmp, void *ctx)
{
    SapEnv *env = sap_env_create(arena, page_size);
    if (env != NULL && sap_btree_subsystem_init(env, cmp, ctx) != SAP_OK) {
        (void)sap_env_destroy(env);
        env = NULL;
    }
    return env;
}

int sap_db_close(SapEnv *db)
{
    return sap_env_destroy(db);
}

static bool table_is(const Table *table, sap_keycmp_fn cmp, const void *ctx, unsigned flags)
{
    return table->key_order.cmp == cmp && table->key_order.ctx == ctx && table->flags == flags;
}

int sap_dbi_open(SapEnv *db, uint32_t dbi, sap_keycmp_fn cmp, void *cmp_ctx, unsigned flags)
{
    if (db == NULL || dbi > SAP_MAX_DBI ||
        (flags != 0 && flags != SAP_DBI_DUPSORT && flags != SAP_DBI_TTL_META)) {
        return SAP_ERROR;
    }
    mutex_lock(&db->metadata);
    const Table *table = table_get(db, dbi);
    bool known = table != NULL;
    bool same = known && table_is(table, cmp, cmp_ctx, flags);
    bool ready = db->table_count > 0;
    mutex_unlock(&db->metadata);
    if (!ready || known) {
        return same ? SAP_OK : SAP_ERROR;
    }
    int rc = env_metadata_begin(db);
    if (rc != SAP_OK) {
        return rc;
    }
    table = table_get(db, dbi); /* another thread may have been first */
    if (table == NULL) {
        rc = table_define(db, dbi, (KeyOrder){.cmp = cmp, .ctx = cmp_ctx}, flags);
    } else {
        rc = table_is(table, cmp, cmp_ctx, flags) ? SAP_OK : SAP_ERROR;
    }
    env_metadata_end(db);
    return rc;
}

/* The caller holds the metadata. */
static int set_dupsort(SapEnv *db, uint32_t dbi, sap_keycmp_fn vcmp, void *vcmp_ctx)
{
    Table *table = &db->tables[dbi];
    if (table->tree.root != 0 || table->watches > 0 || (table->flags & SAP_DBI_TTL_META) != 0) {
        return SAP_ERROR;
    }
    PairOrder *pairs = table->pairs;
    if (pairs == NULL) {
        pairs = (PairOrder *)mem_zalloc(MEM_ENV, sizeof *pairs);
        if (pairs == NULL) {
            return SAP_NOMEM;
        }
    }
    pairs->val_cmp = vcmp;
    pairs->val_ctx = vcmp_ctx;
    table->flags |= SAP_DBI_DUPSORT;
    table_set_order(table, dbi, table->key_order, pairs);
    return SAP_OK;
}

int sap_dbi_set_dupsort(SapEnv *db, uint32_t dbi, sap_keycmp_fn vcmp, void *vcmp_ctx)
{
    if (db == NULL) {
        return SAP_ERROR;
    }
    mutex_lock(&db->metadata);
    const Table *table = table_get(db, dbi);
    bool known = table != NULL;
    bool same = known && table->pairs != NULL && table->pairs->val_cmp == vcmp &&
                table->pairs->val_ctx == vcmp_ctx;
    mutex_unlock(&db->metadata);
    if (!known || same) {
        return same ? SAP_OK : SAP_ERROR;
    }
    int rc = env_metadata_begin(db);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = set_dupsort(db, dbi, vcmp, vcmp_ctx);
    env_metadata_end(db);
    return rc;
}

void tables_destroy(SapEnv *env)
{
    for (uint32_t dbi = 0; dbi < env->table_count; dbi++) {
        tree_destroy(env, env->tables[dbi].tree.root);
        mem_free(MEM_ENV, env->tables[dbi].pairs, sizeof(PairOrder));
    }
    tree_destroy(env, env->catalog.tree.root);
    mem_free(MEM_ENV, env->tables, env->table_count * sizeof *env->tables);
}

/* ---- Roots ---------------------------------------------------------------------------------- */

int table_state(SapTxnCtx *txn, uint32_t dbi, TreeState *tree_out)
{
    SapEnv *env = txn->env;
    if (txn->kind != TXN_READER) {
        *tree_out = env->tables[dbi].tree;
        return SAP_OK;
    }
    CachedTree *cached = &txn->cache[dbi % TXN_TREE_CACHE];
    if (cached->dbi_plus_1 != dbi + 1) {
        uint8_t key[CATALOG_KEY];
        store_u16be(key, (uint16_t)dbi);
        LeafRow row;
        TreeState tree = {0};
        if (tree_get(env, txn->catalog, env->catalog.order, key, CATALOG_KEY, &row)) {
            if (row.stored != CATALOG_VALUE) {
                return SAP_CORRUPT;
            }
            tree.root = load_u32le(row.val + CATALOG_ROOT);
            tree.entries = load_u64le(row.val + CATALOG_ENTRIES);
        }
        *cached = (CachedTree){.dbi_plus_1 = dbi + 1, .tree = tree};
    }
    *tree_out = cached->tree;
    return SAP_OK;
}

static Table *table_or_catalog(SapEnv *env, uint32_t dbi)
{
    return dbi == ENV_CATALOG ? &env->catalog : &env->tables[dbi];
}

static int undo_reserve(SapEnv *env, uint32_t more)
{
    if (env->undo_capacity - env->undo_count >= more) {
        return SAP_OK;
    }
    uint32_t capacity = env->undo_capacity == 0 ? 8 : env->undo_capacity * 2;
    TreeUndo *undo = (TreeUndo *)mem_resize(MEM_ENV, env->undo, env->undo_capacity * sizeof *undo,
                                            capacity * sizeof *undo);
    if (undo == NULL) {
        return SAP_NOMEM;
    }
    env->undo = undo;
    env->undo_capacity = capacity;
    return SAP_OK;
}

static int catalog_put(SapTxnCtx *txn, uint32_t dbi, TreeState tree)
{
    SapEnv *env = txn->env;
    Table *catalog = &env->catalog;
    uint8_t key[CATALOG_KEY];
    uint8_t val[CATALOG_VALUE] = {0};
    store_u16be(key, (uint16_t)dbi);
    store_u32le(val + CATALOG_ROOT, tree.root);
    store_u64le(val + CATALOG_ENTRIES, tree.entries);
    LeafRow row = {.key = key,
                   .key_len = CATALOG_KEY,
                   .val = val,
                   .stored = CATALOG_VALUE,
                   .val_code = CATALOG_VALUE};
    Path path;
    TreeChange change;
    return tree_seek(env, catalog->tree.root, catalog->order, key, CATALOG_KEY, &path)
               ? tree_replace(txn, ENV_CATALOG, catalog, &path, &row, &change)
               : tree_insert(txn, ENV_CATALOG, catalog, &path, &row, &change);
}

static void catalog_remove(SapTxnCtx *txn, uint32_t dbi)
{
    Table *catalog = &txn->env->catalog;
    uint8_t key[CATALOG_KEY];
    store_u16be(key, (uint16_t)dbi);
    Path path;
    TreeChange change;
    bool there = tree_seek(txn->env, catalog->tree.root, catalog->order, key, CATALOG_KEY, &path);
    int rc = there ? tree_delete(txn, ENV_CATALOG, catalog, &path, &change) : SAP_CORRUPT;
    SAP_ASSERT(rc == SAP_OK);
}

int table_save(SapTxnCtx *txn, uint32_t dbi, Table *table)
{
    if (table->saved_at >= txn->level.stamp) {
        return SAP_OK;
    }
    SapEnv *env = txn->env;
    int rc = undo_reserve(env, 2); /* the catalog's and this one */
    if (rc == SAP_OK && dbi != ENV_CATALOG) {
        rc = catalog_put(txn, dbi, table->tree);
    }
    if (rc == SAP_OK) {
        env->undo[env->undo_count++] =
            (TreeUndo){.dbi = dbi, .tree = table->tree, .saved_at = table->saved_at};
        table->saved_at = txn->level.stamp;
    }
    return rc;
}

void tables_abort(SapTxnCtx *txn)
{
    SapEnv *env = txn->env;
    while (env->undo_count > txn->undo_start) {
        const TreeUndo *undo = &env->undo[--env->undo_count];
        Table *table = table_or_catalog(env, undo->dbi);
        table->tree = undo->tree;
        table->saved_at = undo->saved_at;
    }
}

/* The child's changes become the parent's: what the parent has saved needs no second entry. */
void tables_merge(SapTxnCtx *txn)
{
    SapEnv *env = txn->env;
    uint32_t kept = txn->undo_start;
    for (uint32_t i = txn->undo_start; i < env->undo_count; i++) {
        if (env->undo[i].saved_at < txn->parent->level.stamp) {
            env->undo[kept++] = env->undo[i];
        }
    }
    env->undo_count = kept;
}

void tables_commit(SapTxnCtx *txn)
{
    SapEnv *env = txn->env;
    for (uint32_t i = 0; i < env->undo_count; i++) {
        uint32_t dbi = env->undo[i].dbi;
        if (dbi == ENV_CATALOG) {
            continue;
        }
        if (env->tables[dbi].tree.root == 0) {
            catalog_remove(txn, dbi);
        } else {
            int rc = catalog_put(txn, dbi, env->tables[dbi].tree);
            SAP_ASSERT(rc == SAP_OK);
        }
    }
}

/* ---- Stat ----------------------------------------------------------------------------------- */

int sap_dbi_stat(SapTxnCtx *txn, uint32_t dbi, SapStat *stat_out)
{
    int rc = txn_check(txn);
    if (rc != SAP_OK) {
        return rc;
    }
    SapEnv *env = txn->env;
    if (stat_out == NULL || table_get(env, dbi) == NULL) {
        return SAP_ERROR;
    }
    TreeState tree;
    rc = table_state(txn, dbi, &tree);
    if (rc != SAP_OK) {
        return rc;
    }
    *stat_out = (SapStat){
        .num_entries = tree.entries,
        .txnid = txn->base,
        .tree_depth = tree.root == 0 ? 0 : page_level(arena_page(env->arena, tree.root)) + 1,
        .num_pages = atomic_load_relaxed(&env->pager.page_count),
        .page_size = env->page_size,
        .has_write_txn = writer_lock_is_held(&env->lock) ? 1 : 0,
    };
    return SAP_OK;
}

int sap_txn_stat(SapTxnCtx *txn, SapStat *stat_out)
{
    return sap_dbi_stat(txn, 0, stat_out);
}

int sap_db_stat(SapEnv *db, SapStat *stat_out)
{
    SapTxnCtx *txn = NULL;
    int rc = sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = sap_txn_stat(txn, stat_out);
    sap_txn_abort(txn);
    return rc;
}

uint64_t sap_db_num_pages(SapEnv *db)
{
    return db == NULL ? 0 : atomic_load_relaxed(&db->pager.page_count);
}
