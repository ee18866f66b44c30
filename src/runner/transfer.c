/* transfer.c - buffers on their way from one worker to another.
 *
 * One table for the process, because a ticket says nothing about the DB. Invariants, under the
 * lock:
 *  1. every buffer that was given and neither taken nor reclaimed is in the table once: whoever
 *     unlinks its entry, and nobody else, owns it;
 *  2. the n-th ticket of the process is a bijection of n and a random number drawn once, so that no
 *     ticket is given twice, and one of another process, or a guess, is next to never there;
 *     A process that fork() makes draws again;
 *  3. no ticket is 0, which is what a message that was never filled in has.
 * Callers' functions are called with the lock free: they may give and take themselves. */
#include "runner/transfer.h"

#include "common/assert.h"
#include "common/fork.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/random.h"
#include "sapling/env.h"

#include <stdbool.h>
#include <string.h>

typedef struct Entry {
    struct Entry *next; /* in its chain */
    SapTransferTicket ticket;
    SapEnv *db;
    void *buf;
    size_t len;
    void (*free_fn)(void *buf, size_t len);
} Entry;

enum { FIRST_CHAINS = 64, CHAIN_SIZE = sizeof(void *) };

static struct {
    Mutex lock;
    bool keyed;     /* `next` has its random start */
    uint64_t next;  /* the number of the next ticket */
    Entry **chains; /* NULL: first_chains */
    size_t chain_count;
    size_t count;
    TransferUser *users;
} table = {.lock = MUTEX_STATIC, .chain_count = FIRST_CHAINS};

/* The child's tickets are not those that its parent gives from here on. */
static void forget_key(void)
{
    table.keyed = false;
}

static ForkGuard table_guard = {.lock = &table.lock, .in_child = forget_key};

/* Enough for a process that gives now and then, and always there: no give fails for want of a
 * table. */
static Entry *first_chains[FIRST_CHAINS];

static Entry **chains_now(void)
{
    return table.chains != NULL ? table.chains : first_chains;
}

/* Tickets are spread over all bits already. */
static Entry **chain_of(SapTransferTicket ticket)
{
    return &chains_now()[ticket & (table.chain_count - 1)];
}

/* Replaces the table by an empty one of so many chains; the entries are the caller's. */
static void use_chains(Entry **chains, size_t chain_count)
{
    mem_free(MEM_RUNNER, table.chains, table.chains == NULL ? 0 : table.chain_count * CHAIN_SIZE);
    table.chains = chains;
    table.chain_count = chain_count;
}

static void link_entry(Entry *entry)
{
    Entry **chain = chain_of(entry->ticket);
    entry->next = *chain;
    *chain = entry;
}

/* Longer chains are slower and nothing else, so it is not a failure if there is no memory for
 * more. */
static void grow(void)
{
    size_t chain_count = table.chain_count * 2;
    Entry **chains = mem_zalloc(MEM_RUNNER, chain_count * CHAIN_SIZE);

    if (chains == NULL) {
        return;
    }
    Entry *all = NULL;
    for (size_t i = 0; i < table.chain_count; i++) {
        Entry *entry = chains_now()[i];
        chains_now()[i] = NULL;
        while (entry != NULL) {
            Entry *next = entry->next;
            entry->next = all;
            all = entry;
            entry = next;
        }
    }
    use_chains(chains, chain_count);
    while (all != NULL) {
        Entry *next = all->next;
        link_entry(all);
        all = next;
    }
}

static Entry *unlink_entry(Entry **at)
{
    Entry *entry = *at;

    SAP_ASSERT(table.count > 0);
    *at = entry->next;
    table.count--;
    return entry;
}

/* The first table needs no memory: nothing stays allocated while nothing is on its way. */
static void shrink_if_empty(void)
{
    if (table.count == 0 && table.chains != NULL) {
        use_chains(NULL, FIRST_CHAINS);
    }
}

int sap_transfer_give(SapEnv *db, void *buf, size_t len, void (*free_fn)(void *buf, size_t len),
                      SapTransferTicket *ticket_out)
{
    if (!env_usable(db) || buf == NULL || free_fn == NULL || ticket_out == NULL) {
        return SAP_ERROR;
    }
    Entry *entry = fork_guard(&table_guard) == SAP_OK ? mem_alloc(MEM_RUNNER, sizeof *entry) : NULL;
    if (entry == NULL) {
        return SAP_NOMEM;
    }
    *entry = (Entry){.db = db, .buf = buf, .len = len, .free_fn = free_fn};
    mutex_lock(&table.lock);
    if (!table.keyed) {
        int rc = random_fill(NULL, &table.next, sizeof table.next);
        if (rc != SAP_OK) {
            mutex_unlock(&table.lock);
            mem_free(MEM_RUNNER, entry, sizeof *entry);
            return rc;
        }
        table.keyed = true;
    }
    do {
        entry->ticket = hash_u64(table.next++);
    } while (entry->ticket == 0);
    if (table.count >= table.chain_count) {
        grow();
    }
    link_entry(entry);
    table.count++;
    *ticket_out = entry->ticket;
    mutex_unlock(&table.lock);
    return SAP_OK;
}

int sap_transfer_take(SapTransferTicket ticket, void **buf_out, size_t *len_out)
{
    Entry *entry = NULL;

    if (buf_out == NULL || len_out == NULL) {
        return SAP_ERROR;
    }
    if (!fork_is_guarded(&table_guard)) {
        return SAP_NOTFOUND; /* nothing was ever given */
    }
    mutex_lock(&table.lock);
    for (Entry **at = chain_of(ticket); *at != NULL; at = &(*at)->next) {
        if ((*at)->ticket == ticket) {
            entry = unlink_entry(at);
            break;
        }
    }
    shrink_if_empty();
    mutex_unlock(&table.lock);
    if (entry == NULL) {
        return SAP_NOTFOUND;
    }
    *buf_out = entry->buf;
    *len_out = entry->len;
    mem_free(MEM_RUNNER, entry, sizeof *entry);
    return SAP_OK;
}

void sap_transfer_reclaim(SapEnv *db, uint32_t *count_out)
{
    Entry *mine = NULL;
    uint32_t count = 0;

    if (!env_usable(db) || fork_guard(&table_guard) != SAP_OK) {
        return; /* what the parent gave is the parent's to free; or nothing was ever given */
    }
    mutex_lock(&table.lock);
    for (size_t i = 0; i < table.chain_count; i++) {
        Entry **at = &chains_now()[i];
        while (*at != NULL) {
            if ((*at)->db != db) {
                at = &(*at)->next;
                continue;
            }
            Entry *entry = unlink_entry(at);
            entry->next = mine;
            mine = entry;
            count++;
        }
    }
    shrink_if_empty();
    mutex_unlock(&table.lock);
    while (mine != NULL) {
        Entry *next = mine->next;
        mine->free_fn(mine->buf, mine->len);
        mem_free(MEM_RUNNER, mine, sizeof *mine);
        mine = next;
    }
    if (count_out != NULL) {
        *count_out = count;
    }
}

int transfer_join(TransferUser *user, SapEnv *db)
{
    int rc = fork_guard(&table_guard);

    if (rc != SAP_OK) {
        return rc;
    }
    user->db = db;
    mutex_lock(&table.lock);
    user->next = table.users;
    table.users = user;
    mutex_unlock(&table.lock);
    return SAP_OK;
}

void transfer_leave(TransferUser *user)
{
    bool last = true;

    mutex_lock(&table.lock);
    for (TransferUser **at = &table.users; *at != NULL;) {
        if (*at == user) {
            *at = user->next;
        } else {
            last = last && (*at)->db != user->db;
            at = &(*at)->next;
        }
    }
    mutex_unlock(&table.lock);
    if (last) {
        sap_transfer_reclaim(user->db, NULL);
    }
}
