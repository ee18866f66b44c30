/* access_queue.c - queues whoever owns the file: see access.h. */
#include "node/access_impl.h"

#include "common/assert.h"
#include "node/wire_queue.h"

/* ---- Names and figures ---------------------------------------------------------------------- */

typedef struct NameSink {
    int (*fn)(const char *name, void *ctx);
    void *ctx;
} NameSink;

static int take_name(Slice data, void *ctx)
{
    const NameSink *sink = (const NameSink *)ctx;
    ByteReader in;
    WireName name;

    reader_init(&in, data.data, data.len);
    int rc = wire_get_name(&in, &name);
    return rc == SAP_OK ? sink->fn(name.text, sink->ctx) : rc;
}

int access_queues(Access *access, int (*fn)(const char *name, void *ctx), void *ctx)
{
    NameSink sink = {fn, ctx};

    (void)access_begin(access);
    int rc = access_ask(access, SAP_OK, WIRE_QUEUES, take_name, &sink, NULL);
    return access_remember(access, rc == REMOTE_GONE ? local_queues(access->queues, fn, ctx) : rc);
}

static int take_stat(Slice data, void *ctx)
{
    ByteReader in;

    reader_init(&in, data.data, data.len);
    return wire_get_queue_stat(&in, (SapQueueStat *)ctx);
}

int access_queue_stat(Access *access, const char *queue, SapQueueStat *stat_out)
{
    int rc = wire_put_name(access_begin(access), queue);

    rc = access_ask(access, rc, WIRE_QUEUE_STAT, take_stat, stat_out, NULL);
    return access_remember(access, rc == REMOTE_GONE ? local_queue_stat(access->queues, queue,
                                                                        stat_out, &access->reason)
                                                     : rc);
}

typedef struct InboxSink {
    AccessInboxFn fn;
    void *ctx;
} InboxSink;

static int take_inboxes(Slice data, void *ctx)
{
    const InboxSink *sink = (const InboxSink *)ctx;
    ByteReader in;
    int rc = SAP_OK;

    reader_init(&in, data.data, data.len);
    while (rc == SAP_OK && in.left > 0) {
        uint64_t worker = 0;
        SapQueueStat stat;
        rc = reader_u64le(&in, &worker);
        rc = rc == SAP_OK ? wire_get_queue_stat(&in, &stat) : rc;
        rc = rc == SAP_OK ? sink->fn(worker, &stat, sink->ctx) : rc;
    }
    return rc;
}

int access_inboxes(Access *access, AccessInboxFn fn, void *ctx)
{
    InboxSink sink = {fn, ctx};

    (void)access_begin(access);
    int rc = access_ask(access, SAP_OK, WIRE_INBOXES, take_inboxes, &sink, NULL);
    return access_remember(access, rc == REMOTE_GONE ? local_inboxes(access->queues, fn, ctx) : rc);
}

/* ---- Push ----------------------------------------------------------------------------------- */

typedef struct SeqSink {
    uint64_t *seqs;
    uint32_t left;
} SeqSink;

static int take_seqs(Slice data, void *ctx)
{
    SeqSink *sink = (SeqSink *)ctx;
    ByteReader in;
    int rc = SAP_OK;

    reader_init(&in, data.data, data.len);
    while (rc == SAP_OK && in.left > 0) {
        rc = sink->left > 0 ? reader_u64le(&in, sink->seqs) : SAP_INVALID;
        sink->seqs++;
        sink->left--;
    }
    return rc;
}

static int put_pushes(Buf *request, const char *queue, const AccessPush *push,
                      const Slice *payloads, uint32_t count)
{
    int rc = wire_put_name(request, queue);

    rc = rc == SAP_OK ? wire_put_push(request, push) : rc;
    rc = rc == SAP_OK ? buf_append_u32le(request, count) : rc;
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        rc = wire_put_slice(request, payloads[i]);
    }
    return rc;
}

int access_queue_push(Access *access, const char *queue, const AccessPush *push,
                      const Slice *payloads, uint32_t count, uint64_t *seqs)
{
    Buf *request = access_begin(access);
    SeqSink sink = {seqs, count};
    int rc = access->db == NULL ? put_pushes(request, queue, push, payloads, count) : SAP_OK;

    rc = access_ask(access, rc, WIRE_QUEUE_PUSH, take_seqs, &sink, NULL);
    if (rc == REMOTE_GONE) {
        rc = local_queue_push(access->queues, queue, push, payloads, count, seqs, &access->reason);
    }
    return access_remember(access, rc);
}

/* ---- Messages ------------------------------------------------------------------------------- */

typedef struct MessageSink {
    int (*fn)(const AccessMessage *message, void *ctx);
    void *ctx;
} MessageSink;

static int take_messages(Slice data, void *ctx)
{
    const MessageSink *sink = (const MessageSink *)ctx;
    ByteReader in;
    int rc = SAP_OK;

    reader_init(&in, data.data, data.len);
    while (rc == SAP_OK && in.left > 0) {
        AccessMessage message;
        rc = wire_get_message(&in, &message);
        rc = rc == SAP_OK ? sink->fn(&message, sink->ctx) : rc;
    }
    return rc;
}

/* The messages of an answer that is not complete yet. */
typedef struct Collected {
    const Remote *remote;
    Buf messages;
} Collected;

static int collect_messages(Slice data, void *ctx)
{
    Collected *collected = (Collected *)ctx;

    if (!collected->remote->received) {
        buf_clear(&collected->messages); /* of an owner that died before it had answered */
    }
    return buf_append(&collected->messages, data.data, data.len);
}

int access_queue_claim(Access *access, const char *queue, const AccessClaim *claim,
                       int (*fn)(const AccessMessage *message, void *ctx), void *ctx)
{
    Buf *request = access_begin(access);
    MessageSink sink = {fn, ctx};
    Collected collected = {.remote = &access->remote};
    int rc = wire_put_name(request, queue);

    rc = rc == SAP_OK ? wire_put_claim(request, claim) : rc;
    rc = access_ask(access, rc, WIRE_QUEUE_CLAIM, collect_messages, &collected, NULL);
    if (rc == REMOTE_GONE) {
        rc = local_queue_claim(access->queues, queue, claim, fn, ctx, &access->reason);
    } else if (rc == SAP_OK) {
        rc = take_messages((Slice){collected.messages.data, collected.messages.len}, &sink);
    }
    buf_release(&collected.messages);
    return access_remember(access, rc);
}

/* Looks for messages that were acknowledged. */
typedef struct Leftovers {
    const AccessLease *leases;
    uint32_t count;
    bool found;
} Leftovers;

static int find_leftover(const AccessMessage *message, void *ctx)
{
    Leftovers *left = (Leftovers *)ctx;

    for (uint32_t i = 0; i < left->count && !left->found; i++) {
        left->found = left->leases[i].seq == message->seq;
    }
    return left->found ? SAP_EXISTS : SAP_OK;
}

/* A claim that was ended again, since the owner died before it had answered, and is a claim no more:
 * either that owner ended it, or the lease has passed to another. A message that is not in the queue
 * any more has been acknowledged. One that failed or was put back comes again in either case, to
 * whoever claims it. SAP_OK: it is as was asked. */
static int check_repeated_end(Access *access, const char *queue, const AccessEnd *end,
                              const AccessLease *leases, uint32_t count)
{
    Leftovers left = {.leases = leases, .count = count};

    SAP_ASSERT(access->repeated);
    if (end->op == ACCESS_FAIL || end->op == ACCESS_PUT_BACK) {
        return SAP_OK;
    }
    if (end->op == ACCESS_TOUCH) {
        return SAP_CONFLICT; /* renewing twice is no conflict: it is another's */
    }
    int rc = access_queue_peek(access, queue, 0, find_leftover, &left);
    access->repeated = true; /* of the call that this one is part of */
    return rc == SAP_OK && !left.found ? SAP_OK : SAP_CONFLICT;
}

int access_queue_end(Access *access, const char *queue, const AccessEnd *end,
                     const AccessLease *leases, uint32_t count, uint64_t *dead_out)
{
    Buf *request = access_begin(access);
    int rc = wire_put_name(request, queue);

    rc = rc == SAP_OK ? wire_put_end(request, end) : rc;
    rc = rc == SAP_OK ? buf_append_u32le(request, count) : rc;
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        rc = wire_put_lease(request, &leases[i]);
    }
    rc = access_ask(access, rc, WIRE_QUEUE_END, NULL, NULL, dead_out);
    if (rc == REMOTE_GONE) {
        rc = local_queue_end(access->queues, queue, end, leases, count, dead_out, &access->reason);
    }
    if (rc == SAP_CONFLICT && access->repeated) {
        rc = check_repeated_end(access, queue, end, leases, count);
    }
    return access_remember(access, rc);
}

int access_queue_peek(Access *access, const char *queue, uint64_t limit,
                      int (*fn)(const AccessMessage *message, void *ctx), void *ctx)
{
    Buf *request = access_begin(access);
    MessageSink sink = {fn, ctx};
    int rc = wire_put_name(request, queue);

    rc = rc == SAP_OK ? buf_append_u64le(request, limit) : rc;
    rc = access_ask(access, rc, WIRE_QUEUE_PEEK, take_messages, &sink, NULL);
    return access_remember(
        access, rc == REMOTE_GONE
                    ? local_queue_peek(access->queues, queue, limit, fn, ctx, &access->reason)
                    : rc);
}

/* ---- Dead letters --------------------------------------------------------------------------- */

typedef struct LetterSink {
    int (*fn)(const AccessLetter *letter, void *ctx);
    void *ctx;
} LetterSink;

static int take_letters(Slice data, void *ctx)
{
    const LetterSink *sink = (const LetterSink *)ctx;
    ByteReader in;
    int rc = SAP_OK;

    reader_init(&in, data.data, data.len);
    while (rc == SAP_OK && in.left > 0) {
        AccessLetter letter;
        rc = wire_get_letter(&in, &letter);
        rc = rc == SAP_OK ? sink->fn(&letter, sink->ctx) : rc;
    }
    return rc;
}

int access_letters(Access *access, const char *queue,
                   int (*fn)(const AccessLetter *letter, void *ctx), void *ctx)
{
    LetterSink sink = {fn, ctx};
    int rc = wire_put_bound(access_begin(access), slice_from_str(queue));

    rc = access_ask(access, rc, WIRE_LETTERS, take_letters, &sink, NULL);
    return access_remember(access,
                           rc == REMOTE_GONE ? local_letters(access->queues, queue, fn, ctx) : rc);
}

typedef struct EndSink {
    AccessLetterEnd *letters;
    uint32_t left;
} EndSink;

static int take_letter_ends(Slice data, void *ctx)
{
    EndSink *sink = (EndSink *)ctx;
    ByteReader in;
    int rc = SAP_OK;

    reader_init(&in, data.data, data.len);
    while (rc == SAP_OK && in.left > 0) {
        rc = sink->left > 0 ? wire_get_letter_end(&in, sink->letters) : SAP_INVALID;
        sink->letters++;
        sink->left--;
    }
    return rc;
}

int access_letters_end(Access *access, AccessLetterOp op, AccessLetterEnd *letters, uint32_t count)
{
    Buf *request = access_begin(access);
    EndSink sink = {letters, count};
    int rc = buf_append_u8(request, (uint8_t)op);

    rc = rc == SAP_OK ? buf_append_u32le(request, count) : rc;
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        rc = wire_put_letter_end(request, &letters[i]);
    }
    rc = access_ask(access, rc, WIRE_LETTERS_END, take_letter_ends, &sink, NULL);
    return access_remember(
        access, rc == REMOTE_GONE ? local_letters_end(access->queues, op, letters, count) : rc);
}
