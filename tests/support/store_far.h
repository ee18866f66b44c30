/* store_far.h - a network of its own for processes of a test, with one link to this machine that can be
 * cut.
 *
 * It is a network namespace and a pair of virtual interfaces. Cut, the link drops all packets in both
 * directions and says nothing: each side sends to an address of the other that nobody has. The namespace
 * has no name; the system removes it, and the interfaces, when the last process that has it ends. */
#ifndef SAPLING_TESTS_STORE_FAR_H
#define SAPLING_TESTS_STORE_FAR_H

#include <stdbool.h>

enum { FAR_TEXT_MAX = 32 };

typedef struct Far {
    int net_fd;               /* of the namespace, for setns(); 0: there is none */
    char near[FAR_TEXT_MAX];  /* the address of this machine on the link */
    char there[FAR_TEXT_MAX]; /* the address in the namespace */
    char link[FAR_TEXT_MAX];  /* the interface of this machine */
} Far;

/* False: it cannot be made here, and the test is to be skipped; that has been printed. End with
 * far_end(). */
bool far_start(Far *far);
/* Accepts one that was never started, all zero. */
void far_end(Far *far);

void far_cut(const Far *far);
void far_heal(const Far *far);

#endif
