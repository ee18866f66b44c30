/* checkpoint.c - moving what is committed into the data file.
 *
 * Under the writer lock, between transactions, a checkpoint starts a new log segment, and captures and
 * pins the newest version with the set of its pages. Then it releases the lock. It stamps the pages
 * written since the last capture with their checksums, writes and syncs them, writes and syncs the meta,
 * removes the log before it, and only then unpins the checkpoint before it. */
#include "sapling/dbfile.h"

#include <errno.h>
#include <inttypes.h>

#include "common/assert.h"
#include "common/fault.h"
#include "common/mem.h"

/* ---- Checksums ------------------------------------------------------------------------------ */

/* Only the checkpoint writes these bytes of a page that a version holds; readers read what follows. */
static void stamp(uint8_t *page, uint64_t sum)
{
    uint64_t stored = 0;
    store_u64le((uint8_t *)&stored, sum);
    SAP_ATOMIC(uint64_t) *field = (SAP_ATOMIC(uint64_t) *)(void *)(page + PAGE_CHECKSUM);
    atomic_store_relaxed(field, stored);
}

uint64_t page_stamp(const uint8_t *page)
{
    uint64_t stored =
        atomic_load_relaxed((const SAP_ATOMIC(uint64_t) *)(const void *)(page + PAGE_CHECKSUM));
    return load_u64le((const uint8_t *)&stored);
}

/* How many pages the page's run has, 1 for a node; 0: that cannot be. */
static uint32_t pages_of(const uint8_t *page, uint32_t page_size)
{
    if (page[PAGE_TYPE] != PAGE_OVERFLOW) {
        return page[PAGE_TYPE] == PAGE_LEAF || page[PAGE_TYPE] == PAGE_BRANCH ? 1 : 0;
    }
    uint64_t bytes = (uint64_t)PAGE_HEADER + load_u32le(page + PAGE_RUN_LEN);
    uint32_t pages = load_u32le(page + PAGE_RUN_PAGES);
    return pages == (bytes + page_size - 1) / page_size ? pages : 0;
}

bool page_is_intact(const DbFile *file, const uint8_t *page, uint32_t pgno)
{
    uint32_t high = atomic_load_acquire(&file->env->arena->high);
    uint32_t pages = pages_of(page, file->env->page_size);
    return page_no(page) == pgno && pages > 0 && pages <= high - pgno &&
           page_stamp(page) == page_checksum(page, file->env->page_size, file->db_id);
}

/* ---- Pages as they are found ---------------------------------------------------------------- */

bool checkpoint_has_pages(const DbFile *file, uint32_t pgno, uint32_t pages)
{
    const Found *found = &file->found;
    bool has = pgno >= file_first_page(file->env->page_size) && pgno < found->high &&
               pages <= found->high - pgno;
    for (uint32_t i = 0; has && i < pages; i++) {
        has = arena_bit(found->used, pgno + i);
    }
    return has;
}

/* Whether all pages that a node refers to were in use. A page that was free may get any content. */
static bool refers_to_pages(const DbFile *file, const uint8_t *page)
{
    uint32_t n = page_count(page);
    bool sound = true;
    if (!page_is_leaf(page)) {
        for (uint32_t i = 0; sound && i < n; i++) {
            sound = checkpoint_has_pages(file, branch_child(page, i), 1);
        }
    } else if ((page_flags(page) & PAGE_OWNS_RUNS) != 0) {
        for (uint32_t i = 0; sound && i < n; i++) {
            LeafRow row = leaf_row(page, i);
            sound = row.val_code != CELL_VAL_ELSEWHERE ||
                    checkpoint_has_pages(file, row_run(&row),
                                         run_pages(file->env->page_size, row_run_len(&row)));
        }
    }
    return sound;
}

/* What is wrong with a page whose checksum is right, or NULL. */
static const char *page_damage(const DbFile *file, const uint8_t *page, uint32_t pgno)
{
    const Found *found = &file->found;
    if (page_birth(page) > found->txnid) {
        return "is from the future";
    }
    if (found->used != NULL && !checkpoint_has_pages(file, pgno, 1)) {
        return "is not in use";
    }
    if (page[PAGE_TYPE] == PAGE_OVERFLOW) {
        return page_level(page) == 0 ? NULL : "is a run with a level";
    }
    const char *damage = node_damage(page, file->env->page_size);
    if (damage != NULL) {
        return damage;
    }
    return found->used != NULL && refers_to_pages(file, page) ? NULL : "refers to pages not in use";
}

bool page_holds_pairs(const uint8_t *page)
{
    bool sound = true;
    for (uint32_t i = 0; sound && i < page_count(page); i++) {
        if (page_is_leaf(page)) {
            LeafRow row = leaf_row(page, i);
            sound = pair_is_valid(row.key, row.key_len, false);
        } else if (i > 0) {
            uint8_t in_head[SEP_IN_HEAD];
            SepRef sep = branch_sep(page, i, in_head);
            sound = pair_is_valid(sep.rest, sep.rest_len, false);
        }
    }
    return sound;
}

/* Checks the order of rows. With an order other than that of bytes it compares only the first and the last
 * row, which is enough for a walk to end. */
static bool ascends(const Table *table, const uint8_t *page)
{
    uint32_t n = page_count(page);
    if (!page_is_leaf(page) || n == 1 || table->order.cmp == NULL) {
        return true;
    }
    LeafRow first = leaf_row(page, 0);
    LeafRow last = leaf_row(page, n - 1);
    return key_compare(table->order, first.key, first.key_len, last.key, last.key_len) < 0;
}

/* What is wrong with a sound page among those of its table, or NULL. */
static const char *table_damage(const DbFile *file, const uint8_t *page, uint32_t pgno)
{
    const SapEnv *env = file->env;
    uint32_t dbi = page_flags(page) & PAGE_DBI_MASK;
    const Table *table = dbi == ENV_CATALOG ? &env->catalog : table_get(env, dbi);
    bool node = page[PAGE_TYPE] != PAGE_OVERFLOW;
    for (uint32_t i = 0; i < env->table_count; i++) {
        if (file->found.roots[i] == pgno && (!node || i != dbi)) {
            return "is no root of its table";
        }
    }
    if (!node) {
        return NULL;
    }
    if (table == NULL || (page_flags(page) & ~(uint32_t)PAGE_OWNS_RUNS) != table->page_flags) {
        return "is not of the table's kind";
    }
    if (table->pairs != NULL && !page_holds_pairs(page)) {
        return "has keys that are not pairs";
    }
    return ascends(table, page) ? NULL : "a row is not above the one before";
}

static int report_damage(DbFile *file, const uint8_t *page, uint32_t pgno, const char *damage)
{
    return damage == NULL
               ? SAP_OK
               : dbfile_report(file, SAP_CORRUPT, "damaged: page %u of table %u is not a page: %s",
                               pgno, page_flags(page) & PAGE_DBI_MASK, damage);
}

static int check_alone(DbFile *file, uint32_t pgno)
{
    SapMemArena *arena = file->env->arena;
    if (pgno < file_first_page(file->env->page_size) || pgno >= atomic_load_acquire(&arena->high)) {
        return dbfile_report(file, SAP_CORRUPT,
                             "damaged: page %u is referred to, which is not there", pgno);
    }
    const uint8_t *page = arena_peek(arena, pgno);
    if (!page_is_intact(file, page, pgno)) {
        uint32_t dbi = page_flags(page) & PAGE_DBI_MASK;
        return dbfile_report(file, SAP_CORRUPT,
                             "damaged: page %u (its table is, or was, %u) fails its checksum", pgno,
                             dbi);
    }
    return report_damage(file, page, pgno, page_damage(file, page, pgno));
}

static int check_in_table(DbFile *file, uint32_t pgno)
{
    const uint8_t *page = arena_peek(file->env->arena, pgno);
    return report_damage(file, page, pgno, table_damage(file, page, pgno));
}

int checkpoint_check_page(void *ctx, uint32_t pgno)
{
    DbFile *file = (DbFile *)ctx;
    int rc = check_alone(file, pgno);
    if (rc == SAP_OK) {
        rc = check_in_table(file, pgno);
    }
    if (rc == SAP_OK) {
        arena_trust(file->env->arena, pgno);
    }
    return rc;
}

static int check_each(DbFile *file, const uint64_t *pages,
                      int (*check)(DbFile *file, uint32_t pgno))
{
    uint32_t high = atomic_load_acquire(&file->env->arena->high);
    int rc = SAP_OK;
    for (uint32_t pgno = 0; pgno < high && rc == SAP_OK;) {
        uint32_t count = 1;
        if (arena_bit(pages, pgno)) {
            rc = check(file, pgno);
            count = rc == SAP_OK
                        ? pages_of(arena_peek(file->env->arena, pgno), file->env->page_size)
                        : 1;
        }
        pgno += count;
    }
    return rc;
}

int checkpoint_check_pages(DbFile *file, const uint64_t *pages)
{
    return check_each(file, pages, check_alone);
}

int checkpoint_check_tables(DbFile *file, const uint64_t *pages)
{
    return check_each(file, pages, check_in_table);
}

/* ---- Capture -------------------------------------------------------------------------------- */

typedef struct Capture {
    uint64_t *used;
    uint64_t *dirty;
    size_t words;
    uint8_t *bitmap; /* the run that will hold `used` */
    Buf saved;       /* the subsystems' states; empty: there is no run for them */
    uint8_t *states; /* that run */
    Meta meta;
} Capture;

static void capture_release(Capture *capture)
{
    mem_free(MEM_SCRATCH, capture->used, capture->words * sizeof *capture->used);
    mem_free(MEM_SCRATCH, capture->dirty, capture->words * sizeof *capture->dirty);
    buf_release(&capture->saved);
}

static int capture_memory(Capture *capture, size_t words)
{
    capture->words = words;
    capture->used = (uint64_t *)mem_alloc(MEM_SCRATCH, words * sizeof *capture->used);
    capture->dirty = (uint64_t *)mem_alloc(MEM_SCRATCH, words * sizeof *capture->dirty);
    return capture->used != NULL && capture->dirty != NULL ? SAP_OK : SAP_NOMEM;
}

/* Keeps a run for the next checkpoint, and frees the other one: that which was kept before, unless it is
 * promised. */
static void keep_spare(DbFile *file, SpareRun *spare, uint32_t pgno, uint32_t pages)
{
    SpareRun run = {.pgno = pgno, .pages = pages};
    mutex_lock(&file->lock);
    if (!spare->promised) {
        SpareRun before = *spare;
        *spare = run;
        run = before;
    }
    if (run.pages > 0) {
        arena_free_run(file->env->arena, run.pgno, run.pages);
    }
    mutex_unlock(&file->lock);
}

/* The spare run has at least so many pages, and is promised if `promise`. */
static int ensure_spare(DbFile *file, SpareRun *spare, uint32_t pages, bool promise)
{
    int rc = SAP_OK;
    mutex_lock(&file->lock);
    if (spare->pages < pages) {
        SpareRun larger = {.pages = pages};
        uint8_t *run = NULL;
        rc = arena_alloc_run(file->env->arena, pages, true, &run, &larger.pgno);
        if (rc == SAP_OK && spare->pages > 0) {
            arena_free_run(file->env->arena, spare->pgno, spare->pages);
        }
        *spare = rc == SAP_OK ? larger : *spare;
    }
    spare->promised = spare->promised || (promise && rc == SAP_OK);
    mutex_unlock(&file->lock);
    return rc;
}

/* Takes a run of at least so many pages: the spare one if it is large enough. */
static int take_run(DbFile *file, SpareRun *spare, uint32_t pages, uint8_t **run_out,
                    SpareRun *taken_out)
{
    int rc = ensure_spare(file, spare, pages, false);
    if (rc == SAP_OK) {
        mutex_lock(&file->lock);
        *taken_out = *spare;
        *spare = (SpareRun){0};
        mutex_unlock(&file->lock);
        *run_out = arena_page(file->env->arena, taken_out->pgno);
    }
    return rc;
}

/* Saves the subsystems' states, and a run for them. */
static int take_states(DbFile *file, const Version *newest, Capture *capture)
{
    SpareRun taken = {0};
    capture->meta.has_subsystems = subsystems_any(file->env);
    int rc = subsystems_save(file->env, newest->subsystem, &capture->saved);
    if (rc == SAP_OK && capture->saved.len > 0) {
        uint32_t pages = run_pages(file->env->page_size, (uint32_t)capture->saved.len);
        rc = take_run(file, &file->spare_states, pages, &capture->states, &taken);
    }
    capture->meta.states = taken.pgno;
    capture->meta.states_pages = taken.pages;
    return rc;
}

/* How many pages the bitmap of all pages needs, those of its run included. */
static uint32_t bitmap_run_pages(const DbFile *file)
{
    const SapMemArena *arena = file->env->arena;
    uint32_t page_size = file->env->page_size;
    uint32_t pages = 0;
    uint32_t wanted = 1;
    do {
        pages = wanted;
        uint64_t bytes =
            PAGE_HEADER +
            ((uint64_t)atomic_load_relaxed(&arena->high) + 2 * (uint64_t)pages + 7) / 8;
        wanted = (uint32_t)((bytes + page_size - 1) / page_size);
    } while (wanted > pages);
    return pages;
}

static int take_bitmap_run(DbFile *file, Capture *capture)
{
    SpareRun taken = {0};
    int rc = take_run(file, &file->spare_bitmap, bitmap_run_pages(file), &capture->bitmap, &taken);
    capture->meta.bitmap = taken.pgno;
    capture->meta.bitmap_pages = taken.pages;
    return rc;
}

/* The checkpoint is given up: keeps its runs for the next one. */
static void give_runs(DbFile *file, const Capture *capture)
{
    const Meta *meta = &capture->meta;
    if (meta->bitmap_pages > 0) {
        keep_spare(file, &file->spare_bitmap, meta->bitmap, meta->bitmap_pages);
    }
    if (meta->states_pages > 0) {
        keep_spare(file, &file->spare_states, meta->states, meta->states_pages);
    }
}

/* ---- The header ----------------------------------------------------------------------------- */

int checkpoint_write_meta(DbFile *file, const Meta *meta)
{
    uint8_t bytes[FILE_BLOCK] = {0};
    meta_encode(meta, bytes);
    int rc = disk_write(&file->data, meta_offset(meta->number, 0), bytes, sizeof bytes);
    if (rc == SAP_OK) {
        rc = disk_write(&file->data, meta_offset(meta->number, 1), bytes, sizeof bytes);
    }
    fault_step("meta written");
    if (rc == SAP_OK) {
        rc = disk_sync(&file->data);
    }
    fault_step("meta synced");
    return rc;
}

/* Makes sure that a meta of that number finds room. */
static int claim_header(DbFile *file, uint64_t number)
{
    int rc = SAP_OK;
    for (uint32_t copy = 0; copy < 2 && rc == SAP_OK; copy++) {
        uint64_t offset = meta_offset(number, copy);
        rc = disk_claim(&file->data, offset, offset + FILE_BLOCK);
    }
    return rc;
}

/* SAP_FULL, SAP_NOMEM: the header is as it was. SAP_IO: final. */
static int replace_meta(DbFile *file, const Meta *meta)
{
    int rc = arena_file_lacks_room(file->env->arena) ? claim_header(file, meta->number) : SAP_OK;
    if (rc == SAP_FULL || rc == SAP_NOMEM) {
        return rc;
    }
    rc = rc == SAP_OK ? checkpoint_write_meta(file, meta) : rc;
    return rc == SAP_OK ? SAP_OK : dbfile_fail(file, "writing the data file's header");
}

int checkpoint_unseal(DbFile *file)
{
    int rc = wal_prepare(file->wal); /* its first segment, which the meta names */
    if (rc != SAP_OK) {
        return rc == SAP_IO ? dbfile_fail(file, "making a log segment") : rc;
    }
    Meta meta = file->meta;
    SAP_ASSERT(file->sealed && meta.closed);
    meta.number++;
    meta.closed = false;
    /* A log with effects of subsystems follows only a header that says so. */
    meta.has_subsystems = meta.has_subsystems || subsystems_any(file->env);
    rc = replace_meta(file, &meta);
    if (rc != SAP_OK) {
        return rc;
    }
    /* A checkpoint looks at these only after it has held the writer lock. */
    file->meta.number = meta.number;
    file->meta.closed = false;
    file->meta.has_subsystems = meta.has_subsystems;
    file->sealed = false;
    return SAP_OK;
}

/* The writer lock is held, no write transaction is open. */
static int capture_take(DbFile *file, unsigned flags, Capture *capture)
{
    SapEnv *env = file->env;
    Version newest;
    version_get(&env->newest, &newest);
    bool ends_log = (flags & CHECKPOINT_CLOSED) != 0;
    int rc = file->sealed && !ends_log ? checkpoint_unseal(file) : SAP_OK;
    if (rc == SAP_OK) {
        rc = capture_memory(capture, env->pager.track_words);
    }
    if (rc == SAP_OK) {
        rc = take_states(file, &newest, capture);
    }
    if (rc == SAP_OK) {
        rc = take_bitmap_run(file, capture);
    }
    if (rc != SAP_OK) {
        give_runs(file, capture);
        return rc == SAP_IO ? dbfile_fail(file, "growing the data file") : rc;
    }
    rc = arena_file_grow(env->arena, &file->data, atomic_load_relaxed(&env->arena->high));
    const char *what = "growing the data file";
    WalPoint point = {0};
    if (rc == SAP_OK) {
        capture->meta.closed = ends_log;
        rc = ends_log ? wal_finish(file->wal, &point) : wal_rotate(file->wal, &point);
        what = "writing the log";
    }
    if (rc != SAP_OK) {
        give_runs(file, capture);
        return rc == SAP_IO ? dbfile_fail(file, what) : rc;
    }
    capture->meta.db_id = file->db_id;
    capture->meta.page_size = env->page_size;
    capture->meta.number = file->meta.number + 1;
    capture->meta.txnid = newest.txnid;
    capture->meta.catalog = newest.catalog;
    capture->meta.catalog_rows = env->catalog.tree.entries;
    capture->meta.high = atomic_load_relaxed(&env->arena->high);
    capture->meta.wal = point;
    atomic_store_full(&file->pin_making, newest.txnid);
    pager_capture(&env->pager, capture->used, capture->dirty);
    wal_with_lock(file->wal, dbfile_on_capture, file);
    return SAP_OK;
}

/* ---- Writing -------------------------------------------------------------------------------- */

/* The header of a run that is filled to its end; the length of that. */
static uint32_t run_begin(const DbFile *file, const Capture *capture, uint8_t *run, SpareRun at,
                          uint32_t table)
{
    uint32_t len = at.pages * file->env->page_size - PAGE_HEADER;
    store_u64le(run + PAGE_BIRTH, capture->meta.txnid);
    store_u32le(run + PAGE_NO, at.pgno);
    run[PAGE_TYPE] = PAGE_OVERFLOW;
    run[PAGE_LEVEL] = 0;
    page_set_flags(run, table);
    store_u32le(run + PAGE_RUN_LEN, len);
    store_u32le(run + PAGE_RUN_PAGES, at.pages);
    return len;
}

static void fill_states(const DbFile *file, const Capture *capture)
{
    uint8_t *run = capture->states;
    SpareRun at = {.pgno = capture->meta.states, .pages = capture->meta.states_pages};
    uint32_t len = run_begin(file, capture, run, at, ENV_STATES);
    const Buf *saved = &capture->saved;
    memcpy(run + PAGE_HEADER, saved->data, saved->len);
    memset(run + PAGE_HEADER + saved->len, 0, len - saved->len);
    stamp(run, page_checksum(run, file->env->page_size, file->db_id));
}

static void fill_bitmap(const DbFile *file, const Capture *capture)
{
    uint8_t *run = capture->bitmap;
    SpareRun at = {.pgno = capture->meta.bitmap, .pages = capture->meta.bitmap_pages};
    uint32_t len = run_begin(file, capture, run, at, ENV_CATALOG);
    for (uint32_t i = 0; i < len; i++) {
        uint64_t word = i / 8 < capture->words ? capture->used[i / 8] : 0;
        run[PAGE_HEADER + i] = (uint8_t)(word >> (i % 8 * 8));
    }
    stamp(run, page_checksum(run, file->env->page_size, file->db_id));
}

static int write_pages(DbFile *file, uint32_t first, uint32_t end)
{
    int rc = arena_file_write(file->env->arena, &file->data, first, end);
    return rc == SAP_IO ? dbfile_fail(file, "writing the data file") : rc;
}

/* The first page from `from` on whose bit is set, or the end. */
static uint32_t next_bit(const Capture *capture, const uint64_t *bits, uint32_t from)
{
    size_t i = from / 64;
    if (i >= capture->words) {
        return capture->meta.high;
    }
    uint64_t word = bits[i] & (UINT64_MAX << (from % 64));
    while (word == 0) {
        if (++i == capture->words) {
            return capture->meta.high;
        }
        word = bits[i];
    }
    return (uint32_t)(i * 64 + (size_t)__builtin_ctzll(word));
}

/* Stamps the pages written since the last capture and sends them to disk, piece by piece. */
static int write_dirty(DbFile *file, const Capture *capture)
{
    const SapMemArena *arena = file->env->arena;
    uint32_t page_size = file->env->page_size;
    uint32_t high = capture->meta.high;
    uint32_t first = 0; /* of what is stamped and not sent */
    uint32_t end = 0;
    int rc = SAP_OK;
    for (uint32_t pgno = next_bit(capture, capture->dirty, 0); pgno < high && rc == SAP_OK;
         pgno = next_bit(capture, capture->dirty, end)) {
        uint8_t *page = arena_page(arena, pgno);
        uint32_t pages = pages_of(page, page_size);
        SAP_ASSERT(page_no(page) == pgno && pages > 0);
        stamp(page, page_checksum(page, page_size, file->db_id));
        if (pgno != end || (uint64_t)(end - first) * page_size >= DISK_PIECE_BYTES) {
            rc = end > first ? write_pages(file, first, end) : SAP_OK;
            first = pgno;
        }
        end = pgno + pages;
    }
    if (rc == SAP_OK && end > first) {
        rc = write_pages(file, first, end);
    }
    return rc;
}

static int write_all(DbFile *file, const Capture *capture)
{
    fill_bitmap(file, capture);
    const Meta *meta = &capture->meta;
    int rc = write_pages(file, meta->bitmap, meta->bitmap + meta->bitmap_pages);
    if (rc == SAP_OK && meta->states_pages > 0) {
        fill_states(file, capture);
        rc = write_pages(file, meta->states, meta->states + meta->states_pages);
    }
    if (rc == SAP_OK) {
        rc = write_dirty(file, capture);
    }
    fault_step("pages written");
    if (rc == SAP_OK && disk_sync(&file->data) != SAP_OK) {
        rc = dbfile_fail(file, "syncing the data file");
    }
    fault_step("pages synced");
    return rc == SAP_OK ? replace_meta(file, &capture->meta) : rc;
}

/* ---- Claiming room -------------------------------------------------------------------------- */

/* For checkpoint_claim() of who holds the writer lock: how far the checkpoint of another thread is.
 * Without threads there is none. */
static void set_writing(DbFile *file, bool writing, bool giving_up)
{
    mutex_lock(&file->lock);
    file->writing = writing && SAPLING_THREADED;
    file->giving_up = giving_up;
    cond_broadcast(&file->changed);
    mutex_unlock(&file->lock);
}

/* Waits until a checkpoint has written what it captured. SAP_FULL: it found no room, and its pages are
 * to be written again. */
static int wait_until_written(DbFile *file)
{
    mutex_lock(&file->lock);
#if SAPLING_THREADED
    while (file->writing && !file->giving_up) {
        cond_wait(&file->changed, &file->lock);
    }
#endif
    SAP_ASSERT(file->giving_up || !file->writing);
    bool full = file->giving_up;
    mutex_unlock(&file->lock);
    if (full) {
        errno = ENOSPC;
    }
    return full ? SAP_FULL : SAP_OK;
}

/* Runs for the bitmap and the states as they will be, which are the next checkpoint's. */
static int promise_runs(DbFile *file, SapTxnCtx *txn, SpareRun *states_out, SpareRun *bitmap_out)
{
    Buf saved = {0};
    errno = 0;
    int rc = subsystems_save(file->env, txn->subsystem, &saved);
    if (rc == SAP_OK && saved.len > 0) {
        rc = ensure_spare(file, &file->spare_states,
                          run_pages(file->env->page_size, (uint32_t)saved.len), true);
        *states_out = file->spare_states;
    }
    buf_release(&saved);
    if (rc == SAP_OK) {
        rc = ensure_spare(file, &file->spare_bitmap, bitmap_run_pages(file), true);
        *bitmap_out = file->spare_bitmap;
    }
    return rc;
}

static int claim_pages(DbFile *file, const uint64_t *bits, size_t words)
{
    SapMemArena *arena = file->env->arena;
    uint32_t end = (uint32_t)(words * 64);
    int rc = SAP_OK;
    for (uint32_t first = 0; first < end && rc == SAP_OK;) {
        if (first % 64 == 0 && bits[first / 64] == 0) {
            first += 64;
            continue;
        }
        uint32_t pgno = first;
        while (pgno < end && arena_bit(bits, pgno)) {
            pgno++;
        }
        rc = pgno > first ? arena_file_claim(arena, &file->data, first, pgno) : SAP_OK;
        first = pgno + 1;
    }
    return rc;
}

static uint64_t count_bits(const uint64_t *bits, size_t words)
{
    uint64_t count = 0;
    for (size_t i = 0; i < words; i++) {
        count += (uint64_t)__builtin_popcountll(bits[i]);
    }
    return count;
}

int checkpoint_claim(DbFile *file, SapTxnCtx *txn)
{
    SapMemArena *arena = file->env->arena;
    const Pager *pager = &file->env->pager;
    SpareRun runs[2] = {0};
    int rc = promise_runs(file, txn, &runs[0], &runs[1]);
    if (rc != SAP_OK || !arena_file_lacks_room(arena)) {
        return rc == SAP_IO ? dbfile_fail(file, "growing the data file") : rc;
    }
    rc = wait_until_written(file);
    size_t words = pager->track_words;
    uint64_t *bits = (uint64_t *)mem_alloc(MEM_SCRATCH, words * sizeof *bits);
    if (rc != SAP_OK || bits == NULL) {
        mem_free(MEM_SCRATCH, bits, words * sizeof *bits);
        return rc != SAP_OK ? rc : SAP_NOMEM;
    }
    pager_unwritten(pager, &txn->level, bits);
    uint64_t pages = count_bits(bits, words) + runs[0].pages + runs[1].pages;
    rc = arena_file_check_free(arena, pages * arena->stride + FILE_HEADER);
    rc = rc == SAP_OK ? claim_pages(file, bits, words) : rc;
    for (size_t i = 0; i < 2 && rc == SAP_OK; i++) {
        rc = runs[i].pages == 0
                 ? SAP_OK
                 : arena_file_claim(arena, &file->data, runs[i].pgno, runs[i].pgno + runs[i].pages);
    }
    rc = rc == SAP_OK ? claim_header(file, file->meta.number + 1) : rc;
    mem_free(MEM_SCRATCH, bits, words * sizeof *bits);
    return rc == SAP_OK || rc == SAP_FULL || rc == SAP_NOMEM
               ? rc
               : dbfile_fail(file, "writing the data file");
}

/* Undoes a capture whose pages could not all be written, for want of room or memory. No meta leads to
 * them, and the next checkpoint writes them. */
static void capture_undo(DbFile *file, const Capture *capture, bool locked)
{
    int err = errno; /* for who reports it */
    WriterLock *lock = &file->env->lock;
    set_writing(file, !locked, !locked);
    bool taken = locked || writer_lock_take_briefly(lock, true);
    SAP_ASSERT(taken);
    pager_uncapture(&file->env->pager, capture->dirty, capture->words);
    wal_with_lock(file->wal, dbfile_on_uncapture, file);
    give_runs(file, capture);
    atomic_store_full(&file->pin_making, 0);
    set_writing(file, false, false);
    if (!locked) {
        writer_lock_release(lock);
    }
    errno = err;
}

/* ---- The whole ------------------------------------------------------------------------------ */

/* The new meta is on disk: removes the log before it, then frees what only the older one needed. */
static int release_before(DbFile *file)
{
    fault_step("log not released");
    int rc =
        file->meta.closed ? wal_restart(file->wal) : wal_release(file->wal, file->meta.wal.segment);
    if (rc != SAP_OK) {
        return rc == SAP_IO ? dbfile_fail(file, "removing old log segments") : rc;
    }
    atomic_store_full(&file->pin_checkpoint, file->meta.txnid);
    atomic_store_full(&file->pin_making, 0);
    keep_spare(file, &file->spare_bitmap, file->before.bitmap, file->before.bitmap_pages);
    keep_spare(file, &file->spare_states, file->before.states, file->before.states_pages);
    file->unreleased = false;
    return SAP_OK;
}

/* Closes a file that was not changed since its last checkpoint: writes the header alone. */
static int close_unchanged(DbFile *file)
{
    Meta meta = file->meta;
    int rc = wal_finish(file->wal, &meta.wal);
    if (rc != SAP_OK) {
        return dbfile_fail(file, "writing the log");
    }
    meta.number++;
    meta.closed = true;
    rc = replace_meta(file, &meta);
    if (rc == SAP_OK) {
        file->meta = meta;
    }
    return rc;
}

/* The writer lock is held; with CHECKPOINT_CLOSED it is still when this returns, otherwise not unless
 * the caller holds it. */
static int make_locked(DbFile *file, unsigned flags, Capture *capture)
{
    bool locked = (flags & (CHECKPOINT_LOCKED | CHECKPOINT_CLOSED)) != 0;
    int rc = capture_take(file, flags, capture);
    set_writing(file, !locked && rc == SAP_OK, false);
    if (!locked) {
        writer_lock_release(&file->env->lock);
    }
    fault_step("version captured");
    if (rc == SAP_OK) {
        rc = write_all(file, capture);
        if (rc == SAP_FULL || rc == SAP_NOMEM) {
            capture_undo(file, capture, locked);
        }
    }
    if (rc == SAP_OK) {
        file->before = file->meta;
        file->meta = capture->meta;
        file->unreleased = true;
        wal_with_lock(file->wal, dbfile_on_checkpoint, file);
    }
    if (rc != SAP_FULL && rc != SAP_NOMEM) {
        set_writing(file, false, false);
    }
    return rc;
}

/* Used when there is no room for a log segment, or a commit is not in the log: ends the log as a clean
 * close does, and starts it anew without a segment. The writer lock is held. */
static int end_log(DbFile *file, unsigned flags, Capture *capture)
{
    int rc = make_locked(file, flags | CHECKPOINT_CLOSED, capture);
    if (rc == SAP_OK) {
        rc = release_before(file);
    }
    if (rc == SAP_OK) {
        file->sealed = true;
        file->unlogged = false;
    }
    return rc;
}

static int make(DbFile *file, unsigned flags)
{
    bool closing = (flags & CHECKPOINT_CLOSED) != 0;
    bool locked = (flags & CHECKPOINT_LOCKED) != 0;
    bool no_segment = false;
    SAP_ASSERT(!closing || locked);
    SapEnv *env = file->env;
    Version newest;
    version_get(&env->newest, &newest);
    int rc = file->unreleased ? release_before(file) : SAP_OK;
    if (rc == SAP_OK && newest.txnid == file->meta.txnid && (flags & CHECKPOINT_FORCED) == 0) {
        return closing && !file->meta.closed ? close_unchanged(file) : SAP_OK;
    }
    if (rc == SAP_OK && !closing) {
        rc = wal_prepare(file->wal); /* may take long: before writers are kept waiting */
        no_segment = rc == SAP_FULL;
        rc = no_segment ? SAP_OK : rc;
    }
    if (rc != SAP_OK) {
        return rc == SAP_IO ? dbfile_fail(file, "making a log segment") : rc;
    }
    if (!locked && !writer_lock_take_briefly(&env->lock, true)) {
        return SAP_BUSY;
    }
    version_get(&env->newest, &newest);
    bool due = newest.txnid != file->meta.txnid || (flags & CHECKPOINT_FORCED) != 0;
    bool ending = !closing && (no_segment || file->unlogged);
    Capture capture = {0};
    if (due && !ending) {
        rc = make_locked(file, flags, &capture);
        rc = rc == SAP_OK && !closing ? release_before(file) : rc;
    } else {
        rc = due ? end_log(file, flags, &capture) : SAP_OK;
        if (!locked) {
            writer_lock_release(&env->lock);
        }
    }
    capture_release(&capture);
    return rc;
}

int checkpoint_run(DbFile *file, unsigned flags, uint64_t until)
{
    /* Another thread's checkpoint may be waiting for the transaction that this thread has open: waiting
     * for that checkpoint would never end. */
    if ((flags & CHECKPOINT_LOCKED) == 0 && writer_lock_is_mine(&file->env->lock)) {
        return SAP_BUSY;
    }
    mutex_lock(&file->checkpointing);
    int rc = SAP_OK;
    errno = 0; /* who reports a failure asks for its cause */
    if (atomic_load_acquire(&file->failed)) {
        rc = SAP_IO;
    } else if (until == 0 || dbfile_durable_txnid(file) < until) {
        rc = make(file, flags);
    }
    mutex_unlock(&file->checkpointing);
    /* Commits may be waiting for room in the log, whoever made it. */
    mutex_lock(&file->lock);
    cond_broadcast(&file->changed);
    mutex_unlock(&file->lock);
    if ((flags & CHECKPOINT_LOCKED) == 0) {
        dbfile_notify_durable(file);
    }
    return rc;
}
