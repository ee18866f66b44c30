/* migrations.c - the migrations of the runtime's schema, oldest first.
 *
 * docs/howto/change-a-schema.md says how to add one: every version above the first
 * has one that leads to it. There is one version of the
 * schema, and so nothing to migrate from. */
#include "runner/migrate.h"

#include "wit_schema_dbis.h"

SchemaVersion runtime_schema_version(void)
{
    return (SchemaVersion){WIT_RUNTIME_MAJOR, WIT_RUNTIME_MINOR};
}

const Migration *runtime_migrations(size_t *count_out)
{
    *count_out = 0;
    return NULL;
}
