/* wit_universe_samples.c - its types, for tests.
 *
 * Generated from schemas/wit/universe-schema.wit by tools/wit_codegen: change the schema. */
#include "wit_universe_samples.h"

#include "wit_universe_json.h"

static void wit_universe_encoding_random(Choice *choice, WitUniverseEncoding *v)
{
    *v = (WitUniverseEncoding)choice_below(choice, 3);
}

SAMPLE_TYPE(wit_universe_encoding, WitUniverseEncoding)

static void wit_universe_item_kind_random(Choice *choice, WitUniverseItemKind *v)
{
    *v = (WitUniverseItemKind)choice_below(choice, 9);
}

SAMPLE_TYPE(wit_universe_item_kind, WitUniverseItemKind)

static void wit_universe_receipt_status_random(Choice *choice, WitUniverseReceiptStatus *v)
{
    *v = (WitUniverseReceiptStatus)choice_below(choice, 4);
}

SAMPLE_TYPE(wit_universe_receipt_status, WitUniverseReceiptStatus)

static void wit_universe_attempt_outcome_random(Choice *choice, WitUniverseAttemptOutcome *v)
{
    *v = (WitUniverseAttemptOutcome)choice_below(choice, 4);
}

SAMPLE_TYPE(wit_universe_attempt_outcome, WitUniverseAttemptOutcome)

static void wit_universe_effect_attempt_random(Choice *choice, WitUniverseEffectAttempt *v)
{
    v->begun_ns = (uint64_t)sample_number(choice);
    v->ended_ns = (uint64_t)sample_number(choice);
    wit_universe_attempt_outcome_random(choice, &v->outcome);
    sample_string(choice, &v->code);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->code, 64);
        break;
    case 1:
        sample_length(&v->code, 63);
        break;
    default:
        sample_length(&v->code, 64);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_effect_attempt_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseEffectAttempt *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) <= 64";
        sample_length(&v->code, 64);
        return true;
    case 1:
        *refinement = "len(value) <= 64";
        sample_length(&v->code, 63);
        return true;
    case 2:
        *refinement = "len(value) <= 64";
        sample_length(&v->code, 65);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_effect_attempt, WitUniverseEffectAttempt)

static void wit_universe_header_random(Choice *choice, WitUniverseHeader *v)
{
    sample_string(choice, &v->name);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->name, 1);
        break;
    case 1:
        sample_length(&v->name, 2);
        break;
    case 2:
        sample_length(&v->name, 128);
        break;
    case 3:
        sample_length(&v->name, 127);
        break;
    default:
        sample_length(&v->name, 1);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->value);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->value, 1024);
        break;
    case 1:
        sample_length(&v->value, 1023);
        break;
    default:
        sample_length(&v->value, 1024);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_header_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseHeader *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 129);
        return false;
    case 6:
        *refinement = "len(value) <= 1024";
        sample_length(&v->value, 1024);
        return true;
    case 7:
        *refinement = "len(value) <= 1024";
        sample_length(&v->value, 1023);
        return true;
    case 8:
        *refinement = "len(value) <= 1024";
        sample_length(&v->value, 1025);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_header, WitUniverseHeader)

static void wit_universe_list_effect_attempt_random(Choice *choice, WitUniverseListEffectAttempt *v)
{
    v->items = sample_items(choice, sizeof *v->items, &v->count);
    for (uint32_t i = 0; i < v->count; i++) {
        wit_universe_effect_attempt_random(choice, &v->items[i]);
    }
}

static void wit_universe_list_header_random(Choice *choice, WitUniverseListHeader *v)
{
    v->items = sample_items(choice, sizeof *v->items, &v->count);
    for (uint32_t i = 0; i < v->count; i++) {
        wit_universe_header_random(choice, &v->items[i]);
    }
}

static void wit_universe_inbox_item_random(Choice *choice, WitUniverseInboxItem *v)
{
    wit_universe_item_kind_random(choice, &v->kind);
    sample_string(choice, &v->name);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->name, 128);
        break;
    case 1:
        sample_length(&v->name, 127);
        break;
    default:
        sample_length(&v->name, 128);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->id);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->id, 256);
        break;
    case 1:
        sample_length(&v->id, 255);
        break;
    default:
        sample_length(&v->id, 256);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->correlation_id);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->correlation_id, 256);
        break;
    case 1:
        sample_length(&v->correlation_id, 255);
        break;
    default:
        sample_length(&v->correlation_id, 256);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->hash);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->hash, 32);
        break;
    default:
        sample_length(&v->hash, 32);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->ref);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->ref, 128);
        break;
    case 1:
        sample_length(&v->ref, 127);
        break;
    default:
        sample_length(&v->ref, 128);
        break;
    case 15:
        break;
    }
    wit_universe_receipt_status_random(choice, &v->status);
    sample_string(choice, &v->from_world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->from_world, 128);
        break;
    case 1:
        sample_length(&v->from_world, 127);
        break;
    default:
        sample_length(&v->from_world, 128);
        break;
    case 15:
        break;
    }
    v->from_height = (uint64_t)sample_number(choice);
    sample_string(choice, &v->reply_to);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->reply_to, 400);
        break;
    case 1:
        sample_length(&v->reply_to, 399);
        break;
    default:
        sample_length(&v->reply_to, 400);
        break;
    case 15:
        break;
    }
    wit_universe_encoding_random(choice, &v->encoding);
    sample_bytes(choice, &v->payload);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->payload, 65535);
        break;
    default:
        sample_length(&v->payload, 65535);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->blob);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->blob, 0);
        break;
    case 1:
        sample_length(&v->blob, 32);
        break;
    default:
        sample_length(&v->blob, 0);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->trace_parent);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->trace_parent, 128);
        break;
    case 1:
        sample_length(&v->trace_parent, 127);
        break;
    default:
        sample_length(&v->trace_parent, 128);
        break;
    case 15:
        break;
    }
    v->time_ns = (uint64_t)sample_number(choice);
    v->replayed = choice_one_in(choice, 2);
    v->priority = (uint8_t)sample_number(choice);
    sample_string(choice, &v->code);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->code, 64);
        break;
    case 1:
        sample_length(&v->code, 63);
        break;
    default:
        sample_length(&v->code, 64);
        break;
    case 15:
        break;
    }
    wit_universe_list_effect_attempt_random(choice, &v->attempts);
    wit_universe_list_header_random(choice, &v->headers);
}

static bool wit_universe_inbox_item_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseInboxItem *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) <= 128";
        sample_length(&v->name, 128);
        return true;
    case 1:
        *refinement = "len(value) <= 128";
        sample_length(&v->name, 127);
        return true;
    case 2:
        *refinement = "len(value) <= 128";
        sample_length(&v->name, 129);
        return false;
    case 3:
        *refinement = "len(value) <= 256";
        sample_length(&v->id, 256);
        return true;
    case 4:
        *refinement = "len(value) <= 256";
        sample_length(&v->id, 255);
        return true;
    case 5:
        *refinement = "len(value) <= 256";
        sample_length(&v->id, 257);
        return false;
    case 6:
        *refinement = "len(value) <= 256";
        sample_length(&v->correlation_id, 256);
        return true;
    case 7:
        *refinement = "len(value) <= 256";
        sample_length(&v->correlation_id, 255);
        return true;
    case 8:
        *refinement = "len(value) <= 256";
        sample_length(&v->correlation_id, 257);
        return false;
    case 9:
        *refinement = "len(value) == 32";
        sample_length(&v->hash, 32);
        return true;
    case 10:
        *refinement = "len(value) == 32";
        sample_length(&v->hash, 31);
        return false;
    case 11:
        *refinement = "len(value) == 32";
        sample_length(&v->hash, 33);
        return false;
    case 12:
        *refinement = "len(value) <= 128";
        sample_length(&v->ref, 128);
        return true;
    case 13:
        *refinement = "len(value) <= 128";
        sample_length(&v->ref, 127);
        return true;
    case 14:
        *refinement = "len(value) <= 128";
        sample_length(&v->ref, 129);
        return false;
    case 15:
        *refinement = "len(value) <= 128";
        sample_length(&v->from_world, 128);
        return true;
    case 16:
        *refinement = "len(value) <= 128";
        sample_length(&v->from_world, 127);
        return true;
    case 17:
        *refinement = "len(value) <= 128";
        sample_length(&v->from_world, 129);
        return false;
    case 18:
        *refinement = "len(value) <= 400";
        sample_length(&v->reply_to, 400);
        return true;
    case 19:
        *refinement = "len(value) <= 400";
        sample_length(&v->reply_to, 399);
        return true;
    case 20:
        *refinement = "len(value) <= 400";
        sample_length(&v->reply_to, 401);
        return false;
    case 21:
        *refinement = "len(value) <= 65536";
        sample_length(&v->payload, 65535);
        return true;
    case 22:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->blob, 0);
        return true;
    case 23:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->blob, 1);
        return false;
    case 24:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->blob, 32);
        return true;
    case 25:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->blob, 31);
        return false;
    case 26:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->blob, 33);
        return false;
    case 27:
        *refinement = "len(value) <= 128";
        sample_length(&v->trace_parent, 128);
        return true;
    case 28:
        *refinement = "len(value) <= 128";
        sample_length(&v->trace_parent, 127);
        return true;
    case 29:
        *refinement = "len(value) <= 128";
        sample_length(&v->trace_parent, 129);
        return false;
    case 30:
        *refinement = "len(value) <= 64";
        sample_length(&v->code, 64);
        return true;
    case 31:
        *refinement = "len(value) <= 64";
        sample_length(&v->code, 63);
        return true;
    case 32:
        *refinement = "len(value) <= 64";
        sample_length(&v->code, 65);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_inbox_item, WitUniverseInboxItem)

static void wit_universe_fabric_mode_random(Choice *choice, WitUniverseFabricMode *v)
{
    *v = (WitUniverseFabricMode)choice_below(choice, 2);
}

SAMPLE_TYPE(wit_universe_fabric_mode, WitUniverseFabricMode)

static void wit_universe_option_u32_random(Choice *choice, WitUniverseOptionU32 *v)
{
    v->some = choice_one_in(choice, 2);
    if (v->some) {
        v->value = (uint32_t)sample_number(choice);
    }
}

static void wit_universe_fabric_send_params_random(Choice *choice, WitUniverseFabricSendParams *v)
{
    wit_universe_option_u32_random(choice, &v->dest_universe);
    sample_string(choice, &v->dest_world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->dest_world, 1);
        break;
    case 1:
        sample_length(&v->dest_world, 2);
        break;
    case 2:
        sample_length(&v->dest_world, 128);
        break;
    case 3:
        sample_length(&v->dest_world, 127);
        break;
    default:
        sample_length(&v->dest_world, 1);
        break;
    case 15:
        break;
    }
    wit_universe_fabric_mode_random(choice, &v->mode);
    sample_string(choice, &v->schema);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->schema, 128);
        break;
    case 1:
        sample_length(&v->schema, 127);
        break;
    default:
        sample_length(&v->schema, 128);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->inbox);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->inbox, 128);
        break;
    case 1:
        sample_length(&v->inbox, 127);
        break;
    default:
        sample_length(&v->inbox, 128);
        break;
    case 15:
        break;
    }
    wit_universe_encoding_random(choice, &v->encoding);
    sample_bytes(choice, &v->payload);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->payload, 65535);
        break;
    default:
        sample_length(&v->payload, 65535);
        break;
    case 15:
        break;
    }
    wit_universe_list_header_random(choice, &v->headers);
    sample_string(choice, &v->correlation_id);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->correlation_id, 256);
        break;
    case 1:
        sample_length(&v->correlation_id, 255);
        break;
    default:
        sample_length(&v->correlation_id, 256);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->message_id);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->message_id, 256);
        break;
    case 1:
        sample_length(&v->message_id, 255);
        break;
    default:
        sample_length(&v->message_id, 256);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->create);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->create, 128);
        break;
    case 1:
        sample_length(&v->create, 127);
        break;
    default:
        sample_length(&v->create, 128);
        break;
    case 15:
        break;
    }
    v->ask = choice_one_in(choice, 2);
    sample_bytes(choice, &v->answers);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->answers, 0);
        break;
    case 1:
        sample_length(&v->answers, 32);
        break;
    default:
        sample_length(&v->answers, 0);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->ref);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->ref, 128);
        break;
    case 1:
        sample_length(&v->ref, 127);
        break;
    default:
        sample_length(&v->ref, 128);
        break;
    case 15:
        break;
    }
    wit_universe_receipt_status_random(choice, &v->status);
    sample_string(choice, &v->code);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->code, 64);
        break;
    case 1:
        sample_length(&v->code, 63);
        break;
    default:
        sample_length(&v->code, 64);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_fabric_send_params_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseFabricSendParams *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->dest_world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->dest_world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->dest_world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->dest_world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->dest_world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->dest_world, 129);
        return false;
    case 6:
        *refinement = "len(value) <= 128";
        sample_length(&v->schema, 128);
        return true;
    case 7:
        *refinement = "len(value) <= 128";
        sample_length(&v->schema, 127);
        return true;
    case 8:
        *refinement = "len(value) <= 128";
        sample_length(&v->schema, 129);
        return false;
    case 9:
        *refinement = "len(value) <= 128";
        sample_length(&v->inbox, 128);
        return true;
    case 10:
        *refinement = "len(value) <= 128";
        sample_length(&v->inbox, 127);
        return true;
    case 11:
        *refinement = "len(value) <= 128";
        sample_length(&v->inbox, 129);
        return false;
    case 12:
        *refinement = "len(value) <= 65536";
        sample_length(&v->payload, 65535);
        return true;
    case 13:
        *refinement = "len(value) <= 256";
        sample_length(&v->correlation_id, 256);
        return true;
    case 14:
        *refinement = "len(value) <= 256";
        sample_length(&v->correlation_id, 255);
        return true;
    case 15:
        *refinement = "len(value) <= 256";
        sample_length(&v->correlation_id, 257);
        return false;
    case 16:
        *refinement = "len(value) <= 256";
        sample_length(&v->message_id, 256);
        return true;
    case 17:
        *refinement = "len(value) <= 256";
        sample_length(&v->message_id, 255);
        return true;
    case 18:
        *refinement = "len(value) <= 256";
        sample_length(&v->message_id, 257);
        return false;
    case 19:
        *refinement = "len(value) <= 128";
        sample_length(&v->create, 128);
        return true;
    case 20:
        *refinement = "len(value) <= 128";
        sample_length(&v->create, 127);
        return true;
    case 21:
        *refinement = "len(value) <= 128";
        sample_length(&v->create, 129);
        return false;
    case 22:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->answers, 0);
        return true;
    case 23:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->answers, 1);
        return false;
    case 24:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->answers, 32);
        return true;
    case 25:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->answers, 31);
        return false;
    case 26:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->answers, 33);
        return false;
    case 27:
        *refinement = "len(value) <= 128";
        sample_length(&v->ref, 128);
        return true;
    case 28:
        *refinement = "len(value) <= 128";
        sample_length(&v->ref, 127);
        return true;
    case 29:
        *refinement = "len(value) <= 128";
        sample_length(&v->ref, 129);
        return false;
    case 30:
        *refinement = "len(value) <= 64";
        sample_length(&v->code, 64);
        return true;
    case 31:
        *refinement = "len(value) <= 64";
        sample_length(&v->code, 63);
        return true;
    case 32:
        *refinement = "len(value) <= 64";
        sample_length(&v->code, 65);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_fabric_send_params, WitUniverseFabricSendParams)

static void wit_universe_fabric_status_random(Choice *choice, WitUniverseFabricStatus *v)
{
    *v = (WitUniverseFabricStatus)choice_below(choice, 3);
}

SAMPLE_TYPE(wit_universe_fabric_status, WitUniverseFabricStatus)

static void wit_universe_fabric_send_receipt_random(Choice *choice, WitUniverseFabricSendReceipt *v)
{
    wit_universe_fabric_status_random(choice, &v->status);
    sample_bytes(choice, &v->message_id);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->message_id, 32);
        break;
    default:
        sample_length(&v->message_id, 32);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->dest_world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->dest_world, 1);
        break;
    case 1:
        sample_length(&v->dest_world, 2);
        break;
    case 2:
        sample_length(&v->dest_world, 128);
        break;
    case 3:
        sample_length(&v->dest_world, 127);
        break;
    default:
        sample_length(&v->dest_world, 1);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->enqueued_seq);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->enqueued_seq, 0);
        break;
    case 1:
        sample_length(&v->enqueued_seq, 32);
        break;
    default:
        sample_length(&v->enqueued_seq, 0);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_fabric_send_receipt_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseFabricSendReceipt *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 32";
        sample_length(&v->message_id, 32);
        return true;
    case 1:
        *refinement = "len(value) == 32";
        sample_length(&v->message_id, 31);
        return false;
    case 2:
        *refinement = "len(value) == 32";
        sample_length(&v->message_id, 33);
        return false;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->dest_world, 1);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->dest_world, 0);
        return false;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->dest_world, 2);
        return true;
    case 6:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->dest_world, 128);
        return true;
    case 7:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->dest_world, 127);
        return true;
    case 8:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->dest_world, 129);
        return false;
    case 9:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->enqueued_seq, 0);
        return true;
    case 10:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->enqueued_seq, 1);
        return false;
    case 11:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->enqueued_seq, 32);
        return true;
    case 12:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->enqueued_seq, 31);
        return false;
    case 13:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->enqueued_seq, 33);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_fabric_send_receipt, WitUniverseFabricSendReceipt)

static void wit_universe_entry_kind_random(Choice *choice, WitUniverseEntryKind *v)
{
    *v = (WitUniverseEntryKind)choice_below(choice, 5);
}

SAMPLE_TYPE(wit_universe_entry_kind, WitUniverseEntryKind)

static void wit_universe_option_bytes_random(Choice *choice, WitUniverseOptionBytes *v)
{
    v->some = choice_one_in(choice, 2);
    if (v->some) {
        sample_bytes(choice, &v->value);
    }
}

static void wit_universe_change_random(Choice *choice, WitUniverseChange *v)
{
    sample_bytes(choice, &v->key);
    wit_universe_option_bytes_random(choice, &v->value);
}

SAMPLE_TYPE(wit_universe_change, WitUniverseChange)

static void wit_universe_retry_random(Choice *choice, WitUniverseRetry *v)
{
    v->attempts = (uint32_t)sample_number(choice);
    v->first_ns = (uint64_t)sample_number(choice);
    v->factor = (uint32_t)sample_number(choice);
    v->cap_ns = (uint64_t)sample_number(choice);
    v->timeout_ns = (uint64_t)sample_number(choice);
}

static bool wit_universe_retry_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseRetry *v = any;

    switch (i) {
    case 0:
        *refinement = "attempts <= 100";
        v->attempts = (uint32_t)UINT64_C(100);
        return true;
    case 1:
        *refinement = "attempts <= 100";
        v->attempts = (uint32_t)UINT64_C(99);
        return true;
    case 2:
        *refinement = "attempts <= 100";
        v->attempts = (uint32_t)UINT64_C(101);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_retry, WitUniverseRetry)

static void wit_universe_timer_clock_random(Choice *choice, WitUniverseTimerClock *v)
{
    *v = (WitUniverseTimerClock)choice_below(choice, 2);
}

SAMPLE_TYPE(wit_universe_timer_clock, WitUniverseTimerClock)

static void wit_universe_intent_random(Choice *choice, WitUniverseIntent *v)
{
    sample_string(choice, &v->kind);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->kind, 1);
        break;
    case 1:
        sample_length(&v->kind, 2);
        break;
    case 2:
        sample_length(&v->kind, 128);
        break;
    case 3:
        sample_length(&v->kind, 127);
        break;
    default:
        sample_length(&v->kind, 1);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->ref);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->ref, 400);
        break;
    case 1:
        sample_length(&v->ref, 399);
        break;
    default:
        sample_length(&v->ref, 400);
        break;
    case 15:
        break;
    }
    wit_universe_encoding_random(choice, &v->encoding);
    sample_bytes(choice, &v->params);
    sample_bytes(choice, &v->hash);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->hash, 32);
        break;
    default:
        sample_length(&v->hash, 32);
        break;
    case 15:
        break;
    }
    wit_universe_retry_random(choice, &v->retry);
    wit_universe_timer_clock_random(choice, &v->clock);
    v->time_ns = (uint64_t)sample_number(choice);
}

static bool wit_universe_intent_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseIntent *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 129);
        return false;
    case 6:
        *refinement = "len(value) <= 400";
        sample_length(&v->ref, 400);
        return true;
    case 7:
        *refinement = "len(value) <= 400";
        sample_length(&v->ref, 399);
        return true;
    case 8:
        *refinement = "len(value) <= 400";
        sample_length(&v->ref, 401);
        return false;
    case 9:
        *refinement = "len(value) == 32";
        sample_length(&v->hash, 32);
        return true;
    case 10:
        *refinement = "len(value) == 32";
        sample_length(&v->hash, 31);
        return false;
    case 11:
        *refinement = "len(value) == 32";
        sample_length(&v->hash, 33);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_intent, WitUniverseIntent)

static void wit_universe_option_inbox_item_random(Choice *choice, WitUniverseOptionInboxItem *v)
{
    v->some = choice_one_in(choice, 2);
    if (v->some) {
        wit_universe_inbox_item_random(choice, &v->value);
    }
}

static void wit_universe_list_change_random(Choice *choice, WitUniverseListChange *v)
{
    v->items = sample_items(choice, sizeof *v->items, &v->count);
    for (uint32_t i = 0; i < v->count; i++) {
        wit_universe_change_random(choice, &v->items[i]);
    }
}

static void wit_universe_list_intent_random(Choice *choice, WitUniverseListIntent *v)
{
    v->items = sample_items(choice, sizeof *v->items, &v->count);
    for (uint32_t i = 0; i < v->count; i++) {
        wit_universe_intent_random(choice, &v->items[i]);
    }
}

static void wit_universe_entry_random(Choice *choice, WitUniverseEntry *v)
{
    wit_universe_entry_kind_random(choice, &v->kind);
    v->time_ns = (uint64_t)sample_number(choice);
    sample_bytes(choice, &v->seq);
    wit_universe_option_inbox_item_random(choice, &v->item);
    sample_string(choice, &v->error);
    wit_universe_list_change_random(choice, &v->delta);
    wit_universe_list_intent_random(choice, &v->intents);
    sample_bytes(choice, &v->state_sum);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->state_sum, 16);
        break;
    default:
        sample_length(&v->state_sum, 16);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_entry_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseEntry *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 16";
        sample_length(&v->state_sum, 16);
        return true;
    case 1:
        *refinement = "len(value) == 16";
        sample_length(&v->state_sum, 15);
        return false;
    case 2:
        *refinement = "len(value) == 16";
        sample_length(&v->state_sum, 17);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_entry, WitUniverseEntry)

static void wit_universe_dbi16_lease_key_random(Choice *choice, WitUniverseDbi16LeaseKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi16_lease_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi16LeaseKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi16_lease_key, WitUniverseDbi16LeaseKey)

static void wit_universe_dbi16_lease_value_random(Choice *choice, WitUniverseDbi16LeaseValue *v)
{
    sample_string(choice, &v->holder);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->holder, 128);
        break;
    case 1:
        sample_length(&v->holder, 127);
        break;
    default:
        sample_length(&v->holder, 128);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->nonce);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->nonce, 0);
        break;
    case 1:
        sample_length(&v->nonce, 16);
        break;
    default:
        sample_length(&v->nonce, 0);
        break;
    case 15:
        break;
    }
    v->epoch = (uint64_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->epoch = (uint64_t)UINT64_C(1);
        break;
    case 1:
        v->epoch = (uint64_t)UINT64_C(2);
        break;
    default:
        v->epoch = (uint64_t)UINT64_C(1);
        break;
    case 15:
        break;
    }
    v->unclean = choice_one_in(choice, 2);
}

static bool wit_universe_dbi16_lease_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi16LeaseValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) <= 128";
        sample_length(&v->holder, 128);
        return true;
    case 1:
        *refinement = "len(value) <= 128";
        sample_length(&v->holder, 127);
        return true;
    case 2:
        *refinement = "len(value) <= 128";
        sample_length(&v->holder, 129);
        return false;
    case 3:
        *refinement = "len(value) == 0 || len(value) == 16";
        sample_length(&v->nonce, 0);
        return true;
    case 4:
        *refinement = "len(value) == 0 || len(value) == 16";
        sample_length(&v->nonce, 1);
        return false;
    case 5:
        *refinement = "len(value) == 0 || len(value) == 16";
        sample_length(&v->nonce, 16);
        return true;
    case 6:
        *refinement = "len(value) == 0 || len(value) == 16";
        sample_length(&v->nonce, 15);
        return false;
    case 7:
        *refinement = "len(value) == 0 || len(value) == 16";
        sample_length(&v->nonce, 17);
        return false;
    case 8:
        *refinement = "value >= 1";
        v->epoch = (uint64_t)UINT64_C(1);
        return true;
    case 9:
        *refinement = "value >= 1";
        v->epoch = (uint64_t)UINT64_C(0);
        return false;
    case 10:
        *refinement = "value >= 1";
        v->epoch = (uint64_t)UINT64_C(2);
        return true;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi16_lease_value, WitUniverseDbi16LeaseValue)

static void wit_universe_module_ref_random(Choice *choice, WitUniverseModuleRef *v)
{
    sample_string(choice, &v->name);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->name, 1);
        break;
    case 1:
        sample_length(&v->name, 2);
        break;
    case 2:
        sample_length(&v->name, 128);
        break;
    case 3:
        sample_length(&v->name, 127);
        break;
    default:
        sample_length(&v->name, 1);
        break;
    case 15:
        break;
    }
    v->version = (uint64_t)sample_number(choice);
}

static bool wit_universe_module_ref_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseModuleRef *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_module_ref, WitUniverseModuleRef)

static void wit_universe_dbi17_sessions_key_random(Choice *choice, WitUniverseDbi17SessionsKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->worker);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->worker, 1);
        break;
    case 1:
        sample_length(&v->worker, 2);
        break;
    case 2:
        sample_length(&v->worker, 128);
        break;
    case 3:
        sample_length(&v->worker, 127);
        break;
    default:
        sample_length(&v->worker, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi17_sessions_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi17SessionsKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi17_sessions_key, WitUniverseDbi17SessionsKey)

static void wit_universe_list_module_ref_random(Choice *choice, WitUniverseListModuleRef *v)
{
    v->items = sample_items(choice, sizeof *v->items, &v->count);
    for (uint32_t i = 0; i < v->count; i++) {
        wit_universe_module_ref_random(choice, &v->items[i]);
    }
}

static void wit_universe_dbi17_sessions_value_random(Choice *choice, WitUniverseDbi17SessionsValue *v)
{
    sample_bytes(choice, &v->nonce);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->nonce, 16);
        break;
    default:
        sample_length(&v->nonce, 16);
        break;
    case 15:
        break;
    }
    v->expires_ns = (uint64_t)sample_number(choice);
    wit_universe_list_module_ref_random(choice, &v->modules);
}

static bool wit_universe_dbi17_sessions_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi17SessionsValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 16";
        sample_length(&v->nonce, 16);
        return true;
    case 1:
        *refinement = "len(value) == 16";
        sample_length(&v->nonce, 15);
        return false;
    case 2:
        *refinement = "len(value) == 16";
        sample_length(&v->nonce, 17);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi17_sessions_value, WitUniverseDbi17SessionsValue)

static void wit_universe_dbi18_held_key_random(Choice *choice, WitUniverseDbi18HeldKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_bytes(choice, &v->nonce);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->nonce, 16);
        break;
    default:
        sample_length(&v->nonce, 16);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi18_held_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi18HeldKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 16";
        sample_length(&v->nonce, 16);
        return true;
    case 1:
        *refinement = "len(value) == 16";
        sample_length(&v->nonce, 15);
        return false;
    case 2:
        *refinement = "len(value) == 16";
        sample_length(&v->nonce, 17);
        return false;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 6:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 7:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 8:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi18_held_key, WitUniverseDbi18HeldKey)

static void wit_universe_dbi18_held_value_random(Choice *choice, WitUniverseDbi18HeldValue *v)
{
    sample_bytes(choice, &v->value);
}

SAMPLE_TYPE(wit_universe_dbi18_held_value, WitUniverseDbi18HeldValue)

static void wit_universe_dbi19_head_key_random(Choice *choice, WitUniverseDbi19HeadKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi19_head_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi19HeadKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi19_head_key, WitUniverseDbi19HeadKey)

static void wit_universe_dbi19_head_value_random(Choice *choice, WitUniverseDbi19HeadValue *v)
{
    v->height = (uint64_t)sample_number(choice);
    sample_bytes(choice, &v->digest);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->digest, 32);
        break;
    default:
        sample_length(&v->digest, 32);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->state_sum);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->state_sum, 16);
        break;
    default:
        sample_length(&v->state_sum, 16);
        break;
    case 15:
        break;
    }
    v->time_ns = (uint64_t)sample_number(choice);
}

static bool wit_universe_dbi19_head_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi19HeadValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 32";
        sample_length(&v->digest, 32);
        return true;
    case 1:
        *refinement = "len(value) == 32";
        sample_length(&v->digest, 31);
        return false;
    case 2:
        *refinement = "len(value) == 32";
        sample_length(&v->digest, 33);
        return false;
    case 3:
        *refinement = "len(value) == 16";
        sample_length(&v->state_sum, 16);
        return true;
    case 4:
        *refinement = "len(value) == 16";
        sample_length(&v->state_sum, 15);
        return false;
    case 5:
        *refinement = "len(value) == 16";
        sample_length(&v->state_sum, 17);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi19_head_value, WitUniverseDbi19HeadValue)

static void wit_universe_dbi20_journal_key_random(Choice *choice, WitUniverseDbi20JournalKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
    v->height = (uint64_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->height = (uint64_t)UINT64_C(1);
        break;
    case 1:
        v->height = (uint64_t)UINT64_C(2);
        break;
    default:
        v->height = (uint64_t)UINT64_C(1);
        break;
    case 15:
        break;
    }
    v->part = (uint32_t)sample_number(choice);
}

static bool wit_universe_dbi20_journal_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi20JournalKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    case 6:
        *refinement = "value >= 1";
        v->height = (uint64_t)UINT64_C(1);
        return true;
    case 7:
        *refinement = "value >= 1";
        v->height = (uint64_t)UINT64_C(0);
        return false;
    case 8:
        *refinement = "value >= 1";
        v->height = (uint64_t)UINT64_C(2);
        return true;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi20_journal_key, WitUniverseDbi20JournalKey)

static void wit_universe_dbi20_journal_value_random(Choice *choice, WitUniverseDbi20JournalValue *v)
{
    v->epoch = (uint64_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->epoch = (uint64_t)UINT64_C(1);
        break;
    case 1:
        v->epoch = (uint64_t)UINT64_C(2);
        break;
    default:
        v->epoch = (uint64_t)UINT64_C(1);
        break;
    case 15:
        break;
    }
    v->parts = (uint32_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->parts = (uint32_t)UINT64_C(1);
        break;
    case 1:
        v->parts = (uint32_t)UINT64_C(2);
        break;
    default:
        v->parts = (uint32_t)UINT64_C(1);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->content);
    switch (choice_below(choice, 16)) {
    default:
        break;
    }
}

static bool wit_universe_dbi20_journal_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi20JournalValue *v = any;

    switch (i) {
    case 0:
        *refinement = "value >= 1";
        v->epoch = (uint64_t)UINT64_C(1);
        return true;
    case 1:
        *refinement = "value >= 1";
        v->epoch = (uint64_t)UINT64_C(0);
        return false;
    case 2:
        *refinement = "value >= 1";
        v->epoch = (uint64_t)UINT64_C(2);
        return true;
    case 3:
        *refinement = "value >= 1";
        v->parts = (uint32_t)UINT64_C(1);
        return true;
    case 4:
        *refinement = "value >= 1";
        v->parts = (uint32_t)UINT64_C(0);
        return false;
    case 5:
        *refinement = "value >= 1";
        v->parts = (uint32_t)UINT64_C(2);
        return true;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi20_journal_value, WitUniverseDbi20JournalValue)

static void wit_universe_item_class_random(Choice *choice, WitUniverseItemClass *v)
{
    *v = (WitUniverseItemClass)choice_below(choice, 3);
}

SAMPLE_TYPE(wit_universe_item_class, WitUniverseItemClass)

static void wit_universe_world_status_random(Choice *choice, WitUniverseWorldStatus *v)
{
    *v = (WitUniverseWorldStatus)choice_below(choice, 5);
}

SAMPLE_TYPE(wit_universe_world_status, WitUniverseWorldStatus)

static void wit_universe_dbi21_world_meta_key_random(Choice *choice, WitUniverseDbi21WorldMetaKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi21_world_meta_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi21WorldMetaKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi21_world_meta_key, WitUniverseDbi21WorldMetaKey)

static void wit_universe_dbi21_world_meta_value_random(Choice *choice, WitUniverseDbi21WorldMetaValue *v)
{
    sample_string(choice, &v->module);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->module, 1);
        break;
    case 1:
        sample_length(&v->module, 2);
        break;
    case 2:
        sample_length(&v->module, 128);
        break;
    case 3:
        sample_length(&v->module, 127);
        break;
    default:
        sample_length(&v->module, 1);
        break;
    case 15:
        break;
    }
    v->pin = (uint64_t)sample_number(choice);
    wit_universe_world_status_random(choice, &v->status);
    sample_string(choice, &v->reason);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->reason, 1024);
        break;
    case 1:
        sample_length(&v->reason, 1023);
        break;
    default:
        sample_length(&v->reason, 1024);
        break;
    case 15:
        break;
    }
    v->drained = choice_one_in(choice, 2);
    sample_bytes(choice, &v->seed);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->seed, 16);
        break;
    default:
        sample_length(&v->seed, 16);
        break;
    case 15:
        break;
    }
    v->born_height = (uint64_t)sample_number(choice);
    sample_bytes(choice, &v->born_digest);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->born_digest, 32);
        break;
    default:
        sample_length(&v->born_digest, 32);
        break;
    case 15:
        break;
    }
    v->created_ns = (uint64_t)sample_number(choice);
    sample_string(choice, &v->parent_world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->parent_world, 128);
        break;
    case 1:
        sample_length(&v->parent_world, 127);
        break;
    default:
        sample_length(&v->parent_world, 128);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->parent_snapshot);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->parent_snapshot, 0);
        break;
    case 1:
        sample_length(&v->parent_snapshot, 32);
        break;
    default:
        sample_length(&v->parent_snapshot, 0);
        break;
    case 15:
        break;
    }
    v->forked_at = (uint64_t)sample_number(choice);
    wit_universe_item_class_random(choice, &v->failed_class);
    sample_bytes(choice, &v->failed_seq);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->failed_seq, 0);
        break;
    case 1:
        sample_length(&v->failed_seq, 32);
        break;
    default:
        sample_length(&v->failed_seq, 0);
        break;
    case 15:
        break;
    }
    v->failed_version = (uint64_t)sample_number(choice);
}

static bool wit_universe_dbi21_world_meta_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi21WorldMetaValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->module, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->module, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->module, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->module, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->module, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->module, 129);
        return false;
    case 6:
        *refinement = "len(value) <= 1024";
        sample_length(&v->reason, 1024);
        return true;
    case 7:
        *refinement = "len(value) <= 1024";
        sample_length(&v->reason, 1023);
        return true;
    case 8:
        *refinement = "len(value) <= 1024";
        sample_length(&v->reason, 1025);
        return false;
    case 9:
        *refinement = "len(value) == 16";
        sample_length(&v->seed, 16);
        return true;
    case 10:
        *refinement = "len(value) == 16";
        sample_length(&v->seed, 15);
        return false;
    case 11:
        *refinement = "len(value) == 16";
        sample_length(&v->seed, 17);
        return false;
    case 12:
        *refinement = "len(value) == 32";
        sample_length(&v->born_digest, 32);
        return true;
    case 13:
        *refinement = "len(value) == 32";
        sample_length(&v->born_digest, 31);
        return false;
    case 14:
        *refinement = "len(value) == 32";
        sample_length(&v->born_digest, 33);
        return false;
    case 15:
        *refinement = "len(value) <= 128";
        sample_length(&v->parent_world, 128);
        return true;
    case 16:
        *refinement = "len(value) <= 128";
        sample_length(&v->parent_world, 127);
        return true;
    case 17:
        *refinement = "len(value) <= 128";
        sample_length(&v->parent_world, 129);
        return false;
    case 18:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->parent_snapshot, 0);
        return true;
    case 19:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->parent_snapshot, 1);
        return false;
    case 20:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->parent_snapshot, 32);
        return true;
    case 21:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->parent_snapshot, 31);
        return false;
    case 22:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->parent_snapshot, 33);
        return false;
    case 23:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->failed_seq, 0);
        return true;
    case 24:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->failed_seq, 1);
        return false;
    case 25:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->failed_seq, 32);
        return true;
    case 26:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->failed_seq, 31);
        return false;
    case 27:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->failed_seq, 33);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi21_world_meta_value, WitUniverseDbi21WorldMetaValue)

static void wit_universe_dbi22_assignment_key_random(Choice *choice, WitUniverseDbi22AssignmentKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi22_assignment_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi22AssignmentKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi22_assignment_key, WitUniverseDbi22AssignmentKey)

static void wit_universe_dbi22_assignment_value_random(Choice *choice, WitUniverseDbi22AssignmentValue *v)
{
    sample_string(choice, &v->worker);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->worker, 128);
        break;
    case 1:
        sample_length(&v->worker, 127);
        break;
    default:
        sample_length(&v->worker, 128);
        break;
    case 15:
        break;
    }
    v->priority = (uint8_t)sample_number(choice);
    sample_string(choice, &v->reason);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->reason, 1024);
        break;
    case 1:
        sample_length(&v->reason, 1023);
        break;
    default:
        sample_length(&v->reason, 1024);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi22_assignment_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi22AssignmentValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) <= 128";
        sample_length(&v->worker, 128);
        return true;
    case 1:
        *refinement = "len(value) <= 128";
        sample_length(&v->worker, 127);
        return true;
    case 2:
        *refinement = "len(value) <= 128";
        sample_length(&v->worker, 129);
        return false;
    case 3:
        *refinement = "len(value) <= 1024";
        sample_length(&v->reason, 1024);
        return true;
    case 4:
        *refinement = "len(value) <= 1024";
        sample_length(&v->reason, 1023);
        return true;
    case 5:
        *refinement = "len(value) <= 1024";
        sample_length(&v->reason, 1025);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi22_assignment_value, WitUniverseDbi22AssignmentValue)

static void wit_universe_dbi23_assigned_key_random(Choice *choice, WitUniverseDbi23AssignedKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->worker);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->worker, 1);
        break;
    case 1:
        sample_length(&v->worker, 2);
        break;
    case 2:
        sample_length(&v->worker, 128);
        break;
    case 3:
        sample_length(&v->worker, 127);
        break;
    default:
        sample_length(&v->worker, 1);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi23_assigned_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi23AssignedKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 129);
        return false;
    case 6:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 7:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 8:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 9:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 10:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 11:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi23_assigned_key, WitUniverseDbi23AssignedKey)

static void wit_universe_dbi23_assigned_value_random(Choice *choice, WitUniverseDbi23AssignedValue *v)
{
    sample_bytes(choice, &v->value);
}

SAMPLE_TYPE(wit_universe_dbi23_assigned_value, WitUniverseDbi23AssignedValue)

static void wit_universe_dbi24_world_inbox_key_random(Choice *choice, WitUniverseDbi24WorldInboxKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
    wit_universe_item_class_random(choice, &v->class);
    sample_bytes(choice, &v->seq);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->seq, 32);
        break;
    default:
        sample_length(&v->seq, 32);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi24_world_inbox_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi24WorldInboxKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    case 6:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 32);
        return true;
    case 7:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 31);
        return false;
    case 8:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 33);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi24_world_inbox_key, WitUniverseDbi24WorldInboxKey)

static void wit_universe_dbi24_world_inbox_value_random(Choice *choice, WitUniverseDbi24WorldInboxValue *v)
{
    wit_universe_inbox_item_random(choice, &v->item);
}

SAMPLE_TYPE(wit_universe_dbi24_world_inbox_value, WitUniverseDbi24WorldInboxValue)

static void wit_universe_dbi25_idem_key_random(Choice *choice, WitUniverseDbi25IdemKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->id);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->id, 1);
        break;
    case 1:
        sample_length(&v->id, 2);
        break;
    case 2:
        sample_length(&v->id, 256);
        break;
    case 3:
        sample_length(&v->id, 255);
        break;
    default:
        sample_length(&v->id, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi25_idem_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi25IdemKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    case 6:
        *refinement = "len(value) >= 1 && len(value) <= 256";
        sample_length(&v->id, 1);
        return true;
    case 7:
        *refinement = "len(value) >= 1 && len(value) <= 256";
        sample_length(&v->id, 0);
        return false;
    case 8:
        *refinement = "len(value) >= 1 && len(value) <= 256";
        sample_length(&v->id, 2);
        return true;
    case 9:
        *refinement = "len(value) >= 1 && len(value) <= 256";
        sample_length(&v->id, 256);
        return true;
    case 10:
        *refinement = "len(value) >= 1 && len(value) <= 256";
        sample_length(&v->id, 255);
        return true;
    case 11:
        *refinement = "len(value) >= 1 && len(value) <= 256";
        sample_length(&v->id, 257);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi25_idem_key, WitUniverseDbi25IdemKey)

static void wit_universe_dbi25_idem_value_random(Choice *choice, WitUniverseDbi25IdemValue *v)
{
    sample_bytes(choice, &v->seq);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->seq, 32);
        break;
    default:
        sample_length(&v->seq, 32);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->hash);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->hash, 32);
        break;
    default:
        sample_length(&v->hash, 32);
        break;
    case 15:
        break;
    }
    v->expires_ns = (uint64_t)sample_number(choice);
}

static bool wit_universe_dbi25_idem_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi25IdemValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 32);
        return true;
    case 1:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 31);
        return false;
    case 2:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 33);
        return false;
    case 3:
        *refinement = "len(value) == 32";
        sample_length(&v->hash, 32);
        return true;
    case 4:
        *refinement = "len(value) == 32";
        sample_length(&v->hash, 31);
        return false;
    case 5:
        *refinement = "len(value) == 32";
        sample_length(&v->hash, 33);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi25_idem_value, WitUniverseDbi25IdemValue)

static void wit_universe_dbi26_reply_key_random(Choice *choice, WitUniverseDbi26ReplyKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->id);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->id, 1);
        break;
    case 1:
        sample_length(&v->id, 2);
        break;
    case 2:
        sample_length(&v->id, 256);
        break;
    case 3:
        sample_length(&v->id, 255);
        break;
    default:
        sample_length(&v->id, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi26_reply_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi26ReplyKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    case 6:
        *refinement = "len(value) >= 1 && len(value) <= 256";
        sample_length(&v->id, 1);
        return true;
    case 7:
        *refinement = "len(value) >= 1 && len(value) <= 256";
        sample_length(&v->id, 0);
        return false;
    case 8:
        *refinement = "len(value) >= 1 && len(value) <= 256";
        sample_length(&v->id, 2);
        return true;
    case 9:
        *refinement = "len(value) >= 1 && len(value) <= 256";
        sample_length(&v->id, 256);
        return true;
    case 10:
        *refinement = "len(value) >= 1 && len(value) <= 256";
        sample_length(&v->id, 255);
        return true;
    case 11:
        *refinement = "len(value) >= 1 && len(value) <= 256";
        sample_length(&v->id, 257);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi26_reply_key, WitUniverseDbi26ReplyKey)

static void wit_universe_dbi26_reply_value_random(Choice *choice, WitUniverseDbi26ReplyValue *v)
{
    wit_universe_receipt_status_random(choice, &v->status);
    wit_universe_encoding_random(choice, &v->encoding);
    sample_bytes(choice, &v->payload);
    v->height = (uint64_t)sample_number(choice);
    v->expires_ns = (uint64_t)sample_number(choice);
}

SAMPLE_TYPE(wit_universe_dbi26_reply_value, WitUniverseDbi26ReplyValue)

static void wit_universe_dbi27_attempt_key_random(Choice *choice, WitUniverseDbi27AttemptKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi27_attempt_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi27AttemptKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi27_attempt_key, WitUniverseDbi27AttemptKey)

static void wit_universe_dbi27_attempt_value_random(Choice *choice, WitUniverseDbi27AttemptValue *v)
{
    sample_bytes(choice, &v->seq);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->seq, 32);
        break;
    default:
        sample_length(&v->seq, 32);
        break;
    case 15:
        break;
    }
    v->count = (uint32_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->count = (uint32_t)UINT64_C(1);
        break;
    case 1:
        v->count = (uint32_t)UINT64_C(2);
        break;
    default:
        v->count = (uint32_t)UINT64_C(1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi27_attempt_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi27AttemptValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 32);
        return true;
    case 1:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 31);
        return false;
    case 2:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 33);
        return false;
    case 3:
        *refinement = "value >= 1";
        v->count = (uint32_t)UINT64_C(1);
        return true;
    case 4:
        *refinement = "value >= 1";
        v->count = (uint32_t)UINT64_C(0);
        return false;
    case 5:
        *refinement = "value >= 1";
        v->count = (uint32_t)UINT64_C(2);
        return true;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi27_attempt_value, WitUniverseDbi27AttemptValue)

static void wit_universe_dbi28_world_dlq_key_random(Choice *choice, WitUniverseDbi28WorldDlqKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
    v->height = (uint64_t)sample_number(choice);
    sample_bytes(choice, &v->seq);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->seq, 32);
        break;
    default:
        sample_length(&v->seq, 32);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi28_world_dlq_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi28WorldDlqKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    case 6:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 32);
        return true;
    case 7:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 31);
        return false;
    case 8:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 33);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi28_world_dlq_key, WitUniverseDbi28WorldDlqKey)

static void wit_universe_dbi28_world_dlq_value_random(Choice *choice, WitUniverseDbi28WorldDlqValue *v)
{
    wit_universe_inbox_item_random(choice, &v->item);
    sample_string(choice, &v->error);
    v->attempts = (uint32_t)sample_number(choice);
    v->at_ns = (uint64_t)sample_number(choice);
    wit_universe_item_class_random(choice, &v->class);
    v->journaled = choice_one_in(choice, 2);
}

SAMPLE_TYPE(wit_universe_dbi28_world_dlq_value, WitUniverseDbi28WorldDlqValue)

static void wit_universe_dbi29_fabric_dedupe_key_random(Choice *choice, WitUniverseDbi29FabricDedupeKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->hash);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->hash, 32);
        break;
    default:
        sample_length(&v->hash, 32);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi29_fabric_dedupe_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi29FabricDedupeKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    case 6:
        *refinement = "len(value) == 32";
        sample_length(&v->hash, 32);
        return true;
    case 7:
        *refinement = "len(value) == 32";
        sample_length(&v->hash, 31);
        return false;
    case 8:
        *refinement = "len(value) == 32";
        sample_length(&v->hash, 33);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi29_fabric_dedupe_key, WitUniverseDbi29FabricDedupeKey)

static void wit_universe_dbi29_fabric_dedupe_value_random(Choice *choice, WitUniverseDbi29FabricDedupeValue *v)
{
    sample_bytes(choice, &v->seq);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->seq, 32);
        break;
    default:
        sample_length(&v->seq, 32);
        break;
    case 15:
        break;
    }
    v->expires_ns = (uint64_t)sample_number(choice);
}

static bool wit_universe_dbi29_fabric_dedupe_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi29FabricDedupeValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 32);
        return true;
    case 1:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 31);
        return false;
    case 2:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 33);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi29_fabric_dedupe_value, WitUniverseDbi29FabricDedupeValue)

static void wit_universe_dbi30_snapshot_key_random(Choice *choice, WitUniverseDbi30SnapshotKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
    v->height = (uint64_t)sample_number(choice);
}

static bool wit_universe_dbi30_snapshot_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi30SnapshotKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi30_snapshot_key, WitUniverseDbi30SnapshotKey)

static void wit_universe_dbi30_snapshot_value_random(Choice *choice, WitUniverseDbi30SnapshotValue *v)
{
    sample_bytes(choice, &v->root);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->root, 32);
        break;
    default:
        sample_length(&v->root, 32);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->digest);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->digest, 32);
        break;
    default:
        sample_length(&v->digest, 32);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->state_sum);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->state_sum, 16);
        break;
    default:
        sample_length(&v->state_sum, 16);
        break;
    case 15:
        break;
    }
    v->time_ns = (uint64_t)sample_number(choice);
    v->state_bytes = (uint64_t)sample_number(choice);
}

static bool wit_universe_dbi30_snapshot_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi30SnapshotValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 32";
        sample_length(&v->root, 32);
        return true;
    case 1:
        *refinement = "len(value) == 32";
        sample_length(&v->root, 31);
        return false;
    case 2:
        *refinement = "len(value) == 32";
        sample_length(&v->root, 33);
        return false;
    case 3:
        *refinement = "len(value) == 32";
        sample_length(&v->digest, 32);
        return true;
    case 4:
        *refinement = "len(value) == 32";
        sample_length(&v->digest, 31);
        return false;
    case 5:
        *refinement = "len(value) == 32";
        sample_length(&v->digest, 33);
        return false;
    case 6:
        *refinement = "len(value) == 16";
        sample_length(&v->state_sum, 16);
        return true;
    case 7:
        *refinement = "len(value) == 16";
        sample_length(&v->state_sum, 15);
        return false;
    case 8:
        *refinement = "len(value) == 16";
        sample_length(&v->state_sum, 17);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi30_snapshot_value, WitUniverseDbi30SnapshotValue)

static void wit_universe_dbi31_baseline_key_random(Choice *choice, WitUniverseDbi31BaselineKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi31_baseline_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi31BaselineKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi31_baseline_key, WitUniverseDbi31BaselineKey)

static void wit_universe_dbi31_baseline_value_random(Choice *choice, WitUniverseDbi31BaselineValue *v)
{
    sample_string(choice, &v->owner);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->owner, 1);
        break;
    case 1:
        sample_length(&v->owner, 2);
        break;
    case 2:
        sample_length(&v->owner, 128);
        break;
    case 3:
        sample_length(&v->owner, 127);
        break;
    default:
        sample_length(&v->owner, 1);
        break;
    case 15:
        break;
    }
    v->height = (uint64_t)sample_number(choice);
}

static bool wit_universe_dbi31_baseline_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi31BaselineValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->owner, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->owner, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->owner, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->owner, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->owner, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->owner, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi31_baseline_value, WitUniverseDbi31BaselineValue)

static void wit_universe_dbi32_pins_key_random(Choice *choice, WitUniverseDbi32PinsKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->sha256);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->sha256, 32);
        break;
    default:
        sample_length(&v->sha256, 32);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi32_pins_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi32PinsKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    case 6:
        *refinement = "len(value) == 32";
        sample_length(&v->sha256, 32);
        return true;
    case 7:
        *refinement = "len(value) == 32";
        sample_length(&v->sha256, 31);
        return false;
    case 8:
        *refinement = "len(value) == 32";
        sample_length(&v->sha256, 33);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi32_pins_key, WitUniverseDbi32PinsKey)

static void wit_universe_dbi32_pins_value_random(Choice *choice, WitUniverseDbi32PinsValue *v)
{
    v->height = (uint64_t)sample_number(choice);
}

SAMPLE_TYPE(wit_universe_dbi32_pins_value, WitUniverseDbi32PinsValue)

static void wit_universe_dbi33_segments_key_random(Choice *choice, WitUniverseDbi33SegmentsKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
    v->end = (uint64_t)sample_number(choice);
}

static bool wit_universe_dbi33_segments_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi33SegmentsKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi33_segments_key, WitUniverseDbi33SegmentsKey)

static void wit_universe_dbi33_segments_value_random(Choice *choice, WitUniverseDbi33SegmentsValue *v)
{
    v->begin = (uint64_t)sample_number(choice);
    sample_bytes(choice, &v->blob);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->blob, 32);
        break;
    default:
        sample_length(&v->blob, 32);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi33_segments_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi33SegmentsValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 32";
        sample_length(&v->blob, 32);
        return true;
    case 1:
        *refinement = "len(value) == 32";
        sample_length(&v->blob, 31);
        return false;
    case 2:
        *refinement = "len(value) == 32";
        sample_length(&v->blob, 33);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi33_segments_value, WitUniverseDbi33SegmentsValue)

static void wit_universe_effect_random(Choice *choice, WitUniverseEffect *v)
{
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
    v->height = (uint64_t)sample_number(choice);
    sample_bytes(choice, &v->intent_hash);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->intent_hash, 32);
        break;
    default:
        sample_length(&v->intent_hash, 32);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->kind);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->kind, 1);
        break;
    case 1:
        sample_length(&v->kind, 2);
        break;
    case 2:
        sample_length(&v->kind, 128);
        break;
    case 3:
        sample_length(&v->kind, 127);
        break;
    default:
        sample_length(&v->kind, 1);
        break;
    case 15:
        break;
    }
    wit_universe_encoding_random(choice, &v->encoding);
    sample_bytes(choice, &v->params);
    sample_bytes(choice, &v->blob);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->blob, 0);
        break;
    case 1:
        sample_length(&v->blob, 32);
        break;
    default:
        sample_length(&v->blob, 0);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->origin_name);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->origin_name, 128);
        break;
    case 1:
        sample_length(&v->origin_name, 127);
        break;
    default:
        sample_length(&v->origin_name, 128);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->policy_context_hash);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->policy_context_hash, 32);
        break;
    default:
        sample_length(&v->policy_context_hash, 32);
        break;
    case 15:
        break;
    }
    v->enqueued_at_ns = (uint64_t)sample_number(choice);
    wit_universe_retry_random(choice, &v->retry);
    v->attempt = (uint32_t)sample_number(choice);
    wit_universe_list_effect_attempt_random(choice, &v->attempts);
    sample_string(choice, &v->correlation_id);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->correlation_id, 256);
        break;
    case 1:
        sample_length(&v->correlation_id, 255);
        break;
    default:
        sample_length(&v->correlation_id, 256);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->trace_parent);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->trace_parent, 128);
        break;
    case 1:
        sample_length(&v->trace_parent, 127);
        break;
    default:
        sample_length(&v->trace_parent, 128);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_effect_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseEffect *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    case 6:
        *refinement = "len(value) == 32";
        sample_length(&v->intent_hash, 32);
        return true;
    case 7:
        *refinement = "len(value) == 32";
        sample_length(&v->intent_hash, 31);
        return false;
    case 8:
        *refinement = "len(value) == 32";
        sample_length(&v->intent_hash, 33);
        return false;
    case 9:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 1);
        return true;
    case 10:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 0);
        return false;
    case 11:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 2);
        return true;
    case 12:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 128);
        return true;
    case 13:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 127);
        return true;
    case 14:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 129);
        return false;
    case 15:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->blob, 0);
        return true;
    case 16:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->blob, 1);
        return false;
    case 17:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->blob, 32);
        return true;
    case 18:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->blob, 31);
        return false;
    case 19:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->blob, 33);
        return false;
    case 20:
        *refinement = "len(value) <= 128";
        sample_length(&v->origin_name, 128);
        return true;
    case 21:
        *refinement = "len(value) <= 128";
        sample_length(&v->origin_name, 127);
        return true;
    case 22:
        *refinement = "len(value) <= 128";
        sample_length(&v->origin_name, 129);
        return false;
    case 23:
        *refinement = "len(value) == 32";
        sample_length(&v->policy_context_hash, 32);
        return true;
    case 24:
        *refinement = "len(value) == 32";
        sample_length(&v->policy_context_hash, 31);
        return false;
    case 25:
        *refinement = "len(value) == 32";
        sample_length(&v->policy_context_hash, 33);
        return false;
    case 26:
        *refinement = "len(value) <= 256";
        sample_length(&v->correlation_id, 256);
        return true;
    case 27:
        *refinement = "len(value) <= 256";
        sample_length(&v->correlation_id, 255);
        return true;
    case 28:
        *refinement = "len(value) <= 256";
        sample_length(&v->correlation_id, 257);
        return false;
    case 29:
        *refinement = "len(value) <= 128";
        sample_length(&v->trace_parent, 128);
        return true;
    case 30:
        *refinement = "len(value) <= 128";
        sample_length(&v->trace_parent, 127);
        return true;
    case 31:
        *refinement = "len(value) <= 128";
        sample_length(&v->trace_parent, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_effect, WitUniverseEffect)

static void wit_universe_dbi34_effects_pending_key_random(Choice *choice, WitUniverseDbi34EffectsPendingKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    v->shard = (uint8_t)sample_number(choice);
    sample_string(choice, &v->kind);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->kind, 1);
        break;
    case 1:
        sample_length(&v->kind, 2);
        break;
    case 2:
        sample_length(&v->kind, 128);
        break;
    case 3:
        sample_length(&v->kind, 127);
        break;
    default:
        sample_length(&v->kind, 1);
        break;
    case 15:
        break;
    }
    v->due_ns = (uint64_t)sample_number(choice);
    sample_bytes(choice, &v->seq);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->seq, 32);
        break;
    default:
        sample_length(&v->seq, 32);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi34_effects_pending_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi34EffectsPendingKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 129);
        return false;
    case 6:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 32);
        return true;
    case 7:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 31);
        return false;
    case 8:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 33);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi34_effects_pending_key, WitUniverseDbi34EffectsPendingKey)

static void wit_universe_dbi34_effects_pending_value_random(Choice *choice, WitUniverseDbi34EffectsPendingValue *v)
{
    wit_universe_effect_random(choice, &v->effect);
}

SAMPLE_TYPE(wit_universe_dbi34_effects_pending_value, WitUniverseDbi34EffectsPendingValue)

static void wit_universe_dbi35_effects_inflight_key_random(Choice *choice, WitUniverseDbi35EffectsInflightKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    v->shard = (uint8_t)sample_number(choice);
    sample_bytes(choice, &v->seq);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->seq, 32);
        break;
    default:
        sample_length(&v->seq, 32);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi35_effects_inflight_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi35EffectsInflightKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 32);
        return true;
    case 1:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 31);
        return false;
    case 2:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 33);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi35_effects_inflight_key, WitUniverseDbi35EffectsInflightKey)

static void wit_universe_dbi35_effects_inflight_value_random(Choice *choice, WitUniverseDbi35EffectsInflightValue *v)
{
    wit_universe_effect_random(choice, &v->effect);
    sample_bytes(choice, &v->token);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->token, 16);
        break;
    default:
        sample_length(&v->token, 16);
        break;
    case 15:
        break;
    }
    v->claimed_ns = (uint64_t)sample_number(choice);
    v->deadline_ns = (uint64_t)sample_number(choice);
    wit_universe_retry_random(choice, &v->policy);
    v->at_most_once = choice_one_in(choice, 2);
    sample_string(choice, &v->worker);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->worker, 1);
        break;
    case 1:
        sample_length(&v->worker, 2);
        break;
    case 2:
        sample_length(&v->worker, 128);
        break;
    case 3:
        sample_length(&v->worker, 127);
        break;
    default:
        sample_length(&v->worker, 1);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->nonce);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->nonce, 16);
        break;
    default:
        sample_length(&v->nonce, 16);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi35_effects_inflight_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi35EffectsInflightValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 16";
        sample_length(&v->token, 16);
        return true;
    case 1:
        *refinement = "len(value) == 16";
        sample_length(&v->token, 15);
        return false;
    case 2:
        *refinement = "len(value) == 16";
        sample_length(&v->token, 17);
        return false;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 1);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 0);
        return false;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 2);
        return true;
    case 6:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 128);
        return true;
    case 7:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 127);
        return true;
    case 8:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 129);
        return false;
    case 9:
        *refinement = "len(value) == 16";
        sample_length(&v->nonce, 16);
        return true;
    case 10:
        *refinement = "len(value) == 16";
        sample_length(&v->nonce, 15);
        return false;
    case 11:
        *refinement = "len(value) == 16";
        sample_length(&v->nonce, 17);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi35_effects_inflight_value, WitUniverseDbi35EffectsInflightValue)

static void wit_universe_dispatch_status_random(Choice *choice, WitUniverseDispatchStatus *v)
{
    *v = (WitUniverseDispatchStatus)choice_below(choice, 4);
}

SAMPLE_TYPE(wit_universe_dispatch_status, WitUniverseDispatchStatus)

static void wit_universe_dbi36_effects_dedupe_key_random(Choice *choice, WitUniverseDbi36EffectsDedupeKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_bytes(choice, &v->intent_hash);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->intent_hash, 32);
        break;
    default:
        sample_length(&v->intent_hash, 32);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi36_effects_dedupe_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi36EffectsDedupeKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 32";
        sample_length(&v->intent_hash, 32);
        return true;
    case 1:
        *refinement = "len(value) == 32";
        sample_length(&v->intent_hash, 31);
        return false;
    case 2:
        *refinement = "len(value) == 32";
        sample_length(&v->intent_hash, 33);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi36_effects_dedupe_key, WitUniverseDbi36EffectsDedupeKey)

static void wit_universe_dbi36_effects_dedupe_value_random(Choice *choice, WitUniverseDbi36EffectsDedupeValue *v)
{
    wit_universe_dispatch_status_random(choice, &v->status);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
    v->table = (uint32_t)sample_number(choice);
    sample_bytes(choice, &v->key);
}

static bool wit_universe_dbi36_effects_dedupe_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi36EffectsDedupeValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi36_effects_dedupe_value, WitUniverseDbi36EffectsDedupeValue)

static void wit_universe_timer_use_random(Choice *choice, WitUniverseTimerUse *v)
{
    *v = (WitUniverseTimerUse)choice_below(choice, 3);
}

SAMPLE_TYPE(wit_universe_timer_use, WitUniverseTimerUse)

static void wit_universe_dbi37_timers_due_key_random(Choice *choice, WitUniverseDbi37TimersDueKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    v->shard = (uint8_t)sample_number(choice);
    wit_universe_timer_clock_random(choice, &v->clock);
    v->deliver_at_ns = (uint64_t)sample_number(choice);
    sample_bytes(choice, &v->intent_hash);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->intent_hash, 32);
        break;
    default:
        sample_length(&v->intent_hash, 32);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi37_timers_due_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi37TimersDueKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 32";
        sample_length(&v->intent_hash, 32);
        return true;
    case 1:
        *refinement = "len(value) == 32";
        sample_length(&v->intent_hash, 31);
        return false;
    case 2:
        *refinement = "len(value) == 32";
        sample_length(&v->intent_hash, 33);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi37_timers_due_key, WitUniverseDbi37TimersDueKey)

static void wit_universe_dbi37_timers_due_value_random(Choice *choice, WitUniverseDbi37TimersDueValue *v)
{
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
    v->height = (uint64_t)sample_number(choice);
    sample_string(choice, &v->ref);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->ref, 128);
        break;
    case 1:
        sample_length(&v->ref, 127);
        break;
    default:
        sample_length(&v->ref, 128);
        break;
    case 15:
        break;
    }
    wit_universe_encoding_random(choice, &v->encoding);
    sample_bytes(choice, &v->payload);
    wit_universe_timer_use_random(choice, &v->use);
    sample_string(choice, &v->correlation_id);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->correlation_id, 256);
        break;
    case 1:
        sample_length(&v->correlation_id, 255);
        break;
    default:
        sample_length(&v->correlation_id, 256);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->trace_parent);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->trace_parent, 128);
        break;
    case 1:
        sample_length(&v->trace_parent, 127);
        break;
    default:
        sample_length(&v->trace_parent, 128);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi37_timers_due_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi37TimersDueValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    case 6:
        *refinement = "len(value) <= 128";
        sample_length(&v->ref, 128);
        return true;
    case 7:
        *refinement = "len(value) <= 128";
        sample_length(&v->ref, 127);
        return true;
    case 8:
        *refinement = "len(value) <= 128";
        sample_length(&v->ref, 129);
        return false;
    case 9:
        *refinement = "len(value) <= 256";
        sample_length(&v->correlation_id, 256);
        return true;
    case 10:
        *refinement = "len(value) <= 256";
        sample_length(&v->correlation_id, 255);
        return true;
    case 11:
        *refinement = "len(value) <= 256";
        sample_length(&v->correlation_id, 257);
        return false;
    case 12:
        *refinement = "len(value) <= 128";
        sample_length(&v->trace_parent, 128);
        return true;
    case 13:
        *refinement = "len(value) <= 128";
        sample_length(&v->trace_parent, 127);
        return true;
    case 14:
        *refinement = "len(value) <= 128";
        sample_length(&v->trace_parent, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi37_timers_due_value, WitUniverseDbi37TimersDueValue)

static void wit_universe_dbi38_timers_dedupe_key_random(Choice *choice, WitUniverseDbi38TimersDedupeKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_bytes(choice, &v->intent_hash);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->intent_hash, 32);
        break;
    default:
        sample_length(&v->intent_hash, 32);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi38_timers_dedupe_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi38TimersDedupeKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 32";
        sample_length(&v->intent_hash, 32);
        return true;
    case 1:
        *refinement = "len(value) == 32";
        sample_length(&v->intent_hash, 31);
        return false;
    case 2:
        *refinement = "len(value) == 32";
        sample_length(&v->intent_hash, 33);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi38_timers_dedupe_key, WitUniverseDbi38TimersDedupeKey)

static void wit_universe_dbi38_timers_dedupe_value_random(Choice *choice, WitUniverseDbi38TimersDedupeValue *v)
{
    sample_bytes(choice, &v->key);
}

SAMPLE_TYPE(wit_universe_dbi38_timers_dedupe_value, WitUniverseDbi38TimersDedupeValue)

static void wit_universe_dbi39_ready_key_random(Choice *choice, WitUniverseDbi39ReadyKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    v->shard = (uint8_t)sample_number(choice);
    v->priority = (uint8_t)sample_number(choice);
    sample_bytes(choice, &v->seq);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->seq, 32);
        break;
    default:
        sample_length(&v->seq, 32);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi39_ready_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi39ReadyKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 32);
        return true;
    case 1:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 31);
        return false;
    case 2:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 33);
        return false;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 6:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 7:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 8:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi39_ready_key, WitUniverseDbi39ReadyKey)

static void wit_universe_dbi39_ready_value_random(Choice *choice, WitUniverseDbi39ReadyValue *v)
{
    sample_bytes(choice, &v->value);
}

SAMPLE_TYPE(wit_universe_dbi39_ready_value, WitUniverseDbi39ReadyValue)

static void wit_universe_dbi40_rolelease_key_random(Choice *choice, WitUniverseDbi40RoleleaseKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->role);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->role, 1);
        break;
    case 1:
        sample_length(&v->role, 2);
        break;
    case 2:
        sample_length(&v->role, 128);
        break;
    case 3:
        sample_length(&v->role, 127);
        break;
    default:
        sample_length(&v->role, 1);
        break;
    case 15:
        break;
    }
    v->shard = (uint8_t)sample_number(choice);
}

static bool wit_universe_dbi40_rolelease_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi40RoleleaseKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->role, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->role, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->role, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->role, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->role, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->role, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi40_rolelease_key, WitUniverseDbi40RoleleaseKey)

static void wit_universe_dbi40_rolelease_value_random(Choice *choice, WitUniverseDbi40RoleleaseValue *v)
{
    sample_string(choice, &v->holder);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->holder, 128);
        break;
    case 1:
        sample_length(&v->holder, 127);
        break;
    default:
        sample_length(&v->holder, 128);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->nonce);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->nonce, 0);
        break;
    case 1:
        sample_length(&v->nonce, 16);
        break;
    default:
        sample_length(&v->nonce, 0);
        break;
    case 15:
        break;
    }
    v->epoch = (uint64_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->epoch = (uint64_t)UINT64_C(1);
        break;
    case 1:
        v->epoch = (uint64_t)UINT64_C(2);
        break;
    default:
        v->epoch = (uint64_t)UINT64_C(1);
        break;
    case 15:
        break;
    }
    v->unclean = choice_one_in(choice, 2);
}

static bool wit_universe_dbi40_rolelease_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi40RoleleaseValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) <= 128";
        sample_length(&v->holder, 128);
        return true;
    case 1:
        *refinement = "len(value) <= 128";
        sample_length(&v->holder, 127);
        return true;
    case 2:
        *refinement = "len(value) <= 128";
        sample_length(&v->holder, 129);
        return false;
    case 3:
        *refinement = "len(value) == 0 || len(value) == 16";
        sample_length(&v->nonce, 0);
        return true;
    case 4:
        *refinement = "len(value) == 0 || len(value) == 16";
        sample_length(&v->nonce, 1);
        return false;
    case 5:
        *refinement = "len(value) == 0 || len(value) == 16";
        sample_length(&v->nonce, 16);
        return true;
    case 6:
        *refinement = "len(value) == 0 || len(value) == 16";
        sample_length(&v->nonce, 15);
        return false;
    case 7:
        *refinement = "len(value) == 0 || len(value) == 16";
        sample_length(&v->nonce, 17);
        return false;
    case 8:
        *refinement = "value >= 1";
        v->epoch = (uint64_t)UINT64_C(1);
        return true;
    case 9:
        *refinement = "value >= 1";
        v->epoch = (uint64_t)UINT64_C(0);
        return false;
    case 10:
        *refinement = "value >= 1";
        v->epoch = (uint64_t)UINT64_C(2);
        return true;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi40_rolelease_value, WitUniverseDbi40RoleleaseValue)

static void wit_universe_dbi41_expiry_key_random(Choice *choice, WitUniverseDbi41ExpiryKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    v->at_ns = (uint64_t)sample_number(choice);
    sample_bytes(choice, &v->seq);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->seq, 32);
        break;
    default:
        sample_length(&v->seq, 32);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi41_expiry_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi41ExpiryKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 32);
        return true;
    case 1:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 31);
        return false;
    case 2:
        *refinement = "len(value) == 32";
        sample_length(&v->seq, 33);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi41_expiry_key, WitUniverseDbi41ExpiryKey)

static void wit_universe_dbi41_expiry_value_random(Choice *choice, WitUniverseDbi41ExpiryValue *v)
{
    v->table = (uint32_t)sample_number(choice);
    sample_bytes(choice, &v->key);
}

SAMPLE_TYPE(wit_universe_dbi41_expiry_value, WitUniverseDbi41ExpiryValue)

static void wit_universe_dbi42_promises_key_random(Choice *choice, WitUniverseDbi42PromisesKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_bytes(choice, &v->id);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->id, 32);
        break;
    default:
        sample_length(&v->id, 32);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi42_promises_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi42PromisesKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 32";
        sample_length(&v->id, 32);
        return true;
    case 1:
        *refinement = "len(value) == 32";
        sample_length(&v->id, 31);
        return false;
    case 2:
        *refinement = "len(value) == 32";
        sample_length(&v->id, 33);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi42_promises_key, WitUniverseDbi42PromisesKey)

static void wit_universe_dbi42_promises_value_random(Choice *choice, WitUniverseDbi42PromisesValue *v)
{
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->intent_hash);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->intent_hash, 32);
        break;
    default:
        sample_length(&v->intent_hash, 32);
        break;
    case 15:
        break;
    }
    v->deadline_ns = (uint64_t)sample_number(choice);
    v->height = (uint64_t)sample_number(choice);
    sample_string(choice, &v->ref);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->ref, 1);
        break;
    case 1:
        sample_length(&v->ref, 2);
        break;
    case 2:
        sample_length(&v->ref, 128);
        break;
    case 3:
        sample_length(&v->ref, 127);
        break;
    default:
        sample_length(&v->ref, 1);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->correlation_id);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->correlation_id, 256);
        break;
    case 1:
        sample_length(&v->correlation_id, 255);
        break;
    default:
        sample_length(&v->correlation_id, 256);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->trace_parent);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->trace_parent, 128);
        break;
    case 1:
        sample_length(&v->trace_parent, 127);
        break;
    default:
        sample_length(&v->trace_parent, 128);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi42_promises_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi42PromisesValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    case 6:
        *refinement = "len(value) == 32";
        sample_length(&v->intent_hash, 32);
        return true;
    case 7:
        *refinement = "len(value) == 32";
        sample_length(&v->intent_hash, 31);
        return false;
    case 8:
        *refinement = "len(value) == 32";
        sample_length(&v->intent_hash, 33);
        return false;
    case 9:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->ref, 1);
        return true;
    case 10:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->ref, 0);
        return false;
    case 11:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->ref, 2);
        return true;
    case 12:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->ref, 128);
        return true;
    case 13:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->ref, 127);
        return true;
    case 14:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->ref, 129);
        return false;
    case 15:
        *refinement = "len(value) <= 256";
        sample_length(&v->correlation_id, 256);
        return true;
    case 16:
        *refinement = "len(value) <= 256";
        sample_length(&v->correlation_id, 255);
        return true;
    case 17:
        *refinement = "len(value) <= 256";
        sample_length(&v->correlation_id, 257);
        return false;
    case 18:
        *refinement = "len(value) <= 128";
        sample_length(&v->trace_parent, 128);
        return true;
    case 19:
        *refinement = "len(value) <= 128";
        sample_length(&v->trace_parent, 127);
        return true;
    case 20:
        *refinement = "len(value) <= 128";
        sample_length(&v->trace_parent, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi42_promises_value, WitUniverseDbi42PromisesValue)

static void wit_universe_module_state_random(Choice *choice, WitUniverseModuleState *v)
{
    *v = (WitUniverseModuleState)choice_below(choice, 2);
}

SAMPLE_TYPE(wit_universe_module_state, WitUniverseModuleState)

static void wit_universe_dbi43_modules_key_random(Choice *choice, WitUniverseDbi43ModulesKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->name);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->name, 1);
        break;
    case 1:
        sample_length(&v->name, 2);
        break;
    case 2:
        sample_length(&v->name, 128);
        break;
    case 3:
        sample_length(&v->name, 127);
        break;
    default:
        sample_length(&v->name, 1);
        break;
    case 15:
        break;
    }
    v->version = (uint64_t)sample_number(choice);
}

static bool wit_universe_dbi43_modules_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi43ModulesKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi43_modules_key, WitUniverseDbi43ModulesKey)

static void wit_universe_dbi43_modules_value_random(Choice *choice, WitUniverseDbi43ModulesValue *v)
{
    sample_string(choice, &v->runner);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->runner, 4096);
        break;
    case 1:
        sample_length(&v->runner, 4095);
        break;
    default:
        sample_length(&v->runner, 4096);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->code);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->code, 0);
        break;
    case 1:
        sample_length(&v->code, 32);
        break;
    default:
        sample_length(&v->code, 0);
        break;
    case 15:
        break;
    }
    v->max_attempts = (uint32_t)sample_number(choice);
    v->skip = choice_one_in(choice, 2);
    v->registered_ns = (uint64_t)sample_number(choice);
    v->resumed = choice_one_in(choice, 2);
    wit_universe_module_state_random(choice, &v->state);
    v->timeout_ns = (uint64_t)sample_number(choice);
    sample_string(choice, &v->settings);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->settings, 16384);
        break;
    case 1:
        sample_length(&v->settings, 16383);
        break;
    default:
        sample_length(&v->settings, 16384);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->schemas);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->schemas, 65535);
        break;
    default:
        sample_length(&v->schemas, 65535);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi43_modules_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi43ModulesValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) <= 4096";
        sample_length(&v->runner, 4096);
        return true;
    case 1:
        *refinement = "len(value) <= 4096";
        sample_length(&v->runner, 4095);
        return true;
    case 2:
        *refinement = "len(value) <= 4096";
        sample_length(&v->runner, 4097);
        return false;
    case 3:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->code, 0);
        return true;
    case 4:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->code, 1);
        return false;
    case 5:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->code, 32);
        return true;
    case 6:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->code, 31);
        return false;
    case 7:
        *refinement = "len(value) == 0 || len(value) == 32";
        sample_length(&v->code, 33);
        return false;
    case 8:
        *refinement = "len(value) <= 16384";
        sample_length(&v->settings, 16384);
        return true;
    case 9:
        *refinement = "len(value) <= 16384";
        sample_length(&v->settings, 16383);
        return true;
    case 10:
        *refinement = "len(value) <= 16384";
        sample_length(&v->settings, 16385);
        return false;
    case 11:
        *refinement = "len(value) <= 65536";
        sample_length(&v->schemas, 65535);
        return true;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi43_modules_value, WitUniverseDbi43ModulesValue)

static void wit_universe_dbi44_cron_key_random(Choice *choice, WitUniverseDbi44CronKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->id);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->id, 1);
        break;
    case 1:
        sample_length(&v->id, 2);
        break;
    case 2:
        sample_length(&v->id, 128);
        break;
    case 3:
        sample_length(&v->id, 127);
        break;
    default:
        sample_length(&v->id, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi44_cron_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi44CronKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->id, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->id, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->id, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->id, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->id, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->id, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi44_cron_key, WitUniverseDbi44CronKey)

static void wit_universe_dbi44_cron_value_random(Choice *choice, WitUniverseDbi44CronValue *v)
{
    sample_string(choice, &v->schedule);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->name);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->name, 128);
        break;
    case 1:
        sample_length(&v->name, 127);
        break;
    default:
        sample_length(&v->name, 128);
        break;
    case 15:
        break;
    }
    wit_universe_encoding_random(choice, &v->encoding);
    sample_bytes(choice, &v->payload);
    v->next_ns = (uint64_t)sample_number(choice);
}

static bool wit_universe_dbi44_cron_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi44CronValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    case 6:
        *refinement = "len(value) <= 128";
        sample_length(&v->name, 128);
        return true;
    case 7:
        *refinement = "len(value) <= 128";
        sample_length(&v->name, 127);
        return true;
    case 8:
        *refinement = "len(value) <= 128";
        sample_length(&v->name, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi44_cron_value, WitUniverseDbi44CronValue)

static void wit_universe_dbi45_kinds_key_random(Choice *choice, WitUniverseDbi45KindsKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->kind);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->kind, 1);
        break;
    case 1:
        sample_length(&v->kind, 2);
        break;
    case 2:
        sample_length(&v->kind, 128);
        break;
    case 3:
        sample_length(&v->kind, 127);
        break;
    default:
        sample_length(&v->kind, 1);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->node);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->node, 1);
        break;
    case 1:
        sample_length(&v->node, 2);
        break;
    case 2:
        sample_length(&v->node, 128);
        break;
    case 3:
        sample_length(&v->node, 127);
        break;
    default:
        sample_length(&v->node, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi45_kinds_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi45KindsKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->kind, 129);
        return false;
    case 6:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->node, 1);
        return true;
    case 7:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->node, 0);
        return false;
    case 8:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->node, 2);
        return true;
    case 9:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->node, 128);
        return true;
    case 10:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->node, 127);
        return true;
    case 11:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->node, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi45_kinds_key, WitUniverseDbi45KindsKey)

static void wit_universe_dbi45_kinds_value_random(Choice *choice, WitUniverseDbi45KindsValue *v)
{
    sample_bytes(choice, &v->nonce);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->nonce, 16);
        break;
    default:
        sample_length(&v->nonce, 16);
        break;
    case 15:
        break;
    }
    v->at_most_once = choice_one_in(choice, 2);
    wit_universe_retry_random(choice, &v->retry);
}

static bool wit_universe_dbi45_kinds_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi45KindsValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 16";
        sample_length(&v->nonce, 16);
        return true;
    case 1:
        *refinement = "len(value) == 16";
        sample_length(&v->nonce, 15);
        return false;
    case 2:
        *refinement = "len(value) == 16";
        sample_length(&v->nonce, 17);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi45_kinds_value, WitUniverseDbi45KindsValue)

static void wit_universe_dbi46_tags_key_random(Choice *choice, WitUniverseDbi46TagsKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->tag);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->tag, 1);
        break;
    case 1:
        sample_length(&v->tag, 2);
        break;
    case 2:
        sample_length(&v->tag, 128);
        break;
    case 3:
        sample_length(&v->tag, 127);
        break;
    default:
        sample_length(&v->tag, 1);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi46_tags_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi46TagsKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->tag, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->tag, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->tag, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->tag, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->tag, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->tag, 129);
        return false;
    case 6:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 7:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 8:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 9:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 10:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 11:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi46_tags_key, WitUniverseDbi46TagsKey)

static void wit_universe_dbi46_tags_value_random(Choice *choice, WitUniverseDbi46TagsValue *v)
{
    sample_bytes(choice, &v->value);
}

SAMPLE_TYPE(wit_universe_dbi46_tags_value, WitUniverseDbi46TagsValue)

static void wit_universe_dbi48_world_tags_key_random(Choice *choice, WitUniverseDbi48WorldTagsKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->name);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->name, 1);
        break;
    case 1:
        sample_length(&v->name, 2);
        break;
    case 2:
        sample_length(&v->name, 128);
        break;
    case 3:
        sample_length(&v->name, 127);
        break;
    default:
        sample_length(&v->name, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi48_world_tags_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi48WorldTagsKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    case 6:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 1);
        return true;
    case 7:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 0);
        return false;
    case 8:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 2);
        return true;
    case 9:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 128);
        return true;
    case 10:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 127);
        return true;
    case 11:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->name, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi48_world_tags_key, WitUniverseDbi48WorldTagsKey)

static void wit_universe_dbi48_world_tags_value_random(Choice *choice, WitUniverseDbi48WorldTagsValue *v)
{
    sample_string(choice, &v->value);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->value, 128);
        break;
    case 1:
        sample_length(&v->value, 127);
        break;
    default:
        sample_length(&v->value, 128);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi48_world_tags_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi48WorldTagsValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) <= 128";
        sample_length(&v->value, 128);
        return true;
    case 1:
        *refinement = "len(value) <= 128";
        sample_length(&v->value, 127);
        return true;
    case 2:
        *refinement = "len(value) <= 128";
        sample_length(&v->value, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi48_world_tags_value, WitUniverseDbi48WorldTagsValue)

static void wit_universe_dbi49_results_key_random(Choice *choice, WitUniverseDbi49ResultsKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi49_results_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi49ResultsKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi49_results_key, WitUniverseDbi49ResultsKey)

static void wit_universe_dbi49_results_value_random(Choice *choice, WitUniverseDbi49ResultsValue *v)
{
    wit_universe_receipt_status_random(choice, &v->status);
    wit_universe_encoding_random(choice, &v->encoding);
    sample_bytes(choice, &v->payload);
    v->height = (uint64_t)sample_number(choice);
}

SAMPLE_TYPE(wit_universe_dbi49_results_value, WitUniverseDbi49ResultsValue)

static void wit_universe_dbi47_idempotency_key_random(Choice *choice, WitUniverseDbi47IdempotencyKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->scope);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->scope, 1);
        break;
    case 1:
        sample_length(&v->scope, 2);
        break;
    case 2:
        sample_length(&v->scope, 128);
        break;
    case 3:
        sample_length(&v->scope, 127);
        break;
    default:
        sample_length(&v->scope, 1);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->key);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->key, 1);
        break;
    case 1:
        sample_length(&v->key, 2);
        break;
    case 2:
        sample_length(&v->key, 256);
        break;
    case 3:
        sample_length(&v->key, 255);
        break;
    default:
        sample_length(&v->key, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi47_idempotency_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi47IdempotencyKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->scope, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->scope, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->scope, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->scope, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->scope, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->scope, 129);
        return false;
    case 6:
        *refinement = "len(value) >= 1 && len(value) <= 256";
        sample_length(&v->key, 1);
        return true;
    case 7:
        *refinement = "len(value) >= 1 && len(value) <= 256";
        sample_length(&v->key, 0);
        return false;
    case 8:
        *refinement = "len(value) >= 1 && len(value) <= 256";
        sample_length(&v->key, 2);
        return true;
    case 9:
        *refinement = "len(value) >= 1 && len(value) <= 256";
        sample_length(&v->key, 256);
        return true;
    case 10:
        *refinement = "len(value) >= 1 && len(value) <= 256";
        sample_length(&v->key, 255);
        return true;
    case 11:
        *refinement = "len(value) >= 1 && len(value) <= 256";
        sample_length(&v->key, 257);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi47_idempotency_key, WitUniverseDbi47IdempotencyKey)

static void wit_universe_dbi47_idempotency_value_random(Choice *choice, WitUniverseDbi47IdempotencyValue *v)
{
    sample_bytes(choice, &v->request);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->request, 32);
        break;
    default:
        sample_length(&v->request, 32);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->answer);
    v->expires_ns = (uint64_t)sample_number(choice);
}

static bool wit_universe_dbi47_idempotency_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi47IdempotencyValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 32";
        sample_length(&v->request, 32);
        return true;
    case 1:
        *refinement = "len(value) == 32";
        sample_length(&v->request, 31);
        return false;
    case 2:
        *refinement = "len(value) == 32";
        sample_length(&v->request, 33);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi47_idempotency_value, WitUniverseDbi47IdempotencyValue)

const SampleType wit_universe_samples[] = {
    SAMPLE_ENTRY("encoding", wit_universe_encoding, WitUniverseEncoding, false, NULL, 0),
    SAMPLE_ENTRY("item-kind", wit_universe_item_kind, WitUniverseItemKind, false, NULL, 0),
    SAMPLE_ENTRY("receipt-status", wit_universe_receipt_status, WitUniverseReceiptStatus, false, NULL, 0),
    SAMPLE_ENTRY("attempt-outcome", wit_universe_attempt_outcome, WitUniverseAttemptOutcome, false, NULL, 0),
    SAMPLE_ENTRY("effect-attempt", wit_universe_effect_attempt, WitUniverseEffectAttempt, true, wit_universe_effect_attempt_edge, 3),
    SAMPLE_ENTRY("header", wit_universe_header, WitUniverseHeader, true, wit_universe_header_edge, 9),
    SAMPLE_ENTRY("inbox-item", wit_universe_inbox_item, WitUniverseInboxItem, true, wit_universe_inbox_item_edge, 33),
    SAMPLE_ENTRY("fabric-mode", wit_universe_fabric_mode, WitUniverseFabricMode, false, NULL, 0),
    SAMPLE_ENTRY("fabric-send-params", wit_universe_fabric_send_params, WitUniverseFabricSendParams, true, wit_universe_fabric_send_params_edge, 33),
    SAMPLE_ENTRY("fabric-status", wit_universe_fabric_status, WitUniverseFabricStatus, false, NULL, 0),
    SAMPLE_ENTRY("fabric-send-receipt", wit_universe_fabric_send_receipt, WitUniverseFabricSendReceipt, true, wit_universe_fabric_send_receipt_edge, 14),
    SAMPLE_ENTRY("entry-kind", wit_universe_entry_kind, WitUniverseEntryKind, false, NULL, 0),
    SAMPLE_ENTRY("change", wit_universe_change, WitUniverseChange, true, NULL, 0),
    SAMPLE_ENTRY("retry", wit_universe_retry, WitUniverseRetry, true, wit_universe_retry_edge, 3),
    SAMPLE_ENTRY("timer-clock", wit_universe_timer_clock, WitUniverseTimerClock, false, NULL, 0),
    SAMPLE_ENTRY("intent", wit_universe_intent, WitUniverseIntent, true, wit_universe_intent_edge, 12),
    SAMPLE_ENTRY("entry", wit_universe_entry, WitUniverseEntry, true, wit_universe_entry_edge, 3),
    SAMPLE_ENTRY("dbi16-lease-key", wit_universe_dbi16_lease_key, WitUniverseDbi16LeaseKey, false, wit_universe_dbi16_lease_key_edge, 6),
    SAMPLE_ENTRY("dbi16-lease-value", wit_universe_dbi16_lease_value, WitUniverseDbi16LeaseValue, true, wit_universe_dbi16_lease_value_edge, 11),
    SAMPLE_ENTRY("module-ref", wit_universe_module_ref, WitUniverseModuleRef, true, wit_universe_module_ref_edge, 6),
    SAMPLE_ENTRY("dbi17-sessions-key", wit_universe_dbi17_sessions_key, WitUniverseDbi17SessionsKey, false, wit_universe_dbi17_sessions_key_edge, 6),
    SAMPLE_ENTRY("dbi17-sessions-value", wit_universe_dbi17_sessions_value, WitUniverseDbi17SessionsValue, true, wit_universe_dbi17_sessions_value_edge, 3),
    SAMPLE_ENTRY("dbi18-held-key", wit_universe_dbi18_held_key, WitUniverseDbi18HeldKey, false, wit_universe_dbi18_held_key_edge, 9),
    SAMPLE_ENTRY("dbi18-held-value", wit_universe_dbi18_held_value, WitUniverseDbi18HeldValue, false, NULL, 0),
    SAMPLE_ENTRY("dbi19-head-key", wit_universe_dbi19_head_key, WitUniverseDbi19HeadKey, false, wit_universe_dbi19_head_key_edge, 6),
    SAMPLE_ENTRY("dbi19-head-value", wit_universe_dbi19_head_value, WitUniverseDbi19HeadValue, true, wit_universe_dbi19_head_value_edge, 6),
    SAMPLE_ENTRY("dbi20-journal-key", wit_universe_dbi20_journal_key, WitUniverseDbi20JournalKey, false, wit_universe_dbi20_journal_key_edge, 9),
    SAMPLE_ENTRY("dbi20-journal-value", wit_universe_dbi20_journal_value, WitUniverseDbi20JournalValue, true, wit_universe_dbi20_journal_value_edge, 6),
    SAMPLE_ENTRY("item-class", wit_universe_item_class, WitUniverseItemClass, false, NULL, 0),
    SAMPLE_ENTRY("world-status", wit_universe_world_status, WitUniverseWorldStatus, false, NULL, 0),
    SAMPLE_ENTRY("dbi21-world-meta-key", wit_universe_dbi21_world_meta_key, WitUniverseDbi21WorldMetaKey, false, wit_universe_dbi21_world_meta_key_edge, 6),
    SAMPLE_ENTRY("dbi21-world-meta-value", wit_universe_dbi21_world_meta_value, WitUniverseDbi21WorldMetaValue, true, wit_universe_dbi21_world_meta_value_edge, 28),
    SAMPLE_ENTRY("dbi22-assignment-key", wit_universe_dbi22_assignment_key, WitUniverseDbi22AssignmentKey, false, wit_universe_dbi22_assignment_key_edge, 6),
    SAMPLE_ENTRY("dbi22-assignment-value", wit_universe_dbi22_assignment_value, WitUniverseDbi22AssignmentValue, true, wit_universe_dbi22_assignment_value_edge, 6),
    SAMPLE_ENTRY("dbi23-assigned-key", wit_universe_dbi23_assigned_key, WitUniverseDbi23AssignedKey, false, wit_universe_dbi23_assigned_key_edge, 12),
    SAMPLE_ENTRY("dbi23-assigned-value", wit_universe_dbi23_assigned_value, WitUniverseDbi23AssignedValue, false, NULL, 0),
    SAMPLE_ENTRY("dbi24-world-inbox-key", wit_universe_dbi24_world_inbox_key, WitUniverseDbi24WorldInboxKey, false, wit_universe_dbi24_world_inbox_key_edge, 9),
    SAMPLE_ENTRY("dbi24-world-inbox-value", wit_universe_dbi24_world_inbox_value, WitUniverseDbi24WorldInboxValue, true, NULL, 0),
    SAMPLE_ENTRY("dbi25-idem-key", wit_universe_dbi25_idem_key, WitUniverseDbi25IdemKey, false, wit_universe_dbi25_idem_key_edge, 12),
    SAMPLE_ENTRY("dbi25-idem-value", wit_universe_dbi25_idem_value, WitUniverseDbi25IdemValue, true, wit_universe_dbi25_idem_value_edge, 6),
    SAMPLE_ENTRY("dbi26-reply-key", wit_universe_dbi26_reply_key, WitUniverseDbi26ReplyKey, false, wit_universe_dbi26_reply_key_edge, 12),
    SAMPLE_ENTRY("dbi26-reply-value", wit_universe_dbi26_reply_value, WitUniverseDbi26ReplyValue, true, NULL, 0),
    SAMPLE_ENTRY("dbi27-attempt-key", wit_universe_dbi27_attempt_key, WitUniverseDbi27AttemptKey, false, wit_universe_dbi27_attempt_key_edge, 6),
    SAMPLE_ENTRY("dbi27-attempt-value", wit_universe_dbi27_attempt_value, WitUniverseDbi27AttemptValue, true, wit_universe_dbi27_attempt_value_edge, 6),
    SAMPLE_ENTRY("dbi28-world-dlq-key", wit_universe_dbi28_world_dlq_key, WitUniverseDbi28WorldDlqKey, false, wit_universe_dbi28_world_dlq_key_edge, 9),
    SAMPLE_ENTRY("dbi28-world-dlq-value", wit_universe_dbi28_world_dlq_value, WitUniverseDbi28WorldDlqValue, true, NULL, 0),
    SAMPLE_ENTRY("dbi29-fabric-dedupe-key", wit_universe_dbi29_fabric_dedupe_key, WitUniverseDbi29FabricDedupeKey, false, wit_universe_dbi29_fabric_dedupe_key_edge, 9),
    SAMPLE_ENTRY("dbi29-fabric-dedupe-value", wit_universe_dbi29_fabric_dedupe_value, WitUniverseDbi29FabricDedupeValue, true, wit_universe_dbi29_fabric_dedupe_value_edge, 3),
    SAMPLE_ENTRY("dbi30-snapshot-key", wit_universe_dbi30_snapshot_key, WitUniverseDbi30SnapshotKey, false, wit_universe_dbi30_snapshot_key_edge, 6),
    SAMPLE_ENTRY("dbi30-snapshot-value", wit_universe_dbi30_snapshot_value, WitUniverseDbi30SnapshotValue, true, wit_universe_dbi30_snapshot_value_edge, 9),
    SAMPLE_ENTRY("dbi31-baseline-key", wit_universe_dbi31_baseline_key, WitUniverseDbi31BaselineKey, false, wit_universe_dbi31_baseline_key_edge, 6),
    SAMPLE_ENTRY("dbi31-baseline-value", wit_universe_dbi31_baseline_value, WitUniverseDbi31BaselineValue, true, wit_universe_dbi31_baseline_value_edge, 6),
    SAMPLE_ENTRY("dbi32-pins-key", wit_universe_dbi32_pins_key, WitUniverseDbi32PinsKey, false, wit_universe_dbi32_pins_key_edge, 9),
    SAMPLE_ENTRY("dbi32-pins-value", wit_universe_dbi32_pins_value, WitUniverseDbi32PinsValue, true, NULL, 0),
    SAMPLE_ENTRY("dbi33-segments-key", wit_universe_dbi33_segments_key, WitUniverseDbi33SegmentsKey, false, wit_universe_dbi33_segments_key_edge, 6),
    SAMPLE_ENTRY("dbi33-segments-value", wit_universe_dbi33_segments_value, WitUniverseDbi33SegmentsValue, true, wit_universe_dbi33_segments_value_edge, 3),
    SAMPLE_ENTRY("effect", wit_universe_effect, WitUniverseEffect, true, wit_universe_effect_edge, 32),
    SAMPLE_ENTRY("dbi34-effects-pending-key", wit_universe_dbi34_effects_pending_key, WitUniverseDbi34EffectsPendingKey, false, wit_universe_dbi34_effects_pending_key_edge, 9),
    SAMPLE_ENTRY("dbi34-effects-pending-value", wit_universe_dbi34_effects_pending_value, WitUniverseDbi34EffectsPendingValue, true, NULL, 0),
    SAMPLE_ENTRY("dbi35-effects-inflight-key", wit_universe_dbi35_effects_inflight_key, WitUniverseDbi35EffectsInflightKey, false, wit_universe_dbi35_effects_inflight_key_edge, 3),
    SAMPLE_ENTRY("dbi35-effects-inflight-value", wit_universe_dbi35_effects_inflight_value, WitUniverseDbi35EffectsInflightValue, true, wit_universe_dbi35_effects_inflight_value_edge, 12),
    SAMPLE_ENTRY("dispatch-status", wit_universe_dispatch_status, WitUniverseDispatchStatus, false, NULL, 0),
    SAMPLE_ENTRY("dbi36-effects-dedupe-key", wit_universe_dbi36_effects_dedupe_key, WitUniverseDbi36EffectsDedupeKey, false, wit_universe_dbi36_effects_dedupe_key_edge, 3),
    SAMPLE_ENTRY("dbi36-effects-dedupe-value", wit_universe_dbi36_effects_dedupe_value, WitUniverseDbi36EffectsDedupeValue, true, wit_universe_dbi36_effects_dedupe_value_edge, 6),
    SAMPLE_ENTRY("timer-use", wit_universe_timer_use, WitUniverseTimerUse, false, NULL, 0),
    SAMPLE_ENTRY("dbi37-timers-due-key", wit_universe_dbi37_timers_due_key, WitUniverseDbi37TimersDueKey, false, wit_universe_dbi37_timers_due_key_edge, 3),
    SAMPLE_ENTRY("dbi37-timers-due-value", wit_universe_dbi37_timers_due_value, WitUniverseDbi37TimersDueValue, true, wit_universe_dbi37_timers_due_value_edge, 15),
    SAMPLE_ENTRY("dbi38-timers-dedupe-key", wit_universe_dbi38_timers_dedupe_key, WitUniverseDbi38TimersDedupeKey, false, wit_universe_dbi38_timers_dedupe_key_edge, 3),
    SAMPLE_ENTRY("dbi38-timers-dedupe-value", wit_universe_dbi38_timers_dedupe_value, WitUniverseDbi38TimersDedupeValue, true, NULL, 0),
    SAMPLE_ENTRY("dbi39-ready-key", wit_universe_dbi39_ready_key, WitUniverseDbi39ReadyKey, false, wit_universe_dbi39_ready_key_edge, 9),
    SAMPLE_ENTRY("dbi39-ready-value", wit_universe_dbi39_ready_value, WitUniverseDbi39ReadyValue, false, NULL, 0),
    SAMPLE_ENTRY("dbi40-rolelease-key", wit_universe_dbi40_rolelease_key, WitUniverseDbi40RoleleaseKey, false, wit_universe_dbi40_rolelease_key_edge, 6),
    SAMPLE_ENTRY("dbi40-rolelease-value", wit_universe_dbi40_rolelease_value, WitUniverseDbi40RoleleaseValue, true, wit_universe_dbi40_rolelease_value_edge, 11),
    SAMPLE_ENTRY("dbi41-expiry-key", wit_universe_dbi41_expiry_key, WitUniverseDbi41ExpiryKey, false, wit_universe_dbi41_expiry_key_edge, 3),
    SAMPLE_ENTRY("dbi41-expiry-value", wit_universe_dbi41_expiry_value, WitUniverseDbi41ExpiryValue, true, NULL, 0),
    SAMPLE_ENTRY("dbi42-promises-key", wit_universe_dbi42_promises_key, WitUniverseDbi42PromisesKey, false, wit_universe_dbi42_promises_key_edge, 3),
    SAMPLE_ENTRY("dbi42-promises-value", wit_universe_dbi42_promises_value, WitUniverseDbi42PromisesValue, true, wit_universe_dbi42_promises_value_edge, 21),
    SAMPLE_ENTRY("module-state", wit_universe_module_state, WitUniverseModuleState, false, NULL, 0),
    SAMPLE_ENTRY("dbi43-modules-key", wit_universe_dbi43_modules_key, WitUniverseDbi43ModulesKey, false, wit_universe_dbi43_modules_key_edge, 6),
    SAMPLE_ENTRY("dbi43-modules-value", wit_universe_dbi43_modules_value, WitUniverseDbi43ModulesValue, true, wit_universe_dbi43_modules_value_edge, 12),
    SAMPLE_ENTRY("dbi44-cron-key", wit_universe_dbi44_cron_key, WitUniverseDbi44CronKey, false, wit_universe_dbi44_cron_key_edge, 6),
    SAMPLE_ENTRY("dbi44-cron-value", wit_universe_dbi44_cron_value, WitUniverseDbi44CronValue, true, wit_universe_dbi44_cron_value_edge, 9),
    SAMPLE_ENTRY("dbi45-kinds-key", wit_universe_dbi45_kinds_key, WitUniverseDbi45KindsKey, false, wit_universe_dbi45_kinds_key_edge, 12),
    SAMPLE_ENTRY("dbi45-kinds-value", wit_universe_dbi45_kinds_value, WitUniverseDbi45KindsValue, true, wit_universe_dbi45_kinds_value_edge, 3),
    SAMPLE_ENTRY("dbi46-tags-key", wit_universe_dbi46_tags_key, WitUniverseDbi46TagsKey, false, wit_universe_dbi46_tags_key_edge, 12),
    SAMPLE_ENTRY("dbi46-tags-value", wit_universe_dbi46_tags_value, WitUniverseDbi46TagsValue, false, NULL, 0),
    SAMPLE_ENTRY("dbi48-world-tags-key", wit_universe_dbi48_world_tags_key, WitUniverseDbi48WorldTagsKey, false, wit_universe_dbi48_world_tags_key_edge, 12),
    SAMPLE_ENTRY("dbi48-world-tags-value", wit_universe_dbi48_world_tags_value, WitUniverseDbi48WorldTagsValue, true, wit_universe_dbi48_world_tags_value_edge, 3),
    SAMPLE_ENTRY("dbi49-results-key", wit_universe_dbi49_results_key, WitUniverseDbi49ResultsKey, false, wit_universe_dbi49_results_key_edge, 6),
    SAMPLE_ENTRY("dbi49-results-value", wit_universe_dbi49_results_value, WitUniverseDbi49ResultsValue, true, NULL, 0),
    SAMPLE_ENTRY("dbi47-idempotency-key", wit_universe_dbi47_idempotency_key, WitUniverseDbi47IdempotencyKey, false, wit_universe_dbi47_idempotency_key_edge, 12),
    SAMPLE_ENTRY("dbi47-idempotency-value", wit_universe_dbi47_idempotency_value, WitUniverseDbi47IdempotencyValue, true, wit_universe_dbi47_idempotency_value_edge, 3),
};

const size_t wit_universe_sample_count =
    sizeof wit_universe_samples / sizeof wit_universe_samples[0];
