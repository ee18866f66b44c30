#include "cli/stream_text.h"

#include <inttypes.h>

#include "cli/format.h"
#include "common/bytes.h"
#include "sapling/sapling.h"

enum {
    MAGIC_LEN = 8,
    TABLE_LEN = 9, /* up to the names of comparators */
    TABLE_NUMBER = 1,
    TABLE_FLAGS = 3,
    TABLE_KEY_ORDER = 5,
    TABLE_VAL_ORDER = 6,
    TABLE_NAMES_LEN = 7,
    TABLE_COUNT_LEN = 8,
    ROW_HEADER = 8,
    ROW_VAL_LEN = 4,
    END_LEN = 9,
};

static const char *kind_of(unsigned flags, bool ordered)
{
    if (ordered) {
        return "ordered";
    }
    return flags == SAP_DBI_DUPSORT ? "dupsort" : flags == SAP_DBI_TTL_META ? "expiry" : "plain";
}

/* How many bytes of p[0..len) the next item has; 0: not all of them are there. */
static int take_header(StreamText *text, const uint8_t *p, size_t len, Buf *out, size_t *used_out)
{
    if (len < MAGIC_LEN) {
        return SAP_OK;
    }
    *used_out = MAGIC_LEN;
    text->started = true;
    return memcmp(p, "SAPSTRM1", MAGIC_LEN) == 0 ? buf_append_str(out, DUMP_HEADER "\n")
                                                 : SAP_INVALID;
}

static int take_table(StreamText *text, const uint8_t *p, size_t len, Buf *out, size_t *used_out)
{
    if (p[0] == 0) {
        if (len < END_LEN) {
            return SAP_OK;
        }
        text->ended = true;
        *used_out = END_LEN;
        return buf_append_str(out, "end\n");
    }
    if (p[0] != 1) {
        return SAP_INVALID;
    }
    size_t names = len < TABLE_LEN ? 0 : load_u16le(p + TABLE_NAMES_LEN);
    if (len < TABLE_LEN + names + TABLE_COUNT_LEN) {
        return SAP_OK;
    }
    *used_out = TABLE_LEN + names + TABLE_COUNT_LEN;
    text->rows_left = load_u64le(p + TABLE_LEN + names);
    text->tables++;
    return buf_printf(
        out, "table %u %s %" PRIu64 "\n", (unsigned)load_u16le(p + TABLE_NUMBER),
        kind_of(load_u16le(p + TABLE_FLAGS), p[TABLE_KEY_ORDER] != 0 || p[TABLE_VAL_ORDER] != 0),
        text->rows_left);
}

static int take_row(StreamText *text, const uint8_t *p, size_t len, Buf *out, size_t *used_out)
{
    if (len < ROW_HEADER) {
        return SAP_OK;
    }
    size_t key_len = load_u32le(p);
    size_t val_len = load_u32le(p + ROW_VAL_LEN);
    if (key_len > SAP_MAX_KEY_LEN || val_len > SAP_MAX_VAL_LEN) {
        return SAP_INVALID;
    }
    if (len < ROW_HEADER + key_len + val_len) {
        return SAP_OK;
    }
    *used_out = ROW_HEADER + key_len + val_len;
    text->rows_left--;
    text->rows++;
    return format_row(out, FORMAT_DUMP, (Slice){p + ROW_HEADER, key_len},
                      (Slice){p + ROW_HEADER + key_len, val_len}, false);
}

int stream_text_take(StreamText *text, const void *data, size_t len, Buf *out)
{
    int rc = buf_append(&text->waiting, data, len);
    size_t at = 0;

    while (rc == SAP_OK && !text->ended && at < text->waiting.len) {
        const uint8_t *p = text->waiting.data + at;
        size_t left = text->waiting.len - at;
        size_t used = 0;

        rc = !text->started         ? take_header(text, p, left, out, &used)
             : text->rows_left == 0 ? take_table(text, p, left, out, &used)
                                    : take_row(text, p, left, out, &used);
        if (used == 0) {
            break;
        }
        at += used;
    }
    if (at > 0) {
        size_t left = text->waiting.len - at;
        memmove(text->waiting.data, text->waiting.data + at, left);
        buf_truncate(&text->waiting, left);
    }
    return rc;
}

bool stream_text_complete(const StreamText *text)
{
    return text->ended;
}

void stream_text_release(StreamText *text)
{
    buf_release(&text->waiting);
}
