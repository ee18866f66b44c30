/* outbound_guard.h - which host, port and address a call may go to.
 *
 * Public addresses may be called, others where somebody has allowed HOST:PORT: by the name that the
 * URL has, whatever it resolves to, or by the address. The node's own listeners are never called:
 * through them a world would act with the rights of the node. A listener on loopback, or on all
 * addresses, is meant by every loopback address and by 0.0.0.0 and ::, one on all addresses also by
 * each address of this machine's interfaces.
 *
 * The guard judges addresses that a name was resolved to; who connects must use no others. */
#ifndef SAPLING_NODE_OUTBOUND_GUARD_H
#define SAPLING_NODE_OUTBOUND_GUARD_H

#include "node/outbound_address.h"

#include <stddef.h>

enum { GUARD_HOST_MAX = 253, GUARD_REASON_MAX = 512 };

typedef struct Guard Guard;

/* Lists of HOST:PORT, which are copied: "localhost:8080", "127.0.0.1:8080", "[::1]:8080".
 * SAP_INVALID: one of them is not so; *bad_out, unless NULL, is it. SAP_NOMEM. */
int guard_open(const char *const *allow, size_t allow_count, const char *const *own,
               size_t own_count, Guard **guard_out, const char **bad_out);
/* NULL is accepted. */
void guard_close(Guard *guard);

/* Removes from addresses[0..*count), which `host` (of a URL: lower case, without brackets) was
 * resolved to, those that may not be called. False: none is left, or one is the node's own;
 * `reason` says what is wrong and what to do. */
bool guard_check(const Guard *guard, const char *host, Address *addresses, size_t *count,
                 char reason[GUARD_REASON_MAX]);

/* Reads HOST:PORT: *host_out has no brackets and no dot at its end. False: it is not so. */
bool guard_read_place(const char *text, char host_out[GUARD_HOST_MAX + 1], uint16_t *port_out);

#endif
