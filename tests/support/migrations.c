#include "support/migrations.h"

#include "common/buf.h"
#include "common/bytes.h"

#include <signal.h>
#include <stdlib.h>

static uint64_t changed;

static void change_one(void)
{
    const char *at = getenv("SAP_TEST_KILL_AT");

    changed++;
    if (at != NULL && strtoull(at, NULL, 10) == changed) {
        (void)raise(SIGKILL);
    }
}

static int add_option(MigrateStep *step, const MigrateRow *row, void *ctx)
{
    Buf val = {0};
    int rc = buf_append(&val, row->val, row->val_len);

    (void)ctx;
    if (rc == SAP_OK) {
        rc = buf_append_u8(&val, 0);
    }
    if (rc == SAP_OK) {
        rc = migrate_put(step, MIGRATIONS_OLD_DBI, row->key, row->key_len, val.data,
                         (uint32_t)val.len);
    }
    buf_release(&val);
    change_one();
    return rc;
}

static int add_options(MigrateStep *step)
{
    return migrate_each(step, MIGRATIONS_OLD_DBI, add_option, NULL);
}

static int rewrite_key(MigrateStep *step, const MigrateRow *row, void *ctx)
{
    const char *text = row->key;
    uint32_t number = 0;
    uint8_t key[4];

    (void)ctx;
    for (uint32_t i = 1; i < row->key_len; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return migrate_refuse(step, "the key '%.*s' is not k and digits", (int)row->key_len,
                                  text);
        }
        number = number * 10 + (uint32_t)(text[i] - '0');
    }
    store_u32be(key, number);
    int rc = migrate_put(step, MIGRATIONS_NEW_DBI, key, sizeof key, row->val, row->val_len);
    if (rc == SAP_OK) {
        rc = migrate_del(step, MIGRATIONS_OLD_DBI, row->key, row->key_len);
    }
    change_one();
    return rc;
}

static int rewrite_keys(MigrateStep *step)
{
    return migrate_each(step, MIGRATIONS_OLD_DBI, rewrite_key, NULL);
}

const Migration test_migrations[] = {
    {{0, 1}, {0, 2}, "rows get an option", {0}, add_options},
    {{0, 2}, {1, 0}, "keys become numbers", {MIGRATIONS_NEW_DBI}, rewrite_keys},
};

const size_t test_migration_count = sizeof test_migrations / sizeof test_migrations[0];
