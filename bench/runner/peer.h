/* peer.h - what a queue must offer for its messages to be measured.
 *
 * A peer is one RunPeer: a table of functions over its own RunStore (an open queue, with the server
 * that serves it, if there is one) and RunSession (what one thread needs to use it). A message is
 * put, then taken, then acknowledged; between the last two nobody else gets it. Calls answer 0, or
 * -1 after a message on stderr. */
#ifndef RUNNER_PEER_H
#define RUNNER_PEER_H

#include <stdint.h>

enum {
    RUN_PAYLOAD = 100,
    RUN_BATCH = 100,      /* the most messages of one call */
    RUN_TAKE_WAIT_MS = 10 /* how long about a take waits for a first message */
};

typedef struct RunMessage {
    uint8_t payload[RUN_PAYLOAD];
} RunMessage;

typedef struct RunStore RunStore;
typedef struct RunSession RunSession;

/* Called with each message that a peer's own consumer handles. */
typedef void (*run_handle_fn)(const void *payload, uint32_t len, void *ctx);

typedef struct RunPeer {
    const char *name; /* as in --peers and the reports */
    const char *what; /* one line: how it is set up */

    /* In the working directory, which is empty or has what the same peer left there. The caller owns
     * *store_out, release with close(). */
    int (*open)(RunStore **store_out);
    /* Frees the store whatever it answers; all sessions are closed. */
    int (*close)(RunStore *store);
    int (*session_open)(RunStore *store, RunSession **session_out);
    void (*session_close)(RunSession *session);

    /* All at once, as far as the peer can; 0 when they are on disk. */
    int (*put)(RunSession *session, const RunMessage *messages, uint32_t count);
    /* From 0 to `max` messages, waiting a moment for the first. The session remembers them; it never
     * has more than RUN_BATCH. */
    int (*take)(RunSession *session, RunMessage *messages, uint32_t max, uint32_t *count_out);
    /* All that the session has taken; 0 when it is on disk. */
    int (*ack)(RunSession *session);

    /* A consumer of the peer's own, in place of one that takes and acknowledges; both NULL: it has
     * none. On return of serve_stop() all that was handled is acknowledged on disk. */
    int (*serve_start)(RunStore *store, run_handle_fn handle, void *ctx);
    int (*serve_stop)(RunStore *store);

    /* How many messages there are. */
    int (*left)(RunStore *store, uint64_t *count_out);
} RunPeer;

extern const RunPeer run_sapling;
extern const RunPeer run_beanstalkd;
extern const RunPeer run_redis;
extern const RunPeer run_sqlite;
extern const RunPeer run_bare;

#endif
