/* Which addresses a world may call, however they are written. */
#include "node/outbound_guard.h"
#include "sapling/error.h"
#include "support/expect.h"
#include "support/suite.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <string.h>

enum { TIMEOUT_S = 60 };

typedef struct ClassRow {
    const char *text;
    AddressClass class;
} ClassRow;

/* Each range: the address before it, its first, its last, the one after it. */
static const ClassRow rows[] = {
    /* IPv4 */
    {"0.0.0.0", ADDRESS_UNSPECIFIED},
    {"0.0.0.1", ADDRESS_THIS_NETWORK},
    {"0.255.255.255", ADDRESS_THIS_NETWORK},
    {"1.0.0.0", ADDRESS_PUBLIC},
    {"9.255.255.255", ADDRESS_PUBLIC},
    {"10.0.0.0", ADDRESS_PRIVATE},
    {"10.255.255.255", ADDRESS_PRIVATE},
    {"11.0.0.0", ADDRESS_PUBLIC},
    {"100.63.255.255", ADDRESS_PUBLIC},
    {"100.64.0.0", ADDRESS_SHARED},
    {"100.127.255.255", ADDRESS_SHARED},
    {"100.128.0.0", ADDRESS_PUBLIC},
    {"126.255.255.255", ADDRESS_PUBLIC},
    {"127.0.0.0", ADDRESS_LOOPBACK},
    {"127.0.0.1", ADDRESS_LOOPBACK},
    {"127.255.255.255", ADDRESS_LOOPBACK},
    {"128.0.0.0", ADDRESS_PUBLIC},
    {"169.253.255.255", ADDRESS_PUBLIC},
    {"169.254.0.0", ADDRESS_LINK_LOCAL},
    {"169.254.169.254", ADDRESS_LINK_LOCAL},
    {"169.254.255.255", ADDRESS_LINK_LOCAL},
    {"169.255.0.0", ADDRESS_PUBLIC},
    {"172.15.255.255", ADDRESS_PUBLIC},
    {"172.16.0.0", ADDRESS_PRIVATE},
    {"172.31.255.255", ADDRESS_PRIVATE},
    {"172.32.0.0", ADDRESS_PUBLIC},
    {"191.255.255.255", ADDRESS_PUBLIC},
    {"192.0.0.0", ADDRESS_RESERVED},
    {"192.0.0.255", ADDRESS_RESERVED},
    {"192.0.1.0", ADDRESS_PUBLIC},
    {"192.0.1.255", ADDRESS_PUBLIC},
    {"192.0.2.0", ADDRESS_RESERVED},
    {"192.0.2.255", ADDRESS_RESERVED},
    {"192.0.3.0", ADDRESS_PUBLIC},
    {"192.88.98.255", ADDRESS_PUBLIC},
    {"192.88.99.0", ADDRESS_RESERVED},
    {"192.88.99.255", ADDRESS_RESERVED},
    {"192.88.100.0", ADDRESS_PUBLIC},
    {"192.167.255.255", ADDRESS_PUBLIC},
    {"192.168.0.0", ADDRESS_PRIVATE},
    {"192.168.255.255", ADDRESS_PRIVATE},
    {"192.169.0.0", ADDRESS_PUBLIC},
    {"198.17.255.255", ADDRESS_PUBLIC},
    {"198.18.0.0", ADDRESS_RESERVED},
    {"198.19.255.255", ADDRESS_RESERVED},
    {"198.20.0.0", ADDRESS_PUBLIC},
    {"198.51.99.255", ADDRESS_PUBLIC},
    {"198.51.100.0", ADDRESS_RESERVED},
    {"198.51.100.255", ADDRESS_RESERVED},
    {"198.51.101.0", ADDRESS_PUBLIC},
    {"203.0.112.255", ADDRESS_PUBLIC},
    {"203.0.113.0", ADDRESS_RESERVED},
    {"203.0.113.255", ADDRESS_RESERVED},
    {"203.0.114.0", ADDRESS_PUBLIC},
    {"223.255.255.255", ADDRESS_PUBLIC},
    {"224.0.0.0", ADDRESS_MULTICAST},
    {"239.255.255.255", ADDRESS_MULTICAST},
    {"240.0.0.0", ADDRESS_RESERVED},
    {"255.255.255.255", ADDRESS_RESERVED},
    /* other ways to write IPv4 */
    {"127.1", ADDRESS_LOOPBACK},
    {"0x7f.0.0.1", ADDRESS_LOOPBACK},
    {"0x7f000001", ADDRESS_LOOPBACK},
    {"0177.0.0.1", ADDRESS_LOOPBACK},
    {"2130706433", ADDRESS_LOOPBACK},
    {"10.1", ADDRESS_PRIVATE},
    {"0", ADDRESS_UNSPECIFIED},
    /* IPv6 */
    {"::", ADDRESS_UNSPECIFIED},
    {"::1", ADDRESS_LOOPBACK},
    {"0:0:0:0:0:0:0:1", ADDRESS_LOOPBACK},
    {"::2", ADDRESS_THIS_NETWORK}, /* IPv4-compatible: 0.0.0.2 */
    {"::127.0.0.1", ADDRESS_LOOPBACK},
    {"::8.8.8.8", ADDRESS_RESERVED},
    {"::ffff:127.0.0.1", ADDRESS_LOOPBACK},
    {"::ffff:7f00:1", ADDRESS_LOOPBACK},
    {"::ffff:10.0.0.1", ADDRESS_PRIVATE},
    {"::ffff:169.254.169.254", ADDRESS_LINK_LOCAL},
    {"::ffff:0.0.0.0", ADDRESS_UNSPECIFIED},
    {"::ffff:8.8.8.8", ADDRESS_PUBLIC},
    {"::ffff:0:127.0.0.1", ADDRESS_LOOPBACK},
    {"::ffff:0:8.8.8.8", ADDRESS_PUBLIC},
    {"::1:0:0", ADDRESS_RESERVED},
    {"64:ff9b::127.0.0.1", ADDRESS_LOOPBACK},
    {"64:ff9b::10.0.0.1", ADDRESS_PRIVATE},
    {"64:ff9b::8.8.8.8", ADDRESS_PUBLIC},
    {"64:ff9b:0:1::8.8.8.8", ADDRESS_RESERVED},
    {"64:ff9b:1::", ADDRESS_PRIVATE},
    {"64:ff9b:1:ffff:ffff:ffff:ffff:ffff", ADDRESS_PRIVATE},
    {"64:ff9b:2::", ADDRESS_RESERVED},
    {"100::1", ADDRESS_RESERVED},
    {"1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ADDRESS_RESERVED},
    {"2000::", ADDRESS_PUBLIC},
    {"2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ADDRESS_PUBLIC},
    {"2001::", ADDRESS_RESERVED}, /* Teredo */
    {"2001:2::1", ADDRESS_RESERVED},
    {"2001:10::1", ADDRESS_RESERVED},
    {"2001:20::1", ADDRESS_RESERVED},
    {"2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", ADDRESS_RESERVED},
    {"2001:200::", ADDRESS_PUBLIC},
    {"2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", ADDRESS_PUBLIC},
    {"2001:db8::", ADDRESS_RESERVED},
    {"2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", ADDRESS_RESERVED},
    {"2001:db9::", ADDRESS_PUBLIC},
    {"2001:4860:4860::8888", ADDRESS_PUBLIC},
    {"2002:7f00:1::", ADDRESS_LOOPBACK},
    {"2002:7f00:1:ffff:ffff:ffff:ffff:ffff", ADDRESS_LOOPBACK},
    {"2002:a9fe:a9fe::1", ADDRESS_LINK_LOCAL},
    {"2002:a00:1::", ADDRESS_PRIVATE},
    {"2002:c0a8:1::1", ADDRESS_PRIVATE},
    {"2002:808:808::1", ADDRESS_PUBLIC},
    {"2003::", ADDRESS_PUBLIC},
    {"3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ADDRESS_PUBLIC},
    {"3fff::", ADDRESS_RESERVED},
    {"3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", ADDRESS_RESERVED},
    {"3fff:1000::", ADDRESS_PUBLIC},
    {"4000::", ADDRESS_RESERVED},
    {"5f00::1", ADDRESS_RESERVED},
    {"fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ADDRESS_RESERVED},
    {"fc00::", ADDRESS_PRIVATE},
    {"fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ADDRESS_PRIVATE},
    {"fe00::", ADDRESS_RESERVED},
    {"fe80::", ADDRESS_LINK_LOCAL},
    {"febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ADDRESS_LINK_LOCAL},
    {"fec0::", ADDRESS_PRIVATE},
    {"feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ADDRESS_PRIVATE},
    {"ff00::", ADDRESS_MULTICAST},
    {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ADDRESS_MULTICAST},
};

START_TEST(each_address_has_its_class_however_it_is_written)
{
    size_t count = sizeof rows / sizeof rows[0];
    for (size_t i = 0; i < count; i++) {
        Address address;
        ck_assert_msg(address_read(rows[i].text, 80, &address), "%s is an address", rows[i].text);
        ck_assert_msg(address_class(&address) == rows[i].class, "%s is %s, and should be %s",
                      rows[i].text, address_class_text(address_class(&address)),
                      address_class_text(rows[i].class));
    }
    printf("%zu addresses\n", count);
}
END_TEST

START_TEST(what_carries_an_ipv4_address_is_no_more_public_than_that_one)
{
    static const char *const forms[] = {"::ffff:%s", "::ffff:0:%s", "64:ff9b::%s", "::%s"};
    size_t count = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Address plain;
        struct in_addr v4;
        if (inet_pton(AF_INET, rows[i].text, &v4) != 1) {
            continue;
        }
        EXPECT(address_read(rows[i].text, 80, &plain), "not read: %s", rows[i].text);
        for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
            char text[ADDRESS_TEXT_MAX];
            Address carrying;
            Address inner;
            (void)snprintf(text, sizeof text, forms[f], rows[i].text);
            EXPECT(address_read(text, 80, &carrying), "not read: %s", text);
            ck_assert_msg(rows[i].class == ADDRESS_PUBLIC ||
                              address_class(&carrying) != ADDRESS_PUBLIC,
                          "%s is public", text);
            if (f == 0) {
                ck_assert_msg(address_equal(&plain, &carrying), "%s is another address", text);
            }
            if (address_inner(&carrying, &inner)) {
                ck_assert_msg(address_equal(&plain, &inner), "%s carries another address", text);
            }
            count++;
        }
    }
    ck_assert_uint_gt(count, 200);
}
END_TEST

START_TEST(names_and_what_is_nearly_an_address_are_not_addresses)
{
    static const char *const texts[] = {
        "",    "localhost", "1.2.3.4.5", "256.0.0.1",  "1.2.3.4 ",  "1.2.3.4 x",
        "a.b", "::g",       "1:2:3:4",   "[::1]",      "fe80::1%1", "::1 ",
        "0x",  ".1",        "1..2",      "4294967296",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        Address address;
        ck_assert_msg(!address_read(texts[i], 80, &address), "\"%s\" is an address", texts[i]);
    }
}
END_TEST

START_TEST(an_address_of_a_socket_is_the_same_as_its_text)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(8080)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(8080)};
    struct sockaddr other = {.sa_family = AF_UNIX};
    Address socket_address;
    Address address;
    char text[ADDRESS_TEXT_MAX];
    ck_assert_int_eq(inet_pton(AF_INET, "192.0.2.7", &v4.sin_addr), 1);
    ck_assert_int_eq(inet_pton(AF_INET6, "2001:db8::7", &v6.sin6_addr), 1);
    ck_assert(address_from_socket((struct sockaddr *)&v4, &socket_address));
    ck_assert(address_read("192.0.2.7", 8080, &address));
    ck_assert(address_equal(&address, &socket_address));
    address_text(&address, true, text);
    ck_assert_str_eq(text, "192.0.2.7");
    ck_assert(address_from_socket((struct sockaddr *)&v6, &socket_address));
    ck_assert(address_read("2001:db8::7", 8080, &address));
    ck_assert(address_equal(&address, &socket_address));
    address_text(&address, true, text);
    ck_assert_str_eq(text, "[2001:db8::7]");
    address.port = 8081;
    ck_assert(!address_equal(&address, &socket_address));
    ck_assert(!address_from_socket(&other, &address));
}
END_TEST

/* ---- The guard ------------------------------------------------------------------------------- */

static Guard *open_guard(const char *allow, const char *own)
{
    Guard *guard = NULL;
    EXPECT_RC(guard_open(&allow, allow != NULL, &own, own != NULL, &guard, NULL), SAP_OK);
    return guard;
}

static bool may_call(const Guard *guard, const char *host, const char *address, uint16_t port,
                     char *reason)
{
    Address list[1];
    size_t count = 1;
    EXPECT(address_read(address, port, &list[0]), "not an address: %s", address);
    return guard_check(guard, host, list, &count, reason);
}

START_TEST(only_public_addresses_may_be_called_without_permission)
{
    Guard *guard = open_guard(NULL, NULL);
    char reason[GUARD_REASON_MAX];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool may = may_call(guard, "example.com", rows[i].text, 80, reason);
        ck_assert_msg(may == (rows[i].class == ADDRESS_PUBLIC), "%s", rows[i].text);
    }
    ck_assert(!may_call(guard, "db.internal", "10.0.0.7", 5432, reason));
    ck_assert_str_eq(reason, "db.internal is 10.0.0.7, a private address: worlds may not call it "
                             "unless the node is started with --allow-http db.internal:5432");
    ck_assert(!may_call(guard, "::1", "::1", 80, reason));
    ck_assert_str_eq(reason,
                     "[::1] is [::1], a loopback address: worlds may not call it unless the "
                     "node is started with --allow-http [::1]:80");
    guard_close(guard);
}
END_TEST

START_TEST(what_is_allowed_by_name_or_by_address_may_be_called_at_that_port)
{
    char reason[GUARD_REASON_MAX];
    Guard *guard = open_guard("DB.internal.:5432", NULL);
    ck_assert(may_call(guard, "db.internal", "10.0.0.7", 5432, reason));
    ck_assert(!may_call(guard, "db.internal", "10.0.0.7", 5433, reason));
    ck_assert(!may_call(guard, "other.internal", "10.0.0.7", 5432, reason));
    guard_close(guard);
    guard = open_guard("127.1:8080", NULL);
    ck_assert(may_call(guard, "anything", "127.0.0.1", 8080, reason));
    ck_assert(may_call(guard, "anything", "::ffff:127.0.0.1", 8080, reason));
    ck_assert(!may_call(guard, "anything", "127.0.0.2", 8080, reason));
    ck_assert(!may_call(guard, "anything", "::1", 8080, reason));
    guard_close(guard);
    guard = open_guard("[::1]:8080", NULL);
    ck_assert(may_call(guard, "anything", "::1", 8080, reason));
    ck_assert(!may_call(guard, "anything", "127.0.0.1", 8080, reason));
    guard_close(guard);
}
END_TEST

START_TEST(of_several_addresses_only_those_that_may_be_called_are_kept)
{
    static const char *const texts[] = {"10.0.0.1", "93.184.216.34", "::1", "2606:2800:220::1"};
    Guard *guard = open_guard(NULL, NULL);
    Address list[4];
    size_t count = 4;
    char reason[GUARD_REASON_MAX];
    for (size_t i = 0; i < count; i++) {
        EXPECT(address_read(texts[i], 443, &list[i]), "not an address");
    }
    ck_assert(guard_check(guard, "example.com", list, &count, reason));
    ck_assert_uint_eq(count, 2);
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq(address_class(&list[i]), ADDRESS_PUBLIC);
    }
    guard_close(guard);
}
END_TEST

START_TEST(the_nodes_own_listeners_are_never_called)
{
    static const char *const loopbacks[] = {
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.0.0.2",
        "0.0.0.0",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:7f00:1",
        "::127.0.0.1",
        "64:ff9b::127.0.0.1",
        "2002:7f00:1::",
        "::ffff:0:127.0.0.1",
        "::ffff:0.0.0.0",
    };
    static const char *const owns[] = {"127.0.0.1:7227", "localhost:7227",
                                       "0.0.0.0:7227",   "[::]:7227",
                                       "[::1]:7227",     "[::ffff:127.0.0.1]:7227"};
    char reason[GUARD_REASON_MAX];
    for (size_t o = 0; o < sizeof owns / sizeof owns[0]; o++) {
        Guard *guard = open_guard("trick.example:7227", owns[o]);
        for (size_t i = 0; i < sizeof loopbacks / sizeof loopbacks[0]; i++) {
            ck_assert_msg(!may_call(guard, "trick.example", loopbacks[i], 7227, reason),
                          "%s reaches %s", loopbacks[i], owns[o]);
            ck_assert_msg(strstr(reason, "this node itself listens") != NULL, "%s", reason);
        }
        guard_close(guard);
    }
    Guard *guard = open_guard("127.0.0.1:8080", "127.0.0.1:7227");
    ck_assert(may_call(guard, "other", "127.0.0.1", 8080, reason));
    guard_close(guard);
}
END_TEST

START_TEST(a_name_with_one_address_of_the_node_itself_is_not_called_at_the_others)
{
    Guard *guard = open_guard("both.example:7227", "127.0.0.1:7227");
    Address list[2];
    size_t count = 2;
    char reason[GUARD_REASON_MAX];
    EXPECT(address_read("93.184.216.34", 7227, &list[0]), "not an address");
    EXPECT(address_read("127.0.0.1", 7227, &list[1]), "not an address");
    ck_assert(!guard_check(guard, "both.example", list, &count, reason));
    ck_assert_uint_eq(count, 0);
    guard_close(guard);
}
END_TEST

START_TEST(a_listener_on_all_addresses_is_not_called_at_any_address_of_this_machine)
{
    struct ifaddrs *interfaces = NULL;
    Guard *all = open_guard("trick.example:7227", "0.0.0.0:7227");
    Guard *one = open_guard("trick.example:7227", "10.99.98.97:7227");
    char reason[GUARD_REASON_MAX];
    int seen = 0;
    ck_assert_int_eq(getifaddrs(&interfaces), 0);
    for (const struct ifaddrs *at = interfaces; at != NULL; at = at->ifa_next) {
        Address address[1];
        size_t count = 1;
        if (at->ifa_addr == NULL || !address_from_socket(at->ifa_addr, &address[0])) {
            continue;
        }
        address[0].port = 7227;
        Address again = address[0];
        ck_assert(!guard_check(all, "trick.example", address, &count, reason));
        count = 1;
        ck_assert(guard_check(one, "trick.example", &again, &count, reason));
        seen++;
    }
    freeifaddrs(interfaces);
    ck_assert_int_gt(seen, 0);
    ck_assert(!may_call(one, "trick.example", "10.99.98.97", 7227, reason));
    guard_close(all);
    guard_close(one);
}
END_TEST

START_TEST(places_are_read_strictly)
{
    static const char *const bad[] = {
        "",        "host",        ":80",   "host:", "host:0",   "host:65536",     "host:80x",
        "host:-1", "::1:80",      "[::1]", "[]:80", "ho st:80", "http://host:80", "user@host:80",
        "*:80",    "host:000080",
    };
    char host[GUARD_HOST_MAX + 1];
    uint16_t port;
    Guard *guard = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *named = NULL;
        ck_assert_msg(!guard_read_place(bad[i], host, &port), "\"%s\" was read", bad[i]);
        ck_assert_int_eq(guard_open(&bad[i], 1, NULL, 0, &guard, &named), SAP_INVALID);
        ck_assert_ptr_eq(named, bad[i]);
        ck_assert_int_eq(guard_open(NULL, 0, &bad[i], 1, &guard, &named), SAP_INVALID);
    }
    ck_assert(guard_read_place("[::1]:65535", host, &port));
    ck_assert_str_eq(host, "::1");
    ck_assert_uint_eq(port, 65535);
    ck_assert(guard_read_place("api.example.com.:1", host, &port));
    ck_assert_str_eq(host, "api.example.com");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("node_outbound_address");
    TCase *test_case = tcase_create("addresses");
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, each_address_has_its_class_however_it_is_written);
    tcase_add_test(test_case, what_carries_an_ipv4_address_is_no_more_public_than_that_one);
    tcase_add_test(test_case, names_and_what_is_nearly_an_address_are_not_addresses);
    tcase_add_test(test_case, an_address_of_a_socket_is_the_same_as_its_text);
    suite_add_tcase(suite, test_case);
    test_case = tcase_create("guard");
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, only_public_addresses_may_be_called_without_permission);
    tcase_add_test(test_case, what_is_allowed_by_name_or_by_address_may_be_called_at_that_port);
    tcase_add_test(test_case, of_several_addresses_only_those_that_may_be_called_are_kept);
    tcase_add_test(test_case, the_nodes_own_listeners_are_never_called);
    tcase_add_test(test_case,
                   a_name_with_one_address_of_the_node_itself_is_not_called_at_the_others);
    tcase_add_test(test_case,
                   a_listener_on_all_addresses_is_not_called_at_any_address_of_this_machine);
    tcase_add_test(test_case, places_are_read_strictly);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
