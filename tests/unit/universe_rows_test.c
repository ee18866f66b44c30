/* A row is written by who may write it, under its guards, in the way that it may be: everything else is an
 * assertion. The simulation and all other tests write through the same table. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/suite.h"
#include "universe/rows.h"

enum { UNIVERSE = 7, MOST_GUARDS = 2 };

typedef enum Change { PUT, PUT_ABSENT, DEL } Change;

/* A guard on the row of that table of the world w, or of another one. */
typedef struct GuardOf {
    uint32_t table; /* 0: none */
    bool exclusive;
    bool of_other;
} GuardOf;

typedef struct Write {
    const char *what;
    UniverseParty party;
    Change change;
    uint32_t table; /* of a row of the world w */
    GuardOf guards[MOST_GUARDS];
} Write;

#define BOTH                          \
    {                                 \
        {WIT_DBI_LEASE, true, false}, \
        {                             \
            WIT_DBI_HEAD, true, false \
        }                             \
    }
#define OPERATORS                           \
    {                                       \
        {WIT_DBI_LEASE, true, false},       \
        {                                   \
            WIT_DBI_WORLD_META, true, false \
        }                                   \
    }

static const Write right[] = {
    {"a holder moves its head", PARTY_HOLDER, PUT, WIT_DBI_HEAD, BOTH},
    {"a holder writes its journal", PARTY_HOLDER, PUT, WIT_DBI_JOURNAL, BOTH},
    {"a holder deletes an item", PARTY_HOLDER, DEL, WIT_DBI_WORLD_INBOX, BOTH},
    {"a producer puts an item",
     PARTY_PRODUCER,
     PUT_ABSENT,
     WIT_DBI_WORLD_INBOX,
     {{WIT_DBI_WORLD_META, false, false}}},
    {"a producer whose guard is stronger",
     PARTY_PRODUCER,
     PUT_ABSENT,
     WIT_DBI_WORLD_INBOX,
     {{WIT_DBI_WORLD_META, true, false}}},
    {"an operator changes meta", PARTY_OPERATOR, PUT, WIT_DBI_WORLD_META, OPERATORS},
    {"anybody puts a hint", PARTY_TIMER, PUT, WIT_DBI_READY, {{WIT_DBI_SESSIONS, true, false}}},
};

static const Write wrong[] = {
    {"a producer moves the head", PARTY_PRODUCER, PUT, WIT_DBI_HEAD, BOTH},
    {"a reaper moves the head", PARTY_REAPER, PUT, WIT_DBI_HEAD, BOTH},
    {"an operator writes the journal", PARTY_OPERATOR, PUT, WIT_DBI_JOURNAL, BOTH},
    {"a holder deletes of its journal", PARTY_HOLDER, DEL, WIT_DBI_JOURNAL, BOTH},
    {"a holder without a guard on the lease",
     PARTY_HOLDER,
     PUT,
     WIT_DBI_HEAD,
     {{WIT_DBI_HEAD, true, false}}},
    {"a holder without a guard on the head",
     PARTY_HOLDER,
     PUT,
     WIT_DBI_HEAD,
     {{WIT_DBI_LEASE, true, false}}},
    {"a holder with a shared guard",
     PARTY_HOLDER,
     PUT,
     WIT_DBI_HEAD,
     {{WIT_DBI_LEASE, false, false}, {WIT_DBI_HEAD, true, false}}},
    {"a holder with the guards of another world",
     PARTY_HOLDER,
     PUT,
     WIT_DBI_HEAD,
     {{WIT_DBI_LEASE, true, true}, {WIT_DBI_HEAD, true, true}}},
    {"a producer without a guard",
     PARTY_PRODUCER,
     PUT_ABSENT,
     WIT_DBI_WORLD_INBOX,
     {{WIT_DBI_SESSIONS, true, false}}},
    {"a producer puts over an item",
     PARTY_PRODUCER,
     PUT,
     WIT_DBI_WORLD_INBOX,
     {{WIT_DBI_WORLD_META, false, false}}},
    {"a producer deletes an item",
     PARTY_PRODUCER,
     DEL,
     WIT_DBI_WORLD_INBOX,
     {{WIT_DBI_WORLD_META, false, false}}},
    {"a producer puts over an id",
     PARTY_PRODUCER,
     PUT,
     WIT_DBI_IDEM,
     {{WIT_DBI_WORLD_META, false, false}}},
    {"a holder puts an item", PARTY_HOLDER, PUT_ABSENT, WIT_DBI_WORLD_INBOX, BOTH},
    {"an operator changes meta under one guard",
     PARTY_OPERATOR,
     PUT,
     WIT_DBI_WORLD_META,
     {{WIT_DBI_WORLD_META, true, false}}},
    {"an orchestrator changes meta", PARTY_ORCHESTRATOR, PUT, WIT_DBI_WORLD_META, OPERATORS},
    {"a lease is deleted", PARTY_LEASE, DEL, WIT_DBI_LEASE, {{WIT_DBI_LEASE, true, false}}},
    {"a drain deletes a dead letter",
     PARTY_DRAIN,
     DEL,
     WIT_DBI_WORLD_DLQ,
     {{WIT_DBI_WORLD_META, false, false}}},
    {"a reaper deletes a reply without its guard",
     PARTY_REAPER,
     DEL,
     WIT_DBI_REPLY,
     {{WIT_DBI_SESSIONS, true, false}}},
};

static UniverseName world_named(const char *text)
{
    UniverseName name;
    ck_assert_int_eq(universe_name_set(&name, text), SAP_OK);
    return name;
}

static SapStore *open_store(void)
{
    SapStore *store = NULL;
    SapStoreOptions options = {.size = sizeof options, .schema = UNIVERSE_SCHEMA};
    options.tables = universe_tables(&options.table_count);
    ck_assert_int_eq(sap_store_open("memory:", &options, &store), SAP_OK);
    return store;
}

/* A row of the world, of whatever kind: rules look at table and world. */
static int do_write(const Write *write)
{
    SapStore *store = open_store();
    SapStoreTxn *store_txn = NULL;
    UniverseName world = world_named("w");
    UniverseName other = world_named("v");
    UniverseGuard guards[MOST_GUARDS];
    uint32_t count = 0;
    UniverseTxn txn;
    RowKey key;
    for (int i = 0; i < MOST_GUARDS && write->guards[i].table != 0; i++) {
        const GuardOf *guard = &write->guards[i];
        guards[count].exclusive = guard->exclusive;
        row_key_world(&guards[count++].key, guard->table, UNIVERSE,
                      guard->of_other ? &other : &world);
    }
    ck_assert_int_eq(sap_store_begin(store, SAP_STORE_GUARDED, &store_txn), SAP_OK);
    ck_assert_int_eq(universe_txn_start(&txn, store_txn, write->party, guards, count, NULL, 0),
                     SAP_OK);
    row_key_world(&key, write->table, UNIVERSE, &world);
    int rc = write->change == DEL          ? universe_del(&txn, &key)
             : write->change == PUT_ABSENT ? universe_put_if_absent(&txn, &key, (Slice){"x", 1})
                                           : universe_put(&txn, &key, (Slice){"x", 1});
    sap_store_abort(store_txn);
    ck_assert_int_eq(sap_store_close(store), SAP_OK);
    return rc;
}

START_TEST(what_may_be_written_is_written)
{
    int rc = do_write(&right[_i]);
    ck_assert_msg(rc == (right[_i].change == DEL ? SAP_NOTFOUND : SAP_OK), "%s: %d", right[_i].what,
                  rc);
}
END_TEST

START_TEST(what_may_not_be_written_is_an_assertion)
{
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
    (void)do_write(&wrong[_i]);
    (void)printf("%s: nobody noticed\n", wrong[_i].what);
    exit(EXIT_FAILURE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_rows");
    TCase *test_case = tcase_create("who writes what");
    tcase_add_loop_test(test_case, what_may_be_written_is_written, 0,
                        (int)(sizeof right / sizeof right[0]));
    tcase_add_loop_test_raise_signal(test_case, what_may_not_be_written_is_an_assertion, SIGABRT, 0,
                                     (int)(sizeof wrong / sizeof wrong[0]));
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
