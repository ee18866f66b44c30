/* disk.h - the few file operations of the engine.
 *
 * Each call does all of its work or fails; interrupted and short transfers are continued. Each asks
 * fault_io() once before it touches the file system. After a failed write or sync the bytes in
 * question are undefined, on disk and in the cache: a second sync that succeeds proves nothing.
 *
 * Codes: SAP_FULL no space (or quota, or file size limit); SAP_NOTFOUND no such file; SAP_EXISTS;
 * SAP_NOMEM: no memory or no free descriptor, nothing was tried, which a sync never answers once it
 * began; SAP_IO everything else. errno tells more. */
#ifndef SAPLING_SAPLING_DISK_H
#define SAPLING_SAPLING_DISK_H

#include "common/buf.h"
#include "common/config.h"
#include "common/sync.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All between `offset` and `end` that disk_write_back sends at a time. */
typedef struct DiskPiece {
    uint64_t offset;
    uint64_t end;
    uint64_t bytes; /* of it */
} DiskPiece;

typedef struct DiskFile {
    int fd;            /* -1: not open */
    bool direct;       /* as it is open now, writes go past the cache */
    bool never_direct; /* the file system does not take such writes */
    uint64_t id;       /* names this opening in a trace */
    DiskPiece sending; /* being put together */
    DiskPiece sent;    /* the one before */
} DiskFile;

enum {
    DISK_PIECE_BYTES = 1 << 20,
    DISK_ALIGN = 4096, /* what offset, length and memory of a direct write are multiples of */
};

#define DISK_FILE_NONE ((DiskFile){.fd = -1})

/* Opens a new file for reading and writing; SAP_EXISTS. Close with disk_close. Its name is durable
 * after disk_sync_dir, its bytes after disk_sync. */
int disk_create(const char *path, DiskFile *file_out);

/* The same with owner and permissions of the file `model`, where there is one. */
int disk_create_like(const char *path, const char *model, DiskFile *file_out);

/* Opens what exists for reading and writing. Close with disk_close. */
int disk_open(const char *path, DiskFile *file_out);

/* The same for reading only. */
int disk_open_read(const char *path, DiskFile *file_out);

/* Accepts a file that is not open; leaves one. Does not sync. */
void disk_close(DiskFile *file);

int disk_write(DiskFile *file, uint64_t offset, const void *data, size_t len);

/* The same past the system's cache, where the file system can do that: worth it where the write is
 * short, overwrites what is on disk already and is synced at once. All three are multiples of
 * DISK_ALIGN; one that is not is done as any other, and so are those after it. */
int disk_write_direct(DiskFile *file, uint64_t offset, const void *data, size_t len);

/* Makes room for `extra` more bytes, in memory that a direct write can take. SAP_NOMEM: it is as it
 * was. Release with disk_room_release; no other call of buf.h may grow or release it. */
int disk_room_reserve(Buf *room, size_t extra);
void disk_room_release(Buf *room);

/* Zeros for the bytes from..to. */
int disk_write_zeros(DiskFile *file, uint64_t from, uint64_t to);

/* Whether what the file has can be overwritten without room, holes apart: its file system writes blocks
 * in place and shares none with other files. False also where that is not known. */
bool disk_overwrites_in_place(int fd);

/* Writes the bytes from..to as they are, so that overwriting them finds room. They are the same whatever
 * comes of it. */
int disk_claim(DiskFile *file, uint64_t from, uint64_t to);

/* SAP_CORRUPT: the file ends before `len` bytes. */
int disk_read(DiskFile *file, uint64_t offset, void *out, size_t len);

/* Bytes and size of the file are on disk. */
int disk_sync(DiskFile *file);

#if SAP_FILE_MAPPED
/* Bytes written through a mapping start on their way to disk. What is under way stays bounded: after
 * each DISK_PIECE_BYTES those of the piece before are waited for. Proves nothing; disk_sync does. */
int disk_write_back(DiskFile *file, uint64_t offset, uint64_t len);
#endif

int disk_size(DiskFile *file, uint64_t *size_out);

/* Whether an errno says that there is no room, which is SAP_FULL. */
bool disk_errno_full(int err);

/* The file that the links of `path` lead to, in `resolved`, which has PATH_MAX bytes. The path as it
 * is where there is no such file; and on WASI, which has no way to ask. */
const char *disk_real_path(const char *path, char *resolved);

/* The names in the directory that holds `path` are on disk. */
int disk_sync_dir(const char *path);

/* Whether this user may make and remove names in the directory that holds `path`, as far as the system
 * says: SAP_IO, errno tells. */
int disk_check_names(const char *path);

/* Replaces `to`, where there is one. */
int disk_rename(const char *from, const char *to);
int disk_unlink(const char *path);

/* Calls `each` with what follows `prefix` in the path of every file that has it, in no order. A
 * result other than SAP_OK ends the listing and is returned. */
int disk_list(const char *prefix, int (*each)(void *ctx, const char *rest), void *ctx);

#if SAP_FAULTS

typedef enum {
    DISK_CREATE,
    DISK_OPEN,
    DISK_WRITE,
    DISK_SYNC,
    DISK_SYNC_DIR,
    DISK_RENAME,
    DISK_UNLINK
} DiskOp;

/* An operation that succeeded. All pointers are borrowed for the call. */
typedef struct DiskEvent {
    DiskOp op;
    uint64_t file;    /* DiskFile.id, where there is one */
    const char *path; /* all but DISK_WRITE, DISK_SYNC */
    const char *to;   /* DISK_RENAME */
    uint64_t offset;  /* DISK_WRITE */
    const void *data; /* DISK_WRITE */
    size_t len;       /* DISK_WRITE */
} DiskEvent;

/* Shows every operation from now on, in order; NULL ends it. Set it while no other thread is at
 * work on files. */
void disk_trace_set(void (*trace)(void *ctx, const DiskEvent *event), void *ctx);

/* For tests: there is no room for a new file; what is there can be written. */
extern SAP_ATOMIC(bool) disk_is_full;

#endif

#endif
