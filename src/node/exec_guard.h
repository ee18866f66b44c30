/* exec_guard.h - a process that outlives this one for a moment, to end what it has left.
 *
 * The system ends a program when this process dies, but not what the program has started itself. So
 * a child of this process, which does nothing else, is told of every process group; when this
 * process is gone, however it ended, it kills those that are left, and ends too. */
#ifndef SAPLING_NODE_EXEC_GUARD_H
#define SAPLING_NODE_EXEC_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct ExecGuard {
    pid_t pid;
    int fd; /* written: groups that begin, and that are over */
} ExecGuard;

/* SAP_NOMEM: no process or descriptor is to be had. */
int exec_guard_start(ExecGuard *guard);
/* Ends it: it kills the groups that it was told of and not that they are over. Waits for it. */
void exec_guard_stop(ExecGuard *guard);

/* A group begins. Called in the child that leads it, before it becomes the program, with the
 * guard's descriptor; does nothing that a child of a process with threads may not do. */
void exec_guard_note_begin(int fd, pid_t group);
/* A group is over, and its leader not yet waited for, so that the number is no other's. */
void exec_guard_note_end(const ExecGuard *guard, pid_t group);

#endif
