/* tables.c - the tables of an environment and the catalog that holds their roots.
 *
 * The catalog is a tree like the others. Its rows, for tables that are not empty:
 *   key    u16 big-endian, the DBI
 *   value  u32 root page, u32 zero, u64 rows; little-endian
 * In a file it also holds definitions: see definitions.c.
 * The writer's roots are in Table.tree and reach the catalog with the outermost commit. So that
 * this cannot fail, a level that changes a table for the first time makes sure that the catalog has
 * a row for it, in pages that are the level's own: the commit then overwrites it in place. */
#include <string.h>

#include "common/assert.h"
#include "common/mem.h"
#include "sapling/dbfile.h"
#include "sapling/tree.h"

enum {
    CATALOG_ROOT = 0,
    CATALOG_ENTRIES = 8,
};

/* ---- Opening -------------------------------------------------------------------------------- */

/* Sets what depends on the orders of keys and values. */
static void table_set_order(Table *table, uint32_t dbi, KeyOrder key_order, PairOrder *pairs)
{
    table->key_order = key_order;
    table->pairs = pairs;
    table->order = key_order;
    if (pairs != NULL) {
        pairs->keys = key_order;
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

int table_define(SapEnv *env, uint32_t dbi, const TableDef *def, Table *before_out)
{
    int rc = tables_reserve(env, dbi + 1);
    if (rc != SAP_OK) {
        return rc;
    }
    PairOrder *pairs = NULL;
    if ((def->flags & SAP_DBI_DUPSORT) != 0) {
        pairs = (PairOrder *)mem_zalloc(MEM_ENV, sizeof *pairs);
        if (pairs == NULL) {
            return SAP_NOMEM;
        }
        pairs->values = def->vals;
    }
    Table *table = &env->tables[dbi];
    SAP_ASSERT(table->tree.root == 0);
    *before_out = *table;
    table->open = true;
    table->flags = def->flags;
    table->key_name = def->key_name;
    table->val_name = def->val_name;
    table_set_order(table, dbi, def->keys, pairs);
    return SAP_OK;
}

void table_keep(const Table *before)
{
    mem_free(MEM_ENV, before->pairs, sizeof *before->pairs);
}

void table_take_back(SapEnv *env, uint32_t dbi, const Table *before)
{
    Table *table = &env->tables[dbi];
    SAP_ASSERT(table->open && table->tree.root == 0);
    mem_free(MEM_ENV, table->pairs, sizeof *table->pairs);
    *table = *before;
}

/* Opens or changes a table in memory, under env_metadata_begin(). */
static int define_in_memory(SapEnv *env, uint32_t dbi, const TableDef *def)
{
    Table before;
    int rc = table_define(env, dbi, def, &before);
    if (rc == SAP_OK) {
        table_keep(&before);
    }
    return rc;
}

int sap_btree_subsystem_init(SapEnv *env, sap_keycmp_fn cmp, void *ctx)
{
    if (!env_usable(env)) {
        return SAP_ERROR;
    }
    int rc = env_metadata_begin(env);
    if (rc != SAP_OK) {
        return rc;
    }
    TableDef def = {.keys = {.cmp = cmp, .ctx = ctx}};
    rc = env->table_count > 0 ? SAP_EXISTS : define_in_memory(env, 0, &def);
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

static bool table_is(const Table *table, const TableDef *def)
{
    return table->key_order.cmp == def->keys.cmp && table->key_order.ctx == def->keys.ctx &&
           table->flags == def->flags;
}

static int open_table(SapEnv *db, uint32_t dbi, TableDef *def)
{
    mutex_lock(&db->metadata);
    const Table *table = table_get(db, dbi);
    bool known = table != NULL;
    bool same = known && table_is(table, def);
    bool ready = db->table_count > 0;
    mutex_unlock(&db->metadata);
    if (!ready || known) {
        return same ? SAP_OK : SAP_ERROR;
    }
    int rc = definition_name(db, def);
    if (rc == SAP_OK && db->file != NULL) {
        rc = definition_change(db, dbi, def, true);
        return rc == SAP_EXISTS ? open_table(db, dbi, def) : rc; /* another thread was first */
    }
    if (rc != SAP_OK) {
        return rc;
    }
    rc = env_metadata_begin(db);
    if (rc != SAP_OK) {
        return rc;
    }
    table = table_get(db, dbi); /* another thread may have been first */
    if (table == NULL) {
        rc = define_in_memory(db, dbi, def);
    } else {
        rc = table_is(table, def) ? SAP_OK : SAP_ERROR;
    }
    env_metadata_end(db);
    return rc;
}

static bool dbi_valid(const SapEnv *db, uint32_t dbi, unsigned flags)
{
    return env_usable(db) && dbi <= SAP_MAX_DBI &&
           (flags == 0 || flags == SAP_DBI_DUPSORT || flags == SAP_DBI_TTL_META);
}

int sap_dbi_open(SapEnv *db, uint32_t dbi, sap_keycmp_fn cmp, void *cmp_ctx, unsigned flags)
{
    TableDef def = {.keys = {.cmp = cmp, .ctx = cmp_ctx}, .flags = flags};
    return dbi_valid(db, dbi, flags) ? open_table(db, dbi, &def) : SAP_ERROR;
}

int sap_dbi_open_named(SapEnv *db, uint32_t dbi, const char *comparator, unsigned flags)
{
    TableDef def = {.flags = flags};
    if (!dbi_valid(db, dbi, flags)) {
        return SAP_ERROR;
    }
    if (comparator != NULL) {
        const NamedOrder *named =
            db->file != NULL ? dbfile_order_named(db->file, comparator, strlen(comparator)) : NULL;
        if (named == NULL) {
            return SAP_ERROR;
        }
        def.keys = named->order;
    }
    return open_table(db, dbi, &def);
}

int sap_dbi_set_dupsort(SapEnv *db, uint32_t dbi, sap_keycmp_fn vcmp, void *vcmp_ctx)
{
    if (!env_usable(db)) {
        return SAP_ERROR;
    }
    mutex_lock(&db->metadata);
    const Table *table = table_get(db, dbi);
    bool known = table != NULL;
    bool same = known && table->pairs != NULL && table->pairs->values.cmp == vcmp &&
                table->pairs->values.ctx == vcmp_ctx;
    TableDef def = {.flags = SAP_DBI_DUPSORT,
                    .keys = known ? table->key_order : (KeyOrder){0},
                    .vals = {.cmp = vcmp, .ctx = vcmp_ctx}};
    bool ttl = known && (table->flags & SAP_DBI_TTL_META) != 0;
    mutex_unlock(&db->metadata);
    if (!known || same || ttl) {
        return same ? SAP_OK : SAP_ERROR;
    }
    int rc = definition_name(db, &def);
    if (rc != SAP_OK || db->file != NULL) {
        return rc == SAP_OK ? definition_change(db, dbi, &def, false) : rc;
    }
    rc = env_metadata_begin(db);
    if (rc != SAP_OK) {
        return rc;
    }
    table = &db->tables[dbi];
    rc = table->tree.root != 0 || table->watches > 0 ? SAP_ERROR : define_in_memory(db, dbi, &def);
    env_metadata_end(db);
    return rc;
}

int sap_dbi_info(SapEnv *db, uint32_t dbi, SapDbiInfo *info_out)
{
    if (!env_usable(db) || info_out == NULL) {
        return SAP_ERROR;
    }
    mutex_lock(&db->metadata);
    const Table *table = table_get(db, dbi);
    if (table != NULL) {
        *info_out = (SapDbiInfo){.flags = table->flags,
                                 .comparator = table->key_name,
                                 .val_comparator = table->val_name};
    }
    mutex_unlock(&db->metadata);
    return table != NULL ? SAP_OK : SAP_NOTFOUND;
}

void tables_destroy(SapEnv *env)
{
    bool in_memory = env->file == NULL; /* a file's pages are not given back */
    for (uint32_t dbi = 0; dbi < env->table_count; dbi++) {
        tree_destroy(env, in_memory ? env->tables[dbi].tree.root : 0);
        mem_free(MEM_ENV, env->tables[dbi].pairs, sizeof(PairOrder));
    }
    tree_destroy(env, in_memory ? env->catalog.tree.root : 0);
    mem_free(MEM_ENV, env->tables, env->table_count * sizeof *env->tables);
}

/* ---- Roots ---------------------------------------------------------------------------------- */

void catalog_encode_root(TreeState tree, uint8_t val[CATALOG_VALUE])
{
    memset(val, 0, CATALOG_VALUE);
    store_u32le(val + CATALOG_ROOT, tree.root);
    store_u64le(val + CATALOG_ENTRIES, tree.entries);
}

int catalog_decode_root(const uint8_t *val, uint32_t len, TreeState *tree_out)
{
    if (len != CATALOG_VALUE) {
        return SAP_CORRUPT;
    }
    tree_out->root = load_u32le(val + CATALOG_ROOT);
    tree_out->entries = load_u64le(val + CATALOG_ENTRIES);
    return SAP_OK;
}

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
        int rc = tree_get(env, txn->catalog, env->catalog.order, key, CATALOG_KEY, &row);
        if (rc == SAP_OK) {
            rc = catalog_decode_root(row.val, row.stored, &tree);
        }
        if (rc != SAP_OK && rc != SAP_NOTFOUND) {
            return rc;
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

int catalog_put_row(SapTxnCtx *txn, const uint8_t *key, uint32_t key_len, const uint8_t *val,
                    uint32_t val_len)
{
    Table *catalog = &txn->env->catalog;
    LeafRow row = {.key = key,
                   .key_len = key_len,
                   .val = val,
                   .stored = val_len,
                   .val_code = (uint16_t)val_len};
    Path path;
    TreeChange change;
    int rc = tree_seek(txn->env, catalog->tree.root, catalog->order, key, key_len, &path);
    if (rc == SAP_OK) {
        return tree_replace(txn, ENV_CATALOG, catalog, &path, &row, &change);
    }
    return rc == SAP_NOTFOUND ? tree_insert(txn, ENV_CATALOG, catalog, &path, &row, &change) : rc;
}

static int catalog_put(SapTxnCtx *txn, uint32_t dbi, TreeState tree)
{
    uint8_t key[CATALOG_KEY];
    uint8_t val[CATALOG_VALUE];
    store_u16be(key, (uint16_t)dbi);
    catalog_encode_root(tree, val);
    return catalog_put_row(txn, key, CATALOG_KEY, val, CATALOG_VALUE);
}

static void catalog_remove(SapTxnCtx *txn, uint32_t dbi)
{
    Table *catalog = &txn->env->catalog;
    uint8_t key[CATALOG_KEY];
    store_u16be(key, (uint16_t)dbi);
    Path path;
    TreeChange change;
    int rc = tree_seek(txn->env, catalog->tree.root, catalog->order, key, CATALOG_KEY, &path);
    if (rc == SAP_OK) {
        rc = tree_delete(txn, ENV_CATALOG, catalog, &path, &change);
    }
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
        /* Deletes begin with this, too; others come no further where there is no room. */
        bool before = pager_use_rescue(&env->pager, true);
        rc = catalog_put(txn, dbi, table->tree);
        pager_use_rescue(&env->pager, before);
    }
    if (rc == SAP_OK) {
        env->undo[env->undo_count++] =
            (TreeUndo){.dbi = dbi, .tree = table->tree, .saved_at = table->saved_at};
        table->saved_at = txn->level.stamp;
    }
    return rc;
}

TreeState table_committed(const SapEnv *env, uint32_t dbi)
{
    /* The outermost level that changed the table saved it first. */
    for (uint32_t i = 0; i < env->undo_count; i++) {
        if (env->undo[i].dbi == dbi) {
            return env->undo[i].tree;
        }
    }
    return env->tables[dbi].tree;
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
    uint32_t depth = 0;
    if (rc == SAP_OK && tree.root != 0) {
        uint8_t *root = NULL;
        rc = arena_load(env->arena, tree.root, &root);
        depth = rc == SAP_OK ? page_level(root) + 1 : 0;
    }
    if (rc != SAP_OK) {
        return rc;
    }
    *stat_out = (SapStat){
        .num_entries = tree.entries,
        .txnid = txn->base,
        .tree_depth = depth,
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
    return env_usable(db) ? atomic_load_relaxed(&db->pager.page_count) : 0;
}
