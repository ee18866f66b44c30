/* Queues of a file are used in the same way by its owner and, through the owner's socket, by others. */
#include "common/clock.h"
#include "common/config.h"
#include "common/fault.h"
#include "common/mem.h"
#include "node/access.h"
#include "node/queues.h"
#include "node/wire_queue.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"
#include "wit_schema_dbis.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TIMEOUT_S = 180,
    CLIENTS = 4,
    ROUNDS = SAP_SANITIZED ? 40 : 150,
    ROUNDS_AN_OPEN = 10,
    SOON_MS = 700,
};

static Access *open_access(const FileBed *bed, unsigned flags)
{
    AccessOptions options = {.flags = flags, .patience_ms = 20000};
    Access *access = NULL;

    EXPECT_RC(access_open(bed->path, &options, &access), SAP_OK);
    return access;
}

static Slice text(const char *s)
{
    return slice_from_str(s);
}

static uint64_t push_text(Access *access, const char *queue, const char *payload)
{
    Slice one = text(payload);
    uint64_t seq = 0;

    EXPECT_RC(access_queue_push(access, queue, &(AccessPush){0}, &one, 1, &seq), SAP_OK);
    return seq;
}

typedef struct Taken {
    AccessLease leases[ACCESS_CLAIM_MAX];
    char payloads[16][40]; /* of the first */
    uint32_t count;
} Taken;

static int take(const AccessMessage *message, void *ctx)
{
    Taken *taken = ctx;

    if (taken->count < 16) {
        (void)snprintf(taken->payloads[taken->count], 40, "%.*s", (int)message->payload.len,
                       (const char *)message->payload.data);
    }
    taken->leases[taken->count++] = (AccessLease){message->seq, message->token};
    return SAP_OK;
}

static int claim_one(Access *access, const char *queue, uint32_t wait_ms, Taken *taken)
{
    AccessClaim claim = {.wait_ms = wait_ms, .max = 1};

    taken->count = 0;
    return access_queue_claim(access, queue, &claim, take, taken);
}

static int end_one(Access *access, const char *queue, AccessEndOp op, const Taken *taken)
{
    return access_queue_end(access, queue, &(AccessEnd){.op = op, .rc = 1}, taken->leases, 1, NULL);
}

/* ---- A battery whose outcome is written down ------------------------------------------------ */

static void note_rc(Access *access, Buf *log, const char *what, int rc)
{
    bool explained = rc != SAP_OK && rc != SAP_NOTFOUND && rc != SAP_EXISTS;

    EXPECT_RC(buf_printf(log, "%s: %d %s\n", what, rc, explained ? access_message(access) : ""),
              SAP_OK);
}

static int note_name(const char *name, void *ctx)
{
    return buf_printf(ctx, "queue %s\n", name);
}

static int note_message(const AccessMessage *m, void *ctx)
{
    return buf_printf(ctx, "seq %" PRIx64 " token %" PRIu64 " attempts %u leased %d id %.*s %.*s\n",
                      m->seq, m->token, m->attempts, m->leased, m->id.len > 8 ? 0 : (int)m->id.len,
                      (const char *)m->id.data, (int)m->payload.len, (const char *)m->payload.data);
}

static int note_letter(const AccessLetter *l, void *ctx)
{
    return buf_printf(ctx, "letter of %.*s: %" PRIx64 " rc %d attempts %u, %zu bytes\n",
                      (int)l->queue.len, (const char *)l->queue.data, l->seq, l->rc, l->attempts,
                      l->frame.len);
}

static int refuse(const AccessMessage *m, void *ctx)
{
    (void)m;
    (void)ctx;
    return SAP_FULL;
}

static void note_stat(Access *access, Buf *log, const char *queue)
{
    SapQueueStat stat = {0};

    note_rc(access, log, "stat", access_queue_stat(access, queue, &stat));
    EXPECT_RC(buf_printf(log, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d\n", stat.ready,
                         stat.leased, stat.delayed, stat.dead_letters, stat.oldest_ms > 0),
              SAP_OK);
}

static void try_push(Access *access, Buf *log)
{
    Slice three[] = {text("one"), text("two"), {NULL, 0}};
    uint64_t seqs[3] = {0};
    AccessPush full = {
        .id = text("my id"), .trace = text("trace"), .dedupe = true, .high_priority = true};
    AccessPush later = {.delay_ms = 3600000};

    note_rc(access, log, "no queue", access_queue_peek(access, "q", 0, note_message, log));
    note_stat(access, log, "q");
    note_rc(access, log, "push", access_queue_push(access, "q", &(AccessPush){0}, three, 3, seqs));
    EXPECT_RC(buf_printf(log, "%" PRIx64 " %" PRIx64 " %" PRIx64 "\n", seqs[0], seqs[1], seqs[2]),
              SAP_OK);
    note_rc(access, log, "none",
            access_queue_push(access, "empty", &(AccessPush){0}, three, 0, seqs));
    note_rc(access, log, "high", access_queue_push(access, "q", &full, three, 1, seqs));
    note_rc(access, log, "two of an id", access_queue_push(access, "q", &full, three, 2, seqs));
    note_rc(access, log, "later", access_queue_push(access, "q", &later, three, 1, seqs));
    note_rc(access, log, "names", access_queues(access, note_name, log));
    note_rc(access, log, "peek", access_queue_peek(access, "q", 0, note_message, log));
    note_rc(access, log, "peek two", access_queue_peek(access, "q", 2, note_message, log));
    note_stat(access, log, "q");
}

static void try_claims(Access *access, Buf *log)
{
    Taken taken = {0};
    AccessClaim all = {.lease_ms = 60000, .max = ACCESS_CLAIM_MAX};
    AccessEnd touch = {.op = ACCESS_TOUCH, .ms = 90000};
    AccessEnd fail = {.op = ACCESS_FAIL, .rc = 1003, .ms = 3600000};
    uint64_t dead = 9;

    note_rc(access, log, "claim", access_queue_claim(access, "q", &all, take, &taken));
    EXPECT_RC(buf_printf(log, "%u: %s %s %s\n", taken.count, taken.payloads[0], taken.payloads[1],
                         taken.payloads[2]),
              SAP_OK);
    note_rc(access, log, "no more", access_queue_claim(access, "q", &all, take, &taken));
    note_rc(access, log, "leased", access_queue_peek(access, "q", 0, note_message, log));
    note_rc(access, log, "touch", access_queue_end(access, "q", &touch, taken.leases, 4, &dead));
    note_rc(access, log, "back", end_one(access, "q", ACCESS_PUT_BACK, &taken));
    note_rc(access, log, "back twice", end_one(access, "q", ACCESS_PUT_BACK, &taken));
    note_rc(access, log, "all but one",
            access_queue_end(access, "q", &(AccessEnd){.op = ACCESS_ACK}, taken.leases, 3, &dead));
    note_rc(access, log, "fail", access_queue_end(access, "q", &fail, taken.leases + 3, 1, &dead));
    EXPECT_RC(buf_printf(log, "dead %" PRIu64 "\n", dead), SAP_OK);
    note_rc(access, log, "no such queue", end_one(access, "none", ACCESS_ACK, &taken));
    note_stat(access, log, "q");
}

static void try_letters(Access *access, Buf *log)
{
    Taken taken = {0};
    uint64_t dead = 0;
    AccessEnd fail = {.op = ACCESS_FAIL, .rc = 1003, .ms = -1, .attempts = 4};

    (void)push_text(access, "bad", "poison");
    for (int i = 0; i < 4; i++) {
        EXPECT_RC(claim_one(access, "bad", 0, &taken), SAP_OK);
        EXPECT_RC(access_queue_end(access, "bad", &fail, taken.leases, 1, &dead), SAP_OK);
        EXPECT(dead == (i == 3), "%" PRIu64 " dead after failure %d", dead, i + 1);
    }
    note_rc(access, log, "letters", access_letters(access, NULL, note_letter, log));
    note_rc(access, log, "of one", access_letters(access, "bad", note_letter, log));
    note_rc(access, log, "of another", access_letters(access, "q", note_letter, log));
    note_rc(access, log, "of none", access_letters(access, "none", note_letter, log));
    AccessLetterEnd ends[] = {{.worker = 1, .seq = 2}, {.seq = taken.leases[0].seq}};
    ends[1].worker = (UINT64_C(1) << 32) + 3; /* the third queue */
    note_rc(access, log, "replay", access_letters_end(access, ACCESS_LETTER_REPLAY, ends, 2));
    EXPECT_RC(buf_printf(log, "%d %d %" PRIx64 "\n", ends[0].rc, ends[1].rc, ends[1].new_seq),
              SAP_OK);
    note_rc(access, log, "drop", access_letters_end(access, ACCESS_LETTER_DROP, ends, 2));
    EXPECT_RC(buf_printf(log, "%d %d\n", ends[0].rc, ends[1].rc), SAP_OK);
    note_stat(access, log, "bad");
}

static int note_inbox(uint64_t worker, const SapQueueStat *stat, void *ctx)
{
    return buf_printf((Buf *)ctx, "worker %" PRIu64 ": %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                      worker, stat->ready, stat->delayed, stat->dead_letters);
}

static int stop_at_inbox(uint64_t worker, const SapQueueStat *stat, void *ctx)
{
    (void)worker;
    (void)stat;
    (void)ctx;
    return SAP_CONFLICT;
}

static void try_inboxes(Access *access, Buf *log)
{
    static const char keys[][17] = {"\0\0\0\0\0\0\0\7\x80\0\0\0\0\0\0\1",
                                    "\0\0\0\0\0\0\0\7\x80\0\0\0\0\0\0\2",
                                    "\x7f\xff\xff\xff\xff\xff\xff\xff\x80\0\0\0\0\0\0\3",
                                    "\xff\xff\xff\xff\xff\xff\xff\xff\x80\0\0\0\0\0\0\4"};
    AccessChange rows[] = {{ACCESS_PUT, WIT_DBI_INBOX, {keys[0], 16}, text("1")},
                           {ACCESS_PUT, WIT_DBI_INBOX, {keys[1], 16}, text("2")},
                           {ACCESS_PUT, WIT_DBI_DEAD_LETTER, {keys[0], 16}, text("3")},
                           {ACCESS_PUT, WIT_DBI_DEAD_LETTER, {keys[2], 16}, text("4")},
                           {ACCESS_PUT, WIT_DBI_DEAD_LETTER, {keys[3], 16}, text("5")}};
    size_t start = log->len;

    note_rc(access, log, "no inboxes", access_inboxes(access, note_inbox, log));
    note_rc(access, log, "rows", access_write(access, rows, 5, NULL));
    note_rc(access, log, "inboxes", access_inboxes(access, note_inbox, log));
    note_rc(access, log, "first inbox", access_inboxes(access, stop_at_inbox, log));
    EXPECT_RC(buf_append_u8(log, 0), SAP_OK);
    EXPECT(strstr((const char *)log->data + start,
                  "worker 7: 2 0 1\nworker 9223372036854775807: 0 0 1\n") != NULL,
           "%s", (const char *)log->data + start);
    buf_truncate(log, log->len - 1);
}

static void battery(Access *access, Buf *log)
{
    note_rc(access, log, "no file of queues", access_inboxes(access, note_inbox, log));
    note_rc(access, log, "no queues", access_queues(access, note_name, log));
    note_rc(access, log, "no letters", access_letters(access, NULL, note_letter, log));
    try_push(access, log);
    try_claims(access, log);
    try_letters(access, log);
    try_inboxes(access, log);
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
    battery(access, &direct);
    ck_assert_int_eq(access_close(access), SAP_OK);

    Access *owner = open_access(&others, ACCESS_CREATE | ACCESS_SERVE);
    access = open_access(&others, 0);
    ck_assert(access_is_remote(access));
    battery(access, &remote);
    ck_assert_int_eq(access_close(access), SAP_OK);
    ck_assert_int_eq(access_close(owner), SAP_OK);

    ck_assert_uint_gt(direct.len, 1000);
    EXPECT(direct.len == remote.len && memcmp(direct.data, remote.data, direct.len) == 0,
           "the owner:\n%.*s\nothers:\n%.*s", (int)direct.len, (char *)direct.data, (int)remote.len,
           (char *)remote.data);
    buf_release(&direct);
    buf_release(&remote);
    file_bed_end(&own);
    file_bed_end(&others);
    ck_assert_uint_eq(mem_live_blocks(MEM_RUNNER), 0);
}
END_TEST

START_TEST(a_message_that_its_taker_refuses_is_put_back)
{
    FileBed bed;
    Taken taken = {0};
    AccessClaim claim = {.max = 5};

    file_bed_start(&bed);
    Access *access = open_access(&bed, ACCESS_CREATE);
    (void)push_text(access, "q", "a");
    (void)push_text(access, "q", "b");
    ck_assert_int_eq(access_queue_claim(access, "q", &claim, refuse, NULL), SAP_FULL);
    ck_assert_int_eq(claim_one(access, "q", 0, &taken), SAP_OK);
    ck_assert_str_eq(taken.payloads[0], "a");
    ck_assert_int_eq(access_close(access), SAP_OK);
    file_bed_end(&bed);
}
END_TEST

/* ---- Waiting -------------------------------------------------------------------------------- */

typedef struct Waiter {
    const FileBed *bed;
    pthread_t thread;
    Taken taken;
    atomic_bool begun;
} Waiter;

static void *wait_for_one(void *arg)
{
    Waiter *waiter = arg;
    Access *access = open_access(waiter->bed, ACCESS_SERVE);

    atomic_store(&waiter->begun, true);
    int rc;
    while ((rc = claim_one(access, "q", ACCESS_WAIT_MAX_MS, &waiter->taken)) == SAP_NOTFOUND) {
    }
    EXPECT_RC(rc, SAP_OK);
    EXPECT_RC(end_one(access, "q", ACCESS_ACK, &waiter->taken), SAP_OK);
    EXPECT_RC(access_close(access), SAP_OK);
    return NULL;
}

static void start_waiter(Waiter *waiter, const FileBed *bed)
{
    *waiter = (Waiter){.bed = bed};
    EXPECT(pthread_create(&waiter->thread, NULL, wait_for_one, waiter) == 0, "no thread");
    while (!atomic_load(&waiter->begun)) {
        (void)usleep(1000);
    }
    (void)usleep(50000);
}

static uint64_t ms_since(uint64_t start_ns)
{
    return (clock_mono_ns(NULL) - start_ns) / 1000000;
}

START_TEST(one_who_waits_through_the_socket_keeps_nobody_from_anything)
{
    FileBed bed;
    Waiter waiters[2];

    file_bed_start(&bed);
    Access *owner = open_access(&bed, ACCESS_CREATE | ACCESS_SERVE);
    Access *other = open_access(&bed, 0);
    start_waiter(&waiters[0], &bed);
    start_waiter(&waiters[1], &bed);
    for (int i = 0; i < 20; i++) {
        (void)push_text(i % 2 == 0 ? owner : other, "another", "x");
    }
    uint64_t start_ns = clock_mono_ns(NULL);
    (void)push_text(other, "q", "first");
    (void)push_text(owner, "q", "second");
    for (int i = 0; i < 2; i++) {
        pthread_join(waiters[i].thread, NULL);
    }
    ck_assert_uint_lt(ms_since(start_ns), SOON_MS);
    ck_assert_str_ne(waiters[0].taken.payloads[0], waiters[1].taken.payloads[0]);
    ck_assert_int_eq(access_close(other), SAP_OK);
    ck_assert_int_eq(access_close(owner), SAP_OK);
    file_bed_end(&bed);
}
END_TEST

typedef struct Opener {
    pthread_t thread;
    Queues *queues;
    atomic_bool done;
} Opener;

static void *open_another(void *arg)
{
    Opener *opener = arg;
    Slice one = text("x");
    Reason reason = {0};
    uint64_t seq = 0;

    EXPECT_RC(local_queue_push(opener->queues, "new", &(AccessPush){0}, &one, 1, &seq, &reason),
              SAP_OK);
    atomic_store(&opener->done, true);
    return NULL;
}

START_TEST(a_queue_that_waits_to_be_opened_keeps_the_open_ones_from_nothing)
{
    FileBed bed;
    Slice one = text("x");
    Opener opener = {.done = false};
    SapQueueStat stat;
    Reason reason = {0};
    uint64_t seq = 0;

    file_bed_start(&bed);
    DB *db = file_bed_open(&bed);
    EXPECT_RC(queues_new(db, &opener.queues), SAP_OK);
    EXPECT_RC(local_queue_push(opener.queues, "old", &(AccessPush){0}, &one, 1, &seq, &reason),
              SAP_OK);
    SapTxnCtx *writer = sap_txn_begin(db, NULL, 0);
    EXPECT(writer != NULL, "no transaction");
    EXPECT(pthread_create(&opener.thread, NULL, open_another, &opener) == 0, "no thread");
    for (int i = 0; i < 50; i++) {
        EXPECT_RC(local_queue_stat(opener.queues, "old", &stat, &reason), SAP_OK);
        EXPECT(stat.ready == 1, "the message is gone");
        (void)usleep(2000);
    }
    EXPECT(!atomic_load(&opener.done), "it was opened beside a writer");
    sap_txn_abort(writer);
    pthread_join(opener.thread, NULL);
    EXPECT_RC(local_queue_stat(opener.queues, "new", &stat, &reason), SAP_OK);
    EXPECT(stat.ready == 1, "the message was not pushed");
    queues_free(opener.queues);
    file_bed_close(db);
    file_bed_end(&bed);
}
END_TEST

START_TEST(an_owner_closes_at_once_though_others_wait_and_they_go_on_waiting)
{
    FileBed bed;
    Waiter waiter;

    file_bed_start(&bed);
    Access *owner = open_access(&bed, ACCESS_CREATE | ACCESS_SERVE);
    (void)push_text(owner, "another", "x");
    start_waiter(&waiter, &bed);
    uint64_t start_ns = clock_mono_ns(NULL);
    ck_assert_int_eq(access_close(owner), SAP_OK);
    uint64_t closed_ms = ms_since(start_ns);
    ck_assert_uint_lt(closed_ms, SOON_MS);
    Access *other = open_access(&bed, ACCESS_SERVE);
    (void)push_text(other, "q", "at last");
    pthread_join(waiter.thread, NULL);
    ck_assert_str_eq(waiter.taken.payloads[0], "at last");
    ck_assert_int_eq(access_close(other), SAP_OK);
    printf("node queue: closed after %" PRIu64 " ms\n", closed_ms);
    file_bed_end(&bed);
}
END_TEST

static void serve_in_child(void *arg)
{
    (void)open_access((const FileBed *)arg, ACCESS_CREATE | ACCESS_SERVE);
}

START_TEST(a_claim_goes_on_when_the_owner_is_killed_and_a_push_does_not)
{
    FileBed bed;
    Waiter waiters[3];
    Slice one = text("x");
    uint64_t seq = 0;

    file_bed_start(&bed);
    pid_t pid = files_start_child(serve_in_child, &bed);
    Access *access = open_access(&bed, ACCESS_SERVE);
    for (int i = 0; i < 3; i++) {
        start_waiter(&waiters[i], &bed);
    }
    ck_assert(access_is_remote(access));
    files_kill(pid);
    ck_assert_int_eq(access_queue_push(access, "q", &(AccessPush){0}, &one, 1, &seq), SAP_IO);
    ck_assert_ptr_nonnull(strstr(access_message(access), "went away"));
    for (int i = 0; i < 3; i++) {
        (void)push_text(access, "q", "m");
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(waiters[i].thread, NULL);
        ck_assert_str_eq(waiters[i].taken.payloads[0], "m");
    }
    ck_assert_int_eq(access_close(access), SAP_OK);
    file_bed_end(&bed);
}
END_TEST

/* An owner that performs or does not perform the first request, and dies before it has answered. */
typedef struct Dying {
    const FileBed *bed;
    bool performs;
    AccessEndOp op;
    Taken *taken; /* what the request is about */
} Dying;

static void *answer_and_die(void *arg)
{
    Dying *dying = arg;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    Access *owner = open_access(dying->bed, ACCESS_CREATE);
    Buf hello = {0};
    Buf request = {0};
    WireKind kind;

    EXPECT((size_t)snprintf(address.sun_path, sizeof address.sun_path, "%s.sock",
                            dying->bed->path) < sizeof address.sun_path,
           "a long path");
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT(bind(listener, (const struct sockaddr *)&address, sizeof address) == 0 &&
               listen(listener, 4) == 0,
           "no socket");
    int fd = accept(listener, NULL, NULL);
    EXPECT_RC(buf_append_u32le(&hello, WIRE_VERSION), SAP_OK);
    EXPECT_RC(buf_append_u64le(&hello, (uint64_t)getpid()), SAP_OK);
    EXPECT_RC(wire_send(fd, WIRE_HELLO, (Slice){hello.data, hello.len}), SAP_OK);
    EXPECT_RC(wire_receive(fd, &kind, &request), SAP_OK);
    if (dying->performs) {
        AccessEnd end = {.op = dying->op};
        EXPECT_RC(access_queue_end(owner, "q", &end, dying->taken->leases, 1, NULL), SAP_OK);
    }
    /* As if it had been killed here. */
    (void)close(listener);
    EXPECT_RC(access_close(owner), SAP_OK);
    (void)close(fd);
    buf_release(&hello);
    buf_release(&request);
    return NULL;
}

/* What access_queue_end() returns when the owner dies, and what is in the queue then. */
static int end_through_dying(Dying *dying, SapQueueStat *stat_out)
{
    FileBed bed;
    pthread_t thread;
    Taken taken = {0};

    file_bed_start(&bed);
    Access *access = open_access(&bed, ACCESS_CREATE);
    (void)push_text(access, "q", "m");
    ck_assert_int_eq(claim_one(access, "q", 0, &taken), SAP_OK);
    ck_assert_int_eq(access_close(access), SAP_OK);
    dying->bed = &bed;
    dying->taken = &taken;
    ck_assert_int_eq(pthread_create(&thread, NULL, answer_and_die, dying), 0);
    do {
        access = open_access(&bed, 0);
    } while (!access_is_remote(access) && access_close(access) == SAP_OK);
    int rc = end_one(access, "q", dying->op, &taken);
    ck_assert(access_was_repeated(access));
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(access_queue_stat(access, "q", stat_out), SAP_OK);
    ck_assert_int_eq(access_close(access), SAP_OK);
    file_bed_end(&bed);
    return rc;
}

START_TEST(the_end_of_a_claim_is_done_once_whether_or_not_an_owner_that_died_had_done_it)
{
    static const AccessEndOp ops[] = {ACCESS_ACK, ACCESS_PUT_BACK};

    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        for (int performs = 0; performs < 2; performs++) {
            Dying dying = {.performs = performs != 0, .op = ops[i]};
            SapQueueStat stat;
            ck_assert_int_eq(end_through_dying(&dying, &stat), SAP_OK);
            ck_assert_uint_eq(stat.ready, ops[i] == ACCESS_PUT_BACK ? 1 : 0);
            ck_assert_uint_eq(stat.leased, 0);
        }
    }
}
END_TEST

START_TEST(a_message_claimed_for_one_who_has_gone_is_put_back)
{
    FileBed bed;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    Buf request = {0};
    Taken taken = {0};

    file_bed_start(&bed);
    Access *owner = open_access(&bed, ACCESS_CREATE | ACCESS_SERVE);
    (void)push_text(owner, "another", "x");
    EXPECT((size_t)snprintf(address.sun_path, sizeof address.sun_path, "%s.sock", bed.path) <
               sizeof address.sun_path,
           "a long path");
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(wire_put_name(&request, "q"), SAP_OK);
    ck_assert_int_eq(wire_put_claim(&request, &(AccessClaim){.wait_ms = 1000, .max = 1}), SAP_OK);
    ck_assert_int_eq(wire_send(fd, WIRE_QUEUE_CLAIM, (Slice){request.data, request.len}), SAP_OK);
    (void)usleep(100000);
    (void)close(fd);
    uint64_t start_ns = clock_mono_ns(NULL);
    (void)push_text(owner, "q", "for nobody");
    (void)usleep(300000); /* until it has been claimed for the one who has gone */
    while (claim_one(owner, "q", ACCESS_WAIT_MAX_MS, &taken) == SAP_NOTFOUND) {
    }
    ck_assert_str_eq(taken.payloads[0], "for nobody");
    ck_assert_uint_lt(ms_since(start_ns), 5000); /* its lease would have been 30 s */
    ck_assert_int_eq(access_close(owner), SAP_OK);
    buf_release(&request);
    file_bed_end(&bed);
}
END_TEST

/* ---- Owners come and go --------------------------------------------------------------------- */

typedef struct Client {
    const FileBed *bed;
    uint32_t number;
    uint32_t remotes;
    uint32_t claims_kept; /* ended after the file was closed and opened again */
    atomic_uint *handled;
} Client;

static uint32_t number_of(const Taken *taken)
{
    unsigned client = 0;
    unsigned round = 0;

    EXPECT(sscanf(taken->payloads[0], "%u %u", &client, &round) == 2, "'%s'", taken->payloads[0]);
    return client * ROUNDS + round;
}

/* Each round pushes one, claims one and ends it, every third time after the file was closed. */
static void *be_client(void *arg)
{
    Client *client = arg;
    Access *access = NULL;
    Taken taken = {0};

    for (uint32_t round = 0; round < ROUNDS; round++) {
        char payload[40];
        if (access == NULL) {
            access = open_access(client->bed, ACCESS_CREATE | ACCESS_SERVE);
            client->remotes += access_is_remote(access);
        }
        (void)snprintf(payload, sizeof payload, "%u %u", client->number, round);
        (void)push_text(access, "q", payload);
        while (claim_one(access, "q", 200, &taken) == SAP_NOTFOUND) {
        }
        if (round % 3 == 0) {
            EXPECT_RC(access_close(access), SAP_OK);
            access = open_access(client->bed, ACCESS_CREATE | ACCESS_SERVE);
            client->claims_kept++;
        }
        if (round % 7 == 5) {
            EXPECT_RC(end_one(access, "q", ACCESS_PUT_BACK, &taken), SAP_OK);
            while (claim_one(access, "q", 200, &taken) == SAP_NOTFOUND) {
            }
        }
        EXPECT_RC(end_one(access, "q", ACCESS_ACK, &taken), SAP_OK);
        atomic_fetch_add(&client->handled[number_of(&taken)], 1);
        if (round % ROUNDS_AN_OPEN == 9) {
            EXPECT_RC(access_close(access), SAP_OK);
            access = NULL;
        }
    }
    EXPECT_RC(access_close(access), SAP_OK);
    return NULL;
}

START_TEST(each_message_is_handled_once_while_owners_come_and_go)
{
    static atomic_uint handled[CLIENTS * ROUNDS];
    FileBed bed;
    pthread_t threads[CLIENTS];
    Client clients[CLIENTS];
    SapQueueStat stat;
    uint32_t remotes = 0;
    uint32_t kept = 0;

    file_bed_start(&bed);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        clients[i] = (Client){.bed = &bed, .number = i, .handled = handled};
        EXPECT(pthread_create(&threads[i], NULL, be_client, &clients[i]) == 0, "no thread");
    }
    for (uint32_t i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
        remotes += clients[i].remotes;
        kept += clients[i].claims_kept;
    }
    for (uint32_t i = 0; i < CLIENTS * ROUNDS; i++) {
        ck_assert_uint_eq(atomic_load(&handled[i]), 1);
    }
    Access *access = open_access(&bed, ACCESS_READ);
    ck_assert_int_eq(access_queue_stat(access, "q", &stat), SAP_OK);
    ck_assert_uint_eq(stat.ready + stat.leased + stat.delayed + stat.dead_letters, 0);
    ck_assert_int_eq(access_close(access), SAP_OK);
    printf(
        "node queue: %u messages by %u clients, %u opens found another owner, %u claims outlived "
        "an open\n",
        CLIENTS * ROUNDS, CLIENTS, remotes, kept);
    ck_assert_uint_gt(remotes, 0);
    ck_assert_uint_gt(kept, 0);
    file_bed_end(&bed);
}
END_TEST

/* ---- Memory --------------------------------------------------------------------------------- */

#if SAP_FAULTS

enum { PUSHES = 3, MOST_FAULTS = 400 };

/* Requests of each kind that needs room for what it has read. */
static int ask_push(Access *access)
{
    Slice payloads[PUSHES] = {text("a"), text("b"), text("c")};
    uint64_t seqs[PUSHES];

    return access_queue_push(access, "q", &(AccessPush){0}, payloads, PUSHES, seqs);
}

static int ask_write(Access *access)
{
    AccessChange change = {ACCESS_PUT, 9, text("key"), text("value")};

    return access_write(access, &change, 1, NULL);
}

static int ask_end(Access *access)
{
    AccessLease lost = {1, UINT64_MAX};
    AccessEnd end = {.op = ACCESS_ACK};
    int rc = access_queue_end(access, "q", &end, &lost, 1, NULL);

    return rc == SAP_CONFLICT ? SAP_OK : rc;
}

static int ask_letters(Access *access)
{
    AccessLetterEnd letter = {.worker = 1, .seq = 1};

    return access_letters_end(access, ACCESS_LETTER_DROP, &letter, 1);
}

START_TEST(out_of_memory_is_answered_as_such_and_the_next_request_is_served)
{
    static int (*const requests[])(Access *) = {ask_push, ask_write, ask_end, ask_letters};
    FileBed bed;
    uint64_t fired = 0;

    file_bed_start(&bed);
    Access *owner = open_access(&bed, ACCESS_CREATE | ACCESS_SERVE);
    Access *user = open_access(&bed, 0);
    ck_assert(access_is_remote(user));
    ck_assert_int_eq(access_open_table(user, 9, 0), SAP_OK);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        ck_assert_int_eq(requests[i](user), SAP_OK);
        bool more = true;
        for (uint64_t n = 1; more && n < MOST_FAULTS; n++) {
            fault_arm_alloc(n);
            int rc = requests[i](user);
            more = fault_fired() > 0;
            fault_reset();
            fired += more;
            EXPECT(rc == SAP_OK || rc == SAP_NOMEM, "request %zu, allocation %llu: %d, %s", i,
                   (unsigned long long)n, rc, access_message(user));
            EXPECT_RC(requests[i](user), SAP_OK);
        }
        EXPECT(!more, "request %zu never ends without a fault", i);
    }
    ck_assert_uint_ge(fired, sizeof requests / sizeof *requests);
    ck_assert_int_eq(access_close(user), SAP_OK);
    ck_assert_int_eq(access_close(owner), SAP_OK);
    file_bed_end(&bed);
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("node/queue");
    TCase *tcase = tcase_create("queue");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, the_owner_and_others_get_the_same_answers);
    tcase_add_test(tcase, a_message_that_its_taker_refuses_is_put_back);
    tcase_add_test(tcase, one_who_waits_through_the_socket_keeps_nobody_from_anything);
    tcase_add_test(tcase, a_queue_that_waits_to_be_opened_keeps_the_open_ones_from_nothing);
    tcase_add_test(tcase, an_owner_closes_at_once_though_others_wait_and_they_go_on_waiting);
    tcase_add_test(tcase, a_claim_goes_on_when_the_owner_is_killed_and_a_push_does_not);
    tcase_add_test(tcase,
                   the_end_of_a_claim_is_done_once_whether_or_not_an_owner_that_died_had_done_it);
    tcase_add_test(tcase, a_message_claimed_for_one_who_has_gone_is_put_back);
    tcase_add_test(tcase, each_message_is_handled_once_while_owners_come_and_go);
#if SAP_FAULTS
    tcase_add_test(tcase, out_of_memory_is_answered_as_such_and_the_next_request_is_served);
#endif
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
