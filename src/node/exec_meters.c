/* exec_meters.c - see exec_meters.h. */
#include "node/exec_meters.h"

static const char *const reasons[EXEC_REASONS] = {"failed", "invalid",   "stray",       "timeout",
                                                  "ended",  "cancelled", "not_started", "busy"};

static int add_reasons(MetricsRegistry *registry, const char *name, const char *help, Counter **out)
{
    int rc = SAP_OK;
    for (int i = 0; rc == SAP_OK && i < EXEC_REASONS; i++) {
        rc =
            metrics_add_counter(registry, &(MetricDesc){name, help, "reason", reasons[i]}, &out[i]);
    }
    return rc;
}

static int add_counter(MetricsRegistry *registry, const char *name, const char *help, Counter **out)
{
    return metrics_add_counter(registry, &(MetricDesc){.name = name, .help = help}, out);
}

static int add_gauge(MetricsRegistry *registry, const char *name, const char *help, Gauge **out)
{
    return metrics_add_gauge(registry, &(MetricDesc){.name = name, .help = help}, out);
}

static int add_histogram(MetricsRegistry *registry, const char *name, const char *help,
                         Histogram **out)
{
    return metrics_add_histogram(registry, &(MetricDesc){.name = name, .help = help}, out);
}

static int add_all(ExecMeters *meters, MetricsRegistry *registry)
{
    int rc = add_counter(registry, "sapling_exec_calls_total", "Events given to programs",
                         &meters->calls);
    rc = rc == SAP_OK
             ? add_reasons(registry, "sapling_exec_failures_total",
                           "Events that programs did not take, by reason", meters->failures)
             : rc;
    rc = rc == SAP_OK
             ? add_histogram(registry, "sapling_exec_call_ns",
                             "From an event until its answer, the wait for a process included",
                             &meters->call_ns)
             : rc;
    rc = rc == SAP_OK ? add_counter(registry, "sapling_exec_tasks_total", "Attempts of tasks begun",
                                    &meters->tasks)
                      : rc;
    rc = rc == SAP_OK
             ? add_reasons(registry, "sapling_exec_task_failures_total",
                           "Attempts of tasks that failed, by reason", meters->task_failures)
             : rc;
    rc = rc == SAP_OK ? add_histogram(registry, "sapling_exec_task_ns",
                                      "Attempts of tasks, from begin to end", &meters->task_ns)
                      : rc;
    rc = rc == SAP_OK
             ? add_gauge(registry, "sapling_exec_tasks_running",
                         "Tasks that run now, or wait for a process", &meters->tasks_running)
             : rc;
    rc = rc == SAP_OK ? add_counter(registry, "sapling_exec_beats_total", "Signs of life of tasks",
                                    &meters->beats)
                      : rc;
    rc = rc == SAP_OK ? add_counter(registry, "sapling_exec_starts_total",
                                    "Processes of programs started", &meters->starts)
                      : rc;
    return rc == SAP_OK ? add_gauge(registry, "sapling_exec_processes",
                                    "Processes of programs there are now", &meters->processes)
                        : rc;
}

int exec_meters_open(ExecMeters *meters, MetricsRegistry *registry)
{
    *meters = (ExecMeters){.owns = registry == NULL};
    int rc = meters->owns ? metrics_init(&meters->own) : SAP_OK;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = add_all(meters, meters->owns ? &meters->own : registry);
    if (rc != SAP_OK) {
        exec_meters_close(meters);
    }
    return rc;
}

void exec_meters_close(ExecMeters *meters)
{
    if (meters->owns) {
        metrics_release(&meters->own);
        meters->owns = false;
    }
}
