/* value_json.h - a value as JSON, in the forms of src/json/README.md. */
#ifndef SAPLING_SCHEMA_VALUE_JSON_H
#define SAPLING_SCHEMA_VALUE_JSON_H

#include <jansson.h>

#include "schema/value.h"

/* A new reference; NULL without memory. */
json_t *value_json(Type *type, const Value *v);

#endif
