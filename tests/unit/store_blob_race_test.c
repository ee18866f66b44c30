/* Writers, referrers and collectors of blobs, each interleaved with the others at every store call: the
 * hook of one runs another to its end, which may in turn be interrupted by a third. */
#include "common/mem.h"
#include "support/blobs.h"
#include "support/suite.h"

#include <stdio.h>

enum { TABLE = 16, TIMEOUT_S = 300, ACTORS = 3, LEN = 16 * 4, OTHER_LEN = 16 * 2 };

#define DAY BLOB_SPARED_NS
static const uint64_t now_ns = 10 * BLOB_SPARED_NS;

/* Chunks of 16 bytes, lists of 2: a list and a tree of depth 2, which share chunks with the other. */
static const BlobShape shape = {.chunk_bytes = 16, .fanout = 2};
static const uint32_t tables[] = {TABLE};
static uint8_t bytes[LEN];
static Digest name;       /* of all */
static Digest other_name; /* of the first OTHER_LEN bytes */

typedef int (*Role)(SapStore *store);

/* Each has a store of its own on the same memory. The hook of one runs the next at the n-th call. */
typedef struct Actor {
    SapStore *store;
    Role role; /* NULL: does nothing */
    uint64_t calls_until;
    struct Actor *next;
    int rc; /* what the role returned; -1: it did not run */
} Actor;

static Actor actors[ACTORS];

static void run_actor(Actor *actor)
{
    actor->rc = actor->role(actor->store);
}

static SapStoreFault interrupt(void *ctx, SapStoreCall call)
{
    Actor *actor = (Actor *)ctx;
    (void)call;
    if (actor->calls_until > 0 && --actor->calls_until == 0) {
        run_actor(actor->next);
    }
    return SAP_STORE_FAULT_NONE;
}

static SapStore *open_store(Actor *actor)
{
    SapStore *store = NULL;
    SapStoreOptions options = {.size = sizeof options,
                               .tables = tables,
                               .table_count = 1,
                               .hook = interrupt,
                               .hook_ctx = actor};
    EXPECT_RC(sap_store_open("memory:race", &options, &store), SAP_OK);
    return store;
}

static void setup(void)
{
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * 7 + i / 16);
    }
    digest_bytes(bytes, LEN, &name);
    digest_bytes(bytes, OTHER_LEN, &other_name);
    for (int i = 0; i < ACTORS; i++) {
        actors[i] = (Actor){.next = i + 1 < ACTORS ? &actors[i + 1] : NULL};
        actors[i].store = open_store(&actors[i]);
    }
}

static void teardown(void)
{
    for (int i = 0; i < ACTORS; i++) {
        EXPECT_RC(sap_store_close(actors[i].store), SAP_OK);
    }
    EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes are left", mem_live_bytes(MEM_STORE));
}

/* ---- Roles ----------------------------------------------------------------------------------- */

static int put_role(SapStore *store)
{
    Digest got;
    return blobs_put(store, &shape, bytes, LEN, now_ns, &got);
}

static int put_other_role(SapStore *store)
{
    Digest got;
    return blobs_put(store, &shape, bytes, OTHER_LEN, now_ns, &got);
}

static int refer_role(SapStore *store)
{
    return blobs_ref(store, &name, "owner");
}

static int unrefer_role(SapStore *store)
{
    return blobs_unref(store, &name, "owner");
}

/* Three passes, which take a tree of depth 2 apart. */
static int collect_role(SapStore *store)
{
    BlobCollector collector = {.looked_at = 0};
    int rc = SAP_OK;
    while (rc == SAP_OK && collector.passes < 3) {
        bool end = false;
        rc = blob_collect_step(store, &collector, now_ns, BLOB_MAX_STEP, &end);
    }
    return rc;
}

static const struct {
    Role role;
    const char *name;
} roles[] = {
    {put_role, "put"},         {put_other_role, "put other"}, {refer_role, "refer"},
    {unrefer_role, "unrefer"}, {collect_role, "collect"},
};

enum { ROLES = sizeof roles / sizeof roles[0] };

/* ---- States ---------------------------------------------------------------------------------- */

static void begin_empty(SapStore *store)
{
    (void)store;
}

static void begin_old(SapStore *store)
{
    Digest got;
    EXPECT_RC(blobs_put(store, &shape, bytes, LEN, 0, &got), SAP_OK);
    EXPECT_RC(blobs_put(store, &shape, bytes, OTHER_LEN, 0, &got), SAP_OK);
}

static void begin_referred(SapStore *store)
{
    begin_old(store);
    EXPECT_RC(blobs_ref(store, &name, "owner"), SAP_OK);
}

/* Chunks and lists that a writer has left behind. */
static void begin_leftovers(SapStore *store)
{
    BlobWriter *writer = NULL;
    EXPECT_RC(blob_write_begin(store, &shape, &writer), SAP_OK);
    EXPECT_RC(blob_write_append(writer, bytes, LEN, 0), SAP_OK);
    blob_write_abort(writer);
}

static void (*const states[])(SapStore *) = {begin_empty, begin_old, begin_referred,
                                             begin_leftovers};

enum { STATES = sizeof states / sizeof states[0] };

/* ---- Runs ------------------------------------------------------------------------------------ */

static bool did(Role role, int rc)
{
    for (int i = 0; i < ACTORS; i++) {
        if (actors[i].role == role && actors[i].rc == rc) {
            return true;
        }
    }
    return false;
}

static void expect_bytes(SapStore *store, const Digest *blob, size_t len)
{
    EXPECT_RC(blobs_compare(store, blob, bytes, len, 100), SAP_OK);
}

/* What the roles were told is true, whatever ran in between. */
static void check_promises(SapStore *store)
{
    (void)blobs_check(store);
    if (did(put_role, SAP_OK)) {
        expect_bytes(store, &name, LEN);
    }
    if (did(put_other_role, SAP_OK)) {
        expect_bytes(store, &other_name, OTHER_LEN);
    }
    if (did(refer_role, SAP_OK) && !did(unrefer_role, SAP_OK)) {
        (void)blobs_collect(store, now_ns + DAY);
        expect_bytes(store, &name, LEN);
    }
    for (int i = 0; i < ACTORS; i++) {
        int rc = actors[i].rc;
        Role role = actors[i].role;
        EXPECT(rc == -1 || rc == SAP_OK || rc == SAP_BUSY ||
                   (rc == SAP_NOTFOUND && (role == refer_role || role == unrefer_role)),
               "actor %d got %d", i, rc);
    }
}

static void empty_store(SapStore *store)
{
    (void)blobs_unref(store, &name, "owner");
    (void)blobs_collect(store, now_ns + DAY);
    BlobsCount count = blobs_check(store);
    EXPECT(count.blobs == 0 && count.refs == 0, "%u, %u rows are left", count.blobs, count.refs);
}

/* The first actor is interrupted at its `first` call, the second at its `second`. Whether both were. */
static bool run_interleaved(int state, uint64_t first, uint64_t second)
{
    SapStore *store = actors[0].store;
    states[state](store);
    for (int i = 0; i < ACTORS; i++) {
        actors[i].rc = -1;
    }
    actors[0].calls_until = first;
    actors[1].calls_until = second;
    run_actor(&actors[0]);
    bool both = actors[0].calls_until == 0 && actors[1].calls_until == 0;
    actors[0].calls_until = 0;
    actors[1].calls_until = 0;
    check_promises(store);
    empty_store(store);
    return both;
}

START_TEST(two_roles_interleaved_at_every_call_keep_what_they_promise)
{
    uint64_t runs = 0;
    for (int i = 0; i < ROLES * ROLES * STATES; i++) {
        actors[0].role = roles[i % ROLES].role;
        actors[1].role = roles[i / ROLES % ROLES].role;
        bool fired = true;
        for (uint64_t first = 1; fired; first++, runs++) {
            expect_context("state %d, %s, at call %llu %s", i / ROLES / ROLES,
                           roles[i % ROLES].name, (unsigned long long)first,
                           roles[i / ROLES % ROLES].name);
            fired = run_interleaved(i / ROLES / ROLES, first, 0);
        }
    }
    printf("%llu interleavings of two\n", (unsigned long long)runs);
    EXPECT(runs > 2000, "only %llu interleavings", (unsigned long long)runs);
}
END_TEST

/* The three that race for one blob, in every order, at every pair of calls. */
START_TEST(put_refer_and_collect_nested_at_every_pair_of_calls_keep_what_they_promise)
{
    static const Role racers[] = {put_role, refer_role, collect_role};
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    uint64_t runs = 0;
    for (int i = 0; i < 6 * STATES; i++) {
        for (int k = 0; k < 3; k++) {
            actors[k].role = racers[orders[i % 6][k]];
        }
        bool fired = true;
        for (uint64_t first = 1; fired; first++) {
            fired = false;
            bool both = true;
            for (uint64_t second = 1; both; second++, runs++) {
                expect_context("state %d, order %d, calls %llu and %llu", i / 6, i % 6,
                               (unsigned long long)first, (unsigned long long)second);
                both = run_interleaved(i / 6, first, second);
                fired = fired || both;
            }
        }
    }
    printf("%llu interleavings of three\n", (unsigned long long)runs);
    EXPECT(runs > 10000, "only %llu interleavings", (unsigned long long)runs);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_blob_race");
    TCase *test_case = tcase_create("race");
    tcase_add_checked_fixture(test_case, setup, teardown);
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, two_roles_interleaved_at_every_call_keep_what_they_promise);
    tcase_add_test(test_case,
                   put_refer_and_collect_nested_at_every_pair_of_calls_keep_what_they_promise);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
