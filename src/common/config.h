/* config.h - the build switches of the whole tree, each with its default.
 *
 * A switch is always defined, as 0 or not 0, and is tested with #if, never with #ifdef, so that
 * a misspelt one does not silently mean "off" in one file and "on" in another. */
#ifndef SAPLING_COMMON_CONFIG_H
#define SAPLING_COMMON_CONFIG_H

/* Threads and atomics. wasm32-wasi has neither. */
#ifndef SAPLING_THREADED
#ifdef __wasi__
#define SAPLING_THREADED 0
#else
#define SAPLING_THREADED 1
#endif
#endif

/* Database files are mapped; 0: their pages are held in memory and written at checkpoints.
 * wasm32-wasi has no mappings. */
#ifndef SAP_FILE_MAPPED
#ifdef __wasi__
#define SAP_FILE_MAPPED 0
#else
#define SAP_FILE_MAPPED 1
#endif
#endif

/* Fault points (fault.h). Test builds only. */
#ifndef SAP_FAULTS
#define SAP_FAULTS 0
#endif

/* Assertions too slow for production (assert.h). Test builds only. */
#ifndef SAP_SLOW_ASSERTS
#define SAP_SLOW_ASSERTS 0
#endif

/* Under a sanitizer: much slower, and with little address space, most of it being the tool's. */
#ifndef SAP_SANITIZED
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SAP_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define SAP_SANITIZED 1
#endif
#endif
#ifndef SAP_SANITIZED
#define SAP_SANITIZED 0
#endif
#endif

#endif
