/* outbound_secrets.h - values that a world may use and nobody may read.
 *
 * A world names a secret, {"secret":"NAME"}; only the call that is being made learns its value, and
 * only where the secret names the host that is called. The journal, receipts, messages and logs
 * have the name alone. A secret goes over TLS, unless it names its host as "http://HOST".
 *
 * The node's are in a file that nobody else may read:
 *
 *   {"stripe": {"value": "Bearer sk_live_...", "hosts": ["api.stripe.com", "hooks.example.com:8443"]}}
 *
 * A host without a port means any port. The file is read when a secret is needed, so that an
 * edit counts from the next call on. */
#ifndef SAPLING_NODE_OUTBOUND_SECRETS_H
#define SAPLING_NODE_OUTBOUND_SECRETS_H

#include "common/buf.h"
#include "node/outbound_url.h"

enum { SECRET_REASON_MAX = 1024, SECRET_VALUE_MAX = 8192 };

/* Where values come from. */
typedef struct SecretSource {
    /* Appends the value of the secret to *value_out if it may go where `url` points.
     * SAP_NOTFOUND: there is none of that name. SAP_FENCED: it may not go there. SAP_INVALID:
     * what holds the secrets is not as it must be. SAP_IO: it cannot be read now. For these
     * `reason` says what to do, and has no value in it. SAP_NOMEM. Called by the thread that
     * makes calls. */
    int (*get)(void *ctx, const char *name, const Url *url, Buf *value_out,
               char reason[SECRET_REASON_MAX]);
    void *ctx;
} SecretSource;

/* The source of a file; `path` is borrowed as long as the source is used. */
SecretSource secrets_file_source(const char *path);

/* Overwrites the bytes before it gives them back. */
void secret_wipe(Buf *value);

/* Replaces `value` wherever it occurs in bytes by stars, since servers repeat what they were
 * sent. Values of less than 4 bytes are left, which would be everywhere. */
void secret_mask(const Buf *value, void *bytes, size_t len);

#endif
