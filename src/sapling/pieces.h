/* pieces.h - bytes on their way to a caller's function, collected to pieces of moderate size. */
#ifndef SAPLING_SAPLING_PIECES_H
#define SAPLING_SAPLING_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "sapling/sapling.h"

enum { PIECE_BYTES = 64 * 1024 };

typedef struct Pieces {
    sap_write_fn write;
    void *ctx;
    uint32_t len;
    uint8_t *piece;
} Pieces;

/* SAP_NOMEM: nothing to release. */
int pieces_init(Pieces *pieces, sap_write_fn write, void *ctx);
void pieces_release(Pieces *pieces);

/* Each answers what the function did, if it was called and refused. */
int pieces_put(Pieces *pieces, const void *bytes, size_t len);
int pieces_put_zeros(Pieces *pieces, size_t len);
/* What was collected so far is written. */
int pieces_flush(Pieces *pieces);

#endif
