/* wit_store_samples.h - its types, for tests.
 *
 * Generated from schemas/wit/store-schema.wit by tools/wit_codegen: change the schema. */
#ifndef SAPLING_GENERATED_WIT_STORE_SAMPLES_H
#define SAPLING_GENERATED_WIT_STORE_SAMPLES_H

#include "samples/samples.h"

extern const SampleType wit_store_samples[];
extern const size_t wit_store_sample_count;

#endif
