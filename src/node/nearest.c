/* nearest.c - see nearest.h. */
#include "node/nearest.h"

#include <string.h>

enum { NAME_MOST = 32 };

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters to add, drop, replace or swap with their neighbour. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t rows[3][NAME_MOST + 1];

    for (size_t j = 0; j <= b_len; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_len; i++) {
        size_t *now = rows[i % 3];
        const size_t *before = rows[(i - 1) % 3];
        const size_t *two_before = rows[(i + 1) % 3];

        now[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            now[j] = before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            now[j] = least_of(now[j], least_of(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                now[j] = least_of(now[j], two_before[j - 2] + 1);
            }
        }
    }
    return rows[a_len % 3][b_len];
}

void nearest_start(Nearest *nearest, const char *wanted, size_t len)
{
    *nearest = (Nearest){wanted, len, NULL, len < 4 ? 2 : 3};
}

void nearest_try(Nearest *nearest, const char *name)
{
    size_t len = strlen(name);

    if (len > NAME_MOST || nearest->wanted_len > NAME_MOST || nearest->wanted_len == 0) {
        return;
    }
    size_t d = strncmp(name, nearest->wanted, nearest->wanted_len) == 0
                   ? 1
                   : distance(nearest->wanted, nearest->wanted_len, name, len);
    if (d < nearest->distance && d < len) {
        nearest->name = name;
        nearest->distance = d;
    }
}
