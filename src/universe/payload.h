/* payload.h - bytes that come in, brought to their one form.
 *
 * JSON and CBOR have many spellings of a value. What is hashed, journaled and compared must have one. */
#ifndef SAPLING_UNIVERSE_PAYLOAD_H
#define SAPLING_UNIVERSE_PAYLOAD_H

#include "sapling/universe.h"
#include "universe/rows.h"

/* Appends the canonical form of the bytes; raw ones as they are. SAP_INVALID: not of that encoding, or no
 * such encoding. */
int payload_append(SapEncoding encoding, const void *data, size_t len, Buf *out);

/* The same; nothing at all is null in JSON. */
int payload_append_or_null(SapEncoding encoding, const void *data, size_t len, Buf *out);

/* SHA-256 over the encoding and the canonical bytes: the event_hash of an item. */
void payload_hash(SapEncoding encoding, Slice canonical, Digest *out);

/* Puts a large payload into the store ahead of the item that refers to it. Codes are those of blob.h. */
int payload_put_blob(SapStore *store, Slice payload, Digest *blob_out);

/* Whether it is UTF-8 of at most `most` bytes; NULL is the empty text. */
bool payload_text_valid(const char *text, size_t most);

#endif
