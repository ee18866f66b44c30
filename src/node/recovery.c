/* recovery.c - see recovery.h. */
#include "node/recovery.h"

#include <stdio.h>

enum { PAGE = 1000 };

typedef enum Sort { SORT_LEASES, SORT_EFFECTS, SORT_TIMERS } Sort;

static int count_lease(void *ctx, const SapLeaseInfo *lease)
{
    *(uint32_t *)ctx += !lease->alive;
    return SAP_OK;
}

static int count_call(void *ctx, const SapEffectInfo *effect)
{
    (void)effect;
    ++*(uint32_t *)ctx;
    return SAP_OK;
}

/* They come in the order in which they fire, first those of one clock, then those of the other. */
static int count_timer(void *ctx, const SapTimerInfo *timer)
{
    *(uint32_t *)ctx += timer->in_ns == 0;
    return SAP_OK;
}

static int list_page(SapUniverse *universe, Sort sort, const SapListQuery *query, uint32_t *count,
                     SapListEnd *end_out)
{
    switch (sort) {
    case SORT_LEASES:
        return sap_leases_list(universe, query, count_lease, count, end_out);
    case SORT_EFFECTS:
        return sap_effects_list(universe, query, count_call, count, end_out);
    case SORT_TIMERS:
        break;
    }
    return sap_timers_list(universe, query, count_timer, count, end_out);
}

/* Looks at SAP_COUNT_MOST rows and a page at most: starting must not take long, whatever lies there. */
static int count_all(SapUniverse *universe, Sort sort, uint32_t *count_out)
{
    char after[SAP_LIST_MAX_NEXT] = "";
    SapListEnd end = {.more = true};
    SapListQuery query = {.size = sizeof query, .limit = PAGE, .after = after};
    uint32_t count = 0;
    int rc = SAP_OK;
    query.states = sort == SORT_EFFECTS ? SAP_EFFECT_INFLIGHT : 0;
    for (uint32_t looked = 0; rc == SAP_OK && end.more && looked <= SAP_COUNT_MOST;
         looked += PAGE) {
        rc = list_page(universe, sort, &query, &count, &end);
        (void)snprintf(after, sizeof after, "%s", end.next);
    }
    *count_out = count < SAP_COUNT_MOST ? count : SAP_COUNT_MOST;
    return rc;
}

int recovery_read(SapUniverse *universe, Recovery *recovery_out)
{
    Recovery found = {0};
    int rc = count_all(universe, SORT_LEASES, &found.worlds);
    rc = rc == SAP_OK ? count_all(universe, SORT_EFFECTS, &found.calls) : rc;
    rc = rc == SAP_OK ? count_all(universe, SORT_TIMERS, &found.timers) : rc;
    if (rc == SAP_OK) {
        *recovery_out = found;
    }
    return rc;
}
