/* simulate.h - `sapling simulate`. */
#ifndef SAPLING_CLI_SIMULATE_H
#define SAPLING_CLI_SIMULATE_H

#include "cli/command.h"

int simulate_verb(const Call *call);

#endif
