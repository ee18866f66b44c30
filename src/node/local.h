/* local.h - what access.h offers, done on an open database. The owner of a file calls this for
 * itself, its server for others: both do the same.
 *
 * From any thread. On an answer other than SAP_OK, SAP_NOTFOUND and SAP_EXISTS the reason has a text
 * or is empty, where the engine has said more or there is no more to say. */
#ifndef SAPLING_NODE_LOCAL_H
#define SAPLING_NODE_LOCAL_H

#include "node/access.h"

typedef struct Reason {
    char text[512];
} Reason;

/* Returns rc. */
int reason_set(Reason *reason, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Says that there is no room for something, in the words of the system if `error` is that of a full disk.
 * SAP_FULL. */
int reason_no_room(Reason *reason, const char *what, int error);

/* Refuses a file that is a store's: nobody else writes there. SAP_CONFLICT with a reason. */
int local_refuse_store(DB *db, Reason *reason);

int local_stat(DB *db, const char *path, AccessStat *stat_out, Reason *reason);
int local_tables(DB *db, int (*fn)(const AccessTable *table, void *ctx), void *ctx, Reason *reason);
int local_open_table(DB *db, uint32_t dbi, unsigned flags, Reason *reason);
int local_get(DB *db, uint32_t dbi, Slice key, Buf *val, Reason *reason);
int local_write(DB *db, const AccessChange *changes, uint32_t count, uint32_t *failed_out,
                Reason *reason);
int local_scan(DB *db, const AccessRange *range, int (*fn)(const AccessRow *row, void *ctx),
               void *ctx, Reason *reason);
int local_count(DB *db, const AccessRange *range, uint64_t *count_out, Reason *reason);
int local_del_range(DB *db, const AccessRange *range, uint64_t *deleted_out, Reason *reason);

#endif
