#include "support/store_proxy.h"

#include "common/bytes.h"
#include "support/expect.h"

#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    NAMES = 8, /* prepared statements and portals of COMMIT, per connection */
    NAME_MAX_LEN = 64,
    FIRST_BUFFER = 16384,
    HEAD = 5,       /* a type and a length that counts itself but not the type */
    START_HEAD = 8, /* of a message without a type: length and code */
    CODE_CANCEL = 80877102,
    CODE_SSL = 80877103,
    CODE_GSS = 80877104,
};

typedef struct Names {
    char all[NAMES][NAME_MAX_LEN];
    uint32_t count;
} Names;

typedef struct Link Link;

struct Link {
    StoreProxy *proxy;
    int client_fd;
    int server_fd;
    pthread_t up;   /* client to server */
    pthread_t down; /* server to client */
    Link *next;
    bool is_cut;
    /* Of the thread `up`. */
    Names statements;
    Names portals;
    /* Under the proxy's lock. */
    bool cuts_at_answer; /* a COMMIT was forwarded whose answer must not be */
};

struct StoreProxy {
    struct sockaddr_un server;
    int listen_fd;
    uint16_t port;
    pthread_t acceptor;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    Link *links;
    ProxyOrder order;
    uint32_t nth;
    bool has_cut;
    bool is_black_hole;
    bool is_ending;
    char version[3]; /* "": unchanged */
    ProxyCounts counts;
};

/* ---- Bytes ----------------------------------------------------------------------------------- */

typedef struct Pipe {
    uint8_t *bytes;
    size_t len;
    size_t cap;
} Pipe;

/* False: the connection has ended. */
static bool read_more(Pipe *pipe, int fd)
{
    if (pipe->len == pipe->cap) {
        pipe->cap = pipe->cap == 0 ? FIRST_BUFFER : pipe->cap * 2;
        pipe->bytes = realloc(pipe->bytes, pipe->cap);
        EXPECT(pipe->bytes != NULL, "no memory");
    }
    ssize_t got = 0;
    do {
        got = recv(fd, pipe->bytes + pipe->len, pipe->cap - pipe->len, 0);
    } while (got < 0 && errno == EINTR);
    if (got > 0) {
        pipe->len += (size_t)got;
    }
    return got > 0;
}

static bool write_all(int fd, const uint8_t *bytes, size_t len)
{
    while (len > 0) {
        ssize_t put = send(fd, bytes, len, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return false;
        }
        bytes += put;
        len -= (size_t)put;
    }
    return true;
}

static void pipe_drop(Pipe *pipe, size_t len)
{
    pipe->len -= len;
    memmove(pipe->bytes, pipe->bytes + len, pipe->len);
}

/* The length of the first message, 0 while it is not all there. */
static size_t first_message(const Pipe *pipe, bool has_type)
{
    size_t at = has_type ? 1 : 0;
    if (pipe->len < at + 4) {
        return 0;
    }
    size_t len = load_u32be(pipe->bytes + at) + at;
    return pipe->len < len ? 0 : len;
}

/* ---- COMMIT ---------------------------------------------------------------------------------- */

/* The text at `at`, which ends before `end`; moves *at past it. NULL: it does not end. */
static const char *next_text(const uint8_t **at, const uint8_t *end)
{
    const uint8_t *zero = memchr(*at, 0, (size_t)(end - *at));
    const char *text = (const char *)*at;
    if (zero == NULL) {
        return NULL;
    }
    *at = zero + 1;
    return text;
}

static void names_set(Names *names, const char *name, bool is_there)
{
    uint32_t i = 0;
    while (i < names->count && strcmp(names->all[i], name) != 0) {
        i++;
    }
    if (!is_there && i < names->count) {
        memcpy(names->all[i], names->all[--names->count], NAME_MAX_LEN);
    } else if (is_there && i == names->count) {
        EXPECT(i < NAMES && strlen(name) < NAME_MAX_LEN, "too many statements of COMMIT");
        (void)snprintf(names->all[names->count++], NAME_MAX_LEN, "%s", name);
    }
}

static bool names_have(const Names *names, const char *name)
{
    for (uint32_t i = 0; i < names->count; i++) {
        if (strcmp(names->all[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* The word, and not a part of one such as in READ COMMITTED. */
static bool text_commits(const char *text)
{
    static const char word[] = "COMMIT";
    const size_t len = sizeof word - 1;
    for (const char *at = text; *at != 0; at++) {
        bool begins = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
        if (begins && strncasecmp(at, word, len) == 0 && !isalnum((unsigned char)at[len])) {
            return true;
        }
    }
    return false;
}

/* Whether the server executes a COMMIT when it gets this message; notes what was prepared. */
static bool message_commits(Link *link, const uint8_t *bytes, size_t len)
{
    const uint8_t *at = bytes + HEAD;
    const uint8_t *end = bytes + len;
    const char *name = next_text(&at, end);
    const char *second = NULL;
    if (name == NULL) {
        return false;
    }
    switch (bytes[0]) {
    case 'Q':
        return text_commits(name);
    case 'P':
        second = next_text(&at, end);
        names_set(&link->statements, name, second != NULL && text_commits(second));
        return false;
    case 'B':
        second = next_text(&at, end);
        names_set(&link->portals, name, second != NULL && names_have(&link->statements, second));
        return false;
    case 'E':
        return names_have(&link->portals, name);
    default:
        return false;
    }
}

/* ---- Cutting --------------------------------------------------------------------------------- */

/* Under the lock. The threads of the link see the end of their connections. */
static void cut_link(Link *link)
{
    if (!link->is_cut) {
        link->is_cut = true;
        link->proxy->counts.cuts++;
        (void)shutdown(link->server_fd, SHUT_RDWR);
        (void)shutdown(link->client_fd, SHUT_RDWR);
    }
}

static void carry_out(Link *link)
{
    link->proxy->has_cut = true;
    link->proxy->order = PROXY_PASS;
    cut_link(link);
}

/* Under the lock: waits while nothing is to be forwarded. */
static void wait_in_hole(StoreProxy *proxy, const Link *link)
{
    while (proxy->is_black_hole && !proxy->is_ending && !link->is_cut) {
        pthread_cond_wait(&proxy->changed, &proxy->lock);
    }
}

static bool is_nth(StoreProxy *proxy)
{
    return --proxy->nth == 0;
}

/* Under the lock. What becomes of a client's message: how many of its bytes are forwarded. Cuts after
 * that where *cuts is set. */
static size_t judge_client_message(Link *link, size_t len, bool commits, bool *cuts)
{
    StoreProxy *proxy = link->proxy;
    proxy->counts.client_messages++;
    proxy->counts.commits += commits;
    *cuts = false;
    if (proxy->order == PROXY_CUT_AT_CLIENT && is_nth(proxy)) {
        *cuts = true;
        return 0;
    }
    bool is_one = commits && proxy->order >= PROXY_CUT_BEFORE_COMMIT &&
                  proxy->order <= PROXY_CUT_AFTER_COMMIT && is_nth(proxy);
    if (is_one && proxy->order == PROXY_CUT_AFTER_COMMIT) {
        link->cuts_at_answer = true;
        proxy->order = PROXY_PASS;
        return len;
    }
    *cuts = is_one;
    return !is_one ? len : proxy->order == PROXY_CUT_IN_COMMIT ? len / 2 : 0;
}

/* Forwards a client's message. False: the connection has ended. */
static bool forward_client_message(Link *link, const uint8_t *bytes, size_t len, bool commits)
{
    StoreProxy *proxy = link->proxy;
    bool cuts = false;
    pthread_mutex_lock(&proxy->lock);
    wait_in_hole(proxy, link);
    size_t forwarded = judge_client_message(link, len, commits, &cuts);
    pthread_mutex_unlock(&proxy->lock);
    bool is_open = write_all(link->server_fd, bytes, forwarded);
    if (cuts) {
        pthread_mutex_lock(&proxy->lock);
        carry_out(link);
        pthread_mutex_unlock(&proxy->lock);
    }
    return is_open && !cuts;
}

static bool is_commit_answer(const uint8_t *bytes, size_t len)
{
    static const char tag[] = "COMMIT";
    return bytes[0] == 'C' && len == HEAD + sizeof tag &&
           memcmp(bytes + HEAD, tag, sizeof tag) == 0;
}

static void rewrite_version(const StoreProxy *proxy, uint8_t *bytes, size_t len)
{
    static const char name[] = "server_version";
    if (bytes[0] == 'S' && len > HEAD + sizeof name + 2 && proxy->version[0] != 0 &&
        memcmp(bytes + HEAD, name, sizeof name) == 0) {
        memcpy(bytes + HEAD + sizeof name, proxy->version, 2);
    }
}

static bool forward_server_message(Link *link, uint8_t *bytes, size_t len)
{
    StoreProxy *proxy = link->proxy;
    pthread_mutex_lock(&proxy->lock);
    wait_in_hole(proxy, link);
    proxy->counts.server_messages++;
    rewrite_version(proxy, bytes, len);
    bool cuts = (proxy->order == PROXY_CUT_AT_SERVER && is_nth(proxy)) ||
                (link->cuts_at_answer && is_commit_answer(bytes, len));
    if (cuts) {
        carry_out(link);
    }
    bool is_cut = link->is_cut;
    pthread_mutex_unlock(&proxy->lock);
    return !is_cut && write_all(link->client_fd, bytes, len);
}

/* ---- Links ----------------------------------------------------------------------------------- */

/* Both threads of a link call it at their end: the peer of one that has ended is to end too. */
static void shut_link(Link *link)
{
    (void)shutdown(link->server_fd, SHUT_RDWR);
    (void)shutdown(link->client_fd, SHUT_RDWR);
}

/* Declines encryption until the client sends what is for the server. False: the connection ended. */
static bool pass_start(Link *link, Pipe *pipe)
{
    for (;;) {
        size_t len = first_message(pipe, false);
        if (len < START_HEAD) {
            if (!read_more(pipe, link->client_fd)) {
                return false;
            }
            continue;
        }
        uint32_t code = load_u32be(pipe->bytes + 4);
        if (code == CODE_SSL || code == CODE_GSS) {
            pipe_drop(pipe, len);
            if (!write_all(link->client_fd, (const uint8_t *)"N", 1)) {
                return false;
            }
            continue;
        }
        bool is_open = forward_client_message(link, pipe->bytes, len, false);
        pipe_drop(pipe, len);
        return is_open && code != CODE_CANCEL;
    }
}

static void *pump_up(void *arg)
{
    Link *link = arg;
    Pipe pipe = {0};
    bool is_open = pass_start(link, &pipe);
    while (is_open) {
        size_t len = first_message(&pipe, true);
        if (len == 0) {
            is_open = read_more(&pipe, link->client_fd);
            continue;
        }
        is_open =
            forward_client_message(link, pipe.bytes, len, message_commits(link, pipe.bytes, len));
        pipe_drop(&pipe, len);
    }
    free(pipe.bytes);
    shut_link(link);
    return NULL;
}

static void *pump_down(void *arg)
{
    Link *link = arg;
    Pipe pipe = {0};
    bool is_open = true;
    while (is_open) {
        size_t len = first_message(&pipe, true);
        if (len == 0) {
            is_open = read_more(&pipe, link->server_fd);
            continue;
        }
        is_open = forward_server_message(link, pipe.bytes, len);
        pipe_drop(&pipe, len);
    }
    free(pipe.bytes);
    shut_link(link);
    return NULL;
}

/* A server that is down refuses: the client is closed at once, as a connection that was lost. */
static void start_link(StoreProxy *proxy, int client_fd)
{
    int on = 1;
    int server_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT(server_fd >= 0, "no socket");
    (void)setsockopt(client_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(server_fd, (struct sockaddr *)&proxy->server, sizeof proxy->server) != 0) {
        (void)close(server_fd);
        (void)close(client_fd);
        return;
    }
    Link *link = calloc(1, sizeof *link);
    EXPECT(link != NULL, "no memory");
    link->proxy = proxy;
    link->client_fd = client_fd;
    link->server_fd = server_fd;
    pthread_mutex_lock(&proxy->lock);
    proxy->counts.connections++;
    link->next = proxy->links;
    proxy->links = link;
    EXPECT(pthread_create(&link->up, NULL, pump_up, link) == 0 &&
               pthread_create(&link->down, NULL, pump_down, link) == 0,
           "no thread");
    pthread_mutex_unlock(&proxy->lock);
}

static void *accept_links(void *arg)
{
    StoreProxy *proxy = arg;
    for (;;) {
        int fd = accept4(proxy->listen_fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0) {
            start_link(proxy, fd);
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return NULL; /* proxy_end() has shut it down */
        }
    }
}

/* ---- The proxy ------------------------------------------------------------------------------- */

StoreProxy *proxy_start(const char *socket_path)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    StoreProxy *proxy = calloc(1, sizeof *proxy);
    EXPECT(proxy != NULL, "no memory");
    proxy->server.sun_family = AF_UNIX;
    EXPECT(strlen(socket_path) < sizeof proxy->server.sun_path, "too long a path");
    (void)snprintf(proxy->server.sun_path, sizeof proxy->server.sun_path, "%s", socket_path);
    EXPECT(pthread_mutex_init(&proxy->lock, NULL) == 0, "no mutex");
    EXPECT(pthread_cond_init(&proxy->changed, NULL) == 0, "no condition");
    proxy->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT(proxy->listen_fd >= 0 &&
               bind(proxy->listen_fd, (struct sockaddr *)&address, sizeof address) == 0 &&
               getsockname(proxy->listen_fd, (struct sockaddr *)&address, &len) == 0 &&
               listen(proxy->listen_fd, SOMAXCONN) == 0,
           "no port of the loopback");
    proxy->port = ntohs(address.sin_port);
    EXPECT(pthread_create(&proxy->acceptor, NULL, accept_links, proxy) == 0, "no thread");
    return proxy;
}

uint16_t proxy_port(const StoreProxy *proxy)
{
    return proxy->port;
}

void proxy_cut_all(StoreProxy *proxy)
{
    pthread_mutex_lock(&proxy->lock);
    for (Link *link = proxy->links; link != NULL; link = link->next) {
        cut_link(link);
    }
    pthread_cond_broadcast(&proxy->changed);
    pthread_mutex_unlock(&proxy->lock);
}

void proxy_end(StoreProxy *proxy)
{
    pthread_mutex_lock(&proxy->lock);
    proxy->is_ending = true;
    pthread_mutex_unlock(&proxy->lock);
    (void)shutdown(proxy->listen_fd, SHUT_RDWR);
    EXPECT(pthread_join(proxy->acceptor, NULL) == 0, "no join");
    (void)close(proxy->listen_fd);
    proxy_cut_all(proxy);
    for (Link *link = proxy->links; link != NULL;) {
        Link *next = link->next;
        EXPECT(pthread_join(link->up, NULL) == 0 && pthread_join(link->down, NULL) == 0, "no join");
        (void)close(link->client_fd);
        (void)close(link->server_fd);
        free(link);
        link = next;
    }
    pthread_cond_destroy(&proxy->changed);
    pthread_mutex_destroy(&proxy->lock);
    free(proxy);
}

void proxy_order(StoreProxy *proxy, ProxyOrder order, uint32_t nth)
{
    pthread_mutex_lock(&proxy->lock);
    proxy->order = order;
    proxy->nth = nth;
    proxy->has_cut = false;
    for (Link *link = proxy->links; link != NULL; link = link->next) {
        link->cuts_at_answer = false;
    }
    pthread_mutex_unlock(&proxy->lock);
}

bool proxy_has_cut(StoreProxy *proxy)
{
    pthread_mutex_lock(&proxy->lock);
    bool has_cut = proxy->has_cut;
    pthread_mutex_unlock(&proxy->lock);
    return has_cut;
}

void proxy_black_hole(StoreProxy *proxy, bool on)
{
    pthread_mutex_lock(&proxy->lock);
    proxy->is_black_hole = on;
    pthread_cond_broadcast(&proxy->changed);
    pthread_mutex_unlock(&proxy->lock);
}

void proxy_set_version(StoreProxy *proxy, const char *digits)
{
    pthread_mutex_lock(&proxy->lock);
    (void)snprintf(proxy->version, sizeof proxy->version, "%s", digits == NULL ? "" : digits);
    pthread_mutex_unlock(&proxy->lock);
}

ProxyCounts proxy_counts(StoreProxy *proxy)
{
    pthread_mutex_lock(&proxy->lock);
    ProxyCounts counts = proxy->counts;
    pthread_mutex_unlock(&proxy->lock);
    return counts;
}
