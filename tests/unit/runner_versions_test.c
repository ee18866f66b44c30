/* What programs rely on that were compiled with other headers than the library: every public call
 * that takes a struct with a size knows programs that are newer than it is; the codes are macros; the
 * library says which version it is. */
#include "common/config.h"
#include "sapling/queue.h"
#include "sapling/sapling.h"
#include "support/files.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SAP_NOTFOUND
#error "the codes are not macros"
#endif
#if SAP_OK != 0 || SAP_FENCED != 12
#error "the macros of the codes are no numbers"
#endif
#if SAPLING_VERSION_NUMBER < 1000
#error "the version is no number"
#endif

#define TEXT_OF_VALUE(x) #x
#define TEXT_OF(macro)   TEXT_OF_VALUE(macro)

START_TEST(every_code_is_a_macro_for_its_number)
{
#define COMPARE(name, number, text) ck_assert_str_eq(TEXT_OF(name), #number);
    SAP_ERROR_TABLE(COMPARE)
#undef COMPARE
    ck_assert_str_eq(TEXT_OF(SAP_INVALID_DATA), TEXT_OF(SAP_INVALID));
}
END_TEST

START_TEST(the_library_says_which_version_it_is)
{
    char text[32];

    ck_assert_str_eq(sap_version(), SAPLING_VERSION);
    ck_assert_int_eq(sap_version_number(), SAPLING_VERSION_NUMBER);
    (void)snprintf(text, sizeof text, "%d.%d.%d", sap_version_number() / 1000000,
                   sap_version_number() / 1000 % 1000, sap_version_number() % 1000);
    ck_assert_str_eq(text, sap_version());
}
END_TEST

/* ---- Programs that are newer ---------------------------------------------------------------- */

/* Room for a struct and for what a later release may have put after it. */
typedef struct Newer {
    _Alignas(16) char bytes[1024];
    uint32_t size; /* of the struct as it is known here */
} Newer;

static void newer_make(Newer *newer, const void *options, uint32_t size)
{
    memset(newer, 0, sizeof *newer);
    memcpy(newer->bytes, options, size);
    newer->size = size;
}

/* Calls `call` with options of the size given, whose byte `beyond` after the known ones is set. */
typedef int (*options_call)(const void *options, void *ctx);

static void expect_sizes_checked(const char *what, Newer *newer, options_call call, void *ctx)
{
    const uint32_t good[] = {0, newer->size, newer->size + 8};
    const uint32_t bad[] = {1, 8, 5000, UINT32_MAX};

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        memcpy(newer->bytes, &good[i], sizeof good[i]);
        ck_assert_msg(call(newer->bytes, ctx) == SAP_OK, "%s with the size %u", what, good[i]);
    }
    newer->bytes[newer->size + 7] = 1;
    ck_assert_msg(call(newer->bytes, ctx) == SAP_ERROR, "%s with an unknown field", what);
    newer->bytes[newer->size + 7] = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memcpy(newer->bytes, &bad[i], sizeof bad[i]);
        ck_assert_msg(call(newer->bytes, ctx) == SAP_ERROR, "%s with the size %u", what, bad[i]);
    }
}

#define EXPECT_SIZES_CHECKED(options, call, ctx)                   \
    do {                                                           \
        Newer newer;                                               \
        newer_make(&newer, &(options), (uint32_t)sizeof(options)); \
        expect_sizes_checked(#call, &newer, call, ctx);            \
    } while (0)

static int arena_call(const void *options, void *ctx)
{
    SapMemArena *arena = NULL;
    int rc = sap_arena_init(&arena, (const SapArenaOptions *)options);

    (void)ctx;
    sap_arena_destroy(arena);
    return rc;
}

static int callbacks_call(const void *options, void *ctx)
{
    SapEnv *env = sap_env_create(NULL, 0);
    int rc = sap_env_register_subsystem(env, 0, (const SapSubsystemCallbacks *)options);

    (void)ctx;
    (void)sap_env_destroy(env);
    return rc;
}

static int open_call(const void *options, void *ctx)
{
    FileBed *bed = (FileBed *)ctx;
    SapEnv *db = NULL;
    int rc = sap_db_open_path(bed->path, (const SapOpenOptions *)options, &db);

    if (rc == SAP_OK) {
        ck_assert_int_eq(sap_db_close(db), SAP_OK);
    }
    return rc;
}

static int recover_call(const void *options, void *ctx)
{
    return sap_db_recover(((FileBed *)ctx)->path, NULL, (const SapRecoverOptions *)options, NULL);
}

static int queue_call(const void *options, void *ctx)
{
    SapQueue *queue = NULL;
    int rc = sap_queue_open(((FileBed *)ctx)->path, (const SapQueueOptions *)options, &queue);

    (void)sap_queue_close(queue);
    return rc;
}

static int push_call(const void *options, void *ctx)
{
    return sap_queue_push((SapQueue *)ctx, "x", 1, (const SapQueuePushOptions *)options, NULL);
}

static int push_many_call(const void *options, void *ctx)
{
    const void *payload = "x";
    uint32_t len = 1;

    return sap_queue_push_many((SapQueue *)ctx, &payload, &len, 1,
                               (const SapQueuePushOptions *)options);
}

static int runner_call(const void *options, void *ctx)
{
    SapRunnerV0 runner;
    int rc = sap_runner_v0_init(&runner, (const SapRunnerV0Config *)options);

    (void)ctx;
    ck_assert_int_eq(sap_runner_v0_shutdown(&runner), SAP_OK);
    return rc;
}

static int worker_call(const void *options, void *ctx)
{
    SapRunnerV0Worker worker;
    int rc = sap_runner_v0_worker_init(&worker, (const SapRunnerV0WorkerConfig *)options);

    (void)ctx;
    ck_assert_int_eq(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
    return rc;
}

#if SAPLING_THREADED
static int group_call(const void *options, void *ctx)
{
    SapRunnerV0Group *group = NULL;
    int rc = sap_runner_v0_group_start((const SapRunnerV0GroupConfig *)options, &group);

    (void)ctx;
    ck_assert_int_eq(sap_runner_v0_group_stop(group), SAP_OK);
    return rc;
}
#endif

static int claim_call(const void *options, void *ctx)
{
    SapRunnerV0Claim claim;
    uint32_t count = 0;
    Txn *txn = txn_begin((DB *)ctx, NULL, TXN_WAIT);
    int rc = sap_runner_mailbox_v0_claim(txn, (const SapRunnerV0ClaimOptions *)options, &claim, 1,
                                         &count, NULL);

    txn_abort(txn);
    return rc;
}

static int do_nothing(SapRunnerTxCtxV0 *block, void *ctx)
{
    (void)block;
    (void)ctx;
    return SAP_OK;
}

static int attempt_call(const void *options, void *ctx)
{
    (void)ctx;
    return sap_runner_attempt_v0_run((const SapRunnerAttemptV0 *)options, NULL);
}

static int handle_nothing(SapRunnerV0 *runner, const SapRunnerV0Message *msg, void *ctx)
{
    (void)runner;
    (void)msg;
    (void)ctx;
    return SAP_OK;
}

START_TEST(the_engine_serves_programs_with_larger_options)
{
    FileBed bed;
    SapArenaOptions arena = {.type = SAP_ARENA_BACKING_MALLOC, .page_size = 4096};
    SapSubsystemCallbacks callbacks = {0};
    SapOpenOptions open = {.flags = SAP_OPEN_CREATE};
    SapRecoverOptions recover = {0};

    file_bed_start(&bed);
    EXPECT_SIZES_CHECKED(arena, arena_call, NULL);
    EXPECT_SIZES_CHECKED(callbacks, callbacks_call, NULL);
    EXPECT_SIZES_CHECKED(open, open_call, &bed);
    EXPECT_SIZES_CHECKED(recover, recover_call, &bed);
    recover.reserved = 1;
    ck_assert_int_eq(recover_call(&recover, &bed), SAP_ERROR);
    file_bed_end(&bed);
}
END_TEST

START_TEST(the_queue_serves_programs_with_larger_options)
{
    FileBed bed;
    SapQueue *queue = NULL;
    SapQueueOptions options = {.name = "q"};
    SapQueuePushOptions push = {.high_priority = 1};

    file_bed_start(&bed);
    EXPECT_SIZES_CHECKED(options, queue_call, &bed);
    ck_assert_int_eq(sap_queue_open(bed.path, &options, &queue), SAP_OK);
    EXPECT_SIZES_CHECKED(push, push_call, queue);
    EXPECT_SIZES_CHECKED(push, push_many_call, queue);
    ck_assert_int_eq(sap_queue_close(queue), SAP_OK);
    file_bed_end(&bed);
}
END_TEST

START_TEST(the_runner_serves_programs_with_larger_options)
{
    DB *db = db_open(NULL, 0, NULL, NULL);
    SapRunnerV0Config runner = {.db = db, .worker_id = 1, .bootstrap_schema_if_missing = 1};
    SapRunnerV0WorkerConfig worker = {.handler = {.plain = handle_nothing}, .runner = runner};
    SapRunnerV0GroupConfig group = {.worker = worker};
    SapRunnerV0ClaimOptions claim = {.worker_id = 1, .owner = 1};
    SapRunnerAttemptV0 attempt = {.db = db, .block = do_nothing};

    EXPECT_SIZES_CHECKED(runner, runner_call, NULL);
    /* The sizes within are not looked at. */
    worker.runner.size = 1;
    group.worker.size = 1;
    group.worker.runner.size = 1;
    EXPECT_SIZES_CHECKED(worker, worker_call, NULL);
#if SAPLING_THREADED
    EXPECT_SIZES_CHECKED(group, group_call, NULL);
#else
    (void)group;
#endif
    EXPECT_SIZES_CHECKED(claim, claim_call, db);
    claim.reserved = 1;
    ck_assert_int_eq(claim_call(&claim, db), SAP_ERROR);
    EXPECT_SIZES_CHECKED(attempt, attempt_call, NULL);
    ck_assert_int_eq(db_close(db), SAP_OK);
}
END_TEST

START_TEST(reserved_members_of_a_policy_and_of_a_handler_must_be_zero)
{
    DB *db = db_open(NULL, 0, NULL, NULL);
    SapRunnerV0 runner;
    SapRunnerV0Policy policy = {0};
    SapRunnerV0Config config = {.db = db, .bootstrap_schema_if_missing = 1};
    SapRunnerV0Handler handler = {.plain = handle_nothing};

    ck_assert_int_eq(sap_runner_v0_init(&runner, &config), SAP_OK);
    ck_assert_int_eq(sap_runner_v0_set_policy(&runner, &policy), SAP_OK);
    ck_assert_int_eq(sap_runner_v0_poll_inbox(&runner, &handler, 1, NULL), SAP_BUSY);
    policy.reserved[sizeof policy.reserved / sizeof *policy.reserved - 1] = 1;
    ck_assert_int_eq(sap_runner_v0_set_policy(&runner, &policy), SAP_ERROR);
    handler.reserved[0] = &policy;
    ck_assert_int_eq(sap_runner_v0_poll_inbox(&runner, &handler, 1, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_runner_v0_shutdown(&runner), SAP_OK);
    ck_assert_int_eq(db_close(db), SAP_OK);
}
END_TEST

/* ---- Arrays --------------------------------------------------------------------------------- */

static int encode_nothing(void *ctx, void *base, void *state, sap_write_fn write, void *write_ctx)
{
    (void)ctx;
    (void)base;
    (void)state;
    (void)write;
    (void)write_ctx;
    return SAP_OK;
}

static int apply_nothing(void *ctx, const void *bytes, uint32_t len, void **state)
{
    (void)ctx;
    (void)bytes;
    (void)len;
    (void)state;
    return SAP_OK;
}

static int save_nothing(void *ctx, void *state, sap_write_fn write, void *write_ctx)
{
    (void)ctx;
    (void)state;
    (void)write;
    (void)write_ctx;
    return SAP_OK;
}

START_TEST(elements_of_an_array_may_be_larger_than_the_library_knows)
{
    typedef struct Larger {
        SapSubsystem known;
        uint64_t later;
    } Larger;
    FileBed bed;
    Larger list[2] = {0};
    void *state = NULL;
    DB *db = NULL;

    file_bed_start(&bed);
    for (uint32_t i = 0; i < 2; i++) {
        list[i].known = (SapSubsystem){
            .size = sizeof(Larger),
            .id = 3 + i,
            .callbacks = {.encode = encode_nothing, .apply = apply_nothing, .save = save_nothing}};
    }
    SapOpenOptions options = {.size = sizeof options,
                              .flags = SAP_OPEN_CREATE,
                              .subsystems = &list[0].known,
                              .subsystem_count = 2};
    ck_assert_int_eq(db_open_path(bed.path, &options, &db), SAP_OK);
    ck_assert_int_eq(sap_env_subsystem_state(db, 3, &state), SAP_OK);
    ck_assert_int_eq(sap_env_subsystem_state(db, 4, &state), SAP_OK);
    ck_assert_int_ne(sap_env_subsystem_state(db, 5, &state), SAP_OK);
    ck_assert_int_eq(db_close(db), SAP_OK);

    list[1].later = 1;
    ck_assert_int_eq(db_open_path(bed.path, &options, &db), SAP_ERROR);
    list[1].later = 0;
    list[1].known.size = sizeof(SapSubsystem);
    ck_assert_int_eq(db_open_path(bed.path, &options, &db), SAP_ERROR);
    file_bed_end(&bed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner/versions");
    TCase *tcase = tcase_create("versions");

    tcase_add_test(tcase, every_code_is_a_macro_for_its_number);
    tcase_add_test(tcase, the_library_says_which_version_it_is);
    tcase_add_test(tcase, the_engine_serves_programs_with_larger_options);
    tcase_add_test(tcase, the_queue_serves_programs_with_larger_options);
    tcase_add_test(tcase, the_runner_serves_programs_with_larger_options);
    tcase_add_test(tcase, reserved_members_of_a_policy_and_of_a_handler_must_be_zero);
    tcase_add_test(tcase, elements_of_an_array_may_be_larger_than_the_library_knows);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
