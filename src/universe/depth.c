/* depth.c - see depth.h. */
#include "universe/depth.h"

#include <string.h>

#include "common/assert.h"
#include "common/hash.h"

#define LOOKED_NS UINT64_C(1000000000)
#define FULL_NS   UINT64_C(50000000)

int depth_init(DepthGate *gate)
{
    memset(gate, 0, sizeof *gate);
    return mutex_init(&gate->lock) ? SAP_OK : SAP_NOMEM;
}

void depth_release(DepthGate *gate)
{
    mutex_destroy(&gate->lock);
}

/* Counts the messages that wait, up to the limit. */
static int count_waiting(SapStore *store, uint32_t universe, const UniverseName *world,
                         uint32_t limit, uint32_t *count_out)
{
    enum { ROWS_AT_ONCE = 256 };
    SapStoreTxn *txn = NULL;
    uint8_t seq[UNIVERSE_SEQ] = {0};
    RowKey from;
    RowKey to;
    uint32_t found = ROWS_AT_ONCE;
    row_key_inbox(&from, universe, world, WIT_UNIVERSE_ITEM_CLASS_MESSAGE, seq);
    memset(seq, UINT8_MAX, sizeof seq);
    row_key_inbox(&to, universe, world, WIT_UNIVERSE_ITEM_CLASS_MESSAGE, seq);
    *count_out = 0;
    int rc = sap_store_begin(store, SAP_STORE_READ_NEWEST, &txn);
    while (rc == SAP_OK && found == ROWS_AT_ONCE && *count_out < limit) {
        SapStoreRange range = {from.table, from.bytes, from.len, to.bytes, to.len};
        const SapStoreRow *rows = NULL;
        rc = sap_store_scan(txn, &range, false, ROWS_AT_ONCE, &rows, &found);
        if (rc == SAP_OK && found > 0) {
            *count_out += found;
            row_key_after(&from, &rows[found - 1]);
        }
    }
    sap_store_abort(txn);
    return rc;
}

/* Whether what was seen last decides. *full_out: it does, and nothing goes in. */
static bool remembers_look(DepthGate *gate, uint64_t hash, uint64_t now_ns, bool *full_out)
{
    DepthPlace *place = &gate->places[hash % DEPTH_PLACES];
    mutex_lock(&gate->lock);
    bool known = place->hash == hash && now_ns < place->until_ns;
    bool full = known && place->room == 0;
    if (known && !full && --place->room == 0) {
        place->hash = 0; /* the next one looks again */
    }
    mutex_unlock(&gate->lock);
    *full_out = full;
    return known;
}

static void note_look(DepthGate *gate, uint64_t hash, uint64_t now_ns, uint32_t left)
{
    DepthPlace *place = &gate->places[hash % DEPTH_PLACES];
    mutex_lock(&gate->lock);
    /* One that is nearly full is looked at each time: a place with a room of 0 is full. */
    bool near = left > 0 && left / 4 == 0;
    *place = (DepthPlace){.hash = near ? 0 : hash,
                          .until_ns = now_ns + (left > 0 ? LOOKED_NS : FULL_NS),
                          .room = left / 4};
    mutex_unlock(&gate->lock);
}

int depth_check(DepthGate *gate, SapStore *store, const Clock *clock, uint32_t universe,
                const UniverseName *world, uint32_t limit)
{
    uint64_t hash = hash_bytes(world->text, world->len, 0) | 1;
    uint64_t now_ns = clock_boot_ns(clock);
    uint32_t waiting = 0;
    bool full = false;
    SAP_ASSERT(limit > 0);
    if (remembers_look(gate, hash, now_ns, &full)) {
        return full ? SAP_BUSY : SAP_OK;
    }
    int rc = count_waiting(store, universe, world, limit, &waiting);
    if (rc != SAP_OK) {
        return rc;
    }
    note_look(gate, hash, now_ns, waiting < limit ? limit - waiting : 0);
    return waiting < limit ? SAP_OK : SAP_BUSY;
}
