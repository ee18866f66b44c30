/* Bytes as a checkpoint stream for a small DB: whatever they are, the DB holds afterwards what they
 * say or what it held before.
 *
 * The first byte says whether the checksum at the end is made right, which no mutation would do,
 * and whether the arena is small. The others are the stream. */
#include "common/bytes.h"
#include "common/hash.h"
#include "common/mem.h"
#include "support/backing.h"
#include "support/expect.h"
#include "support/mirror.h"
#include "support/stream.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_INPUT = 16384, PAGE = 512, CHECKSUM = 8 };
enum { FIX_CHECKSUM = 1, SMALL_ARENA = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void open_tables(Mirror *m, SapMemArena *arena)
{
    mirror_open(m, arena, PAGE, ORDER_BYTES);
    mirror_add(m, 2, ORDER_REVERSE, 0);
    mirror_add(m, 3, ORDER_BYTES, SAP_DBI_DUPSORT);
    mirror_add_dupsort(m, 4, ORDER_LENGTH, ORDER_REVERSE);
    mirror_add(m, 1023, ORDER_BYTES, SAP_DBI_TTL_META);
}

static void put_some_rows(Mirror *m)
{
    mirror_begin(m);
    for (size_t t = 0; t < 4; t++) {
        mirror_put_text(m, t, "before", "the restore");
        mirror_put_text(m, t, "and", "kept if it fails");
        mirror_put_text(m, t, "before", "");
    }
    mirror_commit(m);
}

/* A stream of what was restored restores the same, and is the same again. */
static void expect_repeatable(SapEnv *db)
{
    Mirror m;
    Stream first;
    Stream second;

    model_expect_verified(db);
    stream_init(&first);
    stream_init(&second);
    EXPECT_RC(sap_db_checkpoint(db, stream_write, &first), SAP_OK);
    open_tables(&m, NULL);
    EXPECT_RC(sap_db_restore(m.db, stream_read, &first), SAP_OK);
    EXPECT(first.at == first.len, "%zu of %zu bytes were read", first.at, first.len);
    model_expect_verified(m.db);
    EXPECT_RC(sap_db_checkpoint(m.db, stream_write, &second), SAP_OK);
    EXPECT(first.len == second.len && memcmp(first.bytes, second.bytes, first.len) == 0,
           "the same content is another stream");
    mirror_drop(&m);
    stream_free(&first);
    stream_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Mirror m;
    Backing backing;
    Stream stream;

    if (size < 1 || size > LONGEST_INPUT) {
        return -1;
    }
    size_t live = mem_live_total();
    stream_init(&stream);
    EXPECT_RC(stream_write(data + 1, (uint32_t)(size - 1), &stream), SAP_OK);
    if ((data[0] & FIX_CHECKSUM) != 0 && stream.len >= CHECKSUM) {
        size_t covered = stream.len - CHECKSUM;
        store_u64le(stream.bytes + covered, hash_bytes(stream.bytes, covered, 0));
    }
    stream_rewind(&stream);
    backing_open(&backing, (data[0] & SMALL_ARENA) != 0 ? BACKING_LINEAR : BACKING_MALLOC, PAGE,
                 64 * 1024);
    open_tables(&m, backing.arena);
    put_some_rows(&m);
    int rc = sap_db_restore(m.db, stream_read, &stream);
    if (rc == SAP_OK) {
        expect_repeatable(m.db);
    } else {
        EXPECT(rc == SAP_CORRUPT || rc == SAP_INVALID || rc == SAP_ERROR || rc == SAP_FULL,
               "a restore answered %d", rc);
        model_expect_committed(m.committed, m.db);
    }
    mirror_drop(&m);
    backing_close(&backing);
    stream_free(&stream);
    EXPECT(mem_live_total() == live, "%zu bytes live instead of %zu", mem_live_total(), live);
    return 0;
}
