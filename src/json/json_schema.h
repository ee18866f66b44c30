/* json_schema.h - whether a JSON value is as a schema says: the part of JSON Schema 2020-12 that says what
 * a value is, without references, formats and regular expressions.
 *
 * A schema is true, false or an object of the keywords of the table in json_schema.c. Those that only
 * describe (title, description, $comment, $schema, $id, default, examples, deprecated) are allowed and say
 * nothing; any other is an error, so that nobody relies on a keyword that is not checked.
 *
 * Schemas and values are canonical JSON (canonical.h). */
#ifndef SAPLING_JSON_JSON_SCHEMA_H
#define SAPLING_JSON_JSON_SCHEMA_H

#include "common/buf.h"

/* Bytes of a text that says what is wrong, with its NUL. */
enum { JSON_SCHEMA_WHY = 256 };

/* SAP_INVALID: it is not a schema, and `why` says where and what. */
int json_schema_check(Slice schema, char why[JSON_SCHEMA_WHY]);

/* `schema` was checked. SAP_INVALID: the value is not what it says; `why` begins with the path of the part
 * that is not, as in "/items/0: ...". */
int json_schema_validate(Slice schema, Slice value, char why[JSON_SCHEMA_WHY]);

#endif
