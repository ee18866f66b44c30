/* wit_universe_json.c - its types as JSON.
 *
 * Generated from schemas/wit/universe-schema.wit by tools/wit_codegen: change the schema. */
#include "wit_universe_json.h"

#include "common/bytes.h"

static int read_u32(const json_t *json, uint32_t *out, CodecError *error)
{
    uint64_t v = 0;
    int rc = codec_json_read_unsigned(json, UINT32_MAX, &v, error);

    *out = (uint32_t)v;
    return rc;
}

static int read_u64(const json_t *json, uint64_t *out, CodecError *error)
{
    uint64_t v = 0;
    int rc = codec_json_read_unsigned(json, UINT64_MAX, &v, error);

    *out = (uint64_t)v;
    return rc;
}

static const char *const wit_universe_dbi16_lease_key_names[] = {
    "universe",
    "world",
};

static json_t *wit_universe_dbi16_lease_key_write_json(const WitUniverseDbi16LeaseKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi16_lease_key_read_json(const json_t *json, WitUniverseDbi16LeaseKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi16_lease_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi16-lease-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi16-lease-key", "world", rc);
    }
    return rc;
}

int wit_universe_dbi16_lease_key_to_json(const WitUniverseDbi16LeaseKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi16_lease_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi16_lease_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi16_lease_key_from_json(const json_t *json, WitUniverseDbi16LeaseKey *v_out, CodecError *error)
{
    WitUniverseDbi16LeaseKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi16_lease_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi16-lease-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi16_lease_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi16_lease_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi16_lease_value_names[] = {
    "holder",
    "nonce",
    "epoch",
};

static json_t *wit_universe_dbi16_lease_value_write_json(const WitUniverseDbi16LeaseValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "holder", codec_json_string(&v->holder));
    ok = ok && codec_json_add(json, "nonce", codec_json_bytes(&v->nonce));
    ok = ok && codec_json_add(json, "epoch", codec_json_unsigned(v->epoch));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi16_lease_value_read_json(const json_t *json, WitUniverseDbi16LeaseValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi16_lease_value_names, 3, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "holder"), &v->holder, error);
        (void)codec_blame(error, "record dbi16-lease-value", "holder", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "nonce"), &v->nonce, error);
        (void)codec_blame(error, "record dbi16-lease-value", "nonce", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "epoch"), &v->epoch, error);
        (void)codec_blame(error, "record dbi16-lease-value", "epoch", rc);
    }
    return rc;
}

int wit_universe_dbi16_lease_value_to_json(const WitUniverseDbi16LeaseValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi16_lease_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi16_lease_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi16_lease_value_from_json(const json_t *json, WitUniverseDbi16LeaseValue *v_out, CodecError *error)
{
    WitUniverseDbi16LeaseValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi16_lease_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi16-lease-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi16_lease_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi16_lease_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi17_sessions_key_names[] = {
    "universe",
    "worker",
};

static json_t *wit_universe_dbi17_sessions_key_write_json(const WitUniverseDbi17SessionsKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "worker", codec_json_string(&v->worker));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi17_sessions_key_read_json(const json_t *json, WitUniverseDbi17SessionsKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi17_sessions_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi17-sessions-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "worker"), &v->worker, error);
        (void)codec_blame(error, "record dbi17-sessions-key", "worker", rc);
    }
    return rc;
}

int wit_universe_dbi17_sessions_key_to_json(const WitUniverseDbi17SessionsKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi17_sessions_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi17_sessions_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi17_sessions_key_from_json(const json_t *json, WitUniverseDbi17SessionsKey *v_out, CodecError *error)
{
    WitUniverseDbi17SessionsKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi17_sessions_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi17-sessions-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi17_sessions_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi17_sessions_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi17_sessions_value_names[] = {
    "nonce",
    "expires-ns",
};

static json_t *wit_universe_dbi17_sessions_value_write_json(const WitUniverseDbi17SessionsValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "nonce", codec_json_bytes(&v->nonce));
    ok = ok && codec_json_add(json, "expires-ns", codec_json_unsigned(v->expires_ns));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi17_sessions_value_read_json(const json_t *json, WitUniverseDbi17SessionsValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi17_sessions_value_names, 2, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "nonce"), &v->nonce, error);
        (void)codec_blame(error, "record dbi17-sessions-value", "nonce", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "expires-ns"), &v->expires_ns, error);
        (void)codec_blame(error, "record dbi17-sessions-value", "expires-ns", rc);
    }
    return rc;
}

int wit_universe_dbi17_sessions_value_to_json(const WitUniverseDbi17SessionsValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi17_sessions_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi17_sessions_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi17_sessions_value_from_json(const json_t *json, WitUniverseDbi17SessionsValue *v_out, CodecError *error)
{
    WitUniverseDbi17SessionsValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi17_sessions_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi17-sessions-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi17_sessions_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi17_sessions_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi18_held_key_names[] = {
    "universe",
    "nonce",
    "world",
};

static json_t *wit_universe_dbi18_held_key_write_json(const WitUniverseDbi18HeldKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "nonce", codec_json_bytes(&v->nonce));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi18_held_key_read_json(const json_t *json, WitUniverseDbi18HeldKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi18_held_key_names, 3, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi18-held-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "nonce"), &v->nonce, error);
        (void)codec_blame(error, "record dbi18-held-key", "nonce", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi18-held-key", "world", rc);
    }
    return rc;
}

int wit_universe_dbi18_held_key_to_json(const WitUniverseDbi18HeldKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi18_held_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi18_held_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi18_held_key_from_json(const json_t *json, WitUniverseDbi18HeldKey *v_out, CodecError *error)
{
    WitUniverseDbi18HeldKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi18_held_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi18-held-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi18_held_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi18_held_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi18_held_value_names[] = {
    "value",
};

static json_t *wit_universe_dbi18_held_value_write_json(const WitUniverseDbi18HeldValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "value", codec_json_bytes(&v->value));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi18_held_value_read_json(const json_t *json, WitUniverseDbi18HeldValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi18_held_value_names, 1, error);
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "value"), &v->value, error);
        (void)codec_blame(error, "record dbi18-held-value", "value", rc);
    }
    return rc;
}

int wit_universe_dbi18_held_value_to_json(const WitUniverseDbi18HeldValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi18_held_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi18_held_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi18_held_value_from_json(const json_t *json, WitUniverseDbi18HeldValue *v_out, CodecError *error)
{
    WitUniverseDbi18HeldValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi18_held_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi18-held-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi18_held_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi18_held_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi19_head_key_names[] = {
    "universe",
    "world",
};

static json_t *wit_universe_dbi19_head_key_write_json(const WitUniverseDbi19HeadKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi19_head_key_read_json(const json_t *json, WitUniverseDbi19HeadKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi19_head_key_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi19-head-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi19-head-key", "world", rc);
    }
    return rc;
}

int wit_universe_dbi19_head_key_to_json(const WitUniverseDbi19HeadKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi19_head_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi19_head_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi19_head_key_from_json(const json_t *json, WitUniverseDbi19HeadKey *v_out, CodecError *error)
{
    WitUniverseDbi19HeadKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi19_head_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi19-head-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi19_head_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi19_head_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi19_head_value_names[] = {
    "height",
    "digest",
};

static json_t *wit_universe_dbi19_head_value_write_json(const WitUniverseDbi19HeadValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "height", codec_json_unsigned(v->height));
    ok = ok && codec_json_add(json, "digest", codec_json_bytes(&v->digest));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi19_head_value_read_json(const json_t *json, WitUniverseDbi19HeadValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi19_head_value_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "height"), &v->height, error);
        (void)codec_blame(error, "record dbi19-head-value", "height", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "digest"), &v->digest, error);
        (void)codec_blame(error, "record dbi19-head-value", "digest", rc);
    }
    return rc;
}

int wit_universe_dbi19_head_value_to_json(const WitUniverseDbi19HeadValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi19_head_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi19_head_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi19_head_value_from_json(const json_t *json, WitUniverseDbi19HeadValue *v_out, CodecError *error)
{
    WitUniverseDbi19HeadValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi19_head_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi19-head-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi19_head_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi19_head_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi20_journal_key_names[] = {
    "universe",
    "world",
    "height",
    "part",
};

static json_t *wit_universe_dbi20_journal_key_write_json(const WitUniverseDbi20JournalKey *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "universe", codec_json_unsigned(v->universe));
    ok = ok && codec_json_add(json, "world", codec_json_string(&v->world));
    ok = ok && codec_json_add(json, "height", codec_json_unsigned(v->height));
    ok = ok && codec_json_add(json, "part", codec_json_unsigned(v->part));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi20_journal_key_read_json(const json_t *json, WitUniverseDbi20JournalKey *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi20_journal_key_names, 4, error);
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "universe"), &v->universe, error);
        (void)codec_blame(error, "record dbi20-journal-key", "universe", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_string(json_object_get(json, "world"), &v->world, error);
        (void)codec_blame(error, "record dbi20-journal-key", "world", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "height"), &v->height, error);
        (void)codec_blame(error, "record dbi20-journal-key", "height", rc);
    }
    if (rc == SAP_OK) {
        rc = read_u32(json_object_get(json, "part"), &v->part, error);
        (void)codec_blame(error, "record dbi20-journal-key", "part", rc);
    }
    return rc;
}

int wit_universe_dbi20_journal_key_to_json(const WitUniverseDbi20JournalKey *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi20_journal_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi20_journal_key_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi20_journal_key_from_json(const json_t *json, WitUniverseDbi20JournalKey *v_out, CodecError *error)
{
    WitUniverseDbi20JournalKey v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi20_journal_key_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi20-journal-key", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi20_journal_key_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi20_journal_key_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

static const char *const wit_universe_dbi20_journal_value_names[] = {
    "epoch",
    "content",
};

static json_t *wit_universe_dbi20_journal_value_write_json(const WitUniverseDbi20JournalValue *v)
{
    json_t *json = json_object();
    bool ok = json != NULL;

    ok = ok && codec_json_add(json, "epoch", codec_json_unsigned(v->epoch));
    ok = ok && codec_json_add(json, "content", codec_json_bytes(&v->content));
    return codec_json_done(json, ok);
}

static int wit_universe_dbi20_journal_value_read_json(const json_t *json, WitUniverseDbi20JournalValue *v, CodecError *error)
{
    int rc = codec_json_read_fields(json, wit_universe_dbi20_journal_value_names, 2, error);
    if (rc == SAP_OK) {
        rc = read_u64(json_object_get(json, "epoch"), &v->epoch, error);
        (void)codec_blame(error, "record dbi20-journal-value", "epoch", rc);
    }
    if (rc == SAP_OK) {
        rc = codec_json_read_bytes(json_object_get(json, "content"), &v->content, error);
        (void)codec_blame(error, "record dbi20-journal-value", "content", rc);
    }
    return rc;
}

int wit_universe_dbi20_journal_value_to_json(const WitUniverseDbi20JournalValue *v, json_t **json_out, CodecError *error)
{
    int rc = wit_universe_dbi20_journal_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    json_t *json = wit_universe_dbi20_journal_value_write_json(v);
    if (json == NULL) {
        return SAP_NOMEM;
    }
    *json_out = json;
    return SAP_OK;
}

int wit_universe_dbi20_journal_value_from_json(const json_t *json, WitUniverseDbi20JournalValue *v_out, CodecError *error)
{
    WitUniverseDbi20JournalValue v;

    memset(&v, 0, sizeof v);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    int rc = wit_universe_dbi20_journal_value_read_json(json, &v, error);
    (void)codec_blame(error, "record dbi20-journal-value", "", rc);
    if (rc == SAP_OK) {
        rc = wit_universe_dbi20_journal_value_validate(&v, error);
    }
    if (rc != SAP_OK) {
        wit_universe_dbi20_journal_value_free(&v);
        return rc;
    }
    *v_out = v;
    return SAP_OK;
}

