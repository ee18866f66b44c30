/* node_outbound_bed.h - what tests of calls to the outside share: servers of their own, names that
 * resolve as
 * they like, a file of secrets, and what was logged. */
#ifndef SAPLING_TESTS_NODE_OUTBOUND_BED_H
#define SAPLING_TESTS_NODE_OUTBOUND_BED_H

#include "common/clock.h"
#include "common/fault.h"
#include "common/mem.h"
#include "node/outbound_impl.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/http_server.h"
#include "support/suite.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BED_TEXT = 4096, BED_PLACES = 8, BED_WAIT_S = 60 };

#define BED_KEY "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

typedef struct OutboundBed {
    FileBed files;
    char secrets[FILES_PATH_MAX + 16];
    size_t live_before;
    HttpServer *server; /* 127.0.0.1, allowed */
    HttpServer *other;  /* the same script; not allowed unless the test says so */
    char place[64];     /* of `server`: 127.0.0.1:PORT */
    const char *allow[BED_PLACES];
    const char *own[BED_PLACES];
    OutboundOptions options;
    MetricsRegistry metrics;
    Log log;
    Outbound *outbound;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t woken;
    uint32_t wakes;
    uint32_t lookups;
    Buf logged;
} OutboundBed;

static inline void bed_note_wake(void *ctx)
{
    OutboundBed *bed = (OutboundBed *)ctx;
    pthread_mutex_lock(&bed->lock);
    bed->wakes++;
    pthread_cond_broadcast(&bed->woken);
    pthread_mutex_unlock(&bed->lock);
}

static inline void bed_note_log(void *ctx, const LogRecord *record)
{
    OutboundBed *bed = (OutboundBed *)ctx;
    pthread_mutex_lock(&bed->lock);
    (void)log_format_text(record, &bed->logged);
    pthread_mutex_unlock(&bed->lock);
}

/* Names of tests: loop.test is 127.0.0.1, a.b.c.d.addr.test is a.b.c.d, none.test is unknown,
 * later.test fails; others are 127.0.0.1 the first time and 127.0.0.2 afterwards. */
static inline void bed_lookup(void *ctx, const char *host, LookupAnswer *out)
{
    OutboundBed *bed = (OutboundBed *)ctx;
    char text[GUARD_HOST_MAX + 1];
    pthread_mutex_lock(&bed->lock);
    uint32_t before = bed->lookups++;
    pthread_mutex_unlock(&bed->lock);
    const char *suffix = strstr(host, ".addr.test");
    if (strcmp(host, "none.test") == 0 || strcmp(host, "later.test") == 0) {
        out->outcome = strcmp(host, "none.test") == 0 ? LOOKUP_UNKNOWN : LOOKUP_FAILED;
        return;
    }
    (void)snprintf(text, sizeof text, "%.*s", suffix == NULL ? 0 : (int)(suffix - host), host);
    if (suffix == NULL) {
        (void)strcpy(text,
                     before == 0 || strcmp(host, "loop.test") == 0 ? "127.0.0.1" : "127.0.0.2");
    }
    EXPECT(address_read(text, 0, &out->addresses[0]), "not an address: %s", text);
    out->count = 1;
    out->outcome = LOOKUP_FOUND;
}

/* `script` serves both servers; the options may be changed until bed_open(). */
static inline void bed_start(OutboundBed *bed, HttpScript script)
{
    memset(bed, 0, sizeof *bed);
    bed->live_before = mem_live_bytes(MEM_COMMON);
    file_bed_start(&bed->files);
    (void)snprintf(bed->secrets, sizeof bed->secrets, "%s/secrets.json", bed->files.dir);
    pthread_condattr_t monotonic;
    EXPECT(pthread_mutex_init(&bed->lock, NULL) == 0 && pthread_condattr_init(&monotonic) == 0 &&
               pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0 &&
               pthread_cond_init(&bed->woken, &monotonic) == 0,
           "no lock");
    (void)pthread_condattr_destroy(&monotonic);
    bed->server = http_server_start("127.0.0.1", script, bed);
    bed->other = http_server_start("127.0.0.1", script, bed);
    EXPECT(bed->server != NULL && bed->other != NULL, "no server");
    (void)snprintf(bed->place, sizeof bed->place, "127.0.0.1:%u", http_server_port(bed->server));
    EXPECT_RC(metrics_init(&bed->metrics), SAP_OK);
    log_init(&bed->log, bed_note_log, bed, LOG_LEVEL_DEBUG, NULL);
    bed->allow[0] = bed->place;
    bed->options = (OutboundOptions){.log = &bed->log,
                                     .metrics = &bed->metrics,
                                     .allow = bed->allow,
                                     .allow_count = 1,
                                     .own = bed->own,
                                     .wake = bed_note_wake,
                                     .wake_ctx = bed,
                                     .secrets = secrets_file_source(bed->secrets),
                                     .lookup = bed_lookup,
                                     .lookup_ctx = bed};
}

static inline void bed_open(OutboundBed *bed)
{
    EXPECT_RC(outbound_open(&bed->options, &bed->outbound), SAP_OK);
}

static inline void bed_end(OutboundBed *bed)
{
    outbound_close(bed->outbound);
    http_server_stop(bed->server);
    http_server_stop(bed->other);
    metrics_release(&bed->metrics);
    buf_release(&bed->logged);
    pthread_cond_destroy(&bed->woken);
    pthread_mutex_destroy(&bed->lock);
    (void)unlink(bed->secrets);
    file_bed_end(&bed->files);
    EXPECT(mem_live_bytes(MEM_COMMON) == bed->live_before, "%zu bytes leaked",
           mem_live_bytes(MEM_COMMON) - bed->live_before);
}

static inline void bed_write_secrets(const OutboundBed *bed, const char *text)
{
    FILE *file = fopen(bed->secrets, "w");
    EXPECT(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0 &&
               chmod(bed->secrets, 0600) == 0,
           "cannot write secrets");
}

static inline OutboundCall *bed_ask(const OutboundBed *bed, bool webhook, const char *params)
{
    OutboundCall *call = NULL;
    const SapEffectCall asked = {.kind = webhook ? "webhook" : "http.request",
                                 .world = "order-1",
                                 .ref = "charge",
                                 .idempotency_key = BED_KEY,
                                 .attempt = 1,
                                 .timeout_ns = BED_WAIT_S * UINT64_C(1000000000),
                                 .encoding = SAP_ENCODING_JSON,
                                 .params = params,
                                 .params_len = strlen(params)};
    EXPECT_RC(outbound_ask(bed->outbound, webhook, &asked, &call), SAP_OK);
    return call;
}

/* Waits until the call has ended; the caller releases result->payload, which ends with a NUL. */
static inline void bed_wait(OutboundBed *bed, OutboundCall *call, CallResult *result)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 2 * BED_WAIT_S;
    pthread_mutex_lock(&bed->lock);
    bool done = false;
    while (!done) {
        uint32_t seen = bed->wakes;
        pthread_mutex_unlock(&bed->lock);
        done = outbound_take(bed->outbound, call, result);
        pthread_mutex_lock(&bed->lock);
        while (!done && bed->wakes == seen) {
            EXPECT(pthread_cond_timedwait(&bed->woken, &bed->lock, &until) == 0,
                   "no end of a call");
        }
    }
    pthread_mutex_unlock(&bed->lock);
    EXPECT_RC(buf_append_u8(&result->payload, 0), SAP_OK);
}

/* Expects how a call ends, and, unless NULL, a part of its payload. */
static inline void bed_expect_result(CallResult *result, CallVerdict verdict, const char *code,
                                     const char *part)
{
    const char *payload = (const char *)result->payload.data;
    EXPECT(result->verdict == verdict && strcmp(result->code, code) == 0,
           "verdict %d code \"%s\", not %d \"%s\": %.500s", (int)result->verdict, result->code,
           (int)verdict, code, payload);
    EXPECT(part == NULL || strstr(payload, part) != NULL, "no %s in %.500s", part, payload);
    buf_release(&result->payload);
}

static inline void bed_expect(OutboundBed *bed, bool webhook, const char *params,
                              CallVerdict verdict, const char *code, const char *part)
{
    CallResult result;
    expect_context("%.180s", params);
    bed_wait(bed, bed_ask(bed, webhook, params), &result);
    bed_expect_result(&result, verdict, code, part);
}

/* Params of http.request: the path on the bed's server, and further members with a comma before
 * them. */
static inline const char *bed_params(const OutboundBed *bed, const char *path, const char *more,
                                     char room[BED_TEXT])
{
    (void)snprintf(room, BED_TEXT, "{\"url\":\"http://%s%s\"%s}", bed->place, path, more);
    return room;
}

static inline void bed_expect_request(OutboundBed *bed, const char *path, const char *more,
                                      CallVerdict verdict, const char *code, const char *part)
{
    char room[BED_TEXT];
    bed_expect(bed, false, bed_params(bed, path, more, room), verdict, code, part);
}

/* Whether anything of that kind was logged. */
static inline bool bed_logged(OutboundBed *bed, const char *part)
{
    pthread_mutex_lock(&bed->lock);
    bool found = bed->logged.len > 0 &&
                 memmem(bed->logged.data, bed->logged.len, part, strlen(part)) != NULL;
    pthread_mutex_unlock(&bed->lock);
    return found;
}

#endif
