#include "support/driver_internal.h"

#include "support/mirror.h"

#include <stdlib.h>
#include <string.h>

void driver_touch(Level *level, size_t table, const void *key, uint32_t key_len)
{
    if (!has_pairs(table)) {
        model_put(&level->touched->tables[table], key, key_len, NULL, 0);
    }
}

void driver_model_put(Driver *d, Level *level, size_t table, const void *key, uint32_t key_len,
                      const void *val, uint32_t val_len)
{
    d->counts->changes++;
    d->counts->pairs += has_pairs(table) ? 1 : 0;
    driver_touch(level, table, key, key_len);
    model_put(table_of(level, table), key, key_len, val, val_len);
}

void driver_model_del(Driver *d, Level *level, size_t table, const void *key, uint32_t key_len)
{
    d->counts->changes++;
    driver_touch(level, table, key, key_len);
    model_del(table_of(level, table), key, key_len);
}

void driver_model_del_at(Driver *d, Level *level, size_t table, size_t at)
{
    const ModelRow *row = table_of(level, table)->rows[at];

    d->counts->changes++;
    driver_touch(level, table, row->bytes, row->key_len);
    model_del_at(table_of(level, table), at);
}

/* ---- Puts ----------------------------------------------------------------------------------- */

/* Puts the chosen row; what it must answer is `expected`. */
static void put_chosen(Driver *d, Level *level, size_t table, unsigned flags, int expected)
{
    uint32_t dbi = d->tables[table].dbi;
    bool shortcut = dbi == 0 && one_in(d, 2);
    int rc;

    driver_arm(d);
    if (flags == 0) {
        rc = shortcut ? sap_txn_put(level->txn, d->key, d->key_len, d->val, d->val_len)
                      : sap_txn_put_dbi(level->txn, dbi, d->key, d->key_len, d->val, d->val_len);
    } else {
        rc = shortcut ? sap_txn_put_flags(level->txn, d->key, d->key_len, d->val, d->val_len, flags,
                                          NULL)
                      : sap_txn_put_flags_dbi(level->txn, dbi, d->key, d->key_len, d->val,
                                              d->val_len, flags, NULL);
    }
    if (driver_disarm(d, rc)) {
        return;
    }
    EXPECT(rc == expected, "a put of %u and %u bytes with flags %u answered %d instead of %d",
           d->key_len, d->val_len, flags, rc, expected);
    if (rc == SAP_OK) {
        driver_model_put(d, level, table, d->key, d->key_len, d->val, d->val_len);
    }
}

/* What a put of the chosen row must answer in a write transaction. */
static int expected_put(Driver *d, Level *level, size_t table, bool overwrites)
{
    ModelTable *rows = table_of(level, table);

    return !overwrites && model_find(rows, d->key, d->key_len) != NULL ? SAP_EXISTS : SAP_OK;
}

void driver_op_put(Driver *d, Level *level)
{
    size_t table = some_table(d);
    unsigned flags = one_in(d, 6) ? SAP_NOOVERWRITE : 0;

    driver_choose_key(d, table);
    driver_choose_value(d, table);
    put_chosen(d, level, table, flags,
               level->readonly ? SAP_READONLY : expected_put(d, level, table, flags == 0));
}

void driver_op_put_run(Driver *d, Level *level)
{
    size_t table = some_table(d);
    uint32_t length = 1 + below(d, 60);

    for (uint32_t i = 0; i < length && !level->readonly; i++) {
        driver_choose_key(d, table);
        driver_choose_value(d, table);
        put_chosen(d, level, table, 0, expected_put(d, level, table, true));
    }
}

void driver_op_put_reserve(Driver *d, Level *level)
{
    size_t table = some_table(d);
    unsigned flags = SAP_RESERVE | (one_in(d, 3) ? SAP_NOOVERWRITE : 0);
    void *room = NULL;

    driver_choose_key(d, table);
    driver_choose_value(d, table);
    bool exists = model_find(table_of(level, table), d->key, d->key_len) != NULL;
    driver_arm(d);
    int rc = sap_txn_put_flags_dbi(level->txn, d->tables[table].dbi, d->key, d->key_len, NULL,
                                   d->val_len, flags, &room);
    if (driver_disarm(d, rc)) {
        return;
    }
    if (level->readonly) {
        EXPECT(rc == SAP_READONLY || (rc == SAP_ERROR && has_pairs(table)),
               "a reserve through a reader answered %d", rc);
        return;
    }
    if (has_pairs(table)) {
        EXPECT(rc == SAP_ERROR, "a reserve in a table of pairs answered %d", rc);
        return;
    }
    if ((flags & SAP_NOOVERWRITE) != 0 && exists) {
        EXPECT(rc == SAP_EXISTS || (rc == SAP_ERROR && d->val_len + d->key_len > d->leaf_value),
               "a reserve of an existing row answered %d", rc);
        return;
    }
    if (rc == SAP_ERROR) {
        EXPECT(d->val_len + d->key_len > d->leaf_value, "no room reserved for %u and %u bytes",
               d->key_len, d->val_len);
        return;
    }
    EXPECT(rc == SAP_OK, "a reserve answered %d", rc);
    EXPECT(d->val_len < d->config->page_size, "room for %u bytes in a leaf", d->val_len);
    EXPECT(room != NULL || d->val_len == 0, "no pointer to the room");
    if (d->val_len != 0) {
        memcpy(room, d->val, d->val_len);
    }
    driver_model_put(d, level, table, d->key, d->key_len, d->val, d->val_len);
}

void driver_op_put_too_long(Driver *d, Level *level)
{
    size_t table = some_free_table(d);

    if (has_pairs(table)) {
        driver_choose_key(d, table);
        d->val_len = d->tables[table].max_pair - d->key_len + 1 + below(d, 3);
        memset(d->val, 'v', d->val_len);
    } else {
        d->key_len = d->tables[table].max_key + 1 + below(d, 3);
        memset(d->key, 'k', d->key_len);
        driver_choose_value(d, table);
    }
    int rc =
        sap_txn_put_dbi(level->txn, d->tables[table].dbi, d->key, d->key_len, d->val, d->val_len);
    EXPECT(rc == SAP_FULL || (level->readonly && rc == SAP_READONLY),
           "a row of %u and %u bytes answered %d", d->key_len, d->val_len, rc);
}

/* The present value, or a little beside it, or none of the kind. */
static void choose_expected(Driver *d, const ModelRow *row, const uint8_t **val, uint32_t *val_len)
{
    static const uint8_t other[] = "something else";

    *val = other;
    *val_len = below(d, sizeof other);
    if (row != NULL && !one_in(d, 4)) {
        *val = model_row_val(row);
        *val_len = row->val_len;
        if (one_in(d, 4) && row->val_len != 0) {
            *val += 1;
            *val_len -= 1;
        }
    }
}

void driver_op_put_if(Driver *d, Level *level)
{
    size_t table = some_table(d);
    const uint8_t *expected = NULL;
    uint32_t expected_len = 0;

    driver_choose_key(d, table);
    driver_choose_value(d, table);
    ModelRow *row = model_row_ref(model_find(table_of(level, table), d->key, d->key_len));
    choose_expected(d, row, &expected, &expected_len);
    driver_arm(d);
    int rc = sap_txn_put_if(level->txn, d->tables[table].dbi, d->key, d->key_len, d->val,
                            d->val_len, expected, expected_len);
    bool failed = driver_disarm(d, rc);
    bool same = row != NULL && row->val_len == expected_len &&
                (expected_len == 0 || memcmp(model_row_val(row), expected, expected_len) == 0);
    model_row_unref(row);
    if (failed) {
        return;
    }
    if (has_pairs(table)) {
        EXPECT(rc == SAP_ERROR || (rc == SAP_READONLY && level->readonly),
               "put_if in a table of pairs answered %d", rc);
        return;
    }
    int answer = level->readonly ? SAP_READONLY
                 : row == NULL   ? SAP_NOTFOUND
                 : same          ? SAP_OK
                                 : SAP_CONFLICT;
    EXPECT(rc == answer, "put_if answered %d instead of %d", rc, answer);
    if (rc == SAP_OK) {
        driver_model_put(d, level, table, d->key, d->key_len, d->val, d->val_len);
    }
}

/* What a merge must see, and what it makes: the old value with the operand behind it, cut to a
 * length. */
typedef struct Merge {
    const ModelRow *row; /* NULL: none */
    uint32_t keeps;      /* bytes of the old value */
    uint32_t calls;
    uint32_t asked;
} Merge;

static void merge(const void *old_val, uint32_t old_len, const void *operand, uint32_t op_len,
                  void *new_val, uint32_t *new_len, void *ctx)
{
    Merge *m = ctx;
    uint32_t room = *new_len;

    m->calls++;
    EXPECT(m->calls <= 2, "a merge function was called %u times", m->calls);
    EXPECT(m->calls == 1 || room >= m->asked, "room for %u bytes instead of %u", room, m->asked);
    EXPECT(old_len == (m->row == NULL ? 0 : m->row->val_len), "an old value of %u bytes", old_len);
    EXPECT(old_len == 0 || memcmp(old_val, model_row_val(m->row), old_len) == 0,
           "another old value");
    *new_len = m->keeps + op_len;
    m->asked = *new_len;
    if (room < *new_len) {
        return;
    }
    if (m->keeps != 0) {
        memcpy(new_val, old_val, m->keeps);
    }
    if (op_len != 0) {
        memcpy((uint8_t *)new_val + m->keeps, operand, op_len);
    }
}

void driver_op_merge(Driver *d, Level *level)
{
    size_t table = some_table(d);
    Merge m;

    driver_choose_key(d, table);
    driver_choose_value(d, table);
    memset(&m, 0, sizeof m);
    ModelRow *row = model_row_ref(model_find(table_of(level, table), d->key, d->key_len));
    m.row = row;
    if (row != NULL && row->val_len < LONGEST_VALUE / 2) {
        m.keeps = one_in(d, 3) ? below(d, row->val_len + 1) : row->val_len;
    }
    driver_arm(d);
    int rc = sap_txn_merge(level->txn, d->tables[table].dbi, d->key, d->key_len, d->val, d->val_len,
                           merge, &m);
    bool failed = driver_disarm(d, rc);
    if (!failed && has_pairs(table)) {
        EXPECT(rc == SAP_ERROR || (rc == SAP_READONLY && level->readonly),
               "merge in a table of pairs answered %d", rc);
    } else if (!failed && level->readonly) {
        EXPECT(rc == SAP_READONLY && m.calls == 0, "merge through a reader answered %d", rc);
    } else if (!failed) {
        EXPECT(rc == SAP_OK, "merge answered %d", rc);
        uint8_t *made = malloc((size_t)m.keeps + d->val_len + 1);
        EXPECT(made != NULL, "no memory");
        if (m.keeps != 0) {
            memcpy(made, model_row_val(row), m.keeps);
        }
        memcpy(made + m.keeps, d->val, d->val_len);
        driver_model_put(d, level, table, d->key, d->key_len, made, m.keeps + d->val_len);
        d->counts->merges++;
        free(made);
    }
    model_row_unref(row);
}

/* A few rows in order, or, one time in eight, with two of them exchanged. */
void driver_op_load(Driver *d, Level *level)
{
    size_t table = some_table(d);
    uint32_t count = below(d, one_in(d, 8) ? 400 : 40);
    Model *model = model_copy(level->touched);
    ModelTable *rows = &model->tables[table];

    model_del_range(rows, NULL, 0, NULL, 0);
    for (uint32_t i = 0; i < count; i++) {
        driver_choose_key(d, table);
        driver_choose_value(d, table);
        model_put(rows, d->key, d->key_len, d->val, d->val_len);
    }
    bool ascends = rows->count < 2 || !one_in(d, 8);
    if (!ascends) {
        size_t at = below(d, (uint32_t)rows->count - 1);
        ModelRow *row = rows->rows[at];
        rows->rows[at] = rows->rows[at + 1];
        rows->rows[at + 1] = row;
    }
    driver_arm(d);
    int rc = load_rows(level->txn, d->tables[table].dbi, rows);
    if (!driver_disarm(d, rc)) {
        int expected = level->readonly ? SAP_READONLY : ascends ? SAP_OK : SAP_ERROR;
        EXPECT(rc == expected, "a load of %zu rows answered %d instead of %d", rows->count, rc,
               expected);
        d->counts->loads += rc == SAP_OK ? 1 : 0;
        for (size_t i = 0; i < rows->count && rc == SAP_OK; i++) {
            const ModelRow *row = rows->rows[i];
            driver_model_put(d, level, table, row->bytes, row->key_len, model_row_val(row),
                             row->val_len);
        }
    }
    model_free(model);
}

/* ---- Deletes -------------------------------------------------------------------------------- */

void driver_op_del(Driver *d, Level *level)
{
    size_t table = some_free_table(d);
    ModelTable *rows = table_of(level, table);

    if (rows->count != 0 && one_in(d, 2)) {
        const ModelRow *row = rows->rows[below(d, (uint32_t)rows->count)];
        d->key_len = row->key_len;
        memcpy(d->key, row->bytes, row->key_len);
    } else {
        driver_choose_key(d, table);
    }
    bool exists = model_find(rows, d->key, d->key_len) != NULL;
    driver_arm(d);
    int rc = table == 0 && one_in(d, 2)
                 ? sap_txn_del(level->txn, d->key, d->key_len)
                 : sap_txn_del_dbi(level->txn, d->tables[table].dbi, d->key, d->key_len);
    if (driver_disarm(d, rc)) {
        return;
    }
    int expected = level->readonly ? SAP_READONLY : exists ? SAP_OK : SAP_NOTFOUND;
    EXPECT(rc == expected, "a delete answered %d instead of %d", rc, expected);
    if (rc == SAP_OK) {
        driver_model_del(d, level, table, d->key, d->key_len);
    }
}

/* Many deletes in a row empty pages, which single ones among puts rarely do. */
void driver_op_del_run(Driver *d, Level *level)
{
    size_t table = some_free_table(d);
    ModelTable *rows = table_of(level, table);
    size_t at = rows->count == 0 ? 0 : below(d, (uint32_t)rows->count);
    uint32_t length = 1 + below(d, 60);

    for (uint32_t i = 0; i < length && at < rows->count && !level->readonly; i++) {
        ModelRow *row = model_row_ref(rows->rows[at]);
        EXPECT_RC(sap_txn_del_dbi(level->txn, d->tables[table].dbi, row->bytes, row->key_len),
                  SAP_OK);
        at = model_lower_bound(rows, row->bytes, row->key_len);
        driver_model_del(d, level, table, row->bytes, row->key_len);
        model_row_unref(row);
    }
}

void driver_op_del_dup(Driver *d, Level *level)
{
    size_t table = one_in(d, 8) ? some_free_table(d) : TABLE_PAIRS + below(d, 2);
    ModelTable *rows = table_of(level, table);

    if (rows->count != 0 && one_in(d, 2)) {
        const ModelRow *row = rows->rows[below(d, (uint32_t)rows->count)];
        d->key_len = row->key_len;
        d->val_len = row->val_len;
        memcpy(d->key, row->bytes, row->key_len);
        memcpy(d->val, model_row_val(row), row->val_len);
    } else {
        driver_choose_key(d, table);
        driver_choose_value(d, table);
    }
    driver_arm(d);
    int rc = sap_txn_del_dup_dbi(level->txn, d->tables[table].dbi, d->key, d->key_len, d->val,
                                 d->val_len);
    if (driver_disarm(d, rc)) {
        return;
    }
    if (!has_pairs(table)) {
        EXPECT(rc == SAP_ERROR || (rc == SAP_READONLY && level->readonly),
               "del_dup in a plain table answered %d", rc);
        return;
    }
    const ModelRow *row = model_find_pair(rows, d->key, d->key_len, d->val, d->val_len);
    int expected = level->readonly ? SAP_READONLY : row != NULL ? SAP_OK : SAP_NOTFOUND;
    EXPECT(rc == expected, "del_dup answered %d instead of %d", rc, expected);
    if (rc == SAP_OK) {
        d->counts->pairs++;
        driver_model_del_at(d, level, table, model_row_bound(rows, row));
    }
}

/* Two bounds, either of which may be missing. */
typedef struct Bounds {
    const uint8_t *lo;
    const uint8_t *hi;
    uint32_t lo_len;
    uint32_t hi_len;
} Bounds;

static Bounds choose_bounds(Driver *d, size_t table)
{
    Bounds bounds = {NULL, NULL, 0, 0};

    driver_choose_key(d, table);
    d->other_key_len = driver_make_key(d, table, d->other_key);
    if (!one_in(d, 4)) {
        bounds.lo = d->key;
        bounds.lo_len = d->key_len;
    }
    if (!one_in(d, 4)) {
        bounds.hi = d->other_key;
        bounds.hi_len = d->other_key_len;
    }
    return bounds;
}

void driver_op_del_range(Driver *d, Level *level)
{
    size_t table = some_free_table(d);
    ModelTable *rows = table_of(level, table);
    Bounds b = choose_bounds(d, table);
    uint64_t expected = model_count_range(rows, b.lo, b.lo_len, b.hi, b.hi_len);
    uint64_t deleted = UINT64_MAX;

    /* Tables that stay full tell more than tables that are always empty. */
    if (expected > 40 && !one_in(d, 4)) {
        return;
    }
    driver_arm(d);
    int rc = sap_txn_del_range(level->txn, d->tables[table].dbi, b.lo, b.lo_len, b.hi, b.hi_len,
                               one_in(d, 8) ? NULL : &deleted);
    if (driver_disarm(d, rc)) {
        return;
    }
    EXPECT(rc == (level->readonly ? SAP_READONLY : SAP_OK), "del_range answered %d", rc);
    if (rc != SAP_OK) {
        return;
    }
    EXPECT(deleted == expected || deleted == UINT64_MAX, "%llu rows deleted instead of %llu",
           (unsigned long long)deleted, (unsigned long long)expected);
    d->counts->ranges++;
    size_t at = b.lo == NULL ? 0 : model_lower_bound(rows, b.lo, b.lo_len);
    for (uint64_t i = 0; i < expected; i++) {
        driver_model_del_at(d, level, table, at);
    }
}

/* ---- Reads ---------------------------------------------------------------------------------- */

void driver_op_get(Driver *d, Level *level)
{
    size_t table = some_table(d);
    const void *val = d;
    uint32_t val_len = 4711;

    driver_choose_key(d, table);
    ModelRow *row = model_find(table_of(level, table), d->key, d->key_len);
    int rc =
        table == 0 && one_in(d, 2)
            ? sap_txn_get(level->txn, d->key, d->key_len, &val, &val_len)
            : sap_txn_get_dbi(level->txn, d->tables[table].dbi, d->key, d->key_len, &val, &val_len);
    if (row == NULL) {
        EXPECT(rc == SAP_NOTFOUND, "get of no row answered %d", rc);
        EXPECT(val == d && val_len == 4711, "get of no row touched its out-parameters");
        return;
    }
    EXPECT(rc == SAP_OK, "get of a row answered %d", rc);
    EXPECT(driver_row_is(row, d->key, d->key_len, val, val_len), "get gives another value");
    EXPECT_RC(sap_txn_get_dbi(level->txn, d->tables[table].dbi, d->key, d->key_len, NULL, NULL),
              SAP_OK);
    driver_keep(d, level, row, NULL, val);
}

void driver_op_count(Driver *d, Level *level)
{
    size_t table = some_table(d);
    Bounds b = choose_bounds(d, table);
    uint64_t count = UINT64_MAX;
    uint64_t expected = model_count_range(table_of(level, table), b.lo, b.lo_len, b.hi, b.hi_len);

    EXPECT_RC(sap_txn_count_range(level->txn, d->tables[table].dbi, b.lo, b.lo_len, b.hi, b.hi_len,
                                  &count),
              SAP_OK);
    EXPECT(count == expected, "%llu rows counted instead of %llu", (unsigned long long)count,
           (unsigned long long)expected);
}

/* Nothing writes directly to a table of expiry times. */
void driver_op_protected(Driver *d, Level *level)
{
    uint32_t dbi = d->tables[TABLE_META].dbi;
    int rc = SAP_OK;

    driver_choose_key(d, TABLE_TTL);
    switch (below(d, 5)) {
    case 0:
        rc = sap_txn_put_dbi(level->txn, dbi, d->key, d->key_len, "v", 1);
        break;
    case 1:
        rc = sap_txn_del_dbi(level->txn, dbi, d->key, d->key_len);
        break;
    case 2:
        rc = sap_txn_del_range(level->txn, dbi, NULL, 0, NULL, 0, NULL);
        break;
    case 3:
        rc = sap_txn_put_if(level->txn, dbi, d->key, d->key_len, "v", 1, "w", 1);
        break;
    default:
        rc = load_rows(level->txn, dbi, &level->model->tables[TABLE_META]);
        break;
    }
    EXPECT(rc == SAP_ERROR || (rc == SAP_READONLY && level->readonly),
           "a direct write to expiry times answered %d", rc);
}
