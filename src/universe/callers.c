/* callers.c - see callers.h. */
#include "universe/callers.h"

#include <string.h>

#include "common/assert.h"
#include "universe/payload.h"

/* What one send borrows while its transaction runs. */
typedef struct Making {
    IngressItem item;
    IngressRequest request;
    Digest whole;
} Making;

static void hash_text(DigestState *state, const CodecBytes *text)
{
    uint64_t len = text->len;
    digest_update(state, &len, sizeof len);
    digest_update(state, text->data, text->len);
}

static void hash_whole(Making *making)
{
    const WitUniverseInboxItem *item = &making->request.item;
    DigestState state;
    digest_init(&state);
    digest_update(&state, making->item.hash.bytes, DIGEST_SIZE);
    hash_text(&state, &item->name);
    hash_text(&state, &item->correlation_id);
    digest_update(&state, &item->priority, sizeof item->priority);
    digest_final(&state, &making->whole);
    making->request.id_hash = making->whole.bytes;
}

static void take_outcome(CallerSend *send, const IngressRequest *request)
{
    send->rc = request->rc;
    send->result =
        (SapIngressResult){.duplicate = request->duplicate, .outcome_unknown = request->unknown};
    memcpy(send->result.seq, request->first_seq, sizeof send->result.seq);
}

/* The same checks as of sap_enqueue_ingress(). */
static int make_request(SapUniverse *universe, CallerSend *send, Making *making)
{
    send->result = (SapIngressResult){0};
    making->item.declared = true;
    int rc = ingress_item_make(universe, send->world, false, &send->item, &making->item,
                               &making->request);
    if (rc == SAP_INVALID) {
        memcpy(send->result.invalid, making->item.why, sizeof send->result.invalid);
    }
    if (rc == SAP_OK && send->whole_id) {
        hash_whole(making);
    }
    return rc == SAP_OK ? universe_check_depth(universe, &making->request) : rc;
}

void callers_send(SapUniverse *universe, CallerSend *sends, uint32_t count)
{
    Making makings[CALLER_SENDS];
    IngressRequest *requests[CALLER_SENDS];
    uint32_t made = 0;
    SAP_ASSERT(count > 0 && count <= CALLER_SENDS);
    universe_enter(universe);
    uint64_t start_ns = clock_mono_ns(universe->clock);
    memset(makings, 0, count * sizeof makings[0]);
    for (uint32_t i = 0; i < count; i++) {
        CallerSend *send = &sends[i];
        Making *making = &makings[i];
        send->rc = make_request(universe, send, making);
        if (send->rc == SAP_OK) {
            requests[made++] = &making->request;
        }
    }
    if (made > 0) {
        ingress_run(universe->store, universe->number, requests, made);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (sends[i].rc == SAP_OK) {
            take_outcome(&sends[i], &makings[i].request);
        }
        ingress_item_release(&makings[i].item);
        universe_count_enqueue(universe, sends[i].rc, &makings[i].request,
                               clock_mono_ns(universe->clock) - start_ns);
    }
    universe_leave(universe);
}

int caller_wait_init(SapUniverse *universe, const char *world, const char *id,
                     const uint8_t seq[UNIVERSE_SEQ], CallerWait *wait_out)
{
    UniverseName name;
    int rc = universe_name_set(&name, world);
    if (rc != SAP_OK || !payload_text_valid(id, SAP_WORLD_MAX_ID) || id[0] == 0) {
        return SAP_INVALID;
    }
    row_key_id(&wait_out->reply, WIT_DBI_REPLY, universe->number, &name, slice_from_str(id));
    row_key_inbox(&wait_out->item, universe->number, &name, WIT_UNIVERSE_ITEM_CLASS_MESSAGE, seq);
    return SAP_OK;
}

int caller_wait_read(SapStoreTxn *txn, SapUniverse *universe, const CallerWait *wait,
                     SapReply **reply_out, bool *handled_out)
{
    Slice val = {0};
    *handled_out = false;
    int rc = reply_read(txn, universe->number, &wait->reply, reply_out);
    if (rc != SAP_NOTFOUND) {
        return rc;
    }
    rc = universe_get(txn, &wait->item, &val);
    *handled_out = rc == SAP_NOTFOUND;
    return rc == SAP_OK ? SAP_NOTFOUND : rc;
}

void callers_replies(SapUniverse *universe, RowKey *prefix_out)
{
    row_key_universe(prefix_out, WIT_DBI_REPLY, universe->number);
}

void callers_results(SapUniverse *universe, RowKey *prefix_out)
{
    row_key_universe(prefix_out, WIT_DBI_RESULTS, universe->number);
}
