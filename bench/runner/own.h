/* own.h - what is measured of Sapling alone, since its peers have no such figure. All calls answer
 * 0, or -1 after a message; those that need files make them in the working directory. */
#ifndef RUNNER_OWN_H
#define RUNNER_OWN_H

#include <stddef.h>
#include <stdint.h>

/* From the call that sends a message to the start of its handler, in a worker that has been idle. A
 * message is sent durably; a plain handler starts when it is on disk, an atomic block need not wait
 * for that. */
typedef struct OwnStart {
    uint64_t messages; /* 0: not measured */
    uint64_t p50_ns, p95_ns, max_ns;
    uint64_t send_p50_ns; /* the call that sends alone, for comparison: it waits for the disk */
} OwnStart;

int own_start(int atomic, OwnStart *out);

/* Of the whole process, while its one worker has nothing to do. */
typedef struct OwnIdle {
    double seconds; /* 0: not measured */
    double cpu_seconds;
} OwnIdle;

int own_idle(OwnIdle *out);

enum { OWN_TIMER_SIZES = 2 };

/* What it takes to dispatch a timer that is due, the handler and the commits included, while many
 * others are armed, in memory. */
typedef struct OwnTimers {
    uint64_t armed[OWN_TIMER_SIZES]; /* 0: not measured */
    double ns[OWN_TIMER_SIZES];      /* for one that was due */
} OwnTimers;

/* Both numbers in turn, the best of several turns each. */
int own_timers(uint64_t few, uint64_t many, OwnTimers *out);

/* What messages that wait in a queue take. */
typedef struct OwnMemory {
    uint64_t messages;    /* 0: not measured */
    uint64_t page_bytes;  /* pages in use with them, less those without */
    uint64_t frame_bytes; /* of the frames in the pages, payloads included */
    uint64_t
        process_bytes; /* what the process grew by; 0 of a file, whose pages are the system's */
} OwnMemory;

/* In memory, or in a file after a checkpoint. */
int own_memory(uint64_t messages, int file, OwnMemory *out);

#endif
