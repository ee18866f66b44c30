/* handler.c - see handler.h. */
#include "universe/handler.h"

#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/bytes.h"
#include "common/mem.h"
#include "universe/payload.h"
#include "universe/universe_impl.h"

/* Where in world->bytes something is. */
typedef struct Piece {
    size_t at;
    size_t len;
} Piece;

typedef struct ChangeAt {
    Piece key;
    Piece val;
    bool put;
} ChangeAt;

typedef struct IntentAt {
    Piece ref;
    Piece params;
    SapEncoding encoding;
    uint8_t hash[UNIVERSE_DIGEST];
} IntentAt;

static const char reply_kind[] = "reply";

void handler_init(SapWorld *world, uint32_t universe, const UniverseName *name,
                  const WorldBirth *birth, WorldState *state)
{
    *world = (SapWorld){.universe = universe, .name = name, .birth = birth, .state = state};
}

void handler_release(SapWorld *world)
{
    buf_release(&world->bytes);
    buf_release(&world->changes);
    buf_release(&world->intents);
}

/* ---- What the handler calls ------------------------------------------------------------------ */

static int keep(SapWorld *world, Slice bytes, Piece *piece_out)
{
    *piece_out = (Piece){world->bytes.len, bytes.len};
    return buf_append(&world->bytes, bytes.data, bytes.len);
}

static Slice piece(const SapWorld *world, Piece at)
{
    return (Slice){world->bytes.data + at.at, at.len};
}

/* Whether so many bytes more are within the limit of an entry. */
static bool has_room(SapWorld *world, size_t len)
{
    enum { OVERHEAD = 64 };
    if (len > SAP_WORLD_MAX_ENTRY || world->weight + len + OVERHEAD > SAP_WORLD_MAX_ENTRY) {
        return false;
    }
    world->weight += len + OVERHEAD;
    return true;
}

/* What a call of the handler gets that must end: its world is another's by now, or it took too long. */
static bool is_cancelled(const SapWorld *world)
{
    return world->cancelled != NULL && atomic_load_relaxed(world->cancelled);
}

bool sap_world_cancelled(const SapWorld *world)
{
    return world != NULL && is_cancelled(world);
}

static bool key_valid(const void *key, size_t len)
{
    return key != NULL && len > 0 && len <= SAP_WORLD_MAX_KEY;
}

int sap_world_get(SapWorld *world, const void *key, size_t key_len, const void **val_out,
                  size_t *val_len_out, SapEncoding *encoding_out)
{
    Slice val = {0};
    if (world == NULL || val_out == NULL || val_len_out == NULL) {
        return SAP_ERROR;
    }
    if (is_cancelled(world)) {
        return SAP_FENCED;
    }
    if (!key_valid(key, key_len)) {
        return key_len > SAP_WORLD_MAX_KEY ? SAP_FULL : SAP_INVALID;
    }
    int rc = state_get(world->state, (Slice){key, key_len}, &val);
    if (rc == SAP_OK) {
        const uint8_t *bytes = (const uint8_t *)val.data;
        *val_out = bytes + 1;
        *val_len_out = val.len - 1;
        if (encoding_out != NULL) {
            *encoding_out = (SapEncoding)bytes[0];
        }
    }
    return rc;
}

/* Keeps a change before it is made: key and value may be rows of the state, borrowed from it, which the
 * change moves. *change_out is where the copies are. */
static int keep_change(SapWorld *world, Slice key, Slice val, bool put, ChangeAt *change_out)
{
    ChangeAt change = {.put = put};
    int rc = buf_reserve(&world->changes, sizeof change);
    rc = rc == SAP_OK ? keep(world, key, &change.key) : rc;
    rc = rc == SAP_OK ? keep(world, val, &change.val) : rc;
    rc = rc == SAP_OK ? buf_append(&world->changes, &change, sizeof change) : rc;
    *change_out = change;
    return rc;
}

/* The change that was kept last was not made. */
static void forget_change(SapWorld *world)
{
    buf_truncate(&world->changes, world->changes.len - sizeof(ChangeAt));
}

int sap_world_put(SapWorld *world, const void *key, size_t key_len, SapEncoding encoding,
                  const void *val, size_t val_len)
{
    Buf row = {0};
    ChangeAt change;
    if (world == NULL) {
        return SAP_ERROR;
    }
    if (is_cancelled(world)) {
        return SAP_FENCED;
    }
    if (!key_valid(key, key_len) || val_len > SAP_WORLD_MAX_VALUE) {
        return key == NULL || key_len == 0 ? SAP_INVALID : SAP_FULL;
    }
    int rc = buf_append_u8(&row, (uint8_t)encoding);
    rc = rc == SAP_OK ? payload_append(encoding, val, val_len, &row) : rc;
    if (rc == SAP_OK &&
        (row.len - 1 > SAP_WORLD_MAX_VALUE || !has_room(world, key_len + row.len))) {
        rc = SAP_FULL;
    }
    rc = rc == SAP_OK
             ? keep_change(world, (Slice){key, key_len}, (Slice){row.data, row.len}, true, &change)
             : rc;
    buf_release(&row);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = state_put(world->state, piece(world, change.key), piece(world, change.val));
    if (rc != SAP_OK) {
        forget_change(world);
    }
    return rc;
}

int sap_world_del(SapWorld *world, const void *key, size_t key_len)
{
    ChangeAt change;
    if (world == NULL) {
        return SAP_ERROR;
    }
    if (is_cancelled(world)) {
        return SAP_FENCED;
    }
    if (!key_valid(key, key_len)) {
        return key_len > SAP_WORLD_MAX_KEY ? SAP_FULL : SAP_INVALID;
    }
    if (!has_room(world, key_len)) {
        return SAP_FULL;
    }
    int rc = keep_change(world, (Slice){key, key_len}, (Slice){"", 0}, false, &change);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = state_del(world->state, piece(world, change.key));
    if (rc != SAP_OK) {
        forget_change(world);
    }
    return rc;
}

typedef struct Scan {
    SapWorldRow row;
    void *ctx;
} Scan;

static int scan_row(void *ctx, Slice key, Slice val)
{
    const Scan *scan = (const Scan *)ctx;
    const uint8_t *bytes = (const uint8_t *)val.data;
    return scan->row(scan->ctx, key.data, key.len, (SapEncoding)bytes[0], bytes + 1, val.len - 1);
}

int sap_world_scan(SapWorld *world, const void *prefix, size_t prefix_len, SapWorldRow row,
                   void *ctx)
{
    Scan scan = {row, ctx};
    if (world == NULL || row == NULL || (prefix == NULL && prefix_len > 0)) {
        return SAP_ERROR;
    }
    return prefix_len > SAP_WORLD_MAX_KEY
               ? SAP_OK
               : state_scan(world->state, (Slice){prefix, prefix_len}, scan_row, &scan);
}

static void hash_piece(DigestState *state, const void *data, size_t len)
{
    uint8_t size[8];
    store_u64be(size, len);
    digest_update(state, size, sizeof size);
    digest_update(state, data, len);
}

/* SHA-256 over universe, world, height, index, kind, encoding and params, each with its length. */
static void hash_intent(const SapWorld *world, const char *kind, SapEncoding encoding, Slice params,
                        uint8_t hash_out[UNIVERSE_DIGEST])
{
    DigestState state;
    Digest digest;
    uint8_t number[8];
    uint8_t byte = (uint8_t)encoding;
    digest_init(&state);
    store_u32be(number, world->universe);
    hash_piece(&state, number, 4);
    hash_piece(&state, world->name->text, world->name->len);
    store_u64be(number, world->height);
    hash_piece(&state, number, 8);
    store_u64be(number, world->intents.len / sizeof(IntentAt));
    hash_piece(&state, number, 8);
    hash_piece(&state, kind, strlen(kind));
    hash_piece(&state, &byte, 1);
    hash_piece(&state, params.data, params.len);
    digest_final(&state, &digest);
    memcpy(hash_out, digest.bytes, UNIVERSE_DIGEST);
}

Slice handler_reply_id(Slice reply_to)
{
    size_t len = sizeof UNIVERSE_REPLY_OUTSIDE - 1;
    if (reply_to.len <= len || memcmp(reply_to.data, UNIVERSE_REPLY_OUTSIDE, len) != 0) {
        return (Slice){"", 0};
    }
    return (Slice){(const uint8_t *)reply_to.data + len, reply_to.len - len};
}

int sap_world_reply(SapWorld *world, const char *reply_to, SapEncoding encoding,
                    const void *payload, size_t len)
{
    IntentAt intent = {.encoding = encoding};
    Buf params = {0};
    if (world == NULL || reply_to == NULL) {
        return SAP_ERROR;
    }
    Slice id = handler_reply_id(slice_from_str(reply_to));
    if (id.len == 0 || id.len > SAP_WORLD_MAX_ID || !payload_text_valid(reply_to, SIZE_MAX)) {
        return SAP_INVALID;
    }
    if (world->intents.len / sizeof intent >= SAP_WORLD_MAX_INTENTS || len > SAP_WORLD_MAX_ENTRY) {
        return SAP_FULL;
    }
    int rc = payload_append(encoding, payload, len, &params);
    /* A reply is a row of the store. */
    if (rc == SAP_OK && (params.len > SAP_STORE_MAX_VALUE / 2 || !has_room(world, params.len))) {
        rc = SAP_FULL;
    }
    if (rc == SAP_OK) {
        hash_intent(world, reply_kind, encoding, (Slice){params.data, params.len}, intent.hash);
        rc = keep(world, slice_from_str(reply_to), &intent.ref);
        rc = rc == SAP_OK ? keep(world, (Slice){params.data, params.len}, &intent.params) : rc;
        rc = rc == SAP_OK ? buf_append(&world->intents, &intent, sizeof intent) : rc;
    }
    buf_release(&params);
    return rc;
}

int sap_world_fail(SapWorld *world, bool retry, const char *message)
{
    if (world != NULL) {
        bool text = message != NULL && payload_text_valid(message, HANDLER_MESSAGE);
        world->failed = true;
        world->retry = retry;
        (void)snprintf(world->message, sizeof world->message, "%s",
                       text ? message
                            : "the handler failed, with a message that is no text or too long");
    }
    return SAP_ERROR;
}

const char *sap_world_name(const SapWorld *world)
{
    return world == NULL ? "" : world->name->text;
}

uint64_t sap_world_height(const SapWorld *world)
{
    return world == NULL ? 0 : world->height;
}

uint64_t sap_world_time_ns(const SapWorld *world)
{
    return world == NULL ? 0 : world->time_ns;
}

/* SHA-256 of the world's seed, the height and a count: the same bytes when the step runs again. */
void sap_world_random(SapWorld *world, void *out, size_t len)
{
    uint8_t *bytes = (uint8_t *)out;
    while (world != NULL && len > 0) {
        uint8_t number[16];
        DigestState state;
        Digest digest;
        size_t some = len < sizeof digest.bytes ? len : sizeof digest.bytes;
        store_u64be(number, world->height);
        store_u64be(number + 8, world->drawn++);
        digest_init(&state);
        digest_update(&state, world->birth->seed, sizeof world->birth->seed);
        digest_update(&state, number, sizeof number);
        digest_final(&state, &digest);
        memcpy(bytes, digest.bytes, some);
        bytes += some;
        len -= some;
    }
}

/* ---- The call -------------------------------------------------------------------------------- */

enum { EVENT_TEXTS = 5 };

/* Texts of the event with a NUL each, in one block. */
static int make_event(const InboxItem *item, SapEvent *event_out, Buf *texts)
{
    const WitUniverseInboxItem *from = &item->item;
    const CodecBytes *fields[EVENT_TEXTS] = {&from->name, &from->id, &from->correlation_id,
                                             &from->from_world, &from->reply_to};
    size_t at[EVENT_TEXTS];
    for (int i = 0; i < EVENT_TEXTS; i++) {
        at[i] = texts->len;
        int rc = buf_append(texts, fields[i]->data, fields[i]->len);
        rc = rc == SAP_OK ? buf_append_u8(texts, 0) : rc;
        if (rc != SAP_OK) {
            return rc;
        }
    }
    const char *base = (const char *)texts->data;
    bool in_blob = from->blob.len > 0;
    *event_out = (SapEvent){
        .kind = (SapEventKind)from->kind,
        .name = base + at[0],
        .id = base + at[1],
        .correlation_id = base + at[2],
        .from_world = base + at[3],
        .from_height = from->from_height,
        .reply_to = base + at[4],
        .encoding = (SapEncoding)from->encoding,
        .payload = in_blob ? item->blob.data : from->payload.data,
        .payload_len = in_blob ? item->blob.len : from->payload.len,
    };
    return SAP_OK;
}

static void clear_call(SapWorld *world, uint64_t height, uint64_t time_ns)
{
    buf_clear(&world->bytes);
    buf_clear(&world->changes);
    buf_clear(&world->intents);
    world->weight = 0;
    world->drawn = 0;
    world->failed = false;
    world->message[0] = 0;
    world->height = height;
    world->time_ns = time_ns;
}

void handler_refuse(SapWorld *world, uint64_t height, uint64_t time_ns, const char *message)
{
    clear_call(world, height, time_ns);
    (void)snprintf(world->message, sizeof world->message, "%s", message);
}

static HandlerOutcome judge(SapWorld *world, int rc)
{
    if (rc == SAP_OK && !world->failed) {
        return HANDLER_DONE;
    }
    if (world->failed) {
        return world->retry ? HANDLER_FAILED : HANDLER_REJECTED;
    }
    (void)snprintf(world->message, sizeof world->message, "the handler returned %d: %s", rc,
                   sap_strerror(rc));
    bool machine = rc == SAP_NOMEM || rc == SAP_IO || rc == SAP_BUSY || rc == SAP_FENCED;
    return machine ? HANDLER_WAITS : HANDLER_FAILED;
}

HandlerOutcome handler_call(SapWorld *world, SapWorldHandler handler, const InboxItem *item,
                            uint64_t height, uint64_t time_ns)
{
    SapEvent event;
    Buf texts = {0};
    clear_call(world, height, time_ns);
    int rc = make_event(item, &event, &texts);
    rc = rc == SAP_OK ? handler(world, &event) : rc;
    buf_release(&texts);
    return judge(world, rc);
}

/* ---- The entry ------------------------------------------------------------------------------- */

static void fill_changes(const SapWorld *world, WitUniverseChange *changes)
{
    for (size_t i = 0; i < world->changes.len / sizeof(ChangeAt); i++) {
        ChangeAt at;
        memcpy(&at, world->changes.data + i * sizeof at, sizeof at);
        Slice key = piece(world, at.key);
        Slice val = piece(world, at.val);
        changes[i].key = lend_bytes(key.data, key.len);
        changes[i].value.some = at.put;
        changes[i].value.value = lend_bytes(val.data, val.len);
    }
}

/* The hashes are read from `ats`, which the intents borrow. */
static void fill_intents(const SapWorld *world, const IntentAt *ats, size_t count,
                         WitUniverseIntent *intents)
{
    for (size_t i = 0; i < count; i++) {
        Slice ref = piece(world, ats[i].ref);
        Slice params = piece(world, ats[i].params);
        intents[i] = (WitUniverseIntent){
            lend_bytes(reply_kind, sizeof reply_kind - 1), lend_bytes(ref.data, ref.len),
            (WitUniverseEncoding)ats[i].encoding, lend_bytes(params.data, params.len),
            lend_bytes(ats[i].hash, UNIVERSE_DIGEST)};
    }
}

int handler_entry(const SapWorld *world, const InboxItem *item, bool rejected, Buf *content_out)
{
    uint8_t sum[UNIVERSE_SUM];
    size_t change_count = rejected ? 0 : world->changes.len / sizeof(ChangeAt);
    size_t intent_count = rejected ? 0 : world->intents.len / sizeof(IntentAt);
    size_t changes_size = change_count * sizeof(WitUniverseChange);
    size_t intents_size = intent_count * sizeof(WitUniverseIntent);
    WitUniverseChange *changes = (WitUniverseChange *)mem_zalloc(MEM_UNIVERSE, changes_size);
    WitUniverseIntent *intents = (WitUniverseIntent *)mem_zalloc(MEM_UNIVERSE, intents_size);
    IntentAt *ats =
        (IntentAt *)mem_copy(MEM_UNIVERSE, world->intents.data, intent_count * sizeof(IntentAt));
    int rc = changes == NULL || intents == NULL || ats == NULL ? SAP_NOMEM : SAP_OK;
    if (rc == SAP_OK) {
        WitUniverseEntry entry = {
            .kind = rejected ? WIT_UNIVERSE_ENTRY_KIND_REJECTED : WIT_UNIVERSE_ENTRY_KIND_ITEM,
            .time_ns = world->time_ns,
            .seq = lend_bytes(item->seq, UNIVERSE_SEQ),
            .item = {true, item->item},
            .error = lend_bytes(world->message, rejected ? strlen(world->message) : 0),
            .delta = {changes, (uint32_t)change_count},
            .intents = {intents, (uint32_t)intent_count},
            .state_sum = lend_bytes(sum, sizeof sum),
        };
        if (!rejected) {
            fill_changes(world, changes);
            fill_intents(world, ats, intent_count, intents);
        }
        state_sum(world->state, sum);
        rc = wit_universe_entry_encode(&entry, content_out, NULL);
        SAP_ASSERT(rc != SAP_INVALID);
    }
    mem_free(MEM_UNIVERSE, ats, intent_count * sizeof(IntentAt));
    mem_free(MEM_UNIVERSE, intents, intents_size);
    mem_free(MEM_UNIVERSE, changes, changes_size);
    return rc;
}

size_t handler_intent_count(const SapWorld *world)
{
    return world->intents.len / sizeof(IntentAt);
}

int handler_replies(const SapWorld *world, HandlerReply reply, void *ctx)
{
    int rc = SAP_OK;
    for (size_t i = 0; rc == SAP_OK && i < world->intents.len; i += sizeof(IntentAt)) {
        IntentAt at;
        memcpy(&at, world->intents.data + i, sizeof at);
        rc = reply(ctx, piece(world, at.ref), at.encoding, piece(world, at.params));
    }
    return rc;
}
