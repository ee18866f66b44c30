/* help.h - help, completion and the man page, all made from the table of commands. */
#ifndef SAPLING_CLI_HELP_H
#define SAPLING_CLI_HELP_H

#include <stdbool.h>

#include "cli/command.h"

void help_version(const Ui *ui);
/* The ten commands to begin with, by task. */
void help_first(const Ui *ui);
/* All commands by task; of a group: its own. */
void help_overview(const Ui *ui, const char *group);
void help_command(const Ui *ui, const Command *command);
bool help_is_group(const char *name);
/* Says that there is no such command, and which is near; EXIT_USAGE. */
int help_no_such(const Ui *ui, const char *group, const char *name);

/* The commands `help` and `completion`. */
int run_help(const Call *call);
int run_completion(const Call *call);

/* completion.c: a script for the shell of that name; false: no such shell. */
bool completion_print(const char *shell);

#endif
