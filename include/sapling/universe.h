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
 * A SapUniverse may be used by any number of threads, except on memory:. Each role of a SapWorker is
 * stepped by one thread at a time; another thread calls sap_worker_renew(). Handlers run in the thread
 * that steps SAP_ROLE_WORLDS.
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
#define SAP_WORLD_MAX_HEADERS 16u          /* of a message between worlds */
#define SAP_WORLD_MAX_HEADER  1024u        /* bytes of the value of a header */
#define SAP_PROMISE_ID_SIZE   65u          /* of the text of an id, with its NUL */

#define SAP_EFFECT_MAX_ATTEMPTS 100u

typedef struct SapUniverse SapUniverse;
typedef struct SapReply SapReply;
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
    /* Called with one line of JSON, without the newline, for each thing of note that a role does, by the
     * thread that does it. NULL: none. */
    void (*on_log)(const char *line, void *ctx);
    void *log_ctx;
    uint32_t max_inbox; /* messages that wait for a world; then others are refused; 0: 10,000 */
    uint32_t reserved;  /* 0 */
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

/* What this process has counted for the universe, in Prometheus' text format; the reference lists all of
 * it. The caller owns *text_out, which ends with a NUL: sap_universe_text_free(). SAP_NOMEM. */
SAP_API int sap_universe_metrics(SapUniverse *universe, char **text_out);
SAP_API void sap_universe_text_free(char *text);

/* ---- Handlers -------------------------------------------------------------------------------- */

typedef enum SapEventKind {
    SAP_EVENT_CREATE = 0,  /* the first item of every world */
    SAP_EVENT_MESSAGE = 1, /* somebody sent it */
    SAP_EVENT_RECEIPT = 2,
    SAP_EVENT_TIMER = 3,
    SAP_EVENT_CANCEL = 4, /* sap_world_cancel_request(): it should finish what it does, and end */
    SAP_EVENT_QUERY = 16, /* sap_world_query(): it may read and reply, and nothing else */
} SapEventKind;

/* Of a receipt. */
typedef enum SapReceiptStatus {
    SAP_RECEIPT_NONE = 0, /* the event is none */
    SAP_RECEIPT_OK = 1,
    SAP_RECEIPT_ERROR = 2, /* for good; `code` says why */
    SAP_RECEIPT_TIMEOUT = 3,
} SapReceiptStatus;

/* What a sender says of a message beside its payload. */
typedef struct SapHeader {
    const char *name; /* 1 to SAP_WORLD_MAX_NAME bytes */
    const char *value;
} SapHeader;

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
    const char *ref; /* of a receipt or timer: what the handler called it */
    SapReceiptStatus status;
    const char *code;  /* of a receipt that is not ok: why, such as no_adapter */
    uint32_t attempts; /* of the effect */
    uint32_t header_count;
    const SapHeader *headers; /* of a message from another world */
    const char *trace_parent;
} SapEvent;

/* Handles one item. SAP_OK: done. What sap_world_fail() returned: as it says there. SAP_NOMEM, SAP_IO,
 * SAP_BUSY, SAP_FENCED: the machine's fault; it is tried again for as long as it takes. Any other code is
 * a failure: none of what the call did happened, and it is called again after a pause of 1 s, which
 * doubles up to 60 s, until the module's attempts are used up. */
typedef int (*SapWorldHandler)(SapWorld *world, const SapEvent *event);

/* What becomes of an item whose attempts are used up. */
typedef enum SapOnFailure {
    SAP_ON_FAILURE_HALT =
        0, /* the world is paused with the handler's message: sap_world_resume(), or a
                                newer version of the module, tries again */
    SAP_ON_FAILURE_SKIP = 1, /* the item becomes a dead letter, and the world goes on */
} SapOnFailure;

/* Zero bytes are the defaults, but for name and handler. */
typedef struct SapWorldModule {
    const char *name;
    SapWorldHandler handler;
    uint64_t version; /* 0: 1. Raise it with the code: the newest one runs all worlds */
    uint32_t
        max_attempts; /* of an item whose handler fails, or ends its process; 0: the worker's */
    SapOnFailure on_failure;
    struct SapWorldModule *next; /* the library's */
    void *ctx;                   /* for sap_world_module_ctx() */
    uint64_t timeout_ns; /* that its handler may run before its world is stuck; 0: the worker's */
    const char *schemas; /* as of SapModule; NULL: "" */
} SapWorldModule;

/* Makes a module known to every worker that this process opens from now on; it must stay where it is.
 * SAP_EXISTS: another one has the name and version. SAP_INVALID: the name is invalid, or the schemas are.
 * SAP_FULL: these are too long. SAP_NOMEM. */
SAP_API int sap_world_module_register(SapWorldModule *module);

/* Takes it back, so that it may be freed, or its shared object unloaded. SAP_NOTFOUND: it is not registered.
 * SAP_BUSY: a worker of this process is open. */
SAP_API int sap_world_module_unregister(SapWorldModule *module);

/* The same for constructors, which return no code: where it is refused, sap_worker_open() says so. */
SAP_API void sap_world_module_load(SapWorldModule *module);

/* Defines a module and registers it when the program, or the shared object, is loaded. At file scope. */
#define SAP_WORLD_MODULE(module_name, function)                                                   \
    static SapWorldModule sap_module_##function = {.name = (module_name), .handler = (function)}; \
    __attribute__((constructor)) static void sap_register_##function(void)                        \
    {                                                                                             \
        sap_world_module_load(&sap_module_##function);                                            \
    }                                                                                             \
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

/* Replies to whoever waits under `reply_to`, which is that of this event or of an earlier one: a caller outside,
 * or a world that has asked (sap_world_ask()). The second reply to the same is ignored. SAP_INVALID: no such
 * text, or not of that encoding. SAP_FULL: to a world, above SAP_WORLD_MAX_VALUE. */
SAP_API int sap_world_reply(SapWorld *world, const char *reply_to, SapEncoding encoding,
                            const void *payload, size_t len);

/* When an effect is tried again. Zero bytes are the kind's. */
typedef struct SapRetry {
    uint32_t attempts;   /* in all, at most SAP_EFFECT_MAX_ATTEMPTS */
    uint32_t factor;     /* by which each pause is longer than the one before, in hundredths */
    uint64_t first_ns;   /* the first pause */
    uint64_t cap_ns;     /* the longest pause */
    uint64_t timeout_ns; /* of one attempt */
} SapRetry;

/* Something that is to be done outside: zero bytes are the defaults, all is borrowed for the call. */
typedef struct SapEffect {
    uint32_t size;    /* sizeof the struct; see version.h */
    const char *kind; /* who performs it: a kind that some worker serves */
    const char
        *ref; /* what its receipt is called; NULL: nobody waits, a failure is a dead letter */
    SapEncoding encoding;
    const void *params; /* up to SAP_WORLD_MAX_VALUE; none is null in JSON */
    size_t params_len;
    SapRetry retry;
} SapEffect;

/* Asks for an effect. It begins when this step is committed, and ends with one receipt, which is an event
 * of this world: however often it was attempted, it has the same idempotency key. SAP_EXISTS: the ref is
 * that of something outstanding. SAP_INVALID: kind, ref or params are invalid. SAP_FULL. */
SAP_API int sap_world_effect(SapWorld *world, const SapEffect *effect);

/* The two ways of the seed: bytes for a named inbox, or a value of a schema, which is not raw. To the handler that
 * gets it both are a message with that name. */
typedef enum SapSendMode {
    SAP_SEND_INBOX = 0,
    SAP_SEND_TYPED = 1,
} SapSendMode;

/* A message to another world, or to this one. Zero bytes are the defaults; all is borrowed for the call. */
typedef struct SapSend {
    uint32_t size; /* sizeof the struct; see version.h */
    SapSendMode mode;
    const char *world; /* that gets it */
    const char *name;  /* of its event; of a typed one the name of the schema */
    const char
        *ref; /* what the receipt is called; NULL: nobody waits, a failure is a dead letter */
    SapEncoding encoding;
    uint32_t header_count; /* up to SAP_WORLD_MAX_HEADERS */
    const void *payload;   /* up to SAP_WORLD_MAX_VALUE; none is null in JSON */
    size_t payload_len;
    const SapHeader *headers;
    const char *correlation_id; /* NULL: that of the event that is handled */
    /* Within 24 hours a second message of this world with this id is not delivered again, whatever step has
     * sent it. NULL: none; this one is delivered once anyhow. */
    const char *message_id;
    const char
        *create; /* a module: the world is created with it if it is not there; NULL: it is not */
    uint64_t delay_ns; /* after the step is committed, by a clock that nobody sets */
    SapRetry retry;    /* 0: 20 attempts, pauses of 100 ms doubling up to 30 s */
} SapSend;

/* Sends a message when this step is committed. It is an effect of the kind "fabric.send": it is delivered once,
 * and ends with one receipt, which sap_send_receipt_read() reads. No order is promised among messages of one world.
 * The receipt is `error` with the code
 *
 *   no_such_world, destination_done, destination_deleted   it takes nothing any more
 *   destination_full      10,000 messages waited for it whenever it was tried
 *   destination_drains    it is to be created again, and is not yet emptied
 *   invalid_payload       not what the module of the destination declares
 *
 * A paused world takes messages. SAP_EXISTS, SAP_FULL: as of sap_world_effect(). SAP_INVALID: a name, text or
 * payload is invalid. */
SAP_API int sap_world_send(SapWorld *world, const SapSend *send);

/* What the receipt of a message says. */
typedef struct SapSendReceipt {
    bool enqueued; /* it is, or was, in the inbox of the destination */
    bool already;  /* an earlier message had its message_id: that one is meant */
    char world[SAP_WORLD_MAX_NAME + 1];
    uint8_t message_id[32]; /* the hash of the intent, or SHA-256 over this world and message_id */
    uint8_t seq[32];        /* its place in that inbox */
} SapSendReceipt;

/* Reads the payload of a receipt, which is a sys/FabricSendReceipt@1. SAP_INVALID: it is not one. */
SAP_API int sap_send_receipt_read(const SapEvent *event, SapSendReceipt *receipt_out);

/* A question to another world. Zero bytes are the defaults; all is borrowed for the call. */
typedef struct SapAsk {
    uint32_t size; /* sizeof the struct; see version.h */
    SapEncoding encoding;
    const char *world;
    const char *name; /* of its event */
    const char *ref;  /* what the reply is called; needed */
    const void *payload;
    size_t payload_len;
    const SapHeader *headers;
    uint32_t header_count;
    uint32_t reserved; /* 0 */
    const char *correlation_id;
    const char *create;
    uint64_t timeout_ns; /* 0: 30 s */
    SapRetry retry;      /* as of SapSend */
} SapAsk;

/* Asks when this step is committed. What comes back is one SAP_EVENT_RECEIPT with the ref: `ok` with what the
 * other world gave sap_world_reply(), at once or in a later step; `error`, if the question could not be delivered
 * (see sap_world_send()), or the other world refused it (the code `rejected`, and the payload says why), or it is
 * done or deleted; or `timeout`. Codes as above. */
SAP_API int sap_world_ask(SapWorld *world, const SapAsk *ask);

/* Zero bytes are the defaults; all is borrowed for the call. */
typedef struct SapPromise {
    uint32_t size;       /* sizeof the struct; see version.h */
    uint32_t reserved;   /* 0 */
    const char *ref;     /* what its receipt is called; needed */
    uint64_t timeout_ns; /* 0: it waits for ever */
} SapPromise;

/* Makes a promise: somebody outside resolves it, by sap_promise_resolve() and its id, which nobody can guess. The
 * id may go into an effect of the same step, such as a mail with a link. Its receipt is what it was resolved with,
 * or `timeout`. Codes as of sap_world_timer(). */
SAP_API int sap_world_promise(SapWorld *world, const SapPromise *promise,
                              char id_out[SAP_PROMISE_ID_SIZE]);

/* Zero bytes are the defaults; all is borrowed for the call. */
typedef struct SapTimer {
    uint32_t size;     /* sizeof the struct; see version.h */
    const char *ref;   /* what its event is called; needed */
    uint64_t after_ns; /* from now on, by a clock that nobody sets; or */
    uint64_t at_ns;    /* at a time of day, since 1970. Neither: at once */
    SapEncoding encoding;
    const void *payload; /* of its event; up to SAP_WORLD_MAX_VALUE */
    size_t payload_len;
} SapTimer;

/* Arms a timer: its event comes once, and never early. One of the same ref is replaced. SAP_EXISTS: the
 * ref is that of something outstanding that is no timer. SAP_INVALID: also both times, or one of more
 * than 290 years. Other codes as above. */
SAP_API int sap_world_timer(SapWorld *world, const SapTimer *timer);

/* Cancels what is outstanding under the ref: its receipt, or its event, does not come any more; an effect
 * that is being performed is told so; a message that is not yet delivered is not. SAP_NOTFOUND: nothing is.
 * SAP_FULL: more than 16 in one call, of which asks and promises count twice. */
SAP_API int sap_world_cancel(SapWorld *world, const char *ref);

/* The world finishes with this step: nothing comes in any more, what waits becomes dead letters, its timers
 * go, and effects that it has asked for are still performed, without a receipt. The result is kept until the
 * world is deleted: sap_world_result_wait(). `failed`: it has not reached what it was for. SAP_EXISTS: this
 * call has said so already. SAP_INVALID, SAP_FULL: as of sap_world_reply(). */
SAP_API int sap_world_done(SapWorld *world, bool failed, SapEncoding encoding, const void *result,
                           size_t len);

/* Gives the world a tag, by which sap_worlds_list() finds it: `name`, or with a value "name=value". A name has
 * one value. SAP_INVALID: the two are longer than SAP_WORLD_MAX_NAME together, or no text, or the name has a
 * '='. SAP_FULL: it has 64 tags. */
SAP_API int sap_world_tag(SapWorld *world, const char *name, const char *value);
/* SAP_NOTFOUND: it has no such tag. */
SAP_API int sap_world_untag(SapWorld *world, const char *name);

/* For `return sap_world_fail(...)`. With `retry` the item is tried again, as after any other failure.
 * Without, it becomes a dead letter with the message, and the world goes on with the next one. */
SAP_API int sap_world_fail(SapWorld *world, bool retry, const char *message);

/* The `ctx` of the module that runs: of SapWorldModule, or what SapModuleResolve gave. */
SAP_API void *sap_world_module_ctx(const SapWorld *world);
/* Borrowed for the call of the handler. */
SAP_API const char *sap_world_name(const SapWorld *world);
/* The number of this step in the world's journal. */
SAP_API uint64_t sap_world_height(const SapWorld *world);
/* Nanoseconds since 1970. Never goes back in a world, and is the same if the step is run again. */
SAP_API uint64_t sap_world_time_ns(const SapWorld *world);
/* Random bytes that are the same if the step is run again. */
SAP_API void sap_world_random(SapWorld *world, void *out, size_t len);
/* Whether nobody waits for this call any more, since the world was taken away or the worker's session may
 * be over. It should return: nothing of what it has done counts, whatever it returns. The calls above that
 * can fail return SAP_FENCED. */
SAP_API bool sap_world_cancelled(const SapWorld *world);

/* ---- Modules in the store ------------------------------------------------------------------- */

#define SAP_MODULE_MAX_RUNNER   4096u  /* bytes of the text that says how a module is run */
#define SAP_MODULE_MAX_SETTINGS 16384u /* bytes of the host's own text */
#define SAP_MODULE_MAX_SCHEMAS  65536u /* bytes of canonical JSON */
#define SAP_MODULE_WHY          256u   /* bytes of what a payload is not, with its NUL */

/* What one call of a module's code is given of the state. The library stores it for the host. */
typedef enum SapModuleState {
    SAP_MODULE_STATE_WHOLE = 0,
    SAP_MODULE_STATE_ASK = 1,
} SapModuleState;

/* A module as the store has it: any number of workers may run it, each by what its host makes of the
 * runner's text. Zero bytes are the defaults, but for name and runner. */
typedef struct SapModule {
    uint32_t size; /* sizeof the struct; see version.h */
    SapOnFailure on_failure;
    const char *name;
    const char *runner;   /* such as exec:/srv/hello.py */
    const char *settings; /* the host's own: how it is to be run; NULL: "" */
    const uint8_t *code;  /* SHA-256 of the code, 32 bytes; NULL: not known */
    uint64_t timeout_ns;  /* that a call may take; 0: the host's */
    uint32_t
        max_attempts; /* of an item whose handler fails, or ends its process; 0: the worker's */
    SapModuleState state;
    /* Of a module that was read; sap_module_put() ignores them. */
    uint64_t version;
    uint64_t registered_ns; /* since 1970 */
    /* What payloads may be: a JSON object of JSON Schemas by the names of messages, with "*" for those that
     * are not named, and "$create" for the creation of a world. An item that is not so is refused before it
     * is enqueued. The reference has the keywords. NULL: "", anything. */
    const char *schemas;
} SapModule;

/* Registers a module, or a new version of it: *version_out, unless NULL, is one above the newest version of
 * the name. If the newest version says the same, nothing changes, and *version_out is that one's; so it
 * may be called again after any code. Worlds of the module go on with the new version, in cycles that begin
 * from now on, wherever a worker can run it; those that were paused since an older version failed are
 * resumed. SAP_INVALID: a text is none or too long, or the schemas are invalid: on_message is told
 * what of them. */
SAP_API int sap_module_put(SapUniverse *universe, const SapModule *module, uint64_t *version_out);

/* Reads what is durable of a version; 0: of the newest. The caller owns *module_out: sap_module_free().
 * SAP_NOTFOUND: there is no such module. */
SAP_API int sap_module_get(SapUniverse *universe, const char *name, uint64_t version,
                           SapModule **module_out);
SAP_API void sap_module_free(SapModule *module);

/* Calls `each` for the newest version of each module whose name comes after `after` (NULL: of all), in the
 * order of their names, `limit` at most (0: 100), until it returns another code than SAP_OK, which is then
 * the result. The module is borrowed for the call, which must not call the universe. */
SAP_API int sap_modules_list(SapUniverse *universe, const char *after, uint32_t limit,
                             int (*each)(void *ctx, const SapModule *module), void *ctx);

/* Whether a payload is what a version of a module (0: the newest) declares for messages of that name; name
 * NULL: for the creation of a world. Sending checks it too. SAP_OK also if nothing is declared, or there is
 * no such module. SAP_INVALID: no; why_out, unless NULL, says what is not, "" if it is not of its encoding. */
SAP_API int sap_module_check(SapUniverse *universe, const char *module, uint64_t version,
                             const char *name, SapEncoding encoding, const void *payload,
                             size_t len, char why_out[SAP_MODULE_WHY]);

/* A worker's host is asked for the handler of a version of a module, in the thread that steps
 * SAP_ROLE_WORLDS: once for each, when a world needs it, or when the module is found in the store.
 * SAP_OK: the handler, and what sap_world_module_ctx() returns, are used until `release` is called.
 * SAP_NOTFOUND: the host does not run it; its worlds wait for another worker, and are not run by an older
 * version meanwhile. Any other code: it is asked again. `module` is borrowed for the call. */
typedef int (*SapModuleResolve)(void *ctx, const SapModule *module, SapWorldHandler *handler_out,
                                void **module_ctx_out);
/* No world of the worker uses it any more: another version took its place, or the worker is closed. */
typedef void (*SapModuleRelease)(void *ctx, void *module_ctx);

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
    char reason[1025];                     /* why it does not run; "" */
    char holder[SAP_WORLD_MAX_NAME + 1];   /* the worker that runs it; "": none */
    char assigned[SAP_WORLD_MAX_NAME + 1]; /* the worker that is to run it; "": any */
    uint64_t pin;                          /* the version of its module; 0: the newest */
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

/* A key that a client has chosen for a call, so that it may be repeated. All is borrowed for the call. */
typedef struct SapOnce {
    uint32_t size;       /* sizeof the struct; see version.h */
    const char *scope;   /* which call, and whose: up to SAP_WORLD_MAX_NAME bytes */
    const char *key;     /* up to SAP_WORLD_MAX_ID bytes */
    const void *request; /* what is asked for: the same key with other bytes is SAP_EXISTS */
    size_t request_len;
} SapOnce;

/* The same as sap_world_create(), once: the creation and the key are one commit. SAP_OK: the world was created,
 * or this very call has created it within 24 hours, whatever became of it since. SAP_EXISTS: *reused_out,
 * unless NULL, says whether the key was used with another request, or another call has created the world. */
SAP_API int sap_world_create_once(SapUniverse *universe, const char *world, const char *module,
                                  SapEncoding encoding, const void *payload, size_t len,
                                  const SapOnce *once, bool *reused_out);

/* The answer that was kept for a key. The caller owns *answer_out: sap_reply_free(). SAP_NOTFOUND: the key was
 * not used. SAP_EXISTS: it was used with another request. */
SAP_API int sap_once_get(SapUniverse *universe, const SapOnce *once, SapReply **answer_out);
/* Keeps the answer of a call for 24 hours, up to SAP_WORLD_MAX_VALUE bytes. SAP_OK: it is kept; or the key has
 * the answer of an earlier call, which then is *first_out, owned by the caller (NULL otherwise, and if
 * first_out is NULL nobody is told). SAP_EXISTS: it was used with another request. May be called again after
 * any code. */
SAP_API int sap_once_put(SapUniverse *universe, const SapOnce *once, const void *answer, size_t len,
                         SapReply **first_out);

/* Stops it; items still come in. Whoever runs it loses its lease. Pausing a paused world changes its
 * reason only. SAP_NOTFOUND: it is not there, or done or deleted. */
SAP_API int sap_world_pause(SapUniverse *universe, const char *world, const char *reason);
/* Lets a paused or stuck world go on; SAP_OK also if it is active. */
SAP_API int sap_world_resume(SapUniverse *universe, const char *world);
/* The same for a world that was paused because its handler failed: the item that it failed with becomes
 * a dead letter. SAP_NOTFOUND: also, there is no such item. */
SAP_API int sap_world_resume_skip(SapUniverse *universe, const char *world);
/* Makes it stay with one version of its module; 0: the newest again. Whoever runs it loses its lease. */
SAP_API int sap_world_pin(SapUniverse *universe, const char *world, uint64_t version);
/* Deletes it: nothing comes in any more, and what waits becomes dead letters, by sap_world_drain().
 * SAP_OK also if it is deleted already. */
SAP_API int sap_world_delete(SapUniverse *universe, const char *world, const char *reason);
/* Empties a deleted or done world, up to `limit` items a call (0: 64). *done_out: nothing is left. SAP_ERROR:
 * it is neither. */
SAP_API int sap_world_drain(SapUniverse *universe, const char *world, uint32_t limit,
                            bool *done_out);

/* Sends SAP_EVENT_CANCEL with a JSON text, the reason (NULL: ""). With an id, within 24 hours once. What comes
 * of it is the handler's business; sap_world_delete() asks nobody. Codes are those of
 * sap_enqueue_ingress(). */
SAP_API int sap_world_cancel_request(SapUniverse *universe, const char *world, const char *id,
                                     const char *reason);

/* Calls `each` for the tags of a world, in the order of their names; value "": the name alone. */
SAP_API int sap_world_tags(SapUniverse *universe, const char *world,
                           int (*each)(void *ctx, const char *name, const char *value), void *ctx);

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
    /* With SAP_INVALID: what of the payload its module does not allow; "": something else is invalid. */
    char invalid[SAP_MODULE_WHY];
} SapIngressResult;

/* Puts an item into the inbox of a world, and returns when it is durable. Calls of several threads at
 * the same time share a commit. SAP_NOTFOUND: no such world, or it is done or deleted. SAP_INVALID: the
 * payload is not of its encoding, or not what the world's module declares, or a text is none or too long.
 * SAP_EXISTS: the id was used with another payload. SAP_FULL: the payload is too large, or the disk is full.
 * SAP_BUSY: also, max_inbox messages wait for the world: try again later. result_out may be NULL, and is written
 * on SAP_OK, SAP_IO and SAP_INVALID. */
SAP_API int sap_enqueue_ingress(SapUniverse *universe, const char *world, const SapIngress *item,
                                SapIngressResult *result_out);

struct SapReply {
    SapEncoding encoding;
    bool failed;         /* nobody will reply: the item is a dead letter; the payload says why */
    uint64_t height;     /* of the step that replied */
    const char *payload; /* followed by a NUL that is not counted */
    size_t payload_len;
};

/* Waits for the reply to the item with that id, for up to timeout_ns. The caller owns *reply_out:
 * sap_reply_free(). Replies are kept for 24 hours. SAP_NOTFOUND: there is none yet. */
SAP_API int sap_world_reply_wait(SapUniverse *universe, const char *world, const char *id,
                                 uint64_t timeout_ns, SapReply **reply_out);
SAP_API void sap_reply_free(SapReply *reply);

/* Waits for the result of a world, for up to timeout_ns: `failed` is as it said in sap_world_done(). The caller
 * owns *result_out: sap_reply_free(). SAP_NOTFOUND: there is none yet. SAP_CONFLICT: and there will be none,
 * since there is no such world, or it was deleted. */
SAP_API int sap_world_result_wait(SapUniverse *universe, const char *world, uint64_t timeout_ns,
                                  SapReply **result_out);

/* Zero bytes are the defaults; all is borrowed for the call. */
typedef struct SapQuery {
    uint32_t size; /* sizeof the struct; see version.h */
    bool strong;   /* of the newest step when the call returns, not when it began */
    uint8_t reserved[3];
    const char *name; /* of the event; NULL: "" */
    SapEncoding encoding;
    const void *payload;
    size_t payload_len;
    /* Who answers, and what its sap_world_module_ctx() is. NULL: the module that the process itself has. */
    SapWorldHandler handler;
    void *module_ctx;
} SapQuery;

/* Asks a world without changing it: calls the handler, in this thread, with SAP_EVENT_QUERY and a copy of the
 * durable state, made of its journal. What it replies to event->reply_to is *reply_out, with the height of the
 * state; what it changes is SAP_READONLY. `failed`: the handler failed, and the payload says why. The caller
 * owns *reply_out: sap_reply_free(). SAP_NOTFOUND: no such world, or no reply. SAP_CONFLICT: nobody gave a
 * handler, and this process does not have the module. SAP_BUSY: `strong`, and the world does not stand still. */
SAP_API int sap_world_query(SapUniverse *universe, const char *world, const SapQuery *query,
                            SapReply **reply_out);

/* ---- Dead letters ---------------------------------------------------------------------------- */

/* An item that no handler took. Texts and payload are borrowed for the call. */
typedef struct SapDeadLetter {
    uint64_t height; /* with seq: which one it is */
    uint8_t seq[32];
    const char *name;
    const char *id;
    const char *error;
    uint32_t attempts;
    uint64_t time_ns; /* when it became one */
    SapEncoding encoding;
    const void *payload; /* empty if it is above 64 KiB */
    size_t payload_len;
} SapDeadLetter;

/* Calls `letter` for the dead letters of a world, in the order of height and seq, until it returns
 * another code than SAP_OK, which is then the result. It must not call the universe. */
SAP_API int sap_dead_letters(SapUniverse *universe, const char *world,
                             int (*letter)(void *ctx, const SapDeadLetter *letter), void *ctx);

/* Puts the item into the inbox again, behind what waits there, or deletes it for good. SAP_NOTFOUND: there
 * is no such letter, or to replay it, no world that takes items. May be called again after any code: a
 * letter that is gone has been replayed, or dropped. */
SAP_API int sap_dead_letter_replay(SapUniverse *universe, const char *world, uint64_t height,
                                   const uint8_t seq[32]);
SAP_API int sap_dead_letter_drop(SapUniverse *universe, const char *world, uint64_t height,
                                 const uint8_t seq[32]);

/* ---- Who runs which world -------------------------------------------------------------------- */

/* Whether or not they are assigned, worlds are run by whoever finds them with something to do. An
 * assigned one is run by its worker alone; another that runs it now ends its cycle and gives it back. When
 * that worker has been gone for a minute, an orchestrator takes the assignment back. All may be called
 * again after any code.
 *
 * SAP_NOTFOUND: no such world, or no such worker is alive. SAP_INVALID: the worker does not have the
 * world's module. */
SAP_API int sap_assign_world(SapUniverse *universe, const char *world, const char *worker,
                             uint8_t priority, const char *reason);
SAP_API int sap_unassign_world(SapUniverse *universe, const char *world);

/* The lease protocol by hand: for tests and operators. Workers do this by themselves.
 *
 * Acquires the world for the session of that worker, or finds that it has it already. SAP_BUSY: another
 * worker holds it. SAP_CONFLICT: it is assigned to another. SAP_NOTFOUND: no such world, or it is not to
 * run; or no such worker is alive. */
SAP_API int sap_acquire_lease(SapUniverse *universe, const char *world, const char *worker,
                              uint64_t *epoch_out);
/* Extends the session by which that worker holds the world, and with it all its worlds. SAP_FENCED: the
 * world is not this worker's under this epoch, or its session is another one by now. */
SAP_API int sap_renew_lease(SapUniverse *universe, const char *world, const char *worker,
                            uint64_t epoch);
/* Gives it back; SAP_OK also if that has been done. SAP_FENCED as above: nothing changed. */
SAP_API int sap_release_lease(SapUniverse *universe, const char *world, const char *worker,
                              uint64_t epoch);

/* Calls `world` for the worlds that the worker holds, in the order of their names, until it returns
 * another code than SAP_OK, which is then the result. SAP_NOTFOUND: no such worker is alive. */
SAP_API int sap_list_worker_worlds(SapUniverse *universe, const char *worker,
                                   int (*world)(void *ctx, const char *name), void *ctx);

/* ---- Workers --------------------------------------------------------------------------------- */

/* A worker is one process's part in a universe: a session, and roles that its threads step. */
typedef enum SapRole {
    SAP_ROLE_WORLDS = 0, /* runs worlds */
    SAP_ROLE_ORCHESTRATOR =
        1,               /* clears up after workers that died, takes back what was assigned to them,
                                  resumes worlds for newer modules. One in a universe is at work */
    SAP_ROLE_TIMERS = 3, /* fires timers that are due */
    SAP_ROLE_EFFECTS = 4, /* performs effects of the kinds that sap_worker_serve() was given */
    SAP_ROLE_REAPER =
        2, /* deletes rows whose time has passed, drains deleted worlds. Only one, too */
} SapRole;

/* Zero bytes are the defaults. */
typedef struct SapWorkerOptions {
    uint32_t size;                     /* sizeof the struct; see version.h */
    const char *name;                  /* no two workers have the same; NULL: a random one */
    uint32_t max_worlds;               /* in memory at once; 0: 100,000 */
    uint32_t max_worlds_per_commit;    /* 0: 16; at most 24 */
    uint32_t max_inbox_batch;          /* items of a world read in a cycle; 0: 64 */
    uint32_t max_tick_steps_per_cycle; /* items of a world run in a cycle; 0: 64 */
    uint32_t max_effects_per_cycle;    /* of a world; 0: 1024 */
    uint32_t max_cycle_wall_ms;        /* ends a cycle early; 0: 50 */
    uint32_t max_attempts;             /* of modules that do not say; 0: 8 */
    uint32_t max_handler_ms;           /* then the world is marked as stuck; 0: 10,000 */
    uint32_t max_idle_ms;              /* then a world is given back; 0: 60,000 */
    uint32_t reserved;                 /* 0 */
    uint64_t max_memory;               /* bytes of all worlds in memory; 0: 256 MiB */
    /* Handlers of the modules of sap_module_put(). NULL: the worker runs those of SapWorldModule only. */
    SapModuleResolve resolve;
    SapModuleRelease release; /* NULL: nothing is to be released */
    void *resolve_ctx;        /* of both */
} SapWorkerOptions;

/* Starts a worker and its session. A worker that has the same name loses its session. The caller owns
 * *worker_out: sap_worker_close(). SAP_EXISTS, SAP_INVALID: SAP_WORLD_MODULE() has defined two modules of
 * one name and version, or one of an invalid name. */
SAP_API int sap_worker_open(SapUniverse *universe, const SapWorkerOptions *options,
                            SapWorker **worker_out);

/* Renews the session, if it is time: call it about once a second, from a thread that runs no handlers.
 * While one of SAP_ROLE_WORLDS is in a handler it also marks its world as stuck after max_handler_ms, and
 * tells the handler when its world was taken away or the session may be over (sap_world_cancelled()).
 * SAP_FENCED: the session is over; close the worker and open another. Any other code: call it again. */
SAP_API int sap_worker_renew(SapWorker *worker);

/* One attempt of an effect. All is borrowed for the call. */
typedef struct SapEffectCall {
    const char *kind;
    const char *world; /* who asked */
    const char *ref;
    uint64_t height; /* of the step that asked */
    /* 64 characters that are the same for all attempts of this effect, and for no other: what is called
     * should do it once however often it is asked with this key. */
    const char *idempotency_key;
    uint32_t attempt;    /* 1: the first */
    uint64_t timeout_ns; /* of this attempt */
    SapEncoding encoding;
    const void *params;
    size_t params_len;
    const char *correlation_id; /* of the item in whose step it was asked for; "" */
    const char *trace_parent;   /* likewise; "" */
} SapEffectCall;

typedef struct SapEffectResult SapEffectResult;

/* Performs an effect, in the thread that steps SAP_ROLE_EFFECTS. All calls of a step, up to max_running of
 * each kind, should take less than 20 s together: then their claims run out, and they are made again. What
 * takes longer is for a SapEffectAdapter.
 * SAP_OK: its receipt is what sap_effect_result() was told, or `ok` with null if it was told nothing. Any
 * other code, or a result that was refused: it failed, and is tried again as its policy says, unless its
 * kind is at_most_once. When its attempts are used up the receipt is `error`, with the code and payload
 * that sap_effect_result() was told in the last one, or the code `failed`. */
typedef int (*SapEffectFunction)(void *ctx, const SapEffectCall *call, SapEffectResult *result);

/* What the receipt says. status: SAP_RECEIPT_OK or SAP_RECEIPT_ERROR, which is final. `code` is up to 64
 * bytes of text; NULL: "". SAP_INVALID: not of that encoding, or the code is no text. SAP_FULL: the
 * payload is above SAP_WORLD_MAX_PAYLOAD. */
SAP_API int sap_effect_result(SapEffectResult *result, SapReceiptStatus status, const char *code,
                              SapEncoding encoding, const void *payload, size_t len);

/* For an attempt that has failed: the next one begins this much later, or when the policy says, whichever is
 * later; more than a day is a day. Without another attempt it says nothing. */
SAP_API int sap_effect_retry_after(SapEffectResult *result, uint64_t pause_ns);

/* Zero bytes are the defaults, but for name and function. */
typedef struct SapEffectKind {
    uint32_t size; /* sizeof the struct; see version.h */
    /* A claim that is lost ends the effect with `timeout`: it is never begun twice. Otherwise it is begun
     * again, with the same idempotency key. */
    bool at_most_once;
    uint8_t reserved[3];
    const char *kind;
    SapEffectFunction function;
    void *ctx;
    SapRetry retry;       /* 0: 5 attempts, pauses of 1 s doubling up to 60 s, 30 s an attempt */
    uint32_t max_running; /* at once; 0: 16 */
    uint32_t max_per_s;   /* 0: any number */
} SapEffectKind;

/* Serves a kind of effects from the first step of SAP_ROLE_EFFECTS on; before it. What the struct names is
 * borrowed until the worker is closed. The kind "log" is served in any case: it writes its params to
 * on_log. SAP_EXISTS: the kind was there. SAP_BUSY: the role was stepped already. */
SAP_API int sap_worker_serve(SapWorker *worker, const SapEffectKind *kind);

/* Performs effects that take long, beside the thread that steps SAP_ROLE_EFFECTS: `start` begins a call
 * and returns, `poll` is asked whether it is done. None of the three may block. The claim of a call is
 * renewed for as long as the role is stepped, so a call may take any time within its timeout_ns.
 *
 * Zero bytes are the defaults, but for name and functions. All functions are called by the thread that
 * steps the role. */
typedef struct SapEffectAdapter {
    uint32_t size;     /* sizeof the struct; see version.h */
    bool at_most_once; /* as in SapEffectKind */
    uint8_t reserved[3];
    const char *kind;
    /* Begins a call, which is borrowed until its handle is gone. SAP_OK: *handle_out names it. Any other
     * code: nothing was begun, and it is tried again as its policy says, also where it may be begun only
     * once. */
    int (*start)(void *ctx, const SapEffectCall *call, void **handle_out);
    /* SAP_OK: *done_out says whether it is done. Then, and after any other code, the handle is gone, and
     * what became of the call is as of a SapEffectFunction. */
    int (*poll)(void *ctx, void *handle, SapEffectResult *result, bool *done_out);
    /* Nobody wants the result any more: the effect was cancelled, which a call learns within 10 s, or the
     * attempt has taken too long, or this worker may not go on. The handle is gone when it returns. */
    void (*cancel)(void *ctx, void *handle);
    void *ctx;
    SapRetry retry;
    uint32_t max_running;
    uint32_t max_per_s;
} SapEffectAdapter;

/* As sap_worker_serve(). */
SAP_API int sap_worker_serve_adapter(SapWorker *worker, const SapEffectAdapter *adapter);

/* Ends the waits of this process's workers, so that a call that has ended is polled now and not some 10 ms
 * later. From any thread, until the worker is closed. */
SAP_API int sap_worker_wake(SapWorker *worker);

/* Puts the receipt of an effect by hand, when only a person knows what came of it: the one that the world
 * has outstanding under the hash, which sap_world_outstanding() lists. SAP_NOTFOUND: there
 * is no such effect, or it was cancelled. SAP_EXISTS: it has its receipt. */
SAP_API int sap_receipt_inject(SapUniverse *universe, const char *world,
                               const uint8_t intent_hash[32], SapReceiptStatus status,
                               const char *code, SapEncoding encoding, const void *payload,
                               size_t len);

/* An intent of a world that has no answer yet. Borrowed for the call. */
typedef struct SapOutstanding {
    uint8_t intent_hash[32];
    const char *ref; /* "": the handler has not named it */
    bool timer;      /* an effect, such as a message, unless one of these is true */
    bool ask;        /* a question to another world */
    bool promise;
} SapOutstanding;

/* Resolves a promise, from anywhere: the world that made it gets the receipt. A status is ok or error; the payload
 * has up to 64 KiB. SAP_NOTFOUND: there is no such promise: it was resolved before, or has timed out, or its world
 * does not wait for it any more. SAP_INVALID: the id, the code or the payload is invalid. After SAP_IO and
 * SAP_BUSY it may be called again. */
SAP_API int sap_promise_resolve(SapUniverse *universe, const char *id, SapReceiptStatus status,
                                const char *code, SapEncoding encoding, const void *payload,
                                size_t len);

/* Calls `each` for what a world has outstanding, until it returns another code than SAP_OK, which is then
 * the result. It reads the journal of the world, which may take long. */
SAP_API int sap_world_outstanding(SapUniverse *universe, const char *world,
                                  int (*each)(void *ctx, const SapOutstanding *outstanding),
                                  void *ctx);

/* Does the next bounded piece of work of a role. *busy_out is false when there was nothing to do: then
 * wait (sap_worker_wait_role(), or half a second) and call it again. SAP_FENCED: as of
 * sap_worker_renew(). SAP_NOMEM, SAP_FULL, SAP_IO, SAP_BUSY and SAP_CONFLICT: nothing is lost, call it again (after
 * SAP_IO of a file: open everything again). */
SAP_API int sap_worker_step_role(SapWorker *worker, SapRole role, bool *busy_out);

/* SAP_ROLE_WORLDS: takes worlds that have something to do, runs their handlers, commits. */
SAP_API int sap_worker_step(SapWorker *worker, bool *busy_out);

/* Waits until there may be something to do for SAP_ROLE_WORLDS, at most timeout_ns. */
SAP_API int sap_worker_wait(SapWorker *worker, uint64_t timeout_ns);
/* The same for worlds, timers and effects; SAP_ERROR for the other roles, which look twice a second. */
SAP_API int sap_worker_wait_role(SapWorker *worker, SapRole role, uint64_t timeout_ns);

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
    uint64_t stuck;    /* handlers that ran for too long */
    uint64_t reserved[4];
} SapWorkerStats;
/* Called by the thread that steps SAP_ROLE_WORLDS, or while none does. */
SAP_API int sap_worker_stats(SapWorker *worker, SapWorkerStats *stats_out);

/* Gives its worlds back and ends the session. SAP_BUSY: a handler runs; it was told to end, call it again.
 * With any other code everything is freed. NULL is accepted. No other thread may be in a call of it. */
SAP_API int sap_worker_close(SapWorker *worker);

/* ---- Lists ----------------------------------------------------------------------------------- */

/* What is durable, page by page: a call shows up to `limit` entries and looks at no more than 10,000 rows, so
 * that a page may be short, or empty, and there is more all the same. Entries are borrowed for the call of
 * `each`, which must not call the universe; another code of it than SAP_OK ends the list and is the result.
 * Nothing is held between two pages: what is put or removed meanwhile may be seen or not. */

#define SAP_LIST_MAX_NEXT 1920u
#define SAP_COUNT_MOST    10000u /* counts end here, and say so */

/* Which effects; also what has become of one. */
typedef enum SapEffectState {
    SAP_EFFECT_PENDING = 1,   /* it waits for its time, or for an adapter */
    SAP_EFFECT_INFLIGHT = 2,  /* an adapter performs it */
    SAP_EFFECT_CANCELLED = 4, /* inflight, and nobody wants its receipt any more */
} SapEffectState;

/* Zero bytes: the first 100 of all. Everything is borrowed for the call. SAP_ERROR: a filter that the list
 * does not have. */
typedef struct SapListQuery {
    uint32_t size;      /* sizeof the struct; see version.h */
    uint32_t limit;     /* entries; 0: 100, at most 1000 */
    const char *after;  /* SapListEnd.next of the page before; NULL or "": from the first */
    const char *prefix; /* of the name: of worlds, leases and assignments; of workers */
    const char *world;  /* of effects, timers and dead letters: this one's only */
    const char *kind;   /* of effects */
    const char *module; /* of worlds */
    const char *tag;    /* of worlds: name, or name=value */
    uint32_t statuses;  /* of worlds: the sum of 1 << SapWorldStatus; 0: any */
    uint32_t states;    /* of effects: the sum of SapEffectState; 0: any */
} SapListQuery;

typedef struct SapListEnd {
    bool more;                    /* there may be more: `next` goes on */
    char next[SAP_LIST_MAX_NEXT]; /* text of hexadecimal digits; "" without more */
} SapListEnd;

/* Worlds in the order of their names; with a tag, those that have it. end_out may be NULL in all lists. */
SAP_API int sap_worlds_list(SapUniverse *universe, const SapListQuery *query,
                            int (*each)(void *ctx, const char *name, const SapWorldInfo *info),
                            void *ctx, SapListEnd *end_out);

/* An effect that has no receipt yet. */
typedef struct SapEffectInfo {
    const char *world;
    const char *kind;
    const char *ref;    /* "": the handler has not named it */
    const char *worker; /* of an inflight one: who performs it */
    const char *code;   /* why the last attempt failed; "" */
    uint64_t height;    /* of the step that asked */
    uint8_t intent_hash[32];
    SapEffectState state;
    SapEncoding encoding;
    const void *params;
    size_t params_len;
    uint32_t attempts;      /* begun so far */
    uint32_t reserved;      /* 0 */
    uint64_t age_ns;        /* since it was asked for */
    uint64_t due_in_ns;     /* of a pending one; 0: now */
    uint64_t running_ns;    /* of an inflight one: since its claim */
    uint64_t claim_left_ns; /* of an inflight one: until it counts as lost, unless it is renewed */
} SapEffectInfo;

/* Pending ones by kind and due time, then those that are inflight. */
SAP_API int sap_effects_list(SapUniverse *universe, const SapListQuery *query,
                             int (*each)(void *ctx, const SapEffectInfo *effect), void *ctx,
                             SapListEnd *end_out);

typedef struct SapTimerInfo {
    const char *world;
    const char *ref;
    uint64_t height; /* of the step that armed it */
    uint8_t intent_hash[32];
    uint64_t at_ns; /* since 1970, of a time of day; 0: it was armed for a delay */
    uint64_t in_ns; /* until it fires; 0: it is due */
    SapEncoding encoding;
    const void *payload;
    size_t payload_len;
    bool ask;     /* the time in which a question must be answered */
    bool promise; /* the time in which a promise must be resolved; without a payload */
} SapTimerInfo;

/* Those for a delay, then those for a time of day, each in the order in which they fire. */
SAP_API int sap_timers_list(SapUniverse *universe, const SapListQuery *query,
                            int (*each)(void *ctx, const SapTimerInfo *timer), void *ctx,
                            SapListEnd *end_out);

typedef struct SapLeaseInfo {
    const char *world;
    const char *holder;
    uint64_t epoch;
    uint64_t left_ns; /* until the holder's session expires */
    bool alive;       /* the session of the holder; otherwise others take the world over */
    bool unclean;     /* the holder before did not give it back */
} SapLeaseInfo;

/* Worlds that a worker holds, in the order of their names. */
SAP_API int sap_leases_list(SapUniverse *universe, const SapListQuery *query,
                            int (*each)(void *ctx, const SapLeaseInfo *lease), void *ctx,
                            SapListEnd *end_out);

typedef struct SapModuleRef {
    char name[SAP_WORLD_MAX_NAME + 1];
    uint64_t version;
} SapModuleRef;

typedef struct SapWorkerInfo {
    const char *name;
    uint64_t left_ns; /* until its session expires */
    bool alive;
    bool worlds_capped; /* it holds more than that */
    uint32_t worlds;    /* that it holds */
    uint32_t module_count;
    const SapModuleRef *modules; /* that it can run */
    uint32_t kind_count;
    const char *const *kinds; /* of effects that it performs */
} SapWorkerInfo;

/* Those that have a session, also if it has expired. */
SAP_API int sap_workers_list(SapUniverse *universe, const SapListQuery *query,
                             int (*each)(void *ctx, const SapWorkerInfo *worker), void *ctx,
                             SapListEnd *end_out);

typedef struct SapAssignmentInfo {
    const char *world;
    const char *worker;
    const char *reason;
    uint8_t priority;
} SapAssignmentInfo;

SAP_API int sap_assignments_list(SapUniverse *universe, const SapListQuery *query,
                                 int (*each)(void *ctx, const SapAssignmentInfo *assignment),
                                 void *ctx, SapListEnd *end_out);

/* Dead letters of all worlds, or of query->world, in the order of world, height and seq. */
SAP_API int sap_dead_letters_list(SapUniverse *universe, const SapListQuery *query,
                                  int (*each)(void *ctx, const char *world,
                                              const SapDeadLetter *letter),
                                  void *ctx, SapListEnd *end_out);

/* What waits for a world. */
typedef struct SapInboxInfo {
    uint32_t control;  /* each up to SAP_COUNT_MOST */
    uint32_t receipts; /* and firings of timers */
    uint32_t messages;
    bool capped; /* one of them is more than that */
    bool reserved[3];
    uint64_t age_ns; /* of the item that has waited for longest; 0: nothing waits */
} SapInboxInfo;

/* SAP_NOTFOUND: there is no such world. */
SAP_API int sap_world_inbox(SapUniverse *universe, const char *world, SapInboxInfo *info_out);

/* ---- History and state ----------------------------------------------------------------------- */

typedef enum SapEntryKind {
    SAP_ENTRY_ITEM = 0,      /* the handler took the item */
    SAP_ENTRY_REJECTED = 1,  /* the item became a dead letter */
    SAP_ENTRY_DUPLICATE = 2, /* it answered what was not outstanding any more */
    SAP_ENTRY_CODE = 3,
    SAP_ENTRY_FORKED = 4,
} SapEntryKind;

/* A row of the state that a step has put, or deleted. */
typedef struct SapChange {
    const void *key;
    size_t key_len;
    bool put;
    SapEncoding encoding;
    const void *val;
    size_t val_len;
} SapChange;

/* What a step has asked for. */
typedef struct SapIntent {
    const char *kind; /* of the effect; or timer, cancel, reply, ... */
    const char *ref;
    uint8_t hash[32];
    SapEncoding encoding;
    const void *params; /* of a cancel: the hash of what it cancels */
    size_t params_len;
    uint64_t time_ns; /* of a timer: the delay, or the time of day */
    bool time_of_day;
} SapIntent;

/* One step of a world. */
typedef struct SapJournalEntry {
    uint64_t height;
    uint64_t epoch;   /* of the lease under which it was written */
    uint64_t time_ns; /* that the handler saw */
    SapEntryKind kind;
    bool has_item;
    bool payload_is_blob; /* the item's payload is above 64 KiB, and not shown */
    uint8_t seq[32];      /* of the item */
    SapEvent item;
    const char *error; /* of a rejected item */
    uint32_t change_count;
    uint32_t intent_count;
    const SapChange *changes; /* of the handler's rows */
    const SapIntent *intents;
    uint8_t state_sum[16];
} SapJournalEntry;

/* Calls `each` for the entries above `after`, `limit` at most (0: 100; at most 1000), in order; it must not
 * call the universe. *height_out, unless NULL: of the newest entry. SAP_NOTFOUND: no such world. */
SAP_API int sap_journal_read(SapUniverse *universe, const char *world, uint64_t after,
                             uint32_t limit, int (*each)(void *ctx, const SapJournalEntry *entry),
                             void *ctx, uint64_t *height_out);

/* Calls `row` for the rows of the state that begin with `prefix` and come after the key `after`, `limit` at
 * most (0: all): of the state at a height, UINT64_MAX for the newest. *height_out, unless NULL: which one
 * it was. The state is made of the journal in memory for the call, which may take long. SAP_NOTFOUND: no such
 * world, or height. */
typedef struct SapStateQuery {
    uint32_t size; /* sizeof the struct; see version.h */
    uint32_t limit;
    uint64_t height; /* UINT64_MAX, or 0: the newest */
    const void *prefix;
    size_t prefix_len;
    const void *after; /* NULL: from the first */
    size_t after_len;
} SapStateQuery;
SAP_API int sap_world_state_read(SapUniverse *universe, const char *world,
                                 const SapStateQuery *query, SapWorldRow row, void *ctx,
                                 uint64_t *height_out);

/* ---- Effects and timers by hand -------------------------------------------------------------- */

/* All name an intent by the world that asked for it and its hash, as the lists show them, and may be called
 * again after SAP_IO and SAP_BUSY. SAP_NOTFOUND: the world has no such intent, or it is over.
 *
 * An effect that waits for its next attempt is due now; SAP_OK also if it was. SAP_BUSY: it is being
 * performed. SAP_EXISTS: it has its receipt. */
SAP_API int sap_effect_retry(SapUniverse *universe, const char *world,
                             const uint8_t intent_hash[32]);
/* The world gets the receipt `error` with the code `cancelled`; who performs the effect is told to end. SAP_OK
 * also if that has been done and the world has not read it yet. SAP_EXISTS: it has another receipt. */
SAP_API int sap_effect_cancel(SapUniverse *universe, const char *world,
                              const uint8_t intent_hash[32]);
/* The timer does not fire: the world gets SAP_EVENT_RECEIPT with its ref, `error` and the code `cancelled`,
 * since it may wait for it. */
SAP_API int sap_timer_cancel(SapUniverse *universe, const char *world,
                             const uint8_t intent_hash[32]);

#ifdef __cplusplus
}
#endif
#endif
