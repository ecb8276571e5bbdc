/* stack_probe.c: see stack_probe.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stack_probe.h"

#include "memledger/memledger.h"
#include "names.h"
#include "record.h"
#include "stack.h"

#define EXPORTED __attribute__((visibility("default"), noinline))

/* A frame of our own between the hook and the recorder: none may be seen. */
static __attribute__((noinline)) uint32_t stack_from_within(void)
{
    uint32_t stack = ml_stack_here();

    __asm__ volatile("" ::: "memory"); /* no tail call */
    return stack;
}

EXPORTED uint32_t probe_alloc(uint64_t address, uint64_t bytes)
{
    uint32_t space = ml_space_number("probe:0", MEMLEDGER_DRIVER, "probe");
    uint32_t stack = stack_from_within();

    ml_record_alloc_stack(space, address, bytes, stack);
    return stack;
}

EXPORTED void probe_sample(uint64_t used_bytes)
{
    uint64_t bits = ML_SAMPLE_USED | ML_SAMPLE_BY_PROCESS | ML_SAMPLE_INSIDE | 0xff00;
    uint64_t words[] = {ml_record_word(ML_SAMPLE, 0, ml_now()),
                        ml_pair(ml_name("probe:0"), bits),
                        used_bytes,
                        0,
                        0,
                        used_bytes / 2};

    ml_record(words, 6);
}
