/* migrations.c - stands in for src/runner/migrations.c in the command that tests of migrations run. */
#include "support/migrations.h"

SchemaVersion runtime_schema_version(void)
{
    return (SchemaVersion){1, 0};
}

const Migration *runtime_migrations(size_t *count_out)
{
    *count_out = test_migration_count;
    return test_migrations;
}
