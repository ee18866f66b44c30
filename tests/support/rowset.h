/* rowset.h - rows of all tables as a sorted set: read through a DB, or from the pages of its file. */
#ifndef SAPLING_TESTS_ROWSET_H
#define SAPLING_TESTS_ROWSET_H

#include "sapling/sapling.h"
#include "support/forge.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct SetRow {
    uint32_t dbi;
    uint32_t key_len;
    uint32_t val_len;
    uint8_t *key; /* the value follows it */
    /* Of rows read from pages: where they lie. */
    uint32_t leaf;
    uint32_t run; /* 0: the value is in the leaf */
    uint32_t run_pages;
} SetRow;

typedef struct RowSet {
    SetRow *rows;
    size_t count;
    size_t capacity;
} RowSet;

/* Release with rowset_free(); an empty one is all zero. */
void rowset_free(RowSet *set);
void rowset_add(RowSet *set, uint32_t dbi, const void *key, uint32_t key_len, const void *val,
                uint32_t val_len);
/* After adding, before asking. Rows that are there twice stay once. */
void rowset_sort(RowSet *set);
bool rowset_has(const RowSet *set, const SetRow *row);
/* Adds all rows of `from`. */
void rowset_join(RowSet *set, const RowSet *from);

/* The rows of all open tables, sorted. */
void rowset_of_db(RowSet *set, SapEnv *db);
/* The rows of the newest checkpoint in the pages of a sound file, sorted. */
void rowset_of_pages(RowSet *set, Forge *forge);
/* The same of a file in which the pages with damaged[pgno] are not to be read: what can be reached
 * without them. */
void rowset_of_sound_pages(RowSet *set, Forge *forge, const bool *damaged);

#endif
