/* frame_step.c: see frame_step.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "frame_step.h"

#include "cfi_entry.h"
#include "cfi_program.h"
#include "code_object.h"

void ml_unwind_init(void)
{
    ml_code_object_init();
    ml_stack_memory_init();
    ml_row_cache_init();
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

ML_NOINLINE enum ml_step ml_unwind_signal(const struct ml_stack_range *stack, struct ml_frame *f)
{
    struct ml_frame interrupted = {.is_interrupted = true};

    if (!ml_stack_read(stack, f->sp + ML_SIGNAL_PC_OFFSET, &interrupted.pc) ||
        !ml_stack_read(stack, f->sp + ML_SIGNAL_SP_OFFSET, &interrupted.sp) ||
        !ml_stack_read(stack, f->sp + ML_SIGNAL_FP_OFFSET, &interrupted.fp))
        return ML_STEP_LOST;
    *f = interrupted;
    return f->pc ? ML_STEP_DONE : ML_STEP_OUTERMOST;
}
