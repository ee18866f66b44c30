/* blob.c - see blob.h. Why writers, referrers and collectors may run side by side:
 *
 * RULES. All that others rely on about a blob is decided under the guard of its head.
 *
 *   R1  Head and content of a blob are put together and deleted together, under its exclusive guard.
 *   R2  A reference to a blob is put under the blob's guard (shared is enough), by a transaction that
 *       has seen the head while it held the guard.
 *   R3  A list or tree is put in one transaction with references to all that it names: it guards
 *       itself exclusively and these shared. So a list is as long as a transaction's guards allow.
 *   R4  A blob is deleted under its exclusive guard, by a transaction that has seen, while it held the
 *       guard, that it is old and that there is no reference to it. A list or tree goes together with
 *       its references.
 *   R5  A put renews the age of a blob that exists, under its exclusive guard.
 *
 * INVARIANTS, at every commit.
 *
 *   I1  A blob that is referred to exists.
 *   I2  A list or tree has a reference to each blob that it names; by I1 none of these is missing.
 *   I3  What refers to a blob by its own name exists as a list or tree: nothing holds a blob for ever.
 *
 * WHY THEY HOLD. Who puts a reference to b and who deletes b hold its guard one after the other, and each
 * read of a guarded transaction sees all that was committed before it. If the reference is first, the
 * collector sees it; if the collector is first, the referrer sees no head and puts nothing (I1). I2 and
 * I3 are R3 and R4: a list, its references and their end are in one transaction each. To put a
 * list's references in advance, in several transactions, would leave references without a list after a
 * crash (against I3), or a list without some of them while a collector takes another apart (against I2).
 * Deleting a reference needs no guard: who misses it keeps the blob for one more pass. A blob that is put
 * again while it is collected is either renewed first, and the collector sees its age, or deleted first,
 * and the put stores it anew.
 *
 * CRASHES. Every transaction keeps I1 to I3 by itself. A writer that dies leaves blobs without references,
 * which a pass over all heads finds. Where an outcome is unknown, a put is run again: it is the same
 * request, and finds its own rows; a collector leaves it to the next pass.
 *
 * DURABILITY. All puts but the last commit without waiting for the disk. The commit of a tree is durable
 * only together with what it read, which is the heads of all that it names, and so on down.
 *
 * PACE. A blob of any size must not hold up the commits of others. So one chunk is a transaction, and a
 * writer waits for the disk before more than two times UNSYNCED_BYTES are on their way, so that a sync
 * that others wait for writes little more. It also waits while the store is crowded: a file holds up all
 * commits when its log is four times as long as what starts a checkpoint, and is crowded at half of that. */
#include "store/blob.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/assert.h"
#include "common/mem.h"
#include "store/store_impl.h"
#include "wit_store.h"

enum {
    UNKNOWN_ATTEMPTS = 3,
    UNSYNCED_BYTES = 1024 * 1024,
    CROWDED_PAUSE_NS = 1000000,
    CROWDED_PAUSES =
        1000, /* then it goes on: a log that no checkpoint can shorten holds up nobody */
    REF_KEY_SIZE = 2 * DIGEST_SIZE + 2 + 1 + 2 * BLOB_MAX_OWNER + 2,
    REF_KEY_TAIL = 3, /* bytes of a key after the blob's name, where the owner is empty */
    MESSAGE_SIZE = 256,
};

_Static_assert(BLOB_FANOUT + 1 <= SAP_STORE_MAX_GUARDS, "a list and all that it names are guarded");
_Static_assert(sizeof(Digest) == DIGEST_SIZE, "lists are arrays of digests");

/* The names in a list or tree, in order. */
typedef struct NameList {
    Digest names[BLOB_FANOUT];
    uint32_t count;
} NameList;

/* ---- Rows ------------------------------------------------------------------------------------ */

static BlobKey make_blob_key(WitStoreBlobPart part, const Digest *name)
{
    BlobKey key = {{0}};
    Digest copy = *name;
    Buf buf = buf_in(key.bytes, sizeof key.bytes);
    WitStoreDbi9BlobsKey row = {.part = part, .sha256 = {copy.bytes, DIGEST_SIZE}};
    int rc = wit_store_dbi9_blobs_key_encode(&row, &buf, NULL);
    SAP_ASSERT(rc == SAP_OK && buf.len == BLOB_KEY_SIZE);
    return key;
}

static StoreKey blob_row(const BlobKey *key)
{
    return (StoreKey){STORE_TABLE_BLOBS, {key->bytes, sizeof key->bytes}};
}

typedef struct RefKey {
    uint8_t bytes[REF_KEY_SIZE];
    size_t len;
} RefKey;

/* The owner has at most BLOB_MAX_OWNER bytes. */
static RefKey make_ref_key(const Digest *name, WitStoreBlobOwner kind, Slice owner)
{
    RefKey key;
    Digest copy = *name;
    uint8_t owner_copy[BLOB_MAX_OWNER];
    SAP_ASSERT(owner.len <= sizeof owner_copy);
    if (owner.len > 0) {
        memcpy(owner_copy, owner.data, owner.len);
    }
    Buf buf = buf_in(key.bytes, sizeof key.bytes);
    WitStoreDbi10BlobrefsKey row = {.sha256 = {copy.bytes, DIGEST_SIZE},
                                    .kind = kind,
                                    .owner = {owner_copy, (uint32_t)owner.len}};
    int rc = wit_store_dbi10_blobrefs_key_encode(&row, &buf, NULL);
    SAP_ASSERT(rc == SAP_OK);
    key.len = buf.len;
    return key;
}

static StoreKey ref_row(const RefKey *key)
{
    return (StoreKey){STORE_TABLE_BLOBREFS, {key->bytes, key->len}};
}

/* SAP_NOTFOUND: there is no such blob. SAP_CORRUPT: its head does not decode. */
static int get_head(SapStoreTxn *txn, const Digest *name, WitStoreBlobHead *head_out)
{
    BlobKey key = make_blob_key(WIT_STORE_BLOB_PART_HEAD, name);
    Slice val = {0};
    int rc = store_get(txn, blob_row(&key), &val);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = wit_store_blob_head_decode(val.data, val.len, head_out, NULL);
    return rc == SAP_INVALID ? SAP_CORRUPT : rc;
}

static int put_head(SapStoreTxn *txn, const Digest *name, const WitStoreBlobHead *head)
{
    uint8_t room[64];
    BlobKey key = make_blob_key(WIT_STORE_BLOB_PART_HEAD, name);
    Buf buf = buf_in(room, sizeof room);
    int rc = wit_store_blob_head_encode(head, &buf, NULL);
    SAP_ASSERT(rc == SAP_OK);
    return store_put(txn, blob_row(&key), (Slice){buf.data, buf.len}, STORE_PUT_ANY);
}

static int get_content(SapStoreTxn *txn, const Digest *name, Slice *val_out)
{
    BlobKey key = make_blob_key(WIT_STORE_BLOB_PART_CONTENT, name);
    return store_get(txn, blob_row(&key), val_out);
}

static int put_content(SapStoreTxn *txn, const Digest *name, Slice content)
{
    BlobKey key = make_blob_key(WIT_STORE_BLOB_PART_CONTENT, name);
    return store_put(txn, blob_row(&key), content, STORE_PUT_ANY);
}

/* Whether anybody refers to the blob. */
static int find_ref(SapStoreTxn *txn, const Digest *name, bool *found_out)
{
    RefKey from = make_ref_key(name, WIT_STORE_BLOB_OWNER_BLOB, (Slice){0});
    from.len -= REF_KEY_TAIL;
    RefKey to = from;
    to.bytes[to.len - 1]++; /* the end of the name is two zero bytes: nothing else lies between */
    SapStoreRange range = {STORE_TABLE_BLOBREFS, from.bytes, (uint32_t)from.len, to.bytes,
                           (uint32_t)to.len};
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    int rc = store_scan(txn, &range, false, 1, &rows, &count);
    if (rc == SAP_OK) {
        *found_out = count > 0;
    }
    return rc;
}

/* The names that a list's or tree's content is. SAP_CORRUPT: it is not one. */
static int parse_names(Slice content, NameList *list_out)
{
    if (content.len == 0 || content.len % DIGEST_SIZE != 0 ||
        content.len > sizeof list_out->names) {
        return SAP_CORRUPT;
    }
    memcpy(list_out->names, content.data, content.len);
    list_out->count = (uint32_t)(content.len / DIGEST_SIZE);
    return SAP_OK;
}

static int compare_names(const void *a, const void *b)
{
    return memcmp(a, b, DIGEST_SIZE);
}

/* In key order, each name once: a blob may have the same chunk many times. */
static NameList sort_names(const NameList *list)
{
    NameList sorted = *list;
    uint32_t kept = 0;
    qsort(sorted.names, sorted.count, DIGEST_SIZE, compare_names);
    for (uint32_t i = 0; i < sorted.count; i++) {
        if (kept == 0 || !digest_equal(&sorted.names[kept - 1], &sorted.names[i])) {
            sorted.names[kept++] = sorted.names[i];
        }
    }
    sorted.count = kept;
    return sorted;
}

/* ---- References ------------------------------------------------------------------------------ */

void blob_guard(const Digest *name, BlobKey *room, SapStoreGuard *guard_out)
{
    *room = make_blob_key(WIT_STORE_BLOB_PART_HEAD, name);
    *guard_out = (SapStoreGuard){STORE_TABLE_BLOBS, room->bytes, sizeof room->bytes, false};
}

/* R2: the caller holds the blob's guard. */
static int put_ref(SapStoreTxn *txn, const Digest *name, WitStoreBlobOwner kind, Slice owner)
{
    WitStoreBlobHead head;
    RefKey key = make_ref_key(name, kind, owner);
    int rc = get_head(txn, name, &head);
    return rc == SAP_OK ? store_put(txn, ref_row(&key), (Slice){0}, STORE_PUT_ANY) : rc;
}

int blob_ref_put(SapStoreTxn *txn, const Digest *name, Slice owner)
{
    return owner.len > BLOB_MAX_OWNER ? SAP_FULL
                                      : put_ref(txn, name, WIT_STORE_BLOB_OWNER_PROGRAM, owner);
}

int blob_ref_del(SapStoreTxn *txn, const Digest *name, Slice owner)
{
    if (owner.len > BLOB_MAX_OWNER) {
        return SAP_NOTFOUND;
    }
    RefKey key = make_ref_key(name, WIT_STORE_BLOB_OWNER_PROGRAM, owner);
    return store_del(txn, ref_row(&key));
}

/* ---- Putting one blob ------------------------------------------------------------------------ */

typedef struct PutRequest {
    Digest name;
    WitStoreBlobHead head;
    Slice content;
    NameList named; /* sorted, each once; empty where head.kind is bytes */
} PutRequest;

/* R3: the blob exclusive, what it names shared. */
static int guard_put(SapStoreTxn *txn, const PutRequest *put)
{
    SapStoreGuard guards[BLOB_FANOUT + 1];
    BlobKey keys[BLOB_FANOUT + 1];
    uint32_t count = put->named.count;
    for (uint32_t i = 0; i < count; i++) {
        blob_guard(&put->named.names[i], &keys[i], &guards[i]);
    }
    blob_guard(&put->name, &keys[count], &guards[count]);
    guards[count].exclusive = true;
    return store_guard(txn, guards, count + 1);
}

/* SAP_NOTFOUND: one of them is gone. */
static int put_refs_to_named(SapStoreTxn *txn, const PutRequest *put)
{
    int rc = SAP_OK;
    for (uint32_t i = 0; i < put->named.count && rc == SAP_OK; i++) {
        rc = put_ref(txn, &put->named.names[i], WIT_STORE_BLOB_OWNER_BLOB,
                     (Slice){put->name.bytes, DIGEST_SIZE});
    }
    return rc;
}

/* What the head of a blob that exists says after the put. It stays what it is, and grows younger only;
 * bytes that are put as a list become one. */
static WitStoreBlobHead renew_head(const WitStoreBlobHead *old, const WitStoreBlobHead *put)
{
    WitStoreBlobHead head = *old;
    head.put_ns = put->put_ns > old->put_ns ? put->put_ns : old->put_ns;
    if (old->kind == WIT_STORE_BLOB_KIND_BYTES) {
        head.kind = put->kind;
    }
    return head;
}

/* A tree's name is that of more bytes than a chunk has: it is never the name of anything else. */
static bool is_same_sort(const WitStoreBlobHead *a, const WitStoreBlobHead *b)
{
    return (a->kind == WIT_STORE_BLOB_KIND_TREE) == (b->kind == WIT_STORE_BLOB_KIND_TREE);
}

static int put_blob_body(SapStoreTxn *txn, void *ctx)
{
    const PutRequest *put = (const PutRequest *)ctx;
    WitStoreBlobHead old = {0};
    int rc = guard_put(txn, put);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = get_head(txn, &put->name, &old);
    bool is_new = rc == SAP_NOTFOUND;
    if (rc != SAP_OK && !is_new) {
        return rc;
    }
    if (!is_new && !is_same_sort(&old, &put->head)) {
        return SAP_CORRUPT;
    }
    WitStoreBlobHead head = is_new ? put->head : renew_head(&old, &put->head);
    rc = put_head(txn, &put->name, &head);
    if (rc == SAP_OK && is_new) {
        rc = put_content(txn, &put->name, put->content);
    }
    bool has_refs = !is_new && old.kind == head.kind;
    return rc == SAP_OK && !has_refs ? put_refs_to_named(txn, put) : rc;
}

/* Runs again what met others, and what may or may not have been committed. */
static int put_blob(SapStore *store, PutRequest *put, uint64_t *mark_out)
{
    bool unknown = true;
    int rc = SAP_OK;
    for (int attempt = 0; unknown && attempt < UNKNOWN_ATTEMPTS; attempt++) {
        rc = store_run_async(store, SAP_STORE_GUARDED, put_blob_body, put, mark_out, &unknown);
    }
    return rc;
}

/* ---- Writing --------------------------------------------------------------------------------- */

struct BlobWriter {
    SapStore *store;
    BlobShape shape;
    int failed;         /* what every further call returns; SAP_OK: it works */
    uint64_t size;      /* all bytes so far */
    DigestState whole;  /* of them */
    uint8_t *chunk;     /* room for shape.chunk_bytes */
    uint32_t chunk_len; /* those of the last chunk, which is not put yet */
    uint32_t depth;     /* of `levels` in use; 0: nothing was put yet */
    NameList
        levels[BLOB_MAX_DEPTH]; /* names of chunks, of lists of chunks, ... not in a list yet */
    uint64_t unsynced;          /* bytes since `last_mark` */
    uint64_t last_mark;         /* the latest that the next wait will not yet wait for */
};

/* The invariants of a writer that has not failed. */
static void assert_valid_writer(const BlobWriter *writer)
{
    SAP_ASSERT(writer->chunk_len <= writer->shape.chunk_bytes);
    SAP_ASSERT(writer->depth <= BLOB_MAX_DEPTH);
    SAP_ASSERT(writer->chunk_len > 0 || writer->size == 0); /* a last chunk is always left to put */
    for (uint32_t i = 0; i < writer->depth; i++) {
        SAP_ASSERT(writer->levels[i].count > 0 && writer->levels[i].count <= writer->shape.fanout);
    }
}

static void free_writer(BlobWriter *writer)
{
    mem_free(MEM_STORE, writer->chunk, writer->shape.chunk_bytes);
    mem_free(MEM_STORE, writer, sizeof *writer);
}

int blob_write_begin(SapStore *store, const BlobShape *shape, BlobWriter **writer_out)
{
    static const BlobShape usual = {BLOB_CHUNK_BYTES, BLOB_FANOUT};
    shape = shape == NULL ? &usual : shape;
    SAP_ASSERT(shape->chunk_bytes > 0 && shape->chunk_bytes <= BLOB_CHUNK_BYTES &&
               shape->fanout > 1 && shape->fanout <= BLOB_FANOUT);
    BlobWriter *writer = (BlobWriter *)mem_zalloc(MEM_STORE, sizeof *writer);
    if (writer == NULL) {
        return SAP_NOMEM;
    }
    writer->store = store;
    writer->shape = *shape;
    writer->chunk = (uint8_t *)mem_alloc(MEM_STORE, shape->chunk_bytes);
    if (writer->chunk == NULL) {
        mem_free(MEM_STORE, writer, sizeof *writer);
        return SAP_NOMEM;
    }
    digest_init(&writer->whole);
    *writer_out = writer;
    return SAP_OK;
}

void blob_write_abort(BlobWriter *writer)
{
    if (writer != NULL) {
        free_writer(writer);
    }
}

static void wait_while_crowded(SapStore *store)
{
    struct timespec pause = {.tv_nsec = CROWDED_PAUSE_NS};
    bool (*is_crowded)(SapStore *) = store->ops->is_crowded;
    for (int i = 0; i < CROWDED_PAUSES && is_crowded != NULL && is_crowded(store); i++) {
        (void)nanosleep(&pause, NULL);
    }
}

/* After a commit of so many bytes; see PACE. */
static int keep_pace(BlobWriter *writer, uint64_t mark, size_t bytes)
{
    writer->unsynced += bytes;
    if (writer->unsynced < UNSYNCED_BYTES) {
        return SAP_OK;
    }
    int rc =
        writer->last_mark == 0 ? SAP_OK : sap_store_wait_durable(writer->store, writer->last_mark);
    writer->last_mark = mark;
    writer->unsynced = 0;
    wait_while_crowded(writer->store);
    return rc;
}

/* Puts the bytes of the last chunk. */
static int put_chunk(BlobWriter *writer, uint64_t now_ns, Digest *name_out, uint64_t *mark_out)
{
    PutRequest put = {
        .head = {.kind = WIT_STORE_BLOB_KIND_BYTES, .size = writer->chunk_len, .put_ns = now_ns},
        .content = {writer->chunk, writer->chunk_len}};
    digest_bytes(writer->chunk, writer->chunk_len, &put.name);
    *name_out = put.name;
    int rc = put_blob(writer->store, &put, mark_out);
    return rc == SAP_OK ? keep_pace(writer, *mark_out, writer->chunk_len) : rc;
}

static int put_list(BlobWriter *writer, const NameList *list, uint64_t now_ns, Digest *name_out)
{
    uint64_t mark = 0;
    Slice content = {list->names, list->count * sizeof list->names[0]};
    PutRequest put = {
        .head = {.kind = WIT_STORE_BLOB_KIND_LIST, .size = content.len, .put_ns = now_ns},
        .content = content,
        .named = sort_names(list)};
    digest_bytes(content.data, content.len, &put.name);
    *name_out = put.name;
    int rc = put_blob(writer->store, &put, &mark);
    return rc == SAP_OK ? keep_pace(writer, mark, content.len) : rc;
}

/* Adds a name to a level. A level that is full becomes a list first, named in the level above: only then,
 * since the last lists are not put as such but as the tree. */
static int push_name(BlobWriter *writer, uint32_t level, const Digest *name, uint64_t now_ns)
{
    if (level == BLOB_MAX_DEPTH) {
        return SAP_FULL;
    }
    NameList *list = &writer->levels[level];
    if (list->count == writer->shape.fanout) {
        Digest list_name;
        int rc = put_list(writer, list, now_ns, &list_name);
        rc = rc == SAP_OK ? push_name(writer, level + 1, &list_name, now_ns) : rc;
        if (rc != SAP_OK) {
            return rc;
        }
        list->count = 0;
    }
    list->names[list->count++] = *name;
    writer->depth = writer->depth > level + 1 ? writer->depth : level + 1;
    return SAP_OK;
}

static int flush_chunk(BlobWriter *writer, uint64_t now_ns)
{
    Digest name;
    uint64_t mark = 0;
    int rc = put_chunk(writer, now_ns, &name, &mark);
    rc = rc == SAP_OK ? push_name(writer, 0, &name, now_ns) : rc;
    writer->chunk_len = 0;
    return rc;
}

int blob_write_append(BlobWriter *writer, const void *data, size_t len, uint64_t now_ns)
{
    const uint8_t *from = (const uint8_t *)data;
    while (len > 0 && writer->failed == SAP_OK) {
        if (writer->chunk_len == writer->shape.chunk_bytes) {
            writer->failed = flush_chunk(writer, now_ns);
            continue;
        }
        size_t room = writer->shape.chunk_bytes - writer->chunk_len;
        size_t part = len < room ? len : room;
        memcpy(writer->chunk + writer->chunk_len, from, part);
        digest_update(&writer->whole, from, part);
        writer->chunk_len += (uint32_t)part;
        writer->size += part;
        from += part;
        len -= part;
    }
    if (writer->failed == SAP_OK) {
        assert_valid_writer(writer);
    }
    return writer->failed;
}

/* Puts the blob whose chunks and full lists are put already. */
static int put_tree(BlobWriter *writer, uint64_t now_ns, Digest *name_out, uint64_t *mark_out)
{
    int rc = flush_chunk(writer, now_ns);
    for (uint32_t level = 0; rc == SAP_OK && level + 1 < writer->depth; level++) {
        Digest list_name;
        rc = put_list(writer, &writer->levels[level], now_ns, &list_name);
        rc = rc == SAP_OK ? push_name(writer, level + 1, &list_name, now_ns) : rc;
    }
    if (rc != SAP_OK) {
        return rc;
    }
    const NameList *top = &writer->levels[writer->depth - 1];
    PutRequest put = {.head = {.kind = WIT_STORE_BLOB_KIND_TREE,
                               .depth = (uint8_t)writer->depth,
                               .size = writer->size,
                               .put_ns = now_ns},
                      .content = {top->names, top->count * sizeof top->names[0]},
                      .named = sort_names(top)};
    digest_final(&writer->whole, &put.name);
    *name_out = put.name;
    return put_blob(writer->store, &put, mark_out);
}

int blob_write_finish(BlobWriter *writer, uint64_t now_ns, Digest *name_out, uint64_t *mark_out)
{
    Digest name;
    uint64_t mark = 0;
    int rc = writer->failed;
    if (rc == SAP_OK) {
        assert_valid_writer(writer);
        rc = writer->depth == 0 ? put_chunk(writer, now_ns, &name, &mark)
                                : put_tree(writer, now_ns, &name, &mark);
    }
    if (rc == SAP_OK && mark_out == NULL) {
        rc = sap_store_wait_durable(writer->store, mark);
    }
    free_writer(writer);
    if (rc != SAP_OK) {
        return rc;
    }
    *name_out = name;
    if (mark_out != NULL) {
        *mark_out = mark;
    }
    return SAP_OK;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* A list on the way from the tree down to the chunk that is read. */
typedef struct ReadLevel {
    NameList list;
    uint32_t next; /* the first name not gone down to yet */
} ReadLevel;

struct BlobReader {
    SapStore *store;
    SapStoreKind kind;
    Digest name;
    uint64_t size;
    uint64_t given;    /* bytes of chunks loaded so far */
    DigestState whole; /* of them */
    uint32_t depth;    /* of the tree; 0: the blob is the chunk */
    ReadLevel levels[BLOB_MAX_DEPTH];
    uint8_t *chunk; /* room for BLOB_CHUNK_BYTES */
    uint32_t chunk_len;
    uint32_t chunk_at;
    int failed; /* what every further call returns */
    char message[MESSAGE_SIZE];
};

/* Final: the part of that name is damaged or missing. */
static int report_damage(BlobReader *reader, const Digest *part, const char *what)
{
    char part_hex[DIGEST_HEX_SIZE];
    char name_hex[DIGEST_HEX_SIZE];
    digest_hex(part, part_hex);
    digest_hex(&reader->name, name_hex);
    (void)snprintf(reader->message, sizeof reader->message,
                   "blob %s: %s %s: restore the store from a backup", name_hex, part_hex, what);
    if (reader->store->on_message != NULL) {
        reader->store->on_message(reader->message, reader->store->message_ctx);
    }
    reader->failed = SAP_CORRUPT;
    return SAP_CORRUPT;
}

/* A part of the blob is missing: that is damage if the blob is still there. Both are read in one
 * snapshot. */
static int explain_missing(BlobReader *reader, SapStoreTxn *txn, const Digest *part)
{
    WitStoreBlobHead head;
    int rc = get_head(txn, &reader->name, &head);
    if (rc == SAP_NOTFOUND) {
        reader->failed = SAP_NOTFOUND;
        return SAP_NOTFOUND;
    }
    return rc == SAP_OK || rc == SAP_CORRUPT ? report_damage(reader, part, "is missing") : rc;
}

/* The content of a part, compared with its name; borrowed until the transaction ends. */
static int get_part(BlobReader *reader, SapStoreTxn *txn, const Digest *part, Slice *content_out)
{
    Digest digest;
    int rc = get_content(txn, part, content_out);
    if (rc == SAP_NOTFOUND) {
        return explain_missing(reader, txn, part);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    digest_bytes(content_out->data, content_out->len, &digest);
    return digest_equal(&digest, part) ? SAP_OK : report_damage(reader, part, "is damaged");
}

static int take_chunk(BlobReader *reader, const Digest *part, Slice content)
{
    if (content.len > BLOB_CHUNK_BYTES || content.len > reader->size - reader->given) {
        return report_damage(reader, part, "is too long");
    }
    if (content.len > 0) {
        memcpy(reader->chunk, content.data, content.len);
    }
    reader->chunk_len = (uint32_t)content.len;
    reader->chunk_at = 0;
    reader->given += content.len;
    return SAP_OK;
}

static int take_list(BlobReader *reader, uint32_t level, const Digest *part, Slice content)
{
    reader->levels[level].next = 0;
    return parse_names(content, &reader->levels[level].list) == SAP_OK
               ? SAP_OK
               : report_damage(reader, part, "is not a list");
}

/* Loads the next name of `level`: a list into the level below it, or a chunk. */
static int load_next_part(BlobReader *reader, uint32_t level)
{
    SapStoreTxn *txn = NULL;
    Slice content = {0};
    ReadLevel *at = &reader->levels[level];
    Digest part = at->list.names[at->next];
    bool is_chunk = level + 1 == reader->depth;
    int rc = sap_store_begin(reader->store, reader->kind, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = get_part(reader, txn, &part, &content);
    if (rc == SAP_OK) {
        rc = is_chunk ? take_chunk(reader, &part, content)
                      : take_list(reader, level + 1, &part, content);
    }
    sap_store_abort(txn);
    if (rc == SAP_OK) {
        at->next++;
    }
    if (rc == SAP_OK && is_chunk) {
        digest_update(&reader->whole, reader->chunk, reader->chunk_len);
    }
    return rc;
}

/* All parts have been read. */
static int check_whole(BlobReader *reader)
{
    Digest digest;
    digest_final(&reader->whole, &digest);
    return reader->given == reader->size && digest_equal(&digest, &reader->name)
               ? SAP_OK
               : report_damage(reader, &reader->name, "names other bytes");
}

/* To the next chunk, one part after the other. SAP_OK with an empty chunk: the end. */
static int load_next_chunk(BlobReader *reader)
{
    int rc = SAP_OK;
    reader->chunk_at = 0;
    reader->chunk_len = 0;
    while (rc == SAP_OK && reader->chunk_len == 0) {
        uint32_t level = reader->depth;
        while (level > 0 &&
               reader->levels[level - 1].next == reader->levels[level - 1].list.count) {
            level--;
        }
        if (level == 0) {
            return reader->depth == 0 ? SAP_OK : check_whole(reader);
        }
        rc = load_next_part(reader, level - 1);
    }
    return rc;
}

/* The blob's own rows. */
static int load_blob(BlobReader *reader, SapStoreTxn *txn)
{
    WitStoreBlobHead head;
    Slice content = {0};
    int rc = get_head(txn, &reader->name, &head);
    if (rc == SAP_CORRUPT) {
        return report_damage(reader, &reader->name, "has a damaged head");
    }
    if (rc != SAP_OK) {
        return rc;
    }
    reader->size = head.size;
    reader->depth = head.depth;
    if (head.depth == 0) {
        rc = get_part(reader, txn, &reader->name, &content);
        if (rc == SAP_OK && content.len != head.size) {
            return report_damage(reader, &reader->name, "has a damaged head");
        }
        return rc == SAP_OK ? take_chunk(reader, &reader->name, content) : rc;
    }
    rc = get_content(txn, &reader->name, &content);
    if (rc == SAP_NOTFOUND) {
        return report_damage(reader, &reader->name, "is missing");
    }
    return rc == SAP_OK ? take_list(reader, 0, &reader->name, content) : rc;
}

int blob_read_open(SapStore *store, SapStoreKind kind, const Digest *name, BlobReader **reader_out)
{
    SapStoreTxn *txn = NULL;
    SAP_ASSERT(kind == SAP_STORE_READ_DURABLE || kind == SAP_STORE_READ_NEWEST);
    BlobReader *reader = (BlobReader *)mem_zalloc(MEM_STORE, sizeof *reader);
    if (reader == NULL) {
        return SAP_NOMEM;
    }
    reader->store = store;
    reader->kind = kind;
    reader->name = *name;
    digest_init(&reader->whole);
    reader->chunk = (uint8_t *)mem_alloc(MEM_STORE, BLOB_CHUNK_BYTES);
    int rc = reader->chunk == NULL ? SAP_NOMEM : sap_store_begin(store, kind, &txn);
    if (rc == SAP_OK) {
        rc = load_blob(reader, txn);
        sap_store_abort(txn);
    }
    if (rc != SAP_OK) {
        blob_read_close(reader);
        return rc;
    }
    *reader_out = reader;
    return SAP_OK;
}

uint64_t blob_read_size(const BlobReader *reader)
{
    return reader->size;
}

int blob_read(BlobReader *reader, void *room, size_t len, size_t *got_out)
{
    SAP_ASSERT(len > 0);
    if (reader->failed != SAP_OK) {
        return reader->failed;
    }
    if (reader->chunk_at == reader->chunk_len) {
        int rc = load_next_chunk(reader);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    size_t left = reader->chunk_len - reader->chunk_at;
    size_t part = len < left ? len : left;
    memcpy(room, reader->chunk + reader->chunk_at, part);
    reader->chunk_at += (uint32_t)part;
    *got_out = part;
    return SAP_OK;
}

const char *blob_read_message(const BlobReader *reader)
{
    return reader->message;
}

void blob_read_close(BlobReader *reader)
{
    if (reader != NULL) {
        mem_free(MEM_STORE, reader->chunk, BLOB_CHUNK_BYTES);
        mem_free(MEM_STORE, reader, sizeof *reader);
    }
}

/* ---- Collecting ------------------------------------------------------------------------------ */

static bool is_young(const WitStoreBlobHead *head, uint64_t now_ns)
{
    return now_ns < head->put_ns || now_ns - head->put_ns < BLOB_SPARED_NS;
}

typedef enum { FATE_GONE, FATE_BUSY, FATE_DAMAGED, FATE_YOUNG, FATE_NEEDED, FATE_COLLECTED } Fate;

/* What a collector is to do with a blob: FATE_COLLECTED, delete it. */
static int judge_blob(SapStoreTxn *txn, const Digest *name, uint64_t now_ns,
                      WitStoreBlobHead *head_out, Fate *fate_out)
{
    bool needed = false;
    int rc = get_head(txn, name, head_out);
    if (rc == SAP_NOTFOUND || rc == SAP_CORRUPT) {
        *fate_out = rc == SAP_NOTFOUND ? FATE_GONE : FATE_DAMAGED;
        return SAP_OK;
    }
    if (rc == SAP_OK && is_young(head_out, now_ns)) {
        *fate_out = FATE_YOUNG;
        return SAP_OK;
    }
    rc = rc == SAP_OK ? find_ref(txn, name, &needed) : rc;
    if (rc == SAP_OK) {
        *fate_out = needed ? FATE_NEEDED : FATE_COLLECTED;
    }
    return rc;
}

/* Deletes a row that may be missing where the store was damaged. */
static int delete_if_there(SapStoreTxn *txn, StoreKey key)
{
    int rc = store_del(txn, key);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* The blobs that a list or tree refers to, sorted. SAP_CORRUPT: its content is not a list. */
static int get_named(SapStoreTxn *txn, const Digest *name, NameList *named_out)
{
    Slice content = {0};
    NameList list;
    int rc = get_content(txn, name, &content);
    if (rc == SAP_OK) {
        rc = parse_names(content, &list);
    }
    if (rc == SAP_OK) {
        *named_out = sort_names(&list);
    }
    return rc == SAP_NOTFOUND ? SAP_CORRUPT : rc;
}

/* Deletes head and content, and the references to what it names. */
static int delete_blob(SapStoreTxn *txn, const Digest *name, const NameList *named)
{
    BlobKey head_key = make_blob_key(WIT_STORE_BLOB_PART_HEAD, name);
    BlobKey content_key = make_blob_key(WIT_STORE_BLOB_PART_CONTENT, name);
    int rc = store_del(txn, blob_row(&head_key));
    rc = rc == SAP_OK ? delete_if_there(txn, blob_row(&content_key)) : rc;
    for (uint32_t i = 0; i < named->count && rc == SAP_OK; i++) {
        RefKey key = make_ref_key(&named->names[i], WIT_STORE_BLOB_OWNER_BLOB,
                                  (Slice){name->bytes, DIGEST_SIZE});
        rc = delete_if_there(txn, ref_row(&key));
    }
    return rc;
}

typedef struct CollectRequest {
    Digest name;
    uint64_t now_ns;
    Fate fate; /* what became of it */
} CollectRequest;

static int collect_blob_body(SapStoreTxn *txn, void *ctx)
{
    CollectRequest *request = (CollectRequest *)ctx;
    WitStoreBlobHead head;
    SapStoreGuard guard;
    BlobKey key;
    NameList named = {.count = 0};
    blob_guard(&request->name, &key, &guard);
    guard.exclusive = true;
    int rc = store_guard(txn, &guard, 1);
    rc =
        rc == SAP_OK ? judge_blob(txn, &request->name, request->now_ns, &head, &request->fate) : rc;
    if (rc != SAP_OK || request->fate != FATE_COLLECTED) {
        return rc;
    }
    if (head.kind != WIT_STORE_BLOB_KIND_BYTES) {
        rc = get_named(txn, &request->name, &named);
    }
    if (rc == SAP_CORRUPT) {
        request->fate = FATE_DAMAGED;
        return SAP_OK;
    }
    return rc == SAP_OK ? delete_blob(txn, &request->name, &named) : rc;
}

/* What a step has seen of a blob. */
typedef struct Candidate {
    Digest name;
    Fate fate;
} Candidate;

/* Reads the next heads. What is to be collected is judged again under its guard. */
static int read_candidates(SapStoreTxn *txn, const BlobCollector *collector, uint64_t now_ns,
                           uint32_t limit, Candidate *candidates, uint32_t *count_out)
{
    Digest none = {{0}};
    BlobKey first = make_blob_key(WIT_STORE_BLOB_PART_HEAD, &none);
    BlobKey end = make_blob_key(WIT_STORE_BLOB_PART_CONTENT, &none);
    const uint8_t *from = collector->started ? collector->from.bytes : first.bytes;
    SapStoreRange range = {STORE_TABLE_BLOBS, from, BLOB_KEY_SIZE, end.bytes, BLOB_KEY_SIZE};
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    int rc = store_scan(txn, &range, false, limit, &rows, &count);
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        WitStoreBlobHead head;
        if (rows[i].key_len != BLOB_KEY_SIZE) {
            return SAP_CORRUPT;
        }
        memcpy(candidates[i].name.bytes, (const uint8_t *)rows[i].key + 1, DIGEST_SIZE);
        rc = judge_blob(txn, &candidates[i].name, now_ns, &head, &candidates[i].fate);
    }
    *count_out = count;
    return rc;
}

static int collect_candidates(SapStore *store, Candidate *candidates, uint32_t count,
                              uint64_t now_ns)
{
    uint64_t mark = 0;
    int rc = SAP_OK;
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        if (candidates[i].fate != FATE_COLLECTED) {
            continue;
        }
        CollectRequest request = {.name = candidates[i].name, .now_ns = now_ns};
        rc = store_run_async(store, SAP_STORE_GUARDED, collect_blob_body, &request, &mark, NULL);
        candidates[i].fate = request.fate;
        if (rc == SAP_BUSY || rc == SAP_CONFLICT) {
            candidates[i].fate = FATE_BUSY;
            rc = SAP_OK;
        }
    }
    return rc == SAP_OK && mark != 0 ? sap_store_wait_durable(store, mark) : rc;
}

/* Counts what was done, and moves behind it. */
static void advance_collector(BlobCollector *collector, const Candidate *candidates, uint32_t count,
                              bool at_end)
{
    for (uint32_t i = 0; i < count; i++) {
        collector->busy += candidates[i].fate == FATE_BUSY;
        collector->damaged += candidates[i].fate == FATE_DAMAGED;
        collector->young += candidates[i].fate == FATE_YOUNG;
        collector->needed += candidates[i].fate == FATE_NEEDED;
        collector->collected += candidates[i].fate == FATE_COLLECTED;
    }
    collector->looked_at += count;
    collector->passes += at_end;
    collector->started = !at_end;
    if (!at_end) {
        /* After the last one: the least key above it. */
        collector->from = make_blob_key(WIT_STORE_BLOB_PART_HEAD, &candidates[count - 1].name);
        for (size_t i = BLOB_KEY_SIZE; i-- > 0 && ++collector->from.bytes[i] == 0;) {
        }
    }
}

int blob_collect_step(SapStore *store, BlobCollector *collector, uint64_t now_ns, uint32_t limit,
                      bool *end_out)
{
    Candidate candidates[BLOB_MAX_STEP];
    SapStoreTxn *txn = NULL;
    uint32_t count = 0;
    SAP_ASSERT(limit > 0 && limit <= BLOB_MAX_STEP);
    int rc = sap_store_begin(store, SAP_STORE_READ_NEWEST, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = read_candidates(txn, collector, now_ns, limit, candidates, &count);
    sap_store_abort(txn);
    rc = rc == SAP_OK ? collect_candidates(store, candidates, count, now_ns) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    advance_collector(collector, candidates, count, count < limit);
    *end_out = count < limit;
    return SAP_OK;
}
