/* version.c - the version of the library, for programs compiled with headers of another one. */
#include "sapling/version.h"

const char *sap_version(void)
{
    return SAPLING_VERSION;
}

int sap_version_number(void)
{
    return SAPLING_VERSION_NUMBER;
}
