/* wit_universe_json.h - its types as JSON.
 *
 * Generated from schemas/wit/universe-schema.wit by tools/wit_codegen: change the schema. */
#ifndef SAPLING_GENERATED_WIT_UNIVERSE_JSON_H
#define SAPLING_GENERATED_WIT_UNIVERSE_JSON_H

#include "json/codec_json.h"
#include "wit_universe.h"

/* to_json gives a new reference. SAP_INVALID: value or JSON break the layout or a
 * refinement, as *error says unless it is NULL. Out-parameters change on SAP_OK only. */
int wit_universe_dbi16_lease_key_to_json(const WitUniverseDbi16LeaseKey *v, json_t **json_out, CodecError *error);
int wit_universe_dbi16_lease_key_from_json(const json_t *json, WitUniverseDbi16LeaseKey *v_out, CodecError *error);

int wit_universe_dbi16_lease_value_to_json(const WitUniverseDbi16LeaseValue *v, json_t **json_out, CodecError *error);
int wit_universe_dbi16_lease_value_from_json(const json_t *json, WitUniverseDbi16LeaseValue *v_out, CodecError *error);

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

#endif
