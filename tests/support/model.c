#include "support/model.h"

#include "common/bytes.h"
#include "support/expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *p)
{
    EXPECT(p != NULL, "the model is out of memory");
    return p;
}

Model *model_new(void)
{
    return must(calloc(1, sizeof(Model)));
}

size_t model_add_table(Model *model, uint32_t dbi, sap_keycmp_fn cmp, void *cmp_ctx)
{
    EXPECT(model->table_count < MODEL_MAX_TABLES, "too many tables for a model");
    ModelTable *table = &model->tables[model->table_count];
    table->dbi = dbi;
    table->cmp = cmp;
    table->cmp_ctx = cmp_ctx;
    return model->table_count++;
}

ModelRow *model_row_ref(ModelRow *row)
{
    if (row != NULL) {
        row->refs++;
    }
    return row;
}

void model_row_unref(ModelRow *row)
{
    if (row != NULL && --row->refs == 0) {
        free(row);
    }
}

Model *model_copy(const Model *model)
{
    Model *copy = model_new();

    *copy = *model;
    for (size_t i = 0; i < model->table_count; i++) {
        const ModelTable *from = &model->tables[i];
        ModelTable *to = &copy->tables[i];
        to->cap = from->count;
        to->rows = must(malloc((from->count + 1) * sizeof *to->rows));
        for (size_t j = 0; j < from->count; j++) {
            to->rows[j] = model_row_ref(from->rows[j]);
        }
    }
    return copy;
}

void model_free(Model *model)
{
    if (model == NULL) {
        return;
    }
    for (size_t i = 0; i < model->table_count; i++) {
        for (size_t j = 0; j < model->tables[i].count; j++) {
            model_row_unref(model->tables[i].rows[j]);
        }
        free(model->tables[i].rows);
    }
    free(model);
}

static int compare(const ModelTable *table, const void *a, uint32_t a_len, const void *b,
                   uint32_t b_len)
{
    if (table->cmp != NULL) {
        return table->cmp(a, a_len, b, b_len, table->cmp_ctx);
    }
    return bytes_compare(a, a_len, b, b_len);
}

size_t model_lower_bound(const ModelTable *table, const void *key, uint32_t key_len)
{
    size_t lo = 0;
    size_t hi = table->count;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const ModelRow *row = table->rows[mid];
        if (compare(table, row->bytes, row->key_len, key, key_len) < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

size_t model_upper_bound(const ModelTable *table, const void *key, uint32_t key_len)
{
    size_t at = model_lower_bound(table, key, key_len);
    size_t hi = table->count;

    while (at < hi) {
        size_t mid = at + (hi - at) / 2;
        const ModelRow *row = table->rows[mid];
        if (compare(table, row->bytes, row->key_len, key, key_len) <= 0) {
            at = mid + 1;
        } else {
            hi = mid;
        }
    }
    return at;
}

static int compare_values(const ModelTable *table, const void *a, uint32_t a_len, const void *b,
                          uint32_t b_len)
{
    if (table->vcmp != NULL) {
        return table->vcmp(a, a_len, b, b_len, table->vcmp_ctx);
    }
    return bytes_compare(a, a_len, b, b_len);
}

/* The place of a pair among the values of its key; without DUPSORT that of the key. */
static size_t pair_bound(const ModelTable *table, const void *key, uint32_t key_len,
                         const void *val, uint32_t val_len)
{
    size_t lo = model_lower_bound(table, key, key_len);
    size_t hi = table->dupsort ? model_upper_bound(table, key, key_len) : lo;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const ModelRow *row = table->rows[mid];
        if (compare_values(table, model_row_val(row), row->val_len, val, val_len) < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

size_t model_row_bound(const ModelTable *table, const ModelRow *row)
{
    return pair_bound(table, row->bytes, row->key_len, model_row_val(row), row->val_len);
}

static bool key_is_at(const ModelTable *table, size_t at, const void *key, uint32_t key_len)
{
    return at < table->count &&
           compare(table, table->rows[at]->bytes, table->rows[at]->key_len, key, key_len) == 0;
}

ModelRow *model_find(const ModelTable *table, const void *key, uint32_t key_len)
{
    size_t at = model_lower_bound(table, key, key_len);

    return key_is_at(table, at, key, key_len) ? table->rows[at] : NULL;
}

static bool pair_is_at(const ModelTable *table, size_t at, const void *key, uint32_t key_len,
                       const void *val, uint32_t val_len)
{
    return key_is_at(table, at, key, key_len) &&
           (!table->dupsort || compare_values(table, model_row_val(table->rows[at]),
                                              table->rows[at]->val_len, val, val_len) == 0);
}

ModelRow *model_find_pair(const ModelTable *table, const void *key, uint32_t key_len,
                          const void *val, uint32_t val_len)
{
    size_t at = pair_bound(table, key, key_len, val, val_len);

    return pair_is_at(table, at, key, key_len, val, val_len) ? table->rows[at] : NULL;
}

ModelRow *model_find_row(const ModelTable *table, const ModelRow *row)
{
    return model_find_pair(table, row->bytes, row->key_len, model_row_val(row), row->val_len);
}

static ModelRow *row_new(const void *key, uint32_t key_len, const void *val, uint32_t val_len)
{
    static uint64_t births;
    ModelRow *row = must(malloc(sizeof *row + (size_t)key_len + val_len));

    row->refs = 1;
    row->key_len = key_len;
    row->val_len = val_len;
    row->birth = __atomic_add_fetch(&births, 1, __ATOMIC_RELAXED);
    if (key_len != 0) {
        memcpy(row->bytes, key, key_len);
    }
    if (val_len != 0) {
        memcpy(row->bytes + key_len, val, val_len);
    }
    return row;
}

bool model_put(ModelTable *table, const void *key, uint32_t key_len, const void *val,
               uint32_t val_len)
{
    size_t at = pair_bound(table, key, key_len, val, val_len);
    bool there = pair_is_at(table, at, key, key_len, val, val_len);

    if (there && table->dupsort) {
        return false;
    }
    ModelRow *row = row_new(key, key_len, val, val_len);
    if (there) {
        row->birth = table->rows[at]->birth;
        model_row_unref(table->rows[at]);
        table->rows[at] = row;
        return true;
    }
    if (table->count == table->cap || table->rows == NULL) {
        table->cap = table->cap * 2 + 16;
        table->rows = must(realloc(table->rows, table->cap * sizeof *table->rows));
    }
    memmove(table->rows + at + 1, table->rows + at, (table->count - at) * sizeof *table->rows);
    table->rows[at] = row;
    table->count++;
    return true;
}

static void del_rows(ModelTable *table, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        model_row_unref(table->rows[i]);
    }
    memmove(table->rows + from, table->rows + to, (table->count - to) * sizeof *table->rows);
    table->count -= to - from;
}

void model_del_at(ModelTable *table, size_t at)
{
    del_rows(table, at, at + 1);
}

bool model_del(ModelTable *table, const void *key, uint32_t key_len)
{
    size_t from = model_lower_bound(table, key, key_len);
    size_t to = model_upper_bound(table, key, key_len);

    if (from == to) {
        return false;
    }
    del_rows(table, from, to);
    return true;
}

uint64_t model_del_range(ModelTable *table, const void *lo, uint32_t lo_len, const void *hi,
                         uint32_t hi_len)
{
    uint64_t count = model_count_range(table, lo, lo_len, hi, hi_len);

    if (count != 0) {
        size_t from = lo == NULL ? 0 : model_lower_bound(table, lo, lo_len);
        del_rows(table, from, from + count);
    }
    return count;
}

uint64_t model_count_range(const ModelTable *table, const void *lo, uint32_t lo_len, const void *hi,
                           uint32_t hi_len)
{
    size_t from = lo == NULL ? 0 : model_lower_bound(table, lo, lo_len);
    size_t to = hi == NULL ? table->count : model_lower_bound(table, hi, hi_len);

    return to > from ? to - from : 0;
}

static bool row_same(const ModelRow *a, const ModelRow *b)
{
    return a == b || (a->key_len == b->key_len && a->val_len == b->val_len &&
                      memcmp(a->bytes, b->bytes, (size_t)a->key_len + a->val_len) == 0);
}

bool model_same(const Model *a, const Model *b)
{
    if (a->table_count != b->table_count) {
        return false;
    }
    for (size_t i = 0; i < a->table_count; i++) {
        if (a->tables[i].count != b->tables[i].count) {
            return false;
        }
        for (size_t j = 0; j < a->tables[i].count; j++) {
            if (!row_same(a->tables[i].rows[j], b->tables[i].rows[j])) {
                return false;
            }
        }
    }
    return true;
}

/* ---- Expiry times --------------------------------------------------------------------------- */

enum { META_BY_KEY = 0, META_BY_TIME = 1, META_TIME_LEN = 9 };

/* The key of an index row, or of a row by key; the caller frees it. */
static uint8_t *meta_key(uint8_t kind, uint64_t expires_at_ms, const void *key, uint32_t key_len,
                         uint32_t *len_out)
{
    uint32_t head = kind == META_BY_TIME ? META_TIME_LEN : 1;
    uint8_t *out = must(malloc((size_t)head + key_len));

    out[0] = kind;
    if (kind == META_BY_TIME) {
        store_u64be(out + 1, expires_at_ms);
    }
    if (key_len != 0) {
        memcpy(out + head, key, key_len);
    }
    *len_out = head + key_len;
    return out;
}

bool model_expiry(const ModelTable *meta, const void *key, uint32_t key_len,
                  uint64_t *expires_at_ms_out)
{
    uint32_t len = 0;
    uint8_t *by_key = meta_key(META_BY_KEY, 0, key, key_len, &len);
    const ModelRow *row = model_find(meta, by_key, len);

    free(by_key);
    if (row == NULL) {
        return false;
    }
    *expires_at_ms_out = load_u64be(model_row_val(row));
    return true;
}

static void forget_expiry(ModelTable *meta, const void *key, uint32_t key_len)
{
    uint64_t expires_at_ms = 0;
    uint32_t len = 0;

    if (!model_expiry(meta, key, key_len, &expires_at_ms)) {
        return;
    }
    uint8_t *by_key = meta_key(META_BY_KEY, 0, key, key_len, &len);
    model_del(meta, by_key, len);
    free(by_key);
    uint8_t *by_time = meta_key(META_BY_TIME, expires_at_ms, key, key_len, &len);
    model_del(meta, by_time, len);
    free(by_time);
}

void model_put_ttl(ModelTable *data, ModelTable *meta, const void *key, uint32_t key_len,
                   const void *val, uint32_t val_len, uint64_t expires_at_ms)
{
    uint8_t stored[8];
    uint32_t len = 0;

    model_put(data, key, key_len, val, val_len);
    forget_expiry(meta, key, key_len);
    store_u64be(stored, expires_at_ms);
    uint8_t *by_key = meta_key(META_BY_KEY, 0, key, key_len, &len);
    model_put(meta, by_key, len, stored, sizeof stored);
    free(by_key);
    uint8_t *by_time = meta_key(META_BY_TIME, expires_at_ms, key, key_len, &len);
    model_put(meta, by_time, len, NULL, 0);
    free(by_time);
}

void model_del_ttl(ModelTable *data, ModelTable *meta, const void *key, uint32_t key_len)
{
    forget_expiry(meta, key, key_len);
    model_del(data, key, key_len);
}

bool model_first_expired(const ModelTable *meta, uint64_t now_ms, const uint8_t **key_out,
                         uint32_t *key_len_out, uint64_t *expires_at_ms_out)
{
    static const uint8_t by_time = META_BY_TIME;
    size_t at = model_lower_bound(meta, &by_time, 1);

    if (at == meta->count || load_u64be(meta->rows[at]->bytes + 1) > now_ms) {
        return false;
    }
    const ModelRow *row = meta->rows[at];
    *key_out = row->bytes + META_TIME_LEN;
    *key_len_out = row->key_len - META_TIME_LEN;
    *expires_at_ms_out = load_u64be(row->bytes + 1);
    return true;
}

/* ---- Comparing ------------------------------------------------------------------------------ */

static bool bytes_same(const void *a, uint32_t a_len, const void *b, uint32_t b_len)
{
    return a_len == b_len && (a_len == 0 || memcmp(a, b, a_len) == 0);
}

static void expect_row_under(SapCursor *cur, const ModelTable *table, size_t at)
{
    const ModelRow *row = table->rows[at];
    const void *key = NULL;
    const void *val = NULL;
    uint32_t key_len = 0;
    uint32_t val_len = 0;

    EXPECT_RC(sap_cursor_get(cur, &key, &key_len, &val, &val_len), SAP_OK);
    EXPECT(bytes_same(key, key_len, row->bytes, row->key_len),
           "dbi %u row %zu: another key (%u bytes, expected %u)", table->dbi, at, key_len,
           row->key_len);
    EXPECT(bytes_same(val, val_len, model_row_val(row), row->val_len),
           "dbi %u row %zu: another value (%u bytes, expected %u)", table->dbi, at, val_len,
           row->val_len);
}

static void expect_dup(SapCursor *cur, const ModelTable *table, int rc, size_t at, bool there,
                       size_t stays)
{
    EXPECT(rc == (there ? SAP_OK : SAP_NOTFOUND), "dbi %u row %zu: a move among values answered %d",
           table->dbi, stays, rc);
    expect_row_under(cur, table, there ? at : stays);
}

/* Every move among the values of the key of row `at`, each from there. */
static void expect_dups(SapCursor *cur, const ModelTable *table, size_t at)
{
    const ModelRow *row = table->rows[at];
    size_t from = model_lower_bound(table, row->bytes, row->key_len);
    size_t to = model_upper_bound(table, row->bytes, row->key_len);
    uint64_t count = UINT64_MAX;

    EXPECT_RC(sap_cursor_seek_nth(cur, at), SAP_OK);
    EXPECT_RC(sap_cursor_count_dup(cur, &count), SAP_OK);
    EXPECT(count == to - from, "dbi %u row %zu: %llu values instead of %zu", table->dbi, at,
           (unsigned long long)count, to - from);
    expect_dup(cur, table, sap_cursor_next_dup(cur), at + 1, at + 1 < to, at);
    EXPECT_RC(sap_cursor_seek_nth(cur, at), SAP_OK);
    expect_dup(cur, table, sap_cursor_prev_dup(cur), at - 1, at > from, at);
    expect_dup(cur, table, sap_cursor_last_dup(cur), to - 1, true, at);
    expect_dup(cur, table, sap_cursor_first_dup(cur), from, true, at);
}

/* Rank and position cost O(log n) each: all rows of small tables, some of large ones. */
static void expect_position(SapCursor *walker, SapCursor *jumper, const ModelTable *table,
                            size_t at)
{
    uint64_t rank = UINT64_MAX;

    if (table->count > 64 && at % 17 != 0) {
        return;
    }
    EXPECT_RC(sap_cursor_rank(walker, &rank), SAP_OK);
    EXPECT(rank == at, "dbi %u: rank %llu instead of %zu", table->dbi, (unsigned long long)rank,
           at);
    EXPECT_RC(sap_cursor_seek_nth(jumper, at), SAP_OK);
    expect_row_under(jumper, table, at);
    if (table->dupsort) {
        expect_dups(jumper, table, at);
    }
}

/* Each row of the model, and beyond them only index rows of expiry times that no longer hold. */
static void expect_meta_same(const ModelTable *table, SapTxnCtx *txn)
{
    SapCursor *cur = sap_cursor_open_dbi(txn, table->dbi);
    size_t at = 0;

    EXPECT(cur != NULL, "no cursor on dbi %u", table->dbi);
    for (int rc = sap_cursor_first(cur); rc == SAP_OK; rc = sap_cursor_next(cur)) {
        const void *key = NULL;
        const void *val = NULL;
        uint32_t key_len = 0;
        uint32_t val_len = 0;
        EXPECT_RC(sap_cursor_get(cur, &key, &key_len, &val, &val_len), SAP_OK);
        if (model_find(table, key, key_len) == NULL) {
            const uint8_t *bytes = key;
            EXPECT(key_len >= META_TIME_LEN && bytes[0] == META_BY_TIME && val_len == 0,
                   "dbi %u: a row beyond the model's that is not of the index", table->dbi);
            continue;
        }
        expect_row_under(cur, table, at++);
    }
    EXPECT(at == table->count, "dbi %u: %zu expiry rows instead of %zu", table->dbi, at,
           table->count);
    sap_cursor_close(cur);
}

static void expect_table_same(const ModelTable *table, SapTxnCtx *txn)
{
    SapCursor *walker = sap_cursor_open_dbi(txn, table->dbi);
    SapCursor *jumper = sap_cursor_open_dbi(txn, table->dbi);
    uint64_t counted = UINT64_MAX;
    SapStat stat;

    EXPECT(walker != NULL && jumper != NULL, "no cursor on dbi %u", table->dbi);
    EXPECT_RC(sap_dbi_stat(txn, table->dbi, &stat), SAP_OK);
    EXPECT(stat.num_entries == table->count, "dbi %u: %llu entries in stat instead of %zu",
           table->dbi, (unsigned long long)stat.num_entries, table->count);
    EXPECT((stat.tree_depth == 0) == (table->count == 0), "dbi %u: depth %u with %zu rows",
           table->dbi, stat.tree_depth, table->count);
    EXPECT_RC(sap_txn_count_range(txn, table->dbi, NULL, 0, NULL, 0, &counted), SAP_OK);
    EXPECT(counted == table->count, "dbi %u: %llu rows counted instead of %zu", table->dbi,
           (unsigned long long)counted, table->count);

    for (size_t i = 0; i < table->count; i++) {
        const ModelRow *row = table->rows[i];
        const ModelRow *first = model_find(table, row->bytes, row->key_len);
        const void *val = NULL;
        uint32_t val_len = 0;
        EXPECT(sap_cursor_next(walker) == SAP_OK, "dbi %u: the walk ends at row %zu of %zu",
               table->dbi, i, table->count);
        expect_row_under(walker, table, i);
        expect_position(walker, jumper, table, i);
        EXPECT(sap_txn_get_dbi(txn, table->dbi, row->bytes, row->key_len, &val, &val_len) == SAP_OK,
               "dbi %u: get does not find row %zu", table->dbi, i);
        EXPECT(bytes_same(val, val_len, model_row_val(first), first->val_len),
               "dbi %u: get of row %zu gives another value", table->dbi, i);
    }
    EXPECT(sap_cursor_next(walker) == SAP_NOTFOUND, "dbi %u: the walk does not end", table->dbi);
    EXPECT_RC(sap_cursor_seek_nth(jumper, table->count), SAP_NOTFOUND);

    int rc = sap_cursor_last(walker);
    for (size_t i = table->count; i-- > 0;) {
        EXPECT(rc == SAP_OK, "dbi %u: the walk back ends at row %zu", table->dbi, i);
        expect_row_under(walker, table, i);
        rc = sap_cursor_prev(walker);
    }
    EXPECT(rc == SAP_NOTFOUND, "dbi %u: the walk back does not end", table->dbi);
    sap_cursor_close(walker);
    sap_cursor_close(jumper);
}

uint64_t model_expect_same(const Model *model, SapTxnCtx *txn)
{
    uint64_t rows = 0;

    for (size_t i = 0; i < model->table_count; i++) {
        (model->tables[i].ttl_meta ? expect_meta_same : expect_table_same)(&model->tables[i], txn);
        rows += model->tables[i].count;
    }
    return rows;
}

static void print_finding(const char *text, void *ctx)
{
    (void)ctx;
    fprintf(stderr, "    verify: %s\n", text);
}

void model_expect_verified(SapEnv *db)
{
    EXPECT_RC(sap_db_verify(db, print_finding, NULL), SAP_OK);
}

uint64_t model_expect_committed(const Model *model, SapEnv *db)
{
    SapTxnCtx *txn = NULL;

    model_expect_verified(db);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    uint64_t rows = model_expect_same(model, txn);
    sap_txn_abort(txn);
    return rows;
}
