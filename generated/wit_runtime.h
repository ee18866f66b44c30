/* wit_runtime.h - Tables 0 to 7: what the runner keeps about messages, timers and workers.
 *
 * Generated from schemas/wit/runtime-schema.wit by tools/wit_codegen: change the schema.
 *
 * encode appends to `buf`; decode and validate say in *error, unless it is NULL, what is wrong
 * where. SAP_INVALID: the bytes or the value break the layout or a refinement. On failure buffer
 * and *v_out are as they were. Caller owns what decode gives, release with free, which leaves an
 * empty value. */
#ifndef SAPLING_GENERATED_WIT_RUNTIME_H
#define SAPLING_GENERATED_WIT_RUNTIME_H

#include "common/codec.h"

enum {
    WIT_RUNTIME_MESSAGE_KIND_COMMAND = 0,
    WIT_RUNTIME_MESSAGE_KIND_EVENT = 1,
    WIT_RUNTIME_MESSAGE_KIND_TIMER = 2,
};
typedef uint8_t WitRuntimeMessageKind;

#define WIT_RUNTIME_MESSAGE_FLAGS_DURABLE (UINT64_C(1) << 0)
#define WIT_RUNTIME_MESSAGE_FLAGS_HIGH_PRIORITY (UINT64_C(1) << 1)
#define WIT_RUNTIME_MESSAGE_FLAGS_DEDUPE_REQUIRED (UINT64_C(1) << 2)
#define WIT_RUNTIME_MESSAGE_FLAGS_REQUIRES_ACK (UINT64_C(1) << 3)
#define WIT_RUNTIME_MESSAGE_FLAGS_HAS_FROM (UINT64_C(1) << 4)
#define WIT_RUNTIME_MESSAGE_FLAGS_HAS_TRACE (UINT64_C(1) << 5)
typedef uint8_t WitRuntimeMessageFlags;

/* A message as it is sent and stored: header, then id, trace and payload, together the body. */
typedef struct WitRuntimeMessage {
    uint16_t major;
    uint16_t minor;
    uint32_t frame_len; /* Of all bytes of the frame. */
    WitRuntimeMessageKind kind;
    WitRuntimeMessageFlags flags;
    uint16_t reserved;
    int64_t to_worker;
    int64_t route_worker; /* Who routed it. */
    int64_t route_timestamp; /* When it was routed, in milliseconds. */
    int64_t from_worker;
    uint32_t message_id_len;
    uint32_t trace_id_len; /* 0xFFFFFFFF: there is no trace id. */
    uint32_t payload_len;
    CodecBytes body;
} WitRuntimeMessage;

enum {
    WIT_RUNTIME_INTENT_KIND_OUTBOX_EMIT = 0,
    WIT_RUNTIME_INTENT_KIND_TIMER_ARM = 1,
};
typedef uint8_t WitRuntimeIntentKind;

#define WIT_RUNTIME_INTENT_FLAGS_HAS_DUE (UINT64_C(1) << 0)
typedef uint8_t WitRuntimeIntentFlags;

/* What a handler wants done when its block commits: a message, now or at a time. */
typedef struct WitRuntimeIntent {
    uint16_t major;
    uint16_t minor;
    uint32_t frame_len; /* Of all bytes of the frame. */
    WitRuntimeIntentKind kind;
    WitRuntimeIntentFlags flags;
    uint16_t reserved;
    int64_t due_ts;
    uint32_t message_len;
    CodecBytes message; /* One LMSG frame. */
} WitRuntimeIntent;

enum {
    WIT_RUNTIME_REPLAY_KIND_INBOX_ATTEMPT = 0,
    WIT_RUNTIME_REPLAY_KIND_INBOX_RESULT = 1,
    WIT_RUNTIME_REPLAY_KIND_TIMER_ATTEMPT = 2,
    WIT_RUNTIME_REPLAY_KIND_TIMER_RESULT = 3,
    WIT_RUNTIME_REPLAY_KIND_REQUEUE = 4,
    WIT_RUNTIME_REPLAY_KIND_DEAD_LETTER = 5,
};
typedef uint8_t WitRuntimeReplayKind;

typedef struct WitRuntimeReplayEvent {
    WitRuntimeReplayKind kind;
    int64_t worker;
    uint64_t seq; /* Of the inbox key; of the timer key for timer events. */
    int32_t rc; /* Of the step; 0 for attempts. */
    int64_t time; /* When it was written down, in milliseconds. */
    CodecBytes frame; /* The message frame, behind its length. */
} WitRuntimeReplayEvent;

/* The value of runner.schema.version in app_state. */
typedef struct WitRuntimeSchemaMarker {
    uint16_t major;
    uint16_t minor;
} WitRuntimeSchemaMarker;

/* The value of runner.seq.<table> in app_state: the last number given out. */
typedef struct WitRuntimeHighWaterMark {
    uint64_t last;
} WitRuntimeHighWaterMark;

/* The value of queue.name.<name> in app_state. */
typedef struct WitRuntimeQueueName {
    uint64_t worker; /* Whose inbox is the queue; never below 2^32, where the workers of programs are. */
} WitRuntimeQueueName;

/* Keys of dedupe that count the failed attempts of one message, by the row that it is. Ids may repeat, rows do not. The count goes with the message from row to row. */
typedef struct WitRuntimeRetryKey {
    uint8_t table; /* 1: the message is in an inbox. 4: it waits for its next attempt, as a timer. */
    CodecBytes row; /* The key of the row in that table. */
} WitRuntimeRetryKey;

/* How many attempts of the message have failed. */
typedef struct WitRuntimeRetryValue {
    uint32_t count;
} WitRuntimeRetryValue;

/* Keys of dedupe that remember accepted messages, in one inbox each. */
typedef struct WitRuntimeSeenKey {
    uint64_t worker; /* Whose inbox: messages of one id in two inboxes have nothing to do with each other. */
    CodecBytes id; /* The message id, or its XXH3-128 if it is above 256 bytes. */
} WitRuntimeSeenKey;

typedef struct WitRuntimeSeenValue {
    bool accepted;
    int64_t last_seen; /* In milliseconds. */
    uint64_t checksum; /* XXH3-64 of the payload. */
} WitRuntimeSeenValue;

/* Keys of the application; runner.schema.version; runner.seq.<table>. */
typedef struct WitRuntimeDbi0AppStateKey {
    CodecBytes key;
} WitRuntimeDbi0AppStateKey;

/* The application's bytes, a schema-marker or a high-water-mark. */
typedef struct WitRuntimeDbi0AppStateValue {
    CodecBytes value;
} WitRuntimeDbi0AppStateValue;

typedef struct WitRuntimeDbi1InboxKey {
    uint64_t worker;
    uint64_t seq;
} WitRuntimeDbi1InboxKey;

typedef struct WitRuntimeDbi1InboxValue {
    CodecBytes frame; /* A message frame. */
} WitRuntimeDbi1InboxValue;

typedef struct WitRuntimeDbi2OutboxKey {
    uint64_t seq;
} WitRuntimeDbi2OutboxKey;

typedef struct WitRuntimeDbi2OutboxValue {
    CodecBytes frame; /* A message frame. */
} WitRuntimeDbi2OutboxValue;

/* The key of the inbox row that is leased. */
typedef struct WitRuntimeDbi3LeasesKey {
    uint64_t worker;
    uint64_t seq;
} WitRuntimeDbi3LeasesKey;

typedef struct WitRuntimeDbi3LeasesValue {
    uint64_t owner;
    int64_t deadline; /* Free from this instant on, in milliseconds. */
    uint32_t attempts; /* This one included. */
    uint64_t token; /* Never given out twice. */
} WitRuntimeDbi3LeasesValue;

typedef struct WitRuntimeDbi4TimersKey {
    int64_t due; /* In milliseconds. */
    uint64_t seq;
} WitRuntimeDbi4TimersKey;

typedef struct WitRuntimeDbi4TimersValue {
    CodecBytes frame; /* A message frame. */
} WitRuntimeDbi4TimersValue;

/* A retry-key or a seen-key. */
typedef struct WitRuntimeDbi5DedupeKey {
    CodecBytes key;
} WitRuntimeDbi5DedupeKey;

/* A retry-value or a seen-value. */
typedef struct WitRuntimeDbi5DedupeValue {
    CodecBytes value;
} WitRuntimeDbi5DedupeValue;

/* The key of the inbox row that the message had; never overwritten. */
typedef struct WitRuntimeDbi6DeadLetterKey {
    uint64_t worker;
    uint64_t seq;
} WitRuntimeDbi6DeadLetterKey;

typedef struct WitRuntimeDbi6DeadLetterValue {
    int32_t rc; /* The result code of the last attempt. */
    uint32_t attempts;
    CodecBytes frame; /* A message frame, behind its length. */
} WitRuntimeDbi6DeadLetterValue;

/* Expiry rows of table 5, as the engine writes them. */
typedef struct WitRuntimeDbi7DedupeTtlKey {
    CodecBytes key;
} WitRuntimeDbi7DedupeTtlKey;

typedef struct WitRuntimeDbi7DedupeTtlValue {
    CodecBytes value;
} WitRuntimeDbi7DedupeTtlValue;


int wit_runtime_message_kind_encode(const WitRuntimeMessageKind *v, Buf *buf, CodecError *error);
int wit_runtime_message_kind_decode(const void *data, size_t len, WitRuntimeMessageKind *v_out, CodecError *error);
int wit_runtime_message_kind_validate(const WitRuntimeMessageKind *v, CodecError *error);
bool wit_runtime_message_kind_equal(const WitRuntimeMessageKind *a, const WitRuntimeMessageKind *b);
void wit_runtime_message_kind_free(WitRuntimeMessageKind *v);

int wit_runtime_message_flags_encode(const WitRuntimeMessageFlags *v, Buf *buf, CodecError *error);
int wit_runtime_message_flags_decode(const void *data, size_t len, WitRuntimeMessageFlags *v_out, CodecError *error);
int wit_runtime_message_flags_validate(const WitRuntimeMessageFlags *v, CodecError *error);
bool wit_runtime_message_flags_equal(const WitRuntimeMessageFlags *a, const WitRuntimeMessageFlags *b);
void wit_runtime_message_flags_free(WitRuntimeMessageFlags *v);

int wit_runtime_message_encode(const WitRuntimeMessage *v, Buf *buf, CodecError *error);
int wit_runtime_message_decode(const void *data, size_t len, WitRuntimeMessage *v_out, CodecError *error);
int wit_runtime_message_validate(const WitRuntimeMessage *v, CodecError *error);
bool wit_runtime_message_equal(const WitRuntimeMessage *a, const WitRuntimeMessage *b);
void wit_runtime_message_free(WitRuntimeMessage *v);

int wit_runtime_intent_kind_encode(const WitRuntimeIntentKind *v, Buf *buf, CodecError *error);
int wit_runtime_intent_kind_decode(const void *data, size_t len, WitRuntimeIntentKind *v_out, CodecError *error);
int wit_runtime_intent_kind_validate(const WitRuntimeIntentKind *v, CodecError *error);
bool wit_runtime_intent_kind_equal(const WitRuntimeIntentKind *a, const WitRuntimeIntentKind *b);
void wit_runtime_intent_kind_free(WitRuntimeIntentKind *v);

int wit_runtime_intent_flags_encode(const WitRuntimeIntentFlags *v, Buf *buf, CodecError *error);
int wit_runtime_intent_flags_decode(const void *data, size_t len, WitRuntimeIntentFlags *v_out, CodecError *error);
int wit_runtime_intent_flags_validate(const WitRuntimeIntentFlags *v, CodecError *error);
bool wit_runtime_intent_flags_equal(const WitRuntimeIntentFlags *a, const WitRuntimeIntentFlags *b);
void wit_runtime_intent_flags_free(WitRuntimeIntentFlags *v);

int wit_runtime_intent_encode(const WitRuntimeIntent *v, Buf *buf, CodecError *error);
int wit_runtime_intent_decode(const void *data, size_t len, WitRuntimeIntent *v_out, CodecError *error);
int wit_runtime_intent_validate(const WitRuntimeIntent *v, CodecError *error);
bool wit_runtime_intent_equal(const WitRuntimeIntent *a, const WitRuntimeIntent *b);
void wit_runtime_intent_free(WitRuntimeIntent *v);

int wit_runtime_replay_kind_encode(const WitRuntimeReplayKind *v, Buf *buf, CodecError *error);
int wit_runtime_replay_kind_decode(const void *data, size_t len, WitRuntimeReplayKind *v_out, CodecError *error);
int wit_runtime_replay_kind_validate(const WitRuntimeReplayKind *v, CodecError *error);
bool wit_runtime_replay_kind_equal(const WitRuntimeReplayKind *a, const WitRuntimeReplayKind *b);
void wit_runtime_replay_kind_free(WitRuntimeReplayKind *v);

int wit_runtime_replay_event_encode(const WitRuntimeReplayEvent *v, Buf *buf, CodecError *error);
int wit_runtime_replay_event_decode(const void *data, size_t len, WitRuntimeReplayEvent *v_out, CodecError *error);
int wit_runtime_replay_event_validate(const WitRuntimeReplayEvent *v, CodecError *error);
bool wit_runtime_replay_event_equal(const WitRuntimeReplayEvent *a, const WitRuntimeReplayEvent *b);
void wit_runtime_replay_event_free(WitRuntimeReplayEvent *v);

int wit_runtime_schema_marker_encode(const WitRuntimeSchemaMarker *v, Buf *buf, CodecError *error);
int wit_runtime_schema_marker_decode(const void *data, size_t len, WitRuntimeSchemaMarker *v_out, CodecError *error);
int wit_runtime_schema_marker_validate(const WitRuntimeSchemaMarker *v, CodecError *error);
bool wit_runtime_schema_marker_equal(const WitRuntimeSchemaMarker *a, const WitRuntimeSchemaMarker *b);
void wit_runtime_schema_marker_free(WitRuntimeSchemaMarker *v);

int wit_runtime_high_water_mark_encode(const WitRuntimeHighWaterMark *v, Buf *buf, CodecError *error);
int wit_runtime_high_water_mark_decode(const void *data, size_t len, WitRuntimeHighWaterMark *v_out, CodecError *error);
int wit_runtime_high_water_mark_validate(const WitRuntimeHighWaterMark *v, CodecError *error);
bool wit_runtime_high_water_mark_equal(const WitRuntimeHighWaterMark *a, const WitRuntimeHighWaterMark *b);
void wit_runtime_high_water_mark_free(WitRuntimeHighWaterMark *v);

int wit_runtime_queue_name_encode(const WitRuntimeQueueName *v, Buf *buf, CodecError *error);
int wit_runtime_queue_name_decode(const void *data, size_t len, WitRuntimeQueueName *v_out, CodecError *error);
int wit_runtime_queue_name_validate(const WitRuntimeQueueName *v, CodecError *error);
bool wit_runtime_queue_name_equal(const WitRuntimeQueueName *a, const WitRuntimeQueueName *b);
void wit_runtime_queue_name_free(WitRuntimeQueueName *v);

int wit_runtime_retry_key_encode(const WitRuntimeRetryKey *v, Buf *buf, CodecError *error);
int wit_runtime_retry_key_decode(const void *data, size_t len, WitRuntimeRetryKey *v_out, CodecError *error);
int wit_runtime_retry_key_validate(const WitRuntimeRetryKey *v, CodecError *error);
bool wit_runtime_retry_key_equal(const WitRuntimeRetryKey *a, const WitRuntimeRetryKey *b);
void wit_runtime_retry_key_free(WitRuntimeRetryKey *v);

int wit_runtime_retry_value_encode(const WitRuntimeRetryValue *v, Buf *buf, CodecError *error);
int wit_runtime_retry_value_decode(const void *data, size_t len, WitRuntimeRetryValue *v_out, CodecError *error);
int wit_runtime_retry_value_validate(const WitRuntimeRetryValue *v, CodecError *error);
bool wit_runtime_retry_value_equal(const WitRuntimeRetryValue *a, const WitRuntimeRetryValue *b);
void wit_runtime_retry_value_free(WitRuntimeRetryValue *v);

int wit_runtime_seen_key_encode(const WitRuntimeSeenKey *v, Buf *buf, CodecError *error);
int wit_runtime_seen_key_decode(const void *data, size_t len, WitRuntimeSeenKey *v_out, CodecError *error);
int wit_runtime_seen_key_validate(const WitRuntimeSeenKey *v, CodecError *error);
bool wit_runtime_seen_key_equal(const WitRuntimeSeenKey *a, const WitRuntimeSeenKey *b);
void wit_runtime_seen_key_free(WitRuntimeSeenKey *v);

int wit_runtime_seen_value_encode(const WitRuntimeSeenValue *v, Buf *buf, CodecError *error);
int wit_runtime_seen_value_decode(const void *data, size_t len, WitRuntimeSeenValue *v_out, CodecError *error);
int wit_runtime_seen_value_validate(const WitRuntimeSeenValue *v, CodecError *error);
bool wit_runtime_seen_value_equal(const WitRuntimeSeenValue *a, const WitRuntimeSeenValue *b);
void wit_runtime_seen_value_free(WitRuntimeSeenValue *v);

int wit_runtime_dbi0_app_state_key_encode(const WitRuntimeDbi0AppStateKey *v, Buf *buf, CodecError *error);
int wit_runtime_dbi0_app_state_key_decode(const void *data, size_t len, WitRuntimeDbi0AppStateKey *v_out, CodecError *error);
int wit_runtime_dbi0_app_state_key_validate(const WitRuntimeDbi0AppStateKey *v, CodecError *error);
bool wit_runtime_dbi0_app_state_key_equal(const WitRuntimeDbi0AppStateKey *a, const WitRuntimeDbi0AppStateKey *b);
void wit_runtime_dbi0_app_state_key_free(WitRuntimeDbi0AppStateKey *v);

int wit_runtime_dbi0_app_state_value_encode(const WitRuntimeDbi0AppStateValue *v, Buf *buf, CodecError *error);
int wit_runtime_dbi0_app_state_value_decode(const void *data, size_t len, WitRuntimeDbi0AppStateValue *v_out, CodecError *error);
int wit_runtime_dbi0_app_state_value_validate(const WitRuntimeDbi0AppStateValue *v, CodecError *error);
bool wit_runtime_dbi0_app_state_value_equal(const WitRuntimeDbi0AppStateValue *a, const WitRuntimeDbi0AppStateValue *b);
void wit_runtime_dbi0_app_state_value_free(WitRuntimeDbi0AppStateValue *v);

int wit_runtime_dbi1_inbox_key_encode(const WitRuntimeDbi1InboxKey *v, Buf *buf, CodecError *error);
int wit_runtime_dbi1_inbox_key_decode(const void *data, size_t len, WitRuntimeDbi1InboxKey *v_out, CodecError *error);
int wit_runtime_dbi1_inbox_key_validate(const WitRuntimeDbi1InboxKey *v, CodecError *error);
bool wit_runtime_dbi1_inbox_key_equal(const WitRuntimeDbi1InboxKey *a, const WitRuntimeDbi1InboxKey *b);
void wit_runtime_dbi1_inbox_key_free(WitRuntimeDbi1InboxKey *v);

int wit_runtime_dbi1_inbox_value_encode(const WitRuntimeDbi1InboxValue *v, Buf *buf, CodecError *error);
int wit_runtime_dbi1_inbox_value_decode(const void *data, size_t len, WitRuntimeDbi1InboxValue *v_out, CodecError *error);
int wit_runtime_dbi1_inbox_value_validate(const WitRuntimeDbi1InboxValue *v, CodecError *error);
bool wit_runtime_dbi1_inbox_value_equal(const WitRuntimeDbi1InboxValue *a, const WitRuntimeDbi1InboxValue *b);
void wit_runtime_dbi1_inbox_value_free(WitRuntimeDbi1InboxValue *v);

int wit_runtime_dbi2_outbox_key_encode(const WitRuntimeDbi2OutboxKey *v, Buf *buf, CodecError *error);
int wit_runtime_dbi2_outbox_key_decode(const void *data, size_t len, WitRuntimeDbi2OutboxKey *v_out, CodecError *error);
int wit_runtime_dbi2_outbox_key_validate(const WitRuntimeDbi2OutboxKey *v, CodecError *error);
bool wit_runtime_dbi2_outbox_key_equal(const WitRuntimeDbi2OutboxKey *a, const WitRuntimeDbi2OutboxKey *b);
void wit_runtime_dbi2_outbox_key_free(WitRuntimeDbi2OutboxKey *v);

int wit_runtime_dbi2_outbox_value_encode(const WitRuntimeDbi2OutboxValue *v, Buf *buf, CodecError *error);
int wit_runtime_dbi2_outbox_value_decode(const void *data, size_t len, WitRuntimeDbi2OutboxValue *v_out, CodecError *error);
int wit_runtime_dbi2_outbox_value_validate(const WitRuntimeDbi2OutboxValue *v, CodecError *error);
bool wit_runtime_dbi2_outbox_value_equal(const WitRuntimeDbi2OutboxValue *a, const WitRuntimeDbi2OutboxValue *b);
void wit_runtime_dbi2_outbox_value_free(WitRuntimeDbi2OutboxValue *v);

int wit_runtime_dbi3_leases_key_encode(const WitRuntimeDbi3LeasesKey *v, Buf *buf, CodecError *error);
int wit_runtime_dbi3_leases_key_decode(const void *data, size_t len, WitRuntimeDbi3LeasesKey *v_out, CodecError *error);
int wit_runtime_dbi3_leases_key_validate(const WitRuntimeDbi3LeasesKey *v, CodecError *error);
bool wit_runtime_dbi3_leases_key_equal(const WitRuntimeDbi3LeasesKey *a, const WitRuntimeDbi3LeasesKey *b);
void wit_runtime_dbi3_leases_key_free(WitRuntimeDbi3LeasesKey *v);

int wit_runtime_dbi3_leases_value_encode(const WitRuntimeDbi3LeasesValue *v, Buf *buf, CodecError *error);
int wit_runtime_dbi3_leases_value_decode(const void *data, size_t len, WitRuntimeDbi3LeasesValue *v_out, CodecError *error);
int wit_runtime_dbi3_leases_value_validate(const WitRuntimeDbi3LeasesValue *v, CodecError *error);
bool wit_runtime_dbi3_leases_value_equal(const WitRuntimeDbi3LeasesValue *a, const WitRuntimeDbi3LeasesValue *b);
void wit_runtime_dbi3_leases_value_free(WitRuntimeDbi3LeasesValue *v);

int wit_runtime_dbi4_timers_key_encode(const WitRuntimeDbi4TimersKey *v, Buf *buf, CodecError *error);
int wit_runtime_dbi4_timers_key_decode(const void *data, size_t len, WitRuntimeDbi4TimersKey *v_out, CodecError *error);
int wit_runtime_dbi4_timers_key_validate(const WitRuntimeDbi4TimersKey *v, CodecError *error);
bool wit_runtime_dbi4_timers_key_equal(const WitRuntimeDbi4TimersKey *a, const WitRuntimeDbi4TimersKey *b);
void wit_runtime_dbi4_timers_key_free(WitRuntimeDbi4TimersKey *v);

int wit_runtime_dbi4_timers_value_encode(const WitRuntimeDbi4TimersValue *v, Buf *buf, CodecError *error);
int wit_runtime_dbi4_timers_value_decode(const void *data, size_t len, WitRuntimeDbi4TimersValue *v_out, CodecError *error);
int wit_runtime_dbi4_timers_value_validate(const WitRuntimeDbi4TimersValue *v, CodecError *error);
bool wit_runtime_dbi4_timers_value_equal(const WitRuntimeDbi4TimersValue *a, const WitRuntimeDbi4TimersValue *b);
void wit_runtime_dbi4_timers_value_free(WitRuntimeDbi4TimersValue *v);

int wit_runtime_dbi5_dedupe_key_encode(const WitRuntimeDbi5DedupeKey *v, Buf *buf, CodecError *error);
int wit_runtime_dbi5_dedupe_key_decode(const void *data, size_t len, WitRuntimeDbi5DedupeKey *v_out, CodecError *error);
int wit_runtime_dbi5_dedupe_key_validate(const WitRuntimeDbi5DedupeKey *v, CodecError *error);
bool wit_runtime_dbi5_dedupe_key_equal(const WitRuntimeDbi5DedupeKey *a, const WitRuntimeDbi5DedupeKey *b);
void wit_runtime_dbi5_dedupe_key_free(WitRuntimeDbi5DedupeKey *v);

int wit_runtime_dbi5_dedupe_value_encode(const WitRuntimeDbi5DedupeValue *v, Buf *buf, CodecError *error);
int wit_runtime_dbi5_dedupe_value_decode(const void *data, size_t len, WitRuntimeDbi5DedupeValue *v_out, CodecError *error);
int wit_runtime_dbi5_dedupe_value_validate(const WitRuntimeDbi5DedupeValue *v, CodecError *error);
bool wit_runtime_dbi5_dedupe_value_equal(const WitRuntimeDbi5DedupeValue *a, const WitRuntimeDbi5DedupeValue *b);
void wit_runtime_dbi5_dedupe_value_free(WitRuntimeDbi5DedupeValue *v);

int wit_runtime_dbi6_dead_letter_key_encode(const WitRuntimeDbi6DeadLetterKey *v, Buf *buf, CodecError *error);
int wit_runtime_dbi6_dead_letter_key_decode(const void *data, size_t len, WitRuntimeDbi6DeadLetterKey *v_out, CodecError *error);
int wit_runtime_dbi6_dead_letter_key_validate(const WitRuntimeDbi6DeadLetterKey *v, CodecError *error);
bool wit_runtime_dbi6_dead_letter_key_equal(const WitRuntimeDbi6DeadLetterKey *a, const WitRuntimeDbi6DeadLetterKey *b);
void wit_runtime_dbi6_dead_letter_key_free(WitRuntimeDbi6DeadLetterKey *v);

int wit_runtime_dbi6_dead_letter_value_encode(const WitRuntimeDbi6DeadLetterValue *v, Buf *buf, CodecError *error);
int wit_runtime_dbi6_dead_letter_value_decode(const void *data, size_t len, WitRuntimeDbi6DeadLetterValue *v_out, CodecError *error);
int wit_runtime_dbi6_dead_letter_value_validate(const WitRuntimeDbi6DeadLetterValue *v, CodecError *error);
bool wit_runtime_dbi6_dead_letter_value_equal(const WitRuntimeDbi6DeadLetterValue *a, const WitRuntimeDbi6DeadLetterValue *b);
void wit_runtime_dbi6_dead_letter_value_free(WitRuntimeDbi6DeadLetterValue *v);

int wit_runtime_dbi7_dedupe_ttl_key_encode(const WitRuntimeDbi7DedupeTtlKey *v, Buf *buf, CodecError *error);
int wit_runtime_dbi7_dedupe_ttl_key_decode(const void *data, size_t len, WitRuntimeDbi7DedupeTtlKey *v_out, CodecError *error);
int wit_runtime_dbi7_dedupe_ttl_key_validate(const WitRuntimeDbi7DedupeTtlKey *v, CodecError *error);
bool wit_runtime_dbi7_dedupe_ttl_key_equal(const WitRuntimeDbi7DedupeTtlKey *a, const WitRuntimeDbi7DedupeTtlKey *b);
void wit_runtime_dbi7_dedupe_ttl_key_free(WitRuntimeDbi7DedupeTtlKey *v);

int wit_runtime_dbi7_dedupe_ttl_value_encode(const WitRuntimeDbi7DedupeTtlValue *v, Buf *buf, CodecError *error);
int wit_runtime_dbi7_dedupe_ttl_value_decode(const void *data, size_t len, WitRuntimeDbi7DedupeTtlValue *v_out, CodecError *error);
int wit_runtime_dbi7_dedupe_ttl_value_validate(const WitRuntimeDbi7DedupeTtlValue *v, CodecError *error);
bool wit_runtime_dbi7_dedupe_ttl_value_equal(const WitRuntimeDbi7DedupeTtlValue *a, const WitRuntimeDbi7DedupeTtlValue *b);
void wit_runtime_dbi7_dedupe_ttl_value_free(WitRuntimeDbi7DedupeTtlValue *v);

#endif
