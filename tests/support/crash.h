/* crash.h - what a power cut can leave of a run's files.
 *
 * A trace records every file operation of the engine (disk.h). From it any state is built that a
 * cut after any operation could leave on disk: synced bytes and names are there; of everything else
 * each write may be there, missing, or there in some of its 512-byte sectors, in any order, and
 * each created, renamed or removed name may be as before or after. Needs SAP_FAULTS.
 *
 * Stores through a mapping are no operations. Whatever a file holds when it is synced, log segments
 * excepted, counts as written and synced then; what was stored since may have reached the disk in
 * any form, which is for the test to add (reach.h). */
#ifndef SAPLING_TESTS_CRASH_H
#define SAPLING_TESTS_CRASH_H

#include "common/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct CrashTrace CrashTrace;

/* What becomes of that which was not synced. */
typedef enum { CRASH_DROP, CRASH_KEEP, CRASH_RANDOM } CrashFate;

/* Records all operations, of any thread, until crash_trace_stop. One at a time. Caller owns, release
 * with crash_trace_free. */
CrashTrace *crash_trace_start(void);
/* The same for a run that begins with what is in `dir`: it is all on disk. */
CrashTrace *crash_trace_start_in(const char *dir);
/* The same for a run after the process of `before` died, the system did not, behind the first
 * `length` operations: what they wrote is there, in the empty directory `dir` too, but no more of it
 * is on disk than was synced. The first `length` operations of the new trace are those. */
CrashTrace *crash_trace_go_on(CrashTrace *before, size_t length, const char *dir);
void crash_trace_stop(CrashTrace *trace);
void crash_trace_free(CrashTrace *trace);

/* Notes that `mark`, a number of the test's own, holds from here on. */
void crash_mark(CrashTrace *trace, uint64_t mark);

size_t crash_length(const CrashTrace *trace);

/* How many of the first `length` operations changed or synced a file; marks are none. */
size_t crash_writes(const CrashTrace *trace, size_t length);

/* The last mark within the first `length` operations; 0 where there is none. */
uint64_t crash_mark_at(const CrashTrace *trace, size_t length);

/* Whether a cut after the first `length` operations can leave more than one after length - 1: the
 * last is neither a mark nor an opening, nor within a run of writes that fill a file with zeros. */
bool crash_is_cut(const CrashTrace *trace, size_t length);

/* Writes into the empty directory `dir` what a cut after the first `length` operations leaves.
 * Fastest when lengths do not descend. */
void crash_build(CrashTrace *trace, size_t length, CrashFate fate, Rng *rng, const char *dir);

/* An empty directory of its own, in memory where the system has such a place: building states costs
 * no syncs there. (SAP_TEST_ON_DISK: below TMPDIR.) `out` takes the path. What processes left behind that failed is removed. */
void crash_dir_make(char *out, size_t size, bool in_memory);
void crash_dir_empty(const char *dir);
void crash_dir_remove(const char *dir);

#endif
