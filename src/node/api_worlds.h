/* api_worlds.h - worlds: create, show, list, pause, resume, cancel, pin, delete. */
#ifndef SAPLING_NODE_API_WORLDS_H
#define SAPLING_NODE_API_WORLDS_H

#include "node/api_call.h"

void api_world_create(Call *call);
void api_worlds_list(Call *call);
void api_world_show(Call *call);
void api_world_pause(Call *call);
void api_world_resume(Call *call);
void api_world_cancel(Call *call);
void api_world_pin(Call *call);
void api_world_delete(Call *call);

/* Whether the store has a module of that name; otherwise the call has its answer. */
bool api_module_exists(Call *call, const char *module);

/* The status with this number, and back; -1: there is none of that name. */
const char *api_world_status_name(SapWorldStatus status);
int api_world_status_find(const char *name, size_t len);

#endif
