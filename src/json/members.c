#include "json/members.h"

#include "common/assert.h"

#include <stdbool.h>
#include <stdlib.h>

void members_release(Members *members)
{
    buf_release(&members->list);
    buf_release(&members->scratch);
}

int members_add(Members *members, const Member *member)
{
    SAP_ASSERT(member->len > 0);
    return buf_append(&members->list, member, sizeof *member);
}

/* Moves the bytes of out[at..) into the order of the list. */
static int move_members(Buf *scratch, const Member *list, size_t count, Buf *out, size_t at)
{
    size_t len = out->len - at;
    int rc;

    buf_clear(scratch);
    rc = buf_reserve(scratch, len);
    if (rc != SAP_OK) {
        return rc;
    }
    for (size_t i = 0; i < count; i++) {
        rc = buf_append(scratch, out->data + list[i].at, list[i].len);
        SAP_ASSERT(rc == SAP_OK);
    }
    SAP_ASSERT(scratch->len == len);
    memcpy(out->data + at, scratch->data, len);
    return SAP_OK;
}

int members_sort(Members *members, size_t first, const Buf *keys, Buf *out, MemberOrder order,
                 size_t *twice_out)
{
    size_t count = members_count(members) - first;

    SAP_ASSERT(first <= members_count(members));
    if (count == 0) {
        return SAP_OK;
    }
    Member *list = (Member *)(void *)members->list.data + first;
    /* Of keys that are all empty there are no bytes. */
    const uint8_t *key_bytes = keys->data != NULL ? keys->data : (const uint8_t *)"";
    size_t at = list[0].at;
    bool sorted = true;
    for (size_t i = 0; i < count; i++) {
        SAP_ASSERT(list[i].at + list[i].len == (i + 1 < count ? list[i + 1].at : out->len));
        list[i].key = key_bytes + list[i].key_at;
        sorted = sorted && (i == 0 || order(&list[i - 1], &list[i]) < 0);
    }
    if (!sorted) {
        qsort(list, count, sizeof *list, order);
        for (size_t i = 1; i < count; i++) {
            if (order(&list[i - 1], &list[i]) == 0) {
                size_t one = list[i - 1].source_at;
                size_t other = list[i].source_at;
                *twice_out = one > other ? one : other;
                return SAP_INVALID;
            }
        }
        int rc = move_members(&members->scratch, list, count, out, at);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    buf_truncate(&members->list, first * sizeof *list);
    return SAP_OK;
}
