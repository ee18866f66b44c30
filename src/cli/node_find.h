/* node_find.h - which node a command talks to, and how that node is reached.
 *
 * A node that runs leaves a file that says how (node/registry.h). A file whose process has ended, that is not a
 * node's, or that another user wrote counts for nothing: its token is never sent to whoever has the port now.
 *
 * --node or SAPLING_NODE names a node: HOST:PORT, a PORT of this machine, or, with a slash, a socket or a
 * data directory. Otherwise it is the one at NODE_ADDRESS, or the only one there is; nodes of this user come
 * before those of the machine. The socket is preferred to TCP, unless a token file is given. */
#ifndef SAPLING_CLI_NODE_FIND_H
#define SAPLING_CLI_NODE_FIND_H

#include "cli/command.h"

#define NODE_ADDRESS "127.0.0.1:7227"

typedef struct NodePlace {
    char *address;    /* what messages call it: HOST:PORT, or a path */
    char *socket;     /* NULL: reached by TCP */
    char *token_file; /* NULL: none is sent */
} NodePlace;

/* Writes *place_out, which the caller owns (release with node_place_release()), on EXIT_DONE only. Otherwise
 * the exit status, after saying so. It may still be that nobody listens there. */
int node_find(const Call *call, NodePlace *place_out);
/* Frees what the place holds and empties it. */
void node_place_release(NodePlace *place);

#endif
