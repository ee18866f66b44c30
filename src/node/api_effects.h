/* api_effects.h - effects and timers: list, show, retry, cancel, receipts by hand. */
#ifndef SAPLING_NODE_API_EFFECTS_H
#define SAPLING_NODE_API_EFFECTS_H

#include "node/api_call.h"

void api_effects_list(Call *call);
void api_effect_show(Call *call);
void api_effect_retry(Call *call);
void api_effect_cancel(Call *call);
void api_effect_receipt(Call *call);
void api_timers_list(Call *call);
void api_timer_cancel(Call *call);

#endif
