/* pg_listen.h - wake-ups between the processes that share a store on a server.
 *
 * One thread, with a connection of its own, sends the keys that this process has committed and
 * receives those of others. Keys are gathered while a message is under way, so a process has at most
 * one NOTIFY at a time, after the commits and never in them (a NOTIFY inside a transaction would make
 * commits of the whole server wait for each other).
 *
 * A message may be lost: waiters look again every PG_POLL_NS in any case. After a connection was lost,
 * everybody is woken. */
#ifndef SAPLING_STORE_PG_LISTEN_H
#define SAPLING_STORE_PG_LISTEN_H

#include "common/sync.h"
#include "store/pg_url.h"
#include "store/wake.h"

#define PG_POLL_NS UINT64_C(500000000)

typedef struct PgListener PgListener;

/* Connects and listens from its return on. `url`, `wake` and `version` are borrowed until
 * pg_listener_stop(). `version` is raised for each commit that is noted. SAP_NOMEM: no memory,
 * descriptor or thread. Other codes and `why` are those of pg_conn_open(). The caller owns
 * *listener_out: pg_listener_stop(). */
int pg_listener_start(const PgUrl *url, Wake *wake, SAP_ATOMIC(uint64_t) * version,
                      PgListener **listener_out, char why[PG_WHY_MAX]);

/* Ends the thread and frees the listener. NULL is accepted. */
void pg_listener_stop(PgListener *listener);

/* A commit of this process touched these rows. Does not wait. */
void pg_listener_tell(PgListener *listener, const WakeKey *keys, uint32_t count);

#endif
