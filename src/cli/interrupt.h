/* interrupt.h - SIGINT and SIGTERM.
 *
 * By default either ends the process at once with status 130: files of the engine survive that. What
 * must be tidied first is of two kinds. A file that is half written is named by interrupt_remove(),
 * and gone when the process is. Work that can stop by itself holds the signal and looks at
 * interrupt_pending(); a second signal does not wait for it. This is the only state of the command
 * that is global: a signal handler has no other. */
#ifndef SAPLING_CLI_INTERRUPT_H
#define SAPLING_CLI_INTERRUPT_H

#include <stdbool.h>

/* `json`: how an interruption is told. */
void interrupt_install(bool json);

/* From now on the first signal only sets the mark. */
void interrupt_hold(void);
bool interrupt_pending(void);

/* The file, its -lock and its -new are removed when a signal ends the process; NULL: none. The path
 * is copied; one that is too long for the system is none. */
void interrupt_remove(const char *path);

#endif
