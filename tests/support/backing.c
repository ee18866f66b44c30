#include "support/backing.h"

#include "support/expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Sits in front of each custom block and says how long it is. */
typedef struct BlockHead {
    uint64_t magic;
    uint64_t size;
} BlockHead;

static const uint64_t block_magic = UINT64_C(0x5ab10c5ab10c5ab1);

_Static_assert(sizeof(BlockHead) == 16, "a block behind its head must be aligned to 16");

static void *custom_alloc(void *ctx, uint32_t size)
{
    Backing *backing = ctx;

    backing->calls++;
    if (backing->fail_at != 0 && backing->calls == backing->fail_at) {
        backing->failed++;
        return NULL;
    }
    BlockHead *head = NULL;
    if (posix_memalign((void **)&head, 16, sizeof *head + (size_t)size) != 0) {
        return NULL;
    }
    head->magic = block_magic;
    head->size = size;
    backing->live++;
    backing->live_size += size;
    memset(head + 1, 0xa5, size);
    return head + 1;
}

static void custom_free(void *ctx, void *page, uint32_t size)
{
    Backing *backing = ctx;

    EXPECT(page != NULL, "the custom free_page got NULL");
    BlockHead *head = (BlockHead *)page - 1;
    EXPECT(head->magic == block_magic, "the custom free_page got what it never handed out");
    EXPECT(head->size == size, "the custom free_page got %u bytes instead of %llu", size,
           (unsigned long long)head->size);
    head->magic = 0;
    backing->live--;
    backing->live_size -= size;
    free(head);
}

int backing_temp_file(void)
{
    const char *base = getenv("TMPDIR");
    char dir[512];
    char path[600];

    snprintf(dir, sizeof dir, "%s/sapling-test-XXXXXX", base != NULL ? base : "/tmp");
    EXPECT(mkdtemp(dir) != NULL, "no temporary directory %s", dir);
    snprintf(path, sizeof path, "%s/arena-XXXXXX", dir);
    int fd = mkstemp(path);
    EXPECT(fd >= 0, "no temporary file %s", path);
    unlink(path);
    rmdir(dir);
    return fd;
}

void backing_options(Backing *backing, uint32_t page_size, uint64_t max_bytes,
                     SapArenaOptions *options_out)
{
    static const SapArenaBacking types[BACKING_KIND_COUNT] = {
        SAP_ARENA_BACKING_MALLOC,  SAP_ARENA_BACKING_MMAP,   SAP_ARENA_BACKING_MMAP,
        SAP_ARENA_BACKING_WASI_FD, SAP_ARENA_BACKING_LINEAR, SAP_ARENA_BACKING_CUSTOM};

    memset(options_out, 0, sizeof *options_out);
    options_out->type = types[backing->kind];
    options_out->page_size = page_size;
    switch (backing->kind) {
    case BACKING_MMAP_ANON:
    case BACKING_MMAP_FILE:
    case BACKING_WASI_FD:
        options_out->cfg.mmap.fd = backing->fd;
        options_out->cfg.mmap.max_size = max_bytes;
        break;
    case BACKING_LINEAR:
        options_out->cfg.linear.initial_bytes = page_size;
        options_out->cfg.linear.max_bytes = max_bytes;
        break;
    case BACKING_CUSTOM:
        options_out->cfg.custom.alloc_page = custom_alloc;
        options_out->cfg.custom.free_page = custom_free;
        options_out->cfg.custom.ctx = backing;
        break;
    default:
        break;
    }
}

void backing_open(Backing *backing, BackingKind kind, uint32_t page_size, uint64_t max_bytes)
{
    SapArenaOptions options;

    memset(backing, 0, sizeof *backing);
    backing->kind = kind;
    backing->fd = kind == BACKING_MMAP_FILE ? backing_temp_file() : -1;
    backing_options(backing, page_size, max_bytes, &options);
    EXPECT_RC(sap_arena_init(&backing->arena, &options), SAP_OK);
}

void backing_close(Backing *backing)
{
    uint64_t active = sap_arena_active_pages(backing->arena);

    EXPECT(active == 0, "%llu pages of the %s arena are still handed out",
           (unsigned long long)active, backing_name(backing->kind));
    sap_arena_destroy(backing->arena);
    EXPECT(backing->live == 0 && backing->live_size == 0,
           "the custom functions miss %llu blocks with %llu bytes",
           (unsigned long long)backing->live, (unsigned long long)backing->live_size);
    if (backing->fd >= 0) {
        close(backing->fd);
    }
}

const char *backing_name(BackingKind kind)
{
    static const char *const names[BACKING_KIND_COUNT] = {
        "malloc", "anonymous mmap", "file mmap", "WASI file", "linear", "custom"};
    return names[kind];
}

void backing_fail_at(Backing *backing, uint64_t nth)
{
    backing->fail_at = nth == 0 ? 0 : backing->calls + nth;
}
