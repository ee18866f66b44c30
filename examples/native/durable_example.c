/* durable_example.c - commits that survive: a process is killed while it writes to a file.
 *
 * The child commits one order after the other and reports each through a pipe once txn_commit() has
 * returned. The parent kills it after 200 of them, opens the file again and looks whether every
 * order it heard of is there. Leaves nothing behind. */
#include <sapling/sapling.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char path[] = "orders.db";

static void check(int rc, const char *what)
{
    if (rc != SAP_OK) {
        fprintf(stderr, "%s: %s\n", what, sap_strerror(rc));
        exit(1);
    }
}

/* db_open_path() says with a text what a code cannot. */
static void tell(const char *text, void *ctx)
{
    (void)ctx;
    fprintf(stderr, "%s\n", text);
}

static DB *open_orders(void)
{
    SapOpenOptions options = {.flags = SAP_OPEN_CREATE, .on_message = tell};
    DB *db = NULL;
    check(db_open_path(path, &options, &db), "open");
    return db;
}

static void take_orders(int report)
{
    DB *db = open_orders();
    for (unsigned number = 1;; number++) {
        char key[16];
        int len = snprintf(key, sizeof key, "order-%06u", number);
        Txn *txn = NULL;
        check(txn_begin_rc(db, NULL, TXN_WAIT, &txn), "begin");
        check(txn_put(txn, key, (uint32_t)len, "paid", 4), "put");
        check(txn_commit(txn), "commit"); /* returns when the order is on disk */
        if (write(report, &number, sizeof number) != (ssize_t)sizeof number) {
            exit(1);
        }
    }
}

int main(void)
{
    int pipe_ends[2];
    if (pipe(pipe_ends) != 0) {
        return 1;
    }
    pid_t child = fork();
    if (child == 0) {
        close(pipe_ends[0]);
        take_orders(pipe_ends[1]);
    }
    close(pipe_ends[1]);
    unsigned acknowledged = 0;
    unsigned number = 0;
    while (read(pipe_ends[0], &number, sizeof number) == (ssize_t)sizeof number) {
        acknowledged = number;
        if (acknowledged == 200) {
            kill(child, SIGKILL); /* what is in the pipe by now was acknowledged too */
        }
    }
    waitpid(child, NULL, 0);
    printf("the process was killed after %s 200 orders\n",
           acknowledged >= 200 ? "at least" : "only");

    DB *db = open_orders(); /* replays the log */
    Txn *txn = txn_begin(db, NULL, TXN_RDONLY);
    unsigned found = 0;
    for (unsigned i = 1; i <= acknowledged; i++) {
        char key[16];
        int len = snprintf(key, sizeof key, "order-%06u", i);
        found += txn_get(txn, key, (uint32_t)len, NULL, NULL) == SAP_OK ? 1 : 0;
    }
    SapStat stat;
    check(txn_stat(txn, &stat), "stat");
    txn_abort(txn);
    printf("acknowledged orders lost: %u\n", acknowledged - found);
    printf("unacknowledged orders found: %s\n",
           stat.num_entries - acknowledged <= 1 ? "at most one" : "more than one");
    check(db_verify(db, tell, NULL), "verify");
    check(db_close(db), "close");

    return system("rm -f orders.db orders.db-lock orders.db-wal.*") == 0 ? 0 : 1;
}
