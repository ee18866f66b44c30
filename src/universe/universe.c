/* universe.c - opening a universe, modules, sending to worlds and looking at them: see universe.h. */
#include <stdlib.h>
#include <string.h>

#include "common/assert.h"
#include "common/mem.h"
#include "common/options.h"
#include "store/store_impl.h"
#include "universe/payload.h"
#include "universe/universe_impl.h"

OPTIONS_LAYOUT(SapUniverseOptions, log_ctx, reserved);
OPTIONS_LAYOUT(SapIngress, reserved, reserved);

/* ---- Opening --------------------------------------------------------------------------------- */

static int open_on(SapStore *store, const Clock *clock, const Random *random,
                   const SapUniverseOptions *options, SapUniverse **universe_out)
{
    uint8_t nonce[UNIVERSE_NONCE];
    int rc = random_fill(random, nonce, sizeof nonce);
    SapUniverse *universe =
        rc == SAP_OK ? (SapUniverse *)mem_zalloc(MEM_UNIVERSE, sizeof *universe) : NULL;
    if (universe == NULL) {
        return rc == SAP_OK ? SAP_NOMEM : rc;
    }
    universe->store = store;
    universe->clock = clock;
    universe->random = random;
    universe->number = options->universe;
    universe->on_message = options->on_message;
    universe->message_ctx = options->message_ctx;
    universe->max_inbox = options->max_inbox == 0 ? DEPTH_LIMIT : options->max_inbox;
    universe->max_outstanding = OUTSTANDING_MOST;
    rc = producer_init(&universe->producer, nonce);
    if (rc != SAP_OK) {
        goto free_universe;
    }
    rc = combiner_init(&universe->combiner);
    if (rc != SAP_OK) {
        goto release_producer;
    }
    rc = look_cache_init(&universe->looks);
    if (rc != SAP_OK) {
        goto release_combiner;
    }
    rc = schema_cache_init(&universe->schemas);
    if (rc != SAP_OK) {
        goto release_looks;
    }
    rc = depth_init(&universe->depth);
    if (rc != SAP_OK) {
        goto release_schemas;
    }
    rc = meters_init(&universe->meters, options->on_log, options->log_ctx, clock);
    if (rc != SAP_OK) {
        goto release_depth;
    }
    if (!mutex_init(&universe->lock)) {
        rc = SAP_NOMEM;
        goto release_meters;
    }
    *universe_out = universe;
    return SAP_OK;

release_meters:
    meters_release(&universe->meters);
release_depth:
    depth_release(&universe->depth);
release_schemas:
    schema_cache_release(&universe->schemas);
release_looks:
    look_cache_release(&universe->looks);
release_combiner:
    combiner_release(&universe->combiner);
release_producer:
    producer_release(&universe->producer);
free_universe:
    mem_free(MEM_UNIVERSE, universe, sizeof *universe);
    return rc;
}

int universe_open_on(SapStore *store, const Clock *clock, const Random *random, uint32_t number,
                     SapUniverse **universe_out)
{
    SapUniverseOptions options = {.size = sizeof options, .universe = number};
    return open_on(store, clock, random, &options, universe_out);
}

static void set_store_options(SapStoreOptions *options, const SapUniverseOptions *given)
{
    *options = (SapStoreOptions){.size = sizeof *options, .schema = UNIVERSE_SCHEMA};
    options->tables = universe_tables(&options->table_count);
    if (given != NULL) {
        options->on_message = given->on_message;
        options->message_ctx = given->message_ctx;
    }
    options->renewal_ns = SESSION_RENEWAL_NS;
}

int sap_universe_init(const char *url)
{
    SapStoreOptions options;
    set_store_options(&options, NULL);
    return sap_store_init(url, &options);
}

int sap_universe_open(const char *url, const SapUniverseOptions *options,
                      SapUniverse **universe_out)
{
    SapUniverseOptions all = {.size = sizeof all};
    SapStoreOptions store_options;
    SapStore *store = NULL;
    if (universe_out == NULL || OPTIONS_READ(SapUniverseOptions, &all, options) != SAP_OK ||
        all.reserved != 0) {
        return SAP_ERROR;
    }
    set_store_options(&store_options, &all);
    int rc = sap_store_open(url, &store_options, &store);
    if (rc != SAP_OK) {
        return rc;
    }
    /* Only this process has the file open: whoever had a session in it is dead. */
    rc = strncmp(url, "sapling:", 8) == 0 ? session_void_all(store, all.universe) : SAP_OK;
    rc = rc == SAP_OK ? open_on(store, NULL, NULL, &all, universe_out) : rc;
    if (rc != SAP_OK) {
        (void)sap_store_close(store);
        return rc;
    }
    (*universe_out)->owns_store = true;
    return SAP_OK;
}

int sap_universe_close(SapUniverse *universe)
{
    if (universe == NULL) {
        return SAP_OK;
    }
    mutex_lock(&universe->lock);
    bool used = universe->workers > 0 || universe->calls > 0;
    mutex_unlock(&universe->lock);
    if (used) {
        return SAP_BUSY;
    }
    int rc = universe->owns_store ? sap_store_close(universe->store) : SAP_OK;
    if (rc == SAP_BUSY) {
        return rc;
    }
    mutex_destroy(&universe->lock);
    meters_release(&universe->meters);
    schema_cache_release(&universe->schemas);
    depth_release(&universe->depth);
    look_cache_release(&universe->looks);
    combiner_release(&universe->combiner);
    producer_release(&universe->producer);
    mem_free(MEM_UNIVERSE, universe, sizeof *universe);
    return rc;
}

SapStore *sap_universe_store(SapUniverse *universe)
{
    return universe == NULL ? NULL : universe->store;
}

void universe_asking(SapUniverse *universe, Session *session_out)
{
    *session_out = (Session){.store = universe->store,
                             .clock = universe->clock,
                             .universe = universe->number,
                             .ttl_ns = SESSION_TTL_NS,
                             .renewal_ns = SESSION_RENEWAL_NS,
                             .margin_ns = SESSION_MARGIN_NS};
}

void universe_enter(SapUniverse *universe)
{
    mutex_lock(&universe->lock);
    universe->calls++;
    mutex_unlock(&universe->lock);
}

void universe_leave(SapUniverse *universe)
{
    mutex_lock(&universe->lock);
    SAP_ASSERT(universe->calls > 0);
    universe->calls--;
    mutex_unlock(&universe->lock);
}

int sap_universe_metrics(SapUniverse *universe, char **text_out)
{
    Buf text = {0};
    if (universe == NULL || text_out == NULL) {
        return SAP_ERROR;
    }
    universe_enter(universe);
    int rc = metrics_format_prometheus(&universe->meters.registry, &text);
    universe_leave(universe);
    char *copy = rc == SAP_OK ? (char *)malloc(text.len + 1) : NULL;
    if (copy != NULL) {
        memcpy(copy, text.data, text.len);
        copy[text.len] = 0;
        *text_out = copy;
    }
    buf_release(&text);
    return rc == SAP_OK && copy == NULL ? SAP_NOMEM : rc;
}

void sap_universe_text_free(char *text)
{
    free(text);
}

/* ---- Sending --------------------------------------------------------------------------------- */

static CodecBytes lend_text(const char *text)
{
    return lend_bytes(text == NULL ? "" : text, text == NULL ? 0 : strlen(text));
}

static bool texts_valid(const SapIngress *item)
{
    return payload_text_valid(item->name, SAP_WORLD_MAX_NAME) &&
           payload_text_valid(item->id, SAP_WORLD_MAX_ID) &&
           payload_text_valid(item->correlation_id, SAP_WORLD_MAX_ID) &&
           payload_text_valid(item->trace_parent, SAP_WORLD_MAX_NAME) &&
           (!item->want_reply || (item->id != NULL && item->id[0] != 0));
}

/* Looks before a large payload is put for nothing; the transaction that enqueues decides. */
static int check_takes(SapUniverse *universe, const UniverseName *world)
{
    SapStoreTxn *txn = NULL;
    RowKey key;
    WitUniverseDbi21WorldMetaValue meta;
    row_key_world(&key, WIT_DBI_WORLD_META, universe->number, world);
    int rc = sap_store_begin(universe->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? meta_row_get(txn, &key, &meta) : rc;
    if (rc == SAP_OK) {
        wit_universe_dbi21_world_meta_value_free(&meta);
    }
    sap_store_abort(txn);
    return rc;
}

/* Whether the payload is what the module of the world declares. */
static int check_declared(SapUniverse *universe, const UniverseName *world, const SapIngress *item,
                          IngressItem *made)
{
    SchemaItem sent = {
        .name = slice_from_str(item->name == NULL ? "" : item->name),
        .creates = made->module != NULL,
        .encoding = item->encoding,
        .payload = {made->payload.data, made->payload.len},
    };
    return made->module != NULL ? schemas_check_module(universe, made->module, 0, &sent, made->why)
                                : schemas_check_world(universe, world, &sent, made->why);
}

/* world NULL: it is yet to be created. */
static int make_payload(SapUniverse *universe, const UniverseName *world, const SapIngress *item,
                        IngressItem *made, WitUniverseInboxItem *row)
{
    if (item->payload_len > SAP_WORLD_MAX_PAYLOAD) {
        return SAP_FULL;
    }
    int rc =
        payload_append_or_null(item->encoding, item->payload, item->payload_len, &made->payload);
    if (rc != SAP_OK) {
        return rc;
    }
    payload_hash(item->encoding, (Slice){made->payload.data, made->payload.len}, &made->hash);
    row->encoding = (WitUniverseEncoding)item->encoding;
    row->hash = lend_bytes(made->hash.bytes, sizeof made->hash.bytes);
    if (made->payload.len > SAP_WORLD_MAX_PAYLOAD) {
        return SAP_FULL; /* numbers may be longer in canonical form */
    }
    rc = made->declared ? check_declared(universe, world, item, made) : SAP_OK;
    if (rc != SAP_OK) {
        return rc;
    }
    if (made->payload.len <= UNIVERSE_INLINE_MAX) {
        row->payload = lend_bytes(made->payload.data, made->payload.len);
        return SAP_OK;
    }
    rc = world != NULL ? check_takes(universe, world) : SAP_OK;
    rc = rc == SAP_OK
             ? payload_put_blob(universe->store, (Slice){made->payload.data, made->payload.len},
                                &made->blob)
             : rc;
    row->blob = lend_bytes(made->blob.bytes, sizeof made->blob.bytes);
    return rc;
}

int ingress_item_make(SapUniverse *universe, const char *world, bool creates,
                      const SapIngress *item, IngressItem *made_out, IngressRequest *request_out)
{
    IngressRequest request = {.item_class = WIT_UNIVERSE_ITEM_CLASS_MESSAGE};
    int rc = universe_name_set(&request.world, world);
    if (rc != SAP_OK || !texts_valid(item)) {
        return SAP_INVALID;
    }
    request.item.kind = WIT_UNIVERSE_ITEM_KIND_MESSAGE;
    request.item.priority = item->priority;
    request.item.name = lend_text(item->name);
    request.item.id = lend_text(item->id);
    request.item.correlation_id = lend_text(item->correlation_id);
    request.item.trace_parent = lend_text(item->trace_parent);
    request.item.time_ns = sap_store_due_ns(universe->store);
    if (item->want_reply) {
        rc = buf_append_str(&made_out->reply_to, UNIVERSE_REPLY_OUTSIDE);
        rc = rc == SAP_OK ? buf_append_str(&made_out->reply_to, item->id) : rc;
        request.item.reply_to = lend_bytes(made_out->reply_to.data, made_out->reply_to.len);
    }
    rc = rc == SAP_OK ? make_payload(universe, creates ? NULL : &request.world, item, made_out,
                                     &request.item)
                      : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    producer_next(&universe->producer, universe->store, request.seq);
    producer_next(&universe->producer, universe->store, request.expiry_seq);
    request.expires_ns = sap_store_lease_ns(universe->store) + INGRESS_KEPT_NS;
    *request_out = request;
    return SAP_OK;
}

void ingress_item_release(IngressItem *made)
{
    buf_release(&made->payload);
    buf_release(&made->reply_to);
}

void universe_count_enqueue(SapUniverse *universe, int rc, const IngressRequest *request,
                            uint64_t took_ns)
{
    Meters *meters = &universe->meters;
    bool duplicate = rc == SAP_OK && request->duplicate;
    bool unknown = rc == SAP_IO && request->unknown;
    counter_add(meters->enqueued, rc == SAP_OK && !duplicate);
    counter_add(meters->duplicates, duplicate);
    counter_add(meters->enqueue_unknown, unknown);
    counter_add(meters->refused, rc != SAP_OK && !unknown);
    if (rc == SAP_OK) {
        histogram_record(meters->enqueue_ns, took_ns);
    }
}

int universe_check_depth(SapUniverse *universe, const IngressRequest *request)
{
    int rc = depth_check(&universe->depth, universe->store, universe->clock, universe->number,
                         &request->world, universe->max_inbox);
    bool known = false;
    if (rc == SAP_BUSY && request->item.id.len > 0) {
        rc = ingress_is_known(universe->store, universe->number, request, &known);
        rc = rc == SAP_OK && !known ? SAP_BUSY : rc;
    }
    counter_add(universe->meters.full, rc == SAP_BUSY);
    return rc;
}

int sap_enqueue_ingress(SapUniverse *universe, const char *world, const SapIngress *item,
                        SapIngressResult *result_out)
{
    SapIngress all = {.size = sizeof all};
    IngressItem made = {.declared = true};
    IngressRequest request = {.rc = SAP_OK};
    if (universe == NULL || item == NULL || OPTIONS_READ(SapIngress, &all, item) != SAP_OK) {
        return SAP_ERROR;
    }
    universe_enter(universe);
    uint64_t start_ns = clock_mono_ns(universe->clock);
    int rc = ingress_item_make(universe, world, false, &all, &made, &request);
    rc = rc == SAP_OK ? universe_check_depth(universe, &request) : rc;
    if (rc == SAP_OK) {
        combiner_run(&universe->combiner, universe->store, universe->number, &request);
        rc = request.rc;
        if (result_out != NULL && (rc == SAP_OK || rc == SAP_IO)) {
            result_out->duplicate = request.duplicate;
            result_out->outcome_unknown = request.unknown;
            memcpy(result_out->seq, request.first_seq, sizeof result_out->seq);
        }
    } else if (rc == SAP_INVALID && result_out != NULL) {
        memcpy(result_out->invalid, made.why, sizeof result_out->invalid);
    }
    ingress_item_release(&made);
    universe_count_enqueue(universe, rc, &request, clock_mono_ns(universe->clock) - start_ns);
    universe_leave(universe);
    return rc;
}

/* ---- Replies --------------------------------------------------------------------------------- */

int reply_make(const SapReply *fields, SapReply **reply_out)
{
    SapReply *reply = (SapReply *)malloc(sizeof *reply + fields->payload_len + 1);
    if (reply == NULL) {
        return SAP_NOMEM;
    }
    char *payload = (char *)(reply + 1);
    *reply = *fields;
    if (fields->payload_len > 0) {
        memcpy(payload, fields->payload, fields->payload_len);
    }
    payload[fields->payload_len] = 0;
    reply->payload = payload;
    *reply_out = reply;
    return SAP_OK;
}

int reply_read(SapStoreTxn *txn, uint32_t universe, const RowKey *key, SapReply **reply_out)
{
    Slice val = {0};
    WitUniverseDbi26ReplyValue row;
    (void)universe;
    int rc = universe_get(txn, key, &val);
    rc = rc == SAP_OK
             ? row_decode_code(wit_universe_dbi26_reply_value_decode(val.data, val.len, &row, NULL))
             : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    SapReply fields = {.encoding = (SapEncoding)row.encoding,
                       .failed = row.status != WIT_UNIVERSE_RECEIPT_STATUS_OK,
                       .height = row.height,
                       .payload = (const char *)row.payload.data,
                       .payload_len = row.payload.len};
    rc = reply_make(&fields, reply_out);
    wit_universe_dbi26_reply_value_free(&row);
    return rc;
}

int universe_wait_row(SapUniverse *universe, const RowKey *key, uint64_t timeout_ns, RowRead read,
                      SapReply **reply_out)
{
    uint64_t now_ns = clock_boot_ns(universe->clock);
    uint64_t end_ns = timeout_ns < UINT64_MAX - now_ns ? now_ns + timeout_ns : UINT64_MAX;
    SapStorePrefix prefix = {key->table, key->bytes, key->len};
    int rc = SAP_OK;
    for (;;) {
        SapStoreTxn *txn = NULL;
        rc = sap_store_begin(universe->store, SAP_STORE_READ_DURABLE, &txn);
        rc = rc == SAP_OK ? read(txn, universe->number, key, reply_out) : rc;
        uint64_t version = sap_store_version(txn);
        sap_store_abort(txn);
        now_ns = clock_boot_ns(universe->clock);
        /* In memory nothing happens while one waits. */
        if (rc != SAP_NOTFOUND || now_ns >= end_ns || !universe->store->ops->blocks) {
            return rc;
        }
        rc = sap_store_wait(universe->store, SAP_STORE_READ_DURABLE, &prefix, version,
                            end_ns - now_ns);
        if (rc != SAP_OK && rc != SAP_NOTFOUND) {
            return rc;
        }
    }
}

int sap_world_reply_wait(SapUniverse *universe, const char *world, const char *id,
                         uint64_t timeout_ns, SapReply **reply_out)
{
    UniverseName name;
    RowKey key;
    if (universe == NULL || reply_out == NULL) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&name, world);
    if (rc != SAP_OK || id == NULL || id[0] == 0 || !payload_text_valid(id, SAP_WORLD_MAX_ID)) {
        return SAP_INVALID;
    }
    row_key_id(&key, WIT_DBI_REPLY, universe->number, &name, slice_from_str(id));
    universe_enter(universe);
    rc = universe_wait_row(universe, &key, timeout_ns, reply_read, reply_out);
    universe_leave(universe);
    return rc;
}

void sap_reply_free(SapReply *reply)
{
    free(reply);
}

/* ---- Looking --------------------------------------------------------------------------------- */

static void copy_text(char *out, const CodecBytes *from)
{
    if (from->len > 0) {
        memcpy(out, from->data, from->len);
    }
    out[from->len] = 0;
}

int world_info_read(SapStoreTxn *txn, uint32_t universe, const UniverseName *world,
                    SapWorldInfo *info)
{
    RowKey key;
    WitUniverseDbi21WorldMetaValue meta;
    LeaseRow lease = {.epoch = 0};
    UniverseName assigned = {.len = 0};
    HeadRow head = {0};
    *info = (SapWorldInfo){.epoch = 0};
    row_key_world(&key, WIT_DBI_WORLD_META, universe, world);
    int rc = meta_row_get(txn, &key, &meta);
    if (rc != SAP_OK) {
        return rc;
    }
    info->status = (SapWorldStatus)meta.status;
    info->drained = meta.drained;
    info->pin = meta.pin;
    uint64_t born_height = meta.born_height;
    copy_text(info->module, &meta.module);
    copy_text(info->reason, &meta.reason);
    wit_universe_dbi21_world_meta_value_free(&meta);
    row_key_world(&key, WIT_DBI_LEASE, universe, world);
    rc = lease_row_get(txn, &key, &lease);
    row_key_world(&key, WIT_DBI_HEAD, universe, world);
    rc = rc == SAP_OK || rc == SAP_NOTFOUND ? head_row_get(txn, &key, &head) : rc;
    if (head.height ==
        born_height) { /* it has no step yet, perhaps one of the same name before it had */
        memset(head.state_sum, 0, sizeof head.state_sum);
    }
    if (rc == SAP_OK || rc == SAP_NOTFOUND) {
        rc = assignment_get(txn, universe, world, &assigned);
        memcpy(info->assigned, assigned.text, sizeof info->assigned);
    }
    memcpy(info->holder, lease.holder.text, sizeof info->holder);
    info->epoch = lease.epoch;
    info->height = head.height;
    memcpy(info->digest, head.digest, sizeof info->digest);
    memcpy(info->state_sum, head.state_sum, sizeof info->state_sum);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

int sap_world_info(SapUniverse *universe, const char *world, SapWorldInfo *info_out)
{
    UniverseName name;
    SapStoreTxn *txn = NULL;
    SapWorldInfo info;
    if (universe == NULL || info_out == NULL) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&name, world);
    universe_enter(universe);
    rc = rc == SAP_OK ? sap_store_begin(universe->store, SAP_STORE_READ_DURABLE, &txn) : rc;
    rc = rc == SAP_OK ? world_info_read(txn, universe->number, &name, &info) : rc;
    sap_store_abort(txn);
    universe_leave(universe);
    if (rc == SAP_OK) {
        *info_out = info;
    }
    return rc;
}
