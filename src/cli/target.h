/* target.h - a file that is there complete, or not at all.
 *
 * It is written under a name of its own beside the final one, synced, and renamed; the directory is
 * synced then. Whatever ends the command before that leaves nothing under the final name, and nothing
 * under the other one either, unless the process is killed: then the next one with the same target
 * removes it. */
#ifndef SAPLING_CLI_TARGET_H
#define SAPLING_CLI_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "cli/output.h"

typedef struct Target {
    const Ui *ui;
    const char *path; /* NULL: standard output */
    char *temp;       /* the name until it is complete; absolute */
    int fd;           /* -1: none */
    bool replace;
    Buf out; /* not written yet */
    uint64_t size;
    int error; /* errno of the first write that failed; 0: none */
} Target;

/* All that return int answer EXIT_DONE, or the exit status after saying what is wrong. */

/* `path` is borrowed until the end; NULL or "-": standard output. `source` is what will be read,
 * borrowed for the call. Without `replace` a file of the name is EXIT_CONFLICT; so is at all times what
 * is no regular file, and the source under any of its names. What processes that were killed left of the
 * same target is removed. Release with target_commit() or target_abandon(), whatever the answer is. */
int target_start(Target *target, const Ui *ui, const char *path, const struct stat *source,
                 bool replace);
/* Opens the temporary file for target_write(). Not for files that others write by the name. */
int target_open(Target *target);
/* SAP_OK, or SAP_IO: the error is kept for target_commit(), which tells it. */
int target_write(Target *target, const void *bytes, size_t len);
/* Everything so far is in the temporary file. SAP_OK or SAP_IO, as above. */
int target_flush(Target *target);
/* Gives the file its name; one that replaces another gets that one's owner and permissions. */
int target_commit(Target *target);
/* Says that the file could not be written (`doing`), by the error. EXIT_FAILED. */
int target_failed(const Target *target, const char *doing, int error);
/* Removes what there is. Says what a failed target_write() met, if there was one: true. */
bool target_abandon(Target *target);

/* Copies a message, with the name that the file will have in place of the one that it has. */
void target_tell(const Target *target, const char *text, char *out, size_t size);

/* Whether the first bytes of a file, best FILE_HEADER of them, are those of a data file. */
bool target_is_image(const uint8_t *start, size_t len);
/* Whether the file is a data file, as far as it can be read. */
bool target_is_db(const char *path);
/* Whether a log lies beside the path: a database that is put there would be taken for its own. */
bool target_has_log(const char *path);
/* Whether it says that it belongs to another database than the data file, whose header can be read. */
bool target_has_foreign_log(const char *path);
/* The files of that log, of many the first and how many more, into `text`, which is returned. */
const char *target_log_names(const char *path, char *text, size_t size);
/* Removes it, and syncs the directory. */
int target_remove_log(const Target *target);
/* Removes a database under a temporary name: the data file and all of that name with "-..." behind
 * it, which the engine puts beside it. */
void target_remove_db(const char *path);

#endif
