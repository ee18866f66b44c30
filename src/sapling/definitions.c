/* definitions.c - tables as a file remembers them.
 *
 * The catalog holds, beside the roots, the definition of every table but a DBI 0 in byte order,
 * which needs none:
 *   key    u16 big-endian DBI, u8 1
 *   value  u32 flags, little-endian; u8 length and name of the comparator of keys, the same of
 *          values; length 0: bytes
 * A change of a definition is one transaction and one effect in the log. */
#include "sapling/dbfile.h"

#include <string.h>

#include "common/assert.h"
#include "sapling/effects.h"
#include "sapling/tree.h"

enum {
    DEF_TAG = 1,
    NAME_MAX_LEN = DBFILE_NAME_SIZE - 1,
};
_Static_assert(DEF_VALUE_MAX == 4 + 2 * (1 + NAME_MAX_LEN), "flags and two names");

int definition_name(const SapEnv *env, TableDef *def)
{
    if (env->file == NULL) {
        return SAP_OK;
    }
    const NamedOrder *keys = dbfile_order_of(env->file, def->keys);
    const NamedOrder *vals = dbfile_order_of(env->file, def->vals);
    if ((def->keys.cmp != NULL && keys == NULL) || (def->vals.cmp != NULL && vals == NULL)) {
        return SAP_ERROR;
    }
    def->key_name = def->keys.cmp != NULL ? keys->name : NULL;
    def->val_name = def->vals.cmp != NULL ? vals->name : NULL;
    return SAP_OK;
}

/* ---- In the catalog ------------------------------------------------------------------------- */

static uint32_t encode_name(uint8_t *to, const char *name)
{
    Slice text = slice_from_str(name);
    SAP_ASSERT(text.len <= NAME_MAX_LEN);
    to[0] = (uint8_t)text.len;
    if (text.len > 0) {
        memcpy(to + 1, text.data, text.len);
    }
    return 1 + (uint32_t)text.len;
}

uint32_t definition_encode(const Table *table, uint32_t dbi, uint8_t key[DEF_KEY],
                           uint8_t val[DEF_VALUE_MAX])
{
    store_u16be(key, (uint16_t)dbi);
    key[CATALOG_KEY] = DEF_TAG;
    store_u32le(val, table->flags);
    uint32_t len = 4;
    len += encode_name(val + len, table->key_name);
    len += encode_name(val + len, table->val_name);
    return len;
}

int definition_put(SapTxnCtx *txn, uint32_t dbi)
{
    uint8_t key[DEF_KEY];
    uint8_t val[DEF_VALUE_MAX];
    uint32_t len = definition_encode(&txn->env->tables[dbi], dbi, key, val);
    return catalog_put_row(txn, key, DEF_KEY, val, len);
}

/* A comparator's name of the file, looked up among the options'. */
static int resolve(const SapEnv *env, uint32_t dbi, Slice name, KeyOrder *order_out,
                   const char **name_out)
{
    *order_out = (KeyOrder){0};
    *name_out = NULL;
    if (name.len == 0) {
        return SAP_OK;
    }
    const NamedOrder *named = dbfile_order_named(env->file, (const char *)name.data, name.len);
    if (named == NULL) {
        return dbfile_report(
            env->file, SAP_ERROR,
            "table %u is ordered by the comparator \"%.*s\", which the options "
            "given to db_open_path() do not have: it needs the program that made it",
            dbi, (int)name.len, (const char *)name.data);
    }
    *order_out = named->order;
    *name_out = named->name;
    return SAP_OK;
}

static int resolve_def(const SapEnv *env, uint32_t dbi, unsigned flags, Slice key_name,
                       Slice val_name, TableDef *def_out)
{
    if (!definition_valid(dbi, flags, key_name, val_name)) {
        return SAP_CORRUPT;
    }
    def_out->flags = flags;
    int rc = resolve(env, dbi, key_name, &def_out->keys, &def_out->key_name);
    return rc == SAP_OK ? resolve(env, dbi, val_name, &def_out->vals, &def_out->val_name) : rc;
}

int definition_replay(SapTxnCtx *txn, uint32_t dbi, unsigned flags, Slice key_name, Slice val_name)
{
    SapEnv *env = txn->env;
    TableDef def = {0};
    int rc = resolve_def(env, dbi, flags, key_name, val_name, &def);
    if (rc != SAP_OK) {
        return rc;
    }
    const Table *table = table_get(env, dbi);
    if (table != NULL && table->tree.root != 0) {
        return SAP_CORRUPT;
    }
    Table before;
    rc = table_define(env, dbi, &def, &before);
    if (rc == SAP_OK) {
        table_keep(&before);
        rc = definition_put(txn, dbi);
    }
    return rc;
}

/* ---- Opening -------------------------------------------------------------------------------- */

int definition_decode(const LeafRow *row, uint32_t *dbi_out, unsigned *flags_out, Slice names[2])
{
    ByteReader reader;
    uint32_t flags = 0;
    reader_init(&reader, row->val, row->stored);
    if (row->key_len != DEF_KEY || row->val_code == CELL_VAL_ELSEWHERE) {
        return SAP_CORRUPT;
    }
    int rc = row->key[CATALOG_KEY] == DEF_TAG ? reader_u32le(&reader, &flags) : SAP_INVALID;
    for (size_t i = 0; i < 2 && rc == SAP_OK; i++) {
        uint8_t len = 0;
        const uint8_t *bytes = NULL;
        rc = reader_u8(&reader, &len);
        if (rc == SAP_OK) {
            rc = reader_bytes(&reader, len, &bytes);
        }
        names[i] = (Slice){bytes, len};
    }
    if (rc != SAP_OK || reader.left != 0) {
        return SAP_CORRUPT;
    }
    *dbi_out = load_u16be(row->key);
    *flags_out = flags;
    return SAP_OK;
}

bool definition_valid(uint32_t dbi, unsigned flags, Slice key_name, Slice val_name)
{
    bool known = flags == 0 || flags == SAP_DBI_DUPSORT || flags == SAP_DBI_TTL_META;
    return dbi <= SAP_MAX_DBI && known && key_name.len <= NAME_MAX_LEN &&
           val_name.len <= NAME_MAX_LEN && (val_name.len == 0 || flags == SAP_DBI_DUPSORT);
}

static int load_definition(SapEnv *env, const LeafRow *row)
{
    uint32_t dbi = 0;
    unsigned flags = 0;
    Slice names[2];
    int rc = definition_decode(row, &dbi, &flags, names);
    if (rc != SAP_OK) {
        return rc;
    }
    TableDef def = {0};
    rc = resolve_def(env, dbi, flags, names[0], names[1], &def);
    Table before;
    if (rc == SAP_OK) {
        rc = table_define(env, dbi, &def, &before);
    }
    if (rc == SAP_OK) {
        table_keep(&before);
    }
    return rc;
}

static int load_root(SapEnv *env, const LeafRow *row)
{
    uint32_t dbi = load_u16be(row->key);
    TreeState tree;
    int rc = catalog_decode_root(row->val, row->stored, &tree);
    if (rc != SAP_OK || table_get(env, dbi) == NULL ||
        !checkpoint_has_pages(env->file, tree.root, 1)) {
        return SAP_CORRUPT;
    }
    env->file->found.roots[dbi] = tree.root;
    env->tables[dbi].tree = tree;
    return SAP_OK;
}

/* One walk over the catalog: first for the definitions, then for the roots. */
static int load_rows(SapEnv *env, uint32_t catalog, uint32_t key_len,
                     int (*load)(SapEnv *env, const LeafRow *row))
{
    Path path;
    int rc = tree_first(env, catalog, &path);
    while (rc == SAP_OK) {
        LeafRow row = path_row(&path);
        if (row.val_code == CELL_VAL_ELSEWHERE ||
            (row.key_len != CATALOG_KEY && row.key_len != DEF_KEY)) {
            return SAP_CORRUPT;
        }
        rc = row.key_len == key_len ? load(env, &row) : SAP_OK;
        if (rc == SAP_OK) {
            rc = tree_next(env, &path);
        }
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

int definitions_load(SapEnv *env, uint32_t catalog)
{
    int rc = load_rows(env, catalog, DEF_KEY, load_definition);
    return rc == SAP_OK ? load_rows(env, catalog, CATALOG_KEY, load_root) : rc;
}

/* ---- Changing ------------------------------------------------------------------------------- */

/* Within the transaction, which excludes all others. */
static int change(SapTxnCtx *txn, uint32_t dbi, const TableDef *def, bool is_new, Table *before_out)
{
    SapEnv *env = txn->env;
    const Table *table = table_get(env, dbi);
    if (table != NULL && (is_new || table->tree.root != 0 || table->watches > 0)) {
        return is_new ? SAP_EXISTS : SAP_ERROR;
    }
    int rc = table_define(env, dbi, def, before_out);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = definition_put(txn, dbi);
    if (rc == SAP_OK) {
        rc = effects_define(txn, dbi, def->flags, def->key_name, def->val_name);
    }
    if (rc == SAP_OK) {
        rc = exclusive_prepare(txn);
    }
    if (rc != SAP_OK) {
        table_take_back(env, dbi, before_out);
    }
    return rc;
}

int definition_change(SapEnv *env, uint32_t dbi, const TableDef *def, bool is_new)
{
    SapTxnCtx *txn = NULL;
    if (!is_new && writer_lock_is_held(&env->lock)) {
        return SAP_BUSY; /* as it would be below, but without waiting for it */
    }
    /* Readers of the durable version see the table by its new definition: it must be empty there
     * too. */
    Version newest;
    version_get(&env->newest, &newest);
    int rc = is_new ? SAP_OK : dbfile_wait(env->file, newest.txnid);
    if (rc == SAP_OK) {
        rc = exclusive_begin(env, 0, &txn);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    if (!is_new && dbfile_durable_txnid(env->file) < txn->base) {
        (void)exclusive_end(txn, false, NULL);
        return SAP_BUSY;
    }
    Table before;
    rc = change(txn, dbi, def, is_new, &before);
    if (rc != SAP_OK) {
        (void)exclusive_end(txn, false, NULL);
        return rc;
    }
    table_keep(&before);
    uint64_t lsn = 0;
    DbFile *file = env->file;
    rc = exclusive_end(txn, true, &lsn);
    return rc == SAP_OK ? dbfile_defined(file, lsn) : rc;
}
