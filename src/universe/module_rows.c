/* module_rows.c - see module_rows.h. */
#include "universe/module_rows.h"

#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/mem.h"
#include "common/options.h"
#include "store/store_impl.h"
#include "universe/payload.h"
#include "universe/universe_impl.h"

OPTIONS_LAYOUT(SapModule, registered_ns, schemas);

enum { LIST_DEFAULT = 100, LIST_MOST = 1000 };

/* ---- A module in memory ---------------------------------------------------------------------- */

/* With the texts that it names, in one block. */
typedef struct ModuleBlock {
    size_t size;
    SapModule module;
} ModuleBlock;

static char *copy_part(char **room, const CodecBytes *from)
{
    char *text = *room;
    if (from->len > 0) {
        memcpy(text, from->data, from->len);
    }
    text[from->len] = 0;
    *room += from->len + 1;
    return text;
}

static int make_module(const UniverseName *name, uint64_t version,
                       const WitUniverseDbi43ModulesValue *row, SapModule **module_out)
{
    CodecBytes name_bytes = lend_name(name);
    size_t size = sizeof(ModuleBlock) + name->len + row->runner.len + row->settings.len +
                  row->code.len + row->schemas.len + 5;
    ModuleBlock *block = (ModuleBlock *)mem_alloc(MEM_UNIVERSE, size);
    if (block == NULL) {
        return SAP_NOMEM;
    }
    char *room = (char *)(block + 1);
    block->size = size;
    block->module = (SapModule){
        .size = sizeof block->module,
        .on_failure = row->skip ? SAP_ON_FAILURE_SKIP : SAP_ON_FAILURE_HALT,
        .name = copy_part(&room, &name_bytes),
        .runner = copy_part(&room, &row->runner),
        .settings = copy_part(&room, &row->settings),
        .timeout_ns = row->timeout_ns,
        .max_attempts = row->max_attempts,
        .state = (SapModuleState)row->state,
        .version = version,
        .registered_ns = row->registered_ns,
        .schemas = copy_part(&room, &row->schemas),
    };
    if (row->code.len > 0) {
        block->module.code = (const uint8_t *)copy_part(&room, &row->code);
    }
    *module_out = &block->module;
    return SAP_OK;
}

void sap_module_free(SapModule *module)
{
    if (module != NULL) {
        ModuleBlock *block =
            (ModuleBlock *)(void *)((char *)module - offsetof(ModuleBlock, module));
        mem_free(MEM_UNIVERSE, block, block->size);
    }
}

/* ---- Reading --------------------------------------------------------------------------------- */

int module_key_decode(const SapStoreRow *row, UniverseName *name_out, uint64_t *version_out)
{
    WitUniverseDbi43ModulesKey key;
    int rc =
        row_decode_code(wit_universe_dbi43_modules_key_decode(row->key, row->key_len, &key, NULL));
    if (rc == SAP_OK) {
        universe_name_copy(name_out, &key.name);
        *version_out = key.version;
        wit_universe_dbi43_modules_key_free(&key);
    }
    return rc;
}

int module_row_decode(const SapStoreRow *row, SapModule **module_out)
{
    UniverseName name;
    uint64_t version = 0;
    WitUniverseDbi43ModulesValue val;
    int rc = module_key_decode(row, &name, &version);
    rc = rc == SAP_OK ? row_decode_code(wit_universe_dbi43_modules_value_decode(
                            row->val, row->val_len, &val, NULL))
                      : rc;
    if (rc == SAP_OK) {
        rc = make_module(&name, version, &val, module_out);
        wit_universe_dbi43_modules_value_free(&val);
    }
    return rc;
}

/* The row of the version; 0: the last of the name. Borrowed until the transaction ends. */
static int find_row(SapStoreTxn *txn, uint32_t universe, const UniverseName *name, uint64_t version,
                    const SapStoreRow **row_out)
{
    RowKey from;
    RowKey to;
    SapStoreRange range;
    uint32_t count = 0;
    if (version == 0) {
        row_key_world(&from, WIT_DBI_MODULES, universe, name);
    } else {
        row_key_module(&from, universe, name, version);
    }
    row_range(&from, &to, &range);
    int rc = sap_store_scan(txn, &range, version == 0, 1, row_out, &count);
    return rc == SAP_OK && count == 0 ? SAP_NOTFOUND : rc;
}

int module_row_version(SapStoreTxn *txn, uint32_t universe, const UniverseName *name,
                       uint64_t version, uint64_t *version_out)
{
    const SapStoreRow *row = NULL;
    UniverseName found;
    int rc = find_row(txn, universe, name, version, &row);
    return rc == SAP_OK ? module_key_decode(row, &found, version_out) : rc;
}

int module_row_get(SapStoreTxn *txn, uint32_t universe, const UniverseName *name, uint64_t version,
                   SapModule **module_out)
{
    const SapStoreRow *row = NULL;
    int rc = find_row(txn, universe, name, version, &row);
    return rc == SAP_OK ? module_row_decode(row, module_out) : rc;
}

int sap_module_get(SapUniverse *universe, const char *name, uint64_t version,
                   SapModule **module_out)
{
    UniverseName module;
    SapStoreTxn *txn = NULL;
    if (universe == NULL || module_out == NULL) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&module, name);
    if (rc != SAP_OK) {
        return rc;
    }
    universe_enter(universe);
    rc = sap_store_begin(universe->store, SAP_STORE_READ_DURABLE, &txn);
    rc = rc == SAP_OK ? module_row_get(txn, universe->number, &module, version, module_out) : rc;
    sap_store_abort(txn);
    universe_leave(universe);
    return rc;
}

/* ---- Listing --------------------------------------------------------------------------------- */

/* The newest version of the next name. *from moves behind all versions of it. SAP_NOTFOUND: there is none. */
static int next_module(SapStoreTxn *txn, uint32_t universe, RowKey *from, SapModule **module_out)
{
    RowKey all;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    UniverseName name;
    uint64_t version = 0;
    row_key_universe(&all, WIT_DBI_MODULES, universe);
    row_range(&all, &to, &range);
    range.from = from->bytes;
    range.from_len = from->len;
    int rc = sap_store_scan(txn, &range, false, 1, &rows, &count);
    rc = rc == SAP_OK && count == 0 ? SAP_NOTFOUND : rc;
    rc = rc == SAP_OK ? module_key_decode(&rows[0], &name, &version) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    row_key_module(from, universe, &name, UINT64_MAX);
    return module_row_get(txn, universe, &name, 0, module_out);
}

int sap_modules_list(SapUniverse *universe, const char *after, uint32_t limit,
                     int (*each)(void *ctx, const SapModule *module), void *ctx)
{
    UniverseName name;
    SapStoreTxn *txn = NULL;
    RowKey from;
    int rc = SAP_OK;
    if (universe == NULL || each == NULL || limit > LIST_MOST) {
        return SAP_ERROR;
    }
    row_key_universe(&from, WIT_DBI_MODULES, universe->number);
    if (after != NULL && after[0] != 0) {
        rc = universe_name_set(&name, after);
        if (rc != SAP_OK) {
            return rc;
        }
        row_key_module(&from, universe->number, &name, UINT64_MAX);
    }
    limit = limit == 0 ? LIST_DEFAULT : limit;
    universe_enter(universe);
    rc = sap_store_begin(universe->store, SAP_STORE_READ_DURABLE, &txn);
    for (uint32_t i = 0; rc == SAP_OK && i < limit; i++) {
        SapModule *module = NULL;
        rc = next_module(txn, universe->number, &from, &module);
        rc = rc == SAP_OK ? each(ctx, module) : rc;
        sap_module_free(module);
    }
    sap_store_abort(txn);
    universe_leave(universe);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* ---- Registering ----------------------------------------------------------------------------- */

typedef struct Registration {
    uint32_t universe;
    UniverseName name;
    WitUniverseDbi43ModulesValue row; /* borrows what it names */
    uint64_t version;                 /* out */
} Registration;

/* Whether a row says the same, apart from what the library writes itself. */
static bool says_same(const WitUniverseDbi43ModulesValue *old,
                      const WitUniverseDbi43ModulesValue *row)
{
    WitUniverseDbi43ModulesValue as_old = *row;
    as_old.registered_ns = old->registered_ns;
    as_old.resumed = old->resumed;
    return wit_universe_dbi43_modules_value_equal(old, &as_old);
}

static int register_body(SapStoreTxn *store_txn, void *ctx)
{
    Registration *registration = (Registration *)ctx;
    UniverseTxn txn;
    UniverseGuard guard = {.exclusive = true}; /* of all versions of the name */
    WitUniverseDbi43ModulesValue old;
    const SapStoreRow *newest = NULL;
    UniverseName name;
    RowKey key;
    Buf val = {0};
    bool same = false;
    row_key_world(&guard.key, WIT_DBI_MODULES, registration->universe, &registration->name);
    int rc = universe_txn_start(&txn, store_txn, PARTY_OPERATOR, &guard, 1, NULL, 0);
    rc = rc == SAP_OK ? find_row(store_txn, registration->universe, &registration->name, 0, &newest)
                      : rc;
    registration->version = 0;
    if (rc == SAP_OK) {
        rc = module_key_decode(newest, &name, &registration->version);
        rc = rc == SAP_OK ? row_decode_code(wit_universe_dbi43_modules_value_decode(
                                newest->val, newest->val_len, &old, NULL))
                          : rc;
        if (rc == SAP_OK) {
            same = says_same(&old, &registration->row);
            wit_universe_dbi43_modules_value_free(&old);
        }
        rc = rc == SAP_CORRUPT ? SAP_OK : rc; /* a newer version takes its place */
    }
    if (same || (rc != SAP_OK && rc != SAP_NOTFOUND)) {
        return rc;
    }
    registration->version++;
    row_key_module(&key, registration->universe, &registration->name, registration->version);
    rc = wit_universe_dbi43_modules_value_encode(&registration->row, &val, NULL);
    rc = rc == SAP_OK ? universe_put_if_absent(&txn, &key, (Slice){val.data, val.len}) : rc;
    buf_release(&val);
    SAP_ASSERT(rc != SAP_EXISTS);
    return rc;
}

static bool module_valid(const SapModule *module)
{
    return module->runner != NULL && module->runner[0] != 0 &&
           payload_text_valid(module->runner, SAP_MODULE_MAX_RUNNER) &&
           payload_text_valid(module->settings, SAP_MODULE_MAX_SETTINGS) &&
           (unsigned)module->on_failure <= SAP_ON_FAILURE_SKIP &&
           (unsigned)module->state <= SAP_MODULE_STATE_ASK;
}

static CodecBytes lend_string(const char *text)
{
    return lend_bytes(text == NULL ? "" : text, text == NULL ? 0 : strlen(text));
}

static void tell_why(const SapUniverse *universe, const char *module, const char *why)
{
    char text[JSON_SCHEMA_WHY + SAP_WORLD_MAX_NAME + 64];
    if (why[0] == 0 || universe->on_message == NULL) {
        return;
    }
    (void)snprintf(text, sizeof text, "the schemas of module %s are refused: %s", module, why);
    universe->on_message(text, universe->message_ctx);
}

int sap_module_check(SapUniverse *universe, const char *module, uint64_t version, const char *name,
                     SapEncoding encoding, const void *payload, size_t len,
                     char why_out[SAP_MODULE_WHY])
{
    UniverseName module_name;
    char why[JSON_SCHEMA_WHY] = "";
    Buf canonical = {0};
    if (universe == NULL) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&module_name, module);
    rc = rc == SAP_OK && !payload_text_valid(name, SAP_WORLD_MAX_NAME) ? SAP_INVALID : rc;
    rc = rc == SAP_OK ? payload_append_or_null(encoding, payload, len, &canonical) : rc;
    if (rc == SAP_OK) {
        SchemaItem item = {.name = slice_from_str(name == NULL ? "" : name),
                           .creates = name == NULL,
                           .encoding = encoding,
                           .payload = {canonical.data, canonical.len}};
        universe_enter(universe);
        rc = schemas_check_module(universe, &module_name, version, &item, why);
        universe_leave(universe);
    }
    if (rc == SAP_INVALID && why_out != NULL) {
        memcpy(why_out, why, sizeof why);
    }
    buf_release(&canonical);
    return rc;
}

int sap_module_put(SapUniverse *universe, const SapModule *module, uint64_t *version_out)
{
    enum { TRIES = 4 };
    SapModule all = {.size = sizeof all};
    Registration registration = {.version = 0};
    char why[JSON_SCHEMA_WHY] = "";
    Buf schemas = {0};
    bool unknown = true;
    if (universe == NULL || module == NULL || OPTIONS_READ(SapModule, &all, module) != SAP_OK) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&registration.name, all.name);
    if (rc != SAP_OK || !module_valid(&all)) {
        return SAP_INVALID;
    }
    registration.universe = universe->number;
    registration.row = (WitUniverseDbi43ModulesValue){
        .runner = lend_string(all.runner),
        .code = lend_bytes(all.code == NULL ? (const uint8_t *)"" : all.code,
                           all.code == NULL ? 0 : UNIVERSE_DIGEST),
        .max_attempts = all.max_attempts,
        .skip = all.on_failure == SAP_ON_FAILURE_SKIP,
        .registered_ns = sap_store_due_ns(universe->store),
        .state = (WitUniverseModuleState)all.state,
        .timeout_ns = all.timeout_ns,
        .settings = lend_string(all.settings),
    };
    rc = schemas_canonical(all.schemas, &schemas, why);
    if (rc != SAP_OK) {
        tell_why(universe, all.name, why);
        buf_release(&schemas);
        return rc;
    }
    registration.row.schemas = lend_bytes(schemas.data, schemas.len);
    universe_enter(universe);
    rc = SAP_IO;
    for (int i = 0; i < TRIES && rc == SAP_IO && unknown; i++) {
        rc = sap_store_run(universe->store, SAP_STORE_GUARDED, register_body, &registration,
                           &unknown);
    }
    if (rc == SAP_OK) {
        LOG_EVENT(universe->meters.log, LOG_LEVEL_INFO, "universe.module",
                  LOG_STR("module", registration.name.text),
                  LOG_U64("version", registration.version), LOG_STR("runner", all.runner));
        atomic_add_full(&universe->registrations, 1); /* its workers look at the rows now */
        store_poke(universe->store, STORE_POKE_JOB);
        if (version_out != NULL) {
            *version_out = registration.version;
        }
    }
    buf_release(&schemas);
    universe_leave(universe);
    return rc;
}
