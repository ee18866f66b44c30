#include "support/rowset.h"

#include "sapling/env.h"
#include "support/expect.h"

#include <stdlib.h>
#include <string.h>

void rowset_free(RowSet *set)
{
    for (size_t i = 0; i < set->count; i++) {
        free(set->rows[i].key);
    }
    free(set->rows);
    memset(set, 0, sizeof *set);
}

static SetRow *add(RowSet *set, uint32_t dbi, const void *key, uint32_t key_len, const void *val,
                   uint32_t val_len)
{
    if (set->count == set->capacity) {
        set->capacity = set->capacity == 0 ? 64 : set->capacity * 2;
        set->rows = realloc(set->rows, set->capacity * sizeof *set->rows);
        EXPECT(set->rows != NULL, "no memory");
    }
    SetRow *row = &set->rows[set->count++];
    *row = (SetRow){.dbi = dbi, .key_len = key_len, .val_len = val_len};
    row->key = malloc((size_t)key_len + val_len + 1);
    EXPECT(row->key != NULL, "no memory");
    if (key_len > 0) {
        memcpy(row->key, key, key_len);
    }
    if (val_len > 0) {
        memcpy(row->key + key_len, val, val_len);
    }
    return row;
}

void rowset_add(RowSet *set, uint32_t dbi, const void *key, uint32_t key_len, const void *val,
                uint32_t val_len)
{
    (void)add(set, dbi, key, key_len, val, val_len);
}

static int compare(const void *a, const void *b)
{
    const SetRow *x = a;
    const SetRow *y = b;

    if (x->dbi != y->dbi) {
        return x->dbi < y->dbi ? -1 : 1;
    }
    int c = bytes_compare(x->key, x->key_len, y->key, y->key_len);
    return c != 0 ? c
                  : bytes_compare(x->key + x->key_len, x->val_len, y->key + y->key_len, y->val_len);
}

void rowset_sort(RowSet *set)
{
    size_t kept = 0;

    if (set->count > 1) {
        qsort(set->rows, set->count, sizeof *set->rows, compare);
    }
    for (size_t i = 0; i < set->count; i++) {
        if (kept > 0 && compare(&set->rows[kept - 1], &set->rows[i]) == 0) {
            free(set->rows[i].key);
        } else {
            set->rows[kept++] = set->rows[i];
        }
    }
    set->count = kept;
}

bool rowset_has(const RowSet *set, const SetRow *row)
{
    return set->count > 0 && bsearch(row, set->rows, set->count, sizeof *row, compare) != NULL;
}

void rowset_join(RowSet *set, const RowSet *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const SetRow *row = &from->rows[i];
        rowset_add(set, row->dbi, row->key, row->key_len, row->key + row->key_len, row->val_len);
    }
}

/* ---- Through a DB --------------------------------------------------------------------------- */

void rowset_of_db(RowSet *set, SapEnv *db)
{
    SapTxnCtx *txn = NULL;

    memset(set, 0, sizeof *set);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    for (uint32_t dbi = 0; dbi < db->table_count; dbi++) {
        SapCursor *cursor = table_get(db, dbi) != NULL ? sap_cursor_open_dbi(txn, dbi) : NULL;
        while (cursor != NULL && sap_cursor_next(cursor) == SAP_OK) {
            const void *key = NULL;
            const void *val = NULL;
            uint32_t key_len = 0;
            uint32_t val_len = 0;
            EXPECT_RC(sap_cursor_get(cursor, &key, &key_len, &val, &val_len), SAP_OK);
            rowset_add(set, dbi, key, key_len, val, val_len);
        }
        sap_cursor_close(cursor);
    }
    sap_txn_abort(txn);
    rowset_sort(set);
}

/* ---- From pages ----------------------------------------------------------------------------- */

typedef struct PageWalk {
    RowSet *set;
    Forge *forge;
    const bool *damaged; /* NULL: none */
    bool pairs[SAP_MAX_DBI + 1];
    uint32_t roots[SAP_MAX_DBI + 1];
} PageWalk;

static bool is_sound(const PageWalk *walk, uint32_t pgno, uint32_t pages)
{
    bool sound = true;

    for (uint32_t i = 0; i < pages && walk->damaged != NULL; i++) {
        sound = sound && !walk->damaged[pgno + i];
    }
    return sound;
}

static void take_catalog_row(PageWalk *walk, const LeafRow *row)
{
    uint32_t dbi = load_u16be(row->key);

    if (row->key_len == CATALOG_KEY) {
        walk->roots[dbi] = load_u32le(row->val);
    } else {
        walk->pairs[dbi] = (load_u32le(row->val) & SAP_DBI_DUPSORT) != 0;
    }
}

static void take_row(PageWalk *walk, uint32_t dbi, uint32_t leaf, const LeafRow *row)
{
    SetRow *added = NULL;

    if (row->val_code == CELL_VAL_ELSEWHERE) {
        uint32_t pages = run_pages(walk->forge->meta.page_size, row_run_len(row));
        if (!is_sound(walk, row_run(row), pages)) {
            return;
        }
        added = add(walk->set, dbi, row->key, row->key_len,
                    forge_page(walk->forge, row_run(row)) + PAGE_HEADER, row_run_len(row));
        added->run = row_run(row);
        added->run_pages = pages;
    } else if (walk->pairs[dbi]) {
        PairView pair = pair_view(row->key, row->key_len);
        added = add(walk->set, dbi, pair.key, pair.key_len, pair.val, pair.val_len);
    } else {
        added = add(walk->set, dbi, row->key, row->key_len, row->val, row->stored);
    }
    added->leaf = leaf;
}

static void walk_page(PageWalk *walk, uint32_t dbi, uint32_t pgno)
{
    const uint8_t *page = forge_page(walk->forge, pgno);

    if (!is_sound(walk, pgno, 1)) {
        return;
    }
    for (uint32_t i = 0; i < page_count(page); i++) {
        if (!page_is_leaf(page)) {
            walk_page(walk, dbi, branch_child(page, i));
            continue;
        }
        LeafRow row = leaf_row(page, i);
        if (dbi == ENV_CATALOG) {
            take_catalog_row(walk, &row);
        } else {
            take_row(walk, dbi, pgno, &row);
        }
    }
}

void rowset_of_sound_pages(RowSet *set, Forge *forge, const bool *damaged)
{
    static PageWalk walk;

    memset(set, 0, sizeof *set);
    walk = (PageWalk){.set = set, .forge = forge, .damaged = damaged};
    if (forge->meta.catalog != 0) {
        walk_page(&walk, ENV_CATALOG, forge->meta.catalog);
    }
    for (uint32_t dbi = 0; dbi <= SAP_MAX_DBI; dbi++) {
        if (walk.roots[dbi] != 0) {
            walk_page(&walk, dbi, walk.roots[dbi]);
        }
    }
    rowset_sort(set);
}

void rowset_of_pages(RowSet *set, Forge *forge)
{
    rowset_of_sound_pages(set, forge, NULL);
}
