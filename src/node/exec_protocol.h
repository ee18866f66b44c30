/* exec_protocol.h - the lines that a program reads, and the forms of what both sides write.
 *
 * A program reads one line of JSON for each event and writes one line for each answer
 * (exec_answer.h). Nothing here reads or writes anything: lines go into a Buf and come out of one.
 *
 * A payload in JSON stands in a line as it is. Bytes are {"b64":"..."}, and with "encoding":"cbor"
 * beside it they are CBOR. A duration is a number of milliseconds, or text such as "500ms", "30s",
 * "15m", "2h", "7d". A time of day is a number of milliseconds since 1970, or text such as
 * "2031-05-06T07:08:09Z". */
#ifndef SAPLING_NODE_EXEC_PROTOCOL_H
#define SAPLING_NODE_EXEC_PROTOCOL_H

#include <jansson.h>
#include <stdbool.h>

#include "common/buf.h"
#include "sapling/universe.h"

enum {
    EXEC_ID_MAX = 256,
    EXEC_TEXT_MAX = 640,
    EXEC_RANDOM = 16,
    EXEC_STATE_MOST = 1 << 20, /* bytes of a state that is given whole, as JSON */
    EXEC_LINE_MOST = 8 << 20,  /* of a line that a program writes, and of what it asks of a state */
    EXEC_EXCERPT = 60,         /* of what a program wrote, in messages */
};

/* What is wrong, for the person who wrote the program; a text of UTF-8 without control
 * characters. */
typedef struct ExecError {
    char text[EXEC_TEXT_MAX];
} ExecError;

/* Sets the text, cut where it is too long, and returns SAP_INVALID. */
int exec_refuse(ExecError *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes the first bytes of what a program wrote so that they can stand in a message: control
 * characters and what is not UTF-8 are escaped, and "..." says that there was more. */
void exec_excerpt(const void *data, size_t len, char out[4 * EXEC_EXCERPT + 4]);

/* One event, as its line says it. Texts that are NULL or empty are left out, but for type and id.
 * All is borrowed. */
typedef struct ExecEvent {
    const char *id;
    const char *world;
    const char *type;
    const char *name;
    const char *ref;
    const char *status;
    const char *code;
    const char *from;       /* the world that sent it */
    const char *message_id; /* the id that the sender gave */
    const char *correlation_id;
    const char *reply_to;
    const char *key; /* of a task: the same for all attempts */
    SapEncoding encoding;
    const void *payload;
    size_t payload_len;
    int64_t now_ms;
    uint64_t timeout_ms; /* of a task; 0: left out */
    uint32_t attempt;
    uint8_t random[EXEC_RANDOM];
    uint32_t header_count;
    const SapHeader *headers; /* of a message from another world */
    bool has_delivery; /* the payload is a receipt of a message: `delivery` stands in its place */
    SapSendReceipt delivery;
    Slice state; /* text of an object; empty: left out */
} ExecEvent;

/* Appends the line of an event, with its newline. SAP_INVALID: the payload cannot stand in a line;
 * *error. SAP_NOMEM. */
int exec_event_line(const ExecEvent *event, Buf *line, ExecError *error);

/* Fills in what the event of a world says; `id` needs EXEC_ID_MAX bytes, and is borrowed by *out
 * like all else. */
void exec_event_of_world(SapWorld *world, const SapEvent *event, uint32_t attempt, char *id,
                         ExecEvent *out);

/* What a kind of event is called; "event" if it is none that programs know. */
const char *exec_event_type(SapEventKind kind);

/* Appends the members of an object, without its braces, for the rows of the state that begin with
 * the prefix; a comma comes first, unless `out` is empty or ends with a brace. SAP_FULL: `out`
 * would have more than `most` bytes. SAP_INVALID: a key is not UTF-8; *error says which. Other
 * codes are those of the state. */
int exec_state_members(SapWorld *world, Slice prefix, size_t most, Buf *out, ExecError *error);
/* The same for one key, which may be missing. */
int exec_state_member(SapWorld *world, Slice key, size_t most, Buf *out, ExecError *error);

/* Appends a JSON string. SAP_INVALID: not UTF-8. */
int exec_append_string(Buf *out, const char *text, size_t len);

/* Appends a payload as it stands in a line: JSON as it is, nothing at all as null, bytes in base64.
 * SAP_CORRUPT: JSON of several lines, which the library does not make. */
int exec_append_payload(Buf *out, SapEncoding encoding, const void *data, size_t len);

/* The value of JSON that the library keeps. Integers from 2^63 on, which are its form of large
 * doubles, are read as doubles, and then so are all others in it. NULL: not JSON, or no memory. */
json_t *exec_parse_kept(const void *text, size_t len);

/* ---- What programs write
 * ------------------------------------------------------------------------ */

/* All name the field in *error when they return SAP_INVALID: "do[2]: after is ...". `where` is such
 * as "do[2]: ", or "". */
typedef struct ExecField {
    const char *where;
    const char *name;
} ExecField;

/* A payload: JSON text appended to *bytes_out, or bytes. */
int exec_read_payload(const json_t *value, ExecField field, Buf *bytes_out,
                      SapEncoding *encoding_out, ExecError *error);
/* NULL leaves *ns_out as it is. */
int exec_read_duration(const json_t *value, ExecField field, uint64_t *ns_out, ExecError *error);
int exec_read_time(const json_t *value, ExecField field, uint64_t *ns_out, ExecError *error);
/* Text of 1 to `most` bytes without NUL; NULL leaves *text_out as it is. Borrowed from the
 * value. */
int exec_read_text(const json_t *value, ExecField field, size_t most, const char **text_out,
                   ExecError *error);
/* SAP_INVALID: a member of the object is not one of names[0..count); *error names it, and those. */
int exec_read_members(const json_t *object, const char *what, const char *const *names,
                      size_t count, ExecError *error);
/* {"attempts","first","factor","cap","timeout"}; NULL leaves *retry_out as it is. */
int exec_read_retry(const json_t *value, const char *where, SapRetry *retry_out, ExecError *error);

/* "a JSON string" and so on, for messages. */
const char *exec_type_name(const json_t *value);

#endif
