/* compact.c - a snapshot row by row as a new, dense file, while everything goes on.
 *
 * Each table is built bottom-up from its rows in order (tree_build.h), pages going to the file as
 * they are filled; the header, which tells where everything is, comes last. The file has another
 * name until it is whole and synced, and its own name is locked meanwhile, as by one who opens it:
 * two who make the same file do not meet. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "common/fault.h"
#include "sapling/image.h"
#include "sapling/tree_build.h"

enum { PROGRESS_ROWS = 256 }; /* between two calls */

typedef struct Compact {
    SapEnv *env;
    const char *path;
    Buf unfinished; /* the name until then */
    Owner owner;
    Image image;
    Pieces out;
    DiskFile file;
    uint64_t offset;          /* of the next piece */
    sap_progress_fn progress; /* NULL: none */
    void *ctx;
    uint64_t done; /* rows */
    uint64_t total;
} Compact;

/* The user hears what a code cannot tell; in memory there is nobody to tell. Returns rc. */
static int tell(const Compact *compact, int rc, const char *what)
{
    return compact->env->file == NULL
               ? rc
               : dbfile_report(compact->env->file, rc, "compacting to %s: %s", compact->path, what);
}

/* The same with the system's answer. */
static int tell_errno(const Compact *compact, int rc, const char *what)
{
    int err = errno;
    const char *advice = rc == SAP_FULL ? ": free some disk space and try again" : "";
    if (rc == SAP_NOMEM || compact->env->file == NULL) {
        return rc;
    }
    return dbfile_report(compact->env->file, rc, "compacting to %s: %s: %s%s", compact->path, what,
                         strerror(err), advice);
}

/* ---- The names ------------------------------------------------------------------------------ */

/* 0 or an errno. */
static int look_at(const char *path, struct stat *st_out)
{
    int err = fault_io();
    return err == 0 && lstat(path, st_out) != 0 ? errno : err;
}

/* The target is not there, nor a log that would be taken for its own. */
static int check_target(const Compact *compact)
{
    struct stat st;
    int err = look_at(compact->path, &st);
    if (err == 0) {
        return tell(compact, SAP_EXISTS, "there is something of that name");
    }
    if (err != ENOENT) {
        errno = err;
        return tell_errno(compact, SAP_IO, "cannot look at it");
    }
    Buf name = {0};
    uint64_t id = 0;
    int rc = dbfile_find_log(compact->path, &name, &id);
    buf_release(&name);
    if (rc == SAP_EXISTS) {
        return tell(compact, rc, "the log of a database of that name is there");
    }
    return rc == SAP_OK ? SAP_OK : tell_errno(compact, rc, "cannot look for a log there");
}

/* What an earlier try may have left; unless that is the database itself. */
static int remove_unfinished(const Compact *compact)
{
    const DbFile *file = compact->env->file;
    const char *name = (const char *)compact->unfinished.data;
    struct stat st;
    int err = look_at(name, &st);
    if (err == ENOENT) {
        return SAP_OK;
    }
    if (err != 0) {
        errno = err;
        return tell_errno(compact, SAP_IO, "cannot look at it");
    }
    if (file != NULL && file->owner.device == (uint64_t)st.st_dev &&
        file->owner.inode == (uint64_t)st.st_ino) {
        return tell(compact, SAP_ERROR,
                    "the name it has until it is complete is that of the database");
    }
    int rc = disk_unlink(name);
    return rc == SAP_OK ? SAP_OK
                        : tell_errno(compact, SAP_IO, "cannot remove what an earlier try left");
}

static int lock_target(Compact *compact)
{
    int64_t pid = 0;
    int rc = owner_lock(&compact->owner, compact->path, false, &pid);
    if (rc == SAP_BUSY) {
        return tell(compact, rc, "another is making or opening it");
    }
    if (rc == SAP_IO && errno == ENOENT) {
        return tell(compact, SAP_NOTFOUND, "there is no such directory");
    }
    rc = rc == SAP_IO && errno == ENOSPC ? SAP_FULL : rc;
    return rc == SAP_OK ? SAP_OK : tell_errno(compact, rc, "cannot make or lock its lock file");
}

static int name_unfinished(Compact *compact)
{
    int rc = buf_printf(&compact->unfinished, "%s-new", compact->path);
    return rc == SAP_OK ? buf_append_u8(&compact->unfinished, 0) : rc;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static int write_piece(const void *bytes, uint32_t len, void *ctx)
{
    Compact *compact = (Compact *)ctx;
    int rc = disk_write(&compact->file, compact->offset, bytes, len);
#if SAP_FILE_MAPPED
    /* Little by little: the commits beside this one wait for the same disk. */
    if (rc == SAP_OK) {
        rc = disk_write_back(&compact->file, compact->offset, len);
    }
#endif
    compact->offset += len;
    return rc == SAP_OK ? SAP_OK : tell_errno(compact, rc, "cannot write it");
}

static int page_make(void *ctx, uint8_t **page_out)
{
    Image *image = &((Compact *)ctx)->image;
    *page_out = image_make_page(image, image->txn->base);
    return SAP_OK;
}

static int page_done(void *ctx)
{
    Compact *compact = (Compact *)ctx;
    return image_put_page(&compact->image, &compact->out);
}

/* Writes the row's value as a run of the image, to which `ref` refers from then on. */
static int move_value(Compact *compact, uint32_t dbi, LeafRow *row, uint8_t ref[CELL_REF])
{
    Image *image = &compact->image;
    const void *val = NULL;
    uint32_t len = 0;
    int rc = tree_run_value(compact->env, row, &val, &len);
    if (rc != SAP_OK) {
        return rc;
    }
    uint64_t pgno = image->next;
    image->next += run_pages(image->page_size, len);
    if (image->next > CHILD_OWNS_RUNS) {
        return SAP_FULL;
    }
    store_u32le(ref, (uint32_t)pgno);
    store_u32le(ref + 4, len);
    row->val = ref;
    return image_put_run(image, &compact->out, (uint32_t)pgno, dbi, image->txn->base, val, len);
}

static int go_on(const Compact *compact)
{
    return compact->progress != NULL
               ? compact->progress(compact->done, compact->total, compact->ctx)
               : SAP_OK;
}

/* The row is in the image; a large value takes long by itself. */
static int count_row(Compact *compact, const LeafRow *row)
{
    compact->done++;
    bool due = compact->done % PROGRESS_ROWS == 0 || row->val_code == CELL_VAL_ELSEWHERE;
    return due && compact->done < compact->total ? go_on(compact) : SAP_OK;
}

static int build_rows(Compact *compact, uint32_t dbi, const Table *table, TreeState tree,
                      TreeBuild *build)
{
    const SapEnv *env = compact->env;
    Path path;
    LeafRow before = {0};
    uint64_t rows = 0;
    int rc = tree_first(env, tree.root, &path);
    while (rc == SAP_OK) {
        LeafRow row = path_row(&path);
        uint8_t ref[CELL_REF];
        if (rows++ > 0 &&
            key_compare(table->order, before.key, before.key_len, row.key, row.key_len) >= 0) {
            return tree_refuse(env, page_no(path.at[path.depth - 1].page),
                               "has a row that is not above the one before");
        }
        before = row;
        if (row.val_code == CELL_VAL_ELSEWHERE) {
            rc = move_value(compact, dbi, &row, ref);
        }
        if (rc == SAP_OK) {
            rc = tree_build_add(build, &row, false);
        }
        if (rc == SAP_OK) {
            rc = count_row(compact, &row);
            if (rc != SAP_OK) {
                return rc;
            }
            rc = tree_next(env, &path);
        }
    }
    if (rc == SAP_NOTFOUND && rows != tree.entries) {
        return tree_refuse(env, tree.root, "leads to another number of rows than it should");
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int build_table(Compact *compact, uint32_t dbi)
{
    const Table *table = &compact->env->tables[dbi];
    BuildPages pages = {.make = page_make, .done = page_done, .ctx = compact};
    TreeState tree = {0};
    TreeBuild build;
    int rc = table_state(compact->image.txn, dbi, &tree);
    if (rc != SAP_OK || tree.root == 0) {
        return rc;
    }
    rc = tree_build_begin_pages(&build, compact->image.page_size, table, &pages);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = build_rows(compact, dbi, table, tree, &build);
    if (rc == SAP_OK) {
        rc = tree_build_finish(&build, &compact->image.trees[dbi]);
    }
    tree_build_release(&build);
    return rc;
}

/* ---- The file ------------------------------------------------------------------------------- */

static int count_rows(Compact *compact)
{
    int rc = SAP_OK;
    for (uint32_t dbi = 0; dbi < compact->image.table_count && rc == SAP_OK; dbi++) {
        TreeState tree = {0};
        rc = compact->env->tables[dbi].open ? table_state(compact->image.txn, dbi, &tree) : SAP_OK;
        compact->total += tree.entries;
    }
    return rc;
}

static int write_image(Compact *compact)
{
    Image *image = &compact->image;
    int rc = count_rows(compact);
    compact->offset = image->next * image->page_size;
    for (uint32_t dbi = 0; dbi < image->table_count && rc == SAP_OK; dbi++) {
        rc = compact->env->tables[dbi].open ? build_table(compact, dbi) : SAP_OK;
    }
    if (rc == SAP_OK) {
        rc = image_finish(image);
    }
    if (rc == SAP_OK) {
        rc = image_put_end(image, &compact->out);
    }
    if (rc == SAP_OK) {
        rc = pieces_flush(&compact->out);
    }
    compact->offset = 0;
    if (rc == SAP_OK) {
        rc = image_put_header(image, &compact->out);
    }
    return rc == SAP_OK ? pieces_flush(&compact->out) : rc;
}

/* The file under its first name, on disk. */
static int make_file(Compact *compact)
{
    const char *name = (const char *)compact->unfinished.data;
    const DbFile *source = compact->env->file;
    int rc = source != NULL ? disk_create_like(name, source->path, &compact->file)
                            : disk_create(name, &compact->file);
    if (rc != SAP_OK) {
        return tell_errno(compact, rc == SAP_EXISTS ? SAP_IO : rc, "cannot make it");
    }
    rc = pieces_init(&compact->out, write_piece, compact);
    if (rc == SAP_OK) {
        rc = write_image(compact);
    }
    pieces_release(&compact->out);
    fault_step("copy written");
    if (rc == SAP_OK) {
        rc = disk_sync(&compact->file);
        rc = rc == SAP_OK ? SAP_OK : tell_errno(compact, rc, "cannot sync it");
    }
    fault_step("copy synced");
    disk_close(&compact->file);
    return rc == SAP_OK ? go_on(compact) : rc;
}

/* All or nothing under the final name. */
static int make_target(Compact *compact)
{
    const char *name = (const char *)compact->unfinished.data;
    int rc = remove_unfinished(compact);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = make_file(compact);
    if (rc == SAP_OK) {
        rc = disk_rename(name, compact->path);
        if (rc == SAP_OK) {
            fault_step("copy renamed");
            name = compact->path;
            rc = disk_sync_dir(name);
        }
        rc = rc == SAP_OK ? SAP_OK : tell_errno(compact, rc, "cannot give it its name");
    }
    if (rc != SAP_OK) {
        (void)disk_unlink(name);
    }
    return rc;
}

int sap_db_compact(SapEnv *db, const char *path)
{
    return sap_db_compact_progress(db, path, NULL, NULL);
}

int sap_db_compact_progress(SapEnv *db, const char *path, sap_progress_fn progress, void *ctx)
{
    SapTxnCtx *txn = NULL;
    if (path == NULL || path[0] == 0) {
        return SAP_ERROR;
    }
    int rc = sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    Compact compact = {.env = db,
                       .path = path,
                       .owner = OWNER_NONE,
                       .file = DISK_FILE_NONE,
                       .progress = progress,
                       .ctx = ctx};
    rc = image_begin(&compact.image, txn);
    if (rc == SAP_OK) {
        rc = name_unfinished(&compact);
    }
    if (rc == SAP_OK) {
        rc = check_target(&compact);
    }
    if (rc == SAP_OK) {
        rc = lock_target(&compact);
    }
    if (rc == SAP_OK) {
        rc = check_target(&compact); /* again: until now another could have made it */
    }
    if (rc == SAP_OK) {
        rc = make_target(&compact);
    }
    owner_release(&compact.owner);
    image_release(&compact.image);
    buf_release(&compact.unfinished);
    sap_txn_abort(txn);
    return rc;
}
