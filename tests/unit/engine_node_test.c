/* Leaf and branch pages against sorted arrays, without a tree around them, and the exact bytes of
 * some small ones. SAP_TEST_SEED and SAP_TEST_SEEDS repeat and extend the random histories. */
#include "common/fault.h"
#include "common/mem.h"
#include "sapling/node.h"
#include "sapling/node_search.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/orders.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_S = 300, MAX_PAGE = 65535, MAX_ENTRIES = 12000, TABLE = 77 };

static const uint32_t page_sizes[] = {256,  257,  300,   512,   1000, 1024,
                                      4096, 8192, 16384, 32768, 65535};
enum { PAGE_SIZES = sizeof page_sizes / sizeof page_sizes[0] };

static void *must(void *p)
{
    EXPECT(p != NULL, "out of memory");
    return p;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static KeyOrder key_order(OrderKind kind)
{
    return (KeyOrder){.cmp = order_cmp(kind), .ctx = order_ctx(kind)};
}

static int compare(KeyOrder order, const uint8_t *a, uint32_t a_len, const uint8_t *b,
                   uint32_t b_len)
{
    return order.cmp != NULL ? order.cmp(a, a_len, b, b_len, order.ctx)
                             : bytes_compare(a, a_len, b, b_len);
}

/* A string of bytes that ends where its memory ends, so that a sanitizer sees any read beyond. */
typedef struct Blob {
    uint32_t len;
    uint8_t bytes[];
} Blob;

static Blob *blob_new(const void *bytes, uint32_t len)
{
    Blob *blob = must(malloc(sizeof *blob + len));

    blob->len = len;
    if (len > 0) {
        memcpy(blob->bytes, bytes, len);
    }
    return blob;
}

static bool blob_is(const Blob *blob, const uint8_t *bytes, uint32_t len)
{
    return blob->len == len && (len == 0 || memcmp(blob->bytes, bytes, len) == 0);
}

/* The four bytes from `from` on as page.h asks for them. */
static uint32_t head_of(const Blob *key, uint32_t from)
{
    uint8_t four[4] = {0};

    if (from < key->len) {
        memcpy(four, key->bytes + from, smaller(4, key->len - from));
    }
    return load_u32be(four);
}

/* ---- Keys ----------------------------------------------------------------------------------- */

typedef enum Shape {
    SHAPE_TINY,     /* 0 to 3 bytes: no two fit less */
    SHAPE_SHORT,    /* 0 to 8 bytes of few kinds */
    SHAPE_EXTREME,  /* 0x00 and 0xff only */
    SHAPE_CHAIN,    /* each the prefix of the next */
    SHAPE_PREFIXED, /* behind common prefixes of several lengths */
    SHAPE_COUNTER,  /* 8 bytes big-endian */
    SHAPE_LONGEST,  /* the longest possible, different in any place */
    SHAPE_MIXED,
    SHAPE_COUNT
} Shape;

static uint8_t any_byte(Choice *choice)
{
    static const uint8_t bytes[] = {0, 1, 'a', 'b', 0x7f, 0x80, 0xfe, 0xff};

    return choice_one_in(choice, 3) ? (uint8_t)choice_below(choice, 256)
                                    : bytes[choice_below(choice, sizeof bytes)];
}

static uint32_t any_bytes(Choice *choice, uint8_t *out, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++) {
        out[i] = any_byte(choice);
    }
    return len;
}

/* Writes a key of at most max_len bytes to `out` and returns its length. */
static uint32_t any_key(Choice *choice, Shape shape, uint32_t max_len, uint8_t *out)
{
    static const uint32_t prefixes[] = {1, 2, 3, 4, 5, 8, 13, 40};
    uint32_t len = 0;

    switch (shape) {
    case SHAPE_TINY:
        return any_bytes(choice, out, choice_below(choice, 4));
    case SHAPE_SHORT:
        return any_bytes(choice, out, choice_below(choice, 9));
    case SHAPE_EXTREME:
        len = choice_below(choice, 14);
        for (uint32_t i = 0; i < len; i++) {
            out[i] = choice_one_in(choice, 2) ? 0xff : 0;
        }
        return len;
    case SHAPE_CHAIN:
        len = choice_below(choice, smaller(max_len, 60) + 1);
        memset(out, 0, len);
        if (len > 0 && choice_one_in(choice, 4)) {
            out[len - 1] = any_byte(choice);
        }
        return len;
    case SHAPE_PREFIXED:
        len = smaller(prefixes[choice_below(choice, 8)], max_len - 6);
        memset(out, 'p', len);
        return len + any_bytes(choice, out + len, choice_below(choice, 7));
    case SHAPE_COUNTER:
        store_u64be(out, UINT64_C(0x0102030400000000) + choice_below(choice, 1 << 20));
        return 8;
    case SHAPE_LONGEST:
        len = max_len - (choice_one_in(choice, 2) ? 0 : choice_below(choice, max_len / 2));
        memset(out, 'x', len);
        out[choice_below(choice, len)] = any_byte(choice);
        out[choice_below(choice, smaller(len, 6))] = any_byte(choice);
        return len;
    default:
        return any_key(choice, (Shape)choice_below(choice, SHAPE_MIXED), max_len, out);
    }
}

/* Keys near a given one, at the end of a buffer: the next, the previous, a little more and less. */
enum { PROBES = 6 };
static uint8_t probe_memory[MAX_PAGE + 1];

static const uint8_t *probe_of(const Blob *key, uint32_t which, uint32_t *len_out)
{
    bool longer = which == 1 || which == 5;
    bool cut = which == 2 && key->len > 0;
    uint32_t len = longer ? key->len + 1 : cut ? key->len - 1 : key->len;
    uint8_t *out = probe_memory + sizeof probe_memory - len;

    if (key->len > 0) {
        memcpy(out, key->bytes, smaller(len, key->len));
    }
    if (longer) {
        out[len - 1] = which == 1 ? 0 : 0xff;
    } else if (len > 0 && which == 3) {
        out[len - 1]++;
    } else if (len > 0 && which == 4) {
        out[len - 1]--;
    }
    *len_out = len;
    return out;
}

/* ---- Heads ---------------------------------------------------------------------------------- */

static int compare_u32(const void *a, const void *b)
{
    const uint32_t *x = a;
    const uint32_t *y = b;

    return (*x > *y) - (*x < *y);
}

static uint32_t any_head(Choice *choice, uint32_t kind)
{
    static const uint32_t edges[] = {
        0, 1, INT32_MAX - 1, INT32_MAX, UINT32_C(1) << 31, UINT32_MAX - 1, UINT32_MAX};

    if (kind == 0) {
        return (uint32_t)rng_next(&choice->rng);
    }
    return kind == 1 ? choice_below(choice, 5) * 1000 : edges[choice_below(choice, 7)];
}

/* Heads at an odd address, followed by the 12 bytes that a search may look at in vain. */
static void check_heads(Choice *choice, uint32_t n, uint32_t kind, int behind)
{
    uint32_t heads[300];
    uint8_t *memory = must(malloc(3 + 4 * (size_t)n + 12));
    uint8_t *at = memory + choice_below(choice, 4);

    for (uint32_t i = 0; i < n; i++) {
        heads[i] = any_head(choice, kind);
    }
    qsort(heads, n, sizeof heads[0], compare_u32);
    memset(memory, behind, 3 + 4 * (size_t)n + 12);
    for (uint32_t i = 0; i < n; i++) {
        store_u32le(at + (size_t)4 * i, heads[i]);
    }
    for (uint32_t i = 0; i < 3 * n + 8; i++) {
        uint32_t h = i < 3 * n ? heads[i / 3] + i % 3 - 1 : any_head(choice, i % 3);
        uint32_t below = 0;
        uint32_t not_above = 0;
        for (uint32_t j = 0; j < n; j++) {
            below += heads[j] < h ? 1 : 0;
            not_above += heads[j] <= h ? 1 : 0;
        }
        uint32_t got = heads_below(at, n, h);
        EXPECT(got == below, "%u of %u heads below %08x, kind %u: %u counted", below, n, h, kind,
               got);
        got = heads_tie_end(at, below, n, h);
        EXPECT(got == not_above, "%u of %u heads up to %08x, kind %u: %u counted", not_above, n, h,
               kind, got);
    }
    free(memory);
}

START_TEST(heads_are_counted_as_one_by_one)
{
    Choice choice;

    choice_from_seed(&choice, choice_first_seed());
    for (uint32_t n = 0; n < 300; n++) {
        for (uint32_t kind = 0; kind < 3; kind++) {
            check_heads(&choice, n, kind, 0);
            check_heads(&choice, n, kind, 0xff);
        }
    }
}
END_TEST

/* ---- Leaves --------------------------------------------------------------------------------- */

typedef struct Row {
    Blob *key;
    Blob *val; /* as stored */
    uint16_t code;
} Row;

/* A leaf and what must be in it. */
typedef struct Leaf {
    uint8_t *page; /* NULL: there is none */
    Row *rows;
    uint32_t count;
} Leaf;

typedef struct LeafCounts {
    uint64_t histories, inserts, removes, overwrites, compacts, splits, merges, full_checks;
} LeafCounts;

typedef struct LeafRun {
    Choice choice;
    uint32_t page_size;
    KeyOrder order;
    Shape shape;
    bool plain;
    NodeScratch scratch;
    Leaf left;
    Leaf right;
    uint8_t key[MAX_PAGE];
    uint8_t val[MAX_PAGE];
    LeafCounts counts;
} LeafRun;

static uint32_t row_bytes(bool plain, const Row *row)
{
    return (plain ? 0 : 4) + 2 + 4 + row->key->len + row->val->len;
}

static uint8_t *page_new(uint32_t page_size)
{
    uint8_t *page = must(malloc(page_size));

    memset(page, 0x5a, page_size);
    store_u64le(page + PAGE_BIRTH, UINT64_C(0x1122334455667788));
    store_u32le(page + PAGE_NO, UINT32_C(0x99aabbcc));
    return page;
}

static void expect_not_renamed(const uint8_t *page)
{
    EXPECT(page_birth(page) == UINT64_C(0x1122334455667788) && page_no(page) == 0x99aabbcc,
           "a page has lost its birth or number");
}

static void leaf_open(LeafRun *run, Leaf *leaf)
{
    leaf->page = page_new(run->page_size);
    leaf->rows = must(malloc(MAX_ENTRIES * sizeof *leaf->rows));
    leaf->count = 0;
    node_init(leaf->page, run->page_size, 0, TABLE | (run->plain ? PAGE_PLAIN : 0));
}

static void leaf_close(Leaf *leaf)
{
    for (uint32_t i = 0; i < leaf->count; i++) {
        free(leaf->rows[i].key);
        free(leaf->rows[i].val);
    }
    free(leaf->rows);
    free(leaf->page);
    *leaf = (Leaf){0};
}

static uint32_t rows_lower_bound(KeyOrder order, const Leaf *leaf, const uint8_t *key, uint32_t len,
                                 bool *exact_out)
{
    uint32_t lo = 0;
    uint32_t hi = leaf->count;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        const Blob *there = leaf->rows[mid].key;
        if (compare(order, there->bytes, there->len, key, len) < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    *exact_out = lo < leaf->count && blob_is(leaf->rows[lo].key, key, len);
    return lo;
}

static void expect_leaf_found(const LeafRun *run, const Leaf *leaf, const uint8_t *key,
                              uint32_t len)
{
    bool expected_exact = false;
    bool exact = !run->plain;
    uint32_t expected = rows_lower_bound(run->order, leaf, key, len, &expected_exact);
    uint32_t got = leaf_search(leaf->page, run->order, key, len, &exact);

    EXPECT(got == expected && exact == expected_exact,
           "a key of %u bytes is found at %u%s instead of %u%s of %u", len, got,
           exact ? " exactly" : "", expected, expected_exact ? " exactly" : "", leaf->count);
}

/* Marks [at, at + len) and expects that nothing was there. */
static uint8_t covered[MAX_PAGE];

static void cover(uint32_t page_size, uint32_t at, uint32_t len)
{
    EXPECT(at + len <= page_size, "a cell reaches beyond the page");
    for (uint32_t i = at; i < at + len; i++) {
        EXPECT(covered[i] == 0, "two things at offset %u", i);
        covered[i] = 1;
    }
}

/* Room: what is used, what is dead, and what of it a row can have. */
static void expect_leaf_room(const LeafRun *run, const Leaf *leaf)
{
    const uint8_t *page = leaf->page;
    uint32_t arrays = (run->plain ? 2 : 6) * leaf->count;
    uint32_t cells = 0;
    bool compact = false;

    for (uint32_t i = 0; i < leaf->count; i++) {
        cells += 4 + leaf->rows[i].key->len + leaf->rows[i].val->len;
    }
    uint32_t upper = page_upper(page);
    EXPECT(run->page_size - upper == cells + page_dead(page),
           "%u bytes of cells and %u dead from %u on", cells, page_dead(page), upper);
    EXPECT(PAGE_HEADER + arrays <= upper, "arrays and cells overlap");
    uint32_t gap = upper - PAGE_HEADER - arrays;
    uint32_t room = gap + page_dead(page);
    EXPECT(node_used(page, run->page_size) == arrays + cells, "%u bytes used instead of %u",
           node_used(page, run->page_size), arrays + cells);
    EXPECT(arrays + cells + room == node_capacity(run->page_size), "used and free are not all");
    EXPECT(leaf_fits(page, gap, &compact) && !compact, "the gap does not fit itself");
    EXPECT(leaf_fits(page, room, &compact) && compact == (room > gap), "the room is not to be had");
    EXPECT(!leaf_fits(page, room + 1, &compact), "more than all the room fits");
}

static void expect_leaf(LeafRun *run, const Leaf *leaf, bool full)
{
    const uint8_t *page = leaf->page;
    uint32_t p = page_prefix(page);
    bool runs = false;

    EXPECT(page_count(page) == leaf->count, "%u rows instead of %u", page_count(page), leaf->count);
    expect_leaf_room(run, leaf);
    uint32_t sparse = 1 + node_used(page, run->page_size) / 1000;
    if (!full && !choice_one_in(&run->choice, sparse)) {
        return;
    }
    run->counts.full_checks++;
    uint32_t probed = choice_below(&run->choice, sparse);
    expect_not_renamed(page);
    EXPECT(page[PAGE_TYPE] == PAGE_LEAF && page[PAGE_LEVEL] == 0 && node_rows(page) == leaf->count,
           "no leaf");
    EXPECT((page_flags(page) & PAGE_DBI_MASK) == TABLE && page_is_plain(page) == run->plain,
           "flags %04x", page_flags(page));
    EXPECT(p == 0 || !run->plain, "a plain leaf with a prefix");
    memset(covered, 0, run->page_size);
    for (uint32_t i = 0; i < leaf->count; i++) {
        const Row *row = &leaf->rows[i];
        LeafRow got = leaf_row(page, i);
        EXPECT(leaf_slot(page, i) >= page_upper(page), "row %u below upper", i);
        cover(run->page_size, leaf_slot(page, i), 4 + got.key_len + got.stored);
        EXPECT(blob_is(row->key, got.key, got.key_len), "row %u has another key", i);
        EXPECT(got.val_code == row->code && blob_is(row->val, got.val, got.stored),
               "row %u has another value", i);
        EXPECT(got.key == page + leaf_slot(page, i) + 4 && got.val == got.key + got.key_len,
               "row %u is not in one piece", i);
        EXPECT(i == 0 || compare(run->order, leaf->rows[i - 1].key->bytes,
                                 leaf->rows[i - 1].key->len, row->key->bytes, row->key->len) < 0,
               "row %u is not above its predecessor", i);
        EXPECT(p <= row->key->len &&
                   (p == 0 || memcmp(row->key->bytes, leaf->rows[0].key->bytes, p) == 0),
               "row %u does not begin with the prefix of %u bytes", i, p);
        EXPECT(run->plain || heads_at(leaf_heads(page), i) == head_of(row->key, p),
               "row %u has another head", i);
        runs = runs || row->code == CELL_VAL_ELSEWHERE;
        for (uint32_t which = 0; which < PROBES && i % sparse == probed; which++) {
            uint32_t len = 0;
            const uint8_t *probe = probe_of(row->key, which, &len);
            expect_leaf_found(run, leaf, probe, len);
        }
    }
    EXPECT(!runs || node_runs_flag(page) == CHILD_OWNS_RUNS, "a run that no flag tells of");
    for (uint32_t i = 0; i < 8 && leaf->count > 0; i++) {
        uint32_t len = any_key(&run->choice, run->shape, node_max_key(run->page_size), run->key);
        expect_leaf_found(run, leaf, run->key, len);
    }
}

/* A leaf built anew has no dead bytes, the longest prefix, and only flags with a cause. */
static void expect_leaf_rebuilt(LeafRun *run, const Leaf *leaf)
{
    bool runs = false;
    uint32_t p = 0;

    expect_leaf(run, leaf, true);
    EXPECT(page_dead(leaf->page) == 0, "dead bytes after rebuilding");
    for (uint32_t i = 0; i < leaf->count; i++) {
        runs = runs || leaf->rows[i].code == CELL_VAL_ELSEWHERE;
    }
    EXPECT((node_runs_flag(leaf->page) != 0) == runs, "a flag without cause after rebuilding");
    if (!run->plain && leaf->count > 0) {
        const Blob *first = leaf->rows[0].key;
        const Blob *last = leaf->rows[leaf->count - 1].key;
        while (p < first->len && p < last->len && first->bytes[p] == last->bytes[p]) {
            p++;
        }
    }
    EXPECT(leaf->count == 0 || page_prefix(leaf->page) == p, "a prefix of %u instead of %u bytes",
           page_prefix(leaf->page), p);
}

/* A value for a key of that length: beside it or a reference. */
static Row any_value(LeafRun *run, uint32_t key_len)
{
    uint32_t most = run->page_size / (choice_one_in(&run->choice, 8) ? 2 : 40) + 2;
    uint32_t len = choice_below(&run->choice, most);
    Row row = {.code = (uint16_t)len};

    if (choice_one_in(&run->choice, 12) || !node_val_inline(run->page_size, key_len, len)) {
        len = CELL_REF;
        row.code = CELL_VAL_ELSEWHERE;
    }
    memset(run->val, (int)choice_below(&run->choice, 256), len);
    row.val = blob_new(run->val, len);
    return row;
}

static LeafRow as_leaf_row(const Row *row)
{
    return (LeafRow){.key = row->key->bytes,
                     .key_len = row->key->len,
                     .val = row->val->bytes,
                     .stored = row->val->len,
                     .val_code = row->code};
}

static void rows_insert(Leaf *leaf, uint32_t i, Row row)
{
    EXPECT(leaf->count < MAX_ENTRIES, "the model is too small");
    memmove(&leaf->rows[i + 1], &leaf->rows[i], (leaf->count - i) * sizeof row);
    leaf->rows[i] = row;
    leaf->count++;
}

/* Half of the time the value is written by the caller. */
static void finish_value(const LeafRow *given, const Row *row, uint8_t *at)
{
    EXPECT(at != NULL, "no place for the value");
    if (given->val == NULL) {
        memcpy(at, row->val->bytes, row->val->len);
    } else {
        EXPECT(blob_is(row->val, at, row->val->len), "the value is not where it is said to be");
    }
}

/* The least size of the larger half, over all ways to split. */
static uint32_t best_larger_half(const LeafRun *run, const Row *rows, uint32_t count)
{
    uint32_t total = 0;
    uint32_t left = 0;
    uint32_t best = UINT32_MAX;

    for (uint32_t i = 0; i < count; i++) {
        total += row_bytes(run->plain, &rows[i]);
    }
    for (uint32_t i = 0; i + 1 < count; i++) {
        left += row_bytes(run->plain, &rows[i]);
        best = smaller(best, left > total - left ? left : total - left);
    }
    return best;
}

static void expect_leaf_separator(const LeafRun *run)
{
    const Blob *below = run->left.rows[run->left.count - 1].key;
    const Blob *above = run->right.rows[0].key;
    const uint8_t *sep = NULL;
    uint32_t len = leaf_separator(run->left.page, run->right.page, &sep);

    EXPECT(len <= above->len && memcmp(sep, above->bytes, len) == 0, "no part of the upper key");
    EXPECT(compare(run->order, below->bytes, below->len, sep, len) < 0,
           "a separator of %u bytes not above the left leaf", len);
    if (run->plain) {
        EXPECT(len == above->len, "a plain separator is not the whole key");
    } else {
        EXPECT(compare(run->order, below->bytes, below->len, sep, len - 1) >= 0,
               "a separator of %u bytes is longer than need be", len);
    }
}

static void split_leaf(LeafRun *run, uint32_t i, Row row)
{
    Leaf *left = &run->left;
    Leaf *right = &run->right;
    LeafRow given = as_leaf_row(&row);
    bool append = i == left->count && choice_one_in(&run->choice, 2);

    if (choice_one_in(&run->choice, 2)) {
        given.val = NULL;
    }
    leaf_open(run, right);
    uint8_t *at = leaf_split(&run->scratch, left->page, right->page, i, &given, append);
    finish_value(&given, &row, at);
    rows_insert(left, i, row);
    uint32_t best = best_larger_half(run, left->rows, left->count);
    uint32_t stay = page_count(left->page);
    EXPECT(stay > 0 && stay < left->count && (!append || stay + 1 == left->count),
           "%u of %u rows stay left", stay, left->count);
    right->count = left->count - stay;
    memcpy(right->rows, left->rows + stay, right->count * sizeof *right->rows);
    left->count = stay;
    expect_leaf_rebuilt(run, left);
    expect_leaf_rebuilt(run, right);
    expect_leaf_separator(run);
    uint32_t used_left = node_used(left->page, run->page_size);
    uint32_t used_right = node_used(right->page, run->page_size);
    EXPECT(append || (used_left > used_right ? used_left : used_right) == best,
           "split into %u and %u bytes where %u would do", used_left, used_right, best);
    run->counts.splits++;
}

static void drop_a_leaf(LeafRun *run)
{
    if (choice_one_in(&run->choice, 2)) {
        Leaf kept = run->right;
        leaf_close(&run->left);
        run->left = kept;
        run->right = (Leaf){0};
    } else {
        leaf_close(&run->right);
    }
}

static Leaf *any_leaf(LeafRun *run)
{
    return run->right.page != NULL && choice_one_in(&run->choice, 2) ? &run->right : &run->left;
}

/* The leaf that a key belongs to; between the two it may be either. */
static Leaf *leaf_for(LeafRun *run, const uint8_t *key, uint32_t len)
{
    bool exact = false;

    if (run->right.page == NULL || run->right.count == 0) {
        return &run->left;
    }
    if (rows_lower_bound(run->order, &run->right, key, len, &exact) > 0 || exact) {
        return &run->right;
    }
    if (rows_lower_bound(run->order, &run->left, key, len, &exact) < run->left.count) {
        return &run->left;
    }
    return any_leaf(run);
}

static void insert_row(LeafRun *run)
{
    uint32_t len = any_key(&run->choice, run->shape, node_max_key(run->page_size), run->key);
    Leaf *leaf = leaf_for(run, run->key, len);
    bool exact = false;
    bool compact = false;
    uint32_t i = rows_lower_bound(run->order, leaf, run->key, len, &exact);

    if (exact) {
        return;
    }
    Row row = any_value(run, len);
    row.key = blob_new(run->key, len);
    LeafRow given = as_leaf_row(&row);
    uint32_t size = leaf_row_size(leaf->page, &given);
    EXPECT(size == row_bytes(run->plain, &row), "a row of %u bytes takes %u",
           row_bytes(run->plain, &row), size);
    run->counts.inserts++;
    if (!leaf_fits(leaf->page, size, &compact)) {
        if (run->right.page == NULL) {
            split_leaf(run, i, row);
            return;
        }
        drop_a_leaf(run);
        free(row.key);
        free(row.val);
        return;
    }
    if (compact) {
        leaf_compact(&run->scratch, leaf->page);
        expect_leaf_rebuilt(run, leaf);
        run->counts.compacts++;
    }
    if (choice_one_in(&run->choice, 2)) {
        given.val = NULL;
    }
    finish_value(&given, &row, leaf_insert(leaf->page, i, &given));
    rows_insert(leaf, i, row);
    expect_leaf(run, leaf, false);
}

static void remove_row(LeafRun *run)
{
    Leaf *leaf = any_leaf(run);

    if (leaf->count == 0) {
        return;
    }
    uint32_t i = choice_below(&run->choice, leaf->count);
    i = choice_one_in(&run->choice, 8) ? 0 : choice_one_in(&run->choice, 8) ? leaf->count - 1 : i;
    leaf_remove(leaf->page, i);
    free(leaf->rows[i].key);
    free(leaf->rows[i].val);
    leaf->count--;
    memmove(&leaf->rows[i], &leaf->rows[i + 1], (leaf->count - i) * sizeof leaf->rows[0]);
    expect_leaf(run, leaf, false);
    run->counts.removes++;
}

static void overwrite_row(LeafRun *run)
{
    Leaf *leaf = any_leaf(run);

    if (leaf->count == 0) {
        return;
    }
    uint32_t i = choice_below(&run->choice, leaf->count);
    Row *row = &leaf->rows[i];
    Row changed = any_value(run, row->key->len);
    changed.key = row->key;
    LeafRow given = as_leaf_row(&changed);
    if (choice_one_in(&run->choice, 2)) {
        given.val = NULL;
    }
    uint8_t *at = leaf_overwrite(leaf->page, i, &given);
    EXPECT((at != NULL) == (changed.val->len <= row->val->len),
           "%u bytes in place of %u are%s written", changed.val->len, row->val->len,
           at == NULL ? " not" : "");
    if (at != NULL) {
        finish_value(&given, &changed, at);
        free(row->val);
        *row = changed;
        run->counts.overwrites++;
    } else {
        free(changed.val);
    }
    expect_leaf(run, leaf, false);
}

static void merge_leaves(LeafRun *run)
{
    Leaf *left = &run->left;
    Leaf *right = &run->right;

    if (right->page == NULL ||
        node_used(left->page, run->page_size) + node_used(right->page, run->page_size) >
            node_capacity(run->page_size)) {
        return;
    }
    uint8_t *into = choice_one_in(&run->choice, 2) ? left->page : right->page;
    leaf_merge(&run->scratch, into, left->page, right->page);
    memcpy(left->rows + left->count, right->rows, right->count * sizeof *right->rows);
    left->count += right->count;
    right->count = 0;
    if (into == right->page) {
        right->page = left->page;
        left->page = into;
    }
    leaf_close(right);
    expect_leaf_rebuilt(run, left);
    run->counts.merges++;
}

/* A copy is the same node; what it is not, is the same page. */
static void copy_node(uint8_t **page, uint32_t page_size, uint32_t arrays_end)
{
    uint8_t *copy = must(malloc(page_size));

    memset(copy, 0xc3, page_size);
    node_copy(copy, *page, page_size);
    for (uint32_t i = 0; i < page_size; i++) {
        bool kept = i < PAGE_TYPE || (i >= arrays_end && i < page_upper(*page));
        EXPECT(copy[i] == (kept ? 0xc3 : (*page)[i]), "offset %u of %u is %s copied", i, page_size,
               kept ? "" : "not");
    }
    memcpy(copy, *page, PAGE_TYPE);
    free(*page);
    *page = copy;
}

static void any_leaf_step(LeafRun *run, bool growing)
{
    Leaf *leaf = any_leaf(run);
    uint32_t what = choice_below(&run->choice, 20);

    if (what < 3) {
        overwrite_row(run);
    } else if (what == 3) {
        leaf_compact(&run->scratch, leaf->page);
        expect_leaf_rebuilt(run, leaf);
        run->counts.compacts++;
    } else if (what == 4) {
        copy_node(&leaf->page, run->page_size,
                  PAGE_HEADER + (run->plain ? 2 : 6) * page_count(leaf->page));
        expect_leaf(run, leaf, false);
    } else if (what < 7) {
        merge_leaves(run);
    } else if ((what < 17) == growing) {
        insert_row(run);
    } else {
        remove_row(run);
    }
}

static LeafRun leaf_run;

static void run_leaf_history(uint64_t seed)
{
    LeafRun *run = &leaf_run;

    choice_from_seed(&run->choice, seed);
    run->page_size = page_sizes[seed % PAGE_SIZES];
    OrderKind order = choice_one_in(&run->choice, 2)
                          ? ORDER_BYTES
                          : (OrderKind)choice_below(&run->choice, ORDER_COUNT);
    run->order = key_order(order);
    run->plain = order != ORDER_BYTES;
    run->shape = (Shape)choice_below(&run->choice, SHAPE_COUNT);
    expect_context("leaf of %u bytes, order %d, keys %d, SAP_TEST_SEED=%llu", run->page_size,
                   (int)order, (int)run->shape, (unsigned long long)seed);
    EXPECT_RC(node_scratch_init(&run->scratch, run->page_size), SAP_OK);
    leaf_open(run, &run->left);
    uint32_t steps = 300 + run->page_size / 100;
    bool growing = true;
    for (uint32_t i = 0; i < steps; i++) {
        if (choice_one_in(&run->choice, 60)) {
            growing = !growing;
        }
        any_leaf_step(run, growing);
    }
    expect_leaf(run, &run->left, true);
    leaf_close(&run->left);
    leaf_close(&run->right);
    node_scratch_release(&run->scratch);
    run->counts.histories++;
}

START_TEST(a_leaf_is_a_sorted_array_of_rows)
{
    uint64_t first = choice_first_seed();
    uint64_t count = choice_seed_count(330);
    size_t live = mem_live_total();
    const LeafCounts *counts = &leaf_run.counts;

    for (uint64_t seed = first; seed < first + count; seed++) {
        run_leaf_history(seed);
    }
    printf("leaf histories: seeds %llu to %llu, %llu inserts, %llu removes, %llu overwrites, "
           "%llu compacts, %llu splits, %llu merges, %llu full checks\n",
           (unsigned long long)first, (unsigned long long)(first + count - 1),
           (unsigned long long)counts->inserts, (unsigned long long)counts->removes,
           (unsigned long long)counts->overwrites, (unsigned long long)counts->compacts,
           (unsigned long long)counts->splits, (unsigned long long)counts->merges,
           (unsigned long long)counts->full_checks);
    ck_assert_uint_gt(counts->inserts, 0);
    ck_assert_uint_eq(mem_live_total(), live);
}
END_TEST

/* ---- Branches ------------------------------------------------------------------------------- */

typedef struct Item {
    Blob *sep; /* NULL: minus infinity */
    uint32_t child_word;
    uint64_t rows;
} Item;

typedef struct Branch {
    uint8_t *page; /* NULL: there is none */
    Item *items;
    uint32_t count;
} Branch;

typedef struct BranchCounts {
    uint64_t inserts, in_place, refused, removes, splits, appends, merges, full_checks;
} BranchCounts;

typedef struct BranchRun {
    Choice choice;
    uint32_t page_size;
    uint32_t level;
    KeyOrder order;
    Shape shape;
    bool plain;
    NodeScratch scratch;
    Branch left;
    Branch right;
    Blob *between;    /* the parent's separator of right */
    SepRef from_last; /* what the last split gave, and a copy of it */
    Blob *last_copy;
    uint8_t key[MAX_PAGE];
    uint8_t before[MAX_PAGE]; /* a page before a call that must not change it */
    BranchCounts counts;
} BranchRun;

static uint32_t entry_bytes(const BranchRun *run)
{
    return (run->plain ? 0 : 4) + 4 + 2 + (run->level == 1 ? 2 : 8);
}

static uint32_t sep_cell(const BranchRun *run, uint32_t rest)
{
    return run->plain || rest > 4 ? 2 + rest : 0;
}

/* The longest prefix of separators 1 .. count-1. */
static uint32_t items_common(const BranchRun *run, const Item *items, uint32_t count)
{
    uint32_t p = 0;

    if (run->plain || count < 2) {
        return 0;
    }
    const Blob *first = items[1].sep;
    const Blob *last = items[count - 1].sep;
    while (p < first->len && p < last->len && first->bytes[p] == last->bytes[p]) {
        p++;
    }
    return p;
}

/* Bytes that the items take in a page with a prefix of p bytes. */
static uint32_t items_bytes(const BranchRun *run, const Item *items, uint32_t count, uint32_t p)
{
    uint32_t size = (p + 3) / 4 * 4 + count * entry_bytes(run);

    for (uint32_t i = 1; i < count; i++) {
        size += sep_cell(run, items[i].sep->len - p);
    }
    return size;
}

/* The least they can take with any prefix. Past the first few lengths only those near the longest
 * are tried: from there on every separator but one has a cell that shrinks with the prefix. */
static uint32_t items_bytes_least(const BranchRun *run, const Item *items, uint32_t count)
{
    uint32_t common = items_common(run, items, count);
    uint32_t least = UINT32_MAX;

    for (uint32_t p = 0; p <= common; p++) {
        least = smaller(least, items_bytes(run, items, count, p));
        if (p == 12 && common > 24) {
            p = common - 12;
        }
    }
    return least;
}

static void branch_open(BranchRun *run, Branch *branch)
{
    branch->page = page_new(run->page_size);
    branch->items = must(malloc(MAX_ENTRIES * sizeof *branch->items));
    branch->count = 0;
    node_init(branch->page, run->page_size, run->level, TABLE | (run->plain ? PAGE_PLAIN : 0));
}

static void branch_close(Branch *branch)
{
    for (uint32_t i = 0; i < branch->count; i++) {
        free(branch->items[i].sep);
    }
    free(branch->items);
    free(branch->page);
    *branch = (Branch){0};
}

/* How many separators are not above the key. */
static uint32_t seps_not_above(const BranchRun *run, const Branch *branch, const uint8_t *key,
                               uint32_t len)
{
    uint32_t lo = 1;
    uint32_t hi = branch->count;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        const Blob *sep = branch->items[mid].sep;
        if (compare(run->order, sep->bytes, sep->len, key, len) <= 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo - 1;
}

static void expect_child_found(const BranchRun *run, const Branch *branch, const uint8_t *key,
                               uint32_t len)
{
    uint32_t expected = seps_not_above(run, branch, key, len);
    uint32_t got = branch_search(branch->page, run->order, key, len);

    EXPECT(got == expected, "a key of %u bytes leads to child %u instead of %u of %u", len, got,
           expected, branch->count);
}

static bool sep_is(const Blob *blob, SepRef sep)
{
    return blob->len == sep.front_len + sep.rest_len &&
           (sep.front_len == 0 || memcmp(blob->bytes, sep.front, sep.front_len) == 0) &&
           (sep.rest_len == 0 || memcmp(blob->bytes + sep.front_len, sep.rest, sep.rest_len) == 0);
}

static void expect_separator(const BranchRun *run, const Branch *branch, uint32_t i)
{
    const uint8_t *page = branch->page;
    const Blob *sep = branch->items[i].sep;
    uint32_t p = page_prefix(page);
    uint32_t slot = load_u16le(branch_slots(page) + (size_t)2 * i);
    uint8_t in_head[SEP_IN_HEAD];

    EXPECT(p <= sep->len && (p == 0 || memcmp(sep->bytes, page + PAGE_HEADER, p) == 0),
           "separator %u does not begin with the prefix of %u bytes", i, p);
    EXPECT(sep_is(sep, branch_sep(page, i, in_head)), "separator %u is another", i);
    EXPECT(run->plain || heads_at(branch_heads(page), i) == head_of(sep, p),
           "separator %u has another head", i);
    if (sep_cell(run, sep->len - p) == 0) {
        EXPECT(slot == sep->len - p, "separator %u has slot %u for %u bytes", i, slot,
               sep->len - p);
    } else {
        EXPECT(slot >= page_upper(page), "separator %u below upper", i);
        cover(run->page_size, slot, 2 + sep->len - p);
    }
}

static void expect_branch(BranchRun *run, const Branch *branch, bool full)
{
    const uint8_t *page = branch->page;
    uint32_t p = page_prefix(page);
    uint32_t used = items_bytes(run, branch->items, branch->count, p);
    uint32_t arrays = (p + 3) / 4 * 4 + branch->count * entry_bytes(run);
    uint64_t rows = 0;
    uint32_t runs = 0;

    EXPECT(page_count(page) == branch->count, "%u children instead of %u", page_count(page),
           branch->count);
    EXPECT(node_used(page, run->page_size) == used, "%u bytes used instead of %u",
           node_used(page, run->page_size), used);
    EXPECT(run->page_size - page_upper(page) == used - arrays + page_dead(page),
           "%u bytes of cells and %u dead from %u on", used - arrays, page_dead(page),
           page_upper(page));
    EXPECT(PAGE_HEADER + arrays <= page_upper(page), "arrays and cells overlap");
    uint32_t sparse = 1 + used / 1000;
    if (!full && !choice_one_in(&run->choice, sparse)) {
        return;
    }
    run->counts.full_checks++;
    uint32_t probed = choice_below(&run->choice, sparse);
    expect_not_renamed(page);
    EXPECT(page[PAGE_TYPE] == PAGE_BRANCH && page[PAGE_LEVEL] == run->level, "no branch");
    EXPECT(page_flags(page) == (TABLE | (run->plain ? PAGE_PLAIN : 0u)), "flags %04x",
           page_flags(page));
    EXPECT(p == 0 || !run->plain, "a plain branch with a prefix");
    memset(covered, 0, run->page_size);
    for (uint32_t i = 0; i < branch->count; i++) {
        const Item *item = &branch->items[i];
        EXPECT(branch_child_word(page, i) == item->child_word, "child %u is another", i);
        EXPECT(branch_child(page, i) == (item->child_word & ~CHILD_OWNS_RUNS),
               "child %u has another number", i);
        EXPECT(branch_rows(page, i) == item->rows, "child %u has %llu rows instead of %llu", i,
               (unsigned long long)branch_rows(page, i), (unsigned long long)item->rows);
        rows += item->rows;
        runs |= item->child_word & CHILD_OWNS_RUNS;
        if (i > 0) {
            expect_separator(run, branch, i);
            for (uint32_t which = 0; which < PROBES && i % sparse == probed; which++) {
                uint32_t len = 0;
                const uint8_t *probe = probe_of(item->sep, which, &len);
                expect_child_found(run, branch, probe, len);
            }
        }
        EXPECT(i < 2 ||
                   compare(run->order, branch->items[i - 1].sep->bytes,
                           branch->items[i - 1].sep->len, item->sep->bytes, item->sep->len) < 0,
               "separator %u is not above its predecessor", i);
    }
    EXPECT(load_u16le(branch_slots(page)) == 0, "minus infinity has a slot");
    EXPECT(run->plain || heads_at(branch_heads(page), 0) == 0, "minus infinity has a head");
    EXPECT(node_rows(page) == rows && node_runs_flag(page) == runs, "wrong sums");
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t len = any_key(&run->choice, run->shape, node_max_key(run->page_size), run->key);
        expect_child_found(run, branch, run->key, len);
    }
}

static void expect_branch_rebuilt(BranchRun *run, const Branch *branch)
{
    expect_branch(run, branch, true);
    EXPECT(page_dead(branch->page) == 0, "dead bytes after rebuilding");
    /* With one separator alone room does not matter. */
    uint32_t least = branch->count == 2 ? node_capacity(run->page_size)
                                        : items_bytes_least(run, branch->items, branch->count);
    EXPECT(node_used(branch->page, run->page_size) <= least,
           "a prefix of %u bytes takes %u where %u would do", page_prefix(branch->page),
           node_used(branch->page, run->page_size), least);
}

static uint64_t any_rows(BranchRun *run)
{
    uint64_t most = run->level == 1 ? UINT16_MAX : UINT64_MAX;

    return choice_one_in(&run->choice, 4) ? most : rng_next(&run->choice.rng) & most;
}

static uint32_t any_child(BranchRun *run)
{
    return choice_below(&run->choice, UINT32_MAX) |
           (choice_one_in(&run->choice, 8) ? CHILD_OWNS_RUNS : 0);
}

/* The separator in two pieces, cut anywhere. */
static SepRef in_pieces(BranchRun *run, const Blob *sep)
{
    uint32_t cut = choice_one_in(&run->choice, 2) ? choice_below(&run->choice, sep->len + 1) : 0;

    return (SepRef){.front = cut == 0 ? NULL : sep->bytes,
                    .front_len = cut,
                    .rest = sep->bytes + cut,
                    .rest_len = sep->len - cut};
}

static BranchItem as_branch_item(BranchRun *run, const Item *item)
{
    BranchItem out = {.child_word = item->child_word, .rows = item->rows};

    if (item->sep != NULL) {
        out.sep = in_pieces(run, item->sep);
    }
    return out;
}

static void items_insert(Branch *branch, uint32_t i, Item item)
{
    EXPECT(branch->count < MAX_ENTRIES, "the model is too small");
    memmove(&branch->items[i + 1], &branch->items[i], (branch->count - i) * sizeof item);
    branch->items[i] = item;
    branch->count++;
}

static void branch_root(BranchRun *run, Branch *branch)
{
    uint32_t len = any_key(&run->choice, run->shape, node_max_key(run->page_size), run->key);

    branch_open(run, branch);
    branch->items[0] = (Item){.child_word = any_child(run), .rows = any_rows(run)};
    branch->items[1] =
        (Item){.sep = blob_new(run->key, len), .child_word = any_child(run), .rows = any_rows(run)};
    branch->count = 2;
    BranchItem left = as_branch_item(run, &branch->items[0]);
    BranchItem right = as_branch_item(run, &branch->items[1]);
    branch_init_root(&run->scratch, branch->page, &left, &right);
    expect_branch_rebuilt(run, branch);
}

/* Expects that `left` was split at entry `stay` and `sep` is what moves up; moves the items. */
static void take_split(BranchRun *run, SepRef sep)
{
    Branch *left = &run->left;
    Branch *right = &run->right;
    uint32_t stay = page_count(left->page);

    EXPECT(stay > 0 && stay < left->count, "%u of %u children stay left", stay, left->count);
    right->count = left->count - stay;
    memcpy(right->items, left->items + stay, right->count * sizeof *right->items);
    left->count = stay;
    run->between = right->items[0].sep;
    right->items[0].sep = NULL;
    EXPECT(sep_is(run->between, sep), "another separator moves up");
    expect_branch_rebuilt(run, left);
    expect_branch_rebuilt(run, right);
    /* The one before is still there. */
    if (run->last_copy != NULL) {
        EXPECT(sep_is(run->last_copy, run->from_last), "a separator on its way up has changed");
        free(run->last_copy);
    }
    run->from_last = sep;
    run->last_copy = blob_new(run->between->bytes, run->between->len);
    run->counts.splits++;
}

static void split_branch(BranchRun *run, uint32_t i, Item item)
{
    Branch *left = &run->left;
    BranchItem given = as_branch_item(run, &item);
    bool append = i == left->count && choice_one_in(&run->choice, 2);
    uint32_t old_count = left->count;
    bool old_fits =
        items_bytes_least(run, left->items, left->count) <= node_capacity(run->page_size);

    branch_open(run, &run->right);
    SepRef sep = branch_split(&run->scratch, left->page, run->right.page, i, &given, append);
    items_insert(left, i, item);
    take_split(run, sep);
    EXPECT(!append || !old_fits || left->count == old_count, "appending left %u of %u children",
           left->count, old_count);
    run->counts.appends += append ? 1 : 0;
}

static void drop_a_branch(BranchRun *run)
{
    free(run->between);
    run->between = NULL;
    if (choice_one_in(&run->choice, 2)) {
        Branch kept = run->right;
        branch_close(&run->left);
        run->left = kept;
        run->right = (Branch){0};
    } else {
        branch_close(&run->right);
    }
}

static Branch *any_branch(BranchRun *run)
{
    return run->right.page != NULL && choice_one_in(&run->choice, 2) ? &run->right : &run->left;
}

static bool fits_in_place(const BranchRun *run, const Branch *branch, const Item *item)
{
    const uint8_t *page = branch->page;
    uint32_t p = page_prefix(page);
    uint32_t end = PAGE_HEADER + (p + 3) / 4 * 4 + branch->count * entry_bytes(run);

    return branch->count > 1 && item->sep->len >= p &&
           (p == 0 || memcmp(item->sep->bytes, page + PAGE_HEADER, p) == 0) &&
           end + entry_bytes(run) + sep_cell(run, item->sep->len - p) <= page_upper(page);
}

static void insert_child(BranchRun *run)
{
    uint32_t len = any_key(&run->choice, run->shape, node_max_key(run->page_size), run->key);
    Branch *branch = &run->left;

    if (run->right.page != NULL) {
        int c = compare(run->order, run->between->bytes, run->between->len, run->key, len);
        if (c == 0) {
            return;
        }
        branch = c < 0 ? &run->right : &run->left;
    }
    uint32_t i = 1 + seps_not_above(run, branch, run->key, len);
    if (i > 1 && blob_is(branch->items[i - 1].sep, run->key, len)) {
        return;
    }
    Item item = {
        .sep = blob_new(run->key, len), .child_word = any_child(run), .rows = any_rows(run)};
    BranchItem given = as_branch_item(run, &item);
    bool in_place = fits_in_place(run, branch, &item);
    memcpy(run->before, branch->page, run->page_size);
    bool done = branch_insert(&run->scratch, branch->page, i, &given);
    items_insert(branch, i, item);
    uint32_t need = items_bytes_least(run, branch->items, branch->count);
    EXPECT(done == (in_place || need <= node_capacity(run->page_size)),
           "%u children of %u bytes are%s in", branch->count, need, done ? "" : " not");
    if (done) {
        expect_branch(run, branch, false);
        if (!in_place) {
            expect_branch_rebuilt(run, branch);
        }
        run->counts.inserts++;
        run->counts.in_place += in_place ? 1 : 0;
        return;
    }
    run->counts.refused++;
    EXPECT(memcmp(run->before, branch->page, run->page_size) == 0,
           "a refused insert changed the page");
    branch->count--;
    memmove(&branch->items[i], &branch->items[i + 1], (branch->count - i) * sizeof item);
    if (run->right.page == NULL) {
        split_branch(run, i, item);
    } else {
        free(item.sep);
        drop_a_branch(run);
    }
}

static void remove_child(BranchRun *run)
{
    Branch *branch = any_branch(run);
    uint32_t i = choice_below(&run->choice, branch->count);

    i = choice_one_in(&run->choice, 6) ? 0 : choice_one_in(&run->choice, 6) ? branch->count - 1 : i;
    if (branch->count < 2) {
        return;
    }
    branch_remove(branch->page, i);
    uint32_t gone = i == 0 ? 1 : i;
    free(branch->items[gone].sep);
    branch->items[gone].sep = NULL;
    branch->count--;
    memmove(&branch->items[i], &branch->items[i + 1],
            (branch->count - i) * sizeof branch->items[0]);
    expect_branch(run, branch, false);
    run->counts.removes++;
}

static void change_child(BranchRun *run)
{
    Branch *branch = any_branch(run);
    Item *item = &branch->items[choice_below(&run->choice, branch->count)];
    uint32_t i = (uint32_t)(item - branch->items);

    item->child_word = any_child(run);
    item->rows = any_rows(run);
    branch_set_child(branch->page, i, item->child_word);
    branch_set_rows(branch->page, i, item->rows);
    expect_branch(run, branch, false);
}

static void merge_branches(BranchRun *run)
{
    Branch *left = &run->left;
    Branch *right = &run->right;

    if (right->page == NULL) {
        return;
    }
    bool into_left = choice_one_in(&run->choice, 2);
    uint8_t *into = into_left ? left->page : right->page;
    uint32_t left_count = left->count;
    memcpy(run->before, into, run->page_size);
    bool done =
        branch_merge(&run->scratch, into, left->page, right->page, in_pieces(run, run->between));
    EXPECT(left->count + right->count <= MAX_ENTRIES, "the model is too small");
    memcpy(left->items + left->count, right->items, right->count * sizeof *right->items);
    left->count += right->count;
    left->items[left_count].sep = run->between;
    uint32_t need = items_bytes_least(run, left->items, left->count);
    EXPECT(done == (need <= node_capacity(run->page_size)), "%u bytes are%s merged", need,
           done ? "" : " not");
    if (!done) {
        EXPECT(memcmp(run->before, into, run->page_size) == 0, "a refused merge changed the page");
        left->items[left_count].sep = NULL;
        left->count = left_count;
        return;
    }
    run->between = NULL;
    right->count = 0;
    if (!into_left) {
        right->page = left->page;
        left->page = into;
    }
    branch_close(right);
    expect_branch_rebuilt(run, left);
    run->counts.merges++;
}

static void any_branch_step(BranchRun *run, bool growing)
{
    uint32_t what = choice_below(&run->choice, 40);

    if (what < 2) {
        change_child(run);
    } else if (what == 2) {
        Branch *branch = any_branch(run);
        copy_node(&branch->page, run->page_size,
                  (uint32_t)(branch_counts(branch->page) - branch->page) +
                      (run->level == 1 ? 2 : 8) * branch->count);
        expect_branch(run, branch, false);
    } else if (what < 5) {
        merge_branches(run);
    } else if ((what < 36) == growing) {
        insert_child(run);
    } else {
        remove_child(run);
    }
}

static BranchRun branch_run;

static void branch_run_open(BranchRun *run, uint32_t page_size, uint32_t level, OrderKind order)
{
    run->page_size = page_size;
    run->level = level;
    run->order = key_order(order);
    run->plain = order != ORDER_BYTES;
    EXPECT_RC(node_scratch_init(&run->scratch, run->page_size), SAP_OK);
}

static void branch_run_close(BranchRun *run)
{
    branch_close(&run->left);
    branch_close(&run->right);
    free(run->between);
    run->between = NULL;
    free(run->last_copy);
    run->last_copy = NULL;
    node_scratch_release(&run->scratch);
}

static void run_branch_history(uint64_t seed)
{
    BranchRun *run = &branch_run;

    choice_from_seed(&run->choice, seed);
    OrderKind order = choice_one_in(&run->choice, 3)
                          ? (OrderKind)choice_below(&run->choice, ORDER_COUNT)
                          : ORDER_BYTES;
    uint32_t level = 1 + choice_below(&run->choice, 2);
    run->shape = (Shape)choice_below(&run->choice, SHAPE_COUNT);
    branch_run_open(run, page_sizes[seed % PAGE_SIZES], level, order);
    expect_context("branch of %u bytes, level %u, order %d, keys %d, SAP_TEST_SEED=%llu",
                   run->page_size, level, (int)order, (int)run->shape, (unsigned long long)seed);
    branch_root(run, &run->left);
    uint32_t steps = 400;
    if (run->page_size < 5000 || choice_one_in(&run->choice, 4)) {
        steps += run->page_size / 5;
    }
    bool growing = true;
    for (uint32_t i = 0; i < steps; i++) {
        if (choice_one_in(&run->choice, growing ? steps / 3 : steps / 6)) {
            growing = !growing;
        }
        any_branch_step(run, growing);
    }
    expect_branch(run, &run->left, true);
    branch_run_close(run);
}

START_TEST(a_branch_is_a_sorted_array_of_separators)
{
    uint64_t first = choice_first_seed();
    uint64_t count = choice_seed_count(330);
    size_t live = mem_live_total();
    const BranchCounts *counts = &branch_run.counts;

    for (uint64_t seed = first; seed < first + count; seed++) {
        run_branch_history(seed);
    }
    printf("branch histories: seeds %llu to %llu, %llu inserts (%llu in place), %llu refused, "
           "%llu removes, %llu splits (%llu by appending), %llu merges, %llu full checks\n",
           (unsigned long long)first, (unsigned long long)(first + count - 1),
           (unsigned long long)counts->inserts, (unsigned long long)counts->in_place,
           (unsigned long long)counts->refused, (unsigned long long)counts->removes,
           (unsigned long long)counts->splits, (unsigned long long)counts->appends,
           (unsigned long long)counts->merges, (unsigned long long)counts->full_checks);
    ck_assert_uint_gt(counts->inserts, 0);
    ck_assert_uint_eq(mem_live_total(), live);
}
END_TEST

/* ---- Limits --------------------------------------------------------------------------------- */

/* Keys of the same length that agree in `shared` bytes. */
static Blob *long_key(uint32_t len, uint32_t shared, uint8_t then)
{
    Blob *key = must(malloc(sizeof *key + len));

    key->len = len;
    memset(key->bytes, 'k', len);
    if (shared < len) {
        memset(key->bytes + shared, then, len - shared);
    }
    return key;
}

static void check_longest_in_branch(uint32_t page_size, OrderKind order, uint32_t level,
                                    uint32_t shared)
{
    BranchRun *run = &branch_run;
    uint32_t max = node_max_key(page_size);

    expect_context("branch of %u bytes, order %d, level %u, %u shared", page_size, (int)order,
                   level, shared);
    branch_run_open(run, page_size, level, order);
    bool reverse = order == ORDER_REVERSE;
    branch_open(run, &run->left);
    Branch *branch = &run->left;
    Item items[3] = {{.child_word = 1, .rows = 1},
                     {.sep = long_key(max, shared, reverse ? 0xff : 0), .child_word = 2},
                     {.sep = long_key(max, shared, reverse ? 0 : 0xff), .child_word = 3}};
    memcpy(branch->items, items, sizeof items);
    branch->count = 2;
    BranchItem first = as_branch_item(run, &items[0]);
    BranchItem second = as_branch_item(run, &items[1]);
    branch_init_root(&run->scratch, branch->page, &first, &second);
    expect_branch_rebuilt(run, branch);
    BranchItem third = as_branch_item(run, &items[2]);
    EXPECT(branch_insert(&run->scratch, branch->page, 2, &third),
           "two separators of %u bytes do not fit", max);
    branch->count = 3;
    expect_branch(run, branch, true);
    branch_run_close(run);
}

static void check_longest_in_leaf(uint32_t page_size, OrderKind order, uint32_t shared)
{
    LeafRun *run = &leaf_run;
    uint32_t max = node_max_key(page_size);

    expect_context("leaf of %u bytes, order %d, %u shared", page_size, (int)order, shared);
    run->page_size = page_size;
    run->order = key_order(order);
    run->plain = order != ORDER_BYTES;
    leaf_open(run, &run->left);
    bool reverse = order == ORDER_REVERSE;
    for (uint32_t i = 0; i < 2; i++) {
        uint8_t then = (i == 0) == reverse ? 0xff : 0;
        Row row = {.key = long_key(max, shared, then),
                   .val = blob_new("12345678", CELL_REF),
                   .code = CELL_VAL_ELSEWHERE};
        LeafRow given = as_leaf_row(&row);
        bool compact = false;
        EXPECT(leaf_fits(run->left.page, leaf_row_size(run->left.page, &given), &compact),
               "no room for row %u of %u bytes", i, max);
        leaf_insert(run->left.page, i, &given);
        rows_insert(&run->left, i, row);
        expect_leaf(run, &run->left, true);
    }
    leaf_close(&run->left);
}

START_TEST(the_longest_keys_fit_twice_in_a_leaf_and_between_three_children)
{
    static const OrderKind orders[] = {ORDER_BYTES, ORDER_REVERSE, ORDER_LENGTH};

    choice_from_seed(&branch_run.choice, 1);
    choice_from_seed(&leaf_run.choice, 1);
    for (uint32_t s = 0; s < PAGE_SIZES; s++) {
        uint32_t max = node_max_key(page_sizes[s]);
        ck_assert_uint_gt(max, page_sizes[s] / 4);
        for (uint32_t o = 0; o < 3; o++) {
            for (uint32_t shared = 0; shared < max;) {
                check_longest_in_branch(page_sizes[s], orders[o], 1, shared);
                check_longest_in_branch(page_sizes[s], orders[o], 2, shared);
                check_longest_in_leaf(page_sizes[s], orders[o], shared);
                bool jump = shared == 20 && max > 120;
                shared = jump ? max - 20 : shared + 1;
            }
        }
    }
}
END_TEST

START_TEST(two_rows_with_the_longest_values_inside_fit_a_leaf)
{
    LeafRun *run = &leaf_run;

    for (uint32_t s = 0; s < PAGE_SIZES; s++) {
        uint32_t page_size = page_sizes[s];
        uint32_t max = node_max_key(page_size);
        for (uint32_t key_len = 0; key_len <= max; key_len += 1 + key_len / 3) {
            uint32_t val_len = 0;
            expect_context("page size %u, key of %u bytes", page_size, key_len);
            while (node_val_inline(page_size, key_len, val_len + 1)) {
                val_len++;
            }
            EXPECT(val_len < CELL_VAL_ELSEWHERE, "a length that means elsewhere");
            EXPECT(!node_val_inline(page_size, key_len, UINT32_MAX), "4 GiB inside a leaf");
            for (int plain = 0; plain < 2; plain++) {
                run->plain = plain != 0;
                uint32_t size = (run->plain ? 0 : 4) + 2 + 4 + key_len + val_len;
                EXPECT(2 * size <= node_capacity(page_size), "two rows of %u bytes", size);
                EXPECT(run->plain || 2 * (size + 1) > node_capacity(page_size),
                       "longer values would fit too");
            }
        }
    }
}
END_TEST

START_TEST(a_scratch_without_memory_leaves_nothing)
{
    NodeScratch scratch = {0};
    size_t live = mem_live_total();
    uint64_t failed = 0;

    for (uint64_t nth = 1;; nth++) {
        fault_reset();
        fault_arm_alloc(nth);
        int rc = node_scratch_init(&scratch, 4096);
        if (rc == SAP_OK) {
            break;
        }
        failed++;
        ck_assert_int_eq(rc, SAP_NOMEM);
        ck_assert_ptr_null(scratch.page);
        ck_assert_uint_eq(mem_live_total(), live);
    }
    fault_reset();
    ck_assert_uint_ge(failed, 1);
    node_scratch_release(&scratch);
    ck_assert_uint_eq(mem_live_total(), live);
}
END_TEST

/* Appends a child behind the separator `first` and 3 bytes of a number. False: no room for it. */
static bool append_numbered(BranchRun *run, uint32_t number, Item *item_out)
{
    Branch *branch = &run->left;
    uint8_t key[4];

    store_u32be(key, number);
    key[0] = 'b';
    *item_out = (Item){.sep = blob_new(key, 4), .child_word = number, .rows = 1};
    BranchItem given = as_branch_item(run, item_out);
    if (!branch_insert(&run->scratch, branch->page, branch->count, &given)) {
        return false;
    }
    items_insert(branch, branch->count, *item_out);
    return true;
}

/* Makes a full page without prefix whose separators all begin with 'b', and *next_out the child
 * that does not fit. */
static void fill_behind_removed(BranchRun *run, Item *next_out)
{
    Branch *branch = &run->left;
    uint32_t number = 0;

    branch_open(run, branch);
    branch->items[0] = (Item){.child_word = 100, .rows = 1};
    branch->items[1] = (Item){.sep = blob_new("a", 1), .child_word = 101, .rows = 1};
    branch->count = 2;
    BranchItem left = as_branch_item(run, &branch->items[0]);
    BranchItem right = as_branch_item(run, &branch->items[1]);
    branch_init_root(&run->scratch, branch->page, &left, &right);
    while (append_numbered(run, number, next_out)) {
        number++;
    }
    free(next_out->sep);
    branch_remove(branch->page, 0);
    free(branch->items[1].sep);
    branch->items[1].sep = NULL;
    branch->count--;
    memmove(&branch->items[0], &branch->items[1], branch->count * sizeof branch->items[0]);
    while (append_numbered(run, number, next_out)) {
        number++;
    }
    expect_branch(run, branch, true);
}

/* A removal may leave separators with more in common than the page's prefix, which only the next
 * rebuilding writes: separators that need no cell then take more room than before. */
START_TEST(a_full_branch_whose_separators_have_more_in_common_can_be_split_by_appending)
{
    uint32_t grown = 0;

    for (uint32_t s = 0; s < PAGE_SIZES; s++) {
        for (uint32_t level = 1; level <= 2; level++) {
            BranchRun *run = &branch_run;
            Branch *branch = &run->left;
            Item item = {0};
            expect_context("branch of %u bytes, level %u", page_sizes[s], level);
            choice_from_seed(&run->choice, 1);
            run->shape = SHAPE_SHORT;
            branch_run_open(run, page_sizes[s], level, ORDER_BYTES);
            fill_behind_removed(run, &item);
            uint32_t common = items_common(run, branch->items, branch->count);
            grown += items_bytes(run, branch->items, branch->count, common) >
                             node_capacity(page_sizes[s])
                         ? 1
                         : 0;
            uint32_t count = branch->count;
            BranchItem given = as_branch_item(run, &item);
            branch_open(run, &run->right);
            SepRef sep =
                branch_split(&run->scratch, branch->page, run->right.page, count, &given, true);
            items_insert(branch, count, item);
            take_split(run, sep);
            branch_run_close(run);
        }
    }
    ck_assert_uint_gt(grown, 0);
}
END_TEST

/* ---- Exact bytes ---------------------------------------------------------------------------- */

enum { GOLDEN = 256 };

/* The checksum is not the node's; birth and number are the pager's. */
static void golden_page(uint8_t page[GOLDEN])
{
    memset(page, 0, GOLDEN);
    memset(page, 0xee, PAGE_BIRTH);
    store_u64le(page + PAGE_BIRTH, UINT64_C(0x0102030405060708));
    store_u32le(page + PAGE_NO, UINT32_C(0x0a0b0c0d));
}

static void expect_golden(const uint8_t *page, const uint8_t *golden)
{
    expect_context("the bytes of a page");
    for (uint32_t i = 0; i < GOLDEN; i++) {
        EXPECT(page[i] == golden[i], "offset %u: %02x instead of %02x", i, page[i], golden[i]);
    }
}

static LeafRow golden_row(const char *key, const char *val)
{
    return (LeafRow){.key = (const uint8_t *)key,
                     .key_len = (uint32_t)strlen(key),
                     .val = (const uint8_t *)val,
                     .stored = (uint32_t)strlen(val),
                     .val_code = (uint16_t)strlen(val)};
}

START_TEST(a_leaf_has_the_bytes_that_its_format_says)
{
    /* clang-format off */
    static const uint8_t golden[GOLDEN] = {
        [0] = 0, 0, 0, 0, 0, 0, 0, 0,                          /* checksum */
        [8] = 0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01,  /* birth */
        [16] = 0x0d, 0x0c, 0x0b, 0x0a,                         /* number */
        [20] = 1, 0,                                           /* leaf, level 0 */
        [22] = 0x05, 0x40,                                     /* table 5, owns runs */
        [24] = 4, 0, 2, 0, 210, 0, 1, 0,                       /* n, prefix, upper, dead */
        [32] = 0, 0, 0, 0,                                     /* heads: of "ap" */
        [36] = 0, 'e', 'l', 'p',                               /* "apple" */
        [40] = 0, 'y', 'l', 'p',                               /* "apply" */
        [44] = 'o', 'c', 'i', 'r',                             /* "apricot" */
        [48] = 210, 0, 246, 0, 216, 0, 227, 0,                 /* slots */
        [210] = 2, 0, 0, 0, 'a', 'p',
        [216] = 5, 0, 1, 0, 'a', 'p', 'p', 'l', 'y', '3', '2', /* the last byte is dead */
        [227] = 7, 0, 0xff, 0xff, 'a', 'p', 'r', 'i', 'c', 'o', 't',
        [238] = 0x44, 0x33, 0x22, 0x11, 0xe8, 0x03, 0, 0,      /* run 0x11223344, 1000 bytes */
        [246] = 5, 0, 1, 0, 'a', 'p', 'p', 'l', 'e', '1',
    };
    /* clang-format on */
    uint8_t page[GOLDEN];
    uint8_t reference[CELL_REF];

    golden_page(page);
    node_init(page, GOLDEN, 0, 5);
    LeafRow apple = golden_row("apple", "1");
    leaf_insert(page, 0, &apple);
    store_u32le(reference, UINT32_C(0x11223344));
    store_u32le(reference + 4, 1000);
    LeafRow apricot = golden_row("apricot", "");
    apricot.val = reference;
    apricot.stored = CELL_REF;
    apricot.val_code = CELL_VAL_ELSEWHERE;
    leaf_insert(page, 1, &apricot);
    LeafRow apply = golden_row("apply", "22");
    leaf_insert(page, 1, &apply);
    LeafRow ap = golden_row("ap", "");
    leaf_insert(page, 0, &ap);
    apply = golden_row("apply", "3");
    leaf_overwrite(page, 2, &apply);
    expect_golden(page, golden);
}
END_TEST

START_TEST(a_plain_leaf_has_neither_heads_nor_prefix)
{
    /* clang-format off */
    static const uint8_t golden[GOLDEN] = {
        [8] = 0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01,
        [16] = 0x0d, 0x0c, 0x0b, 0x0a,
        [20] = 1, 0,
        [22] = 0x00, 0x84,                                     /* the catalog's number, plain */
        [24] = 2, 0, 0, 0, 240, 0, 0, 0,
        [32] = 240, 0, 248, 0,                                 /* slots */
        [240] = 2, 0, 2, 0, 'a', 'b', 'v', 'w',
        [248] = 2, 0, 2, 0, 'a', 'a', 'x', 'y',
    };
    /* clang-format on */
    uint8_t page[GOLDEN];

    golden_page(page);
    node_init(page, GOLDEN, 0, 1024 | PAGE_PLAIN);
    LeafRow row = golden_row("aa", "xy");
    leaf_insert(page, 0, &row);
    row = golden_row("ab", "vw");
    leaf_insert(page, 0, &row);
    expect_golden(page, golden);
}
END_TEST

static BranchItem golden_item(const char *sep, uint32_t child_word, uint64_t rows)
{
    return (BranchItem){.sep = {.rest = (const uint8_t *)sep, .rest_len = (uint32_t)strlen(sep)},
                        .child_word = child_word,
                        .rows = rows};
}

START_TEST(a_branch_has_the_bytes_that_its_format_says)
{
    /* clang-format off */
    static const uint8_t golden[GOLDEN] = {
        [8] = 0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01,
        [16] = 0x0d, 0x0c, 0x0b, 0x0a,
        [20] = 2, 1,                                           /* branch above leaves */
        [22] = 0x05, 0x00,
        [24] = 6, 0, 8, 0, 246, 0, 0, 0,                       /* n, prefix, upper, dead */
        [32] = 'a', 'p', 'p', 'l', 'e', '-', 't', 'a',         /* prefix */
        [40] = 0, 0, 0, 0,                                     /* heads: minus infinity */
        [44] = 0, 0, 0, 0,                                     /* "apple-ta" */
        [48] = 0, 0, 't', 'r',                                 /* "apple-tart" */
        [52] = 'l', 'e', 't', 'r',                             /* "apple-tartelette" */
        [56] = 0, 0, 0, 't',                                   /* "apple-tat" */
        [60] = 0xff, 0, 'a', 't',                              /* "apple-tata\0\xff" */
        [64] = 0x01, 0x02, 0x03, 0x04,                         /* children */
        [68] = 11, 0, 0, 0,
        [72] = 12, 0, 0, 0,
        [76] = 13, 0, 0, 0x80,                                 /* owns runs */
        [80] = 14, 0, 0, 0,
        [84] = 15, 0, 0, 0,
        [88] = 0, 0, 0, 0, 2, 0, 246, 0, 1, 0, 4, 0,           /* slots */
        [100] = 3, 0, 4, 0, 5, 0, 0xf4, 0x01, 0xff, 0xff, 0, 0, /* rows */
        [246] = 8, 0, 'r', 't', 'e', 'l', 'e', 't', 't', 'e',
    };
    /* clang-format on */
    uint8_t page[GOLDEN];
    NodeScratch scratch = {0};

    ck_assert_int_eq(node_scratch_init(&scratch, GOLDEN), SAP_OK);
    golden_page(page);
    node_init(page, GOLDEN, 1, 5);
    BranchItem left = golden_item("", UINT32_C(0x04030201), 3);
    BranchItem right = golden_item("apple-tart", 12, 5);
    branch_init_root(&scratch, page, &left, &right);
    BranchItem item = golden_item("apple-ta", 11, 4);
    ck_assert(branch_insert(&scratch, page, 1, &item));
    item = golden_item("apple-tat", 14, UINT16_MAX);
    ck_assert(branch_insert(&scratch, page, 3, &item));
    item = golden_item("apple-tartelette", 13 | CHILD_OWNS_RUNS, 500);
    ck_assert(branch_insert(&scratch, page, 3, &item));
    item = golden_item("", 15, 0);
    item.sep = (SepRef){.front = (const uint8_t *)"apple-",
                        .front_len = 6,
                        .rest = (const uint8_t *)"tata\0\xff",
                        .rest_len = 6};
    ck_assert(branch_insert(&scratch, page, 5, &item));
    expect_golden(page, golden);
    node_scratch_release(&scratch);
}
END_TEST

START_TEST(a_plain_branch_has_whole_separators_and_higher_ones_wide_counts)
{
    /* clang-format off */
    static const uint8_t golden[GOLDEN] = {
        [8] = 0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01,
        [16] = 0x0d, 0x0c, 0x0b, 0x0a,
        [20] = 2, 3,
        [22] = 0x05, 0x80,
        [24] = 2, 0, 0, 0, 252, 0, 0, 0,
        [32] = 10, 0, 0, 0, 11, 0, 0, 0,                       /* children */
        [40] = 0, 0, 252, 0,                                   /* slots */
        [44] = 0xff, 0xff, 0, 0, 0, 0, 0, 0,                   /* rows */
        [52] = 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01,
        [252] = 2, 0, 'a', 'p',
    };
    /* clang-format on */
    uint8_t page[GOLDEN];
    NodeScratch scratch = {0};

    ck_assert_int_eq(node_scratch_init(&scratch, GOLDEN), SAP_OK);
    golden_page(page);
    node_init(page, GOLDEN, 3, 5 | PAGE_PLAIN);
    BranchItem left = golden_item("", 10, UINT16_MAX);
    BranchItem right = golden_item("ap", 11, UINT64_C(0x0123456789abcdef));
    branch_init_root(&scratch, page, &left, &right);
    expect_golden(page, golden);
    node_scratch_release(&scratch);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_node");
    TCase *tcase = tcase_create("node");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, heads_are_counted_as_one_by_one);
    tcase_add_test(tcase, a_leaf_is_a_sorted_array_of_rows);
    tcase_add_test(tcase, a_branch_is_a_sorted_array_of_separators);
    tcase_add_test(tcase, the_longest_keys_fit_twice_in_a_leaf_and_between_three_children);
    tcase_add_test(tcase, two_rows_with_the_longest_values_inside_fit_a_leaf);
    tcase_add_test(tcase, a_scratch_without_memory_leaves_nothing);
    tcase_add_test(tcase,
                   a_full_branch_whose_separators_have_more_in_common_can_be_split_by_appending);
    tcase_add_test(tcase, a_leaf_has_the_bytes_that_its_format_says);
    tcase_add_test(tcase, a_plain_leaf_has_neither_heads_nor_prefix);
    tcase_add_test(tcase, a_branch_has_the_bytes_that_its_format_says);
    tcase_add_test(tcase, a_plain_branch_has_whole_separators_and_higher_ones_wide_counts);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
