/* http_peers.c - see http_peers.h. */
#include "node/http_peers.h"

#include <pthread.h>
#include <sys/socket.h>

#include "common/assert.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/sync.h"

#define MS_NS UINT64_C(1000000)

enum { LOOK_EVERY_MS = 250 };

struct Peers {
    Mutex lock; /* of everything below, and of the links and deadlines of peers */
    Cond changed;
    Peer *first;
    Counter *cut; /* NULL: nobody counts */
    bool stopping;
    bool sleeps; /* the thread does, until there is a deadline */
    pthread_t thread;
};

/* Returns whether some peer has a deadline. */
static bool cut_late(Peers *peers)
{
    uint64_t now_ns = clock_mono_ns(NULL);
    bool any = false;
    for (Peer *peer = peers->first; peer != NULL; peer = peer->next) {
        SAP_ASSERT(peer->next == NULL || peer->next->previous == peer);
        if (peer->deadline_ns != 0 && now_ns >= peer->deadline_ns) {
            (void)shutdown(peer->fd, SHUT_RDWR);
            peer->deadline_ns = 0;
            if (peers->cut != NULL) {
                counter_add(peers->cut, 1);
            }
        }
        any |= peer->deadline_ns != 0;
    }
    return any;
}

static void *watch_peers(void *arg)
{
    Peers *peers = (Peers *)arg;
    mutex_lock(&peers->lock);
    while (!peers->stopping) {
        if (cut_late(peers)) {
            cond_wait_ns(&peers->changed, &peers->lock, LOOK_EVERY_MS * MS_NS);
        } else {
            peers->sleeps = true;
            cond_wait(&peers->changed, &peers->lock);
            peers->sleeps = false;
        }
    }
    mutex_unlock(&peers->lock);
    return NULL;
}

static void wake_watcher(Peers *peers)
{
    if (peers->sleeps) {
        cond_signal(&peers->changed);
    }
}

int peers_start(Counter *cut, Peers **peers_out)
{
    Peers *peers = (Peers *)mem_zalloc(MEM_COMMON, sizeof *peers);
    if (peers == NULL) {
        return SAP_NOMEM;
    }
    peers->cut = cut;
    if (!mutex_init(&peers->lock)) {
        goto free_peers;
    }
    if (!cond_init(&peers->changed)) {
        goto destroy_lock;
    }
    if (pthread_create(&peers->thread, NULL, watch_peers, peers) != 0) {
        goto destroy_cond;
    }
    (void)pthread_setname_np(peers->thread, "http-peers");
    *peers_out = peers;
    return SAP_OK;

destroy_cond:
    cond_destroy(&peers->changed);
destroy_lock:
    mutex_destroy(&peers->lock);
free_peers:
    mem_free(MEM_COMMON, peers, sizeof *peers);
    return SAP_NOMEM;
}

void peers_stop(Peers *peers)
{
    if (peers == NULL) {
        return;
    }
    mutex_lock(&peers->lock);
    peers->stopping = true;
    cond_signal(&peers->changed);
    mutex_unlock(&peers->lock);
    pthread_join(peers->thread, NULL);
    SAP_ASSERT(peers->first == NULL);
    cond_destroy(&peers->changed);
    mutex_destroy(&peers->lock);
    mem_free(MEM_COMMON, peers, sizeof *peers);
}

int peers_add(Peers *peers, int fd, const Caller *caller, uint64_t ms, Peer **peer_out)
{
    Peer *peer = (Peer *)mem_zalloc(MEM_COMMON, sizeof *peer);
    if (peer == NULL) {
        return SAP_NOMEM;
    }
    peer->peers = peers;
    peer->fd = fd;
    peer->caller = *caller;
    mutex_lock(&peers->lock);
    peer->next = peers->first;
    if (peer->next != NULL) {
        peer->next->previous = peer;
    }
    peers->first = peer;
    peer->deadline_ns = clock_mono_ns(NULL) + ms * MS_NS;
    wake_watcher(peers);
    mutex_unlock(&peers->lock);
    *peer_out = peer;
    return SAP_OK;
}

void peers_remove(Peer *peer)
{
    Peers *peers = peer->peers;
    mutex_lock(&peers->lock);
    *(peer->previous == NULL ? &peers->first : &peer->previous->next) = peer->next;
    if (peer->next != NULL) {
        peer->next->previous = peer->previous;
    }
    mutex_unlock(&peers->lock);
    mem_free(MEM_COMMON, peer, sizeof *peer);
}

void peers_allow(Peer *peer, uint64_t ms)
{
    uint64_t deadline_ns = ms == 0 ? 0 : clock_mono_ns(NULL) + ms * MS_NS;
    mutex_lock(&peer->peers->lock);
    peer->deadline_ns = deadline_ns;
    if (deadline_ns != 0) {
        wake_watcher(peer->peers);
    }
    mutex_unlock(&peer->peers->lock);
}
