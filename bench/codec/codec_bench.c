/* codec_bench.c - generated codecs beside hand-written ones of the same bytes.
 *
 * What is measured is one encode into a buffer that is used again and one decode into an object of
 * its own, freed at the end. The hand-written side does what a careful programmer would: one
 * reserve, one check of each length, the same refinement, the same checks of text and cases. Both
 * run in turns in one process, the best of several rounds counts, and the bytes are compared before
 * anything is measured. Fails if a generated codec takes more than twice as long. */
#include "by_hand.h"

#include "common/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 400, LOOPS = 5000 };

static const double BAR = 2.0;

/* Keeps the compiler from proving that a value is not needed. */
static void use(const void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

static void check(int rc, const char *what)
{
    if (rc != SAP_OK) {
        fprintf(stderr, "%s answered %d\n", what, rc);
        exit(1);
    }
}

/* --- one turn of each ----------------------------------------------------------------------- */

static Counters counters;
static Job job;

static void counters_generated(Buf *buf)
{
    Counters v;

    use(&counters);
    check(wit_codec_bench_counters_encode(&counters, buf, NULL), "encode");
    check(wit_codec_bench_counters_decode(buf->data, buf->len, &v, NULL), "decode");
    use(&v);
    wit_codec_bench_counters_free(&v);
}

static void counters_by_hand(Buf *buf)
{
    Counters v;

    use(&counters);
    check(counters_encode_by_hand(&counters, buf), "encode");
    check(counters_decode_by_hand(buf->data, buf->len, &v), "decode");
    use(&v);
}

static void job_generated(Buf *buf)
{
    Job v;

    use(&job);
    check(wit_codec_bench_job_encode(&job, buf, NULL), "encode");
    check(wit_codec_bench_job_decode(buf->data, buf->len, &v, NULL), "decode");
    use(&v);
    wit_codec_bench_job_free(&v);
}

static void job_by_hand(Buf *buf)
{
    Job v;

    use(&job);
    check(job_encode_by_hand(&job, buf), "encode");
    check(job_decode_by_hand(buf->data, buf->len, &v), "decode");
    use(&v);
    job_free_by_hand(&v);
}

static double now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double measure(void (*turn)(Buf *buf), Buf *buf)
{
    double start = now_ns();

    for (int i = 0; i < LOOPS; i++) {
        buf_clear(buf);
        turn(buf);
    }
    return (now_ns() - start) / LOOPS;
}

/* Whether the generated codec is within the bar. */
static bool compare(const char *name, void (*generated)(Buf *buf), void (*by_hand)(Buf *buf))
{
    void (*const turns[2])(Buf *) = {generated, by_hand};
    double best[2] = {1e18, 1e18};
    Buf bufs[2] = {{0}, {0}};

    generated(&bufs[0]);
    by_hand(&bufs[1]);
    if (bytes_compare(bufs[0].data, bufs[0].len, bufs[1].data, bufs[1].len) != 0) {
        fprintf(stderr, "%s: the codecs write different bytes\n", name);
        exit(1);
    }
    size_t size = bufs[0].len;
    for (int round = 0; round < ROUNDS; round++) {
        for (int side = 0; side < 2; side++) {
            double took = measure(turns[side], &bufs[side]);
            best[side] = took < best[side] ? took : best[side];
        }
    }
    double ratio = best[0] / best[1];
    printf("%-10s %6zu %12.1f %12.1f %8.2f   %s\n", name, size, best[0], best[1], ratio,
           ratio <= BAR ? "within the bar" : "MISSES THE BAR");
    buf_release(&bufs[0]);
    buf_release(&bufs[1]);
    return ratio <= BAR;
}

int main(void)
{
    static const char name[] = "orders/2024/invoice-mail";
    uint8_t payload[100];

    for (size_t i = 0; i < sizeof payload; i++) {
        payload[i] = (uint8_t)(i * 7);
    }
    counters = (Counters){.id = 7,
                          .parent = 1,
                          .created = -5,
                          .changed = 1700000000000,
                          .owner = 42,
                          .attempts = 3,
                          .priority = 9,
                          .shard = 513,
                          .state = WIT_CODEC_BENCH_STATE_RUNNING,
                          .ratio = 0.75};
    job = (Job){.id = 7,
                .due = 1700000000000,
                .attempts = 2,
                .priority = 5,
                .urgent = true,
                .state = WIT_CODEC_BENCH_STATE_DONE,
                .ratio = 0.25,
                .parent = {true, 6}};
    check(codec_bytes_set(&job.name, name, sizeof name - 1), "name");
    check(codec_bytes_set(&job.payload, payload, sizeof payload), "payload");
    printf("encode and decode of ten fields, ns, best of %d rounds of %d; bar: %.0f times\n"
           "%-10s %6s %12s %12s %8s\n",
           ROUNDS, LOOPS, BAR, "record", "bytes", "generated", "by hand", "ratio");
    bool good = compare("counters", counters_generated, counters_by_hand);
    good = compare("job", job_generated, job_by_hand) && good;
    codec_bytes_free(&job.name);
    codec_bytes_free(&job.payload);
    return good ? 0 : 1;
}
