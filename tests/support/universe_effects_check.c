/* universe_effects_check.c - what must hold: see universe_effects.h.
 *
 * After each commit the model is brought up to the logs of the worlds, then compared with the rows. A power
 * cut takes back what was not durable: the model is then made again from the logs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/bytes.h"
#include "simulator/world.h"
#include "support/universe_effects_impl.h"

typedef struct Check {
    Outside *outside;
    Simulator *simulator;
    SapStoreTxn *txn;
    bool alive[EFFECT_WORLDS]; /* takes items */
    bool active[EFFECT_WORLDS];
    bool items[EFFECT_WORLDS];
    bool hints[EFFECT_WORLDS];
    uint64_t born[EFFECT_WORLDS];
    uint32_t world; /* whose log or inbox is read */
    uint32_t left;  /* rows at the end */
} Check;

#define CLOCK_SLACK_NS UINT64_C(60000000000) /* for the steps of timer workers */

#define BROKEN(check, ...) simulator_violation((check)->simulator, __VA_ARGS__)

/* ---- Rows ------------------------------------------------------------------------------------ */

typedef void (*RowSeen)(Check *check, const SapStoreRow *row);

static void each_row(Check *check, const RowKey *prefix, RowSeen seen)
{
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    row_range(prefix, &to, &range);
    if (sap_store_scan(check->txn, &range, false, MOST_ROWS, &rows, &count) != SAP_OK) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        seen(check, &rows[i]);
    }
}

static void each_of_table(Check *check, uint32_t table, RowSeen seen)
{
    RowKey prefix;
    row_key_universe(&prefix, table, EFFECT_UNIVERSE);
    each_row(check, &prefix, seen);
}

static UniverseName name_of_world(uint32_t world)
{
    UniverseName name;
    (void)universe_name_set(&name, effect_world_names[world]);
    return name;
}

static Intent *intent_of(Check *check, const CodecBytes *hash, uint32_t *number_out)
{
    *number_out = load_u32be(hash->data);
    return &check->outside->intents[*number_out % MOST_INTENTS];
}

/* ---- The logs -------------------------------------------------------------------------------- */

static void note_logged(void *ctx, uint64_t height, LogOpKind kind, uint32_t number)
{
    Check *check = (Check *)ctx;
    Intent *intent = &check->outside->intents[number];
    switch (kind) {
    case OP_PUBLISH:
    case OP_ARM:
        intent->published = height;
        break;
    case OP_CANCEL:
        intent->cancelled = height;
        break;
    case OP_CONSUME:
        intent->consumed++;
        break;
    }
}

/* What was lost with the power is forgotten, but not what a cancel had found. */
static void forget_logs(Outside *outside)
{
    memset(outside->logs, 0, sizeof outside->logs);
    for (uint32_t i = 0; i < outside->intent_count; i++) {
        outside->intents[i].published = 0;
        outside->intents[i].cancelled = 0;
        outside->intents[i].consumed = 0;
        outside->intents[i].claimed = false;
    }
}

static void read_logs(Check *check, bool again)
{
    Outside *outside = check->outside;
    for (uint32_t world = 0; world < EFFECT_WORLDS; world++) {
        HeadRow head;
        WorldLog *log = &outside->logs[world];
        uint64_t first = again ? 1 : log->height + 1;
        if (effect_log_read(check->txn, world, first, note_logged, check, &head) != SAP_OK) {
            return;
        }
        if (head.height < log->height) {
            BROKEN(check, "the log of %s has lost entries", effect_world_names[world]);
        }
        log->height = head.height;
    }
}

static void read_worlds(Check *check)
{
    for (uint32_t i = 0; i < EFFECT_WORLDS; i++) {
        UniverseName name = name_of_world(i);
        RowKey key;
        WitUniverseDbi21WorldMetaValue meta;
        row_key_world(&key, WIT_DBI_WORLD_META, EFFECT_UNIVERSE, &name);
        if (meta_row_get(check->txn, &key, &meta) == SAP_OK) {
            check->alive[i] = meta.status != WIT_UNIVERSE_WORLD_STATUS_DELETED;
            check->active[i] = meta.status == WIT_UNIVERSE_WORLD_STATUS_ACTIVE;
            check->born[i] = meta.born_height;
            wit_universe_dbi21_world_meta_value_free(&meta);
        }
    }
}

/* ---- Items ----------------------------------------------------------------------------------- */

/* Whether it is in an inbox for the first time. */
static bool is_new_item(Outside *outside, const uint8_t seq[UNIVERSE_SEQ])
{
    for (uint32_t i = 0; i < outside->seen_count; i++) {
        if (memcmp(outside->seen[i], seq, UNIVERSE_SEQ) == 0) {
            return false;
        }
    }
    if (outside->seen_count < MOST_ROWS) {
        memcpy(outside->seen[outside->seen_count++], seq, UNIVERSE_SEQ);
    }
    return true;
}

/* A firing that was just put. */
static void check_firing(Check *check, uint32_t number, const Intent *intent,
                         const uint8_t seq[UNIVERSE_SEQ], const WitUniverseInboxItem *item)
{
    bool by_lease = intent->clock == WIT_UNIVERSE_TIMER_CLOCK_LEASE;
    uint64_t fired_ns = by_lease ? load_u64be(seq) : item->time_ns;
    if (!intent->timer || fired_ns < intent->at_ns) {
        BROKEN(check, "timer %u has fired at %" PRIu64 ", before %" PRIu64, number, fired_ns,
               intent->at_ns);
    }
}

static bool is_text(const CodecBytes *bytes, const char *text)
{
    return bytes->len == strlen(text) && memcmp(bytes->data, text, bytes->len) == 0;
}

/* A receipt that was just put. */
static void check_receipt(Check *check, uint32_t number, const Intent *intent,
                          const uint8_t seq[UNIVERSE_SEQ], const WitUniverseInboxItem *item)
{
    bool from_call = item->payload.len == 8;
    bool unserved = is_text(&item->code, "no_adapter");
    if (intent->timer || item->status == WIT_UNIVERSE_RECEIPT_STATUS_NONE) {
        BROKEN(check, "intent %u has a receipt that is none", number);
    }
    if (from_call && (load_u32be(item->payload.data) != number ||
                      load_u32be(item->payload.data + 4) != item->attempts.count)) {
        BROKEN(check, "the receipt of intent %u is that of attempt %u of intent %u, of %u", number,
               load_u32be(item->payload.data + 4), load_u32be(item->payload.data),
               item->attempts.count);
    }
    if (item->status == WIT_UNIVERSE_RECEIPT_STATUS_OK && !from_call) {
        BROKEN(check, "intent %u is ok, and no call said so", number);
    }
    if (unserved &&
        (intent->kind != KIND_NOBODY || load_u64be(seq) < intent->due_ns + EFFECT_UNSERVED_NS)) {
        BROKEN(check, "intent %u was given up early, or somebody serves it", number);
    }
}

static void see_item(Check *check, const SapStoreRow *row)
{
    WitUniverseDbi24WorldInboxKey key;
    WitUniverseDbi24WorldInboxValue val;
    uint32_t number = 0;
    if (wit_universe_dbi24_world_inbox_key_decode(row->key, row->key_len, &key, NULL) != SAP_OK) {
        return;
    }
    if (wit_universe_dbi24_world_inbox_value_decode(row->val, row->val_len, &val, NULL) == SAP_OK) {
        Intent *intent = intent_of(check, &val.item.hash, &number);
        check->items[check->world] = true;
        intent->waiting++;
        if (is_new_item(check->outside, key.seq.data)) {
            if (!check->alive[check->world]) {
                BROKEN(check, "intent %u came into a world that is gone", number);
            }
            if (intent->cancelled != 0 && !intent->had_receipt) {
                BROKEN(check, "intent %u was cancelled and has a receipt", number);
            }
            (val.item.kind == WIT_UNIVERSE_ITEM_KIND_TIMER ? check_firing : check_receipt)(
                check, number, intent, key.seq.data, &val.item);
        }
        wit_universe_dbi24_world_inbox_value_free(&val);
    }
    wit_universe_dbi24_world_inbox_key_free(&key);
}

static void see_hint(Check *check, const SapStoreRow *row)
{
    WitUniverseDbi39ReadyKey key;
    if (wit_universe_dbi39_ready_key_decode(row->key, row->key_len, &key, NULL) == SAP_OK) {
        for (uint32_t i = 0; i < EFFECT_WORLDS; i++) {
            check->hints[i] = check->hints[i] || is_text(&key.world, effect_world_names[i]);
        }
        wit_universe_dbi39_ready_key_free(&key);
    }
}

/* ---- Effects --------------------------------------------------------------------------------- */

/* The dedupe row of a row of a queue names it, and has one of the two states. */
static void check_named(Check *check, const RowKey *at, const CodecBytes *hash, uint32_t number,
                        WitUniverseDispatchStatus one, WitUniverseDispatchStatus other)
{
    RowKey key;
    DispatchRow dispatch;
    row_key_dedupe(&key, WIT_DBI_EFFECTS_DEDUPE, EFFECT_UNIVERSE, hash->data);
    int rc = dispatch_row_get(check->txn, &key, &dispatch);
    if (rc == SAP_NOTFOUND ||
        (rc == SAP_OK && (!row_key_equal(&dispatch.at, at) ||
                          (dispatch.status != one && dispatch.status != other)))) {
        BROKEN(check, "no dedupe row names the row of intent %u in table %u", number, at->table);
    }
}

/* Attempts are as many as claims, and a claim that was lost was so. */
static void check_attempts(Check *check, uint32_t number, const WitUniverseEffect *effect,
                           bool inflight)
{
    if (effect->attempts.count + inflight != effect->attempt || effect->attempt > MOST_ATTEMPTS) {
        BROKEN(check, "intent %u has %u attempts of %u", number, effect->attempts.count,
               effect->attempt);
    }
}

/* When the session of a node was renewed last, as steps of the run. */
static void note_sessions(Check *check)
{
    for (uint32_t i = 0; i < EFFECT_NODES; i++) {
        NodeSession *known = &check->outside->sessions[i];
        SessionRow row = {.expires_ns = 0};
        RowKey key;
        UniverseName node = {.len = 6};
        (void)snprintf(node.text, sizeof node.text, "node-%u", i);
        row_key_session(&key, EFFECT_UNIVERSE, &node);
        if (session_row_get(check->txn, &key, &row) == SAP_NOMEM) {
            return;
        }
        if (row.expires_ns != known->row.expires_ns ||
            memcmp(row.nonce, known->row.nonce, sizeof row.nonce) != 0) {
            known->row = row;
            known->step = check->simulator->report.steps;
        }
    }
}

/* It was seen claimed, and is pending: if its claim was lost, it has run out or its session is over. A
 * session that was renewed in this very step may have been over when the reaper looked. */
static void check_lost(Check *check, uint32_t number, const Intent *intent,
                       const WitUniverseListEffectAttempt *attempts)
{
    const NodeSession *session = &check->outside->sessions[intent->worker.text[5] - '0'];
    const WitUniverseEffectAttempt *last = &attempts->items[attempts->count - 1];
    uint64_t ended_ns = last->ended_ns;
    if (last->outcome != WIT_UNIVERSE_ATTEMPT_OUTCOME_LOST || !intent->claimed ||
        ended_ns >= intent->deadline_ns + SESSION_RENEWAL_NS) {
        return;
    }
    if (session->step != check->simulator->report.steps &&
        memcmp(session->row.nonce, intent->nonce, UNIVERSE_NONCE) == 0 &&
        ended_ns < session->row.expires_ns) {
        BROKEN(check, "the claim of intent %u was taken at %" PRIu64 ", before %" PRIu64, number,
               ended_ns, intent->deadline_ns);
    }
}

static void see_pending(Check *check, const SapStoreRow *row)
{
    RowKey key;
    WitUniverseDbi34EffectsPendingValue val;
    uint32_t number = 0;
    if (row_key_copy(&key, WIT_DBI_EFFECTS_PENDING, row->key, row->key_len) != SAP_OK ||
        wit_universe_dbi34_effects_pending_value_decode(row->val, row->val_len, &val, NULL) !=
            SAP_OK) {
        return;
    }
    Intent *intent = intent_of(check, &val.effect.intent_hash, &number);
    check_named(check, &key, &val.effect.intent_hash, number, WIT_UNIVERSE_DISPATCH_STATUS_PENDING,
                WIT_UNIVERSE_DISPATCH_STATUS_PENDING);
    check_attempts(check, number, &val.effect, false);
    if (intent->queued) {
        BROKEN(check, "intent %u has two rows", number);
    }
    if (intent->claimed && val.effect.attempts.count > 0) {
        check_lost(check, number, intent, &val.effect.attempts);
    }
    intent->queued = true;
    intent->claimed = false;
    wit_universe_dbi34_effects_pending_value_free(&val);
}

static void see_inflight(Check *check, const SapStoreRow *row)
{
    RowKey key;
    WitUniverseDbi35EffectsInflightValue val;
    uint32_t number = 0;
    if (row_key_copy(&key, WIT_DBI_EFFECTS_INFLIGHT, row->key, row->key_len) != SAP_OK ||
        wit_universe_dbi35_effects_inflight_value_decode(row->val, row->val_len, &val, NULL) !=
            SAP_OK) {
        return;
    }
    Intent *intent = intent_of(check, &val.effect.intent_hash, &number);
    check_named(check, &key, &val.effect.intent_hash, number, WIT_UNIVERSE_DISPATCH_STATUS_INFLIGHT,
                WIT_UNIVERSE_DISPATCH_STATUS_CANCELLED);
    check_attempts(check, number, &val.effect, true);
    if (intent->queued) {
        BROKEN(check, "intent %u has two rows", number);
    }
    intent->queued = true;
    intent->claimed = true;
    intent->deadline_ns = val.deadline_ns;
    memcpy(intent->token, val.token.data, EFFECT_TOKEN);
    memcpy(intent->nonce, val.nonce.data, UNIVERSE_NONCE);
    universe_name_copy(&intent->worker, &val.worker);
    wit_universe_dbi35_effects_inflight_value_free(&val);
}

static void see_dispatch(Check *check, const SapStoreRow *row)
{
    WitUniverseDbi36EffectsDedupeKey key;
    RowKey row_key;
    DispatchRow dispatch;
    Slice unused;
    uint32_t number = 0;
    if (row_key_copy(&row_key, WIT_DBI_EFFECTS_DEDUPE, row->key, row->key_len) != SAP_OK ||
        dispatch_row_get(check->txn, &row_key, &dispatch) != SAP_OK ||
        wit_universe_dbi36_effects_dedupe_key_decode(row->key, row->key_len, &key, NULL) !=
            SAP_OK) {
        return;
    }
    Intent *intent = intent_of(check, &key.intent_hash, &number);
    bool complete = dispatch.status == WIT_UNIVERSE_DISPATCH_STATUS_COMPLETE;
    uint32_t table = complete ? WIT_DBI_WORLD_INBOX
                     : dispatch.status == WIT_UNIVERSE_DISPATCH_STATUS_PENDING
                         ? WIT_DBI_EFFECTS_PENDING
                         : WIT_DBI_EFFECTS_INFLIGHT;
    if (dispatch.at.table != table ||
        universe_get(check->txn, &dispatch.at, &unused) == SAP_NOTFOUND) {
        BROKEN(check, "the dedupe row of intent %u, status %d, names no row", number,
               (int)dispatch.status);
    }
    intent->complete = complete;
    wit_universe_dbi36_effects_dedupe_key_free(&key);
}

/* ---- Timers ---------------------------------------------------------------------------------- */

static void see_due(Check *check, const SapStoreRow *row)
{
    WitUniverseDbi37TimersDueKey key;
    RowKey dedupe;
    RowKey due;
    RowKey named;
    uint32_t number = 0;
    if (row_key_copy(&due, WIT_DBI_TIMERS_DUE, row->key, row->key_len) != SAP_OK ||
        wit_universe_dbi37_timers_due_key_decode(row->key, row->key_len, &key, NULL) != SAP_OK) {
        return;
    }
    Intent *intent = intent_of(check, &key.intent_hash, &number);
    row_key_dedupe(&dedupe, WIT_DBI_TIMERS_DEDUPE, EFFECT_UNIVERSE, key.intent_hash.data);
    int rc = timer_dedupe_get(check->txn, &dedupe, &named);
    if (rc == SAP_NOTFOUND || (rc == SAP_OK && !row_key_equal(&named, &due)) || intent->queued) {
        BROKEN(check, "no dedupe row names timer %u", number);
    }
    intent->queued = true;
    wit_universe_dbi37_timers_due_key_free(&key);
}

static void see_timer_dedupe(Check *check, const SapStoreRow *row)
{
    RowKey key;
    RowKey named;
    Slice unused;
    if (row_key_copy(&key, WIT_DBI_TIMERS_DEDUPE, row->key, row->key_len) == SAP_OK &&
        timer_dedupe_get(check->txn, &key, &named) == SAP_OK &&
        universe_get(check->txn, &named, &unused) == SAP_NOTFOUND) {
        BROKEN(check, "the dedupe row of a timer names no row");
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* An intent of a world that is there, and not of one of that name that was deleted before. */
static bool is_current(const Check *check, const Intent *intent)
{
    return check->alive[intent->world] && intent->published > check->born[intent->world];
}

static void check_intent(Check *check, uint32_t number)
{
    Intent *intent = &check->outside->intents[number];
    uint32_t ended = intent->waiting + intent->consumed;
    bool current = is_current(check, intent);
    if (intent->published == 0 && (ended > 0 || intent->queued || intent->complete)) {
        BROKEN(check, "intent %u was never published", number);
    }
    if (ended > 1) {
        BROKEN(check, "intent %u has %u receipts", number, ended);
    }
    if (intent->published != 0 && current && intent->cancelled == 0 && ended == 0 &&
        !intent->queued) {
        BROKEN(check, "intent %u is lost", number);
    }
    if (current && !intent->timer && (intent->waiting == 1) != intent->complete) {
        BROKEN(check, "intent %u: its dedupe row and its receipt do not agree", number);
    }
}

/* What a cancel finds is seen right after its commit. */
static void note_cancels(Check *check, const uint64_t cancelled_before[MOST_INTENTS])
{
    Outside *outside = check->outside;
    for (uint32_t i = 0; i < outside->intent_count; i++) {
        Intent *intent = &outside->intents[i];
        if (intent->cancelled != 0 && intent->cancelled != cancelled_before[i]) {
            intent->had_receipt = intent->waiting > 0;
            outside->counts.cancelled_late += intent->had_receipt;
            outside->counts.cancelled_inflight += intent->queued;
        }
    }
}

/* Receipts that are there when their cancel is seen are of before it: the model looks at them first. */
static void count_waiting(Check *check, const SapStoreRow *row)
{
    WitUniverseDbi24WorldInboxValue val;
    uint32_t number = 0;
    if (wit_universe_dbi24_world_inbox_value_decode(row->val, row->val_len, &val, NULL) == SAP_OK) {
        intent_of(check, &val.item.hash, &number)->waiting++;
        wit_universe_dbi24_world_inbox_value_free(&val);
    }
}

static void each_item(Check *check, RowSeen seen)
{
    for (check->world = 0; check->world < EFFECT_WORLDS; check->world++) {
        UniverseName name = name_of_world(check->world);
        RowKey prefix;
        row_key_world(&prefix, WIT_DBI_WORLD_INBOX, EFFECT_UNIVERSE, &name);
        each_row(check, &prefix, seen);
    }
}

static void clear_marks(Outside *outside)
{
    for (uint32_t i = 0; i < outside->intent_count; i++) {
        outside->intents[i].waiting = 0;
        outside->intents[i].queued = false;
        outside->intents[i].complete = false;
    }
}

void effects_check_commit(void *ctx, Simulator *simulator, SapStoreTxn *newest)
{
    Outside *outside = (Outside *)ctx;
    Check check = {.outside = outside, .simulator = simulator, .txn = newest};
    uint64_t cancelled[MOST_INTENTS];
    uint64_t cuts = simulator->report.happened[SIMULATOR_POWER_CUT];
    bool again = cuts != outside->power_cuts;
    for (uint32_t i = 0; i < MOST_INTENTS; i++) {
        cancelled[i] = outside->intents[i].cancelled;
    }
    outside->power_cuts = cuts;
    if (again) {
        forget_logs(outside);
    }
    read_worlds(&check);
    read_logs(&check, again);
    note_sessions(&check);
    clear_marks(outside);
    each_item(&check, count_waiting);
    each_of_table(&check, WIT_DBI_EFFECTS_PENDING, see_pending);
    each_of_table(&check, WIT_DBI_EFFECTS_INFLIGHT, see_inflight);
    each_of_table(&check, WIT_DBI_EFFECTS_DEDUPE, see_dispatch);
    each_of_table(&check, WIT_DBI_TIMERS_DUE, see_due);
    each_of_table(&check, WIT_DBI_TIMERS_DEDUPE, see_timer_dedupe);
    note_cancels(&check, cancelled);
    for (uint32_t i = 0; i < outside->intent_count; i++) {
        outside->intents[i].waiting = 0;
    }
    each_item(&check, see_item);
    each_of_table(&check, WIT_DBI_READY, see_hint);
    for (uint32_t i = 0; i < outside->intent_count; i++) {
        check_intent(&check, i);
    }
    for (uint32_t i = 0; i < EFFECT_WORLDS; i++) {
        if (check.active[i] && check.items[i] && !check.hints[i]) {
            BROKEN(&check, "%s has items and no hint", effect_world_names[i]);
        }
    }
}

/* What waits for a time of day that no node's clock shows yet, since the one that showed it was set back. */
static bool waits_for_clocks(const Check *check, const Intent *intent)
{
    uint64_t latest_ns = 0;
    for (uint32_t i = 0; i < EFFECT_NODES; i++) {
        uint64_t wall_ns = clock_wall_ns(&check->simulator->nodes[i].clock);
        latest_ns = wall_ns > latest_ns ? wall_ns : latest_ns;
    }
    return intent->timer && intent->clock == WIT_UNIVERSE_TIMER_CLOCK_DUE &&
           intent->at_ns + CLOCK_SLACK_NS > latest_ns;
}

static void see_left(Check *check, const SapStoreRow *row)
{
    (void)row;
    check->left++;
}

static void see_left_timer(Check *check, const SapStoreRow *row)
{
    WitUniverseDbi37TimersDueKey key;
    uint32_t number = 0;
    if (wit_universe_dbi37_timers_due_key_decode(row->key, row->key_len, &key, NULL) == SAP_OK) {
        check->left += !waits_for_clocks(check, intent_of(check, &key.intent_hash, &number));
        wit_universe_dbi37_timers_due_key_free(&key);
    }
}

void effects_check_end(void *ctx, Simulator *simulator, SapStoreTxn *newest)
{
    Outside *outside = (Outside *)ctx;
    Check check = {.outside = outside, .simulator = simulator, .txn = newest};
    effects_check_commit(ctx, simulator, newest);
    read_worlds(&check);
    for (uint32_t table = WIT_DBI_EFFECTS_PENDING; table <= WIT_DBI_TIMERS_DUE; table++) {
        each_of_table(&check, table, table == WIT_DBI_TIMERS_DUE ? see_left_timer : see_left);
        if (check.left > 0) {
            BROKEN(&check, "%u rows are left in table %u", check.left, table);
        }
    }
    for (uint32_t i = 0; i < outside->intent_count; i++) {
        const Intent *intent = &outside->intents[i];
        bool over = intent->cancelled != 0 || intent->consumed == 1;
        if (is_current(&check, intent) && !over && !waits_for_clocks(&check, intent)) {
            BROKEN(&check, "intent %u has no end", i);
        }
    }
    if (outside->counts.consumed + outside->counts.cancelled == 0) {
        BROKEN(&check, "nothing has happened");
    }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* What is durable of the effect: SAP_OK, and the attempt it is at. */
static int durable_attempt(SapStoreTxn *txn, const CodecBytes *hash, uint32_t *attempt_out)
{
    RowKey key;
    DispatchRow dispatch;
    Slice val = {0};
    WitUniverseDbi34EffectsPendingValue pending;
    WitUniverseDbi35EffectsInflightValue inflight;
    row_key_dedupe(&key, WIT_DBI_EFFECTS_DEDUPE, EFFECT_UNIVERSE, hash->data);
    int rc = dispatch_row_get(txn, &key, &dispatch);
    *attempt_out = UINT32_MAX; /* it is over already */
    if (rc != SAP_OK || dispatch.status == WIT_UNIVERSE_DISPATCH_STATUS_COMPLETE) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    rc = universe_get(txn, &dispatch.at, &val);
    if (rc == SAP_OK && dispatch.at.table == WIT_DBI_EFFECTS_PENDING) {
        rc = wit_universe_dbi34_effects_pending_value_decode(val.data, val.len, &pending, NULL);
        if (rc == SAP_OK) {
            *attempt_out = pending.effect.attempt;
            wit_universe_dbi34_effects_pending_value_free(&pending);
        }
    } else if (rc == SAP_OK) {
        rc = wit_universe_dbi35_effects_inflight_value_decode(val.data, val.len, &inflight, NULL);
        if (rc == SAP_OK) {
            *attempt_out = inflight.effect.attempt;
            wit_universe_dbi35_effects_inflight_value_free(&inflight);
        }
    }
    return rc;
}

void effects_check_begun(Outside *outside, Simulator *simulator, const EffectCall *call)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *hash = call->effect->intent_hash.data;
    uint32_t number = load_u32be(hash);
    Intent *intent = &outside->intents[number];
    uint32_t attempt = 0;
    SapStoreTxn *txn = NULL;
    if (intent->begun[call->attempt % MOST_ATTEMPTS]++ > 0) {
        simulator_violation(simulator, "attempt %u of intent %u was begun twice", call->attempt,
                            number);
    }
    intent->begun_count++;
    if (intent->kind == KIND_ONCE && intent->begun_count > 1) {
        simulator_violation(simulator, "intent %u may be begun once, and was %u times", number,
                            intent->begun_count);
    }
    for (size_t i = 0; i < UNIVERSE_DIGEST; i++) {
        if (call->idempotency_key[2 * i] != digits[hash[i] >> 4] ||
            call->idempotency_key[2 * i + 1] != digits[hash[i] & 15]) {
            simulator_violation(simulator, "intent %u has another key", number);
            return;
        }
    }
    if (sap_store_begin(simulator_store(simulator), SAP_STORE_READ_DURABLE, &txn) != SAP_OK) {
        return;
    }
    if (durable_attempt(txn, &call->effect->intent_hash, &attempt) == SAP_OK &&
        attempt < call->attempt) {
        simulator_violation(simulator, "attempt %u of intent %u was begun before it was durable",
                            call->attempt, number);
    }
    sap_store_abort(txn);
}
