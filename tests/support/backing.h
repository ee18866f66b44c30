/* backing.h - an arena of each kind for tests, with everything it needs and leaves behind.
 *
 * The custom kind counts what it hands out, checks that it gets back exactly that, and can fail
 * at the n-th call. The file of the file-backed kind lies in a directory of its own, which is
 * removed. */
#ifndef SAPLING_TESTS_BACKING_H
#define SAPLING_TESTS_BACKING_H

#include <stdbool.h>
#include <stdint.h>

#include "sapling/arena.h"

typedef enum BackingKind {
    BACKING_MALLOC,
    BACKING_MMAP_ANON,
    BACKING_MMAP_FILE,
    BACKING_WASI_FD,
    BACKING_LINEAR,
    BACKING_CUSTOM,
    BACKING_KIND_COUNT
} BackingKind;

typedef struct Backing {
    BackingKind kind;
    SapMemArena *arena;
    int fd;             /* -1 unless BACKING_MMAP_FILE */
    uint64_t calls;     /* custom: of alloc_page so far */
    uint64_t fail_at;   /* custom: the call that answers NULL; 0: none */
    uint64_t failed;    /* custom: how many did */
    uint64_t live;      /* custom: blocks handed out and not back */
    uint64_t live_size; /* custom: their bytes */
} Backing;

/* At most `max_bytes` where the kind has a bound. Aborts when the arena cannot be made. */
void backing_open(Backing *backing, BackingKind kind, uint32_t page_size, uint64_t max_bytes);

/* Expects that no page is handed out any more, destroys the arena, and expects that the custom
 * functions got everything back. */
void backing_close(Backing *backing);

const char *backing_name(BackingKind kind);

/* A new empty file without a name; -1 never: it aborts instead. The caller closes it. */
int backing_temp_file(void);

/* Fails the n-th call of the custom alloc_page from now; 0: none. */
void backing_fail_at(Backing *backing, uint64_t nth);

/* What backing_open() passes to sap_arena_init(). */
void backing_options(Backing *backing, uint32_t page_size, uint64_t max_bytes,
                     SapArenaOptions *options_out);

#endif
