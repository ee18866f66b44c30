/* wit_universe.h - Tables 16 to 63: worlds, who runs them, and their history.
 *
 * Generated from schemas/wit/universe-schema.wit by tools/wit_codegen: change the schema.
 *
 * encode appends to `buf`; decode and validate say in *error, unless it is NULL, what is wrong
 * where. SAP_INVALID: the bytes or the value break the layout or a refinement. On failure buffer
 * and *v_out are as they were. Caller owns what decode gives, release with free, which leaves an
 * empty value. */
#ifndef SAPLING_GENERATED_WIT_UNIVERSE_H
#define SAPLING_GENERATED_WIT_UNIVERSE_H

#include "common/codec.h"

/* Who may write a world: the row of each world that ever had a holder. It is never deleted, so that its epoch never repeats. */
typedef struct WitUniverseDbi16LeaseKey {
    uint32_t universe;
    CodecBytes world;
} WitUniverseDbi16LeaseKey;

typedef struct WitUniverseDbi16LeaseValue {
    CodecBytes holder; /* The worker. Empty: nobody holds it. */
    CodecBytes nonce; /* Of the worker's session. A session of another nonce does not hold the lease. */
    uint64_t epoch; /* Raised with every change of the holder: the fence. */
} WitUniverseDbi16LeaseValue;

/* A worker that is alive, or was. */
typedef struct WitUniverseDbi17SessionsKey {
    uint32_t universe;
    CodecBytes worker;
} WitUniverseDbi17SessionsKey;

typedef struct WitUniverseDbi17SessionsValue {
    CodecBytes nonce; /* Drawn when the worker started. */
    uint64_t expires_ns; /* Lease time, in nanoseconds. */
} WitUniverseDbi17SessionsValue;

/* The worlds that a session holds, so that they can be found when it is dead. */
typedef struct WitUniverseDbi18HeldKey {
    uint32_t universe;
    CodecBytes nonce; /* Of the session. */
    CodecBytes world;
} WitUniverseDbi18HeldKey;

/* Empty: it says no more than its key. */
typedef struct WitUniverseDbi18HeldValue {
    CodecBytes value;
} WitUniverseDbi18HeldValue;

/* Where the history of a world ends. */
typedef struct WitUniverseDbi19HeadKey {
    uint32_t universe;
    CodecBytes world;
} WitUniverseDbi19HeadKey;

typedef struct WitUniverseDbi19HeadValue {
    uint64_t height; /* Of the last entry; entries are numbered from 1. */
    CodecBytes digest; /* SHA-256 over the digest before it and the last entry. */
} WitUniverseDbi19HeadValue;

/* The history of a world: what its holder has made of it, entry by entry. */
typedef struct WitUniverseDbi20JournalKey {
    uint32_t universe;
    CodecBytes world;
    uint64_t height;
    uint32_t part; /* An entry of more than 256 KiB has several. */
} WitUniverseDbi20JournalKey;

typedef struct WitUniverseDbi20JournalValue {
    uint64_t epoch; /* Under which lease it was written. */
    CodecBytes content;
} WitUniverseDbi20JournalValue;


int wit_universe_dbi16_lease_key_encode(const WitUniverseDbi16LeaseKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi16_lease_key_decode(const void *data, size_t len, WitUniverseDbi16LeaseKey *v_out, CodecError *error);
int wit_universe_dbi16_lease_key_validate(const WitUniverseDbi16LeaseKey *v, CodecError *error);
bool wit_universe_dbi16_lease_key_equal(const WitUniverseDbi16LeaseKey *a, const WitUniverseDbi16LeaseKey *b);
void wit_universe_dbi16_lease_key_free(WitUniverseDbi16LeaseKey *v);

int wit_universe_dbi16_lease_value_encode(const WitUniverseDbi16LeaseValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi16_lease_value_decode(const void *data, size_t len, WitUniverseDbi16LeaseValue *v_out, CodecError *error);
int wit_universe_dbi16_lease_value_validate(const WitUniverseDbi16LeaseValue *v, CodecError *error);
bool wit_universe_dbi16_lease_value_equal(const WitUniverseDbi16LeaseValue *a, const WitUniverseDbi16LeaseValue *b);
void wit_universe_dbi16_lease_value_free(WitUniverseDbi16LeaseValue *v);

int wit_universe_dbi17_sessions_key_encode(const WitUniverseDbi17SessionsKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi17_sessions_key_decode(const void *data, size_t len, WitUniverseDbi17SessionsKey *v_out, CodecError *error);
int wit_universe_dbi17_sessions_key_validate(const WitUniverseDbi17SessionsKey *v, CodecError *error);
bool wit_universe_dbi17_sessions_key_equal(const WitUniverseDbi17SessionsKey *a, const WitUniverseDbi17SessionsKey *b);
void wit_universe_dbi17_sessions_key_free(WitUniverseDbi17SessionsKey *v);

int wit_universe_dbi17_sessions_value_encode(const WitUniverseDbi17SessionsValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi17_sessions_value_decode(const void *data, size_t len, WitUniverseDbi17SessionsValue *v_out, CodecError *error);
int wit_universe_dbi17_sessions_value_validate(const WitUniverseDbi17SessionsValue *v, CodecError *error);
bool wit_universe_dbi17_sessions_value_equal(const WitUniverseDbi17SessionsValue *a, const WitUniverseDbi17SessionsValue *b);
void wit_universe_dbi17_sessions_value_free(WitUniverseDbi17SessionsValue *v);

int wit_universe_dbi18_held_key_encode(const WitUniverseDbi18HeldKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi18_held_key_decode(const void *data, size_t len, WitUniverseDbi18HeldKey *v_out, CodecError *error);
int wit_universe_dbi18_held_key_validate(const WitUniverseDbi18HeldKey *v, CodecError *error);
bool wit_universe_dbi18_held_key_equal(const WitUniverseDbi18HeldKey *a, const WitUniverseDbi18HeldKey *b);
void wit_universe_dbi18_held_key_free(WitUniverseDbi18HeldKey *v);

int wit_universe_dbi18_held_value_encode(const WitUniverseDbi18HeldValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi18_held_value_decode(const void *data, size_t len, WitUniverseDbi18HeldValue *v_out, CodecError *error);
int wit_universe_dbi18_held_value_validate(const WitUniverseDbi18HeldValue *v, CodecError *error);
bool wit_universe_dbi18_held_value_equal(const WitUniverseDbi18HeldValue *a, const WitUniverseDbi18HeldValue *b);
void wit_universe_dbi18_held_value_free(WitUniverseDbi18HeldValue *v);

int wit_universe_dbi19_head_key_encode(const WitUniverseDbi19HeadKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi19_head_key_decode(const void *data, size_t len, WitUniverseDbi19HeadKey *v_out, CodecError *error);
int wit_universe_dbi19_head_key_validate(const WitUniverseDbi19HeadKey *v, CodecError *error);
bool wit_universe_dbi19_head_key_equal(const WitUniverseDbi19HeadKey *a, const WitUniverseDbi19HeadKey *b);
void wit_universe_dbi19_head_key_free(WitUniverseDbi19HeadKey *v);

int wit_universe_dbi19_head_value_encode(const WitUniverseDbi19HeadValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi19_head_value_decode(const void *data, size_t len, WitUniverseDbi19HeadValue *v_out, CodecError *error);
int wit_universe_dbi19_head_value_validate(const WitUniverseDbi19HeadValue *v, CodecError *error);
bool wit_universe_dbi19_head_value_equal(const WitUniverseDbi19HeadValue *a, const WitUniverseDbi19HeadValue *b);
void wit_universe_dbi19_head_value_free(WitUniverseDbi19HeadValue *v);

int wit_universe_dbi20_journal_key_encode(const WitUniverseDbi20JournalKey *v, Buf *buf, CodecError *error);
int wit_universe_dbi20_journal_key_decode(const void *data, size_t len, WitUniverseDbi20JournalKey *v_out, CodecError *error);
int wit_universe_dbi20_journal_key_validate(const WitUniverseDbi20JournalKey *v, CodecError *error);
bool wit_universe_dbi20_journal_key_equal(const WitUniverseDbi20JournalKey *a, const WitUniverseDbi20JournalKey *b);
void wit_universe_dbi20_journal_key_free(WitUniverseDbi20JournalKey *v);

int wit_universe_dbi20_journal_value_encode(const WitUniverseDbi20JournalValue *v, Buf *buf, CodecError *error);
int wit_universe_dbi20_journal_value_decode(const void *data, size_t len, WitUniverseDbi20JournalValue *v_out, CodecError *error);
int wit_universe_dbi20_journal_value_validate(const WitUniverseDbi20JournalValue *v, CodecError *error);
bool wit_universe_dbi20_journal_value_equal(const WitUniverseDbi20JournalValue *a, const WitUniverseDbi20JournalValue *b);
void wit_universe_dbi20_journal_value_free(WitUniverseDbi20JournalValue *v);

#endif
