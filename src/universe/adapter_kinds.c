/* adapter_kinds.c - the kinds of effects in the box: see adapter.h. */
#include <stdio.h>

#include "common/mem.h"
#include "universe/adapter.h"
#include "universe/schemas.h"

/* ---- Functions of the program ---------------------------------------------------------------- */

/* What a function has said already; poll() gives it out. */
typedef struct Answer {
    int rc;
    EffectResult result;
} Answer;

static int start_function(void *ctx, const EffectCall *call, void **handle_out)
{
    const EffectFunction *function = (const EffectFunction *)ctx;
    Answer *answer = (Answer *)mem_zalloc(MEM_UNIVERSE, sizeof *answer);
    if (answer == NULL) {
        return SAP_NOMEM;
    }
    answer->rc = function->call(function->ctx, call, &answer->result);
    *handle_out = answer;
    return SAP_OK;
}

static int poll_function(void *ctx, void *handle, EffectResult *result, bool *done_out)
{
    Answer *answer = (Answer *)handle;
    int rc = answer->rc;
    (void)ctx;
    if (rc == SAP_OK) {
        *result = answer->result; /* with its payload */
        *done_out = true;
    } else {
        buf_release(&answer->result.payload);
        fabric_delivery_free(answer->result.delivery);
    }
    mem_free(MEM_UNIVERSE, answer, sizeof *answer);
    return rc;
}

static void cancel_function(void *ctx, void *handle)
{
    Answer *answer = (Answer *)handle;
    (void)ctx;
    buf_release(&answer->result.payload);
    fabric_delivery_free(answer->result.delivery);
    mem_free(MEM_UNIVERSE, answer, sizeof *answer);
}

void adapter_kind_function(AdapterKind *kind, const char *name, EffectFunction *function)
{
    *kind = (AdapterKind){.kind = name,
                          .ctx = function,
                          .start = start_function,
                          .poll = poll_function,
                          .cancel = cancel_function};
}

/* ---- fabric.send ----------------------------------------------------------------------------- */

/* A destination that is full, or is emptied before it can be created again, is not there for long: 20
 * attempts are some six minutes. */
enum { FABRIC_ATTEMPTS = 20, FABRIC_FACTOR = 200 };
#define FABRIC_FIRST_NS UINT64_C(100000000)
#define FABRIC_CAP_NS   UINT64_C(30000000000)

static void set_result(EffectResult *result, EffectVerdict verdict, const char *code)
{
    result->verdict = verdict;
    result->encoding = SAP_ENCODING_RAW;
    (void)snprintf(result->code, sizeof result->code, "%s", code);
}

/* Whether the payload is what the module of the destination declares. */
static int look_at_payload(const FabricServer *server, FabricDelivery *delivery,
                           EffectResult *result)
{
    const WitUniverseFabricSendParams *params = &delivery->params;
    const CodecBytes *name =
        params->mode == WIT_UNIVERSE_FABRIC_MODE_TYPED_EVENT ? &params->schema : &params->inbox;
    SchemaItem item = {.name = {name->data, name->len},
                       .encoding = (SapEncoding)params->encoding,
                       .payload = {params->payload.data, params->payload.len}};
    char why[JSON_SCHEMA_WHY];
    int rc = fabric_is_reply(delivery)
                 ? SAP_OK
                 : schemas_check_world(server->owner, &delivery->to, &item, why);
    if (rc != SAP_INVALID) {
        return rc;
    }
    rc = fabric_receipt_of_error(delivery);
    if (rc == SAP_OK) {
        set_result(result, EFFECT_ERROR, "invalid_payload");
        rc = buf_append(&result->payload, delivery->receipt.data, delivery->receipt.len);
    }
    return rc;
}

/* Checks the depth of the destination's inbox. A reply is never refused for it: a world waits for it. */
static int look_at_depth(const FabricServer *server, FabricDelivery *delivery, EffectResult *result)
{
    int rc = fabric_is_reply(delivery)
                 ? SAP_OK
                 : depth_check(server->depth, server->store, server->clock, server->universe,
                               &delivery->to, server->limit);
    if (rc != SAP_BUSY) {
        return rc;
    }
    rc = fabric_receipt_of_error(delivery);
    if (rc == SAP_OK) {
        set_result(result, EFFECT_RETRY, "destination_full");
        rc = buf_append(&result->payload, delivery->receipt.data, delivery->receipt.len);
    }
    return rc;
}

/* Delivers nothing yet: that is done in the transaction that ends the call. */
static int prepare_message(void *ctx, const EffectCall *call, EffectResult *result)
{
    const FabricServer *server = (const FabricServer *)ctx;
    FabricDelivery *delivery = NULL;
    int rc = fabric_delivery_make(call->effect, server->store, server->producer, server->random,
                                  &delivery);
    if (rc == SAP_INVALID) {
        set_result(result, EFFECT_ERROR, "bad_params");
        return SAP_OK;
    }
    set_result(result, EFFECT_OK, "");
    rc = rc == SAP_OK ? look_at_payload(server, delivery, result) : rc;
    if (rc == SAP_OK && result->verdict == EFFECT_OK) {
        rc = look_at_depth(server, delivery, result);
    }
    if (rc != SAP_OK || result->verdict != EFFECT_OK) {
        fabric_delivery_free(delivery);
        return rc;
    }
    result->delivery = delivery;
    return SAP_OK;
}

void adapter_kind_fabric(AdapterKind *kind, FabricServer *server, EffectFunction *room)
{
    *room = (EffectFunction){prepare_message, server};
    adapter_kind_function(kind, FABRIC_KIND, room);
    kind->policy = (WitUniverseRetry){.attempts = FABRIC_ATTEMPTS,
                                      .first_ns = FABRIC_FIRST_NS,
                                      .factor = FABRIC_FACTOR,
                                      .cap_ns = FABRIC_CAP_NS};
}

/* ---- log ------------------------------------------------------------------------------------- */

static int write_log(void *ctx, const EffectCall *call, EffectResult *result)
{
    const WitUniverseEffect *effect = call->effect;
    LOG_EVENT((const Log *)ctx, LOG_LEVEL_INFO, "effect.log",
              LOG_TEXT("world", effect->world.data, effect->world.len),
              LOG_U64("height", effect->height), LOG_STR("intent", call->idempotency_key),
              LOG_TEXT("text", effect->params.data, effect->params.len));
    result->verdict = EFFECT_OK;
    result->encoding = SAP_ENCODING_JSON;
    return SAP_OK;
}

void adapter_kind_log(AdapterKind *kind, Log *log, EffectFunction *room)
{
    *room = (EffectFunction){write_log, log};
    adapter_kind_function(kind, "log", room);
}
