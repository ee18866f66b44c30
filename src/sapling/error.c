/* error.c - the texts of the codes. */
#include "sapling/error.h"

const char *sap_strerror(int rc)
{
    switch (rc) {
#define TEXT_OF(name, number, text) \
    case number:                    \
        return text;
        SAP_ERROR_TABLE(TEXT_OF)
#undef TEXT_OF
    default:
        return "unknown code";
    }
}
