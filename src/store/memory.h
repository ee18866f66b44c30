/* memory.h - what the simulator asks of a store in memory beyond store.h.
 *
 * All stores of one name share one memory and one list of open transactions. A transaction that is
 * over (its store has crashed, or the server dropped it) stays in that list until its caller ends
 * it, but holds nothing. */
#ifndef SAPLING_STORE_MEMORY_H
#define SAPLING_STORE_MEMORY_H

#include "store/store_impl.h"

/* One call of the store, after it has returned. Calls that the hook has failed are not among them. A
 * guard call is one event for each key. */
typedef struct MemoryEvent {
    SapStoreCall call;
    int rc;
    bool wrote;              /* a commit that changed rows */
    StoreKey key;            /* the row, or where the range begins */
    Slice val;               /* put, or got */
    const SapStoreRow *rows; /* scanned or claimed */
    uint32_t row_count;
} MemoryEvent;

/* The event is borrowed for the call. It may begin, use and end transactions of other stores. */
typedef void (*MemoryWatch)(void *ctx, const MemoryEvent *event);

/* Reports the calls on this store. NULL: no more. */
void memory_store_watch(SapStore *store, MemoryWatch watch, void *ctx);

/* The open transactions on this store's memory, of all its stores; 0 is the first begun. */
uint32_t memory_store_depth(const SapStore *store);
SapStoreTxn *memory_store_txn(const SapStore *store, uint32_t index);

/* The server has lost patience with the transaction: its locks and guards are free, every further
 * call on it is SAP_IO, and its commit has an unknown outcome, though it did not happen. */
void memory_txn_drop(SapStoreTxn *txn);

/* The process of this store dies, as by SAP_STORE_FAULT_CRASH, but at any moment. */
void memory_store_crash(SapStore *store);

/* How many commits a power cut would take; makes the first so many of them durable. */
uint64_t memory_store_not_durable(const SapStore *store);
void memory_store_flush(SapStore *store, uint64_t commits);

/* The machine loses what was not durable. Every open transaction is over. */
void memory_store_cut_power(SapStore *store);

#endif
