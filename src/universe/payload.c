/* payload.c - see payload.h. */
#include "universe/payload.h"

#include <string.h>

#include "common/utf8.h"
#include "store/blob.h"
#include "json/canonical.h"
#include "json/cbor.h"

int payload_append(SapEncoding encoding, const void *data, size_t len, Buf *out)
{
    if (data == NULL && len > 0) {
        return SAP_INVALID;
    }
    switch (encoding) {
    case SAP_ENCODING_JSON:
        return json_canonical(data, len, out, NULL);
    case SAP_ENCODING_CBOR:
        return cbor_canonical(data, len, out, NULL);
    case SAP_ENCODING_RAW:
        return buf_append(out, data, len);
    }
    return SAP_INVALID;
}

int payload_append_or_null(SapEncoding encoding, const void *data, size_t len, Buf *out)
{
    bool nothing = len == 0 && encoding == SAP_ENCODING_JSON;
    return nothing ? buf_append_str(out, "null") : payload_append(encoding, data, len, out);
}

void payload_hash(SapEncoding encoding, Slice canonical, Digest *out)
{
    uint8_t byte = (uint8_t)encoding;
    DigestState state;
    digest_init(&state);
    digest_update(&state, &byte, 1);
    digest_update(&state, canonical.data, canonical.len);
    digest_final(&state, out);
}

int payload_put_blob(SapStore *store, Slice payload, Digest *blob_out)
{
    BlobWriter *writer = NULL;
    uint64_t now_ns = sap_store_lease_ns(store);
    uint64_t mark = 0;
    int rc = blob_write_begin(store, NULL, &writer);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = blob_write_append(writer, payload.data, payload.len, now_ns);
    if (rc != SAP_OK) {
        blob_write_abort(writer);
        return rc;
    }
    return blob_write_finish(writer, now_ns, blob_out, &mark);
}

bool payload_text_valid(const char *text, size_t most)
{
    size_t len = text == NULL ? 0 : strlen(text);
    return len <= most && (len == 0 || utf8_valid(text, len));
}
