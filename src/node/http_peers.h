/* http_peers.h - connections, and who is too slow.
 *
 * libmicrohttpd ends a connection on which nothing moves, but not one that moves a byte now and then, and never one
 * that is suspended. So each connection has a deadline for what it is doing: headers, body, taking the answer.
 * One thread looks at all, and shuts down those whose time has passed; the listener then closes them. While a
 * call is run the connection has no deadline: the call has its own.
 *
 * Invariant: a peer is in the list from its connection's start to its end, so a descriptor that is shut down is
 * still that connection's. */
#ifndef SAPLING_NODE_HTTP_PEERS_H
#define SAPLING_NODE_HTTP_PEERS_H

#include "node/api_call.h"

typedef struct Peers Peers;

typedef struct Peer {
    Peers *peers;
    struct Peer *next;
    struct Peer *previous;
    int fd;
    Caller caller;        /* by the socket */
    uint64_t deadline_ns; /* of the monotonic clock; 0: none. Under the list's lock */
} Peer;

/* `cut`, which may be NULL, counts connections that were cut off. The caller owns *peers_out: peers_stop(). */
int peers_start(Counter *cut, Peers **peers_out);
/* All connections have ended. NULL is accepted. */
void peers_stop(Peers *peers);

/* The caller owns *peer_out: peers_remove(). SAP_NOMEM. */
int peers_add(Peers *peers, int fd, const Caller *caller, uint64_t ms, Peer **peer_out);
void peers_remove(Peer *peer);

/* What the connection does now may take so long; 0: any time. */
void peers_allow(Peer *peer, uint64_t ms);

#endif
