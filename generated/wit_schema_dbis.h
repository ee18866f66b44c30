/* wit_schema_dbis.h - the tables that the schemas declare.
 *
 * Generated from schemas/wit by tools/wit_codegen: change the schemas. */
#ifndef SAPLING_GENERATED_WIT_SCHEMA_DBIS_H
#define SAPLING_GENERATED_WIT_SCHEMA_DBIS_H

#include <stddef.h>
#include <stdint.h>

enum {
    WIT_DBI_APP_STATE = 0,
    WIT_DBI_INBOX = 1,
    WIT_DBI_OUTBOX = 2,
    WIT_DBI_LEASES = 3,
    WIT_DBI_TIMERS = 4,
    WIT_DBI_DEDUPE = 5,
    WIT_DBI_DEAD_LETTER = 6,
    WIT_DBI_DEDUPE_TTL = 7,
    WIT_RUNTIME_MAJOR = 0,
    WIT_RUNTIME_MINOR = 1,
    WIT_RUNTIME_DBI_BASE = 0,
    WIT_RUNTIME_DBI_COUNT = 8,
    WIT_DBI_STORE_META = 8,
    WIT_DBI_BLOBS = 9,
    WIT_DBI_BLOBREFS = 10,
    WIT_STORE_MAJOR = 1,
    WIT_STORE_MINOR = 0,
    WIT_STORE_DBI_BASE = 8,
    WIT_STORE_DBI_COUNT = 3,
    WIT_DBI_LEASE = 16,
    WIT_DBI_SESSIONS = 17,
    WIT_DBI_HELD = 18,
    WIT_DBI_HEAD = 19,
    WIT_DBI_JOURNAL = 20,
    WIT_DBI_WORLD_META = 21,
    WIT_DBI_ASSIGNMENT = 22,
    WIT_DBI_ASSIGNED = 23,
    WIT_DBI_WORLD_INBOX = 24,
    WIT_DBI_IDEM = 25,
    WIT_DBI_REPLY = 26,
    WIT_DBI_ATTEMPT = 27,
    WIT_DBI_WORLD_DLQ = 28,
    WIT_DBI_FABRIC_DEDUPE = 29,
    WIT_DBI_SNAPSHOT = 30,
    WIT_DBI_BASELINE = 31,
    WIT_DBI_PINS = 32,
    WIT_DBI_SEGMENTS = 33,
    WIT_DBI_EFFECTS_PENDING = 34,
    WIT_DBI_EFFECTS_INFLIGHT = 35,
    WIT_DBI_EFFECTS_DEDUPE = 36,
    WIT_DBI_TIMERS_DUE = 37,
    WIT_DBI_TIMERS_DEDUPE = 38,
    WIT_DBI_READY = 39,
    WIT_DBI_ROLELEASE = 40,
    WIT_DBI_EXPIRY = 41,
    WIT_DBI_PROMISES = 42,
    WIT_DBI_MODULES = 43,
    WIT_DBI_CRON = 44,
    WIT_DBI_KINDS = 45,
    WIT_DBI_TAGS = 46,
    WIT_DBI_IDEMPOTENCY = 47,
    WIT_DBI_WORLD_TAGS = 48,
    WIT_DBI_RESULTS = 49,
    WIT_UNIVERSE_MAJOR = 1,
    WIT_UNIVERSE_MINOR = 0,
    WIT_UNIVERSE_DBI_BASE = 16,
    WIT_UNIVERSE_DBI_COUNT = 34,
};

/* All static storage. */
typedef struct WitSchemaDbi {
    uint32_t dbi;
    const char *name;
    const char *key_format;
    const char *value_format;
    const char *owner;
    const char *status; /* "active" or "planned" */
} WitSchemaDbi;

/* Of all packages, by number. Those of one package are beside each other: _DBI_COUNT from
 * number _DBI_BASE on. */
extern const WitSchemaDbi wit_schema_dbis[];
extern const size_t wit_schema_dbi_count;

#endif
