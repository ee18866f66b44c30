/* bulk_example.c - many rows at once: load them in order, count and rank them, delete a range.
 *
 * A load builds the tree bottom-up instead of searching a place for each row. Counts are in the
 * branches of the tree, and a range goes by unlinking what lies inside it: neither visits the rows.
 *
 * Build: cc bulk_example.c $(pkg-config --cflags --libs sapling) */
#include <sapling/sapling.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 100000, KEY_LEN = 12 };

static void must(int rc, const char *what)
{
    if (rc != SAP_OK) {
        fprintf(stderr, "%s: %s\n", what, sap_strerror(rc));
        exit(1);
    }
}

/* Readings of a sensor, one every ten seconds: keys of fixed width sort as their numbers do. */
static char keys[ROWS][KEY_LEN + 1];

static void load(Txn *txn)
{
    static const void *key_ptrs[ROWS];
    static const void *val_ptrs[ROWS];
    static uint32_t key_lens[ROWS];
    static uint32_t val_lens[ROWS];

    for (uint32_t i = 0; i < ROWS; i++) {
        snprintf(keys[i], sizeof keys[i], "t%011u", i * 10);
        key_ptrs[i] = keys[i];
        key_lens[i] = KEY_LEN;
        val_ptrs[i] = keys[i] + 1; /* any bytes will do */
        val_lens[i] = KEY_LEN - 1;
    }
    must(txn_load_sorted(txn, 0, key_ptrs, key_lens, val_ptrs, val_lens, ROWS), "load");

    const void *swapped[] = {"b", "a"};
    const uint32_t lens[] = {1, 1};
    int rc = txn_load_sorted(txn, 0, swapped, lens, swapped, lens, 2);
    printf("rows out of order: %s\n", sap_strerror(rc));
}

static unsigned long long count(Txn *txn, const char *lo, const char *hi)
{
    uint64_t n = 0;
    must(txn_count_range(txn, 0, lo, lo != NULL ? KEY_LEN : 0, hi, hi != NULL ? KEY_LEN : 0, &n),
         "count");
    return (unsigned long long)n;
}

static void print_nth(Cursor *cur, uint64_t n)
{
    const void *key = NULL;
    uint32_t key_len = 0;
    must(cursor_seek_nth(cur, n), "nth");
    must(cursor_get_key(cur, &key, &key_len), "key");
    printf("row %llu: %.*s\n", (unsigned long long)n, (int)key_len, (const char *)key);
}

static void print_rank(Cursor *cur, const char *key)
{
    uint64_t rank = 0;
    must(cursor_seek(cur, key, KEY_LEN), "seek");
    must(cursor_rank(cur, &rank), "rank");
    printf("rows before %s: %llu\n", key, (unsigned long long)rank);
}

int main(void)
{
    DB *db = db_open(NULL, 0, NULL, NULL);
    if (db == NULL) {
        return 1;
    }
    Txn *txn = txn_begin(db, NULL, 0);
    load(txn);
    must(txn_commit(txn), "commit");
    must(db_verify(db, NULL, NULL), "verify");

    txn = txn_begin(db, NULL, 0);
    printf("rows: %llu\n", count(txn, NULL, NULL));
    printf("in the first hour: %llu\n", count(txn, NULL, "t00000003600"));
    printf("in the second: %llu\n", count(txn, "t00000003600", "t00000007200"));

    Cursor *cur = cursor_open(txn);
    print_nth(cur, ROWS / 2);
    print_nth(cur, ROWS - 1);
    print_rank(cur, "t00000003605");

    uint64_t deleted = 0;
    must(txn_del_range(txn, 0, NULL, 0, "t00000900000", KEY_LEN, &deleted), "del_range");
    printf("deleted: %llu\n", (unsigned long long)deleted);
    printf("left: %llu\n", count(txn, NULL, NULL));
    print_nth(cur, 0);
    cursor_close(cur);
    must(txn_commit(txn), "commit");

    must(db_verify(db, NULL, NULL), "verify");
    must(db_close(db), "close");
    return 0;
}
