/* node_client.h - one request to a node and its answer: HTTP over the node's socket, else over TCP.
 *
 * An answer that says no is told here, once, and becomes an exit status:
 *
 *   400                       EXIT_USAGE      409, 429, 503   EXIT_CONFLICT
 *   404                       EXIT_NOT_FOUND  nobody there    EXIT_NO_NODE
 *   no answer in --give-up    EXIT_TIMED_OUT  all others      EXIT_FAILED
 *
 * What changes something carries an idempotency key, so a request whose connection broke is sent again, a
 * few times: the node does it once. One that the node is too busy for is sent again when it says, while
 * --give-up lasts. Nothing else is repeated. */
#ifndef SAPLING_CLI_NODE_CLIENT_H
#define SAPLING_CLI_NODE_CLIENT_H

#include "cli/node_find.h"
#include "common/buf.h"

enum {
    NODE_ANSWER_MOST = 64 << 20, /* bytes of an answer */
    NODE_GIVE_UP_MS = 30000,     /* without --give-up */
    NODE_KEY = 33,               /* bytes of an idempotency key, with its NUL */
};

typedef struct NodeClient {
    const Call *call;
    NodePlace place;
    void *curl;          /* CURL */
    char *token;         /* NULL: none is sent */
    char *reach;         /* the socket under a name that is short enough; NULL: TCP */
    int directory;       /* that this name goes through, or -1 */
    uint64_t give_up_ms; /* how long an answer may take */
} NodeClient;

typedef struct NodeRequest {
    const char *method;
    char *path;       /* from malloc(); NULL: no memory */
    json_t *body;     /* NULL: none, which POST and PUT must not have */
    bool bare;        /* POST or PUT without a body all the same */
    const char *key;  /* NULL: one is made, for what changes something */
    uint64_t wait_ms; /* that the node was asked to wait */
    long accept; /* a status that is no failure either; 0: only those from 200 to 299 are not */
    const char
        *world; /* that the request names: another is suggested if there is none. NULL: none */
    const char *module; /* the same of a module */
    bool text;          /* the answer is not read as JSON */
    bool quiet;         /* a failure is not told */
} NodeRequest;

typedef struct NodeAnswer {
    long status;
    json_t *json; /* NULL: the answer is empty, or text */
    Buf text;     /* as it came */
} NodeAnswer;

/* Finds the node of a call; nothing is sent yet. EXIT_DONE, or the exit status after saying so.
 * node_close() frees what it holds, also after a failure. */
int node_open(const Call *call, NodeClient *client);
void node_close(NodeClient *client);

/* Sends a request and takes ownership of its path and body. Writes *answer_out on EXIT_DONE only: caller
 * owns, release with node_answer_release(). */
int node_call(NodeClient *client, NodeRequest request, NodeAnswer *answer_out);
void node_answer_release(NodeAnswer *answer);

/* Whether a text can be a token: printable ASCII, without a blank, and not empty. */
bool node_token_valid(const char *token);

/* A path from malloc(), each %s of the format percent-encoded; NULL: no memory. */
char *node_path(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The path with `name=value` in its query, unless the value is NULL. Takes ownership of the path, which may
 * be NULL and is so again. */
char *node_query(char *path, const char *name, const char *value);

/* The bytes of the buffer, which it releases, as a text from malloc(); NULL if rc is not SAP_OK, or without
 * memory. */
char *node_text(Buf *buf, int rc);

/* A key that nobody else uses. False: no randomness. */
bool node_make_key(char key[NODE_KEY]);

/* Milliseconds that pass, of which only differences mean something; and waiting for some. */
uint64_t node_clock_ms(void);
void node_pause(uint64_t ms);

/* The command for a shell that sends the request by curl; NULL: no memory. Borrows the request. */
char *node_curl_command(const NodeClient *client, const NodeRequest *request);

/* Says that what the node answered is not an answer of a node; EXIT_FAILED. */
int node_nonsense(const NodeClient *client, const char *what);

#endif
