/* Every allocation failed once in every call on ranges, loads, pairs, expiry, watches and streams:
 * the call says so, nothing has changed, and the next try succeeds. */
#include "common/fault.h"
#include "common/mem.h"
#include "support/backing.h"
#include "support/events.h"
#include "support/expect.h"
#include "support/mirror.h"
#include "support/stream.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_S = 900, PAGE = 256, BIG = 4000, ROWS = 150, ARENA = 1 << 20 };
enum { REVERSE = 5, DUP = 6, DATA = 7, META = 8, EMPTY = 9, DUP_EMPTY = 10, LATER = 11 };
enum { T_PLAIN, T_REVERSE, T_DUP, T_DATA, T_META, T_EMPTY, T_DUP_EMPTY };

static uint8_t filler[BIG];

/* A DB with something in every table, and what a call of these needs. */
typedef struct Stage {
    Backing backing;
    Mirror m;
    SapCursor *cur;
    Stream stream;   /* of other content */
    Model *restored; /* that content */
    Model *batch;    /* rows to load, by table */
    Events events;
    SapSweepCheckpoint sweep;
    uint64_t count; /* what a call counted */
    uint32_t taken[ARENA / PAGE];
    uint32_t taken_count;
} Stage;

typedef enum Failing {
    FAIL_HEAP, /* the n-th question of fault_alloc() */
    FAIL_PAGE, /* the n-th page of a custom arena */
    FAIL_ROOM, /* the n-th page of an arena that is full but for n - 1 */
    FAILINGS
} Failing;

typedef struct Case {
    const char *name;
    void (*prepare)(Stage *s);
    int (*call)(Stage *s);
    void (*apply)(Stage *s); /* the same on the model; NULL: it changes no row */
} Case;

/* ---- The stage ------------------------------------------------------------------------------ */

static uint32_t key_of(uint32_t i, char key[16])
{
    return (uint32_t)snprintf(key, 16, "key%04u", i);
}

static void fill(Mirror *m, uint32_t rows)
{
    char key[16];

    mirror_begin(m);
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t len = key_of(i * 2, key);
        uint32_t val_len = i % 20 == 7 ? BIG : i % 30;
        mirror_put(m, T_PLAIN, key, len, filler, val_len);
        mirror_put(m, T_REVERSE, key, len, filler, val_len);
        mirror_put(m, T_DUP, key, 5 + i % 2, key, len);
        EXPECT_RC(sap_txn_put_ttl_dbi(mirror_txn(m), DATA, META, key, len, filler, val_len, i),
                  SAP_OK);
        model_put_ttl(mirror_table(m, T_DATA), mirror_table(m, T_META), key, len, filler, val_len,
                      i);
    }
    mirror_commit(m);
}

static void open_tables(Mirror *m, SapMemArena *arena)
{
    mirror_open(m, arena, PAGE, ORDER_BYTES);
    mirror_add(m, REVERSE, ORDER_REVERSE, 0);
    mirror_add(m, DUP, ORDER_BYTES, SAP_DBI_DUPSORT);
    mirror_add(m, DATA, ORDER_BYTES, 0);
    mirror_add(m, META, ORDER_BYTES, SAP_DBI_TTL_META);
    mirror_add(m, EMPTY, ORDER_BYTES, 0);
    mirror_add(m, DUP_EMPTY, ORDER_BYTES, SAP_DBI_DUPSORT);
}

static void stage_open(Stage *s, const Case *c, Failing failing)
{
    memset(s, 0, sizeof *s);
    backing_open(&s->backing,
                 failing == FAIL_HEAP   ? BACKING_MALLOC
                 : failing == FAIL_PAGE ? BACKING_CUSTOM
                                        : BACKING_LINEAR,
                 PAGE, ARENA);
    open_tables(&s->m, s->backing.arena);
    fill(&s->m, ROWS);
    if (c->prepare != NULL) {
        c->prepare(s);
    }
}

static void stage_close(Stage *s)
{
    sap_cursor_close(s->cur);
    mirror_close(&s->m);
    backing_close(&s->backing);
    stream_free(&s->stream);
    model_free(s->restored);
    model_free(s->batch);
    events_clear(&s->events);
}

static SapTxnCtx *txn_of(Stage *s)
{
    return mirror_txn(&s->m);
}

static ModelTable *rows_of(Stage *s, size_t table)
{
    return mirror_table(&s->m, table);
}

/* ---- Preparations --------------------------------------------------------------------------- */

static void in_txn(Stage *s)
{
    mirror_begin(&s->m);
}

static void in_child(Stage *s)
{
    mirror_begin(&s->m);
    mirror_put_text(&s->m, T_PLAIN, "key0004", "outer");
    mirror_put_text(&s->m, T_DUP, "key00", "outer");
    mirror_begin(&s->m);
}

static void watched(Stage *s)
{
    EXPECT_RC(sap_db_watch(s->m.db, "key", 3, events_note, &s->events), SAP_OK);
    EXPECT_RC(sap_db_watch_dbi(s->m.db, DATA, "", 0, events_note, &s->events), SAP_OK);
    mirror_begin(&s->m);
}

static void with_cursor(Stage *s)
{
    mirror_begin(&s->m);
    s->cur = sap_cursor_open_dbi(txn_of(s), DATA);
    EXPECT(s->cur != NULL, "no cursor");
    EXPECT_RC(sap_cursor_seek(s->cur, "key0020", 7), SAP_OK);
}

static void with_dup_cursor(Stage *s)
{
    mirror_begin(&s->m);
    s->cur = sap_cursor_open_dbi(txn_of(s), DUP);
    EXPECT(s->cur != NULL, "no cursor");
    EXPECT_RC(sap_cursor_seek(s->cur, "key01", 5), SAP_OK);
}

/* Rows for every table: `count` of them, between those that are there and beyond. */
static void with_batch(Stage *s, uint32_t count, uint32_t step)
{
    char key[16];

    s->batch = model_copy(s->m.committed);
    for (size_t t = 0; t < s->batch->table_count; t++) {
        model_del_range(&s->batch->tables[t], NULL, 0, NULL, 0);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t len = key_of(i * step + 1, key);
            model_put(&s->batch->tables[t], key, len, filler,
                      !s->batch->tables[t].dupsort && i % 10 == 3 ? BIG : i % 20);
        }
    }
    mirror_begin(&s->m);
}

static void with_many_rows(Stage *s)
{
    with_batch(s, 200, 1);
}

static void with_few_rows(Stage *s)
{
    with_batch(s, 3, 40);
}

static void with_few_rows_watched(Stage *s)
{
    EXPECT_RC(sap_db_watch(s->m.db, "key", 3, events_note, &s->events), SAP_OK);
    with_batch(s, 30, 4);
}

static void with_stream(Stage *s)
{
    Mirror other;

    open_tables(&other, NULL);
    fill(&other, 40);
    stream_init(&s->stream);
    EXPECT_RC(sap_db_checkpoint(other.db, stream_write, &s->stream), SAP_OK);
    s->restored = model_copy(other.committed);
    mirror_close(&other);
}

/* A stream with a table that is not open here. */
static void with_stream_of_more_tables(Stage *s)
{
    Mirror other;

    open_tables(&other, NULL);
    mirror_add(&other, LATER, ORDER_BYTES, SAP_DBI_DUPSORT);
    mirror_begin(&other);
    mirror_put_text(&other, T_DUP_EMPTY + 1, "k", "v");
    mirror_commit(&other);
    stream_init(&s->stream);
    EXPECT_RC(sap_db_checkpoint(other.db, stream_write, &s->stream), SAP_OK);
    s->restored = model_copy(other.committed);
    mirror_close(&other);
}

static void with_watches(Stage *s)
{
    char prefix[8];

    for (int i = 0; i < 20; i++) {
        int len = snprintf(prefix, sizeof prefix, "p%d", i);
        EXPECT_RC(sap_db_watch(s->m.db, prefix, (uint32_t)len, events_note, &s->events), SAP_OK);
    }
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static int call_range_small(Stage *s)
{
    return sap_txn_del_range(txn_of(s), 0, "key0010", 7, "key0016", 7, &s->count);
}

static void apply_range_small(Stage *s)
{
    EXPECT(model_del_range(rows_of(s, T_PLAIN), "key0010", 7, "key0016", 7) == s->count,
           "another count");
}

static int call_range_wide(Stage *s)
{
    return sap_txn_del_range(txn_of(s), 0, "key0011", 7, "key0260", 7, &s->count);
}

static void apply_range_wide(Stage *s)
{
    EXPECT(model_del_range(rows_of(s, T_PLAIN), "key0011", 7, "key0260", 7) == s->count,
           "another count");
}

static int call_range_reverse(Stage *s)
{
    return sap_txn_del_range(txn_of(s), REVERSE, "key0260", 7, "key0011", 7, &s->count);
}

static void apply_range_reverse(Stage *s)
{
    EXPECT(model_del_range(rows_of(s, T_REVERSE), "key0260", 7, "key0011", 7) == s->count,
           "another count");
}

static int call_range_all(Stage *s)
{
    return sap_txn_del_range(txn_of(s), 0, NULL, 0, NULL, 0, &s->count);
}

static void apply_range_all(Stage *s)
{
    EXPECT(model_del_range(rows_of(s, T_PLAIN), NULL, 0, NULL, 0) == s->count, "another count");
}

static int call_range_pairs(Stage *s)
{
    return sap_txn_del_range(txn_of(s), DUP, "key00", 5, "key02", 5, &s->count);
}

static void apply_range_pairs(Stage *s)
{
    EXPECT(model_del_range(rows_of(s, T_DUP), "key00", 5, "key02", 5) == s->count, "another count");
}

static int load(Stage *s, size_t table)
{
    return load_rows(txn_of(s), rows_of(s, table)->dbi, &s->batch->tables[table]);
}

static void apply_load(Stage *s, size_t table)
{
    const ModelTable *from = &s->batch->tables[table];

    for (size_t i = 0; i < from->count; i++) {
        const ModelRow *row = from->rows[i];
        model_put(rows_of(s, table), row->bytes, row->key_len, model_row_val(row), row->val_len);
    }
}

static int call_load_plain(Stage *s)
{
    return load(s, T_PLAIN);
}

static void apply_load_plain(Stage *s)
{
    apply_load(s, T_PLAIN);
}

static int call_load_reverse(Stage *s)
{
    return load(s, T_REVERSE);
}

static void apply_load_reverse(Stage *s)
{
    apply_load(s, T_REVERSE);
}

static int call_load_empty(Stage *s)
{
    return load(s, T_EMPTY);
}

static void apply_load_empty(Stage *s)
{
    apply_load(s, T_EMPTY);
}

static int call_load_pairs(Stage *s)
{
    return load(s, T_DUP);
}

static void apply_load_pairs(Stage *s)
{
    apply_load(s, T_DUP);
}

static int call_load_empty_pairs(Stage *s)
{
    return load(s, T_DUP_EMPTY);
}

static void apply_load_empty_pairs(Stage *s)
{
    apply_load(s, T_DUP_EMPTY);
}

/* Appends, with as many bytes of the filler as the operand says. */
static void merge_append(const void *old_val, uint32_t old_len, const void *operand,
                         uint32_t op_len, void *new_val, uint32_t *new_len, void *ctx)
{
    uint32_t room = *new_len;

    (void)operand;
    (void)ctx;
    *new_len = old_len + op_len;
    if (room >= *new_len) {
        if (old_len != 0) {
            memcpy(new_val, old_val, old_len);
        }
        memcpy((uint8_t *)new_val + old_len, filler + old_len, op_len);
    }
}

static int merge(Stage *s, const char *key, uint32_t more)
{
    return sap_txn_merge(txn_of(s), 0, key, (uint32_t)strlen(key), filler, more, merge_append,
                         NULL);
}

static void apply_merge(Stage *s, const char *key, uint32_t more)
{
    uint32_t key_len = (uint32_t)strlen(key);
    const ModelRow *row = model_find(rows_of(s, T_PLAIN), key, key_len);

    model_put(rows_of(s, T_PLAIN), key, key_len, filler, (row == NULL ? 0 : row->val_len) + more);
}

static int call_merge_new(Stage *s)
{
    return merge(s, "key0007", 9);
}

static void apply_merge_new(Stage *s)
{
    apply_merge(s, "key0007", 9);
}

static int call_merge_grow(Stage *s)
{
    return merge(s, "key0010", 2000);
}

static void apply_merge_grow(Stage *s)
{
    apply_merge(s, "key0010", 2000);
}

/* Row 7 is in overflow pages, and leaves them. */
static int call_put_if(Stage *s)
{
    return sap_txn_put_if(txn_of(s), 0, "key0014", 7, "short", 5, filler, BIG);
}

static void apply_put_if(Stage *s)
{
    model_put(rows_of(s, T_PLAIN), "key0014", 7, "short", 5);
}

static int call_put_if_big(Stage *s)
{
    return sap_txn_put_if(txn_of(s), 0, "key0020", 7, filler, BIG, filler, 10);
}

static void apply_put_if_big(Stage *s)
{
    model_put(rows_of(s, T_PLAIN), "key0020", 7, filler, BIG);
}

static int call_put_pair(Stage *s)
{
    return sap_txn_put_dbi(txn_of(s), DUP, "key01", 5, filler, 60);
}

static void apply_put_pair(Stage *s)
{
    model_put(rows_of(s, T_DUP), "key01", 5, filler, 60);
}

static int call_del_pair(Stage *s)
{
    return sap_txn_del_dup_dbi(txn_of(s), DUP, "key01", 5, "key0100", 7);
}

static void apply_del_pair(Stage *s)
{
    const ModelRow *row = model_find_pair(rows_of(s, T_DUP), "key01", 5, "key0100", 7);

    EXPECT(row != NULL, "no such pair");
    model_del_at(rows_of(s, T_DUP), model_row_bound(rows_of(s, T_DUP), row));
}

static int call_del_pairs(Stage *s)
{
    return sap_txn_del_dbi(txn_of(s), DUP, "key01", 5);
}

static void apply_del_pairs(Stage *s)
{
    model_del(rows_of(s, T_DUP), "key01", 5);
}

static int call_cursor_del_pair(Stage *s)
{
    return sap_cursor_del(s->cur);
}

static void apply_cursor_del_pair(Stage *s)
{
    model_del_at(rows_of(s, T_DUP), model_lower_bound(rows_of(s, T_DUP), "key01", 5));
}

static int put_ttl(Stage *s, const char *key, uint32_t val_len, uint64_t expires)
{
    return sap_txn_put_ttl_dbi(txn_of(s), DATA, META, key, (uint32_t)strlen(key), filler, val_len,
                               expires);
}

static void apply_ttl(Stage *s, const char *key, uint32_t val_len, uint64_t expires)
{
    model_put_ttl(rows_of(s, T_DATA), rows_of(s, T_META), key, (uint32_t)strlen(key), filler,
                  val_len, expires);
}

static int call_put_ttl_new(Stage *s)
{
    return put_ttl(s, "key0007", 60, 70);
}

static void apply_put_ttl_new(Stage *s)
{
    apply_ttl(s, "key0007", 60, 70);
}

static int call_put_ttl_again(Stage *s)
{
    return put_ttl(s, "key0010", BIG, 900);
}

static void apply_put_ttl_again(Stage *s)
{
    apply_ttl(s, "key0010", BIG, 900);
}

static void expire(Stage *s, uint64_t now, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *key = NULL;
        uint32_t len = 0;
        uint64_t expires = 0;
        char copy[16];
        EXPECT(model_first_expired(rows_of(s, T_META), now, &key, &len, &expires), "none left");
        memcpy(copy, key, len);
        model_del_ttl(rows_of(s, T_DATA), rows_of(s, T_META), copy, len);
    }
}

static int call_sweep(Stage *s)
{
    return sap_txn_sweep_ttl_dbi(txn_of(s), DATA, META, 59, &s->count);
}

static void apply_sweep(Stage *s)
{
    EXPECT(s->count == 60, "another count");
    expire(s, 59, 60);
}

static int call_sweep_limit(Stage *s)
{
    return sap_txn_sweep_ttl_dbi_limit(txn_of(s), DATA, META, 59, 25, &s->count);
}

static void apply_sweep_limit(Stage *s)
{
    EXPECT(s->count == 25, "another count");
    expire(s, 59, 25);
}

static int call_sweep_on(Stage *s)
{
    SapSweepCheckpoint before = s->sweep;
    int rc = sap_txn_sweep_ttl_dbi_checkpoint(txn_of(s), DATA, META, 59, 25, &s->sweep, &s->count);

    EXPECT(rc == SAP_OK || memcmp(&before, &s->sweep, sizeof before) == 0,
           "a failed sweep moved its checkpoint");
    return rc;
}

static int call_lazy_get(Stage *s)
{
    int rc = sap_txn_get_ttl_flags_dbi(txn_of(s), DATA, META, "key0014", 7, 50, NULL, NULL,
                                       SAP_TTL_LAZY_DELETE);

    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static void apply_lazy_get(Stage *s)
{
    model_del_ttl(rows_of(s, T_DATA), rows_of(s, T_META), "key0014", 7);
}

static int call_lazy_cursor(Stage *s)
{
    int rc = sap_cursor_get_ttl_dbi(s->cur, META, 50, NULL, NULL, SAP_TTL_LAZY_DELETE);

    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static void apply_lazy_cursor(Stage *s)
{
    model_del_ttl(rows_of(s, T_DATA), rows_of(s, T_META), "key0020", 7);
    EXPECT(sap_cursor_in_prefix(s->cur, "key0022", 7) == 1, "the cursor is not on the next row");
}

static int call_restore(Stage *s)
{
    stream_rewind(&s->stream);
    return sap_db_restore(s->m.db, stream_read, &s->stream);
}

static void apply_restore(Stage *s)
{
    model_free(s->m.committed);
    s->m.committed = s->restored;
    s->restored = NULL;
}

static int call_checkpoint(Stage *s)
{
    stream_free(&s->stream);
    stream_init(&s->stream);
    return sap_db_checkpoint(s->m.db, stream_write, &s->stream);
}

static void apply_checkpoint(Stage *s)
{
    Mirror other;

    open_tables(&other, NULL);
    EXPECT_RC(sap_db_restore(other.db, stream_read, &s->stream), SAP_OK);
    model_free(other.committed);
    other.committed = model_copy(s->m.committed);
    mirror_close(&other);
}

static int call_watch(Stage *s)
{
    return sap_db_watch(s->m.db, "p7 and more", 11, events_note, &s->events);
}

static void apply_watch(Stage *s)
{
    EXPECT_RC(sap_db_watch(s->m.db, "p7 and more", 11, events_note, &s->events), SAP_EXISTS);
}

static int call_unwatch(Stage *s)
{
    return sap_db_unwatch(s->m.db, "p7", 2, events_note, &s->events);
}

static void apply_unwatch(Stage *s)
{
    EXPECT_RC(sap_db_unwatch(s->m.db, "p7", 2, events_note, &s->events), SAP_NOTFOUND);
}

static int call_set_dupsort(Stage *s)
{
    return sap_dbi_set_dupsort(s->m.db, EMPTY, order_cmp(ORDER_REVERSE), order_ctx(ORDER_REVERSE));
}

static void apply_set_dupsort(Stage *s)
{
    ModelTable *table = &s->m.committed->tables[T_EMPTY];

    table->dupsort = true;
    table->vcmp = order_cmp(ORDER_REVERSE);
    table->vcmp_ctx = order_ctx(ORDER_REVERSE);
    mirror_begin(&s->m);
    mirror_put_text(&s->m, T_EMPTY, "k", "1");
    mirror_put_text(&s->m, T_EMPTY, "k", "2");
    mirror_commit(&s->m);
}

static int call_open_dupsort(Stage *s)
{
    return sap_dbi_open(s->m.db, LATER, NULL, NULL, SAP_DBI_DUPSORT);
}

static int call_put_watched(Stage *s)
{
    return sap_txn_put(txn_of(s), "key0007", 7, filler, BIG);
}

static void apply_put_watched(Stage *s)
{
    model_put(rows_of(s, T_PLAIN), "key0007", 7, filler, BIG);
}

static int call_del_watched(Stage *s)
{
    return sap_txn_del(txn_of(s), "key0014", 7);
}

static void apply_del_watched(Stage *s)
{
    model_del(rows_of(s, T_PLAIN), "key0014", 7);
}

static const Case cases[] = {
    {"del_range in a leaf", in_txn, call_range_small, apply_range_small},
    {"del_range across leaves", in_txn, call_range_wide, apply_range_wide},
    {"del_range across leaves in a child", in_child, call_range_wide, apply_range_wide},
    {"del_range with a comparator", in_txn, call_range_reverse, apply_range_reverse},
    {"del_range of all", in_txn, call_range_all, apply_range_all},
    {"del_range of all in a child", in_child, call_range_all, apply_range_all},
    {"del_range of pairs", in_txn, call_range_pairs, apply_range_pairs},
    {"del_range in a watched table", watched, call_range_wide, apply_range_wide},
    {"load into an empty table", with_many_rows, call_load_empty, apply_load_empty},
    {"load of few into an empty table", with_few_rows, call_load_empty, apply_load_empty},
    {"load of pairs into an empty table", with_many_rows, call_load_empty_pairs,
     apply_load_empty_pairs},
    {"load of many", with_many_rows, call_load_plain, apply_load_plain},
    {"load of many with a comparator", with_many_rows, call_load_reverse, apply_load_reverse},
    {"load of many pairs", with_many_rows, call_load_pairs, apply_load_pairs},
    {"load of few", with_few_rows, call_load_plain, apply_load_plain},
    {"load of few pairs", with_few_rows, call_load_pairs, apply_load_pairs},
    {"load into a watched table", with_few_rows_watched, call_load_plain, apply_load_plain},
    {"merge of a new row", in_txn, call_merge_new, apply_merge_new},
    {"merge into overflow pages", in_txn, call_merge_grow, apply_merge_grow},
    {"merge in a child", in_child, call_merge_grow, apply_merge_grow},
    {"merge in a watched table", watched, call_merge_new, apply_merge_new},
    {"put_if of a big value", in_txn, call_put_if, apply_put_if},
    {"put_if by a big value", in_child, call_put_if_big, apply_put_if_big},
    {"put of a pair", in_txn, call_put_pair, apply_put_pair},
    {"put of a pair in a child", in_child, call_put_pair, apply_put_pair},
    {"del_dup", in_txn, call_del_pair, apply_del_pair},
    {"del of all values of a key", in_child, call_del_pairs, apply_del_pairs},
    {"cursor_del of a pair", with_dup_cursor, call_cursor_del_pair, apply_cursor_del_pair},
    {"put_ttl", in_txn, call_put_ttl_new, apply_put_ttl_new},
    {"put_ttl in a child", in_child, call_put_ttl_new, apply_put_ttl_new},
    {"put_ttl with another expiry", in_txn, call_put_ttl_again, apply_put_ttl_again},
    {"put_ttl in a watched table", watched, call_put_ttl_again, apply_put_ttl_again},
    {"sweep", in_txn, call_sweep, apply_sweep},
    {"sweep in a child", in_child, call_sweep, apply_sweep},
    {"sweep of a watched table", watched, call_sweep, apply_sweep},
    {"sweep with a limit", in_txn, call_sweep_limit, apply_sweep_limit},
    {"sweep with a checkpoint", in_txn, call_sweep_on, apply_sweep_limit},
    {"lazy get", in_txn, call_lazy_get, apply_lazy_get},
    {"lazy get of a cursor", with_cursor, call_lazy_cursor, apply_lazy_cursor},
    {"put into a watched table", watched, call_put_watched, apply_put_watched},
    {"del from a watched table", watched, call_del_watched, apply_del_watched},
    {"restore", with_stream, call_restore, apply_restore},
    {"restore that opens a table", with_stream_of_more_tables, call_restore, apply_restore},
    {"checkpoint", NULL, call_checkpoint, apply_checkpoint},
    {"watch", with_watches, call_watch, apply_watch},
    {"first watch", NULL, call_watch, apply_watch},
    {"unwatch", with_watches, call_unwatch, apply_unwatch},
    {"dbi_set_dupsort", NULL, call_set_dupsort, apply_set_dupsort},
    {"dbi_open of a table of pairs", NULL, call_open_dupsort, NULL},
};

enum { CASES = sizeof cases / sizeof cases[0] };

/* ---- Failing -------------------------------------------------------------------------------- */

/* Takes all pages of the arena but so many. */
static void take_pages(Stage *s, uint64_t but)
{
    void *page = NULL;

    while (sap_arena_alloc_page(s->backing.arena, &page, &s->taken[s->taken_count]) == SAP_OK) {
        s->taken_count++;
    }
    for (uint64_t i = 0; i < but && s->taken_count != 0; i++) {
        EXPECT_RC(sap_arena_free_page(s->backing.arena, s->taken[--s->taken_count]), SAP_OK);
    }
}

static void arm(Stage *s, Failing failing, uint64_t nth)
{
    fault_reset();
    if (failing == FAIL_HEAP) {
        fault_arm_alloc(nth);
    } else if (failing == FAIL_PAGE) {
        backing_fail_at(&s->backing, nth);
    } else {
        take_pages(s, nth - 1);
    }
}

/* True if the fault fired. */
static bool disarm(Stage *s, Failing failing, int rc)
{
    bool fired = failing == FAIL_HEAP   ? fault_fired() != 0
                 : failing == FAIL_PAGE ? s->backing.failed != 0
                                        : rc == SAP_FULL;

    fault_reset();
    s->backing.failed = 0;
    backing_fail_at(&s->backing, 0);
    while (s->taken_count != 0) {
        EXPECT_RC(sap_arena_free_page(s->backing.arena, s->taken[--s->taken_count]), SAP_OK);
    }
    return fired;
}

/* True if the call had that many allocations. */
static bool fail_once(const Case *c, Failing failing, uint64_t nth)
{
    static Stage s;
    size_t live = mem_live_total();

    stage_open(&s, c, failing);
    const void *key_before = NULL;
    if (s.cur != NULL) {
        EXPECT_RC(sap_cursor_get_key(s.cur, &key_before, NULL), SAP_OK);
    }
    s.count = 4711;
    arm(&s, failing, nth);
    int rc = c->call(&s);
    bool fired = disarm(&s, failing, rc);
    if (rc == (failing == FAIL_ROOM ? SAP_FULL : SAP_NOMEM)) {
        EXPECT(fired, "out of memory without a fault");
        EXPECT(s.count == 4711, "a failed call counted");
        EXPECT(s.events.count == 0, "a failed call was told of");
        mirror_compare(&s.m);
        EXPECT(s.cur == NULL || sap_cursor_get_key(s.cur, NULL, NULL) == SAP_OK,
               "a cursor has left its row");
        rc = c->call(&s);
    }
    EXPECT(rc == SAP_OK, "the call answered %d", rc);
    if (c->apply != NULL) {
        c->apply(&s);
    }
    mirror_compare(&s.m);
    while (s.m.depth != 0 && nth % 3 != 0) {
        mirror_commit(&s.m);
    }
    stage_close(&s);
    EXPECT(mem_live_total() == live, "%zu bytes live instead of %zu", mem_live_total(), live);
    return fired;
}

static uint64_t fail_each(const Case *c, Failing failing)
{
    static const char *const what[FAILINGS] = {"allocation", "page", "page of a full arena"};
    uint64_t fired = 0;

    for (uint64_t nth = 1;; nth++) {
        expect_context("%s: %s number %llu fails", c->name, what[failing], (unsigned long long)nth);
        EXPECT(nth < 10000, "the faults do not end");
        if (!fail_once(c, failing, nth)) {
            return fired;
        }
        fired++;
        nth += failing == FAIL_ROOM && nth > 40 ? 6 : 0;
    }
}

START_TEST(a_call_that_runs_out_of_memory_changes_nothing)
{
    uint64_t fired = 0;

    for (size_t i = 0; i < CASES; i++) {
        fired += fail_each(&cases[i], FAIL_HEAP);
    }
    printf("heap faults: %llu fired in %d cases\n", (unsigned long long)fired, CASES);
    ck_assert_uint_gt(fired, 0);
}
END_TEST

START_TEST(a_call_that_gets_no_page_changes_nothing)
{
    uint64_t fired = 0;

    for (size_t i = 0; i < CASES; i++) {
        fired += fail_each(&cases[i], FAIL_PAGE);
    }
    printf("page faults: %llu fired in %d cases\n", (unsigned long long)fired, CASES);
    ck_assert_uint_gt(fired, CASES);
}
END_TEST

START_TEST(a_call_that_finds_the_arena_full_changes_nothing)
{
    uint64_t fired = 0;

    for (size_t i = 0; i < CASES; i++) {
        fired += fail_each(&cases[i], FAIL_ROOM);
    }
    printf("full arenas: %llu in %d cases\n", (unsigned long long)fired, CASES);
    ck_assert_uint_gt(fired, CASES / 2);
}
END_TEST

/* ---- Commits that are told of --------------------------------------------------------------- */

static void change_watched(Stage *s)
{
    mirror_begin(&s->m);
    mirror_begin(&s->m);
    mirror_put_text(&s->m, T_PLAIN, "key0007", "new");
    mirror_del_range(&s->m, T_PLAIN, "key0010", 7, "key0020", 7);
    mirror_commit(&s->m);
    mirror_put(&s->m, T_PLAIN, "key0300", 7, filler, BIG);
    mirror_put_text(&s->m, T_PLAIN, "other", "not watched");
}

/* The fault hits the outermost commit; it has failed and told nothing, or told all. */
static bool fail_watched_commit(Failing failing, uint64_t nth)
{
    static const Case c = {"commit", NULL, NULL, NULL};
    static Stage s;
    size_t live = mem_live_total();

    stage_open(&s, &c, failing);
    EXPECT_RC(sap_db_watch(s.m.db, "key", 3, events_note, &s.events), SAP_OK);
    change_watched(&s);
    arm(&s, failing, nth);
    int rc = sap_txn_commit(mirror_txn(&s.m));
    bool fired = disarm(&s, failing, rc);
    EXPECT(rc == SAP_OK || (fired && (rc == SAP_NOMEM || rc == SAP_FULL)), "commit answered %d",
           rc);
    if (rc == SAP_OK) {
        model_free(s.m.committed);
        s.m.committed = s.m.models[0];
    } else {
        EXPECT(s.events.count == 0, "a failed commit was told of");
        model_free(s.m.models[0]);
    }
    s.m.depth = 0;
    model_expect_committed(s.m.committed, s.m.db);
    if (rc != SAP_OK) {
        change_watched(&s);
        mirror_commit(&s.m);
    }
    EXPECT(s.events.count == 7, "%zu events", s.events.count);
    stage_close(&s);
    EXPECT(mem_live_total() == live, "%zu bytes live instead of %zu", mem_live_total(), live);
    return fired;
}

START_TEST(a_watched_commit_that_runs_out_of_memory_tells_nothing)
{
    for (int failing = 0; failing < FAILINGS; failing++) {
        uint64_t nth = 1;
        do {
            expect_context("watched commit, allocation %llu of kind %d fails",
                           (unsigned long long)nth, failing);
            EXPECT(nth < 10000, "the faults do not end");
        } while (fail_watched_commit((Failing)failing, nth++));
        printf("watched commit: %llu faults fired\n", (unsigned long long)nth - 2);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_faults2");
    TCase *tcase = tcase_create("faults2");

    for (uint32_t i = 0; i < BIG; i++) {
        filler[i] = (uint8_t)(i * 7 + i / 256);
    }
    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, a_call_that_runs_out_of_memory_changes_nothing);
    tcase_add_test(tcase, a_call_that_gets_no_page_changes_nothing);
    tcase_add_test(tcase, a_call_that_finds_the_arena_full_changes_nothing);
    tcase_add_test(tcase, a_watched_commit_that_runs_out_of_memory_tells_nothing);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
