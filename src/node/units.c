/* units.c - see units.h. */
#include "node/units.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct Unit {
    const char *name;
    uint64_t factor;
} Unit;

/* A number and one of the units, which end with a factor of 0. */
static bool read_scaled(const char *text, const Unit *units, uint64_t *value_out)
{
    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || errno != 0) {
        return false;
    }
    while (units->factor > 0 && strcmp(end, units->name) != 0) {
        units++;
    }
    if (units->factor == 0 || number > UINT64_MAX / units->factor) {
        return false;
    }
    *value_out = number * units->factor;
    return true;
}

bool units_read_time(const char *text, uint64_t *ms_out)
{
    static const Unit units[] = {{"ms", 1},      {"s", 1000},     {"", 1000}, {"m", 60000},
                                 {"h", 3600000}, {"d", 86400000}, {NULL, 0}};
    return read_scaled(text, units, ms_out);
}

bool units_read_size(const char *text, uint64_t *bytes_out)
{
    static const Unit units[] = {
        {"", 1}, {"K", 1u << 10}, {"M", 1u << 20}, {"G", 1u << 30}, {NULL, 0}};
    return read_scaled(text, units, bytes_out);
}
