/* expect.h - what a test helper does when a claim does not hold: it says why and aborts.
 *
 * The helpers serve unit tests, threads and fuzz targets alike, so they cannot use the check
 * library, which knows only the first. An abort is a failed test to all three. */
#ifndef SAPLING_TESTS_EXPECT_H
#define SAPLING_TESTS_EXPECT_H

/* Remembers what is being tried (seed, configuration) for the report of a failure. One text per
 * thread; cut at some 200 bytes. */
void expect_context(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the context, the place and the text to standard error, and aborts. */
_Noreturn void expect_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The format is required: a bare condition says too little about a random run. */
#define EXPECT(cond, ...) ((cond) ? (void)0 : expect_fail(__FILE__, __LINE__, __VA_ARGS__))

#define EXPECT_RC(rc, expected)                                                                 \
    do {                                                                                        \
        int expect_rc_got = (rc);                                                               \
        EXPECT(expect_rc_got == (expected), "%s answered %d instead of %s", #rc, expect_rc_got, \
               #expected);                                                                      \
    } while (0)

#endif
