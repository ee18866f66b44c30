/* writes.c - see writes.h. */
#include "universe/writes.h"

#include <stdlib.h>
#include <string.h>

#include "common/assert.h"
#include "common/mem.h"

typedef struct RowWrite {
    RowWriteKind kind;
    uint32_t table;
    size_t key_at;
    uint32_t key_len;
    uint32_t val_len; /* follows the key */
} RowWrite;

/* A write of one of the sets that are applied. */
typedef struct Applied {
    const WriteSet *set;
    RowWrite write;
} Applied;

void writes_clear(WriteSet *writes)
{
    buf_clear(&writes->bytes);
    buf_clear(&writes->list);
}

void writes_release(WriteSet *writes)
{
    buf_release(&writes->bytes);
    buf_release(&writes->list);
}

int writes_add(WriteSet *writes, RowWriteKind kind, const RowKey *key, Slice val)
{
    RowWrite write = {kind, key->table, writes->bytes.len, key->len, (uint32_t)val.len};
    int rc = buf_reserve(&writes->bytes, key->len + val.len);
    rc = rc == SAP_OK ? buf_append(&writes->list, &write, sizeof write) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = buf_append(&writes->bytes, key->bytes, key->len);
    rc = rc == SAP_OK ? buf_append(&writes->bytes, val.data, val.len) : rc;
    SAP_ASSERT(rc == SAP_OK);
    return rc;
}

int writes_add_all(WriteSet *writes, const WriteSet *from)
{
    int rc = SAP_OK;
    for (size_t i = 0; rc == SAP_OK && i < from->list.len; i += sizeof(RowWrite)) {
        RowWrite write;
        RowKey key;
        memcpy(&write, from->list.data + i, sizeof write);
        key = (RowKey){.table = write.table, .len = write.key_len};
        memcpy(key.bytes, from->bytes.data + write.key_at, write.key_len);
        rc = writes_add(writes, write.kind, &key,
                        (Slice){from->bytes.data + write.key_at + write.key_len, write.val_len});
    }
    return rc;
}

static const uint8_t *key_of(const Applied *applied)
{
    return applied->set->bytes.data + applied->write.key_at;
}

static int compare(const void *a, const void *b)
{
    const Applied *x = (const Applied *)a;
    const Applied *y = (const Applied *)b;
    if (x->write.table != y->write.table) {
        return x->write.table < y->write.table ? -1 : 1;
    }
    uint32_t len = x->write.key_len < y->write.key_len ? x->write.key_len : y->write.key_len;
    int order = memcmp(key_of(x), key_of(y), len);
    if (order == 0 && x->write.key_len != y->write.key_len) {
        order = x->write.key_len < y->write.key_len ? -1 : 1;
    }
    /* The same row twice: in the order in which they were added. */
    return order != 0 ? order
                      : (x->write.key_at > y->write.key_at) - (x->write.key_at < y->write.key_at);
}

static int apply_one(const Applied *applied, UniverseTxn *txn)
{
    RowKey key = {.table = applied->write.table, .len = applied->write.key_len};
    Slice val = {key_of(applied) + key.len, applied->write.val_len};
    int rc = SAP_OK;
    memcpy(key.bytes, key_of(applied), key.len);
    switch (applied->write.kind) {
    case ROW_PUT:
        return universe_put(txn, &key, val);
    case ROW_PUT_ABSENT:
        rc = universe_put_if_absent(txn, &key, val);
        return rc == SAP_EXISTS ? SAP_OK : rc;
    case ROW_PUT_NEW:
        rc = universe_put_if_absent(txn, &key, val);
        return rc == SAP_EXISTS ? SAP_CORRUPT : rc;
    case ROW_DEL:
        rc = universe_del(txn, &key);
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    case ROW_DEL_MUST:
        rc = universe_del(txn, &key);
        return rc == SAP_NOTFOUND ? SAP_FENCED : rc;
    }
    return SAP_ERROR;
}

int writes_apply(WriteSet *const *sets, uint32_t count, UniverseTxn *txn)
{
    size_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        total += sets[i]->list.len / sizeof(RowWrite);
    }
    Applied *all = (Applied *)mem_alloc(MEM_UNIVERSE, total * sizeof *all);
    if (all == NULL) {
        return SAP_NOMEM;
    }
    size_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (size_t j = 0; j < sets[i]->list.len; j += sizeof(RowWrite)) {
            all[at].set = sets[i];
            memcpy(&all[at++].write, sets[i]->list.data + j, sizeof(RowWrite));
        }
    }
    qsort(all, total, sizeof *all, compare);
    int rc = SAP_OK;
    for (size_t i = 0; rc == SAP_OK && i < total; i++) {
        rc = apply_one(&all[i], txn);
    }
    mem_free(MEM_UNIVERSE, all, total * sizeof *all);
    return rc;
}
