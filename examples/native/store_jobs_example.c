/* store_jobs_example.c - jobs that two threads claim, and transfers between accounts, in one store.
 *
 * A claim moves a job from the table of those that wait to the table of those under way, so that no
 * job goes to two threads. Doing a job is a transfer: a guarded transaction on both accounts and the
 * job's row, which is deleted in the same commit. A job that is run again after a crash finds its row
 * gone and changes nothing. With the url of a PostgreSQL server, and
 * sap_store_init() before the first open, the same program runs there.
 *
 * Build: cc -pthread store_jobs_example.c $(pkg-config --cflags --libs sapling-runtime) */
#include <pthread.h>
#include <sapling/store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ACCOUNTS = 16, WAITING = 17, UNDER_WAY = 18, JOBS = 20, THREADS = 2, TEXT = 32 };

static const char url[] = "sapling:jobs.db";
static const uint32_t tables[] = {ACCOUNTS, WAITING, UNDER_WAY};

static void check(int rc, const char *what)
{
    if (rc != SAP_OK) {
        fprintf(stderr, "%s: %s\n", what, sap_strerror(rc));
        exit(1);
    }
}

static SapStore *open_store(void)
{
    SapStoreOptions options = {
        .size = sizeof options, .tables = tables, .table_count = 3, .schema = "jobs@1"};
    SapStore *store = NULL;
    if (sap_store_open(url, &options, &store) != SAP_OK) {
        fprintf(stderr, "%s\n", sap_open_error());
        exit(1);
    }
    return store;
}

/* ---- Accounts -------------------------------------------------------------------------------- */

static int get_amount(SapStoreTxn *txn, const char *account, long *amount_out)
{
    char text[TEXT];
    const void *val = NULL;
    uint32_t len = 0;
    int rc = sap_store_get(txn, ACCOUNTS, account, (uint32_t)strlen(account), &val, &len);
    if (rc == SAP_OK) {
        (void)snprintf(text, sizeof text, "%.*s", (int)len, (const char *)val);
        *amount_out = strtol(text, NULL, 10);
    }
    return rc;
}

static int put_amount(SapStoreTxn *txn, const char *account, long amount)
{
    char text[TEXT];
    int len = snprintf(text, sizeof text, "%ld", amount);
    return sap_store_put(txn, ACCOUNTS, account, (uint32_t)strlen(account), text, (uint32_t)len);
}

/* ---- Making the jobs ------------------------------------------------------------------------- */

static int add_jobs(SapStoreTxn *txn, void *ctx)
{
    (void)ctx;
    int rc = put_amount(txn, "alice", 1000);
    rc = rc == SAP_OK ? put_amount(txn, "bob", 0) : rc;
    for (int i = 1; i <= JOBS && rc == SAP_OK; i++) {
        char key[TEXT];
        char amount[TEXT];
        int key_len = snprintf(key, sizeof key, "job%02d", i);
        int len = snprintf(amount, sizeof amount, "%d", i);
        rc = sap_store_put(txn, WAITING, key, (uint32_t)key_len, amount, (uint32_t)len);
    }
    return rc;
}

/* ---- Claiming and doing them ----------------------------------------------------------------- */

typedef struct Job {
    char key[TEXT];
    long amount;
    bool found;
} Job;

/* The job goes to the other table as it is; a program that must survive its own crash would put the
 * lease time until which it has the job into the value. */
static int take_job(void *ctx, SapStoreTxn *txn, const SapStoreRow *row, SapStoreTarget *target)
{
    Job *job = ctx;
    char text[TEXT];
    (void)txn;
    (void)snprintf(job->key, sizeof job->key, "%.*s", (int)row->key_len, (const char *)row->key);
    (void)snprintf(text, sizeof text, "%.*s", (int)row->val_len, (const char *)row->val);
    job->amount = strtol(text, NULL, 10);
    *target = (SapStoreTarget){UNDER_WAY, *row};
    return SAP_OK;
}

static int claim_one(SapStoreTxn *txn, void *ctx)
{
    Job *job = ctx;
    SapStoreRange all = {.table = WAITING};
    uint32_t count = 0;
    int rc = sap_store_claim(txn, &all, 1, take_job, job, &count);
    job->found = count == 1;
    return rc;
}

/* Nobody else changes the two accounts, or does this job, meanwhile. */
static int do_job(SapStoreTxn *txn, void *ctx)
{
    const Job *job = ctx;
    uint32_t key_len = (uint32_t)strlen(job->key);
    SapStoreGuard guards[] = {{ACCOUNTS, "alice", 5, true},
                              {ACCOUNTS, "bob", 3, true},
                              {UNDER_WAY, job->key, key_len, true}};
    long alice = 0;
    long bob = 0;
    int rc = sap_store_guard(txn, guards, 3);
    rc = rc == SAP_OK ? sap_store_del(txn, UNDER_WAY, job->key, key_len) : rc;
    if (rc == SAP_NOTFOUND) {
        return SAP_OK; /* it was done before */
    }
    rc = rc == SAP_OK ? get_amount(txn, "alice", &alice) : rc;
    rc = rc == SAP_OK ? get_amount(txn, "bob", &bob) : rc;
    rc = rc == SAP_OK ? put_amount(txn, "alice", alice - job->amount) : rc;
    return rc == SAP_OK ? put_amount(txn, "bob", bob + job->amount) : rc;
}

typedef struct Worker {
    pthread_t thread;
    SapStore *store;
    int done;
} Worker;

static void *work(void *arg)
{
    Worker *worker = arg;
    for (;;) {
        Job job = {.found = false};
        check(sap_store_run(worker->store, SAP_STORE_CLAIM, claim_one, &job, NULL), "claim");
        if (!job.found) {
            return NULL;
        }
        check(sap_store_run(worker->store, SAP_STORE_GUARDED, do_job, &job, NULL), "transfer");
        worker->done++;
    }
}

int main(void)
{
    SapStore *store = open_store();
    Worker workers[THREADS] = {{.store = store}, {.store = store}};
    SapStoreTxn *txn = NULL;
    long alice = 0;
    long bob = 0;
    int done = 0;

    check(sap_store_run(store, SAP_STORE_GUARDED, add_jobs, NULL, NULL), "add the jobs");
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        done += workers[i].done;
    }
    check(sap_store_close(store), "close");

    store = open_store(); /* as after a restart */
    check(sap_store_begin(store, SAP_STORE_READ_DURABLE, &txn), "begin");
    check(get_amount(txn, "alice", &alice), "get");
    check(get_amount(txn, "bob", &bob), "get");
    sap_store_abort(txn);
    printf("%d jobs done\n", done);
    printf("alice has %ld, bob has %ld\n", alice, bob);
    check(sap_store_close(store), "close");
    (void)remove("jobs.db");
    return 0;
}
