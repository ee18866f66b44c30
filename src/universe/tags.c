/* tags.c - by what worlds are found: tags that their handlers give them.
 *
 * A tag is a name, or name=value; a name has one value. What a world has is in its state, in rows that its
 * handler does not see (0 t <name>), so that it is in the journal like everything else. Two rows of the store
 * follow from each: by tag, for lists, and by world. Those of a deleted world go when it is emptied. */
#include <string.h>

#include "common/assert.h"
#include "universe/handler.h"
#include "universe/universe_impl.h"

enum { TAGS_MOST = 64, ROW_HOST = 0, ROW_TAG = 't', TAGS_AT_ONCE = 64 };

/* ---- The handler's calls --------------------------------------------------------------------- */

/* A tag as its handler names it. */
typedef struct Tag {
    UniverseName name;
    UniverseName text; /* name, or name=value */
    Slice value;       /* in `text` */
    size_t key_len;
    uint8_t key[2 + UNIVERSE_NAME_MAX]; /* of its row in the state */
} Tag;

static int make_tag(const char *name, const char *value, Tag *tag)
{
    size_t value_len = value == NULL ? 0 : strlen(value);
    char text[UNIVERSE_NAME_MAX + 1];
    int rc = universe_name_set(&tag->name, name);
    if (rc != SAP_OK || strchr(name, '=') != NULL) {
        return SAP_INVALID;
    }
    size_t len = tag->name.len;
    memcpy(text, name, len);
    if (value_len > 0) {
        if (value_len > UNIVERSE_NAME_MAX - 1 || len + 1 + value_len > UNIVERSE_NAME_MAX) {
            return SAP_INVALID;
        }
        text[len] = '=';
        memcpy(text + len + 1, value, value_len);
        len += 1 + value_len;
    }
    text[len] = 0;
    if (universe_name_set(&tag->text, text) != SAP_OK) {
        return SAP_INVALID;
    }
    tag->value = (Slice){tag->text.text + tag->text.len - value_len, value_len};
    tag->key[0] = ROW_HOST;
    tag->key[1] = ROW_TAG;
    memcpy(tag->key + 2, tag->name.text, tag->name.len);
    tag->key_len = 2 + tag->name.len;
    return SAP_OK;
}

static int count_tag(void *ctx, Slice key, Slice val)
{
    uint32_t *count = (uint32_t *)ctx;
    (void)key;
    (void)val;
    ++*count;
    return SAP_OK;
}

static int add_tag_intent(SapWorld *world, IntentType type, const Tag *tag, Slice value)
{
    IntentView intent = {
        .type = type,
        .kind = slice_from_str(type == INTENT_TAG ? "tag" : "untag"),
        .ref = {tag->name.text, tag->name.len},
        .encoding = SAP_ENCODING_RAW,
        .params = value,
    };
    return handler_add_intent(world, &intent);
}

/* Its value before: copied, since the row goes. */
static int take_old(SapWorld *world, const Tag *tag, Buf *old)
{
    Slice row = {0};
    int rc = state_get(world->state, (Slice){tag->key, tag->key_len}, &row);
    return rc == SAP_OK ? buf_append(old, row.data, row.len) : rc;
}

static int check_call(const SapWorld *world)
{
    if (world == NULL) {
        return SAP_ERROR;
    }
    return handler_is_cancelled(world) ? SAP_FENCED : world->read_only ? SAP_READONLY : SAP_OK;
}

/* Another value takes the place of one. */
static int replace_tag(SapWorld *world, const Tag *tag, const Buf *old, bool had)
{
    static const uint8_t prefix[2] = {ROW_HOST, ROW_TAG};
    uint32_t count = 0;
    int rc = SAP_OK;
    if (had) {
        rc = add_tag_intent(world, INTENT_UNTAG, tag, (Slice){old->data, old->len});
    } else {
        rc = state_scan(world->state, (Slice){prefix, sizeof prefix}, count_tag, &count);
        rc = rc == SAP_OK && count >= TAGS_MOST ? SAP_FULL : rc;
    }
    rc = rc == SAP_OK ? add_tag_intent(world, INTENT_TAG, tag, tag->value) : rc;
    return rc == SAP_OK ? handler_put_row(world, (Slice){tag->key, tag->key_len}, tag->value) : rc;
}

int sap_world_tag(SapWorld *world, const char *name, const char *value)
{
    Tag tag;
    Buf old = {0};
    int rc = check_call(world);
    rc = rc == SAP_OK ? make_tag(name, value, &tag) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = take_old(world, &tag, &old);
    bool had = rc == SAP_OK;
    bool same = had && old.len == tag.value.len &&
                (old.len == 0 || memcmp(old.data, tag.value.data, old.len) == 0);
    if ((had || rc == SAP_NOTFOUND) && !same) {
        rc = replace_tag(world, &tag, &old, had);
    }
    buf_release(&old);
    return rc;
}

int sap_world_untag(SapWorld *world, const char *name)
{
    Tag tag;
    Buf old = {0};
    int rc = check_call(world);
    rc = rc == SAP_OK ? make_tag(name, NULL, &tag) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = take_old(world, &tag, &old);
    rc = rc == SAP_OK ? add_tag_intent(world, INTENT_UNTAG, &tag, (Slice){old.data, old.len}) : rc;
    rc = rc == SAP_OK ? handler_del_row(world, (Slice){tag.key, tag.key_len}) : rc;
    buf_release(&old);
    return rc;
}

/* ---- Their rows ------------------------------------------------------------------------------ */

/* name, or name=value, as a key has it. */
static void join_tag(UniverseName *tag, Slice name, Slice value)
{
    SAP_ASSERT(name.len + (value.len > 0) + value.len <= UNIVERSE_NAME_MAX);
    *tag = (UniverseName){.len = (uint32_t)name.len};
    memcpy(tag->text, name.data, name.len);
    if (value.len > 0) {
        tag->text[tag->len++] = '=';
        memcpy(tag->text + tag->len, value.data, value.len);
        tag->len += (uint32_t)value.len;
    }
}

int tag_write(WriteSet *writes, uint32_t universe, const UniverseName *world,
              const IntentView *intent)
{
    bool put = intent->type == INTENT_TAG;
    WitUniverseDbi48WorldTagsValue fields = {lend_bytes(intent->params.data, intent->params.len)};
    UniverseName tag;
    RowKey by_tag;
    RowKey by_world;
    Buf val = {0};
    join_tag(&tag, intent->ref, intent->params);
    row_key_tag(&by_tag, universe, &tag, world);
    row_key_world_tag(&by_world, universe, world, intent->ref);
    int rc = wit_universe_dbi48_world_tags_value_encode(&fields, &val, NULL);
    SAP_ASSERT(rc != SAP_INVALID);
    rc = rc == SAP_OK ? writes_add(writes, put ? ROW_PUT : ROW_DEL, &by_tag, (Slice){"", 0}) : rc;
    rc = rc == SAP_OK ? writes_add(writes, put ? ROW_PUT : ROW_DEL, &by_world,
                                   put ? (Slice){val.data, val.len} : (Slice){"", 0})
                      : rc;
    buf_release(&val);
    return rc;
}

/* ---- Those of a world ------------------------------------------------------------------------ */

typedef struct TagRow {
    UniverseName name;
    char value[UNIVERSE_NAME_MAX + 1];
} TagRow;

static int decode_tag(const SapStoreRow *row, TagRow *out)
{
    WitUniverseDbi48WorldTagsKey key;
    WitUniverseDbi48WorldTagsValue val;
    int rc = row_decode_code(
        wit_universe_dbi48_world_tags_key_decode(row->key, row->key_len, &key, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    universe_name_copy(&out->name, &key.name);
    wit_universe_dbi48_world_tags_key_free(&key);
    rc = row_decode_code(
        wit_universe_dbi48_world_tags_value_decode(row->val, row->val_len, &val, NULL));
    if (rc == SAP_OK) {
        memcpy(out->value, val.value.len > 0 ? (const char *)val.value.data : "", val.value.len);
        out->value[val.value.len] = 0;
        wit_universe_dbi48_world_tags_value_free(&val);
    }
    return rc;
}

static int scan_tags(SapStoreTxn *txn, uint32_t universe, const UniverseName *world,
                     const SapStoreRow **rows_out, uint32_t *count_out)
{
    RowKey from;
    RowKey to;
    SapStoreRange range;
    row_key_world(&from, WIT_DBI_WORLD_TAGS, universe, world);
    row_range(&from, &to, &range);
    return sap_store_scan(txn, &range, false, TAGS_AT_ONCE, rows_out, count_out);
}

int sap_world_tags(SapUniverse *universe, const char *world,
                   int (*each)(void *ctx, const char *name, const char *value), void *ctx)
{
    UniverseName name;
    SapStoreTxn *txn = NULL;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    if (universe == NULL || each == NULL) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&name, world);
    if (rc != SAP_OK) {
        return rc;
    }
    universe_enter(universe);
    rc = sap_store_begin(universe->store, SAP_STORE_READ_DURABLE, &txn);
    rc = rc == SAP_OK ? scan_tags(txn, universe->number, &name, &rows, &count) : rc;
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        TagRow tag;
        rc = decode_tag(&rows[i], &tag);
        rc = rc == SAP_OK ? each(ctx, tag.name.text, tag.value) : rc;
    }
    sap_store_abort(txn);
    universe_leave(universe);
    return rc;
}

/* ---- Of a deleted world ---------------------------------------------------------------------- */

typedef struct MarkDrop {
    uint32_t universe;
    const UniverseName *world;
    bool done;
} MarkDrop;

static int drop_tag(const MarkDrop *drop, UniverseTxn *txn, const SapStoreRow *row)
{
    TagRow tag;
    UniverseName text;
    RowKey key;
    int rc = decode_tag(row, &tag);
    if (rc != SAP_OK) {
        return rc;
    }
    join_tag(&text, (Slice){tag.name.text, tag.name.len}, slice_from_str(tag.value));
    row_key_tag(&key, drop->universe, &text, drop->world);
    rc = universe_del(txn, &key);
    row_key_world_tag(&key, drop->universe, drop->world, (Slice){tag.name.text, tag.name.len});
    return rc == SAP_OK || rc == SAP_NOTFOUND ? universe_del(txn, &key) : rc;
}

static int drop_marks_body(SapStoreTxn *store_txn, void *ctx)
{
    MarkDrop *drop = (MarkDrop *)ctx;
    UniverseTxn txn;
    UniverseGuard guard = {.exclusive = false};
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    bool takes = false;
    RowKey key;
    row_key_world(&guard.key, WIT_DBI_WORLD_META, drop->universe, drop->world);
    int rc = universe_txn_start(&txn, store_txn, PARTY_DRAIN, &guard, 1, NULL, 0);
    rc = rc == SAP_OK ? world_takes(store_txn, &guard.key, &takes) : rc;
    rc = rc == SAP_OK && takes ? SAP_ERROR : rc;
    rc = rc == SAP_OK ? scan_tags(store_txn, drop->universe, drop->world, &rows, &count) : rc;
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        rc = drop_tag(drop, &txn, &rows[i]);
    }
    drop->done = count < TAGS_AT_ONCE;
    row_key_world(&key, WIT_DBI_RESULTS, drop->universe, drop->world);
    rc = rc == SAP_OK ? universe_del(&txn, &key) : rc;
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

int world_drop_marks(SapUniverse *universe, const UniverseName *world, bool *done_out)
{
    MarkDrop drop = {.universe = universe->number, .world = world};
    int rc = sap_store_run(universe->store, SAP_STORE_GUARDED, drop_marks_body, &drop, NULL);
    *done_out = rc == SAP_OK && drop.done;
    return rc;
}
