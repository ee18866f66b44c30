#include "cli/node_common.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/assert.h"

enum {
    INPUT_MOST = 32 << 20, /* bytes of a payload, more than any node takes */
    HASH_LEN = 64,         /* digits */
    HASH_LEAST = 4,        /* of them that may stand for it */
};

/* ---- Payloads ---------------------------------------------------------------------------------- */

json_t *payload_parse(const char *text, size_t len, json_error_t *error)
{
    return json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, error);
}

static int read_input(const Call *call, Buf *input)
{
    for (;;) {
        if (buf_reserve(input, 65536) != SAP_OK) {
            return ui_no_memory(call->ui);
        }
        ssize_t len = read(STDIN_FILENO, input->data + input->len, 65536);
        if (len < 0 && errno == EINTR) {
            continue;
        }
        if (len < 0) {
            return ui_fail(call->ui, EXIT_FAILED, NULL, "cannot read standard input: %s",
                           strerror(errno));
        }
        if (len == 0) {
            return EXIT_DONE;
        }
        input->len += (size_t)len;
        if (input->len > INPUT_MOST) {
            return ui_fail(call->ui, EXIT_FAILED, "send less, or a reference to it",
                           "standard input is larger than a message may be");
        }
    }
}

/* {"b64": ...}; NULL: no memory. */
static json_t *wrap_bytes(Slice bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *at = (const uint8_t *)bytes.data;
    Buf text = {0};
    int rc = SAP_OK;

    for (size_t left = bytes.len; left > 0 && rc == SAP_OK;) {
        size_t some = left < 3 ? left : 3;
        char four[4];
        uint32_t three = 0;
        for (size_t i = 0; i < 3; i++) {
            three = three * 256 + (i < some ? at[i] : 0);
        }
        for (size_t i = 0; i < 4; i++) {
            four[i] = i <= some ? digits[three / (1U << (18 - 6 * i)) % 64] : '=';
        }
        rc = buf_append(&text, four, sizeof four);
        at += some;
        left -= some;
    }
    json_t *wrapped =
        rc == SAP_OK ? json_pack("{s:s%}", "b64", text.len > 0 ? (char *)text.data : "", text.len)
                     : NULL;
    buf_release(&text);
    return wrapped;
}

static int parse_payload(const Call *call, const char *name, Slice text, json_t **body_out)
{
    json_error_t error;

    *body_out = payload_parse((const char *)text.data, text.len, &error);
    if (*body_out != NULL) {
        return EXIT_DONE;
    }
    return call_usage(
        call,
        "%s is not JSON: %s (at %d); a text stands in quotes, as in '\"text\"'; bytes go with --raw",
        name, error.text, error.position);
}

int payload_read(const Call *call, const char *text, json_t **body_out, const char **encoding_out)
{
    bool raw = call_has(call, OPTION_RAW);
    bool from_input = text != NULL && strcmp(text, "-") == 0;
    Buf input = {0};
    int code = EXIT_DONE;

    *body_out = NULL;
    *encoding_out = raw ? "raw" : NULL;
    if (text == NULL) {
        return raw ? call_usage(call, "--raw goes with a BODY, as in -") : EXIT_DONE;
    }
    if (from_input) {
        code = read_input(call, &input);
    }
    Slice bytes = from_input ? (Slice){input.data, input.len} : slice_from_str(text);
    if (code == EXIT_DONE && raw) {
        *body_out = wrap_bytes(bytes);
        code = *body_out != NULL ? EXIT_DONE : ui_no_memory(call->ui);
    } else if (code == EXIT_DONE) {
        code = parse_payload(call, from_input ? "standard input" : "BODY", bytes, body_out);
    }
    buf_release(&input);
    return code;
}

/* ---- Short commands ---------------------------------------------------------------------------- */

int command_once(const Call *call, NodeRequest request, const Field *fields)
{
    NodeClient client;
    NodeAnswer answer = {0};
    int code = node_open(call, &client);

    if (code == EXIT_DONE) {
        code = node_call(&client, request, &answer);
    } else {
        free(request.path);
        json_decref(request.body);
    }
    if (code == EXIT_DONE && answer.json != NULL && (fields != NULL || call->ui->json)) {
        code = show_item(call->ui, answer.json, fields);
    }
    node_answer_release(&answer);
    node_close(&client);
    return code;
}

/* ---- Hashes ------------------------------------------------------------------------------------ */

typedef struct Search {
    const char *word;
    char *hash; /* of the one that was found */
    uint32_t found;
    bool no_memory;
} Search;

static int compare_item(void *ctx, json_t *item)
{
    Search *search = (Search *)ctx;
    const char *hash = show_text(item, "hash", "");
    bool begins = strlen(search->word) >= HASH_LEAST &&
                  strncmp(hash, search->word, strlen(search->word)) == 0;

    if (begins || strcmp(show_text(item, "ref", ""), search->word) == 0) {
        search->found++;
        free(search->hash);
        search->hash = strdup(hash);
        search->no_memory = search->hash == NULL;
    }
    return search->no_memory ? EXIT_FAILED : EXIT_DONE;
}

static bool is_hash(const char *word)
{
    return strlen(word) == HASH_LEN && strspn(word, "0123456789abcdef") == HASH_LEN;
}

int hash_find(NodeClient *client, const char *lists, const char *world, const char *word,
              char **hash_out)
{
    const Ui *ui = client->call->ui;
    Search search = {.word = word};
    char hint[400];
    const char *one = strcmp(lists, "timers") == 0 ? "timer" : "effect";

    if (is_hash(word)) {
        *hash_out = strdup(word);
        return *hash_out != NULL ? EXIT_DONE : ui_no_memory(ui);
    }
    int code = show_each(client, node_query(node_path("/v1/%s", lists), "world", world), 0,
                         compare_item, &search);
    if (search.no_memory) {
        code = ui_no_memory(ui);
    } else if (code == EXIT_DONE && search.found != 1) {
        (void)snprintf(hint, sizeof hint, "see which there are: sapling %s list %.300s", one,
                       world);
        code = search.found == 0
                   ? ui_fail(ui, EXIT_NOT_FOUND, hint, "%s has no %s '%s'", world, one, word)
                   : ui_fail(ui, EXIT_USAGE, hint, "%u %ss of %s are meant by '%s'",
                             (unsigned)search.found, one, world, word);
    }
    if (code != EXIT_DONE) {
        free(search.hash);
        return code;
    }
    SAP_ASSERT(search.hash != NULL);
    *hash_out = search.hash;
    return EXIT_DONE;
}
