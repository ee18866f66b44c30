/* outbound_json.h - JSON read and written by jansson, which does not always say that there was
 * no memory. */
#ifndef SAPLING_NODE_OUTBOUND_JSON_H
#define SAPLING_NODE_OUTBOUND_JSON_H

#include "common/buf.h"

#include <jansson.h>

enum { JSON_REASON_MAX = 160 };

/* The value is a new reference. SAP_INVALID: it is not strict JSON, or has what jansson does not
 * hold: an integer beyond 64 bits with sign, a character U+0000, or values nested too deep.
 * `reason` says which and where, and shows none of it. SAP_NOMEM. */
int outbound_json_load(const void *bytes, size_t len, json_t **out, char reason[JSON_REASON_MAX]);

/* Appends the text of the value, without white space. SAP_NOMEM. */
int outbound_json_dump(const json_t *value, Buf *out);

#endif
