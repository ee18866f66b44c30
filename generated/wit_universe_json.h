/* wit_universe_json.h - its types as JSON.
 *
 * Generated from schemas/wit/universe-schema.wit by tools/wit_codegen: change the schema. */
#ifndef SAPLING_GENERATED_WIT_UNIVERSE_JSON_H
#define SAPLING_GENERATED_WIT_UNIVERSE_JSON_H

#include "json/codec_json.h"
#include "wit_universe.h"

/* to_json gives a new reference. SAP_INVALID: value or JSON break the layout or a
 * refinement, as *error says unless it is NULL. Out-parameters change on SAP_OK only. */
int wit_universe_encoding_to_json(const WitUniverseEncoding *v, json_t **json_out, CodecError *error);
int wit_universe_encoding_from_json(const json_t *json, WitUniverseEncoding *v_out, CodecError *error);

int wit_universe_item_kind_to_json(const WitUniverseItemKind *v, json_t **json_out, CodecError *error);
int wit_universe_item_kind_from_json(const json_t *json, WitUniverseItemKind *v_out, CodecError *error);

int wit_universe_receipt_status_to_json(const WitUniverseReceiptStatus *v, json_t **json_out, CodecError *error);
int wit_universe_receipt_status_from_json(const json_t *json, WitUniverseReceiptStatus *v_out, CodecError *error);

int wit_universe_attempt_outcome_to_json(const WitUniverseAttemptOutcome *v, json_t **json_out, CodecError *error);
int wit_universe_attempt_outcome_from_json(const json_t *json, WitUniverseAttemptOutcome *v_out, CodecError *error);

int wit_universe_effect_attempt_to_json(const WitUniverseEffectAttempt *v, json_t **json_out, CodecError *error);
int wit_universe_effect_attempt_from_json(const json_t *json, WitUniverseEffectAttempt *v_out, CodecError *error);

int wit_universe_header_to_json(const WitUniverseHeader *v, json_t **json_out, CodecError *error);
int wit_universe_header_from_json(const json_t *json, WitUniverseHeader *v_out, CodecError *error);

int wit_universe_inbox_item_to_json(const WitUniverseInboxItem *v, json_t **json_out, CodecError *error);
int wit_universe_inbox_item_from_json(const json_t *json, WitUniverseInboxItem *v_out, CodecError *error);

int wit_universe_fabric_mode_to_json(const WitUniverseFabricMode *v, json_t **json_out, CodecError *error);
int wit_universe_fabric_mode_from_json(const json_t *json, WitUniverseFabricMode *v_out, CodecError *error);

int wit_universe_fabric_send_params_to_json(const WitUniverseFabricSendParams *v, json_t **json_out, CodecError *error);
int wit_universe_fabric_send_params_from_json(const json_t *json, WitUniverseFabricSendParams *v_out, CodecError *error);

int wit_universe_fabric_status_to_json(const WitUniverseFabricStatus *v, json_t **json_out, CodecError *error);
int wit_universe_fabric_status_from_json(const json_t *json, WitUniverseFabricStatus *v_out, CodecError *error);

int wit_universe_fabric_send_receipt_to_json(const WitUniverseFabricSendReceipt *v, json_t **json_out, CodecError *error);
int wit_universe_fabric_send_receipt_from_json(const json_t *json, WitUniverseFabricSendReceipt *v_out, CodecError *error);

int wit_universe_entry_kind_to_json(const WitUniverseEntryKind *v, json_t **json_out, CodecError *error);
int wit_universe_entry_kind_from_json(const json_t *json, WitUniverseEntryKind *v_out, CodecError *error);

int wit_universe_change_to_json(const WitUniverseChange *v, json_t **json_out, CodecError *error);
int wit_universe_change_from_json(const json_t *json, WitUniverseChange *v_out, CodecError *error);

int wit_universe_retry_to_json(const WitUniverseRetry *v, json_t **json_out, CodecError *error);
int wit_universe_retry_from_json(const json_t *json, WitUniverseRetry *v_out, CodecError *error);

int wit_universe_timer_clock_to_json(const WitUniverseTimerClock *v, json_t **json_out, CodecError *error);
int wit_universe_timer_clock_from_json(const json_t *json, WitUniverseTimerClock *v_out, CodecError *error);

int wit_universe_intent_to_json(const WitUniverseIntent *v, json_t **json_out, CodecError *error);
int wit_universe_intent_from_json(const json_t *json, WitUniverseIntent *v_out, CodecError *error);

int wit_universe_entry_to_json(const WitUniverseEntry *v, json_t **json_out, CodecError *error);
int wit_universe_entry_from_json(const json_t *json, WitUniverseEntry *v_out, CodecError *error);

int wit_universe_dbi16_lease_key_to_json(const WitUniverseDbi16LeaseKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi16_lease_key_from_json(const json_t *json, WitUniverseDbi16LeaseKey *v_out, CodecError *error);

int wit_universe_dbi16_lease_value_to_json(const WitUniverseDbi16LeaseValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi16_lease_value_from_json(const json_t *json, WitUniverseDbi16LeaseValue *v_out, CodecError *error);

int wit_universe_module_ref_to_json(const WitUniverseModuleRef *v, json_t **json_out, CodecError *error);
int wit_universe_module_ref_from_json(const json_t *json, WitUniverseModuleRef *v_out, CodecError *error);

int wit_universe_dbi17_sessions_key_to_json(const WitUniverseDbi17SessionsKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi17_sessions_key_from_json(const json_t *json, WitUniverseDbi17SessionsKey *v_out, CodecError *error);

int wit_universe_dbi17_sessions_value_to_json(const WitUniverseDbi17SessionsValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi17_sessions_value_from_json(const json_t *json, WitUniverseDbi17SessionsValue *v_out, CodecError *error);

int wit_universe_dbi18_held_key_to_json(const WitUniverseDbi18HeldKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi18_held_key_from_json(const json_t *json, WitUniverseDbi18HeldKey *v_out, CodecError *error);

int wit_universe_dbi18_held_value_to_json(const WitUniverseDbi18HeldValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi18_held_value_from_json(const json_t *json, WitUniverseDbi18HeldValue *v_out, CodecError *error);

int wit_universe_dbi19_head_key_to_json(const WitUniverseDbi19HeadKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi19_head_key_from_json(const json_t *json, WitUniverseDbi19HeadKey *v_out, CodecError *error);

int wit_universe_dbi19_head_value_to_json(const WitUniverseDbi19HeadValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi19_head_value_from_json(const json_t *json, WitUniverseDbi19HeadValue *v_out, CodecError *error);

int wit_universe_dbi20_journal_key_to_json(const WitUniverseDbi20JournalKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi20_journal_key_from_json(const json_t *json, WitUniverseDbi20JournalKey *v_out, CodecError *error);

int wit_universe_dbi20_journal_value_to_json(const WitUniverseDbi20JournalValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi20_journal_value_from_json(const json_t *json, WitUniverseDbi20JournalValue *v_out, CodecError *error);

int wit_universe_item_class_to_json(const WitUniverseItemClass *v, json_t **json_out, CodecError *error);
int wit_universe_item_class_from_json(const json_t *json, WitUniverseItemClass *v_out, CodecError *error);

int wit_universe_world_status_to_json(const WitUniverseWorldStatus *v, json_t **json_out, CodecError *error);
int wit_universe_world_status_from_json(const json_t *json, WitUniverseWorldStatus *v_out, CodecError *error);

int wit_universe_dbi21_world_meta_key_to_json(const WitUniverseDbi21WorldMetaKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi21_world_meta_key_from_json(const json_t *json, WitUniverseDbi21WorldMetaKey *v_out, CodecError *error);

int wit_universe_dbi21_world_meta_value_to_json(const WitUniverseDbi21WorldMetaValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi21_world_meta_value_from_json(const json_t *json, WitUniverseDbi21WorldMetaValue *v_out, CodecError *error);

int wit_universe_dbi22_assignment_key_to_json(const WitUniverseDbi22AssignmentKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi22_assignment_key_from_json(const json_t *json, WitUniverseDbi22AssignmentKey *v_out, CodecError *error);

int wit_universe_dbi22_assignment_value_to_json(const WitUniverseDbi22AssignmentValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi22_assignment_value_from_json(const json_t *json, WitUniverseDbi22AssignmentValue *v_out, CodecError *error);

int wit_universe_dbi23_assigned_key_to_json(const WitUniverseDbi23AssignedKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi23_assigned_key_from_json(const json_t *json, WitUniverseDbi23AssignedKey *v_out, CodecError *error);

int wit_universe_dbi23_assigned_value_to_json(const WitUniverseDbi23AssignedValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi23_assigned_value_from_json(const json_t *json, WitUniverseDbi23AssignedValue *v_out, CodecError *error);

int wit_universe_dbi24_world_inbox_key_to_json(const WitUniverseDbi24WorldInboxKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi24_world_inbox_key_from_json(const json_t *json, WitUniverseDbi24WorldInboxKey *v_out, CodecError *error);

int wit_universe_dbi24_world_inbox_value_to_json(const WitUniverseDbi24WorldInboxValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi24_world_inbox_value_from_json(const json_t *json, WitUniverseDbi24WorldInboxValue *v_out, CodecError *error);

int wit_universe_dbi25_idem_key_to_json(const WitUniverseDbi25IdemKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi25_idem_key_from_json(const json_t *json, WitUniverseDbi25IdemKey *v_out, CodecError *error);

int wit_universe_dbi25_idem_value_to_json(const WitUniverseDbi25IdemValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi25_idem_value_from_json(const json_t *json, WitUniverseDbi25IdemValue *v_out, CodecError *error);

int wit_universe_dbi26_reply_key_to_json(const WitUniverseDbi26ReplyKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi26_reply_key_from_json(const json_t *json, WitUniverseDbi26ReplyKey *v_out, CodecError *error);

int wit_universe_dbi26_reply_value_to_json(const WitUniverseDbi26ReplyValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi26_reply_value_from_json(const json_t *json, WitUniverseDbi26ReplyValue *v_out, CodecError *error);

int wit_universe_dbi27_attempt_key_to_json(const WitUniverseDbi27AttemptKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi27_attempt_key_from_json(const json_t *json, WitUniverseDbi27AttemptKey *v_out, CodecError *error);

int wit_universe_dbi27_attempt_value_to_json(const WitUniverseDbi27AttemptValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi27_attempt_value_from_json(const json_t *json, WitUniverseDbi27AttemptValue *v_out, CodecError *error);

int wit_universe_dbi28_world_dlq_key_to_json(const WitUniverseDbi28WorldDlqKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi28_world_dlq_key_from_json(const json_t *json, WitUniverseDbi28WorldDlqKey *v_out, CodecError *error);

int wit_universe_dbi28_world_dlq_value_to_json(const WitUniverseDbi28WorldDlqValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi28_world_dlq_value_from_json(const json_t *json, WitUniverseDbi28WorldDlqValue *v_out, CodecError *error);

int wit_universe_dbi29_fabric_dedupe_key_to_json(const WitUniverseDbi29FabricDedupeKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi29_fabric_dedupe_key_from_json(const json_t *json, WitUniverseDbi29FabricDedupeKey *v_out, CodecError *error);

int wit_universe_dbi29_fabric_dedupe_value_to_json(const WitUniverseDbi29FabricDedupeValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi29_fabric_dedupe_value_from_json(const json_t *json, WitUniverseDbi29FabricDedupeValue *v_out, CodecError *error);

int wit_universe_dbi30_snapshot_key_to_json(const WitUniverseDbi30SnapshotKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi30_snapshot_key_from_json(const json_t *json, WitUniverseDbi30SnapshotKey *v_out, CodecError *error);

int wit_universe_dbi30_snapshot_value_to_json(const WitUniverseDbi30SnapshotValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi30_snapshot_value_from_json(const json_t *json, WitUniverseDbi30SnapshotValue *v_out, CodecError *error);

int wit_universe_dbi31_baseline_key_to_json(const WitUniverseDbi31BaselineKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi31_baseline_key_from_json(const json_t *json, WitUniverseDbi31BaselineKey *v_out, CodecError *error);

int wit_universe_dbi31_baseline_value_to_json(const WitUniverseDbi31BaselineValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi31_baseline_value_from_json(const json_t *json, WitUniverseDbi31BaselineValue *v_out, CodecError *error);

int wit_universe_dbi32_pins_key_to_json(const WitUniverseDbi32PinsKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi32_pins_key_from_json(const json_t *json, WitUniverseDbi32PinsKey *v_out, CodecError *error);

int wit_universe_dbi32_pins_value_to_json(const WitUniverseDbi32PinsValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi32_pins_value_from_json(const json_t *json, WitUniverseDbi32PinsValue *v_out, CodecError *error);

int wit_universe_dbi33_segments_key_to_json(const WitUniverseDbi33SegmentsKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi33_segments_key_from_json(const json_t *json, WitUniverseDbi33SegmentsKey *v_out, CodecError *error);

int wit_universe_dbi33_segments_value_to_json(const WitUniverseDbi33SegmentsValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi33_segments_value_from_json(const json_t *json, WitUniverseDbi33SegmentsValue *v_out, CodecError *error);

int wit_universe_effect_to_json(const WitUniverseEffect *v, json_t **json_out, CodecError *error);
int wit_universe_effect_from_json(const json_t *json, WitUniverseEffect *v_out, CodecError *error);

int wit_universe_dbi34_effects_pending_key_to_json(const WitUniverseDbi34EffectsPendingKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi34_effects_pending_key_from_json(const json_t *json, WitUniverseDbi34EffectsPendingKey *v_out, CodecError *error);

int wit_universe_dbi34_effects_pending_value_to_json(const WitUniverseDbi34EffectsPendingValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi34_effects_pending_value_from_json(const json_t *json, WitUniverseDbi34EffectsPendingValue *v_out, CodecError *error);

int wit_universe_dbi35_effects_inflight_key_to_json(const WitUniverseDbi35EffectsInflightKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi35_effects_inflight_key_from_json(const json_t *json, WitUniverseDbi35EffectsInflightKey *v_out, CodecError *error);

int wit_universe_dbi35_effects_inflight_value_to_json(const WitUniverseDbi35EffectsInflightValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi35_effects_inflight_value_from_json(const json_t *json, WitUniverseDbi35EffectsInflightValue *v_out, CodecError *error);

int wit_universe_dispatch_status_to_json(const WitUniverseDispatchStatus *v, json_t **json_out, CodecError *error);
int wit_universe_dispatch_status_from_json(const json_t *json, WitUniverseDispatchStatus *v_out, CodecError *error);

int wit_universe_dbi36_effects_dedupe_key_to_json(const WitUniverseDbi36EffectsDedupeKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi36_effects_dedupe_key_from_json(const json_t *json, WitUniverseDbi36EffectsDedupeKey *v_out, CodecError *error);

int wit_universe_dbi36_effects_dedupe_value_to_json(const WitUniverseDbi36EffectsDedupeValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi36_effects_dedupe_value_from_json(const json_t *json, WitUniverseDbi36EffectsDedupeValue *v_out, CodecError *error);

int wit_universe_timer_use_to_json(const WitUniverseTimerUse *v, json_t **json_out, CodecError *error);
int wit_universe_timer_use_from_json(const json_t *json, WitUniverseTimerUse *v_out, CodecError *error);

int wit_universe_dbi37_timers_due_key_to_json(const WitUniverseDbi37TimersDueKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi37_timers_due_key_from_json(const json_t *json, WitUniverseDbi37TimersDueKey *v_out, CodecError *error);

int wit_universe_dbi37_timers_due_value_to_json(const WitUniverseDbi37TimersDueValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi37_timers_due_value_from_json(const json_t *json, WitUniverseDbi37TimersDueValue *v_out, CodecError *error);

int wit_universe_dbi38_timers_dedupe_key_to_json(const WitUniverseDbi38TimersDedupeKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi38_timers_dedupe_key_from_json(const json_t *json, WitUniverseDbi38TimersDedupeKey *v_out, CodecError *error);

int wit_universe_dbi38_timers_dedupe_value_to_json(const WitUniverseDbi38TimersDedupeValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi38_timers_dedupe_value_from_json(const json_t *json, WitUniverseDbi38TimersDedupeValue *v_out, CodecError *error);

int wit_universe_dbi39_ready_key_to_json(const WitUniverseDbi39ReadyKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi39_ready_key_from_json(const json_t *json, WitUniverseDbi39ReadyKey *v_out, CodecError *error);

int wit_universe_dbi39_ready_value_to_json(const WitUniverseDbi39ReadyValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi39_ready_value_from_json(const json_t *json, WitUniverseDbi39ReadyValue *v_out, CodecError *error);

int wit_universe_dbi40_rolelease_key_to_json(const WitUniverseDbi40RoleleaseKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi40_rolelease_key_from_json(const json_t *json, WitUniverseDbi40RoleleaseKey *v_out, CodecError *error);

int wit_universe_dbi40_rolelease_value_to_json(const WitUniverseDbi40RoleleaseValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi40_rolelease_value_from_json(const json_t *json, WitUniverseDbi40RoleleaseValue *v_out, CodecError *error);

int wit_universe_dbi41_expiry_key_to_json(const WitUniverseDbi41ExpiryKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi41_expiry_key_from_json(const json_t *json, WitUniverseDbi41ExpiryKey *v_out, CodecError *error);

int wit_universe_dbi41_expiry_value_to_json(const WitUniverseDbi41ExpiryValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi41_expiry_value_from_json(const json_t *json, WitUniverseDbi41ExpiryValue *v_out, CodecError *error);

int wit_universe_dbi42_promises_key_to_json(const WitUniverseDbi42PromisesKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi42_promises_key_from_json(const json_t *json, WitUniverseDbi42PromisesKey *v_out, CodecError *error);

int wit_universe_dbi42_promises_value_to_json(const WitUniverseDbi42PromisesValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi42_promises_value_from_json(const json_t *json, WitUniverseDbi42PromisesValue *v_out, CodecError *error);

int wit_universe_module_state_to_json(const WitUniverseModuleState *v, json_t **json_out, CodecError *error);
int wit_universe_module_state_from_json(const json_t *json, WitUniverseModuleState *v_out, CodecError *error);

int wit_universe_dbi43_modules_key_to_json(const WitUniverseDbi43ModulesKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi43_modules_key_from_json(const json_t *json, WitUniverseDbi43ModulesKey *v_out, CodecError *error);

int wit_universe_dbi43_modules_value_to_json(const WitUniverseDbi43ModulesValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi43_modules_value_from_json(const json_t *json, WitUniverseDbi43ModulesValue *v_out, CodecError *error);

int wit_universe_dbi44_cron_key_to_json(const WitUniverseDbi44CronKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi44_cron_key_from_json(const json_t *json, WitUniverseDbi44CronKey *v_out, CodecError *error);

int wit_universe_dbi44_cron_value_to_json(const WitUniverseDbi44CronValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi44_cron_value_from_json(const json_t *json, WitUniverseDbi44CronValue *v_out, CodecError *error);

int wit_universe_dbi45_kinds_key_to_json(const WitUniverseDbi45KindsKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi45_kinds_key_from_json(const json_t *json, WitUniverseDbi45KindsKey *v_out, CodecError *error);

int wit_universe_dbi45_kinds_value_to_json(const WitUniverseDbi45KindsValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi45_kinds_value_from_json(const json_t *json, WitUniverseDbi45KindsValue *v_out, CodecError *error);

int wit_universe_dbi46_tags_key_to_json(const WitUniverseDbi46TagsKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi46_tags_key_from_json(const json_t *json, WitUniverseDbi46TagsKey *v_out, CodecError *error);

int wit_universe_dbi46_tags_value_to_json(const WitUniverseDbi46TagsValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi46_tags_value_from_json(const json_t *json, WitUniverseDbi46TagsValue *v_out, CodecError *error);

int wit_universe_dbi48_world_tags_key_to_json(const WitUniverseDbi48WorldTagsKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi48_world_tags_key_from_json(const json_t *json, WitUniverseDbi48WorldTagsKey *v_out, CodecError *error);

int wit_universe_dbi48_world_tags_value_to_json(const WitUniverseDbi48WorldTagsValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi48_world_tags_value_from_json(const json_t *json, WitUniverseDbi48WorldTagsValue *v_out, CodecError *error);

int wit_universe_dbi49_results_key_to_json(const WitUniverseDbi49ResultsKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi49_results_key_from_json(const json_t *json, WitUniverseDbi49ResultsKey *v_out, CodecError *error);

int wit_universe_dbi49_results_value_to_json(const WitUniverseDbi49ResultsValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi49_results_value_from_json(const json_t *json, WitUniverseDbi49ResultsValue *v_out, CodecError *error);

int wit_universe_dbi47_idempotency_key_to_json(const WitUniverseDbi47IdempotencyKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi47_idempotency_key_from_json(const json_t *json, WitUniverseDbi47IdempotencyKey *v_out, CodecError *error);

int wit_universe_dbi47_idempotency_value_to_json(const WitUniverseDbi47IdempotencyValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi47_idempotency_value_from_json(const json_t *json, WitUniverseDbi47IdempotencyValue *v_out, CodecError *error);

#endif
