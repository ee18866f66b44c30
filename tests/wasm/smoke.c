/* smoke.c - the engine as a WebAssembly module: one pass over what a user would do with it.
 *
 * Usage: smoke DIRECTORY [again]
 *
 * Public headers only. Every claim is one check; the last line gives their count, and the exit
 * status is 0 if none failed. Both the C heap and bounded arenas are tried: a module's memory is one
 * region that grows, and the bound is what keeps a store from taking all of it. In DIRECTORY, which
 * is empty at first, files are made. The first run leaves one of them open when it ends; `again`
 * tries what that left. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sapling/sapling.h"

enum {
    ROWS = 4000,
    SECOND_TABLE = 7,
    LARGE_BYTES = 100 * 1000, /* far above a page: the value lies in pages of its own */
    LINEAR_BYTES = 4 * 1024 * 1024,
    SMALL_LINEAR_BYTES = 256 * 1024,
    PAGE_BYTES = 1024,
    FILE_ROWS = 500,
};

static const char *store_name;
static unsigned passed;
static unsigned failed;

static void check(bool holds, const char *claim)
{
    printf("%s %s: %s\n", holds ? "ok  " : "FAIL", store_name, claim);
    if (holds) {
        passed++;
    } else {
        failed++;
    }
}

static uint32_t make_key(char key[16], unsigned i)
{
    return (uint32_t)snprintf(key, 16, "key-%06u", i);
}

/* The value of row i: 1 to 60 bytes that depend on i. */
static uint32_t make_val(char val[64], unsigned i)
{
    uint32_t len = 1 + i * 7 % 60;
    memset(val, 'a' + (int)(i % 26), len);
    return len;
}

static int put_row(Txn *txn, DBI dbi, unsigned i)
{
    char key[16];
    char val[64];
    uint32_t key_len = make_key(key, i);
    return txn_put_dbi(txn, dbi, key, key_len, val, make_val(val, i));
}

static int del_row(Txn *txn, DBI dbi, unsigned i)
{
    char key[16];
    return txn_del_dbi(txn, dbi, key, make_key(key, i));
}

static bool has_row(Txn *txn, DBI dbi, unsigned i)
{
    char key[16];
    char val[64];
    const void *found = NULL;
    uint32_t found_len = 0;
    if (txn_get_dbi(txn, dbi, key, make_key(key, i), &found, &found_len) != SAP_OK) {
        return false;
    }
    uint32_t len = make_val(val, i);
    return found_len == len && memcmp(found, val, len) == 0;
}

/* Whether exactly the rows below `end` that are no multiple of `gap` (0: all) are there. */
static bool has_rows(Txn *txn, DBI dbi, unsigned end, unsigned gap)
{
    uint64_t expected = 0;
    for (unsigned i = 0; i < end; i++) {
        bool wanted = gap == 0 || i % gap != 0;
        expected += wanted;
        if (has_row(txn, dbi, i) != wanted) {
            return false;
        }
    }
    SapStat stat;
    return dbi_stat(txn, dbi, &stat) == SAP_OK && stat.num_entries == expected;
}

static void print_finding(const char *text, void *ctx)
{
    (void)ctx;
    printf("     finding: %s\n", text);
}

static bool sound(DB *db)
{
    return db_verify(db, print_finding, NULL) == SAP_OK;
}

static void try_rows(DB *db)
{
    /* 1237 shares no factor with ROWS: each row once, in no order. */
    Txn *txn = txn_begin(db, NULL, 0);
#if SIZE_MAX == UINT32_MAX
    check(txn_scratch_alloc(txn, UINT32_MAX) == NULL,
          "scratch beyond the address space is refused");
#endif
    bool ok = txn != NULL;
    for (unsigned i = 0; i < ROWS && ok; i++) {
        ok = put_row(txn, 0, i * 1237 % ROWS) == SAP_OK;
    }
    check(ok, "rows are put in any order");
    check(ok && has_rows(txn, 0, ROWS, 0), "a writer sees its own rows");
    check(txn_put_flags(txn, "key-000001", 10, "x", 1, SAP_NOOVERWRITE, NULL) == SAP_EXISTS,
          "a key that is there is not overwritten unasked");
    check(txn_commit(txn) == SAP_OK, "the rows are committed");

    Txn *before = txn_begin(db, NULL, TXN_RDONLY);
    txn = txn_begin(db, NULL, 0);
    ok = before != NULL && txn != NULL;
    for (unsigned i = 0; i < ROWS && ok; i += 3) {
        ok = del_row(txn, 0, i) == SAP_OK;
    }
    check(ok, "every third row is removed");
    check(del_row(txn, 0, 0) == SAP_NOTFOUND, "a row is removed once");
    check(txn_commit(txn) == SAP_OK, "the removal is committed");
    check(has_rows(before, 0, ROWS, 0), "a snapshot keeps the removed rows");
    txn_abort(before);

    Txn *now = txn_begin(db, NULL, TXN_RDONLY);
    check(has_rows(now, 0, ROWS, 3), "a later reader misses just them");
    check(txn_put(now, "k", 1, "v", 1) == SAP_READONLY, "a reader cannot write");
    txn_abort(now);
    check(sound(db), "the trees are sound after removals");
}

/* Rows 0, 3, 6, ... are gone by now. */
static void try_cursor(DB *db)
{
    const unsigned left = ROWS - (ROWS + 2) / 3;
    Txn *txn = txn_begin(db, NULL, TXN_RDONLY);
    Cursor *cur = cursor_open(txn);
    check(cur != NULL, "a cursor opens");

    char last[16] = "";
    unsigned steps = 0;
    bool ordered = true;
    const void *key = NULL;
    uint32_t key_len = 0;
    while (cursor_next(cur) == SAP_OK && cursor_get_key(cur, &key, &key_len) == SAP_OK) {
        ordered = ordered && key_len == 10 && memcmp(last, key, key_len) < 0;
        memcpy(last, key, key_len < sizeof last ? key_len : sizeof last);
        steps++;
    }
    check(ordered && steps == left, "a cursor visits every row in order");

    steps = 0;
    for (int rc = cursor_last(cur); rc == SAP_OK; rc = cursor_prev(cur)) {
        steps++;
    }
    check(steps == left, "and backwards");

    check(cursor_seek(cur, "key-000300", 10) == SAP_OK &&
              cursor_get_key(cur, &key, &key_len) == SAP_OK && key_len == 10 &&
              memcmp(key, "key-000301", 10) == 0,
          "a seek to a removed row finds the next one");
    uint64_t rank = 0;
    check(cursor_rank(cur, &rank) == SAP_OK && rank == 200, "a row knows how many precede it");
    check(cursor_seek_nth(cur, 1) == SAP_OK && cursor_get_key(cur, &key, &key_len) == SAP_OK &&
              memcmp(key, "key-000002", 10) == 0,
          "a row is found by its number");
    cursor_close(cur);

    uint64_t count = 0;
    check(txn_count_range(txn, 0, "key-000300", 10, "key-000600", 10, &count) == SAP_OK &&
              count == 200,
          "a range is counted");
    txn_abort(txn);
}

static void try_nested(DB *db)
{
    Txn *parent = txn_begin(db, NULL, 0);
    check(put_row(parent, 0, 0) == SAP_OK, "a parent writes");

    Txn *child = txn_begin(db, parent, 0);
    check(child != NULL && has_row(child, 0, 0), "a child sees what its parent wrote");
    check(put_row(parent, 0, 3) == SAP_BUSY, "a parent with an open child is busy");
    bool ok = true;
    for (unsigned i = 3; i < ROWS && ok; i += 3) {
        ok = put_row(child, 0, i) == SAP_OK;
    }
    check(ok && has_rows(child, 0, ROWS, 0), "a child writes many rows");
    txn_abort(child);
    check(has_row(parent, 0, 0) && !has_row(parent, 0, 3), "its abort undoes them and no more");

    child = txn_begin(db, parent, 0);
    Txn *grandchild = txn_begin(db, child, 0);
    check(grandchild != NULL && put_row(grandchild, 0, 3) == SAP_OK, "a child has a child");
    check(txn_commit(grandchild) == SAP_OK && txn_commit(child) == SAP_OK,
          "both commit into the parent");
    check(has_row(parent, 0, 3), "which sees their row");
    txn_abort(parent);

    Txn *txn = txn_begin(db, NULL, TXN_RDONLY);
    check(has_rows(txn, 0, ROWS, 3), "the parent's abort undoes all");
    txn_abort(txn);
}

static void try_two_tables(DB *db)
{
    Txn *txn = txn_begin(db, NULL, 0);
    bool ok = true;
    for (unsigned i = 0; i < 500 && ok; i++) {
        ok = put_row(txn, SECOND_TABLE, i) == SAP_OK;
    }
    check(ok && has_rows(txn, SECOND_TABLE, 500, 0), "a second table takes rows");
    check(!has_row(txn, 0, 0), "which the first does not show");
    check(put_row(txn, SECOND_TABLE + 1, 0) == SAP_ERROR, "a table that is not open takes none");
    check(txn_commit(txn) == SAP_OK, "both tables share the commit");
}

/* Byte i of the large value. */
static uint8_t large_byte(size_t i)
{
    return (uint8_t)(i * 31 + i / 251);
}

static void try_large_value(DB *db)
{
    static uint8_t large[LARGE_BYTES];
    for (size_t i = 0; i < sizeof large; i++) {
        large[i] = large_byte(i);
    }
    Txn *txn = txn_begin(db, NULL, 0);
    check(txn_put(txn, "large", 5, large, sizeof large) == SAP_OK,
          "a value larger than a page is put");
    check(txn_commit(txn) == SAP_OK, "and committed");
    memset(large, 0, sizeof large);

    txn = txn_begin(db, NULL, TXN_RDONLY);
    const void *val = NULL;
    uint32_t len = 0;
    bool same = txn_get(txn, "large", 5, &val, &len) == SAP_OK && len == LARGE_BYTES;
    for (size_t i = 0; same && i < LARGE_BYTES; i++) {
        same = ((const uint8_t *)val)[i] == large_byte(i);
    }
    check(same, "it is read back byte for byte");
    txn_abort(txn);
    check(sound(db), "the trees are sound with it");

    uint64_t pages = db_num_pages(db);
    txn = txn_begin(db, NULL, 0);
    check(txn_del(txn, "large", 5) == SAP_OK && txn_commit(txn) == SAP_OK, "it is removed");
    txn = txn_begin(db, NULL, 0);
    check(put_row(txn, 0, 1) == SAP_OK && txn_commit(txn) == SAP_OK, "writing goes on");
    check(db_num_pages(db) + LARGE_BYTES / 4096 <= pages, "its pages are free again");
}

static void try_store(const char *name, SapMemArena *arena)
{
    store_name = name;
    DB *db = db_open(arena, 0, NULL, NULL);
    check(db != NULL, "a DB opens");
    if (db == NULL) {
        return;
    }
    check(dbi_open(db, SECOND_TABLE, NULL, NULL, 0) == SAP_OK, "a table opens");
    try_rows(db);
    try_cursor(db);
    try_nested(db);
    try_two_tables(db);
    try_large_value(db);
    check(sound(db), "the trees are sound at the end");
    check(db_close(db) == SAP_OK, "the DB closes");
}

/* ---- Files ---------------------------------------------------------------------------------- */

static const char *directory;

static void print_message(const char *text, void *ctx)
{
    (void)ctx;
    printf("     message: %s\n", text);
}

static int open_file(const char *name, unsigned flags, DB **db_out)
{
    char path[512];
    SapOpenOptions options = {.flags = flags, .on_message = print_message};
    snprintf(path, sizeof path, "%s/%s", directory, name);
    *db_out = NULL;
    return db_open_path(path, &options, db_out);
}

static bool put_rows(DB *db, DBI dbi, unsigned from, unsigned end)
{
    Txn *txn = txn_begin(db, NULL, 0);
    bool ok = txn != NULL;
    for (unsigned i = from; i < end && ok; i++) {
        ok = put_row(txn, dbi, i) == SAP_OK;
    }
    return ok && txn_commit(txn) == SAP_OK;
}

/* Whether both tables have the rows below FILE_ROWS and no others. */
static bool has_file_rows(DB *db)
{
    Txn *txn = txn_begin(db, NULL, TXN_RDONLY);
    bool ok =
        txn != NULL && has_rows(txn, 0, FILE_ROWS, 0) && has_rows(txn, SECOND_TABLE, FILE_ROWS, 0);
    txn_abort(txn);
    return ok;
}

static void fill_file(DB *db)
{
    check(dbi_open(db, SECOND_TABLE, NULL, NULL, 0) == SAP_OK, "a table is made");
    check(put_rows(db, 0, 0, FILE_ROWS / 2) && put_rows(db, SECOND_TABLE, 0, FILE_ROWS),
          "rows of two tables are committed");
    check(db_sync(db) == SAP_OK, "a checkpoint is made");
    check(put_rows(db, 0, FILE_ROWS / 2, FILE_ROWS), "rows are committed behind it");
}

static void try_file(void)
{
    store_name = "file";
    DB *db = NULL;
    DB *other = NULL;
    check(open_file("closed", 0, &db) == SAP_NOTFOUND, "a file that is not there is not found");
    check(open_file("closed", SAP_OPEN_CREATE, &db) == SAP_OK, "a file is made");
    if (db == NULL) {
        return;
    }
    check(open_file("closed", 0, &other) == SAP_BUSY, "and is not opened twice");
    fill_file(db);
    try_large_value(db);
    check(has_file_rows(db), "all rows are read");
    check(db_close(db) == SAP_OK, "the file is closed");

    check(open_file("closed", 0, &db) == SAP_OK, "and opened again");
    if (db == NULL) {
        return;
    }
    check(has_file_rows(db), "the rows are there");
    check(sound(db), "the trees are sound");
    check(put_rows(db, 0, 0, FILE_ROWS), "rows are written again");
    check(db_close(db) == SAP_OK, "the file is closed again");

    check(open_file("closed", SAP_OPEN_RDONLY, &db) == SAP_OK, "it is opened for reading");
    if (db != NULL) {
        check(has_file_rows(db) && sound(db), "it is the same");
        check(txn_begin(db, NULL, 0) == NULL, "it is not written");
        check(db_close(db) == SAP_OK, "it is closed");
    }
}

static void leave_file_open(void)
{
    store_name = "crash";
    DB *db = NULL;
    check(open_file("crashed", SAP_OPEN_CREATE, &db) == SAP_OK, "a file is made");
    if (db != NULL) {
        fill_file(db);
    }
}

static void try_what_was_left(void)
{
    store_name = "again";
    DB *db = NULL;
    check(open_file("crashed", SAP_OPEN_RDONLY, &db) == SAP_OK && has_file_rows(db) &&
              db_close(db) == SAP_OK,
          "a file with a log is read without a change to it");
    db = NULL;
    check(open_file("crashed", 0, &db) == SAP_OK, "a file that was not closed is opened");
    if (db == NULL) {
        return;
    }
    check(has_file_rows(db), "every commit is there");
    check(sound(db), "the trees are sound");
    check(put_rows(db, 0, FILE_ROWS, ROWS), "writing goes on");
    check(db_close(db) == SAP_OK, "it is closed");
    check(open_file("crashed", 0, &db) == SAP_OK, "and opened again");
    if (db != NULL) {
        Txn *txn = txn_begin(db, NULL, TXN_RDONLY);
        check(has_rows(txn, 0, ROWS, 0), "with what was written since");
        txn_abort(txn);
        check(sound(db) && db_close(db) == SAP_OK, "and is sound");
    }
}

/* ---- Arenas --------------------------------------------------------------------------------- */

static SapMemArena *held_arena(uint64_t max_bytes)
{
    SapArenaOptions options = {.type = SAP_ARENA_BACKING_WASI_FD, .page_size = PAGE_BYTES};
    options.cfg.mmap.fd = -1;
    options.cfg.mmap.max_size = max_bytes;
    SapMemArena *arena = NULL;
    check(sap_arena_init(&arena, &options) == SAP_OK, "an arena is made");
    return arena;
}

static SapMemArena *linear_arena(uint64_t max_bytes)
{
    SapArenaOptions options = {.type = SAP_ARENA_BACKING_LINEAR, .page_size = PAGE_BYTES};
    options.cfg.linear.max_bytes = max_bytes;
    SapMemArena *arena = NULL;
    check(sap_arena_init(&arena, &options) == SAP_OK, "an arena is made");
    return arena;
}

static void try_full_arena(void)
{
    store_name = "full";
    SapMemArena *arena = linear_arena(SMALL_LINEAR_BYTES);
    DB *db = db_open(arena, 0, NULL, NULL);
    check(db != NULL, "a DB opens");
    if (db == NULL) {
        return;
    }
    /* A commit for every 50 rows, until one does not fit. */
    unsigned rows = 0;
    int rc = SAP_OK;
    while (rc == SAP_OK && rows < 100 * 1000) {
        Txn *txn = txn_begin(db, NULL, 0);
        for (unsigned i = 0; i < 50 && rc == SAP_OK; i++) {
            rc = put_row(txn, 0, rows + i);
        }
        if (rc == SAP_OK) {
            rc = txn_commit(txn);
        } else {
            txn_abort(txn);
        }
        rows += rc == SAP_OK ? 50 : 0;
    }
    printf("     %u rows fit into %d bytes\n", rows, SMALL_LINEAR_BYTES);
    check(rc == SAP_FULL && rows >= 1000, "an arena at its bound answers SAP_FULL");
    check(sap_arena_active_pages(arena) * PAGE_BYTES <= SMALL_LINEAR_BYTES, "and keeps to it");

    Txn *txn = txn_begin(db, NULL, TXN_RDONLY);
    check(has_rows(txn, 0, rows, 0), "what was committed is there");
    txn_abort(txn);
    check(sound(db), "the trees are sound");

    rc = SAP_OK;
    for (unsigned i = 0; i < rows && rc == SAP_OK; i += 50) {
        txn = txn_begin(db, NULL, 0);
        for (unsigned j = i; j < i + 50 && rc == SAP_OK; j++) {
            rc = del_row(txn, 0, j);
        }
        rc = rc == SAP_OK ? txn_commit(txn) : rc;
    }
    check(rc == SAP_OK, "a full arena can be emptied");
    txn = txn_begin(db, NULL, 0);
    check(put_row(txn, 0, 0) == SAP_OK && txn_commit(txn) == SAP_OK, "and written again");
    check(db_close(db) == SAP_OK, "the DB closes");
    check(sap_arena_active_pages(arena) == 0, "the arena has its pages back");
    sap_arena_destroy(arena);
}

static void try_arena(const char *name, SapMemArena *arena)
{
    try_store(name, arena);
    check(sap_arena_active_pages(arena) == 0, "the arena has its pages back");
    sap_arena_destroy(arena);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: smoke DIRECTORY [again]\n");
        return 2;
    }
    directory = argv[1];
    if (argc > 2) {
        try_what_was_left();
    } else {
        try_store("heap", NULL);
        store_name = "linear";
        try_arena("linear", linear_arena(LINEAR_BYTES));
        store_name = "held";
        try_arena("held", held_arena(LINEAR_BYTES));
        try_full_arena();
        try_file();
        leave_file_open();
    }

    printf("wasm-check: %u passed, %u failed\n", passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
}
