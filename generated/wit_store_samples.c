/* wit_store_samples.c - its types, for tests.
 *
 * Generated from schemas/wit/store-schema.wit by tools/wit_codegen: change the schema. */
#include "wit_store_samples.h"

#include "wit_store_json.h"

static void wit_store_meta_row_random(Choice *choice, WitStoreMetaRow *v)
{
    *v = (WitStoreMetaRow)choice_below(choice, 2);
}

SAMPLE_TYPE(wit_store_meta_row, WitStoreMetaRow)

static void wit_store_marker_random(Choice *choice, WitStoreMarker *v)
{
    v->format = (uint32_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->format = (uint32_t)UINT64_C(1);
        break;
    case 1:
        v->format = (uint32_t)UINT64_C(2);
        break;
    default:
        v->format = (uint32_t)UINT64_C(1);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->schema);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->schema, 64);
        break;
    case 1:
        sample_length(&v->schema, 63);
        break;
    default:
        sample_length(&v->schema, 64);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->more);
}

static bool wit_store_marker_edge(void *any, size_t i, const char **refinement)
{
    WitStoreMarker *v = any;

    switch (i) {
    case 0:
        *refinement = "value >= 1";
        v->format = (uint32_t)UINT64_C(1);
        return true;
    case 1:
        *refinement = "value >= 1";
        v->format = (uint32_t)UINT64_C(0);
        return false;
    case 2:
        *refinement = "value >= 1";
        v->format = (uint32_t)UINT64_C(2);
        return true;
    case 3:
        *refinement = "len(value) <= 64";
        sample_length(&v->schema, 64);
        return true;
    case 4:
        *refinement = "len(value) <= 64";
        sample_length(&v->schema, 63);
        return true;
    case 5:
        *refinement = "len(value) <= 64";
        sample_length(&v->schema, 65);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_store_marker, WitStoreMarker)

static void wit_store_time_random(Choice *choice, WitStoreTime *v)
{
    v->lease_ns = (uint64_t)sample_number(choice);
    v->due_ns = (uint64_t)sample_number(choice);
    v->wall_ns = (uint64_t)sample_number(choice);
}

SAMPLE_TYPE(wit_store_time, WitStoreTime)

static void wit_store_blob_part_random(Choice *choice, WitStoreBlobPart *v)
{
    *v = (WitStoreBlobPart)choice_below(choice, 2);
}

SAMPLE_TYPE(wit_store_blob_part, WitStoreBlobPart)

static void wit_store_blob_kind_random(Choice *choice, WitStoreBlobKind *v)
{
    *v = (WitStoreBlobKind)choice_below(choice, 3);
}

SAMPLE_TYPE(wit_store_blob_kind, WitStoreBlobKind)

static void wit_store_blob_head_random(Choice *choice, WitStoreBlobHead *v)
{
    wit_store_blob_kind_random(choice, &v->kind);
    v->depth = (uint8_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->depth = (uint8_t)UINT64_C(5);
        break;
    case 1:
        v->depth = (uint8_t)UINT64_C(4);
        break;
    default:
        v->depth = (uint8_t)UINT64_C(5);
        break;
    case 15:
        break;
    }
    v->size = (uint64_t)sample_number(choice);
    v->put_ns = (uint64_t)sample_number(choice);
}

static bool wit_store_blob_head_edge(void *any, size_t i, const char **refinement)
{
    WitStoreBlobHead *v = any;

    switch (i) {
    case 0:
        *refinement = "value <= 5";
        v->depth = (uint8_t)UINT64_C(5);
        return true;
    case 1:
        *refinement = "value <= 5";
        v->depth = (uint8_t)UINT64_C(4);
        return true;
    case 2:
        *refinement = "value <= 5";
        v->depth = (uint8_t)UINT64_C(6);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_store_blob_head, WitStoreBlobHead)

static void wit_store_blob_owner_random(Choice *choice, WitStoreBlobOwner *v)
{
    *v = (WitStoreBlobOwner)choice_below(choice, 2);
}

SAMPLE_TYPE(wit_store_blob_owner, WitStoreBlobOwner)

static void wit_store_dbi8_store_meta_key_random(Choice *choice, WitStoreDbi8StoreMetaKey *v)
{
    wit_store_meta_row_random(choice, &v->row);
}

SAMPLE_TYPE(wit_store_dbi8_store_meta_key, WitStoreDbi8StoreMetaKey)

static void wit_store_dbi8_store_meta_value_random(Choice *choice, WitStoreDbi8StoreMetaValue *v)
{
    sample_bytes(choice, &v->value);
}

SAMPLE_TYPE(wit_store_dbi8_store_meta_value, WitStoreDbi8StoreMetaValue)

static void wit_store_dbi9_blobs_key_random(Choice *choice, WitStoreDbi9BlobsKey *v)
{
    wit_store_blob_part_random(choice, &v->part);
    sample_bytes(choice, &v->sha256);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->sha256, 32);
        break;
    default:
        sample_length(&v->sha256, 32);
        break;
    case 15:
        break;
    }
}

static bool wit_store_dbi9_blobs_key_edge(void *any, size_t i, const char **refinement)
{
    WitStoreDbi9BlobsKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 32";
        sample_length(&v->sha256, 32);
        return true;
    case 1:
        *refinement = "len(value) == 32";
        sample_length(&v->sha256, 31);
        return false;
    case 2:
        *refinement = "len(value) == 32";
        sample_length(&v->sha256, 33);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_store_dbi9_blobs_key, WitStoreDbi9BlobsKey)

static void wit_store_dbi9_blobs_value_random(Choice *choice, WitStoreDbi9BlobsValue *v)
{
    sample_bytes(choice, &v->value);
}

SAMPLE_TYPE(wit_store_dbi9_blobs_value, WitStoreDbi9BlobsValue)

static void wit_store_dbi10_blobrefs_key_random(Choice *choice, WitStoreDbi10BlobrefsKey *v)
{
    sample_bytes(choice, &v->sha256);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->sha256, 32);
        break;
    default:
        sample_length(&v->sha256, 32);
        break;
    case 15:
        break;
    }
    wit_store_blob_owner_random(choice, &v->kind);
    sample_bytes(choice, &v->owner);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->owner, 256);
        break;
    case 1:
        sample_length(&v->owner, 255);
        break;
    default:
        sample_length(&v->owner, 256);
        break;
    case 15:
        break;
    }
}

static bool wit_store_dbi10_blobrefs_key_edge(void *any, size_t i, const char **refinement)
{
    WitStoreDbi10BlobrefsKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 32";
        sample_length(&v->sha256, 32);
        return true;
    case 1:
        *refinement = "len(value) == 32";
        sample_length(&v->sha256, 31);
        return false;
    case 2:
        *refinement = "len(value) == 32";
        sample_length(&v->sha256, 33);
        return false;
    case 3:
        *refinement = "len(value) <= 256";
        sample_length(&v->owner, 256);
        return true;
    case 4:
        *refinement = "len(value) <= 256";
        sample_length(&v->owner, 255);
        return true;
    case 5:
        *refinement = "len(value) <= 256";
        sample_length(&v->owner, 257);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_store_dbi10_blobrefs_key, WitStoreDbi10BlobrefsKey)

static void wit_store_dbi10_blobrefs_value_random(Choice *choice, WitStoreDbi10BlobrefsValue *v)
{
    sample_bytes(choice, &v->value);
}

SAMPLE_TYPE(wit_store_dbi10_blobrefs_value, WitStoreDbi10BlobrefsValue)

const SampleType wit_store_samples[] = {
    SAMPLE_ENTRY("meta-row", wit_store_meta_row, WitStoreMetaRow, false, NULL, 0),
    SAMPLE_ENTRY("marker", wit_store_marker, WitStoreMarker, false, wit_store_marker_edge, 6),
    SAMPLE_ENTRY("time", wit_store_time, WitStoreTime, true, NULL, 0),
    SAMPLE_ENTRY("blob-part", wit_store_blob_part, WitStoreBlobPart, false, NULL, 0),
    SAMPLE_ENTRY("blob-kind", wit_store_blob_kind, WitStoreBlobKind, false, NULL, 0),
    SAMPLE_ENTRY("blob-head", wit_store_blob_head, WitStoreBlobHead, true, wit_store_blob_head_edge, 3),
    SAMPLE_ENTRY("blob-owner", wit_store_blob_owner, WitStoreBlobOwner, false, NULL, 0),
    SAMPLE_ENTRY("dbi8-store-meta-key", wit_store_dbi8_store_meta_key, WitStoreDbi8StoreMetaKey, false, NULL, 0),
    SAMPLE_ENTRY("dbi8-store-meta-value", wit_store_dbi8_store_meta_value, WitStoreDbi8StoreMetaValue, false, NULL, 0),
    SAMPLE_ENTRY("dbi9-blobs-key", wit_store_dbi9_blobs_key, WitStoreDbi9BlobsKey, false, wit_store_dbi9_blobs_key_edge, 3),
    SAMPLE_ENTRY("dbi9-blobs-value", wit_store_dbi9_blobs_value, WitStoreDbi9BlobsValue, false, NULL, 0),
    SAMPLE_ENTRY("dbi10-blobrefs-key", wit_store_dbi10_blobrefs_key, WitStoreDbi10BlobrefsKey, false, wit_store_dbi10_blobrefs_key_edge, 6),
    SAMPLE_ENTRY("dbi10-blobrefs-value", wit_store_dbi10_blobrefs_value, WitStoreDbi10BlobrefsValue, false, NULL, 0),
};

const size_t wit_store_sample_count =
    sizeof wit_store_samples / sizeof wit_store_samples[0];
