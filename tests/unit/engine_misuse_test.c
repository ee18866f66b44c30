/* Misuse of every public call is answered with the documented code and changes nothing. */
#include "common/mem.h"
#include "support/backing.h"
#include "support/model.h"
#include "support/orders.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum { TIMEOUT_S = 120, PAGE = 512 };

/* A DB with DBI 0 and 3, two rows each, and a model of it. */
typedef struct Fixture {
    size_t live;
    SapEnv *db;
    Model *model;
} Fixture;

static Fixture fx;
static uint8_t long_key[SAP_MAX_KEY_LEN + 1];

static SapTxnCtx *begin(unsigned flags)
{
    SapTxnCtx *txn = NULL;

    ck_assert_int_eq(sap_txn_begin_rc(fx.db, NULL, flags, &txn), SAP_OK);
    ck_assert_ptr_nonnull(txn);
    return txn;
}

static SapTxnCtx *begin_child(SapTxnCtx *parent, unsigned flags)
{
    SapTxnCtx *txn = NULL;

    ck_assert_int_eq(sap_txn_begin_rc(fx.db, parent, flags, &txn), SAP_OK);
    ck_assert_ptr_nonnull(txn);
    return txn;
}

static void set_up(void)
{
    static const uint32_t dbis[] = {0, 3};

    fx.live = mem_live_total();
    fx.db = sap_db_open(NULL, PAGE, NULL, NULL);
    ck_assert_ptr_nonnull(fx.db);
    ck_assert_int_eq(sap_dbi_open(fx.db, 3, NULL, NULL, 0), SAP_OK);
    fx.model = model_new();
    SapTxnCtx *txn = begin(0);
    for (size_t i = 0; i < 2; i++) {
        model_add_table(fx.model, dbis[i], NULL, NULL);
        ck_assert_int_eq(sap_txn_put_dbi(txn, dbis[i], "a", 1, "one", 3), SAP_OK);
        ck_assert_int_eq(sap_txn_put_dbi(txn, dbis[i], "b", 1, "two", 3), SAP_OK);
        model_put(&fx.model->tables[i], "a", 1, "one", 3);
        model_put(&fx.model->tables[i], "b", 1, "two", 3);
    }
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
}

/* All transactions are closed; the contents are those of set_up(). */
static void tear_down(void)
{
    model_expect_committed(fx.model, fx.db);
    ck_assert_int_eq(sap_db_close(fx.db), SAP_OK);
    model_free(fx.model);
    ck_assert_uint_eq(mem_live_total(), fx.live);
}

/* The transaction still sees what set_up() left. */
static void expect_unchanged(SapTxnCtx *txn)
{
    model_expect_same(fx.model, txn);
}

/* ---- Texts ---------------------------------------------------------------------------------- */

START_TEST(every_code_has_a_text_of_its_own_and_other_numbers_have_one_too)
{
    static const int codes[] = {SAP_OK,   SAP_NOTFOUND, SAP_ERROR,    SAP_FULL,    SAP_READONLY,
                                SAP_BUSY, SAP_EXISTS,   SAP_CONFLICT, SAP_INVALID, SAP_CORRUPT,
                                SAP_IO,   SAP_NOMEM,    SAP_FENCED};
    enum { COUNT = sizeof codes / sizeof codes[0] };
    static const int unknown[] = {-1, 13, 99, 1 << 30, -(1 << 30)};

    ck_assert_int_eq(SAP_INVALID_DATA, SAP_INVALID);
    for (int i = 0; i < COUNT; i++) {
        ck_assert_int_eq(codes[i], i);
        ck_assert_ptr_nonnull(sap_strerror(i));
        ck_assert_uint_gt(strlen(sap_strerror(i)), 0);
        for (int j = 0; j < i; j++) {
            ck_assert_str_ne(sap_strerror(i), sap_strerror(j));
        }
    }
    ck_assert_str_eq(sap_strerror(SAP_OK), "success");
    ck_assert_str_eq(sap_strerror(SAP_NOMEM), "out of memory");
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        ck_assert_ptr_nonnull(sap_strerror(unknown[i]));
        ck_assert_str_eq(sap_strerror(unknown[i]), sap_strerror(12345));
        for (int j = 0; j < COUNT; j++) {
            ck_assert_str_ne(sap_strerror(unknown[i]), sap_strerror(j));
        }
    }
}
END_TEST

/* ---- Opening and closing -------------------------------------------------------------------- */

START_TEST(db_open_refuses_page_sizes_out_of_range)
{
    size_t live = mem_live_total();
    static const uint32_t bad[] = {1, 16, 255, 65536, 1u << 20, UINT32_MAX};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_ptr_null(sap_db_open(NULL, bad[i], NULL, NULL));
        ck_assert_ptr_null(sap_env_create(NULL, bad[i]));
    }
    ck_assert_uint_eq(mem_live_total(), live);
}
END_TEST

START_TEST(db_open_refuses_a_page_size_above_that_of_the_arena)
{
    Backing backing;

    backing_open(&backing, BACKING_MALLOC, 1024, 0);
    ck_assert_ptr_null(sap_db_open(backing.arena, 2048, NULL, NULL));
    ck_assert_ptr_null(sap_db_open(backing.arena, 128, NULL, NULL));
    ck_assert_ptr_null(sap_env_create(backing.arena, 4096));
    backing_close(&backing);
}
END_TEST

START_TEST(calls_on_no_db_are_errors)
{
    SapStat stat;
    SapTxnCtx *txn = NULL;
    void *state = NULL;
    SapSubsystemCallbacks callbacks;

    memset(&callbacks, 0, sizeof callbacks);
    ck_assert_int_eq(sap_db_close(NULL), SAP_OK);
    ck_assert_int_eq(sap_env_destroy(NULL), SAP_OK);
    ck_assert_int_eq(sap_db_stat(NULL, &stat), SAP_ERROR);
    ck_assert_int_eq(sap_db_sync(NULL), SAP_ERROR);
    ck_assert_int_eq(sap_db_wait_durable(NULL, 0), SAP_ERROR);
    ck_assert_int_eq(sap_db_verify(NULL, NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_dbi_open(NULL, 1, NULL, NULL, 0), SAP_ERROR);
    ck_assert_int_eq(sap_btree_subsystem_init(NULL, NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_txn_begin_rc(NULL, NULL, 0, &txn), SAP_ERROR);
    ck_assert_ptr_null(sap_txn_begin(NULL, NULL, 0));
    ck_assert_ptr_null(sap_env_get_arena(NULL));
    ck_assert_uint_eq(sap_env_get_page_size(NULL), 0);
    ck_assert_uint_eq(sap_db_num_pages(NULL), 0);
    ck_assert_uint_eq(sap_db_durable_lsn(NULL), 0);
    ck_assert_int_eq(sap_env_register_subsystem(NULL, 5, &callbacks), SAP_ERROR);
    ck_assert_int_eq(sap_env_subsystem_state(NULL, 5, &state), SAP_ERROR);
    ck_assert_int_eq(sap_env_set_subsystem_state(NULL, 5, NULL), SAP_ERROR);
}
END_TEST

static int never_called(const SapReaderInfo *info, void *ctx)
{
    (void)info;
    (void)ctx;
    ck_abort_msg("called without a reader");
    return 0;
}

START_TEST(missing_out_parameters_of_the_db_are_errors)
{
    ck_assert_int_eq(sap_db_stat(fx.db, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_db_readers(fx.db, NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_db_readers(NULL, never_called, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_txn_begin_rc(fx.db, NULL, 0, NULL), SAP_ERROR);
    /* The writer lock was not left behind. */
    sap_txn_abort(begin(0));
}
END_TEST

START_TEST(a_db_with_an_open_transaction_cannot_be_closed)
{
    SapTxnCtx *writer = begin(0);

    ck_assert_int_eq(sap_db_close(fx.db), SAP_BUSY);
    ck_assert_int_eq(sap_env_destroy(fx.db), SAP_BUSY);
    SapTxnCtx *child = begin_child(writer, 0);
    ck_assert_int_eq(sap_db_close(fx.db), SAP_BUSY);
    sap_txn_abort(child);
    expect_unchanged(writer);
    sap_txn_abort(writer);

    SapTxnCtx *reader = begin(SAP_TXN_RDONLY);
    ck_assert_int_eq(sap_db_close(fx.db), SAP_BUSY);
    ck_assert_int_eq(sap_env_destroy(fx.db), SAP_BUSY);
    expect_unchanged(reader);
    sap_txn_abort(reader);
}
END_TEST

/* ---- Tables --------------------------------------------------------------------------------- */

START_TEST(dbi_open_refuses_bad_numbers_and_flags)
{
    static const unsigned unknown[] = {0x100, 0x8000, 1u << 31, UINT32_MAX};

    ck_assert_int_eq(sap_dbi_open(fx.db, SAP_MAX_DBI + 1, NULL, NULL, 0), SAP_ERROR);
    ck_assert_int_eq(sap_dbi_open(fx.db, UINT32_MAX, NULL, NULL, 0), SAP_ERROR);
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        ck_assert_int_eq(sap_dbi_open(fx.db, 9, NULL, NULL, unknown[i]), SAP_ERROR);
    }
    SapTxnCtx *txn = begin(0);
    ck_assert_int_eq(sap_txn_put_dbi(txn, 9, "k", 1, "v", 1), SAP_ERROR);
    sap_txn_abort(txn);
}
END_TEST

START_TEST(dbi_open_again_must_be_with_the_same_comparator)
{
    sap_keycmp_fn reverse = order_cmp(ORDER_REVERSE);
    void *ctx = order_ctx(ORDER_REVERSE);

    ck_assert_int_eq(sap_dbi_open(fx.db, 4, reverse, ctx, 0), SAP_OK);
    ck_assert_int_eq(sap_dbi_open(fx.db, 4, reverse, ctx, 0), SAP_OK);
    ck_assert_int_eq(sap_dbi_open(fx.db, 4, NULL, NULL, 0), SAP_ERROR);
    ck_assert_int_eq(sap_dbi_open(fx.db, 4, reverse, NULL, 0), SAP_ERROR);
    ck_assert_int_eq(sap_dbi_open(fx.db, 4, order_cmp(ORDER_LENGTH), ctx, 0), SAP_ERROR);
    ck_assert_int_eq(sap_dbi_open(fx.db, 3, reverse, ctx, 0), SAP_ERROR);
    ck_assert_int_eq(sap_dbi_open(fx.db, 0, reverse, ctx, 0), SAP_ERROR);
    ck_assert_int_eq(sap_dbi_open(fx.db, 0, NULL, NULL, 0), SAP_OK);

    SapTxnCtx *txn = begin(0);
    ck_assert_int_eq(sap_txn_put_dbi(txn, 4, "a", 1, "", 0), SAP_OK);
    ck_assert_int_eq(sap_txn_put_dbi(txn, 4, "b", 1, "", 0), SAP_OK);
    SapCursor *cur = sap_cursor_open_dbi(txn, 4);
    const void *key = NULL;
    uint32_t key_len = 0;
    ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
    ck_assert_int_eq(sap_cursor_get_key(cur, &key, &key_len), SAP_OK);
    ck_assert_mem_eq(key, "b", 1);
    sap_cursor_close(cur);
    sap_txn_abort(txn);
}
END_TEST

START_TEST(dbi_open_of_a_new_table_is_busy_while_a_transaction_is_open)
{
    static const unsigned flags[] = {0, SAP_TXN_RDONLY};

    for (size_t i = 0; i < 2; i++) {
        SapTxnCtx *txn = begin(flags[i]);
        ck_assert_int_eq(sap_dbi_open(fx.db, 8, NULL, NULL, 0), SAP_BUSY);
        ck_assert_int_eq(sap_dbi_open(fx.db, 3, NULL, NULL, 0), SAP_OK);
        ck_assert_int_eq(sap_dbi_open(fx.db, 0, NULL, NULL, 0), SAP_OK);
        const void *val;
        uint32_t val_len;
        ck_assert_int_eq(sap_txn_get_dbi(txn, 8, "k", 1, &val, &val_len), SAP_ERROR);
        sap_txn_abort(txn);
    }
    ck_assert_int_eq(sap_dbi_open(fx.db, 8, NULL, NULL, 0), SAP_OK);
}
END_TEST

START_TEST(tables_can_be_added_to_an_environment_once)
{
    ck_assert_int_eq(sap_btree_subsystem_init(fx.db, NULL, NULL), SAP_EXISTS);

    SapEnv *env = sap_env_create(NULL, PAGE);
    ck_assert_ptr_nonnull(env);
    SapTxnCtx *txn = NULL;
    ck_assert_int_eq(sap_txn_begin_rc(env, NULL, 0, &txn), SAP_OK);
    ck_assert_int_eq(sap_btree_subsystem_init(env, NULL, NULL), SAP_BUSY);
    sap_txn_abort(txn);
    ck_assert_int_eq(sap_btree_subsystem_init(env, NULL, NULL), SAP_OK);
    ck_assert_int_eq(sap_btree_subsystem_init(env, NULL, NULL), SAP_EXISTS);
    ck_assert_int_eq(sap_txn_begin_rc(env, NULL, 0, &txn), SAP_OK);
    ck_assert_int_eq(sap_txn_put(txn, "k", 1, "v", 1), SAP_OK);
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
    ck_assert_int_eq(sap_env_destroy(env), SAP_OK);
}
END_TEST

START_TEST(rows_of_an_environment_without_tables_are_errors)
{
    SapEnv *env = sap_env_create(NULL, PAGE);
    SapTxnCtx *txn = NULL;
    SapStat stat;
    uint64_t count;
    const void *val;
    uint32_t val_len;

    ck_assert_ptr_nonnull(env);
    ck_assert_int_eq(sap_dbi_open(env, 1, NULL, NULL, 0), SAP_ERROR);
    ck_assert_int_eq(sap_txn_begin_rc(env, NULL, 0, &txn), SAP_OK);
    ck_assert_int_eq(sap_txn_put(txn, "k", 1, "v", 1), SAP_ERROR);
    ck_assert_int_eq(sap_txn_get(txn, "k", 1, &val, &val_len), SAP_ERROR);
    ck_assert_int_eq(sap_txn_del(txn, "k", 1), SAP_ERROR);
    ck_assert_int_eq(sap_txn_stat(txn, &stat), SAP_ERROR);
    ck_assert_int_eq(sap_txn_count_range(txn, 0, NULL, 0, NULL, 0, &count), SAP_ERROR);
    ck_assert_ptr_null(sap_cursor_open(txn));
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
    ck_assert_int_eq(sap_env_destroy(env), SAP_OK);
}
END_TEST

/* ---- Beginning and ending ------------------------------------------------------------------- */

START_TEST(begin_refuses_unknown_flags)
{
    SapTxnCtx *txn = NULL;

    ck_assert_int_eq(sap_txn_begin_rc(fx.db, NULL, 0x100, &txn), SAP_ERROR);
    ck_assert_int_eq(sap_txn_begin_rc(fx.db, NULL, UINT32_MAX, &txn), SAP_ERROR);
    ck_assert_int_eq(sap_txn_begin_rc(fx.db, NULL, SAP_TXN_RDONLY | 0x4000, &txn), SAP_ERROR);
    ck_assert_ptr_null(sap_txn_begin(fx.db, NULL, 0x100));
    ck_assert_ptr_null(txn);
    SapTxnCtx *parent = begin(0);
    ck_assert_int_eq(sap_txn_begin_rc(fx.db, parent, 0x100, &txn), SAP_ERROR);
    expect_unchanged(parent);
    sap_txn_abort(parent);
}
END_TEST

START_TEST(a_second_writer_is_busy)
{
    SapTxnCtx *writer = begin(0);
    SapTxnCtx *txn = NULL;

    ck_assert_int_eq(sap_txn_begin_rc(fx.db, NULL, 0, &txn), SAP_BUSY);
    ck_assert_ptr_null(txn);
    ck_assert_ptr_null(sap_txn_begin(fx.db, NULL, 0));
    expect_unchanged(writer);
    sap_txn_abort(writer);
}
END_TEST

START_TEST(a_parent_of_another_db_is_an_error)
{
    SapEnv *other = sap_db_open(NULL, PAGE, NULL, NULL);
    SapTxnCtx *parent = NULL;
    SapTxnCtx *txn = NULL;

    ck_assert_int_eq(sap_txn_begin_rc(other, NULL, 0, &parent), SAP_OK);
    ck_assert_int_eq(sap_txn_begin_rc(fx.db, parent, 0, &txn), SAP_ERROR);
    ck_assert_int_eq(sap_txn_begin_rc(fx.db, parent, SAP_TXN_RDONLY, &txn), SAP_ERROR);
    ck_assert_ptr_null(txn);
    sap_txn_abort(parent);
    ck_assert_int_eq(sap_db_close(other), SAP_OK);
}
END_TEST

START_TEST(a_write_child_of_a_reader_is_readonly)
{
    SapTxnCtx *reader = begin(SAP_TXN_RDONLY);
    SapTxnCtx *txn = NULL;

    ck_assert_int_eq(sap_txn_begin_rc(fx.db, reader, 0, &txn), SAP_READONLY);
    ck_assert_ptr_null(txn);
    ck_assert_ptr_null(sap_txn_begin(fx.db, reader, 0));
    expect_unchanged(reader);
    SapTxnCtx *child = begin_child(reader, SAP_TXN_RDONLY);
    ck_assert_int_eq(sap_txn_begin_rc(fx.db, child, 0, &txn), SAP_READONLY);
    sap_txn_abort(child);
    sap_txn_abort(reader);

    SapTxnCtx *writer = begin(0);
    child = begin_child(writer, SAP_TXN_RDONLY);
    ck_assert_int_eq(sap_txn_begin_rc(fx.db, child, 0, &txn), SAP_READONLY);
    sap_txn_abort(writer);
}
END_TEST

START_TEST(a_parent_with_an_open_child_is_busy)
{
    static const unsigned kinds[] = {0, SAP_TXN_RDONLY};
    SapTxnCtx *parent = begin(0);
    SapCursor *cur = sap_cursor_open(parent);
    const void *val = NULL;
    uint32_t val_len = 0;
    uint64_t count = 0;
    void *room = NULL;
    SapStat stat;

    ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
    for (size_t i = 0; i < 2; i++) {
        SapTxnCtx *child = begin_child(parent, kinds[i]);
        SapTxnCtx *second = NULL;
        ck_assert_int_eq(sap_txn_begin_rc(fx.db, parent, 0, &second), SAP_BUSY);
        ck_assert_int_eq(sap_txn_begin_rc(fx.db, parent, SAP_TXN_RDONLY, &second), SAP_BUSY);
        ck_assert_ptr_null(second);
        ck_assert_int_eq(sap_txn_commit(parent), SAP_BUSY);
        ck_assert_int_eq(sap_txn_commit_async(parent, &count), SAP_BUSY);
        ck_assert_int_eq(sap_txn_put(parent, "k", 1, "v", 1), SAP_BUSY);
        ck_assert_int_eq(sap_txn_put_dbi(parent, 3, "k", 1, "v", 1), SAP_BUSY);
        ck_assert_int_eq(sap_txn_put_flags(parent, "k", 1, NULL, 1, SAP_RESERVE, &room), SAP_BUSY);
        ck_assert_int_eq(sap_txn_get(parent, "a", 1, &val, &val_len), SAP_BUSY);
        ck_assert_int_eq(sap_txn_get_dbi(parent, 3, "a", 1, &val, &val_len), SAP_BUSY);
        ck_assert_int_eq(sap_txn_del(parent, "a", 1), SAP_BUSY);
        ck_assert_int_eq(sap_txn_del_dbi(parent, 3, "a", 1), SAP_BUSY);
        ck_assert_int_eq(sap_txn_count_range(parent, 0, NULL, 0, NULL, 0, &count), SAP_BUSY);
        ck_assert_int_eq(sap_txn_stat(parent, &stat), SAP_BUSY);
        ck_assert_int_eq(sap_dbi_stat(parent, 3, &stat), SAP_BUSY);
        ck_assert_int_eq(sap_cursor_first(cur), SAP_BUSY);
        ck_assert_int_eq(sap_cursor_last(cur), SAP_BUSY);
        ck_assert_int_eq(sap_cursor_next(cur), SAP_BUSY);
        ck_assert_int_eq(sap_cursor_prev(cur), SAP_BUSY);
        ck_assert_int_eq(sap_cursor_seek(cur, "a", 1), SAP_BUSY);
        ck_assert_int_eq(sap_cursor_seek_nth(cur, 0), SAP_BUSY);
        ck_assert_int_eq(sap_cursor_rank(cur, &count), SAP_BUSY);
        ck_assert_int_eq(sap_cursor_get(cur, NULL, NULL, &val, &val_len), SAP_BUSY);
        ck_assert_int_eq(sap_cursor_get_key(cur, &val, &val_len), SAP_BUSY);
        ck_assert_int_eq(sap_cursor_put(cur, "v", 1, 0), SAP_BUSY);
        ck_assert_int_eq(sap_cursor_del(cur), SAP_BUSY);
        expect_unchanged(child);
        ck_assert_int_eq(sap_txn_commit(child), SAP_OK);
        expect_unchanged(parent);
        ck_assert_int_eq(sap_cursor_get_key(cur, &val, &val_len), SAP_OK);
        ck_assert_mem_eq(val, "a", 1);
    }
    sap_cursor_close(cur);
    sap_txn_abort(parent);
}
END_TEST

START_TEST(calls_on_no_transaction_are_errors)
{
    const void *val = NULL;
    uint32_t val_len = 0;
    uint64_t count = 0;
    void *state = NULL;
    SapStat stat;

    sap_txn_abort(NULL);
    ck_assert_int_eq(sap_txn_commit(NULL), SAP_ERROR);
    ck_assert_int_eq(sap_txn_commit_async(NULL, &count), SAP_ERROR);
    ck_assert_int_eq(sap_txn_get(NULL, "a", 1, &val, &val_len), SAP_ERROR);
    ck_assert_int_eq(sap_txn_get_dbi(NULL, 0, "a", 1, &val, &val_len), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put(NULL, "a", 1, "v", 1), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_dbi(NULL, 0, "a", 1, "v", 1), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_flags(NULL, "a", 1, "v", 1, 0, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_flags_dbi(NULL, 0, "a", 1, "v", 1, 0, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_txn_del(NULL, "a", 1), SAP_ERROR);
    ck_assert_int_eq(sap_txn_del_dbi(NULL, 0, "a", 1), SAP_ERROR);
    ck_assert_int_eq(sap_txn_count_range(NULL, 0, NULL, 0, NULL, 0, &count), SAP_ERROR);
    ck_assert_int_eq(sap_txn_stat(NULL, &stat), SAP_ERROR);
    ck_assert_int_eq(sap_dbi_stat(NULL, 0, &stat), SAP_ERROR);
    ck_assert_ptr_null(sap_cursor_open(NULL));
    ck_assert_ptr_null(sap_cursor_open_dbi(NULL, 0));
    ck_assert_ptr_null(sap_txn_scratch_alloc(NULL, 10));
    ck_assert_ptr_null(sap_txn_arena(NULL));
    ck_assert_ptr_null(sap_txn_env(NULL));
    ck_assert_uint_eq(sap_txn_flags(NULL), 0);
    ck_assert_uint_eq(sap_txn_base_lsn(NULL), 0);
    ck_assert_int_eq(sap_txn_subsystem_state(NULL, 0, &state), SAP_ERROR);
    ck_assert_int_eq(sap_txn_set_subsystem_state(NULL, 0, NULL), SAP_ERROR);
}
END_TEST

/* Every call on a transaction that has just ended. */
static void expect_ended(SapTxnCtx *txn)
{
    const void *val = NULL;
    uint32_t val_len = 0;
    uint64_t count = 0;
    SapTxnCtx *child = NULL;
    SapStat stat;

    ck_assert_int_eq(sap_txn_commit(txn), SAP_ERROR);
    ck_assert_int_eq(sap_txn_commit_async(txn, &count), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put(txn, "k", 1, "v", 1), SAP_ERROR);
    ck_assert_int_eq(sap_txn_get(txn, "a", 1, &val, &val_len), SAP_ERROR);
    ck_assert_int_eq(sap_txn_del(txn, "a", 1), SAP_ERROR);
    ck_assert_int_eq(sap_txn_count_range(txn, 0, NULL, 0, NULL, 0, &count), SAP_ERROR);
    ck_assert_int_eq(sap_txn_stat(txn, &stat), SAP_ERROR);
    ck_assert_ptr_null(sap_cursor_open(txn));
    ck_assert_int_eq(sap_txn_begin_rc(fx.db, txn, 0, &child), SAP_ERROR);
    ck_assert_ptr_null(child);
}

START_TEST(calls_on_a_transaction_that_has_just_ended_are_errors)
{
    static const unsigned kinds[] = {0, SAP_TXN_RDONLY};

    for (size_t i = 0; i < 2; i++) {
        SapTxnCtx *txn = begin(kinds[i]);
        ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
        expect_ended(txn);
        txn = begin(kinds[i]);
        sap_txn_abort(txn);
        expect_ended(txn);
        SapTxnCtx *parent = begin(0);
        txn = begin_child(parent, kinds[i]);
        ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
        expect_ended(txn);
        expect_unchanged(parent);
        sap_txn_abort(parent);
    }
}
END_TEST

START_TEST(a_cursor_whose_transaction_has_ended_is_an_error_until_it_is_renewed)
{
    static const unsigned kinds[] = {0, SAP_TXN_RDONLY};

    for (size_t i = 0; i < 4; i++) {
        SapTxnCtx *txn = begin(kinds[i % 2]);
        SapCursor *cur = sap_cursor_open(txn);
        const void *val = NULL;
        uint32_t val_len = 0;
        uint64_t rank = 0;
        ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
        if (i < 2) {
            ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
        } else {
            sap_txn_abort(txn);
        }
        ck_assert_int_eq(sap_cursor_first(cur), SAP_ERROR);
        ck_assert_int_eq(sap_cursor_last(cur), SAP_ERROR);
        ck_assert_int_eq(sap_cursor_next(cur), SAP_ERROR);
        ck_assert_int_eq(sap_cursor_prev(cur), SAP_ERROR);
        ck_assert_int_eq(sap_cursor_seek(cur, "a", 1), SAP_ERROR);
        ck_assert_int_eq(sap_cursor_seek_nth(cur, 0), SAP_ERROR);
        ck_assert_int_eq(sap_cursor_rank(cur, &rank), SAP_ERROR);
        ck_assert_int_eq(sap_cursor_get(cur, &val, &val_len, NULL, NULL), SAP_ERROR);
        ck_assert_int_eq(sap_cursor_get_key(cur, &val, &val_len), SAP_ERROR);
        ck_assert_int_eq(sap_cursor_put(cur, "v", 1, 0), SAP_ERROR);
        ck_assert_int_eq(sap_cursor_del(cur), SAP_ERROR);
        txn = begin(SAP_TXN_RDONLY);
        ck_assert_int_eq(sap_cursor_renew(cur, txn), SAP_OK);
        ck_assert_int_eq(sap_cursor_get_key(cur, &val, &val_len), SAP_NOTFOUND);
        ck_assert_int_eq(sap_cursor_last(cur), SAP_OK);
        sap_txn_abort(txn);
        sap_cursor_close(cur);
    }
}
END_TEST

/* ---- Rows ----------------------------------------------------------------------------------- */

START_TEST(writes_through_a_reader_are_readonly)
{
    SapTxnCtx *writer = begin(0);
    SapTxnCtx *readers[3];

    readers[0] = begin_child(writer, SAP_TXN_RDONLY);
    readers[1] = begin(SAP_TXN_RDONLY);
    readers[2] = begin(SAP_TXN_RDONLY | SAP_TXN_NEWEST);
    for (size_t i = 0; i < 3; i++) {
        SapTxnCtx *txn = readers[i];
        void *room = NULL;
        ck_assert_int_eq(sap_txn_put(txn, "k", 1, "v", 1), SAP_READONLY);
        ck_assert_int_eq(sap_txn_put_dbi(txn, 3, "k", 1, "v", 1), SAP_READONLY);
        ck_assert_int_eq(sap_txn_put_flags(txn, "k", 1, "v", 1, SAP_NOOVERWRITE, NULL),
                         SAP_READONLY);
        ck_assert_int_eq(sap_txn_put_flags_dbi(txn, 3, "k", 1, NULL, 1, SAP_RESERVE, &room),
                         SAP_READONLY);
        ck_assert_int_eq(sap_txn_del(txn, "a", 1), SAP_READONLY);
        ck_assert_int_eq(sap_txn_del_dbi(txn, 3, "a", 1), SAP_READONLY);
        SapCursor *cur = sap_cursor_open(txn);
        ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
        ck_assert_int_eq(sap_cursor_put(cur, "v", 1, 0), SAP_READONLY);
        ck_assert_int_eq(sap_cursor_del(cur), SAP_READONLY);
        sap_cursor_close(cur);
        expect_unchanged(txn);
    }
    sap_txn_abort(readers[1]);
    sap_txn_abort(readers[2]);
    sap_txn_abort(writer);
}
END_TEST

START_TEST(tables_that_are_not_open_are_errors)
{
    static const uint32_t bad[] = {1, 2, 4, SAP_MAX_DBI, SAP_MAX_DBI + 1, UINT32_MAX};
    static const unsigned kinds[] = {0, SAP_TXN_RDONLY};

    for (size_t k = 0; k < 2; k++) {
        SapTxnCtx *txn = begin(kinds[k]);
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            const void *val = NULL;
            uint32_t val_len = 0;
            uint64_t count = 0;
            void *room = NULL;
            SapStat stat;
            ck_assert_int_eq(sap_txn_get_dbi(txn, bad[i], "a", 1, &val, &val_len), SAP_ERROR);
            ck_assert_int_eq(sap_txn_count_range(txn, bad[i], NULL, 0, NULL, 0, &count), SAP_ERROR);
            ck_assert_int_eq(sap_dbi_stat(txn, bad[i], &stat), SAP_ERROR);
            ck_assert_ptr_null(sap_cursor_open_dbi(txn, bad[i]));
            if (kinds[k] == SAP_TXN_RDONLY) {
                continue;
            }
            ck_assert_int_eq(sap_txn_put_dbi(txn, bad[i], "a", 1, "v", 1), SAP_ERROR);
            ck_assert_int_eq(
                sap_txn_put_flags_dbi(txn, bad[i], "a", 1, NULL, 1, SAP_RESERVE, &room), SAP_ERROR);
            ck_assert_int_eq(sap_txn_del_dbi(txn, bad[i], "a", 1), SAP_ERROR);
        }
        expect_unchanged(txn);
        sap_txn_abort(txn);
    }
}
END_TEST

START_TEST(a_missing_key_or_value_with_a_length_is_an_error)
{
    SapTxnCtx *txn = begin(0);
    const void *val = NULL;
    uint32_t val_len = 0;
    uint64_t count = 0;
    SapCursor *cur = sap_cursor_open(txn);

    ck_assert_int_eq(sap_txn_put(txn, NULL, 1, "v", 1), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put(txn, "k", 1, NULL, 1), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_dbi(txn, 3, NULL, 1, "v", 1), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_dbi(txn, 3, "k", 1, NULL, 1), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_flags(txn, "k", 1, NULL, 1, SAP_NOOVERWRITE, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_txn_get(txn, NULL, 1, &val, &val_len), SAP_ERROR);
    ck_assert_int_eq(sap_txn_del(txn, NULL, 1), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_seek(cur, NULL, 1), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
    ck_assert_int_eq(sap_cursor_put(cur, NULL, 1, 0), SAP_ERROR);
    ck_assert_int_eq(sap_txn_count_range(txn, 0, NULL, 0, NULL, 0, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_txn_stat(txn, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_dbi_stat(txn, 3, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_rank(cur, NULL), SAP_ERROR);
    sap_cursor_close(cur);
    expect_unchanged(txn);

    /* Nothing is a key and a value when its length is 0. */
    ck_assert_int_eq(sap_txn_get(txn, NULL, 0, &val, &val_len), SAP_NOTFOUND);
    ck_assert_int_eq(sap_txn_put(txn, NULL, 0, NULL, 0), SAP_OK);
    ck_assert_int_eq(sap_txn_get(txn, "", 0, &val, &val_len), SAP_OK);
    ck_assert_uint_eq(val_len, 0);
    ck_assert_int_eq(sap_txn_count_range(txn, 0, "", 0, "a", 1, &count), SAP_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(sap_txn_count_range(txn, 0, NULL, 0, "", 0, &count), SAP_OK);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(sap_txn_del(txn, NULL, 0), SAP_OK);
    expect_unchanged(txn);
    sap_txn_abort(txn);
}
END_TEST

START_TEST(put_refuses_flags_that_do_not_fit)
{
    static const unsigned unknown[] = {0x100, 0x8000, 1u << 31, UINT32_MAX};
    SapTxnCtx *txn = begin(0);
    void *room = NULL;
    SapCursor *cur = sap_cursor_open(txn);

    ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        ck_assert_int_eq(sap_txn_put_flags(txn, "k", 1, "v", 1, unknown[i], NULL), SAP_ERROR);
        ck_assert_int_eq(sap_txn_put_flags_dbi(txn, 3, "k", 1, "v", 1, unknown[i], &room),
                         SAP_ERROR);
        ck_assert_int_eq(sap_cursor_put(cur, "v", 1, unknown[i]), SAP_ERROR);
    }
    ck_assert_int_eq(sap_cursor_put(cur, "v", 1, SAP_NOOVERWRITE), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_put(cur, "v", 1, SAP_RESERVE), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_flags(txn, "k", 1, NULL, 1, SAP_RESERVE, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_flags(txn, "k", 1, "v", 1, 0, &room), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_flags(txn, "k", 1, "v", 1, SAP_NOOVERWRITE, &room), SAP_ERROR);
    ck_assert_ptr_null(room);
    sap_cursor_close(cur);
    expect_unchanged(txn);
    sap_txn_abort(txn);
}
END_TEST

START_TEST(a_reserve_that_would_not_lie_in_a_leaf_is_an_error)
{
    SapTxnCtx *txn = begin(0);
    void *room = NULL;

    ck_assert_int_eq(sap_txn_put_flags(txn, "k", 1, NULL, PAGE, SAP_RESERVE, &room), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_flags(txn, "a", 1, NULL, 100000, SAP_RESERVE, &room), SAP_ERROR);
    ck_assert_ptr_null(room);
    int rc = sap_txn_put_flags(txn, "k", 1, NULL, SAP_MAX_VAL_LEN + 1, SAP_RESERVE, &room);
    ck_assert(rc == SAP_ERROR || rc == SAP_FULL);
    expect_unchanged(txn);
    sap_txn_abort(txn);
}
END_TEST

START_TEST(an_existing_key_is_not_overwritten_when_so_asked)
{
    SapTxnCtx *txn = begin(0);
    void *room = NULL;

    ck_assert_int_eq(sap_txn_put_flags(txn, "a", 1, "v", 1, SAP_NOOVERWRITE, NULL), SAP_EXISTS);
    ck_assert_int_eq(sap_txn_put_flags(txn, "a", 1, NULL, 1, SAP_NOOVERWRITE | SAP_RESERVE, &room),
                     SAP_EXISTS);
    ck_assert_ptr_null(room);
    expect_unchanged(txn);
    sap_txn_abort(txn);
}
END_TEST

START_TEST(keys_above_their_limit_are_full)
{
    SapTxnCtx *txn = begin(0);
    static const uint32_t bad[] = {PAGE / 2 + 1,       PAGE, PAGE + 1, 5000, SAP_MAX_KEY_LEN,
                                   SAP_MAX_KEY_LEN + 1};
    void *room = NULL;

    memset(long_key, 'k', sizeof long_key);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_int_eq(sap_txn_put(txn, long_key, bad[i], "", 0), SAP_FULL);
        ck_assert_int_eq(sap_txn_put(txn, long_key, bad[i], long_key, sizeof long_key), SAP_FULL);
        ck_assert_int_eq(sap_txn_put_flags(txn, long_key, bad[i], "", 0, SAP_NOOVERWRITE, NULL),
                         SAP_FULL);
        int rc = sap_txn_put_flags(txn, long_key, bad[i], NULL, 1, SAP_RESERVE, &room);
        ck_assert(rc == SAP_FULL || rc == SAP_ERROR);
        const void *val = NULL;
        uint32_t val_len = 0;
        rc = sap_txn_get(txn, long_key, bad[i], &val, &val_len);
        ck_assert(rc == SAP_NOTFOUND || rc == SAP_FULL);
        rc = sap_txn_del(txn, long_key, bad[i]);
        ck_assert(rc == SAP_NOTFOUND || rc == SAP_FULL);
    }
    expect_unchanged(txn);
    sap_txn_abort(txn);
}
END_TEST

START_TEST(values_above_a_gibibyte_are_full)
{
    SapTxnCtx *txn = begin(0);
    static const uint32_t bad[] = {SAP_MAX_VAL_LEN + 1, 1u << 31, UINT32_MAX};
    SapCursor *cur = sap_cursor_open(txn);

    ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_int_eq(sap_txn_put(txn, "k", 1, "v", bad[i]), SAP_FULL);
        ck_assert_int_eq(sap_txn_put_dbi(txn, 3, "a", 1, "v", bad[i]), SAP_FULL);
        ck_assert_int_eq(sap_cursor_put(cur, "v", bad[i], 0), SAP_FULL);
    }
    sap_cursor_close(cur);
    expect_unchanged(txn);
    sap_txn_abort(txn);
}
END_TEST

/* ---- Cursors -------------------------------------------------------------------------------- */

START_TEST(calls_on_no_cursor_are_errors)
{
    const void *val = NULL;
    uint32_t val_len = 0;
    uint64_t rank = 0;
    SapTxnCtx *txn = begin(SAP_TXN_RDONLY);

    sap_cursor_close(NULL);
    ck_assert_int_eq(sap_cursor_renew(NULL, txn), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_first(NULL), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_last(NULL), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_next(NULL), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_prev(NULL), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_seek(NULL, "a", 1), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_seek_nth(NULL, 0), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_rank(NULL, &rank), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_get(NULL, &val, &val_len, NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_get_key(NULL, &val, &val_len), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_put(NULL, "v", 1, 0), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_del(NULL), SAP_ERROR);
    sap_txn_abort(txn);
}
END_TEST

START_TEST(a_cursor_cannot_be_renewed_for_another_db)
{
    SapEnv *other = sap_db_open(NULL, PAGE, NULL, NULL);
    SapTxnCtx *txn = begin(0);
    SapTxnCtx *foreign = NULL;
    SapCursor *cur = sap_cursor_open(txn);
    const void *key = NULL;
    uint32_t key_len = 0;

    ck_assert_int_eq(sap_txn_begin_rc(other, NULL, 0, &foreign), SAP_OK);
    ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
    ck_assert_int_eq(sap_cursor_renew(cur, foreign), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_renew(cur, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_get_key(cur, &key, &key_len), SAP_OK);
    ck_assert_mem_eq(key, "a", 1);
    SapTxnCtx *child = begin_child(txn, 0);
    ck_assert_int_eq(sap_cursor_renew(cur, txn), SAP_BUSY);
    ck_assert_int_eq(sap_cursor_renew(cur, child), SAP_OK);
    ck_assert_int_eq(sap_cursor_next(cur), SAP_OK);
    sap_cursor_close(cur);
    sap_txn_abort(child);
    sap_txn_abort(foreign);
    sap_txn_abort(txn);
    ck_assert_int_eq(sap_db_close(other), SAP_OK);
}
END_TEST

START_TEST(a_cursor_on_no_row_has_nothing_to_get_change_or_rank)
{
    SapTxnCtx *txn = begin(0);
    SapCursor *cur = sap_cursor_open(txn);
    const void *key = &key;
    uint32_t key_len = 77;
    uint64_t rank = 99;

    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(sap_cursor_get(cur, &key, &key_len, NULL, NULL), SAP_NOTFOUND);
        ck_assert_int_eq(sap_cursor_get_key(cur, &key, &key_len), SAP_NOTFOUND);
        ck_assert_int_eq(sap_cursor_put(cur, "v", 1, 0), SAP_NOTFOUND);
        ck_assert_int_eq(sap_cursor_del(cur), SAP_NOTFOUND);
        ck_assert_int_eq(sap_cursor_rank(cur, &rank), SAP_NOTFOUND);
        ck_assert_int_eq(sap_cursor_seek(cur, "c", 1), SAP_NOTFOUND);
    }
    ck_assert(key == &key && key_len == 77 && rank == 99);
    sap_cursor_close(cur);
    expect_unchanged(txn);
    sap_txn_abort(txn);
}
END_TEST

/* ---- Subsystems ----------------------------------------------------------------------------- */

START_TEST(subsystems_with_bad_numbers_are_refused)
{
    SapSubsystemCallbacks callbacks;
    void *state = NULL;
    uint32_t id = 0;

    memset(&callbacks, 0, sizeof callbacks);
    ck_assert_int_eq(sap_env_register_subsystem(fx.db, SAP_MAX_SUBSYSTEMS, &callbacks), SAP_ERROR);
    ck_assert_int_eq(sap_env_register_subsystem(fx.db, UINT32_MAX, &callbacks), SAP_ERROR);
    ck_assert_int_eq(sap_env_register_subsystem(fx.db, 7, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_env_subsystem_state(fx.db, SAP_MAX_SUBSYSTEMS, &state), SAP_ERROR);
    ck_assert_int_eq(sap_env_set_subsystem_state(fx.db, SAP_MAX_SUBSYSTEMS, NULL), SAP_ERROR);
    while (id < SAP_MAX_SUBSYSTEMS &&
           sap_env_register_subsystem(fx.db, id, &callbacks) == SAP_EXISTS) {
        id++;
    }
    ck_assert_uint_lt(id, SAP_MAX_SUBSYSTEMS);
    ck_assert_int_eq(sap_env_register_subsystem(fx.db, id, &callbacks), SAP_EXISTS);
    ck_assert_int_eq(sap_env_subsystem_state(fx.db, id, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_env_subsystem_state(fx.db, id, &state), SAP_OK);
    ck_assert_ptr_null(state);

    SapTxnCtx *reader = begin(SAP_TXN_RDONLY);
    ck_assert_int_eq(sap_env_register_subsystem(fx.db, SAP_MAX_SUBSYSTEMS - 1, &callbacks),
                     SAP_BUSY);
    ck_assert_int_eq(sap_env_set_subsystem_state(fx.db, id, &callbacks), SAP_BUSY);
    ck_assert_int_eq(sap_txn_set_subsystem_state(reader, id, &callbacks), SAP_READONLY);
    ck_assert_int_eq(sap_txn_subsystem_state(reader, SAP_MAX_SUBSYSTEMS, &state), SAP_ERROR);
    ck_assert_int_eq(sap_txn_subsystem_state(reader, id, NULL), SAP_ERROR);
    sap_txn_abort(reader);
    SapTxnCtx *writer = begin(0);
    ck_assert_int_eq(sap_txn_set_subsystem_state(writer, SAP_MAX_SUBSYSTEMS, NULL), SAP_ERROR);
    sap_txn_abort(writer);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_misuse");
    TCase *bare = tcase_create("without a db");
    TCase *tcase = tcase_create("with a db");

    tcase_set_timeout(bare, TIMEOUT_S);
    tcase_add_test(bare, every_code_has_a_text_of_its_own_and_other_numbers_have_one_too);
    tcase_add_test(bare, db_open_refuses_page_sizes_out_of_range);
    tcase_add_test(bare, db_open_refuses_a_page_size_above_that_of_the_arena);
    tcase_add_test(bare, calls_on_no_db_are_errors);
    tcase_add_test(bare, calls_on_no_transaction_are_errors);
    tcase_add_test(bare, rows_of_an_environment_without_tables_are_errors);
    suite_add_tcase(suite, bare);

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, missing_out_parameters_of_the_db_are_errors);
    tcase_add_test(tcase, a_db_with_an_open_transaction_cannot_be_closed);
    tcase_add_test(tcase, dbi_open_refuses_bad_numbers_and_flags);
    tcase_add_test(tcase, dbi_open_again_must_be_with_the_same_comparator);
    tcase_add_test(tcase, dbi_open_of_a_new_table_is_busy_while_a_transaction_is_open);
    tcase_add_test(tcase, tables_can_be_added_to_an_environment_once);
    tcase_add_test(tcase, begin_refuses_unknown_flags);
    tcase_add_test(tcase, a_second_writer_is_busy);
    tcase_add_test(tcase, a_parent_of_another_db_is_an_error);
    tcase_add_test(tcase, a_write_child_of_a_reader_is_readonly);
    tcase_add_test(tcase, a_parent_with_an_open_child_is_busy);
    tcase_add_test(tcase, calls_on_a_transaction_that_has_just_ended_are_errors);
    tcase_add_test(tcase, a_cursor_whose_transaction_has_ended_is_an_error_until_it_is_renewed);
    tcase_add_test(tcase, writes_through_a_reader_are_readonly);
    tcase_add_test(tcase, tables_that_are_not_open_are_errors);
    tcase_add_test(tcase, a_missing_key_or_value_with_a_length_is_an_error);
    tcase_add_test(tcase, put_refuses_flags_that_do_not_fit);
    tcase_add_test(tcase, a_reserve_that_would_not_lie_in_a_leaf_is_an_error);
    tcase_add_test(tcase, an_existing_key_is_not_overwritten_when_so_asked);
    tcase_add_test(tcase, keys_above_their_limit_are_full);
    tcase_add_test(tcase, values_above_a_gibibyte_are_full);
    tcase_add_test(tcase, calls_on_no_cursor_are_errors);
    tcase_add_test(tcase, a_cursor_cannot_be_renewed_for_another_db);
    tcase_add_test(tcase, a_cursor_on_no_row_has_nothing_to_get_change_or_rank);
    tcase_add_test(tcase, subsystems_with_bad_numbers_are_refused);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
