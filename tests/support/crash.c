/* crash.c - see crash.h. */
#include "support/crash.h"

#include "sapling/disk.h"
#include "support/expect.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if SAP_FAULTS

enum { SECTOR = 512, MAX_FILES = 512, MAX_OPS = 16384, MAX_NAME = 128, MAX_PATH = 512 };

typedef struct Op {
    DiskOp op;
    bool is_mark;
    uint64_t file; /* or the mark */
    char name[MAX_NAME];
    char to[MAX_NAME];
    uint64_t offset;
    uint8_t *data;
    size_t len;
} Op;

struct CrashTrace {
    Op ops[MAX_OPS];
    size_t count;
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
    EXPECT(trace->count < MAX_OPS, "a run too long for the trace");
    return &trace->ops[trace->count++];
}

static void record(void *ctx, const DiskEvent *event)
{
    Op *op = add(ctx);

    op->op = event->op;
    op->file = event->file;
    copy_base(op->name, event->path);
    copy_base(op->to, event->to);
    op->offset = event->offset;
    op->len = event->len;
    if (event->op == DISK_WRITE) {
        op->data = malloc(event->len + 1);
        EXPECT(op->data != NULL, "no memory");
        memcpy(op->data, event->data, event->len);
    }
}

CrashTrace *crash_trace_start(void)
{
    CrashTrace *trace = calloc(1, sizeof *trace);

    EXPECT(trace != NULL, "no memory");
    disk_trace_set(record, trace);
    return trace;
}

void crash_trace_stop(CrashTrace *trace)
{
    (void)trace;
    disk_trace_set(NULL, NULL);
}

void crash_trace_free(CrashTrace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        free(trace->ops[i].data);
    }
    free(trace);
}

void crash_mark(CrashTrace *trace, uint64_t mark)
{
    Op *op = add(trace);

    op->is_mark = true;
    op->file = mark;
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

/* ---- A disk --------------------------------------------------------------------------------- */

typedef struct SimFile {
    uint8_t *bytes; /* as on disk */
    size_t size;
    size_t pending[MAX_FILES]; /* writes since the last sync */
    size_t pending_count;
} SimFile;

typedef struct SimName {
    char name[MAX_NAME];
    SimFile *file;
} SimName;

typedef struct SimDir {
    SimName names[MAX_FILES];
    size_t count;
} SimDir;

typedef struct Sim {
    const CrashTrace *trace;
    SimFile *files[MAX_FILES];
    size_t file_count;
    SimFile *by_id[MAX_OPS];
    SimDir seen;    /* by the running program */
    SimDir durable; /* by whoever comes after the cut */
    size_t pending[MAX_OPS];
    size_t pending_count;
} Sim;

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
        EXPECT(dir->count < MAX_FILES, "too many files");
        entry = &dir->names[dir->count++];
        snprintf(entry->name, sizeof entry->name, "%s", name);
    }
    entry->file = file;
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

static void write_part(SimFile *file, const Op *op, size_t from, size_t len)
{
    size_t end = (size_t)op->offset + from + len;

    if (end > file->size) {
        uint8_t *grown = realloc(file->bytes, end);
        EXPECT(grown != NULL, "no memory");
        memset(grown + file->size, 0, end - file->size);
        file->bytes = grown;
        file->size = end;
    }
    memcpy(file->bytes + op->offset + from, op->data + from, len);
}

static void write_torn(SimFile *file, const Op *op, Rng *rng)
{
    uint64_t keep_in_8 = rng_range(rng, 1, 7);

    for (size_t from = 0; from < op->len; from += SECTOR) {
        if (rng_chance(rng, keep_in_8, 8)) {
            write_part(file, op, from, op->len - from < SECTOR ? op->len - from : SECTOR);
        }
    }
}

static void sync_file(Sim *sim, SimFile *file)
{
    for (size_t i = 0; i < file->pending_count; i++) {
        const Op *op = &sim->trace->ops[file->pending[i]];
        write_part(file, op, 0, op->len);
    }
    file->pending_count = 0;
}

static void sync_dir(Sim *sim)
{
    for (size_t i = 0; i < sim->pending_count; i++) {
        const Op *op = &sim->trace->ops[sim->pending[i]];
        apply_to_dir(&sim->durable, op, sim->by_id[op->file]);
    }
    sim->pending_count = 0;
}

static void run_op(Sim *sim, size_t at)
{
    const Op *op = &sim->trace->ops[at];
    SimFile *file = sim->by_id[op->file];

    switch (op->op) {
    case DISK_CREATE:
        file = calloc(1, sizeof *file);
        EXPECT(file != NULL && sim->file_count < MAX_FILES, "too many files");
        sim->files[sim->file_count++] = file;
        sim->by_id[op->file] = file;
        break;
    case DISK_OPEN:
        EXPECT(find(&sim->seen, op->name) != NULL, "a file is opened that is not in the trace");
        sim->by_id[op->file] = find(&sim->seen, op->name)->file;
        return;
    case DISK_WRITE:
        EXPECT(file->pending_count < MAX_FILES, "too many writes without a sync");
        file->pending[file->pending_count++] = at;
        return;
    case DISK_SYNC:
        sync_file(sim, file);
        return;
    case DISK_SYNC_DIR:
        sync_dir(sim);
        return;
    case DISK_RENAME:
    case DISK_UNLINK:
        break;
    }
    apply_to_dir(&sim->seen, op, file);
    sim->pending[sim->pending_count++] = at;
}

/* Now and then nothing but a part of the newest write is there: the order least expected. */
static void cut_file(Sim *sim, SimFile *file, Rng *rng)
{
    if (file->pending_count > 0 && rng_chance(rng, 1, 3)) {
        write_torn(file, &sim->trace->ops[file->pending[file->pending_count - 1]], rng);
        return;
    }
    for (size_t i = 0; i < file->pending_count; i++) {
        size_t other = i + (size_t)rng_below(rng, file->pending_count - i);
        size_t at = file->pending[other];
        file->pending[other] = file->pending[i];
        file->pending[i] = at;
        const Op *op = &sim->trace->ops[at];
        switch (rng_below(rng, 4)) {
        case 0:
            break;
        case 1:
            write_part(file, op, 0, op->len);
            break;
        default:
            write_torn(file, op, rng);
            break;
        }
    }
}

static void cut(Sim *sim, CrashFate fate, Rng *rng)
{
    if (fate == CRASH_KEEP) {
        sync_dir(sim);
        for (size_t i = 0; i < sim->file_count; i++) {
            sync_file(sim, sim->files[i]);
        }
    } else if (fate == CRASH_RANDOM) {
        for (size_t i = 0; i < sim->pending_count; i++) {
            const Op *op = &sim->trace->ops[sim->pending[i]];
            if (rng_chance(rng, 1, 2)) {
                apply_to_dir(&sim->durable, op, sim->by_id[op->file]);
            }
        }
        for (size_t i = 0; i < sim->file_count; i++) {
            cut_file(sim, sim->files[i], rng);
        }
    }
}

static void save(const SimDir *names, const char *dir)
{
    for (size_t i = 0; i < names->count; i++) {
        char path[MAX_PATH];
        snprintf(path, sizeof path, "%s/%s", dir, names->names[i].name);
        FILE *out = fopen(path, "wb");
        const SimFile *file = names->names[i].file;
        EXPECT(out != NULL, "cannot create %s", path);
        EXPECT(fwrite(file->bytes, 1, file->size, out) == file->size, "cannot write %s", path);
        EXPECT(fclose(out) == 0, "cannot write %s", path);
    }
}

void crash_build(const CrashTrace *trace, size_t length, CrashFate fate, Rng *rng, const char *dir)
{
    Sim *sim = calloc(1, sizeof *sim);

    EXPECT(sim != NULL, "no memory");
    sim->trace = trace;
    for (size_t i = 0; i < length; i++) {
        if (!trace->ops[i].is_mark) {
            run_op(sim, i);
        }
    }
    cut(sim, fate, rng);
    save(&sim->durable, dir);
    for (size_t i = 0; i < sim->file_count; i++) {
        free(sim->files[i]->bytes);
        free(sim->files[i]);
    }
    free(sim);
}

#endif

/* ---- Directories ---------------------------------------------------------------------------- */

void crash_dir_make(char *out, size_t size, bool in_memory)
{
    const char *tmp = getenv("TMPDIR");
    const char *parent = in_memory && access("/dev/shm", W_OK) == 0 ? "/dev/shm"
                         : tmp != NULL && *tmp != '\0'              ? tmp
                                                                    : "/tmp";

    int len = snprintf(out, size, "%s/sapling-test-XXXXXX", parent);
    EXPECT(len > 0 && (size_t)len < size && mkdtemp(out) != NULL, "no directory in %s", parent);
}

void crash_dir_empty(const char *dir)
{
    DIR *stream = opendir(dir);

    EXPECT(stream != NULL, "cannot list %s", dir);
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        if (entry->d_name[0] != '.') {
            unlinkat(dirfd(stream), entry->d_name, 0);
        }
    }
    closedir(stream);
}

void crash_dir_remove(const char *dir)
{
    crash_dir_empty(dir);
    rmdir(dir);
}
