/* exec_process.h - one program that runs: started clean, spoken to line by line, ended with all it
 * has started.
 *
 * A process leads a group of its own and has three pipes and nothing else of this process. It is
 * used by one thread at a time. Whoever talks to it waits no longer than until a deadline, and can
 * be told to stop; whatever the program writes is bounded. */
#ifndef SAPLING_NODE_EXEC_PROCESS_H
#define SAPLING_NODE_EXEC_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/log.h"
#include "node/exec_guard.h"
#include "node/exec_protocol.h"

enum { EXEC_STDERR_LINE = 1024, EXEC_LAST_LINE = 200 };

/* How programs are started. All is borrowed. */
typedef struct ExecSpawn {
    char *const *argv;
    char *const *envp;
    const char *directory; /* where it runs, if it may go there */
    const char *name;      /* for messages */
    uint64_t max_memory;
    const ExecGuard *guard;
    bool switches_user;
    uid_t uid;
    gid_t gid;
    const gid_t *groups;
    size_t group_count;
} ExecSpawn;

/* Lines of standard error on their way to the log. */
typedef struct ExecStderr {
    size_t len;
    bool cut; /* the line went on */
    char line[EXEC_STDERR_LINE];
    char last[EXEC_LAST_LINE + 1]; /* the last one that was not blank, for messages */
    uint64_t second;               /* of the count */
    uint32_t lines;                /* logged in that second */
    uint32_t dropped;
    uint64_t read_from_ns; /* not looked at before: more comes than anybody can read */
} ExecStderr;

/* The words under which a process's lines are logged; borrowed. */
typedef struct ExecVoice {
    const Log *log;
    const char *module;
    const char *world; /* "": no call is under way */
} ExecVoice;

typedef struct ExecProcess {
    pid_t pid;
    int pidfd;
    int in;  /* written; -1: closed */
    int out; /* read */
    int err; /* read; -1: at its end */
    Buf read;
    size_t scanned; /* of read: there is no newline in it */
    ExecStderr errors;
    uint64_t calls;      /* begun */
    uint64_t generation; /* of the code */
    uint64_t idle_since_ns;
    uint64_t kill_at_ns; /* of one that was asked to end */
    bool killed;
    struct ExecProcess *next; /* in whatever list it is */
} ExecProcess;

/* Called by one and the same thread for all processes, which lives as long as they: the system ends
 * a process when the thread that started it ends. SAP_OK: *process_out is the caller's.
 * SAP_NOTFOUND: the program cannot be started; *error says why. SAP_NOMEM: no process, memory or
 * descriptor is to be had; *error says so. */
int exec_process_start(const ExecSpawn *spawn, ExecProcess **process_out, ExecError *error);

/* Kills the group. */
void exec_process_kill(ExecProcess *process);
/* Asks it to end by closing its standard input. */
void exec_process_ask_to_end(ExecProcess *process, uint64_t kill_at_ns);
/* Whether the program has ended. Its group may not have. */
bool exec_process_has_ended(const ExecProcess *process);
/* Kills what is left of the group, waits for the program, which has ended, and frees everything. */
void exec_process_free(ExecProcess *process, const ExecGuard *guard);

typedef enum ExecTalk {
    EXEC_TALK_LINE,      /* *line_out: without its newline, borrowed until the next call */
    EXEC_TALK_CANCELLED, /* nobody waits any more */
    EXEC_TALK_TIMEOUT,
    EXEC_TALK_ENDED,    /* the program has ended, or closed its standard output */
    EXEC_TALK_TOO_LONG, /* a line above EXEC_LINE_MOST */
    EXEC_TALK_FAILED,   /* no memory */
} ExecTalk;

typedef struct ExecWait {
    uint64_t deadline_ns; /* by the monotonic clock */
    bool patient;         /* it waits for a process as long as that, also while none comes back */
    bool (*cancelled)(void *ctx);
    void *ctx;
} ExecWait;

/* Writes the request, which may be empty, and waits for the next line. After EXEC_TALK_ENDED
 * *unread_out, unless NULL, says that the program has not read a byte of the request: it may be
 * sent to another one. */
ExecTalk exec_process_talk(ExecProcess *process, Slice request, const ExecWait *wait,
                           const ExecVoice *voice, Slice *line_out, bool *unread_out);

/* How it has ended, after EXEC_TALK_ENDED: "exited with status 1: ...". Waits a moment for it. */
void exec_process_explain_end(ExecProcess *process, const ExecVoice *voice, uint64_t max_memory,
                              ExecError *error);

/* Logs what it has written to standard error, as far as it is there. */
void exec_process_drain_errors(ExecProcess *process, const ExecVoice *voice);

/* Whether it can be given another event: it runs, and has written nothing that nobody asked for.
 * The line that exec_process_talk() returned is gone. */
bool exec_process_is_quiet(ExecProcess *process);

/* The descriptor of standard error to be waited for; -1: it is at its end, or writes more than
 * anybody can read. */
int exec_process_error_fd(const ExecProcess *process, uint64_t now_ns);

#endif
