/* recovery.h - what a node finds that the one before has left undone. */
#ifndef SAPLING_NODE_RECOVERY_H
#define SAPLING_NODE_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "sapling/universe.h"

/* Each up to SAP_COUNT_MOST. */
typedef struct Recovery {
    uint32_t
        worlds; /* held by workers that are gone: they go on as soon as they have something to do */
    uint32_t calls;  /* to the outside, of workers that are gone: made again, with the same key */
    uint32_t timers; /* due by now */
} Recovery;

/* Before the first worker is opened. Codes are those of reading the store. */
int recovery_read(SapUniverse *universe, Recovery *recovery_out);

#endif
