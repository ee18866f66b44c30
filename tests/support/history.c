#include "support/history.h"

#include "common/bytes.h"
#include "common/hash.h"
#include "common/random.h"
#include "support/expect.h"
#include "support/stream.h"
#include "support/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLAIN = 0,
    LARGE = 1,
    PAIRS = 2,
    DATA = 3,
    META = 4,
    FIRST_OPENED = 100, /* by a step */
    OPENED = 8,
    KEYS = 60,
    MAX_KEY = 24,
    MAX_SMALL = 80,
    LOADED = 12,
    TALLIED = 50,
    DEFAULT_CHANGES = 8,
};

typedef struct Step {
    const History *history;
    SapTxnCtx *txn;
    Rng rng;
    uint8_t *value; /* history->max_value + MAX_SMALL bytes */
    uint64_t n;
} Step;

int history_open_tables(SapEnv *db)
{
    static const struct {
        uint32_t dbi;
        unsigned flags;
    } tables[] = {{LARGE, 0}, {PAIRS, SAP_DBI_DUPSORT}, {DATA, 0}, {META, SAP_DBI_TTL_META}};
    int rc = SAP_OK;

    for (size_t i = 0; rc == SAP_OK && i < sizeof tables / sizeof *tables; i++) {
        rc = sap_dbi_open(db, tables[i].dbi, NULL, NULL, tables[i].flags);
    }
    return rc;
}

/* ---- Changes -------------------------------------------------------------------------------- */

static uint32_t make_key(Step *s, char key[MAX_KEY])
{
    return (uint32_t)snprintf(key, MAX_KEY, "key-%04u", (unsigned)rng_below(&s->rng, KEYS));
}

static uint32_t make_value(Step *s, uint32_t max)
{
    uint32_t len = (uint32_t)rng_below(&s->rng, (uint64_t)max + 1);

    rng_bytes(&s->rng, s->value, len < 64 ? len : 64);
    if (len > 64) {
        memset(s->value + 64, (int)(len % 251), len - 64);
    }
    return len;
}

/* What a change answers on rows that are not there is no failure. */
static int forgive(int rc)
{
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int put_small(Step *s)
{
    char key[MAX_KEY];
    uint32_t key_len = make_key(s, key);
    uint32_t len = make_value(s, MAX_SMALL);

    return sap_txn_put_dbi(s->txn, rng_chance(&s->rng, 1, 3) ? LARGE : PLAIN, key, key_len,
                           s->value, len);
}

static int put_large(Step *s)
{
    char key[MAX_KEY];
    uint32_t key_len = make_key(s, key);
    uint32_t len = rng_chance(&s->rng, 1, 8) ? s->history->max_value : make_value(s, 6000);

    if (len > s->history->max_value) {
        len = s->history->max_value;
    }
    memset(s->value, (int)(s->n % 256), len);
    return sap_txn_put_dbi(s->txn, LARGE, key, key_len, s->value, len);
}

static int put_reserved(Step *s)
{
    char key[MAX_KEY];
    uint32_t key_len = make_key(s, key);
    uint32_t len = make_value(s, MAX_SMALL);
    void *room = NULL;
    int rc = sap_txn_put_flags_dbi(s->txn, PLAIN, key, key_len, NULL, len, SAP_RESERVE, &room);

    if (rc == SAP_OK) {
        memcpy(room, s->value, len);
    }
    return rc;
}

static int del_one(Step *s)
{
    char key[MAX_KEY];
    uint32_t key_len = make_key(s, key);

    return forgive(sap_txn_del_dbi(s->txn, (uint32_t)rng_below(&s->rng, 3), key, key_len));
}

static int put_pair(Step *s)
{
    char key[MAX_KEY];
    uint32_t key_len = make_key(s, key);
    uint32_t len = make_value(s, 12);

    return forgive(sap_txn_put_dbi(s->txn, PAIRS, key, key_len, s->value, len));
}

static int del_pair(Step *s)
{
    char key[MAX_KEY];
    uint32_t key_len = make_key(s, key);
    const void *val = NULL;
    uint32_t len = 0;
    int rc = sap_txn_get_dbi(s->txn, PAIRS, key, key_len, &val, &len);

    if (rc != SAP_OK) {
        return forgive(rc);
    }
    memcpy(s->value, val, len);
    return sap_txn_del_dup_dbi(s->txn, PAIRS, key, key_len, s->value, len);
}

static int put_expiring(Step *s)
{
    char key[MAX_KEY];
    uint32_t key_len = make_key(s, key);
    uint32_t len = make_value(s, MAX_SMALL);

    return sap_txn_put_ttl_dbi(s->txn, DATA, META, key, key_len, s->value, len,
                               s->n + 1 + rng_below(&s->rng, 20));
}

static int sweep(Step *s)
{
    return sap_txn_sweep_ttl_dbi_limit(s->txn, DATA, META, s->n, 1 + rng_below(&s->rng, 5), NULL);
}

static int del_some(Step *s)
{
    char lo[MAX_KEY];
    char hi[MAX_KEY];
    unsigned from = (unsigned)rng_below(&s->rng, KEYS);
    uint32_t lo_len = (uint32_t)snprintf(lo, sizeof lo, "key-%04u", from);
    uint32_t hi_len = (uint32_t)snprintf(hi, sizeof hi, "key-%04u", from + 8);

    return sap_txn_del_range(s->txn, (uint32_t)rng_below(&s->rng, 3), lo, lo_len, hi, hi_len, NULL);
}

static int load_some(Step *s)
{
    char keys[LOADED][MAX_KEY];
    const void *key_ptrs[LOADED];
    const void *val_ptrs[LOADED];
    uint32_t key_lens[LOADED];
    uint32_t val_lens[LOADED];
    unsigned from = (unsigned)rng_below(&s->rng, KEYS);

    rng_bytes(&s->rng, s->value, MAX_SMALL);
    for (unsigned i = 0; i < LOADED; i++) {
        key_lens[i] = (uint32_t)snprintf(keys[i], MAX_KEY, "key-%04u-%02u", from, i);
        key_ptrs[i] = keys[i];
        val_ptrs[i] = s->value;
        val_lens[i] = (uint32_t)rng_below(&s->rng, MAX_SMALL);
    }
    return sap_txn_load_sorted(s->txn, PLAIN, key_ptrs, key_lens, val_ptrs, val_lens, LOADED);
}

static void append(const void *old_val, uint32_t old_len, const void *operand, uint32_t op_len,
                   void *new_val, uint32_t *new_len, void *ctx)
{
    uint32_t keep = old_len > 200 ? 0 : old_len;
    uint8_t *out = new_val;
    uint32_t room = *new_len;

    (void)ctx;
    *new_len = keep + op_len;
    if (room >= keep + op_len) {
        if (keep != 0) {
            memcpy(out, old_val, keep);
        }
        memcpy(out + keep, operand, op_len);
    }
}

static int merge_one(Step *s)
{
    char key[MAX_KEY];
    uint32_t key_len = make_key(s, key);

    return sap_txn_merge(s->txn, PLAIN, key, key_len, key, key_len, append, NULL);
}

static int del_by_cursor(Step *s)
{
    char key[MAX_KEY];
    uint32_t key_len = make_key(s, key);
    SapCursor *cur = sap_cursor_open_dbi(s->txn, PLAIN);

    if (cur == NULL) {
        return SAP_NOMEM;
    }
    int rc = sap_cursor_seek(cur, key, key_len);
    for (int i = 0; rc == SAP_OK && i < 2; i++) {
        rc = sap_cursor_del(cur);
    }
    sap_cursor_close(cur);
    return forgive(rc);
}

/* Tables that no step has opened yet are left alone. */
static int put_opened(Step *s)
{
    char key[MAX_KEY];
    uint32_t key_len = make_key(s, key);
    uint32_t dbi = FIRST_OPENED + (uint32_t)rng_below(&s->rng, OPENED);
    SapStat stat;

    if (s->history->open_one_in == 0 || sap_dbi_stat(s->txn, dbi, &stat) != SAP_OK) {
        return SAP_OK;
    }
    return forgive(sap_txn_put_dbi(s->txn, dbi, key, key_len, "opened", 6));
}

static int change_one(Step *s)
{
    switch (rng_below(&s->rng, 16)) {
    case 0:
        return put_large(s);
    case 1:
        return put_reserved(s);
    case 2:
    case 3:
        return del_one(s);
    case 4:
    case 5:
        return put_pair(s);
    case 6:
        return del_pair(s);
    case 7:
        return put_expiring(s);
    case 8:
        return sweep(s);
    case 9:
        return rng_chance(&s->rng, 1, 3) ? del_some(s) : merge_one(s);
    case 10:
        return load_some(s);
    case 11:
        return del_by_cursor(s);
    case 12:
        return put_opened(s);
    default:
        return put_small(s);
    }
}

/* In a child now and then, which commits or not. */
static int change_some(Step *s, SapEnv *db)
{
    SapTxnCtx *outer = s->txn;
    bool nested = rng_chance(&s->rng, 1, 4);
    bool keep = rng_chance(&s->rng, 1, 2);
    int rc = nested ? sap_txn_begin_rc(db, outer, 0, &s->txn) : SAP_OK;

    if (rc != SAP_OK) {
        return rc;
    }
    uint64_t changes = 1 + rng_below(&s->rng, 3);
    for (uint64_t i = 0; rc == SAP_OK && i < changes; i++) {
        rc = change_one(s);
    }
    if (rc == SAP_OK && s->history->tally) {
        rc = tally_flip(s->txn, (uint32_t)rng_below(&s->rng, TALLIED));
    }
    if (nested) {
        if (rc == SAP_OK && keep) {
            rc = sap_txn_commit(s->txn);
        } else {
            sap_txn_abort(s->txn);
        }
    }
    s->txn = outer;
    return rc;
}

/* ---- Steps ---------------------------------------------------------------------------------- */

static int put_number(SapTxnCtx *txn, uint64_t n)
{
    uint8_t number[8];

    store_u64be(number, n);
    return sap_txn_put(txn, "step", 4, number, sizeof number);
}

static int commit_changes(Step *s, SapEnv *db)
{
    const History *history = s->history;
    bool bulk = history->bulk_one_in != 0 && rng_chance(&s->rng, 1, history->bulk_one_in);
    uint64_t rounds =
        1 + rng_below(&s->rng, (history->changes == 0 ? DEFAULT_CHANGES : history->changes) / 2);
    unsigned flags = (bulk ? SAP_TXN_BULK : 0) | (history->drain ? SAP_TXN_DRAIN : 0);
    int rc = sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT | flags, &s->txn);

    if (rc != SAP_OK) {
        return rc;
    }
    for (uint64_t i = 0; rc == SAP_OK && i < rounds; i++) {
        rc = change_some(s, db);
    }
    if (rc == SAP_OK) {
        rc = put_number(s->txn, s->n);
    }
    if (rc != SAP_OK) {
        sap_txn_abort(s->txn);
        return rc;
    }
    return history->async ? sap_txn_commit_async(s->txn, NULL) : sap_txn_commit(s->txn);
}

static int open_one(Step *s, SapEnv *db)
{
    uint32_t dbi = FIRST_OPENED + (uint32_t)rng_below(&s->rng, OPENED);

    return sap_dbi_open(db, dbi, NULL, NULL, dbi % 2 == 0 ? SAP_DBI_DUPSORT : 0);
}

/* Another history's content, with this step's number. */
static int restore_one(Step *s, SapEnv *db)
{
    History other = {.seed = s->history->seed + s->n, .max_value = 3000};
    SapEnv *memory = sap_db_open(NULL, 4096, NULL, NULL);
    Stream stream;

    stream_init(&stream);
    EXPECT(memory != NULL, "no DB");
    EXPECT_RC(history_open_tables(memory), SAP_OK);
    for (uint64_t i = 1; i <= 4; i++) {
        EXPECT_RC(history_step(&other, memory, i), SAP_OK);
    }
    SapTxnCtx *txn = NULL;
    EXPECT_RC(sap_txn_begin_rc(memory, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(put_number(txn, s->n), SAP_OK);
    EXPECT_RC(sap_txn_checkpoint(txn, stream_write, &stream), SAP_OK);
    sap_txn_abort(txn);
    EXPECT_RC(sap_db_close(memory), SAP_OK);
    int rc = sap_db_restore(db, stream_read, &stream);
    stream_free(&stream);
    return rc;
}

int history_step(const History *history, SapEnv *db, uint64_t n)
{
    Step s = {.history = history, .n = n};
    size_t room = (size_t)history->max_value + 8192;

    rng_seed(&s.rng, history->seed * 1000003 + n);
    if (history->open_one_in != 0 && rng_chance(&s.rng, 1, history->open_one_in)) {
        return open_one(&s, db);
    }
    if (history->restore_one_in != 0 && rng_chance(&s.rng, 1, history->restore_one_in)) {
        return restore_one(&s, db);
    }
    s.value = calloc(1, room);
    EXPECT(s.value != NULL, "no memory");
    int rc = commit_changes(&s, db);
    free(s.value);
    return rc;
}

/* ---- Comparing ------------------------------------------------------------------------------ */

static int hash_part(const void *buf, uint32_t len, void *ctx)
{
    hash_update(ctx, buf, len);
    return SAP_OK;
}

uint64_t history_digest(SapEnv *db, SapTxnCtx *txn)
{
    HashState state;

    SapTxnCtx *reader = txn;
    void *tally = NULL;
    if (txn == NULL) {
        EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &reader), SAP_OK);
    }
    hash_init(&state, 0);
    EXPECT_RC(sap_txn_checkpoint(reader, hash_part, &state), SAP_OK);
    if (sap_txn_subsystem_state(reader, TALLY_ID, &tally) == SAP_OK) {
        const char *text = tally_text(db, reader);
        hash_update(&state, text, strlen(text));
    }
    if (txn == NULL) {
        sap_txn_abort(reader);
    }
    return hash_final(&state);
}

uint64_t *history_truth(const History *history, uint64_t steps)
{
    uint64_t *truth = malloc((size_t)(steps + 1) * sizeof *truth);
    SapEnv *db = sap_db_open(NULL, 4096, NULL, NULL);

    EXPECT(truth != NULL && db != NULL, "no memory");
    if (history->tally) {
        const SapSubsystem *tally = tally_subsystem();
        EXPECT_RC(sap_env_register_subsystem(db, tally->id, &tally->callbacks), SAP_OK);
    }
    EXPECT_RC(history_open_tables(db), SAP_OK);
    truth[0] = history_digest(db, NULL);
    for (uint64_t n = 1; n <= steps; n++) {
        EXPECT_RC(history_step(history, db, n), SAP_OK);
        truth[n] = history_digest(db, NULL);
    }
    EXPECT_RC(sap_db_close(db), SAP_OK);
    return truth;
}

uint64_t history_find(const uint64_t *truth, uint64_t first, uint64_t last, uint64_t digest)
{
    for (uint64_t n = first; n <= last; n++) {
        if (truth[n] == digest) {
            return n;
        }
    }
    for (uint64_t n = 0; n < first; n++) {
        EXPECT(truth[n] != digest,
               "the content is that of step %llu, and step %llu was acknowledged",
               (unsigned long long)n, (unsigned long long)first);
    }
    expect_fail(__FILE__, __LINE__, "the content is that of no step from %llu to %llu",
                (unsigned long long)first, (unsigned long long)last);
}
