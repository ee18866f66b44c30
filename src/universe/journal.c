/* journal.c - see journal.h. */
#include "universe/journal.h"

#include <string.h>

#include "common/assert.h"
#include "store/store_impl.h"

/* ---- The head -------------------------------------------------------------------------------- */

void journal_next(const HeadRow *head, Slice content, const uint8_t state_sum[UNIVERSE_SUM],
                  uint64_t time_ns, HeadRow *next_out)
{
    DigestState state;
    Digest digest;
    digest_init(&state);
    digest_update(&state, head->digest, sizeof head->digest);
    digest_update(&state, content.data, content.len);
    digest_final(&state, &digest);
    SAP_ASSERT(time_ns >= head->time_ns);
    next_out->height = head->height + 1;
    next_out->time_ns = time_ns;
    memcpy(next_out->digest, digest.bytes, sizeof next_out->digest);
    memcpy(next_out->state_sum, state_sum, sizeof next_out->state_sum);
}

static bool same_head(const HeadRow *a, const HeadRow *b)
{
    return a->height == b->height && memcmp(a->digest, b->digest, sizeof a->digest) == 0;
}

void journal_guards(const Lease *lease, UniverseGuard guards_out[JOURNAL_GUARDS])
{
    guards_out[0] = (UniverseGuard){lease->key, true};
    guards_out[1].exclusive = true;
    row_key_world(&guards_out[1].key, WIT_DBI_HEAD, lease->session->universe, &lease->name);
}

static int read_birth(SapStoreTxn *txn, uint32_t universe, const UniverseName *world,
                      WorldBirth *birth_out)
{
    RowKey key;
    WitUniverseDbi21WorldMetaValue meta;
    row_key_world(&key, WIT_DBI_WORLD_META, universe, world);
    int rc = meta_row_get(txn, &key, &meta);
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_CORRUPT : rc;
    }
    universe_name_copy(&birth_out->module, &meta.module);
    birth_out->pin = meta.pin;
    birth_out->has_reason = meta.reason.len > 0;
    birth_out->is_stuck = meta.status == WIT_UNIVERSE_WORLD_STATUS_STUCK;
    birth_out->height = meta.born_height;
    memcpy(birth_out->seed, meta.seed.data, sizeof birth_out->seed);
    memcpy(birth_out->digest, meta.born_digest.data, sizeof birth_out->digest);
    wit_universe_dbi21_world_meta_value_free(&meta);
    return SAP_OK;
}

/* A world that was created and has no entry since then begins with an empty state. */
static int read_head(SapStoreTxn *txn, uint32_t universe, const UniverseName *world,
                     const WorldBirth *birth, HeadRow *head_out)
{
    RowKey key;
    row_key_world(&key, WIT_DBI_HEAD, universe, world);
    int rc = head_row_get(txn, &key, head_out);
    if (rc == SAP_NOTFOUND) {
        *head_out = (HeadRow){0};
        rc = SAP_OK;
    }
    if (rc == SAP_OK && head_out->height == birth->height) {
        memset(head_out->state_sum, 0, sizeof head_out->state_sum);
    }
    return rc == SAP_OK && head_out->height < birth->height ? SAP_CORRUPT : rc;
}

static int read_both(const Lease *lease, SapStoreTxn *txn, HeadRow *head_out, WorldBirth *birth_out)
{
    uint32_t universe = lease->session->universe;
    int rc = lease_stands(lease, txn);
    rc = rc == SAP_OK ? read_birth(txn, universe, &lease->name, birth_out) : rc;
    return rc == SAP_OK ? read_head(txn, universe, &lease->name, birth_out, head_out) : rc;
}

int journal_check(const Lease *lease, SapStoreTxn *txn, const HeadRow *head)
{
    HeadRow now;
    WorldBirth birth;
    int rc = read_both(lease, txn, &now, &birth);
    return rc == SAP_OK && !same_head(&now, head) ? SAP_FENCED : rc;
}

typedef struct HeadRead {
    const Lease *lease;
    HeadRow head;
    WorldBirth birth;
} HeadRead;

static int read_head_body(SapStoreTxn *store_txn, void *ctx)
{
    HeadRead *read = (HeadRead *)ctx;
    UniverseTxn txn;
    UniverseGuard guards[JOURNAL_GUARDS];
    journal_guards(read->lease, guards);
    int rc = universe_txn_start(&txn, store_txn, PARTY_HOLDER, guards, JOURNAL_GUARDS, NULL, 0);
    return rc == SAP_OK ? read_both(read->lease, store_txn, &read->head, &read->birth) : rc;
}

/* In a guarded transaction: a plain read could miss a commit that is under way. Nobody is told of what it
 * read, so it does not wait for the disk. */
int journal_open(const Lease *lease, HeadRow *head_out, WorldBirth *birth_out)
{
    HeadRead read = {.lease = lease};
    uint64_t mark = 0;
    int rc = store_run_async(lease->session->store, SAP_STORE_GUARDED, read_head_body, &read, &mark,
                             NULL);
    if (rc == SAP_OK) {
        *head_out = read.head;
        *birth_out = read.birth;
    }
    return rc;
}

int journal_resolve(const Lease *lease, const HeadRow *before, const HeadRow *after,
                    bool *happened_out)
{
    HeadRead read = {.lease = lease};
    /* What was read is acted on, so it waits for the disk. */
    int rc = sap_store_run(lease->session->store, SAP_STORE_GUARDED, read_head_body, &read, NULL);
    if (rc != SAP_OK) {
        return rc;
    }
    if (!same_head(&read.head, after) && !same_head(&read.head, before)) {
        return SAP_FENCED;
    }
    *happened_out = same_head(&read.head, after);
    return SAP_OK;
}

/* ---- Writing --------------------------------------------------------------------------------- */

int journal_write_head(WriteSet *writes, const Lease *lease, const HeadRow *head)
{
    RowKey key;
    Buf val = {0};
    row_key_world(&key, WIT_DBI_HEAD, lease->session->universe, &lease->name);
    int rc = head_row_encode(head, &val);
    rc = rc == SAP_OK ? writes_add(writes, ROW_PUT, &key, (Slice){val.data, val.len}) : rc;
    buf_release(&val);
    return rc;
}

int journal_write_entry(WriteSet *writes, const Lease *lease, uint64_t height, Slice content)
{
    const uint8_t *bytes = (const uint8_t *)content.data;
    uint32_t parts = (uint32_t)((content.len + UNIVERSE_PART_MAX - 1) / UNIVERSE_PART_MAX);
    Buf val = {0};
    int rc = SAP_OK;
    SAP_ASSERT(content.len > 0);
    for (uint32_t part = 0; rc == SAP_OK && part < parts; part++) {
        size_t at = (size_t)part * UNIVERSE_PART_MAX;
        size_t len = content.len - at < UNIVERSE_PART_MAX ? content.len - at : UNIVERSE_PART_MAX;
        WitUniverseDbi20JournalValue fields = {lease->epoch, parts, lend_bytes(bytes + at, len)};
        RowKey key;
        row_key_journal(&key, lease->session->universe, &lease->name, height, part);
        buf_clear(&val);
        rc = wit_universe_dbi20_journal_value_encode(&fields, &val, NULL);
        SAP_ASSERT(rc != SAP_INVALID);
        rc = rc == SAP_OK ? writes_add(writes, ROW_PUT, &key, (Slice){val.data, val.len}) : rc;
    }
    buf_release(&val);
    return rc;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Puts parts together, and hands out whole entries. */
typedef struct JournalReader {
    uint64_t height; /* of the entry that is next, or under way */
    uint32_t part;   /* that is next */
    uint64_t epoch;
    Buf content;
    JournalEntry entry;
    void *ctx;
} JournalReader;

static int finish_entry(JournalReader *reader)
{
    WitUniverseEntry entry;
    int rc = row_decode_code(
        wit_universe_entry_decode(reader->content.data, reader->content.len, &entry, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    rc = reader->entry(reader->ctx, reader->height, reader->epoch,
                       (Slice){reader->content.data, reader->content.len}, &entry);
    wit_universe_entry_free(&entry);
    buf_clear(&reader->content);
    reader->height++;
    reader->part = 0;
    return rc;
}

static int take_part(JournalReader *reader, const SapStoreRow *row)
{
    WitUniverseDbi20JournalKey key;
    WitUniverseDbi20JournalValue val;
    int rc =
        row_decode_code(wit_universe_dbi20_journal_key_decode(row->key, row->key_len, &key, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    bool expected = key.height == reader->height && key.part == reader->part;
    wit_universe_dbi20_journal_key_free(&key);
    rc = row_decode_code(
        wit_universe_dbi20_journal_value_decode(row->val, row->val_len, &val, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    rc = expected ? buf_append(&reader->content, val.content.data, val.content.len) : SAP_CORRUPT;
    reader->epoch = val.epoch;
    bool last = ++reader->part >= val.parts;
    wit_universe_dbi20_journal_value_free(&val);
    return rc == SAP_OK && last ? finish_entry(reader) : rc;
}

/* One transaction's worth of rows. */
static int read_some(SapStore *store, const SapStoreRange *range, JournalReader *reader,
                     uint32_t *count_out)
{
    enum { ROWS_AT_ONCE = 64 };
    SapStoreTxn *txn = NULL;
    const SapStoreRow *rows = NULL;
    int rc = sap_store_begin(store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? sap_store_scan(txn, range, false, ROWS_AT_ONCE, &rows, count_out) : rc;
    for (uint32_t i = 0; rc == SAP_OK && i < *count_out; i++) {
        rc = take_part(reader, &rows[i]);
    }
    sap_store_abort(txn);
    return rc;
}

int journal_read(SapStore *store, uint32_t universe, const UniverseName *world, uint64_t first,
                 uint64_t last, JournalEntry entry, void *ctx)
{
    JournalReader reader = {.height = first, .entry = entry, .ctx = ctx};
    RowKey from;
    RowKey to;
    int rc = SAP_OK;
    row_key_journal(&to, universe, world, last + 1, 0);
    while (rc == SAP_OK && reader.height <= last) {
        SapStoreRange range;
        uint32_t count = 0;
        row_key_journal(&from, universe, world, reader.height, reader.part);
        range = (SapStoreRange){from.table, from.bytes, from.len, to.bytes, to.len};
        rc = read_some(store, &range, &reader, &count);
        if (rc == SAP_OK && count == 0) {
            rc = SAP_CORRUPT; /* the head says that there is more */
        }
    }
    buf_release(&reader.content);
    return rc;
}

/* ---- Restoring ------------------------------------------------------------------------------- */

int journal_apply(WorldState *state, const WitUniverseEntry *entry)
{
    uint8_t sum[UNIVERSE_SUM];
    for (uint32_t i = 0; i < entry->delta.count; i++) {
        const WitUniverseChange *change = &entry->delta.items[i];
        Slice key = {change->key.data, change->key.len};
        int rc =
            change->value.some
                ? state_put(state, key, (Slice){change->value.value.data, change->value.value.len})
                : state_del(state, key);
        if (rc != SAP_OK) {
            return rc == SAP_NOMEM ? rc : SAP_CORRUPT;
        }
    }
    state_sum(state, sum);
    return memcmp(sum, entry->state_sum.data, sizeof sum) == 0 ? SAP_OK : SAP_CORRUPT;
}

typedef struct Restore {
    WorldState *state;
    HeadRow head; /* as far as it has come */
} Restore;

static int restore_entry(void *ctx, uint64_t height, uint64_t epoch, Slice content,
                         const WitUniverseEntry *entry)
{
    Restore *restore = (Restore *)ctx;
    HeadRow before = restore->head;
    (void)height;
    (void)epoch;
    int rc = entry->time_ns >= before.time_ns ? journal_apply(restore->state, entry) : SAP_CORRUPT;
    if (rc == SAP_OK) {
        journal_next(&before, content, entry->state_sum.data, entry->time_ns, &restore->head);
    }
    return rc;
}

/* Applies the entries up to a height to an empty state. On SAP_OK the caller owns restore->state. */
static int restore_to(SapStore *store, uint32_t universe, const UniverseName *world,
                      const WorldBirth *birth, uint64_t height, Restore *restore)
{
    *restore = (Restore){.head = {.height = birth->height}};
    memcpy(restore->head.digest, birth->digest, sizeof restore->head.digest);
    int rc = state_open(&restore->state);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = state_begin(restore->state);
    if (rc == SAP_OK && height > birth->height) {
        rc =
            journal_read(store, universe, world, birth->height + 1, height, restore_entry, restore);
    }
    rc = rc == SAP_OK ? state_commit(restore->state) : rc;
    if (rc != SAP_OK) {
        state_close(restore->state);
        restore->state = NULL;
    }
    return rc;
}

int journal_restore(SapStore *store, uint32_t universe, const UniverseName *world,
                    const WorldBirth *birth, const HeadRow *head, WorldState **state_out)
{
    Restore restore;
    int rc = restore_to(store, universe, world, birth, head->height, &restore);
    if (rc == SAP_OK && (!same_head(&restore.head, head) ||
                         memcmp(restore.head.state_sum, head->state_sum, UNIVERSE_SUM) != 0)) {
        rc = SAP_CORRUPT;
    }
    if (rc != SAP_OK) {
        state_close(restore.state);
        return rc;
    }
    *state_out = restore.state;
    return SAP_OK;
}

int journal_peek(SapStore *store, uint32_t universe, const UniverseName *world,
                 WorldBirth *birth_out, HeadRow *head_out)
{
    SapStoreTxn *txn = NULL;
    RowKey key;
    Slice val;
    row_key_world(&key, WIT_DBI_WORLD_META, universe, world);
    int rc = sap_store_begin(store, SAP_STORE_READ_DURABLE, &txn);
    rc = rc == SAP_OK ? universe_get(txn, &key, &val) : rc;
    rc = rc == SAP_OK ? read_birth(txn, universe, world, birth_out) : rc;
    rc = rc == SAP_OK ? read_head(txn, universe, world, birth_out, head_out) : rc;
    sap_store_abort(txn);
    return rc;
}

int journal_forward(SapStore *store, uint32_t universe, const UniverseName *world,
                    JournalView *view, const HeadRow *head)
{
    Restore restore = {view->state, view->head};
    if (head->height < view->head.height) {
        return SAP_CORRUPT;
    }
    int rc = state_begin(view->state);
    if (rc != SAP_OK) {
        return rc;
    }
    if (head->height > view->head.height) {
        rc = journal_read(store, universe, world, view->head.height + 1, head->height,
                          restore_entry, &restore);
    }
    rc = rc == SAP_OK && !same_head(&restore.head, head) ? SAP_CORRUPT : rc;
    if (rc != SAP_OK) {
        state_abort(view->state);
        return rc;
    }
    rc = state_commit(view->state);
    view->head = rc == SAP_OK ? *head : view->head;
    return rc;
}

int journal_look(SapStore *store, uint32_t universe, const UniverseName *world,
                 WorldState **state_out)
{
    JournalView view;
    int rc = journal_look_at(store, universe, world, UINT64_MAX, &view);
    if (rc == SAP_OK) {
        *state_out = view.state;
    }
    return rc;
}

int journal_look_at(SapStore *store, uint32_t universe, const UniverseName *world, uint64_t height,
                    JournalView *view_out)
{
    JournalView view = {.state = NULL};
    Restore restore;
    int rc = journal_peek(store, universe, world, &view.birth, &view.head);
    if (rc != SAP_OK) {
        return rc;
    }
    if (height == UINT64_MAX || height == view.head.height) {
        rc = journal_restore(store, universe, world, &view.birth, &view.head, &view.state);
    } else if (height < view.birth.height || height > view.head.height) {
        rc = SAP_NOTFOUND;
    } else {
        rc = restore_to(store, universe, world, &view.birth, height, &restore);
        view.head = restore.head;
        view.state = restore.state;
    }
    if (rc == SAP_OK) {
        *view_out = view;
    }
    return rc;
}
