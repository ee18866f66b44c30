/* wit_universe.c - codecs of the types in its header.
 *
 * Generated from schemas/wit/universe-schema.wit by tools/wit_codegen: change the schema. */
#include "wit_universe.h"

static void wit_universe_dbi16_lease_key_write_key(CodecWriter *w, const WitUniverseDbi16LeaseKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->world);
}

static void wit_universe_dbi16_lease_key_read_key(CodecReader *r, WitUniverseDbi16LeaseKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi16-lease-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi16-lease-key", "world")) {
        return;
    }
}

static int wit_universe_dbi16_lease_key_check(const WitUniverseDbi16LeaseKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi16-lease-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi16-lease-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi16_lease_key_equal(const WitUniverseDbi16LeaseKey *a, const WitUniverseDbi16LeaseKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->world, &b->world);
}

void wit_universe_dbi16_lease_key_free(WitUniverseDbi16LeaseKey *v)
{
    codec_bytes_free(&v->world);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi16_lease_key_validate(const WitUniverseDbi16LeaseKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi16_lease_key_check(v, error);
}

int wit_universe_dbi16_lease_key_encode(const WitUniverseDbi16LeaseKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi16_lease_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi16_lease_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi16_lease_key_decode(const void *data, size_t len, WitUniverseDbi16LeaseKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi16LeaseKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi16_lease_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi16-lease-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi16_lease_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi16_lease_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi16_lease_value_write(CodecWriter *w, const WitUniverseDbi16LeaseValue *v)
{
    codec_write_bytes(w, &v->holder);
    codec_write_bytes(w, &v->nonce);
    codec_write_u64(w, v->epoch);
}

static void wit_universe_dbi16_lease_value_read(CodecReader *r, WitUniverseDbi16LeaseValue *v)
{
    codec_read_bytes(r, &v->holder);
    if (codec_read_failed(r, "record dbi16-lease-value", "holder")) {
        return;
    }
    codec_read_bytes(r, &v->nonce);
    if (codec_read_failed(r, "record dbi16-lease-value", "nonce")) {
        return;
    }
    v->epoch = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi16-lease-value", "epoch")) {
        return;
    }
}

static int wit_universe_dbi16_lease_value_check(const WitUniverseDbi16LeaseValue *v, CodecError *error)
{
    int rc = codec_check_string(&v->holder, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi16-lease-value", "holder", rc);
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->holder.len), codec_number_u(UINT64_C(128))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi16-lease-value", "holder", "len(value) <= 128");
        }
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->nonce.len), codec_number_u(UINT64_C(0))) == 0) || (codec_number_compare(codec_number_u(v->nonce.len), codec_number_u(UINT64_C(16))) == 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi16-lease-value", "nonce", "len(value) == 0 || len(value) == 16");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->epoch), codec_number_u(UINT64_C(1))) >= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi16-lease-value", "epoch", "value >= 1");
        }
    }
    {
        bool bad = false;
        bool holds = codec_truths_equal((codec_number_compare(codec_number_u(v->holder.len), codec_number_u(UINT64_C(0))) == 0), (codec_number_compare(codec_number_u(v->nonce.len), codec_number_u(UINT64_C(0))) == 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi16-lease-value", "", "(len(holder) == 0) == (len(nonce) == 0)");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi16_lease_value_equal(const WitUniverseDbi16LeaseValue *a, const WitUniverseDbi16LeaseValue *b)
{
    return codec_bytes_equal(&a->holder, &b->holder) &&
           codec_bytes_equal(&a->nonce, &b->nonce) &&
           a->epoch == b->epoch;
}

void wit_universe_dbi16_lease_value_free(WitUniverseDbi16LeaseValue *v)
{
    codec_bytes_free(&v->holder);
    codec_bytes_free(&v->nonce);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi16_lease_value_validate(const WitUniverseDbi16LeaseValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi16_lease_value_check(v, error);
}

int wit_universe_dbi16_lease_value_encode(const WitUniverseDbi16LeaseValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi16_lease_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi16_lease_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi16_lease_value_decode(const void *data, size_t len, WitUniverseDbi16LeaseValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi16LeaseValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi16_lease_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi16-lease-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi16_lease_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi16_lease_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi17_sessions_key_write_key(CodecWriter *w, const WitUniverseDbi17SessionsKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->worker);
}

static void wit_universe_dbi17_sessions_key_read_key(CodecReader *r, WitUniverseDbi17SessionsKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi17-sessions-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->worker);
    if (codec_read_failed(r, "record dbi17-sessions-key", "worker")) {
        return;
    }
}

static int wit_universe_dbi17_sessions_key_check(const WitUniverseDbi17SessionsKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->worker, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi17-sessions-key", "worker", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->worker.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->worker.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi17-sessions-key", "worker", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi17_sessions_key_equal(const WitUniverseDbi17SessionsKey *a, const WitUniverseDbi17SessionsKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->worker, &b->worker);
}

void wit_universe_dbi17_sessions_key_free(WitUniverseDbi17SessionsKey *v)
{
    codec_bytes_free(&v->worker);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi17_sessions_key_validate(const WitUniverseDbi17SessionsKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi17_sessions_key_check(v, error);
}

int wit_universe_dbi17_sessions_key_encode(const WitUniverseDbi17SessionsKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi17_sessions_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi17_sessions_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi17_sessions_key_decode(const void *data, size_t len, WitUniverseDbi17SessionsKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi17SessionsKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi17_sessions_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi17-sessions-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi17_sessions_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi17_sessions_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi17_sessions_value_write(CodecWriter *w, const WitUniverseDbi17SessionsValue *v)
{
    codec_write_bytes(w, &v->nonce);
    codec_write_u64(w, v->expires_ns);
}

static void wit_universe_dbi17_sessions_value_read(CodecReader *r, WitUniverseDbi17SessionsValue *v)
{
    codec_read_bytes(r, &v->nonce);
    if (codec_read_failed(r, "record dbi17-sessions-value", "nonce")) {
        return;
    }
    v->expires_ns = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi17-sessions-value", "expires-ns")) {
        return;
    }
}

static int wit_universe_dbi17_sessions_value_check(const WitUniverseDbi17SessionsValue *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->nonce.len), codec_number_u(UINT64_C(16))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi17-sessions-value", "nonce", "len(value) == 16");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi17_sessions_value_equal(const WitUniverseDbi17SessionsValue *a, const WitUniverseDbi17SessionsValue *b)
{
    return codec_bytes_equal(&a->nonce, &b->nonce) &&
           a->expires_ns == b->expires_ns;
}

void wit_universe_dbi17_sessions_value_free(WitUniverseDbi17SessionsValue *v)
{
    codec_bytes_free(&v->nonce);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi17_sessions_value_validate(const WitUniverseDbi17SessionsValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi17_sessions_value_check(v, error);
}

int wit_universe_dbi17_sessions_value_encode(const WitUniverseDbi17SessionsValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi17_sessions_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi17_sessions_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi17_sessions_value_decode(const void *data, size_t len, WitUniverseDbi17SessionsValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi17SessionsValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi17_sessions_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi17-sessions-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi17_sessions_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi17_sessions_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi18_held_key_write_key(CodecWriter *w, const WitUniverseDbi18HeldKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->nonce);
    codec_write_key_bytes(w, &v->world);
}

static void wit_universe_dbi18_held_key_read_key(CodecReader *r, WitUniverseDbi18HeldKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi18-held-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->nonce);
    if (codec_read_failed(r, "record dbi18-held-key", "nonce")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi18-held-key", "world")) {
        return;
    }
}

static int wit_universe_dbi18_held_key_check(const WitUniverseDbi18HeldKey *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->nonce.len), codec_number_u(UINT64_C(16))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi18-held-key", "nonce", "len(value) == 16");
        }
    }
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi18-held-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi18-held-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi18_held_key_equal(const WitUniverseDbi18HeldKey *a, const WitUniverseDbi18HeldKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->nonce, &b->nonce) &&
           codec_bytes_equal(&a->world, &b->world);
}

void wit_universe_dbi18_held_key_free(WitUniverseDbi18HeldKey *v)
{
    codec_bytes_free(&v->nonce);
    codec_bytes_free(&v->world);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi18_held_key_validate(const WitUniverseDbi18HeldKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi18_held_key_check(v, error);
}

int wit_universe_dbi18_held_key_encode(const WitUniverseDbi18HeldKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi18_held_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi18_held_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi18_held_key_decode(const void *data, size_t len, WitUniverseDbi18HeldKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi18HeldKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi18_held_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi18-held-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi18_held_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi18_held_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi18_held_value_write(CodecWriter *w, const WitUniverseDbi18HeldValue *v)
{
    codec_write_raw(w, v->value.data, v->value.len);
}

static void wit_universe_dbi18_held_value_read(CodecReader *r, WitUniverseDbi18HeldValue *v)
{
    codec_read_rest(r, &v->value);
    if (codec_read_failed(r, "record dbi18-held-value", "value")) {
        return;
    }
}

bool wit_universe_dbi18_held_value_equal(const WitUniverseDbi18HeldValue *a, const WitUniverseDbi18HeldValue *b)
{
    return codec_bytes_equal(&a->value, &b->value);
}

void wit_universe_dbi18_held_value_free(WitUniverseDbi18HeldValue *v)
{
    codec_bytes_free(&v->value);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi18_held_value_validate(const WitUniverseDbi18HeldValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    (void)v;
    return SAP_OK;
}

int wit_universe_dbi18_held_value_encode(const WitUniverseDbi18HeldValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi18_held_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi18_held_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi18_held_value_decode(const void *data, size_t len, WitUniverseDbi18HeldValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi18HeldValue v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi18_held_value_read(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi18-held-value", "");
    if (r.rc != SAP_OK) {
        wit_universe_dbi18_held_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi19_head_key_write_key(CodecWriter *w, const WitUniverseDbi19HeadKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->world);
}

static void wit_universe_dbi19_head_key_read_key(CodecReader *r, WitUniverseDbi19HeadKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi19-head-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi19-head-key", "world")) {
        return;
    }
}

static int wit_universe_dbi19_head_key_check(const WitUniverseDbi19HeadKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi19-head-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi19-head-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi19_head_key_equal(const WitUniverseDbi19HeadKey *a, const WitUniverseDbi19HeadKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->world, &b->world);
}

void wit_universe_dbi19_head_key_free(WitUniverseDbi19HeadKey *v)
{
    codec_bytes_free(&v->world);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi19_head_key_validate(const WitUniverseDbi19HeadKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi19_head_key_check(v, error);
}

int wit_universe_dbi19_head_key_encode(const WitUniverseDbi19HeadKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi19_head_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi19_head_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi19_head_key_decode(const void *data, size_t len, WitUniverseDbi19HeadKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi19HeadKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi19_head_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi19-head-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi19_head_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi19_head_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi19_head_value_write(CodecWriter *w, const WitUniverseDbi19HeadValue *v)
{
    codec_write_u64(w, v->height);
    codec_write_bytes(w, &v->digest);
}

static void wit_universe_dbi19_head_value_read(CodecReader *r, WitUniverseDbi19HeadValue *v)
{
    v->height = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi19-head-value", "height")) {
        return;
    }
    codec_read_bytes(r, &v->digest);
    if (codec_read_failed(r, "record dbi19-head-value", "digest")) {
        return;
    }
}

static int wit_universe_dbi19_head_value_check(const WitUniverseDbi19HeadValue *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->digest.len), codec_number_u(UINT64_C(32))) == 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi19-head-value", "digest", "len(value) == 32");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi19_head_value_equal(const WitUniverseDbi19HeadValue *a, const WitUniverseDbi19HeadValue *b)
{
    return a->height == b->height &&
           codec_bytes_equal(&a->digest, &b->digest);
}

void wit_universe_dbi19_head_value_free(WitUniverseDbi19HeadValue *v)
{
    codec_bytes_free(&v->digest);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi19_head_value_validate(const WitUniverseDbi19HeadValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi19_head_value_check(v, error);
}

int wit_universe_dbi19_head_value_encode(const WitUniverseDbi19HeadValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi19_head_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi19_head_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi19_head_value_decode(const void *data, size_t len, WitUniverseDbi19HeadValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi19HeadValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi19_head_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi19-head-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi19_head_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi19_head_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi20_journal_key_write_key(CodecWriter *w, const WitUniverseDbi20JournalKey *v)
{
    codec_write_u32be(w, v->universe);
    codec_write_key_bytes(w, &v->world);
    codec_write_u64be(w, v->height);
    codec_write_u32be(w, v->part);
}

static void wit_universe_dbi20_journal_key_read_key(CodecReader *r, WitUniverseDbi20JournalKey *v)
{
    v->universe = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi20-journal-key", "universe")) {
        return;
    }
    codec_read_key_bytes(r, &v->world);
    if (codec_read_failed(r, "record dbi20-journal-key", "world")) {
        return;
    }
    v->height = codec_read_u64be(r);
    if (codec_read_failed(r, "record dbi20-journal-key", "height")) {
        return;
    }
    v->part = codec_read_u32be(r);
    if (codec_read_failed(r, "record dbi20-journal-key", "part")) {
        return;
    }
}

static int wit_universe_dbi20_journal_key_check(const WitUniverseDbi20JournalKey *v, CodecError *error)
{
    int rc = codec_check_string(&v->world, error);
    if (rc != SAP_OK) {
        return codec_blame(error, "record dbi20-journal-key", "world", rc);
    }
    {
        bool bad = false;
        bool holds = ((codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(1))) >= 0) && (codec_number_compare(codec_number_u(v->world.len), codec_number_u(UINT64_C(128))) <= 0));
        if (bad || !holds) {
            return codec_broken(error, "record dbi20-journal-key", "world", "len(value) >= 1 && len(value) <= 128");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->height), codec_number_u(UINT64_C(1))) >= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi20-journal-key", "height", "value >= 1");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi20_journal_key_equal(const WitUniverseDbi20JournalKey *a, const WitUniverseDbi20JournalKey *b)
{
    return a->universe == b->universe &&
           codec_bytes_equal(&a->world, &b->world) &&
           a->height == b->height &&
           a->part == b->part;
}

void wit_universe_dbi20_journal_key_free(WitUniverseDbi20JournalKey *v)
{
    codec_bytes_free(&v->world);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi20_journal_key_validate(const WitUniverseDbi20JournalKey *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi20_journal_key_check(v, error);
}

int wit_universe_dbi20_journal_key_encode(const WitUniverseDbi20JournalKey *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi20_journal_key_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    wit_universe_dbi20_journal_key_write_key(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi20_journal_key_decode(const void *data, size_t len, WitUniverseDbi20JournalKey *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi20JournalKey v;

    memset(&v, 0, sizeof v);
    wit_universe_dbi20_journal_key_read_key(&r, &v);
    codec_read_all(&r);
    (void)codec_read_failed(&r, "record dbi20-journal-key", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi20_journal_key_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi20_journal_key_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

static void wit_universe_dbi20_journal_value_write(CodecWriter *w, const WitUniverseDbi20JournalValue *v)
{
    codec_write_u64(w, v->epoch);
    codec_write_bytes(w, &v->content);
}

static void wit_universe_dbi20_journal_value_read(CodecReader *r, WitUniverseDbi20JournalValue *v)
{
    v->epoch = codec_read_u64(r);
    if (codec_read_failed(r, "record dbi20-journal-value", "epoch")) {
        return;
    }
    codec_read_bytes(r, &v->content);
    if (codec_read_failed(r, "record dbi20-journal-value", "content")) {
        return;
    }
}

static int wit_universe_dbi20_journal_value_check(const WitUniverseDbi20JournalValue *v, CodecError *error)
{
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->epoch), codec_number_u(UINT64_C(1))) >= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi20-journal-value", "epoch", "value >= 1");
        }
    }
    {
        bool bad = false;
        bool holds = (codec_number_compare(codec_number_u(v->content.len), codec_number_u(UINT64_C(262144))) <= 0);
        if (bad || !holds) {
            return codec_broken(error, "record dbi20-journal-value", "content", "len(value) <= 262144");
        }
    }
    return SAP_OK;
}

bool wit_universe_dbi20_journal_value_equal(const WitUniverseDbi20JournalValue *a, const WitUniverseDbi20JournalValue *b)
{
    return a->epoch == b->epoch &&
           codec_bytes_equal(&a->content, &b->content);
}

void wit_universe_dbi20_journal_value_free(WitUniverseDbi20JournalValue *v)
{
    codec_bytes_free(&v->content);
    memset(v, 0, sizeof *v);
}

int wit_universe_dbi20_journal_value_validate(const WitUniverseDbi20JournalValue *v, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return wit_universe_dbi20_journal_value_check(v, error);
}

int wit_universe_dbi20_journal_value_encode(const WitUniverseDbi20JournalValue *v, Buf *buf, CodecError *error)
{
    int rc = wit_universe_dbi20_journal_value_validate(v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    CodecWriter w = codec_write_start(buf);
    codec_write_u8(&w, 1);
    wit_universe_dbi20_journal_value_write(&w, v);
    return codec_write_end(&w);
}

int wit_universe_dbi20_journal_value_decode(const void *data, size_t len, WitUniverseDbi20JournalValue *v_out, CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    WitUniverseDbi20JournalValue v;

    memset(&v, 0, sizeof v);
    codec_read_version(&r, 1);
    wit_universe_dbi20_journal_value_read(&r, &v);
    (void)codec_read_failed(&r, "record dbi20-journal-value", "");
    if (r.rc == SAP_OK) {
        r.rc = wit_universe_dbi20_journal_value_check(&v, error);
    }
    if (r.rc != SAP_OK) {
        wit_universe_dbi20_journal_value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}

