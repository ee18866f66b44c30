#include "support/driver_internal.h"

#include "common/fault.h"
#include "common/mem.h"
#include "support/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const uint32_t driver_page_sizes[] = {256,  257,  300,   512,   1000, 1024,
                                      4096, 8192, 16384, 32768, 65535};
const uint32_t driver_page_size_count = sizeof driver_page_sizes / sizeof driver_page_sizes[0];

enum { REOPEN_ONE_IN = 150 };

/* ---- Faults --------------------------------------------------------------------------------- */

void driver_arm(Driver *d)
{
    uint32_t rate = d->config->fault_one_in;

    if (rate != 0 && one_in(d, rate)) {
        fault_reset();
        fault_arm_alloc(1 + below(d, 4));
        d->armed = true;
    }
}

bool driver_disarm(Driver *d, int rc)
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

static void op_stat(Driver *d, Chain *chain, Level *level)
{
    size_t table = some_table(d);
    SapStat stat;
    size_t count = table_of(level, table)->count;

    EXPECT_RC(sap_dbi_stat(level->txn, d->tables[table].dbi, &stat), SAP_OK);
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

/* False: an allocation was made to fail. */
static bool push_level(Driver *d, Chain *chain, bool readonly)
{
    SapTxnCtx *parent = chain->depth == 0 ? NULL : top_of(chain)->txn;
    const Model *base = chain->depth == 0 ? d->committed : top_of(chain)->model;
    SapTxnCtx *txn = NULL;
    unsigned flags = readonly ? SAP_TXN_RDONLY : parent == NULL && one_in(d, 4) ? SAP_TXN_WAIT : 0;

    driver_arm(d);
    int rc = sap_txn_begin_rc(d->db, parent, flags, &txn);
    if (driver_disarm(d, rc)) {
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
    level->touched = model_copy(d->no_rows);
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
            driver_track_close(orphan);
        }
        driver_place_off(&level->tracks[i], PLACE_NEVER);
        *orphan = level->tracks[i];
        level->tracks[i].cur = NULL;
    }
}

static void drop_level(Driver *d, Chain *chain)
{
    Level *level = top_of(chain);

    orphan_tracks(d, level);
    model_free(level->model);
    model_free(level->touched);
    level->model = NULL;
    level->touched = NULL;
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
    driver_expect_kept(level);
}

static void after_outer_commit(Driver *d, Model *now, const Model *touched)
{
    uint64_t txnid = newest_txnid(d);
    bool changed = !model_same(d->committed, now);

    EXPECT(changed ? txnid > d->txnid : txnid >= d->txnid, "a commit has id %llu after %llu",
           (unsigned long long)txnid, (unsigned long long)d->txnid);
    driver_expect_told(d, d->committed, now, touched);
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

static void merge_touched(Model *into, const Model *from)
{
    for (size_t i = 0; i < TABLES; i++) {
        for (size_t j = 0; j < from->tables[i].count; j++) {
            const ModelRow *row = from->tables[i].rows[j];
            model_put(&into->tables[i], row->bytes, row->key_len, NULL, 0);
        }
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
    const DriverObserver *observer =
        level->readonly || chain->depth > 1 ? NULL : d->config->observer;
    if (observer != NULL) {
        observer->committing(level->txn, observer->ctx);
    }
    driver_arm(d);
    int rc = async ? sap_txn_commit_async(level->txn, &lsn) : sap_txn_commit(level->txn);
    bool failed = driver_disarm(d, rc);
    EXPECT(failed || rc == SAP_OK, "commit answered %d", rc);
    if (failed || level->readonly) {
        drop_level(d, chain);
        driver_expect_told(d, NULL, NULL, NULL);
        return;
    }
    Model *now = level->model;
    Model *touched = level->touched;
    level->model = NULL;
    level->touched = NULL;
    drop_level(d, chain);
    if (chain->depth == 0) {
        if (async) {
            EXPECT_RC(sap_db_wait_durable(d->db, lsn), SAP_OK);
        }
        after_outer_commit(d, now, touched);
        if (observer != NULL) {
            observer->committed(d->db, d->replica, observer->ctx);
        }
    } else {
        model_free(top_of(chain)->model);
        top_of(chain)->model = now;
        merge_touched(top_of(chain)->touched, touched);
        driver_expect_told(d, NULL, NULL, NULL);
    }
    model_free(touched);
}

/* Aborts the level and all below it in one call. */
static void abort_from(Driver *d, Chain *chain, uint32_t depth)
{
    SapTxnCtx *txn = chain->levels[depth].txn;

    for (uint32_t i = depth; i < chain->depth; i++) {
        driver_expect_kept(&chain->levels[i]);
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
        EXPECT_RC(sap_txn_del_range(txn, 0, NULL, 0, NULL, 0, &count), SAP_BUSY);
        EXPECT_RC(sap_txn_put_if(txn, 0, "x", 1, "y", 1, "z", 1), SAP_BUSY);
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
    driver_track_close(orphan);
}

/* Calls on the DB while transactions are open. */
static void op_db(Driver *d)
{
    size_t table = below(d, TABLES);
    const Table *t = &d->tables[table];
    SapTxnCtx *txn = NULL;

    model_expect_verified(d->db);
    EXPECT_RC(sap_dbi_open(d->db, t->dbi, order_cmp(t->order), order_ctx(t->order), t->flags),
              SAP_OK);
    if (has_pairs(table)) {
        EXPECT_RC(sap_dbi_set_dupsort(d->db, t->dbi, order_cmp(t->value_order),
                                      order_ctx(t->value_order)),
                  SAP_OK);
        int rc = sap_dbi_set_dupsort(d->db, t->dbi, order_cmp(t->value_order), d);
        EXPECT(rc == SAP_BUSY || (d->config->path != NULL && rc == SAP_ERROR),
               "another order answered %d", rc);
    }
    EXPECT_RC(sap_db_restore(d->db, stream_read, &d->saved), SAP_BUSY);
    EXPECT_RC(sap_dbi_open(d->db, 500, NULL, NULL, 0), SAP_BUSY);
    EXPECT_RC(sap_db_close(d->db), SAP_BUSY);
    if (d->config->path == NULL || d->chains[WRITER].depth == 0) {
        EXPECT_RC(sap_db_sync(d->db), SAP_OK);
    }
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

/* Rare ones, which cost much or end soon. */
static void operate_rarely(Driver *d, Chain *chain, Level *level)
{
    switch (below(d, 8)) {
    case 0:
    case 1:
        driver_op_put_too_long(d, level);
        break;
    case 2:
    case 3:
        op_db(d);
        break;
    case 4:
        driver_op_protected(d, level);
        break;
    case 5:
        if (one_in(d, 2)) {
            bool here = level->readonly && one_in(d, 2);
            driver_op_stream(d, here ? level->txn : NULL, here ? level->model : d->committed);
        }
        break;
    default:
        op_stat(d, chain, level);
        break;
    }
}

static void operate(Driver *d)
{
    Chain *chain = &d->chains[one_in(d, 3) ? below(d, READERS) : WRITER];
    bool writer = chain == &d->chains[WRITER];

    if (chain->depth == 0) {
        if (one_in(d, 3)) {
            driver_op_watch(d, d->chains[WRITER].depth != 0);
        }
        push_level(d, chain, !writer);
        return;
    }
    Level *level = top_of(chain);
    switch (below(d, 28)) {
    case 0:
    case 1:
    case 2:
    case 3:
        driver_op_put(d, level);
        break;
    case 4:
        driver_op_put_run(d, level);
        break;
    case 5:
        driver_op_put_reserve(d, level);
        break;
    case 6:
    case 7:
        driver_op_del(d, level);
        break;
    case 8:
        driver_op_del_run(d, level);
        break;
    case 9:
        driver_op_get(d, level);
        break;
    case 10:
        driver_op_count(d, level);
        break;
    case 11:
        driver_op_del_range(d, level);
        break;
    case 12:
        driver_op_load(d, level);
        break;
    case 13:
        driver_op_put_if(d, level);
        break;
    case 14:
        driver_op_merge(d, level);
        break;
    case 15:
    case 16:
        driver_op_del_dup(d, level);
        break;
    case 17:
    case 18:
        driver_op_ttl(d, level);
        break;
    case 19:
        op_orphan(d, level);
        break;
    case 20:
        operate_rarely(d, chain, level);
        break;
    case 21:
    case 22:
    case 23:
    case 24:
    case 25:
        driver_cursor_operate(d, level);
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
        int rc = sap_txn_put_dbi(txn, d->tables[table].dbi, d->key, mid, "v", 1);
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

/* The longest key of a row that expires. */
static uint32_t find_max_ttl_key(Driver *d, SapTxnCtx *txn)
{
    uint32_t len = d->config->page_size;
    int rc = SAP_FULL;

    memset(d->key, 'm', len);
    while (rc == SAP_FULL) {
        len--;
        rc = sap_txn_put_ttl_dbi(txn, d->tables[TABLE_TTL].dbi, d->tables[TABLE_META].dbi, d->key,
                                 len, "v", 1, 1);
    }
    EXPECT_RC(rc, SAP_OK);
    return len;
}

static void choose_tables(Driver *d)
{
    static const uint32_t dbis[TABLES] = {0, 1, 7, 1023, 20, 21, 300, 301};

    for (size_t i = 0; i < TABLES; i++) {
        Table *t = &d->tables[i];
        t->dbi = dbis[i];
        t->order =
            i == TABLE_META ? ORDER_BYTES : (OrderKind)((d->config->order + i) % ORDER_COUNT);
        t->value_order = i == TABLE_PAIRS ? ORDER_BYTES : (OrderKind)((t->order + 2) % ORDER_COUNT);
        t->flags = has_pairs(i) ? SAP_DBI_DUPSORT : i == TABLE_META ? SAP_DBI_TTL_META : 0;
    }
}

static void make_models(Driver *d)
{
    d->committed = model_new();
    for (size_t i = 0; i < TABLES; i++) {
        const Table *t = &d->tables[i];
        model_add_table(d->committed, t->dbi, order_cmp(t->order), order_ctx(t->order));
        ModelTable *table = &d->committed->tables[i];
        table->dupsort = has_pairs(i);
        table->ttl_meta = i == TABLE_META;
        if (has_pairs(i)) {
            table->vcmp = order_cmp(t->value_order);
            table->vcmp_ctx = order_ctx(t->value_order);
        }
    }
    d->no_rows = model_copy(d->committed);
}

static void measure_limits(Driver *d)
{
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_txn_begin_rc(d->db, NULL, 0, &txn), SAP_OK);
    d->leaf_value = find_leaf_value(txn, d->config->page_size);
    for (size_t i = 0; i < TABLE_TTL; i++) {
        uint32_t longest = find_max_key(d, txn, i);
        d->tables[i].max_key = has_pairs(i) ? longest - 8 : longest;
        d->tables[i].max_pair = longest + 1;
    }
    d->tables[TABLE_TTL].max_key = find_max_ttl_key(d, txn);
    sap_txn_abort(txn);
}

static void open_file(Driver *d, unsigned flags)
{
    const DriverConfig *config = d->config;
    SapOpenOptions options = {.flags = flags,
                              .page_size = config->page_size,
                              .sync_mode = config->sync_mode,
                              .checkpoint_bytes = config->checkpoint_bytes,
                              .comparators = files_comparators(),
                              .comparator_count = ORDER_COUNT - 1,
                              .comparator = files_order_name(config->order)};

    EXPECT_RC(sap_db_open_path(config->path, &options, &d->db), SAP_OK);
}

static void open_db(Driver *d)
{
    const DriverConfig *config = d->config;

    if (config->path != NULL) {
        open_file(d, SAP_OPEN_CREATE | SAP_OPEN_EXCLUSIVE);
    } else {
        backing_open(&d->backing, config->backing, config->page_size, UINT64_C(256) << 20);
        d->db = sap_db_open(d->backing.arena, one_in(d, 2) ? 0 : config->page_size,
                            order_cmp(config->order), order_ctx(config->order));
    }
    EXPECT(d->db != NULL, "no DB");
    choose_tables(d);
    driver_open_tables(d, d->db);
    if (config->observer != NULL) {
        d->replica = sap_db_open(NULL, config->page_size, order_cmp(config->order),
                                 order_ctx(config->order));
        EXPECT(d->replica != NULL, "no second DB");
        driver_open_tables(d, d->replica);
        config->observer->opened(d->db, config->observer->ctx);
    }
    make_models(d);
    measure_limits(d);
    d->txnid = newest_txnid(d);
}

static void end_transactions(Driver *d)
{
    for (uint32_t i = 0; i < CHAINS; i++) {
        while (d->chains[i].depth != 0) {
            commit_top(d, &d->chains[i]);
        }
    }
    for (uint32_t i = 0; i < ORPHANS; i++) {
        if (d->orphans[i].cur != NULL) {
            driver_track_close(&d->orphans[i]);
        }
    }
    d->counts->rows += model_expect_committed(d->committed, d->db);
}

/* Watches go with the DB. */
static void open_file_again(Driver *d)
{
    end_transactions(d);
    EXPECT_RC(sap_db_close(d->db), SAP_OK);
    for (uint32_t i = 0; i < WATCHES; i++) {
        d->watched[i].on = false;
        events_clear(&d->watched[i].events);
    }
    open_file(d, 0);
    d->counts->rows += model_expect_committed(d->committed, d->db);
    d->counts->openings++;
    d->txnid = newest_txnid(d);
}

static void close_db(Driver *d)
{
    end_transactions(d);
    driver_restore_saved(d);
    EXPECT_RC(sap_db_close(d->db), SAP_OK);
    EXPECT_RC(sap_db_close(d->replica), SAP_OK);
    model_free(d->committed);
    model_free(d->no_rows);
    if (d->config->path == NULL) {
        backing_close(&d->backing);
    }
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
        if (config->path != NULL && one_in(d, REOPEN_ONE_IN)) {
            open_file_again(d);
        }
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
           "%llu children, %llu snapshots, %llu rows compared, %llu faults, %llu changes of pairs, "
           "%llu ranges, %llu loads, %llu merges, %llu rows expired, %llu events, %llu streams, "
           "%llu openings\n",
           name, (unsigned long long)counts->operations, (unsigned long long)counts->changes,
           (unsigned long long)counts->cursor_moves, (unsigned long long)counts->commits,
           (unsigned long long)counts->aborts, (unsigned long long)counts->children,
           (unsigned long long)counts->snapshots, (unsigned long long)counts->rows,
           (unsigned long long)counts->faults, (unsigned long long)counts->pairs,
           (unsigned long long)counts->ranges, (unsigned long long)counts->loads,
           (unsigned long long)counts->merges, (unsigned long long)counts->expiries,
           (unsigned long long)counts->events, (unsigned long long)counts->streams,
           (unsigned long long)counts->openings);
    fflush(stdout);
}
