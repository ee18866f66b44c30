/* own.c - claims and wake-ups, which the engine itself does not have. */
#include "measure.h"

#include "sapling/store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { READY = STORE_FIRST_TABLE, TAKEN, LOAD_ROWS = 1000, MAX_OTHERS = 256 };

/* Says what failed. */
static int check(const char *what, int rc)
{
    if (rc != SAP_OK)
        fprintf(stderr, "bench: %s: %s\n", what, sap_strerror(rc));
    return rc == SAP_OK ? 0 : -1;
}

/* In the directory, or where the url says. */
static SapStore *open_store(const char *dir, const char *url)
{
    static const uint32_t tables[] = {READY, TAKEN};
    char file[4200];
    SapStore *store = NULL;
    SapStoreOptions options = {.size = sizeof options, .tables = tables, .table_count = 2};
    snprintf(file, sizeof file, "sapling:%s/store", dir);
    url = url ? url : file;
    if (sap_store_init(url, &options) != SAP_OK || sap_store_open(url, &options, &store) != SAP_OK)
        fprintf(stderr, "bench: %s\n", sap_open_error());
    return store;
}

/* ---- Claims --------------------------------------------------------------------------------- */

/* Numbers as keys, in their order. */
static void make_key(uint64_t number, uint8_t key[8])
{
    for (int i = 0; i < 8; i++)
        key[i] = (uint8_t)(number >> (56 - 8 * i));
}

static int load_rows(SapStore *store, uint64_t rows)
{
    static const uint8_t value[100];
    int rc = SAP_OK;
    for (uint64_t number = 0; number < rows && rc == SAP_OK;) {
        SapStoreTxn *txn;
        uint64_t mark;
        rc = sap_store_begin(store, SAP_STORE_GUARDED, &txn);
        for (uint64_t i = 0; i < LOAD_ROWS && rc == SAP_OK; i++, number++) {
            uint8_t key[8];
            make_key(number, key);
            rc = sap_store_put(txn, READY, key, sizeof key, value, sizeof value);
        }
        rc = rc == SAP_OK ? sap_store_commit_async(txn, &mark, NULL) : rc;
        rc = rc == SAP_OK && number == rows ? sap_store_wait_durable(store, mark) : rc;
    }
    return rc;
}

static int move_row(void *ctx, SapStoreTxn *txn, const SapStoreRow *row, SapStoreTarget *target)
{
    (void)ctx;
    (void)txn;
    *target = (SapStoreTarget){TAKEN, *row};
    return SAP_OK;
}

typedef struct Claimers {
    SapStore *store;
    uint32_t limit;
    atomic_int stop;
    atomic_int rc;
    atomic_uint_least64_t rows, claims;
} Claimers;

static void *claim_rows(void *arg)
{
    Claimers *claimers = arg;
    const SapStoreRange range = {.table = READY};
    while (!atomic_load_explicit(&claimers->stop, memory_order_relaxed)) {
        SapStoreTxn *txn;
        uint32_t count = 0;
        int rc = sap_store_begin(claimers->store, SAP_STORE_CLAIM, &txn);
        if (rc == SAP_OK) {
            (void)sap_store_claim(txn, &range, claimers->limit, move_row, NULL, &count);
            rc = sap_store_commit(txn, NULL);
        }
        if (rc != SAP_OK || count == 0) {
            atomic_store(&claimers->rc, rc != SAP_OK ? rc : SAP_NOTFOUND);
            break;
        }
        atomic_fetch_add(&claimers->rows, count);
        atomic_fetch_add(&claimers->claims, 1);
    }
    return NULL;
}

int store_measure_claims(const StoreClaimsRun *run, StoreClaims *out)
{
    Claimers claimers = {.store = open_store(run->dir, run->url), .limit = run->limit};
    pthread_t threads[STORE_MAX_THREADS];
    if (!claimers.store || check("rows to claim", load_rows(claimers.store, run->rows)))
        return -1;
    uint64_t start = bench_now_ns();
    for (uint32_t i = 0; i < run->threads; i++)
        if (pthread_create(&threads[i], NULL, claim_rows, &claimers) != 0)
            return check("threads", SAP_NOMEM);
    bench_sleep_us(run->ms * 1000);
    atomic_store(&claimers.stop, 1);
    for (uint32_t i = 0; i < run->threads; i++)
        pthread_join(threads[i], NULL);
    double seconds = (double)(bench_now_ns() - start) / 1e9;
    out->rows_per_s = (double)atomic_load(&claimers.rows) / seconds;
    out->claims_per_s = (double)atomic_load(&claimers.claims) / seconds;
    return check("claims", atomic_load(&claimers.rc)) |
           check("close", sap_store_close(claimers.store));
}

/* ---- Wake-ups ------------------------------------------------------------------------------- */

/* The waiter sleeps before each commit: it says when it is about to wait, and the committer then gives it
 * time to fall asleep. */
enum { SETTLE_US = 300 };

typedef struct Waking {
    SapStore *store;
    SapStore *writer; /* that commits */
    SapStoreKind kind;
    uint64_t samples;
    atomic_int rc;
    atomic_uint_least64_t waiting; /* the sample that is waited for */
    atomic_uint_least64_t woken;   /* the last that was seen */
    atomic_uint_least64_t woken_ns;
    atomic_int stop;
} Waking;

static int read_sample(Waking *waking, uint64_t *sample_out, uint64_t *version_out)
{
    SapStoreTxn *txn;
    const void *val;
    uint32_t len;
    int rc = sap_store_begin(waking->store, waking->kind, &txn);
    if (rc != SAP_OK)
        return rc;
    *sample_out = 0;
    *version_out = sap_store_version(txn);
    rc = sap_store_get(txn, READY, "sample", 6, &val, &len);
    if (rc == SAP_OK)
        memcpy(sample_out, val, sizeof *sample_out);
    sap_store_abort(txn);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static void *wait_for_samples(void *arg)
{
    Waking *waking = arg;
    const SapStorePrefix prefix = {READY, "sample", 6};
    int rc = SAP_OK;
    for (uint64_t i = 1; i <= waking->samples && rc == SAP_OK; i++) {
        uint64_t sample = 0, version = 0, woken_ns = 0;
        rc = read_sample(waking, &sample, &version);
        atomic_store(&waking->waiting, i);
        while (rc == SAP_OK && sample < i) {
            rc = sap_store_wait(waking->store, waking->kind, &prefix, version, 10000000000u);
            woken_ns = bench_now_ns();
            rc = rc == SAP_OK ? read_sample(waking, &sample, &version) : rc;
        }
        atomic_store(&waking->woken_ns, woken_ns);
        atomic_store(&waking->woken, i);
    }
    atomic_store(&waking->rc, rc);
    return NULL;
}

static void *wait_for_nothing(void *arg)
{
    Waking *waking = arg;
    const SapStorePrefix prefix = {TAKEN, "nothing", 7};
    while (!atomic_load(&waking->stop))
        (void)sap_store_wait(waking->store, waking->kind, &prefix, UINT64_MAX, 100000000);
    return NULL;
}

/* How long sample i took. */
static int commit_sample(Waking *waking, uint64_t i, uint64_t *ns_out)
{
    SapStoreTxn *txn;
    uint64_t mark;
    while (atomic_load(&waking->waiting) < i)
        bench_sleep_us(20);
    bench_sleep_us(SETTLE_US);
    int rc = sap_store_begin(waking->writer, SAP_STORE_GUARDED, &txn);
    rc = rc == SAP_OK ? sap_store_put(txn, READY, "sample", 6, &i, sizeof i) : rc;
    uint64_t from_ns = bench_now_ns();
    rc = rc == SAP_OK ? sap_store_commit_async(txn, &mark, NULL) : rc;
    if (rc == SAP_OK && waking->kind == SAP_STORE_READ_DURABLE) {
        rc = sap_store_wait_durable(waking->writer, mark);
        from_ns = bench_now_ns();
    }
    while (rc == SAP_OK && atomic_load(&waking->woken) < i) {
        bench_sleep_us(20);
        rc = atomic_load(&waking->rc);
    }
    uint64_t woken_ns = atomic_load(&waking->woken_ns);
    *ns_out = woken_ns > from_ns ? woken_ns - from_ns : 0;
    return rc;
}

static int take_samples(Waking *waking, StoreWake *out)
{
    BenchSamples samples = {0};
    int rc = SAP_OK;
    for (uint64_t i = 1; i <= waking->samples && rc == SAP_OK; i++) {
        uint64_t ns = 0;
        rc = commit_sample(waking, i, &ns);
        rc = rc == SAP_OK && bench_samples_add(&samples, ns) ? SAP_NOMEM : rc;
    }
    if (rc == SAP_OK) {
        bench_samples_sort(&samples);
        *out = (StoreWake){.samples = samples.count,
                           .p50_ns = samples.ns[samples.count / 2],
                           .p95_ns = samples.ns[samples.count * 95 / 100],
                           .max_ns = samples.ns[samples.count - 1]};
    }
    bench_samples_release(&samples);
    return rc;
}

int store_measure_wake(const StoreWakeRun *run, StoreWake *out)
{
    Waking waking = {.store = open_store(run->dir, run->url),
                     .kind = run->durable ? SAP_STORE_READ_DURABLE : SAP_STORE_READ_NEWEST,
                     .samples = run->samples};
    pthread_t waiter, others[MAX_OTHERS];
    uint32_t started = 0;
    waking.writer = run->url ? open_store(run->dir, run->url) : waking.store;
    if (!waking.store || !waking.writer || run->others > MAX_OTHERS)
        return -1;
    int rc = pthread_create(&waiter, NULL, wait_for_samples, &waking) ? SAP_NOMEM : SAP_OK;
    if (rc != SAP_OK)
        return check("threads", rc);
    while (started < run->others && rc == SAP_OK) {
        rc = pthread_create(&others[started], NULL, wait_for_nothing, &waking) ? SAP_NOMEM : SAP_OK;
        started += rc == SAP_OK;
    }
    rc = rc == SAP_OK ? take_samples(&waking, out) : rc;
    atomic_store(&waking.stop, 1);
    pthread_join(waiter, NULL);
    while (started > 0)
        pthread_join(others[--started], NULL);
    if (waking.writer != waking.store)
        rc = rc == SAP_OK ? sap_store_close(waking.writer) : rc;
    return check("wake-ups", rc) | check("close", sap_store_close(waking.store));
}
