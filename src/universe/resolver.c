/* resolver.c - see resolver.h. */
#include "universe/resolver.h"

#include <string.h>

#include "common/assert.h"
#include "common/hash.h"
#include "common/mem.h"
#include "universe/modules.h"

enum { LISTED_AT_ONCE = 256 };

/* How often a worker looks for modules that other processes have registered and no world has needed. */
#define LIST_NS UINT64_C(5000000000)

/* ---- What the host made ---------------------------------------------------------------------- */

static void release_module(const Resolver *resolver, ResolvedModule *module)
{
    if (module == NULL) {
        return;
    }
    SAP_ASSERT(module->uses > 0);
    if (--module->uses > 0) {
        return;
    }
    if (resolver->release != NULL) {
        resolver->release(resolver->ctx, module->module.ctx);
    }
    mem_free(MEM_UNIVERSE, module, sizeof *module);
}

/* SAP_OK: *module_out is the host's, used once, or NULL if the host does not run the module. */
static int ask_host(const Resolver *resolver, const SapModule *row, ResolvedModule **module_out)
{
    ResolvedModule *module = (ResolvedModule *)mem_zalloc(MEM_UNIVERSE, sizeof *module);
    if (module == NULL) {
        return SAP_NOMEM;
    }
    int rc = universe_name_set(&module->name, row->name);
    SAP_ASSERT(rc == SAP_OK);
    module->uses = 1;
    module->module = (SapWorldModule){
        .name = module->name.text,
        .version = row->version,
        .max_attempts = row->max_attempts,
        .on_failure = row->on_failure,
        .timeout_ns = row->timeout_ns,
    };
    rc = resolver->resolve(resolver->ctx, row, &module->module.handler, &module->module.ctx);
    if (rc == SAP_OK && module->module.handler != NULL) {
        *module_out = module;
        return SAP_OK;
    }
    mem_free(MEM_UNIVERSE, module, sizeof *module);
    *module_out = NULL;
    return rc == SAP_NOTFOUND ? SAP_OK : rc == SAP_OK ? SAP_ERROR : rc;
}

/* ---- Slots ----------------------------------------------------------------------------------- */

static size_t slot_place(const UniverseName *name)
{
    return hash_bytes(name->text, name->len, 0) % RESOLVER_PLACES;
}

static ModuleSlot *find_slot(const Resolver *resolver, const UniverseName *name, uint64_t pin)
{
    ModuleSlot *slot = resolver->places[slot_place(name)];
    while (slot != NULL && (slot->pin != pin || !universe_name_equal(&slot->name, name))) {
        slot = slot->next;
    }
    return slot;
}

static ModuleSlot *make_slot(Resolver *resolver, const UniverseName *name, uint64_t pin)
{
    ModuleSlot *slot = find_slot(resolver, name, pin);
    if (slot != NULL) {
        return slot;
    }
    slot = (ModuleSlot *)mem_zalloc(MEM_UNIVERSE, sizeof *slot);
    if (slot != NULL) {
        ModuleSlot **place = &resolver->places[slot_place(name)];
        slot->name = *name;
        slot->pin = pin;
        slot->next = *place;
        *place = slot;
    }
    return slot;
}

/* The host is to be asked for this row, which the slot takes. */
static void take_row(Resolver *resolver, ModuleSlot *slot, SapModule *row)
{
    if (slot->row == NULL) {
        slot->pending = resolver->pending;
        resolver->pending = slot;
    }
    sap_module_free(slot->row);
    slot->row = row;
    slot->again = false;
    slot->version = row->version;
    slot->is_native = strncmp(row->runner, MODULE_NATIVE, sizeof MODULE_NATIVE - 1) == 0;
}

void resolver_begin(Resolver *resolver)
{
    resolver->look++;
}

int resolver_note(Resolver *resolver, SapStoreTxn *txn, uint32_t universe, const UniverseName *name,
                  uint64_t pin)
{
    uint64_t version = 0;
    SapModule *row = NULL;
    if (resolver->resolve == NULL) {
        return SAP_OK;
    }
    ModuleSlot *slot = make_slot(resolver, name, pin);
    if (slot == NULL) {
        return SAP_NOMEM;
    }
    if (slot->look == resolver->look) {
        return SAP_OK;
    }
    int rc = module_row_version(txn, universe, name, pin, &version);
    if (rc == SAP_OK && (slot->again || version != slot->version)) {
        rc = module_row_get(txn, universe, name, version, &row);
        if (rc == SAP_OK) {
            take_row(resolver, slot, row);
        }
    }
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    slot->look = resolver->look;
    return SAP_OK;
}

/* What another slot of the name has for the same version. */
static bool share_module(const Resolver *resolver, const ModuleSlot *slot,
                         ResolvedModule **module_out)
{
    const ModuleSlot *first = resolver->places[slot_place(&slot->name)];
    for (const ModuleSlot *other = first; other != NULL; other = other->next) {
        if (other != slot && other->module != NULL &&
            other->module->module.version == slot->version &&
            universe_name_equal(&other->name, &slot->name)) {
            *module_out = other->module;
            other->module->uses++;
            return true;
        }
    }
    return false;
}

/* The host is asked for the row of one slot. If it cannot say now, the next look reads the row again. */
static int settle_slot(Resolver *resolver, ModuleSlot *slot)
{
    ResolvedModule *module = NULL;
    SapModule *row = slot->row;
    const SapWorldModule *own = module_find(&slot->name, slot->pin);
    bool is_own = slot->is_native && own != NULL;
    int rc = SAP_OK;
    slot->row = NULL;
    if (!is_own && !share_module(resolver, slot, &module)) {
        rc = ask_host(resolver, row, &module);
    }
    slot->again = rc != SAP_OK;
    slot->look = slot->again ? 0 : slot->look;
    resolver->changed = resolver->changed || module != NULL || slot->module != NULL;
    release_module(resolver, slot->module);
    slot->module = module;
    sap_module_free(row);
    return rc == SAP_NOMEM ? rc : SAP_OK; /* a host that fails holds up no other module */
}

int resolver_settle(Resolver *resolver)
{
    int rc = SAP_OK;
    while (rc == SAP_OK && resolver->pending != NULL) {
        ModuleSlot *slot = resolver->pending;
        resolver->pending = slot->pending;
        rc = settle_slot(resolver, slot);
    }
    return rc;
}

/* ---- Use ------------------------------------------------------------------------------------- */

const SapWorldModule *resolver_find(const Resolver *resolver, const UniverseName *name,
                                    uint64_t pin)
{
    const SapWorldModule *own = module_find(name, pin);
    const ModuleSlot *slot = resolver->resolve == NULL ? NULL : find_slot(resolver, name, pin);
    if (slot == NULL || slot->version == 0) {
        return own;
    }
    if (slot->row != NULL) {
        return NULL; /* nobody knows yet */
    }
    if (own != NULL && (slot->is_native || module_version(own) > slot->version)) {
        return own;
    }
    return slot->module != NULL ? &slot->module->module : NULL;
}

void resolver_use(Resolver *resolver, HotWorld *world, const SapWorldModule *module)
{
    ResolvedModule *resolved = NULL;
    if (world->module == module) {
        return;
    }
    if (module != NULL) {
        UniverseName name;
        int rc = universe_name_set(&name, module->name);
        SAP_ASSERT(rc == SAP_OK);
        for (ModuleSlot *slot = resolver->places[slot_place(&name)]; slot != NULL;
             slot = slot->next) {
            if (slot->module != NULL && &slot->module->module == module) {
                resolved = slot->module;
                resolved->uses++;
                break;
            }
        }
    }
    release_module(resolver, world->resolved);
    world->resolved = resolved;
    world->module = module;
}

/* ---- What the worker has --------------------------------------------------------------------- */

/* The next modules of the store. Versions of a name come in ascending order: the last one stays. */
static int list_some(Resolver *resolver, SapUniverse *universe)
{
    RowKey all;
    RowKey to;
    SapStoreRange range;
    SapStoreTxn *txn = NULL;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    row_key_universe(&all, WIT_DBI_MODULES, universe->number);
    row_range(&all, &to, &range);
    if (resolver->list_from.len > 0) {
        range.from = resolver->list_from.bytes;
        range.from_len = resolver->list_from.len;
    }
    int rc = sap_store_begin(universe->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? sap_store_scan(txn, &range, false, LISTED_AT_ONCE, &rows, &count) : rc;
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        UniverseName name;
        uint64_t version = 0;
        SapModule *row = NULL;
        rc = module_key_decode(&rows[i], &name, &version);
        ModuleSlot *slot = rc == SAP_OK ? make_slot(resolver, &name, 0) : NULL;
        rc = rc == SAP_OK && slot == NULL ? SAP_NOMEM : rc;
        if (rc == SAP_OK &&
            (version > slot->version || (slot->again && version == slot->version))) {
            rc = module_row_decode(&rows[i], &row);
        }
        if (row != NULL) {
            take_row(resolver, slot, row);
        }
        rc = rc == SAP_CORRUPT ? SAP_OK : rc; /* who needs it hears of the damage */
    }
    resolver->list_from.len = 0;
    if (rc == SAP_OK && count == LISTED_AT_ONCE) {
        row_key_after(&resolver->list_from, &rows[count - 1]);
    }
    sap_store_abort(txn);
    return rc;
}

static int list_modules(Resolver *resolver, SapUniverse *universe)
{
    uint64_t now_ns = clock_boot_ns(universe->clock);
    uint64_t registrations = atomic_load(&universe->registrations);
    bool due = now_ns >= resolver->list_at_ns || registrations != resolver->registrations;
    if (resolver->list_from.len == 0 && !due) {
        return SAP_OK;
    }
    if (resolver->list_from.len == 0) {
        resolver->registrations = registrations;
        resolver->list_at_ns = now_ns + LIST_NS;
    }
    int rc = list_some(resolver, universe);
    if (rc != SAP_OK) {
        resolver->list_at_ns = 0;
    }
    return rc == SAP_OK ? resolver_settle(resolver) : rc;
}

/* Appends what the host runs to the modules of the process. The names are borrowed from the slots. */
static int append_refs(const Resolver *resolver, Buf *refs)
{
    int rc = SAP_OK;
    for (int i = 0; i < RESOLVER_PLACES; i++) {
        for (const ModuleSlot *slot = resolver->places[i]; rc == SAP_OK && slot != NULL;
             slot = slot->next) {
            WitUniverseModuleRef ref = {lend_name(&slot->name), slot->version};
            rc = slot->module != NULL ? buf_append(refs, &ref, sizeof ref) : SAP_OK;
        }
    }
    return rc;
}

static int publish_refs(const Resolver *resolver, Session *session)
{
    WitUniverseModuleRef *own = NULL;
    uint32_t own_count = 0;
    Buf refs = {0};
    int rc = module_refs(&own, &own_count);
    rc = rc == SAP_OK ? buf_append(&refs, own, own_count * sizeof *own) : rc;
    rc = rc == SAP_OK ? append_refs(resolver, &refs) : rc;
    if (rc == SAP_OK) {
        WitUniverseListModuleRef list = {(WitUniverseModuleRef *)(void *)refs.data,
                                         (uint32_t)(refs.len / sizeof *own)};
        rc = session_set_modules(session, &list);
    }
    mem_free(MEM_UNIVERSE, own, own_count * sizeof *own);
    buf_release(&refs);
    return rc;
}

int resolver_step(Resolver *resolver, SapUniverse *universe, Session *session)
{
    if (resolver->resolve == NULL) {
        return SAP_OK;
    }
    int rc = list_modules(resolver, universe);
    if (rc == SAP_OK && resolver->changed) {
        rc = publish_refs(resolver, session);
        resolver->changed = rc != SAP_OK;
    }
    return rc;
}

void resolver_close(Resolver *resolver)
{
    for (int i = 0; i < RESOLVER_PLACES; i++) {
        while (resolver->places[i] != NULL) {
            ModuleSlot *slot = resolver->places[i];
            resolver->places[i] = slot->next;
            release_module(resolver, slot->module);
            sap_module_free(slot->row);
            mem_free(MEM_UNIVERSE, slot, sizeof *slot);
        }
    }
    resolver->pending = NULL;
}
