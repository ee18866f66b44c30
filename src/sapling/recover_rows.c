/* recover_rows.c - the tables and rows of a damaged data file; see recover.h. */
#include "sapling/recover.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/assert.h"
#include "common/mem.h"
#include "sapling/arena_impl.h"
#include "sapling/rows.h"

enum {
    SHOWN_KEY_MAX = 32,
    KEY_TEXT = SHOWN_KEY_MAX * 4 + 8,
    GUESS_LEAVES = 64, /* that a guess at a table's order must fit */
};

#define UNKNOWN_ROWS UINT64_MAX

typedef struct Bound {
    const uint8_t *key; /* NULL: none */
    uint32_t len;
} Bound;

/* What lay below a damaged page: the keys from lo on, below hi. Offsets into `bounds`. */
typedef struct LostRange {
    uint32_t dbi;
    uint32_t pgno; /* 0: the root is not known */
    const char *damage;
    uint64_t rows; /* UNKNOWN_ROWS */
    uint64_t found;
    size_t lo_at;
    size_t hi_at;
    uint32_t lo_len;
    uint32_t hi_len;
    bool has_lo;
    bool has_hi;
} LostRange;

typedef struct FoundLeaf {
    uint32_t dbi;
    uint32_t pgno;
    uint64_t birth;
} FoundLeaf;

static LostRange *lost_ranges(const Recover *r)
{
    return (LostRange *)(void *)r->lost.data;
}

static size_t lost_count(const Recover *r)
{
    return r->lost.len / sizeof(LostRange);
}

static const FoundLeaf *found_leaves(const Recover *r)
{
    return (const FoundLeaf *)(const void *)r->leaves.data;
}

static size_t leaf_count(const Recover *r)
{
    return r->leaves.len / sizeof(FoundLeaf);
}

/* ---- Words ---------------------------------------------------------------------------------- */

/* A key for people, in `text`. */
static const char *show_key(const Table *table, Bound key, char text[KEY_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    size_t at = 0;
    if (table != NULL && table->pairs != NULL) {
        PairView view = pair_view(key.key, key.len);
        key = (Bound){view.key, view.key_len};
    }
    text[at++] = '"';
    for (uint32_t i = 0; i < key.len && i < SHOWN_KEY_MAX; i++) {
        uint8_t c = key.key[i];
        if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
            text[at++] = (char)c;
        } else {
            text[at++] = '\\';
            text[at++] = 'x';
            text[at++] = digits[c >> 4];
            text[at++] = digits[c & 15];
        }
    }
    text[at++] = '"';
    for (int i = 0; key.len > SHOWN_KEY_MAX && i < 3; i++) {
        text[at++] = '.';
    }
    text[at] = 0;
    return text;
}

/* ---- Damage --------------------------------------------------------------------------------- */

static void mark(const Recover *r, uint64_t *bits, uint64_t pgno, uint64_t pages)
{
    for (uint64_t i = pgno; i < pgno + pages && i < r->source.high; i++) {
        arena_set_bit(bits, (uint32_t)i);
    }
}

static void mark_seen(Recover *r, uint32_t pgno)
{
    mark(r, r->source.seen, pgno, 1);
}

static int keep_bound(Recover *r, Bound bound, size_t *at_out, uint32_t *len_out, bool *has_out)
{
    *at_out = r->bounds.len;
    *len_out = bound.len;
    *has_out = bound.key != NULL;
    return bound.key != NULL ? buf_append(&r->bounds, bound.key, bound.len) : SAP_OK;
}

static int note_lost(Recover *r, LostRange range, Bound lo, Bound hi)
{
    int rc = keep_bound(r, lo, &range.lo_at, &range.lo_len, &range.has_lo);
    if (rc == SAP_OK) {
        rc = keep_bound(r, hi, &range.hi_at, &range.hi_len, &range.has_hi);
    }
    if (rc == SAP_OK) {
        rc = buf_append(&r->lost, &range, sizeof range);
    }
    if (rc == SAP_OK && range.pgno != 0) {
        r->report.pages_damaged++;
        mark(r, r->known, range.pgno, 1);
    }
    return rc;
}

static Bound lost_lo(const Recover *r, const LostRange *range)
{
    return (Bound){range->has_lo ? key_bytes(r->bounds.data + range->lo_at) : NULL, range->lo_len};
}

static Bound lost_hi(const Recover *r, const LostRange *range)
{
    return (Bound){range->has_hi ? key_bytes(r->bounds.data + range->hi_at) : NULL, range->hi_len};
}

/* The lost range that the key is in, or NULL. */
static LostRange *lost_range_of(const Recover *r, uint32_t dbi, KeyOrder order, const LeafRow *row)
{
    LostRange *all = lost_ranges(r);
    size_t from = 0;
    size_t to = lost_count(r);
    while (from < to) { /* the first that begins behind the key */
        size_t middle = from + (to - from) / 2;
        Bound lo = lost_lo(r, &all[middle]);
        bool behind = all[middle].dbi > dbi ||
                      (all[middle].dbi == dbi && lo.key != NULL &&
                       key_compare(order, row->key, row->key_len, lo.key, lo.len) < 0);
        if (behind) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    if (from == 0 || all[from - 1].dbi != dbi) {
        return NULL;
    }
    LostRange *range = &all[from - 1];
    Bound hi = lost_hi(r, range);
    return hi.key == NULL || key_compare(order, row->key, row->key_len, hi.key, hi.len) < 0 ? range
                                                                                            : NULL;
}

static void tell_lost(Recover *r, const LostRange *range)
{
    const Table *table = table_get(r->env, range->dbi);
    char lo_text[KEY_TEXT];
    char hi_text[KEY_TEXT];
    char page[80] = "its root is not known";
    char count[80] = "nobody knows how many there were";
    Bound lo = lost_lo(r, range);
    Bound hi = lost_hi(r, range);
    if (range->pgno != 0) {
        (void)snprintf(page, sizeof page, "page %u %s", range->pgno, range->damage);
    }
    if (range->rows != UNKNOWN_ROWS) {
        uint64_t lost = range->rows > range->found ? range->rows - range->found : 0;
        r->report.rows_lost += lost;
        (void)snprintf(count, sizeof count, "%" PRIu64 " of %" PRIu64 " are lost", lost,
                       range->rows);
    }
    (void)recover_tell(
        r, SAP_OK,
        "table %u: %s. Of its rows from %s up to %s, %" PRIu64 " were found on other pages; %s",
        range->dbi, page, lo.key != NULL ? show_key(table, lo, lo_text) : "the first",
        hi.key != NULL ? show_key(table, hi, hi_text) : "the last", range->found, count);
}

/* ---- Rows ----------------------------------------------------------------------------------- */

/* The value of a row of a leaf with that birth; *damage_out: why there is none. */
static int read_value(Recover *r, const LeafRow *row, uint64_t birth, Slice *value_out,
                      const char **damage_out)
{
    *damage_out = NULL;
    *value_out = (Slice){row->val, row->stored};
    if (row->val_code != CELL_VAL_ELSEWHERE) {
        return SAP_OK;
    }
    int rc = salvage_run(&r->source, row_run(row), &r->run, damage_out);
    if (rc != SAP_OK) {
        return rc;
    }
    /* The run is not younger than the leaf: it would be another row's that came to its place. */
    if (*damage_out == NULL && (load_u32le(r->run.data + PAGE_RUN_LEN) != row_run_len(row) ||
                                page_birth(r->run.data) > birth)) {
        *damage_out = "is another value";
    }
    mark(r, r->known, row_run(row), run_pages(r->source.page_size, row_run_len(row)));
    *value_out = *damage_out == NULL ? (Slice){r->run.data + PAGE_HEADER, r->run.len - PAGE_HEADER}
                                     : (Slice){0};
    return SAP_OK;
}

/* Puts the row where there is none with its key. *put_out: whether that was so. */
static int put_absent(Recover *r, uint32_t dbi, const LeafRow *row, Slice value, bool *put_out)
{
    Table *table = &r->env->tables[dbi];
    Path path;
    TreeChange change;
    int rc = tree_seek(r->env, table->tree.root, table->order, row->key, row->key_len, &path);
    *put_out = rc == SAP_NOTFOUND;
    if (rc != SAP_NOTFOUND) {
        return rc;
    }
    RowPlace at = {.path = &path};
    return rows_put_at(r->txn, dbi, table, &at, row->key, row->key_len, key_bytes(value.data),
                       (uint32_t)value.len, &change);
}

static int place_row(Recover *r, uint32_t dbi, const LeafRow *row, uint64_t birth, bool reached)
{
    Table *table = &r->env->tables[dbi];
    LostRange *range = reached ? NULL : lost_range_of(r, dbi, table->order, row);
    Slice value;
    const char *damage = NULL;
    if (!reached && range == NULL) {
        return SAP_OK;
    }
    int rc = read_value(r, row, birth, &value, &damage);
    if (rc != SAP_OK) {
        return rc;
    }
    if (damage != NULL) {
        char text[KEY_TEXT];
        r->report.pages_damaged++;
        r->report.rows_lost += reached ? 1 : 0; /* else it is missing in its range */
        return recover_tell(r, SAP_OK, "table %u: the row %s is lost: its value, at page %u, %s",
                            dbi, show_key(table, (Bound){row->key, row->key_len}, text),
                            row_run(row), damage);
    }
    bool put = false;
    if (table->pairs != NULL) {
        value = (Slice){0}; /* a pair has none beside itself */
    }
    rc = put_absent(r, dbi, row, value, &put);
    if (rc == SAP_OK && put && !reached) {
        r->report.rows_unplaced++;
        range->found++;
    }
    return rc;
}

/* What is wrong with a sound node as one of the table, or NULL. */
static const char *damage_in_table(const Table *table, const uint8_t *page)
{
    if ((page_flags(page) & ~(uint32_t)PAGE_OWNS_RUNS) != table->page_flags) {
        return "is not of this table";
    }
    return table->pairs != NULL && !page_holds_pairs(page) ? "has keys that are not pairs" : NULL;
}

static int place_leaf(Recover *r, uint32_t dbi, const uint8_t *page, bool reached)
{
    int rc = SAP_OK;
    for (uint32_t i = 0; i < page_count(page) && rc == SAP_OK; i++) {
        LeafRow row = leaf_row(page, i);
        rc = place_row(r, dbi, &row, page_birth(page), reached);
    }
    return rc == SAP_OK ? recover_progress(r, page_count(page)) : rc;
}

/* ---- The catalog ---------------------------------------------------------------------------- */

static void note_definition(Recover *r, const LeafRow *row)
{
    uint32_t dbi = 0;
    unsigned flags = 0;
    Slice names[2];
    if (definition_decode(row, &dbi, &flags, names) != SAP_OK ||
        !definition_valid(dbi, flags, names[0], names[1]) || r->tables[dbi].defined) {
        return;
    }
    SourceTable *table = &r->tables[dbi];
    table->defined = true;
    table->flags = flags;
    memcpy(table->key_name, key_bytes(names[0].data), names[0].len);
    memcpy(table->val_name, key_bytes(names[1].data), names[1].len);
}

/* A catalog leaf; roots of one that was not reached may be old, unless it is in use. */
static void note_catalog_leaf(Recover *r, const uint8_t *page, bool roots)
{
    for (uint32_t i = 0; i < page_count(page); i++) {
        LeafRow row = leaf_row(page, i);
        uint32_t dbi = row.key_len >= CATALOG_KEY ? load_u16be(row.key) : SAP_MAX_DBI + 1;
        TreeState tree;
        if (row.key_len != CATALOG_KEY) {
            note_definition(r, &row);
        } else if (roots && dbi <= SAP_MAX_DBI && row.val_code != CELL_VAL_ELSEWHERE &&
                   catalog_decode_root(row.val, row.stored, &tree) == SAP_OK &&
                   !r->tables[dbi].rooted) {
            r->tables[dbi].rooted = true;
            r->tables[dbi].tree = tree;
        }
    }
}

/* ---- From a root down ----------------------------------------------------------------------- */

typedef struct Place {
    uint32_t pgno;
    const uint8_t *parent; /* NULL: a root */
    uint32_t depth;
    uint64_t rows; /* that should be below it */
    Bound lo;
    Bound hi;
} Place;

static int room_at(Recover *r, uint32_t depth)
{
    if (r->room[depth] == NULL) {
        r->room[depth] = (uint8_t *)mem_alloc(MEM_SCRATCH, (size_t)3 * r->source.page_size);
    }
    return r->room[depth] != NULL ? SAP_OK : SAP_NOMEM;
}

static const char *damage_at_place(const Recover *r, const Table *table, const Place *place,
                                   const uint8_t *page)
{
    if (place->parent != NULL && !page_is_child(place->parent, page)) {
        return "is no child of the page above it";
    }
    if (arena_bit(r->source.seen, place->pgno)) {
        return "is used twice";
    }
    return damage_in_table(table, page);
}

static int walk(Recover *r, uint32_t dbi, const Place *place);

static int walk_children(Recover *r, uint32_t dbi, const Place *place, const uint8_t *page)
{
    uint8_t *seps[2] = {r->room[place->depth] + r->source.page_size,
                        r->room[place->depth] + (size_t)2 * r->source.page_size};
    uint32_t n = page_count(page);
    int rc = SAP_OK;
    Bound from = place->lo;
    for (uint32_t i = 0; i < n && rc == SAP_OK; i++) {
        Bound to = place->hi;
        if (i + 1 < n) {
            to = (Bound){seps[i % 2], branch_sep_copy(page, i + 1, seps[i % 2])};
        }
        Place below = {.pgno = branch_child(page, i),
                       .parent = page,
                       .depth = place->depth + 1,
                       .rows = branch_rows(page, i),
                       .lo = from,
                       .hi = to};
        rc = walk(r, dbi, &below);
        from = to;
    }
    return rc;
}

static int walk(Recover *r, uint32_t dbi, const Place *place)
{
    const Table *table = dbi == ENV_CATALOG ? &r->env->catalog : &r->env->tables[dbi];
    const char *damage = NULL;
    SAP_ASSERT(place->depth < TREE_MAX_DEPTH);
    int rc = room_at(r, place->depth);
    if (rc != SAP_OK) {
        return rc;
    }
    uint8_t *page = r->room[place->depth];
    rc = salvage_node(&r->source, place->pgno, page, &damage);
    if (rc != SAP_OK) {
        return rc;
    }
    if (damage == NULL) {
        damage = damage_at_place(r, table, place, page);
    }
    if (damage != NULL) {
        return note_lost(
            r, (LostRange){.dbi = dbi, .pgno = place->pgno, .damage = damage, .rows = place->rows},
            place->lo, place->hi);
    }
    mark_seen(r, place->pgno);
    if (!page_is_leaf(page)) {
        return walk_children(r, dbi, place, page);
    }
    if (dbi == ENV_CATALOG) {
        note_catalog_leaf(r, page, true);
        return SAP_OK;
    }
    return place_leaf(r, dbi, page, true);
}

/* ---- Looking for leaves --------------------------------------------------------------------- */

static int collect(void *ctx, const uint8_t *page)
{
    Recover *r = (Recover *)ctx;
    uint32_t pages = page[PAGE_TYPE] == PAGE_OVERFLOW ? load_u32le(page + PAGE_RUN_PAGES) : 1;
    FoundLeaf leaf = {
        .dbi = page_flags(page) & PAGE_DBI_MASK, .pgno = page_no(page), .birth = page_birth(page)};
    mark(r, r->sound, leaf.pgno, pages);
    return page[PAGE_TYPE] == PAGE_LEAF && leaf.dbi <= ENV_CATALOG
               ? buf_append(&r->leaves, &leaf, sizeof leaf)
               : SAP_OK;
}

static int compare_leaves(const void *a, const void *b)
{
    const FoundLeaf *x = (const FoundLeaf *)a;
    const FoundLeaf *y = (const FoundLeaf *)b;
    if (x->dbi != y->dbi) {
        return x->dbi < y->dbi ? -1 : 1;
    }
    if (x->birth != y->birth) {
        return x->birth > y->birth ? -1 : 1;
    }
    return x->pgno < y->pgno ? -1 : 1;
}

/* Once, when something is found to be missing. */
static int look_for_leaves(Recover *r)
{
    Salvage *source = &r->source;
    if (r->sound != NULL) {
        return SAP_OK;
    }
    r->sound = (uint64_t *)mem_zalloc(MEM_SCRATCH, source->words * sizeof *r->sound);
    if (r->sound == NULL) {
        return SAP_NOMEM;
    }
    if (!source->id_known && source->used == NULL) {
        return SAP_OK; /* nothing would tell a page from what was never committed */
    }
    int rc = salvage_each(source, collect, r);
    if (rc == SAP_OK && leaf_count(r) > 1) {
        qsort(r->leaves.data, leaf_count(r), sizeof(FoundLeaf), compare_leaves);
    }
    return rc;
}

static size_t first_leaf_of(const Recover *r, uint32_t dbi)
{
    size_t from = 0;
    size_t to = leaf_count(r);
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (found_leaves(r)[middle].dbi < dbi) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

/* The leaves of a table, as a part of the list. */
static const FoundLeaf *leaves_of(const Recover *r, uint32_t dbi, size_t *count_out)
{
    size_t from = first_leaf_of(r, dbi);
    *count_out = first_leaf_of(r, dbi + 1) - from;
    return *count_out > 0 ? found_leaves(r) + from : NULL;
}

/* Reads a leaf that was found before. */
static int load_leaf(Recover *r, const FoundLeaf *leaf, const uint8_t **page_out)
{
    const char *damage = NULL;
    int rc = room_at(r, 0);
    if (rc == SAP_OK) {
        rc = salvage_node(&r->source, leaf->pgno, r->room[0], &damage);
    }
    *page_out = r->room[0];
    return rc == SAP_OK && damage != NULL ? SAP_IO : rc; /* it was sound a moment ago */
}

/* ---- Tables --------------------------------------------------------------------------------- */

static const SapComparator *comparator_named(const Recover *r, Slice name)
{
    for (uint32_t i = 0; i < r->options.comparator_count; i++) {
        const SapComparator *comparator = &r->options.comparators[i];
        if (strlen(comparator->name) == name.len &&
            memcmp(comparator->name, name.data, name.len) == 0) {
            return comparator;
        }
    }
    return NULL;
}

static int resolve(Recover *r, uint32_t dbi, Slice name, KeyOrder *order_out, const char **name_out)
{
    if (name.len == 0) {
        return SAP_OK;
    }
    const SapComparator *comparator = comparator_named(r, name);
    if (comparator == NULL) {
        return recover_tell(r, SAP_ERROR,
                            "table %u is left out: it is ordered by the comparator \"%.*s\", which "
                            "the options do not have",
                            dbi, (int)name.len, (const char *)name.data);
    }
    *order_out = (KeyOrder){.cmp = comparator->cmp, .ctx = comparator->ctx};
    *name_out = comparator->name;
    return SAP_OK;
}

static bool same_name(const char *a, const char *b)
{
    return (a == NULL) == (b == NULL) && (a == NULL || strcmp(a, b) == 0);
}

static int empty_table(Recover *r, uint32_t dbi)
{
    Table *table = &r->env->tables[dbi];
    int rc = table->tree.root != 0 ? table_save(r->txn, dbi, table) : SAP_OK;
    if (rc == SAP_OK && table->tree.root != 0) {
        rc = tree_free_rows(r->txn, table->tree);
    }
    if (rc == SAP_OK) {
        table->tree = (TreeState){0};
    }
    return rc;
}

int recover_refuse(Recover *r, uint32_t dbi)
{
    r->tables[dbi].refused = true;
    if (table_get(r->env, dbi) == NULL) {
        return SAP_OK;
    }
    int rc = empty_table(r, dbi);
    if (rc == SAP_OK) {
        table_take_back(r->env, dbi, &(Table){0});
    }
    return rc;
}

int recover_define(Recover *r, uint32_t dbi, unsigned flags, Slice key_name, Slice val_name)
{
    TableDef def = {.flags = flags};
    if (!definition_valid(dbi, flags, key_name, val_name)) {
        return SAP_CORRUPT;
    }
    int rc = resolve(r, dbi, key_name, &def.keys, &def.key_name);
    if (rc == SAP_OK) {
        rc = resolve(r, dbi, val_name, &def.vals, &def.val_name);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    const Table *table = table_get(r->env, dbi);
    if (table != NULL && table->tree.root != 0 && table->flags == flags &&
        same_name(table->key_name, def.key_name) && same_name(table->val_name, def.val_name)) {
        return SAP_OK;
    }
    if (table != NULL) {
        rc = empty_table(r, dbi);
    }
    Table before;
    if (rc == SAP_OK) {
        rc = table_define(r->env, dbi, &def, &before);
    }
    if (rc == SAP_OK) {
        table_keep(&before);
        r->tables[dbi].refused = false;
        rc = r->env->file != NULL ? definition_put(r->txn, dbi) : SAP_OK;
    }
    return rc;
}

/* ---- Guessing a definition ------------------------------------------------------------------ */

typedef struct Guess {
    bool pairs;
    const SapComparator *keys; /* NULL: bytes */
    const SapComparator *vals;
} Guess;

static KeyOrder order_of(const SapComparator *comparator)
{
    return comparator != NULL ? (KeyOrder){.cmp = comparator->cmp, .ctx = comparator->ctx}
                              : (KeyOrder){0};
}

static bool leaf_fits_guess(const uint8_t *page, const Guess *guess)
{
    PairOrder pairs = {.keys = order_of(guess->keys), .values = order_of(guess->vals)};
    KeyOrder order = guess->pairs ? (KeyOrder){.cmp = pair_compare, .ctx = &pairs} : pairs.keys;
    bool fits = page_is_plain(page) && (!guess->pairs || page_holds_pairs(page));
    for (uint32_t i = 0; fits && i < page_count(page); i++) {
        LeafRow row = leaf_row(page, i);
        fits = !guess->pairs || row.stored == 0;
        if (fits && i > 0) {
            LeafRow before = leaf_row(page, i - 1);
            fits = key_compare(order, before.key, before.key_len, row.key, row.key_len) < 0;
        }
    }
    return fits;
}

static int leaves_fit_guess(Recover *r, uint32_t dbi, const Guess *guess, bool *fit_out)
{
    size_t count = 0;
    const FoundLeaf *leaves = leaves_of(r, dbi, &count);
    int rc = SAP_OK;
    *fit_out = true;
    for (size_t i = 0; i < count && i < GUESS_LEAVES && rc == SAP_OK && *fit_out; i++) {
        const uint8_t *page = NULL;
        rc = load_leaf(r, &leaves[i], &page);
        *fit_out = rc == SAP_OK && leaf_fits_guess(page, guess);
    }
    return rc;
}

/* The n-th guess: pairs in every combination of orders, then keys in each order but that of bytes.
 * False: there are no more. */
static bool nth_guess(const Recover *r, uint64_t n, Guess *guess)
{
    uint64_t orders = (uint64_t)r->options.comparator_count + 1;
    const SapComparator *all = r->options.comparators;
    guess->pairs = n < orders * orders;
    uint64_t keys = guess->pairs ? n / orders : n - orders * orders + 1;
    uint64_t vals = guess->pairs ? n % orders : 0;
    if (keys >= orders) {
        return false;
    }
    guess->keys = keys > 0 ? &all[keys - 1] : NULL;
    guess->vals = vals > 0 ? &all[vals - 1] : NULL;
    return true;
}

/* The definition of a table that has leaves is lost: what they look like must do. */
static int guess_definition(Recover *r, uint32_t dbi)
{
    size_t count = 0;
    const FoundLeaf *leaves = leaves_of(r, dbi, &count);
    const uint8_t *page = NULL;
    int rc = load_leaf(r, &leaves[0], &page);
    if (rc != SAP_OK) {
        return rc;
    }
    Guess guess = {0};
    bool fits = !page_is_plain(page);
    if (fits && dbi == 0) {
        return SAP_OK; /* as every DBI 0 without a definition */
    }
    for (uint64_t n = 0; !fits && nth_guess(r, n, &guess) && rc == SAP_OK; n++) {
        rc = leaves_fit_guess(r, dbi, &guess, &fits);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    if (!fits) {
        (void)recover_tell(r, SAP_OK,
                           "table %u is left out: its definition is lost, and its rows are in the "
                           "order of no comparator of the options",
                           dbi);
        return recover_refuse(r, dbi);
    }
    const char *key_name = guess.keys != NULL ? guess.keys->name : NULL;
    const char *val_name = guess.vals != NULL ? guess.vals->name : NULL;
    (void)recover_tell(r, SAP_OK,
                       "the definition of table %u is lost; it was made again by the look of its "
                       "rows: %s, keys in the order of %s%s%s",
                       dbi, guess.pairs ? "DUPSORT" : "no flags",
                       key_name != NULL ? key_name : "bytes", guess.pairs ? ", values of " : "",
                       !guess.pairs       ? ""
                       : val_name != NULL ? val_name
                                          : "bytes");
    return recover_define(r, dbi, guess.pairs ? SAP_DBI_DUPSORT : 0, slice_from_str(key_name),
                          slice_from_str(val_name));
}

/* ---- The whole ------------------------------------------------------------------------------ */

static int find_catalog(Recover *r)
{
    const Salvage *source = &r->source;
    int rc = SAP_OK;
    if (source->has_meta && source->meta.catalog != 0) {
        Place root = {.pgno = source->meta.catalog, .rows = source->meta.catalog_rows};
        rc = walk(r, ENV_CATALOG, &root);
    }
    bool whole = source->has_meta && lost_count(r) == 0;
    for (size_t i = 0; i < lost_count(r) && rc == SAP_OK; i++) {
        const LostRange *range = &lost_ranges(r)[i];
        (void)recover_tell(r, SAP_OK,
                           "the catalog of tables: page %u %s. Definitions and roots of tables are "
                           "looked for on other pages",
                           range->pgno, range->damage);
    }
    buf_clear(&r->lost);
    buf_clear(&r->bounds);
    if (rc != SAP_OK || whole) {
        return rc;
    }
    rc = look_for_leaves(r);
    size_t count = 0;
    const FoundLeaf *leaves = rc == SAP_OK ? leaves_of(r, ENV_CATALOG, &count) : NULL;
    for (size_t i = 0; i < count && rc == SAP_OK; i++) {
        const uint8_t *page = NULL;
        rc = load_leaf(r, &leaves[i], &page);
        if (rc == SAP_OK && !arena_bit(source->seen, leaves[i].pgno)) {
            mark_seen(r, leaves[i].pgno);
            note_catalog_leaf(r, page, source->used != NULL);
        }
    }
    return rc;
}

static int open_table(Recover *r, uint32_t dbi)
{
    SourceTable *table = &r->tables[dbi];
    size_t count = 0;
    if (table->defined) {
        int rc = recover_define(r, dbi, table->flags, slice_from_str(table->key_name),
                                slice_from_str(table->val_name));
        return rc == SAP_ERROR ? recover_refuse(r, dbi) : rc;
    }
    if (table->rooted && dbi != 0) {
        int rc = look_for_leaves(r);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return leaves_of(r, dbi, &count) != NULL ? guess_definition(r, dbi) : SAP_OK;
}

static int walk_table(Recover *r, uint32_t dbi)
{
    const SourceTable *table = &r->tables[dbi];
    size_t count = 0;
    if (table_get(r->env, dbi) == NULL || table->refused) {
        return SAP_OK;
    }
    if (table->rooted) {
        Place root = {.pgno = table->tree.root, .rows = table->tree.entries};
        return walk(r, dbi, &root);
    }
    if (leaves_of(r, dbi, &count) == NULL) {
        return SAP_OK;
    }
    return note_lost(r, (LostRange){.dbi = dbi, .rows = UNKNOWN_ROWS}, (Bound){0}, (Bound){0});
}

/* The leaves that were not reached, the youngest of each table first. */
static int place_leaves(Recover *r)
{
    const Salvage *source = &r->source;
    int rc = look_for_leaves(r);
    for (size_t i = 0; i < leaf_count(r) && rc == SAP_OK; i++) {
        const FoundLeaf *leaf = &found_leaves(r)[i];
        const Table *table = leaf->dbi <= SAP_MAX_DBI ? table_get(r->env, leaf->dbi) : NULL;
        const uint8_t *page = NULL;
        if (table == NULL || r->tables[leaf->dbi].refused || arena_bit(source->seen, leaf->pgno)) {
            continue;
        }
        rc = load_leaf(r, leaf, &page);
        if (rc == SAP_OK && damage_in_table(table, page) == NULL) {
            rc = place_leaf(r, leaf->dbi, page, false);
        }
    }
    if (rc == SAP_OK && source->used == NULL && r->report.rows_unplaced > 0) {
        r->report.doubtful = 1;
        (void)recover_tell(
            r, SAP_OK,
            "which pages were in use is not known: of the rows found on other pages, "
            "some may have been deleted or replaced before");
    }
    return rc;
}

/* Pages in use that nothing sound accounts for. */
static void count_damaged(Recover *r)
{
    const Salvage *source = &r->source;
    if (r->sound == NULL || source->used == NULL) {
        return;
    }
    for (uint32_t pgno = file_first_page(source->page_size); pgno < source->high; pgno++) {
        if (arena_bit(source->used, pgno) && !arena_bit(source->seen, pgno) &&
            !arena_bit(r->known, pgno) && !arena_bit(r->sound, pgno)) {
            r->report.pages_damaged++;
        }
    }
}

static void tell_header(Recover *r)
{
    const Salvage *source = &r->source;
    if (source->copies_damaged > 0) {
        r->report.pages_damaged += source->copies_damaged;
        (void)recover_tell(r, SAP_OK, "%u of the four copies of its header are damaged%s",
                           source->copies_damaged,
                           source->has_meta ? "; the newest checkpoint is known all the same"
                                            : ", and with them the place of everything else");
    }
    if (!source->id_known && source->used != NULL) {
        (void)recover_tell(r, SAP_OK,
                           "its id is lost: checksums could not be tested, pages were taken that "
                           "look sound");
    }
    if (source->used == NULL && (!source->has_meta || source->meta.bitmap != 0)) {
        r->report.pages_damaged += source->has_meta ? 1 : 0;
        (void)recover_tell(r, SAP_OK, "the bitmap of pages in use is damaged");
    }
}

static void tell_tables(Recover *r)
{
    for (uint32_t dbi = 0; dbi <= SAP_MAX_DBI; dbi++) {
        const SourceTable *table = &r->tables[dbi];
        const Table *target = table_get(r->env, dbi);
        bool empty = target == NULL || target->tree.entries == 0;
        if (table->refused || (table->rooted && table->tree.entries > 0 && empty)) {
            r->report.tables_lost++;
            (void)recover_tell(r, SAP_OK, "table %u: none of its rows are saved", dbi);
        }
    }
}

int recover_rows(Recover *r)
{
    r->tables = (SourceTable *)mem_zalloc(MEM_SCRATCH, (SAP_MAX_DBI + 1) * sizeof *r->tables);
    r->known = (uint64_t *)mem_zalloc(MEM_SCRATCH, r->source.words * sizeof *r->known);
    if (r->tables == NULL || r->known == NULL) {
        return SAP_NOMEM;
    }
    tell_header(r);
    int rc = find_catalog(r);
    for (uint32_t dbi = 0; dbi <= SAP_MAX_DBI && rc == SAP_OK; dbi++) {
        rc = open_table(r, dbi);
    }
    for (uint32_t dbi = 0; dbi <= SAP_MAX_DBI && rc == SAP_OK; dbi++) {
        rc = walk_table(r, dbi);
    }
    if (rc == SAP_OK && lost_count(r) > 0) {
        rc = place_leaves(r);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    count_damaged(r);
    for (size_t i = 0; i < lost_count(r); i++) {
        tell_lost(r, &lost_ranges(r)[i]);
    }
    tell_tables(r);
    return SAP_OK;
}

void recover_rows_release(Recover *r)
{
    for (uint32_t depth = 0; depth < TREE_MAX_DEPTH; depth++) {
        mem_free(MEM_SCRATCH, r->room[depth], (size_t)3 * r->source.page_size);
    }
    mem_free(MEM_SCRATCH, r->tables, (SAP_MAX_DBI + 1) * sizeof *r->tables);
    mem_free(MEM_SCRATCH, r->known, r->source.words * sizeof *r->known);
    mem_free(MEM_SCRATCH, r->sound, r->source.words * sizeof *r->sound);
    buf_release(&r->run);
    buf_release(&r->lost);
    buf_release(&r->bounds);
    buf_release(&r->leaves);
}
