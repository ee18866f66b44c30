/* stream.c - all tables as one stream of bytes, and back.
 *
 * Little-endian throughout:
 *   header   8 bytes "SAPSTRM1"
 *   table    u8 1, u16 DBI, u16 flags, u8 key order, u8 value order (0: bytes, 1: a comparator),
 *            u16 length of the comparators' names, names, u64 rows; then each row:
 *            u32 key length, u32 value length, key, value
 *   end      u8 0, u64 XXH3 of every byte before it
 * The names are that of the key order and, if the value order has one, u8 0 and that; in memory
 * comparators have none. Tables ascend by DBI, rows by the table's order. A table is in the stream if it has rows or
 * flags. Nothing depends on history, page size or machine: same content, same bytes. */
#include <string.h>

#include "common/assert.h"
#include "common/hash.h"
#include "sapling/dbfile.h"
#include "sapling/pieces.h"
#include "sapling/rows.h"
#include "sapling/tree_build.h"

enum {
    MAGIC_LEN = 8,
    TABLE_HEADER = 16, /* behind the tag: DBI, flags, orders, name length, rows */
    ROW_HEADER = 8,
    TAG_END = 0,
    TAG_TABLE = 1,
    NAMES_MAX = 2 * DBFILE_NAME_SIZE,
};

static const uint8_t magic[MAGIC_LEN] = {'S', 'A', 'P', 'S', 'T', 'R', 'M', '1'};

/* ---- Writing -------------------------------------------------------------------------------- */

typedef struct Out {
    Pieces pieces;
    HashState hash;
} Out;

static int out_bytes(Out *out, const void *bytes, uint32_t len)
{
    if (len == 0) {
        return SAP_OK;
    }
    hash_update(&out->hash, bytes, len);
    return pieces_put(&out->pieces, bytes, len);
}

/* SAP_CORRUPT: there are not as many. */
static int write_rows(Out *out, SapCursor *cur, uint64_t rows)
{
    int rc = SAP_OK;
    for (uint64_t i = 0; rc == SAP_OK; i++) {
        rc = sap_cursor_next(cur);
        if (rc == SAP_NOTFOUND || (rc == SAP_OK && i == rows)) {
            return rc == SAP_NOTFOUND && i == rows ? SAP_OK : SAP_CORRUPT;
        }
        if (rc != SAP_OK) {
            return rc;
        }
        const void *key = NULL;
        const void *val = NULL;
        uint32_t key_len = 0;
        uint32_t val_len = 0;
        rc = sap_cursor_get(cur, &key, &key_len, &val, &val_len);
        uint8_t header[ROW_HEADER];
        store_u32le(header, key_len);
        store_u32le(header + 4, val_len);
        if (rc == SAP_OK) {
            rc = out_bytes(out, header, ROW_HEADER);
        }
        if (rc == SAP_OK) {
            rc = out_bytes(out, key, key_len);
        }
        if (rc == SAP_OK) {
            rc = out_bytes(out, val, val_len);
        }
    }
    return rc;
}

/* The names as the stream has them; their length. */
static uint32_t join_names(const Table *table, char names[NAMES_MAX])
{
    Slice keys = slice_from_str(table->key_name);
    Slice vals = slice_from_str(table->val_name);
    SAP_ASSERT(keys.len + 1 + vals.len <= NAMES_MAX);
    if (keys.len > 0) {
        memcpy(names, keys.data, keys.len);
    }
    if (vals.len == 0) {
        return (uint32_t)keys.len;
    }
    names[keys.len] = 0;
    memcpy(names + keys.len + 1, vals.data, vals.len);
    return (uint32_t)(keys.len + 1 + vals.len);
}

static int write_table(Out *out, SapTxnCtx *txn, uint32_t dbi, const Table *table, uint64_t rows)
{
    uint8_t header[1 + TABLE_HEADER] = {TAG_TABLE};
    char names[NAMES_MAX];
    uint32_t names_len = join_names(table, names);
    store_u16le(header + 1, (uint16_t)dbi);
    store_u16le(header + 3, (uint16_t)table->flags);
    header[5] = table->key_order.cmp != NULL ? 1 : 0;
    header[6] = table->pairs != NULL && table->pairs->values.cmp != NULL ? 1 : 0;
    store_u16le(header + 7, (uint16_t)names_len);
    store_u64le(header + 9, rows);
    int rc = out_bytes(out, header, 9);
    if (rc == SAP_OK) {
        rc = out_bytes(out, names, names_len);
    }
    if (rc == SAP_OK) {
        rc = out_bytes(out, header + 9, 8);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    SapCursor *cur = sap_cursor_open_dbi(txn, dbi);
    if (cur == NULL) {
        return SAP_NOMEM;
    }
    rc = write_rows(out, cur, rows);
    sap_cursor_close(cur);
    return rc;
}

static int write_stream(Out *out, SapTxnCtx *txn)
{
    SapEnv *env = txn->env;
    hash_init(&out->hash, 0);
    int rc = out_bytes(out, magic, MAGIC_LEN);
    for (uint32_t dbi = 0; dbi < env->table_count && rc == SAP_OK; dbi++) {
        TreeState tree = {0};
        const Table *table = table_get(env, dbi);
        if (table == NULL) {
            continue;
        }
        rc = table_state(txn, dbi, &tree);
        if (rc == SAP_OK && (tree.root != 0 || table->flags != 0)) {
            rc = write_table(out, txn, dbi, table, tree.entries);
        }
    }
    uint8_t end[9] = {TAG_END};
    if (rc == SAP_OK) {
        rc = out_bytes(out, end, 1);
    }
    store_u64le(end + 1, hash_final(&out->hash));
    if (rc == SAP_OK) {
        rc = out_bytes(out, end + 1, 8);
    }
    return rc == SAP_OK ? pieces_flush(&out->pieces) : rc;
}

int sap_txn_checkpoint(SapTxnCtx *txn, sap_write_fn writer, void *ctx)
{
    int rc = txn_check(txn);
    if (rc != SAP_OK) {
        return rc;
    }
    if (writer == NULL) {
        return SAP_ERROR;
    }
    Out out;
    rc = pieces_init(&out.pieces, writer, ctx);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = write_stream(&out, txn);
    pieces_release(&out.pieces);
    return rc;
}

int sap_db_checkpoint(SapEnv *db, sap_write_fn writer, void *ctx)
{
    SapTxnCtx *txn = NULL;
    int rc = sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn);
    if (rc == SAP_OK) {
        rc = sap_txn_checkpoint(txn, writer, ctx);
        sap_txn_abort(txn);
    }
    return rc;
}

/* ---- Reading -------------------------------------------------------------------------------- */

typedef struct In {
    sap_read_fn read;
    void *ctx;
    HashState hash;
    Buf key;
    Buf val;
    Buf last; /* the tree key of the row before, to see that rows ascend */
    uint64_t defined[(SAP_MAX_DBI + 64) / 64]; /* tables that this restore opened */
    /* Why a sound stream cannot be restored here. Whether it is sound shows at its end: from here
     * on it is read, not used. */
    int verdict;
} In;

static int in_bytes(In *in, void *to, uint32_t len)
{
    int rc = len > 0 ? in->read(to, len, in->ctx) : SAP_OK;
    if (rc == SAP_OK && len > 0) {
        hash_update(&in->hash, to, len);
    }
    return rc;
}

/* Reads in pieces: a length that damage made up does not take the memory for it. */
static int in_buf(In *in, Buf *buf, uint32_t len)
{
    buf_clear(buf);
    int rc = SAP_OK;
    while (len > 0 && rc == SAP_OK) {
        uint32_t part = len < PIECE_BYTES ? len : PIECE_BYTES;
        rc = buf_reserve(buf, part);
        if (rc == SAP_OK) {
            rc = in_bytes(in, buf->data + buf->len, part);
            buf->len += part;
            len -= part;
        }
    }
    return rc;
}

static int in_skip(In *in, uint64_t len)
{
    int rc = SAP_OK;
    while (len > 0 && rc == SAP_OK) {
        uint32_t part = len < PIECE_BYTES ? (uint32_t)len : PIECE_BYTES;
        rc = in_buf(in, &in->val, part);
        len -= part;
    }
    return rc;
}

static int refuse(In *in, int rc)
{
    in->verdict = in->verdict == SAP_OK ? rc : in->verdict;
    return SAP_OK;
}

typedef struct StreamTable {
    uint32_t dbi;
    unsigned flags;
    bool key_custom;
    bool val_custom;
    char names[NAMES_MAX];
    uint32_t names_len;
    uint64_t rows;
} StreamTable;

static int read_table_header(In *in, StreamTable *out)
{
    uint8_t header[TABLE_HEADER];
    char names[NAMES_MAX];
    int rc = in_bytes(in, header, 8);
    uint32_t names_len = rc == SAP_OK ? load_u16le(header + 6) : 0;
    if (names_len > NAMES_MAX) {
        return SAP_CORRUPT;
    }
    if (rc == SAP_OK) {
        rc = in_bytes(in, names, names_len);
    }
    if (rc == SAP_OK) {
        rc = in_bytes(in, header + 8, 8);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    *out = (StreamTable){.dbi = load_u16le(header),
                         .flags = load_u16le(header + 2),
                         .key_custom = header[4] != 0,
                         .val_custom = header[5] != 0,
                         .names_len = names_len,
                         .rows = load_u64le(header + 8)};
    memcpy(out->names, names, names_len);
    bool flags_known =
        out->flags == 0 || out->flags == SAP_DBI_DUPSORT || out->flags == SAP_DBI_TTL_META;
    bool dup = out->flags == SAP_DBI_DUPSORT;
    if (out->dbi > SAP_MAX_DBI || !flags_known || header[4] > 1 || header[5] > 1 ||
        (out->val_custom && !dup) || (out->rows == 0 && out->flags == 0) ||
        (names_len > 0 && !out->key_custom && !out->val_custom)) {
        return SAP_CORRUPT;
    }
    return SAP_OK;
}

/* Where one side has no names, that of a DB in memory, nothing speaks against it. */
static bool same_names(const Table *table, const StreamTable *from)
{
    char names[NAMES_MAX];
    uint32_t len = join_names(table, names);
    return len == 0 || from->names_len == 0 ||
           (len == from->names_len && memcmp(names, from->names, len) == 0);
}

/* The orders of a table that is not open: only a file knows any by name. */
static int find_orders(const SapEnv *env, const StreamTable *from, TableDef *def)
{
    const char *end = from->names + from->names_len;
    const char *zero = from->names_len > 0 ? memchr(from->names, 0, from->names_len) : NULL;
    const char *keys_end = zero != NULL ? zero : end;
    const char *vals = zero != NULL ? zero + 1 : end;
    const NamedOrder *key_order =
        dbfile_order_named(env->file, from->names, (size_t)(keys_end - from->names));
    const NamedOrder *val_order = dbfile_order_named(env->file, vals, (size_t)(end - vals));
    if ((from->key_custom && key_order == NULL) || (from->val_custom && val_order == NULL)) {
        return SAP_ERROR;
    }
    if (from->key_custom) {
        def->keys = key_order->order;
        def->key_name = key_order->name;
    }
    if (from->val_custom) {
        def->vals = val_order->order;
        def->val_name = val_order->name;
    }
    return SAP_OK;
}

/* The open table that the stream's table goes to, made if it can be. */
static int open_table(In *in, SapTxnCtx *txn, const StreamTable *from)
{
    SapEnv *env = txn->env;
    const Table *table = table_get(env, from->dbi);
    if (table == NULL) {
        TableDef def = {.flags = from->flags};
        Table none;
        int rc = find_orders(env, from, &def);
        if (rc == SAP_OK) {
            rc = table_define(env, from->dbi, &def, &none);
        }
        if (rc == SAP_OK) {
            in->defined[from->dbi / 64] |= UINT64_C(1) << (from->dbi % 64);
        }
        return rc == SAP_OK && env->file != NULL ? definition_put(txn, from->dbi) : rc;
    }
    bool val_custom = table->pairs != NULL && table->pairs->values.cmp != NULL;
    return table->flags == from->flags && (table->key_order.cmp != NULL) == from->key_custom &&
                   val_custom == from->val_custom && same_names(table, from)
               ? SAP_OK
               : SAP_ERROR;
}

/* Adds one row; in->key and in->val hold it. */
static int add_row(In *in, SapTxnCtx *txn, const StreamTable *from, const Table *table,
                   TreeBuild *build, bool first)
{
    uint32_t key_len = (uint32_t)in->key.len;
    uint32_t val_len = (uint32_t)in->val.len;
    Probe probe;
    int rc = probe_make(&probe, table, PAIR_EXACT, in->key.data, key_len, in->val.data, val_len);
    if (rc != SAP_OK) {
        return rc;
    }
    LeafRow row = {.key = probe.bytes, .key_len = probe.len};
    uint8_t ref[CELL_REF];
    if (table->pairs == NULL) {
        rc = tree_make_row(txn, from->dbi, probe.bytes, key_len, key_bytes(in->val.data), val_len,
                           &row, ref);
    }
    if (rc == SAP_OK && !first) {
        int c =
            key_compare(table->order, in->last.data, (uint32_t)in->last.len, row.key, row.key_len);
        rc = c < 0 ? SAP_OK : SAP_CORRUPT;
    }
    if (rc == SAP_OK) {
        buf_clear(&in->last);
        rc = buf_append(&in->last, row.key, row.key_len);
    }
    if (rc == SAP_OK) {
        rc = tree_build_add(build, &row, true);
    }
    probe_release(&probe);
    return rc;
}

static int read_rows(In *in, SapTxnCtx *txn, const StreamTable *from, const Table *table,
                     TreeBuild *build)
{
    int rc = SAP_OK;
    for (uint64_t i = 0; i < from->rows && rc == SAP_OK; i++) {
        uint8_t header[ROW_HEADER];
        rc = in_bytes(in, header, ROW_HEADER);
        if (rc != SAP_OK) {
            return rc;
        }
        uint32_t key_len = load_u32le(header);
        uint32_t val_len = load_u32le(header + 4);
        if (key_len > SAP_MAX_KEY_LEN || val_len > SAP_MAX_VAL_LEN) {
            return SAP_CORRUPT;
        }
        if (rows_check_size(txn, table, key_len, val_len) != SAP_OK) {
            (void)refuse(in, SAP_FULL);
        }
        if (in->verdict != SAP_OK) {
            rc = in_skip(in, (uint64_t)key_len + val_len);
            continue;
        }
        rc = in_buf(in, &in->key, key_len);
        if (rc == SAP_OK) {
            rc = in_buf(in, &in->val, val_len);
        }
        if (rc == SAP_OK) {
            rc = add_row(in, txn, from, table, build, i == 0);
        }
    }
    return rc;
}

static int skip_rows(In *in, uint64_t rows)
{
    int rc = SAP_OK;
    for (uint64_t i = 0; i < rows && rc == SAP_OK; i++) {
        uint8_t header[ROW_HEADER];
        rc = in_bytes(in, header, ROW_HEADER);
        if (rc == SAP_OK) {
            rc = in_skip(in, (uint64_t)load_u32le(header) + load_u32le(header + 4));
        }
    }
    return rc;
}

static int read_table(In *in, SapTxnCtx *txn, int64_t *last_dbi)
{
    SapEnv *env = txn->env;
    StreamTable from;
    int rc = read_table_header(in, &from);
    if (rc == SAP_OK && (int64_t)from.dbi <= *last_dbi) {
        rc = SAP_CORRUPT;
    }
    if (rc != SAP_OK) {
        return rc;
    }
    *last_dbi = from.dbi;
    rc = in->verdict == SAP_OK ? open_table(in, txn, &from) : SAP_OK;
    if (rc == SAP_ERROR) {
        rc = refuse(in, SAP_ERROR);
    }
    if (rc != SAP_OK || in->verdict != SAP_OK) {
        return rc == SAP_OK ? skip_rows(in, from.rows) : rc;
    }
    Table *table = &env->tables[from.dbi];
    rc = table_save(txn, from.dbi, table);
    TreeBuild build;
    if (rc == SAP_OK) {
        rc = tree_build_begin(&build, txn, table);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    TreeState built = {0};
    rc = read_rows(in, txn, &from, table, &build);
    if (rc == SAP_OK) {
        rc = tree_build_finish(&build, &built);
    }
    tree_build_release(&build);
    if (rc == SAP_OK) {
        table->tree = built;
    }
    return rc;
}

static int read_stream(In *in, SapTxnCtx *txn)
{
    uint8_t start[MAGIC_LEN];
    hash_init(&in->hash, 0);
    int rc = in_bytes(in, start, MAGIC_LEN);
    if (rc == SAP_OK && memcmp(start, magic, MAGIC_LEN) != 0) {
        rc = SAP_INVALID;
    }
    int64_t last_dbi = -1;
    uint8_t tag = TAG_TABLE;
    while (rc == SAP_OK && tag == TAG_TABLE) {
        rc = in_bytes(in, &tag, 1);
        if (rc == SAP_OK && tag == TAG_TABLE) {
            rc = read_table(in, txn, &last_dbi);
        } else if (rc == SAP_OK && tag != TAG_END) {
            rc = SAP_CORRUPT;
        }
    }
    uint64_t expected = hash_final(&in->hash);
    uint8_t end[8];
    if (rc == SAP_OK) {
        rc = in_bytes(in, end, sizeof end);
    }
    if (rc == SAP_OK && load_u64le(end) != expected) {
        rc = SAP_CORRUPT;
    }
    return rc == SAP_OK ? in->verdict : rc;
}

/* What the restore replaces. */
static int empty_tables(SapTxnCtx *txn)
{
    SapEnv *env = txn->env;
    int rc = SAP_OK;
    for (uint32_t dbi = 0; dbi < env->table_count && rc == SAP_OK; dbi++) {
        Table *table = &env->tables[dbi];
        if (table->open && table->tree.root != 0) {
            rc = table_save(txn, dbi, table);
            if (rc == SAP_OK) {
                rc = tree_free_rows(txn, table->tree);
            }
            if (rc == SAP_OK) {
                table->tree = (TreeState){0};
            }
        }
    }
    return rc;
}

/* The rows first, then the tables that were opened for them; nobody else has seen either. */
static void give_up(const In *in, SapTxnCtx *txn)
{
    SapEnv *env = txn->env;
    tables_abort(txn);
    for (uint32_t dbi = 0; dbi <= SAP_MAX_DBI; dbi++) {
        if ((in->defined[dbi / 64] >> (dbi % 64) & 1) != 0) {
            table_take_back(env, dbi, &(Table){0});
        }
    }
    (void)exclusive_end(txn, false, NULL);
}

int sap_db_restore(SapEnv *db, sap_read_fn reader, void *ctx)
{
    if (!env_usable(db) || reader == NULL || db->table_count == 0) {
        return SAP_ERROR;
    }
    SapTxnCtx *txn = NULL;
    int rc = exclusive_begin(db, SAP_TXN_BULK, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    In in = {.read = reader, .ctx = ctx};
    rc = empty_tables(txn);
    if (rc == SAP_OK) {
        rc = read_stream(&in, txn);
    }
    buf_release(&in.key);
    buf_release(&in.val);
    buf_release(&in.last);
    if (rc == SAP_OK) {
        rc = exclusive_prepare(txn);
    }
    if (rc != SAP_OK) {
        give_up(&in, txn);
        return rc;
    }
    uint64_t lsn = 0;
    DbFile *file = db->file;
    rc = exclusive_end(txn, true, &lsn);
    return rc == SAP_OK && file != NULL ? dbfile_defined(file, lsn) : rc;
}
