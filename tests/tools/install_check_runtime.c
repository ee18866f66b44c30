/* A program of libsapling-runtime: keeps a row in a store and reads it back. */
#include <stdio.h>
#include <string.h>

#include "sapling/store.h"

enum { TABLE = 16 };

static int put_row(SapStoreTxn *txn, void *ctx)
{
    (void)ctx;
    return sap_store_put(txn, TABLE, "key", 3, "success", 7);
}

int main(void)
{
    const uint32_t tables[] = {TABLE};
    SapStoreOptions options = {.size = sizeof options, .tables = tables, .table_count = 1};
    SapStore *store = NULL;
    SapStoreTxn *txn = NULL;
    const void *val = NULL;
    uint32_t len = 0;

    if (sap_store_open("memory:", &options, &store) != SAP_OK ||
        sap_store_run(store, SAP_STORE_GUARDED, put_row, NULL, NULL) != SAP_OK ||
        sap_store_begin(store, SAP_STORE_READ_DURABLE, &txn) != SAP_OK ||
        sap_store_get(txn, TABLE, "key", 3, &val, &len) != SAP_OK) {
        puts("failure");
        return 1;
    }
    printf("%.*s\n", (int)len, (const char *)val);
    sap_store_abort(txn);
    return sap_store_close(store) == SAP_OK ? 0 : 1;
}
