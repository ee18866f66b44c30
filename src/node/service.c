/* service.c - see service.h.
 *
 *   open    universe -> programs -> HTTP -> calls to the outside, which never go to the node itself -> host
 *   close   HTTP -> host -> calls, programs -> universe
 *
 * Programs come before HTTP, whose queries use them, and the host comes last: nothing runs before everything
 * that it may use is there. */
#include "node/service.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/assert.h"
#include "common/fd.h"
#include "node/data_dir.h"
#include "node/exec_program.h"
#include "node/exec_task.h"
#include "node/host.h"
#include "node/http.h"
#include "node/outbound.h"
#include "store/pg_url.h"
#include "universe/universe_impl.h"

enum {
    ALLOWED_MOST = 1024,    /* lines of modules.allow */
    ALLOWED_FILE = 1 << 20, /* its bytes */
    HANDLER_MARGIN_MS =
        2000, /* a program that does not answer is ended before its world counts as stuck */
    HTTP_ROLE_BIT = 1 << 16,
    WORLDS_WORTH_IT = 1000, /* that have left the memory, before it is given back */
};

#define MS_NS UINT64_C(1000000)

struct Service {
    ServiceOptions options;
    SapUniverse *universe;
    MetricsRegistry metrics;
    bool has_metrics;
    ExecRunner *runner;
    Outbound *outbound;
    Http *http;
    Host *host; /* NULL: no role of a worker was asked for, or it has been stopped */
    Recovery recovery;
    bool in_file;
    uint64_t worlds_most; /* in memory at once since service_tidy() gave some back */
    SAP_ATOMIC(bool) up;
    bool opened;
    NodeError said; /* the last message of the store, while it is opened */
    char python[CONFIG_PATH_MAX];
    char secrets[DATA_PATH_MAX];
    char *allowed_text; /* owned: the lines of modules.allow */
    const char **allowed;
    size_t allowed_count;
};

static const char *text_or_null(const Config *config, ConfigKey key)
{
    const char *text = config_text(config, key);
    return text[0] != '\0' ? text : NULL;
}

/* ---- The store ------------------------------------------------------------------------------- */

/* While the store is opened it may be why that fails; what is said then is logged too, such as that the torn
 * end of the log was cut off. */
static void take_message(const char *text, void *ctx)
{
    Service *service = (Service *)ctx;
    LOG_EVENT(service->options.log, LOG_LEVEL_WARN, "store.message", LOG_STR("text", text));
    if (!service->opened) {
        (void)snprintf(service->said.message, sizeof service->said.message, "%s", text);
    }
}

static int explain_open(const Service *service, int rc, NodeError *error)
{
    char hint[NODE_ERROR_TEXT];
    const char *why = service->said.message[0] != '\0' ? service->said.message : sap_open_error();
    if (rc == SAP_FULL) {
        return node_error_set(error, rc, "make room on this disk, or use another: --data DIR",
                              "no room for %s%s%s", service->options.shown,
                              why[0] != '\0' ? ": " : "", why);
    }
    bool missing = rc == SAP_NOTFOUND;
    (void)snprintf(hint, sizeof hint, "%s: sapling store %s '%s'%s",
                   missing ? "make it" : "see what is wrong", missing ? "init" : "check",
                   service->options.shown, missing ? " --universe" : "");
    return node_error_set(error, rc, hint, "%s", why[0] != '\0' ? why : sap_strerror(rc));
}

static int open_universe(Service *service, NodeError *error)
{
    SapUniverseOptions options = {
        .size = sizeof options, .on_message = take_message, .message_ctx = service};
    int rc = sap_universe_open(service->options.store, &options, &service->universe);
    if (rc != SAP_OK) {
        return explain_open(service, rc, error);
    }
    service->opened = true;
    service->universe->meters.log = service->options.log; /* no thread uses it yet */
    rc = service->options.recovers ? recovery_read(service->universe, &service->recovery) : SAP_OK;
    return rc == SAP_OK ? SAP_OK
                        : node_error_set(error, rc, "", "cannot read %s: %s",
                                         service->options.shown, sap_strerror(rc));
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* A call to the outside, or a task, has ended: from any thread. */
static void wake_roles(void *ctx)
{
    universe_poke_all(((Service *)ctx)->universe);
}

static int open_runner(Service *service, NodeError *error)
{
    const Config *config = service->options.config;
    ExecRunnerOptions options = {
        .log = service->options.log,
        .metrics = &service->metrics,
        .max_processes = (uint32_t)config_number(config, CONFIG_EXEC_PROCESSES),
        .max_task_processes = (uint32_t)config_number(config, CONFIG_TASK_PROCESSES),
        .timeout_ns = config_number(config, CONFIG_EXEC_TIMEOUT) * MS_NS,
        .max_memory = config_number(config, CONFIG_EXEC_MEMORY),
        .user = text_or_null(config, CONFIG_EXEC_USER),
        .python_path = config_python_path(service->options.config, service->python),
        .wake = wake_roles,
        .wake_ctx = service,
    };
    int rc = exec_runner_open(&options, &service->runner);
    if (rc == SAP_INVALID) {
        return node_error_set(error, rc, "name a user of this machine, and start the node as root",
                              "%s: programs cannot be run as user %s",
                              config_origin(config, CONFIG_EXEC_USER), options.user);
    }
    return rc == SAP_OK
               ? SAP_OK
               : node_error_set(error, rc, "", "cannot run programs: %s", sap_strerror(rc));
}

/* Who answers a query: the newest version of the module, as its worlds run it. */
static int find_query_handler(void *ctx, const char *module, SapWorldHandler *handler_out,
                              void **module_ctx_out)
{
    Service *service = (Service *)ctx;
    SapModule *row = NULL;
    int rc = sap_module_get(service->universe, module, 0, &row);
    if (rc == SAP_NOTFOUND) {
        return SAP_OK; /* one of the process's own, if any */
    }
    rc = rc == SAP_OK ? exec_runner_resolve(service->runner, row, handler_out, module_ctx_out) : rc;
    sap_module_free(row);
    return rc;
}

static void release_query_handler(void *ctx, void *module_ctx)
{
    exec_runner_release(((Service *)ctx)->runner, module_ctx);
}

static int check_module(void *ctx, const SapModule *module, uint8_t code_out[32], char *message,
                        size_t message_size)
{
    (void)ctx;
    int rc = exec_check(module->runner, code_out, message, message_size);
    return rc == SAP_OK && module->settings != NULL
               ? exec_check_settings(module->settings, message, message_size)
               : rc;
}

/* ---- What tokens may register ---------------------------------------------------------------- */

/* The path of a file that may be named by a setting, and otherwise lies in the data directory. */
static bool find_file(const Service *service, ConfigKey key, const char *name,
                      char path[DATA_PATH_MAX])
{
    const char *given = text_or_null(service->options.config, key);
    if (given != NULL) {
        (void)snprintf(path, DATA_PATH_MAX, "%s", given);
        return true;
    }
    (void)snprintf(path, DATA_PATH_MAX, "%.*s/%s", DATA_PATH_MAX - DATA_NAME_MAX,
                   service->options.data, name);
    return access(path, F_OK) == 0;
}

/* The whole file; whoever may write it may run programs as the node, so it must be nobody else. */
static int read_allowed(Service *service, const char *path, NodeError *error)
{
    struct stat info;
    service->allowed_text = (char *)calloc(1, ALLOWED_FILE + 1);
    service->allowed = (const char **)calloc(ALLOWED_MOST, sizeof *service->allowed);
    FILE *file = fd_open_stream(path);
    if (service->allowed_text == NULL || service->allowed == NULL || file == NULL ||
        fstat(fileno(file), &info) != 0) {
        int rc =
            node_error_set(error, SAP_INVALID, "", "cannot read %s: %s", path, strerror(errno));
        if (file != NULL) {
            (void)fclose(file);
        }
        return rc;
    }
    size_t len = fread(service->allowed_text, 1, ALLOWED_FILE + 1, file);
    bool safe = (info.st_mode & 022) == 0 && (info.st_uid == geteuid() || info.st_uid == 0);
    (void)fclose(file);
    if (!safe || len > ALLOWED_FILE) {
        return node_error_set(error, SAP_INVALID,
                              safe ? "" : "chmod 600 it, and let it be this user's", "%s %s", path,
                              safe ? "is longer than 1 MiB" : "can be written by other users");
    }
    return SAP_OK;
}

static int split_allowed(Service *service, const char *path, NodeError *error)
{
    char *rest = service->allowed_text;
    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        line += strspn(line, " \t");
        if (line[0] == '\0' || line[0] == '#') {
            continue;
        }
        if (service->allowed_count == ALLOWED_MOST) {
            return node_error_set(error, SAP_INVALID, "", "%s has more than %d lines", path,
                                  ALLOWED_MOST);
        }
        service->allowed[service->allowed_count++] = line;
    }
    return SAP_OK;
}

static int load_allowed(Service *service, NodeError *error)
{
    char path[DATA_PATH_MAX];
    if (!find_file(service, CONFIG_MODULES_ALLOW, "modules.allow", path)) {
        return SAP_OK;
    }
    int rc = read_allowed(service, path, error);
    return rc == SAP_OK ? split_allowed(service, path, error) : rc;
}

/* ---- HTTP ------------------------------------------------------------------------------------ */

static bool is_ready(void *ctx, char *why, size_t why_size)
{
    Service *service = (Service *)ctx;
    int code = service_code(service);
    bool up = atomic_load_full(&service->up);
    (void)snprintf(why, why_size, "%s",
                   !up              ? "it is starting, or stopping"
                   : code != SAP_OK ? "its store has failed and is opened again"
                                    : "");
    return up && code == SAP_OK;
}

static int explain_http(const Service *service, int rc, const char *message, NodeError *error)
{
    const char *listen = config_text(service->options.config, CONFIG_LISTEN);
    char hint[NODE_ERROR_TEXT] = "name another address: --listen HOST:PORT, or none";
    if (rc == SAP_BUSY) {
        const char *port = strrchr(listen, ':');
        (void)snprintf(hint, sizeof hint,
                       "another node may have it (sapling status --node %s), or see who: ss -ltnp "
                       "'sport = %s'; or name another: --listen HOST:PORT",
                       listen, port != NULL ? port : ":7227");
    }
    return node_error_set(error, rc, hint, "%s", message);
}

static int start_http(Service *service, NodeError *error)
{
    char message[NODE_ERROR_TEXT];
    const Config *config = service->options.config;
    const char *listen = config_text(config, CONFIG_LISTEN);
    HttpOptions options = {
        .universe = service->universe,
        .data = service->options.data,
        .listen = strcmp(listen, "none") == 0 ? NULL : listen,
        .socket_group = text_or_null(config, CONFIG_SOCKET_GROUP),
        .modules_allow = service->allowed,
        .modules_allow_count = service->allowed_count,
        .log = service->options.log,
        .metrics = &service->metrics,
        .started_ms = service->options.started_ms,
        .store_url = service->options.shown,
        .ready = is_ready,
        .ready_ctx = service,
        .query_handler = find_query_handler,
        .query_release = release_query_handler,
        .query_ctx = service,
        .module_check = check_module,
    };
    options.names = config_list(config, CONFIG_HOST_NAME, &options.name_count);
    int rc = load_allowed(service, error);
    options.modules_allow = service->allowed;
    options.modules_allow_count = service->allowed_count;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = http_start(&options, &service->http, message, sizeof message);
    return rc == SAP_OK ? SAP_OK : explain_http(service, rc, message, error);
}

const char *service_address(const Service *service)
{
    const char *address = service->http != NULL ? http_address(service->http) : "";
    return address[0] != '\0' ? address : NULL;
}

/* ---- Calls to the outside -------------------------------------------------------------------- */

static int open_outbound(Service *service, NodeError *error)
{
    const char *own = service_address(service);
    const char *bad = "";
    OutboundOptions options = {
        .log = service->options.log,
        .metrics = &service->metrics,
        .own = &own,
        .own_count = own != NULL,
        .wake = wake_roles,
        .wake_ctx = service,
        .bad_place_out = &bad,
    };
    if (find_file(service, CONFIG_SECRETS, "secrets.json", service->secrets)) {
        options.secrets = secrets_file_source(service->secrets);
    }
    options.allow = config_list(service->options.config, CONFIG_ALLOW_HTTP, &options.allow_count);
    int rc = outbound_open(&options, &service->outbound);
    if (rc == SAP_INVALID) {
        return node_error_set(error, rc, "it is HOST:PORT, such as 127.0.0.1:8080",
                              "%s: allow-http cannot be %s",
                              config_origin(service->options.config, CONFIG_ALLOW_HTTP), bad);
    }
    return rc == SAP_OK ? SAP_OK
                        : node_error_set(error, rc, "", "cannot make calls to the outside: %s",
                                         sap_strerror(rc));
}

/* ---- The host -------------------------------------------------------------------------------- */

/* HTTP is a role of the node, and of no worker. */
static uint32_t roles_of(const Config *config)
{
    static const struct {
        const char *name;
        uint32_t role;
    } roles[] = {
        {"worlds", HOST_ROLE(SAP_ROLE_WORLDS)}, {"effects", HOST_ROLE(SAP_ROLE_EFFECTS)},
        {"timers", HOST_ROLE(SAP_ROLE_TIMERS)}, {"orchestrator", HOST_ROLE(SAP_ROLE_ORCHESTRATOR)},
        {"reaper", HOST_ROLE(SAP_ROLE_REAPER)}, {"http", HTTP_ROLE_BIT},
    };
    size_t count = 0;
    uint32_t sum = 0;
    const char *const *names = config_list(config, CONFIG_ROLE, &count);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < sizeof roles / sizeof roles[0]; j++) {
            sum |= strcmp(names[i], roles[j].name) == 0 ? roles[j].role : 0;
        }
    }
    return count == 0 ? HOST_ALL_ROLES | HTTP_ROLE_BIT : sum;
}

/* What a worker serves, also one that takes the place of another. */
static int serve_kinds(SapWorker *worker, void *ctx)
{
    Service *service = (Service *)ctx;
    SapEffectAdapter adapter;
    exec_task_adapter(service->runner, service->universe, &adapter);
    int rc = sap_worker_serve_adapter(worker, &adapter);
    outbound_adapter(service->outbound, false, &adapter);
    rc = rc == SAP_OK ? sap_worker_serve_adapter(worker, &adapter) : rc;
    outbound_adapter(service->outbound, true, &adapter);
    return rc == SAP_OK ? sap_worker_serve_adapter(worker, &adapter) : rc;
}

static int start_host(Service *service, uint32_t roles, NodeError *error)
{
    const Config *config = service->options.config;
    bool effects = (roles & HOST_ROLE(SAP_ROLE_EFFECTS)) != 0;
    HostOptions options = {
        .worker = {.name = service->options.worker,
                   .max_worlds = (uint32_t)config_number(config, CONFIG_MAX_WORLDS),
                   .max_memory = config_number(config, CONFIG_MAX_MEMORY),
                   .max_idle_ms = (uint32_t)config_number(config, CONFIG_MAX_IDLE),
                   .max_handler_ms =
                       (uint32_t)config_number(config, CONFIG_EXEC_TIMEOUT) + HANDLER_MARGIN_MS,
                   .resolve = exec_runner_resolve,
                   .release = exec_runner_release,
                   .resolve_ctx = service->runner},
        .handlers = (uint32_t)config_number(config, CONFIG_HANDLERS),
        .roles = roles,
        .reopens = true,
        .io_is_final = service->in_file,
        .prepare = effects ? serve_kinds : NULL,
        .prepare_ctx = service,
        .log = service->options.log,
    };
    int rc = effects ? open_outbound(service, error) : SAP_OK;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = host_start(service->universe, &options, &service->host);
    return rc == SAP_OK
               ? SAP_OK
               : node_error_set(error, rc, "", "cannot start a worker: %s", sap_strerror(rc));
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int open_parts(Service *service, NodeError *error)
{
    uint32_t roles = roles_of(service->options.config);
    int rc = metrics_init(&service->metrics);
    service->has_metrics = rc == SAP_OK;
    rc = rc == SAP_OK ? SAP_OK : node_error_set(error, rc, "", "out of memory");
    rc = rc == SAP_OK ? open_universe(service, error) : rc;
    rc = rc == SAP_OK ? open_runner(service, error) : rc;
    if (rc == SAP_OK && (roles & HTTP_ROLE_BIT) != 0) {
        rc = start_http(service, error);
    }
    roles &= HOST_ALL_ROLES;
    return rc == SAP_OK && roles != 0 ? start_host(service, roles, error) : rc;
}

int service_open(const ServiceOptions *options, Service **service_out, NodeError *error)
{
    Service *service = (Service *)calloc(1, sizeof *service);
    if (service == NULL) {
        return node_error_set(error, SAP_NOMEM, "", "out of memory");
    }
    service->options = *options;
    service->in_file = !pg_url_is(options->store);
    int rc = open_parts(service, error);
    if (rc != SAP_OK) {
        (void)service_close(service, UINT64_MAX); /* no handler has run */
        return rc;
    }
    atomic_store_full(&service->up, true);
    *service_out = service;
    return SAP_OK;
}

int service_code(Service *service)
{
    return service->host != NULL ? host_code(service->host) : SAP_OK;
}

/* The allocator keeps what was freed between what is used, which is most of it when half of the worlds go. */
void service_tidy(Service *service)
{
    HostStats stats = {.handlers = 0};
    if (service->host != NULL) {
        host_stats(service->host, &stats);
    }
    uint64_t held = stats.worker.held;
    if (held > service->worlds_most) {
        service->worlds_most = held;
    } else if (held <= service->worlds_most / 2 && service->worlds_most - held >= WORLDS_WORTH_IT) {
        (void)malloc_trim(0);
        service->worlds_most = held;
    }
}

const Recovery *service_recovery(const Service *service)
{
    return &service->recovery;
}

static void free_service(Service *service)
{
    SAP_ASSERT(service->http == NULL && service->host == NULL);
    if (service->has_metrics) {
        metrics_release(&service->metrics);
    }
    free(service->allowed_text);
    free((void *)service->allowed);
    free(service);
}

int service_close(Service *service, uint64_t patience_ns)
{
    if (service == NULL) {
        return SAP_OK;
    }
    atomic_store_full(&service->up, false);
    http_stop(service->http);
    service->http = NULL;
    int rc = host_stop(service->host, patience_ns);
    if (rc == SAP_BUSY) {
        return rc;
    }
    service->host = NULL;
    outbound_close(service->outbound);
    service->outbound = NULL;
    exec_runner_close(service->runner);
    service->runner = NULL;
    int closed = sap_universe_close(service->universe);
    SAP_ASSERT(closed != SAP_BUSY); /* nobody is left who could be in a call */
    free_service(service);
    return rc == SAP_OK ? closed : rc;
}
