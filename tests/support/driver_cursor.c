#include "support/driver_internal.h"

#include <string.h>

static void place_on(Track *track, ModelRow *row)
{
    model_row_ref(row);
    model_row_unref(track->row);
    track->row = row;
    track->place = PLACE_ROW;
}

void driver_place_off(Track *track, Place place)
{
    model_row_unref(track->row);
    track->row = NULL;
    track->place = place;
}

void driver_track_close(Track *track)
{
    sap_cursor_close(track->cur);
    driver_place_off(track, PLACE_NEVER);
    track->cur = NULL;
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
    const ModelRow *now = model_find_row(table_of(level, track->table), track->row);
    if (now == NULL) {
        return STANDS_GONE;
    }
    return now->birth == track->row->birth ? STANDS_ON : STANDS_AGAIN;
}

bool driver_row_is(const ModelRow *row, const void *key, uint32_t key_len, const void *val,
                   uint32_t val_len)
{
    return row->key_len == key_len && row->val_len == val_len &&
           (key_len == 0 || memcmp(row->bytes, key, key_len) == 0) &&
           (val_len == 0 || memcmp(model_row_val(row), val, val_len) == 0);
}

void driver_keep(Driver *d, Level *level, ModelRow *row, const void *key, const void *val)
{
    if (level->readonly && level->kept_count < KEPT && one_in(d, 3)) {
        level->kept[level->kept_count++] = (Kept){key, val, model_row_ref(row)};
    }
}

void driver_expect_kept(Level *level)
{
    for (uint32_t i = 0; i < level->kept_count; i++) {
        Kept *kept = &level->kept[i];
        uint32_t key_len = kept->row->key_len;
        EXPECT(driver_row_is(kept->row, kept->key != NULL ? kept->key : kept->row->bytes, key_len,
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
        driver_place_off(track, otherwise);
        EXPECT_RC(sap_cursor_get(track->cur, &key, &key_len, &val, &val_len), SAP_NOTFOUND);
        return;
    }
    ModelRow *row = table->rows[at];
    EXPECT(rc == SAP_OK, "a cursor moved to row %zu of %zu answered %d", at, table->count, rc);
    EXPECT_RC(sap_cursor_get(track->cur, &key, &key_len, &val, &val_len), SAP_OK);
    EXPECT(driver_row_is(row, key, key_len, val, val_len), "a cursor is not on row %zu of %zu", at,
           table->count);
    place_on(track, row);
    driver_keep(d, level, row, key, val);
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
        driver_choose_key(d, track->table);
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
        driver_place_off(track, PLACE_NOWHERE);
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
        at = model_row_bound(table, track->row);
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
    size_t at = model_row_bound(table, track->row);
    ModelRow *row = table->rows[at];
    EXPECT(rc == SAP_OK, "cursor_get answered %d", rc);
    EXPECT(driver_row_is(row, key, key_len, val, val_len), "a cursor has left its row %zu", at);
    EXPECT_RC(sap_cursor_get_key(track->cur, &key, &key_len), SAP_OK);
    EXPECT(key_len == row->key_len && (key_len == 0 || memcmp(key, row->bytes, key_len) == 0),
           "cursor_get_key gives another key");
    EXPECT_RC(sap_cursor_rank(track->cur, &rank), SAP_OK);
    EXPECT(rank == at, "rank %llu instead of %zu", (unsigned long long)rank, at);
}

/* The row under the cursor has just been removed through it. */
static void stand_on_next(Driver *d, Level *level, Track *track, size_t at)
{
    ModelTable *table = table_of(level, track->table);

    if (at < table->count) {
        place_on(track, table->rows[at]);
    } else {
        driver_place_off(track, PLACE_END);
    }
    cursor_look(d, level, track);
}

static void cursor_change(Driver *d, Level *level, Track *track)
{
    ModelTable *table = table_of(level, track->table);
    Standing standing = standing_of(level, track);
    bool removes = track->table != TABLE_TTL && one_in(d, 2);
    bool refused = !removes && has_pairs(track->table);

    if (standing == STANDS_AGAIN) {
        cursor_to_absolute(d, level, track);
        return;
    }
    d->key_len = 0;
    driver_choose_value(d, track->table);
    driver_arm(d);
    int rc =
        removes ? sap_cursor_del(track->cur) : sap_cursor_put(track->cur, d->val, d->val_len, 0);
    if (driver_disarm(d, rc)) {
        return;
    }
    if (refused) {
        EXPECT(rc == SAP_ERROR || (rc == SAP_READONLY && level->readonly),
               "cursor_put in a table of pairs answered %d", rc);
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
    if (!removes) {
        driver_model_put(d, level, track->table, track->row->bytes, track->row->key_len, d->val,
                         d->val_len);
        return;
    }
    size_t at = model_row_bound(table, track->row);
    driver_model_del_at(d, level, track->table, at);
    stand_on_next(d, level, track, at);
}

static int move_among_values(SapCursor *cur, uint32_t move)
{
    switch (move) {
    case 0:
        return sap_cursor_next_dup(cur);
    case 1:
        return sap_cursor_prev_dup(cur);
    case 2:
        return sap_cursor_first_dup(cur);
    default:
        return sap_cursor_last_dup(cur);
    }
}

/* Where a move goes; SIZE_MAX: nowhere. `at` is the row, or where it was. */
static size_t aim_among_values(const ModelTable *table, const ModelRow *row, uint32_t move,
                               size_t at, bool gone)
{
    size_t from = model_lower_bound(table, row->bytes, row->key_len);
    size_t to = model_upper_bound(table, row->bytes, row->key_len);

    if (from == to) {
        return SIZE_MAX;
    }
    switch (move) {
    case 0:
        at += gone ? 0 : 1;
        return at < to ? at : SIZE_MAX;
    case 1:
        return at > from ? at - 1 : SIZE_MAX;
    case 2:
        return from;
    default:
        return to - 1;
    }
}

static void cursor_count_values(Level *level, Track *track, Standing standing)
{
    ModelTable *table = table_of(level, track->table);
    uint64_t count = UINT64_MAX;
    int rc = sap_cursor_count_dup(track->cur, &count);

    if (standing != STANDS_ON) {
        EXPECT(rc == SAP_NOTFOUND || standing == STANDS_AGAIN || standing == STANDS_GONE,
               "count_dup on no row answered %d", rc);
        return;
    }
    uint64_t expected = model_upper_bound(table, track->row->bytes, track->row->key_len) -
                        model_lower_bound(table, track->row->bytes, track->row->key_len);
    EXPECT(rc == SAP_OK && count == expected, "count_dup answered %d and %llu instead of %llu", rc,
           (unsigned long long)count, (unsigned long long)expected);
}

/* From a row that was removed the contract leaves open whether its neighbours are found. */
static void cursor_among_values(Driver *d, Level *level, Track *track)
{
    ModelTable *table = table_of(level, track->table);
    Standing standing = standing_of(level, track);
    uint32_t move = below(d, 4);
    uint64_t count = 0;

    if (!has_pairs(track->table)) {
        EXPECT_RC(move_among_values(track->cur, move), SAP_ERROR);
        EXPECT_RC(sap_cursor_count_dup(track->cur, &count), SAP_ERROR);
        return;
    }
    cursor_count_values(level, track, standing);
    if (standing == STANDS_AGAIN) {
        cursor_to_absolute(d, level, track);
        return;
    }
    int rc = move_among_values(track->cur, move);
    d->counts->cursor_moves++;
    size_t to = SIZE_MAX;
    if (standing != STANDS_OFF) {
        to = aim_among_values(table, track->row, move, model_row_bound(table, track->row),
                              standing == STANDS_GONE);
    }
    if (rc == SAP_NOTFOUND) {
        EXPECT(to == SIZE_MAX || standing == STANDS_GONE, "a move to value %u finds nothing", move);
        cursor_look(d, level, track);
        return;
    }
    EXPECT(to != SIZE_MAX, "a move among values answered %d", rc);
    expect_moved(d, level, track, rc, to, PLACE_NOWHERE);
}

static bool begins_with(const ModelRow *row, const void *prefix, uint32_t len)
{
    return row->key_len >= len && (len == 0 || memcmp(row->bytes, prefix, len) == 0);
}

static void cursor_by_prefix(Driver *d, Level *level, Track *track)
{
    ModelTable *table = table_of(level, track->table);

    driver_choose_key(d, track->table);
    uint32_t len = below(d, d->key_len + 1);
    if (one_in(d, 2)) {
        Standing standing = standing_of(level, track);
        int in = sap_cursor_in_prefix(track->cur, d->key, len);
        bool expected = standing == STANDS_ON && begins_with(track->row, d->key, len);
        EXPECT(in == (expected ? 1 : 0) || standing == STANDS_AGAIN, "in_prefix answered %d", in);
        return;
    }
    int rc = sap_cursor_seek_prefix(track->cur, d->key, len);
    if (table->cmp != NULL) {
        EXPECT(rc == SAP_ERROR, "a prefix in an order of its own answered %d", rc);
        cursor_look(d, level, track);
        return;
    }
    size_t at = model_lower_bound(table, d->key, len);
    if (at < table->count && !begins_with(table->rows[at], d->key, len)) {
        at = table->count;
    }
    expect_moved(d, level, track, rc, at, PLACE_NOWHERE);
}

static void cursor_ttl(Driver *d, Level *level, Track *track)
{
    unsigned flags = one_in(d, 2) ? SAP_TTL_LAZY_DELETE : 0;
    Standing standing = standing_of(level, track);
    uint64_t expires = 0;
    const void *val = NULL;
    uint32_t val_len = 0;

    if (standing == STANDS_AGAIN) {
        cursor_to_absolute(d, level, track);
        return;
    }
    d->now_ms++;
    driver_arm(d);
    int rc = sap_cursor_get_ttl_dbi(track->cur, d->tables[TABLE_META].dbi, d->now_ms, &val,
                                    &val_len, flags);
    if (driver_disarm(d, rc)) {
        return;
    }
    if (standing != STANDS_ON || !model_expiry(table_of(level, TABLE_META), track->row->bytes,
                                               track->row->key_len, &expires)) {
        EXPECT(rc == SAP_NOTFOUND, "a row without an expiry time answered %d", rc);
        return;
    }
    ModelTable *table = table_of(level, TABLE_TTL);
    size_t at = model_row_bound(table, track->row);
    if (expires > d->now_ms) {
        EXPECT(rc == SAP_OK, "a row that has not expired answered %d", rc);
        EXPECT(driver_row_is(table->rows[at], track->row->bytes, track->row->key_len, val, val_len),
               "another value");
        return;
    }
    EXPECT(rc == SAP_NOTFOUND, "a row that has expired answered %d", rc);
    if (flags != 0 && !level->readonly) {
        d->counts->expiries++;
        driver_touch(level, TABLE_TTL, track->row->bytes, track->row->key_len);
        model_del_ttl(table, table_of(level, TABLE_META), track->row->bytes, track->row->key_len);
        stand_on_next(d, level, track, at);
    }
}

static bool cursor_open_track(Driver *d, Level *level, Track *track)
{
    track->table = some_table(d);
    driver_arm(d);
    track->cur = track->table == 0 && one_in(d, 2)
                     ? sap_cursor_open(level->txn)
                     : sap_cursor_open_dbi(level->txn, d->tables[track->table].dbi);
    bool failed = driver_disarm(d, track->cur == NULL ? SAP_NOMEM : SAP_OK);
    EXPECT(failed || track->cur != NULL, "no cursor");
    return track->cur != NULL;
}

static void cursor_operate_once(Driver *d, Level *level, Track *track)
{
    switch (below(d, 16)) {
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
    case 10:
    case 11:
        cursor_among_values(d, level, track);
        break;
    case 12:
        cursor_by_prefix(d, level, track);
        break;
    case 13:
        if (track->table == TABLE_TTL) {
            cursor_ttl(d, level, track);
            break;
        }
        cursor_among_values(d, level, track);
        break;
    default:
        cursor_change(d, level, track);
        break;
    }
}

void driver_cursor_operate(Driver *d, Level *level)
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
        driver_track_close(track);
    } else if (one_in(d, 20)) {
        EXPECT_RC(sap_cursor_renew(track->cur, level->txn), SAP_OK);
        driver_place_off(track, PLACE_NEVER);
    }
}
