/* blobs.h - blobs of a store for tests: put, read, refer, collect, and the invariants of all rows.
 *
 * Inline, since only tests of the runtime link what it calls. */
#ifndef SAPLING_TESTS_BLOBS_H
#define SAPLING_TESTS_BLOBS_H

#include "store/blob.h"
#include "store/store_impl.h"
#include "support/expect.h"
#include "wit_store.h"

#include <string.h>

/* All of it in one append. */
static inline int blobs_put(SapStore *store, const BlobShape *shape, const void *data, size_t len,
                            uint64_t now_ns, Digest *name_out)
{
    BlobWriter *writer = NULL;
    int rc = blob_write_begin(store, shape, &writer);
    if (rc != SAP_OK) {
        return rc;
    }
    (void)blob_write_append(writer, data, len, now_ns); /* finish returns the same code */
    return blob_write_finish(writer, now_ns, name_out, NULL);
}

/* Reads in pieces of `piece` bytes and compares. SAP_OK: it is there, and is these bytes. */
static inline int blobs_compare(SapStore *store, const Digest *name, const void *data, size_t len,
                                size_t piece)
{
    const uint8_t *expected = (const uint8_t *)data;
    uint8_t room[4096];
    BlobReader *reader = NULL;
    size_t at = 0;
    size_t got = 1;
    int rc = blob_read_open(store, SAP_STORE_READ_NEWEST, name, &reader);
    if (rc != SAP_OK) {
        return rc;
    }
    EXPECT(blob_read_size(reader) == len, "the size of the blob");
    EXPECT(piece <= sizeof room, "pieces fit");
    while (rc == SAP_OK && got > 0) {
        rc = blob_read(reader, room, piece, &got);
        if (rc == SAP_OK) {
            EXPECT(got <= piece && got <= len - at, "%zu bytes too many", got);
            EXPECT(got == 0 || memcmp(expected + at, room, got) == 0, "other bytes at %zu", at);
            at += got;
        }
    }
    EXPECT(rc != SAP_OK || at == len, "%zu bytes of %zu", at, len);
    blob_read_close(reader);
    return rc;
}

/* ---- References ------------------------------------------------------------------------------ */

typedef struct BlobsRef {
    const Digest *name;
    const char *owner;
} BlobsRef;

static inline int blobs_ref_body(SapStoreTxn *txn, void *ctx)
{
    const BlobsRef *ref = (const BlobsRef *)ctx;
    SapStoreGuard guard;
    BlobKey room;
    blob_guard(ref->name, &room, &guard);
    int rc = store_guard(txn, &guard, 1);
    return rc == SAP_OK ? blob_ref_put(txn, ref->name, slice_from_str(ref->owner)) : rc;
}

static inline int blobs_unref_body(SapStoreTxn *txn, void *ctx)
{
    const BlobsRef *ref = (const BlobsRef *)ctx;
    return blob_ref_del(txn, ref->name, slice_from_str(ref->owner));
}

static inline int blobs_ref(SapStore *store, const Digest *name, const char *owner)
{
    BlobsRef ref = {name, owner};
    return sap_store_run(store, SAP_STORE_GUARDED, blobs_ref_body, &ref, NULL);
}

static inline int blobs_unref(SapStore *store, const Digest *name, const char *owner)
{
    BlobsRef ref = {name, owner};
    return sap_store_run(store, SAP_STORE_GUARDED, blobs_unref_body, &ref, NULL);
}

/* ---- Collecting ------------------------------------------------------------------------------ */

/* Passes until one collects nothing. How many blobs were collected. */
static inline uint64_t blobs_collect(SapStore *store, uint64_t now_ns)
{
    BlobCollector collector = {.looked_at = 0};
    uint64_t before = 0;
    do {
        bool end = false;
        before = collector.collected;
        while (!end) {
            EXPECT_RC(blob_collect_step(store, &collector, now_ns, BLOB_MAX_STEP, &end), SAP_OK);
        }
    } while (collector.collected > before);
    return collector.collected;
}

/* ---- Invariants ------------------------------------------------------------------------------ */

typedef struct BlobsCount {
    uint32_t blobs;
    uint32_t refs;
} BlobsCount;

static inline uint32_t blobs_rows(SapStoreTxn *txn, uint32_t table, const SapStoreRow **rows_out)
{
    SapStoreRange range = {.table = table};
    uint32_t count = 0;
    EXPECT_RC(store_scan(txn, &range, false, UINT32_MAX, rows_out, &count), SAP_OK);
    return count;
}

static inline int blobs_get(SapStoreTxn *txn, WitStoreBlobPart part, const void *name,
                            Slice *val_out)
{
    uint8_t key[BLOB_KEY_SIZE];
    key[0] = part;
    memcpy(key + 1, name, DIGEST_SIZE);
    return store_get(txn, (StoreKey){STORE_TABLE_BLOBS, {key, sizeof key}}, val_out);
}

static inline bool blobs_get_head(SapStoreTxn *txn, const void *name, WitStoreBlobHead *head_out)
{
    Slice val = {0};
    int rc = blobs_get(txn, WIT_STORE_BLOB_PART_HEAD, name, &val);
    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "get returned %d", rc);
    if (rc == SAP_OK) {
        EXPECT_RC(wit_store_blob_head_decode(val.data, val.len, head_out, NULL), SAP_OK);
    }
    return rc == SAP_OK;
}

/* I2, and that the name is that of the content. */
static inline void blobs_check_blob(SapStoreTxn *txn, const uint8_t *name)
{
    WitStoreBlobHead head;
    Slice content = {0};
    Digest digest;
    EXPECT(blobs_get_head(txn, name, &head), "a content without a head");
    EXPECT_RC(blobs_get(txn, WIT_STORE_BLOB_PART_CONTENT, name, &content), SAP_OK);
    digest_bytes(content.data, content.len, &digest);
    EXPECT(head.depth > 0 || memcmp(digest.bytes, name, DIGEST_SIZE) == 0, "content and name");
    if (head.kind == WIT_STORE_BLOB_KIND_BYTES) {
        return;
    }
    EXPECT(content.len > 0 && content.len % DIGEST_SIZE == 0, "a list of names");
    for (size_t at = 0; at < content.len; at += DIGEST_SIZE) {
        Digest named;
        Digest owner;
        Buf key = {0};
        Slice val = {0};
        memcpy(named.bytes, (const uint8_t *)content.data + at, DIGEST_SIZE);
        memcpy(owner.bytes, name, DIGEST_SIZE);
        WitStoreDbi10BlobrefsKey ref = {.sha256 = {named.bytes, DIGEST_SIZE},
                                        .kind = WIT_STORE_BLOB_OWNER_BLOB,
                                        .owner = {owner.bytes, DIGEST_SIZE}};
        EXPECT_RC(wit_store_dbi10_blobrefs_key_encode(&ref, &key, NULL), SAP_OK);
        EXPECT(store_get(txn, (StoreKey){STORE_TABLE_BLOBREFS, {key.data, key.len}}, &val) ==
                   SAP_OK,
               "a list has no reference to what it names");
        buf_release(&key);
        EXPECT(blobs_get_head(txn, named.bytes, &head), "a list names a blob that is gone");
    }
}

/* I1 and I3. */
static inline void blobs_check_ref(SapStoreTxn *txn, const SapStoreRow *row)
{
    WitStoreDbi10BlobrefsKey ref;
    WitStoreBlobHead head;
    EXPECT_RC(wit_store_dbi10_blobrefs_key_decode(row->key, row->key_len, &ref, NULL), SAP_OK);
    EXPECT(blobs_get_head(txn, ref.sha256.data, &head), "a reference to a blob that is gone");
    if (ref.kind == WIT_STORE_BLOB_OWNER_BLOB) {
        EXPECT(blobs_get_head(txn, ref.owner.data, &head), "a reference of a list that is gone");
        EXPECT(head.kind != WIT_STORE_BLOB_KIND_BYTES, "a reference of what is not a list");
    }
    wit_store_dbi10_blobrefs_key_free(&ref);
}

/* Aborts where an invariant of blob.c does not hold. */
static inline BlobsCount blobs_check(SapStore *store)
{
    SapStoreTxn *txn = NULL;
    const SapStoreRow *blobs = NULL;
    const SapStoreRow *refs = NULL;
    EXPECT_RC(sap_store_begin(store, SAP_STORE_READ_NEWEST, &txn), SAP_OK);
    uint32_t blob_rows = blobs_rows(txn, STORE_TABLE_BLOBS, &blobs);
    uint32_t ref_rows = blobs_rows(txn, STORE_TABLE_BLOBREFS, &refs);
    for (uint32_t i = 0; i < blob_rows; i++) {
        EXPECT(blobs[i].key_len == BLOB_KEY_SIZE, "the key of a blob");
        blobs_check_blob(txn, (const uint8_t *)blobs[i].key + 1);
    }
    for (uint32_t i = 0; i < ref_rows; i++) {
        blobs_check_ref(txn, &refs[i]);
    }
    EXPECT(blob_rows % 2 == 0, "a head without its content");
    sap_store_abort(txn);
    return (BlobsCount){blob_rows / 2, ref_rows};
}

#endif
