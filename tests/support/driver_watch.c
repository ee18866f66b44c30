#include "support/driver_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- Watches -------------------------------------------------------------------------------- */

static int set_watch(Driver *d, Watched *w, bool on)
{
    uint32_t dbi = d->tables[w->table].dbi;

    return on ? sap_db_watch_dbi(d->db, dbi, w->prefix, w->prefix_len, events_note, &w->events)
              : sap_db_unwatch_dbi(d->db, dbi, w->prefix, w->prefix_len, events_note, &w->events);
}

static void choose_watch(Driver *d, Watched *w)
{
    w->table = some_table(d);
    driver_choose_key(d, w->table);
    w->prefix_len = below(d, d->key_len < 3 ? d->key_len + 1 : 3);
    memcpy(w->prefix, d->key, w->prefix_len);
}

void driver_op_watch(Driver *d, bool writer_is_open)
{
    Watched *w = &d->watched[below(d, WATCHES)];
    bool on = !w->on;

    if (on) {
        choose_watch(d, w);
    }
    if (!writer_is_open && !on) {
        EXPECT_RC(set_watch(d, w, true), SAP_EXISTS);
    }
    driver_arm(d);
    int rc = set_watch(d, w, on);
    if (driver_disarm(d, rc)) {
        return;
    }
    if (on && has_pairs(w->table)) {
        EXPECT(rc == SAP_ERROR || (rc == SAP_BUSY && writer_is_open),
               "a watch of a table of pairs answered %d", rc);
        return;
    }
    EXPECT(rc == (writer_is_open ? SAP_BUSY : SAP_OK), "%s answered %d", on ? "watch" : "unwatch",
           rc);
    if (rc == SAP_OK) {
        w->on = on;
        if (!on) {
            EXPECT_RC(set_watch(d, w, false), SAP_NOTFOUND);
        }
    }
}

static bool same_value(const ModelRow *a, const ModelRow *b)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }
    return a->val_len == b->val_len && memcmp(model_row_val(a), model_row_val(b), a->val_len) == 0;
}

static bool told_of(const Watched *w, size_t at, const ModelRow *key)
{
    return at < w->events.count && w->events.list[at].key_len == key->key_len &&
           memcmp(w->events.list[at].key, key->bytes, key->key_len) == 0;
}

static void expect_value(const Event *event, const ModelRow *row)
{
    if (row == NULL) {
        EXPECT(event->val == NULL, "a watch got a value of a row that is gone");
        return;
    }
    EXPECT(event->val != NULL && event->val_len == row->val_len &&
               memcmp(event->val, model_row_val(row), row->val_len) == 0,
           "a watch got another value");
}

/* Each key that now has another value, in order, and beyond those only keys that were written. */
static void expect_told(Driver *d, Watched *w, const Model *before, const Model *now,
                        const Model *touched)
{
    const ModelTable *keys = &touched->tables[w->table];
    size_t at = 0;

    for (size_t i = 0; i < keys->count; i++) {
        const ModelRow *key = keys->rows[i];
        if (key->key_len < w->prefix_len || memcmp(key->bytes, w->prefix, w->prefix_len) != 0) {
            continue;
        }
        const ModelRow *is = model_find(&now->tables[w->table], key->bytes, key->key_len);
        const ModelRow *was = model_find(&before->tables[w->table], key->bytes, key->key_len);
        if (told_of(w, at, key)) {
            EXPECT(is != NULL || was != NULL, "a watch was told of key %zu, which never was", i);
            expect_value(&w->events.list[at++], is);
        } else {
            EXPECT(same_value(is, was), "a watch was not told of key %zu of %zu", i, keys->count);
        }
    }
    EXPECT(at == w->events.count, "a watch was told of %zu keys, of which %zu in order",
           w->events.count, at);
    d->counts->events += at;
}

void driver_expect_told(Driver *d, const Model *before, const Model *now, const Model *touched)
{
    for (uint32_t i = 0; i < WATCHES; i++) {
        Watched *w = &d->watched[i];
        if (w->on && touched != NULL) {
            expect_told(d, w, before, now, touched);
        } else {
            EXPECT(w->events.count == 0, "a watch was told of what was not committed");
        }
        events_clear(&w->events);
    }
}

/* ---- Streams -------------------------------------------------------------------------------- */

void driver_open_tables(Driver *d, SapEnv *db)
{
    for (size_t i = 0; i < TABLES; i++) {
        const Table *t = &d->tables[i];
        EXPECT_RC(sap_dbi_open(db, t->dbi, order_cmp(t->order), order_ctx(t->order), t->flags),
                  SAP_OK);
        if (has_pairs(i)) {
            EXPECT_RC(sap_dbi_set_dupsort(db, t->dbi, order_cmp(t->value_order),
                                          order_ctx(t->value_order)),
                      SAP_OK);
        }
    }
}

/* False: an allocation was made to fail. */
static bool write_stream(Driver *d, SapEnv *db, SapTxnCtx *txn, Stream *stream)
{
    stream_init(stream);
    driver_arm(d);
    int rc = txn != NULL ? sap_txn_checkpoint(txn, stream_write, stream)
                         : sap_db_checkpoint(db, stream_write, stream);
    if (driver_disarm(d, rc)) {
        stream_free(stream);
        return false;
    }
    EXPECT(rc == SAP_OK, "a checkpoint answered %d", rc);
    return true;
}

static void read_stream(Driver *d, SapEnv *db, Stream *stream, const Model *content,
                        bool may_not_fit)
{
    Stream again;

    driver_arm(d);
    int rc = sap_db_restore(db, stream_read, stream);
    if (driver_disarm(d, rc)) {
        model_expect_verified(db);
        stream_rewind(stream);
        rc = sap_db_restore(db, stream_read, stream);
    }
    if (rc == SAP_FULL && may_not_fit) {
        model_expect_verified(db);
        return;
    }
    EXPECT(rc == SAP_OK, "a restore answered %d", rc);
    d->counts->rows += model_expect_committed(content, db);
    /* In memory comparators have no names, which a file's stream holds. */
    bool comparable = d->config->path == NULL || db == d->db;
    if (comparable && write_stream(d, db, NULL, &again)) {
        EXPECT(again.len == stream->len && memcmp(again.bytes, stream->bytes, again.len) == 0,
               "the same content is another stream");
        stream_free(&again);
    }
    d->counts->streams++;
}

void driver_op_stream(Driver *d, SapTxnCtx *txn, const Model *content)
{
    uint32_t page_size = driver_page_sizes[below(d, driver_page_size_count)];
    Stream stream;

    if (!write_stream(d, d->db, txn, &stream)) {
        return;
    }
    SapEnv *db =
        sap_db_open(NULL, page_size, order_cmp(d->config->order), order_ctx(d->config->order));
    EXPECT(db != NULL, "no DB");
    driver_open_tables(d, db);
    read_stream(d, db, &stream, content, page_size < d->config->page_size);
    EXPECT_RC(sap_db_close(db), SAP_OK);
    if (d->saved_model == NULL || one_in(d, 2)) {
        stream_free(&d->saved);
        model_free(d->saved_model);
        d->saved = stream;
        d->saved_model = model_copy(content);
    } else {
        stream_free(&stream);
    }
}

void driver_restore_saved(Driver *d)
{
    if (d->saved_model == NULL) {
        return;
    }
    stream_rewind(&d->saved);
    read_stream(d, d->db, &d->saved, d->saved_model, false);
    driver_expect_told(d, NULL, NULL, NULL);
    model_free(d->committed);
    d->committed = d->saved_model;
    d->saved_model = NULL;
    stream_free(&d->saved);
}
