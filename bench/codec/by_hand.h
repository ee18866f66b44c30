/* by_hand.h - codecs as one would write them: the yardstick of the generated ones. */
#ifndef BENCH_CODEC_BY_HAND_H
#define BENCH_CODEC_BY_HAND_H

#include "wit_codec_bench.h"

typedef WitCodecBenchCounters Counters;
typedef WitCodecBenchJob Job;

int counters_encode_by_hand(const Counters *v, Buf *buf);
int counters_decode_by_hand(const uint8_t *p, size_t len, Counters *v);

int job_encode_by_hand(const Job *v, Buf *buf);
/* Caller owns what it gives, release with job_free_by_hand. */
int job_decode_by_hand(const uint8_t *p, size_t len, Job *v_out);
void job_free_by_hand(Job *v);

#endif
