/* lists.c - see lists.h; worlds, and what waits for one. */
#include "universe/lists.h"

#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/bytes.h"
#include "common/options.h"
#include "universe/hex.h"
#include "universe/payload.h"

OPTIONS_LAYOUT(SapListQuery, states, states);

enum {
    LIST_DEFAULT = 100,
    LIST_MOST = 1000,
    ROWS_AT_ONCE = 64,
    ROWS_IN_ALL = 10000,
    END_OF_NAME = 2,  /* bytes that end a name in a key */
    UNIVERSE_LEN = 4, /* of a key: the same in all of a universe */
};

/* ---- Where a page goes on -------------------------------------------------------------------- */

static void write_next(const Listing *listing, const RowKey *last)
{
    char *at = listing->end->next;
    uint8_t table = (uint8_t)last->table;
    SAP_ASSERT(2 * (last->len - UNIVERSE_LEN + 1) < sizeof listing->end->next);
    hex_write(at, &table, 1);
    hex_write(at + 2, last->bytes + UNIVERSE_LEN, last->len - UNIVERSE_LEN);
}

/* The table in one byte, then the key without its universe. */
static int read_after(Listing *listing, const char *text)
{
    size_t len = strlen(text);
    RowKey *after = &listing->after;
    if (len % 2 != 0 || len < 4 || len / 2 - 1 + UNIVERSE_LEN >= sizeof after->bytes) {
        return SAP_INVALID;
    }
    uint8_t table = 0;
    uint32_t rest = (uint32_t)(len / 2 - 1);
    row_key_universe(after, 0, listing->universe->number);
    if (!hex_read(text, &table, 1) || !hex_read(text + 2, after->bytes + after->len, rest)) {
        return SAP_INVALID;
    }
    after->table = table;
    after->len += rest;
    return SAP_OK;
}

/* ---- Pages ----------------------------------------------------------------------------------- */

static unsigned given_filters(const SapListQuery *query)
{
    return (query->prefix != NULL ? (unsigned)LIST_PREFIX : 0) |
           (query->world != NULL ? (unsigned)LIST_WORLD : 0) |
           (query->kind != NULL ? (unsigned)LIST_KIND : 0) |
           (query->module != NULL ? (unsigned)LIST_MODULE : 0) |
           (query->tag != NULL ? (unsigned)LIST_TAG : 0) |
           (query->statuses != 0 ? (unsigned)LIST_STATUSES : 0) |
           (query->states != 0 ? (unsigned)LIST_STATES : 0);
}

int listing_begin(Listing *listing, SapUniverse *universe, const SapListQuery *query,
                  unsigned filters, SapListEnd *end_out)
{
    *listing = (Listing){.query = {.size = sizeof listing->query}};
    if (universe == NULL || OPTIONS_READ(SapListQuery, &listing->query, query) != SAP_OK) {
        return SAP_ERROR;
    }
    listing->end = end_out;
    uint32_t limit = listing->query.limit;
    if ((given_filters(&listing->query) & ~filters) != 0 || limit > LIST_MOST) {
        return SAP_ERROR;
    }
    listing->query.limit = limit == 0 ? LIST_DEFAULT : limit;
    listing->universe = universe;
    universe_enter(universe);
    const char *after = listing->query.after;
    return after == NULL || after[0] == 0 ? SAP_OK : read_after(listing, after);
}

int listing_end(Listing *listing, int rc)
{
    if (listing->universe != NULL) {
        universe_leave(listing->universe);
    }
    if (listing->end != NULL && (rc != SAP_OK || !listing->full)) {
        listing->end->more = false;
        listing->end->next[0] = 0;
    }
    return rc;
}

/* Shows rows of one transaction. *from moves behind the last that was looked at. */
static int walk_some(Listing *listing, RowKey *from, const SapStoreRange *all, ListRow row,
                     uint32_t *count_out)
{
    SapStoreTxn *txn = NULL;
    const SapStoreRow *rows = NULL;
    SapStoreRange range = *all;
    uint32_t limit = listing->query.limit;
    range.from = from->bytes;
    range.from_len = from->len;
    int rc = sap_store_begin(listing->universe->store, SAP_STORE_READ_DURABLE, &txn);
    rc = rc == SAP_OK ? sap_store_scan(txn, &range, false, ROWS_AT_ONCE, &rows, count_out) : rc;
    for (uint32_t i = 0; rc == SAP_OK && !listing->full && i < *count_out; i++) {
        bool shown = false;
        rc = row(listing, txn, &rows[i], &shown);
        listing->shown += shown;
        listing->looked++;
        listing->full = listing->shown >= limit || listing->looked >= ROWS_IN_ALL;
        row_key_after(from, &rows[i]);
    }
    sap_store_abort(txn);
    return rc;
}

int listing_walk(Listing *listing, const RowKey *prefix, uint32_t later, ListRow row)
{
    RowKey from = *prefix;
    RowKey to;
    SapStoreRange range;
    uint32_t count = ROWS_AT_ONCE;
    int rc = SAP_OK;
    row_range(prefix, &to, &range);
    if (listing->after.len > 0 && listing->after.table == later) {
        return SAP_OK;
    }
    if (listing->after.len > 0) {
        if (listing->after.table != prefix->table) {
            return SAP_INVALID;
        }
        from = listing->after;
        from.bytes[from.len++] = 0;
        listing->after.len = 0;
        bool inside =
            from.len >= prefix->len && memcmp(from.bytes, prefix->bytes, prefix->len) == 0;
        if (!inside) {
            return SAP_INVALID;
        }
    }
    while (rc == SAP_OK && !listing->full && count == ROWS_AT_ONCE) {
        rc = walk_some(listing, &from, &range, row, &count);
    }
    if (rc == SAP_OK && listing->full && listing->end != NULL) {
        from.len--; /* the key itself, not what comes after it */
        listing->end->more = true;
        write_next(listing, &from);
    }
    return rc;
}

/* ---- Helpers of lists ------------------------------------------------------------------------ */

bool list_matches(const char *filter, const CodecBytes *text)
{
    return filter == NULL ||
           (strlen(filter) == text->len && memcmp(filter, text->data, text->len) == 0);
}

const char *list_text(ListText *room, const CodecBytes *from)
{
    SAP_ASSERT(from->len < sizeof room->text);
    if (from->len > 0) {
        memcpy(room->text, from->data, from->len);
    }
    room->text[from->len] = 0;
    return room->text;
}

/* Names have neither zero bytes nor control characters, so their bytes are those of the key; two end it. */
int list_prefix(const Listing *listing, uint32_t table, RowKey *prefix_out)
{
    UniverseName name;
    const char *prefix = listing->query.prefix;
    if (prefix == NULL || prefix[0] == 0) {
        row_key_universe(prefix_out, table, listing->universe->number);
        return SAP_OK;
    }
    int rc = universe_name_set(&name, prefix);
    if (rc == SAP_OK) {
        row_key_world(prefix_out, table, listing->universe->number, &name);
        prefix_out->len -= END_OF_NAME;
    }
    return rc;
}

uint64_t list_left(uint64_t now_ns, uint64_t then_ns)
{
    return then_ns > now_ns ? then_ns - now_ns : 0;
}

/* ---- Worlds ---------------------------------------------------------------------------------- */

typedef int (*WorldVisitor)(void *ctx, const char *name, const SapWorldInfo *info);

static int show_world(Listing *listing, SapStoreTxn *txn, const UniverseName *world,
                      bool *shown_out)
{
    const WorldVisitor *each = (const WorldVisitor *)listing->each;
    const SapListQuery *query = &listing->query;
    SapWorldInfo info;
    int rc = world_info_read(txn, listing->universe->number, world, &info);
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    *shown_out = (query->statuses == 0 || (query->statuses & (1u << info.status)) != 0) &&
                 (query->module == NULL || strcmp(query->module, info.module) == 0);
    return *shown_out ? (*each)(listing->ctx, world->text, &info) : SAP_OK;
}

static int show_meta_row(Listing *listing, SapStoreTxn *txn, const SapStoreRow *row,
                         bool *shown_out)
{
    WitUniverseDbi21WorldMetaKey key;
    UniverseName world;
    int rc = row_decode_code(
        wit_universe_dbi21_world_meta_key_decode(row->key, row->key_len, &key, NULL));
    if (rc == SAP_OK) {
        universe_name_copy(&world, &key.world);
        wit_universe_dbi21_world_meta_key_free(&key);
        rc = show_world(listing, txn, &world, shown_out);
    }
    return rc;
}

static int show_tag_row(Listing *listing, SapStoreTxn *txn, const SapStoreRow *row, bool *shown_out)
{
    WitUniverseDbi46TagsKey key;
    UniverseName world;
    int rc =
        row_decode_code(wit_universe_dbi46_tags_key_decode(row->key, row->key_len, &key, NULL));
    if (rc == SAP_OK) {
        universe_name_copy(&world, &key.world);
        wit_universe_dbi46_tags_key_free(&key);
        rc = show_world(listing, txn, &world, shown_out);
    }
    return rc;
}

/* The rows of a tag, of worlds whose names begin with the prefix. */
static int tag_prefix(const Listing *listing, RowKey *prefix_out)
{
    const char *prefix = listing->query.prefix;
    bool all = prefix == NULL || prefix[0] == 0;
    UniverseName tag;
    UniverseName world;
    int rc = universe_name_set(&tag, listing->query.tag);
    rc = rc == SAP_OK ? universe_name_set(&world, all ? "a" : prefix) : rc;
    if (rc == SAP_OK) {
        row_key_tag(prefix_out, listing->universe->number, &tag, &world);
        prefix_out->len -= all ? END_OF_NAME + 1 : END_OF_NAME;
    }
    return rc;
}

int sap_worlds_list(SapUniverse *universe, const SapListQuery *query, WorldVisitor each, void *ctx,
                    SapListEnd *end_out)
{
    Listing listing;
    RowKey prefix;
    if (each == NULL) {
        return SAP_ERROR;
    }
    int rc = listing_begin(&listing, universe, query,
                           LIST_PREFIX | LIST_MODULE | LIST_STATUSES | LIST_TAG, end_out);
    bool by_tag = rc == SAP_OK && listing.query.tag != NULL;
    listing.each = &each;
    listing.ctx = ctx;
    if (rc == SAP_OK) {
        rc = by_tag ? tag_prefix(&listing, &prefix)
                    : list_prefix(&listing, WIT_DBI_WORLD_META, &prefix);
    }
    rc = rc == SAP_OK ? listing_walk(&listing, &prefix, 0, by_tag ? show_tag_row : show_meta_row)
                      : rc;
    return listing_end(&listing, rc);
}

/* ---- What waits for a world ------------------------------------------------------------------ */

typedef struct InboxCount {
    SapUniverse *universe;
    uint64_t oldest_ns; /* lease time */
    uint32_t count;
} InboxCount;

/* The rows of a class, up to SAP_COUNT_MOST + 1: *from moves on. */
static int count_some(InboxCount *counting, RowKey *from, const RowKey *to, uint32_t *count_out)
{
    SapStoreTxn *txn = NULL;
    const SapStoreRow *rows = NULL;
    SapStoreRange range = {from->table, from->bytes, from->len, to->bytes, to->len};
    int rc = sap_store_begin(counting->universe->store, SAP_STORE_READ_DURABLE, &txn);
    rc = rc == SAP_OK ? sap_store_scan(txn, &range, false, ROWS_AT_ONCE, &rows, count_out) : rc;
    if (rc == SAP_OK && *count_out > 0) {
        WitUniverseDbi24WorldInboxKey key;
        rc = row_decode_code(
            wit_universe_dbi24_world_inbox_key_decode(rows[0].key, rows[0].key_len, &key, NULL));
        if (rc == SAP_OK && counting->count == 0) { /* a seq begins with its time */
            uint64_t at_ns = load_u64be(key.seq.data);
            counting->oldest_ns = at_ns < counting->oldest_ns ? at_ns : counting->oldest_ns;
        }
        if (rc == SAP_OK) {
            wit_universe_dbi24_world_inbox_key_free(&key);
        }
        counting->count += *count_out;
        row_key_after(from, &rows[*count_out - 1]);
    }
    sap_store_abort(txn);
    return rc;
}

static int count_class(InboxCount *counting, const UniverseName *world, uint8_t item_class,
                       uint32_t *total_out, bool *capped)
{
    uint8_t seq[UNIVERSE_SEQ] = {0};
    uint32_t count = ROWS_AT_ONCE;
    RowKey from;
    RowKey to;
    int rc = SAP_OK;
    row_key_inbox(&from, counting->universe->number, world, item_class, seq);
    memset(seq, UINT8_MAX, sizeof seq);
    row_key_inbox(&to, counting->universe->number, world, item_class, seq);
    counting->count = 0;
    while (rc == SAP_OK && count == ROWS_AT_ONCE && counting->count <= SAP_COUNT_MOST) {
        rc = count_some(counting, &from, &to, &count);
    }
    *capped = *capped || counting->count > SAP_COUNT_MOST;
    *total_out = counting->count > SAP_COUNT_MOST ? SAP_COUNT_MOST : counting->count;
    return rc;
}

int sap_world_inbox(SapUniverse *universe, const char *world, SapInboxInfo *info_out)
{
    InboxCount counting = {.universe = universe, .oldest_ns = UINT64_MAX};
    SapWorldInfo world_info;
    SapInboxInfo info = {.control = 0};
    UniverseName name;
    if (universe == NULL || info_out == NULL) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&name, world);
    rc = rc == SAP_OK ? sap_world_info(universe, world, &world_info) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    universe_enter(universe);
    rc =
        count_class(&counting, &name, WIT_UNIVERSE_ITEM_CLASS_CONTROL, &info.control, &info.capped);
    rc = rc == SAP_OK ? count_class(&counting, &name, WIT_UNIVERSE_ITEM_CLASS_RECEIPT,
                                    &info.receipts, &info.capped)
                      : rc;
    rc = rc == SAP_OK ? count_class(&counting, &name, WIT_UNIVERSE_ITEM_CLASS_MESSAGE,
                                    &info.messages, &info.capped)
                      : rc;
    if (rc == SAP_OK) {
        uint64_t now_ns = sap_store_lease_ns(universe->store);
        info.age_ns = counting.oldest_ns < now_ns ? now_ns - counting.oldest_ns : 0;
        *info_out = info;
    }
    universe_leave(universe);
    return rc;
}
