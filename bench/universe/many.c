/* many.c - very many worlds: at rest, and after the death of the worker that held them. */
#include "universe/measure.h"

#include "universe/universe_impl.h"
#include "universe/worlds.h"
#include "util.h"

#include <stdio.h>
#include <string.h>

/* ---- At rest -------------------------------------------------------------------------------- */

enum { SETTLE_US = 2000000, IDLE_S = 5, MADE_AT_ONCE = 1000 };

/* Memory of this process that no file has. */
static double own_memory_bytes(void)
{
    char line[256];
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "RssAnon: %llu", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return (double)kib * 1024;
}

typedef struct Rest {
    const char *url;
    uint32_t count;
} Rest;

typedef struct RestFigures {
    double open_ms;
    double cpu_percent;
    double memory_bytes;
    double created_per_s;
    double first_steps_per_s;
} RestFigures;

/* Worlds that are created, make a step and are given back. */
static int make_some(Worlds *worlds, uint32_t count, uint64_t *create_ns, uint64_t *step_ns)
{
    Host *host = NULL;
    uint64_t begin_ns = bench_now_ns();
    if (worlds_create(worlds, count) != 0)
        return -1;
    uint64_t created_ns = bench_now_ns();
    if (worlds_host(worlds, 0, &host) != 0 || worlds_rest(worlds) != 0)
        return -1;
    *create_ns += created_ns - begin_ns;
    *step_ns += bench_now_ns() - created_ns;
    return worlds_host_stop(host);
}

static int make_worlds(const void *arg, void *result)
{
    const Rest *rest = arg;
    RestFigures *figures = result;
    Worlds worlds;
    uint64_t create_ns = 0, step_ns = 0;
    int rc = worlds_make(rest->url, &worlds);
    for (uint32_t made = 0; made < rest->count && !rc; made += MADE_AT_ONCE) {
        uint32_t left = rest->count - made;
        rc = make_some(&worlds, left < MADE_AT_ONCE ? left : MADE_AT_ONCE, &create_ns, &step_ns);
    }
    if (rc)
        return -1;
    figures->created_per_s = rest->count / ((double)create_ns / 1e9);
    figures->first_steps_per_s = rest->count / ((double)step_ns / 1e9);
    return worlds_close(&worlds);
}

/* A process that has nothing to do. */
static int rest_worlds(const void *arg, void *result)
{
    const Rest *rest = arg;
    RestFigures *figures = result;
    Worlds worlds;
    Host *host = NULL;
    uint64_t begin_ns = bench_now_ns();
    if (worlds_open(rest->url, 1, 1, &worlds) != 0 || worlds_host(&worlds, 0, &host) != 0)
        return -1;
    figures->open_ms = (double)(bench_now_ns() - begin_ns) / 1e6;
    bench_sleep_us(SETTLE_US);
    double cpu = worlds_cpu_seconds();
    begin_ns = bench_now_ns();
    bench_sleep_us(IDLE_S * UINT64_C(1000000));
    figures->cpu_percent =
        100 * (worlds_cpu_seconds() - cpu) / ((double)(bench_now_ns() - begin_ns) / 1e9);
    figures->memory_bytes = own_memory_bytes();
    return worlds_host_stop(host) == 0 ? worlds_close(&worlds) : -1;
}

int measure_dormant(const UniRun *run, double *values)
{
    char url[UNI_URL + 8];
    Rest many = {run->url, run->many}, none = {url, 1};
    RestFigures made, made_none, rest, rest_none;
    snprintf(url, sizeof url, "%s-empty", run->url);
    if (bench_in_child(make_worlds, &many, &made, sizeof made) != 0 ||
        bench_in_child(make_worlds, &none, &made_none, sizeof made_none) != 0 ||
        bench_in_child(rest_worlds, &many, &rest, sizeof rest) != 0 ||
        bench_in_child(rest_worlds, &none, &rest_none, sizeof rest_none) != 0)
        return -1;
    values[DORMANT_CPU_PERCENT] = rest.cpu_percent;
    values[DORMANT_EMPTY_CPU_PERCENT] = rest_none.cpu_percent;
    values[DORMANT_BYTES] = (rest.memory_bytes - rest_none.memory_bytes) / run->many;
    values[DORMANT_OPEN_MS] = rest.open_ms;
    values[DORMANT_CREATED_PER_S] = made.created_per_s;
    values[DORMANT_FIRST_STEPS_PER_S] = made.first_steps_per_s;
    return 0;
}

/* ---- Takeover ------------------------------------------------------------------------------- */

/* A worker that dies is here no more than what it leaves: a session, and leases of worlds. */
typedef struct Dying {
    Worlds *worlds;
    Session session;
} Dying;

static int take_some(void *ctx, uint32_t thread)
{
    Dying *dying = ctx;
    int rc = SAP_OK;
    for (uint32_t i = thread; i < dying->worlds->count && rc == SAP_OK; i += WORLDS_CLIENTS) {
        char text[16];
        UniverseName name;
        Lease lease;
        uint64_t mark = 0;
        worlds_name(dying->worlds, i, text);
        rc = universe_name_set(&name, text);
        rc = rc == SAP_OK ? lease_acquire_world(&dying->session, &name, &mark, &lease) : rc;
    }
    return worlds_check("lease", rc);
}

static int take_all(Dying *dying, Worlds *worlds)
{
    SapStore *store = sap_universe_store(worlds->universe);
    dying->worlds = worlds;
    int rc = session_init(&dying->session, store, NULL, NULL, 0, "dying");
    dying->session.ttl_ns = UINT64_C(3600000000000); /* until it is expired below */
    rc = rc == SAP_OK ? session_start(&dying->session) : rc;
    return worlds_check("session", rc) == 0 ? worlds_threads(WORLDS_CLIENTS, take_some, dying) : -1;
}

/* Its expiry is now; then as long as others wait in addition. */
static int expire(Dying *dying, SapWorker *other)
{
    enum { WAIT_MS = SESSION_RENEWAL_NS / 1000000 + 500, EACH_MS = 500 };
    dying->session.ttl_ns = 1;
    dying->session.margin_ns = 0;
    int rc = session_renew(&dying->session);
    for (int ms = 0; ms < WAIT_MS && rc == SAP_OK; ms += EACH_MS) {
        bench_sleep_us(EACH_MS * 1000);
        rc = sap_worker_renew(other);
    }
    return worlds_check("session", rc);
}

/* Whether the session still holds a world. */
static int holds_world(const Dying *dying, int *holds_out)
{
    RowKey from, to;
    SapStoreRange range;
    SapStoreTxn *txn = NULL;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    row_key_held_all(&from, 0, dying->session.nonce);
    row_range(&from, &to, &range);
    int rc = sap_store_begin(dying->session.store, SAP_STORE_READ_DURABLE, &txn);
    rc = rc == SAP_OK ? sap_store_scan(txn, &range, false, 1, &rows, &count) : rc;
    sap_store_abort(txn);
    *holds_out = count > 0;
    return worlds_check("held", rc);
}

static int clear_dead(const Dying *dying, SapWorker *worker, double *seconds_out)
{
    int holds = 1, rc = 0;
    uint64_t begin_ns = bench_now_ns();
    while (holds && !rc) {
        bool busy = false;
        rc = worlds_check("takeover", sap_worker_step_role(worker, SAP_ROLE_ORCHESTRATOR, &busy));
        rc = rc ? rc : worlds_check("renewal", sap_worker_renew(worker));
        rc = rc ? rc : holds_world(dying, &holds);
    }
    *seconds_out = (double)(bench_now_ns() - begin_ns) / 1e9;
    return rc;
}

static int check_free(const Worlds *worlds)
{
    for (uint32_t i = 0; i < worlds->count; i++) {
        char name[16];
        SapWorldInfo info;
        worlds_name(worlds, i, name);
        if (worlds_check("info", sap_world_info(worlds->universe, name, &info)) != 0)
            return -1;
        if (info.holder[0]) {
            fprintf(stderr, "bench: %s still has a holder\n", name);
            return -1;
        }
    }
    return 0;
}

int measure_takeover(const UniRun *run, double *values)
{
    Worlds worlds;
    Dying dying;
    SapWorker *worker = NULL;
    double seconds = 0;
    /* The item of its creation waits in each world. */
    if (worlds_make(run->url, &worlds) != 0 || worlds_create(&worlds, run->many) != 0 ||
        take_all(&dying, &worlds) != 0 ||
        worlds_check("worker", sap_worker_open(worlds.universe, NULL, &worker)) != 0 ||
        expire(&dying, worker) != 0 || clear_dead(&dying, worker, &seconds) != 0 ||
        check_free(&worlds) != 0)
        return -1;
    values[TAKEOVER_SECONDS] = seconds;
    values[TAKEOVER_PER_S] = run->many / seconds;
    session_release(&dying.session);
    return worlds_check("close", sap_worker_close(worker)) == 0 ? worlds_close(&worlds) : -1;
}
