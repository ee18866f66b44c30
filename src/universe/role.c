/* role.c - what only one worker in a universe does at a time: it holds the role's lease, and what it
 * writes is fenced by it. */
#include "universe/worker_impl.h"

int role_hold(SapWorker *worker, RoleHolder *holder, const char *role, bool *held_out)
{
    uint64_t now_ns = clock_boot_ns(worker->universe->clock);
    int rc = SAP_OK;
    if (!session_may_work(&worker->session)) {
        holder->lease.epoch = 0;
        *held_out = false;
        return relaxed_load(&worker->session.deadline_ns) == 0 ? SAP_FENCED : SAP_OK;
    }
    if (holder->lease.epoch == 0 && now_ns >= holder->try_at_ns) {
        rc = lease_acquire_role(&worker->session, role, 0, &holder->lease);
        holder->try_at_ns = now_ns + worker->session.renewal_ns;
        if (rc == SAP_OK) {
            LOG_EVENT(meters_of(worker)->log, LOG_LEVEL_INFO, "universe.role_taken",
                      LOG_STR("role", role), LOG_STR("worker", worker->session.worker.text),
                      LOG_U64("epoch", holder->lease.epoch));
        }
        rc = rc == SAP_BUSY ? SAP_OK : rc;
    }
    *held_out = holder->lease.epoch != 0;
    return rc;
}

void role_guard(const RoleHolder *holder, UniverseGuard *guard_out)
{
    *guard_out = (UniverseGuard){holder->lease.key, false};
}

int role_check(RoleHolder *holder, SapStoreTxn *txn)
{
    return lease_stands(&holder->lease, txn);
}
