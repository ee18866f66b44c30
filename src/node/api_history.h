/* api_history.h - reading a world: state, journal, what is outstanding, queries, the result. */
#ifndef SAPLING_NODE_API_HISTORY_H
#define SAPLING_NODE_API_HISTORY_H

#include "node/api_call.h"

void api_world_state(Call *call);
void api_world_journal(Call *call);
void api_world_outstanding(Call *call);
void api_world_query(Call *call);
void api_world_result(Call *call);

/* Answers with a result that was waited for; takes ownership. */
void api_result_answer(Call *call, SapReply *result);

#endif
