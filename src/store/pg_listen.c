/* pg_listen.c - see pg_listen.h.
 *
 * A message is the keys, as TABLE:HEX separated by commas, or "*" when there are too many: then all
 * waiters of the receiver look. */
#include "store/pg_listen.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/assert.h"
#include "common/fd.h"
#include "common/mem.h"
#include "store/pg_conn.h"

enum {
    MESSAGE_MAX = 7900, /* a server takes up to 8000 bytes */
    KEYS_MAX = 60,
    KEY_TEXT_MAX = 12 + 2 * WAKE_KEY_BYTES,
    FIRST_PAUSE_MS = 100,
    LONGEST_PAUSE_MS = 2000,
    CHANNEL_MAX = PG_SCHEMA_MAX + 16,
};

_Static_assert(KEYS_MAX *KEY_TEXT_MAX < MESSAGE_MAX, "all keys fit one message");

struct PgListener {
    const PgUrl *url;
    Wake *wake;
    SAP_ATOMIC(uint64_t) * version;
    int wake_fd; /* written to when there is something to send, or it is to stop */
    pthread_t thread;
    PgConn *first; /* what the thread begins with */
    Mutex lock;    /* of the fields below */
    bool stop;
    bool all; /* more keys than are kept */
    uint32_t count;
    WakeKey keys[KEYS_MAX];
};

/* ---- Keys to send ---------------------------------------------------------------------------- */

static void ring_thread(PgListener *listener)
{
    uint64_t one = 1;
    (void)!write(listener->wake_fd, &one, sizeof one); /* fails only when it is rung already */
}

static bool has_key(const PgListener *listener, const WakeKey *key)
{
    for (uint32_t i = 0; i < listener->count; i++) {
        const WakeKey *kept = &listener->keys[i];
        if (kept->table == key->table && kept->len == key->len &&
            memcmp(kept->bytes, key->bytes, key->len) == 0) {
            return true;
        }
    }
    return false;
}

void pg_listener_tell(PgListener *listener, const WakeKey *keys, uint32_t count)
{
    mutex_lock(&listener->lock);
    bool was_empty = listener->count == 0 && !listener->all;
    for (uint32_t i = 0; i < count && !listener->all; i++) {
        if (has_key(listener, &keys[i])) {
            continue;
        }
        if (listener->count == KEYS_MAX) {
            listener->all = true;
        } else {
            listener->keys[listener->count++] = keys[i];
        }
    }
    mutex_unlock(&listener->lock);
    if (was_empty && count > 0) {
        ring_thread(listener);
    }
}

static void append_key(char *text, size_t *len, const WakeKey *key)
{
    static const char digits[] = "0123456789abcdef";
    *len += (size_t)snprintf(text + *len, KEY_TEXT_MAX, "%s%" PRIu32 ":", *len == 0 ? "" : ",",
                             key->table);
    for (uint32_t i = 0; i < key->len; i++) {
        text[(*len)++] = digits[key->bytes[i] >> 4];
        text[(*len)++] = digits[key->bytes[i] & 15];
    }
    text[*len] = '\0';
}

/* Takes what there is to send as a message. False: nothing. */
static bool take_message(PgListener *listener, char text[MESSAGE_MAX])
{
    size_t len = 0;
    text[0] = '\0';
    mutex_lock(&listener->lock);
    if (listener->all) {
        (void)snprintf(text, MESSAGE_MAX, "*");
    } else {
        for (uint32_t i = 0; i < listener->count; i++) {
            append_key(text, &len, &listener->keys[i]);
        }
    }
    listener->all = false;
    listener->count = 0;
    mutex_unlock(&listener->lock);
    SAP_ASSERT(len < MESSAGE_MAX);
    return text[0] != '\0';
}

/* ---- Messages received ----------------------------------------------------------------------- */

static uint64_t next_version(PgListener *listener)
{
    return atomic_add_full(listener->version, 1) + 1;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads one key, and moves *at behind it. False: it is not one. */
static bool read_key(const char **at, WakeKey *key)
{
    char *end = NULL;
    unsigned long table = strtoul(*at, &end, 10);
    if (end == *at || *end != ':' || table > UINT16_MAX) {
        return false;
    }
    key->table = (uint32_t)table;
    key->len = 0;
    for (end++; hex_value(end[0]) >= 0 && hex_value(end[1]) >= 0 && key->len < WAKE_KEY_BYTES;
         end += 2) {
        key->bytes[key->len++] = (uint8_t)(hex_value(end[0]) * 16 + hex_value(end[1]));
    }
    *at = end;
    return *end == ',' || *end == '\0';
}

static void receive_message(PgListener *listener, const char *text)
{
    while (*text != '\0') {
        WakeKey key;
        if (!read_key(&text, &key)) {
            wake_all(listener->wake, next_version(listener));
            return;
        }
        wake_note(listener->wake, next_version(listener), &key, 1);
        text += *text == ',';
    }
}

static void receive_messages(PgListener *listener, PgConn *conn)
{
    PGnotify *notify = NULL;
    while ((notify = PQnotifies(conn->pg)) != NULL) {
        if (notify->be_pid != PQbackendPID(conn->pg)) {
            receive_message(listener, notify->extra);
        }
        PQfreemem(notify);
    }
}

/* ---- The thread ------------------------------------------------------------------------------ */

static bool is_stopping(PgListener *listener)
{
    mutex_lock(&listener->lock);
    bool stop = listener->stop;
    mutex_unlock(&listener->lock);
    return stop;
}

/* Sleeps until it is rung, the server has written (conn NULL: without one), or the time is over. */
static void wait_for_work(PgListener *listener, PgConn *conn, int timeout_ms)
{
    struct pollfd fds[2] = {
        {listener->wake_fd, POLLIN, 0},
        {conn == NULL ? -1 : PQsocket(conn->pg), POLLIN, 0},
    };
    uint64_t rung = 0;
    (void)poll(fds, 2, timeout_ms);
    if (fds[0].revents != 0) {
        (void)!read(listener->wake_fd, &rung, sizeof rung); /* non-blocking */
    }
}

static void name_channel(const PgListener *listener, char channel[CHANNEL_MAX])
{
    (void)snprintf(channel, CHANNEL_MAX, "sapling:%s", listener->url->schema);
}

/* A hint needs no disk: commits of this connection do not wait for it. */
static int connect_listener(const PgListener *listener, PgConn **conn_out, char *why)
{
    char channel[CHANNEL_MAX];
    char sql[CHANNEL_MAX + 16];
    PgConn *conn = NULL;
    name_channel(listener, channel);
    (void)snprintf(sql, sizeof sql, "LISTEN \"%s\"", channel);
    int rc = pg_conn_open(listener->url, &conn, why);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = pg_conn_sql(conn, "SET synchronous_commit = off", NULL, 0, PG_ANSWER_OK);
    rc = rc == SAP_OK ? pg_conn_sql(conn, sql, NULL, 0, PG_ANSWER_OK) : rc;
    rc = rc == SAP_OK ? pg_conn_finish(conn, NULL) : rc;
    if (rc != SAP_OK) {
        (void)snprintf(why, PG_WHY_MAX, "%.120s: LISTEN failed: %.150s", listener->url->shown,
                       conn->text);
        pg_conn_close(conn);
        return rc;
    }
    *conn_out = conn;
    return SAP_OK;
}

/* Until the connection is lost or it is to stop. */
static void serve_connection(PgListener *listener, PgConn *conn)
{
    char channel[CHANNEL_MAX];
    char message[MESSAGE_MAX];
    int rc = SAP_OK;
    name_channel(listener, channel);
    while (rc == SAP_OK && !is_stopping(listener)) {
        if (take_message(listener, message)) {
            const char *params[] = {channel, message};
            rc = pg_conn_sql(conn, "SELECT pg_catalog.pg_notify($1, $2)", params, 2, PG_ANSWER_OK);
            rc = rc == SAP_OK ? pg_conn_finish(conn, NULL) : rc;
        } else {
            wait_for_work(listener, conn, -1);
            rc = pg_conn_is_alive(conn) ? SAP_OK : SAP_IO;
        }
        receive_messages(listener, conn);
    }
}

/* Connects again after pauses that grow. NULL: it is to stop. */
static PgConn *reconnect(PgListener *listener)
{
    char why[PG_WHY_MAX];
    PgConn *conn = NULL;
    for (int pause_ms = FIRST_PAUSE_MS; !is_stopping(listener);) {
        if (connect_listener(listener, &conn, why) == SAP_OK) {
            return conn;
        }
        wait_for_work(listener, NULL, pause_ms);
        pause_ms = pause_ms * 2 < LONGEST_PAUSE_MS ? pause_ms * 2 : LONGEST_PAUSE_MS;
    }
    return NULL;
}

static void *listener_main(void *arg)
{
    PgListener *listener = (PgListener *)arg;
    PgConn *conn = listener->first;
    while (conn != NULL) {
        serve_connection(listener, conn);
        pg_conn_close(conn);
        conn = reconnect(listener);
        /* What was committed while nobody listened was not heard of. */
        wake_all(listener->wake, next_version(listener));
    }
    return NULL;
}

int pg_listener_start(const PgUrl *url, Wake *wake, SAP_ATOMIC(uint64_t) * version,
                      PgListener **listener_out, char why[PG_WHY_MAX])
{
    int rc = SAP_NOMEM;
    PgListener *listener = (PgListener *)mem_zalloc(MEM_STORE, sizeof *listener);
    if (listener == NULL) {
        return rc;
    }
    listener->url = url;
    listener->wake = wake;
    listener->version = version;
    listener->wake_fd = fd_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (listener->wake_fd < 0) {
        goto no_fd;
    }
    if (!mutex_init(&listener->lock)) {
        goto no_lock;
    }
    rc = connect_listener(listener, &listener->first, why);
    if (rc != SAP_OK) {
        goto no_conn;
    }
    if (pthread_create(&listener->thread, NULL, listener_main, listener) != 0) {
        rc = SAP_NOMEM;
        goto no_thread;
    }
    *listener_out = listener;
    return SAP_OK;

no_thread:
    pg_conn_close(listener->first);
no_conn:
    mutex_destroy(&listener->lock);
no_lock:
    (void)close(listener->wake_fd);
no_fd:
    mem_free(MEM_STORE, listener, sizeof *listener);
    return rc;
}

void pg_listener_stop(PgListener *listener)
{
    if (listener == NULL) {
        return;
    }
    mutex_lock(&listener->lock);
    listener->stop = true;
    mutex_unlock(&listener->lock);
    ring_thread(listener);
    (void)pthread_join(listener->thread, NULL);
    mutex_destroy(&listener->lock);
    (void)close(listener->wake_fd);
    mem_free(MEM_STORE, listener, sizeof *listener);
}
