/* data.c - makes the rows. */
#include "data.h"

#include <stdlib.h>
#include <string.h>

/* The splitmix64 finaliser: different inputs never collide. */
uint64_t bench_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The first half of a key alone is distinct for every n. */
void bench_make_key(const BenchData *data, uint64_t n, uint8_t key[BENCH_KEY_LEN])
{
    uint64_t half[2];
    half[0] = bench_mix(data->seed + n);
    half[1] = bench_mix(~half[0]);
    memcpy(key, half, BENCH_KEY_LEN);
}

uint8_t bench_value_first_byte(const uint8_t *key)
{
    return key[BENCH_KEY_LEN - 1] ^ 0x5a;
}

/* The rest of a value is noise that repeats only every 64 KiB, so that an engine that compresses
 * has nothing to win. */
void bench_make_value(const uint8_t *key, uint8_t val[BENCH_VAL_LEN])
{
    static uint64_t noise[(65536 + BENCH_VAL_LEN + 7) / 8];
    if (!noise[0])
        for (size_t i = 0; i < sizeof noise / sizeof *noise; i++)
            noise[i] = bench_mix(i);
    uint16_t offset;
    memcpy(&offset, key + 8, sizeof offset);
    memcpy(val, (const uint8_t *)noise + offset, BENCH_VAL_LEN);
    val[0] = bench_value_first_byte(key);
}

/* ---- Rows in order -------------------------------------------------------------------------- */

static int rows_init(BenchRows *rows, uint64_t count)
{
    rows->count = (uint32_t)count;
    rows->keys = malloc(count * sizeof *rows->keys);
    rows->key_lens = malloc(count * sizeof *rows->key_lens);
    rows->vals = malloc(count * sizeof *rows->vals);
    rows->val_lens = malloc(count * sizeof *rows->val_lens);
    return rows->keys && rows->key_lens && rows->vals && rows->val_lens ? 0 : -1;
}

static void rows_release(BenchRows *rows)
{
    free(rows->keys);
    free(rows->key_lens);
    free(rows->vals);
    free(rows->val_lens);
}

static void rows_set(BenchRows *rows, uint64_t i, const uint8_t *key, const uint8_t *val)
{
    rows->keys[i] = key;
    rows->key_lens[i] = BENCH_KEY_LEN;
    rows->vals[i] = val;
    rows->val_lens[i] = BENCH_VAL_LEN;
}

static int compare_keys(const void *a, const void *b)
{
    return memcmp(a, b, BENCH_KEY_LEN);
}

/* Keys with their values behind, in one run of memory: whoever loads them reads it in order. */
static int make_sorted(BenchData *data)
{
    enum { ROW_LEN = BENCH_KEY_LEN + BENCH_VAL_LEN };
    data->sorted_buf = malloc(data->rows * ROW_LEN);
    if (rows_init(&data->sorted, data->rows) != 0 || !data->sorted_buf)
        return -1;
    for (uint64_t i = 0; i < data->rows; i++)
        memcpy(data->sorted_buf + i * ROW_LEN, data->keys + i * BENCH_KEY_LEN, BENCH_KEY_LEN);
    qsort(data->sorted_buf, data->rows, ROW_LEN, compare_keys);
    for (uint64_t i = 0; i < data->rows; i++) {
        uint8_t *row = data->sorted_buf + i * ROW_LEN;
        bench_make_value(row, row + BENCH_KEY_LEN);
        rows_set(&data->sorted, i, row, row + BENCH_KEY_LEN);
    }
    return 0;
}

/* ---- All of it ------------------------------------------------------------------------------ */

int bench_data_init(BenchData *data, uint64_t rows, uint64_t seed)
{
    memset(data, 0, sizeof *data);
    data->rows = rows;
    data->seed = bench_mix(seed);
    data->keys = malloc(rows * BENCH_KEY_LEN);
    data->get_keys = malloc(rows * BENCH_KEY_LEN);
    if (!data->keys || !data->get_keys)
        return -1;
    for (uint64_t i = 0; i < rows; i++) {
        uint8_t *key = data->keys + i * BENCH_KEY_LEN;
        bench_make_key(data, i, key);
        uint8_t val = bench_value_first_byte(key);
        bench_scan_row(&data->expected, key, &val);
    }
    /* A shuffled copy rather than a shuffled index: the loop over it reads memory in order, and
     * its cache misses are the engine's alone. */
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t j = bench_mix(~(data->seed + i)) % (i + 1);
        if (j != i)
            memcpy(data->get_keys + i * BENCH_KEY_LEN, data->get_keys + j * BENCH_KEY_LEN,
                   BENCH_KEY_LEN);
        memcpy(data->get_keys + j * BENCH_KEY_LEN, data->keys + i * BENCH_KEY_LEN, BENCH_KEY_LEN);
    }
    return make_sorted(data);
}

void bench_data_release(BenchData *data)
{
    free(data->keys);
    free(data->get_keys);
    free(data->sorted_buf);
    rows_release(&data->sorted);
    memset(data, 0, sizeof *data);
}

/* ---- Pairs ---------------------------------------------------------------------------------- */

uint64_t bench_pairs_values(const BenchData *data)
{
    return data->rows < 10 ? 1 : data->rows / 10;
}

static uint64_t many_index(const BenchData *data)
{
    uint64_t others = data->rows - bench_pairs_values(data);
    return others / BENCH_FEW_VALUES / 2;
}

const void *bench_pairs_key(const BenchData *data)
{
    return data->sorted.keys[many_index(data)];
}

/* Value number n of a key: ascending in n, noise behind. */
static void make_numbered_value(const uint8_t *key, uint64_t n, uint8_t val[BENCH_VAL_LEN])
{
    bench_make_value(key, val);
    for (int i = 0; i < 8; i++)
        val[i] = (uint8_t)(n >> (56 - 8 * i));
}

int bench_pairs_init(BenchPairs *pairs, const BenchData *data)
{
    memset(pairs, 0, sizeof *pairs);
    pairs->buf = malloc(data->rows * BENCH_VAL_LEN);
    if (rows_init(&pairs->rows, data->rows) != 0 || !pairs->buf)
        return -1;
    uint64_t key_index = 0, n = 0;
    for (uint64_t i = 0; i < data->rows; i++) {
        const uint8_t *key = data->sorted.keys[key_index];
        uint8_t *val = pairs->buf + i * BENCH_VAL_LEN;
        make_numbered_value(key, n, val);
        rows_set(&pairs->rows, i, key, val);
        uint64_t values =
            key_index == many_index(data) ? bench_pairs_values(data) : BENCH_FEW_VALUES;
        if (++n == values) {
            key_index++;
            n = 0;
        }
    }
    return 0;
}

void bench_pairs_release(BenchPairs *pairs)
{
    rows_release(&pairs->rows);
    free(pairs->buf);
    memset(pairs, 0, sizeof *pairs);
}
