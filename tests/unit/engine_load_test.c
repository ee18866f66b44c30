/* Loading sorted rows is the same as putting them one by one, all or none. */
#include "common/bytes.h"
#include "common/hash.h"
#include "support/choice.h"
#include "support/driver.h"
#include "support/expect.h"
#include "support/mirror.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_S = 600, BIG = 3000, DUP = 3, LONGEST = 64 };

static uint8_t filler[BIG + 16];

typedef enum RowShape {
    ROWS_SEQUENTIAL,
    ROWS_SCATTERED,
    ROWS_PREFIXED,
    ROWS_CHAINED,
    ROW_SHAPES
} RowShape;

static uint32_t key_of(RowShape shape, uint32_t n, uint8_t key[LONGEST])
{
    switch (shape) {
    case ROWS_SCATTERED: {
        uint64_t hash = hash_u64(n);
        store_u64be(key, hash);
        return 5 + (uint32_t)(hash % 4);
    }
    case ROWS_PREFIXED:
        memset(key, 'p', 40);
        store_u32be(key + 40, n * 3);
        return 44;
    case ROWS_CHAINED:
        memset(key, 0, LONGEST);
        store_u32be(key, n / 20);
        return 4 + n % 20;
    default:
        store_u64be(key, n);
        return 8;
    }
}

/* Values of all kinds: empty, short, in overflow pages when `big` is not 0. */
static uint32_t value_len_of(uint32_t n, uint32_t big)
{
    return big != 0 && n % 5 == 0 ? big : n % 3 == 0 ? 0 : n % 23;
}

/* Rows in order for a load: numbers from, from + step, ... */
typedef struct Batch {
    Model *model;
    ModelTable *rows;
} Batch;

static Batch batch_like(const ModelTable *table)
{
    Batch batch = {model_new(), NULL};

    size_t index = model_add_table(batch.model, table->dbi, table->cmp, table->cmp_ctx);
    batch.rows = &batch.model->tables[index];
    batch.rows->dupsort = table->dupsort;
    batch.rows->vcmp = table->vcmp;
    batch.rows->vcmp_ctx = table->vcmp_ctx;
    return batch;
}

static void batch_add(Batch *batch, RowShape shape, uint32_t n, uint32_t big)
{
    uint8_t key[LONGEST];
    uint32_t len = key_of(shape, n, key);

    model_put(batch->rows, key, len, filler + n % 8, value_len_of(n, big));
}

static Batch batch_of(const ModelTable *table, RowShape shape, uint32_t from, uint32_t count,
                      uint32_t step, uint32_t big)
{
    Batch batch = batch_like(table);

    for (uint32_t i = 0; i < count; i++) {
        batch_add(&batch, shape, from + i * step, big);
    }
    return batch;
}

static void load(Mirror *m, size_t t, RowShape shape, uint32_t from, uint32_t count, uint32_t step,
                 uint32_t big)
{
    Batch batch = batch_of(mirror_table(m, t), shape, from, count, step, big);

    mirror_load(m, t, batch.rows);
    model_free(batch.model);
}

/* ---- Into an empty table -------------------------------------------------------------------- */

START_TEST(a_load_into_an_empty_table_equals_puts)
{
    static const uint32_t counts[] = {0, 1, 2, 3, 7, 50, 333, 1500};
    uint64_t loads = 0;

    for (uint32_t size = 0; size < driver_page_size_count; size++) {
        uint32_t page_size = driver_page_sizes[size];
        for (int i = 0; i < ROW_SHAPES * 8; i++) {
            RowShape shape = (RowShape)(i % ROW_SHAPES);
            uint32_t count = counts[i / ROW_SHAPES];
            Mirror m;
            expect_context("page size %u, shape %d, %u rows", page_size, (int)shape, count);
            mirror_open(&m, NULL, page_size, (OrderKind)(i % ORDER_COUNT));
            mirror_begin(&m);
            load(&m, 0, shape, 0, count, 1, count < 400 ? BIG : 0);
            model_expect_same(m.models[0], m.txns[0]);
            mirror_commit(&m);
            mirror_close(&m);
            loads++;
        }
    }
    printf("loads into empty tables: %llu\n", (unsigned long long)loads);
}
END_TEST

START_TEST(every_small_count_loads_into_every_page_size)
{
    for (uint32_t size = 0; size < driver_page_size_count; size++) {
        uint32_t page_size = driver_page_sizes[size];
        for (uint32_t count = 0; count < 90; count++) {
            Mirror m;
            expect_context("page size %u, %u rows", page_size, count);
            mirror_open(&m, NULL, page_size, ORDER_BYTES);
            mirror_begin(&m);
            load(&m, 0, ROWS_SCATTERED, 0, count, 1, 0);
            mirror_commit(&m);
            mirror_close(&m);
        }
    }
}
END_TEST

/* Rows behind a long common prefix, then some without: what the first ones saved is lost. */
START_TEST(keys_may_lose_their_common_prefix_anywhere)
{
    static const uint32_t page_sizes[] = {256, 257, 512, 1024};
    uint8_t key[400];

    for (uint32_t i = 0; i < 4 * 2 * 60; i++) {
        Mirror m;
        uint32_t page_size = page_sizes[i % 4];
        OrderKind order = i / 4 % 2 == 0 ? ORDER_BYTES : ORDER_LENGTH;
        uint32_t behind = i / 8;
        uint32_t prefix = page_size / 4;
        expect_context("page size %u, order %d, %u rows behind %u bytes", page_size, (int)order,
                       behind, prefix);
        mirror_open(&m, NULL, page_size, order);
        Batch batch = batch_like(mirror_table(&m, 0));
        for (uint32_t n = 0; n < behind + 20; n++) {
            memset(key, 'p', prefix);
            if (n >= behind) {
                key[n % 3] = 'q';
            }
            store_u32be(key + prefix, n * 977);
            model_put(batch.rows, key, prefix + 4, filler, page_size / 8);
        }
        mirror_begin(&m);
        mirror_load(&m, 0, batch.rows);
        mirror_commit(&m);
        mirror_begin(&m);
        mirror_del_range(&m, 0, "pq", 2, NULL, 0);
        mirror_load(&m, 0, batch.rows);
        mirror_commit(&m);
        model_free(batch.model);
        mirror_close(&m);
    }
}
END_TEST

START_TEST(pairs_load_in_the_order_of_pairs)
{
    static const uint32_t counts[] = {0, 1, 2, 60, 2000};

    for (uint32_t i = 0; i < 5 * driver_page_size_count; i++) {
        Mirror m;
        uint8_t val[8];
        uint32_t page_size = driver_page_sizes[i / 5];
        uint32_t count = counts[i % 5];
        expect_context("page size %u, %u pairs", page_size, count);
        mirror_open(&m, NULL, page_size, ORDER_BYTES);
        size_t t = mirror_add_dupsort(&m, DUP, (OrderKind)(i % 4), (OrderKind)(i / 4 % 4));
        Batch batch = batch_like(mirror_table(&m, t));
        for (uint32_t j = 0; j < count; j++) {
            uint8_t key[2] = {(uint8_t)('a' + j % 7), (uint8_t)(j % 3)};
            store_u64be(val, hash_u64(j));
            model_put(batch.rows, key, 1 + j % 2, val, j % 9);
        }
        mirror_begin(&m);
        mirror_load(&m, t, batch.rows);
        model_expect_same(m.models[0], m.txns[0]);
        mirror_commit(&m);
        /* Loading the same again changes nothing. */
        mirror_begin(&m);
        mirror_load(&m, t, batch.rows);
        mirror_commit(&m);
        model_free(batch.model);
        mirror_close(&m);
    }
}
END_TEST

START_TEST(a_loaded_table_can_be_changed_like_any_other)
{
    Mirror m;
    uint8_t key[LONGEST];

    mirror_open(&m, NULL, 256, ORDER_BYTES);
    mirror_begin(&m);
    load(&m, 0, ROWS_SEQUENTIAL, 0, 3000, 1, 0);
    for (uint32_t n = 0; n < 3000; n += 3) {
        mirror_del(&m, 0, key, key_of(ROWS_SEQUENTIAL, n, key));
        mirror_put(&m, 0, key, key_of(ROWS_CHAINED, n * 7, key), filler, n % 50);
    }
    mirror_commit(&m);
    mirror_begin(&m);
    mirror_del_range(&m, 0, NULL, 0, NULL, 0);
    load(&m, 0, ROWS_CHAINED, 0, 500, 1, BIG);
    mirror_commit(&m);
    mirror_close(&m);
}
END_TEST

/* ---- Into a table with rows ----------------------------------------------------------------- */

typedef struct Mix {
    const char *name;
    uint32_t have_from, have_count, have_step;
    uint32_t load_from, load_count, load_step;
} Mix;

static const Mix mixes[] = {
    {"interleaved", 0, 800, 2, 1, 800, 2},
    {"all before", 1000, 500, 1, 0, 500, 1},
    {"all behind", 0, 500, 1, 1000, 500, 1},
    {"overlapping", 0, 600, 1, 300, 600, 1},
    {"the same", 0, 500, 1, 0, 500, 1},
    {"few into many", 0, 3000, 1, 5, 4, 700},
    {"one into many", 0, 3000, 2, 1501, 1, 1},
    {"many into few", 500, 3, 400, 0, 3000, 1},
    {"many into one", 1000, 1, 1, 0, 2000, 1},
    {"one into one", 1, 1, 1, 0, 1, 1},
    {"none into some", 0, 100, 1, 0, 0, 1},
    {"a dense run in the middle", 0, 300, 100, 15001, 80, 1},
};

enum { MIXES = sizeof mixes / sizeof mixes[0] };

static void load_mix(uint32_t page_size, OrderKind order, RowShape shape, const Mix *mix,
                     uint32_t big)
{
    Mirror m;

    expect_context("page size %u, order %d, shape %d: %s", page_size, (int)order, (int)shape,
                   mix->name);
    mirror_open(&m, NULL, page_size, order);
    mirror_begin(&m);
    load(&m, 0, shape, mix->have_from, mix->have_count, mix->have_step, big / 2);
    mirror_commit(&m);
    /* Once on a committed tree, once on pages of its own, once in a child that goes. */
    mirror_begin(&m);
    mirror_begin(&m);
    load(&m, 0, shape, mix->load_from, mix->load_count, mix->load_step, big);
    model_expect_same(m.models[1], m.txns[1]);
    mirror_abort(&m);
    mirror_compare(&m);
    load(&m, 0, shape, mix->load_from, mix->load_count, mix->load_step, big);
    model_expect_same(m.models[0], m.txns[0]);
    mirror_begin(&m);
    load(&m, 0, shape, mix->load_from + 1, mix->load_count, mix->load_step, 0);
    mirror_commit(&m);
    mirror_commit(&m);
    mirror_close(&m);
}

START_TEST(a_load_into_a_table_with_rows_equals_puts)
{
    uint64_t loads = 0;

    for (uint32_t i = 0; i < MIXES * ROW_SHAPES; i++) {
        for (uint32_t size = 0; size < driver_page_size_count; size += 3) {
            load_mix(driver_page_sizes[(size + i) % driver_page_size_count],
                     (OrderKind)(i / 3 % ORDER_COUNT), (RowShape)(i % ROW_SHAPES),
                     &mixes[i / ROW_SHAPES], i % 2 == 0 ? 0 : 700);
            loads += 3;
        }
    }
    printf("loads into tables with rows: %llu\n", (unsigned long long)loads);
}
END_TEST

START_TEST(a_load_of_pairs_leaves_those_that_are_there)
{
    for (uint32_t few = 0; few < 2; few++) {
        Mirror m;
        uint8_t key[LONGEST];
        expect_context("%s pairs", few != 0 ? "few" : "many");
        mirror_open(&m, NULL, 300, ORDER_BYTES);
        size_t t = mirror_add_dupsort(&m, DUP, ORDER_BYTES, ORDER_REVERSE);
        mirror_begin(&m);
        for (uint32_t i = 0; i < 2000; i++) {
            key_of(ROWS_SEQUENTIAL, i / 50, key);
            mirror_put(&m, t, key, 8, filler + i % 50, i % 50);
        }
        mirror_commit(&m);
        Batch batch = batch_like(mirror_table(&m, t));
        for (uint32_t i = 0; i < (few != 0 ? 9u : 3000u); i++) {
            uint32_t n = few != 0 ? i * 300 : i;
            key_of(ROWS_SEQUENTIAL, n / 70, key);
            model_put(batch.rows, key, 8, filler + n % 70, n % 60);
        }
        mirror_begin(&m);
        mirror_load(&m, t, batch.rows);
        model_expect_same(m.models[0], m.txns[0]);
        mirror_commit(&m);
        model_free(batch.model);
        mirror_close(&m);
    }
}
END_TEST

START_TEST(cursors_stay_on_their_rows_during_a_load)
{
    Mirror m;
    uint8_t key[LONGEST];
    const void *found = NULL;
    uint64_t rank = 0;

    for (uint32_t count = 3; count < 3000; count += 1400) {
        mirror_open(&m, NULL, 256, ORDER_BYTES);
        mirror_begin(&m);
        load(&m, 0, ROWS_SEQUENTIAL, 0, 500, 2, 0);
        SapCursor *cur = sap_cursor_open(mirror_txn(&m));
        ck_assert_int_eq(sap_cursor_seek(cur, key, key_of(ROWS_SEQUENTIAL, 400, key)), SAP_OK);
        load(&m, 0, ROWS_SEQUENTIAL, 1, count, 2, 0);
        ck_assert_int_eq(sap_cursor_get_key(cur, &found, NULL), SAP_OK);
        ck_assert_uint_eq(load_u64be(found), 400);
        ck_assert_int_eq(sap_cursor_rank(cur, &rank), SAP_OK);
        ck_assert_uint_eq(rank, 200 + (count < 200 ? count : 200));
        ck_assert_int_eq(sap_cursor_next(cur), SAP_OK);
        ck_assert_int_eq(sap_cursor_get_key(cur, &found, NULL), SAP_OK);
        ck_assert_uint_eq(load_u64be(found), count < 200 ? 402 : 401);
        sap_cursor_close(cur);
        mirror_commit(&m);
        mirror_close(&m);
    }
}
END_TEST

START_TEST(an_old_snapshot_does_not_see_a_load)
{
    Mirror m;
    SapTxnCtx *reader = NULL;

    mirror_open(&m, NULL, 512, ORDER_BYTES);
    mirror_begin(&m);
    load(&m, 0, ROWS_SEQUENTIAL, 0, 400, 2, BIG);
    mirror_commit(&m);
    ck_assert_int_eq(sap_txn_begin_rc(m.db, NULL, SAP_TXN_RDONLY, &reader), SAP_OK);
    Model *then = model_copy(m.committed);
    mirror_begin(&m);
    load(&m, 0, ROWS_SEQUENTIAL, 0, 900, 1, 0);
    mirror_commit(&m);
    mirror_begin(&m);
    load(&m, 0, ROWS_CHAINED, 0, 900, 1, 0);
    mirror_commit(&m);
    model_expect_same(then, reader);
    sap_txn_abort(reader);
    model_free(then);
    mirror_close(&m);
}
END_TEST

/* ---- Refused -------------------------------------------------------------------------------- */

/* Swaps two rows of a batch, or doubles one, and expects that nothing is loaded. */
static void expect_refused(Mirror *m, size_t t, Batch *batch, size_t a, size_t b, bool doubled)
{
    ModelRow *row_a = batch->rows->rows[a];
    ModelRow *row_b = batch->rows->rows[b];

    batch->rows->rows[a] = row_b;
    batch->rows->rows[b] = doubled ? row_b : row_a;
    EXPECT_RC(load_rows(mirror_txn(m), mirror_table(m, t)->dbi, batch->rows), SAP_ERROR);
    batch->rows->rows[a] = row_a;
    batch->rows->rows[b] = row_b;
    mirror_compare(m);
}

START_TEST(rows_that_do_not_ascend_are_refused_and_change_nothing)
{
    for (uint32_t i = 0; i < 4; i++) {
        Mirror m;
        bool filled = i % 2 != 0;
        mirror_open(&m, NULL, 256, i < 2 ? ORDER_BYTES : ORDER_LENGTH);
        mirror_begin(&m);
        if (filled) {
            load(&m, 0, ROWS_SEQUENTIAL, 0, 700, 3, BIG);
            mirror_commit(&m);
            mirror_begin(&m);
        }
        Batch batch = batch_of(mirror_table(&m, 0), ROWS_SEQUENTIAL, 0, 600, 2, 400);
        expect_refused(&m, 0, &batch, 0, 1, false);
        expect_refused(&m, 0, &batch, 300, 301, false);
        expect_refused(&m, 0, &batch, 598, 599, false);
        expect_refused(&m, 0, &batch, 0, 599, false);
        expect_refused(&m, 0, &batch, 0, 1, true);
        expect_refused(&m, 0, &batch, 598, 599, true);
        mirror_load(&m, 0, batch.rows);
        mirror_commit(&m);
        model_free(batch.model);
        mirror_close(&m);
    }
}
END_TEST

START_TEST(pairs_that_do_not_ascend_are_refused)
{
    Mirror m;

    mirror_open(&m, NULL, 256, ORDER_BYTES);
    size_t t = mirror_add_dupsort(&m, DUP, ORDER_BYTES, ORDER_REVERSE);
    mirror_begin(&m);
    Batch batch = batch_like(mirror_table(&m, t));
    model_put(batch.rows, "a", 1, "1", 1);
    model_put(batch.rows, "a", 1, "2", 1);
    model_put(batch.rows, "a", 1, "3", 1);
    model_put(batch.rows, "b", 1, "1", 1);
    expect_refused(&m, t, &batch, 0, 1, false);
    expect_refused(&m, t, &batch, 1, 2, true);
    expect_refused(&m, t, &batch, 2, 3, false);
    mirror_load(&m, t, batch.rows);
    expect_refused(&m, t, &batch, 0, 1, false);
    expect_refused(&m, t, &batch, 1, 2, true);
    model_free(batch.model);
    mirror_commit(&m);
    mirror_close(&m);
}
END_TEST

START_TEST(a_row_that_is_too_long_loads_none)
{
    for (uint32_t i = 0; i < 6; i++) {
        Mirror m;
        uint8_t key[300];
        bool filled = i % 2 != 0;
        uint32_t where = i / 2; /* first, in the middle, last */
        mirror_open(&m, NULL, 256, ORDER_BYTES);
        size_t t = mirror_add(&m, DUP, ORDER_BYTES, SAP_DBI_DUPSORT);
        mirror_begin(&m);
        if (filled) {
            load(&m, 0, ROWS_SEQUENTIAL, 50, 300, 2, 400);
            mirror_put_text(&m, t, "a", "b");
        }
        Batch batch = batch_of(mirror_table(&m, 0), ROWS_SEQUENTIAL, 100, 300, 1, 400);
        memset(key, where == 2 ? 0xff : 0, sizeof key);
        if (where == 1) {
            store_u64be(key, 200);
        }
        model_put(batch.rows, key, sizeof key, "v", 1);
        ck_assert_int_eq(load_rows(mirror_txn(&m), 0, batch.rows), SAP_FULL);
        mirror_compare(&m);
        model_free(batch.model);

        batch = batch_like(mirror_table(&m, t));
        model_put(batch.rows, "a", 1, "a", 1);
        model_put(batch.rows, "m", 1, key, 200);
        model_put(batch.rows, "z", 1, "a", 1);
        ck_assert_int_eq(load_rows(mirror_txn(&m), DUP, batch.rows), SAP_FULL);
        mirror_compare(&m);
        model_free(batch.model);
        mirror_commit(&m);
        mirror_close(&m);
    }
}
END_TEST

START_TEST(misuse_is_refused_and_loads_nothing)
{
    Mirror m;
    const void *keys[2] = {"a", "b"};
    const void *vals[2] = {"1", "2"};
    const void *nulls[2] = {"a", NULL};
    uint32_t lens[2] = {1, 1};
    uint32_t too_long[2] = {1, SAP_MAX_VAL_LEN + 1};
    SapTxnCtx *reader = NULL;

    mirror_open(&m, NULL, 256, ORDER_BYTES);
    ck_assert_int_eq(sap_txn_begin_rc(m.db, NULL, SAP_TXN_RDONLY, &reader), SAP_OK);
    ck_assert_int_eq(sap_txn_load_sorted(reader, 0, keys, lens, vals, lens, 2), SAP_READONLY);
    sap_txn_abort(reader);
    mirror_begin(&m);
    SapTxnCtx *txn = mirror_txn(&m);
    ck_assert_int_eq(sap_txn_load_sorted(NULL, 0, keys, lens, vals, lens, 2), SAP_ERROR);
    ck_assert_int_eq(sap_txn_load_sorted(txn, 9, keys, lens, vals, lens, 2), SAP_ERROR);
    ck_assert_int_eq(sap_txn_load_sorted(txn, 0, NULL, lens, vals, lens, 2), SAP_ERROR);
    ck_assert_int_eq(sap_txn_load_sorted(txn, 0, keys, NULL, vals, lens, 2), SAP_ERROR);
    ck_assert_int_eq(sap_txn_load_sorted(txn, 0, keys, lens, NULL, lens, 2), SAP_ERROR);
    ck_assert_int_eq(sap_txn_load_sorted(txn, 0, keys, lens, vals, NULL, 2), SAP_ERROR);
    ck_assert_int_eq(sap_txn_load_sorted(txn, 0, nulls, lens, vals, lens, 2), SAP_ERROR);
    ck_assert_int_eq(sap_txn_load_sorted(txn, 0, keys, lens, nulls, lens, 2), SAP_ERROR);
    ck_assert_int_eq(sap_txn_load_sorted(txn, 0, keys, lens, vals, too_long, 2), SAP_FULL);
    mirror_compare(&m);
    mirror_begin(&m);
    ck_assert_int_eq(sap_txn_load_sorted(txn, 0, keys, lens, vals, lens, 2), SAP_BUSY);
    mirror_abort(&m);
    mirror_compare(&m);
    mirror_close(&m);
}
END_TEST

/* ---- Pages ---------------------------------------------------------------------------------- */

static uint64_t pages_of(uint32_t page_size, bool dupsort, bool loaded, uint32_t count)
{
    Mirror m;

    mirror_open(&m, NULL, page_size, ORDER_BYTES);
    size_t t = mirror_add(&m, DUP, ORDER_BYTES, dupsort ? SAP_DBI_DUPSORT : 0);
    Batch batch = batch_of(mirror_table(&m, t), ROWS_SEQUENTIAL, 0, count, 1, 0);
    mirror_begin(&m);
    if (loaded) {
        mirror_load(&m, t, batch.rows);
    } else {
        for (size_t i = 0; i < batch.rows->count; i++) {
            const ModelRow *row = batch.rows->rows[i];
            mirror_put(&m, t, row->bytes, row->key_len, model_row_val(row), row->val_len);
        }
    }
    mirror_commit(&m);
    uint64_t pages = sap_db_num_pages(m.db);
    model_free(batch.model);
    mirror_close(&m);
    return pages;
}

START_TEST(a_load_needs_at_most_the_pages_of_puts_in_order)
{
    static const uint32_t counts[] = {1, 5, 40, 1000, 9000};

    for (uint32_t size = 0; size < driver_page_size_count; size++) {
        for (uint32_t i = 0; i < 10; i++) {
            uint32_t count = counts[i / 2];
            bool dupsort = i % 2 != 0;
            uint64_t loaded = pages_of(driver_page_sizes[size], dupsort, true, count);
            uint64_t put = pages_of(driver_page_sizes[size], dupsort, false, count);
            EXPECT(loaded <= put, "page size %u, %u rows: %llu pages loaded, %llu put",
                   driver_page_sizes[size], count, (unsigned long long)loaded,
                   (unsigned long long)put);
        }
    }
}
END_TEST

START_TEST(a_refused_load_gives_its_pages_back)
{
    Mirror m;

    mirror_open(&m, NULL, 256, ORDER_BYTES);
    mirror_begin(&m);
    load(&m, 0, ROWS_SEQUENTIAL, 0, 500, 2, BIG);
    mirror_commit(&m);
    uint64_t before = sap_db_num_pages(m.db);
    mirror_begin(&m);
    Batch batch = batch_of(mirror_table(&m, 0), ROWS_SEQUENTIAL, 1, 500, 2, BIG);
    for (int i = 0; i < 20; i++) {
        expect_refused(&m, 0, &batch, 498, 499, false);
    }
    mirror_commit(&m);
    ck_assert_uint_le(sap_db_num_pages(m.db), before + 2);
    model_free(batch.model);
    mirror_close(&m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_load");
    TCase *tcase = tcase_create("load");

    for (uint32_t i = 0; i < sizeof filler; i++) {
        filler[i] = (uint8_t)(i * 11 + i / 256);
    }
    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, a_load_into_an_empty_table_equals_puts);
    tcase_add_test(tcase, every_small_count_loads_into_every_page_size);
    tcase_add_test(tcase, keys_may_lose_their_common_prefix_anywhere);
    tcase_add_test(tcase, pairs_load_in_the_order_of_pairs);
    tcase_add_test(tcase, a_loaded_table_can_be_changed_like_any_other);
    tcase_add_test(tcase, a_load_into_a_table_with_rows_equals_puts);
    tcase_add_test(tcase, a_load_of_pairs_leaves_those_that_are_there);
    tcase_add_test(tcase, cursors_stay_on_their_rows_during_a_load);
    tcase_add_test(tcase, an_old_snapshot_does_not_see_a_load);
    tcase_add_test(tcase, rows_that_do_not_ascend_are_refused_and_change_nothing);
    tcase_add_test(tcase, pairs_that_do_not_ascend_are_refused);
    tcase_add_test(tcase, a_row_that_is_too_long_loads_none);
    tcase_add_test(tcase, misuse_is_refused_and_loads_nothing);
    tcase_add_test(tcase, a_load_needs_at_most_the_pages_of_puts_in_order);
    tcase_add_test(tcase, a_refused_load_gives_its_pages_back);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
