/* Worlds in a file, with the threads that a process has: handlers, senders, operators, the roles. Nothing
 * that was accepted is lost or done twice, and calls that wait are neither forgotten nor cut off. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/config.h"
#include "common/mem.h"
#include "common/random.h"
#include "common/sync.h"
#include "node/host.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"
#include "universe/universe_impl.h"

enum {
    TIMEOUT_S = 300,
    HANDLERS = 4,
    WORLDS = 50,
    DELETED = 10, /* of them, the last ones */
    SENDERS = 4,
    ROUNDS = SAP_SANITIZED ? 5 : 12, /* items of each sender to each world */
    REPLAYERS = 2,
    MOST_LETTERS = 256,
};

#define SECOND_NS UINT64_C(1000000000)

static FileBed bed;
static SapUniverse *universe;
static SAP_ATOMIC(bool) takes_all;   /* "picky" is refused until then */
static SAP_ATOMIC(bool) let_go;      /* "hang" returns */
static SAP_ATOMIC(bool) hangs;       /* a handler does */
static SAP_ATOMIC(bool) done;        /* the senders are */
static SAP_ATOMIC(uint32_t) doubled; /* items that found what they had written before */

static void pause_ms(long ms)
{
    struct timespec some = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&some, NULL);
}

static int count_row(void *ctx, const void *key, size_t key_len, SapEncoding encoding,
                     const void *val, size_t val_len)
{
    (void)key;
    (void)key_len;
    (void)encoding;
    (void)val;
    (void)val_len;
    ++*(uint32_t *)ctx;
    return SAP_OK;
}

/* A row for each item, so that each counts once; "count" replies how many there are. */
static int keep_item(SapWorld *world, const SapEvent *event)
{
    const void *val = NULL;
    size_t len = 0;
    char text[16];
    uint32_t rows = 0;
    if (event->kind == SAP_EVENT_CREATE) {
        return SAP_OK;
    }
    if (strcmp(event->name, "hang") == 0) {
        atomic_store_full(&hangs, true);
        while (!atomic_load_full(&let_go) && !sap_world_cancelled(world)) {
            pause_ms(2);
        }
        atomic_store_full(&hangs, false);
        return SAP_OK;
    }
    if (strcmp(event->name, "count") == 0) {
        int rc = sap_world_scan(world, "i", 1, count_row, &rows);
        (void)snprintf(text, sizeof text, "%" PRIu32, rows);
        return rc == SAP_OK
                   ? sap_world_reply(world, event->reply_to, SAP_ENCODING_JSON, text, strlen(text))
                   : rc;
    }
    if (strcmp(event->name, "picky") == 0 && !atomic_load_full(&takes_all)) {
        return sap_world_fail(world, false, "not yet");
    }
    if (sap_world_get(world, event->id, strlen(event->id), &val, &len, NULL) != SAP_NOTFOUND) {
        (void)atomic_add_full(&doubled, 1);
    }
    return sap_world_put(world, event->id, strlen(event->id), SAP_ENCODING_JSON, "1", 1);
}

SAP_WORLD_MODULE("keep", keep_item);

static void set_up(void)
{
    char url[FILES_PATH_MAX + 16];
    file_bed_start(&bed);
    (void)snprintf(url, sizeof url, "sapling:%s", bed.path);
    EXPECT_RC(sap_universe_open(url, NULL, &universe), SAP_OK);
}

static void tear_down(void)
{
    EXPECT_RC(sap_universe_close(universe), SAP_OK);
    EXPECT(mem_live_bytes(MEM_UNIVERSE) == 0 && mem_live_bytes(MEM_STORE) == 0, "memory leaked");
    file_bed_end(&bed);
}

static Host *start_host(uint32_t handlers)
{
    HostOptions options = {.handlers = handlers, .roles = HOST_ALL_ROLES};
    Host *host = NULL;
    EXPECT_RC(host_start(universe, &options, &host), SAP_OK);
    return host;
}

static const char *world_name(char name[16], int i)
{
    (void)snprintf(name, 16, "w%02d", i);
    return name;
}

static int send_item(const char *world, const char *name, const char *id)
{
    SapIngress item = {.size = sizeof item, .name = name, .id = id, .want_reply = true};
    return sap_enqueue_ingress(universe, world, &item, NULL);
}

/* ---- Everything at once -------------------------------------------------------------------------- */

typedef struct Sender {
    pthread_t thread;
    int number;
    uint32_t accepted[WORLDS];
} Sender;

static void *send_all(void *arg)
{
    Sender *sender = (Sender *)arg;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WORLDS; i++) {
            char name[16];
            char id[32];
            (void)snprintf(id, sizeof id, "i%d-%d", sender->number, round);
            bool picky = round % 4 == 0 && i < WORLDS - DELETED;
            int rc = send_item(world_name(name, i), picky ? "picky" : "plain", id);
            EXPECT(rc == SAP_OK || (rc == SAP_NOTFOUND && i >= WORLDS - DELETED), "%s: %d", name,
                   rc);
            sender->accepted[i] += rc == SAP_OK;
        }
    }
    return NULL;
}

static void *pause_and_resume(void *arg)
{
    Rng rng;
    (void)arg;
    rng_seed(&rng, 1);
    while (!atomic_load_full(&done)) {
        char name[16];
        (void)world_name(name, (int)rng_below(&rng, WORLDS - DELETED));
        EXPECT_RC(sap_world_pause(universe, name, "for a moment"), SAP_OK);
        EXPECT_RC(sap_world_resume(universe, name), SAP_OK);
        pause_ms(3);
    }
    return NULL;
}

static void *delete_some(void *arg)
{
    (void)arg;
    for (int i = WORLDS - DELETED; i < WORLDS; i++) {
        char name[16];
        EXPECT_RC(sap_world_delete(universe, world_name(name, i), "old"), SAP_OK);
        pause_ms(20);
    }
    return NULL;
}

typedef struct Letters {
    uint32_t count;
    uint64_t heights[MOST_LETTERS];
    uint8_t seqs[MOST_LETTERS][32];
} Letters;

static int keep_letter(void *ctx, const SapDeadLetter *letter)
{
    Letters *letters = (Letters *)ctx;
    if (letters->count < MOST_LETTERS) {
        letters->heights[letters->count] = letter->height;
        memcpy(letters->seqs[letters->count++], letter->seq, sizeof letter->seq);
    }
    return SAP_OK;
}

/* Two do this at the same time: each letter is replayed by one of them. */
static uint32_t replay_world(const char *world)
{
    Letters letters = {.count = 0};
    uint32_t replayed = 0;
    EXPECT_RC(sap_dead_letters(universe, world, keep_letter, &letters), SAP_OK);
    for (uint32_t i = 0; i < letters.count; i++) {
        int rc = sap_dead_letter_replay(universe, world, letters.heights[i], letters.seqs[i]);
        EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "a replay returned %d", rc);
        replayed += rc == SAP_OK;
    }
    return replayed;
}

static void *replay_all(void *arg)
{
    (void)arg;
    while (!atomic_load_full(&done)) {
        for (int i = 0; i < WORLDS - DELETED && !atomic_load_full(&done); i++) {
            char name[16];
            (void)replay_world(world_name(name, i));
        }
        pause_ms(5);
    }
    return NULL;
}

static long rows_of(const char *world, const char *id)
{
    SapReply *reply = NULL;
    EXPECT_RC(send_item(world, "count", id), SAP_OK);
    EXPECT_RC(sap_world_reply_wait(universe, world, id, 60 * SECOND_NS, &reply), SAP_OK);
    EXPECT(!reply->failed, "%s: %s", world, reply->payload);
    long rows = atol(reply->payload);
    sap_reply_free(reply);
    return rows;
}

/* What was accepted and is no row yet has been refused: it is replayed until all is there. */
static void expect_all_rows(const char *world, uint32_t accepted)
{
    long rows = -1;
    for (int i = 0; rows != (long)accepted; i++) {
        char id[16];
        EXPECT(i < 100, "%s has %ld of %" PRIu32 " items", world, rows, accepted);
        (void)snprintf(id, sizeof id, "count-%d", i);
        (void)replay_world(world);
        rows = rows_of(world, id);
        EXPECT(rows <= (long)accepted, "%s has %ld of %" PRIu32 " items", world, rows, accepted);
    }
}

/* Each item of a deleted world is an entry or a letter. */
static void expect_drained(const char *world, uint32_t accepted)
{
    SapWorldInfo info;
    Letters letters = {.count = 0};
    EXPECT_RC(sap_world_info(universe, world, &info), SAP_OK);
    for (int i = 0; !info.drained; i++) {
        EXPECT(i < 1000, "%s is not drained", world);
        pause_ms(20);
        EXPECT_RC(sap_world_info(universe, world, &info), SAP_OK);
    }
    EXPECT_RC(sap_dead_letters(universe, world, keep_letter, &letters), SAP_OK);
    EXPECT(info.height + letters.count == (uint64_t)accepted + 1,
           "%s: %" PRIu64 " entries and %" PRIu32 " letters of %" PRIu32 " items", world,
           info.height, letters.count, accepted + 1);
}

START_TEST(nothing_is_lost_or_doubled_while_everything_happens_at_once)
{
    static Sender senders[SENDERS];
    pthread_t others[REPLAYERS + 2];
    char name[16];
    Host *host = start_host(HANDLERS);
    for (int i = 0; i < WORLDS; i++) {
        EXPECT_RC(
            sap_world_create(universe, world_name(name, i), "keep", SAP_ENCODING_JSON, NULL, 0),
            SAP_OK);
    }
    for (int i = 0; i < SENDERS; i++) {
        senders[i].number = i;
        EXPECT_RC(pthread_create(&senders[i].thread, NULL, send_all, &senders[i]), 0);
    }
    EXPECT_RC(pthread_create(&others[0], NULL, pause_and_resume, NULL), 0);
    EXPECT_RC(pthread_create(&others[1], NULL, delete_some, NULL), 0);
    for (int i = 0; i < REPLAYERS; i++) {
        EXPECT_RC(pthread_create(&others[2 + i], NULL, replay_all, NULL), 0);
    }
    for (int i = 0; i < SENDERS; i++) {
        pthread_join(senders[i].thread, NULL);
    }
    pthread_join(others[1], NULL);
    atomic_store_full(&done, true);
    pthread_join(others[0], NULL);
    for (int i = 0; i < REPLAYERS; i++) {
        pthread_join(others[2 + i], NULL);
    }
    atomic_store_full(&takes_all, true);
    uint32_t total = 0;
    for (int i = 0; i < WORLDS; i++) {
        uint32_t accepted = 0;
        for (int j = 0; j < SENDERS; j++) {
            accepted += senders[j].accepted[i];
        }
        total += accepted;
        (void)world_name(name, i);
        if (i < WORLDS - DELETED) {
            expect_all_rows(name, accepted);
        } else {
            expect_drained(name, accepted);
        }
    }
    EXPECT(atomic_load_full(&doubled) == 0, "%" PRIu32 " items twice", atomic_load_full(&doubled));
    EXPECT(total >= (WORLDS - DELETED) * SENDERS * ROUNDS, "only %" PRIu32 " items", total);
    EXPECT_RC(host_stop(host, UINT64_MAX), SAP_OK);
    printf("universe_host_threads: %" PRIu32 " items\n", total);
}
END_TEST

/* ---- Waiting ------------------------------------------------------------------------------------- */

/* A handler that does not return holds up no other world. */
START_TEST(replies_arrive_while_another_handler_does_not_return)
{
    Host *host = start_host(2);
    EXPECT_RC(sap_world_create(universe, "slow", "keep", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    EXPECT_RC(sap_world_create(universe, "fast", "keep", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    EXPECT_RC(send_item("slow", "hang", "h"), SAP_OK);
    for (int i = 0; !atomic_load_full(&hangs); i++) {
        EXPECT(i < 10000, "the handler does not begin");
        pause_ms(2);
    }
    for (int i = 0; i < 3; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "c%d", i);
        EXPECT(rows_of("fast", id) == 0, "there are no items");
    }
    atomic_store_full(&let_go, true);
    EXPECT_RC(host_stop(host, UINT64_MAX), SAP_OK);
}
END_TEST

static bool is_stuck(const char *world)
{
    SapWorldInfo info;
    EXPECT_RC(sap_world_info(universe, world, &info), SAP_OK);
    return info.status == SAP_WORLD_STUCK && strstr(info.reason, "its handler has run") != NULL;
}

/* The thread that steps runs the handlers itself and is in one that does not return. The one that renews
 * says so, and tells the handler when its world is taken away. */
START_TEST(a_handler_in_the_stepping_thread_that_does_not_return_is_seen_and_can_be_ended)
{
    HostOptions options = {.worker = {.size = sizeof options.worker, .max_handler_ms = 20}};
    Host *host = NULL;
    EXPECT_RC(host_start(universe, &options, &host), SAP_OK);
    EXPECT_RC(sap_world_create(universe, "slow", "keep", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    EXPECT_RC(send_item("slow", "hang", "h"), SAP_OK);
    for (int i = 0; !is_stuck("slow"); i++) {
        EXPECT(i < 10000, "nobody says that it is stuck");
        pause_ms(2);
    }
    EXPECT_RC(sap_world_pause(universe, "slow", "by me"), SAP_OK);
    for (int i = 0; atomic_load_full(&hangs); i++) {
        EXPECT(i < 10000, "the handler does not end");
        pause_ms(2);
    }
    EXPECT_RC(host_stop(host, UINT64_MAX), SAP_OK);
    SapWorldInfo info;
    EXPECT_RC(sap_world_info(universe, "slow", &info), SAP_OK);
    EXPECT(info.status == SAP_WORLD_PAUSED && info.height <= 1, "it is %d", (int)info.status);
}
END_TEST

static void *wait_for_ever(void *arg)
{
    SapReply **reply_out = (SapReply **)arg;
    EXPECT_RC(sap_world_reply_wait(universe, "w", "late", UINT64_MAX, reply_out), SAP_OK);
    return NULL;
}

static uint32_t calls_under_way(void)
{
    mutex_lock(&universe->lock);
    uint32_t calls = universe->calls;
    mutex_unlock(&universe->lock);
    return calls;
}

START_TEST(a_wait_without_end_gets_its_reply_and_keeps_the_universe_open)
{
    pthread_t waiter;
    SapReply *reply = NULL;
    EXPECT_RC(sap_world_create(universe, "w", "keep", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    EXPECT_RC(pthread_create(&waiter, NULL, wait_for_ever, &reply), 0);
    for (int i = 0; calls_under_way() == 0; i++) {
        EXPECT(i < 10000, "nobody waits");
        pause_ms(1);
    }
    EXPECT_RC(sap_universe_close(universe), SAP_BUSY);
    pause_ms(50);
    EXPECT(calls_under_way() == 1, "it does not wait");
    Host *host = start_host(1);
    EXPECT_RC(sap_universe_close(universe), SAP_BUSY);
    EXPECT_RC(send_item("w", "count", "late"), SAP_OK);
    pthread_join(waiter, NULL);
    EXPECT(reply != NULL && strcmp(reply->payload, "0") == 0, "another reply");
    sap_reply_free(reply);
    EXPECT_RC(host_stop(host, UINT64_MAX), SAP_OK);
}
END_TEST

static int close_inside(void *ctx, const SapDeadLetter *letter)
{
    (void)letter;
    *(int *)ctx = sap_universe_close(universe);
    return SAP_OK;
}

/* Also from inside of one. */
START_TEST(a_universe_is_not_closed_under_a_list_of_letters)
{
    Host *host = start_host(1);
    int code = SAP_OK;
    EXPECT_RC(sap_world_create(universe, "w", "keep", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    EXPECT_RC(send_item("w", "picky", "p"), SAP_OK);
    SapReply *reply = NULL;
    EXPECT_RC(sap_world_reply_wait(universe, "w", "p", 60 * SECOND_NS, &reply), SAP_OK);
    EXPECT(reply->failed, "it was refused");
    sap_reply_free(reply);
    EXPECT_RC(host_stop(host, UINT64_MAX), SAP_OK);
    EXPECT_RC(sap_dead_letters(universe, "w", close_inside, &code), SAP_OK);
    EXPECT(code == SAP_BUSY, "closing returned %d", code);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_host_threads");
    TCase *test_case = tcase_create("threads");
    tcase_add_checked_fixture(test_case, set_up, tear_down);
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, nothing_is_lost_or_doubled_while_everything_happens_at_once);
    tcase_add_test(test_case, replies_arrive_while_another_handler_does_not_return);
    tcase_add_test(test_case,
                   a_handler_in_the_stepping_thread_that_does_not_return_is_seen_and_can_be_ended);
    tcase_add_test(test_case, a_wait_without_end_gets_its_reply_and_keeps_the_universe_open);
    tcase_add_test(test_case, a_universe_is_not_closed_under_a_list_of_letters);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
