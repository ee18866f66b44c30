/* queues.c - see queues.h. */
#include "node/queues.h"

#include "common/assert.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/sync.h"
#include "runner/queue.h"
#include "sapling/env.h"
#include "wit_schema_dbis.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    OPEN_TRIES = 5000, /* a millisecond each: tables are made while no transaction is open */
    NAME_MAX_LEN = 255,
    STOPPED = -1, /* no code: a callback of this file has seen enough */
};

typedef struct OpenQueue {
    struct OpenQueue *next;
    SapQueue *queue;
    char name[NAME_MAX_LEN + 1];
} OpenQueue;

struct Queues {
    DB *db;
    Mutex opening; /* whoever opens one that is not in the list; taken before `mutex` */
    Mutex mutex;   /* the list, and whether it is interrupted; never held for long */
    OpenQueue *open;
    bool interrupted;
};

int queues_new(DB *db, Queues **queues_out)
{
    Queues *queues = (Queues *)mem_zalloc(MEM_COMMON, sizeof *queues);

    if (queues == NULL) {
        return SAP_NOMEM;
    }
    queues->db = db;
    bool opening = mutex_init(&queues->opening);
    if (!opening || !mutex_init(&queues->mutex)) {
        if (opening) {
            mutex_destroy(&queues->opening);
        }
        mem_free(MEM_COMMON, queues, sizeof *queues);
        return SAP_NOMEM;
    }
    *queues_out = queues;
    return SAP_OK;
}

void queues_interrupt(Queues *queues)
{
    mutex_lock(&queues->mutex);
    queues->interrupted = true;
    for (const OpenQueue *open = queues->open; open != NULL; open = open->next) {
        sap_queue_interrupt(open->queue);
    }
    mutex_unlock(&queues->mutex);
}

void queues_free(Queues *queues)
{
    if (queues == NULL) {
        return;
    }
    while (queues->open != NULL) {
        OpenQueue *open = queues->open;
        queues->open = open->next;
        (void)sap_queue_close(open->queue);
        mem_free(MEM_COMMON, open, sizeof *open);
    }
    mutex_destroy(&queues->mutex);
    mutex_destroy(&queues->opening);
    mem_free(MEM_COMMON, queues, sizeof *queues);
}

/* ---- Names ---------------------------------------------------------------------------------- */

typedef struct NameSink {
    int (*fn)(const char *name, void *ctx);
    void *ctx;
} NameSink;

static int take_name(const char *name, int64_t worker, void *ctx)
{
    const NameSink *sink = (const NameSink *)ctx;

    (void)worker;
    return sink->fn(name, sink->ctx);
}

int local_queues(Queues *queues, int (*fn)(const char *name, void *ctx), void *ctx)
{
    NameSink sink = {fn, ctx};

    return sap_queue_list(queues->db, take_name, &sink);
}

/* A search for the worker number of a queue. */
typedef struct NameSearch {
    const char *name;
    int64_t worker;
} NameSearch;

static int match_name(const char *name, int64_t worker, void *ctx)
{
    NameSearch *search = (NameSearch *)ctx;

    if (strcmp(name, search->name) != 0) {
        return SAP_OK;
    }
    search->worker = worker;
    return STOPPED;
}

/* Finds the worker number of a queue without opening the queue, which would be a commit. SAP_NOTFOUND:
 * there is no such queue. */
static int find_worker(Queues *queues, const char *name, int64_t *worker_out)
{
    NameSearch search = {.name = name};
    int rc = sap_queue_list(queues->db, match_name, &search);

    *worker_out = search.worker;
    return rc == STOPPED ? SAP_OK : rc == SAP_OK ? SAP_NOTFOUND : rc;
}

/* The name of the queue that has this worker number. */
typedef struct WorkerName {
    uint64_t worker;
    char name[NAME_MAX_LEN + 1];
} WorkerName;

static int add_owner(const char *name, int64_t worker, void *ctx)
{
    WorkerName owner = {.worker = (uint64_t)worker};

    (void)snprintf(owner.name, sizeof owner.name, "%s", name);
    return buf_append((Buf *)ctx, &owner, sizeof owner);
}

/* The name of the queue; empty: the worker is not a queue. */
static Slice owner_of(const Buf *all, uint64_t worker)
{
    const WorkerName *owners = (const WorkerName *)(const void *)all->data;

    for (size_t i = 0; i < all->len / sizeof *owners; i++) {
        if (owners[i].worker == worker) {
            return slice_from_str(owners[i].name);
        }
    }
    return (Slice){"", 0};
}

/* The queue of the name among those that are open, or NULL. */
static SapQueue *find_open(Queues *queues, const char *name)
{
    SapQueue *found = NULL;

    mutex_lock(&queues->mutex);
    for (const OpenQueue *open = queues->open; open != NULL && found == NULL; open = open->next) {
        found = strcmp(open->name, name) == 0 ? open->queue : NULL;
    }
    mutex_unlock(&queues->mutex);
    return found;
}

/* Opens a queue, with `opening` held: while a writer makes this wait, the open queues are usable. */
static int open_new(Queues *queues, const char *name, SapQueue **queue_out)
{
    static const struct timespec moment = {.tv_nsec = 1000000};
    SapQueueOptions options = {.name = name};
    OpenQueue *open = (OpenQueue *)mem_zalloc(MEM_COMMON, sizeof *open);

    if (open == NULL) {
        return SAP_NOMEM;
    }
    int rc = sap_queue_open_db(queues->db, &options, &open->queue);
    for (int i = 0; rc == SAP_BUSY && i < OPEN_TRIES; i++) {
        (void)nanosleep(&moment, NULL);
        rc = sap_queue_open_db(queues->db, &options, &open->queue);
    }
    if (rc != SAP_OK) {
        mem_free(MEM_COMMON, open, sizeof *open);
        return rc;
    }
    (void)snprintf(open->name, sizeof open->name, "%s", name);
    *queue_out = open->queue;
    SAP_ASSERT(find_open(queues, name) == NULL); /* one object for a name: all who wait are woken */
    mutex_lock(&queues->mutex);
    if (queues->interrupted) {
        sap_queue_interrupt(open->queue);
    }
    open->next = queues->open;
    queues->open = open;
    mutex_unlock(&queues->mutex);
    return SAP_OK;
}

/* The queue of the name; with `create` it is made if there is none, otherwise that is
 * SAP_NOTFOUND. */
static int queue_of(Queues *queues, const char *name, bool create, SapQueue **queue_out,
                    Reason *reason)
{
    int64_t worker = 0;
    int rc = SAP_OK;

    *queue_out = NULL;
    if (name[0] == '\0' || strlen(name) > NAME_MAX_LEN) {
        return reason_set(reason, SAP_ERROR, "the name of a queue has 1 to %d bytes", NAME_MAX_LEN);
    }
    *queue_out = find_open(queues, name);
    if (*queue_out != NULL) {
        return SAP_OK;
    }
    mutex_lock(&queues->opening);
    *queue_out = find_open(queues, name);
    if (*queue_out == NULL) {
        rc = create ? SAP_OK : find_worker(queues, name, &worker);
        rc = rc == SAP_OK ? open_new(queues, name, queue_out) : rc;
    }
    mutex_unlock(&queues->opening);
    if (rc == SAP_CONFLICT) {
        return reason_set(reason, rc,
                          "its queues are of another version: bring them to this one with "
                          "`sapling db migrate FILE`, or use the version that wrote them");
    }
    if (rc == SAP_EXISTS && local_refuse_store(queues->db, reason) != SAP_OK) {
        return rc;
    }
    if (rc == SAP_EXISTS && sap_runner_v0_bootstrap_dbis(queues->db) == SAP_EXISTS) {
        return reason_set(reason, rc,
                          "its tables 1 to 7, which queues need, have rows of somebody else: use a "
                          "file of its own for queues, or keep your rows in tables from 8 on");
    }
    if (rc == SAP_EXISTS) {
        return reason_set(reason, rc,
                          "the row queue.name.%s of table 0 is not a queue's: delete it, or choose "
                          "another name for the queue",
                          name);
    }
    if (rc == SAP_ERROR) {
        return reason_set(reason, rc, "tables 0 to 7 of the file are not those of queues");
    }
    return rc;
}

/* ---- Push ----------------------------------------------------------------------------------- */

int local_queue_push(Queues *queues, const char *name, const AccessPush *push,
                     const Slice *payloads, uint32_t count, uint64_t *seqs, Reason *reason)
{
    SapQueue *queue;
    SapQueuePushOptions options = {.id = push->id.data,
                                   .id_len = (uint32_t)push->id.len,
                                   .trace_id = push->trace.data,
                                   .trace_id_len = (uint32_t)push->trace.len,
                                   .dedupe = push->dedupe,
                                   .high_priority = push->high_priority,
                                   .delay_ms = push->delay_ms};
    int rc = queue_of(queues, name, true, &queue, reason);

    options.seqs = seqs;
    if (rc != SAP_OK || count == 0) {
        return rc;
    }
    const void **datas = (const void **)calloc(count, sizeof *datas);
    uint32_t *lens = (uint32_t *)calloc(count, sizeof *lens);
    if (datas == NULL || lens == NULL) {
        rc = SAP_NOMEM;
    }
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        datas[i] = payloads[i].data;
        lens[i] = (uint32_t)payloads[i].len;
        if (payloads[i].len > SAP_RUNNER_V0_MAX_FRAME) {
            rc = reason_set(reason, SAP_FULL, "a message has %zu bytes: it has at most %u",
                            payloads[i].len, (unsigned)SAP_RUNNER_V0_MAX_FRAME);
        }
    }
    errno = 0;
    rc = rc == SAP_OK ? sap_queue_push_many(queue, datas, lens, count, &options) : rc;
    int error = errno;
    free(datas);
    free(lens);
    if (rc == SAP_FULL && reason->text[0] == '\0') {
        return reason_no_room(reason, "the message", error);
    }
    return rc == SAP_ERROR ? reason_set(reason, rc, "an id is for one message, and not empty") : rc;
}

/* ---- Claims --------------------------------------------------------------------------------- */

static AccessMessage message_of(const SapQueueMessage *m, bool leased)
{
    return (AccessMessage){.seq = m->seq,
                           .token = m->claim.token,
                           .attempts = m->attempts,
                           .sent_ms = m->sent_ms,
                           .deadline_ms = m->deadline_ms,
                           .due_ms = m->due_ms,
                           .leased = leased,
                           .id = {m->id, m->id_len},
                           .trace = {m->trace_id, m->trace_id_len},
                           .payload = {m->payload, m->payload_len}};
}

int local_queue_claim(Queues *queues, const char *name, const AccessClaim *claim,
                      int (*fn)(const AccessMessage *message, void *ctx), void *ctx, Reason *reason)
{
    SapQueue *queue;
    SapQueueMessage *messages[ACCESS_CLAIM_MAX];
    uint32_t count = 0;
    int rc = queue_of(queues, name, true, &queue, reason);

    if (rc == SAP_OK && (claim->max == 0 || claim->max > ACCESS_CLAIM_MAX)) {
        rc = SAP_INVALID;
    }
    if (rc == SAP_OK) {
        uint32_t wait_ms =
            claim->wait_ms < ACCESS_WAIT_MAX_MS ? claim->wait_ms : ACCESS_WAIT_MAX_MS;
        rc = queue_claim_many(queue, claim->lease_ms, wait_ms, claim->attempts, messages,
                              claim->max, &count);
        SAP_ASSERT(count <= claim->max && (rc == SAP_OK || count == 0));
    }
    /* A waiting claim writes nothing, and would never notice that the file was removed. */
    if (rc == SAP_NOTFOUND && claim->wait_ms > 0 && !env_has_name(queues->db)) {
        return reason_set(reason, SAP_IO,
                          "the file was removed, renamed or replaced while it was open");
    }
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        AccessMessage message = message_of(messages[i], true);
        rc = fn(&message, ctx);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (rc != SAP_OK) {
            (void)sap_queue_put_back(queue, messages[i]);
        } else {
            sap_queue_release(queue, messages[i]);
        }
    }
    return rc;
}

/* Ends one claim. Adds 1 to *dead_out if the message is a dead letter now. */
static int end_one(SapQueue *queue, SapQueueMessage *message, const AccessEnd *end,
                   uint64_t *dead_out)
{
    uint64_t seq = message->seq;
    SapRunnerV0DeadLetter letter;
    Txn *txn;
    int rc;

    switch (end->op) {
    case ACCESS_TOUCH:
        rc = sap_queue_touch(queue, message, (uint32_t)end->ms);
        sap_queue_release(queue, message);
        return rc;
    case ACCESS_PUT_BACK:
        return sap_queue_put_back(queue, message);
    case ACCESS_ACK:
        return sap_queue_ack(queue, message);
    case ACCESS_FAIL:
        break;
    }
    rc = queue_fail(queue, message, end->rc, end->ms, end->attempts);
    if (rc == SAP_OK && txn_begin_rc(sap_queue_db(queue), NULL, TXN_RDONLY, &txn) == SAP_OK) {
        *dead_out += sap_runner_dead_letter_v0_get(txn, (uint64_t)sap_queue_worker(queue), seq,
                                                   &letter) == SAP_OK;
        txn_abort(txn);
    }
    return rc;
}

static int ack_all(SapQueue *queue, const AccessLease *leases, uint32_t count)
{
    SapQueueMessage *messages[ACCESS_CLAIM_MAX];
    uint32_t found = 0;
    bool lost = false;
    int rc = SAP_OK;

    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        rc = sap_queue_resume(queue, leases[i].seq, leases[i].token, &messages[found]);
        if (rc == SAP_CONFLICT) {
            lost = true;
            rc = SAP_OK;
        } else if (rc == SAP_OK) {
            found++;
        }
    }
    if (rc == SAP_OK) {
        rc = sap_queue_ack_many(queue, messages, found);
    } else {
        while (found > 0) {
            sap_queue_release(queue, messages[--found]);
        }
    }
    return rc == SAP_OK && lost ? SAP_CONFLICT : rc;
}

int local_queue_end(Queues *queues, const char *name, const AccessEnd *end,
                    const AccessLease *leases, uint32_t count, uint64_t *dead_out, Reason *reason)
{
    SapQueue *queue;
    uint64_t dead = 0;
    bool lost = false;
    int rc = queue_of(queues, name, false, &queue, reason);

    if (rc == SAP_OK && (count > ACCESS_CLAIM_MAX || (end->ms < 0 && end->op != ACCESS_FAIL) ||
                         (end->op == ACCESS_TOUCH && end->ms > UINT32_MAX))) {
        rc = SAP_INVALID;
    }
    if (rc == SAP_OK && end->op == ACCESS_ACK) {
        rc = ack_all(queue, leases, count);
        count = 0;
    }
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        SapQueueMessage *message;
        rc = sap_queue_resume(queue, leases[i].seq, leases[i].token, &message);
        if (rc == SAP_OK) {
            rc = end_one(queue, message, end, &dead);
        }
        lost = lost || rc == SAP_CONFLICT;
        rc = rc == SAP_CONFLICT ? SAP_OK : rc;
    }
    if (dead_out != NULL) {
        *dead_out = dead;
    }
    rc = rc == SAP_OK && lost ? SAP_CONFLICT : rc;
    return rc == SAP_CONFLICT ? reason_set(reason, rc, "the lease has passed to another") : rc;
}

/* ---- Looking -------------------------------------------------------------------------------- */

int local_queue_stat(Queues *queues, const char *name, SapQueueStat *stat_out, Reason *reason)
{
    SapQueue *queue;
    int rc = queue_of(queues, name, false, &queue, reason);

    return rc == SAP_OK ? sap_queue_stat(queue, stat_out) : rc;
}

typedef struct InboxSink {
    AccessInboxFn fn;
    void *ctx;
    Txn *txn;
    int64_t now_ms;
    Buf owners; /* WorkerName after WorkerName */
} InboxSink;

static int take_inbox(uint64_t worker, void *ctx)
{
    const InboxSink *sink = (const InboxSink *)ctx;
    SapQueueStat stat;

    if (owner_of(&sink->owners, worker).len > 0) {
        return SAP_OK;
    }
    int rc = queue_stat_of(sink->txn, (int64_t)worker, sink->now_ms, &stat);
    return rc == SAP_OK ? sink->fn(worker, &stat, sink->ctx) : rc;
}

int local_inboxes(Queues *queues, AccessInboxFn fn, void *ctx)
{
    InboxSink sink = {.fn = fn, .ctx = ctx, .now_ms = clock_wall_ms(NULL)};
    SapDbiInfo info;
    int rc = dbi_info(queues->db, WIT_DBI_DEDUPE_TTL, &info);

    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    rc = txn_begin_rc(queues->db, NULL, TXN_RDONLY | TXN_NEWEST, &sink.txn);
    if (rc != SAP_OK) {
        return rc;
    }
    /* Without the marker the tables are somebody else's. */
    rc = txn_get(sink.txn, SAP_RUNNER_V0_SCHEMA_KEY, sizeof SAP_RUNNER_V0_SCHEMA_KEY - 1, NULL,
                 NULL);
    if (rc == SAP_OK) {
        /* After the transaction began: no queue that it sees is missing. */
        rc = sap_queue_list(queues->db, add_owner, &sink.owners);
        rc = rc == SAP_OK ? queue_workers(sink.txn, take_inbox, &sink) : rc;
    } else if (rc == SAP_NOTFOUND) {
        rc = SAP_OK;
    }
    buf_release(&sink.owners);
    txn_abort(sink.txn);
    return rc;
}

typedef struct PeekSink {
    int (*fn)(const AccessMessage *message, void *ctx);
    void *ctx;
    uint64_t left; /* 0 from the beginning: no limit */
} PeekSink;

static int take_peek(const SapQueueMessage *m, int leased, void *ctx)
{
    PeekSink *sink = (PeekSink *)ctx;
    AccessMessage message = message_of(m, leased != 0);
    int rc = sink->fn(&message, sink->ctx);

    return rc == SAP_OK && sink->left > 0 && --sink->left == 0 ? STOPPED : rc;
}

int local_queue_peek(Queues *queues, const char *name, uint64_t limit,
                     int (*fn)(const AccessMessage *message, void *ctx), void *ctx, Reason *reason)
{
    SapQueue *queue;
    PeekSink sink = {fn, ctx, limit};
    int rc = queue_of(queues, name, false, &queue, reason);

    rc = rc == SAP_OK ? sap_queue_peek(queue, take_peek, &sink) : rc;
    return rc == STOPPED ? SAP_OK : rc;
}

/* ---- Dead letters --------------------------------------------------------------------------- */

typedef struct LetterSink {
    int (*fn)(const AccessLetter *letter, void *ctx);
    void *ctx;
    bool one; /* only of the worker `only` */
    uint64_t only;
    Buf owners; /* WorkerName after WorkerName */
} LetterSink;

static int take_letter(const SapRunnerV0DeadLetter *l, void *ctx)
{
    const LetterSink *sink = (const LetterSink *)ctx;

    if (sink->one && l->worker != sink->only) {
        return STOPPED; /* they lie together */
    }
    AccessLetter letter = {.queue = owner_of(&sink->owners, l->worker),
                           .worker = l->worker,
                           .seq = l->seq,
                           .rc = l->rc,
                           .attempts = l->attempts,
                           .frame = {l->frame, l->frame_len}};
    return sink->fn(&letter, sink->ctx);
}

static bool has_letters(DB *db)
{
    SapDbiInfo info;

    return dbi_info(db, WIT_DBI_DEAD_LETTER, &info) == SAP_OK;
}

int local_letters(Queues *queues, const char *name,
                  int (*fn)(const AccessLetter *letter, void *ctx), void *ctx)
{
    LetterSink sink = {.fn = fn, .ctx = ctx, .one = name != NULL};
    Txn *txn;
    int64_t worker = 0;
    int rc = name == NULL ? SAP_OK : find_worker(queues, name, &worker);

    if (rc != SAP_OK || !has_letters(queues->db)) {
        return rc;
    }
    sink.only = (uint64_t)worker;
    rc = sap_queue_list(queues->db, add_owner, &sink.owners);
    if (rc == SAP_OK) {
        rc = txn_begin_rc(queues->db, NULL, TXN_RDONLY, &txn);
    }
    if (rc == SAP_OK) {
        rc = sap_runner_dead_letter_v0_list(txn, sink.only, 0, take_letter, &sink);
        txn_abort(txn);
    }
    buf_release(&sink.owners);
    return rc == STOPPED ? SAP_OK : rc;
}

int local_letters_end(Queues *queues, AccessLetterOp op, AccessLetterEnd *letters, uint32_t count)
{
    Txn *txn;
    int rc = txn_begin_rc(queues->db, NULL, TXN_WAIT, &txn);

    if (rc != SAP_OK) {
        return rc;
    }
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        AccessLetterEnd *letter = &letters[i];
        letter->new_seq = 0;
        rc = !has_letters(queues->db) ? SAP_NOTFOUND
             : op == ACCESS_LETTER_DROP
                 ? sap_runner_dead_letter_v0_drop(txn, letter->worker, letter->seq)
                 : sap_runner_dead_letter_v0_replay(txn, letter->worker, letter->seq,
                                                    &letter->new_seq);
        letter->rc = rc;
        rc = rc == SAP_NOTFOUND || rc == SAP_INVALID ? SAP_OK : rc;
    }
    if (rc != SAP_OK) {
        txn_abort(txn);
        return rc;
    }
    return txn_commit(txn);
}
