/* drain.c - see drain.h. */
#include "runner/drain.h"

#include "common/buf.h"
#include "common/bytes.h"
#include "runner/rows.h"

#include <stdbool.h>
#include <string.h>

/* Copies the first row with a key above `after` (NULL: from the first on) and below `end`. */
static int copy_next(DB *db, uint32_t dbi, const Buf *after, const void *end, uint32_t end_len,
                     Buf *key_buf, Buf *val_buf)
{
    const void *key;
    const void *val;
    uint32_t key_len;
    uint32_t val_len;
    Txn *txn;
    int rc = txn_begin_rc(db, NULL, TXN_RDONLY, &txn);

    if (rc != SAP_OK) {
        return rc;
    }
    Cursor *cur;
    rc = row_cursor_open(txn, dbi, &cur);
    if (rc == SAP_OK) {
        rc =
            after == NULL ? cursor_first(cur) : cursor_seek(cur, after->data, (uint32_t)after->len);
    }
    if (rc == SAP_OK) {
        rc = cursor_get(cur, &key, &key_len, &val, &val_len);
    }
    if (rc == SAP_OK && after != NULL &&
        bytes_compare(key, key_len, after->data, after->len) == 0) {
        rc = cursor_next(cur);
        if (rc == SAP_OK) {
            rc = cursor_get(cur, &key, &key_len, &val, &val_len);
        }
    }
    if (rc == SAP_OK && end != NULL && bytes_compare(key, key_len, end, end_len) >= 0) {
        rc = SAP_NOTFOUND;
    }
    if (rc == SAP_OK) {
        buf_clear(key_buf);
        buf_clear(val_buf);
        rc = buf_append(key_buf, key, key_len);
    }
    if (rc == SAP_OK) {
        rc = buf_append(val_buf, val, val_len);
    }
    cursor_close(cur);
    txn_abort(txn);
    return rc;
}

/* Removes the row if it is as it was. */
static int remove_same(DB *db, uint32_t dbi, const DrainRange *range, const Buf *key,
                       const Buf *val, uint32_t *taken)
{
    const void *now;
    uint32_t now_len;
    Txn *txn;
    int rc = txn_begin_rc(db, NULL, TXN_WAIT, &txn);

    if (rc != SAP_OK) {
        return rc;
    }
    rc = txn_get_dbi(txn, dbi, key->data, (uint32_t)key->len, &now, &now_len);
    if (rc == SAP_NOTFOUND ||
        (rc == SAP_OK && bytes_compare(now, now_len, val->data, val->len) != 0)) {
        txn_abort(txn);
        return SAP_OK;
    }
    if (rc == SAP_OK) {
        rc = txn_del_dbi(txn, dbi, key->data, (uint32_t)key->len);
    }
    if (rc == SAP_OK && range->removed != NULL) {
        rc = range->removed(txn, key->data, (uint32_t)key->len);
    }
    if (rc != SAP_OK) {
        txn_abort(txn);
        return rc;
    }
    rc = txn_commit(txn);
    *taken += rc == SAP_OK;
    return rc;
}

int drain_rows(DB *db, uint32_t dbi, const DrainRange *range, uint32_t max, drain_fn fn, void *ctx,
               uint32_t *taken_out)
{
    Buf key = {0};
    Buf val = {0};
    Buf after = {0};
    uint32_t taken = 0;
    bool bounded = range->after != NULL;
    int rc = bounded ? buf_append(&after, range->after, range->after_len) : SAP_OK;

    for (uint32_t offered = 0; offered < max && rc == SAP_OK; offered++) {
        rc = copy_next(db, dbi, bounded ? &after : NULL, range->end, range->end_len, &key, &val);
        if (rc == SAP_NOTFOUND) {
            rc = SAP_OK;
            break;
        }
        if (rc != SAP_OK) {
            break;
        }
        int answer = fn(key.data, (uint32_t)key.len, val.data, (uint32_t)val.len, ctx);
        if (answer == SAP_OK) {
            rc = remove_same(db, dbi, range, &key, &val, &taken);
        } else if (answer != SAP_BUSY) {
            rc = answer;
        }
        Buf swap = after;
        after = key;
        key = swap;
        bounded = true;
    }
    buf_release(&key);
    buf_release(&val);
    buf_release(&after);
    if (taken_out != NULL) {
        *taken_out = taken;
    }
    return rc;
}
