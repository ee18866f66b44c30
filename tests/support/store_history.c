#include "support/store_history.h"

#include "support/expect.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TEXT_MAX = 16, RUNS = 30, NESTED = 4, SPLIT_PAUSES = 100 };

/* Who makes the call that the hook is asked about. */
static _Thread_local HistoryClient *current;

/* ---- The model ------------------------------------------------------------------------------ */

static bool claim_fits(const HistoryState *before, const HistoryOp *op)
{
    uint64_t left = before->queued & ~op->seen.queued;
    if ((op->seen.queued & ~before->queued) != 0) {
        return false; /* not there, or somebody else's */
    }
    if (op->skips) {
        return true;
    }
    /* The first ones, and as many as it may. */
    uint32_t count = (uint32_t)__builtin_popcountll(op->seen.queued);
    bool first = op->seen.queued == 0 || left == 0 ||
                 63 - __builtin_clzll(op->seen.queued) < __builtin_ctzll(left);
    return first && (count == op->limit || left == 0);
}

static bool apply_op(const void *before_bytes, const void *op_bytes, void *after_bytes)
{
    const HistoryState *before = before_bytes;
    const HistoryOp *op = op_bytes;
    HistoryState *after = after_bytes;
    *after = *before;
    switch (op->kind) {
    case HISTORY_ADD:
        after->registers[op->row]++;
        return before->registers[op->row] == op->seen.registers[op->row];
    case HISTORY_ADD_ALL:
        for (int i = 0; i < HISTORY_REGISTERS; i++) {
            after->registers[i]++;
        }
        return memcmp(before->registers, op->seen.registers, sizeof before->registers) == 0;
    case HISTORY_SET:
        after->registers[op->row] = op->val;
        return true;
    case HISTORY_READ_GUARDED:
        return memcmp(before->registers, op->seen.registers, sizeof before->registers) == 0;
    case HISTORY_READ_DURABLE:
    case HISTORY_READ_NEWEST:
        return memcmp(before, &op->seen, sizeof *before) == 0;
    case HISTORY_PUT_UNIQUE:
        if (!op->found) {
            after->uniques[op->row] = op->val;
        }
        return op->found == (before->uniques[op->row] != 0);
    case HISTORY_DEL_UNIQUE:
        after->uniques[op->row] = 0;
        return op->found == (before->uniques[op->row] != 0);
    case HISTORY_PUSH:
        after->queued |= UINT64_C(1) << op->row;
        return true;
    case HISTORY_CLAIM:
        after->queued &= ~op->seen.queued;
        return claim_fits(before, op);
    case HISTORY_KIND_COUNT:
        break;
    }
    return false;
}

const LinearModel history_model = {sizeof(HistoryOp), sizeof(HistoryState), apply_op};

/* ---- Transactions --------------------------------------------------------------------------- */

static uint32_t text_of(char *text, char letter, uint32_t number)
{
    return (uint32_t)snprintf(text, TEXT_MAX, "%c%02u", letter, number);
}

static int get_number(SapStoreTxn *txn, char letter, uint32_t row, uint32_t *out)
{
    char key[TEXT_MAX];
    const void *val = NULL;
    uint32_t len = 0;
    int rc = sap_store_get(txn, SUITE_TABLE, key, text_of(key, letter, row), &val, &len);
    if (rc == SAP_OK) {
        char text[TEXT_MAX] = {0};
        EXPECT(len < sizeof text, "a value of %u bytes", len);
        memcpy(text, val, len);
        *out = (uint32_t)strtoul(text, NULL, 10);
    } else if (rc == SAP_NOTFOUND) {
        *out = 0;
        rc = SAP_OK;
    }
    return rc;
}

static int put_number(SapStoreTxn *txn, char letter, uint32_t row, uint32_t val, bool if_absent)
{
    char key[TEXT_MAX];
    char text[TEXT_MAX];
    uint32_t key_len = text_of(key, letter, row);
    uint32_t len = (uint32_t)snprintf(text, sizeof text, "%u", val);
    return if_absent ? sap_store_put_if_absent(txn, SUITE_TABLE, key, key_len, text, len)
                     : sap_store_put(txn, SUITE_TABLE, key, key_len, text, len);
}

static int guard_registers(SapStoreTxn *txn, uint32_t first, uint32_t count, bool exclusive)
{
    char keys[HISTORY_REGISTERS][TEXT_MAX];
    SapStoreGuard guards[HISTORY_REGISTERS];
    for (uint32_t i = 0; i < count; i++) { /* the last first */
        uint32_t len = text_of(keys[i], 'r', first + count - 1 - i);
        guards[i] = (SapStoreGuard){SUITE_TABLE, keys[i], len, exclusive};
    }
    return sap_store_guard(txn, guards, count);
}

static int read_queue(SapStoreTxn *txn, uint64_t *queued_out)
{
    SapStoreRange range = {SUITE_OTHER_TABLE, "q", 1, "r", 1};
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    int rc = sap_store_scan(txn, &range, false, HISTORY_ITEMS, &rows, &count);
    *queued_out = 0;
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        char text[TEXT_MAX] = {0};
        memcpy(text, rows[i].key, rows[i].key_len);
        *queued_out |= UINT64_C(1) << strtoul(text + 1, NULL, 10);
    }
    return rc;
}

static int read_all(SapStoreTxn *txn, HistoryState *seen)
{
    int rc = SAP_OK;
    for (uint32_t i = 0; rc == SAP_OK && i < HISTORY_REGISTERS; i++) {
        rc = get_number(txn, 'r', i, &seen->registers[i]);
    }
    for (uint32_t i = 0; rc == SAP_OK && i < HISTORY_UNIQUES; i++) {
        rc = get_number(txn, 'u', i, &seen->uniques[i]);
    }
    return rc == SAP_OK ? read_queue(txn, &seen->queued) : rc;
}

static int add_registers(SapStoreTxn *txn, HistoryOp *op, uint32_t first, uint32_t count)
{
    int rc = SAP_OK;
    if (current->history->bug != HISTORY_NO_GUARD) {
        rc = guard_registers(txn, first, count, true);
    }
    for (uint32_t i = first; rc == SAP_OK && i < first + count; i++) {
        rc = get_number(txn, 'r', i, &op->seen.registers[i]);
    }
    for (uint32_t i = first; rc == SAP_OK && i < first + count; i++) {
        rc = put_number(txn, 'r', i, op->seen.registers[i] + 1, false);
    }
    return rc;
}

static int note_claimed(void *ctx, SapStoreTxn *txn, const SapStoreRow *row, SapStoreTarget *target)
{
    static _Thread_local char key[TEXT_MAX];
    HistoryOp *op = ctx;
    char text[TEXT_MAX] = {0};
    (void)txn;
    memcpy(text, row->key, row->key_len);
    uint32_t item = (uint32_t)strtoul(text + 1, NULL, 10);
    op->seen.queued |= UINT64_C(1) << item;
    *target =
        (SapStoreTarget){SUITE_OTHER_TABLE, {key, row->val, text_of(key, 'c', item), row->val_len}};
    return SAP_OK;
}

static int claim_items(SapStoreTxn *txn, HistoryOp *op)
{
    SapStoreRange range = {SUITE_OTHER_TABLE, "q", 1, "r", 1};
    uint32_t count = 0;
    int rc = sap_store_claim(txn, &range, op->limit, note_claimed, op, &count);
    EXPECT(rc != SAP_OK || count == (uint32_t)__builtin_popcountll(op->seen.queued),
           "a count of %u", count);
    return rc;
}

/* The body of the operation; `ctx` is a HistoryOp, whose results it writes. */
static int do_op(SapStoreTxn *txn, void *ctx)
{
    HistoryOp *op = ctx;
    char key[TEXT_MAX];
    int rc = SAP_ERROR;
    op->seen = (HistoryState){0};
    switch (op->kind) {
    case HISTORY_ADD:
        return add_registers(txn, op, op->row, 1);
    case HISTORY_ADD_ALL:
        return add_registers(txn, op, 0, HISTORY_REGISTERS);
    case HISTORY_SET:
        rc = guard_registers(txn, op->row, 1, true);
        return rc == SAP_OK ? put_number(txn, 'r', op->row, op->val, false) : rc;
    case HISTORY_READ_GUARDED:
        rc = guard_registers(txn, 0, HISTORY_REGISTERS, false);
        for (uint32_t i = 0; rc == SAP_OK && i < HISTORY_REGISTERS; i++) {
            rc = get_number(txn, 'r', i, &op->seen.registers[i]);
        }
        return rc;
    case HISTORY_READ_DURABLE:
    case HISTORY_READ_NEWEST:
        return read_all(txn, &op->seen);
    case HISTORY_PUT_UNIQUE:
        rc = put_number(txn, 'u', op->row, op->val, true);
        op->found = rc == SAP_EXISTS;
        return op->found ? SAP_OK : rc;
    case HISTORY_DEL_UNIQUE:
        rc = sap_store_del(txn, SUITE_TABLE, key, text_of(key, 'u', op->row));
        op->found = rc == SAP_OK;
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    case HISTORY_PUSH:
        return sap_store_put(txn, SUITE_OTHER_TABLE, key, text_of(key, 'q', op->row), "1", 1);
    case HISTORY_CLAIM:
        return claim_items(txn, op);
    case HISTORY_KIND_COUNT:
        break;
    }
    return rc;
}

static SapStoreKind kind_of(HistoryKind kind)
{
    return kind == HISTORY_READ_DURABLE  ? SAP_STORE_READ_DURABLE
           : kind == HISTORY_READ_NEWEST ? SAP_STORE_READ_NEWEST
           : kind == HISTORY_CLAIM       ? SAP_STORE_CLAIM
                                         : SAP_STORE_GUARDED;
}

/* As sap_store_run(), with an asynchronous commit and the wait for it. */
static int run_async(HistoryClient *client, HistoryOp *op, bool *unknown_out)
{
    int rc = SAP_BUSY;
    for (int run = 0; run < RUNS && (rc == SAP_BUSY || rc == SAP_CONFLICT); run++) {
        SapStoreTxn *txn = NULL;
        uint64_t mark = 0;
        *unknown_out = false;
        rc = sap_store_begin(client->store, kind_of(op->kind), &txn);
        if (rc != SAP_OK) {
            continue;
        }
        rc = do_op(txn, op);
        if (rc != SAP_OK) {
            sap_store_abort(txn);
            continue;
        }
        rc = sap_store_commit_async(txn, &mark, unknown_out);
        if (rc == SAP_OK && client->history->bug != HISTORY_EARLY_ACK) {
            rc = sap_store_wait_durable(client->store, mark);
            *unknown_out = rc != SAP_OK;
        }
    }
    return rc;
}

/* ---- Planted bugs --------------------------------------------------------------------------- */

static int read_for_later(SapStoreTxn *txn, void *ctx)
{
    HistoryOp *op = ctx;
    op->seen = (HistoryState){0};
    return op->kind == HISTORY_ADD ? get_number(txn, 'r', op->row, &op->seen.registers[op->row])
                                   : read_queue(txn, &op->seen.queued);
}

static int write_what_was_read(SapStoreTxn *txn, void *ctx)
{
    HistoryOp *op = ctx;
    if (op->kind == HISTORY_ADD) {
        int rc = guard_registers(txn, op->row, 1, true);
        return rc == SAP_OK ? put_number(txn, 'r', op->row, op->seen.registers[op->row] + 1, false)
                            : rc;
    }
    int rc = SAP_OK;
    for (uint32_t item = 0; rc == SAP_OK && item < HISTORY_ITEMS; item++) {
        char key[TEXT_MAX];
        if ((op->seen.queued >> item & 1) != 0) {
            rc = sap_store_del(txn, SUITE_OTHER_TABLE, key, text_of(key, 'q', item));
            rc = rc == SAP_NOTFOUND ? SAP_OK : rc; /* the bug: somebody else has it */
        }
    }
    return rc;
}

/* Waits until another client has begun and ended an operation: without it a machine that runs the
 * threads one after the other would seldom show the bug. Gives up when the others have nothing to do. */
static void let_others_act(History *history)
{
    uint64_t from = atomic_load(&history->moment);
    struct timespec pause = {.tv_nsec = 100000};
    for (int i = 0; i < SPLIT_PAUSES && atomic_load(&history->moment) < from + 2; i++) {
        (void)nanosleep(&pause, NULL);
    }
}

static int run_split(HistoryClient *client, HistoryOp *op, bool *unknown_out)
{
    op->skips = true;
    int rc = sap_store_run(client->store, SAP_STORE_READ_NEWEST, read_for_later, op, unknown_out);
    if (!client->history->one_thread) {
        let_others_act(client->history);
    }
    return rc != SAP_OK ? rc
                        : sap_store_run(client->store, SAP_STORE_GUARDED, write_what_was_read, op,
                                        unknown_out);
}

static int run_op(HistoryClient *client, HistoryOp *op, bool *unknown_out)
{
    HistoryBug bug = client->history->bug;
    if ((bug == HISTORY_SPLIT_ADD && op->kind == HISTORY_ADD) ||
        (bug == HISTORY_CLAIM_BY_SCAN && op->kind == HISTORY_CLAIM)) {
        return run_split(client, op, unknown_out);
    }
    if (bug == HISTORY_EARLY_ACK || rng_chance(&client->rng, 1, 3)) {
        return run_async(client, op, unknown_out);
    }
    int rc = sap_store_run(client->store, kind_of(op->kind), do_op, op, unknown_out);
    for (int run = 0; bug == HISTORY_BLIND_RETRY && *unknown_out && run < RUNS; run++) {
        rc = sap_store_run(client->store, kind_of(op->kind), do_op, op, unknown_out);
    }
    return rc;
}

/* ---- Clients -------------------------------------------------------------------------------- */

static HistoryOp choose_op(HistoryClient *client)
{
    History *history = client->history;
    HistoryOp op = {.kind = (HistoryKind)rng_below(&client->rng, HISTORY_KIND_COUNT),
                    .skips = history->skips_locked};
    switch (op.kind) {
    case HISTORY_ADD:
    case HISTORY_SET:
        op.row = (uint32_t)rng_below(&client->rng, HISTORY_REGISTERS);
        break;
    case HISTORY_PUT_UNIQUE:
    case HISTORY_DEL_UNIQUE:
        op.row = (uint32_t)rng_below(&client->rng, HISTORY_UNIQUES);
        break;
    case HISTORY_PUSH:
        op.row = atomic_fetch_add(&history->next_item, 1);
        if (op.row >= HISTORY_ITEMS) {
            op.kind = HISTORY_READ_DURABLE;
            op.row = 0;
        }
        break;
    case HISTORY_CLAIM:
        op.limit = 1 + (uint32_t)rng_below(&client->rng, 3);
        break;
    default:
        break;
    }
    op.val = 1000000 + atomic_fetch_add(&history->next_val, 1) * 1000;
    return op;
}

static bool op_writes(const HistoryOp *op)
{
    return op->kind != HISTORY_READ_GUARDED && op->kind != HISTORY_READ_DURABLE &&
           op->kind != HISTORY_READ_NEWEST;
}

static void note_op(History *history, const HistoryOp *op)
{
    pthread_mutex_lock(&history->lock);
    EXPECT(history->op_count < HISTORY_MAX, "a longer history than there is room for");
    history->ops[history->op_count++] = *op;
    history->kinds[op->kind]++;
    pthread_mutex_unlock(&history->lock);
}

static void step_client(HistoryClient *client)
{
    History *history = client->history;
    HistoryClient *outer = current;
    bool unknown = false;
    current = client;
    client->is_active = true;
    client->ops_left--;
    HistoryOp op = choose_op(client);
    op.call.start = atomic_fetch_add(&history->moment, 1);
    int rc = run_op(client, &op, &unknown);
    op.call.end = atomic_fetch_add(&history->moment, 1);
    EXPECT(rc == SAP_OK || rc == SAP_BUSY || rc == SAP_CONFLICT || rc == SAP_IO, "operation %d: %s",
           (int)op.kind, code_name(rc));
    if (unknown && op_writes(&op)) {
        op.call.end = LINEAR_NEVER;
    }
    if (rc == SAP_OK || (unknown && op_writes(&op))) {
        note_op(history, &op);
    } else {
        pthread_mutex_lock(&history->lock);
        history->refused++;
        pthread_mutex_unlock(&history->lock);
    }
    client->is_active = false;
    current = outer;
}

/* In one thread: lets other clients make whole operations in the middle of this call. */
static void step_others(History *history, Rng *rng)
{
    for (int i = 0; i < NESTED && rng_chance(rng, 1, 4); i++) {
        HistoryClient *other = &history->clients[rng_below(rng, HISTORY_CLIENTS)];
        if (!other->is_active && other->ops_left > 0) {
            step_client(other);
        }
    }
}

static SapStoreFault choose_fault(History *history, Rng *rng, SapStoreCall call)
{
    uint64_t choice = rng_below(rng, 400);
    bool can_lose = call == SAP_STORE_CALL_COMMIT || call == SAP_STORE_CALL_WAIT_DURABLE;
    if (choice < 24 && call != SAP_STORE_CALL_WAIT_DURABLE) {
        return choice < 4    ? SAP_STORE_FAULT_FAIL
               : choice < 14 ? SAP_STORE_FAULT_BUSY
                             : SAP_STORE_FAULT_CONFLICT;
    }
    if (choice < 34 && can_lose && atomic_fetch_add(&history->unknowns, 1) < HISTORY_UNKNOWNS) {
        return choice < 29 ? SAP_STORE_FAULT_LOST_BEFORE : SAP_STORE_FAULT_LOST_AFTER;
    }
    return SAP_STORE_FAULT_NONE;
}

static SapStoreFault history_hook(void *ctx, SapStoreCall call)
{
    History *history = ctx;
    if (current == NULL) {
        return SAP_STORE_FAULT_NONE;
    }
    Rng *rng = &current->rng;
    if (history->one_thread) {
        step_others(history, rng);
    }
    return history->has_faults ? choose_fault(history, rng, call) : SAP_STORE_FAULT_NONE;
}

static void *client_main(void *arg)
{
    HistoryClient *client = arg;
    while (client->ops_left > 0) {
        step_client(client);
    }
    return NULL;
}

static void run_clients(History *history)
{
    pthread_t threads[HISTORY_CLIENTS];
    if (history->one_thread) {
        for (int i = 0; i < HISTORY_CLIENTS; i++) {
            client_main(&history->clients[i]);
        }
        return;
    }
    for (int i = 0; i < HISTORY_CLIENTS; i++) {
        EXPECT(pthread_create(&threads[i], NULL, client_main, &history->clients[i]) == 0, "none");
    }
    for (int i = 0; i < HISTORY_CLIENTS; i++) {
        EXPECT(pthread_join(threads[i], NULL) == 0, "no join");
    }
}

/* ---- Runs ----------------------------------------------------------------------------------- */

static SapStoreOptions history_options(History *history)
{
    static const uint32_t tables[] = {SUITE_TABLE, SUITE_OTHER_TABLE};
    return (SapStoreOptions){.size = sizeof(SapStoreOptions),
                             .tables = tables,
                             .table_count = 2,
                             .hook = history_hook,
                             .hook_ctx = history};
}

static SapStore *open_for_history(History *history, const char *url)
{
    SapStoreOptions options = history_options(history);
    SapStore *store = NULL;
    EXPECT_RC(sap_store_open(url, &options, &store), SAP_OK);
    return store;
}

/* What is there in the end is a read that nothing overlaps. */
static void note_last_read(History *history)
{
    HistoryOp op = {.kind = HISTORY_READ_DURABLE};
    bool unknown = false;
    op.call.start = atomic_fetch_add(&history->moment, 1);
    EXPECT_RC(sap_store_run(history->clients[0].store, SAP_STORE_READ_NEWEST, do_op, &op, &unknown),
              SAP_OK);
    op.call.end = atomic_fetch_add(&history->moment, 1);
    note_op(history, &op);
}

static void count_history(const History *history, HistoryCounts *counts)
{
    counts->histories++;
    counts->ops += history->op_count;
    counts->refused += history->refused;
    for (int i = 0; i < HISTORY_KIND_COUNT; i++) {
        counts->kinds[i] += history->kinds[i];
    }
    for (uint32_t i = 0; i < history->op_count; i++) {
        counts->unknown += history->ops[i].call.end == LINEAR_NEVER;
    }
}

bool history_run(const HistoryPlan *plan, HistoryCounts *counts)
{
    History *history = calloc(1, sizeof *history);
    EXPECT(history != NULL, "no memory");
    char url[SUITE_URL_MAX];
    SapStoreOptions options = history_options(history);
    store_suite_next_url(plan->bed, url, sizeof url);
    store_suite_make(plan->bed, url, &options);
    history->bug = plan->bug;
    history->one_thread = plan->bed->one_thread;
    history->skips_locked = plan->bed->is_shared;
    history->has_faults = plan->has_faults;
    EXPECT(pthread_mutex_init(&history->lock, NULL) == 0, "no mutex");
    for (int i = 0; i < HISTORY_CLIENTS; i++) {
        HistoryClient *client = &history->clients[i];
        client->history = history;
        client->ops_left = plan->ops_each;
        client->store = i == 0 || plan->bed->is_shared ? open_for_history(history, url)
                                                       : history->clients[0].store;
        rng_seed(&client->rng, plan->seed * HISTORY_CLIENTS + (uint64_t)i);
    }
    run_clients(history);
    note_last_read(history);
    for (int i = 0; i < HISTORY_CLIENTS; i++) {
        SapStoreStats stats;
        if (i == 0 || plan->bed->is_shared) {
            EXPECT_RC(sap_store_stats(history->clients[i].store, &stats), SAP_OK);
            counts->faults += stats.faults;
            EXPECT_RC(sap_store_close(history->clients[i].store), SAP_OK);
        }
    }
    count_history(history, counts);
    bool is_linear = linear_check(&history_model, history->ops, history->op_count, &counts->effort);
    pthread_mutex_destroy(&history->lock);
    free(history);
    return is_linear;
}

void history_print(const char *name, uint64_t first_seed, const HistoryCounts *counts)
{
    printf("store_linear: %s: %llu histories from seed %llu, %llu operations (%llu unknown), %llu "
           "without effect, %llu faults, %llu steps of the search\n",
           name, (unsigned long long)counts->histories, (unsigned long long)first_seed,
           (unsigned long long)counts->ops, (unsigned long long)counts->unknown,
           (unsigned long long)counts->refused, (unsigned long long)counts->faults,
           (unsigned long long)counts->effort.applied);
    for (int i = 0; i < HISTORY_KIND_COUNT; i++) {
        EXPECT(counts->kinds[i] > 0, "there was no operation of kind %d", i);
    }
}
