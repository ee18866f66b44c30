/* bars.h - what the universe must reach. */
#ifndef UNIVERSE_BENCH_BARS_H
#define UNIVERSE_BENCH_BARS_H

#include "universe/report.h"

typedef struct UniJudgement {
    const char *workload; /* its name */
    const char *title;
    char must[64];
    double figure;
    const char *unit;
    int met;
} UniJudgement;

/* Bar number i: 1 with *out written; 0: what it needs was not measured; -1: there is none. */
int uni_judge(const UniReport *report, size_t i, UniJudgement *out);

#endif
