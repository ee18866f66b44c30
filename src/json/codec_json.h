/* codec_json.h - what generated JSON readers and writers share; README.md has the forms.
 *
 * Writers return a new reference, or NULL without memory. Readers answer SAP_INVALID with a text in
 * *error; a NULL value is a field that is missing. */
#ifndef SAPLING_JSON_CODEC_JSON_H
#define SAPLING_JSON_CODEC_JSON_H

#include "common/codec.h"

#include <jansson.h>

json_t *codec_json_unsigned(uint64_t v);
json_t *codec_json_signed(int64_t v);
json_t *codec_json_real(double v);
json_t *codec_json_real32(float v);
json_t *codec_json_char(uint32_t v);
json_t *codec_json_string(const CodecBytes *v);
json_t *codec_json_bytes(const CodecBytes *v);
/* The names of the bits that are set; bit i of bits[] is names[i]. */
json_t *codec_json_flags(const uint8_t *bits, const char *const *names, uint32_t count);

/* Each takes the reference `value`, also when it fails; false without memory. */
bool codec_json_add(json_t *object, const char *name, json_t *value);
bool codec_json_append(json_t *array, json_t *value);
/* {"name": value} */
json_t *codec_json_one(const char *name, json_t *value);
/* `json` if `ok`; otherwise gives it back and returns NULL. */
json_t *codec_json_done(json_t *json, bool ok);

int codec_json_read_bool(const json_t *json, bool *out, CodecError *error);
int codec_json_read_unsigned(const json_t *json, uint64_t most, uint64_t *out, CodecError *error);
int codec_json_read_signed(const json_t *json, int64_t least, int64_t most, int64_t *out,
                           CodecError *error);
int codec_json_read_real(const json_t *json, double *out, CodecError *error);
int codec_json_read_real32(const json_t *json, float *out, CodecError *error);
int codec_json_read_char(const json_t *json, uint32_t *out, CodecError *error);
/* *out is empty before. */
int codec_json_read_string(const json_t *json, CodecBytes *out, CodecError *error);
int codec_json_read_bytes(const json_t *json, CodecBytes *out, CodecError *error);
/* A name of names[0..count), as its number. */
int codec_json_read_case(const json_t *json, const char *const *names, uint32_t count,
                         uint32_t *out, CodecError *error);
int codec_json_read_flags(const json_t *json, const char *const *names, uint32_t count,
                          uint8_t *bits, CodecError *error);
/* A name, or an object of one field: *value_out is its value, or NULL. */
int codec_json_read_variant(const json_t *json, const char *const *names, uint32_t count,
                            uint32_t *out, const json_t **value_out, CodecError *error);
/* An object all of whose fields are in names[0..count). */
int codec_json_read_fields(const json_t *json, const char *const *names, uint32_t count,
                           CodecError *error);
int codec_json_read_array(const json_t *json, uint32_t *count_out, CodecError *error);
/* What stands for no payload: JSON's null if `null_wanted`, otherwise nothing at all. */
int codec_json_read_nothing(const json_t *value, bool null_wanted, CodecError *error);

#endif
