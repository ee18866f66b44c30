/* wire.h - what goes over PATH.sock, between the owner of a file and those who use it.
 *
 * A frame is u32le length of the payload, u8 kind, payload. The owner says hello first; then each
 * request is one frame, and its answer any number of WIRE_DATA and WIRE_PROGRESS and one WIRE_DONE. An owner that is
 * about to close the file finishes the request it has begun and says WIRE_BYE: a request that is
 * answered by that was not begun. Numbers are little-endian; a text or byte string is u32le length
 * and bytes; a bound is u8 (0: none), and the string if it is 1.
 *
 * Both sides are of the same machine and user, and need not trust each other's frames: what does not
 * decode ends the connection. */
#ifndef SAPLING_NODE_WIRE_H
#define SAPLING_NODE_WIRE_H

#include "node/access.h"

enum { WIRE_VERSION = 4, WIRE_REQUESTS = 16 }; /* the kinds of requests begin there */

typedef enum WireKind {
    WIRE_HELLO = 1, /* u32 version, u64 pid of the owner */
    WIRE_BYE = 2,
    WIRE_DATA = 3,     /* as the request says */
    WIRE_DONE = 4,     /* u32 code, text of the reason, u64 result */
    WIRE_PROGRESS = 5, /* u64 rows done, u64 rows in all */

    WIRE_STAT = 16,       /* data: the members of AccessStat */
    WIRE_TABLES = 17,     /* data: the members of AccessTable */
    WIRE_OPEN_TABLE = 18, /* u32 table, u32 flags */
    WIRE_GET = 19,        /* u32 table, key; data: the value */
    WIRE_WRITE = 20,     /* u32 count, for each u8 op, u32 table, key, value; result: what failed */
    WIRE_SCAN = 21,      /* range; data: rows, each key and value */
    WIRE_COUNT = 22,     /* range; result: the count */
    WIRE_DEL_RANGE = 23, /* range; result: the count */
    WIRE_VERIFY = 24,    /* data: the text of a finding */
    WIRE_BACKUP = 25,    /* data: bytes */
    WIRE_COMPACT = 26,   /* text: absolute path */
    WIRE_STREAM = 27,    /* data: bytes */

    /* Members: wire_queue.h. */
    WIRE_QUEUES = 28,      /* data: a name */
    WIRE_QUEUE_STAT = 29,  /* name; data: a stat */
    WIRE_QUEUE_PUSH = 30,  /* name, push, u32 count, payloads; data: u64 number of each */
    WIRE_QUEUE_CLAIM = 31, /* name, claim; data: a message */
    WIRE_QUEUE_END = 32,   /* name, end, u32 count, leases; result: dead letters */
    WIRE_QUEUE_PEEK = 33,  /* name, u64 limit; data: messages */
    WIRE_LETTERS = 34,     /* bound: name; data: letters */
    WIRE_LETTERS_END = 35, /* u8 op, u32 count, letter ends; data: letter ends */
    WIRE_INBOXES = 36,     /* data: u64 worker and a stat, of each */
} WireKind;

/* How a side waits that does not block: until poll() has one of `events` for fd. SAP_OK: it has.
 * Other codes end the sending or receiving, and are its answer. */
typedef struct WireWait {
    int (*wait)(int fd, short events, void *ctx);
    void *ctx;
} WireWait;

/* Sends a frame; wait NULL: blocks. SAP_IO: nobody listens, or not within the time that the socket
 * has. SAP_FULL: longer than a frame can be. */
int wire_send_wait(int fd, WireKind kind, Slice payload, const WireWait *wait);
int wire_send(int fd, WireKind kind, Slice payload);

/* Receives a frame; the payload replaces what is in `payload`. SAP_NOTFOUND: the other side closed
 * the connection between frames. SAP_IO. SAP_INVALID: longer than a frame can be. SAP_NOMEM: the frame was read and dropped. */
int wire_receive_wait(int fd, WireKind *kind_out, Buf *payload, const WireWait *wait);
int wire_receive(int fd, WireKind *kind_out, Buf *payload);

int wire_put_slice(Buf *buf, Slice slice);
int wire_get_slice(ByteReader *reader, Slice *slice_out);

/* A slice, or with NULL data none. */
int wire_put_bound(Buf *buf, Slice bound);
int wire_get_bound(ByteReader *reader, Slice *bound_out);

int wire_put_range(Buf *buf, const AccessRange *range);
/* Bounds are borrowed from what the reader reads. */
int wire_get_range(ByteReader *reader, AccessRange *range_out);

int wire_put_change(Buf *buf, const AccessChange *change);
int wire_get_change(ByteReader *reader, AccessChange *change_out);

int wire_put_stat(Buf *buf, const AccessStat *stat);
int wire_get_stat(ByteReader *reader, AccessStat *stat_out);

int wire_put_table(Buf *buf, const AccessTable *table);
int wire_get_table(ByteReader *reader, AccessTable *table_out);

/* The end of a request. */
typedef struct WireDone {
    uint32_t code;
    Slice reason;
    uint64_t result;
} WireDone;

int wire_put_done(Buf *buf, const WireDone *done);
int wire_get_done(ByteReader *reader, WireDone *done_out);

/* The address of PATH.sock; *dir_out is a descriptor to close once it was used, or -1. SAP_FULL: the
 * name is too long for a socket. SAP_IO. */
struct sockaddr_un;
int wire_address(const char *path, struct sockaddr_un *address_out, int *dir_out);

#endif
