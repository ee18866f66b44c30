/* Cases: rows, their order, ranges, limits of sizes, and what put, put_if_absent and del say. */
#include "support/expect.h"
#include "support/store_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 14, FULL = SAP_STORE_MAX_KEY };

typedef struct Key {
    unsigned char bytes[FULL];
    uint32_t len;
} Key;

/* Keys in ascending order: the empty one, prefixes of each other, the smallest and largest bytes,
 * and the longest. */
static const Key *ordered_keys(void)
{
    static Key keys[KEYS];
    static const struct {
        const char *bytes;
        uint32_t len;
    } texts[] = {
        {"", 0},    {"\0", 1},   {"\0\0", 2}, {"\0\1", 2},  {"\1", 1}, {"a", 1},
        {"a\0", 2}, {"a\0z", 3}, {"aa", 2},   {"a\xff", 2}, {"b", 1},
    };
    uint32_t n = 0;
    for (; n < sizeof texts / sizeof texts[0]; n++) {
        memcpy(keys[n].bytes, texts[n].bytes, texts[n].len);
        keys[n].len = texts[n].len;
    }
    memset(keys[n].bytes, 0xff, FULL);
    keys[n++].len = FULL - 1;
    memset(keys[n].bytes, 0xff, FULL);
    keys[n].bytes[FULL - 1] = 0;
    keys[n++].len = FULL;
    memset(keys[n].bytes, 0xff, FULL);
    keys[n++].len = FULL;
    EXPECT(n == KEYS, "%u keys", n);
    return keys;
}

static int put_bytes(Seat *seat, uint32_t table, const void *key, uint32_t key_len, const void *val,
                     uint32_t val_len)
{
    int rc = sap_store_put(seat->txn, table, key, key_len, val, val_len);
    tape_printf(seat->tape, "put %u key %u value %u: %s\n", table, key_len, val_len, code_name(rc));
    return rc;
}

static void put_ordered_keys(StoreSuite *suite)
{
    /* Neither ascending nor descending. */
    static const int order[KEYS] = {5, 0, 13, 2, 9, 11, 7, 1, 12, 3, 10, 4, 8, 6};
    const Key *keys = ordered_keys();
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    for (int i = 0; i < KEYS; i++) {
        unsigned char number = (unsigned char)order[i];
        const Key *key = &keys[number];
        EXPECT_RC(put_bytes(&seat, SUITE_TABLE, key->bytes, key->len, &number, 1), SAP_OK);
    }
    EXPECT_RC(seat_commit(&seat), SAP_OK);
}

/* Scans and expects the keys from number `first` to number `last`, in this direction. */
static void expect_keys(Seat *seat, const SapStoreRange *range, bool backward, uint32_t limit,
                        int first, int last)
{
    const Key *keys = ordered_keys();
    const SapStoreRow *rows = NULL;
    uint32_t count = UINT32_MAX;
    EXPECT_RC(sap_store_scan(seat->txn, range, backward, limit, &rows, &count), SAP_OK);
    tape_printf(seat->tape, "scan %s:", backward ? "down" : "up");
    uint32_t expected = first < 0 ? 0 : (uint32_t)abs(last - first) + 1;
    EXPECT(count == expected, "%u rows, not %u", count, expected);
    int number = first;
    for (uint32_t i = 0; i < count; i++, number += backward ? -1 : 1) {
        const Key *key = &keys[number];
        EXPECT(rows[i].key_len == key->len && memcmp(rows[i].key, key->bytes, key->len) == 0,
               "row %u is not key %d", i, number);
        EXPECT(rows[i].val_len == 1 && *(const unsigned char *)rows[i].val == number,
               "row %u has the value of another", i);
        tape_printf(seat->tape, " %d", number);
    }
    tape_printf(seat->tape, "\n");
}

static SapStoreRange range_of(int from, int to)
{
    const Key *keys = ordered_keys();
    SapStoreRange range = {.table = SUITE_TABLE};
    if (from >= 0) {
        range.from = keys[from].bytes;
        range.from_len = keys[from].len;
    }
    if (to >= 0) {
        range.to = keys[to].bytes;
        range.to_len = keys[to].len;
    }
    return range;
}

static void keys_are_ordered_as_bytes(StoreSuite *suite)
{
    SapStoreRange all = range_of(-1, -1);
    put_ordered_keys(suite);
    for (int kind = SAP_STORE_READ_DURABLE; kind <= SAP_STORE_CLAIM; kind++) {
        Seat seat = suite_seat(suite);
        EXPECT_RC(seat_begin(&seat, (SapStoreKind)kind), SAP_OK);
        expect_keys(&seat, &all, false, UINT32_MAX, 0, KEYS - 1);
        expect_keys(&seat, &all, true, UINT32_MAX, KEYS - 1, 0);
        EXPECT_RC(seat_commit(&seat), SAP_OK);
    }
}

static void every_key_is_found_by_its_bytes_alone(StoreSuite *suite)
{
    const Key *keys = ordered_keys();
    put_ordered_keys(suite);
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_READ_NEWEST), SAP_OK);
    for (int i = 0; i < KEYS; i++) {
        const void *val = NULL;
        uint32_t len = 0;
        EXPECT_RC(sap_store_get(seat.txn, SUITE_TABLE, keys[i].bytes, keys[i].len, &val, &len),
                  SAP_OK);
        EXPECT(len == 1 && *(const unsigned char *)val == i, "another row");
        EXPECT_RC(
            sap_store_get(seat.txn, SUITE_OTHER_TABLE, keys[i].bytes, keys[i].len, &val, &len),
            SAP_NOTFOUND);
    }
    const void *val = NULL;
    uint32_t len = 0;
    EXPECT_RC(sap_store_get(seat.txn, SUITE_TABLE, NULL, 0, &val, &len), SAP_OK);
    EXPECT_RC(sap_store_get(seat.txn, SUITE_TABLE, "a\0zz", 4, &val, &len), SAP_NOTFOUND);
    EXPECT_RC(sap_store_get(seat.txn, SUITE_TABLE, keys[KEYS - 1].bytes, FULL - 2, &val, &len),
              SAP_NOTFOUND);
    seat_abort(&seat);
}

static void a_range_has_its_first_key_and_not_its_last(StoreSuite *suite)
{
    put_ordered_keys(suite);
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_READ_NEWEST), SAP_OK);
    for (int from = 0; from < KEYS; from++) {
        SapStoreRange open = range_of(from, -1);
        expect_keys(&seat, &open, false, UINT32_MAX, from, KEYS - 1);
        expect_keys(&seat, &open, true, UINT32_MAX, KEYS - 1, from);
        for (int to = 0; to < KEYS; to++) { /* inverted and empty ones too */
            SapStoreRange range = range_of(from, to);
            bool some = from < to;
            expect_keys(&seat, &range, false, UINT32_MAX, some ? from : -1, to - 1);
            expect_keys(&seat, &range, true, UINT32_MAX, some ? to - 1 : -1, from);
        }
    }
    seat_abort(&seat);
}

static void a_range_between_keys_has_what_lies_between(StoreSuite *suite)
{
    put_ordered_keys(suite);
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_READ_NEWEST), SAP_OK);
    SapStoreRange range = {SUITE_TABLE, "\0\0\0", 3, "a\0a", 3};
    expect_keys(&seat, &range, false, UINT32_MAX, 3, 6);
    expect_keys(&seat, &range, true, UINT32_MAX, 6, 3);
    range = (SapStoreRange){SUITE_TABLE, "c", 1, "d", 1};
    expect_keys(&seat, &range, false, UINT32_MAX, -1, -1);
    expect_keys(&seat, &range, true, UINT32_MAX, -1, -1);
    range = (SapStoreRange){SUITE_TABLE, "aa", 2, "aa\0", 3};
    expect_keys(&seat, &range, false, UINT32_MAX, 8, 8);
    /* `to` that is empty but not NULL: nothing is below the empty key. */
    range = (SapStoreRange){SUITE_TABLE, NULL, 0, "", 0};
    expect_keys(&seat, &range, false, UINT32_MAX, -1, -1);
    range.table = SUITE_EMPTY_TABLE;
    range.to = NULL;
    expect_keys(&seat, &range, true, UINT32_MAX, -1, -1);
    seat_abort(&seat);
}

static void a_limit_cuts_the_end_in_the_direction_of_the_scan(StoreSuite *suite)
{
    put_ordered_keys(suite);
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_READ_NEWEST), SAP_OK);
    SapStoreRange range = range_of(2, 9);
    for (uint32_t limit = 1; limit < 9; limit++) {
        int rows = limit < 7 ? (int)limit : 7;
        expect_keys(&seat, &range, false, limit, 2, 2 + rows - 1);
        expect_keys(&seat, &range, true, limit, 8, 8 - rows + 1);
    }
    seat_abort(&seat);
}

static void a_limit_of_no_rows_is_misuse(StoreSuite *suite)
{
    suite_put_row(suite, "k", "1");
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_READ_NEWEST), SAP_OK);
    EXPECT_RC(seat_scan(&seat, NULL, NULL, false, 0), SAP_ERROR);
    EXPECT_RC(seat_scan(&seat, NULL, NULL, true, 0), SAP_ERROR);
    seat_expect(&seat, "k", "1");
    seat_abort(&seat);
}

static void a_scan_sees_the_writes_of_its_own_transaction_in_their_places(StoreSuite *suite)
{
    suite_put_row(suite, "b", "1");
    suite_put_row(suite, "d", "1");
    suite_put_row(suite, "f", "1");
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_put(&seat, "c", "2"), SAP_OK);
    EXPECT_RC(seat_put(&seat, "b", "2"), SAP_OK);
    EXPECT_RC(seat_del(&seat, "d"), SAP_OK);
    EXPECT_RC(seat_put(&seat, "g", "2"), SAP_OK);
    EXPECT_RC(seat_put(&seat, "a", "2"), SAP_OK);
    EXPECT_RC(seat_scan(&seat, NULL, NULL, false, 100), SAP_OK);
    EXPECT_RC(seat_scan(&seat, "b", "g", true, 100), SAP_OK);
    EXPECT_RC(seat_scan(&seat, "b", NULL, false, 2), SAP_OK);
    EXPECT_RC(seat_scan(&seat, "b", NULL, true, 2), SAP_OK);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    suite_say_rows(suite);
    static const char end[] = "rows of 16: a=2 b=2 c=2 f=1 g=2\nrows of 17:\n";
    EXPECT(strstr(suite->tape.text, end) != NULL, "not these rows: %s", suite->tape.text);
    EXPECT(strstr(suite->tape.text, "SAP_OK a=2 b=2 c=2 f=1 g=2\n") != NULL, "not in the scan");
    EXPECT(strstr(suite->tape.text, "SAP_OK f=1 c=2 b=2\n") != NULL, "not in the one downwards");
    EXPECT(strstr(suite->tape.text, "SAP_OK b=2 c=2\n") != NULL, "not within the limit");
    EXPECT(strstr(suite->tape.text, "SAP_OK g=2 f=1\n") != NULL, "not within the limit downwards");
}

static void tables_are_apart(StoreSuite *suite)
{
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(put_bytes(&seat, SUITE_TABLE, "k", 1, "here", 4), SAP_OK);
    EXPECT_RC(put_bytes(&seat, SUITE_OTHER_TABLE, "k", 1, "there", 5), SAP_OK);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_del(&seat, "k"), SAP_OK);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    suite_expect_row(suite, "k", "-");
    suite_expect_moved(suite, "k", "there");
    suite_say_rows(suite);
}

static void put_says_ok_whether_or_not_the_row_is_there(StoreSuite *suite)
{
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    seat_expect(&seat, "k", "-");
    EXPECT_RC(seat_put(&seat, "k", "1"), SAP_OK);
    seat_expect(&seat, "k", "1");
    EXPECT_RC(seat_put(&seat, "k", "2"), SAP_OK);
    seat_expect(&seat, "k", "2");
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    suite_put_row(suite, "k", "3");
    suite_expect_row(suite, "k", "3");
}

static void put_if_absent_and_del_say_what_was_there(StoreSuite *suite)
{
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_del(&seat, "k"), SAP_NOTFOUND);
    EXPECT_RC(seat_put_if_absent(&seat, "k", "1"), SAP_OK);
    EXPECT_RC(seat_put_if_absent(&seat, "k", "2"), SAP_EXISTS);
    seat_expect(&seat, "k", "1");
    EXPECT_RC(seat_del(&seat, "k"), SAP_OK);
    seat_expect(&seat, "k", "-");
    EXPECT_RC(seat_del(&seat, "k"), SAP_NOTFOUND);
    EXPECT_RC(seat_put_if_absent(&seat, "k", "3"), SAP_OK);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_put_if_absent(&seat, "k", "4"), SAP_EXISTS);
    EXPECT_RC(seat_del(&seat, "k"), SAP_OK);
    EXPECT_RC(seat_put_if_absent(&seat, "k", "5"), SAP_OK);
    EXPECT_RC(seat_put(&seat, "k", "6"), SAP_OK);
    EXPECT_RC(seat_put_if_absent(&seat, "k", "7"), SAP_EXISTS);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    suite_expect_row(suite, "k", "6");
}

static void an_aborted_transaction_changes_nothing(StoreSuite *suite)
{
    suite_put_row(suite, "k", "1");
    suite_put_row(suite, "gone", "1");
    Seat seat = suite_seat(suite);
    for (int kind = SAP_STORE_GUARDED; kind <= SAP_STORE_CLAIM; kind++) {
        EXPECT_RC(seat_begin(&seat, (SapStoreKind)kind), SAP_OK);
        EXPECT_RC(seat_put(&seat, "k", "2"), SAP_OK);
        EXPECT_RC(seat_put_if_absent(&seat, "new", "2"), SAP_OK);
        EXPECT_RC(seat_del(&seat, "gone"), SAP_OK);
        seat_abort(&seat);
        suite_say_rows(suite);
    }
    suite_expect_row(suite, "k", "1");
    suite_expect_row(suite, "gone", "1");
    suite_expect_row(suite, "new", "-");
}

static void a_row_can_be_empty_and_is_there_all_the_same(StoreSuite *suite)
{
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(put_bytes(&seat, SUITE_TABLE, NULL, 0, NULL, 0), SAP_OK);
    EXPECT_RC(sap_store_put_if_absent(seat.txn, SUITE_TABLE, NULL, 0, "x", 1), SAP_EXISTS);
    EXPECT_RC(seat_put(&seat, "k", ""), SAP_OK);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    suite_expect_row(suite, "", "");
    suite_expect_row(suite, "k", "");
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_del(&seat, ""), SAP_OK);
    EXPECT_RC(seat_del(&seat, ""), SAP_NOTFOUND);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    suite_say_rows(suite);
}

/* Bytes that repeat only after a long while. */
static unsigned char *make_value(size_t len)
{
    unsigned char *val = malloc(len);
    EXPECT(val != NULL, "no memory");
    uint32_t state = 1;
    for (size_t i = 0; i < len; i++) {
        state = state * 1664525u + 1013904223u;
        val[i] = (unsigned char)(state >> 24);
    }
    return val;
}

static void values_up_to_1_mib_come_back_as_they_were(StoreSuite *suite)
{
    static const uint32_t sizes[] = {1,     255,    4095,    4096,
                                     65536, 262144, 1 << 19, SAP_STORE_MAX_VALUE};
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    unsigned char *val = make_value(SAP_STORE_MAX_VALUE + 1);
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    for (uint32_t i = 0; i < SIZES; i++) {
        EXPECT_RC(put_bytes(&seat, SUITE_TABLE, &sizes[i], 4, val, sizes[i]), SAP_OK);
    }
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_READ_DURABLE), SAP_OK);
    const void *got[SIZES];
    for (uint32_t i = 0; i < SIZES; i++) {
        uint32_t len = 0;
        EXPECT_RC(sap_store_get(seat.txn, SUITE_TABLE, &sizes[i], 4, &got[i], &len), SAP_OK);
        EXPECT(len == sizes[i], "%u bytes, not %u", len, sizes[i]);
    }
    for (uint32_t i = 0; i < SIZES; i++) { /* all of them are still borrowed */
        EXPECT(memcmp(got[i], val, sizes[i]) == 0, "other bytes");
    }
    seat_abort(&seat);
    free(val);
    tape_printf(&suite->tape, "all came back\n");
}

static void what_is_above_a_limit_is_refused_and_the_transaction_goes_on(StoreSuite *suite)
{
    unsigned char *val = make_value(SAP_STORE_MAX_VALUE + 1);
    const void *got = NULL;
    uint32_t len = 0;
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_put(&seat, "k", "1"), SAP_OK);
    EXPECT_RC(put_bytes(&seat, SUITE_TABLE, "k", 1, val, SAP_STORE_MAX_VALUE + 1), SAP_FULL);
    EXPECT_RC(put_bytes(&seat, SUITE_TABLE, val, FULL + 1, "1", 1), SAP_FULL);
    EXPECT_RC(sap_store_put_if_absent(seat.txn, SUITE_TABLE, "l", 1, val, SAP_STORE_MAX_VALUE + 1),
              SAP_FULL);
    EXPECT_RC(sap_store_put_if_absent(seat.txn, SUITE_TABLE, val, FULL + 1, "1", 1), SAP_FULL);
    EXPECT_RC(sap_store_del(seat.txn, SUITE_TABLE, val, FULL + 1), SAP_FULL);
    EXPECT_RC(sap_store_get(seat.txn, SUITE_TABLE, val, FULL + 1, &got, &len), SAP_FULL);
    seat_expect(&seat, "k", "1");
    EXPECT_RC(seat_put(&seat, "m", "1"), SAP_OK);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    free(val);
    suite_say_rows(suite);
    static const char end[] = "rows of 16: k=1 m=1\nrows of 17:\n";
    EXPECT(strstr(suite->tape.text, end) != NULL, "not these rows: %s", suite->tape.text);
}

static void what_was_read_stays_as_it_was_until_the_transaction_ends(StoreSuite *suite)
{
    suite_put_row(suite, "k", "first");
    suite_put_row(suite, "l", "first");
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    const void *val = NULL;
    uint32_t len = 0;
    SapStoreRange all = {.table = SUITE_TABLE};
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    EXPECT_RC(sap_store_get(seat.txn, SUITE_TABLE, "k", 1, &val, &len), SAP_OK);
    EXPECT_RC(sap_store_scan(seat.txn, &all, false, 10, &rows, &count), SAP_OK);
    for (int i = 0; i < 200; i++) { /* pages split and move under them */
        char key[16];
        (void)snprintf(key, sizeof key, "k%d", i);
        EXPECT_RC(sap_store_put(seat.txn, SUITE_TABLE, key, (uint32_t)strlen(key), "other", 5),
                  SAP_OK);
    }
    EXPECT_RC(seat_put(&seat, "k", "OTHER"), SAP_OK);
    EXPECT_RC(seat_del(&seat, "l"), SAP_OK);
    EXPECT(len == 5 && memcmp(val, "first", 5) == 0, "the value that was read has changed");
    EXPECT(count == 2 && rows[0].val_len == 5 && memcmp(rows[0].val, "first", 5) == 0 &&
               rows[1].key_len == 1 && memcmp(rows[1].key, "l", 1) == 0 &&
               memcmp(rows[1].val, "first", 5) == 0,
           "the rows that were read have changed");
    seat_expect(&seat, "k", "OTHER");
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    suite_expect_row(suite, "l", "-");
}

static void thousands_of_rows_come_back_in_pieces(StoreSuite *suite)
{
    enum { ROWS = 3000, PIECE = 7 };
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    for (uint32_t i = 0; i < ROWS; i++) {
        unsigned number = i * 1009u % ROWS; /* every one once, not in order */
        char key[16];
        (void)snprintf(key, sizeof key, "%05u", number);
        EXPECT_RC(sap_store_put(seat.txn, SUITE_TABLE, key, 5, key, 5), SAP_OK);
    }
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_READ_NEWEST), SAP_OK);
    char from[16] = "";
    uint32_t from_len = 0;
    uint32_t total = 0;
    for (;;) {
        SapStoreRange range = {.table = SUITE_TABLE, .from = from, .from_len = from_len};
        const SapStoreRow *rows = NULL;
        uint32_t count = 0;
        EXPECT_RC(sap_store_scan(seat.txn, &range, false, PIECE, &rows, &count), SAP_OK);
        for (uint32_t i = 0; i < count; i++, total++) {
            char key[16];
            (void)snprintf(key, sizeof key, "%05u", total);
            EXPECT(rows[i].key_len == 5 && memcmp(rows[i].key, key, 5) == 0, "not row %u", total);
        }
        if (count < PIECE) {
            break;
        }
        memcpy(from, rows[count - 1].key, 5);
        from[5] = 0; /* the next key after it */
        from_len = 6;
    }
    EXPECT(total == ROWS, "%u rows", total);
    tape_printf(&suite->tape, "%u rows\n", total);
    seat_abort(&seat);
}

const StoreCase store_row_cases[] = {
    STORE_CASE(keys_are_ordered_as_bytes),
    STORE_CASE(every_key_is_found_by_its_bytes_alone),
    STORE_CASE(a_range_has_its_first_key_and_not_its_last),
    STORE_CASE(a_range_between_keys_has_what_lies_between),
    STORE_CASE(a_limit_cuts_the_end_in_the_direction_of_the_scan),
    STORE_CASE(a_limit_of_no_rows_is_misuse),
    STORE_CASE(a_scan_sees_the_writes_of_its_own_transaction_in_their_places),
    STORE_CASE(tables_are_apart),
    STORE_CASE(put_says_ok_whether_or_not_the_row_is_there),
    STORE_CASE(put_if_absent_and_del_say_what_was_there),
    STORE_CASE(an_aborted_transaction_changes_nothing),
    STORE_CASE(a_row_can_be_empty_and_is_there_all_the_same),
    STORE_CASE(values_up_to_1_mib_come_back_as_they_were),
    STORE_CASE(what_is_above_a_limit_is_refused_and_the_transaction_goes_on),
    STORE_CASE(what_was_read_stays_as_it_was_until_the_transaction_ends),
    STORE_CASE(thousands_of_rows_come_back_in_pieces),
    {NULL, NULL},
};
