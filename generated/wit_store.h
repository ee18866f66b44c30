/* wit_store.h - Tables 8 to 10: what a store keeps beside the rows of programs. Programs' tables start at 16.
 *
 * Generated from schemas/wit/store-schema.wit by tools/wit_codegen: change the schema.
 *
 * encode appends to `buf`; decode and validate say in *error, unless it is NULL, what is wrong
 * where. SAP_INVALID: the bytes or the value break the layout or a refinement. On failure buffer
 * and *v_out are as they were. Caller owns what decode gives, release with free, which leaves an
 * empty value. */
#ifndef SAPLING_GENERATED_WIT_STORE_H
#define SAPLING_GENERATED_WIT_STORE_H

#include "common/codec.h"

/* The rows of the table store-meta. Every store has both. */
enum {
    WIT_STORE_META_ROW_MARKER = 0,
    WIT_STORE_META_ROW_TIME = 1,
};
typedef uint8_t WitStoreMetaRow;

/* What is in the store. It is written when the store is made, and compared at every later open. Its bytes are the same in every version of this schema, so that each can refuse the others. */
typedef struct WitStoreMarker {
    uint32_t format; /* The format of the store's own tables, and of how it keeps those of programs. */
    CodecBytes schema; /* The program's name for what its tables hold, with a version. */
    CodecBytes more; /* Nothing yet; readers ignore it. */
} WitStoreMarker;

/* The clocks of the store when they were last stored, in nanoseconds. */
typedef struct WitStoreTime {
    uint64_t lease_ns; /* Lease time. */
    uint64_t due_ns; /* Due time, since 1970. */
    uint64_t wall_ns; /* Wall time at the moment of storing, since 1970. */
} WitStoreTime;

/* A blob has one row of each part. */
enum {
    WIT_STORE_BLOB_PART_HEAD = 0,
    WIT_STORE_BLOB_PART_CONTENT = 1,
};
typedef uint8_t WitStoreBlobPart;

/* What the content is. bytes: those of the blob. list: the same, and also names of blobs that this one refers to, 32 bytes each. tree: such names only; the bytes of the blob are theirs, in order. */
enum {
    WIT_STORE_BLOB_KIND_BYTES = 0,
    WIT_STORE_BLOB_KIND_LIST = 1,
    WIT_STORE_BLOB_KIND_TREE = 2,
};
typedef uint8_t WitStoreBlobKind;

typedef struct WitStoreBlobHead {
    WitStoreBlobKind kind;
    uint8_t depth; /* 0: the content is the bytes. 1: it names blobs with the bytes. 2 and more: it names lists of such blobs, and so on. */
    uint64_t size; /* In bytes. */
    uint64_t put_ns; /* Lease time of the latest put, in nanoseconds. */
} WitStoreBlobHead;

/* Who refers to a blob: a list or tree under its own name, or a program under bytes of its choice. */
enum {
    WIT_STORE_BLOB_OWNER_BLOB = 0,
    WIT_STORE_BLOB_OWNER_PROGRAM = 1,
};
typedef uint8_t WitStoreBlobOwner;

typedef struct WitStoreDbi8StoreMetaKey {
    WitStoreMetaRow row;
} WitStoreDbi8StoreMetaKey;

/* A marker or a time. */
typedef struct WitStoreDbi8StoreMetaValue {
    CodecBytes value;
} WitStoreDbi8StoreMetaValue;

typedef struct WitStoreDbi9BlobsKey {
    WitStoreBlobPart part;
    CodecBytes sha256; /* The name of the blob: the SHA-256 of its bytes. */
} WitStoreDbi9BlobsKey;

/* A blob-head, or the content itself. */
typedef struct WitStoreDbi9BlobsValue {
    CodecBytes value;
} WitStoreDbi9BlobsValue;

typedef struct WitStoreDbi10BlobrefsKey {
    CodecBytes sha256; /* The blob that is referred to. */
    WitStoreBlobOwner kind;
    CodecBytes owner; /* Who refers to it. */
} WitStoreDbi10BlobrefsKey;

/* Empty: it says no more than its key. */
typedef struct WitStoreDbi10BlobrefsValue {
    CodecBytes value;
} WitStoreDbi10BlobrefsValue;


int wit_store_meta_row_encode(const WitStoreMetaRow *v, Buf *buf, CodecError *error);
int wit_store_meta_row_decode(const void *data, size_t len, WitStoreMetaRow *v_out, CodecError *error);
int wit_store_meta_row_validate(const WitStoreMetaRow *v, CodecError *error);
bool wit_store_meta_row_equal(const WitStoreMetaRow *a, const WitStoreMetaRow *b);
void wit_store_meta_row_free(WitStoreMetaRow *v);

int wit_store_marker_encode(const WitStoreMarker *v, Buf *buf, CodecError *error);
int wit_store_marker_decode(const void *data, size_t len, WitStoreMarker *v_out, CodecError *error);
int wit_store_marker_validate(const WitStoreMarker *v, CodecError *error);
bool wit_store_marker_equal(const WitStoreMarker *a, const WitStoreMarker *b);
void wit_store_marker_free(WitStoreMarker *v);

int wit_store_time_encode(const WitStoreTime *v, Buf *buf, CodecError *error);
int wit_store_time_decode(const void *data, size_t len, WitStoreTime *v_out, CodecError *error);
int wit_store_time_validate(const WitStoreTime *v, CodecError *error);
bool wit_store_time_equal(const WitStoreTime *a, const WitStoreTime *b);
void wit_store_time_free(WitStoreTime *v);

int wit_store_blob_part_encode(const WitStoreBlobPart *v, Buf *buf, CodecError *error);
int wit_store_blob_part_decode(const void *data, size_t len, WitStoreBlobPart *v_out, CodecError *error);
int wit_store_blob_part_validate(const WitStoreBlobPart *v, CodecError *error);
bool wit_store_blob_part_equal(const WitStoreBlobPart *a, const WitStoreBlobPart *b);
void wit_store_blob_part_free(WitStoreBlobPart *v);

int wit_store_blob_kind_encode(const WitStoreBlobKind *v, Buf *buf, CodecError *error);
int wit_store_blob_kind_decode(const void *data, size_t len, WitStoreBlobKind *v_out, CodecError *error);
int wit_store_blob_kind_validate(const WitStoreBlobKind *v, CodecError *error);
bool wit_store_blob_kind_equal(const WitStoreBlobKind *a, const WitStoreBlobKind *b);
void wit_store_blob_kind_free(WitStoreBlobKind *v);

int wit_store_blob_head_encode(const WitStoreBlobHead *v, Buf *buf, CodecError *error);
int wit_store_blob_head_decode(const void *data, size_t len, WitStoreBlobHead *v_out, CodecError *error);
int wit_store_blob_head_validate(const WitStoreBlobHead *v, CodecError *error);
bool wit_store_blob_head_equal(const WitStoreBlobHead *a, const WitStoreBlobHead *b);
void wit_store_blob_head_free(WitStoreBlobHead *v);

int wit_store_blob_owner_encode(const WitStoreBlobOwner *v, Buf *buf, CodecError *error);
int wit_store_blob_owner_decode(const void *data, size_t len, WitStoreBlobOwner *v_out, CodecError *error);
int wit_store_blob_owner_validate(const WitStoreBlobOwner *v, CodecError *error);
bool wit_store_blob_owner_equal(const WitStoreBlobOwner *a, const WitStoreBlobOwner *b);
void wit_store_blob_owner_free(WitStoreBlobOwner *v);

int wit_store_dbi8_store_meta_key_encode(const WitStoreDbi8StoreMetaKey *v, Buf *buf, CodecError *error);
int wit_store_dbi8_store_meta_key_decode(const void *data, size_t len, WitStoreDbi8StoreMetaKey *v_out, CodecError *error);
int wit_store_dbi8_store_meta_key_validate(const WitStoreDbi8StoreMetaKey *v, CodecError *error);
bool wit_store_dbi8_store_meta_key_equal(const WitStoreDbi8StoreMetaKey *a, const WitStoreDbi8StoreMetaKey *b);
void wit_store_dbi8_store_meta_key_free(WitStoreDbi8StoreMetaKey *v);

int wit_store_dbi8_store_meta_value_encode(const WitStoreDbi8StoreMetaValue *v, Buf *buf, CodecError *error);
int wit_store_dbi8_store_meta_value_decode(const void *data, size_t len, WitStoreDbi8StoreMetaValue *v_out, CodecError *error);
int wit_store_dbi8_store_meta_value_validate(const WitStoreDbi8StoreMetaValue *v, CodecError *error);
bool wit_store_dbi8_store_meta_value_equal(const WitStoreDbi8StoreMetaValue *a, const WitStoreDbi8StoreMetaValue *b);
void wit_store_dbi8_store_meta_value_free(WitStoreDbi8StoreMetaValue *v);

int wit_store_dbi9_blobs_key_encode(const WitStoreDbi9BlobsKey *v, Buf *buf, CodecError *error);
int wit_store_dbi9_blobs_key_decode(const void *data, size_t len, WitStoreDbi9BlobsKey *v_out, CodecError *error);
int wit_store_dbi9_blobs_key_validate(const WitStoreDbi9BlobsKey *v, CodecError *error);
bool wit_store_dbi9_blobs_key_equal(const WitStoreDbi9BlobsKey *a, const WitStoreDbi9BlobsKey *b);
void wit_store_dbi9_blobs_key_free(WitStoreDbi9BlobsKey *v);

int wit_store_dbi9_blobs_value_encode(const WitStoreDbi9BlobsValue *v, Buf *buf, CodecError *error);
int wit_store_dbi9_blobs_value_decode(const void *data, size_t len, WitStoreDbi9BlobsValue *v_out, CodecError *error);
int wit_store_dbi9_blobs_value_validate(const WitStoreDbi9BlobsValue *v, CodecError *error);
bool wit_store_dbi9_blobs_value_equal(const WitStoreDbi9BlobsValue *a, const WitStoreDbi9BlobsValue *b);
void wit_store_dbi9_blobs_value_free(WitStoreDbi9BlobsValue *v);

int wit_store_dbi10_blobrefs_key_encode(const WitStoreDbi10BlobrefsKey *v, Buf *buf, CodecError *error);
int wit_store_dbi10_blobrefs_key_decode(const void *data, size_t len, WitStoreDbi10BlobrefsKey *v_out, CodecError *error);
int wit_store_dbi10_blobrefs_key_validate(const WitStoreDbi10BlobrefsKey *v, CodecError *error);
bool wit_store_dbi10_blobrefs_key_equal(const WitStoreDbi10BlobrefsKey *a, const WitStoreDbi10BlobrefsKey *b);
void wit_store_dbi10_blobrefs_key_free(WitStoreDbi10BlobrefsKey *v);

int wit_store_dbi10_blobrefs_value_encode(const WitStoreDbi10BlobrefsValue *v, Buf *buf, CodecError *error);
int wit_store_dbi10_blobrefs_value_decode(const void *data, size_t len, WitStoreDbi10BlobrefsValue *v_out, CodecError *error);
int wit_store_dbi10_blobrefs_value_validate(const WitStoreDbi10BlobrefsValue *v, CodecError *error);
bool wit_store_dbi10_blobrefs_value_equal(const WitStoreDbi10BlobrefsValue *a, const WitStoreDbi10BlobrefsValue *b);
void wit_store_dbi10_blobrefs_value_free(WitStoreDbi10BlobrefsValue *v);

#endif
