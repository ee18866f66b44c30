/* handler.c - see handler.h. */
#include "universe/handler.h"

#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/bytes.h"
#include "common/mem.h"
#include "universe/fabric.h"
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
    Piece kind;
    Piece ref;
    Piece params;
    IntentView view; /* without its slices */
} IntentAt;

static const char reply_kind[] = "reply";

/* The first byte of the key of a row of the handler's. */
enum { ROW_OWN = 1 };

typedef struct StateKey {
    uint8_t bytes[1 + SAP_WORLD_MAX_KEY];
} StateKey;

static Slice own_key(StateKey *room, const void *key, size_t len)
{
    SAP_ASSERT(len <= SAP_WORLD_MAX_KEY);
    room->bytes[0] = ROW_OWN;
    if (len > 0) {
        memcpy(room->bytes + 1, key, len);
    }
    return (Slice){room->bytes, len + 1};
}

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

bool handler_is_cancelled(const SapWorld *world)
{
    return is_cancelled(world);
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
    StateKey room;
    if (world == NULL || val_out == NULL || val_len_out == NULL) {
        return SAP_ERROR;
    }
    if (is_cancelled(world)) {
        return SAP_FENCED;
    }
    if (!key_valid(key, key_len)) {
        return key_len > SAP_WORLD_MAX_KEY ? SAP_FULL : SAP_INVALID;
    }
    int rc = state_get(world->state, own_key(&room, key, key_len), &val);
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

int handler_put_row(SapWorld *world, Slice key, Slice row)
{
    ChangeAt change;
    if (world->read_only) {
        return SAP_READONLY;
    }
    int rc =
        has_room(world, key.len + row.len) ? keep_change(world, key, row, true, &change) : SAP_FULL;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = state_put(world->state, piece(world, change.key), piece(world, change.val));
    if (rc != SAP_OK) {
        forget_change(world);
    }
    return rc;
}

int handler_del_row(SapWorld *world, Slice key)
{
    ChangeAt change;
    if (world->read_only) {
        return SAP_READONLY;
    }
    int rc = has_room(world, key.len) ? keep_change(world, key, (Slice){"", 0}, false, &change)
                                      : SAP_FULL;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = state_del(world->state, piece(world, change.key));
    if (rc != SAP_OK) {
        forget_change(world);
    }
    return rc;
}

int sap_world_put(SapWorld *world, const void *key, size_t key_len, SapEncoding encoding,
                  const void *val, size_t val_len)
{
    Buf row = {0};
    StateKey room;
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
    rc = rc == SAP_OK && row.len - 1 > SAP_WORLD_MAX_VALUE ? SAP_FULL : rc;
    rc = rc == SAP_OK
             ? handler_put_row(world, own_key(&room, key, key_len), (Slice){row.data, row.len})
             : rc;
    buf_release(&row);
    return rc;
}

int sap_world_del(SapWorld *world, const void *key, size_t key_len)
{
    StateKey room;
    if (world == NULL) {
        return SAP_ERROR;
    }
    if (is_cancelled(world)) {
        return SAP_FENCED;
    }
    if (!key_valid(key, key_len)) {
        return key_len > SAP_WORLD_MAX_KEY ? SAP_FULL : SAP_INVALID;
    }
    return handler_del_row(world, own_key(&room, key, key_len));
}

typedef struct Scan {
    SapWorldRow row;
    void *ctx;
} Scan;

static int scan_row(void *ctx, Slice key, Slice val)
{
    const Scan *scan = (const Scan *)ctx;
    const uint8_t *bytes = (const uint8_t *)val.data;
    return scan->row(scan->ctx, (const uint8_t *)key.data + 1, key.len - 1, (SapEncoding)bytes[0],
                     bytes + 1, val.len - 1);
}

int sap_world_scan(SapWorld *world, const void *prefix, size_t prefix_len, SapWorldRow row,
                   void *ctx)
{
    Scan scan = {row, ctx};
    StateKey room;
    if (world == NULL || row == NULL || (prefix == NULL && prefix_len > 0)) {
        return SAP_ERROR;
    }
    if (is_cancelled(world)) {
        return SAP_FENCED;
    }
    return prefix_len > SAP_WORLD_MAX_KEY
               ? SAP_OK
               : state_scan(world->state, own_key(&room, prefix, prefix_len), scan_row, &scan);
}

static void hash_piece(DigestState *state, const void *data, size_t len)
{
    uint8_t size[8];
    store_u64be(size, len);
    digest_update(state, size, sizeof size);
    digest_update(state, data, len);
}

/* SHA-256 over universe, world, height, index, kind, encoding and params, each with its length. */
static void hash_intent(const SapWorld *world, IntentView *intent)
{
    DigestState state;
    Digest digest;
    uint8_t number[8];
    uint8_t byte = (uint8_t)intent->encoding;
    digest_init(&state);
    store_u32be(number, world->universe);
    hash_piece(&state, number, 4);
    hash_piece(&state, world->name->text, world->name->len);
    store_u64be(number, world->height);
    hash_piece(&state, number, 8);
    store_u64be(number, world->intents.len / sizeof(IntentAt));
    hash_piece(&state, number, 8);
    hash_piece(&state, intent->kind.data, intent->kind.len);
    hash_piece(&state, &byte, 1);
    hash_piece(&state, intent->params.data, intent->params.len);
    digest_final(&state, &digest);
    memcpy(intent->hash, digest.bytes, UNIVERSE_DIGEST);
}

int handler_add_intent(SapWorld *world, IntentView *intent)
{
    IntentAt at = {.view = *intent};
    if (world->read_only && intent->type != INTENT_REPLY) {
        return SAP_READONLY;
    }
    if (world->intents.len / sizeof at >= SAP_WORLD_MAX_INTENTS ||
        !has_room(world, intent->kind.len + intent->ref.len + intent->params.len)) {
        return SAP_FULL;
    }
    if (intent->type != INTENT_CANCEL) {
        hash_intent(world, intent);
        memcpy(at.view.hash, intent->hash, sizeof at.view.hash);
    }
    int rc = buf_reserve(&world->intents, sizeof at);
    rc = rc == SAP_OK ? keep(world, intent->kind, &at.kind) : rc;
    rc = rc == SAP_OK ? keep(world, intent->ref, &at.ref) : rc;
    rc = rc == SAP_OK ? keep(world, intent->params, &at.params) : rc;
    return rc == SAP_OK ? buf_append(&world->intents, &at, sizeof at) : rc;
}

static IntentAt *intent_at(const SapWorld *world, size_t index)
{
    return (IntentAt *)(void *)world->intents.data + index;
}

bool handler_cancel_own(SapWorld *world, const uint8_t hash[UNIVERSE_DIGEST])
{
    for (size_t i = 0; i < handler_intent_count(world); i++) {
        IntentView *view = &intent_at(world, i)->view;
        if (view->type != INTENT_CANCEL && memcmp(view->hash, hash, sizeof view->hash) == 0) {
            view->cancelled = true;
            return true;
        }
    }
    return false;
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
    IntentView intent = {
        .type = INTENT_REPLY, .kind = slice_from_str(reply_kind), .encoding = encoding};
    Buf params = {0};
    if (world == NULL || reply_to == NULL) {
        return SAP_ERROR;
    }
    if (is_cancelled(world)) {
        return SAP_FENCED;
    }
    intent.ref = slice_from_str(reply_to);
    FabricAsker asker;
    Slice id = handler_reply_id(intent.ref);
    bool to_world = id.len == 0 && fabric_asker_read(intent.ref, &asker);
    if ((id.len == 0 && !to_world) || id.len > SAP_WORLD_MAX_ID ||
        !payload_text_valid(reply_to, SIZE_MAX)) {
        return SAP_INVALID;
    }
    if (to_world && (world->read_only || len > SAP_WORLD_MAX_VALUE)) {
        return world->read_only ? SAP_READONLY : SAP_FULL;
    }
    if (len > SAP_WORLD_MAX_ENTRY) {
        return SAP_FULL;
    }
    int rc = payload_append(encoding, payload, len, &params);
    /* A reply is a row of the store. */
    rc = rc == SAP_OK && params.len > SAP_STORE_MAX_VALUE / 2 ? SAP_FULL : rc;
    rc = rc == SAP_OK && to_world && params.len > SAP_WORLD_MAX_VALUE ? SAP_FULL : rc;
    intent.params = (Slice){params.data, params.len};
    rc = rc == SAP_OK ? handler_add_intent(world, &intent) : rc;
    buf_release(&params);
    return rc;
}

static void keep_message(SapWorld *world, const char *message)
{
    bool text = message != NULL && payload_text_valid(message, HANDLER_MESSAGE);
    (void)snprintf(world->message, sizeof world->message, "%s",
                   text ? message
                        : "the handler failed, with a message that is no text or too long");
}

int sap_world_fail(SapWorld *world, bool retry, const char *message)
{
    if (world != NULL) {
        world->failed = true;
        world->retry = retry;
        keep_message(world, message);
    }
    return SAP_ERROR;
}

int handler_wait(SapWorld *world, const char *message)
{
    world->waits = true;
    keep_message(world, message);
    return SAP_BUSY;
}

int handler_halt(SapWorld *world, const char *message)
{
    world->halted = true;
    keep_message(world, message);
    return SAP_ERROR;
}

uint32_t handler_attempt(const SapWorld *world)
{
    return world->attempt;
}

void *sap_world_module_ctx(const SapWorld *world)
{
    return world == NULL || world->module == NULL ? NULL : world->module->ctx;
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

enum { EVENT_TEXTS = 8 };

/* An event with what it borrows. */
typedef struct MadeEvent {
    SapEvent event;
    Buf texts;   /* each with a NUL, in one block */
    Buf headers; /* SapHeader */
} MadeEvent;

static int add_text(Buf *texts, const CodecBytes *text, size_t *at_out)
{
    *at_out = texts->len;
    int rc = buf_append(texts, text->data, text->len);
    return rc == SAP_OK ? buf_append_u8(texts, 0) : rc;
}

/* Where the texts of the headers are: name and value of each follow each other, from `at` on. */
static int list_headers(MadeEvent *made, uint32_t count, size_t at)
{
    int rc = SAP_OK;
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        SapHeader header = {.name = (const char *)made->texts.data + at};
        at += strlen(header.name) + 1;
        header.value = (const char *)made->texts.data + at;
        at += strlen(header.value) + 1;
        rc = buf_append(&made->headers, &header, sizeof header);
    }
    return rc;
}

/* What the item is to a handler. */
SapEventKind handler_event_kind(WitUniverseItemKind kind)
{
    bool receipt = kind == WIT_UNIVERSE_ITEM_KIND_REPLY || kind == WIT_UNIVERSE_ITEM_KIND_TIMEOUT;
    return receipt ? SAP_EVENT_RECEIPT : (SapEventKind)kind;
}

static int make_event(const InboxItem *item, MadeEvent *made)
{
    const WitUniverseInboxItem *from = &item->item;
    const CodecBytes *fields[EVENT_TEXTS] = {
        &from->name,     &from->id,  &from->correlation_id, &from->from_world,
        &from->reply_to, &from->ref, &from->code,           &from->trace_parent};
    size_t at[EVENT_TEXTS];
    size_t ignored = 0;
    int rc = SAP_OK;
    for (int i = 0; rc == SAP_OK && i < EVENT_TEXTS; i++) {
        rc = add_text(&made->texts, fields[i], &at[i]);
    }
    size_t headers_at = made->texts.len;
    for (uint32_t i = 0; rc == SAP_OK && i < from->headers.count; i++) {
        rc = add_text(&made->texts, &from->headers.items[i].name, &ignored);
        rc = rc == SAP_OK ? add_text(&made->texts, &from->headers.items[i].value, &ignored) : rc;
    }
    rc = rc == SAP_OK ? list_headers(made, from->headers.count, headers_at) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    const char *base = (const char *)made->texts.data;
    bool in_blob = from->blob.len > 0;
    made->event = (SapEvent){
        .kind = handler_event_kind(from->kind),
        .name = base + at[0],
        .id = base + at[1],
        .correlation_id = base + at[2],
        .from_world = base + at[3],
        .from_height = from->from_height,
        .reply_to = base + at[4],
        .ref = base + at[5],
        .status = (SapReceiptStatus)from->status,
        .code = base + at[6],
        .trace_parent = base + at[7],
        .headers = (const SapHeader *)(const void *)made->headers.data,
        .header_count = from->headers.count,
        .attempts = from->attempts.count,
        .encoding = (SapEncoding)from->encoding,
        .payload = in_blob ? item->blob.data : from->payload.data,
        .payload_len = in_blob ? item->blob.len : from->payload.len,
    };
    return SAP_OK;
}

void handler_forget(SapWorld *world)
{
    buf_clear(&world->bytes);
    buf_clear(&world->changes);
    buf_clear(&world->intents);
    world->done = false;
    world->cancels = 0;
    world->ended = (EndedIntent){.type = INTENT_REPLY};
    world->weight = 0;
    world->drawn = 0;
}

void handler_begin(SapWorld *world, uint64_t height, uint64_t time_ns)
{
    handler_forget(world);
    world->failed = false;
    world->waits = false;
    world->halted = false;
    world->attempt = 1;
    world->message[0] = 0;
    world->height = height;
    world->time_ns = time_ns;
}

void handler_refuse(SapWorld *world, const char *message)
{
    (void)snprintf(world->message, sizeof world->message, "%s", message);
}

static HandlerOutcome judge(SapWorld *world, int rc)
{
    if (world->halted || world->waits) {
        return world->halted ? HANDLER_HALTED : HANDLER_WAITS;
    }
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

HandlerOutcome handler_call(SapWorld *world, SapWorldHandler handler, const InboxItem *item)
{
    MadeEvent made = {.event = {.kind = SAP_EVENT_QUERY}};
    int rc = make_event(item, &made);
    made.event.kind = world->read_only ? SAP_EVENT_QUERY : made.event.kind;
    rc = rc == SAP_OK ? handler(world, &made.event) : rc;
    buf_release(&made.headers);
    buf_release(&made.texts);
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

static void fill_intents(const SapWorld *world, WitUniverseIntent *intents)
{
    for (size_t i = 0; i < handler_intent_count(world); i++) {
        const IntentAt *at = intent_at(world, i);
        Slice kind = piece(world, at->kind);
        Slice ref = piece(world, at->ref);
        Slice params = piece(world, at->params);
        intents[i] = (WitUniverseIntent){
            .kind = lend_bytes(kind.data, kind.len),
            .ref = lend_bytes(ref.data, ref.len),
            .encoding = (WitUniverseEncoding)at->view.encoding,
            .params = lend_bytes(params.data, params.len),
            .hash = lend_bytes(at->view.hash, UNIVERSE_DIGEST),
            .retry = at->view.retry,
            .clock = at->view.clock,
            .time_ns = at->view.time_ns,
        };
    }
}

int handler_entry(const SapWorld *world, const InboxItem *item, WitUniverseEntryKind kind,
                  Buf *content_out)
{
    uint8_t sum[UNIVERSE_SUM];
    size_t change_count = world->changes.len / sizeof(ChangeAt);
    size_t intent_count = handler_intent_count(world);
    size_t changes_size = change_count * sizeof(WitUniverseChange);
    size_t intents_size = intent_count * sizeof(WitUniverseIntent);
    WitUniverseChange *changes = (WitUniverseChange *)mem_zalloc(MEM_UNIVERSE, changes_size);
    WitUniverseIntent *intents = (WitUniverseIntent *)mem_zalloc(MEM_UNIVERSE, intents_size);
    int rc = changes == NULL || intents == NULL ? SAP_NOMEM : SAP_OK;
    if (rc == SAP_OK) {
        WitUniverseEntry entry = {
            .kind = kind,
            .time_ns = world->time_ns,
            .seq = lend_bytes(item->seq, UNIVERSE_SEQ),
            .item = {true, item->item},
            .error = lend_bytes(world->message, strlen(world->message)),
            .delta = {changes, (uint32_t)change_count},
            .intents = {intents, (uint32_t)intent_count},
            .state_sum = lend_bytes(sum, sizeof sum),
        };
        fill_changes(world, changes);
        fill_intents(world, intents);
        state_sum(world->state, sum);
        rc = wit_universe_entry_encode(&entry, content_out, NULL);
        SAP_ASSERT(rc != SAP_INVALID);
    }
    mem_free(MEM_UNIVERSE, intents, intents_size);
    mem_free(MEM_UNIVERSE, changes, changes_size);
    return rc;
}

size_t handler_intent_count(const SapWorld *world)
{
    return world->intents.len / sizeof(IntentAt);
}

int handler_intents(const SapWorld *world, HandlerIntent intent, void *ctx)
{
    int rc = SAP_OK;
    for (size_t i = 0; rc == SAP_OK && i < handler_intent_count(world); i++) {
        const IntentAt *at = intent_at(world, i);
        IntentView view = at->view;
        view.kind = piece(world, at->kind);
        view.ref = piece(world, at->ref);
        view.params = piece(world, at->params);
        rc = intent(ctx, &view);
    }
    return rc;
}
