/* driver_internal.h - what the parts of the driver share.
 *
 * driver.c begins and ends transactions and chooses what is done next; driver_keys.c makes keys and
 * values; driver_cursor.c, driver_rows.c and driver_ttl.c perform the calls of their kind on the
 * engine and on the model; driver_watch.c compares what watches are told, and streams. */
#ifndef SAPLING_TESTS_DRIVER_INTERNAL_H
#define SAPLING_TESTS_DRIVER_INTERNAL_H

#include "support/driver.h"
#include "support/events.h"
#include "support/expect.h"
#include "support/model.h"
#include "support/stream.h"

enum { LEVELS = 6, READERS = 3, CURSORS = 3, KEPT = 4, ORPHANS = 4, WATCHES = 3, PREFIX_MAX = 8 };
enum { WRITER = READERS, CHAINS = READERS + 1 };

/* Plain tables, then those of pairs, then one whose rows may expire, and its expiry times. */
enum { TABLE_PAIRS = 4, TABLE_TTL = 6, TABLE_META = 7, TABLES = 8 };

enum { LONGEST_VALUE = 100 * 1024 };

typedef struct Table {
    uint32_t dbi;
    OrderKind order;
    OrderKind value_order; /* of pairs */
    unsigned flags;
    uint32_t max_key;
    uint32_t max_pair; /* key and value together, of pairs */
} Table;

typedef enum Place {
    PLACE_NEVER,  /* not placed since it was opened or renewed */
    PLACE_ROW,    /* on the row, or where the row was */
    PLACE_END,    /* moved on from the last row */
    PLACE_BEGIN,  /* moved on from the first row */
    PLACE_NOWHERE /* a search found nothing: on no row, and where it goes from there is open */
} Place;

typedef struct Track {
    SapCursor *cur;
    size_t table;
    Place place;
    ModelRow *row; /* with PLACE_ROW; counted */
} Track;

/* What a read transaction returned and must still say when it ends. */
typedef struct Kept {
    const void *key;
    const void *val;
    ModelRow *row; /* counted */
} Kept;

typedef struct Level {
    SapTxnCtx *txn;
    Model *model;   /* what the transaction must see */
    Model *touched; /* the keys that it and its committed children changed; plain tables only */
    bool readonly;
    Track tracks[CURSORS];
    Kept kept[KEPT];
    uint32_t kept_count;
} Level;

/* An outermost transaction and its descendants; only the last level may be used. */
typedef struct Chain {
    Level levels[LEVELS];
    uint32_t depth;
    uint64_t txnid; /* of the snapshot, for readers */
} Chain;

/* A watch that comes and goes. */
typedef struct Watched {
    bool on;
    size_t table;
    uint8_t prefix[PREFIX_MAX];
    uint32_t prefix_len;
    Events events; /* since the last commit */
} Watched;

typedef struct Driver {
    const DriverConfig *config;
    Choice *choice;
    DriverCounts *counts;
    Backing backing;
    SapEnv *db;
    SapEnv *replica; /* for config->observer; else NULL */
    Model *committed;
    Model *no_rows; /* the tables, empty */
    uint64_t txnid;
    Chain chains[CHAINS];
    Track orphans[ORPHANS]; /* cursors whose transaction has ended */
    Table tables[TABLES];
    Watched watched[WATCHES];
    Stream saved;       /* a stream from some moment of the run, */
    Model *saved_model; /* and what it holds; NULL: none yet */
    SapSweepCheckpoint sweep;
    uint64_t now_ms;     /* goes on with every call that asks for it */
    uint32_t leaf_value; /* longest value in a leaf beside a key of one byte */
    uint64_t value_budget;
    bool armed;
    uint8_t *key;
    uint32_t key_len;
    uint8_t *other_key;
    uint32_t other_key_len;
    uint8_t *val;
    uint32_t val_len;
} Driver;

static inline uint32_t below(Driver *d, uint32_t n)
{
    return choice_below(d->choice, n);
}

static inline bool one_in(Driver *d, uint32_t n)
{
    return choice_one_in(d->choice, n);
}

static inline ModelTable *table_of(Level *level, size_t table)
{
    return &level->model->tables[table];
}

static inline bool has_pairs(size_t table)
{
    return table >= TABLE_PAIRS && table < TABLE_TTL;
}

/* A table that rows may be put into directly, and one that they may also be deleted from: the rows
 * that expire go by the calls for them alone. */
static inline size_t some_table(Driver *d)
{
    return below(d, TABLE_META);
}

static inline size_t some_free_table(Driver *d)
{
    return below(d, TABLE_TTL);
}

/* Makes an allocation of the next call fail, if the configuration says so and chance agrees. */
void driver_arm(Driver *d);
/* True if the call failed because the test made it fail. */
bool driver_disarm(Driver *d, int rc);

/* Changes of the model, each known to the watches. */
void driver_model_put(Driver *d, Level *level, size_t table, const void *key, uint32_t key_len,
                      const void *val, uint32_t val_len);
void driver_model_del(Driver *d, Level *level, size_t table, const void *key, uint32_t key_len);
void driver_model_del_at(Driver *d, Level *level, size_t table, size_t at);
void driver_touch(Level *level, size_t table, const void *key, uint32_t key_len);

/* driver_keys.c */
uint32_t driver_make_key(Driver *d, size_t table, uint8_t *out);
void driver_choose_key(Driver *d, size_t table);
/* For the chosen key; in a table of pairs short enough for both. */
void driver_choose_value(Driver *d, size_t table);

/* driver_cursor.c */
bool driver_row_is(const ModelRow *row, const void *key, uint32_t key_len, const void *val,
                   uint32_t val_len);
void driver_place_off(Track *track, Place place);
void driver_track_close(Track *track);
void driver_keep(Driver *d, Level *level, ModelRow *row, const void *key, const void *val);
void driver_expect_kept(Level *level);
void driver_cursor_operate(Driver *d, Level *level);

/* driver_rows.c */
void driver_op_put(Driver *d, Level *level);
void driver_op_put_run(Driver *d, Level *level);
void driver_op_put_reserve(Driver *d, Level *level);
void driver_op_put_too_long(Driver *d, Level *level);
void driver_op_put_if(Driver *d, Level *level);
void driver_op_merge(Driver *d, Level *level);
void driver_op_load(Driver *d, Level *level);
void driver_op_del(Driver *d, Level *level);
void driver_op_del_run(Driver *d, Level *level);
void driver_op_del_dup(Driver *d, Level *level);
void driver_op_del_range(Driver *d, Level *level);
void driver_op_get(Driver *d, Level *level);
void driver_op_count(Driver *d, Level *level);
void driver_op_protected(Driver *d, Level *level);

/* driver_ttl.c */
void driver_op_ttl(Driver *d, Level *level);

/* driver_watch.c */
/* Registers or unregisters one, or expects to be told that a writer is open. */
void driver_op_watch(Driver *d, bool writer_is_open);
/* What an outermost commit must have told; `touched` NULL: nothing was committed. */
void driver_expect_told(Driver *d, const Model *before, const Model *now, const Model *touched);
/* Writes what `txn` sees (NULL: the newest commit) and reads it into another DB. */
void driver_op_stream(Driver *d, SapTxnCtx *txn, const Model *content);
/* Makes the content of the DB what it was when a stream was last written, if one was. */
void driver_restore_saved(Driver *d);
/* Opens the tables of the run in a DB. */
void driver_open_tables(Driver *d, SapEnv *db);

#endif
