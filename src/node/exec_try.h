/* exec_try.h - one event given to a program, without a node. */
#ifndef SAPLING_NODE_EXEC_TRY_H
#define SAPLING_NODE_EXEC_TRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Zero bytes are the defaults, but for the runner. */
typedef struct ExecTry {
    const char *runner;      /* exec:/srv/hello.py, or native:NAME */
    const char *python_path; /* directory put on PYTHONPATH; NULL: none */
    uint64_t timeout_ns;     /* 0: 10 s */
    bool asks; /* the program asks for rows of the state, in place of being given it whole */
} ExecTry;

/* Reads an event from `in`: an object of which every field may be left out, such as
 *
 *   {"type":"message","name":"hi","body":{"n":1},"state":{"count":3}}
 *
 * Other fields are those that a program reads: world, ref, status, code, from, message_id,
 * correlation_id, reply_to, now, attempt; v, id and random are there to be ignored, so that a line
 * which a program has read may be given as it is. The handler runs as in a node, on a world in
 * memory. What it would do is written to `out`, as an object of JSON in the form of an answer;
 * lines of its standard error go to `err`.
 *
 * SAP_OK. SAP_INVALID: the runner or the event is wrong. SAP_NOTFOUND: the program cannot be
 * started. SAP_ERROR: the handler failed. SAP_IO: `in` or `out`. SAP_NOMEM. message[] says what is
 * wrong, for a person. */
int exec_try(const ExecTry *options, FILE *in, FILE *out, FILE *err, char *message,
             size_t message_size);

#endif
