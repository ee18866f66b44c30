/* node.h - a node: its data directory, and the service that runs on its store.
 *
 * Where the file of the store fails (an I/O error is final for whoever has it open), the node closes the
 * service, opens another and goes on with what is on disk. Whoever runs a node calls node_check() about once a
 * second for that. */
#ifndef SAPLING_NODE_NODE_H
#define SAPLING_NODE_NODE_H

#include "common/log.h"
#include "node/config.h"
#include "node/data_dir.h"
#include "node/node_error.h"
#include "node/recovery.h"

typedef struct Node Node;

/* The config, the directory and the log are borrowed until the node is stopped; the directory is the caller's
 * to close after it. *error says why not. SAP_BUSY: the address is in use. The caller owns *node_out:
 * node_stop(). */
int node_start(const Config *config, DataDir *dir, const Log *log, Node **node_out,
               NodeError *error);

typedef struct NodeInfo {
    const char *address; /* HOST:PORT; NULL: the socket alone */
    const char *socket;
    const char *data;
    const char *store; /* without password */
    DataLeft left;
    Recovery recovery;
} NodeInfo;
/* Borrowed until the node is stopped. */
NodeInfo node_info(const Node *node);

/* Goes on after a failure of the store, as soon as it can be opened again. */
void node_check(Node *node);

/* Ends what it runs, and has handlers and waiting callers end, within 5 s. SAP_BUSY: handlers have not
 * returned; nothing is freed, and the process should end. Otherwise everything is freed: SAP_OK, or what kept it
 * from giving its worlds back. NULL is accepted. */
int node_stop(Node *node);

#endif
