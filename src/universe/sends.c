/* sends.c - what handlers say to other worlds: messages and questions, and what a receipt of one says. */
#include <string.h>

#include "common/assert.h"
#include "common/options.h"
#include "universe/fabric.h"
#include "universe/handler.h"
#include "universe/payload.h"

OPTIONS_LAYOUT(SapSend, retry, retry);
OPTIONS_LAYOUT(SapAsk, retry, retry);

/* ---- The params ------------------------------------------------------------------------------ */

/* What messages and questions have in common. */
typedef struct Saying {
    const SapSend *send;
    bool ask;
} Saying;

static bool headers_valid(const SapHeader *headers, uint32_t count)
{
    if (count > SAP_WORLD_MAX_HEADERS || (headers == NULL && count > 0)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *name = headers[i].name;
        if (name == NULL || name[0] == 0 || !payload_text_valid(name, SAP_WORLD_MAX_NAME) ||
            !payload_text_valid(headers[i].value, SAP_WORLD_MAX_HEADER)) {
            return false;
        }
    }
    return true;
}

static bool name_valid(const char *name, bool needed)
{
    UniverseName ignored;
    return name == NULL || name[0] == 0 ? !needed : universe_name_set(&ignored, name) == SAP_OK;
}

static bool saying_valid(const Saying *saying)
{
    const SapSend *send = saying->send;
    bool typed = send->mode == SAP_SEND_TYPED;
    return (typed || send->mode == SAP_SEND_INBOX) && name_valid(send->world, true) &&
           name_valid(send->create, false) && payload_text_valid(send->name, SAP_WORLD_MAX_NAME) &&
           (!typed ||
            (send->name != NULL && send->name[0] != 0 && send->encoding != SAP_ENCODING_RAW)) &&
           intent_ref_valid(send->ref) &&
           payload_text_valid(send->correlation_id, SAP_WORLD_MAX_ID) &&
           payload_text_valid(send->message_id, SAP_WORLD_MAX_ID) &&
           headers_valid(send->headers, send->header_count) &&
           (!saying->ask || (send->ref != NULL && send->ref[0] != 0)) &&
           send->retry.attempts <= SAP_EFFECT_MAX_ATTEMPTS;
}

static CodecBytes lend_or_empty(const char *text)
{
    return lend_bytes(text == NULL ? "" : text, text == NULL ? 0 : strlen(text));
}

/* Appends the record; `payload` is canonical. */
static int append_params(const Saying *saying, const Buf *payload, Buf *out)
{
    const SapSend *send = saying->send;
    WitUniverseHeader headers[SAP_WORLD_MAX_HEADERS];
    bool typed = send->mode == SAP_SEND_TYPED;
    WitUniverseFabricSendParams params = {
        .dest_world = lend_or_empty(send->world),
        .mode = typed ? WIT_UNIVERSE_FABRIC_MODE_TYPED_EVENT : WIT_UNIVERSE_FABRIC_MODE_INBOX,
        .encoding = (WitUniverseEncoding)send->encoding,
        .payload = lend_bytes(payload->data, payload->len),
        .headers = {headers, send->header_count},
        .correlation_id = lend_or_empty(send->correlation_id),
        .message_id = lend_or_empty(send->message_id),
        .create = lend_or_empty(send->create),
        .ask = saying->ask,
    };
    *(typed ? &params.schema : &params.inbox) = lend_or_empty(send->name);
    for (uint32_t i = 0; i < send->header_count; i++) {
        headers[i] = (WitUniverseHeader){lend_or_empty(send->headers[i].name),
                                         lend_or_empty(send->headers[i].value)};
    }
    return wit_universe_fabric_send_params_encode(&params, out, NULL);
}

/* time_ns: the delay of a message, the time of a question. */
static int say(SapWorld *world, const Saying *saying, uint64_t time_ns)
{
    const SapSend *send = saying->send;
    Buf payload = {0};
    Buf params = {0};
    if (handler_is_cancelled(world)) {
        return SAP_FENCED;
    }
    if (!saying_valid(saying)) {
        return SAP_INVALID;
    }
    if (send->payload_len > SAP_WORLD_MAX_VALUE) {
        return SAP_FULL;
    }
    int rc = payload_append_or_null(send->encoding, send->payload, send->payload_len, &payload);
    rc = rc == SAP_OK && payload.len > SAP_WORLD_MAX_VALUE ? SAP_FULL : rc;
    rc = rc == SAP_OK ? append_params(saying, &payload, &params) : rc;
    IntentView intent = {
        .type = saying->ask ? INTENT_ASK : INTENT_EFFECT,
        .kind = slice_from_str(saying->ask ? FABRIC_ASK : FABRIC_KIND),
        .ref = slice_from_str(send->ref == NULL ? "" : send->ref),
        .encoding = SAP_ENCODING_RAW,
        .params = {params.data, params.len},
        .retry = {send->retry.attempts, send->retry.first_ns, send->retry.factor,
                  send->retry.cap_ns, send->retry.timeout_ns},
        .time_ns = time_ns,
    };
    rc = rc == SAP_OK ? intent_ask(world, &intent) : rc;
    buf_release(&params);
    buf_release(&payload);
    return rc;
}

/* ---- The handler's calls --------------------------------------------------------------------- */

int sap_world_send(SapWorld *world, const SapSend *send)
{
    SapSend all = {.size = sizeof all};
    Saying saying = {&all, false};
    if (world == NULL || send == NULL || OPTIONS_READ(SapSend, &all, send) != SAP_OK) {
        return SAP_ERROR;
    }
    return say(world, &saying, all.delay_ns);
}

int sap_world_ask(SapWorld *world, const SapAsk *ask)
{
    SapAsk all = {.size = sizeof all};
    if (world == NULL || ask == NULL || OPTIONS_READ(SapAsk, &all, ask) != SAP_OK ||
        all.reserved != 0) {
        return SAP_ERROR;
    }
    SapSend send = {
        .size = sizeof send,
        .world = all.world,
        .name = all.name,
        .ref = all.ref,
        .encoding = all.encoding,
        .header_count = all.header_count,
        .payload = all.payload,
        .payload_len = all.payload_len,
        .headers = all.headers,
        .correlation_id = all.correlation_id,
        .create = all.create,
        .retry = all.retry,
    };
    Saying saying = {&send, true};
    return say(world, &saying, all.timeout_ns == 0 ? FABRIC_ASK_NS : all.timeout_ns);
}

/* ---- Receipts -------------------------------------------------------------------------------- */

int sap_send_receipt_read(const SapEvent *event, SapSendReceipt *receipt_out)
{
    WitUniverseFabricSendReceipt fields;
    UniverseName to;
    if (event == NULL || receipt_out == NULL) {
        return SAP_ERROR;
    }
    if (event->kind != SAP_EVENT_RECEIPT || event->encoding != SAP_ENCODING_RAW) {
        return SAP_INVALID;
    }
    int rc =
        wit_universe_fabric_send_receipt_decode(event->payload, event->payload_len, &fields, NULL);
    if (rc != SAP_OK) {
        return rc == SAP_CORRUPT ? SAP_INVALID : rc;
    }
    *receipt_out = (SapSendReceipt){
        .enqueued = fields.status != WIT_UNIVERSE_FABRIC_STATUS_ERROR,
        .already = fields.status == WIT_UNIVERSE_FABRIC_STATUS_ALREADY_ENQUEUED,
    };
    universe_name_copy(&to, &fields.dest_world);
    memcpy(receipt_out->world, to.text, sizeof receipt_out->world);
    memcpy(receipt_out->message_id, fields.message_id.data, sizeof receipt_out->message_id);
    if (fields.enqueued_seq.len > 0) {
        memcpy(receipt_out->seq, fields.enqueued_seq.data, sizeof receipt_out->seq);
    }
    wit_universe_fabric_send_receipt_free(&fields);
    return SAP_OK;
}
