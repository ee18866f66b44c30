/* Sessions and leases of roles, one call after the other; with faults they run in the simulator. */
#include "support/suite.h"
#include "universe/lease.h"

static SapStore *open_store(void)
{
    SapStoreOptions options = {.size = sizeof options};
    SapStore *store = NULL;
    options.tables = universe_tables(&options.table_count);
    ck_assert_int_eq(sap_store_open("memory:", &options, &store), SAP_OK);
    return store;
}

/* A worker that has started again under its name: the session before is over. */
START_TEST(an_old_session_renews_and_takes_nothing)
{
    SapStore *store = open_store();
    Session old;
    Session young;
    Lease lease;
    ck_assert_int_eq(session_init(&old, store, NULL, NULL, 1, "worker"), SAP_OK);
    ck_assert_int_eq(session_init(&young, store, NULL, NULL, 1, "worker"), SAP_OK);
    ck_assert_int_eq(session_renew(&old), SAP_FENCED); /* it has not started */
    ck_assert_int_eq(session_start(&old), SAP_OK);
    ck_assert_int_eq(session_renew(&old), SAP_OK);
    ck_assert_int_eq(session_start(&young), SAP_OK);
    ck_assert_int_eq(lease_acquire_role(&old, "timers", 0, &lease), SAP_FENCED);
    ck_assert_int_eq(session_renew(&old), SAP_FENCED);
    ck_assert(!session_may_work(&old));
    ck_assert_int_eq(session_renew(&young), SAP_OK);
    ck_assert_int_eq(lease_acquire_role(&young, "timers", 0, &lease), SAP_OK);
    ck_assert_uint_eq(lease.epoch, 1);
    session_release(&old);
    session_release(&young);
    ck_assert_int_eq(sap_store_close(store), SAP_OK);
}
END_TEST

START_TEST(a_role_has_one_holder_and_every_change_of_hands_raises_its_epoch)
{
    SapStore *store = open_store();
    Session a;
    Session b;
    Lease first;
    Lease second;
    Lease other;
    Producer producer;
    uint32_t cleared = 9;
    bool more = true;
    ck_assert_int_eq(session_init(&a, store, NULL, NULL, 1, "a"), SAP_OK);
    ck_assert_int_eq(session_init(&b, store, NULL, NULL, 1, "b"), SAP_OK);
    ck_assert_int_eq(session_start(&a), SAP_OK);
    ck_assert_int_eq(session_start(&b), SAP_OK);
    ck_assert_int_eq(lease_acquire_role(&a, "", 0, &first), SAP_INVALID);
    ck_assert_int_eq(lease_acquire_role(&a, "reaper", 0, &first), SAP_OK);
    ck_assert_int_eq(lease_acquire_role(&a, "reaper", 0, &second), SAP_OK);
    ck_assert_uint_eq(second.epoch, first.epoch); /* its own, again */
    ck_assert_int_eq(lease_acquire_role(&b, "reaper", 0, &second), SAP_BUSY);
    ck_assert_int_eq(lease_acquire_role(&b, "reaper", 1, &other), SAP_OK); /* another shard */
    ck_assert_int_eq(lease_release(&first, NULL), SAP_OK);
    ck_assert_int_eq(lease_acquire_role(&b, "reaper", 0, &second), SAP_OK);
    ck_assert_uint_eq(second.epoch, 2);
    /* The session of b is over: a takes the role from it, and b has nothing to release any more. */
    ck_assert_int_eq(session_end(&b), SAP_OK);
    ck_assert_int_eq(lease_acquire_role(&a, "reaper", 0, &first), SAP_OK);
    ck_assert_uint_eq(first.epoch, 3);
    ck_assert_int_eq(lease_release(&second, NULL), SAP_FENCED);
    ck_assert_int_eq(producer_init(&producer, a.nonce), SAP_OK);
    ck_assert_int_eq(lease_clear_dead(&a, &producer, 10, &cleared, &more), SAP_OK);
    ck_assert(!more);
    ck_assert_uint_eq(cleared, 0);
    producer_release(&producer);
    ck_assert_int_eq(session_void_all(store, 1), SAP_OK);
    ck_assert_int_eq(session_renew(&a), SAP_FENCED);
    session_release(&a);
    session_release(&b);
    ck_assert_int_eq(sap_store_close(store), SAP_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_lease");
    TCase *test_case = tcase_create("sessions");
    tcase_add_test(test_case, an_old_session_renews_and_takes_nothing);
    tcase_add_test(test_case, a_role_has_one_holder_and_every_change_of_hands_raises_its_epoch);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
