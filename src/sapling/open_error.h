/* open_error.h - why the last open of this thread failed, for sap_open_error(). */
#ifndef SAPLING_SAPLING_OPEN_ERROR_H
#define SAPLING_SAPLING_OPEN_ERROR_H

#include <stdbool.h>

/* Replaces the text; a longer one is cut. */
void open_error_set(const char *text);
/* "PATH: " (NULL: "") and the text of the code, unless there is a text since open_error_clear(). */
void open_error_set_code(const char *path, int rc);
void open_error_clear(void);

/* Whether messages about files, of this thread's calls, are texts for sap_open_error() from now on: while
 * it opens something, and what that commits may fail. Returns what was so before, to be set again. */
bool open_error_listen(bool listen);
bool open_error_is_listening(void);

#endif
