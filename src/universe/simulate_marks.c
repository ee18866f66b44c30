/* simulate_marks.c - see simulate_marks.h. */
#include "universe/simulate_marks.h"

#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/mem.h"

static const char tag_name[] = "turn";

/* ---- Modules --------------------------------------------------------------------------------- */

#define MADE_LIVE UINT32_C(0x4C495645)

/* What a host has made of a module. */
typedef struct MadeModule {
    uint32_t live; /* MADE_LIVE until it is released */
} MadeModule;

static const char picky_kind[] = "simulated:2";

int marks_put_module(SapUniverse *universe, const char *name, SapOnFailure on_failure,
                     uint32_t kind)
{
    char runner[32];
    SapModule module = {
        .size = sizeof module, .name = name, .runner = runner, .on_failure = on_failure};
    (void)snprintf(runner, sizeof runner, "simulated:%u", (unsigned)kind);
    return sap_module_put(universe, &module, NULL);
}

/* All of a process: handlers are static, and a picky host is told by its context. */
static SapWorldHandler made_handler;

static int make_module(void *ctx, const SapModule *module, SapWorldHandler *handler_out,
                       void **module_ctx_out)
{
    const bool *picky = (const bool *)ctx;
    if (*picky && strcmp(module->runner, picky_kind) == 0) {
        return SAP_NOTFOUND;
    }
    MadeModule *made = (MadeModule *)mem_alloc(MEM_UNIVERSE, sizeof *made);
    if (made == NULL) {
        return SAP_NOMEM;
    }
    made->live = MADE_LIVE;
    *handler_out = made_handler;
    *module_ctx_out = made;
    return SAP_OK;
}

static void release_made(void *ctx, void *module_ctx)
{
    MadeModule *made = (MadeModule *)module_ctx;
    (void)ctx;
    SAP_ASSERT(made->live == MADE_LIVE);
    made->live = 0;
    mem_free(MEM_UNIVERSE, made, sizeof *made);
}

void marks_host(SapWorkerOptions *options, SapWorldHandler handler, bool picky)
{
    static bool is_picky = true;
    static bool is_not = false;
    made_handler = handler;
    options->resolve = make_module;
    options->release = release_made;
    options->resolve_ctx = picky ? &is_picky : &is_not;
}

/* ---- What handlers do ------------------------------------------------------------------------ */

int marks_act(SapWorld *world, uint32_t number)
{
    char value[16];
    int rc = SAP_OK;
    const MadeModule *made = (const MadeModule *)sap_world_module_ctx(world);
    SAP_ASSERT(made == NULL || made->live == MADE_LIVE);
    (void)snprintf(value, sizeof value, "%u", (unsigned)(number % 3));
    if (number % 5 == 2) {
        rc = number % 15 == 2 ? sap_world_untag(world, tag_name)
                              : sap_world_tag(world, tag_name, value);
        rc = rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    return rc == SAP_OK && number % 37 == 9
               ? sap_world_done(world, false, SAP_ENCODING_RAW, &number, sizeof number)
               : rc;
}

bool marks_ends(const WitUniverseEntry *entry)
{
    for (uint32_t i = 0; i < entry->intents.count; i++) {
        const CodecBytes *kind = &entry->intents.items[i].kind;
        if (kind->len == 4 && memcmp(kind->data, "done", 4) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- What must hold -------------------------------------------------------------------------- */

void marks_check(Simulator *simulator, SapStoreTxn *txn, uint32_t universe,
                 const UniverseName *world)
{
    WitUniverseDbi21WorldMetaValue meta;
    LeaseRow lease = {.epoch = 0};
    RowKey key;
    Slice val = {0};
    row_key_world(&key, WIT_DBI_WORLD_META, universe, world);
    if (meta_row_get(txn, &key, &meta) != SAP_OK) {
        return;
    }
    bool done = meta.status == WIT_UNIVERSE_WORLD_STATUS_DONE;
    bool deleted = meta.status == WIT_UNIVERSE_WORLD_STATUS_DELETED && !meta.drained;
    wit_universe_dbi21_world_meta_value_free(&meta);
    row_key_world(&key, WIT_DBI_RESULTS, universe, world);
    int rc = universe_get(txn, &key, &val);
    if (rc == SAP_OK && !done && !deleted) {
        simulator_violation(simulator, "%s has a result and is not done", world->text);
    }
    if (rc == SAP_NOTFOUND && done) {
        simulator_violation(simulator, "%s is done and has no result", world->text);
    }
    row_key_world(&key, WIT_DBI_LEASE, universe, world);
    if (done && lease_row_get(txn, &key, &lease) == SAP_OK && lease.holder.len > 0) {
        simulator_violation(simulator, "%s is done and has a holder", world->text);
    }
}

static int note_held(void *ctx, Slice key, Slice val)
{
    UniverseName *tag = (UniverseName *)ctx;
    (void)key;
    tag->len = (uint32_t)val.len;
    if (val.len > 0) {
        memcpy(tag->text, val.data, val.len);
    }
    return SAP_OK;
}

/* The row by tag, and that by world. */
static bool has_tag_rows(SapStoreTxn *txn, uint32_t universe, const UniverseName *world,
                         const char *value)
{
    UniverseName tag;
    RowKey key;
    Slice val = {0};
    char text[UNIVERSE_NAME_MAX + 1];
    (void)snprintf(text, sizeof text, "%s=%s", tag_name, value);
    if (universe_name_set(&tag, text) != SAP_OK) {
        return false;
    }
    row_key_tag(&key, universe, &tag, world);
    bool by_tag = universe_get(txn, &key, &val) == SAP_OK;
    row_key_world_tag(&key, universe, world, slice_from_str(tag_name));
    return by_tag && universe_get(txn, &key, &val) == SAP_OK;
}

void marks_check_state(Simulator *simulator, SapStoreTxn *txn, uint32_t universe,
                       const UniverseName *world, WorldState *state)
{
    static const uint8_t prefix[2] = {0, 't'};
    UniverseName held = {.len = 0};
    if (state_scan(state, (Slice){prefix, sizeof prefix}, note_held, &held) != SAP_OK) {
        return;
    }
    for (int i = 0; i < 3; i++) {
        char value[2] = {(char)('0' + i), 0};
        bool right = held.len == 1 && held.text[0] == value[0];
        if (has_tag_rows(txn, universe, world, value) != right) {
            simulator_violation(simulator,
                                "the rows of the tag %s of %s are not those of its state", value,
                                world->text);
        }
    }
}
