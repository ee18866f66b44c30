/* wit_store_json.c - its types as JSON.
 *
 * Generated from schemas/wit/store-schema.wit by tools/wit_codegen: change the schema. */
#include "wit_store_json.h"

#include "common/bytes.h"

static int read_u8(const json_t *json, uint8_t *out, CodecError *error)
{
    uint64_t v = 0;
    int rc = codec_json_read_unsigned(json, UINT8_MAX, &v, error);

    *out = (uint8_t)v;
    return rc;
}

static int read_u32(const json_t *json, uint32_t *out, CodecError *error)
{
    uint64_t v = 0;
    int rc = codec_json_read_unsigned(json, UINT32_MAX, &v, error);

    *out = (uint32_t)v;
    return rc;
}

static int read_u64(const json_t *json, uint64_t *out, CodecError *error)
{
    uint64_t v = 0;
    int rc = codec_json_read_unsigned(json, UINT64_MAX, &v, error);

    *out = (uint64_t)v;
    return rc;
}

static const char *const wit_store_meta_row_names[] = {
    "marker",
    "time",
};

static json_t *wit_store_meta_row_write_json(const WitStoreMetaRow *v)
{
    return json_string(wit_store_meta_row_names[*v]);
}

static int wit_store_meta_row_read_json(const json_t *json, WitStoreMetaRow *v, CodecError *error)
{
    uint32_t number = 0;
    int rc = codec_json_read_case(json, wit_store_meta_row_names, 2, &number, error);

    *v = (WitStoreMetaRow)number;
    return rc;
}

int wit_store_meta_row_to_json(const WitStoreMetaRow *v, json_t **json_out, CodecError *error)
{
    int rc = wit_store_meta_row_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_store_meta_row_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_store_meta_row_from_json(const json_t *json, WitStoreMetaRow *v_out, CodecError *error)
{
    WitStoreMetaRow v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_store_meta_row_read_json(json, &v, error);
    (void)codec_blame(error, "enum meta-row", "", rc);
    if (rc == SAP_OK) {
        rc = wit_store_meta_row_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_store_meta_row_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_store_marker_names[] = {
    "format",
    "schema",
    "more",
};

static json_t *wit_store_marker_write_json(const WitStoreMarker *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "format", codec_json_unsigned(v->format));
    ok = ok && codec_json_add(json, "schema", codec_json_string(&v->schema));
    ok = ok && codec_json_add(json, "more", codec_json_bytes(&v->more));
    return codec_json_done(json, ok);
}

static int wit_store_marker_read_json(const json_t *json, WitStoreMarker *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_store_marker_names, 3, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "format"), &v->format, error);
        (void)codec_blame(error, "record marker", "format", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "schema"), &v->schema, error);
        (void)codec_blame(error, "record marker", "schema", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "more"), &v->more, error);
        (void)codec_blame(error, "record marker", "more", rc);
    }
    return rc;
}

int wit_store_marker_to_json(const WitStoreMarker *v, json_t **json_out, CodecError *error)
{
    int rc = wit_store_marker_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_store_marker_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_store_marker_from_json(const json_t *json, WitStoreMarker *v_out, CodecError *error)
{
    WitStoreMarker v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_store_marker_read_json(json, &v, error);
    (void)codec_blame(error, "record marker", "", rc);
    if (rc == SAP_OK) {
        rc = wit_store_marker_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_store_marker_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_store_time_names[] = {
    "lease-ns",
    "due-ns",
    "wall-ns",
};

static json_t *wit_store_time_write_json(const WitStoreTime *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "lease-ns", codec_json_unsigned(v->lease_ns));
    ok = ok && codec_json_add(json, "due-ns", codec_json_unsigned(v->due_ns));
    ok = ok && codec_json_add(json, "wall-ns", codec_json_unsigned(v->wall_ns));
    return codec_json_done(json, ok);
}

static int wit_store_time_read_json(const json_t *json, WitStoreTime *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_store_time_names, 3, error);
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "lease-ns"), &v->lease_ns, error);
        (void)codec_blame(error, "record time", "lease-ns", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "due-ns"), &v->due_ns, error);
        (void)codec_blame(error, "record time", "due-ns", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "wall-ns"), &v->wall_ns, error);
        (void)codec_blame(error, "record time", "wall-ns", rc);
    }
    return rc;
}

int wit_store_time_to_json(const WitStoreTime *v, json_t **json_out, CodecError *error)
{
    int rc = wit_store_time_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_store_time_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_store_time_from_json(const json_t *json, WitStoreTime *v_out, CodecError *error)
{
    WitStoreTime v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_store_time_read_json(json, &v, error);
    (void)codec_blame(error, "record time", "", rc);
    if (rc == SAP_OK) {
        rc = wit_store_time_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_store_time_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_store_blob_part_names[] = {
    "head",
    "content",
};

static json_t *wit_store_blob_part_write_json(const WitStoreBlobPart *v)
{
    return json_string(wit_store_blob_part_names[*v]);
}

static int wit_store_blob_part_read_json(const json_t *json, WitStoreBlobPart *v, CodecError *error)
{
    uint32_t number = 0;
    int rc = codec_json_read_case(json, wit_store_blob_part_names, 2, &number, error);

    *v = (WitStoreBlobPart)number;
    return rc;
}

int wit_store_blob_part_to_json(const WitStoreBlobPart *v, json_t **json_out, CodecError *error)
{
    int rc = wit_store_blob_part_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_store_blob_part_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_store_blob_part_from_json(const json_t *json, WitStoreBlobPart *v_out, CodecError *error)
{
    WitStoreBlobPart v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_store_blob_part_read_json(json, &v, error);
    (void)codec_blame(error, "enum blob-part", "", rc);
    if (rc == SAP_OK) {
        rc = wit_store_blob_part_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_store_blob_part_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_store_blob_kind_names[] = {
    "bytes",
    "list",
    "tree",
};

static json_t *wit_store_blob_kind_write_json(const WitStoreBlobKind *v)
{
    return json_string(wit_store_blob_kind_names[*v]);
}

static int wit_store_blob_kind_read_json(const json_t *json, WitStoreBlobKind *v, CodecError *error)
{
    uint32_t number = 0;
    int rc = codec_json_read_case(json, wit_store_blob_kind_names, 3, &number, error);

    *v = (WitStoreBlobKind)number;
    return rc;
}

int wit_store_blob_kind_to_json(const WitStoreBlobKind *v, json_t **json_out, CodecError *error)
{
    int rc = wit_store_blob_kind_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_store_blob_kind_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_store_blob_kind_from_json(const json_t *json, WitStoreBlobKind *v_out, CodecError *error)
{
    WitStoreBlobKind v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_store_blob_kind_read_json(json, &v, error);
    (void)codec_blame(error, "enum blob-kind", "", rc);
    if (rc == SAP_OK) {
        rc = wit_store_blob_kind_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_store_blob_kind_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_store_blob_head_names[] = {
    "kind",
    "depth",
    "size",
    "put-ns",
};

static json_t *wit_store_blob_head_write_json(const WitStoreBlobHead *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "kind", wit_store_blob_kind_write_json(&v->kind));
    ok = ok && codec_json_add(json, "depth", codec_json_unsigned(v->depth));
    ok = ok && codec_json_add(json, "size", codec_json_unsigned(v->size));
    ok = ok && codec_json_add(json, "put-ns", codec_json_unsigned(v->put_ns));
    return codec_json_done(json, ok);
}

static int wit_store_blob_head_read_json(const json_t *json, WitStoreBlobHead *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_store_blob_head_names, 4, error);
    if (rc == SAP_OK) {
        rc = wit_store_blob_kind_read_json(json_object_get(json, "kind"), &v->kind, error);
        (void)codec_blame(error, "record blob-head", "kind", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u8(json_object_get(json, "depth"), &v->depth, error);
        (void)codec_blame(error, "record blob-head", "depth", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "size"), &v->size, error);
        (void)codec_blame(error, "record blob-head", "size", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "put-ns"), &v->put_ns, error);
        (void)codec_blame(error, "record blob-head", "put-ns", rc);
    }
    return rc;
}

int wit_store_blob_head_to_json(const WitStoreBlobHead *v, json_t **json_out, CodecError *error)
{
    int rc = wit_store_blob_head_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_store_blob_head_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_store_blob_head_from_json(const json_t *json, WitStoreBlobHead *v_out, CodecError *error)
{
    WitStoreBlobHead v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_store_blob_head_read_json(json, &v, error);
    (void)codec_blame(error, "record blob-head", "", rc);
    if (rc == SAP_OK) {
        rc = wit_store_blob_head_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_store_blob_head_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_store_blob_owner_names[] = {
    "blob",
    "program",
};

static json_t *wit_store_blob_owner_write_json(const WitStoreBlobOwner *v)
{
    return json_string(wit_store_blob_owner_names[*v]);
}

static int wit_store_blob_owner_read_json(const json_t *json, WitStoreBlobOwner *v, CodecError *error)
{
    uint32_t number = 0;
    int rc = codec_json_read_case(json, wit_store_blob_owner_names, 2, &number, error);

    *v = (WitStoreBlobOwner)number;
    return rc;
}

int wit_store_blob_owner_to_json(const WitStoreBlobOwner *v, json_t **json_out, CodecError *error)
{
    int rc = wit_store_blob_owner_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_store_blob_owner_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_store_blob_owner_from_json(const json_t *json, WitStoreBlobOwner *v_out, CodecError *error)
{
    WitStoreBlobOwner v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_store_blob_owner_read_json(json, &v, error);
    (void)codec_blame(error, "enum blob-owner", "", rc);
    if (rc == SAP_OK) {
        rc = wit_store_blob_owner_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_store_blob_owner_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_store_dbi8_store_meta_key_names[] = {
    "row",
};

static json_t *wit_store_dbi8_store_meta_key_write_json(const WitStoreDbi8StoreMetaKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "row", wit_store_meta_row_write_json(&v->row));
    return codec_json_done(json, ok);
}

static int wit_store_dbi8_store_meta_key_read_json(const json_t *json, WitStoreDbi8StoreMetaKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_store_dbi8_store_meta_key_names, 1, error);
    if (rc == SAP_OK) {
        rc = wit_store_meta_row_read_json(json_object_get(json, "row"), &v->row, error);
        (void)codec_blame(error, "record dbi8-store-meta-key", "row", rc);
    }
    return rc;
}

int wit_store_dbi8_store_meta_key_to_json(const WitStoreDbi8StoreMetaKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_store_dbi8_store_meta_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_store_dbi8_store_meta_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_store_dbi8_store_meta_key_from_json(const json_t *json, WitStoreDbi8StoreMetaKey *v_out, CodecError *error)
{
    WitStoreDbi8StoreMetaKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_store_dbi8_store_meta_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi8-store-meta-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_store_dbi8_store_meta_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_store_dbi8_store_meta_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_store_dbi8_store_meta_value_names[] = {
    "value",
};

static json_t *wit_store_dbi8_store_meta_value_write_json(const WitStoreDbi8StoreMetaValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "value", codec_json_bytes(&v->value));
    return codec_json_done(json, ok);
}

static int wit_store_dbi8_store_meta_value_read_json(const json_t *json, WitStoreDbi8StoreMetaValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_store_dbi8_store_meta_value_names, 1, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "value"), &v->value, error);
        (void)codec_blame(error, "record dbi8-store-meta-value", "value", rc);
    }
    return rc;
}

int wit_store_dbi8_store_meta_value_to_json(const WitStoreDbi8StoreMetaValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_store_dbi8_store_meta_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_store_dbi8_store_meta_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_store_dbi8_store_meta_value_from_json(const json_t *json, WitStoreDbi8StoreMetaValue *v_out, CodecError *error)
{
    WitStoreDbi8StoreMetaValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_store_dbi8_store_meta_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi8-store-meta-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_store_dbi8_store_meta_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_store_dbi8_store_meta_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_store_dbi9_blobs_key_names[] = {
    "part",
    "sha256",
};

static json_t *wit_store_dbi9_blobs_key_write_json(const WitStoreDbi9BlobsKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "part", wit_store_blob_part_write_json(&v->part));
    ok = ok && codec_json_add(json, "sha256", codec_json_bytes(&v->sha256));
    return codec_json_done(json, ok);
}

static int wit_store_dbi9_blobs_key_read_json(const json_t *json, WitStoreDbi9BlobsKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_store_dbi9_blobs_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = wit_store_blob_part_read_json(json_object_get(json, "part"), &v->part, error);
        (void)codec_blame(error, "record dbi9-blobs-key", "part", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "sha256"), &v->sha256, error);
        (void)codec_blame(error, "record dbi9-blobs-key", "sha256", rc);
    }
    return rc;
}

int wit_store_dbi9_blobs_key_to_json(const WitStoreDbi9BlobsKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_store_dbi9_blobs_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_store_dbi9_blobs_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_store_dbi9_blobs_key_from_json(const json_t *json, WitStoreDbi9BlobsKey *v_out, CodecError *error)
{
    WitStoreDbi9BlobsKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_store_dbi9_blobs_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi9-blobs-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_store_dbi9_blobs_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_store_dbi9_blobs_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_store_dbi9_blobs_value_names[] = {
    "value",
};

static json_t *wit_store_dbi9_blobs_value_write_json(const WitStoreDbi9BlobsValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "value", codec_json_bytes(&v->value));
    return codec_json_done(json, ok);
}

static int wit_store_dbi9_blobs_value_read_json(const json_t *json, WitStoreDbi9BlobsValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_store_dbi9_blobs_value_names, 1, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "value"), &v->value, error);
        (void)codec_blame(error, "record dbi9-blobs-value", "value", rc);
    }
    return rc;
}

int wit_store_dbi9_blobs_value_to_json(const WitStoreDbi9BlobsValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_store_dbi9_blobs_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_store_dbi9_blobs_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_store_dbi9_blobs_value_from_json(const json_t *json, WitStoreDbi9BlobsValue *v_out, CodecError *error)
{
    WitStoreDbi9BlobsValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_store_dbi9_blobs_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi9-blobs-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_store_dbi9_blobs_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_store_dbi9_blobs_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_store_dbi10_blobrefs_key_names[] = {
    "sha256",
    "kind",
    "owner",
};

static json_t *wit_store_dbi10_blobrefs_key_write_json(const WitStoreDbi10BlobrefsKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "sha256", codec_json_bytes(&v->sha256));
    ok = ok && codec_json_add(json, "kind", wit_store_blob_owner_write_json(&v->kind));
    ok = ok && codec_json_add(json, "owner", codec_json_bytes(&v->owner));
    return codec_json_done(json, ok);
}

static int wit_store_dbi10_blobrefs_key_read_json(const json_t *json, WitStoreDbi10BlobrefsKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_store_dbi10_blobrefs_key_names, 3, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "sha256"), &v->sha256, error);
        (void)codec_blame(error, "record dbi10-blobrefs-key", "sha256", rc);
    }
    if (rc == SAP_OK) {
        rc = wit_store_blob_owner_read_json(json_object_get(json, "kind"), &v->kind, error);
        (void)codec_blame(error, "record dbi10-blobrefs-key", "kind", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "owner"), &v->owner, error);
        (void)codec_blame(error, "record dbi10-blobrefs-key", "owner", rc);
    }
    return rc;
}

int wit_store_dbi10_blobrefs_key_to_json(const WitStoreDbi10BlobrefsKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_store_dbi10_blobrefs_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_store_dbi10_blobrefs_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_store_dbi10_blobrefs_key_from_json(const json_t *json, WitStoreDbi10BlobrefsKey *v_out, CodecError *error)
{
    WitStoreDbi10BlobrefsKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_store_dbi10_blobrefs_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi10-blobrefs-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_store_dbi10_blobrefs_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_store_dbi10_blobrefs_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_store_dbi10_blobrefs_value_names[] = {
    "value",
};

static json_t *wit_store_dbi10_blobrefs_value_write_json(const WitStoreDbi10BlobrefsValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "value", codec_json_bytes(&v->value));
    return codec_json_done(json, ok);
}

static int wit_store_dbi10_blobrefs_value_read_json(const json_t *json, WitStoreDbi10BlobrefsValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_store_dbi10_blobrefs_value_names, 1, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "value"), &v->value, error);
        (void)codec_blame(error, "record dbi10-blobrefs-value", "value", rc);
    }
    return rc;
}

int wit_store_dbi10_blobrefs_value_to_json(const WitStoreDbi10BlobrefsValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_store_dbi10_blobrefs_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_store_dbi10_blobrefs_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_store_dbi10_blobrefs_value_from_json(const json_t *json, WitStoreDbi10BlobrefsValue *v_out, CodecError *error)
{
    WitStoreDbi10BlobrefsValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_store_dbi10_blobrefs_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi10-blobrefs-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_store_dbi10_blobrefs_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_store_dbi10_blobrefs_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

