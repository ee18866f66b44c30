/* Members of the requests on queues: what is written is read again, and nothing else is. */
#include "common/random.h"
#include "node/wire_queue.h"
#include "support/expect.h"
#include "support/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NOISES = 20000, MEMBERS = 9 };

static const AccessPush push = {.id = {"id", 2},
                                .trace = {"trace", 5},
                                .dedupe = true,
                                .high_priority = true,
                                .delay_ms = INT64_C(1) << 40};
static const AccessClaim claim = {.lease_ms = 1, .wait_ms = 2, .max = 3, .attempts = 4};
static const AccessMessage message = {.seq = UINT64_MAX,
                                      .token = 7,
                                      .attempts = 4,
                                      .sent_ms = -5,
                                      .deadline_ms = INT64_MAX,
                                      .due_ms = -6,
                                      .leased = true,
                                      .id = {"\0id", 3},
                                      .trace = {"t", 1},
                                      .payload = {"payload", 7}};
static const AccessEnd end = {.op = ACCESS_TOUCH, .rc = -9, .ms = 30000, .attempts = 8};
static const AccessLease lease = {.seq = UINT64_MAX - 1, .token = 2};
static const SapQueueStat stat = {
    .ready = 1, .leased = 2, .delayed = 3, .dead_letters = 4, .oldest_ms = -5, .retrying = 6};
static const AccessLetter letter = {
    .queue = {"q", 1}, .worker = 8, .seq = 9, .rc = -10, .attempts = 11, .frame = {"LMSG", 4}};
static const AccessLetterEnd letter_end = {.worker = 1, .seq = 2, .rc = -3, .new_seq = 4};

static int put_member(uint32_t which, Buf *buf)
{
    switch (which) {
    case 0:
        return wire_put_name(buf, "name");
    case 1:
        return wire_put_push(buf, &push);
    case 2:
        return wire_put_claim(buf, &claim);
    case 3:
        return wire_put_message(buf, &message);
    case 4:
        return wire_put_end(buf, &end);
    case 5:
        return wire_put_lease(buf, &lease);
    case 6:
        return wire_put_queue_stat(buf, &stat);
    case 7:
        return wire_put_letter(buf, &letter);
    default:
        return wire_put_letter_end(buf, &letter_end);
    }
}

typedef union Member {
    WireName name;
    AccessPush push;
    AccessClaim claim;
    AccessMessage message;
    AccessEnd end;
    AccessLease lease;
    SapQueueStat stat;
    AccessLetter letter;
    AccessLetterEnd letter_end;
} Member;

static int get_member(uint32_t which, ByteReader *in, Member *m)
{
    switch (which) {
    case 0:
        return wire_get_name(in, &m->name);
    case 1:
        return wire_get_push(in, &m->push);
    case 2:
        return wire_get_claim(in, &m->claim);
    case 3:
        return wire_get_message(in, &m->message);
    case 4:
        return wire_get_end(in, &m->end);
    case 5:
        return wire_get_lease(in, &m->lease);
    case 6:
        return wire_get_queue_stat(in, &m->stat);
    case 7:
        return wire_get_letter(in, &m->letter);
    default:
        return wire_get_letter_end(in, &m->letter_end);
    }
}

/* Of a copy that ends where the bytes do, so that a sanitizer sees it. */
static int get_copy(uint32_t which, const uint8_t *bytes, size_t len, Member *m, size_t *left_out)
{
    uint8_t *copy = malloc(len == 0 ? 1 : len);
    ByteReader in;

    memcpy(copy, bytes, len);
    reader_init(&in, copy, len);
    int rc = get_member(which, &in, m);
    *left_out = in.left;
    free(copy);
    return rc;
}

static bool equal(Slice a, Slice b)
{
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

START_TEST(what_is_written_is_read_again)
{
    Buf buf = {0};
    ByteReader in;
    Member m[MEMBERS];

    for (uint32_t i = 0; i < MEMBERS; i++) {
        ck_assert_int_eq(put_member(i, &buf), SAP_OK);
    }
    reader_init(&in, buf.data, buf.len);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        ck_assert_int_eq(get_member(i, &in, &m[i]), SAP_OK);
    }
    ck_assert_uint_eq(in.left, 0);
    ck_assert_str_eq(m[0].name.text, "name");
    ck_assert(equal(m[1].push.id, push.id) && equal(m[1].push.trace, push.trace));
    ck_assert(m[1].push.dedupe && m[1].push.high_priority);
    ck_assert_int_eq(m[1].push.delay_ms, push.delay_ms);
    ck_assert(m[2].claim.lease_ms == 1 && m[2].claim.wait_ms == 2 && m[2].claim.max == 3 &&
              m[2].claim.attempts == 4);
    const AccessMessage *got = &m[3].message;
    ck_assert(got->seq == message.seq && got->token == 7 && got->attempts == 4 && got->leased);
    ck_assert(got->sent_ms == -5 && got->deadline_ms == INT64_MAX && got->due_ms == -6);
    ck_assert(equal(got->id, message.id) && equal(got->trace, message.trace) &&
              equal(got->payload, message.payload));
    ck_assert(m[4].end.op == ACCESS_TOUCH && m[4].end.rc == -9 && m[4].end.ms == 30000);
    ck_assert(m[5].lease.seq == lease.seq && m[5].lease.token == 2);
    ck_assert(m[6].stat.ready == 1 && m[6].stat.leased == 2 && m[6].stat.delayed == 3 &&
              m[6].stat.dead_letters == 4 && m[6].stat.oldest_ms == -5 && m[6].stat.retrying == 6);
    ck_assert(equal(m[7].letter.queue, letter.queue) && equal(m[7].letter.frame, letter.frame));
    ck_assert(m[7].letter.worker == 8 && m[7].letter.seq == 9 && m[7].letter.rc == -10 &&
              m[7].letter.attempts == 11);
    ck_assert(m[8].letter_end.worker == 1 && m[8].letter_end.seq == 2 && m[8].letter_end.rc == -3 &&
              m[8].letter_end.new_seq == 4);
    buf_release(&buf);
}
END_TEST

START_TEST(what_is_missing_stays_missing)
{
    Buf buf = {0};
    ByteReader in;
    AccessPush bare = {0};
    AccessPush again = push;

    ck_assert_int_eq(wire_put_push(&buf, &bare), SAP_OK);
    reader_init(&in, buf.data, buf.len);
    ck_assert_int_eq(wire_get_push(&in, &again), SAP_OK);
    ck_assert_ptr_null(again.id.data);
    ck_assert_ptr_null(again.trace.data);
    ck_assert(!again.dedupe && !again.high_priority && again.delay_ms == 0);
    buf_release(&buf);
}
END_TEST

START_TEST(no_part_of_a_member_is_one)
{
    uint32_t parts = 0;

    for (uint32_t i = 0; i < MEMBERS; i++) {
        Buf buf = {0};
        Member m;
        size_t left;
        ck_assert_int_eq(put_member(i, &buf), SAP_OK);
        for (size_t len = 0; len < buf.len; len++) {
            ck_assert_int_eq(get_copy(i, buf.data, len, &m, &left), SAP_INVALID);
            parts++;
        }
        ck_assert_int_eq(get_copy(i, buf.data, buf.len, &m, &left), SAP_OK);
        buf_release(&buf);
    }
    printf("node wire: %u parts of %d members\n", parts, MEMBERS);
}
END_TEST

static int get_bytes(uint32_t which, const char *bytes, size_t len)
{
    Member m;
    size_t left;

    return get_copy(which, (const uint8_t *)bytes, len, &m, &left);
}

START_TEST(values_that_no_member_has_are_refused)
{
    char long_name[4 + 256] = {0, 1, 0, 0};

    memset(long_name + 4, 'n', 256);
    ck_assert_int_eq(get_bytes(0, "\0\0\0\0", 4), SAP_INVALID);
    ck_assert_int_eq(get_bytes(0, "\3\0\0\0a\0b", 7), SAP_INVALID);
    ck_assert_int_eq(get_bytes(0, long_name, sizeof long_name), SAP_INVALID);
    ck_assert_int_eq(get_bytes(1, "\4\0\0\0\0\0\0\0\0\0\0", 11), SAP_INVALID);
    ck_assert_int_eq(get_bytes(1, "\0\0\0\0\0\0\0\0\x80\0\0", 11), SAP_INVALID);
    ck_assert_int_eq(get_bytes(1, "\0\0\0\0\0\0\0\0\0\2\0", 11), SAP_INVALID);
    ck_assert_int_eq(get_bytes(2, "\1\0\0\0\1\0\0\0\0\0\0\0", 12), SAP_INVALID);
    ck_assert_int_eq(get_bytes(2, "\1\0\0\0\1\0\0\0\1\4\0\0", 12), SAP_INVALID);
    ck_assert_int_eq(get_bytes(4, "\4\0\0\0\0\0\0\0\0\0\0\0\0", 13), SAP_INVALID);
    ck_assert_int_eq(get_bytes(4, "\0\0\0\0\0\0\0\0\0\0\0\0\x80", 13), SAP_INVALID);
}
END_TEST

START_TEST(noise_is_never_read_beyond_its_end)
{
    uint64_t seed = 20261116;
    Rng rng;
    uint32_t members = 0;

    rng_seed(&rng, seed);
    for (uint32_t i = 0; i < NOISES; i++) {
        uint32_t which = (uint32_t)rng_below(&rng, MEMBERS);
        Buf buf = {0};
        Member m;
        size_t left;
        EXPECT_RC(put_member(which, &buf), SAP_OK);
        for (uint32_t flips = (uint32_t)rng_below(&rng, 5); flips > 0; flips--) {
            buf.data[rng_below(&rng, buf.len)] = (uint8_t)rng_below(&rng, 256);
        }
        size_t len = (size_t)rng_below(&rng, buf.len + 1);
        int rc = get_copy(which, buf.data, len, &m, &left);
        EXPECT(rc == SAP_OK || rc == SAP_INVALID, "code %d, seed %" PRIu64, rc, seed);
        EXPECT(left <= len, "%zu of %zu left, seed %" PRIu64, left, len, seed);
        members += rc == SAP_OK;
        buf_release(&buf);
    }
    printf("node wire: %d noises, %u of them members, seed %" PRIu64 "\n", NOISES, members, seed);
    ck_assert_uint_gt(members, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("node/wire_queue");
    TCase *tcase = tcase_create("members");

    tcase_add_test(tcase, what_is_written_is_read_again);
    tcase_add_test(tcase, what_is_missing_stays_missing);
    tcase_add_test(tcase, no_part_of_a_member_is_one);
    tcase_add_test(tcase, values_that_no_member_has_are_refused);
    tcase_add_test(tcase, noise_is_never_read_beyond_its_end);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
