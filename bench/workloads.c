/* workloads.c - the timed loops, and the table of them. */
#include "workloads.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    ROWS_PER_NESTED = 1000, /* nested transactions per part: one for so many rows, */
    MIN_NESTED = 500,       /* but at least */
    WALKS = 2,              /* ranges or keys walked per part */
    COUNTS = 5000,          /* the same, counted */
    DELETIONS = 5           /* ranges deleted from a table, each a tenth of it */
};

/* ---- Common to the loops ------------------------------------------------------------------------------ */

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int failed(const BenchAdapter *engine, const char *call, int rc)
{
    fprintf(stderr, "bench: %s: %s: %s\n", engine->name, call, engine->error_text(rc));
    return -1;
}

static int wrong(const BenchAdapter *engine, const char *what)
{
    fprintf(stderr, "bench: %s: wrong answer: %s\n", engine->name, what);
    return -1;
}

/* Where part `part` begins among the rows, and so where the one before ends. */
static uint64_t part_begin(const BenchData *data, unsigned part)
{
    return data->rows * part / BENCH_PARTS;
}

static int insert_rows(const BenchAdapter *engine, BenchDb *db, BenchTxn *txn,
                       const BenchData *data, uint64_t begin, uint64_t end)
{
    uint8_t val[BENCH_VAL_LEN];
    for (uint64_t i = begin; i < end; i++) {
        const uint8_t *key = data->keys + i * BENCH_KEY_LEN;
        bench_make_value(key, val);
        int rc = engine->put(db, txn, key, BENCH_KEY_LEN, val, BENCH_VAL_LEN);
        if (rc)
            return failed(engine, "put", rc);
    }
    return 0;
}

static int run_insert(const BenchAdapter *engine, BenchDb *db, const BenchData *data, unsigned part,
                      BenchFigure *figure)
{
    uint64_t begin = part_begin(data, part), end = part_begin(data, part + 1);
    double start = now_s();
    for (uint64_t at = begin; at < end;) {
        uint64_t stop = end - at < BENCH_BATCH ? end : at + BENCH_BATCH;
        BenchTxn *txn;
        int rc = engine->begin_write(db, NULL, &txn);
        if (rc)
            return failed(engine, "begin", rc);
        if (insert_rows(engine, db, txn, data, at, stop) != 0) {
            engine->abort(db, txn);
            return -1;
        }
        rc = engine->commit(db, txn);
        if (rc)
            return failed(engine, "commit", rc);
        at = stop;
    }
    figure->seconds = now_s() - start;
    figure->ops = end - begin;
    return 0;
}

static int get_rows(const BenchAdapter *engine, BenchDb *db, BenchTxn *txn, const BenchData *data,
                    uint64_t begin, uint64_t end)
{
    for (uint64_t i = begin; i < end; i++) {
        const uint8_t *key = data->get_keys + i * BENCH_KEY_LEN;
        const void *val;
        size_t val_len;
        int rc = engine->get(db, txn, key, BENCH_KEY_LEN, &val, &val_len);
        if (rc)
            return failed(engine, "get", rc);
        if (val_len != BENCH_VAL_LEN || *(const uint8_t *)val != bench_value_first_byte(key))
            return wrong(engine, "a value is not the one put");
    }
    return 0;
}

static int run_get(const BenchAdapter *engine, BenchDb *db, const BenchData *data, unsigned part,
                   BenchFigure *figure)
{
    uint64_t begin = part_begin(data, part), end = part_begin(data, part + 1);
    BenchTxn *txn;
    double start = now_s();
    int rc = engine->begin_read(db, &txn);
    if (rc)
        return failed(engine, "begin", rc);
    rc = get_rows(engine, db, txn, data, begin, end);
    engine->abort(db, txn);
    figure->seconds = now_s() - start;
    figure->ops = end - begin;
    return rc;
}

static int scan_expecting(const BenchAdapter *engine, BenchDb *db, BenchTxn *txn,
                          const BenchScan *expected)
{
    BenchScan scan = {0, 0};
    int rc = engine->scan(db, txn, &scan);
    if (rc)
        return failed(engine, "scan", rc);
    if (scan.rows != expected->rows || scan.sum != expected->sum)
        return wrong(engine, "a scan does not see the rows of the table");
    return 0;
}

/* Every part is a whole scan. */
static int run_scan(const BenchAdapter *engine, BenchDb *db, const BenchData *data, unsigned part,
                    BenchFigure *figure)
{
    (void)part;
    BenchTxn *txn;
    double start = now_s();
    int rc = engine->begin_read(db, &txn);
    if (rc)
        return failed(engine, "begin", rc);
    rc = scan_expecting(engine, db, txn, &data->expected);
    engine->abort(db, txn);
    figure->seconds = now_s() - start;
    figure->ops = data->rows;
    return rc;
}

/* Puts key number n, beyond the keys of the table. */
static int put_fresh(const BenchAdapter *engine, BenchDb *db, BenchTxn *txn, const BenchData *data,
                     uint64_t n, BenchScan *expected)
{
    uint8_t key[BENCH_KEY_LEN], val[BENCH_VAL_LEN];
    bench_make_key(data, data->rows + n, key);
    bench_make_value(key, val);
    int rc = engine->put(db, txn, key, BENCH_KEY_LEN, val, BENCH_VAL_LEN);
    if (rc)
        return failed(engine, "put", rc);
    if (expected)
        bench_scan_row(expected, key, val);
    return 0;
}

static int nested_once(const BenchAdapter *engine, BenchDb *db, BenchTxn *parent,
                       const BenchData *data, uint64_t first)
{
    BenchTxn *child;
    int rc = engine->begin_write(db, parent, &child);
    if (rc)
        return failed(engine, "nested begin", rc);
    for (uint64_t i = 0; i < BENCH_NESTED_PUTS && !rc; i++)
        rc = put_fresh(engine, db, child, data, first + i, NULL);
    engine->abort(db, child);
    return rc;
}

/* The parent has a change of its own, so that every child starts from uncommitted pages. */
static int run_nested(const BenchAdapter *engine, BenchDb *db, const BenchData *data, unsigned part,
                      BenchFigure *figure)
{
    uint64_t ops = data->rows / ROWS_PER_NESTED;
    if (ops < MIN_NESTED)
        ops = MIN_NESTED;
    BenchScan expected = data->expected;
    BenchTxn *parent;
    int rc = engine->begin_write(db, NULL, &parent);
    if (rc)
        return failed(engine, "begin", rc);
    rc = put_fresh(engine, db, parent, data, 0, &expected);
    double start = now_s();
    for (uint64_t i = 0; i < ops && !rc; i++)
        rc = nested_once(engine, db, parent, data, 1 + (part * ops + i) * BENCH_NESTED_PUTS);
    figure->seconds = now_s() - start;
    figure->ops = ops;
    if (!rc)
        rc = scan_expecting(engine, db, parent, &expected);
    engine->abort(db, parent);
    return rc;
}

/* ---- Loops over the sorted rows ------------------------------------------------------------- */

static int load_rows(const BenchAdapter *engine, BenchDb *db, const BenchRows *rows)
{
    BenchTxn *txn;
    int rc =
        engine->begin_load ? engine->begin_load(db, &txn) : engine->begin_write(db, NULL, &txn);
    if (rc)
        return failed(engine, "begin", rc);
    rc = engine->load_sorted(db, txn, rows);
    if (rc) {
        engine->abort(db, txn);
        return failed(engine, "load", rc);
    }
    rc = engine->commit(db, txn);
    return rc ? failed(engine, "commit", rc) : 0;
}

/* A scan in a transaction of its own. */
static int check_rows(const BenchAdapter *engine, BenchDb *db, const BenchScan *expected)
{
    BenchTxn *txn;
    int rc = engine->begin_read(db, &txn);
    if (rc)
        return failed(engine, "begin", rc);
    rc = scan_expecting(engine, db, txn, expected);
    engine->abort(db, txn);
    return rc;
}

static int run_load(const BenchAdapter *engine, BenchDb *db, const BenchData *data, unsigned part,
                    BenchFigure *figure)
{
    (void)part;
    double start = now_s();
    if (load_rows(engine, db, &data->sorted) != 0)
        return -1;
    figure->seconds = now_s() - start;
    figure->ops = data->rows;
    return check_rows(engine, db, &data->expected);
}

/* Rows first .. first + count - 1; there must be a row behind. */
static BenchRange range_of(const BenchData *data, uint64_t first, uint64_t count)
{
    const BenchRows *rows = &data->sorted;
    return (BenchRange){.lo = rows->keys[first],
                        .lo_len = rows->key_lens[first],
                        .hi = rows->keys[first + count],
                        .hi_len = rows->key_lens[first + count]};
}

typedef int (*RangeCount)(BenchDb *db, BenchTxn *txn, const BenchRange *range, uint64_t *count_out);

/* Has `ops` random ranges counted. The bounds are copied beforehand: looking them up among all the
 * keys would take as long as the count. */
static int count_ranges(const BenchAdapter *engine, BenchDb *db, const BenchData *data,
                        unsigned part, RangeCount count, unsigned ops, BenchFigure *figure)
{
    static uint8_t bounds[COUNTS][2][BENCH_KEY_LEN];
    uint64_t rows = data->rows / 2 < BENCH_COUNT_ROWS ? data->rows / 2 : BENCH_COUNT_ROWS;
    for (unsigned i = 0; i < ops; i++) {
        uint64_t first = bench_mix(data->seed ^ (part * COUNTS + i)) % (data->rows - rows);
        BenchRange range = range_of(data, first, rows);
        memcpy(bounds[i][0], range.lo, BENCH_KEY_LEN);
        memcpy(bounds[i][1], range.hi, BENCH_KEY_LEN);
    }
    BenchTxn *txn;
    double start = now_s();
    int rc = engine->begin_read(db, &txn);
    if (rc)
        return failed(engine, "begin", rc);
    for (unsigned i = 0; i < ops && !rc; i++) {
        BenchRange range = {bounds[i][0], bounds[i][1], BENCH_KEY_LEN, BENCH_KEY_LEN};
        uint64_t found;
        rc = count(db, txn, &range, &found);
        if (rc)
            failed(engine, "count", rc);
        else if (found != rows)
            rc = wrong(engine, "a range has another number of rows");
    }
    engine->abort(db, txn);
    figure->seconds = now_s() - start;
    figure->ops = ops;
    return rc ? -1 : 0;
}

static int run_walk_range(const BenchAdapter *engine, BenchDb *db, const BenchData *data,
                          unsigned part, BenchFigure *figure)
{
    return count_ranges(engine, db, data, part, engine->walk_range, WALKS, figure);
}

static int run_count_range(const BenchAdapter *engine, BenchDb *db, const BenchData *data,
                           unsigned part, BenchFigure *figure)
{
    return count_ranges(engine, db, data, part, engine->count_range, COUNTS, figure);
}

static int del_range(const BenchAdapter *engine, BenchDb *db, const BenchRange *range,
                     uint64_t expected)
{
    BenchTxn *txn;
    int rc = engine->begin_write(db, NULL, &txn);
    if (rc)
        return failed(engine, "begin", rc);
    uint64_t deleted;
    rc = engine->del_range(db, txn, range, &deleted);
    if (rc || deleted != expected) {
        engine->abort(db, txn);
        return rc ? failed(engine, "delete", rc)
                  : wrong(engine, "a deletion has another number of rows");
    }
    rc = engine->commit(db, txn);
    return rc ? failed(engine, "commit", rc) : 0;
}

/* Part n deletes the tenth 2n of the table, so that rows stay between the holes. */
static int run_del_range(const BenchAdapter *engine, BenchDb *db, const BenchData *data,
                         unsigned part, BenchFigure *figure)
{
    uint64_t tenth = data->rows / 10;
    BenchRange range = range_of(data, 2 * part * tenth, tenth);
    double start = now_s();
    if (del_range(engine, db, &range, tenth) != 0)
        return -1;
    figure->seconds = now_s() - start;
    figure->ops = 1;
    BenchScan left = {0, 0};
    for (uint64_t i = 0; i < data->rows; i++) {
        uint64_t nth = tenth ? i / tenth : 1;
        if (nth % 2 || nth > 2 * part)
            bench_scan_row(&left, data->sorted.keys[i], data->sorted.vals[i]);
    }
    return check_rows(engine, db, &left);
}

_Static_assert(2 * DELETIONS <= 10, "a row is left behind the last range");

/* ---- Loops over pairs ----------------------------------------------------------------------- */

static int fill_pairs(const BenchAdapter *engine, BenchDb *db, const BenchData *data)
{
    BenchPairs pairs;
    int rc = bench_pairs_init(&pairs, data);
    if (rc)
        fprintf(stderr, "bench: out of memory\n");
    else
        rc = load_rows(engine, db, &pairs.rows);
    bench_pairs_release(&pairs);
    return rc;
}

typedef int (*DupCount)(BenchDb *db, BenchTxn *txn, const void *key, size_t key_len, unsigned times,
                        uint64_t *count_out);

static int count_values(const BenchAdapter *engine, BenchDb *db, const BenchData *data,
                        DupCount count, unsigned ops, BenchFigure *figure)
{
    BenchTxn *txn;
    double start = now_s();
    int rc = engine->begin_read(db, &txn);
    if (rc)
        return failed(engine, "begin", rc);
    uint64_t found;
    rc = count(db, txn, bench_pairs_key(data), BENCH_KEY_LEN, ops, &found);
    engine->abort(db, txn);
    figure->seconds = now_s() - start;
    figure->ops = ops;
    if (rc)
        return failed(engine, "count", rc);
    if (found != bench_pairs_values(data))
        return wrong(engine, "a key has another number of values");
    return 0;
}

static int run_walk_dup(const BenchAdapter *engine, BenchDb *db, const BenchData *data,
                        unsigned part, BenchFigure *figure)
{
    (void)part;
    return count_values(engine, db, data, engine->walk_dup, WALKS, figure);
}

static int run_count_dup(const BenchAdapter *engine, BenchDb *db, const BenchData *data,
                         unsigned part, BenchFigure *figure)
{
    (void)part;
    return count_values(engine, db, data, engine->count_dup, COUNTS, figure);
}

/* ---- Tables --------------------------------------------------------------------------------- */

/* Whatever runs on a store that is loaded in order takes load_sorted() too. */

static int offers_load(const BenchAdapter *engine)
{
    return engine->load_sorted != NULL;
}

static int offers_walk_range(const BenchAdapter *engine)
{
    return engine->load_sorted && engine->walk_range;
}

static int offers_count_range(const BenchAdapter *engine)
{
    return engine->load_sorted && engine->count_range;
}

static int offers_del_range(const BenchAdapter *engine)
{
    return engine->load_sorted && engine->del_range;
}

static int offers_walk_dup(const BenchAdapter *engine)
{
    return engine->load_sorted && engine->walk_dup;
}

static int offers_count_dup(const BenchAdapter *engine)
{
    return engine->load_sorted && engine->count_dup;
}

int bench_can_run(const BenchAdapter *engine, const BenchWorkload *load)
{
    return (engine->can & load->needs) == load->needs && (!load->offered || load->offered(engine));
}

const BenchStore bench_stores[BENCH_STORE_KINDS] = {
    [BENCH_STORE_RANDOM] = {0, NULL},
    [BENCH_STORE_SORTED] = {0, NULL},
    [BENCH_STORE_PAIRS] = {1, fill_pairs},
};

const BenchWorkload bench_workloads[] = {
    {.name = "random_insert",
     .title = "random insert, 1000 a transaction, no sync",
     .op = "puts",
     .store = BENCH_STORE_RANDOM,
     .parts = BENCH_PARTS,
     .run = run_insert},
    {.name = "random_get",
     .title = "random point get",
     .op = "gets",
     .store = BENCH_STORE_RANDOM,
     .parts = BENCH_PARTS,
     .run = run_get},
    {.name = "scan",
     .title = "forward scan",
     .op = "rows",
     .store = BENCH_STORE_RANDOM,
     .parts = BENCH_PARTS,
     .run = run_scan},
    {.name = "nested_abort",
     .title = "nested begin, 10 puts, abort",
     .op = "transactions",
     .needs = BENCH_CAN_NEST,
     .store = BENCH_STORE_RANDOM,
     .parts = BENCH_PARTS,
     .run = run_nested},
    {.name = "sorted_load",
     .title = "sorted bulk load, one transaction",
     .op = "rows",
     .offered = offers_load,
     .store = BENCH_STORE_SORTED,
     .parts = 1,
     .run = run_load},
    {.name = "walk_range",
     .title = "scan of a 100k range",
     .op = "ranges",
     .offered = offers_walk_range,
     .store = BENCH_STORE_SORTED,
     .parts = BENCH_PARTS,
     .run = run_walk_range},
    {.name = "count_range",
     .title = "count of a 100k range",
     .op = "ranges",
     .offered = offers_count_range,
     .against = "walk_range",
     .store = BENCH_STORE_SORTED,
     .parts = BENCH_PARTS,
     .run = run_count_range},
    {.name = "del_range",
     .title = "delete of a tenth of the table",
     .op = "ranges",
     .offered = offers_del_range,
     .store = BENCH_STORE_SORTED,
     .parts = DELETIONS,
     .run = run_del_range},
    {.name = "walk_dup",
     .title = "values of one key, walked",
     .op = "keys",
     .offered = offers_walk_dup,
     .store = BENCH_STORE_PAIRS,
     .parts = BENCH_PARTS,
     .run = run_walk_dup},
    {.name = "count_dup",
     .title = "values of one key, counted",
     .op = "keys",
     .offered = offers_count_dup,
     .store = BENCH_STORE_PAIRS,
     .parts = BENCH_PARTS,
     .run = run_count_dup},
};
const size_t bench_workload_count = sizeof bench_workloads / sizeof *bench_workloads;

_Static_assert(sizeof bench_workloads / sizeof *bench_workloads <= BENCH_MAX_WORKLOADS,
               "results have a fixed number of columns");
