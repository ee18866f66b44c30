#include "common/codec.h"
#include "common/fault.h"
#include "common/mem.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static CodecBytes borrowed(const char *text, size_t len)
{
    static uint8_t room[64];

    memcpy(room, text, len);
    return (CodecBytes){room, (uint32_t)len};
}

START_TEST(every_writer_has_the_bytes_that_its_name_says_and_reads_them_back)
{
    static const uint8_t expected[] = {
        0xab,                                           /* u8 */
        0x02, 0x01,                                     /* u16 */
        0x04, 0x03, 0x02, 0x01,                         /* u32 */
        0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, /* u64 */
        0x01, 0x02,                                     /* u16be */
        0x01, 0x02, 0x03, 0x04,                         /* u32be */
        0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, /* u64be */
        0x00, 0x00, 0xc0, 0x3f,                         /* 1.5 */
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0xc0, /* -2.5 */
        0x01,                                           /* true */
        'r',  'a',  'w',                                /* raw */
        0x02, 0x00, 0x00, 0x00, 'h',  'i',              /* bytes */
        'a',  0x00, 0xff, 'b',  0x00, 0x00,             /* key bytes */
        'e',  'n',  'd',
    };
    Buf buf = {0};
    CodecWriter w = codec_write_start(&buf);
    CodecBytes hi = borrowed("hi", 2);

    codec_write_u8(&w, 0xab);
    codec_write_u16(&w, 0x0102);
    codec_write_u32(&w, 0x01020304);
    codec_write_u64(&w, 0x0102030405060708);
    codec_write_u16be(&w, 0x0102);
    codec_write_u32be(&w, 0x01020304);
    codec_write_u64be(&w, 0x0102030405060708);
    codec_write_f32(&w, 1.5f);
    codec_write_f64(&w, -2.5);
    codec_write_u8(&w, true);
    codec_write_raw(&w, "raw", 3);
    codec_write_bytes(&w, &hi);
    hi = borrowed("a\0b", 3);
    codec_write_key_bytes(&w, &hi);
    codec_write_raw(&w, "end", 3);
    ck_assert_int_eq(codec_write_end(&w), SAP_OK);
    ck_assert_uint_eq(buf.len, sizeof expected);
    ck_assert_mem_eq(buf.data, expected, sizeof expected);

    CodecReader r = codec_read_start(buf.data, buf.len, NULL);
    CodecBytes bytes;
    char raw[3];
    ck_assert_uint_eq(codec_read_u8(&r), 0xab);
    ck_assert_uint_eq(codec_read_u16(&r), 0x0102);
    ck_assert_uint_eq(codec_read_u32(&r), 0x01020304);
    ck_assert_uint_eq(codec_read_u64(&r), 0x0102030405060708);
    ck_assert_uint_eq(codec_read_u16be(&r), 0x0102);
    ck_assert_uint_eq(codec_read_u32be(&r), 0x01020304);
    ck_assert_uint_eq(codec_read_u64be(&r), 0x0102030405060708);
    ck_assert(codec_read_f32(&r) == 1.5f);
    ck_assert(codec_read_f64(&r) == -2.5);
    ck_assert(codec_read_bool(&r));
    codec_read_raw(&r, raw, 3);
    ck_assert_mem_eq(raw, "raw", 3);
    codec_read_bytes(&r, &bytes);
    ck_assert_uint_eq(bytes.len, 2);
    ck_assert_mem_eq(bytes.data, "hi", 2);
    codec_bytes_free(&bytes);
    codec_read_key_bytes(&r, &bytes);
    ck_assert(codec_bytes_equal(&bytes, &hi));
    codec_bytes_free(&bytes);
    ck_assert(!codec_at_end(&r));
    codec_read_rest(&r, &bytes);
    ck_assert_uint_eq(bytes.len, 3);
    codec_bytes_free(&bytes);
    codec_read_all(&r);
    ck_assert(codec_at_end(&r));
    ck_assert_int_eq(r.rc, SAP_OK);
    buf_release(&buf);
    ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), 0);
}
END_TEST

START_TEST(a_nan_keeps_its_bits)
{
    static const uint8_t bits[] = {1, 2, 0xc0, 0x7f, 1, 2, 3, 4, 5, 6, 0xfc, 0xff};
    CodecReader r = codec_read_start(bits, sizeof bits, NULL);
    float f = codec_read_f32(&r);
    double d = codec_read_f64(&r);
    Buf buf = {0};
    CodecWriter w = codec_write_start(&buf);

    ck_assert(isnan(f) && isnan(d));
    codec_write_f32(&w, f);
    codec_write_f64(&w, d);
    ck_assert_int_eq(codec_write_end(&w), SAP_OK);
    ck_assert_mem_eq(buf.data, bits, sizeof bits);
    buf_release(&buf);
}
END_TEST

START_TEST(the_first_failure_of_a_reader_stays_and_is_placed_once)
{
    CodecError error;
    CodecReader r = codec_read_start("\1\2\3", 3, &error);

    ck_assert_uint_eq(codec_read_u8(&r), 1);
    ck_assert_uint_eq(codec_read_u32(&r), 0);
    ck_assert_uint_eq(codec_read_u8(&r), 0);
    codec_read_fail(&r, SAP_NOMEM, "another");
    ck_assert(codec_read_failed(&r, "record inner", "x"));
    ck_assert(codec_read_failed(&r, "record outer", "y"));
    ck_assert_int_eq(r.rc, SAP_INVALID);
    ck_assert_str_eq(error.text,
                     "record inner, field x: at byte 1: 4 bytes are needed, 2 are left");
    ck_assert_int_eq(codec_broken(NULL, "record a", "b", "b > 0"), SAP_INVALID);
}
END_TEST

START_TEST(a_length_is_not_trusted)
{
    static const uint8_t many[] = {0xff, 0xff, 0xff, 0xff, 1, 2, 3};
    size_t live = mem_live_bytes(MEM_COMMON);
    CodecBytes bytes;
    uint32_t count = 7;
    CodecReader r = codec_read_start(many, sizeof many, NULL);

    codec_read_bytes(&r, &bytes);
    ck_assert_int_eq(r.rc, SAP_INVALID);
    ck_assert_ptr_null(bytes.data);
    r = codec_read_start(many, sizeof many, NULL);
    ck_assert_ptr_null(codec_read_items(&r, 1, 64, &count));
    ck_assert_int_eq(r.rc, SAP_INVALID);
    ck_assert_uint_eq(count, 0);
    r = codec_read_start("\2\0\0\0\1\2\3", 7, NULL);
    ck_assert_ptr_null(codec_read_items(&r, 2, 64, &count));
    ck_assert_int_eq(r.rc, SAP_INVALID);
    ck_assert_uint_eq(mem_live_bytes(MEM_COMMON), live);
}
END_TEST

START_TEST(bytes_of_a_key_that_do_not_end_are_refused)
{
    static const struct {
        const char *bytes;
        size_t len;
    } bad[] = {{"", 0}, {"a", 1}, {"a\0", 2}, {"a\0\1", 3}, {"\0\xff", 2}, {"\0\xff\0", 3}};
    CodecBytes bytes;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CodecReader r = codec_read_start(bad[i].bytes, bad[i].len, NULL);
        codec_read_key_bytes(&r, &bytes);
        ck_assert_int_eq(r.rc, SAP_INVALID);
        ck_assert_ptr_null(bytes.data);
    }
    CodecReader r = codec_read_start("\0\0x", 3, NULL);
    codec_read_key_bytes(&r, &bytes);
    ck_assert_int_eq(r.rc, SAP_OK);
    ck_assert_uint_eq(bytes.len, 0);
    ck_assert_uint_eq(codec_read_u8(&r), 'x');
}
END_TEST

START_TEST(what_is_no_value_is_refused)
{
    CodecError error = {""};
    CodecBytes bad = borrowed("\xc3", 1);
    static const uint8_t bits[] = {0xff, 0x08};

    ck_assert_int_eq(codec_check_string(&bad, &error), SAP_INVALID);
    ck_assert_int_eq(codec_blame(&error, "record a", "b", SAP_INVALID), SAP_INVALID);
    ck_assert_str_eq(error.text, "record a, field b: the string is not UTF-8");
    ck_assert_int_eq(codec_check_char(0x10ffff, NULL), SAP_OK);
    ck_assert_int_eq(codec_check_char(0x110000, NULL), SAP_INVALID);
    ck_assert_int_eq(codec_check_char(0xd800, NULL), SAP_INVALID);
    ck_assert_int_eq(codec_check_char(0xdfff, NULL), SAP_INVALID);
    ck_assert_int_eq(codec_check_char(0xe000, NULL), SAP_OK);
    ck_assert_int_eq(codec_check_case(2, 3, NULL), SAP_OK);
    ck_assert_int_eq(codec_check_case(3, 3, NULL), SAP_INVALID);
    ck_assert_int_eq(codec_check_flags(7, 3, NULL), SAP_OK);
    ck_assert_int_eq(codec_check_flags(8, 3, NULL), SAP_INVALID);
    ck_assert_int_eq(codec_check_flags(UINT64_MAX, 64, NULL), SAP_OK);
    ck_assert_int_eq(codec_check_bits(bits, 12, NULL), SAP_OK);
    ck_assert_int_eq(codec_check_bits(bits, 11, NULL), SAP_INVALID);
    ck_assert(codec_bit(bits, 11) && !codec_bit(bits, 10));
    CodecReader r = codec_read_start("\2", 1, &error);
    ck_assert(!codec_read_bool(&r));
    ck_assert_int_eq(r.rc, SAP_INVALID);
    r = codec_read_start("\3abc", 4, NULL);
    codec_read_version(&r, 3);
    codec_read_exactly(&r, "ab", 2);
    ck_assert_int_eq(r.rc, SAP_OK);
    codec_read_all(&r);
    ck_assert_int_eq(r.rc, SAP_INVALID);
    r = codec_read_start("\3abc", 4, NULL);
    codec_read_version(&r, 2);
    ck_assert_int_eq(r.rc, SAP_INVALID);
    r = codec_read_start("abc", 3, NULL);
    codec_read_exactly(&r, "abd", 3);
    ck_assert_int_eq(r.rc, SAP_INVALID);
}
END_TEST

static int64_t signed_of(CodecNumber n)
{
    return n.negative ? -(int64_t)n.size : (int64_t)n.size;
}

START_TEST(numbers_compute_as_those_of_c_where_these_do_not_overflow)
{
    unsigned tried = 0;

    for (int64_t a = -12; a <= 12; a++) {
        for (int64_t b = -12; b <= 12; b++) {
            CodecNumber x = codec_number_s(a);
            CodecNumber y = codec_number_s(b);
            bool bad = false;
            ck_assert_int_eq(signed_of(codec_number_add(x, y, &bad)), a + b);
            ck_assert_int_eq(signed_of(codec_number_sub(x, y, &bad)), a - b);
            ck_assert_int_eq(signed_of(codec_number_mul(x, y, &bad)), a * b);
            ck_assert_int_eq(codec_number_compare(x, y), (a > b) - (a < b));
            ck_assert(!bad);
            CodecNumber quotient = codec_number_div(x, y, &bad);
            ck_assert_int_eq(bad, b == 0);
            CodecNumber rest = codec_number_mod(x, y, &bad);
            if (b != 0) {
                ck_assert_int_eq(signed_of(quotient), a / b);
                ck_assert_int_eq(signed_of(rest), a % b);
            }
            tried++;
        }
    }
    ck_assert_uint_eq(tried, 625);
}
END_TEST

START_TEST(a_number_that_does_not_fit_is_bad)
{
    CodecNumber most = codec_number_u(UINT64_MAX);
    CodecNumber least = codec_number_s(INT64_MIN);
    bool bad = false;

    ck_assert_int_eq(codec_number_compare(least, most), -1);
    ck_assert_uint_eq(least.size, UINT64_C(1) << 63);
    ck_assert_uint_eq(codec_number_add(most, least, &bad).size, UINT64_MAX >> 1);
    ck_assert(!bad);
    (void)codec_number_add(most, codec_number_u(1), &bad);
    ck_assert(bad);
    bad = false;
    (void)codec_number_sub(codec_number_minus(most), codec_number_u(1), &bad);
    ck_assert(bad);
    bad = false;
    (void)codec_number_mul(most, codec_number_u(2), &bad);
    ck_assert(bad);
}
END_TEST

START_TEST(a_writer_without_memory_leaves_the_buffer_as_it_was)
{
    Buf buf = {0};

    ck_assert_int_eq(buf_append_u8(&buf, 7), SAP_OK);
    fault_reset();
    fault_arm_alloc(1);
    CodecWriter w = codec_write_start(&buf);
    for (unsigned i = 0; i < 1000; i++) {
        codec_write_u64(&w, i);
    }
    ck_assert_int_eq(codec_write_end(&w), SAP_NOMEM);
    ck_assert_uint_eq(buf.len, 1);
    fault_reset();
    fault_arm_alloc(1);
    CodecBytes bytes = {0};
    ck_assert_int_eq(codec_bytes_set(&bytes, "abc", 3), SAP_NOMEM);
    ck_assert_ptr_null(bytes.data);
    fault_reset();
    buf_release(&buf);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common/codec");
    TCase *tcase = tcase_create("codec");

    tcase_add_test(tcase, every_writer_has_the_bytes_that_its_name_says_and_reads_them_back);
    tcase_add_test(tcase, a_nan_keeps_its_bits);
    tcase_add_test(tcase, the_first_failure_of_a_reader_stays_and_is_placed_once);
    tcase_add_test(tcase, a_length_is_not_trusted);
    tcase_add_test(tcase, bytes_of_a_key_that_do_not_end_are_refused);
    tcase_add_test(tcase, what_is_no_value_is_refused);
    tcase_add_test(tcase, numbers_compute_as_those_of_c_where_these_do_not_overflow);
    tcase_add_test(tcase, a_number_that_does_not_fit_is_bad);
    tcase_add_test(tcase, a_writer_without_memory_leaves_the_buffer_as_it_was);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
