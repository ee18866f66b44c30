/* hex.h - bytes as text of hexadecimal digits. */
#ifndef SAPLING_UNIVERSE_HEX_H
#define SAPLING_UNIVERSE_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes two digits for each byte, and a NUL. */
void hex_write(char *text, const uint8_t *bytes, size_t len);

/* Reads two digits for each byte. False: the text has others, or is too short. */
bool hex_read(const char *text, uint8_t *bytes_out, size_t len);

#endif
