/* SHA-256 against the examples that NIST publishes with the standard (FIPS 180). */
#include "store/digest.h"
#include "support/expect.h"
#include "support/suite.h"

#include <stdint.h>
#include <string.h>

enum { MILLION = 1000000, TIMEOUT_S = 60 };

static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

static const struct {
    const char *text;
    const char *hex;
} golden[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {two_blocks, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
};

static void expect_hex(const Digest *digest, const char *hex)
{
    char got[DIGEST_HEX_SIZE];
    digest_hex(digest, got);
    EXPECT(strcmp(got, hex) == 0, "%s, not %s", got, hex);
}

START_TEST(digests_are_those_of_the_standard)
{
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        Digest digest;
        digest_bytes(golden[i].text, strlen(golden[i].text), &digest);
        expect_hex(&digest, golden[i].hex);
    }
    Digest none;
    digest_bytes(NULL, 0, &none);
    expect_hex(&none, golden[0].hex);
}
END_TEST

START_TEST(a_million_letters_in_pieces_of_any_length_have_the_digest_of_the_standard)
{
    static const size_t pieces[] = {1, 63, 64, 65, 4096, MILLION};
    static uint8_t letters[MILLION];
    memset(letters, 'a', sizeof letters);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        DigestState state;
        Digest digest;
        digest_init(&state);
        for (size_t at = 0; at < MILLION; at += pieces[i]) {
            size_t left = MILLION - at;
            digest_update(&state, letters + at, left < pieces[i] ? left : pieces[i]);
        }
        digest_final(&state, &digest);
        expect_hex(&digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}
END_TEST

START_TEST(a_digest_under_way_goes_on_after_it_was_looked_at)
{
    DigestState state;
    Digest digest;
    digest_init(&state);
    digest_update(&state, NULL, 0);
    digest_final(&state, &digest);
    expect_hex(&digest, golden[0].hex);
    digest_update(&state, "ab", 2);
    digest_final(&state, &digest);
    DigestState fork = state;
    digest_update(&state, "c", 1);
    digest_final(&state, &digest);
    expect_hex(&digest, golden[1].hex);
    Digest other;
    digest_update(&fork, "d", 1);
    digest_final(&fork, &other);
    EXPECT(!digest_equal(&digest, &other), "other bytes, another digest");
    digest_bytes("abd", 3, &digest);
    EXPECT(digest_equal(&digest, &other), "the same bytes, the same digest");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_digest");
    TCase *tcase = tcase_create("digest");
    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, digests_are_those_of_the_standard);
    tcase_add_test(tcase,
                   a_million_letters_in_pieces_of_any_length_have_the_digest_of_the_standard);
    tcase_add_test(tcase, a_digest_under_way_goes_on_after_it_was_looked_at);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
