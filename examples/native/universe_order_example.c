/* universe_order_example.c - an order as a world: it charges a card, waits, asks the world that keeps the stock,
 * and replies. The bank fails once; whatever fails or crashes, the card is charged once, the stock is asked once,
 * and the customer gets one reply.
 *
 * Build: cc universe_order_example.c $(pkg-config --cflags --libs sapling-runtime) */
#define _POSIX_C_SOURCE 200809L
#include <sapling/universe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS UINT64_C(1000000)

static void must(int rc, const char *what)
{
    if (rc != SAP_OK) {
        fprintf(stderr, "%s: %s\n", what, sap_strerror(rc));
        exit(1);
    }
}

/* ---- The order: what it does next follows from its state and the event ----------------------- */

static int put_text(SapWorld *world, const char *key, const char *text)
{
    return sap_world_put(world, key, strlen(key), SAP_ENCODING_RAW, text, strlen(text));
}

/* Replies to the customer, whose address is kept in the state: many steps may lie between. */
static int reply_to_customer(SapWorld *world, const char *text)
{
    const void *val = NULL;
    size_t len = 0;
    char to[401];
    int rc = sap_world_get(world, "customer", 8, &val, &len, NULL);
    if (rc != SAP_OK) {
        return rc;
    }
    snprintf(to, sizeof to, "%.*s", (int)len, (const char *)val); /* values have no end */
    return sap_world_reply(world, to, SAP_ENCODING_RAW, text, strlen(text));
}

/* 1. Somebody orders: ask for the charge, and for a timer in case that no answer comes. */
static int on_order(SapWorld *world, const SapEvent *event)
{
    SapEffect charge = {.size = sizeof charge,
                        .kind = "charge",
                        .ref = "charge",
                        .params = event->payload,
                        .params_len = event->payload_len,
                        .retry = {.attempts = 5, .first_ns = 10 * MS}};
    SapTimer patience = {.size = sizeof patience, .ref = "patience", .after_ns = 60000 * MS};
    int rc = put_text(world, "customer", event->reply_to);
    rc = rc == SAP_OK ? sap_world_effect(world, &charge) : rc;
    return rc == SAP_OK ? sap_world_timer(world, &patience) : rc;
}

/* 2. The bank has answered. */
static int on_charged(SapWorld *world, const SapEvent *event)
{
    SapTimer packing = {.size = sizeof packing, .ref = "packing", .after_ns = 20 * MS};
    char text[128];
    int rc = sap_world_cancel(world, "patience");
    if (rc != SAP_OK || event->status != SAP_RECEIPT_OK) {
        snprintf(text, sizeof text, "not charged: %s", event->code);
        return rc == SAP_OK ? reply_to_customer(world, text) : rc;
    }
    rc = put_text(world, "charged", "yes");
    return rc == SAP_OK ? sap_world_timer(world, &packing) : rc;
}

/* 3. It is packed: ask the world that keeps the stock, which is created by the first one that asks. */
static int on_packed(SapWorld *world)
{
    SapAsk take = {.size = sizeof take,
                   .world = "stock-1",
                   .name = "take",
                   .ref = "stock",
                   .payload = "{\"pieces\":1}",
                   .payload_len = 12,
                   .create = "stock",
                   .timeout_ns = 10000 * MS};
    return sap_world_ask(world, &take);
}

/* 4. The stock has replied; or it has not in 10 s, or could not be asked. */
static int on_stock(SapWorld *world, const SapEvent *event)
{
    char text[128];
    if (event->status != SAP_RECEIPT_OK) {
        snprintf(text, sizeof text, "charged, but the stock says: %s", event->code);
        return reply_to_customer(world, text);
    }
    snprintf(text, sizeof text, "charged, packed and on its way; %.*s left",
             (int)event->payload_len, (const char *)event->payload);
    return reply_to_customer(world, text);
}

static int on_event(SapWorld *world, const SapEvent *event)
{
    switch (event->kind) {
    case SAP_EVENT_MESSAGE:
        return on_order(world, event);
    case SAP_EVENT_RECEIPT:
        return strcmp(event->ref, "stock") == 0 ? on_stock(world, event) : on_charged(world, event);
    case SAP_EVENT_TIMER:
        return strcmp(event->ref, "packing") == 0
                   ? on_packed(world)
                   : reply_to_customer(world, "the bank does not answer");
    default:
        return SAP_OK; /* it was created */
    }
}

SAP_WORLD_MODULE("order", on_event);

/* ---- The stock: a world that others ask ------------------------------------------------------ */

static int on_stock_event(SapWorld *world, const SapEvent *event)
{
    const void *val = "7";
    size_t len = 1;
    char text[24];
    if (event->kind != SAP_EVENT_MESSAGE) {
        return SAP_OK; /* it was created */
    }
    int rc = sap_world_get(world, "left", 4, &val, &len, NULL);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    snprintf(text, sizeof text, "%.*s", (int)len, (const char *)val);
    int left = snprintf(text, sizeof text, "%ld", strtol(text, NULL, 10) - 1);
    rc = sap_world_put(world, "left", 4, SAP_ENCODING_JSON, text, (size_t)left);
    return rc == SAP_OK
               ? sap_world_reply(world, event->reply_to, SAP_ENCODING_JSON, text, (size_t)left)
               : rc;
}

SAP_WORLD_MODULE("stock", on_stock_event);

/* ---- The outside: a bank that charges once for each key -------------------------------------- */

typedef struct Bank {
    int calls;
    char key[65]; /* of the last charge */
} Bank;

static int charge_card(void *ctx, const SapEffectCall *call, SapEffectResult *result)
{
    Bank *bank = ctx;
    if (++bank->calls == 1) {
        printf("attempt %u: the bank is busy\n", call->attempt);
        snprintf(bank->key, sizeof bank->key, "%s", call->idempotency_key);
        sap_effect_result(result, SAP_RECEIPT_ERROR, "busy", SAP_ENCODING_JSON, NULL, 0);
        return SAP_BUSY; /* any code but SAP_OK: tried again */
    }
    printf("attempt %u: charged %.*s, under %s key\n", call->attempt, (int)call->params_len,
           (const char *)call->params,
           strcmp(bank->key, call->idempotency_key) == 0 ? "the same" : "another");
    return sap_effect_result(result, SAP_RECEIPT_OK, NULL, SAP_ENCODING_JSON, "{\"paid\":true}",
                             13);
}

/* ---- The program ----------------------------------------------------------------------------- */

/* Each role does what there is to do. A service has a thread for each, and one that calls
 * sap_worker_renew(). */
static void step_roles(SapWorker *worker)
{
    static const SapRole roles[] = {SAP_ROLE_WORLDS, SAP_ROLE_EFFECTS, SAP_ROLE_TIMERS};
    struct timespec pause = {.tv_nsec = 1000000};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        bool busy = true;
        while (busy) {
            must(sap_worker_step_role(worker, roles[i], &busy), "step");
        }
    }
    nanosleep(&pause, NULL);
}

int main(void)
{
    Bank bank = {.calls = 0};
    SapEffectKind charge = {
        .size = sizeof charge, .kind = "charge", .function = charge_card, .ctx = &bank};
    SapIngress order = {.size = sizeof order,
                        .id = "order-1",
                        .want_reply = true,
                        .payload = "{\"amount\":12}",
                        .payload_len = 13};
    SapUniverse *universe = NULL;
    SapWorker *worker = NULL;
    SapReply *reply = NULL;
    SapWorldInfo info;

    must(sap_universe_open("memory:", NULL, &universe), "open"); /* or sapling:PATH */
    must(sap_world_create(universe, "order-1", "order", SAP_ENCODING_JSON, NULL, 0), "create");
    must(sap_enqueue_ingress(universe, "order-1", &order, NULL), "enqueue");

    must(sap_worker_open(universe, NULL, &worker), "worker");
    must(sap_worker_serve(worker, &charge), "serve");
    while (sap_world_reply_wait(universe, "order-1", "order-1", 0, &reply) == SAP_NOTFOUND) {
        step_roles(worker);
    }
    printf("reply: %s\n", reply->payload);
    sap_reply_free(reply);

    must(sap_worker_close(worker), "close of the worker");
    must(sap_world_info(universe, "order-1", &info), "info");
    printf("%llu steps: created, ordered, charged, packed, on its way\n",
           (unsigned long long)info.height);
    must(sap_universe_close(universe), "close");
    return 0;
}
