/* api_node.c - see api_node.h. */
#include "node/api_node.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "node/api_list.h"
#include "sapling/version.h"

static const char text_type[] = "text/plain; charset=utf-8";
static const char prometheus_type[] = "text/plain; version=0.0.4; charset=utf-8";

static void answer_text(Call *call, uint32_t status, const char *text)
{
    Buf buf = {0};
    int rc = buf_append_str(&buf, text);
    rc = rc == SAP_OK ? buf_append_u8(&buf, '\n') : rc;
    if (rc != SAP_OK) {
        buf_release(&buf);
        call_answer_empty(call, status);
        return;
    }
    call_answer_text(call, status, text_type, &buf);
}

void api_healthz(Call *call)
{
    answer_text(call, 200, "ok");
}

void api_readyz(Call *call)
{
    char why[512] = "";
    const HttpOptions *options = &call->api->options;
    bool ready = options->ready == NULL || options->ready(options->ready_ctx, why, sizeof why);
    answer_text(call, ready ? 200 : 503, ready ? "ok" : why);
}

void api_metrics(Call *call)
{
    Buf text = {0};
    char *universe = NULL;
    const HttpOptions *options = &call->api->options;
    int rc = options->metrics == NULL ? SAP_OK : metrics_format_prometheus(options->metrics, &text);
    rc = rc == SAP_OK ? sap_universe_metrics(call->api->universe, &universe) : rc;
    rc = rc == SAP_OK ? buf_append_str(&text, universe) : rc;
    sap_universe_text_free(universe);
    if (rc != SAP_OK) {
        buf_release(&text);
        (void)call_fail_code(call, rc, "metrics");
        return;
    }
    call_answer_text(call, 200, prometheus_type, &text);
}

/* ---- Status ---------------------------------------------------------------------------------- */

/* What is counted, up to SAP_COUNT_MOST of each. */
typedef struct Counts {
    uint32_t worlds[SAP_WORLD_DELETED + 1];
    uint32_t total;
    bool capped;
    uint32_t letters;
    bool letters_capped;
    uint32_t effects_failing;
    uint32_t workers;
    uint32_t workers_lost;
} Counts;

static int count_world(void *ctx, const char *name, const SapWorldInfo *info)
{
    Counts *counts = (Counts *)ctx;
    (void)name;
    counts->worlds[info->status]++;
    counts->total++;
    return SAP_OK;
}

static int count_letter(void *ctx, const char *world, const SapDeadLetter *letter)
{
    (void)world;
    (void)letter;
    ((Counts *)ctx)->letters++;
    return SAP_OK;
}

static int count_effect(void *ctx, const SapEffectInfo *effect)
{
    ((Counts *)ctx)->effects_failing += effect->attempts > 1 && effect->code[0] != 0;
    return SAP_OK;
}

static int count_worker(void *ctx, const SapWorkerInfo *worker)
{
    Counts *counts = (Counts *)ctx;
    counts->workers += worker->alive;
    counts->workers_lost += !worker->alive && worker->worlds > 0;
    return SAP_OK;
}

/* Reads all pages of a list, up to SAP_COUNT_MOST entries, by the function given. *capped_out: there are more. */
typedef int (*ReadPage)(SapUniverse *universe, const SapListQuery *query, Counts *counts,
                        SapListEnd *end_out);

static int read_worlds(SapUniverse *universe, const SapListQuery *query, Counts *counts,
                       SapListEnd *end_out)
{
    return sap_worlds_list(universe, query, count_world, counts, end_out);
}

static int read_letters(SapUniverse *universe, const SapListQuery *query, Counts *counts,
                        SapListEnd *end_out)
{
    return sap_dead_letters_list(universe, query, count_letter, counts, end_out);
}

static int read_effects(SapUniverse *universe, const SapListQuery *query, Counts *counts,
                        SapListEnd *end_out)
{
    return sap_effects_list(universe, query, count_effect, counts, end_out);
}

static int read_workers(SapUniverse *universe, const SapListQuery *query, Counts *counts,
                        SapListEnd *end_out)
{
    return sap_workers_list(universe, query, count_worker, counts, end_out);
}

static int count_pages(SapUniverse *universe, ReadPage read, Counts *counts, bool *capped_out)
{
    enum { PAGE = 1000, PAGES = SAP_COUNT_MOST / PAGE };
    char after[SAP_LIST_MAX_NEXT] = "";
    SapListQuery query = {.size = sizeof query, .limit = PAGE, .after = after};
    SapListEnd end = {.more = true};
    int rc = SAP_OK;
    for (int i = 0; rc == SAP_OK && i < PAGES && end.more; i++) {
        rc = read(universe, &query, counts, &end);
        memcpy(after, end.next, sizeof after);
    }
    *capped_out = end.more;
    return rc;
}

static int count_all(SapUniverse *universe, Counts *counts)
{
    bool ignored = false;
    int rc = count_pages(universe, read_worlds, counts, &counts->capped);
    rc = rc == SAP_OK ? count_pages(universe, read_letters, counts, &counts->letters_capped) : rc;
    rc = rc == SAP_OK ? count_pages(universe, read_effects, counts, &ignored) : rc;
    return rc == SAP_OK ? count_pages(universe, read_workers, counts, &ignored) : rc;
}

static bool add_attention(json_t *list, const char *what, uint32_t count, const char *command)
{
    return count == 0 ||
           json_array_append_new(list, json_pack("{s:s, s:i, s:s}", "what", what, "count",
                                                 (int)count, "command", command)) == 0;
}

static json_t *attention_json(const Counts *counts)
{
    json_t *list = json_array();
    bool done =
        list != NULL &&
        add_attention(list, "worlds that are paused", counts->worlds[SAP_WORLD_PAUSED],
                      "sapling world list --status paused") &&
        add_attention(list, "worlds whose handler does not return", counts->worlds[SAP_WORLD_STUCK],
                      "sapling world list --status stuck") &&
        add_attention(list, "dead letters", counts->letters, "sapling dlq list") &&
        add_attention(list, "effects that fail and are tried again", counts->effects_failing,
                      "sapling effect list") &&
        add_attention(list, "workers that are gone and held worlds", counts->workers_lost,
                      "sapling worker list");
    if (!done) {
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *worlds_json(const Counts *counts)
{
    return json_pack("{s:i, s:i, s:i, s:i, s:i, s:b}", "total", (int)counts->total, "active",
                     (int)counts->worlds[SAP_WORLD_ACTIVE], "paused",
                     (int)counts->worlds[SAP_WORLD_PAUSED], "stuck",
                     (int)counts->worlds[SAP_WORLD_STUCK], "done",
                     (int)counts->worlds[SAP_WORLD_DONE], "capped", (int)counts->capped);
}

void api_status(Call *call)
{
    Counts counts = {0};
    const Api *api = call->api;
    int rc = count_all(api->universe, &counts);
    if (rc != SAP_OK) {
        (void)call_fail_code(call, rc, "status");
        return;
    }
    call_answer(call, 200,
                json_pack("{s:s, s:i, s:I, s:s, s:s, s:s, s:o, s:i, s:b, s:i, s:o}", "version",
                          sap_version(), "pid", (int)getpid(), "started_ms",
                          (json_int_t)api->options.started_ms, "data", api->options.data, "store",
                          api->options.store_url == NULL ? "" : api->options.store_url, "listen",
                          api->address, "worlds", worlds_json(&counts), "dead_letters",
                          (int)counts.letters, "dead_letters_capped", (int)counts.letters_capped,
                          "workers", (int)counts.workers, "attention", attention_json(&counts)));
}
