/* remote.c - see remote.h. */
#include "node/remote.h"

#include "common/assert.h"
#include "common/clock.h"
#include "common/fd.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    NOTE_MS = 2000, /* silence before an owner is asked for a sign of life */
    PAUSE_MS = 10,
};

void remote_disconnect(Remote *remote)
{
    SAP_ASSERT(!remote->greeted || remote->fd >= 0);
    if (remote->fd >= 0) {
        (void)close(remote->fd);
    }
    remote->fd = -1;
    remote->greeted = false;
}

void remote_release(Remote *remote)
{
    remote_disconnect(remote);
    buf_release(&remote->request);
    buf_release(&remote->reply);
}

/* ---- Waiting -------------------------------------------------------------------------------- */

static uint64_t now_ms(void)
{
    return clock_mono_ns(NULL) / 1000000;
}

/* Connects without waiting. SAP_BUSY: nobody serves. SAP_FULL: too many wait there already. SAP_IO,
 * SAP_NOMEM. */
static int connect_now(const Remote *remote, int *fd_out)
{
    struct sockaddr_un address;
    int dir = -1;
    int rc = wire_address(remote->path, &address, &dir);

    if (rc != SAP_OK) {
        return rc == SAP_FULL ? SAP_BUSY : rc;
    }
    int fd = fd_raise(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd < 0) {
        rc = SAP_IO;
    } else if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        rc = errno == EAGAIN ? SAP_FULL : SAP_BUSY;
    }
    int error = errno;
    if (dir >= 0) {
        (void)close(dir);
    }
    if (rc != SAP_OK && fd >= 0) {
        (void)close(fd);
    }
    errno = error;
    if (rc == SAP_OK) {
        *fd_out = fd;
    }
    return rc;
}

/* One wait for the owner. */
typedef struct Silence {
    uint64_t since_ms; /* no sign of life */
    int probe;         /* the second connection, or -1 */
    bool asked;        /* for a sign of life, some time ago */
    const char *said;  /* what it does; NULL: nothing was said yet */
} Silence;

static const char at_work[] = "is at work";
static const char not_answering[] = "does not answer";

static void say(const Remote *remote, Silence *silence, const char *doing)
{
    Reason text;

    if (remote->note != NULL && silence->said != doing) {
        (void)reason_set(&text, SAP_OK, "waiting for process %llu, which has %s open and %s",
                         (unsigned long long)remote->owner_pid, remote->path, doing);
        remote->note(text.text, remote->note_ctx);
    }
    silence->said = doing;
}

static void end_probe(Silence *silence)
{
    if (silence->probe >= 0) {
        (void)close(silence->probe);
    }
    silence->probe = -1;
}

/* It answered on the second connection, or is closing the file: it will answer here too. */
static void lives(const Remote *remote, Silence *silence)
{
    say(remote, silence, at_work);
    end_probe(silence);
    silence->since_ms = now_ms();
    silence->asked = false;
}

/* The owner has been silent for a while: asks for a sign of life, or notes that there was none. */
static void look_for_life(const Remote *remote, Silence *silence)
{
    int rc = remote->greeted && silence->probe < 0 ? connect_now(remote, &silence->probe) : SAP_OK;

    if (rc != SAP_OK && rc != SAP_FULL) { /* that proves nothing */
        lives(remote, silence);
        return;
    }
    /* A greeting that was asked for just now may still come. */
    if (silence->asked || !remote->greeted) {
        say(remote, silence, not_answering);
    }
    silence->asked = true;
}

/* A WireWait. SAP_BUSY: it gave no sign of life for as long as the patience lasts. */
static int wait_for_owner(int fd, short events, void *ctx)
{
    const Remote *remote = (const Remote *)ctx;
    Silence silence = {.since_ms = now_ms(), .probe = -1};
    uint32_t note_ms = remote->patience_ms / 2 < NOTE_MS ? remote->patience_ms / 2 : NOTE_MS;
    int rc = SAP_OK;

    for (;;) {
        struct pollfd fds[] = {{.fd = fd, .events = events},
                               {.fd = silence.probe, .events = POLLIN}};
        uint64_t silent_ms = now_ms() - silence.since_ms;
        uint64_t pause_ms = silent_ms < note_ms ? note_ms - silent_ms : note_ms / 4 + 1;
        int ready = poll(fds, 2, (int)pause_ms);
        if (ready > 0 && fds[0].revents != 0) {
            break;
        }
        silent_ms = now_ms() - silence.since_ms;
        if (ready > 0) {
            lives(remote, &silence);
        } else if (silent_ms >= remote->patience_ms) {
            rc = SAP_BUSY;
            break;
        } else if (silent_ms >= note_ms) {
            look_for_life(remote, &silence);
        }
    }
    end_probe(&silence);
    return rc;
}

static int receive(Remote *remote, WireKind *kind_out)
{
    WireWait wait = {wait_for_owner, remote};

    return wire_receive_wait(remote->fd, kind_out, &remote->reply, &wait);
}

static int no_answer(const Remote *remote, Reason *reason, const char *then)
{
    return reason_set(reason, SAP_BUSY, "process %llu, which has %s open, does not answer%s",
                      (unsigned long long)remote->owner_pid, remote->path, then);
}

/* ---- Connecting ----------------------------------------------------------------------------- */

static int read_hello(Remote *remote, Reason *reason)
{
    WireKind kind = WIRE_BYE;
    ByteReader in;
    uint32_t version = 0;
    int rc = receive(remote, &kind);

    if (rc == SAP_NOMEM) {
        return rc;
    }
    if (rc == SAP_BUSY) {
        return no_answer(remote, reason, "");
    }
    if (rc != SAP_OK || kind != WIRE_HELLO) { /* it is about to close the file */
        return SAP_BUSY;
    }
    reader_init(&in, remote->reply.data, remote->reply.len);
    rc = reader_u32le(&in, &version);
    rc = rc == SAP_OK ? reader_u64le(&in, &remote->owner_pid) : rc;
    if (rc != SAP_OK || version != WIRE_VERSION) {
        return reason_set(
            reason, SAP_INVALID,
            "the owner of the file (process %llu) is of another version: use the same "
            "for both",
            (unsigned long long)remote->owner_pid);
    }
    remote->greeted = true;
    return SAP_OK;
}

/* Connects, and waits while the listen queue of the owner is full. */
static int connect_patiently(Remote *remote)
{
    static const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000};
    uint64_t until_ms = now_ms() + remote->patience_ms;
    int rc;

    while ((rc = connect_now(remote, &remote->fd)) == SAP_FULL && now_ms() < until_ms) {
        (void)nanosleep(&pause, NULL);
    }
    return rc == SAP_FULL ? SAP_BUSY : rc;
}

int remote_connect(Remote *remote, bool *dead_out, Reason *reason)
{
    struct ucred owner = {0};
    socklen_t len = sizeof owner;

    SAP_ASSERT(remote->fd < 0 && !remote->greeted);
    errno = 0;
    int rc = connect_patiently(remote);
    *dead_out = rc == SAP_BUSY && errno == ECONNREFUSED;
    if (rc == SAP_IO) {
        return reason_set(reason, rc, "cannot connect to the process that has it open: %s",
                          strerror(errno));
    }
    if (rc != SAP_OK) {
        return rc;
    }
    (void)getsockopt(remote->fd, SOL_SOCKET, SO_PEERCRED, &owner, &len);
    remote->owner_pid = (uint64_t)owner.pid;
    rc = read_hello(remote, reason);
    if (rc != SAP_OK) {
        remote_disconnect(remote);
    }
    return rc;
}

/* ---- Asking --------------------------------------------------------------------------------- */

static int lost(Remote *remote, Reason *reason)
{
    remote_disconnect(remote);
    return reason_set(reason, REMOTE_LOST,
                      "the owner of the file (process %llu) went away before it had answered",
                      (unsigned long long)remote->owner_pid);
}

static int gave_up(Remote *remote, Reason *reason)
{
    remote_disconnect(remote);
    return no_answer(remote, reason, ": whether it did, or will do, what was asked is not known");
}

static int read_done(Remote *remote, uint64_t *result_out, Reason *reason)
{
    ByteReader in;
    WireDone done = {0};

    reader_init(&in, remote->reply.data, remote->reply.len);
    if (wire_get_done(&in, &done) != SAP_OK || done.code > SAP_FENCED) {
        remote_disconnect(remote);
        return reason_set(reason, SAP_IO,
                          "the owner of the file (process %llu) gave an answer that is not one",
                          (unsigned long long)remote->owner_pid);
    }
    if (result_out != NULL) {
        *result_out = done.result;
    }
    return done.reason.len == 0 ? (int)done.code
                                : reason_set(reason, (int)done.code, "%.*s", (int)done.reason.len,
                                             (const char *)done.reason.data);
}

static int read_progress(const Remote *remote)
{
    ByteReader in;
    uint64_t done = 0;
    uint64_t total = 0;

    reader_init(&in, remote->reply.data, remote->reply.len);
    int rc = reader_u64le(&in, &done);
    rc = rc == SAP_OK ? reader_u64le(&in, &total) : rc;
    return rc == SAP_OK && remote->progress != NULL
               ? remote->progress(done, total, remote->progress_ctx)
               : rc;
}

int remote_ask(Remote *remote, WireKind kind, int (*fn)(Slice data, void *ctx), void *ctx,
               uint64_t *result_out, Reason *reason)
{
    if (remote->fd < 0) {
        return REMOTE_GONE;
    }
    SAP_ASSERT(remote->greeted && (unsigned)kind >= WIRE_REQUESTS);
    remote->received = false;
    WireWait wait = {wait_for_owner, remote};
    int rc =
        wire_send_wait(remote->fd, kind, (Slice){remote->request.data, remote->request.len}, &wait);
    if (rc == SAP_FULL) {
        return reason_set(reason, rc, "that is too much for one request");
    }
    if (rc == SAP_BUSY) {
        return gave_up(remote, reason);
    }
    /* Also if the request could not be sent: the owner may have said goodbye before. */
    for (;;) {
        WireKind got = WIRE_BYE;
        int received = receive(remote, &got);
        if (received == SAP_BUSY) {
            return gave_up(remote, reason);
        }
        if (received == SAP_NOMEM) {
            remote_disconnect(remote);
            return reason_set(reason, received,
                              "out of memory for the owner's answer: whether it did what was "
                              "asked is not known");
        }
        if (received != SAP_OK) {
            return lost(remote, reason);
        }
        if (got == WIRE_BYE) {
            remote_disconnect(remote);
            return REMOTE_GONE;
        }
        if (rc != SAP_OK) {
            return lost(remote, reason);
        }
        if (got == WIRE_DONE) {
            return read_done(remote, result_out, reason);
        }
        rc = got == WIRE_PROGRESS ? read_progress(remote)
             : got == WIRE_DATA && fn != NULL
                 ? fn((Slice){remote->reply.data, remote->reply.len}, ctx)
                 : SAP_INVALID;
        remote->received = remote->received || got == WIRE_DATA;
        if (rc != SAP_OK) {
            remote_disconnect(remote);
            return rc;
        }
    }
}
