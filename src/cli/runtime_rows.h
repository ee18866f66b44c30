/* runtime_rows.h - rows of the runner's tables as JSON, with what their bytes hold inside. */
#ifndef SAPLING_CLI_RUNTIME_ROWS_H
#define SAPLING_CLI_RUNTIME_ROWS_H

#include <jansson.h>

#include "common/codec.h"

/* Adds "key" and "value" to the object. `table` is a name of wit_schema_dbis. SAP_INVALID: *error says
 * which record does not decode; the key may be in the object. SAP_NOMEM. */
int runtime_row(const char *table, Slice key, Slice val, json_t *object, CodecError *error);

#endif
