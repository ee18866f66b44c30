/* install_check.c - the smallest program against an installed library, with the short names or,
 * when they are switched off, with those names for something of its own. */
#include "sapling/sapling.h"

#include <stdio.h>
#include <string.h>

#ifdef SAPLING_NO_SHORT_NAMES
typedef struct DB {
    int rows;
} DB;

static int txn_put(DB *db)
{
    return ++db->rows;
}

static int store_row(void)
{
    DB db = {0};
    return txn_put(&db) == 1 ? SAP_OK : SAP_ERROR;
}
#else
static int store_row(void)
{
    DB *db = db_open(NULL, 0, NULL, NULL);
    Txn *txn = db != NULL ? txn_begin(db, NULL, 0) : NULL;
    int rc = txn != NULL ? txn_put(txn, "key", 3, "value", 5) : SAP_NOMEM;
    if (rc == SAP_OK) {
        rc = txn_commit(txn);
    }
    return rc == SAP_OK ? db_close(db) : rc;
}
#endif

int main(void)
{
    const char *text = sap_strerror(store_row());
    if (text == NULL || text[0] == '\0' || strcmp(sap_version(), SAPLING_VERSION) != 0)
        return 1;
    return puts(text) < 0 ? 1 : 0;
}
