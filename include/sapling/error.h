/* error.h - the result codes of every Sapling call, and what they mean.
 *
 * A function that can fail returns `int`: SAP_OK (0) or one of the codes below. Out-parameters are
 * written only on SAP_OK unless a call says otherwise. One table gives names, numbers and texts. */
#ifndef SAPLING_ERROR_H
#define SAPLING_ERROR_H

#if defined(__GNUC__)
#define SAP_API __attribute__((visibility("default")))
#else
#define SAP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, number, text). Numbers are stable: they are stored and sent. */
#define SAP_ERROR_TABLE(X)                                                                    \
    X(SAP_OK, 0, "success")                                                                   \
    X(SAP_NOTFOUND, 1, "not found: no such row or file, or no further row")                   \
    X(SAP_ERROR, 2, "misuse of the call: check its arguments and the state of its objects")   \
    X(SAP_FULL, 3,                                                                            \
      "no room: a key or value above its limit, storage at its maximum size, or a full disk") \
    X(SAP_READONLY, 4, "write through a read-only transaction or handle")                     \
    X(SAP_BUSY, 5, "in use: by another transaction, or the file by another process")          \
    X(SAP_EXISTS, 6, "the key, file or object exists already")                                \
    X(SAP_CONFLICT, 7, "the current value is not the expected one")                           \
    X(SAP_INVALID, 8, "data, or a file, that breaks its layout or its refinement")            \
    X(SAP_CORRUPT, 9, "stored data is damaged")                                               \
    X(SAP_IO, 10, "the system refused to open, read, write or sync a file")                   \
    X(SAP_NOMEM, 11, "out of memory")                                                         \
    X(SAP_FENCED, 12, "the lease that allowed this has passed to another owner")

enum {
#define SAP_ERROR_ENUM(name, number, text) name = number,
    SAP_ERROR_TABLE(SAP_ERROR_ENUM)
#undef SAP_ERROR_ENUM
        SAP_INVALID_DATA = SAP_INVALID
};

/* The same as macros, for #if and #ifdef: after the enum, which they would take apart. A test
 * compares them with the table. */
#define SAP_OK           0
#define SAP_NOTFOUND     1
#define SAP_ERROR        2
#define SAP_FULL         3
#define SAP_READONLY     4
#define SAP_BUSY         5
#define SAP_EXISTS       6
#define SAP_CONFLICT     7
#define SAP_INVALID      8
#define SAP_CORRUPT      9
#define SAP_IO           10
#define SAP_NOMEM        11
#define SAP_FENCED       12
#define SAP_INVALID_DATA SAP_INVALID

/* The text of a code; a fixed text for a number that is none. Never NULL; static storage. */
SAP_API const char *sap_strerror(int rc);

/* Why the last db_open_path(), sap_queue_open(), sap_queue_open_db(), sap_store_open() or
 * sap_store_init() of the calling thread failed:
 * the file, what is wrong with it in the system's words where it was the system, and what to do. ""
 * if it succeeded, or if there was none. Borrowed until the thread's next such call. */
SAP_API const char *sap_open_error(void);

#ifdef __cplusplus
}
#endif
#endif
