#include "common/bytes.h"
#include "common/fault.h"
#include "common/mem.h"

#include <check.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* All tests charge MEM_TEST, which nothing else does. */
static void check_live(size_t bytes, size_t blocks)
{
    ck_assert_uint_eq(mem_live_bytes(MEM_TEST), bytes);
    ck_assert_uint_eq(mem_live_blocks(MEM_TEST), blocks);
}

START_TEST(every_block_is_charged_to_its_owner_until_it_is_given_back)
{
    size_t total = mem_live_total();
    check_live(0, 0);
    void *a = mem_alloc(MEM_TEST, 100);
    void *b = mem_zalloc(MEM_TEST, 50);
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_nonnull(b);
    check_live(150, 2);
    ck_assert_uint_eq(mem_live_total(), total + 150);
    mem_free(MEM_TEST, a, 100);
    check_live(50, 1);
    mem_free(MEM_TEST, b, 50);
    check_live(0, 0);
    ck_assert_uint_eq(mem_live_total(), total);
}
END_TEST

START_TEST(owners_are_counted_apart)
{
    size_t arena = mem_live_bytes(MEM_ARENA);
    void *p = mem_alloc(MEM_ARENA, 64);

    ck_assert_uint_eq(mem_live_bytes(MEM_ARENA), arena + 64);
    check_live(0, 0);
    mem_free(MEM_ARENA, p, 64);
    ck_assert_uint_eq(mem_live_bytes(MEM_ARENA), arena);
}
END_TEST

START_TEST(zeroed_memory_is_zero)
{
    uint8_t *dirty = mem_alloc(MEM_TEST, 4096);
    memset(dirty, 0xff, 4096);
    mem_free(MEM_TEST, dirty, 4096);

    uint8_t *p = mem_zalloc(MEM_TEST, 4096);
    for (size_t i = 0; i < 4096; i++) {
        ck_assert_uint_eq(p[i], 0);
    }
    mem_free(MEM_TEST, p, 4096);
}
END_TEST

START_TEST(copy_is_a_block_of_its_own)
{
    char from[] = "what is copied";
    char *p = mem_copy(MEM_TEST, from, sizeof from);

    ck_assert_ptr_nonnull(p);
    check_live(sizeof from, 1);
    from[0] = 'W';
    ck_assert_str_eq(p, "what is copied");
    mem_free(MEM_TEST, p, sizeof from);
    p = mem_copy(MEM_TEST, NULL, 0);
    ck_assert_ptr_nonnull(p);
    mem_free(MEM_TEST, p, 0);
    check_live(0, 0);
}
END_TEST

START_TEST(nothing_at_all_is_still_a_block_of_its_own)
{
    void *a = mem_alloc(MEM_TEST, 0);
    void *b = mem_zalloc(MEM_TEST, 0);
    void *c = mem_alloc_aligned(MEM_TEST, 64, 0);

    ck_assert(a != NULL && b != NULL && c != NULL);
    ck_assert(a != b && b != c && a != c);
    check_live(0, 3);
    a = mem_resize(MEM_TEST, a, 0, 0);
    ck_assert_ptr_nonnull(a);
    check_live(0, 3);
    mem_free(MEM_TEST, a, 0);
    mem_free(MEM_TEST, b, 0);
    mem_free_aligned(MEM_TEST, c, 0);
    check_live(0, 0);
}
END_TEST

START_TEST(aligned_memory_is_aligned_for_every_power_of_two)
{
    for (size_t align = 1; align <= 65536; align *= 2) {
        for (size_t size = 1; size < 300; size += 37) {
            uint8_t *p = mem_alloc_aligned(MEM_TEST, align, size);
            ck_assert_ptr_nonnull(p);
            ck_assert_uint_eq((uintptr_t)p % align, 0);
            memset(p, 0xab, size);
            check_live(size, 1);
            mem_free_aligned(MEM_TEST, p, size);
        }
    }
    check_live(0, 0);
}
END_TEST

START_TEST(resizing_keeps_the_contents_and_moves_the_charge)
{
    uint8_t *p = mem_resize(MEM_TEST, NULL, 0, 10);
    ck_assert_ptr_nonnull(p);
    check_live(10, 1);
    memcpy(p, "0123456789", 10);
    p = mem_resize(MEM_TEST, p, 10, 100000);
    ck_assert_mem_eq(p, "0123456789", 10);
    check_live(100000, 1);
    p = mem_resize(MEM_TEST, p, 100000, 4);
    ck_assert_mem_eq(p, "0123", 4);
    check_live(4, 1);
    mem_free(MEM_TEST, p, 4);
    check_live(0, 0);
}
END_TEST

START_TEST(giving_back_null_changes_nothing)
{
    mem_free(MEM_TEST, NULL, 0);
    mem_free(MEM_TEST, NULL, 77);
    mem_free_aligned(MEM_TEST, NULL, 77);
    check_live(0, 0);
}
END_TEST

START_TEST(sizes_that_no_object_can_have_are_refused)
{
    void *p = mem_alloc(MEM_TEST, 8);

    ck_assert_ptr_null(mem_alloc(MEM_TEST, SIZE_MAX));
    ck_assert_ptr_null(mem_zalloc(MEM_TEST, (size_t)PTRDIFF_MAX + 1));
    ck_assert_ptr_null(mem_alloc_aligned(MEM_TEST, 4096, (size_t)PTRDIFF_MAX - 10));
    ck_assert_ptr_null(mem_alloc_aligned(MEM_TEST, 4096, SIZE_MAX));
    ck_assert_ptr_null(mem_resize(MEM_TEST, p, 8, SIZE_MAX));
    check_live(8, 1);
    mem_free(MEM_TEST, p, 8);
}
END_TEST

START_TEST(giving_back_more_bytes_than_the_owner_holds_aborts)
{
    void *p = mem_alloc(MEM_TEST, 8);
    mem_free(MEM_TEST, p, 9);
}
END_TEST

START_TEST(giving_back_to_another_owner_aborts)
{
    void *p = mem_alloc(MEM_CURSOR, 8);
    mem_free(MEM_TEST, p, 8);
}
END_TEST

/* Asks for memory in every way there is. True when it got all of it; holds nothing afterwards. */
static bool ask_in_every_way(void)
{
    void *a = mem_alloc(MEM_TEST, 10);
    void *b = mem_zalloc(MEM_TEST, 20);
    void *c = mem_alloc_aligned(MEM_TEST, 64, 30);
    void *copy = mem_copy(MEM_TEST, "copied", 7);
    void *fresh = mem_resize(MEM_TEST, NULL, 0, 40);
    uint8_t *grown = mem_resize(MEM_TEST, a, a == NULL ? 0 : 10, 500);
    bool all =
        a != NULL && b != NULL && c != NULL && copy != NULL && fresh != NULL && grown != NULL;

    if (grown != NULL) {
        mem_free(MEM_TEST, grown, 500);
    } else if (a != NULL) {
        memset(a, 1, 10); /* still the caller's */
        mem_free(MEM_TEST, a, 10);
    }
    mem_free(MEM_TEST, b, 20);
    mem_free_aligned(MEM_TEST, c, 30);
    mem_free(MEM_TEST, copy, 7);
    mem_free(MEM_TEST, fresh, 40);
    return all;
}

START_TEST(every_allocating_call_can_be_made_to_fail_and_charges_nothing_then)
{
    uint64_t nth = 1;

    for (;; nth++) {
        fault_reset();
        fault_arm_alloc(nth);
        bool all = ask_in_every_way();
        uint64_t fired = fault_fired();
        fault_reset();
        check_live(0, 0);
        ck_assert_int_eq(all, fired == 0);
        if (fired == 0) {
            break;
        }
    }
    ck_assert_uint_eq(nth, 7);
}
END_TEST

START_TEST(every_owner_has_a_name_of_its_own)
{
    for (int i = 0; i < MEM_OWNER_COUNT; i++) {
        ck_assert_ptr_nonnull(mem_owner_name((MemOwner)i));
        for (int j = 0; j < i; j++) {
            ck_assert_str_ne(mem_owner_name((MemOwner)i), mem_owner_name((MemOwner)j));
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common/mem");
    TCase *tcase = tcase_create("mem");

    tcase_add_test(tcase, every_block_is_charged_to_its_owner_until_it_is_given_back);
    tcase_add_test(tcase, owners_are_counted_apart);
    tcase_add_test(tcase, zeroed_memory_is_zero);
    tcase_add_test(tcase, copy_is_a_block_of_its_own);
    tcase_add_test(tcase, nothing_at_all_is_still_a_block_of_its_own);
    tcase_add_test(tcase, aligned_memory_is_aligned_for_every_power_of_two);
    tcase_add_test(tcase, resizing_keeps_the_contents_and_moves_the_charge);
    tcase_add_test(tcase, giving_back_null_changes_nothing);
    tcase_add_test(tcase, sizes_that_no_object_can_have_are_refused);
    tcase_add_test_raise_signal(tcase, giving_back_more_bytes_than_the_owner_holds_aborts, SIGABRT);
    tcase_add_test_raise_signal(tcase, giving_back_to_another_owner_aborts, SIGABRT);
    tcase_add_test(tcase, every_allocating_call_can_be_made_to_fail_and_charges_nothing_then);
    tcase_add_test(tcase, every_owner_has_a_name_of_its_own);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
