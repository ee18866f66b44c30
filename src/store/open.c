/* open.c - sap_store_open(), sap_store_init(), sap_store_close(): options, tables, urls, and what is
 * checked before the first transaction. */
#include "sapling/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/options.h"
#include "common/utf8.h"
#include "sapling/open_error.h"
#include "store/meta.h"
#include "store/pg_url.h"
#include "store/time.h"

OPTIONS_LAYOUT(SapStoreOptions, message_ctx, renewal_ns);

static int compare_tables(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

bool store_has_table(const SapStore *store, uint32_t table)
{
    return bsearch(&table, store->tables, store->table_count, sizeof table, compare_tables) != NULL;
}

static void report_refusal(const SapStoreOptions *options)
{
    if (options->on_message != NULL) {
        options->on_message(sap_open_error(), options->message_ctx);
    }
}

static int refuse_open(const SapStoreOptions *options, int rc, const char *text)
{
    open_error_set(text);
    report_refusal(options);
    return rc;
}

static int check_options(const SapStoreOptions *options)
{
    if (options->tables == NULL || options->table_count == 0) {
        return refuse_open(options, SAP_ERROR, "a store needs the numbers of its tables");
    }
    if (options->table_count > SAP_STORE_LAST_TABLE + 1 - SAP_STORE_FIRST_TABLE) {
        return refuse_open(options, SAP_ERROR, "a store has at most 1008 tables");
    }
    if (options->schema != NULL && strlen(options->schema) > SAP_STORE_MAX_SCHEMA) {
        return refuse_open(options, SAP_ERROR, "the name of a store's schema has at most 64 bytes");
    }
    if (options->schema != NULL && !utf8_valid(options->schema, strlen(options->schema))) {
        return refuse_open(options, SAP_ERROR, "the name of a store's schema is not UTF-8");
    }
    return SAP_OK;
}

/* The tables, sorted. */
static int check_tables(const SapStoreOptions *options, const uint32_t *tables)
{
    for (uint32_t i = 0; i < options->table_count; i++) {
        if (tables[i] < SAP_STORE_FIRST_TABLE || tables[i] > SAP_STORE_LAST_TABLE) {
            return refuse_open(options, SAP_ERROR,
                               "the tables of a store have numbers from 16 to 1023");
        }
        if (i > 0 && tables[i - 1] == tables[i]) {
            return refuse_open(options, SAP_ERROR, "a table of a store is named twice");
        }
    }
    return SAP_OK;
}

static const char *after_scheme(const char *url, const char *scheme)
{
    size_t len = strlen(scheme);
    return strncmp(url, scheme, len) == 0 ? url + len : NULL;
}

static int open_scheme(const char *url, const SapStoreOptions *options, SapStore **store_out)
{
    const char *name = after_scheme(url, "memory:");
    if (name != NULL) {
        return memory_store_open(name, store_out);
    }
    name = after_scheme(url, "sapling:");
    if (name != NULL) {
        return file_store_open(name, options, store_out);
    }
    if (pg_url_is(url)) {
        return postgres_store_open(url, options, store_out);
    }
    char shown[PG_SHOWN_MAX];
    char text[PG_SHOWN_MAX + 100];
    store_url_show(url, shown, sizeof shown);
    (void)snprintf(
        text, sizeof text,
        "%.100s: not a store: use sapling:PATH, postgres://USER@HOST/DATABASE or memory:", shown);
    return refuse_open(options, SAP_INVALID, text);
}

static void set_options(SapStore *store, const SapStoreOptions *options)
{
    store->hook = options->hook;
    store->hook_ctx = options->hook_ctx;
    store->on_message = options->on_message;
    store->message_ctx = options->message_ctx;
}

static void free_tables(uint32_t *tables, uint32_t count)
{
    mem_free(MEM_STORE, tables, count * sizeof *tables);
}

static int check_own_rows(SapStore *store, const char *url, const SapStoreOptions *options,
                          bool start_time)
{
    WitStoreTime time;
    char shown[PG_SHOWN_MAX];
    store_url_show(url, shown, sizeof shown);
    store_time_init(store, options, &time);
    int rc = meta_open(store, shown, options->schema == NULL ? "" : options->schema, &time);
    return rc == SAP_OK && start_time ? store_time_start(store, &time) : rc;
}

/* Takes ownership of the tables. Without start_time the store is only good for closing. */
static int open_with(const char *url, const SapStoreOptions *options, uint32_t *tables,
                     bool start_time, SapStore **store_out)
{
    SapStore *store = NULL;
    int rc = check_tables(options, tables);
    rc = rc == SAP_OK ? open_scheme(url, options, &store) : rc;
    if (rc == SAP_OK && !mutex_init(&store->lock)) {
        (void)store->ops->close(store);
        rc = SAP_NOMEM;
    }
    if (rc != SAP_OK) {
        free_tables(tables, options->table_count);
        return rc;
    }
    store->process = owner_process();
    store->tables = tables;
    store->table_count = options->table_count;
    rc = check_own_rows(store, url, options, start_time);
    if (rc == SAP_INVALID || rc == SAP_CORRUPT) {
        report_refusal(options);
    }
    if (rc == SAP_OK && store->ops->open_tables != NULL) {
        rc = store->ops->open_tables(store);
    }
    if (rc != SAP_OK) {
        (void)sap_store_close(store);
        return rc;
    }
    memset(&store->counts, 0, sizeof store->counts); /* from here on they are the caller's */
    set_options(store, options);
    *store_out = store;
    return SAP_OK;
}

static int open_known(const char *url, const SapStoreOptions *known, bool start_time,
                      SapStore **store_out)
{
    size_t size = known->table_count * sizeof(uint32_t);
    uint32_t *tables = (uint32_t *)mem_copy(MEM_STORE, known->tables, size);
    if (tables == NULL || owner_watch_forks() != SAP_OK) {
        mem_free(MEM_STORE, tables, size);
        return SAP_NOMEM;
    }
    qsort(tables, known->table_count, sizeof *tables, compare_tables);
    return open_with(url, known, tables, start_time, store_out);
}

/* The code's own text, where the open has given none. */
static int explain_open(const char *url, int rc)
{
    if (rc != SAP_OK) {
        char shown[PG_SHOWN_MAX];
        store_url_show(url, shown, sizeof shown);
        open_error_set_code(shown, rc);
    }
    return rc;
}

int sap_store_open(const char *url, const SapStoreOptions *options, SapStore **store_out)
{
    SapStoreOptions known;
    open_error_clear();
    if (url == NULL || options == NULL || store_out == NULL ||
        OPTIONS_READ(SapStoreOptions, &known, options) != SAP_OK) {
        open_error_set("misuse of sap_store_open()");
        return SAP_ERROR;
    }
    int rc = check_options(&known);
    return rc == SAP_OK ? explain_open(url, open_known(url, &known, true, store_out)) : rc;
}

int sap_store_init(const char *url, const SapStoreOptions *options)
{
    SapStoreOptions known;
    SapStore *store = NULL;
    open_error_clear();
    if (url == NULL || options == NULL ||
        OPTIONS_READ(SapStoreOptions, &known, options) != SAP_OK) {
        open_error_set("misuse of sap_store_init()");
        return SAP_ERROR;
    }
    int rc = check_options(&known);
    rc = rc == SAP_OK ? check_tables(&known, known.tables) : rc;
    if (rc == SAP_OK && pg_url_is(url)) {
        rc = postgres_store_init(url, &known);
    }
    rc = rc == SAP_OK ? open_known(url, &known, false, &store) : rc;
    rc = rc == SAP_OK ? sap_store_close(store) : rc;
    return explain_open(url, rc);
}

/* Memory that threads of the parent may have been changing at the fork stays as it is. */
static void abandon_store(SapStore *store)
{
    if (store->ops->abandon != NULL) {
        store->ops->abandon(store);
    } else if (store->open == 0 && store->waiting == 0) {
        (void)store->ops->close(store);
    }
}

int sap_store_close(SapStore *store)
{
    if (store == NULL) {
        return SAP_OK;
    }
    if (store_is_foreign(store)) {
        abandon_store(store);
        return SAP_OK;
    }
    mutex_lock(&store->lock);
    bool in_use = store->open > 0 || store->waiting > 0;
    mutex_unlock(&store->lock);
    if (in_use) {
        return SAP_BUSY;
    }
    store_free_ended(store);
    mutex_destroy(&store->lock);
    free_tables(store->tables, store->table_count);
    return store->ops->close(store);
}
