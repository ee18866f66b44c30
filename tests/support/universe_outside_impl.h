/* universe_outside_impl.h - what universe_outside.c and its audit share. */
#ifndef SAPLING_TESTS_UNIVERSE_OUTSIDE_IMPL_H
#define SAPLING_TESTS_UNIVERSE_OUTSIDE_IMPL_H

#include "support/universe_outside.h"

enum { OUTSIDE_NAME_MAX = 16, OUTSIDE_KEY = 64 };

typedef enum OutsideKindId {
    OUTSIDE_AGAIN, /* fails some times, then is done */
    OUTSIDE_FEW,   /* some always fail, and have few attempts */
    OUTSIDE_ONCE,  /* is begun at most once; some fail */
    OUTSIDE_FINAL, /* is refused for good */
    OUTSIDE_SLOW,  /* goes on beside the step */
    OUTSIDE_KINDS,
} OutsideKindId;

typedef struct OutsideKind {
    const char *name;
    SapRetry retry;
    bool at_most_once;
} OutsideKind;

extern const OutsideKind outside_kinds[OUTSIDE_KINDS];

/* Which kind of effect message `number` asks for. */
uint32_t outside_kind_of(uint64_t number);
/* How many attempts of an effect fail, by its key. */
uint32_t outside_failures(uint32_t kind, const char *key);
void outside_world_name(uint32_t world, char name_out[OUTSIDE_NAME_MAX]);

/* A record of the account. */
typedef enum RecordWhat { RECORD_READY, RECORD_SENT, RECORD_CALL } RecordWhat;
typedef struct OutsideRecord {
    RecordWhat what;
    uint32_t number; /* of the message */
    uint32_t attempt;
    char key[OUTSIDE_KEY];
} OutsideRecord;

#endif
