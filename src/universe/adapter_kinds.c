/* adapter_kinds.c - the kinds of effects in the box: see adapter.h. */
#include "common/mem.h"
#include "universe/adapter.h"

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
    }
    mem_free(MEM_UNIVERSE, answer, sizeof *answer);
    return rc;
}

static void cancel_function(void *ctx, void *handle)
{
    Answer *answer = (Answer *)handle;
    (void)ctx;
    buf_release(&answer->result.payload);
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
