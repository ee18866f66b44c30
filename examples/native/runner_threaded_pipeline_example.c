/* runner_threaded_pipeline_example.c - orders through four stages, each a worker in a thread.
 *
 *     runner_threaded_pipeline_example [FILE [ORDERS]]
 *
 * Every stage is an atomic block: it checks that the order comes from the stage before, moves it on,
 * and sends it to the next. Kill the program at any time and start it again on the same FILE: it goes
 * on where it was, and in the end every order has gone through every stage exactly once. Without FILE
 * it runs on one that is removed at the end.
 *
 * At a terminal it shows a table while it runs; elsewhere, if FILE is given, a line for every
 * tenth. */
#include <sapling/runner_v0.h>
#include <sapling/sapling.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STAGES = 4, DEFAULT_ORDERS = 2000, AT_ONCE = 1000 };

static const char *const stage_names[STAGES] = {"received", "reserved", "charged", "shipped"};
static const char orders_key[] = "pipeline.orders";

static void check(int rc, const char *what)
{
    if (rc != SAP_OK) {
        fprintf(stderr, "%s: %s\n", what, sap_strerror(rc));
        exit(1);
    }
}

static void tell(const char *text, void *ctx)
{
    (void)ctx;
    fprintf(stderr, "%s\n", text);
}

/* A number in a row; 0 when there is none. */
static unsigned long number_of(const void *val, uint32_t len)
{
    char text[24];

    snprintf(text, sizeof text, "%.*s", (int)len, (const char *)val);
    return strtoul(text, NULL, 10);
}

static unsigned long read_number(DB *db, const char *key)
{
    const void *val;
    uint32_t len;
    unsigned long number = 0;
    Txn *txn = txn_begin(db, NULL, TXN_RDONLY);

    if (txn != NULL && txn_get(txn, key, (uint32_t)strlen(key), &val, &len) == SAP_OK) {
        number = number_of(val, len);
    }
    txn_abort(txn);
    return number;
}

/* ---- The stages ----------------------------------------------------------------------------- */

/* Adds one to the number in a row. */
static int add_one(SapRunnerHostV0 *host, const char *key)
{
    const void *val;
    uint32_t len;
    char text[24];
    unsigned long number = 0;
    int rc = sap_runner_host_v0_get(host, 0, key, (uint32_t)strlen(key), &val, &len);

    if (rc == SAP_OK) {
        number = number_of(val, len);
    } else if (rc != SAP_NOTFOUND) {
        return rc;
    }
    snprintf(text, sizeof text, "%lu", number + 1);
    return sap_runner_host_v0_put(host, 0, key, (uint32_t)strlen(key), text,
                                  (uint32_t)strlen(text));
}

/* The payload is the order's name; its row holds how many stages it has gone through. */
static int stage(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, void *ctx)
{
    int64_t self = sap_runner_host_v0_worker_id(host);
    const void *val;
    uint32_t len;
    unsigned long before = 0;
    char text[24];

    (void)ctx;
    int rc = sap_runner_host_v0_get(host, 0, msg->payload, msg->payload_len, &val, &len);
    if (rc == SAP_OK) {
        before = number_of(val, len);
    } else if (rc != SAP_NOTFOUND) {
        return rc;
    }
    if (before != (unsigned long)self) {
        return add_one(host, "pipeline.twice"); /* it was here before: this must never happen */
    }
    snprintf(text, sizeof text, "%lu", before + 1);
    rc = sap_runner_host_v0_put(host, 0, msg->payload, msg->payload_len, text,
                                (uint32_t)strlen(text));
    if (rc == SAP_OK) {
        rc = add_one(host, stage_names[self]);
    }
    if (rc == SAP_OK && self + 1 < STAGES) {
        SapRunnerV0Message next = {.kind = SAP_RUNNER_V0_COMMAND,
                                   .flags = SAP_RUNNER_V0_DURABLE,
                                   .to_worker = self + 1,
                                   .message_id = msg->payload,
                                   .message_id_len = msg->payload_len,
                                   .payload = msg->payload,
                                   .payload_len = msg->payload_len};
        rc = sap_runner_host_v0_emit(host, &next);
    }
    return rc;
}

/* ---- Orders --------------------------------------------------------------------------------- */

/* The orders up to `to` that are not there yet; the number of those that are is in the same commit. */
static void take_orders(DB *db, unsigned long from, unsigned long to)
{
    while (from < to) {
        unsigned long until = to - from > AT_ONCE ? from + AT_ONCE : to;
        char text[24];
        Txn *txn = NULL;

        check(txn_begin_rc(db, NULL, TXN_WAIT, &txn), "begin");
        for (; from < until; from++) {
            char name[32];
            uint8_t frame[128];
            uint32_t frame_len;
            uint32_t name_len = (uint32_t)snprintf(name, sizeof name, "order-%06lu", from + 1);
            SapRunnerV0Message msg = {.kind = SAP_RUNNER_V0_COMMAND,
                                      .flags = SAP_RUNNER_V0_DURABLE,
                                      .message_id = name,
                                      .message_id_len = name_len,
                                      .payload = name,
                                      .payload_len = name_len};
            if (sap_runner_wire_v0_encode_message(&msg, frame, sizeof frame, &frame_len) != 0) {
                check(SAP_INVALID, "encode");
            }
            check(sap_runner_mailbox_v0_send(txn, frame, frame_len, NULL), "send");
        }
        snprintf(text, sizeof text, "%lu", from);
        check(txn_put(txn, orders_key, sizeof orders_key - 1, text, (uint32_t)strlen(text)), "put");
        check(txn_commit(txn), "commit");
    }
}

/* ---- What is shown -------------------------------------------------------------------------- */

static void show_table(DB *db, unsigned long orders, int again)
{
    Txn *txn = txn_begin(db, NULL, TXN_RDONLY);

    if (txn == NULL) {
        return;
    }
    printf("%s  stage      waiting  handled of %lu\n", again ? "\033[5A" : "", orders);
    for (int i = 0; i < STAGES; i++) {
        const void *val;
        uint32_t len;
        uint64_t waiting = 0;
        unsigned long handled = 0;

        (void)sap_runner_mailbox_v0_stat(txn, i, &waiting, NULL, NULL);
        if (txn_get(txn, stage_names[i], (uint32_t)strlen(stage_names[i]), &val, &len) == SAP_OK) {
            handled = number_of(val, len);
        }
        int bar = orders > 0 ? (int)(handled * 30 / orders) : 0;
        printf("  %-9s %8lu %8lu  %.*s%*s|\n", stage_names[i], (unsigned long)waiting, handled, bar,
               "##############################", 30 - bar, "");
    }
    fflush(stdout);
    txn_abort(txn);
}

static void wait_until_shipped(DB *db, unsigned long orders, int tell_tenths)
{
    const struct timespec moment = {.tv_nsec = 20000000};
    const char *last = stage_names[STAGES - 1];
    int terminal = isatty(STDOUT_FILENO);
    unsigned long told = read_number(db, last) * 10 / (orders > 0 ? orders : 1);
    unsigned long shipped;

    if (terminal) {
        show_table(db, orders, 0);
    }
    do {
        nanosleep(&moment, NULL);
        shipped = read_number(db, last);
        if (terminal) {
            show_table(db, orders, 1);
        } else if (tell_tenths && orders > 0 && shipped * 10 / orders > told) {
            told = shipped * 10 / orders;
            printf("%lu0 %% shipped\n", told);
            fflush(stdout);
        }
    } while (shipped + read_number(db, "pipeline.twice") < orders);
}

/* Every order has gone through all stages, and none was anywhere twice. */
static int report(DB *db, unsigned long orders)
{
    unsigned long complete = 0;
    Txn *txn = txn_begin(db, NULL, TXN_RDONLY);
    Cursor *cur = txn != NULL ? cursor_open(txn) : NULL;
    int rc = cur != NULL ? cursor_seek_prefix(cur, "order-", 6) : SAP_NOMEM;

    while (rc == SAP_OK && cursor_in_prefix(cur, "order-", 6)) {
        const void *val;
        uint32_t len;

        check(cursor_get(cur, NULL, NULL, &val, &len), "get");
        complete += number_of(val, len) == STAGES;
        rc = cursor_next(cur);
    }
    cursor_close(cur);
    txn_abort(txn);
    unsigned long twice = read_number(db, "pipeline.twice");
    printf("%lu orders: %lu went through all %d stages exactly once, %lu did not\n", orders,
           complete - twice, STAGES, orders - complete + twice);
    return complete == orders && twice == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "pipeline.db";
    unsigned long orders = argc > 2 ? strtoul(argv[2], NULL, 10) : DEFAULT_ORDERS;
    SapOpenOptions options = {.flags = SAP_OPEN_CREATE, .on_message = tell};
    SapRunnerV0Worker workers[STAGES];
    DB *db = NULL;

    if (db_open_path(path, &options, &db) != SAP_OK) {
        fprintf(stderr, "%s\n", sap_open_error());
        exit(1);
    }
    SapRunnerV0WorkerConfig config = {
        .runner = {.db = db, .bootstrap_schema_if_missing = 1},
        .handler = {.atomic = stage},
        .max_batch = 100,
    };
    for (int i = 0; i < STAGES; i++) {
        config.runner.worker_id = i;
        check(sap_runner_v0_worker_init(&workers[i], &config), "worker");
    }
    unsigned long there = read_number(db, orders_key);
    if (there > 0) {
        printf("going on: %lu of %lu orders are shipped\n",
               read_number(db, stage_names[STAGES - 1]), there);
        fflush(stdout);
    }
    orders = orders > there ? orders : there;
    take_orders(db, there, orders);
    for (int i = 0; i < STAGES; i++) {
        check(sap_runner_v0_worker_start(&workers[i]), "start");
    }
    wait_until_shipped(db, orders, argc > 1);
    for (int i = 0; i < STAGES; i++) {
        check(sap_runner_v0_worker_shutdown(&workers[i]), "shutdown");
    }
    int status = report(db, orders);
    check(db_close(db), "close");
    if (argc <= 1 && system("rm -f pipeline.db pipeline.db-lock pipeline.db-wal.*") != 0) {
        status = 1;
    }
    return status;
}
