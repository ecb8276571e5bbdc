/* frame_step.c: see frame_step.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "frame_step.h"

#include <link.h>
#include <stddef.h>

#include "cfi_entry.h"
#include "cfi_program.h"
#include "code_object.h"

void ml_unwind_init(void)
{
    ml_code_object_init();
    ml_stack_memory_init();
    ml_row_cache_init();
}

/* The loader's counter of unloaded objects is in what it says about each object. */
static int read_unloads(struct dl_phdr_info *info, size_t bytes, void *ret)
{
    (void)bytes;
    *(uint64_t *)ret = info->dlpi_subs;
    return 1;
}

void ml_unwind_unloaded(void)
{
    static _Atomic uint64_t known;
    uint64_t unloads = 0;

    dl_iterate_phdr(read_unloads, &unloads);
    if (atomic_exchange_explicit(&known, unloads, memory_order_relaxed) != unloads)
        ml_row_cache_forget();
}

static struct ml_unwind_row row_without_address(enum ml_cfa_rule rule)
{
    return (struct ml_unwind_row){.cfa = rule};
}

/* libc's unwind data for the return from a signal is complicated, and other libraries have none. */
static struct ml_unwind_row row_in(const struct ml_code_object *object, uintptr_t instruction)
{
    struct ml_cfi_entry entry;

    if (ml_signal_returns_at(instruction + 1, object->code_end))
        return row_without_address(ML_CFA_SIGNAL);
    if (!object->cfi.header)
        return row_without_address(ML_CFA_UNKNOWN);
    switch (ml_cfi_find(&object->cfi, instruction, &entry)) {
    case ML_CFI_FOUND:
        return entry.is_signal ? row_without_address(ML_CFA_COMPLEX)
                               : ml_cfi_run(&entry, instruction);
    case ML_CFI_NO_ENTRY: return row_without_address(ML_CFA_UNKNOWN);
    default: return row_without_address(ML_CFA_COMPLEX);
    }
}

/* An address outside of all objects may belong to a library later. */
ML_NOINLINE struct ml_unwind_row ml_unwind_find_row(uintptr_t instruction, uint32_t unloads)
{
    struct ml_code_object object;
    struct ml_unwind_row row;

    if (!ml_code_object_at(instruction, &object))
        return row_without_address(ML_CFA_UNKNOWN);
    row = row_in(&object, instruction);
    ml_row_cache_put(instruction, unloads, row);
    return row;
}

ML_NOINLINE enum ml_unwound ml_unwind_signal(const struct ml_stack_range *stack, uintptr_t sp,
                                             struct ml_native_frame *ret)
{
    *ret = (struct ml_native_frame){.is_interrupted = true};
    if (!ml_stack_read(stack, sp + ML_SIGNAL_PC_OFFSET, &ret->pc) ||
        !ml_stack_read(stack, sp + ML_SIGNAL_SP_OFFSET, &ret->sp) ||
        !ml_stack_read(stack, sp + ML_SIGNAL_FP_OFFSET, &ret->fp))
        return ML_UNWOUND_LOST;
    return ret->pc ? ML_UNWOUND_DONE : ML_UNWOUND_OUTERMOST;
}
