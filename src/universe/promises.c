/* promises.c - see promises.h. */
#include "universe/promises.h"

#include <string.h>

#include "common/assert.h"
#include "common/options.h"
#include "universe/effect_rows.h"
#include "universe/handler.h"
#include "universe/hex.h"
#include "universe/journal.h"
#include "universe/payload.h"
#include "universe/universe_impl.h"

OPTIONS_LAYOUT(SapPromise, timeout_ns, timeout_ns);

_Static_assert(SAP_PROMISE_ID_SIZE == 2 * UNIVERSE_DIGEST + 1, "an id is two digits for each byte");

/* ---- Rows ------------------------------------------------------------------------------------ */

void promise_id(const uint8_t seed[WORLD_SEED], const uint8_t hash[UNIVERSE_DIGEST],
                uint8_t id_out[UNIVERSE_DIGEST])
{
    DigestState state;
    Digest digest;
    digest_init(&state);
    digest_update(&state, PROMISE_NAME, sizeof PROMISE_NAME);
    digest_update(&state, seed, WORLD_SEED);
    digest_update(&state, hash, UNIVERSE_DIGEST);
    digest_final(&state, &digest);
    memcpy(id_out, digest.bytes, UNIVERSE_DIGEST);
}

int promise_write(WriteSet *writes, uint32_t universe, const uint8_t id[UNIVERSE_DIGEST],
                  const WitUniverseDbi42PromisesValue *promise)
{
    RowKey key;
    Buf val = {0};
    row_key_promise(&key, universe, id);
    int rc = wit_universe_dbi42_promises_value_encode(promise, &val, NULL);
    SAP_ASSERT(rc != SAP_INVALID);
    rc = rc == SAP_OK ? writes_add(writes, ROW_PUT_NEW, &key, (Slice){val.data, val.len}) : rc;
    buf_release(&val);
    return rc;
}

int promise_row_get(SapStoreTxn *txn, const RowKey *key, WitUniverseDbi42PromisesValue *promise_out)
{
    Slice val = {0};
    int rc = universe_get(txn, key, &val);
    return rc == SAP_OK ? row_decode_code(wit_universe_dbi42_promises_value_decode(
                              val.data, val.len, promise_out, NULL))
                        : rc;
}

/* ---- Making one ------------------------------------------------------------------------------ */

int sap_world_promise(SapWorld *world, const SapPromise *promise, char id_out[SAP_PROMISE_ID_SIZE])
{
    SapPromise all = {.size = sizeof all};
    uint8_t id[UNIVERSE_DIGEST];
    if (world == NULL || promise == NULL || id_out == NULL ||
        OPTIONS_READ(SapPromise, &all, promise) != SAP_OK || all.reserved != 0) {
        return SAP_ERROR;
    }
    if (handler_is_cancelled(world)) {
        return SAP_FENCED;
    }
    if (all.ref == NULL || all.ref[0] == 0 || !intent_ref_valid(all.ref)) {
        return SAP_INVALID;
    }
    IntentView intent = {
        .type = INTENT_PROMISE,
        .kind = slice_from_str(PROMISE_NAME),
        .ref = slice_from_str(all.ref),
        .encoding = SAP_ENCODING_RAW,
        .params = {"", 0},
        .time_ns = all.timeout_ns,
    };
    int rc = intent_ask(world, &intent);
    if (rc == SAP_OK) {
        promise_id(world->birth->seed, intent.hash, id);
        hex_write(id_out, id, sizeof id);
    }
    return rc;
}

/* ---- Resolving ------------------------------------------------------------------------------- */

typedef struct Resolution {
    uint32_t universe;
    SapStore *store;
    RowKey key;
    UniverseName world; /* that waits, as it was read before */
    uint64_t height;    /* of that world then */
    WitUniverseReceiptStatus status;
    const char *code;
    SapEncoding encoding;
    Slice payload;
    uint8_t seq[UNIVERSE_SEQ];
} Resolution;

static int put_resolution(const Resolution *resolution, UniverseTxn *txn,
                          const WitUniverseDbi42PromisesValue *promise)
{
    IngressRequest request = {
        .world = resolution->world,
        .item_class = WIT_UNIVERSE_ITEM_CLASS_RECEIPT,
        .item =
            {
                .kind = WIT_UNIVERSE_ITEM_KIND_REPLY,
                .name = lend_bytes(PROMISE_NAME, sizeof PROMISE_NAME - 1),
                .hash = promise->intent_hash,
                .ref = promise->ref,
                .status = resolution->status,
                .code = lend_bytes(resolution->code, strlen(resolution->code)),
                .encoding = (WitUniverseEncoding)resolution->encoding,
                .payload = lend_bytes(resolution->payload.data, resolution->payload.len),
                .time_ns = sap_store_due_ns(resolution->store),
                .correlation_id = promise->correlation_id,
                .trace_parent = promise->trace_parent,
            },
    };
    memcpy(request.seq, resolution->seq, UNIVERSE_SEQ);
    return ingress_put_rows(txn, resolution->universe, &request);
}

/* Whoever deletes the row under its guard has resolved it. */
static int resolve_body(SapStoreTxn *store_txn, void *ctx)
{
    const Resolution *resolution = (const Resolution *)ctx;
    UniverseTxn txn;
    UniverseGuard guards[2];
    WitUniverseDbi42PromisesValue promise;
    bool takes = false;
    row_key_world(&guards[0].key, WIT_DBI_WORLD_META, resolution->universe, &resolution->world);
    guards[0].exclusive = false;
    guards[1] = (UniverseGuard){resolution->key, true};
    int rc = universe_txn_start(&txn, store_txn, PARTY_PRODUCER, guards, 2, NULL, 0);
    rc = rc == SAP_OK ? promise_row_get(store_txn, &resolution->key, &promise) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = world_takes(store_txn, &guards[0].key, &takes);
    rc = rc == SAP_OK && !takes ? SAP_NOTFOUND : rc; /* whoever empties the world deletes the row */
    rc = rc == SAP_OK ? put_resolution(resolution, &txn, &promise) : rc;
    rc = rc == SAP_OK ? universe_del(&txn, &resolution->key) : rc;
    wit_universe_dbi42_promises_value_free(&promise);
    return rc;
}

static int read_height(SapStoreTxn *txn, const Resolution *resolution, uint64_t *height_out)
{
    RowKey key;
    HeadRow head = {0};
    row_key_world(&key, WIT_DBI_HEAD, resolution->universe, &resolution->world);
    int rc = head_row_get(txn, &key, &head);
    *height_out = head.height;
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* Which world waits. */
static int find_promise(Resolution *resolution)
{
    SapStoreTxn *txn = NULL;
    WitUniverseDbi42PromisesValue promise;
    int rc = sap_store_begin(resolution->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? promise_row_get(txn, &resolution->key, &promise) : rc;
    if (rc == SAP_OK) {
        universe_name_copy(&resolution->world, &promise.world);
        wit_universe_dbi42_promises_value_free(&promise);
        rc = read_height(txn, resolution, &resolution->height);
    }
    sap_store_abort(txn);
    return rc;
}

/* An entry that has taken the item. */
typedef struct TakenItem {
    const uint8_t *seq;
    bool found;
} TakenItem;

static int see_taken(void *ctx, uint64_t height, uint64_t epoch, Slice content,
                     const WitUniverseEntry *entry)
{
    TakenItem *taken = (TakenItem *)ctx;
    (void)height;
    (void)epoch;
    (void)content;
    taken->found = taken->found || (entry->seq.len == UNIVERSE_SEQ &&
                                    memcmp(entry->seq.data, taken->seq, UNIVERSE_SEQ) == 0);
    return SAP_OK;
}

/* Whether a run of unknown outcome has put the item: it waits, or an entry since then has taken it. The row
 * of the promise is gone, so no run can put it any more. SAP_NOTFOUND: it was not put. */
static int find_item(const Resolution *resolution)
{
    SapStoreTxn *txn = NULL;
    RowKey key;
    Slice val = {0};
    uint64_t height = 0;
    TakenItem taken = {.seq = resolution->seq};
    row_key_inbox(&key, resolution->universe, &resolution->world, WIT_UNIVERSE_ITEM_CLASS_RECEIPT,
                  resolution->seq);
    int rc = sap_store_begin(resolution->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? universe_get(txn, &key, &val) : rc;
    bool gone = rc == SAP_NOTFOUND;
    rc = gone ? read_height(txn, resolution, &height) : rc;
    sap_store_abort(txn);
    if (gone && rc == SAP_OK && height > resolution->height) {
        rc = journal_read(resolution->store, resolution->universe, &resolution->world,
                          resolution->height + 1, height, see_taken, &taken);
    }
    return rc == SAP_OK && gone && !taken.found ? SAP_NOTFOUND : rc;
}

static int run_resolution(SapUniverse *universe, Resolution *resolution)
{
    enum { TRIES = 4 };
    bool unknown = true;
    bool was_unknown = false;
    int rc = find_promise(resolution);
    if (rc != SAP_OK) {
        return rc;
    }
    producer_next(&universe->producer, universe->store, resolution->seq);
    rc = SAP_IO;
    for (int i = 0; i < TRIES && rc == SAP_IO && unknown; i++) {
        was_unknown = i > 0;
        rc = sap_store_run(universe->store, SAP_STORE_GUARDED, resolve_body, resolution, &unknown);
    }
    /* The run of unknown outcome has done it, or its time was over meanwhile. */
    return rc == SAP_NOTFOUND && was_unknown ? find_item(resolution) : rc;
}

int sap_promise_resolve(SapUniverse *universe, const char *id, SapReceiptStatus status,
                        const char *code, SapEncoding encoding, const void *payload, size_t len)
{
    Resolution resolution = {.code = code == NULL ? "" : code, .encoding = encoding};
    uint8_t bytes[UNIVERSE_DIGEST];
    Buf canonical = {0};
    if (universe == NULL) {
        return SAP_ERROR;
    }
    if (id == NULL || strlen(id) != SAP_PROMISE_ID_SIZE - 1 || !hex_read(id, bytes, sizeof bytes) ||
        (status != SAP_RECEIPT_OK && status != SAP_RECEIPT_ERROR) ||
        !payload_text_valid(code, EFFECT_CODE_MAX)) {
        return SAP_INVALID;
    }
    if (len > UNIVERSE_INLINE_MAX) {
        return SAP_FULL;
    }
    universe_enter(universe);
    int rc = payload_append_or_null(encoding, payload, len, &canonical);
    rc = rc == SAP_OK && canonical.len > UNIVERSE_INLINE_MAX ? SAP_FULL : rc;
    if (rc == SAP_OK) {
        resolution.universe = universe->number;
        resolution.store = universe->store;
        resolution.status = (WitUniverseReceiptStatus)status;
        resolution.payload = (Slice){canonical.data, canonical.len};
        row_key_promise(&resolution.key, universe->number, bytes);
        rc = run_resolution(universe, &resolution);
        counter_add(universe->meters.promises, rc == SAP_OK);
    }
    universe_leave(universe);
    buf_release(&canonical);
    return rc;
}
