/* rows.c - see rows.h. Fixed rows are encoded on the stack: the buffer given has room for all. */
#include "runner/rows.h"

#include "common/assert.h"
#include "common/buf.h"
#include "wit_runtime.h"

#include <stdio.h>
#include <string.h>

RowKey row_message_key(uint64_t worker, uint64_t seq)
{
    RowKey key = {{0}};
    Buf buf = buf_in(key.bytes, sizeof key.bytes);
    int rc = wit_runtime_dbi1_inbox_key_encode(&(WitRuntimeDbi1InboxKey){worker, seq}, &buf, NULL);

    SAP_ASSERT(rc == SAP_OK && buf.data == key.bytes && buf.len == ROW_KEY_SIZE);
    return key;
}

RowKey row_timer_key(int64_t due_ms, uint64_t seq)
{
    RowKey key = {{0}};
    Buf buf = buf_in(key.bytes, sizeof key.bytes);
    int rc =
        wit_runtime_dbi4_timers_key_encode(&(WitRuntimeDbi4TimersKey){due_ms, seq}, &buf, NULL);

    SAP_ASSERT(rc == SAP_OK && buf.data == key.bytes && buf.len == ROW_KEY_SIZE);
    return key;
}

int row_message_key_read(const void *key, uint32_t len, uint64_t *worker_out, uint64_t *seq_out)
{
    WitRuntimeDbi1InboxKey decoded;
    int rc = row_decoded(wit_runtime_dbi1_inbox_key_decode(key, len, &decoded, NULL));

    if (rc == SAP_OK) {
        *worker_out = decoded.worker;
        *seq_out = decoded.seq;
    }
    return rc;
}

int row_timer_key_read(const void *key, uint32_t len, int64_t *due_ms_out, uint64_t *seq_out)
{
    WitRuntimeDbi4TimersKey decoded;
    int rc = row_decoded(wit_runtime_dbi4_timers_key_decode(key, len, &decoded, NULL));

    if (rc == SAP_OK) {
        *due_ms_out = decoded.due;
        *seq_out = decoded.seq;
    }
    return rc;
}

uint32_t row_mark_key(const char *table, char key[ROW_MARK_KEY_MAX])
{
    int len = snprintf(key, ROW_MARK_KEY_MAX, "runner.seq.%s", table);

    SAP_ASSERT(len > 0 && len < ROW_MARK_KEY_MAX);
    return (uint32_t)len;
}

int row_mark_next(const void *val, uint32_t val_len, uint32_t count,
                  uint8_t mark_out[ROW_MARK_SIZE], uint64_t *number_out)
{
    WitRuntimeHighWaterMark mark = {0};
    Buf buf = buf_in(mark_out, ROW_MARK_SIZE);
    int rc = val == NULL
                 ? SAP_OK
                 : row_decoded(wit_runtime_high_water_mark_decode(val, val_len, &mark, NULL));

    if (rc != SAP_OK) {
        return rc;
    }
    if (mark.last >= ROW_NORMAL_BIT - 1 || count > ROW_NORMAL_BIT - 1 - mark.last) {
        return SAP_FULL;
    }
    uint64_t number = mark.last + 1;
    mark.last += count;
    rc = wit_runtime_high_water_mark_encode(&mark, &buf, NULL);
    SAP_ASSERT(rc == SAP_OK && buf.data == mark_out && buf.len == ROW_MARK_SIZE);
    *number_out = number;
    return SAP_OK;
}

int row_take_numbers(Txn *txn, const char *table, uint32_t count, RowNumbers *numbers_out)
{
    char key[ROW_MARK_KEY_MAX];
    uint32_t key_len = row_mark_key(table, key);
    const void *val = NULL;
    uint32_t val_len = 0;
    uint8_t mark[ROW_MARK_SIZE];
    uint64_t number = 0;
    int rc = txn_get(txn, key, key_len, &val, &val_len);

    if (rc == SAP_OK || rc == SAP_NOTFOUND) {
        rc = row_mark_next(val, val_len, count, mark, &number);
    }
    if (rc == SAP_OK) {
        rc = txn_put(txn, key, key_len, mark, sizeof mark);
    }
    if (rc == SAP_OK) {
        *numbers_out = (RowNumbers){number, count};
    }
    return rc;
}

int row_take_number(Txn *txn, const char *table, RowNumbers *numbers, uint64_t *number_out)
{
    RowNumbers one = {0};
    int rc = SAP_OK;

    if (numbers == NULL || numbers->left == 0) {
        numbers = &one;
        rc = row_take_numbers(txn, table, 1, numbers);
    }
    if (rc == SAP_OK) {
        *number_out = numbers->next++;
        numbers->left--;
    }
    return rc;
}

/* The key of a store's marker, and how it begins: the same in every version of store-schema.wit. */
static const uint8_t store_marker_key[] = {0};
static const char store_magic[8] = {'S', 'A', 'P', 'S', 'T', 'O', 'R', 'E'};

bool row_is_store_marker(uint32_t dbi, Slice key, Slice val)
{
    return dbi == WIT_DBI_STORE_META && key.len == sizeof store_marker_key &&
           memcmp(key.data, store_marker_key, key.len) == 0 && val.len >= sizeof store_magic &&
           memcmp(val.data, store_magic, sizeof store_magic) == 0;
}

int row_find_store(Txn *txn, bool *found_out)
{
    Slice key = {store_marker_key, sizeof store_marker_key};
    SapDbiInfo info;
    const void *val = NULL;
    uint32_t len = 0;
    int rc = dbi_info(sap_txn_env(txn), WIT_DBI_STORE_META, &info);

    if (rc == SAP_OK) {
        rc = txn_get_dbi(txn, WIT_DBI_STORE_META, key.data, (uint32_t)key.len, &val, &len);
    }
    *found_out = rc == SAP_OK && row_is_store_marker(WIT_DBI_STORE_META, key, (Slice){val, len});
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

int row_cursor_open(Txn *txn, uint32_t dbi, Cursor **cur_out)
{
    uint64_t rows;

    *cur_out = cursor_open_dbi(txn, dbi);
    if (*cur_out != NULL) {
        return SAP_OK;
    }
    /* cursor_open_dbi() gives no reason for NULL; a call that needs no memory does. */
    int rc = txn_count_range(txn, dbi, NULL, 0, NULL, 0, &rows);
    return rc == SAP_OK ? SAP_NOMEM : rc;
}
