/* verify.c - walks every tree of a snapshot and checks each rule of page.h and node.h. */
#include <stdarg.h>
#include <stdio.h>

#include "common/mem.h"
#include "sapling/node_search.h"
#include "sapling/tree.h"

typedef struct Bound {
    const uint8_t *key; /* NULL: none */
    uint32_t len;
} Bound;

typedef struct Verify {
    const SapEnv *env;
    uint32_t dbi;
    KeyOrder order;
    uint32_t page_flags;
    uint64_t newest_birth;
    void (*report)(const char *text, void *ctx);
    void *ctx;
    uint64_t findings;
    uint8_t *seps; /* two pages' room on each level of the present tree */
} Verify;

__attribute__((format(printf, 3, 4))) static void finding(Verify *v, uint32_t pgno,
                                                          const char *format, ...)
{
    v->findings++;
    if (v->report == NULL) {
        return;
    }
    char text[256];
    int at = snprintf(text, sizeof text, "table %u, page %u: ", v->dbi, pgno);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text + at, sizeof text - (size_t)at, format, args);
    va_end(args);
    v->report(text, v->ctx);
}

static int compare(const Verify *v, const uint8_t *a, uint32_t a_len, const uint8_t *b,
                   uint32_t b_len)
{
    return v->order.cmp != NULL ? v->order.cmp(a, a_len, b, b_len, v->order.ctx)
                                : bytes_compare(a, a_len, b, b_len);
}

/* The page's own fields. False: too wrong to look further. */
static bool check_header(Verify *v, const uint8_t *page, uint32_t pgno, uint32_t level)
{
    uint32_t page_size = v->env->page_size;
    if (page_no(page) != pgno || page_level(page) != level ||
        page[PAGE_TYPE] != (level == 0 ? PAGE_LEAF : PAGE_BRANCH) ||
        (page_flags(page) & ~(uint32_t)PAGE_OWNS_RUNS) != v->page_flags) {
        finding(v, pgno, "header is not that of this page (number %u, type %u, level %u)",
                page_no(page), page[PAGE_TYPE], page_level(page));
        return false;
    }
    if (page_birth(page) > v->newest_birth || page_birth(page) == 0) {
        finding(v, pgno, "birth is not one of this snapshot");
    }
    if (page_count(page) == 0 || page_upper(page) > page_size ||
        node_used(page, page_size) > node_capacity(page_size)) {
        finding(v, pgno, "count, bounds or free space do not fit the page");
        return false;
    }
    return true;
}

static void check_bounds(Verify *v, uint32_t pgno, const uint8_t *key, uint32_t len, Bound lo,
                         Bound hi)
{
    if ((lo.key != NULL && compare(v, key, len, lo.key, lo.len) < 0) ||
        (hi.key != NULL && compare(v, key, len, hi.key, hi.len) >= 0)) {
        finding(v, pgno, "a key lies outside the separators above it");
    }
}

static void check_run(Verify *v, uint32_t pgno, const LeafRow *row)
{
    uint32_t run = load_u32le(row->val);
    const uint8_t *page = arena_page(v->env->arena, run);
    if (page_no(page) != run || page[PAGE_TYPE] != PAGE_OVERFLOW ||
        load_u32le(page + PAGE_RUN_LEN) != load_u32le(row->val + 4) ||
        (uint64_t)load_u32le(page + PAGE_RUN_PAGES) * v->env->arena->stride <
            (uint64_t)PAGE_HEADER + load_u32le(row->val + 4)) {
        finding(v, pgno, "the run %u of a value is not what the row says", run);
    }
}

static uint64_t verify_leaf(Verify *v, const uint8_t *page, uint32_t pgno, Bound lo, Bound hi)
{
    uint32_t n = page_count(page);
    uint32_t p = page_prefix(page);
    uint32_t cells = 0;
    LeafRow first = leaf_row(page, 0);
    LeafRow before = first;
    for (uint32_t i = 0; i < n; i++) {
        LeafRow row = leaf_row(page, i);
        if (leaf_slot(page, i) < page_upper(page) ||
            (uint32_t)(row.val - page) + row.stored > v->env->page_size) {
            finding(v, pgno, "cell %u lies outside the cells", i);
            return n;
        }
        cells += CELL_HEADER + row.key_len + row.stored;
        if (i > 0 && compare(v, before.key, before.key_len, row.key, row.key_len) >= 0) {
            finding(v, pgno, "row %u is not above the one before", i);
        }
        check_bounds(v, pgno, row.key, row.key_len, lo, hi);
        if (v->order.cmp == NULL) {
            if (row.key_len < p || memcmp(row.key, first.key, p) != 0) {
                finding(v, pgno, "row %u lacks the prefix", i);
            } else if (heads_at(leaf_heads(page), i) !=
                       load_head_be(row.key + p, row.key_len - p)) {
                finding(v, pgno, "head %u is not that of its key", i);
            }
        }
        if (row.val_code == CELL_VAL_ELSEWHERE) {
            check_run(v, pgno, &row);
            if ((page_flags(page) & PAGE_OWNS_RUNS) == 0) {
                finding(v, pgno, "owns a run without saying so");
            }
        }
        before = row;
    }
    if (cells + page_dead(page) != v->env->page_size - page_upper(page)) {
        finding(v, pgno, "cells and dead bytes do not add up");
    }
    return n;
}

static uint32_t sep_store(const uint8_t *page, uint32_t i, uint8_t *to)
{
    uint8_t in_head[SEP_IN_HEAD];
    SepRef sep = branch_sep(page, i, in_head);
    memcpy(to, sep.front, sep.front_len);
    memcpy(to + sep.front_len, sep.rest, sep.rest_len);
    return sep.front_len + sep.rest_len;
}

static uint64_t verify_node(Verify *v, uint32_t pgno, uint32_t level, Bound lo, Bound hi);

/* That a search for each separator finds its child, and that the cells add up. */
static void check_separators(Verify *v, const uint8_t *page, uint32_t pgno, uint8_t *sep)
{
    uint32_t cells = 0;
    for (uint32_t i = 1; i < page_count(page); i++) {
        uint32_t slot = load_u16le(branch_slots(page) + (size_t)2 * i);
        if (slot > SEP_IN_HEAD) {
            if (slot < page_upper(page) ||
                slot + 2u + load_u16le(page + slot) > v->env->page_size) {
                finding(v, pgno, "separator %u lies outside the cells", i);
                return;
            }
            cells += 2u + load_u16le(page + slot);
        }
        uint32_t len = sep_store(page, i, sep);
        if (branch_search(page, v->order, sep, len) != i) {
            finding(v, pgno, "a search for separator %u goes elsewhere", i);
        }
    }
    if (cells + page_dead(page) != v->env->page_size - page_upper(page)) {
        finding(v, pgno, "separators and dead bytes do not add up");
    }
}

/* The separators around each child are put together in the two buffers in turn. */
static uint64_t verify_branch(Verify *v, const uint8_t *page, uint32_t pgno, Bound lo, Bound hi)
{
    uint64_t total = 0;
    uint32_t n = page_count(page);
    uint8_t *at_level = v->seps + (size_t)2 * v->env->page_size * page_level(page);
    uint8_t *seps[2] = {at_level, at_level + v->env->page_size};
    check_separators(v, page, pgno, seps[0]);
    Bound from = lo;
    for (uint32_t i = 0; i < n; i++) {
        Bound to = hi;
        if (i + 1 < n) {
            to = (Bound){seps[i % 2], sep_store(page, i + 1, seps[i % 2])};
            check_bounds(v, pgno, to.key, to.len, lo, hi);
            if (i > 0 && compare(v, from.key, from.len, to.key, to.len) >= 0) {
                finding(v, pgno, "separator %u is not above the one before", i + 1);
            }
        }
        uint32_t word = branch_child_word(page, i);
        uint32_t child = word & ~CHILD_OWNS_RUNS;
        uint64_t rows = verify_node(v, child, page_level(page) - 1, from, to);
        if (rows != branch_rows(page, i)) {
            finding(v, pgno, "count %u is not the number of rows below", i);
        }
        if ((node_runs_flag(arena_page(v->env->arena, child)) & ~word) != 0) {
            finding(v, pgno, "child %u owns runs and is not flagged", i);
        }
        total += rows;
        from = to;
    }
    return total;
}

static uint64_t verify_node(Verify *v, uint32_t pgno, uint32_t level, Bound lo, Bound hi)
{
    const uint8_t *page = (const uint8_t *)sap_arena_resolve(v->env->arena, pgno);
    if (page == NULL) {
        finding(v, pgno, "no such page");
        return 0;
    }
    if (!check_header(v, page, pgno, level)) {
        return 0;
    }
    return level == 0 ? verify_leaf(v, page, pgno, lo, hi) : verify_branch(v, page, pgno, lo, hi);
}

static int verify_tree(Verify *v, uint32_t dbi, const Table *table, TreeState tree)
{
    v->dbi = dbi;
    v->order = table->order;
    v->page_flags = table->page_flags;
    uint64_t rows = 0;
    if (tree.root != 0) {
        uint32_t level = page_level(arena_page(v->env->arena, tree.root));
        size_t room = (size_t)2 * v->env->page_size * (level + 1);
        v->seps = (uint8_t *)mem_alloc(MEM_SCRATCH, room);
        if (v->seps == NULL) {
            return SAP_NOMEM;
        }
        rows = verify_node(v, tree.root, level, (Bound){0}, (Bound){0});
        mem_free(MEM_SCRATCH, v->seps, room);
    }
    if (rows != tree.entries) {
        finding(v, tree.root, "the table's row count is not the number of rows");
    }
    return SAP_OK;
}

static int verify_tables(Verify *v, SapTxnCtx *txn)
{
    SapEnv *db = txn->env;
    uint64_t roots = 0;
    for (uint32_t dbi = 0; dbi < db->table_count; dbi++) {
        TreeState tree = {0};
        if (!db->tables[dbi].open) {
            continue;
        }
        if (table_state(txn, dbi, &tree) != SAP_OK) {
            v->dbi = dbi;
            finding(v, txn->catalog, "the catalog's row does not decode");
            continue;
        }
        roots += tree.root != 0 ? 1 : 0;
        int rc = verify_tree(v, dbi, &db->tables[dbi], tree);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return verify_tree(v, ENV_CATALOG, &db->catalog,
                       (TreeState){.root = txn->catalog, .entries = roots});
}

int sap_db_verify(SapEnv *db, void (*report)(const char *text, void *ctx), void *ctx)
{
    SapTxnCtx *txn = NULL;
    int rc = sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    Verify v = {.env = db, .newest_birth = txn->base, .report = report, .ctx = ctx};
    rc = verify_tables(&v, txn);
    sap_txn_abort(txn);
    return v.findings > 0 ? SAP_CORRUPT : rc;
}
