/* open.c - sap_store_open(), sap_store_init(), sap_store_close(): options, tables, urls, and what is
 * checked before the first transaction. */
#include "sapling/store.h"

#include <inttypes.h>
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

bool store_has_table(SapStore *store, uint32_t table)
{
    if (bsearch(&table, store->tables, store->table_count, sizeof table, compare_tables) != NULL) {
        return true;
    }
    if (relaxed_add(&store->unknown_tables, 1) == 0 && store->on_message != NULL) {
        char text[160];
        (void)snprintf(text, sizeof text,
                       "table %" PRIu32 " is not among those that the store was opened with: "
                       "list it in SapStoreOptions.tables (numbers from 16 to 1023)",
                       table);
        store->on_message(text, store->message_ctx);
    }
    return false;
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

/* As those of a terminal, which would reach it in the texts that show the name. */
static bool has_controls(const char *text)
{
    const uint8_t *bytes = (const uint8_t *)text;
    size_t len = strlen(text);
    for (size_t at = 0; at < len;) {
        uint32_t code = 0;
        at += utf8_decode(bytes + at, len - at, &code);
        if (code < 0x20 || (code >= 0x7f && code < 0xa0)) {
            return true;
        }
    }
    return false;
}

static int check_options(const SapStoreOptions *options)
{
    if (options->tables == NULL || options->table_count == 0) {
        return refuse_open(options, SAP_ERROR,
                           "SapStoreOptions.tables: a store needs the numbers of its tables");
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
    if (options->schema != NULL && has_controls(options->schema)) {
        return refuse_open(options, SAP_ERROR,
                           "the name of a store's schema has a control character");
    }
    return SAP_OK;
}

static int refuse_table(const SapStoreOptions *options, uint32_t table, const char *why)
{
    char text[120];
    (void)snprintf(text, sizeof text, "SapStoreOptions.tables: table %" PRIu32 " %s", table, why);
    return refuse_open(options, SAP_ERROR, text);
}

/* The tables, sorted. */
static int check_tables(const SapStoreOptions *options, const uint32_t *tables)
{
    for (uint32_t i = 0; i < options->table_count; i++) {
        if (tables[i] < SAP_STORE_FIRST_TABLE || tables[i] > SAP_STORE_LAST_TABLE) {
            return refuse_table(options, tables[i], "is out of range: they are 16 to 1023");
        }
        if (i > 0 && tables[i - 1] == tables[i]) {
            return refuse_table(options, tables[i], "is named twice");
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
    if (name != NULL && strstr(name, "://") == NULL) {
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
    store->on_message = options->on_message; /* an open that waits says so */
    store->message_ctx = options->message_ctx;
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
    uint64_t connects = relaxed_load(&store->counts.connects);
    memset(&store->counts, 0, sizeof store->counts); /* from here on they are the caller's */
    relaxed_store(&store->counts.connects, connects);
    store->hook = options->hook;
    store->hook_ctx = options->hook_ctx;
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

/* Reads the options. SAP_ERROR: `call` was given bad arguments; the text says which. */
static int read_arguments(const char *call, const char *url, const SapStoreOptions *options,
                          SapStoreOptions *known)
{
    char text[120];
    const char *wrong = url == NULL       ? "the url is NULL"
                        : options == NULL ? "the options are NULL, and `tables` is required"
                                          : NULL;
    open_error_clear();
    if (wrong == NULL && OPTIONS_READ(SapStoreOptions, known, options) != SAP_OK) {
        wrong = "SapStoreOptions.size is of no version of this library";
    }
    if (wrong == NULL) {
        return check_options(known);
    }
    (void)snprintf(text, sizeof text, "%s: %s", call, wrong);
    open_error_set(text);
    return SAP_ERROR;
}

int sap_store_open(const char *url, const SapStoreOptions *options, SapStore **store_out)
{
    SapStoreOptions known;
    int rc = read_arguments("sap_store_open()", url, options, &known);
    if (rc == SAP_OK && store_out == NULL) {
        return refuse_open(&known, SAP_ERROR, "sap_store_open(): store_out is NULL");
    }
    return rc == SAP_OK ? explain_open(url, open_known(url, &known, true, store_out)) : rc;
}

int sap_store_init(const char *url, const SapStoreOptions *options)
{
    SapStoreOptions known;
    SapStore *store = NULL;
    int rc = read_arguments("sap_store_init()", url, options, &known);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = check_tables(&known, known.tables);
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
