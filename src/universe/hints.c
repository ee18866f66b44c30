/* hints.c - which worlds have something to do, and which of them this worker runs now.
 *
 * Hints are read before the inboxes: an item that comes in between has a hint of its own, which stays. So
 * as long as a world that is to run has something in its inbox, there is a hint of it. A hint goes with
 * the cycle that read it before the inbox, or alone when the world is not to run: resuming puts another.
 *
 * What is read first, in one transaction, only says what is worth trying. Whether the world is this
 * worker's is decided when its lease is acquired. A world that is another's, assigned to another, or of a
 * module that this process does not have is left alone for a while. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/bytes.h"
#include "common/hash.h"
#include "common/mem.h"
#include "universe/modules.h"
#include "universe/worker_impl.h"

#define SKIP_NS      UINT64_C(200000000)
#define DAMAGED_NS   UINT64_C(60000000000) /* rows that do not decode do not mend themselves */
#define NO_ROOM_NS   UINT64_C(10000000000)
#define HELD_BACK_NS UINT64_C(50000000)

enum {
    NOTHING_LEFT = UINT8_MAX + 1, /* above every priority */
    PAGES_AT_ONCE = 8,
    STEP_BYTES = 64 << 20, /* of payloads, after which a step reads no further inbox */
};

typedef enum HintUse {
    HINT_OPEN,   /* nothing was decided */
    HINT_RUN,    /* its world runs now */
    HINT_LEAVE,  /* not now, or not here */
    HINT_DELETE, /* of a world that is not to run */
} HintUse;

/* Who lacks the module of a world, as its meta row is to say. */
typedef enum Unable {
    UNABLE_NOBODY,   /* nobody, or there is another worker that can run it */
    UNABLE_ASSIGNED, /* this worker, and it is assigned to it */
    UNABLE_ALL,      /* every worker that is alive */
} Unable;

typedef struct Hint {
    RowKey key;
    UniverseName world;
    uint8_t priority;
    uint64_t put_ns; /* lease time */
    HintUse use;
    bool give_back;      /* it is in memory here, and assigned to another worker */
    bool needs_module;   /* nobody holds it, so this worker may take it if it can run it */
    Unable unable;       /* it cannot */
    UniverseName module; /* that it needs */
    uint64_t pin;
} Hint;

static Hint *hint_at(const Buf *hints, size_t index)
{
    return (Hint *)(void *)hints->data + index;
}

static size_t hint_count(const Buf *hints)
{
    return hints->len / sizeof(Hint);
}

/* ---- Worlds that are left alone -------------------------------------------------------------- */

static SkippedWorld *skipped_place(SapWorker *worker, const UniverseName *world, uint64_t *hash_out)
{
    *hash_out = hash_bytes(world->text, world->len, 0);
    return &worker->skipped[*hash_out % SKIPPED];
}

/* Nothing may say that there is something to do then: whoever waits looks again. */
static void look_again_at(SapWorker *worker, uint64_t at_ns)
{
    worker->retry_at_ns = at_ns < worker->retry_at_ns ? at_ns : worker->retry_at_ns;
}

static void skip_world_for(SapWorker *worker, const UniverseName *world, uint64_t time_ns)
{
    uint64_t hash = 0;
    SkippedWorld *place = skipped_place(worker, world, &hash);
    *place = (SkippedWorld){hash, clock_boot_ns(worker->universe->clock) + time_ns};
    look_again_at(worker, place->until_ns);
}

static void skip_world(SapWorker *worker, const UniverseName *world)
{
    skip_world_for(worker, world, SKIP_NS);
}

static bool is_skipped(SapWorker *worker, const UniverseName *world)
{
    uint64_t hash = 0;
    const SkippedWorld *place = skipped_place(worker, world, &hash);
    bool skipped = place->hash == hash && clock_boot_ns(worker->universe->clock) < place->until_ns;
    if (skipped) {
        look_again_at(worker, place->until_ns);
    }
    return skipped;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static int decode_hint(const SapStoreRow *row, Hint *hint)
{
    WitUniverseDbi39ReadyKey fields;
    *hint = (Hint){.key = {.table = WIT_DBI_READY, .len = row->key_len}};
    int rc =
        row_decode_code(wit_universe_dbi39_ready_key_decode(row->key, row->key_len, &fields, NULL));
    if (rc == SAP_OK) {
        memcpy(hint->key.bytes, row->key, row->key_len);
        universe_name_copy(&hint->world, &fields.world);
        hint->priority = fields.priority;
        hint->put_ns = load_u64be(fields.seq.data); /* a seq begins with the lease time */
        wit_universe_dbi39_ready_key_free(&fields);
    }
    return rc;
}

static uint64_t hint_age_ns(const SapWorker *worker, const Hint *hint)
{
    uint64_t now_ns = sap_store_lease_ns(worker->universe->store);
    return now_ns > hint->put_ns ? now_ns - hint->put_ns : 0;
}

static void measure_hints(SapWorker *worker, const Buf *hints)
{
    bool any = hint_count(hints) > 0;
    gauge_set(meters_of(worker)->hints, (int64_t)hint_count(hints));
    gauge_set(meters_of(worker)->hint_age,
              any ? (int64_t)hint_age_ns(worker, hint_at(hints, 0)) : 0);
}

/* The next hints, from where the last look ended. */
static int read_hints(SapWorker *worker, SapStoreTxn *txn, Buf *hints)
{
    RowKey prefix;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    bool from_first = worker->hint_from.len == 0;
    uint64_t version = sap_store_version(txn);
    row_key_universe(&prefix, WIT_DBI_READY, worker->universe->number);
    row_range(&prefix, &to, &range);
    if (!from_first) {
        range.from = worker->hint_from.bytes;
        range.from_len = worker->hint_from.len;
    }
    int rc = sap_store_scan(txn, &range, false, HINTS_AT_ONCE, &rows, &count);
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        Hint hint;
        rc = decode_hint(&rows[i], &hint);
        if (rc == SAP_CORRUPT) {
            worker_note_damage_hourly(worker, "a row of ready", &worker->hints_damage_told_ns);
            rc = SAP_OK;
            continue;
        }
        rc = rc == SAP_OK ? buf_append(hints, &hint, sizeof hint) : rc;
    }
    if (rc != SAP_OK) {
        return rc;
    }
    if (from_first) { /* what comes in front of a later page is seen by the next look from the first */
        worker->hints_version = version;
        measure_hints(worker, hints);
    }
    worker->hint_from.len = 0;
    if (count == HINTS_AT_ONCE) { /* there may be more: the next look goes on after the last */
        row_key_after(&worker->hint_from, &rows[count - 1]);
    }
    return SAP_OK;
}

/* SAP_OK: it is assigned to no other worker. */
static int check_assignment(const SapWorker *worker, SapStoreTxn *txn, const UniverseName *world)
{
    UniverseName assigned;
    int rc = assignment_get(txn, worker->universe->number, world, &assigned);
    if (rc == SAP_NOTFOUND) {
        return SAP_OK;
    }
    return rc == SAP_OK && !universe_name_equal(&assigned, &worker->session.worker) ? SAP_CONFLICT
                                                                                    : rc;
}

/* Whether somebody else who is alive holds it. */
static int check_holder(const SapWorker *worker, SapStoreTxn *txn, const UniverseName *world,
                        bool *held_out)
{
    RowKey key;
    LeaseRow lease = {.epoch = 0};
    *held_out = false;
    row_key_world(&key, WIT_DBI_LEASE, worker->universe->number, world);
    int rc = lease_row_get(txn, &key, &lease);
    if (rc == SAP_OK && lease.holder.len > 0 &&
        memcmp(lease.nonce, worker->session.nonce, sizeof lease.nonce) != 0) {
        rc = session_is_alive(&worker->session, txn, &lease.holder, lease.nonce, held_out);
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* This process does not have its module. */
static int consider_unable(const SapWorker *worker, SapStoreTxn *txn, Hint *hint)
{
    UniverseName assigned;
    bool has = false;
    int rc = assignment_get(txn, worker->universe->number, &hint->world, &assigned);
    hint->use = HINT_LEAVE;
    hint->unable = UNABLE_ASSIGNED;
    if (rc == SAP_NOTFOUND) {
        rc = session_any_has(&worker->session, txn, &hint->module, hint->pin, &has);
        hint->unable = has ? UNABLE_NOBODY : UNABLE_ALL;
    }
    return rc;
}

/* Whether it is worth trying to acquire the world. */
static int consider_other(SapWorker *worker, SapStoreTxn *txn, Hint *hint)
{
    RowKey key;
    WitUniverseDbi21WorldMetaValue meta;
    bool held = false;
    row_key_world(&key, WIT_DBI_WORLD_META, worker->universe->number, &hint->world);
    int rc = meta_row_get(txn, &key, &meta);
    if (rc == SAP_NOTFOUND) {
        hint->use = HINT_DELETE;
        return SAP_OK;
    }
    if (rc != SAP_OK) {
        return rc;
    }
    universe_name_copy(&hint->module, &meta.module);
    hint->pin = meta.pin;
    bool runs = world_status_runs(meta.status);
    wit_universe_dbi21_world_meta_value_free(&meta);
    if (!runs) {
        hint->use = HINT_DELETE;
        return SAP_OK;
    }
    rc = check_holder(worker, txn, &hint->world, &held);
    rc = rc == SAP_OK && !held ? check_assignment(worker, txn, &hint->world) : rc;
    if (rc == SAP_CONFLICT || (rc == SAP_OK && held)) {
        hint->use = HINT_LEAVE;
        return SAP_OK;
    }
    hint->needs_module = rc == SAP_OK;
    return rc == SAP_OK ? resolver_note(&worker->resolver, txn, worker->universe->number,
                                        &hint->module, hint->pin)
                        : rc;
}

static int consider_own(SapWorker *worker, SapStoreTxn *txn, const HotWorld *world, Hint *hint)
{
    /* What has come since the last look may be what the messages wait for. */
    bool news = world->holds_back && !world->waits && hint->put_ns > world->held_back_ns;
    bool early = clock_boot_ns(worker->universe->clock) < world->retry_at_ns;
    if (world->state_now != HOT_IDLE || (early && !news)) {
        hint->use = HINT_LEAVE;
        return SAP_OK;
    }
    int rc = check_assignment(worker, txn, &hint->world);
    if (rc == SAP_CONFLICT) {
        hint->use = HINT_LEAVE;
        hint->give_back = true;
        return SAP_OK;
    }
    /* One that could not be opened yet has no birth: its module was noted before it was acquired. */
    return rc == SAP_OK && world->birth.module.len > 0
               ? resolver_note(&worker->resolver, txn, worker->universe->number,
                               &world->birth.module, world->birth.pin)
               : rc;
}

static int consider_hint(SapWorker *worker, SapStoreTxn *txn, Hint *hint)
{
    const HotWorld *world = hot_find(&worker->hot, &hint->world);
    if (world == NULL && is_skipped(worker, &hint->world)) {
        hint->use = HINT_LEAVE;
        return SAP_OK;
    }
    int rc =
        world != NULL ? consider_own(worker, txn, world, hint) : consider_other(worker, txn, hint);
    if (rc == SAP_CORRUPT) {
        worker_note_damage(worker, "a row of meta, lease, session or assignment", &hint->world);
        hint->use = HINT_LEAVE;
        skip_world_for(worker, &hint->world, DAMAGED_NS);
        return SAP_OK;
    }
    if (rc == SAP_OK && world == NULL && hint->use == HINT_LEAVE) {
        skip_world(worker, &hint->world);
    }
    return rc;
}

static bool lacks_module(const SapWorker *worker, const Hint *hint)
{
    return hint->use == HINT_OPEN && hint->needs_module &&
           resolver_find(&worker->resolver, &hint->module, hint->pin) == NULL;
}

/* After the transaction, in which the host is not asked for modules. Worlds that this worker cannot run
 * are looked at in another one. */
static int check_modules_of(SapWorker *worker, const Buf *hints)
{
    SapStoreTxn *txn = NULL;
    int rc = resolver_settle(&worker->resolver);
    for (size_t i = 0; rc == SAP_OK && i < hint_count(hints); i++) {
        Hint *hint = hint_at(hints, i);
        if (!lacks_module(worker, hint)) {
            continue;
        }
        rc = txn == NULL ? sap_store_begin(worker->universe->store, SAP_STORE_READ_NEWEST, &txn)
                         : SAP_OK;
        rc = rc == SAP_OK ? consider_unable(worker, txn, hint) : rc;
        skip_world(worker, &hint->world);
    }
    sap_store_abort(txn);
    return rc;
}

/* Decides in one read transaction what is worth a try. */
static int consider_hints(SapWorker *worker, Buf *hints)
{
    SapStoreTxn *txn = NULL;
    resolver_begin(&worker->resolver);
    int rc = sap_store_begin(worker->universe->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? read_hints(worker, txn, hints) : rc;
    for (size_t i = 0; rc == SAP_OK && i < hint_count(hints); i++) {
        rc = consider_hint(worker, txn, hint_at(hints, i));
    }
    sap_store_abort(txn);
    return rc == SAP_OK ? check_modules_of(worker, hints) : rc;
}

/* ---- Acquiring ------------------------------------------------------------------------------- */

/* It has nothing that would be lost, and its hint stays: it comes back when others had their turn. */
static int set_aside(SapWorker *worker, HotWorld *world)
{
    skip_world(worker, &world->lease.name);
    return worker_give_back(worker, world);
}

/* Worlds that were idle for longest make room, then those that wait for the machine. SAP_BUSY: all are at
 * work, or their handlers fail. */
static int make_room(SapWorker *worker)
{
    int rc = SAP_OK;
    while (rc == SAP_OK && worker->hot.count > 0 &&
           (worker->hot.count >= worker->max_worlds || worker->hot.memory > worker->max_memory)) {
        HotWorld *oldest = worker_oldest_idle(worker);
        HotWorld *waiting = oldest == NULL ? hot_oldest_waiting(&worker->hot) : NULL;
        rc = oldest != NULL    ? worker_give_back(worker, oldest)
             : waiting != NULL ? set_aside(worker, waiting)
                               : SAP_BUSY;
    }
    return rc;
}

static int acquire_world(SapWorker *worker, const UniverseName *name, HotWorld **world_out)
{
    Lease lease;
    HotWorld *world = NULL;
    int rc = lease_acquire_world(&worker->session, name, &worker->taken_mark, &lease);
    rc = rc == SAP_OK ? cycle_world_make(&lease, &world) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    hot_add(&worker->hot, world);
    worker->stats.acquired++;
    counter_add(meters_of(worker)->acquired, 1);
    if (lease.unclean) {
        LOG_EVENT(meters_of(worker)->log, LOG_LEVEL_WARN, "universe.taken_over",
                  LOG_STR("world", name->text), LOG_U64("epoch", lease.epoch));
    }
    *world_out = world;
    return SAP_OK;
}

/* The world runs the module that this worker has for it now. SAP_NOTFOUND: it has none. */
static int choose_module(SapWorker *worker, HotWorld *world)
{
    resolver_use(&worker->resolver, world,
                 resolver_find(&worker->resolver, &world->birth.module, world->birth.pin));
    return world->module == NULL ? SAP_NOTFOUND : SAP_OK;
}

/* Reads head and birth, and makes the state. SAP_NOTFOUND: this process does not have its module. */
static int open_world(SapWorker *worker, HotWorld *world)
{
    SapUniverse *universe = worker->universe;
    int rc = journal_open(&world->lease, &world->head, &world->birth);
    if (rc != SAP_OK) {
        return rc;
    }
    world->noted = world->birth.has_reason;
    world->is_stuck = world->birth.is_stuck;
    rc = choose_module(worker, world);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = journal_restore(universe->store, universe->number, &world->lease.name, &world->birth,
                         &world->head, &world->state);
    if (rc == SAP_OK) {
        uint64_t entries = world->head.height - world->birth.height;
        worker->stats.restored += entries;
        counter_add(meters_of(worker)->restored, entries);
        hot_used(&worker->hot, world, cycle_world_memory(world));
    }
    return rc;
}

/* SAP_OK: *world_out is ready to run, or NULL if it is not this worker's to run now. */
static int ready_world(SapWorker *worker, const UniverseName *name, HotWorld **world_out)
{
    HotWorld *world = hot_find(&worker->hot, name);
    uint64_t start_ns = clock_mono_ns(worker->universe->clock);
    int rc = world == NULL ? acquire_world(worker, name, &world) : SAP_OK;
    *world_out = NULL;
    if (rc == SAP_BUSY || rc == SAP_NOTFOUND || rc == SAP_CONFLICT) {
        skip_world(worker, name); /* others were faster */
        return SAP_OK;
    }
    if (rc == SAP_OK && world->state != NULL && choose_module(worker, world) != SAP_OK) {
        return worker_give_back(worker, world); /* a newer version is not for this worker */
    }
    if (rc == SAP_OK && world->state == NULL) {
        rc = open_world(worker, world);
        histogram_record(meters_of(worker)->restore_ns,
                         clock_mono_ns(worker->universe->clock) - start_ns);
        if (rc == SAP_FENCED) {
            worker_fence(worker, world);
            return SAP_OK;
        }
        if (rc == SAP_NOTFOUND) {
            return worker_give_back(worker, world);
        }
        if (rc == SAP_CORRUPT) {
            return worker_pause(worker, world,
                                "its journal is damaged: the state cannot be restored");
        }
    }
    if (rc == SAP_OK) {
        *world_out = world;
    }
    return rc;
}

/* A world that may have ended a process runs when no other such world does. */
static bool may_run(SapWorker *worker, HotWorld *world)
{
    if (!world->lease.unclean || world->careful) {
        return true;
    }
    world->careful = !atomic_exchange(&worker->universe->careful, true);
    if (!world->careful) {
        look_again_at(worker, clock_boot_ns(worker->universe->clock) + SKIP_NS);
    }
    return world->careful;
}

/* ---- Hints that are of no use ---------------------------------------------------------------- */

typedef struct HintEnd {
    uint32_t universe;
    const Hint *hint;
} HintEnd;

/* Meta is read under its guard, so that a resume is either seen or comes after. */
static int delete_hint_body(SapStoreTxn *store_txn, void *ctx)
{
    const HintEnd *end = (const HintEnd *)ctx;
    UniverseTxn txn;
    UniverseGuard guard = {.exclusive = false};
    WitUniverseDbi21WorldMetaValue meta;
    bool runs = false;
    row_key_world(&guard.key, WIT_DBI_WORLD_META, end->universe, &end->hint->world);
    int rc = universe_txn_start(&txn, store_txn, PARTY_PRODUCER, &guard, 1, NULL, 0);
    rc = rc == SAP_OK ? meta_row_get(store_txn, &guard.key, &meta) : rc;
    if (rc == SAP_OK) {
        runs = world_status_runs(meta.status);
        wit_universe_dbi21_world_meta_value_free(&meta);
    }
    if (runs || (rc != SAP_OK && rc != SAP_NOTFOUND)) {
        return rc;
    }
    rc = universe_del(&txn, &end->hint->key);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int delete_hint(SapWorker *worker, const Hint *hint)
{
    HintEnd end = {worker->universe->number, hint};
    return sap_store_run(worker->universe->store, SAP_STORE_GUARDED, delete_hint_body, &end, NULL);
}

/* All workers that lack it say the same, or they would take turns in writing what they say. */
static int note_missing_module(SapWorker *worker, const Hint *hint)
{
    char who[SAP_WORLD_MAX_NAME + 64] = "no worker";
    char what[SAP_WORLD_MAX_NAME + 64];
    char reason[sizeof who + sizeof what + 16];
    bool assigned = hint->unable == UNABLE_ASSIGNED;
    if (assigned) {
        (void)snprintf(who, sizeof who, "assigned to worker %s, which",
                       worker->session.worker.text);
    }
    if (hint->pin == 0) {
        (void)snprintf(what, sizeof what, "module %s", hint->module.text);
    } else {
        (void)snprintf(what, sizeof what, "version %" PRIu64 " of module %s", hint->pin,
                       hint->module.text);
    }
    (void)snprintf(reason, sizeof reason, "%s has %s%s", who, assigned ? "no " : "", what);
    return world_note_free(worker->universe, &hint->world, reason);
}

/* ---- Choosing -------------------------------------------------------------------------------- */

/* There is no room for it. If that lasts, its meta row says so. */
static int leave_outside(SapWorker *worker, const Hint *hint)
{
    skip_world(worker, &hint->world);
    return hint_age_ns(worker, hint) < NO_ROOM_NS
               ? SAP_OK
               : world_note_free(worker->universe, &hint->world,
                                 "no worker has room: max_worlds or max_memory is reached");
}

/* The world of a hint, made ready; `chosen` gets it. */
static int choose_world(SapWorker *worker, Hint *hint)
{
    HotWorld *world = NULL;
    int rc = hot_find(&worker->hot, &hint->world) == NULL ? make_room(worker) : SAP_OK;
    hint->use = HINT_LEAVE;
    if (rc == SAP_BUSY) {
        return leave_outside(worker, hint);
    }
    rc = rc == SAP_OK ? ready_world(worker, &hint->world, &world) : rc;
    if (rc == SAP_OK && world != NULL && may_run(worker, world)) {
        world->state_now = HOT_LOADED;
        hot_list_add(&worker->chosen, world);
        hint->use = HINT_RUN;
    }
    return rc;
}

static int use_hint(SapWorker *worker, Hint *hint, uint32_t limit)
{
    HotWorld *world = hot_find(&worker->hot, &hint->world);
    int rc = SAP_OK;
    if (hint->use == HINT_DELETE) {
        return delete_hint(worker, hint);
    }
    if (hint->give_back && world != NULL && world->state_now == HOT_IDLE) {
        return worker_give_back(worker, world);
    }
    if (hint->unable != UNABLE_NOBODY) {
        return note_missing_module(worker, hint);
    }
    if (hint->use == HINT_OPEN && world != NULL && world->state_now == HOT_LOADED) {
        hint->use = HINT_RUN; /* another hint of a world that was chosen */
    } else if (hint->use == HINT_OPEN && worker->chosen.count < limit) {
        rc = choose_world(worker, hint);
        world = hot_find(&worker->hot, &hint->world);
    }
    return rc == SAP_OK && hint->use == HINT_RUN ? cycle_add_hint(world, &hint->key, hint->priority)
                                                 : rc;
}

/* SAP_CORRUPT of a world pauses that world. */
static int load_world(SapWorker *worker, SapStoreTxn *txn, HotWorld *world)
{
    SapStore *store = worker->universe->store;
    CycleLimits limits = worker->limits;
    uint64_t now_ns = sap_store_due_ns(store);
    limits.items = world->careful ? 1 : limits.items;
    int rc = cycle_load(world, store, txn, &limits);
    const InboxItem *first = rc == SAP_OK ? cycle_first_item(world) : NULL;
    if (first != NULL && now_ns > first->item.time_ns) {
        histogram_record(meters_of(worker)->item_wait_ns, now_ns - first->item.time_ns);
    }
    world->damaged = rc == SAP_CORRUPT;
    return world->damaged ? SAP_OK : rc;
}

/* Reads the inboxes of what was chosen, as far as there is memory for in one step. */
static int load_chosen(SapWorker *worker)
{
    SapStoreTxn *txn = NULL;
    HotWorld *next = NULL;
    size_t bytes = 0;
    int rc = sap_store_begin(worker->universe->store, SAP_STORE_READ_NEWEST, &txn);
    for (HotWorld *world = worker->chosen.first; rc == SAP_OK && world != NULL; world = next) {
        next = world->next;
        if (bytes >= STEP_BYTES) {
            worker_unchoose(worker, world);
            continue;
        }
        rc = load_world(worker, txn, world);
        bytes += cycle_loaded_bytes(world);
    }
    sap_store_abort(txn);
    for (HotWorld *world = worker->chosen.first; rc == SAP_OK && world != NULL; world = next) {
        next = world->next;
        if (world->damaged) {
            worker_unchoose(worker, world);
            rc = worker_pause(worker, world, "a row of its inbox is damaged");
        } else if (world->holds_back && cycle_first_item(world) == NULL) {
            /* Its messages wait for answers, which come with hints; these stay. */
            world->held_back_ns = sap_store_lease_ns(worker->universe->store);
            world->retry_at_ns = clock_boot_ns(worker->universe->clock) + HELD_BACK_NS;
            look_again_at(worker, world->retry_at_ns);
            counter_add(meters_of(worker)->held_back, 1);
            worker_unchoose(worker, world);
        }
    }
    return rc;
}

/* One page of hints. *left_out: the priority of the first of them that could not be used because enough
 * were found. */
static int choose_page(SapWorker *worker, uint32_t limit, uint32_t *left_out)
{
    Buf hints = {0};
    int rc = consider_hints(worker, &hints);
    for (size_t i = 0; rc == SAP_OK && i < hint_count(&hints); i++) {
        const Hint *hint = hint_at(&hints, i);
        rc = use_hint(worker, hint_at(&hints, i), limit);
        if (hint->use == HINT_OPEN && *left_out == NOTHING_LEFT) {
            *left_out = hint->priority;
        }
    }
    buf_release(&hints);
    return rc;
}

/* From where worker->hint_from says to the end, or until enough were found. */
static int choose_some(SapWorker *worker, uint32_t limit, uint32_t *left_out)
{
    int rc = SAP_OK;
    *left_out = NOTHING_LEFT;
    for (int page = 0; page < PAGES_AT_ONCE; page++) {
        rc = choose_page(worker, limit, left_out);
        if (rc != SAP_OK || worker->hint_from.len == 0 || worker->chosen.count >= limit) {
            break;
        }
    }
    return rc;
}

static void begin_at_priority(SapWorker *worker, uint32_t priority)
{
    worker->hint_from.len = 0;
    if (priority <= UINT8_MAX) {
        row_key_priority(&worker->hint_from, worker->universe->number, (uint8_t)priority);
    }
}

/* Where the next look begins, after one that had to leave some of a priority. What comes first goes first;
 * but every second look begins at a lower priority, each time at the one after where the last such look
 * had to leave some, so that those run too. */
static void turn_to_others(SapWorker *worker, bool from_first, uint32_t left)
{
    if (!from_first) {
        worker->lower_from = left + 1;
        worker->hint_from.len = 0;
        return;
    }
    begin_at_priority(worker, worker->lower_from > left ? worker->lower_from : left + 1);
    worker->lower_from = 0;
}

int worker_choose(SapWorker *worker, uint32_t limit)
{
    uint32_t left = NOTHING_LEFT;
    bool from_first = worker->hint_from.len == 0;
    SAP_ASSERT(worker->chosen.count == 0);
    int rc = choose_some(worker, limit, &left);
    if (rc == SAP_OK && !from_first && worker->chosen.count == 0 && worker->hint_from.len == 0) {
        from_first = true; /* nothing there: those that come first have waited */
        rc = choose_some(worker, limit, &left);
    }
    if (left != NOTHING_LEFT) {
        turn_to_others(worker, from_first, left);
    }
    return rc == SAP_OK && worker->chosen.count > 0 ? load_chosen(worker) : rc;
}
