#include "support/driver_internal.h"

#include <string.h>

static void ttl_put(Driver *d, Level *level)
{
    driver_choose_key(d, TABLE_TTL);
    driver_choose_value(d, TABLE_TTL);
    uint64_t expires = one_in(d, 20) ? 0 : one_in(d, 20) ? UINT64_MAX : d->now_ms + below(d, 40);
    driver_arm(d);
    int rc = sap_txn_put_ttl_dbi(level->txn, d->tables[TABLE_TTL].dbi, d->tables[TABLE_META].dbi,
                                 d->key, d->key_len, d->val, d->val_len, expires);
    if (driver_disarm(d, rc)) {
        return;
    }
    EXPECT(rc == (level->readonly ? SAP_READONLY : SAP_OK), "put_ttl answered %d", rc);
    if (rc == SAP_OK) {
        d->counts->changes++;
        driver_touch(level, TABLE_TTL, d->key, d->key_len);
        model_put_ttl(table_of(level, TABLE_TTL), table_of(level, TABLE_META), d->key, d->key_len,
                      d->val, d->val_len, expires);
    }
}

static void ttl_del(Driver *d, Level *level, const uint8_t *key, uint32_t key_len)
{
    d->counts->expiries++;
    driver_touch(level, TABLE_TTL, key, key_len);
    model_del_ttl(table_of(level, TABLE_TTL), table_of(level, TABLE_META), key, key_len);
}

static void ttl_get(Driver *d, Level *level)
{
    unsigned flags = one_in(d, 2) ? SAP_TTL_LAZY_DELETE : 0;
    const void *val = d;
    uint32_t val_len = 4711;
    uint64_t expires = 0;

    driver_choose_key(d, TABLE_TTL);
    ModelRow *row = model_find(table_of(level, TABLE_TTL), d->key, d->key_len);
    bool known = model_expiry(table_of(level, TABLE_META), d->key, d->key_len, &expires);
    driver_arm(d);
    int rc =
        sap_txn_get_ttl_flags_dbi(level->txn, d->tables[TABLE_TTL].dbi, d->tables[TABLE_META].dbi,
                                  d->key, d->key_len, d->now_ms, &val, &val_len, flags);
    if (driver_disarm(d, rc)) {
        return;
    }
    if (row != NULL && known && expires > d->now_ms) {
        EXPECT(rc == SAP_OK && driver_row_is(row, d->key, d->key_len, val, val_len),
               "a row that has not expired answered %d", rc);
        return;
    }
    EXPECT(rc == SAP_NOTFOUND && val == d && val_len == 4711, "no row answered %d", rc);
    if (known && flags != 0 && !level->readonly) {
        ttl_del(d, level, d->key, d->key_len);
    }
}

static int sweep(Driver *d, Level *level, uint32_t kind, uint64_t max, SapSweepCheckpoint *at,
                 uint64_t *deleted)
{
    uint32_t data = d->tables[TABLE_TTL].dbi;
    uint32_t meta = d->tables[TABLE_META].dbi;

    switch (kind) {
    case 0:
        return sap_txn_sweep_ttl_dbi(level->txn, data, meta, d->now_ms, deleted);
    case 1:
        return sap_txn_sweep_ttl_dbi_limit(level->txn, data, meta, d->now_ms, max, deleted);
    default:
        return sap_txn_sweep_ttl_dbi_checkpoint(level->txn, data, meta, d->now_ms, max, at,
                                                deleted);
    }
}

static void ttl_sweep(Driver *d, Level *level)
{
    uint32_t kind = below(d, 3);
    uint64_t max = kind == 0 ? UINT64_MAX : below(d, 8);
    uint64_t deleted = UINT64_MAX;
    uint64_t expected = 0;
    uint64_t expires = 0;
    const uint8_t *key = NULL;
    uint32_t key_len = 0;
    SapSweepCheckpoint at = d->sweep;

    driver_arm(d);
    int rc = sweep(d, level, kind, max, &at, &deleted);
    if (driver_disarm(d, rc)) {
        EXPECT(memcmp(&at, &d->sweep, sizeof at) == 0, "a failed sweep moved its checkpoint");
        return;
    }
    EXPECT(rc == (level->readonly ? SAP_READONLY : SAP_OK), "a sweep answered %d", rc);
    if (rc != SAP_OK) {
        return;
    }
    const ModelTable *meta = table_of(level, TABLE_META);
    while (expected < max && model_first_expired(meta, d->now_ms, &key, &key_len, &expires)) {
        memcpy(d->other_key, key, key_len);
        ttl_del(d, level, d->other_key, key_len);
        expected++;
    }
    EXPECT(deleted == expected, "%llu rows swept instead of %llu", (unsigned long long)deleted,
           (unsigned long long)expected);
    if (kind == 2) {
        bool left = model_first_expired(meta, d->now_ms, &key, &key_len, &expires);
        EXPECT(at.deleted == d->sweep.deleted + deleted, "another total in the checkpoint");
        EXPECT(at.done == (left ? 0 : 1), "done is %u", at.done);
        d->sweep = at;
    }
}

void driver_op_ttl(Driver *d, Level *level)
{
    d->now_ms += below(d, 3);
    switch (below(d, 8)) {
    case 0:
        ttl_sweep(d, level);
        break;
    case 1:
    case 2:
        ttl_get(d, level);
        break;
    default:
        ttl_put(d, level);
        break;
    }
}
