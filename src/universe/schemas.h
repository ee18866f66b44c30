/* schemas.h - what modules declare of the payloads that are sent to their worlds, looked at before an item
 * is enqueued.
 *
 * A declaration is a JSON object: its members are JSON Schemas (json/json_schema.h) by the names of
 * messages. "*" is for those that are not named, "$create" for the payload that a world is created with. The
 * row of the module has it in canonical form; the version that counts is the one that runs the world.
 *
 * What a world's module declares is remembered for SCHEMAS_KEPT_NS: so long may a process that enqueues
 * still go by what a version before declared. Whoever must not rely on it checks in its handler. */
#ifndef SAPLING_UNIVERSE_SCHEMAS_H
#define SAPLING_UNIVERSE_SCHEMAS_H

#include "common/clock.h"
#include "common/sync.h"
#include "sapling/universe.h"
#include "universe/rows.h"
#include "json/json_schema.h"

#define SCHEMAS_KEPT_NS UINT64_C(5000000000)

/* What a version of a module declares, shared by those who use it. */
typedef struct ModuleSchemas ModuleSchemas;

/* What is known of a world: of no world while its name is empty. */
typedef struct SchemaPlace {
    UniverseName world;
    ModuleSchemas *schemas; /* NULL: its module declares nothing */
    uint64_t registrations; /* of modules by this process when it was read */
    uint64_t until_ns;      /* boot time */
} SchemaPlace;

enum { SCHEMA_PLACES = 256 };

typedef struct SchemaCache {
    Mutex lock;          /* of everything below, and of the uses of what it names */
    SchemaPlace *places; /* made for the first world; NULL: none yet */
} SchemaCache;

int schema_cache_init(SchemaCache *cache);
void schema_cache_release(SchemaCache *cache);

/* Appends the canonical form of a declaration; nothing if it is NULL or "". SAP_INVALID: `why` says what is
 * wrong. SAP_FULL: it is too long. */
int schemas_canonical(const char *text, Buf *out, char why[JSON_SCHEMA_WHY]);

/* What is sent. `payload` is canonical. */
typedef struct SchemaItem {
    Slice name;
    bool creates;
    SapEncoding encoding;
    Slice payload;
} SchemaItem;

/* Whether it is what the module of the world declares; `why` is written on SAP_INVALID. SAP_OK also of a world
 * that is not there. */
int schemas_check_world(SapUniverse *universe, const UniverseName *world, const SchemaItem *item,
                        char why[JSON_SCHEMA_WHY]);
/* The same of a version of a module; 0: the newest. SAP_OK if there is none. */
int schemas_check_module(SapUniverse *universe, const UniverseName *module, uint64_t version,
                         const SchemaItem *item, char why[JSON_SCHEMA_WHY]);

#endif
