/* interrupt.h - SIGINT, SIGTERM and SIGHUP, the last unless it is ignored, as nohup has it.
 *
 * By default any of them ends the process at once with status 130: files of the engine survive that. What
 * must be tidied first is of two kinds. A database that is half made is named by interrupt_remove(),
 * and gone when the process is. Work that can stop by itself holds the signal and looks at
 * interrupt_pending(); a second signal does not wait for it.
 *
 * A thread waits for the signals, so that it may do what a handler must not. This is the only state
 * of the command that is global. */
#ifndef SAPLING_CLI_INTERRUPT_H
#define SAPLING_CLI_INTERRUPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Before any other thread begins, and again in a child of fork(), which has no thread that waits for signals. `json`:
 * how an interruption is told. */
void interrupt_install(bool json);

/* From now on the first signal only sets the mark. */
void interrupt_hold(void);
bool interrupt_pending(void);
/* The same, after a wait for the mark; it may end early. */
bool interrupt_wait(uint64_t ns);

/* read(), for work that holds the signal: input that does not come is waited for in small parts. EINTR:
 * interrupted. */
ssize_t interrupt_read(int fd, void *bytes, size_t len);

/* The group of processes that the held signal is passed on to, and that a second one kills before it
 * ends this process; also if it has come already. 0: none any more. */
void interrupt_child(pid_t group);

/* Called before a signal that is not held ends the process, by another thread: others who use the file
 * through this process go on with the next owner. NULL: nothing to do any more; does not return if it
 * is being called. `ctx` is borrowed until then. */
void interrupt_say_goodbye(void (*fn)(void *ctx), void *ctx);

/* target_remove_db() of this path when a signal ends the process; NULL: none. Borrowed until the next
 * call. */
void interrupt_remove(const char *path);

#endif
