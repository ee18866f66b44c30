/* queue.h - the verbs of `sapling queue`, and what they share. Each takes a call whose words have been
 * checked against the table and returns the exit status.
 *
 * A number, to people, is a seq without the bit that sorts normal messages behind those of high
 * priority: it stays unique in the file. */
#ifndef SAPLING_CLI_QUEUE_H
#define SAPLING_CLI_QUEUE_H

#include <stdint.h>

#include "cli/command.h"
#include "common/buf.h"
#include "node/access.h"

int queue_push_verb(const Call *call);
int queue_pop_verb(const Call *call);
int queue_peek_verb(const Call *call);
int queue_stat_verb(const Call *call);
int queue_dlq_list_verb(const Call *call);
int queue_dlq_show_verb(const Call *call);
int queue_dlq_replay_verb(const Call *call);
int queue_dlq_drop_verb(const Call *call);
int queue_replay_log_verb(const Call *call);

/* ---- Shared (queue_common.c) ----------------------------------------------------------------------- */

uint64_t queue_number(uint64_t seq);
bool queue_is_high(uint64_t seq);

/* --queue, or "default". EXIT_USAGE after saying so: too long or empty. */
int queue_name(const Call *call, const char **name_out);
/* EXIT_NOT_FOUND after naming those that are there: there is none of the name in the file. */
int queue_find(const Call *call, const char *path, Access *access, const char *name);

/* An id or a trace as people read it: text if it prints, otherwise hexadecimal digits. SAP_OK or
 * SAP_NOMEM. Appends no NUL. */
int queue_id_text(Buf *out, Slice id);
/* The name of a queue as people read it; "?": no memory. Answers `text`. */
enum { QUEUE_SHOWN = 4 * 255 + 1 };
const char *queue_shown(Slice name, char text[QUEUE_SHOWN]);
/* The beginning of a payload on one line. */
enum { QUEUE_PREVIEW = 60 };
int queue_preview(Buf *out, Slice payload);
/* Fills a column that began at `start` up to its width, and parts it from the next. */
int queue_pad(Buf *out, size_t start, size_t width);
/* Why a message was given up: codes from QUEUE_EXIT on are exit codes of a command, those from
 * QUEUE_SIGNAL on signals that killed it, all others the library's. */
enum { QUEUE_EXIT = 1000, QUEUE_SIGNAL = 2000, QUEUE_CODES_END = 3000 };
const char *queue_error(int32_t rc, char text[UI_TEXT]);
/* "5 s", "-" for a time that is not known. */
const char *queue_age(int64_t then_ms, char text[UI_TEXT]);
/* The same of how long it is until a time. */
const char *queue_due(int64_t due_ms, char text[UI_TEXT]);

/* A message with what each verb says about one. NULL: out of memory. */
json_t *queue_message_json(const char *queue, const AccessMessage *message);
/* Adds a number; 0 or -1. */
int json_set_int(json_t *object, const char *name, int64_t number);

/* ---- Messages that were claimed (queue_pop.c, queue_exec.c) ----------------------------------------- */

/* One that was claimed, in memory of its own. */
typedef struct Claimed {
    AccessMessage message; /* its slices point into bytes */
    Buf bytes;
} Claimed;
void claimed_release(Claimed *claimed);

typedef struct Pop {
    const Call *call;
    const char *path;
    const char *queue;
    const char *command; /* NULL: payloads are printed */
    uint32_t lease_ms;   /* 0: that of the queue */
    uint32_t attempts;   /* of a message; 0: as many as the queue's */
    int64_t retry_ms;    /* 0: the queue's wait; -1: none */
    Access *access;      /* NULL: closed */
    uint32_t failed;     /* commands that failed */
} Pop;

/* Opens the file, so that others can use it meanwhile, and waits for one that cannot be shared. */
int pop_open(Pop *pop, uint32_t patience_ms);
/* Whether a claim that is not held any more was lost with an owner that died, which is said, and has not
 * passed to another: its time is not over. Claims are not synced, and a message comes again then. */
bool queue_claim_was_lost(const Pop *pop, const AccessMessage *message);
/* Closes it, if it is open. */
int pop_close(Pop *pop, int code);

/* Runs the command for a message and settles what becomes of it. The file is closed while it runs, and
 * open again on EXIT_DONE. */
int exec_message(Pop *pop, const AccessMessage *message);

#endif
