/* runner_native_example.c - a worker whose messages change state exactly once.
 *
 * An atomic block reads and writes rows, sends messages and arms timers; all of it and the end of the
 * message are one commit. Here worker 1 keeps balances: a deposit changes one, sends a receipt to
 * worker 2, and arms a timer that adds interest. One thread drives both by ticks, with a clock of its
 * own, so that the output is the same every time. */
#include <sapling/runner_v0.h>
#include <sapling/sapling.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ACCOUNTS = 1, RECEIPTS = 2 };

static int64_t now_ms = 1000000;

static int64_t example_now(void *ctx)
{
    (void)ctx;
    return now_ms;
}

static void check(int rc, const char *what)
{
    if (rc != SAP_OK) {
        fprintf(stderr, "%s: %s\n", what, sap_strerror(rc));
        exit(1);
    }
}

/* payload: "NAME AMOUNT" */
static int deposit(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, void *ctx)
{
    char text[64];
    char name[32];
    int amount;
    int balance = 0;
    const void *val;
    uint32_t len;

    (void)ctx;
    snprintf(text, sizeof text, "%.*s", (int)msg->payload_len, (const char *)msg->payload);
    if (sscanf(text, "%31s %d", name, &amount) != 2) {
        return SAP_INVALID; /* tried again a few times, then a dead letter */
    }
    uint32_t name_len = (uint32_t)strlen(name);
    int rc = sap_runner_host_v0_get(host, 0, name, name_len, &val, &len);
    if (rc == SAP_OK) {
        snprintf(text, sizeof text, "%.*s", (int)len, (const char *)val);
        balance = atoi(text);
    } else if (rc != SAP_NOTFOUND) {
        return rc;
    }
    snprintf(text, sizeof text, "%d", balance + amount);
    rc = sap_runner_host_v0_put(host, 0, name, name_len, text, (uint32_t)strlen(text));
    if (rc != SAP_OK) {
        return rc;
    }

    /* Both are sent if this block commits, and only then. */
    snprintf(text, sizeof text, "%s %+d", name, amount);
    SapRunnerV0Message receipt = {.kind = SAP_RUNNER_V0_EVENT,
                                  .to_worker = RECEIPTS,
                                  .payload = text,
                                  .payload_len = (uint32_t)strlen(text)};
    rc = sap_runner_host_v0_emit(host, &receipt);
    if (rc == SAP_OK && msg->kind == SAP_RUNNER_V0_COMMAND) {
        char interest[64];
        snprintf(interest, sizeof interest, "%s %d", name, amount / 10);
        SapRunnerV0Message later = {.kind = SAP_RUNNER_V0_TIMER,
                                    .to_worker = ACCOUNTS,
                                    .payload = interest,
                                    .payload_len = (uint32_t)strlen(interest)};
        rc = sap_runner_host_v0_arm(host, sap_runner_host_v0_now_ms(host) + 60000, &later);
    }
    return rc;
}

/* A plain callback: it may do anything, here print. */
static int print_receipt(SapRunnerV0 *runner, const SapRunnerV0Message *msg, void *ctx)
{
    (void)runner;
    (void)ctx;
    printf("receipt: %.*s\n", (int)msg->payload_len, (const char *)msg->payload);
    return SAP_OK;
}

static void send_deposit(DB *db, const char *id, const char *text)
{
    SapRunnerV0Message msg = {.kind = SAP_RUNNER_V0_COMMAND,
                              .flags = SAP_RUNNER_V0_DURABLE | SAP_RUNNER_V0_DEDUPE,
                              .to_worker = ACCOUNTS,
                              .message_id = id,
                              .message_id_len = (uint32_t)strlen(id),
                              .payload = text,
                              .payload_len = (uint32_t)strlen(text)};
    check(sap_runner_v0_send(db, &msg, NULL), "send");
}

/* Until both workers have nothing to do. A handler's code is reported, and the message kept. */
static void run(SapRunnerV0Worker *accounts, SapRunnerV0Worker *receipts)
{
    int rc_accounts;
    int rc_receipts;

    do {
        rc_accounts = sap_runner_v0_worker_tick(accounts, NULL);
        rc_receipts = sap_runner_v0_worker_tick(receipts, NULL);
    } while (rc_accounts != SAP_BUSY || rc_receipts != SAP_BUSY);
}

int main(void)
{
    SapRunnerV0Worker accounts;
    SapRunnerV0Worker receipts;
    SapRunnerV0Metrics metrics;
    const void *val;
    uint32_t len;
    DB *db = db_open(NULL, 0, NULL, NULL); /* or db_open_path() */
    /* By default a message that failed waits before it is tried again, and has ten attempts. */
    const SapRunnerV0Policy at_once = {.retry_budget_max = 4, .retry_backoff_ms = -1};
    SapRunnerV0WorkerConfig config = {
        .runner = {.db = db,
                   .worker_id = ACCOUNTS,
                   .bootstrap_schema_if_missing = 1,
                   .policy = &at_once,
                   .time = {.now_ms = example_now}},
        .handler = {.atomic = deposit},
        .max_batch = 10,
    };
    check(sap_runner_v0_worker_init(&accounts, &config), "accounts");
    config.runner.worker_id = RECEIPTS;
    config.handler = (SapRunnerV0Handler){.plain = print_receipt};
    check(sap_runner_v0_worker_init(&receipts, &config), "receipts");

    send_deposit(db, "d1", "ada 100");
    send_deposit(db, "d2", "bob 50");
    send_deposit(db, "d1", "ada 100"); /* the sender was not sure: handled once all the same */
    send_deposit(db, "d3", "nonsense");
    run(&accounts, &receipts);

    now_ms += 60000;
    printf("a minute later\n");
    run(&accounts, &receipts);

    Txn *snap = txn_begin(db, NULL, TXN_RDONLY);
    check(txn_get(snap, "ada", 3, &val, &len), "ada");
    printf("ada has %.*s\n", (int)len, (const char *)val);
    txn_abort(snap);
    sap_runner_v0_metrics_snapshot(&accounts.runner, &metrics);
    printf("%d handled, %d skipped as duplicates, %d put back, %d dead letters\n",
           (int)metrics.step_successes, (int)metrics.duplicates_skipped, (int)metrics.requeues,
           (int)metrics.dead_letter_moves);

    check(sap_runner_v0_worker_shutdown(&accounts), "shutdown");
    check(sap_runner_v0_worker_shutdown(&receipts), "shutdown");
    check(db_close(db), "close");
    return 0;
}
