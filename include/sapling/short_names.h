/* short_names.h - the engine's names without the sap_ prefix.
 *
 * Types are typedefs, functions object-like macros. Included at the end of sapling/sapling.h and
 * sapling/txn.h, and of no other header, unless SAPLING_NO_SHORT_NAMES is defined. Include Sapling's
 * headers after others, so that a macro meets no foreign declaration. */
#ifndef SAPLING_SHORT_NAMES_H
#define SAPLING_SHORT_NAMES_H

#include "sapling/sapling.h"

typedef SapEnv DB;
typedef SapTxnCtx Txn;
typedef SapCursor Cursor;
typedef SapDbi DBI;
typedef sap_keycmp_fn keycmp_fn;

#define TXN_RDONLY SAP_TXN_RDONLY
#define TXN_WAIT   SAP_TXN_WAIT
#define TXN_NEWEST SAP_TXN_NEWEST
#define TXN_BULK   SAP_TXN_BULK
#define TXN_DRAIN  SAP_TXN_DRAIN

#define DBI_DUPSORT  SAP_DBI_DUPSORT
#define DBI_TTL_META SAP_DBI_TTL_META

#define db_open             sap_db_open
#define db_open_path        sap_db_open_path
#define db_recover          sap_db_recover
#define db_close            sap_db_close
#define db_num_pages        sap_db_num_pages
#define db_stat             sap_db_stat
#define db_sync             sap_db_sync
#define db_wait_durable     sap_db_wait_durable
#define db_durable_lsn      sap_db_durable_lsn
#define db_readers          sap_db_readers
#define db_verify           sap_db_verify
#define db_verify_progress  sap_db_verify_progress
#define db_watch            sap_db_watch
#define db_watch_dbi        sap_db_watch_dbi
#define db_unwatch          sap_db_unwatch
#define db_unwatch_dbi      sap_db_unwatch_dbi
#define db_checkpoint       sap_db_checkpoint
#define db_restore          sap_db_restore
#define db_backup           sap_db_backup
#define db_compact          sap_db_compact
#define db_compact_progress sap_db_compact_progress

#define dbi_open        sap_dbi_open
#define dbi_open_named  sap_dbi_open_named
#define dbi_info        sap_dbi_info
#define dbi_stat        sap_dbi_stat
#define dbi_set_dupsort sap_dbi_set_dupsort

#define txn_begin                    sap_txn_begin
#define txn_begin_rc                 sap_txn_begin_rc
#define txn_commit                   sap_txn_commit
#define txn_commit_async             sap_txn_commit_async
#define txn_abort                    sap_txn_abort
#define txn_base_lsn                 sap_txn_base_lsn
#define txn_arena                    sap_txn_arena
#define txn_env                      sap_txn_env
#define txn_flags                    sap_txn_flags
#define txn_scratch_alloc            sap_txn_scratch_alloc
#define txn_subsystem_state          sap_txn_subsystem_state
#define txn_set_subsystem_state      sap_txn_set_subsystem_state
#define txn_stat                     sap_txn_stat
#define txn_get                      sap_txn_get
#define txn_get_dbi                  sap_txn_get_dbi
#define txn_put                      sap_txn_put
#define txn_put_dbi                  sap_txn_put_dbi
#define txn_put_flags                sap_txn_put_flags
#define txn_put_flags_dbi            sap_txn_put_flags_dbi
#define txn_del                      sap_txn_del
#define txn_del_dbi                  sap_txn_del_dbi
#define txn_count_range              sap_txn_count_range
#define txn_del_range                sap_txn_del_range
#define txn_del_dup_dbi              sap_txn_del_dup_dbi
#define txn_put_if                   sap_txn_put_if
#define txn_merge                    sap_txn_merge
#define txn_load_sorted              sap_txn_load_sorted
#define txn_put_ttl_dbi              sap_txn_put_ttl_dbi
#define txn_get_ttl_dbi              sap_txn_get_ttl_dbi
#define txn_get_ttl_flags_dbi        sap_txn_get_ttl_flags_dbi
#define txn_sweep_ttl_dbi            sap_txn_sweep_ttl_dbi
#define txn_sweep_ttl_dbi_limit      sap_txn_sweep_ttl_dbi_limit
#define txn_sweep_ttl_dbi_checkpoint sap_txn_sweep_ttl_dbi_checkpoint
#define txn_checkpoint               sap_txn_checkpoint

#define cursor_open        sap_cursor_open
#define cursor_open_dbi    sap_cursor_open_dbi
#define cursor_close       sap_cursor_close
#define cursor_renew       sap_cursor_renew
#define cursor_first       sap_cursor_first
#define cursor_last        sap_cursor_last
#define cursor_next        sap_cursor_next
#define cursor_prev        sap_cursor_prev
#define cursor_seek        sap_cursor_seek
#define cursor_seek_nth    sap_cursor_seek_nth
#define cursor_rank        sap_cursor_rank
#define cursor_get         sap_cursor_get
#define cursor_get_key     sap_cursor_get_key
#define cursor_put         sap_cursor_put
#define cursor_del         sap_cursor_del
#define cursor_seek_prefix sap_cursor_seek_prefix
#define cursor_in_prefix   sap_cursor_in_prefix
#define cursor_next_dup    sap_cursor_next_dup
#define cursor_prev_dup    sap_cursor_prev_dup
#define cursor_first_dup   sap_cursor_first_dup
#define cursor_last_dup    sap_cursor_last_dup
#define cursor_count_dup   sap_cursor_count_dup
#define cursor_get_ttl_dbi sap_cursor_get_ttl_dbi

#endif
