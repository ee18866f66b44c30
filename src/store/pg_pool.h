/* pg_pool.h - the connections of a store: each open transaction has one of its own.
 *
 * Invariants: at most url->pool connections are open; an idle one has no transaction. A connection
 * that was lost makes every idle one of the same age suspect, so all of them are closed: after a
 * server has started again, one transaction fails, not one for each connection. */
#ifndef SAPLING_STORE_PG_POOL_H
#define SAPLING_STORE_PG_POOL_H

#include "common/relaxed.h"
#include "common/sync.h"
#include "store/pg_conn.h"

typedef struct PgPool {
    const PgUrl *url;
    RelaxedU64 *connects; /* counts connections that were opened, and lost */
    RelaxedU64 *losses;
    Mutex lock; /* of the fields below */
    Cond freed;
    PgConn *idle;
    uint32_t open;
    uint64_t generation; /* of connections: raised when one is lost */
} PgPool;

/* `url` is borrowed as long as the pool is used. SAP_NOMEM: nothing was made. */
int pg_pool_init(PgPool *pool, const PgUrl *url, RelaxedU64 *connects, RelaxedU64 *losses);
/* All connections have been given back. */
void pg_pool_release(PgPool *pool);

/* SAP_BUSY: all connections are in use, and none was given back in time. Other codes and `why` are
 * those of pg_conn_open(). */
int pg_pool_take(PgPool *pool, PgConn **conn_out, char why[PG_WHY_MAX]);

/* Takes ownership of the connection, whose transaction has ended or which is lost. */
void pg_pool_give(PgPool *pool, PgConn *conn);

#endif
