/* simulator_toy.h - a small system for the simulator: transfers between accounts, by two roles.
 *
 * Clients outside ask for transfers, each under an id of its own, and ask again until they get an
 * acknowledgement. An acceptor puts the request and the work for it, and acknowledges when that is
 * durable. A mover claims a piece of work under a fresh token, then does the transfer and ends the
 * work in one transaction, if its token still stands; what was claimed and not done in time, it puts
 * back. What must hold: nothing that was acknowledged is lost, every transfer is done exactly once,
 * and no money is made or lost on the way.
 *
 * Three known races can be planted. */
#ifndef SAPLING_TESTS_SIMULATOR_TOY_H
#define SAPLING_TESTS_SIMULATOR_TOY_H

#include <stdbool.h>
#include <stdint.h>

#include "simulator/simulator.h"

enum { TOY_REQUESTS = 12, TOY_ACCOUNTS = 3 };

typedef enum ToyRace {
    TOY_CORRECT,
    TOY_NO_GUARD,     /* balances are read, changed and written without a guard */
    TOY_NEWEST_ACKED, /* a request that is found by a newest read is acknowledged at once */
    TOY_BLIND_RETRY,  /* after an unknown outcome the transfer is done again without a look */
    TOY_RACES
} ToyRace;

typedef struct Toy {
    ToyRace race;
    /* The world outside, which no fault reaches. */
    bool acknowledged[TOY_REQUESTS];
    uint32_t next; /* who asks next */
} Toy;

/* One run of a toy. `options` are those of simulator_options_init(), changed or not; it sets the
 * roles and the checks. */
int toy_run(ToyRace race, const SimulatorOptions *options, uint64_t seed,
            SimulatorReport *report_out);

const char *toy_race_name(ToyRace race);

#endif
