/* snapshot_example.c - all tables to a file, and back into another DB.
 *
 * The stream depends on the content alone: a DB with another page size and another history writes
 * the same bytes. A damaged file is refused, and the DB keeps what it had.
 *
 * Build: cc snapshot_example.c $(pkg-config --cflags --libs sapling) */
#include <sapling/sapling.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const path = "snapshot_example.stream";

static void must(int rc, const char *what)
{
    if (rc != SAP_OK) {
        fprintf(stderr, "%s: %s\n", what, sap_strerror(rc));
        exit(1);
    }
}

/* A sap_write_fn. */
static int to_file(const void *buf, uint32_t len, void *ctx)
{
    return fwrite(buf, 1, len, (FILE *)ctx) == len ? SAP_OK : SAP_IO;
}

/* A sap_read_fn. A file that ends too early is as damaged as one with other bytes in it. */
static int from_file(void *buf, uint32_t len, void *ctx)
{
    FILE *file = (FILE *)ctx;
    if (fread(buf, 1, len, file) == len) {
        return SAP_OK;
    }
    return ferror(file) ? SAP_IO : SAP_CORRUPT;
}

static void save(DB *db, const char *to)
{
    FILE *file = fopen(to, "wb");
    must(file != NULL ? SAP_OK : SAP_IO, to);
    must(db_checkpoint(db, to_file, file), "checkpoint");
    must(fclose(file) == 0 ? SAP_OK : SAP_IO, to);
}

static int load(DB *db, const char *from)
{
    FILE *file = fopen(from, "rb");
    if (file == NULL) {
        return SAP_IO;
    }
    int rc = db_restore(db, from_file, file);
    (void)fclose(file);
    return rc;
}

static size_t contents(const char *of, unsigned char *bytes, size_t room)
{
    FILE *file = fopen(of, "rb");
    must(file != NULL ? SAP_OK : SAP_IO, of);
    size_t len = fread(bytes, 1, room, file);
    (void)fclose(file);
    return len;
}

static void overwrite(const char *of, const unsigned char *bytes, size_t len)
{
    FILE *file = fopen(of, "wb");
    must(file != NULL && fwrite(bytes, 1, len, file) == len ? SAP_OK : SAP_IO, of);
    must(fclose(file) == 0 ? SAP_OK : SAP_IO, of);
}

static unsigned long long rows(DB *db)
{
    SapStat stat;
    must(db_stat(db, &stat), "stat");
    return (unsigned long long)stat.num_entries;
}

static void fill(DB *db)
{
    Txn *txn = txn_begin(db, NULL, 0);
    for (int i = 0; i < 1000; i++) {
        char key[16];
        snprintf(key, sizeof key, "%06d", i);
        must(txn_put(txn, key, 6, "some value", 10), "put");
        must(txn_put_dbi(txn, 7, i % 2 == 0 ? "even" : "odd", i % 2 == 0 ? 4 : 3, key, 6), "index");
    }
    must(txn_commit(txn), "commit");
}

int main(void)
{
    static unsigned char first[64 * 1024];
    static unsigned char second[64 * 1024];
    DB *db = db_open(NULL, 4096, NULL, NULL);
    DB *copy = db_open(NULL, 512, NULL, NULL); /* other pages; table 7 is not open here */
    if (db == NULL || copy == NULL) {
        return 1;
    }
    must(dbi_open(db, 7, NULL, NULL, DBI_DUPSORT), "dbi_open");
    fill(db);
    save(db, path);

    must(load(copy, path), "restore");
    printf("rows restored: %llu\n", rows(copy));
    Txn *txn = txn_begin(copy, NULL, TXN_RDONLY);
    uint64_t odd = 0;
    must(txn_count_range(txn, 7, "odd", 3, NULL, 0, &odd), "count"); /* the restore opened it */
    printf("of these odd: %llu\n", (unsigned long long)odd);
    txn_abort(txn);

    size_t first_len = contents(path, first, sizeof first);
    save(copy, path);
    size_t second_len = contents(path, second, sizeof second);
    printf("the copy writes %s\n", first_len == second_len && memcmp(first, second, first_len) == 0
                                       ? "the same bytes"
                                       : "other bytes");

    first[first_len / 2] ^= 1;
    overwrite(path, first, first_len);
    printf("a flipped bit: %s\n", sap_strerror(load(copy, path)));
    overwrite(path, second, second_len - 1);
    printf("a lost byte: %s\n", sap_strerror(load(copy, path)));
    overwrite(path, (const unsigned char *)"something else", 14);
    printf("another file: %s\n", sap_strerror(load(copy, path)));
    printf("rows still there: %llu\n", rows(copy));

    (void)remove(path);
    must(db_close(copy), "close");
    must(db_close(db), "close");
    return 0;
}
