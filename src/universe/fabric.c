/* fabric.c - see fabric.h. */
#include "universe/fabric.h"

#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/bytes.h"
#include "common/mem.h"
#include "universe/births.h"
#include "universe/hex.h"
#include "universe/payload.h"

/* ---- Whom a reply goes to -------------------------------------------------------------------- */

static const char asker_prefix[] = "world:";

enum { ASKER_PREFIX = sizeof asker_prefix - 1, HASH_TEXT = 2 * UNIVERSE_DIGEST, LEN_TEXT = 3 };

int fabric_asker_write(const FabricAsker *asker, Buf *out)
{
    char hash[HASH_TEXT + 1];
    char head[ASKER_PREFIX + HASH_TEXT + LEN_TEXT + 3];
    hex_write(hash, asker->hash, sizeof asker->hash);
    (void)snprintf(head, sizeof head, "%s%s:%03u:", asker_prefix, hash, (unsigned)asker->world.len);
    int rc = buf_append_str(out, head);
    rc = rc == SAP_OK ? buf_append(out, asker->world.text, asker->world.len) : rc;
    rc = rc == SAP_OK ? buf_append_u8(out, ':') : rc;
    rc = rc == SAP_OK ? buf_append(out, asker->ref.data, asker->ref.len) : rc;
    SAP_ASSERT(rc != SAP_OK || out->len <= FABRIC_REPLY_TO_MAX);
    return rc;
}

/* Three digits. */
static bool read_len(const char *text, size_t *len_out)
{
    size_t len = 0;
    for (int i = 0; i < LEN_TEXT; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        len = len * 10 + (size_t)(text[i] - '0');
    }
    *len_out = len;
    return len > 0 && len <= UNIVERSE_NAME_MAX;
}

bool fabric_asker_read(Slice reply_to, FabricAsker *asker_out)
{
    enum { LEN_AT = ASKER_PREFIX + HASH_TEXT + 1, NAME_AT = LEN_AT + LEN_TEXT + 1 };
    const char *text = (const char *)reply_to.data;
    char name[UNIVERSE_NAME_MAX + 1];
    size_t len = 0;
    if (reply_to.len <= NAME_AT || memcmp(text, asker_prefix, ASKER_PREFIX) != 0 ||
        !hex_read(text + ASKER_PREFIX, asker_out->hash, UNIVERSE_DIGEST) ||
        text[LEN_AT - 1] != ':' || !read_len(text + LEN_AT, &len) || text[NAME_AT - 1] != ':' ||
        reply_to.len <= NAME_AT + len || text[NAME_AT + len] != ':') {
        return false;
    }
    memcpy(name, text + NAME_AT, len);
    name[len] = 0;
    asker_out->ref = (Slice){text + NAME_AT + len + 1, reply_to.len - NAME_AT - len - 1};
    return asker_out->ref.len <= UNIVERSE_NAME_MAX &&
           universe_name_set(&asker_out->world, name) == SAP_OK && asker_out->world.len == len;
}

/* ---- Replies --------------------------------------------------------------------------------- */

int fabric_reply_publish(WriteSet *writes, SapStore *store, uint32_t universe,
                         const FabricReply *reply)
{
    uint64_t now_ns = sap_store_lease_ns(store);
    WitUniverseRetry retry = {.attempts = EFFECT_MOST_ATTEMPTS};
    WitUniverseFabricSendParams params = {
        .dest_world = lend_name(&reply->asker->world),
        .mode = WIT_UNIVERSE_FABRIC_MODE_INBOX,
        .encoding = reply->encoding,
        .payload = lend_bytes(reply->payload.data, reply->payload.len),
        .answers = lend_bytes(reply->asker->hash, UNIVERSE_DIGEST),
        .ref = lend_bytes(reply->asker->ref.data, reply->asker->ref.len),
        .status = reply->status,
        .code = lend_bytes(reply->code, strlen(reply->code)),
    };
    Buf bytes = {0};
    Digest policy;
    effect_policy_hash(&retry, &policy);
    int rc = wit_universe_fabric_send_params_encode(&params, &bytes, NULL);
    SAP_ASSERT(rc != SAP_INVALID);
    WitUniverseEffect effect = {
        .world = lend_name(reply->world),
        .height = reply->height,
        .intent_hash = lend_bytes(reply->hash, UNIVERSE_DIGEST),
        .kind = lend_bytes(FABRIC_KIND, sizeof FABRIC_KIND - 1),
        .encoding = WIT_UNIVERSE_ENCODING_RAW,
        .params = lend_bytes(bytes.data, bytes.len),
        .policy_context_hash = lend_bytes(policy.bytes, sizeof policy.bytes),
        .enqueued_at_ns = now_ns,
        .retry = retry,
        .correlation_id = reply->correlation_id,
        .trace_parent = reply->trace_parent,
    };
    rc = rc == SAP_OK ? effects_publish(writes, universe, &effect, now_ns, reply->seq) : rc;
    buf_release(&bytes);
    return rc;
}

/* ---- What is to be delivered ----------------------------------------------------------------- */

static void hash_sized(DigestState *state, const CodecBytes *bytes)
{
    uint8_t size[8];
    store_u64be(size, bytes->len);
    digest_update(state, size, sizeof size);
    digest_update(state, bytes->data, bytes->len);
}

/* SHA-256 over from_world and the id that the handler chose, each with its length; or the intent's hash. */
static void set_message_id(FabricDelivery *delivery, const WitUniverseEffect *effect)
{
    DigestState state;
    Digest digest;
    if (delivery->params.message_id.len == 0) {
        memcpy(delivery->message_id, effect->intent_hash.data, sizeof delivery->message_id);
        return;
    }
    digest_init(&state);
    hash_sized(&state, &effect->world);
    hash_sized(&state, &delivery->params.message_id);
    digest_final(&state, &digest);
    memcpy(delivery->message_id, digest.bytes, sizeof delivery->message_id);
}

int fabric_delivery_make(const WitUniverseEffect *effect, SapStore *store, Producer *producer,
                         const Random *random, FabricDelivery **delivery_out)
{
    FabricDelivery *delivery = (FabricDelivery *)mem_zalloc(MEM_UNIVERSE, sizeof *delivery);
    if (delivery == NULL) {
        return SAP_NOMEM;
    }
    int rc = effect->encoding != WIT_UNIVERSE_ENCODING_RAW
                 ? SAP_INVALID
                 : wit_universe_fabric_send_params_decode(effect->params.data, effect->params.len,
                                                          &delivery->params, NULL);
    if (rc == SAP_OK) {
        universe_name_copy(&delivery->to, &delivery->params.dest_world);
        rc = random_fill(random, delivery->seed, sizeof delivery->seed);
    }
    if (rc != SAP_OK) {
        fabric_delivery_free(delivery);
        return rc == SAP_CORRUPT ? SAP_INVALID : rc;
    }
    set_message_id(delivery, effect);
    producer_next(producer, store, delivery->create_seq);
    producer_next(producer, store, delivery->seq);
    producer_next(producer, store, delivery->expiry_seq);
    *delivery_out = delivery;
    return SAP_OK;
}

void fabric_delivery_free(FabricDelivery *delivery)
{
    if (delivery == NULL) {
        return;
    }
    wit_universe_fabric_send_params_free(&delivery->params);
    buf_release(&delivery->receipt);
    mem_free(MEM_UNIVERSE, delivery, sizeof *delivery);
}

bool fabric_is_reply(const FabricDelivery *delivery)
{
    return delivery->params.answers.len > 0;
}

int fabric_effect_is_reply(const WitUniverseEffect *effect, bool *reply_out)
{
    WitUniverseFabricSendParams params;
    *reply_out = false;
    if (effect->kind.len != sizeof FABRIC_KIND - 1 ||
        memcmp(effect->kind.data, FABRIC_KIND, effect->kind.len) != 0) {
        return SAP_OK;
    }
    int rc = wit_universe_fabric_send_params_decode(effect->params.data, effect->params.len,
                                                    &params, NULL);
    if (rc == SAP_OK) {
        *reply_out = params.answers.len > 0;
        wit_universe_fabric_send_params_free(&params);
    }
    return rc == SAP_INVALID || rc == SAP_CORRUPT ? SAP_OK : rc;
}

uint32_t fabric_guards(uint32_t universe, const FabricDelivery *delivery,
                       UniverseGuard guards_out[FABRIC_GUARDS])
{
    row_key_world(&guards_out[0].key, WIT_DBI_WORLD_META, universe, &delivery->to);
    guards_out[0].exclusive = delivery->creates;
    if (!delivery->creates) {
        return 1; /* there may be no room for another */
    }
    row_key_world(&guards_out[1].key, WIT_DBI_LEASE, universe, &delivery->to);
    guards_out[1].exclusive = true;
    return FABRIC_GUARDS;
}

/* ---- The receipt ----------------------------------------------------------------------------- */

static int set_receipt(FabricDelivery *delivery, WitUniverseFabricStatus status,
                       const uint8_t seq[UNIVERSE_SEQ])
{
    WitUniverseFabricSendReceipt fields = {
        .status = status,
        .message_id = lend_bytes(delivery->message_id, sizeof delivery->message_id),
        .dest_world = lend_name(&delivery->to),
        .enqueued_seq = lend_bytes(seq, seq == NULL ? 0 : UNIVERSE_SEQ),
    };
    buf_clear(&delivery->receipt);
    int rc = wit_universe_fabric_send_receipt_encode(&fields, &delivery->receipt, NULL);
    SAP_ASSERT(rc != SAP_INVALID);
    return rc;
}

int fabric_receipt_of_error(FabricDelivery *delivery)
{
    return set_receipt(delivery, WIT_UNIVERSE_FABRIC_STATUS_ERROR, NULL);
}

static int refuse_message(FabricDelivery *delivery, FabricFate fate, const char *code)
{
    delivery->fate = fate;
    delivery->code = code;
    return fabric_receipt_of_error(delivery);
}

/* ---- Ids that the handler chose -------------------------------------------------------------- */

static void key_of_id(RowKey *key, uint32_t universe, const FabricDelivery *delivery)
{
    row_key_fabric(key, universe, &delivery->to, delivery->message_id);
}

/* SAP_NOTFOUND unless an earlier message has the id, whatever became of its destination since. */
static int find_earlier(SapStoreTxn *txn, const RowKey *key, FabricDelivery *delivery)
{
    Slice val = {0};
    WitUniverseDbi29FabricDedupeValue row;
    int rc = universe_get(txn, key, &val);
    rc = rc == SAP_OK ? row_decode_code(wit_universe_dbi29_fabric_dedupe_value_decode(
                            val.data, val.len, &row, NULL))
                      : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    delivery->fate = FABRIC_ALREADY;
    rc = set_receipt(delivery, WIT_UNIVERSE_FABRIC_STATUS_ALREADY_ENQUEUED, row.seq.data);
    wit_universe_dbi29_fabric_dedupe_value_free(&row);
    return rc;
}

/* SAP_EXISTS: another message has the id, which came between two reads. */
static int put_id(UniverseTxn *txn, SapStore *store, uint32_t universe, const RowKey *key,
                  const FabricDelivery *delivery)
{
    uint64_t expires_ns = sap_store_lease_ns(store) + INGRESS_KEPT_NS;
    WitUniverseDbi29FabricDedupeValue row = {lend_bytes(delivery->seq, UNIVERSE_SEQ), expires_ns};
    Buf val = {0};
    int rc = wit_universe_dbi29_fabric_dedupe_value_encode(&row, &val, NULL);
    rc = rc == SAP_OK ? universe_put_if_absent(txn, key, (Slice){val.data, val.len}) : rc;
    buf_release(&val);
    return rc == SAP_OK ? expiry_row_put(txn, universe, expires_ns, delivery->expiry_seq, key) : rc;
}

/* ---- Where it goes --------------------------------------------------------------------------- */

/* The destination as the transaction finds it. */
typedef enum Place {
    PLACE_TAKES,
    PLACE_NEW,
    PLACE_DONE,
    PLACE_DELETED,
    PLACE_DRAINS,
    PLACE_NONE
} Place;

static int find_place(SapStoreTxn *txn, const RowKey *meta_key, bool may_create, Place *place_out)
{
    WitUniverseDbi21WorldMetaValue meta;
    int rc = meta_row_get(txn, meta_key, &meta);
    if (rc != SAP_OK) {
        *place_out = may_create ? PLACE_NEW : PLACE_NONE;
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    if (meta.status == WIT_UNIVERSE_WORLD_STATUS_DELETED) {
        *place_out = !may_create ? PLACE_DELETED : meta.drained ? PLACE_NEW : PLACE_DRAINS;
    } else {
        *place_out = meta.status == WIT_UNIVERSE_WORLD_STATUS_DONE ? PLACE_DONE : PLACE_TAKES;
    }
    wit_universe_dbi21_world_meta_value_free(&meta);
    return SAP_OK;
}

/* ---- Items ----------------------------------------------------------------------------------- */

/* What all items of a message have. */
static void begin_request(IngressRequest *request, const WitUniverseEffect *effect,
                          const FabricDelivery *delivery, uint64_t now_ns)
{
    const WitUniverseFabricSendParams *params = &delivery->params;
    *request = (IngressRequest){.world = delivery->to};
    request->item.correlation_id =
        params->correlation_id.len > 0 ? params->correlation_id : effect->correlation_id;
    request->item.trace_parent = effect->trace_parent;
    request->item.from_world = effect->world;
    request->item.from_height = effect->height;
    request->item.time_ns = now_ns;
}

/* The timer of the question that the reply answers. SAP_NOTFOUND: it has fired, or is damaged. */
static int read_question(SapStoreTxn *txn, uint32_t universe, const FabricDelivery *delivery,
                         WitUniverseDbi37TimersDueValue *due_out)
{
    RowKey key;
    RowKey due;
    Slice val = {0};
    row_key_dedupe(&key, WIT_DBI_TIMERS_DEDUPE, universe, delivery->params.answers.data);
    int rc = timer_dedupe_get(txn, &key, &due);
    rc = rc == SAP_OK ? universe_get(txn, &due, &val) : rc;
    rc = rc == SAP_OK ? row_decode_code(wit_universe_dbi37_timers_due_value_decode(
                            val.data, val.len, due_out, NULL))
                      : rc;
    return rc == SAP_CORRUPT ? SAP_NOTFOUND : rc;
}

/* `question` has what the step that asked was about, as the other receipts of a question have; NULL: its time is
 * over, and the reply is of no use. */
static void fill_reply(IngressRequest *request, const FabricDelivery *delivery,
                       const WitUniverseDbi37TimersDueValue *question)
{
    const WitUniverseFabricSendParams *params = &delivery->params;
    if (question != NULL) {
        request->item.correlation_id = question->correlation_id;
        request->item.trace_parent = question->trace_parent;
    }
    request->item_class = WIT_UNIVERSE_ITEM_CLASS_RECEIPT;
    request->item.kind = WIT_UNIVERSE_ITEM_KIND_REPLY;
    request->item.name = lend_bytes(FABRIC_ASK, sizeof FABRIC_ASK - 1);
    request->item.hash = params->answers;
    request->item.ref = params->ref;
    request->item.status = params->status;
    request->item.code = params->code;
}

static int put_message(UniverseTxn *txn, SapStore *store, uint32_t universe,
                       const WitUniverseEffect *effect, const FabricDelivery *delivery)
{
    const WitUniverseFabricSendParams *params = &delivery->params;
    bool typed = params->mode == WIT_UNIVERSE_FABRIC_MODE_TYPED_EVENT;
    IngressRequest request;
    Digest hash;
    Buf reply_to = {0};
    WitUniverseDbi37TimersDueValue question = {0};
    int rc = SAP_OK;
    begin_request(&request, effect, delivery, sap_store_due_ns(store));
    memcpy(request.seq, delivery->seq, UNIVERSE_SEQ);
    request.item.encoding = params->encoding;
    request.item.payload = params->payload;
    request.item.headers = params->headers;
    if (fabric_is_reply(delivery)) {
        rc = read_question(txn->txn, universe, delivery, &question);
        fill_reply(&request, delivery, rc == SAP_OK ? &question : NULL);
        rc = rc == SAP_NOTFOUND ? SAP_OK : rc;
    } else {
        request.item_class = WIT_UNIVERSE_ITEM_CLASS_MESSAGE;
        request.item.kind = WIT_UNIVERSE_ITEM_KIND_MESSAGE;
        request.item.name = typed ? params->schema : params->inbox;
        payload_hash((SapEncoding)params->encoding,
                     (Slice){params->payload.data, params->payload.len}, &hash);
        request.item.hash = lend_bytes(hash.bytes, sizeof hash.bytes);
    }
    if (rc == SAP_OK && params->ask) {
        FabricAsker asker = {.ref = {effect->origin_name.data, effect->origin_name.len}};
        universe_name_copy(&asker.world, &effect->world);
        memcpy(asker.hash, effect->intent_hash.data, sizeof asker.hash);
        rc = fabric_asker_write(&asker, &reply_to);
        request.item.reply_to = lend_bytes(reply_to.data, reply_to.len);
    }
    rc = rc == SAP_OK ? ingress_put_rows(txn, universe, &request) : rc;
    wit_universe_dbi37_timers_due_value_free(&question);
    buf_release(&reply_to);
    return rc;
}

static int create_destination(UniverseTxn *txn, SapStore *store, uint32_t universe,
                              const WitUniverseEffect *effect, const FabricDelivery *delivery)
{
    static const char nothing[] = "null";
    IngressRequest first;
    Digest hash;
    begin_request(&first, effect, delivery, sap_store_due_ns(store));
    memcpy(first.seq, delivery->create_seq, UNIVERSE_SEQ);
    payload_hash(SAP_ENCODING_JSON, slice_from_str(nothing), &hash);
    first.item_class = WIT_UNIVERSE_ITEM_CLASS_CONTROL;
    first.item.kind = WIT_UNIVERSE_ITEM_KIND_CREATE;
    first.item.encoding = WIT_UNIVERSE_ENCODING_JSON;
    first.item.payload = lend_bytes(nothing, sizeof nothing - 1);
    first.item.hash = lend_bytes(hash.bytes, sizeof hash.bytes);
    WitUniverseDbi21WorldMetaValue meta = {
        .module = delivery->params.create,
        .seed = lend_bytes(delivery->seed, sizeof delivery->seed),
        .created_ns = first.item.time_ns,
    };
    return world_birth_put(txn, universe, &meta, &first);
}

/* ---- Delivery -------------------------------------------------------------------------------- */

/* The destination takes it; another message may have its id all the same. */
static int put_all(UniverseTxn *txn, SapStore *store, uint32_t universe,
                   const WitUniverseEffect *effect, FabricDelivery *delivery, bool create)
{
    RowKey key;
    int rc = SAP_OK;
    if (delivery->params.message_id.len > 0) {
        key_of_id(&key, universe, delivery);
        rc = put_id(txn, store, universe, &key, delivery);
        if (rc == SAP_EXISTS) {
            rc = find_earlier(txn->txn, &key, delivery);
            return rc == SAP_NOTFOUND ? SAP_CONFLICT : rc; /* it went between the two reads */
        }
    }
    rc = rc == SAP_OK && create ? create_destination(txn, store, universe, effect, delivery) : rc;
    rc = rc == SAP_OK ? put_message(txn, store, universe, effect, delivery) : rc;
    delivery->fate = FABRIC_DELIVERED;
    return rc == SAP_OK ? set_receipt(delivery, WIT_UNIVERSE_FABRIC_STATUS_OK, delivery->seq) : rc;
}

int fabric_deliver(UniverseTxn *txn, SapStore *store, uint32_t universe,
                   const WitUniverseEffect *effect, FabricDelivery *delivery)
{
    const WitUniverseFabricSendParams *params = &delivery->params;
    RowKey key;
    RowKey meta_key;
    Place place = PLACE_NONE;
    delivery->fate = FABRIC_OPEN;
    delivery->code = "";
    if (params->dest_universe.some && params->dest_universe.value != universe) {
        return refuse_message(delivery, FABRIC_REFUSED, "other_universe");
    }
    if (params->message_id.len > 0) {
        key_of_id(&key, universe, delivery);
        int rc = find_earlier(txn->txn, &key, delivery);
        if (rc != SAP_NOTFOUND) {
            return rc;
        }
    }
    row_key_world(&meta_key, WIT_DBI_WORLD_META, universe, &delivery->to);
    int rc = find_place(txn->txn, &meta_key, params->create.len > 0, &place);
    if (rc != SAP_OK) {
        return rc;
    }
    switch (place) {
    case PLACE_TAKES:
        return put_all(txn, store, universe, effect, delivery, false);
    case PLACE_NEW:
        if (!delivery->creates) {
            return SAP_OK; /* it is open: these are not the guards of a creation */
        }
        return put_all(txn, store, universe, effect, delivery, true);
    case PLACE_DRAINS:
        return refuse_message(delivery, FABRIC_LATER, "destination_drains");
    case PLACE_DONE:
        return refuse_message(delivery, FABRIC_REFUSED, "destination_done");
    case PLACE_DELETED:
        return refuse_message(delivery, FABRIC_REFUSED, "destination_deleted");
    case PLACE_NONE:
        break;
    }
    return refuse_message(delivery, FABRIC_REFUSED, "no_such_world");
}
