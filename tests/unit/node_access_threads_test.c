/* A file is used in the same way by its owner and, through the owner's socket, by others. */
#include "common/buf.h"
#include "common/bytes.h"
#include "common/random.h"
#include "node/access.h"
#include "node/wire.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TIMEOUT_S = 120,
    PAIRS = 3,
    ROWS = 3000,
    CLIENTS = 4,
    ROUNDS = 500,
    ROUNDS_AN_OPEN = 25,
    GARBAGE = 200,
    SHORT_PATIENCE_MS = 50,
    SHORT_SILENCE_MS = 400,
    WIDE_VALUE = 4 << 20, /* more than a socket holds */
    WAITING = 1000,
    TRIES = 5,
    WIDE_BATCHES = 40,
    WIDE_ROWS = 500,
};

static Access *open_access(const FileBed *bed, unsigned flags)
{
    AccessOptions options = {.flags = flags};
    Access *access = NULL;

    EXPECT_RC(access_open(bed->path, &options, &access), SAP_OK);
    return access;
}

static Slice text(const char *s)
{
    return slice_from_str(s);
}

/* ---- A battery whose outcome is written down ------------------------------------------------ */

static int note_table(const AccessTable *table, void *ctx)
{
    return buf_printf((Buf *)ctx, "table %u flags %u rows %" PRIu64 " depth %u\n", table->dbi,
                      table->flags, table->rows, table->depth);
}

static int note_row(const AccessRow *row, void *ctx)
{
    return buf_printf((Buf *)ctx, "%.*s=%.*s\n", (int)row->key.len, (const char *)row->key.data,
                      (int)row->val.len, (const char *)row->val.data);
}

static int stop_at_third(const AccessRow *row, void *ctx)
{
    (void)row;
    return ++*(int *)ctx == 3 ? SAP_CONFLICT : SAP_OK;
}

static int note_bytes(const void *data, uint32_t len, void *ctx)
{
    return buf_append((Buf *)ctx, data, len);
}

static void note_finding(const char *finding, void *ctx)
{
    EXPECT_RC(buf_printf((Buf *)ctx, "finding %s\n", finding), SAP_OK);
}

/* The last of it: how often it is told depends on time. */
typedef struct Heard {
    Buf *log; /* for findings */
    uint64_t done;
    uint64_t total;
    uint32_t calls;
    uint32_t stop_at; /* call; 0: none */
} Heard;

static void hear_finding(const char *finding, void *ctx)
{
    note_finding(finding, ((Heard *)ctx)->log);
}

static int hear(uint64_t done, uint64_t total, void *ctx)
{
    Heard *heard = ctx;

    EXPECT(done >= heard->done && done <= total, "%" PRIu64 " of %" PRIu64 " rows", done, total);
    heard->done = done;
    heard->total = total;
    return ++heard->calls == heard->stop_at ? SAP_CONFLICT : SAP_OK;
}

static void note_heard(const Heard *heard)
{
    EXPECT(heard->calls > 0, "nothing was told");
    EXPECT_RC(
        buf_printf(heard->log, "%" PRIu64 " of %" PRIu64 " rows\n", heard->done, heard->total),
        SAP_OK);
}

static void note_rc(Access *access, Buf *log, const char *what, int rc)
{
    bool explained = rc != SAP_OK && rc != SAP_NOTFOUND && rc != SAP_EXISTS;

    EXPECT_RC(buf_printf(log, "%s: %d %s\n", what, rc, explained ? access_message(access) : ""),
              SAP_OK);
}

static void note_scan(Access *access, Buf *log, const AccessRange *range)
{
    note_rc(access, log, "scan", access_scan(access, range, note_row, log));
}

static void fill(Access *access, Buf *log)
{
    static char keys[ROWS][8];
    static char vals[ROWS][16];
    static AccessChange changes[ROWS];

    for (uint32_t i = 0; i < ROWS; i++) {
        snprintf(keys[i], sizeof keys[i], "k%05u", i * 7 % ROWS);
        snprintf(vals[i], sizeof vals[i], "value %u", i);
        changes[i] =
            (AccessChange){ACCESS_PUT, i % 3 == 0 ? PAIRS : 0, text(keys[i]), text(vals[i])};
    }
    note_rc(access, log, "fill", access_write(access, changes, ROWS, NULL));
}

/* So many rows that a copy takes some time. */
static void fill_wide(Access *access)
{
    static char val[1000];
    static char keys[WIDE_ROWS][16];
    static AccessChange changes[WIDE_ROWS];

    for (uint32_t batch = 0; batch < WIDE_BATCHES; batch++) {
        for (uint32_t i = 0; i < WIDE_ROWS; i++) {
            snprintf(keys[i], sizeof keys[i], "w%06u", batch * WIDE_ROWS + i);
            changes[i] = (AccessChange){ACCESS_PUT, 0, text(keys[i]), {val, sizeof val}};
        }
        EXPECT_RC(access_write(access, changes, WIDE_ROWS, NULL), SAP_OK);
    }
}

static bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void try_rows(Access *access, Buf *log)
{
    uint32_t failed = 9;
    Buf val = {0};
    AccessChange both[] = {{ACCESS_PUT, 0, text("a"), text("1")},
                           {ACCESS_PUT_NEW, 0, text("k00001"), text("2")}};
    AccessChange pair[] = {{ACCESS_PUT, PAIRS, text("p"), text("1")},
                           {ACCESS_PUT, PAIRS, text("p"), text("1")},
                           {ACCESS_PUT, PAIRS, text("p"), text("2")},
                           {ACCESS_DEL_PAIR, PAIRS, text("p"), text("1")}};
    AccessChange gone = {ACCESS_DEL, 0, text("nothing"), {0}};
    AccessChange nowhere = {ACCESS_PUT, 77, text("x"), text("y")};

    note_rc(access, log, "all or none", access_write(access, both, 2, &failed));
    EXPECT_RC(buf_printf(log, "failed %u\n", failed), SAP_OK);
    note_rc(access, log, "so none", access_get(access, 0, text("a"), &val));
    note_rc(access, log, "pairs", access_write(access, pair, 4, NULL));
    note_rc(access, log, "first pair", access_get(access, PAIRS, text("p"), &val));
    note_rc(access, log, "no row", access_write(access, &gone, 1, NULL));
    note_rc(access, log, "no table", access_write(access, &nowhere, 1, NULL));
    note_rc(access, log, "no table either", access_get(access, 78, text("x"), &val));
    note_rc(access, log, "other kind", access_open_table(access, 0, DBI_DUPSORT));
    note_rc(access, log, "same kind", access_open_table(access, PAIRS, DBI_DUPSORT));
    note_rc(access, log, "beyond", access_open_table(access, SAP_MAX_DBI + 1, 0));
    EXPECT_RC(buf_append(log, val.data, val.len), SAP_OK);
    buf_release(&val);
}

static void try_ranges(Access *access, Buf *log)
{
    int seen = 0;
    uint64_t n = 0;
    AccessRange all = {0};
    AccessRange some = {.from = text("k00100"), .to = text("k00200")};
    AccessRange back = {.from = text("k00100"), .to = text("k00200"), .backwards = true};
    AccessRange last = {.backwards = true, .limit = 5};
    AccessRange keys = {.dbi = PAIRS, .keys_only = true, .limit = 7};
    AccessRange behind = {.to = text("z"), .backwards = true, .limit = 1};
    AccessRange nowhere = {.dbi = 77};

    note_scan(access, log, &all);
    note_scan(access, log, &some);
    note_scan(access, log, &back);
    note_scan(access, log, &last);
    note_scan(access, log, &keys);
    note_scan(access, log, &behind);
    note_scan(access, log, &nowhere);
    note_rc(access, log, "stopped", access_scan(access, &all, stop_at_third, &seen));
    note_rc(access, log, "count", access_count(access, &some, &n));
    EXPECT_RC(buf_printf(log, "counted %" PRIu64 " after %d\n", n, seen), SAP_OK);
    note_rc(access, log, "delete", access_del_range(access, &some, &n));
    EXPECT_RC(buf_printf(log, "deleted %" PRIu64 "\n", n), SAP_OK);
    note_scan(access, log, &some);
}

/* What is in a copy. */
static void note_copy(const char *path, Buf *log)
{
    AccessOptions options = {.flags = ACCESS_READ};
    Access *copy = NULL;

    EXPECT_RC(access_open(path, &options, &copy), SAP_OK);
    EXPECT_RC(access_verify(copy, note_finding, NULL, log), SAP_OK);
    EXPECT_RC(access_stream(copy, note_bytes, log), SAP_OK);
    EXPECT_RC(access_close(copy), SAP_OK);
}

static void try_copies(Access *access, const FileBed *bed, Buf *log)
{
    char path[FILES_PATH_MAX + 16];
    Buf image = {0};
    Heard heard = {.log = log};

    snprintf(path, sizeof path, "%s-compact", bed->path);
    note_rc(access, log, "compact", access_compact(access, path, hear, &heard));
    note_heard(&heard);
    note_copy(path, log);
    EXPECT_RC(access_compact(access, path, NULL, NULL), SAP_EXISTS);
    note_rc(access, log, "backup", access_backup(access, note_bytes, &image));
    snprintf(path, sizeof path, "%s-backup", bed->path);
    FILE *file = fopen(path, "w");
    EXPECT(file != NULL && fwrite(image.data, 1, image.len, file) == image.len, "no copy");
    EXPECT(fclose(file) == 0, "no copy");
    note_copy(path, log);
    buf_release(&image);
}

static void battery(Access *access, const FileBed *bed, Buf *log)
{
    AccessStat stat = {0};
    Heard heard = {.log = log};

    note_rc(access, log, "table", access_open_table(access, PAIRS, DBI_DUPSORT));
    fill(access, log);
    try_rows(access, log);
    try_ranges(access, log);
    note_rc(access, log, "tables", access_tables(access, note_table, log));
    note_rc(access, log, "verify", access_verify(access, hear_finding, hear, &heard));
    note_heard(&heard);
    note_rc(access, log, "stream", access_stream(access, note_bytes, log));
    try_copies(access, bed, log);
    note_rc(access, log, "stat", access_stat(access, &stat));
    EXPECT(stat.page_size == 4096 && stat.data_size > 0 && stat.log_size > 0 && stat.txnid > 0,
           "a stat without figures: %u %" PRIu64 " %" PRIu64 " %" PRIu64, stat.page_size,
           stat.data_size, stat.log_size, stat.txnid);
}

START_TEST(the_owner_and_others_get_the_same_answers)
{
    FileBed own;
    FileBed others;
    Buf direct = {0};
    Buf remote = {0};

    file_bed_start(&own);
    file_bed_start(&others);
    Access *access = open_access(&own, ACCESS_CREATE);
    ck_assert(!access_is_remote(access));
    battery(access, &own, &direct);
    ck_assert_int_eq(access_close(access), SAP_OK);

    Access *owner = open_access(&others, ACCESS_CREATE | ACCESS_SERVE);
    access = open_access(&others, 0);
    ck_assert(access_is_remote(access));
    battery(access, &others, &remote);
    ck_assert_int_eq(access_close(access), SAP_OK);
    ck_assert_int_eq(access_close(owner), SAP_OK);

    ck_assert_uint_gt(direct.len, 10000);
    ck_assert_uint_eq(direct.len, remote.len);
    ck_assert(memcmp(direct.data, remote.data, direct.len) == 0);
    buf_release(&direct);
    buf_release(&remote);
    file_bed_end(&own);
    file_bed_end(&others);
}
END_TEST

/* Who no longer listens wants no copy: the owner ends it, and leaves no part of one. */
START_TEST(a_user_that_goes_away_ends_the_work_of_the_owner)
{
    FileBed bed;
    char path[FILES_PATH_MAX + 16];
    char unfinished[sizeof path + 4];
    uint32_t ended = 0;
    Buf log = {0};

    file_bed_start(&bed);
    Access *owner = open_access(&bed, ACCESS_CREATE | ACCESS_SERVE);
    EXPECT_RC(access_open_table(owner, PAIRS, DBI_DUPSORT), SAP_OK);
    fill(owner, &log);
    fill_wide(owner);
    for (int i = 0; i < TRIES; i++) {
        Access *access = open_access(&bed, 0);
        Heard heard = {.log = &log, .stop_at = 1};
        snprintf(path, sizeof path, "%s-compact%d", bed.path, i);
        snprintf(unfinished, sizeof unfinished, "%s-new", path);
        EXPECT_RC(access_compact(access, path, hear, &heard), SAP_CONFLICT);
        EXPECT_RC(access_close(access), SAP_OK);
        for (int n = 0; file_exists(unfinished) && n < 5000; n++) {
            (void)usleep(1000);
        }
        EXPECT(!file_exists(unfinished), "the owner still makes a copy");
        ended += !file_exists(path);
        (void)unlink(path);
    }
    Heard heard = {.log = &log, .stop_at = 1};
    Access *access = open_access(&bed, 0);
    EXPECT_RC(access_verify(access, hear_finding, hear, &heard), SAP_CONFLICT);
    EXPECT_RC(access_verify(access, hear_finding, NULL, &heard), SAP_OK); /* asked anew */
    EXPECT_RC(access_close(access), SAP_OK);
    EXPECT_RC(access_close(owner), SAP_OK);
    printf("node access: %u of %u copies ended\n", ended, TRIES);
    ck_assert_uint_gt(ended, 0);
    buf_release(&log);
    file_bed_end(&bed);
}
END_TEST

/* ---- Owners come and go --------------------------------------------------------------------- */

static void put(Access *access, uint32_t client, uint32_t round)
{
    char key[24];
    AccessChange change = {ACCESS_PUT_NEW, 0, {0}, text("v")};

    change.key = (Slice){key, (size_t)snprintf(key, sizeof key, "%u-%u", client, round)};
    EXPECT_RC(access_write(access, &change, 1, NULL), SAP_OK);
}

typedef struct Client {
    const FileBed *bed;
    uint32_t number;
    uint32_t remotes; /* how many of its rounds found another owner */
} Client;

/* Opens anew for some rounds and keeps open for others: so owners end while others ask them. */
static void *be_client(void *arg)
{
    Client *client = arg;

    for (uint32_t round = 0; round < ROUNDS;) {
        Access *access = open_access(client->bed, ACCESS_CREATE | ACCESS_SERVE);
        client->remotes += access_is_remote(access);
        for (uint32_t n = 0; n < ROUNDS_AN_OPEN && round < ROUNDS; n++, round++) {
            put(access, client->number, round);
            (void)usleep(100); /* so that the others come while it owns the file */
        }
        EXPECT_RC(access_close(access), SAP_OK);
    }
    return NULL;
}

START_TEST(nothing_is_lost_or_done_twice_while_owners_come_and_go)
{
    FileBed bed;
    pthread_t threads[CLIENTS];
    Client clients[CLIENTS];
    uint32_t remotes = 0;
    uint64_t count = 0;
    AccessRange all = {0};

    file_bed_start(&bed);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        clients[i] = (Client){.bed = &bed, .number = i};
        EXPECT(pthread_create(&threads[i], NULL, be_client, &clients[i]) == 0, "no thread");
    }
    for (uint32_t i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
        remotes += clients[i].remotes;
    }
    Access *access = open_access(&bed, ACCESS_READ);
    ck_assert_int_eq(access_count(access, &all, &count), SAP_OK);
    ck_assert_uint_eq(count, CLIENTS * ROUNDS);
    ck_assert_int_eq(access_close(access), SAP_OK);
    printf("node access: %u commits by %u clients, %u of their opens found another owner\n",
           CLIENTS * ROUNDS, CLIENTS, remotes);
    ck_assert_uint_gt(remotes, 0);
    file_bed_end(&bed);
}
END_TEST

static void keep_note(const char *note, void *ctx)
{
    EXPECT_RC(buf_printf((Buf *)ctx, "%s\n", note), SAP_OK);
}

/* Of a short patience; notes go to the buffer. */
static int open_impatient(const FileBed *bed, Buf *notes, Access **access_out)
{
    AccessOptions options = {.patience_ms = SHORT_PATIENCE_MS,
                             .silence_ms = SHORT_SILENCE_MS,
                             .on_wait = keep_note,
                             .callback_ctx = notes};

    return access_open(bed->path, &options, access_out);
}

typedef struct Opening {
    const FileBed *bed;
    unsigned flags;
} Opening;

static void open_in_child(void *arg)
{
    const Opening *opening = arg;

    (void)open_access(opening->bed, opening->flags);
}

/* A child that owns the file until it is killed. */
static pid_t start_owner(const FileBed *bed, unsigned flags)
{
    Opening opening = {bed, ACCESS_CREATE | flags};

    return files_start_child(open_in_child, &opening);
}

/* Until all of its threads stand still. */
static void stop_owner(pid_t pid)
{
    int status = 0;

    ck_assert_int_eq(kill(pid, SIGSTOP), 0);
    ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
    ck_assert(WIFSTOPPED(status));
}

START_TEST(a_write_through_an_owner_that_is_killed_is_an_error_once_and_reading_is_none)
{
    FileBed bed;
    AccessStat stat;
    AccessChange change = {ACCESS_PUT, 0, text("k"), text("v")};
    Buf val = {0};

    file_bed_start(&bed);
    for (int reads = 0; reads < 2; reads++) {
        pid_t pid = start_owner(&bed, ACCESS_SERVE);
        Access *access = open_access(&bed, 0);
        ck_assert(access_is_remote(access));
        put(access, 1, (uint32_t)reads);
        files_kill(pid);
        if (reads) {
            ck_assert_int_eq(access_stat(access, &stat), SAP_OK);
            ck_assert(access_was_repeated(access));
        } else {
            ck_assert_int_eq(access_write(access, &change, 1, NULL), SAP_IO);
            ck_assert_ptr_nonnull(strstr(access_message(access), "went away"));
        }
        ck_assert_int_eq(access_get(access, 0, text("1-0"), &val), SAP_OK);
        ck_assert(!access_is_remote(access) && !access_was_repeated(access));
        ck_assert_int_eq(access_close(access), SAP_OK);
    }
    buf_release(&val);
    file_bed_end(&bed);
}
END_TEST

/* ---- An owner that reads its log ------------------------------------------------------------- */

/* As an owner that has come as far as the lock. */
static void open_by_engine(void *arg)
{
    SapEnv *db = NULL;

    EXPECT_RC(sap_db_open_path(((const FileBed *)arg)->path, NULL, &db), SAP_OK);
}

typedef struct Recovering {
    pid_t pid;
    char socket[FILES_PATH_MAX + 8];
} Recovering;

/* It has read the log after a while, removes the dead socket, and is gone before it has made its own. */
static void *end_recovery(void *arg)
{
    const Recovering *recovering = arg;

    (void)usleep(4 * SHORT_PATIENCE_MS * 1000);
    EXPECT(unlink(recovering->socket) == 0, "there is no socket");
    (void)usleep(SHORT_PATIENCE_MS / 2 * 1000);
    files_kill(recovering->pid);
    return NULL;
}

START_TEST(who_opens_the_file_after_its_owner_died_is_waited_for_while_it_reads_the_log)
{
    FileBed bed;
    pthread_t thread;
    char said[64];
    Buf notes = {0};
    Access *access = NULL;

    file_bed_start(&bed);
    files_kill(start_owner(&bed, ACCESS_SERVE)); /* leaves its socket */
    pid_t pid = files_start_child(open_by_engine, &bed);
    Recovering recovering = {.pid = pid};
    snprintf(recovering.socket, sizeof recovering.socket, "%s.sock", bed.path);
    ck_assert_int_eq(pthread_create(&thread, NULL, end_recovery, &recovering), 0);
    ck_assert_int_eq(open_impatient(&bed, &notes, &access), SAP_OK);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert(!access_is_remote(access));
    ck_assert_int_eq(access_close(access), SAP_OK);
    EXPECT_RC(buf_append_u8(&notes, 0), SAP_OK);
    snprintf(said, sizeof said, "waiting for process %d, which opens ", (int)pid);
    ck_assert_msg(strstr((const char *)notes.data, said) != NULL, "%s", (const char *)notes.data);

    files_kill(start_owner(&bed, ACCESS_SERVE));
    pid = files_start_child(open_by_engine, &bed);
    ck_assert_int_eq(open_impatient(&bed, &notes, &access), SAP_BUSY); /* but not for ever */
    ck_assert_int_eq(access_close(access), SAP_OK);
    files_kill(pid);
    buf_release(&notes);
    file_bed_end(&bed);
}
END_TEST

/* ---- A reader that serves -------------------------------------------------------------------- */

START_TEST(others_write_the_file_while_a_reader_that_serves_has_it_open)
{
    FileBed bed;
    Buf rows = {0};
    AccessRange all = {0};
    AccessOptions options = {.flags = ACCESS_READ | ACCESS_SERVE};
    Access *reader = NULL;

    file_bed_start(&bed);
    ck_assert_int_eq(access_open(bed.path, &options, &reader), SAP_NOTFOUND); /* nothing is made */
    ck_assert_int_eq(access_close(reader), SAP_OK);
    Access *writer = open_access(&bed, ACCESS_CREATE);
    put(writer, 1, 1);
    ck_assert_int_eq(access_close(writer), SAP_OK);
    Image *before = image_take(bed.dir);
    reader = open_access(&bed, ACCESS_READ | ACCESS_SERVE);
    ck_assert_int_eq(access_scan(reader, &all, note_row, &rows), SAP_OK);
    ck_assert_int_eq(access_close(reader), SAP_OK);
    image_expect_same(before, bed.dir); /* reading alone changes nothing */
    image_free(before);
    reader = open_access(&bed, ACCESS_READ | ACCESS_SERVE);
    writer = open_access(&bed, 0);
    ck_assert(access_is_remote(writer) && !access_is_remote(reader));
    put(writer, 1, 2);
    ck_assert_int_eq(access_close(writer), SAP_OK);
    ck_assert_int_eq(access_close(reader), SAP_OK);
    buf_release(&rows);
    file_bed_end(&bed);
}
END_TEST

START_TEST(a_reader_that_cannot_serve_shares_the_file_with_other_readers)
{
    FileBed bed;
    char socket[FILES_PATH_MAX + 16];

    file_bed_start(&bed);
    Access *access = open_access(&bed, ACCESS_CREATE);
    put(access, 1, 1);
    ck_assert_int_eq(access_close(access), SAP_OK);
    snprintf(socket, sizeof socket, "%s.sock", bed.path);
    ck_assert_int_eq(mkdir(socket, 0700), 0); /* in the way of the socket */
    Access *one = open_access(&bed, ACCESS_READ | ACCESS_SERVE);
    Access *other = open_access(&bed, ACCESS_READ);
    ck_assert(!access_is_remote(one) && !access_is_remote(other));
    ck_assert_int_eq(access_close(other), SAP_OK);
    ck_assert_int_eq(access_close(one), SAP_OK);
    ck_assert_int_eq(rmdir(socket), 0);
    file_bed_end(&bed);
}
END_TEST

START_TEST(an_owner_that_does_not_serve_is_named)
{
    FileBed bed;
    char number[24];
    AccessOptions options = {.patience_ms = SHORT_PATIENCE_MS};
    Access *access = NULL;

    file_bed_start(&bed);
    pid_t pid = start_owner(&bed, 0);
    snprintf(number, sizeof number, "%d", (int)pid);
    ck_assert_int_eq(access_open(bed.path, &options, &access), SAP_BUSY);
    ck_assert_msg(strstr(access_message(access), number) != NULL, "%s", access_message(access));
    ck_assert_int_eq(access_close(access), SAP_OK);
    files_kill(pid);
    file_bed_end(&bed);
}
END_TEST

/* ---- An owner that does not answer ---------------------------------------------------------- */

/* SAP_BUSY, with the process named in the message and, before, in a note. */
static void expect_no_answer(Access *access, int rc, pid_t pid, Buf *notes)
{
    char said[64];

    ck_assert_int_eq(rc, SAP_BUSY);
    snprintf(said, sizeof said, "process %d, which has ", (int)pid);
    ck_assert_msg(strstr(access_message(access), said) != NULL, "%s", access_message(access));
    ck_assert_ptr_nonnull(strstr(access_message(access), "does not answer"));
    EXPECT_RC(buf_append_u8(notes, 0), SAP_OK);
    ck_assert_msg(strstr((const char *)notes->data, said) != NULL, "%s", (const char *)notes->data);
    ck_assert_ptr_nonnull(strstr((const char *)notes->data, "open and does not answer\n"));
    ck_assert_ptr_null(strstr((const char *)notes->data, "at work"));
    buf_clear(notes);
}

START_TEST(an_owner_that_is_stopped_is_told_and_given_up)
{
    static char wide[WIDE_VALUE];
    FileBed bed;
    AccessStat stat;
    AccessChange change = {ACCESS_PUT, 0, text("k"), {wide, sizeof wide}};
    Access *asking = NULL;
    Access *sending = NULL;
    Access *late = NULL;
    Buf notes = {0};

    file_bed_start(&bed);
    pid_t pid = start_owner(&bed, ACCESS_SERVE);
    ck_assert_int_eq(open_impatient(&bed, &notes, &asking), SAP_OK);
    ck_assert_int_eq(open_impatient(&bed, &notes, &sending), SAP_OK);
    ck_assert_int_eq(access_stat(asking, &stat), SAP_OK);
    ck_assert_uint_eq(notes.len, 0);
    stop_owner(pid);
    expect_no_answer(asking, access_stat(asking, &stat), pid, &notes);
    expect_no_answer(sending, access_write(sending, &change, 1, NULL), pid, &notes);
    int rc = open_impatient(&bed, &notes, &late);
    expect_no_answer(late, rc, pid, &notes);
    ck_assert_int_eq(kill(pid, SIGCONT), 0);
    ck_assert_int_eq(access_stat(asking, &stat), SAP_OK);
    ck_assert_int_eq(access_write(sending, &change, 1, NULL), SAP_OK);
    ck_assert_int_eq(access_close(late), SAP_OK);
    ck_assert_int_eq(access_close(sending), SAP_OK);
    ck_assert_int_eq(access_close(asking), SAP_OK);
    files_kill(pid);
    buf_release(&notes);
    file_bed_end(&bed);
}
END_TEST

static void *put_through_owner(void *arg)
{
    put((Access *)arg, 1, 1);
    return NULL;
}

START_TEST(an_owner_at_work_is_waited_for_as_long_as_that_takes)
{
    FileBed bed;
    pthread_t thread;
    Access *access = NULL;
    Txn *txn = NULL;
    Buf notes = {0};

    file_bed_start(&bed);
    Access *owner = open_access(&bed, ACCESS_CREATE | ACCESS_SERVE);
    ck_assert_int_eq(open_impatient(&bed, &notes, &access), SAP_OK);
    /* As long as this is open, no other write begins. */
    ck_assert_int_eq(txn_begin_rc(access_db(owner), NULL, 0, &txn), SAP_OK);
    ck_assert_int_eq(pthread_create(&thread, NULL, put_through_owner, access), 0);
    usleep(5 * SHORT_SILENCE_MS * 1000);
    txn_abort(txn);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    EXPECT_RC(buf_append_u8(&notes, 0), SAP_OK);
    ck_assert_ptr_nonnull(strstr((const char *)notes.data, "open and is at work\n"));
    ck_assert_int_eq(access_close(access), SAP_OK);
    ck_assert_int_eq(access_close(owner), SAP_OK);
    buf_release(&notes);
    file_bed_end(&bed);
}
END_TEST

/* ---- The socket ----------------------------------------------------------------------------- */

static void socket_of(const FileBed *bed, char *name, size_t size)
{
    snprintf(name, size, "%s.sock", bed->path);
}

START_TEST(the_socket_is_the_users_alone_and_goes_with_the_owner)
{
    FileBed bed;
    char name[FILES_PATH_MAX + 8];
    struct stat st;

    file_bed_start(&bed);
    socket_of(&bed, name, sizeof name);
    pid_t pid = start_owner(&bed, ACCESS_SERVE);
    ck_assert_int_eq(stat(name, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0600);
    files_kill(pid);
    ck_assert_int_eq(stat(name, &st),
                     0); /* nobody could remove it: the next owner takes its place */
    Access *access = open_access(&bed, ACCESS_SERVE);
    ck_assert(!access_is_remote(access));
    ck_assert_int_eq(stat(name, &st), 0);
    ck_assert_int_eq(access_close(access), SAP_OK);
    ck_assert_int_ne(stat(name, &st), 0);
    file_bed_end(&bed);
}
END_TEST

/* -1: nobody serves there, or with SOCK_NONBLOCK too many wait there. */
static int try_connect(const FileBed *bed, int flags)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);

    EXPECT((size_t)snprintf(address.sun_path, sizeof address.sun_path, "%s.sock", bed->path) <
               sizeof address.sun_path,
           "a long path");
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

static int connect_to(const FileBed *bed)
{
    int fd = try_connect(bed, 0);

    EXPECT(fd >= 0, "not served");
    return fd;
}

/* A frame of a known kind whose payload is noise, or noise alone. */
static void send_noise(int fd, Rng *rng)
{
    uint8_t bytes[64];
    size_t len = 5 + (size_t)rng_below(rng, sizeof bytes - 5);

    for (size_t i = 0; i < len; i++) {
        bytes[i] = (uint8_t)rng_below(rng, 4) == 0 ? (uint8_t)rng_below(rng, 256) : 0;
    }
    if (rng_below(rng, 4) != 0) {
        store_u32le(bytes, (uint32_t)(len - 5));
        bytes[4] = (uint8_t)(WIRE_STAT + rng_below(rng, WIRE_INBOXES - WIRE_STAT + 2));
    }
    (void)send(fd, bytes, len, MSG_NOSIGNAL);
}

START_TEST(noise_on_the_socket_hurts_nobody_else)
{
    FileBed bed;
    uint64_t seed = 20261116;
    Rng rng;

    file_bed_start(&bed);
    rng_seed(&rng, seed);
    expect_context("seed %" PRIu64, seed);
    Access *owner = open_access(&bed, ACCESS_CREATE | ACCESS_SERVE);
    Access *access = open_access(&bed, 0);
    for (uint32_t i = 0; i < GARBAGE; i++) {
        char answer[256];
        int fd = connect_to(&bed);
        send_noise(fd, &rng);
        if (rng_below(&rng, 2) == 0) {
            (void)shutdown(fd, SHUT_WR);
            while (recv(fd, answer, sizeof answer, 0) > 0) {
            }
        }
        (void)close(fd);
        put(access, 9, i);
    }
    int half = connect_to(&bed); /* a request that never ends keeps no owner from closing */
    ck_assert_int_eq((int)send(half, "\x40\0\0\0\x13\0", 6, 0), 6);
    ck_assert_int_eq(access_close(access), SAP_OK);
    ck_assert_int_eq(access_close(owner), SAP_OK);
    (void)close(half);
    printf("node access: %d noisy connections, seed %" PRIu64 "\n", GARBAGE, seed);
    file_bed_end(&bed);
}
END_TEST

START_TEST(a_stopped_owner_that_many_wait_for_already_is_given_up_too)
{
    FileBed bed;
    char number[24];
    Access *access = NULL;
    int fds[WAITING];
    uint32_t count = 0;
    Buf notes = {0};

    file_bed_start(&bed);
    pid_t pid = start_owner(&bed, ACCESS_SERVE);
    snprintf(number, sizeof number, "%d", (int)pid);
    stop_owner(pid);
    while (count < WAITING && (fds[count] = try_connect(&bed, SOCK_NONBLOCK)) >= 0) {
        count++;
    }
    ck_assert_uint_lt(count, WAITING);
    ck_assert_int_eq(open_impatient(&bed, &notes, &access), SAP_BUSY);
    ck_assert_msg(strstr(access_message(access), number) != NULL, "%s", access_message(access));
    ck_assert_int_eq(access_close(access), SAP_OK);
    ck_assert_int_eq(kill(pid, SIGCONT), 0);
    ck_assert_int_eq(open_impatient(&bed, &notes, &access), SAP_OK);
    ck_assert_int_eq(access_close(access), SAP_OK);
    while (count > 0) {
        (void)close(fds[--count]);
    }
    files_kill(pid);
    buf_release(&notes);
    file_bed_end(&bed);
}
END_TEST

START_TEST(a_long_path_is_served_too)
{
    FileBed bed;
    char dir[240];
    char path[260];
    AccessOptions options = {.flags = ACCESS_CREATE | ACCESS_SERVE};
    Access *owner = NULL;
    Access *access = NULL;

    file_bed_start(&bed);
    snprintf(dir, sizeof dir, "%s/%0120d", bed.dir, 1);
    snprintf(path, sizeof path, "%s/data", dir);
    ck_assert_int_eq(mkdir(dir, 0700), 0);
    ck_assert_int_eq(access_open(path, &options, &owner), SAP_OK);
    ck_assert_int_eq(access_open(path, &options, &access), SAP_OK);
    ck_assert(access_is_remote(access));
    put(access, 1, 1);
    ck_assert_int_eq(access_close(access), SAP_OK);
    ck_assert_int_eq(access_close(owner), SAP_OK);
    file_bed_end(&bed);
}
END_TEST

START_TEST(a_reader_opens_a_file_that_has_a_log_left)
{
    FileBed bed;
    Buf val = {0};

    file_bed_start(&bed);
    pid_t pid = start_owner(&bed, ACCESS_SERVE);
    Access *access = open_access(&bed, 0);
    put(access, 1, 1);
    ck_assert_int_eq(access_close(access), SAP_OK);
    files_kill(pid);
    access = open_access(&bed, ACCESS_READ);
    ck_assert_int_eq(access_get(access, 0, text("1-1"), &val), SAP_OK);
    ck_assert_int_eq(access_close(access), SAP_OK);
    buf_release(&val);
    file_bed_end(&bed);
}
END_TEST

START_TEST(a_new_file_is_discarded_unless_somebody_who_joined_used_it)
{
    FileBed bed;
    Buf val = {0};

    file_bed_start(&bed);
    for (int used = 0; used < 2; used++) {
        Access *owner = open_access(&bed, ACCESS_CREATE | ACCESS_SERVE);
        Access *other = open_access(&bed, ACCESS_CREATE);
        EXPECT(access_is_remote(other), "it did not join");
        if (used) {
            put(other, 1, 1);
        }
        ck_assert_int_eq(access_discard(owner), SAP_OK);
        if (used) {
            ck_assert_int_eq(access_get(other, 0, text("1-1"), &val), SAP_OK);
        } else {
            char command[200];
            (void)snprintf(command, sizeof command, "test -z \"$(ls -A %s)\"", bed.dir);
            EXPECT(system(command) == 0, "something is left");
        }
        ck_assert_int_eq(access_discard(other), SAP_OK);
        ck_assert_int_eq(access(bed.path, F_OK), used ? 0 : -1);
    }
    buf_release(&val);
    file_bed_end(&bed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("node_access");
    TCase *tcase = tcase_create("access");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, the_owner_and_others_get_the_same_answers);
    tcase_add_test(tcase, a_user_that_goes_away_ends_the_work_of_the_owner);
    tcase_add_test(tcase, nothing_is_lost_or_done_twice_while_owners_come_and_go);
    tcase_add_test(tcase,
                   a_write_through_an_owner_that_is_killed_is_an_error_once_and_reading_is_none);
    tcase_add_test(tcase,
                   who_opens_the_file_after_its_owner_died_is_waited_for_while_it_reads_the_log);
    tcase_add_test(tcase, others_write_the_file_while_a_reader_that_serves_has_it_open);
    tcase_add_test(tcase, a_reader_that_cannot_serve_shares_the_file_with_other_readers);
    tcase_add_test(tcase, an_owner_that_does_not_serve_is_named);
    tcase_add_test(tcase, an_owner_that_is_stopped_is_told_and_given_up);
    tcase_add_test(tcase, an_owner_at_work_is_waited_for_as_long_as_that_takes);
    tcase_add_test(tcase, a_stopped_owner_that_many_wait_for_already_is_given_up_too);
    tcase_add_test(tcase, the_socket_is_the_users_alone_and_goes_with_the_owner);
    tcase_add_test(tcase, noise_on_the_socket_hurts_nobody_else);
    tcase_add_test(tcase, a_long_path_is_served_too);
    tcase_add_test(tcase, a_reader_opens_a_file_that_has_a_log_left);
    tcase_add_test(tcase, a_new_file_is_discarded_unless_somebody_who_joined_used_it);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
