/* engine_bare.c - a log and nothing else: one block written and synced for each commit, under a
 * mutex. What an engine that shares no syncs can reach at most.
 *
 * The file is written once with zeros, so that no commit changes its length or its extents, and
 * used round and round. A block begins with the number of commits so far: that is also how many
 * rows every table would have. */
#include "engine.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 4096, BLOCKS = 4096 };

struct DurStore {
    int fd;
    pthread_mutex_t lock;
    uint64_t rows; /* with the lock held */
    uint32_t tables;
    uint8_t block[BLOCK];
};

static uint64_t engine_cycle_commits(uint64_t checkpoint_bytes)
{
    (void)checkpoint_bytes;
    return BLOCKS;
}

static int engine_close(DurStore *store)
{
    int rc = close(store->fd) == 0 ? 0 : errno;
    pthread_mutex_destroy(&store->lock);
    free(store);
    return rc;
}

static int write_block(const DurStore *store, uint64_t slot)
{
    ssize_t n = pwrite(store->fd, store->block, BLOCK, (off_t)(slot * BLOCK));
    if (n == BLOCK)
        return 0;
    return n < 0 ? errno : EIO;
}

/* Zeros in a new file; in an old one, the highest number of rows there is. */
static int prepare(DurStore *store)
{
    struct stat st;
    if (fstat(store->fd, &st) != 0)
        return errno;
    int fresh = st.st_size == 0;
    for (uint64_t slot = 0; slot < BLOCKS; slot++) {
        int rc = fresh ? write_block(store, slot) : 0;
        if (rc)
            return rc;
        uint64_t rows = 0;
        if (!fresh && pread(store->fd, &rows, sizeof rows, (off_t)(slot * BLOCK)) != sizeof rows)
            return EIO;
        if (rows > store->rows)
            store->rows = rows;
    }
    return fsync(store->fd) == 0 ? 0 : errno;
}

static int engine_open(const DurOpen *options, DurStore **store_out)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/log", options->dir);
    DurStore *store = calloc(1, sizeof *store);
    if (!store)
        return ENOMEM;
    store->tables = options->tables;
    store->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (store->fd < 0) {
        int rc = errno;
        free(store);
        return rc;
    }
    pthread_mutex_init(&store->lock, NULL);
    int rc = prepare(store);
    if (rc) {
        engine_close(store);
        return rc;
    }
    *store_out = store;
    return 0;
}

/* With the lock held. */
static int append(DurStore *store, uint64_t rows, const DurRow *row)
{
    memcpy(store->block, &rows, sizeof rows);
    for (uint32_t t = 0; t < store->tables; t++)
        memcpy(store->block + sizeof rows + t * sizeof *row, row, sizeof *row);
    int rc = write_block(store, rows % BLOCKS);
    if (!rc && fdatasync(store->fd) != 0)
        rc = errno;
    if (!rc)
        store->rows = rows;
    return rc;
}

static int engine_fill(DurStore *store, const DurRow *rows, uint64_t count)
{
    return count ? append(store, count, &rows[count - 1]) : 0;
}

static int engine_commit(DurStore *store, DurSession *session, const DurRow *row)
{
    (void)session;
    pthread_mutex_lock(&store->lock);
    int rc = append(store, store->rows + 1, row);
    pthread_mutex_unlock(&store->lock);
    return rc;
}

static int engine_count(DurStore *store, uint32_t table, uint64_t *rows_out)
{
    (void)table;
    *rows_out = store->rows;
    return 0;
}

static const char *engine_error_text(int rc)
{
    return strerror(rc);
}

const DurEngine dur_bare = {
    .name = "bare",
    .what = "no engine: one 4 KiB write and fdatasync a commit, under a mutex",
    .cycle_commits = engine_cycle_commits,
    .open = engine_open,
    .close = engine_close,
    .fill = engine_fill,
    .commit = engine_commit,
    .count = engine_count,
    .error_text = engine_error_text,
};
