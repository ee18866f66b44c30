/* crash.c - see crash.h. */
#include "support/crash.h"

#include "sapling/disk.h"
#include "sapling/wal_format.h"
#include "support/expect.h"
#include "support/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PATH = 512 };

#if SAP_FAULTS

enum { SECTOR = 512, BLOCK = 4096, MAX_NAMES = 256, MAX_NAME = 128 };

static void *must(void *p)
{
    EXPECT(p != NULL, "no memory");
    return p;
}

/* A growing array of numbers. */
typedef struct List {
    uint64_t *at;
    size_t count;
    size_t cap;
} List;

static void list_add(List *list, uint64_t value)
{
    if (list->count == list->cap) {
        list->cap = list->cap * 2 + 16;
        list->at = must(realloc(list->at, list->cap * sizeof *list->at));
    }
    list->at[list->count++] = value;
}

/* ---- Recording ------------------------------------------------------------------------------ */

/* The blocks of a mapped file that a sync finds changed, and its size then. */
typedef struct Mapped {
    uint64_t size;
    List offsets;
    uint8_t *blocks;
} Mapped;

typedef struct Op {
    DiskOp op;
    bool is_mark;
    uint64_t file; /* or the mark */
    char name[MAX_NAME];
    char to[MAX_NAME];
    uint64_t offset;
    uint8_t *data; /* NULL: zeros */
    size_t len;
    Mapped *mapped; /* DISK_SYNC; or NULL */
} Op;

/* A file that may be mapped: opened once more to see what is in it. */
typedef struct Watched {
    uint64_t id;
    int fd;
    uint8_t *last; /* at the last sync */
    size_t last_size;
} Watched;

typedef struct Sim Sim;

struct CrashTrace {
    pthread_mutex_t lock; /* operations come from several threads */
    Op *ops;
    size_t count;
    size_t cap;
    Watched watched[MAX_NAMES];
    size_t watched_count;
    Sim *sim; /* the disk after the first sim_at operations, or NULL */
    size_t sim_at;
};

static void copy_base(char *out, const char *path)
{
    const char *slash = path == NULL ? NULL : strrchr(path, '/');
    const char *base = path == NULL ? "" : slash == NULL ? path : slash + 1;

    EXPECT(strlen(base) < MAX_NAME, "a name too long for the trace");
    snprintf(out, MAX_NAME, "%s", base);
}

static Op *add(CrashTrace *trace)
{
    if (trace->count == trace->cap) {
        trace->cap = trace->cap * 2 + 1024;
        trace->ops = must(realloc(trace->ops, trace->cap * sizeof *trace->ops));
    }
    Op *op = &trace->ops[trace->count++];
    memset(op, 0, sizeof *op);
    return op;
}

static bool is_zero(const uint8_t *bytes, size_t len)
{
    return len == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, len - 1) == 0);
}

static void op_take_data(Op *op, const void *data, size_t len)
{
    op->len = len;
    if (!is_zero(data, len)) {
        op->data = must(malloc(len));
        memcpy(op->data, data, len);
    }
}

static void watch(CrashTrace *trace, uint64_t id, const char *path)
{
    if (strstr(path, WAL_SEGMENT_INFIX) != NULL) {
        return;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    EXPECT(fd >= 0 && trace->watched_count < MAX_NAMES, "cannot watch %s", path);
    trace->watched[trace->watched_count++] = (Watched){.id = id, .fd = fd};
}

static Watched *find_watched(CrashTrace *trace, uint64_t id)
{
    for (size_t i = 0; i < trace->watched_count; i++) {
        if (trace->watched[i].id == id) {
            return &trace->watched[i];
        }
    }
    return NULL;
}

static Mapped *look(Watched *watched)
{
    struct stat st;

    EXPECT(fstat(watched->fd, &st) == 0, "cannot look at a file");
    size_t size = (size_t)st.st_size;
    uint8_t *now = must(calloc(1, size + 1));
    EXPECT(pread(watched->fd, now, size, 0) == (ssize_t)size, "cannot read a file");
    Mapped *mapped = must(calloc(1, sizeof *mapped));
    mapped->size = size;
    for (size_t at = 0; at < size; at += BLOCK) {
        size_t len = size - at < BLOCK ? size - at : BLOCK;
        if (at + len > watched->last_size || memcmp(now + at, watched->last + at, len) != 0) {
            list_add(&mapped->offsets, at);
        }
    }
    mapped->blocks = must(calloc(mapped->offsets.count + 1, BLOCK));
    for (size_t i = 0; i < mapped->offsets.count; i++) {
        size_t at = (size_t)mapped->offsets.at[i];
        memcpy(mapped->blocks + i * BLOCK, now + at, size - at < BLOCK ? size - at : BLOCK);
    }
    free(watched->last);
    watched->last = now;
    watched->last_size = size;
    return mapped;
}

static void record(void *ctx, const DiskEvent *event)
{
    CrashTrace *trace = ctx;

    pthread_mutex_lock(&trace->lock);
    Op *op = add(trace);
    op->op = event->op;
    op->file = event->file;
    copy_base(op->name, event->path);
    copy_base(op->to, event->to);
    op->offset = event->offset;
    switch (event->op) {
    case DISK_CREATE:
    case DISK_OPEN:
        watch(trace, event->file, event->path);
        break;
    case DISK_WRITE:
        op_take_data(op, event->data, event->len);
        break;
    case DISK_SYNC: {
        Watched *watched = find_watched(trace, event->file);
        op->mapped = watched == NULL ? NULL : look(watched);
        break;
    }
    default:
        break;
    }
    pthread_mutex_unlock(&trace->lock);
}

static CrashTrace *trace_new(void)
{
    CrashTrace *trace = must(calloc(1, sizeof *trace));

    EXPECT(pthread_mutex_init(&trace->lock, NULL) == 0, "no mutex");
    return trace;
}

CrashTrace *crash_trace_start(void)
{
    CrashTrace *trace = trace_new();

    disk_trace_set(record, trace);
    return trace;
}

static void load_file(CrashTrace *trace, uint64_t id, const char *dir, const char *name)
{
    char path[MAX_PATH];
    size_t size = 0;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    uint8_t *bytes = files_read(path, &size);
    for (DiskOp kind = DISK_CREATE; kind <= DISK_SYNC; kind++) {
        if (kind != DISK_OPEN) {
            Op *op = add(trace);
            op->op = kind;
            op->file = id;
            copy_base(op->name, name);
            if (kind == DISK_WRITE) {
                op_take_data(op, bytes, size);
            }
        }
    }
    free(bytes);
}

CrashTrace *crash_trace_start_in(const char *dir)
{
    CrashTrace *trace = trace_new();
    DIR *stream = opendir(dir);
    uint64_t id = UINT64_MAX;

    EXPECT(stream != NULL, "cannot list %s", dir);
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        if (entry->d_name[0] != '.') {
            load_file(trace, id--, dir, entry->d_name);
        }
    }
    closedir(stream);
    add(trace)->op = DISK_SYNC_DIR;
    disk_trace_set(record, trace);
    return trace;
}

CrashTrace *crash_trace_go_on(CrashTrace *before, size_t length, const char *dir)
{
    CrashTrace *trace = trace_new();
    Rng none;

    rng_seed(&none, 0);
    crash_build(before, length, CRASH_KEEP, &none, dir);
    for (size_t i = 0; i < length; i++) {
        Op *op = add(trace);
        *op = before->ops[i];
        if (op->data != NULL) {
            op->data = must(malloc(op->len));
            memcpy(op->data, before->ops[i].data, op->len);
        }
        if (op->mapped != NULL) {
            const Mapped *from = before->ops[i].mapped;
            op->mapped = must(calloc(1, sizeof *op->mapped));
            op->mapped->size = from->size;
            for (size_t j = 0; j < from->offsets.count; j++) {
                list_add(&op->mapped->offsets, from->offsets.at[j]);
            }
            op->mapped->blocks = must(malloc((from->offsets.count + 1) * BLOCK));
            memcpy(op->mapped->blocks, from->blocks, from->offsets.count * BLOCK);
        }
    }
    disk_trace_set(record, trace);
    return trace;
}

void crash_trace_stop(CrashTrace *trace)
{
    disk_trace_set(NULL, NULL);
    for (size_t i = 0; i < trace->watched_count; i++) {
        close(trace->watched[i].fd);
        free(trace->watched[i].last);
    }
    trace->watched_count = 0;
}

void crash_mark(CrashTrace *trace, uint64_t mark)
{
    pthread_mutex_lock(&trace->lock);
    Op *op = add(trace);
    op->is_mark = true;
    op->file = mark;
    pthread_mutex_unlock(&trace->lock);
}

size_t crash_length(const CrashTrace *trace)
{
    return trace->count;
}

size_t crash_writes(const CrashTrace *trace, size_t length)
{
    size_t writes = 0;

    for (size_t i = 0; i < length; i++) {
        writes += !trace->ops[i].is_mark && trace->ops[i].op != DISK_OPEN;
    }
    return writes;
}

uint64_t crash_mark_at(const CrashTrace *trace, size_t length)
{
    while (length-- > 0) {
        if (trace->ops[length].is_mark) {
            return trace->ops[length].file;
        }
    }
    return 0;
}

static bool fills(const Op *op)
{
    return !op->is_mark && op->op == DISK_WRITE && op->data == NULL;
}

bool crash_is_cut(const CrashTrace *trace, size_t length)
{
    const Op *op = &trace->ops[length - 1];

    if (op->is_mark || op->op == DISK_OPEN) {
        return false;
    }
    return !fills(op) || length == trace->count || !fills(op + 1) || op[1].file != op->file;
}

/* ---- A disk --------------------------------------------------------------------------------- */

/* Most of a log is zeros: blocks of them are not there. */
typedef struct SimFile {
    uint8_t **blocks; /* as on disk */
    size_t block_count;
    uint64_t size;
    List pending; /* writes since the last sync */
} SimFile;

typedef struct SimName {
    char name[MAX_NAME];
    SimFile *file;
} SimName;

typedef struct SimDir {
    SimName names[MAX_NAMES];
    size_t count;
} SimDir;

struct Sim {
    SimFile **files;
    List ids;       /* of files[i]; a file has one for each time it was opened */
    SimDir seen;    /* by the running program */
    SimDir durable; /* by whoever comes after the cut */
    List pending;   /* changes of names since the last sync */
    List owned;     /* indices of files[] that are no second opening */
};

static SimName *find(SimDir *dir, const char *name)
{
    for (size_t i = 0; i < dir->count; i++) {
        if (strcmp(dir->names[i].name, name) == 0) {
            return &dir->names[i];
        }
    }
    return NULL;
}

static void put(SimDir *dir, const char *name, SimFile *file)
{
    SimName *entry = find(dir, name);

    if (entry == NULL) {
        EXPECT(dir->count < MAX_NAMES, "too many files");
        entry = &dir->names[dir->count++];
        snprintf(entry->name, sizeof entry->name, "%s", name);
    }
    entry->file = file;
}

static SimFile *by_id(const Sim *sim, uint64_t id)
{
    for (size_t i = sim->ids.count; i-- > 0;) {
        if (sim->ids.at[i] == id) {
            return sim->files[i];
        }
    }
    return NULL;
}

static void add_file(Sim *sim, uint64_t id, SimFile *file)
{
    list_add(&sim->ids, id);
    sim->files = must(realloc(sim->files, sim->ids.count * sizeof(SimFile *)));
    sim->files[sim->ids.count - 1] = file;
}

/* What is not there is not moved or removed: its creation was lost. */
static void apply_to_dir(SimDir *dir, const Op *op, SimFile *created)
{
    SimName *entry = find(dir, op->name);

    if (op->op == DISK_CREATE) {
        put(dir, op->name, created);
    } else if (entry != NULL) {
        SimFile *file = entry->file;
        *entry = dir->names[--dir->count];
        if (op->op == DISK_RENAME) {
            put(dir, op->to, file);
        }
    }
}

static void reach_size(SimFile *file, uint64_t size)
{
    size_t blocks = (size_t)((size + BLOCK - 1) / BLOCK);

    if (blocks > file->block_count) {
        file->blocks = must(realloc(file->blocks, blocks * sizeof *file->blocks));
        memset(file->blocks + file->block_count, 0,
               (blocks - file->block_count) * sizeof *file->blocks);
        file->block_count = blocks;
    }
    file->size = size > file->size ? size : file->size;
}

/* `data` NULL: zeros. */
static void store(SimFile *file, uint64_t offset, const uint8_t *data, size_t len)
{
    reach_size(file, offset + len);
    while (len > 0) {
        size_t within = (size_t)(offset % BLOCK);
        size_t part = BLOCK - within < len ? BLOCK - within : len;
        uint8_t **block = &file->blocks[offset / BLOCK];
        if (*block == NULL && data != NULL && !is_zero(data, part)) {
            *block = must(calloc(1, BLOCK));
        }
        if (*block != NULL) {
            if (data == NULL) {
                memset(*block + within, 0, part);
            } else {
                memcpy(*block + within, data, part);
            }
        }
        offset += part;
        len -= part;
        data = data == NULL ? NULL : data + part;
    }
}

static void sync_file(const CrashTrace *trace, SimFile *file, const Mapped *mapped)
{
    for (size_t i = 0; i < file->pending.count; i++) {
        const Op *op = &trace->ops[file->pending.at[i]];
        store(file, op->offset, op->data, op->len);
    }
    file->pending.count = 0;
    if (mapped != NULL) {
        for (size_t i = 0; i < mapped->offsets.count; i++) {
            uint64_t at = mapped->offsets.at[i];
            uint64_t left = mapped->size - at;
            store(file, at, mapped->blocks + i * BLOCK, left < BLOCK ? (size_t)left : BLOCK);
        }
        reach_size(file, mapped->size);
        file->size = mapped->size;
    }
}

static void sync_dir(const CrashTrace *trace, Sim *sim)
{
    for (size_t i = 0; i < sim->pending.count; i++) {
        const Op *op = &trace->ops[sim->pending.at[i]];
        apply_to_dir(&sim->durable, op, by_id(sim, op->file));
    }
    sim->pending.count = 0;
}

static void run_op(const CrashTrace *trace, Sim *sim, size_t at)
{
    const Op *op = &trace->ops[at];
    SimFile *file = by_id(sim, op->file);

    switch (op->op) {
    case DISK_CREATE:
        file = must(calloc(1, sizeof *file));
        list_add(&sim->owned, sim->ids.count);
        add_file(sim, op->file, file);
        break;
    case DISK_OPEN:
        EXPECT(find(&sim->seen, op->name) != NULL, "%s is opened and not in the trace", op->name);
        add_file(sim, op->file, find(&sim->seen, op->name)->file);
        return;
    case DISK_WRITE:
        list_add(&file->pending, at);
        return;
    case DISK_SYNC:
        sync_file(trace, file, op->mapped);
        return;
    case DISK_SYNC_DIR:
        sync_dir(trace, sim);
        return;
    case DISK_RENAME:
    case DISK_UNLINK:
        break;
    }
    apply_to_dir(&sim->seen, op, file);
    list_add(&sim->pending, at);
}

static void sim_free(Sim *sim)
{
    if (sim == NULL) {
        return;
    }
    for (size_t i = 0; i < sim->owned.count; i++) {
        SimFile *file = sim->files[sim->owned.at[i]];
        for (size_t j = 0; j < file->block_count; j++) {
            free(file->blocks[j]);
        }
        free(file->blocks);
        free(file->pending.at);
        free(file);
    }
    free(sim->files);
    free(sim->ids.at);
    free(sim->pending.at);
    free(sim->owned.at);
    free(sim);
}

void crash_trace_free(CrashTrace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        Op *op = &trace->ops[i];
        free(op->data);
        if (op->mapped != NULL) {
            free(op->mapped->offsets.at);
            free(op->mapped->blocks);
            free(op->mapped);
        }
    }
    free(trace->ops);
    sim_free(trace->sim);
    pthread_mutex_destroy(&trace->lock);
    free(trace);
}

static void sim_advance(CrashTrace *trace, size_t length)
{
    if (trace->sim == NULL || trace->sim_at > length) {
        sim_free(trace->sim);
        trace->sim = must(calloc(1, sizeof *trace->sim));
        trace->sim_at = 0;
    }
    for (; trace->sim_at < length; trace->sim_at++) {
        if (!trace->ops[trace->sim_at].is_mark) {
            run_op(trace, trace->sim, trace->sim_at);
        }
    }
}

/* ---- A cut ---------------------------------------------------------------------------------- */

static void write_part(int fd, const Op *op, size_t from, size_t len)
{
    static const uint8_t zeros[SECTOR];

    while (len > 0) {
        size_t part = op->data == NULL && len > SECTOR ? SECTOR : len;
        const uint8_t *data = op->data == NULL ? zeros : op->data + from;
        EXPECT(pwrite(fd, data, part, (off_t)(op->offset + from)) == (ssize_t)part,
               "cannot write a state");
        from += part;
        len -= part;
    }
}

static void write_torn(int fd, const Op *op, Rng *rng)
{
    uint64_t keep_in_8 = rng_range(rng, 1, 7);

    for (size_t from = 0; from < op->len; from += SECTOR) {
        if (rng_chance(rng, keep_in_8, 8)) {
            write_part(fd, op, from, op->len - from < SECTOR ? op->len - from : SECTOR);
        }
    }
}

/* Now and then nothing but a part of the newest write is there: the order least expected. */
static void write_some(const CrashTrace *trace, const SimFile *file, int fd, Rng *rng)
{
    size_t count = file->pending.count;

    if (count > 0 && rng_chance(rng, 1, 3)) {
        write_torn(fd, &trace->ops[file->pending.at[count - 1]], rng);
        return;
    }
    uint64_t *order = must(malloc((count + 1) * sizeof *order));
    for (size_t i = 0; i < count; i++) {
        size_t other = (size_t)rng_below(rng, i + 1);
        order[i] = i;
        order[i] = order[other];
        order[other] = i;
    }
    for (size_t i = 0; i < count; i++) {
        const Op *op = &trace->ops[file->pending.at[order[i]]];
        switch (rng_below(rng, 4)) {
        case 0:
            break;
        case 1:
            write_part(fd, op, 0, op->len);
            break;
        default:
            write_torn(fd, op, rng);
            break;
        }
    }
    free(order);
}

static void save(const CrashTrace *trace, const SimName *name, CrashFate fate, Rng *rng,
                 const char *dir)
{
    const SimFile *file = name->file;
    char path[MAX_PATH];

    snprintf(path, sizeof path, "%s/%s", dir, name->name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    EXPECT(fd >= 0 && ftruncate(fd, (off_t)file->size) == 0, "cannot write %s", path);
    for (size_t i = 0; i < file->block_count && i * BLOCK < file->size; i++) {
        size_t left = (size_t)file->size - i * BLOCK;
        size_t len = left < BLOCK ? left : BLOCK;
        EXPECT(file->blocks[i] == NULL ||
                   pwrite(fd, file->blocks[i], len, (off_t)(i * BLOCK)) == (ssize_t)len,
               "cannot write %s", path);
    }
    if (fate == CRASH_KEEP) {
        for (size_t i = 0; i < file->pending.count; i++) {
            const Op *op = &trace->ops[file->pending.at[i]];
            write_part(fd, op, 0, op->len);
        }
    } else if (fate == CRASH_RANDOM) {
        write_some(trace, file, fd, rng);
    }
    close(fd);
}

void crash_build(CrashTrace *trace, size_t length, CrashFate fate, Rng *rng, const char *dir)
{
    sim_advance(trace, length);
    const Sim *sim = trace->sim;
    SimDir *names = must(malloc(sizeof *names));
    *names = sim->durable;
    for (size_t i = 0; i < sim->pending.count; i++) {
        const Op *op = &trace->ops[sim->pending.at[i]];
        if (fate == CRASH_KEEP || (fate == CRASH_RANDOM && rng_chance(rng, 1, 2))) {
            apply_to_dir(names, op, by_id(sim, op->file));
        }
    }
    for (size_t i = 0; i < names->count; i++) {
        save(trace, &names->names[i], fate, rng, dir);
    }
    free(names);
}

#endif

/* ---- Directories ---------------------------------------------------------------------------- */

#define DIR_PREFIX "sapling-test-"

static bool try_empty(const char *dir)
{
    DIR *stream = opendir(dir);

    if (stream == NULL) {
        return false;
    }
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        if (entry->d_name[0] != '.') {
            unlinkat(dirfd(stream), entry->d_name, 0);
        }
    }
    closedir(stream);
    return true;
}

/* The directories are named by the process that made them. Another test may be removing the same
 * ones. */
static void remove_left_behind(const char *parent)
{
    DIR *stream = opendir(parent);

    EXPECT(stream != NULL, "cannot list %s", parent);
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        char path[MAX_PATH];
        char *end = NULL;
        if (strncmp(entry->d_name, DIR_PREFIX, strlen(DIR_PREFIX)) != 0) {
            continue;
        }
        long pid = strtol(entry->d_name + strlen(DIR_PREFIX), &end, 10);
        if (pid > 0 && *end == '-' && kill((pid_t)pid, 0) != 0 && errno == ESRCH) {
            snprintf(path, sizeof path, "%s/%s", parent, entry->d_name);
            (void)try_empty(path);
            rmdir(path);
        }
    }
    closedir(stream);
}

void crash_dir_make(char *out, size_t size, bool in_memory)
{
    const char *tmp = getenv("TMPDIR");
    in_memory = in_memory && getenv("SAP_TEST_ON_DISK") == NULL;
    const char *parent = in_memory && access("/dev/shm", W_OK) == 0 ? "/dev/shm"
                         : tmp != NULL && *tmp != '\0'              ? tmp
                                                                    : "/tmp";

    remove_left_behind(parent);
    int len = snprintf(out, size, "%s/" DIR_PREFIX "%ld-XXXXXX", parent, (long)getpid());
    EXPECT(len > 0 && (size_t)len < size && mkdtemp(out) != NULL, "no directory in %s", parent);
}

void crash_dir_empty(const char *dir)
{
    EXPECT(try_empty(dir), "cannot list %s", dir);
}

void crash_dir_remove(const char *dir)
{
    crash_dir_empty(dir);
    rmdir(dir);
}
