/* wit_runtime_samples.h - its types, for tests.
 *
 * Generated from schemas/wit/runtime-schema.wit by tools/wit_codegen: change the schema. */
#ifndef SAPLING_GENERATED_WIT_RUNTIME_SAMPLES_H
#define SAPLING_GENERATED_WIT_RUNTIME_SAMPLES_H

#include "samples/samples.h"

extern const SampleType wit_runtime_samples[];
extern const size_t wit_runtime_sample_count;

#endif
