/* wire_queue.c - see wire_queue.h. */
#include "node/wire_queue.h"

#include "common/bytes.h"

#include <string.h>

enum { PUSH_DEDUPE = 1, PUSH_HIGH = 2, PUSH_FLAGS = 3 };

/* A negative number goes as the bits it has. */
static int put_i64(Buf *buf, int64_t v)
{
    return buf_append_u64le(buf, (uint64_t)v);
}

static int get_i64(ByteReader *reader, int64_t *out)
{
    uint64_t bits = 0;
    int rc = reader_u64le(reader, &bits);

    *out = (int64_t)bits;
    return rc;
}

static int get_i32(ByteReader *reader, int32_t *out)
{
    uint32_t bits = 0;
    int rc = reader_u32le(reader, &bits);

    *out = (int32_t)bits;
    return rc;
}

int wire_put_name(Buf *buf, const char *name)
{
    return wire_put_slice(buf, slice_from_str(name));
}

int wire_name_of(Slice bytes, WireName *name_out)
{
    if (bytes.len == 0 || bytes.len > WIRE_NAME_MAX ||
        memchr(bytes.data, '\0', bytes.len) != NULL) {
        return SAP_INVALID;
    }
    memcpy(name_out->text, bytes.data, bytes.len);
    name_out->text[bytes.len] = '\0';
    return SAP_OK;
}

int wire_get_name(ByteReader *reader, WireName *name_out)
{
    Slice name = {0};
    int rc = wire_get_slice(reader, &name);

    return rc == SAP_OK ? wire_name_of(name, name_out) : rc;
}

int wire_put_push(Buf *buf, const AccessPush *push)
{
    unsigned flags = (push->dedupe ? PUSH_DEDUPE : 0u) | (push->high_priority ? PUSH_HIGH : 0u);
    int rc = buf_append_u8(buf, (uint8_t)flags);

    rc = rc == SAP_OK ? put_i64(buf, push->delay_ms) : rc;
    rc = rc == SAP_OK ? wire_put_bound(buf, push->id) : rc;
    return rc == SAP_OK ? wire_put_bound(buf, push->trace) : rc;
}

int wire_get_push(ByteReader *reader, AccessPush *push_out)
{
    AccessPush push = {0};
    uint8_t flags = 0;
    int rc = reader_u8(reader, &flags);

    rc = rc == SAP_OK ? get_i64(reader, &push.delay_ms) : rc;
    rc = rc == SAP_OK ? wire_get_bound(reader, &push.id) : rc;
    rc = rc == SAP_OK ? wire_get_bound(reader, &push.trace) : rc;
    push.dedupe = (flags & PUSH_DEDUPE) != 0;
    push.high_priority = (flags & PUSH_HIGH) != 0;
    *push_out = push;
    return rc == SAP_OK && (flags > PUSH_FLAGS || push.delay_ms < 0) ? SAP_INVALID : rc;
}

int wire_put_claim(Buf *buf, const AccessClaim *claim)
{
    int rc = buf_append_u32le(buf, claim->lease_ms);

    rc = rc == SAP_OK ? buf_append_u32le(buf, claim->wait_ms) : rc;
    rc = rc == SAP_OK ? buf_append_u32le(buf, claim->max) : rc;
    return rc == SAP_OK ? buf_append_u32le(buf, claim->attempts) : rc;
}

int wire_get_claim(ByteReader *reader, AccessClaim *claim_out)
{
    int rc = reader_u32le(reader, &claim_out->lease_ms);

    rc = rc == SAP_OK ? reader_u32le(reader, &claim_out->wait_ms) : rc;
    rc = rc == SAP_OK ? reader_u32le(reader, &claim_out->max) : rc;
    rc = rc == SAP_OK ? reader_u32le(reader, &claim_out->attempts) : rc;
    return rc == SAP_OK && (claim_out->max == 0 || claim_out->max > ACCESS_CLAIM_MAX) ? SAP_INVALID
                                                                                      : rc;
}

int wire_put_message(Buf *buf, const AccessMessage *m)
{
    int rc = buf_append_u64le(buf, m->seq);

    rc = rc == SAP_OK ? buf_append_u64le(buf, m->token) : rc;
    rc = rc == SAP_OK ? buf_append_u32le(buf, m->attempts) : rc;
    rc = rc == SAP_OK ? put_i64(buf, m->sent_ms) : rc;
    rc = rc == SAP_OK ? put_i64(buf, m->deadline_ms) : rc;
    rc = rc == SAP_OK ? put_i64(buf, m->due_ms) : rc;
    rc = rc == SAP_OK ? buf_append_u8(buf, m->leased) : rc;
    rc = rc == SAP_OK ? wire_put_slice(buf, m->id) : rc;
    rc = rc == SAP_OK ? wire_put_bound(buf, m->trace) : rc;
    return rc == SAP_OK ? wire_put_slice(buf, m->payload) : rc;
}

int wire_get_message(ByteReader *reader, AccessMessage *message_out)
{
    AccessMessage m = {0};
    uint8_t leased = 0;
    int rc = reader_u64le(reader, &m.seq);

    rc = rc == SAP_OK ? reader_u64le(reader, &m.token) : rc;
    rc = rc == SAP_OK ? reader_u32le(reader, &m.attempts) : rc;
    rc = rc == SAP_OK ? get_i64(reader, &m.sent_ms) : rc;
    rc = rc == SAP_OK ? get_i64(reader, &m.deadline_ms) : rc;
    rc = rc == SAP_OK ? get_i64(reader, &m.due_ms) : rc;
    rc = rc == SAP_OK ? reader_u8(reader, &leased) : rc;
    rc = rc == SAP_OK ? wire_get_slice(reader, &m.id) : rc;
    rc = rc == SAP_OK ? wire_get_bound(reader, &m.trace) : rc;
    rc = rc == SAP_OK ? wire_get_slice(reader, &m.payload) : rc;
    m.leased = leased != 0;
    *message_out = m;
    return rc == SAP_OK && leased > 1 ? SAP_INVALID : rc;
}

int wire_put_end(Buf *buf, const AccessEnd *end)
{
    int rc = buf_append_u8(buf, (uint8_t)end->op);

    rc = rc == SAP_OK ? buf_append_u32le(buf, (uint32_t)end->rc) : rc;
    rc = rc == SAP_OK ? put_i64(buf, end->ms) : rc;
    return rc == SAP_OK ? buf_append_u32le(buf, end->attempts) : rc;
}

int wire_get_end(ByteReader *reader, AccessEnd *end_out)
{
    uint8_t op = 0;
    int32_t code = 0;
    int rc = reader_u8(reader, &op);

    rc = rc == SAP_OK ? get_i32(reader, &code) : rc;
    rc = rc == SAP_OK ? get_i64(reader, &end_out->ms) : rc;
    rc = rc == SAP_OK ? reader_u32le(reader, &end_out->attempts) : rc;
    end_out->op = (AccessEndOp)op;
    end_out->rc = code;
    int64_t least_ms = op == ACCESS_FAIL ? -1 : 0;
    return rc == SAP_OK && (op > ACCESS_TOUCH || end_out->ms < least_ms) ? SAP_INVALID : rc;
}

int wire_put_lease(Buf *buf, const AccessLease *lease)
{
    int rc = buf_append_u64le(buf, lease->seq);

    return rc == SAP_OK ? buf_append_u64le(buf, lease->token) : rc;
}

int wire_get_lease(ByteReader *reader, AccessLease *lease_out)
{
    int rc = reader_u64le(reader, &lease_out->seq);

    return rc == SAP_OK ? reader_u64le(reader, &lease_out->token) : rc;
}

int wire_put_queue_stat(Buf *buf, const SapQueueStat *stat)
{
    int rc = buf_append_u64le(buf, stat->ready);

    rc = rc == SAP_OK ? buf_append_u64le(buf, stat->leased) : rc;
    rc = rc == SAP_OK ? buf_append_u64le(buf, stat->delayed) : rc;
    rc = rc == SAP_OK ? buf_append_u64le(buf, stat->dead_letters) : rc;
    rc = rc == SAP_OK ? put_i64(buf, stat->oldest_ms) : rc;
    return rc == SAP_OK ? buf_append_u64le(buf, stat->retrying) : rc;
}

int wire_get_queue_stat(ByteReader *reader, SapQueueStat *stat_out)
{
    int rc = reader_u64le(reader, &stat_out->ready);

    rc = rc == SAP_OK ? reader_u64le(reader, &stat_out->leased) : rc;
    rc = rc == SAP_OK ? reader_u64le(reader, &stat_out->delayed) : rc;
    rc = rc == SAP_OK ? reader_u64le(reader, &stat_out->dead_letters) : rc;
    rc = rc == SAP_OK ? get_i64(reader, &stat_out->oldest_ms) : rc;
    return rc == SAP_OK ? reader_u64le(reader, &stat_out->retrying) : rc;
}

int wire_put_letter(Buf *buf, const AccessLetter *letter)
{
    int rc = wire_put_slice(buf, letter->queue);

    rc = rc == SAP_OK ? buf_append_u64le(buf, letter->worker) : rc;
    rc = rc == SAP_OK ? buf_append_u64le(buf, letter->seq) : rc;
    rc = rc == SAP_OK ? buf_append_u32le(buf, (uint32_t)letter->rc) : rc;
    rc = rc == SAP_OK ? buf_append_u32le(buf, letter->attempts) : rc;
    return rc == SAP_OK ? wire_put_slice(buf, letter->frame) : rc;
}

int wire_get_letter(ByteReader *reader, AccessLetter *letter_out)
{
    int rc = wire_get_slice(reader, &letter_out->queue);

    rc = rc == SAP_OK ? reader_u64le(reader, &letter_out->worker) : rc;
    rc = rc == SAP_OK ? reader_u64le(reader, &letter_out->seq) : rc;
    rc = rc == SAP_OK ? get_i32(reader, &letter_out->rc) : rc;
    rc = rc == SAP_OK ? reader_u32le(reader, &letter_out->attempts) : rc;
    return rc == SAP_OK ? wire_get_slice(reader, &letter_out->frame) : rc;
}

int wire_put_letter_end(Buf *buf, const AccessLetterEnd *end)
{
    int rc = buf_append_u64le(buf, end->worker);

    rc = rc == SAP_OK ? buf_append_u64le(buf, end->seq) : rc;
    rc = rc == SAP_OK ? buf_append_u32le(buf, (uint32_t)end->rc) : rc;
    return rc == SAP_OK ? buf_append_u64le(buf, end->new_seq) : rc;
}

int wire_get_letter_end(ByteReader *reader, AccessLetterEnd *end_out)
{
    int32_t code = 0;
    int rc = reader_u64le(reader, &end_out->worker);

    rc = rc == SAP_OK ? reader_u64le(reader, &end_out->seq) : rc;
    rc = rc == SAP_OK ? get_i32(reader, &code) : rc;
    end_out->rc = code;
    return rc == SAP_OK ? reader_u64le(reader, &end_out->new_seq) : rc;
}
