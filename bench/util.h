/* util.h - what the programs that measure have in common besides the rows: options, stores on
 * disk, measuring, and the forms of a report. */
#ifndef BENCH_UTIL_H
#define BENCH_UTIL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { BENCH_MAX_ENGINES = 8 }; /* of one report */

#define BENCH_SUBJECT   "sapling" /* whose bars are judged */
#define BENCH_REFERENCE "lmdb"    /* whose figure is 1.00 */

/* ---- Options -------------------------------------------------------------------------------- */

/* A decimal number from min to max. 0, or -1 with *out untouched. */
int bench_parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *out);
/* Whether `name` is in the comma-separated list. */
int bench_listed(const char *list, const char *name);
size_t bench_list_length(const char *list);

/* ---- Stores --------------------------------------------------------------------------------- */

/* Makes an empty directory in `parent` and writes its name to dir. 0, or -1 after a message. */
int bench_make_store(const char *parent, char *dir, size_t dir_size);
/* Removes the directory and all in it; says what it could not remove. */
void bench_remove_store(const char *path);
/* 0, or -1 after a message: `dir` is in memory. Where nothing is written to a disk, nothing is
 * durable, and every figure would be wrong. */
int bench_check_disk(const char *dir);

/* ---- Measuring ------------------------------------------------------------------------------ */

uint64_t bench_now_ns(void);
void bench_sleep_us(uint64_t us);

/* Runs fn(arg, result) in a child process, whose heap is as it was, and writes to result[0..size)
 * what fn wrote to it. 0, or -1 after a message: fn did not answer 0, or the child did not end. */
int bench_in_child(int (*fn)(const void *arg, void *result), const void *arg, void *result,
                   size_t size);

/* How long each of many things took. Zero bytes are none. */
typedef struct BenchSamples {
    uint64_t *ns;
    uint64_t count, capacity;
} BenchSamples;

/* Both 0, or -1 after a message. */
int bench_samples_add(BenchSamples *samples, uint64_t ns);
int bench_samples_append(BenchSamples *samples, const BenchSamples *more);
/* From the shortest on. */
void bench_samples_sort(BenchSamples *samples);
void bench_samples_release(BenchSamples *samples);

/* ---- Reports -------------------------------------------------------------------------------- */

/* "12 K" and the like; answers buf. */
const char *bench_format_rate(double per_s, char buf[32]);

/* NULL after a message. */
FILE *bench_output_open(const char *path);
/* 0, or -1 after a message: not all of it was written. */
int bench_output_close(FILE *out, const char *path);
/* Both of the above, with what `print` prints. */
int bench_output_write(const char *path, void (*print)(const void *report, FILE *out),
                       const void *report);

/* Texts in a plot: a white edge keeps the lines behind them from crossing the letters. */
#define BENCH_SVG_HALO "stroke=\"#fff\" stroke-width=\"4\" paint-order=\"stroke\""

extern const char *const bench_colours[BENCH_MAX_ENGINES];

#endif
