/* wit_store.c - codecs of the types in its header.
 *
 * Generated from schemas/wit/store-schema.wit by tools/wit_codegen: change the schema. */
#include "wit_store.h"

static void wit_store_meta_row_write(CodecWriter *w, const WitStoreMetaRow *v)
{
    codec_write_u8(w, *v);
}

static void wit_store_meta_row_read(CodecReader *r, WitStoreMetaRow *v)
{
    *v = codec_read_u8(r);
}

static void wit_store_meta_row_write_key(CodecWriter *w, const WitStoreMetaRow *v)
{
    codec_write_u8(w, *v);
}

static void wit_store_meta_row_read_key(CodecReader *r, WitStoreMetaRow *v)
{
    *v = codec_read_u8(r);
}

static int wit_store_meta_row_check(const WitStoreMetaRow *v, CodecError *error)
{
    return codec_blame(error, "enum meta-row", "", codec_check_case(*v, 2, error));
}

bool wit_store_meta_row_equal(const WitStoreMetaRow *a, const WitStoreMetaRow *b)
{
    return *a == *b;
}

void wit_store_meta_row_free(WitStoreMetaRow *v)
{
    memset(v, 0, sizeof *v);
}

int wit_store_meta_row_validate(const WitStoreMetaRow *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_store_meta_row_check(v, error);
}

int wit_store_meta_row_encode(const WitStoreMetaRow *v, Buf *buf, CodecError *error)
{
    int rc = wit_store_meta_row_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_store_meta_row_write(&w, v);
    return codec_write_end(&w);
}

int wit_store_meta_row_decode(const void *data, size_t len, WitStoreMetaRow *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitStoreMetaRow v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_store_meta_row_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "enum meta-row", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_store_meta_row_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_store_marker_write(CodecWriter *w, const WitStoreMarker *v)
{
    codec_write_raw(w, "SAPSTORE", 8);
    codec_write_u32(w, v->format);
    codec_write_bytes(w, &v->schema);
    codec_write_raw(w, v->more.data, v->more.len);
}

static void wit_store_marker_read(CodecReader *r, WitStoreMarker *v)
{
    codec_read_exactly(r, "SAPSTORE", 8);
    v->format = codec_read_u32(r);
    if (codec_read_failed(r, "record marker", "format")) {
        return;
    }
    codec_read_bytes(r, &v->schema);
    if (codec_read_failed(r, "record marker", "schema")) {
        return;
    }
    codec_read_rest(r, &v->more);
    if (codec_read_failed(r, "record marker", "more")) {
        return;
    }
}

static int wit_store_marker_check(const WitStoreMarker *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->format), codec_number_u(UINT64_C(1))) >= 0);
        if (bad || !holds) {
            return codec_broken(error, "record marker", "format", "value >= 1");
        }
    }
    int rc = codec_check_string(&v->schema, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record marker", "schema", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->schema.len), codec_number_u(UINT64_C(64))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record marker", "schema", "len(value) <= 64");
        }
    }
    return SAP_OK;
}

bool wit_store_marker_equal(const WitStoreMarker *a, const WitStoreMarker *b)
{
    return a->format == b->format &&
           codec_bytes_equal(&a->schema, &b->schema) &&
           codec_bytes_equal(&a->more, &b->more);
}

void wit_store_marker_free(WitStoreMarker *v)
{
    codec_bytes_free(&v->schema);
    codec_bytes_free(&v->more);
    memset(v, 0, sizeof *v);
}

int wit_store_marker_validate(const WitStoreMarker *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_store_marker_check(v, error);
}

int wit_store_marker_encode(const WitStoreMarker *v, Buf *buf, CodecError *error)
{
    int rc = wit_store_marker_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_store_marker_write(&w, v);
    return codec_write_end(&w);
}

int wit_store_marker_decode(const void *data, size_t len, WitStoreMarker *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitStoreMarker v;

    memset(&v, 0, sizeof v);
    wit_store_marker_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record marker", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_store_marker_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_store_marker_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_store_time_write(CodecWriter *w, const WitStoreTime *v)
{
    uint8_t *at_lease_ns = codec_write_room(w, 24);
    if (at_lease_ns != NULL) {
        store_u64le(at_lease_ns + 0, (uint64_t)v->lease_ns);
        store_u64le(at_lease_ns + 8, (uint64_t)v->due_ns);
        store_u64le(at_lease_ns + 16, (uint64_t)v->wall_ns);
    }
}

static void wit_store_time_read(CodecReader *r, WitStoreTime *v)
{
    const uint8_t *at_lease_ns = codec_read_run(r, 24);
    if (at_lease_ns == NULL) {
        static const CodecField fields[] = {{"lease-ns", 8}, {"due-ns", 8}, {"wall-ns", 8}};
        codec_read_no_run(r, "record time", fields, 3);
        return;
    }
    v->lease_ns = (uint64_t)load_u64le(at_lease_ns + 0);
    v->due_ns = (uint64_t)load_u64le(at_lease_ns + 8);
    v->wall_ns = (uint64_t)load_u64le(at_lease_ns + 16);
}

static int wit_store_time_check(const WitStoreTime *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->lease_ns), codec_number_u(UINT64_C(9223372036854775808))) < 0) && (codec_number_compare(codec_number_u(v->due_ns), codec_number_u(UINT64_C(9223372036854775808))) < 0));
        if (bad || !holds) {
            return codec_broken(error, "record time", "", "lease-ns < 0x8000000000000000 && due-ns < 0x8000000000000000");
        }
    }
    return SAP_OK;
}

bool wit_store_time_equal(const WitStoreTime *a, const WitStoreTime *b)
{
    return a->lease_ns == b->lease_ns &&
           a->due_ns == b->due_ns &&
           a->wall_ns == b->wall_ns;
}

void wit_store_time_free(WitStoreTime *v)
{
    memset(v, 0, sizeof *v);
}

int wit_store_time_validate(const WitStoreTime *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_store_time_check(v, error);
}

int wit_store_time_encode(const WitStoreTime *v, Buf *buf, CodecError *error)
{
    int rc = wit_store_time_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_store_time_write(&w, v);
    return codec_write_end(&w);
}

int wit_store_time_decode(const void *data, size_t len, WitStoreTime *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitStoreTime v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_store_time_read(&r, &v);
    (void)codec_read_failed(&r, "record time", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_store_time_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    v_out->lease_ns = v.lease_ns;
    v_out->due_ns = v.due_ns;
    v_out->wall_ns = v.wall_ns;
    return SAP_OK;
}

static void wit_store_blob_part_write(CodecWriter *w, const WitStoreBlobPart *v)
{
    codec_write_u8(w, *v);
}

static void wit_store_blob_part_read(CodecReader *r, WitStoreBlobPart *v)
{
    *v = codec_read_u8(r);
}

static int wit_store_blob_part_check(const WitStoreBlobPart *v, CodecError *error)
{
    return codec_blame(error, "enum blob-part", "", codec_check_case(*v, 2, error));
}

bool wit_store_blob_part_equal(const WitStoreBlobPart *a, const WitStoreBlobPart *b)
{
    return *a == *b;
}

void wit_store_blob_part_free(WitStoreBlobPart *v)
{
    memset(v, 0, sizeof *v);
}

int wit_store_blob_part_validate(const WitStoreBlobPart *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_store_blob_part_check(v, error);
}

int wit_store_blob_part_encode(const WitStoreBlobPart *v, Buf *buf, CodecError *error)
{
    int rc = wit_store_blob_part_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_store_blob_part_write(&w, v);
    return codec_write_end(&w);
}

int wit_store_blob_part_decode(const void *data, size_t len, WitStoreBlobPart *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitStoreBlobPart v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_store_blob_part_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "enum blob-part", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_store_blob_part_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_store_blob_kind_write(CodecWriter *w, const WitStoreBlobKind *v)
{
    codec_write_u8(w, *v);
}

static void wit_store_blob_kind_read(CodecReader *r, WitStoreBlobKind *v)
{
    *v = codec_read_u8(r);
}

static int wit_store_blob_kind_check(const WitStoreBlobKind *v, CodecError *error)
{
    return codec_blame(error, "enum blob-kind", "", codec_check_case(*v, 3, error));
}

bool wit_store_blob_kind_equal(const WitStoreBlobKind *a, const WitStoreBlobKind *b)
{
    return *a == *b;
}

void wit_store_blob_kind_free(WitStoreBlobKind *v)
{
    memset(v, 0, sizeof *v);
}

int wit_store_blob_kind_validate(const WitStoreBlobKind *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_store_blob_kind_check(v, error);
}

int wit_store_blob_kind_encode(const WitStoreBlobKind *v, Buf *buf, CodecError *error)
{
    int rc = wit_store_blob_kind_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_store_blob_kind_write(&w, v);
    return codec_write_end(&w);
}

int wit_store_blob_kind_decode(const void *data, size_t len, WitStoreBlobKind *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitStoreBlobKind v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_store_blob_kind_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "enum blob-kind", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_store_blob_kind_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_store_blob_head_write(CodecWriter *w, const WitStoreBlobHead *v)
{
    uint8_t *at_kind = codec_write_room(w, 18);
    if (at_kind != NULL) {
        at_kind[0] = (uint8_t)v->kind;
        at_kind[1] = (uint8_t)v->depth;
        store_u64le(at_kind + 2, (uint64_t)v->size);
        store_u64le(at_kind + 10, (uint64_t)v->put_ns);
    }
}

static void wit_store_blob_head_read(CodecReader *r, WitStoreBlobHead *v)
{
    const uint8_t *at_kind = codec_read_run(r, 18);
    if (at_kind == NULL) {
        static const CodecField fields[] = {{"kind", 1}, {"depth", 1}, {"size", 8}, {"put-ns", 8}};
        codec_read_no_run(r, "record blob-head", fields, 4);
        return;
    }
    v->kind = (WitStoreBlobKind)at_kind[0];
    v->depth = (uint8_t)at_kind[1];
    v->size = (uint64_t)load_u64le(at_kind + 2);
    v->put_ns = (uint64_t)load_u64le(at_kind + 10);
}

static int wit_store_blob_head_check(const WitStoreBlobHead *v, CodecError *error)
{
    int rc = wit_store_blob_kind_check(&v->kind, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record blob-head", "kind", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->depth), codec_number_u(UINT64_C(5))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record blob-head", "depth", "value <= 5");
        }
    }
    {
        bool bad = false;
        bool holds = codec_truths_equal((codec_number_compare(codec_number_u(v->kind), codec_number_u(UINT64_C(2))) == 0), (codec_number_compare(codec_number_u(v->depth), codec_number_u(UINT64_C(0))) > 0));
        if (bad || !holds) {
            return codec_broken(error, "record blob-head", "", "(kind == tree) == (depth > 0)");
        }
    }
    return SAP_OK;
}

bool wit_store_blob_head_equal(const WitStoreBlobHead *a, const WitStoreBlobHead *b)
{
    return wit_store_blob_kind_equal(&a->kind, &b->kind) &&
           a->depth == b->depth &&
           a->size == b->size &&
           a->put_ns == b->put_ns;
}

void wit_store_blob_head_free(WitStoreBlobHead *v)
{
    memset(v, 0, sizeof *v);
}

int wit_store_blob_head_validate(const WitStoreBlobHead *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_store_blob_head_check(v, error);
}

int wit_store_blob_head_encode(const WitStoreBlobHead *v, Buf *buf, CodecError *error)
{
    int rc = wit_store_blob_head_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_store_blob_head_write(&w, v);
    return codec_write_end(&w);
}

int wit_store_blob_head_decode(const void *data, size_t len, WitStoreBlobHead *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitStoreBlobHead v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_store_blob_head_read(&r, &v);
    (void)codec_read_failed(&r, "record blob-head", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_store_blob_head_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    v_out->kind = v.kind;
    v_out->depth = v.depth;
    v_out->size = v.size;
    v_out->put_ns = v.put_ns;
    return SAP_OK;
}

static void wit_store_blob_owner_write(CodecWriter *w, const WitStoreBlobOwner *v)
{
    codec_write_u8(w, *v);
}

static void wit_store_blob_owner_read(CodecReader *r, WitStoreBlobOwner *v)
{
    *v = codec_read_u8(r);
}

static void wit_store_blob_owner_write_key(CodecWriter *w, const WitStoreBlobOwner *v)
{
    codec_write_u8(w, *v);
}

static void wit_store_blob_owner_read_key(CodecReader *r, WitStoreBlobOwner *v)
{
    *v = codec_read_u8(r);
}

static int wit_store_blob_owner_check(const WitStoreBlobOwner *v, CodecError *error)
{
    return codec_blame(error, "enum blob-owner", "", codec_check_case(*v, 2, error));
}

bool wit_store_blob_owner_equal(const WitStoreBlobOwner *a, const WitStoreBlobOwner *b)
{
    return *a == *b;
}

void wit_store_blob_owner_free(WitStoreBlobOwner *v)
{
    memset(v, 0, sizeof *v);
}

int wit_store_blob_owner_validate(const WitStoreBlobOwner *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_store_blob_owner_check(v, error);
}

int wit_store_blob_owner_encode(const WitStoreBlobOwner *v, Buf *buf, CodecError *error)
{
    int rc = wit_store_blob_owner_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_store_blob_owner_write(&w, v);
    return codec_write_end(&w);
}

int wit_store_blob_owner_decode(const void *data, size_t len, WitStoreBlobOwner *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitStoreBlobOwner v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_store_blob_owner_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "enum blob-owner", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_store_blob_owner_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_store_dbi8_store_meta_key_write_key(CodecWriter *w, const WitStoreDbi8StoreMetaKey *v)
{
    wit_store_meta_row_write_key(w, &v->row);
}

static void wit_store_dbi8_store_meta_key_read_key(CodecReader *r, WitStoreDbi8StoreMetaKey *v)
{
    wit_store_meta_row_read_key(r, &v->row);
    if (codec_read_failed(r, "record dbi8-store-meta-key", "row")) {
        return;
    }
}

static int wit_store_dbi8_store_meta_key_check(const WitStoreDbi8StoreMetaKey *v, CodecError *error)
{
    int rc = wit_store_meta_row_check(&v->row, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi8-store-meta-key", "row", rc);
    }
    return SAP_OK;
}

bool wit_store_dbi8_store_meta_key_equal(const WitStoreDbi8StoreMetaKey *a, const WitStoreDbi8StoreMetaKey *b)
{
    return wit_store_meta_row_equal(&a->row, &b->row);
}

void wit_store_dbi8_store_meta_key_free(WitStoreDbi8StoreMetaKey *v)
{
    memset(v, 0, sizeof *v);
}

int wit_store_dbi8_store_meta_key_validate(const WitStoreDbi8StoreMetaKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_store_dbi8_store_meta_key_check(v, error);
}

int wit_store_dbi8_store_meta_key_encode(const WitStoreDbi8StoreMetaKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_store_dbi8_store_meta_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_store_dbi8_store_meta_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_store_dbi8_store_meta_key_decode(const void *data, size_t len, WitStoreDbi8StoreMetaKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitStoreDbi8StoreMetaKey v;

    memset(&v, 0, sizeof v);
    wit_store_dbi8_store_meta_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi8-store-meta-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_store_dbi8_store_meta_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_store_dbi8_store_meta_value_write(CodecWriter *w, const WitStoreDbi8StoreMetaValue *v)
{
    codec_write_raw(w, v->value.data, v->value.len);
}

static void wit_store_dbi8_store_meta_value_read(CodecReader *r, WitStoreDbi8StoreMetaValue *v)
{
    codec_read_rest(r, &v->value);
    if (codec_read_failed(r, "record dbi8-store-meta-value", "value")) {
        return;
    }
}

bool wit_store_dbi8_store_meta_value_equal(const WitStoreDbi8StoreMetaValue *a, const WitStoreDbi8StoreMetaValue *b)
{
    return codec_bytes_equal(&a->value, &b->value);
}

void wit_store_dbi8_store_meta_value_free(WitStoreDbi8StoreMetaValue *v)
{
    codec_bytes_free(&v->value);
    memset(v, 0, sizeof *v);
}

int wit_store_dbi8_store_meta_value_validate(const WitStoreDbi8StoreMetaValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_store_dbi8_store_meta_value_encode(const WitStoreDbi8StoreMetaValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_store_dbi8_store_meta_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_store_dbi8_store_meta_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_store_dbi8_store_meta_value_decode(const void *data, size_t len, WitStoreDbi8StoreMetaValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitStoreDbi8StoreMetaValue v;

    memset(&v, 0, sizeof v);
    wit_store_dbi8_store_meta_value_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi8-store-meta-value", "");
    if (r.rc != SAP_OK) {
        wit_store_dbi8_store_meta_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_store_dbi9_blobs_key_write(CodecWriter *w, const WitStoreDbi9BlobsKey *v)
{
    wit_store_blob_part_write(w, &v->part);
    codec_write_raw(w, v->sha256.data, v->sha256.len);
}

static void wit_store_dbi9_blobs_key_read(CodecReader *r, WitStoreDbi9BlobsKey *v)
{
    wit_store_blob_part_read(r, &v->part);
    if (codec_read_failed(r, "record dbi9-blobs-key", "part")) {
        return;
    }
    codec_read_rest(r, &v->sha256);
    if (codec_read_failed(r, "record dbi9-blobs-key", "sha256")) {
        return;
    }
}

static int wit_store_dbi9_blobs_key_check(const WitStoreDbi9BlobsKey *v, CodecError *error)
{
    int rc = wit_store_blob_part_check(&v->part, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi9-blobs-key", "part", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->sha256.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi9-blobs-key", "sha256", "len(value) == 32");
        }
    }
    return SAP_OK;
}

bool wit_store_dbi9_blobs_key_equal(const WitStoreDbi9BlobsKey *a, const WitStoreDbi9BlobsKey *b)
{
    return wit_store_blob_part_equal(&a->part, &b->part) &&
           codec_bytes_equal(&a->sha256, &b->sha256);
}

void wit_store_dbi9_blobs_key_free(WitStoreDbi9BlobsKey *v)
{
    codec_bytes_free(&v->sha256);
    memset(v, 0, sizeof *v);
}

int wit_store_dbi9_blobs_key_validate(const WitStoreDbi9BlobsKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_store_dbi9_blobs_key_check(v, error);
}

int wit_store_dbi9_blobs_key_encode(const WitStoreDbi9BlobsKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_store_dbi9_blobs_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_store_dbi9_blobs_key_write(&w, v);
    return codec_write_end(&w);
}

int wit_store_dbi9_blobs_key_decode(const void *data, size_t len, WitStoreDbi9BlobsKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitStoreDbi9BlobsKey v;

    memset(&v, 0, sizeof v);
    wit_store_dbi9_blobs_key_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi9-blobs-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_store_dbi9_blobs_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_store_dbi9_blobs_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_store_dbi9_blobs_value_write(CodecWriter *w, const WitStoreDbi9BlobsValue *v)
{
    codec_write_raw(w, v->value.data, v->value.len);
}

static void wit_store_dbi9_blobs_value_read(CodecReader *r, WitStoreDbi9BlobsValue *v)
{
    codec_read_rest(r, &v->value);
    if (codec_read_failed(r, "record dbi9-blobs-value", "value")) {
        return;
    }
}

bool wit_store_dbi9_blobs_value_equal(const WitStoreDbi9BlobsValue *a, const WitStoreDbi9BlobsValue *b)
{
    return codec_bytes_equal(&a->value, &b->value);
}

void wit_store_dbi9_blobs_value_free(WitStoreDbi9BlobsValue *v)
{
    codec_bytes_free(&v->value);
    memset(v, 0, sizeof *v);
}

int wit_store_dbi9_blobs_value_validate(const WitStoreDbi9BlobsValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_store_dbi9_blobs_value_encode(const WitStoreDbi9BlobsValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_store_dbi9_blobs_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_store_dbi9_blobs_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_store_dbi9_blobs_value_decode(const void *data, size_t len, WitStoreDbi9BlobsValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitStoreDbi9BlobsValue v;

    memset(&v, 0, sizeof v);
    wit_store_dbi9_blobs_value_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi9-blobs-value", "");
    if (r.rc != SAP_OK) {
        wit_store_dbi9_blobs_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_store_dbi10_blobrefs_key_write_key(CodecWriter *w, const WitStoreDbi10BlobrefsKey *v)
{
    codec_write_key_bytes(w, &v->sha256);
    wit_store_blob_owner_write_key(w, &v->kind);
    codec_write_key_bytes(w, &v->owner);
}

static void wit_store_dbi10_blobrefs_key_read_key(CodecReader *r, WitStoreDbi10BlobrefsKey *v)
{
    codec_read_key_bytes(r, &v->sha256);
    if (codec_read_failed(r, "record dbi10-blobrefs-key", "sha256")) {
        return;
    }
    wit_store_blob_owner_read_key(r, &v->kind);
    if (codec_read_failed(r, "record dbi10-blobrefs-key", "kind")) {
        return;
    }
    codec_read_key_bytes(r, &v->owner);
    if (codec_read_failed(r, "record dbi10-blobrefs-key", "owner")) {
        return;
    }
}

static int wit_store_dbi10_blobrefs_key_check(const WitStoreDbi10BlobrefsKey *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->sha256.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi10-blobrefs-key", "sha256", "len(value) == 32");
        }
    }
    int rc = wit_store_blob_owner_check(&v->kind, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi10-blobrefs-key", "kind", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->owner.len), codec_number_u(UINT64_C(256))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi10-blobrefs-key", "owner", "len(value) <= 256");
        }
    }
    return SAP_OK;
}

bool wit_store_dbi10_blobrefs_key_equal(const WitStoreDbi10BlobrefsKey *a, const WitStoreDbi10BlobrefsKey *b)
{
    return codec_bytes_equal(&a->sha256, &b->sha256) &&
           wit_store_blob_owner_equal(&a->kind, &b->kind) &&
           codec_bytes_equal(&a->owner, &b->owner);
}

void wit_store_dbi10_blobrefs_key_free(WitStoreDbi10BlobrefsKey *v)
{
    codec_bytes_free(&v->sha256);
    codec_bytes_free(&v->owner);
    memset(v, 0, sizeof *v);
}

int wit_store_dbi10_blobrefs_key_validate(const WitStoreDbi10BlobrefsKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_store_dbi10_blobrefs_key_check(v, error);
}

int wit_store_dbi10_blobrefs_key_encode(const WitStoreDbi10BlobrefsKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_store_dbi10_blobrefs_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_store_dbi10_blobrefs_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_store_dbi10_blobrefs_key_decode(const void *data, size_t len, WitStoreDbi10BlobrefsKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitStoreDbi10BlobrefsKey v;

    memset(&v, 0, sizeof v);
    wit_store_dbi10_blobrefs_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi10-blobrefs-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_store_dbi10_blobrefs_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_store_dbi10_blobrefs_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_store_dbi10_blobrefs_value_write(CodecWriter *w, const WitStoreDbi10BlobrefsValue *v)
{
    codec_write_raw(w, v->value.data, v->value.len);
}

static void wit_store_dbi10_blobrefs_value_read(CodecReader *r, WitStoreDbi10BlobrefsValue *v)
{
    codec_read_rest(r, &v->value);
    if (codec_read_failed(r, "record dbi10-blobrefs-value", "value")) {
        return;
    }
}

bool wit_store_dbi10_blobrefs_value_equal(const WitStoreDbi10BlobrefsValue *a, const WitStoreDbi10BlobrefsValue *b)
{
    return codec_bytes_equal(&a->value, &b->value);
}

void wit_store_dbi10_blobrefs_value_free(WitStoreDbi10BlobrefsValue *v)
{
    codec_bytes_free(&v->value);
    memset(v, 0, sizeof *v);
}

int wit_store_dbi10_blobrefs_value_validate(const WitStoreDbi10BlobrefsValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_store_dbi10_blobrefs_value_encode(const WitStoreDbi10BlobrefsValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_store_dbi10_blobrefs_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_store_dbi10_blobrefs_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_store_dbi10_blobrefs_value_decode(const void *data, size_t len, WitStoreDbi10BlobrefsValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitStoreDbi10BlobrefsValue v;

    memset(&v, 0, sizeof v);
    wit_store_dbi10_blobrefs_value_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi10-blobrefs-value", "");
    if (r.rc != SAP_OK) {
        wit_store_dbi10_blobrefs_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

