#include "samples/samples.h"

#include "common/bytes.h"

#include <stdlib.h>

uint64_t sample_number(Choice *choice)
{
    static const uint64_t ends[] = {0,
                                    1,
                                    0x7f,
                                    0x80,
                                    0xff,
                                    0x7fff,
                                    0x8000,
                                    0xffff,
                                    0x7fffffff,
                                    0x80000000,
                                    0xffffffff,
                                    INT64_MAX,
                                    (uint64_t)INT64_MIN,
                                    UINT64_MAX};

    switch (choice_below(choice, 3)) {
    case 0:
        return choice_below(choice, 300);
    case 1:
        return ends[choice_below(choice, sizeof ends / sizeof ends[0])];
    default:
        return (uint64_t)choice_below(choice, UINT32_MAX) << 32 ^ choice_below(choice, UINT32_MAX);
    }
}

double sample_real(Choice *choice)
{
    uint64_t bits = sample_number(choice);
    double v;

    if (choice_one_in(choice, 2)) {
        return (double)choice_below(choice, 2000) / 1000 - 0.5;
    }
    memcpy(&v, &bits, sizeof v);
    return v;
}

float sample_real32(Choice *choice)
{
    uint32_t bits = (uint32_t)sample_number(choice);
    float v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

uint32_t sample_char(Choice *choice)
{
    static const uint32_t ends[] = {0,      0x7f,   0x80,   0x7ff,   0x800,
                                    0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff};

    return choice_one_in(choice, 2) ? ends[choice_below(choice, 10)] : choice_below(choice, 0xd800);
}

static void set(CodecBytes *v, const void *data, size_t len)
{
    EXPECT_RC(codec_bytes_set(v, data, len), SAP_OK);
}

void sample_string(Choice *choice, CodecBytes *v)
{
    static const char *const pieces[] = {"a",  "b",  "\xc3\xbc", "\xf0\x9f\x8c\xb1",
                                         "\"", "\\", "\n"};
    char text[64];
    size_t len = 0;

    for (uint32_t n = choice_below(choice, 8); n > 0; n--) {
        uint32_t piece = choice_below(choice, 8);
        /* The eighth is a NUL, which is a character like any other. */
        const char *from = piece == 7 ? "" : pieces[piece];
        size_t size = piece == 7 ? 1 : strlen(from);
        memcpy(text + len, from, size);
        len += size;
    }
    set(v, text, len);
}

void sample_bytes(Choice *choice, CodecBytes *v)
{
    uint8_t bytes[16];
    uint32_t len = choice_below(choice, sizeof bytes);

    for (uint32_t i = 0; i < len; i++) {
        bytes[i] = choice_one_in(choice, 3) ? 0 : (uint8_t)choice_below(choice, 256);
    }
    set(v, bytes, len);
}

void sample_length(CodecBytes *v, uint32_t len)
{
    char *text = malloc(len + 1);

    EXPECT(text != NULL, "no memory");
    memset(text, 'x', len + 1);
    set(v, text, len);
    free(text);
}

void *sample_items(Choice *choice, size_t size, uint32_t *count_out)
{
    *count_out = choice_below(choice, 4);
    return codec_items_new(*count_out, size);
}

static void *room(const SampleType *type)
{
    void *v = calloc(1, type->size);

    EXPECT(v != NULL, "no memory");
    return v;
}

static void check_json(const SampleType *type, const void *v)
{
    CodecError error;
    json_t *json = NULL;
    void *again = room(type);

    EXPECT_RC(type->to_json(v, &json, &error), SAP_OK);
    char *text = json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT);
    EXPECT(text != NULL, "%s: JSON cannot be written", type->name);
    json_t *parsed = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    EXPECT(parsed != NULL, "%s: JSON cannot be read: %s", type->name, text);
    int rc = type->from_json(parsed, again, &error);
    EXPECT(rc == SAP_OK, "%s: %s in %s", type->name, error.text, text);
    EXPECT(type->equal(v, again), "%s: another value after JSON: %s", type->name, text);
    if (json_is_object(parsed)) {
        /* Strict: nothing is ignored. */
        void *more = room(type);
        EXPECT(json_object_set_new(parsed, "no-such-field", json_null()) == 0, "no memory");
        EXPECT_RC(type->from_json(parsed, more, &error), SAP_INVALID);
        free(more);
    }
    type->free(again);
    free(again);
    free(text);
    json_decref(parsed);
    json_decref(json);
}

static void check_starts(const SampleType *type, const void *v, const Buf *buf)
{
    CodecError error;
    void *again = room(type);

    for (size_t len = 0; len < buf->len; len++) {
        /* A copy of its own size, so that reading beyond it is seen. */
        uint8_t *start = malloc(len + 1);
        EXPECT(start != NULL, "no memory");
        memcpy(start, buf->data, len);
        int rc = type->decode(start, len, again, &error);
        EXPECT(rc == SAP_OK || rc == SAP_INVALID, "%s: %d", type->name, rc);
        EXPECT((rc == SAP_OK) == (error.text[0] == '\0'), "%s: %d says '%s'", type->name, rc,
               error.text);
        if (rc == SAP_OK) {
            type->free(again);
        }
        free(start);
    }
    Buf longer = {0};
    EXPECT_RC(buf_append(&longer, buf->data, buf->len), SAP_OK);
    EXPECT_RC(buf_append_u8(&longer, 7), SAP_OK);
    int rc = type->decode(longer.data, longer.len, again, &error);
    if (type->grows) {
        EXPECT_RC(rc, SAP_OK);
        EXPECT(type->equal(v, again), "%s: bytes behind the end matter", type->name);
    }
    if (rc == SAP_OK) {
        type->free(again);
    }
    buf_release(&longer);
    free(again);
}

bool sample_round_trip(const SampleType *type, Choice *choice)
{
    CodecError error;
    Buf buf = {0};
    Buf twice = {0};
    void *v = room(type);
    void *again = room(type);

    type->random(choice, v);
    bool valid = type->validate(v, &error) == SAP_OK;
    int rc = type->encode(v, &buf, &error);
    if (valid) {
        EXPECT_RC(rc, SAP_OK);
        rc = type->decode(buf.data, buf.len, again, &error);
        EXPECT(rc == SAP_OK, "%s does not decode: %s", type->name, error.text);
        EXPECT(type->equal(v, again), "%s: another value", type->name);
        EXPECT_RC(type->encode(again, &twice, &error), SAP_OK);
        EXPECT(bytes_compare(buf.data, buf.len, twice.data, twice.len) == 0, "%s: other bytes",
               type->name);
        type->free(again);
        check_starts(type, v, &buf);
        check_json(type, v);
    } else {
        EXPECT_RC(rc, SAP_INVALID);
        EXPECT(strstr(error.text, "breaks ") != NULL, "%s: %s", type->name, error.text);
        EXPECT(buf.len == 0, "%s: bytes of an invalid value", type->name);
    }
    type->free(v);
    free(v);
    free(again);
    buf_release(&buf);
    buf_release(&twice);
    return valid;
}

size_t sample_edges(const SampleType *type, Choice *choice)
{
    void *v = room(type);
    CodecError error;

    for (size_t i = 0; i < type->edge_count; i++) {
        /* Any valid value will do as the ground: then the edge alone decides. */
        unsigned tries = 0;
        do {
            type->free(v);
            type->random(choice, v);
            EXPECT(++tries < 100000, "%s: no valid value found", type->name);
        } while (type->validate(v, NULL) != SAP_OK);
        const char *refinement = NULL;
        bool holds = type->edge(v, i, &refinement);
        int rc = type->validate(v, &error);
        bool broken = rc == SAP_INVALID && strstr(error.text, refinement) != NULL;
        /* Where it holds, another refinement over the same number may still be broken. */
        EXPECT(broken == !holds, "%s, edge %zu of %s: %d %s", type->name, i, refinement, rc,
               rc == SAP_OK ? "" : error.text);
    }
    type->free(v);
    free(v);
    return type->edge_count;
}

void sample_fuzz(const SampleType *type, const uint8_t *data, size_t size)
{
    CodecError error;
    void *v = room(type);
    void *again = room(type);
    Buf buf = {0};

    if (type->decode(data, size, v, &error) == SAP_OK) {
        EXPECT_RC(type->encode(v, &buf, &error), SAP_OK);
        EXPECT_RC(type->decode(buf.data, buf.len, again, &error), SAP_OK);
        EXPECT(type->equal(v, again), "%s: another value", type->name);
        check_json(type, v);
        type->free(again);
        type->free(v);
    } else {
        EXPECT(error.text[0] != '\0', "%s: refused without a word", type->name);
    }
    buf_release(&buf);
    free(v);
    free(again);
}
