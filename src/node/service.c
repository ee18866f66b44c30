/* service.c - see service.h. */
#include "node/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/assert.h"
#include "node/host.h"
#include "store/pg_url.h"
#include "universe/universe_impl.h"

struct Service {
    ServiceOptions options;
    SapUniverse *universe;
    Host *host; /* NULL: no role of a worker was asked for, or it has been stopped */
    Recovery recovery;
    bool in_file;
    NodeError said; /* the last message of the store, while it is opened */
    bool opened;
};

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
    char shown[PG_SHOWN_MAX];
    char hint[NODE_ERROR_TEXT] = "see what is wrong: sapling store check URL";
    store_url_show(service->options.store, shown, sizeof shown);
    if (rc == SAP_NOTFOUND) {
        (void)snprintf(hint, sizeof hint, "make it: sapling store init '%s' --universe", shown);
    } else if (service->in_file) {
        (void)snprintf(hint, sizeof hint, "see what is wrong: sapling store check '%s'", shown);
    }
    return node_error_set(error, rc, hint, "%s",
                          service->said.message[0] != '\0' ? service->said.message
                                                           : sap_strerror(rc));
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
    rc = recovery_read(service->universe, &service->recovery);
    return rc == SAP_OK ? SAP_OK
                        : node_error_set(error, rc, "", "cannot read %s: %s",
                                         service->options.store, sap_strerror(rc));
}

/* ---- The host -------------------------------------------------------------------------------- */

/* HTTP is no role of a worker. */
static uint32_t roles_of(const Config *config)
{
    static const struct {
        const char *name;
        uint32_t role;
    } roles[] = {
        {"worlds", HOST_ROLE(SAP_ROLE_WORLDS)}, {"effects", HOST_ROLE(SAP_ROLE_EFFECTS)},
        {"timers", HOST_ROLE(SAP_ROLE_TIMERS)}, {"orchestrator", HOST_ROLE(SAP_ROLE_ORCHESTRATOR)},
        {"reaper", HOST_ROLE(SAP_ROLE_REAPER)},
    };
    size_t count = 0;
    uint32_t sum = 0;
    const char *const *names = config_list(config, CONFIG_ROLE, &count);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < sizeof roles / sizeof roles[0]; j++) {
            sum |= strcmp(names[i], roles[j].name) == 0 ? roles[j].role : 0;
        }
    }
    return count == 0 ? HOST_ALL_ROLES : sum;
}

static int start_host(Service *service, NodeError *error)
{
    const Config *config = service->options.config;
    HostOptions options = {
        .worker = {.name = service->options.worker,
                   .max_worlds = (uint32_t)config_number(config, CONFIG_MAX_WORLDS),
                   .max_memory = config_number(config, CONFIG_MAX_MEMORY),
                   .max_idle_ms = (uint32_t)config_number(config, CONFIG_MAX_IDLE)},
        .handlers = (uint32_t)config_number(config, CONFIG_HANDLERS),
        .roles = roles_of(config),
        .reopens = true,
        .io_is_final = service->in_file,
        .log = service->options.log,
    };
    int rc = options.roles != 0 ? host_start(service->universe, &options, &service->host) : SAP_OK;
    return rc == SAP_OK
               ? SAP_OK
               : node_error_set(error, rc, "", "cannot start a worker: %s", sap_strerror(rc));
}

/* ---- All of it ------------------------------------------------------------------------------- */

int service_open(const ServiceOptions *options, Service **service_out, NodeError *error)
{
    Service *service = (Service *)calloc(1, sizeof *service);
    if (service == NULL) {
        return node_error_set(error, SAP_NOMEM, "", "out of memory");
    }
    service->options = *options;
    service->in_file = !pg_url_is(options->store);
    int rc = open_universe(service, error);
    rc = rc == SAP_OK ? start_host(service, error) : rc;
    if (rc != SAP_OK) {
        (void)service_close(service, UINT64_MAX); /* no handler has run */
        return rc;
    }
    *service_out = service;
    return SAP_OK;
}

int service_code(Service *service)
{
    return service->host != NULL ? host_code(service->host) : SAP_OK;
}

const Recovery *service_recovery(const Service *service)
{
    return &service->recovery;
}

int service_close(Service *service, uint64_t patience_ns)
{
    if (service == NULL) {
        return SAP_OK;
    }
    int rc = host_stop(service->host, patience_ns);
    if (rc == SAP_BUSY) {
        return rc;
    }
    service->host = NULL;
    int closed = sap_universe_close(service->universe);
    if (closed == SAP_BUSY) {
        return closed; /* a query runs */
    }
    free(service);
    return rc == SAP_OK ? closed : rc;
}
