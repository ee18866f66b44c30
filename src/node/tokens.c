/* tokens.c - see tokens.h.
 *
 * The file: {"secret": hex, "tokens": [{"id", "hash", "name", "scopes", "created_ms", "key"?, "revoked_ms"?}]}.
 * A token that was revoked stays for a day, so that its key does not bring it back. */
#include "node/tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/assert.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/mem.h"
#include "common/random.h"
#include "common/sync.h"
#include "node/api_call.h"
#include "store/digest.h"

#define TOKEN_PREFIX "sapling_"

enum {
    SECRET_SIZE = 32,
    TEXT_SECRET = 24, /* bytes of the secret part of a token */
    FILE_MOST = 1 << 20,
    KEPT_MS = 24 * 3600 * 1000,
};

typedef struct Token {
    TokenInfo info;
    Digest hash;         /* of the text */
    Digest key;          /* of scope and key; zero: none */
    Digest request;      /* of what was asked for with the key */
    uint64_t revoked_ms; /* 0: it is valid */
} Token;

struct Tokens {
    Mutex lock;
    char *data;
    char *path;
    char *first_path; /* DATA/token */
    uint8_t secret[SECRET_SIZE];
    Buf list; /* Token */
};

static size_t token_count(const Tokens *tokens)
{
    return tokens->list.len / sizeof(Token);
}

static Token *token_at(const Tokens *tokens, size_t i)
{
    return (Token *)(void *)tokens->list.data + i;
}

static void assert_token_valid(const Token *token)
{
    SAP_ASSERT(strlen(token->info.id) == TOKEN_ID_SIZE - 1);
    SAP_ASSERT(token->info.scopes != 0 && (token->info.scopes & ~(uint32_t)SCOPE_ALL) == 0);
}

/* ---- The file -------------------------------------------------------------------------------- */

static json_t *hex_json(const uint8_t *bytes, size_t len)
{
    char text[2 * DIGEST_SIZE + 1];
    SAP_ASSERT(len <= DIGEST_SIZE);
    (void)sodium_bin2hex(text, sizeof text, bytes, len);
    return json_string(text);
}

static bool hex_member(const json_t *object, const char *name, uint8_t *out, size_t len)
{
    const char *text = json_string_value(json_object_get(object, name));
    size_t read = 0;
    return text != NULL && strlen(text) == 2 * len &&
           sodium_hex2bin(out, len, text, 2 * len, NULL, &read, NULL) == 0 && read == len;
}

static json_t *token_json(const Token *token)
{
    static const Digest none;
    json_t *object =
        json_pack("{s:s, s:o, s:s, s:i, s:I}", "id", token->info.id, "hash",
                  hex_json(token->hash.bytes, DIGEST_SIZE), "name", token->info.name, "scopes",
                  (int)token->info.scopes, "created_ms", (json_int_t)token->info.created_ms);
    int failed = object == NULL;
    if (!failed && !digest_equal(&token->key, &none)) {
        failed |= json_object_set_new(object, "key", hex_json(token->key.bytes, DIGEST_SIZE));
        failed |=
            json_object_set_new(object, "request", hex_json(token->request.bytes, DIGEST_SIZE));
    }
    if (!failed && token->revoked_ms != 0) {
        failed |=
            json_object_set_new(object, "revoked_ms", json_integer((json_int_t)token->revoked_ms));
    }
    if (failed) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static char *tokens_text(const Tokens *tokens)
{
    json_t *list = json_array();
    bool failed = list == NULL;
    for (size_t i = 0; i < token_count(tokens) && !failed; i++) {
        failed = json_array_append_new(list, token_json(token_at(tokens, i))) != 0;
    }
    json_t *file =
        json_pack("{s:o, s:o}", "secret", hex_json(tokens->secret, SECRET_SIZE), "tokens", list);
    char *text = file != NULL && !failed ? json_dumps(file, JSON_INDENT(1)) : NULL;
    json_decref(file);
    return text;
}

static bool sync_directory(const char *path)
{
    int fd = fd_open(path, O_RDONLY | O_DIRECTORY, 0);
    bool synced = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return synced;
}

/* Puts a whole file in place of another, for its owner alone. */
static int replace_file(const Tokens *tokens, const char *path, const char *text)
{
    Buf temporary = {0};
    int fd = -1;
    int rc = buf_append_str(&temporary, path);
    rc = rc == SAP_OK ? buf_append(&temporary, ".new", sizeof ".new") : rc;
    if (rc != SAP_OK) {
        goto release;
    }
    const char *new_path = (const char *)temporary.data;
    size_t len = strlen(text);
    (void)unlink(new_path);
    fd = fd_open(new_path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    bool written = fd >= 0 && write(fd, text, len) == (ssize_t)len && fsync(fd) == 0;
    if (fd >= 0) {
        written = close(fd) == 0 && written;
    }
    rc = written && rename(new_path, path) == 0 && sync_directory(tokens->data) ? SAP_OK : SAP_IO;

release:
    buf_release(&temporary);
    return rc;
}

static int write_tokens(const Tokens *tokens)
{
    char *text = tokens_text(tokens);
    int rc = text == NULL ? SAP_NOMEM : replace_file(tokens, tokens->path, text);
    free(text);
    return rc;
}

static bool read_token(const json_t *object, Token *token)
{
    const char *id = json_string_value(json_object_get(object, "id"));
    const char *name = json_string_value(json_object_get(object, "name"));
    json_int_t scopes = json_integer_value(json_object_get(object, "scopes"));
    *token =
        (Token){.revoked_ms = (uint64_t)json_integer_value(json_object_get(object, "revoked_ms"))};
    if (id == NULL || strlen(id) != TOKEN_ID_SIZE - 1 || name == NULL ||
        strlen(name) >= TOKEN_NAME_SIZE || scopes <= 0 || scopes > SCOPE_ALL ||
        !hex_member(object, "hash", token->hash.bytes, DIGEST_SIZE)) {
        return false;
    }
    memcpy(token->info.id, id, TOKEN_ID_SIZE);
    memcpy(token->info.name, name, strlen(name) + 1);
    token->info.scopes = (uint32_t)scopes;
    token->info.created_ms = (uint64_t)json_integer_value(json_object_get(object, "created_ms"));
    return json_object_get(object, "key") == NULL ||
           (hex_member(object, "key", token->key.bytes, DIGEST_SIZE) &&
            hex_member(object, "request", token->request.bytes, DIGEST_SIZE));
}

static int parse_tokens(Tokens *tokens, const char *text, size_t len)
{
    json_t *file = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
    const json_t *list = json_object_get(file, "tokens");
    int rc = json_is_array(list) && hex_member(file, "secret", tokens->secret, SECRET_SIZE)
                 ? SAP_OK
                 : SAP_INVALID;
    for (size_t i = 0; rc == SAP_OK && i < json_array_size(list); i++) {
        Token token;
        rc = read_token(json_array_get(list, i), &token) ? SAP_OK : SAP_INVALID;
        rc = rc == SAP_OK ? buf_append(&tokens->list, &token, sizeof token) : rc;
    }
    json_decref(file);
    return rc;
}

/* The caller owns *text_out. SAP_NOTFOUND: there is no such file. SAP_INVALID: others may read it. */
static int read_file(const char *path, char **text_out, size_t *len_out)
{
    struct stat st;
    int fd = fd_open(path, O_RDONLY, 0);
    if (fd < 0) {
        return errno == ENOENT ? SAP_NOTFOUND : SAP_IO;
    }
    char *text = NULL;
    int rc = fstat(fd, &st) == 0 ? SAP_OK : SAP_IO;
    if (rc == SAP_OK && ((st.st_mode & 077) != 0 || st.st_size > FILE_MOST)) {
        rc = SAP_INVALID;
    }
    if (rc == SAP_OK) {
        text = (char *)malloc((size_t)st.st_size + 1);
        rc = text == NULL                                                ? SAP_NOMEM
             : read(fd, text, (size_t)st.st_size) == (ssize_t)st.st_size ? SAP_OK
                                                                         : SAP_IO;
    }
    (void)close(fd);
    if (rc != SAP_OK) {
        free(text);
        return rc;
    }
    text[st.st_size] = 0;
    *text_out = text;
    *len_out = (size_t)st.st_size;
    return SAP_OK;
}

/* ---- Finding --------------------------------------------------------------------------------- */

bool tokens_find(Tokens *tokens, const char *text, size_t len, TokenInfo *info_out)
{
    Digest hash;
    bool found = false;
    digest_bytes(text, len, &hash);
    mutex_lock(&tokens->lock);
    for (size_t i = 0; i < token_count(tokens); i++) {
        const Token *token = token_at(tokens, i);
        bool same = sodium_memcmp(hash.bytes, token->hash.bytes, DIGEST_SIZE) == 0;
        if (same && token->revoked_ms == 0) {
            *info_out = token->info;
            found = true;
        }
    }
    mutex_unlock(&tokens->lock);
    return found;
}

void tokens_each(Tokens *tokens, void (*each)(void *ctx, const TokenInfo *info), void *ctx)
{
    mutex_lock(&tokens->lock);
    for (size_t i = 0; i < token_count(tokens); i++) {
        const Token *token = token_at(tokens, i);
        assert_token_valid(token);
        if (token->revoked_ms == 0) {
            each(ctx, &token->info);
        }
    }
    mutex_unlock(&tokens->lock);
}

/* ---- Changing -------------------------------------------------------------------------------- */

/* The bytes of a new token: id, then secret. */
static int make_seed(const Tokens *tokens, const Digest *key, uint8_t seed[DIGEST_SIZE])
{
    static const Digest none;
    if (digest_equal(key, &none)) {
        return random_fill(NULL, seed, DIGEST_SIZE);
    }
    DigestState state;
    Digest out;
    digest_init(&state);
    digest_update(&state, tokens->secret, SECRET_SIZE);
    digest_update(&state, key->bytes, DIGEST_SIZE);
    digest_update(&state, tokens->secret, SECRET_SIZE);
    digest_final(&state, &out);
    memcpy(seed, out.bytes, DIGEST_SIZE);
    return SAP_OK;
}

static void make_text(const uint8_t seed[DIGEST_SIZE], char id[TOKEN_ID_SIZE],
                      char text[TOKEN_TEXT_SIZE])
{
    enum { ID_BYTES = (TOKEN_ID_SIZE - 1) / 2 };
    char secret[2 * TEXT_SECRET];
    (void)sodium_bin2hex(id, TOKEN_ID_SIZE, seed, ID_BYTES);
    (void)sodium_bin2base64(secret, sizeof secret, seed + ID_BYTES, TEXT_SECRET,
                            sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    (void)snprintf(text, TOKEN_TEXT_SIZE, TOKEN_PREFIX "%s_%s", id, secret);
}

static void hash_key(const TokenKey *key, Digest *out)
{
    DigestState state;
    digest_init(&state);
    digest_update(&state, key->scope, strlen(key->scope) + 1);
    digest_update(&state, key->key, strlen(key->key) + 1);
    digest_final(&state, out);
}

static void hash_request(uint32_t scopes, const char *name, Digest *out)
{
    DigestState state;
    digest_init(&state);
    digest_update(&state, &scopes, sizeof scopes);
    digest_update(&state, name, strlen(name));
    digest_final(&state, out);
}

/* Tokens revoked more than a day ago are forgotten. */
static void forget_revoked(Tokens *tokens, uint64_t now_ms)
{
    size_t kept = 0;
    for (size_t i = 0; i < token_count(tokens); i++) {
        const Token *token = token_at(tokens, i);
        if (token->revoked_ms == 0 || now_ms < token->revoked_ms + KEPT_MS) {
            *token_at(tokens, kept++) = *token;
        }
    }
    buf_truncate(&tokens->list, kept * sizeof(Token));
}

static const Token *find_key(const Tokens *tokens, const Digest *key)
{
    for (size_t i = 0; i < token_count(tokens); i++) {
        if (digest_equal(&token_at(tokens, i)->key, key)) {
            return token_at(tokens, i);
        }
    }
    return NULL;
}

/* DATA/token is written before the list that has its hash: after a crash between the two there is no list, and
 * both are made again. */
static int add_token(Tokens *tokens, Token *token, bool is_first, char text_out[TOKEN_TEXT_SIZE])
{
    uint8_t seed[DIGEST_SIZE];
    char line[TOKEN_TEXT_SIZE + 1];
    int rc = token_count(tokens) >= TOKENS_MOST ? SAP_FULL : make_seed(tokens, &token->key, seed);
    if (rc != SAP_OK) {
        return rc;
    }
    make_text(seed, token->info.id, text_out);
    digest_bytes(text_out, strlen(text_out), &token->hash);
    assert_token_valid(token);
    if (is_first) {
        (void)snprintf(line, sizeof line, "%s\n", text_out);
        rc = replace_file(tokens, tokens->first_path, line);
    }
    rc = rc == SAP_OK ? buf_append(&tokens->list, token, sizeof *token) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = write_tokens(tokens);
    if (rc != SAP_OK) {
        buf_truncate(&tokens->list, tokens->list.len - sizeof *token);
    }
    return rc;
}

int tokens_create(Tokens *tokens, uint32_t scopes, const char *name, const TokenKey *key,
                  TokenInfo *info_out, char text_out[TOKEN_TEXT_SIZE])
{
    Token token = {.info = {.scopes = scopes, .created_ms = (uint64_t)clock_wall_ms(NULL)}};
    SAP_ASSERT(strlen(name) < TOKEN_NAME_SIZE);
    memcpy(token.info.name, name, strlen(name) + 1);
    if (key != NULL) {
        hash_key(key, &token.key);
        hash_request(scopes, name, &token.request);
    }
    mutex_lock(&tokens->lock);
    forget_revoked(tokens, token.info.created_ms);
    const Token *earlier = key == NULL ? NULL : find_key(tokens, &token.key);
    int rc = SAP_OK;
    if (earlier == NULL) {
        rc = add_token(tokens, &token, false, text_out);
    } else if (earlier->revoked_ms != 0 || !digest_equal(&earlier->request, &token.request)) {
        rc = SAP_EXISTS;
    } else {
        uint8_t seed[DIGEST_SIZE];
        (void)make_seed(tokens, &token.key, seed);
        make_text(seed, token.info.id, text_out);
        token.info = earlier->info;
    }
    if (rc == SAP_OK) {
        *info_out = token.info;
    }
    mutex_unlock(&tokens->lock);
    return rc;
}

int tokens_revoke(Tokens *tokens, const char *id)
{
    int rc = SAP_NOTFOUND;
    mutex_lock(&tokens->lock);
    for (size_t i = 0; i < token_count(tokens) && rc == SAP_NOTFOUND; i++) {
        Token *token = token_at(tokens, i);
        if (token->revoked_ms == 0 && strcmp(token->info.id, id) == 0) {
            token->revoked_ms = (uint64_t)clock_wall_ms(NULL);
            rc = write_tokens(tokens);
            token->revoked_ms = rc == SAP_OK ? token->revoked_ms : 0;
        }
    }
    mutex_unlock(&tokens->lock);
    return rc;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static char *join_path(const char *data, const char *name)
{
    size_t len = strlen(data) + strlen(name) + 2;
    char *path = (char *)malloc(len);
    if (path != NULL) {
        (void)snprintf(path, len, "%s/%s", data, name);
    }
    return path;
}

/* The first token, for the user of this machine. */
static int make_first(Tokens *tokens)
{
    char text[TOKEN_TEXT_SIZE];
    Token token = {.info = {.name = "the file token beside this one",
                            .scopes = SCOPE_ALL,
                            .created_ms = (uint64_t)clock_wall_ms(NULL)}};
    int rc = random_fill(NULL, tokens->secret, SECRET_SIZE);
    return rc == SAP_OK ? add_token(tokens, &token, true, text) : rc;
}

static int load_tokens(Tokens *tokens)
{
    char *text = NULL;
    size_t len = 0;
    int rc = read_file(tokens->path, &text, &len);
    if (rc == SAP_NOTFOUND) {
        return make_first(tokens);
    }
    rc = rc == SAP_OK ? parse_tokens(tokens, text, len) : rc;
    free(text);
    return rc;
}

int tokens_open(const char *data, Tokens **tokens_out, char *message, size_t message_size)
{
    Tokens *tokens = sodium_init() < 0 ? NULL : (Tokens *)mem_zalloc(MEM_COMMON, sizeof *tokens);
    if (tokens == NULL || !mutex_init(&tokens->lock)) {
        mem_free(MEM_COMMON, tokens, tokens == NULL ? 0 : sizeof *tokens);
        (void)snprintf(message, message_size, "out of memory");
        return SAP_NOMEM;
    }
    tokens->data = join_path(data, "");
    tokens->path = join_path(data, "tokens");
    tokens->first_path = join_path(data, "token");
    int rc = tokens->data == NULL || tokens->path == NULL || tokens->first_path == NULL
                 ? SAP_NOMEM
                 : load_tokens(tokens);
    if (rc == SAP_OK) {
        *tokens_out = tokens;
        return SAP_OK;
    }
    if (rc == SAP_INVALID) {
        (void)snprintf(
            message, message_size,
            "%s: not a file of tokens, or others may read it: chmod 600 it, or remove it "
            "and %s to get a new token",
            tokens->path, tokens->first_path);
    } else {
        (void)snprintf(message, message_size, "%s: cannot be read or written: %s",
                       tokens->path == NULL ? data : tokens->path, sap_strerror(rc));
    }
    tokens_close(tokens);
    return rc;
}

void tokens_close(Tokens *tokens)
{
    if (tokens == NULL) {
        return;
    }
    sodium_memzero(tokens->secret, sizeof tokens->secret);
    buf_release(&tokens->list);
    free(tokens->data);
    free(tokens->path);
    free(tokens->first_path);
    mutex_destroy(&tokens->lock);
    mem_free(MEM_COMMON, tokens, sizeof *tokens);
}
