/* backup.c - a snapshot page by page as an image, while everything goes on.
 *
 * The pages of a table come level by level from the root down, so that the children of a node have
 * consecutive numbers: a count tells where each goes, and no map is needed. Behind the nodes of all
 * tables come the runs, in the order in which the leaves refer to them. A first walk lists them all,
 * since the header, which is written first, has their number; it reads branches, and only those
 * leaves that have runs. The second walk copies. The snapshot is pinned: both see the same. */
#include "common/mem.h"
#include "sapling/image.h"
#include "sapling/tree.h"

enum { RUN_ENTRY = 8 };

#define UNREAD CHILD_OWNS_RUNS /* of an entry: a leaf without runs, which the first walk passes */

typedef struct Backup {
    SapEnv *env;
    Image image;
    Pieces out;
    Buf nodes;         /* u32 page number in the source, with UNREAD; in the image's order */
    Buf runs;          /* u32 page number, u32 length of the value; the same */
    uint32_t children; /* nodes of the present table whose place was given out, all before it too */
    uint32_t levels;   /* of the present table */
    uint64_t next_run; /* second walk: number of the next run */
    uint64_t rows;     /* second walk: of the present table, as each of its levels counts them */
    uint64_t *seen;    /* first walk: bits of the pages listed so far */
    uint32_t high;     /* which are below this */
} Backup;

static uint32_t node_count(const Backup *backup)
{
    return (uint32_t)(backup->nodes.len / 4);
}

/* Each page has one place: trees forged to share pages would have no end. */
static int claim(Backup *backup, uint32_t pgno, uint32_t pages)
{
    if (pgno >= backup->high || pages > backup->high - pgno) {
        return tree_refuse(backup->env, pgno, "is referred to, which is not there");
    }
    for (uint32_t i = pgno; i < pgno + pages; i++) {
        if (arena_bit(backup->seen, i)) {
            return tree_refuse(backup->env, i, "is used in several places");
        }
        arena_set_bit(backup->seen, i);
    }
    return SAP_OK;
}

/* A node of the table, for reading. */
static int load_node(const Backup *backup, const Table *table, uint32_t pgno, uint32_t level,
                     const uint8_t **page_out)
{
    uint8_t *page = NULL;
    int rc = arena_load(backup->env->arena, pgno, &page);
    if (rc == SAP_OK &&
        (page[PAGE_TYPE] != (level == 0 ? PAGE_LEAF : PAGE_BRANCH) || page_level(page) != level ||
         (page_flags(page) & ~(uint32_t)PAGE_OWNS_RUNS) != table->page_flags)) {
        rc = tree_refuse(backup->env, pgno, "is no page of the tree that leads to it");
    }
    *page_out = page;
    return rc;
}

/* ---- Walking -------------------------------------------------------------------------------- */

typedef int (*Visit)(Backup *backup, const Table *table, uint32_t entry, uint32_t level);

/* Visits the nodes of a table from entry `at` on, its root, level by level. */
static int walk_table(Backup *backup, const Table *table, uint32_t at, Visit visit)
{
    uint8_t *root = NULL;
    int rc = arena_load(backup->env->arena, load_u32le(backup->nodes.data + (size_t)4 * at), &root);
    uint32_t level = rc == SAP_OK ? page_level(root) : 0;
    backup->levels = level + 1;
    backup->children = at + 1;
    for (uint32_t end = at + 1; rc == SAP_OK; end = backup->children, level--) {
        for (; at < end && rc == SAP_OK; at++) {
            rc = visit(backup, table, load_u32le(backup->nodes.data + (size_t)4 * at), level);
        }
        if (level == 0) {
            break;
        }
    }
    return rc;
}

static int list_children(Backup *backup, const uint8_t *page, uint32_t level)
{
    int rc = SAP_OK;
    for (uint32_t i = 0; i < page_count(page) && rc == SAP_OK; i++) {
        uint32_t word = branch_child_word(page, i);
        bool unread = level == 1 && (word & CHILD_OWNS_RUNS) == 0;
        uint32_t child = word & ~CHILD_OWNS_RUNS;
        rc = claim(backup, child, 1);
        if (rc == SAP_OK) {
            rc = buf_append_u32le(&backup->nodes, child | (unread ? UNREAD : 0));
        }
        backup->children++;
    }
    return rc;
}

static int list_runs(Backup *backup, const uint8_t *page)
{
    int rc = SAP_OK;
    bool any = (page_flags(page) & PAGE_OWNS_RUNS) != 0;
    for (uint32_t i = 0; any && i < page_count(page) && rc == SAP_OK; i++) {
        LeafRow row = leaf_row(page, i);
        if (row.val_code == CELL_VAL_ELSEWHERE) {
            rc = claim(backup, row_run(&row),
                       run_pages(backup->env->arena->stride, row_run_len(&row)));
            if (rc == SAP_OK) {
                rc = buf_append(&backup->runs, row.val, RUN_ENTRY);
            }
            backup->image.next += run_pages(backup->image.page_size, row_run_len(&row));
        }
    }
    return rc;
}

static int list_node(Backup *backup, const Table *table, uint32_t entry, uint32_t level)
{
    backup->image.next++;
    if ((entry & UNREAD) != 0) {
        return SAP_OK;
    }
    const uint8_t *page = NULL;
    int rc = load_node(backup, table, entry, level, &page);
    if (rc == SAP_OK) {
        rc = level > 0 ? list_children(backup, page, level) : list_runs(backup, page);
    }
    return rc;
}

/* After this the numbers of all pages are known. */
static int list_tables(Backup *backup)
{
    const SapEnv *env = backup->env;
    uint32_t first = file_first_page(backup->image.page_size);
    int rc = SAP_OK;
    for (uint32_t dbi = 0; dbi < backup->image.table_count && rc == SAP_OK; dbi++) {
        TreeState tree = {0};
        const Table *table = table_get(env, dbi);
        rc = table != NULL ? table_state(backup->image.txn, dbi, &tree) : SAP_OK;
        if (rc != SAP_OK || tree.root == 0) {
            continue;
        }
        uint32_t at = node_count(backup);
        backup->image.trees[dbi] = (TreeState){.root = first + at, .entries = tree.entries};
        rc = claim(backup, tree.root, 1);
        if (rc == SAP_OK) {
            rc = buf_append_u32le(&backup->nodes, tree.root);
        }
        if (rc == SAP_OK) {
            rc = walk_table(backup, table, at, list_node);
        }
    }
    return rc;
}

/* ---- Writing -------------------------------------------------------------------------------- */

/* The copy's rows refer to runs by their new numbers. */
static int renumber_runs(Backup *backup, uint8_t *page, uint32_t entry)
{
    if ((page_flags(page) & PAGE_OWNS_RUNS) == 0) {
        return SAP_OK;
    }
    if ((entry & UNREAD) != 0) {
        return tree_refuse(backup->env, entry & ~UNREAD,
                           "has values elsewhere of which the page above it does not know");
    }
    for (uint32_t i = 0; i < page_count(page); i++) {
        LeafRow row = leaf_row(page, i);
        if (row.val_code == CELL_VAL_ELSEWHERE) {
            store_u32le(page + (row.val - page), (uint32_t)backup->next_run);
            backup->next_run += run_pages(backup->image.page_size, row_run_len(&row));
        }
    }
    return SAP_OK;
}

static int write_node(Backup *backup, const Table *table, uint32_t entry, uint32_t level)
{
    Image *image = &backup->image;
    const uint8_t *from = NULL;
    int rc = load_node(backup, table, entry & ~UNREAD, level, &from);
    if (rc != SAP_OK) {
        return rc;
    }
    backup->rows += node_rows(from);
    uint32_t first = file_first_page(image->page_size);
    uint8_t *page = image_make_page(image, page_birth(from));
    node_copy(page, from, image->page_size);
    for (uint32_t i = 0; level > 0 && i < page_count(page); i++) {
        uint32_t flag = branch_child_word(page, i) & CHILD_OWNS_RUNS;
        branch_set_child(page, i, flag | (first + backup->children++));
    }
    rc = level == 0 ? renumber_runs(backup, page, entry) : SAP_OK;
    return rc == SAP_OK ? image_put_page(image, &backup->out) : rc;
}

static int write_run(Backup *backup, const uint8_t *entry)
{
    Image *image = &backup->image;
    LeafRow row = {.val = entry, .stored = CELL_REF, .val_code = CELL_VAL_ELSEWHERE};
    const void *val = NULL;
    uint32_t len = 0;
    int rc = tree_run_value(backup->env, &row, &val, &len);
    if (rc != SAP_OK) {
        return rc;
    }
    const uint8_t *run = (const uint8_t *)val - PAGE_HEADER;
    uint32_t pgno = (uint32_t)image->next;
    image->next += run_pages(image->page_size, len);
    return image_put_run(image, &backup->out, pgno, page_flags(run) & PAGE_DBI_MASK,
                         page_birth(run), val, len);
}

static int write_table(Backup *backup, uint32_t dbi)
{
    TreeState tree = backup->image.trees[dbi];
    uint32_t at = tree.root - file_first_page(backup->image.page_size);
    backup->rows = 0;
    int rc = walk_table(backup, &backup->env->tables[dbi], at, write_node);
    if (rc == SAP_OK && backup->rows != tree.entries * backup->levels) {
        rc = tree_refuse(backup->env, load_u32le(backup->nodes.data + (size_t)4 * at),
                         "leads to another number of rows than it should");
    }
    return rc;
}

static int write_tables(Backup *backup)
{
    Image *image = &backup->image;
    uint32_t first = file_first_page(image->page_size);
    int rc = SAP_OK;
    image->next = first;
    backup->next_run = (uint64_t)first + node_count(backup);
    for (uint32_t dbi = 0; dbi < image->table_count && rc == SAP_OK; dbi++) {
        rc = image->trees[dbi].root != 0 ? write_table(backup, dbi) : SAP_OK;
    }
    for (size_t at = 0; at < backup->runs.len && rc == SAP_OK; at += RUN_ENTRY) {
        rc = write_run(backup, backup->runs.data + at);
    }
    return rc;
}

/* The first walk, with what only it needs. */
static int list_all(Backup *backup)
{
    backup->high = atomic_load_acquire(&backup->env->arena->high);
    size_t bytes = ((size_t)backup->high / 64 + 1) * sizeof *backup->seen;
    backup->seen = (uint64_t *)mem_zalloc(MEM_SCRATCH, bytes);
    if (backup->seen == NULL) {
        return SAP_NOMEM;
    }
    int rc = list_tables(backup);
    mem_free(MEM_SCRATCH, backup->seen, bytes);
    return rc;
}

static int write_image(Backup *backup)
{
    int rc = list_all(backup);
    if (rc == SAP_OK) {
        rc = image_finish(&backup->image);
    }
    if (rc == SAP_OK) {
        rc = image_put_header(&backup->image, &backup->out);
    }
    if (rc == SAP_OK) {
        rc = write_tables(backup);
    }
    if (rc == SAP_OK) {
        rc = image_put_end(&backup->image, &backup->out);
    }
    return rc == SAP_OK ? pieces_flush(&backup->out) : rc;
}

int sap_db_backup(SapEnv *db, sap_write_fn write, void *ctx)
{
    SapTxnCtx *txn = NULL;
    if (write == NULL) {
        return SAP_ERROR;
    }
    int rc = sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    Backup backup = {.env = db};
    rc = image_begin(&backup.image, txn);
    if (rc == SAP_OK) {
        rc = pieces_init(&backup.out, write, ctx);
    }
    if (rc == SAP_OK) {
        rc = write_image(&backup);
    }
    pieces_release(&backup.out);
    buf_release(&backup.nodes);
    buf_release(&backup.runs);
    image_release(&backup.image);
    sap_txn_abort(txn);
    return rc;
}
