/* pieces.c - see pieces.h. */
#include "sapling/pieces.h"

#include <string.h>

#include "common/mem.h"

int pieces_init(Pieces *pieces, sap_write_fn write, void *ctx)
{
    *pieces = (Pieces){.write = write, .ctx = ctx};
    pieces->piece = (uint8_t *)mem_alloc(MEM_SCRATCH, PIECE_BYTES);
    return pieces->piece != NULL ? SAP_OK : SAP_NOMEM;
}

void pieces_release(Pieces *pieces)
{
    mem_free(MEM_SCRATCH, pieces->piece, PIECE_BYTES);
    pieces->piece = NULL;
}

int pieces_flush(Pieces *pieces)
{
    int rc = pieces->len > 0 ? pieces->write(pieces->piece, pieces->len, pieces->ctx) : SAP_OK;
    pieces->len = 0;
    return rc;
}

/* How much of `len` bytes the piece takes. */
static uint32_t part_of(const Pieces *pieces, size_t len)
{
    uint32_t room = PIECE_BYTES - pieces->len;
    return len < room ? (uint32_t)len : room;
}

static int grow(Pieces *pieces, uint32_t part)
{
    pieces->len += part;
    return pieces->len == PIECE_BYTES ? pieces_flush(pieces) : SAP_OK;
}

int pieces_put(Pieces *pieces, const void *bytes, size_t len)
{
    const uint8_t *from = (const uint8_t *)bytes;
    int rc = SAP_OK;
    while (len > 0 && rc == SAP_OK) {
        uint32_t part = part_of(pieces, len);
        memcpy(pieces->piece + pieces->len, from, part);
        from += part;
        len -= part;
        rc = grow(pieces, part);
    }
    return rc;
}

int pieces_put_zeros(Pieces *pieces, size_t len)
{
    int rc = SAP_OK;
    while (len > 0 && rc == SAP_OK) {
        uint32_t part = part_of(pieces, len);
        memset(pieces->piece + pieces->len, 0, part);
        len -= part;
        rc = grow(pieces, part);
    }
    return rc;
}
