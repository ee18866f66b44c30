#include "support/driver.h"

#include "common/bytes.h"
#include "common/fault.h"
#include "common/hash.h"
#include "common/mem.h"
#include "support/expect.h"
#include "support/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const uint32_t driver_page_sizes[] = {256,  257,  300,   512,   1000, 1024,
                                      4096, 8192, 16384, 32768, 65535};
const uint32_t driver_page_size_count = sizeof driver_page_sizes / sizeof driver_page_sizes[0];

enum { TABLES = 4, LEVELS = 6, READERS = 3, CURSORS = 3, KEPT = 4, ORPHANS = 4 };
enum { WRITER = READERS, CHAINS = READERS + 1 };

/* Keys are kept to this many bytes per table in total. */
enum { KEY_BUDGET = 512 * 1024, LONGEST_VALUE = 100 * 1024 };

static const uint32_t table_dbis[TABLES] = {0, 1, 7, 1023};

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
    Model *model; /* what the transaction must see */
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

typedef struct Driver {
    const DriverConfig *config;
    Choice *choice;
    DriverCounts *counts;
    Backing backing;
    SapEnv *db;
    Model *committed;
    uint64_t txnid;
    Chain chains[CHAINS];
    Track orphans[ORPHANS]; /* cursors whose transaction has ended */
    uint32_t max_key[TABLES];
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

static uint32_t below(Driver *d, uint32_t n)
{
    return choice_below(d->choice, n);
}

static bool one_in(Driver *d, uint32_t n)
{
    return choice_one_in(d->choice, n);
}

/* ---- Faults --------------------------------------------------------------------------------- */

static void arm(Driver *d)
{
    uint32_t rate = d->config->fault_one_in;

    if (rate != 0 && one_in(d, rate)) {
        fault_reset();
        fault_arm_alloc(1 + below(d, 4));
        d->armed = true;
    }
}

/* True if the call failed because the test made it fail. */
static bool disarm(Driver *d, int rc)
{
    if (!d->armed) {
        return false;
    }
    uint64_t fired = fault_fired();
    d->armed = false;
    fault_reset();
    d->counts->faults += fired;
    EXPECT(rc != SAP_NOMEM || fired != 0, "out of memory without a fault");
    return rc == SAP_NOMEM;
}

/* ---- Keys and values ------------------------------------------------------------------------ */

static uint32_t key_short(uint8_t *out, uint32_t index)
{
    uint8_t bytes[8];

    store_u64le(bytes, hash_u64(index));
    uint32_t len = bytes[7] % 7;
    memcpy(out, bytes, len);
    return len;
}

static uint32_t key_prefixed(uint8_t *out, uint32_t index, uint32_t max)
{
    uint32_t prefix = index % 3 == 0 ? max - 4 : index % 3 == 1 ? max / 2 : max / 3;

    memset(out, index % 2 == 0 ? 'p' : 'P', prefix);
    store_u32be(out + prefix, index / 2);
    return prefix + 4;
}

static uint32_t key_decimal(uint8_t *out, uint32_t index)
{
    char text[24];
    int len = snprintf(text, sizeof text, "%c%u", "aAbBzZ"[index % 6], index);

    memcpy(out, text + index % 2, (size_t)len - index % 2);
    return (uint32_t)len - index % 2;
}

static uint32_t key_extreme(uint8_t *out, uint32_t index)
{
    static const uint8_t digits[3] = {0x00, 0xff, 0x01};
    uint32_t len = 0;

    for (uint32_t rest = index; rest != 0; rest = (rest - 1) / 3) {
        out[len++] = digits[(rest - 1) % 3];
    }
    return len;
}

static uint32_t key_chained(uint8_t *out, uint32_t index, uint32_t max)
{
    uint32_t longest = max < 40 ? max : 40;
    uint32_t len = index % longest;

    out[0] = (uint8_t)('a' + index / longest % 26);
    memset(out + 1, 0, len);
    return len + 1;
}

static uint32_t key_longest(uint8_t *out, uint32_t index, uint32_t max)
{
    uint32_t len = max - index % 3;

    memset(out, (int)(index % 5 == 0 ? index : 'x'), len);
    store_u32be(out + (index % 2 == 0 ? 0 : len - 4), index);
    return len;
}

/* The key of `index` is always the same, so that keys meet again. */
static uint32_t make_key(Driver *d, size_t table, uint8_t *out)
{
    KeyShape shape = d->config->keys;
    uint32_t max = d->max_key[table];
    uint32_t space = d->config->key_space;

    if ((shape == KEYS_PREFIXED || shape == KEYS_LONGEST) && space > KEY_BUDGET / max) {
        space = KEY_BUDGET / max + 1;
    }
    uint32_t index = below(d, space);
    if (shape == KEYS_MIXED) {
        shape = (KeyShape)(index % KEYS_MIXED);
        if (max > 2048 && (shape == KEYS_PREFIXED || shape == KEYS_LONGEST)) {
            index %= KEY_BUDGET / max + 1;
        }
    }
    switch (shape) {
    case KEYS_PREFIXED:
        return key_prefixed(out, index, max);
    case KEYS_SEQUENTIAL:
        store_u64be(out, index);
        return 8;
    case KEYS_DECIMAL:
        return key_decimal(out, index);
    case KEYS_EXTREME:
        return key_extreme(out, index);
    case KEYS_CHAINED:
        return key_chained(out, index, max);
    case KEYS_LONGEST:
        return key_longest(out, index, max);
    default:
        return key_short(out, index);
    }
}

static void choose_key(Driver *d, size_t table)
{
    d->key_len = make_key(d, table, d->key);
}

static uint32_t value_len_near_limit(Driver *d)
{
    uint32_t len = d->leaf_value + 4;
    uint32_t less = below(d, 8) + (one_in(d, 2) ? d->key_len : 0);

    return len > less ? len - less : 0;
}

static uint32_t choose_value_len(Driver *d)
{
    ValueShape shape = d->config->values;

    if (shape == VALUES_MIXED) {
        uint32_t pick = below(d, 16);
        if (pick == 15) {
            return below(d, LONGEST_VALUE);
        }
        shape = pick < 8    ? VALUES_SMALL
                : pick < 10 ? VALUES_EMPTY
                : pick < 13 ? VALUES_LIMIT
                            : VALUES_OVERFLOW;
    }
    switch (shape) {
    case VALUES_EMPTY:
        return 0;
    case VALUES_LIMIT:
        return value_len_near_limit(d);
    case VALUES_OVERFLOW:
        return d->config->page_size + below(d, 3 * d->config->page_size);
    default:
        return below(d, 24);
    }
}

/* Eight bytes say which value it is; the rest lets a byte in the wrong place be seen. */
static void fill_value(uint8_t *out, uint32_t len, uint64_t stamp)
{
    for (uint32_t i = 0; i < len; i += 8) {
        uint8_t word[8];
        store_u64le(word, hash_u64(stamp + i));
        memcpy(out + i, word, len - i < 8 ? len - i : 8);
    }
}

static void choose_value(Driver *d)
{
    uint32_t len = choose_value_len(d);

    if (len > 1024 && len > d->value_budget) {
        len %= 16;
    }
    d->val_len = len;
    d->value_budget -= len < d->value_budget ? len : d->value_budget;
    fill_value(d->val, len, d->counts->operations * 1000003 + d->counts->changes);
}

/* ---- Cursors -------------------------------------------------------------------------------- */

static void place_on(Track *track, ModelRow *row)
{
    model_row_ref(row);
    model_row_unref(track->row);
    track->row = row;
    track->place = PLACE_ROW;
}

static void place_off(Track *track, Place place)
{
    model_row_unref(track->row);
    track->row = NULL;
    track->place = place;
}

static void track_close(Track *track)
{
    sap_cursor_close(track->cur);
    place_off(track, PLACE_NEVER);
    track->cur = NULL;
}

static ModelTable *table_of(Level *level, size_t table)
{
    return &level->model->tables[table];
}

typedef enum Standing {
    STANDS_ON,    /* the row is there */
    STANDS_GONE,  /* the row was removed */
    STANDS_AGAIN, /* removed and inserted again: the contract leaves open which of the two */
    STANDS_OFF
} Standing;

static Standing standing_of(Level *level, const Track *track)
{
    if (track->place != PLACE_ROW) {
        return STANDS_OFF;
    }
    const ModelRow *now =
        model_find(table_of(level, track->table), track->row->bytes, track->row->key_len);
    if (now == NULL) {
        return STANDS_GONE;
    }
    return now->birth == track->row->birth ? STANDS_ON : STANDS_AGAIN;
}

static bool row_is(const ModelRow *row, const void *key, uint32_t key_len, const void *val,
                   uint32_t val_len)
{
    return row->key_len == key_len && row->val_len == val_len &&
           (key_len == 0 || memcmp(row->bytes, key, key_len) == 0) &&
           (val_len == 0 || memcmp(model_row_val(row), val, val_len) == 0);
}

static void keep(Driver *d, Level *level, ModelRow *row, const void *key, const void *val)
{
    if (level->readonly && level->kept_count < KEPT && one_in(d, 3)) {
        level->kept[level->kept_count++] = (Kept){key, val, model_row_ref(row)};
    }
}

static void expect_kept(Level *level)
{
    for (uint32_t i = 0; i < level->kept_count; i++) {
        Kept *kept = &level->kept[i];
        uint32_t key_len = kept->row->key_len;
        EXPECT(row_is(kept->row, kept->key != NULL ? kept->key : kept->row->bytes, key_len,
                      kept->val, kept->row->val_len),
               "what a read transaction returned has changed before its end");
        model_row_unref(kept->row);
    }
    level->kept_count = 0;
}

/* The cursor must be on `at`, or on no row if that is the row count. */
static void expect_moved(Driver *d, Level *level, Track *track, int rc, size_t at, Place otherwise)
{
    ModelTable *table = table_of(level, track->table);
    const void *key = NULL;
    const void *val = NULL;
    uint32_t key_len = 0;
    uint32_t val_len = 0;

    d->counts->cursor_moves++;
    if (at >= table->count) {
        EXPECT(rc == SAP_NOTFOUND, "a cursor moved to no row answered %d", rc);
        place_off(track, otherwise);
        EXPECT_RC(sap_cursor_get(track->cur, &key, &key_len, &val, &val_len), SAP_NOTFOUND);
        return;
    }
    ModelRow *row = table->rows[at];
    EXPECT(rc == SAP_OK, "a cursor moved to row %zu of %zu answered %d", at, table->count, rc);
    EXPECT_RC(sap_cursor_get(track->cur, &key, &key_len, &val, &val_len), SAP_OK);
    EXPECT(row_is(row, key, key_len, val, val_len), "a cursor is not on row %zu of %zu", at,
           table->count);
    place_on(track, row);
    keep(d, level, row, key, val);
}

static void cursor_to_absolute(Driver *d, Level *level, Track *track)
{
    ModelTable *table = table_of(level, track->table);
    size_t count = table->count;

    switch (below(d, 4)) {
    case 0:
        expect_moved(d, level, track, sap_cursor_first(track->cur), 0, PLACE_NOWHERE);
        break;
    case 1:
        expect_moved(d, level, track, sap_cursor_last(track->cur), count - 1, PLACE_NOWHERE);
        break;
    case 2: {
        uint32_t n = below(d, (uint32_t)count + 2);
        expect_moved(d, level, track, sap_cursor_seek_nth(track->cur, n), n, PLACE_NOWHERE);
        break;
    }
    default:
        choose_key(d, track->table);
        expect_moved(d, level, track, sap_cursor_seek(track->cur, d->key, d->key_len),
                     model_lower_bound(table, d->key, d->key_len), PLACE_NOWHERE);
        break;
    }
}

/* From past the one end towards the other: the contract allows to stay or to come back. */
static void cursor_turn_back(Driver *d, Level *level, Track *track, bool forward)
{
    size_t count = level->model->tables[track->table].count;
    int rc = forward ? sap_cursor_next(track->cur) : sap_cursor_prev(track->cur);

    if (rc == SAP_NOTFOUND) {
        place_off(track, PLACE_NOWHERE);
    } else {
        expect_moved(d, level, track, rc, forward ? 0 : count - 1, PLACE_NOWHERE);
    }
}

static void cursor_step(Driver *d, Level *level, Track *track, bool forward)
{
    ModelTable *table = table_of(level, track->table);
    size_t none = table->count;
    size_t at;

    switch (track->place) {
    case PLACE_NEVER:
        at = forward ? 0 : table->count - 1;
        break;
    case PLACE_ROW:
        at = model_lower_bound(table, track->row->bytes, track->row->key_len);
        if (standing_of(level, track) == STANDS_AGAIN) {
            cursor_to_absolute(d, level, track);
            return;
        }
        if (forward) {
            at += standing_of(level, track) == STANDS_ON ? 1 : 0;
        } else {
            at = at == 0 ? none : at - 1;
        }
        break;
    case PLACE_END:
    case PLACE_BEGIN:
        if (forward != (track->place == PLACE_END)) {
            cursor_turn_back(d, level, track, forward);
            return;
        }
        at = none;
        break;
    default:
        cursor_to_absolute(d, level, track);
        return;
    }
    expect_moved(d, level, track,
                 forward ? sap_cursor_next(track->cur) : sap_cursor_prev(track->cur), at,
                 track->place == PLACE_NEVER ? PLACE_NOWHERE
                 : forward                   ? PLACE_END
                                             : PLACE_BEGIN);
}

static void cursor_look(Driver *d, Level *level, Track *track)
{
    const void *key = NULL;
    const void *val = NULL;
    uint32_t key_len = 0;
    uint32_t val_len = 0;
    uint64_t rank = UINT64_MAX;
    Standing standing = standing_of(level, track);
    int rc = sap_cursor_get(track->cur, &key, &key_len, &val, &val_len);

    if (standing == STANDS_AGAIN) {
        EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "cursor_get answered %d", rc);
        cursor_to_absolute(d, level, track);
        return;
    }
    if (standing != STANDS_ON) {
        EXPECT(rc == SAP_NOTFOUND, "cursor_get on no row answered %d", rc);
        EXPECT_RC(sap_cursor_get_key(track->cur, &key, &key_len), SAP_NOTFOUND);
        EXPECT_RC(sap_cursor_rank(track->cur, &rank), SAP_NOTFOUND);
        return;
    }
    ModelTable *table = table_of(level, track->table);
    size_t at = model_lower_bound(table, track->row->bytes, track->row->key_len);
    ModelRow *row = table->rows[at];
    EXPECT(rc == SAP_OK, "cursor_get answered %d", rc);
    EXPECT(row_is(row, key, key_len, val, val_len), "a cursor has left its row %zu", at);
    EXPECT_RC(sap_cursor_get_key(track->cur, &key, &key_len), SAP_OK);
    EXPECT(key_len == row->key_len && (key_len == 0 || memcmp(key, row->bytes, key_len) == 0),
           "cursor_get_key gives another key");
    EXPECT_RC(sap_cursor_rank(track->cur, &rank), SAP_OK);
    EXPECT(rank == at, "rank %llu instead of %zu", (unsigned long long)rank, at);
}

static void cursor_change(Driver *d, Level *level, Track *track)
{
    ModelTable *table = table_of(level, track->table);
    Standing standing = standing_of(level, track);
    bool removes = one_in(d, 2);

    if (standing == STANDS_AGAIN) {
        cursor_to_absolute(d, level, track);
        return;
    }
    choose_value(d);
    arm(d);
    int rc =
        removes ? sap_cursor_del(track->cur) : sap_cursor_put(track->cur, d->val, d->val_len, 0);
    if (disarm(d, rc)) {
        return;
    }
    if (level->readonly) {
        EXPECT(rc == SAP_READONLY || (rc == SAP_NOTFOUND && standing != STANDS_ON),
               "a change through a reader's cursor answered %d", rc);
        return;
    }
    if (standing != STANDS_ON) {
        EXPECT(rc == SAP_NOTFOUND, "a change through a cursor on no row answered %d", rc);
        return;
    }
    EXPECT(rc == SAP_OK, "%s answered %d", removes ? "cursor_del" : "cursor_put", rc);
    d->counts->changes++;
    if (!removes) {
        model_put(table, track->row->bytes, track->row->key_len, d->val, d->val_len);
        return;
    }
    size_t at = model_lower_bound(table, track->row->bytes, track->row->key_len);
    model_del(table, track->row->bytes, track->row->key_len);
    if (at < table->count) {
        place_on(track, table->rows[at]);
    } else {
        place_off(track, PLACE_END);
    }
    cursor_look(d, level, track);
}

static bool cursor_open_track(Driver *d, Level *level, Track *track)
{
    track->table = below(d, TABLES);
    arm(d);
    track->cur = track->table == 0 && one_in(d, 2)
                     ? sap_cursor_open(level->txn)
                     : sap_cursor_open_dbi(level->txn, table_dbis[track->table]);
    bool failed = disarm(d, track->cur == NULL ? SAP_NOMEM : SAP_OK);
    EXPECT(failed || track->cur != NULL, "no cursor");
    return track->cur != NULL;
}

static void cursor_operate_once(Driver *d, Level *level, Track *track)
{
    switch (below(d, 12)) {
    case 0:
    case 1:
        cursor_to_absolute(d, level, track);
        break;
    case 2:
    case 3:
        cursor_look(d, level, track);
        break;
    case 4:
    case 5:
    case 6:
        cursor_step(d, level, track, true);
        break;
    case 7:
    case 8:
    case 9:
        cursor_step(d, level, track, false);
        break;
    default:
        cursor_change(d, level, track);
        break;
    }
}

static void cursor_operate(Driver *d, Level *level)
{
    Track *track = &level->tracks[below(d, CURSORS)];

    if (track->cur == NULL && !cursor_open_track(d, level, track)) {
        return;
    }
    uint32_t times = 1 + below(d, 6);
    for (uint32_t i = 0; i < times; i++) {
        cursor_operate_once(d, level, track);
    }
    if (one_in(d, 20)) {
        track_close(track);
    } else if (one_in(d, 20)) {
        EXPECT_RC(sap_cursor_renew(track->cur, level->txn), SAP_OK);
        place_off(track, PLACE_NEVER);
    }
}

/* ---- Rows ----------------------------------------------------------------------------------- */

/* Puts the chosen row; what it must answer is `expected`. */
static void put_chosen(Driver *d, Level *level, size_t table, unsigned flags, int expected)
{
    uint32_t dbi = table_dbis[table];
    bool shortcut = dbi == 0 && one_in(d, 2);
    int rc;

    arm(d);
    if (flags == 0) {
        rc = shortcut ? sap_txn_put(level->txn, d->key, d->key_len, d->val, d->val_len)
                      : sap_txn_put_dbi(level->txn, dbi, d->key, d->key_len, d->val, d->val_len);
    } else {
        rc = shortcut ? sap_txn_put_flags(level->txn, d->key, d->key_len, d->val, d->val_len, flags,
                                          NULL)
                      : sap_txn_put_flags_dbi(level->txn, dbi, d->key, d->key_len, d->val,
                                              d->val_len, flags, NULL);
    }
    if (disarm(d, rc)) {
        return;
    }
    EXPECT(rc == expected, "a put of %u and %u bytes with flags %u answered %d instead of %d",
           d->key_len, d->val_len, flags, rc, expected);
    if (rc == SAP_OK) {
        d->counts->changes++;
        model_put(table_of(level, table), d->key, d->key_len, d->val, d->val_len);
    }
}

static void op_put(Driver *d, Level *level)
{
    size_t table = below(d, TABLES);
    unsigned flags = one_in(d, 6) ? SAP_NOOVERWRITE : 0;

    choose_key(d, table);
    choose_value(d);
    bool exists = model_find(table_of(level, table), d->key, d->key_len) != NULL;
    put_chosen(d, level, table, flags,
               level->readonly        ? SAP_READONLY
               : exists && flags != 0 ? SAP_EXISTS
                                      : SAP_OK);
}

static void op_put_reserve(Driver *d, Level *level)
{
    size_t table = below(d, TABLES);
    unsigned flags = SAP_RESERVE | (one_in(d, 3) ? SAP_NOOVERWRITE : 0);
    void *room = NULL;

    choose_key(d, table);
    choose_value(d);
    bool exists = model_find(table_of(level, table), d->key, d->key_len) != NULL;
    arm(d);
    int rc = sap_txn_put_flags_dbi(level->txn, table_dbis[table], d->key, d->key_len, NULL,
                                   d->val_len, flags, &room);
    if (disarm(d, rc)) {
        return;
    }
    if (level->readonly) {
        EXPECT(rc == SAP_READONLY, "a reserve through a reader answered %d", rc);
        return;
    }
    if ((flags & SAP_NOOVERWRITE) != 0 && exists) {
        EXPECT(rc == SAP_EXISTS || (rc == SAP_ERROR && d->val_len + d->key_len > d->leaf_value),
               "a reserve of an existing row answered %d", rc);
        return;
    }
    if (rc == SAP_ERROR) {
        EXPECT(d->val_len + d->key_len > d->leaf_value, "no room reserved for %u and %u bytes",
               d->key_len, d->val_len);
        return;
    }
    EXPECT(rc == SAP_OK, "a reserve answered %d", rc);
    EXPECT(d->val_len < d->config->page_size, "room for %u bytes in a leaf", d->val_len);
    EXPECT(room != NULL || d->val_len == 0, "no pointer to the room");
    if (d->val_len != 0) {
        memcpy(room, d->val, d->val_len);
    }
    d->counts->changes++;
    model_put(table_of(level, table), d->key, d->key_len, d->val, d->val_len);
}

static void op_put_too_long(Driver *d, Level *level)
{
    size_t table = below(d, TABLES);

    d->key_len = d->max_key[table] + 1 + below(d, 3);
    memset(d->key, 'k', d->key_len);
    choose_value(d);
    int rc = sap_txn_put_dbi(level->txn, table_dbis[table], d->key, d->key_len, d->val, d->val_len);
    EXPECT(rc == SAP_FULL || (level->readonly && rc == SAP_READONLY),
           "a key of %u bytes answered %d", d->key_len, rc);
}

static void op_del(Driver *d, Level *level)
{
    size_t table = below(d, TABLES);
    ModelTable *rows = table_of(level, table);

    if (rows->count != 0 && one_in(d, 2)) {
        const ModelRow *row = rows->rows[below(d, (uint32_t)rows->count)];
        d->key_len = row->key_len;
        memcpy(d->key, row->bytes, row->key_len);
    } else {
        choose_key(d, table);
    }
    bool exists = model_find(rows, d->key, d->key_len) != NULL;
    arm(d);
    int rc = table == 0 && one_in(d, 2)
                 ? sap_txn_del(level->txn, d->key, d->key_len)
                 : sap_txn_del_dbi(level->txn, table_dbis[table], d->key, d->key_len);
    if (disarm(d, rc)) {
        return;
    }
    int expected = level->readonly ? SAP_READONLY : exists ? SAP_OK : SAP_NOTFOUND;
    EXPECT(rc == expected, "a delete answered %d instead of %d", rc, expected);
    if (rc == SAP_OK) {
        d->counts->changes++;
        model_del(rows, d->key, d->key_len);
    }
}

/* Many deletes in a row empty pages, which single ones among puts rarely do. */
static void op_del_run(Driver *d, Level *level)
{
    size_t table = below(d, TABLES);
    ModelTable *rows = table_of(level, table);
    size_t at = rows->count == 0 ? 0 : below(d, (uint32_t)rows->count);
    uint32_t length = 1 + below(d, 60);

    for (uint32_t i = 0; i < length && at < rows->count && !level->readonly; i++) {
        ModelRow *row = model_row_ref(rows->rows[at]);
        EXPECT_RC(sap_txn_del_dbi(level->txn, table_dbis[table], row->bytes, row->key_len), SAP_OK);
        model_del(rows, row->bytes, row->key_len);
        model_row_unref(row);
        d->counts->changes++;
    }
}

static void op_put_run(Driver *d, Level *level)
{
    size_t table = below(d, TABLES);
    uint32_t length = 1 + below(d, 60);

    for (uint32_t i = 0; i < length && !level->readonly; i++) {
        choose_key(d, table);
        choose_value(d);
        put_chosen(d, level, table, 0, SAP_OK);
    }
}

static void op_get(Driver *d, Level *level)
{
    size_t table = below(d, TABLES);
    const void *val = d;
    uint32_t val_len = 4711;

    choose_key(d, table);
    ModelRow *row = model_find(table_of(level, table), d->key, d->key_len);
    int rc =
        table == 0 && one_in(d, 2)
            ? sap_txn_get(level->txn, d->key, d->key_len, &val, &val_len)
            : sap_txn_get_dbi(level->txn, table_dbis[table], d->key, d->key_len, &val, &val_len);
    if (row == NULL) {
        EXPECT(rc == SAP_NOTFOUND, "get of no row answered %d", rc);
        EXPECT(val == d && val_len == 4711, "get of no row touched its out-parameters");
        return;
    }
    EXPECT(rc == SAP_OK, "get of a row answered %d", rc);
    EXPECT(row_is(row, d->key, d->key_len, val, val_len), "get gives another value");
    EXPECT_RC(sap_txn_get_dbi(level->txn, table_dbis[table], d->key, d->key_len, NULL, NULL),
              SAP_OK);
    keep(d, level, row, NULL, val);
}

static void op_count(Driver *d, Level *level)
{
    size_t table = below(d, TABLES);
    bool with_lo = !one_in(d, 4);
    bool with_hi = !one_in(d, 4);
    uint64_t count = UINT64_MAX;

    choose_key(d, table);
    d->other_key_len = make_key(d, table, d->other_key);
    const void *lo = with_lo ? d->key : NULL;
    const void *hi = with_hi ? d->other_key : NULL;
    uint32_t lo_len = with_lo ? d->key_len : 0;
    uint32_t hi_len = with_hi ? d->other_key_len : 0;
    uint64_t expected = model_count_range(table_of(level, table), lo, lo_len, hi, hi_len);
    EXPECT_RC(sap_txn_count_range(level->txn, table_dbis[table], lo, lo_len, hi, hi_len, &count),
              SAP_OK);
    EXPECT(count == expected, "%llu rows counted instead of %llu", (unsigned long long)count,
           (unsigned long long)expected);
}

static void op_stat(Driver *d, Chain *chain, Level *level)
{
    size_t table = below(d, TABLES);
    SapStat stat;
    size_t count = table_of(level, table)->count;

    EXPECT_RC(sap_dbi_stat(level->txn, table_dbis[table], &stat), SAP_OK);
    EXPECT(stat.num_entries == count, "%llu entries instead of %zu",
           (unsigned long long)stat.num_entries, count);
    EXPECT((stat.tree_depth == 0) == (count == 0), "depth %u with %zu rows", stat.tree_depth,
           count);
    EXPECT(stat.page_size == d->config->page_size, "page size %u in stat", stat.page_size);
    EXPECT(stat.num_pages == sap_db_num_pages(d->db), "stat and db_num_pages disagree");
    EXPECT(stat.has_write_txn == (d->chains[WRITER].depth != 0), "has_write_txn is %u",
           stat.has_write_txn);
    if (chain != &d->chains[WRITER]) {
        EXPECT(stat.txnid == chain->txnid, "a reader's snapshot changed its id");
    }
    EXPECT_RC(sap_txn_stat(level->txn, &stat), SAP_OK);
    EXPECT(stat.num_entries == table_of(level, 0)->count, "txn_stat is not that of DBI 0");
    EXPECT_RC(sap_db_stat(d->db, &stat), SAP_OK);
    EXPECT(stat.num_entries == d->committed->tables[0].count, "db_stat is not the last commit's");
    EXPECT(stat.txnid == d->txnid, "db_stat has another id than after the last commit");
}

/* ---- Transactions --------------------------------------------------------------------------- */

static Level *top_of(Chain *chain)
{
    return &chain->levels[chain->depth - 1];
}

static uint64_t newest_txnid(Driver *d)
{
    SapStat stat;

    EXPECT_RC(sap_db_stat(d->db, &stat), SAP_OK);
    return stat.txnid;
}

/* False: an allocation was made to fail. */
static bool push_level(Driver *d, Chain *chain, bool readonly)
{
    SapTxnCtx *parent = chain->depth == 0 ? NULL : top_of(chain)->txn;
    const Model *base = chain->depth == 0 ? d->committed : top_of(chain)->model;
    SapTxnCtx *txn = NULL;
    unsigned flags = readonly ? SAP_TXN_RDONLY : parent == NULL && one_in(d, 4) ? SAP_TXN_WAIT : 0;

    arm(d);
    int rc = sap_txn_begin_rc(d->db, parent, flags, &txn);
    if (disarm(d, rc)) {
        return false;
    }
    EXPECT(rc == SAP_OK && txn != NULL, "begin answered %d", rc);
    EXPECT((sap_txn_flags(txn) & SAP_TXN_RDONLY) == (readonly ? SAP_TXN_RDONLY : 0),
           "another kind of transaction");
    EXPECT(sap_txn_env(txn) == d->db, "the transaction belongs to another DB");
    if (parent == NULL) {
        chain->txnid = newest_txnid(d);
    } else {
        d->counts->children++;
    }
    Level *level = &chain->levels[chain->depth++];
    memset(level, 0, sizeof *level);
    level->txn = txn;
    level->model = model_copy(base);
    level->readonly = readonly;
    return true;
}

/* The cursors outlive their transaction for a while. */
static void orphan_tracks(Driver *d, Level *level)
{
    for (uint32_t i = 0; i < CURSORS; i++) {
        if (level->tracks[i].cur == NULL) {
            continue;
        }
        EXPECT_RC(sap_cursor_next(level->tracks[i].cur), SAP_ERROR);
        Track *orphan = &d->orphans[below(d, ORPHANS)];
        if (orphan->cur != NULL) {
            track_close(orphan);
        }
        place_off(&level->tracks[i], PLACE_NEVER);
        *orphan = level->tracks[i];
        level->tracks[i].cur = NULL;
    }
}

static void drop_level(Driver *d, Chain *chain)
{
    Level *level = top_of(chain);

    orphan_tracks(d, level);
    model_free(level->model);
    level->model = NULL;
    level->txn = NULL;
    chain->depth--;
}

static void check_before_end(Driver *d, Chain *chain)
{
    Level *level = top_of(chain);

    if (level->readonly && (chain != &d->chains[WRITER] || one_in(d, 4))) {
        d->counts->rows += model_expect_same(level->model, level->txn);
        d->counts->snapshots++;
    }
    expect_kept(level);
}

static void after_outer_commit(Driver *d, Model *now)
{
    uint64_t txnid = newest_txnid(d);
    bool changed = !model_same(d->committed, now);

    EXPECT(changed ? txnid > d->txnid : txnid >= d->txnid, "a commit has id %llu after %llu",
           (unsigned long long)txnid, (unsigned long long)d->txnid);
    d->txnid = txnid;
    model_free(d->committed);
    d->committed = now;
    d->counts->commits++;
    if (one_in(d, 4)) {
        d->counts->rows += model_expect_committed(d->committed, d->db);
    } else {
        model_expect_verified(d->db);
    }
}

static void commit_top(Driver *d, Chain *chain)
{
    Level *level = top_of(chain);
    uint64_t lsn = 0;

    check_before_end(d, chain);
    if (!level->readonly && one_in(d, 6)) {
        d->counts->rows += model_expect_same(level->model, level->txn);
    }
    bool async = one_in(d, 4);
    arm(d);
    int rc = async ? sap_txn_commit_async(level->txn, &lsn) : sap_txn_commit(level->txn);
    bool failed = disarm(d, rc);
    EXPECT(failed || rc == SAP_OK, "commit answered %d", rc);
    if (failed || level->readonly) {
        drop_level(d, chain);
        return;
    }
    Model *now = level->model;
    level->model = NULL;
    drop_level(d, chain);
    if (chain->depth == 0) {
        after_outer_commit(d, now);
        if (async) {
            EXPECT_RC(sap_db_wait_durable(d->db, lsn), SAP_OK);
        }
    } else {
        model_free(top_of(chain)->model);
        top_of(chain)->model = now;
    }
}

/* Aborts the level and all below it in one call. */
static void abort_from(Driver *d, Chain *chain, uint32_t depth)
{
    SapTxnCtx *txn = chain->levels[depth].txn;

    for (uint32_t i = depth; i < chain->depth; i++) {
        expect_kept(&chain->levels[i]);
    }
    check_before_end(d, chain);
    sap_txn_abort(txn);
    d->counts->aborts++;
    while (chain->depth > depth) {
        drop_level(d, chain);
    }
}

static void op_busy_parent(Driver *d, Chain *chain)
{
    if (chain->depth < 2) {
        return;
    }
    Level *level = &chain->levels[below(d, chain->depth - 1)];
    SapTxnCtx *txn = level->txn;
    SapTxnCtx *child = NULL;
    const void *val;
    uint32_t val_len;
    uint64_t count;
    SapStat stat;

    EXPECT_RC(sap_txn_get(txn, "x", 1, &val, &val_len), SAP_BUSY);
    if (!level->readonly) {
        EXPECT_RC(sap_txn_put(txn, "x", 1, "y", 1), SAP_BUSY);
        EXPECT_RC(sap_txn_del(txn, "x", 1), SAP_BUSY);
    }
    EXPECT_RC(sap_txn_count_range(txn, 0, NULL, 0, NULL, 0, &count), SAP_BUSY);
    EXPECT_RC(sap_txn_stat(txn, &stat), SAP_BUSY);
    EXPECT_RC(sap_txn_commit(txn), SAP_BUSY);
    EXPECT_RC(sap_txn_begin_rc(d->db, txn, SAP_TXN_RDONLY, &child), SAP_BUSY);
    for (uint32_t i = 0; i < CURSORS; i++) {
        if (level->tracks[i].cur != NULL) {
            EXPECT_RC(sap_cursor_next(level->tracks[i].cur), SAP_BUSY);
            EXPECT_RC(sap_cursor_first(level->tracks[i].cur), SAP_BUSY);
        }
    }
}

static void op_orphan(Driver *d, Level *level)
{
    Track *orphan = &d->orphans[below(d, ORPHANS)];
    const void *key;
    uint32_t key_len;

    if (orphan->cur == NULL) {
        return;
    }
    EXPECT_RC(sap_cursor_first(orphan->cur), SAP_ERROR);
    EXPECT_RC(sap_cursor_get_key(orphan->cur, &key, &key_len), SAP_ERROR);
    EXPECT_RC(sap_cursor_del(orphan->cur), SAP_ERROR);
    for (uint32_t i = 0; i < CURSORS; i++) {
        if (level->tracks[i].cur == NULL) {
            EXPECT_RC(sap_cursor_renew(orphan->cur, level->txn), SAP_OK);
            level->tracks[i] = *orphan;
            memset(orphan, 0, sizeof *orphan);
            return;
        }
    }
    track_close(orphan);
}

/* Calls on the DB while transactions are open. */
static void op_db(Driver *d)
{
    size_t table = below(d, TABLES);
    OrderKind order = (OrderKind)((d->config->order + table) % ORDER_COUNT);
    SapTxnCtx *txn = NULL;

    model_expect_verified(d->db);
    EXPECT_RC(sap_dbi_open(d->db, table_dbis[table], order_cmp(order), order_ctx(order), 0),
              SAP_OK);
    EXPECT_RC(sap_dbi_open(d->db, 500, NULL, NULL, 0), SAP_BUSY);
    EXPECT_RC(sap_db_close(d->db), SAP_BUSY);
    EXPECT_RC(sap_db_sync(d->db), SAP_OK);
    if (d->chains[WRITER].depth != 0) {
        EXPECT_RC(sap_txn_begin_rc(d->db, NULL, 0, &txn), SAP_BUSY);
        EXPECT_RC(sap_txn_begin_rc(d->db, NULL, SAP_TXN_WAIT, &txn), SAP_BUSY);
    }
}

static void op_level(Driver *d, Chain *chain)
{
    bool writer = chain == &d->chains[WRITER];
    Level *level = top_of(chain);

    switch (below(d, 10)) {
    case 0:
    case 1:
        if (chain->depth < LEVELS) {
            push_level(d, chain, level->readonly || one_in(d, 5));
        }
        break;
    case 2:
        commit_top(d, chain);
        break;
    case 3:
        abort_from(d, chain, below(d, chain->depth));
        break;
    case 4:
        op_busy_parent(d, chain);
        break;
    case 5:
        d->counts->rows += model_expect_same(level->model, level->txn);
        break;
    default:
        /* Outermost readers live on, to become old. */
        if (writer || chain->depth > 1) {
            commit_top(d, chain);
        }
        break;
    }
}

static void operate(Driver *d)
{
    Chain *chain = &d->chains[one_in(d, 3) ? below(d, READERS) : WRITER];
    bool writer = chain == &d->chains[WRITER];

    if (chain->depth == 0) {
        push_level(d, chain, !writer);
        return;
    }
    Level *level = top_of(chain);
    switch (below(d, 20)) {
    case 0:
    case 1:
    case 2:
    case 3:
        op_put(d, level);
        break;
    case 4:
        op_put_run(d, level);
        break;
    case 5:
        op_put_reserve(d, level);
        break;
    case 6:
    case 7:
        op_del(d, level);
        break;
    case 8:
        op_del_run(d, level);
        break;
    case 9:
        op_get(d, level);
        break;
    case 10:
        op_count(d, level);
        break;
    case 11:
        op_stat(d, chain, level);
        break;
    case 12:
        op_level(d, chain);
        break;
    case 13:
    case 14:
    case 15:
    case 16:
        cursor_operate(d, level);
        break;
    case 17:
        if (one_in(d, 3)) {
            op_put_too_long(d, level);
        } else {
            op_orphan(d, level);
        }
        break;
    case 18:
        if (one_in(d, 3)) {
            op_db(d);
        } else {
            op_get(d, level);
        }
        break;
    default:
        op_level(d, chain);
        break;
    }
}

/* ---- A run ---------------------------------------------------------------------------------- */

/* The longest key is whatever the engine takes, within what the contract says about it. */
static uint32_t find_max_key(Driver *d, SapTxnCtx *txn, size_t table)
{
    uint32_t page_size = d->config->page_size;
    uint32_t lo = 0;
    uint32_t hi = page_size;

    memset(d->key, 'm', page_size);
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        int rc = sap_txn_put_dbi(txn, table_dbis[table], d->key, mid, "v", 1);
        EXPECT(rc == SAP_OK || rc == SAP_FULL, "a key of %u bytes answered %d", mid, rc);
        if (rc == SAP_OK) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    EXPECT(lo >= page_size / 4 && lo <= page_size / 2, "the longest key in pages of %u is %u bytes",
           page_size, lo);
    return lo;
}

static uint32_t find_leaf_value(SapTxnCtx *txn, uint32_t page_size)
{
    uint32_t lo = 0;
    uint32_t hi = page_size;

    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        void *room = NULL;
        int rc = sap_txn_put_flags(txn, "k", 1, NULL, mid, SAP_RESERVE, &room);
        EXPECT(rc == SAP_OK || rc == SAP_ERROR, "a reserve of %u bytes answered %d", mid, rc);
        if (rc == SAP_OK) {
            memset(room, 'r', mid);
            lo = mid;
        } else {
            hi = mid;
        }
    }
    EXPECT(lo >= 16, "the longest value in a leaf of %u is %u bytes", page_size, lo);
    return lo;
}

static void open_db(Driver *d)
{
    const DriverConfig *config = d->config;
    SapTxnCtx *txn = NULL;

    backing_open(&d->backing, config->backing, config->page_size, UINT64_C(256) << 20);
    d->db = sap_db_open(d->backing.arena, one_in(d, 2) ? 0 : config->page_size,
                        order_cmp(config->order), order_ctx(config->order));
    EXPECT(d->db != NULL, "no DB");
    d->committed = model_new();
    for (size_t i = 0; i < TABLES; i++) {
        OrderKind order = (OrderKind)((config->order + i) % ORDER_COUNT);
        EXPECT_RC(sap_dbi_open(d->db, table_dbis[i], order_cmp(order), order_ctx(order), 0),
                  SAP_OK);
        model_add_table(d->committed, table_dbis[i], order_cmp(order), order_ctx(order));
    }
    EXPECT_RC(sap_txn_begin_rc(d->db, NULL, 0, &txn), SAP_OK);
    d->leaf_value = find_leaf_value(txn, config->page_size);
    for (size_t i = 0; i < TABLES; i++) {
        d->max_key[i] = find_max_key(d, txn, i);
    }
    sap_txn_abort(txn);
    d->txnid = newest_txnid(d);
}

static void close_db(Driver *d)
{
    for (uint32_t i = 0; i < CHAINS; i++) {
        while (d->chains[i].depth != 0) {
            commit_top(d, &d->chains[i]);
        }
    }
    for (uint32_t i = 0; i < ORPHANS; i++) {
        if (d->orphans[i].cur != NULL) {
            track_close(&d->orphans[i]);
        }
    }
    d->counts->rows += model_expect_committed(d->committed, d->db);
    EXPECT_RC(sap_db_close(d->db), SAP_OK);
    model_free(d->committed);
    backing_close(&d->backing);
}

void driver_run(const DriverConfig *config, Choice *choice, DriverCounts *counts)
{
    size_t live = mem_live_total();
    uint32_t longest_value = 4 * config->page_size + LONGEST_VALUE;
    Driver *d = calloc(1, sizeof *d);

    EXPECT(d != NULL, "no memory for the driver");
    d->config = config;
    d->choice = choice;
    d->counts = counts;
    d->value_budget = config->value_budget;
    d->key = malloc(config->page_size + 64);
    d->other_key = malloc(config->page_size + 64);
    d->val = malloc(longest_value);
    EXPECT(d->key != NULL && d->other_key != NULL && d->val != NULL, "no memory for the driver");
    open_db(d);
    for (uint32_t i = 0; i < config->operations && !choice_is_used_up(choice); i++) {
        operate(d);
        counts->operations++;
    }
    close_db(d);
    free(d->key);
    free(d->other_key);
    free(d->val);
    free(d);
    EXPECT(mem_live_total() == live, "%zu bytes live instead of %zu", mem_live_total(), live);
}

void driver_print_counts(const char *name, const DriverCounts *counts)
{
    printf("%s: %llu operations, %llu changes, %llu cursor moves, %llu commits, %llu aborts, "
           "%llu children, %llu snapshots, %llu rows compared, %llu faults\n",
           name, (unsigned long long)counts->operations, (unsigned long long)counts->changes,
           (unsigned long long)counts->cursor_moves, (unsigned long long)counts->commits,
           (unsigned long long)counts->aborts, (unsigned long long)counts->children,
           (unsigned long long)counts->snapshots, (unsigned long long)counts->rows,
           (unsigned long long)counts->faults);
    fflush(stdout);
}
