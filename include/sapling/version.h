/* version.h - which version of Sapling this is, and how its structs may grow.
 *
 * The macros are those of the headers that a program was compiled with; sap_version() is that of the
 * library it runs with. The number of the shared library (libsapling.so.N) is the major version: as
 * long as that is the same, programs run with a newer library, and with an older one if they use
 * only what that one has. Until 1.0.0 a new minor version may break this.
 *
 * STRUCTS THAT GROW
 *
 * Structs that a program fills in and passes by pointer (options and configurations) begin with
 * `uint32_t size`. Set it to sizeof the struct; zero the rest, or name the fields in an initialiser:
 *
 *     SapOpenOptions options = {.size = sizeof options, .flags = SAP_OPEN_CREATE};
 *
 * The library uses as many bytes as `size` says, and takes fields beyond them, which the program
 * does not know of, as zero, which is always the default. A size of 0 stands for the struct as it
 * was in the first release: new fields are not read. A size above what the library knows comes from
 * a program that is newer than the library: it is accepted as long as the bytes that the library
 * does not know are zero. SAP_ERROR: they are not, or the size is below that of the first release.
 * Where such a struct is the last member of another one, the size of the outer one counts, and the
 * inner size is not read.
 *
 * Structs that the library fills in, structs that are members of others, and elements of arrays have
 * a fixed size instead, and `reserved` members at their end: new fields will take their place. The
 * library sets them to zero in what it fills in. In what the program fills in they must be zero.
 *
 * Structs that the library makes, and programs only read (SapQueueMessage, SapReaderInfo,
 * SapRunnerV0LogEvent), may grow at their end. Structs that stand for a format (SapRunnerV0Message,
 * SapRunnerV0Intent, SapRunnerV0Lease, SapRunnerV0ReplayEvent), SapComparator and
 * SapRunnerV0TimeHooks stay as they are. */
#ifndef SAPLING_VERSION_H
#define SAPLING_VERSION_H

#include "sapling/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SAPLING_VERSION_MAJOR 0
#define SAPLING_VERSION_MINOR 1
#define SAPLING_VERSION_PATCH 0

/* For comparisons: #if SAPLING_VERSION_NUMBER >= 1002000 is 1.2.0 or later. */
#define SAPLING_VERSION_NUMBER \
    (SAPLING_VERSION_MAJOR * 1000000 + SAPLING_VERSION_MINOR * 1000 + SAPLING_VERSION_PATCH)

/* As a string: "1.2.0". */
#define SAPLING_VERSION                                                             \
    SAPLING_VERSION_TEXT_OF(SAPLING_VERSION_MAJOR)                                  \
    "." SAPLING_VERSION_TEXT_OF(SAPLING_VERSION_MINOR) "." SAPLING_VERSION_TEXT_OF( \
        SAPLING_VERSION_PATCH)
#define SAPLING_VERSION_TEXT_OF(number) SAPLING_VERSION_QUOTED(number)
#define SAPLING_VERSION_QUOTED(number)  #number

/* SAPLING_VERSION of the library that the program runs with. Static storage. */
SAP_API const char *sap_version(void);
/* SAPLING_VERSION_NUMBER of that library. */
SAP_API int sap_version_number(void);

#ifdef __cplusplus
}
#endif
#endif
