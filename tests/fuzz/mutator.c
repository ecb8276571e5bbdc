/* mutator.c: libFuzzer's mutations of a trace, half of them with right checksums, so that the
 * fuzzer gets past them. Linked with libFuzzer only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t len, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t most, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t most, unsigned seed)
{
    len = LLVMFuzzerMutate(data, len, most);
    if (seed % 2)
        fuzz_fix_sums(data, len, seed / 2 % 2);
    return len;
}
