/* exec_meters.h - what is counted of programs; docs/reference/universe-metrics.md lists it. */
#ifndef SAPLING_NODE_EXEC_METERS_H
#define SAPLING_NODE_EXEC_METERS_H

#include "common/metrics.h"

/* Why a call came to nothing. */
typedef enum ExecReason {
    EXEC_REASON_FAILED,      /* the program said so */
    EXEC_REASON_INVALID,     /* its answer cannot be used */
    EXEC_REASON_STRAY,       /* what it wrote is no answer to the event */
    EXEC_REASON_TIMEOUT,     /* no answer came in time */
    EXEC_REASON_ENDED,       /* it ended */
    EXEC_REASON_CANCELLED,   /* nobody waited any more */
    EXEC_REASON_NOT_STARTED, /* it could not be started */
    EXEC_REASON_BUSY,        /* all its processes were at work */
    EXEC_REASONS
} ExecReason;

typedef struct ExecMeters {
    MetricsRegistry own; /* where the host has none */
    bool owns;
    Counter *calls;
    Counter *failures[EXEC_REASONS];
    Histogram *call_ns;
    Counter *tasks;
    Counter *task_failures[EXEC_REASONS];
    Histogram *task_ns;
    Gauge *tasks_running;
    Counter *beats;
    Counter *starts;
    Gauge *processes;
} ExecMeters;

/* registry NULL: counted for nobody. SAP_NOMEM; SAP_EXISTS: the registry has them already. */
int exec_meters_open(ExecMeters *meters, MetricsRegistry *registry);
void exec_meters_close(ExecMeters *meters);

#endif
