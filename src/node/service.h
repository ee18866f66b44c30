/* service.h - what a node runs on one opened store: the universe, and the host of its worker.
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
    const Log *log;
    uint64_t started_ms;
} ServiceOptions;

/* *error says why not, and what to do. The caller owns *service_out: service_close(). */
int service_open(const ServiceOptions *options, Service **service_out, NodeError *error);

/* SAP_OK: it goes on. Otherwise why it has ended by itself. */
int service_code(Service *service);
/* What it found when it was opened. */
const Recovery *service_recovery(const Service *service);

/* SAP_BUSY: after patience_ns a handler has not returned; call it again, or end the process. With any other
 * code everything is freed. NULL is accepted. */
int service_close(Service *service, uint64_t patience_ns);

#endif
