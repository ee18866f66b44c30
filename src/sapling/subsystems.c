/* subsystems.c - structures of the user's own that share the transactions; their states as bytes.
 *
 * A committed state does not change: what a transaction makes of it is another pointer. So a pointer
 * that is still that of the newest version needs no bytes. */
#include "sapling/dbfile.h"

#include <string.h>

#include "common/assert.h"
#include "common/options.h"
#include "sapling/effects.h"
#include "sapling/wal_format.h"

enum {
    SAVED_END = 0,
    SAVED_STATE = 1,
    SAVED_HEADER = 6,
};

/* ---- Who there is, and their states --------------------------------------------------------- */

bool subsystem_known(const SapEnv *env, uint32_t id)
{
    return id < SAP_MAX_SUBSYSTEMS && atomic_load_acquire(&env->subsystems[id].registered);
}

bool subsystems_any(const SapEnv *env)
{
    bool any = false;
    for (uint32_t id = 0; id < SAP_MAX_SUBSYSTEMS; id++) {
        any = any || subsystem_known(env, id);
    }
    return any;
}

bool subsystem_is_durable(const SapSubsystemCallbacks *callbacks)
{
    return callbacks->encode != NULL && callbacks->apply != NULL && callbacks->save != NULL;
}

OPTIONS_LAYOUT(SapSubsystem, callbacks.ctx, callbacks);
OPTIONS_LAYOUT(SapSubsystemCallbacks, ctx, ctx);

int subsystem_read(const SapSubsystem *subsystems, uint32_t i, SapSubsystem *subsystem_out)
{
    size_t size = subsystems->size != 0 ? subsystems->size : (size_t)SapSubsystem_FIRST_SIZE;
    const SapSubsystem *given =
        (const SapSubsystem *)(const void *)((const char *)subsystems + i * size);
    return given->size == subsystems->size ? OPTIONS_READ(SapSubsystem, subsystem_out, given)
                                           : SAP_ERROR;
}

static void subsystem_add(SapEnv *env, uint32_t id, const SapSubsystemCallbacks *callbacks)
{
    Subsystem *subsystem = &env->subsystems[id];
    subsystem->calls = *callbacks;
    atomic_store_release(&subsystem->registered, true);
}

void subsystems_add(SapEnv *env, const SapSubsystem *subsystems, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        SapSubsystem known;
        int rc = subsystem_read(subsystems, i, &known);
        SAP_ASSERT(rc == SAP_OK); /* it was when they were checked */
        subsystem_add(env, known.id, &known.callbacks);
    }
}

int sap_env_register_subsystem(SapEnv *env, uint32_t id, const SapSubsystemCallbacks *callbacks)
{
    SapSubsystemCallbacks known;
    if (!env_usable(env) || callbacks == NULL || id >= SAP_MAX_SUBSYSTEMS ||
        OPTIONS_READ(SapSubsystemCallbacks, &known, callbacks) != SAP_OK) {
        return SAP_ERROR;
    }
    int rc = env_metadata_begin(env);
    if (rc != SAP_OK) {
        return rc;
    }
    if (subsystem_known(env, id)) {
        rc = SAP_EXISTS;
    } else if (env->file != NULL) {
        rc = SAP_ERROR;
    } else {
        subsystem_add(env, id, &known);
    }
    env_metadata_end(env);
    return rc;
}

int sap_env_subsystem_state(SapEnv *env, uint32_t id, void **state_out)
{
    if (!env_usable(env) || state_out == NULL || !subsystem_known(env, id)) {
        return SAP_ERROR;
    }
    Version version;
    version_get(&env->newest, &version);
    *state_out = version.subsystem[id];
    return SAP_OK;
}

int sap_env_set_subsystem_state(SapEnv *env, uint32_t id, void *state)
{
    if (!env_usable(env) || !subsystem_known(env, id) || env->file != NULL) {
        return SAP_ERROR;
    }
    int rc = env_metadata_begin(env);
    if (rc != SAP_OK) {
        return rc;
    }
    /* A version of its own: a reader that copied the present one before the gate closed, and stores
     * its pin after, finds that it must start over. */
    Version version;
    version_get(&env->newest, &version);
    version.subsystem[id] = state;
    version_put(&env->newest, &version);
    env_metadata_end(env);
    return SAP_OK;
}

int sap_txn_subsystem_state(SapTxnCtx *txn, uint32_t id, void **state_out)
{
    int rc = txn_check(txn);
    if (rc == SAP_OK && (state_out == NULL || !subsystem_known(txn->env, id))) {
        rc = SAP_ERROR;
    }
    if (rc == SAP_OK) {
        *state_out = txn->subsystem[id];
    }
    return rc;
}

int sap_txn_set_subsystem_state(SapTxnCtx *txn, uint32_t id, void *state)
{
    int rc = txn_check_write(txn);
    if (rc == SAP_OK && !subsystem_known(txn->env, id)) {
        rc = SAP_ERROR;
    }
    if (rc == SAP_OK) {
        txn->subsystem[id] = state;
    }
    return rc;
}

/* ---- A transaction's life ------------------------------------------------------------------- */

static void keep_states(SapTxnCtx *txn)
{
    Version version;
    version_get(&txn->env->newest, &version);
    memcpy(version.subsystem, txn->subsystem, sizeof version.subsystem);
    version_put(&txn->env->newest, &version);
}

void subsystems_abort(SapTxnCtx *txn)
{
    if ((txn->flags & TXN_UNHEARD) != 0 && txn->parent == NULL) {
        keep_states(txn);
    }
    while (txn->subsystem_count > 0) {
        uint32_t id = --txn->subsystem_count;
        Subsystem *subsystem = &txn->env->subsystems[id];
        if (atomic_load_relaxed(&subsystem->registered) && subsystem->calls.on_abort != NULL) {
            subsystem->calls.on_abort(txn, txn->subsystem[id]);
        }
    }
}

/* txn->subsystem holds the parent's states. */
int subsystems_begin(SapTxnCtx *txn)
{
    if ((txn->flags & TXN_UNHEARD) != 0) {
        return SAP_OK;
    }
    for (uint32_t id = 0; id < SAP_MAX_SUBSYSTEMS; id++) {
        Subsystem *subsystem = &txn->env->subsystems[id];
        if (atomic_load_relaxed(&subsystem->registered) && subsystem->calls.on_begin != NULL) {
            void *state = txn->subsystem[id];
            int rc = subsystem->calls.on_begin(txn, state, &state);
            if (rc != SAP_OK) {
                subsystems_abort(txn);
                return rc;
            }
            txn->subsystem[id] = state;
        }
        txn->subsystem_count = id + 1;
    }
    return SAP_OK;
}

/* What a call answers for a subsystem that said `rc`: of a commit or a close, SAP_IO is the disk's
 * alone, and SAP_BUSY says that nothing was done. */
static int answer_of(int rc)
{
    return rc == SAP_IO || rc == SAP_BUSY ? SAP_ERROR : rc;
}

int subsystems_commit(SapTxnCtx *txn)
{
    if ((txn->flags & TXN_UNHEARD) != 0) {
        return SAP_OK;
    }
    for (uint32_t id = 0; id < SAP_MAX_SUBSYSTEMS; id++) {
        Subsystem *subsystem = &txn->env->subsystems[id];
        if (atomic_load_relaxed(&subsystem->registered) && subsystem->calls.on_commit != NULL) {
            int rc = answer_of(subsystem->calls.on_commit(txn, &txn->subsystem[id]));
            if (txn->child != NULL) {
                sap_txn_abort(txn->child); /* the callback left it open */
                rc = rc == SAP_OK ? SAP_ERROR : rc;
            }
            if (rc != SAP_OK) {
                return rc;
            }
        }
    }
    return SAP_OK;
}

bool subsystems_changed(const SapTxnCtx *txn)
{
    Version version;
    version_get(&txn->env->newest, &version);
    return memcmp(version.subsystem, txn->subsystem, sizeof version.subsystem) != 0;
}

void subsystems_destroy(SapEnv *env)
{
    Version last;
    version_get(&env->newest, &last);
    for (uint32_t id = SAP_MAX_SUBSYSTEMS; id-- > 0;) {
        Subsystem *subsystem = &env->subsystems[id];
        if (atomic_load_relaxed(&subsystem->registered) &&
            subsystem->calls.on_env_destroy != NULL) {
            subsystem->calls.on_env_destroy(env, last.subsystem[id]);
        }
    }
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

/* What a subsystem writes, as long as there is room. */
typedef struct Sink {
    Buf *to;
    uint64_t most; /* that `to` may have */
    int rc;
} Sink;

static int sink_write(const void *bytes, uint32_t len, void *ctx)
{
    Sink *sink = (Sink *)ctx;
    if (sink->rc == SAP_OK) {
        sink->rc = len > sink->most - sink->to->len ? SAP_FULL : buf_append(sink->to, bytes, len);
    }
    return sink->rc;
}

/* A subsystem that writes on after it was told not to has failed all the same. */
static int sink_end(const Sink *sink, int rc)
{
    return answer_of(rc == SAP_OK ? sink->rc : rc);
}

int subsystems_encode(SapTxnCtx *txn)
{
    SapEnv *env = txn->env;
    Version base;
    version_get(&env->newest, &base);
    int rc = SAP_OK;
    for (uint32_t id = 0; id < SAP_MAX_SUBSYSTEMS && rc == SAP_OK; id++) {
        const SapSubsystemCallbacks *calls = &env->subsystems[id].calls;
        if (base.subsystem[id] == txn->subsystem[id]) {
            continue;
        }
        Buf bytes = {0};
        Sink sink = {.to = &bytes, .most = WAL_RECORD_MAX};
        rc = sink_end(&sink, calls->encode(calls->ctx, base.subsystem[id], txn->subsystem[id],
                                           sink_write, &sink));
        if (rc == SAP_OK && bytes.len > 0) {
            rc = effects_subsystem(txn, id, (Slice){bytes.data, bytes.len});
        }
        buf_release(&bytes);
    }
    return rc;
}

int subsystem_apply(SapEnv *env, uint32_t id, Slice bytes, void **state)
{
    if (!subsystem_known(env, id)) {
        return SAP_NOTFOUND;
    }
    const SapSubsystemCallbacks *calls = &env->subsystems[id].calls;
    int rc = calls->apply(calls->ctx, bytes.data, (uint32_t)bytes.len, state);
    return rc == SAP_OK || rc == SAP_NOMEM ? rc : SAP_CORRUPT;
}

/* One state behind those before it; nothing if it has no bytes. */
static int save_one(const SapSubsystemCallbacks *calls, uint32_t id, void *state, Buf *saved)
{
    size_t start = saved->len;
    uint8_t header[SAVED_HEADER] = {SAVED_STATE, (uint8_t)id};
    Sink sink = {.to = saved, .most = SAP_MAX_VAL_LEN};
    int rc = sink_write(header, SAVED_HEADER, &sink);
    if (rc == SAP_OK) {
        rc = sink_end(&sink, calls->save(calls->ctx, state, sink_write, &sink));
    }
    if (rc != SAP_OK) {
        return rc;
    }
    size_t len = saved->len - start - SAVED_HEADER;
    if (len == 0) {
        buf_truncate(saved, start);
    } else {
        store_u32le(saved->data + start + 2, (uint32_t)len);
    }
    return SAP_OK;
}

int subsystems_save(SapEnv *env, void *const states[SAP_MAX_SUBSYSTEMS], Buf *saved)
{
    int rc = SAP_OK;
    for (uint32_t id = 0; id < SAP_MAX_SUBSYSTEMS && rc == SAP_OK; id++) {
        const SapSubsystemCallbacks *calls = &env->subsystems[id].calls;
        if (states[id] != NULL && calls->save != NULL) {
            rc = save_one(calls, id, states[id], saved);
        }
    }
    return rc;
}

static bool all_zeros(const ByteReader *reader)
{
    bool zeros = true;
    for (size_t i = 0; zeros && i < reader->left; i++) {
        zeros = reader->p[i] == 0;
    }
    return zeros;
}

int saved_state_take(ByteReader *reader, uint32_t *id, Slice *bytes)
{
    uint8_t tag = SAVED_END;
    uint8_t number = 0;
    uint32_t len = 0;
    const uint8_t *start = NULL;
    if (reader->left == 0) {
        return SAP_NOTFOUND; /* they fill the run */
    }
    (void)reader_u8(reader, &tag); /* there is one */
    if (tag == SAVED_END) {
        return all_zeros(reader) ? SAP_NOTFOUND : SAP_CORRUPT;
    }
    int rc = tag == SAVED_STATE ? reader_u8(reader, &number) : SAP_CORRUPT;
    if (rc == SAP_OK) {
        rc = reader_u32le(reader, &len);
    }
    if (rc == SAP_OK) {
        rc = reader_bytes(reader, len, &start);
    }
    bool first = bytes->data == NULL;
    if (rc != SAP_OK || len == 0 || number >= SAP_MAX_SUBSYSTEMS || (!first && number <= *id)) {
        return SAP_CORRUPT;
    }
    *id = number;
    *bytes = (Slice){start, len};
    return SAP_OK;
}

/* ---- In a file ------------------------------------------------------------------------------ */

int dbfile_check_subsystems(DbFile *file, const SapOpenOptions *options)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < options->subsystem_count; i++) {
        SapSubsystem known;
        if (subsystem_read(options->subsystems, i, &known) != SAP_OK) {
            return dbfile_report(file, SAP_ERROR,
                                 "subsystem %u of the options has another size than the first one, "
                                 "or fields that this version of the library does not know",
                                 i);
        }
        const SapSubsystem *subsystem = &known;
        uint32_t bit = subsystem->id < SAP_MAX_SUBSYSTEMS ? 1u << subsystem->id : UINT32_MAX;
        if ((seen & bit) != 0 || bit == UINT32_MAX) {
            return dbfile_report(file, SAP_ERROR,
                                 "subsystem %u of the options has the id %u, which is another's or "
                                 "not below %u",
                                 i, subsystem->id, SAP_MAX_SUBSYSTEMS);
        }
        if (!subsystem_is_durable(&subsystem->callbacks)) {
            return dbfile_report(file, SAP_ERROR,
                                 "subsystem %u cannot be in a file: it lacks encode, apply or save",
                                 subsystem->id);
        }
        seen |= bit;
    }
    return SAP_OK;
}

int dbfile_apply_state(DbFile *file, uint32_t id, Slice bytes, void **state)
{
    int rc = subsystem_apply(file->env, id, bytes, state);
    if (rc == SAP_NOTFOUND) {
        return dbfile_report(file, SAP_ERROR,
                             "has a state of subsystem %u, which the options given to "
                             "db_open_path() do not have: it needs the program that made it",
                             id);
    }
    return rc == SAP_CORRUPT
               ? dbfile_report(file, rc, "damaged: subsystem %u refuses the state it has there", id)
               : rc;
}

int dbfile_load_states(DbFile *file, Slice saved)
{
    VersionCell *newest = &file->env->newest;
    Version version;
    version_get(newest, &version);
    ByteReader reader;
    reader_init(&reader, saved.data, saved.len);
    uint32_t id = 0;
    Slice bytes = {0};
    int rc = SAP_OK;
    while (rc == SAP_OK) {
        rc = saved_state_take(&reader, &id, &bytes);
        if (rc == SAP_OK) {
            rc = dbfile_apply_state(file, id, bytes, &version.subsystem[id]);
        }
    }
    version_put(newest, &version);
    if (rc == SAP_CORRUPT && !atomic_load_relaxed(&file->told)) {
        return dbfile_report(file, rc, "damaged: its run of subsystems' states has something else");
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}
