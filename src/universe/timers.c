/* timers.c - see timers.h. */
#include "universe/timers.h"

#include "common/assert.h"
#include "common/mem.h"
#include "store/store_impl.h"
#include "universe/fabric.h"
#include "universe/ingress.h"
#include "universe/promises.h"

enum {
    FIRED_OF_CLOCK = 10, /* so that the timers of one clock hold up none of the other */
    FIRED_AT_ONCE = TIMER_CLOCKS * FIRED_OF_CLOCK,
    FIRING_GUARDS = 2,
    GUARD_META = 0,
    GUARD_DUE,
};

#define DAMAGED_WAIT_NS UINT64_C(100000000)
#define MOST_NS         ((uint64_t)INT64_MAX - 1) /* the clocks of the store stay below 2^63 */

/* ---- In a cycle ------------------------------------------------------------------------------ */

uint64_t timer_after(SapStore *store, uint64_t delay_ns)
{
    uint64_t now_ns = sap_store_lease_ns(store);
    return delay_ns < MOST_NS - now_ns ? now_ns + delay_ns : MOST_NS;
}

int timers_arm(WriteSet *writes, uint32_t universe, const TimerIntent *timer)
{
    RowKey due;
    RowKey key;
    Buf val = {0};
    WitUniverseDbi37TimersDueValue fields = {
        .world = lend_name(&timer->world),
        .height = timer->height,
        .ref = lend_bytes(timer->ref.data, timer->ref.len),
        .encoding = timer->encoding,
        .payload = lend_bytes(timer->payload.data, timer->payload.len),
        .use = timer->use,
        .correlation_id = timer->correlation_id,
        .trace_parent = timer->trace_parent,
    };
    SAP_ASSERT(timer->at_ns <= MOST_NS && timer->payload.len <= UNIVERSE_INLINE_MAX);
    row_key_timer(&due, universe, timer->clock, timer->at_ns, timer->hash);
    int rc = wit_universe_dbi37_timers_due_value_encode(&fields, &val, NULL);
    SAP_ASSERT(rc != SAP_INVALID);
    rc = rc == SAP_OK ? writes_add(writes, ROW_PUT, &due, (Slice){val.data, val.len}) : rc;
    buf_clear(&val);
    WitUniverseDbi38TimersDedupeValue named = {lend_bytes(due.bytes, due.len)};
    row_key_dedupe(&key, WIT_DBI_TIMERS_DEDUPE, universe, timer->hash);
    rc = rc == SAP_OK ? wit_universe_dbi38_timers_dedupe_value_encode(&named, &val, NULL) : rc;
    rc = rc == SAP_OK ? writes_add(writes, ROW_PUT_NEW, &key, (Slice){val.data, val.len}) : rc;
    buf_release(&val);
    return rc;
}

void timer_promise(const WitUniverseDbi37TimersDueValue *due, uint32_t universe,
                   RowKey *promise_out)
{
    promise_out->len = 0;
    if (due->use == WIT_UNIVERSE_TIMER_USE_PROMISE && due->payload.len == UNIVERSE_DIGEST) {
        row_key_promise(promise_out, universe, due->payload.data);
    }
}

/* ---- What is due ----------------------------------------------------------------------------- */

/* A timer that was read before the transaction that fires it. */
typedef struct Firing {
    RowKey due;
    uint8_t hash[UNIVERSE_DIGEST];
    UniverseName world;
    uint8_t seq[UNIVERSE_SEQ];
    int clock;
    RowKey promise; /* whose time it is; len 0: none's */
} Firing;

typedef struct Firings {
    TimerWorker *worker;
    Firing *list;
    uint32_t count;
    uint64_t time_ns;        /* due time */
    bool full[TIMER_CLOCKS]; /* there may be more of the clock that are due */
    TimerStats stats;        /* of one run */
} Firings;

void timer_worker_init(TimerWorker *worker, SapStore *store, uint32_t universe, Producer *producer)
{
    *worker = (TimerWorker){
        .store = store, .producer = producer, .universe = universe, .wait_ns = UINT64_MAX};
}

static int note_due(Firings *firings, const SapStoreRow *row, int clock)
{
    Firing *firing = &firings->list[firings->count];
    WitUniverseDbi37TimersDueKey key;
    WitUniverseDbi37TimersDueValue val;
    int rc = row_key_copy(&firing->due, WIT_DBI_TIMERS_DUE, row->key, row->key_len);
    rc = rc == SAP_OK ? row_decode_code(wit_universe_dbi37_timers_due_key_decode(
                            row->key, row->key_len, &key, NULL))
                      : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    memcpy(firing->hash, key.intent_hash.data, UNIVERSE_DIGEST);
    wit_universe_dbi37_timers_due_key_free(&key);
    rc = row_decode_code(
        wit_universe_dbi37_timers_due_value_decode(row->val, row->val_len, &val, NULL));
    if (rc == SAP_OK) {
        universe_name_copy(&firing->world, &val.world);
        firing->clock = clock;
        timer_promise(&val, firings->worker->universe, &firing->promise);
        wit_universe_dbi37_timers_due_value_free(&val);
        producer_next(firings->worker->producer, firings->worker->store, firing->seq);
        firings->count++;
    }
    return rc;
}

/* The time from now_ns until the first timer of the clock that is not due; those that are due were read, or
 * are damaged. */
static int note_next(TimerWorker *worker, SapStoreTxn *txn, WitUniverseTimerClock clock,
                     uint64_t now_ns)
{
    RowSpan span;
    RowSpan due;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    WitUniverseDbi37TimersDueKey key;
    row_span_timers(&due, worker->universe, clock, now_ns);
    row_span_timers(&span, worker->universe, clock, MOST_NS);
    span.from = due.to;
    span.range.from_len = span.from.len;
    int rc = sap_store_scan(txn, &span.range, false, 1, &rows, &count);
    if (rc != SAP_OK || count == 0) {
        return rc;
    }
    rc = row_decode_code(
        wit_universe_dbi37_timers_due_key_decode(rows[0].key, rows[0].key_len, &key, NULL));
    if (rc == SAP_OK) {
        uint64_t wait_ns = key.deliver_at_ns > now_ns ? key.deliver_at_ns - now_ns : 0;
        worker->wait_ns = wait_ns < worker->wait_ns ? wait_ns : worker->wait_ns;
        wit_universe_dbi37_timers_due_key_free(&key);
    }
    return rc;
}

static int first_due_age(SapStoreTxn *txn, const RowSpan *due, uint64_t now_ns,
                         uint64_t *age_ns_out)
{
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    WitUniverseDbi37TimersDueKey key;
    int rc = sap_store_scan(txn, &due->range, false, 1, &rows, &count);
    if (rc != SAP_OK || count == 0) {
        return rc;
    }
    rc = wit_universe_dbi37_timers_due_key_decode(rows[0].key, rows[0].key_len, &key, NULL);
    if (rc == SAP_OK) {
        uint64_t age_ns = now_ns > key.deliver_at_ns ? now_ns - key.deliver_at_ns : 0;
        *age_ns_out = age_ns > *age_ns_out ? age_ns : *age_ns_out;
        wit_universe_dbi37_timers_due_key_free(&key);
    }
    return rc == SAP_INVALID ? SAP_OK : rc; /* a damaged row says nothing */
}

int timers_due_age(SapStore *store, uint32_t universe, uint64_t *age_ns_out)
{
    const uint64_t lease_ns = sap_store_lease_ns(store);
    const uint64_t due_ns = sap_store_due_ns(store);
    SapStoreTxn *txn = NULL;
    RowSpan lease;
    RowSpan due;
    *age_ns_out = 0;
    row_span_timers(&lease, universe, WIT_UNIVERSE_TIMER_CLOCK_LEASE, lease_ns);
    row_span_timers(&due, universe, WIT_UNIVERSE_TIMER_CLOCK_DUE, due_ns);
    int rc = sap_store_begin(store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? first_due_age(txn, &lease, lease_ns, age_ns_out) : rc;
    rc = rc == SAP_OK ? first_due_age(txn, &due, due_ns, age_ns_out) : rc;
    sap_store_abort(txn);
    return rc;
}

/* Rows of a clock that are due; the next look goes on after them if one of them is damaged. */
static int find_due_of(Firings *firings, SapStoreTxn *txn, int clock, const RowSpan *span,
                       bool *more_out)
{
    RowKey *from = &firings->worker->from[clock];
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    uint64_t damaged = firings->worker->stats.damaged;
    int rc = sap_store_scan(txn, &span->range, false, FIRED_OF_CLOCK, &rows, &count);
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        rc = note_due(firings, &rows[i], clock);
        firings->worker->stats.damaged += rc == SAP_CORRUPT;
        rc = rc == SAP_CORRUPT ? SAP_OK : rc;
    }
    firings->full[clock] = count == FIRED_OF_CLOCK;
    bool passes = from->len > 0 || firings->worker->stats.damaged > damaged;
    from->len = 0;
    if (rc == SAP_OK && passes && count == FIRED_OF_CLOCK) {
        from->table = WIT_DBI_TIMERS_DUE;
        row_key_after(from, &rows[count - 1]);
        *more_out = true;
    }
    return rc;
}

/* Newest: the firing's commit waits for what it read. *more_out: damaged rows were passed over, and there are
 * others after them. */
static int find_due(Firings *firings, bool *more_out)
{
    TimerWorker *worker = firings->worker;
    static const WitUniverseTimerClock clocks[TIMER_CLOCKS] = {WIT_UNIVERSE_TIMER_CLOCK_LEASE,
                                                               WIT_UNIVERSE_TIMER_CLOCK_DUE};
    const uint64_t now_ns[TIMER_CLOCKS] = {sap_store_lease_ns(worker->store), firings->time_ns};
    SapStoreTxn *txn = NULL;
    int rc = sap_store_begin(worker->store, SAP_STORE_READ_NEWEST, &txn);
    worker->wait_ns = UINT64_MAX;
    for (int i = 0; rc == SAP_OK && i < TIMER_CLOCKS; i++) {
        RowSpan span;
        row_span_timers(&span, worker->universe, clocks[i], now_ns[i]);
        if (worker->from[i].len > 0) {
            span.from = worker->from[i];
            span.range.from_len = span.from.len;
        }
        rc = find_due_of(firings, txn, i, &span, more_out);
        if (rc == SAP_OK && firings->count == 0) {
            rc = note_next(worker, txn, clocks[i], now_ns[i]);
        }
    }
    worker->version = sap_store_version(txn);
    sap_store_abort(txn);
    return rc;
}

/* ---- Firing ---------------------------------------------------------------------------------- */

void timer_item(const WitUniverseDbi37TimersDueValue *due, const uint8_t hash[UNIVERSE_DIGEST],
                uint64_t time_ns, WitUniverseInboxItem *item_out)
{
    bool own = due->use == WIT_UNIVERSE_TIMER_USE_TIMER;
    bool ask = due->use == WIT_UNIVERSE_TIMER_USE_ASK;
    static const char nothing[] = "null";
    *item_out = (WitUniverseInboxItem){
        .kind = WIT_UNIVERSE_ITEM_KIND_TIMER,
        .hash = lend_bytes(hash, UNIVERSE_DIGEST),
        .ref = due->ref,
        .encoding = due->encoding,
        .payload = due->payload,
        .time_ns = time_ns,
        .correlation_id = due->correlation_id,
        .trace_parent = due->trace_parent,
    };
    if (!own) {
        item_out->kind = WIT_UNIVERSE_ITEM_KIND_TIMEOUT;
        item_out->name = ask ? lend_bytes(FABRIC_ASK, sizeof FABRIC_ASK - 1)
                             : lend_bytes(PROMISE_NAME, sizeof PROMISE_NAME - 1);
        item_out->status = WIT_UNIVERSE_RECEIPT_STATUS_TIMEOUT;
        item_out->code = lend_bytes("timeout", 7);
        item_out->encoding = WIT_UNIVERSE_ENCODING_JSON;
        item_out->payload = lend_bytes(nothing, sizeof nothing - 1);
    }
}

static int put_firing(const Firings *firings, UniverseTxn *txn, const Firing *firing, Slice val)
{
    WitUniverseDbi37TimersDueValue due;
    int rc =
        row_decode_code(wit_universe_dbi37_timers_due_value_decode(val.data, val.len, &due, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    IngressRequest request = {.world = firing->world,
                              .item_class = WIT_UNIVERSE_ITEM_CLASS_RECEIPT};
    timer_item(&due, firing->hash, firings->time_ns, &request.item);
    memcpy(request.seq, firing->seq, UNIVERSE_SEQ);
    rc = ingress_put_rows(txn, firings->worker->universe, &request);
    wit_universe_dbi37_timers_due_value_free(&due);
    return rc;
}

/* A promise whose time it is: *open_out, nobody has resolved it, and now nobody can. */
static int end_promise(UniverseTxn *txn, const Firing *firing, bool *open_out)
{
    if (firing->promise.len == 0) {
        return SAP_OK;
    }
    int rc = universe_del(txn, &firing->promise);
    *open_out = *open_out && rc == SAP_OK;
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* Under the guard of its due row: whoever finds it there decides what becomes of it. */
static int fire_one(Firings *firings, UniverseTxn *txn, const Firing *firing,
                    const UniverseGuard *guards)
{
    RowKey key;
    Slice val = {0};
    bool takes = false;
    int rc = universe_get(txn->txn, &firing->due, &val);
    if (rc == SAP_NOTFOUND) {
        firings->stats.gone++;
        return SAP_OK;
    }
    rc = rc == SAP_OK ? world_takes(txn->txn, &guards[GUARD_META].key, &takes) : rc;
    rc = rc == SAP_OK ? end_promise(txn, firing, &takes) : rc;
    rc = rc == SAP_OK && takes ? put_firing(firings, txn, firing, val) : rc;
    rc = rc == SAP_OK ? universe_del(txn, &firing->due) : rc;
    row_key_dedupe(&key, WIT_DBI_TIMERS_DEDUPE, firings->worker->universe, firing->hash);
    rc = rc == SAP_OK ? universe_del(txn, &key) : rc;
    firings->stats.fired += takes;
    firings->stats.dropped += !takes;
    return rc == SAP_NOTFOUND ? SAP_CORRUPT : rc; /* the two rows come and go together */
}

static int fire_body(SapStoreTxn *store_txn, void *ctx)
{
    Firings *firings = (Firings *)ctx;
    UniverseTxn txn;
    UniverseGuard guards[(FIRING_GUARDS + 1) * FIRED_AT_ONCE];
    uint32_t guard_count = FIRING_GUARDS * firings->count;
    firings->stats = (TimerStats){0};
    for (uint32_t i = 0; i < firings->count; i++) {
        UniverseGuard *own = &guards[FIRING_GUARDS * i];
        row_key_world(&own[GUARD_META].key, WIT_DBI_WORLD_META, firings->worker->universe,
                      &firings->list[i].world);
        own[GUARD_META].exclusive = false;
        own[GUARD_DUE] = (UniverseGuard){firings->list[i].due, true};
        if (firings->list[i].promise.len > 0) { /* after those of all firings */
            guards[guard_count++] = (UniverseGuard){firings->list[i].promise, true};
        }
    }
    int rc = universe_txn_start(&txn, store_txn, PARTY_TIMER, guards, guard_count, NULL, 0);
    for (uint32_t i = 0; rc == SAP_OK && i < firings->count; i++) {
        rc = fire_one(firings, &txn, &firings->list[i], &guards[FIRING_GUARDS * i]);
    }
    return rc;
}

static int fire_some(Firings *firings)
{
    TimerStats *stats = &firings->worker->stats;
    int rc = sap_store_run(firings->worker->store, SAP_STORE_GUARDED, fire_body, firings, NULL);
    if (rc == SAP_OK) {
        stats->fired += firings->stats.fired;
        stats->dropped += firings->stats.dropped;
        stats->gone += firings->stats.gone;
    }
    return rc;
}

/* One by one, since one of them is damaged, or its world is: that one stays. *more_out: another did not. */
static int fire_each(const Firings *firings, bool *more_out)
{
    int rc = SAP_OK;
    for (uint32_t i = 0; rc == SAP_OK && i < firings->count; i++) {
        Firings one = *firings;
        one.list = &firings->list[i];
        one.count = 1;
        rc = fire_some(&one);
        *more_out = *more_out || rc == SAP_OK;
        firings->worker->stats.damaged += rc == SAP_CORRUPT;
        rc = rc == SAP_CORRUPT ? SAP_OK : rc;
    }
    return rc;
}

/* Those that are due again after a pass over them are damaged: the next look goes on after them. */
static void pass_over(const Firings *firings)
{
    for (uint32_t i = 0; i < firings->count; i++) {
        const Firing *firing = &firings->list[i];
        RowKey *from = &firings->worker->from[firing->clock];
        if (firings->full[firing->clock]) {
            *from = firing->due;
            from->bytes[from->len++] = 0;
        }
    }
}

int timer_worker_step(TimerWorker *worker, bool *busy_out)
{
    Firings firings = {.worker = worker, .time_ns = sap_store_due_ns(worker->store)};
    *busy_out = false;
    worker->pokes = store_pokes(worker->store, STORE_POKE_CALL);
    firings.list = (Firing *)mem_alloc(MEM_UNIVERSE, FIRED_AT_ONCE * sizeof *firings.list);
    if (firings.list == NULL) {
        return SAP_NOMEM;
    }
    int rc = find_due(&firings, busy_out);
    if (rc == SAP_OK && firings.count > 0) {
        rc = fire_some(&firings);
        *busy_out = *busy_out || rc == SAP_OK;
        if (rc == SAP_CORRUPT) {
            worker->wait_ns = DAMAGED_WAIT_NS;
            pass_over(&firings);
            rc = fire_each(&firings, busy_out);
        }
    }
    mem_free(MEM_UNIVERSE, firings.list, FIRED_AT_ONCE * sizeof *firings.list);
    return rc;
}

int timer_worker_wait(TimerWorker *worker, uint64_t timeout_ns)
{
    RowKey key;
    row_key_universe(&key, WIT_DBI_TIMERS_DUE, worker->universe);
    SapStorePrefix prefix = {key.table, key.bytes, key.len};
    uint64_t wait_ns = worker->wait_ns < timeout_ns ? worker->wait_ns : timeout_ns;
    int rc = store_wait_poked(worker->store, SAP_STORE_READ_NEWEST, &prefix, worker->version,
                              STORE_POKE_CALL, worker->pokes, wait_ns);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}
