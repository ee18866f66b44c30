/* pg_pool.c - see pg_pool.h. */
#include "store/pg_pool.h"

#include <stdio.h>

#include "common/assert.h"
#include "common/clock.h"

int pg_pool_init(PgPool *pool, const PgUrl *url, RelaxedU64 *connects, RelaxedU64 *losses)
{
    *pool = (PgPool){.url = url, .connects = connects, .losses = losses};
    if (!mutex_init(&pool->lock)) {
        return SAP_NOMEM;
    }
    if (!cond_init(&pool->freed)) {
        mutex_destroy(&pool->lock);
        return SAP_NOMEM;
    }
    return SAP_OK;
}

void pg_pool_release(PgPool *pool)
{
    while (pool->idle != NULL) {
        PgConn *next = pool->idle->next;
        pg_conn_close(pool->idle);
        pool->idle = next;
        pool->open--;
    }
    SAP_ASSERT(pool->open == 0);
    cond_destroy(&pool->freed);
    mutex_destroy(&pool->lock);
}

/* With the lock held. NULL: none is idle. */
static PgConn *pop_idle(PgPool *pool)
{
    PgConn *conn = pool->idle;
    if (conn != NULL) {
        pool->idle = conn->next;
    }
    return conn;
}

/* The connection is no longer one of the pool's. */
static void drop_conn(PgPool *pool, PgConn *conn)
{
    mutex_lock(&pool->lock);
    SAP_ASSERT(pool->open > 0);
    pool->open--;
    if (conn != NULL && conn->lost && conn->generation == pool->generation) {
        pool->generation++;
    }
    cond_signal(&pool->freed);
    mutex_unlock(&pool->lock);
    pg_conn_close(conn);
}

/* The place is counted already. */
static int open_counted(PgPool *pool, uint64_t generation, PgConn **conn_out, char *why)
{
    int rc = pg_conn_open(pool->url, conn_out, why);
    if (rc != SAP_OK) {
        drop_conn(pool, NULL);
        return rc;
    }
    (*conn_out)->generation = generation;
    relaxed_add(pool->connects, 1);
    return SAP_OK;
}

/* An idle connection that works, or a place for a new one (*conn_out NULL). SAP_BUSY: neither until
 * then; `most` is how many may be open. */
static int take_place(PgPool *pool, uint32_t most, uint64_t until_ns, PgConn **conn_out,
                      uint64_t *generation_out)
{
    int rc = SAP_OK;
    mutex_lock(&pool->lock);
    while (pool->idle == NULL && pool->open >= most && rc == SAP_OK) {
        uint64_t now_ns = clock_mono_ns(NULL);
        if (now_ns >= until_ns) {
            rc = SAP_BUSY;
        } else {
            cond_wait_ns(&pool->freed, &pool->lock, until_ns - now_ns);
        }
    }
    if (rc == SAP_OK) {
        *conn_out = pop_idle(pool);
        pool->open += *conn_out == NULL;
        *generation_out = pool->generation;
    }
    mutex_unlock(&pool->lock);
    return rc;
}

static uint32_t count_open(PgPool *pool)
{
    mutex_lock(&pool->lock);
    uint32_t open = pool->open;
    mutex_unlock(&pool->lock);
    return open;
}

int pg_pool_take(PgPool *pool, PgConn **conn_out, char why[PG_WHY_MAX])
{
    uint64_t until_ns = clock_mono_ns(NULL) + (uint64_t)pool->url->lock_timeout_ms * 1000000;
    uint32_t most = pool->url->pool;
    for (;;) {
        PgConn *conn = NULL;
        uint64_t generation = 0;
        int rc = take_place(pool, most, until_ns, &conn, &generation);
        if (rc != SAP_OK) {
            (void)snprintf(
                why, PG_WHY_MAX,
                "%.120s: all %u connections are in use: raise `pool`, or end transactions "
                "sooner",
                pool->url->shown, most);
            return rc;
        }
        if (conn == NULL) {
            rc = open_counted(pool, generation, conn_out, why);
            uint32_t open = rc == SAP_BUSY ? count_open(pool) : 0;
            if (open == 0) {
                return rc;
            }
            most = open; /* the server has no more for us: wait for one of ours */
            continue;
        }
        if (conn->generation == generation && pg_conn_is_alive(conn)) {
            *conn_out = conn;
            return SAP_OK;
        }
        relaxed_add(pool->losses, 1);
        drop_conn(pool, conn);
    }
}

void pg_pool_give(PgPool *pool, PgConn *conn)
{
    if (conn->lost) {
        relaxed_add(pool->losses, 1);
        drop_conn(pool, conn);
        return;
    }
    mutex_lock(&pool->lock);
    conn->next = pool->idle;
    pool->idle = conn;
    cond_signal(&pool->freed);
    mutex_unlock(&pool->lock);
}
