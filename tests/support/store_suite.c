#include "support/store_suite.h"

#include "common/mem.h"
#include "support/crash.h"
#include "support/expect.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SHORTEST_TAPE = 4096,
    TRY_MS = 30,       /* how long the first party waits for one that may be waiting for it */
    END_MS = 60000,    /* for one that waits for nobody */
    PARTY_TRIES = 400, /* runs of one party */
    SHOWN = 40,        /* bytes of a key or value on the tape */
    TEXT_MAX = 64,
};

static const uint32_t suite_tables[] = {SUITE_TABLE, SUITE_OTHER_TABLE, SUITE_EMPTY_TABLE};

/* ---- Tapes: plain memory, so that faults of allocations do not touch them --------------------- */

void tape_printf(Tape *tape, const char *format, ...)
{
    va_list args;
    for (;;) {
        va_start(args, format);
        int n = vsnprintf(tape->text == NULL ? NULL : tape->text + tape->len, tape->cap - tape->len,
                          format, args);
        va_end(args);
        EXPECT(n >= 0, "cannot format a line");
        if ((size_t)n < tape->cap - tape->len) {
            tape->len += (size_t)n;
            return;
        }
        tape->cap = (tape->cap + (size_t)n) * 2 + SHORTEST_TAPE;
        tape->text = realloc(tape->text, tape->cap);
        EXPECT(tape->text != NULL, "no memory for the transcript");
    }
}

void tape_release(Tape *tape)
{
    free(tape->text);
    *tape = (Tape){0};
}

void tape_expect_same(const Tape *one, const Tape *other)
{
    size_t line = 0;
    size_t title = 0;
    size_t at = 0;
    while (at < one->len && at < other->len && one->text[at] == other->text[at]) {
        if (one->text[at++] == '\n') {
            line = at;
        } else if (at - 1 == line && one->text[line] == '#') {
            title = line;
        }
    }
    EXPECT(at == one->len && at == other->len,
           "the answers differ in %.*s\none:   %.*s\nother: %.*s",
           (int)strcspn(one->text + title, "\n"), one->text + title,
           (int)strcspn(one->text + line, "\n"), one->text + line,
           (int)strcspn(other->text + line, "\n"), other->text + line);
}

const char *code_name(int rc)
{
    switch (rc) {
#define NAME_CODE(name, number, text) \
    case number:                      \
        return #name;
        SAP_ERROR_TABLE(NAME_CODE)
#undef NAME_CODE
    default:
        return "no code";
    }
}

/* A key or value: printable, and cut where it is long. */
static void tape_bytes(Tape *tape, const void *bytes, uint32_t len)
{
    const unsigned char *at = bytes;
    for (uint32_t i = 0; i < len && i < SHOWN; i++) {
        if (at[i] > ' ' && at[i] < 127) {
            tape_printf(tape, "%c", at[i]);
        } else {
            tape_printf(tape, "\\%02x", at[i]);
        }
    }
    if (len > SHOWN) {
        tape_printf(tape, "...%u", len);
    }
}

/* ---- Stores --------------------------------------------------------------------------------- */

static void make_memory_url(void *ctx, uint32_t number, char *url, size_t size)
{
    (void)ctx;
    (void)snprintf(url, size, "memory:suite%u", number);
}

static void make_file_url(void *ctx, uint32_t number, char *url, size_t size)
{
    (void)snprintf(url, size, "sapling:%s/suite%u", (const char *)ctx, number);
}

/* The server of the test and all its schemas end together, so no schema is ever dropped. */
static void make_postgres_url(void *ctx, uint32_t number, char *url, size_t size)
{
    PgServer *server = ctx;
    char schema[TEXT_MAX];
    if (server->postmaster == 0) {
        EXPECT(pg_server_start(server, NULL), "no server");
    }
    /* One who waits in vain gives up long before the server ends a transaction that does nothing. */
    (void)snprintf(schema, sizeof schema, "schema=s%u&lock_timeout_ms=200", number);
    pg_server_url(server, schema, url, size);
}

void store_beds_start(StoreBeds *beds)
{
    *beds = (StoreBeds){.count = STORE_BED_POSTGRES};
    crash_dir_make(beds->dir, sizeof beds->dir, true);
    beds->all[STORE_BED_MEMORY] = (StoreBed){
        .name = "memory", .make_url = make_memory_url, .one_thread = true, .is_shared = true};
    beds->all[STORE_BED_FILE] =
        (StoreBed){.name = "sapling", .make_url = make_file_url, .ctx = beds->dir};
    if (pg_server_is_installed()) {
        beds->all[beds->count++] = (StoreBed){.name = "postgres",
                                              .make_url = make_postgres_url,
                                              .ctx = &beds->server,
                                              .is_shared = true,
                                              .needs_init = true,
                                              .is_slow = true};
    }
}

void store_beds_end(StoreBeds *beds)
{
    crash_dir_remove(beds->dir);
    pg_server_end(&beds->server);
}

static SapStoreFault suite_hook(void *ctx, SapStoreCall call)
{
    StoreSuite *suite = ctx;
    if (suite->fault_nth == 0 || (!suite->fault_any_call && call != suite->fault_call)) {
        return SAP_STORE_FAULT_NONE;
    }
    if (suite->fault_nth > 1) {
        suite->fault_nth--;
        return SAP_STORE_FAULT_NONE;
    }
    suite->fault_fired++;
    suite->fault_nth = suite->fault_fired < suite->fault_times;
    return suite->fault;
}

void store_suite_arm(StoreSuite *suite, SapStoreCall call, SapStoreFault fault, uint32_t nth)
{
    suite->fault_call = call;
    suite->fault = fault;
    suite->fault_nth = nth;
    suite->fault_times = 1;
    suite->fault_any_call = false;
    suite->fault_fired = 0;
}

void store_suite_arm_any(StoreSuite *suite, SapStoreFault fault, uint32_t nth)
{
    store_suite_arm(suite, SAP_STORE_CALL_BEGIN, fault, nth);
    suite->fault_any_call = true;
}

void store_suite_disarm(StoreSuite *suite)
{
    suite->fault_nth = 0;
}

SapStoreOptions store_suite_options(StoreSuite *suite)
{
    return (SapStoreOptions){
        .size = sizeof(SapStoreOptions),
        .tables = suite_tables,
        .table_count = sizeof suite_tables / sizeof suite_tables[0],
        .schema = "suite@1",
        .hook = suite_hook,
        .hook_ctx = suite,
    };
}

static SapStore *open_suite_store(StoreSuite *suite)
{
    SapStoreOptions options = store_suite_options(suite);
    SapStore *store = NULL;
    int rc = sap_store_open(suite->url, &options, &store);
    EXPECT(rc == SAP_OK && store != NULL, "open of %s returned %s: %s", suite->url, code_name(rc),
           sap_open_error());
    return store;
}

void store_suite_next_url(const StoreBed *bed, char *url, size_t size)
{
    static uint32_t number;
    bed->make_url(bed->ctx, ++number, url, size);
}

void store_suite_make(const StoreBed *bed, const char *url, const SapStoreOptions *options)
{
    if (bed->needs_init) {
        int rc = sap_store_init(url, options);
        EXPECT(rc == SAP_OK, "init of %s returned %s: %s", url, code_name(rc), sap_open_error());
    }
}

void store_suite_open(StoreSuite *suite, const StoreBed *bed)
{
    *suite = (StoreSuite){.bed = bed};
    SapStoreOptions options = store_suite_options(suite);
    store_suite_next_url(bed, suite->url, sizeof suite->url);
    store_suite_make(bed, suite->url, &options);
    suite->store = open_suite_store(suite);
    suite->second = bed->is_shared ? open_suite_store(suite) : suite->store;
}

void store_suite_reopen(StoreSuite *suite)
{
    /* A store whose calls failed with SAP_IO may say so once more; it is closed all the same. */
    int rc = sap_store_close(suite->store);
    EXPECT(rc != SAP_BUSY, "a transaction is still open");
    suite->store = open_suite_store(suite);
    if (!suite->bed->is_shared) {
        suite->second = suite->store;
    }
}

void store_suite_close(StoreSuite *suite)
{
    if (suite->second != suite->store) {
        EXPECT_RC(sap_store_close(suite->second), SAP_OK);
    }
    EXPECT_RC(sap_store_close(suite->store), SAP_OK);
    EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes are left", mem_live_bytes(MEM_STORE));
    tape_release(&suite->tape);
}

static uint32_t run_case_list(const StoreBed *bed, const StoreCase *cases, Tape *tape)
{
    uint32_t count = 0;
    for (const StoreCase *one = cases; one->claim != NULL; one++, count++) {
        StoreSuite suite;
        expect_context("%s: %s", bed->name, one->claim);
        store_suite_open(&suite, bed);
        one->run(&suite);
        EXPECT(suite.tape.len != 0, "the case has recorded nothing");
        tape_printf(tape, "## %s\n%s", one->claim, suite.tape.text);
        store_suite_close(&suite);
    }
    return count;
}

uint32_t store_suite_run(const StoreBed *bed, Tape *tape)
{
    return run_case_list(bed, store_row_cases, tape) + run_case_list(bed, store_view_cases, tape) +
           run_case_list(bed, store_guard_cases, tape) +
           run_case_list(bed, store_claim_cases, tape) +
           run_case_list(bed, store_error_cases, tape);
}

/* ---- Seats ---------------------------------------------------------------------------------- */

Seat suite_seat(StoreSuite *suite)
{
    return (Seat){suite->store, NULL, &suite->tape};
}

int seat_begin(Seat *seat, SapStoreKind kind)
{
    static const char *const names[] = {"durable", "newest", "guarded", "claim"};
    seat->txn = NULL;
    int rc = sap_store_begin(seat->store, kind, &seat->txn);
    tape_printf(seat->tape, "begin %s: %s\n", names[kind], code_name(rc));
    EXPECT((rc == SAP_OK) == (seat->txn != NULL), "begin gives a transaction or a code");
    return rc;
}

int seat_guard(Seat *seat, const char *key, bool exclusive)
{
    SapStoreGuard one = {SUITE_TABLE, key, (uint32_t)strlen(key), exclusive};
    int rc = sap_store_guard(seat->txn, &one, 1);
    tape_printf(seat->tape, "guard %s %s: %s\n", key, exclusive ? "exclusive" : "shared",
                code_name(rc));
    return rc;
}

int seat_guard_all(Seat *seat, const char *keys)
{
    SapStoreGuard guards[TEXT_MAX];
    char lower[TEXT_MAX];
    uint32_t count = 0;
    for (const char *at = keys; *at != 0; at++) {
        if (*at == ' ') {
            continue;
        }
        bool exclusive = *at >= 'A' && *at <= 'Z';
        lower[count] = (char)(exclusive ? *at - 'A' + 'a' : *at);
        guards[count] = (SapStoreGuard){SUITE_TABLE, &lower[count], 1, exclusive};
        count++;
    }
    int rc = sap_store_guard(seat->txn, guards, count);
    tape_printf(seat->tape, "guards %s: %s\n", keys, code_name(rc));
    return rc;
}

int seat_put(Seat *seat, const char *key, const char *val)
{
    int rc = sap_store_put(seat->txn, SUITE_TABLE, key, (uint32_t)strlen(key), val,
                           (uint32_t)strlen(val));
    tape_printf(seat->tape, "put %s=%s: %s\n", key, val, code_name(rc));
    return rc;
}

int seat_put_if_absent(Seat *seat, const char *key, const char *val)
{
    int rc = sap_store_put_if_absent(seat->txn, SUITE_TABLE, key, (uint32_t)strlen(key), val,
                                     (uint32_t)strlen(val));
    tape_printf(seat->tape, "put if absent %s=%s: %s\n", key, val, code_name(rc));
    return rc;
}

int seat_del(Seat *seat, const char *key)
{
    int rc = sap_store_del(seat->txn, SUITE_TABLE, key, (uint32_t)strlen(key));
    tape_printf(seat->tape, "del %s: %s\n", key, code_name(rc));
    return rc;
}

int seat_get_table(Seat *seat, uint32_t table, const char *key, char *out, size_t size)
{
    const void *val = NULL;
    uint32_t len = 0;
    int rc = sap_store_get(seat->txn, table, key, (uint32_t)strlen(key), &val, &len);
    (void)snprintf(out, size, "%.*s", rc == SAP_OK ? (int)len : 1,
                   rc == SAP_OK ? (const char *)val : "-");
    tape_printf(seat->tape, "get %u %s: %s %s\n", table, key, code_name(rc), out);
    return rc;
}

int seat_get(Seat *seat, const char *key, char *out, size_t size)
{
    return seat_get_table(seat, SUITE_TABLE, key, out, size);
}

void seat_expect(Seat *seat, const char *key, const char *val)
{
    char got[TEXT_MAX];
    int rc = seat_get(seat, key, got, sizeof got);
    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "get returned %s", code_name(rc));
    EXPECT(strcmp(got, val) == 0, "%s is %s, not %s", key, got, val);
}

static void tape_rows(Tape *tape, const SapStoreRow *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        tape_printf(tape, " ");
        tape_bytes(tape, rows[i].key, rows[i].key_len);
        tape_printf(tape, "=");
        tape_bytes(tape, rows[i].val, rows[i].val_len);
    }
    tape_printf(tape, "\n");
}

int seat_scan(Seat *seat, const char *from, const char *to, bool backward, uint32_t limit)
{
    SapStoreRange range = {SUITE_TABLE, from, from == NULL ? 0 : (uint32_t)strlen(from), to,
                           to == NULL ? 0 : (uint32_t)strlen(to)};
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    int rc = sap_store_scan(seat->txn, &range, backward, limit, &rows, &count);
    tape_printf(seat->tape, "scan %s %s..%s limit %u: %s", backward ? "down" : "up",
                from == NULL ? "" : from, to == NULL ? "" : to, limit, code_name(rc));
    tape_rows(seat->tape, rows, rc == SAP_OK ? count : 0);
    return rc;
}

/* What the callback of a claim notes, and whom it asks. */
typedef struct ClaimTape {
    Tape *tape;
    SapStoreMove move;
    void *ctx;
    uint32_t calls;
} ClaimTape;

static int note_move(void *ctx, SapStoreTxn *txn, const SapStoreRow *row, SapStoreTarget *target)
{
    ClaimTape *claim = ctx;
    tape_printf(claim->tape, " ");
    tape_bytes(claim->tape, row->key, row->key_len);
    claim->calls++;
    if (claim->move != NULL) {
        return claim->move(claim->ctx, txn, row, target);
    }
    *target = (SapStoreTarget){SUITE_OTHER_TABLE, *row};
    return SAP_OK;
}

int seat_claim_by(Seat *seat, const char *from, const char *to, uint32_t limit, SapStoreMove move,
                  void *ctx)
{
    SapStoreRange range = {SUITE_TABLE, from, from == NULL ? 0 : (uint32_t)strlen(from), to,
                           to == NULL ? 0 : (uint32_t)strlen(to)};
    ClaimTape claim = {seat->tape, move, ctx, 0};
    uint32_t count = UINT32_MAX;
    tape_printf(seat->tape, "claim %s..%s limit %u:", from == NULL ? "" : from,
                to == NULL ? "" : to, limit);
    int rc = sap_store_claim(seat->txn, &range, limit, note_move, &claim, &count);
    tape_printf(seat->tape, " %s\n", code_name(rc));
    EXPECT(rc == SAP_OK ? count == claim.calls : count == UINT32_MAX, "a count of %u for %u rows",
           count, claim.calls);
    return rc;
}

int seat_claim(Seat *seat, uint32_t limit)
{
    return seat_claim_by(seat, NULL, NULL, limit, NULL, NULL);
}

int seat_commit(Seat *seat)
{
    bool unknown = true;
    int rc = sap_store_commit(seat->txn, &unknown);
    seat->txn = NULL;
    tape_printf(seat->tape, "commit: %s%s\n", code_name(rc), unknown ? ", outcome unknown" : "");
    EXPECT(!unknown || rc == SAP_IO, "only SAP_IO leaves the outcome open");
    return rc;
}

int seat_commit_async(Seat *seat, uint64_t *mark_out)
{
    bool unknown = true;
    int rc = sap_store_commit_async(seat->txn, mark_out, &unknown);
    seat->txn = NULL;
    tape_printf(seat->tape, "commit async: %s%s\n", code_name(rc),
                unknown ? ", outcome unknown" : "");
    EXPECT(!unknown || rc == SAP_IO, "only SAP_IO leaves the outcome open");
    return rc;
}

void seat_abort(Seat *seat)
{
    sap_store_abort(seat->txn);
    seat->txn = NULL;
    tape_printf(seat->tape, "abort\n");
}

void suite_put_row(StoreSuite *suite, const char *key, const char *val)
{
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_put(&seat, key, val), SAP_OK);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
}

void suite_say_rows_of(StoreSuite *suite, SapStoreKind kind)
{
    static const uint32_t both[] = {SUITE_TABLE, SUITE_OTHER_TABLE};
    SapStoreTxn *txn = NULL;
    EXPECT_RC(sap_store_begin(suite->store, kind, &txn), SAP_OK);
    for (int i = 0; i < 2; i++) {
        SapStoreRange all = {.table = both[i]};
        const SapStoreRow *rows = NULL;
        uint32_t count = 0;
        EXPECT_RC(sap_store_scan(txn, &all, false, UINT32_MAX, &rows, &count), SAP_OK);
        tape_printf(&suite->tape, "rows of %u:", both[i]);
        tape_rows(&suite->tape, rows, count);
    }
    sap_store_abort(txn);
}

void suite_say_rows(StoreSuite *suite)
{
    suite_say_rows_of(suite, SAP_STORE_READ_DURABLE);
}

static void expect_row_of(StoreSuite *suite, uint32_t table, const char *key, const char *val)
{
    char got[TEXT_MAX];
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_READ_NEWEST), SAP_OK);
    int rc = seat_get_table(&seat, table, key, got, sizeof got);
    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "get returned %s", code_name(rc));
    EXPECT(strcmp(got, val) == 0, "%s of table %u is %s, not %s", key, table, got, val);
    seat_abort(&seat);
}

void suite_expect_row(StoreSuite *suite, const char *key, const char *val)
{
    expect_row_of(suite, SUITE_TABLE, key, val);
}

void suite_expect_moved(StoreSuite *suite, const char *key, const char *val)
{
    expect_row_of(suite, SUITE_OTHER_TABLE, key, val);
}

/* ---- Parties -------------------------------------------------------------------------------- */

static void pause_ms(long ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static bool is_refused(int rc)
{
    return rc == SAP_BUSY || rc == SAP_CONFLICT;
}

/* One run of the whole transaction. */
static int attempt_party(Party *party)
{
    Seat seat = {party->store, NULL, &party->tape};
    party->tape.len = 0;
    int rc = seat_begin(&seat, party->kind);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = party->body(party, &seat);
    if (rc == SAP_OK) {
        return seat_commit(&seat);
    }
    seat_abort(&seat);
    return rc;
}

static void end_party(Party *party, int rc)
{
    pthread_mutex_lock(&party->lock);
    party->rc = rc;
    party->has_ended = true;
    pthread_cond_signal(&party->ended);
    pthread_mutex_unlock(&party->lock);
}

static void run_party(Party *party)
{
    int rc = attempt_party(party);
    for (int tries = 1; is_refused(rc) && tries < PARTY_TRIES; tries++) {
        pause_ms(1);
        rc = attempt_party(party);
    }
    end_party(party, rc);
}

static void *party_main(void *arg)
{
    run_party(arg);
    return NULL;
}

/* Waits until it has ended, but not longer than this. */
static void await_party(Party *party, long ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ms % 1000 * 1000000;
    until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&party->lock);
    while (!party->has_ended &&
           pthread_cond_timedwait(&party->ended, &party->lock, &until) != ETIMEDOUT) {
    }
    pthread_mutex_unlock(&party->lock);
}

static void start_party(Party *party, long wait_ms)
{
    if (party->has_started) {
        return;
    }
    party->has_started = true;
    if (party->suite->bed->one_thread) {
        int rc = attempt_party(party);
        if (!is_refused(rc)) { /* else it runs again when the first one has ended */
            end_party(party, rc);
        }
        return;
    }
    EXPECT(pthread_create(&party->thread, NULL, party_main, party) == 0, "no thread");
    party->has_thread = true;
    await_party(party, wait_ms);
}

void party_let_try(Party *party)
{
    start_party(party->other, TRY_MS);
}

void party_let_end(Party *party)
{
    start_party(party->other, END_MS);
    EXPECT(party->other->has_ended, "one that waits for nobody has not ended");
}

static void sit_down(Party *party, StoreSuite *suite, SapStore *store)
{
    party->suite = suite;
    party->store = store;
    EXPECT(pthread_mutex_init(&party->lock, NULL) == 0, "no mutex");
    EXPECT(pthread_cond_init(&party->ended, NULL) == 0, "no condition");
}

static void get_up(Party *party, const char *name)
{
    Tape *tape = &party->suite->tape;
    tape_printf(tape, "%s party:\n%s%s party: %s\n", name,
                party->may_differ ? "allowed\n" : party->tape.text, name, code_name(party->rc));
    tape_release(&party->tape);
    pthread_cond_destroy(&party->ended);
    pthread_mutex_destroy(&party->lock);
}

void parties_run(StoreSuite *suite, Party *first, Party *second)
{
    first->other = second;
    second->other = first;
    sit_down(first, suite, suite->store);
    sit_down(second, suite, suite->second);
    first->has_started = true;
    run_party(first);
    EXPECT(second->has_started, "the first party let nobody run");
    if (second->has_thread) {
        EXPECT(pthread_join(second->thread, NULL) == 0, "no join");
    } else if (!second->has_ended) {
        run_party(second);
    }
    EXPECT(second->has_ended, "the second party has not ended");
    get_up(first, "first");
    get_up(second, "second");
    if (!first->may_differ && !second->may_differ) {
        suite_say_rows(suite);
    }
}
