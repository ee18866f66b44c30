/* worlds.h - a universe in a store, with worlds that count their items, and the threads that use it.
 *
 * Whatever a measurement sends is counted here, per world. worlds_settle() waits until every world has
 * made exactly one durable step for each item: so a measurement that loses an item, or runs one twice,
 * fails. All functions that return int return 0, or -1 after a message. */
#ifndef UNIVERSE_BENCH_WORLDS_H
#define UNIVERSE_BENCH_WORLDS_H

#include "node/host.h"
#include "sapling/universe.h"

#include <stdatomic.h>
#include <stdint.h>

enum {
    WORLDS_PAYLOAD = 100, /* bytes of JSON of a message */
    WORLDS_CLIENTS = 64,  /* threads of most loads */
    WORLDS_STUCK_S = 10,  /* how long a message named WORLDS_STUCK keeps its handler */
};

#define WORLDS_STUCK "stuck"

typedef struct Worlds {
    SapUniverse *universe;
    uint32_t first;               /* their names are made of the numbers from here on */
    uint32_t count;               /* calls below take their numbers from 0 on */
    atomic_uint_least64_t *items; /* of each, that of its creation included */
} Worlds;

/* Says what failed; 0 for SAP_OK. */
int worlds_check(const char *what, int rc);

/* Makes and opens the store with no worlds in it; the caller owns *worlds: worlds_close(). */
int worlds_make(const char *url, Worlds *worlds);
/* Creates `count` worlds, from WORLDS_CLIENTS threads. Those that were created before stay in the store,
 * and are from now on none of *worlds. */
int worlds_create(Worlds *worlds, uint32_t count);
/* Opens a store that has `count` worlds already, to each of which so many items were sent. */
int worlds_open(const char *url, uint32_t count, uint64_t items, Worlds *worlds);
/* The worker is closed. */
int worlds_close(Worlds *worlds);

/* Sends a message; with an id, somebody waits for a reply. */
int worlds_send(Worlds *worlds, uint32_t world, const char *name, const char *id);
/* Sends `each` messages to each world, round by round, from WORLDS_CLIENTS threads. */
int worlds_send_each(Worlds *worlds, uint64_t each);
/* Waits for that reply. */
int worlds_await(Worlds *worlds, uint32_t world, const char *id);
/* Waits until all items that were sent are durable steps. */
int worlds_settle(Worlds *worlds);
/* The same, and until the worker has no hint left that would make it look at a world once more. */
int worlds_rest(Worlds *worlds);
/* How many steps of the world are durable. */
int worlds_height(Worlds *worlds, uint32_t world, uint64_t *height_out);
/* Of all worlds together, were all settled. */
uint64_t worlds_steps(const Worlds *worlds);

/* Starts a worker that keeps up to max_worlds in memory; 0: the default. */
int worlds_host(Worlds *worlds, uint32_t max_worlds, Host **host_out);
int worlds_host_stop(Host *host);

/* Waits until the first handler of this process is called, and writes the number of its world. */
int worlds_await_first(uint32_t *world_out);
/* While it is held, no handler returns. */
void worlds_hold_handlers(int hold);
/* Waits until a handler is in a message named WORLDS_STUCK. */
int worlds_await_stuck(void);

/* Runs `body` in `count` threads, each with its number, and waits for all of them. */
typedef int (*WorldsThread)(void *ctx, uint32_t thread);
int worlds_threads(uint32_t count, WorldsThread body, void *ctx);

void worlds_name(const Worlds *worlds, uint32_t world, char name[16]);

/* Of this process so far: user and system time. */
double worlds_cpu_seconds(void);

#endif
