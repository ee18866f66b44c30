#include "support/choice.h"

#include <stdlib.h>

void choice_from_seed(Choice *choice, uint64_t seed)
{
    rng_seed(&choice->rng, seed);
    choice->bytes = NULL;
    choice->left = 0;
}

void choice_from_bytes(Choice *choice, const uint8_t *bytes, size_t len)
{
    static const uint8_t none;

    rng_seed(&choice->rng, 0);
    choice->bytes = len == 0 ? &none : bytes;
    choice->left = len;
}

/* As few bytes as n needs, so that a fuzzer's change of one byte changes one decision. */
static uint32_t from_bytes(Choice *choice, uint32_t n)
{
    uint32_t value = 0;

    for (uint32_t covered = 1; covered < n;) {
        if (choice->left == 0) {
            return 0;
        }
        value = value * 256 + *choice->bytes;
        choice->bytes++;
        choice->left--;
        covered = covered > UINT32_MAX / 256 ? UINT32_MAX : covered * 256;
    }
    return value % n;
}

uint32_t choice_below(Choice *choice, uint32_t n)
{
    if (choice->bytes != NULL) {
        return from_bytes(choice, n);
    }
    return (uint32_t)rng_below(&choice->rng, n);
}

bool choice_one_in(Choice *choice, uint32_t n)
{
    return choice_below(choice, n) == n - 1;
}

bool choice_is_used_up(const Choice *choice)
{
    return choice->bytes != NULL && choice->left == 0;
}

uint64_t choice_first_seed(void)
{
    const char *text = getenv("SAP_TEST_SEED");

    return text != NULL ? strtoull(text, NULL, 0) : 1;
}

uint64_t choice_seed_count(uint64_t default_count)
{
    const char *text = getenv("SAP_TEST_SEEDS");

    if (text != NULL) {
        return strtoull(text, NULL, 0);
    }
    if (getenv("SAP_TEST_SEED") != NULL) {
        return 1;
    }
    text = getenv("SAP_TEST_SHARE");
    uint64_t share = text != NULL ? strtoull(text, NULL, 0) : 1;
    return share > 1 ? (default_count + share - 1) / share : default_count;
}

uint64_t choice_setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text == NULL || *text == '\0' ? otherwise : strtoull(text, NULL, 10);
}
