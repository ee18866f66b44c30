/* open_error.c - see open_error.h. */
#include "sapling/open_error.h"

#include <stdio.h>

#include "common/config.h"
#include "sapling/error.h"

enum { OPEN_ERROR_MAX = 1024 };

#if SAPLING_THREADED
static _Thread_local char last_text[OPEN_ERROR_MAX];
static _Thread_local bool listening;
#else
static char last_text[OPEN_ERROR_MAX];
static bool listening;
#endif

void open_error_set(const char *text)
{
    (void)snprintf(last_text, sizeof last_text, "%s", text);
}

void open_error_set_code(const char *path, int rc)
{
    if (last_text[0] == '\0') {
        (void)snprintf(last_text, sizeof last_text, "%s%s%s", path != NULL ? path : "",
                       path != NULL ? ": " : "", sap_strerror(rc));
    }
}

void open_error_clear(void)
{
    last_text[0] = '\0';
}

bool open_error_listen(bool listen)
{
    bool before = listening;
    listening = listen;
    return before;
}

bool open_error_is_listening(void)
{
    return listening;
}

const char *sap_open_error(void)
{
    return last_text;
}
