/* effect_claim.c - claiming effects, and keeping the claims: see effects.h. */
#include "common/assert.h"
#include "universe/effects.h"

/* ---- Claiming (protocol D) ------------------------------------------------------------------- */

void effect_claim_release(EffectClaim *claim)
{
    wit_universe_dbi35_effects_inflight_value_free(&claim->row);
}

void effect_claims_clear(Buf *claims)
{
    for (size_t i = 0; i < claims->len / sizeof(EffectClaim); i++) {
        effect_claim_release((EffectClaim *)(void *)claims->data + i);
    }
    buf_clear(claims);
}

/* Until the first effect of the kind is due. */
static int first_due(const Session *session, SapStoreTxn *txn, Slice kind, uint64_t now_ns,
                     uint64_t *wait_ns_out)
{
    RowSpan span;
    const SapStoreRow *rows = NULL;
    uint32_t found = 0;
    WitUniverseDbi34EffectsPendingKey key;
    row_span_pending(&span, session->universe, kind, (uint64_t)INT64_MAX);
    *wait_ns_out = UINT64_MAX;
    int rc = sap_store_scan(txn, &span.range, false, 1, &rows, &found);
    if (rc != SAP_OK || found == 0) {
        return rc;
    }
    rc = row_decode_code(
        wit_universe_dbi34_effects_pending_key_decode(rows[0].key, rows[0].key_len, &key, NULL));
    if (rc == SAP_OK) {
        *wait_ns_out = key.due_ns > now_ns ? key.due_ns - now_ns : 0;
        wit_universe_dbi34_effects_pending_key_free(&key);
    }
    return rc;
}

int effects_due(const Session *session, const ClaimRequest *requests, uint32_t count,
                uint64_t *wait_ns_out, uint64_t *version_out)
{
    SapStoreTxn *txn = NULL;
    uint64_t now_ns = sap_store_lease_ns(session->store);
    *wait_ns_out = UINT64_MAX;
    int rc = sap_store_begin(session->store, SAP_STORE_READ_DURABLE, &txn);
    for (uint32_t i = 0; rc == SAP_OK && *wait_ns_out > 0 && i < count; i++) {
        uint64_t wait_ns = UINT64_MAX;
        if (requests[i].limit > 0) {
            rc = first_due(session, txn, requests[i].kind, now_ns, &wait_ns);
            *wait_ns_out = wait_ns < *wait_ns_out ? wait_ns : *wait_ns_out;
        }
    }
    *version_out = sap_store_version(txn);
    sap_store_abort(txn);
    return rc;
}

typedef struct Claiming {
    const Session *session;
    const ClaimRequest *requests;
    const ClaimRequest *current;
    uint32_t count;
    uint64_t now_ns;
    uint8_t tokens[EFFECT_CLAIMS_AT_ONCE][EFFECT_TOKEN];
    UniverseTxn txn;
    Buf *claims; /* EffectClaim */
    RowKey key;  /* of the row that is being moved, and its value: lent to the store */
    Buf val;
} Claiming;

static uint32_t claimed(const Claiming *claiming)
{
    return (uint32_t)(claiming->claims->len / sizeof(EffectClaim));
}

/* The row that was pending becomes inflight; *row borrows what it names. */
static void make_inflight(const Claiming *claiming, WitUniverseDbi34EffectsPendingValue *pending,
                          WitUniverseDbi35EffectsInflightValue *row)
{
    const Session *session = claiming->session;
    *row = (WitUniverseDbi35EffectsInflightValue){
        .effect = pending->effect,
        .token = lend_bytes(claiming->tokens[claimed(claiming)], EFFECT_TOKEN),
        .claimed_ns = claiming->now_ns,
        .deadline_ns = claiming->now_ns + EFFECT_CLAIM_NS,
        .policy = pending->effect.retry,
        .at_most_once = claiming->current->at_most_once,
        .worker = lend_name(&session->worker),
        .nonce = lend_bytes(session->nonce, UNIVERSE_NONCE),
    };
    row->effect.attempt++;
    effect_policy_fill(&row->policy, &claiming->current->policy);
}

/* Keeps a claim that owns what it names: decoded from the bytes that are stored. */
static int keep_claim(Claiming *claiming)
{
    EffectClaim claim = {.key = claiming->key};
    int rc = buf_reserve(claiming->claims, sizeof claim);
    rc = rc == SAP_OK ? wit_universe_dbi35_effects_inflight_value_decode(
                            claiming->val.data, claiming->val.len, &claim.row, NULL)
                      : rc;
    return rc == SAP_OK ? buf_append(claiming->claims, &claim, sizeof claim) : rc;
}

/* Nobody else moves the row, which is locked; so its dedupe row stands still too. */
static int move_dispatch(Claiming *claiming, const CodecBytes *hash, const RowKey *from)
{
    RowKey key;
    DispatchRow dispatch;
    row_key_dedupe(&key, WIT_DBI_EFFECTS_DEDUPE, claiming->session->universe, hash->data);
    int rc = dispatch_row_get(claiming->txn.txn, &key, &dispatch);
    if (rc == SAP_NOTFOUND || (rc == SAP_OK && !row_key_equal(&dispatch.at, from))) {
        return SAP_CORRUPT;
    }
    dispatch.status = WIT_UNIVERSE_DISPATCH_STATUS_INFLIGHT;
    dispatch.at = claiming->key;
    return rc == SAP_OK ? dispatch_row_put(&claiming->txn, &key, &dispatch) : rc;
}

/* The row that `row` is to become; on any code but SAP_OK nothing was written. */
static int claim_row(Claiming *claiming, const SapStoreRow *row)
{
    RowKey from;
    uint8_t seq[UNIVERSE_SEQ];
    WitUniverseDbi34EffectsPendingValue pending;
    WitUniverseDbi35EffectsInflightValue inflight;
    int rc = row_key_copy(&from, WIT_DBI_EFFECTS_PENDING, row->key, row->key_len);
    rc = rc == SAP_OK ? row_key_seq(&from, seq) : rc;
    rc = rc == SAP_OK ? row_decode_code(wit_universe_dbi34_effects_pending_value_decode(
                            row->val, row->val_len, &pending, NULL))
                      : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    row_key_inflight(&claiming->key, claiming->session->universe, seq);
    make_inflight(claiming, &pending, &inflight);
    buf_clear(&claiming->val);
    rc = wit_universe_dbi35_effects_inflight_value_encode(&inflight, &claiming->val, NULL);
    SAP_ASSERT(rc != SAP_INVALID);
    rc = rc == SAP_OK ? move_dispatch(claiming, &pending.effect.intent_hash, &from) : rc;
    rc = rc == SAP_OK ? keep_claim(claiming) : rc;
    wit_universe_dbi34_effects_pending_value_free(&pending);
    return rc;
}

/* An effect whose rows are damaged stays where it is, and holds up no other. */
static int move_pending(void *ctx, SapStoreTxn *txn, const SapStoreRow *row, SapStoreTarget *target)
{
    Claiming *claiming = (Claiming *)ctx;
    (void)txn;
    int rc = claim_row(claiming, row);
    if (rc == SAP_CORRUPT) {
        *target = (SapStoreTarget){WIT_DBI_EFFECTS_PENDING, *row};
        return SAP_OK;
    }
    *target = (SapStoreTarget){
        WIT_DBI_EFFECTS_INFLIGHT,
        {claiming->key.bytes, claiming->val.data, claiming->key.len, (uint32_t)claiming->val.len}};
    return rc;
}

static int claim_body(SapStoreTxn *store_txn, void *ctx)
{
    Claiming *claiming = (Claiming *)ctx;
    int rc = SAP_OK;
    effect_claims_clear(claiming->claims); /* of a run before this one */
    universe_claim_start(&claiming->txn, store_txn);
    for (uint32_t i = 0; rc == SAP_OK && i < claiming->count; i++) {
        RowSpan span;
        uint32_t moved = 0;
        uint32_t room = EFFECT_CLAIMS_AT_ONCE - claimed(claiming);
        claiming->current = &claiming->requests[i];
        uint32_t limit = claiming->current->limit < room ? claiming->current->limit : room;
        if (limit > 0) {
            row_span_pending(&span, claiming->session->universe, claiming->current->kind,
                             claiming->now_ns);
            rc = universe_claim(&claiming->txn, &span.range, limit, move_pending, claiming, &moved);
        }
    }
    return rc;
}

int effects_claim(const Session *session, const Random *random, const ClaimRequest *requests,
                  uint32_t count, Buf *claims_out)
{
    Claiming claiming = {
        .session = session, .requests = requests, .count = count, .claims = claims_out};
    SAP_ASSERT(claims_out->len == 0);
    int rc = random_fill(random, claiming.tokens, sizeof claiming.tokens);
    claiming.now_ns = sap_store_lease_ns(session->store);
    rc = rc == SAP_OK ? sap_store_run(session->store, SAP_STORE_CLAIM, claim_body, &claiming, NULL)
                      : rc;
    buf_release(&claiming.val);
    if (rc != SAP_OK) {
        effect_claims_clear(claims_out);
    }
    return rc;
}

/* ---- Keeping claims -------------------------------------------------------------------------- */

int effect_claim_is_lost(const Session *asking, SapStoreTxn *txn,
                         const WitUniverseDbi35EffectsInflightValue *row, bool *lost_out)
{
    UniverseName worker;
    bool alive = false;
    universe_name_copy(&worker, &row->worker);
    int rc = session_is_alive(asking, txn, &worker, row->nonce.data, &alive);
    /* Lease times of two machines may differ by one renewal. */
    *lost_out =
        !alive || sap_store_lease_ns(asking->store) >= row->deadline_ns + asking->renewal_ns;
    return rc;
}

typedef struct Renewing {
    const Session *session;
    ClaimRenewal *renewals;
    uint32_t count;
    uint64_t deadline_ns;
} Renewing;

static bool has_token(const WitUniverseDbi35EffectsInflightValue *row, const EffectClaim *claim)
{
    return memcmp(row->token.data, claim->row.token.data, EFFECT_TOKEN) == 0;
}

static int put_inflight(UniverseTxn *txn, const RowKey *key,
                        const WitUniverseDbi35EffectsInflightValue *row)
{
    Buf val = {0};
    int rc = wit_universe_dbi35_effects_inflight_value_encode(row, &val, NULL);
    SAP_ASSERT(rc != SAP_INVALID);
    rc = rc == SAP_OK ? universe_put(txn, key, (Slice){val.data, val.len}) : rc;
    buf_release(&val);
    return rc;
}

/* The row is guarded, and whoever writes its dedupe row guards it too. */
static int renew_claim(UniverseTxn *txn, const Renewing *renewing, ClaimRenewal *renewal)
{
    RowKey key;
    Slice val = {0};
    DispatchRow dispatch;
    WitUniverseDbi35EffectsInflightValue row;
    renewal->state = CLAIM_GONE;
    int rc = universe_get(txn->txn, &renewal->claim->key, &val);
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    rc = row_decode_code(
        wit_universe_dbi35_effects_inflight_value_decode(val.data, val.len, &row, NULL));
    if (rc != SAP_OK) {
        return rc == SAP_CORRUPT ? SAP_OK : rc; /* nobody can end it: the others go on */
    }
    if (has_token(&row, renewal->claim)) {
        row_key_dedupe(&key, WIT_DBI_EFFECTS_DEDUPE, renewing->session->universe,
                       row.effect.intent_hash.data);
        rc = dispatch_row_get(txn->txn, &key, &dispatch);
        bool wanted = rc == SAP_OK && dispatch.status == WIT_UNIVERSE_DISPATCH_STATUS_INFLIGHT;
        renewal->state = wanted ? CLAIM_STANDS : CLAIM_CANCELLED;
        row.deadline_ns = renewing->deadline_ns;
        rc = wanted ? put_inflight(txn, &renewal->claim->key, &row) : rc;
    }
    wit_universe_dbi35_effects_inflight_value_free(&row);
    if (rc == SAP_NOTFOUND || rc == SAP_CORRUPT) {
        renewal->state = CLAIM_GONE;
        rc = SAP_OK;
    }
    return rc;
}

static int renew_claims_body(SapStoreTxn *store_txn, void *ctx)
{
    const Renewing *renewing = (const Renewing *)ctx;
    UniverseTxn txn;
    UniverseGuard guards[CLAIM_RENEWALS];
    for (uint32_t i = 0; i < renewing->count; i++) {
        guards[i] = (UniverseGuard){renewing->renewals[i].claim->key, true};
    }
    int rc = universe_txn_start(&txn, store_txn, PARTY_ADAPTER, guards, renewing->count, NULL, 0);
    for (uint32_t i = 0; rc == SAP_OK && i < renewing->count; i++) {
        rc = renew_claim(&txn, renewing, &renewing->renewals[i]);
    }
    return rc;
}

int effects_renew(const Session *session, ClaimRenewal *renewals, uint32_t count)
{
    Renewing renewing = {session, renewals, count,
                         sap_store_lease_ns(session->store) + EFFECT_CLAIM_NS};
    SAP_ASSERT(count > 0 && count <= CLAIM_RENEWALS);
    return sap_store_run(session->store, SAP_STORE_GUARDED, renew_claims_body, &renewing, NULL);
}
