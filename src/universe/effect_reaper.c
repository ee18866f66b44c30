/* effect_reaper.c - see effect_reaper.h. */
#include "universe/effect_reaper.h"

#include <string.h>

#include "common/assert.h"
#include "common/mem.h"
#include "universe/kinds.h"

enum { CLAIMS_AT_ONCE = 64, KINDS_AT_ONCE = 16, CLEARED_AT_ONCE = 4 };

/* A kind that was pending and without a node whenever this reaper has looked. */
typedef struct UnservedKind {
    UniverseName kind;
    uint64_t since_ns; /* boot time */
    bool seen;         /* in this pass over the kinds */
} UnservedKind;

void effect_reaper_init(EffectReaper *reaper, const Session *session, Producer *producer)
{
    *reaper = (EffectReaper){.session = session, .producer = producer, .first_due_ns = UINT64_MAX};
    reaper->inflight_from.table = WIT_DBI_EFFECTS_INFLIGHT;
}

void effect_reaper_release(EffectReaper *reaper)
{
    buf_release(&reaper->unserved);
}

/* What one step ends; allocated, since it is large. */
typedef struct Reaping {
    EffectEnding endings[ENDINGS_AT_ONCE];
    uint32_t count;
} Reaping;

/* ---- Lost claims ----------------------------------------------------------------------------- */

static int note_lost(EffectReaper *reaper, SapStoreTxn *txn, const SapStoreRow *row,
                     Reaping *reaping)
{
    RowKey key;
    WitUniverseDbi35EffectsInflightValue val;
    bool lost = false;
    int rc = row_key_copy(&key, WIT_DBI_EFFECTS_INFLIGHT, row->key, row->key_len);
    rc = rc == SAP_OK ? row_decode_code(wit_universe_dbi35_effects_inflight_value_decode(
                            row->val, row->val_len, &val, NULL))
                      : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = effect_claim_is_lost(reaper->session, txn, &val, &lost);
    if (rc == SAP_OK && lost) {
        EffectEnding *ending = &reaping->endings[reaping->count++];
        effect_ending_init(ending, ENDING_LOST, &key, &val.effect, reaper->producer,
                           reaper->session->store);
        memcpy(ending->code, "lost", sizeof "lost");
        ending->encoding = WIT_UNIVERSE_ENCODING_RAW;
    }
    wit_universe_dbi35_effects_inflight_value_free(&val);
    return rc;
}

/* A row that is damaged stays, and stops nothing. */
static int pass_damaged(EffectReaper *reaper, int rc)
{
    reaper->stats.damaged += rc == SAP_CORRUPT;
    return rc == SAP_CORRUPT ? SAP_OK : rc;
}

/* *busy_out: there are further claims. */
static int find_lost(EffectReaper *reaper, Reaping *reaping, bool *busy_out)
{
    SapStoreTxn *txn = NULL;
    RowSpan span;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    uint32_t done = 0;
    row_span_from(&span, &reaper->inflight_from, reaper->session->universe);
    int rc = sap_store_begin(reaper->session->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? sap_store_scan(txn, &span.range, false, CLAIMS_AT_ONCE, &rows, &count) : rc;
    while (rc == SAP_OK && done < count && reaping->count < ENDINGS_AT_ONCE) {
        rc = pass_damaged(reaper, note_lost(reaper, txn, &rows[done++], reaping));
    }
    reaper->inflight_from.len = 0;
    if (rc == SAP_OK && (done < count || count == CLAIMS_AT_ONCE)) {
        *busy_out = true;
        rc = row_key_copy(&reaper->inflight_from, WIT_DBI_EFFECTS_INFLIGHT, rows[done - 1].key,
                          rows[done - 1].key_len);
        reaper->inflight_from.bytes[reaper->inflight_from.len++] = 0;
    }
    sap_store_abort(txn);
    return rc;
}

/* ---- Kinds without a node -------------------------------------------------------------------- */

static UnservedKind *unserved_at(const EffectReaper *reaper, size_t index)
{
    return (UnservedKind *)(void *)reaper->unserved.data + index;
}

static size_t unserved_count(const EffectReaper *reaper)
{
    return reaper->unserved.len / sizeof(UnservedKind);
}

/* Keeps those that were seen in the pass that ends. */
static void end_pass(EffectReaper *reaper)
{
    size_t kept = 0;
    for (size_t i = 0; i < unserved_count(reaper); i++) {
        if (unserved_at(reaper, i)->seen) {
            *unserved_at(reaper, kept) = *unserved_at(reaper, i);
            unserved_at(reaper, kept++)->seen = false;
        }
    }
    buf_truncate(&reaper->unserved, kept * sizeof(UnservedKind));
    uint64_t now_ns = sap_store_lease_ns(reaper->session->store);
    reaper->due_age_ns = now_ns > reaper->first_due_ns ? now_ns - reaper->first_due_ns : 0;
    reaper->first_due_ns = UINT64_MAX;
    reaper->kind.len = 0;
}

/* Notes whether the kind is served now. *ends_out: it was not for so long that its effects end. */
static int note_kind(EffectReaper *reaper, bool served, bool *ends_out)
{
    uint64_t now_ns = clock_boot_ns(reaper->session->clock);
    UnservedKind made = {reaper->kind, now_ns, true};
    *ends_out = false;
    for (size_t i = 0; i < unserved_count(reaper); i++) {
        UnservedKind *known = unserved_at(reaper, i);
        if (known->kind.len == made.kind.len &&
            memcmp(known->kind.text, made.kind.text, made.kind.len) == 0) {
            known->seen = !served; /* one that is served goes at the end of the pass */
            known->since_ns = served ? now_ns : known->since_ns;
            *ends_out = !served && now_ns - known->since_ns >= EFFECT_UNSERVED_NS;
            return SAP_OK;
        }
    }
    return served ? SAP_OK : buf_append(&reaper->unserved, &made, sizeof made);
}

static int note_unserved(EffectReaper *reaper, const SapStoreRow *row, Reaping *reaping)
{
    RowKey key;
    WitUniverseDbi34EffectsPendingValue val;
    int rc = row_key_copy(&key, WIT_DBI_EFFECTS_PENDING, row->key, row->key_len);
    rc = rc == SAP_OK ? row_decode_code(wit_universe_dbi34_effects_pending_value_decode(
                            row->val, row->val_len, &val, NULL))
                      : rc;
    if (rc == SAP_OK) {
        EffectEnding *ending = &reaping->endings[reaping->count++];
        effect_ending_init(ending, ENDING_UNSERVED, &key, &val.effect, reaper->producer,
                           reaper->session->store);
        memcpy(ending->code, "no_adapter", sizeof "no_adapter");
        ending->status = WIT_UNIVERSE_RECEIPT_STATUS_ERROR;
        ending->encoding = WIT_UNIVERSE_ENCODING_RAW;
        wit_universe_dbi34_effects_pending_value_free(&val);
    }
    return rc;
}

/* The effects of the kind that have been due for a minute. */
static int find_unserved(EffectReaper *reaper, SapStoreTxn *txn, Slice kind, Reaping *reaping)
{
    RowSpan span;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    uint64_t now_ns = sap_store_lease_ns(reaper->session->store);
    uint32_t room = ENDINGS_AT_ONCE - reaping->count;
    if (now_ns < EFFECT_UNSERVED_NS || room == 0) {
        return SAP_OK;
    }
    row_span_pending(&span, reaper->session->universe, kind, now_ns - EFFECT_UNSERVED_NS);
    int rc = sap_store_scan(txn, &span.range, false, room, &rows, &count);
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        rc = pass_damaged(reaper, note_unserved(reaper, &rows[i], reaping));
    }
    return rc;
}

/* The kind after the last one that was looked at. SAP_NOTFOUND: it was the last. */
static int next_kind(EffectReaper *reaper, SapStoreTxn *txn)
{
    RowSpan span;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    WitUniverseDbi34EffectsPendingKey key;
    row_span_kinds_after(&span, reaper->session->universe,
                         (Slice){reaper->kind.text, reaper->kind.len});
    int rc = sap_store_scan(txn, &span.range, false, 1, &rows, &count);
    rc = rc == SAP_OK && count == 0 ? SAP_NOTFOUND : rc;
    rc = rc == SAP_OK ? row_decode_code(wit_universe_dbi34_effects_pending_key_decode(
                            rows[0].key, rows[0].key_len, &key, NULL))
                      : rc;
    if (rc == SAP_OK) {
        universe_name_copy(&reaper->kind, &key.kind);
        reaper->first_due_ns =
            key.due_ns < reaper->first_due_ns ? key.due_ns : reaper->first_due_ns;
        wit_universe_dbi34_effects_pending_key_free(&key);
    }
    return rc;
}

static int look_at_kinds(EffectReaper *reaper, Reaping *reaping)
{
    SapStoreTxn *txn = NULL;
    uint64_t now_ns = clock_boot_ns(reaper->session->clock);
    if (now_ns - reaper->looked_ns >= reaper->session->ttl_ns - reaper->session->margin_ns) {
        buf_clear(&reaper->unserved);
    }
    reaper->looked_ns = now_ns;
    int rc = sap_store_begin(reaper->session->store, SAP_STORE_READ_NEWEST, &txn);
    for (int i = 0; rc == SAP_OK && i < KINDS_AT_ONCE; i++) {
        bool served = true;
        bool ends = false;
        rc = next_kind(reaper, txn);
        Slice kind = {reaper->kind.text, reaper->kind.len};
        rc = rc == SAP_OK ? kind_is_served(reaper->session, txn, kind, &served) : rc;
        rc = rc == SAP_OK ? note_kind(reaper, served, &ends) : rc;
        rc = rc == SAP_OK && ends ? find_unserved(reaper, txn, kind, reaping) : rc;
    }
    sap_store_abort(txn);
    if (rc == SAP_NOTFOUND) {
        end_pass(reaper);
        rc = SAP_OK;
    }
    return rc;
}

/* ---- A step ---------------------------------------------------------------------------------- */

static void log_ending(const EffectReaper *reaper, const EffectEnding *ending)
{
    bool receipt = ending->fate == FATE_RECEIPT;
    if (receipt || ending->fate == FATE_AGAIN) {
        LOG_EVENT(reaper->log, LOG_LEVEL_WARN,
                  receipt ? "universe.effect_given_up" : "universe.effect_returned",
                  LOG_STR("world", ending->world.text),
                  LOG_HEX("intent_hash", ending->hash, UNIVERSE_DIGEST),
                  LOG_STR("code", ending->code));
    }
}

static void count_ending(EffectReaperStats *stats, const EffectEnding *ending)
{
    bool receipt = ending->fate == FATE_RECEIPT;
    stats->returned += ending->fate == FATE_AGAIN;
    stats->dropped += ending->fate == FATE_DROPPED;
    stats->timeouts += receipt && ending->cause == ENDING_LOST;
    stats->unserved += receipt && ending->cause == ENDING_UNSERVED;
}

static int end_reaped(EffectReaper *reaper, EffectEnding *endings, uint32_t count)
{
    int rc = effects_end(reaper->session, endings, count);
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        count_ending(&reaper->stats, &endings[i]);
        log_ending(reaper, &endings[i]);
    }
    return rc;
}

/* All of them, or one by one where rows of one are damaged: that one stays. *busy_out: something was ended. */
static int end_all_reaped(EffectReaper *reaper, Reaping *reaping, bool *busy_out)
{
    int rc = end_reaped(reaper, reaping->endings, reaping->count);
    *busy_out = *busy_out || rc == SAP_OK;
    if (rc != SAP_CORRUPT) {
        return rc;
    }
    rc = SAP_OK;
    for (uint32_t i = 0; rc == SAP_OK && i < reaping->count; i++) {
        rc = end_reaped(reaper, &reaping->endings[i], 1);
        *busy_out = *busy_out || rc == SAP_OK;
        rc = pass_damaged(reaper, rc);
    }
    return rc;
}

int effect_reaper_step(EffectReaper *reaper, bool *busy_out)
{
    Reaping *reaping = (Reaping *)mem_zalloc(MEM_UNIVERSE, sizeof *reaping);
    *busy_out = false;
    if (reaping == NULL) {
        return SAP_NOMEM;
    }
    int rc = find_lost(reaper, reaping, busy_out);
    rc = rc == SAP_OK ? look_at_kinds(reaper, reaping) : rc;
    rc = rc == SAP_OK && reaping->count > 0 ? end_all_reaped(reaper, reaping, busy_out) : rc;
    mem_free(MEM_UNIVERSE, reaping, sizeof *reaping);
    return rc == SAP_OK ? kinds_clear_dead(reaper->session, CLEARED_AT_ONCE) : rc;
}
