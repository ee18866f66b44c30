#include "support/mirror.h"

#include "common/mem.h"
#include "support/expect.h"

#include <stdlib.h>
#include <string.h>

/* How many are open, and the memory in use before the first of them was. */
static uint32_t open_count;
static size_t live_before;

void mirror_open(Mirror *m, SapMemArena *arena, uint32_t page_size, OrderKind order)
{
    memset(m, 0, sizeof *m);
    if (open_count++ == 0) {
        live_before = mem_live_total();
    }
    m->borrows_arena = arena != NULL;
    m->db = sap_db_open(arena, page_size, order_cmp(order), order_ctx(order));
    EXPECT(m->db != NULL, "no DB");
    m->committed = model_new();
    model_add_table(m->committed, 0, order_cmp(order), order_ctx(order));
}

void mirror_drop(Mirror *m)
{
    while (m->depth != 0) {
        mirror_abort(m);
    }
    EXPECT_RC(sap_db_close(m->db), SAP_OK);
    model_free(m->committed);
    /* An arena may keep what it got for the next user. */
    EXPECT(--open_count != 0 || m->borrows_arena || mem_live_total() == live_before,
           "%zu bytes live instead of %zu", mem_live_total(), live_before);
}

void mirror_close(Mirror *m)
{
    while (m->depth != 0) {
        mirror_abort(m);
    }
    model_expect_committed(m->committed, m->db);
    mirror_drop(m);
}

size_t mirror_add(Mirror *m, uint32_t dbi, OrderKind order, unsigned flags)
{
    EXPECT_RC(sap_dbi_open(m->db, dbi, order_cmp(order), order_ctx(order), flags), SAP_OK);
    size_t table = model_add_table(m->committed, dbi, order_cmp(order), order_ctx(order));
    m->committed->tables[table].dupsort = (flags & SAP_DBI_DUPSORT) != 0;
    m->committed->tables[table].ttl_meta = (flags & SAP_DBI_TTL_META) != 0;
    return table;
}

size_t mirror_add_dupsort(Mirror *m, uint32_t dbi, OrderKind order, OrderKind value_order)
{
    size_t table = mirror_add(m, dbi, order, SAP_DBI_DUPSORT);

    EXPECT_RC(sap_dbi_set_dupsort(m->db, dbi, order_cmp(value_order), order_ctx(value_order)),
              SAP_OK);
    m->committed->tables[table].vcmp = order_cmp(value_order);
    m->committed->tables[table].vcmp_ctx = order_ctx(value_order);
    return table;
}

SapTxnCtx *mirror_txn(Mirror *m)
{
    return m->depth == 0 ? NULL : m->txns[m->depth - 1];
}

ModelTable *mirror_table(Mirror *m, size_t table)
{
    return &(m->depth == 0 ? m->committed : m->models[m->depth - 1])->tables[table];
}

void mirror_begin(Mirror *m)
{
    const Model *base = m->depth == 0 ? m->committed : m->models[m->depth - 1];

    EXPECT(m->depth < MIRROR_LEVELS, "too many levels");
    EXPECT_RC(sap_txn_begin_rc(m->db, mirror_txn(m), 0, &m->txns[m->depth]), SAP_OK);
    m->models[m->depth++] = model_copy(base);
}

void mirror_commit(Mirror *m)
{
    uint32_t level = m->depth - 1;
    Model **into = level == 0 ? &m->committed : &m->models[level - 1];

    EXPECT_RC(sap_txn_commit(m->txns[level]), SAP_OK);
    model_free(*into);
    *into = m->models[level];
    m->depth = level;
    if (level == 0) {
        model_expect_committed(m->committed, m->db);
    }
}

void mirror_abort(Mirror *m)
{
    m->depth--;
    sap_txn_abort(m->txns[m->depth]);
    model_free(m->models[m->depth]);
}

void mirror_put(Mirror *m, size_t table, const void *key, uint32_t key_len, const void *val,
                uint32_t val_len)
{
    ModelTable *rows = mirror_table(m, table);
    int rc = sap_txn_put_dbi(mirror_txn(m), rows->dbi, key, key_len, val, val_len);

    (void)model_put(rows, key, key_len, val, val_len);
    EXPECT(rc == SAP_OK, "a put of %u and %u bytes answered %d", key_len, val_len, rc);
}

void mirror_put_text(Mirror *m, size_t table, const char *key, const char *val)
{
    mirror_put(m, table, key, (uint32_t)strlen(key), val, (uint32_t)strlen(val));
}

void mirror_del(Mirror *m, size_t table, const void *key, uint32_t key_len)
{
    ModelTable *rows = mirror_table(m, table);
    int rc = sap_txn_del_dbi(mirror_txn(m), rows->dbi, key, key_len);
    int expected = model_del(rows, key, key_len) ? SAP_OK : SAP_NOTFOUND;

    EXPECT(rc == expected, "a delete answered %d instead of %d", rc, expected);
}

void mirror_del_range(Mirror *m, size_t table, const void *lo, uint32_t lo_len, const void *hi,
                      uint32_t hi_len)
{
    ModelTable *rows = mirror_table(m, table);
    uint64_t deleted = UINT64_MAX;

    EXPECT_RC(sap_txn_del_range(mirror_txn(m), rows->dbi, lo, lo_len, hi, hi_len, &deleted),
              SAP_OK);
    uint64_t expected = model_del_range(rows, lo, lo_len, hi, hi_len);
    EXPECT(deleted == expected, "%llu rows deleted instead of %llu", (unsigned long long)deleted,
           (unsigned long long)expected);
}

int load_rows(SapTxnCtx *txn, uint32_t dbi, const ModelTable *source)
{
    size_t room = source->count + 1;
    const void **keys = malloc(room * sizeof *keys);
    const void **vals = malloc(room * sizeof *vals);
    uint32_t *key_lens = malloc(room * sizeof *key_lens);
    uint32_t *val_lens = malloc(room * sizeof *val_lens);

    EXPECT(keys != NULL && vals != NULL && key_lens != NULL && val_lens != NULL, "no memory");
    for (size_t i = 0; i < source->count; i++) {
        const ModelRow *row = source->rows[i];
        keys[i] = row->bytes;
        key_lens[i] = row->key_len;
        vals[i] = row->val_len == 0 ? NULL : model_row_val(row);
        val_lens[i] = row->val_len;
    }
    int rc = sap_txn_load_sorted(txn, dbi, keys, key_lens, vals, val_lens, (uint32_t)source->count);
    free(keys);
    free(vals);
    free(key_lens);
    free(val_lens);
    return rc;
}

void mirror_load(Mirror *m, size_t table, const ModelTable *source)
{
    ModelTable *rows = mirror_table(m, table);

    EXPECT_RC(load_rows(mirror_txn(m), rows->dbi, source), SAP_OK);
    for (size_t i = 0; i < source->count; i++) {
        const ModelRow *row = source->rows[i];
        model_put(rows, row->bytes, row->key_len, model_row_val(row), row->val_len);
    }
}

void mirror_compare(Mirror *m)
{
    if (m->depth != 0) {
        model_expect_same(m->models[m->depth - 1], mirror_txn(m));
    }
    model_expect_committed(m->committed, m->db);
}
