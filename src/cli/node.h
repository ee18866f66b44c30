/* node.h - what the commands that run or configure a node share. */
#ifndef SAPLING_CLI_NODE_H
#define SAPLING_CLI_NODE_H

#include "cli/command.h"
#include "node/config.h"

int up_verb(const Call *call);
int config_show_verb(const Call *call);

/* The configuration by everything that has a say. EXIT_DONE, or what went wrong, after saying so. The caller
 * owns *config_out: config_free(). */
int node_config(const Call *call, Config **config_out);

#endif
