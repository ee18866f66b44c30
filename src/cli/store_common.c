/* store_common.c - what the verbs of `sapling store` share. */
#include <inttypes.h>
#include <string.h>

#include "cli/store.h"
#include "store/pg_url.h"

static const char file_scheme[] = "sapling:";

const char *store_path(const char *url)
{
    return url + strlen(file_scheme);
}

int store_place(const Call *call, const char *url, StorePlace *place_out)
{
    char shown[PG_SHOWN_MAX];

    store_url_show(url, shown, sizeof shown);
    if (strncmp(url, "memory:", strlen("memory:")) == 0) {
        return call_usage(call, "%s lasts as long as a program: there is nothing to make or check",
                          shown);
    }
    if (pg_url_is(url)) {
        *place_out = STORE_ON_SERVER;
        return EXIT_DONE;
    }
    if (strncmp(url, file_scheme, strlen(file_scheme)) != 0 || strstr(url, "://") != NULL) {
        return call_usage(
            call, "'%s' is not a store: use sapling:PATH or postgres://USER@HOST/DATABASE", shown);
    }
    if (store_path(url)[0] == '\0') {
        return call_usage(call, "sapling: names no file: use sapling:PATH");
    }
    *place_out = STORE_IN_FILE;
    return EXIT_DONE;
}

int table_set_text(const TableSet *set, Buf *text)
{
    const char *before = "";
    int rc = SAP_OK;

    for (uint32_t i = 0; i <= SAP_STORE_LAST_TABLE && rc == SAP_OK; i++) {
        uint32_t first = i;
        if (!set->has[i]) {
            continue;
        }
        while (i < SAP_STORE_LAST_TABLE && set->has[i + 1]) {
            i++;
        }
        rc = i == first ? buf_printf(text, "%s%" PRIu32, before, first)
                        : buf_printf(text, "%s%" PRIu32 "-%" PRIu32, before, first, i);
        before = ",";
    }
    return rc == SAP_OK && before[0] == '\0' ? buf_append_str(text, "none") : rc;
}

json_t *table_set_json(const TableSet *set)
{
    json_t *list = json_array();

    for (uint32_t i = 0; list != NULL && i <= SAP_STORE_LAST_TABLE; i++) {
        if (set->has[i] && json_array_append_new(list, json_integer(i)) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

int store_exit_code(const char *line, int rc)
{
    bool about_rows =
        strcmp(line, "table") == 0 || strcmp(line, "marker") == 0 || strcmp(line, "time") == 0;

    switch (rc) {
    case SAP_OK:
        return EXIT_DONE;
    case SAP_NOTFOUND:
        return EXIT_NOT_FOUND;
    case SAP_BUSY:
        return EXIT_CONFLICT;
    case SAP_CORRUPT:
        return EXIT_CORRUPT;
    case SAP_INVALID: /* a server's refusal, or rows that are not a store's */
        return about_rows ? EXIT_CORRUPT : EXIT_FAILED;
    default:
        return EXIT_FAILED;
    }
}
