/* replay.c - events of the replay hook as records of a log; see sapling/runner_v0.h.
 *
 * A record is what the schema's replay-event says. Its frame is its last field, so that the length
 * in front of it is that of the rest. */
#include "common/assert.h"
#include "common/buf.h"
#include "common/bytes.h"
#include "sapling/runner_v0.h"
#include "wit_runtime.h"

#include <string.h>

enum { MAGIC_SIZE = 4, KIND_AT = 4, LEN_AT = 33, HEADER_SIZE = 37 };
#define MAGIC "RPL0"

static bool kind_valid(int kind)
{
    return kind >= SAP_RUNNER_V0_REPLAY_INBOX_ATTEMPT && kind <= SAP_RUNNER_V0_REPLAY_DEAD_LETTER;
}

int sap_runner_v0_replay_encode(const SapRunnerV0ReplayEvent *event, int64_t time_ms, void *buf,
                                uint32_t cap, uint32_t *len_out)
{
    if (event == NULL || len_out == NULL || (buf == NULL && cap > 0) ||
        (event->frame == NULL && event->frame_len > 0)) {
        return SAP_ERROR;
    }
    if (!kind_valid((int)event->kind) || event->frame_len > SAP_RUNNER_V0_MAX_FRAME) {
        return SAP_INVALID;
    }
    *len_out = HEADER_SIZE + event->frame_len;
    if (cap < *len_out) {
        return SAP_FULL;
    }
    Buf out = buf_in(buf, cap);
    WitRuntimeReplayEvent row = {.kind = (WitRuntimeReplayKind)event->kind,
                                 .worker = event->worker_id,
                                 .seq = event->seq,
                                 .rc = event->rc,
                                 .time = time_ms,
                                 .frame = {(uint8_t *)(uintptr_t)event->frame, event->frame_len}};
    int rc = wit_runtime_replay_event_encode(&row, &out, NULL);
    SAP_ASSERT(rc == SAP_OK && out.data == buf && out.len == *len_out);
    return SAP_OK;
}

int sap_runner_v0_replay_decode(const void *bytes, uint64_t len, SapRunnerV0ReplayEvent *event_out,
                                int64_t *time_ms_out, uint32_t *len_out)
{
    const uint8_t *p = bytes;
    WitRuntimeReplayEvent row;

    if ((bytes == NULL && len > 0) || event_out == NULL || time_ms_out == NULL || len_out == NULL) {
        return SAP_ERROR;
    }
    if (len == 0) {
        return SAP_NOTFOUND;
    }
    /* Check the bytes that are there first: a wrong beginning is damage, not a record cut short. */
    if (memcmp(p, MAGIC, len < MAGIC_SIZE ? (size_t)len : MAGIC_SIZE) != 0 ||
        (len > KIND_AT && !kind_valid(p[KIND_AT]))) {
        return SAP_INVALID;
    }
    if (len < HEADER_SIZE) {
        return SAP_NOTFOUND;
    }
    uint32_t frame_len = load_u32le(p + LEN_AT);
    if (frame_len > SAP_RUNNER_V0_MAX_FRAME) {
        return SAP_INVALID;
    }
    if (len - HEADER_SIZE < frame_len) {
        return SAP_NOTFOUND;
    }
    int rc = wit_runtime_replay_event_decode(p, HEADER_SIZE + frame_len, &row, NULL);
    if (rc != SAP_OK) {
        return rc;
    }
    *event_out = (SapRunnerV0ReplayEvent){.kind = (SapRunnerV0ReplayKind)row.kind,
                                          .worker_id = row.worker,
                                          .seq = row.seq,
                                          .rc = row.rc,
                                          .frame = p + HEADER_SIZE,
                                          .frame_len = frame_len};
    *time_ms_out = row.time;
    *len_out = HEADER_SIZE + frame_len;
    wit_runtime_replay_event_free(&row);
    return SAP_OK;
}
