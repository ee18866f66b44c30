/* wit_runtime_samples.c - its types, for tests.
 *
 * Generated from schemas/wit/runtime-schema.wit by tools/wit_codegen: change the schema. */
#include "wit_runtime_samples.h"

#include "wit_runtime_json.h"

static void wit_runtime_message_kind_random(Choice *choice, WitRuntimeMessageKind *v)
{
    *v = (WitRuntimeMessageKind)choice_below(choice, 3);
}

SAMPLE_TYPE(wit_runtime_message_kind, WitRuntimeMessageKind)

static void wit_runtime_message_flags_random(Choice *choice, WitRuntimeMessageFlags *v)
{
    *v = (WitRuntimeMessageFlags)(sample_number(choice) & (UINT64_MAX >> 58));
}

SAMPLE_TYPE(wit_runtime_message_flags, WitRuntimeMessageFlags)

static void wit_runtime_message_random(Choice *choice, WitRuntimeMessage *v)
{
    v->major = (uint16_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->major = (uint16_t)UINT64_C(0);
        break;
    default:
        v->major = (uint16_t)UINT64_C(0);
        break;
    case 15:
        break;
    }
    v->minor = (uint16_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->minor = (uint16_t)UINT64_C(0);
        break;
    default:
        v->minor = (uint16_t)UINT64_C(0);
        break;
    case 15:
        break;
    }
    v->frame_len = (uint32_t)sample_number(choice);
    wit_runtime_message_kind_random(choice, &v->kind);
    wit_runtime_message_flags_random(choice, &v->flags);
    v->reserved = (uint16_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->reserved = (uint16_t)UINT64_C(0);
        break;
    default:
        v->reserved = (uint16_t)UINT64_C(0);
        break;
    case 15:
        break;
    }
    v->to_worker = (int64_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->to_worker = (int64_t)UINT64_C(0);
        break;
    case 1:
        v->to_worker = (int64_t)UINT64_C(1);
        break;
    default:
        v->to_worker = (int64_t)UINT64_C(0);
        break;
    case 15:
        break;
    }
    v->route_worker = (int64_t)sample_number(choice);
    v->route_timestamp = (int64_t)sample_number(choice);
    v->from_worker = (int64_t)sample_number(choice);
    v->message_id_len = (uint32_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->message_id_len = (uint32_t)UINT64_C(1);
        break;
    default:
        v->message_id_len = (uint32_t)UINT64_C(1);
        break;
    case 15:
        break;
    }
    v->trace_id_len = (uint32_t)sample_number(choice);
    v->payload_len = (uint32_t)sample_number(choice);
    sample_bytes(choice, &v->body);
    {
        bool bad = false;
        if (!((codec_number_compare(codec_number_u(v->frame_len), codec_number_add(codec_number_u(UINT64_C(60)), codec_number_u(v->body.len), &bad)) == 0)) && !bad) {
            CodecNumber at = codec_number_add(codec_number_add(codec_number_u(UINT64_C(60)), codec_number_u(v->body.len), &bad), codec_number_u(0), &bad);
            if (!bad && sample_fits(at, 32, false)) {
                v->frame_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            }
        }
    }
    {
        bool bad = false;
        if (!(((((uint64_t)v->flags >> 5 & 1) != 0) || (codec_number_compare(codec_number_u(v->trace_id_len), codec_number_u(UINT64_C(4294967295))) == 0))) && !bad) {
            CodecNumber at = codec_number_add(codec_number_u(UINT64_C(4294967295)), codec_number_u(0), &bad);
            if (!bad && sample_fits(at, 32, false)) {
                v->trace_id_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            }
        }
    }
    {
        bool bad = false;
        if (!((!((((uint64_t)v->flags >> 5 & 1) != 0)) || (codec_number_compare(codec_number_add(codec_number_add(codec_number_u(v->message_id_len), codec_number_u(v->trace_id_len), &bad), codec_number_u(v->payload_len), &bad), codec_number_u(v->body.len)) == 0))) && !bad) {
            CodecNumber at = codec_number_add(codec_number_sub(codec_number_u(v->body.len), codec_number_add(codec_number_u(v->message_id_len), codec_number_u(v->trace_id_len), &bad), &bad), codec_number_u(0), &bad);
            if (!bad && sample_fits(at, 32, false)) {
                v->payload_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            }
        }
    }
    {
        bool bad = false;
        if (!(((((uint64_t)v->flags >> 5 & 1) != 0) || (codec_number_compare(codec_number_add(codec_number_u(v->message_id_len), codec_number_u(v->payload_len), &bad), codec_number_u(v->body.len)) == 0))) && !bad) {
            CodecNumber at = codec_number_add(codec_number_sub(codec_number_u(v->body.len), codec_number_u(v->message_id_len), &bad), codec_number_u(0), &bad);
            if (!bad && sample_fits(at, 32, false)) {
                v->payload_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            }
        }
    }
}

static bool wit_runtime_message_edge(void *any, size_t i, const char **refinement)
{
    WitRuntimeMessage *v = any;

    switch (i) {
    case 0: {
        *refinement = "frame-len == 60 + len(body)";
        bool bad = false;
        CodecNumber at = codec_number_sub(codec_number_add(codec_number_u(UINT64_C(60)), codec_number_u(v->body.len), &bad), codec_number_u(1), &bad);
        if (!bad && sample_fits(at, 32, false)) {
            v->frame_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            return false;
        }
        return true;
    }
    case 1: {
        *refinement = "frame-len == 60 + len(body)";
        bool bad = false;
        CodecNumber at = codec_number_add(codec_number_add(codec_number_u(UINT64_C(60)), codec_number_u(v->body.len), &bad), codec_number_u(0), &bad);
        if (!bad && sample_fits(at, 32, false)) {
            v->frame_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            return true;
        }
        return true;
    }
    case 2: {
        *refinement = "frame-len == 60 + len(body)";
        bool bad = false;
        CodecNumber at = codec_number_add(codec_number_add(codec_number_u(UINT64_C(60)), codec_number_u(v->body.len), &bad), codec_number_u(1), &bad);
        if (!bad && sample_fits(at, 32, false)) {
            v->frame_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            return false;
        }
        return true;
    }
    case 3: {
        *refinement = "flags.has-trace || trace-id-len == 0xFFFFFFFF";
        bool bad = false;
        if (((((uint64_t)v->flags >> 5 & 1) != 0)) || bad) {
            return true;
        }
        CodecNumber at = codec_number_sub(codec_number_u(UINT64_C(4294967295)), codec_number_u(1), &bad);
        if (!bad && sample_fits(at, 32, false)) {
            v->trace_id_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            return false;
        }
        return true;
    }
    case 4: {
        *refinement = "flags.has-trace || trace-id-len == 0xFFFFFFFF";
        bool bad = false;
        if (((((uint64_t)v->flags >> 5 & 1) != 0)) || bad) {
            return true;
        }
        CodecNumber at = codec_number_add(codec_number_u(UINT64_C(4294967295)), codec_number_u(0), &bad);
        if (!bad && sample_fits(at, 32, false)) {
            v->trace_id_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            return true;
        }
        return true;
    }
    case 5: {
        *refinement = "flags.has-trace || trace-id-len == 0xFFFFFFFF";
        bool bad = false;
        if (((((uint64_t)v->flags >> 5 & 1) != 0)) || bad) {
            return true;
        }
        CodecNumber at = codec_number_add(codec_number_u(UINT64_C(4294967295)), codec_number_u(1), &bad);
        if (!bad && sample_fits(at, 32, false)) {
            v->trace_id_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            return false;
        }
        return true;
    }
    case 6: {
        *refinement = "!flags.has-trace || message-id-len + trace-id-len + payload-len == len(body)";
        bool bad = false;
        if ((!((((uint64_t)v->flags >> 5 & 1) != 0))) || bad) {
            return true;
        }
        CodecNumber at = codec_number_sub(codec_number_sub(codec_number_u(v->body.len), codec_number_add(codec_number_u(v->message_id_len), codec_number_u(v->trace_id_len), &bad), &bad), codec_number_u(1), &bad);
        if (!bad && sample_fits(at, 32, false)) {
            v->payload_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            return false;
        }
        return true;
    }
    case 7: {
        *refinement = "!flags.has-trace || message-id-len + trace-id-len + payload-len == len(body)";
        bool bad = false;
        if ((!((((uint64_t)v->flags >> 5 & 1) != 0))) || bad) {
            return true;
        }
        CodecNumber at = codec_number_add(codec_number_sub(codec_number_u(v->body.len), codec_number_add(codec_number_u(v->message_id_len), codec_number_u(v->trace_id_len), &bad), &bad), codec_number_u(0), &bad);
        if (!bad && sample_fits(at, 32, false)) {
            v->payload_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            return true;
        }
        return true;
    }
    case 8: {
        *refinement = "!flags.has-trace || message-id-len + trace-id-len + payload-len == len(body)";
        bool bad = false;
        if ((!((((uint64_t)v->flags >> 5 & 1) != 0))) || bad) {
            return true;
        }
        CodecNumber at = codec_number_add(codec_number_sub(codec_number_u(v->body.len), codec_number_add(codec_number_u(v->message_id_len), codec_number_u(v->trace_id_len), &bad), &bad), codec_number_u(1), &bad);
        if (!bad && sample_fits(at, 32, false)) {
            v->payload_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            return false;
        }
        return true;
    }
    case 9: {
        *refinement = "flags.has-trace || message-id-len + payload-len == len(body)";
        bool bad = false;
        if (((((uint64_t)v->flags >> 5 & 1) != 0)) || bad) {
            return true;
        }
        CodecNumber at = codec_number_sub(codec_number_sub(codec_number_u(v->body.len), codec_number_u(v->message_id_len), &bad), codec_number_u(1), &bad);
        if (!bad && sample_fits(at, 32, false)) {
            v->payload_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            return false;
        }
        return true;
    }
    case 10: {
        *refinement = "flags.has-trace || message-id-len + payload-len == len(body)";
        bool bad = false;
        if (((((uint64_t)v->flags >> 5 & 1) != 0)) || bad) {
            return true;
        }
        CodecNumber at = codec_number_add(codec_number_sub(codec_number_u(v->body.len), codec_number_u(v->message_id_len), &bad), codec_number_u(0), &bad);
        if (!bad && sample_fits(at, 32, false)) {
            v->payload_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            return true;
        }
        return true;
    }
    case 11: {
        *refinement = "flags.has-trace || message-id-len + payload-len == len(body)";
        bool bad = false;
        if (((((uint64_t)v->flags >> 5 & 1) != 0)) || bad) {
            return true;
        }
        CodecNumber at = codec_number_add(codec_number_sub(codec_number_u(v->body.len), codec_number_u(v->message_id_len), &bad), codec_number_u(1), &bad);
        if (!bad && sample_fits(at, 32, false)) {
            v->payload_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            return false;
        }
        return true;
    }
    case 12:
        *refinement = "value == 0";
        v->major = (uint16_t)UINT64_C(0);
        return true;
    case 13:
        *refinement = "value == 0";
        v->major = (uint16_t)UINT64_C(1);
        return false;
    case 14:
        *refinement = "value == 0";
        v->minor = (uint16_t)UINT64_C(0);
        return true;
    case 15:
        *refinement = "value == 0";
        v->minor = (uint16_t)UINT64_C(1);
        return false;
    case 16:
        *refinement = "value == 0";
        v->reserved = (uint16_t)UINT64_C(0);
        return true;
    case 17:
        *refinement = "value == 0";
        v->reserved = (uint16_t)UINT64_C(1);
        return false;
    case 18:
        *refinement = "value >= 0";
        v->to_worker = (int64_t)UINT64_C(0);
        return true;
    case 19:
        *refinement = "value >= 0";
        v->to_worker = (int64_t)-INT64_C(1);
        return false;
    case 20:
        *refinement = "value >= 0";
        v->to_worker = (int64_t)UINT64_C(1);
        return true;
    case 21:
        *refinement = "value > 0";
        v->message_id_len = (uint32_t)UINT64_C(0);
        return false;
    case 22:
        *refinement = "value > 0";
        v->message_id_len = (uint32_t)UINT64_C(1);
        return true;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_runtime_message, WitRuntimeMessage)

static void wit_runtime_intent_kind_random(Choice *choice, WitRuntimeIntentKind *v)
{
    *v = (WitRuntimeIntentKind)choice_below(choice, 2);
}

SAMPLE_TYPE(wit_runtime_intent_kind, WitRuntimeIntentKind)

static void wit_runtime_intent_flags_random(Choice *choice, WitRuntimeIntentFlags *v)
{
    *v = (WitRuntimeIntentFlags)(sample_number(choice) & (UINT64_MAX >> 63));
}

SAMPLE_TYPE(wit_runtime_intent_flags, WitRuntimeIntentFlags)

static void wit_runtime_intent_random(Choice *choice, WitRuntimeIntent *v)
{
    v->major = (uint16_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->major = (uint16_t)UINT64_C(0);
        break;
    default:
        v->major = (uint16_t)UINT64_C(0);
        break;
    case 15:
        break;
    }
    v->minor = (uint16_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->minor = (uint16_t)UINT64_C(0);
        break;
    default:
        v->minor = (uint16_t)UINT64_C(0);
        break;
    case 15:
        break;
    }
    v->frame_len = (uint32_t)sample_number(choice);
    wit_runtime_intent_kind_random(choice, &v->kind);
    wit_runtime_intent_flags_random(choice, &v->flags);
    v->reserved = (uint16_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->reserved = (uint16_t)UINT64_C(0);
        break;
    default:
        v->reserved = (uint16_t)UINT64_C(0);
        break;
    case 15:
        break;
    }
    v->due_ts = (int64_t)sample_number(choice);
    v->message_len = (uint32_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->message_len = (uint32_t)UINT64_C(1);
        break;
    default:
        v->message_len = (uint32_t)UINT64_C(1);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->message);
    {
        bool bad = false;
        if (!((codec_number_compare(codec_number_u(v->frame_len), codec_number_add(codec_number_u(UINT64_C(28)), codec_number_u(v->message.len), &bad)) == 0)) && !bad) {
            CodecNumber at = codec_number_add(codec_number_add(codec_number_u(UINT64_C(28)), codec_number_u(v->message.len), &bad), codec_number_u(0), &bad);
            if (!bad && sample_fits(at, 32, false)) {
                v->frame_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            }
        }
    }
    {
        bool bad = false;
        if (!((codec_number_compare(codec_number_u(v->message_len), codec_number_u(v->message.len)) == 0)) && !bad) {
            CodecNumber at = codec_number_add(codec_number_u(v->message.len), codec_number_u(0), &bad);
            if (!bad && sample_fits(at, 32, false)) {
                v->message_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            }
        }
    }
    {
        bool bad = false;
        if (!(codec_truths_equal((((uint64_t)v->flags >> 0 & 1) != 0), (codec_number_compare(codec_number_u(v->kind), codec_number_u(UINT64_C(1))) == 0))) && !bad) {
            v->flags = (WitRuntimeIntentFlags)(((codec_number_compare(codec_number_u(v->kind), codec_number_u(UINT64_C(1))) == 0)) ? v->flags | (UINT64_C(1) << 0) : v->flags & ~(UINT64_C(1) << 0));
        }
    }
}

static bool wit_runtime_intent_edge(void *any, size_t i, const char **refinement)
{
    WitRuntimeIntent *v = any;

    switch (i) {
    case 0: {
        *refinement = "frame-len == 28 + len(message)";
        bool bad = false;
        CodecNumber at = codec_number_sub(codec_number_add(codec_number_u(UINT64_C(28)), codec_number_u(v->message.len), &bad), codec_number_u(1), &bad);
        if (!bad && sample_fits(at, 32, false)) {
            v->frame_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            return false;
        }
        return true;
    }
    case 1: {
        *refinement = "frame-len == 28 + len(message)";
        bool bad = false;
        CodecNumber at = codec_number_add(codec_number_add(codec_number_u(UINT64_C(28)), codec_number_u(v->message.len), &bad), codec_number_u(0), &bad);
        if (!bad && sample_fits(at, 32, false)) {
            v->frame_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            return true;
        }
        return true;
    }
    case 2: {
        *refinement = "frame-len == 28 + len(message)";
        bool bad = false;
        CodecNumber at = codec_number_add(codec_number_add(codec_number_u(UINT64_C(28)), codec_number_u(v->message.len), &bad), codec_number_u(1), &bad);
        if (!bad && sample_fits(at, 32, false)) {
            v->frame_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            return false;
        }
        return true;
    }
    case 3: {
        *refinement = "message-len == len(message)";
        bool bad = false;
        CodecNumber at = codec_number_sub(codec_number_u(v->message.len), codec_number_u(1), &bad);
        if (!bad && sample_fits(at, 32, false)) {
            v->message_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            return false;
        }
        return true;
    }
    case 4: {
        *refinement = "message-len == len(message)";
        bool bad = false;
        CodecNumber at = codec_number_add(codec_number_u(v->message.len), codec_number_u(0), &bad);
        if (!bad && sample_fits(at, 32, false)) {
            v->message_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            return true;
        }
        return true;
    }
    case 5: {
        *refinement = "message-len == len(message)";
        bool bad = false;
        CodecNumber at = codec_number_add(codec_number_u(v->message.len), codec_number_u(1), &bad);
        if (!bad && sample_fits(at, 32, false)) {
            v->message_len = (uint32_t)(at.negative ? 0 - at.size : at.size);
            return false;
        }
        return true;
    }
    case 6: {
        *refinement = "flags.has-due == (kind == timer-arm)";
        v->flags = (WitRuntimeIntentFlags)(((codec_number_compare(codec_number_u(v->kind), codec_number_u(UINT64_C(1))) == 0)) ? v->flags | (UINT64_C(1) << 0) : v->flags & ~(UINT64_C(1) << 0));
        return true;
    }
    case 7: {
        *refinement = "flags.has-due == (kind == timer-arm)";
        v->flags = (WitRuntimeIntentFlags)(!((codec_number_compare(codec_number_u(v->kind), codec_number_u(UINT64_C(1))) == 0)) ? v->flags | (UINT64_C(1) << 0) : v->flags & ~(UINT64_C(1) << 0));
        return false;
    }
    case 8:
        *refinement = "value == 0";
        v->major = (uint16_t)UINT64_C(0);
        return true;
    case 9:
        *refinement = "value == 0";
        v->major = (uint16_t)UINT64_C(1);
        return false;
    case 10:
        *refinement = "value == 0";
        v->minor = (uint16_t)UINT64_C(0);
        return true;
    case 11:
        *refinement = "value == 0";
        v->minor = (uint16_t)UINT64_C(1);
        return false;
    case 12:
        *refinement = "value == 0";
        v->reserved = (uint16_t)UINT64_C(0);
        return true;
    case 13:
        *refinement = "value == 0";
        v->reserved = (uint16_t)UINT64_C(1);
        return false;
    case 14:
        *refinement = "value > 0";
        v->message_len = (uint32_t)UINT64_C(0);
        return false;
    case 15:
        *refinement = "value > 0";
        v->message_len = (uint32_t)UINT64_C(1);
        return true;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_runtime_intent, WitRuntimeIntent)

static void wit_runtime_replay_kind_random(Choice *choice, WitRuntimeReplayKind *v)
{
    *v = (WitRuntimeReplayKind)choice_below(choice, 6);
}

SAMPLE_TYPE(wit_runtime_replay_kind, WitRuntimeReplayKind)

static void wit_runtime_replay_event_random(Choice *choice, WitRuntimeReplayEvent *v)
{
    wit_runtime_replay_kind_random(choice, &v->kind);
    v->worker = (int64_t)sample_number(choice);
    v->seq = (uint64_t)sample_number(choice);
    v->rc = (int32_t)sample_number(choice);
    v->time = (int64_t)sample_number(choice);
    sample_bytes(choice, &v->frame);
}

SAMPLE_TYPE(wit_runtime_replay_event, WitRuntimeReplayEvent)

static void wit_runtime_schema_marker_random(Choice *choice, WitRuntimeSchemaMarker *v)
{
    v->major = (uint16_t)sample_number(choice);
    v->minor = (uint16_t)sample_number(choice);
}

SAMPLE_TYPE(wit_runtime_schema_marker, WitRuntimeSchemaMarker)

static void wit_runtime_high_water_mark_random(Choice *choice, WitRuntimeHighWaterMark *v)
{
    v->last = (uint64_t)sample_number(choice);
}

SAMPLE_TYPE(wit_runtime_high_water_mark, WitRuntimeHighWaterMark)

static void wit_runtime_queue_name_random(Choice *choice, WitRuntimeQueueName *v)
{
    v->worker = (uint64_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->worker = (uint64_t)UINT64_C(4294967296);
        break;
    case 1:
        v->worker = (uint64_t)UINT64_C(9223372036854775807);
        break;
    case 2:
        v->worker = (uint64_t)UINT64_C(9223372036854775806);
        break;
    default:
        v->worker = (uint64_t)UINT64_C(4294967296);
        break;
    case 15:
        break;
    }
}

static bool wit_runtime_queue_name_edge(void *any, size_t i, const char **refinement)
{
    WitRuntimeQueueName *v = any;

    switch (i) {
    case 0:
        *refinement = "value > 0xFFFFFFFF && value <= 0x7FFFFFFFFFFFFFFF";
        v->worker = (uint64_t)UINT64_C(4294967295);
        return false;
    case 1:
        *refinement = "value > 0xFFFFFFFF && value <= 0x7FFFFFFFFFFFFFFF";
        v->worker = (uint64_t)UINT64_C(4294967294);
        return false;
    case 2:
        *refinement = "value > 0xFFFFFFFF && value <= 0x7FFFFFFFFFFFFFFF";
        v->worker = (uint64_t)UINT64_C(4294967296);
        return true;
    case 3:
        *refinement = "value > 0xFFFFFFFF && value <= 0x7FFFFFFFFFFFFFFF";
        v->worker = (uint64_t)UINT64_C(9223372036854775807);
        return true;
    case 4:
        *refinement = "value > 0xFFFFFFFF && value <= 0x7FFFFFFFFFFFFFFF";
        v->worker = (uint64_t)UINT64_C(9223372036854775806);
        return true;
    case 5:
        *refinement = "value > 0xFFFFFFFF && value <= 0x7FFFFFFFFFFFFFFF";
        v->worker = (uint64_t)UINT64_C(9223372036854775808);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_runtime_queue_name, WitRuntimeQueueName)

static void wit_runtime_retry_key_random(Choice *choice, WitRuntimeRetryKey *v)
{
    v->table = (uint8_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->table = (uint8_t)UINT64_C(1);
        break;
    case 1:
        v->table = (uint8_t)UINT64_C(4);
        break;
    default:
        v->table = (uint8_t)UINT64_C(1);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->row);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->row, 16);
        break;
    default:
        sample_length(&v->row, 16);
        break;
    case 15:
        break;
    }
}

static bool wit_runtime_retry_key_edge(void *any, size_t i, const char **refinement)
{
    WitRuntimeRetryKey *v = any;

    switch (i) {
    case 0:
        *refinement = "value == 1 || value == 4";
        v->table = (uint8_t)UINT64_C(1);
        return true;
    case 1:
        *refinement = "value == 1 || value == 4";
        v->table = (uint8_t)UINT64_C(0);
        return false;
    case 2:
        *refinement = "value == 1 || value == 4";
        v->table = (uint8_t)UINT64_C(2);
        return false;
    case 3:
        *refinement = "value == 1 || value == 4";
        v->table = (uint8_t)UINT64_C(4);
        return true;
    case 4:
        *refinement = "value == 1 || value == 4";
        v->table = (uint8_t)UINT64_C(3);
        return false;
    case 5:
        *refinement = "value == 1 || value == 4";
        v->table = (uint8_t)UINT64_C(5);
        return false;
    case 6:
        *refinement = "len(row) == 16";
        sample_length(&v->row, 16);
        return true;
    case 7:
        *refinement = "len(row) == 16";
        sample_length(&v->row, 15);
        return false;
    case 8:
        *refinement = "len(row) == 16";
        sample_length(&v->row, 17);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_runtime_retry_key, WitRuntimeRetryKey)

static void wit_runtime_retry_value_random(Choice *choice, WitRuntimeRetryValue *v)
{
    v->count = (uint32_t)sample_number(choice);
}

SAMPLE_TYPE(wit_runtime_retry_value, WitRuntimeRetryValue)

static void wit_runtime_seen_key_random(Choice *choice, WitRuntimeSeenKey *v)
{
    v->worker = (uint64_t)sample_number(choice);
    sample_bytes(choice, &v->id);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->id, 1);
        break;
    case 1:
        sample_length(&v->id, 256);
        break;
    case 2:
        sample_length(&v->id, 255);
        break;
    default:
        sample_length(&v->id, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_runtime_seen_key_edge(void *any, size_t i, const char **refinement)
{
    WitRuntimeSeenKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(id) > 0 && len(id) <= 256";
        sample_length(&v->id, 0);
        return false;
    case 1:
        *refinement = "len(id) > 0 && len(id) <= 256";
        sample_length(&v->id, 1);
        return true;
    case 2:
        *refinement = "len(id) > 0 && len(id) <= 256";
        sample_length(&v->id, 256);
        return true;
    case 3:
        *refinement = "len(id) > 0 && len(id) <= 256";
        sample_length(&v->id, 255);
        return true;
    case 4:
        *refinement = "len(id) > 0 && len(id) <= 256";
        sample_length(&v->id, 257);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_runtime_seen_key, WitRuntimeSeenKey)

static void wit_runtime_seen_value_random(Choice *choice, WitRuntimeSeenValue *v)
{
    v->accepted = choice_one_in(choice, 2);
    v->last_seen = (int64_t)sample_number(choice);
    v->checksum = (uint64_t)sample_number(choice);
}

SAMPLE_TYPE(wit_runtime_seen_value, WitRuntimeSeenValue)

static void wit_runtime_dbi0_app_state_key_random(Choice *choice, WitRuntimeDbi0AppStateKey *v)
{
    sample_bytes(choice, &v->key);
}

SAMPLE_TYPE(wit_runtime_dbi0_app_state_key, WitRuntimeDbi0AppStateKey)

static void wit_runtime_dbi0_app_state_value_random(Choice *choice, WitRuntimeDbi0AppStateValue *v)
{
    sample_bytes(choice, &v->value);
}

SAMPLE_TYPE(wit_runtime_dbi0_app_state_value, WitRuntimeDbi0AppStateValue)

static void wit_runtime_dbi1_inbox_key_random(Choice *choice, WitRuntimeDbi1InboxKey *v)
{
    v->worker = (uint64_t)sample_number(choice);
    v->seq = (uint64_t)sample_number(choice);
}

SAMPLE_TYPE(wit_runtime_dbi1_inbox_key, WitRuntimeDbi1InboxKey)

static void wit_runtime_dbi1_inbox_value_random(Choice *choice, WitRuntimeDbi1InboxValue *v)
{
    sample_bytes(choice, &v->frame);
}

SAMPLE_TYPE(wit_runtime_dbi1_inbox_value, WitRuntimeDbi1InboxValue)

static void wit_runtime_dbi2_outbox_key_random(Choice *choice, WitRuntimeDbi2OutboxKey *v)
{
    v->seq = (uint64_t)sample_number(choice);
}

SAMPLE_TYPE(wit_runtime_dbi2_outbox_key, WitRuntimeDbi2OutboxKey)

static void wit_runtime_dbi2_outbox_value_random(Choice *choice, WitRuntimeDbi2OutboxValue *v)
{
    sample_bytes(choice, &v->frame);
}

SAMPLE_TYPE(wit_runtime_dbi2_outbox_value, WitRuntimeDbi2OutboxValue)

static void wit_runtime_dbi3_leases_key_random(Choice *choice, WitRuntimeDbi3LeasesKey *v)
{
    v->worker = (uint64_t)sample_number(choice);
    v->seq = (uint64_t)sample_number(choice);
}

SAMPLE_TYPE(wit_runtime_dbi3_leases_key, WitRuntimeDbi3LeasesKey)

static void wit_runtime_dbi3_leases_value_random(Choice *choice, WitRuntimeDbi3LeasesValue *v)
{
    v->owner = (uint64_t)sample_number(choice);
    v->deadline = (int64_t)sample_number(choice);
    v->attempts = (uint32_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->attempts = (uint32_t)UINT64_C(1);
        break;
    case 1:
        v->attempts = (uint32_t)UINT64_C(2);
        break;
    default:
        v->attempts = (uint32_t)UINT64_C(1);
        break;
    case 15:
        break;
    }
    v->token = (uint64_t)sample_number(choice);
}

static bool wit_runtime_dbi3_leases_value_edge(void *any, size_t i, const char **refinement)
{
    WitRuntimeDbi3LeasesValue *v = any;

    switch (i) {
    case 0:
        *refinement = "value >= 1";
        v->attempts = (uint32_t)UINT64_C(1);
        return true;
    case 1:
        *refinement = "value >= 1";
        v->attempts = (uint32_t)UINT64_C(0);
        return false;
    case 2:
        *refinement = "value >= 1";
        v->attempts = (uint32_t)UINT64_C(2);
        return true;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_runtime_dbi3_leases_value, WitRuntimeDbi3LeasesValue)

static void wit_runtime_dbi4_timers_key_random(Choice *choice, WitRuntimeDbi4TimersKey *v)
{
    v->due = (int64_t)sample_number(choice);
    v->seq = (uint64_t)sample_number(choice);
}

SAMPLE_TYPE(wit_runtime_dbi4_timers_key, WitRuntimeDbi4TimersKey)

static void wit_runtime_dbi4_timers_value_random(Choice *choice, WitRuntimeDbi4TimersValue *v)
{
    sample_bytes(choice, &v->frame);
}

SAMPLE_TYPE(wit_runtime_dbi4_timers_value, WitRuntimeDbi4TimersValue)

static void wit_runtime_dbi5_dedupe_key_random(Choice *choice, WitRuntimeDbi5DedupeKey *v)
{
    sample_bytes(choice, &v->key);
}

SAMPLE_TYPE(wit_runtime_dbi5_dedupe_key, WitRuntimeDbi5DedupeKey)

static void wit_runtime_dbi5_dedupe_value_random(Choice *choice, WitRuntimeDbi5DedupeValue *v)
{
    sample_bytes(choice, &v->value);
}

SAMPLE_TYPE(wit_runtime_dbi5_dedupe_value, WitRuntimeDbi5DedupeValue)

static void wit_runtime_dbi6_dead_letter_key_random(Choice *choice, WitRuntimeDbi6DeadLetterKey *v)
{
    v->worker = (uint64_t)sample_number(choice);
    v->seq = (uint64_t)sample_number(choice);
}

SAMPLE_TYPE(wit_runtime_dbi6_dead_letter_key, WitRuntimeDbi6DeadLetterKey)

static void wit_runtime_dbi6_dead_letter_value_random(Choice *choice, WitRuntimeDbi6DeadLetterValue *v)
{
    v->rc = (int32_t)sample_number(choice);
    v->attempts = (uint32_t)sample_number(choice);
    sample_bytes(choice, &v->frame);
}

SAMPLE_TYPE(wit_runtime_dbi6_dead_letter_value, WitRuntimeDbi6DeadLetterValue)

static void wit_runtime_dbi7_dedupe_ttl_key_random(Choice *choice, WitRuntimeDbi7DedupeTtlKey *v)
{
    sample_bytes(choice, &v->key);
}

SAMPLE_TYPE(wit_runtime_dbi7_dedupe_ttl_key, WitRuntimeDbi7DedupeTtlKey)

static void wit_runtime_dbi7_dedupe_ttl_value_random(Choice *choice, WitRuntimeDbi7DedupeTtlValue *v)
{
    sample_bytes(choice, &v->value);
}

SAMPLE_TYPE(wit_runtime_dbi7_dedupe_ttl_value, WitRuntimeDbi7DedupeTtlValue)

const SampleType wit_runtime_samples[] = {
    SAMPLE_ENTRY("message-kind", wit_runtime_message_kind, WitRuntimeMessageKind, false, NULL, 0),
    SAMPLE_ENTRY("message-flags", wit_runtime_message_flags, WitRuntimeMessageFlags, false, NULL, 0),
    SAMPLE_ENTRY("message", wit_runtime_message, WitRuntimeMessage, false, wit_runtime_message_edge, 23),
    SAMPLE_ENTRY("intent-kind", wit_runtime_intent_kind, WitRuntimeIntentKind, false, NULL, 0),
    SAMPLE_ENTRY("intent-flags", wit_runtime_intent_flags, WitRuntimeIntentFlags, false, NULL, 0),
    SAMPLE_ENTRY("intent", wit_runtime_intent, WitRuntimeIntent, false, wit_runtime_intent_edge, 16),
    SAMPLE_ENTRY("replay-kind", wit_runtime_replay_kind, WitRuntimeReplayKind, false, NULL, 0),
    SAMPLE_ENTRY("replay-event", wit_runtime_replay_event, WitRuntimeReplayEvent, false, NULL, 0),
    SAMPLE_ENTRY("schema-marker", wit_runtime_schema_marker, WitRuntimeSchemaMarker, false, NULL, 0),
    SAMPLE_ENTRY("high-water-mark", wit_runtime_high_water_mark, WitRuntimeHighWaterMark, false, NULL, 0),
    SAMPLE_ENTRY("queue-name", wit_runtime_queue_name, WitRuntimeQueueName, false, wit_runtime_queue_name_edge, 6),
    SAMPLE_ENTRY("retry-key", wit_runtime_retry_key, WitRuntimeRetryKey, false, wit_runtime_retry_key_edge, 9),
    SAMPLE_ENTRY("retry-value", wit_runtime_retry_value, WitRuntimeRetryValue, false, NULL, 0),
    SAMPLE_ENTRY("seen-key", wit_runtime_seen_key, WitRuntimeSeenKey, false, wit_runtime_seen_key_edge, 5),
    SAMPLE_ENTRY("seen-value", wit_runtime_seen_value, WitRuntimeSeenValue, false, NULL, 0),
    SAMPLE_ENTRY("dbi0-app-state-key", wit_runtime_dbi0_app_state_key, WitRuntimeDbi0AppStateKey, false, NULL, 0),
    SAMPLE_ENTRY("dbi0-app-state-value", wit_runtime_dbi0_app_state_value, WitRuntimeDbi0AppStateValue, false, NULL, 0),
    SAMPLE_ENTRY("dbi1-inbox-key", wit_runtime_dbi1_inbox_key, WitRuntimeDbi1InboxKey, false, NULL, 0),
    SAMPLE_ENTRY("dbi1-inbox-value", wit_runtime_dbi1_inbox_value, WitRuntimeDbi1InboxValue, false, NULL, 0),
    SAMPLE_ENTRY("dbi2-outbox-key", wit_runtime_dbi2_outbox_key, WitRuntimeDbi2OutboxKey, false, NULL, 0),
    SAMPLE_ENTRY("dbi2-outbox-value", wit_runtime_dbi2_outbox_value, WitRuntimeDbi2OutboxValue, false, NULL, 0),
    SAMPLE_ENTRY("dbi3-leases-key", wit_runtime_dbi3_leases_key, WitRuntimeDbi3LeasesKey, false, NULL, 0),
    SAMPLE_ENTRY("dbi3-leases-value", wit_runtime_dbi3_leases_value, WitRuntimeDbi3LeasesValue, false, wit_runtime_dbi3_leases_value_edge, 3),
    SAMPLE_ENTRY("dbi4-timers-key", wit_runtime_dbi4_timers_key, WitRuntimeDbi4TimersKey, false, NULL, 0),
    SAMPLE_ENTRY("dbi4-timers-value", wit_runtime_dbi4_timers_value, WitRuntimeDbi4TimersValue, false, NULL, 0),
    SAMPLE_ENTRY("dbi5-dedupe-key", wit_runtime_dbi5_dedupe_key, WitRuntimeDbi5DedupeKey, false, NULL, 0),
    SAMPLE_ENTRY("dbi5-dedupe-value", wit_runtime_dbi5_dedupe_value, WitRuntimeDbi5DedupeValue, false, NULL, 0),
    SAMPLE_ENTRY("dbi6-dead-letter-key", wit_runtime_dbi6_dead_letter_key, WitRuntimeDbi6DeadLetterKey, false, NULL, 0),
    SAMPLE_ENTRY("dbi6-dead-letter-value", wit_runtime_dbi6_dead_letter_value, WitRuntimeDbi6DeadLetterValue, false, NULL, 0),
    SAMPLE_ENTRY("dbi7-dedupe-ttl-key", wit_runtime_dbi7_dedupe_ttl_key, WitRuntimeDbi7DedupeTtlKey, false, NULL, 0),
    SAMPLE_ENTRY("dbi7-dedupe-ttl-value", wit_runtime_dbi7_dedupe_ttl_value, WitRuntimeDbi7DedupeTtlValue, false, NULL, 0),
};

const size_t wit_runtime_sample_count =
    sizeof wit_runtime_samples / sizeof wit_runtime_samples[0];
