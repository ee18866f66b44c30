/* letters.c - see letters.h. */
#include "universe/letters.h"

#include <stdlib.h>
#include <string.h>

#include "common/assert.h"
#include "common/bytes.h"
#include "store/blob.h"
#include "universe/fabric.h"
#include "universe/handler.h"
#include "universe/payload.h"

/* ---- Writing --------------------------------------------------------------------------------- */

int reply_write(WriteSet *writes, SapUniverse *universe, const OutsideReply *reply)
{
    uint64_t expires_ns = sap_store_lease_ns(universe->store) + INGRESS_KEPT_NS;
    WitUniverseDbi26ReplyValue fields = {reply->status, (WitUniverseEncoding)reply->encoding,
                                         lend_bytes(reply->payload.data, reply->payload.len),
                                         reply->height, expires_ns};
    WitUniverseDbi41ExpiryValue expiry;
    RowKey key;
    RowKey expiry_key;
    Buf val = {0};
    row_key_id(&key, WIT_DBI_REPLY, universe->number, reply->world, reply->id);
    row_key_expiry(&expiry_key, universe->number, expires_ns, reply->expiry_seq);
    expiry = (WitUniverseDbi41ExpiryValue){key.table, lend_bytes(key.bytes, key.len)};
    int rc = wit_universe_dbi26_reply_value_encode(&fields, &val, NULL);
    SAP_ASSERT(rc != SAP_INVALID);
    rc = rc == SAP_OK ? writes_add(writes, ROW_PUT_ABSENT, &key, (Slice){val.data, val.len}) : rc;
    buf_clear(&val);
    rc = rc == SAP_OK ? wit_universe_dbi41_expiry_value_encode(&expiry, &val, NULL) : rc;
    rc = rc == SAP_OK ? writes_add(writes, ROW_PUT, &expiry_key, (Slice){val.data, val.len}) : rc;
    buf_release(&val);
    return rc;
}

/* The intent of an answer that no handler has given: no other has its hash, since no seq is used twice. */
static void hash_refusal(const SapUniverse *universe, const Letter *letter, Digest *out)
{
    static const char what[] = "refusal";
    uint8_t number[4];
    DigestState state;
    store_u32be(number, universe->number);
    digest_init(&state);
    digest_update(&state, what, sizeof what);
    digest_update(&state, number, sizeof number);
    digest_update(&state, letter->seq, UNIVERSE_SEQ);
    digest_final(&state, out);
}

/* A world that has asked, and whose question is a dead letter, gets the receipt `error`. */
static int answer_asker(WriteSet *writes, SapUniverse *universe, const Letter *letter)
{
    const WitUniverseInboxItem *item = letter->item;
    FabricAsker asker;
    Digest hash;
    uint8_t seq[UNIVERSE_SEQ];
    if (item->kind != WIT_UNIVERSE_ITEM_KIND_MESSAGE ||
        !fabric_asker_read((Slice){item->reply_to.data, item->reply_to.len}, &asker)) {
        return SAP_OK;
    }
    hash_refusal(universe, letter, &hash);
    producer_next(&universe->producer, universe->store, seq);
    FabricReply reply = {
        .world = letter->world,
        .height = letter->height,
        .hash = hash.bytes,
        .seq = seq,
        .asker = &asker,
        .status = WIT_UNIVERSE_RECEIPT_STATUS_ERROR,
        .code = letter->code,
        .encoding = WIT_UNIVERSE_ENCODING_RAW,
        .payload = slice_from_str(letter->error),
        .correlation_id = item->correlation_id,
        .trace_parent = item->trace_parent,
    };
    return fabric_reply_publish(writes, universe->store, universe->number, &reply);
}

int letter_write(WriteSet *writes, SapUniverse *universe, const Letter *letter)
{
    const WitUniverseInboxItem *item = letter->item;
    WitUniverseDbi28WorldDlqValue fields = {
        .item = *item,
        .error = lend_bytes(letter->error, strlen(letter->error)),
        .attempts = letter->attempts,
        .at_ns = sap_store_due_ns(universe->store),
        .class = (WitUniverseItemClass)letter->item_class,
        .journaled = letter->journaled,
    };
    OutsideReply reply = {
        .world = letter->world,
        .id = handler_reply_id((Slice){item->reply_to.data, item->reply_to.len}),
        .status = WIT_UNIVERSE_RECEIPT_STATUS_ERROR,
        .encoding = SAP_ENCODING_RAW,
        .payload = slice_from_str(letter->error),
        .height = letter->height,
        .expiry_seq = letter->expiry_seq,
    };
    RowKey key;
    Buf val = {0};
    row_key_dlq(&key, universe->number, letter->world, letter->height, letter->seq);
    int rc = wit_universe_dbi28_world_dlq_value_encode(&fields, &val, NULL);
    SAP_ASSERT(rc != SAP_INVALID);
    rc = rc == SAP_OK ? writes_add(writes, ROW_PUT, &key, (Slice){val.data, val.len}) : rc;
    buf_release(&val);
    rc = rc == SAP_OK && reply.id.len > 0 ? reply_write(writes, universe, &reply) : rc;
    return rc == SAP_OK ? answer_asker(writes, universe, letter) : rc;
}

/* ---- Looking --------------------------------------------------------------------------------- */

typedef int (*LetterVisitor)(void *ctx, const SapDeadLetter *letter);

/* A copy of the bytes of a text, with a NUL: "" without memory would be a lie. */
static char *copy_text(const CodecBytes *from)
{
    char *text = (char *)malloc((size_t)from->len + 1);
    if (text != NULL) {
        memcpy(text, from->len > 0 ? (const char *)from->data : "", from->len);
        text[from->len] = 0;
    }
    return text;
}

int letter_show(const SapStoreRow *row, LetterVisitor visitor, void *ctx)
{
    WitUniverseDbi28WorldDlqKey key;
    WitUniverseDbi28WorldDlqValue val;
    int rc = row_decode_code(
        wit_universe_dbi28_world_dlq_key_decode(row->key, row->key_len, &key, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    rc = row_decode_code(
        wit_universe_dbi28_world_dlq_value_decode(row->val, row->val_len, &val, NULL));
    if (rc != SAP_OK) {
        wit_universe_dbi28_world_dlq_key_free(&key);
        return rc;
    }
    char *name = copy_text(&val.item.name);
    char *id = copy_text(&val.item.id);
    char *error = copy_text(&val.error);
    SapDeadLetter letter = {
        .height = key.height,
        .name = name,
        .id = id,
        .error = error,
        .attempts = val.attempts,
        .time_ns = val.at_ns,
        .encoding = (SapEncoding)val.item.encoding,
        .payload = val.item.payload.data,
        .payload_len = val.item.payload.len,
    };
    memcpy(letter.seq, key.seq.data, sizeof letter.seq);
    rc = name == NULL || id == NULL || error == NULL ? SAP_NOMEM : visitor(ctx, &letter);
    free(error);
    free(id);
    free(name);
    wit_universe_dbi28_world_dlq_value_free(&val);
    wit_universe_dbi28_world_dlq_key_free(&key);
    return rc;
}

/* Some rows of a range; *from moves behind the last one. *count_out 0: there are no more. */
static int show_some(SapUniverse *universe, RowKey *from, const RowKey *to, LetterVisitor visitor,
                     void *ctx, uint32_t *count_out)
{
    enum { ROWS_AT_ONCE = 32 };
    SapStoreTxn *txn = NULL;
    const SapStoreRow *rows = NULL;
    SapStoreRange range = {from->table, from->bytes, from->len, to->bytes, to->len};
    int rc = sap_store_begin(universe->store, SAP_STORE_READ_DURABLE, &txn);
    rc = rc == SAP_OK ? sap_store_scan(txn, &range, false, ROWS_AT_ONCE, &rows, count_out) : rc;
    for (uint32_t i = 0; rc == SAP_OK && i < *count_out; i++) {
        rc = letter_show(&rows[i], visitor, ctx);
    }
    if (rc == SAP_OK && *count_out > 0) {
        row_key_after(from, &rows[*count_out - 1]);
    }
    sap_store_abort(txn);
    return rc;
}

int sap_dead_letters(SapUniverse *universe, const char *world, LetterVisitor letter, void *ctx)
{
    UniverseName name;
    RowKey from;
    RowKey to;
    SapStoreRange range;
    uint32_t count = 1;
    if (universe == NULL || letter == NULL) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&name, world);
    if (rc != SAP_OK) {
        return rc;
    }
    row_key_world(&from, WIT_DBI_WORLD_DLQ, universe->number, &name);
    row_range(&from, &to, &range);
    universe_enter(universe);
    while (rc == SAP_OK && count > 0) {
        rc = show_some(universe, &from, &to, letter, ctx, &count);
    }
    universe_leave(universe);
    return rc;
}

/* ---- Replaying and dropping ------------------------------------------------------------------ */

typedef struct LetterEnd {
    SapUniverse *universe;
    UniverseName world;
    RowKey key;
    bool replay;
    const Digest *blob; /* of its payload, as read before; NULL: there is none */
    uint8_t old_seq[UNIVERSE_SEQ];
    uint8_t new_seq[UNIVERSE_SEQ];
} LetterEnd;

static int get_letter(SapStoreTxn *txn, const RowKey *key, WitUniverseDbi28WorldDlqValue *val_out)
{
    Slice val = {0};
    int rc = universe_get(txn, key, &val);
    return rc == SAP_OK ? row_decode_code(wit_universe_dbi28_world_dlq_value_decode(
                              val.data, val.len, val_out, NULL))
                        : rc;
}

/* Whoever waits was told that nobody will reply; now somebody may. */
static int forget_reply(const LetterEnd *end, UniverseTxn *txn, Slice id)
{
    RowKey key;
    if (id.len == 0) {
        return SAP_OK;
    }
    row_key_id(&key, WIT_DBI_REPLY, end->universe->number, &end->world, id);
    int rc = universe_del(txn, &key);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int put_again(const LetterEnd *end, UniverseTxn *txn,
                     const WitUniverseDbi28WorldDlqValue *val)
{
    uint32_t universe = end->universe->number;
    WitUniverseDbi24WorldInboxValue row = {val->item};
    RowKey key;
    Buf buf = {0};
    row.item.replayed = true;
    row.item.priority = 0;
    row_key_inbox(&key, universe, &end->world, (uint8_t)val->class, end->new_seq);
    int rc = wit_universe_dbi24_world_inbox_value_encode(&row, &buf, NULL);
    rc = rc == SAP_OK ? universe_put_if_absent(txn, &key, (Slice){buf.data, buf.len}) : rc;
    buf_release(&buf);
    if (rc == SAP_OK && end->blob != NULL) {
        rc = blob_ref_put(txn->txn, end->blob, (Slice){end->new_seq, UNIVERSE_SEQ});
    }
    row_key_ready(&key, universe, 0, end->new_seq, &end->world);
    rc = rc == SAP_OK ? universe_put(txn, &key, (Slice){"", 0}) : rc;
    Slice reply_to = {val->item.reply_to.data, val->item.reply_to.len};
    return rc == SAP_OK ? forget_reply(end, txn, handler_reply_id(reply_to)) : rc;
}

static int check_takes(const LetterEnd *end, SapStoreTxn *txn, const RowKey *meta_key)
{
    bool takes = true;
    int rc = end->replay ? world_takes(txn, meta_key, &takes) : SAP_OK;
    return rc == SAP_OK && !takes ? SAP_NOTFOUND : rc;
}

/* Of two that delete the row one finds it gone: deleting it decides. */
static int end_letter_body(SapStoreTxn *store_txn, void *ctx)
{
    const LetterEnd *end = (const LetterEnd *)ctx;
    UniverseTxn txn;
    UniverseGuard guards[2] = {{.exclusive = true}, {.exclusive = true}};
    WitUniverseDbi28WorldDlqValue val;
    row_key_world(&guards[0].key, WIT_DBI_LEASE, end->universe->number, &end->world);
    row_key_world(&guards[1].key, WIT_DBI_WORLD_META, end->universe->number, &end->world);
    int rc = universe_txn_start(&txn, store_txn, PARTY_OPERATOR, guards, 2, end->blob,
                                end->blob != NULL);
    rc = rc == SAP_OK ? check_takes(end, store_txn, &guards[1].key) : rc;
    rc = rc == SAP_OK ? get_letter(store_txn, &end->key, &val) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = universe_del(&txn, &end->key);
    rc = rc == SAP_OK && end->replay ? put_again(end, &txn, &val) : rc;
    if (rc == SAP_OK && end->blob != NULL && !val.journaled) {
        rc = blob_ref_del(store_txn, end->blob, (Slice){end->old_seq, UNIVERSE_SEQ});
        rc = rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    wit_universe_dbi28_world_dlq_value_free(&val);
    return rc;
}

/* Whether the letter's payload is a blob. */
static int read_blob(SapUniverse *universe, const RowKey *key, Digest *blob_out, bool *has_out)
{
    SapStoreTxn *txn = NULL;
    WitUniverseDbi28WorldDlqValue val;
    int rc = sap_store_begin(universe->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? get_letter(txn, key, &val) : rc;
    if (rc == SAP_OK) {
        *has_out = val.item.blob.len > 0;
        if (*has_out) {
            memcpy(blob_out->bytes, val.item.blob.data, sizeof blob_out->bytes);
        }
        wit_universe_dbi28_world_dlq_value_free(&val);
    }
    sap_store_abort(txn);
    return rc;
}

static int run_letter_end(LetterEnd *end)
{
    enum { TRIES = 4 };
    SapUniverse *universe = end->universe;
    Digest blob;
    bool has_blob = false;
    bool unknown = false;
    bool was_unknown = false;
    int rc = read_blob(universe, &end->key, &blob, &has_blob);
    if (rc != SAP_OK) {
        return rc;
    }
    end->blob = has_blob ? &blob : NULL;
    producer_next(&universe->producer, universe->store, end->new_seq);
    rc = SAP_IO;
    for (int i = 0; i < TRIES && rc == SAP_IO && (i == 0 || unknown); i++) {
        was_unknown = was_unknown || unknown;
        rc = sap_store_run(universe->store, SAP_STORE_GUARDED, end_letter_body, end, &unknown);
    }
    end->blob = NULL;
    /* The run of unknown outcome has done it, or somebody else meanwhile. */
    return rc == SAP_NOTFOUND && was_unknown ? SAP_OK : rc;
}

static int end_letter(SapUniverse *universe, const char *world, uint64_t height,
                      const uint8_t seq[UNIVERSE_SEQ], bool replay)
{
    LetterEnd end = {.universe = universe, .replay = replay};
    if (universe == NULL || seq == NULL) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&end.world, world);
    if (rc != SAP_OK) {
        return rc;
    }
    memcpy(end.old_seq, seq, sizeof end.old_seq);
    row_key_dlq(&end.key, universe->number, &end.world, height, seq);
    universe_enter(universe);
    rc = run_letter_end(&end);
    if (rc == SAP_OK) {
        counter_add(replay ? universe->meters.replayed : universe->meters.dropped, 1);
        LOG_EVENT(universe->meters.log, LOG_LEVEL_INFO,
                  replay ? "universe.letter_replayed" : "universe.letter_dropped",
                  LOG_STR("world", end.world.text), LOG_U64("height", height),
                  LOG_HEX("seq", seq, UNIVERSE_SEQ));
    }
    universe_leave(universe);
    return rc;
}

int sap_dead_letter_replay(SapUniverse *universe, const char *world, uint64_t height,
                           const uint8_t seq[32])
{
    return end_letter(universe, world, height, seq, true);
}

int sap_dead_letter_drop(SapUniverse *universe, const char *world, uint64_t height,
                         const uint8_t seq[32])
{
    return end_letter(universe, world, height, seq, false);
}
