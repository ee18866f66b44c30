/* golden.h - generated codecs beside bytes that were written by hand. */
#ifndef SAPLING_TESTS_SAMPLES_GOLDEN_H
#define SAPLING_TESTS_SAMPLES_GOLDEN_H

#include "common/codec.h"

#include <check.h>

/* Encodes to exactly these bytes, and these bytes decode to an equal value. */
#define GOLDEN(fn, Type, v, bytes)                                                                \
    do {                                                                                          \
        CodecError golden_error;                                                                  \
        Buf buf = {0};                                                                            \
        Type again;                                                                               \
        ck_assert_msg(fn##_encode(&(v), &buf, &golden_error) == SAP_OK, "%s", golden_error.text); \
        ck_assert_uint_eq(buf.len, sizeof(bytes));                                                \
        ck_assert_mem_eq(buf.data, bytes, sizeof(bytes));                                         \
        ck_assert_msg(fn##_decode(bytes, sizeof(bytes), &again, &golden_error) == SAP_OK, "%s",   \
                      golden_error.text);                                                         \
        ck_assert(fn##_equal(&(v), &again));                                                      \
        fn##_free(&again);                                                                        \
        buf_release(&buf);                                                                        \
    } while (0)

#endif
