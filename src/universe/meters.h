/* meters.h - what the roles of a universe count, in this process; names and texts in one table.
 *
 * All names begin with sapling_universe_. Times are in nanoseconds. docs/reference/universe-metrics.md
 * says for each what it is good for; a test compares the two. */
#ifndef SAPLING_UNIVERSE_METERS_H
#define SAPLING_UNIVERSE_METERS_H

#include "common/log.h"
#include "common/metrics.h"

/* X(field, name, help) */
#define UNIVERSE_COUNTERS(X)                                                                     \
    X(enqueued, "enqueued_total", "items put into inboxes by callers of this process")           \
    X(duplicates, "enqueue_duplicates_total", "items whose id was there before")                 \
    X(refused, "enqueue_refused_total", "items that were refused, or failed")                    \
    X(enqueue_unknown, "enqueue_unknown_total", "items of unknown outcome")                      \
    X(cycles, "cycles_total", "transactions of cycles that were committed")                      \
    X(steps, "steps_total", "items that became entries of journals")                             \
    X(rejected, "rejected_total", "items that became dead letters")                              \
    X(failures, "handler_failures_total", "calls of handlers that failed and are tried again")   \
    X(waits, "handler_waits_total", "calls of handlers that waited for the machine")             \
    X(conflicts, "commit_conflicts_total", "transactions of cycles that met others")             \
    X(fenced, "fenced_total", "worlds that this worker lost to others")                          \
    X(unknown, "commit_unknown_total", "transactions of cycles of unknown outcome")              \
    X(acquired, "worlds_acquired_total", "leases of worlds taken")                               \
    X(released, "worlds_released_total", "leases of worlds given back")                          \
    X(restored, "entries_restored_total", "entries applied to restore states")                   \
    X(paused, "worlds_paused_total", "worlds paused because they could not go on")               \
    X(stuck, "worlds_stuck_total", "handlers that ran for too long")                             \
    X(renewals, "session_renewals_total", "renewals of the session")                             \
    X(renewal_failures, "session_renewal_failures_total", "renewals that failed")                \
    X(sessions_lost, "sessions_lost_total", "sessions of this process that were over")           \
    X(dead_worlds, "dead_worlds_total", "worlds freed after their worker died")                  \
    X(revoked, "assignments_revoked_total", "assignments taken back from workers that are gone") \
    X(resumed, "worlds_resumed_total", "worlds resumed for a newer version of their module")     \
    X(timers_fired, "timers_fired_total", "timers whose events were put into inboxes")           \
    X(effects_claimed, "effects_claimed_total", "effects claimed, once for each attempt")        \
    X(effects_started, "effects_started_total", "attempts that were begun")                      \
    X(receipts, "receipts_total", "receipts put into inboxes by this worker's attempts")         \
    X(effect_retries, "effect_retries_total", "attempts that failed and are made again")         \
    X(delivered, "messages_delivered_total", "questions and replies put into inboxes of worlds") \
    X(full, "enqueue_full_total", "items refused because the inbox was full")                    \
    X(held_back, "messages_held_back_total", "looks at worlds whose messages wait for answers")  \
    X(promises, "promises_resolved_total", "promises resolved by callers of this process")       \
    X(claims_lost, "claims_lost_total", "claims that ran out, or were resolved by others")       \
    X(effects_cancelled, "effects_cancelled_total", "attempts ended because nobody waits")       \
    X(effect_timeouts, "effect_timeouts_total", "attempts that took too long")                   \
    X(effects_returned, "effects_returned_total", "effects of lost claims that wait again")      \
    X(effects_lost, "effects_lost_total", "effects that ended because their claim was lost")     \
    X(effects_unserved, "effects_unserved_total", "effects that no worker served for a minute")  \
    X(expired, "rows_expired_total", "rows deleted because their time had passed")               \
    X(drained, "items_drained_total", "items of deleted worlds that became dead letters")        \
    X(replayed, "dead_letters_replayed_total", "dead letters put into inboxes again")            \
    X(dropped, "dead_letters_dropped_total", "dead letters deleted by operators")

#define UNIVERSE_GAUGES(X)                                                            \
    X(hot, "worlds_hot", "worlds in memory")                                          \
    X(memory, "worlds_memory_bytes", "memory that they take")                         \
    X(running, "handlers_running", "worlds whose handlers run now")                   \
    X(effects_running, "effects_running", "attempts under way")                       \
    X(hints, "hints_seen", "hints found by the last look, at most 128")               \
    X(hint_age, "oldest_hint_age_ns", "how long the first of these hints has waited") \
    X(orchestrates, "orchestrator_held", "1: this worker is the orchestrator")        \
    X(reaps, "reaper_held", "1: this worker is the reaper")                           \
    X(due_effect_age, "due_effect_age_ns", "how long an effect has been due at most") \
    X(due_timer_age, "due_timer_age_ns", "how long a timer has been due at most")     \
    X(expiry_lag, "expiry_lag_ns", "how long the oldest row that has expired is still there")

#define UNIVERSE_HISTOGRAMS(X)                                                              \
    X(enqueue_ns, "enqueue_ns", "from the call that enqueues until the item is durable")    \
    X(item_wait_ns, "item_wait_ns", "from when an item was sent until its cycle began")     \
    X(cycle_ns, "cycle_ns", "from the start of a world's handlers until they had ended")    \
    X(commit_ns, "commit_ns", "transactions of cycles, without the wait for the disk")      \
    X(durable_ns, "durable_ns", "waits for the disk before the next transaction of cycles") \
    X(renewal_ns, "renewal_ns", "renewals of the session")                                  \
    X(restore_ns, "restore_ns", "acquiring and restoring a world")

typedef struct Meters {
    MetricsRegistry registry;
#define METER_FIELD(field, name, help) Counter *field;
    UNIVERSE_COUNTERS(METER_FIELD)
#undef METER_FIELD
#define METER_FIELD(field, name, help) Gauge *field;
    UNIVERSE_GAUGES(METER_FIELD)
#undef METER_FIELD
#define METER_FIELD(field, name, help) Histogram *field;
    UNIVERSE_HISTOGRAMS(METER_FIELD)
#undef METER_FIELD
    const Log *log; /* NULL: silent */
    Log own_log;
    void (*on_log)(const char *line, void *ctx);
    void *log_ctx;
} Meters;

/* SAP_NOMEM. The caller owns *meters: meters_release(). on_log NULL: nothing is logged. */
int meters_init(Meters *meters, void (*on_log)(const char *line, void *ctx), void *log_ctx,
                const Clock *clock);
void meters_release(Meters *meters);

#endif
