/* worker.c - a worker: finds worlds that have something to do, holds them, and runs their cycles.
 *
 * A step is one commit of several worlds:
 *
 *   read hints -> acquire and restore -> read inboxes -> run handlers -> one fenced transaction
 *
 * Hints are read before the inboxes: an item that comes in between has a hint of its own, which stays. So
 * as long as an active world has something in its inbox, there is a hint of it.
 *
 * The worlds of a transaction are its batch. It is IDLE (there is none), RUN (handlers have run, to be
 * submitted) or UNKNOWN (submitted, and nobody knows whether it was committed: the heads decide). Handlers
 * are not run again when a batch is submitted again. A world that is fenced leaves the batch and the
 * worker's memory; the others are submitted again. */
#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/mem.h"
#include "common/options.h"
#include "universe/cycle.h"

enum {
    HINTS_AT_ONCE = 128,
    BATCH_WORLDS = 24, /* two guards each, of SAP_STORE_MAX_GUARDS */
    DEFAULT_WORLDS = 1024,
    DEFAULT_BATCH = 16,
    DEFAULT_ITEMS = 64,
    DEFAULT_EFFECTS = 1024,
    DEFAULT_WALL_MS = 50,
    DEFAULT_ATTEMPTS = 8,
};

OPTIONS_LAYOUT(SapWorkerOptions, reserved, reserved);

typedef enum BatchState { BATCH_IDLE, BATCH_RUN, BATCH_UNKNOWN } BatchState;

struct SapWorker {
    SapUniverse *universe;
    Session session;
    CycleLimits limits;
    uint32_t max_worlds;
    uint32_t max_batch;
    HotWorld *worlds;
    uint32_t world_count;
    RowKey hint_from; /* where the next look at the hints begins; len 0: at the first */
    uint64_t hints_version;
    BatchState batch_state;
    HotWorld *batch[BATCH_WORLDS];
    uint32_t batch_count;
    SapWorkerStats stats;
};

/* ---- Opening and closing --------------------------------------------------------------------- */

static uint32_t or_default(uint32_t given, uint32_t otherwise)
{
    return given != 0 ? given : otherwise;
}

static void set_limits(SapWorker *worker, const SapWorkerOptions *options)
{
    worker->max_worlds = or_default(options->max_worlds, DEFAULT_WORLDS);
    worker->max_batch = or_default(options->max_worlds_per_commit, DEFAULT_BATCH);
    worker->limits = (CycleLimits){
        .items = or_default(options->max_inbox_batch, DEFAULT_ITEMS),
        .steps = or_default(options->max_tick_steps_per_cycle, DEFAULT_ITEMS),
        .effects = or_default(options->max_effects_per_cycle, DEFAULT_EFFECTS),
        .wall_ns = UINT64_C(1000000) * or_default(options->max_cycle_wall_ms, DEFAULT_WALL_MS),
        .attempts = or_default(options->max_attempts, DEFAULT_ATTEMPTS),
    };
}

static void count_worker(SapUniverse *universe, int change)
{
    mutex_lock(&universe->lock);
    universe->workers += (uint32_t)change;
    mutex_unlock(&universe->lock);
}

static int start_session(SapWorker *worker, const char *name)
{
    SapUniverse *universe = worker->universe;
    char drawn[32];
    uint8_t bytes[8];
    if (name == NULL) {
        int rc = random_fill(universe->random, bytes, sizeof bytes);
        if (rc != SAP_OK) {
            return rc;
        }
        (void)snprintf(drawn, sizeof drawn, "worker-%02x%02x%02x%02x%02x%02x", bytes[0], bytes[1],
                       bytes[2], bytes[3], bytes[4], bytes[5]);
        name = drawn;
    }
    int rc = session_init(&worker->session, universe->store, universe->clock, universe->random,
                          universe->number, name);
    return rc == SAP_OK ? session_start(&worker->session) : rc;
}

int sap_worker_open(SapUniverse *universe, const SapWorkerOptions *options, SapWorker **worker_out)
{
    SapWorkerOptions all = {.size = sizeof all};
    if (universe == NULL || worker_out == NULL ||
        OPTIONS_READ(SapWorkerOptions, &all, options) != SAP_OK ||
        all.max_worlds_per_commit > BATCH_WORLDS) {
        return SAP_ERROR;
    }
    SapWorker *worker = (SapWorker *)mem_zalloc(MEM_UNIVERSE, sizeof *worker);
    if (worker == NULL) {
        return SAP_NOMEM;
    }
    worker->universe = universe;
    set_limits(worker, &all);
    int rc = start_session(worker, all.name);
    if (rc != SAP_OK) {
        mem_free(MEM_UNIVERSE, worker, sizeof *worker);
        return rc;
    }
    count_worker(universe, 1);
    *worker_out = worker;
    return SAP_OK;
}

/* Forgets a world, whatever it is doing. Its lease is not given back. */
static void drop_world(SapWorker *worker, HotWorld *world)
{
    HotWorld **link = &worker->worlds;
    while (*link != world) {
        link = &(*link)->next;
    }
    *link = world->next;
    worker->world_count--;
    for (uint32_t i = 0; i < worker->batch_count; i++) {
        if (worker->batch[i] == world) {
            worker->batch[i] = worker->batch[--worker->batch_count];
            break;
        }
    }
    cycle_world_free(world);
}

static void fence_world(SapWorker *worker, HotWorld *world)
{
    worker->stats.fenced++;
    drop_world(worker, world);
}

int sap_worker_close(SapWorker *worker)
{
    int rc = SAP_OK;
    if (worker == NULL) {
        return SAP_OK;
    }
    bool may_work = session_may_work(&worker->session);
    while (worker->worlds != NULL) {
        HotWorld *world = worker->worlds;
        if (rc == SAP_OK && may_work && worker->batch_state != BATCH_UNKNOWN) {
            rc = lease_release(&world->lease);
            worker->stats.released += rc == SAP_OK;
            rc = rc == SAP_FENCED ? SAP_OK : rc;
        }
        drop_world(worker, world);
    }
    if (rc == SAP_OK) {
        rc = session_end(&worker->session);
    }
    worker_abandon(worker);
    return rc;
}

void worker_abandon(SapWorker *worker)
{
    if (worker == NULL) {
        return;
    }
    while (worker->worlds != NULL) {
        drop_world(worker, worker->worlds);
    }
    count_worker(worker->universe, -1);
    mem_free(MEM_UNIVERSE, worker, sizeof *worker);
}

int worker_clear_dead(SapWorker *worker)
{
    enum { WORLDS_AT_ONCE = 64 };
    bool more = false;
    return lease_clear_dead(&worker->session, WORLDS_AT_ONCE, &more);
}

int sap_worker_renew(SapWorker *worker)
{
    if (worker == NULL) {
        return SAP_ERROR;
    }
    Session *session = &worker->session;
    bool time = clock_boot_ns(session->clock) >= relaxed_load(&session->renew_at_ns);
    return time ? session_renew(session) : SAP_OK;
}

int sap_worker_stats(SapWorker *worker, SapWorkerStats *stats_out)
{
    if (worker == NULL || stats_out == NULL) {
        return SAP_ERROR;
    }
    *stats_out = worker->stats;
    stats_out->held = worker->world_count;
    return SAP_OK;
}

/* ---- Finding worlds -------------------------------------------------------------------------- */

static HotWorld *find_world(const SapWorker *worker, const UniverseName *name)
{
    HotWorld *world = worker->worlds;
    while (world != NULL && (world->lease.name.len != name->len ||
                             memcmp(world->lease.name.text, name->text, name->len) != 0)) {
        world = world->next;
    }
    return world;
}

/* A world that has had nothing to do for the longest time makes room. */
static int make_room(SapWorker *worker)
{
    HotWorld *oldest = NULL;
    for (HotWorld *world = worker->worlds; world != NULL; world = world->next) {
        if (!world->running && (oldest == NULL || world->used_ns < oldest->used_ns)) {
            oldest = world;
        }
    }
    if (worker->world_count < worker->max_worlds || oldest == NULL) {
        return worker->world_count < worker->max_worlds ? SAP_OK : SAP_BUSY;
    }
    int rc = lease_release(&oldest->lease);
    if (rc == SAP_OK || rc == SAP_FENCED) {
        worker->stats.released += rc == SAP_OK;
        drop_world(worker, oldest);
        return SAP_OK;
    }
    return rc;
}

/* Restores a world that the worker holds. SAP_NOTFOUND: it has no such module. */
static int open_world(SapWorker *worker, HotWorld *world)
{
    SapUniverse *universe = worker->universe;
    int rc = journal_open(&world->lease, &world->head, &world->birth);
    if (rc != SAP_OK) {
        return rc;
    }
    world->module = universe_module_find(&world->birth.module);
    if (world->module == NULL) {
        return SAP_NOTFOUND;
    }
    rc = journal_restore(universe->store, universe->number, &world->lease.name, &world->birth,
                         &world->head, &world->state);
    worker->stats.restored += rc == SAP_OK ? world->head.height - world->birth.height : 0;
    return rc;
}

static int acquire_world(SapWorker *worker, const UniverseName *name, HotWorld **world_out)
{
    Lease lease;
    HotWorld *world = NULL;
    int rc = make_room(worker);
    rc = rc == SAP_OK ? lease_acquire_world(&worker->session, name, &lease) : rc;
    rc = rc == SAP_OK ? cycle_world_make(&lease, &world) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    world->next = worker->worlds;
    worker->worlds = world;
    worker->world_count++;
    worker->stats.acquired++;
    *world_out = world;
    return SAP_OK;
}

static int pause_world(SapWorker *worker, HotWorld *world, const char *reason)
{
    int rc = world_pause_held(worker->universe, &world->lease, reason);
    if (rc == SAP_OK || rc == SAP_FENCED || rc == SAP_NOTFOUND) {
        worker->stats.paused += rc == SAP_OK;
        drop_world(worker, world);
        return SAP_OK;
    }
    return rc;
}

/* Gives back a world that this worker cannot run. */
static int return_world(SapWorker *worker, HotWorld *world)
{
    int rc = lease_release(&world->lease);
    if (rc == SAP_OK || rc == SAP_FENCED) {
        drop_world(worker, world);
        return SAP_OK;
    }
    return rc;
}

/* Makes the world ready to run. *world_out stays NULL if it is not this worker's to run now. */
static int ready_world(SapWorker *worker, const UniverseName *name, HotWorld **world_out)
{
    HotWorld *world = find_world(worker, name);
    int rc = world == NULL ? acquire_world(worker, name, &world) : SAP_OK;
    if (rc == SAP_BUSY || rc == SAP_NOTFOUND) {
        return SAP_OK; /* another worker's, or not active */
    }
    if (rc == SAP_OK && world->state == NULL) {
        rc = open_world(worker, world);
        if (rc == SAP_FENCED) {
            fence_world(worker, world);
            return SAP_OK;
        }
        if (rc == SAP_NOTFOUND) {
            return return_world(worker, world);
        }
        if (rc == SAP_CORRUPT) {
            return pause_world(worker, world,
                               "its journal is damaged: the state cannot be restored");
        }
    }
    if (rc == SAP_OK && clock_boot_ns(worker->universe->clock) >= world->retry_at_ns) {
        *world_out = world;
    }
    return rc;
}

/* ---- Hints ----------------------------------------------------------------------------------- */

typedef struct Hint {
    RowKey key;
    UniverseName world;
} Hint;

/* The next hints, from where the last look ended; appended to *hints. */
static int read_hints(SapWorker *worker, SapStoreTxn *txn, Buf *hints)
{
    RowKey prefix;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    row_key_universe(&prefix, WIT_DBI_READY, worker->universe->number);
    row_range(&prefix, &to, &range);
    if (worker->hint_from.len > 0) {
        range.from = worker->hint_from.bytes;
        range.from_len = worker->hint_from.len;
    }
    worker->hints_version = sap_store_version(txn);
    int rc = sap_store_scan(txn, &range, false, HINTS_AT_ONCE, &rows, &count);
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        WitUniverseDbi39ReadyKey fields;
        Hint hint = {.key = {.table = WIT_DBI_READY, .len = rows[i].key_len}};
        rc = row_decode_code(
            wit_universe_dbi39_ready_key_decode(rows[i].key, rows[i].key_len, &fields, NULL));
        if (rc == SAP_OK) {
            memcpy(hint.key.bytes, rows[i].key, rows[i].key_len);
            universe_name_copy(&hint.world, &fields.world);
            wit_universe_dbi39_ready_key_free(&fields);
            rc = buf_append(hints, &hint, sizeof hint);
        }
    }
    if (rc == SAP_OK) {
        worker->hint_from.len = 0;
        if (count == HINTS_AT_ONCE) { /* there may be more: the next look goes on after the last */
            memcpy(worker->hint_from.bytes, rows[count - 1].key, rows[count - 1].key_len);
            worker->hint_from.bytes[rows[count - 1].key_len] = 0;
            worker->hint_from.len = rows[count - 1].key_len + 1;
        }
    }
    return rc;
}

/* A hint of a world that is not active is of no use: resuming puts another. Meta is read under its
 * guard, so that a resume is either seen or comes after. */
static int delete_hint_body(SapStoreTxn *store_txn, void *ctx)
{
    const Hint *hint = (const Hint *)ctx;
    UniverseTxn txn;
    UniverseGuard guard = {.exclusive = false};
    WitUniverseDbi21WorldMetaValue meta;
    WitUniverseDbi39ReadyKey fields;
    int rc = row_decode_code(
        wit_universe_dbi39_ready_key_decode(hint->key.bytes, hint->key.len, &fields, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    row_key_world(&guard.key, WIT_DBI_WORLD_META, fields.universe, &hint->world);
    wit_universe_dbi39_ready_key_free(&fields);
    rc = universe_txn_start(&txn, store_txn, PARTY_PRODUCER, &guard, 1, NULL, 0);
    rc = rc == SAP_OK ? meta_row_get(store_txn, &guard.key, &meta) : rc;
    bool active = false;
    if (rc == SAP_OK) {
        active = meta.status == WIT_UNIVERSE_WORLD_STATUS_ACTIVE;
        wit_universe_dbi21_world_meta_value_free(&meta);
    }
    if (active || (rc != SAP_OK && rc != SAP_NOTFOUND)) {
        return rc;
    }
    rc = universe_del(&txn, &hint->key);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int is_active(SapWorker *worker, const UniverseName *name, bool *active_out)
{
    SapStoreTxn *txn = NULL;
    RowKey key;
    WitUniverseDbi21WorldMetaValue meta;
    row_key_world(&key, WIT_DBI_WORLD_META, worker->universe->number, name);
    int rc = sap_store_begin(worker->universe->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? meta_row_get(txn, &key, &meta) : rc;
    sap_store_abort(txn);
    *active_out = rc == SAP_OK && meta.status == WIT_UNIVERSE_WORLD_STATUS_ACTIVE;
    if (rc == SAP_OK) {
        wit_universe_dbi21_world_meta_value_free(&meta);
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* ---- The batch ------------------------------------------------------------------------------- */

static bool in_batch(const SapWorker *worker, const HotWorld *world)
{
    for (uint32_t i = 0; i < worker->batch_count; i++) {
        if (worker->batch[i] == world) {
            return true;
        }
    }
    return false;
}

/* The worlds of the hints that this worker can run now, each with its hints. */
static int gather_batch(SapWorker *worker, const Hint *hints, size_t count)
{
    int rc = SAP_OK;
    for (size_t i = 0; rc == SAP_OK && i < count; i++) {
        HotWorld *world = find_world(worker, &hints[i].world);
        bool active = true;
        if (world != NULL && in_batch(worker, world)) {
            rc = cycle_add_hint(world, &hints[i].key);
            continue;
        }
        if (worker->batch_count >= worker->max_batch) {
            continue;
        }
        world = NULL;
        rc = ready_world(worker, &hints[i].world, &world);
        if (rc == SAP_OK && world == NULL && find_world(worker, &hints[i].world) == NULL) {
            rc = is_active(worker, &hints[i].world, &active);
        }
        if (rc == SAP_OK && !active) {
            Hint hint = hints[i];
            rc = sap_store_run(worker->universe->store, SAP_STORE_GUARDED, delete_hint_body, &hint,
                               NULL);
        }
        if (rc == SAP_OK && world != NULL) {
            worker->batch[worker->batch_count++] = world;
            rc = cycle_add_hint(world, &hints[i].key);
        }
    }
    return rc;
}

/* Ends the batch: every world of it has committed, or none. */
static void end_batch(SapWorker *worker, bool committed)
{
    while (worker->batch_count > 0) {
        HotWorld *world = worker->batch[--worker->batch_count];
        world->used_ns = clock_boot_ns(worker->universe->clock);
        if (!world->running) { /* it was gathered and has not run */
            writes_clear(&world->writes);
            continue;
        }
        if (committed) {
            worker->stats.steps += world->steps;
            worker->stats.rejected += world->rejected;
        }
        worker->stats.failures += world->failed;
        (void)cycle_end(world, committed);
    }
    worker->stats.cycles += committed;
    worker->batch_state = BATCH_IDLE;
}

/* Loads what waits for the worlds of the batch, and runs it. */
static int run_batch(SapWorker *worker)
{
    SapUniverse *universe = worker->universe;
    int rc = SAP_OK;
    for (uint32_t i = 0; rc == SAP_OK && i < worker->batch_count; i++) {
        SapStoreTxn *txn = NULL;
        rc = sap_store_begin(universe->store, SAP_STORE_READ_NEWEST, &txn);
        rc =
            rc == SAP_OK ? cycle_load(worker->batch[i], universe->store, txn, &worker->limits) : rc;
        sap_store_abort(txn);
    }
    for (uint32_t i = 0; rc == SAP_OK && i < worker->batch_count; i++) {
        rc = cycle_run(worker->batch[i], universe, &worker->limits);
    }
    return rc;
}

/* The transaction of a batch, and the world that was found fenced in it. */
typedef struct Submission {
    SapWorker *worker;
    HotWorld *fenced;
} Submission;

static int submit_body(SapStoreTxn *store_txn, void *ctx)
{
    Submission *submission = (Submission *)ctx;
    SapWorker *worker = submission->worker;
    UniverseGuard guards[BATCH_WORLDS * JOURNAL_GUARDS];
    WriteSet *sets[BATCH_WORLDS];
    UniverseTxn txn;
    submission->fenced = NULL;
    for (uint32_t i = 0; i < worker->batch_count; i++) {
        journal_guards(&worker->batch[i]->lease, &guards[(size_t)i * JOURNAL_GUARDS]);
        sets[i] = &worker->batch[i]->writes;
    }
    int rc = universe_txn_start(&txn, store_txn, PARTY_HOLDER, guards,
                                worker->batch_count * JOURNAL_GUARDS, NULL, 0);
    for (uint32_t i = 0; rc == SAP_OK && i < worker->batch_count; i++) {
        HotWorld *world = worker->batch[i];
        rc = journal_check(&world->lease, store_txn, &world->head);
        if (rc == SAP_FENCED) {
            submission->fenced = world;
        }
    }
    return rc == SAP_OK ? writes_apply(sets, worker->batch_count, &txn) : rc;
}

/* Submits until the batch is committed, given up, or of unknown outcome. */
static int submit_batch(SapWorker *worker)
{
    int rc = SAP_FENCED;
    worker->batch_state = BATCH_RUN;
    while (rc == SAP_FENCED && worker->batch_count > 0) {
        Submission submission = {worker, NULL};
        bool unknown = false;
        if (!session_may_work(&worker->session)) {
            break; /* others may take over soon: what has run is not true any more */
        }
        rc = sap_store_run(worker->universe->store, SAP_STORE_GUARDED, submit_body, &submission,
                           &unknown);
        if (unknown) {
            worker->batch_state = BATCH_UNKNOWN;
            worker->stats.unknown++;
            return rc;
        }
        if (submission.fenced != NULL && rc == SAP_FENCED) {
            fence_world(worker, submission.fenced);
        } else if (rc == SAP_FENCED) { /* a row that must be there is gone */
            while (worker->batch_count > 0) {
                fence_world(worker, worker->batch[0]);
            }
        }
    }
    if (rc == SAP_BUSY || rc == SAP_CONFLICT) {
        return rc; /* the batch stays, and is submitted again */
    }
    end_batch(worker, rc == SAP_OK);
    return rc == SAP_FENCED ? SAP_OK : rc;
}

/* After an unknown outcome: each world's head says what happened. They share one transaction, so it is
 * the same for all that are still this worker's. */
static int resolve_batch(SapWorker *worker)
{
    bool happened = false;
    bool known = false;
    for (uint32_t i = 0; i < worker->batch_count;) {
        HotWorld *world = worker->batch[i];
        bool this_one = false;
        if (world->steps == 0) { /* it moves no head: the others, or a second submission, decide */
            i++;
            continue;
        }
        int rc = journal_resolve(&world->lease, &world->head, &world->after, &this_one);
        if (rc == SAP_FENCED) {
            fence_world(worker, world);
            continue;
        }
        if (rc != SAP_OK) {
            return rc;
        }
        SAP_ASSERT(!known || happened == this_one);
        happened = this_one;
        known = true;
        i++;
    }
    if (known && happened) {
        end_batch(worker, true);
        return SAP_OK;
    }
    worker->batch_state = BATCH_RUN;
    return SAP_OK;
}

/* Worlds whose handlers have failed too often. */
static int pause_failed(SapWorker *worker)
{
    HotWorld *next = NULL;
    for (HotWorld *world = worker->worlds; world != NULL; world = next) {
        next = world->next;
        if (world->pause && !world->running) {
            int rc = pause_world(worker, world, world->reason);
            if (rc != SAP_OK) {
                return rc;
            }
        }
    }
    return SAP_OK;
}

static bool has_writes(const SapWorker *worker)
{
    for (uint32_t i = 0; i < worker->batch_count; i++) {
        if (worker->batch[i]->writes.list.len > 0) {
            return true;
        }
    }
    return false;
}

/* A new batch of what has something to do. */
static int make_batch(SapWorker *worker)
{
    SapStoreTxn *txn = NULL;
    Buf hints = {0};
    int rc = sap_store_begin(worker->universe->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? read_hints(worker, txn, &hints) : rc;
    sap_store_abort(txn);
    rc = rc == SAP_OK
             ? gather_batch(worker, (const Hint *)(void *)hints.data, hints.len / sizeof(Hint))
             : rc;
    buf_release(&hints);
    rc = rc == SAP_OK ? run_batch(worker) : rc;
    if (rc != SAP_OK) {
        end_batch(worker, false);
    }
    return rc;
}

int sap_worker_step(SapWorker *worker, bool *busy_out)
{
    int rc = SAP_OK;
    if (worker == NULL || busy_out == NULL) {
        return SAP_ERROR;
    }
    *busy_out = false;
    if (!session_may_work(&worker->session)) {
        return relaxed_load(&worker->session.deadline_ns) == 0 ? SAP_FENCED : SAP_OK;
    }
    if (worker->batch_state == BATCH_UNKNOWN) {
        rc = resolve_batch(worker);
    } else if (worker->batch_state == BATCH_IDLE) {
        rc = make_batch(worker);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    bool writes = worker->batch_count > 0 && has_writes(worker);
    if (writes) {
        *busy_out = true;
        rc = submit_batch(worker);
    } else if (worker->batch_state != BATCH_UNKNOWN) {
        end_batch(worker, false);
    }
    return rc == SAP_OK ? pause_failed(worker) : rc;
}

int sap_worker_wait(SapWorker *worker, uint64_t timeout_ns)
{
    RowKey key;
    if (worker == NULL) {
        return SAP_ERROR;
    }
    row_key_universe(&key, WIT_DBI_READY, worker->universe->number);
    SapStorePrefix prefix = {key.table, key.bytes, key.len};
    int rc = sap_store_wait(worker->universe->store, SAP_STORE_READ_NEWEST, &prefix,
                            worker->hints_version, timeout_ns);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}
