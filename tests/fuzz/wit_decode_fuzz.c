/* Every generated decoder: the first byte picks the type, the others are its bytes. */
#include "wit_constructs_samples.h"
#include "wit_runtime_samples.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return -1;
    }
    size_t i = data[0] % (wit_runtime_sample_count + wit_constructs_sample_count);
    sample_fuzz(i < wit_runtime_sample_count
                    ? &wit_runtime_samples[i]
                    : &wit_constructs_samples[i - wit_runtime_sample_count],
                data + 1, size - 1);
    return 0;
}
