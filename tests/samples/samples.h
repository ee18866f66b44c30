/* samples.h - random values of generated types, and what must hold of every one of them.
 *
 * The generator writes, for each named type, how to make a value by choices and which values lie at
 * the edges of its refinements; the claims are written once, here. */
#ifndef SAPLING_TESTS_SAMPLES_H
#define SAPLING_TESTS_SAMPLES_H

#include "common/codec.h"
#include "support/choice.h"
#include "support/expect.h"

#include <jansson.h>

typedef struct SampleType {
    const char *name;
    size_t size;
    bool grows; /* ignores bytes behind its last field */
    void (*random)(Choice *choice, void *v);
    int (*encode)(const void *v, Buf *buf, CodecError *error);
    int (*decode)(const void *data, size_t len, void *v_out, CodecError *error);
    int (*validate)(const void *v, CodecError *error);
    bool (*equal)(const void *a, const void *b);
    void (*free)(void *v);
    int (*to_json)(const void *v, json_t **json_out, CodecError *error);
    int (*from_json)(const json_t *json, void *v_out, CodecError *error);
    /* Sets the number that edge `i` is about; returns whether the refinement holds then. */
    bool (*edge)(void *v, size_t i, const char **refinement_out);
    size_t edge_count;
} SampleType;

/* The functions of a type behind pointers that do not know it. */
#define SAMPLE_TYPE(fn, type)                                                         \
    static void fn##_any_random(Choice *choice, void *v)                              \
    {                                                                                 \
        type *value = v;                                                              \
        fn##_random(choice, value);                                                   \
    }                                                                                 \
    static int fn##_any_encode(const void *v, Buf *buf, CodecError *error)            \
    {                                                                                 \
        return fn##_encode(v, buf, error);                                            \
    }                                                                                 \
    static int fn##_any_decode(const void *d, size_t len, void *v, CodecError *error) \
    {                                                                                 \
        return fn##_decode(d, len, v, error);                                         \
    }                                                                                 \
    static int fn##_any_validate(const void *v, CodecError *error)                    \
    {                                                                                 \
        return fn##_validate(v, error);                                               \
    }                                                                                 \
    static bool fn##_any_equal(const void *a, const void *b)                          \
    {                                                                                 \
        return fn##_equal(a, b);                                                      \
    }                                                                                 \
    static void fn##_any_free(void *v)                                                \
    {                                                                                 \
        fn##_free(v);                                                                 \
    }                                                                                 \
    static int fn##_any_to_json(const void *v, json_t **json, CodecError *error)      \
    {                                                                                 \
        return fn##_to_json(v, json, error);                                          \
    }                                                                                 \
    static int fn##_any_from_json(const json_t *json, void *v, CodecError *error)     \
    {                                                                                 \
        return fn##_from_json(json, v, error);                                        \
    }

#define SAMPLE_ENTRY(text, fn, type, grows, edge, edges)                              \
    {                                                                                 \
        text, sizeof(type), grows, fn##_any_random, fn##_any_encode, fn##_any_decode, \
            fn##_any_validate, fn##_any_equal, fn##_any_free, fn##_any_to_json,       \
            fn##_any_from_json, edge, edges                                           \
    }

/* Small numbers, numbers at the ends of a type, and any. */
uint64_t sample_number(Choice *choice);
double sample_real(Choice *choice);
float sample_real32(Choice *choice);
uint32_t sample_char(Choice *choice);
/* Replace what is there. */
void sample_string(Choice *choice, CodecBytes *v);
void sample_bytes(Choice *choice, CodecBytes *v);
void sample_length(CodecBytes *v, uint32_t len);
/* Whether an integer of so many bits can be that number. */
static inline bool sample_fits(CodecNumber at, unsigned bits, bool is_signed)
{
    uint64_t most = UINT64_MAX >> (64 - bits + (is_signed ? 1 : 0));

    return at.negative ? is_signed && at.size <= most + 1 : at.size <= most;
}
void *sample_items(Choice *choice, size_t size, uint32_t *count_out);

/* A random value goes through bytes and JSON and comes back; no start of its bytes is misread.
 * False: the value broke a refinement, and only that was tried. */
bool sample_round_trip(const SampleType *type, Choice *choice);

/* Every edge: validate agrees with what the generator computed. Returns how many were tried. */
size_t sample_edges(const SampleType *type, Choice *choice);

/* Any bytes: refused, or a value whose own bytes say the same. */
void sample_fuzz(const SampleType *type, const uint8_t *data, size_t size);

#endif
