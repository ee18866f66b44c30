/* meters.c - see meters.h. */
#include "universe/meters.h"

#include <string.h>

#define PREFIX "sapling_universe_"

/* A record that there is no memory for is lost. */
static void write_line(void *ctx, const LogRecord *record)
{
    const Meters *meters = (const Meters *)ctx;
    Buf line = {0};
    int rc = log_format_json(record, &line);
    if (rc == SAP_OK) {
        line.data[line.len - 1] = 0; /* in place of the newline */
        meters->on_log((const char *)line.data, meters->log_ctx);
    }
    buf_release(&line);
}

static int add_all(Meters *meters)
{
    int rc = SAP_OK;
#define METER_ADD(field, text, what)                                                 \
    if (rc == SAP_OK) {                                                              \
        rc = metrics_add_counter(&meters->registry,                                  \
                                 &(MetricDesc){.name = PREFIX text, .help = (what)}, \
                                 &meters->field);                                    \
    }
    UNIVERSE_COUNTERS(METER_ADD)
#undef METER_ADD
#define METER_ADD(field, text, what)                                                               \
    if (rc == SAP_OK) {                                                                            \
        rc =                                                                                       \
            metrics_add_gauge(&meters->registry,                                                   \
                              &(MetricDesc){.name = PREFIX text, .help = (what)}, &meters->field); \
    }
    UNIVERSE_GAUGES(METER_ADD)
#undef METER_ADD
#define METER_ADD(field, text, what)                                                   \
    if (rc == SAP_OK) {                                                                \
        rc = metrics_add_histogram(&meters->registry,                                  \
                                   &(MetricDesc){.name = PREFIX text, .help = (what)}, \
                                   &meters->field);                                    \
    }
    UNIVERSE_HISTOGRAMS(METER_ADD)
#undef METER_ADD
    return rc;
}

int meters_init(Meters *meters, void (*on_log)(const char *line, void *ctx), void *log_ctx,
                const Clock *clock)
{
    memset(meters, 0, sizeof *meters);
    meters->on_log = on_log;
    meters->log_ctx = log_ctx;
    log_init(&meters->own_log, write_line, meters, LOG_LEVEL_INFO, clock);
    meters->log = on_log == NULL ? NULL : &meters->own_log;
    int rc = metrics_init(&meters->registry);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = add_all(meters);
    if (rc != SAP_OK) {
        metrics_release(&meters->registry);
    }
    return rc;
}

void meters_release(Meters *meters)
{
    metrics_release(&meters->registry);
}
