/* store_example.c - accounts and their log in two tables: the engine in two minutes.
 *
 * Build: cc store_example.c $(pkg-config --cflags --libs sapling) */
#include <sapling/sapling.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ACCOUNTS = 0, LOG = 1 }; /* tables are numbered; 0 is there from the start */

static void must(int rc, const char *what)
{
    if (rc != SAP_OK) {
        fprintf(stderr, "%s: %s\n", what, sap_strerror(rc));
        exit(1);
    }
}

static long balance(Txn *txn, const char *name)
{
    const void *val = NULL;
    uint32_t len = 0;
    long amount = 0;
    if (txn_get(txn, name, (uint32_t)strlen(name), &val, &len) == SAP_OK) {
        memcpy(&amount, val, sizeof amount);
    }
    return amount;
}

static void set_balance(Txn *txn, const char *name, long amount)
{
    must(txn_put(txn, name, (uint32_t)strlen(name), &amount, sizeof amount), "put");
}

/* Moves money and writes a line of the log, or does neither: a child transaction of its own. */
static int transfer(DB *db, Txn *txn, const char *from, const char *to, long amount)
{
    Txn *child = txn_begin(db, txn, 0);
    set_balance(child, from, balance(child, from) - amount);
    set_balance(child, to, balance(child, to) + amount);

    SapStat stat;
    must(dbi_stat(child, LOG, &stat), "stat");
    char key[16];
    char line[64];
    snprintf(key, sizeof key, "%08llu", (unsigned long long)stat.num_entries);
    snprintf(line, sizeof line, "%s -> %s: %ld", from, to, amount);
    must(txn_put_dbi(child, LOG, key, 8, line, (uint32_t)strlen(line)), "log");

    if (balance(child, from) < 0) {
        txn_abort(child); /* the parent is as it was before the child began */
        return 0;
    }
    must(txn_commit(child), "commit of a child");
    return 1;
}

int main(void)
{
    DB *db = db_open(NULL, 0, NULL, NULL); /* in memory, byte order */
    if (db == NULL) {
        return 1;
    }
    must(dbi_open(db, LOG, NULL, NULL, 0), "dbi_open");

    Txn *txn = txn_begin(db, NULL, 0);
    set_balance(txn, "ada", 100);
    set_balance(txn, "bob", 20);
    must(txn_commit(txn), "commit");

    Txn *before = txn_begin(db, NULL, TXN_RDONLY); /* a snapshot: nothing below changes it */

    txn = txn_begin(db, NULL, 0);
    printf("ada pays bob 30: %s\n", transfer(db, txn, "ada", "bob", 30) ? "done" : "refused");
    printf("bob pays cyd 99: %s\n", transfer(db, txn, "bob", "cyd", 99) ? "done" : "refused");
    printf("bob pays cyd 50: %s\n", transfer(db, txn, "bob", "cyd", 50) ? "done" : "refused");
    must(txn_commit(txn), "commit");

    Txn *now = txn_begin(db, NULL, TXN_RDONLY);
    Cursor *cur = cursor_open(now);
    const void *key = NULL;
    uint32_t key_len = 0;
    while (cursor_next(cur) == SAP_OK && cursor_get_key(cur, &key, &key_len) == SAP_OK) {
        char name[16] = {0};
        memcpy(name, key, key_len);
        printf("%s had %ld, has %ld\n", name, balance(before, name), balance(now, name));
    }
    cursor_close(cur);

    cur = cursor_open_dbi(now, LOG);
    const void *line = NULL;
    uint32_t line_len = 0;
    while (cursor_next(cur) == SAP_OK && cursor_get(cur, NULL, NULL, &line, &line_len) == SAP_OK) {
        printf("log: %.*s\n", (int)line_len, (const char *)line);
    }
    cursor_close(cur);

    uint64_t count = 0;
    must(txn_count_range(now, ACCOUNTS, "b", 1, "d", 1, &count), "count");
    printf("accounts from b to c: %llu, counted without visiting them\n",
           (unsigned long long)count);

    txn_abort(before);
    txn_abort(now);
    must(db_close(db), "close");
    return 0;
}
