/* The store's own rows. All bytes here are written by hand: they are what other versions rely on. */
#include "common/mem.h"
#include "samples/golden.h"
#include "sapling/store.h"
#include "support/suite.h"
#include "wit_schema_dbis.h"
#include "wit_store.h"
#include "wit_store_samples.h"

#include <inttypes.h>
#include <stdio.h>

enum { TIMEOUT_S = 120 };

START_TEST(a_marker_has_these_bytes)
{
    static uint8_t schema[] = "orders@2";
    static const uint8_t expected[] = {
        'S', 'A', 'P', 'S', 'T', 'O', 'R', 'E', /* magic */
        1,   0,   0,   0,                       /* format */
        8,   0,   0,   0,                       /* length of the schema */
        'o', 'r', 'd', 'e', 'r', 's', '@', '2',
    };
    WitStoreMarker v = {.format = 1, .schema = {schema, 8}};

    GOLDEN(wit_store_marker, WitStoreMarker, v, expected);
}
END_TEST

START_TEST(a_marker_may_grow)
{
    static const uint8_t grown[] = {'S', 'A', 'P', 'S', 'T', 'O', 'R', 'E', 1,
                                    0,   0,   0,   1,   0,   0,   0,   'x', 9};
    WitStoreMarker marker;

    EXPECT_RC(wit_store_marker_decode(grown, sizeof grown, &marker, NULL), SAP_OK);
    ck_assert_uint_eq(marker.format, 1);
    ck_assert_uint_eq(marker.schema.len, 1);
    wit_store_marker_free(&marker);
}
END_TEST

START_TEST(a_time_has_these_bytes)
{
    static const uint8_t expected[] = {
        1,                                              /* version */
        0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, /* lease_ns */
        0x12, 0,    0,    0,    0,    0,    0,    0,    /* due_ns */
        0x34, 0,    0,    0,    0,    0,    0,    0,    /* wall_ns */
    };
    WitStoreTime v = {0x0102030405060708, 0x12, 0x34};

    GOLDEN(wit_store_time, WitStoreTime, v, expected);
}
END_TEST

START_TEST(keys_of_the_meta_table_are_one_byte)
{
    static const uint8_t marker[] = {0};
    static const uint8_t time[] = {1};
    WitStoreDbi8StoreMetaKey v = {WIT_STORE_META_ROW_MARKER};

    GOLDEN(wit_store_dbi8_store_meta_key, WitStoreDbi8StoreMetaKey, v, marker);
    v.row = WIT_STORE_META_ROW_TIME;
    GOLDEN(wit_store_dbi8_store_meta_key, WitStoreDbi8StoreMetaKey, v, time);
}
END_TEST

/* Of 32 bytes 1, 2, ... with a zero as the last. */
#define NAME_BYTES                                                                                 \
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, \
        27, 28, 29, 30, 31

START_TEST(the_rows_of_a_blob_have_these_bytes)
{
    static uint8_t name[] = {NAME_BYTES, 0};
    static const uint8_t head_key[] = {0, NAME_BYTES, 0};
    static const uint8_t content_key[] = {1, NAME_BYTES, 0};
    static const uint8_t expected[] = {
        1,                                              /* version */
        2,                                              /* kind: tree */
        3,                                              /* depth */
        0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, /* size */
        0x34, 0x12, 0,    0,    0,    0,    0,    0,    /* put_ns */
    };
    WitStoreDbi9BlobsKey key = {WIT_STORE_BLOB_PART_HEAD, {name, sizeof name}};
    WitStoreBlobHead head = {WIT_STORE_BLOB_KIND_TREE, 3, 0x0102030405060708, 0x1234};

    GOLDEN(wit_store_dbi9_blobs_key, WitStoreDbi9BlobsKey, key, head_key);
    key.part = WIT_STORE_BLOB_PART_CONTENT;
    GOLDEN(wit_store_dbi9_blobs_key, WitStoreDbi9BlobsKey, key, content_key);
    GOLDEN(wit_store_blob_head, WitStoreBlobHead, head, expected);
    head.kind = WIT_STORE_BLOB_KIND_LIST;
    EXPECT_RC(wit_store_blob_head_validate(&head, NULL), SAP_INVALID); /* only trees have a depth */
}
END_TEST

START_TEST(references_of_a_blob_sort_beside_each_other)
{
    static uint8_t name[] = {NAME_BYTES, 0};
    static uint8_t owner[] = {'w', 0};
    static const uint8_t expected[] = {
        NAME_BYTES, 0, 0xff, 0, 0, /* the name, zeros escaped, and its end */
        1,                         /* by a program */
        'w',        0, 0xff, 0, 0, /* the owner likewise */
    };
    WitStoreDbi10BlobrefsKey key = {
        {name, sizeof name}, WIT_STORE_BLOB_OWNER_PROGRAM, {owner, sizeof owner}};

    GOLDEN(wit_store_dbi10_blobrefs_key, WitStoreDbi10BlobrefsKey, key, expected);
}
END_TEST

START_TEST(the_tables_of_the_store_are_below_those_of_programs)
{
    static const char *const names[] = {"store_meta", "blobs", "blobrefs"};

    ck_assert_uint_eq(WIT_STORE_DBI_BASE, 8);
    ck_assert_uint_eq(WIT_STORE_DBI_COUNT, 3);
    ck_assert_uint_ge(SAP_STORE_FIRST_TABLE, WIT_STORE_DBI_BASE + WIT_STORE_DBI_COUNT);
    for (uint32_t i = 0; i < WIT_STORE_DBI_COUNT; i++) {
        const WitSchemaDbi *table = &wit_schema_dbis[WIT_STORE_DBI_BASE + i];
        ck_assert_uint_eq(table->dbi, WIT_STORE_DBI_BASE + i);
        ck_assert_str_eq(table->name, names[i]);
        ck_assert_str_eq(table->owner, "store");
    }
}
END_TEST

START_TEST(random_rows_of_the_store_come_back_and_edges_are_as_computed)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(200);
    unsigned valid = 0;
    size_t edges = 0;

    for (size_t i = 0; i < wit_store_sample_count; i++) {
        const SampleType *type = &wit_store_samples[i];
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
           wit_store_sample_count, edges, first);
    ck_assert_uint_gt(valid, 0);
    ck_assert_uint_gt(edges, 3);
    ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wit/store");
    TCase *test_case = tcase_create("store");
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, a_marker_has_these_bytes);
    tcase_add_test(test_case, a_marker_may_grow);
    tcase_add_test(test_case, a_time_has_these_bytes);
    tcase_add_test(test_case, keys_of_the_meta_table_are_one_byte);
    tcase_add_test(test_case, the_rows_of_a_blob_have_these_bytes);
    tcase_add_test(test_case, references_of_a_blob_sort_beside_each_other);
    tcase_add_test(test_case, the_tables_of_the_store_are_below_those_of_programs);
    tcase_add_test(test_case, random_rows_of_the_store_come_back_and_edges_are_as_computed);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
