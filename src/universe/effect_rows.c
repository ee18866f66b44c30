/* effect_rows.c - see effect_rows.h. */
#include "universe/effect_rows.h"

#include "common/assert.h"

/* Every row of effects and timers is in this shard, as hints are. */
enum { ONLY_SHARD = 0 };

/* What follows a kind, a due time and a clock in the keys, when no byte of the seq or hash is 0. */
enum { END_OF_BYTES = 2, AFTER_DUE = UNIVERSE_SEQ + END_OF_BYTES, AFTER_KIND = AFTER_DUE + 8 };

/* ---- Keys ------------------------------------------------------------------------------------ */

static Buf begin_key(RowKey *key, uint32_t table)
{
    key->table = table;
    return buf_in(key->bytes, sizeof key->bytes);
}

static void finish_key(RowKey *key, const Buf *buf, int rc)
{
    SAP_ASSERT(rc == SAP_OK);
    key->len = (uint32_t)buf->len;
}

void row_key_pending(RowKey *key, uint32_t universe, Slice kind, uint64_t due_ns,
                     const uint8_t seq[UNIVERSE_SEQ])
{
    Buf buf = begin_key(key, WIT_DBI_EFFECTS_PENDING);
    WitUniverseDbi34EffectsPendingKey fields = {universe, ONLY_SHARD,
                                                lend_bytes(kind.data, kind.len), due_ns,
                                                lend_bytes(seq, UNIVERSE_SEQ)};
    finish_key(key, &buf, wit_universe_dbi34_effects_pending_key_encode(&fields, &buf, NULL));
}

void row_key_inflight(RowKey *key, uint32_t universe, const uint8_t seq[UNIVERSE_SEQ])
{
    Buf buf = begin_key(key, WIT_DBI_EFFECTS_INFLIGHT);
    WitUniverseDbi35EffectsInflightKey fields = {universe, ONLY_SHARD,
                                                 lend_bytes(seq, UNIVERSE_SEQ)};
    finish_key(key, &buf, wit_universe_dbi35_effects_inflight_key_encode(&fields, &buf, NULL));
}

/* Both have the same key. */
void row_key_dedupe(RowKey *key, uint32_t table, uint32_t universe,
                    const uint8_t hash[UNIVERSE_DIGEST])
{
    SAP_ASSERT(table == WIT_DBI_EFFECTS_DEDUPE || table == WIT_DBI_TIMERS_DEDUPE);
    Buf buf = begin_key(key, table);
    WitUniverseDbi36EffectsDedupeKey fields = {universe, lend_bytes(hash, UNIVERSE_DIGEST)};
    finish_key(key, &buf, wit_universe_dbi36_effects_dedupe_key_encode(&fields, &buf, NULL));
}

void row_key_timer(RowKey *key, uint32_t universe, WitUniverseTimerClock clock, uint64_t at_ns,
                   const uint8_t hash[UNIVERSE_DIGEST])
{
    Buf buf = begin_key(key, WIT_DBI_TIMERS_DUE);
    WitUniverseDbi37TimersDueKey fields = {universe, ONLY_SHARD, clock, at_ns,
                                           lend_bytes(hash, UNIVERSE_DIGEST)};
    finish_key(key, &buf, wit_universe_dbi37_timers_due_key_encode(&fields, &buf, NULL));
}

void row_key_kind(RowKey *key, uint32_t universe, Slice kind, const UniverseName *node)
{
    Buf buf = begin_key(key, WIT_DBI_KINDS);
    WitUniverseDbi45KindsKey fields = {universe, lend_bytes(kind.data, kind.len), lend_name(node)};
    finish_key(key, &buf, wit_universe_dbi45_kinds_key_encode(&fields, &buf, NULL));
}

static void set_range(RowSpan *span)
{
    span->range = (SapStoreRange){span->from.table, span->from.bytes, span->from.len,
                                  span->to.bytes, span->to.len};
}

static const uint8_t no_zero[UNIVERSE_SEQ] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                              1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
_Static_assert(UNIVERSE_SEQ == UNIVERSE_DIGEST, "a seq and a hash are cut off alike");

/* The beginning of the keys of a kind with this due time. */
static void cut_pending(RowKey *key, uint32_t universe, Slice kind, uint64_t due_ns)
{
    row_key_pending(key, universe, kind, due_ns, no_zero);
    key->len -= AFTER_DUE;
}

void row_span_pending(RowSpan *span, uint32_t universe, Slice kind, uint64_t now_ns)
{
    cut_pending(&span->from, universe, kind, 0);
    cut_pending(&span->to, universe, kind, now_ns + 1);
    set_range(span);
}

void row_span_kinds_after(RowSpan *span, uint32_t universe, Slice kind)
{
    RowKey all;
    row_key_universe(&all, WIT_DBI_EFFECTS_PENDING, universe);
    row_range(&all, &span->to, &span->range);
    span->from = all;
    if (kind.len > 0) {
        row_key_pending(&all, universe, kind, 0, no_zero);
        all.len -= AFTER_KIND;
        row_range(&all, &span->from, &span->range);
    }
    set_range(span);
}

void row_span_timers(RowSpan *span, uint32_t universe, WitUniverseTimerClock clock, uint64_t now_ns)
{
    row_key_timer(&span->from, universe, clock, 0, no_zero);
    row_key_timer(&span->to, universe, clock, now_ns + 1, no_zero);
    span->from.len -= AFTER_DUE;
    span->to.len -= AFTER_DUE;
    set_range(span);
}

void row_span_nodes(RowSpan *span, uint32_t universe, Slice kind)
{
    UniverseName any = {.len = 1, .text = "a"};
    row_key_kind(&span->from, universe, kind, &any);
    span->from.len -= any.len + END_OF_BYTES;
    row_range(&span->from, &span->to, &span->range);
}

void row_span_from(RowSpan *span, const RowKey *from, uint32_t universe)
{
    RowKey all;
    row_key_universe(&all, from->table, universe);
    row_range(&all, &span->to, &span->range);
    span->from = from->len > 0 ? *from : all;
    set_range(span);
}

int row_key_copy(RowKey *key, uint32_t table, const void *bytes, uint32_t len)
{
    if (len > sizeof key->bytes) {
        return SAP_CORRUPT;
    }
    key->table = table;
    key->len = len;
    if (len > 0) {
        memcpy(key->bytes, bytes, len);
    }
    return SAP_OK;
}

bool row_key_equal(const RowKey *a, const RowKey *b)
{
    return a->table == b->table && a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

int row_key_seq(const RowKey *key, uint8_t seq_out[UNIVERSE_SEQ])
{
    WitUniverseDbi34EffectsPendingKey pending;
    WitUniverseDbi35EffectsInflightKey inflight;
    if (key->table == WIT_DBI_EFFECTS_INFLIGHT) {
        int rc = row_decode_code(
            wit_universe_dbi35_effects_inflight_key_decode(key->bytes, key->len, &inflight, NULL));
        if (rc == SAP_OK) {
            memcpy(seq_out, inflight.seq.data, UNIVERSE_SEQ);
            wit_universe_dbi35_effects_inflight_key_free(&inflight);
        }
        return rc;
    }
    SAP_ASSERT(key->table == WIT_DBI_EFFECTS_PENDING);
    int rc = row_decode_code(
        wit_universe_dbi34_effects_pending_key_decode(key->bytes, key->len, &pending, NULL));
    if (rc == SAP_OK) {
        memcpy(seq_out, pending.seq.data, UNIVERSE_SEQ);
        wit_universe_dbi34_effects_pending_key_free(&pending);
    }
    return rc;
}

/* ---- Where an effect is ---------------------------------------------------------------------- */

int dispatch_row_get(SapStoreTxn *txn, const RowKey *key, DispatchRow *row_out)
{
    Slice val = {0};
    WitUniverseDbi36EffectsDedupeValue fields;
    int rc = universe_get(txn, key, &val);
    rc = rc == SAP_OK ? row_decode_code(wit_universe_dbi36_effects_dedupe_value_decode(
                            val.data, val.len, &fields, NULL))
                      : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    row_out->status = fields.status;
    universe_name_copy(&row_out->world, &fields.world);
    rc = row_key_copy(&row_out->at, fields.table, fields.key.data, fields.key.len);
    wit_universe_dbi36_effects_dedupe_value_free(&fields);
    return rc;
}

int dispatch_row_encode(const DispatchRow *row, Buf *out)
{
    WitUniverseDbi36EffectsDedupeValue fields = {row->status, lend_name(&row->world), row->at.table,
                                                 lend_bytes(row->at.bytes, row->at.len)};
    int rc = wit_universe_dbi36_effects_dedupe_value_encode(&fields, out, NULL);
    SAP_ASSERT(rc != SAP_INVALID);
    return rc;
}

int dispatch_row_put(UniverseTxn *txn, const RowKey *key, const DispatchRow *row)
{
    Buf buf = {0};
    int rc = dispatch_row_encode(row, &buf);
    rc = rc == SAP_OK ? universe_put(txn, key, (Slice){buf.data, buf.len}) : rc;
    buf_release(&buf);
    return rc;
}

int timer_dedupe_get(SapStoreTxn *txn, const RowKey *key, RowKey *due_out)
{
    Slice val = {0};
    WitUniverseDbi38TimersDedupeValue fields;
    int rc = universe_get(txn, key, &val);
    rc = rc == SAP_OK ? row_decode_code(wit_universe_dbi38_timers_dedupe_value_decode(
                            val.data, val.len, &fields, NULL))
                      : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = row_key_copy(due_out, WIT_DBI_TIMERS_DUE, fields.key.data, fields.key.len);
    wit_universe_dbi38_timers_dedupe_value_free(&fields);
    return rc;
}
