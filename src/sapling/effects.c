/* effects.c - see effects.h. */
#include "sapling/effects.h"

#include "common/assert.h"
#include "sapling/wal_format.h"

enum {
    EFFECT_PUT = 1,
    EFFECT_DEL = 2,
    EFFECT_DEL_RANGE = 3,
    EFFECT_DEFINE = 4,
    EFFECT_SUBSYSTEM = 5,
    /* A put whose value is still to be read; becomes one before the record leaves here. */
    EFFECT_RESERVED = 0x80,
};

enum {
    EFFECT_HEADER = 3,    /* kind and table */
    KEPT_BYTES = 1 << 20, /* of the buffer from one transaction to the next */
};

#define NO_PART UINT32_MAX

typedef struct Part {
    const uint8_t *bytes; /* NULL: no such part */
    uint32_t len;
} Part;

typedef struct Effect {
    uint8_t kind;
    uint32_t dbi;
    uint32_t flags; /* EFFECT_DEFINE */
    Part first;
    Part second;
} Effect;

/* ---- Bytes ---------------------------------------------------------------------------------- */

static bool has_two_parts(uint8_t kind)
{
    return kind != EFFECT_DEL && kind != EFFECT_SUBSYSTEM;
}

/* second.bytes NULL with a length, EFFECT_RESERVED only: zeros. */
static int effect_append(Buf *buf, const Effect *effect)
{
    bool define = effect->kind == EFFECT_DEFINE;
    bool two = has_two_parts(effect->kind);
    size_t size = (size_t)EFFECT_HEADER + (define ? 4 : 0) + (two ? 8 : 4) + effect->first.len +
                  effect->second.len;
    int rc = buf_reserve(buf, size);
    if (rc != SAP_OK) {
        return rc;
    }
    bool reserved = effect->kind == EFFECT_RESERVED;
    (void)buf_append_u8(buf, effect->kind);
    (void)buf_append_u16le(buf, (uint16_t)effect->dbi);
    if (define) {
        (void)buf_append_u32le(buf, effect->flags);
    }
    (void)buf_append_u32le(buf, effect->first.bytes != NULL ? effect->first.len : NO_PART);
    if (two) {
        bool there = reserved || effect->second.bytes != NULL;
        (void)buf_append_u32le(buf, there ? effect->second.len : NO_PART);
    }
    (void)buf_append(buf, effect->first.bytes, effect->first.len);
    if (reserved) {
        memset(buf->data + buf->len, 0, effect->second.len);
        buf->len += effect->second.len;
    } else {
        (void)buf_append(buf, effect->second.bytes, effect->second.len);
    }
    return SAP_OK;
}

static int part_take(ByteReader *reader, uint32_t len, Part *part)
{
    if (len == NO_PART) {
        return SAP_OK;
    }
    part->len = len;
    int rc = reader_bytes(reader, len, &part->bytes);
    part->bytes = key_bytes(part->bytes);
    return rc;
}

/* Takes the next effect, whose kind may be any. SAP_INVALID: there is none. */
static int effect_take(ByteReader *reader, Effect *out)
{
    uint16_t dbi = 0;
    uint32_t first_len = 0;
    uint32_t second_len = NO_PART;
    *out = (Effect){0};
    int rc = reader_u8(reader, &out->kind);
    if (rc == SAP_OK) {
        rc = reader_u16le(reader, &dbi);
    }
    if (rc == SAP_OK && out->kind == EFFECT_DEFINE) {
        rc = reader_u32le(reader, &out->flags);
    }
    if (rc == SAP_OK) {
        rc = reader_u32le(reader, &first_len);
    }
    if (rc == SAP_OK && has_two_parts(out->kind)) {
        rc = reader_u32le(reader, &second_len);
    }
    if (rc == SAP_OK) {
        rc = part_take(reader, first_len, &out->first);
    }
    if (rc == SAP_OK) {
        rc = part_take(reader, second_len, &out->second);
    }
    out->dbi = dbi;
    return rc;
}

bool effects_only_delete(Slice record)
{
    ByteReader reader;
    Effect effect;
    bool only = true;
    reader_init(&reader, record.data, record.len);
    while (only && effect_take(&reader, &effect) == SAP_OK) {
        only = effect.kind == EFFECT_DEL || effect.kind == EFFECT_DEL_RANGE;
    }
    return only;
}

/* ---- Recording ------------------------------------------------------------------------------ */

void change_rewind(SapEnv *env, ChangeMark mark)
{
    buf_truncate(&env->notes, mark.notes);
    buf_truncate(&env->effects, mark.effects);
    if (mark.effects == 0 && env->effects.cap > KEPT_BYTES) {
        buf_release(&env->effects);
    }
}

int effects_put(SapTxnCtx *txn, uint32_t dbi, const uint8_t *key, uint32_t key_len, const void *val,
                uint32_t val_len)
{
    if (!txn->env->log_effects) {
        return SAP_OK;
    }
    return effect_append(&txn->env->effects, &(Effect){.kind = EFFECT_PUT,
                                                       .dbi = dbi,
                                                       .first = {key_bytes(key), key_len},
                                                       .second = {key_bytes(val), val_len}});
}

int effects_reserve(SapTxnCtx *txn, uint32_t dbi, const uint8_t *key, uint32_t key_len,
                    uint32_t val_len)
{
    if (!txn->env->log_effects) {
        return SAP_OK;
    }
    return effect_append(&txn->env->effects, &(Effect){.kind = EFFECT_RESERVED,
                                                       .dbi = dbi,
                                                       .first = {key_bytes(key), key_len},
                                                       .second = {NULL, val_len}});
}

int effects_del(SapTxnCtx *txn, uint32_t dbi, const uint8_t *key, uint32_t key_len)
{
    if (!txn->env->log_effects) {
        return SAP_OK;
    }
    return effect_append(
        &txn->env->effects,
        &(Effect){.kind = EFFECT_DEL, .dbi = dbi, .first = {key_bytes(key), key_len}});
}

static Part bound_part(const TreeBound *bound)
{
    return bound != NULL ? (Part){key_bytes(bound->key), bound->len} : (Part){0};
}

int effects_del_range(SapTxnCtx *txn, uint32_t dbi, const TreeBound *from, const TreeBound *to)
{
    if (!txn->env->log_effects) {
        return SAP_OK;
    }
    return effect_append(&txn->env->effects, &(Effect){.kind = EFFECT_DEL_RANGE,
                                                       .dbi = dbi,
                                                       .first = bound_part(from),
                                                       .second = bound_part(to)});
}

static Part name_part(const char *name)
{
    return name != NULL ? (Part){(const uint8_t *)name, (uint32_t)strlen(name)} : (Part){0};
}

int effects_define(SapTxnCtx *txn, uint32_t dbi, unsigned flags, const char *key_order,
                   const char *val_order)
{
    if (!txn->env->log_effects) {
        return SAP_OK;
    }
    return effect_append(&txn->env->effects, &(Effect){.kind = EFFECT_DEFINE,
                                                       .dbi = dbi,
                                                       .flags = flags,
                                                       .first = name_part(key_order),
                                                       .second = name_part(val_order)});
}

int effects_subsystem(SapTxnCtx *txn, uint32_t id, Slice bytes)
{
    return effect_append(&txn->env->effects,
                         &(Effect){.kind = EFFECT_SUBSYSTEM,
                                   .dbi = id,
                                   .first = {(const uint8_t *)bytes.data, (uint32_t)bytes.len}});
}

/* ---- The record ----------------------------------------------------------------------------- */

/* Makes the effect that begins at `start` a put of what the row has now. */
static int fill_reserved(SapEnv *env, uint8_t *start, const Effect *effect)
{
    const Table *table = &env->tables[effect->dbi];
    LeafRow row;
    const void *val = NULL;
    uint32_t val_len = 0;
    int rc =
        tree_get(env, table->tree.root, table->order, effect->first.bytes, effect->first.len, &row);
    if (rc == SAP_OK) {
        rc = tree_value(env, &row, &val, &val_len);
    }
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    if (rc == SAP_OK && val_len == effect->second.len && val_len > 0) {
        memcpy(start + (effect->second.bytes - start), val, val_len);
    }
    *start = EFFECT_PUT;
    return SAP_OK;
}

int effects_finish(SapTxnCtx *txn, Slice *record_out)
{
    SapEnv *env = txn->env;
    Buf *effects = &env->effects;
    if (effects->len > WAL_RECORD_MAX) {
        return SAP_FULL;
    }
    ByteReader reader;
    reader_init(&reader, effects->data, effects->len);
    while (reader.left > 0) {
        uint8_t *start = effects->data + (effects->len - reader.left);
        Effect effect;
        int rc = effect_take(&reader, &effect);
        SAP_ASSERT(rc == SAP_OK);
        if (effect.kind == EFFECT_RESERVED) {
            rc = fill_reserved(env, start, &effect);
            if (rc != SAP_OK) {
                return rc;
            }
        }
    }
    *record_out = (Slice){effects->data, effects->len};
    return SAP_OK;
}

/* ---- Applying ------------------------------------------------------------------------------- */

/* Whether the part can be a key of the table's tree; or with `bound` one to seek. */
static bool key_fits(const SapEnv *env, const Table *table, Part key, bool bound)
{
    if (key.bytes == NULL) {
        return bound;
    }
    return (bound || key.len <= node_max_key(env->page_size)) &&
           (table->pairs == NULL || pair_is_valid(key.bytes, key.len, bound));
}

static int apply_put(SapTxnCtx *txn, Table *table, const Effect *effect)
{
    Part key = effect->first;
    Part val = effect->second;
    if (val.bytes == NULL || val.len > (table->pairs != NULL ? 0 : SAP_MAX_VAL_LEN)) {
        return SAP_CORRUPT;
    }
    Path path;
    int rc = tree_seek(txn->env, table->tree.root, table->order, key.bytes, key.len, &path);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    bool exact = rc == SAP_OK;
    if (exact) { /* a comparator may call different keys equal: the row keeps its own */
        LeafRow row = path_row(&path);
        key = (Part){row.key, row.key_len};
    }
    LeafRow row;
    uint8_t ref[CELL_REF];
    TreeChange change;
    rc = tree_make_row(txn, effect->dbi, key.bytes, key.len, val.bytes, val.len, &row, ref);
    if (rc != SAP_OK) {
        return rc;
    }
    return exact ? tree_replace(txn, effect->dbi, table, &path, &row, &change)
                 : tree_insert(txn, effect->dbi, table, &path, &row, &change);
}

static int apply_del(SapTxnCtx *txn, Table *table, const Effect *effect)
{
    Path path;
    TreeChange change;
    int rc = tree_seek(txn->env, table->tree.root, table->order, effect->first.bytes,
                       effect->first.len, &path);
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_CORRUPT : rc;
    }
    return tree_delete(txn, effect->dbi, table, &path, &change);
}

static int apply_del_range(SapTxnCtx *txn, Table *table, const Effect *effect)
{
    TreeBound from = {.key = effect->first.bytes, .len = effect->first.len};
    TreeBound to = {.key = effect->second.bytes, .len = effect->second.len};
    uint64_t deleted = 0;
    return tree_delete_range(txn, effect->dbi, table, from.key != NULL ? &from : NULL,
                             to.key != NULL ? &to : NULL, &deleted);
}

static int apply_effect(SapTxnCtx *txn, const Effect *effect)
{
    Table *table = table_get(txn->env, effect->dbi);
    bool range = effect->kind == EFFECT_DEL_RANGE;
    if (table == NULL || !key_fits(txn->env, table, effect->first, range) ||
        (range && !key_fits(txn->env, table, effect->second, true))) {
        return SAP_CORRUPT;
    }
    switch (effect->kind) {
    case EFFECT_PUT:
        return apply_put(txn, table, effect);
    case EFFECT_DEL:
        return apply_del(txn, table, effect);
    case EFFECT_DEL_RANGE:
        return apply_del_range(txn, table, effect);
    default:
        return SAP_CORRUPT;
    }
}

static Slice part_slice(Part part)
{
    return (Slice){part.bytes, part.len};
}

/* Takes the next effect of a record of the log. */
static int record_take(ByteReader *reader, Effect *effect)
{
    int rc = effect_take(reader, effect);
    uint32_t most =
        effect->kind == EFFECT_SUBSYSTEM ? SAP_MAX_SUBSYSTEMS - 1 : (uint32_t)SAP_MAX_DBI;
    return rc == SAP_OK && effect->dbi <= most ? SAP_OK : SAP_CORRUPT;
}

static int apply_any(SapTxnCtx *txn, const Effect *effect, const EffectCalls *calls)
{
    switch (effect->kind) {
    case EFFECT_DEFINE:
        return calls->define(calls->ctx, effect->dbi, effect->flags, part_slice(effect->first),
                             part_slice(effect->second));
    case EFFECT_SUBSYSTEM:
        return effect->first.len == 0
                   ? SAP_CORRUPT
                   : calls->subsystem(calls->ctx, effect->dbi, part_slice(effect->first));
    default:
        return apply_effect(txn, effect);
    }
}

int effects_apply(SapTxnCtx *txn, Slice bytes, const EffectCalls *calls)
{
    ByteReader reader;
    reader_init(&reader, bytes.data, bytes.len);
    int rc = SAP_OK;
    while (reader.left > 0 && rc == SAP_OK) {
        Effect effect;
        rc = record_take(&reader, &effect);
        if (rc == SAP_OK) {
            rc = apply_any(txn, &effect, calls);
        }
    }
    return rc;
}

static bool record_decodes(Slice bytes)
{
    ByteReader reader;
    Effect effect;
    reader_init(&reader, bytes.data, bytes.len);
    bool sound = true;
    while (reader.left > 0 && sound) {
        sound = record_take(&reader, &effect) == SAP_OK && effect.kind >= EFFECT_PUT &&
                effect.kind <= EFFECT_SUBSYSTEM;
    }
    return sound;
}

int effects_apply_some(SapTxnCtx *txn, Slice bytes, const EffectCalls *calls, uint64_t *dropped)
{
    if (!record_decodes(bytes)) {
        return SAP_CORRUPT;
    }
    ByteReader reader;
    reader_init(&reader, bytes.data, bytes.len);
    int rc = SAP_OK;
    while (reader.left > 0 && rc == SAP_OK) {
        Effect effect;
        rc = record_take(&reader, &effect);
        SAP_ASSERT(rc == SAP_OK);
        rc = apply_any(txn, &effect, calls);
        if (rc == SAP_CORRUPT) { /* of a row or table that was lost; the target itself is sound */
            *dropped += effect.kind == EFFECT_PUT ? 1 : 0;
            rc = SAP_OK;
        }
    }
    return rc;
}
