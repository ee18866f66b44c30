/* What worlds and servers may send to the calls to the outside: params, the URL in them, the
 * lines of a head, bodies. Whatever an answer is, its receipt is JSON in UTF-8 without control
 * characters. */
#include "node/outbound_answer.h"
#include "node/outbound_params.h"
#include "node/outbound_url.h"
#include "support/expect.h"
#include "json/canonical.h"

#include <sodium.h>

enum { INPUT_MAX = 8192 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_url(const char *text)
{
    char reason[URL_REASON_MAX];
    char origin[URL_ORIGIN_MAX];
    Url url;
    Url again;
    if (url_read(text, &url, reason) != SAP_OK) {
        return;
    }
    url_origin(&url, origin);
    EXPECT_RC(url_read(origin, &again, reason), SAP_OK);
    EXPECT(url_same_origin(&url, &again), "%s is another origin", origin);
    url_release(&again);
    url_release(&url);
}

static void try_params(bool webhook, const uint8_t *data, size_t size)
{
    char reason[PARAMS_REASON_MAX] = "";
    Request request;
    int rc = request_read(webhook, SAP_ENCODING_JSON, data, size, &request, reason);
    EXPECT(rc == SAP_OK || rc == SAP_INVALID, "%d", rc);
    if (rc != SAP_OK) {
        EXPECT(reason[0] != '\0', "no reason");
        return;
    }
    for (size_t i = 0; i < request.header_count; i++) {
        const char *value = request.headers[i].value;
        EXPECT(value == NULL || request_value_valid(value, strlen(value)), "a header of two lines");
    }
    try_url(request.url);
    request_release(&request);
}

/* Lines up to an empty one, then the body. */
static void try_answer(bool bare, const uint8_t *data, size_t size)
{
    Answer answer = {0};
    Buf out = {0};
    Buf canonical = {0};
    size_t at = 0;
    size_t len = 1;
    while (at < size && len > 0) {
        const uint8_t *end = (const uint8_t *)memchr(data + at, '\n', size - at);
        len = end == NULL ? size - at : (size_t)(end - data) - at;
        int rc = answer_add_header(&answer, (const char *)data + at, len);
        EXPECT(rc == SAP_OK || rc == SAP_FULL, "%d", rc);
        at += len + (end != NULL);
    }
    EXPECT_RC(buf_append(&answer.body, data + at, size - at), SAP_OK);
    EXPECT_RC(answer_write(&answer, 200, bare, bare ? "why" : NULL, &out), SAP_OK);
    EXPECT_RC(json_canonical(out.data, out.len, &canonical, NULL), SAP_OK);
    buf_release(&canonical);
    buf_release(&out);
    answer_release(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > INPUT_MAX || sodium_init() < 0) {
        return 0;
    }
    switch (data[0] & 3) {
    case 0:
    case 1:
        try_params(data[0] == 1, data + 1, size - 1);
        break;
    case 2: {
        char text[INPUT_MAX];
        memcpy(text, data + 1, size - 1);
        text[size - 1] = '\0';
        try_url(text);
        break;
    }
    default:
        try_answer((data[0] & 4) != 0, data + 1, size - 1);
        break;
    }
    return 0;
}
