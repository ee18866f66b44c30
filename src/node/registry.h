/* registry.h - files by which commands find the nodes of this machine, wherever their data is.
 *
 * A node writes ADDRESS.json (mode 0600) into a directory of its user, and one that runs as root, and has not
 * been given another, into one of the machine too:
 *
 *   $XDG_STATE_HOME/sapling/nodes, or ~/.local/state/sapling/nodes
 *   /run/sapling/nodes
 *
 *   {"address","pid","socket","token_file","data"}
 *
 * Without an address (the socket alone) the name is that of the pid. They are hints: whoever reads one
 * connects, and finds out. Files of processes that are gone are removed by the next node. */
#ifndef SAPLING_NODE_REGISTRY_H
#define SAPLING_NODE_REGISTRY_H

#include <stddef.h>

typedef struct RegistryEntry {
    const char *address; /* NULL: the socket alone */
    const char *socket;
    const char *token_file;
    const char *data;
} RegistryEntry;

enum { REGISTRY_DIRS = 2, REGISTRY_PATH_MAX = 4096 };

/* The directories of this process, in the order in which commands look; how many there are. */
size_t registry_dirs(char dirs[REGISTRY_DIRS][REGISTRY_PATH_MAX]);

/* Writes the files of this process, as far as that can be done; how many there are. */
size_t registry_add(const RegistryEntry *entry);
void registry_remove(const char *address);

#endif
