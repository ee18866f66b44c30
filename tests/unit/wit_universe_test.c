/* The rows of the universe. All bytes here are written by hand: they are what other versions rely on. */
#include "common/mem.h"
#include "samples/golden.h"
#include "support/suite.h"
#include "wit_universe.h"
#include "wit_universe_samples.h"

#include <inttypes.h>
#include <stdio.h>

enum { TIMEOUT_S = 120 };

#define NONCE_BYTES 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16

static uint8_t nonce[] = {NONCE_BYTES};
static uint8_t world[] = "w1";
static uint8_t worker[] = "me";

START_TEST(a_lease_has_these_bytes)
{
    static const uint8_t key_bytes[] = {0, 0, 0, 7, 'w', '1', 0, 0};
    static const uint8_t held_bytes[] = {
        1,                                   /* version */
        2,  0, 0, 0, 'm',         'e',       /* holder */
        16, 0, 0, 0, NONCE_BYTES,            /* nonce */
        9,  0, 0, 0, 0,           0,   0, 0, /* epoch */
        1,                                   /* unclean */
    };
    static const uint8_t free_bytes[] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0};
    WitUniverseDbi16LeaseKey key = {7, {world, 2}};
    WitUniverseDbi16LeaseValue held = {{worker, 2}, {nonce, 16}, 9, true};
    WitUniverseDbi16LeaseValue free_lease = {{NULL, 0}, {NULL, 0}, 9, false};

    GOLDEN(wit_universe_dbi16_lease_key, WitUniverseDbi16LeaseKey, key, key_bytes);
    GOLDEN(wit_universe_dbi16_lease_value, WitUniverseDbi16LeaseValue, held, held_bytes);
    GOLDEN(wit_universe_dbi16_lease_value, WitUniverseDbi16LeaseValue, free_lease, free_bytes);
    held.nonce.len = 0;
    EXPECT_RC(wit_universe_dbi16_lease_value_validate(&held, NULL), SAP_INVALID);
}
END_TEST

START_TEST(sessions_and_what_they_hold_have_these_bytes)
{
    static const uint8_t key_bytes[] = {0, 0, 0, 7, 'm', 'e', 0, 0};
    static const uint8_t value_bytes[] = {
        1, 16, 0, 0, 0, NONCE_BYTES, 8, 7, 6,   5,   4, 3, 2, 1,             /* expires */
        1, 0,  0, 0, 2, 0,           0, 0, 'w', '1', 3, 0, 0, 0, 0, 0, 0, 0, /* modules */
    };
    static const uint8_t held_bytes[] = {0, 0, 0, 7, NONCE_BYTES, 0, 0, 'w', '1', 0, 0};
    WitUniverseDbi17SessionsKey key = {7, {worker, 2}};
    WitUniverseModuleRef module = {{world, 2}, 3};
    WitUniverseDbi17SessionsValue value = {{nonce, 16}, 0x0102030405060708, {&module, 1}};
    WitUniverseDbi18HeldKey held = {7, {nonce, 16}, {world, 2}};

    GOLDEN(wit_universe_dbi17_sessions_key, WitUniverseDbi17SessionsKey, key, key_bytes);
    GOLDEN(wit_universe_dbi17_sessions_value, WitUniverseDbi17SessionsValue, value, value_bytes);
    GOLDEN(wit_universe_dbi18_held_key, WitUniverseDbi18HeldKey, held, held_bytes);
}
END_TEST

START_TEST(entries_of_a_journal_sort_by_height_and_have_these_bytes)
{
    static uint8_t content[] = "hi";
    static const uint8_t key_bytes[] = {0, 0, 0, 7, 'w', '1', 0, 0, 0, 0,
                                        0, 0, 0, 0, 1,   2,   0, 0, 0, 3};
    static const uint8_t value_bytes[] = {1, 5, 0, 0, 0, 0, 0, 0,   0,  4,
                                          0, 0, 0, 2, 0, 0, 0, 'h', 'i'};
    WitUniverseDbi20JournalKey key = {7, {world, 2}, 0x102, 3};
    WitUniverseDbi20JournalValue value = {5, 4, {content, 2}};

    GOLDEN(wit_universe_dbi20_journal_key, WitUniverseDbi20JournalKey, key, key_bytes);
    GOLDEN(wit_universe_dbi20_journal_value, WitUniverseDbi20JournalValue, value, value_bytes);
}
END_TEST

#define SEQ_BYTES NONCE_BYTES, NONCE_BYTES
#define HASH_BYTES \
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7

static uint8_t seq[] = {SEQ_BYTES};
static uint8_t hash[] = {HASH_BYTES};
static uint8_t kind[] = "k";
static uint8_t ref[] = "r1";
static uint8_t code[] = "c";

/* An effect after one attempt, and its bytes. */
static WitUniverseEffectAttempt attempt = {3, 4, WIT_UNIVERSE_ATTEMPT_OUTCOME_TIMEOUT, {code, 1}};
static const WitUniverseEffect effect = {
    .world = {world, 2},
    .height = 5,
    .intent_hash = {hash, 32},
    .kind = {kind, 1},
    .encoding = WIT_UNIVERSE_ENCODING_RAW,
    .params = {ref, 2},
    .origin_name = {ref, 2},
    .policy_context_hash = {seq, 32},
    .enqueued_at_ns = 6,
    .retry = {2, 9, 200, 10, 11},
    .attempt = 1,
    .attempts = {&attempt, 1},
    .correlation_id = {code, 1},
    .trace_parent = {kind, 1},
};

#define EFFECT_BYTES                                                                           \
    2, 0, 0, 0, 'w', '1',                                 /* world */                          \
        5, 0, 0, 0, 0, 0, 0, 0,                           /* height */                         \
        32, 0, 0, 0, HASH_BYTES,                          /* intent-hash */                    \
        1, 0, 0, 0, 'k',                                  /* kind */                           \
        2,                                                /* encoding */                       \
        2, 0, 0, 0, 'r', '1',                             /* params */                         \
        0, 0, 0, 0,                                       /* blob */                           \
        2, 0, 0, 0, 'r', '1',                             /* origin-name */                    \
        32, 0, 0, 0, SEQ_BYTES,                           /* policy-context-hash */            \
        6, 0, 0, 0, 0, 0, 0, 0,                           /* enqueued-at-ns */                 \
        2, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 200, 0, 0, 0, /* retry: attempts, first, factor */ \
        10, 0, 0, 0, 0, 0, 0, 0, 11, 0, 0, 0, 0, 0, 0, 0, /* cap, timeout */                   \
        1, 0, 0, 0,                                       /* attempt */                        \
        1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0,               /* attempts: begun */                \
        4, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 'c',       /* ended, outcome, code */           \
        1, 0, 0, 0, 'c', 1, 0, 0, 0, 'k'                  /* correlation-id, trace-parent */

START_TEST(effects_that_wait_sort_by_kind_and_time_and_have_these_bytes)
{
    static const uint8_t key_bytes[] = {0, 0, 0, 7, 0, 'k', 0,         0, 0, 0,
                                        0, 0, 0, 0, 1, 2,   SEQ_BYTES, 0, 0};
    static const uint8_t value_bytes[] = {1, EFFECT_BYTES};
    WitUniverseDbi34EffectsPendingKey key = {7, 0, {kind, 1}, 0x102, {seq, 32}};
    WitUniverseDbi34EffectsPendingValue value = {effect};

    GOLDEN(wit_universe_dbi34_effects_pending_key, WitUniverseDbi34EffectsPendingKey, key,
           key_bytes);
    GOLDEN(wit_universe_dbi34_effects_pending_value, WitUniverseDbi34EffectsPendingValue, value,
           value_bytes);
    value.effect.retry.attempts = 101;
    EXPECT_RC(wit_universe_dbi34_effects_pending_value_validate(&value, NULL), SAP_INVALID);
}
END_TEST

START_TEST(claimed_effects_have_these_bytes)
{
    static const uint8_t key_bytes[] = {0, 0, 0, 7, 0, SEQ_BYTES, 0, 0};
    static const uint8_t value_bytes[] = {
        1,           EFFECT_BYTES, /* effect */
        16,          0,
        0,           0,
        NONCE_BYTES, /* token */
        1,           0,
        0,           0,
        0,           0,
        0,           0, /* claimed-ns */
        2,           0,
        0,           0,
        0,           0,
        0,           0, /* deadline-ns */
        1,           0,
        0,           0,
        2,           0,
        0,           0,
        0, /* policy: attempts, first */
        0,           0,
        0,           3,
        0,           0,
        0, /* factor */
        4,           0,
        0,           0,
        0,           0,
        0,           0, /* cap-ns */
        5,           0,
        0,           0,
        0,           0,
        0,           0, /* timeout-ns */
        1,              /* at-most-once */
        2,           0,
        0,           0,
        'm',         'e', /* worker */
        16,          0,
        0,           0,
        NONCE_BYTES, /* nonce */
    };
    WitUniverseDbi35EffectsInflightKey key = {7, 0, {seq, 32}};
    WitUniverseDbi35EffectsInflightValue value = {
        effect, {nonce, 16}, 1, 2, {1, 2, 3, 4, 5}, true, {worker, 2}, {nonce, 16}};

    GOLDEN(wit_universe_dbi35_effects_inflight_key, WitUniverseDbi35EffectsInflightKey, key,
           key_bytes);
    GOLDEN(wit_universe_dbi35_effects_inflight_value, WitUniverseDbi35EffectsInflightValue, value,
           value_bytes);
}
END_TEST

START_TEST(rows_that_say_where_an_intent_is_have_these_bytes)
{
    static const uint8_t key_bytes[] = {0, 0, 0, 7, HASH_BYTES, 0, 0};
    static const uint8_t value_bytes[] = {
        1,  3,                 /* status */
        2,  0, 0, 0, 'w', '1', /* world */
        35, 0, 0, 0,           /* table */
        2,  0, 0, 0, 'r', '1', /* key */
    };
    static const uint8_t timer_bytes[] = {1, 2, 0, 0, 0, 'r', '1'};
    WitUniverseDbi36EffectsDedupeKey key = {7, {hash, 32}};
    WitUniverseDbi36EffectsDedupeValue value = {
        WIT_UNIVERSE_DISPATCH_STATUS_CANCELLED, {world, 2}, 35, {ref, 2}};
    WitUniverseDbi38TimersDedupeKey timer_key = {7, {hash, 32}};
    WitUniverseDbi38TimersDedupeValue timer = {{ref, 2}};

    GOLDEN(wit_universe_dbi36_effects_dedupe_key, WitUniverseDbi36EffectsDedupeKey, key, key_bytes);
    GOLDEN(wit_universe_dbi36_effects_dedupe_value, WitUniverseDbi36EffectsDedupeValue, value,
           value_bytes);
    GOLDEN(wit_universe_dbi38_timers_dedupe_key, WitUniverseDbi38TimersDedupeKey, timer_key,
           key_bytes);
    GOLDEN(wit_universe_dbi38_timers_dedupe_value, WitUniverseDbi38TimersDedupeValue, timer,
           timer_bytes);
}
END_TEST

START_TEST(timers_sort_by_clock_and_time_and_have_these_bytes)
{
    static const uint8_t key_bytes[] = {0, 0, 0, 7, 0, 1, 0, 0, 0, 0, 0, 0, 1, 2, HASH_BYTES, 0, 0};
    static const uint8_t value_bytes[] = {
        1, 2, 0, 0, 0,   'w', '1',    /* world */
        5, 0, 0, 0, 0,   0,   0,   0, /* height */
        2, 0, 0, 0, 'r', '1',         /* ref */
        2,                            /* encoding */
        1, 0, 0, 0, 'k',              /* payload */
        1,                            /* use */
        1, 0, 0, 0, 'c',              /* correlation-id */
        0, 0, 0, 0,                   /* trace-parent */
    };
    WitUniverseDbi37TimersDueKey key = {7, 0, WIT_UNIVERSE_TIMER_CLOCK_DUE, 0x102, {hash, 32}};
    WitUniverseDbi37TimersDueValue value = {{world, 2}, 5,
                                            {ref, 2},   WIT_UNIVERSE_ENCODING_RAW,
                                            {kind, 1},  WIT_UNIVERSE_TIMER_USE_ASK,
                                            {code, 1},  {NULL, 0}};

    GOLDEN(wit_universe_dbi37_timers_due_key, WitUniverseDbi37TimersDueKey, key, key_bytes);
    GOLDEN(wit_universe_dbi37_timers_due_value, WitUniverseDbi37TimersDueValue, value, value_bytes);
}
END_TEST

/* sys/FabricSendParams@1 and sys/FabricSendReceipt@1. */
START_TEST(messages_between_worlds_have_these_bytes)
{
    static const uint8_t params_bytes[] = {
        1,  1, 8, 0, 0,          0,                                      /* dest-universe */
        2,  0, 0, 0, 'w',        '1',                                    /* dest-world */
        1,                                                               /* mode: inbox */
        0,  0, 0, 0,                                                     /* schema */
        1,  0, 0, 0, 'k',                                                /* inbox */
        2,  2, 0, 0, 0,          'r', '1',                               /* encoding, payload */
        1,  0, 0, 0, 1,          0,   0,   0, 'k', 2, 0, 0, 0, 'r', '1', /* headers */
        1,  0, 0, 0, 'c',                                                /* correlation-id */
        2,  0, 0, 0, 'r',        '1',                                    /* message-id */
        1,  0, 0, 0, 'k',                                                /* create */
        1,                                                               /* ask */
        32, 0, 0, 0, HASH_BYTES,                                         /* answers */
        2,  0, 0, 0, 'r',        '1',                                    /* ref */
        2,  1, 0, 0, 0,          'c',                                    /* status, code */
    };
    static const uint8_t receipt_bytes[] = {
        1,  1,                        /* status: already-enqueued */
        32, 0, 0, 0, HASH_BYTES,      /* message-id */
        2,  0, 0, 0, 'w',        '1', /* dest-world */
        32, 0, 0, 0, SEQ_BYTES,       /* enqueued-seq */
    };
    WitUniverseHeader header = {{kind, 1}, {ref, 2}};
    WitUniverseFabricSendParams params = {
        .dest_universe = {true, 8},
        .dest_world = {world, 2},
        .mode = WIT_UNIVERSE_FABRIC_MODE_INBOX,
        .inbox = {kind, 1},
        .encoding = WIT_UNIVERSE_ENCODING_RAW,
        .payload = {ref, 2},
        .headers = {&header, 1},
        .correlation_id = {code, 1},
        .message_id = {ref, 2},
        .create = {kind, 1},
        .ask = true,
        .answers = {hash, 32},
        .ref = {ref, 2},
        .status = WIT_UNIVERSE_RECEIPT_STATUS_ERROR,
        .code = {code, 1},
    };
    WitUniverseFabricSendReceipt receipt = {
        WIT_UNIVERSE_FABRIC_STATUS_ALREADY_ENQUEUED, {hash, 32}, {world, 2}, {seq, 32}};

    GOLDEN(wit_universe_fabric_send_params, WitUniverseFabricSendParams, params, params_bytes);
    GOLDEN(wit_universe_fabric_send_receipt, WitUniverseFabricSendReceipt, receipt, receipt_bytes);
    params.dest_world.len = 0;
    EXPECT_RC(wit_universe_fabric_send_params_validate(&params, NULL), SAP_INVALID);
}
END_TEST

START_TEST(promises_and_ids_of_messages_have_these_bytes)
{
    static const uint8_t promise_key[] = {0, 0, 0, 7, HASH_BYTES, 0, 0};
    static const uint8_t promise_bytes[] = {
        1,  2, 0, 0, 0,          'w', '1',       /* world */
        32, 0, 0, 0, HASH_BYTES,                 /* intent-hash */
        6,  0, 0, 0, 0,          0,   0,   0,    /* deadline-ns */
        5,  0, 0, 0, 0,          0,   0,   0,    /* height */
        2,  0, 0, 0, 'r',        '1',            /* ref */
        1,  0, 0, 0, 'c',        0,   0,   0, 0, /* correlation-id, trace-parent */
    };
    static const uint8_t id_key[] = {0, 0, 0, 7, 'w', '1', 0, 0, HASH_BYTES, 0, 0};
    static const uint8_t id_bytes[] = {1, 32, 0, 0, 0, SEQ_BYTES, 6, 0, 0, 0, 0, 0, 0, 0};
    WitUniverseDbi42PromisesKey promise = {7, {hash, 32}};
    WitUniverseDbi42PromisesValue promise_value = {{world, 2}, {hash, 32}, 6,        5,
                                                   {ref, 2},   {code, 1},  {NULL, 0}};
    WitUniverseDbi29FabricDedupeKey id = {7, {world, 2}, {hash, 32}};
    WitUniverseDbi29FabricDedupeValue id_value = {{seq, 32}, 6};

    GOLDEN(wit_universe_dbi42_promises_key, WitUniverseDbi42PromisesKey, promise, promise_key);
    GOLDEN(wit_universe_dbi42_promises_value, WitUniverseDbi42PromisesValue, promise_value,
           promise_bytes);
    GOLDEN(wit_universe_dbi29_fabric_dedupe_key, WitUniverseDbi29FabricDedupeKey, id, id_key);
    GOLDEN(wit_universe_dbi29_fabric_dedupe_value, WitUniverseDbi29FabricDedupeValue, id_value,
           id_bytes);
}
END_TEST

START_TEST(nodes_that_serve_a_kind_have_these_bytes)
{
    static const uint8_t key_bytes[] = {0, 0, 0, 7, 'k', 0, 0, 'm', 'e', 0, 0};
    static const uint8_t value_bytes[] = {
        1, 16, 0, 0, 0, NONCE_BYTES,                   /* nonce */
        1,                                             /* at-most-once */
        1, 0,  0, 0, 2, 0,           0, 0, 0, 0, 0, 0, /* attempts, first-ns */
        3, 0,  0, 0,                                   /* factor */
        4, 0,  0, 0, 0, 0,           0, 0,             /* cap-ns */
        5, 0,  0, 0, 0, 0,           0, 0,             /* timeout-ns */
    };
    WitUniverseDbi45KindsKey key = {7, {kind, 1}, {worker, 2}};
    WitUniverseDbi45KindsValue value = {{nonce, 16}, true, {1, 2, 3, 4, 5}};

    GOLDEN(wit_universe_dbi45_kinds_key, WitUniverseDbi45KindsKey, key, key_bytes);
    GOLDEN(wit_universe_dbi45_kinds_value, WitUniverseDbi45KindsValue, value, value_bytes);
}
END_TEST

START_TEST(random_rows_of_the_universe_come_back_and_edges_are_as_computed)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(50);
    unsigned valid = 0;
    size_t edges = 0;

    for (size_t i = 0; i < wit_universe_sample_count; i++) {
        const SampleType *type = &wit_universe_samples[i];
        Choice choice;
        for (uint64_t seed = first; seed < first + seeds; seed++) {
            expect_context("seed %" PRIu64 ", type %s", seed, type->name);
            choice_from_seed(&choice, seed);
            valid += sample_round_trip(type, &choice);
        }
        choice_from_seed(&choice, first);
        edges += sample_edges(type, &choice);
    }
    printf("%u valid values of %zu types, %zu edges, seeds from %" PRIu64 "\n", valid,
           wit_universe_sample_count, edges, first);
    ck_assert_uint_gt(valid, 0);
    ck_assert_uint_gt(edges, 3);
    ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wit_universe");
    TCase *test_case = tcase_create("rows");

    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, a_lease_has_these_bytes);
    tcase_add_test(test_case, sessions_and_what_they_hold_have_these_bytes);
    tcase_add_test(test_case, entries_of_a_journal_sort_by_height_and_have_these_bytes);
    tcase_add_test(test_case, effects_that_wait_sort_by_kind_and_time_and_have_these_bytes);
    tcase_add_test(test_case, claimed_effects_have_these_bytes);
    tcase_add_test(test_case, rows_that_say_where_an_intent_is_have_these_bytes);
    tcase_add_test(test_case, timers_sort_by_clock_and_time_and_have_these_bytes);
    tcase_add_test(test_case, messages_between_worlds_have_these_bytes);
    tcase_add_test(test_case, promises_and_ids_of_messages_have_these_bytes);
    tcase_add_test(test_case, nodes_that_serve_a_kind_have_these_bytes);
    tcase_add_test(test_case, random_rows_of_the_universe_come_back_and_edges_are_as_computed);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
