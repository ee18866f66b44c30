#include "support/numbers.h"

#include "common/bytes.h"
#include "support/expect.h"

#include <string.h>

uint64_t numbers_read(SapTxnCtx *txn, uint32_t dbi, uint32_t number)
{
    uint8_t key[4];
    const void *val = NULL;
    uint32_t len = 0;

    store_u32be(key, number);
    int rc = sap_txn_get_dbi(txn, dbi, key, sizeof key, &val, &len);
    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "get answered %d", rc);
    EXPECT(rc == SAP_NOTFOUND || len >= 8, "a number of %u bytes", len);
    return rc == SAP_OK ? load_u64le(val) : 0;
}

void numbers_write(SapTxnCtx *txn, uint32_t dbi, uint32_t number, uint64_t value, uint32_t pad)
{
    uint8_t key[4];
    uint8_t val[8 + NUMBERS_MAX_PAD];

    EXPECT(pad <= NUMBERS_MAX_PAD, "a pad of %u bytes", pad);
    store_u32be(key, number);
    store_u64le(val, value);
    memset(val + 8, (int)(value % 251), pad);
    EXPECT_RC(sap_txn_put_dbi(txn, dbi, key, sizeof key, val, 8 + pad), SAP_OK);
}
