#include "support/tally.h"

#include "common/buf.h"
#include "common/bytes.h"
#include "common/fault.h"
#include "support/expect.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLIP_BYTES = 5, ADDED = 1, REMOVED = 2, TEXT_MAX = 4000 };

/* States are never changed, and live until tally_release(). */
typedef struct Tally {
    struct Tally *next;
    uint32_t count;
    uint32_t numbers[];
} Tally;

TallyAnswers tally_answers;
uint64_t tally_encoded;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Tally *all;

static Tally *make(uint32_t count)
{
    Tally *tally = fault_alloc() ? NULL : malloc(sizeof *tally + count * sizeof *tally->numbers);

    if (tally != NULL) {
        tally->count = count;
        pthread_mutex_lock(&lock);
        tally->next = all;
        all = tally;
        pthread_mutex_unlock(&lock);
    }
    return tally;
}

uint64_t tally_release(void)
{
    uint64_t released = 0;

    while (all != NULL) {
        Tally *next = all->next;
        free(all);
        all = next;
        released++;
    }
    return released;
}

/* Where the number is or would be. */
static uint32_t place(const Tally *tally, uint32_t number)
{
    uint32_t at = 0;

    while (tally != NULL && at < tally->count && tally->numbers[at] < number) {
        at++;
    }
    return at;
}

static bool has(const Tally *tally, uint32_t number)
{
    uint32_t at = place(tally, number);

    return tally != NULL && at < tally->count && tally->numbers[at] == number;
}

/* The state with the number in it, or without it if it was; the empty one is NULL. */
static int flipped(const Tally *from, uint32_t number, void **state_out)
{
    uint32_t at = place(from, number);
    bool there = has(from, number);
    uint32_t before = from != NULL ? from->count : 0;
    uint32_t count = there ? before - 1 : before + 1;
    Tally *to = count > 0 ? make(count) : NULL;

    if (to == NULL) {
        *state_out = count > 0 ? *state_out : NULL;
        return count > 0 ? SAP_NOMEM : SAP_OK;
    }
    for (uint32_t i = 0; i < at; i++) {
        to->numbers[i] = from->numbers[i];
    }
    if (!there) {
        to->numbers[at] = number;
    }
    for (uint32_t i = at + (there ? 1 : 0); i < before; i++) {
        to->numbers[there ? i - 1 : i + 1] = from->numbers[i];
    }
    *state_out = to;
    return SAP_OK;
}

static int write_flip(uint8_t what, uint32_t number, sap_write_fn write, void *ctx)
{
    uint8_t bytes[FLIP_BYTES] = {what};

    store_u32le(bytes + 1, number);
    return write(bytes, sizeof bytes, ctx);
}

/* Those of `in` that `out` does not have. */
static int write_others(const Tally *in, const Tally *out, uint8_t what, sap_write_fn write,
                        void *ctx)
{
    int rc = SAP_OK;

    for (uint32_t i = 0; in != NULL && i < in->count && rc == SAP_OK; i++) {
        rc = has(out, in->numbers[i]) ? SAP_OK : write_flip(what, in->numbers[i], write, ctx);
    }
    return rc;
}

/* The answer that was asked for; writes what was asked for, whatever becomes of it. */
static int answer(int rc, sap_write_fn write, void *ctx)
{
    if (tally_answers.write != 0) {
        (void)write("", tally_answers.write, ctx);
    }
    return rc;
}

static int encode(void *ctx, void *base, void *state, sap_write_fn write, void *write_ctx)
{
    EXPECT(ctx == &tally_answers, "another context");
    EXPECT(base != state, "encode without a change");
    tally_encoded++;
    int rc = answer(tally_answers.encode, write, write_ctx);
    if (rc == SAP_OK) {
        rc = write_others(base, state, REMOVED, write, write_ctx);
    }
    return rc == SAP_OK ? write_others(state, base, ADDED, write, write_ctx) : rc;
}

static int apply(void *ctx, const void *bytes, uint32_t len, void **state)
{
    ByteReader reader;
    int rc = tally_answers.apply;

    EXPECT(ctx == &tally_answers, "another context");
    EXPECT(len > 0, "apply without bytes");
    reader_init(&reader, bytes, len);
    while (rc == SAP_OK && reader.left > 0) {
        uint8_t what = 0;
        uint32_t number = 0;
        rc = reader_u8(&reader, &what);
        if (rc == SAP_OK) {
            rc = reader_u32le(&reader, &number);
        }
        if (rc == SAP_OK && what != (has(*state, number) ? REMOVED : ADDED)) {
            rc = SAP_INVALID;
        }
        if (rc == SAP_OK) {
            rc = flipped(*state, number, state);
        }
    }
    return rc;
}

static int save(void *ctx, void *state, sap_write_fn write, void *write_ctx)
{
    EXPECT(ctx == &tally_answers, "another context");
    EXPECT(state != NULL, "nothing is saved");
    int rc = answer(tally_answers.save, write, write_ctx);
    return rc == SAP_OK ? write_others(state, NULL, ADDED, write, write_ctx) : rc;
}

const SapSubsystem *tally_subsystem(void)
{
    static const SapSubsystem subsystem = {
        .id = TALLY_ID,
        .callbacks = {.encode = encode, .apply = apply, .save = save, .ctx = &tally_answers}};

    return &subsystem;
}

int tally_flip(SapTxnCtx *txn, uint32_t number)
{
    void *state = NULL;
    int rc = sap_txn_subsystem_state(txn, TALLY_ID, &state);

    if (rc == SAP_OK) {
        rc = flipped(state, number, &state);
    }
    return rc == SAP_OK ? sap_txn_set_subsystem_state(txn, TALLY_ID, state) : rc;
}

const char *tally_text(SapEnv *db, SapTxnCtx *txn)
{
    static char text[TEXT_MAX];
    SapTxnCtx *reader = txn;
    void *state = NULL;
    size_t at = 0;

    if (txn == NULL) {
        EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &reader), SAP_OK);
    }
    EXPECT_RC(sap_txn_subsystem_state(reader, TALLY_ID, &state), SAP_OK);
    if (txn == NULL) {
        sap_txn_abort(reader);
    }
    const Tally *tally = state;
    text[0] = 0;
    for (uint32_t i = 0; tally != NULL && i < tally->count; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%u", i == 0 ? "" : " ",
                               tally->numbers[i]);
        EXPECT(at < sizeof text, "too many numbers");
    }
    return text;
}

void tally_expect(SapEnv *db, const char *expected)
{
    const char *text = tally_text(db, NULL);

    EXPECT(strcmp(text, expected) == 0, "the state is \"%s\" instead of \"%s\"", text, expected);
}
