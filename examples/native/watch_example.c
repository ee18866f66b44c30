/* watch_example.c - settings that tell the program when they change.
 *
 * A watch is called for each key that a commit changed, with the value it has then. It may use the
 * DB itself: here it writes a journal, in a commit of its own.
 *
 * Build: cc watch_example.c $(pkg-config --cflags --libs sapling) */
#include <sapling/sapling.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETTINGS = 0, JOURNAL = 1 };

typedef struct Journal {
    DB *db;
    unsigned lines;
} Journal;

static void must(int rc, const char *what)
{
    if (rc != SAP_OK) {
        fprintf(stderr, "%s: %s\n", what, sap_strerror(rc));
        exit(1);
    }
}

static void set(Txn *txn, const char *name, const char *value)
{
    must(txn_put(txn, name, (uint32_t)strlen(name), value, (uint32_t)strlen(value)), "put");
}

static void on_setting(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                       void *ctx)
{
    Journal *journal = (Journal *)ctx;
    char number[16];

    if (val != NULL) {
        printf("  %.*s is %.*s\n", (int)key_len, (const char *)key, (int)val_len,
               (const char *)val);
    } else {
        printf("  %.*s is gone\n", (int)key_len, (const char *)key);
    }
    snprintf(number, sizeof number, "%08u", journal->lines++);
    Txn *txn = txn_begin(journal->db, NULL, TXN_WAIT);
    must(txn_put_dbi(txn, JOURNAL, number, 8, key, key_len), "journal");
    must(txn_commit(txn), "commit of the journal");
}

static void on_journal(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                       void *ctx)
{
    (void)ctx;
    printf("  journal %.*s: %.*s\n", (int)key_len, (const char *)key, (int)val_len,
           (const char *)val);
}

int main(void)
{
    DB *db = db_open(NULL, 0, NULL, NULL);
    if (db == NULL) {
        return 1;
    }
    Journal journal = {.db = db};
    must(dbi_open(db, JOURNAL, NULL, NULL, 0), "dbi_open");
    must(db_watch(db, "net/", 4, on_setting, &journal), "watch");
    must(db_watch_dbi(db, JOURNAL, "", 0, on_journal, NULL), "watch of the journal");

    printf("a commit\n");
    Txn *txn = txn_begin(db, NULL, 0);
    set(txn, "net/port", "80");
    set(txn, "net/host", "localhost");
    set(txn, "net/port", "8080"); /* once per key and commit: 80 is never seen */
    set(txn, "log/level", "3");   /* not below net/ */
    must(txn_commit(txn), "commit");

    printf("an abort\n");
    txn = txn_begin(db, NULL, 0);
    set(txn, "net/port", "9090");
    txn_abort(txn);

    printf("a child that aborts, and one that commits\n");
    txn = txn_begin(db, NULL, 0);
    Txn *child = txn_begin(db, txn, 0);
    set(child, "net/host", "example.org");
    txn_abort(child);
    child = txn_begin(db, txn, 0);
    must(txn_del(child, "net/port", 8), "del");
    must(txn_commit(child), "commit of the child"); /* nobody is told yet */
    printf("  (the child has committed)\n");
    must(txn_commit(txn), "commit");

    must(db_unwatch(db, "net/", 4, on_setting, &journal), "unwatch");
    printf("a commit that nobody watches\n");
    txn = txn_begin(db, NULL, 0);
    set(txn, "net/port", "1");
    must(txn_commit(txn), "commit");

    must(db_close(db), "close");
    return 0;
}
