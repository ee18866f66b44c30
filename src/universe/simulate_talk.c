/* simulate_talk.c - see simulate_talk.h. */
#include "universe/simulate_talk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/bytes.h"
#include "common/mem.h"
#include "universe/fabric.h"
#include "universe/hex.h"
#include "universe/promises.h"
#include "universe/universe_impl.h"

#define SECOND_NS UINT64_C(1000000000)

/* ---- What handlers do ------------------------------------------------------------------------ */

enum {
    ASKED_KEY = 5,
    SAID = 10,
    IGNORED_S = 5, /* that a question waits: to which nobody replies, perhaps, or in any case */
    LATER_S = 4000,
    ASK_S = 40000, /* worlds stand still for long between the faults of a run and its end */
};

/* The payload of what a world says: its first letter, the height of its step, and what is done about it. */
static void write_said(SapWorld *world, uint8_t what, uint8_t said[SAID])
{
    said[0] = (uint8_t)sap_world_name(world)[0];
    store_u64be(said + 1, sap_world_height(world));
    said[SAID - 1] = what;
}

/* What is in use, or not there, or too much, is no failure. */
static int bear(int rc)
{
    return rc == SAP_EXISTS || rc == SAP_NOTFOUND || rc == SAP_FULL ? SAP_OK : rc;
}

/* Asks for effects and timers, replaces and cancels some. */
static int ask_outside(SapWorld *world, uint32_t number)
{
    char ref[16];
    int rc = SAP_OK;
    (void)snprintf(ref, sizeof ref, "e%u", (unsigned)(number % 5));
    if (number % 4 == 1) {
        SapEffect effect = {.size = sizeof effect,
                            .kind = "echo",
                            .ref = number % 20 == 1 ? NULL : ref,
                            .encoding = SAP_ENCODING_RAW,
                            .params = &number,
                            .params_len = sizeof number};
        rc = bear(sap_world_effect(world, &effect));
    }
    if (rc == SAP_OK && number % 6 == 2) {
        rc = bear(sap_world_cancel(world, ref));
    }
    (void)snprintf(ref, sizeof ref, "t%u", (unsigned)(number % 3));
    if (rc == SAP_OK && number % 4 == 3) {
        SapTimer timer = {.size = sizeof timer, .ref = ref};
        timer.after_ns = UINT64_C(300000000) * (number % 7);
        rc = bear(sap_world_timer(world, &timer));
    }
    if (rc == SAP_OK && number % 10 == 8) {
        rc = bear(sap_world_cancel(world, ref));
    }
    return rc;
}

static const char *choose_peer(SapWorld *world, uint32_t number)
{
    return number % 11 == 4 ? "gamma" : sap_world_name(world)[0] == 'a' ? "beta" : "alpha";
}

static int say(SapWorld *world, uint32_t number)
{
    uint8_t said[SAID];
    char ref[16];
    char id[16];
    SapSend send = {
        .size = sizeof send,
        .world = choose_peer(world, number),
        .name = "said",
        .ref = number % 4 == 0 ? NULL : ref,
        .encoding = SAP_ENCODING_RAW,
        .payload = said,
        .payload_len = sizeof said,
        .message_id = number % 3 == 0 ? id : NULL,
        .create = number % 11 == 4 ? "simulated-skip" : NULL,
        .delay_ns = number % 7 == 0 ? SECOND_NS * (number % 5) : 0,
    };
    write_said(world, 0, said);
    (void)snprintf(ref, sizeof ref, "s%u", (unsigned)(number % 6));
    (void)snprintf(id, sizeof id, "m%u", (unsigned)(number % 2));
    return bear(sap_world_send(world, &send));
}

static int ask(SapWorld *world, uint32_t number)
{
    uint8_t what = (uint8_t)(number / 4 % 7);
    uint8_t said[SAID];
    char ref[16];
    SapAsk asked = {
        .size = sizeof asked,
        .world = choose_peer(world, number),
        .name = "asked",
        .ref = ref,
        .encoding = SAP_ENCODING_RAW,
        .payload = said,
        .payload_len = sizeof said,
        .timeout_ns = SECOND_NS * (what == 1                ? IGNORED_S
                                   : what == 4 || what == 5 ? LATER_S
                                                            : ASK_S),
    };
    write_said(world, what, said);
    (void)snprintf(ref, sizeof ref, "q%u", (unsigned)(number % 4));
    return bear(sap_world_ask(world, &asked));
}

static int promise(SapWorld *world, uint32_t number)
{
    char ref[16];
    char id[SAP_PROMISE_ID_SIZE];
    SapPromise made = {.size = sizeof made, .ref = ref};
    made.timeout_ns = SECOND_NS * (5 + number * 37 % 600);
    (void)snprintf(ref, sizeof ref, "p%u", (unsigned)(number % 3));
    return bear(sap_world_promise(world, &made, id));
}

static int take_back(SapWorld *world, char what, uint32_t number)
{
    char ref[16];
    (void)snprintf(ref, sizeof ref, "%c%u", what, (unsigned)number);
    return bear(sap_world_cancel(world, ref));
}

int talk_act(SapWorld *world, uint32_t number)
{
    int rc = ask_outside(world, number);
    rc = rc == SAP_OK && (number % 5 == 0 || number % 11 == 4) ? say(world, number) : rc;
    rc = rc == SAP_OK && number % 4 == 2 ? ask(world, number) : rc;
    rc = rc == SAP_OK && number % 6 == 5 ? promise(world, number) : rc;
    rc = rc == SAP_OK && number % 17 == 3 ? take_back(world, 's', number % 6) : rc;
    rc = rc == SAP_OK && number % 13 == 7 ? take_back(world, 'q', number % 4) : rc;
    return rc == SAP_OK && number % 19 == 11 ? take_back(world, 'p', number % 3) : rc;
}

bool talk_is_from_world(const SapEvent *event)
{
    return event->kind == SAP_EVENT_MESSAGE && event->from_world[0] != 0;
}

/* Whoever was kept waiting is answered, and this one waits. */
static int answer_later(SapWorld *world, const SapEvent *event)
{
    char older[FABRIC_REPLY_TO_MAX + 1];
    const void *kept = NULL;
    size_t len = 0;
    int rc = sap_world_get(world, "asked", ASKED_KEY, &kept, &len, NULL);
    if (rc == SAP_OK) {
        SAP_ASSERT(len < sizeof older);
        memcpy(older, kept, len);
        older[len] = 0;
        rc = sap_world_reply(world, older, SAP_ENCODING_RAW, "late", 4);
    }
    return rc == SAP_OK || rc == SAP_NOTFOUND
               ? sap_world_put(world, "asked", ASKED_KEY, SAP_ENCODING_RAW, event->reply_to,
                               strlen(event->reply_to))
               : rc;
}

int talk_take(SapWorld *world, const SapEvent *event)
{
    const uint8_t *said = (const uint8_t *)event->payload;
    SAP_ASSERT(event->payload_len == SAID);
    if (event->reply_to[0] == 0) {
        return SAP_OK;
    }
    switch (said[SAID - 1]) {
    case 1:
        return SAP_OK; /* nobody answers it */
    case 2:
        return sap_world_fail(world, false, "rejected");
    case 4:
    case 5:
        return answer_later(world, event);
    default:
        return sap_world_reply(world, event->reply_to, SAP_ENCODING_RAW, "at once", 7);
    }
}

/* ---- Outside --------------------------------------------------------------------------------- */

int talk_resolve(TalkOutside *outside, SapUniverse *universe, const Simulator *simulator,
                 uint64_t draw)
{
    SapStore *store = sap_universe_store(universe);
    SapStoreTxn *txn = NULL;
    RowKey from;
    RowSpan span;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    uint8_t hash[UNIVERSE_DIGEST];
    char id[SAP_PROMISE_ID_SIZE] = "";
    WitUniverseDbi42PromisesKey key;
    WitUniverseDbi42PromisesValue val;
    memset(hash, (int)(draw & UINT8_MAX), sizeof hash);
    row_key_promise(&from, universe->number, hash);
    row_span_from(&span, &from, universe->number);
    int rc = sap_store_begin(store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? sap_store_scan(txn, &span.range, false, 1, &rows, &count) : rc;
    if (rc == SAP_OK && count > 0) {
        rc = wit_universe_dbi42_promises_key_decode(rows[0].key, rows[0].key_len, &key, NULL);
        if (rc == SAP_OK) {
            hex_write(id, key.id.data, UNIVERSE_DIGEST);
            wit_universe_dbi42_promises_key_free(&key);
            rc = wit_universe_dbi42_promises_value_decode(rows[0].val, rows[0].val_len, &val, NULL);
        }
        if (rc == SAP_OK) {
            memcpy(hash, val.intent_hash.data, sizeof hash);
            wit_universe_dbi42_promises_value_free(&val);
        }
    }
    sap_store_abort(txn);
    if (rc != SAP_OK || count == 0) {
        return rc;
    }
    rc = sap_promise_resolve(universe, id, SAP_RECEIPT_OK, NULL, SAP_ENCODING_RAW, "kept", 4);
    if (rc == SAP_OK && simulator_alive(simulator) && outside->kept_count < TALK_KEPT) {
        memcpy(outside->kept[outside->kept_count++], hash, sizeof hash);
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* ---- What must hold in the end --------------------------------------------------------------- */

enum { MOST_SENT = 4096 };

/* A message, question or promise, and what is found of it. */
typedef struct Sent {
    uint8_t hash[UNIVERSE_DIGEST];
    uint8_t said[SAID]; /* of a promise: not used */
    IntentType type;    /* INTENT_EFFECT: a message; INTENT_REPLY has the hash of the question */
    bool cancelled;
    uint32_t delivered;
    uint32_t handled;  /* answers that somebody waited for */
    uint32_t resolved; /* of a promise: all that has come of it */
    uint32_t by;       /* of a reply: the world that replied, and the one that gets it */
    uint32_t to;
    WitUniverseItemKind kind;
    WitUniverseReceiptStatus status; /* of the answer that was handled */
    bool already;
} Sent;

typedef struct TalkCheck {
    TalkOutside *outside;
    Simulator *simulator;
    Sent *sent;
    uint32_t count;
    bool second;               /* pass: what was sent is known */
    uint32_t at;               /* the world whose journal is read */
    bool lives[TALK_WORLDS];   /* it is neither done nor deleted, and never was */
    bool gave_up[TALK_WORLDS]; /* a reply of it could not be delivered, and it knows */
    UniverseName names[TALK_WORLDS];
} TalkCheck;

static Sent *find_sent(const TalkCheck *check, const CodecBytes *hash)
{
    for (uint32_t i = 0; i < check->count; i++) {
        if (check->sent[i].type != INTENT_REPLY &&
            memcmp(check->sent[i].hash, hash->data, UNIVERSE_DIGEST) == 0) {
            return &check->sent[i];
        }
    }
    return NULL;
}

static uint32_t find_world(const TalkCheck *check, const UniverseName *name)
{
    uint32_t at = 0;
    while (at < TALK_WORLDS && !universe_name_equal(&check->names[at], name)) {
        at++;
    }
    return at;
}

static bool is_kind(const CodecBytes *kind, const char *text)
{
    return kind->len == strlen(text) && memcmp(kind->data, text, kind->len) == 0;
}

/* To another world: by a handler, or since its question is a dead letter. */
static void note_reply(TalkCheck *check, const CodecBytes *reply_to)
{
    FabricAsker asker;
    if (check->count < MOST_SENT &&
        fabric_asker_read((Slice){reply_to->data, reply_to->len}, &asker)) {
        Sent *sent = &check->sent[check->count];
        *sent =
            (Sent){.type = INTENT_REPLY, .by = check->at, .to = find_world(check, &asker.world)};
        memcpy(sent->hash, asker.hash, sizeof sent->hash);
        check->count += sent->to < TALK_WORLDS;
    }
}

/* A reply is somewhere: consumed, as a duplicate too, or waiting. */
static void see_reply(TalkCheck *check, const WitUniverseInboxItem *item)
{
    for (uint32_t i = 0; item->kind == WIT_UNIVERSE_ITEM_KIND_REPLY && i < check->count; i++) {
        Sent *sent = &check->sent[i];
        sent->delivered +=
            sent->type == INTENT_REPLY && memcmp(sent->hash, item->hash.data, UNIVERSE_DIGEST) == 0;
    }
}

/* A receipt that nobody waits for, of a message, and not `ok`. */
static bool is_given_up(const WitUniverseInboxItem *item)
{
    return item->kind == WIT_UNIVERSE_ITEM_KIND_RECEIPT && item->ref.len == 0 &&
           item->status != WIT_UNIVERSE_RECEIPT_STATUS_OK;
}

static void note_sent(TalkCheck *check, const WitUniverseIntent *intent)
{
    WitUniverseFabricSendParams params;
    bool ask = is_kind(&intent->kind, FABRIC_ASK);
    bool promised = is_kind(&intent->kind, PROMISE_NAME);
    if (check->count == MOST_SENT || (!ask && !promised && !is_kind(&intent->kind, FABRIC_KIND))) {
        return;
    }
    Sent *sent = &check->sent[check->count];
    *sent = (Sent){.type = ask ? INTENT_ASK : promised ? INTENT_PROMISE : INTENT_EFFECT};
    memcpy(sent->hash, intent->hash.data, UNIVERSE_DIGEST);
    if (!promised) {
        if (wit_universe_fabric_send_params_decode(intent->params.data, intent->params.len, &params,
                                                   NULL) != SAP_OK) {
            return;
        }
        memcpy(sent->said, params.payload.data, SAID);
        wit_universe_fabric_send_params_free(&params);
    }
    check->count++;
}

/* An item that is somewhere, once. */
static void see_delivered(TalkCheck *check, const WitUniverseInboxItem *item)
{
    bool outcome = item->kind == WIT_UNIVERSE_ITEM_KIND_TIMEOUT ||
                   (item->kind == WIT_UNIVERSE_ITEM_KIND_REPLY && item->from_world.len == 0);
    if (outcome) {
        Sent *sent = find_sent(check, &item->hash);
        if (sent != NULL && sent->type == INTENT_PROMISE) {
            sent->resolved++;
        }
    }
    if (item->kind != WIT_UNIVERSE_ITEM_KIND_MESSAGE || item->from_world.len == 0) {
        return;
    }
    for (uint32_t i = 0; i < check->count; i++) {
        Sent *sent = &check->sent[i];
        /* What one step says to another world twice differs in whether it is a question. */
        if (sent->type != INTENT_PROMISE &&
            (sent->type == INTENT_ASK) == (item->reply_to.len > 0) &&
            memcmp(sent->said, item->payload.data, SAID) == 0) {
            sent->delivered++;
        }
    }
}

static void see_answer(TalkCheck *check, const WitUniverseInboxItem *item)
{
    WitUniverseFabricSendReceipt receipt;
    Sent *sent = find_sent(check, &item->hash);
    if (sent == NULL) {
        return;
    }
    sent->handled++;
    sent->kind = item->kind;
    sent->status = item->status;
    if (sent->type == INTENT_EFFECT && item->status == WIT_UNIVERSE_RECEIPT_STATUS_OK &&
        wit_universe_fabric_send_receipt_decode(item->payload.data, item->payload.len, &receipt,
                                                NULL) == SAP_OK) {
        sent->already = receipt.status == WIT_UNIVERSE_FABRIC_STATUS_ALREADY_ENQUEUED;
        wit_universe_fabric_send_receipt_free(&receipt);
    }
}

static void note_cancelled(TalkCheck *check, const WitUniverseIntent *intent)
{
    Sent *sent = is_kind(&intent->kind, "cancel") ? find_sent(check, &intent->params) : NULL;
    if (sent != NULL) {
        sent->cancelled = true;
    }
}

/* One that is rejected because processes have ended with it may be a duplicate; that of a message without a ref
 * is rejected by the host. */
static bool was_awaited(const WitUniverseEntry *entry)
{
    static const char unnamed[] = "an effect without a ref";
    size_t len = sizeof unnamed - 1;
    return entry->kind == WIT_UNIVERSE_ENTRY_KIND_ITEM ||
           (entry->kind == WIT_UNIVERSE_ENTRY_KIND_REJECTED && entry->error.len > len &&
            memcmp(entry->error.data, unnamed, len) == 0);
}

static int see_entry(void *ctx, uint64_t height, uint64_t epoch, Slice content,
                     const WitUniverseEntry *entry)
{
    TalkCheck *check = (TalkCheck *)ctx;
    const WitUniverseInboxItem *item = &entry->item.value;
    (void)height;
    (void)epoch;
    (void)content;
    for (uint32_t i = 0; i < entry->intents.count; i++) {
        if (check->second) {
            note_cancelled(check, &entry->intents.items[i]);
        } else if (is_kind(&entry->intents.items[i].kind, "reply")) {
            note_reply(check, &entry->intents.items[i].ref);
        } else {
            note_sent(check, &entry->intents.items[i]);
        }
    }
    if (!check->second) {
        return SAP_OK;
    }
    see_reply(check, item);
    check->gave_up[check->at] = check->gave_up[check->at] || is_given_up(item);
    if (entry->kind != WIT_UNIVERSE_ENTRY_KIND_REJECTED) { /* that one is a dead letter */
        see_delivered(check, item);
    }
    bool answer = item->kind == WIT_UNIVERSE_ITEM_KIND_RECEIPT ||
                  item->kind == WIT_UNIVERSE_ITEM_KIND_REPLY ||
                  item->kind == WIT_UNIVERSE_ITEM_KIND_TIMEOUT;
    if (answer && !item->replayed && was_awaited(entry)) {
        see_answer(check, item);
    }
    check->outside->counts->founded +=
        item->kind == WIT_UNIVERSE_ITEM_KIND_CREATE && item->from_world.len > 0;
    return SAP_OK;
}

/* Rows of the world whose values have an item first. */
static void see_rows(TalkCheck *check, SapStoreTxn *txn, uint32_t table, uint32_t universe,
                     const UniverseName *world)
{
    RowKey prefix;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    row_key_world(&prefix, table, universe, world);
    row_range(&prefix, &to, &range);
    if (sap_store_scan(txn, &range, false, MOST_SENT, &rows, &count) != SAP_OK) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        WitUniverseDbi24WorldInboxValue waiting;
        WitUniverseDbi28WorldDlqValue letter;
        if (table == WIT_DBI_WORLD_INBOX &&
            wit_universe_dbi24_world_inbox_value_decode(rows[i].val, rows[i].val_len, &waiting,
                                                        NULL) == SAP_OK) {
            see_delivered(check, &waiting.item);
            see_reply(check, &waiting.item);
            check->gave_up[check->at] = check->gave_up[check->at] || is_given_up(&waiting.item);
            wit_universe_dbi24_world_inbox_value_free(&waiting);
        }
        if (table == WIT_DBI_WORLD_DLQ &&
            wit_universe_dbi28_world_dlq_value_decode(rows[i].val, rows[i].val_len, &letter,
                                                      NULL) == SAP_OK) {
            if (check->second) {
                see_delivered(check, &letter.item);
                see_reply(check, &letter.item);
            } else {
                note_reply(check, &letter.item.reply_to);
            }
            wit_universe_dbi28_world_dlq_value_free(&letter);
        }
    }
}

static void check_message(const TalkCheck *check, const Sent *sent)
{
    bool ok = sent->status == WIT_UNIVERSE_RECEIPT_STATUS_OK;
    bool right = sent->handled == 0 || sent->delivered == (ok && !sent->already);
    if (!right) {
        simulator_violation(check->simulator,
                            "a message with a receipt of status %d was delivered %" PRIu32
                            " times, already %d",
                            (int)sent->status, sent->delivered, sent->already);
    }
}

static void check_question(const TalkCheck *check, const Sent *sent)
{
    bool replied = sent->kind == WIT_UNIVERSE_ITEM_KIND_REPLY;
    bool refused = sent->kind == WIT_UNIVERSE_ITEM_KIND_RECEIPT;
    if (sent->handled > 0 &&
        ((replied && sent->delivered != 1) || (refused && sent->delivered != 0))) {
        simulator_violation(check->simulator,
                            "a question that was %s was delivered %" PRIu32 " times",
                            replied ? "replied to" : "refused", sent->delivered);
    }
}

/* Whoever has asked and is still there has the reply, were it too late. */
static void check_reply(const TalkCheck *check, const Sent *sent)
{
    bool counts = check->lives[sent->by] && check->lives[sent->to] && !check->gave_up[sent->by];
    check->outside->counts->came_back += counts;
    if (counts && sent->delivered == 0) {
        simulator_violation(check->simulator, "a reply of %s to %s is nowhere",
                            check->names[sent->by].text, check->names[sent->to].text);
    }
}

static void check_sent(const TalkCheck *check, const Sent *sent)
{
    if (sent->type == INTENT_REPLY) {
        check_reply(check, sent);
        return;
    }
    if (sent->delivered > 1 || sent->handled > 1 || sent->resolved > 1) {
        simulator_violation(check->simulator,
                            "type %d was delivered %" PRIu32 " times, answered %" PRIu32
                            " times and resolved %" PRIu32 " times",
                            (int)sent->type, sent->delivered, sent->handled, sent->resolved);
    }
    if (sent->cancelled && sent->handled > 0) {
        simulator_violation(check->simulator, "type %d was cancelled and answered",
                            (int)sent->type);
    }
    if (sent->type == INTENT_EFFECT) {
        check_message(check, sent);
    } else if (sent->type == INTENT_ASK) {
        check_question(check, sent);
    }
}

static void count_sent(UniverseCounts *counts, const Sent *sent)
{
    bool ok = sent->status == WIT_UNIVERSE_RECEIPT_STATUS_OK;
    counts->taken_back += sent->cancelled && sent->type != INTENT_PROMISE;
    switch (sent->type) {
    case INTENT_REPLY:
        break;
    case INTENT_EFFECT:
        counts->said++;
        counts->heard += sent->delivered;
        counts->repeated += sent->already;
        counts->unheard += sent->handled > 0 && !ok;
        break;
    case INTENT_ASK:
        counts->asked++;
        counts->replied += sent->handled > 0 && ok;
        counts->timed_out += sent->handled > 0 && sent->kind == WIT_UNIVERSE_ITEM_KIND_TIMEOUT;
        counts->unasked += sent->handled > 0 && !ok && sent->kind != WIT_UNIVERSE_ITEM_KIND_TIMEOUT;
        break;
    default:
        counts->promised++;
        counts->kept += sent->handled > 0 && ok;
        counts->broken += sent->handled > 0 && !ok;
        break;
    }
}

static void check_kept(const TalkCheck *check)
{
    const TalkOutside *outside = check->outside;
    for (uint32_t i = 0; i < outside->kept_count; i++) {
        CodecBytes hash = lend_bytes(outside->kept[i], UNIVERSE_DIGEST);
        const Sent *sent = find_sent(check, &hash);
        if (sent == NULL || sent->resolved != 1) {
            simulator_violation(check->simulator, "a promise was kept, and nobody heard of it");
        }
    }
}

static bool has_always_lived(SapStoreTxn *txn, uint32_t universe, const UniverseName *world)
{
    RowKey key;
    WitUniverseDbi21WorldMetaValue meta;
    row_key_world(&key, WIT_DBI_WORLD_META, universe, world);
    if (meta_row_get(txn, &key, &meta) != SAP_OK) {
        return false;
    }
    bool lives = meta.born_height == 0 && meta.status != WIT_UNIVERSE_WORLD_STATUS_DELETED &&
                 meta.status != WIT_UNIVERSE_WORLD_STATUS_DONE;
    wit_universe_dbi21_world_meta_value_free(&meta);
    return lives;
}

void talk_check_end(TalkOutside *outside, Simulator *simulator, SapStoreTxn *txn, uint32_t universe,
                    const char *const *worlds, uint32_t world_count)
{
    TalkCheck check = {.outside = outside, .simulator = simulator};
    SAP_ASSERT(world_count == TALK_WORLDS);
    check.sent = (Sent *)mem_alloc(MEM_UNIVERSE, MOST_SENT * sizeof *check.sent);
    if (check.sent == NULL) {
        return;
    }
    for (uint32_t i = 0; i < world_count; i++) {
        int rc = universe_name_set(&check.names[i], worlds[i]);
        SAP_ASSERT(rc == SAP_OK);
        check.lives[i] = has_always_lived(txn, universe, &check.names[i]);
    }
    for (int pass = 0; pass < 2; pass++) {
        check.second = pass == 1;
        for (uint32_t i = 0; i < world_count; i++) {
            UniverseName name = check.names[i];
            RowKey key;
            HeadRow head;
            check.at = i;
            row_key_world(&key, WIT_DBI_HEAD, universe, &name);
            if (head_row_get(txn, &key, &head) == SAP_OK) {
                (void)journal_read(simulator_store(simulator), universe, &name, 1, head.height,
                                   see_entry, &check);
            }
            if (check.second) {
                see_rows(&check, txn, WIT_DBI_WORLD_INBOX, universe, &name);
            }
            see_rows(&check, txn, WIT_DBI_WORLD_DLQ, universe, &name);
        }
    }
    for (uint32_t i = 0; i < check.count; i++) {
        check_sent(&check, &check.sent[i]);
        count_sent(outside->counts, &check.sent[i]);
    }
    check_kept(&check);
    mem_free(MEM_UNIVERSE, check.sent, MOST_SENT * sizeof *check.sent);
}
