/* blob.h - bytes of any size, under their SHA-256, in the store itself. For the layers above the store.
 *
 * A blob is bytes, and its name is their SHA-256, whatever their number: whoever has the bytes can
 * compute it, and whoever reads them can check it. The same bytes are one blob, however often they
 * are put.
 *
 * IN THE STORE
 *
 *   blobs/head/<name>         kind, size, and when it was last put
 *   blobs/content/<name>      up to 256 KiB
 *   blobrefs/<name>/<owner>   somebody needs it
 *
 * A blob of up to BLOB_CHUNK_BYTES has its bytes as content. A larger one is cut into chunks of that
 * size, each a blob of its own. Its content names them; where these are more than BLOB_FANOUT, it names
 * lists, which are blobs whose content names chunks or further lists, BLOB_FANOUT at most each, all
 * chunks at the same depth. Blobs that have chunks or lists in common share them.
 *
 *   blob of 40 MiB            [list 1 | list 2 | list 3]        depth 2
 *   lists                     [c1 ... c63] [c64 ... c126] [c127 ... c160]
 *
 * LIFE
 *
 * A blob lives as long as there is a reference to it, and at least 24 hours of lease time after it was
 * put, or put again. So:
 *
 *   1. put it (blob_write_begin() to blob_write_finish()), which takes as many transactions as needed;
 *   2. within 24 hours, in the transaction that makes it matter, guard it and put a reference;
 *   3. delete the reference in the transaction after which it no longer matters.
 *
 * A reference to a blob that is gone is refused with SAP_NOTFOUND: put the blob again, then try again.
 * Step 1 may be repeated at any time, also after an outcome that is unknown.
 *
 * A collector (blob_collect_step()) deletes what nobody needs. Any number of collectors, writers and
 * referrers may run at the same time on all nodes of a store. blob.c begins with why that is safe.
 *
 * TIME
 *
 * now_ns is the store's lease time. A writer that takes less than 24 hours from its first byte to the
 * end of blob_write_finish() always finds its chunks; a slower one may get SAP_NOTFOUND at the end. */
#ifndef SAPLING_STORE_BLOB_H
#define SAPLING_STORE_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "sapling/store.h"
#include "store/digest.h"

#define BLOB_CHUNK_BYTES (256u * 1024)
#define BLOB_FANOUT      63u /* with the list itself as many as a transaction may guard */
#define BLOB_MAX_DEPTH   5u  /* 237 TiB */
#define BLOB_MAX_OWNER   256u
#define BLOB_SPARED_NS   (UINT64_C(24) * 3600 * 1000000000)

/* ---- References ------------------------------------------------------------------------------ */

enum { BLOB_KEY_SIZE = 1 + DIGEST_SIZE };

typedef struct BlobKey {
    uint8_t bytes[BLOB_KEY_SIZE];
} BlobKey;

/* Writes the guard that blob_ref_put() needs, which is shared: any number of transactions may put
 * references to a blob at the same time. A transaction takes all its guards in one call, before
 * anything else, so this one goes among the caller's own, to store_guard() (sap_store_guard() knows the
 * tables of programs only). The guard borrows *room. */
void blob_guard(const Digest *name, BlobKey *room, SapStoreGuard *guard_out);

/* Puts the reference of `owner` (up to BLOB_MAX_OWNER bytes, borrowed for the call) in a transaction
 * that has guarded the blob. The same reference may be put again. SAP_NOTFOUND: the blob is gone, and
 * nothing changed. SAP_FULL: the owner is too long. SAP_CORRUPT: the blob's row does not decode. */
int blob_ref_put(SapStoreTxn *txn, const Digest *name, Slice owner);

/* Deletes it; needs no guard. SAP_NOTFOUND: there is no such reference. */
int blob_ref_del(SapStoreTxn *txn, const Digest *name, Slice owner);

/* ---- Writing --------------------------------------------------------------------------------- */

typedef struct BlobWriter BlobWriter;

/* How a large blob is cut, for tests that want many chunks of few bytes. It changes nothing for a
 * reader. */
typedef struct BlobShape {
    uint32_t chunk_bytes; /* 1 to BLOB_CHUNK_BYTES */
    uint32_t fanout;      /* 2 to BLOB_FANOUT */
} BlobShape;

/* The caller owns *writer_out, which ends with blob_write_finish() or blob_write_abort(). It has at most
 * one chunk and one list per depth in memory. `shape` NULL: the usual one. Used by one thread. */
int blob_write_begin(SapStore *store, const BlobShape *shape, BlobWriter **writer_out);

/* Adds bytes, borrowed for the call. Every full chunk is put in a transaction of its own, and so is
 * every full list. It waits as long as it takes for the disk to keep up, see blob.c, so that other
 * transactions are not held up; the caller has no transaction of its own open.
 *
 * After any code but SAP_OK the writer has failed: every further call returns the same code, and what it
 * has put so far is left to the collector. SAP_FULL: no room on the disk, or more bytes than a blob can
 * have. SAP_BUSY, SAP_CONFLICT: others were in the way for too long. SAP_IO: as in store.h; to put the
 * blob again from its first byte is safe. */
int blob_write_append(BlobWriter *writer, const void *data, size_t len, uint64_t now_ns);

/* Puts what is left and gives the blob its name. mark_out NULL: returns when the blob is durable.
 * Otherwise *mark_out is for sap_store_wait_durable(); a transaction that puts a reference need not wait
 * for it, since its own commit does. Ends the writer, whatever it returns. Codes as of
 * blob_write_append(), and SAP_NOTFOUND: it took more than 24 hours, and chunks have been collected: put
 * the blob again. *name_out is written on SAP_OK only. */
int blob_write_finish(BlobWriter *writer, uint64_t now_ns, Digest *name_out, uint64_t *mark_out);

/* Ends the writer. What it has put is left to the collector. NULL is accepted. */
void blob_write_abort(BlobWriter *writer);

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct BlobReader BlobReader;

/* Each call reads in transactions of its own of this kind, which is SAP_STORE_READ_DURABLE or
 * SAP_STORE_READ_NEWEST, and keeps none open. Only a reference keeps the blob from being collected
 * meanwhile. The caller owns *reader_out: blob_read_close(). It has at most one chunk and one list per
 * depth in memory. Used by one thread. SAP_NOTFOUND: there is no such blob. SAP_CORRUPT: as for
 * blob_read(); a text goes to the store's on_message. */
int blob_read_open(SapStore *store, SapStoreKind kind, const Digest *name, BlobReader **reader_out);

/* In bytes; 0 to 2^64 - 1. */
uint64_t blob_read_size(const BlobReader *reader);

/* The next bytes, up to `len`, which is above 0; *got_out is 0 at the end only, and less than `len` only
 * before the end. Every chunk is compared with its SHA-256 before a byte of it is given out, and at the
 * end all of it with the blob's name: who has seen the end has had exactly the blob.
 *
 * SAP_CORRUPT: a chunk, a list or the blob itself is damaged or missing; blob_read_message() names it.
 * SAP_NOTFOUND: the blob has been collected since it was opened. Both are final. After SAP_IO, SAP_BUSY
 * and SAP_NOMEM it may be called again, and goes on where it was. */
int blob_read(BlobReader *reader, void *room, size_t len, size_t *got_out);

/* What is wrong with which part of the blob, after SAP_CORRUPT; "" otherwise. The store's on_message
 * has had the same text. Borrowed until the reader is closed. */
const char *blob_read_message(const BlobReader *reader);

/* NULL is accepted. */
void blob_read_close(BlobReader *reader);

/* ---- Collecting ------------------------------------------------------------------------------ */

#define BLOB_MAX_STEP 64u /* blobs that a step looks at */

/* Where a collector is in the table, and what it has done; all zero: at the beginning. */
typedef struct BlobCollector {
    BlobKey from;       /* the next head to look at */
    bool started;       /* false: at the beginning of the table */
    uint64_t looked_at; /* heads, since the struct was zeroed, as all that follows */
    uint64_t young;     /* spared: put within 24 hours */
    uint64_t needed;    /* spared: there is a reference */
    uint64_t busy;      /* spared: others had it guarded for too long */
    uint64_t damaged;   /* spared: its rows do not decode */
    uint64_t collected;
    uint64_t passes; /* times that it came to the end of the table */
} BlobCollector;

/* Looks at the next `limit` blobs, 1 to BLOB_MAX_STEP, and deletes those that were put at least 24 hours
 * before now_ns and that nobody refers to, each in a transaction of its own; then waits until that is
 * durable. At the end of the table *end_out is true, and the next step begins at the beginning. What a
 * collected list referred to is collected when a later step comes to it: a blob of depth n is gone after
 * n + 1 passes. On any other code than SAP_OK the step may be run again: it begins where this one did. */
int blob_collect_step(SapStore *store, BlobCollector *collector, uint64_t now_ns, uint32_t limit,
                      bool *end_out);

#endif
