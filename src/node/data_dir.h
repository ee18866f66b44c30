/* data_dir.h - the directory of a node's data: whose it is, which format it has, and what lies in it.
 *
 *   format       "sapling data 1": a newer one is refused
 *   lock         locked by the node that runs on it; its text is the pid
 *   worker       the node's name among workers, the same at every start
 *   token        the admin token, mode 0600; tokens: all of them (tokens.h)
 *   node.pid     the pid, for other programs, while a node runs
 *   node.json    {"pid","started_ms","address","socket"}, while a node runs; after one that was killed it is
 *                still there, which is how the next one knows
 *   node.log     the log of a node that runs detached
 *   node.sock    the HTTP API for this machine
 *   store.db...  worlds, unless they are kept on a server
 *
 * The directory has mode 0700. A file is replaced as a whole, or not at all. */
#ifndef SAPLING_NODE_DATA_DIR_H
#define SAPLING_NODE_DATA_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node/node_error.h"

enum { DATA_FORMAT = 1, DATA_PATH_MAX = 4096, DATA_NAME_MAX = 128 };

typedef struct DataDir DataDir;

/* Makes the directory, or checks it; locks it; makes what is missing. SAP_BUSY: another node has it.
 * SAP_CONFLICT: of a newer format. SAP_CORRUPT: something else is there. SAP_IO, SAP_FULL, SAP_READONLY.
 * *error says which and what to do. The caller owns *dir_out: data_dir_close(). */
int data_dir_open(const char *path, DataDir **dir_out, NodeError *error);
/* Unlocks it. `clean`: the node has stopped as it should, which the next start will know. NULL accepted. */
void data_dir_close(DataDir *dir, bool clean);

/* Absolute, without links. All borrowed until it is closed. */
const char *data_dir_path(const DataDir *dir);
/* The path of a file in it. */
void data_dir_file(const DataDir *dir, const char *name, char path[DATA_PATH_MAX]);
const char *data_dir_worker(const DataDir *dir);

/* The node before did not stop as it should: its pid, and when it had started. */
typedef struct DataLeft {
    bool made;    /* there was no node before */
    bool unclean; /* what follows counts */
    int64_t pid;
    uint64_t started_ms; /* since 1970 */
} DataLeft;
DataLeft data_dir_left(const DataDir *dir);

/* A node runs here from now on. `address` NULL: the socket alone. */
int data_dir_note_running(DataDir *dir, const char *address, uint64_t started_ms, NodeError *error);

/* Writes a file of mode 0600 as a whole: for what others than data_dir.c keep too. -1: errno. */
int data_file_write(const char *path, const char *text, size_t len);

#endif
