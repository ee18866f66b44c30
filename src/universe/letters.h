/* letters.h - what callers outside get: replies, and the dead letters of items that no handler took. */
#ifndef SAPLING_UNIVERSE_LETTERS_H
#define SAPLING_UNIVERSE_LETTERS_H

#include "universe/universe_impl.h"
#include "universe/writes.h"

/* An item that becomes a dead letter. All is borrowed for the call. */
typedef struct Letter {
    const UniverseName *world;
    uint64_t height; /* of the entry that rejects it, or of the head */
    uint8_t item_class;
    const uint8_t *seq;
    const WitUniverseInboxItem *item;
    const char *error;
    uint32_t attempts;
    bool journaled;
    const char *code;          /* of the receipt of a world that has asked */
    const uint8_t *expiry_seq; /* for the reply's expiry */
} Letter;

/* Adds the letter's row, and a reply that says so where a caller outside or a world waits for one. */
int letter_write(WriteSet *writes, SapUniverse *universe, const Letter *letter);

/* Shows the row of a dead letter to a visitor, whose code is the result. */
int letter_show(const SapStoreRow *row, int (*visitor)(void *ctx, const SapDeadLetter *letter),
                void *ctx);

/* What a handler replied, or why nobody will. */
typedef struct OutsideReply {
    const UniverseName *world;
    Slice id; /* under which the caller waits */
    WitUniverseReceiptStatus status;
    SapEncoding encoding;
    Slice payload;
    uint64_t height;
    const uint8_t *expiry_seq;
} OutsideReply;

/* Adds the reply's row, which a first one keeps, and that of its expiry. */
int reply_write(WriteSet *writes, SapUniverse *universe, const OutsideReply *reply);

#endif
