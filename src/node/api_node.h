/* api_node.h - the node itself: health, metrics, status. */
#ifndef SAPLING_NODE_API_NODE_H
#define SAPLING_NODE_API_NODE_H

#include "node/api_call.h"

void api_healthz(Call *call);
void api_readyz(Call *call);
void api_metrics(Call *call);
void api_status(Call *call);

#endif
