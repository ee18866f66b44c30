/* node.c - see node.h. */
#include "node/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "node/registry.h"
#include "node/service.h"
#include "sapling/error.h"
#include "store/pg_url.h"

#define KILLED_NS      (3 * SECOND_NS)
#define KILLED_LOOK_NS 20000000
#define SECOND_NS      UINT64_C(1000000000)
#define STOP_NS        (4 * SECOND_NS) /* for handlers; callers that wait end before */
#define FIRST_TRY_NS \
    (SECOND_NS / 2) /* after the store has failed; then twice as long each time, up to */
#define LONGEST_TRY_NS (30 * SECOND_NS)

enum { ADDRESS_MAX = 256 };

struct Node {
    const Config *config;
    DataDir *dir;
    const Log *log;
    ServiceOptions options;
    Service *service; /* NULL: the store has failed, and could not be opened again yet */
    Recovery recovery;
    bool closing; /* the service has failed, and its handlers have not all returned */
    uint64_t try_at_ns;
    uint64_t pause_ns;
    uint64_t started_ms;
    char store[DATA_PATH_MAX + 16];
    char shown[PG_SHOWN_MAX];
    char address[ADDRESS_MAX]; /* "": the socket alone */
    char socket[DATA_PATH_MAX];
    char token[DATA_PATH_MAX];
};

/* ---- Starting -------------------------------------------------------------------------------- */

static int choose_store(Node *node, NodeError *error)
{
    const char *given = config_text(node->config, CONFIG_STORE);
    if (given[0] == '\0') {
        char path[DATA_PATH_MAX];
        data_dir_file(node->dir, "store.db", path);
        (void)snprintf(node->store, sizeof node->store, "sapling:%s", path);
    } else if (strlen(given) >= sizeof node->store || strncmp(given, "memory:", 7) == 0 ||
               (!pg_url_is(given) && strncmp(given, "sapling:", 8) != 0)) {
        store_url_show(given, node->shown, sizeof node->shown);
        return node_error_set(error, SAP_INVALID,
                              "use postgres://USER@HOST/DATABASE or sapling:PATH",
                              "%s: a node cannot keep worlds in %s",
                              config_origin(node->config, CONFIG_STORE), node->shown);
    } else {
        memcpy(node->store, given, strlen(given) + 1);
    }
    store_url_show(node->store, node->shown, sizeof node->shown);
    return SAP_OK;
}

static void log_start(const Node *node)
{
    NodeInfo info = node_info(node);
    LOG_EVENT(node->log, LOG_LEVEL_INFO, "node.started", LOG_I64("pid", getpid()),
              LOG_STR("address", info.address != NULL ? info.address : ""),
              LOG_STR("data", info.data), LOG_STR("store", info.store),
              LOG_STR("worker", node->options.worker));
    if (info.left.unclean) {
        LOG_EVENT(node->log, LOG_LEVEL_WARN, "node.recovered", LOG_I64("pid_before", info.left.pid),
                  LOG_U64("worlds", info.recovery.worlds), LOG_U64("calls", info.recovery.calls),
                  LOG_U64("timers", info.recovery.timers));
    }
}

/* What a process that was killed had open may be closed a moment after it has left the list of processes. */
static int open_service(Node *node, NodeError *error)
{
    uint64_t begin_ns = clock_mono_ns(NULL);
    const struct timespec pause = {.tv_nsec = KILLED_LOOK_NS};
    int rc = service_open(&node->options, &node->service, error);
    while (rc == SAP_BUSY && data_dir_left(node->dir).unclean &&
           clock_mono_ns(NULL) - begin_ns < KILLED_NS) {
        (void)nanosleep(&pause, NULL);
        rc = service_open(&node->options, &node->service, error);
    }
    return rc;
}

/* Where it is found from now on. */
static int note_running(Node *node, NodeError *error)
{
    const char *address = service_address(node->service);
    (void)snprintf(node->address, sizeof node->address, "%s", address != NULL ? address : "");
    RegistryEntry entry = {address, node->socket, node->token, data_dir_path(node->dir)};
    int rc = data_dir_note_running(node->dir, address, node->started_ms, error);
    if (rc == SAP_OK) {
        (void)registry_add(&entry); /* without its files commands need --node */
    }
    return rc;
}

int node_start(const Config *config, DataDir *dir, const Log *log, Node **node_out,
               NodeError *error)
{
    Node *node = (Node *)calloc(1, sizeof *node);
    if (node == NULL) {
        return node_error_set(error, SAP_NOMEM, "", "out of memory");
    }
    const char *worker = config_text(config, CONFIG_WORKER);
    node->config = config;
    node->dir = dir;
    node->log = log;
    node->started_ms = (uint64_t)clock_wall_ms(NULL);
    data_dir_file(dir, "node.sock", node->socket);
    data_dir_file(dir, "token", node->token);
    int rc = choose_store(node, error);
    node->options = (ServiceOptions){
        .config = config,
        .data = data_dir_path(dir),
        .worker = worker[0] != '\0' ? worker : data_dir_worker(dir),
        .store = node->store,
        .shown = node->shown,
        .log = log,
        .started_ms = node->started_ms,
        .recovers = data_dir_left(dir).unclean,
    };
    rc = rc == SAP_OK ? open_service(node, error) : rc;
    if (rc != SAP_OK) {
        free(node);
        return rc;
    }
    node->recovery = *service_recovery(node->service);
    rc = note_running(node, error);
    if (rc != SAP_OK) {
        (void)node_stop(node);
        return rc;
    }
    log_start(node);
    *node_out = node;
    return SAP_OK;
}

NodeInfo node_info(const Node *node)
{
    return (NodeInfo){
        .address = node->address[0] != '\0' ? node->address : NULL,
        .socket = node->socket,
        .data = data_dir_path(node->dir),
        .store = node->shown,
        .left = data_dir_left(node->dir),
        .recovery = node->recovery,
    };
}

/* ---- After a failure of the store ------------------------------------------------------------ */

static void try_again_later(Node *node)
{
    node->pause_ns = node->pause_ns == 0                   ? FIRST_TRY_NS
                     : node->pause_ns < LONGEST_TRY_NS / 2 ? 2 * node->pause_ns
                                                           : LONGEST_TRY_NS;
    node->try_at_ns = clock_mono_ns(NULL) + node->pause_ns;
}

/* Its handlers are told to end; what has not returned is asked again with the next check. */
static void close_failed(Node *node)
{
    if (!node->closing) {
        LOG_EVENT(node->log, LOG_LEVEL_ERROR, "node.store_failed",
                  LOG_STR("what", sap_strerror(service_code(node->service))),
                  LOG_STR("then", "everything is closed and opened again"));
    }
    node->closing = service_close(node->service, 0) == SAP_BUSY;
    if (!node->closing) {
        node->service = NULL;
        try_again_later(node);
    }
}

static void open_again(Node *node)
{
    NodeError error = {.message = ""};
    node->options.recovers = true;
    int rc = service_open(&node->options, &node->service, &error);
    if (rc != SAP_OK) {
        LOG_EVENT(node->log, LOG_LEVEL_ERROR, "node.not_reopened", LOG_STR("why", error.message),
                  LOG_STR("hint", error.hint));
        try_again_later(node);
        return;
    }
    node->pause_ns = 0;
    (void)note_running(node, &error); /* the port may be another, where any was asked for */
    const Recovery *found = service_recovery(node->service);
    LOG_EVENT(node->log, LOG_LEVEL_WARN, "node.reopened", LOG_U64("worlds", found->worlds),
              LOG_U64("calls", found->calls), LOG_U64("timers", found->timers));
}

void node_check(Node *node)
{
    if (node->service != NULL && (node->closing || service_code(node->service) != SAP_OK)) {
        close_failed(node);
    }
    if (node->service != NULL && !node->closing) {
        service_tidy(node->service);
    }
    if (node->service == NULL && clock_mono_ns(NULL) >= node->try_at_ns) {
        open_again(node);
    }
}

/* ---- Stopping -------------------------------------------------------------------------------- */

int node_stop(Node *node)
{
    if (node == NULL) {
        return SAP_OK;
    }
    LOG_EVENT(node->log, LOG_LEVEL_INFO, "node.stopping", LOG_I64("pid", getpid()));
    registry_remove(node_info(node).address);
    int rc = service_close(node->service, STOP_NS);
    if (rc == SAP_BUSY) {
        LOG_EVENT(node->log, LOG_LEVEL_ERROR, "node.handlers_left",
                  LOG_STR("what",
                          "handlers that were told to end have not returned; what was "
                          "acknowledged is on disk, and the next start goes on from there"));
        return rc;
    }
    LOG_EVENT(node->log, LOG_LEVEL_INFO, "node.stopped", LOG_STR("what", sap_strerror(rc)));
    free(node);
    return rc;
}
