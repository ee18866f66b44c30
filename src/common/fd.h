/* fd.h - opening descriptors, always above the standard ones.
 *
 * A program may be started with standard input, output or error closed. The system then gives the
 * next file that is opened descriptor 0, 1 or 2, and whatever prints or reads writes into that file
 * or takes its bytes. So nothing of this tree keeps a file, socket or directory there: each is
 * opened by a call below, or handed to fd_raise() at once (`make tidy` checks it).
 *
 * All descriptors are closed on exec. */
#ifndef SAPLING_COMMON_FD_H
#define SAPLING_COMMON_FD_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>

enum { FD_FIRST = 3 }; /* the lowest that is not a standard one */

/* Takes ownership of `fd`, whatever it returns: the same, or the same file under a number from
 * FD_FIRST on. -1: errno is set, and `fd` is closed (or was -1 already). */
int fd_raise(int fd);

/* open(); `mode` is for O_CREAT. -1: errno is set. Close with close(). */
int fd_open(const char *path, int flags, unsigned mode);

/* A pipe: ends[0] is read, ends[1] written. False: errno is set, and nothing is open. */
bool fd_pipe(int ends[2]);

/* A directory to list, close with closedir(); a file to read, close with fclose(). NULL: errno is
 * set. */
DIR *fd_open_dir(const char *path);
FILE *fd_open_stream(const char *path);

/* Gives the file the owner and the permissions of the file `model`, as far as the system lets this
 * process: what lies beside a file is for the same people as the file itself. Without a model it
 * stays as it is. */
void fd_match(int fd, const char *model);

/* For a program's start: opens those of the three standard descriptors that are closed, so that
 * reading or writing them fails with EBADF instead of reaching a file that some library opens
 * there. False: it could not be done; errno is set. */
bool fd_fill_standard(void);

#endif
