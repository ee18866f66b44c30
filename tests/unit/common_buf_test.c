#include "common/buf.h"
#include "common/fault.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/random.h"
#include "support/choice.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void check_text(const Buf *buf, const char *text)
{
    ck_assert_uint_eq(buf->len, strlen(text));
    ck_assert_mem_eq(buf->data, text, buf->len);
}

START_TEST(a_new_buffer_is_empty_and_holds_no_memory)
{
    Buf buf;

    memset(&buf, 0xee, sizeof buf);
    buf_init(&buf);
    ck_assert_ptr_null(buf.data);
    ck_assert_uint_eq(buf.len, 0);
    ck_assert_uint_eq(buf.cap, 0);
    ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), 0);
    buf_release(&buf);
}
END_TEST

START_TEST(appended_integers_have_the_order_that_their_name_says)
{
    static const uint8_t expected[] = {
        0xab,                                           /* u8 */
        0x02, 0x01,                                     /* u16le */
        0x04, 0x03, 0x02, 0x01,                         /* u32le */
        0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, /* u64le */
        0x01, 0x02,                                     /* u16be */
        0x01, 0x02, 0x03, 0x04,                         /* u32be */
        0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, /* u64be */
    };
    Buf buf;

    buf_init(&buf);
    ck_assert_int_eq(buf_append_u8(&buf, 0xab), SAP_OK);
    ck_assert_int_eq(buf_append_u16le(&buf, 0x0102), SAP_OK);
    ck_assert_int_eq(buf_append_u32le(&buf, 0x01020304), SAP_OK);
    ck_assert_int_eq(buf_append_u64le(&buf, UINT64_C(0x0102030405060708)), SAP_OK);
    ck_assert_int_eq(buf_append_u16be(&buf, 0x0102), SAP_OK);
    ck_assert_int_eq(buf_append_u32be(&buf, 0x01020304), SAP_OK);
    ck_assert_int_eq(buf_append_u64be(&buf, UINT64_C(0x0102030405060708)), SAP_OK);
    ck_assert_uint_eq(buf.len, sizeof expected);
    ck_assert_mem_eq(buf.data, expected, sizeof expected);
    buf_release(&buf);
}
END_TEST

START_TEST(text_is_appended_without_its_end)
{
    Buf buf;

    buf_init(&buf);
    ck_assert_int_eq(buf_append_str(&buf, ""), SAP_OK);
    ck_assert_int_eq(buf_append(&buf, NULL, 0), SAP_OK);
    ck_assert_uint_eq(buf.len, 0);
    ck_assert_int_eq(buf_append_str(&buf, "one "), SAP_OK);
    ck_assert_int_eq(buf_printf(&buf, "%d%s", 2, " three"), SAP_OK);
    ck_assert_int_eq(buf_printf(&buf, "%s", ""), SAP_OK);
    check_text(&buf, "one 2 three");
    buf_release(&buf);
}
END_TEST

START_TEST(formatted_text_longer_than_the_room_is_complete)
{
    for (int width = 1; width < 300; width++) {
        char expected[320];
        Buf buf;

        buf_init(&buf);
        ck_assert_int_eq(buf_append_str(&buf, "x"), SAP_OK);
        ck_assert_int_eq(buf_printf(&buf, "%*d", width, 7), SAP_OK);
        snprintf(expected, sizeof expected, "x%*d", width, 7);
        check_text(&buf, expected);
        buf_release(&buf);
    }
}
END_TEST

START_TEST(what_was_appended_is_what_is_there)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(20);

    printf("buf: %" PRIu64 " seeds from %" PRIu64 "\n", seeds, first);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        enum { MODEL_SIZE = 20000 };
        static uint8_t model[MODEL_SIZE];
        size_t model_len = 0;
        Buf buf;
        Rng rng;

        buf_init(&buf);
        rng_seed(&rng, seed);
        for (int i = 0; i < 500; i++) {
            uint8_t part[200];
            size_t len = (size_t)rng_below(&rng, sizeof part + 1);

            rng_bytes(&rng, part, len);
            if (model_len + len > MODEL_SIZE || rng_chance(&rng, 1, 50)) {
                buf_clear(&buf);
                model_len = 0;
            }
            ck_assert_int_eq(buf_append(&buf, part, len), SAP_OK);
            memcpy(model + model_len, part, len);
            model_len += len;
            ck_assert_msg(buf.len == model_len && buf.len <= buf.cap, "seed %" PRIu64, seed);
            ck_assert_msg(model_len == 0 || memcmp(buf.data, model, model_len) == 0,
                          "seed %" PRIu64, seed);
        }
        buf_release(&buf);
    }
}
END_TEST

START_TEST(what_was_reserved_can_be_appended_without_memory)
{
    uint8_t bytes[1000] = {0};
    Buf buf;

    buf_init(&buf);
    ck_assert_int_eq(buf_append_u8(&buf, 1), SAP_OK);
    ck_assert_int_eq(buf_reserve(&buf, sizeof bytes), SAP_OK);
    fault_reset();
    fault_arm_alloc_from(1);
    ck_assert_int_eq(buf_append(&buf, bytes, 600), SAP_OK);
    ck_assert_int_eq(buf_append(&buf, bytes, 400), SAP_OK);
    ck_assert_uint_eq(fault_fired(), 0);
    fault_reset();
    ck_assert_uint_eq(buf.len, 1001);
    buf_release(&buf);
}
END_TEST

START_TEST(clearing_keeps_the_memory_and_releasing_gives_it_back)
{
    Buf buf;

    buf_init(&buf);
    ck_assert_int_eq(buf_reserve(&buf, 5000), SAP_OK);
    size_t cap = buf.cap;
    ck_assert_int_eq(buf_append_str(&buf, "gone"), SAP_OK);
    buf_clear(&buf);
    ck_assert_uint_eq(buf.len, 0);
    ck_assert_uint_eq(buf.cap, cap);
    buf_release(&buf);
    ck_assert_ptr_null(buf.data);
    ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), 0);
    ck_assert_int_eq(buf_append_str(&buf, "usable again"), SAP_OK);
    check_text(&buf, "usable again");
    buf_release(&buf);
}
END_TEST

START_TEST(detached_bytes_are_the_callers_and_the_buffer_starts_anew)
{
    size_t len = 1, cap = 1;
    Buf buf;

    buf_init(&buf);
    ck_assert_ptr_null(buf_detach(&buf, &len, &cap));
    ck_assert_uint_eq(len, 0);
    ck_assert_uint_eq(cap, 0);

    ck_assert_int_eq(buf_append_str(&buf, "mine"), SAP_OK);
    uint8_t *bytes = buf_detach(&buf, &len, &cap);
    ck_assert_ptr_null(buf.data);
    ck_assert_uint_eq(buf.len, 0);
    ck_assert_uint_eq(len, 4);
    ck_assert_mem_eq(bytes, "mine", 4);
    ck_assert_uint_eq(mem_live_bytes(MEM_COMMON), cap);
    mem_free(MEM_COMMON, bytes, cap);
    ck_assert_uint_eq(mem_live_bytes(MEM_COMMON), 0);
}
END_TEST

START_TEST(a_length_beyond_the_address_space_is_refused_as_full)
{
    Buf buf;

    buf_init(&buf);
    ck_assert_int_eq(buf_append_str(&buf, "kept"), SAP_OK);
    ck_assert_int_eq(buf_reserve(&buf, SIZE_MAX), SAP_FULL);
    ck_assert_int_eq(buf_reserve(&buf, (size_t)PTRDIFF_MAX - 3), SAP_FULL);
    check_text(&buf, "kept");
    buf_release(&buf);
}
END_TEST

/* Each kind of append once, of so much that none fits what the last one left. */
static int append_everything(Buf *buf)
{
    static const uint8_t block[300];
    int rc = SAP_OK;

    for (int kind = 0; kind < 10 && rc == SAP_OK; kind++) {
        while (rc == SAP_OK && buf->cap - buf->len >= 1) {
            rc = buf_append_u8(buf, 'f');
        }
        Buf before = *buf;
        uint64_t hash = hash_bytes(buf->data, buf->len, 0);
        switch (kind) {
        case 0:
            rc = buf_append_u8(buf, 1);
            break;
        case 1:
            rc = buf_append_u16le(buf, 1);
            break;
        case 2:
            rc = buf_append_u32le(buf, 1);
            break;
        case 3:
            rc = buf_append_u64le(buf, 1);
            break;
        case 4:
            rc = buf_append_u16be(buf, 1);
            break;
        case 5:
            rc = buf_append_u32be(buf, 1);
            break;
        case 6:
            rc = buf_append_u64be(buf, 1);
            break;
        case 7:
            rc = buf_append_str(buf, "text");
            break;
        case 8:
            rc = buf_printf(buf, "%d", 12345);
            break;
        default:
            rc = buf_append(buf, block, sizeof block);
            break;
        }
        if (rc != SAP_OK) {
            ck_assert_mem_eq(buf, &before, sizeof before);
            ck_assert_uint_eq(hash_bytes(buf->data, buf->len, 0), hash);
        }
    }
    return rc;
}

START_TEST(buf_append_that_runs_out_of_memory_leaves_contents_untouched)
{
    uint64_t nth = 1;

    for (;; nth++) {
        Buf buf;

        buf_init(&buf);
        ck_assert_int_eq(buf_append_str(&buf, "kept"), SAP_OK);
        fault_reset();
        fault_arm_alloc(nth);
        int rc = append_everything(&buf);
        uint64_t fired = fault_fired();
        fault_reset();
        ck_assert_int_eq(rc, fired == 0 ? SAP_OK : SAP_NOMEM);
        ck_assert_mem_eq(buf.data, "kept", 4);
        buf_release(&buf);
        ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), 0);
        if (fired == 0) {
            break;
        }
    }
    /* One growth per kind of append. */
    ck_assert_uint_eq(nth, 11);
}
END_TEST

START_TEST(a_text_is_a_slice_without_its_end_and_null_is_nothing)
{
    Slice text = slice_from_str("abc");
    Slice none = slice_from_str(NULL);

    ck_assert_uint_eq(text.len, 3);
    ck_assert_mem_eq(text.data, "abc", 3);
    ck_assert_uint_eq(none.len, 0);
    ck_assert_ptr_null(none.data);
}
END_TEST

START_TEST(a_reader_gives_back_what_was_appended)
{
    const uint8_t *bytes;
    ByteReader reader;
    uint64_t u64;
    uint32_t u32;
    uint16_t u16;
    uint8_t u8;
    Buf buf;

    buf_init(&buf);
    ck_assert_int_eq(buf_append_u8(&buf, 1), SAP_OK);
    ck_assert_int_eq(buf_append_u16le(&buf, 0xfe02), SAP_OK);
    ck_assert_int_eq(buf_append_u32le(&buf, 0xfdfe0203), SAP_OK);
    ck_assert_int_eq(buf_append_u64le(&buf, UINT64_C(0xf000000000000004)), SAP_OK);
    ck_assert_int_eq(buf_append_u16be(&buf, 0xfe05), SAP_OK);
    ck_assert_int_eq(buf_append_u32be(&buf, 0xfdfe0206), SAP_OK);
    ck_assert_int_eq(buf_append_u64be(&buf, UINT64_C(0xf000000000000007)), SAP_OK);
    ck_assert_int_eq(buf_append_str(&buf, "rest"), SAP_OK);

    reader_init(&reader, buf.data, buf.len);
    ck_assert(reader_u8(&reader, &u8) == SAP_OK && u8 == 1);
    ck_assert(reader_u16le(&reader, &u16) == SAP_OK && u16 == 0xfe02);
    ck_assert(reader_u32le(&reader, &u32) == SAP_OK && u32 == 0xfdfe0203);
    ck_assert(reader_u64le(&reader, &u64) == SAP_OK && u64 == UINT64_C(0xf000000000000004));
    ck_assert(reader_u16be(&reader, &u16) == SAP_OK && u16 == 0xfe05);
    ck_assert(reader_u32be(&reader, &u32) == SAP_OK && u32 == 0xfdfe0206);
    ck_assert(reader_u64be(&reader, &u64) == SAP_OK && u64 == UINT64_C(0xf000000000000007));
    ck_assert_int_eq(reader_bytes(&reader, 4, &bytes), SAP_OK);
    ck_assert_mem_eq(bytes, "rest", 4);
    ck_assert_uint_eq(reader.left, 0);
    ck_assert_int_eq(reader_bytes(&reader, 0, &bytes), SAP_OK);
    ck_assert_ptr_eq(bytes, buf.data + buf.len);
    buf_release(&buf);
}
END_TEST

START_TEST(a_reader_that_lacks_bytes_changes_nothing)
{
    /* Of exactly the bytes that are there, so that the address sanitizer sees one too many. */
    for (size_t len = 0; len < 8; len++) {
        uint8_t *exact = calloc(1, len + (len == 0));
        uint8_t u8 = 0xee;
        uint16_t u16 = 0xeeee;
        uint32_t u32 = 0xeeeeeeee;
        uint64_t u64 = 0xeeee;
        const uint8_t *bytes = NULL;
        ByteReader reader;

        reader_init(&reader, exact, len);
        ck_assert_int_eq(reader_u64le(&reader, &u64), SAP_INVALID);
        ck_assert_int_eq(reader_u64be(&reader, &u64), SAP_INVALID);
        ck_assert_int_eq(reader_bytes(&reader, len + 1, &bytes), SAP_INVALID);
        ck_assert_int_eq(reader_bytes(&reader, SIZE_MAX, &bytes), SAP_INVALID);
        if (len < 4) {
            ck_assert_int_eq(reader_u32le(&reader, &u32), SAP_INVALID);
            ck_assert_int_eq(reader_u32be(&reader, &u32), SAP_INVALID);
        }
        if (len < 2) {
            ck_assert_int_eq(reader_u16le(&reader, &u16), SAP_INVALID);
            ck_assert_int_eq(reader_u16be(&reader, &u16), SAP_INVALID);
        }
        if (len < 1) {
            ck_assert_int_eq(reader_u8(&reader, &u8), SAP_INVALID);
        }
        ck_assert_ptr_eq(reader.p, exact);
        ck_assert_uint_eq(reader.left, len);
        ck_assert(u8 == 0xee && u16 == 0xeeee && u32 == 0xeeeeeeee && u64 == 0xeeee);
        ck_assert_ptr_null(bytes);
        free(exact);
    }
}
END_TEST

START_TEST(a_reader_of_nothing_accepts_null)
{
    const uint8_t *bytes;
    ByteReader reader;

    reader_init(&reader, NULL, 0);
    ck_assert_int_eq(reader_bytes(&reader, 0, &bytes), SAP_OK);
    ck_assert_ptr_null(bytes);
    ck_assert_int_eq(reader_bytes(&reader, 1, &bytes), SAP_INVALID);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common/buf");
    TCase *tcase = tcase_create("buf");

    tcase_add_test(tcase, a_new_buffer_is_empty_and_holds_no_memory);
    tcase_add_test(tcase, appended_integers_have_the_order_that_their_name_says);
    tcase_add_test(tcase, text_is_appended_without_its_end);
    tcase_add_test(tcase, formatted_text_longer_than_the_room_is_complete);
    tcase_add_test(tcase, what_was_appended_is_what_is_there);
    tcase_add_test(tcase, what_was_reserved_can_be_appended_without_memory);
    tcase_add_test(tcase, clearing_keeps_the_memory_and_releasing_gives_it_back);
    tcase_add_test(tcase, detached_bytes_are_the_callers_and_the_buffer_starts_anew);
    tcase_add_test(tcase, a_length_beyond_the_address_space_is_refused_as_full);
    tcase_add_test(tcase, buf_append_that_runs_out_of_memory_leaves_contents_untouched);
    tcase_add_test(tcase, a_text_is_a_slice_without_its_end_and_null_is_nothing);
    tcase_add_test(tcase, a_reader_gives_back_what_was_appended);
    tcase_add_test(tcase, a_reader_that_lacks_bytes_changes_nothing);
    tcase_add_test(tcase, a_reader_of_nothing_accepts_null);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
