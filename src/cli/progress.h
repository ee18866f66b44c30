/* progress.h - how far a long command is, on standard error at a terminal, from the second second
 * on. */
#ifndef SAPLING_CLI_PROGRESS_H
#define SAPLING_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/output.h"

typedef struct Progress {
    const char *what; /* "load" */
    bool bytes;       /* counts bytes; otherwise rows */
    bool wanted;
    bool shown;
    uint64_t total; /* 0: not known. In the unit of `done` */
    uint64_t done;
    uint64_t rows; /* shown beside bytes; 0: not */
    uint64_t start_ns;
    uint64_t next_ns;
} Progress;

void progress_start(Progress *progress, const Ui *ui, const char *what, bool bytes, uint64_t total);
/* `done` in all, so far. */
void progress_at(Progress *progress, uint64_t done);
/* Takes the line away. */
void progress_end(Progress *progress);
/* Seconds since the start. */
double progress_seconds(const Progress *progress);

#endif
