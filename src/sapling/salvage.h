/* salvage.h - reading a data file of which any part may be damaged.
 *
 * Nothing is written, and nothing is trusted but checksums: a page counts if it is at its place, its
 * checksum fits the database's id, its bytes are a node or a run, and it is not younger than the
 * checkpoint. A page with a right checksum was part of a checkpoint once, since pages get theirs only
 * then; that it still is, only the bitmap or a way from the root tells.
 *
 * Where the header is lost:
 *   - id and page size are those with which pages verify. Ids to try are in what is left of the
 *     header, and in the log. If there is none (`id_known` false), pages are judged by their bytes
 *     alone, and only those count that a bitmap names.
 *   - the bitmap is the youngest run of the catalog's table, which has no other runs; its birth is
 *     the checkpoint's commit. The states of subsystems are the run of their table that is as old. */
#ifndef SAPLING_SAPLING_SALVAGE_H
#define SAPLING_SAPLING_SALVAGE_H

#include "common/buf.h"
#include "sapling/disk.h"
#include "sapling/file_format.h"

typedef struct Salvage {
    const char *path; /* borrowed */
    DiskFile file;
    uint64_t size;
    uint32_t copies_damaged; /* of the metas */

    bool has_meta; /* `meta` is that of the newest checkpoint */
    Meta meta;
    uint64_t db_id;
    bool id_known;
    uint32_t page_size;
    uint32_t high;   /* pages that are looked at have numbers below it */
    uint64_t newest; /* the checkpoint's commit; UINT64_MAX: not known */
    uint32_t states; /* the checkpoint's run of subsystems' states; 0: none, or not known */
    bool had_states; /* without a meta: there is such a run, of this checkpoint or another */

    size_t words;
    uint64_t *used; /* the checkpoint's pages; NULL: not known */
    uint64_t *seen; /* for the caller: pages that need not be looked for any more */
    uint8_t *page;  /* for salvage_each() */
} Salvage;

/* Looks at the file, open in salvage->file, as far as that it can be read. Release with
 * salvage_release() in any case. SAP_INVALID: nothing of it looks like a Sapling database. */
int salvage_begin(Salvage *s, const char *path);
void salvage_release(Salvage *s);

/* Reads a node to `page`. *damage_out: what is wrong with it, or NULL. Codes: SAP_IO, SAP_NOMEM. */
int salvage_node(Salvage *s, uint32_t pgno, uint8_t *page, const char **damage_out);
/* Reads a run, header and value, to `run`, which is emptied first. */
int salvage_run(Salvage *s, uint32_t pgno, Buf *run, const char **damage_out);

/* Calls `fn` for every sound node and the first page of every sound run among the checkpoint's pages,
 * or where those are not known among all pages. The inner pages of runs are none. */
int salvage_each(Salvage *s, int (*fn)(void *ctx, const uint8_t *page), void *ctx);

#endif
