/* Records of the log made up by the fuzzer, applied to a few rows: any answer will do, but the
 * tables must keep their rules, and after an error and an abort their rows. The same bytes as saved
 * states of subsystems: they are taken in order, or refused. */
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

static int take_state(void *ctx, uint32_t id, Slice bytes)
{
    (void)ctx;
    EXPECT(id < SAP_MAX_SUBSYSTEMS, "subsystem %u", id);
    EXPECT(bytes.data != NULL && bytes.len > 0, "a change without bytes");
    return SAP_OK;
}

static void take_saved(const uint8_t *data, size_t size)
{
    ByteReader reader;
    uint32_t id = 0;
    uint32_t before = UINT32_MAX;
    Slice bytes = {0};
    int rc = SAP_OK;

    reader_init(&reader, data, size);
    while ((rc = saved_state_take(&reader, &id, &bytes)) == SAP_OK) {
        EXPECT(before == UINT32_MAX || id > before, "subsystem %u behind %u", id, before);
        EXPECT_RC(take_state(NULL, id, bytes), SAP_OK);
        before = id;
    }
    EXPECT(rc == SAP_NOTFOUND || rc == SAP_CORRUPT, "taking answered %d", rc);
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
    take_saved(data, size);
    SapEnv *db = open_with_rows();
    SapTxnCtx *txn = NULL;
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    const EffectCalls calls = {.define = define_none, .subsystem = take_state};
    int rc = effects_apply(txn, (Slice){data, size}, &calls);
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
