/* wit_schema_dbis.c - the tables that the schemas declare.
 *
 * Generated from schemas/wit by tools/wit_codegen: change the schemas. */
#include "wit_schema_dbis.h"

const WitSchemaDbi wit_schema_dbis[] = {
    {0, "app_state",
     "key, all bytes left",
     "value, all bytes left",
     "runner", "active"},
    {1, "inbox",
     "worker u64be; seq u64be",
     "frame, all bytes left",
     "runner", "active"},
    {2, "outbox",
     "seq u64be",
     "frame, all bytes left",
     "runner", "active"},
    {3, "leases",
     "worker u64be; seq u64be",
     "LSE0; owner u64le; deadline s64le; attempts u32le; token u64le",
     "runner", "active"},
    {4, "timers",
     "due s64be sign-flipped; seq u64be",
     "frame, all bytes left",
     "runner", "active"},
    {5, "dedupe",
     "key, all bytes left",
     "value, all bytes left",
     "runner", "active"},
    {6, "dead_letter",
     "worker u64be; seq u64be",
     "DLQ0; rc s32le; attempts u32le; frame list<u8>",
     "runner", "active"},
    {7, "dedupe_ttl",
     "key, all bytes left",
     "value, all bytes left",
     "runner", "active"},
    {8, "store_meta",
     "row meta-row",
     "value, all bytes left",
     "store", "active"},
    {9, "blobs",
     "part blob-part; sha256, all bytes left",
     "value, all bytes left",
     "store", "active"},
    {10, "blobrefs",
     "sha256 list<u8> escaped; kind blob-owner; owner list<u8> escaped",
     "value, all bytes left",
     "store", "active"},
};

const size_t wit_schema_dbi_count =
    sizeof wit_schema_dbis / sizeof wit_schema_dbis[0];
