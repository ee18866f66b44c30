/* A store on a disk that is full for real: SAP_FULL is a definite abort, deletes go on, and a commit that
 * cannot become durable is final. */
#include "common/fault.h"
#include "common/mem.h"
#include "sapling/store.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/loop_disk.h"
#include "support/suite.h"

#include <inttypes.h>
#include <stdio.h>

enum { TABLE = 16, TIMEOUT_S = 300, LARGE = 100000, MOST_ROWS = 5000, MOST_TRIALS = 100 };

static LoopDisk disk;
static FileBed bed;
static char url[FILES_PATH_MAX + 16];

/* False: there can be no such disk here. */
static bool start_bed(void)
{
    if (!loop_disk_start(&disk, LOOP_EXT4)) {
        return false;
    }
    file_bed_start(&bed);
    (void)snprintf(url, sizeof url, "sapling:%s", bed.path);
    return true;
}

static void end_bed(void)
{
    EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes are left", mem_live_bytes(MEM_STORE));
    file_bed_end(&bed);
    loop_disk_end(&disk);
}

static SapStore *open_store(void)
{
    static const uint32_t tables[] = {TABLE};
    SapStoreOptions options = {.tables = tables, .table_count = 1};
    SapStore *store = NULL;
    EXPECT_RC(sap_store_open(url, &options, &store), SAP_OK);
    return store;
}

static int put_large(SapStore *store, int number)
{
    static const char value[LARGE];
    SapStoreTxn *txn = NULL;
    bool unknown = true;
    EXPECT_RC(sap_store_begin(store, SAP_STORE_GUARDED, &txn), SAP_OK);
    int rc = sap_store_put(txn, TABLE, &number, sizeof number, value, sizeof value);
    EXPECT(rc == SAP_OK || rc == SAP_FULL, "put returned %d", rc);
    int committed = sap_store_commit(txn, &unknown);
    EXPECT(!unknown, "a full disk is a definite abort");
    EXPECT(rc == SAP_OK || rc == committed, "commit returned %d after %d", committed, rc);
    return committed;
}

static bool has_large(SapStore *store, int number)
{
    SapStoreTxn *txn = NULL;
    const void *val = NULL;
    uint32_t len = 0;
    EXPECT_RC(sap_store_begin(store, SAP_STORE_READ_NEWEST, &txn), SAP_OK);
    int rc = sap_store_get(txn, TABLE, &number, sizeof number, &val, &len);
    sap_store_abort(txn);
    return rc == SAP_OK;
}

/* Fills the disk, and what the file has reserved; returns the number that found no room. */
static int fill_disk(SapStore *store)
{
    int number = 0;
    int rc = SAP_OK;
    loop_disk_fill(&disk);
    while (rc == SAP_OK) {
        rc = put_large(store, ++number);
        EXPECT(number < MOST_ROWS, "the disk is never full");
    }
    EXPECT_RC(rc, SAP_FULL);
    return number;
}

START_TEST(a_full_disk_is_a_definite_abort_and_deletes_go_on)
{
    if (!start_bed()) {
        return;
    }
    SapStore *store = open_store();
    EXPECT_RC(put_large(store, 0), SAP_OK);
    int refused = fill_disk(store);
    EXPECT(!has_large(store, refused), "a refused row is there");
    for (int number = 0; number < refused; number++) {
        EXPECT(has_large(store, number), "an acknowledged row is lost");
    }
    SapStoreTxn *txn = NULL;
    int deleted = 0;
    EXPECT_RC(sap_store_begin(store, SAP_STORE_GUARDED, &txn), SAP_OK);
    EXPECT_RC(sap_store_del(txn, TABLE, &deleted, sizeof deleted), SAP_OK);
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
    loop_disk_unfill(&disk);
    EXPECT_RC(put_large(store, refused), SAP_OK);
    EXPECT_RC(sap_store_close(store), SAP_OK);
    store = open_store();
    EXPECT(!has_large(store, 0) && has_large(store, refused), "the file has another state");
    EXPECT_RC(sap_store_close(store), SAP_OK);
    end_bed();
}
END_TEST

#if SAP_FAULTS

/* On a full disk a delete is published first and durable by a checkpoint. If that cannot be made, the
 * commit can neither be taken back nor acknowledged. */
static bool try_delete_without_memory(uint64_t nth)
{
    SapStore *store = open_store();
    SapStoreTxn *txn = NULL;
    uint64_t mark = 0;
    int number = 0;
    EXPECT_RC(put_large(store, number), SAP_OK);
    (void)fill_disk(store);
    EXPECT_RC(sap_store_begin(store, SAP_STORE_GUARDED, &txn), SAP_OK);
    EXPECT_RC(sap_store_del(txn, TABLE, &number, sizeof number), SAP_OK);
    EXPECT_RC(sap_store_commit_async(txn, &mark, NULL), SAP_OK);
    fault_arm_alloc_from(nth);
    int rc = sap_store_wait_durable(store, mark);
    fault_reset();
    EXPECT(rc == SAP_OK || rc == SAP_IO, "the wait returned %d", rc);
    int begun = sap_store_begin(store, SAP_STORE_GUARDED, &txn);
    EXPECT(begun == rc, "begin returned %d after %d", begun, rc);
    if (begun == SAP_OK) {
        sap_store_abort(txn);
    }
    EXPECT_RC(sap_store_begin(store, SAP_STORE_READ_DURABLE, &txn), SAP_OK);
    sap_store_abort(txn);
    loop_disk_unfill(&disk);
    (void)sap_store_close(store);
    return rc != SAP_OK;
}

START_TEST(a_commit_that_cannot_become_durable_is_final)
{
    uint64_t nth = 1;
    while (start_bed()) {
        bool failed = try_delete_without_memory(nth);
        end_bed();
        if (!failed) {
            break;
        }
        nth++;
        EXPECT(nth < MOST_TRIALS, "there is no end");
    }
    (void)printf("store_full_disk: %" PRIu64 " waits failed\n", nth - 1);
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("store_full_disk");
    TCase *tc = tcase_create("store_full_disk");
    tcase_set_timeout(tc, TIMEOUT_S);
    tcase_add_test(tc, a_full_disk_is_a_definite_abort_and_deletes_go_on);
#if SAP_FAULTS
    tcase_add_test(tc, a_commit_that_cannot_become_durable_is_final);
#endif
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
