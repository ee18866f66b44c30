/* peer_bare.c - a log and nothing else: two commits a message, those of several threads in groups.
 *
 * What is put and what is acknowledged is written to the log; the messages themselves wait in
 * memory, from where they are taken in order. The first who finds no group being written writes and
 * syncs all that was added so far; those who come meanwhile fill the next group.
 *
 * The file is written once with zeros, so that no group changes its length or its extents, and used
 * round and round. A group is a number of blocks; it begins with its number, its length, and how
 * many messages were put and acknowledged until then. */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    BLOCK = 4096,
    FILE_BYTES = 16 << 20,
    /* Each thread adds to one group at a time, RUN_BATCH messages at the most. */
    GROUP_BYTES = 1 << 20
};

typedef struct GroupHeader {
    uint64_t number;  /* from 1 on */
    uint64_t inverse; /* of its bits: nothing within a group looks like a header */
    uint64_t len;
    uint64_t put, acked;
} GroupHeader;

typedef struct Entry {
    uint64_t id;
    RunMessage message;
} Entry;

typedef struct Group {
    uint8_t bytes[GROUP_BYTES]; /* a header, then records */
    size_t len;
    pthread_cond_t done;
} Group;

/* All but the group that is being written, with the lock held. */
struct RunStore {
    int fd;
    pthread_mutex_t lock;
    Group groups[2];  /* number n is groups[n % 2] */
    uint64_t open;    /* number of the group that is being filled */
    uint64_t durable; /* of the last one on disk */
    int writing;      /* 1: the one before `open` is being written */
    int failed;       /* 1: the disk failed; nothing is on disk any more */
    uint64_t offset;  /* in the file, of the next group */
    uint64_t put, acked;
    Entry *entries; /* a ring: messages that wait */
    uint64_t first, last, capacity;
    pthread_cond_t arrived;
};

struct RunSession {
    RunStore *store;
    uint64_t ids[RUN_BATCH]; /* taken */
    uint32_t taken;
};

static int disk_error(const char *what)
{
    fprintf(stderr, "bench: bare: %s: %s\n", what, strerror(errno));
    return -1;
}

/* ---- The log -------------------------------------------------------------------------------- */

static void open_group(RunStore *store, uint64_t number)
{
    store->open = number;
    store->groups[number % 2].len = sizeof(GroupHeader);
}

/* Writes the group that was open, without the lock, and opens the next. */
static void write_group(RunStore *store)
{
    uint64_t number = store->open;
    Group *group = &store->groups[number % 2];
    GroupHeader header = {.number = number,
                          .inverse = ~number,
                          .len = group->len,
                          .put = store->put,
                          .acked = store->acked};
    size_t len = (group->len + BLOCK - 1) / BLOCK * BLOCK;
    if (store->offset + len > FILE_BYTES)
        store->offset = 0;
    off_t at = (off_t)store->offset;
    store->offset += len;
    store->writing = 1;
    open_group(store, number + 1);
    pthread_mutex_unlock(&store->lock);
    memcpy(group->bytes, &header, sizeof header);
    memset(group->bytes + group->len, 0, len - group->len);
    int ok = pwrite(store->fd, group->bytes, len, at) == (ssize_t)len && fdatasync(store->fd) == 0;
    if (!ok)
        disk_error("write");
    pthread_mutex_lock(&store->lock);
    store->writing = 0;
    store->failed |= !ok;
    store->durable = number;
    pthread_mutex_unlock(&store->lock);
    /* First one of the next group, who writes it. */
    pthread_cond_signal(&store->groups[(number + 1) % 2].done);
    pthread_cond_broadcast(&group->done);
    pthread_mutex_lock(&store->lock);
}

/* With the lock held, after something was added to group `number`. 0 when it is on disk. */
static int wait_durable(RunStore *store, uint64_t number)
{
    while (store->durable < number && !store->failed) {
        if (store->writing)
            pthread_cond_wait(&store->groups[number % 2].done, &store->lock);
        else
            write_group(store);
    }
    return store->failed ? -1 : 0;
}

static void add_record(RunStore *store, uint64_t id, const void *bytes, size_t len)
{
    Group *group = &store->groups[store->open % 2];
    memcpy(group->bytes + group->len, &id, sizeof id);
    if (len)
        memcpy(group->bytes + group->len + sizeof id, bytes, len);
    group->len += sizeof id + len;
}

/* ---- Opening -------------------------------------------------------------------------------- */

static int fill_file(const RunStore *store)
{
    static const uint8_t zeros[GROUP_BYTES];
    for (off_t at = 0; at < FILE_BYTES; at += GROUP_BYTES)
        if (pwrite(store->fd, zeros, GROUP_BYTES, at) != GROUP_BYTES)
            return disk_error("fill");
    return fsync(store->fd) == 0 ? 0 : disk_error("sync");
}

/* Only the counts of the last group matter. The newest round begins at the file's beginning and ends
 * before the first group whose number does not follow. */
static int read_file(RunStore *store)
{
    for (off_t at = 0; at < FILE_BYTES;) {
        GroupHeader header;
        if (pread(store->fd, &header, sizeof header, at) != (ssize_t)sizeof header)
            return disk_error("read");
        if (header.inverse != ~header.number || (at > 0 && header.number != store->durable + 1))
            break;
        store->durable = header.number;
        store->put = header.put;
        store->acked = header.acked;
        at += (off_t)((header.len + BLOCK - 1) / BLOCK * BLOCK);
    }
    return 0;
}

static int peer_close(RunStore *store)
{
    int rc = close(store->fd) == 0 ? 0 : disk_error("close");
    for (int i = 0; i < 2; i++)
        pthread_cond_destroy(&store->groups[i].done);
    pthread_cond_destroy(&store->arrived);
    pthread_mutex_destroy(&store->lock);
    free(store->entries);
    free(store);
    return rc;
}

static int peer_open(RunStore **store_out)
{
    struct stat st;
    RunStore *store = calloc(1, sizeof *store);
    if (!store) {
        fprintf(stderr, "bench: out of memory\n");
        return -1;
    }
    store->fd = open("log", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (store->fd < 0 || fstat(store->fd, &st) != 0) {
        disk_error("open");
        free(store);
        return -1;
    }
    pthread_mutex_init(&store->lock, NULL);
    pthread_cond_init(&store->arrived, NULL);
    for (int i = 0; i < 2; i++)
        pthread_cond_init(&store->groups[i].done, NULL);
    if ((st.st_size == 0 ? fill_file(store) : read_file(store)) != 0) {
        peer_close(store);
        return -1;
    }
    open_group(store, store->durable + 1);
    *store_out = store;
    return 0;
}

static int peer_session_open(RunStore *store, RunSession **session_out)
{
    RunSession *session = calloc(1, sizeof *session);
    if (!session)
        return -1;
    session->store = store;
    *session_out = session;
    return 0;
}

static void peer_session_close(RunSession *session)
{
    free(session);
}

/* ---- Messages ------------------------------------------------------------------------------- */

/* Room for a batch more. */
static int grow(RunStore *store)
{
    if (store->last - store->first + RUN_BATCH <= store->capacity)
        return 0;
    uint64_t capacity = store->capacity ? 2 * store->capacity : 1024;
    Entry *entries = malloc(capacity * sizeof *entries);
    if (!entries) {
        fprintf(stderr, "bench: out of memory\n");
        return -1;
    }
    for (uint64_t i = store->first; i < store->last; i++)
        entries[i % capacity] = store->entries[i % store->capacity];
    free(store->entries);
    store->entries = entries;
    store->capacity = capacity;
    return 0;
}

static int peer_put(RunSession *session, const RunMessage *messages, uint32_t count)
{
    RunStore *store = session->store;
    pthread_mutex_lock(&store->lock);
    uint64_t number = store->open, id = store->put;
    for (uint32_t i = 0; i < count; i++)
        add_record(store, id + i, messages[i].payload, RUN_PAYLOAD);
    store->put += count;
    int rc = wait_durable(store, number);
    rc = rc ? rc : grow(store);
    for (uint32_t i = 0; i < count && !rc; i++)
        store->entries[store->last++ % store->capacity] =
            (Entry){.id = id + i, .message = messages[i]};
    pthread_cond_signal(&store->arrived);
    pthread_mutex_unlock(&store->lock);
    return rc;
}

static int peer_take(RunSession *session, RunMessage *messages, uint32_t max, uint32_t *count_out)
{
    RunStore *store = session->store;
    struct timespec until;
    uint32_t count = 0;
    pthread_mutex_lock(&store->lock);
    if (store->first == store->last) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += RUN_TAKE_WAIT_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        while (store->first == store->last &&
               pthread_cond_timedwait(&store->arrived, &store->lock, &until) == 0)
            continue;
    }
    for (; count < max && store->first < store->last; count++) {
        const Entry *entry = &store->entries[store->first++ % store->capacity];
        session->ids[session->taken++] = entry->id;
        messages[count] = entry->message;
    }
    pthread_mutex_unlock(&store->lock);
    *count_out = count;
    return 0;
}

static int peer_ack(RunSession *session)
{
    RunStore *store = session->store;
    pthread_mutex_lock(&store->lock);
    uint64_t number = store->open;
    for (uint32_t i = 0; i < session->taken; i++)
        add_record(store, session->ids[i], NULL, 0);
    store->acked += session->taken;
    int rc = wait_durable(store, number);
    pthread_mutex_unlock(&store->lock);
    session->taken = 0;
    return rc;
}

static int peer_left(RunStore *store, uint64_t *count_out)
{
    *count_out = store->put - store->acked;
    return 0;
}

const RunPeer run_bare = {
    .name = "bare",
    .what = "no queue: a log with group commit, two commits a message, messages in memory",
    .open = peer_open,
    .close = peer_close,
    .session_open = peer_session_open,
    .session_close = peer_session_close,
    .put = peer_put,
    .take = peer_take,
    .ack = peer_ack,
    .left = peer_left,
};
