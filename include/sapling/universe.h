/* universe.h - worlds: durable objects that any worker can run and no stale worker can touch.
 *
 * A *world* has a name, a small ordered database of its own (its state), and a handler. What is sent to
 * it waits in its inbox, durable before the sender hears of it, and the handler is called with one item
 * at a time. Everything that one call changes, and the item's removal from the inbox, is one commit: an
 * entry of the world's *journal*. The state can be rebuilt from the journal at any time, by any worker.
 *
 * A *universe* is a numbered set of worlds in a store (store.h): in a file, on PostgreSQL, or in memory.
 * A *worker* runs worlds. It has a session, which it must renew every few seconds; a worker that does
 * not is presumed dead, and others take its worlds over. Each change of hands raises the *epoch* of the
 * world, and every commit compares it, so that a worker that was only slow changes nothing any more.
 *
 * PROMISED
 *
 *   What sap_enqueue_ingress() accepted is handled, or a dead letter, whatever crashes.
 *   An item changes the state of its world once.
 *   Items of one producer to one world are handled in the order in which they were enqueued.
 *   The state is that of the journal, byte for byte.
 *
 * NOT PROMISED
 *
 *   That a handler is called once for an item: after a crash it is called again, on the state that the
 *   first call began with. It must do nothing but through its SapWorld, and take time and randomness
 *   from there, so that it does the same again.
 *   That an item without an id was enqueued only once, if the caller tries again after an unknown
 *   outcome.
 *
 * THREADS
 *
 * A SapUniverse may be used by any number of threads, except on memory:. A SapWorker is stepped by one
 * thread; another thread calls sap_worker_renew(). Handlers run in the thread that steps.
 *
 * CODES
 *
 * SAP_NOTFOUND: no such world, or it is deleted. SAP_INVALID: a name, payload or id that is none.
 * SAP_FULL: above a limit below, or the disk is full. SAP_FENCED: the lease is not the caller's any
 * more. SAP_BUSY and SAP_CONFLICT: others were in the way for too long; try again. SAP_IO: the store
 * failed; where the outcome is unknown, the call says so. SAP_CORRUPT: a row is damaged. SAP_NOMEM. */
#ifndef SAPLING_UNIVERSE_H
#define SAPLING_UNIVERSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sapling/error.h"
#include "sapling/store.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SAP_WORLD_MAX_NAME    128u         /* bytes of UTF-8: worlds, workers, modules, events */
#define SAP_WORLD_MAX_ID      256u         /* bytes of the id of an item */
#define SAP_WORLD_MAX_KEY     900u         /* of a row of the state */
#define SAP_WORLD_MAX_VALUE   (64u * 1024) /* of a row of the state */
#define SAP_WORLD_MAX_PAYLOAD (16u << 20)  /* of an item */
#define SAP_WORLD_MAX_ENTRY   (4u << 20)   /* of what one call of a handler changes and replies */
#define SAP_WORLD_MAX_INTENTS 1024u        /* of one call of a handler */

typedef struct SapUniverse SapUniverse;
typedef struct SapWorker SapWorker;
typedef struct SapWorld SapWorld;

/* How bytes are to be read. JSON and CBOR are brought to their one canonical form when they come in. */
typedef enum SapEncoding {
    SAP_ENCODING_JSON = 0,
    SAP_ENCODING_CBOR = 1,
    SAP_ENCODING_RAW = 2,
} SapEncoding;

/* ---- Opening --------------------------------------------------------------------------------- */

/* Zero bytes are the defaults. */
typedef struct SapUniverseOptions {
    uint32_t size;     /* sizeof the struct; see version.h */
    uint32_t universe; /* which one of the store */
    /* Called with a text where a code alone does not say what happened and what to do. NULL: none. */
    void (*on_message)(const char *text, void *ctx);
    void *message_ctx;
} SapUniverseOptions;

/* Opens the store at `url` (see store.h) and makes it if there is none; on a server its tables are made
 * by sap_universe_init(). A file is opened by one process at a time, so sessions that an earlier process
 * left in it are over at once. The caller owns *universe_out: sap_universe_close(). Codes are those of
 * sap_store_open(). */
SAP_API int sap_universe_open(const char *url, const SapUniverseOptions *options,
                              SapUniverse **universe_out);
/* Makes the tables on a server; running it again changes nothing. */
SAP_API int sap_universe_init(const char *url);

/* SAP_BUSY: a worker is open, or another thread is in a call; nothing was closed. NULL is accepted. */
SAP_API int sap_universe_close(SapUniverse *universe);

/* The store, borrowed until the universe is closed: for its times, waits and stats. */
SAP_API SapStore *sap_universe_store(SapUniverse *universe);

/* ---- Handlers -------------------------------------------------------------------------------- */

typedef enum SapEventKind {
    SAP_EVENT_CREATE = 0,  /* the first item of every world */
    SAP_EVENT_MESSAGE = 1, /* somebody sent it */
    SAP_EVENT_RECEIPT = 2,
    SAP_EVENT_TIMER = 3,
    SAP_EVENT_CANCEL = 4,
} SapEventKind;

/* What a handler is called with; all of it is borrowed for the call. Texts are "" where there is none. */
typedef struct SapEvent {
    SapEventKind kind;
    const char *name;
    const char *id;
    const char *correlation_id;
    const char *from_world; /* "": from outside */
    uint64_t from_height;
    const char *reply_to; /* "": nobody waits. For sap_world_reply(), now or in a later call */
    SapEncoding encoding;
    const void *payload;
    size_t payload_len;
} SapEvent;

/* Handles one item. SAP_OK: done. What sap_world_fail() returned: as it says there. SAP_NOMEM, SAP_IO,
 * SAP_BUSY: the machine's fault; it is tried again for as long as it takes. Any other code is a failure:
 * none of what the call did happened, and it is called again after a pause, up to 8 times in all; then
 * the world is paused, with the reason, until sap_world_resume(). */
typedef int (*SapWorldHandler)(SapWorld *world, const SapEvent *event);

typedef struct SapWorldModule {
    const char *name;
    SapWorldHandler handler;
    struct SapWorldModule *next; /* the library's */
} SapWorldModule;

/* Makes a module known to every worker of this process; it must stay where it is. SAP_EXISTS: another
 * one has the name. SAP_INVALID: the name is none. */
SAP_API int sap_world_module_register(SapWorldModule *module);

/* Defines a module and registers it when the program, or the shared object, is loaded. At file scope. */
#define SAP_WORLD_MODULE(module_name, function)                                      \
    static SapWorldModule sap_module_##function = {(module_name), (function), NULL}; \
    __attribute__((constructor)) static void sap_register_##function(void)           \
    {                                                                                \
        (void)sap_world_module_register(&sap_module_##function);                     \
    }                                                                                \
    typedef int sap_module_needs_a_semicolon_##function

/* The calls below are for handlers, while they run. */

/* The value is borrowed until the next call on this world. SAP_NOTFOUND: there is no such row.
 * encoding_out may be NULL. */
SAP_API int sap_world_get(SapWorld *world, const void *key, size_t key_len, const void **val_out,
                          size_t *val_len_out, SapEncoding *encoding_out);

/* SAP_FULL: key, value or what this call has changed in all is above its limit. SAP_INVALID: bytes that
 * are not of that encoding, or an empty key. JSON and CBOR are stored in canonical form. */
SAP_API int sap_world_put(SapWorld *world, const void *key, size_t key_len, SapEncoding encoding,
                          const void *val, size_t val_len);

/* SAP_NOTFOUND: there was no such row. */
SAP_API int sap_world_del(SapWorld *world, const void *key, size_t key_len);

/* Calls `row` for the rows whose keys begin with `prefix`, in order, until it returns another code than
 * SAP_OK, which is then the result. `row` must not change the state. */
typedef int (*SapWorldRow)(void *ctx, const void *key, size_t key_len, SapEncoding encoding,
                           const void *val, size_t val_len);
SAP_API int sap_world_scan(SapWorld *world, const void *prefix, size_t prefix_len, SapWorldRow row,
                           void *ctx);

/* Replies to whoever waits under `reply_to`, which is that of this event or of an earlier one; the
 * second reply to the same is ignored. SAP_INVALID: no such text, or not of that encoding. */
SAP_API int sap_world_reply(SapWorld *world, const char *reply_to, SapEncoding encoding,
                            const void *payload, size_t len);

/* For `return sap_world_fail(...)`. With `retry` the item is tried again, as after any other failure.
 * Without, it becomes a dead letter with the message, and the world goes on with the next one. */
SAP_API int sap_world_fail(SapWorld *world, bool retry, const char *message);

/* Borrowed for the call of the handler. */
SAP_API const char *sap_world_name(const SapWorld *world);
/* The number of this step in the world's journal. */
SAP_API uint64_t sap_world_height(const SapWorld *world);
/* Nanoseconds since 1970. Never goes back in a world, and is the same if the step is run again. */
SAP_API uint64_t sap_world_time_ns(const SapWorld *world);
/* Random bytes that are the same if the step is run again. */
SAP_API void sap_world_random(SapWorld *world, void *out, size_t len);

/* ---- Worlds ---------------------------------------------------------------------------------- */

typedef enum SapWorldStatus {
    SAP_WORLD_ACTIVE = 0,
    SAP_WORLD_PAUSED = 1,
    SAP_WORLD_STUCK = 2,
    SAP_WORLD_DONE = 3,
    SAP_WORLD_DELETED = 4,
} SapWorldStatus;

typedef struct SapWorldInfo {
    SapWorldStatus status;
    bool drained; /* a deleted world: it can be created again */
    char module[SAP_WORLD_MAX_NAME + 1];
    char reason[1025];                   /* why it does not run; "" */
    char holder[SAP_WORLD_MAX_NAME + 1]; /* the worker that runs it; "": none */
    uint64_t epoch;
    uint64_t height;
    uint8_t digest[32];
    uint8_t state_sum[16];
} SapWorldInfo;

/* Creates a world that runs `module`, whose first event is SAP_EVENT_CREATE with this payload. Returns
 * when that is durable. SAP_EXISTS: there is such a world. SAP_BUSY: also, one of that name was deleted
 * and is not drained yet. After a deleted one its epoch and height go on, and its state is empty. May be
 * called again after SAP_IO. */
SAP_API int sap_world_create(SapUniverse *universe, const char *world, const char *module,
                             SapEncoding encoding, const void *payload, size_t len);

/* Stops it; items still come in. Whoever runs it loses its lease. Pausing a paused world changes its
 * reason only. SAP_NOTFOUND: it is not there, or done or deleted. */
SAP_API int sap_world_pause(SapUniverse *universe, const char *world, const char *reason);
/* Lets a paused or stuck world go on; SAP_OK also if it is active. */
SAP_API int sap_world_resume(SapUniverse *universe, const char *world);
/* Deletes it: nothing comes in any more, and what waits becomes dead letters, by sap_world_drain().
 * SAP_OK also if it is deleted already. */
SAP_API int sap_world_delete(SapUniverse *universe, const char *world, const char *reason);
/* Empties a deleted world, up to `limit` items a call (0: 64). *done_out: nothing is left. SAP_ERROR: it
 * is not deleted. */
SAP_API int sap_world_drain(SapUniverse *universe, const char *world, uint32_t limit,
                            bool *done_out);

/* What is durable of it. */
SAP_API int sap_world_info(SapUniverse *universe, const char *world, SapWorldInfo *info_out);

/* ---- Sending --------------------------------------------------------------------------------- */

/* Zero bytes are the defaults. Everything is borrowed for the call. */
typedef struct SapIngress {
    uint32_t size;    /* sizeof the struct; see version.h */
    const char *name; /* of the event; NULL: "" */
    /* Within 24 hours a second item with this id is not enqueued again. NULL: none. */
    const char *id;
    const char *correlation_id; /* NULL: "" */
    const char *trace_parent;   /* NULL: "" */
    SapEncoding encoding;
    const void *payload;
    size_t payload_len;
    uint8_t priority;    /* 0 is first */
    bool want_reply;     /* for sap_world_reply_wait(); needs an id */
    uint8_t reserved[6]; /* 0 */
} SapIngress;

typedef struct SapIngressResult {
    uint8_t seq[32]; /* its place in the inbox */
    bool duplicate; /* an earlier item has the id: this one was not enqueued, `seq` is that one's */
    bool
        outcome_unknown; /* with SAP_IO: it may have been enqueued; without an id nobody can know */
} SapIngressResult;

/* Puts an item into the inbox of a world, and returns when it is durable. Calls of several threads at
 * the same time share a commit. SAP_NOTFOUND: no such world, or it is done or deleted. SAP_INVALID: the
 * payload is not of its encoding, or a text is none or too long. SAP_EXISTS: the id was used with
 * another payload. SAP_FULL: the payload is too large, or the disk is full. result_out may be NULL, and
 * is written on SAP_OK and on SAP_IO. */
SAP_API int sap_enqueue_ingress(SapUniverse *universe, const char *world, const SapIngress *item,
                                SapIngressResult *result_out);

typedef struct SapReply {
    SapEncoding encoding;
    bool failed;         /* nobody will reply: the item is a dead letter; the payload says why */
    uint64_t height;     /* of the step that replied */
    const char *payload; /* followed by a NUL that is not counted */
    size_t payload_len;
} SapReply;

/* Waits for the reply to the item with that id, for up to timeout_ns. The caller owns *reply_out:
 * sap_reply_free(). Replies are kept for 24 hours. SAP_NOTFOUND: there is none yet. */
SAP_API int sap_world_reply_wait(SapUniverse *universe, const char *world, const char *id,
                                 uint64_t timeout_ns, SapReply **reply_out);
SAP_API void sap_reply_free(SapReply *reply);

/* ---- Workers --------------------------------------------------------------------------------- */

/* Zero bytes are the defaults. */
typedef struct SapWorkerOptions {
    uint32_t size;                     /* sizeof the struct; see version.h */
    const char *name;                  /* no two workers have the same; NULL: a random one */
    uint32_t max_worlds;               /* in memory at once; 0: 1024 */
    uint32_t max_worlds_per_commit;    /* 0: 16; at most 24 */
    uint32_t max_inbox_batch;          /* items of a world read in a cycle; 0: 64 */
    uint32_t max_tick_steps_per_cycle; /* items of a world run in a cycle; 0: 64 */
    uint32_t max_effects_per_cycle;    /* of a world; 0: 1024 */
    uint32_t max_cycle_wall_ms;        /* ends a cycle early; 0: 50 */
    uint32_t max_attempts;             /* of an item whose handler fails; 0: 8 */
    uint32_t reserved;                 /* 0 */
} SapWorkerOptions;

/* Starts a worker and its session. A worker that has the same name loses its session. The caller owns
 * *worker_out: sap_worker_close(). */
SAP_API int sap_worker_open(SapUniverse *universe, const SapWorkerOptions *options,
                            SapWorker **worker_out);

/* Renews the session, if it is time: call it about once a second, from a thread that runs no handlers.
 * SAP_FENCED: the session is over; close the worker and open another. Any other code: call it again. */
SAP_API int sap_worker_renew(SapWorker *worker);

/* Runs one cycle: takes worlds that have something to do, runs their handlers, commits. *busy_out is
 * false when there was nothing to do. SAP_FENCED: as of sap_worker_renew(). SAP_NOMEM, SAP_FULL, SAP_IO
 * and SAP_BUSY: nothing is lost, call it again (after SAP_IO of a file: open everything again). */
SAP_API int sap_worker_step(SapWorker *worker, bool *busy_out);

/* Waits until there may be something to do, at most timeout_ns. */
SAP_API int sap_worker_wait(SapWorker *worker, uint64_t timeout_ns);

typedef struct SapWorkerStats {
    uint64_t cycles;   /* that committed something */
    uint64_t steps;    /* items that became entries */
    uint64_t rejected; /* of them: dead letters */
    uint64_t failures; /* calls of handlers that failed */
    uint64_t acquired; /* worlds */
    uint64_t restored; /* entries applied on the way */
    uint64_t released; /* worlds */
    uint64_t fenced;   /* worlds that others had taken */
    uint64_t unknown;  /* commits whose outcome had to be read back */
    uint64_t paused;   /* worlds whose handlers failed too often, or whose rows are damaged */
    uint64_t held;     /* worlds in memory now */
    uint64_t reserved[5];
} SapWorkerStats;
SAP_API int sap_worker_stats(SapWorker *worker, SapWorkerStats *stats_out);

/* Gives its worlds back and ends the session. Frees everything, whatever it returns. NULL is accepted. */
SAP_API int sap_worker_close(SapWorker *worker);

#ifdef __cplusplus
}
#endif
#endif
