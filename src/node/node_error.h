/* node_error.h - what keeps a node from starting, said to a person: what is wrong, and what to do. */
#ifndef SAPLING_NODE_NODE_ERROR_H
#define SAPLING_NODE_NODE_ERROR_H

enum { NODE_ERROR_TEXT = 1024 };

typedef struct NodeError {
    char message[NODE_ERROR_TEXT];
    char hint[NODE_ERROR_TEXT]; /* "": there is nothing to say */
} NodeError;

/* Fills *error in and returns `rc`. */
int node_error_set(NodeError *error, int rc, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
