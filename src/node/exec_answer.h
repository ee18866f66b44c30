/* exec_answer.h - what a program answered, done to its world or told of its task.
 *
 * An answer is one line: a JSON object that names the event by its id. Its fields are checked
 * before anything is done; what a world refuses after that fails the whole call, so that none of it
 * happened. */
#ifndef SAPLING_NODE_EXEC_ANSWER_H
#define SAPLING_NODE_EXEC_ANSWER_H

#include "node/exec_protocol.h"

/* What a program was asked. All is borrowed. */
typedef struct ExecAsked {
    const char *id;
    const char *reply_to; /* "": nobody waits, and a reply is dropped */
    bool query;           /* it may reply or fail, and nothing else */
    bool may_ask;         /* it may read its state by further lines */
} ExecAsked;

typedef enum ExecVerdict {
    EXEC_DONE,   /* the answer was applied */
    EXEC_FAILED, /* the program says so: error->text, and `retry` */
    EXEC_ASKED,  /* it asked for rows: `more` is the line for it */
    EXEC_BEAT,   /* a task is alive */
} ExecVerdict;

typedef struct ExecAnswer {
    ExecVerdict verdict;
    bool retry; /* of EXEC_FAILED: it is to be tried again */
    bool stray; /* with SAP_INVALID: no answer to that event; nothing it writes can be trusted */
} ExecAnswer;

/* Applies an answer to the world. SAP_INVALID: it is wrong; *error says how, without the program's
 * name. Any other code but SAP_OK is the world's or the machine's, and nobody's mistake. */
int exec_answer_apply(SapWorld *world, const ExecAsked *asked, const char *line, size_t len,
                      Buf *more, ExecAnswer *answer_out, ExecError *error);

/* What a task answered: with EXEC_DONE, or EXEC_FAILED, the receipt's code and payload. */
typedef struct ExecTaskAnswer {
    ExecAnswer answer;
    char code[65]; /* of a failed one */
    SapEncoding encoding;
    Buf payload; /* the caller's: buf_release() */
} ExecTaskAnswer;

/* As exec_answer_apply(); *out is cleared first, but for its payload's memory. */
int exec_task_answer_read(const char *id, const char *line, size_t len, ExecTaskAnswer *out,
                          ExecError *error);

#endif
