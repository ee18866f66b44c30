/* outbound_guard.c - see outbound_guard.h. */
#include "node/outbound_guard.h"

#include "common/assert.h"
#include "common/mem.h"
#include "sapling/error.h"

#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* HOST:PORT of a list. */
typedef struct Place {
    char host[GUARD_HOST_MAX + 1];
    uint16_t port;
    bool is_address;
    Address address;
} Place;

typedef struct Places {
    Place *list;
    size_t count;
} Places;

struct Guard {
    Places allow;
    Places own;
};

bool guard_read_place(const char *text, char host_out[GUARD_HOST_MAX + 1], uint16_t *port_out)
{
    const char *colon = strrchr(text, ':');
    const char *host = text;
    if (colon == NULL || colon == text || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
        strlen(colon + 1) == 0 || strlen(colon + 1) > 5) {
        return false;
    }
    unsigned long port = strtoul(colon + 1, NULL, 10);
    size_t len = (size_t)(colon - host);
    if (host[0] == '[') {
        if (len < 3 || host[len - 1] != ']') {
            return false;
        }
        host++;
        len -= 2;
    } else if (memchr(host, ':', len) != NULL) {
        return false; /* an IPv6 address without brackets: where does its port begin? */
    } else if (len > 1 && host[len - 1] == '.') {
        len--;
    }
    if (port == 0 || port > UINT16_MAX || len > GUARD_HOST_MAX ||
        strcspn(host, " \t\r\n/@*?#") < len) {
        return false;
    }
    memcpy(host_out, host, len);
    host_out[len] = '\0';
    *port_out = (uint16_t)port;
    return true;
}

static int read_places(const char *const *texts, size_t count, Places *out, const char **bad_out)
{
    if (count == 0) {
        return SAP_OK;
    }
    out->list = (Place *)mem_zalloc(MEM_COMMON, count * sizeof *out->list);
    if (out->list == NULL) {
        return SAP_NOMEM;
    }
    out->count = count;
    for (size_t i = 0; i < count; i++) {
        Place *place = &out->list[i];
        if (!guard_read_place(texts[i], place->host, &place->port)) {
            if (bad_out != NULL) {
                *bad_out = texts[i];
            }
            return SAP_INVALID;
        }
        place->is_address = address_read(place->host, place->port, &place->address);
    }
    return SAP_OK;
}

int guard_open(const char *const *allow, size_t allow_count, const char *const *own,
               size_t own_count, Guard **guard_out, const char **bad_out)
{
    Guard *guard = (Guard *)mem_zalloc(MEM_COMMON, sizeof *guard);
    if (guard == NULL) {
        return SAP_NOMEM;
    }
    int rc = read_places(allow, allow_count, &guard->allow, bad_out);
    rc = rc == SAP_OK ? read_places(own, own_count, &guard->own, bad_out) : rc;
    if (rc != SAP_OK) {
        guard_close(guard);
        return rc;
    }
    *guard_out = guard;
    return SAP_OK;
}

void guard_close(Guard *guard)
{
    if (guard == NULL) {
        return;
    }
    mem_free(MEM_COMMON, guard->allow.list, guard->allow.count * sizeof(Place));
    mem_free(MEM_COMMON, guard->own.list, guard->own.count * sizeof(Place));
    mem_free(MEM_COMMON, guard, sizeof *guard);
}

/* ---- The node's own -------------------------------------------------------------------------- */

/* Whether an interface of this machine has the address. Unknown counts as yes. */
static bool is_of_this_machine(const Address *address)
{
    struct ifaddrs *interfaces = NULL;
    bool found = false;
    if (getifaddrs(&interfaces) != 0) {
        return true;
    }
    for (const struct ifaddrs *at = interfaces; at != NULL && !found; at = at->ifa_next) {
        Address own;
        if (at->ifa_addr != NULL && address_from_socket(at->ifa_addr, &own)) {
            found = memcmp(own.bytes, address->bytes, ADDRESS_BYTES) == 0;
        }
    }
    freeifaddrs(interfaces);
    return found;
}

static bool means_loopback(AddressClass class)
{
    return class == ADDRESS_LOOPBACK || class == ADDRESS_UNSPECIFIED;
}

/* Whether a connection to `address` may reach a listener on `own`, which has the same port. */
static bool reaches_listener(const Place *own, const Address *address)
{
    AddressClass listens = own->is_address ? address_class(&own->address) : ADDRESS_UNSPECIFIED;
    if (own->is_address && address_equal(&own->address, address)) {
        return true;
    }
    if (means_loopback(listens) && means_loopback(address_class(address))) {
        return true;
    }
    return listens == ADDRESS_UNSPECIFIED && is_of_this_machine(address);
}

static bool is_own(const Guard *guard, const Address *address)
{
    Address inner = *address;
    (void)address_inner(address, &inner);
    for (size_t i = 0; i < guard->own.count; i++) {
        const Place *own = &guard->own.list[i];
        if (own->port == address->port &&
            (reaches_listener(own, address) || reaches_listener(own, &inner))) {
            return true;
        }
    }
    return false;
}

/* ---- What is allowed ------------------------------------------------------------------------- */

static bool is_allowed(const Guard *guard, const char *host, const Address *address)
{
    for (size_t i = 0; i < guard->allow.count; i++) {
        const Place *allow = &guard->allow.list[i];
        bool same_host = allow->is_address ? address_equal(&allow->address, address)
                                           : strcasecmp(allow->host, host) == 0;
        if (allow->port == address->port && same_host) {
            return true;
        }
    }
    return false;
}

bool guard_check(const Guard *guard, const char *host, Address *addresses, size_t *count,
                 char reason[GUARD_REASON_MAX])
{
    size_t kept = 0;
    char text[ADDRESS_TEXT_MAX];
    const Address *refused = NULL;
    SAP_ASSERT(*count > 0 && strlen(host) <= GUARD_HOST_MAX);
    Address first = addresses[0];
    for (size_t i = 0; i < *count; i++) {
        if (is_own(guard, &addresses[i])) {
            address_text(&addresses[i], true, text);
            (void)snprintf(
                reason, GUARD_REASON_MAX,
                "%s is %s:%u, where this node itself listens: worlds may not call it. Let "
                "the world send a message or use a task instead",
                host, text, addresses[i].port);
            *count = 0;
            return false;
        }
    }
    for (size_t i = 0; i < *count; i++) {
        if (address_class(&addresses[i]) == ADDRESS_PUBLIC ||
            is_allowed(guard, host, &addresses[i])) {
            addresses[kept++] = addresses[i];
        } else if (refused == NULL) {
            first = addresses[i];
            refused = &first;
        }
    }
    *count = kept;
    if (kept == 0) {
        bool bare = strchr(host, ':') != NULL;
        address_text(refused, true, text);
        (void)snprintf(reason, GUARD_REASON_MAX,
                       "%s%s%s is %s, %s: worlds may not call it unless the node is started with "
                       "--allow-http %s%s%s:%u",
                       bare ? "[" : "", host, bare ? "]" : "", text,
                       address_class_text(address_class(refused)), bare ? "[" : "", host,
                       bare ? "]" : "", refused->port);
    }
    return kept > 0;
}
