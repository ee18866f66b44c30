/* writes.h - rows that a transaction will write, made before it begins.
 *
 * A cycle's transaction may have to be submitted again, alone or with other worlds: what it writes is
 * therefore made once, here, and only applied in the transaction, in the order of the keys. */
#ifndef SAPLING_UNIVERSE_WRITES_H
#define SAPLING_UNIVERSE_WRITES_H

#include "universe/rows.h"

typedef enum RowWriteKind {
    ROW_PUT,
    ROW_PUT_ABSENT, /* the first one stays */
    ROW_PUT_NEW,    /* SAP_CORRUPT if there is one: what is put once was put before */
    ROW_DEL,        /* whether or not it is there */
    ROW_DEL_MUST,   /* SAP_FENCED if it is not: somebody else has had the world */
} RowWriteKind;

typedef struct WriteSet {
    Buf bytes; /* of keys and values */
    Buf list;  /* RowWrite */
} WriteSet;

void writes_clear(WriteSet *writes);
void writes_release(WriteSet *writes);

/* Key and value are copied. SAP_NOMEM: the set is as it was. */
int writes_add(WriteSet *writes, RowWriteKind kind, const RowKey *key, Slice val);

/* Adds all of `from`. */
int writes_add_all(WriteSet *writes, const WriteSet *from);

/* Applies all of several sets, in the order of their keys. */
int writes_apply(WriteSet *const *sets, uint32_t count, UniverseTxn *txn);

#endif
