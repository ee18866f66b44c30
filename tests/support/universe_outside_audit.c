#include "common/bytes.h"
#include "support/expect.h"
#include "support/universe_outside_impl.h"
#include "universe/journal.h"
#include "universe/universe_impl.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_ATTEMPTS = 64,
    KNOWN = 1 << 15, /* places; an intent has one */
    ROWS_AT_ONCE = 256,
    RECORDS_AT_ONCE = 256,
    EARLY_NS = 1000000, /* by which the clocks of a process may differ while a timer runs */
};

/* What is known of an intent, by its hash. */
typedef struct Known {
    uint8_t hash[UNIVERSE_DIGEST];
    bool used;

    /* By the account and the claims of the dead; bit i is attempt i + 1. */
    uint64_t begun;
    uint64_t held;

    /* By the journal of its world. */
    bool asked;
    bool timer;
    bool unnamed;
    uint64_t number;
    uint64_t not_before_ns;
    uint64_t cancelled; /* height; 0: it was not */
    uint32_t answers;
    WitUniverseReceiptStatus status;
} Known;

struct OutsideAudit {
    Known known[KNOWN];
    int fd;
    uint32_t ready;
    uint32_t sent;
};

static Known *find_known(OutsideAudit *audit, const uint8_t hash[UNIVERSE_DIGEST])
{
    uint32_t at = ((uint32_t)hash[0] << 16 | (uint32_t)hash[1] << 8 | hash[2]) % KNOWN;
    for (uint32_t tries = 0; tries < KNOWN; tries++, at = (at + 1) % KNOWN) {
        Known *known = &audit->known[at];
        if (!known->used) {
            known->used = true;
            memcpy(known->hash, hash, sizeof known->hash);
        }
        if (memcmp(known->hash, hash, sizeof known->hash) == 0) {
            return known;
        }
    }
    EXPECT(false, "more intents than there is room for");
    return NULL;
}

OutsideAudit *outside_audit_new(const char *path)
{
    OutsideAudit *audit = (OutsideAudit *)calloc(1, sizeof *audit);
    EXPECT(audit != NULL, "no memory");
    audit->fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
    EXPECT(audit->fd >= 0, "opening %s failed", path);
    return audit;
}

void outside_audit_free(OutsideAudit *audit)
{
    (void)close(audit->fd);
    free(audit);
}

/* ---- The account ----------------------------------------------------------------------------- */

static uint8_t hex_digit(char digit)
{
    return (uint8_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

static void take_call(OutsideAudit *audit, const OutsideRecord *record)
{
    uint8_t hash[UNIVERSE_DIGEST];
    for (int i = 0; i < UNIVERSE_DIGEST; i++) {
        hash[i] = (uint8_t)(hex_digit(record->key[2 * i]) << 4 | hex_digit(record->key[2 * i + 1]));
    }
    Known *known = find_known(audit, hash);
    EXPECT(record->attempt > 0 && record->attempt <= MOST_ATTEMPTS, "attempt %" PRIu32,
           record->attempt);
    uint64_t bit = UINT64_C(1) << (record->attempt - 1);
    EXPECT((known->begun & bit) == 0, "attempt %" PRIu32 " of message %" PRIu32 " was begun twice",
           record->attempt, record->number);
    EXPECT(known->begun == 0 || known->number == record->number, "one key for two messages");
    known->begun |= bit;
    known->number = record->number;
}

uint32_t outside_audit_read(OutsideAudit *audit)
{
    OutsideRecord records[RECORDS_AT_ONCE];
    ssize_t got = sizeof records;
    while (got == (ssize_t)sizeof records) {
        got = read(audit->fd, records, sizeof records);
        EXPECT(got >= 0 && (size_t)got % sizeof records[0] == 0, "the account ends in a record");
        for (size_t i = 0; i < (size_t)got / sizeof records[0]; i++) {
            audit->ready += records[i].what == RECORD_READY;
            audit->sent = records[i].what == RECORD_SENT ? records[i].number : audit->sent;
            if (records[i].what == RECORD_CALL) {
                take_call(audit, &records[i]);
            }
        }
    }
    return audit->ready;
}

uint32_t outside_audit_sent(const OutsideAudit *audit)
{
    return audit->sent;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Calls `row` (NULL: nothing) for the rows of a table; returns how many there are. */
static uint64_t walk_table(SapStore *store, uint32_t table,
                           void (*row)(OutsideAudit *audit, const SapStoreRow *row),
                           OutsideAudit *audit)
{
    RowKey from;
    RowKey to;
    SapStoreRange range;
    uint64_t sum = 0;
    uint32_t count = ROWS_AT_ONCE;
    row_key_universe(&from, table, 0);
    row_range(&from, &to, &range);
    while (count == ROWS_AT_ONCE) {
        SapStoreTxn *txn = NULL;
        const SapStoreRow *rows = NULL;
        EXPECT_RC(sap_store_begin(store, SAP_STORE_READ_DURABLE, &txn), SAP_OK);
        EXPECT_RC(sap_store_scan(txn, &range, false, ROWS_AT_ONCE, &rows, &count), SAP_OK);
        for (uint32_t i = 0; row != NULL && i < count; i++) {
            row(audit, &rows[i]);
        }
        if (count > 0) {
            row_key_after(&from, &rows[count - 1]);
            range.from_len = from.len;
        }
        sum += count;
        sap_store_abort(txn);
    }
    return sum;
}

static void note_held(OutsideAudit *audit, const SapStoreRow *row)
{
    WitUniverseDbi35EffectsInflightValue val;
    EXPECT_RC(wit_universe_dbi35_effects_inflight_value_decode(row->val, row->val_len, &val, NULL),
              SAP_OK);
    uint32_t attempt = val.effect.attempt;
    EXPECT(attempt > 0 && attempt <= MOST_ATTEMPTS, "attempt %" PRIu32, attempt);
    find_known(audit, val.effect.intent_hash.data)->held |= UINT64_C(1) << (attempt - 1);
    wit_universe_dbi35_effects_inflight_value_free(&val);
}

void outside_audit_claims(OutsideAudit *audit, const char *url)
{
    SapStoreOptions options = {.size = sizeof options, .schema = UNIVERSE_SCHEMA};
    SapStore *store = NULL;
    options.tables = universe_tables(&options.table_count);
    int rc = sap_store_open(url, &options, &store);
    EXPECT(rc == SAP_OK, "opening %s returned %d: %s", url, rc, sap_open_error());
    (void)walk_table(store, WIT_DBI_EFFECTS_INFLIGHT, note_held, audit);
    EXPECT_RC(sap_store_close(store), SAP_OK);
}

uint64_t outside_waiting(SapUniverse *universe)
{
    static const uint32_t tables[] = {WIT_DBI_EFFECTS_PENDING, WIT_DBI_EFFECTS_INFLIGHT,
                                      WIT_DBI_EFFECTS_DEDUPE,  WIT_DBI_TIMERS_DUE,
                                      WIT_DBI_TIMERS_DEDUPE,   WIT_DBI_WORLD_INBOX};
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        sum += walk_table(universe->store, tables[i], NULL, NULL);
    }
    return sum;
}

/* ---- Journals -------------------------------------------------------------------------------- */

/* Where an audit is in the journal of a world. */
typedef struct Reading {
    OutsideAudit *audit;
    OutsideCounts *counts;
    const char *world;
    uint64_t height;
    bool seen[OUTSIDE_MESSAGES + 1];
} Reading;

static bool is_kind(const CodecBytes *kind, const char *name)
{
    return kind->len == strlen(name) && memcmp(kind->data, name, kind->len) == 0;
}

static void note_intent(Reading *reading, const WitUniverseEntry *entry,
                        const WitUniverseIntent *intent)
{
    if (is_kind(&intent->kind, "cancel")) {
        EXPECT(intent->params.len == UNIVERSE_DIGEST, "a cancel of nothing");
        Known *known = find_known(reading->audit, intent->params.data);
        EXPECT(known->asked && known->cancelled == 0 && known->answers == 0,
               "%s: entry %" PRIu64 " cancels what is not outstanding", reading->world,
               reading->height);
        known->cancelled = reading->height;
        reading->counts->cancelled++;
        return;
    }
    Known *known = find_known(reading->audit, intent->hash.data);
    EXPECT(!known->asked, "%s: one hash for two intents", reading->world);
    known->asked = true;
    known->timer = is_kind(&intent->kind, "timer");
    known->unnamed = intent->ref.len == 0;
    if (known->timer) {
        bool by_day = intent->clock == WIT_UNIVERSE_TIMER_CLOCK_DUE;
        known->not_before_ns =
            by_day ? intent->time_ns : entry->time_ns + intent->time_ns - EARLY_NS;
    }
    if (!known->timer) {
        uint64_t number = load_u64be(intent->params.data);
        EXPECT(known->begun == 0 || known->number == number,
               "message %" PRIu64 " was called as %" PRIu64, number, known->number);
        known->number = number;
    }
    reading->counts->timers += known->timer;
    reading->counts->effects += !known->timer;
    reading->counts->unnamed += known->unnamed;
}

/* Every attempt of the list was a claim, in this order. */
static void check_attempts(Reading *reading, const Known *known, const WitUniverseInboxItem *item)
{
    OutsideCounts *counts = reading->counts;
    char key[OUTSIDE_KEY + 1];
    uint32_t count = item->attempts.count;
    uint32_t kind = outside_kind_of(known->number);
    for (int i = 0; i < UNIVERSE_DIGEST; i++) {
        (void)snprintf(key + (size_t)2 * i, 3, "%02x", known->hash[i]);
    }
    uint32_t failures = outside_failures(kind, key);
    uint64_t claims = known->begun | known->held;
    uint64_t all = count == MOST_ATTEMPTS ? UINT64_MAX : (UINT64_C(1) << count) - 1;
    EXPECT(count > 0 && count <= MOST_ATTEMPTS && claims == all,
           "message %" PRIu64 ": %" PRIu32 " attempts, claims %" PRIx64, known->number, count,
           claims);
    for (uint32_t i = 0; i < count; i++) {
        WitUniverseAttemptOutcome outcome = item->attempts.items[i].outcome;
        uint64_t bit = UINT64_C(1) << i;
        bool lost = outcome == WIT_UNIVERSE_ATTEMPT_OUTCOME_LOST;
        EXPECT((lost ? known->held : known->begun) & bit,
               "message %" PRIu64 ": attempt %" PRIu32 " has outcome %d", known->number, i + 1,
               (int)outcome);
        EXPECT(outcome != WIT_UNIVERSE_ATTEMPT_OUTCOME_TIMEOUT, "a call took too long");
        EXPECT(outcome != WIT_UNIVERSE_ATTEMPT_OUTCOME_OK || (i == count - 1 && i + 1 > failures),
               "message %" PRIu64 ": attempt %" PRIu32 " was ok", known->number, i + 1);
        counts->lost += lost;
    }
    counts->attempts += count;
}

/* What the last attempt and the policy make of it. */
static void check_status(Reading *reading, const Known *known, const WitUniverseInboxItem *item)
{
    uint32_t kind = outside_kind_of(known->number);
    uint32_t count = item->attempts.count;
    WitUniverseAttemptOutcome last = item->attempts.items[count - 1].outcome;
    WitUniverseReceiptStatus status = item->status;
    WitUniverseReceiptStatus want =
        last == WIT_UNIVERSE_ATTEMPT_OUTCOME_OK     ? WIT_UNIVERSE_RECEIPT_STATUS_OK
        : last == WIT_UNIVERSE_ATTEMPT_OUTCOME_LOST ? WIT_UNIVERSE_RECEIPT_STATUS_TIMEOUT
                                                    : WIT_UNIVERSE_RECEIPT_STATUS_ERROR;
    bool once = outside_kinds[kind].at_most_once;
    bool refused = kind == OUTSIDE_FINAL && last == WIT_UNIVERSE_ATTEMPT_OUTCOME_ERROR;
    EXPECT(status == want, "message %" PRIu64 ": status %d after outcome %d", known->number,
           (int)status, (int)last);
    EXPECT(status == WIT_UNIVERSE_RECEIPT_STATUS_OK || once || refused ||
               count == outside_kinds[kind].retry.attempts,
           "message %" PRIu64 ": given up after %" PRIu32 " attempts", known->number, count);
    EXPECT(!once || count == 1, "message %" PRIu64 ": %" PRIu32 " attempts of one that has one",
           known->number, count);
    reading->counts->ok += status == WIT_UNIVERSE_RECEIPT_STATUS_OK;
    reading->counts->errors += status == WIT_UNIVERSE_RECEIPT_STATUS_ERROR;
    reading->counts->timeouts += status == WIT_UNIVERSE_RECEIPT_STATUS_TIMEOUT;
}

static void note_answer(Reading *reading, const WitUniverseEntry *entry)
{
    const WitUniverseInboxItem *item = &entry->item.value;
    Known *known = find_known(reading->audit, item->hash.data);
    bool timer = item->kind == WIT_UNIVERSE_ITEM_KIND_TIMER;
    EXPECT(known->asked && known->timer == timer, "%s: entry %" PRIu64 " answers nothing",
           reading->world, reading->height);
    EXPECT(known->answers++ == 0, "%s: entry %" PRIu64 " answers what was answered", reading->world,
           reading->height);
    bool duplicate = entry->kind == WIT_UNIVERSE_ENTRY_KIND_DUPLICATE;
    EXPECT(duplicate == (known->cancelled != 0), "%s: entry %" PRIu64 " is of kind %d, %s",
           reading->world, reading->height, (int)entry->kind,
           known->cancelled != 0 ? "cancelled" : "not cancelled");
    reading->counts->cancelled_late += duplicate;
    if (timer) {
        EXPECT(item->time_ns >= known->not_before_ns, "%s: a timer fired %" PRIu64 " ns too early",
               reading->world, known->not_before_ns - item->time_ns);
        return;
    }
    bool rejected = entry->kind == WIT_UNIVERSE_ENTRY_KIND_REJECTED;
    EXPECT(
        duplicate || rejected == (known->unnamed && item->status != WIT_UNIVERSE_RECEIPT_STATUS_OK),
        "%s: entry %" PRIu64 " is of kind %d", reading->world, reading->height, (int)entry->kind);
    check_attempts(reading, known, item);
    check_status(reading, known, item);
}

static int read_entry(void *ctx, uint64_t height, uint64_t epoch, Slice content,
                      const WitUniverseEntry *entry)
{
    Reading *reading = (Reading *)ctx;
    (void)epoch;
    (void)content;
    reading->height = height;
    for (uint32_t i = 0; i < entry->intents.count; i++) {
        note_intent(reading, entry, &entry->intents.items[i]);
    }
    if (!entry->item.some) {
        return SAP_OK;
    }
    const WitUniverseInboxItem *item = &entry->item.value;
    if (item->kind == WIT_UNIVERSE_ITEM_KIND_RECEIPT ||
        item->kind == WIT_UNIVERSE_ITEM_KIND_TIMER) {
        note_answer(reading, entry);
    } else if (item->kind == WIT_UNIVERSE_ITEM_KIND_MESSAGE) {
        uint64_t number = load_u64be(item->payload.data);
        EXPECT(number <= OUTSIDE_MESSAGES && !reading->seen[number], "message %" PRIu64 " again",
               number);
        reading->seen[number] = true;
        reading->counts->messages++;
    }
    return SAP_OK;
}

static uint32_t count_bits(uint64_t bits)
{
    return (uint32_t)__builtin_popcountll(bits);
}

/* What no single entry shows. */
static void check_known(const Known *known, OutsideCounts *counts)
{
    uint32_t begun = count_bits(known->begun);
    EXPECT(known->asked, "message %" PRIu64 ": a call for nothing", known->number);
    EXPECT(known->cancelled != 0 || known->answers == 1, "message %" PRIu64 ": a %s is lost",
           known->number, known->timer ? "timer" : "receipt");
    EXPECT(begun <= 1 || !outside_kinds[outside_kind_of(known->number)].at_most_once,
           "message %" PRIu64 ": begun %" PRIu32 " times", known->number, begun);
    counts->begun += begun;
    counts->held += count_bits(known->held);
    counts->again += begun > 0 ? begun - 1 : 0;
}

void outside_audit_end(OutsideAudit *audit, SapUniverse *universe, OutsideCounts *counts)
{
    Reading *reading = (Reading *)calloc(1, sizeof *reading);
    EXPECT(reading != NULL, "no memory");
    reading->audit = audit;
    reading->counts = counts;
    (void)outside_audit_read(audit);
    for (uint32_t i = 0; i < OUTSIDE_WORLDS; i++) {
        char text[OUTSIDE_NAME_MAX];
        UniverseName name;
        SapWorldInfo info;
        outside_world_name(i, text);
        reading->world = text;
        EXPECT_RC(universe_name_set(&name, text), SAP_OK);
        EXPECT_RC(sap_world_info(universe, text, &info), SAP_OK);
        EXPECT(info.status == SAP_WORLD_ACTIVE, "%s: %s", text, info.reason);
        int rc = journal_read(universe->store, universe->number, &name, 1, info.height, read_entry,
                              reading);
        EXPECT(rc == SAP_OK, "%s: reading its journal returned %d", text, rc);
    }
    for (uint32_t i = 1; i <= audit->sent; i++) {
        EXPECT(reading->seen[i], "message %" PRIu32 " was acknowledged and is lost", i);
    }
    for (uint32_t i = 0; i < KNOWN; i++) {
        if (audit->known[i].used) {
            check_known(&audit->known[i], counts);
        }
    }
    free(reading);
}
