/* json_write.h - JSON as text on one line: members in their order, numbers with as few digits as they need,
 * where jansson alone would make 0.10000000000000001 of 0.1. */
#ifndef SAPLING_CLI_JSON_WRITE_H
#define SAPLING_CLI_JSON_WRITE_H

#include <jansson.h>

#include "common/buf.h"

/* Appends the value. SAP_OK or SAP_NOMEM. */
int json_write(Buf *out, const json_t *value);

#endif
