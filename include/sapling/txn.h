/* txn.h - environments, transactions and subsystems: what the B+ tree and other structures share.
 *
 * An environment (SapEnv, also called DB) is an arena's pages under one transaction machine. One
 * write transaction is open at a time; any number of readers run beside it, each on the snapshot
 * it began with, and neither side waits for the other (beginning waits while a table is opened or a
 * stream restored). Write transactions nest to any depth: a
 * child's commit merges into its parent, its abort leaves the parent as it was, and only the
 * outermost commit makes anything visible.
 *
 * Transactions are not bound to threads, but one transaction is used by one thread at a time. A
 * parent cannot be used while its child is open: calls on it answer SAP_BUSY.
 *
 * By default this header also brings sapling.h and its short names (see there). */
#ifndef SAPLING_TXN_H
#define SAPLING_TXN_H

#include <stdint.h>

#include "sapling/arena.h"
#include "sapling/error.h"
#include "sapling/version.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SapEnv SapEnv;
typedef struct SapTxnCtx SapTxnCtx;

/* Flags of sap_txn_begin(). */
#define SAP_TXN_RDONLY 1u /* a reader; as a child of a writer it sees the writer's state */
#define SAP_TXN_WAIT   2u /* wait for the writer before instead of answering SAP_BUSY */
#define SAP_TXN_NEWEST 4u /* read the newest commit even if it is not durable yet */
#define SAP_TXN_BULK   8u /* skip the log where there is one; in memory without effect */
/* The transaction may use the pages that a file reserves for a full disk. Deleting rows may always use
 * them. The flag is for transactions that come before a delete, such as the claim of a message. Other
 * transactions must not set it: when they have used up the reserve, nobody can delete rows to make
 * room. */
#define SAP_TXN_DRAIN 16u

/* Makes an environment over `arena` (borrowed until sap_env_destroy(); NULL: a private heap arena
 * with pages of `page_size`). page_size must fit the arena's pages; 0: the arena's page size, or
 * 4096 for a private arena. NULL on bad arguments or when out of memory. */
SAP_API SapEnv *sap_env_create(SapMemArena *arena, uint32_t page_size);

/* Returns the environment's pages to the arena and frees it. Accepts NULL.
 * SAP_BUSY: a transaction is open; nothing was done. */
SAP_API int sap_env_destroy(SapEnv *env);

/* The arena, borrowed until the environment is destroyed, and the page size. NULL and 0 for NULL. */
SAP_API SapMemArena *sap_env_get_arena(const SapEnv *env);
SAP_API uint32_t sap_env_get_page_size(const SapEnv *env);

/* Takes len bytes; SAP_OK to go on, any other code ends the call with it. */
typedef int (*sap_write_fn)(const void *buf, uint32_t len, void *ctx);

/* Subsystems: structures that share the environment's transactions. Each has one state pointer
 * per transaction and one committed state that travels with every snapshot. NULL is the state
 * without anything in it, with which each begins. A state that was committed may be handed to a
 * transaction, or to save(), for as long as the environment lives: it does not change. */
#define SAP_MAX_SUBSYSTEMS 8u

typedef struct SapSubsystemCallbacks {
    uint32_t size; /* sizeof the struct; see version.h */
    /* A transaction begins. parent_state is the parent's state, or the committed state of the
     * snapshot for an outermost one. Set *state_out (initially parent_state). An error code makes
     * the begin fail with it. May be NULL. */
    int (*on_begin)(SapTxnCtx *txn, void *parent_state, void **state_out);
    /* The transaction is about to commit. All subsystems are asked before anything is recorded; an
     * error code aborts the whole transaction, and on_abort follows for every subsystem, also for
     * those that agreed. After the last of them agreed nothing of a DB in memory can fail. A child
     * begun here must end here (SAP_ERROR). *state is what the parent (nested) or the environment
     * (outermost) holds from then on. SAP_BUSY and SAP_IO, which mean something else of a commit,
     * become SAP_ERROR, here and of encode() and save(). May be NULL. */
    int (*on_commit)(SapTxnCtx *txn, void **state);
    /* The transaction leaves nothing behind; read transactions end with this too, and so does in a
     * file a commit that changed neither rows nor a state. May be NULL. */
    void (*on_abort)(SapTxnCtx *txn, void *state);
    /* The environment goes; `state` is the committed one. No transaction may begin. May be NULL. */
    void (*on_env_destroy)(SapEnv *env, void *state);

    /* States as bytes, for a DB in a file: the three that follow, or none of them. They must not
     * call into the environment, and the same input always gives the same bytes and states. */

    /* An outermost commit, all subsystems having agreed to it: writes for the log how `base`, the
     * committed state, became `state`, which is another pointer. Not called in bulk transactions
     * and without a log. An error code aborts the transaction, as on_commit does; SAP_FULL: more
     * bytes than a log record holds. Without bytes nothing has changed. */
    int (*encode)(void *ctx, void *base, void *state, sap_write_fn write, void *write_ctx);
    /* The file is opened: makes again what encode() or save() wrote. *state, initially NULL, is
     * nobody else's yet: it may be changed in place or replaced, and on failure is one that
     * on_env_destroy can release. SAP_NOMEM; any other code: the bytes make no sense. */
    int (*apply)(void *ctx, const void *bytes, uint32_t len, void **state);
    /* A checkpoint or a copy is made: writes the bytes from which apply() makes `state` of NULL. It is
     * a committed state that is not NULL, or, for a copy, that of a read transaction as on_begin left
     * it. Writers may have to wait meanwhile. At most 1 GiB, all subsystems together (SAP_FULL). An
     * error code: that checkpoint or copy is not made; the next tries again. */
    int (*save)(void *ctx, void *state, sap_write_fn write, void *write_ctx);
    void *ctx; /* for those three; borrowed until the environment is destroyed */
} SapSubsystemCallbacks;

/* Registers subsystem `id` (below SAP_MAX_SUBSYSTEMS); the callbacks are copied.
 * SAP_EXISTS: id taken. SAP_BUSY: a transaction is open. SAP_ERROR: bad id or NULL; or a DB in a
 * file, whose subsystems are those of SapOpenOptions. */
SAP_API int sap_env_register_subsystem(SapEnv *env, uint32_t id,
                                       const SapSubsystemCallbacks *callbacks);
/* The committed state. Setting is for before the first transaction: SAP_BUSY while one is open,
 * SAP_ERROR in a file, which would not know of it. */
SAP_API int sap_env_subsystem_state(SapEnv *env, uint32_t id, void **state_out);
SAP_API int sap_env_set_subsystem_state(SapEnv *env, uint32_t id, void *state);
/* The state of this transaction. Setting needs a write transaction. */
SAP_API int sap_txn_subsystem_state(SapTxnCtx *txn, uint32_t id, void **state_out);
SAP_API int sap_txn_set_subsystem_state(SapTxnCtx *txn, uint32_t id, void *state);

/* Begins a transaction, a child of `parent` if that is not NULL.
 * sap_txn_begin() answers NULL where sap_txn_begin_rc() has a code:
 * SAP_BUSY: a writer is open (without SAP_TXN_WAIT), this thread holds it (with), or the parent
 * has an open child. SAP_READONLY: write child of a reader. SAP_ERROR: bad arguments, parent of
 * another environment or ended. SAP_NOMEM. */
SAP_API SapTxnCtx *sap_txn_begin(SapEnv *env, SapTxnCtx *parent, unsigned flags);
SAP_API int sap_txn_begin_rc(SapEnv *env, SapTxnCtx *parent, unsigned flags, SapTxnCtx **txn_out);

/* Ends the transaction: makes it visible (outermost), or part of its parent. Its cursors are
 * unusable afterwards, but must still be closed. For a reader the same as an abort.
 * SAP_BUSY: a child is open; SAP_ERROR: not an open transaction; in both cases nothing was done.
 * SAP_IO in a file: it is not known whether the commit is on disk; the next open finds all of it or
 * nothing. Any other code: the transaction was aborted. */
SAP_API int sap_txn_commit(SapTxnCtx *txn);

/* Ends the transaction without a trace; open children are aborted first. Accepts NULL. The handle
 * of a transaction that has ended must not be used again: another one may have its object. */
SAP_API void sap_txn_abort(SapTxnCtx *txn);

/* As sap_txn_commit(), but does not wait until the commit is on disk: *lsn_out (may be NULL) names
 * it for sap_db_wait_durable(). In memory every commit is durable as soon as it is visible. */
SAP_API int sap_txn_commit_async(SapTxnCtx *txn, uint64_t *lsn_out);

/* The position of the state this transaction began on: wait for it with sap_db_wait_durable()
 * before acting on what was read with SAP_TXN_NEWEST or in a write transaction. */
SAP_API uint64_t sap_txn_base_lsn(SapTxnCtx *txn);

/* The arena and the environment of a transaction, borrowed until it ends, and the flags it was begun
 * with. NULL and 0 for NULL and for a transaction that has ended. */
SAP_API SapMemArena *sap_txn_arena(SapTxnCtx *txn);
SAP_API SapEnv *sap_txn_env(SapTxnCtx *txn);
SAP_API unsigned sap_txn_flags(SapTxnCtx *txn);

/* Memory that lives until the transaction ends, aligned to 16. NULL when out of memory. */
SAP_API void *sap_txn_scratch_alloc(SapTxnCtx *txn, uint32_t len);

#ifdef __cplusplus
}
#endif
#endif

/* The short names need all of sapling.h: not while that header, which includes this one, has only
 * begun. */
#if !defined(SAPLING_NO_SHORT_NAMES) && !defined(SAP_DECLARATIONS_ONLY)
#if !defined(SAPLING_SAPLING_H) || defined(SAPLING_SAPLING_H_COMPLETE)
#include "sapling/short_names.h"
#endif
#endif
