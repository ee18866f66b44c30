/* Records of the log made up by the fuzzer, applied to a few rows: any answer will do, but the
 * tables must keep their rules, and after an error and an abort their rows. */
#include "sapling/effects.h"
#include "support/expect.h"

enum { LONGEST_INPUT = 4096, PAGE_SIZE = 512, PAIRS = 1, ROWS = 60 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int define_none(void *ctx, uint32_t dbi, unsigned flags, Slice key_order, Slice val_order)
{
    (void)ctx;
    (void)flags;
    EXPECT(dbi <= SAP_MAX_DBI, "table %u", dbi);
    EXPECT(key_order.data != NULL || key_order.len == 0, "a length without a name");
    EXPECT(val_order.data != NULL || val_order.len == 0, "a length without a name");
    return SAP_OK;
}

static SapEnv *open_with_rows(void)
{
    SapEnv *db = sap_db_open(NULL, PAGE_SIZE, NULL, NULL);
    SapTxnCtx *txn = NULL;

    EXPECT(db != NULL, "no DB");
    EXPECT_RC(sap_dbi_open(db, PAIRS, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    for (uint8_t i = 0; i < ROWS; i++) {
        uint8_t key[1] = {(uint8_t)(i * 4)};
        EXPECT_RC(sap_txn_put(txn, key, 1, "value of some length", 20), SAP_OK);
        EXPECT_RC(sap_txn_put_dbi(txn, PAIRS, key, i % 2, key, 1), SAP_OK);
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    return db;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > LONGEST_INPUT) {
        return -1;
    }
    SapEnv *db = open_with_rows();
    SapTxnCtx *txn = NULL;
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    int rc = effects_apply(txn, (Slice){data, size}, define_none, NULL);
    EXPECT(rc == SAP_OK || rc == SAP_CORRUPT, "applying answered %d", rc);
    if (rc == SAP_OK) {
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    } else {
        SapStat stat;
        sap_txn_abort(txn);
        EXPECT_RC(sap_db_stat(db, &stat), SAP_OK);
        EXPECT(stat.num_entries == ROWS, "%llu rows after an abort",
               (unsigned long long)stat.num_entries);
    }
    EXPECT_RC(sap_db_verify(db, NULL, NULL), SAP_OK);
    EXPECT_RC(sap_db_close(db), SAP_OK);
    return 0;
}
