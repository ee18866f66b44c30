/* bars.h - what Sapling must reach. */
#ifndef RUNNER_BARS_H
#define RUNNER_BARS_H

#include "report.h"

typedef struct RunJudgement {
    const char *workload; /* its name */
    char title[64];       /* for people */
    char must[64];
    double figure;
    const char *unit;
    int met;
} RunJudgement;

/* Bar number i: 1 with *out written; 0: what it needs was not measured; -1: there is none. */
int run_judge(const RunReport *report, size_t i, RunJudgement *out);

#endif
