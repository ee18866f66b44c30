/* outbound_address.c - see outbound_address.h. */
#include "node/outbound_address.h"

#include "common/assert.h"
#include "common/bytes.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { V4_AT = 12, V4_BYTES = 4, NO_INNER = -1 };

/* The addresses that begin with these bits. */
typedef struct AddressRange {
    uint8_t bytes[ADDRESS_BYTES];
    uint8_t bits;
    AddressClass class;
    int inner_at; /* where an IPv4 address is that decides instead of `class`; NO_INNER */
} AddressRange;

/* The registries of special-purpose addresses of IANA, the narrower ranges first; the first that
 * matches counts. IPv4 is looked up by its own table. */
static const AddressRange v4_ranges[] = {
    {{0, 0, 0, 0}, 32, ADDRESS_UNSPECIFIED, NO_INNER},
    {{0}, 8, ADDRESS_THIS_NETWORK, NO_INNER},
    {{10}, 8, ADDRESS_PRIVATE, NO_INNER},
    {{100, 64}, 10, ADDRESS_SHARED, NO_INNER},
    {{127}, 8, ADDRESS_LOOPBACK, NO_INNER},
    {{169, 254}, 16, ADDRESS_LINK_LOCAL, NO_INNER},
    {{172, 16}, 12, ADDRESS_PRIVATE, NO_INNER},
    {{192, 0, 0}, 24, ADDRESS_RESERVED, NO_INNER},
    {{192, 0, 2}, 24, ADDRESS_RESERVED, NO_INNER},
    {{192, 88, 99}, 24, ADDRESS_RESERVED, NO_INNER}, /* relays of 6to4 */
    {{192, 168}, 16, ADDRESS_PRIVATE, NO_INNER},
    {{198, 18}, 15, ADDRESS_RESERVED, NO_INNER},
    {{198, 51, 100}, 24, ADDRESS_RESERVED, NO_INNER},
    {{203, 0, 113}, 24, ADDRESS_RESERVED, NO_INNER},
    {{224}, 4, ADDRESS_MULTICAST, NO_INNER},
    {{240}, 4, ADDRESS_RESERVED, NO_INNER},
    {{0}, 0, ADDRESS_PUBLIC, NO_INNER},
};

static const AddressRange v6_ranges[] = {
    {{0}, 128, ADDRESS_UNSPECIFIED, NO_INNER},
    {{[15] = 1}, 128, ADDRESS_LOOPBACK, NO_INNER},
    {{[10] = 0xff, 0xff}, 96, ADDRESS_PUBLIC, 12},                /* mapped */
    {{[8] = 0xff, 0xff}, 96, ADDRESS_PUBLIC, 12},                 /* translated, RFC 2765 */
    {{0}, 96, ADDRESS_RESERVED, 12},                              /* IPv4-compatible, given up */
    {{0, 0x64, 0xff, 0x9b}, 96, ADDRESS_PUBLIC, 12},              /* NAT64 */
    {{0, 0x64, 0xff, 0x9b, 0, 1}, 48, ADDRESS_PRIVATE, NO_INNER}, /* NAT64 of a network's own */
    {{0x20, 0x02}, 16, ADDRESS_PUBLIC, 2},                        /* 6to4 */
    {{0x20, 0x01}, 23, ADDRESS_RESERVED, NO_INNER}, /* protocols, Teredo, benchmarks, ORCHID */
    {{0x20, 0x01, 0x0d, 0xb8}, 32, ADDRESS_RESERVED, NO_INNER}, /* documentation */
    {{0x3f, 0xff}, 20, ADDRESS_RESERVED, NO_INNER},
    {{0x20}, 3, ADDRESS_PUBLIC, NO_INNER}, /* all that is given out */
    {{0xfc}, 7, ADDRESS_PRIVATE, NO_INNER},
    {{0xfe, 0x80}, 10, ADDRESS_LINK_LOCAL, NO_INNER},
    {{0xfe, 0xc0}, 10, ADDRESS_PRIVATE, NO_INNER},
    {{0xff}, 8, ADDRESS_MULTICAST, NO_INNER},
    {{0}, 0, ADDRESS_RESERVED, NO_INNER},
};

static const char *const class_texts[] = {
    [ADDRESS_PUBLIC] = "a public address",
    [ADDRESS_UNSPECIFIED] = "the unspecified address, which is this machine",
    [ADDRESS_THIS_NETWORK] = "an address of this network",
    [ADDRESS_LOOPBACK] = "a loopback address",
    [ADDRESS_PRIVATE] = "a private address",
    [ADDRESS_SHARED] = "an address shared by the customers of a carrier",
    [ADDRESS_LINK_LOCAL] = "a link-local address",
    [ADDRESS_MULTICAST] = "a multicast address",
    [ADDRESS_RESERVED] = "a reserved address",
};

const char *address_class_text(AddressClass class)
{
    return class_texts[class];
}

static bool range_contains(const AddressRange *range, const uint8_t *bytes)
{
    size_t whole = range->bits / 8;
    unsigned rest = range->bits % 8;
    uint8_t mask = (uint8_t) ~(0xffu >> rest);
    return memcmp(range->bytes, bytes, whole) == 0 &&
           (rest == 0 || (range->bytes[whole] & mask) == (bytes[whole] & mask));
}

/* The last range of a table contains everything. */
static const AddressRange *find_range(const AddressRange *ranges, const uint8_t *bytes)
{
    while (!range_contains(ranges, bytes)) {
        ranges++;
    }
    return ranges;
}

static void set_v4(Address *out, const uint8_t *bytes, uint16_t port)
{
    *out = (Address){.bytes = {[10] = 0xff, 0xff}, .port = port};
    memcpy(out->bytes + V4_AT, bytes, V4_BYTES);
}

bool address_inner(const Address *address, Address *out)
{
    const AddressRange *range = find_range(v6_ranges, address->bytes);
    if (range->inner_at == NO_INNER) {
        return false;
    }
    set_v4(out, address->bytes + range->inner_at, address->port);
    return true;
}

AddressClass address_class(const Address *address)
{
    const AddressRange *range = find_range(v6_ranges, address->bytes);
    if (range->inner_at == NO_INNER) {
        return range->class;
    }
    AddressClass inner = find_range(v4_ranges, address->bytes + range->inner_at)->class;
    return inner == ADDRESS_PUBLIC ? range->class : inner;
}

static bool read_v4(const char *text, uint8_t bytes[V4_BYTES])
{
    struct in_addr v4;
    /* inet_aton() accepts anything after a space. */
    if (strspn(text, "0123456789abcdefABCDEFxX.") != strlen(text) || inet_aton(text, &v4) == 0) {
        return false;
    }
    memcpy(bytes, &v4, V4_BYTES);
    return true;
}

bool address_read(const char *text, uint16_t port, Address *out)
{
    uint8_t v4[V4_BYTES];
    struct in6_addr v6;
    if (strchr(text, ':') != NULL) {
        if (inet_pton(AF_INET6, text, &v6) != 1) {
            return false;
        }
        memcpy(out->bytes, &v6, ADDRESS_BYTES);
        out->port = port;
        return true;
    }
    if (!read_v4(text, v4)) {
        return false;
    }
    set_v4(out, v4, port);
    return true;
}

bool address_from_socket(const struct sockaddr *from, Address *out)
{
    if (from->sa_family == AF_INET) {
        struct sockaddr_in v4;
        uint8_t bytes[V4_BYTES];
        memcpy(&v4, from, sizeof v4);
        memcpy(bytes, &v4.sin_addr, sizeof bytes);
        set_v4(out, bytes, load_u16be(&v4.sin_port));
        return true;
    }
    if (from->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, from, sizeof v6);
        memcpy(out->bytes, &v6.sin6_addr, ADDRESS_BYTES);
        out->port = load_u16be(&v6.sin6_port);
        return true;
    }
    return false;
}

bool address_equal(const Address *a, const Address *b)
{
    return a->port == b->port && memcmp(a->bytes, b->bytes, ADDRESS_BYTES) == 0;
}

bool address_is_v4(const Address *address)
{
    static const AddressRange mapped = {{[10] = 0xff, 0xff}, 96, ADDRESS_PUBLIC, V4_AT};
    return range_contains(&mapped, address->bytes);
}

void address_text(const Address *address, bool brackets, char out[ADDRESS_TEXT_MAX])
{
    if (address_is_v4(address)) {
        SAP_ASSERT(inet_ntop(AF_INET, address->bytes + V4_AT, out, ADDRESS_TEXT_MAX) != NULL);
        return;
    }
    char text[ADDRESS_TEXT_MAX - 2];
    SAP_ASSERT(inet_ntop(AF_INET6, address->bytes, text, sizeof text) != NULL);
    (void)snprintf(out, ADDRESS_TEXT_MAX, "%s%s%s", brackets ? "[" : "", text, brackets ? "]" : "");
}
