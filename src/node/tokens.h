/* tokens.h - credentials of callers over TCP: which there are, and what they may do.
 *
 * A token is shown once, when it is made. DATA/tokens (0600, JSON) has the SHA-256 of each, and is replaced as a
 * whole. At the first start DATA/token (0600) gets one with all scopes, for the user of this machine. A token that
 * is asked for again under the same Idempotency-Key is the same: it is derived from the key and a secret of
 * the file.
 *
 * Invariant: what tokens_find() sees is what the file says; a change that could not be written is undone. */
#ifndef SAPLING_NODE_TOKENS_H
#define SAPLING_NODE_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TOKEN_ID_SIZE = 9,     /* 8 digits and a NUL */
    TOKEN_TEXT_SIZE = 64,  /* "sapling_", id, "_", secret, and a NUL */
    TOKEN_NAME_SIZE = 129, /* for people; and a NUL */
    TOKENS_MOST = 1000,
};

typedef struct Tokens Tokens;

typedef struct TokenInfo {
    char id[TOKEN_ID_SIZE];
    char name[TOKEN_NAME_SIZE];
    uint32_t scopes;
    uint64_t created_ms;
} TokenInfo;

/* Reads DATA/tokens, or makes it and DATA/token. The caller owns *tokens_out. `message` says what is wrong, for a
 * person. SAP_INVALID: the file is damaged, or others may read it. SAP_IO, SAP_NOMEM. */
int tokens_open(const char *data, Tokens **tokens_out, char *message, size_t message_size);
/* NULL is accepted. */
void tokens_close(Tokens *tokens);

/* In a time that does not depend on where the texts differ. False: there is no such token. */
bool tokens_find(Tokens *tokens, const char *text, size_t len, TokenInfo *info_out);

/* What an Idempotency-Key was used for; NULL: there is none. */
typedef struct TokenKey {
    const char *scope; /* whose key */
    const char *key;
} TokenKey;

/* Makes a token, which is durable when it returns. SAP_EXISTS: the key was used with another name or other
 * scopes, or the token has been revoked. SAP_FULL: there are TOKENS_MOST. SAP_IO, SAP_NOMEM. */
int tokens_create(Tokens *tokens, uint32_t scopes, const char *name, const TokenKey *key,
                  TokenInfo *info_out, char text_out[TOKEN_TEXT_SIZE]);
/* SAP_NOTFOUND, SAP_IO, SAP_NOMEM. */
int tokens_revoke(Tokens *tokens, const char *id);

/* In the order in which they were made, while the list is locked. */
void tokens_each(Tokens *tokens, void (*each)(void *ctx, const TokenInfo *info), void *ctx);

#endif
