/* world_example.c - two accounts as worlds: each has its own state, takes one message at a time, and
 * survives the worker that runs it.
 *
 * Build: cc world_example.c $(pkg-config --cflags --libs sapling-runtime) */
#include <sapling/universe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int rc, const char *what)
{
    if (rc != SAP_OK) {
        fprintf(stderr, "%s: %s\n", what, sap_strerror(rc));
        exit(1);
    }
}

/* ---- The handler ----------------------------------------------------------------------------- */

static long number_of(const void *bytes, size_t len)
{
    char text[24];
    snprintf(text, sizeof text, "%.*s", (int)len, (const char *)bytes);
    return strtol(text, NULL, 10);
}

static int on_account(SapWorld *world, const SapEvent *event)
{
    const void *val = "0";
    size_t len = 1;
    char text[24];
    long change = number_of(event->payload, event->payload_len);

    int rc = sap_world_get(world, "balance", 7, &val, &len, NULL);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    long balance = number_of(val, len) + change;
    if (balance < 0) { /* nothing of this call happens, and it is not tried again */
        return sap_world_fail(world, false, "not enough money");
    }
    int n = snprintf(text, sizeof text, "%ld", balance);
    rc = sap_world_put(world, "balance", 7, SAP_ENCODING_JSON, text, (size_t)n);
    if (rc == SAP_OK && event->reply_to[0] != '\0') {
        rc = sap_world_reply(world, event->reply_to, SAP_ENCODING_JSON, text, (size_t)n);
    }
    return rc;
}

SAP_WORLD_MODULE("account", on_account);

/* ---- The program ----------------------------------------------------------------------------- */

static void send_change(SapUniverse *universe, const char *world, const char *id,
                        const char *change)
{
    SapIngress item = {.size = sizeof item,
                       .id = id,
                       .payload = change,
                       .payload_len = strlen(change),
                       .want_reply = true};
    SapIngressResult result;
    must(sap_enqueue_ingress(universe, world, &item, &result), "enqueue");
    if (result.duplicate) {
        printf("%s was sent before\n", id);
    }
}

/* Runs what there is to do. A service has a thread that calls sap_worker_renew() beside this one. */
static void work(SapUniverse *universe, const char *name)
{
    SapWorkerOptions options = {.size = sizeof options, .name = name};
    SapWorker *worker = NULL;
    bool busy = true;
    must(sap_worker_open(universe, &options, &worker), "worker");
    while (busy) {
        must(sap_worker_step(worker, &busy), "step");
    }
    must(sap_worker_close(worker), "close of the worker");
}

static void print_reply(SapUniverse *universe, const char *world, const char *id)
{
    SapReply *reply = NULL;
    must(sap_world_reply_wait(universe, world, id, 0, &reply), "reply");
    printf("%s, %s: %s%s\n", world, id, reply->failed ? "refused, " : "balance ", reply->payload);
    sap_reply_free(reply);
}

int main(void)
{
    SapUniverse *universe = NULL;
    SapWorldInfo info;
    must(sap_universe_open("memory:", NULL, &universe), "open"); /* or sapling:PATH */
    must(sap_world_create(universe, "ada", "account", SAP_ENCODING_JSON, "100", 3), "create");
    must(sap_world_create(universe, "bob", "account", SAP_ENCODING_JSON, "20", 2), "create");

    send_change(universe, "ada", "m1", "-30");
    send_change(universe, "bob", "m2", "30");
    send_change(universe, "bob", "m3", "-99");
    work(universe, "first");

    send_change(universe, "ada", "m4", "5");
    send_change(universe, "ada", "m1", "-30"); /* a client that is not sure asks again */
    work(universe, "second");                  /* it has nothing of the first worker's memory */

    print_reply(universe, "ada", "m1");
    print_reply(universe, "bob", "m2");
    print_reply(universe, "bob", "m3");
    print_reply(universe, "ada", "m4");

    must(sap_world_info(universe, "ada", &info), "info");
    printf("ada: %llu steps, epoch %llu\n", (unsigned long long)info.height,
           (unsigned long long)info.epoch);
    must(sap_universe_close(universe), "close");
    return 0;
}
