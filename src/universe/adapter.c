/* adapter.c - see adapter.h. */
#include "universe/adapter.h"

#include <string.h>

#include "common/assert.h"
#include "common/mem.h"
#include "common/utf8.h"
#include "store/blob.h"
#include "store/store_impl.h"
#include "universe/hex.h"
#include "universe/kinds.h"
#include "universe/payload.h"

#define SECOND_NS UINT64_C(1000000000)
#define POLL_NS   UINT64_C(10000000) /* between looks at calls that do not say when they are done */
#define LOOK_NS   UINT64_C(500000000) /* at what is due and could not be claimed */

enum { DEFAULT_RUNNING = 16 };

/* A call is CLAIMED, RUNNING (it has a handle), or DONE (its result is to be acknowledged). */
typedef enum CallState { CALL_CLAIMED, CALL_RUNNING, CALL_DONE } CallState;

typedef struct ServedKind {
    AdapterKind kind; /* with all of its policy */
    Slice name;
    uint32_t running;   /* calls, until their claims have ended */
    uint64_t credit_ns; /* of starts: each costs its part of a second, a second at most is saved */
    uint64_t credited_at_ns;
} ServedKind;

typedef struct Call {
    EffectClaim claim;
    ServedKind *kind;
    CallState state;
    void *handle;
    EffectCall call;
    char key[ADAPTER_KEY_MAX + 1];
    uint64_t timeout_at_ns; /* boot times */
    uint64_t renew_at_ns;
    uint64_t stop_at_ns; /* its claim may run out after this */
    EffectResult result;
    bool begun;
    bool timed_out;
    bool prepared; /* the ending is complete */
    EffectEnding ending;
    Buf payload; /* canonical, of the ending */
} Call;

struct Adapter {
    const Session *session;
    Producer *producer;
    const Random *random;
    ServedKind *kinds;
    uint32_t kind_count;
    Buf calls;                          /* Call *: under way */
    Call *spare[EFFECT_CLAIMS_AT_ONCE]; /* made before the claim that needs them */
    uint32_t spare_count;
    uint32_t first_kind; /* that is asked for first: each in its turn */
    uint64_t version;    /* of the queue when it was last looked at */
    uint64_t pokes;      /* of the store, before the calls were last polled */
    uint64_t wait_ns;    /* from the last step until something is due; UINT64_MAX: nothing is */
    const Log *log;      /* borrowed; NULL: silent */
    AdapterStats stats;
};

/* ---- Calls ----------------------------------------------------------------------------------- */

static uint32_t call_count(const Adapter *adapter)
{
    return (uint32_t)(adapter->calls.len / sizeof(Call *));
}

static Call *call_at(const Adapter *adapter, uint32_t index)
{
    return ((Call **)(void *)adapter->calls.data)[index];
}

static void free_call(Call *call)
{
    effect_claim_release(&call->claim);
    buf_release(&call->result.payload);
    fabric_delivery_free(call->result.delivery);
    buf_release(&call->payload);
    mem_free(MEM_UNIVERSE, call, sizeof *call);
}

/* Ends what is under way outside; its result counts no more. */
static void stop_call(Call *call)
{
    if (call->state == CALL_RUNNING) {
        call->kind->kind.cancel(call->kind->kind.ctx, call->handle);
        call->handle = NULL;
        call->state = CALL_DONE;
    }
}

/* The claim is over for this adapter. The last call takes the place of this one. */
static void forget_call(Adapter *adapter, uint32_t index)
{
    Call **calls = (Call **)(void *)adapter->calls.data;
    Call *call = calls[index];
    stop_call(call);
    SAP_ASSERT(call->kind->running > 0);
    call->kind->running--;
    calls[index] = calls[call_count(adapter) - 1];
    buf_truncate(&adapter->calls, adapter->calls.len - sizeof(Call *));
    free_call(call);
}

static void forget_all(Adapter *adapter)
{
    while (call_count(adapter) > 0) {
        adapter->stats.lost++;
        forget_call(adapter, call_count(adapter) - 1);
    }
}

/* ---- Opening and closing --------------------------------------------------------------------- */

static int add_kind(Adapter *adapter, const AdapterKind *kind)
{
    ServedKind *served = &adapter->kinds[adapter->kind_count];
    const WitUniverseRetry none = {0};
    size_t len = kind->kind == NULL ? 0 : strlen(kind->kind);
    if (len == 0 || len > UNIVERSE_NAME_MAX || !utf8_valid(kind->kind, len) ||
        kind->policy.attempts > EFFECT_MOST_ATTEMPTS) {
        return SAP_INVALID;
    }
    for (uint32_t i = 0; i < adapter->kind_count; i++) {
        if (strcmp(adapter->kinds[i].kind.kind, kind->kind) == 0) {
            return SAP_INVALID;
        }
    }
    served->kind = *kind;
    served->name = (Slice){kind->kind, len};
    served->kind.max_running = kind->max_running == 0 ? DEFAULT_RUNNING : kind->max_running;
    effect_policy_fill(&served->kind.policy, &none);
    served->credit_ns = SECOND_NS;
    served->credited_at_ns = clock_boot_ns(adapter->session->clock);
    adapter->kind_count++;
    return kind_register(adapter->session, served->name, kind->at_most_once, &served->kind.policy);
}

int adapter_open(const Session *session, Producer *producer, const Random *random,
                 const AdapterKind *kinds, uint32_t kind_count, Adapter **adapter_out)
{
    Adapter *adapter = kind_count > 0 ? (Adapter *)mem_zalloc(MEM_UNIVERSE, sizeof *adapter) : NULL;
    if (adapter == NULL) {
        return kind_count > 0 ? SAP_NOMEM : SAP_INVALID;
    }
    adapter->session = session;
    adapter->producer = producer;
    adapter->random = random;
    adapter->wait_ns = UINT64_MAX;
    adapter->kinds = (ServedKind *)mem_zalloc(MEM_UNIVERSE, kind_count * sizeof *adapter->kinds);
    int rc = adapter->kinds == NULL ? SAP_NOMEM : SAP_OK;
    for (uint32_t i = 0; rc == SAP_OK && i < kind_count; i++) {
        rc = add_kind(adapter, &kinds[i]);
    }
    if (rc != SAP_OK) {
        mem_free(MEM_UNIVERSE, adapter->kinds, kind_count * sizeof *adapter->kinds);
        mem_free(MEM_UNIVERSE, adapter, sizeof *adapter);
        return rc;
    }
    *adapter_out = adapter;
    return SAP_OK;
}

void adapter_close(Adapter *adapter)
{
    if (adapter == NULL) {
        return;
    }
    forget_all(adapter);
    while (adapter->spare_count > 0) {
        free_call(adapter->spare[--adapter->spare_count]);
    }
    buf_release(&adapter->calls);
    mem_free(MEM_UNIVERSE, adapter->kinds, adapter->kind_count * sizeof *adapter->kinds);
    mem_free(MEM_UNIVERSE, adapter, sizeof *adapter);
}

uint32_t adapter_running(const Adapter *adapter)
{
    return call_count(adapter);
}

AdapterStats adapter_stats(const Adapter *adapter)
{
    return adapter->stats;
}

/* ---- Calls under way ------------------------------------------------------------------------- */

static void set_code(EffectResult *result, const char *code)
{
    (void)strncpy(result->code, code, sizeof result->code - 1);
}

/* The attempt has failed without the adapter's word on it. */
static void fail_call(Call *call, const char *code)
{
    buf_clear(&call->result.payload);
    call->result.verdict = EFFECT_RETRY;
    call->result.encoding = SAP_ENCODING_RAW;
    set_code(&call->result, code);
    call->state = CALL_DONE;
}

/* False: the call was forgotten. */
static bool poll_call(Adapter *adapter, uint32_t index, uint64_t now_ns, bool *busy_out)
{
    Call *call = call_at(adapter, index);
    const AdapterKind *kind = &call->kind->kind;
    bool done = false;
    if (call->state != CALL_RUNNING) {
        return true;
    }
    if (now_ns >= call->stop_at_ns) {
        adapter->stats.lost++;
        forget_call(adapter, index);
        return false;
    }
    int rc = kind->poll(kind->ctx, call->handle, &call->result, &done);
    if (rc != SAP_OK) {
        fail_call(call, "failed");
    } else if (done) {
        call->state = CALL_DONE;
    } else if (now_ns >= call->timeout_at_ns) {
        stop_call(call);
        fail_call(call, "timeout");
        call->timed_out = true;
        adapter->stats.timeouts++;
    }
    *busy_out = *busy_out || call->state == CALL_DONE;
    return true;
}

static void poll_calls(Adapter *adapter, uint64_t now_ns, bool *busy_out)
{
    for (uint32_t i = 0; i < call_count(adapter);) {
        i += poll_call(adapter, i, now_ns, busy_out);
    }
}

/* ---- Keeping claims -------------------------------------------------------------------------- */

static void note_renewal(Adapter *adapter, const ClaimRenewal *renewal, uint64_t before_ns)
{
    uint32_t i = 0;
    while (&call_at(adapter, i)->claim != renewal->claim) {
        i++;
    }
    Call *call = call_at(adapter, i);
    switch (renewal->state) {
    case CLAIM_STANDS:
        call->renew_at_ns = before_ns + ADAPTER_RENEWAL_NS;
        call->stop_at_ns = before_ns + EFFECT_CLAIM_NS - ADAPTER_MARGIN_NS;
        break;
    case CLAIM_CANCELLED: /* what it says when it ends counts no more */
        adapter->stats.cancelled++;
        call->renew_at_ns = before_ns + ADAPTER_RENEWAL_NS;
        stop_call(call);
        break;
    case CLAIM_GONE:
        adapter->stats.lost++;
        forget_call(adapter, i);
        break;
    }
}

static int renew_calls(Adapter *adapter, uint64_t now_ns)
{
    ClaimRenewal renewals[CLAIM_RENEWALS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < call_count(adapter) && count < CLAIM_RENEWALS; i++) {
        Call *call = call_at(adapter, i);
        if (now_ns >= call->renew_at_ns) {
            renewals[count++] = (ClaimRenewal){&call->claim, CLAIM_STANDS};
        }
    }
    if (count == 0) {
        return SAP_OK;
    }
    int rc = effects_renew(adapter->session, renewals, count);
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        note_renewal(adapter, &renewals[i], now_ns);
    }
    return rc;
}

/* ---- Ending calls ---------------------------------------------------------------------------- */

/* The payload in its one form. What is not of its encoding is an error of the adapter's. */
static int canonical_payload(Call *call)
{
    EffectResult *result = &call->result;
    buf_clear(&call->payload);
    if (result->payload.len == 0 && result->encoding == SAP_ENCODING_JSON) {
        return buf_append_str(&call->payload, "null");
    }
    int rc = result->payload.len <= SAP_WORLD_MAX_PAYLOAD
                 ? payload_append(result->encoding, result->payload.data, result->payload.len,
                                  &call->payload)
                 : SAP_INVALID;
    if (rc == SAP_INVALID) {
        buf_clear(&call->payload);
        result->verdict = EFFECT_ERROR;
        result->encoding = SAP_ENCODING_RAW;
        (void)strncpy(result->code, "bad_result", sizeof result->code);
        rc = SAP_OK;
    }
    return rc;
}

/* What the receipt will say, should it be put. */
static int prepare_ending(Adapter *adapter, Call *call)
{
    const EffectResult *result = &call->result;
    EffectEnding *ending = &call->ending;
    int rc = call->prepared ? SAP_OK : canonical_payload(call);
    if (rc != SAP_OK || call->prepared) {
        return rc;
    }
    effect_ending_init(ending, ENDING_ACK, &call->claim.key, &call->claim.row.effect,
                       adapter->producer, adapter->session->store);
    memcpy(ending->token, call->claim.row.token.data, EFFECT_TOKEN);
    size_t code_len = strlen(result->code);
    if (utf8_valid(result->code, code_len)) {
        memcpy(ending->code, result->code, code_len + 1);
    }
    ending->status = result->verdict == EFFECT_OK ? WIT_UNIVERSE_RECEIPT_STATUS_OK
                     : call->timed_out            ? WIT_UNIVERSE_RECEIPT_STATUS_TIMEOUT
                                                  : WIT_UNIVERSE_RECEIPT_STATUS_ERROR;
    ending->again =
        result->verdict == EFFECT_RETRY && !(call->begun && call->claim.row.at_most_once);
    ending->pause_ns = result->pause_ns;
    ending->delivery = result->verdict == EFFECT_OK ? result->delivery : NULL;
    ending->encoding = (WitUniverseEncoding)result->encoding;
    ending->has_blob = call->payload.len > UNIVERSE_INLINE_MAX;
    if (ending->has_blob) {
        rc = payload_put_blob(adapter->session->store,
                              (Slice){call->payload.data, call->payload.len}, &ending->blob);
    } else {
        ending->payload = (Slice){call->payload.data, call->payload.len};
    }
    call->prepared = rc == SAP_OK;
    return rc;
}

static void count_fate(AdapterStats *stats, EndingFate fate)
{
    stats->lost += fate == FATE_NOTHING;
    stats->receipts += fate == FATE_RECEIPT;
    stats->retries += fate == FATE_AGAIN;
    stats->dropped += fate == FATE_DROPPED;
    stats->delivered += fate == FATE_DELIVERED;
}

/* A call that has ended with a receipt that is not `ok`. */
static void log_failure(const Adapter *adapter, const Call *call, const EffectEnding *ending)
{
    const WitUniverseEffect *effect = &call->claim.row.effect;
    if (ending->fate == FATE_RECEIPT && ending->status != WIT_UNIVERSE_RECEIPT_STATUS_OK) {
        LOG_EVENT(adapter->log, LOG_LEVEL_WARN, "universe.effect_failed",
                  LOG_STR("world", ending->world.text), LOG_U64("height", effect->height),
                  LOG_TEXT("kind", effect->kind.data, effect->kind.len),
                  LOG_TEXT("ref", effect->origin_name.data, effect->origin_name.len),
                  LOG_U64("attempts", effect->attempt), LOG_STR("code", ending->code));
    }
}

static uint32_t index_of_call(const Adapter *adapter, const Call *call)
{
    uint32_t at = 0;
    while (call_at(adapter, at) != call) {
        at++;
    }
    return at;
}

/* Ends these, all or none; each is forgotten then, whoever has ended its claim. */
static int end_some(Adapter *adapter, Call **ended, EffectEnding *endings, uint32_t count)
{
    int rc = effects_end(adapter->session, endings, count);
    for (uint32_t i = 0; rc == SAP_BUSY && i < count; i++) {
        ended[i]->prepared = false; /* its blob may have been collected: put it again */
    }
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        if (endings[i].fate == FATE_OPEN) {
            continue; /* the next transaction has other guards */
        }
        count_fate(&adapter->stats, endings[i].fate);
        log_failure(adapter, ended[i], &endings[i]);
        forget_call(adapter, index_of_call(adapter, ended[i]));
    }
    return rc;
}

/* One by one, since rows of one of them are damaged: that one is given up, the others are not. */
static int end_each(Adapter *adapter, Call **ended, EffectEnding *endings, uint32_t count)
{
    int rc = SAP_OK;
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        rc = end_some(adapter, &ended[i], &endings[i], 1);
        if (rc == SAP_CORRUPT) {
            adapter->stats.damaged++;
            forget_call(adapter, index_of_call(adapter, ended[i]));
            rc = SAP_OK;
        }
    }
    return rc;
}

/* Acknowledges calls that are done. */
static int end_calls(Adapter *adapter, bool *busy_out)
{
    EffectEnding endings[ENDINGS_AT_ONCE];
    Call *ended[ENDINGS_AT_ONCE];
    uint32_t count = 0;
    uint32_t guards = 0;
    int rc = SAP_OK;
    for (uint32_t i = 0; rc == SAP_OK && i < call_count(adapter) && count < ENDINGS_AT_ONCE; i++) {
        Call *call = call_at(adapter, i);
        if (call->state != CALL_DONE) {
            continue;
        }
        rc = prepare_ending(adapter, call);
        guards += rc == SAP_OK ? effect_ending_guards(&call->ending) : 0;
        if (guards > SAP_STORE_MAX_GUARDS) {
            break; /* the others have their turn */
        }
        ended[count] = call;
        endings[count++] = call->ending;
    }
    if (rc != SAP_OK || count == 0) {
        return rc;
    }
    rc = end_some(adapter, ended, endings, count);
    rc = rc == SAP_CORRUPT ? end_each(adapter, ended, endings, count) : rc;
    *busy_out = *busy_out || rc == SAP_OK;
    return rc;
}

/* ---- Claiming and starting ------------------------------------------------------------------- */

static uint64_t cost_of_start(const ServedKind *served)
{
    uint64_t cost_ns = SECOND_NS / served->kind.max_per_s;
    return cost_ns > 0 ? cost_ns : 1;
}

/* How many calls of the kind may be started now. Where only its rate forbids one, *wait_ns is lowered to
 * the time after which it does not. */
static uint32_t room_of_kind(ServedKind *served, uint64_t now_ns, uint64_t *wait_ns)
{
    uint32_t room =
        served->running < served->kind.max_running ? served->kind.max_running - served->running : 0;
    if (served->kind.max_per_s == 0) {
        return room;
    }
    uint64_t saved_ns = served->credit_ns + (now_ns - served->credited_at_ns);
    uint64_t cost_ns = cost_of_start(served);
    served->credit_ns = saved_ns < SECOND_NS ? saved_ns : SECOND_NS;
    served->credited_at_ns = now_ns;
    uint64_t starts = served->credit_ns / cost_ns;
    if (room > 0 && starts == 0) {
        uint64_t missing_ns = cost_ns - served->credit_ns;
        *wait_ns = missing_ns < *wait_ns ? missing_ns : *wait_ns;
    }
    return starts < room ? (uint32_t)starts : room;
}

/* Room for what may be claimed: a claim that is durable must not fail for want of memory. */
static int make_spares(Adapter *adapter, uint32_t count)
{
    while (adapter->spare_count < count) {
        Call *call = (Call *)mem_zalloc(MEM_UNIVERSE, sizeof *call);
        if (call == NULL) {
            return SAP_NOMEM;
        }
        adapter->spare[adapter->spare_count++] = call;
    }
    return buf_reserve(&adapter->calls, count * sizeof(Call *));
}

static ServedKind *kind_of_claim(const Adapter *adapter, const EffectClaim *claim)
{
    const CodecBytes *name = &claim->row.effect.kind;
    for (uint32_t i = 0; i < adapter->kind_count; i++) {
        ServedKind *served = &adapter->kinds[i];
        if (served->name.len == name->len &&
            memcmp(served->name.data, name->data, name->len) == 0) {
            return served;
        }
    }
    return NULL;
}

/* Begins a call whose claim is durable; `before_ns` is boot time before it was claimed. */
static void start_call(Adapter *adapter, Call *call, uint64_t before_ns)
{
    const AdapterKind *kind = &call->kind->kind;
    uint64_t now_ns = clock_boot_ns(adapter->session->clock);
    hex_write(call->key, call->claim.row.effect.intent_hash.data, UNIVERSE_DIGEST);
    call->call = (EffectCall){&call->claim.row.effect, call->key, call->claim.row.effect.attempt,
                              call->claim.row.policy.timeout_ns};
    call->renew_at_ns = before_ns + ADAPTER_RENEWAL_NS;
    call->stop_at_ns = before_ns + EFFECT_CLAIM_NS - ADAPTER_MARGIN_NS;
    call->timeout_at_ns = now_ns + call->call.timeout_ns;
    int rc = kind->start(kind->ctx, &call->call, &call->handle);
    if (rc != SAP_OK) {
        fail_call(call, "not_started");
        return;
    }
    call->begun = true;
    call->state = CALL_RUNNING;
    adapter->stats.started++;
}

/* Takes what was claimed into its calls, and starts them. */
static void take_claims(Adapter *adapter, Buf *claims, uint64_t before_ns)
{
    EffectClaim *list = (EffectClaim *)(void *)claims->data;
    uint32_t count = (uint32_t)(claims->len / sizeof(EffectClaim));
    for (uint32_t i = 0; i < count; i++) {
        Call *call = adapter->spare[--adapter->spare_count];
        call->claim = list[i];
        call->kind = kind_of_claim(adapter, &list[i]);
        SAP_ASSERT(call->kind != NULL);
        call->kind->running++;
        if (call->kind->kind.max_per_s > 0) {
            call->kind->credit_ns -= cost_of_start(call->kind);
        }
        int rc = buf_append(&adapter->calls, &call, sizeof(Call *));
        SAP_ASSERT(rc == SAP_OK);
        /* Committing may have taken so long that the claim is another's by now. */
        bool late = clock_boot_ns(adapter->session->clock) >=
                    before_ns + EFFECT_CLAIM_NS - ADAPTER_MARGIN_NS;
        if (late || !session_may_work(adapter->session)) {
            adapter->stats.lost++;
            forget_call(adapter, call_count(adapter) - 1);
        } else {
            start_call(adapter, call, before_ns);
        }
    }
    buf_clear(claims);
    adapter->stats.claimed += count;
}

/* What there is room for, of all kinds, each in its turn the first; returns how many calls that are. Where
 * a rate forbids more, *wait_ns is lowered. */
static uint32_t fill_requests(Adapter *adapter, ClaimRequest *requests, uint64_t now_ns,
                              uint64_t *wait_ns)
{
    uint32_t count = adapter->kind_count;
    uint32_t room = 0;
    adapter->first_kind = (adapter->first_kind + 1) % count;
    for (uint32_t i = 0; i < count; i++) {
        ServedKind *served = &adapter->kinds[(adapter->first_kind + i) % count];
        uint32_t limit = room_of_kind(served, now_ns, wait_ns);
        requests[i] =
            (ClaimRequest){served->name, limit, served->kind.policy, served->kind.at_most_once};
        room = limit < EFFECT_CLAIMS_AT_ONCE - room ? room + limit : EFFECT_CLAIMS_AT_ONCE;
    }
    return room;
}

static int claim_calls(Adapter *adapter, uint64_t now_ns, bool *busy_out)
{
    uint32_t count = adapter->kind_count;
    ClaimRequest *requests = (ClaimRequest *)mem_zalloc(MEM_UNIVERSE, count * sizeof *requests);
    Buf claims = {0};
    uint64_t credit_ns = UINT64_MAX;
    uint64_t due_ns = UINT64_MAX;
    if (requests == NULL) {
        return SAP_NOMEM;
    }
    uint32_t room = fill_requests(adapter, requests, now_ns, &credit_ns);
    int rc = effects_due(adapter->session, requests, count, &due_ns, &adapter->version);
    if (rc == SAP_OK && due_ns == 0) {
        rc = make_spares(adapter, room);
        rc = rc == SAP_OK
                 ? effects_claim(adapter->session, adapter->random, requests, count, &claims)
                 : rc;
        *busy_out = *busy_out || claims.len > 0;
    }
    if (rc == SAP_OK) {
        take_claims(adapter, &claims, now_ns);
    }
    /* Others may have locked what is due, or it is damaged: it is looked at again, but not at once. */
    adapter->wait_ns = due_ns == 0 ? LOOK_NS : due_ns;
    adapter->wait_ns = credit_ns < adapter->wait_ns ? credit_ns : adapter->wait_ns;
    buf_release(&claims);
    mem_free(MEM_UNIVERSE, requests, count * sizeof *requests);
    return rc;
}

/* ---- A step ---------------------------------------------------------------------------------- */

int adapter_step(Adapter *adapter, bool *busy_out)
{
    uint64_t now_ns = clock_boot_ns(adapter->session->clock);
    *busy_out = false;
    adapter->pokes = store_pokes(adapter->session->store, STORE_POKE_CALL);
    if (!session_may_work(adapter->session)) {
        forget_all(adapter); /* others take the claims of a session that expires */
        return SAP_OK;
    }
    poll_calls(adapter, now_ns, busy_out);
    int rc = renew_calls(adapter, now_ns);
    rc = rc == SAP_OK ? end_calls(adapter, busy_out) : rc;
    return rc == SAP_OK ? claim_calls(adapter, clock_boot_ns(adapter->session->clock), busy_out)
                        : rc;
}

void adapter_set_log(Adapter *adapter, const Log *log)
{
    adapter->log = log;
}

int adapter_settle(Adapter *adapter)
{
    bool busy = session_may_work(adapter->session);
    int rc = SAP_OK;
    if (busy) {
        poll_calls(adapter, clock_boot_ns(adapter->session->clock), &busy);
    }
    while (rc == SAP_OK && busy) {
        busy = false;
        rc = end_calls(adapter, &busy);
    }
    return rc;
}

int adapter_wait(Adapter *adapter, uint64_t timeout_ns)
{
    RowKey key;
    row_key_universe(&key, WIT_DBI_EFFECTS_PENDING, adapter->session->universe);
    SapStorePrefix prefix = {key.table, key.bytes, key.len};
    uint64_t wait_ns = adapter->wait_ns < timeout_ns ? adapter->wait_ns : timeout_ns;
    if (call_count(adapter) > 0 && wait_ns > POLL_NS) {
        wait_ns = POLL_NS;
    }
    int rc = store_wait_poked(adapter->session->store, SAP_STORE_READ_DURABLE, &prefix,
                              adapter->version, STORE_POKE_CALL, adapter->pokes, wait_ns);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}
