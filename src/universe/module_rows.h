/* module_rows.h - modules as the store has them: rows that operators put and workers read.
 *
 * A row never changes but for its mark `resumed`; whoever registers other code puts a row of the next
 * version, under a guard on the name. The newest version is the one that runs all worlds of the name,
 * except those that are pinned to another. */
#ifndef SAPLING_UNIVERSE_MODULE_ROWS_H
#define SAPLING_UNIVERSE_MODULE_ROWS_H

#include "sapling/universe.h"
#include "universe/rows.h"

/* What native modules, which are registered by the code itself, have as runner before their name. */
#define MODULE_NATIVE "native:"

/* Reads a version of the name, 0: the newest. The caller owns *module_out: sap_module_free(). SAP_NOTFOUND:
 * there is none. */
int module_row_get(SapStoreTxn *txn, uint32_t universe, const UniverseName *name, uint64_t version,
                   SapModule **module_out);

/* The version that module_row_get() would read. SAP_NOTFOUND. */
int module_row_version(SapStoreTxn *txn, uint32_t universe, const UniverseName *name,
                       uint64_t version, uint64_t *version_out);

/* Decodes a row that a scan has read. The caller owns *module_out: sap_module_free(). */
int module_row_decode(const SapStoreRow *row, SapModule **module_out);
int module_key_decode(const SapStoreRow *row, UniverseName *name_out, uint64_t *version_out);

#endif
