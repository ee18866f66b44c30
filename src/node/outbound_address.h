/* outbound_address.h - addresses of the internet, and which of them a world may call.
 *
 * An Address has one form however it was written: IPv4 is kept as IPv4-mapped IPv6, so that 127.1,
 * 2130706433, 127.0.0.1 and ::ffff:127.0.0.1 are the same bytes. Nothing here resolves names or
 * allocates.
 *
 * A world runs on messages of strangers and may be made to call any URL. What only this machine
 * or its network can reach (the node itself, a database without a password, the metadata service
 * of a cloud) must not be reached that way. So every address belongs to one class, and only
 * ADDRESS_PUBLIC is called without permission. An IPv6 address that carries an IPv4 address
 * (mapped, translated, 6to4) belongs to the class of that one. What no range names is not
 * public. */
#ifndef SAPLING_NODE_OUTBOUND_ADDRESS_H
#define SAPLING_NODE_OUTBOUND_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { ADDRESS_BYTES = 16, ADDRESS_TEXT_MAX = 64 };

typedef struct Address {
    uint8_t bytes[ADDRESS_BYTES]; /* IPv4: ::ffff:a.b.c.d */
    uint16_t port;
} Address;

typedef enum AddressClass {
    ADDRESS_PUBLIC,
    ADDRESS_UNSPECIFIED, /* 0.0.0.0 and ::, which Linux connects to itself */
    ADDRESS_THIS_NETWORK,
    ADDRESS_LOOPBACK,
    ADDRESS_PRIVATE,
    ADDRESS_SHARED, /* 100.64.0.0/10, of carriers */
    ADDRESS_LINK_LOCAL,
    ADDRESS_MULTICAST,
    ADDRESS_RESERVED, /* documentation, benchmarks, tunnels, and what nobody was given */
} AddressClass;

AddressClass address_class(const Address *address);
/* A static text for messages: "a loopback address". */
const char *address_class_text(AddressClass class);

/* Reads `text` as system calls do: IPv4 in one to four parts, decimal, octal or hexadecimal; IPv6
 * without brackets and scope. False: it is not an address, and may be a name. */
bool address_read(const char *text, uint16_t port, Address *out);

/* False: neither IPv4 nor IPv6. An IPv6 scope is ignored. */
bool address_from_socket(const struct sockaddr *from, Address *out);

bool address_equal(const Address *a, const Address *b);
/* Whether the address is IPv4. */
bool address_is_v4(const Address *address);
/* The IPv4 address that an IPv6 address is or carries, in the same form; false: there is none. */
bool address_inner(const Address *address, Address *out);

/* The address alone: 127.0.0.1, or ::1, in brackets if `brackets`. */
void address_text(const Address *address, bool brackets, char out[ADDRESS_TEXT_MAX]);

#endif
