/* modules.c - see modules.h. */
#include "universe/modules.h"

#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/mem.h"
#include "common/sync.h"
#include "universe/schemas.h"

/* Registered before threads start, as a rule; the lock is for shared objects that are loaded later. */
static SapWorldModule *modules;
static SAP_ATOMIC(bool) modules_locked;
static uint32_t users; /* workers that are open */
static int refused;    /* why a module was refused when the program was loaded; SAP_OK: none was */

static void lock_modules(void)
{
    while (atomic_exchange(&modules_locked, true)) {
        thread_yield();
    }
}

static void unlock_modules(void)
{
    atomic_store(&modules_locked, false);
}

uint64_t module_version(const SapWorldModule *module)
{
    return module->version != 0 ? module->version : 1;
}

static const SapWorldModule *find_locked(const char *name, uint64_t pin)
{
    const SapWorldModule *found = NULL;
    for (const SapWorldModule *module = modules; module != NULL; module = module->next) {
        bool wanted =
            strcmp(module->name, name) == 0 && (pin == 0 || pin == module_version(module));
        if (wanted && (found == NULL || module_version(module) > module_version(found))) {
            found = module;
        }
    }
    return found;
}

const SapWorldModule *module_find(const UniverseName *name, uint64_t pin)
{
    lock_modules();
    const SapWorldModule *module = find_locked(name->text, pin);
    unlock_modules();
    return module;
}

int sap_world_module_register(SapWorldModule *module)
{
    UniverseName name;
    if (module == NULL || module->handler == NULL ||
        (unsigned)module->on_failure > SAP_ON_FAILURE_SKIP) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&name, module->name);
    if (rc == SAP_OK) {
        Buf schemas = {0};
        char why[JSON_SCHEMA_WHY];
        rc = schemas_canonical(module->schemas, &schemas, why);
        buf_release(&schemas);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    lock_modules();
    if (find_locked(module->name, module_version(module)) != NULL) {
        rc = SAP_EXISTS;
    } else {
        module->next = modules;
        modules = module;
    }
    unlock_modules();
    return rc;
}

int sap_world_module_unregister(SapWorldModule *module)
{
    int rc = SAP_NOTFOUND;
    if (module == NULL) {
        return SAP_ERROR;
    }
    lock_modules();
    for (SapWorldModule **at = &modules; *at != NULL; at = &(*at)->next) {
        if (*at == module) {
            rc = users == 0 ? SAP_OK : SAP_BUSY;
            *at = users == 0 ? module->next : module;
            break;
        }
    }
    unlock_modules();
    return rc;
}

void modules_use(int change)
{
    lock_modules();
    SAP_ASSERT(change > 0 || users > 0);
    users += (uint32_t)change;
    unlock_modules();
}

/* Nobody looks at the code of a constructor: the first worker reports it. */
void sap_world_module_load(SapWorldModule *module)
{
    int rc = sap_world_module_register(module);
    lock_modules();
    refused = refused == SAP_OK ? rc : refused;
    unlock_modules();
}

int modules_check(void)
{
    lock_modules();
    int rc = refused;
    unlock_modules();
    return rc;
}

int module_refs(WitUniverseModuleRef **refs_out, uint32_t *count_out)
{
    uint32_t count = 0;
    lock_modules();
    for (const SapWorldModule *module = modules; module != NULL; module = module->next) {
        count++;
    }
    WitUniverseModuleRef *refs =
        (WitUniverseModuleRef *)mem_alloc(MEM_UNIVERSE, count * sizeof *refs);
    uint32_t at = 0;
    for (const SapWorldModule *module = modules; refs != NULL && module != NULL;
         module = module->next) {
        refs[at].name = lend_bytes(module->name, strlen(module->name));
        refs[at++].version = module_version(module);
    }
    unlock_modules();
    if (refs == NULL) {
        return SAP_NOMEM;
    }
    *refs_out = refs;
    *count_out = count;
    return SAP_OK;
}

/* ---- Their rows ------------------------------------------------------------------------------ */

typedef struct Publication {
    uint32_t universe;
    const SapWorldModule *module;
    uint64_t now_ns;
} Publication;

static int publish_body(SapStoreTxn *store_txn, void *ctx)
{
    enum { RUNNER_MAX = SAP_WORLD_MAX_NAME + 16 };
    const Publication *publication = (const Publication *)ctx;
    const SapWorldModule *module = publication->module;
    char runner[RUNNER_MAX];
    UniverseName name;
    UniverseTxn txn;
    UniverseGuard guard = {.exclusive = true}; /* of all versions of the name */
    RowKey key;
    Buf val = {0};
    int rc = universe_name_set(&name, module->name);
    SAP_ASSERT(rc == SAP_OK);
    row_key_world(&guard.key, WIT_DBI_MODULES, publication->universe, &name);
    row_key_module(&key, publication->universe, &name, module_version(module));
    rc = universe_txn_start(&txn, store_txn, PARTY_OPERATOR, &guard, 1, NULL, 0);
    (void)snprintf(runner, sizeof runner, "native:%s", module->name);
    Buf schemas = {0};
    char why[JSON_SCHEMA_WHY];
    rc = rc == SAP_OK ? schemas_canonical(module->schemas, &schemas, why) : rc;
    SAP_ASSERT(rc != SAP_INVALID); /* it was checked when the module was registered */
    WitUniverseDbi43ModulesValue fields = {
        .runner = lend_bytes(runner, strlen(runner)),
        .schemas = lend_bytes(schemas.data, schemas.len),
        .max_attempts = module->max_attempts,
        .skip = module->on_failure == SAP_ON_FAILURE_SKIP,
        .registered_ns = publication->now_ns,
    };
    rc = rc == SAP_OK ? wit_universe_dbi43_modules_value_encode(&fields, &val, NULL) : rc;
    rc = rc == SAP_OK ? universe_put_if_absent(&txn, &key, (Slice){val.data, val.len}) : rc;
    buf_release(&val);
    buf_release(&schemas);
    return rc == SAP_EXISTS ? SAP_OK : rc;
}

static int has_row(SapStore *store, uint32_t universe, const SapWorldModule *module)
{
    SapStoreTxn *txn = NULL;
    UniverseName name;
    RowKey key;
    Slice val;
    int rc = universe_name_set(&name, module->name);
    SAP_ASSERT(rc == SAP_OK);
    row_key_module(&key, universe, &name, module_version(module));
    rc = sap_store_begin(store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? universe_get(txn, &key, &val) : rc;
    sap_store_abort(txn);
    return rc;
}

int modules_publish(SapStore *store, uint32_t universe)
{
    lock_modules();
    const SapWorldModule *module = modules; /* what follows it in the list never changes */
    unlock_modules();
    int rc = SAP_OK;
    for (; rc == SAP_OK && module != NULL; module = module->next) {
        Publication publication = {universe, module, sap_store_due_ns(store)};
        rc = has_row(store, universe, module);
        if (rc == SAP_NOTFOUND) {
            rc = sap_store_run(store, SAP_STORE_GUARDED, publish_body, &publication, NULL);
        }
    }
    return rc;
}
