/* node_http_bed.h - an HTTP server on a universe in a file, with a worker, and a client that says what it likes.
 *
 * Worlds of the module "desk", which the store has as native:desk, keep count of their messages under "count" and do
 * what the name of a message says:
 *
 *   (other)   reply with the payload
 *   silent    nothing
 *   refuse    become a dead letter
 *   later     reply 50 ms later, by a timer
 *   done      finish, with the payload as result
 *   ask       ask for an effect of a kind that nobody serves, under the ref "favour"
 *   wait      arm a timer of an hour, under the ref "hour"
 *   hang      do not return until the bed ends
 *   tag       get the tag "kind=desk"
 *
 * They answer queries with the count. */
#ifndef SAPLING_TESTS_NODE_HTTP_BED_H
#define SAPLING_TESTS_NODE_HTTP_BED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "node/host.h"
#include "node/http.h"
#include "support/files.h"

/* Threads that the host of its worlds starts when they have something to do. */
enum { HTTP_BED_HANDLERS = 2 };

typedef struct HttpBed {
    FileBed file;
    SapUniverse *universe;
    Host *host;
    Http *http;
    HttpOptions options; /* of http_start(); a test changes them before http_bed_start_server() */
    MetricsRegistry metrics;
    char token[80]; /* the first token */
} HttpBed;

/* The universe and its worker; the options are the defaults, with TCP on any port. */
void http_bed_open(HttpBed *bed);
void http_bed_start_server(HttpBed *bed);
void http_bed_stop_server(HttpBed *bed);
/* All of it. */
void http_bed_close(HttpBed *bed);

/* A descriptor that is connected over TCP, or to the socket. */
int http_bed_connect(const HttpBed *bed, bool local);

/* An answer; http_answer_free(). */
typedef struct HttpAnswer {
    int status; /* 0: the connection ended without one */
    char *head; /* status line and headers */
    char *body; /* followed by a NUL */
    size_t body_len;
    json_t *json; /* NULL: the body is none */
} HttpAnswer;
void http_answer_free(HttpAnswer *answer);
/* The "code" of an error; "" for an answer that is none. */
const char *http_answer_code(const HttpAnswer *answer);

/* Sends bytes as they are; false: the other side does not take them. */
bool http_send_all(int fd, const void *data, size_t len);
/* Reads one answer, waiting for up to 20 s. */
void http_read_answer(int fd, HttpAnswer *answer_out);

/* What a request may have besides method, path and body. NULL, false: nothing. */
typedef struct HttpAsk {
    bool local;          /* by the socket */
    const char *token;   /* "": no header */
    const char *headers; /* lines that end with \r\n */
    const char *host;
    const char *key;
} HttpAsk;

/* A request on a connection of its own. body NULL: none. */
void http_ask(const HttpBed *bed, const HttpAsk *ask, const char *method, const char *path,
              const char *body, HttpAnswer *answer_out);

/* The same by the socket; expects the status, and returns the JSON of the answer, which the caller owns. */
json_t *http_bed_do(const HttpBed *bed, const char *method, const char *path, const char *body,
                    int status);

/* Registers the module, and creates a world of it. */
void http_bed_make_world(const HttpBed *bed, const char *world);

#endif
