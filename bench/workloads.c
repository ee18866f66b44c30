/* workloads.c - the rows, and the timed loops over them. */
#include "workloads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Nested transactions per part, for a large table and at least. */
enum { ROWS_PER_NESTED = 1000, MIN_NESTED = 500 };

/* ---- The rows ------------------------------------------------------------------------------- */

/* The splitmix64 finaliser: a bijection of 64-bit numbers, so different inputs never collide. */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Key number n. Its first half alone is distinct for every n. */
static void make_key(uint64_t seed, uint64_t n, uint8_t key[BENCH_KEY_LEN])
{
    uint64_t half[2];
    half[0] = mix(seed + n);
    half[1] = mix(~half[0]);
    memcpy(key, half, BENCH_KEY_LEN);
}

static uint8_t value_first_byte(const uint8_t *key)
{
    return key[BENCH_KEY_LEN - 1] ^ 0x5a;
}

/* A value that follows from the key. The rest of it is noise that repeats only every 64 KiB, so
 * that an engine that compresses has nothing to win. */
static void make_value(const uint8_t *key, uint8_t val[BENCH_VAL_LEN])
{
    static uint64_t noise[(65536 + BENCH_VAL_LEN + 7) / 8];
    if (!noise[0])
        for (size_t i = 0; i < sizeof noise / sizeof *noise; i++)
            noise[i] = mix(i);
    uint16_t offset;
    memcpy(&offset, key + 8, sizeof offset);
    memcpy(val, (const uint8_t *)noise + offset, BENCH_VAL_LEN);
    val[0] = value_first_byte(key);
}

int bench_data_init(BenchData *data, uint64_t rows, uint64_t seed)
{
    memset(data, 0, sizeof *data);
    data->rows = rows;
    data->seed = mix(seed);
    data->keys = malloc(rows * BENCH_KEY_LEN);
    data->get_keys = malloc(rows * BENCH_KEY_LEN);
    if (!data->keys || !data->get_keys)
        return -1;
    for (uint64_t i = 0; i < rows; i++) {
        uint8_t *key = data->keys + i * BENCH_KEY_LEN;
        make_key(data->seed, i, key);
        uint8_t val = value_first_byte(key);
        bench_scan_row(&data->expected, key, &val);
    }
    /* A shuffled copy rather than a shuffled index: the loop over it reads memory in order, and
     * its cache misses are the engine's alone. */
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t j = mix(~(data->seed + i)) % (i + 1);
        if (j != i)
            memcpy(data->get_keys + i * BENCH_KEY_LEN, data->get_keys + j * BENCH_KEY_LEN,
                   BENCH_KEY_LEN);
        memcpy(data->get_keys + j * BENCH_KEY_LEN, data->keys + i * BENCH_KEY_LEN, BENCH_KEY_LEN);
    }
    return 0;
}

void bench_data_release(BenchData *data)
{
    free(data->keys);
    free(data->get_keys);
    memset(data, 0, sizeof *data);
}

/* ---- The loops ------------------------------------------------------------------------------ */

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
        make_value(key, val);
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
        if (val_len != BENCH_VAL_LEN || *(const uint8_t *)val != value_first_byte(key))
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
    make_key(data->seed, data->rows + n, key);
    make_value(key, val);
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

const BenchWorkload bench_workloads[] = {
    {"random_insert", "random insert, 1000 a transaction, no sync", "puts", BENCH_SYNC_NONE, 0,
     run_insert},
    {"random_get", "random point get", "gets", BENCH_SYNC_NONE, 0, run_get},
    {"scan", "forward scan", "rows", BENCH_SYNC_NONE, 0, run_scan},
    {"nested_abort", "nested begin, 10 puts, abort", "transactions", BENCH_SYNC_NONE,
     BENCH_CAN_NEST, run_nested},
};
const size_t bench_workload_count = sizeof bench_workloads / sizeof *bench_workloads;

_Static_assert(sizeof bench_workloads / sizeof *bench_workloads <= BENCH_MAX_WORKLOADS,
               "results have a fixed number of columns");
