/* forge.h - a database file made wrong on purpose: bytes changed, checksums made right again.
 *
 * The pages that the newest meta tells of, and the log segment that it begins with, in memory.
 * A copy that was never opened has no log. */
#ifndef SAPLING_TESTS_FORGE_H
#define SAPLING_TESTS_FORGE_H

#include "sapling/file_format.h"
#include "support/files.h"

typedef struct Forge {
    uint8_t *data;
    size_t data_size;
    uint8_t *log;
    size_t log_size;
    Meta meta; /* the newest when it was read */
} Forge;

/* Release with forge_free(). */
void forge_read(Forge *forge, const char *path);
void forge_free(Forge *forge);
/* Makes `to`, which is empty or was copied from the same, a copy. */
void forge_copy(Forge *to, const Forge *from);
/* Over what is there. */
void forge_write_data(const Forge *forge, const char *path);
void forge_write_log(const Forge *forge, const char *path);

/* How many, those of the header included. */
uint32_t forge_pages(const Forge *forge);
uint8_t *forge_page(Forge *forge, uint32_t pgno);
/* The first copy of the newest meta. */
uint8_t *forge_meta(Forge *forge);

/* Gives a page, or the run that begins there and lies within the file, the checksum of its bytes. */
void forge_seal_page(Forge *forge, uint32_t pgno);
/* The same for the newest meta; its second copy becomes the same. */
void forge_seal_meta(Forge *forge);
/* The same for all groups of the log, one after the other. */
void forge_seal_log(Forge *forge);

#endif
