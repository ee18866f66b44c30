#include "support/errands.h"

#include "common/bytes.h"
#include "common/hash.h"
#include "support/expect.h"
#include "support/model.h"
#include "wit_schema_dbis.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What an id says ------------------------------------------------------------------------ */

/* Each property is a hash of its own, so that they are independent. */
static uint64_t property(const ErrandPlan *plan, const Errand *errand, uint64_t which)
{
    return hash_bytes(errand->id, errand->id_len, plan->seed * 64 + which);
}

static bool one_in(const ErrandPlan *plan, const Errand *errand, uint64_t which, uint32_t n)
{
    return n != 0 && property(plan, errand, which) % n == 0;
}

enum {
    OF_WORKER,
    OF_PRIORITY,
    OF_DEDUPE,
    OF_TEMPER,
    OF_CHILDREN,
    OF_DELAY,
    OF_PAYLOAD,
    OF_BYTES,
    OF_FROM,
    OF_TO,
    OF_AMOUNT,
    OF_TWICE,
    OF_NESTED,
};

static uint32_t generation(const Errand *errand)
{
    uint32_t dots = 0;

    for (uint32_t i = 0; i < errand->id_len; i++) {
        dots += errand->id[i] == '.';
    }
    return dots;
}

static bool resendable(const Errand *errand)
{
    return (errand->id[errand->id_len - 1] - '0') % 2 == 0;
}

static void complete(const ErrandPlan *plan, Errand *errand)
{
    uint32_t born = generation(errand);
    uint64_t temper = property(plan, errand, OF_TEMPER);

    errand->worker = (int64_t)(property(plan, errand, OF_WORKER) % plan->workers);
    if (plan->elsewhere && born > 0 && property(plan, errand, OF_WORKER) % 7 == 0) {
        errand->worker = plan->workers;
    }
    errand->flags = SAP_RUNNER_V0_HAS_TRACE;
    errand->flags |= one_in(plan, errand, OF_PRIORITY, 5) ? SAP_RUNNER_V0_HIGH_PRIORITY : 0;
    if (born == 0 ? resendable(errand) : one_in(plan, errand, OF_DEDUPE, 4)) {
        errand->flags |= SAP_RUNNER_V0_DEDUPE;
    }
    if (plan->poison_one_in != 0 && temper % plan->poison_one_in == 0) {
        errand->temper = ERRAND_POISON;
    } else if (plan->flaky_one_in != 0 && temper % plan->flaky_one_in == 1) {
        errand->temper = ERRAND_FLAKY;
    }
    bool last = born >= plan->generations || errand->worker == (int64_t)plan->workers;
    errand->children =
        last ? 0 : (uint32_t)(property(plan, errand, OF_CHILDREN) % (ERRAND_MAX_CHILDREN + 1));
    errand->delay_ms =
        born > 0 && one_in(plan, errand, OF_DELAY, 3)
            ? 1 + (int64_t)(property(plan, errand, OF_DELAY) / 3 % plan->max_delay_ms)
            : 0;
    errand->payload_len = (uint32_t)(property(plan, errand, OF_PAYLOAD) %
                                     (one_in(plan, errand, OF_BYTES, 9) ? ERRAND_MAX_PAYLOAD : 90));
}

Errand errand_root(const ErrandPlan *plan, uint32_t producer, uint64_t number)
{
    Errand errand = {0};

    errand.id_len =
        (uint32_t)snprintf(errand.id, sizeof errand.id, "%" PRIu32 "-%" PRIu64, producer, number);
    complete(plan, &errand);
    return errand;
}

Errand errand_child(const ErrandPlan *plan, const Errand *parent, uint32_t i)
{
    Errand errand = {0};

    memcpy(errand.id, parent->id, parent->id_len);
    errand.id_len =
        parent->id_len + (uint32_t)snprintf(errand.id + parent->id_len,
                                            sizeof errand.id - parent->id_len, ".%" PRIu32, i);
    EXPECT(errand.id_len < ERRAND_MAX_ID, "a long line of errands");
    complete(plan, &errand);
    return errand;
}

static void fill_payload(const ErrandPlan *plan, const Errand *errand, uint8_t *payload)
{
    Rng rng;

    rng_seed(&rng, property(plan, errand, OF_BYTES));
    rng_bytes(&rng, payload, errand->payload_len);
}

SapRunnerV0Message errand_message(const ErrandPlan *plan, const Errand *errand, uint8_t *payload,
                                  int64_t now_ms)
{
    const char *dot = memchr(errand->id, '.', errand->id_len);

    fill_payload(plan, errand, payload);
    return (SapRunnerV0Message){
        .kind = SAP_RUNNER_V0_COMMAND,
        .flags = errand->flags,
        .to_worker = errand->worker,
        .route_timestamp = now_ms,
        .message_id = errand->id,
        .message_id_len = errand->id_len,
        .trace_id = errand->id,
        .trace_id_len = dot != NULL ? (uint32_t)(dot - errand->id) : errand->id_len,
        .payload = payload,
        .payload_len = errand->payload_len,
    };
}

Errand errand_of(const ErrandPlan *plan, const SapRunnerV0Message *msg)
{
    const uint8_t own =
        SAP_RUNNER_V0_HIGH_PRIORITY | SAP_RUNNER_V0_DEDUPE | SAP_RUNNER_V0_HAS_TRACE;
    uint8_t payload[ERRAND_MAX_PAYLOAD];
    Errand errand = {0};

    EXPECT(msg->message_id_len < ERRAND_MAX_ID, "an id of %u bytes", msg->message_id_len);
    memcpy(errand.id, msg->message_id, msg->message_id_len);
    errand.id_len = msg->message_id_len;
    complete(plan, &errand);
    SapRunnerV0Message meant = errand_message(plan, &errand, payload, msg->route_timestamp);
    EXPECT(msg->to_worker == errand.worker, "%s is at worker %" PRId64, errand.id, msg->to_worker);
    EXPECT((msg->flags & own) == errand.flags, "%s has flags %u", errand.id, msg->flags);
    EXPECT(msg->payload_len == meant.payload_len &&
               (msg->payload_len == 0 || memcmp(msg->payload, payload, msg->payload_len) == 0),
           "%s has another payload", errand.id);
    EXPECT(msg->trace_id_len == meant.trace_id_len &&
               memcmp(msg->trace_id, meant.trace_id, meant.trace_id_len) == 0,
           "%s has another trace", errand.id);
    return errand;
}

/* Some of them mean something between the parts of a runner, where a handler's code must not be
 * taken for it. */
static const int failures[] = {SAP_BUSY,   SAP_CONFLICT, SAP_ERROR,   SAP_BUSY, SAP_NOTFOUND,
                               SAP_EXISTS, SAP_FENCED,   SAP_INVALID, SAP_FULL, -7};
enum { FAILURE_COUNT = sizeof failures / sizeof failures[0] };

int errand_failure(uint32_t dice)
{
    return failures[dice % FAILURE_COUNT];
}

bool errand_is_failure(int rc)
{
    for (uint32_t i = 0; i < FAILURE_COUNT; i++) {
        if (failures[i] == rc) {
            return true;
        }
    }
    return false;
}

/* ---- Sending -------------------------------------------------------------------------------- */

static SapTxnCtx *begin(SapEnv *db, unsigned flags)
{
    SapTxnCtx *txn = NULL;
    int rc = sap_txn_begin_rc(db, NULL, flags, &txn);

    EXPECT(rc == SAP_OK, "begin with flags %u answered %d", flags, rc);
    return txn;
}

static uint32_t account_key(uint32_t account, char key[16])
{
    return (uint32_t)snprintf(key, 16, "account.%02" PRIu32, account);
}

void errands_open(SapEnv *db)
{
    const void *val;
    uint32_t len;
    char key[16];
    int rc;

    do {
        rc = sap_dbi_open(db, ERRAND_APPLIED, NULL, NULL, 0);
    } while (rc == SAP_BUSY);
    EXPECT_RC(rc, SAP_OK);
    SapTxnCtx *txn = begin(db, SAP_TXN_WAIT);
    rc = sap_txn_get(txn, key, account_key(0, key), &val, &len);
    if (rc == SAP_OK) {
        sap_txn_abort(txn);
        return;
    }
    EXPECT_RC(rc, SAP_NOTFOUND);
    for (uint32_t i = 0; i < ERRAND_ACCOUNTS; i++) {
        uint8_t funds[8];
        store_u64le(funds, ERRAND_FUNDS);
        EXPECT_RC(sap_txn_put(txn, key, account_key(i, key), funds, sizeof funds), SAP_OK);
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

static uint32_t noted_key(uint32_t producer, char key[16])
{
    return (uint32_t)snprintf(key, 16, "noted.%" PRIu32, producer);
}

uint64_t errands_noted(SapEnv *db, uint32_t producer)
{
    char key[16];
    const void *val = NULL;
    uint32_t len = 0;
    SapTxnCtx *txn = begin(db, SAP_TXN_RDONLY);
    int rc = sap_txn_get(txn, key, noted_key(producer, key), &val, &len);

    EXPECT(rc == SAP_NOTFOUND || (rc == SAP_OK && len == 8), "the note answered %d", rc);
    uint64_t number = rc == SAP_OK ? load_u64le(val) : 0;
    sap_txn_abort(txn);
    return number;
}

/* Puts the message into its inbox and notes its number, in one commit. */
static void send_noted(SapEnv *db, const SapRunnerV0Message *msg, uint32_t producer,
                       uint64_t number, bool durable)
{
    uint32_t frame_len = sap_runner_wire_v0_message_size(msg);
    uint8_t *frame = malloc(frame_len);
    uint8_t note[8];
    char key[16];

    EXPECT(frame != NULL, "no memory");
    EXPECT_RC(sap_runner_wire_v0_encode_message(msg, frame, frame_len, &frame_len), SAP_OK);
    store_u64le(note, number);
    SapTxnCtx *txn = begin(db, SAP_TXN_WAIT);
    EXPECT_RC(sap_runner_mailbox_v0_send(txn, frame, frame_len, NULL), SAP_OK);
    EXPECT_RC(sap_txn_put(txn, key, noted_key(producer, key), note, sizeof note), SAP_OK);
    EXPECT_RC(durable ? sap_txn_commit(txn) : sap_txn_commit_async(txn, NULL), SAP_OK);
    free(frame);
}

void errands_send(const ErrandPlan *plan, SapEnv *db, uint32_t producer, uint64_t number,
                  int64_t now_ms, bool durable)
{
    uint8_t payload[ERRAND_MAX_PAYLOAD];
    Errand errand = errand_root(plan, producer, number);
    SapRunnerV0Message msg = errand_message(plan, &errand, payload, now_ms);

    msg.flags |= durable ? SAP_RUNNER_V0_DURABLE : 0;
    if (!resendable(&errand)) {
        send_noted(db, &msg, producer, number, durable);
        return;
    }
    SapRunnerV0Message copies[2] = {msg, msg};
    if (one_in(plan, &errand, OF_TWICE, 2)) {
        EXPECT_RC(sap_runner_v0_send_many(db, copies, 2, NULL), SAP_OK);
    } else {
        EXPECT_RC(sap_runner_v0_send(db, &msg, NULL), SAP_OK);
    }
}

/* ---- Applying ------------------------------------------------------------------------------- */

static int host_number(SapRunnerHostV0 *host, uint32_t dbi, const void *key, uint32_t key_len,
                       uint64_t *number_out)
{
    const void *val;
    uint32_t len;
    int rc = sap_runner_host_v0_get(host, dbi, key, key_len, &val, &len);

    EXPECT(rc != SAP_OK || len == 8, "a number of %u bytes", len);
    *number_out = rc == SAP_OK ? load_u64le(val) : 0;
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int host_put_number(SapRunnerHostV0 *host, uint32_t dbi, const void *key, uint32_t key_len,
                           uint64_t number)
{
    uint8_t val[8];

    store_u64le(val, number);
    return sap_runner_host_v0_put(host, dbi, key, key_len, val, sizeof val);
}

static int move_funds(const ErrandPlan *plan, SapRunnerHostV0 *host, const Errand *errand)
{
    uint32_t from = (uint32_t)(property(plan, errand, OF_FROM) % ERRAND_ACCOUNTS);
    uint32_t to = (uint32_t)(property(plan, errand, OF_TO) % ERRAND_ACCOUNTS);
    char from_key[16];
    char to_key[16];
    uint32_t from_len = account_key(from, from_key);
    uint32_t to_len = account_key(to, to_key);
    uint64_t there;
    uint64_t here;

    if (from == to) {
        return SAP_OK;
    }
    int rc = host_number(host, 0, from_key, from_len, &there);
    if (rc == SAP_OK) {
        rc = host_number(host, 0, to_key, to_len, &here);
    }
    uint64_t amount = property(plan, errand, OF_AMOUNT) % 100;
    if (rc != SAP_OK || amount > there) {
        return rc;
    }
    rc = host_put_number(host, 0, from_key, from_len, there - amount);
    return rc == SAP_OK ? host_put_number(host, 0, to_key, to_len, here + amount) : rc;
}

/* A nested block that is given up leaves nothing behind, one that commits does. */
static int move_funds_nested(const ErrandPlan *plan, SapRunnerHostV0 *host, const Errand *errand)
{
    int rc = sap_runner_host_v0_begin(host);

    if (rc == SAP_OK) {
        rc = host_put_number(host, ERRAND_APPLIED, "given up", 8, 1);
    }
    if (rc == SAP_OK) {
        rc = move_funds(plan, host, errand);
    }
    if (rc == SAP_OK) {
        rc = sap_runner_host_v0_abort(host);
    }
    if (rc == SAP_OK) {
        rc = sap_runner_host_v0_begin(host);
    }
    if (rc == SAP_OK) {
        rc = move_funds(plan, host, errand);
    }
    return rc == SAP_OK ? sap_runner_host_v0_commit(host) : rc;
}

static int add_funds(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                     void *ctx)
{
    uint64_t *sum = ctx;

    (void)key;
    (void)key_len;
    EXPECT(val_len == 8, "funds of %u bytes", val_len);
    *sum += load_u64le(val);
    return SAP_OK;
}

static int send_children(const ErrandPlan *plan, SapRunnerHostV0 *host, const Errand *errand)
{
    uint8_t payload[ERRAND_MAX_PAYLOAD];
    int rc = SAP_OK;

    for (uint32_t i = 0; i < errand->children && rc == SAP_OK; i++) {
        Errand child = errand_child(plan, errand, i);
        SapRunnerV0Message msg = errand_message(plan, &child, payload, 0);
        /* The host passes the trace on. */
        msg.flags &= (uint8_t)~SAP_RUNNER_V0_HAS_TRACE;
        msg.trace_id = NULL;
        msg.trace_id_len = 0;
        rc = child.delay_ms > 0 ? sap_runner_host_v0_arm(
                                      host, sap_runner_host_v0_now_ms(host) + child.delay_ms, &msg)
                                : sap_runner_host_v0_emit(host, &msg);
    }
    return rc;
}

int errand_apply(const ErrandPlan *plan, SapRunnerHostV0 *host, const Errand *errand, bool sum)
{
    uint64_t times;
    int rc = host_number(host, ERRAND_APPLIED, errand->id, errand->id_len, &times);

    if (rc == SAP_OK) {
        rc = host_put_number(host, ERRAND_APPLIED, errand->id, errand->id_len, times + 1);
    }
    if (rc == SAP_OK) {
        rc = one_in(plan, errand, OF_NESTED, 3) ? move_funds_nested(plan, host, errand)
                                                : move_funds(plan, host, errand);
    }
    if (rc == SAP_OK && sum) {
        uint64_t funds = 0;
        rc = sap_runner_host_v0_scan(host, 0, "account.", 8, add_funds, &funds);
        EXPECT(rc != SAP_OK || funds == ERRAND_ACCOUNTS * ERRAND_FUNDS, "%s sees funds of %" PRIu64,
               errand->id, funds);
    }
    return rc == SAP_OK ? send_children(plan, host, errand) : rc;
}

/* ---- What became of them -------------------------------------------------------------------- */

typedef struct Ended {
    char id[ERRAND_MAX_ID];
    uint64_t times;
    bool named; /* by the walk from the roots */
} Ended;

typedef struct EndedList {
    Ended *items;
    size_t count;
    size_t room;
} EndedList;

static int by_id(const void *a, const void *b)
{
    return strcmp(((const Ended *)a)->id, ((const Ended *)b)->id);
}

static void list_add(EndedList *list, const void *id, uint32_t id_len, uint64_t times)
{
    if (list->count == list->room) {
        list->room = list->room == 0 ? 256 : list->room * 2;
        list->items = realloc(list->items, list->room * sizeof *list->items);
        EXPECT(list->items != NULL, "no memory");
    }
    EXPECT(id_len < ERRAND_MAX_ID, "an id of %u bytes", id_len);
    Ended *ended = &list->items[list->count++];
    *ended = (Ended){.times = times};
    memcpy(ended->id, id, id_len);
}

/* Sorts, and makes one of those with the same id. */
static void list_sort(EndedList *list)
{
    size_t kept = 0;

    if (list->count == 0) {
        return;
    }
    qsort(list->items, list->count, sizeof *list->items, by_id);
    for (size_t i = 1; i < list->count; i++) {
        if (strcmp(list->items[i].id, list->items[kept].id) == 0) {
            list->items[kept].times += list->items[i].times;
        } else {
            list->items[++kept] = list->items[i];
        }
    }
    list->count = kept + 1;
}

static uint64_t list_name(EndedList *list, const char *id)
{
    Ended key = {0};

    if (list->count == 0) {
        return 0;
    }
    memcpy(key.id, id, strlen(id));
    Ended *found = bsearch(&key, list->items, list->count, sizeof *list->items, by_id);
    if (found == NULL) {
        return 0;
    }
    found->named = true;
    return found->times;
}

static void list_expect_named(const EndedList *list, const char *what)
{
    for (size_t i = 0; i < list->count; i++) {
        EXPECT(list->items[i].named, "%s %s follows from nothing that was sent", list->items[i].id,
               what);
    }
}

typedef struct Audit {
    const ErrandPlan *plan;
    EndedList applied;
    EndedList dead;
    ErrandCounts counts;
    uint64_t (*forwarded)(const char *id, void *ctx);
    void *ctx;
    uint32_t retry_budget;
} Audit;

static void audit(Audit *a, const Errand *errand)
{
    uint64_t applied = list_name(&a->applied, errand->id);
    uint64_t dead = list_name(&a->dead, errand->id);

    if (errand->worker == (int64_t)a->plan->workers) {
        EXPECT(applied == 0 && dead == 0, "%s is for elsewhere and ended here", errand->id);
        EXPECT(a->forwarded != NULL && a->forwarded(errand->id, a->ctx) > 0,
               "%s was never forwarded", errand->id);
        a->counts.elsewhere++;
        return;
    }
    EXPECT(applied <= 1, "%s was applied %" PRIu64 " times", errand->id, applied);
    EXPECT(errand->temper != ERRAND_POISON || applied == 0, "%s is poison and was applied",
           errand->id);
    if ((errand->flags & SAP_RUNNER_V0_DEDUPE) != 0) {
        EXPECT(applied + dead >= 1, "%s is lost", errand->id);
    } else {
        EXPECT(applied + dead == 1,
               "%s was applied %" PRIu64 " times and is %" PRIu64 " dead letters", errand->id,
               applied, dead);
    }
    a->counts.applied += applied;
    a->counts.dead += dead;
    for (uint32_t i = 0; i < errand->children && applied > 0; i++) {
        Errand child = errand_child(a->plan, errand, i);
        audit(a, &child);
    }
}

static void read_applied(SapTxnCtx *txn, EndedList *list)
{
    SapCursor *cur = sap_cursor_open_dbi(txn, ERRAND_APPLIED);

    EXPECT(cur != NULL, "no cursor");
    for (int rc = sap_cursor_first(cur); rc == SAP_OK; rc = sap_cursor_next(cur)) {
        const void *key = NULL;
        const void *val = NULL;
        uint32_t key_len = 0;
        uint32_t len = 0;
        EXPECT_RC(sap_cursor_get(cur, &key, &key_len, &val, &len), SAP_OK);
        EXPECT(len == 8, "a count of %u bytes", len);
        list_add(list, key, key_len, load_u64le(val));
    }
    sap_cursor_close(cur);
    list_sort(list);
}

static int read_letter(const SapRunnerV0DeadLetter *letter, void *ctx)
{
    Audit *a = ctx;
    SapRunnerV0Message msg;

    EXPECT_RC(sap_runner_wire_v0_decode_message(letter->frame, letter->frame_len, &msg), SAP_OK);
    Errand errand = errand_of(a->plan, &msg);
    EXPECT(letter->rc != SAP_OK, "%s was given up for nothing", errand.id);
    EXPECT(letter->attempts >= a->retry_budget, "%s was given up after %u attempts", errand.id,
           letter->attempts);
    list_add(&a->dead, errand.id, errand.id_len, 1);
    return SAP_OK;
}

static uint64_t count_prefix(SapTxnCtx *txn, uint32_t dbi, const char *prefix)
{
    uint64_t count = 0;
    SapCursor *cur = sap_cursor_open_dbi(txn, dbi);

    EXPECT(cur != NULL, "no cursor");
    for (int rc = sap_cursor_seek(cur, prefix, (uint32_t)strlen(prefix));
         rc == SAP_OK && sap_cursor_in_prefix(cur, prefix, (uint32_t)strlen(prefix));
         rc = sap_cursor_next(cur)) {
        count++;
    }
    sap_cursor_close(cur);
    return count;
}

static uint64_t rows_of(SapTxnCtx *txn, uint32_t dbi)
{
    SapStat stat;

    EXPECT_RC(sap_dbi_stat(txn, dbi, &stat), SAP_OK);
    return stat.num_entries;
}

uint64_t errands_rows(SapEnv *db, uint32_t dbi)
{
    SapTxnCtx *txn = begin(db, SAP_TXN_RDONLY | SAP_TXN_NEWEST);
    uint64_t rows = rows_of(txn, dbi);

    sap_txn_abort(txn);
    return rows;
}

uint64_t errands_on_the_way(SapEnv *db)
{
    SapTxnCtx *txn = begin(db, SAP_TXN_RDONLY | SAP_TXN_NEWEST);
    uint64_t rows = rows_of(txn, WIT_DBI_INBOX) + rows_of(txn, WIT_DBI_OUTBOX) +
                    rows_of(txn, WIT_DBI_LEASES) + rows_of(txn, WIT_DBI_TIMERS);

    sap_txn_abort(txn);
    return rows;
}

uint64_t errand_applied(SapEnv *db, const char *id, uint32_t id_len)
{
    const void *val = NULL;
    uint32_t len = 0;
    SapTxnCtx *txn = begin(db, SAP_TXN_RDONLY);
    int rc = sap_txn_get_dbi(txn, ERRAND_APPLIED, id, id_len, &val, &len);

    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "%.*s answered %d", (int)id_len, id, rc);
    uint64_t times = rc == SAP_OK ? load_u64le(val) : 0;
    sap_txn_abort(txn);
    return times;
}

static void expect_funds(SapTxnCtx *txn)
{
    uint64_t funds = 0;

    for (uint32_t i = 0; i < ERRAND_ACCOUNTS; i++) {
        char key[16];
        const void *val = NULL;
        uint32_t len = 0;
        EXPECT_RC(sap_txn_get(txn, key, account_key(i, key), &val, &len), SAP_OK);
        funds += load_u64le(val);
    }
    EXPECT(funds == ERRAND_ACCOUNTS * ERRAND_FUNDS, "the accounts have %" PRIu64, funds);
}

ErrandCounts errands_expect_done(const ErrandPlan *plan, SapEnv *db, const uint64_t *last,
                                 uint32_t producers, uint32_t retry_budget,
                                 uint64_t (*forwarded)(const char *id, void *ctx), void *ctx)
{
    Audit a = {.plan = plan, .forwarded = forwarded, .ctx = ctx, .retry_budget = retry_budget};
    SapTxnCtx *txn = begin(db, SAP_TXN_RDONLY);

    EXPECT(rows_of(txn, WIT_DBI_INBOX) == 0, "the inbox has rows left");
    EXPECT(rows_of(txn, WIT_DBI_OUTBOX) == 0, "the outbox has rows left");
    EXPECT(rows_of(txn, WIT_DBI_LEASES) == 0, "there are leases left");
    EXPECT(rows_of(txn, WIT_DBI_TIMERS) == 0, "there are timers left");
    EXPECT(count_prefix(txn, WIT_DBI_DEDUPE, "retry:") == 0, "there are counts of retries left");
    expect_funds(txn);
    read_applied(txn, &a.applied);
    EXPECT_RC(sap_runner_dead_letter_v0_list(txn, 0, 0, read_letter, &a), SAP_OK);
    list_sort(&a.dead);
    sap_txn_abort(txn);
    for (uint32_t producer = 0; producer < producers; producer++) {
        for (uint64_t number = 1; number <= last[producer]; number++) {
            Errand root = errand_root(plan, producer, number);
            audit(&a, &root);
        }
    }
    list_expect_named(&a.applied, "was applied but");
    list_expect_named(&a.dead, "is a dead letter but");
    free(a.applied.items);
    free(a.dead.items);
    model_expect_verified(db);
    return a.counts;
}
