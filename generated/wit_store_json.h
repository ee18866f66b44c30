/* wit_store_json.h - its types as JSON.
 *
 * Generated from schemas/wit/store-schema.wit by tools/wit_codegen: change the schema. */
#ifndef SAPLING_GENERATED_WIT_STORE_JSON_H
#define SAPLING_GENERATED_WIT_STORE_JSON_H

#include "json/codec_json.h"
#include "wit_store.h"

/* to_json gives a new reference. SAP_INVALID: value or JSON break the layout or a
 * refinement, as *error says unless it is NULL. Out-parameters change on SAP_OK only. */
int wit_store_meta_row_to_json(const WitStoreMetaRow *v, json_t **json_out, CodecError *error);
int wit_store_meta_row_from_json(const json_t *json, WitStoreMetaRow *v_out, CodecError *error);

int wit_store_marker_to_json(const WitStoreMarker *v, json_t **json_out, CodecError *error);
int wit_store_marker_from_json(const json_t *json, WitStoreMarker *v_out, CodecError *error);

int wit_store_time_to_json(const WitStoreTime *v, json_t **json_out, CodecError *error);
int wit_store_time_from_json(const json_t *json, WitStoreTime *v_out, CodecError *error);

int wit_store_blob_part_to_json(const WitStoreBlobPart *v, json_t **json_out, CodecError *error);
int wit_store_blob_part_from_json(const json_t *json, WitStoreBlobPart *v_out, CodecError *error);

int wit_store_blob_kind_to_json(const WitStoreBlobKind *v, json_t **json_out, CodecError *error);
int wit_store_blob_kind_from_json(const json_t *json, WitStoreBlobKind *v_out, CodecError *error);

int wit_store_blob_head_to_json(const WitStoreBlobHead *v, json_t **json_out, CodecError *error);
int wit_store_blob_head_from_json(const json_t *json, WitStoreBlobHead *v_out, CodecError *error);

int wit_store_blob_owner_to_json(const WitStoreBlobOwner *v, json_t **json_out, CodecError *error);
int wit_store_blob_owner_from_json(const json_t *json, WitStoreBlobOwner *v_out, CodecError *error);

int wit_store_dbi8_store_meta_key_to_json(const WitStoreDbi8StoreMetaKey *v, json_t **json_out, CodecError *error);
int wit_store_dbi8_store_meta_key_from_json(const json_t *json, WitStoreDbi8StoreMetaKey *v_out, CodecError *error);

int wit_store_dbi8_store_meta_value_to_json(const WitStoreDbi8StoreMetaValue *v, json_t **json_out, CodecError *error);
int wit_store_dbi8_store_meta_value_from_json(const json_t *json, WitStoreDbi8StoreMetaValue *v_out, CodecError *error);

int wit_store_dbi9_blobs_key_to_json(const WitStoreDbi9BlobsKey *v, json_t **json_out, CodecError *error);
int wit_store_dbi9_blobs_key_from_json(const json_t *json, WitStoreDbi9BlobsKey *v_out, CodecError *error);

int wit_store_dbi9_blobs_value_to_json(const WitStoreDbi9BlobsValue *v, json_t **json_out, CodecError *error);
int wit_store_dbi9_blobs_value_from_json(const json_t *json, WitStoreDbi9BlobsValue *v_out, CodecError *error);

int wit_store_dbi10_blobrefs_key_to_json(const WitStoreDbi10BlobrefsKey *v, json_t **json_out, CodecError *error);
int wit_store_dbi10_blobrefs_key_from_json(const json_t *json, WitStoreDbi10BlobrefsKey *v_out, CodecError *error);

int wit_store_dbi10_blobrefs_value_to_json(const WitStoreDbi10BlobrefsValue *v, json_t **json_out, CodecError *error);
int wit_store_dbi10_blobrefs_value_from_json(const json_t *json, WitStoreDbi10BlobrefsValue *v_out, CodecError *error);

#endif
