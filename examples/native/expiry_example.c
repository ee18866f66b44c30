/* expiry_example.c - sessions that end by themselves.
 *
 * Expiry times live in a table beside the data. The engine has no clock: every call is told what
 * time it is, which also makes a program like this one print the same each time.
 *
 * Build: cc expiry_example.c $(pkg-config --cflags --libs sapling) */
#include <sapling/sapling.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SESSIONS = 0, EXPIRY = 1, MINUTE_MS = 60 * 1000 };

static void must(int rc, const char *what)
{
    if (rc != SAP_OK) {
        fprintf(stderr, "%s: %s\n", what, sap_strerror(rc));
        exit(1);
    }
}

static void log_in(Txn *txn, const char *session, const char *user, uint64_t until_ms)
{
    must(txn_put_ttl_dbi(txn, SESSIONS, EXPIRY, session, (uint32_t)strlen(session), user,
                         (uint32_t)strlen(user), until_ms),
         "put");
}

static void print_user(Txn *txn, const char *session, uint64_t now_ms)
{
    const void *user = NULL;
    uint32_t user_len = 0;
    int rc = txn_get_ttl_dbi(txn, SESSIONS, EXPIRY, session, (uint32_t)strlen(session), now_ms,
                             &user, &user_len);

    if (rc == SAP_NOTFOUND) {
        user = "nobody";
        user_len = 6;
    } else {
        must(rc, "get");
    }
    printf("minute %2llu: %s is %.*s\n", (unsigned long long)(now_ms / MINUTE_MS), session,
           (int)user_len, (const char *)user);
}

/* Removes what has expired, at most two rows in a transaction, so that no other writer waits long. */
static void sweep(DB *db, uint64_t now_ms)
{
    SapSweepCheckpoint checkpoint;

    sap_sweep_checkpoint_clear(&checkpoint);
    while (!checkpoint.done) {
        uint64_t deleted = 0;
        Txn *txn = txn_begin(db, NULL, TXN_WAIT);
        must(txn_sweep_ttl_dbi_checkpoint(txn, SESSIONS, EXPIRY, now_ms, 2, &checkpoint, &deleted),
             "sweep");
        must(txn_commit(txn), "commit");
        printf("swept %llu, %llu in all%s\n", (unsigned long long)deleted,
               (unsigned long long)checkpoint.deleted, checkpoint.done ? ", done" : "");
    }
}

int main(void)
{
    DB *db = db_open(NULL, 0, NULL, NULL);
    if (db == NULL) {
        return 1;
    }
    must(dbi_open(db, EXPIRY, NULL, NULL, DBI_TTL_META), "dbi_open");

    Txn *txn = txn_begin(db, NULL, 0);
    log_in(txn, "s1", "ada", 10 * MINUTE_MS);
    log_in(txn, "s2", "bob", 20 * MINUTE_MS);
    log_in(txn, "s3", "cyd", 12 * MINUTE_MS);
    log_in(txn, "s4", "dee", 15 * MINUTE_MS);
    log_in(txn, "s1", "ada", 30 * MINUTE_MS); /* ada came back: the new time counts */
    must(txn_commit(txn), "commit");

    txn = txn_begin(db, NULL, TXN_RDONLY);
    print_user(txn, "s1", 15 * MINUTE_MS);
    print_user(txn, "s2", 15 * MINUTE_MS);
    print_user(txn, "s3", 15 * MINUTE_MS);
    print_user(txn, "s4", 15 * MINUTE_MS - 1);
    print_user(txn, "s4", 15 * MINUTE_MS); /* expired at its expiry time, not after it */
    txn_abort(txn);

    sweep(db, 20 * MINUTE_MS);

    SapStat stat;
    must(db_stat(db, &stat), "stat");
    printf("sessions left: %llu\n", (unsigned long long)stat.num_entries);

    txn = txn_begin(db, NULL, 0);
    int rc = txn_get_ttl_flags_dbi(txn, SESSIONS, EXPIRY, "s1", 2, 31 * MINUTE_MS, NULL, NULL,
                                   SAP_TTL_LAZY_DELETE);
    printf("a lazy read of s1: %s\n", sap_strerror(rc));
    must(txn_stat(txn, &stat), "stat");
    printf("sessions left: %llu\n", (unsigned long long)stat.num_entries);
    must(txn_commit(txn), "commit");

    must(db_close(db), "close");
    return 0;
}
