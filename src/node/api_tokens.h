/* api_tokens.h - tokens over HTTP: list, create, revoke. */
#ifndef SAPLING_NODE_API_TOKENS_H
#define SAPLING_NODE_API_TOKENS_H

#include "node/api_call.h"

void api_tokens_list(Call *call);
void api_token_create(Call *call);
void api_token_revoke(Call *call);

#endif
