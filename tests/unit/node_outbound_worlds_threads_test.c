/* Worlds that call the outside by HTTP: from the step that asks to the receipt. */
#include "node_outbound_bed.h"

enum { TIMEOUT_S = 240, LINE = 2048 };

#define SECOND_NS UINT64_C(1000000000)
#define SECRET    "hidden-value-1"

/* ---- The world ------------------------------------------------------------------------------- */

/* Asks for the effect that a message names, with the message as params, and notes what came
 * back. */
static int on_event(SapWorld *world, const SapEvent *event)
{
    char line[LINE];
    SapEffect effect = {.size = sizeof effect,
                        .kind = event->name,
                        .ref = "call",
                        .params = event->payload,
                        .params_len = event->payload_len,
                        .retry = {.first_ns = SECOND_NS / 20, .timeout_ns = 2 * SECOND_NS}};
    if (event->kind == SAP_EVENT_RECEIPT) {
        int len = snprintf(line, sizeof line, "%d %s %u %.*s", (int)event->status, event->code,
                           event->attempts, (int)event->payload_len, (const char *)event->payload);
        return sap_world_put(world, "said", 4, SAP_ENCODING_RAW, line, (size_t)len);
    }
    return event->kind == SAP_EVENT_MESSAGE ? sap_world_effect(world, &effect) : SAP_OK;
}

SAP_WORLD_MODULE("calls", on_event);

/* ---- The server ------------------------------------------------------------------------------ */

/* "/flaky" fails twice, and asks to wait for a second; "/hang" does not answer. Both note the
 * key. */
static pthread_mutex_t keys_lock = PTHREAD_MUTEX_INITIALIZER;
static char keys[8][128];
static uint32_t key_count;

static uint32_t note_key(const HttpRequest *request)
{
    pthread_mutex_lock(&keys_lock);
    EXPECT(key_count < sizeof keys / sizeof keys[0] &&
               http_header(request, "Idempotency-Key", keys[key_count], sizeof keys[0]),
           "no key");
    uint32_t count = ++key_count;
    pthread_mutex_unlock(&keys_lock);
    return count;
}

static bool serve_path(HttpServer *server, int fd, const HttpRequest *request, void *ctx)
{
    char secret[128] = "";
    uint32_t count = note_key(request);
    (void)ctx;
    if (strcmp(request->path, "/hang") == 0) {
        (void)http_server_pause(server, 120000);
        return false;
    }
    if (strcmp(request->path, "/flaky") == 0 && count < 3) {
        return http_answer(fd, 503, "Retry-After: 1\r\n", "");
    }
    if (strcmp(request->path, "/poor") == 0) {
        return http_answer(fd, 402, "Content-Type: application/json\r\n", "{\"why\":\"empty\"}");
    }
    (void)http_header(request, "X-Secret", secret, sizeof secret);
    return http_answer(fd, 200, "Content-Type: text/plain\r\n",
                       strcmp(secret, SECRET) == 0 ? "secret seen" : "no secret");
}

/* ---- Running --------------------------------------------------------------------------------- */

typedef struct Running {
    OutboundBed bed;
    SapUniverse *universe;
    SapWorker *worker;
} Running;

static void start_running(Running *running)
{
    SapWorkerOptions options = {.size = sizeof options, .name = "worker"};
    SapEffectAdapter adapter;
    bed_start(&running->bed, serve_path);
    bed_write_secrets(&running->bed,
                      "{\"s\":{\"value\":\"" SECRET "\",\"hosts\":[\"http://127.0.0.1\"]}}");
    bed_open(&running->bed);
    EXPECT_RC(sap_universe_open("memory:", NULL, &running->universe), SAP_OK);
    EXPECT_RC(sap_worker_open(running->universe, &options, &running->worker), SAP_OK);
    for (int webhook = 0; webhook < 2; webhook++) {
        outbound_adapter(running->bed.outbound, webhook == 1, &adapter);
        EXPECT_RC(sap_worker_serve_adapter(running->worker, &adapter), SAP_OK);
    }
    EXPECT_RC(sap_world_create(running->universe, "w", "calls", SAP_ENCODING_JSON, NULL, 0),
              SAP_OK);
}

static void end_running(Running *running)
{
    EXPECT_RC(sap_worker_close(running->worker), SAP_OK);
    EXPECT_RC(sap_universe_close(running->universe), SAP_OK);
    bed_end(&running->bed);
}

static int copy_row(void *ctx, const void *key, size_t key_len, SapEncoding encoding,
                    const void *val, size_t val_len)
{
    (void)key;
    (void)key_len;
    (void)encoding;
    (void)snprintf((char *)ctx, LINE, "%.*s", (int)val_len, (const char *)val);
    return SAP_OK;
}

/* Runs everything until the world has its receipt. */
static void run_until_said(const Running *running, char said[LINE])
{
    static const SapRole roles[] = {SAP_ROLE_WORLDS, SAP_ROLE_EFFECTS};
    SapStateQuery query = {.size = sizeof query, .prefix = "said", .prefix_len = 4};
    said[0] = '\0';
    while (said[0] == '\0') {
        bool busy = false;
        for (size_t i = 0; i < 2; i++) {
            bool some = false;
            EXPECT_RC(sap_worker_step_role(running->worker, roles[i], &some), SAP_OK);
            busy = busy || some;
        }
        EXPECT_RC(sap_worker_renew(running->worker), SAP_OK);
        EXPECT_RC(sap_world_state_read(running->universe, "w", &query, copy_row, said, NULL),
                  SAP_OK);
        if (!busy) {
            (void)usleep(2000);
        }
    }
}

static void expect_said(Running *running, const char *kind, const char *path, const char *more,
                        const char *want)
{
    char room[BED_TEXT];
    char said[LINE];
    SapIngress item = {.size = sizeof item, .name = kind};
    item.payload = bed_params(&running->bed, path, more, room);
    item.payload_len = strlen(room);
    EXPECT_RC(sap_enqueue_ingress(running->universe, "w", &item, NULL), SAP_OK);
    run_until_said(running, said);
    EXPECT(strncmp(said, want, strlen(want)) == 0, "the receipt is '%s', not '%s'", said, want);
}

static int look_for_secret(void *ctx, const SapJournalEntry *entry)
{
    for (uint32_t i = 0; i < entry->intent_count; i++) {
        const SapIntent *intent = &entry->intents[i];
        EXPECT(memmem(intent->params, intent->params_len, SECRET, strlen(SECRET)) == NULL,
               "a secret");
        *(uint32_t *)ctx +=
            memmem(intent->params, intent->params_len, "{\"secret\":\"s\"}", 14) != NULL;
    }
    EXPECT(memmem(entry->item.payload, entry->item.payload_len, SECRET, strlen(SECRET)) == NULL,
           "a secret");
    return SAP_OK;
}

START_TEST(a_world_gets_the_answer_and_its_journal_has_the_name_of_the_secret_alone)
{
    Running running;
    uint32_t named = 0;
    start_running(&running);
    expect_said(
        &running, "http.request", "/", ",\"headers\":{\"X-Secret\":{\"secret\":\"s\"}}",
        "1  1 {\"headers\":{\"content-length\":\"11\",\"content-type\":\"text/plain\"},\"status\":200,"
        "\"text\":\"secret seen\"}");
    EXPECT_RC(sap_journal_read(running.universe, "w", 0, 0, look_for_secret, &named, NULL), SAP_OK);
    ck_assert_uint_eq(named, 1);
    end_running(&running);
}
END_TEST

START_TEST(a_call_that_failed_is_made_again_with_the_same_key_when_the_server_says)
{
    Running running;
    start_running(&running);
    uint64_t before_ns = clock_mono_ns(NULL);
    expect_said(&running, "webhook", "/flaky", ",\"body\":1",
                "1  3 {\"status\":200,\"text\":\"no secret\"}");
    ck_assert_uint_ge(clock_mono_ns(NULL) - before_ns, 2 * SECOND_NS); /* twice Retry-After */
    ck_assert_uint_eq(key_count, 3);
    ck_assert_uint_eq(strlen(keys[0]), 64);
    ck_assert_str_eq(keys[0], keys[1]);
    ck_assert_str_eq(keys[0], keys[2]);
    end_running(&running);
}
END_TEST

START_TEST(what_the_server_refuses_for_good_is_an_error_with_its_body)
{
    Running running;
    start_running(&running);
    expect_said(&running, "http.request", "/poor", "",
                "2 http_402 1 {\"body\":{\"why\":\"empty\"},\"headers\":{");
    ck_assert_uint_eq(key_count, 1);
    end_running(&running);
}
END_TEST

START_TEST(params_that_are_wrong_are_an_error_after_one_attempt)
{
    Running running;
    start_running(&running);
    expect_said(&running, "webhook", "/", ",\"method\":\"GET\"",
                "2 bad_params 1 {\"message\":\"method: there is no such field; webhook has");
    ck_assert_uint_eq(key_count, 0);
    end_running(&running);
}
END_TEST

START_TEST(a_worker_that_is_closed_ends_its_calls)
{
    Running running;
    char room[BED_TEXT];
    bool busy = true;
    SapIngress item = {.size = sizeof item, .name = "http.request"};
    start_running(&running);
    item.payload = bed_params(&running.bed, "/hang", "", room);
    item.payload_len = strlen(room);
    EXPECT_RC(sap_enqueue_ingress(running.universe, "w", &item, NULL), SAP_OK);
    while (http_server_requests(running.bed.server) == 0) {
        EXPECT_RC(sap_worker_step_role(running.worker, SAP_ROLE_WORLDS, &busy), SAP_OK);
        EXPECT_RC(sap_worker_step_role(running.worker, SAP_ROLE_EFFECTS, &busy), SAP_OK);
        (void)usleep(1000);
    }
    end_running(&running);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("node_outbound_worlds");
    TCase *test_case = tcase_create("worlds");
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case,
                   a_world_gets_the_answer_and_its_journal_has_the_name_of_the_secret_alone);
    tcase_add_test(test_case,
                   a_call_that_failed_is_made_again_with_the_same_key_when_the_server_says);
    tcase_add_test(test_case, what_the_server_refuses_for_good_is_an_error_with_its_body);
    tcase_add_test(test_case, params_that_are_wrong_are_an_error_after_one_attempt);
    tcase_add_test(test_case, a_worker_that_is_closed_ends_its_calls);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
