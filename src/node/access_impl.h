/* access_impl.h - what the files behind access.h share: access.c (files and rows), access_queue.c. */
#ifndef SAPLING_NODE_ACCESS_IMPL_H
#define SAPLING_NODE_ACCESS_IMPL_H

#include "common/sync.h"
#include "node/access.h"
#include "node/local.h"
#include "node/queues.h"
#include "node/remote.h"
#include "node/server.h"

/* Either this process has the file open, with db and queues, and is not connected; or, with db NULL, it
 * is connected to the owner or will connect again. The server is there only with the database. */
struct Access {
    char *path; /* as it was given, for messages */
    char
        *real; /* the file itself, not a symbolic link to it: PATH.sock and the log lie beside it */
    AccessOptions options;
    DB *db;
    Queues *queues;
    Server *server;
    Remote remote;
    bool repeated; /* the request of this call was lost with an owner, and asked again */
    Reason reason; /* of the last call; empty: what the engine said, or the code's text */
    int last;      /* its code */
    Mutex mutex;   /* the engine's last message, which may come from any thread */
    Reason said;
    char shown[sizeof(Reason)]; /* what access_message answered */
};

/* A call begins: the request is empty. */
Buf *access_begin(Access *access);
/* Asks the owner; `rc` is that of writing the request. REMOTE_GONE: the owner is this process, which
 * does it itself. */
int access_ask(Access *access, int rc, WireKind kind, int (*fn)(Slice data, void *ctx), void *ctx,
               uint64_t *result_out);
/* A call ends so. */
int access_remember(Access *access, int rc);

#endif
