/* Givers, takers and reclaims at the same time: every buffer ends with one of them. Run under the
 * thread sanitizer. */
#include "common/mem.h"
#include "common/random.h"
#include "sapling/runner_v0.h"
#include "support/expect.h"
#include "support/suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { GIVERS = 3, TAKERS = 3, EACH = 4000, DBS = 2, BUFFERS = GIVERS * EACH };

static SapEnv *dbs[DBS];
static atomic_uint ends[BUFFERS];      /* how often each buffer was freed */
static atomic_ullong tickets[BUFFERS]; /* 0: not given yet */
static atomic_uint taken_count, reclaimed_count, givers_done;

static void end_of(const uint32_t *buf)
{
    EXPECT(atomic_fetch_add(&ends[*buf], 1) == 0, "buffer %u ended twice", *buf);
}

static void free_one(void *buf, size_t len)
{
    EXPECT(len == sizeof(uint32_t), "a length of %zu", len);
    end_of(buf);
    free(buf);
}

static void *give_all(void *arg)
{
    uint32_t giver = (uint32_t)(uintptr_t)arg;

    for (uint32_t i = giver * EACH; i < (giver + 1) * EACH; i++) {
        uint32_t *buf = malloc(sizeof *buf);
        SapTransferTicket ticket = 0;
        *buf = i;
        EXPECT_RC(sap_transfer_give(dbs[i % DBS], buf, sizeof *buf, free_one, &ticket), SAP_OK);
        atomic_store(&tickets[i], ticket);
    }
    atomic_fetch_add(&givers_done, 1);
    return NULL;
}

/* Goes for the same tickets as the other takers, in an order of its own. */
static void *take_all(void *arg)
{
    Rng rng;

    rng_seed(&rng, (uintptr_t)arg);
    for (uint32_t i = 0; i < 2 * BUFFERS; i++) {
        SapTransferTicket ticket = atomic_load(&tickets[rng_below(&rng, BUFFERS)]);
        void *buf = NULL;
        size_t len = 0;
        int rc = sap_transfer_take(ticket, &buf, &len);
        EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "take answered %d", rc);
        if (rc == SAP_OK) {
            end_of(buf);
            free(buf);
            atomic_fetch_add(&taken_count, 1);
        }
    }
    return NULL;
}

static void *reclaim_now_and_then(void *arg)
{
    (void)arg;
    while (atomic_load(&givers_done) < GIVERS) {
        uint32_t count = 0;
        sap_transfer_reclaim(dbs[0], &count);
        atomic_fetch_add(&reclaimed_count, count);
    }
    return NULL;
}

START_TEST(every_buffer_ends_once_whoever_takes_it)
{
    pthread_t threads[GIVERS + TAKERS + 1];
    uint32_t n = 0;

    for (uint32_t i = 0; i < DBS; i++) {
        dbs[i] = sap_db_open(NULL, 0, NULL, NULL);
    }
    for (uintptr_t i = 0; i < TAKERS; i++) {
        ck_assert_int_eq(pthread_create(&threads[n++], NULL, take_all, (void *)(i + 1)), 0);
    }
    for (uintptr_t i = 0; i < GIVERS; i++) {
        ck_assert_int_eq(pthread_create(&threads[n++], NULL, give_all, (void *)i), 0);
    }
    ck_assert_int_eq(pthread_create(&threads[n++], NULL, reclaim_now_and_then, NULL), 0);
    while (n > 0) {
        pthread_join(threads[--n], NULL);
    }
    for (uint32_t i = 0; i < DBS; i++) {
        uint32_t count = 0;
        sap_transfer_reclaim(dbs[i], &count);
        atomic_fetch_add(&reclaimed_count, count);
        sap_db_close(dbs[i]);
    }
    for (uint32_t i = 0; i < BUFFERS; i++) {
        ck_assert_uint_eq(atomic_load(&ends[i]), 1);
    }
    printf("%d given, %u taken, %u reclaimed\n", BUFFERS, taken_count, reclaimed_count);
    ck_assert_uint_eq(taken_count + reclaimed_count, BUFFERS);
    ck_assert_uint_eq(mem_live_blocks(MEM_RUNNER), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner/transfer threads");
    TCase *tcase = tcase_create("transfer");

    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, every_buffer_ends_once_whoever_takes_it);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
