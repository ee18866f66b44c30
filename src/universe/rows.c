/* rows.c - see rows.h. */
#include "universe/rows.h"

#include <string.h>

#include "common/assert.h"
#include "common/utf8.h"
#include "wit_universe.h"

/* ---- Who may write what ---------------------------------------------------------------------- */

/* The guards that a row needs, as tables whose row of the same world or worker is guarded. */
typedef struct RowRule {
    uint32_t table;
    uint32_t parties;   /* bits by UniverseParty */
    uint32_t guards[2]; /* tables; 0: none */
} RowRule;

#define PARTY_BIT(party) (1u << (party))

static const RowRule row_rules[] = {
    {WIT_DBI_LEASE, PARTY_BIT(PARTY_LEASE), {WIT_DBI_LEASE, 0}},
    {WIT_DBI_SESSIONS, PARTY_BIT(PARTY_SESSION), {WIT_DBI_SESSIONS, 0}},
    {WIT_DBI_HELD, PARTY_BIT(PARTY_LEASE), {WIT_DBI_LEASE, 0}},
    {WIT_DBI_HEAD, PARTY_BIT(PARTY_HOLDER), {WIT_DBI_LEASE, WIT_DBI_HEAD}},
    {WIT_DBI_JOURNAL, PARTY_BIT(PARTY_HOLDER), {WIT_DBI_LEASE, WIT_DBI_HEAD}},
};

static const RowRule *find_rule(uint32_t table)
{
    for (size_t i = 0; i < sizeof row_rules / sizeof row_rules[0]; i++) {
        if (row_rules[i].table == table) {
            return &row_rules[i];
        }
    }
    return NULL;
}

/* Keys of one world begin with the same bytes in every table whose rows are guarded; those of held rows
 * have the world at their end. */
static bool guard_covers(const RowKey *guard, const RowKey *key)
{
    if (key->table == WIT_DBI_HELD) {
        uint32_t name_len = guard->len - 4;
        return guard->len > 4 && key->len >= name_len && memcmp(key->bytes, guard->bytes, 4) == 0 &&
               memcmp(key->bytes + key->len - name_len, guard->bytes + 4, name_len) == 0;
    }
    return key->len >= guard->len && memcmp(key->bytes, guard->bytes, guard->len) == 0;
}

static bool has_guard(const UniverseTxn *txn, uint32_t table, const RowKey *key)
{
    for (uint32_t i = 0; i < txn->guard_count; i++) {
        if (txn->guards[i].table == table && guard_covers(&txn->guards[i], key)) {
            return true;
        }
    }
    return false;
}

static bool may_write(const UniverseTxn *txn, const RowKey *key)
{
    const RowRule *rule = find_rule(key->table);
    if (rule == NULL || (rule->parties & PARTY_BIT(txn->party)) == 0) {
        return false;
    }
    for (size_t i = 0; i < 2 && rule->guards[i] != 0; i++) {
        if (!has_guard(txn, rule->guards[i], key)) {
            return false;
        }
    }
    return true;
}

const uint32_t *universe_tables(uint32_t *count_out)
{
    static uint32_t tables[sizeof row_rules / sizeof row_rules[0]] = {
        WIT_DBI_LEASE, WIT_DBI_SESSIONS, WIT_DBI_HELD, WIT_DBI_HEAD, WIT_DBI_JOURNAL};
    *count_out = sizeof tables / sizeof tables[0];
    return tables;
}

/* ---- Names and keys -------------------------------------------------------------------------- */

int universe_name_set(UniverseName *name, const char *text)
{
    size_t len = text == NULL ? 0 : strlen(text);
    if (len == 0 || len > UNIVERSE_NAME_MAX || !utf8_valid(text, len)) {
        return SAP_INVALID;
    }
    memcpy(name->text, text, len + 1);
    name->len = (uint32_t)len;
    return SAP_OK;
}

/* Encoders only read what they are given. */
static CodecBytes lend_bytes(const void *data, size_t len)
{
    CodecBytes bytes = {.len = (uint32_t)len};
    memcpy(&bytes.data, &data, sizeof data);
    return bytes;
}

static CodecBytes lend_name(const UniverseName *name)
{
    return lend_bytes(name->text, name->len);
}

static Buf start_key(RowKey *key, uint32_t table)
{
    key->table = table;
    return buf_in(key->bytes, sizeof key->bytes);
}

static void end_key(RowKey *key, const Buf *buf, int rc)
{
    SAP_ASSERT(rc == SAP_OK && buf->len <= sizeof key->bytes);
    key->len = (uint32_t)buf->len;
}

void row_key_lease(RowKey *key, uint32_t universe, const UniverseName *world)
{
    Buf buf = start_key(key, WIT_DBI_LEASE);
    WitUniverseDbi16LeaseKey fields = {universe, lend_name(world)};
    end_key(key, &buf, wit_universe_dbi16_lease_key_encode(&fields, &buf, NULL));
}

void row_key_session(RowKey *key, uint32_t universe, const UniverseName *worker)
{
    Buf buf = start_key(key, WIT_DBI_SESSIONS);
    WitUniverseDbi17SessionsKey fields = {universe, lend_name(worker)};
    end_key(key, &buf, wit_universe_dbi17_sessions_key_encode(&fields, &buf, NULL));
}

void row_key_held(RowKey *key, uint32_t universe, const uint8_t nonce[UNIVERSE_NONCE],
                  const UniverseName *world)
{
    Buf buf = start_key(key, WIT_DBI_HELD);
    WitUniverseDbi18HeldKey fields = {universe, lend_bytes(nonce, UNIVERSE_NONCE),
                                      lend_name(world)};
    end_key(key, &buf, wit_universe_dbi18_held_key_encode(&fields, &buf, NULL));
}

void row_key_head(RowKey *key, uint32_t universe, const UniverseName *world)
{
    Buf buf = start_key(key, WIT_DBI_HEAD);
    WitUniverseDbi19HeadKey fields = {universe, lend_name(world)};
    end_key(key, &buf, wit_universe_dbi19_head_key_encode(&fields, &buf, NULL));
}

void row_key_journal(RowKey *key, uint32_t universe, const UniverseName *world, uint64_t height,
                     uint32_t part)
{
    Buf buf = start_key(key, WIT_DBI_JOURNAL);
    WitUniverseDbi20JournalKey fields = {universe, lend_name(world), height, part};
    end_key(key, &buf, wit_universe_dbi20_journal_key_encode(&fields, &buf, NULL));
}

/* ---- Transactions ---------------------------------------------------------------------------- */

int universe_txn_start(UniverseTxn *txn, SapStoreTxn *store_txn, UniverseParty party,
                       const RowKey *guards, uint32_t count)
{
    SapStoreGuard taken[UNIVERSE_GUARDS];
    SAP_ASSERT(count > 0 && count <= UNIVERSE_GUARDS);
    txn->txn = store_txn;
    txn->party = party;
    txn->guard_count = count;
    for (uint32_t i = 0; i < count; i++) {
        txn->guards[i] = guards[i];
        taken[i] = (SapStoreGuard){guards[i].table, txn->guards[i].bytes, guards[i].len, true};
    }
    return sap_store_guard(store_txn, taken, count);
}

static int get_row(SapStoreTxn *txn, const RowKey *key, Slice *val_out)
{
    const void *val = NULL;
    uint32_t len = 0;
    int rc = sap_store_get(txn, key->table, key->bytes, key->len, &val, &len);
    if (rc == SAP_OK) {
        *val_out = (Slice){val, len};
    }
    return rc;
}

static int put_row(UniverseTxn *txn, const RowKey *key, Slice val)
{
    SAP_ASSERT(may_write(txn, key));
    return sap_store_put(txn->txn, key->table, key->bytes, key->len, val.data, (uint32_t)val.len);
}

/* A stored row that does not decode is damage, not bad input. */
static int code_of_decode(int rc)
{
    return rc == SAP_INVALID ? SAP_CORRUPT : rc;
}

/* ---- Values ---------------------------------------------------------------------------------- */

int lease_row_get(SapStoreTxn *txn, const RowKey *key, LeaseRow *row_out)
{
    Slice val = {0};
    WitUniverseDbi16LeaseValue fields;
    int rc = get_row(txn, key, &val);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = wit_universe_dbi16_lease_value_decode(val.data, val.len, &fields, NULL);
    if (rc != SAP_OK) {
        return code_of_decode(rc);
    }
    *row_out = (LeaseRow){.epoch = fields.epoch};
    row_out->holder.len = (uint32_t)fields.holder.len;
    if (fields.holder.len > 0) {
        memcpy(row_out->holder.text, fields.holder.data, fields.holder.len);
        memcpy(row_out->nonce, fields.nonce.data, UNIVERSE_NONCE);
    }
    wit_universe_dbi16_lease_value_free(&fields);
    return SAP_OK;
}

int lease_row_put(UniverseTxn *txn, const RowKey *key, const LeaseRow *row)
{
    Buf buf = {0};
    WitUniverseDbi16LeaseValue fields = {
        lend_name(&row->holder), lend_bytes(row->nonce, row->holder.len > 0 ? UNIVERSE_NONCE : 0),
        row->epoch};
    int rc = wit_universe_dbi16_lease_value_encode(&fields, &buf, NULL);
    SAP_ASSERT(rc != SAP_INVALID);
    rc = rc == SAP_OK ? put_row(txn, key, (Slice){buf.data, buf.len}) : rc;
    buf_release(&buf);
    return rc;
}

int session_row_get(SapStoreTxn *txn, const RowKey *key, SessionRow *row_out)
{
    Slice val = {0};
    WitUniverseDbi17SessionsValue fields;
    int rc = get_row(txn, key, &val);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = wit_universe_dbi17_sessions_value_decode(val.data, val.len, &fields, NULL);
    if (rc != SAP_OK) {
        return code_of_decode(rc);
    }
    row_out->expires_ns = fields.expires_ns;
    memcpy(row_out->nonce, fields.nonce.data, UNIVERSE_NONCE);
    wit_universe_dbi17_sessions_value_free(&fields);
    return SAP_OK;
}

int session_row_put(UniverseTxn *txn, const RowKey *key, const SessionRow *row)
{
    Buf buf = {0};
    WitUniverseDbi17SessionsValue fields = {lend_bytes(row->nonce, UNIVERSE_NONCE),
                                            row->expires_ns};
    int rc = wit_universe_dbi17_sessions_value_encode(&fields, &buf, NULL);
    SAP_ASSERT(rc != SAP_INVALID);
    rc = rc == SAP_OK ? put_row(txn, key, (Slice){buf.data, buf.len}) : rc;
    buf_release(&buf);
    return rc;
}

int held_row_put(UniverseTxn *txn, const RowKey *key)
{
    return put_row(txn, key, (Slice){"", 0});
}

int held_row_del(UniverseTxn *txn, const RowKey *key)
{
    SAP_ASSERT(may_write(txn, key));
    int rc = sap_store_del(txn->txn, key->table, key->bytes, key->len);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

int head_row_get(SapStoreTxn *txn, const RowKey *key, HeadRow *row_out)
{
    Slice val = {0};
    WitUniverseDbi19HeadValue fields;
    int rc = get_row(txn, key, &val);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = wit_universe_dbi19_head_value_decode(val.data, val.len, &fields, NULL);
    if (rc != SAP_OK) {
        return code_of_decode(rc);
    }
    row_out->height = fields.height;
    memcpy(row_out->digest, fields.digest.data, UNIVERSE_DIGEST);
    wit_universe_dbi19_head_value_free(&fields);
    return SAP_OK;
}

int head_row_put(UniverseTxn *txn, const RowKey *key, const HeadRow *row)
{
    Buf buf = {0};
    WitUniverseDbi19HeadValue fields = {row->height, lend_bytes(row->digest, UNIVERSE_DIGEST)};
    int rc = wit_universe_dbi19_head_value_encode(&fields, &buf, NULL);
    SAP_ASSERT(rc != SAP_INVALID);
    rc = rc == SAP_OK ? put_row(txn, key, (Slice){buf.data, buf.len}) : rc;
    buf_release(&buf);
    return rc;
}

int journal_row_get(SapStoreTxn *txn, const RowKey *key, uint64_t *epoch_out, Buf *content_out)
{
    Slice val = {0};
    WitUniverseDbi20JournalValue fields;
    int rc = get_row(txn, key, &val);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = wit_universe_dbi20_journal_value_decode(val.data, val.len, &fields, NULL);
    if (rc != SAP_OK) {
        return code_of_decode(rc);
    }
    rc = buf_append(content_out, fields.content.data, fields.content.len);
    if (rc == SAP_OK) {
        *epoch_out = fields.epoch;
    }
    wit_universe_dbi20_journal_value_free(&fields);
    return rc;
}

int journal_row_put(UniverseTxn *txn, const RowKey *key, uint64_t epoch, Slice content)
{
    Buf buf = {0};
    WitUniverseDbi20JournalValue fields = {epoch, lend_bytes(content.data, content.len)};
    int rc = wit_universe_dbi20_journal_value_encode(&fields, &buf, NULL);
    SAP_ASSERT(rc != SAP_INVALID);
    rc = rc == SAP_OK ? put_row(txn, key, (Slice){buf.data, buf.len}) : rc;
    buf_release(&buf);
    return rc;
}
