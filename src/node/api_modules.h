/* api_modules.h - modules: register, show, list.
 *
 * What runs programs of this machine, exec: and native:, may be registered by whoever may use the socket, or where
 * modules.allow has the very same command: the whole argument vector, the program by its resolved path, and in a
 * file that nobody but its owner and root can write. */
#ifndef SAPLING_NODE_API_MODULES_H
#define SAPLING_NODE_API_MODULES_H

#include "node/api_call.h"

void api_modules_list(Call *call);
void api_module_show(Call *call);
void api_module_put(Call *call);

/* Whether one of the lines allows the runner. */
bool api_runner_allowed(const char *runner, const char *const *lines, size_t count);

#endif
