/* schemas.c - see schemas.h. */
#include "universe/schemas.h"

#include <string.h>

#include "common/assert.h"
#include "common/hash.h"
#include "common/mem.h"
#include "universe/module_rows.h"
#include "universe/universe_impl.h"
#include "json/canonical.h"
#include "json/walk.h"

struct ModuleSchemas {
    uint32_t uses; /* by places, and by calls that are under way */
    UniverseName module;
    uint64_t version;
    Buf text;
};

_Static_assert(SAP_MODULE_WHY == JSON_SCHEMA_WHY, "the interface has the same room");

static void set_why(char why[JSON_SCHEMA_WHY], const char *text)
{
    size_t len = strlen(text);
    SAP_ASSERT(len < JSON_SCHEMA_WHY);
    memcpy(why, text, len + 1);
}

/* ---- Declarations ---------------------------------------------------------------------------- */

static int check_declaration(Slice text, char why[JSON_SCHEMA_WHY])
{
    Slice name;
    Slice schema;
    if (((const char *)text.data)[0] != '{') {
        set_why(why, "schemas are not a JSON object, with a schema for each name of a message");
        return SAP_INVALID;
    }
    for (size_t at = 0; json_next_member(text, &at, &name, &schema);) {
        int rc = json_schema_check(schema, why);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return SAP_OK;
}

int schemas_canonical(const char *text, Buf *out, char why[JSON_SCHEMA_WHY])
{
    CanonicalError error = {.reason = ""};
    size_t before = out->len;
    if (text == NULL || text[0] == 0) {
        return SAP_OK;
    }
    int rc = json_canonical(text, strlen(text), out, &error);
    if (rc != SAP_OK) {
        set_why(why, error.reason);
        return rc;
    }
    rc = out->len - before > SAP_MODULE_MAX_SCHEMAS
             ? SAP_FULL
             : check_declaration((Slice){out->data + before, out->len - before}, why);
    if (rc == SAP_FULL) {
        set_why(why, "schemas are longer than 64 KiB");
    }
    if (rc != SAP_OK) {
        buf_truncate(out, before);
    }
    return rc;
}

/* The name as a key of canonical JSON, between its quotes. */
static int name_key(Slice name, Buf *out)
{
    const uint8_t *bytes = (const uint8_t *)name.data;
    Buf quoted = {0};
    int rc = buf_append_u8(&quoted, '"');
    for (size_t i = 0; rc == SAP_OK && i < name.len; i++) {
        bool plain = bytes[i] >= 0x20 && bytes[i] != '"' && bytes[i] != '\\';
        rc = plain ? buf_append_u8(&quoted, bytes[i])
                   : buf_printf(&quoted, "\\u%04x", (unsigned)bytes[i]);
    }
    rc = rc == SAP_OK ? buf_append_u8(&quoted, '"') : rc;
    rc = rc == SAP_OK ? json_canonical(quoted.data, quoted.len, out, NULL) : rc;
    buf_release(&quoted);
    return rc;
}

/* *found_out: there is a schema for it. */
static int find_schema(Slice schemas, const SchemaItem *item, Slice *schema_out, bool *found_out)
{
    Buf key = {0};
    if (item->creates) {
        *found_out = json_find_member(schemas, slice_from_str("$create"), schema_out);
        return SAP_OK;
    }
    int rc = name_key(item->name, &key);
    if (rc == SAP_OK) {
        *found_out = json_find_member(schemas, (Slice){key.data + 1, key.len - 2}, schema_out) ||
                     json_find_member(schemas, slice_from_str("*"), schema_out);
    }
    buf_release(&key);
    return rc;
}

static int check_item(Slice schemas, const SchemaItem *item, char why[JSON_SCHEMA_WHY])
{
    Slice schema;
    bool found = false;
    int rc = find_schema(schemas, item, &schema, &found);
    if (rc != SAP_OK || !found) {
        return rc;
    }
    if (item->encoding != SAP_ENCODING_JSON) {
        set_why(why, "it is not JSON, and its module declares a JSON Schema for it");
        return SAP_INVALID;
    }
    return json_schema_validate(schema, item->payload, why);
}

/* ---- What was read --------------------------------------------------------------------------- */

int schema_cache_init(SchemaCache *cache)
{
    cache->places = NULL;
    return mutex_init(&cache->lock) ? SAP_OK : SAP_NOMEM;
}

/* Under the lock. NULL is accepted. */
static void unref_schemas(ModuleSchemas *schemas)
{
    if (schemas == NULL) {
        return;
    }
    SAP_ASSERT(schemas->uses > 0);
    if (--schemas->uses == 0) {
        buf_release(&schemas->text);
        mem_free(MEM_UNIVERSE, schemas, sizeof *schemas);
    }
}

static void drop_schemas(SchemaCache *cache, ModuleSchemas *schemas)
{
    mutex_lock(&cache->lock);
    unref_schemas(schemas);
    mutex_unlock(&cache->lock);
}

void schema_cache_release(SchemaCache *cache)
{
    for (int i = 0; cache->places != NULL && i < SCHEMA_PLACES; i++) {
        unref_schemas(cache->places[i].schemas);
    }
    mem_free(MEM_UNIVERSE, cache->places, SCHEMA_PLACES * sizeof *cache->places);
    mutex_destroy(&cache->lock);
}

static uint32_t place_of(const UniverseName *world)
{
    return (uint32_t)(hash_bytes(world->text, world->len, 0) % SCHEMA_PLACES);
}

/* Whether it is known what the world's module declares; *schemas_out is then used once more. */
static bool find_known(SapUniverse *universe, const UniverseName *world,
                       ModuleSchemas **schemas_out)
{
    SchemaCache *cache = &universe->schemas;
    bool known = false;
    mutex_lock(&cache->lock);
    if (cache->places != NULL) {
        const SchemaPlace *place = &cache->places[place_of(world)];
        known = universe_name_equal(&place->world, world) &&
                place->registrations == atomic_load(&universe->registrations) &&
                clock_boot_ns(universe->clock) < place->until_ns;
        *schemas_out = known ? place->schemas : NULL;
        if (*schemas_out != NULL) {
            (*schemas_out)->uses++;
        }
    }
    mutex_unlock(&cache->lock);
    return known;
}

/* What another place has of the same version. */
static ModuleSchemas *find_shared(const SchemaCache *cache, const ModuleSchemas *schemas)
{
    for (int i = 0; i < SCHEMA_PLACES; i++) {
        ModuleSchemas *other = cache->places[i].schemas;
        if (other != NULL && other->version == schemas->version &&
            universe_name_equal(&other->module, &schemas->module) &&
            other->text.len == schemas->text.len &&
            memcmp(other->text.data, schemas->text.data, schemas->text.len) == 0) {
            return other;
        }
    }
    return NULL;
}

/* Remembers it, unless there is no memory for it. *schemas, which the caller uses once, may become another
 * of the same text. */
static void keep_known(SapUniverse *universe, const UniverseName *world, uint64_t registrations,
                       ModuleSchemas **schemas)
{
    SchemaCache *cache = &universe->schemas;
    uint64_t until_ns = clock_boot_ns(universe->clock) + SCHEMAS_KEPT_NS;
    mutex_lock(&cache->lock);
    if (cache->places == NULL) {
        cache->places =
            (SchemaPlace *)mem_zalloc(MEM_UNIVERSE, SCHEMA_PLACES * sizeof(SchemaPlace));
    }
    if (cache->places != NULL) {
        SchemaPlace *place = &cache->places[place_of(world)];
        ModuleSchemas *shared = *schemas == NULL ? NULL : find_shared(cache, *schemas);
        if (shared != NULL) {
            shared->uses++;
            unref_schemas(*schemas);
            *schemas = shared;
        }
        if (*schemas != NULL) {
            (*schemas)->uses++;
        }
        unref_schemas(place->schemas);
        *place = (SchemaPlace){*world, *schemas, registrations, until_ns};
    }
    mutex_unlock(&cache->lock);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* *schemas_out, used once, or NULL: the version declares nothing, or is not there. */
static int read_schemas(SapStoreTxn *txn, uint32_t universe, const UniverseName *module,
                        uint64_t version, ModuleSchemas **schemas_out)
{
    SapModule *row = NULL;
    *schemas_out = NULL;
    int rc = module_row_get(txn, universe, module, version, &row);
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    if (row->schemas[0] != 0) {
        ModuleSchemas *schemas = (ModuleSchemas *)mem_zalloc(MEM_UNIVERSE, sizeof *schemas);
        rc = schemas == NULL ? SAP_NOMEM : buf_append_str(&schemas->text, row->schemas);
        if (rc == SAP_OK) {
            schemas->uses = 1;
            schemas->module = *module;
            schemas->version = row->version;
            *schemas_out = schemas;
        } else if (schemas != NULL) {
            mem_free(MEM_UNIVERSE, schemas, sizeof *schemas);
        }
    }
    sap_module_free(row);
    return rc;
}

/* SAP_NOTFOUND: there is no such world. */
static int read_world(SapUniverse *universe, const UniverseName *world, ModuleSchemas **schemas_out)
{
    SapStoreTxn *txn = NULL;
    RowKey key;
    UniverseName module;
    WitUniverseDbi21WorldMetaValue meta;
    row_key_world(&key, WIT_DBI_WORLD_META, universe->number, world);
    int rc = sap_store_begin(universe->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? meta_row_get(txn, &key, &meta) : rc;
    if (rc == SAP_OK) {
        uint64_t pin = meta.pin;
        universe_name_copy(&module, &meta.module);
        wit_universe_dbi21_world_meta_value_free(&meta);
        rc = read_schemas(txn, universe->number, &module, pin, schemas_out);
    }
    sap_store_abort(txn);
    return rc;
}

static int check_and_drop(SapUniverse *universe, ModuleSchemas *schemas, const SchemaItem *item,
                          char why[JSON_SCHEMA_WHY])
{
    if (schemas == NULL) {
        return SAP_OK;
    }
    int rc = check_item((Slice){schemas->text.data, schemas->text.len}, item, why);
    drop_schemas(&universe->schemas, schemas);
    return rc;
}

int schemas_check_world(SapUniverse *universe, const UniverseName *world, const SchemaItem *item,
                        char why[JSON_SCHEMA_WHY])
{
    ModuleSchemas *schemas = NULL;
    uint64_t registrations = atomic_load(&universe->registrations);
    if (!find_known(universe, world, &schemas)) {
        int rc = read_world(universe, world, &schemas);
        if (rc != SAP_OK) {
            return rc == SAP_NOTFOUND ? SAP_OK : rc; /* the transaction that enqueues says so */
        }
        keep_known(universe, world, registrations, &schemas);
    }
    return check_and_drop(universe, schemas, item, why);
}

int schemas_check_module(SapUniverse *universe, const UniverseName *module, uint64_t version,
                         const SchemaItem *item, char why[JSON_SCHEMA_WHY])
{
    SapStoreTxn *txn = NULL;
    ModuleSchemas *schemas = NULL;
    int rc = sap_store_begin(universe->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? read_schemas(txn, universe->number, module, version, &schemas) : rc;
    sap_store_abort(txn);
    return rc == SAP_OK ? check_and_drop(universe, schemas, item, why) : rc;
}
