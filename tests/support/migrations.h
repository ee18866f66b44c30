/* migrations.h - migrations for tests: rows of table 8 in three versions.
 *
 *   0.1  "k<digits>" -> bytes                        table 8
 *   0.2  the same, with a byte 0 behind: an option that is none
 *   1.0  the digits as u32be -> the bytes of 0.2     table 9, which is added
 *
 * The second refuses a key of another form. Where SAP_TEST_KILL_AT is a number, the process is killed
 * when that many rows have been changed. */
#ifndef SAPLING_TESTS_MIGRATIONS_H
#define SAPLING_TESTS_MIGRATIONS_H

#include "runner/migrate.h"

enum { MIGRATIONS_OLD_DBI = 8, MIGRATIONS_NEW_DBI = 9 };

extern const Migration test_migrations[];
extern const size_t test_migration_count;

#endif
