/* simulate.c - see simulate.h. */
#include "universe/simulate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/assert.h"
#include "common/bytes.h"
#include "common/mem.h"
#include "universe/cycle.h"
#include "universe/modules.h"
#include "universe/simulate_marks.h"
#include "universe/simulate_talk.h"

enum {
    NODES = 3,
    WORLDS = 2,
    MOST_MESSAGES = 4096,
    UNIVERSE = 7,
    SETTLE_STEPS = 20000,
};

/* The last one is made by those who send to it, and nobody else has to do with it. */
static const char *const world_names[WORLDS + 1] = {"alpha", "beta", "gamma"};

/* A world whose handler fails too often is paused, or goes on without the item. */
static const char *const module_names[WORLDS] = {"simulated-halt", "simulated-skip"};

/* What became of a message, as its sender knows it. */
typedef enum Fate { FATE_NONE, FATE_ACKNOWLEDGED, FATE_UNKNOWN, FATE_REFUSED } Fate;

typedef struct Message {
    uint8_t fate;
    uint8_t world;
    uint8_t seen;     /* at the end: how often it is somewhere */
    uint8_t failures; /* of its handler so far */
    uint64_t sent_ns; /* lease time when it was sent first */
} Message;

/* Ids are kept for a day: nobody sends an id again that is half as old. */
#define AGAIN_NS (INGRESS_KEPT_NS / 2)

/* The world outside of all processes. */
typedef struct Outside {
    Message messages[MOST_MESSAGES];
    uint32_t message_count;
    uint64_t epoch[WORLDS]; /* the greatest seen */
    LeaseRow held[WORLDS];  /* the last lease that was seen with a holder */
    UniverseCounts counts;
    TalkOutside talk;
} Outside;

enum { SLOW_JOBS = 4 }; /* one in so many looks finds that a job has ended */

typedef struct Party {
    Outside *outside;
    SimulatorProcess process;
    ExecutorJob *jobs; /* begun, and not ended */
    SapUniverse *universe;
    SapWorker *worker;
    SapWorkerStats counted; /* of the worker's, already in the counts */
} Party;

void universe_counts_add(UniverseCounts *sum, const UniverseCounts *counts)
{
#define COUNT_ADD(name, what) sum->name += counts->name;
    UNIVERSE_COUNTS(COUNT_ADD)
#undef COUNT_ADD
}

/* Handlers have no context: the run that is under way. */
static _Thread_local Outside *running;

/* ---- The handler ----------------------------------------------------------------------------- */

typedef enum MessageMode { MODE_PLAIN, MODE_REJECT, MODE_FAIL_TWICE, MODE_REPLY } MessageMode;

static MessageMode mode_of(uint32_t number)
{
    return number % 11 == 3   ? MODE_REJECT
           : number % 13 == 5 ? MODE_FAIL_TWICE
           : number % 3 == 0  ? MODE_REPLY
                              : MODE_PLAIN;
}

static int add_to_total(SapWorld *world, uint32_t number)
{
    uint8_t total[8] = {0};
    const void *old = NULL;
    size_t len = 0;
    int rc = sap_world_get(world, "total", 5, &old, &len, NULL);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    if (rc == SAP_OK) {
        memcpy(total, old, sizeof total);
    }
    store_u64be(total, load_u64be(total) + number);
    return sap_world_put(world, "total", 5, SAP_ENCODING_RAW, total, sizeof total);
}

/* What is in use, or not there, is no failure. */
static int tolerate(int rc)
{
    return rc == SAP_EXISTS || rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* An effect has a receipt, or a timer has fired. */
static int take_answer(SapWorld *world, const SapEvent *event)
{
    char key[32];
    uint8_t count[4] = {0};
    const void *old = NULL;
    size_t len = 0;
    (void)snprintf(key, sizeof key, "answers to %s", event->ref);
    int rc = sap_world_get(world, key, strlen(key), &old, &len, NULL);
    if (rc == SAP_OK) {
        memcpy(count, old, sizeof count);
    }
    store_u32be(count, load_u32be(count) + 1 + (uint32_t)event->status);
    return rc == SAP_OK || rc == SAP_NOTFOUND
               ? sap_world_put(world, key, strlen(key), SAP_ENCODING_RAW, count, sizeof count)
               : rc;
}

/* Keeps the total, the last few numbers with random bytes, and forgets older ones. */
static int handle(SapWorld *world, const SapEvent *event)
{
    uint8_t key[4];
    uint8_t drawn[12];
    if (event->kind == SAP_EVENT_CREATE) {
        return sap_world_put(world, "born", 4, SAP_ENCODING_JSON, "{\"b\":1,\"a\":2}", 13);
    }
    if (event->kind == SAP_EVENT_RECEIPT || event->kind == SAP_EVENT_TIMER) {
        return take_answer(world, event);
    }
    if (talk_is_from_world(event)) {
        return talk_take(world, event);
    }
    uint32_t number = load_u32be(event->payload);
    MessageMode mode = mode_of(number);
    if (mode == MODE_REJECT) {
        (void)add_to_total(world, number); /* must leave no trace */
        return sap_world_fail(world, false, "rejected");
    }
    if (mode == MODE_FAIL_TWICE && running != NULL && running->messages[number].failures < 2) {
        running->messages[number].failures++;
        (void)add_to_total(world, number);
        return SAP_INVALID;
    }
    sap_world_random(world, drawn, sizeof drawn);
    store_u32be(key, number % 8);
    int rc = add_to_total(world, number);
    rc = rc == SAP_OK ? sap_world_put(world, key, 4, SAP_ENCODING_RAW, drawn, sizeof drawn) : rc;
    store_u32be(key, (number + 4) % 8);
    if (rc == SAP_OK && number % 2 == 0) {
        rc = sap_world_del(world, key, 4);
        rc = rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    rc = rc == SAP_OK ? talk_act(world, number) : rc;
    rc = rc == SAP_OK ? marks_act(world, number) : rc;
    if (rc == SAP_OK && mode == MODE_REPLY && event->reply_to[0] != 0) {
        rc = sap_world_reply(world, event->reply_to, SAP_ENCODING_RAW, key, 4);
    }
    return rc;
}

static SapWorldModule modules[WORLDS] = {
    {.name = "simulated-halt", .handler = handle},
    {.name = "simulated-skip", .handler = handle, .on_failure = SAP_ON_FAILURE_SKIP},
};

/* ---- The parties ----------------------------------------------------------------------------- */

static uint64_t draw(const Party *self, uint64_t below)
{
    uint64_t number = 0;
    int rc = random_fill(self->process.random, &number, sizeof number);
    SAP_ASSERT(rc == SAP_OK);
    return number % below;
}

/* Jobs take their time: each runs at some later look, as if by a thread of its own. */
static void start_later(void *ctx, ExecutorJob *job)
{
    Party *self = (Party *)ctx;
    job->next = self->jobs;
    self->jobs = job;
}

static bool poll_later(void *ctx, ExecutorJob *job)
{
    Party *self = (Party *)ctx;
    ExecutorJob **at = &self->jobs;
    bool cancelled = job->state != 0;
    if (!cancelled && draw(self, SLOW_JOBS) != 0) {
        return false;
    }
    while (*at != job) {
        at = &(*at)->next;
    }
    *at = job->next;
    if (!cancelled) {
        job->run(job);
    }
    return true;
}

static void cancel_later(void *ctx, ExecutorJob *job)
{
    (void)ctx;
    job->state = 1;
}

static int code_of_step(int rc)
{
    return rc == SAP_NOMEM ? rc : SAP_OK;
}

static void count_worker(Party *self)
{
    UniverseCounts *counts = &self->outside->counts;
    SapWorkerStats now = {0};
    SapWorkerStats *old = &self->counted;
    (void)sap_worker_stats(self->worker, &now);
    counts->reported += now.steps - old->steps;
    counts->fenced += now.fenced - old->fenced;
    counts->resolved += now.unknown - old->unknown;
    counts->acquired += now.acquired - old->acquired;
    counts->restored += now.restored - old->restored;
    counts->released += now.released - old->released;
    counts->paused += now.paused - old->paused;
    *old = now;
}

static int step_worker(void *ctx, uint64_t now_ns)
{
    Party *self = (Party *)ctx;
    bool busy = false;
    (void)now_ns;
    int rc = sap_worker_step(self->worker, &busy);
    count_worker(self);
    return rc == SAP_FENCED ? rc : code_of_step(rc);
}

static int step_role(Party *self, SapRole role)
{
    bool busy = false;
    int rc = sap_worker_step_role(self->worker, role, &busy);
    return rc == SAP_FENCED ? rc : code_of_step(rc);
}

static int step_orchestrator(void *ctx, uint64_t now_ns)
{
    (void)now_ns;
    return step_role((Party *)ctx, SAP_ROLE_ORCHESTRATOR);
}

static int step_reaper(void *ctx, uint64_t now_ns)
{
    (void)now_ns;
    return step_role((Party *)ctx, SAP_ROLE_REAPER);
}

static int step_timers(void *ctx, uint64_t now_ns)
{
    (void)now_ns;
    return step_role((Party *)ctx, SAP_ROLE_TIMERS);
}

static int step_effects(void *ctx, uint64_t now_ns)
{
    (void)now_ns;
    return step_role((Party *)ctx, SAP_ROLE_EFFECTS);
}

/* What the effects do: some fail for good, some now and then. */
static int echo(void *ctx, const SapEffectCall *call, SapEffectResult *result)
{
    Party *self = (Party *)ctx;
    uint32_t number = 0;
    memcpy(&number, call->params, sizeof number);
    self->outside->counts.effects++;
    if (number % 3 == 0 && draw(self, 3) == 0) {
        return SAP_BUSY;
    }
    return sap_effect_result(result, number % 7 == 5 ? SAP_RECEIPT_ERROR : SAP_RECEIPT_OK, "echo",
                             SAP_ENCODING_RAW, call->params, call->params_len);
}

static int step_renewer(void *ctx, uint64_t now_ns)
{
    Party *self = (Party *)ctx;
    (void)now_ns;
    int rc = sap_worker_renew(self->worker);
    return rc == SAP_FENCED ? rc : code_of_step(rc);
}

static void note_sent(Party *self, uint32_t number, int rc, const SapIngressResult *result)
{
    Message *message = &self->outside->messages[number];
    UniverseCounts *counts = &self->outside->counts;
    bool unknown = rc == SAP_IO && result->outcome_unknown;
    /* Whoever dies in the call has heard nothing. */
    if (!simulator_alive(self->process.simulator)) {
        message->fate = message->fate == FATE_ACKNOWLEDGED ? FATE_ACKNOWLEDGED : FATE_UNKNOWN;
        return;
    }
    if (rc == SAP_OK) {
        message->fate = FATE_ACKNOWLEDGED;
        counts->sent += !result->duplicate;
        counts->duplicates += result->duplicate;
    } else if (message->fate != FATE_ACKNOWLEDGED) {
        bool maybe = unknown || message->fate == FATE_UNKNOWN;
        message->fate = maybe ? FATE_UNKNOWN : FATE_REFUSED;
        counts->unknown += unknown;
        counts->refused += !unknown;
    }
}

/* A new message, or one with an id once more. */
static int step_producer(void *ctx, uint64_t now_ns)
{
    Party *self = (Party *)ctx;
    Outside *outside = self->outside;
    SapIngressResult result = {0};
    uint8_t payload[4];
    char id[16];
    (void)now_ns;
    if (simulator_is_quiet(self->process.simulator)) {
        return SAP_OK;
    }
    uint64_t lease_ns = sap_store_lease_ns(self->process.store);
    bool again = outside->message_count > 0 && draw(self, 5) == 0;
    uint32_t number = again ? (uint32_t)draw(self, outside->message_count) : outside->message_count;
    if (again && (number % 2 == 0 || lease_ns > outside->messages[number].sent_ns + AGAIN_NS)) {
        return SAP_OK; /* it has no id, or it is too old */
    }
    if (number >= MOST_MESSAGES) {
        return SAP_OK;
    }
    if (!again) {
        outside->message_count++;
        outside->messages[number].world = (uint8_t)draw(self, WORLDS);
        outside->messages[number].sent_ns = lease_ns;
    }
    store_u32be(payload, number);
    (void)snprintf(id, sizeof id, "m%u", number);
    SapIngress item = {
        .size = sizeof item,
        .name = "number",
        .id = number % 2 == 1 ? id : NULL,
        .encoding = SAP_ENCODING_RAW,
        .payload = payload,
        .payload_len = sizeof payload,
        .want_reply = number % 2 == 1,
    };
    int rc = sap_enqueue_ingress(self->universe, world_names[outside->messages[number].world],
                                 &item, &result);
    note_sent(self, number, rc, &result);
    return code_of_step(rc);
}

/* Puts the first dead letter of a world into its inbox again. */
typedef struct FirstLetter {
    bool found;
    uint64_t height;
    uint8_t seq[UNIVERSE_SEQ];
} FirstLetter;

static int take_first(void *ctx, const SapDeadLetter *letter)
{
    FirstLetter *first = (FirstLetter *)ctx;
    first->found = true;
    first->height = letter->height;
    memcpy(first->seq, letter->seq, sizeof first->seq);
    return SAP_EXISTS;
}

static int replay_first(Party *self, const char *world)
{
    FirstLetter first = {.found = false};
    int rc = sap_dead_letters(self->universe, world, take_first, &first);
    if (!first.found) {
        return rc == SAP_OK ? SAP_NOTFOUND : rc;
    }
    return sap_dead_letter_replay(self->universe, world, first.height, first.seq);
}

static int create_world(Party *self, uint32_t world)
{
    return sap_world_create(self->universe, world_names[world], module_names[world],
                            SAP_ENCODING_JSON, NULL, 0);
}

static int step_operator(void *ctx, uint64_t now_ns)
{
    Party *self = (Party *)ctx;
    uint32_t index = (uint32_t)draw(self, WORLDS);
    const char *world = world_names[index];
    char worker[16];
    bool done = false;
    uint64_t epoch = 0;
    int rc = SAP_OK;
    (void)now_ns;
    (void)snprintf(worker, sizeof worker, "worker-%u", (unsigned)draw(self, NODES));
    if (simulator_is_quiet(self->process.simulator)) {
        return tolerate(sap_unassign_world(self->universe, world)) == SAP_NOMEM ? SAP_NOMEM
                                                                                : SAP_OK;
    }
    switch (draw(self, 64)) {
    case 0:
        rc = sap_world_pause(self->universe, world, "an operator");
        break;
    case 1:
        if (draw(self, 3) != 0) { /* else nothing grows old */
            return SAP_OK;
        }
        rc = sap_world_delete(self->universe, world, "an operator");
        break;
    case 2:
    case 3:
        rc = sap_world_drain(self->universe, world, 3, &done);
        break;
    case 4:
    case 5:
        rc = create_world(self, index);
        break;
    case 6:
    case 7:
        rc = sap_world_resume(self->universe, world);
        break;
    case 8:
        rc = sap_world_resume_skip(self->universe, world);
        break;
    case 9:
        rc = sap_assign_world(self->universe, world, worker, 0, "an operator");
        break;
    case 10:
    case 11:
        rc = sap_unassign_world(self->universe, world);
        break;
    case 12:
        rc = replay_first(self, world);
        break;
    case 13:
        rc = sap_acquire_lease(self->universe, world, worker, &epoch);
        rc = rc == SAP_OK ? sap_release_lease(self->universe, world, worker, epoch) : rc;
        break;
    case 14:
        rc = marks_put_module(self->universe, module_names[index], modules[index].on_failure,
                              (uint32_t)draw(self, 3));
        self->outside->counts.modules += rc == SAP_OK;
        break;
    default:
        return SAP_OK;
    }
    self->outside->counts.operations += rc == SAP_OK;
    return code_of_step(rc);
}

/* Brings worlds back: without it nothing would go on for ever. */
static int step_keeper(void *ctx, uint64_t now_ns)
{
    Party *self = (Party *)ctx;
    uint32_t index = (uint32_t)draw(self, WORLDS);
    const char *world = world_names[index];
    SapWorldInfo info;
    (void)now_ns;
    int rc = sap_world_info(self->universe, world, &info);
    if (rc == SAP_NOTFOUND || (rc == SAP_OK && info.status == SAP_WORLD_DELETED && info.drained)) {
        rc = create_world(self, index);
    } else if (rc == SAP_OK && info.status == SAP_WORLD_PAUSED) {
        rc = sap_world_resume(self->universe, world);
    } else if (rc == SAP_OK && info.status == SAP_WORLD_DONE && info.drained) {
        rc = sap_world_delete(self->universe, world, "done");
    }
    return code_of_step(rc);
}

/* Somebody outside resolves promises. */
static int step_resolver(void *ctx, uint64_t now_ns)
{
    Party *self = (Party *)ctx;
    (void)now_ns;
    if (draw(self, 4) != 0) {
        return SAP_OK;
    }
    return code_of_step(talk_resolve(&self->outside->talk, self->universe, self->process.simulator,
                                     draw(self, UINT8_MAX)));
}

static void free_party(Party *self)
{
    /* As if it had died: nothing is given back. */
    worker_abandon(self->worker);
    int rc = sap_universe_close(self->universe);
    SAP_ASSERT(rc == SAP_OK);
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
    (void)snprintf(name, sizeof name, "worker-%u", process->node);
    SapWorkerOptions options = {
        .size = sizeof options, .name = name, .max_inbox_batch = 3, .max_attempts = 4};
    options.max_worlds = process->node == 0 ? 1 : 0; /* it gives one world back for the other */
    options.max_attempts = process->node == 1 ? 2 : options.max_attempts; /* it pauses worlds */
    marks_host(&options, handle, process->node == 1);
    int rc = universe_open_on(process->store, process->clock, process->random, UNIVERSE,
                              &self->universe);
    rc = rc == SAP_OK ? sap_worker_open(self->universe, &options, &self->worker) : rc;
    if (rc != SAP_OK) {
        free_party(self);
        return rc;
    }
    if (process->node != 1) { /* there handlers run within the step */
        worker_set_executor(self->worker, &(Executor){.start = start_later,
                                                      .poll = poll_later,
                                                      .cancel = cancel_later,
                                                      .ctx = self});
    }
    SapEffectKind kind = {.size = sizeof kind, .kind = "echo", .function = echo, .ctx = self};
    rc = sap_worker_serve(self->worker, &kind);
    if (rc != SAP_OK) {
        free_party(self);
        return rc;
    }
    *roles_out = (SimulatorRoles){
        .state = self,
        .count = 10,
        .roles = {{"renewer", step_renewer, self},
                  {"worker", step_worker, self},
                  {"orchestrator", step_orchestrator, self},
                  {"reaper", step_reaper, self},
                  {"timers", step_timers, self},
                  {"effects", step_effects, self},
                  {"producer", step_producer, self},
                  {"operator", step_operator, self},
                  {"keeper", step_keeper, self},
                  {"resolver", step_resolver, self}},
    };
    return SAP_OK;
}

static void stop_party(void *ctx, void *state)
{
    (void)ctx;
    free_party((Party *)state);
}

/* ---- What must hold -------------------------------------------------------------------------- */

static UniverseName name_of(uint32_t world)
{
    UniverseName name;
    int rc = universe_name_set(&name, world_names[world]);
    SAP_ASSERT(rc == SAP_OK);
    return name;
}

static bool has_hint(SapStoreTxn *txn, const UniverseName *world)
{
    RowKey prefix;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    bool found = false;
    row_key_universe(&prefix, WIT_DBI_READY, UNIVERSE);
    row_range(&prefix, &to, &range);
    if (sap_store_scan(txn, &range, false, MOST_MESSAGES, &rows, &count) != SAP_OK) {
        return true; /* no memory: nothing can be said */
    }
    for (uint32_t i = 0; i < count && !found; i++) {
        WitUniverseDbi39ReadyKey key;
        if (wit_universe_dbi39_ready_key_decode(rows[i].key, rows[i].key_len, &key, NULL) !=
            SAP_OK) {
            return true;
        }
        found = key.world.len == world->len && memcmp(key.world.data, world->text, world->len) == 0;
        wit_universe_dbi39_ready_key_free(&key);
    }
    return found;
}

static bool has_items(SapStoreTxn *txn, const UniverseName *world)
{
    RowKey prefix;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    row_key_world(&prefix, WIT_DBI_WORLD_INBOX, UNIVERSE, world);
    row_range(&prefix, &to, &range);
    return sap_store_scan(txn, &range, false, 1, &rows, &count) == SAP_OK && count > 0;
}

/* A power cut may take back what is newest: the epoch that is durable must not fall. */
static int read_durable_lease(Simulator *simulator, const RowKey *key, LeaseRow *lease_out)
{
    SapStoreTxn *txn = NULL;
    int rc = sap_store_begin(simulator_store(simulator), SAP_STORE_READ_DURABLE, &txn);
    rc = rc == SAP_OK ? lease_row_get(txn, key, lease_out) : rc;
    sap_store_abort(txn);
    return rc;
}

/* Epochs do not fall, and no two holders have the same. */
static void check_lease(Outside *outside, Simulator *simulator, uint32_t world)
{
    UniverseName name = name_of(world);
    LeaseRow *held = &outside->held[world];
    RowKey key;
    LeaseRow lease;
    row_key_world(&key, WIT_DBI_LEASE, UNIVERSE, &name);
    if (read_durable_lease(simulator, &key, &lease) != SAP_OK) {
        return;
    }
    if (lease.epoch < outside->epoch[world]) {
        simulator_violation(simulator, "the epoch of %s fell from %" PRIu64 " to %" PRIu64,
                            name.text, outside->epoch[world], lease.epoch);
    }
    outside->epoch[world] = lease.epoch;
    if (lease.holder.len == 0) {
        return;
    }
    if (lease.epoch == held->epoch && memcmp(lease.nonce, held->nonce, sizeof lease.nonce) != 0) {
        simulator_violation(simulator, "epoch %" PRIu64 " of %s has two holders", lease.epoch,
                            name.text);
    }
    *held = lease;
}

/* What waits in an active world has a hint; in a drained one nothing waits. */
static void check_inbox(Simulator *simulator, SapStoreTxn *txn, uint32_t world)
{
    UniverseName name = name_of(world);
    RowKey key;
    WitUniverseDbi21WorldMetaValue meta;
    row_key_world(&key, WIT_DBI_WORLD_META, UNIVERSE, &name);
    if (meta_row_get(txn, &key, &meta) != SAP_OK) {
        return;
    }
    bool active = meta.status == WIT_UNIVERSE_WORLD_STATUS_ACTIVE;
    bool drained = meta.drained;
    wit_universe_dbi21_world_meta_value_free(&meta);
    if (active && has_items(txn, &name) && !has_hint(txn, &name)) {
        simulator_violation(simulator, "%s has items and no hint", name.text);
    }
    if (drained && has_items(txn, &name)) {
        simulator_violation(simulator, "%s is drained and has items", name.text);
    }
}

static void check_commit(void *ctx, Simulator *simulator, SapStoreTxn *txn)
{
    for (uint32_t i = 0; i < WORLDS; i++) {
        check_lease((Outside *)ctx, simulator, i);
        UniverseName name = name_of(i);
        check_inbox(simulator, txn, i);
        marks_check(simulator, txn, UNIVERSE, &name);
    }
}

/* ---- What must hold in the end --------------------------------------------------------------- */

typedef struct Reading {
    Outside *outside;
    Simulator *simulator;
    uint32_t world;
    UniverseName name;
    WorldBirth birth;
    HeadRow head; /* as far as it was read */
    uint64_t epoch;
    WorldState *state; /* of the handlers that are run again */
} Reading;

static void see_item(Outside *outside, const WitUniverseInboxItem *item)
{
    outside->counts.answers +=
        item->kind == WIT_UNIVERSE_ITEM_KIND_RECEIPT || item->kind == WIT_UNIVERSE_ITEM_KIND_TIMER;
    if (item->kind == WIT_UNIVERSE_ITEM_KIND_MESSAGE && item->from_world.len == 0) {
        outside->messages[load_u32be(item->payload.data)].seen++;
    }
}

/* Runs the handler of an entry again: the entry must come out as it is. */
static void run_entry_again(Reading *reading, const WitUniverseEntry *entry, uint64_t height,
                            Slice content)
{
    bool rejected = entry->kind == WIT_UNIVERSE_ENTRY_KIND_REJECTED;
    InboxItem item = {.item = entry->item.value};
    SapWorld view;
    Buf again = {0};
    memcpy(item.seq, entry->seq.data, UNIVERSE_SEQ);
    handler_init(&view, UNIVERSE, &reading->name, &reading->birth, reading->state);
    if (state_begin(reading->state) != SAP_OK) {
        return;
    }
    /* What was skipped because it had failed too often might succeed now. */
    bool skipped =
        rejected && (entry->error.len != 8 || memcmp(entry->error.data, "rejected", 8) != 0);
    HandlerOutcome outcome = HANDLER_REJECTED;
    WitUniverseEntryKind kind = WIT_UNIVERSE_ENTRY_KIND_REJECTED;
    handler_begin(&view, height, entry->time_ns);
    if (skipped) {
        char error[HANDLER_MESSAGE + 1];
        (void)snprintf(error, sizeof error, "%.*s", (int)entry->error.len,
                       (const char *)entry->error.data);
        handler_refuse(&view, error);
    } else {
        outcome = handler_perform(&view, handle, &item, &kind);
    }
    int rc = SAP_OK;
    if (outcome != HANDLER_DONE) {
        state_abort(reading->state);
        rc = state_begin(reading->state);
        rc = rc == SAP_OK ? handler_reject(&view, &item) : rc;
        kind = WIT_UNIVERSE_ENTRY_KIND_REJECTED;
    }
    rc = rc == SAP_OK ? state_commit(reading->state) : rc;
    rc = rc == SAP_OK ? handler_entry(&view, &item, kind, &again) : rc;
    if (rc == SAP_OK && ((outcome == HANDLER_REJECTED) != rejected || again.len != content.len ||
                         memcmp(again.data, content.data, content.len) != 0)) {
        simulator_violation(reading->simulator, "entry %" PRIu64 " of %s is another when run again",
                            height, reading->name.text);
    }
    buf_release(&again);
    handler_release(&view);
}

static int read_entry(void *ctx, uint64_t height, uint64_t epoch, Slice content,
                      const WitUniverseEntry *entry)
{
    Reading *reading = (Reading *)ctx;
    HeadRow before = reading->head;
    if (epoch < reading->epoch) {
        simulator_violation(reading->simulator, "entry %" PRIu64 " has an epoch below the last",
                            height);
    }
    reading->epoch = epoch;
    journal_next(&before, content, entry->state_sum.data,
                 entry->time_ns > before.time_ns ? entry->time_ns : before.time_ns, &reading->head);
    if (entry->kind != WIT_UNIVERSE_ENTRY_KIND_REJECTED) { /* that one is a dead letter */
        see_item(reading->outside, &entry->item.value);
    }
    reading->outside->counts.entries++;
    reading->outside->counts.rejected += entry->kind == WIT_UNIVERSE_ENTRY_KIND_REJECTED;
    reading->outside->counts.done += marks_ends(entry);
    if (height > reading->birth.height) {
        run_entry_again(reading, entry, height, content);
    }
    return SAP_OK;
}

/* Rows of one table of the world whose values hold an item first. */
static void see_rows(Outside *outside, SapStoreTxn *txn, uint32_t table, const UniverseName *world)
{
    RowKey prefix;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    row_key_world(&prefix, table, UNIVERSE, world);
    row_range(&prefix, &to, &range);
    if (sap_store_scan(txn, &range, false, MOST_MESSAGES, &rows, &count) != SAP_OK) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        WitUniverseDbi24WorldInboxValue item;
        WitUniverseDbi28WorldDlqValue letter;
        if (table == WIT_DBI_WORLD_INBOX &&
            wit_universe_dbi24_world_inbox_value_decode(rows[i].val, rows[i].val_len, &item,
                                                        NULL) == SAP_OK) {
            see_item(outside, &item.item);
            wit_universe_dbi24_world_inbox_value_free(&item);
        }
        if (table == WIT_DBI_WORLD_DLQ &&
            wit_universe_dbi28_world_dlq_value_decode(rows[i].val, rows[i].val_len, &letter,
                                                      NULL) == SAP_OK) {
            outside->counts.dead_letters++;
            see_item(outside, &letter.item);
            wit_universe_dbi28_world_dlq_value_free(&letter);
        }
    }
}

static void read_world(Reading *reading, SapStore *store, SapStoreTxn *txn)
{
    RowKey key;
    HeadRow head = {0};
    WitUniverseDbi21WorldMetaValue meta;
    row_key_world(&key, WIT_DBI_WORLD_META, UNIVERSE, &reading->name);
    if (meta_row_get(txn, &key, &meta) != SAP_OK) {
        return;
    }
    reading->birth.height = meta.born_height;
    memcpy(reading->birth.seed, meta.seed.data, sizeof reading->birth.seed);
    wit_universe_dbi21_world_meta_value_free(&meta);
    row_key_world(&key, WIT_DBI_HEAD, UNIVERSE, &reading->name);
    if (head_row_get(txn, &key, &head) == SAP_OK) {
        int rc = journal_read(store, UNIVERSE, &reading->name, 1, head.height, read_entry, reading);
        if (rc == SAP_CORRUPT || memcmp(reading->head.digest, head.digest, UNIVERSE_DIGEST) != 0) {
            simulator_violation(reading->simulator, "the journal of %s does not lead to its head",
                                reading->name.text);
        }
    }
    see_rows(reading->outside, txn, WIT_DBI_WORLD_INBOX, &reading->name);
    see_rows(reading->outside, txn, WIT_DBI_WORLD_DLQ, &reading->name);
}

/* An intent of an active world that is outstanding when all is quiet: nothing of it was lost only if its
 * world stands still, and then its answer waits in the inbox. */
typedef struct QuietIntent {
    Simulator *simulator;
    const UniverseName *world;
    bool idle; /* nothing waits in the inbox */
} QuietIntent;

static int see_outstanding(void *ctx, const uint8_t hash[UNIVERSE_DIGEST],
                           const Outstanding *outstanding)
{
    const QuietIntent *quiet = (const QuietIntent *)ctx;
    (void)hash;
    if (quiet->idle) {
        simulator_violation(quiet->simulator, "%s waits for %s in vain", quiet->world->text,
                            outstanding->ref);
    }
    return SAP_OK;
}

/* Effects and timers that are not over. */
static const uint32_t queue_tables[] = {WIT_DBI_EFFECTS_PENDING, WIT_DBI_EFFECTS_INFLIGHT,
                                        WIT_DBI_EFFECTS_DEDUPE,  WIT_DBI_TIMERS_DUE,
                                        WIT_DBI_TIMERS_DEDUPE,   WIT_DBI_PROMISES};

static bool table_is_empty(SapStoreTxn *txn, uint32_t table)
{
    RowKey from;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    row_key_universe(&from, table, UNIVERSE);
    row_range(&from, &to, &range);
    return sap_store_scan(txn, &range, false, 1, &rows, &count) != SAP_OK || count == 0;
}

/* When all is quiet none is left, whoever asked for it. */
static void check_queues(Simulator *simulator, SapStoreTxn *txn)
{
    for (size_t i = 0; i < sizeof queue_tables / sizeof *queue_tables; i++) {
        if (!table_is_empty(txn, queue_tables[i])) {
            simulator_violation(simulator, "table %u has rows when all is quiet",
                                (unsigned)queue_tables[i]);
        }
    }
}

static void look_settled(void *ctx, Simulator *simulator, SapStoreTxn *txn)
{
    bool settled = !table_is_empty(txn, WIT_DBI_HEAD) && table_is_empty(txn, WIT_DBI_WORLD_INBOX);
    (void)ctx;
    for (size_t i = 0; settled && i < sizeof queue_tables / sizeof *queue_tables; i++) {
        settled = table_is_empty(txn, queue_tables[i]);
    }
    if (settled) {
        simulator_settled(simulator);
    }
}

static void check_outstanding(Simulator *simulator, SapStoreTxn *txn, const UniverseName *world,
                              WorldState *state)
{
    QuietIntent quiet = {simulator, world, !has_items(txn, world)};
    RowKey key;
    WitUniverseDbi21WorldMetaValue meta;
    row_key_world(&key, WIT_DBI_WORLD_META, UNIVERSE, world);
    if (meta_row_get(txn, &key, &meta) != SAP_OK) {
        return;
    }
    bool active = meta.status == WIT_UNIVERSE_WORLD_STATUS_ACTIVE;
    wit_universe_dbi21_world_meta_value_free(&meta);
    if (active) {
        (void)outstanding_each(state, see_outstanding, &quiet);
        marks_check_state(simulator, txn, UNIVERSE, world, state);
    }
}

static void check_end(void *ctx, Simulator *simulator, SapStoreTxn *txn)
{
    Outside *outside = (Outside *)ctx;
    check_commit(ctx, simulator, txn);
    for (uint32_t i = 0; i < WORLDS + 1; i++) {
        Reading reading = {
            .outside = outside, .simulator = simulator, .world = i, .name = name_of(i)};
        if (state_open(&reading.state) != SAP_OK || state_begin(reading.state) != SAP_OK) {
            state_close(reading.state);
            return;
        }
        read_world(&reading, simulator_store(simulator), txn);
        check_outstanding(simulator, txn, &reading.name, reading.state);
        state_close(reading.state);
    }
    for (uint32_t i = 0; i < outside->message_count; i++) {
        const Message *message = &outside->messages[i];
        bool right = message->fate == FATE_ACKNOWLEDGED ? message->seen == 1
                     : message->fate == FATE_UNKNOWN    ? message->seen <= 1
                                                        : message->seen == 0;
        if (!right) {
            simulator_violation(simulator, "message %u, fate %d, is there %u times", i,
                                (int)message->fate, (unsigned)message->seen);
        }
    }
    if (outside->counts.reported > outside->counts.entries) {
        simulator_violation(simulator, "%" PRIu64 " steps were reported, and %" PRIu64 " are there",
                            outside->counts.reported, outside->counts.entries);
    }
    talk_check_end(&outside->talk, simulator, txn, UNIVERSE, world_names, WORLDS + 1);
    check_queues(simulator, txn);
    if (outside->counts.entries == 0) {
        simulator_violation(simulator, "nothing has happened");
    }
}

/* ---- Runs ------------------------------------------------------------------------------------ */

int universe_simulate(uint64_t seed, uint32_t steps, void (*print)(void *ctx, const char *line),
                      void *print_ctx, SimulatorReport *report_out, UniverseCounts *counts_out)
{
    SimulatorOptions options;
    Outside *outside = (Outside *)mem_zalloc(MEM_UNIVERSE, sizeof *outside);
    UniverseName name;
    if (outside == NULL) {
        return SAP_NOMEM;
    }
    int rc = SAP_OK;
    outside->talk.counts = &outside->counts;
    for (int i = 0; i < WORLDS; i++) {
        rc = universe_name_set(&name, module_names[i]);
        SAP_ASSERT(rc == SAP_OK);
        if (module_find(&name, 0) == NULL) {
            rc = sap_world_module_register(&modules[i]);
            SAP_ASSERT(rc == SAP_OK);
        }
    }
    simulator_options_init(&options);
    options.ctx = outside;
    options.tables = universe_tables(&options.table_count);
    options.node_count = NODES;
    options.start = start_party;
    options.stop = stop_party;
    options.check = check_commit;
    options.check_commits = true;
    options.check_end = check_end;
    options.look_settled = look_settled;
    options.pass_ms = 400; /* so that sessions expire within a run */
    options.settle_steps = SETTLE_STEPS;
    options.print = print;
    options.print_ctx = print_ctx;
    if (steps > 0) {
        options.steps = steps;
    }
    running = outside;
    rc = simulator_run(&options, seed, report_out);
    running = NULL;
    *counts_out = outside->counts;
    mem_free(MEM_UNIVERSE, outside, sizeof *outside);
    return rc;
}
