/* log.h - what happened, as data.
 *
 * A record is an event's name and typed fields; how it looks is decided by the sink, last. There
 * is no global log: code takes a Log, and NULL is silent. Libraries write to the Log they were
 * given and nowhere else.
 *
 * Nothing in a record can break its line or forge another: both formats give exactly one line per
 * record, in which control characters are escaped and ill-formed UTF-8 shows as \ufffd. */
#ifndef SAPLING_COMMON_LOG_H
#define SAPLING_COMMON_LOG_H

#include "common/buf.h"
#include "common/clock.h"
#include "common/relaxed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* In order of importance. (Not LOG_DEBUG and so on, which are syslog's.) */
typedef enum LogLevel { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR } LogLevel;

/* A static string: "debug", "info", "warn" or "error". */
const char *log_level_name(LogLevel level);

typedef enum LogFieldType {
    LOG_FIELD_I64,
    LOG_FIELD_U64,
    LOG_FIELD_STR,
    LOG_FIELD_HEX,
    LOG_FIELD_BOOL
} LogFieldType;

typedef struct LogField {
    const char *key; /* unlike time, level, event, and the record's other keys */
    LogFieldType type;
    union {
        int64_t i64;
        uint64_t u64;
        Slice bytes; /* of STR and HEX */
        bool boolean;
    } as;
} LogField;

/* Fields, borrowing their keys, texts and bytes for the call they are passed to. */
#define LOG_I64(k, v)  ((LogField){.key = (k), .type = LOG_FIELD_I64, .as.i64 = (v)})
#define LOG_U64(k, v)  ((LogField){.key = (k), .type = LOG_FIELD_U64, .as.u64 = (v)})
#define LOG_BOOL(k, v) ((LogField){.key = (k), .type = LOG_FIELD_BOOL, .as.boolean = (v)})
#define LOG_STR(k, str) \
    ((LogField){.key = (k), .type = LOG_FIELD_STR, .as.bytes = slice_from_str(str)})
#define LOG_TEXT(k, ptr, size) \
    ((LogField){.key = (k), .type = LOG_FIELD_STR, .as.bytes = {(ptr), (size)}})
#define LOG_HEX(k, ptr, size) \
    ((LogField){.key = (k), .type = LOG_FIELD_HEX, .as.bytes = {(ptr), (size)}})

typedef struct LogRecord {
    int64_t wall_ms;
    LogLevel level;
    const char *event;
    const LogField *fields;
    size_t field_count;
} LogRecord;

/* The record is borrowed for the call. Called from every thread that logs. */
typedef void (*LogSink)(void *ctx, const LogRecord *record);

typedef struct Log {
    LogSink sink;
    void *sink_ctx;
    LogLevel min_level;
    const Clock *clock;
} Log;

/* `sink_ctx` and `clock` (NULL is the system's) are borrowed as long as the log is used. Needs no
 * release; nothing in it changes afterwards, so threads may share it. */
void log_init(Log *log, LogSink sink, void *sink_ctx, LogLevel min_level, const Clock *clock);

/* Whether a record of that level would reach the sink. */
static inline bool log_enabled(const Log *log, LogLevel level)
{
    return log != NULL && level >= log->min_level;
}

/* Does nothing when not enabled. All arguments are borrowed for the call. */
void log_write(const Log *log, LogLevel level, const char *event, const LogField *fields,
               size_t field_count);

/* log_write of the fields listed, at least one. They are evaluated only when enabled. */
#define LOG_EVENT(log, level, event, ...)                                           \
    do {                                                                            \
        const Log *log_event_log_ = (log);                                          \
        LogLevel log_event_level_ = (level);                                        \
        if (log_enabled(log_event_log_, log_event_level_)) {                        \
            const LogField log_event_fields_[] = {__VA_ARGS__};                     \
            log_write(log_event_log_, log_event_level_, (event), log_event_fields_, \
                      sizeof log_event_fields_ / sizeof log_event_fields_[0]);      \
        }                                                                           \
    } while (0)

/* Append one line, newline included, to `buf`, which is as it was unless they return SAP_OK.
 *
 *   2001-09-09T01:46:40.000Z info lease.taken key="a b" n=3
 *   {"time":"2001-09-09T01:46:40.000Z","level":"info","event":"lease.taken","key":"a b","n":3}
 *
 * Text quotes what is not plain. SAP_NOMEM, SAP_FULL: as in buf.h. */
int log_format_text(const LogRecord *record, Buf *buf);
int log_format_json(const LogRecord *record, Buf *buf);

/* A sink for log_init, with a LogFile as its context: each record becomes one write of one line,
 * flushed at once, because the lines before a crash are the ones that matter. A record that
 * cannot be formatted or written is counted in `lost`; there is nobody else to tell. */
typedef struct LogFile {
    FILE *file; /* borrowed as long as the sink is used */
    bool json;
    RelaxedU64 lost;
} LogFile;

void log_file_sink(void *ctx, const LogRecord *record);

#endif
