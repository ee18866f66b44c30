#include "common/options.h"

#include "common/assert.h"

#include <string.h>

/* No struct is as large; a size above it is not a size. */
enum { MAX_SIZE = 4096 };

bool options_all_zero(const void *bytes, size_t len)
{
    const unsigned char *byte = bytes;

    for (size_t i = 0; i < len; i++) {
        if (byte[i] != 0) {
            return false;
        }
    }
    return true;
}

int options_read(void *known, size_t known_size, size_t first_size, const void *given)
{
    uint32_t size = 0;

    SAP_ASSERT(first_size >= sizeof size && first_size <= known_size && known_size <= MAX_SIZE);
    memset(known, 0, known_size);
    if (given != NULL) {
        memcpy(&size, given, sizeof size);
        size_t told = size != 0 ? size : first_size;
        if (told < first_size || told > MAX_SIZE ||
            (told > known_size &&
             !options_all_zero((const char *)given + known_size, told - known_size))) {
            return SAP_ERROR;
        }
        memcpy(known, given, told < known_size ? told : known_size);
    }
    size = (uint32_t)known_size;
    memcpy(known, &size, sizeof size);
    return SAP_OK;
}
