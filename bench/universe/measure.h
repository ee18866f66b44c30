/* measure.h - what is measured of the universe, and of a queue on PostgreSQL beside it.
 *
 * Each function runs in a process of its own and in an empty directory, writes what it measured to
 * values[], in the order of its enum, and returns 0, or -1 after a message. A value that it does not
 * write is not measured. */
#ifndef UNIVERSE_BENCH_MEASURE_H
#define UNIVERSE_BENCH_MEASURE_H

#include <stdint.h>

enum { UNI_VALUES = 9, UNI_URL = 4300 };

typedef struct UniRun {
    const char *dir;    /* empty, on a disk */
    char url[UNI_URL];  /* of a store in it that does not exist yet */
    char path[UNI_URL]; /* its file */
    /* Of a PostgreSQL server: a store that does not exist yet, and for libpq. "": there is none. */
    char pg_url[UNI_URL];
    char pg_conninfo[UNI_URL];
    uint64_t ms;   /* how long clients send */
    uint32_t many; /* dormant worlds, and worlds of a worker that dies */
} UniRun;

/* ---- steps.c: steps from end to end --------------------------------------------------------- */

enum {
    STEPS_PER_S,
    STEPS_P50_MS, /* of what a client waits for */
    STEPS_P95_MS,
    STEPS_PER_COMMIT, /* of the store, those of the senders included */
    STEPS_PER_CYCLE,
    STEPS_CPU_US,     /* of the whole process, for a step */
    STEPS_CORES,      /* CPU time by elapsed time */
    STEPS_FILE_BYTES, /* of the closed file, by the steps of all its worlds */
};

/* 64 clients and 1000 worlds: each client sends a message and waits until it is durable, or until the
 * reply is. The time runs until the last step is durable and the worker has no hint left. */
int measure_acknowledged(const UniRun *run, double *values);
int measure_replies(const UniRun *run, double *values);
/* The same on a PostgreSQL server. */
int measure_acknowledged_pg(const UniRun *run, double *values);
int measure_replies_pg(const UniRun *run, double *values);

/* 1000 worlds with 300 messages each when the worker starts. STEPS_P50_MS and STEPS_P95_MS are not
 * written. */
enum { BACKLOG_DURABLE_PER_S = STEPS_FILE_BYTES + 1 }; /* until the last step is durable */
int measure_backlog(const UniRun *run, double *values);

/* Renewals of a session of their own, one every 5 ms, beside the clients of measure_acknowledged(). */
enum { RENEWAL_P50_MS, RENEWAL_P95_MS, RENEWAL_MAX_MS, RENEWAL_STEPS_PER_S };
int measure_renewal(const UniRun *run, double *values);

/* ---- pg_queue.c: a queue as one makes it on PostgreSQL -------------------------------------- */

/* 64 producers insert messages; workers take one at a time with SKIP LOCKED, update the row of its
 * world and mark it as done, each in one transaction. */
enum { PG_QUEUE_64_PER_S, PG_QUEUE_16_PER_S /* workers */, PG_QUEUE_BEST_PER_S };
int measure_pg_queue(const UniRun *run, double *values);

/* ---- load.c: 1000 messages a second to 100 worlds, whether or not they are answered in time --- */

/* The item is in the inbox at some time within sap_enqueue_ingress(), and a worker may begin before that
 * returns; the reply is durable with the step that made it. So the time from the call of
 * sap_enqueue_ingress() to the return of sap_world_reply_wait() is an upper bound, and the time from the
 * return of the first, which is 0 where one sync was enough for both commits, a lower one. */
enum {
    NOMINAL_P50_MS,
    NOMINAL_P95_MS,
    NOMINAL_P99_MS,
    NOMINAL_AFTER_P95_MS, /* the lower bound */
    NOMINAL_SEND_P95_MS,  /* sap_enqueue_ingress() itself */
    NOMINAL_CPU_PERCENT,
};
int measure_nominal(const UniRun *run, double *values);

/* The same without and with a handler of another world that sleeps: from the moment at which the message
 * was to be sent to its reply. */
enum { STUCK_WITHOUT_P95_MS, STUCK_WITH_P95_MS, STUCK_RATIO };
int measure_stuck(const UniRun *run, double *values);

/* ---- life.c: worlds that come into memory --------------------------------------------------- */

/* A world of 200,000 entries. */
enum { RESTORE_PER_S, RESTORE_SECONDS };
int measure_restore(const UniRun *run, double *values);

/* 1000 worlds with 20 messages each: from the opening of the file until a step is durable, after a clean
 * end of the process before and after one in the middle of a handler. */
enum { RESTART_CLEAN_MS, RESTART_KILLED_MS, RESTART_CLEAN_ALL_MS, RESTART_KILLED_ALL_MS };
int measure_restart(const UniRun *run, double *values);

/* A message to a world of 10 entries that nobody holds, from its send to its reply; by a worker with room
 * for it, and by one that gives another world back first. And a message to each of 1000 such worlds at
 * once, for a worker with room for 64. */
enum {
    ACTIVATION_P50_MS,
    ACTIVATION_P95_MS,
    ACTIVATION_FULL_P50_MS,
    ACTIVATION_FULL_P95_MS,
    ACTIVATION_CHURN_PER_S,
};
int measure_activation(const UniRun *run, double *values);

/* ---- asks.c: effects, workflows and timers -------------------------------------------------- */

/* 500 messages a second to 100 worlds, each of which asks for an effect that does nothing: from the
 * handler that asks to the handler that gets the receipt. And as many as there can be. */
enum { EFFECTS_P50_MS, EFFECTS_P95_MS, EFFECTS_P99_MS, EFFECTS_CPU_US, EFFECTS_PER_S_MOST };
int measure_effects(const UniRun *run, double *values);

/* One after the other: a message whose handler asks for an effect, whose receipt arms a timer of 0, whose
 * event replies; from the call of the send to the reply. */
enum { WORKFLOW_P50_MS, WORKFLOW_P95_MS };
int measure_workflow(const UniRun *run, double *values);

/* Ten times as many armed timers as there are dormant worlds, 1000 in each of 1000 worlds: what they cost
 * while they wait, and a message whose handler arms a timer of 0, whose event replies, without them and
 * beside them. */
enum {
    TIMERS_NONE_CPU_PERCENT, /* of a core, without timers */
    TIMERS_CPU_PERCENT,      /* more with them */
    TIMERS_FEW_P50_MS,
    TIMERS_FEW_P95_MS,
    TIMERS_P50_MS,
    TIMERS_P95_MS,
    TIMERS_RATIO, /* of the two medians */
    TIMERS_ARMED_PER_S,
};
int measure_timers(const UniRun *run, double *values);

/* 100,000 timers of 100 worlds that are due at the same moment: until the last has fired, and until the
 * last was handled. */
enum { FIRING_PER_S, FIRING_HANDLED_PER_S, FIRING_CPU_US };
int measure_firing(const UniRun *run, double *values);

/* ---- many.c: 100,000 worlds ----------------------------------------------------------------- */

/* Worlds of one step each, none in memory, beside a universe without worlds. */
enum {
    DORMANT_CPU_PERCENT,
    DORMANT_EMPTY_CPU_PERCENT,
    DORMANT_BYTES, /* of memory that is not of the file, for a world */
    DORMANT_OPEN_MS,
    DORMANT_CREATED_PER_S,
    DORMANT_FIRST_STEPS_PER_S,
};
int measure_dormant(const UniRun *run, double *values);

/* A session that holds worlds with something in their inboxes expires: until another worker has freed
 * the last of them. */
enum { TAKEOVER_SECONDS, TAKEOVER_PER_S };
int measure_takeover(const UniRun *run, double *values);

#endif
