/* server.h - lets other processes use the file that this one owns, through PATH.sock.
 *
 * One thread accepts, one serves each connection. Served are root, the users of the process and of the
 * file, and whoever else may write the file. The socket is made by the owner of the file, so that one found there before is nobody's;
 * it is removed when the server ends. Wire format: wire.h. */
#ifndef SAPLING_NODE_SERVER_H
#define SAPLING_NODE_SERVER_H

#include "node/queues.h"

typedef struct Server Server;

/* Removes PATH.sock, if it is a socket. For whoever has the lock of the file: a socket that it finds
 * was left by an owner that was killed. */
void server_clean_up(const char *path);

/* Serves `db`, the file at `path`, and its queues until server_stop. PATH.sock must not be
 * there. Caller owns *server_out. SAP_FULL: the path is too long for a socket. SAP_IO: errno says why. SAP_NOMEM. */
int server_start(DB *db, Queues *queues, const char *path, Server **server_out);

/* Lets the requests that have begun end, those that wait for messages at once; tells everybody
 * goodbye, removes the socket, and frees. A scan or backup whose reader takes nothing for 3 seconds is
 * cut off. Before that, a reader may take any time: its snapshot is kept meanwhile. Accepts NULL. */
void server_stop(Server *server);

#endif
