/* serve.c - timers and effects as roles of a worker, and what operators do about outstanding intents. */
#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/mem.h"
#include "common/options.h"
#include "universe/payload.h"
#include "universe/worker_impl.h"

#define LONGEST_PAUSE_NS UINT64_C(86400000000000) /* that an adapter can ask for */

OPTIONS_LAYOUT(SapEffectKind, max_per_s, max_per_s);
OPTIONS_LAYOUT(SapEffectAdapter, max_per_s, max_per_s);

/* ---- Kinds ----------------------------------------------------------------------------------- */

/* A kind, and the function or the adapter of the program that is behind it. */
typedef struct ServedKind {
    AdapterKind kind;
    EffectFunction room;
    SapEffectFunction function;
    void *ctx;
    SapEffectAdapter adapter;
} ServedKind;

/* In Serving.kinds. */
typedef struct ServedPlace {
    ServedKind *kind; /* owned */
} ServedPlace;

struct SapEffectResult {
    EffectResult *result;
    bool told;
    int refused; /* the first code of sap_effect_result() that was not SAP_OK */
};

static ServedKind *served_at(const Serving *serving, size_t index)
{
    ServedPlace place;
    memcpy(&place, serving->kinds.data + index * sizeof place, sizeof place);
    return place.kind;
}

static size_t served_count(const Serving *serving)
{
    return serving->kinds.len / sizeof(ServedPlace);
}

static int tell_result(EffectResult *out, SapReceiptStatus status, const char *code,
                       SapEncoding encoding, const void *payload, size_t len)
{
    if (status != SAP_RECEIPT_OK && status != SAP_RECEIPT_ERROR) {
        return SAP_ERROR;
    }
    if (!payload_text_valid(code, EFFECT_CODE_MAX)) {
        return SAP_INVALID;
    }
    if (len > SAP_WORLD_MAX_PAYLOAD) {
        return SAP_FULL;
    }
    buf_clear(&out->payload);
    int rc = payload_append_or_null(encoding, payload, len, &out->payload);
    rc = rc == SAP_OK && out->payload.len > SAP_WORLD_MAX_PAYLOAD ? SAP_FULL : rc;
    if (rc == SAP_OK) {
        out->verdict = status == SAP_RECEIPT_OK ? EFFECT_OK : EFFECT_ERROR;
        out->encoding = encoding;
        (void)snprintf(out->code, sizeof out->code, "%s", code == NULL ? "" : code);
    }
    return rc;
}

int sap_effect_result(SapEffectResult *result, SapReceiptStatus status, const char *code,
                      SapEncoding encoding, const void *payload, size_t len)
{
    if (result == NULL) {
        return SAP_ERROR;
    }
    int rc = tell_result(result->result, status, code, encoding, payload, len);
    result->refused = result->refused == SAP_OK ? rc : result->refused;
    result->told = result->told || rc == SAP_OK;
    return rc;
}

int sap_effect_retry_after(SapEffectResult *result, uint64_t pause_ns)
{
    if (result == NULL) {
        return SAP_ERROR;
    }
    result->result->pause_ns = pause_ns < LONGEST_PAUSE_NS ? pause_ns : LONGEST_PAUSE_NS;
    return SAP_OK;
}

/* A call as the program sees it: texts end with a NUL. */
typedef struct ShownCall {
    SapEffectCall call;
    UniverseName world;
    UniverseName ref;
    UniverseName trace_parent;
    char correlation_id[SAP_WORLD_MAX_ID + 1];
    void *handle; /* of an adapter */
} ShownCall;

static void show_call(const ServedKind *served, const EffectCall *call, ShownCall *shown)
{
    const WitUniverseEffect *effect = call->effect;
    universe_name_copy(&shown->world, &effect->world);
    universe_name_copy(&shown->ref, &effect->origin_name);
    universe_name_copy(&shown->trace_parent, &effect->trace_parent);
    SAP_ASSERT(effect->correlation_id.len <= SAP_WORLD_MAX_ID);
    if (effect->correlation_id.len > 0) {
        memcpy(shown->correlation_id, effect->correlation_id.data, effect->correlation_id.len);
    }
    shown->correlation_id[effect->correlation_id.len] = 0;
    shown->call = (SapEffectCall){
        .kind = served->kind.kind,
        .world = shown->world.text,
        .ref = shown->ref.text,
        .height = effect->height,
        .idempotency_key = call->idempotency_key,
        .attempt = call->attempt,
        .timeout_ns = call->timeout_ns,
        .encoding = (SapEncoding)effect->encoding,
        .params = effect->params.data,
        .params_len = effect->params.len,
        .correlation_id = shown->correlation_id,
        .trace_parent = shown->trace_parent.text,
    };
}

/* What an attempt has come to that ended with `rc`. After a failure what it said is kept, for the receipt
 * of the last attempt. */
static int take_told(SapEffectResult *told, int rc)
{
    if (told->refused != SAP_OK) {
        return rc == SAP_OK ? told->refused : rc; /* what it meant to say is not `ok` */
    }
    if (rc != SAP_OK && (told->told || told->result->pause_ns > 0)) {
        told->result->verdict = EFFECT_RETRY;
        if (!told->told) {
            told->result->encoding = SAP_ENCODING_RAW;
            (void)snprintf(told->result->code, sizeof told->result->code, "failed");
        }
        return SAP_OK;
    }
    return rc == SAP_OK && !told->told
               ? sap_effect_result(told, SAP_RECEIPT_OK, NULL, SAP_ENCODING_JSON, NULL, 0)
               : rc;
}

static int call_function(void *ctx, const EffectCall *call, EffectResult *result)
{
    const ServedKind *served = (const ServedKind *)ctx;
    SapEffectResult told = {.result = result};
    ShownCall shown;
    show_call(served, call, &shown);
    return take_told(&told, served->function(served->ctx, &shown.call, &told));
}

/* ---- Adapters of the program ----------------------------------------------------------------- */

static int start_shown(void *ctx, const EffectCall *call, void **handle_out)
{
    const ServedKind *served = (const ServedKind *)ctx;
    const SapEffectAdapter *adapter = &served->adapter;
    ShownCall *shown = (ShownCall *)mem_zalloc(MEM_UNIVERSE, sizeof *shown);
    if (shown == NULL) {
        return SAP_NOMEM;
    }
    show_call(served, call, shown);
    int rc = adapter->start(adapter->ctx, &shown->call, &shown->handle);
    if (rc != SAP_OK) {
        mem_free(MEM_UNIVERSE, shown, sizeof *shown);
        return rc;
    }
    *handle_out = shown;
    return SAP_OK;
}

static int poll_shown(void *ctx, void *handle, EffectResult *result, bool *done_out)
{
    const SapEffectAdapter *adapter = &((const ServedKind *)ctx)->adapter;
    ShownCall *shown = (ShownCall *)handle;
    SapEffectResult told = {.result = result};
    int rc = adapter->poll(adapter->ctx, shown->handle, &told, done_out);
    if (rc == SAP_OK && !*done_out) {
        return SAP_OK;
    }
    mem_free(MEM_UNIVERSE, shown, sizeof *shown);
    rc = take_told(&told, rc);
    *done_out = rc == SAP_OK;
    return rc;
}

static void cancel_shown(void *ctx, void *handle)
{
    const SapEffectAdapter *adapter = &((const ServedKind *)ctx)->adapter;
    ShownCall *shown = (ShownCall *)handle;
    adapter->cancel(adapter->ctx, shown->handle);
    mem_free(MEM_UNIVERSE, shown, sizeof *shown);
}

/* ---- Serving --------------------------------------------------------------------------------- */

static int add_served(SapWorker *worker, ServedKind **kind_out)
{
    ServedKind *kind = (ServedKind *)mem_zalloc(MEM_UNIVERSE, sizeof *kind);
    ServedPlace place = {kind};
    int rc = kind != NULL ? buf_append(&worker->serving.kinds, &place, sizeof place) : SAP_NOMEM;
    if (rc != SAP_OK) {
        mem_free(MEM_UNIVERSE, kind, sizeof *kind);
        return rc;
    }
    *kind_out = kind;
    return SAP_OK;
}

/* SAP_OK: the kind may be added. */
static int check_kind(const SapWorker *worker, const char *name)
{
    UniverseName kind;
    int rc = universe_name_set(&kind, name);
    if (rc == SAP_OK && worker->serving.adapter != NULL) {
        rc = SAP_BUSY;
    }
    rc = rc == SAP_OK && strcmp(name, FABRIC_KIND) == 0 ? SAP_EXISTS : rc; /* the box's own */
    for (size_t i = 0; rc == SAP_OK && i < served_count(&worker->serving); i++) {
        rc = strcmp(served_at(&worker->serving, i)->kind.kind, name) == 0 ? SAP_EXISTS : SAP_OK;
    }
    return rc;
}

/* What functions and adapters have in common. */
static void set_limits(AdapterKind *kind, bool at_most_once, const SapRetry *retry,
                       uint32_t max_running, uint32_t max_per_s)
{
    kind->at_most_once = at_most_once;
    kind->policy = (WitUniverseRetry){retry->attempts, retry->first_ns, retry->factor,
                                      retry->cap_ns, retry->timeout_ns};
    kind->max_running = max_running;
    kind->max_per_s = max_per_s;
}

int sap_worker_serve(SapWorker *worker, const SapEffectKind *kind)
{
    SapEffectKind all = {.size = sizeof all};
    ServedKind *served = NULL;
    if (worker == NULL || kind == NULL || OPTIONS_READ(SapEffectKind, &all, kind) != SAP_OK ||
        all.function == NULL || !options_all_zero(all.reserved, sizeof all.reserved) ||
        all.retry.attempts > SAP_EFFECT_MAX_ATTEMPTS) {
        return SAP_ERROR;
    }
    int rc = check_kind(worker, all.kind);
    rc = rc == SAP_OK ? add_served(worker, &served) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    served->function = all.function;
    served->ctx = all.ctx;
    served->room = (EffectFunction){call_function, served};
    adapter_kind_function(&served->kind, all.kind, &served->room);
    set_limits(&served->kind, all.at_most_once, &all.retry, all.max_running, all.max_per_s);
    return SAP_OK;
}

int sap_worker_serve_adapter(SapWorker *worker, const SapEffectAdapter *adapter)
{
    SapEffectAdapter all = {.size = sizeof all};
    ServedKind *served = NULL;
    if (worker == NULL || adapter == NULL ||
        OPTIONS_READ(SapEffectAdapter, &all, adapter) != SAP_OK || all.start == NULL ||
        all.poll == NULL || all.cancel == NULL ||
        !options_all_zero(all.reserved, sizeof all.reserved) ||
        all.retry.attempts > SAP_EFFECT_MAX_ATTEMPTS) {
        return SAP_ERROR;
    }
    int rc = check_kind(worker, all.kind);
    rc = rc == SAP_OK ? add_served(worker, &served) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    served->adapter = all;
    served->kind = (AdapterKind){.kind = all.kind,
                                 .ctx = served,
                                 .start = start_shown,
                                 .poll = poll_shown,
                                 .cancel = cancel_shown};
    set_limits(&served->kind, all.at_most_once, &all.retry, all.max_running, all.max_per_s);
    return SAP_OK;
}

int sap_worker_wake(SapWorker *worker)
{
    if (worker == NULL) {
        return SAP_ERROR;
    }
    universe_poke_all(worker->universe);
    return SAP_OK;
}

/* ---- The roles ------------------------------------------------------------------------------- */

void serving_init(SapWorker *worker)
{
    SapUniverse *universe = worker->universe;
    timer_worker_init(&worker->serving.timers, universe->store, universe->number,
                      &universe->producer);
    effect_reaper_init(&worker->reaper.effects, &worker->session, &universe->producer);
    worker->reaper.effects.log = universe->meters.log;
}

void serving_release(SapWorker *worker)
{
    Serving *serving = &worker->serving;
    adapter_close(serving->adapter);
    effect_reaper_release(&worker->reaper.effects);
    for (size_t i = 0; i < served_count(serving); i++) {
        mem_free(MEM_UNIVERSE, served_at(serving, i), sizeof(ServedKind));
    }
    buf_release(&serving->kinds);
}

void serving_settle(SapWorker *worker)
{
    if (worker->serving.adapter != NULL) {
        (void)adapter_settle(worker->serving.adapter);
    }
}

int timers_step(SapWorker *worker, bool *busy_out)
{
    TimerWorker *timers = &worker->serving.timers;
    TimerStats before = timers->stats;
    if (!session_may_work(&worker->session)) {
        return relaxed_load(&worker->session.deadline_ns) == 0 ? SAP_FENCED : SAP_BUSY;
    }
    int rc = timer_worker_step(timers, busy_out);
    counter_add(meters_of(worker)->timers_fired, timers->stats.fired - before.fired);
    if (timers->stats.damaged > before.damaged) {
        worker_note_damage_hourly(worker, "a row of timers", &worker->serving.damage_told_ns);
    }
    return rc;
}

/* Every worker delivers messages. */
static int add_fabric(SapWorker *worker)
{
    SapUniverse *universe = worker->universe;
    ServedKind *fabric = NULL;
    int rc = add_served(worker, &fabric);
    if (rc == SAP_OK) {
        worker->serving.fabric = (FabricServer){
            .store = universe->store,
            .producer = &universe->producer,
            .random = universe->random,
            .clock = universe->clock,
            .owner = universe,
            .universe = universe->number,
            .depth = &universe->depth,
            .limit = universe->max_inbox,
        };
        adapter_kind_fabric(&fabric->kind, &worker->serving.fabric, &fabric->room);
    }
    return rc;
}

/* All kinds in one array, for the adapter; `log` too, which every worker serves. */
static int open_adapter(SapWorker *worker)
{
    Serving *serving = &worker->serving;
    ServedKind *log = NULL;
    Buf kinds = {0};
    int rc = check_kind(worker, "log");
    rc = rc == SAP_OK ? add_served(worker, &log) : rc;
    if (rc == SAP_OK) {
        adapter_kind_log(&log->kind, &worker->universe->meters.own_log, &log->room);
        if (worker->universe->meters.log == NULL) {
            log->room.ctx = NULL; /* silent */
        }
    }
    rc = rc == SAP_EXISTS ? SAP_OK : rc; /* the program has one of its own */
    rc = rc == SAP_OK ? add_fabric(worker) : rc;
    for (size_t i = 0; rc == SAP_OK && i < served_count(serving); i++) {
        rc = buf_append(&kinds, &served_at(serving, i)->kind, sizeof(AdapterKind));
    }
    rc = rc == SAP_OK
             ? adapter_open(&worker->session, &worker->universe->producer, worker->universe->random,
                            (const AdapterKind *)(void *)kinds.data,
                            (uint32_t)served_count(serving), &serving->adapter)
             : rc;
    buf_release(&kinds);
    if (rc == SAP_OK) {
        adapter_set_log(serving->adapter, worker->universe->meters.log);
    }
    return rc;
}

static void count_effects(Meters *meters, const AdapterStats *before, const AdapterStats *now)
{
    counter_add(meters->effects_claimed, now->claimed - before->claimed);
    counter_add(meters->effects_started, now->started - before->started);
    counter_add(meters->receipts, now->receipts - before->receipts);
    counter_add(meters->effect_retries, now->retries - before->retries);
    counter_add(meters->claims_lost, now->lost - before->lost);
    counter_add(meters->effects_cancelled, now->cancelled - before->cancelled);
    counter_add(meters->effect_timeouts, now->timeouts - before->timeouts);
    counter_add(meters->delivered, now->delivered - before->delivered);
}

int effects_step(SapWorker *worker, bool *busy_out)
{
    Serving *serving = &worker->serving;
    AdapterStats before = {0};
    int rc = serving->adapter == NULL ? open_adapter(worker) : SAP_OK;
    if (rc != SAP_OK) {
        return rc;
    }
    before = adapter_stats(serving->adapter);
    rc = adapter_step(serving->adapter, busy_out);
    AdapterStats now = adapter_stats(serving->adapter);
    count_effects(meters_of(worker), &before, &now);
    if (now.damaged > before.damaged) {
        worker_note_damage(worker, "a row of an effect", NULL);
    }
    gauge_set(meters_of(worker)->effects_running, adapter_running(serving->adapter));
    return rc;
}

/* ---- By hand --------------------------------------------------------------------------------- */

int sap_receipt_inject(SapUniverse *universe, const char *world, const uint8_t intent_hash[32],
                       SapReceiptStatus status, const char *code, SapEncoding encoding,
                       const void *payload, size_t len)
{
    UniverseName name;
    Session asking;
    Buf canonical = {0};
    if (universe == NULL || intent_hash == NULL) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&name, world);
    if (rc != SAP_OK || status == SAP_RECEIPT_NONE || (unsigned)status > SAP_RECEIPT_TIMEOUT) {
        return SAP_INVALID;
    }
    rc = payload_append_or_null(encoding, payload, len, &canonical);
    rc = rc == SAP_OK && canonical.len > UNIVERSE_INLINE_MAX ? SAP_FULL : rc;
    if (rc == SAP_OK) {
        ReceiptByHand receipt = {.status = (WitUniverseReceiptStatus)status,
                                 .code = code,
                                 .encoding = (WitUniverseEncoding)encoding,
                                 .payload = {canonical.data, canonical.len}};
        memcpy(receipt.hash, intent_hash, sizeof receipt.hash);
        universe_enter(universe);
        universe_asking(universe, &asking);
        rc = receipt_inject(&asking, &universe->producer, &name, &receipt);
        universe_leave(universe);
    }
    buf_release(&canonical);
    return rc;
}

/* Shows a state's intents to a visitor of the program. */
typedef struct Showing {
    int (*each)(void *ctx, const SapOutstanding *outstanding);
    void *ctx;
} Showing;

static int show_outstanding(void *ctx, const uint8_t hash[UNIVERSE_DIGEST],
                            const Outstanding *outstanding)
{
    const Showing *showing = (const Showing *)ctx;
    SapOutstanding shown = {.ref = outstanding->ref,
                            .timer = outstanding->type == INTENT_TIMER,
                            .ask = outstanding->type == INTENT_ASK,
                            .promise = outstanding->type == INTENT_PROMISE};
    memcpy(shown.intent_hash, hash, sizeof shown.intent_hash);
    return showing->each(showing->ctx, &shown);
}

int sap_world_outstanding(SapUniverse *universe, const char *world,
                          int (*each)(void *ctx, const SapOutstanding *outstanding), void *ctx)
{
    Showing showing = {each, ctx};
    UniverseName name;
    JournalView look;
    if (universe == NULL || each == NULL) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&name, world);
    if (rc != SAP_OK) {
        return rc;
    }
    universe_enter(universe);
    rc = look_take(&universe->looks, universe->store, universe->number, &name, &look);
    if (rc == SAP_OK) {
        rc = state_begin(look.state);
        if (rc == SAP_OK) {
            rc = outstanding_each(look.state, show_outstanding, &showing);
            state_abort(look.state);
        }
        look_give(&universe->looks, &name, &look);
    }
    universe_leave(universe);
    return rc;
}
