/* config.h - how a node is configured: one table of keys, and where each value comes from.
 *
 * A key has the same name everywhere: `--NAME` as a flag, SAPLING_NODE_NAME in the environment (in capitals,
 * with _ for -), `NAME = VALUE` in a file. The first that gives a key decides it, lists as a whole:
 *
 *   flags, the environment, ./sapling-node.conf (or the file of --config), /etc/sapling-node.conf, defaults
 *
 * In files a line is NAME = VALUE, empty, or a comment after #. Values of a list are separated by commas, or
 * the key is given again. No key holds a secret: tokens are read from files. */
#ifndef SAPLING_NODE_CONFIG_H
#define SAPLING_NODE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(ID, name, type, what help calls the value, choices, the greatest number, default, listed first, help) */
#define CONFIG_KEYS(X)                                                                           \
    X(DATA, "data", TEXT, "DIR", NULL, 0, "sapling-data", true,                                  \
      "the data directory; it is made if it is missing")                                         \
    X(LISTEN, "listen", TEXT, "HOST:PORT", NULL, 0, "127.0.0.1:7227", true,                      \
      "the address of the HTTP API; none: the socket alone")                                     \
    X(STORE, "store", TEXT, "URL", NULL, 0, "", true,                                            \
      "where worlds are kept: postgres://...; a file in DIR if not given")                       \
    X(ROLE, "role", LIST, "ROLE", "worlds|effects|timers|orchestrator|reaper|http", 0, "", true, \
      "do this part; again, or with commas: further ones; all if not given")                     \
    X(ALLOW_HTTP, "allow-http", LIST, "HOST:PORT", NULL, 0, "", true,                            \
      "a private address that http.request may call; again: further ones")                       \
    X(HOST_NAME, "host-name", LIST, "NAME", NULL, 0, "", false,                                  \
      "a further name of this host that HTTP requests may use; again: further ones")             \
    X(SOCKET_GROUP, "socket-group", TEXT, "GROUP", NULL, 0, "", false,                           \
      "this group of users may use the socket; without it the node's own user")                  \
    X(MODULES_ALLOW, "modules-allow", TEXT, "FILE", NULL, 0, "", false,                          \
      "programs that tokens may register, one a line; or DIR/modules.allow")                     \
    X(SECRETS, "secrets", TEXT, "FILE", NULL, 0, "", false,                                      \
      "values that http.request may use and nobody reads; or DIR/secrets.json")                  \
    X(WORKER, "worker", TEXT, "NAME", NULL, 0, "", false,                                        \
      "this node's name among workers; one is made at the first start")                          \
    X(HANDLERS, "handlers", NUMBER, "N", NULL, 1024, "128", false,                               \
      "handlers that run at once; 1 to 1024")                                                    \
    X(MAX_WORLDS, "max-worlds", NUMBER, "N", NULL, 10000000, "100000", false,                    \
      "worlds in memory at once")                                                                \
    X(MAX_MEMORY, "max-memory", SIZE, "BYTES", NULL, UINT64_C(1) << 50, "256M", false,           \
      "of the states of worlds in memory: 512K, 64M, 2G")                                        \
    X(MAX_IDLE, "max-idle", TIME, "TIME", NULL, 86400000, "60s", false,                          \
      "after so long without work a world leaves the memory")                                    \
    X(EXEC_PROCESSES, "exec-processes", NUMBER, "N", NULL, 1024, "4", false,                     \
      "processes of a module at once")                                                           \
    X(TASK_PROCESSES, "task-processes", NUMBER, "N", NULL, 1024, "4", false,                     \
      "processes of a module's tasks at once")                                                   \
    X(EXEC_TIMEOUT, "exec-timeout", TIME, "TIME", NULL, 86400000, "10s", false,                  \
      "that a program may take for an answer, where its module does not say")                    \
    X(EXEC_MEMORY, "exec-memory", SIZE, "BYTES", NULL, UINT64_C(1) << 50, "1G", false,           \
      "address space of a program")                                                              \
    X(EXEC_USER, "exec-user", TEXT, "USER", NULL, 0, "", false,                                  \
      "run programs as this user, where the node is root")                                       \
    X(PYTHON_PATH, "python-path", TEXT, "DIR", NULL, 0, "", false,                               \
      "put on PYTHONPATH of programs; sapling's own module if not given")                        \
    X(LOG_LEVEL, "log-level", TEXT, "LEVEL", "debug|info|warn|error", 0, "info", false,          \
      "debug, info, warn or error")                                                              \
    X(LOG_FORMAT, "log-format", TEXT, "FORMAT", "auto|text|json", 0, "auto", false,              \
      "text, json, or auto: text at a terminal")

typedef enum ConfigType {
    CONFIG_TYPE_TEXT,
    CONFIG_TYPE_NUMBER,
    CONFIG_TYPE_SIZE, /* bytes */
    CONFIG_TYPE_TIME, /* milliseconds */
    CONFIG_TYPE_LIST,
} ConfigType;

typedef enum ConfigKey {
#define CONFIG_ENUM(id, ...) CONFIG_##id,
    CONFIG_KEYS(CONFIG_ENUM)
#undef CONFIG_ENUM
        CONFIG_COUNT
} ConfigKey;

typedef struct ConfigInfo {
    const char *name;
    ConfigType type;
    const char *choices; /* separated by '|'; NULL: any */
    uint64_t most;       /* of numbers, sizes and times, which are 1 at least */
    const char *otherwise;
} ConfigInfo;

/* Borrowed for ever. */
const ConfigInfo *config_info(ConfigKey key);

typedef struct Config Config;

/* All keys have their defaults. SAP_NOMEM. The caller owns *config_out: config_free(). */
int config_new(Config **config_out);
void config_free(Config *config); /* NULL accepted */

/* Each sets what it finds, in place of what was set before: to be called from the last of the list above to the
 * first. SAP_INVALID: config_message() and config_hint() say what is wrong. SAP_NOMEM. */
/* SAP_NOTFOUND: there is no such file. */
int config_read_file(Config *config, const char *path);
/* `environment` as environ: what begins with SAPLING_NODE_. */
int config_read_environment(Config *config, const char *const *environment);
/* Flags, all values of one key. `origin` is borrowed for the call, as the values. */
int config_set(Config *config, ConfigKey key, const char *const *values, size_t count,
               const char *origin);

/* After SAP_INVALID; "" otherwise. The hint may be "". */
const char *config_message(const Config *config);
const char *config_hint(const Config *config);

/* The values; borrowed until the key is set again. Of a list the first, or "". */
const char *config_text(const Config *config, ConfigKey key);
uint64_t config_number(const Config *config, ConfigKey key);
const char *const *config_list(const Config *config, ConfigKey key, size_t *count_out);
enum { CONFIG_PATH_MAX = 4096 };
/* Where Sapling's own Python module is: as it is set, where this program is installed, or in its source tree.
 * NULL: nowhere. Borrowed as of config_text(), or from `room`. */
const char *config_python_path(const Config *config, char room[CONFIG_PATH_MAX]);
/* "default", "--data", "SAPLING_NODE_DATA", "./sapling-node.conf:3". */
const char *config_origin(const Config *config, ConfigKey key);

#endif
