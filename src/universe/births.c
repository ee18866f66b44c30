/* births.c - see births.h. */
#include "universe/births.h"

int world_birth_put(UniverseTxn *txn, uint32_t universe, WitUniverseDbi21WorldMetaValue *meta,
                    IngressRequest *first)
{
    RowKey key;
    HeadRow head = {0};
    /* Whoever moves the head guards the lease, so it stands still. */
    row_key_world(&key, WIT_DBI_HEAD, universe, &first->world);
    int rc = head_row_get(txn->txn, &key, &head);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    meta->born_height = head.height;
    meta->born_digest = lend_bytes(head.digest, sizeof head.digest);
    row_key_world(&key, WIT_DBI_WORLD_META, universe, &first->world);
    rc = meta_row_put(txn, &key, meta);
    return rc == SAP_OK ? ingress_put_rows(txn, universe, first) : rc;
}
