/* Every generated codec, one record at a time: SAP_FUZZ_RECORD is its name, "constructs/shape", and
 * "list" prints all names. Inputs are the bytes of a value. Every so often one is made of a random
 * value, so that what is behind lengths and refinements is reached; what generated code makes of an
 * input, reading it by the schema must make of it too. */
#include "schema/value_json.h"
#include "wit_constructs_samples.h"
#include "wit_runtime_samples.h"
#include "wit_store_samples.h"
#include "wit_universe_samples.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static const SampleType *sample;
static Schema *schema;
static Type *type;

static bool find(const char *wanted, const char *package, const char *file,
                 const SampleType *samples, size_t count)
{
    size_t len = strlen(package);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(wanted, "list") == 0) {
            printf("%s/%s\n", package, samples[i].name);
        } else if (strncmp(wanted, package, len) == 0 && wanted[len] == '/' &&
                   strcmp(wanted + len + 1, samples[i].name) == 0) {
            sample = &samples[i];
            schema = read_schema(file);
            check_schemas(&schema, 1);
            type = find_type(schema, sample->name);
            return true;
        }
    }
    return false;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *wanted = getenv("SAP_FUZZ_RECORD");

    (void)argc;
    (void)argv;
    if (wanted == NULL) {
        fputs("SAP_FUZZ_RECORD names no record; SAP_FUZZ_RECORD=list names all\n", stderr);
        exit(1);
    }
    if (find(wanted, "runtime", "schemas/wit/runtime-schema.wit", wit_runtime_samples,
             wit_runtime_sample_count) ||
        find(wanted, "store", "schemas/wit/store-schema.wit", wit_store_samples,
             wit_store_sample_count) ||
        find(wanted, "universe", "schemas/wit/universe-schema.wit", wit_universe_samples,
             wit_universe_sample_count) ||
        find(wanted, "constructs", "tests/schemas/constructs.wit", wit_constructs_samples,
             wit_constructs_sample_count)) {
        return 0;
    }
    exit(strcmp(wanted, "list") == 0 ? 0 : 1);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    if (seed % 8 == 0) {
        void *v = calloc(1, sample->size);
        Buf buf = {0};
        Choice choice;
        EXPECT(v != NULL, "no memory");
        choice_from_seed(&choice, seed);
        sample->random(&choice, v);
        if (sample->encode(v, &buf, NULL) == SAP_OK && buf.len > 0 && buf.len <= max_size) {
            memcpy(data, buf.data, buf.len);
            size = buf.len;
        }
        sample->free(v);
        free(v);
        buf_release(&buf);
        if (seed % 16 == 0) {
            return size;
        }
    }
    return LLVMFuzzerMutate(data, size, max_size);
}

static void compare(const uint8_t *data, size_t size)
{
    void *v = calloc(1, sample->size);
    Value value;
    CodecError ours;
    CodecError theirs;

    EXPECT(v != NULL, "no memory");
    int rc = sample->decode(data, size, v, &theirs);
    int again = value_decode(schema, type, data, size, &value, &ours);
    EXPECT(rc == again && strcmp(ours.text, theirs.text) == 0, "%d '%s', generated code %d '%s'",
           again, ours.text, rc, theirs.text);
    if (rc == SAP_OK) {
        json_t *wanted = NULL;
        json_t *found = value_json(type, &value);
        EXPECT_RC(sample->to_json(v, &wanted, &theirs), SAP_OK);
        EXPECT(json_equal(wanted, found), "other JSON by the schema");
        json_decref(wanted);
        json_decref(found);
        value_free(&value);
        sample->free(v);
    }
    free(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sample_fuzz(sample, data, size);
    compare(data, size);
    return 0;
}
