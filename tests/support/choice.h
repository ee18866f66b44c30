/* choice.h - a stream of decisions, from a seed or from the bytes of a fuzzer.
 *
 * A random test and a fuzz target can so share one driver: both ask for numbers. */
#ifndef SAPLING_TESTS_CHOICE_H
#define SAPLING_TESTS_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/random.h"

typedef struct Choice {
    Rng rng;
    const uint8_t *bytes; /* NULL: from rng */
    size_t left;
} Choice;

void choice_from_seed(Choice *choice, uint64_t seed);

/* `bytes` are borrowed as long as the choice is used. When they are used up every answer is 0. */
void choice_from_bytes(Choice *choice, const uint8_t *bytes, size_t len);

/* A number below n, which is not 0. */
uint32_t choice_below(Choice *choice, uint32_t n);

/* True once in n times. With bytes: never after their end. */
bool choice_one_in(Choice *choice, uint32_t n);

/* Always false for a seed. */
bool choice_is_used_up(const Choice *choice);

/* The first seed and how many: SAP_TEST_SEED and SAP_TEST_SEEDS, or 1 and `default_count`. With
 * SAP_TEST_SEED alone it is one seed: that one again. With SAP_TEST_SHARE=N, where neither is set,
 * it is an N-th of `default_count`, rounded up. */
uint64_t choice_first_seed(void);
uint64_t choice_seed_count(uint64_t default_count);

/* The number in that variable of the environment; `otherwise` where it is not set, or empty. */
uint64_t choice_setting(const char *name, uint64_t otherwise);

#endif
