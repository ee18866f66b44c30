/* durable.c - see durable.h. */
#include "runner/durable.h"

#include <stddef.h>

int durable_wait(DB *db, uint64_t lsn)
{
    Txn *reader;

    if (lsn == 0 || db_durable_lsn(db) >= lsn) {
        return SAP_OK;
    }
    if (txn_begin_rc(db, NULL, TXN_RDONLY, &reader) == SAP_OK) {
        uint64_t seen = txn_base_lsn(reader);
        txn_abort(reader);
        if (seen >= lsn) {
            return SAP_OK;
        }
    }
    return db_wait_durable(db, lsn);
}
