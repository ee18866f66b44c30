/* data.h - the rows that are measured with. They follow from a seed alone, so that every engine
 * and every round has the same. */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include "adapter.h"

enum {
    BENCH_KEY_LEN = 16,
    BENCH_VAL_LEN = 100,
    BENCH_FEW_VALUES = 10 /* values of a key in the table of pairs, one key excepted */
};

typedef struct BenchData {
    uint64_t rows;
    uint64_t seed;
    uint8_t *keys;       /* rows x BENCH_KEY_LEN, distinct, in order of insertion */
    uint8_t *get_keys;   /* the same keys in another random order */
    BenchRows sorted;    /* the same rows, in key order */
    uint8_t *sorted_buf; /* what `sorted` points to */
    BenchScan expected;  /* what a scan of the table must answer */
} BenchData;

/* 0, or -1 when out of memory. Release with bench_data_release(), also after failure. */
int bench_data_init(BenchData *data, uint64_t rows, uint64_t seed);
void bench_data_release(BenchData *data);

/* A bijection of 64-bit numbers that looks random. */
uint64_t bench_mix(uint64_t x);

/* Key number n; those of the table are 0 .. rows - 1. */
void bench_make_key(const BenchData *data, uint64_t n, uint8_t key[BENCH_KEY_LEN]);
/* The value that follows from the key, and what it begins with. */
void bench_make_value(const uint8_t *key, uint8_t val[BENCH_VAL_LEN]);
uint8_t bench_value_first_byte(const uint8_t *key);

/* As many pairs as rows: one key, in the middle, has a tenth of them, the others have
 * BENCH_FEW_VALUES each. */
typedef struct BenchPairs {
    BenchRows rows;
    uint8_t *buf; /* what the values point to; the keys are those of the BenchData */
} BenchPairs;

/* As bench_data_init(); borrows `data` until released. */
int bench_pairs_init(BenchPairs *pairs, const BenchData *data);
void bench_pairs_release(BenchPairs *pairs);
/* The key with many values, and how many. */
const void *bench_pairs_key(const BenchData *data);
uint64_t bench_pairs_values(const BenchData *data);

#endif
