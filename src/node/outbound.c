/* outbound.c - see outbound.h.
 *
 * A call is in `calls` from outbound_ask() until it is freed. Unless it is published it belongs to
 * the thread, and only the thread touches it, but for `cancelled`. Once it is published it belongs
 * to whoever has the handle: outbound_take() and outbound_drop() free it. A call that is cancelled
 * earlier is freed by the thread.
 *
 *   asked -> begun -> published -> taken, or dropped
 *      |       |
 *      +-------+--> cancelled -> freed by the thread */
#include "node/outbound.h"

#include "common/assert.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/sync.h"
#include "node/outbound_impl.h"

#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <string.h>

enum {
    WAIT_MOST_MS = 1000,    /* a deadline of a lookup is noticed this late */
    CONNECTIONS_KEPT = 128, /* as many as calls of both kinds */
    MAX_RUNNING = 64,
    DEFAULT_SLOW_MS = 20000,
    FAILED_WAIT_NS = 10000000,
};

#define ATTEMPT_NS UINT64_C(30000000000)

typedef enum OutboundFate { FATE_OK, FATE_ERROR, FATE_RETRY, FATE_CANCELLED, FATES } OutboundFate;

static const char *const fate_names[FATES] = {"ok", "error", "retry", "cancelled"};

/* NULL: none are kept. */
typedef struct OutboundMeters {
    Counter *calls[FATES];
    Gauge *running;
    Histogram *call_ns;
    Counter *received;
    Counter *refused;
} OutboundMeters;

struct Outbound {
    OutboundOptions options;
    Guard *guard;
    CallContext context;
    OutboundMeters meters;
    pthread_t thread;
    Mutex lock;          /* guards what follows, and who a call belongs to */
    OutboundCall *calls; /* all */
    bool stopping;
};

/* ---- Metrics and log ------------------------------------------------------------------------- */

static int add_meters(OutboundMeters *meters, MetricsRegistry *registry)
{
    MetricDesc calls = {.name = "sapling_outbound_calls_total",
                        .help = "Attempts of http.request and webhook, by how they ended.",
                        .label_key = "outcome"};
    const MetricDesc running = {.name = "sapling_outbound_running",
                                .help = "Attempts of http.request and webhook under way."};
    const MetricDesc call_ns = {.name = "sapling_outbound_call_ns",
                                .help = "How long attempts took that were not cancelled."};
    const MetricDesc received = {.name = "sapling_outbound_received_bytes_total",
                                 .help = "Bytes of receipts made of answers."};
    const MetricDesc refused = {.name = "sapling_outbound_refused_total",
                                .help = "Attempts refused for their address or their secret."};
    int rc = SAP_OK;
    for (int i = 0; registry != NULL && rc == SAP_OK && i < FATES; i++) {
        calls.label_value = fate_names[i];
        rc = metrics_add_counter(registry, &calls, &meters->calls[i]);
    }
    if (registry == NULL || rc != SAP_OK) {
        return rc;
    }
    rc = metrics_add_gauge(registry, &running, &meters->running);
    rc = rc == SAP_OK ? metrics_add_histogram(registry, &call_ns, &meters->call_ns) : rc;
    rc = rc == SAP_OK ? metrics_add_counter(registry, &received, &meters->received) : rc;
    return rc == SAP_OK ? metrics_add_counter(registry, &refused, &meters->refused) : rc;
}

static void count_running(const Outbound *outbound, int64_t delta)
{
    if (outbound->meters.running != NULL) {
        gauge_add(outbound->meters.running, delta);
    }
}

static bool was_refused(const OutboundCall *call)
{
    return strcmp(call->result.code, "address_refused") == 0 ||
           strcmp(call->result.code, "secret_refused") == 0;
}

static void count_end(const Outbound *outbound, const OutboundCall *call, OutboundFate fate,
                      uint64_t took_ns)
{
    const OutboundMeters *meters = &outbound->meters;
    count_running(outbound, -1);
    if (outbound->options.metrics == NULL) {
        return;
    }
    counter_add(meters->calls[fate], 1);
    if (fate != FATE_CANCELLED) {
        histogram_record(meters->call_ns, took_ns);
        counter_add(meters->received, call->result.payload.len);
        counter_add(meters->refused, was_refused(call) ? 1 : 0);
    }
}

/* The origin and no more of the URL: what follows may be meant for the server alone. */
static void report_end(const Outbound *outbound, const OutboundCall *call, OutboundFate fate)
{
    uint64_t took_ns = clock_mono_ns(NULL) - call->begun_ns;
    LogLevel level = fate == FATE_OK || fate == FATE_CANCELLED ? LOG_LEVEL_DEBUG
                     : was_refused(call)                       ? LOG_LEVEL_WARN
                                                               : LOG_LEVEL_INFO;
    char origin[URL_ORIGIN_MAX] = "";
    count_end(outbound, call, fate, took_ns);
    if (call->url.parts != NULL) {
        url_origin(&call->url, origin);
    }
    LOG_EVENT(outbound->options.log, level, "outbound.call", LOG_STR("outcome", fate_names[fate]),
              LOG_STR("code", call->result.code), LOG_STR("world", call->world),
              LOG_STR("ref", call->ref), LOG_U64("attempt", call->attempt),
              LOG_STR("method", call->method == NULL ? "" : call->method),
              LOG_STR("origin", origin), LOG_I64("status", call->result.status),
              LOG_U64("ms", took_ns / 1000000));
}

/* ---- The list, with the lock ----------------------------------------------------------------- */

static void link_call(Outbound *outbound, OutboundCall *call)
{
    call->next = outbound->calls;
    if (call->next != NULL) {
        call->next->previous = call;
    }
    outbound->calls = call;
}

static void unlink_call(Outbound *outbound, OutboundCall *call)
{
    if (call->next != NULL) {
        call->next->previous = call->previous;
    }
    if (call->previous != NULL) {
        call->previous->next = call->next;
    } else {
        SAP_ASSERT(outbound->calls == call);
        outbound->calls = call->next;
    }
}

/* ---- The thread ------------------------------------------------------------------------------ */

static void wake_thread(void *arg)
{
    (void)curl_multi_wakeup(((const Outbound *)arg)->context.multi);
}

/* A call has ended by itself. Its owner may free it as soon as the lock is given up. */
static void publish_call(Outbound *outbound, OutboundCall *call)
{
    static const OutboundFate fates[] = {
        [CALL_OK] = FATE_OK, [CALL_ERROR] = FATE_ERROR, [CALL_RETRY] = FATE_RETRY};
    SAP_ASSERT(call->stage == CALL_ENDED && !call->published);
    report_end(outbound, call, fates[call->result.verdict]);
    mutex_lock(&outbound->lock);
    bool cancelled = call->cancelled;
    if (cancelled) {
        unlink_call(outbound, call);
    } else {
        call->published = true;
    }
    mutex_unlock(&outbound->lock);
    if (cancelled) {
        call_free(call);
    } else if (outbound->options.wake != NULL) {
        outbound->options.wake(outbound->options.wake_ctx);
    }
}

static void free_cancelled(Outbound *outbound, OutboundCall *call)
{
    report_end(outbound, call, FATE_CANCELLED);
    mutex_lock(&outbound->lock);
    unlink_call(outbound, call);
    mutex_unlock(&outbound->lock);
    call_free(call);
}

static void advance_call(Outbound *outbound, OutboundCall *call)
{
    if (call->stage == CALL_NEW) {
        call_begin(call, &outbound->context);
    } else if (call->stage == CALL_RESOLVING) {
        call_step(call, &outbound->context);
    }
    if (call->stage == CALL_ENDED) {
        publish_call(outbound, call);
    }
}

/* The next call from `call` on that is not published; *cancelled_out is read with the lock. */
static OutboundCall *find_unpublished(OutboundCall *call, bool *cancelled_out)
{
    while (call != NULL && call->published) {
        call = call->next;
    }
    *cancelled_out = call != NULL && call->cancelled;
    return call;
}

/* Begins what is new, goes on with what was resolved, frees what was cancelled. False: stop.
 * Only the thread makes a call that is not published go away, so the next such one stays while
 * this one is treated. */
static bool advance_calls(Outbound *outbound)
{
    bool cancelled;
    mutex_lock(&outbound->lock);
    bool stopping = outbound->stopping;
    OutboundCall *call = find_unpublished(outbound->calls, &cancelled);
    while (call != NULL && !stopping) {
        bool next_cancelled;
        OutboundCall *next = find_unpublished(call->next, &next_cancelled);
        mutex_unlock(&outbound->lock);
        if (cancelled) {
            free_cancelled(outbound, call);
        } else {
            advance_call(outbound, call);
        }
        mutex_lock(&outbound->lock);
        call = next;
        cancelled = call != NULL && call->cancelled;
        stopping = outbound->stopping;
    }
    mutex_unlock(&outbound->lock);
    return !stopping;
}

static void finish_transfers(Outbound *outbound)
{
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(outbound->context.multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            CURLcode code = message->data.result;
            OutboundCall *call = (OutboundCall *)transfer_owner(message->easy_handle);
            call_continue(call, &outbound->context, code);
            if (call->stage == CALL_ENDED) {
                publish_call(outbound, call);
            }
        }
    }
}

static void *run_outbound(void *arg)
{
    Outbound *outbound = (Outbound *)arg;
    CURLM *multi = outbound->context.multi;
    const struct timespec pause = {.tv_nsec = FAILED_WAIT_NS};
    while (advance_calls(outbound)) {
        int running = 0;
        bool ok = curl_multi_perform(multi, &running) == CURLM_OK;
        finish_transfers(outbound);
        ok = ok && curl_multi_poll(multi, NULL, 0, WAIT_MOST_MS, NULL) == CURLM_OK;
        if (!ok) { /* memory, mostly: what can be done is tried again */
            (void)nanosleep(&pause, NULL);
        }
    }
    return NULL;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

int outbound_ask(Outbound *outbound, bool webhook, const SapEffectCall *asked,
                 OutboundCall **call_out)
{
    OutboundCall *call = NULL;
    int rc = call_new(webhook, asked, &call);
    if (rc != SAP_OK) {
        return rc;
    }
    count_running(outbound, 1);
    mutex_lock(&outbound->lock);
    SAP_ASSERT(!outbound->stopping);
    link_call(outbound, call);
    mutex_unlock(&outbound->lock);
    wake_thread(outbound);
    *call_out = call;
    return SAP_OK;
}

bool outbound_take(Outbound *outbound, OutboundCall *call, CallResult *result_out)
{
    mutex_lock(&outbound->lock);
    bool published = call->published;
    if (published) {
        unlink_call(outbound, call);
    }
    mutex_unlock(&outbound->lock);
    if (!published) {
        return false;
    }
    *result_out = call->result;
    call->result.payload = (Buf){0};
    call_free(call);
    return true;
}

void outbound_drop(Outbound *outbound, OutboundCall *call)
{
    mutex_lock(&outbound->lock);
    SAP_ASSERT(!call->cancelled);
    bool published = call->published;
    if (published) {
        unlink_call(outbound, call);
    } else {
        call->cancelled = true;
    }
    mutex_unlock(&outbound->lock);
    if (published) {
        call_free(call);
    } else {
        wake_thread(outbound);
    }
}

/* ---- Adapters -------------------------------------------------------------------------------- */

static int ask_for(void *ctx, bool webhook, const SapEffectCall *asked, void **handle_out)
{
    OutboundCall *call = NULL;
    int rc = outbound_ask((Outbound *)ctx, webhook, asked, &call);
    if (rc == SAP_OK) {
        *handle_out = call;
    }
    return rc;
}

static int start_request(void *ctx, const SapEffectCall *asked, void **handle_out)
{
    return ask_for(ctx, false, asked, handle_out);
}

static int start_webhook(void *ctx, const SapEffectCall *asked, void **handle_out)
{
    return ask_for(ctx, true, asked, handle_out);
}

static int poll_outbound(void *ctx, void *handle, SapEffectResult *result, bool *done_out)
{
    CallResult ended;
    *done_out = outbound_take((Outbound *)ctx, (OutboundCall *)handle, &ended);
    if (!*done_out) {
        return SAP_OK;
    }
    int rc =
        sap_effect_result(result, ended.verdict == CALL_OK ? SAP_RECEIPT_OK : SAP_RECEIPT_ERROR,
                          ended.code, SAP_ENCODING_JSON, ended.payload.data, ended.payload.len);
    buf_release(&ended.payload);
    if (ended.pause_ms > 0) {
        (void)sap_effect_retry_after(result, ended.pause_ms * 1000000);
    }
    /* Any code but SAP_OK: it may be tried again. */
    return rc == SAP_OK && ended.verdict == CALL_RETRY ? SAP_BUSY : rc;
}

static void cancel_outbound(void *ctx, void *handle)
{
    outbound_drop((Outbound *)ctx, (OutboundCall *)handle);
}

void outbound_adapter(Outbound *outbound, bool webhook, SapEffectAdapter *adapter_out)
{
    *adapter_out = (SapEffectAdapter){
        .size = sizeof *adapter_out,
        .kind = webhook ? "webhook" : "http.request",
        .start = webhook ? start_webhook : start_request,
        .poll = poll_outbound,
        .cancel = cancel_outbound,
        .ctx = outbound,
        .retry = {.timeout_ns = ATTEMPT_NS},
        .max_running = MAX_RUNNING,
    };
}

/* ---- Opening and closing --------------------------------------------------------------------- */

static int open_curl(Outbound *outbound)
{
    if (sodium_init() < 0 || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return SAP_NOMEM;
    }
    outbound->context.multi = curl_multi_init();
    if (outbound->context.multi == NULL) {
        curl_global_cleanup();
        return SAP_NOMEM;
    }
    (void)curl_multi_setopt(outbound->context.multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS_KEPT);
    return SAP_OK;
}

static int start_thread(Outbound *outbound)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all); /* SIGPIPE too: TLS libraries write without asking for none */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&outbound->thread, NULL, run_outbound, outbound);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0 ? SAP_OK : SAP_NOMEM;
}

/* What outbound_open() has made so far; the thread is not running. */
static void free_outbound(Outbound *outbound)
{
    while (outbound->calls != NULL) {
        OutboundCall *call = outbound->calls;
        if (!call->published) {
            report_end(outbound, call, FATE_CANCELLED);
        }
        outbound->calls = call->next;
        call_free(call);
    }
    lookups_close(outbound->context.lookups);
    if (outbound->context.multi != NULL) {
        (void)curl_multi_cleanup(outbound->context.multi);
        curl_global_cleanup();
    }
    guard_close(outbound->guard);
    mutex_destroy(&outbound->lock);
    mem_free(MEM_COMMON, outbound, sizeof *outbound);
}

static int open_parts(Outbound *outbound)
{
    const OutboundOptions *options = &outbound->options;
    const LookupsOptions lookups = {options->lookup, options->lookup_ctx, wake_thread, outbound};
    int rc = guard_open(options->allow, options->allow_count, options->own, options->own_count,
                        &outbound->guard, options->bad_place_out);
    rc = rc == SAP_OK ? open_curl(outbound) : rc;
    rc = rc == SAP_OK ? lookups_open(&lookups, &outbound->context.lookups) : rc;
    rc = rc == SAP_OK ? add_meters(&outbound->meters, options->metrics) : rc;
    outbound->options.allow = NULL; /* the guard has copied them */
    outbound->options.own = NULL;
    outbound->options.bad_place_out = NULL;
    outbound->context.guard = outbound->guard;
    outbound->context.secrets = options->secrets;
    outbound->context.ca_file = options->ca_file;
    outbound->context.slow_ms = options->slow_ms == 0 ? DEFAULT_SLOW_MS : options->slow_ms;
    return rc == SAP_OK ? start_thread(outbound) : rc;
}

int outbound_open(const OutboundOptions *options, Outbound **outbound_out)
{
    Outbound *outbound = (Outbound *)mem_zalloc(MEM_COMMON, sizeof *outbound);
    if (outbound == NULL) {
        return SAP_NOMEM;
    }
    if (!mutex_init(&outbound->lock)) {
        mem_free(MEM_COMMON, outbound, sizeof *outbound);
        return SAP_NOMEM;
    }
    outbound->options = *options;
    int rc = open_parts(outbound);
    if (rc != SAP_OK) {
        free_outbound(outbound);
        return rc;
    }
    *outbound_out = outbound;
    return SAP_OK;
}

void outbound_close(Outbound *outbound)
{
    if (outbound == NULL) {
        return;
    }
    mutex_lock(&outbound->lock);
    outbound->stopping = true;
    mutex_unlock(&outbound->lock);
    wake_thread(outbound);
    (void)pthread_join(outbound->thread, NULL);
    free_outbound(outbound);
}
