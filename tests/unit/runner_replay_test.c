/* Events of the replay hook as records: the bytes written by hand from the header, and what is none. */
#include "common/random.h"
#include "sapling/runner_v0.h"
#include "support/expect.h"
#include "support/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NOISES = 20000 };

static const uint8_t golden[] = {
    'R', 'P', 'L', '0',                  /* 0 magic */
    4,                                   /* 4 kind: requeue */
    7,   0,   0,   0,   0,   0, 0, 0,    /* 5 worker */
    3,   0,   0,   0,   0,   0, 0, 0x80, /* 13 seq */
    4,   0,   0,   0,                    /* 21 rc */
    8,   7,   6,   5,   4,   3, 2, 1,    /* 25 time */
    5,   0,   0,   0,                    /* 33 length of the frame */
    'f', 'r', 'a', 'm', 'e',             /* 37 */
};

static const SapRunnerV0ReplayEvent event = {.kind = SAP_RUNNER_V0_REPLAY_REQUEUE,
                                             .worker_id = 7,
                                             .seq = UINT64_C(0x8000000000000003),
                                             .rc = 4,
                                             .frame = "frame",
                                             .frame_len = 5};
static const int64_t time_ms = INT64_C(0x0102030405060708);

START_TEST(an_event_is_these_bytes_and_comes_back)
{
    uint8_t buf[64];
    uint32_t len = 0;
    SapRunnerV0ReplayEvent again;
    int64_t then_ms = 0;

    ck_assert_int_eq(sap_runner_v0_replay_encode(&event, time_ms, buf, sizeof buf, &len), SAP_OK);
    ck_assert_uint_eq(len, sizeof golden);
    ck_assert_mem_eq(buf, golden, sizeof golden);
    len = 0;
    ck_assert_int_eq(sap_runner_v0_replay_decode(buf, sizeof buf, &again, &then_ms, &len), SAP_OK);
    ck_assert_uint_eq(len, sizeof golden);
    ck_assert_int_eq(again.kind, event.kind);
    ck_assert_int_eq(again.worker_id, 7);
    ck_assert_uint_eq(again.seq, event.seq);
    ck_assert_int_eq(again.rc, 4);
    ck_assert_uint_eq(again.frame_len, 5);
    ck_assert_mem_eq(again.frame, "frame", 5);
    ck_assert_int_eq(then_ms, time_ms);
}
END_TEST

START_TEST(room_that_is_too_small_is_told_with_what_it_takes)
{
    uint8_t buf[sizeof golden];
    uint32_t len = 0;

    ck_assert_int_eq(sap_runner_v0_replay_encode(&event, time_ms, NULL, 0, &len), SAP_FULL);
    ck_assert_uint_eq(len, sizeof golden);
    ck_assert_int_eq(sap_runner_v0_replay_encode(&event, time_ms, buf, sizeof golden - 1, &len),
                     SAP_FULL);
    ck_assert_int_eq(sap_runner_v0_replay_encode(&event, time_ms, buf, sizeof buf, &len), SAP_OK);
}
END_TEST

START_TEST(what_no_record_can_hold_is_refused)
{
    uint8_t buf[64];
    uint32_t len = 0;
    SapRunnerV0ReplayEvent odd = event;
    SapRunnerV0ReplayEvent again;
    int64_t then_ms;

    odd.kind = (SapRunnerV0ReplayKind)6;
    ck_assert_int_eq(sap_runner_v0_replay_encode(&odd, 0, buf, sizeof buf, &len), SAP_INVALID);
    odd = event;
    odd.frame_len = SAP_RUNNER_V0_MAX_FRAME + 1;
    ck_assert_int_eq(sap_runner_v0_replay_encode(&odd, 0, buf, sizeof buf, &len), SAP_INVALID);
    odd.frame = NULL;
    ck_assert_int_eq(sap_runner_v0_replay_encode(&odd, 0, buf, sizeof buf, &len), SAP_ERROR);
    ck_assert_int_eq(sap_runner_v0_replay_encode(NULL, 0, buf, sizeof buf, &len), SAP_ERROR);
    ck_assert_int_eq(sap_runner_v0_replay_encode(&event, 0, buf, sizeof buf, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_runner_v0_replay_decode(NULL, 1, &again, &then_ms, &len), SAP_ERROR);
    ck_assert_int_eq(sap_runner_v0_replay_decode(buf, 1, NULL, &then_ms, &len), SAP_ERROR);
}
END_TEST

START_TEST(a_part_of_a_record_is_not_yet_one_and_damage_is_none)
{
    uint8_t bytes[sizeof golden];
    SapRunnerV0ReplayEvent again;
    int64_t then_ms;
    uint32_t len;

    for (uint32_t n = 0; n < sizeof golden; n++) {
        ck_assert_int_eq(sap_runner_v0_replay_decode(golden, n, &again, &then_ms, &len),
                         SAP_NOTFOUND);
    }
    for (uint32_t n = 1; n <= sizeof golden; n++) {
        memcpy(bytes, golden, sizeof bytes);
        bytes[0] = 'X';
        ck_assert_int_eq(sap_runner_v0_replay_decode(bytes, n, &again, &then_ms, &len),
                         SAP_INVALID);
    }
    memcpy(bytes, golden, sizeof bytes);
    bytes[4] = 6;
    ck_assert_int_eq(sap_runner_v0_replay_decode(bytes, sizeof bytes, &again, &then_ms, &len),
                     SAP_INVALID);
    memcpy(bytes, golden, sizeof bytes);
    bytes[36] = 0x41; /* more than a frame can have */
    ck_assert_int_eq(sap_runner_v0_replay_decode(bytes, sizeof bytes, &again, &then_ms, &len),
                     SAP_INVALID);
}
END_TEST

START_TEST(noise_is_never_read_beyond_its_end)
{
    uint64_t seed = 20261116;
    Rng rng;
    uint32_t records = 0;

    rng_seed(&rng, seed);
    for (uint32_t i = 0; i < NOISES; i++) {
        uint32_t n = (uint32_t)rng_below(&rng, sizeof golden + 1);
        uint8_t *bytes = malloc(n == 0 ? 1 : n); /* so that a sanitizer sees its end */
        SapRunnerV0ReplayEvent again;
        int64_t then_ms;
        uint32_t len = 0;
        memcpy(bytes, golden, n);
        for (uint32_t flips = (uint32_t)rng_below(&rng, 4); flips > 0 && n > 0; flips--) {
            bytes[rng_below(&rng, n)] ^= (uint8_t)(1u << rng_below(&rng, 8));
        }
        int rc = sap_runner_v0_replay_decode(bytes, n, &again, &then_ms, &len);
        EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND || rc == SAP_INVALID, "code %d, seed %" PRIu64,
               rc, seed);
        EXPECT(rc != SAP_OK || len <= n, "%u of %u bytes, seed %" PRIu64, len, n, seed);
        records += rc == SAP_OK;
        free(bytes);
    }
    printf("replay: %d noises, %u of them records, seed %" PRIu64 "\n", NOISES, records, seed);
    ck_assert_uint_gt(records, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner/replay");
    TCase *tcase = tcase_create("replay");

    tcase_add_test(tcase, an_event_is_these_bytes_and_comes_back);
    tcase_add_test(tcase, room_that_is_too_small_is_told_with_what_it_takes);
    tcase_add_test(tcase, what_no_record_can_hold_is_refused);
    tcase_add_test(tcase, a_part_of_a_record_is_not_yet_one_and_damage_is_none);
    tcase_add_test(tcase, noise_is_never_read_beyond_its_end);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
