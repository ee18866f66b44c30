/* peer_beanstalkd.c - beanstalkd with a binlog that is synced at every write.
 *
 * It has no calls for many messages: several are sent as requests without waiting in between. */
#include "peer.h"
#include "server.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct RunStore {
    pid_t server;
};

struct RunSession {
    Link link;
    uint64_t ids[RUN_BATCH]; /* taken */
    uint32_t taken;
    uint32_t wanted; /* by the next take: twice what the last one got */
};

static int peer_open(RunStore **store_out)
{
    static const char *const argv[] = {
        "beanstalkd", "-b", ".", "-f", "0", "-l", "unix:./" SERVER_SOCKET, NULL};
    RunStore *store = malloc(sizeof *store);
    if (!store || server_start(argv, &store->server) != 0) {
        free(store);
        return -1;
    }
    *store_out = store;
    return 0;
}

static int peer_close(RunStore *store)
{
    int rc = server_stop(store->server);
    free(store);
    return rc;
}

static int peer_session_open(RunStore *store, RunSession **session_out)
{
    (void)store;
    RunSession *session = calloc(1, sizeof *session);
    if (!session || link_open(&session->link) != 0) {
        free(session);
        return -1;
    }
    *session_out = session;
    return 0;
}

static void peer_session_close(RunSession *session)
{
    link_close(&session->link);
    free(session);
}

static int peer_put(RunSession *session, const RunMessage *messages, uint32_t count)
{
    Link *link = &session->link;
    char line[128];
    int rc = 0;
    for (uint32_t i = 0; i < count && !rc; i++) {
        rc |= link_addf(link, "put 0 0 120 %d\r\n", RUN_PAYLOAD);
        rc |= link_add(link, messages[i].payload, RUN_PAYLOAD);
        rc |= link_add(link, "\r\n", 2);
    }
    rc = rc ? rc : link_flush(link);
    for (uint32_t i = 0; i < count && !rc; i++) {
        rc = link_line(link, line, sizeof line);
        if (!rc && strncmp(line, "INSERTED ", 9) != 0)
            rc = link_unexpected("put", line);
    }
    return rc;
}

/* One answer: 0 with *got_out 1 or 0. */
static int read_reserved(RunSession *session, RunMessage *message, uint32_t *got_out)
{
    char line[128];
    uint32_t len;
    *got_out = 0;
    if (link_line(&session->link, line, sizeof line) != 0)
        return -1;
    if (strcmp(line, "TIMED_OUT") == 0)
        return 0;
    if (sscanf(line, "RESERVED %" SCNu64 " %" SCNu32, &session->ids[session->taken], &len) != 2 ||
        len != RUN_PAYLOAD)
        return link_unexpected("reserve", line);
    session->taken++;
    *got_out = 1;
    int rc = link_bytes(&session->link, message->payload, RUN_PAYLOAD);
    return rc ? rc : link_bytes(&session->link, NULL, 2);
}

/* The first request waits for a message, the others take what is there. It waits a second, since
 * less is not to be had. */
static int peer_take(RunSession *session, RunMessage *messages, uint32_t max, uint32_t *count_out)
{
    uint32_t asked = session->wanted < max ? session->wanted : max;
    uint32_t count = 0;
    asked = asked ? asked : 1;
    int rc = link_addf(&session->link, "reserve-with-timeout 1\r\n");
    for (uint32_t i = 1; i < asked && !rc; i++)
        rc = link_addf(&session->link, "reserve-with-timeout 0\r\n");
    rc = rc ? rc : link_flush(&session->link);
    for (uint32_t i = 0; i < asked && !rc; i++) {
        uint32_t got = 0;
        rc = read_reserved(session, &messages[count], &got);
        count += got;
    }
    session->wanted = 2 * count;
    *count_out = count;
    return rc;
}

static int peer_ack(RunSession *session)
{
    char line[128];
    int rc = 0;
    for (uint32_t i = 0; i < session->taken && !rc; i++)
        rc = link_addf(&session->link, "delete %" PRIu64 "\r\n", session->ids[i]);
    rc = rc ? rc : link_flush(&session->link);
    for (uint32_t i = 0; i < session->taken && !rc; i++) {
        rc = link_line(&session->link, line, sizeof line);
        if (!rc && strcmp(line, "DELETED") != 0)
            rc = link_unexpected("delete", line);
    }
    session->taken = 0;
    return rc;
}

/* The lines "current-jobs-STATE: N", of which urgent ones are counted among the ready. */
static int read_jobs(Link *link, uint64_t *count_out)
{
    char line[128], state[32];
    uint64_t jobs;
    size_t len, at = 0;
    int rc = link_line(link, line, sizeof line);
    if (!rc && sscanf(line, "OK %zu", &len) != 1)
        rc = link_unexpected("stats-tube", line);
    *count_out = 0;
    while (!rc && at <= len) {
        rc = link_line(link, line, sizeof line);
        at += strlen(line) + 1;
        if (!rc && sscanf(line, "current-jobs-%31[a-z]: %" SCNu64, state, &jobs) == 2 &&
            strcmp(state, "urgent") != 0)
            *count_out += jobs;
    }
    return rc;
}

static int peer_left(RunStore *store, uint64_t *count_out)
{
    RunSession *session;
    if (peer_session_open(store, &session) != 0)
        return -1;
    int rc = link_addf(&session->link, "stats-tube default\r\n");
    rc = rc ? rc : link_flush(&session->link);
    rc = rc ? rc : read_jobs(&session->link, count_out);
    peer_session_close(session);
    return rc;
}

const RunPeer run_beanstalkd = {
    .name = "beanstalkd",
    .what = "-b DIR -f 0: put and delete synced, reserve not; a unix socket",
    .open = peer_open,
    .close = peer_close,
    .session_open = peer_session_open,
    .session_close = peer_session_close,
    .put = peer_put,
    .take = peer_take,
    .ack = peer_ack,
    .left = peer_left,
};
