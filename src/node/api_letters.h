/* api_letters.h - dead letters: list, replay, drop. */
#ifndef SAPLING_NODE_API_LETTERS_H
#define SAPLING_NODE_API_LETTERS_H

#include "node/api_call.h"

void api_world_letters(Call *call);
void api_letters_list(Call *call);
void api_letters_replay(Call *call);
void api_letters_drop(Call *call);

#endif
