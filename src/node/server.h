/* server.h - lets other processes use the file that this one owns, through PATH.sock.
 *
 * One thread accepts, one serves each connection. Only the user who owns the process, and root, are
 * served. The socket is made by the owner of the file, so that one found there before is nobody's;
 * it is removed when the server ends. Wire format: wire.h. */
#ifndef SAPLING_NODE_SERVER_H
#define SAPLING_NODE_SERVER_H

#include "node/queues.h"

typedef struct Server Server;

/* Serves `db`, the file at `path`, and its queues until server_stop. Caller owns *server_out. SAP_FULL: the path is
 * too long for a socket, or no descriptor is left. SAP_IO: errno says why. SAP_NOMEM. */
int server_start(DB *db, Queues *queues, const char *path, Server **server_out);

/* Lets the requests that have begun end, those that wait for messages at once; tells everybody
 * goodbye, removes the socket, and frees. A scan or backup whose reader takes nothing for a second is
 * cut off; before, that is a minute. Accepts NULL. */
void server_stop(Server *server);

#endif
