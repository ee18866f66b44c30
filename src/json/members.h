/* members.h - the members of an object or map, written first and put in order afterwards.
 *
 * A canonical writer appends the members of one object one after another to its output, in the
 * order of the input, and notes each here. members_sort() then moves their bytes into the order of
 * their keys. Objects nest: the list is a stack, and the members of one object are those from
 * `first` on, the length of the list when the object began.
 *
 * Invariant: the members of one object are adjacent in the output and in the list, in the same
 * order; none is empty. */
#ifndef SAPLING_JSON_MEMBERS_H
#define SAPLING_JSON_MEMBERS_H

#include "common/buf.h"

typedef struct Member {
    size_t source_at; /* where its key begins in the input */
    size_t key_at;    /* in the buffer of the keys */
    size_t key_len;
    size_t at; /* in the output: the member with its key */
    size_t len;
    const uint8_t *key; /* set and used by members_sort() alone */
} Member;

/* All zero is an empty list. */
typedef struct Members {
    Buf list;    /* of Member */
    Buf scratch; /* the members of one object in their new order */
} Members;

/* Compares the keys of two Members as qsort() wants it; 0 only for the same bytes. */
typedef int (*MemberOrder)(const void *a, const void *b);

void members_release(Members *members);

static inline size_t members_count(const Members *members)
{
    return members->list.len / sizeof(Member);
}

/* SAP_NOMEM, SAP_FULL: nothing was added. */
int members_add(Members *members, const Member *member);

/* Sorts the members from number `first` on, which end where `out` ends, and removes them from the
 * list. Their keys are in `keys`, which may be `out` itself.
 * SAP_INVALID: two keys are equal; *twice_out is where the later one begins in the input.
 * SAP_NOMEM, SAP_FULL. After a failure the list can only be released. */
int members_sort(Members *members, size_t first, const Buf *keys, Buf *out, MemberOrder order,
                 size_t *twice_out);

#endif
