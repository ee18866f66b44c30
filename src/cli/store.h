/* store.h - the verbs of `sapling store`, and what they share. */
#ifndef SAPLING_CLI_STORE_H
#define SAPLING_CLI_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/command.h"
#include "common/buf.h"
#include "sapling/store.h"
#include "wit_store.h"

int store_init_verb(const Call *call);
int store_check_verb(const Call *call);

/* ---- Shared (store_common.c) ------------------------------------------------------------------- */

typedef enum StorePlace { STORE_IN_FILE, STORE_ON_SERVER } StorePlace;

/* EXIT_DONE, or EXIT_USAGE after saying that the url names no store that lasts. */
int store_place(const Call *call, const char *url, StorePlace *place_out);
/* What follows sapling: in the url of a store in a file. */
const char *store_path(const char *url);

/* A set of table numbers. */
typedef struct TableSet {
    bool has[SAP_STORE_LAST_TABLE + 1];
} TableSet;

/* Appends "8-10,16"; "none" for an empty set. */
int table_set_text(const TableSet *set, Buf *text);
/* An array of numbers. NULL: out of memory. */
json_t *table_set_json(const TableSet *set);

/* The exit code for what sap_store_open() would return; `line` is what of a report it is about. */
int store_exit_code(const char *line, int rc);

/* ---- A store in a file (store_file.c) ---------------------------------------------------------- */

typedef struct StoreFile {
    Buf tables; /* AccessTable, ascending; those below a store's own only if they have rows */
    bool has_marker;
    bool has_time;
    /* Each is valid if the row is there and `damage` is "". */
    uint32_t format;
    char schema[SAP_STORE_MAX_SCHEMA + 1];
    WitStoreTime time;
    char damage[200]; /* what is wrong with the marker or the time */
} StoreFile;

/* Reads what the file has, and changes nothing. EXIT_DONE, or the exit status after saying what is
 * wrong. Release it in any case. */
int store_file_look(const Call *call, const char *path, StoreFile *file);
void store_file_release(StoreFile *file);

#endif
