/* api_params.h - what a world has asked for, as JSON, also where the library keeps it as a record of its own. */
#ifndef SAPLING_NODE_API_PARAMS_H
#define SAPLING_NODE_API_PARAMS_H

#include "node/api_call.h"

/* Of a message or a question: "to", "name", "body", and "id" and "create" where the handler gave them. Of a
 * tag: "value", if it has one. Of all else, and where such a record does not decode: "params". False: no memory. */
bool call_set_params(Call *call, json_t *object, const char *kind, SapEncoding encoding,
                     const void *params, size_t len);

#endif
