/* rows.c - see rows.h. */
#include "universe/rows.h"

#include <string.h>

#include "common/assert.h"
#include "common/utf8.h"
#include "store/blob.h"
#include "store/store_impl.h"

/* ---- Who may write what ---------------------------------------------------------------------- */

/* A guard that a row needs: on the row of that table whose key the row's key begins with. Rows of effects
 * and timers are keyed by intent and by time: for them, any row of that table and universe. */
typedef struct RowGuard {
    uint32_t table; /* 0: none */
    bool exclusive;
} RowGuard;

/* What is done to a row. */
typedef enum RowChange {
    CHANGE_NEW = 1, /* universe_put_if_absent(): never over what is there */
    CHANGE_PUT = 2,
    CHANGE_DEL = 4,
} RowChange;

typedef struct RowRule {
    uint32_t table;
    UniverseParty party;
    unsigned changes; /* RowChange */
    RowGuard guards[2];
} RowRule;

#define GUARD(table)          \
    {                         \
        WIT_DBI_##table, true \
    }
#define SHARED(table)          \
    {                          \
        WIT_DBI_##table, false \
    }
#define NO_GUARD \
    {            \
        0, false \
    }

static const RowRule row_rules[] = {
    {WIT_DBI_LEASE, PARTY_LEASE, CHANGE_PUT, {GUARD(LEASE), NO_GUARD}},
    {WIT_DBI_LEASE, PARTY_OPERATOR, CHANGE_PUT, {GUARD(LEASE), GUARD(WORLD_META)}},
    {WIT_DBI_SESSIONS, PARTY_SESSION, CHANGE_PUT | CHANGE_DEL, {GUARD(SESSIONS), NO_GUARD}},
    {WIT_DBI_HELD, PARTY_LEASE, CHANGE_PUT | CHANGE_DEL, {GUARD(LEASE), NO_GUARD}},
    {WIT_DBI_HELD, PARTY_OPERATOR, CHANGE_DEL, {GUARD(LEASE), NO_GUARD}},
    {WIT_DBI_ROLELEASE, PARTY_LEASE, CHANGE_PUT, {GUARD(ROLELEASE), NO_GUARD}},
    {WIT_DBI_WORLD_META, PARTY_OPERATOR, CHANGE_PUT, {GUARD(LEASE), GUARD(WORLD_META)}},
    {WIT_DBI_WORLD_META, PARTY_DRAIN, CHANGE_PUT, {GUARD(LEASE), GUARD(WORLD_META)}},
    /* A world that has finished gives its lease back with its last entry. */
    {WIT_DBI_LEASE, PARTY_HOLDER, CHANGE_PUT, {GUARD(LEASE), GUARD(WORLD_META)}},
    {WIT_DBI_HELD, PARTY_HOLDER, CHANGE_DEL, {GUARD(LEASE), NO_GUARD}},
    {WIT_DBI_WORLD_META, PARTY_HOLDER, CHANGE_PUT, {GUARD(LEASE), GUARD(WORLD_META)}},
    {WIT_DBI_RESULTS, PARTY_HOLDER, CHANGE_PUT, {GUARD(LEASE), GUARD(HEAD)}},
    {WIT_DBI_RESULTS, PARTY_DRAIN, CHANGE_DEL, {SHARED(WORLD_META), NO_GUARD}},
    {WIT_DBI_TAGS, PARTY_HOLDER, CHANGE_PUT | CHANGE_DEL, {GUARD(LEASE), GUARD(HEAD)}},
    {WIT_DBI_TAGS, PARTY_DRAIN, CHANGE_DEL, {SHARED(WORLD_META), NO_GUARD}},
    {WIT_DBI_WORLD_TAGS, PARTY_HOLDER, CHANGE_PUT | CHANGE_DEL, {GUARD(LEASE), GUARD(HEAD)}},
    {WIT_DBI_WORLD_TAGS, PARTY_DRAIN, CHANGE_DEL, {SHARED(WORLD_META), NO_GUARD}},
    {WIT_DBI_HEAD, PARTY_HOLDER, CHANGE_PUT, {GUARD(LEASE), GUARD(HEAD)}},
    {WIT_DBI_JOURNAL, PARTY_HOLDER, CHANGE_PUT, {GUARD(LEASE), GUARD(HEAD)}},
    {WIT_DBI_WORLD_INBOX, PARTY_PRODUCER, CHANGE_NEW, {SHARED(WORLD_META), NO_GUARD}},
    {WIT_DBI_WORLD_INBOX, PARTY_OPERATOR, CHANGE_NEW | CHANGE_DEL, {SHARED(WORLD_META), NO_GUARD}},
    {WIT_DBI_WORLD_INBOX, PARTY_ADAPTER, CHANGE_NEW, {SHARED(WORLD_META), NO_GUARD}},
    {WIT_DBI_WORLD_INBOX, PARTY_REAPER, CHANGE_NEW, {SHARED(WORLD_META), NO_GUARD}},
    {WIT_DBI_WORLD_INBOX, PARTY_TIMER, CHANGE_NEW, {SHARED(WORLD_META), NO_GUARD}},
    {WIT_DBI_WORLD_INBOX, PARTY_HOLDER, CHANGE_DEL, {GUARD(LEASE), GUARD(HEAD)}},
    {WIT_DBI_WORLD_INBOX, PARTY_DRAIN, CHANGE_DEL, {SHARED(WORLD_META), NO_GUARD}},
    {WIT_DBI_IDEM, PARTY_PRODUCER, CHANGE_NEW, {SHARED(WORLD_META), NO_GUARD}},
    {WIT_DBI_IDEM, PARTY_REAPER, CHANGE_DEL, {GUARD(IDEM), NO_GUARD}},
    {WIT_DBI_REPLY, PARTY_HOLDER, CHANGE_NEW, {GUARD(LEASE), GUARD(HEAD)}},
    {WIT_DBI_REPLY, PARTY_DRAIN, CHANGE_NEW, {SHARED(WORLD_META), NO_GUARD}},
    {WIT_DBI_REPLY, PARTY_REAPER, CHANGE_DEL, {GUARD(REPLY), NO_GUARD}},
    {WIT_DBI_WORLD_DLQ, PARTY_HOLDER, CHANGE_PUT, {GUARD(LEASE), NO_GUARD}},
    {WIT_DBI_WORLD_DLQ, PARTY_DRAIN, CHANGE_PUT, {SHARED(WORLD_META), NO_GUARD}},
    {WIT_DBI_READY, PARTY_PRODUCER, CHANGE_PUT | CHANGE_DEL, {NO_GUARD, NO_GUARD}},
    {WIT_DBI_EFFECTS_PENDING, PARTY_HOLDER, CHANGE_NEW | CHANGE_PUT, {GUARD(LEASE), GUARD(HEAD)}},
    {WIT_DBI_EFFECTS_PENDING, PARTY_HOLDER, CHANGE_DEL, {GUARD(LEASE), GUARD(EFFECTS_PENDING)}},
    {WIT_DBI_EFFECTS_PENDING, PARTY_CLAIM, CHANGE_DEL, {NO_GUARD, NO_GUARD}},
    {WIT_DBI_EFFECTS_PENDING,
     PARTY_ADAPTER,
     CHANGE_NEW,
     {GUARD(EFFECTS_INFLIGHT), GUARD(EFFECTS_DEDUPE)}},
    {WIT_DBI_EFFECTS_PENDING,
     PARTY_REAPER,
     CHANGE_NEW,
     {GUARD(EFFECTS_INFLIGHT), GUARD(EFFECTS_DEDUPE)}},
    {WIT_DBI_EFFECTS_PENDING,
     PARTY_REAPER,
     CHANGE_DEL,
     {GUARD(EFFECTS_PENDING), GUARD(EFFECTS_DEDUPE)}},
    {WIT_DBI_EFFECTS_PENDING,
     PARTY_OPERATOR,
     CHANGE_DEL,
     {GUARD(EFFECTS_PENDING), GUARD(EFFECTS_DEDUPE)}},
    {WIT_DBI_EFFECTS_PENDING, PARTY_OPERATOR, CHANGE_NEW, {GUARD(EFFECTS_DEDUPE), NO_GUARD}},
    {WIT_DBI_EFFECTS_PENDING,
     PARTY_DRAIN,
     CHANGE_DEL,
     {GUARD(EFFECTS_PENDING), SHARED(WORLD_META)}},
    {WIT_DBI_EFFECTS_INFLIGHT, PARTY_CLAIM, CHANGE_NEW, {NO_GUARD, NO_GUARD}},
    {WIT_DBI_EFFECTS_INFLIGHT,
     PARTY_ADAPTER,
     CHANGE_PUT | CHANGE_DEL,
     {GUARD(EFFECTS_INFLIGHT), NO_GUARD}},
    {WIT_DBI_EFFECTS_INFLIGHT,
     PARTY_REAPER,
     CHANGE_DEL,
     {GUARD(EFFECTS_INFLIGHT), GUARD(EFFECTS_DEDUPE)}},
    {WIT_DBI_EFFECTS_INFLIGHT,
     PARTY_OPERATOR,
     CHANGE_DEL,
     {GUARD(EFFECTS_INFLIGHT), GUARD(EFFECTS_DEDUPE)}},
    {WIT_DBI_EFFECTS_DEDUPE, PARTY_HOLDER, CHANGE_NEW, {GUARD(LEASE), GUARD(HEAD)}},
    {WIT_DBI_EFFECTS_DEDUPE, PARTY_HOLDER, CHANGE_PUT, {GUARD(LEASE), GUARD(EFFECTS_DEDUPE)}},
    /* Also without a guard of its own: of a receipt that is consumed, which nobody else writes. */
    {WIT_DBI_EFFECTS_DEDUPE, PARTY_HOLDER, CHANGE_DEL, {GUARD(LEASE), GUARD(HEAD)}},
    {WIT_DBI_EFFECTS_DEDUPE, PARTY_CLAIM, CHANGE_PUT, {NO_GUARD, NO_GUARD}},
    {WIT_DBI_EFFECTS_DEDUPE,
     PARTY_ADAPTER,
     CHANGE_PUT | CHANGE_DEL,
     {GUARD(EFFECTS_INFLIGHT), GUARD(EFFECTS_DEDUPE)}},
    {WIT_DBI_EFFECTS_DEDUPE,
     PARTY_REAPER,
     CHANGE_PUT | CHANGE_DEL,
     {GUARD(EFFECTS_DEDUPE), NO_GUARD}},
    {WIT_DBI_EFFECTS_DEDUPE,
     PARTY_OPERATOR,
     CHANGE_PUT | CHANGE_DEL,
     {GUARD(EFFECTS_DEDUPE), NO_GUARD}},
    {WIT_DBI_EFFECTS_DEDUPE,
     PARTY_DRAIN,
     CHANGE_PUT | CHANGE_DEL,
     {GUARD(EFFECTS_DEDUPE), SHARED(WORLD_META)}},
    {WIT_DBI_TIMERS_DUE, PARTY_HOLDER, CHANGE_NEW | CHANGE_PUT, {GUARD(LEASE), GUARD(HEAD)}},
    {WIT_DBI_TIMERS_DUE, PARTY_HOLDER, CHANGE_DEL, {GUARD(LEASE), GUARD(TIMERS_DUE)}},
    {WIT_DBI_TIMERS_DUE, PARTY_TIMER, CHANGE_DEL, {GUARD(TIMERS_DUE), SHARED(WORLD_META)}},
    {WIT_DBI_TIMERS_DUE, PARTY_DRAIN, CHANGE_DEL, {GUARD(TIMERS_DUE), SHARED(WORLD_META)}},
    {WIT_DBI_TIMERS_DEDUPE, PARTY_HOLDER, CHANGE_NEW, {GUARD(LEASE), GUARD(HEAD)}},
    {WIT_DBI_TIMERS_DEDUPE, PARTY_HOLDER, CHANGE_DEL, {GUARD(LEASE), GUARD(TIMERS_DUE)}},
    {WIT_DBI_TIMERS_DEDUPE, PARTY_TIMER, CHANGE_DEL, {GUARD(TIMERS_DUE), SHARED(WORLD_META)}},
    {WIT_DBI_TIMERS_DEDUPE, PARTY_DRAIN, CHANGE_DEL, {GUARD(TIMERS_DUE), SHARED(WORLD_META)}},
    {WIT_DBI_KINDS, PARTY_SESSION, CHANGE_PUT | CHANGE_DEL, {GUARD(KINDS), NO_GUARD}},
    {WIT_DBI_KINDS, PARTY_REAPER, CHANGE_DEL, {GUARD(KINDS), NO_GUARD}},
    {WIT_DBI_READY, PARTY_HOLDER, CHANGE_PUT | CHANGE_DEL, {NO_GUARD, NO_GUARD}},
    {WIT_DBI_READY, PARTY_OPERATOR, CHANGE_PUT, {NO_GUARD, NO_GUARD}},
    {WIT_DBI_READY, PARTY_ADAPTER, CHANGE_PUT, {NO_GUARD, NO_GUARD}},
    {WIT_DBI_READY, PARTY_REAPER, CHANGE_PUT, {NO_GUARD, NO_GUARD}},
    {WIT_DBI_READY, PARTY_TIMER, CHANGE_PUT, {NO_GUARD, NO_GUARD}},
    {WIT_DBI_READY, PARTY_LEASE, CHANGE_PUT, {NO_GUARD, NO_GUARD}},
    {WIT_DBI_EXPIRY, PARTY_PRODUCER, CHANGE_PUT, {NO_GUARD, NO_GUARD}},
    {WIT_DBI_EXPIRY, PARTY_HOLDER, CHANGE_PUT, {NO_GUARD, NO_GUARD}},
    {WIT_DBI_EXPIRY, PARTY_DRAIN, CHANGE_PUT, {NO_GUARD, NO_GUARD}},
    {WIT_DBI_EXPIRY, PARTY_REAPER, CHANGE_PUT | CHANGE_DEL, {NO_GUARD, NO_GUARD}},
    {WIT_DBI_REPLY, PARTY_OPERATOR, CHANGE_NEW | CHANGE_DEL, {GUARD(LEASE), GUARD(WORLD_META)}},
    {WIT_DBI_ATTEMPT, PARTY_HOLDER, CHANGE_PUT | CHANGE_DEL, {GUARD(LEASE), NO_GUARD}},
    {WIT_DBI_ATTEMPT, PARTY_OPERATOR, CHANGE_DEL, {GUARD(LEASE), GUARD(WORLD_META)}},
    {WIT_DBI_ASSIGNMENT, PARTY_OPERATOR, CHANGE_PUT | CHANGE_DEL, {GUARD(ASSIGNMENT), NO_GUARD}},
    {WIT_DBI_ASSIGNMENT, PARTY_ORCHESTRATOR, CHANGE_DEL, {GUARD(ASSIGNMENT), NO_GUARD}},
    {WIT_DBI_ASSIGNED, PARTY_OPERATOR, CHANGE_PUT | CHANGE_DEL, {GUARD(ASSIGNMENT), NO_GUARD}},
    {WIT_DBI_ASSIGNED, PARTY_ORCHESTRATOR, CHANGE_DEL, {GUARD(ASSIGNMENT), NO_GUARD}},
    {WIT_DBI_MODULES, PARTY_OPERATOR, CHANGE_NEW, {GUARD(MODULES), NO_GUARD}},
    {WIT_DBI_MODULES, PARTY_ORCHESTRATOR, CHANGE_PUT, {GUARD(MODULES), NO_GUARD}},
    {WIT_DBI_WORLD_DLQ, PARTY_OPERATOR, CHANGE_PUT | CHANGE_DEL, {SHARED(WORLD_META), NO_GUARD}},
    {WIT_DBI_READY, PARTY_ORCHESTRATOR, CHANGE_PUT, {NO_GUARD, NO_GUARD}},
    {WIT_DBI_EXPIRY, PARTY_OPERATOR, CHANGE_PUT, {NO_GUARD, NO_GUARD}},
    /* Messages between worlds: a destination that is created, ids that handlers chose. */
    {WIT_DBI_WORLD_META, PARTY_ADAPTER, CHANGE_PUT, {GUARD(LEASE), GUARD(WORLD_META)}},
    {WIT_DBI_FABRIC_DEDUPE, PARTY_ADAPTER, CHANGE_NEW, {SHARED(WORLD_META), NO_GUARD}},
    {WIT_DBI_FABRIC_DEDUPE, PARTY_REAPER, CHANGE_DEL, {GUARD(FABRIC_DEDUPE), NO_GUARD}},
    {WIT_DBI_EXPIRY, PARTY_ADAPTER, CHANGE_PUT, {NO_GUARD, NO_GUARD}},
    /* Whoever makes a dead letter of a question answers it: with an effect that nobody else knows yet. */
    {WIT_DBI_EFFECTS_PENDING, PARTY_OPERATOR, CHANGE_PUT, {GUARD(LEASE), GUARD(WORLD_META)}},
    {WIT_DBI_EFFECTS_DEDUPE, PARTY_OPERATOR, CHANGE_NEW, {GUARD(LEASE), GUARD(WORLD_META)}},
    {WIT_DBI_EFFECTS_PENDING, PARTY_DRAIN, CHANGE_PUT, {SHARED(WORLD_META), NO_GUARD}},
    {WIT_DBI_EFFECTS_DEDUPE, PARTY_DRAIN, CHANGE_NEW, {SHARED(WORLD_META), NO_GUARD}},
    {WIT_DBI_PROMISES, PARTY_HOLDER, CHANGE_NEW, {GUARD(LEASE), GUARD(HEAD)}},
    {WIT_DBI_PROMISES, PARTY_HOLDER, CHANGE_DEL, {GUARD(LEASE), GUARD(PROMISES)}},
    {WIT_DBI_PROMISES, PARTY_PRODUCER, CHANGE_DEL, {GUARD(PROMISES), SHARED(WORLD_META)}},
    {WIT_DBI_PROMISES, PARTY_TIMER, CHANGE_DEL, {GUARD(PROMISES), SHARED(WORLD_META)}},
    {WIT_DBI_PROMISES, PARTY_DRAIN, CHANGE_DEL, {GUARD(PROMISES), SHARED(WORLD_META)}},
    {WIT_DBI_IDEMPOTENCY, PARTY_OPERATOR, CHANGE_NEW, {GUARD(IDEMPOTENCY), NO_GUARD}},
    {WIT_DBI_IDEMPOTENCY, PARTY_REAPER, CHANGE_DEL, {GUARD(IDEMPOTENCY), NO_GUARD}},
};

enum { RULE_COUNT = sizeof row_rules / sizeof row_rules[0] };

static bool rule_is_of(const RowRule *rule, uint32_t table, UniverseParty party, RowChange change)
{
    return rule->table == table && rule->party == party && (rule->changes & (unsigned)change) != 0;
}

static bool may_claim(uint32_t table, UniverseParty party)
{
    size_t i = 0;
    while (i < RULE_COUNT && !rule_is_of(&row_rules[i], table, party, CHANGE_DEL)) {
        i++;
    }
    return i < RULE_COUNT;
}

static bool is_of_intents(uint32_t table)
{
    return (table >= WIT_DBI_EFFECTS_PENDING && table <= WIT_DBI_TIMERS_DEDUPE) ||
           table == WIT_DBI_PROMISES;
}

/* Keys of one world begin with the same bytes in every table whose rows are guarded; those of held,
 * assigned and tags rows have the world at their end. */
static bool guard_covers(const RowKey *guard, const RowKey *key)
{
    if (key->table == WIT_DBI_HELD || key->table == WIT_DBI_ASSIGNED ||
        key->table == WIT_DBI_TAGS) {
        uint32_t name_len = guard->len - 4;
        return guard->len > 4 && key->len >= name_len && memcmp(key->bytes, guard->bytes, 4) == 0 &&
               memcmp(key->bytes + key->len - name_len, guard->bytes + 4, name_len) == 0;
    }
    if (is_of_intents(key->table) && guard->table != key->table) {
        return memcmp(key->bytes, guard->bytes, 4) == 0;
    }
    return key->len >= guard->len && memcmp(key->bytes, guard->bytes, guard->len) == 0;
}

static bool has_guard(const UniverseTxn *txn, const RowGuard *wanted, const RowKey *key)
{
    for (uint32_t i = 0; i < txn->guard_count; i++) {
        const UniverseGuard *taken = &txn->guards[i];
        if (taken->key.table == wanted->table && (taken->exclusive || !wanted->exclusive) &&
            guard_covers(&taken->key, key)) {
            return true;
        }
    }
    return false;
}

static bool rule_is_kept(const UniverseTxn *txn, const RowRule *rule, const RowKey *key)
{
    for (size_t i = 0; i < 2 && rule->guards[i].table != 0; i++) {
        if (!has_guard(txn, &rule->guards[i], key)) {
            return false;
        }
    }
    return true;
}

/* A party may write a row for two reasons, such as an operator that moves an effect, or asks for one. */
static bool may_write(const UniverseTxn *txn, const RowKey *key, RowChange change)
{
    for (size_t i = 0; i < RULE_COUNT; i++) {
        if (rule_is_of(&row_rules[i], key->table, txn->party, change) &&
            rule_is_kept(txn, &row_rules[i], key)) {
            return true;
        }
    }
    return false;
}

bool universe_guards(const UniverseTxn *txn, const RowKey *key)
{
    RowGuard wanted = {key->table, true};
    return has_guard(txn, &wanted, key);
}

const uint32_t *universe_tables(uint32_t *count_out)
{
    static const uint32_t tables[WIT_UNIVERSE_DBI_COUNT] = {WIT_DBI_LEASE,
                                                            WIT_DBI_SESSIONS,
                                                            WIT_DBI_HELD,
                                                            WIT_DBI_HEAD,
                                                            WIT_DBI_JOURNAL,
                                                            WIT_DBI_WORLD_META,
                                                            WIT_DBI_ASSIGNMENT,
                                                            WIT_DBI_ASSIGNED,
                                                            WIT_DBI_WORLD_INBOX,
                                                            WIT_DBI_IDEM,
                                                            WIT_DBI_REPLY,
                                                            WIT_DBI_ATTEMPT,
                                                            WIT_DBI_WORLD_DLQ,
                                                            WIT_DBI_FABRIC_DEDUPE,
                                                            WIT_DBI_SNAPSHOT,
                                                            WIT_DBI_BASELINE,
                                                            WIT_DBI_PINS,
                                                            WIT_DBI_SEGMENTS,
                                                            WIT_DBI_EFFECTS_PENDING,
                                                            WIT_DBI_EFFECTS_INFLIGHT,
                                                            WIT_DBI_EFFECTS_DEDUPE,
                                                            WIT_DBI_TIMERS_DUE,
                                                            WIT_DBI_TIMERS_DEDUPE,
                                                            WIT_DBI_READY,
                                                            WIT_DBI_ROLELEASE,
                                                            WIT_DBI_EXPIRY,
                                                            WIT_DBI_PROMISES,
                                                            WIT_DBI_MODULES,
                                                            WIT_DBI_CRON,
                                                            WIT_DBI_KINDS,
                                                            WIT_DBI_TAGS,
                                                            WIT_DBI_IDEMPOTENCY,
                                                            WIT_DBI_WORLD_TAGS,
                                                            WIT_DBI_RESULTS};
    *count_out = WIT_UNIVERSE_DBI_COUNT;
    return tables;
}

/* ---- Names and keys -------------------------------------------------------------------------- */

int universe_name_set(UniverseName *name, const char *text)
{
    size_t len = text == NULL ? 0 : strlen(text);
    if (len == 0 || len > UNIVERSE_NAME_MAX || !utf8_valid(text, len)) {
        return SAP_INVALID;
    }
    for (size_t i = 0; i < len; i++) {
        if ((uint8_t)text[i] < 0x20 || text[i] == 0x7F) {
            return SAP_INVALID;
        }
    }
    memcpy(name->text, text, len + 1);
    name->len = (uint32_t)len;
    return SAP_OK;
}

bool universe_name_equal(const UniverseName *a, const UniverseName *b)
{
    return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

void universe_name_copy(UniverseName *name, const CodecBytes *field)
{
    SAP_ASSERT(field->len <= UNIVERSE_NAME_MAX);
    *name = (UniverseName){.len = (uint32_t)field->len};
    if (field->len > 0) {
        memcpy(name->text, field->data, field->len);
    }
}

CodecBytes lend_bytes(const void *data, size_t len)
{
    CodecBytes bytes = {.len = (uint32_t)len};
    memcpy(&bytes.data, &data, sizeof data);
    return bytes;
}

CodecBytes lend_name(const UniverseName *name)
{
    return lend_bytes(name->text, name->len);
}

int row_decode_code(int rc)
{
    return rc == SAP_INVALID ? SAP_CORRUPT : rc;
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

void row_key_world(RowKey *key, uint32_t table, uint32_t universe, const UniverseName *world)
{
    Buf buf = start_key(key, table);
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

void row_key_held_all(RowKey *key, uint32_t universe, const uint8_t nonce[UNIVERSE_NONCE])
{
    UniverseName any = {.len = 1, .text = "a"};
    row_key_held(key, universe, nonce, &any);
    key->len -= 3; /* the name and what ends it */
}

void row_key_universe(RowKey *key, uint32_t table, uint32_t universe)
{
    Buf buf = start_key(key, table);
    end_key(key, &buf, buf_append_u32be(&buf, universe));
}

void row_key_role(RowKey *key, uint32_t universe, const UniverseName *role, uint8_t shard)
{
    Buf buf = start_key(key, WIT_DBI_ROLELEASE);
    WitUniverseDbi40RoleleaseKey fields = {universe, lend_name(role), shard};
    end_key(key, &buf, wit_universe_dbi40_rolelease_key_encode(&fields, &buf, NULL));
}

void row_key_journal(RowKey *key, uint32_t universe, const UniverseName *world, uint64_t height,
                     uint32_t part)
{
    Buf buf = start_key(key, WIT_DBI_JOURNAL);
    WitUniverseDbi20JournalKey fields = {universe, lend_name(world), height, part};
    end_key(key, &buf, wit_universe_dbi20_journal_key_encode(&fields, &buf, NULL));
}

void row_key_inbox(RowKey *key, uint32_t universe, const UniverseName *world, uint8_t item_class,
                   const uint8_t seq[UNIVERSE_SEQ])
{
    Buf buf = start_key(key, WIT_DBI_WORLD_INBOX);
    WitUniverseDbi24WorldInboxKey fields = {universe, lend_name(world), item_class,
                                            lend_bytes(seq, UNIVERSE_SEQ)};
    end_key(key, &buf, wit_universe_dbi24_world_inbox_key_encode(&fields, &buf, NULL));
}

void row_key_id(RowKey *key, uint32_t table, uint32_t universe, const UniverseName *world, Slice id)
{
    Buf buf = start_key(key, table);
    WitUniverseDbi25IdemKey fields = {universe, lend_name(world), lend_bytes(id.data, id.len)};
    end_key(key, &buf, wit_universe_dbi25_idem_key_encode(&fields, &buf, NULL));
}

void row_key_dlq(RowKey *key, uint32_t universe, const UniverseName *world, uint64_t height,
                 const uint8_t seq[UNIVERSE_SEQ])
{
    Buf buf = start_key(key, WIT_DBI_WORLD_DLQ);
    WitUniverseDbi28WorldDlqKey fields = {universe, lend_name(world), height,
                                          lend_bytes(seq, UNIVERSE_SEQ)};
    end_key(key, &buf, wit_universe_dbi28_world_dlq_key_encode(&fields, &buf, NULL));
}

void row_key_ready(RowKey *key, uint32_t universe, uint8_t priority,
                   const uint8_t seq[UNIVERSE_SEQ], const UniverseName *world)
{
    Buf buf = start_key(key, WIT_DBI_READY);
    WitUniverseDbi39ReadyKey fields = {universe, 0, priority, lend_bytes(seq, UNIVERSE_SEQ),
                                       lend_name(world)};
    end_key(key, &buf, wit_universe_dbi39_ready_key_encode(&fields, &buf, NULL));
}

void row_key_priority(RowKey *key, uint32_t universe, uint8_t priority)
{
    enum { SHARD = 0 };
    Buf buf = start_key(key, WIT_DBI_READY);
    int rc = buf_append_u32be(&buf, universe);
    rc = rc == SAP_OK ? buf_append_u8(&buf, SHARD) : rc;
    end_key(key, &buf, rc == SAP_OK ? buf_append_u8(&buf, priority) : rc);
}

void row_key_module(RowKey *key, uint32_t universe, const UniverseName *name, uint64_t version)
{
    Buf buf = start_key(key, WIT_DBI_MODULES);
    WitUniverseDbi43ModulesKey fields = {universe, lend_name(name), version};
    end_key(key, &buf, wit_universe_dbi43_modules_key_encode(&fields, &buf, NULL));
}

void row_key_assigned(RowKey *key, uint32_t universe, const UniverseName *worker,
                      const UniverseName *world)
{
    Buf buf = start_key(key, WIT_DBI_ASSIGNED);
    WitUniverseDbi23AssignedKey fields = {universe, lend_name(worker), lend_name(world)};
    end_key(key, &buf, wit_universe_dbi23_assigned_key_encode(&fields, &buf, NULL));
}

void row_key_tag(RowKey *key, uint32_t universe, const UniverseName *tag, const UniverseName *world)
{
    Buf buf = start_key(key, WIT_DBI_TAGS);
    WitUniverseDbi46TagsKey fields = {universe, lend_name(tag), lend_name(world)};
    end_key(key, &buf, wit_universe_dbi46_tags_key_encode(&fields, &buf, NULL));
}

void row_key_world_tag(RowKey *key, uint32_t universe, const UniverseName *world, Slice name)
{
    Buf buf = start_key(key, WIT_DBI_WORLD_TAGS);
    WitUniverseDbi48WorldTagsKey fields = {universe, lend_name(world),
                                           lend_bytes(name.data, name.len)};
    end_key(key, &buf, wit_universe_dbi48_world_tags_key_encode(&fields, &buf, NULL));
}

void row_key_once(RowKey *key, uint32_t universe, const UniverseName *scope, Slice id)
{
    Buf buf = start_key(key, WIT_DBI_IDEMPOTENCY);
    WitUniverseDbi47IdempotencyKey fields = {universe, lend_name(scope),
                                             lend_bytes(id.data, id.len)};
    end_key(key, &buf, wit_universe_dbi47_idempotency_key_encode(&fields, &buf, NULL));
}

void row_key_expiry(RowKey *key, uint32_t universe, uint64_t at_ns, const uint8_t seq[UNIVERSE_SEQ])
{
    Buf buf = start_key(key, WIT_DBI_EXPIRY);
    WitUniverseDbi41ExpiryKey fields = {universe, at_ns, lend_bytes(seq, UNIVERSE_SEQ)};
    end_key(key, &buf, wit_universe_dbi41_expiry_key_encode(&fields, &buf, NULL));
}

void row_key_fabric(RowKey *key, uint32_t universe, const UniverseName *world,
                    const uint8_t hash[UNIVERSE_DIGEST])
{
    Buf buf = start_key(key, WIT_DBI_FABRIC_DEDUPE);
    WitUniverseDbi29FabricDedupeKey fields = {universe, lend_name(world),
                                              lend_bytes(hash, UNIVERSE_DIGEST)};
    end_key(key, &buf, wit_universe_dbi29_fabric_dedupe_key_encode(&fields, &buf, NULL));
}

void row_key_promise(RowKey *key, uint32_t universe, const uint8_t id[UNIVERSE_DIGEST])
{
    Buf buf = start_key(key, WIT_DBI_PROMISES);
    WitUniverseDbi42PromisesKey fields = {universe, lend_bytes(id, UNIVERSE_DIGEST)};
    end_key(key, &buf, wit_universe_dbi42_promises_key_encode(&fields, &buf, NULL));
}

void row_key_after(RowKey *key, const SapStoreRow *row)
{
    SAP_ASSERT(row->key_len < sizeof key->bytes);
    memcpy(key->bytes, row->key, row->key_len);
    key->bytes[row->key_len] = 0;
    key->len = row->key_len + 1;
}

void row_range(const RowKey *prefix, RowKey *to, SapStoreRange *range_out)
{
    *to = *prefix;
    while (to->len > 0 && to->bytes[to->len - 1] == UINT8_MAX) {
        to->len--;
    }
    if (to->len > 0) {
        to->bytes[to->len - 1]++;
    }
    *range_out = (SapStoreRange){prefix->table, prefix->bytes, prefix->len,
                                 to->len > 0 ? to->bytes : NULL, to->len};
}

/* ---- Transactions ---------------------------------------------------------------------------- */

int universe_txn_start(UniverseTxn *txn, SapStoreTxn *store_txn, UniverseParty party,
                       const UniverseGuard *guards, uint32_t count, const Digest *blobs,
                       uint32_t blob_count)
{
    SapStoreGuard taken[SAP_STORE_MAX_GUARDS];
    BlobKey rooms[SAP_STORE_MAX_GUARDS];
    SAP_ASSERT(count > 0 && count + blob_count <= SAP_STORE_MAX_GUARDS);
    *txn = (UniverseTxn){store_txn, party, count, guards};
    for (uint32_t i = 0; i < count; i++) {
        const UniverseGuard *guard = &guards[i];
        taken[i] =
            (SapStoreGuard){guard->key.table, guard->key.bytes, guard->key.len, guard->exclusive};
    }
    for (uint32_t i = 0; i < blob_count; i++) {
        blob_guard(&blobs[i], &rooms[i], &taken[count + i]);
    }
    return store_guard(store_txn, taken, count + blob_count);
}

void universe_claim_start(UniverseTxn *txn, SapStoreTxn *store_txn)
{
    *txn = (UniverseTxn){store_txn, PARTY_CLAIM, 0, NULL};
}

int universe_claim(const UniverseTxn *txn, const SapStoreRange *range, uint32_t limit,
                   SapStoreMove move, void *ctx, uint32_t *count_out)
{
    SAP_ASSERT(may_claim(range->table, txn->party));
    return sap_store_claim(txn->txn, range, limit, move, ctx, count_out);
}

int universe_get(SapStoreTxn *txn, const RowKey *key, Slice *val_out)
{
    const void *val = NULL;
    uint32_t len = 0;
    int rc = sap_store_get(txn, key->table, key->bytes, key->len, &val, &len);
    if (rc == SAP_OK) {
        *val_out = (Slice){val, len};
    }
    return rc;
}

int universe_put(UniverseTxn *txn, const RowKey *key, Slice val)
{
    SAP_ASSERT(may_write(txn, key, CHANGE_PUT));
    return sap_store_put(txn->txn, key->table, key->bytes, key->len, val.data, (uint32_t)val.len);
}

int universe_put_if_absent(UniverseTxn *txn, const RowKey *key, Slice val)
{
    SAP_ASSERT(may_write(txn, key, CHANGE_NEW));
    return sap_store_put_if_absent(txn->txn, key->table, key->bytes, key->len, val.data,
                                   (uint32_t)val.len);
}

int universe_del(UniverseTxn *txn, const RowKey *key)
{
    SAP_ASSERT(may_write(txn, key, CHANGE_DEL));
    return sap_store_del(txn->txn, key->table, key->bytes, key->len);
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* Puts what an encoder has made, and releases it. */
static int put_encoded(UniverseTxn *txn, const RowKey *key, int rc, Buf *buf)
{
    SAP_ASSERT(rc != SAP_INVALID);
    rc = rc == SAP_OK ? universe_put(txn, key, (Slice){buf->data, buf->len}) : rc;
    buf_release(buf);
    return rc;
}

int expiry_row_put(UniverseTxn *txn, uint32_t universe, uint64_t at_ns,
                   const uint8_t seq[UNIVERSE_SEQ], const RowKey *named)
{
    WitUniverseDbi41ExpiryValue fields = {named->table, lend_bytes(named->bytes, named->len)};
    RowKey key;
    Buf buf = {0};
    row_key_expiry(&key, universe, at_ns, seq);
    int rc = wit_universe_dbi41_expiry_value_encode(&fields, &buf, NULL);
    return put_encoded(txn, &key, rc, &buf);
}

/* A lease of a world and that of a role are the same record. */
int lease_row_get(SapStoreTxn *txn, const RowKey *key, LeaseRow *row_out)
{
    Slice val = {0};
    WitUniverseDbi16LeaseValue fields;
    int rc = universe_get(txn, key, &val);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = wit_universe_dbi16_lease_value_decode(val.data, val.len, &fields, NULL);
    if (rc != SAP_OK) {
        return row_decode_code(rc);
    }
    *row_out = (LeaseRow){.epoch = fields.epoch, .unclean = fields.unclean};
    universe_name_copy(&row_out->holder, &fields.holder);
    if (fields.holder.len > 0) {
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
        row->epoch, row->unclean};
    int rc = wit_universe_dbi16_lease_value_encode(&fields, &buf, NULL);
    return put_encoded(txn, key, rc, &buf);
}

int session_row_get(SapStoreTxn *txn, const RowKey *key, SessionRow *row_out)
{
    Slice val = {0};
    WitUniverseDbi17SessionsValue fields;
    int rc = universe_get(txn, key, &val);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = wit_universe_dbi17_sessions_value_decode(val.data, val.len, &fields, NULL);
    if (rc != SAP_OK) {
        return row_decode_code(rc);
    }
    row_out->expires_ns = fields.expires_ns;
    memcpy(row_out->nonce, fields.nonce.data, UNIVERSE_NONCE);
    wit_universe_dbi17_sessions_value_free(&fields);
    return SAP_OK;
}

int session_row_put(UniverseTxn *txn, const RowKey *key, const SessionRow *row,
                    const WitUniverseListModuleRef *modules)
{
    Buf buf = {0};
    WitUniverseDbi17SessionsValue fields = {lend_bytes(row->nonce, UNIVERSE_NONCE), row->expires_ns,
                                            *modules};
    int rc = wit_universe_dbi17_sessions_value_encode(&fields, &buf, NULL);
    return put_encoded(txn, key, rc, &buf);
}

int head_row_get(SapStoreTxn *txn, const RowKey *key, HeadRow *row_out)
{
    Slice val = {0};
    WitUniverseDbi19HeadValue fields;
    int rc = universe_get(txn, key, &val);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = wit_universe_dbi19_head_value_decode(val.data, val.len, &fields, NULL);
    if (rc != SAP_OK) {
        return row_decode_code(rc);
    }
    row_out->height = fields.height;
    row_out->time_ns = fields.time_ns;
    memcpy(row_out->digest, fields.digest.data, UNIVERSE_DIGEST);
    memcpy(row_out->state_sum, fields.state_sum.data, UNIVERSE_SUM);
    wit_universe_dbi19_head_value_free(&fields);
    return SAP_OK;
}

int head_row_encode(const HeadRow *row, Buf *out)
{
    WitUniverseDbi19HeadValue fields = {row->height, lend_bytes(row->digest, UNIVERSE_DIGEST),
                                        lend_bytes(row->state_sum, UNIVERSE_SUM), row->time_ns};
    int rc = wit_universe_dbi19_head_value_encode(&fields, out, NULL);
    SAP_ASSERT(rc != SAP_INVALID);
    return rc;
}

int meta_row_get(SapStoreTxn *txn, const RowKey *key, WitUniverseDbi21WorldMetaValue *row_out)
{
    Slice val = {0};
    int rc = universe_get(txn, key, &val);
    if (rc != SAP_OK) {
        return rc;
    }
    return row_decode_code(
        wit_universe_dbi21_world_meta_value_decode(val.data, val.len, row_out, NULL));
}

int assignment_get(SapStoreTxn *txn, uint32_t universe, const UniverseName *world,
                   UniverseName *worker_out)
{
    RowKey key;
    Slice val = {0};
    WitUniverseDbi22AssignmentValue row;
    row_key_world(&key, WIT_DBI_ASSIGNMENT, universe, world);
    int rc = universe_get(txn, &key, &val);
    rc = rc == SAP_OK ? row_decode_code(wit_universe_dbi22_assignment_value_decode(
                            val.data, val.len, &row, NULL))
                      : rc;
    if (rc == SAP_OK) {
        universe_name_copy(worker_out, &row.worker);
        wit_universe_dbi22_assignment_value_free(&row);
    }
    return rc;
}

bool world_status_runs(WitUniverseWorldStatus status)
{
    return status == WIT_UNIVERSE_WORLD_STATUS_ACTIVE || status == WIT_UNIVERSE_WORLD_STATUS_STUCK;
}

int meta_row_put(UniverseTxn *txn, const RowKey *key, const WitUniverseDbi21WorldMetaValue *row)
{
    Buf buf = {0};
    int rc = wit_universe_dbi21_world_meta_value_encode(row, &buf, NULL);
    return put_encoded(txn, key, rc, &buf);
}

int world_takes(SapStoreTxn *txn, const RowKey *meta_key, bool *takes_out)
{
    WitUniverseDbi21WorldMetaValue meta;
    int rc = meta_row_get(txn, meta_key, &meta);
    *takes_out = false;
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    *takes_out = meta.status != WIT_UNIVERSE_WORLD_STATUS_DELETED &&
                 meta.status != WIT_UNIVERSE_WORLD_STATUS_DONE;
    wit_universe_dbi21_world_meta_value_free(&meta);
    return SAP_OK;
}
