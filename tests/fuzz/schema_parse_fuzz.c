/* A schema of any bytes: mistakes, or one by which rows can be read and with which it is compatible. */
#include "schema/value.h"
#include "support/expect.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* The first byte says how much of the rest is a row. */
    size_t row = size == 0 ? 0 : data[0] % 32;
    if (size < 1 + row) {
        return -1;
    }
    size_t len = size - 1 - row;
    char *text = take_text((const char *)data + 1 + row, len);
    Schema *schema = parse_schema("fuzz.wit", text, len);

    check_schemas(&schema, 1);
    for (size_t i = 0; i < schema->type_count && mistake_count() == 0; i++) {
        Value value;
        CodecError error;
        if (schema->types[i]->kind != TYPE_ALIAS) {
            int rc = value_decode(schema, schema->types[i], data + 1, row, &value, &error);
            EXPECT(rc == SAP_OK || rc == SAP_INVALID, "%d", rc);
            EXPECT((rc == SAP_OK) == (error.text[0] == '\0'), "%d says '%s'", rc, error.text);
            if (rc == SAP_OK) {
                value_free(&value);
            }
        }
    }
    release_all();
    return 0;
}
