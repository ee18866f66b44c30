/* config.c - see config.h. */
#include "node/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/assert.h"
#include "common/fd.h"
#include "node/nearest.h"
#include "node/node_error.h"
#include "node/units.h"
#include "sapling/error.h"

#define PREFIX "SAPLING_NODE_"

enum { LINE_MOST = 8192, NAME_MOST = 64, ORIGIN_MOST = 4200 };

/* Invariant: count is 1 but for lists; texts[count] is NULL. */
typedef struct ConfigValue {
    char **texts; /* owned, as what it names */
    size_t count;
    char *origin; /* owned */
    uint64_t number;
    unsigned turn; /* of the source that gave it */
} ConfigValue;

struct Config {
    ConfigValue values[CONFIG_COUNT];
    unsigned turn; /* counts sources: a list that a source gives twice is added to */
    NodeError error;
};

static const ConfigInfo infos[CONFIG_COUNT] = {
#define CONFIG_INFO(id, name, type, value, choices, most, otherwise, first, help) \
    [CONFIG_##id] = {name, CONFIG_TYPE_##type, choices, most, otherwise},
    CONFIG_KEYS(CONFIG_INFO)
#undef CONFIG_INFO
};

const ConfigInfo *config_info(ConfigKey key)
{
    SAP_ASSERT(key < CONFIG_COUNT);
    return &infos[key];
}

/* ---- Errors ---------------------------------------------------------------------------------- */

const char *config_message(const Config *config)
{
    return config->error.message;
}

const char *config_hint(const Config *config)
{
    return config->error.hint;
}

/* What a source calls a key: "listen", or SAPLING_NODE_LISTEN. */
static void name_key(ConfigKey key, bool environment, char name[NAME_MOST])
{
    (void)snprintf(name, NAME_MOST, "%s%s", environment ? PREFIX : "", infos[key].name);
    for (char *at = name + (environment ? strlen(PREFIX) : 0); environment && *at != '\0'; at++) {
        *at = *at == '-' ? '_' : (char)toupper((unsigned char)*at);
    }
}

/* `shown` is what was given, `where` is where: "FILE:LINE: ", or "". */
static int refuse_key(Config *config, const char *where, const char *shown, bool environment)
{
    Nearest nearest;
    char names[CONFIG_COUNT][NAME_MOST];
    char hint[NODE_ERROR_TEXT] = "see all of them: sapling config show";
    if (strcmp(shown, environment ? PREFIX "TOKEN" : "token") == 0) {
        return node_error_set(&config->error, SAP_INVALID,
                              "remove it; the node makes DIR/token at its first start",
                              "%s%s: tokens are read from files only", where, shown);
    }
    nearest_start(&nearest, shown, strlen(shown));
    for (int key = 0; key < CONFIG_COUNT; key++) {
        name_key((ConfigKey)key, environment, names[key]);
        nearest_try(&nearest, names[key]);
    }
    if (nearest.name != NULL) {
        (void)snprintf(hint, sizeof hint, "did you mean %s?", nearest.name);
    }
    return node_error_set(&config->error, SAP_INVALID, hint, "%sthere is no such setting: %s",
                          where, shown);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static void free_value(ConfigValue *value)
{
    for (size_t i = 0; i < value->count; i++) {
        free(value->texts[i]);
    }
    free((void *)value->texts);
    free(value->origin);
    *value = (ConfigValue){.texts = NULL};
}

static bool is_one_of(const char *choices, const char *text, size_t len)
{
    for (const char *at = choices; at != NULL; at = strchr(at, '|')) {
        at += at == choices ? 0 : 1;
        if (strncmp(at, text, len) == 0 && (at[len] == '|' || at[len] == '\0')) {
            return true;
        }
    }
    return false;
}

/* Checks one value of a key, as far as it says by itself whether it is one. */
static int check_value(Config *config, ConfigKey key, const char *text, size_t len,
                       const char *origin, uint64_t *number_out)
{
    const ConfigInfo *info = &infos[key];
    char hint[NODE_ERROR_TEXT];
    bool ok = info->choices == NULL || is_one_of(info->choices, text, len);
    uint64_t least = 1;
    char *end = NULL;
    *number_out = 0;
    if (!ok) {
        (void)snprintf(hint, sizeof hint, "it is one of %s", info->choices);
        return node_error_set(&config->error, SAP_INVALID, hint, "%s: %s cannot be %.*s", origin,
                              info->name, (int)len, text);
    }
    if (memchr(text, '\n', len) != NULL) {
        return node_error_set(&config->error, SAP_INVALID, "it is one line",
                              "%s: %s has a line end", origin, info->name);
    }
    switch (info->type) {
    case CONFIG_TYPE_TEXT:
    case CONFIG_TYPE_LIST:
        return SAP_OK;
    case CONFIG_TYPE_NUMBER:
        errno = 0;
        *number_out = strtoull(text, &end, 10);
        ok = isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0;
        (void)snprintf(hint, sizeof hint, "it is a number from 1 to %llu",
                       (unsigned long long)info->most);
        break;
    case CONFIG_TYPE_SIZE:
        ok = units_read_size(text, number_out);
        (void)snprintf(hint, sizeof hint, "it is a number of bytes, such as 512K, 64M or 2G");
        break;
    case CONFIG_TYPE_TIME:
        ok = units_read_time(text, number_out);
        (void)snprintf(hint, sizeof hint, "it is a time such as 500ms, 30s, 5m or 2h, up to a day");
        break;
    }
    return ok && *number_out >= least && *number_out <= info->most
               ? SAP_OK
               : node_error_set(&config->error, SAP_INVALID, hint, "%s: %s cannot be %s", origin,
                                info->name, text);
}

static int add_text(ConfigValue *value, const char *text, size_t len)
{
    char **texts = (char **)realloc((void *)value->texts, (value->count + 2) * sizeof *texts);
    char *copy = strndup(text, len);
    if (texts != NULL) {
        value->texts = texts;
    }
    if (texts == NULL || copy == NULL) {
        free(copy);
        return SAP_NOMEM;
    }
    texts[value->count++] = copy;
    texts[value->count] = NULL;
    return SAP_OK;
}

/* One text as it was given: of a list all values between commas. */
static int add_given(Config *config, ConfigKey key, ConfigValue *value, const char *text,
                     const char *origin)
{
    bool list = infos[key].type == CONFIG_TYPE_LIST;
    int rc = SAP_OK;
    for (bool more = true; rc == SAP_OK && more;) {
        size_t len = list ? strcspn(text, ",") : strlen(text);
        const char *next = text + len;
        more = *next == ',';
        while (list && len > 0 && isspace((unsigned char)text[0])) {
            text++;
            len--;
        }
        while (list && len > 0 && isspace((unsigned char)text[len - 1])) {
            len--;
        }
        if (!list || len > 0) {
            rc = check_value(config, key, text, len, origin, &value->number);
            rc = rc == SAP_OK ? add_text(value, text, len) : rc;
        }
        text = next + more;
    }
    return rc;
}

/* A list that this source has given before is added to; anything else is replaced. */
static int set_value(Config *config, ConfigKey key, const char *text, const char *origin)
{
    ConfigValue *value = &config->values[key];
    ConfigValue made = {.turn = config->turn};
    bool adds =
        infos[key].type == CONFIG_TYPE_LIST && value->turn == config->turn && value->origin != NULL;
    if (adds) {
        return add_given(config, key, value, text, origin);
    }
    made.origin = strdup(origin);
    int rc = made.origin != NULL ? add_given(config, key, &made, text, origin) : SAP_NOMEM;
    if (rc != SAP_OK) {
        free_value(&made);
        return rc;
    }
    free_value(value);
    *value = made;
    return SAP_OK;
}

static void begin_source(Config *config)
{
    config->turn++;
    config->error = (NodeError){.message = ""};
}

int config_set(Config *config, ConfigKey key, const char *const *values, size_t count,
               const char *origin)
{
    int rc = SAP_OK;
    SAP_ASSERT(key < CONFIG_COUNT);
    begin_source(config);
    for (size_t i = 0; rc == SAP_OK && i < count; i++) {
        rc = set_value(config, key, values[i], origin);
    }
    return rc;
}

/* ---- Opening --------------------------------------------------------------------------------- */

int config_new(Config **config_out)
{
    Config *config = (Config *)calloc(1, sizeof *config);
    int rc = config != NULL ? SAP_OK : SAP_NOMEM;
    for (int key = 0; rc == SAP_OK && key < CONFIG_COUNT; key++) {
        begin_source(config);
        rc = set_value(config, (ConfigKey)key, infos[key].otherwise, "default");
        SAP_ASSERT(rc != SAP_INVALID);
    }
    if (rc != SAP_OK) {
        config_free(config);
        return rc;
    }
    *config_out = config;
    return SAP_OK;
}

void config_free(Config *config)
{
    for (int key = 0; config != NULL && key < CONFIG_COUNT; key++) {
        free_value(&config->values[key]);
    }
    free(config);
}

/* ---- Sources --------------------------------------------------------------------------------- */

static bool find_key(const char *name, bool environment, ConfigKey *key_out)
{
    for (int key = 0; key < CONFIG_COUNT; key++) {
        char known[NAME_MOST];
        name_key((ConfigKey)key, environment, known);
        if (strcmp(known, name) == 0) {
            *key_out = (ConfigKey)key;
            return true;
        }
    }
    return false;
}

int config_read_environment(Config *config, const char *const *environment)
{
    int rc = SAP_OK;
    begin_source(config);
    for (; rc == SAP_OK && *environment != NULL; environment++) {
        char name[NAME_MOST];
        ConfigKey key = CONFIG_COUNT;
        const char *equals = strchr(*environment, '=');
        if (equals == NULL || strncmp(*environment, PREFIX, strlen(PREFIX)) != 0) {
            continue;
        }
        (void)snprintf(name, sizeof name, "%.*s", (int)(equals - *environment), *environment);
        rc = find_key(name, true, &key) ? set_value(config, key, equals + 1, name)
                                        : refuse_key(config, "", name, true);
    }
    return rc;
}

/* Without the blanks around it. */
static char *trim_text(char *text)
{
    size_t len = 0;
    while (isspace((unsigned char)*text)) {
        text++;
    }
    len = strlen(text);
    while (len > 0 && isspace((unsigned char)text[len - 1])) {
        text[--len] = '\0';
    }
    return text;
}

static int read_line(Config *config, char *line, const char *origin)
{
    ConfigKey key = CONFIG_COUNT;
    char where[ORIGIN_MOST + 2];
    char *comment = strchr(line, '#');
    if (comment != NULL && (comment == line || isspace((unsigned char)comment[-1]))) {
        *comment = '\0';
    }
    char *name = trim_text(line);
    char *equals = strchr(name, '=');
    if (name[0] == '\0') {
        return SAP_OK;
    }
    if (equals == NULL) {
        return node_error_set(&config->error, SAP_INVALID,
                              "a line is NAME = VALUE, or a comment after #",
                              "%s: '%s' has no =", origin, name);
    }
    *equals = '\0';
    (void)trim_text(name);
    (void)snprintf(where, sizeof where, "%s: ", origin);
    return find_key(name, false, &key) ? set_value(config, key, trim_text(equals + 1), origin)
                                       : refuse_key(config, where, name, false);
}

int config_read_file(Config *config, const char *path)
{
    char line[LINE_MOST];
    char origin[ORIGIN_MOST];
    unsigned number = 0;
    int rc = SAP_OK;
    begin_source(config);
    FILE *file = fd_open_stream(path);
    if (file == NULL) {
        return errno == ENOENT ? SAP_NOTFOUND
                               : node_error_set(&config->error, SAP_INVALID, "", "%s: %s", path,
                                                strerror(errno));
    }
    while (rc == SAP_OK && fgets(line, sizeof line, file) != NULL) {
        (void)snprintf(origin, sizeof origin, "%s:%u", path, ++number);
        rc = strlen(line) == sizeof line - 1 && strchr(line, '\n') == NULL
                 ? node_error_set(&config->error, SAP_INVALID, "",
                                  "%s: the line is longer than %d bytes", origin, LINE_MOST)
                 : read_line(config, line, origin);
    }
    if (rc == SAP_OK && ferror(file) != 0) {
        rc = node_error_set(&config->error, SAP_INVALID, "", "%s: %s", path, strerror(errno));
    }
    (void)fclose(file);
    return rc;
}

/* ---- What was found -------------------------------------------------------------------------- */

const char *config_text(const Config *config, ConfigKey key)
{
    return config->values[key].count > 0 ? config->values[key].texts[0] : "";
}

uint64_t config_number(const Config *config, ConfigKey key)
{
    SAP_ASSERT(infos[key].type != CONFIG_TYPE_TEXT && infos[key].type != CONFIG_TYPE_LIST);
    return config->values[key].number;
}

const char *const *config_list(const Config *config, ConfigKey key, size_t *count_out)
{
    SAP_ASSERT(infos[key].type == CONFIG_TYPE_LIST);
    *count_out = config->values[key].count;
    return (const char *const *)config->values[key].texts;
}

const char *config_origin(const Config *config, ConfigKey key)
{
    return config->values[key].origin;
}

const char *config_python_path(const Config *config, char room[CONFIG_PATH_MAX])
{
    static const char *const places[] = {"../share/sapling/python", "../clients/python",
                                         "../../clients/python"};
    const char *given = config_text(config, CONFIG_PYTHON_PATH);
    char program[CONFIG_PATH_MAX / 2];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    if (given[0] != '\0' || len <= 0) {
        return given[0] != '\0' ? given : NULL;
    }
    program[len] = '\0';
    *strrchr(program, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char path[CONFIG_PATH_MAX];
        (void)snprintf(path, sizeof path, "%s/%s", program, places[i]);
        if (realpath(path, room) != NULL) {
            return room;
        }
    }
    return NULL;
}
