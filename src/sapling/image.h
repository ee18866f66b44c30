/* image.h - a snapshot as the bytes of a complete data file, which needs no log.
 *
 *   header | pages of the tables | catalog | states of subsystems | bitmap
 *
 * The image has an id of its own, so that neither side's log can be taken for the other's, and no
 * free page. Its catalog is made anew: the tables' roots have other numbers, and a DB in memory has
 * no definitions in its own. Pages are numbered in the order they are written in; whoever makes the
 * image decides in which order the pages of the tables come.
 *
 * Life: image_begin(); `next` moves over the pages of the tables and `trees` gets their roots;
 * image_finish() then knows the rest. image_put_header() may so be first or last. */
#ifndef SAPLING_SAPLING_IMAGE_H
#define SAPLING_SAPLING_IMAGE_H

#include "common/buf.h"
#include "sapling/dbfile.h"
#include "sapling/pieces.h"

typedef struct Image {
    SapTxnCtx *txn; /* a reader: its snapshot is what the image shows */
    uint32_t page_size;
    uint64_t db_id;
    uint64_t next;    /* number of the next page; may pass what numbers there are */
    TreeState *trees; /* of the tables, as the image has them */
    uint32_t table_count;
    uint8_t *page;   /* the one being made */
    Buf catalog;     /* from here on by image_finish() */
    uint8_t *bitmap; /* NULL: there is none, no page being in use */
    Buf saved;       /* the subsystems' states; empty: none */
    Meta meta;
} Image;

/* SAP_ERROR: pages that no file has, or a table with a comparator without a name. SAP_NOMEM, SAP_IO
 * (no random id). Release with image_release() in any case. */
int image_begin(Image *image, SapTxnCtx *txn);
void image_release(Image *image);

/* A page of zeros with the next number and this birth; sealed and written. */
uint8_t *image_make_page(Image *image, uint64_t birth);
int image_put_page(Image *image, Pieces *out);
/* A value of a table as a run with that number. */
int image_put_run(const Image *image, Pieces *out, uint32_t pgno, uint32_t dbi, uint64_t birth,
                  const void *val, uint32_t len);

/* All pages of the tables are counted. SAP_FULL: they are more than a file can have. A subsystem's
 * code. */
int image_finish(Image *image);
/* The bytes before the first page. */
int image_put_header(const Image *image, Pieces *out);
/* Those behind the last page of the tables. */
int image_put_end(const Image *image, Pieces *out);

#endif
