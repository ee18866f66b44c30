/* wire.c - see wire.h. */
#include "node/wire.h"

#include "common/bytes.h"
#include "common/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

enum { FRAME_HEADER = 5, READ_STEP = 1 << 20, SKIP_STEP = 4096 };

/* A row of the largest key and value, and what is around it. */
#define FRAME_MAX (UINT32_C(1) << 30 | UINT32_C(1) << 20)

/* ---- Frames --------------------------------------------------------------------------------- */

/* Decides what to do after a failed send or receive. SAP_OK: try again. Other codes: give up with it. */
static int try_again(int fd, short events, const WireWait *wait)
{
    if (errno == EINTR) {
        return SAP_OK;
    }
    return wait != NULL && errno == EAGAIN ? wait->wait(fd, events, wait->ctx) : SAP_IO;
}

static int send_all(int fd, struct iovec *parts, size_t count, const WireWait *wait)
{
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
    int flags = MSG_NOSIGNAL | (wait != NULL ? MSG_DONTWAIT : 0);

    while (message.msg_iovlen > 0) {
        ssize_t sent = sendmsg(fd, &message, flags);
        if (sent < 0) {
            int rc = try_again(fd, POLLOUT, wait);
            if (rc != SAP_OK) {
                return rc;
            }
            continue;
        }
        if (sent == 0) {
            return SAP_IO;
        }
        size_t left = (size_t)sent;
        while (message.msg_iovlen > 0 && left >= message.msg_iov->iov_len) {
            left -= message.msg_iov->iov_len;
            message.msg_iov++;
            message.msg_iovlen--;
        }
        if (message.msg_iovlen > 0) {
            message.msg_iov->iov_base = (uint8_t *)message.msg_iov->iov_base + left;
            message.msg_iov->iov_len -= left;
        }
    }
    return SAP_OK;
}

int wire_send(int fd, WireKind kind, Slice payload)
{
    return wire_send_wait(fd, kind, payload, NULL);
}

int wire_send_wait(int fd, WireKind kind, Slice payload, const WireWait *wait)
{
    uint8_t header[FRAME_HEADER];
    union {
        const void *in;
        void *out;
    } data = {.in = payload.data};

    if (payload.len > FRAME_MAX) {
        return SAP_FULL;
    }
    store_u32le(header, (uint32_t)payload.len);
    header[4] = (uint8_t)kind;
    struct iovec parts[] = {{header, sizeof header}, {data.out, payload.len}};
    return send_all(fd, parts, payload.len > 0 ? 2 : 1, wait);
}

/* SAP_NOTFOUND: closed before the first byte. */
static int receive_all(int fd, uint8_t *out, size_t len, const WireWait *wait)
{
    size_t got = 0;

    while (got < len) {
        ssize_t n = recv(fd, out + got, len - got, wait != NULL ? MSG_DONTWAIT : 0);
        if (n < 0) {
            int rc = try_again(fd, POLLIN, wait);
            if (rc != SAP_OK) {
                return rc;
            }
            continue;
        }
        if (n == 0) {
            return got == 0 ? SAP_NOTFOUND : SAP_IO;
        }
        got += (size_t)n;
    }
    return SAP_OK;
}

/* Reads and drops a payload that there is no memory for, so that the next frame can be read. */
static int skip_bytes(int fd, size_t len, const WireWait *wait)
{
    uint8_t piece[SKIP_STEP];
    int rc = SAP_OK;

    while (rc == SAP_OK && len > 0) {
        size_t step = len < sizeof piece ? len : sizeof piece;
        rc = receive_all(fd, piece, step, wait);
        len -= step;
    }
    return rc;
}

int wire_receive(int fd, WireKind *kind_out, Buf *payload)
{
    return wire_receive_wait(fd, kind_out, payload, NULL);
}

int wire_receive_wait(int fd, WireKind *kind_out, Buf *payload, const WireWait *wait)
{
    uint8_t header[FRAME_HEADER];
    int rc = receive_all(fd, header, sizeof header, wait);

    if (rc != SAP_OK) {
        return rc;
    }
    uint32_t len = load_u32le(header);
    if (len > FRAME_MAX) {
        return SAP_INVALID;
    }
    *kind_out = (WireKind)header[4];
    buf_clear(payload);
    /* Step by step: a length alone, without its bytes, must not make this allocate a gigabyte. */
    while (rc == SAP_OK && payload->len < len) {
        size_t step = len - payload->len < READ_STEP ? len - payload->len : READ_STEP;
        rc = buf_reserve(payload, step);
        if (rc == SAP_OK) {
            rc = receive_all(fd, payload->data + payload->len, step, wait);
            payload->len += step;
        } else {
            rc = skip_bytes(fd, len - payload->len, wait);
            rc = rc == SAP_OK ? SAP_NOMEM : rc;
        }
    }
    return rc == SAP_NOTFOUND ? SAP_IO : rc;
}

/* ---- Members -------------------------------------------------------------------------------- */

int wire_put_slice(Buf *buf, Slice slice)
{
    int rc = slice.len > FRAME_MAX ? SAP_FULL : buf_append_u32le(buf, (uint32_t)slice.len);

    return rc == SAP_OK ? buf_append(buf, slice.data, slice.len) : rc;
}

int wire_get_slice(ByteReader *reader, Slice *slice_out)
{
    const uint8_t *data = NULL;
    uint32_t len = 0;
    int rc = reader_u32le(reader, &len);

    if (rc == SAP_OK) {
        rc = reader_bytes(reader, len, &data);
    }
    if (rc == SAP_OK) {
        *slice_out = (Slice){data, len};
    }
    return rc;
}

int wire_put_bound(Buf *buf, Slice bound)
{
    int rc = buf_append_u8(buf, bound.data != NULL);

    return rc == SAP_OK && bound.data != NULL ? wire_put_slice(buf, bound) : rc;
}

int wire_get_bound(ByteReader *reader, Slice *bound_out)
{
    uint8_t there = 0;
    int rc = reader_u8(reader, &there);

    *bound_out = (Slice){0};
    return rc == SAP_OK && there == 1 ? wire_get_slice(reader, bound_out)
                                      : (there > 1 ? SAP_INVALID : rc);
}

enum { RANGE_BACKWARDS = 1, RANGE_KEYS_ONLY = 2, RANGE_FLAGS = 3 };

int wire_put_range(Buf *buf, const AccessRange *range)
{
    unsigned flags =
        (range->backwards ? RANGE_BACKWARDS : 0u) | (range->keys_only ? RANGE_KEYS_ONLY : 0u);
    int rc = buf_append_u32le(buf, range->dbi);

    rc = rc == SAP_OK ? buf_append_u8(buf, (uint8_t)flags) : rc;
    rc = rc == SAP_OK ? buf_append_u64le(buf, range->limit) : rc;
    rc = rc == SAP_OK ? wire_put_bound(buf, range->from) : rc;
    return rc == SAP_OK ? wire_put_bound(buf, range->to) : rc;
}

int wire_get_range(ByteReader *reader, AccessRange *range_out)
{
    AccessRange range = {0};
    uint8_t flags = 0;
    int rc = reader_u32le(reader, &range.dbi);

    rc = rc == SAP_OK ? reader_u8(reader, &flags) : rc;
    rc = rc == SAP_OK ? reader_u64le(reader, &range.limit) : rc;
    rc = rc == SAP_OK ? wire_get_bound(reader, &range.from) : rc;
    rc = rc == SAP_OK ? wire_get_bound(reader, &range.to) : rc;
    range.backwards = (flags & RANGE_BACKWARDS) != 0;
    range.keys_only = (flags & RANGE_KEYS_ONLY) != 0;
    *range_out = range;
    return rc == SAP_OK && flags > RANGE_FLAGS ? SAP_INVALID : rc;
}

int wire_put_change(Buf *buf, const AccessChange *change)
{
    int rc = buf_append_u8(buf, (uint8_t)change->op);

    rc = rc == SAP_OK ? buf_append_u32le(buf, change->dbi) : rc;
    rc = rc == SAP_OK ? wire_put_slice(buf, change->key) : rc;
    return rc == SAP_OK ? wire_put_slice(buf, change->val) : rc;
}

int wire_get_change(ByteReader *reader, AccessChange *change_out)
{
    uint8_t op = 0;
    int rc = reader_u8(reader, &op);

    rc = rc == SAP_OK ? reader_u32le(reader, &change_out->dbi) : rc;
    rc = rc == SAP_OK ? wire_get_slice(reader, &change_out->key) : rc;
    rc = rc == SAP_OK ? wire_get_slice(reader, &change_out->val) : rc;
    change_out->op = (AccessOp)op;
    return rc == SAP_OK && op > ACCESS_DEL_PAIR ? SAP_INVALID : rc;
}

int wire_put_stat(Buf *buf, const AccessStat *stat)
{
    const uint64_t members[] = {stat->txnid, stat->pages, stat->readers, stat->data_size,
                                stat->log_size};
    int rc = buf_append_u32le(buf, stat->page_size);

    for (size_t i = 0; i < sizeof members / sizeof *members && rc == SAP_OK; i++) {
        rc = buf_append_u64le(buf, members[i]);
    }
    return rc;
}

int wire_get_stat(ByteReader *reader, AccessStat *stat_out)
{
    uint64_t *const members[] = {&stat_out->txnid, &stat_out->pages, &stat_out->readers,
                                 &stat_out->data_size, &stat_out->log_size};
    int rc = reader_u32le(reader, &stat_out->page_size);

    for (size_t i = 0; i < sizeof members / sizeof *members && rc == SAP_OK; i++) {
        rc = reader_u64le(reader, members[i]);
    }
    return rc;
}

int wire_put_table(Buf *buf, const AccessTable *table)
{
    int rc = buf_append_u32le(buf, table->dbi);

    rc = rc == SAP_OK ? buf_append_u32le(buf, table->flags) : rc;
    rc = rc == SAP_OK ? buf_append_u64le(buf, table->rows) : rc;
    return rc == SAP_OK ? buf_append_u32le(buf, table->depth) : rc;
}

int wire_get_table(ByteReader *reader, AccessTable *table_out)
{
    uint32_t flags = 0;
    int rc = reader_u32le(reader, &table_out->dbi);

    rc = rc == SAP_OK ? reader_u32le(reader, &flags) : rc;
    rc = rc == SAP_OK ? reader_u64le(reader, &table_out->rows) : rc;
    rc = rc == SAP_OK ? reader_u32le(reader, &table_out->depth) : rc;
    table_out->flags = flags;
    return rc;
}

int wire_put_done(Buf *buf, const WireDone *done)
{
    int rc = buf_append_u32le(buf, done->code);

    rc = rc == SAP_OK ? wire_put_slice(buf, done->reason) : rc;
    return rc == SAP_OK ? buf_append_u64le(buf, done->result) : rc;
}

int wire_get_done(ByteReader *reader, WireDone *done_out)
{
    int rc = reader_u32le(reader, &done_out->code);

    rc = rc == SAP_OK ? wire_get_slice(reader, &done_out->reason) : rc;
    return rc == SAP_OK ? reader_u64le(reader, &done_out->result) : rc;
}

/* ---- The address ---------------------------------------------------------------------------- */

int wire_address(const char *path, struct sockaddr_un *address_out, int *dir_out)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int len = snprintf(address.sun_path, sizeof address.sun_path, "%s.sock", path);
    int dir = -1;

    if (len >= (int)sizeof address.sun_path) {
        /* The kernel takes no long names; that of the directory can be made short. */
        const char *slash = strrchr(path, '/');
        char *parent = slash == NULL ? NULL : strndup(path, (size_t)(slash - path) + 1);
        if (parent == NULL) {
            return slash == NULL ? SAP_FULL : SAP_NOMEM;
        }
        dir = fd_open(parent, O_PATH | O_DIRECTORY, 0);
        free(parent);
        if (dir < 0) {
            return SAP_IO;
        }
        len = snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s.sock", dir,
                       slash + 1);
        if (len >= (int)sizeof address.sun_path) {
            (void)close(dir);
            return SAP_FULL;
        }
    }
    *address_out = address;
    *dir_out = dir;
    return SAP_OK;
}
