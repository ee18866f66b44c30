/* batch.c - what worlds have done becomes true: several of them in one fenced transaction.
 *
 * The transaction guards lease and head of each world and compares both. A world that is fenced leaves the
 * batch and the worker's memory; the others are submitted again, as all are after SAP_BUSY or
 * SAP_CONFLICT. Any other definite failure aborts all.
 *
 * A commit does not wait for the disk: replies are read by readers of what is durable, and whoever sent an
 * item has been told that it is in the inbox. The next batch is submitted when the last one is durable,
 * so that handlers run while the disk writes, and one commit at most is under way. */
#include "common/assert.h"
#include "store/store_impl.h"
#include "universe/worker_impl.h"

enum { BATCH_BYTES = 16 << 20 }; /* after which a batch takes no further world */

static uint32_t guards_needed(const HotWorld *world)
{
    uint32_t cancels = 0;
    const IntentCancel *all = cycle_cancels(world, &cancels);
    uint32_t needed = JOURNAL_GUARDS + intents_cancel_most_guards(all, cancels) + world->done;
    SAP_ASSERT(needed <= SAP_STORE_MAX_GUARDS);
    return needed;
}

void batch_fill(SapWorker *worker)
{
    size_t bytes = 0;
    SAP_ASSERT(worker->batch_state == BATCH_IDLE && worker->batch_count == 0);
    uint32_t guards = 0;
    while (worker->batch_count < worker->max_batch && bytes < BATCH_BYTES &&
           worker->ready.first != NULL) {
        HotWorld *world = worker->ready.first;
        guards += guards_needed(world);
        if (guards > SAP_STORE_MAX_GUARDS) {
            break;
        }
        hot_list_remove(&worker->ready, world);
        bytes += world->writes.bytes.len;
        if (world->writes.list.len == 0) { /* nothing came of it */
            (void)cycle_end(world, false);
            worker_cycle_ended(worker, world, false);
            continue;
        }
        world->state_now = HOT_SUBMITTED;
        worker->batch[worker->batch_count++] = world;
        worker->batch_state = BATCH_RUN;
    }
}

static void log_rejected(const SapWorker *worker, const HotWorld *world)
{
    const RejectedItem *items = (const RejectedItem *)(const void *)world->rejected_items.data;
    for (size_t i = 0; i < world->rejected_items.len / sizeof *items; i++) {
        LOG_EVENT(meters_of(worker)->log, LOG_LEVEL_WARN, "universe.rejected",
                  LOG_STR("world", world->lease.name.text), LOG_U64("epoch", world->lease.epoch),
                  LOG_U64("height", items[i].height),
                  LOG_STR("correlation_id", items[i].correlation),
                  LOG_STR("reason", items[i].error));
    }
}

void batch_end(SapWorker *worker, bool committed)
{
    Meters *meters = meters_of(worker);
    while (worker->batch_count > 0) {
        HotWorld *world = worker->batch[--worker->batch_count];
        if (committed) {
            worker->steps_unsure += world->steps;
            worker->stats.rejected += world->rejected;
            counter_add(meters->steps, world->steps);
            counter_add(meters->rejected, world->rejected);
            log_rejected(worker, world);
        }
        (void)cycle_end(world, committed);
        worker_cycle_ended(worker, world, committed);
        if (committed && world->done) {
            LOG_EVENT(meters->log, LOG_LEVEL_INFO, "universe.done",
                      LOG_STR("world", world->lease.name.text),
                      LOG_U64("height", world->head.height));
            worker_drop(worker, world); /* its lease went with the commit */
        }
    }
    worker->stats.cycles += committed;
    counter_add(meters->cycles, committed);
    worker->batch_state = BATCH_IDLE;
}

int batch_settle(SapWorker *worker)
{
    uint64_t start_ns = clock_mono_ns(worker->universe->clock);
    int rc =
        worker->mark == 0 ? SAP_OK : sap_store_wait_durable(worker->universe->store, worker->mark);
    if (rc == SAP_OK) {
        histogram_record(meters_of(worker)->durable_ns,
                         clock_mono_ns(worker->universe->clock) - start_ns);
        worker->stats.steps += worker->steps_unsure;
        worker->steps_unsure = 0;
        worker->mark = 0;
    }
    return rc;
}

/* The transaction of a batch, and the world that was found fenced in it, or damaged. */
typedef struct Submission {
    SapWorker *worker;
    HotWorld *lost;
} Submission;

/* The guards of all worlds, and of what they cancel. */
static uint32_t take_guards(const SapWorker *worker, UniverseGuard *guards)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < worker->batch_count; i++) {
        HotWorld *world = worker->batch[i];
        uint32_t cancels = 0;
        const IntentCancel *all = cycle_cancels(world, &cancels);
        journal_guards(&world->lease, &guards[count]);
        count += JOURNAL_GUARDS;
        count += intents_cancel_guards(worker->universe->number, all, cancels, &guards[count]);
        if (world->done) {
            row_key_world(&guards[count].key, WIT_DBI_WORLD_META, worker->universe->number,
                          &world->lease.name);
            guards[count++].exclusive = true;
        }
    }
    return count;
}

static int submit_body(SapStoreTxn *store_txn, void *ctx)
{
    Submission *submission = (Submission *)ctx;
    SapWorker *worker = submission->worker;
    UniverseGuard guards[SAP_STORE_MAX_GUARDS];
    WriteSet *sets[BATCH_WORLDS];
    UniverseTxn txn;
    submission->lost = NULL;
    uint32_t guard_count = take_guards(worker, guards);
    int rc = universe_txn_start(&txn, store_txn, PARTY_HOLDER, guards, guard_count, NULL, 0);
    for (uint32_t i = 0; rc == SAP_OK && i < worker->batch_count; i++) {
        HotWorld *world = worker->batch[i];
        sets[i] = &world->writes;
        rc = journal_check(&world->lease, store_txn, &world->head);
        if (rc == SAP_FENCED || rc == SAP_CORRUPT) {
            submission->lost = world;
        }
    }
    rc = rc == SAP_OK ? writes_apply(sets, worker->batch_count, &txn) : rc;
    for (uint32_t i = 0; rc == SAP_OK && i < worker->batch_count; i++) {
        uint32_t cancels = 0;
        const IntentCancel *all = cycle_cancels(worker->batch[i], &cancels);
        rc = intents_cancel_apply(&txn, worker->universe->number, all, cancels);
        if (rc == SAP_OK && worker->batch[i]->done) {
            rc = world_finish(&txn, worker->universe->number, &worker->batch[i]->lease.name,
                              worker->batch[i]->done_seq);
        }
    }
    return rc;
}

/* Where what is cancelled is now. */
static int find_cancelled(SapWorker *worker)
{
    int rc = SAP_OK;
    for (uint32_t i = 0; rc == SAP_OK && i < worker->batch_count; i++) {
        uint32_t cancels = 0;
        IntentCancel *all = cycle_cancels(worker->batch[i], &cancels);
        rc = intents_cancel_find(worker->universe->store, worker->universe->number, all, cancels);
    }
    return rc;
}

/* Those that were lost leave the batch. */
static void drop_lost(SapWorker *worker, HotWorld *lost, int rc)
{
    if (lost != NULL) {
        (void)worker_lost(worker, lost, rc);
        return;
    }
    while (worker->batch_count > 0) { /* a row that must be there is gone */
        worker_fence(worker, worker->batch[0]);
    }
}

int batch_submit(SapWorker *worker)
{
    Meters *meters = meters_of(worker);
    int rc = batch_settle(worker);
    if (rc != SAP_OK) {
        return rc; /* the batch stays */
    }
    do {
        Submission submission = {worker, NULL};
        bool unknown = false;
        if (!session_may_work(&worker->session)) {
            rc = SAP_FENCED; /* others may take over soon: what has run is not true any more */
            break;
        }
        rc = find_cancelled(worker);
        if (rc != SAP_OK) {
            return rc; /* the batch stays */
        }
        uint64_t start_ns = clock_mono_ns(worker->universe->clock);
        rc = store_run_async(worker->universe->store, SAP_STORE_GUARDED, submit_body, &submission,
                             &worker->mark, &unknown);
        histogram_record(meters->commit_ns, clock_mono_ns(worker->universe->clock) - start_ns);
        if (unknown) {
            worker->batch_state = BATCH_UNKNOWN;
            worker->stats.unknown++;
            counter_add(meters->unknown, 1);
            return rc;
        }
        if (rc == SAP_FENCED || submission.lost != NULL) {
            drop_lost(worker, submission.lost, rc);
            rc = SAP_FENCED;
        }
    } while (rc == SAP_FENCED && worker->batch_count > 0);
    if (rc == SAP_BUSY || rc == SAP_CONFLICT) {
        counter_add(meters->conflicts, 1);
        return rc; /* the batch stays, and is submitted again */
    }
    batch_end(worker, rc == SAP_OK);
    return rc == SAP_FENCED ? SAP_OK : rc;
}

int batch_resolve(SapWorker *worker)
{
    bool happened = false;
    bool known = false;
    /* The worlds share one transaction, so it is the same for all that are still this worker's. */
    for (uint32_t i = 0; i < worker->batch_count;) {
        HotWorld *world = worker->batch[i];
        bool this_one = false;
        if (world->steps == 0) { /* it moves no head: the others, or a second submission, decide */
            i++;
            continue;
        }
        int rc = journal_resolve(&world->lease, &world->head, &world->after, &this_one);
        if (rc != SAP_OK) {
            if (!worker_lost(worker, world, rc)) {
                return rc;
            }
            continue;
        }
        if (known &&
            happened != this_one) { /* a server that lost commits: this one starts afresh */
            worker_fence(worker, world);
            continue;
        }
        happened = this_one;
        known = true;
        i++;
    }
    if (known && happened) {
        batch_end(worker, true);
        worker->mark = 0; /* what was read is durable */
        return batch_settle(worker);
    }
    worker->batch_state = worker->batch_count > 0 ? BATCH_RUN : BATCH_IDLE;
    return SAP_OK;
}
