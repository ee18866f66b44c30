/* remote.h - what access.h offers, done by the owner of the file. See wire.h and server.h. */
#ifndef SAPLING_NODE_REMOTE_H
#define SAPLING_NODE_REMOTE_H

#include "node/local.h"
#include "node/wire.h"

/* An owner may be stopped, and then neither answers nor goes away. One that keeps silent is asked for a
 * greeting on a second connection: a live one gives it at once, whatever it is at work on, and is
 * waited for as long as it lives. */
typedef struct Remote {
    int fd; /* -1: not connected */
    bool greeted;
    uint64_t owner_pid;
    const char *path;                          /* of the file; borrowed */
    uint32_t patience_ms;                      /* with an owner that gives no sign of life */
    void (*note)(const char *text, void *ctx); /* what is waited for; may be NULL */
    void *note_ctx;
    Buf request;
    Buf reply;
    bool received;            /* some WIRE_DATA of the present request was given to its function */
    sap_progress_fn progress; /* of the present request; NULL: nobody wants to know */
    void *progress_ctx;
} Remote;

/* Connects to PATH.sock; not for one that is connected. SAP_BUSY: nobody serves there, or the owner does
 * not answer, which the reason tells. *dead_out: the socket is that of an owner that died. SAP_INVALID:
 * an owner of another version. SAP_IO, SAP_NOMEM. */
int remote_connect(Remote *remote, bool *dead_out, Reason *reason);
/* Accepts what is not connected. Also after a failure in mid-answer. */
void remote_disconnect(Remote *remote);
/* Frees what is in it. */
void remote_release(Remote *remote);

enum {
    /* The owner closed the file before it began with the request: open it again, and ask again. */
    REMOTE_GONE = -1,
    /* The connection ended before the answer did: whether the request was performed is not known.
     * remote->received says whether part of the answer came. */
    REMOTE_LOST = -2,
};

/* Sends the request of `kind` whose payload is in remote->request; fn gets the payload of each
 * WIRE_DATA, and remote->progress what each WIRE_PROGRESS says, until one of them answers other than
 * SAP_OK, which is then the answer, and the connection is lost. REMOTE_GONE. REMOTE_LOST, with a reason.
 * SAP_IO, with a reason: the answer does not decode. SAP_BUSY, with a reason
 * and the connection lost: the owner does not answer, and may still do what was asked.
 * *result_out (may be NULL) is the result of the request, set also when it failed. */
int remote_ask(Remote *remote, WireKind kind, int (*fn)(Slice data, void *ctx), void *ctx,
               uint64_t *result_out, Reason *reason);

#endif
