/* wit_runtime_json.h - its types as JSON.
 *
 * Generated from schemas/wit/runtime-schema.wit by tools/wit_codegen: change the schema. */
#ifndef SAPLING_GENERATED_WIT_RUNTIME_JSON_H
#define SAPLING_GENERATED_WIT_RUNTIME_JSON_H

#include "json/codec_json.h"
#include "wit_runtime.h"

/* to_json gives a new reference. SAP_INVALID: value or JSON break the layout or a
 * refinement, as *error says unless it is NULL. Out-parameters change on SAP_OK only. */
int wit_runtime_message_kind_to_json(const WitRuntimeMessageKind *v, json_t **json_out, CodecError *error);
int wit_runtime_message_kind_from_json(const json_t *json, WitRuntimeMessageKind *v_out, CodecError *error);

int wit_runtime_message_flags_to_json(const WitRuntimeMessageFlags *v, json_t **json_out, CodecError *error);
int wit_runtime_message_flags_from_json(const json_t *json, WitRuntimeMessageFlags *v_out, CodecError *error);

int wit_runtime_message_to_json(const WitRuntimeMessage *v, json_t **json_out, CodecError *error);
int wit_runtime_message_from_json(const json_t *json, WitRuntimeMessage *v_out, CodecError *error);

int wit_runtime_intent_kind_to_json(const WitRuntimeIntentKind *v, json_t **json_out, CodecError *error);
int wit_runtime_intent_kind_from_json(const json_t *json, WitRuntimeIntentKind *v_out, CodecError *error);

int wit_runtime_intent_flags_to_json(const WitRuntimeIntentFlags *v, json_t **json_out, CodecError *error);
int wit_runtime_intent_flags_from_json(const json_t *json, WitRuntimeIntentFlags *v_out, CodecError *error);

int wit_runtime_intent_to_json(const WitRuntimeIntent *v, json_t **json_out, CodecError *error);
int wit_runtime_intent_from_json(const json_t *json, WitRuntimeIntent *v_out, CodecError *error);

int wit_runtime_replay_kind_to_json(const WitRuntimeReplayKind *v, json_t **json_out, CodecError *error);
int wit_runtime_replay_kind_from_json(const json_t *json, WitRuntimeReplayKind *v_out, CodecError *error);

int wit_runtime_replay_event_to_json(const WitRuntimeReplayEvent *v, json_t **json_out, CodecError *error);
int wit_runtime_replay_event_from_json(const json_t *json, WitRuntimeReplayEvent *v_out, CodecError *error);

int wit_runtime_schema_marker_to_json(const WitRuntimeSchemaMarker *v, json_t **json_out, CodecError *error);
int wit_runtime_schema_marker_from_json(const json_t *json, WitRuntimeSchemaMarker *v_out, CodecError *error);

int wit_runtime_high_water_mark_to_json(const WitRuntimeHighWaterMark *v, json_t **json_out, CodecError *error);
int wit_runtime_high_water_mark_from_json(const json_t *json, WitRuntimeHighWaterMark *v_out, CodecError *error);

int wit_runtime_queue_name_to_json(const WitRuntimeQueueName *v, json_t **json_out, CodecError *error);
int wit_runtime_queue_name_from_json(const json_t *json, WitRuntimeQueueName *v_out, CodecError *error);

int wit_runtime_retry_key_to_json(const WitRuntimeRetryKey *v, json_t **json_out, CodecError *error);
int wit_runtime_retry_key_from_json(const json_t *json, WitRuntimeRetryKey *v_out, CodecError *error);

int wit_runtime_retry_value_to_json(const WitRuntimeRetryValue *v, json_t **json_out, CodecError *error);
int wit_runtime_retry_value_from_json(const json_t *json, WitRuntimeRetryValue *v_out, CodecError *error);

int wit_runtime_seen_key_to_json(const WitRuntimeSeenKey *v, json_t **json_out, CodecError *error);
int wit_runtime_seen_key_from_json(const json_t *json, WitRuntimeSeenKey *v_out, CodecError *error);

int wit_runtime_seen_value_to_json(const WitRuntimeSeenValue *v, json_t **json_out, CodecError *error);
int wit_runtime_seen_value_from_json(const json_t *json, WitRuntimeSeenValue *v_out, CodecError *error);

int wit_runtime_dbi0_app_state_key_to_json(const WitRuntimeDbi0AppStateKey *v, json_t **json_out, CodecError *error);
int wit_runtime_dbi0_app_state_key_from_json(const json_t *json, WitRuntimeDbi0AppStateKey *v_out, CodecError *error);

int wit_runtime_dbi0_app_state_value_to_json(const WitRuntimeDbi0AppStateValue *v, json_t **json_out, CodecError *error);
int wit_runtime_dbi0_app_state_value_from_json(const json_t *json, WitRuntimeDbi0AppStateValue *v_out, CodecError *error);

int wit_runtime_dbi1_inbox_key_to_json(const WitRuntimeDbi1InboxKey *v, json_t **json_out, CodecError *error);
int wit_runtime_dbi1_inbox_key_from_json(const json_t *json, WitRuntimeDbi1InboxKey *v_out, CodecError *error);

int wit_runtime_dbi1_inbox_value_to_json(const WitRuntimeDbi1InboxValue *v, json_t **json_out, CodecError *error);
int wit_runtime_dbi1_inbox_value_from_json(const json_t *json, WitRuntimeDbi1InboxValue *v_out, CodecError *error);

int wit_runtime_dbi2_outbox_key_to_json(const WitRuntimeDbi2OutboxKey *v, json_t **json_out, CodecError *error);
int wit_runtime_dbi2_outbox_key_from_json(const json_t *json, WitRuntimeDbi2OutboxKey *v_out, CodecError *error);

int wit_runtime_dbi2_outbox_value_to_json(const WitRuntimeDbi2OutboxValue *v, json_t **json_out, CodecError *error);
int wit_runtime_dbi2_outbox_value_from_json(const json_t *json, WitRuntimeDbi2OutboxValue *v_out, CodecError *error);

int wit_runtime_dbi3_leases_key_to_json(const WitRuntimeDbi3LeasesKey *v, json_t **json_out, CodecError *error);
int wit_runtime_dbi3_leases_key_from_json(const json_t *json, WitRuntimeDbi3LeasesKey *v_out, CodecError *error);

int wit_runtime_dbi3_leases_value_to_json(const WitRuntimeDbi3LeasesValue *v, json_t **json_out, CodecError *error);
int wit_runtime_dbi3_leases_value_from_json(const json_t *json, WitRuntimeDbi3LeasesValue *v_out, CodecError *error);

int wit_runtime_dbi4_timers_key_to_json(const WitRuntimeDbi4TimersKey *v, json_t **json_out, CodecError *error);
int wit_runtime_dbi4_timers_key_from_json(const json_t *json, WitRuntimeDbi4TimersKey *v_out, CodecError *error);

int wit_runtime_dbi4_timers_value_to_json(const WitRuntimeDbi4TimersValue *v, json_t **json_out, CodecError *error);
int wit_runtime_dbi4_timers_value_from_json(const json_t *json, WitRuntimeDbi4TimersValue *v_out, CodecError *error);

int wit_runtime_dbi5_dedupe_key_to_json(const WitRuntimeDbi5DedupeKey *v, json_t **json_out, CodecError *error);
int wit_runtime_dbi5_dedupe_key_from_json(const json_t *json, WitRuntimeDbi5DedupeKey *v_out, CodecError *error);

int wit_runtime_dbi5_dedupe_value_to_json(const WitRuntimeDbi5DedupeValue *v, json_t **json_out, CodecError *error);
int wit_runtime_dbi5_dedupe_value_from_json(const json_t *json, WitRuntimeDbi5DedupeValue *v_out, CodecError *error);

int wit_runtime_dbi6_dead_letter_key_to_json(const WitRuntimeDbi6DeadLetterKey *v, json_t **json_out, CodecError *error);
int wit_runtime_dbi6_dead_letter_key_from_json(const json_t *json, WitRuntimeDbi6DeadLetterKey *v_out, CodecError *error);

int wit_runtime_dbi6_dead_letter_value_to_json(const WitRuntimeDbi6DeadLetterValue *v, json_t **json_out, CodecError *error);
int wit_runtime_dbi6_dead_letter_value_from_json(const json_t *json, WitRuntimeDbi6DeadLetterValue *v_out, CodecError *error);

int wit_runtime_dbi7_dedupe_ttl_key_to_json(const WitRuntimeDbi7DedupeTtlKey *v, json_t **json_out, CodecError *error);
int wit_runtime_dbi7_dedupe_ttl_key_from_json(const json_t *json, WitRuntimeDbi7DedupeTtlKey *v_out, CodecError *error);

int wit_runtime_dbi7_dedupe_ttl_value_to_json(const WitRuntimeDbi7DedupeTtlValue *v, json_t **json_out, CodecError *error);
int wit_runtime_dbi7_dedupe_ttl_value_from_json(const json_t *json, WitRuntimeDbi7DedupeTtlValue *v_out, CodecError *error);

#endif
