/* dbopen.c - opening a database file: its owner, its newest meta, its log.
 *
 * Nothing that the file's metas lead to is changed before the log has been replayed: pages that the
 * newest meta does not use may be overwritten at any time, the rest is as it was if opening fails. */
#include "sapling/dbfile.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "common/assert.h"
#include "common/fault.h"
#include "common/mem.h"
#include "common/random.h"
#include "sapling/effects.h"
#include "sapling/wal_format.h"

enum {
    DEFAULT_PAGE_SIZE = 4096,
    DEFAULT_SYNC_PERIOD_MS = 100,
    DEFAULT_CHECKPOINT_PERIOD_MS = 5 * 60 * 1000,
    DEFAULT_SLOW_READER_MS = 60 * 1000,
    SEGMENT_MOST = 16 << 20,
    SEGMENT_LEAST = 64 << 10,
    SEGMENTS_BEYOND = 2, /* what a checkpoint's log may use more than it has bytes for */
    ALL_OPEN_FLAGS = SAP_OPEN_CREATE | SAP_OPEN_EXCLUSIVE | SAP_OPEN_RDONLY,
};

#define DEFAULT_CHECKPOINT_BYTES (UINT64_C(64) << 20)

/* ---- Options -------------------------------------------------------------------------------- */

static bool options_valid(const SapOpenOptions *options)
{
    unsigned flags = options->flags;
    if ((flags & ~(unsigned)ALL_OPEN_FLAGS) != 0 ||
        ((flags & SAP_OPEN_RDONLY) != 0 && (flags & ~SAP_OPEN_RDONLY) != 0) ||
        ((flags & SAP_OPEN_EXCLUSIVE) != 0 && (flags & SAP_OPEN_CREATE) == 0)) {
        return false;
    }
    return (options->page_size == 0 || file_page_size_valid(options->page_size)) &&
           (options->max_size == 0 || options->max_size >= 1 << 20) &&
           (unsigned)options->sync_mode <= SAP_SYNC_NONE &&
           (options->comparators != NULL || options->comparator_count == 0) &&
           (options->subsystems != NULL || options->subsystem_count == 0);
}

static int copy_orders(DbFile *file, const SapOpenOptions *options)
{
    uint32_t count = options->comparator_count;
    file->options.comparators = NULL;
    file->options.comparator = NULL;
    if (count == 0) {
        return SAP_OK;
    }
    file->orders = (NamedOrder *)mem_zalloc(MEM_ENV, count * sizeof *file->orders);
    if (file->orders == NULL) {
        return SAP_NOMEM;
    }
    file->order_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const SapComparator *from = &options->comparators[i];
        size_t len = from->name != NULL ? strlen(from->name) : 0;
        if (len == 0 || len >= sizeof file->orders[i].name || from->cmp == NULL ||
            dbfile_order_named(file, from->name, len) != NULL) {
            return dbfile_report(file, SAP_ERROR,
                                 "comparator %u of the options has no function, or no name of its "
                                 "own of 1 to %zu bytes",
                                 i, sizeof file->orders[i].name - 1);
        }
        memcpy(file->orders[i].name, from->name, len);
        file->orders[i].order = (KeyOrder){.cmp = from->cmp, .ctx = from->ctx};
    }
    return SAP_OK;
}

static void fill_defaults(SapOpenOptions *options)
{
    if (options->sync_period_ms == 0) {
        options->sync_period_ms = DEFAULT_SYNC_PERIOD_MS;
    }
    if (options->checkpoint_bytes == 0) {
        options->checkpoint_bytes = DEFAULT_CHECKPOINT_BYTES;
    }
    if (options->checkpoint_period_ms == 0) {
        options->checkpoint_period_ms = DEFAULT_CHECKPOINT_PERIOD_MS;
    }
    if (options->slow_reader_ms == 0) {
        options->slow_reader_ms = DEFAULT_SLOW_READER_MS;
    }
}

static bool locks_init(DbFile *file)
{
    if (!mutex_init(&file->checkpointing)) {
        return false;
    }
    if (!mutex_init(&file->lock)) {
        goto no_lock;
    }
    if (!cond_init(&file->changed)) {
        goto no_cond;
    }
    return true;
no_cond:
    mutex_destroy(&file->lock);
no_lock:
    mutex_destroy(&file->checkpointing);
    return false;
}

static char *copy_text(const char *text)
{
    return (char *)mem_copy(MEM_ENV, text, strlen(text) + 1);
}

/* The object with nothing open; release with dbfile_free(). */
static int dbfile_make(const char *path, const SapOpenOptions *options, DbFile **file_out)
{
    DbFile *file = (DbFile *)mem_zalloc(MEM_ENV, sizeof *file);
    if (file == NULL) {
        return SAP_NOMEM;
    }
    /* Log and lock lie beside the file itself, not beside a symbolic link to it. */
    char resolved[PATH_MAX];
    file->path = copy_text(disk_real_path(path, resolved));
    file->shown = copy_text(path);
    if (file->path == NULL || file->shown == NULL || !locks_init(file)) {
        dbfile_free_texts(file);
        mem_free(MEM_ENV, file, sizeof *file);
        return SAP_NOMEM;
    }
    file->owner = OWNER_NONE;
    file->data = DISK_FILE_NONE;
    file->options = *options;
    fill_defaults(&file->options);
    *file_out = file;
    return SAP_OK;
}

/* ---- The system's answers ------------------------------------------------------------------- */

/* SAP_FULL that is not the system's comes from max_size: what may meet that sets errno to 0 before. */
static int report_errno(DbFile *file, int rc, const char *what)
{
    int err = errno;
    const char *advice = rc == SAP_FULL ? ": free some disk space and try again" : "";
    if (rc == SAP_NOMEM) {
        return dbfile_report(file, rc, "%s: out of memory", what);
    }
    if (rc == SAP_FULL && !disk_errno_full(err)) {
        return dbfile_report(file, rc, "%s: no room below max_size", what);
    }
    return dbfile_report(file, rc, "%s: %s%s", what, strerror(err), advice);
}

/* Whether there is a file with something in it; refuses what is no file. */
static int look_at_path(DbFile *file, bool *exists_out)
{
    struct stat st;
    int err = fault_io();
    if (err == 0 && stat(file->path, &st) != 0) {
        err = errno;
    }
    *exists_out = false;
    if (err == ENOENT && lstat(file->path, &st) == 0) {
        return dbfile_report(file, SAP_NOTFOUND, "is a symbolic link to a file that is not there");
    }
    if (err == ENOENT) {
        return SAP_OK;
    }
    if (err != 0) {
        errno = err;
        return report_errno(file, SAP_IO, "cannot look at it");
    }
    if (!S_ISREG(st.st_mode)) {
        return dbfile_report(file, SAP_IO, "%s, not a file",
                             S_ISDIR(st.st_mode) ? "is a directory" : "is something else");
    }
    *exists_out = st.st_size > 0;
    return SAP_OK;
}

static int decide_what_to_do(DbFile *file, bool *create_out)
{
    unsigned flags = file->options.flags;
    bool exists = false;
    int rc = look_at_path(file, &exists);
    if (rc != SAP_OK) {
        return rc;
    }
    if (exists && (flags & SAP_OPEN_EXCLUSIVE) != 0) {
        return dbfile_report(file, SAP_EXISTS, "exists already, and was to be made");
    }
    if (!exists && (flags & SAP_OPEN_CREATE) == 0) {
        return dbfile_report(file, SAP_NOTFOUND,
                             "no such database; open with SAP_OPEN_CREATE to make it");
    }
    *create_out = !exists;
    return SAP_OK;
}

static int take_ownership(DbFile *file)
{
    int64_t pid = 0;
    int rc =
        owner_lock(&file->owner, file->path, (file->options.flags & SAP_OPEN_RDONLY) != 0, &pid);
    if (rc == SAP_BUSY && pid != 0) {
        return dbfile_report(file, rc, "open already, by process %" PRId64, pid);
    }
    if (rc == SAP_BUSY) {
        return dbfile_report(file, rc, "open already, by a process that reads it");
    }
    if (rc == SAP_IO && errno == ENOENT) {
        return dbfile_report(file, SAP_NOTFOUND, "there is no such directory");
    }
    return rc == SAP_OK ? SAP_OK : report_errno(file, rc, "cannot make or lock its lock file");
}

/* ---- Metas ---------------------------------------------------------------------------------- */

static int refuse_header(DbFile *file, MetaState best, uint32_t version)
{
    switch (best) {
    case META_OTHER_VERSION:
        return dbfile_report(
            file, SAP_INVALID,
            "has version %u of the file format; this library reads versions %u and "
            "%u",
            version, (unsigned)FILE_VERSION, (unsigned)FILE_VERSION_STATES);
    case META_OTHER_ORDER:
        return dbfile_report(file, SAP_INVALID,
                             "was written with another byte order than the format's");
    case META_DAMAGED:
        return dbfile_report(file, SAP_CORRUPT,
                             "damaged: none of the four copies of its header is intact");
    default:
        return dbfile_report(file, SAP_INVALID, "not a Sapling database");
    }
}

/* The newest meta that has an intact copy. */
static int read_metas(DbFile *file)
{
    uint8_t block[META_SIZE];
    MetaState best = META_FOREIGN;
    uint32_t version = 0;
    uint64_t size = 0;
    int rc = disk_size(&file->data, &size);
    for (uint64_t at = 0; at < FILE_HEADER && rc == SAP_OK && size >= at + META_SIZE;
         at += FILE_BLOCK) {
        Meta meta;
        rc = disk_read(&file->data, at, block, sizeof block);
        MetaState state = rc == SAP_OK ? meta_decode(block, &meta, &version) : META_FOREIGN;
        best = state > best ? state : best;
        if (state == META_VALID && meta.number > file->meta.number) {
            file->meta = meta;
        }
    }
    if (rc != SAP_OK) {
        return report_errno(file, rc == SAP_CORRUPT ? SAP_IO : rc, "cannot read it");
    }
    if (best != META_VALID) {
        return refuse_header(file, best, version);
    }
    uint32_t wanted = file->options.page_size;
    if (wanted != 0 && wanted != file->meta.page_size) {
        return dbfile_report(file, SAP_ERROR, "has pages of %u bytes, not of %u",
                             file->meta.page_size, wanted);
    }
    if (size < (uint64_t)file->meta.high * file->meta.page_size) {
        return dbfile_report(file, SAP_CORRUPT,
                             "truncated: %" PRIu64 " bytes, of at least %" PRIu64 " that it had",
                             size, (uint64_t)file->meta.high * file->meta.page_size);
    }
    file->db_id = file->meta.db_id;
    return SAP_OK;
}

/* ---- The environment over it ---------------------------------------------------------------- */

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
        return report_errno(file, rc, "cannot read its pages");
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
    return rc == SAP_OK ? SAP_OK : report_errno(file, rc, "cannot map it");
}

static void start_at(DbFile *file, const Version *version)
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

/* The environment as the newest meta describes it. */
static int make_env(DbFile *file)
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
        return report_errno(file, rc, "cannot make it as large as it must be");
    }
    if (rc != SAP_OK) {
        return rc;
    }
    Version version;
    version_get(&env->newest, &version); /* has the subsystems' states */
    version.txnid = file->meta.txnid;
    version.catalog = file->meta.catalog;
    start_at(file, &version);
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

/* ---- The log -------------------------------------------------------------------------------- */

int dbfile_find_log(const char *path, Buf *name_out, uint64_t *id_out)
{
    Buf numbers = {0};
    int rc = wal_segments(path, &numbers);
    for (size_t i = 0; rc == SAP_OK && i < numbers.len / sizeof(uint64_t); i++) {
        uint8_t header[WAL_GROUP_HEADER];
        WalGroup group;
        DiskFile segment = DISK_FILE_NONE;
        rc = wal_segment_name(name_out, path, ((const uint64_t *)numbers.data)[i]);
        if (rc == SAP_OK) {
            rc = disk_open_read((const char *)name_out->data, &segment);
        }
        if (rc == SAP_OK && disk_read(&segment, 0, header, sizeof header) == SAP_OK &&
            wal_group_decode(header, &group) == SAP_OK) {
            *id_out = group.db_id;
            rc = SAP_EXISTS;
        }
        disk_close(&segment);
    }
    buf_release(&numbers);
    return rc;
}

/* The log of a database whose data file is gone is not to be thrown away; nor is one taken for that
 * of a file which has none. */
static int refuse_orphans(DbFile *file, const char *why)
{
    Buf name = {0};
    uint64_t id = 0;
    int rc = dbfile_find_log(file->path, &name, &id);
    if (rc == SAP_EXISTS) {
        bool own = id == file->db_id;
        rc = SAP_CORRUPT; /* that of another file is nothing to recover from: no advice to do so */
        (void)dbfile_report(file, own ? SAP_CORRUPT : SAP_OK, "%s: %s. %s", why,
                            (const char *)name.data,
                            own ? "It is this file's, whose newest header is damaged"
                                : "Restore the data file that it belongs to, or remove the log");
    } else if (rc == SAP_IO || rc == SAP_FULL) {
        rc = report_errno(file, rc, "cannot look for its log");
    }
    buf_release(&name);
    return rc;
}

typedef struct Replay {
    DbFile *file;
    SapTxnCtx *txn;
    uint64_t last_lsn; /* 0: nothing yet */
    bool barrier;      /* a bulk commit that no checkpoint holds: the rest is cut off */
} Replay;

static int replay_define(void *ctx, uint32_t dbi, unsigned flags, Slice key_name, Slice val_name)
{
    return definition_replay(((Replay *)ctx)->txn, dbi, flags, key_name, val_name);
}

static int replay_subsystem(void *ctx, uint32_t id, Slice bytes)
{
    Replay *replay = (Replay *)ctx;
    return dbfile_apply_state(replay->file, id, bytes, &replay->txn->subsystem[id]);
}

static int replay_record(void *ctx, uint64_t lsn, Slice record)
{
    Replay *replay = (Replay *)ctx;
    if (replay->barrier || effects_is_barrier(record)) {
        replay->barrier = true;
        return SAP_OK;
    }
    const EffectCalls calls = {
        .define = replay_define, .subsystem = replay_subsystem, .ctx = replay};
    int rc = effects_apply(replay->txn, record, &calls);
    if (rc == SAP_CORRUPT) {
        return dbfile_report(replay->file, rc,
                             "damaged: commit %" PRIu64 " of the log does not fit the data", lsn);
    }
    replay->last_lsn = rc == SAP_OK ? lsn : replay->last_lsn;
    return rc;
}

static int refuse_log(DbFile *file, const WalRecovery *log)
{
    if (log->lost_groups == 0) {
        return dbfile_report(file, SAP_CORRUPT,
                             "damaged: the log in segment %" PRIu64 " at byte %" PRIu64
                             ": %s. %" PRIu64
                             " commits before that are intact; how many were behind "
                             "it cannot be known",
                             log->segment, log->offset, wal_end_text(log->end), log->records);
    }
    return dbfile_report(file, SAP_CORRUPT,
                         "damaged: the log in segment %" PRIu64 " at byte %" PRIu64 ": %s. %" PRIu64
                         " commits before that are intact; %" PRIu64 " commits in %" PRIu64
                         " groups behind it would be lost by going on without "
                         "them",
                         log->segment, log->offset, wal_end_text(log->end), log->records,
                         log->lost_records, log->lost_groups);
}

/* Reads the log without a look at what the records say: whether it is whole, and how much there is. */
static int read_log(DbFile *file, WalRecovery *log)
{
    if (meta_without_log(&file->meta)) {
        *log = (WalRecovery){.last_lsn = file->meta.txnid, .next = WAL_POINT_FIRST};
        return refuse_orphans(file, "it is complete without a log, but one is there");
    }
    int rc =
        wal_recover(file->path, file->db_id, &file->meta.wal, file->meta.txnid, NULL, NULL, log);
    if (rc == SAP_CORRUPT) {
        return refuse_log(file, log);
    }
    if (rc == SAP_OK && log->last_lsn > INT64_MAX) {
        return dbfile_report(file, SAP_CORRUPT,
                             "damaged: the log has commit %" PRIu64 ", which cannot be",
                             log->last_lsn);
    }
    return rc == SAP_OK ? SAP_OK : report_errno(file, rc, "cannot read its log");
}

/* A log that was found to be whole: only now is anything changed. */
static int replay_log(DbFile *file, WalRecovery *log, Replay *replay)
{
    int rc = replay_begin(file->env, &replay->txn);
    if (rc != SAP_OK) {
        return rc;
    }
    errno = 0;
    rc = wal_recover(file->path, file->db_id, &file->meta.wal, file->meta.txnid, replay_record,
                     replay, log);
    if (rc == SAP_FULL || rc == SAP_IO) {
        rc = report_errno(file, rc, "cannot replay its log");
    }
    int end = replay_end(replay->txn, rc == SAP_OK ? replay->last_lsn : 0);
    return rc == SAP_OK ? end : rc;
}

static uint64_t segment_bytes(const DbFile *file)
{
    uint64_t quarter = file->options.checkpoint_bytes / 4;
    quarter = quarter < SEGMENT_LEAST ? SEGMENT_LEAST : quarter;
    quarter = quarter > SEGMENT_MOST ? SEGMENT_MOST : quarter;
    return quarter / FILE_BLOCK * FILE_BLOCK;
}

/* As many as the log of one checkpoint fills: then none is removed only to be made again. */
static uint32_t spare_segments(const DbFile *file)
{
    return (uint32_t)(file->options.checkpoint_bytes / segment_bytes(file)) + SEGMENTS_BEYOND;
}

static int open_log(DbFile *file, const WalPoint *start, uint64_t after_lsn, bool recovered)
{
    WalOptions options = {
        .segment_bytes = segment_bytes(file),
        .spare_max = spare_segments(file),
        .recovered = recovered,
        .on_closed = dbfile_on_closed,
        .on_synced = dbfile_on_synced,
        .hook_ctx = file,
    };
    int rc = wal_open(&file->wal, file->path, file->db_id, start, after_lsn, &options);
    return rc == SAP_OK ? SAP_OK : report_errno(file, rc, "cannot make its log");
}

/* Replays what the log has behind the newest meta, and starts the log anew behind it. */
static int recover(DbFile *file)
{
    WalRecovery log = {0};
    Replay replay = {.file = file};
    int rc = read_log(file, &log);
    /* A process that died, or whose sync failed, may have left a header that is not on disk, and that
     * another sync would not bring there. What it does without is used again from here on. */
    if (rc == SAP_OK && checkpoint_write_meta(file, &file->meta) != SAP_OK) {
        rc = report_errno(file, SAP_IO, "cannot write its header");
    }
    if (rc == SAP_OK && log.records > 0) {
        rc = replay_log(file, &log, &replay);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    bool cut = log.end == WAL_END_TORN || replay.barrier;
    if (log.end == WAL_END_TORN) {
        (void)dbfile_report(file, SAP_OK,
                            "the last group of the log was not completely written and was cut off; "
                            "no commit in it was acknowledged");
    }
    if (replay.barrier) {
        (void)dbfile_report(
            file, SAP_OK,
            "a bulk transaction had not reached the disk; it and the commits behind "
            "it, none acknowledged, were cut off");
    }
    Version newest;
    version_get(&file->env->newest, &newest);
    newest.catalog = file->env->catalog.tree.root;
    start_at(file, &newest);
    /* What is cut off keeps its numbers to itself: nothing new may be taken for it. */
    uint64_t after = log.last_lsn > newest.txnid ? log.last_lsn : newest.txnid;
    file->env->stamp = after;
    rc = open_log(file, &log.next, after, !meta_without_log(&file->meta));
    /* A log with effects of subsystems follows only a header that says so. */
    bool other_version = subsystems_any(file->env) && !file->meta.has_subsystems;
    if (rc == SAP_OK &&
        (log.records > 0 || cut || other_version || log.next.segment != file->meta.wal.segment)) {
        errno = 0;
        rc = checkpoint_run(file, CHECKPOINT_FORCED, 0);
        rc = rc == SAP_FULL ? report_errno(file, rc, "cannot write a checkpoint") : rc;
    }
    return rc;
}

/* Read-only: there must be nothing to replay. */
static int check_log_is_empty(DbFile *file)
{
    WalRecovery log = {0};
    int rc = read_log(file, &log);
    if (rc == SAP_OK && log.records > 0) {
        return dbfile_report(file, SAP_READONLY,
                             "was not closed: its log holds %" PRIu64
                             " commits. Open it for writing once, then read-only",
                             log.records);
    }
    return rc;
}

/* ---- Making a file -------------------------------------------------------------------------- */

int dbfile_new_id(const DbFile *file, uint64_t *id_out)
{
    uint64_t id = 0;
    int rc = SAP_OK;
    if (file != NULL && file->options.random != NULL) {
        file->options.random(&id, sizeof id, file->options.source_ctx);
    } else {
        rc = random_fill(NULL, &id, sizeof id);
    }
    /* The caller's source may be one for tests that always says the same. */
    *id_out = file != NULL && id == file->db_id ? id + 1 : id;
    return rc;
}

/* A data file with nothing in it, under another name until it is complete; its log comes first, so
 * that a database without a log is one that lost it. */
static int create_files(DbFile *file, const char *unfinished)
{
    uint32_t page_size = file->options.page_size != 0 ? file->options.page_size : DEFAULT_PAGE_SIZE;
    Meta meta = {.page_size = page_size,
                 .number = 1,
                 .txnid = ENV_FIRST_COMMIT,
                 .high = file_first_page(page_size),
                 .wal = WAL_POINT_FIRST};
    int rc = dbfile_new_id(file, &meta.db_id);
    if (rc == SAP_OK) {
        rc = disk_unlink(unfinished);
        rc = rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    if (rc == SAP_OK) {
        rc = disk_create(unfinished, &file->data);
    }
    if (rc == SAP_OK) {
        rc = disk_write_zeros(&file->data, 0, (uint64_t)meta.high * page_size);
    }
    if (rc == SAP_OK) {
        rc = checkpoint_write_meta(file, &meta);
    }
    if (rc != SAP_OK) {
        return report_errno(file, rc == SAP_NOTFOUND ? SAP_IO : rc, "cannot make it");
    }
    file->db_id = meta.db_id;
    rc = open_log(file, &meta.wal, meta.txnid, false);
    wal_close(file->wal);
    file->wal = NULL;
    return rc;
}

/* What a database that could not be made has of it: there is none, as before. As far as that goes. */
static void remove_files(const DbFile *file, const char *data)
{
    Buf numbers = {0};
    Buf name = {0};
    (void)disk_unlink(data);
    if (wal_segments(file->path, &numbers) == SAP_OK) {
        for (size_t i = 0; i < numbers.len / sizeof(uint64_t); i++) {
            if (wal_segment_name(&name, file->path, ((const uint64_t *)numbers.data)[i]) ==
                SAP_OK) {
                (void)disk_unlink((const char *)name.data);
            }
        }
    }
    buf_release(&name);
    buf_release(&numbers);
}

static int create(DbFile *file)
{
    Buf name = {0};
    int rc = refuse_orphans(file, "its data file is missing, but its log is there");
    if (rc != SAP_OK) {
        return rc;
    }
    rc = buf_printf(&name, "%s-new", file->path);
    if (rc == SAP_OK) {
        rc = buf_append_u8(&name, 0);
    }
    if (rc != SAP_OK) {
        buf_release(&name);
        return rc;
    }
    const char *data = (const char *)name.data;
    rc = create_files(file, data);
    disk_close(&file->data);
    if (rc == SAP_OK) {
        rc = disk_rename(data, file->path);
        if (rc == SAP_OK) {
            data = file->path;
            rc = disk_sync_dir(data);
        }
        rc = rc == SAP_OK ? SAP_OK : report_errno(file, rc, "cannot make it");
    }
    if (rc != SAP_OK) {
        remove_files(file, data);
    }
    buf_release(&name);
    return rc;
}

/* ---- The call ------------------------------------------------------------------------------- */

/* In a file without a commit, which is one made now, DBI 0 is in byte order so far. */
static int set_first_order(DbFile *file, const char *comparator)
{
    Version newest;
    version_get(&file->env->newest, &newest);
    if (comparator == NULL || newest.txnid != ENV_FIRST_COMMIT) {
        return SAP_OK;
    }
    const NamedOrder *named = dbfile_order_named(file, comparator, strlen(comparator));
    TableDef def = {.keys = named->order, .key_name = named->name};
    return definition_change(file->env, 0, &def, false);
}

/* *made_out: the files were not there before, and are now. */
static int open_files(DbFile *file, const char *comparator, bool *made_out)
{
    bool read_only = (file->options.flags & SAP_OPEN_RDONLY) != 0;
    bool made = false;
    int rc = decide_what_to_do(file, &made);
    if (rc == SAP_OK) {
        rc = take_ownership(file);
    }
    if (rc == SAP_OK) {
        rc = decide_what_to_do(file, &made); /* again: until now another could have made it */
    }
    if (rc == SAP_OK && made) {
        rc = create(file);
        *made_out = rc == SAP_OK;
    }
    if (rc != SAP_OK) {
        return rc;
    }
    rc = read_only ? disk_open_read(file->path, &file->data) : disk_open(file->path, &file->data);
    if (rc != SAP_OK) {
        return report_errno(file, rc == SAP_NOTFOUND ? SAP_IO : rc, "cannot open it");
    }
    rc = owner_enter(&file->owner, file->data.fd);
    if (rc != SAP_OK) {
        return dbfile_report(file, rc, "open already, under this name or another");
    }
    rc = read_metas(file);
    if (rc == SAP_OK) {
        rc = make_env(file);
    }
    if (rc == SAP_OK) {
        rc = read_only ? check_log_is_empty(file) : recover(file);
    }
    if (rc == SAP_OK && !read_only) {
        rc = dbfile_start(file);
    }
    if (rc == SAP_OK && !read_only) {
        rc = set_first_order(file, comparator);
    }
    return rc;
}

int sap_db_open_path(const char *path, const SapOpenOptions *options, SapEnv **db_out)
{
    static const SapOpenOptions defaults = {.flags = SAP_OPEN_CREATE};
    options = options != NULL ? options : &defaults;
    if (path == NULL || path[0] == 0 || db_out == NULL || !options_valid(options)) {
        return SAP_ERROR;
    }
    DbFile *file = NULL;
    int rc = dbfile_make(path, options, &file);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = copy_orders(file, options);
    if (rc == SAP_OK) {
        rc = dbfile_check_subsystems(file, options);
    }
    if (rc == SAP_OK && options->comparator != NULL &&
        dbfile_order_named(file, options->comparator, strlen(options->comparator)) == NULL) {
        rc = dbfile_report(file, SAP_ERROR, "the options have no comparator \"%s\"",
                           options->comparator);
    }
    bool made = false;
    if (rc == SAP_OK) {
        rc = open_files(file, options->comparator, &made);
    }
    file->options.subsystems = NULL; /* the environment has them */
    if (rc == SAP_OK) {
        *db_out = file->env;
        return SAP_OK;
    }
    if (!atomic_load_relaxed(&file->told)) {
        (void)dbfile_report(file, rc, "cannot be opened: %s", sap_strerror(rc));
    }
    atomic_store_full(&file->failed, true); /* so that closing it writes nothing */
    if (made) {
        remove_files(file, file->path);
    }
    if (file->env != NULL) {
        (void)sap_env_destroy(file->env);
    } else {
        dbfile_free(file);
    }
    return rc;
}
