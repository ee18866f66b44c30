/* pg_url.c - see pg_url.h. */
#include "store/pg_url.h"

#include <errno.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/assert.h"
#include "common/mem.h"
#include "sapling/error.h"

/* ---- Showing --------------------------------------------------------------------------------- */

typedef struct Text {
    char *at;
    size_t left; /* the NUL included */
} Text;

static void append_text(Text *text, const char *from, size_t len)
{
    size_t fits = len < text->left ? len : text->left - 1;
    memcpy(text->at, from, fits);
    text->at += fits;
    text->left -= fits;
    *text->at = '\0';
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static size_t param_len(const char *param)
{
    return strcspn(param, "&");
}

static bool has_name(const char *param, const char *name)
{
    size_t len = strlen(name);
    return strncmp(param, name, len) == 0 && param[len] == '=';
}

static bool is_harmless(const char *param)
{
    static const char *const names[] = {"host",    "hostaddr",
                                        "port",    "dbname",
                                        "user",    "schema",
                                        "pool",    "lock_timeout_ms",
                                        "sslmode", "statement_timeout_ms"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (has_name(param, names[i])) {
            return true;
        }
    }
    return false;
}

static void append_params(Text *text, const char *params)
{
    const char *before = "?";
    while (*params != '\0') {
        size_t len = param_len(params);
        if (is_harmless(params)) {
            append_text(text, before, 1);
            append_text(text, params, len);
            before = "&";
        }
        params += len + (params[len] == '&');
    }
}

/* A text that is not a url may still hold a password: its beginning says enough. */
static void append_beginning(Text *text, const char *from)
{
    size_t len = strcspn(from, ":= ");
    append_text(text, from, len);
    if (from[len] != '\0') {
        append_text(text, "...", 3);
    }
}

void store_url_show(const char *url, char *shown, size_t size)
{
    Text text = {shown, size};
    SAP_ASSERT(size > 0);
    *shown = '\0';
    const char *authority = strstr(url, "://");
    bool local = starts_with(url, "sapling:") || starts_with(url, "memory:");
    if (local && authority == NULL) {
        append_text(&text, url, strlen(url));
        return;
    }
    if (authority == NULL) {
        append_beginning(&text, url);
        return;
    }
    /* A password that was not encoded may hold any of the characters that end it: so everything
     * from the first colon after the user to the last @ is taken for it. */
    const char *rest = authority + 3;
    append_text(&text, url, (size_t)(rest - url));
    const char *at = strrchr(rest, '@');
    if (at != NULL) {
        size_t user = strcspn(rest, ":@");
        append_text(&text, rest, user);
        rest = at;
    }
    size_t plain = strcspn(rest, "?");
    append_text(&text, rest, plain);
    append_params(&text, rest[plain] == '?' ? rest + plain + 1 : "");
}

/* ---- Parsing --------------------------------------------------------------------------------- */

static int refuse_url(char *why, const PgUrl *url, const char *text)
{
    (void)snprintf(why, PG_WHY_MAX, "%.150s: %s", url->shown, text);
    return SAP_INVALID;
}

/* A number from `least` to `most` that is all of the value. */
static bool read_number(const char *value, size_t len, uint32_t least, uint32_t most, uint32_t *out)
{
    char text[16];
    char *end = NULL;
    if (len == 0 || len >= sizeof text || value[0] < '0' || value[0] > '9') {
        return false;
    }
    memcpy(text, value, len);
    text[len] = '\0';
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (errno != 0 || *end != '\0' || number < least || number > most) {
        return false;
    }
    *out = (uint32_t)number;
    return true;
}

static bool read_schema(const char *value, size_t len, PgUrl *url)
{
    if (len == 0 || len > PG_SCHEMA_MAX) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        bool letter = (value[i] >= 'a' && value[i] <= 'z') || (value[i] >= 'A' && value[i] <= 'Z');
        if (!letter && value[i] != '_' && !(value[i] >= '0' && value[i] <= '9')) {
            return false;
        }
    }
    memcpy(url->schema, value, len);
    url->schema[len] = '\0';
    return true;
}

/* Takes a parameter that is ours; *own_out: it is. */
static int take_param(const char *param, size_t len, PgUrl *url, bool *own_out, char *why)
{
    if (memchr(param, '=', len) == NULL) {
        return refuse_url(why, url, "a parameter has no value: write NAME=VALUE");
    }
    const char *value = (const char *)memchr(param, '=', len) + 1;
    size_t value_len = len - (size_t)(value - param);
    *own_out = true;
    if (has_name(param, "schema")) {
        return read_schema(value, value_len, url)
                   ? SAP_OK
                   : refuse_url(why, url, "`schema` has 1 to 48 letters, digits and _");
    }
    if (has_name(param, "pool")) {
        return read_number(value, value_len, 1, PG_POOL_MOST, &url->pool)
                   ? SAP_OK
                   : refuse_url(why, url, "`pool` is a number from 1 to 1000");
    }
    if (has_name(param, "lock_timeout_ms")) {
        return read_number(value, value_len, 1, PG_TIMEOUT_MOST_MS, &url->lock_timeout_ms)
                   ? SAP_OK
                   : refuse_url(why, url, "`lock_timeout_ms` is a number from 1 to 3600000");
    }
    if (has_name(param, "statement_timeout_ms")) {
        return read_number(value, value_len, 1, PG_TIMEOUT_MOST_MS, &url->statement_timeout_ms)
                   ? SAP_OK
                   : refuse_url(why, url, "`statement_timeout_ms` is a number from 1 to 3600000");
    }
    *own_out = false;
    return SAP_OK;
}

/* Copies the url to conninfo, without the parameters that are ours. */
static int split_params(const char *url, PgUrl *parsed, char *why)
{
    Text kept = {parsed->conninfo, parsed->conninfo_size};
    size_t plain = strcspn(url, "?");
    const char *before = "?";
    append_text(&kept, url, plain);
    const char *param = url[plain] == '?' ? url + plain + 1 : "";
    while (*param != '\0') {
        size_t len = param_len(param);
        bool own = false;
        int rc = take_param(param, len, parsed, &own, why);
        if (rc != SAP_OK) {
            return rc;
        }
        if (!own) {
            append_text(&kept, before, 1);
            append_text(&kept, param, len);
            before = "&";
        }
        param += len + (param[len] == '&');
    }
    return SAP_OK;
}

static bool is_port(const char *text)
{
    return text[strspn(text, "0123456789,")] == '\0';
}

/* A '@' that does not end the user and password of the authority: a password was not encoded. */
static bool has_stray_at(const char *conninfo)
{
    const char *host = strstr(conninfo, "://") + 3;
    size_t host_len = strcspn(host, "/?");
    const char *user_end = (const char *)memchr(host, '@', host_len);
    if (user_end != NULL && memchr(user_end + 1, '@', host_len - (size_t)(user_end + 1 - host))) {
        return true;
    }
    size_t path_len = strcspn(host + host_len, "?");
    bool in_path = memchr(host + host_len, '@', path_len) != NULL;
    return in_path || (user_end == NULL && strchr(host + host_len, '@') != NULL);
}

static bool is_known_name(const PQconninfoOption *defaults, const char *param, size_t len)
{
    for (const PQconninfoOption *one = defaults; one->keyword != NULL; one++) {
        if (strlen(one->keyword) == len && memcmp(one->keyword, param, len) == 0) {
            return true;
        }
    }
    return false;
}

/* libpq refuses the url: finds the parameter that it does not know, if it is that. */
static int refuse_parts(const PgUrl *url, char *why)
{
    char text[200] =
        "libpq cannot read this url: use postgres://USER@HOST:PORT/DATABASE?schema=NAME";
    PQconninfoOption *defaults = PQconndefaults();
    const char *param = url->conninfo + strcspn(url->conninfo, "?");
    while (defaults != NULL && *param != '\0') {
        param++;
        size_t name_len = strcspn(param, "=&");
        if (!is_known_name(defaults, param, name_len)) {
            (void)snprintf(text, sizeof text, "there is no parameter `%.*s`",
                           (int)(name_len < 40 ? name_len : 40), param);
            break;
        }
        param += param_len(param);
    }
    PQconninfoFree(defaults);
    return refuse_url(why, url, text);
}

/* libpq quotes what it cannot read, which may be a password that was not encoded: so its own words
 * are not passed on, and what it would misread is found here. */
static int check_parts(const PgUrl *url, char *why)
{
    if (has_stray_at(url->conninfo)) {
        return refuse_url(
            why, url, "characters such as / ? # @ in a password are written as %2F %3F %23 %40");
    }
    PQconninfoOption *parts = PQconninfoParse(url->conninfo, NULL);
    if (parts == NULL) {
        return refuse_parts(url, why);
    }
    int rc = SAP_OK;
    for (const PQconninfoOption *part = parts; part->keyword != NULL && rc == SAP_OK; part++) {
        if (strcmp(part->keyword, "port") == 0 && part->val != NULL && !is_port(part->val)) {
            rc = refuse_url(why, url, "the port is not a number");
        }
    }
    PQconninfoFree(parts);
    return rc;
}

bool pg_url_is(const char *url)
{
    return starts_with(url, "postgres://") || starts_with(url, "postgresql://");
}

int pg_url_parse(const char *url, PgUrl *parsed_out, char why[PG_WHY_MAX])
{
    PgUrl parsed = {
        .conninfo_size = strlen(url) + 1,
        .schema = "sapling",
        .pool = PG_POOL_DEFAULT,
        .lock_timeout_ms = PG_LOCK_TIMEOUT_MS,
        .statement_timeout_ms = PG_STATEMENT_TIMEOUT_MS,
    };
    SAP_ASSERT(pg_url_is(url));
    why[0] = '\0';
    store_url_show(url, parsed.shown, sizeof parsed.shown);
    parsed.conninfo = (char *)mem_alloc(MEM_STORE, parsed.conninfo_size);
    if (parsed.conninfo == NULL) {
        return SAP_NOMEM;
    }
    int rc = split_params(url, &parsed, why);
    rc = rc == SAP_OK ? check_parts(&parsed, why) : rc;
    if (rc != SAP_OK) {
        pg_url_release(&parsed);
        return rc;
    }
    *parsed_out = parsed;
    return SAP_OK;
}

void pg_url_release(PgUrl *url)
{
    mem_free(MEM_STORE, url->conninfo, url->conninfo_size);
    url->conninfo = NULL;
    url->conninfo_size = 0;
}
