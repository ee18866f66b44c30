/* meta.h - the store's rows about itself: the marker, which says what the store holds, and the time.
 *
 * Every store has both from its first open on. The marker is never changed. */
#ifndef SAPLING_STORE_META_H
#define SAPLING_STORE_META_H

#include "store/store_impl.h"
#include "wit_store.h"

/* The format of a store's marker. Raised when a library that knows only the format before it would
 * misread a store. */
enum { META_FORMAT = 1 };

/* Where a row of table STORE_TABLE_META is. */
typedef struct MetaKey {
    uint8_t bytes[1];
} MetaKey;
MetaKey meta_key(WitStoreMetaRow row);

/* Compares the marker with this library's format and with `schema`, and reads the time; in a store
 * that is empty writes both, durable. *time is the time of a new store, and on SAP_OK what is stored.
 * `url` is for the texts of sap_open_error(). SAP_INVALID: the marker differs, or there are rows and
 * no marker. SAP_CORRUPT: a row does not decode. On failure nothing has changed. The store's hook must
 * not be set yet. */
int meta_open(SapStore *store, const char *url, const char *schema, WitStoreTime *time);

/* Whether a row of the table of such rows is the marker of a store, of whatever schema and format. */
bool meta_is_marker(Slice key, Slice val);

/* SAP_CORRUPT: there is no such row, or it does not decode. */
int meta_get_time(SapStoreTxn *txn, WitStoreTime *time_out);
/* No other transaction changes the time until this one ends. SAP_BUSY: another has done it, and has not
 * ended. SAP_CORRUPT: there is no such row, or it does not decode; the transaction has failed. */
int meta_get_time_locked(SapStoreTxn *txn, WitStoreTime *time_out);
int meta_put_time(SapStoreTxn *txn, const WitStoreTime *time);

#endif
