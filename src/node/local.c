/* local.c - see local.h. */
#include "node/local.h"

#include "common/bytes.h"
#include "common/fd.h"
#include "runner/rows.h"
#include "sapling/node.h"
#include "sapling/pairs.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { TABLE_TRIES = 5000 }; /* a millisecond each: metadata waits until no transaction is open */

int reason_set(Reason *reason, int rc, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(reason->text, sizeof reason->text, format, args);
    va_end(args);
    return rc;
}

static int refuse_store(Txn *txn, Reason *reason)
{
    bool store = false;
    int rc = row_find_store(txn, &store);

    return rc == SAP_OK && store
               ? reason_set(reason, SAP_CONFLICT,
                            "it is the file of a store: its rows are changed only by programs that "
                            "open the store; use another file")
               : rc;
}

int local_refuse_store(DB *db, Reason *reason)
{
    Txn *txn;
    int rc = txn_begin_rc(db, NULL, TXN_RDONLY | TXN_NEWEST, &txn);

    if (rc == SAP_OK) {
        rc = refuse_store(txn, reason);
        txn_abort(txn);
    }
    return rc;
}

/* ---- Stat ----------------------------------------------------------------------------------- */

static int count_reader(const SapReaderInfo *info, void *ctx)
{
    (void)info;
    ++*(uint64_t *)ctx;
    return 0;
}

/* The directory of a path, or NULL. Caller frees both. */
static DIR *open_parent(const char *path, const char **name_out)
{
    const char *slash = strrchr(path, '/');
    *name_out = slash == NULL ? path : slash + 1;
    char *parent = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
    DIR *dir = parent == NULL ? NULL : fd_open_dir(parent);
    free(parent);
    return dir;
}

/* Bytes of the files PATH-wal.*. */
static uint64_t log_bytes(const char *path)
{
    const char *name;
    DIR *dir = open_parent(path, &name);
    size_t len = strlen(name);
    uint64_t bytes = 0;

    for (const struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        struct stat st;
        if (strncmp(entry->d_name, name, len) == 0 &&
            strncmp(entry->d_name + len, "-wal.", 5) == 0 &&
            fstatat(dirfd(dir), entry->d_name, &st, 0) == 0) {
            bytes += (uint64_t)st.st_size;
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return bytes;
}

int local_stat(DB *db, const char *path, AccessStat *stat_out, Reason *reason)
{
    SapStat db_says;
    struct stat st;
    uint64_t readers = 0;
    int rc = db_stat(db, &db_says);

    if (rc == SAP_OK && stat(path, &st) != 0) {
        return reason_set(reason, SAP_IO, "cannot look at it: %s", strerror(errno));
    }
    if (rc == SAP_OK) {
        rc = db_readers(db, count_reader, &readers);
    }
    if (rc == SAP_OK) {
        *stat_out = (AccessStat){.page_size = db_says.page_size,
                                 .txnid = db_says.txnid,
                                 .pages = db_says.num_pages,
                                 .readers = readers,
                                 .data_size = (uint64_t)st.st_size,
                                 .log_size = log_bytes(path)};
    }
    return rc;
}

/* ---- Tables --------------------------------------------------------------------------------- */

static int describe(Txn *txn, uint32_t dbi, AccessTable *table_out)
{
    SapDbiInfo info;
    SapStat stat;
    int rc = dbi_info(sap_txn_env(txn), dbi, &info);

    if (rc == SAP_OK) {
        rc = dbi_stat(txn, dbi, &stat);
    }
    if (rc == SAP_OK) {
        *table_out = (AccessTable){
            .dbi = dbi, .flags = info.flags, .rows = stat.num_entries, .depth = stat.tree_depth};
    }
    return rc;
}

int local_tables(DB *db, int (*fn)(const AccessTable *table, void *ctx), void *ctx, Reason *reason)
{
    Txn *txn;
    int rc = txn_begin_rc(db, NULL, TXN_RDONLY, &txn);

    (void)reason;
    if (rc != SAP_OK) {
        return rc;
    }
    for (uint32_t dbi = 0; dbi <= SAP_MAX_DBI && rc == SAP_OK; dbi++) {
        AccessTable table;
        int described = describe(txn, dbi, &table);
        if (described != SAP_NOTFOUND) {
            rc = described == SAP_OK ? fn(&table, ctx) : described;
        }
    }
    txn_abort(txn);
    return rc;
}

int local_open_table(DB *db, uint32_t dbi, unsigned flags, Reason *reason)
{
    static const struct timespec moment = {.tv_nsec = 1000000};
    SapDbiInfo info;

    if (dbi > SAP_MAX_DBI) {
        return reason_set(reason, SAP_ERROR, "there is no table %" PRIu32 ": they are 0 to %u", dbi,
                          SAP_MAX_DBI);
    }
    int rc = dbi_info(db, dbi, &info);
    if (rc == SAP_NOTFOUND) {
        int refused = local_refuse_store(db, reason);
        if (refused != SAP_OK) {
            return refused;
        }
    }
    for (int i = 0; rc == SAP_NOTFOUND && i < TABLE_TRIES; i++) {
        int opened = dbi_open(db, dbi, NULL, NULL, flags);
        if (opened != SAP_BUSY) {
            return opened;
        }
        (void)nanosleep(&moment, NULL);
        rc = dbi_info(db, dbi, &info);
    }
    if (rc == SAP_NOTFOUND) {
        return reason_set(reason, SAP_BUSY,
                          "table %" PRIu32 " cannot be made while transactions are open", dbi);
    }
    if (rc == SAP_OK && info.flags != flags) {
        return reason_set(reason, SAP_ERROR, "table %" PRIu32 " is of another kind", dbi);
    }
    return rc;
}

/* SAP_ERROR with a reason where there is no such table. */
static int check_table(DB *db, uint32_t dbi, SapDbiInfo *info_out, Reason *reason)
{
    int rc = dbi_info(db, dbi, info_out);

    return rc == SAP_NOTFOUND
               ? reason_set(reason, SAP_ERROR, "there is no table %" PRIu32 " in it", dbi)
               : rc;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static bool is_key(Slice key)
{
    return key.len <= SAP_MAX_KEY_LEN;
}

int local_get(DB *db, uint32_t dbi, Slice key, Buf *val, Reason *reason)
{
    SapDbiInfo info;
    Txn *txn;
    int rc = check_table(db, dbi, &info, reason);

    if (rc != SAP_OK) {
        return rc;
    }
    if (!is_key(key)) {
        return SAP_NOTFOUND;
    }
    rc = txn_begin_rc(db, NULL, TXN_RDONLY, &txn);
    if (rc == SAP_OK) {
        const void *data;
        uint32_t len;
        rc = txn_get_dbi(txn, dbi, key.data, (uint32_t)key.len, &data, &len);
        if (rc == SAP_OK) {
            rc = buf_append(val, data, len);
        }
        txn_abort(txn);
    }
    return rc;
}

/* Adds a pair. SAP_EXISTS: it is there, which the engine takes for a success. */
static int put_new_pair(Txn *txn, const AccessChange *c)
{
    SapStat before = {0};
    SapStat after = {0};
    int rc = dbi_stat(txn, c->dbi, &before);

    if (rc == SAP_OK) {
        rc = txn_put_dbi(txn, c->dbi, c->key.data, (uint32_t)c->key.len, c->val.data,
                         (uint32_t)c->val.len);
    }
    if (rc == SAP_OK) {
        rc = dbi_stat(txn, c->dbi, &after);
    }
    return rc == SAP_OK && after.num_entries == before.num_entries ? SAP_EXISTS : rc;
}

static int change(Txn *txn, const SapDbiInfo *info, const AccessChange *c)
{
    bool pairs = (info->flags & DBI_DUPSORT) != 0;
    uint32_t key_len = (uint32_t)c->key.len;
    uint32_t val_len = (uint32_t)c->val.len;

    switch (c->op) {
    case ACCESS_PUT:
        return txn_put_dbi(txn, c->dbi, c->key.data, key_len, c->val.data, val_len);
    case ACCESS_PUT_NEW:
        return pairs ? put_new_pair(txn, c)
                     : txn_put_flags_dbi(txn, c->dbi, c->key.data, key_len, c->val.data, val_len,
                                         SAP_NOOVERWRITE, NULL);
    case ACCESS_DEL:
        return txn_del_dbi(txn, c->dbi, c->key.data, key_len);
    case ACCESS_DEL_PAIR:
        return txn_del_dup_dbi(txn, c->dbi, c->key.data, key_len, c->val.data, val_len);
    }
    return SAP_ERROR;
}

int reason_no_room(Reason *reason, const char *what, int error)
{
    bool disk = error == ENOSPC || error == EDQUOT || error == EFBIG;

    return reason_set(reason, SAP_FULL, "there is no room for %s%s%s", what, disk ? ": " : "",
                      disk ? strerror(error) : "");
}

/* Explains why a row could not be put. SAP_ERROR: it is too long. SAP_FULL: the disk is full; `error`
 * is the system's. */
static int no_room(DB *db, const SapDbiInfo *info, const AccessChange *c, int error, Reason *reason)
{
    SapStat stat;
    int rc = db_stat(db, &stat);

    if (rc != SAP_OK) {
        return rc;
    }
    uint32_t most = node_max_key(stat.page_size);
    if ((info->flags & DBI_DUPSORT) != 0) {
        most -= PAIR_HEADER;
        if (c->key.len + c->val.len > most) {
            return reason_set(
                reason, SAP_ERROR,
                "a key of %zu and a value of %zu bytes are too long: with many values "
                "per key and pages of %" PRIu32 " bytes both together have at most "
                "%" PRIu32,
                c->key.len, c->val.len, stat.page_size, most);
        }
    } else if (c->key.len > most) {
        return reason_set(reason, SAP_ERROR,
                          "a key of %zu bytes is too long: with pages of %" PRIu32
                          " bytes it has at most %" PRIu32,
                          c->key.len, stat.page_size, most);
    } else if (c->val.len > SAP_MAX_VAL_LEN) {
        return reason_set(reason, SAP_ERROR,
                          "a value of %zu bytes is too long: it has at most %" PRIu32, c->val.len,
                          SAP_MAX_VAL_LEN);
    }
    return reason_no_room(reason, "more rows", error);
}

static int change_checked(DB *db, Txn *txn, const AccessChange *c, Reason *reason)
{
    SapDbiInfo info;
    int rc = check_table(db, c->dbi, &info, reason);

    if (rc != SAP_OK) {
        return rc;
    }
    if ((info.flags & DBI_TTL_META) != 0) {
        return reason_set(reason, SAP_ERROR,
                          "table %" PRIu32 " holds expiry times, which are not written directly",
                          c->dbi);
    }
    if (c->op == ACCESS_DEL_PAIR && (info.flags & DBI_DUPSORT) == 0) {
        return reason_set(reason, SAP_ERROR, "table %" PRIu32 " has one value per key", c->dbi);
    }
    if ((c->op == ACCESS_PUT || c->op == ACCESS_PUT_NEW) &&
        row_is_store_marker(c->dbi, c->key, c->val)) {
        return reason_set(reason, SAP_CONFLICT,
                          "this row would make the file a store's: move a whole store with "
                          "`sapling db dump --format stream` and `sapling db restore`");
    }
    if (!is_key(c->key) || c->val.len > SAP_MAX_VAL_LEN) {
        bool deletes = c->op == ACCESS_DEL || c->op == ACCESS_DEL_PAIR;
        return deletes ? SAP_NOTFOUND : no_room(db, &info, c, 0, reason);
    }
    errno = 0;
    rc = change(txn, &info, c);
    return rc == SAP_FULL ? no_room(db, &info, c, errno, reason) : rc;
}

/* Begins a write in a file that is not a store's. */
static int begin_change(DB *db, Txn **txn_out, Reason *reason)
{
    Txn *txn;
    int rc = txn_begin_rc(db, NULL, TXN_WAIT, &txn);

    if (rc != SAP_OK) {
        return rc;
    }
    rc = refuse_store(txn, reason);
    if (rc != SAP_OK) {
        txn_abort(txn);
        return rc;
    }
    *txn_out = txn;
    return SAP_OK;
}

int local_write(DB *db, const AccessChange *changes, uint32_t count, uint32_t *failed_out,
                Reason *reason)
{
    Txn *txn;
    uint32_t i = 0;
    int rc = begin_change(db, &txn, reason);

    if (rc != SAP_OK) {
        return rc;
    }
    while (i < count && rc == SAP_OK) {
        rc = change_checked(db, txn, &changes[i], reason);
        i += rc == SAP_OK;
    }
    if (failed_out != NULL) {
        *failed_out = i;
    }
    if (rc != SAP_OK) {
        txn_abort(txn);
        return rc;
    }
    return txn_commit(txn);
}

/* ---- Ranges --------------------------------------------------------------------------------- */

static bool is_bound(Slice key)
{
    return key.data != NULL;
}

/* Moves the cursor to the first row of the range, in its direction. */
static int scan_begin(SapCursor *cur, const AccessRange *range)
{
    int rc;

    if (!range->backwards) {
        return is_bound(range->from) ? cursor_seek(cur, range->from.data, (uint32_t)range->from.len)
                                     : cursor_first(cur);
    }
    rc = is_bound(range->to) ? cursor_seek(cur, range->to.data, (uint32_t)range->to.len)
                             : SAP_NOTFOUND;
    return rc == SAP_NOTFOUND ? cursor_last(cur) : rc == SAP_OK ? cursor_prev(cur) : rc;
}

static bool is_past_end(const AccessRange *range, const void *key, uint32_t len)
{
    Slice end = range->backwards ? range->from : range->to;

    if (!is_bound(end)) {
        return false;
    }
    int order = bytes_compare(key, len, end.data, end.len);
    return range->backwards ? order < 0 : order >= 0;
}

static int scan_rows(SapCursor *cur, const AccessRange *range,
                     int (*fn)(const AccessRow *row, void *ctx), void *ctx)
{
    int rc = scan_begin(cur, range);

    for (uint64_t n = 0; rc == SAP_OK && (range->limit == 0 || n < range->limit); n++) {
        const void *key;
        const void *val = NULL;
        uint32_t key_len;
        uint32_t val_len = 0;
        rc = range->keys_only ? cursor_get_key(cur, &key, &key_len)
                              : cursor_get(cur, &key, &key_len, &val, &val_len);
        if (rc != SAP_OK || is_past_end(range, key, key_len)) {
            break;
        }
        AccessRow row = {{key, key_len}, {val, val_len}};
        rc = fn(&row, ctx);
        if (rc == SAP_OK) {
            rc = range->backwards ? cursor_prev(cur) : cursor_next(cur);
        } else {
            return rc;
        }
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* Refuses bounds where the table is not in byte order: they are compared as bytes. */
static int check_range(DB *db, const AccessRange *range, Reason *reason)
{
    SapDbiInfo info;
    int rc = check_table(db, range->dbi, &info, reason);

    if (rc == SAP_OK && info.comparator != NULL && (is_bound(range->from) || is_bound(range->to))) {
        return reason_set(reason, SAP_ERROR,
                          "table %" PRIu32 " is in the order of '%s': no bounds, please",
                          range->dbi, info.comparator);
    }
    if (rc == SAP_OK && !(is_key(range->from) && is_key(range->to))) {
        return reason_set(reason, SAP_ERROR, "a bound is longer than any key");
    }
    return rc;
}

int local_scan(DB *db, const AccessRange *range, int (*fn)(const AccessRow *row, void *ctx),
               void *ctx, Reason *reason)
{
    Txn *txn;
    int rc = check_range(db, range, reason);

    if (rc == SAP_OK) {
        rc = txn_begin_rc(db, NULL, TXN_RDONLY, &txn);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    SapCursor *cur = cursor_open_dbi(txn, range->dbi);
    rc = cur == NULL ? SAP_NOMEM : scan_rows(cur, range, fn, ctx);
    cursor_close(cur);
    txn_abort(txn);
    return rc;
}

int local_count(DB *db, const AccessRange *range, uint64_t *count_out, Reason *reason)
{
    Txn *txn;
    int rc = check_range(db, range, reason);

    if (rc == SAP_OK) {
        rc = txn_begin_rc(db, NULL, TXN_RDONLY, &txn);
    }
    if (rc == SAP_OK) {
        rc = txn_count_range(txn, range->dbi, range->from.data, (uint32_t)range->from.len,
                             range->to.data, (uint32_t)range->to.len, count_out);
        txn_abort(txn);
    }
    return rc;
}

int local_del_range(DB *db, const AccessRange *range, uint64_t *deleted_out, Reason *reason)
{
    Txn *txn;
    int rc = check_range(db, range, reason);

    if (rc == SAP_OK) {
        rc = begin_change(db, &txn, reason);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    rc = txn_del_range(txn, range->dbi, range->from.data, (uint32_t)range->from.len, range->to.data,
                       (uint32_t)range->to.len, deleted_out);
    if (rc != SAP_OK) {
        txn_abort(txn);
        return rc;
    }
    return txn_commit(txn);
}
