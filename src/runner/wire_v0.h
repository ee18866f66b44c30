/* wire_v0.h - the frames of messages and intents. The calls themselves: sapling/runner_v0.h.
 *
 * Both frames are little-endian and frozen: a header of fixed size, then bytes whose lengths the
 * header says. A frame is exactly as long as its frame_len.
 *
 *   LMSG                               LINT
 *    0  4  "LMSG"                       0  4  "LINT"
 *    4  2  major, 0                     4  2  major, 0
 *    6  2  minor, 0                     6  2  minor, 0
 *    8  4  frame_len                    8  4  frame_len
 *   12  1  kind                        12  1  kind
 *   13  1  flags                       13  1  flags
 *   14  2  0                           14  2  0
 *   16  8  to_worker, >= 0             16  8  due_ts
 *   24  8  route_worker                24  4  message_len, > 0
 *   32  8  route_timestamp             28     one LMSG
 *   40  8  from_worker
 *   48  4  message_id_len, > 0
 *   52  4  trace_id_len, or 0xFFFFFFFF
 *   56  4  payload_len
 *   60     message id, trace id, payload
 *
 * Invariants of every frame that decodes, and of every frame that is encoded:
 *  1. the lengths in the header and the header's own add up to frame_len, which is the length of
 *     the buffer and at most SAP_RUNNER_V0_MAX_FRAME;
 *  2. trace_id_len is 0xFFFFFFFF exactly without HAS_TRACE (a trace id may be empty);
 *  3. no bits but the known ones are set in flags, and the bytes at 14 are zero;
 *  4. a timer arm has HAS_DUE, an emit has not.
 * The bytes of from_worker and due_ts mean nothing without their flag: the encoder writes zeros,
 * the decoder accepts anything and returns 0. */
#ifndef SAPLING_RUNNER_WIRE_V0_H
#define SAPLING_RUNNER_WIRE_V0_H

#include "common/buf.h"
#include "sapling/runner_v0.h"

enum { WIRE_MESSAGE_HEADER = 60, WIRE_INTENT_HEADER = 28 };

/* The SAP_* code that a wire code is elsewhere. */
int wire_rc(int wire_code);

/* Appends the frame of the message. SAP_INVALID: no frame can hold it. SAP_NOMEM. */
int wire_encode_buf(const SapRunnerV0Message *msg, Buf *buf);

/* SAP_OK: it is a message frame, so that the calls below may be asked. SAP_INVALID. */
int wire_check(const void *frame, uint32_t len);

/* Fields of a message frame that was checked. */
int64_t wire_to_worker(const void *frame);
uint8_t wire_flags(const void *frame);
int64_t wire_route_timestamp(const void *frame);

#endif
