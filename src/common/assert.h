/* assert.h - our own bugs stop the process.
 *
 * An assertion states what only a bug in this tree can break. Misuse of a public call and
 * failures of disk, memory or peer are error codes, never assertions. SAP_ASSERT is on in every
 * build: going on after a broken invariant would write the damage to disk. SAP_ASSERT_SLOW, for
 * checks that cost more than the work they guard, is on when SAP_SLOW_ASSERTS is not 0; otherwise
 * it is compiled, so that it cannot rot, but not evaluated. */
#ifndef SAPLING_COMMON_ASSERT_H
#define SAPLING_COMMON_ASSERT_H

#include "common/config.h"

#define sap_likely(cond)   __builtin_expect(!!(cond), 1)
#define sap_unlikely(cond) __builtin_expect(!!(cond), 0)

#define SAP_ASSERT(cond) (sap_likely(cond) ? (void)0 : sap_assert_fail(#cond, __FILE__, __LINE__))

#if SAP_SLOW_ASSERTS
#define SAP_ASSERT_SLOW(cond) SAP_ASSERT(cond)
#else
#define SAP_ASSERT_SLOW(cond) ((void)(0 && (cond)))
#endif

/* Writes one line to standard error and aborts. Allocates nothing and takes no lock, so it may
 * be reached from anywhere. */
_Noreturn void sap_assert_fail(const char *expr, const char *file, int line);

#endif
