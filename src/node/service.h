/* service.h - what a node runs on one opened store: the universe, the host of its worker, programs, calls to
 * the outside, and the HTTP server.
 *
 * After an I/O error of its file a store is of no use any more. Then everything here is closed, and another
 * service is opened, which reads back what is on disk (node.h). */
#ifndef SAPLING_NODE_SERVICE_H
#define SAPLING_NODE_SERVICE_H

#include "common/log.h"
#include "node/config.h"
#include "node/node_error.h"
#include "node/recovery.h"

typedef struct Service Service;

/* All is borrowed until the service is closed. */
typedef struct ServiceOptions {
    const Config *config;
    const char *data;   /* the directory */
    const char *worker; /* name */
    const char *store;  /* url */
    const char *shown;  /* the same without password */
    const Log *log;
    uint64_t started_ms;
    bool recovers; /* the one before did not end as it should: what it left is counted */
} ServiceOptions;

/* *error says why not, and what to do. SAP_BUSY: the address is in use. The caller owns *service_out:
 * service_close(). */
int service_open(const ServiceOptions *options, Service **service_out, NodeError *error);

/* SAP_OK: it goes on. Otherwise why it has ended by itself. */
int service_code(Service *service);
/* Gives memory that worlds have left back to the system: about once a second. */
void service_tidy(Service *service);
/* What it found when it was opened. */
const Recovery *service_recovery(const Service *service);
/* HOST:PORT; NULL: the socket alone, or no HTTP at all. Borrowed until it is closed. */
const char *service_address(const Service *service);

/* Callers that wait are answered, handlers told to end. SAP_BUSY: after patience_ns one has not returned; call
 * it again, or end the process. With any other code everything is freed. NULL is accepted. */
int service_close(Service *service, uint64_t patience_ns);

#endif
