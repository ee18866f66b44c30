/* Worlds on a disk that is full for real: senders and workers are told, worlds wait, and nothing is lost,
 * doubled or counted as a failure of their handlers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "sapling/universe.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/loop_disk.h"
#include "support/suite.h"

enum { TIMEOUT_S = 300, LARGE = 40000, MOST_ITEMS = 20000, STEPS = 50 };

static LoopDisk disk;
static FileBed bed;
static SapUniverse *universe;
static SapWorker *worker;
static uint64_t handled;

/* Each item leaves a row, so that a step needs room. */
static int keep(SapWorld *world, const SapEvent *event)
{
    char key[32];
    int len = snprintf(key, sizeof key, "%" PRIu64, sap_world_height(world));
    int rc = sap_world_put(world, key, (size_t)len, SAP_ENCODING_RAW, event->payload,
                           event->payload_len);
    handled += rc == SAP_OK;
    return rc;
}

static SapWorldModule module = {.name = "keep", .handler = keep, .max_attempts = 1};

static int send_large(void)
{
    static const char payload[LARGE];
    SapIngress item = {.size = sizeof item,
                       .encoding = SAP_ENCODING_RAW,
                       .payload = payload,
                       .payload_len = sizeof payload};
    SapIngressResult result = {.outcome_unknown = false};
    int rc = sap_enqueue_ingress(universe, "w", &item, &result);
    EXPECT(!result.outcome_unknown, "a full disk is a definite refusal");
    return rc;
}

static SapWorldInfo info_of(void)
{
    SapWorldInfo info;
    EXPECT_RC(sap_world_info(universe, "w", &info), SAP_OK);
    return info;
}

static int count_letter(void *ctx, const SapDeadLetter *letter)
{
    (void)letter;
    ++*(uint32_t *)ctx;
    return SAP_OK;
}

/* How many were accepted before there was no room. */
static uint64_t fill_disk(void)
{
    enum { BEFORE = 20 };
    uint64_t accepted = 0;
    int rc = SAP_OK;
    while (accepted < BEFORE) {
        EXPECT_RC(send_large(), SAP_OK);
        accepted++;
    }
    loop_disk_fill(&disk);
    while (rc == SAP_OK) {
        EXPECT(accepted < MOST_ITEMS, "the disk is never full");
        rc = send_large();
        accepted += rc == SAP_OK;
    }
    EXPECT_RC(rc, SAP_FULL);
    return accepted;
}

START_TEST(a_full_disk_is_reported_and_worlds_wait_for_room)
{
    char url[FILES_PATH_MAX + 16];
    uint32_t letters = 0;
    uint32_t refused = 0;
    SapWorkerStats stats;
    if (!loop_disk_start(&disk, LOOP_EXT4)) {
        return;
    }
    file_bed_start(&bed);
    (void)snprintf(url, sizeof url, "sapling:%s", bed.path);
    EXPECT_RC(sap_world_module_register(&module), SAP_OK);
    EXPECT_RC(sap_universe_open(url, NULL, &universe), SAP_OK);
    EXPECT_RC(sap_worker_open(universe, NULL, &worker), SAP_OK);
    EXPECT_RC(sap_world_create(universe, "w", "keep", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    bool busy = true;
    while (busy) {
        EXPECT_RC(sap_worker_step(worker, &busy), SAP_OK);
    }
    uint64_t accepted = fill_disk();
    for (int i = 0; i < STEPS; i++) {
        int rc = sap_worker_step(worker, &busy);
        EXPECT(rc == SAP_OK || rc == SAP_FULL, "a step returned %d", rc);
        refused += rc == SAP_FULL;
        (void)sap_worker_renew(worker);
    }
    EXPECT(refused > 0, "there was room all the time");
    EXPECT(info_of().status == SAP_WORLD_ACTIVE, "the world does not wait");
    uint64_t before = info_of().height;
    loop_disk_unfill(&disk);
    while (info_of().height < accepted + 1) {
        EXPECT_RC(sap_worker_step(worker, &busy), SAP_OK);
    }
    EXPECT_RC(send_large(), SAP_OK);
    busy = true;
    while (busy) {
        EXPECT_RC(sap_worker_step(worker, &busy), SAP_OK);
    }
    SapWorldInfo info = info_of();
    EXPECT(info.height == accepted + 2, "height %" PRIu64 " of %" PRIu64, info.height, accepted);
    EXPECT(info.status == SAP_WORLD_ACTIVE && info.reason[0] == 0, "'%s'", info.reason);
    EXPECT_RC(sap_worker_stats(worker, &stats), SAP_OK);
    EXPECT(stats.failures == 0 && stats.paused == 0, "a failure was counted");
    EXPECT_RC(sap_dead_letters(universe, "w", count_letter, &letters), SAP_OK);
    EXPECT(letters == 0, "%" PRIu32 " dead letters", letters);
    printf("universe_full_disk: %" PRIu64 " items, %" PRIu64
           " of them before there was room again, "
           "%" PRIu32 " steps refused, %" PRIu64 " calls of handlers\n",
           accepted, before - 1, refused, handled);
    EXPECT_RC(sap_worker_close(worker), SAP_OK);
    EXPECT_RC(sap_universe_close(universe), SAP_OK);
    EXPECT(mem_live_bytes(MEM_UNIVERSE) == 0 && mem_live_bytes(MEM_STORE) == 0, "memory leaked");
    file_bed_end(&bed);
    loop_disk_end(&disk);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_full_disk");
    TCase *test_case = tcase_create("full disk");
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, a_full_disk_is_reported_and_worlds_wait_for_room);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
