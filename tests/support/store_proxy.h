/* store_proxy.h - between a client and a PostgreSQL server, and able to fail at any message.
 *
 * It listens on a port of the loopback and forwards whole messages of the protocol, both ways, to the
 * server's unix socket. It knows enough of the protocol to find the messages that execute a COMMIT, also
 * where the statement was prepared earlier or where many messages come in one piece. Encryption is
 * declined; a cancel request is forwarded.
 *
 * A cut closes both sides of one connection at once. What was forwarded before is still delivered: the
 * server executes every whole message that it was given. One order at a time is in force; it is carried
 * out once, by the first connection that gets there, and then the proxy forwards everything again. */
#ifndef SAPLING_TESTS_STORE_PROXY_H
#define SAPLING_TESTS_STORE_PROXY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct StoreProxy StoreProxy;

typedef enum ProxyOrder {
    PROXY_PASS,              /* none */
    PROXY_CUT_BEFORE_COMMIT, /* the server does not get the message */
    PROXY_CUT_IN_COMMIT,     /* the server gets half of it */
    PROXY_CUT_AFTER_COMMIT,  /* the server has executed it, and the client is not told */
    PROXY_CUT_AT_CLIENT,     /* the n-th message of clients from now on is not forwarded */
    PROXY_CUT_AT_SERVER,     /* the n-th message of the server from now on is not forwarded */
} ProxyOrder;

/* Caller owns, end with proxy_end(). `socket_path` is that of the server; borrowed for the call. */
StoreProxy *proxy_start(const char *socket_path);
/* Closes all connections. */
void proxy_end(StoreProxy *proxy);

uint16_t proxy_port(const StoreProxy *proxy);

/* Replaces the order in force. `nth` counts from 1; it is the n-th COMMIT for the first three. */
void proxy_order(StoreProxy *proxy, ProxyOrder order, uint32_t nth);
/* Whether the last order has been carried out. */
bool proxy_has_cut(StoreProxy *proxy);
/* Accepts, and forwards nothing, on connections of old and new; false: forwards again what came since. */
void proxy_black_hole(StoreProxy *proxy, bool on);
/* Servers say from the next connection on that their version begins with these two digits, as "11";
 * NULL: what it is. */
void proxy_set_version(StoreProxy *proxy, const char *digits);
/* Cuts every connection there is now. */
void proxy_cut_all(StoreProxy *proxy);

typedef struct ProxyCounts {
    uint64_t connections;
    uint64_t client_messages;
    uint64_t server_messages;
    uint64_t commits; /* executed by clients */
    uint64_t cuts;
} ProxyCounts;

ProxyCounts proxy_counts(StoreProxy *proxy);

#endif
