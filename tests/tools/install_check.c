/* install_check.c - the smallest program against an installed library. */
#include "sapling/sapling.h"

#include <stdio.h>

int main(void)
{
    const char *text = sap_strerror(0);
    if (text == NULL || text[0] == '\0')
        return 1;
    return puts(text) < 0 ? 1 : 0;
}
