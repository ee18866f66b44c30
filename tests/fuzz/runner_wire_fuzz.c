/* The decoders of the runner's frames: what decodes encodes to a frame that decodes to the same, and
 * the decoder that is generated of the schema accepts the same bytes. The length in the header is
 * also set to that of the input, since most mutations would fail there. */
#include "common/bytes.h"
#include "runner/wire_v0.h"
#include "support/expect.h"
#include "wit_runtime.h"

#include <stdbool.h>
#include <string.h>

enum { LONGEST_INPUT = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool schema_accepts(const void *data, size_t size)
{
    WitRuntimeMessage message;

    if (wit_runtime_message_decode(data, size, &message, NULL) != SAP_OK) {
        return false;
    }
    wit_runtime_message_free(&message);
    return true;
}

static bool schema_accepts_intent(const void *data, size_t size)
{
    WitRuntimeIntent intent;

    if (wit_runtime_intent_decode(data, size, &intent, NULL) != SAP_OK) {
        return false;
    }
    bool ok = schema_accepts(intent.message.data, intent.message.len);
    wit_runtime_intent_free(&intent);
    return ok;
}

static void try_message(const uint8_t *data, uint32_t size)
{
    static uint8_t again[LONGEST_INPUT];
    SapRunnerV0Message msg;
    uint32_t len = 0;
    bool ok = sap_runner_wire_v0_decode_message(data, size, &msg) == SAP_RUNNER_WIRE_OK;

    EXPECT(ok == schema_accepts(data, size), "decoder and schema do not agree on a message");
    if (!ok) {
        return;
    }
    EXPECT_RC(sap_runner_wire_v0_encode_message(&msg, again, sizeof again, &len), 0);
    EXPECT(len == size, "another length");
    /* Bytes of an absent sender come back as zeros. */
    bool has_from = (msg.flags & SAP_RUNNER_V0_HAS_FROM) != 0;
    EXPECT(memcmp(again, data, has_from ? size : 40) == 0, "other bytes before the sender");
    EXPECT(memcmp(again + 48, data + 48, size - 48) == 0, "other bytes behind the sender");
}

static void try_intent(const uint8_t *data, uint32_t size)
{
    static uint8_t again[LONGEST_INPUT];
    SapRunnerV0Intent intent;
    uint32_t len = 0;
    bool ok = sap_runner_wire_v0_decode_intent(data, size, &intent) == SAP_RUNNER_WIRE_OK;

    EXPECT(ok == schema_accepts_intent(data, size), "decoder and schema do not agree on an intent");
    if (!ok) {
        return;
    }
    EXPECT_RC(sap_runner_wire_v0_encode_intent(&intent, again, sizeof again, &len), 0);
    EXPECT(len == size && memcmp(again + 24, data + 24, size - 24) == 0, "another message");
}

static void try_both(const uint8_t *data, uint32_t size)
{
    try_message(data, size);
    try_intent(data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t copy[LONGEST_INPUT];

    if (size > LONGEST_INPUT) {
        return -1;
    }
    try_both(data, (uint32_t)size);
    if (size < WIRE_INTENT_HEADER) {
        return 0;
    }
    memcpy(copy, data, size);
    store_u32le(copy + 8, (uint32_t)size);
    try_both(copy, (uint32_t)size);
    return 0;
}
