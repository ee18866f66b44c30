/* api_workers.h - who runs which world: leases, workers, assignments. */
#ifndef SAPLING_NODE_API_WORKERS_H
#define SAPLING_NODE_API_WORKERS_H

#include "node/api_call.h"

void api_leases_list(Call *call);
void api_workers_list(Call *call);
void api_assignments_list(Call *call);
void api_assignment_put(Call *call);
void api_assignment_delete(Call *call);

#endif
