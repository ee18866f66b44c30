/* index_example.c - a secondary index: people by id, and their ids by city.
 *
 * The index is a DUPSORT table: one key, many sorted values. It changes in the same transaction as
 * the rows it points to, so that no reader ever sees the two disagree.
 *
 * Build: cc index_example.c $(pkg-config --cflags --libs sapling) */
#include <sapling/sapling.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CITY_OF = 0, BY_CITY = 1 };

static void must(int rc, const char *what)
{
    if (rc != SAP_OK) {
        fprintf(stderr, "%s: %s\n", what, sap_strerror(rc));
        exit(1);
    }
}

static uint32_t len(const char *text)
{
    return (uint32_t)strlen(text);
}

/* Puts a person, or moves one to another city. */
static void settle(Txn *txn, const char *id, const char *city)
{
    const void *old = NULL;
    uint32_t old_len = 0;
    char old_city[64];

    int rc = txn_get(txn, id, len(id), &old, &old_len);
    if (rc == SAP_OK && old_len < sizeof old_city) {
        memcpy(old_city, old, old_len); /* `old` is valid until the next change only */
        must(txn_del_dup_dbi(txn, BY_CITY, old_city, old_len, id, len(id)), "index, old city");
    } else if (rc != SAP_NOTFOUND) {
        must(rc, "get");
    }
    must(txn_put(txn, id, len(id), city, len(city)), "put");
    must(txn_put_dbi(txn, BY_CITY, city, len(city), id, len(id)), "index, new city");
}

/* All people of the cities whose names begin with the prefix. */
static void print_cities(Txn *txn, const char *prefix)
{
    const void *city = NULL;
    const void *id = NULL;
    uint32_t city_len = 0;
    uint32_t id_len = 0;
    uint64_t people = 0;

    printf("cities with %s...\n", prefix);
    Cursor *cur = cursor_open_dbi(txn, BY_CITY);
    int rc = cursor_seek_prefix(cur, prefix, len(prefix));
    while (rc == SAP_OK && cursor_in_prefix(cur, prefix, len(prefix))) {
        must(cursor_count_dup(cur, &people), "count");
        must(cursor_get_key(cur, &city, &city_len), "key");
        printf("  %.*s (%llu):", (int)city_len, (const char *)city, (unsigned long long)people);
        do {
            must(cursor_get(cur, NULL, NULL, &id, &id_len), "value");
            printf(" %.*s", (int)id_len, (const char *)id);
        } while (cursor_next_dup(cur) == SAP_OK);
        printf("\n");
        rc = cursor_next(cur); /* from the last value of this city to the first of the next */
    }
    cursor_close(cur);
}

int main(void)
{
    DB *db = db_open(NULL, 0, NULL, NULL);
    if (db == NULL) {
        return 1;
    }
    must(dbi_open(db, BY_CITY, NULL, NULL, DBI_DUPSORT), "dbi_open");

    Txn *txn = txn_begin(db, NULL, 0);
    settle(txn, "ada", "london");
    settle(txn, "bob", "lisbon");
    settle(txn, "cyd", "london");
    settle(txn, "dee", "lagos");
    settle(txn, "eve", "paris");
    must(txn_commit(txn), "commit");

    Txn *before = txn_begin(db, NULL, TXN_RDONLY);
    print_cities(before, "l");

    txn = txn_begin(db, NULL, 0);
    settle(txn, "cyd", "lisbon");
    must(txn_commit(txn), "commit");

    Txn *after = txn_begin(db, NULL, TXN_RDONLY);
    printf("cyd has moved\n");
    print_cities(after, "li");
    printf("the older snapshot has not\n");
    print_cities(before, "li");

    uint64_t count = 0;
    must(txn_count_range(after, BY_CITY, "lisbon", 6, "london", 6, &count), "count");
    printf("people from lisbon up to, not including, london: %llu\n", (unsigned long long)count);

    txn_abort(before);
    txn_abort(after);
    must(db_close(db), "close");
    return 0;
}
