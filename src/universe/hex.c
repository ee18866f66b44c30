/* hex.c - see hex.h. */
#include "universe/hex.h"

void hex_write(char *text, const uint8_t *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * len] = 0;
}

static int digit_value(char digit)
{
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                                          : -1;
}

bool hex_read(const char *text, uint8_t *bytes_out, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        int high = digit_value(text[2 * i]);
        int low = high < 0 ? -1 : digit_value(text[2 * i + 1]);
        if (low < 0) {
            return false;
        }
        bytes_out[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}
