/* universe_effects.c - the parties: see universe_effects.h. */
#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/bytes.h"
#include "common/mem.h"
#include "support/universe_effects_impl.h"

enum {
    STEPS = 220,
    SETTLE_STEPS = 1100,
    PASS_MS = 150,
    ITEMS_AT_ONCE = 3,
    CANCELS_AT_ONCE = 4,
    HINTS_AT_ONCE = 64,
};

#define SECOND_NS UINT64_C(1000000000)

const char *const effect_world_names[EFFECT_WORLDS] = {"alpha", "beta"};
const char *const effect_kind_names[KINDS] = {"again", "once", "slow", "nobody"};

void effects_counts_add(EffectsCounts *sum, const EffectsCounts *counts)
{
#define COUNT_ADD(name, what) sum->name += counts->name;
    EFFECTS_COUNTS(COUNT_ADD)
#undef COUNT_ADD
}

void intent_hash(uint32_t number, uint8_t hash_out[UNIVERSE_DIGEST])
{
    memset(hash_out, 0xa5, UNIVERSE_DIGEST);
    store_u32be(hash_out, number);
}

uint64_t effects_draw(const Party *self, uint64_t below)
{
    uint64_t number = 0;
    int rc = random_fill(self->process.random, &number, sizeof number);
    SAP_ASSERT(rc == SAP_OK);
    return number % below;
}

UniverseName effects_world_name(uint32_t world)
{
    UniverseName name;
    int rc = universe_name_set(&name, effect_world_names[world]);
    SAP_ASSERT(rc == SAP_OK);
    return name;
}

int effects_step_code(int rc)
{
    SAP_ASSERT(rc != SAP_CORRUPT && rc != SAP_ERROR);
    return rc == SAP_NOMEM ? rc : SAP_OK;
}

static int renew_session(Party *self)
{
    bool due = clock_boot_ns(self->process.clock) >= relaxed_load(&self->session.renew_at_ns);
    int rc = due ? session_renew(&self->session) : SAP_OK;
    return rc == SAP_FENCED ? rc : effects_step_code(rc);
}

/* ---- The log of a world ---------------------------------------------------------------------- */

int effect_log_read(SapStoreTxn *txn, uint32_t world, uint64_t first, LogOp op, void *ctx,
                    HeadRow *head_out)
{
    UniverseName name = effects_world_name(world);
    RowKey key;
    row_key_world(&key, WIT_DBI_HEAD, EFFECT_UNIVERSE, &name);
    int rc = head_row_get(txn, &key, head_out);
    if (rc == SAP_NOTFOUND) {
        *head_out = (HeadRow){0};
        return SAP_OK;
    }
    for (uint64_t height = first; rc == SAP_OK && height <= head_out->height; height++) {
        Slice val = {0};
        WitUniverseDbi20JournalValue entry;
        row_key_journal(&key, EFFECT_UNIVERSE, &name, height, 0);
        rc = universe_get(txn, &key, &val);
        SAP_ASSERT(rc != SAP_NOTFOUND);
        rc = rc == SAP_OK ? wit_universe_dbi20_journal_value_decode(val.data, val.len, &entry, NULL)
                          : rc;
        if (rc == SAP_OK) {
            for (uint32_t at = 0; at < entry.content.len; at += LOG_OP_SIZE) {
                op(ctx, height, (LogOpKind)entry.content.data[at],
                   load_u32be(entry.content.data + at + 1));
            }
            wit_universe_dbi20_journal_value_free(&entry);
        }
    }
    return rc;
}

static void close_intent(Held *held, uint32_t number)
{
    for (uint32_t i = 0; i < held->open_count; i++) {
        if (held->open[i] == number) {
            held->open[i] = held->open[--held->open_count];
            return;
        }
    }
}

bool effects_is_open(const Held *held, uint32_t number)
{
    for (uint32_t i = 0; i < held->open_count; i++) {
        if (held->open[i] == number) {
            return true;
        }
    }
    return false;
}

static void apply_op(void *ctx, uint64_t height, LogOpKind kind, uint32_t number)
{
    Held *held = (Held *)ctx;
    (void)height;
    if (kind == OP_PUBLISH || kind == OP_ARM) {
        held->open[held->open_count++] = number;
    } else {
        close_intent(held, number);
    }
}

int effects_load_world(SapStoreTxn *txn, uint32_t world, Held *held)
{
    UniverseName name = effects_world_name(world);
    RowKey key;
    WitUniverseDbi21WorldMetaValue meta;
    row_key_world(&key, WIT_DBI_WORLD_META, EFFECT_UNIVERSE, &name);
    int rc = meta_row_get(txn, &key, &meta);
    if (rc != SAP_OK) {
        return rc;
    }
    uint64_t born = meta.born_height;
    wit_universe_dbi21_world_meta_value_free(&meta);
    held->open_count = 0;
    return effect_log_read(txn, world, born + 1, apply_op, held, &held->head);
}

/* ---- A cycle of the holder ------------------------------------------------------------------- */

typedef struct Cycle {
    Party *self;
    uint32_t world;
    Held *held;
    HeadRow next;
    WriteSet writes;
    Buf ops;
    IntentCancel cancels[CANCELS_AT_ONCE];
    uint32_t cancel_count;
    EffectsCounts counts;
} Cycle;

static int note_op(Cycle *cycle, LogOpKind kind, uint32_t number)
{
    uint8_t op[LOG_OP_SIZE] = {(uint8_t)kind};
    store_u32be(op + 1, number);
    return buf_append(&cycle->ops, op, sizeof op);
}

/* Hints are read before the inbox, and one is put if items remain. */
static int take_hints(Cycle *cycle, SapStoreTxn *txn)
{
    UniverseName name = effects_world_name(cycle->world);
    RowKey prefix;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    row_key_universe(&prefix, WIT_DBI_READY, EFFECT_UNIVERSE);
    row_range(&prefix, &to, &range);
    int rc = sap_store_scan(txn, &range, false, HINTS_AT_ONCE, &rows, &count);
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        WitUniverseDbi39ReadyKey key;
        RowKey hint;
        rc = wit_universe_dbi39_ready_key_decode(rows[i].key, rows[i].key_len, &key, NULL);
        if (rc != SAP_OK) {
            break;
        }
        bool own = key.world.len == name.len && memcmp(key.world.data, name.text, name.len) == 0;
        wit_universe_dbi39_ready_key_free(&key);
        rc = own ? row_key_copy(&hint, WIT_DBI_READY, rows[i].key, rows[i].key_len) : SAP_OK;
        rc = rc == SAP_OK && own ? writes_add(&cycle->writes, ROW_DEL, &hint, (Slice){"", 0}) : rc;
    }
    return rc;
}

static int consume_item(Cycle *cycle, const SapStoreRow *row)
{
    RowKey key;
    WitUniverseDbi24WorldInboxValue val;
    int rc = row_key_copy(&key, WIT_DBI_WORLD_INBOX, row->key, row->key_len);
    rc = rc == SAP_OK
             ? wit_universe_dbi24_world_inbox_value_decode(row->val, row->val_len, &val, NULL)
             : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    uint32_t number = load_u32be(val.item.hash.data);
    cycle->counts.consumed++;
    cycle->counts.duplicates += !effects_is_open(cycle->held, number);
    rc = writes_add(&cycle->writes, ROW_DEL_MUST, &key, (Slice){"", 0});
    if (rc == SAP_OK && val.item.kind == WIT_UNIVERSE_ITEM_KIND_RECEIPT) {
        rc = effects_consume(&cycle->writes, EFFECT_UNIVERSE, val.item.hash.data);
    }
    wit_universe_dbi24_world_inbox_value_free(&val);
    return rc == SAP_OK ? note_op(cycle, OP_CONSUME, number) : rc;
}

static int consume_inbox(Cycle *cycle, SapStoreTxn *txn)
{
    UniverseName name = effects_world_name(cycle->world);
    RowKey prefix;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    RowKey hint;
    uint8_t seq[UNIVERSE_SEQ];
    row_key_world(&prefix, WIT_DBI_WORLD_INBOX, EFFECT_UNIVERSE, &name);
    row_range(&prefix, &to, &range);
    int rc = sap_store_scan(txn, &range, false, ITEMS_AT_ONCE + 1, &rows, &count);
    for (uint32_t i = 0; rc == SAP_OK && i < count && i < ITEMS_AT_ONCE; i++) {
        rc = consume_item(cycle, &rows[i]);
    }
    if (rc == SAP_OK && count > ITEMS_AT_ONCE) {
        producer_next(&cycle->self->producer, cycle->self->process.store, seq);
        row_key_ready(&hint, EFFECT_UNIVERSE, 0, seq, &name);
        rc = writes_add(&cycle->writes, ROW_PUT, &hint, (Slice){"", 0});
    }
    return rc;
}

static bool was_noted(const Cycle *cycle, uint32_t number)
{
    for (size_t at = 0; at < cycle->ops.len; at += LOG_OP_SIZE) {
        if (load_u32be(cycle->ops.data + at + 1) == number) {
            return true;
        }
    }
    return false;
}

/* What it waited for is not wanted any more: one that has not been consumed in this very cycle. */
static int cancel_some(Cycle *cycle)
{
    const Held *held = cycle->held;
    bool one = cycle->self->outside->plan.one_intent;
    uint64_t chance = one ? 3 : 5;
    int rc = SAP_OK;
    while (rc == SAP_OK && cycle->cancel_count < CANCELS_AT_ONCE && held->open_count > 0 &&
           effects_draw(cycle->self, chance) == 0) {
        uint32_t number = held->open[effects_draw(cycle->self, held->open_count)];
        const Intent *intent = &cycle->self->outside->intents[number];
        /* What nobody serves takes a minute to end. */
        bool patient =
            !intent->timer && intent->kind == KIND_NOBODY && effects_draw(cycle->self, 16) != 0;
        if (patient || was_noted(cycle, number)) {
            continue;
        }
        IntentCancel *cancel = &cycle->cancels[cycle->cancel_count++];
        *cancel = (IntentCancel){.of = intent->timer ? CANCEL_TIMER : CANCEL_EFFECT};
        intent_hash(number, cancel->hash);
        cycle->counts.cancelled++;
        rc = note_op(cycle, OP_CANCEL, number);
    }
    return rc;
}

static int publish_effect(Cycle *cycle, uint32_t number, Intent *intent)
{
    static const uint8_t policy_hash[UNIVERSE_DIGEST];
    UniverseName name = effects_world_name(cycle->world);
    const char *kind = effect_kind_names[intent->kind];
    SapStore *store = cycle->self->process.store;
    uint8_t hash[UNIVERSE_DIGEST];
    uint8_t params[4];
    uint8_t seq[UNIVERSE_SEQ];
    uint64_t now_ns = sap_store_lease_ns(store);
    intent_hash(number, hash);
    store_u32be(params, number);
    producer_next(&cycle->self->producer, store, seq);
    WitUniverseEffect effect = {
        .world = lend_name(&name),
        .height = cycle->held->head.height + 1,
        .intent_hash = lend_bytes(hash, sizeof hash),
        .kind = lend_bytes(kind, strlen(kind)),
        .encoding = WIT_UNIVERSE_ENCODING_RAW,
        .params = lend_bytes(params, sizeof params),
        .policy_context_hash = lend_bytes(policy_hash, sizeof policy_hash),
        .enqueued_at_ns = now_ns,
    };
    intent->due_ns = now_ns + effects_draw(cycle->self, 3) * SECOND_NS;
    cycle->counts.published++;
    int rc = effects_publish(&cycle->writes, EFFECT_UNIVERSE, &effect, intent->due_ns, seq);
    return rc == SAP_OK ? note_op(cycle, OP_PUBLISH, number) : rc;
}

static int arm_timer(Cycle *cycle, uint32_t number, Intent *intent)
{
    SapStore *store = cycle->self->process.store;
    uint64_t delay_ns = effects_draw(cycle->self, 20) * SECOND_NS;
    TimerIntent timer = {.world = effects_world_name(cycle->world),
                         .height = cycle->held->head.height + 1,
                         .encoding = WIT_UNIVERSE_ENCODING_RAW};
    bool by_lease = effects_draw(cycle->self, 2) == 0;
    timer.clock = by_lease ? WIT_UNIVERSE_TIMER_CLOCK_LEASE : WIT_UNIVERSE_TIMER_CLOCK_DUE;
    timer.at_ns = by_lease ? timer_after(store, delay_ns) : sap_store_due_ns(store) + delay_ns;
    intent_hash(number, timer.hash);
    intent->clock = timer.clock;
    intent->at_ns = timer.at_ns;
    cycle->counts.armed++;
    int rc = timers_arm(&cycle->writes, EFFECT_UNIVERSE, &timer);
    return rc == SAP_OK ? note_op(cycle, OP_ARM, number) : rc;
}

static int publish_some(Cycle *cycle)
{
    Outside *outside = cycle->self->outside;
    bool one = outside->plan.one_intent;
    uint32_t most = one ? MOST_ALONE : MOST_INTENTS;
    uint64_t wanted = one ? cycle->held->open_count == 0 : effects_draw(cycle->self, 3);
    int rc = SAP_OK;
    for (uint64_t i = 0; rc == SAP_OK && i < wanted && outside->intent_count < most; i++) {
        uint32_t number = outside->intent_count++;
        Intent *intent = &outside->intents[number];
        intent->world = (uint8_t)cycle->world;
        intent->timer = effects_draw(cycle->self, one ? 8 : 3) == 0;
        intent->kind = (uint8_t)effects_draw(
            cycle->self, effects_draw(cycle->self, one ? 2 : 4) == 0 ? KINDS : KIND_NOBODY);
        rc = intent->timer ? arm_timer(cycle, number, intent)
                           : publish_effect(cycle, number, intent);
    }
    return rc;
}

static int write_log(Cycle *cycle)
{
    UniverseName name = effects_world_name(cycle->world);
    const HeadRow *head = &cycle->held->head;
    WitUniverseDbi20JournalValue entry = {cycle->held->lease.epoch, 1,
                                          lend_bytes(cycle->ops.data, cycle->ops.len)};
    DigestState state;
    Digest digest;
    RowKey key;
    Buf val = {0};
    cycle->next = (HeadRow){.height = head->height + 1};
    digest_init(&state);
    digest_update(&state, head->digest, sizeof head->digest);
    digest_update(&state, cycle->ops.data, cycle->ops.len);
    digest_final(&state, &digest);
    memcpy(cycle->next.digest, digest.bytes, sizeof cycle->next.digest);
    row_key_journal(&key, EFFECT_UNIVERSE, &name, cycle->next.height, 0);
    int rc = wit_universe_dbi20_journal_value_encode(&entry, &val, NULL);
    rc = rc == SAP_OK ? writes_add(&cycle->writes, ROW_PUT, &key, (Slice){val.data, val.len}) : rc;
    buf_clear(&val);
    row_key_world(&key, WIT_DBI_HEAD, EFFECT_UNIVERSE, &name);
    rc = rc == SAP_OK ? head_row_encode(&cycle->next, &val) : rc;
    rc = rc == SAP_OK ? writes_add(&cycle->writes, ROW_PUT, &key, (Slice){val.data, val.len}) : rc;
    buf_release(&val);
    return rc;
}

static int cycle_body(SapStoreTxn *store_txn, void *ctx)
{
    const Cycle *cycle = (const Cycle *)ctx;
    WriteSet *set = (WriteSet *)&((Cycle *)ctx)->writes;
    UniverseTxn txn;
    UniverseGuard guards[2 + INTENT_CANCEL_GUARDS * CANCELS_AT_ONCE];
    HeadRow head = {0};
    guards[0] = (UniverseGuard){cycle->held->lease.key, true};
    guards[1].exclusive = true;
    row_key_world(&guards[1].key, WIT_DBI_HEAD, EFFECT_UNIVERSE, &cycle->held->lease.name);
    uint32_t count =
        2 + intents_cancel_guards(EFFECT_UNIVERSE, cycle->cancels, cycle->cancel_count, &guards[2]);
    int rc = universe_txn_start(&txn, store_txn, PARTY_HOLDER, guards, count, NULL, 0);
    rc = rc == SAP_OK ? lease_stands(&cycle->held->lease, store_txn) : rc;
    rc = rc == SAP_OK ? head_row_get(store_txn, &guards[1].key, &head) : rc;
    rc = rc == SAP_NOTFOUND ? SAP_OK : rc;
    if (rc == SAP_OK && memcmp(&head.digest, cycle->held->head.digest, sizeof head.digest) != 0) {
        rc = SAP_FENCED;
    }
    rc = rc == SAP_OK ? writes_apply(&set, 1, &txn) : rc;
    return rc == SAP_OK
               ? intents_cancel_apply(&txn, EFFECT_UNIVERSE, cycle->cancels, cycle->cancel_count)
               : rc;
}

/* Submits the transaction until no intent moves away from under its cancel. */
static int submit_cycle(Cycle *cycle)
{
    enum { TRIES = 8 };
    bool unknown = false;
    int rc = SAP_CONFLICT;
    for (int i = 0; i < TRIES && rc == SAP_CONFLICT; i++) {
        SapStore *store = cycle->self->process.store;
        rc = intents_cancel_find(store, EFFECT_UNIVERSE, cycle->cancels, cycle->cancel_count);
        rc = rc == SAP_OK ? sap_store_run(store, SAP_STORE_GUARDED, cycle_body, cycle, &unknown)
                          : rc;
    }
    Held *held = cycle->held;
    if (rc == SAP_OK) {
        for (size_t at = 0; at < cycle->ops.len; at += LOG_OP_SIZE) {
            apply_op(held, 0, (LogOpKind)cycle->ops.data[at], load_u32be(cycle->ops.data + at + 1));
        }
        held->head = cycle->next;
        effects_counts_add(&cycle->self->outside->counts, &cycle->counts);
    }
    held->loaded = held->loaded && !unknown; /* the log says whether it happened */
    if (rc == SAP_FENCED) {
        held->lease.epoch = 0;
        held->loaded = false;
    }
    return rc;
}

/* Takes and loads the world, and reads what waits. */
static int open_cycle(Cycle *cycle)
{
    Party *self = cycle->self;
    Held *held = cycle->held;
    UniverseName name = effects_world_name(cycle->world);
    SapStoreTxn *txn = NULL;
    int rc = SAP_OK;
    if (held->lease.epoch == 0 || !held->loaded) {
        held->loaded = false;
        rc = lease_acquire_world(&self->session, &name, NULL, &held->lease);
    }
    rc = rc == SAP_OK ? sap_store_begin(self->process.store, SAP_STORE_READ_NEWEST, &txn) : rc;
    if (rc == SAP_OK && !held->loaded) {
        rc = effects_load_world(txn, cycle->world, held);
        held->loaded = rc == SAP_OK;
    }
    rc = rc == SAP_OK ? take_hints(cycle, txn) : rc;
    rc = rc == SAP_OK ? consume_inbox(cycle, txn) : rc;
    sap_store_abort(txn);
    return rc;
}

static int step_holder(void *ctx, uint64_t now_ns)
{
    Party *self = (Party *)ctx;
    Cycle cycle = {.self = self};
    (void)now_ns;
    int rc = renew_session(self);
    if (rc != SAP_OK) {
        return rc;
    }
    cycle.world = self->outside->plan.one_intent ? 0 : (uint32_t)effects_draw(self, EFFECT_WORLDS);
    cycle.held = &self->held[cycle.world];
    rc = session_may_work(&self->session) ? open_cycle(&cycle) : SAP_BUSY;
    rc = rc == SAP_OK ? cancel_some(&cycle) : rc;
    rc = rc == SAP_OK ? publish_some(&cycle) : rc;
    if (rc == SAP_OK && cycle.ops.len > 0) {
        rc = write_log(&cycle);
        rc = rc == SAP_OK ? submit_cycle(&cycle) : rc;
    }
    /* It is given back now and then, so that others run the world too. */
    if (rc == SAP_OK && effects_draw(self, 8) == 0) {
        (void)lease_release(&cycle.held->lease, NULL);
        *cycle.held = (Held){0};
    }
    writes_release(&cycle.writes);
    buf_release(&cycle.ops);
    return effects_step_code(rc);
}

/* ---- The outside ----------------------------------------------------------------------------- */

/* A call under way in the outside. */
typedef struct OutsideCall {
    uint32_t number;
    uint32_t attempt;
    uint64_t done_at_ns; /* UINT64_MAX: never */
    EffectVerdict verdict;
} OutsideCall;

static int start_outside(void *ctx, const EffectCall *call, void **handle_out)
{
    Party *self = (Party *)ctx;
    OutsideCall *made = NULL;
    uint32_t number = load_u32be(call->effect->params.data);
    uint64_t longest_s = self->outside->intents[number].kind == KIND_SLOW ? 40 : 4;
    if (effects_draw(self, 20) == 0) {
        return SAP_BUSY;
    }
    made = (OutsideCall *)mem_zalloc(MEM_UNIVERSE, sizeof *made);
    if (made == NULL) {
        return SAP_NOMEM;
    }
    uint64_t fate = effects_draw(self, 20);
    *made = (OutsideCall){number, call->attempt, UINT64_MAX, EFFECT_OK};
    if (fate > 0) {
        made->done_at_ns =
            clock_boot_ns(self->process.clock) + effects_draw(self, longest_s) * SECOND_NS;
        made->verdict = fate < 3 ? EFFECT_ERROR : fate < 9 ? EFFECT_RETRY : EFFECT_OK;
    }
    if (simulator_alive(self->process.simulator)) {
        effects_check_begun(self->outside, self->process.simulator, call);
    }
    *handle_out = made;
    return SAP_OK;
}

static int poll_outside(void *ctx, void *handle, EffectResult *result, bool *done_out)
{
    const Party *self = (const Party *)ctx;
    OutsideCall *call = (OutsideCall *)handle;
    uint8_t payload[8];
    if (clock_boot_ns(self->process.clock) < call->done_at_ns) {
        return SAP_OK;
    }
    store_u32be(payload, call->number);
    store_u32be(payload + 4, call->attempt);
    *result = (EffectResult){.verdict = call->verdict, .encoding = SAP_ENCODING_RAW};
    (void)snprintf(result->code, sizeof result->code, "%s",
                   call->verdict == EFFECT_OK ? "" : "no_luck");
    *done_out = true;
    mem_free(MEM_UNIVERSE, call, sizeof *call);
    return buf_append(&result->payload, payload, sizeof payload);
}

static void cancel_outside(void *ctx, void *handle)
{
    (void)ctx;
    mem_free(MEM_UNIVERSE, handle, sizeof(OutsideCall));
}

static int open_adapter(Party *self)
{
    AdapterKind kinds[KINDS - 1]; /* nobody serves the last */
    for (int i = 0; i < KINDS - 1; i++) {
        kinds[i] = (AdapterKind){.kind = effect_kind_names[i],
                                 .ctx = self,
                                 .start = start_outside,
                                 .poll = poll_outside,
                                 .cancel = cancel_outside,
                                 .at_most_once = i == KIND_ONCE,
                                 .policy = {.attempts = 4,
                                            .cap_ns = 3 * SECOND_NS,
                                            .timeout_ns = (i == KIND_SLOW ? 60 : 8) * SECOND_NS}};
    }
    return adapter_open(&self->session, &self->producer, self->process.random, kinds, KINDS - 1,
                        &self->adapter);
}

static int step_adapter(void *ctx, uint64_t now_ns)
{
    Party *self = (Party *)ctx;
    EffectsCounts *counts = &self->outside->counts;
    bool busy = false;
    (void)now_ns;
    int rc = renew_session(self);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = adapter_step(self->adapter, &busy);
    AdapterStats now = adapter_stats(self->adapter);
    AdapterStats *old = &self->adapter_counted;
    counts->begun += now.started - old->started;
    counts->cancels_heard += now.cancelled - old->cancelled;
    counts->retries += now.retries - old->retries;
    counts->dropped += now.dropped - old->dropped;
    *old = now;
    return effects_step_code(rc);
}

static int step_reaper(void *ctx, uint64_t now_ns)
{
    Party *self = (Party *)ctx;
    EffectsCounts *counts = &self->outside->counts;
    const EffectReaperStats *now = &self->reaper.stats;
    EffectReaperStats *old = &self->reaper_counted;
    bool busy = false;
    (void)now_ns;
    int rc = effect_reaper_step(&self->reaper, &busy);
    counts->returned += now->returned - old->returned;
    counts->timeouts += now->timeouts - old->timeouts;
    counts->unserved += now->unserved - old->unserved;
    counts->dropped += now->dropped - old->dropped;
    *old = *now;
    return effects_step_code(rc);
}

static int step_timers(void *ctx, uint64_t now_ns)
{
    Party *self = (Party *)ctx;
    EffectsCounts *counts = &self->outside->counts;
    const TimerStats *now = &self->timers.stats;
    TimerStats *old = &self->timers_counted;
    bool busy = false;
    (void)now_ns;
    int rc = timer_worker_step(&self->timers, &busy);
    counts->fired += now->fired - old->fired;
    counts->dropped += now->dropped - old->dropped;
    *old = *now;
    return effects_step_code(rc);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static void free_party(Party *self)
{
    adapter_close(self->adapter);
    effect_reaper_release(&self->reaper);
    producer_release(&self->producer);
    session_release(&self->session);
    mem_free(MEM_UNIVERSE, self, sizeof *self);
}

static int start_party(void *ctx, const SimulatorProcess *process, SimulatorRoles *roles_out)
{
    char name[16];
    Party *self = (Party *)mem_zalloc(MEM_UNIVERSE, sizeof *self);
    if (self == NULL) {
        return SAP_NOMEM;
    }
    self->outside = (Outside *)ctx;
    self->process = *process;
    (void)snprintf(name, sizeof name, "node-%u", process->node);
    int rc = session_init(&self->session, process->store, process->clock, process->random,
                          EFFECT_UNIVERSE, name);
    rc = rc == SAP_OK ? producer_init(&self->producer, self->session.nonce) : rc;
    if (rc != SAP_OK) {
        session_release(&self->session);
        mem_free(MEM_UNIVERSE, self, sizeof *self);
        return rc;
    }
    effect_reaper_init(&self->reaper, &self->session, &self->producer);
    timer_worker_init(&self->timers, process->store, EFFECT_UNIVERSE, &self->producer);
    rc = session_start(&self->session);
    rc = rc == SAP_OK ? open_adapter(self) : rc;
    if (rc != SAP_OK) {
        free_party(self);
        return rc;
    }
    *roles_out = (SimulatorRoles){
        .state = self,
        .count = 5,
        .roles = {{"holder", step_holder, self},
                  {"adapter", step_adapter, self},
                  {"reaper", step_reaper, self},
                  {"timers", step_timers, self},
                  {"operator", effects_step_operator, self}},
    };
    return SAP_OK;
}

static void stop_party(void *ctx, void *state)
{
    (void)ctx;
    free_party((Party *)state);
}

int effects_simulate(uint64_t seed, const EffectsPlan *plan,
                     void (*print)(void *ctx, const char *line), void *print_ctx,
                     SimulatorReport *report_out, EffectsCounts *counts_out)
{
    SimulatorOptions options;
    Outside *outside = (Outside *)mem_zalloc(MEM_UNIVERSE, sizeof *outside);
    if (outside == NULL) {
        return SAP_NOMEM;
    }
    outside->plan = *plan;
    simulator_options_init(&options);
    options.ctx = outside;
    options.tables = universe_tables(&options.table_count);
    options.node_count = EFFECT_NODES;
    options.start = start_party;
    options.stop = stop_party;
    options.check = effects_check_commit;
    options.check_commits = true;
    options.check_end = effects_check_end;
    /* So that more than half of all claims come to their end. */
    options.per_million[SIMULATOR_CRASH] = 600;
    options.per_million[SIMULATOR_REBOOT] = 150;
    options.per_million[SIMULATOR_POWER_CUT] = 150;
    options.per_million[SIMULATOR_STALL] = 1000;
    options.per_million[SIMULATOR_PARTITION] = 500;
    options.steps = STEPS;
    options.settle_steps = SETTLE_STEPS;
    options.pass_ms = PASS_MS;
    options.print = print;
    options.print_ctx = print_ctx;
    int rc = simulator_run(&options, seed, report_out);
    *counts_out = outside->counts;
    mem_free(MEM_UNIVERSE, outside, sizeof *outside);
    return rc;
}
