/* modules.h - code that this process has for worlds.
 *
 * A module is a name, a version and a handler. Of several versions of a name the newest runs a world,
 * unless the world is pinned to one. */
#ifndef SAPLING_UNIVERSE_MODULES_H
#define SAPLING_UNIVERSE_MODULES_H

#include "sapling/universe.h"
#include "universe/rows.h"

/* The version of a module; one that says 0 has 1. */
uint64_t module_version(const SapWorldModule *module);

/* pin 0: the newest version. NULL: this process does not have it. */
const SapWorldModule *module_find(const UniverseName *name, uint64_t pin);

/* All modules, for a session's row. The caller owns *refs_out: mem_free(MEM_UNIVERSE, ..., count * size of
 * one). The names are borrowed for as long as the process lives. SAP_NOMEM. */
int module_refs(WitUniverseModuleRef **refs_out, uint32_t *count_out);

/* A worker opens (1) or has closed (-1): modules are not unregistered in between. */
void modules_use(int change);

/* SAP_EXISTS: a module that was to be registered when the program was loaded was refused, since another
 * one had its name and version; SAP_INVALID: its name is invalid. */
int modules_check(void);

/* Writes a row for each module that has none, so that worlds which an older version could not run are
 * tried again (see orchestrator.c). Run it again after any code. */
int modules_publish(SapStore *store, uint32_t universe);

#endif
