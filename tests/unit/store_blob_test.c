/* Blobs with one writer, reader or collector at a time: what they promise, and what faults leave. */
#include "common/fault.h"
#include "common/mem.h"
#include "store/memory.h"
#include "support/blobs.h"
#include "support/suite.h"

#include <stdio.h>

enum { TABLE = 16, TIMEOUT_S = 120, CHUNK = BLOB_CHUNK_BYTES, BYTES_MAX = 4 * BLOB_CHUNK_BYTES };

#define DAY BLOB_SPARED_NS

static const uint32_t tables[] = {TABLE};
static const BlobShape small = {.chunk_bytes = 16, .fanout = 3};
static uint8_t bytes[BYTES_MAX];
static SapStore *store;
static char said[256]; /* the store's last message */

/* Of the hook: the call at which it fires, counted from 1; 0: never. */
static uint64_t calls_until;
static SapStoreFault fault_then;
static bool commits_only;
static bool fired;

static SapStoreFault hook(void *ctx, SapStoreCall call)
{
    (void)ctx;
    if (calls_until == 0 || (commits_only && call != SAP_STORE_CALL_COMMIT) || --calls_until > 0) {
        return SAP_STORE_FAULT_NONE;
    }
    fired = true;
    return fault_then;
}

static void arm_hook(uint64_t nth, SapStoreFault fault, bool only_commits)
{
    calls_until = nth;
    fault_then = fault;
    commits_only = only_commits;
    fired = false;
}

static void note_message(const char *text, void *ctx)
{
    (void)ctx;
    (void)snprintf(said, sizeof said, "%s", text);
}

static SapStore *open_store(const char *url)
{
    SapStore *opened = NULL;
    SapStoreOptions options = {.size = sizeof options,
                               .tables = tables,
                               .table_count = 1,
                               .hook = hook,
                               .on_message = note_message};
    EXPECT_RC(sap_store_open(url, &options, &opened), SAP_OK);
    return opened;
}

static void setup(void)
{
    arm_hook(0, SAP_STORE_FAULT_NONE, false);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * 31 + i / 251 + i / CHUNK * 7);
    }
    store = open_store("memory:");
}

static void close_store(void)
{
    EXPECT_RC(sap_store_close(store), SAP_OK);
    EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes are left", mem_live_bytes(MEM_STORE));
    EXPECT(mem_live_bytes(MEM_COMMON) == 0, "%zu bytes are left", mem_live_bytes(MEM_COMMON));
}

static Digest put(const BlobShape *shape, const void *data, size_t len, uint64_t now_ns)
{
    Digest name;
    Digest expected;
    EXPECT_RC(blobs_put(store, shape, data, len, now_ns, &name), SAP_OK);
    digest_bytes(data, len, &expected);
    EXPECT(digest_equal(&name, &expected), "the name is the SHA-256 of all bytes");
    return name;
}

static bool exists(const Digest *name)
{
    BlobReader *reader = NULL;
    int rc = blob_read_open(store, SAP_STORE_READ_NEWEST, name, &reader);
    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "open returned %d", rc);
    blob_read_close(reader);
    return rc == SAP_OK;
}

/* ---- Round trips ----------------------------------------------------------------------------- */

START_TEST(blobs_of_all_sizes_around_a_chunk_come_back)
{
    static const size_t sizes[] = {
        0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1, 3 * CHUNK - 1, 4 * CHUNK - 5};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        Digest name = put(NULL, bytes, sizes[i], 0);
        EXPECT_RC(blobs_compare(store, &name, bytes, sizes[i], 4096), SAP_OK);
    }
    BlobsCount count = blobs_check(store);
    EXPECT(count.blobs > sizeof sizes / sizeof sizes[0], "there are %u", count.blobs);
}
END_TEST

/* Chunks of 16 bytes and lists of 3 make trees of every depth up to the greatest. */
START_TEST(trees_of_every_depth_come_back_and_share_what_they_have_in_common)
{
    enum { MOST = 16 * 3 * 3 * 3 * 3 * 3 };
    for (size_t len = 0; len <= MOST; len += len < 600 ? 1 : 7) {
        Digest name = put(&small, bytes, len, 0);
        EXPECT_RC(blobs_compare(store, &name, bytes, len, 1 + len % 40), SAP_OK);
    }
    Digest name = put(&small, bytes, MOST, 0);
    EXPECT_RC(blobs_compare(store, &name, bytes, MOST, 4096), SAP_OK);
    (void)blobs_check(store);
    EXPECT_RC(blobs_put(store, &small, bytes, MOST + 1, 0, &name), SAP_FULL); /* too deep */
    (void)blobs_check(store);
}
END_TEST

START_TEST(a_list_names_as_many_blobs_as_a_transaction_may_guard)
{
    static const BlobShape wide = {.chunk_bytes = 4, .fanout = BLOB_FANOUT};
    static const size_t chunks[] = {62, 63, 64, 126, 127, 63 * 63, 63 * 63 + 1};
    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
        Digest name = put(&wide, bytes, 4 * chunks[i], 0);
        EXPECT_RC(blobs_compare(store, &name, bytes, 4 * chunks[i], 4096), SAP_OK);
    }
    (void)blobs_check(store);
}
END_TEST

START_TEST(the_pieces_in_which_bytes_come_change_nothing)
{
    enum { LEN = 1000 };
    Digest whole = put(&small, bytes, LEN, 0);
    BlobsCount before = blobs_check(store);
    for (size_t piece = 1; piece < 40; piece++) {
        BlobWriter *writer = NULL;
        Digest name;
        EXPECT_RC(blob_write_begin(store, &small, &writer), SAP_OK);
        for (size_t at = 0; at < LEN; at += piece) {
            size_t part = LEN - at < piece ? LEN - at : piece;
            EXPECT_RC(blob_write_append(writer, bytes + at, part, 0), SAP_OK);
            EXPECT_RC(blob_write_append(writer, NULL, 0, 0), SAP_OK);
        }
        EXPECT_RC(blob_write_finish(writer, 0, &name, NULL), SAP_OK);
        EXPECT(digest_equal(&name, &whole), "one name");
    }
    BlobsCount after = blobs_check(store);
    EXPECT(before.blobs == after.blobs && before.refs == after.refs, "the same bytes are one blob");
}
END_TEST

START_TEST(a_blob_of_one_repeated_chunk_stores_it_once)
{
    static uint8_t zeros[16 * 40];
    Digest name = put(&small, zeros, sizeof zeros, 0);
    EXPECT_RC(blobs_compare(store, &name, zeros, sizeof zeros, 100), SAP_OK);
    BlobsCount count = blobs_check(store);
    EXPECT(count.blobs < 10, "%u blobs", count.blobs);
    EXPECT(blobs_collect(store, DAY) == count.blobs, "all of them go");
}
END_TEST

START_TEST(a_writer_that_is_ended_leaves_nothing_that_is_needed)
{
    BlobWriter *writer = NULL;
    EXPECT_RC(blob_write_begin(store, &small, &writer), SAP_OK);
    EXPECT_RC(blob_write_append(writer, bytes, 500, 0), SAP_OK);
    blob_write_abort(writer);
    blob_write_abort(NULL);
    blob_read_close(NULL);
    EXPECT(blobs_check(store).blobs > 0, "chunks are left");
    (void)blobs_collect(store, DAY);
    EXPECT(blobs_check(store).blobs == 0, "until they are collected");
}
END_TEST

START_TEST(a_blob_is_durable_when_its_mark_is)
{
    BlobWriter *writer = NULL;
    Digest name;
    uint64_t mark = 0;
    EXPECT_RC(blob_write_begin(store, &small, &writer), SAP_OK);
    EXPECT_RC(blob_write_append(writer, bytes, 500, 0), SAP_OK);
    EXPECT_RC(blob_write_finish(writer, 0, &name, &mark), SAP_OK);
    BlobReader *reader = NULL;
    EXPECT_RC(blob_read_open(store, SAP_STORE_READ_DURABLE, &name, &reader), SAP_NOTFOUND);
    EXPECT_RC(sap_store_wait_durable(store, mark), SAP_OK);
    EXPECT_RC(blob_read_open(store, SAP_STORE_READ_DURABLE, &name, &reader), SAP_OK);
    blob_read_close(reader);
    memory_store_cut_power(store);
    EXPECT_RC(blobs_compare(store, &name, bytes, 500, 100), SAP_OK);
    (void)blobs_check(store);
}
END_TEST

START_TEST(a_power_cut_during_a_put_leaves_only_what_is_collected)
{
    BlobWriter *writer = NULL;
    Digest kept = put(&small, bytes, 100, 0);
    EXPECT_RC(blobs_ref(store, &kept, "owner"), SAP_OK);
    EXPECT_RC(blob_write_begin(store, &small, &writer), SAP_OK);
    EXPECT_RC(blob_write_append(writer, bytes, 3000, 0), SAP_OK);
    memory_store_cut_power(store);
    (void)blobs_check(store);
    blob_write_abort(writer);
    (void)blobs_collect(store, DAY);
    EXPECT_RC(blobs_compare(store, &kept, bytes, 100, 100), SAP_OK);
    EXPECT_RC(blobs_unref(store, &kept, "owner"), SAP_OK);
    (void)blobs_collect(store, DAY);
    EXPECT(blobs_check(store).blobs == 0, "nothing is left");
}
END_TEST

/* ---- References and collection --------------------------------------------------------------- */

START_TEST(a_blob_lives_for_a_day_after_its_latest_put)
{
    const uint64_t start = 5 * DAY;
    Digest name = put(&small, bytes, 200, start);
    EXPECT(blobs_collect(store, start + DAY - 1) == 0, "it is young");
    EXPECT(blobs_collect(store, start - DAY) == 0, "lease time of another node is behind");
    (void)put(&small, bytes, 200, start + DAY - 1);
    EXPECT(blobs_collect(store, start + 2 * DAY - 2) == 0, "it was put again");
    (void)put(&small, bytes, 200, start); /* by a node whose lease time is behind */
    EXPECT(blobs_collect(store, start + 2 * DAY - 2) == 0, "no put makes it older");
    EXPECT_RC(blobs_compare(store, &name, bytes, 200, 10), SAP_OK);
    EXPECT(blobs_collect(store, start + 2 * DAY - 1) > 0, "a day later it goes");
    EXPECT(!exists(&name), "all of it");
    BlobsCount count = blobs_check(store);
    EXPECT(count.blobs == 0 && count.refs == 0, "%u, %u rows are left", count.blobs, count.refs);
}
END_TEST

START_TEST(a_reference_keeps_a_blob_until_it_is_deleted)
{
    Digest name = put(&small, bytes, 700, 0);
    EXPECT_RC(blobs_ref(store, &name, "one"), SAP_OK);
    EXPECT_RC(blobs_ref(store, &name, "one"), SAP_OK); /* the same again */
    EXPECT_RC(blobs_ref(store, &name, "two"), SAP_OK);
    EXPECT(blobs_collect(store, 9 * DAY) == 0, "it is needed, and so is all that it names");
    EXPECT_RC(blobs_unref(store, &name, "one"), SAP_OK);
    EXPECT_RC(blobs_unref(store, &name, "one"), SAP_NOTFOUND);
    EXPECT(blobs_collect(store, 9 * DAY) == 0, "two needs it");
    EXPECT_RC(blobs_compare(store, &name, bytes, 700, 64), SAP_OK);
    EXPECT_RC(blobs_unref(store, &name, "two"), SAP_OK);
    EXPECT(blobs_collect(store, 9 * DAY) > 0, "nobody does");
    EXPECT(blobs_check(store).blobs == 0, "nothing is left");
    EXPECT_RC(blobs_ref(store, &name, "late"), SAP_NOTFOUND);
    EXPECT(blobs_check(store).refs == 0, "a refused reference is none");
    (void)put(&small, bytes, 700, 9 * DAY);
    EXPECT_RC(blobs_ref(store, &name, "late"), SAP_OK);
}
END_TEST

START_TEST(an_owner_is_any_bytes_up_to_the_limit)
{
    char longest[BLOB_MAX_OWNER + 2];
    Digest name = put(NULL, "x", 1, 0);
    memset(longest, 'o', sizeof longest);
    longest[BLOB_MAX_OWNER + 1] = 0;
    EXPECT_RC(blobs_ref(store, &name, longest), SAP_FULL);
    EXPECT_RC(blobs_unref(store, &name, longest), SAP_NOTFOUND);
    longest[BLOB_MAX_OWNER] = 0;
    EXPECT_RC(blobs_ref(store, &name, longest), SAP_OK);
    EXPECT_RC(blobs_ref(store, &name, ""), SAP_OK);
    SapStoreTxn *txn = NULL;
    static const uint8_t zeros[BLOB_MAX_OWNER];
    EXPECT_RC(sap_store_begin(store, SAP_STORE_GUARDED, &txn), SAP_OK);
    EXPECT_RC(blob_ref_put(txn, &name, (Slice){zeros, sizeof zeros}), SAP_OK);
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
    EXPECT(blobs_check(store).refs == 3, "each is a reference of its own");
    EXPECT(blobs_collect(store, DAY) == 0, "each holds it");
}
END_TEST

START_TEST(a_program_cannot_take_the_reference_of_a_list)
{
    Digest tree = put(&small, bytes, 32, 0);
    Digest chunk;
    SapStoreTxn *txn = NULL;
    Slice owner = {tree.bytes, DIGEST_SIZE};
    digest_bytes(bytes, 16, &chunk);
    EXPECT_RC(sap_store_begin(store, SAP_STORE_GUARDED, &txn), SAP_OK);
    EXPECT_RC(blob_ref_del(txn, &chunk, owner), SAP_NOTFOUND);
    EXPECT_RC(blob_ref_put(txn, &chunk, owner), SAP_OK);
    EXPECT_RC(blob_ref_del(txn, &chunk, owner), SAP_OK);
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
    (void)blobs_check(store);
}
END_TEST

START_TEST(a_blob_keeps_the_chunks_that_it_shares_with_one_that_is_collected)
{
    Digest first = put(&small, bytes, 400, 0);
    Digest second = put(&small, bytes, 300, 0); /* the same first chunks and lists */
    EXPECT_RC(blobs_ref(store, &second, "owner"), SAP_OK);
    EXPECT(blobs_collect(store, DAY) > 0, "the first goes");
    EXPECT(!exists(&first), "it is gone");
    EXPECT_RC(blobs_compare(store, &second, bytes, 300, 50), SAP_OK);
    (void)blobs_check(store);
}
END_TEST

/* A list is a blob like any other: whoever puts its content puts the same blob. */
START_TEST(the_content_of_a_list_may_also_be_a_blob_of_its_own)
{
    Digest names[3];
    for (size_t i = 0; i < 3; i++) {
        digest_bytes(bytes + 16 * i, 16, &names[i]);
    }
    for (int list_first = 0; list_first < 2; list_first++) {
        Digest tree;
        Digest own;
        if (list_first) {
            tree = put(&small, bytes, 16 * 4, 0);
        }
        own = put(NULL, names, sizeof names, 0);
        if (!list_first) {
            tree = put(&small, bytes, 16 * 4, 0);
        }
        (void)blobs_check(store);
        EXPECT_RC(blobs_compare(store, &own, names, sizeof names, 10), SAP_OK);
        EXPECT_RC(blobs_ref(store, &own, "own"), SAP_OK);
        EXPECT(blobs_collect(store, DAY) > 0, "the tree goes");
        EXPECT(!exists(&tree), "it is gone");
        EXPECT_RC(blobs_compare(store, &own, names, sizeof names, 10), SAP_OK);
        EXPECT_RC(blobs_unref(store, &own, "own"), SAP_OK);
        (void)blobs_collect(store, DAY);
        EXPECT(blobs_check(store).blobs == 0, "nothing is left");
    }
}
END_TEST

START_TEST(a_collector_goes_on_where_its_last_step_ended)
{
    enum { BLOBS = 20 };
    for (uint8_t i = 0; i < BLOBS; i++) {
        Digest name = put(NULL, &i, 1, i % 2 == 0 ? 0 : DAY);
        if (i % 4 == 0) {
            EXPECT_RC(blobs_ref(store, &name, "owner"), SAP_OK);
        }
    }
    BlobCollector collector = {.looked_at = 0};
    bool end = false;
    for (uint32_t i = 0; i < BLOBS; i++) {
        EXPECT_RC(blob_collect_step(store, &collector, DAY, 1, &end), SAP_OK);
        EXPECT(!end && collector.looked_at == i + 1, "one blob a step");
    }
    EXPECT_RC(blob_collect_step(store, &collector, DAY, 1, &end), SAP_OK);
    EXPECT(end && collector.passes == 1 && collector.looked_at == BLOBS, "the end of the table");
    EXPECT(collector.collected == BLOBS / 4 && collector.needed == BLOBS / 4 &&
               collector.young == BLOBS / 2,
           "each was judged");
    EXPECT_RC(blob_collect_step(store, &collector, DAY, BLOB_MAX_STEP, &end), SAP_OK);
    EXPECT(end && collector.looked_at == BLOBS + BLOBS * 3 / 4, "from the beginning again");
}
END_TEST

START_TEST(a_put_that_takes_more_than_a_day_is_refused_and_leaves_nothing)
{
    for (size_t first = 10; first < 400; first += 13) {
        BlobWriter *writer = NULL;
        Digest name;
        EXPECT_RC(blob_write_begin(store, &small, &writer), SAP_OK);
        EXPECT_RC(blob_write_append(writer, bytes, first, 0), SAP_OK);
        bool lost = blobs_collect(store, DAY) > 0;
        int rc = blob_write_append(writer, bytes + first, 400, DAY);
        EXPECT(rc == SAP_OK || (rc == SAP_NOTFOUND && lost), "append returned %d", rc);
        rc = blob_write_finish(writer, DAY, &name, NULL);
        EXPECT(rc == (lost ? SAP_NOTFOUND : SAP_OK), "finish returned %d", rc);
        (void)blobs_check(store);
        (void)blobs_collect(store, 2 * DAY);
        EXPECT(blobs_check(store).blobs == 0, "nothing is left");
    }
}
END_TEST

START_TEST(a_reader_of_a_blob_that_is_collected_says_so)
{
    uint8_t room[16];
    size_t got = 0;
    BlobReader *reader = NULL;
    Digest name = put(&small, bytes, 400, 0);
    EXPECT_RC(blob_read_open(store, SAP_STORE_READ_NEWEST, &name, &reader), SAP_OK);
    EXPECT_RC(blob_read(reader, room, sizeof room, &got), SAP_OK);
    (void)blobs_collect(store, DAY);
    EXPECT_RC(blob_read(reader, room, sizeof room, &got), SAP_NOTFOUND);
    (void)put(&small, bytes, 400, DAY);
    EXPECT_RC(blob_read(reader, room, sizeof room, &got), SAP_NOTFOUND); /* final */
    EXPECT(blob_read_message(reader)[0] == 0, "it is no damage");
    blob_read_close(reader);
}
END_TEST

/* ---- Damage ---------------------------------------------------------------------------------- */

/* Writes other bytes to a row of a blob; NULL deletes it. */
static void damage_row(WitStoreBlobPart part, const Digest *name, const void *val, size_t len)
{
    uint8_t key[BLOB_KEY_SIZE];
    SapStoreTxn *txn = NULL;
    key[0] = part;
    memcpy(key + 1, name->bytes, DIGEST_SIZE);
    StoreKey row = {STORE_TABLE_BLOBS, {key, sizeof key}};
    EXPECT_RC(sap_store_begin(store, SAP_STORE_GUARDED, &txn), SAP_OK);
    if (val == NULL) {
        EXPECT_RC(store_del(txn, row), SAP_OK);
    } else {
        EXPECT_RC(store_put(txn, row, (Slice){val, len}, STORE_PUT_ANY), SAP_OK);
    }
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
}

/* Reading all of it fails, and the message names the part. */
static void expect_damage(const Digest *name, size_t len, const Digest *part)
{
    char hex[DIGEST_HEX_SIZE];
    said[0] = 0;
    EXPECT_RC(blobs_compare(store, name, bytes, len, 100), SAP_CORRUPT);
    digest_hex(part, hex);
    EXPECT(strstr(said, hex) != NULL, "%s does not name %s", said, hex);
}

START_TEST(a_damaged_or_missing_part_is_named)
{
    enum { LEN = 16 * 7 };
    static const uint8_t other[16] = "other bytes    ";
    Digest names[4]; /* of the first three chunks, and of the third next */
    Digest list;
    for (size_t i = 0; i < 4; i++) {
        digest_bytes(bytes + 16 * i, 16, &names[i]);
    }
    digest_bytes(names, 3 * DIGEST_SIZE, &list);
    Digest name = put(&small, bytes, LEN, 0);
    EXPECT_RC(blobs_compare(store, &name, bytes, LEN, 100), SAP_OK);

    damage_row(WIT_STORE_BLOB_PART_CONTENT, &names[1], other, 16);
    expect_damage(&name, LEN, &names[1]);
    damage_row(WIT_STORE_BLOB_PART_CONTENT, &names[1], bytes + 16, 15);
    expect_damage(&name, LEN, &names[1]);
    damage_row(WIT_STORE_BLOB_PART_CONTENT, &names[1], NULL, 0);
    expect_damage(&name, LEN, &names[1]);
    damage_row(WIT_STORE_BLOB_PART_CONTENT, &names[1], bytes + 16, 16);
    EXPECT_RC(blobs_compare(store, &name, bytes, LEN, 100), SAP_OK);

    damage_row(WIT_STORE_BLOB_PART_CONTENT, &list, names, 2 * DIGEST_SIZE);
    expect_damage(&name, LEN, &list);
    damage_row(WIT_STORE_BLOB_PART_CONTENT, &list, names, 3 * DIGEST_SIZE);

    damage_row(WIT_STORE_BLOB_PART_CONTENT, &name, &list, DIGEST_SIZE); /* only the first list */
    EXPECT_RC(blobs_compare(store, &name, bytes, LEN, 100), SAP_CORRUPT);
    damage_row(WIT_STORE_BLOB_PART_CONTENT, &name, other, 16); /* no list */
    expect_damage(&name, LEN, &name);
    damage_row(WIT_STORE_BLOB_PART_CONTENT, &name, NULL, 0);
    expect_damage(&name, LEN, &name);
    damage_row(WIT_STORE_BLOB_PART_HEAD, &name, other, 16);
    expect_damage(&name, LEN, &name);
}
END_TEST

START_TEST(parts_that_are_sound_but_those_of_another_blob_are_found_at_the_end)
{
    Digest chunks[4];
    Digest name = put(&small, bytes, 16 * 3, 0);
    for (size_t i = 0; i < 3; i++) {
        digest_bytes(bytes + 16 * i, 16, &chunks[i]);
    }
    chunks[3] = chunks[0];
    damage_row(WIT_STORE_BLOB_PART_CONTENT, &name, chunks + 1, 3 * DIGEST_SIZE);
    uint8_t room[64];
    size_t got = 1;
    int rc = SAP_OK;
    BlobReader *reader = NULL;
    EXPECT_RC(blob_read_open(store, SAP_STORE_READ_NEWEST, &name, &reader), SAP_OK);
    while (rc == SAP_OK) {
        rc = blob_read(reader, room, sizeof room, &got);
        EXPECT(rc != SAP_OK || got > 0, "the end is not reached");
    }
    EXPECT_RC(rc, SAP_CORRUPT);
    EXPECT(strstr(blob_read_message(reader), "names other bytes") != NULL, "%s", said);
    blob_read_close(reader);
}
END_TEST

START_TEST(sizes_that_a_damaged_head_claims_are_refused)
{
    static const uint64_t sizes[] = {0, 47, 49, UINT64_MAX};
    for (int deep = 0; deep < 2; deep++) {
        Digest name = put(deep ? &small : NULL, bytes, 48, 0);
        for (size_t i = 0; i < 4; i++) {
            WitStoreBlobHead head = {.kind = deep ? WIT_STORE_BLOB_KIND_TREE
                                                  : WIT_STORE_BLOB_KIND_BYTES,
                                     .depth = (uint8_t)deep,
                                     .size = sizes[i]};
            Buf buf = {0};
            EXPECT_RC(wit_store_blob_head_encode(&head, &buf, NULL), SAP_OK);
            damage_row(WIT_STORE_BLOB_PART_HEAD, &name, buf.data, buf.len);
            buf_release(&buf);
            uint8_t room[64];
            size_t got = 1;
            BlobReader *reader = NULL;
            int rc = blob_read_open(store, SAP_STORE_READ_NEWEST, &name, &reader);
            while (rc == SAP_OK && got > 0) {
                rc = blob_read(reader, room, sizeof room, &got);
            }
            EXPECT_RC(rc, SAP_CORRUPT);
            blob_read_close(reader);
        }
        (void)blobs_collect(store, DAY);
    }
}
END_TEST

START_TEST(a_collector_spares_what_is_damaged_and_goes_on)
{
    Digest tree = put(&small, bytes, 48, 0);
    Digest other = put(&small, bytes + 100, 10, 0);
    damage_row(WIT_STORE_BLOB_PART_CONTENT, &tree, "no list", 7);
    BlobCollector collector = {.looked_at = 0};
    bool end = false;
    EXPECT_RC(blob_collect_step(store, &collector, DAY, BLOB_MAX_STEP, &end), SAP_OK);
    EXPECT(collector.damaged == 1 && collector.collected == 1, "the tree stays");
    EXPECT(!exists(&other), "the other goes");
    damage_row(WIT_STORE_BLOB_PART_HEAD, &tree, "no head", 7);
    EXPECT_RC(blob_collect_step(store, &collector, DAY, BLOB_MAX_STEP, &end), SAP_OK);
    EXPECT(collector.damaged == 2, "the tree stays");
    Digest name;
    EXPECT_RC(blobs_put(store, &small, bytes, 48, DAY, &name), SAP_CORRUPT);
    EXPECT_RC(blobs_ref(store, &tree, "owner"), SAP_CORRUPT);
}
END_TEST

/* ---- Faults ---------------------------------------------------------------------------------- */

enum { FAULT_LEN = 16 * 11 }; /* three lists and a tree */

/* One of each: put, refer, read, unrefer, collect. Stops at the first code. */
static int do_everything(uint64_t now_ns)
{
    Digest name;
    BlobCollector collector = {.looked_at = 0};
    bool end = false;
    int rc = blobs_put(store, &small, bytes, FAULT_LEN, now_ns, &name);
    rc = rc == SAP_OK ? blobs_ref(store, &name, "owner") : rc;
    rc = rc == SAP_OK ? blobs_compare(store, &name, bytes, FAULT_LEN, 50) : rc;
    rc = rc == SAP_OK ? blobs_unref(store, &name, "owner") : rc;
    for (int pass = 0; pass < 4 && rc == SAP_OK; pass++) {
        rc = blob_collect_step(store, &collector, now_ns + DAY, BLOB_MAX_STEP, &end);
    }
    return rc;
}

static void remove_all_blobs(uint64_t now_ns)
{
    Digest name;
    digest_bytes(bytes, FAULT_LEN, &name);
    (void)blobs_unref(store, &name, "owner");
    (void)blobs_collect(store, now_ns);
    BlobsCount count = blobs_check(store);
    EXPECT(count.blobs == 0 && count.refs == 0, "%u, %u rows are left", count.blobs, count.refs);
}

/* Each fault at each call: invariants hold after it, and what is left goes after a day. */
START_TEST(no_fault_at_any_call_leaves_anything_behind_for_ever)
{
    static const SapStoreFault faults[] = {SAP_STORE_FAULT_FAIL, SAP_STORE_FAULT_BUSY,
                                           SAP_STORE_FAULT_CONFLICT, SAP_STORE_FAULT_LOST_BEFORE,
                                           SAP_STORE_FAULT_LOST_AFTER};
    uint64_t runs = 0;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        fired = true;
        for (uint64_t nth = 1; fired; nth++, runs++) {
            uint64_t now_ns = (runs + 1) * 3 * DAY;
            expect_context("fault %d at call %llu", faults[i], (unsigned long long)nth);
            arm_hook(nth, faults[i], false);
            int rc = do_everything(now_ns);
            calls_until = 0;
            EXPECT(fired || rc == SAP_OK, "nothing fired, and it returned %d", rc);
            bool final = faults[i] != SAP_STORE_FAULT_BUSY && faults[i] != SAP_STORE_FAULT_CONFLICT;
            EXPECT(rc == SAP_OK || rc == (final ? SAP_IO : rc), "it returned %d", rc);
            (void)blobs_check(store);
            remove_all_blobs(now_ns + DAY);
        }
    }
    printf("%llu runs with a fault\n", (unsigned long long)runs);
    EXPECT(runs > 500, "only %llu runs", (unsigned long long)runs);
}
END_TEST

START_TEST(a_put_whose_commit_has_an_unknown_outcome_is_put_again)
{
    static const SapStoreFault faults[] = {SAP_STORE_FAULT_LOST_BEFORE, SAP_STORE_FAULT_LOST_AFTER};
    for (int i = 0; i < 2; i++) {
        fired = true;
        for (uint64_t nth = 1; fired; nth++) {
            Digest name;
            arm_hook(nth, faults[i], true);
            EXPECT_RC(blobs_put(store, &small, bytes, FAULT_LEN, 0, &name), SAP_OK);
            calls_until = 0;
            EXPECT_RC(blobs_compare(store, &name, bytes, FAULT_LEN, 50), SAP_OK);
            EXPECT(nth > 4 || fired, "there are more commits");
            remove_all_blobs(DAY);
        }
    }
}
END_TEST

/* Of a crash at any call: all processes but one go on. */
START_TEST(a_crash_at_any_call_leaves_nothing_that_is_not_collected)
{
    uint64_t crashes = 0;
    EXPECT_RC(sap_store_close(store), SAP_OK);
    SapStore *survivor = open_store("memory:crash");
    fired = true;
    for (uint64_t nth = 1; fired; nth++, crashes++) {
        uint64_t now_ns = nth * 3 * DAY;
        store = open_store("memory:crash");
        arm_hook(nth, SAP_STORE_FAULT_CRASH, false);
        int rc = do_everything(now_ns);
        EXPECT(rc == (fired ? SAP_IO : SAP_OK), "it returned %d", rc);
        calls_until = 0;
        EXPECT_RC(sap_store_close(store), SAP_OK);
        store = survivor;
        (void)blobs_check(store);
        remove_all_blobs(now_ns + DAY);
    }
    printf("%llu crashes\n", (unsigned long long)crashes);
    EXPECT(crashes > 100, "only %llu crashes", (unsigned long long)crashes);
}
END_TEST

START_TEST(no_allocation_that_fails_changes_what_is_promised)
{
    uint64_t failures = 0;
    uint64_t now_ns = 0;
    for (uint64_t nth = 1;; nth++) {
        now_ns += 3 * DAY;
        fault_reset();
        fault_arm_alloc(nth);
        int rc = do_everything(now_ns);
        uint64_t hits = fault_fired();
        fault_reset();
        EXPECT(rc == (hits > 0 ? SAP_NOMEM : SAP_OK), "it returned %d", rc);
        (void)blobs_check(store);
        remove_all_blobs(now_ns + DAY);
        if (hits == 0) {
            break;
        }
        failures++;
    }
    printf("%llu allocations failed\n", (unsigned long long)failures);
    EXPECT(failures > 100, "only %llu", (unsigned long long)failures);
}
END_TEST

START_TEST(writers_and_readers_have_one_chunk_in_memory)
{
    static const size_t most = BLOB_CHUNK_BYTES + 16 * 1024;
    BlobWriter *writer = NULL;
    BlobReader *reader = NULL;
    Digest name;
    size_t before = mem_live_total();
    EXPECT_RC(blob_write_begin(store, NULL, &writer), SAP_OK);
    EXPECT(mem_live_total() - before <= most, "the writer has %zu", mem_live_total() - before);
    EXPECT_RC(blob_write_append(writer, bytes, BYTES_MAX, 0), SAP_OK);
    EXPECT_RC(blob_write_finish(writer, 0, &name, NULL), SAP_OK);
    before = mem_live_total();
    EXPECT_RC(blob_read_open(store, SAP_STORE_READ_NEWEST, &name, &reader), SAP_OK);
    size_t got = 1;
    while (got > 0) {
        uint8_t room[4096];
        EXPECT_RC(blob_read(reader, room, sizeof room, &got), SAP_OK);
        size_t held = mem_live_total() - before;
        EXPECT(held <= most + 64 * 1024, "the reader has %zu", held);
    }
    blob_read_close(reader);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        blobs_of_all_sizes_around_a_chunk_come_back,
        trees_of_every_depth_come_back_and_share_what_they_have_in_common,
        a_list_names_as_many_blobs_as_a_transaction_may_guard,
        the_pieces_in_which_bytes_come_change_nothing,
        a_blob_of_one_repeated_chunk_stores_it_once,
        a_writer_that_is_ended_leaves_nothing_that_is_needed,
        a_blob_is_durable_when_its_mark_is,
        a_power_cut_during_a_put_leaves_only_what_is_collected,
        a_blob_lives_for_a_day_after_its_latest_put,
        a_reference_keeps_a_blob_until_it_is_deleted,
        an_owner_is_any_bytes_up_to_the_limit,
        a_program_cannot_take_the_reference_of_a_list,
        a_blob_keeps_the_chunks_that_it_shares_with_one_that_is_collected,
        the_content_of_a_list_may_also_be_a_blob_of_its_own,
        a_collector_goes_on_where_its_last_step_ended,
        a_put_that_takes_more_than_a_day_is_refused_and_leaves_nothing,
        a_reader_of_a_blob_that_is_collected_says_so,
        a_damaged_or_missing_part_is_named,
        parts_that_are_sound_but_those_of_another_blob_are_found_at_the_end,
        sizes_that_a_damaged_head_claims_are_refused,
        a_collector_spares_what_is_damaged_and_goes_on,
        no_fault_at_any_call_leaves_anything_behind_for_ever,
        a_put_whose_commit_has_an_unknown_outcome_is_put_again,
        a_crash_at_any_call_leaves_nothing_that_is_not_collected,
        no_allocation_that_fails_changes_what_is_promised,
        writers_and_readers_have_one_chunk_in_memory,
    };
    Suite *suite = suite_create("store_blob");
    TCase *test_case = tcase_create("blob");
    tcase_add_checked_fixture(test_case, setup, close_store);
    tcase_set_timeout(test_case, TIMEOUT_S);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        tcase_add_test(test_case, tests[i]);
    }
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
