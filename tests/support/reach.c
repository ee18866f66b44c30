#include "support/reach.h"

#include "sapling/file_format.h"
#include "support/expect.h"
#include "support/files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MORE_PAGES = 20 };

/* False: there is no valid one. */
static bool newest_meta(const uint8_t *bytes, size_t size, Meta *meta_out)
{
    bool found = false;

    for (size_t at = 0; at < FILE_HEADER && at + META_SIZE <= size; at += FILE_BLOCK) {
        Meta meta;
        uint32_t version = 0;
        if (meta_decode(bytes + at, &meta, &version) == META_VALID &&
            (!found || meta.number > meta_out->number)) {
            *meta_out = meta;
            found = true;
        }
    }
    return found;
}

static bool is_reached(const uint8_t *bytes, const Meta *meta, uint64_t page)
{
    const uint8_t *bitmap = bytes + (size_t)meta->bitmap * meta->page_size + PAGE_HEADER;

    if (page >= meta->states && page < (uint64_t)meta->states + meta->states_pages) {
        return true;
    }
    if (meta->bitmap == 0) {
        return false;
    }
    if (page >= meta->bitmap && page < (uint64_t)meta->bitmap + meta->bitmap_pages) {
        return true;
    }
    return page < meta->high && (bitmap[page / 8] >> page % 8 & 1) != 0;
}

uint64_t reach_spoil(const char *path, Rng *rng)
{
    size_t size = 0;
    uint64_t spoiled = 0;
    Meta meta = {0};

    if (access(path, F_OK) != 0) {
        return 0;
    }
    uint8_t *bytes = files_read(path, &size);
    bool valid = newest_meta(bytes, size, &meta);
    size_t page_size = valid ? meta.page_size : FILE_BLOCK;
    uint64_t first = valid ? file_first_page(meta.page_size) : FILE_HEADER / FILE_BLOCK;
    EXPECT(!valid || (uint64_t)(meta.bitmap + meta.bitmap_pages) * page_size <= size,
           "the bitmap of a valid meta lies behind the end of the file");
    uint64_t pages = size / page_size;
    uint64_t more = valid && rng_chance(rng, 1, 4) ? rng_range(rng, 1, MORE_PAGES) : 0;
    size_t all = (size_t)(pages + more) * page_size;
    uint8_t *after = malloc(all + size);
    EXPECT(after != NULL, "no memory");
    memcpy(after, bytes, size);
    for (uint64_t page = first; page < pages + more; page++) {
        if (!valid || page >= pages || !is_reached(bytes, &meta, page)) {
            rng_bytes(rng, after + page * page_size, page_size);
            spoiled++;
        }
    }
    files_write_at(path, 0, after, more > 0 ? all : size);
    free(after);
    free(bytes);
    return spoiled;
}
