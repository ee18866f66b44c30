/* dbenv.c - the environment as the newest meta of a file describes it: its pages, states, catalog. */
#include "sapling/dbfile.h"

#include <inttypes.h>
#include <string.h>

#include "common/mem.h"

void dbfile_free_info(DbFile *file)
{
    arena_file_unreserve(file->info_region, file->info_bytes);
}

static int map_info(DbFile *file, const SapMemArena *arena)
{
    file->info_bytes =
        (size_t)(arena->region_bytes / arena->stride + PAGER_GRANULE) * sizeof(PageInfo);
    return arena_file_reserve(file->info_bytes, &file->info_region);
}

/* The pages whose bit is set can be read from here on. Unless they are checked when they are first
 * read, they are checked now. */
static int fetch_pages(DbFile *file, const uint64_t *pages)
{
    SapMemArena *arena = file->env->arena;
    int rc = arena_file_read(arena, &file->data, pages, file->meta.high);
    if (rc != SAP_OK) {
        return dbfile_report_errno(file, rc, "cannot read its pages");
    }
    return arena->trusted == NULL ? checkpoint_check_pages(file, pages) : SAP_OK;
}

/* Whether no page is in use that there is not: pages of the header, of the bitmap, behind the end. */
static bool bitmap_plausible(const DbFile *file, const uint64_t *used, size_t words)
{
    const Meta *meta = &file->meta;
    uint32_t first = file_first_page(meta->page_size);
    bool plausible = (used[0] & ((UINT64_C(1) << first) - 1)) == 0;
    for (uint32_t i = 0; i < meta->bitmap_pages; i++) {
        plausible = plausible && !arena_bit(used, meta->bitmap + i);
    }
    for (uint32_t i = 0; i < meta->states_pages; i++) {
        plausible = plausible && !arena_bit(used, meta->states + i);
    }
    return plausible && used[words - 1] >> (meta->high % 64) == 0;
}

/* Reads a run of the checkpoint's own, which is filled to its end; its pages are `taken` from now
 * on. `what` is it called. */
static int load_run(DbFile *file, uint64_t *taken, uint32_t pgno, uint32_t pages, const char *what,
                    Slice *value_out)
{
    const Meta *meta = &file->meta;
    if ((uint64_t)pgno + pages > meta->high) {
        return dbfile_report(file, SAP_CORRUPT, "damaged: its %s not within it", what);
    }
    for (uint32_t i = 0; i < pages; i++) {
        arena_set_bit(taken, pgno + i);
    }
    uint8_t *run = NULL;
    int rc = fetch_pages(file, taken);
    if (rc == SAP_OK) {
        rc = arena_load(file->env->arena, pgno, &run);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    uint32_t len = load_u32le(run + PAGE_RUN_LEN);
    if (run[PAGE_TYPE] != PAGE_OVERFLOW || len != (uint64_t)pages * meta->page_size - PAGE_HEADER ||
        load_u32le(run + PAGE_RUN_PAGES) != pages) {
        return dbfile_report(file, SAP_CORRUPT, "damaged: its %s not there", what);
    }
    *value_out = (Slice){run + PAGE_HEADER, len};
    return SAP_OK;
}

/* The subsystems' states as the checkpoint has them; the bits of their pages are set in `taken`. */
static int load_states(DbFile *file, uint64_t *taken)
{
    Slice value = {0};
    if (file->meta.states == 0) {
        return SAP_OK;
    }
    int rc = load_run(file, taken, file->meta.states, file->meta.states_pages,
                      "run of subsystems' states is", &value);
    return rc == SAP_OK ? dbfile_load_states(file, value) : rc;
}

/* Reads the checkpoint's bitmap; the bits of its own pages are set in `taken` only. */
static int load_bitmap(DbFile *file, uint64_t *used, uint64_t *taken, size_t words)
{
    const Meta *meta = &file->meta;
    Slice value = {0};
    if (meta->bitmap == 0) {
        return SAP_OK;
    }
    int rc = load_run(file, taken, meta->bitmap, meta->bitmap_pages, "bitmap of pages is", &value);
    if (rc != SAP_OK) {
        return rc;
    }
    if (value.len < ((uint64_t)meta->high + 7) / 8) {
        return dbfile_report(file, SAP_CORRUPT, "damaged: its bitmap of pages is too short");
    }
    for (size_t i = 0; i < value.len && i / 8 < words; i++) {
        used[i / 8] |= (uint64_t)((const uint8_t *)value.data)[i] << (i % 8 * 8);
    }
    if (!bitmap_plausible(file, used, words)) {
        return dbfile_report(file, SAP_CORRUPT, "damaged: its bitmap has pages that are none");
    }
    for (size_t i = 0; i < words; i++) {
        taken[i] |= used[i];
    }
    return SAP_OK;
}

/* From here on, pages can be checked against the bitmap. */
static int keep_bitmap(DbFile *file, const uint64_t *used, size_t words)
{
    uint64_t *copy = (uint64_t *)mem_copy(MEM_ENV, used, words * sizeof *copy);
    if (copy == NULL) {
        return SAP_NOMEM;
    }
    file->found.words = words;
    file->found.used = copy;
    return SAP_OK;
}

/* Tells arena and pager which pages the checkpoint uses. */
static int adopt_pages(DbFile *file)
{
    SapEnv *env = file->env;
    uint32_t high = file->meta.high;
    uint32_t first = file_first_page(env->page_size);
    size_t words = (size_t)high / 64 + 1;
    size_t bytes = words * sizeof(uint64_t);
    uint64_t *used = (uint64_t *)mem_zalloc(MEM_ENV, bytes);
    uint64_t *dirty = (uint64_t *)mem_zalloc(MEM_ENV, bytes);
    uint64_t *taken = (uint64_t *)mem_zalloc(MEM_SCRATCH, bytes);
    int rc = used != NULL && dirty != NULL && taken != NULL ? SAP_OK : SAP_NOMEM;
    if (rc == SAP_OK) {
        /* High first: checking the bitmap's checksum asks for it. */
        atomic_store_release(&env->arena->high, high);
        rc = arena_adopt_memory(env->arena, high);
    }
    file->found.txnid = file->meta.txnid;
    file->found.high = high;
    if (rc == SAP_OK) {
        rc = load_states(file, taken);
    }
    if (rc == SAP_OK) {
        rc = load_bitmap(file, used, taken, words);
    }
    if (rc == SAP_OK) {
        rc = keep_bitmap(file, used, words);
    }
    if (rc == SAP_OK) {
        rc = fetch_pages(file, used);
    }
    uint32_t catalog = file->meta.catalog;
    if (rc == SAP_OK && catalog != 0 && (catalog >= high || !arena_bit(used, catalog))) {
        rc = dbfile_report(file, SAP_CORRUPT, "damaged: its catalog is none of its pages");
    }
    if (rc == SAP_OK) {
        rc = arena_adopt(env->arena, first, high, taken);
    }
    if (rc == SAP_OK) {
        rc = pager_adopt(&env->pager, high, used, dirty, words, (PageInfo *)file->info_region);
    }
    mem_free(MEM_SCRATCH, taken, bytes);
    if (rc != SAP_OK) {
        mem_free(MEM_ENV, used, bytes);
        mem_free(MEM_ENV, dirty, bytes);
    }
    return rc;
}

static int open_arena(DbFile *file, SapMemArena **arena_out)
{
    ArenaFileOptions options = {
        .fd = file->data.fd,
        .read_only = (file->options.flags & SAP_OPEN_RDONLY) != 0,
        .page_size = file->meta.page_size,
        .max_size = file->options.max_size,
        .check = checkpoint_check_page,
        .check_ctx = file,
    };
    int rc = arena_open_file(arena_out, &options);
    uint64_t most = rc == SAP_OK ? (*arena_out)->region_bytes : 0;
    if (rc == SAP_OK && (uint64_t)file->meta.high * file->meta.page_size > most) {
        sap_arena_destroy(*arena_out);
        return dbfile_report(file, SAP_FULL, "is larger than max_size (%" PRIu64 " bytes)", most);
    }
    if (rc == SAP_NOMEM) {
        return dbfile_report(file, rc, "not enough address space: try a smaller max_size");
    }
    return rc == SAP_OK ? SAP_OK : dbfile_report_errno(file, rc, "cannot map it");
}

void dbfile_start_at(DbFile *file, const Version *version)
{
    SapEnv *env = file->env;
    env->stamp = version->txnid;
    version_put(&env->newest, version);
    version_put(&file->durable, version);
    file->syncing = file->synced = *version;
    atomic_store_full(&file->pin_syncing, version->txnid);
    atomic_store_full(&file->pin_synced, version->txnid);
    atomic_store_full(&file->pin_durable, version->txnid);
}

static int check_catalog_root(DbFile *file)
{
    uint8_t *page = NULL;
    if (file->meta.catalog == 0) {
        return SAP_OK;
    }
    int rc = arena_load(file->env->arena, file->meta.catalog, &page);
    if (rc != SAP_OK) {
        return rc;
    }
    return page[PAGE_TYPE] != PAGE_OVERFLOW && page_flags(page) == file->env->catalog.page_flags
               ? SAP_OK
               : SAP_CORRUPT;
}

int dbfile_make_env(DbFile *file)
{
    SapMemArena *arena = NULL;
    int rc = open_arena(file, &arena);
    if (rc != SAP_OK) {
        return rc;
    }
    SapEnv *env = sap_env_create(arena, file->meta.page_size);
    if (env == NULL) {
        sap_arena_destroy(arena);
        return SAP_NOMEM;
    }
    env->owns_arena = true;
    env->process = owner_process();
    env->file = file;
    file->env = env;
    env->visible = file->options.sync_mode == SAP_SYNC_COMMIT ? &file->durable : &env->newest;
    subsystems_add(env, file->options.subsystems, file->options.subsystem_count);
    rc = sap_btree_subsystem_init(env, NULL, NULL);
    if (rc == SAP_OK) {
        rc = map_info(file, arena);
    }
    if (rc == SAP_OK) {
        rc = adopt_pages(file);
    }
    if (rc == SAP_FULL || rc == SAP_IO) {
        return dbfile_report_errno(file, rc, "cannot make it as large as it must be");
    }
    if (rc != SAP_OK) {
        return rc;
    }
    Version version;
    version_get(&env->newest, &version); /* has the subsystems' states */
    version.txnid = file->meta.txnid;
    version.catalog = file->meta.catalog;
    dbfile_start_at(file, &version);
    env->pager.newest = version.txnid;
    atomic_store_full(&file->pin_checkpoint, version.txnid);
    env->catalog.tree = (TreeState){.root = version.catalog, .entries = file->meta.catalog_rows};
    rc = check_catalog_root(file);
    if (rc == SAP_OK) {
        rc = definitions_load(env, version.catalog);
    }
    if (rc == SAP_OK && arena->trusted == NULL) {
        rc = checkpoint_check_tables(file, file->found.used);
    }
    return rc == SAP_CORRUPT ? dbfile_report(file, rc, "damaged: its catalog of tables is none")
                             : rc;
}
