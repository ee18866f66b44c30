/* verify.c - walks every tree of a snapshot and checks each rule of page.h and node.h. */
#include <stdarg.h>
#include <stdio.h>

#include "common/mem.h"
#include "sapling/dbfile.h"
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
    sap_progress_fn progress; /* NULL: none */
    void *ctx;
    uint64_t findings;
    uint64_t done;  /* rows, but for those of the catalog */
    uint64_t total; /* that the tables say they have */
    bool stopped;   /* by `progress`, whose answer is `rc` */
    int rc;         /* why it cannot go on, which is no finding */
    uint8_t *seps;  /* two pages' room on each level of the present tree */
    uint64_t *seen; /* bits of the pages met so far */
    uint32_t high;  /* they are below this */
} Verify;

__attribute__((format(printf, 3, 4))) static void finding(Verify *v, uint32_t pgno,
                                                          const char *format, ...)
{
    if (v->rc != SAP_OK) {
        return;
    }
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

static void go_on(Verify *v)
{
    int rc =
        v->progress != NULL && v->rc == SAP_OK ? v->progress(v->done, v->total, v->ctx) : SAP_OK;
    if (rc != SAP_OK) {
        v->rc = rc;
        v->stopped = true;
    }
}

/* The page for reading, or NULL. */
static const uint8_t *load(Verify *v, uint32_t pgno)
{
    if (sap_arena_resolve(v->env->arena, pgno) == NULL) {
        finding(v, pgno, "no such page");
        return NULL;
    }
    uint8_t *page = NULL;
    int rc = arena_load(v->env->arena, pgno, &page);
    if (rc == SAP_CORRUPT) {
        finding(v, pgno, "is not what was written");
    } else if (rc != SAP_OK) {
        v->rc = rc;
    }
    return page;
}

/* The page's own fields. False: too wrong to look further. */
static bool check_header(Verify *v, const uint8_t *page, uint32_t pgno, uint32_t level)
{
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
    const char *damage = node_damage(page, v->env->page_size);
    if (damage != NULL) {
        finding(v, pgno, "%s", damage);
    }
    return damage == NULL;
}

static void check_bounds(Verify *v, uint32_t pgno, const uint8_t *key, uint32_t len, Bound lo,
                         Bound hi)
{
    if ((lo.key != NULL && key_compare(v->order, key, len, lo.key, lo.len) < 0) ||
        (hi.key != NULL && key_compare(v->order, key, len, hi.key, hi.len) >= 0)) {
        finding(v, pgno, "a key lies outside the separators above it");
    }
}

/* Each page belongs to one place, and what went to disk is what was written. */
static bool claim_pages(Verify *v, const uint8_t *page, uint32_t pgno, uint32_t pages)
{
    if (v->env->file != NULL && page_stamp(page) != 0 &&
        !page_is_intact(v->env->file, page, pgno)) {
        finding(v, pgno, "fails its checksum");
        return false;
    }
    if (pgno >= v->high || pages > v->high - pgno) {
        finding(v, pgno, "no such pages");
        return false;
    }
    for (uint32_t i = 0; i < pages; i++) {
        if (arena_bit(v->seen, pgno + i)) {
            finding(v, pgno + i, "is used twice");
            return false;
        }
        arena_set_bit(v->seen, pgno + i);
    }
    return true;
}

static void check_run(Verify *v, uint32_t pgno, const LeafRow *row)
{
    uint32_t run = row_run(row);
    const uint8_t *page = load(v, run);
    if (page == NULL) {
        return;
    }
    if (page_no(page) != run || page[PAGE_TYPE] != PAGE_OVERFLOW ||
        load_u32le(page + PAGE_RUN_LEN) != row_run_len(row) ||
        load_u32le(page + PAGE_RUN_PAGES) != run_pages(v->env->arena->stride, row_run_len(row))) {
        finding(v, pgno, "the run %u of a value is not what the row says", run);
    } else {
        (void)claim_pages(v, page, run, load_u32le(page + PAGE_RUN_PAGES));
    }
}

static uint64_t verify_leaf(Verify *v, const uint8_t *page, uint32_t pgno, Bound lo, Bound hi)
{
    uint32_t n = page_count(page);
    LeafRow before = leaf_row(page, 0);
    for (uint32_t i = 0; i < n; i++) {
        LeafRow row = leaf_row(page, i);
        if (i > 0 && key_compare(v->order, before.key, before.key_len, row.key, row.key_len) >= 0) {
            finding(v, pgno, "row %u is not above the one before", i);
        }
        check_bounds(v, pgno, row.key, row.key_len, lo, hi);
        if (row.val_code == CELL_VAL_ELSEWHERE) {
            check_run(v, pgno, &row);
        }
        before = row;
    }
    if (v->dbi != ENV_CATALOG) {
        v->done += n;
        v->total = v->done > v->total ? v->done : v->total; /* a count was wrong */
        go_on(v);
    }
    return n;
}

static uint64_t verify_node(Verify *v, uint32_t pgno, uint32_t level, Bound lo, Bound hi);

/* That a search for each separator finds its child. */
static void check_separators(Verify *v, const uint8_t *page, uint32_t pgno, uint8_t *sep)
{
    for (uint32_t i = 1; i < page_count(page); i++) {
        uint32_t len = branch_sep_copy(page, i, sep);
        if (branch_search(page, v->order, sep, len) != i) {
            finding(v, pgno, "a search for separator %u goes elsewhere", i);
        }
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
            to = (Bound){seps[i % 2], branch_sep_copy(page, i + 1, seps[i % 2])};
            check_bounds(v, pgno, to.key, to.len, lo, hi);
            if (i > 0 && key_compare(v->order, from.key, from.len, to.key, to.len) >= 0) {
                finding(v, pgno, "separator %u is not above the one before", i + 1);
            }
        }
        uint32_t word = branch_child_word(page, i);
        uint32_t child = word & ~CHILD_OWNS_RUNS;
        uint64_t rows = verify_node(v, child, page_level(page) - 1, from, to);
        if (rows != branch_rows(page, i)) {
            finding(v, pgno, "count %u is not the number of rows below", i);
        }
        uint8_t *below = NULL;
        if (arena_load(v->env->arena, child, &below) == SAP_OK &&
            (node_runs_flag(below) & ~word) != 0) {
            finding(v, pgno, "child %u owns runs and is not flagged", i);
        }
        total += rows;
        from = to;
    }
    return total;
}

static uint64_t verify_node(Verify *v, uint32_t pgno, uint32_t level, Bound lo, Bound hi)
{
    const uint8_t *page = !v->stopped ? load(v, pgno) : NULL;
    if (page == NULL || !claim_pages(v, page, pgno, 1) || !check_header(v, page, pgno, level)) {
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
    const uint8_t *root = tree.root != 0 ? load(v, tree.root) : NULL;
    if (root != NULL) {
        uint32_t level = page_level(root);
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

/* A file's catalog also holds definitions: how many rows it has, if as many of them are roots as
 * there are trees. */
static int count_catalog(Verify *v, SapTxnCtx *txn, uint64_t trees, uint64_t *rows_out)
{
    Path path;
    uint64_t rows = 0;
    uint64_t roots = 0;
    int rc = tree_first(txn->env, txn->catalog, &path);
    for (; rc == SAP_OK; rc = tree_next(txn->env, &path)) {
        rows++;
        roots += path_row(&path).key_len == CATALOG_KEY ? 1 : 0;
    }
    if (rc == SAP_CORRUPT || roots != trees) {
        v->dbi = ENV_CATALOG;
        finding(v, txn->catalog, "the catalog's roots are not those of the tables");
    }
    *rows_out = rows;
    return rc == SAP_NOMEM ? rc : SAP_OK;
}

/* What cannot be read is found later. */
static void count_rows(Verify *v, SapTxnCtx *txn)
{
    SapEnv *db = txn->env;
    for (uint32_t dbi = 0; v->progress != NULL && dbi < db->table_count; dbi++) {
        TreeState tree = {0};
        if (db->tables[dbi].open && table_state(txn, dbi, &tree) == SAP_OK) {
            v->total += tree.entries;
        }
    }
}

static int verify_tables(Verify *v, SapTxnCtx *txn)
{
    SapEnv *db = txn->env;
    uint64_t roots = 0;
    count_rows(v, txn);
    for (uint32_t dbi = 0; dbi < db->table_count && !v->stopped; dbi++) {
        TreeState tree = {0};
        if (!db->tables[dbi].open) {
            continue;
        }
        int rc = table_state(txn, dbi, &tree);
        if (rc == SAP_NOMEM) {
            return rc;
        }
        if (rc != SAP_OK) {
            v->dbi = dbi;
            finding(v, txn->catalog, "the catalog's row does not decode");
            continue;
        }
        roots += tree.root != 0 ? 1 : 0;
        rc = verify_tree(v, dbi, &db->tables[dbi], tree);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    v->done = v->total;
    go_on(v);
    uint64_t rows = roots;
    if (v->stopped) {
        return SAP_OK;
    }
    if (db->file != NULL) {
        int rc = count_catalog(v, txn, roots, &rows);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return verify_tree(v, ENV_CATALOG, &db->catalog,
                       (TreeState){.root = txn->catalog, .entries = rows});
}

/* The pages that count as in use are those of the trees, no more and no less. Only certain where
 * the snapshot is the newest and stays so meanwhile. */
static void check_accounts(Verify *v, SapTxnCtx *txn)
{
    SapEnv *db = txn->env;
    const Pager *pager = &db->pager;
    if (db->file == NULL || v->findings > 0 || !writer_lock_take_briefly(&db->lock, false)) {
        return;
    }
    Version newest;
    version_get(&db->newest, &newest);
    v->dbi = ENV_CATALOG;
    for (uint32_t pgno = 0; newest.txnid == txn->base && pgno < v->high; pgno++) {
        bool used = pgno / 64 < pager->track_words && arena_bit(pager->used, pgno);
        if (used != arena_bit(v->seen, pgno)) {
            finding(v, pgno,
                    used ? "counts as in use, and no tree has it"
                         : "counts as free, and a tree has it");
        }
    }
    writer_lock_release(&db->lock);
}

int sap_db_verify(SapEnv *db, void (*report)(const char *text, void *ctx), void *ctx)
{
    return sap_db_verify_progress(db, report, NULL, ctx);
}

int sap_db_verify_progress(SapEnv *db, void (*report)(const char *text, void *ctx),
                           sap_progress_fn progress, void *ctx)
{
    SapTxnCtx *txn = NULL;
    int rc = sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    Verify v = {
        .env = db, .newest_birth = txn->base, .report = report, .progress = progress, .ctx = ctx};
    v.high = atomic_load_acquire(&db->arena->high);
    size_t bytes = ((size_t)v.high / 64 + 1) * sizeof *v.seen;
    v.seen = (uint64_t *)mem_zalloc(MEM_SCRATCH, bytes);
    if (v.seen == NULL) {
        sap_txn_abort(txn);
        return SAP_NOMEM;
    }
    rc = verify_tables(&v, txn);
    rc = rc == SAP_OK ? v.rc : rc;
    if (rc == SAP_OK) {
        check_accounts(&v, txn);
    }
    mem_free(MEM_SCRATCH, v.seen, bytes);
    sap_txn_abort(txn);
    return v.findings > 0 && !v.stopped ? SAP_CORRUPT : rc;
}
