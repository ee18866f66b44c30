#include "support/universe_ledger.h"

#include "common/bytes.h"
#include "support/expect.h"
#include "universe/journal.h"
#include "universe/universe_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    HEADER = 12, /* producer and number */
    PAYLOAD_MAX = HEADER + 3000,
    REFUSED_ONE_IN = 101,
    LONG_ONE_IN = 16,
    ROWS_AT_ONCE = 256,
    ID_MAX = 40,
};

/* What the handler keeps of a producer: a row of the world's state. */
typedef struct Account {
    uint64_t count;
    uint64_t sum;
    uint64_t last;
} Account;

enum {
    ACCOUNT_KEY = 5,
    ACCOUNT_VALUE = 24,
    OF_HANDLER = 1, /* the first byte of a key in the state, before those that the handler gave */
};

static bool is_refused(uint64_t number)
{
    return number % REFUSED_ONE_IN == 0;
}

void ledger_acknowledge(Ledger *ledger, uint32_t producer, uint64_t number)
{
    EXPECT(producer < ledger->producers, "an acknowledgement for producer %" PRIu32, producer);
    EXPECT(number == ledger->acknowledged[producer] + 1,
           "producer %" PRIu32 ": %" PRIu64 " is acknowledged after %" PRIu64, producer, number,
           ledger->acknowledged[producer]);
    ledger->acknowledged[producer] = number;
}

void ledger_world_name(uint32_t world, char name_out[LEDGER_NAME_MAX])
{
    (void)snprintf(name_out, LEDGER_NAME_MAX, "world-%" PRIu32, world);
}

void ledger_make_worlds(SapUniverse *universe, uint32_t worlds, const char *module)
{
    for (uint32_t i = 0; i < worlds; i++) {
        char name[LEDGER_NAME_MAX];
        ledger_world_name(i, name);
        int rc = sap_world_create(universe, name, module, SAP_ENCODING_JSON, NULL, 0);
        EXPECT(rc == SAP_OK || rc == SAP_EXISTS, "creating %s returned %d", name, rc);
    }
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* Most are short; some have a few pages. */
static size_t make_payload(uint32_t producer, uint64_t number, uint8_t payload_out[PAYLOAD_MAX])
{
    uint64_t mixed = (number + producer) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    uint64_t most = mixed % LONG_ONE_IN == 0 ? PAYLOAD_MAX - HEADER : 100;
    size_t len = HEADER + (size_t)(mixed / LONG_ONE_IN % (most + 1));
    store_u32be(payload_out, producer);
    store_u64be(payload_out + 4, number);
    memset(payload_out + HEADER, (int)(mixed & 0xff), len - HEADER);
    return len;
}

static void make_id(uint32_t producer, uint64_t number, char id_out[ID_MAX])
{
    (void)snprintf(id_out, ID_MAX, "p%" PRIu32 "-%" PRIu64, producer, number);
}

int ledger_send(SapUniverse *universe, uint32_t worlds, uint32_t producer, uint64_t number,
                bool *duplicate_out)
{
    uint8_t payload[PAYLOAD_MAX];
    char world[LEDGER_NAME_MAX];
    char id[ID_MAX];
    SapIngressResult result = {.duplicate = false};
    SapIngress item = {.size = sizeof item, .name = "number", .id = id, .payload = payload};
    make_id(producer, number, id);
    ledger_world_name((uint32_t)(number % worlds), world);
    item.encoding = SAP_ENCODING_RAW;
    item.payload_len = make_payload(producer, number, payload);
    int rc = sap_enqueue_ingress(universe, world, &item, &result);
    *duplicate_out = rc == SAP_OK && result.duplicate;
    return rc;
}

/* ---- The handler ----------------------------------------------------------------------------- */

static void account_add(Account *account, uint64_t number)
{
    account->count++;
    account->sum += number;
    account->last = number;
}

static void account_key(uint32_t producer, uint8_t key_out[ACCOUNT_KEY])
{
    key_out[0] = 'p';
    store_u32be(key_out + 1, producer);
}

static void account_decode(const uint8_t *value, Account *account_out)
{
    *account_out = (Account){load_u64be(value), load_u64be(value + 8), load_u64be(value + 16)};
}

int ledger_handle(SapWorld *world, const SapEvent *event)
{
    uint8_t key[ACCOUNT_KEY];
    uint8_t value[ACCOUNT_VALUE];
    const void *old = NULL;
    size_t len = 0;
    Account account = {.count = 0};
    if (event->kind != SAP_EVENT_MESSAGE) {
        return SAP_OK;
    }
    EXPECT(event->payload_len >= HEADER, "a payload of %zu bytes", event->payload_len);
    uint32_t producer = load_u32be(event->payload);
    uint64_t number = load_u64be((const uint8_t *)event->payload + 4);
    account_key(producer, key);
    int rc = sap_world_get(world, key, sizeof key, &old, &len, NULL);
    if (rc == SAP_OK) {
        EXPECT(len == ACCOUNT_VALUE, "an account of %zu bytes", len);
        account_decode(old, &account);
    } else if (rc != SAP_NOTFOUND) {
        return rc;
    }
    account_add(&account, number);
    store_u64be(value, account.count);
    store_u64be(value + 8, account.sum);
    store_u64be(value + 16, account.last);
    rc = sap_world_put(world, key, sizeof key, SAP_ENCODING_RAW, value, sizeof value);
    /* Refused after it has changed the state: none of it may stay. */
    return rc == SAP_OK && is_refused(number) ? sap_world_fail(world, false, "refused") : rc;
}

/* ---- The audit ------------------------------------------------------------------------------- */

/* What has been seen of one world. */
typedef struct Audit {
    Ledger *ledger;
    LedgerCounts *counts;
    uint32_t world;
    UniverseName name;
    uint64_t epoch;                     /* of the last entry */
    uint64_t last[LEDGER_PRODUCERS];    /* number, in journal and inbox */
    Account accounts[LEDGER_PRODUCERS]; /* what the journal's messages make */
    uint64_t rejected;
} Audit;

static uint64_t number_after(const Audit *audit, uint64_t last)
{
    uint64_t worlds = audit->ledger->worlds;
    if (last != 0) {
        return last + worlds;
    }
    return audit->world != 0 ? audit->world : worlds; /* there is no number 0 */
}

/* Returns the number of a message, which is the one that must come now. */
static uint64_t audit_item(Audit *audit, const WitUniverseInboxItem *item, uint32_t *producer_out)
{
    uint8_t payload[PAYLOAD_MAX];
    char id[ID_MAX];
    EXPECT(item->payload.len >= HEADER, "%s: a payload of %" PRIu32 " bytes", audit->name.text,
           item->payload.len);
    uint32_t producer = load_u32be(item->payload.data);
    uint64_t number = load_u64be(item->payload.data + 4);
    EXPECT(producer < audit->ledger->producers, "%s: a message of producer %" PRIu32,
           audit->name.text, producer);
    uint64_t expected = number_after(audit, audit->last[producer]);
    EXPECT(number == expected,
           "%s: producer %" PRIu32 ": %" PRIu64 " comes after %" PRIu64 ", in place of %" PRIu64,
           audit->name.text, producer, number, audit->last[producer], expected);
    size_t len = make_payload(producer, number, payload);
    make_id(producer, number, id);
    EXPECT(item->payload.len == len && memcmp(item->payload.data, payload, len) == 0,
           "%s: message %s has another payload", audit->name.text, id);
    EXPECT(item->id.len == strlen(id) && memcmp(item->id.data, id, item->id.len) == 0,
           "%s: message %s has another id", audit->name.text, id);
    audit->last[producer] = number;
    *producer_out = producer;
    return number;
}

static int audit_entry(void *ctx, uint64_t height, uint64_t epoch, Slice content,
                       const WitUniverseEntry *entry)
{
    Audit *audit = (Audit *)ctx;
    (void)content;
    EXPECT(epoch >= audit->epoch, "%s: epoch %" PRIu64 " after %" PRIu64 " at height %" PRIu64,
           audit->name.text, epoch, audit->epoch, height);
    audit->counts->epochs += epoch > audit->epoch;
    audit->counts->entries++;
    audit->epoch = epoch;
    if (!entry->item.some || entry->item.value.kind != WIT_UNIVERSE_ITEM_KIND_MESSAGE) {
        return SAP_OK;
    }
    uint32_t producer = 0;
    uint64_t number = audit_item(audit, &entry->item.value, &producer);
    bool rejected = entry->kind == WIT_UNIVERSE_ENTRY_KIND_REJECTED;
    EXPECT(rejected == is_refused(number), "%s: entry %" PRIu64 " is of kind %u", audit->name.text,
           height, (unsigned)entry->kind);
    audit->rejected += rejected;
    if (!rejected) {
        account_add(&audit->accounts[producer], number);
    }
    return SAP_OK;
}

static int audit_waiting(void *ctx, const SapStoreRow *row)
{
    Audit *audit = (Audit *)ctx;
    WitUniverseDbi24WorldInboxValue value;
    uint32_t producer = 0;
    EXPECT_RC(wit_universe_dbi24_world_inbox_value_decode(row->val, row->val_len, &value, NULL),
              SAP_OK);
    if (value.item.kind == WIT_UNIVERSE_ITEM_KIND_MESSAGE) {
        (void)audit_item(audit, &value.item, &producer);
    }
    wit_universe_dbi24_world_inbox_value_free(&value);
    return SAP_OK;
}

/* Calls `row` (NULL: nothing) for the rows of a table that are the world's; returns how many. */
static uint64_t walk_rows(SapUniverse *universe, uint32_t table, const UniverseName *world,
                          int (*row)(void *ctx, const SapStoreRow *row), void *ctx)
{
    RowKey from;
    RowKey to;
    SapStoreRange range;
    uint64_t sum = 0;
    uint32_t count = ROWS_AT_ONCE;
    row_key_world(&from, table, universe->number, world);
    row_range(&from, &to, &range);
    while (count == ROWS_AT_ONCE) {
        SapStoreTxn *txn = NULL;
        const SapStoreRow *rows = NULL;
        EXPECT_RC(sap_store_begin(universe->store, SAP_STORE_READ_DURABLE, &txn), SAP_OK);
        EXPECT_RC(sap_store_scan(txn, &range, false, ROWS_AT_ONCE, &rows, &count), SAP_OK);
        for (uint32_t i = 0; row != NULL && i < count; i++) {
            EXPECT_RC(row(ctx, &rows[i]), SAP_OK);
        }
        if (count > 0) { /* the next rows begin after the last of these */
            EXPECT(rows[count - 1].key_len < sizeof from.bytes, "a key without room");
            from.len = rows[count - 1].key_len + 1;
            memcpy(from.bytes, rows[count - 1].key, from.len - 1);
            from.bytes[from.len - 1] = 0;
            range.from_len = from.len;
        }
        sum += count;
        sap_store_abort(txn);
    }
    return sum;
}

typedef struct Ends {
    HeadRow head;
    WorldBirth birth;
} Ends;

/* False: the world has no entry yet, or was not even created. */
static bool read_ends(SapUniverse *universe, const UniverseName *world, Ends *ends_out)
{
    SapStoreTxn *txn = NULL;
    RowKey key;
    WitUniverseDbi21WorldMetaValue meta;
    EXPECT_RC(sap_store_begin(universe->store, SAP_STORE_READ_DURABLE, &txn), SAP_OK);
    row_key_world(&key, WIT_DBI_WORLD_META, universe->number, world);
    int rc = meta_row_get(txn, &key, &meta);
    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "meta of %s: %d", world->text, rc);
    if (rc == SAP_OK) {
        EXPECT(meta.status == WIT_UNIVERSE_WORLD_STATUS_ACTIVE, "%s has status %u: %.*s",
               world->text, (unsigned)meta.status, (int)meta.reason.len,
               (const char *)meta.reason.data);
        ends_out->birth = (WorldBirth){.height = meta.born_height};
        memcpy(ends_out->birth.digest, meta.born_digest.data, sizeof ends_out->birth.digest);
        wit_universe_dbi21_world_meta_value_free(&meta);
        row_key_world(&key, WIT_DBI_HEAD, universe->number, world);
        rc = head_row_get(txn, &key, &ends_out->head);
        EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "head of %s: %d", world->text, rc);
    }
    sap_store_abort(txn);
    return rc == SAP_OK;
}

/* Restoring compares digests and sums with the head. */
static void audit_state(SapUniverse *universe, const Audit *audit, const Ends *ends)
{
    WorldState *state = NULL;
    int rc = journal_restore(universe->store, universe->number, &audit->name, &ends->birth,
                             &ends->head, &state);
    EXPECT(rc == SAP_OK, "%s: restoring its state returned %d", audit->name.text, rc);
    EXPECT_RC(state_begin(state), SAP_OK);
    for (uint32_t producer = 0; producer < audit->ledger->producers; producer++) {
        const Account *expected = &audit->accounts[producer];
        Account account = {.count = 0};
        uint8_t key[1 + ACCOUNT_KEY] = {OF_HANDLER};
        Slice value = {0};
        account_key(producer, key + 1);
        rc = state_get(state, (Slice){key, sizeof key}, &value);
        EXPECT(rc == (expected->count > 0 ? SAP_OK : SAP_NOTFOUND), "%s: an account: %d",
               audit->name.text, rc);
        if (rc == SAP_OK) { /* a value of the state begins with its encoding */
            EXPECT(value.len == 1 + ACCOUNT_VALUE, "an account of %zu bytes", value.len);
            account_decode((const uint8_t *)value.data + 1, &account);
        }
        EXPECT(memcmp(&account, expected, sizeof account) == 0,
               "%s: producer %" PRIu32 ": the state has %" PRIu64 " messages up to %" PRIu64
               ", the journal %" PRIu64 " up to %" PRIu64,
               audit->name.text, producer, account.count, account.last, expected->count,
               expected->last);
    }
    state_close(state);
}

/* Nothing that was acknowledged, or that an earlier audit has found, is lost, and nothing else is there
 * but the message of which its producer did not know whether it was enqueued. */
static void audit_numbers(const Audit *audit, uint64_t found[LEDGER_PRODUCERS])
{
    const Ledger *ledger = audit->ledger;
    for (uint32_t producer = 0; producer < ledger->producers; producer++) {
        uint64_t last = audit->last[producer];
        uint64_t acknowledged = ledger->acknowledged[producer];
        uint64_t kept =
            acknowledged > ledger->found[producer] ? acknowledged : ledger->found[producer];
        uint64_t next = number_after(audit, last);
        EXPECT(next > kept,
               "%s: producer %" PRIu32 ": %" PRIu64 " is lost, %" PRIu64 " is the last",
               audit->name.text, producer, next, kept);
        EXPECT(last <= acknowledged + 1,
               "%s: producer %" PRIu32 ": %" PRIu64 " is there, and %" PRIu64 " was the last sent",
               audit->name.text, producer, last, acknowledged + 1);
        found[producer] = last > found[producer] ? last : found[producer];
    }
}

static void name_world(uint32_t world, UniverseName *name_out)
{
    char text[LEDGER_NAME_MAX];
    ledger_world_name(world, text);
    EXPECT_RC(universe_name_set(name_out, text), SAP_OK);
}

static void audit_world(SapUniverse *universe, Audit *audit, uint64_t found[LEDGER_PRODUCERS])
{
    Ends ends;
    name_world(audit->world, &audit->name);
    if (read_ends(universe, &audit->name, &ends)) {
        int rc = journal_read(universe->store, universe->number, &audit->name,
                              ends.birth.height + 1, ends.head.height, audit_entry, audit);
        EXPECT(rc == SAP_OK, "%s: reading its journal returned %d", audit->name.text, rc);
        audit_state(universe, audit, &ends);
    }
    audit->counts->waiting +=
        walk_rows(universe, WIT_DBI_WORLD_INBOX, &audit->name, audit_waiting, audit);
    uint64_t letters = walk_rows(universe, WIT_DBI_WORLD_DLQ, &audit->name, NULL, NULL);
    EXPECT(letters == audit->rejected, "%s: %" PRIu64 " dead letters of %" PRIu64 " refused",
           audit->name.text, letters, audit->rejected);
    audit->counts->rejected += audit->rejected;
    audit_numbers(audit, found);
}

uint64_t ledger_waiting(SapUniverse *universe, uint32_t worlds)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < worlds; i++) {
        UniverseName name;
        name_world(i, &name);
        sum += walk_rows(universe, WIT_DBI_WORLD_INBOX, &name, NULL, NULL);
    }
    return sum;
}

LedgerCounts ledger_audit(SapUniverse *universe, Ledger *ledger)
{
    LedgerCounts counts = {.entries = 0};
    uint64_t found[LEDGER_PRODUCERS] = {0};
    for (uint32_t i = 0; i < ledger->worlds; i++) {
        Audit audit = {.ledger = ledger, .counts = &counts, .world = i};
        audit_world(universe, &audit, found);
    }
    for (uint32_t producer = 0; producer < ledger->producers; producer++) {
        counts.unknown += found[producer] > ledger->acknowledged[producer];
        ledger->found[producer] = found[producer];
    }
    return counts;
}
