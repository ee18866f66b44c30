/* Blobs in a file with several threads: a large one beside small commits, and writers, referrers and
 * collectors beside each other.
 *
 * SAP_BLOB_MIB: the size of the large blob; 64 without it. SAP_BLOB_DIR: a directory for its file, which
 * is left there, for times on a real disk (`make blob-gib`). */
#include "common/clock.h"
#include "common/fault.h"
#include "common/mem.h"
#include "common/random.h"
#include "support/blobs.h"
#include "support/files.h"
#include "support/suite.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    TABLE = 16,
    TIMEOUT_S = 600,
    MIB = 1024 * 1024,
    PIECE = 64 * 1024,
    PAUSE_NS = 1000000,
    ACTORS = 4,
    ROUNDS = 150,
    CONTENTS = 6, /* different blobs that the actors put */
};

static const uint32_t tables[] = {TABLE};
static FileBed bed;
static SapStore *store;

static void open_at(const char *path)
{
    char url[FILES_PATH_MAX + 16];
    SapStoreOptions options = {.size = sizeof options, .tables = tables, .table_count = 1};
    (void)snprintf(url, sizeof url, "sapling:%s", path);
    EXPECT_RC(sap_store_open(url, &options, &store), SAP_OK);
}

static void setup(void)
{
    file_bed_start(&bed);
}

static void teardown(void)
{
    EXPECT_RC(sap_store_close(store), SAP_OK);
    EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes are left", mem_live_bytes(MEM_STORE));
    file_bed_end(&bed);
}

/* ---- A large blob beside small commits ------------------------------------------------------- */

typedef struct Bystander {
    atomic_bool stop;
    uint64_t commits;
    _Atomic uint64_t slowest_ns;
    size_t peak; /* of memory that is neither the engine's nor the test's */
} Bystander;

static size_t store_memory(void)
{
    return mem_live_bytes(MEM_STORE) + mem_live_bytes(MEM_COMMON);
}

/* Commits one small row after the other, each waited for, and measures how long that takes. */
static void *commit_rows(void *ctx)
{
    Bystander *bystander = (Bystander *)ctx;
    struct timespec pause = {.tv_nsec = PAUSE_NS};
    while (!atomic_load(&bystander->stop)) {
        SapStoreTxn *txn = NULL;
        uint64_t begin_ns = clock_mono_ns(NULL);
        uint64_t row = bystander->commits % 100;
        EXPECT_RC(sap_store_begin(store, SAP_STORE_GUARDED, &txn), SAP_OK);
        EXPECT_RC(sap_store_put(txn, TABLE, &row, sizeof row, "value", 5), SAP_OK);
        EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
        uint64_t took_ns = clock_mono_ns(NULL) - begin_ns;
        size_t memory = store_memory();
        if (took_ns > atomic_load(&bystander->slowest_ns)) {
            atomic_store(&bystander->slowest_ns, took_ns);
        }
        bystander->peak = memory > bystander->peak ? memory : bystander->peak;
        bystander->commits++;
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

static Digest write_large(uint64_t pieces)
{
    static uint8_t piece[PIECE];
    Rng rng;
    BlobWriter *writer = NULL;
    Digest name;
    rng_seed(&rng, 1);
    EXPECT_RC(blob_write_begin(store, NULL, &writer), SAP_OK);
    for (uint64_t i = 0; i < pieces; i++) {
        rng_bytes(&rng, piece, PIECE); /* no two pieces are the same */
        EXPECT_RC(blob_write_append(writer, piece, PIECE, 0), SAP_OK);
    }
    EXPECT_RC(blob_write_finish(writer, 0, &name, NULL), SAP_OK);
    return name;
}

static void read_large(const Digest *name, uint64_t pieces)
{
    static uint8_t expected[PIECE];
    static uint8_t room[PIECE];
    Rng rng;
    BlobReader *reader = NULL;
    size_t got = 0;
    rng_seed(&rng, 1);
    EXPECT_RC(blob_read_open(store, SAP_STORE_READ_DURABLE, name, &reader), SAP_OK);
    EXPECT(blob_read_size(reader) == pieces * PIECE, "its size");
    for (uint64_t i = 0; i < pieces; i++) {
        rng_bytes(&rng, expected, PIECE);
        EXPECT_RC(blob_read(reader, room, PIECE, &got), SAP_OK); /* chunks are whole pieces */
        EXPECT(got == PIECE && memcmp(expected, room, PIECE) == 0, "piece %" PRIu64, i);
    }
    EXPECT_RC(blob_read(reader, room, PIECE, &got), SAP_OK);
    EXPECT(got == 0, "the end");
    blob_read_close(reader);
}

static double seconds_since(uint64_t begin_ns)
{
    return (double)(clock_mono_ns(NULL) - begin_ns) / 1e9;
}

START_TEST(a_large_blob_goes_in_and_out_in_constant_memory_beside_small_commits)
{
    const char *asked = getenv("SAP_BLOB_MIB");
    const char *dir = getenv("SAP_BLOB_DIR");
    uint64_t mib = asked == NULL ? 64 : strtoull(asked, NULL, 10);
    uint64_t pieces = mib * MIB / PIECE;
    char path[FILES_PATH_MAX];
    EXPECT(mib > 0, "SAP_BLOB_MIB is a number above 0");
    (void)snprintf(path, sizeof path, "%s", bed.path);
    if (dir != NULL) {
        (void)snprintf(path, sizeof path, "%s/blob", dir);
    }
    open_at(path);
    Bystander bystander = {.commits = 0};
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, commit_rows, &bystander) == 0, "no thread");

    uint64_t begin_ns = clock_mono_ns(NULL);
    Digest name = write_large(pieces);
    double in_s = seconds_since(begin_ns);
    uint64_t in_slowest_ns = atomic_load(&bystander.slowest_ns);
    begin_ns = clock_mono_ns(NULL);
    read_large(&name, pieces);
    double out_s = seconds_since(begin_ns);
    atomic_store(&bystander.stop, true);
    EXPECT(pthread_join(thread, NULL) == 0, "joined");

    printf("%" PRIu64 " MiB: in %.1f s, out %.1f s; memory %zu KiB at most; %" PRIu64
           " small commits beside it, the slowest %.1f ms\n",
           mib, in_s, out_s, bystander.peak / 1024, bystander.commits, (double)in_slowest_ns / 1e6);
    EXPECT(bystander.peak < 2 * MIB, "%zu bytes of memory", bystander.peak);
    EXPECT(bystander.commits > 10, "only %" PRIu64 " commits beside it", bystander.commits);
}
END_TEST

/* ---- Pace ------------------------------------------------------------------------------------ */

static atomic_bool checkpoint_held; /* while true, none ends */
static atomic_uint_fast64_t bytes_in;

static void hold_checkpoint(const char *step, void *ctx)
{
    struct timespec pause = {.tv_nsec = PAUSE_NS};
    (void)ctx;
    while (strcmp(step, "pages written") == 0 && atomic_load(&checkpoint_held)) {
        (void)nanosleep(&pause, NULL);
    }
}

static void *write_until_stopped(void *ctx)
{
    static uint8_t piece[PIECE];
    atomic_bool *stop = (atomic_bool *)ctx;
    Rng rng;
    BlobWriter *writer = NULL;
    Digest name;
    rng_seed(&rng, 2);
    EXPECT_RC(blob_write_begin(store, NULL, &writer), SAP_OK);
    while (!atomic_load(stop)) {
        rng_bytes(&rng, piece, PIECE);
        EXPECT_RC(blob_write_append(writer, piece, PIECE, 0), SAP_OK);
        atomic_fetch_add(&bytes_in, PIECE);
    }
    EXPECT_RC(blob_write_finish(writer, 0, &name, NULL), SAP_OK);
    return NULL;
}

START_TEST(a_writer_waits_for_a_checkpoint_long_before_commits_have_to)
{
    enum { CROWDED = 2 * 64 * MIB, HELD_MS = 1500 }; /* of log: a checkpoint begins at 64 MiB */
    struct timespec pause = {.tv_nsec = PAUSE_NS};
    Bystander bystander = {.commits = 0};
    atomic_bool stop = false;
    pthread_t writer;
    pthread_t thread;
    atomic_store(&checkpoint_held, true);
    atomic_store(&bytes_in, 0);
    fault_on_step(hold_checkpoint, NULL);
    open_at(bed.path);
    EXPECT(pthread_create(&writer, NULL, write_until_stopped, &stop) == 0, "no thread");
    while (atomic_load(&bytes_in) < CROWDED - 2 * MIB) {
        (void)nanosleep(&pause, NULL);
    }
    EXPECT(pthread_create(&thread, NULL, commit_rows, &bystander) == 0, "no thread");
    uint64_t begin_ns = clock_mono_ns(NULL);
    while (seconds_since(begin_ns) * 1000 < HELD_MS) {
        (void)nanosleep(&pause, NULL);
    }
    uint64_t bytes = atomic_load(&bytes_in);
    atomic_store(&bystander.stop, true);
    atomic_store(&checkpoint_held, false);
    EXPECT(pthread_join(thread, NULL) == 0, "joined");
    atomic_store(&stop, true);
    EXPECT(pthread_join(writer, NULL) == 0, "joined");
    fault_on_step(NULL, NULL);
    EXPECT(bytes < CROWDED + 6 * MIB, "it went on to %" PRIu64 " MiB", bytes / MIB);
    EXPECT(bystander.commits > 10, "only %" PRIu64 " commits", bystander.commits);
}
END_TEST

/* ---- Writers, referrers and collectors ------------------------------------------------------- */

static const BlobShape shape = {.chunk_bytes = 64, .fanout = 3};
static uint8_t contents[CONTENTS][64 * 8];
static atomic_bool stop_collecting;

typedef struct BlobActor {
    uint32_t number;
    uint64_t put_again; /* references that came too late */
} BlobActor;

/* Puts a blob, refers to it, reads it, drops the reference: what it refers to is always there. */
static void *use_blobs(void *ctx)
{
    BlobActor *actor = (BlobActor *)ctx;
    char owner[16];
    Rng rng;
    rng_seed(&rng, actor->number + 1);
    (void)snprintf(owner, sizeof owner, "actor %u", actor->number);
    for (int round = 0; round < ROUNDS; round++) {
        const uint8_t *content = contents[rng_range(&rng, 0, CONTENTS - 1)];
        Digest name;
        int rc = SAP_NOTFOUND;
        while (rc == SAP_NOTFOUND) {
            rc = blobs_put(store, &shape, content, sizeof contents[0], 0, &name);
            EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "put returned %d", rc);
            rc = rc == SAP_OK ? blobs_ref(store, &name, owner) : rc;
            actor->put_again += rc == SAP_NOTFOUND;
        }
        EXPECT_RC(rc, SAP_OK);
        EXPECT_RC(blobs_compare(store, &name, content, sizeof contents[0], 100), SAP_OK);
        EXPECT_RC(blobs_unref(store, &name, owner), SAP_OK);
    }
    return NULL;
}

/* To it everything is old: it takes whatever nobody refers to at that moment. */
static void *collect_blobs(void *ctx)
{
    BlobCollector *collector = (BlobCollector *)ctx;
    while (!atomic_load(&stop_collecting)) {
        bool end = false;
        EXPECT_RC(blob_collect_step(store, collector, BLOB_SPARED_NS, 5, &end), SAP_OK);
    }
    return NULL;
}

START_TEST(writers_referrers_and_collectors_in_threads_lose_nothing_that_is_needed)
{
    pthread_t users[ACTORS];
    pthread_t collectors[2];
    BlobActor actors[ACTORS];
    BlobCollector collected[2] = {{.looked_at = 0}};
    uint64_t put_again = 0;
    open_at(bed.path);
    atomic_store(&stop_collecting, false);
    for (size_t i = 0; i < sizeof contents; i++) { /* some chunks are in several blobs */
        ((uint8_t *)contents)[i] = (uint8_t)(i / sizeof contents[0] * (i / 64 % 3) + i / 64 % 5);
    }
    for (int i = 0; i < 2; i++) {
        EXPECT(pthread_create(&collectors[i], NULL, collect_blobs, &collected[i]) == 0, "thread");
    }
    for (uint32_t i = 0; i < ACTORS; i++) {
        actors[i] = (BlobActor){.number = i};
        EXPECT(pthread_create(&users[i], NULL, use_blobs, &actors[i]) == 0, "thread");
    }
    for (uint32_t i = 0; i < ACTORS; i++) {
        EXPECT(pthread_join(users[i], NULL) == 0, "joined");
        put_again += actors[i].put_again;
    }
    atomic_store(&stop_collecting, true);
    for (int i = 0; i < 2; i++) {
        EXPECT(pthread_join(collectors[i], NULL) == 0, "joined");
    }
    (void)blobs_check(store);
    (void)blobs_collect(store, BLOB_SPARED_NS);
    BlobsCount count = blobs_check(store);
    EXPECT(count.blobs == 0 && count.refs == 0, "%u, %u rows are left", count.blobs, count.refs);
    printf("%d blobs referred to, %" PRIu64 " put again, %" PRIu64 " collected\n", ACTORS * ROUNDS,
           put_again, collected[0].collected + collected[1].collected);
    EXPECT(collected[0].collected + collected[1].collected > 0, "nothing was collected");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_blob_threads");
    TCase *test_case = tcase_create("threads");
    tcase_add_checked_fixture(test_case, setup, teardown);
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, a_large_blob_goes_in_and_out_in_constant_memory_beside_small_commits);
    tcase_add_test(test_case, a_writer_waits_for_a_checkpoint_long_before_commits_have_to);
    tcase_add_test(test_case,
                   writers_referrers_and_collectors_in_threads_lose_nothing_that_is_needed);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
