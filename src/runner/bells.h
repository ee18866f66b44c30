/* bells.h - waking workers of this process without waiting for the disk.
 *
 * A watch on an inbox reports a message when it is on disk. A worker may begin sooner: an atomic
 * block commits after the message in the log, and before a plain callback the worker waits for the
 * disk by itself. So whoever puts messages into inboxes through the runner rings the bells of their
 * workers at the commit. A bell is a hint: rung for nothing, the worker looks and sleeps on; not
 * rung, the watch wakes it. */
#ifndef SAPLING_RUNNER_BELLS_H
#define SAPLING_RUNNER_BELLS_H

#include "sapling/sapling.h"

#include <stdbool.h>

/* Part of whoever is to be woken; does not move between add and remove. `ring` is called from any
 * thread, with a lock held: it must not call back, nor wait. */
typedef struct Bell {
    struct Bell *next;
    DB *db;
    int64_t worker_id;
    void (*ring)(void *ctx);
    void *ctx;
} Bell;

/* SAP_NOMEM: it is not there. A process that fork() makes has no bells. */
int bells_add(Bell *bell);
/* After this it is not rung any more. Accepts one that is not there. */
void bells_remove(Bell *bell);

/* Workers whose inboxes a transaction has put messages into; more than it has room for are all. All
 * zero: none. */
enum { BELLS_NOTED = 8 };
typedef struct BellNotes {
    int64_t workers[BELLS_NOTED];
    uint32_t count; /* above BELLS_NOTED: all */
} BellNotes;

/* Returns whether this process has any bell. */
bool bells_hang(void);

void bells_note(BellNotes *notes, int64_t worker_id);
void bells_ring(DB *db, const BellNotes *notes);

#endif
