/* time.h - lease time and due time of a store; store.h says what they are. */
#ifndef SAPLING_STORE_TIME_H
#define SAPLING_STORE_TIME_H

#include "store/meta.h"

/* Sets the clock; *time_out is what a store that is made now stores. */
void store_time_init(SapStore *store, const SapStoreOptions *options, WitStoreTime *time_out);

/* The times continue from what is stored, as of now. On a store that others share it may wait, to see
 * whether they are alive; then the codes are those of a read. */
int store_time_start(SapStore *store, const WitStoreTime *stored);

/* The wall time that decides how long a store was closed: the server's, where there is one. */
int store_time_wall(SapStoreTxn *txn, uint64_t *wall_out);

/* sap_store_put_time() in a guarded transaction. */
int store_put_time(SapStoreTxn *txn);

#endif
