/* wit_universe_samples.h - its types, for tests.
 *
 * Generated from schemas/wit/universe-schema.wit by tools/wit_codegen: change the schema. */
#ifndef SAPLING_GENERATED_WIT_UNIVERSE_SAMPLES_H
#define SAPLING_GENERATED_WIT_UNIVERSE_SAMPLES_H

#include "samples/samples.h"

extern const SampleType wit_universe_samples[];
extern const size_t wit_universe_sample_count;

#endif
