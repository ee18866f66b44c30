/* store_suite.h - one conformance suite for every store.
 *
 * A case is a claim about store.h. It makes its calls through a seat, which writes each call and what
 * came of it to a transcript: the case checks what the contract says, and the runner compares the
 * transcripts of two stores byte by byte. Nothing in a case knows which store it runs on; what a
 * store is like is said once, in its StoreBed.
 *
 * Cases with two parties: each party is a whole transaction, run again while the store returns
 * SAP_BUSY or SAP_CONFLICT. In the middle of its body the first one lets the second run. On a store
 * of one thread the second is nested, and runs again after the first has ended if it was refused; on
 * others it has a thread of its own, and waits there if it must. What counts is what became of each
 * whole transaction and of the rows, so only the last attempt of a party is in the transcript. */
#ifndef SAPLING_TESTS_STORE_SUITE_H
#define SAPLING_TESTS_STORE_SUITE_H

#include "sapling/store.h"
#include "support/store_pg_server.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SUITE_TABLE = 16,
    SUITE_OTHER_TABLE = 17,
    SUITE_EMPTY_TABLE = 1023, /* nothing is ever put there */
    SUITE_ABSENT_TABLE = 18,  /* not among those opened */
    SUITE_URL_MAX = 256,
};

/* How to get a store, and what it is like. */
typedef struct StoreBed {
    const char *name; /* for reports */
    /* The url of a store that does not exist yet: another one for each number. */
    void (*make_url)(void *ctx, uint32_t number, char *url, size_t size);
    void *ctx;
    bool one_thread; /* parties are nested in one thread */
    bool is_shared;  /* a second open of a url is the same store, and keeps what it holds */
    bool needs_init; /* an open does not make it: sap_store_init() */
    bool is_slow;    /* to make: tests that make very many leave some out */
} StoreBed;

/* Every store there is, in a directory that is removed at the end. Where no PostgreSQL is installed the
 * last one is missing, which is printed; its server is started when it is first needed. */
enum {
    STORE_BED_MEMORY,
    STORE_BED_FILE,
    STORE_BED_POSTGRES,
    STORE_BED_MAX,
    STORE_BED_DIR_MAX = 128
};

typedef struct StoreBeds {
    StoreBed all[STORE_BED_MAX];
    int count;
    char dir[STORE_BED_DIR_MAX];
    PgServer server;
} StoreBeds;

void store_beds_start(StoreBeds *beds);
void store_beds_end(StoreBeds *beds);

typedef struct Tape {
    char *text;
    size_t len;
    size_t cap;
} Tape;

void tape_printf(Tape *tape, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tape_release(Tape *tape);
/* Aborts where the two differ, with the first line that does and the "##" line before it. */
void tape_expect_same(const Tape *one, const Tape *other);

typedef struct StoreSuite {
    const StoreBed *bed;
    char url[SUITE_URL_MAX];
    SapStore *store;
    SapStore *second; /* of the second party; `store` itself if the bed is not shared */
    Tape tape;

    /* The hook's order: this fault at the n-th call of this kind from now on, and at as many calls
     * as fault_times says; 0: none. */
    SapStoreCall fault_call;
    SapStoreFault fault;
    uint32_t fault_nth;
    uint32_t fault_times;
    bool fault_any_call; /* whatever its kind */
    uint32_t fault_fired;
} StoreSuite;

typedef struct StoreCase {
    const char *claim;
    void (*run)(StoreSuite *suite);
} StoreCase;

#define STORE_CASE(fn) \
    {                  \
#fn, fn        \
    }

/* The cases, by subject; each list ends with a claim that is NULL. */
extern const StoreCase store_row_cases[];
extern const StoreCase store_view_cases[];
extern const StoreCase store_guard_cases[];
extern const StoreCase store_claim_cases[];
extern const StoreCase store_error_cases[];

/* Runs all cases on the store; the transcript of all goes to *tape. Aborts at the first claim that
 * does not hold. Returns how many cases ran. */
uint32_t store_suite_run(const StoreBed *bed, Tape *tape);

/* A store of its own for a test outside the suite. Release with store_suite_close(). */
void store_suite_open(StoreSuite *suite, const StoreBed *bed);
void store_suite_close(StoreSuite *suite);
/* Closes the store and opens it again; what it holds stays. */
void store_suite_reopen(StoreSuite *suite);

/* The url of a store that does not exist yet. */
void store_suite_next_url(const StoreBed *bed, char *url, size_t size);
/* Makes it, or the tables of it that are missing, where an open does not. */
void store_suite_make(const StoreBed *bed, const char *url, const SapStoreOptions *options);

/* Orders one fault at the n-th call of that kind; the second form: at the n-th call of any kind. The
 * caller may set suite->fault_times then. */
void store_suite_arm(StoreSuite *suite, SapStoreCall call, SapStoreFault fault, uint32_t nth);
void store_suite_arm_any(StoreSuite *suite, SapStoreFault fault, uint32_t nth);
void store_suite_disarm(StoreSuite *suite);
/* The options with which the suite opens its stores. */
SapStoreOptions store_suite_options(StoreSuite *suite);

/* ---- Seats ---------------------------------------------------------------------------------- */

/* One who makes calls on one transaction. */
typedef struct Seat {
    SapStore *store;
    SapStoreTxn *txn;
    Tape *tape;
} Seat;

Seat suite_seat(StoreSuite *suite);

/* The name of a code. */
const char *code_name(int rc);

/* Each makes the call, writes it with its result to the tape, and returns its code. Keys and values
 * are texts; rows are in SUITE_TABLE, or in the table named. */
int seat_begin(Seat *seat, SapStoreKind kind);
int seat_guard(Seat *seat, const char *key, bool exclusive);
/* `keys` is a text such as "Ax by": one letter each, upper case exclusive, given in that order. */
int seat_guard_all(Seat *seat, const char *keys);
int seat_put(Seat *seat, const char *key, const char *val);
int seat_put_if_absent(Seat *seat, const char *key, const char *val);
int seat_del(Seat *seat, const char *key);
/* The value is kept in the seat's buffer `out`; "-" where there is no row. */
int seat_get(Seat *seat, const char *key, char *out, size_t size);
int seat_get_table(Seat *seat, uint32_t table, const char *key, char *out, size_t size);
/* From `from` on, below `to` (NULL: no end). */
int seat_scan(Seat *seat, const char *from, const char *to, bool backward, uint32_t limit);
/* Claims rows of SUITE_TABLE, each to SUITE_OTHER_TABLE with the same key and value; the second form:
 * to where `move` says. */
int seat_claim(Seat *seat, uint32_t limit);
int seat_claim_by(Seat *seat, const char *from, const char *to, uint32_t limit, SapStoreMove move,
                  void *ctx);
int seat_commit(Seat *seat);
int seat_commit_async(Seat *seat, uint64_t *mark_out);
void seat_abort(Seat *seat);

/* The value is `val`; "-": there is no such row. */
void seat_expect(Seat *seat, const char *key, const char *val);

/* One committed row; all rows of both tables, to the tape: those that are durable, or as such a read
 * sees them. */
void suite_put_row(StoreSuite *suite, const char *key, const char *val);
void suite_say_rows(StoreSuite *suite);
void suite_say_rows_of(StoreSuite *suite, SapStoreKind kind);
/* The row as a newest read sees it now. */
void suite_expect_row(StoreSuite *suite, const char *key, const char *val);
void suite_expect_moved(StoreSuite *suite, const char *key, const char *val);

/* ---- Parties -------------------------------------------------------------------------------- */

typedef struct Party Party;

/* SAP_OK: commit; any other code: abort. */
typedef int (*PartyBody)(Party *party, Seat *seat);

struct Party {
    PartyBody body;
    SapStoreKind kind;
    const char *arg; /* for the body */
    bool may_differ; /* what it sees, and the rows at the end, are up to the store: not recorded */
    Party *other;    /* whom the body may let run */

    /* Of the runner. */
    StoreSuite *suite;
    SapStore *store;
    Tape tape;
    bool has_started;
    bool has_ended;
    int rc; /* of the whole transaction */
    bool has_thread;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
};

/* Runs `first`, which lets `second` run, and both to their end; then writes what became of each, and
 * all rows. */
void parties_run(StoreSuite *suite, Party *first, Party *second);

/* To be called by the body of the first party: the other one runs as far as it can, or, since it has
 * nothing to wait for, to its end. A second call, of a body that runs again, does nothing. */
void party_let_try(Party *party);
void party_let_end(Party *party);

#endif
