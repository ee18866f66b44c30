/* simulator_toy.c - see simulator_toy.h. */
#include "support/simulator_toy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

enum { REQUESTS = 16, PENDING, INFLIGHT, ACCOUNTS, DONE, TABLES = 5 };
enum { FIRST_BALANCE = 1000, LEASE_MS = 2000, KEY_SIZE = 8, VALUE_SIZE = 64 };

static const uint32_t tables[TABLES] = {REQUESTS, PENDING, INFLIGHT, ACCOUNTS, DONE};

/* ---- Rows, as text --------------------------------------------------------------------------- */

typedef struct Work {
    uint32_t request;
    uint64_t token;      /* of the claim; 0: not claimed */
    int64_t deadline_ms; /* wall time */
} Work;

/* What a request asks for follows from its number. */
static uint32_t payer_of(uint32_t request)
{
    return request % TOY_ACCOUNTS;
}

static uint32_t payee_of(uint32_t request)
{
    return (request + 1 + request / TOY_ACCOUNTS % (TOY_ACCOUNTS - 1)) % TOY_ACCOUNTS;
}

static int64_t amount_of(uint32_t request)
{
    return INT64_C(1) << request; /* every sum shows what it is made of */
}

typedef struct Key {
    char text[KEY_SIZE];
    uint32_t len;
} Key;

static Key make_key(char kind, uint32_t number)
{
    Key key;
    key.len = (uint32_t)snprintf(key.text, sizeof key.text, "%c%02u", kind, number % 100);
    return key;
}

static Key request_key(uint32_t request)
{
    return make_key('r', request);
}

static Key account_key(uint32_t account)
{
    return make_key('a', account);
}

static uint32_t write_work(const Work *work, char text[VALUE_SIZE])
{
    return (uint32_t)snprintf(text, VALUE_SIZE, "%u %" PRIu64 " %" PRId64, work->request,
                              work->token, work->deadline_ms);
}

static Work read_work(const void *val, uint32_t len)
{
    char text[VALUE_SIZE] = {0};
    char *end = NULL;
    Work work;
    memcpy(text, val, len < VALUE_SIZE ? len : VALUE_SIZE - 1);
    work.request = (uint32_t)strtoul(text, &end, 10);
    work.token = strtoull(end, &end, 10);
    work.deadline_ms = strtoll(end, &end, 10);
    return work;
}

static int put_work(SapStoreTxn *txn, uint32_t table, const Work *work)
{
    char text[VALUE_SIZE];
    Key key = request_key(work->request);
    uint32_t len = write_work(work, text);
    return sap_store_put(txn, table, key.text, key.len, text, len);
}

static int get_work(SapStoreTxn *txn, uint32_t table, uint32_t request, Work *work_out)
{
    Key key = request_key(request);
    const void *val = NULL;
    uint32_t len = 0;
    int rc = sap_store_get(txn, table, key.text, key.len, &val, &len);
    if (rc == SAP_OK) {
        *work_out = read_work(val, len);
    }
    return rc;
}

static int del_work(SapStoreTxn *txn, uint32_t table, uint32_t request)
{
    Key key = request_key(request);
    return sap_store_del(txn, table, key.text, key.len);
}

static int get_balance(SapStoreTxn *txn, uint32_t account, int64_t *balance_out)
{
    Key key = account_key(account);
    char text[VALUE_SIZE] = {0};
    const void *val = NULL;
    uint32_t len = 0;
    int rc = sap_store_get(txn, ACCOUNTS, key.text, key.len, &val, &len);
    if (rc == SAP_OK) {
        memcpy(text, val, len < VALUE_SIZE ? len : VALUE_SIZE - 1);
        *balance_out = strtoll(text, NULL, 10);
    }
    return rc;
}

static int put_balance(SapStoreTxn *txn, uint32_t account, int64_t balance)
{
    Key key = account_key(account);
    char text[VALUE_SIZE];
    uint32_t len = (uint32_t)snprintf(text, sizeof text, "%" PRId64, balance);
    return sap_store_put(txn, ACCOUNTS, key.text, key.len, text, len);
}

/* ---- A process ------------------------------------------------------------------------------- */

typedef struct ToyProcess {
    Toy *toy;
    SimulatorProcess process;
    /* The acceptor's: a request that it will acknowledge when `mark` is durable. */
    bool waiting;
    uint32_t accepted;
    uint64_t mark;
    /* The mover's. */
    bool holding;
    bool blind; /* the planted bug: go on without looking */
    bool reap;  /* next time: look for work that was claimed and not done */
    Work work;
} ToyProcess;

/* The next step tries again after all of these; a dead process, or one whose disk is gone, is over. */
static int code_of_step(int rc)
{
    return rc == SAP_NOMEM ? rc : SAP_OK;
}

/* ---- The acceptor ---------------------------------------------------------------------------- */

static void acknowledge(ToyProcess *self, uint32_t request)
{
    if (simulator_alive(self->process.simulator)) {
        self->toy->acknowledged[request] = true;
    }
}

/* The next client that has no acknowledgement. TOY_REQUESTS: none. */
static uint32_t next_request(Toy *toy)
{
    for (uint32_t i = 0; i < TOY_REQUESTS; i++) {
        uint32_t request = toy->next;
        toy->next = (toy->next + 1) % TOY_REQUESTS;
        if (!toy->acknowledged[request]) {
            return request;
        }
    }
    return TOY_REQUESTS;
}

/* SAP_OK: the request is there, and will be after any crash. */
static int look_up_request(ToyProcess *self, uint32_t request)
{
    SapStoreKind kind =
        self->toy->race == TOY_NEWEST_ACKED ? SAP_STORE_READ_NEWEST : SAP_STORE_READ_DURABLE;
    SapStoreTxn *txn = NULL;
    Key key = request_key(request);
    const void *val = NULL;
    uint32_t len = 0;
    int rc = sap_store_begin(self->process.store, kind, &txn);
    if (rc == SAP_OK) {
        rc = sap_store_get(txn, REQUESTS, key.text, key.len, &val, &len);
        sap_store_abort(txn);
    }
    return rc;
}

static int put_request(SapStoreTxn *txn, uint32_t request)
{
    Key key = request_key(request);
    Work work = {.request = request};
    int rc = sap_store_put_if_absent(txn, REQUESTS, key.text, key.len, NULL, 0);
    if (rc == SAP_OK) {
        return put_work(txn, PENDING, &work);
    }
    return rc == SAP_EXISTS ? SAP_OK : rc; /* it is a duplicate: what it needs is there */
}

/* Puts the request unless it is there; in both cases the commit's mark is what to wait for. An
 * unknown outcome needs nothing: the client asks again under the same id. */
static int accept_request(ToyProcess *self, uint32_t request)
{
    SapStoreTxn *txn = NULL;
    int rc = sap_store_begin(self->process.store, SAP_STORE_GUARDED, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = put_request(txn, request);
    if (rc != SAP_OK) {
        sap_store_abort(txn);
        return rc;
    }
    rc = sap_store_commit_async(txn, &self->mark, NULL);
    self->waiting = rc == SAP_OK;
    self->accepted = request;
    return rc;
}

static int step_acceptor(void *ctx, uint64_t now_ns)
{
    ToyProcess *self = (ToyProcess *)ctx;
    (void)now_ns;
    if (self->waiting) {
        self->waiting = false;
        int rc = sap_store_wait_durable(self->process.store, self->mark);
        if (rc == SAP_OK) {
            acknowledge(self, self->accepted);
        }
        return code_of_step(rc);
    }
    uint32_t request = next_request(self->toy);
    if (request == TOY_REQUESTS) {
        return SAP_OK;
    }
    int rc = look_up_request(self, request);
    if (rc == SAP_OK) {
        acknowledge(self, request);
    } else if (rc == SAP_NOTFOUND) {
        rc = accept_request(self, request);
    }
    return code_of_step(rc);
}

/* ---- The mover ------------------------------------------------------------------------------- */

typedef struct Claim {
    Work work;
    char text[VALUE_SIZE];
} Claim;

static int move_to_inflight(void *ctx, SapStoreTxn *txn, const SapStoreRow *row,
                            SapStoreTarget *target)
{
    Claim *claim = (Claim *)ctx;
    (void)txn;
    claim->work.request = read_work(row->val, row->val_len).request;
    uint32_t len = write_work(&claim->work, claim->text);
    *target = (SapStoreTarget){INFLIGHT, {row->key, claim->text, row->key_len, len}};
    return SAP_OK;
}

typedef struct ClaimCall {
    Claim claim;
    uint32_t count;
} ClaimCall;

static int claim_body(SapStoreTxn *txn, void *ctx)
{
    ClaimCall *call = (ClaimCall *)ctx;
    SapStoreRange range = {.table = PENDING};
    return sap_store_claim(txn, &range, 1, move_to_inflight, &call->claim, &call->count);
}

static int claim_work(ToyProcess *self)
{
    ClaimCall call = {0};
    bool unknown = false;
    int rc =
        random_fill(self->process.random, &call.claim.work.token, sizeof call.claim.work.token);
    call.claim.work.deadline_ms = clock_wall_ms(self->process.clock) + LEASE_MS;
    if (rc == SAP_OK) {
        rc = sap_store_run(self->process.store, SAP_STORE_CLAIM, claim_body, &call, &unknown);
    }
    self->holding = rc == SAP_OK && call.count == 1; /* an unknown claim runs out by itself */
    self->work = call.claim.work;
    return rc;
}

/* The row that decides: SAP_FENCED if the work is no longer this process's. */
static int check_token(SapStoreTxn *txn, const Work *work)
{
    Work found = {0};
    int rc = get_work(txn, INFLIGHT, work->request, &found);
    if (rc == SAP_OK) {
        rc = found.token == work->token ? SAP_OK : SAP_FENCED;
    }
    return rc == SAP_NOTFOUND ? SAP_FENCED : rc;
}

static int move_money(SapStoreTxn *txn, uint32_t request)
{
    int64_t payer = 0;
    int64_t payee = 0;
    int rc = get_balance(txn, payer_of(request), &payer);
    rc = rc == SAP_OK ? get_balance(txn, payee_of(request), &payee) : rc;
    rc = rc == SAP_OK ? put_balance(txn, payer_of(request), payer - amount_of(request)) : rc;
    return rc == SAP_OK ? put_balance(txn, payee_of(request), payee + amount_of(request)) : rc;
}

static int guard_transfer(SapStoreTxn *txn, const Work *work, bool accounts)
{
    Key keys[] = {request_key(work->request), account_key(payer_of(work->request)),
                  account_key(payee_of(work->request))};
    SapStoreGuard guards[] = {{INFLIGHT, keys[0].text, keys[0].len, true},
                              {ACCOUNTS, keys[1].text, keys[1].len, true},
                              {ACCOUNTS, keys[2].text, keys[2].len, true}};
    return sap_store_guard(txn, guards, accounts ? 3 : 1);
}

static int transfer_body(SapStoreTxn *txn, void *ctx)
{
    const ToyProcess *self = (const ToyProcess *)ctx;
    const Work *work = &self->work;
    int rc = guard_transfer(txn, work, self->toy->race != TOY_NO_GUARD);
    if (rc == SAP_OK && !self->blind) {
        rc = check_token(txn, work);
    }
    rc = rc == SAP_OK ? move_money(txn, work->request) : rc;
    if (rc == SAP_OK) {
        rc = del_work(txn, INFLIGHT, work->request);
        rc = rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    return rc == SAP_OK ? put_work(txn, DONE, work) : rc;
}

/* After an unknown outcome it runs again with the same token: if the transfer was done, the row that
 * has the token is gone. */
static int do_transfer(ToyProcess *self)
{
    bool unknown = false;
    int rc = sap_store_run(self->process.store, SAP_STORE_GUARDED, transfer_body, self, &unknown);
    self->holding = rc != SAP_OK && rc != SAP_FENCED;
    self->blind = unknown && self->toy->race == TOY_BLIND_RETRY;
    return rc;
}

static bool has_expired(const ToyProcess *self, const Work *work)
{
    int64_t now_ms = clock_wall_ms(self->process.clock);
    /* A clock that was wrong at the claim: too early an end costs a second claim, nothing else. */
    bool absurd = work->deadline_ms > now_ms + 2 * LEASE_MS;
    return work->deadline_ms <= now_ms || absurd;
}

typedef struct Reap {
    ToyProcess *self;
    Work work;
} Reap;

/* Looks again under the guard, then puts the work back. */
static int reap_body(SapStoreTxn *txn, void *ctx)
{
    const Reap *reap = (const Reap *)ctx;
    Work back = {.request = reap->work.request};
    int rc = guard_transfer(txn, &reap->work, false);
    rc = rc == SAP_OK ? check_token(txn, &reap->work) : rc;
    rc = rc == SAP_OK ? del_work(txn, INFLIGHT, back.request) : rc;
    return rc == SAP_OK ? put_work(txn, PENDING, &back) : rc;
}

/* SAP_NOTFOUND: all work that is claimed has time left. */
static int find_expired(ToyProcess *self, Work *work_out)
{
    SapStoreTxn *txn = NULL;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    SapStoreRange range = {.table = INFLIGHT};
    int rc = sap_store_begin(self->process.store, SAP_STORE_READ_NEWEST, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = sap_store_scan(txn, &range, false, TOY_REQUESTS, &rows, &count);
    rc = rc == SAP_OK ? SAP_NOTFOUND : rc;
    for (uint32_t i = 0; i < count && rc == SAP_NOTFOUND; i++) {
        *work_out = read_work(rows[i].val, rows[i].val_len);
        rc = has_expired(self, work_out) ? SAP_OK : SAP_NOTFOUND;
    }
    sap_store_abort(txn);
    return rc;
}

static int reap_work(ToyProcess *self)
{
    Reap reap = {.self = self};
    int rc = find_expired(self, &reap.work);
    return rc == SAP_OK
               ? sap_store_run(self->process.store, SAP_STORE_GUARDED, reap_body, &reap, NULL)
               : rc;
}

static int step_mover(void *ctx, uint64_t now_ns)
{
    ToyProcess *self = (ToyProcess *)ctx;
    (void)now_ns;
    if (self->holding) {
        return code_of_step(do_transfer(self));
    }
    self->reap = !self->reap;
    return code_of_step(self->reap ? reap_work(self) : claim_work(self));
}

/* ---- Start and stop -------------------------------------------------------------------------- */

static int open_accounts_body(SapStoreTxn *txn, void *ctx)
{
    int rc = SAP_OK;
    char text[VALUE_SIZE];
    (void)ctx;
    uint32_t len = (uint32_t)snprintf(text, sizeof text, "%d", FIRST_BALANCE);
    for (uint32_t account = 0; account < TOY_ACCOUNTS && rc == SAP_OK; account++) {
        Key key = account_key(account);
        rc = sap_store_put_if_absent(txn, ACCOUNTS, key.text, key.len, text, len);
        rc = rc == SAP_EXISTS ? SAP_OK : rc;
    }
    return rc;
}

static int start_process(void *ctx, const SimulatorProcess *process, SimulatorRoles *roles_out)
{
    int rc = sap_store_run(process->store, SAP_STORE_GUARDED, open_accounts_body, NULL, NULL);
    if (rc != SAP_OK) {
        return rc;
    }
    ToyProcess *self = (ToyProcess *)mem_zalloc(MEM_TEST, sizeof *self);
    if (self == NULL) {
        return SAP_NOMEM;
    }
    self->toy = (Toy *)ctx;
    self->process = *process;
    *roles_out = (SimulatorRoles){
        .state = self,
        .count = 2,
        .roles = {{"acceptor", step_acceptor, self}, {"mover", step_mover, self}},
    };
    return SAP_OK;
}

static void stop_process(void *ctx, void *state)
{
    (void)ctx;
    mem_free(MEM_TEST, state, sizeof(ToyProcess));
}

/* ---- What must hold -------------------------------------------------------------------------- */

/* Which requests have a row in the table. */
typedef struct Found {
    bool there[TOY_REQUESTS];
} Found;

static bool find_rows(Simulator *simulator, SapStoreTxn *txn, uint32_t table, Found *found)
{
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    SapStoreRange range = {.table = table};
    memset(found, 0, sizeof *found);
    if (sap_store_scan(txn, &range, false, TOY_REQUESTS + 1, &rows, &count) != SAP_OK) {
        return false; /* no memory */
    }
    for (uint32_t i = 0; i < count; i++) {
        char key[KEY_SIZE] = {0};
        memcpy(key, rows[i].key, rows[i].key_len < KEY_SIZE ? rows[i].key_len : KEY_SIZE - 1);
        unsigned long request = strtoul(key + 1, NULL, 10);
        if (request >= TOY_REQUESTS) {
            simulator_violation(simulator, "a row of table %u that nobody asked for", table);
            return false;
        }
        found->there[request] = true;
    }
    return true;
}

static void check_balances(Simulator *simulator, SapStoreTxn *txn, const Found *done)
{
    int64_t expected[TOY_ACCOUNTS];
    for (uint32_t account = 0; account < TOY_ACCOUNTS; account++) {
        expected[account] = FIRST_BALANCE;
    }
    for (uint32_t request = 0; request < TOY_REQUESTS; request++) {
        int64_t amount = done->there[request] ? amount_of(request) : 0;
        expected[payer_of(request)] -= amount;
        expected[payee_of(request)] += amount;
    }
    for (uint32_t account = 0; account < TOY_ACCOUNTS; account++) {
        int64_t balance = 0;
        if (get_balance(txn, account, &balance) == SAP_OK && balance != expected[account]) {
            simulator_violation(simulator,
                                "account %u has %" PRId64 " where the transfers done make %" PRId64,
                                account, balance, expected[account]);
        }
    }
}

static void check_toy(void *ctx, Simulator *simulator, SapStoreTxn *txn)
{
    const Toy *toy = (const Toy *)ctx;
    Found requests;
    Found pending;
    Found inflight;
    Found done;
    if (!find_rows(simulator, txn, REQUESTS, &requests) ||
        !find_rows(simulator, txn, PENDING, &pending) ||
        !find_rows(simulator, txn, INFLIGHT, &inflight) ||
        !find_rows(simulator, txn, DONE, &done)) {
        return;
    }
    for (uint32_t i = 0; i < TOY_REQUESTS; i++) {
        int places = pending.there[i] + inflight.there[i] + done.there[i];
        if (places != requests.there[i]) {
            simulator_violation(simulator, "request %u is in %d places", i, places);
        }
        if (toy->acknowledged[i] && !requests.there[i]) {
            simulator_violation(simulator, "request %u was acknowledged and is lost", i);
        }
    }
    check_balances(simulator, txn, &done);
}

static void check_all_done(void *ctx, Simulator *simulator, SapStoreTxn *txn)
{
    const Toy *toy = (const Toy *)ctx;
    Found done;
    if (!find_rows(simulator, txn, DONE, &done)) {
        return;
    }
    for (uint32_t i = 0; i < TOY_REQUESTS; i++) {
        if (!toy->acknowledged[i] || !done.there[i]) {
            simulator_violation(simulator, "request %u is not %s, and all was quiet", i,
                                toy->acknowledged[i] ? "done" : "acknowledged");
        }
    }
}

int toy_run(ToyRace race, const SimulatorOptions *options, uint64_t seed,
            SimulatorReport *report_out)
{
    Toy toy = {.race = race};
    SimulatorOptions mine = *options;
    mine.ctx = &toy;
    mine.tables = tables;
    mine.table_count = TABLES;
    mine.start = start_process;
    mine.stop = stop_process;
    mine.check = check_toy;
    mine.check_end = check_all_done;
    return simulator_run(&mine, seed, report_out);
}

const char *toy_race_name(ToyRace race)
{
    static const char *const names[TOY_RACES] = {"none", "a missing guard",
                                                 "a newest read that is acknowledged",
                                                 "an unknown outcome that is retried blindly"};
    return names[race];
}
