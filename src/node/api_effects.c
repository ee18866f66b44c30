/* api_effects.c - see api_effects.h. */
#include "node/api_effects.h"

#include <string.h>

#include "node/api_list.h"
#include "node/api_params.h"

enum { HASH_SIZE = 32, CODE_MOST = 64 };

#define MS_NS UINT64_C(1000000)

/* ---- Effects --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    SapEffectState state;
} states[] = {
    {"pending", SAP_EFFECT_PENDING},
    {"inflight", SAP_EFFECT_INFLIGHT},
    {"cancelled", SAP_EFFECT_CANCELLED},
};

static const char *state_name(SapEffectState state)
{
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (states[i].state == state) {
            return states[i].name;
        }
    }
    return "other";
}

static json_t *effect_json(Call *call, const SapEffectInfo *effect)
{
    json_t *object = json_pack(
        "{s:s, s:o, s:s, s:s, s:s, s:i, s:s, s:s, s:I, s:I, s:I, s:I, s:I}", "world", effect->world,
        "hash", call_hex_json(effect->intent_hash, HASH_SIZE), "kind", effect->kind, "ref",
        effect->ref, "state", state_name(effect->state), "attempts", (int)effect->attempts, "code",
        effect->code, "worker", effect->worker, "due_in_ms",
        (json_int_t)(effect->due_in_ns / MS_NS), "age_ms", (json_int_t)(effect->age_ns / MS_NS),
        "running_ms", (json_int_t)(effect->running_ns / MS_NS), "claim_left_ms",
        (json_int_t)(effect->claim_left_ns / MS_NS), "step", (json_int_t)effect->height);
    if (object != NULL && !call_set_params(call, object, effect->kind, effect->encoding,
                                           effect->params, effect->params_len)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int add_effect(void *ctx, const SapEffectInfo *effect)
{
    Page *page = (Page *)ctx;
    return page_add(page, effect_json(page->call, effect));
}

void api_effects_list(Call *call)
{
    Page page;
    const char *wanted = call_query(call, "state");
    if (!page_begin(call, &page)) {
        return;
    }
    for (size_t i = 0; wanted != NULL && i < sizeof states / sizeof states[0]; i++) {
        page.query.states |= strcmp(wanted, states[i].name) == 0 ? states[i].state : 0;
    }
    if (wanted != NULL && page.query.states == 0) {
        (void)call_fail(call, API_BAD_REQUEST, "state=%.32s: use pending, inflight or cancelled",
                        wanted);
        page_release(&page);
        return;
    }
    int rc = sap_effects_list(call->api->universe, &page.query, add_effect, &page, &page.end);
    page_answer(&page, rc);
}

static bool read_hash(Call *call, uint8_t hash[HASH_SIZE])
{
    return call_hex_read(call->arg, hash, HASH_SIZE) ||
           call_fail(call, API_BAD_REQUEST,
                     "the hash in the path is to be 64 digits 0-9 and a-f, as the lists show it");
}

typedef struct EffectSearch {
    Page page;
    uint8_t hash[HASH_SIZE];
    bool found;
} EffectSearch;

static int match_effect(void *ctx, const SapEffectInfo *effect)
{
    EffectSearch *search = (EffectSearch *)ctx;
    if (search->found || memcmp(effect->intent_hash, search->hash, HASH_SIZE) != 0) {
        return SAP_OK;
    }
    search->found = true;
    return page_add(&search->page, effect_json(search->page.call, effect));
}

void api_effect_show(Call *call)
{
    EffectSearch search = {.found = false};
    char after[SAP_LIST_MAX_NEXT] = "";
    if (!read_hash(call, search.hash) || !page_begin(call, &search.page)) {
        return;
    }
    int rc = SAP_OK;
    search.page.query.limit = 1000;
    do {
        search.page.query.after = after;
        rc = sap_effects_list(call->api->universe, &search.page.query, match_effect, &search,
                              &search.page.end);
        memcpy(after, search.page.end.next, sizeof after);
    } while (rc == SAP_OK && !search.found && search.page.end.more);
    if (rc == SAP_OK && search.found) {
        call_answer(call, 200, json_incref(json_array_get(search.page.items, 0)));
    } else if (rc == SAP_OK) {
        (void)call_fail(
            call, API_NOT_FOUND,
            "no effect waits for its receipt under this hash: it has one, or its world is "
            "another; the journal of the world has its outcome");
    } else {
        (void)call_fail_code(call, rc, "effect");
    }
    page_release(&search.page);
}

/* ---- Effects and timers by hand -------------------------------------------------------------- */

typedef int (*IntentAct)(SapUniverse *universe, const char *world,
                         const uint8_t intent_hash[HASH_SIZE]);

/* `rc` of an act on an intent of `world`. */
static void answer_act(Call *call, int rc, const char *world, const char *what)
{
    if (rc == SAP_OK) {
        call_answer(call, 200, json_object());
    } else if (rc == SAP_NOTFOUND) {
        (void)call_fail(call, API_NOT_FOUND,
                        "the world \"%s\" waits for no %s with this hash: GET "
                        "/v1/worlds/%s/outstanding lists what it waits for",
                        world, what, world);
    } else if (rc == SAP_EXISTS) {
        (void)call_fail(call, API_CONFLICT,
                        "the %s has its receipt already: the journal of the world \"%s\" shows it",
                        what, world);
    } else if (rc == SAP_BUSY && strcmp(what, "effect") == 0) {
        (void)call_fail(call, API_CONFLICT,
                        "the effect is being performed: wait for its outcome, or cancel it");
    } else {
        (void)call_fail_code(call, rc, what);
    }
}

static bool read_target(Call *call, uint8_t hash[HASH_SIZE], const char **world_out)
{
    return read_hash(call, hash) && call_read_body(call) &&
           call_field_text(call, "world", SAP_WORLD_MAX_NAME, true, world_out);
}

static void act_on_intent(Call *call, IntentAct act, const char *what)
{
    uint8_t hash[HASH_SIZE];
    const char *world = NULL;
    if (read_target(call, hash, &world)) {
        answer_act(call, act(call->api->universe, world, hash), world, what);
    }
}

void api_effect_retry(Call *call)
{
    act_on_intent(call, sap_effect_retry, "effect");
}

void api_effect_cancel(Call *call)
{
    act_on_intent(call, sap_effect_cancel, "effect");
}

void api_timer_cancel(Call *call)
{
    act_on_intent(call, sap_timer_cancel, "timer");
}

static bool read_receipt_status(Call *call, SapReceiptStatus *status_out)
{
    static const struct {
        const char *name;
        SapReceiptStatus status;
    } names[] = {
        {"ok", SAP_RECEIPT_OK}, {"error", SAP_RECEIPT_ERROR}, {"timeout", SAP_RECEIPT_TIMEOUT}};
    const char *text = NULL;
    if (!call_field_text(call, "status", 8, true, &text)) {
        return false;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i].name) == 0) {
            *status_out = names[i].status;
            return true;
        }
    }
    return call_fail_detail(call, API_BAD_REQUEST, json_pack("{s:s}", "field", "status"),
                            "the field \"status\" is to be \"ok\", \"error\" or \"timeout\"");
}

void api_effect_receipt(Call *call)
{
    uint8_t hash[HASH_SIZE];
    const char *world = NULL;
    const char *code = NULL;
    SapReceiptStatus status = SAP_RECEIPT_NONE;
    Payload payload = {0};
    if (read_target(call, hash, &world) && read_receipt_status(call, &status) &&
        call_field_text(call, "code", CODE_MOST, false, &code) &&
        call_field_payload(call, &payload)) {
        int rc = sap_receipt_inject(call->api->universe, world, hash, status, code,
                                    payload.encoding, payload.data, payload.len);
        answer_act(call, rc, world, "effect");
    }
    buf_release(&payload.bytes);
}

/* ---- Timers ---------------------------------------------------------------------------------- */

static int add_timer(void *ctx, const SapTimerInfo *timer)
{
    Page *page = (Page *)ctx;
    json_t *object =
        json_pack("{s:s, s:o, s:s, s:I, s:I}", "world", timer->world, "hash",
                  call_hex_json(timer->intent_hash, HASH_SIZE), "ref", timer->ref, "in_ms",
                  (json_int_t)(timer->in_ns / MS_NS), "step", (json_int_t)timer->height);
    bool done = object != NULL;
    if (done && timer->at_ns != 0) {
        done = json_object_set_new(object, "at_ms",
                                   json_integer((json_int_t)(timer->at_ns / MS_NS))) == 0;
    }
    done = done && call_set_payload(page->call, object, "body", timer->encoding, timer->payload,
                                    timer->payload_len);
    if (!done) {
        json_decref(object);
        return SAP_NOMEM;
    }
    return page_add(page, object);
}

void api_timers_list(Call *call)
{
    Page page;
    if (page_begin(call, &page)) {
        int rc = sap_timers_list(call->api->universe, &page.query, add_timer, &page, &page.end);
        page_answer(&page, rc);
    }
}
