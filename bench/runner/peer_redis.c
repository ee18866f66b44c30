/* peer_redis.c - a Redis stream with one group of consumers, the log synced before any answer.
 *
 * Requests that arrive together share a sync, from one client or several: the messages of a put go
 * in one piece, and so do acknowledgement and removal. */
#include "peer.h"
#include "server.h"
#include "util.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ID_SIZE = 48 };

struct RunStore {
    pid_t server;
    atomic_uint sessions; /* so far: consumers have names */
};

struct RunSession {
    Link link;
    unsigned number;
    char ids[RUN_BATCH][ID_SIZE]; /* taken */
    uint32_t taken;
};

static int peer_session_open(RunStore *store, RunSession **session_out)
{
    RunSession *session = calloc(1, sizeof *session);
    if (!session || link_open(&session->link) != 0) {
        free(session);
        return -1;
    }
    session->number = atomic_fetch_add(&store->sessions, 1);
    *session_out = session;
    return 0;
}

static void peer_session_close(RunSession *session)
{
    link_close(&session->link);
    free(session);
}

/* A request is an array of strings. */
static int add_array(Link *link, unsigned count)
{
    return link_addf(link, "*%u\r\n", count);
}

static int add_bytes(Link *link, const void *bytes, size_t len)
{
    int rc = link_addf(link, "$%zu\r\n", len);
    rc = rc ? rc : link_add(link, bytes, len);
    return rc ? rc : link_add(link, "\r\n", 2);
}

static int add_texts(Link *link, const char *const *texts)
{
    int rc = 0;
    for (; *texts && !rc; texts++)
        rc = add_bytes(link, *texts, strlen(*texts));
    return rc;
}

/* A line that begins with `type` and is a number, or a text that is not looked at. */
static int read_head(Link *link, char type, long long *number_out)
{
    char line[256];
    if (link_line(link, line, sizeof line) != 0)
        return -1;
    if (line[0] != type)
        return link_unexpected("a command", line);
    *number_out = strtoll(line + 1, NULL, 10);
    return 0;
}

static int read_bytes(Link *link, void *bytes, size_t size, size_t *len_out)
{
    long long len;
    if (read_head(link, '$', &len) != 0)
        return -1;
    if (len < 0 || (size_t)len > size)
        return link_unexpected("a command", "a string of another length");
    *len_out = (size_t)len;
    int rc = link_bytes(link, bytes, (size_t)len);
    return rc ? rc : link_bytes(link, NULL, 2);
}

/* The first time the group is made, later it is there. A server that still reads its log accepts
 * connections, but no commands. */
static int make_group(Link *link)
{
    static const char *const texts[] = {"XGROUP", "CREATE", "s", "g", "$", "MKSTREAM", NULL};
    char line[256] = "-LOADING";
    int rc = 0;
    while (!rc && strncmp(line, "-LOADING", 8) == 0) {
        bench_sleep_us(1000);
        rc = add_array(link, 6);
        rc = rc ? rc : add_texts(link, texts);
        rc = rc ? rc : link_flush(link);
        rc = rc ? rc : link_line(link, line, sizeof line);
    }
    if (!rc && strcmp(line, "+OK") != 0 && strncmp(line, "-BUSYGROUP", 10) != 0)
        rc = link_unexpected("XGROUP", line);
    return rc;
}

static int peer_close(RunStore *store)
{
    int rc = server_stop(store->server);
    free(store);
    return rc;
}

static int peer_open(RunStore **store_out)
{
    static const char *const argv[] = {"redis-server",     "--port",       "0",   "--unixsocket",
                                       "./" SERVER_SOCKET, "--appendonly", "yes", "--appendfsync",
                                       "always",           "--save",       "",    NULL};
    RunStore *store = calloc(1, sizeof *store);
    if (!store || server_start(argv, &store->server) != 0) {
        free(store);
        return -1;
    }
    RunSession *session;
    int rc = peer_session_open(store, &session);
    if (!rc) {
        rc = make_group(&session->link);
        peer_session_close(session);
    }
    if (rc) {
        peer_close(store);
        return -1;
    }
    *store_out = store;
    return 0;
}

static int peer_put(RunSession *session, const RunMessage *messages, uint32_t count)
{
    static const char *const texts[] = {"XADD", "s", "*", "p", NULL};
    Link *link = &session->link;
    char id[ID_SIZE];
    size_t len;
    int rc = 0;
    for (uint32_t i = 0; i < count && !rc; i++) {
        rc = add_array(link, 5);
        rc = rc ? rc : add_texts(link, texts);
        rc = rc ? rc : add_bytes(link, messages[i].payload, RUN_PAYLOAD);
    }
    rc = rc ? rc : link_flush(link);
    for (uint32_t i = 0; i < count && !rc; i++)
        rc = read_bytes(link, id, sizeof id, &len);
    return rc;
}

/* [id, ["p", payload]] */
static int read_entry(RunSession *session, RunMessage *message)
{
    Link *link = &session->link;
    long long count;
    char name[8];
    size_t len;
    int rc = read_head(link, '*', &count);
    rc = rc ? rc : read_bytes(link, session->ids[session->taken], ID_SIZE - 1, &len);
    if (rc)
        return rc;
    session->ids[session->taken++][len] = '\0';
    rc = read_head(link, '*', &count);
    rc = rc ? rc : read_bytes(link, name, sizeof name, &len);
    rc = rc ? rc : read_bytes(link, message->payload, RUN_PAYLOAD, &len);
    return rc;
}

/* [["s", [entry, ...]]], or nothing. */
static int read_entries(RunSession *session, RunMessage *messages, uint32_t max,
                        uint32_t *count_out)
{
    Link *link = &session->link;
    long long count;
    char name[8];
    size_t len;
    *count_out = 0;
    int rc = read_head(link, '*', &count);
    if (rc || count < 0)
        return rc;
    rc = read_head(link, '*', &count);
    rc = rc ? rc : read_bytes(link, name, sizeof name, &len);
    rc = rc ? rc : read_head(link, '*', &count);
    if (!rc && (count < 0 || count > (long long)max))
        rc = link_unexpected("XREADGROUP", "another number of messages");
    for (long long i = 0; i < count && !rc; i++)
        rc = read_entry(session, &messages[(*count_out)++]);
    return rc;
}

static int peer_take(RunSession *session, RunMessage *messages, uint32_t max, uint32_t *count_out)
{
    char consumer[16], most[16], wait[16];
    const char *const texts[] = {"XREADGROUP", "GROUP", "g",       consumer, "COUNT", most,
                                 "BLOCK",      wait,    "STREAMS", "s",      ">",     NULL};
    snprintf(consumer, sizeof consumer, "c%u", session->number);
    snprintf(most, sizeof most, "%u", max);
    snprintf(wait, sizeof wait, "%d", RUN_TAKE_WAIT_MS);
    int rc = add_array(&session->link, 11);
    rc = rc ? rc : add_texts(&session->link, texts);
    rc = rc ? rc : link_flush(&session->link);
    return rc ? rc : read_entries(session, messages, max, count_out);
}

/* Two requests in one piece; each must answer with the number of messages. */
static int peer_ack(RunSession *session)
{
    static const char *const acknowledge[] = {"XACK", "s", "g", NULL};
    static const char *const delete[] = {"XDEL", "s", NULL};
    Link *link = &session->link;
    uint32_t count = session->taken;
    int rc = add_array(link, 3 + count);
    rc = rc ? rc : add_texts(link, acknowledge);
    for (uint32_t i = 0; i < count && !rc; i++)
        rc = add_bytes(link, session->ids[i], strlen(session->ids[i]));
    rc = rc ? rc : add_array(link, 2 + count);
    rc = rc ? rc : add_texts(link, delete);
    for (uint32_t i = 0; i < count && !rc; i++)
        rc = add_bytes(link, session->ids[i], strlen(session->ids[i]));
    rc = rc ? rc : link_flush(link);
    for (int i = 0; i < 2 && !rc; i++) {
        long long done = 0;
        rc = read_head(link, ':', &done);
        if (!rc && done != (long long)count)
            rc = link_unexpected(i ? "XDEL" : "XACK", "another number of messages");
    }
    session->taken = 0;
    return rc;
}

static int peer_left(RunStore *store, uint64_t *count_out)
{
    static const char *const texts[] = {"XLEN", "s", NULL};
    RunSession *session;
    long long count = 0;
    if (peer_session_open(store, &session) != 0)
        return -1;
    int rc = add_array(&session->link, 2);
    rc = rc ? rc : add_texts(&session->link, texts);
    rc = rc ? rc : link_flush(&session->link);
    rc = rc ? rc : read_head(&session->link, ':', &count);
    peer_session_close(session);
    *count_out = (uint64_t)count;
    return rc;
}

const RunPeer run_redis = {
    .name = "redis",
    .what = "a stream: XADD, XREADGROUP, XACK and XDEL; appendfsync always; a unix socket",
    .open = peer_open,
    .close = peer_close,
    .session_open = peer_session_open,
    .session_close = peer_session_close,
    .put = peer_put,
    .take = peer_take,
    .ack = peer_ack,
    .left = peer_left,
};
