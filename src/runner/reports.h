/* reports.h - what runners and queues report about messages: log events and replay events.
 *
 * A report follows the commit that it is about, and is made with no transaction and no lock held:
 * what is called may use the DB. */
#ifndef SAPLING_RUNNER_REPORTS_H
#define SAPLING_RUNNER_REPORTS_H

#include "runner/mailbox_v0.h"
#include "sapling/runner_v0.h"

#include <stdbool.h>

/* Who gets them; NULL: nobody. */
typedef struct Reports {
    sap_runner_v0_log_sink log;
    void *log_ctx;
    sap_runner_v0_replay_hook replay;
    void *replay_ctx;
} Reports;

static inline bool reports_wanted(const Reports *reports)
{
    return reports->log != NULL || reports->replay != NULL;
}

/* Logs the event. Its fields about a message are filled in from `claim`; NULL: no message is
 * meant. */
void reports_log(const Reports *reports, SapRunnerV0LogEvent event, const SapRunnerV0Claim *claim);
void reports_replay(const Reports *reports, SapRunnerV0ReplayKind kind,
                    const SapRunnerV0Claim *claim, int rc);

/* Reports what a claiming transaction ended on its way. */
void reports_met(const Reports *reports, const MailboxLog *log);

#endif
