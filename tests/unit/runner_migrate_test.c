/* Migrations: chain, dry run, failure, crash, and a marker that is not the expected one. */
#include "common/buf.h"
#include "common/fault.h"
#include "common/mem.h"
#include "support/files.h"
#include "support/migrations.h"
#include "support/suite.h"

#include <stdio.h>
#include <sys/wait.h>

enum { ROWS = 40 };

static const SchemaVersion V01 = {0, 1};
static const SchemaVersion V02 = {0, 2};
static const SchemaVersion V10 = {1, 0};

static void fill(DB *db)
{
    ck_assert_int_eq(dbi_open(db, MIGRATIONS_OLD_DBI, NULL, NULL, 0), SAP_OK);
    Txn *txn = txn_begin(db, NULL, 0);
    ck_assert_ptr_nonnull(txn);
    for (int i = 0; i < ROWS; i++) {
        char key[16];
        int len = snprintf(key, sizeof key, "k%d", i);
        ck_assert_int_eq(txn_put_dbi(txn, MIGRATIONS_OLD_DBI, key, (uint32_t)len, "value", 5),
                         SAP_OK);
    }
    ck_assert_int_eq(migrate_write_version(txn, V01), SAP_OK);
    ck_assert_int_eq(txn_commit(txn), SAP_OK);
}

static DB *filled(void)
{
    DB *db = db_open(NULL, 0, NULL, NULL);

    ck_assert_ptr_nonnull(db);
    fill(db);
    return db;
}

static int append(const void *data, uint32_t len, void *ctx)
{
    return buf_append(ctx, data, len);
}

/* All rows of all tables, as bytes. */
static Buf content(DB *db)
{
    Buf buf = {0};

    ck_assert_int_eq(db_checkpoint(db, append, &buf), SAP_OK);
    return buf;
}

static void assert_content(DB *db, const Buf *wanted)
{
    Buf found = content(db);

    ck_assert_uint_eq(found.len, wanted->len);
    ck_assert_mem_eq(found.data, wanted->data, wanted->len);
    buf_release(&found);
}

static SchemaVersion version_of(DB *db)
{
    SchemaVersion version = {9, 9};
    Txn *txn = txn_begin(db, NULL, TXN_RDONLY);

    ck_assert_int_eq(migrate_read_version(txn, &version), SAP_OK);
    txn_abort(txn);
    return version;
}

static uint64_t rows_of(Txn *txn, uint32_t dbi)
{
    SapStat stat;

    return dbi_stat(txn, dbi, &stat) == SAP_OK ? stat.num_entries : 0;
}

/* Whether the rows are those of their version, all of them; which one it is. */
static SchemaVersion assert_whole(DB *db)
{
    SchemaVersion version = version_of(db);
    bool last = schema_version_compare(version, V10) == 0;
    Txn *txn = txn_begin(db, NULL, TXN_RDONLY);

    ck_assert_uint_eq(rows_of(txn, MIGRATIONS_OLD_DBI), last ? 0 : ROWS);
    ck_assert_uint_eq(rows_of(txn, MIGRATIONS_NEW_DBI), last ? ROWS : 0);
    Cursor *cur = cursor_open_dbi(txn, last ? MIGRATIONS_NEW_DBI : MIGRATIONS_OLD_DBI);
    const void *key;
    const void *val;
    uint32_t key_len;
    uint32_t val_len;
    int rc = cursor_first(cur);
    for (; rc == SAP_OK; rc = cursor_next(cur)) {
        ck_assert_int_eq(cursor_get(cur, &key, &key_len, &val, &val_len), SAP_OK);
        ck_assert_uint_eq(val_len, schema_version_compare(version, V01) == 0 ? 5 : 6);
        ck_assert_mem_eq(val, "value", val_len);
    }
    ck_assert_int_eq(rc, SAP_NOTFOUND);
    cursor_close(cur);
    txn_abort(txn);
    return version;
}

static MigratePath planned(SchemaVersion from, SchemaVersion to)
{
    MigratePath path;

    ck_assert_int_eq(migrate_plan(test_migrations, test_migration_count, from, to, &path), SAP_OK);
    return path;
}

START_TEST(a_chain_runs_in_order_and_moves_the_marker)
{
    DB *db = filled();
    MigratePath path = planned(V01, V10);
    MigrateReport report;

    ck_assert_uint_eq(path.count, 2);
    ck_assert_int_eq(migrate_run(db, &path, false, &report), SAP_OK);
    ck_assert_uint_eq(report.done, 2);
    ck_assert_uint_eq(report.counts[0].read, ROWS);
    ck_assert_uint_eq(report.counts[0].written, ROWS);
    ck_assert_uint_eq(report.counts[0].deleted, 0);
    ck_assert_uint_eq(report.counts[1].read, ROWS);
    ck_assert_uint_eq(report.counts[1].written, ROWS);
    ck_assert_uint_eq(report.counts[1].deleted, ROWS);
    ck_assert_int_eq(schema_version_compare(assert_whole(db), V10), 0);
    ck_assert_int_eq(db_close(db), SAP_OK);
}
END_TEST

START_TEST(a_part_of_the_chain_ends_at_its_version)
{
    DB *db = filled();
    MigratePath path = planned(V01, V02);
    MigrateReport report;

    ck_assert_uint_eq(path.count, 1);
    ck_assert_int_eq(migrate_run(db, &path, false, &report), SAP_OK);
    ck_assert_int_eq(schema_version_compare(assert_whole(db), V02), 0);
    path = planned(V02, V10);
    ck_assert_int_eq(migrate_run(db, &path, false, &report), SAP_OK);
    ck_assert_int_eq(schema_version_compare(assert_whole(db), V10), 0);
    ck_assert_int_eq(db_close(db), SAP_OK);
}
END_TEST

START_TEST(a_dry_run_counts_the_same_and_changes_nothing)
{
    DB *db = filled();
    Buf before = content(db);
    MigratePath path = planned(V01, V10);
    MigrateReport dry;
    MigrateReport real;
    SapDbiInfo info;

    ck_assert_int_eq(migrate_run(db, &path, true, &dry), SAP_OK);
    assert_content(db, &before);
    ck_assert_int_eq(dbi_info(db, MIGRATIONS_NEW_DBI, &info), SAP_NOTFOUND);
    ck_assert_int_eq(dbi_open(db, MIGRATIONS_NEW_DBI, NULL, NULL, 0), SAP_OK);
    Buf with_table = content(db);
    MigrateReport again;
    ck_assert_int_eq(migrate_run(db, &path, true, &again), SAP_OK);
    assert_content(db, &with_table);
    ck_assert_int_eq(migrate_run(db, &path, false, &real), SAP_OK);
    ck_assert_mem_eq(&dry.counts, &real.counts, sizeof real.counts);
    ck_assert_mem_eq(&again.counts, &real.counts, sizeof real.counts);
    ck_assert_uint_eq(dry.done, 2);
    buf_release(&before);
    buf_release(&with_table);
    ck_assert_int_eq(db_close(db), SAP_OK);
}
END_TEST

START_TEST(a_failure_of_the_second_undoes_the_first)
{
    DB *db = filled();
    MigratePath path = planned(V01, V10);
    MigrateReport report;

    ck_assert_int_eq(dbi_open(db, MIGRATIONS_NEW_DBI, NULL, NULL, 0), SAP_OK);
    Txn *txn = txn_begin(db, NULL, 0);
    ck_assert_int_eq(txn_put_dbi(txn, MIGRATIONS_OLD_DBI, "kx", 2, "value", 5), SAP_OK);
    ck_assert_int_eq(txn_commit(txn), SAP_OK);
    Buf before = content(db);
    for (int dry = 0; dry < 2; dry++) {
        ck_assert_int_eq(migrate_run(db, &path, dry == 1, &report), SAP_INVALID);
        ck_assert_str_eq(report.reason, "keys become numbers: the key 'kx' is not k and digits");
        ck_assert_uint_eq(report.done, 1);
        assert_content(db, &before);
    }
    ck_assert_int_eq(schema_version_compare(version_of(db), V01), 0);
    buf_release(&before);
    ck_assert_int_eq(db_close(db), SAP_OK);
}
END_TEST

START_TEST(a_marker_that_changed_since_is_a_conflict)
{
    DB *db = filled();
    MigratePath path = planned(V01, V02);
    MigrateReport report;

    ck_assert_int_eq(migrate_run(db, &path, false, &report), SAP_OK);
    Buf before = content(db);
    ck_assert_int_eq(migrate_run(db, &path, false, &report), SAP_CONFLICT);
    ck_assert_str_eq(report.reason, "the schema marker: has changed");
    assert_content(db, &before);
    Txn *txn = txn_begin(db, NULL, 0);
    ck_assert_int_eq(txn_put(txn, "runner.schema.version", 21, "RSV1....", 8), SAP_OK);
    ck_assert_int_eq(txn_commit(txn), SAP_OK);
    ck_assert_int_eq(migrate_run(db, &path, false, &report), SAP_CORRUPT);
    txn = txn_begin(db, NULL, 0);
    ck_assert_int_eq(txn_del(txn, "runner.schema.version", 21), SAP_OK);
    ck_assert_int_eq(txn_commit(txn), SAP_OK);
    ck_assert_int_eq(migrate_run(db, &path, false, &report), SAP_NOTFOUND);
    buf_release(&before);
    ck_assert_int_eq(db_close(db), SAP_OK);
}
END_TEST

static int nothing(MigrateStep *step)
{
    (void)step;
    return SAP_OK;
}

START_TEST(a_plan_takes_the_fewest_steps_and_only_forward)
{
    static const Migration list[] = {
        {{0, 1}, {0, 2}, "a", {0}, nothing}, {{0, 2}, {0, 3}, "b", {0}, nothing},
        {{0, 1}, {0, 3}, "c", {0}, nothing}, {{0, 3}, {1, 0}, "d", {0}, nothing},
        {{0, 1}, {2, 0}, "e", {0}, nothing}, {{0, 2}, {0, 9}, "f", {0}, nothing},
    };
    static const struct {
        SchemaVersion from;
        SchemaVersion to;
        const char *names; /* NULL: none lead there */
    } cases[] = {{{0, 1}, {1, 0}, "cd"}, {{0, 2}, {1, 0}, "bd"}, {{0, 1}, {0, 1}, ""},
                 {{0, 1}, {2, 0}, "e"},  {{0, 2}, {2, 0}, NULL}, {{1, 0}, {0, 1}, NULL},
                 {{0, 1}, {0, 9}, "af"}, {{0, 0}, {0, 1}, NULL}, {{0, 1}, {0, 4}, NULL}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        MigratePath path;
        char names[8] = "";
        int rc = migrate_plan(list, 6, cases[i].from, cases[i].to, &path);
        ck_assert_int_eq(rc, cases[i].names == NULL ? SAP_NOTFOUND : SAP_OK);
        for (size_t s = 0; rc == SAP_OK && s < path.count; s++) {
            names[s] = path.steps[s]->name[0];
        }
        ck_assert_str_eq(names, cases[i].names == NULL ? "" : cases[i].names);
    }
    MigratePath path;
    ck_assert_int_eq(migrate_plan(NULL, 0, V01, V01, &path), SAP_OK);
    ck_assert_int_eq(migrate_plan(NULL, 0, V01, V02, &path), SAP_NOTFOUND);
}
END_TEST

START_TEST(a_migration_without_work_moves_the_marker_alone)
{
    static const Migration list[] = {{{0, 1}, {0, 2}, "options may follow", {0}, NULL}};
    DB *db = filled();
    MigratePath path;
    MigrateReport report;
    SchemaVersion version;
    Txn *txn;

    ck_assert_int_eq(migrate_plan(list, 1, V01, V02, &path), SAP_OK);
    ck_assert_int_eq(migrate_run(db, &path, false, &report), SAP_OK);
    ck_assert_uint_eq(report.done, 1);
    ck_assert_uint_eq(report.counts[0].read + report.counts[0].written, 0);
    ck_assert_int_eq(sap_txn_begin_rc(db, NULL, TXN_RDONLY, &txn), SAP_OK);
    ck_assert_int_eq(migrate_read_version(txn, &version), SAP_OK);
    ck_assert_int_eq(schema_version_compare(version, V02), 0);
    txn_abort(txn);
    ck_assert_int_eq(db_close(db), SAP_OK);
}
END_TEST

static int shift(MigrateStep *step, const MigrateRow *row, void *ctx)
{
    char key[16];
    int len = snprintf(key, sizeof key, "%.*s-", (int)row->key_len, (const char *)row->key);

    ++*(unsigned *)ctx;
    int rc = migrate_put(step, MIGRATIONS_OLD_DBI, key, (uint32_t)len, row->val, row->val_len);
    return rc == SAP_OK ? migrate_del(step, MIGRATIONS_OLD_DBI, row->key, row->key_len) : rc;
}

START_TEST(rows_that_a_walk_adds_are_not_visited)
{
    DB *db = filled();
    unsigned visits = 0;
    MigrateStep step = {.txn = txn_begin(db, NULL, 0)};

    ck_assert_int_eq(migrate_each(&step, MIGRATIONS_OLD_DBI, shift, &visits), SAP_OK);
    ck_assert_uint_eq(visits, ROWS);
    ck_assert_uint_eq(step.counts.read, ROWS);
    ck_assert_uint_eq(rows_of(step.txn, MIGRATIONS_OLD_DBI), ROWS);
    ck_assert_int_eq(migrate_each(&step, 77, shift, &visits), SAP_ERROR);
    txn_abort(step.txn);
    ck_assert_int_eq(dbi_open(db, 20, NULL, NULL, DBI_DUPSORT), SAP_OK);
    step.txn = txn_begin(db, NULL, 0);
    ck_assert_int_eq(migrate_each(&step, 20, shift, &visits), SAP_ERROR);
    txn_abort(step.txn);
    ck_assert_int_eq(db_close(db), SAP_OK);
}
END_TEST

START_TEST(a_migration_without_memory_changes_nothing)
{
    DB *db = filled();
    MigratePath path = planned(V01, V10);
    unsigned failures = 0;

    ck_assert_int_eq(dbi_open(db, MIGRATIONS_NEW_DBI, NULL, NULL, 0), SAP_OK);
    Buf before = content(db);
    for (uint64_t nth = 1;; nth++) {
        MigrateReport report;
        fault_reset();
        fault_arm_alloc(nth);
        int rc = migrate_run(db, &path, false, &report);
        bool failed = fault_fired() > 0;
        fault_reset();
        if (rc == SAP_OK) {
            break;
        }
        ck_assert(failed);
        ck_assert_int_eq(rc, SAP_NOMEM);
        assert_content(db, &before);
        failures++;
    }
    printf("%u failed allocations\n", failures);
    ck_assert_uint_gt(failures, 5);
    ck_assert_int_eq(schema_version_compare(assert_whole(db), V10), 0);
    buf_release(&before);
    ck_assert_int_eq(db_close(db), SAP_OK);
}
END_TEST

typedef struct Crash {
    FileBed bed;
    uint64_t nth;
} Crash;

/* Dies at the n-th step, if it gets that far. */
static void migrate_and_die(void *arg)
{
    Crash *crash = arg;
    MigrateReport report;
    MigratePath path = planned(V01, V10);
    DB *db = file_bed_open(&crash->bed);

    fault_reset();
    fault_arm_crash(crash->nth);
    ck_assert_int_eq(migrate_run(db, &path, false, &report), SAP_OK);
    file_bed_close(db);
}

START_TEST(a_crash_leaves_the_old_version_or_the_new)
{
    unsigned old = 0;
    unsigned new = 0;
    bool finished = false;

    for (uint64_t nth = 1; !finished; nth++) {
        Crash crash = {.nth = nth};
        file_bed_start(&crash.bed);
        DB *db = file_bed_open(&crash.bed);
        fill(db);
        file_bed_close(db);
        int status = files_run_child(migrate_and_die, &crash);
        ck_assert(WIFEXITED(status));
        finished = WEXITSTATUS(status) == 0;
        ck_assert(finished || WEXITSTATUS(status) == FAULT_CRASH_STATUS);
        db = file_bed_open(&crash.bed);
        SchemaVersion version = assert_whole(db);
        ck_assert_int_ne(schema_version_compare(version, V02), 0);
        bool is_new = schema_version_compare(version, V10) == 0;
        old += is_new ? 0 : 1;
        new += is_new ? 1 : 0;
        ck_assert(!finished || is_new);
        file_bed_close(db);
        file_bed_end(&crash.bed);
    }
    printf("crashed %u times: %u of the old version, %u of the new\n", old + new - 1, old, new - 1);
    ck_assert_uint_gt(old, 1);
    ck_assert_uint_gt(new, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner/migrate");
    TCase *tcase = tcase_create("migrate");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, a_chain_runs_in_order_and_moves_the_marker);
    tcase_add_test(tcase, a_part_of_the_chain_ends_at_its_version);
    tcase_add_test(tcase, a_dry_run_counts_the_same_and_changes_nothing);
    tcase_add_test(tcase, a_failure_of_the_second_undoes_the_first);
    tcase_add_test(tcase, a_marker_that_changed_since_is_a_conflict);
    tcase_add_test(tcase, a_plan_takes_the_fewest_steps_and_only_forward);
    tcase_add_test(tcase, a_migration_without_work_moves_the_marker_alone);
    tcase_add_test(tcase, rows_that_a_walk_adds_are_not_visited);
    tcase_add_test(tcase, a_migration_without_memory_changes_nothing);
    tcase_add_test(tcase, a_crash_leaves_the_old_version_or_the_new);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
