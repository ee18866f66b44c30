/* reports.c - see reports.h. */
#include "runner/reports.h"

#include "runner/wire_v0.h"

/* The number by which people know the message: that of its timer, if it was one. */
static uint64_t known_seq(const SapRunnerV0Claim *claim)
{
    return claim->timer_seq != 0 ? claim->timer_seq : claim->seq;
}

void reports_log(const Reports *reports, SapRunnerV0LogEvent event, const SapRunnerV0Claim *claim)
{
    SapRunnerV0Message msg;

    if (reports->log == NULL) {
        return;
    }
    if (claim != NULL) {
        event.worker_id = (int64_t)claim->worker;
        event.seq = known_seq(claim);
        event.attempt_id = claim->token;
        if (sap_runner_wire_v0_decode_message(claim->frame, claim->frame_len, &msg) == SAP_OK) {
            event.message_id = msg.message_id;
            event.message_id_len = msg.message_id_len;
            event.trace_id = msg.trace_id;
            event.trace_id_len = msg.trace_id_len;
        }
    }
    reports->log(&event, reports->log_ctx);
}

void reports_replay(const Reports *reports, SapRunnerV0ReplayKind kind,
                    const SapRunnerV0Claim *claim, int rc)
{
    if (reports->replay != NULL) {
        SapRunnerV0ReplayEvent event = {.kind = kind,
                                        .worker_id = (int64_t)claim->worker,
                                        .seq = known_seq(claim),
                                        .rc = rc,
                                        .frame = claim->frame,
                                        .frame_len = claim->frame_len};
        reports->replay(&event, reports->replay_ctx);
    }
}

void reports_met(const Reports *reports, const MailboxLog *log)
{
    for (size_t i = 0; i < log->count; i++) {
        const MailboxMet *met = &log->met[i];
        if (met->kind == SAP_RUNNER_V0_LOG_DEAD_LETTERED) {
            reports_replay(reports, SAP_RUNNER_V0_REPLAY_DEAD_LETTER, &met->claim, met->rc);
        }
        SapRunnerV0LogEvent event = {.kind = met->kind, .rc = met->rc, .detail = met->detail};
        reports_log(reports, event, &met->claim);
    }
}
