/* wire_queue.h - members of the requests on queues: see wire.h. A name is a string without NUL; an
 * optional string is a bound. Readers borrow from what they read. */
#ifndef SAPLING_NODE_WIRE_QUEUE_H
#define SAPLING_NODE_WIRE_QUEUE_H

#include "node/wire.h"

enum { WIRE_NAME_MAX = 255 };

typedef struct WireName {
    char text[WIRE_NAME_MAX + 1];
} WireName;

/* SAP_INVALID: empty, too long, or with a NUL in it. */
int wire_name_of(Slice bytes, WireName *name_out);
int wire_put_name(Buf *buf, const char *name);
int wire_get_name(ByteReader *reader, WireName *name_out);

/* u8 flags (1 dedupe, 2 high priority), i64 delay, id, trace */
int wire_put_push(Buf *buf, const AccessPush *push);
int wire_get_push(ByteReader *reader, AccessPush *push_out);

/* u32 lease, u32 wait, u32 max, u32 attempts */
int wire_put_claim(Buf *buf, const AccessClaim *claim);
int wire_get_claim(ByteReader *reader, AccessClaim *claim_out);

/* u64 seq, u64 token, u32 attempts, i64 sent, i64 deadline, i64 due, u8 leased, id, trace,
 * payload */
int wire_put_message(Buf *buf, const AccessMessage *m);
int wire_get_message(ByteReader *reader, AccessMessage *message_out);

/* u8 op, i32 rc, i64 ms, u32 attempts */
int wire_put_end(Buf *buf, const AccessEnd *end);
int wire_get_end(ByteReader *reader, AccessEnd *end_out);

/* u64 seq, u64 token */
int wire_put_lease(Buf *buf, const AccessLease *lease);
int wire_get_lease(ByteReader *reader, AccessLease *lease_out);

/* u64 ready, u64 leased, u64 delayed, u64 dead letters, i64 oldest, u64 retrying */
int wire_put_queue_stat(Buf *buf, const SapQueueStat *stat);
int wire_get_queue_stat(ByteReader *reader, SapQueueStat *stat_out);

/* queue, u64 worker, u64 seq, i32 rc, u32 attempts, frame */
int wire_put_letter(Buf *buf, const AccessLetter *letter);
int wire_get_letter(ByteReader *reader, AccessLetter *letter_out);

/* u64 worker, u64 seq, i32 rc, u64 new seq */
int wire_put_letter_end(Buf *buf, const AccessLetterEnd *end);
int wire_get_letter_end(ByteReader *reader, AccessLetterEnd *end_out);

#endif
