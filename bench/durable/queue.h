/* queue.h - messages through a queue that stays short: put at the tail, taken at the head.
 *
 * Every row lives a moment and every page is soon free again: an engine that is slow to use pages
 * again grows its file, or slows down. */
#ifndef DURABLE_QUEUE_H
#define DURABLE_QUEUE_H

#include <stdint.h>

enum {
    DUR_QUEUE_LIVE = 1000, /* messages in the queue */
    DUR_QUEUE_PARTS = 10   /* the rate is taken of each */
};

typedef struct DurQueue {
    uint64_t messages;
    uint64_t file_bytes;           /* of the data file at its largest */
    double rates[DUR_QUEUE_PARTS]; /* messages per second, in order of time */
} DurQueue;

/* Through a Sapling file in `dir`; at least DUR_QUEUE_PARTS * DUR_QUEUE_LIVE messages. 0, or -1
 * after a message: also when a message was lost or out of order. */
int dur_run_queue(const char *dir, uint64_t messages, DurQueue *out);

#endif
