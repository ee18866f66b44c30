/* node_common.h - what the commands that talk to a node share. */
#ifndef SAPLING_CLI_NODE_COMMON_H
#define SAPLING_CLI_NODE_COMMON_H

#include "cli/node_show.h"

/* All answer EXIT_DONE, or the exit status after saying what is wrong. */

/* Reads a payload: the text, which must be JSON ("-": standard input), or with --raw bytes. *body_out is a
 * new reference, {"b64": ...} for bytes; NULL where `text` is. *encoding_out is "raw" or NULL. */
int payload_read(const Call *call, const char *text, json_t **body_out, const char **encoding_out);
/* A text as JSON of any kind; NULL: it is not. */
json_t *payload_parse(const char *text, size_t len, json_error_t *error);

/* One request and no more: opens the node, sends it, prints the fields of the answer (NULL: only with --json)
 * and closes the node. Takes ownership of the request's path and body. */
int command_once(const Call *call, NodeRequest request, const Field *fields);

/* What a word stands for that names an effect or a timer of a world: its hash, the beginning of its hash, or
 * its ref. `lists` is "effects" or "timers". The caller frees *hash_out. */
int hash_find(NodeClient *client, const char *lists, const char *world, const char *word,
              char **hash_out);

/* A module as --module and `module put` take it. */
typedef struct Program {
    char *name;   /* of the module */
    char *runner; /* NULL: `name` is one that is registered */
} Program;
/* "exec:./hello.py arg" or "./hello.py" is a program on this machine, which must be there and be executable:
 * its path becomes absolute, its name is that of the file without its ending. "native:NAME" is a runner, any
 * other word a name. Release with program_release(). */
int program_read(const Call *call, const char *text, Program *program_out);
void program_release(Program *program);

/* The module of --module: registers a program whose name is free, and refuses one whose name another has. */
int program_register(NodeClient *client, const Program *program);

#endif
