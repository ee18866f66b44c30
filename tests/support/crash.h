/* crash.h - what a power cut can leave of a run's files.
 *
 * A trace records every file operation of the engine (disk.h). From it any state is built that a
 * cut after any operation could leave on disk: synced bytes and names are there; of everything else
 * each write may be there, missing, or there in some of its 512-byte sectors, in any order, and
 * each created, renamed or removed name may be as before or after. Needs SAP_FAULTS. */
#ifndef SAPLING_TESTS_CRASH_H
#define SAPLING_TESTS_CRASH_H

#include "common/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct CrashTrace CrashTrace;

/* What becomes of that which was not synced. */
typedef enum { CRASH_DROP, CRASH_KEEP, CRASH_RANDOM } CrashFate;

/* Records all operations until crash_trace_stop. One at a time. Caller owns, release with
 * crash_trace_free. */
CrashTrace *crash_trace_start(void);
void crash_trace_stop(CrashTrace *trace);
void crash_trace_free(CrashTrace *trace);

/* Notes that `mark`, a number of the test's own, holds from here on. */
void crash_mark(CrashTrace *trace, uint64_t mark);

size_t crash_length(const CrashTrace *trace);

/* How many of the first `length` operations changed or synced a file; marks are none. */
size_t crash_writes(const CrashTrace *trace, size_t length);

/* The last mark within the first `length` operations; 0 where there is none. */
uint64_t crash_mark_at(const CrashTrace *trace, size_t length);

/* Writes into the empty directory `dir` what a cut after the first `length` operations leaves. */
void crash_build(const CrashTrace *trace, size_t length, CrashFate fate, Rng *rng, const char *dir);

/* An empty directory of its own, in memory where the system has such a place: building states costs
 * no syncs there. `out` takes the path. */
void crash_dir_make(char *out, size_t size, bool in_memory);
void crash_dir_empty(const char *dir);
void crash_dir_remove(const char *dir);

#endif
