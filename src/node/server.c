/* server.c - see server.h. */
#include "node/server.h"

#include "common/assert.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/mem.h"
#include "common/sync.h"
#include "node/local.h"
#include "node/wire_queue.h"

#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    BACKLOG = 64,
    BATCH_BYTES = 64 << 10,
    STOP_GRACE_MS = 3000,
    STOP_PAUSE_MS = 2,
    PROGRESS_EVERY_MS = 100,
    ACCEPT_RETRY_MS = 50,
    DONE_MOST = sizeof(Reason) + 32, /* of WireDone, encoded */
};

typedef struct Connection {
    struct Connection *next;
    Server *server;
    pthread_t thread;
    int fd;
    bool ended;         /* under the mutex: the thread only has to be joined */
    bool answered;      /* the present request has its WIRE_DONE: nothing may follow */
    int unread;         /* used by server_stop(): bytes sent that the other side has not taken */
    uint64_t unread_ns; /* since when they are that many */

    Buf request;
    ByteReader in; /* what is left of it */
    Buf data;      /* what goes out next */
    uint64_t result;
    Reason reason;
    uint64_t progress_ns; /* when the next is due; 0: at once */
} Connection;

struct Server {
    DB *db;
    Queues *queues;
    char *path;
    uid_t file_uid;  /* of the data file's owner; this user's if there is no file */
    bool for_others; /* its permissions let others than the owner write it */
    int listener;
    int stopping; /* an eventfd, readable once the server is to stop */
    pthread_t thread;
    Mutex mutex;
    Connection *connections;
};

/* ---- Answers -------------------------------------------------------------------------------- */

static int send_data(Connection *c)
{
    SAP_ASSERT(!c->answered);
    int rc = wire_send(c->fd, WIRE_DATA, (Slice){c->data.data, c->data.len});

    buf_clear(&c->data);
    return rc;
}

static int send_done(Connection *c, int code)
{
    WireDone done = {(uint32_t)code, slice_from_str(c->reason.text), c->result};

    /* Each request has one answer. Negative codes are for this process only, and are never sent. */
    SAP_ASSERT(!c->answered && code >= SAP_OK && code <= SAP_FENCED);
    c->answered = true;
    buf_clear(&c->data);
    int rc = wire_put_done(&c->data, &done);
    rc = rc == SAP_OK ? wire_send(c->fd, WIRE_DONE, (Slice){c->data.data, c->data.len}) : rc;
    buf_clear(&c->data);
    return rc;
}

static int add_table(const AccessTable *table, void *ctx)
{
    Connection *c = (Connection *)ctx;
    int rc = wire_put_table(&c->data, table);

    return rc == SAP_OK ? send_data(c) : rc;
}

static int add_row(const AccessRow *row, void *ctx)
{
    Connection *c = (Connection *)ctx;
    int rc = wire_put_slice(&c->data, row->key);

    rc = rc == SAP_OK ? wire_put_slice(&c->data, row->val) : rc;
    return rc == SAP_OK && c->data.len >= BATCH_BYTES ? send_data(c) : rc;
}

static void add_finding(const char *text, void *ctx)
{
    Connection *c = (Connection *)ctx;

    if (buf_append_str(&c->data, text) == SAP_OK) {
        (void)send_data(c); /* a lost connection shows when the next progress is sent */
    }
}

/* Progress that cannot be sent ends the work: the process that asked for it has gone. */
static int add_progress(uint64_t done, uint64_t total, void *ctx)
{
    Connection *c = (Connection *)ctx;
    uint64_t now_ns = clock_mono_ns(NULL);

    if (now_ns < c->progress_ns && done < total) {
        return SAP_OK;
    }
    c->progress_ns = now_ns + PROGRESS_EVERY_MS * UINT64_C(1000000);
    int rc = buf_append_u64le(&c->data, done);
    rc = rc == SAP_OK ? buf_append_u64le(&c->data, total) : rc;
    rc = rc == SAP_OK ? wire_send(c->fd, WIRE_PROGRESS, (Slice){c->data.data, c->data.len}) : rc;
    buf_clear(&c->data);
    return rc;
}

static int add_bytes(const void *bytes, uint32_t len, void *ctx)
{
    Connection *c = (Connection *)ctx;

    return wire_send(c->fd, WIRE_DATA, (Slice){bytes, len});
}

/* ---- Requests ------------------------------------------------------------------------------- */

static int do_stat(Connection *c)
{
    AccessStat stat;
    int rc = local_stat(c->server->db, c->server->path, &stat, &c->reason);

    rc = rc == SAP_OK ? wire_put_stat(&c->data, &stat) : rc;
    return rc == SAP_OK ? send_data(c) : rc;
}

static int do_tables(Connection *c)
{
    return local_tables(c->server->db, add_table, c, &c->reason);
}

static int do_open_table(Connection *c)
{
    uint32_t dbi = 0;
    uint32_t flags = 0;
    int rc = reader_u32le(&c->in, &dbi);

    rc = rc == SAP_OK ? reader_u32le(&c->in, &flags) : rc;
    return rc == SAP_OK ? local_open_table(c->server->db, dbi, flags, &c->reason) : SAP_INVALID;
}

static int do_get(Connection *c)
{
    uint32_t dbi = 0;
    Slice key = {0};
    int rc = reader_u32le(&c->in, &dbi);

    rc = rc == SAP_OK ? wire_get_slice(&c->in, &key) : rc;
    if (rc != SAP_OK) {
        return SAP_INVALID;
    }
    rc = local_get(c->server->db, dbi, key, &c->data, &c->reason);
    return rc == SAP_OK ? send_data(c) : rc;
}

/* Memory for the items of a request, which begins with how many there are. */
typedef struct Things {
    void *room; /* NULL: none */
    uint32_t count;
    size_t bytes;
} Things;

/* Reads the count and makes room for as many of `size`; each takes at least `least` bytes of the
 * request. Release with things_free(), whatever it returns. SAP_INVALID: they cannot be there.
 * SAP_NOMEM. */
static int things_read(ByteReader *in, size_t least, size_t size, Things *things)
{
    *things = (Things){0};
    if (reader_u32le(in, &things->count) != SAP_OK || things->count > in->left / least) {
        return SAP_INVALID;
    }
    things->bytes = (things->count == 0 ? 1 : things->count) * size;
    things->room = mem_zalloc(MEM_COMMON, things->bytes);
    return things->room == NULL ? SAP_NOMEM : SAP_OK;
}

static void things_free(const Things *things)
{
    mem_free(MEM_COMMON, things->room, things->room == NULL ? 0 : things->bytes);
}

static int do_write(Connection *c)
{
    Things things;
    uint32_t failed = 0;
    int rc = things_read(&c->in, 13, sizeof(AccessChange), &things);
    AccessChange *changes = (AccessChange *)things.room;

    for (uint32_t i = 0; i < things.count && rc == SAP_OK; i++) {
        rc = wire_get_change(&c->in, &changes[i]) == SAP_OK ? SAP_OK : SAP_INVALID;
    }
    if (rc == SAP_OK) {
        rc = local_write(c->server->db, changes, things.count, &failed, &c->reason);
        c->result = failed;
    }
    things_free(&things);
    return rc;
}

static int do_scan(Connection *c)
{
    AccessRange range;

    if (wire_get_range(&c->in, &range) != SAP_OK) {
        return SAP_INVALID;
    }
    int rc = local_scan(c->server->db, &range, add_row, c, &c->reason);
    return rc == SAP_OK && c->data.len > 0 ? send_data(c) : rc;
}

static int do_count(Connection *c)
{
    AccessRange range;

    return wire_get_range(&c->in, &range) == SAP_OK
               ? local_count(c->server->db, &range, &c->result, &c->reason)
               : SAP_INVALID;
}

static int do_del_range(Connection *c)
{
    AccessRange range;

    return wire_get_range(&c->in, &range) == SAP_OK
               ? local_del_range(c->server->db, &range, &c->result, &c->reason)
               : SAP_INVALID;
}

static int do_verify(Connection *c)
{
    return db_verify_progress(c->server->db, add_finding, add_progress, c);
}

static int do_backup(Connection *c)
{
    return db_backup(c->server->db, add_bytes, c);
}

static int do_stream(Connection *c)
{
    return db_checkpoint(c->server->db, add_bytes, c);
}

static int do_compact(Connection *c)
{
    Slice path = {0};
    Buf text = {0};

    if (wire_get_slice(&c->in, &path) != SAP_OK || path.len == 0 ||
        memchr(path.data, '\0', path.len) != NULL) {
        return SAP_INVALID;
    }
    int rc = buf_append(&text, path.data, path.len);
    rc = rc == SAP_OK ? buf_append_u8(&text, 0) : rc;
    rc = rc == SAP_OK ? db_compact_progress(c->server->db, (const char *)text.data, add_progress, c)
                      : rc;
    buf_release(&text);
    return rc;
}

/* ---- Requests on queues --------------------------------------------------------------------- */

static int add_queue(const char *name, void *ctx)
{
    Connection *c = (Connection *)ctx;
    int rc = wire_put_name(&c->data, name);

    return rc == SAP_OK ? send_data(c) : rc;
}

/* Collects messages, so that many go in one frame. */
static int add_message(const AccessMessage *message, void *ctx)
{
    Connection *c = (Connection *)ctx;
    int rc = wire_put_message(&c->data, message);

    return rc == SAP_OK && c->data.len >= BATCH_BYTES ? send_data(c) : rc;
}

/* Sends a message at once: one that cannot be sent is put back. */
static int send_message(const AccessMessage *message, void *ctx)
{
    Connection *c = (Connection *)ctx;
    int rc = wire_put_message(&c->data, message);

    return rc == SAP_OK ? send_data(c) : rc;
}

static int add_letter(const AccessLetter *letter, void *ctx)
{
    Connection *c = (Connection *)ctx;
    int rc = wire_put_letter(&c->data, letter);

    return rc == SAP_OK && c->data.len >= BATCH_BYTES ? send_data(c) : rc;
}

static int add_inbox(uint64_t worker, const SapQueueStat *stat, void *ctx)
{
    Connection *c = (Connection *)ctx;
    int rc = buf_append_u64le(&c->data, worker);

    rc = rc == SAP_OK ? wire_put_queue_stat(&c->data, stat) : rc;
    return rc == SAP_OK && c->data.len >= BATCH_BYTES ? send_data(c) : rc;
}

/* Sends what add_... left. */
static int send_rest(Connection *c, int rc)
{
    return rc == SAP_OK && c->data.len > 0 ? send_data(c) : rc;
}

static int do_queues(Connection *c)
{
    return local_queues(c->server->queues, add_queue, c);
}

static int do_queue_stat(Connection *c)
{
    WireName name;
    SapQueueStat stat;

    if (wire_get_name(&c->in, &name) != SAP_OK) {
        return SAP_INVALID;
    }
    int rc = local_queue_stat(c->server->queues, name.text, &stat, &c->reason);
    rc = rc == SAP_OK ? wire_put_queue_stat(&c->data, &stat) : rc;
    return send_rest(c, rc);
}

static int do_inboxes(Connection *c)
{
    return send_rest(c, local_inboxes(c->server->queues, add_inbox, c));
}

/* The memory of a push has all slices first, and then all numbers. */
typedef struct Pushed {
    Slice payload;
    uint64_t seq;
} Pushed;

static int do_queue_push(Connection *c)
{
    WireName name;
    AccessPush push;
    Things things = {0};
    int rc = wire_get_name(&c->in, &name);

    rc = rc == SAP_OK ? wire_get_push(&c->in, &push) : rc;
    rc = rc == SAP_OK ? things_read(&c->in, 4, sizeof(Pushed), &things) : SAP_INVALID;
    Slice *payloads = (Slice *)things.room;
    uint64_t *seqs = rc == SAP_OK ? (uint64_t *)(void *)(payloads + things.count) : NULL;
    for (uint32_t i = 0; i < things.count && rc == SAP_OK; i++) {
        rc = wire_get_slice(&c->in, &payloads[i]);
    }
    /* The numbers of messages that are in must have room. */
    rc = rc == SAP_OK ? buf_reserve(&c->data, things.count * sizeof *seqs) : rc;
    if (rc == SAP_OK) {
        rc = local_queue_push(c->server->queues, name.text, &push, payloads, things.count, seqs,
                              &c->reason);
    }
    for (uint32_t i = 0; i < things.count && rc == SAP_OK; i++) {
        rc = buf_append_u64le(&c->data, seqs[i]);
    }
    things_free(&things);
    return send_rest(c, rc);
}

static int do_queue_claim(Connection *c)
{
    WireName name;
    AccessClaim claim;
    int rc = wire_get_name(&c->in, &name);

    rc = rc == SAP_OK ? wire_get_claim(&c->in, &claim) : rc;
    return rc == SAP_OK ? local_queue_claim(c->server->queues, name.text, &claim, send_message, c,
                                            &c->reason)
                        : SAP_INVALID;
}

static int do_queue_end(Connection *c)
{
    WireName name;
    AccessEnd end;
    Things things = {0};
    int rc = wire_get_name(&c->in, &name);

    rc = rc == SAP_OK ? wire_get_end(&c->in, &end) : rc;
    rc = rc == SAP_OK ? things_read(&c->in, 16, sizeof(AccessLease), &things) : SAP_INVALID;
    AccessLease *leases = (AccessLease *)things.room;
    for (uint32_t i = 0; i < things.count && rc == SAP_OK; i++) {
        rc = wire_get_lease(&c->in, &leases[i]);
    }
    if (rc == SAP_OK) {
        rc = local_queue_end(c->server->queues, name.text, &end, leases, things.count, &c->result,
                             &c->reason);
    }
    things_free(&things);
    return rc;
}

static int do_queue_peek(Connection *c)
{
    WireName name;
    uint64_t limit = 0;
    int rc = wire_get_name(&c->in, &name);

    rc = rc == SAP_OK ? reader_u64le(&c->in, &limit) : rc;
    return rc == SAP_OK ? send_rest(c, local_queue_peek(c->server->queues, name.text, limit,
                                                        add_message, c, &c->reason))
                        : SAP_INVALID;
}

static int do_letters(Connection *c)
{
    WireName name;
    Slice given = {0};
    int rc = wire_get_bound(&c->in, &given);

    if (rc != SAP_OK || (given.data != NULL && wire_name_of(given, &name) != SAP_OK)) {
        return SAP_INVALID;
    }
    return send_rest(
        c, local_letters(c->server->queues, given.data == NULL ? NULL : name.text, add_letter, c));
}

static int do_letters_end(Connection *c)
{
    uint8_t op = 0;
    Things things = {0};
    bool known = reader_u8(&c->in, &op) == SAP_OK && op <= ACCESS_LETTER_DROP;
    int rc = known ? things_read(&c->in, 28, sizeof(AccessLetterEnd), &things) : SAP_INVALID;
    AccessLetterEnd *letters = (AccessLetterEnd *)things.room;

    for (uint32_t i = 0; i < things.count && rc == SAP_OK; i++) {
        rc = wire_get_letter_end(&c->in, &letters[i]);
    }
    /* What became of letters that are ended must have room: as much as the request had. */
    rc = rc == SAP_OK ? buf_reserve(&c->data, c->request.len) : rc;
    if (rc == SAP_OK) {
        rc = local_letters_end(c->server->queues, (AccessLetterOp)op, letters, things.count);
    }
    for (uint32_t i = 0; i < things.count && rc == SAP_OK; i++) {
        rc = wire_put_letter_end(&c->data, &letters[i]);
    }
    things_free(&things);
    return send_rest(c, rc);
}

/* SAP_INVALID: no such request, or it does not decode. All other codes leave the connection as it is. */
static int perform(Connection *c, WireKind kind)
{
    static int (*const requests[])(Connection * c) = {
        [WIRE_STAT - WIRE_REQUESTS] = do_stat,
        [WIRE_TABLES - WIRE_REQUESTS] = do_tables,
        [WIRE_OPEN_TABLE - WIRE_REQUESTS] = do_open_table,
        [WIRE_GET - WIRE_REQUESTS] = do_get,
        [WIRE_WRITE - WIRE_REQUESTS] = do_write,
        [WIRE_SCAN - WIRE_REQUESTS] = do_scan,
        [WIRE_COUNT - WIRE_REQUESTS] = do_count,
        [WIRE_DEL_RANGE - WIRE_REQUESTS] = do_del_range,
        [WIRE_VERIFY - WIRE_REQUESTS] = do_verify,
        [WIRE_BACKUP - WIRE_REQUESTS] = do_backup,
        [WIRE_COMPACT - WIRE_REQUESTS] = do_compact,
        [WIRE_STREAM - WIRE_REQUESTS] = do_stream,
        [WIRE_QUEUES - WIRE_REQUESTS] = do_queues,
        [WIRE_QUEUE_STAT - WIRE_REQUESTS] = do_queue_stat,
        [WIRE_QUEUE_PUSH - WIRE_REQUESTS] = do_queue_push,
        [WIRE_QUEUE_CLAIM - WIRE_REQUESTS] = do_queue_claim,
        [WIRE_QUEUE_END - WIRE_REQUESTS] = do_queue_end,
        [WIRE_QUEUE_PEEK - WIRE_REQUESTS] = do_queue_peek,
        [WIRE_LETTERS - WIRE_REQUESTS] = do_letters,
        [WIRE_LETTERS_END - WIRE_REQUESTS] = do_letters_end,
        [WIRE_INBOXES - WIRE_REQUESTS] = do_inboxes,
    };
    unsigned index = (unsigned)kind - WIRE_REQUESTS;

    if (index >= sizeof requests / sizeof *requests) {
        return reason_set(&c->reason, SAP_INVALID, "the owner of the file knows no request %u",
                          (unsigned)kind);
    }
    reader_init(&c->in, c->request.data, c->request.len);
    return requests[index](c);
}

/* ---- Connections ---------------------------------------------------------------------------- */

static int say_hello(Connection *c)
{
    /* Room for the end of any request: that there is no memory can always be answered. */
    int rc = buf_reserve(&c->data, DONE_MOST);

    rc = rc == SAP_OK ? buf_append_u32le(&c->data, WIRE_VERSION) : rc;
    rc = rc == SAP_OK ? buf_append_u64le(&c->data, (uint64_t)getpid()) : rc;
    rc = rc == SAP_OK ? wire_send(c->fd, WIRE_HELLO, (Slice){c->data.data, c->data.len}) : rc;
    buf_clear(&c->data);
    return rc;
}

/* Waits for a request. False: the server stops, or the other side is gone. */
static bool await_request(Connection *c)
{
    struct pollfd fds[] = {{.fd = c->server->stopping, .events = POLLIN},
                           {.fd = c->fd, .events = POLLIN}};

    while (poll(fds, 2, -1) < 0) {
        if (errno != EINTR) {
            return false;
        }
    }
    if ((fds[0].revents & POLLIN) != 0) {
        (void)wire_send(c->fd, WIRE_BYE, (Slice){0});
        return false;
    }
    return true;
}

static void serve(Connection *c)
{
    int rc = say_hello(c);

    while (rc == SAP_OK && await_request(c)) {
        WireKind kind;
        rc = wire_receive(c->fd, &kind, &c->request);
        if (rc == SAP_OK || rc == SAP_NOMEM) {
            SAP_ASSERT(c->data.len == 0); /* nothing of the last answer is left */
            c->answered = false;
            c->reason.text[0] = '\0';
            c->result = 0;
            int code = rc == SAP_OK ? perform(c, kind) : rc;
            rc = send_done(c, code);
            rc = code == SAP_INVALID && rc == SAP_OK ? SAP_INVALID : rc;
        }
    }
}

static void *connection_main(void *arg)
{
    Connection *c = (Connection *)arg;

    serve(c);
    mutex_lock(&c->server->mutex);
    c->ended = true;
    mutex_unlock(&c->server->mutex);
    /* Who waits for an answer learns that there will be none; the descriptor is closed by whoever
     * joins, so that its number is no other's before. */
    (void)shutdown(c->fd, SHUT_RDWR);
    return NULL;
}

static void connection_free(Connection *c)
{
    SAP_ASSERT(c->fd > STDERR_FILENO);
    (void)close(c->fd);
    buf_release(&c->request);
    buf_release(&c->data);
    mem_free(MEM_COMMON, c, sizeof *c);
}

/* Removes connections that have ended from the list, and joins their threads. */
static void join_connections(Server *server)
{
    mutex_lock(&server->mutex);
    for (Connection **link = &server->connections; *link != NULL;) {
        Connection *c = *link;
        if (!c->ended) {
            link = &c->next;
            continue;
        }
        *link = c->next;
        mutex_unlock(&server->mutex);
        pthread_join(c->thread, NULL);
        connection_free(c);
        mutex_lock(&server->mutex);
        link = &server->connections; /* only the thread that accepts adds to it, and that is this */
    }
    mutex_unlock(&server->mutex);
}

/* Whether the other side has left something unread for the whole grace, and no part of it was taken. */
static bool is_paused(Connection *c, uint64_t now_ns)
{
    int unread = 0;

    (void)ioctl(c->fd, SIOCOUTQ, &unread);
    if (unread == 0 || unread != c->unread) {
        c->unread = unread;
        c->unread_ns = now_ns;
    }
    return now_ns - c->unread_ns > STOP_GRACE_MS * UINT64_C(1000000);
}

/* Waits until all have ended. Who takes its answer gets all of it; who takes nothing for a while is
 * cut off, so that a paused reader does not keep the file from everybody. */
static void await_ends(Server *server)
{
    static const struct timespec pause = {.tv_nsec = STOP_PAUSE_MS * 1000000};
    bool waiting = true;

    while (waiting) {
        uint64_t now_ns = clock_mono_ns(NULL);
        waiting = false;
        mutex_lock(&server->mutex);
        for (Connection *c = server->connections; c != NULL; c = c->next) {
            if (!c->ended && is_paused(c, now_ns)) {
                (void)shutdown(c->fd, SHUT_RDWR);
            }
            waiting = waiting || !c->ended;
        }
        mutex_unlock(&server->mutex);
        if (waiting) {
            (void)nanosleep(&pause, NULL);
        }
    }
}

static bool is_welcome(const Server *server, int fd)
{
    struct ucred peer;
    socklen_t len = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0 || peer.uid == server->file_uid ||
            server->for_others);
}

static void accept_one(Server *server)
{
    int fd = fd_raise(accept4(server->listener, NULL, NULL, SOCK_CLOEXEC));

    if (fd < 0) {
        if (errno != EINTR && errno != ECONNABORTED) {
            /* Out of descriptors or memory: the connection waits, and so does this thread, a little. */
            struct pollfd stop = {.fd = server->stopping, .events = POLLIN};
            (void)poll(&stop, 1, ACCEPT_RETRY_MS);
        }
        return;
    }
    Connection *c = is_welcome(server, fd) ? (Connection *)mem_zalloc(MEM_COMMON, sizeof *c) : NULL;
    if (c == NULL) {
        (void)close(fd);
        return;
    }
    *c = (Connection){.server = server, .fd = fd};
    if (pthread_create(&c->thread, NULL, connection_main, c) != 0) {
        connection_free(c);
        return;
    }
    mutex_lock(&server->mutex);
    for (const Connection *other = server->connections; other != NULL; other = other->next) {
        SAP_ASSERT(other->fd != fd); /* it is closed only after it has left the list */
    }
    c->next = server->connections;
    server->connections = c;
    mutex_unlock(&server->mutex);
}

static void *server_main(void *arg)
{
    Server *server = (Server *)arg;
    struct pollfd fds[] = {{.fd = server->stopping, .events = POLLIN},
                           {.fd = server->listener, .events = POLLIN}};

    for (;;) {
        int n = poll(fds, 2, -1);
        if (n > 0 && (fds[0].revents & POLLIN) != 0) {
            return NULL;
        }
        if (n > 0 && (fds[1].revents & POLLIN) != 0) {
            join_connections(server);
            accept_one(server);
        }
    }
}

/* ---- Starting and stopping ------------------------------------------------------------------ */

/* Whoever may write the data file may connect: the socket gets its owner and permissions. */
static bool let_in_those_of_the_file(Server *server, const char *socket_path)
{
    const mode_t writers = S_IWUSR | S_IWGRP | S_IWOTH;
    struct stat st;

    if (stat(server->path, &st) != 0) {
        return errno == ENOENT; /* only this user, then */
    }
    server->file_uid = st.st_uid;
    /* The system checks the socket's permissions: others than its owner come in only by these. */
    server->for_others = (st.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    if (lchown(socket_path, st.st_uid, st.st_gid) != 0 &&
        lchown(socket_path, (uid_t)-1, st.st_gid) != 0) {
        return true; /* not ours to give away: it stays this user's */
    }
    return chmod(socket_path, (st.st_mode & writers) | S_IRUSR) == 0;
}

/* Binds PATH.sock, for this user alone from the first moment. */
static int listen_at(Server *server)
{
    struct sockaddr_un address;
    int dir = -1;
    int rc = wire_address(server->path, &address, &dir);

    if (rc != SAP_OK) {
        return rc;
    }
    if (fchmod(server->listener, S_IRUSR | S_IWUSR) != 0 ||
        bind(server->listener, (const struct sockaddr *)&address, sizeof address) != 0 ||
        !let_in_those_of_the_file(server, address.sun_path) ||
        listen(server->listener, BACKLOG) != 0) {
        rc = SAP_IO;
    }
    if (dir >= 0) {
        int error = errno;
        (void)close(dir);
        errno = error;
    }
    return rc;
}

void server_clean_up(const char *path)
{
    struct sockaddr_un address;
    struct stat st;
    int dir = -1;

    if (wire_address(path, &address, &dir) == SAP_OK) {
        if (lstat(address.sun_path, &st) == 0 && S_ISSOCK(st.st_mode)) {
            (void)unlink(address.sun_path);
        }
        if (dir >= 0) {
            (void)close(dir);
        }
    }
}

static void server_free(Server *server)
{
    if (server->listener >= 0) {
        (void)close(server->listener);
    }
    if (server->stopping >= 0) {
        (void)close(server->stopping);
    }
    free(server->path);
    mem_free(MEM_COMMON, server, sizeof *server);
}

int server_start(DB *db, Queues *queues, const char *path, Server **server_out)
{
    SAP_ASSERT(db != NULL && queues != NULL);
    Server *server = (Server *)mem_zalloc(MEM_COMMON, sizeof *server);

    if (server == NULL) {
        return SAP_NOMEM;
    }
    server->db = db;
    server->queues = queues;
    server->path = strdup(path);
    server->file_uid = geteuid();
    server->stopping = fd_raise(eventfd(0, EFD_CLOEXEC));
    server->listener = fd_raise(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    int rc = server->path == NULL                           ? SAP_NOMEM
             : server->stopping < 0 || server->listener < 0 ? SAP_IO
                                                            : listen_at(server);
    if (rc == SAP_OK && !mutex_init(&server->mutex)) {
        rc = SAP_NOMEM;
    }
    if (rc == SAP_OK && pthread_create(&server->thread, NULL, server_main, server) != 0) {
        mutex_destroy(&server->mutex);
        server_clean_up(server->path);
        rc = SAP_NOMEM;
    }
    if (rc != SAP_OK) {
        int error = errno;
        server_free(server);
        errno = error;
        return rc;
    }
    *server_out = server;
    return SAP_OK;
}

void server_stop(Server *server)
{
    static const uint64_t one = 1;

    if (server == NULL) {
        return;
    }
    /* No process finds the socket any more; those that wait in connect() are refused. */
    server_clean_up(server->path);
    ssize_t written = write(server->stopping, &one, sizeof one);
    SAP_ASSERT(written == (ssize_t)sizeof one);
    queues_interrupt(server->queues);
    pthread_join(server->thread, NULL);
    mutex_lock(&server->mutex);
    for (const Connection *c = server->connections; c != NULL; c = c->next) {
        (void)shutdown(c->fd, SHUT_RD); /* half a request is not waited for */
    }
    mutex_unlock(&server->mutex);
    await_ends(server);
    join_connections(server);
    SAP_ASSERT(server->connections == NULL); /* nobody uses the database any more */
    mutex_destroy(&server->mutex);
    server_free(server);
}
