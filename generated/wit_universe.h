/* wit_universe.h - Tables 16 to 63: worlds, who runs them, what waits for them, and their history.  Every key begins with the number of the universe. A *seq* is 32 bytes that sort by time and are never made twice: lease time in nanoseconds (8 bytes, big-endian), the producer's nonce (16), the producer's count (8). A *shard* is the first bits of the hash of the world's name. Times are nanoseconds: lease time where nothing else is said.
 *
 * Generated from schemas/wit/universe-schema.wit by tools/wit_codegen: change the schema.
 *
 * encode appends to `buf`; decode and validate say in *error, unless it is NULL, what is wrong
 * where. SAP_INVALID: the bytes or the value break the layout or a refinement. On failure buffer
 * and *v_out are as they were. Caller owns what decode gives, release with free, which leaves an
 * empty value. */
#ifndef SAPLING_GENERATED_WIT_UNIVERSE_H
#define SAPLING_GENERATED_WIT_UNIVERSE_H

#include "common/codec.h"

/* How the bytes of a payload, or of a value of a world's state, are to be read. json is canonical JSON, cbor deterministic CBOR, raw whatever the program says. */
enum {
    WIT_UNIVERSE_ENCODING_JSON = 0,
    WIT_UNIVERSE_ENCODING_CBOR = 1,
    WIT_UNIVERSE_ENCODING_RAW = 2,
};
typedef uint8_t WitUniverseEncoding;

/* What an item is to its handler. reply: what somebody answers to an ask or a promise; timeout: nobody has in time. To the handler both are receipts. */
enum {
    WIT_UNIVERSE_ITEM_KIND_CREATE = 0,
    WIT_UNIVERSE_ITEM_KIND_MESSAGE = 1,
    WIT_UNIVERSE_ITEM_KIND_RECEIPT = 2,
    WIT_UNIVERSE_ITEM_KIND_TIMER = 3,
    WIT_UNIVERSE_ITEM_KIND_CANCEL = 4,
    WIT_UNIVERSE_ITEM_KIND_FORKED = 5,
    WIT_UNIVERSE_ITEM_KIND_MIGRATE = 6,
    WIT_UNIVERSE_ITEM_KIND_REPLY = 7,
    WIT_UNIVERSE_ITEM_KIND_TIMEOUT = 8,
};
typedef uint8_t WitUniverseItemKind;

/* Of a receipt. none: the item is no receipt. */
enum {
    WIT_UNIVERSE_RECEIPT_STATUS_NONE = 0,
    WIT_UNIVERSE_RECEIPT_STATUS_OK = 1,
    WIT_UNIVERSE_RECEIPT_STATUS_ERROR = 2,
    WIT_UNIVERSE_RECEIPT_STATUS_TIMEOUT = 3,
};
typedef uint8_t WitUniverseReceiptStatus;

/* How an attempt of an effect ended. lost: its claim ran out, and nobody knows what it has done. */
enum {
    WIT_UNIVERSE_ATTEMPT_OUTCOME_OK = 0,
    WIT_UNIVERSE_ATTEMPT_OUTCOME_ERROR = 1,
    WIT_UNIVERSE_ATTEMPT_OUTCOME_TIMEOUT = 2,
    WIT_UNIVERSE_ATTEMPT_OUTCOME_LOST = 3,
};
typedef uint8_t WitUniverseAttemptOutcome;

/* One attempt of an effect: a claim, from its commit to its end. */
typedef struct WitUniverseEffectAttempt {
    uint64_t begun_ns;
    uint64_t ended_ns;
    WitUniverseAttemptOutcome outcome;
    CodecBytes code; /* What the adapter says of it, such as http_503. Empty: nothing. */
} WitUniverseEffectAttempt;

/* What a sender says of a message beside its payload. */
typedef struct WitUniverseHeader {
    CodecBytes name;
    CodecBytes value;
} WitUniverseHeader;

typedef struct WitUniverseListEffectAttempt {
    WitUniverseEffectAttempt *items;
    uint32_t count;
} WitUniverseListEffectAttempt;

typedef struct WitUniverseListHeader {
    WitUniverseHeader *items;
    uint32_t count;
} WitUniverseListHeader;

/* Something that a world's handler will be called with, once. */
typedef struct WitUniverseInboxItem {
    WitUniverseItemKind kind;
    CodecBytes name; /* Of the event, timer or effect. */
    CodecBytes id; /* Given by whoever sent it: a second item with this id is refused for 24 hours. Empty: none. */
    CodecBytes correlation_id;
    CodecBytes hash; /* SHA-256: of encoding and payload for a message, the hash of the intent for what answers one. */
    CodecBytes ref; /* What the handler called the intent that this answers. Empty: nothing. */
    WitUniverseReceiptStatus status;
    CodecBytes from_world; /* The world that sent it, and where in its history. Empty: it came from outside. */
    uint64_t from_height;
    CodecBytes reply_to; /* Whom a reply goes to. Empty: nobody waits for one. */
    WitUniverseEncoding encoding;
    CodecBytes payload;
    CodecBytes blob; /* In place of a payload above 64 KiB: the SHA-256 that names the blob. Empty: there is none. */
    CodecBytes trace_parent; /* W3C trace context, or empty. */
    uint64_t time_ns; /* Due time when it was sent. */
    bool replayed; /* It comes back from the dead letters. */
    uint8_t priority; /* Of the hint that was put with it, under the same seq. */
    CodecBytes code; /* Of a receipt that is not ok: why, such as no_adapter. Empty: nothing is known. */
    WitUniverseListEffectAttempt attempts; /* Of the receipt of an effect: its attempts, in the order of their claims. */
    WitUniverseListHeader headers; /* Of a message from another world. */
} WitUniverseInboxItem;

/* typed-event: a value of a schema, whose name is that of the event. inbox: bytes for a named inbox. */
enum {
    WIT_UNIVERSE_FABRIC_MODE_TYPED_EVENT = 0,
    WIT_UNIVERSE_FABRIC_MODE_INBOX = 1,
};
typedef uint8_t WitUniverseFabricMode;

typedef struct WitUniverseOptionU32 {
    bool some;
    uint32_t value;
} WitUniverseOptionU32;

/* sys/FabricSendParams@1. Worlds by name; bytes with their encoding. */
typedef struct WitUniverseFabricSendParams {
    WitUniverseOptionU32 dest_universe; /* None: that of the sender. */
    CodecBytes dest_world;
    WitUniverseFabricMode mode;
    CodecBytes schema; /* Of a typed event. Empty: it is none. */
    CodecBytes inbox; /* Of the other mode. */
    WitUniverseEncoding encoding;
    CodecBytes payload; /* The value, or the payload. */
    WitUniverseListHeader headers;
    CodecBytes correlation_id; /* Empty: that of the item in whose step it was sent. */
    CodecBytes message_id; /* Chosen by the handler. Empty: the hash of the intent is the id. */
    CodecBytes create; /* The module of the destination, which is created if it is not there. Empty: it is not. */
    bool ask; /* The sender waits for a reply. */
    CodecBytes answers; /* Of a reply: the hash of the ask that it answers, and how. Empty and none: it is no reply. */
    CodecBytes ref; /* Of a reply: what the handler that asked calls the ask. */
    WitUniverseReceiptStatus status;
    CodecBytes code;
} WitUniverseFabricSendParams;

enum {
    WIT_UNIVERSE_FABRIC_STATUS_OK = 0,
    WIT_UNIVERSE_FABRIC_STATUS_ALREADY_ENQUEUED = 1,
    WIT_UNIVERSE_FABRIC_STATUS_ERROR = 2,
};
typedef uint8_t WitUniverseFabricStatus;

/* sys/FabricSendReceipt@1. */
typedef struct WitUniverseFabricSendReceipt {
    WitUniverseFabricStatus status;
    CodecBytes message_id; /* The hash of the intent, or SHA-256 over from_world and the message_id that the handler chose. */
    CodecBytes dest_world;
    CodecBytes enqueued_seq; /* Of the message in the inbox of the destination. Empty: it is not there. */
} WitUniverseFabricSendReceipt;

/* item: the handler ran. rejected: it refused the item for good, or failed too often, and the item is a dead letter. duplicate: the item answers an intent that is no longer outstanding. */
enum {
    WIT_UNIVERSE_ENTRY_KIND_ITEM = 0,
    WIT_UNIVERSE_ENTRY_KIND_REJECTED = 1,
    WIT_UNIVERSE_ENTRY_KIND_DUPLICATE = 2,
    WIT_UNIVERSE_ENTRY_KIND_CODE = 3,
    WIT_UNIVERSE_ENTRY_KIND_FORKED = 4,
};
typedef uint8_t WitUniverseEntryKind;

typedef struct WitUniverseOptionBytes {
    bool some;
    CodecBytes value;
} WitUniverseOptionBytes;

/* A row of the state that was put, or without a value deleted. A value begins with its encoding. */
typedef struct WitUniverseChange {
    CodecBytes key;
    WitUniverseOptionBytes value;
} WitUniverseChange;

/* When an effect is tried again. In an effect, a field of 0 is that of its kind. */
typedef struct WitUniverseRetry {
    uint32_t attempts; /* In all. */
    uint64_t first_ns; /* Between the first attempt and the second. */
    uint32_t factor; /* By which each pause is longer than the one before, in hundredths: 200 doubles it. */
    uint64_t cap_ns; /* Of the longest pause. */
    uint64_t timeout_ns; /* Of one attempt. */
} WitUniverseRetry;

/* lease: `after` timers, by lease time. due: `at` timers and cron, by due time. */
enum {
    WIT_UNIVERSE_TIMER_CLOCK_LEASE = 0,
    WIT_UNIVERSE_TIMER_CLOCK_DUE = 1,
};
typedef uint8_t WitUniverseTimerClock;

/* What a handler asks the outside to do. */
typedef struct WitUniverseIntent {
    CodecBytes kind; /* The kind of effect, or timer, cancel, reply, ask, promise. */
    CodecBytes ref;
    WitUniverseEncoding encoding;
    CodecBytes params;
    CodecBytes hash; /* SHA-256 over universe, world, height, index, kind, encoding and params. */
    WitUniverseRetry retry; /* Of an effect. */
    WitUniverseTimerClock clock; /* Of a timer: the delay, or the time of day. Of an effect: the delay. Of an ask or a promise: how long it waits. */
    uint64_t time_ns;
} WitUniverseIntent;

typedef struct WitUniverseOptionInboxItem {
    bool some;
    WitUniverseInboxItem value;
} WitUniverseOptionInboxItem;

typedef struct WitUniverseListChange {
    WitUniverseChange *items;
    uint32_t count;
} WitUniverseListChange;

typedef struct WitUniverseListIntent {
    WitUniverseIntent *items;
    uint32_t count;
} WitUniverseListIntent;

/* One step of a world: what came in, what became of the state, what went out. */
typedef struct WitUniverseEntry {
    WitUniverseEntryKind kind;
    uint64_t time_ns; /* The time that the handler saw. */
    CodecBytes seq; /* The seq of the item. Empty: there is none. */
    WitUniverseOptionInboxItem item;
    CodecBytes error; /* Of a rejected item: what the handler said. */
    WitUniverseListChange delta; /* In the order in which they were made: the last change of a key counts. */
    WitUniverseListIntent intents;
    CodecBytes state_sum; /* The sum of XXH3-128 over the rows of the state after it. */
} WitUniverseEntry;

/* Who may write a world: the row of each world that ever had a holder. It is never deleted, so that its epoch never repeats. */
typedef struct WitUniverseDbi16LeaseKey {
    uint32_t universe;
    CodecBytes world;
} WitUniverseDbi16LeaseKey;

typedef struct WitUniverseDbi16LeaseValue {
    CodecBytes holder; /* The worker. Empty: nobody holds it. */
    CodecBytes nonce; /* Of the worker's session. A session of another nonce does not hold the lease. */
    uint64_t epoch; /* Raised with every change of the holder: the fence. */
    bool unclean; /* A session that held it ended without giving it back, and no cycle has succeeded since that is known: its handler may be what ended the process. */
} WitUniverseDbi16LeaseValue;

/* Code that a worker has. */
typedef struct WitUniverseModuleRef {
    CodecBytes name;
    uint64_t version;
} WitUniverseModuleRef;

/* A worker that is alive, or was. */
typedef struct WitUniverseDbi17SessionsKey {
    uint32_t universe;
    CodecBytes worker;
} WitUniverseDbi17SessionsKey;

typedef struct WitUniverseListModuleRef {
    WitUniverseModuleRef *items;
    uint32_t count;
} WitUniverseListModuleRef;

typedef struct WitUniverseDbi17SessionsValue {
    CodecBytes nonce; /* Drawn when the worker started. */
    uint64_t expires_ns; /* Lease time, in nanoseconds. */
    WitUniverseListModuleRef modules; /* What it can run. */
} WitUniverseDbi17SessionsValue;

/* The worlds that a session holds, so that they can be found when it is dead. */
typedef struct WitUniverseDbi18HeldKey {
    uint32_t universe;
    CodecBytes nonce; /* Of the session. */
    CodecBytes world;
} WitUniverseDbi18HeldKey;

/* Empty: it says no more than its key. */
typedef struct WitUniverseDbi18HeldValue {
    CodecBytes value;
} WitUniverseDbi18HeldValue;

/* Where the history of a world ends. */
typedef struct WitUniverseDbi19HeadKey {
    uint32_t universe;
    CodecBytes world;
} WitUniverseDbi19HeadKey;

typedef struct WitUniverseDbi19HeadValue {
    uint64_t height; /* Of the last entry; entries are numbered from 1. */
    CodecBytes digest; /* SHA-256 over the digest before it and the last entry. */
    CodecBytes state_sum; /* The sum of XXH3-128 over the rows of the state. */
    uint64_t time_ns; /* The time that the handler saw last: it never goes back. */
} WitUniverseDbi19HeadValue;

/* The history of a world: what its holder has made of it, entry by entry. */
typedef struct WitUniverseDbi20JournalKey {
    uint32_t universe;
    CodecBytes world;
    uint64_t height;
    uint32_t part; /* An entry of more than 256 KiB has several. */
} WitUniverseDbi20JournalKey;

typedef struct WitUniverseDbi20JournalValue {
    uint64_t epoch; /* Under which lease it was written. */
    uint32_t parts; /* Of the entry. */
    CodecBytes content; /* The bytes of an entry, or of a part of it. */
} WitUniverseDbi20JournalValue;

enum {
    WIT_UNIVERSE_ITEM_CLASS_CONTROL = 0,
    WIT_UNIVERSE_ITEM_CLASS_RECEIPT = 1,
    WIT_UNIVERSE_ITEM_CLASS_MESSAGE = 2,
};
typedef uint8_t WitUniverseItemClass;

/* stuck: its handler does not return. done: it has finished by itself. deleted: a tombstone, which keeps epoch and height. */
enum {
    WIT_UNIVERSE_WORLD_STATUS_ACTIVE = 0,
    WIT_UNIVERSE_WORLD_STATUS_PAUSED = 1,
    WIT_UNIVERSE_WORLD_STATUS_STUCK = 2,
    WIT_UNIVERSE_WORLD_STATUS_DONE = 3,
    WIT_UNIVERSE_WORLD_STATUS_DELETED = 4,
};
typedef uint8_t WitUniverseWorldStatus;

/* What a world is. Every world that was ever created has one. */
typedef struct WitUniverseDbi21WorldMetaKey {
    uint32_t universe;
    CodecBytes world;
} WitUniverseDbi21WorldMetaKey;

typedef struct WitUniverseDbi21WorldMetaValue {
    CodecBytes module;
    uint64_t pin; /* The version of the module that it stays with. 0: the newest. */
    WitUniverseWorldStatus status;
    CodecBytes reason; /* Why it does not run. */
    bool drained; /* Of a deleted or done world: nothing waits for it any more. */
    CodecBytes seed; /* Drawn when it was created: whence its handler's randomness comes. */
    uint64_t born_height; /* The head when it was created: its state was empty there. Above 0 for a world that was created on a tombstone. */
    CodecBytes born_digest;
    uint64_t created_ns; /* Due time. */
    CodecBytes parent_world; /* Of a fork: the world, the snapshot and the height that it began with. Empty: it is none. */
    CodecBytes parent_snapshot;
    uint64_t forked_at;
    WitUniverseItemClass failed_class; /* Of a world that was paused because its handler failed: the item that it failed with, and the version of its module. Empty and 0 otherwise. */
    CodecBytes failed_seq;
    uint64_t failed_version;
} WitUniverseDbi21WorldMetaValue;

/* Which worker should run a world. */
typedef struct WitUniverseDbi22AssignmentKey {
    uint32_t universe;
    CodecBytes world;
} WitUniverseDbi22AssignmentKey;

typedef struct WitUniverseDbi22AssignmentValue {
    CodecBytes worker;
    uint8_t priority;
    CodecBytes reason;
} WitUniverseDbi22AssignmentValue;

/* The same by worker. */
typedef struct WitUniverseDbi23AssignedKey {
    uint32_t universe;
    CodecBytes worker;
    CodecBytes world;
} WitUniverseDbi23AssignedKey;

/* Empty: it says no more than its key. */
typedef struct WitUniverseDbi23AssignedValue {
    CodecBytes value;
} WitUniverseDbi23AssignedValue;

/* What waits for a world. The row is the truth: it goes in the transaction that journals the item. */
typedef struct WitUniverseDbi24WorldInboxKey {
    uint32_t universe;
    CodecBytes world;
    WitUniverseItemClass class;
    CodecBytes seq;
} WitUniverseDbi24WorldInboxKey;

typedef struct WitUniverseDbi24WorldInboxValue {
    WitUniverseInboxItem item;
} WitUniverseDbi24WorldInboxValue;

/* Ids of items, so that each is enqueued once in 24 hours. */
typedef struct WitUniverseDbi25IdemKey {
    uint32_t universe;
    CodecBytes world;
    CodecBytes id;
} WitUniverseDbi25IdemKey;

typedef struct WitUniverseDbi25IdemValue {
    CodecBytes seq; /* What it was enqueued as. */
    CodecBytes hash; /* SHA-256 of encoding and payload: another payload under the same id is an error of the caller's. */
    uint64_t expires_ns;
} WitUniverseDbi25IdemValue;

/* Replies to callers outside, kept for 24 hours. */
typedef struct WitUniverseDbi26ReplyKey {
    uint32_t universe;
    CodecBytes world;
    CodecBytes id; /* Of the item that was replied to. */
} WitUniverseDbi26ReplyKey;

typedef struct WitUniverseDbi26ReplyValue {
    WitUniverseReceiptStatus status;
    WitUniverseEncoding encoding;
    CodecBytes payload;
    uint64_t height; /* The world's height after the step that replied. */
    uint64_t expires_ns;
} WitUniverseDbi26ReplyValue;

/* How often the handler of a world was begun with an item, after a session that ended uncleanly. */
typedef struct WitUniverseDbi27AttemptKey {
    uint32_t universe;
    CodecBytes world;
} WitUniverseDbi27AttemptKey;

typedef struct WitUniverseDbi27AttemptValue {
    CodecBytes seq; /* Of the item. */
    uint32_t count;
} WitUniverseDbi27AttemptValue;

/* Items that no handler took. */
typedef struct WitUniverseDbi28WorldDlqKey {
    uint32_t universe;
    CodecBytes world;
    uint64_t height; /* Of the entry that rejected it, or of the head when its world was deleted. */
    CodecBytes seq;
} WitUniverseDbi28WorldDlqKey;

typedef struct WitUniverseDbi28WorldDlqValue {
    WitUniverseInboxItem item;
    CodecBytes error; /* What the handler said. */
    uint32_t attempts;
    uint64_t at_ns; /* Due time. */
    WitUniverseItemClass class;
    bool journaled; /* An entry of the journal has the item too. */
} WitUniverseDbi28WorldDlqValue;

/* Messages whose message_id a handler chose, kept for 24 hours. */
typedef struct WitUniverseDbi29FabricDedupeKey {
    uint32_t universe;
    CodecBytes world; /* The destination. */
    CodecBytes hash; /* SHA-256 over from_world and message_id. */
} WitUniverseDbi29FabricDedupeKey;

typedef struct WitUniverseDbi29FabricDedupeValue {
    CodecBytes seq;
    uint64_t expires_ns;
} WitUniverseDbi29FabricDedupeValue;

/* Snapshots of a world's state. */
typedef struct WitUniverseDbi30SnapshotKey {
    uint32_t universe;
    CodecBytes world;
    uint64_t height;
} WitUniverseDbi30SnapshotKey;

typedef struct WitUniverseDbi30SnapshotValue {
    CodecBytes root; /* The blob that names its slices and pins. */
    CodecBytes digest;
    CodecBytes state_sum;
    uint64_t time_ns;
    uint64_t state_bytes;
} WitUniverseDbi30SnapshotValue;

/* The snapshot that a world is restored from. */
typedef struct WitUniverseDbi31BaselineKey {
    uint32_t universe;
    CodecBytes world;
} WitUniverseDbi31BaselineKey;

typedef struct WitUniverseDbi31BaselineValue {
    CodecBytes owner; /* Whose snapshot it is: another world's for a fork without one of its own. */
    uint64_t height;
} WitUniverseDbi31BaselineValue;

/* Blobs that the state of a snapshot refers to. */
typedef struct WitUniverseDbi32PinsKey {
    uint32_t universe;
    CodecBytes world;
    CodecBytes sha256;
} WitUniverseDbi32PinsKey;

typedef struct WitUniverseDbi32PinsValue {
    uint64_t height; /* The newest snapshot that needs it. */
} WitUniverseDbi32PinsValue;

/* Runs of old entries, as blobs. */
typedef struct WitUniverseDbi33SegmentsKey {
    uint32_t universe;
    CodecBytes world;
    uint64_t end; /* The last height in it. */
} WitUniverseDbi33SegmentsKey;

typedef struct WitUniverseDbi33SegmentsValue {
    uint64_t begin; /* The first height in it. */
    CodecBytes blob;
} WitUniverseDbi33SegmentsValue;

/* Something to be done outside for a world. */
typedef struct WitUniverseEffect {
    CodecBytes world;
    uint64_t height; /* Of the entry that asked for it. */
    CodecBytes intent_hash;
    CodecBytes kind;
    WitUniverseEncoding encoding;
    CodecBytes params;
    CodecBytes blob; /* In place of params above 64 KiB. Empty: there is none. */
    CodecBytes origin_name; /* What the handler calls it. */
    CodecBytes policy_context_hash;
    uint64_t enqueued_at_ns;
    WitUniverseRetry retry;
    uint32_t attempt; /* Claims so far. */
    WitUniverseListEffectAttempt attempts; /* Those that have ended. */
    CodecBytes correlation_id; /* Of the item in whose step it was asked for. */
    CodecBytes trace_parent;
} WitUniverseEffect;

/* Effects that wait, for their time or for an adapter. */
typedef struct WitUniverseDbi34EffectsPendingKey {
    uint32_t universe;
    uint8_t shard;
    CodecBytes kind;
    uint64_t due_ns; /* Not before. */
    CodecBytes seq;
} WitUniverseDbi34EffectsPendingKey;

typedef struct WitUniverseDbi34EffectsPendingValue {
    WitUniverseEffect effect;
} WitUniverseDbi34EffectsPendingValue;

/* Effects that an adapter has claimed. */
typedef struct WitUniverseDbi35EffectsInflightKey {
    uint32_t universe;
    uint8_t shard;
    CodecBytes seq;
} WitUniverseDbi35EffectsInflightKey;

typedef struct WitUniverseDbi35EffectsInflightValue {
    WitUniverseEffect effect;
    CodecBytes token; /* Drawn for this claim: an acknowledgement names it. */
    uint64_t claimed_ns;
    uint64_t deadline_ns; /* The claim is renewed by then, or it is lost. */
    WitUniverseRetry policy; /* Of the effect and its kind, without zeros. */
    bool at_most_once; /* A lost claim is the end of the effect. */
    CodecBytes worker; /* The adapter's worker, and the nonce of its session. */
    CodecBytes nonce;
} WitUniverseDbi35EffectsInflightValue;

/* cancelled: an inflight effect whose receipt nobody wants. */
enum {
    WIT_UNIVERSE_DISPATCH_STATUS_PENDING = 0,
    WIT_UNIVERSE_DISPATCH_STATUS_INFLIGHT = 1,
    WIT_UNIVERSE_DISPATCH_STATUS_COMPLETE = 2,
    WIT_UNIVERSE_DISPATCH_STATUS_CANCELLED = 3,
};
typedef uint8_t WitUniverseDispatchStatus;

/* Where an effect is, until the entry that consumes its receipt. */
typedef struct WitUniverseDbi36EffectsDedupeKey {
    uint32_t universe;
    CodecBytes intent_hash;
} WitUniverseDbi36EffectsDedupeKey;

typedef struct WitUniverseDbi36EffectsDedupeValue {
    WitUniverseDispatchStatus status;
    CodecBytes world;
    uint32_t table; /* The table and the key of its row now; of a complete effect, of its receipt in the inbox. */
    CodecBytes key;
} WitUniverseDbi36EffectsDedupeValue;

/* What fires. timer: a timer of the handler's. ask, promise: the end of the time in which one must be answered; the payload of a promise's is the id of the promise. */
enum {
    WIT_UNIVERSE_TIMER_USE_TIMER = 0,
    WIT_UNIVERSE_TIMER_USE_ASK = 1,
    WIT_UNIVERSE_TIMER_USE_PROMISE = 2,
};
typedef uint8_t WitUniverseTimerUse;

/* Timers that are armed. */
typedef struct WitUniverseDbi37TimersDueKey {
    uint32_t universe;
    uint8_t shard;
    WitUniverseTimerClock clock;
    uint64_t deliver_at_ns;
    CodecBytes intent_hash;
} WitUniverseDbi37TimersDueKey;

typedef struct WitUniverseDbi37TimersDueValue {
    CodecBytes world;
    uint64_t height;
    CodecBytes ref;
    WitUniverseEncoding encoding;
    CodecBytes payload;
    WitUniverseTimerUse use;
    CodecBytes correlation_id; /* Of the item in whose step it was armed. */
    CodecBytes trace_parent;
} WitUniverseDbi37TimersDueValue;

/* Where an armed timer is. */
typedef struct WitUniverseDbi38TimersDedupeKey {
    uint32_t universe;
    CodecBytes intent_hash;
} WitUniverseDbi38TimersDedupeKey;

typedef struct WitUniverseDbi38TimersDedupeValue {
    CodecBytes key; /* Of its row in timers-due. */
} WitUniverseDbi38TimersDedupeValue;

/* Worlds that may have something to do: hints, put with whatever gives a world something to do. */
typedef struct WitUniverseDbi39ReadyKey {
    uint32_t universe;
    uint8_t shard;
    uint8_t priority; /* 0 is first. */
    CodecBytes seq;
    CodecBytes world;
} WitUniverseDbi39ReadyKey;

/* Empty: it says no more than its key. */
typedef struct WitUniverseDbi39ReadyValue {
    CodecBytes value;
} WitUniverseDbi39ReadyValue;

/* Who does what only one may do. */
typedef struct WitUniverseDbi40RoleleaseKey {
    uint32_t universe;
    CodecBytes role;
    uint8_t shard;
} WitUniverseDbi40RoleleaseKey;

typedef struct WitUniverseDbi40RoleleaseValue {
    CodecBytes holder; /* The worker. Empty: nobody. */
    CodecBytes nonce;
    uint64_t epoch;
    bool unclean; /* As of a world's lease; it means nothing here. */
} WitUniverseDbi40RoleleaseValue;

/* Rows that are to be deleted at a time, unless they say another time by then. */
typedef struct WitUniverseDbi41ExpiryKey {
    uint32_t universe;
    uint64_t at_ns;
    CodecBytes seq;
} WitUniverseDbi41ExpiryKey;

typedef struct WitUniverseDbi41ExpiryValue {
    uint32_t table;
    CodecBytes key;
} WitUniverseDbi41ExpiryValue;

/* Intents that somebody outside resolves. */
typedef struct WitUniverseDbi42PromisesKey {
    uint32_t universe;
    CodecBytes id; /* Unguessable. */
} WitUniverseDbi42PromisesKey;

typedef struct WitUniverseDbi42PromisesValue {
    CodecBytes world;
    CodecBytes intent_hash;
    uint64_t deadline_ns; /* Lease time at which it times out. 0: it waits for ever. */
    uint64_t height; /* Of the entry that made it. */
    CodecBytes ref; /* What the handler calls it. */
    CodecBytes correlation_id;
    CodecBytes trace_parent;
} WitUniverseDbi42PromisesValue;

/* What a call of a module's code is given of the state: all of it, or what it asks for. */
enum {
    WIT_UNIVERSE_MODULE_STATE_WHOLE = 0,
    WIT_UNIVERSE_MODULE_STATE_ASK = 1,
};
typedef uint8_t WitUniverseModuleState;

/* Code that worlds run. */
typedef struct WitUniverseDbi43ModulesKey {
    uint32_t universe;
    CodecBytes name;
    uint64_t version;
} WitUniverseDbi43ModulesKey;

typedef struct WitUniverseDbi43ModulesValue {
    CodecBytes runner; /* Such as native:counter or exec:./counter.py. */
    CodecBytes code; /* SHA-256 of the code, as far as it is known. */
    uint32_t max_attempts;
    bool skip; /* A world whose handler failed too often goes on without the item, in place of being paused. */
    uint64_t registered_ns;
    bool resumed; /* Worlds that were paused because an older version failed have been looked for. */
    WitUniverseModuleState state;
    uint64_t timeout_ns; /* Of one call. 0: whatever the host allows. */
    CodecBytes settings; /* The host's own: how it is to run the module. */
    CodecBytes schemas; /* What payloads may be: a canonical JSON object whose members are JSON Schemas, by the names of messages. Empty: anything. */
} WitUniverseDbi43ModulesValue;

/* Messages by the calendar. */
typedef struct WitUniverseDbi44CronKey {
    uint32_t universe;
    CodecBytes id;
} WitUniverseDbi44CronKey;

typedef struct WitUniverseDbi44CronValue {
    CodecBytes schedule;
    CodecBytes world;
    CodecBytes name;
    WitUniverseEncoding encoding;
    CodecBytes payload;
    uint64_t next_ns; /* Due time of the next one. */
} WitUniverseDbi44CronValue;

/* Which node serves which kind of effect. */
typedef struct WitUniverseDbi45KindsKey {
    uint32_t universe;
    CodecBytes kind;
    CodecBytes node;
} WitUniverseDbi45KindsKey;

typedef struct WitUniverseDbi45KindsValue {
    CodecBytes nonce; /* Of the node's session. */
    bool at_most_once;
    WitUniverseRetry retry;
} WitUniverseDbi45KindsValue;

/* Worlds by tag. */
typedef struct WitUniverseDbi46TagsKey {
    uint32_t universe;
    CodecBytes tag;
    CodecBytes world;
} WitUniverseDbi46TagsKey;

/* Empty: it says no more than its key. */
typedef struct WitUniverseDbi46TagsValue {
    CodecBytes value;
} WitUniverseDbi46TagsValue;

/* The tags of a world. */
typedef struct WitUniverseDbi48WorldTagsKey {
    uint32_t universe;
    CodecBytes world;
    CodecBytes name;
} WitUniverseDbi48WorldTagsKey;

typedef struct WitUniverseDbi48WorldTagsValue {
    CodecBytes value; /* Empty: the name alone. Otherwise the tag is name=value. */
} WitUniverseDbi48WorldTagsValue;

/* What a world that is done has come to. Kept until the world is deleted. */
typedef struct WitUniverseDbi49ResultsKey {
    uint32_t universe;
    CodecBytes world;
} WitUniverseDbi49ResultsKey;

typedef struct WitUniverseDbi49ResultsValue {
    WitUniverseReceiptStatus status; /* ok, or error. */
    WitUniverseEncoding encoding;
    CodecBytes payload;
    uint64_t height; /* Of the world's last step. */
} WitUniverseDbi49ResultsValue;

/* Answers of calls that create something, by the key that the caller gave, kept for 24 hours. */
typedef struct WitUniverseDbi47IdempotencyKey {
    uint32_t universe;
    CodecBytes scope; /* Which call. */
    CodecBytes key;
} WitUniverseDbi47IdempotencyKey;

typedef struct WitUniverseDbi47IdempotencyValue {
    CodecBytes request; /* SHA-256 of the request: the same key with another request is an error of the caller's. */
    CodecBytes answer;
    uint64_t expires_ns;
} WitUniverseDbi47IdempotencyValue;


int wit_universe_encoding_encode(const WitUniverseEncoding *v, Buf *buf, CodecError *error);
int wit_universe_encoding_decode(const void *data, size_t len, WitUniverseEncoding *v_out, CodecError *error);
int wit_universe_encoding_validate(const WitUniverseEncoding *v, CodecError *error);
bool wit_universe_encoding_equal(const WitUniverseEncoding *a, const WitUniverseEncoding *b);
void wit_universe_encoding_free(WitUniverseEncoding *v);

int wit_universe_item_kind_encode(const WitUniverseItemKind *v, Buf *buf, CodecError *error);
int wit_universe_item_kind_decode(const void *data, size_t len, WitUniverseItemKind *v_out, CodecError *error);
int wit_universe_item_kind_validate(const WitUniverseItemKind *v, CodecError *error);
bool wit_universe_item_kind_equal(const WitUniverseItemKind *a, const WitUniverseItemKind *b);
void wit_universe_item_kind_free(WitUniverseItemKind *v);

int wit_universe_receipt_status_encode(const WitUniverseReceiptStatus *v, Buf *buf, CodecError *error);
int wit_universe_receipt_status_decode(const void *data, size_t len, WitUniverseReceiptStatus *v_out, CodecError *error);
int wit_universe_receipt_status_validate(const WitUniverseReceiptStatus *v, CodecError *error);
bool wit_universe_receipt_status_equal(const WitUniverseReceiptStatus *a, const WitUniverseReceiptStatus *b);
void wit_universe_receipt_status_free(WitUniverseReceiptStatus *v);

int wit_universe_attempt_outcome_encode(const WitUniverseAttemptOutcome *v, Buf *buf, CodecError *error);
int wit_universe_attempt_outcome_decode(const void *data, size_t len, WitUniverseAttemptOutcome *v_out, CodecError *error);
int wit_universe_attempt_outcome_validate(const WitUniverseAttemptOutcome *v, CodecError *error);
bool wit_universe_attempt_outcome_equal(const WitUniverseAttemptOutcome *a, const WitUniverseAttemptOutcome *b);
void wit_universe_attempt_outcome_free(WitUniverseAttemptOutcome *v);

int wit_universe_effect_attempt_encode(const WitUniverseEffectAttempt *v, Buf *buf, CodecError *error);
int wit_universe_effect_attempt_decode(const void *data, size_t len, WitUniverseEffectAttempt *v_out, CodecError *error);
int wit_universe_effect_attempt_validate(const WitUniverseEffectAttempt *v, CodecError *error);
bool wit_universe_effect_attempt_equal(const WitUniverseEffectAttempt *a, const WitUniverseEffectAttempt *b);
void wit_universe_effect_attempt_free(WitUniverseEffectAttempt *v);

int wit_universe_header_encode(const WitUniverseHeader *v, Buf *buf, CodecError *error);
int wit_universe_header_decode(const void *data, size_t len, WitUniverseHeader *v_out, CodecError *error);
int wit_universe_header_validate(const WitUniverseHeader *v, CodecError *error);
bool wit_universe_header_equal(const WitUniverseHeader *a, const WitUniverseHeader *b);
void wit_universe_header_free(WitUniverseHeader *v);

int wit_universe_inbox_item_encode(const WitUniverseInboxItem *v, Buf *buf, CodecError *error);
int wit_universe_inbox_item_decode(const void *data, size_t len, WitUniverseInboxItem *v_out, CodecError *error);
int wit_universe_inbox_item_validate(const WitUniverseInboxItem *v, CodecError *error);
bool wit_universe_inbox_item_equal(const WitUniverseInboxItem *a, const WitUniverseInboxItem *b);
void wit_universe_inbox_item_free(WitUniverseInboxItem *v);

int wit_universe_fabric_mode_encode(const WitUniverseFabricMode *v, Buf *buf, CodecError *error);
int wit_universe_fabric_mode_decode(const void *data, size_t len, WitUniverseFabricMode *v_out, CodecError *error);
int wit_universe_fabric_mode_validate(const WitUniverseFabricMode *v, CodecError *error);
bool wit_universe_fabric_mode_equal(const WitUniverseFabricMode *a, const WitUniverseFabricMode *b);
void wit_universe_fabric_mode_free(WitUniverseFabricMode *v);

int wit_universe_fabric_send_params_encode(const WitUniverseFabricSendParams *v, Buf *buf, CodecError *error);
int wit_universe_fabric_send_params_decode(const void *data, size_t len, WitUniverseFabricSendParams *v_out, CodecError *error);
int wit_universe_fabric_send_params_validate(const WitUniverseFabricSendParams *v, CodecError *error);
bool wit_universe_fabric_send_params_equal(const WitUniverseFabricSendParams *a, const WitUniverseFabricSendParams *b);
void wit_universe_fabric_send_params_free(WitUniverseFabricSendParams *v);

int wit_universe_fabric_status_encode(const WitUniverseFabricStatus *v, Buf *buf, CodecError *error);
int wit_universe_fabric_status_decode(const void *data, size_t len, WitUniverseFabricStatus *v_out, CodecError *error);
int wit_universe_fabric_status_validate(const WitUniverseFabricStatus *v, CodecError *error);
bool wit_universe_fabric_status_equal(const WitUniverseFabricStatus *a, const WitUniverseFabricStatus *b);
void wit_universe_fabric_status_free(WitUniverseFabricStatus *v);

int wit_universe_fabric_send_receipt_encode(const WitUniverseFabricSendReceipt *v, Buf *buf, CodecError *error);
int wit_universe_fabric_send_receipt_decode(const void *data, size_t len, WitUniverseFabricSendReceipt *v_out, CodecError *error);
int wit_universe_fabric_send_receipt_validate(const WitUniverseFabricSendReceipt *v, CodecError *error);
bool wit_universe_fabric_send_receipt_equal(const WitUniverseFabricSendReceipt *a, const WitUniverseFabricSendReceipt *b);
void wit_universe_fabric_send_receipt_free(WitUniverseFabricSendReceipt *v);

int wit_universe_entry_kind_encode(const WitUniverseEntryKind *v, Buf *buf, CodecError *error);
int wit_universe_entry_kind_decode(const void *data, size_t len, WitUniverseEntryKind *v_out, CodecError *error);
int wit_universe_entry_kind_validate(const WitUniverseEntryKind *v, CodecError *error);
bool wit_universe_entry_kind_equal(const WitUniverseEntryKind *a, const WitUniverseEntryKind *b);
void wit_universe_entry_kind_free(WitUniverseEntryKind *v);

int wit_universe_change_encode(const WitUniverseChange *v, Buf *buf, CodecError *error);
int wit_universe_change_decode(const void *data, size_t len, WitUniverseChange *v_out, CodecError *error);
int wit_universe_change_validate(const WitUniverseChange *v, CodecError *error);
bool wit_universe_change_equal(const WitUniverseChange *a, const WitUniverseChange *b);
void wit_universe_change_free(WitUniverseChange *v);

int wit_universe_retry_encode(const WitUniverseRetry *v, Buf *buf, CodecError *error);
int wit_universe_retry_decode(const void *data, size_t len, WitUniverseRetry *v_out, CodecError *error);
int wit_universe_retry_validate(const WitUniverseRetry *v, CodecError *error);
bool wit_universe_retry_equal(const WitUniverseRetry *a, const WitUniverseRetry *b);
void wit_universe_retry_free(WitUniverseRetry *v);

int wit_universe_timer_clock_encode(const WitUniverseTimerClock *v, Buf *buf, CodecError *error);
int wit_universe_timer_clock_decode(const void *data, size_t len, WitUniverseTimerClock *v_out, CodecError *error);
int wit_universe_timer_clock_validate(const WitUniverseTimerClock *v, CodecError *error);
bool wit_universe_timer_clock_equal(const WitUniverseTimerClock *a, const WitUniverseTimerClock *b);
void wit_universe_timer_clock_free(WitUniverseTimerClock *v);

int wit_universe_intent_encode(const WitUniverseIntent *v, Buf *buf, CodecError *error);
int wit_universe_intent_decode(const void *data, size_t len, WitUniverseIntent *v_out, CodecError *error);
int wit_universe_intent_validate(const WitUniverseIntent *v, CodecError *error);
bool wit_universe_intent_equal(const WitUniverseIntent *a, const WitUniverseIntent *b);
void wit_universe_intent_free(WitUniverseIntent *v);

int wit_universe_entry_encode(const WitUniverseEntry *v, Buf *buf, CodecError *error);
int wit_universe_entry_decode(const void *data, size_t len, WitUniverseEntry *v_out, CodecError *error);
int wit_universe_entry_validate(const WitUniverseEntry *v, CodecError *error);
bool wit_universe_entry_equal(const WitUniverseEntry *a, const WitUniverseEntry *b);
void wit_universe_entry_free(WitUniverseEntry *v);

int wit_universe_dbi16_lease_key_encode(const WitUniverseDbi16LeaseKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi16_lease_key_decode(const void *data, size_t len, WitUniverseDbi16LeaseKey *v_out, CodecError *error);
int wit_universe_dbi16_lease_key_validate(const WitUniverseDbi16LeaseKey *v, CodecError *error);
bool wit_universe_dbi16_lease_key_equal(const WitUniverseDbi16LeaseKey *a, const WitUniverseDbi16LeaseKey *b);
void wit_universe_dbi16_lease_key_free(WitUniverseDbi16LeaseKey *v);

int wit_universe_dbi16_lease_value_encode(const WitUniverseDbi16LeaseValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi16_lease_value_decode(const void *data, size_t len, WitUniverseDbi16LeaseValue *v_out, CodecError *error);
int wit_universe_dbi16_lease_value_validate(const WitUniverseDbi16LeaseValue *v, CodecError *error);
bool wit_universe_dbi16_lease_value_equal(const WitUniverseDbi16LeaseValue *a, const WitUniverseDbi16LeaseValue *b);
void wit_universe_dbi16_lease_value_free(WitUniverseDbi16LeaseValue *v);

int wit_universe_module_ref_encode(const WitUniverseModuleRef *v, Buf *buf, CodecError *error);
int wit_universe_module_ref_decode(const void *data, size_t len, WitUniverseModuleRef *v_out, CodecError *error);
int wit_universe_module_ref_validate(const WitUniverseModuleRef *v, CodecError *error);
bool wit_universe_module_ref_equal(const WitUniverseModuleRef *a, const WitUniverseModuleRef *b);
void wit_universe_module_ref_free(WitUniverseModuleRef *v);

int wit_universe_dbi17_sessions_key_encode(const WitUniverseDbi17SessionsKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi17_sessions_key_decode(const void *data, size_t len, WitUniverseDbi17SessionsKey *v_out, CodecError *error);
int wit_universe_dbi17_sessions_key_validate(const WitUniverseDbi17SessionsKey *v, CodecError *error);
bool wit_universe_dbi17_sessions_key_equal(const WitUniverseDbi17SessionsKey *a, const WitUniverseDbi17SessionsKey *b);
void wit_universe_dbi17_sessions_key_free(WitUniverseDbi17SessionsKey *v);

int wit_universe_dbi17_sessions_value_encode(const WitUniverseDbi17SessionsValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi17_sessions_value_decode(const void *data, size_t len, WitUniverseDbi17SessionsValue *v_out, CodecError *error);
int wit_universe_dbi17_sessions_value_validate(const WitUniverseDbi17SessionsValue *v, CodecError *error);
bool wit_universe_dbi17_sessions_value_equal(const WitUniverseDbi17SessionsValue *a, const WitUniverseDbi17SessionsValue *b);
void wit_universe_dbi17_sessions_value_free(WitUniverseDbi17SessionsValue *v);

int wit_universe_dbi18_held_key_encode(const WitUniverseDbi18HeldKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi18_held_key_decode(const void *data, size_t len, WitUniverseDbi18HeldKey *v_out, CodecError *error);
int wit_universe_dbi18_held_key_validate(const WitUniverseDbi18HeldKey *v, CodecError *error);
bool wit_universe_dbi18_held_key_equal(const WitUniverseDbi18HeldKey *a, const WitUniverseDbi18HeldKey *b);
void wit_universe_dbi18_held_key_free(WitUniverseDbi18HeldKey *v);

int wit_universe_dbi18_held_value_encode(const WitUniverseDbi18HeldValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi18_held_value_decode(const void *data, size_t len, WitUniverseDbi18HeldValue *v_out, CodecError *error);
int wit_universe_dbi18_held_value_validate(const WitUniverseDbi18HeldValue *v, CodecError *error);
bool wit_universe_dbi18_held_value_equal(const WitUniverseDbi18HeldValue *a, const WitUniverseDbi18HeldValue *b);
void wit_universe_dbi18_held_value_free(WitUniverseDbi18HeldValue *v);

int wit_universe_dbi19_head_key_encode(const WitUniverseDbi19HeadKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi19_head_key_decode(const void *data, size_t len, WitUniverseDbi19HeadKey *v_out, CodecError *error);
int wit_universe_dbi19_head_key_validate(const WitUniverseDbi19HeadKey *v, CodecError *error);
bool wit_universe_dbi19_head_key_equal(const WitUniverseDbi19HeadKey *a, const WitUniverseDbi19HeadKey *b);
void wit_universe_dbi19_head_key_free(WitUniverseDbi19HeadKey *v);

int wit_universe_dbi19_head_value_encode(const WitUniverseDbi19HeadValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi19_head_value_decode(const void *data, size_t len, WitUniverseDbi19HeadValue *v_out, CodecError *error);
int wit_universe_dbi19_head_value_validate(const WitUniverseDbi19HeadValue *v, CodecError *error);
bool wit_universe_dbi19_head_value_equal(const WitUniverseDbi19HeadValue *a, const WitUniverseDbi19HeadValue *b);
void wit_universe_dbi19_head_value_free(WitUniverseDbi19HeadValue *v);

int wit_universe_dbi20_journal_key_encode(const WitUniverseDbi20JournalKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi20_journal_key_decode(const void *data, size_t len, WitUniverseDbi20JournalKey *v_out, CodecError *error);
int wit_universe_dbi20_journal_key_validate(const WitUniverseDbi20JournalKey *v, CodecError *error);
bool wit_universe_dbi20_journal_key_equal(const WitUniverseDbi20JournalKey *a, const WitUniverseDbi20JournalKey *b);
void wit_universe_dbi20_journal_key_free(WitUniverseDbi20JournalKey *v);

int wit_universe_dbi20_journal_value_encode(const WitUniverseDbi20JournalValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi20_journal_value_decode(const void *data, size_t len, WitUniverseDbi20JournalValue *v_out, CodecError *error);
int wit_universe_dbi20_journal_value_validate(const WitUniverseDbi20JournalValue *v, CodecError *error);
bool wit_universe_dbi20_journal_value_equal(const WitUniverseDbi20JournalValue *a, const WitUniverseDbi20JournalValue *b);
void wit_universe_dbi20_journal_value_free(WitUniverseDbi20JournalValue *v);

int wit_universe_item_class_encode(const WitUniverseItemClass *v, Buf *buf, CodecError *error);
int wit_universe_item_class_decode(const void *data, size_t len, WitUniverseItemClass *v_out, CodecError *error);
int wit_universe_item_class_validate(const WitUniverseItemClass *v, CodecError *error);
bool wit_universe_item_class_equal(const WitUniverseItemClass *a, const WitUniverseItemClass *b);
void wit_universe_item_class_free(WitUniverseItemClass *v);

int wit_universe_world_status_encode(const WitUniverseWorldStatus *v, Buf *buf, CodecError *error);
int wit_universe_world_status_decode(const void *data, size_t len, WitUniverseWorldStatus *v_out, CodecError *error);
int wit_universe_world_status_validate(const WitUniverseWorldStatus *v, CodecError *error);
bool wit_universe_world_status_equal(const WitUniverseWorldStatus *a, const WitUniverseWorldStatus *b);
void wit_universe_world_status_free(WitUniverseWorldStatus *v);

int wit_universe_dbi21_world_meta_key_encode(const WitUniverseDbi21WorldMetaKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi21_world_meta_key_decode(const void *data, size_t len, WitUniverseDbi21WorldMetaKey *v_out, CodecError *error);
int wit_universe_dbi21_world_meta_key_validate(const WitUniverseDbi21WorldMetaKey *v, CodecError *error);
bool wit_universe_dbi21_world_meta_key_equal(const WitUniverseDbi21WorldMetaKey *a, const WitUniverseDbi21WorldMetaKey *b);
void wit_universe_dbi21_world_meta_key_free(WitUniverseDbi21WorldMetaKey *v);

int wit_universe_dbi21_world_meta_value_encode(const WitUniverseDbi21WorldMetaValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi21_world_meta_value_decode(const void *data, size_t len, WitUniverseDbi21WorldMetaValue *v_out, CodecError *error);
int wit_universe_dbi21_world_meta_value_validate(const WitUniverseDbi21WorldMetaValue *v, CodecError *error);
bool wit_universe_dbi21_world_meta_value_equal(const WitUniverseDbi21WorldMetaValue *a, const WitUniverseDbi21WorldMetaValue *b);
void wit_universe_dbi21_world_meta_value_free(WitUniverseDbi21WorldMetaValue *v);

int wit_universe_dbi22_assignment_key_encode(const WitUniverseDbi22AssignmentKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi22_assignment_key_decode(const void *data, size_t len, WitUniverseDbi22AssignmentKey *v_out, CodecError *error);
int wit_universe_dbi22_assignment_key_validate(const WitUniverseDbi22AssignmentKey *v, CodecError *error);
bool wit_universe_dbi22_assignment_key_equal(const WitUniverseDbi22AssignmentKey *a, const WitUniverseDbi22AssignmentKey *b);
void wit_universe_dbi22_assignment_key_free(WitUniverseDbi22AssignmentKey *v);

int wit_universe_dbi22_assignment_value_encode(const WitUniverseDbi22AssignmentValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi22_assignment_value_decode(const void *data, size_t len, WitUniverseDbi22AssignmentValue *v_out, CodecError *error);
int wit_universe_dbi22_assignment_value_validate(const WitUniverseDbi22AssignmentValue *v, CodecError *error);
bool wit_universe_dbi22_assignment_value_equal(const WitUniverseDbi22AssignmentValue *a, const WitUniverseDbi22AssignmentValue *b);
void wit_universe_dbi22_assignment_value_free(WitUniverseDbi22AssignmentValue *v);

int wit_universe_dbi23_assigned_key_encode(const WitUniverseDbi23AssignedKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi23_assigned_key_decode(const void *data, size_t len, WitUniverseDbi23AssignedKey *v_out, CodecError *error);
int wit_universe_dbi23_assigned_key_validate(const WitUniverseDbi23AssignedKey *v, CodecError *error);
bool wit_universe_dbi23_assigned_key_equal(const WitUniverseDbi23AssignedKey *a, const WitUniverseDbi23AssignedKey *b);
void wit_universe_dbi23_assigned_key_free(WitUniverseDbi23AssignedKey *v);

int wit_universe_dbi23_assigned_value_encode(const WitUniverseDbi23AssignedValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi23_assigned_value_decode(const void *data, size_t len, WitUniverseDbi23AssignedValue *v_out, CodecError *error);
int wit_universe_dbi23_assigned_value_validate(const WitUniverseDbi23AssignedValue *v, CodecError *error);
bool wit_universe_dbi23_assigned_value_equal(const WitUniverseDbi23AssignedValue *a, const WitUniverseDbi23AssignedValue *b);
void wit_universe_dbi23_assigned_value_free(WitUniverseDbi23AssignedValue *v);

int wit_universe_dbi24_world_inbox_key_encode(const WitUniverseDbi24WorldInboxKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi24_world_inbox_key_decode(const void *data, size_t len, WitUniverseDbi24WorldInboxKey *v_out, CodecError *error);
int wit_universe_dbi24_world_inbox_key_validate(const WitUniverseDbi24WorldInboxKey *v, CodecError *error);
bool wit_universe_dbi24_world_inbox_key_equal(const WitUniverseDbi24WorldInboxKey *a, const WitUniverseDbi24WorldInboxKey *b);
void wit_universe_dbi24_world_inbox_key_free(WitUniverseDbi24WorldInboxKey *v);

int wit_universe_dbi24_world_inbox_value_encode(const WitUniverseDbi24WorldInboxValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi24_world_inbox_value_decode(const void *data, size_t len, WitUniverseDbi24WorldInboxValue *v_out, CodecError *error);
int wit_universe_dbi24_world_inbox_value_validate(const WitUniverseDbi24WorldInboxValue *v, CodecError *error);
bool wit_universe_dbi24_world_inbox_value_equal(const WitUniverseDbi24WorldInboxValue *a, const WitUniverseDbi24WorldInboxValue *b);
void wit_universe_dbi24_world_inbox_value_free(WitUniverseDbi24WorldInboxValue *v);

int wit_universe_dbi25_idem_key_encode(const WitUniverseDbi25IdemKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi25_idem_key_decode(const void *data, size_t len, WitUniverseDbi25IdemKey *v_out, CodecError *error);
int wit_universe_dbi25_idem_key_validate(const WitUniverseDbi25IdemKey *v, CodecError *error);
bool wit_universe_dbi25_idem_key_equal(const WitUniverseDbi25IdemKey *a, const WitUniverseDbi25IdemKey *b);
void wit_universe_dbi25_idem_key_free(WitUniverseDbi25IdemKey *v);

int wit_universe_dbi25_idem_value_encode(const WitUniverseDbi25IdemValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi25_idem_value_decode(const void *data, size_t len, WitUniverseDbi25IdemValue *v_out, CodecError *error);
int wit_universe_dbi25_idem_value_validate(const WitUniverseDbi25IdemValue *v, CodecError *error);
bool wit_universe_dbi25_idem_value_equal(const WitUniverseDbi25IdemValue *a, const WitUniverseDbi25IdemValue *b);
void wit_universe_dbi25_idem_value_free(WitUniverseDbi25IdemValue *v);

int wit_universe_dbi26_reply_key_encode(const WitUniverseDbi26ReplyKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi26_reply_key_decode(const void *data, size_t len, WitUniverseDbi26ReplyKey *v_out, CodecError *error);
int wit_universe_dbi26_reply_key_validate(const WitUniverseDbi26ReplyKey *v, CodecError *error);
bool wit_universe_dbi26_reply_key_equal(const WitUniverseDbi26ReplyKey *a, const WitUniverseDbi26ReplyKey *b);
void wit_universe_dbi26_reply_key_free(WitUniverseDbi26ReplyKey *v);

int wit_universe_dbi26_reply_value_encode(const WitUniverseDbi26ReplyValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi26_reply_value_decode(const void *data, size_t len, WitUniverseDbi26ReplyValue *v_out, CodecError *error);
int wit_universe_dbi26_reply_value_validate(const WitUniverseDbi26ReplyValue *v, CodecError *error);
bool wit_universe_dbi26_reply_value_equal(const WitUniverseDbi26ReplyValue *a, const WitUniverseDbi26ReplyValue *b);
void wit_universe_dbi26_reply_value_free(WitUniverseDbi26ReplyValue *v);

int wit_universe_dbi27_attempt_key_encode(const WitUniverseDbi27AttemptKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi27_attempt_key_decode(const void *data, size_t len, WitUniverseDbi27AttemptKey *v_out, CodecError *error);
int wit_universe_dbi27_attempt_key_validate(const WitUniverseDbi27AttemptKey *v, CodecError *error);
bool wit_universe_dbi27_attempt_key_equal(const WitUniverseDbi27AttemptKey *a, const WitUniverseDbi27AttemptKey *b);
void wit_universe_dbi27_attempt_key_free(WitUniverseDbi27AttemptKey *v);

int wit_universe_dbi27_attempt_value_encode(const WitUniverseDbi27AttemptValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi27_attempt_value_decode(const void *data, size_t len, WitUniverseDbi27AttemptValue *v_out, CodecError *error);
int wit_universe_dbi27_attempt_value_validate(const WitUniverseDbi27AttemptValue *v, CodecError *error);
bool wit_universe_dbi27_attempt_value_equal(const WitUniverseDbi27AttemptValue *a, const WitUniverseDbi27AttemptValue *b);
void wit_universe_dbi27_attempt_value_free(WitUniverseDbi27AttemptValue *v);

int wit_universe_dbi28_world_dlq_key_encode(const WitUniverseDbi28WorldDlqKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi28_world_dlq_key_decode(const void *data, size_t len, WitUniverseDbi28WorldDlqKey *v_out, CodecError *error);
int wit_universe_dbi28_world_dlq_key_validate(const WitUniverseDbi28WorldDlqKey *v, CodecError *error);
bool wit_universe_dbi28_world_dlq_key_equal(const WitUniverseDbi28WorldDlqKey *a, const WitUniverseDbi28WorldDlqKey *b);
void wit_universe_dbi28_world_dlq_key_free(WitUniverseDbi28WorldDlqKey *v);

int wit_universe_dbi28_world_dlq_value_encode(const WitUniverseDbi28WorldDlqValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi28_world_dlq_value_decode(const void *data, size_t len, WitUniverseDbi28WorldDlqValue *v_out, CodecError *error);
int wit_universe_dbi28_world_dlq_value_validate(const WitUniverseDbi28WorldDlqValue *v, CodecError *error);
bool wit_universe_dbi28_world_dlq_value_equal(const WitUniverseDbi28WorldDlqValue *a, const WitUniverseDbi28WorldDlqValue *b);
void wit_universe_dbi28_world_dlq_value_free(WitUniverseDbi28WorldDlqValue *v);

int wit_universe_dbi29_fabric_dedupe_key_encode(const WitUniverseDbi29FabricDedupeKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi29_fabric_dedupe_key_decode(const void *data, size_t len, WitUniverseDbi29FabricDedupeKey *v_out, CodecError *error);
int wit_universe_dbi29_fabric_dedupe_key_validate(const WitUniverseDbi29FabricDedupeKey *v, CodecError *error);
bool wit_universe_dbi29_fabric_dedupe_key_equal(const WitUniverseDbi29FabricDedupeKey *a, const WitUniverseDbi29FabricDedupeKey *b);
void wit_universe_dbi29_fabric_dedupe_key_free(WitUniverseDbi29FabricDedupeKey *v);

int wit_universe_dbi29_fabric_dedupe_value_encode(const WitUniverseDbi29FabricDedupeValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi29_fabric_dedupe_value_decode(const void *data, size_t len, WitUniverseDbi29FabricDedupeValue *v_out, CodecError *error);
int wit_universe_dbi29_fabric_dedupe_value_validate(const WitUniverseDbi29FabricDedupeValue *v, CodecError *error);
bool wit_universe_dbi29_fabric_dedupe_value_equal(const WitUniverseDbi29FabricDedupeValue *a, const WitUniverseDbi29FabricDedupeValue *b);
void wit_universe_dbi29_fabric_dedupe_value_free(WitUniverseDbi29FabricDedupeValue *v);

int wit_universe_dbi30_snapshot_key_encode(const WitUniverseDbi30SnapshotKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi30_snapshot_key_decode(const void *data, size_t len, WitUniverseDbi30SnapshotKey *v_out, CodecError *error);
int wit_universe_dbi30_snapshot_key_validate(const WitUniverseDbi30SnapshotKey *v, CodecError *error);
bool wit_universe_dbi30_snapshot_key_equal(const WitUniverseDbi30SnapshotKey *a, const WitUniverseDbi30SnapshotKey *b);
void wit_universe_dbi30_snapshot_key_free(WitUniverseDbi30SnapshotKey *v);

int wit_universe_dbi30_snapshot_value_encode(const WitUniverseDbi30SnapshotValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi30_snapshot_value_decode(const void *data, size_t len, WitUniverseDbi30SnapshotValue *v_out, CodecError *error);
int wit_universe_dbi30_snapshot_value_validate(const WitUniverseDbi30SnapshotValue *v, CodecError *error);
bool wit_universe_dbi30_snapshot_value_equal(const WitUniverseDbi30SnapshotValue *a, const WitUniverseDbi30SnapshotValue *b);
void wit_universe_dbi30_snapshot_value_free(WitUniverseDbi30SnapshotValue *v);

int wit_universe_dbi31_baseline_key_encode(const WitUniverseDbi31BaselineKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi31_baseline_key_decode(const void *data, size_t len, WitUniverseDbi31BaselineKey *v_out, CodecError *error);
int wit_universe_dbi31_baseline_key_validate(const WitUniverseDbi31BaselineKey *v, CodecError *error);
bool wit_universe_dbi31_baseline_key_equal(const WitUniverseDbi31BaselineKey *a, const WitUniverseDbi31BaselineKey *b);
void wit_universe_dbi31_baseline_key_free(WitUniverseDbi31BaselineKey *v);

int wit_universe_dbi31_baseline_value_encode(const WitUniverseDbi31BaselineValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi31_baseline_value_decode(const void *data, size_t len, WitUniverseDbi31BaselineValue *v_out, CodecError *error);
int wit_universe_dbi31_baseline_value_validate(const WitUniverseDbi31BaselineValue *v, CodecError *error);
bool wit_universe_dbi31_baseline_value_equal(const WitUniverseDbi31BaselineValue *a, const WitUniverseDbi31BaselineValue *b);
void wit_universe_dbi31_baseline_value_free(WitUniverseDbi31BaselineValue *v);

int wit_universe_dbi32_pins_key_encode(const WitUniverseDbi32PinsKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi32_pins_key_decode(const void *data, size_t len, WitUniverseDbi32PinsKey *v_out, CodecError *error);
int wit_universe_dbi32_pins_key_validate(const WitUniverseDbi32PinsKey *v, CodecError *error);
bool wit_universe_dbi32_pins_key_equal(const WitUniverseDbi32PinsKey *a, const WitUniverseDbi32PinsKey *b);
void wit_universe_dbi32_pins_key_free(WitUniverseDbi32PinsKey *v);

int wit_universe_dbi32_pins_value_encode(const WitUniverseDbi32PinsValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi32_pins_value_decode(const void *data, size_t len, WitUniverseDbi32PinsValue *v_out, CodecError *error);
int wit_universe_dbi32_pins_value_validate(const WitUniverseDbi32PinsValue *v, CodecError *error);
bool wit_universe_dbi32_pins_value_equal(const WitUniverseDbi32PinsValue *a, const WitUniverseDbi32PinsValue *b);
void wit_universe_dbi32_pins_value_free(WitUniverseDbi32PinsValue *v);

int wit_universe_dbi33_segments_key_encode(const WitUniverseDbi33SegmentsKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi33_segments_key_decode(const void *data, size_t len, WitUniverseDbi33SegmentsKey *v_out, CodecError *error);
int wit_universe_dbi33_segments_key_validate(const WitUniverseDbi33SegmentsKey *v, CodecError *error);
bool wit_universe_dbi33_segments_key_equal(const WitUniverseDbi33SegmentsKey *a, const WitUniverseDbi33SegmentsKey *b);
void wit_universe_dbi33_segments_key_free(WitUniverseDbi33SegmentsKey *v);

int wit_universe_dbi33_segments_value_encode(const WitUniverseDbi33SegmentsValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi33_segments_value_decode(const void *data, size_t len, WitUniverseDbi33SegmentsValue *v_out, CodecError *error);
int wit_universe_dbi33_segments_value_validate(const WitUniverseDbi33SegmentsValue *v, CodecError *error);
bool wit_universe_dbi33_segments_value_equal(const WitUniverseDbi33SegmentsValue *a, const WitUniverseDbi33SegmentsValue *b);
void wit_universe_dbi33_segments_value_free(WitUniverseDbi33SegmentsValue *v);

int wit_universe_effect_encode(const WitUniverseEffect *v, Buf *buf, CodecError *error);
int wit_universe_effect_decode(const void *data, size_t len, WitUniverseEffect *v_out, CodecError *error);
int wit_universe_effect_validate(const WitUniverseEffect *v, CodecError *error);
bool wit_universe_effect_equal(const WitUniverseEffect *a, const WitUniverseEffect *b);
void wit_universe_effect_free(WitUniverseEffect *v);

int wit_universe_dbi34_effects_pending_key_encode(const WitUniverseDbi34EffectsPendingKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi34_effects_pending_key_decode(const void *data, size_t len, WitUniverseDbi34EffectsPendingKey *v_out, CodecError *error);
int wit_universe_dbi34_effects_pending_key_validate(const WitUniverseDbi34EffectsPendingKey *v, CodecError *error);
bool wit_universe_dbi34_effects_pending_key_equal(const WitUniverseDbi34EffectsPendingKey *a, const WitUniverseDbi34EffectsPendingKey *b);
void wit_universe_dbi34_effects_pending_key_free(WitUniverseDbi34EffectsPendingKey *v);

int wit_universe_dbi34_effects_pending_value_encode(const WitUniverseDbi34EffectsPendingValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi34_effects_pending_value_decode(const void *data, size_t len, WitUniverseDbi34EffectsPendingValue *v_out, CodecError *error);
int wit_universe_dbi34_effects_pending_value_validate(const WitUniverseDbi34EffectsPendingValue *v, CodecError *error);
bool wit_universe_dbi34_effects_pending_value_equal(const WitUniverseDbi34EffectsPendingValue *a, const WitUniverseDbi34EffectsPendingValue *b);
void wit_universe_dbi34_effects_pending_value_free(WitUniverseDbi34EffectsPendingValue *v);

int wit_universe_dbi35_effects_inflight_key_encode(const WitUniverseDbi35EffectsInflightKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi35_effects_inflight_key_decode(const void *data, size_t len, WitUniverseDbi35EffectsInflightKey *v_out, CodecError *error);
int wit_universe_dbi35_effects_inflight_key_validate(const WitUniverseDbi35EffectsInflightKey *v, CodecError *error);
bool wit_universe_dbi35_effects_inflight_key_equal(const WitUniverseDbi35EffectsInflightKey *a, const WitUniverseDbi35EffectsInflightKey *b);
void wit_universe_dbi35_effects_inflight_key_free(WitUniverseDbi35EffectsInflightKey *v);

int wit_universe_dbi35_effects_inflight_value_encode(const WitUniverseDbi35EffectsInflightValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi35_effects_inflight_value_decode(const void *data, size_t len, WitUniverseDbi35EffectsInflightValue *v_out, CodecError *error);
int wit_universe_dbi35_effects_inflight_value_validate(const WitUniverseDbi35EffectsInflightValue *v, CodecError *error);
bool wit_universe_dbi35_effects_inflight_value_equal(const WitUniverseDbi35EffectsInflightValue *a, const WitUniverseDbi35EffectsInflightValue *b);
void wit_universe_dbi35_effects_inflight_value_free(WitUniverseDbi35EffectsInflightValue *v);

int wit_universe_dispatch_status_encode(const WitUniverseDispatchStatus *v, Buf *buf, CodecError *error);
int wit_universe_dispatch_status_decode(const void *data, size_t len, WitUniverseDispatchStatus *v_out, CodecError *error);
int wit_universe_dispatch_status_validate(const WitUniverseDispatchStatus *v, CodecError *error);
bool wit_universe_dispatch_status_equal(const WitUniverseDispatchStatus *a, const WitUniverseDispatchStatus *b);
void wit_universe_dispatch_status_free(WitUniverseDispatchStatus *v);

int wit_universe_dbi36_effects_dedupe_key_encode(const WitUniverseDbi36EffectsDedupeKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi36_effects_dedupe_key_decode(const void *data, size_t len, WitUniverseDbi36EffectsDedupeKey *v_out, CodecError *error);
int wit_universe_dbi36_effects_dedupe_key_validate(const WitUniverseDbi36EffectsDedupeKey *v, CodecError *error);
bool wit_universe_dbi36_effects_dedupe_key_equal(const WitUniverseDbi36EffectsDedupeKey *a, const WitUniverseDbi36EffectsDedupeKey *b);
void wit_universe_dbi36_effects_dedupe_key_free(WitUniverseDbi36EffectsDedupeKey *v);

int wit_universe_dbi36_effects_dedupe_value_encode(const WitUniverseDbi36EffectsDedupeValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi36_effects_dedupe_value_decode(const void *data, size_t len, WitUniverseDbi36EffectsDedupeValue *v_out, CodecError *error);
int wit_universe_dbi36_effects_dedupe_value_validate(const WitUniverseDbi36EffectsDedupeValue *v, CodecError *error);
bool wit_universe_dbi36_effects_dedupe_value_equal(const WitUniverseDbi36EffectsDedupeValue *a, const WitUniverseDbi36EffectsDedupeValue *b);
void wit_universe_dbi36_effects_dedupe_value_free(WitUniverseDbi36EffectsDedupeValue *v);

int wit_universe_timer_use_encode(const WitUniverseTimerUse *v, Buf *buf, CodecError *error);
int wit_universe_timer_use_decode(const void *data, size_t len, WitUniverseTimerUse *v_out, CodecError *error);
int wit_universe_timer_use_validate(const WitUniverseTimerUse *v, CodecError *error);
bool wit_universe_timer_use_equal(const WitUniverseTimerUse *a, const WitUniverseTimerUse *b);
void wit_universe_timer_use_free(WitUniverseTimerUse *v);

int wit_universe_dbi37_timers_due_key_encode(const WitUniverseDbi37TimersDueKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi37_timers_due_key_decode(const void *data, size_t len, WitUniverseDbi37TimersDueKey *v_out, CodecError *error);
int wit_universe_dbi37_timers_due_key_validate(const WitUniverseDbi37TimersDueKey *v, CodecError *error);
bool wit_universe_dbi37_timers_due_key_equal(const WitUniverseDbi37TimersDueKey *a, const WitUniverseDbi37TimersDueKey *b);
void wit_universe_dbi37_timers_due_key_free(WitUniverseDbi37TimersDueKey *v);

int wit_universe_dbi37_timers_due_value_encode(const WitUniverseDbi37TimersDueValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi37_timers_due_value_decode(const void *data, size_t len, WitUniverseDbi37TimersDueValue *v_out, CodecError *error);
int wit_universe_dbi37_timers_due_value_validate(const WitUniverseDbi37TimersDueValue *v, CodecError *error);
bool wit_universe_dbi37_timers_due_value_equal(const WitUniverseDbi37TimersDueValue *a, const WitUniverseDbi37TimersDueValue *b);
void wit_universe_dbi37_timers_due_value_free(WitUniverseDbi37TimersDueValue *v);

int wit_universe_dbi38_timers_dedupe_key_encode(const WitUniverseDbi38TimersDedupeKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi38_timers_dedupe_key_decode(const void *data, size_t len, WitUniverseDbi38TimersDedupeKey *v_out, CodecError *error);
int wit_universe_dbi38_timers_dedupe_key_validate(const WitUniverseDbi38TimersDedupeKey *v, CodecError *error);
bool wit_universe_dbi38_timers_dedupe_key_equal(const WitUniverseDbi38TimersDedupeKey *a, const WitUniverseDbi38TimersDedupeKey *b);
void wit_universe_dbi38_timers_dedupe_key_free(WitUniverseDbi38TimersDedupeKey *v);

int wit_universe_dbi38_timers_dedupe_value_encode(const WitUniverseDbi38TimersDedupeValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi38_timers_dedupe_value_decode(const void *data, size_t len, WitUniverseDbi38TimersDedupeValue *v_out, CodecError *error);
int wit_universe_dbi38_timers_dedupe_value_validate(const WitUniverseDbi38TimersDedupeValue *v, CodecError *error);
bool wit_universe_dbi38_timers_dedupe_value_equal(const WitUniverseDbi38TimersDedupeValue *a, const WitUniverseDbi38TimersDedupeValue *b);
void wit_universe_dbi38_timers_dedupe_value_free(WitUniverseDbi38TimersDedupeValue *v);

int wit_universe_dbi39_ready_key_encode(const WitUniverseDbi39ReadyKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi39_ready_key_decode(const void *data, size_t len, WitUniverseDbi39ReadyKey *v_out, CodecError *error);
int wit_universe_dbi39_ready_key_validate(const WitUniverseDbi39ReadyKey *v, CodecError *error);
bool wit_universe_dbi39_ready_key_equal(const WitUniverseDbi39ReadyKey *a, const WitUniverseDbi39ReadyKey *b);
void wit_universe_dbi39_ready_key_free(WitUniverseDbi39ReadyKey *v);

int wit_universe_dbi39_ready_value_encode(const WitUniverseDbi39ReadyValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi39_ready_value_decode(const void *data, size_t len, WitUniverseDbi39ReadyValue *v_out, CodecError *error);
int wit_universe_dbi39_ready_value_validate(const WitUniverseDbi39ReadyValue *v, CodecError *error);
bool wit_universe_dbi39_ready_value_equal(const WitUniverseDbi39ReadyValue *a, const WitUniverseDbi39ReadyValue *b);
void wit_universe_dbi39_ready_value_free(WitUniverseDbi39ReadyValue *v);

int wit_universe_dbi40_rolelease_key_encode(const WitUniverseDbi40RoleleaseKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi40_rolelease_key_decode(const void *data, size_t len, WitUniverseDbi40RoleleaseKey *v_out, CodecError *error);
int wit_universe_dbi40_rolelease_key_validate(const WitUniverseDbi40RoleleaseKey *v, CodecError *error);
bool wit_universe_dbi40_rolelease_key_equal(const WitUniverseDbi40RoleleaseKey *a, const WitUniverseDbi40RoleleaseKey *b);
void wit_universe_dbi40_rolelease_key_free(WitUniverseDbi40RoleleaseKey *v);

int wit_universe_dbi40_rolelease_value_encode(const WitUniverseDbi40RoleleaseValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi40_rolelease_value_decode(const void *data, size_t len, WitUniverseDbi40RoleleaseValue *v_out, CodecError *error);
int wit_universe_dbi40_rolelease_value_validate(const WitUniverseDbi40RoleleaseValue *v, CodecError *error);
bool wit_universe_dbi40_rolelease_value_equal(const WitUniverseDbi40RoleleaseValue *a, const WitUniverseDbi40RoleleaseValue *b);
void wit_universe_dbi40_rolelease_value_free(WitUniverseDbi40RoleleaseValue *v);

int wit_universe_dbi41_expiry_key_encode(const WitUniverseDbi41ExpiryKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi41_expiry_key_decode(const void *data, size_t len, WitUniverseDbi41ExpiryKey *v_out, CodecError *error);
int wit_universe_dbi41_expiry_key_validate(const WitUniverseDbi41ExpiryKey *v, CodecError *error);
bool wit_universe_dbi41_expiry_key_equal(const WitUniverseDbi41ExpiryKey *a, const WitUniverseDbi41ExpiryKey *b);
void wit_universe_dbi41_expiry_key_free(WitUniverseDbi41ExpiryKey *v);

int wit_universe_dbi41_expiry_value_encode(const WitUniverseDbi41ExpiryValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi41_expiry_value_decode(const void *data, size_t len, WitUniverseDbi41ExpiryValue *v_out, CodecError *error);
int wit_universe_dbi41_expiry_value_validate(const WitUniverseDbi41ExpiryValue *v, CodecError *error);
bool wit_universe_dbi41_expiry_value_equal(const WitUniverseDbi41ExpiryValue *a, const WitUniverseDbi41ExpiryValue *b);
void wit_universe_dbi41_expiry_value_free(WitUniverseDbi41ExpiryValue *v);

int wit_universe_dbi42_promises_key_encode(const WitUniverseDbi42PromisesKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi42_promises_key_decode(const void *data, size_t len, WitUniverseDbi42PromisesKey *v_out, CodecError *error);
int wit_universe_dbi42_promises_key_validate(const WitUniverseDbi42PromisesKey *v, CodecError *error);
bool wit_universe_dbi42_promises_key_equal(const WitUniverseDbi42PromisesKey *a, const WitUniverseDbi42PromisesKey *b);
void wit_universe_dbi42_promises_key_free(WitUniverseDbi42PromisesKey *v);

int wit_universe_dbi42_promises_value_encode(const WitUniverseDbi42PromisesValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi42_promises_value_decode(const void *data, size_t len, WitUniverseDbi42PromisesValue *v_out, CodecError *error);
int wit_universe_dbi42_promises_value_validate(const WitUniverseDbi42PromisesValue *v, CodecError *error);
bool wit_universe_dbi42_promises_value_equal(const WitUniverseDbi42PromisesValue *a, const WitUniverseDbi42PromisesValue *b);
void wit_universe_dbi42_promises_value_free(WitUniverseDbi42PromisesValue *v);

int wit_universe_module_state_encode(const WitUniverseModuleState *v, Buf *buf, CodecError *error);
int wit_universe_module_state_decode(const void *data, size_t len, WitUniverseModuleState *v_out, CodecError *error);
int wit_universe_module_state_validate(const WitUniverseModuleState *v, CodecError *error);
bool wit_universe_module_state_equal(const WitUniverseModuleState *a, const WitUniverseModuleState *b);
void wit_universe_module_state_free(WitUniverseModuleState *v);

int wit_universe_dbi43_modules_key_encode(const WitUniverseDbi43ModulesKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi43_modules_key_decode(const void *data, size_t len, WitUniverseDbi43ModulesKey *v_out, CodecError *error);
int wit_universe_dbi43_modules_key_validate(const WitUniverseDbi43ModulesKey *v, CodecError *error);
bool wit_universe_dbi43_modules_key_equal(const WitUniverseDbi43ModulesKey *a, const WitUniverseDbi43ModulesKey *b);
void wit_universe_dbi43_modules_key_free(WitUniverseDbi43ModulesKey *v);

int wit_universe_dbi43_modules_value_encode(const WitUniverseDbi43ModulesValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi43_modules_value_decode(const void *data, size_t len, WitUniverseDbi43ModulesValue *v_out, CodecError *error);
int wit_universe_dbi43_modules_value_validate(const WitUniverseDbi43ModulesValue *v, CodecError *error);
bool wit_universe_dbi43_modules_value_equal(const WitUniverseDbi43ModulesValue *a, const WitUniverseDbi43ModulesValue *b);
void wit_universe_dbi43_modules_value_free(WitUniverseDbi43ModulesValue *v);

int wit_universe_dbi44_cron_key_encode(const WitUniverseDbi44CronKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi44_cron_key_decode(const void *data, size_t len, WitUniverseDbi44CronKey *v_out, CodecError *error);
int wit_universe_dbi44_cron_key_validate(const WitUniverseDbi44CronKey *v, CodecError *error);
bool wit_universe_dbi44_cron_key_equal(const WitUniverseDbi44CronKey *a, const WitUniverseDbi44CronKey *b);
void wit_universe_dbi44_cron_key_free(WitUniverseDbi44CronKey *v);

int wit_universe_dbi44_cron_value_encode(const WitUniverseDbi44CronValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi44_cron_value_decode(const void *data, size_t len, WitUniverseDbi44CronValue *v_out, CodecError *error);
int wit_universe_dbi44_cron_value_validate(const WitUniverseDbi44CronValue *v, CodecError *error);
bool wit_universe_dbi44_cron_value_equal(const WitUniverseDbi44CronValue *a, const WitUniverseDbi44CronValue *b);
void wit_universe_dbi44_cron_value_free(WitUniverseDbi44CronValue *v);

int wit_universe_dbi45_kinds_key_encode(const WitUniverseDbi45KindsKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi45_kinds_key_decode(const void *data, size_t len, WitUniverseDbi45KindsKey *v_out, CodecError *error);
int wit_universe_dbi45_kinds_key_validate(const WitUniverseDbi45KindsKey *v, CodecError *error);
bool wit_universe_dbi45_kinds_key_equal(const WitUniverseDbi45KindsKey *a, const WitUniverseDbi45KindsKey *b);
void wit_universe_dbi45_kinds_key_free(WitUniverseDbi45KindsKey *v);

int wit_universe_dbi45_kinds_value_encode(const WitUniverseDbi45KindsValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi45_kinds_value_decode(const void *data, size_t len, WitUniverseDbi45KindsValue *v_out, CodecError *error);
int wit_universe_dbi45_kinds_value_validate(const WitUniverseDbi45KindsValue *v, CodecError *error);
bool wit_universe_dbi45_kinds_value_equal(const WitUniverseDbi45KindsValue *a, const WitUniverseDbi45KindsValue *b);
void wit_universe_dbi45_kinds_value_free(WitUniverseDbi45KindsValue *v);

int wit_universe_dbi46_tags_key_encode(const WitUniverseDbi46TagsKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi46_tags_key_decode(const void *data, size_t len, WitUniverseDbi46TagsKey *v_out, CodecError *error);
int wit_universe_dbi46_tags_key_validate(const WitUniverseDbi46TagsKey *v, CodecError *error);
bool wit_universe_dbi46_tags_key_equal(const WitUniverseDbi46TagsKey *a, const WitUniverseDbi46TagsKey *b);
void wit_universe_dbi46_tags_key_free(WitUniverseDbi46TagsKey *v);

int wit_universe_dbi46_tags_value_encode(const WitUniverseDbi46TagsValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi46_tags_value_decode(const void *data, size_t len, WitUniverseDbi46TagsValue *v_out, CodecError *error);
int wit_universe_dbi46_tags_value_validate(const WitUniverseDbi46TagsValue *v, CodecError *error);
bool wit_universe_dbi46_tags_value_equal(const WitUniverseDbi46TagsValue *a, const WitUniverseDbi46TagsValue *b);
void wit_universe_dbi46_tags_value_free(WitUniverseDbi46TagsValue *v);

int wit_universe_dbi48_world_tags_key_encode(const WitUniverseDbi48WorldTagsKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi48_world_tags_key_decode(const void *data, size_t len, WitUniverseDbi48WorldTagsKey *v_out, CodecError *error);
int wit_universe_dbi48_world_tags_key_validate(const WitUniverseDbi48WorldTagsKey *v, CodecError *error);
bool wit_universe_dbi48_world_tags_key_equal(const WitUniverseDbi48WorldTagsKey *a, const WitUniverseDbi48WorldTagsKey *b);
void wit_universe_dbi48_world_tags_key_free(WitUniverseDbi48WorldTagsKey *v);

int wit_universe_dbi48_world_tags_value_encode(const WitUniverseDbi48WorldTagsValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi48_world_tags_value_decode(const void *data, size_t len, WitUniverseDbi48WorldTagsValue *v_out, CodecError *error);
int wit_universe_dbi48_world_tags_value_validate(const WitUniverseDbi48WorldTagsValue *v, CodecError *error);
bool wit_universe_dbi48_world_tags_value_equal(const WitUniverseDbi48WorldTagsValue *a, const WitUniverseDbi48WorldTagsValue *b);
void wit_universe_dbi48_world_tags_value_free(WitUniverseDbi48WorldTagsValue *v);

int wit_universe_dbi49_results_key_encode(const WitUniverseDbi49ResultsKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi49_results_key_decode(const void *data, size_t len, WitUniverseDbi49ResultsKey *v_out, CodecError *error);
int wit_universe_dbi49_results_key_validate(const WitUniverseDbi49ResultsKey *v, CodecError *error);
bool wit_universe_dbi49_results_key_equal(const WitUniverseDbi49ResultsKey *a, const WitUniverseDbi49ResultsKey *b);
void wit_universe_dbi49_results_key_free(WitUniverseDbi49ResultsKey *v);

int wit_universe_dbi49_results_value_encode(const WitUniverseDbi49ResultsValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi49_results_value_decode(const void *data, size_t len, WitUniverseDbi49ResultsValue *v_out, CodecError *error);
int wit_universe_dbi49_results_value_validate(const WitUniverseDbi49ResultsValue *v, CodecError *error);
bool wit_universe_dbi49_results_value_equal(const WitUniverseDbi49ResultsValue *a, const WitUniverseDbi49ResultsValue *b);
void wit_universe_dbi49_results_value_free(WitUniverseDbi49ResultsValue *v);

int wit_universe_dbi47_idempotency_key_encode(const WitUniverseDbi47IdempotencyKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi47_idempotency_key_decode(const void *data, size_t len, WitUniverseDbi47IdempotencyKey *v_out, CodecError *error);
int wit_universe_dbi47_idempotency_key_validate(const WitUniverseDbi47IdempotencyKey *v, CodecError *error);
bool wit_universe_dbi47_idempotency_key_equal(const WitUniverseDbi47IdempotencyKey *a, const WitUniverseDbi47IdempotencyKey *b);
void wit_universe_dbi47_idempotency_key_free(WitUniverseDbi47IdempotencyKey *v);

int wit_universe_dbi47_idempotency_value_encode(const WitUniverseDbi47IdempotencyValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi47_idempotency_value_decode(const void *data, size_t len, WitUniverseDbi47IdempotencyValue *v_out, CodecError *error);
int wit_universe_dbi47_idempotency_value_validate(const WitUniverseDbi47IdempotencyValue *v, CodecError *error);
bool wit_universe_dbi47_idempotency_value_equal(const WitUniverseDbi47IdempotencyValue *a, const WitUniverseDbi47IdempotencyValue *b);
void wit_universe_dbi47_idempotency_value_free(WitUniverseDbi47IdempotencyValue *v);

#endif
