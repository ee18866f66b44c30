#include "by_hand.h"

#include "common/bytes.h"
#include "common/mem.h"
#include "common/utf8.h"

enum {
    COUNTERS_SIZE = 1 + 4 * 8 + 2 * 4 + 2 * 2 + 1 + 8,
    JOB_HEAD = 1 + 8 + 8 + 4 + 2 + 1 + 1 + 8
};

int counters_encode_by_hand(const Counters *v, Buf *buf)
{
    if (v->state > WIT_CODEC_BENCH_STATE_FAILED) {
        return SAP_INVALID;
    }
    int rc = buf_reserve(buf, COUNTERS_SIZE);
    if (rc != SAP_OK) {
        return rc;
    }
    uint8_t *p = buf->data + buf->len;
    uint64_t bits;
    memcpy(&bits, &v->ratio, sizeof bits);
    p[0] = 1;
    store_u64le(p + 1, v->id);
    store_u64le(p + 9, v->parent);
    store_u64le(p + 17, (uint64_t)v->created);
    store_u64le(p + 25, (uint64_t)v->changed);
    store_u32le(p + 33, v->owner);
    store_u32le(p + 37, v->attempts);
    store_u16le(p + 41, v->priority);
    store_u16le(p + 43, v->shard);
    p[45] = v->state;
    store_u64le(p + 46, bits);
    buf->len += COUNTERS_SIZE;
    return SAP_OK;
}

int counters_decode_by_hand(const uint8_t *p, size_t len, Counters *v)
{
    if (len < COUNTERS_SIZE || p[0] != 1 || p[45] > WIT_CODEC_BENCH_STATE_FAILED) {
        return SAP_INVALID;
    }
    uint64_t bits = load_u64le(p + 46);
    v->id = load_u64le(p + 1);
    v->parent = load_u64le(p + 9);
    v->created = (int64_t)load_u64le(p + 17);
    v->changed = (int64_t)load_u64le(p + 25);
    v->owner = load_u32le(p + 33);
    v->attempts = load_u32le(p + 37);
    v->priority = load_u16le(p + 41);
    v->shard = load_u16le(p + 43);
    v->state = p[45];
    memcpy(&v->ratio, &bits, sizeof bits);
    return SAP_OK;
}

int job_encode_by_hand(const Job *v, Buf *buf)
{
    if (v->attempts < 1 || v->state > WIT_CODEC_BENCH_STATE_FAILED ||
        !utf8_valid(v->name.data, v->name.len)) {
        return SAP_INVALID;
    }
    int rc = buf_reserve(buf, JOB_HEAD + 8 + (size_t)v->name.len + v->payload.len + 9);
    if (rc != SAP_OK) {
        return rc;
    }
    uint8_t *p = buf->data + buf->len;
    uint64_t bits;
    memcpy(&bits, &v->ratio, sizeof bits);
    p[0] = 1;
    store_u64le(p + 1, v->id);
    store_u64le(p + 9, (uint64_t)v->due);
    store_u32le(p + 17, v->attempts);
    store_u16le(p + 21, v->priority);
    p[23] = v->urgent;
    p[24] = v->state;
    store_u64le(p + 25, bits);
    p += JOB_HEAD;
    store_u32le(p, v->name.len);
    memcpy(p + 4, v->name.data, v->name.len);
    p += 4 + v->name.len;
    store_u32le(p, v->payload.len);
    memcpy(p + 4, v->payload.data, v->payload.len);
    p += 4 + v->payload.len;
    *p++ = v->parent.some;
    if (v->parent.some) {
        store_u64le(p, v->parent.value);
        p += 8;
    }
    buf->len = (size_t)(p - buf->data);
    return SAP_OK;
}

void job_free_by_hand(Job *v)
{
    mem_free(MEM_COMMON, v->name.data, v->name.len);
    mem_free(MEM_COMMON, v->payload.data, v->payload.len);
}

/* Takes a length and as many bytes from p[0..*left). */
static const uint8_t *take_by_hand(const uint8_t *p, size_t *left, CodecBytes *out)
{
    if (*left < 4 || load_u32le(p) > *left - 4) {
        return NULL;
    }
    out->len = load_u32le(p);
    if (out->len > 0) {
        out->data = mem_alloc(MEM_COMMON, out->len);
        if (out->data == NULL) {
            return NULL;
        }
        memcpy(out->data, p + 4, out->len);
    }
    *left -= 4 + (size_t)out->len;
    return p + 4 + out->len;
}

int job_decode_by_hand(const uint8_t *p, size_t len, Job *v_out)
{
    Job v = {0};

    if (len < JOB_HEAD || p[0] != 1 || p[23] > 1 || p[24] > WIT_CODEC_BENCH_STATE_FAILED) {
        return SAP_INVALID;
    }
    uint64_t bits = load_u64le(p + 25);
    v.id = load_u64le(p + 1);
    v.due = (int64_t)load_u64le(p + 9);
    v.attempts = load_u32le(p + 17);
    v.priority = load_u16le(p + 21);
    v.urgent = p[23];
    v.state = p[24];
    memcpy(&v.ratio, &bits, sizeof bits);
    p += JOB_HEAD;
    len -= JOB_HEAD;
    p = take_by_hand(p, &len, &v.name);
    p = p == NULL ? NULL : take_by_hand(p, &len, &v.payload);
    if (p == NULL || v.attempts < 1 || !utf8_valid(v.name.data, v.name.len)) {
        job_free_by_hand(&v);
        return SAP_INVALID;
    }
    if (len > 0) {
        v.parent.some = p[0] == 1;
        if (p[0] > 1 || (v.parent.some && len < 9)) {
            job_free_by_hand(&v);
            return SAP_INVALID;
        }
        v.parent.value = v.parent.some ? load_u64le(p + 1) : 0;
    }
    *v_out = v;
    return SAP_OK;
}
