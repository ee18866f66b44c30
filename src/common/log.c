#include "common/log.h"

#include "common/utf8.h"

#include <inttypes.h>
#include <time.h>

const char *log_level_name(LogLevel level)
{
    static const char *const names[] = {
        [LOG_LEVEL_DEBUG] = "debug",
        [LOG_LEVEL_INFO] = "info",
        [LOG_LEVEL_WARN] = "warn",
        [LOG_LEVEL_ERROR] = "error",
    };
    return names[level];
}

void log_init(Log *log, LogSink sink, void *sink_ctx, LogLevel min_level, const Clock *clock)
{
    *log = (Log){sink, sink_ctx, min_level, clock};
}

void log_write(const Log *log, LogLevel level, const char *event, const LogField *fields,
               size_t field_count)
{
    if (!log_enabled(log, level)) {
        return;
    }
    LogRecord record = {clock_wall_ms(log->clock), level, event, fields, field_count};
    log->sink(log->sink_ctx, &record);
}

/* RFC 3339 with milliseconds. */
static int append_time(Buf *buf, int64_t wall_ms)
{
    int64_t ms = wall_ms % 1000;
    int64_t seconds = wall_ms / 1000;
    struct tm t;

    if (ms < 0) {
        ms += 1000;
        seconds--;
    }
    time_t clock_seconds = (time_t)seconds;
    if (gmtime_r(&clock_seconds, &t) == NULL) {
        return SAP_INVALID;
    }
    return buf_printf(buf, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", t.tm_year + 1900, t.tm_mon + 1,
                      t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, (int)ms);
}

static int append_code_point(Buf *buf, uint32_t code, const uint8_t *bytes, size_t len)
{
    switch (code) {
    case '"':
        return buf_append_str(buf, "\\\"");
    case '\\':
        return buf_append_str(buf, "\\\\");
    case '\n':
        return buf_append_str(buf, "\\n");
    case '\r':
        return buf_append_str(buf, "\\r");
    case '\t':
        return buf_append_str(buf, "\\t");
    case UTF8_BAD:
        return buf_append_str(buf, "\\ufffd");
    default:
        break;
    }
    /* JSON allows DEL and the second block of controls, but terminals obey them. The separators
     * U+2028 and U+2029 end a line for some readers. */
    if (code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x2028 || code == 0x2029) {
        return buf_printf(buf, "\\u%04" PRIx32, code);
    }
    return buf_append(buf, bytes, len);
}

/* A JSON string, in its quotes. */
static int append_quoted(Buf *buf, Slice text)
{
    const uint8_t *p = (const uint8_t *)text.data;
    int rc = buf_append_str(buf, "\"");

    for (size_t i = 0; i < text.len && rc == SAP_OK;) {
        uint32_t code;
        size_t len = utf8_decode(p + i, text.len - i, &code);
        rc = append_code_point(buf, code, p + i, len);
        i += len;
    }
    return rc == SAP_OK ? buf_append_str(buf, "\"") : rc;
}

static bool is_plain(Slice text)
{
    const char *p = (const char *)text.data;

    for (size_t i = 0; i < text.len; i++) {
        bool letter = (p[i] >= 'a' && p[i] <= 'z') || (p[i] >= 'A' && p[i] <= 'Z');
        bool digit = p[i] >= '0' && p[i] <= '9';
        if (!letter && !digit && (p[i] == '\0' || strchr("._-/:@+", p[i]) == NULL)) {
            return false;
        }
    }
    return text.len > 0;
}

static int append_plain_or_quoted(Buf *buf, Slice text)
{
    return is_plain(text) ? buf_append(buf, text.data, text.len) : append_quoted(buf, text);
}

static int append_hex(Buf *buf, Slice bytes)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *p = (const uint8_t *)bytes.data;
    int rc = SAP_OK;

    for (size_t i = 0; i < bytes.len && rc == SAP_OK; i++) {
        char pair[2] = {digits[p[i] >> 4], digits[p[i] & 15]};
        rc = buf_append(buf, pair, sizeof pair);
    }
    return rc;
}

static int append_value(Buf *buf, const LogField *field, bool json)
{
    int rc;

    switch (field->type) {
    case LOG_FIELD_I64:
        return buf_printf(buf, "%" PRId64, field->as.i64);
    case LOG_FIELD_U64:
        return buf_printf(buf, "%" PRIu64, field->as.u64);
    case LOG_FIELD_BOOL:
        return buf_append_str(buf, field->as.boolean ? "true" : "false");
    case LOG_FIELD_STR:
        return json ? append_quoted(buf, field->as.bytes)
                    : append_plain_or_quoted(buf, field->as.bytes);
    case LOG_FIELD_HEX:
        if (!json && field->as.bytes.len > 0) {
            return append_hex(buf, field->as.bytes);
        }
        rc = buf_append_str(buf, "\"");
        if (rc == SAP_OK) {
            rc = append_hex(buf, field->as.bytes);
        }
        return rc == SAP_OK ? buf_append_str(buf, "\"") : rc;
    }
    return SAP_ERROR;
}

static int append_text(const LogRecord *record, Buf *buf)
{
    int rc = append_time(buf, record->wall_ms);

    if (rc == SAP_OK) {
        rc = buf_printf(buf, " %s ", log_level_name(record->level));
    }
    if (rc == SAP_OK) {
        rc = append_plain_or_quoted(buf, slice_from_str(record->event));
    }
    for (size_t i = 0; i < record->field_count && rc == SAP_OK; i++) {
        rc = buf_append_str(buf, " ");
        if (rc == SAP_OK) {
            rc = append_plain_or_quoted(buf, slice_from_str(record->fields[i].key));
        }
        if (rc == SAP_OK) {
            rc = buf_append_str(buf, "=");
        }
        if (rc == SAP_OK) {
            rc = append_value(buf, &record->fields[i], false);
        }
    }
    return rc == SAP_OK ? buf_append_str(buf, "\n") : rc;
}

static int append_json(const LogRecord *record, Buf *buf)
{
    int rc = buf_append_str(buf, "{\"time\":\"");

    if (rc == SAP_OK) {
        rc = append_time(buf, record->wall_ms);
    }
    if (rc == SAP_OK) {
        rc = buf_printf(buf, "\",\"level\":\"%s\",\"event\":", log_level_name(record->level));
    }
    if (rc == SAP_OK) {
        rc = append_quoted(buf, slice_from_str(record->event));
    }
    for (size_t i = 0; i < record->field_count && rc == SAP_OK; i++) {
        rc = buf_append_str(buf, ",");
        if (rc == SAP_OK) {
            rc = append_quoted(buf, slice_from_str(record->fields[i].key));
        }
        if (rc == SAP_OK) {
            rc = buf_append_str(buf, ":");
        }
        if (rc == SAP_OK) {
            rc = append_value(buf, &record->fields[i], true);
        }
    }
    return rc == SAP_OK ? buf_append_str(buf, "}\n") : rc;
}

int log_format_text(const LogRecord *record, Buf *buf)
{
    size_t len = buf->len;
    int rc = append_text(record, buf);

    if (rc != SAP_OK) {
        buf->len = len;
    }
    return rc;
}

int log_format_json(const LogRecord *record, Buf *buf)
{
    size_t len = buf->len;
    int rc = append_json(record, buf);

    if (rc != SAP_OK) {
        buf->len = len;
    }
    return rc;
}

void log_file_sink(void *ctx, const LogRecord *record)
{
    LogFile *out = ctx;
    Buf line;

    buf_init(&line);
    int rc = out->json ? log_format_json(record, &line) : log_format_text(record, &line);
    if (rc != SAP_OK || fwrite(line.data, 1, line.len, out->file) != line.len ||
        fflush(out->file) != 0) {
        relaxed_add(&out->lost, 1);
    }
    buf_release(&line);
}
