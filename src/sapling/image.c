/* image.c - see image.h. */
#include "sapling/image.h"

#include "common/assert.h"
#include "common/mem.h"
#include "sapling/tree_build.h"

/* ---- Beginning ------------------------------------------------------------------------------ */

/* Whether a file can say what the table's order is. */
static bool has_names(const Table *table)
{
    bool val_custom = table->pairs != NULL && table->pairs->values.cmp != NULL;
    return (table->key_order.cmp == NULL || table->key_name != NULL) &&
           (!val_custom || table->val_name != NULL);
}

int image_begin(Image *image, SapTxnCtx *txn)
{
    const SapEnv *env = txn->env;
    *image = (Image){.txn = txn,
                     .page_size = env->page_size,
                     .next = file_first_page(env->page_size),
                     .table_count = env->table_count};
    bool fits = file_page_size_valid(env->page_size) && env->table_count > 0;
    for (uint32_t dbi = 0; fits && dbi < env->table_count; dbi++) {
        fits = !env->tables[dbi].open || has_names(&env->tables[dbi]);
    }
    if (!fits) {
        return SAP_ERROR;
    }
    image->trees = (TreeState *)mem_zalloc(MEM_SCRATCH, image->table_count * sizeof *image->trees);
    image->page = (uint8_t *)mem_alloc(MEM_SCRATCH, image->page_size);
    if (image->trees == NULL || image->page == NULL) {
        return SAP_NOMEM;
    }
    int rc = dbfile_new_id(env->file, &image->db_id);
    return rc == SAP_IO && env->file != NULL
               ? dbfile_report(env->file, rc,
                               "the system gave no random bytes for the id of a copy")
               : rc;
}

void image_release(Image *image)
{
    mem_free(MEM_SCRATCH, image->trees, image->table_count * sizeof *image->trees);
    mem_free(MEM_SCRATCH, image->page, image->page_size);
    mem_free(MEM_SCRATCH, image->bitmap, (size_t)image->meta.bitmap_pages * image->page_size);
    buf_release(&image->catalog);
    buf_release(&image->saved);
}

/* ---- Pages ---------------------------------------------------------------------------------- */

uint8_t *image_make_page(Image *image, uint64_t birth)
{
    memset(image->page, 0, image->page_size);
    store_u64le(image->page + PAGE_BIRTH, birth);
    store_u32le(image->page + PAGE_NO, (uint32_t)image->next++);
    return image->page;
}

static void seal(const Image *image, uint8_t *page)
{
    store_u64le(page + PAGE_CHECKSUM, page_checksum(page, image->page_size, image->db_id));
}

int image_put_page(Image *image, Pieces *out)
{
    seal(image, image->page);
    return pieces_put(out, image->page, image->page_size);
}

static void run_header(uint8_t header[PAGE_HEADER], uint32_t pgno, uint32_t dbi, uint64_t birth,
                       uint32_t len, uint32_t pages)
{
    memset(header, 0, PAGE_HEADER);
    store_u64le(header + PAGE_BIRTH, birth);
    store_u32le(header + PAGE_NO, pgno);
    header[PAGE_TYPE] = PAGE_OVERFLOW;
    page_set_flags(header, dbi);
    store_u32le(header + PAGE_RUN_LEN, len);
    store_u32le(header + PAGE_RUN_PAGES, pages);
}

int image_put_run(const Image *image, Pieces *out, uint32_t pgno, uint32_t dbi, uint64_t birth,
                  const void *val, uint32_t len)
{
    uint8_t header[PAGE_HEADER];
    uint32_t pages = run_pages(image->page_size, len);
    run_header(header, pgno, dbi, birth, len, pages);
    store_u64le(header + PAGE_CHECKSUM, run_checksum(header, val, image->db_id));
    int rc = pieces_put(out, header, PAGE_HEADER);
    if (rc == SAP_OK) {
        rc = pieces_put(out, val, len);
    }
    size_t behind = (size_t)pages * image->page_size - PAGE_HEADER - len;
    return rc == SAP_OK ? pieces_put_zeros(out, behind) : rc;
}

/* ---- The catalog ---------------------------------------------------------------------------- */

typedef struct CatalogRow {
    uint8_t key[DEF_KEY];
    uint8_t val[DEF_VALUE_MAX];
} CatalogRow;
_Static_assert((int)CATALOG_VALUE <= (int)DEF_VALUE_MAX, "either kind of row has room");

static int catalog_make(void *ctx, uint8_t **page_out)
{
    Image *image = (Image *)ctx;
    *page_out = image_make_page(image, image->txn->base);
    return SAP_OK;
}

static int catalog_done(void *ctx)
{
    Image *image = (Image *)ctx;
    seal(image, image->page);
    return buf_append(&image->catalog, image->page, image->page_size);
}

static int add_catalog_row(TreeBuild *build, const CatalogRow *row, uint32_t key_len,
                           uint32_t val_len)
{
    LeafRow stored = {.key = row->key,
                      .key_len = key_len,
                      .val = row->val,
                      .stored = val_len,
                      .val_code = (uint16_t)val_len};
    return tree_build_add(build, &stored, false);
}

/* A root, where there are rows, and a definition, which only a table 0 of the plainest kind lacks.
 * `rows` has room for both. */
static int add_table(const Image *image, TreeBuild *build, uint32_t dbi, CatalogRow rows[2])
{
    const Table *table = &image->txn->env->tables[dbi];
    TreeState tree = image->trees[dbi];
    int rc = SAP_OK;
    if (tree.root != 0) {
        store_u16be(rows[0].key, (uint16_t)dbi);
        catalog_encode_root(tree, rows[0].val);
        rc = add_catalog_row(build, &rows[0], CATALOG_KEY, CATALOG_VALUE);
    }
    if (rc == SAP_OK && (dbi != 0 || table->flags != 0 || table->key_name != NULL)) {
        uint32_t len = definition_encode(table, dbi, rows[1].key, rows[1].val);
        rc = add_catalog_row(build, &rows[1], DEF_KEY, len);
    }
    return rc;
}

static int make_catalog(Image *image, TreeState *catalog_out)
{
    const SapEnv *env = image->txn->env;
    BuildPages pages = {.make = catalog_make, .done = catalog_done, .ctx = image};
    size_t bytes = 2 * (size_t)image->table_count * sizeof(CatalogRow);
    CatalogRow *rows = (CatalogRow *)mem_alloc(MEM_SCRATCH, bytes);
    if (rows == NULL) {
        return SAP_NOMEM;
    }
    TreeBuild build;
    int rc = tree_build_begin_pages(&build, image->page_size, &env->catalog, &pages);
    if (rc == SAP_OK) {
        for (uint32_t dbi = 0; dbi < image->table_count && rc == SAP_OK; dbi++) {
            rc = env->tables[dbi].open ? add_table(image, &build, dbi, &rows[2 * dbi]) : SAP_OK;
        }
        if (rc == SAP_OK) {
            rc = tree_build_finish(&build, catalog_out);
        }
        tree_build_release(&build);
    }
    mem_free(MEM_SCRATCH, rows, bytes);
    return rc;
}

/* ---- The states of subsystems ---------------------------------------------------------------- */

/* With zeros up to the end of its last page. */
static int make_states(Image *image)
{
    static const uint8_t zeros[64];
    SapTxnCtx *txn = image->txn;
    Meta *meta = &image->meta;
    int rc = subsystems_save(txn->env, txn->subsystem, &image->saved);
    if (rc != SAP_OK || image->saved.len == 0) {
        return rc;
    }
    meta->has_subsystems = true;
    meta->states = (uint32_t)image->next;
    meta->states_pages = run_pages(image->page_size, (uint32_t)image->saved.len);
    image->next += meta->states_pages;
    size_t len = (size_t)meta->states_pages * image->page_size - PAGE_HEADER;
    while (rc == SAP_OK && image->saved.len < len) {
        size_t behind = len - image->saved.len;
        rc = buf_append(&image->saved, zeros, behind < sizeof zeros ? behind : sizeof zeros);
    }
    return rc;
}

/* ---- The bitmap ----------------------------------------------------------------------------- */

/* As many as tell of `before` pages and of themselves. */
static uint32_t bitmap_pages(const Image *image, uint64_t before)
{
    uint64_t pages = 0;
    uint64_t wanted = 1;
    do {
        pages = wanted;
        wanted = (PAGE_HEADER + (before + pages + 7) / 8 + image->page_size - 1) / image->page_size;
    } while (wanted > pages);
    return (uint32_t)pages;
}

/* All pages of the tables and of the catalog are in use. */
static int make_bitmap(Image *image)
{
    uint32_t first = file_first_page(image->page_size);
    uint32_t pgno = (uint32_t)image->next;
    uint32_t pages = bitmap_pages(image, image->next);
    size_t bytes = (size_t)pages * image->page_size;
    image->bitmap = (uint8_t *)mem_zalloc(MEM_SCRATCH, bytes);
    if (image->bitmap == NULL) {
        return SAP_NOMEM;
    }
    image->meta.bitmap = pgno;
    image->meta.bitmap_pages = pages;
    run_header(image->bitmap, pgno, ENV_CATALOG, image->txn->base, (uint32_t)bytes - PAGE_HEADER,
               pages);
    uint32_t end = image->meta.states != 0 ? image->meta.states : pgno;
    uint8_t *bits = image->bitmap + PAGE_HEADER;
    memset(bits, 0xff, end / 8);
    bits[end / 8] = (uint8_t)((1u << (end % 8)) - 1);
    bits[0] = (uint8_t)(bits[0] & ~((1u << first) - 1));
    seal(image, image->bitmap);
    return SAP_OK;
}

/* ---- Header and end ------------------------------------------------------------------------- */

int image_finish(Image *image)
{
    /* Room for the end, which is small, included. */
    if (image->next > CHILD_OWNS_RUNS - CHILD_OWNS_RUNS / 8) {
        return SAP_FULL;
    }
    TreeState catalog = {0};
    int rc = make_catalog(image, &catalog);
    if (rc == SAP_OK) {
        rc = make_states(image);
    }
    if (rc == SAP_OK && catalog.root != 0) {
        rc = make_bitmap(image);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    image->meta.db_id = image->db_id;
    image->meta.page_size = image->page_size;
    image->meta.number = 1;
    image->meta.txnid = image->txn->base;
    image->meta.catalog = catalog.root;
    image->meta.catalog_rows = catalog.entries;
    image->meta.high = (uint32_t)image->next + image->meta.bitmap_pages;
    image->meta.closed = true;
    image->meta.wal = WAL_POINT_FIRST;
    return SAP_OK;
}

int image_put_header(const Image *image, Pieces *out)
{
    uint8_t meta[META_SIZE];
    size_t bytes = (size_t)file_first_page(image->page_size) * image->page_size;
    size_t at = 0;
    int rc = SAP_OK;
    meta_encode(&image->meta, meta);
    for (uint32_t copy = 0; copy < 2 && rc == SAP_OK; copy++) {
        size_t offset = (size_t)meta_offset(image->meta.number, copy);
        SAP_ASSERT(offset >= at);
        rc = pieces_put_zeros(out, offset - at);
        if (rc == SAP_OK) {
            rc = pieces_put(out, meta, META_SIZE);
        }
        at = offset + META_SIZE;
    }
    return rc == SAP_OK ? pieces_put_zeros(out, bytes - at) : rc;
}

int image_put_end(const Image *image, Pieces *out)
{
    int rc = pieces_put(out, image->catalog.data, image->catalog.len);
    if (rc == SAP_OK && image->saved.len > 0) {
        rc = image_put_run(image, out, image->meta.states, ENV_STATES, image->txn->base,
                           image->saved.data, (uint32_t)image->saved.len);
    }
    if (rc == SAP_OK) {
        rc = pieces_put(out, image->bitmap, (size_t)image->meta.bitmap_pages * image->page_size);
    }
    return rc;
}
