/* tutorial_store.c - a lending library: the program that docs/tutorial/store.md builds.
 *
 * Build: cc tutorial_store.c $(pkg-config --cflags --libs sapling) */
#include <sapling/sapling.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BOOKS = 0, LOANS = 1, BY_READER = 2 };

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

static DB *open_library(void)
{
    DB *db = db_open(NULL, 0, NULL, NULL);
    must(db != NULL ? SAP_OK : SAP_NOMEM, "open");
    must(dbi_open(db, LOANS, NULL, NULL, 0), "open the loans");
    must(dbi_open(db, BY_READER, NULL, NULL, DBI_DUPSORT), "open the index");
    return db;
}

static void add_books(DB *db)
{
    Txn *txn = txn_begin(db, NULL, 0);
    must(txn_put(txn, "b1", 2, "Emma", 4), "put");
    must(txn_put(txn, "b2", 2, "Ulysses", 7), "put");
    must(txn_put(txn, "b3", 2, "Solaris", 7), "put");
    must(txn_commit(txn), "commit");
}

/* SAP_NOTFOUND: no such book. SAP_EXISTS: it is lent already. */
static int lend(Txn *txn, const char *book, const char *reader)
{
    int rc = txn_get_dbi(txn, BOOKS, book, len(book), NULL, NULL);
    if (rc == SAP_OK) {
        rc = txn_put_flags_dbi(txn, LOANS, book, len(book), reader, len(reader), SAP_NOOVERWRITE,
                               NULL);
    }
    if (rc == SAP_OK) {
        rc = txn_put_dbi(txn, BY_READER, reader, len(reader), book, len(book));
    }
    return rc;
}

/* Lends both books or neither. */
static int lend_two(DB *db, Txn *txn, const char *first, const char *second, const char *reader)
{
    Txn *child = txn_begin(db, txn, 0);
    if (child == NULL) {
        return SAP_NOMEM;
    }
    int rc = lend(child, first, reader);
    if (rc == SAP_OK) {
        rc = lend(child, second, reader);
    }
    if (rc == SAP_OK) {
        return txn_commit(child);
    }
    txn_abort(child);
    return rc;
}

static int give_back(Txn *txn, const char *book)
{
    const void *val = NULL;
    uint32_t val_len = 0;
    char reader[32];

    int rc = txn_get_dbi(txn, LOANS, book, len(book), &val, &val_len);
    if (rc != SAP_OK || val_len > sizeof reader) {
        return rc != SAP_OK ? rc : SAP_FULL;
    }
    memcpy(reader, val, val_len); /* val points into the tree, which is about to change */
    rc = txn_del_dbi(txn, LOANS, book, len(book));
    if (rc == SAP_OK) {
        rc = txn_del_dup_dbi(txn, BY_READER, reader, val_len, book, len(book));
    }
    return rc;
}

static void print_loans(Txn *txn, const char *reader)
{
    const void *key = NULL;
    const void *book = NULL;
    const void *title = NULL;
    uint32_t key_len = 0;
    uint32_t book_len = 0;
    uint32_t title_len = 0;

    printf("%s has:", reader);
    Cursor *cur = cursor_open_dbi(txn, BY_READER);
    int rc = cursor_seek(cur, reader, len(reader));
    if (rc == SAP_OK) {
        must(cursor_get_key(cur, &key, &key_len), "key");
        rc = key_len == len(reader) && memcmp(key, reader, key_len) == 0 ? SAP_OK : SAP_NOTFOUND;
    }
    while (rc == SAP_OK) {
        must(cursor_get(cur, NULL, NULL, &book, &book_len), "value");
        must(txn_get_dbi(txn, BOOKS, book, book_len, &title, &title_len), "title");
        printf(" %.*s;", (int)title_len, (const char *)title);
        rc = cursor_next_dup(cur);
    }
    printf("\n");
    cursor_close(cur);
}

static void on_loan(const void *key, uint32_t key_len, const void *val, uint32_t val_len, void *ctx)
{
    (void)ctx;
    if (val != NULL) {
        printf("[desk] %.*s goes to %.*s\n", (int)key_len, (const char *)key, (int)val_len,
               (const char *)val);
    } else {
        printf("[desk] %.*s is back\n", (int)key_len, (const char *)key);
    }
}

int main(void)
{
    DB *db = open_library();
    add_books(db);
    must(db_watch_dbi(db, LOANS, "", 0, on_loan, NULL), "watch");

    Txn *txn = txn_begin(db, NULL, 0);
    printf("ada, b1 and b2: %s\n", sap_strerror(lend_two(db, txn, "b1", "b2", "ada")));
    printf("bob, b3 and b1: %s\n", sap_strerror(lend_two(db, txn, "b3", "b1", "bob")));
    printf("bob, b3: %s\n", sap_strerror(lend(txn, "b3", "bob")));
    must(txn_commit(txn), "commit");

    Txn *morning = txn_begin(db, NULL, TXN_RDONLY);

    txn = txn_begin(db, NULL, 0);
    must(give_back(txn, "b2"), "give back");
    must(lend(txn, "b2", "bob"), "lend");
    must(give_back(txn, "b1"), "give back");
    must(txn_commit(txn), "commit");

    Txn *evening = txn_begin(db, NULL, TXN_RDONLY);
    printf("in the morning, ");
    print_loans(morning, "ada");
    printf("in the evening, ");
    print_loans(evening, "ada");
    printf("in the evening, ");
    print_loans(evening, "bob");
    txn_abort(morning);
    txn_abort(evening);

    must(db_unwatch_dbi(db, LOANS, "", 0, on_loan, NULL), "unwatch");
    must(db_close(db), "close");
    return 0;
}
