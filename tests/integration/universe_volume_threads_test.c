/* Very many messages through 1000 worlds that ask for effects and timers, then a day: nothing is left of
 * them but what the journals keep.
 *
 * Two rounds, so that the second shows whether it uses what the first has left: SAP_VOLUME says how many
 * messages in all, SAP_VOLUME_DIR where the file is made. The day is made by moving the clock. */
#include "common/clock.h"
#include "common/config.h"
#include "common/relaxed.h"
#include "node/host.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"
#include "universe/universe_impl.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    TIMEOUT_S = 300,
    MESSAGES = SAP_SANITIZED ? 2000 : 24000,
    MESSAGES_PER_SECOND = 500, /* at least, on a slow machine */
    ROUNDS = 2,
    WORLDS = SAP_SANITIZED ? 100 : 1000,
    DELETED = 10, /* of them */
    SENDERS = 16,
    HANDLERS = 2,
    QUIET_S = 30,  /* at most, and longer for many messages */
    LARGE = 70000, /* a payload that is a blob */
    LARGE_ONE_IN = 4096,
    ROWS_AT_ONCE = 256,
    LOOK_MS = 5,
};

#define DAY_NS UINT64_C(86400000000000)

/* ---- A clock that goes on, and that the test moves ------------------------------------------- */

static RelaxedU64 moved_ns;

static uint64_t wall_now_ns(void *ctx)
{
    (void)ctx;
    return clock_wall_ns(NULL) + relaxed_load(&moved_ns);
}

static int64_t wall_now_ms(void *ctx)
{
    return (int64_t)(wall_now_ns(ctx) / 1000000);
}

static uint64_t mono_now_ns(void *ctx)
{
    (void)ctx;
    return clock_mono_ns(NULL);
}

static uint64_t boot_now_ns(void *ctx)
{
    (void)ctx;
    return clock_boot_ns(NULL) + relaxed_load(&moved_ns);
}

static const Clock moved_clock = {wall_now_ms, wall_now_ns, mono_now_ns, boot_now_ns, NULL};

static void pause_ms(long ms)
{
    struct timespec some = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&some, NULL);
}

/* ---- The worlds ------------------------------------------------------------------------------ */

/* The name of a message says what it asks for; answers are counted. */
static int on_event(SapWorld *world, const SapEvent *event)
{
    SapEffect effect = {.size = sizeof effect, .kind = "volume", .ref = event->id, .params = "1"};
    SapTimer timer = {.size = sizeof timer, .ref = event->id, .after_ns = 1000000};
    const void *val = "0";
    size_t len = 1;
    char text[24];
    int rc = SAP_OK;
    effect.params_len = 1;
    if (strcmp(event->name, "effect") == 0) {
        rc = sap_world_effect(world, &effect);
    } else if (strcmp(event->name, "unnamed") == 0) {
        effect.ref = NULL;
        rc = sap_world_effect(world, &effect);
    } else if (strcmp(event->name, "timer") == 0) {
        rc = sap_world_timer(world, &timer);
    } else if (strcmp(event->name, "long") == 0) { /* is outstanding when the world is deleted */
        effect.kind = "nobody";
        timer.ref = "later";
        timer.after_ns = 10 * DAY_NS;
        rc = sap_world_effect(world, &effect);
        rc = rc == SAP_OK ? sap_world_timer(world, &timer) : rc;
    } else if (strcmp(event->name, "cancel") == 0) {
        timer.after_ns = 3600 * UINT64_C(1000000000);
        rc = sap_world_timer(world, &timer);
        rc = rc == SAP_OK ? sap_world_cancel(world, event->id) : rc;
    } else if (strcmp(event->name, "reply") == 0) {
        rc = sap_world_reply(world, event->reply_to, SAP_ENCODING_JSON, "1", 1);
    }
    if (rc == SAP_OK) {
        rc = sap_world_get(world, "n", 1, &val, &len, NULL);
        rc = rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    (void)snprintf(text, sizeof text, "%.*s", (int)len, (const char *)val);
    int wrote = snprintf(text, sizeof text, "%ld", strtol(text, NULL, 10) + 1);
    return rc == SAP_OK ? sap_world_put(world, "n", 1, SAP_ENCODING_JSON, text, (size_t)wrote) : rc;
}

SAP_WORLD_MODULE("volume", on_event);

/* One in three fails once. */
static int perform(void *ctx, const SapEffectCall *call, SapEffectResult *result)
{
    (void)ctx;
    (void)result;
    return call->attempt == 1 && call->idempotency_key[0] % 3 == 0 ? SAP_IO : SAP_OK;
}

static int serve_volume(SapWorker *worker, void *ctx)
{
    SapEffectKind kind = {
        .size = sizeof kind, .kind = "volume", .function = perform, .retry = {.first_ns = 1000000}};
    (void)ctx;
    return sap_worker_serve(worker, &kind);
}

/* ---- The load -------------------------------------------------------------------------------- */

typedef struct Volume {
    FileBed bed;
    char url[FILES_PATH_MAX + 256];
    SapStore *store;
    SapUniverse *universe;
    Host *host;
    uint64_t per_round;
    uint64_t first; /* number of the messages of this round */
} Volume;

typedef struct Sender {
    Volume *volume;
    uint64_t number;
    pthread_t thread;
    char large[LARGE];
} Sender;

static void name_world(uint32_t world, char name_out[16])
{
    (void)snprintf(name_out, 16, "w%06" PRIu32, world);
}

static void send_one(Sender *sender, uint64_t number)
{
    static const char *const names[] = {"plain", "effect", "plain", "reply",   "timer", "plain",
                                        "reply", "plain",  "plain", "unnamed", "plain", "cancel"};
    SapUniverse *universe = sender->volume->universe;
    const char *name = names[number % (sizeof names / sizeof *names)];
    char world[16];
    char id[24];
    SapIngress item = {.size = sizeof item,
                       .name = name,
                       .id = id,
                       .want_reply = strcmp(name, "reply") == 0,
                       .encoding = SAP_ENCODING_RAW,
                       .payload = sender->large,
                       .payload_len = number % LARGE_ONE_IN == 0 ? LARGE : 40};
    int rc = SAP_BUSY;
    (void)snprintf(id, sizeof id, "m%" PRIu64, number);
    (void)snprintf(sender->large, sizeof sender->large, "%" PRIu64, number);
    name_world((uint32_t)(number * 7919 % WORLDS), world);
    while (rc == SAP_BUSY || rc == SAP_CONFLICT) {
        rc = sap_enqueue_ingress(universe, world, &item, NULL);
    }
    EXPECT_RC(rc, SAP_OK);
}

static void *send_share(void *arg)
{
    Sender *sender = (Sender *)arg;
    const Volume *volume = sender->volume;
    for (uint64_t i = sender->number; i < volume->per_round; i += SENDERS) {
        send_one(sender, volume->first + i);
    }
    return NULL;
}

static void *create_share(void *arg)
{
    const Sender *sender = (const Sender *)arg;
    for (uint32_t i = (uint32_t)sender->number; i < WORLDS; i += SENDERS) {
        char name[16];
        name_world(i, name);
        EXPECT_RC(
            sap_world_create(sender->volume->universe, name, "volume", SAP_ENCODING_JSON, NULL, 0),
            SAP_OK);
    }
    return NULL;
}

static void run_senders(Volume *volume, void *(*run)(void *))
{
    Sender *senders = (Sender *)calloc(SENDERS, sizeof *senders);
    EXPECT(senders != NULL, "no memory");
    for (uint64_t i = 0; i < SENDERS; i++) {
        senders[i].volume = volume;
        senders[i].number = i;
        EXPECT(pthread_create(&senders[i].thread, NULL, run, &senders[i]) == 0, "no thread");
    }
    for (uint64_t i = 0; i < SENDERS; i++) {
        pthread_join(senders[i].thread, NULL);
    }
    free(senders);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Rows of a table, `limit` at most. */
static uint64_t count_rows(const Volume *volume, uint32_t table, uint64_t limit)
{
    RowKey from;
    RowKey to;
    SapStoreRange range;
    uint64_t sum = 0;
    uint32_t count = ROWS_AT_ONCE;
    row_key_universe(&from, table, volume->universe->number);
    row_range(&from, &to, &range);
    while (count == ROWS_AT_ONCE && sum < limit) {
        SapStoreTxn *txn = NULL;
        const SapStoreRow *rows = NULL;
        EXPECT_RC(sap_store_begin(volume->store, SAP_STORE_READ_DURABLE, &txn), SAP_OK);
        EXPECT_RC(sap_store_scan(txn, &range, false, ROWS_AT_ONCE, &rows, &count), SAP_OK);
        if (count > 0) {
            row_key_after(&from, &rows[count - 1]);
            range.from_len = from.len;
        }
        sum += count;
        sap_store_abort(txn);
    }
    return sum;
}

/* Tables that must get empty: by themselves, or after a day. */
static const uint32_t tables_of_work[] = {
    WIT_DBI_WORLD_INBOX,    WIT_DBI_READY,      WIT_DBI_EFFECTS_PENDING, WIT_DBI_EFFECTS_INFLIGHT,
    WIT_DBI_EFFECTS_DEDUPE, WIT_DBI_TIMERS_DUE, WIT_DBI_TIMERS_DEDUPE,   WIT_DBI_ATTEMPT,
    WIT_DBI_FABRIC_DEDUPE,  WIT_DBI_WORLD_DLQ,
};
static const uint32_t tables_of_a_day[] = {WIT_DBI_IDEM, WIT_DBI_REPLY, WIT_DBI_EXPIRY};

/* Waits until these tables are empty. */
static void await_empty(const Volume *volume, const uint32_t *tables, size_t count)
{
    uint64_t most_s = QUIET_S + volume->per_round / MESSAGES_PER_SECOND;
    uint64_t end_ns = clock_mono_ns(NULL) + most_s * UINT64_C(1000000000);
    for (size_t i = 0; i < count;) {
        if (count_rows(volume, tables[i], 1) == 0) {
            i++;
            continue;
        }
        EXPECT(clock_mono_ns(NULL) < end_ns, "table %" PRIu32 " has %" PRIu64 " rows for ever",
               tables[i], count_rows(volume, tables[i], UINT64_MAX));
        pause_ms(LOOK_MS);
    }
}

/* ---- A life ---------------------------------------------------------------------------------- */

static void open_volume(Volume *volume)
{
    const char *dir = getenv("SAP_VOLUME_DIR");
    SapStoreOptions options = {.size = sizeof options,
                               .schema = UNIVERSE_SCHEMA,
                               .wall_ns = wall_now_ns,
                               .boot_ns = boot_now_ns};
    file_bed_start(&volume->bed);
    (void)snprintf(volume->url, sizeof volume->url, "sapling:%s%s",
                   dir == NULL ? volume->bed.path : dir, dir == NULL ? "" : "/volume");
    options.tables = universe_tables(&options.table_count);
    EXPECT_RC(sap_store_open(volume->url, &options, &volume->store), SAP_OK);
    EXPECT_RC(universe_open_on(volume->store, &moved_clock, NULL, 0, &volume->universe), SAP_OK);
}

static void close_volume(Volume *volume)
{
    EXPECT_RC(sap_universe_close(volume->universe), SAP_OK);
    EXPECT_RC(sap_store_close(volume->store), SAP_OK);
    file_bed_end(&volume->bed);
}

static void start_host(Volume *volume)
{
    HostOptions options = {.handlers = HANDLERS, .roles = HOST_ALL_ROLES, .prepare = serve_volume};
    EXPECT_RC(host_start(volume->universe, &options, &volume->host), SAP_OK);
}

static uint64_t file_bytes(const Volume *volume)
{
    char path[sizeof volume->url];
    (void)snprintf(path, sizeof path, "%s", volume->url + strlen("sapling:"));
    char *name = strrchr(path, '/');
    *name = 0;
    return files_size(path, name + 1);
}

/* A day passes while the machine is suspended: its worker finds its session over, and another one begins. */
static void pass_a_day(Volume *volume)
{
    EXPECT_RC(host_stop(volume->host, UINT64_MAX), SAP_OK);
    EXPECT(count_rows(volume, WIT_DBI_HELD, 1) == 0 && count_rows(volume, WIT_DBI_SESSIONS, 1) == 0,
           "a worker that was closed holds something");
    relaxed_add(&moved_ns, DAY_NS + DAY_NS / 24);
    start_host(volume);
}

/* Messages per second, or rows. */
static double rate_since(uint64_t begin_ns, uint64_t count)
{
    return (double)count / ((double)(clock_mono_ns(NULL) - begin_ns) / 1e9);
}

/* Returns by how much the file has grown. */
static uint64_t run_round(Volume *volume, uint64_t round)
{
    uint64_t before = file_bytes(volume);
    uint64_t begin_ns = clock_mono_ns(NULL);
    volume->first = round * volume->per_round;
    run_senders(volume, send_share);
    await_empty(volume, tables_of_work, sizeof tables_of_work / sizeof *tables_of_work);
    double steps = rate_since(begin_ns, volume->per_round);
    uint64_t kept = count_rows(volume, WIT_DBI_EXPIRY, UINT64_MAX);
    EXPECT(count_rows(volume, WIT_DBI_IDEM, UINT64_MAX) == volume->per_round, "ids are missing");
    pass_a_day(volume);
    begin_ns = clock_mono_ns(NULL);
    await_empty(volume, tables_of_a_day, sizeof tables_of_a_day / sizeof *tables_of_a_day);
    double expired = rate_since(begin_ns, kept);
    uint64_t grown = file_bytes(volume) - before;
    printf("universe_volume: round %" PRIu64 ": %" PRIu64
           " messages, %.0f/s until all is answered; %" PRIu64 " rows expire, %.0f/s; %" PRIu64
           " bytes more, %.0f a message\n",
           round + 1, volume->per_round, steps, kept, expired, grown,
           (double)grown / (double)volume->per_round);
    return grown;
}

/* What is left: leases, heads, births, journals, and the blobs of these. */
static void expect_only_journals(const Volume *volume, uint64_t messages)
{
    uint64_t entries = count_rows(volume, WIT_DBI_JOURNAL, UINT64_MAX);
    EXPECT(entries >= messages + WORLDS, "%" PRIu64 " entries", entries);
    EXPECT(count_rows(volume, WIT_DBI_WORLD_META, UINT64_MAX) == WORLDS &&
               count_rows(volume, WIT_DBI_HEAD, UINT64_MAX) == WORLDS &&
               count_rows(volume, WIT_DBI_LEASE, UINT64_MAX) == WORLDS,
           "rows of worlds");
    printf("universe_volume: left: %" PRIu64
           " parts of journal entries, %d worlds, file of %" PRIu64 " bytes\n",
           entries, WORLDS, file_bytes(volume));
}

/* Worlds that wait for effects and timers, deleted. */
static void delete_some(Volume *volume)
{
    for (uint32_t i = 0; i < DELETED; i++) {
        char name[16];
        SapIngress item = {.size = sizeof item, .name = "long", .id = "long"};
        name_world(i, name);
        EXPECT_RC(sap_enqueue_ingress(volume->universe, name, &item, NULL), SAP_OK);
    }
    await_empty(volume, tables_of_work, 2); /* inboxes and hints */
    EXPECT(count_rows(volume, WIT_DBI_TIMERS_DUE, UINT64_MAX) == DELETED, "no timers");
    for (uint32_t i = 0; i < DELETED; i++) {
        char name[16];
        name_world(i, name);
        EXPECT_RC(sap_world_delete(volume->universe, name, "a test"), SAP_OK);
    }
    await_empty(volume, tables_of_work, sizeof tables_of_work / sizeof *tables_of_work);
    pass_a_day(volume);
    await_empty(volume, tables_of_a_day, sizeof tables_of_a_day / sizeof *tables_of_a_day);
}

START_TEST(after_a_day_nothing_is_left_of_messages_but_the_journals)
{
    Volume *volume = (Volume *)calloc(1, sizeof *volume);
    uint64_t messages = choice_setting("SAP_VOLUME", MESSAGES);
    uint64_t grown[ROUNDS];
    EXPECT(volume != NULL, "no memory");
    volume->per_round = messages / ROUNDS;
    open_volume(volume);
    run_senders(volume, create_share);
    start_host(volume);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        grown[i] = run_round(volume, i);
    }
    /* Rows that have expired leave room to those that come. */
    EXPECT(grown[1] <= grown[0] + grown[0] / 10, "the file grew by %" PRIu64 ", then by %" PRIu64,
           grown[0], grown[1]);
    delete_some(volume);
    EXPECT_RC(host_stop(volume->host, UINT64_MAX), SAP_OK);
    expect_only_journals(volume, volume->per_round * ROUNDS);
    close_volume(volume);
    free(volume);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_volume");
    TCase *tc = tcase_create("universe_volume");
    uint64_t messages = choice_setting("SAP_VOLUME", MESSAGES);
    tcase_set_timeout(tc, (double)(TIMEOUT_S + messages / MESSAGES_PER_SECOND));
    tcase_add_test(tc, after_a_day_nothing_is_left_of_messages_but_the_journals);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
