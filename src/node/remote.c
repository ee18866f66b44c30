/* remote.c - see remote.h. */
#include "node/remote.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void remote_disconnect(Remote *remote)
{
    if (remote->fd >= 0) {
        (void)close(remote->fd);
    }
    remote->fd = -1;
}

void remote_release(Remote *remote)
{
    remote_disconnect(remote);
    buf_release(&remote->request);
    buf_release(&remote->reply);
}

static int read_hello(Remote *remote, Reason *reason)
{
    WireKind kind = WIRE_BYE;
    ByteReader in;
    uint32_t version = 0;
    int rc = wire_receive(remote->fd, &kind, &remote->reply);

    if (rc == SAP_NOMEM) {
        return rc;
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
    return SAP_OK;
}

int remote_connect(Remote *remote, const char *path, Reason *reason)
{
    struct sockaddr_un address;
    int dir = -1;
    int rc = wire_address(path, &address, &dir);

    if (rc != SAP_OK) {
        return rc == SAP_NOMEM ? rc : SAP_BUSY;
    }
    remote->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (remote->fd < 0) {
        rc = reason_set(reason, SAP_IO, "no socket: %s", strerror(errno));
    } else if (connect(remote->fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        rc = SAP_BUSY;
    }
    if (dir >= 0) {
        (void)close(dir);
    }
    if (rc == SAP_OK) {
        rc = read_hello(remote, reason);
    }
    if (rc != SAP_OK) {
        remote_disconnect(remote);
    }
    return rc;
}

static int lost(Remote *remote, Reason *reason)
{
    remote_disconnect(remote);
    return reason_set(reason, SAP_IO,
                      "the owner of the file (process %llu) went away before it had answered",
                      (unsigned long long)remote->owner_pid);
}

static int read_done(Remote *remote, uint64_t *result_out, Reason *reason)
{
    ByteReader in;
    WireDone done = {0};

    reader_init(&in, remote->reply.data, remote->reply.len);
    if (wire_get_done(&in, &done) != SAP_OK || done.code > SAP_FENCED) {
        return lost(remote, reason);
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
    int rc = wire_send(remote->fd, kind, (Slice){remote->request.data, remote->request.len});
    if (rc == SAP_FULL) {
        return reason_set(reason, rc, "that is too much for one request");
    }
    /* A goodbye may be here although nothing could be sent any more: it is looked for in any case. */
    for (;;) {
        WireKind got = WIRE_BYE;
        int received = wire_receive(remote->fd, &got, &remote->reply);
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
        if (rc != SAP_OK) {
            remote_disconnect(remote);
            return rc;
        }
    }
}
