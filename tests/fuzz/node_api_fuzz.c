/* What a request says, from bytes: "METHOD PATH?QUERY", Host, Origin, Authorization and Idempotency-Key, a line each,
 * then the body. Whatever it is, the call has an answer or all its fields, and nothing is read outside of it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "node/api_routes.h"
#include "node/http_guard.h"
#include "support/expect.h"

enum { LINES = 6 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Takes a line off the front of the text, which is cut there. */
static char *take_line(char **at)
{
    char *line = *at;
    size_t len = strcspn(line, "\n");
    *at = line + len + (line[len] == '\n');
    line[len] = 0;
    return line;
}

static void read_fields(Call *call)
{
    Payload payload = {0};
    const char *text = NULL;
    uint64_t number = 0;
    bool flag = false;
    if (!call_read_body(call)) {
        return;
    }
    bool good = call_field_text(call, "name", 128, false, &text) &&
                call_field_u64(call, "priority", 255, 0, &number) &&
                call_field_bool(call, "all", &flag) && call_field_payload(call, &payload);
    if (good) {
        json_t *answer = json_object();
        EXPECT(answer != NULL && call_set_payload(call, answer, "reply", payload.encoding,
                                                  payload.data, payload.len),
               "memory");
        call_answer(call, 200, answer);
        EXPECT(call->text.len > 2 && call->text.data[0] == '{', "an answer is an object");
    }
    buf_release(&payload.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Api api = {.options = {.data = "data"}};
    Call call;
    Caller caller = {.known = true, .socket = true, .scopes = SCOPE_ALL, .id = "uid:0"};
    char *text = (char *)malloc(size + 1);
    if (text == NULL) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = 0;
    char *at = text;
    char *lines[LINES];
    for (int i = 0; i < LINES; i++) {
        lines[i] = take_line(&at);
    }
    GuardHeaders headers = {.host = lines[2],
                            .origin = lines[3][0] == 0 ? NULL : lines[3],
                            .key = lines[4][0] == 0 ? NULL : lines[4],
                            .content_type = lines[5]};
    char *query = strchr(lines[1], '?');
    if (query != NULL) {
        *query++ = 0;
    }
    call_init(&call, &api);
    if (buf_append(&call.body, at, size - (size_t)(at - text)) == SAP_OK &&
        guard_request(&call, &caller, lines[0], lines[1], &headers) &&
        guard_content_type(&call, &headers) && call_read_query(&call, query == NULL ? "" : query)) {
        bool given = false;
        uint64_t ms = 0;
        (void)call_query_wait(&call, &given, &ms);
        if (call.status == 0) {
            read_fields(&call);
        }
    }
    EXPECT(call.status != 0, "a call has an answer");
    call_release(&call);
    free(text);
    return 0;
}
