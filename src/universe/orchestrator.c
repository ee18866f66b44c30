/* orchestrator.c - the one worker that cares for all: frees the worlds of workers that died, takes back
 * what was assigned to workers that are gone, and resumes worlds for newer modules.
 *
 * Each of its transactions is fenced, or harmless when two do it at once: freeing a world is decided by
 * its lease, resuming it by its meta row. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "universe/worker_impl.h"

enum { CLEARED_AT_ONCE = 1024, WORLDS_AT_ONCE = 64, METAS_AT_ONCE = 256 };

#define PASS_NS   UINT64_C(500000000)
#define ABSENT_NS UINT64_C(60000000000)

/* ---- Workers that died ----------------------------------------------------------------------- */

static int clear_dead(SapWorker *worker, bool *busy_out)
{
    uint32_t cleared = 0;
    int rc = lease_clear_dead(&worker->session, &worker->universe->producer, CLEARED_AT_ONCE,
                              &cleared, busy_out);
    counter_add(meters_of(worker)->dead_worlds, cleared);
    if (cleared > 0) {
        LOG_EVENT(meters_of(worker)->log, LOG_LEVEL_WARN, "universe.dead_worlds_freed",
                  LOG_U64("worlds", cleared));
    }
    return rc;
}

/* ---- Workers that are assigned worlds and are not there -------------------------------------- */

/* The first worker that has assignments, from a key on. SAP_NOTFOUND: there is none. */
static int next_assigned(SapStoreTxn *txn, uint32_t universe, RowKey *from,
                         UniverseName *worker_out)
{
    RowKey prefix;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    WitUniverseDbi23AssignedKey key;
    UniverseName first = {.len = 1, .text = "a"};
    row_key_universe(&prefix, WIT_DBI_ASSIGNED, universe);
    row_range(&prefix, &to, &range);
    if (from->len > 0) {
        range.from = from->bytes;
        range.from_len = from->len;
    }
    int rc = sap_store_scan(txn, &range, false, 1, &rows, &count);
    if (rc != SAP_OK || count == 0) {
        return rc == SAP_OK ? SAP_NOTFOUND : rc;
    }
    rc = row_decode_code(
        wit_universe_dbi23_assigned_key_decode(rows[0].key, rows[0].key_len, &key, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    universe_name_copy(worker_out, &key.worker);
    wit_universe_dbi23_assigned_key_free(&key);
    /* On behind all that is assigned to it. */
    row_key_assigned(&prefix, universe, worker_out, &first);
    prefix.len -= first.len + 2;
    row_range(&prefix, from, &range);
    return SAP_OK;
}

/* Since when a worker has been missed. NULL: too many others are missed; when they have lost what they
 * had, it is this one's turn. */
static AbsentWorker *absent_place(Orchestrator *orchestrator, const UniverseName *worker)
{
    AbsentWorker *free_place = NULL;
    for (uint32_t i = 0; i < ABSENT_WORKERS; i++) {
        AbsentWorker *place = &orchestrator->absent[i];
        if (place->since_ns != 0 && universe_name_equal(&place->name, worker)) {
            return place;
        }
        if (place->since_ns == 0) {
            free_place = place;
        }
    }
    if (free_place != NULL) {
        free_place->name = *worker;
    }
    return free_place;
}

/* The next worlds assigned to it, appended as UniverseName. *from moves behind them; len 0: at the first. */
static int list_assigned(SapStoreTxn *txn, uint32_t universe, const UniverseName *worker,
                         RowKey *from, Buf *worlds)
{
    UniverseName first = {.len = 1, .text = "a"};
    RowKey prefix;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    row_key_assigned(&prefix, universe, worker, &first);
    prefix.len -= first.len + 2;
    row_range(&prefix, &to, &range);
    if (from->len > 0) {
        range.from = from->bytes;
        range.from_len = from->len;
    }
    int rc = sap_store_scan(txn, &range, false, WORLDS_AT_ONCE, &rows, &count);
    if (rc == SAP_OK && count > 0) {
        row_key_after(from, &rows[count - 1]);
    }
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        WitUniverseDbi23AssignedKey key;
        UniverseName world;
        rc = row_decode_code(
            wit_universe_dbi23_assigned_key_decode(rows[i].key, rows[i].key_len, &key, NULL));
        if (rc == SAP_OK) {
            universe_name_copy(&world, &key.world);
            wit_universe_dbi23_assigned_key_free(&key);
            rc = buf_append(worlds, &world, sizeof world);
        }
    }
    return rc;
}

typedef struct Revocation {
    SapWorker *worker;
    const UniverseName *absent;
    const UniverseName *world;
    uint8_t hint_seq[UNIVERSE_SEQ];
} Revocation;

static int revoke_body(SapStoreTxn *store_txn, void *ctx)
{
    const Revocation *revocation = (const Revocation *)ctx;
    SapWorker *worker = revocation->worker;
    uint32_t universe = worker->universe->number;
    UniverseTxn txn;
    UniverseGuard guards[2];
    UniverseName assigned;
    RowKey key;
    guards[0].exclusive = true;
    row_key_world(&guards[0].key, WIT_DBI_ASSIGNMENT, universe, revocation->world);
    role_guard(&worker->orchestrator.role, &guards[1]);
    int rc = universe_txn_start(&txn, store_txn, PARTY_ORCHESTRATOR, guards, 2, NULL, 0);
    rc = rc == SAP_OK ? role_check(&worker->orchestrator.role, store_txn) : rc;
    rc = rc == SAP_OK ? assignment_get(store_txn, universe, revocation->world, &assigned) : rc;
    bool damaged = rc == SAP_CORRUPT;
    if (!damaged && (rc != SAP_OK || !universe_name_equal(&assigned, revocation->absent))) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    rc = universe_del(&txn, &guards[0].key);
    row_key_assigned(&key, universe, revocation->absent, revocation->world);
    rc = rc == SAP_OK ? universe_del(&txn, &key) : rc;
    row_key_ready(&key, universe, 0, revocation->hint_seq, revocation->world);
    rc = rc == SAP_OK || rc == SAP_NOTFOUND ? universe_put(&txn, &key, (Slice){"", 0}) : rc;
    return rc;
}

/* A world whose row is damaged is passed over. */
static int passed(const SapWorker *worker, int rc, const UniverseName *world)
{
    if (rc == SAP_CORRUPT) {
        worker_note_damage(worker, "a row of meta or lease", world);
        return SAP_OK;
    }
    return rc;
}

/* After a minute its worlds are anybody's; until then they say for whom they wait. */
static int handle_absent(SapWorker *worker, const UniverseName *absent, const Buf *worlds,
                         bool revoke)
{
    const UniverseName *all = (const UniverseName *)(void *)worlds->data;
    char reason[SAP_WORLD_MAX_NAME + 64];
    int rc = SAP_OK;
    (void)snprintf(reason, sizeof reason, "assigned to worker %s, which is not there",
                   absent->text);
    for (size_t i = 0; rc == SAP_OK && i < worlds->len / sizeof *all; i++) {
        if (!revoke) {
            rc = passed(worker, world_note_free(worker->universe, &all[i], reason), &all[i]);
            continue;
        }
        Revocation revocation = {.worker = worker, .absent = absent, .world = &all[i]};
        producer_next(&worker->universe->producer, worker->universe->store, revocation.hint_seq);
        rc = sap_store_run(worker->universe->store, SAP_STORE_GUARDED, revoke_body, &revocation,
                           NULL);
        counter_add(meters_of(worker)->revoked, rc == SAP_OK);
    }
    return rc;
}

/* Whether the worker is gone, and if so the next of its worlds. */
static int look_for_worker(const SapWorker *worker, const UniverseName *name, RowKey *from,
                           Buf *worlds, bool *absent_out)
{
    uint8_t nonce[UNIVERSE_NONCE];
    bool has_module = false;
    SapStoreTxn *txn = NULL;
    int rc = sap_store_begin(worker->universe->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? session_find(&worker->session, txn, name, NULL, 0, nonce, &has_module) : rc;
    *absent_out = rc == SAP_NOTFOUND;
    rc = *absent_out ? list_assigned(txn, worker->universe->number, name, from, worlds) : rc;
    sap_store_abort(txn);
    return rc;
}

/* One worker that has assignments. It is forgotten when it has none. */
static int check_assigned_worker(SapWorker *worker, const UniverseName *name, bool *busy_out)
{
    AbsentWorker *place = absent_place(&worker->orchestrator, name);
    uint64_t now_ns = clock_boot_ns(worker->universe->clock);
    RowKey from = {.len = 0};
    Buf worlds = {0};
    bool absent = false;
    if (place == NULL) {
        return SAP_OK;
    }
    int rc = look_for_worker(worker, name, &from, &worlds, &absent);
    bool known = place->since_ns != 0;
    uint64_t since_ns = known ? place->since_ns : now_ns;
    bool revoke = absent && now_ns - since_ns >= ABSENT_NS;
    bool handles = absent && (!known || revoke);
    while (rc == SAP_OK && handles && worlds.len > 0) {
        rc = handle_absent(worker, name, &worlds, revoke);
        buf_clear(&worlds);
        rc = rc == SAP_OK ? look_for_worker(worker, name, &from, &worlds, &absent) : rc;
    }
    if (rc == SAP_OK) {
        place->since_ns = absent && !revoke ? since_ns : 0;
        *busy_out = *busy_out || revoke;
    }
    buf_release(&worlds);
    return rc;
}

static int check_assigned_workers(SapWorker *worker, bool *busy_out)
{
    RowKey from = {.table = WIT_DBI_ASSIGNED};
    int rc = SAP_OK;
    while (rc == SAP_OK) {
        SapStoreTxn *txn = NULL;
        UniverseName name;
        rc = sap_store_begin(worker->universe->store, SAP_STORE_READ_NEWEST, &txn);
        rc = rc == SAP_OK ? next_assigned(txn, worker->universe->number, &from, &name) : rc;
        sap_store_abort(txn);
        rc = rc == SAP_OK ? check_assigned_worker(worker, &name, busy_out) : rc;
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* ---- Newer modules --------------------------------------------------------------------------- */

typedef struct NewModule {
    RowKey key;
    UniverseName name;
    uint64_t version;
    WitUniverseDbi43ModulesValue val; /* owned */
} NewModule;

/* A module for which nobody has looked for worlds yet. SAP_NOTFOUND: there is none. */
static int find_new_module(SapStoreTxn *txn, uint32_t universe, NewModule *module_out)
{
    RowKey from;
    RowKey to;
    SapStoreRange range;
    uint32_t count = METAS_AT_ONCE;
    int rc = SAP_OK;
    row_key_universe(&from, WIT_DBI_MODULES, universe);
    row_range(&from, &to, &range);
    while (rc == SAP_OK && count == METAS_AT_ONCE) {
        const SapStoreRow *rows = NULL;
        rc = sap_store_scan(txn, &range, false, METAS_AT_ONCE, &rows, &count);
        for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
            WitUniverseDbi43ModulesKey key;
            rc = wit_universe_dbi43_modules_value_decode(rows[i].val, rows[i].val_len,
                                                         &module_out->val, NULL);
            if (rc == SAP_INVALID) { /* damaged: nobody is resumed for it */
                rc = SAP_OK;
                continue;
            }
            if (rc != SAP_OK || module_out->val.resumed) {
                if (rc == SAP_OK) {
                    wit_universe_dbi43_modules_value_free(&module_out->val);
                }
                continue;
            }
            rc = row_decode_code(
                wit_universe_dbi43_modules_key_decode(rows[i].key, rows[i].key_len, &key, NULL));
            if (rc != SAP_OK) {
                wit_universe_dbi43_modules_value_free(&module_out->val);
                return rc;
            }
            universe_name_copy(&module_out->name, &key.name);
            module_out->version = key.version;
            wit_universe_dbi43_modules_key_free(&key);
            row_key_module(&module_out->key, universe, &module_out->name, module_out->version);
            return SAP_OK;
        }
        if (rc == SAP_OK && count > 0) {
            row_key_after(&from, &rows[count - 1]);
            range.from = from.bytes;
            range.from_len = from.len;
        }
    }
    return rc == SAP_OK ? SAP_NOTFOUND : rc;
}

/* Whether it may be one of those that wait; the transaction that resumes it decides. */
static int is_candidate(const SapStoreRow *row, const NewModule *module, UniverseName *world_out,
                        bool *candidate_out)
{
    WitUniverseDbi21WorldMetaKey key;
    WitUniverseDbi21WorldMetaValue val;
    int rc = row_decode_code(
        wit_universe_dbi21_world_meta_key_decode(row->key, row->key_len, &key, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    universe_name_copy(world_out, &key.world);
    wit_universe_dbi21_world_meta_key_free(&key);
    rc = row_decode_code(
        wit_universe_dbi21_world_meta_value_decode(row->val, row->val_len, &val, NULL));
    if (rc == SAP_OK) {
        *candidate_out = val.status == WIT_UNIVERSE_WORLD_STATUS_PAUSED &&
                         val.failed_version != 0 && val.failed_version < module->version;
        wit_universe_dbi21_world_meta_value_free(&val);
    }
    return rc;
}

/* The worlds of the next rows of meta that may wait for the module, appended as UniverseName.
 * *end_out: there are no further rows. */
static int list_candidates(SapWorker *worker, const NewModule *module, Buf *worlds, bool *end_out)
{
    RowKey *from = &worker->orchestrator.resume_from;
    RowKey prefix;
    RowKey to;
    SapStoreRange range;
    SapStoreTxn *txn = NULL;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    row_key_universe(&prefix, WIT_DBI_WORLD_META, worker->universe->number);
    row_range(&prefix, &to, &range);
    if (from->len > 0) {
        range.from = from->bytes;
        range.from_len = from->len;
    }
    int rc = sap_store_begin(worker->universe->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? sap_store_scan(txn, &range, false, METAS_AT_ONCE, &rows, &count) : rc;
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        UniverseName world = {.len = 0};
        bool candidate = false;
        rc = passed(worker, is_candidate(&rows[i], module, &world, &candidate), &world);
        rc = rc == SAP_OK && candidate ? buf_append(worlds, &world, sizeof world) : rc;
    }
    if (rc == SAP_OK && count > 0) {
        row_key_after(from, &rows[count - 1]);
    }
    *end_out = count < METAS_AT_ONCE;
    sap_store_abort(txn);
    return rc;
}

typedef struct ModuleDone {
    SapWorker *worker;
    NewModule *module;
} ModuleDone;

static int module_done_body(SapStoreTxn *store_txn, void *ctx)
{
    const ModuleDone *done = (const ModuleDone *)ctx;
    RoleHolder *role = &done->worker->orchestrator.role;
    UniverseTxn txn;
    UniverseGuard guards[2];
    Buf buf = {0};
    guards[0] = (UniverseGuard){done->module->key, true};
    role_guard(role, &guards[1]);
    int rc = universe_txn_start(&txn, store_txn, PARTY_ORCHESTRATOR, guards, 2, NULL, 0);
    rc = rc == SAP_OK ? role_check(role, store_txn) : rc;
    done->module->val.resumed = true;
    rc =
        rc == SAP_OK ? wit_universe_dbi43_modules_value_encode(&done->module->val, &buf, NULL) : rc;
    rc = rc == SAP_OK ? universe_put(&txn, &guards[0].key, (Slice){buf.data, buf.len}) : rc;
    buf_release(&buf);
    return rc;
}

static int resume_for_module(SapWorker *worker, NewModule *module, bool *busy_out)
{
    Buf worlds = {0};
    bool end = false;
    int rc = list_candidates(worker, module, &worlds, &end);
    const UniverseName *all = (const UniverseName *)(void *)worlds.data;
    for (size_t i = 0; rc == SAP_OK && i < worlds.len / sizeof *all; i++) {
        bool resumed = false;
        rc = world_resume_for(worker->universe, &all[i], &module->name, module->version, &resumed);
        rc = passed(worker, rc, &all[i]);
        counter_add(meters_of(worker)->resumed, resumed);
        if (resumed) {
            LOG_EVENT(meters_of(worker)->log, LOG_LEVEL_INFO, "universe.resumed",
                      LOG_STR("world", all[i].text), LOG_STR("module", module->name.text),
                      LOG_U64("version", module->version));
        }
    }
    buf_release(&worlds);
    *busy_out = true;
    if (rc == SAP_OK && end) {
        ModuleDone done = {worker, module};
        worker->orchestrator.resume_from.len = 0;
        rc = sap_store_run(worker->universe->store, SAP_STORE_GUARDED, module_done_body, &done,
                           NULL);
    }
    return rc;
}

static int check_modules(SapWorker *worker, bool *busy_out)
{
    SapStoreTxn *txn = NULL;
    NewModule module;
    int rc = sap_store_begin(worker->universe->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? find_new_module(txn, worker->universe->number, &module) : rc;
    sap_store_abort(txn);
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    rc = resume_for_module(worker, &module, busy_out);
    wit_universe_dbi43_modules_value_free(&module.val);
    return rc;
}

/* ---- The step -------------------------------------------------------------------------------- */

int orchestrator_step(SapWorker *worker, bool *busy_out)
{
    Orchestrator *orchestrator = &worker->orchestrator;
    uint64_t now_ns = clock_boot_ns(worker->universe->clock);
    bool held = false;
    if (now_ns < orchestrator->next_ns) {
        return SAP_OK;
    }
    int rc = role_hold(worker, &orchestrator->role, "orchestrator", &held);
    gauge_set(meters_of(worker)->orchestrates, held);
    if (rc != SAP_OK || !held) {
        return rc;
    }
    rc = clear_dead(worker, busy_out);
    rc = rc == SAP_OK ? check_assigned_workers(worker, busy_out) : rc;
    rc = rc == SAP_OK ? check_modules(worker, busy_out) : rc;
    orchestrator->next_ns = *busy_out || rc != SAP_OK ? 0 : now_ns + PASS_NS;
    if (rc == SAP_FENCED) { /* another worker has the role by now */
        orchestrator->role.lease.epoch = 0;
        rc = SAP_OK;
    }
    return rc;
}
