/* frame_step.h: walks the stack of the calling thread, frame by frame.
 *
 * For every malloc of a program: a frame takes a look-up in a table and two loads. Only the first
 * stack through an address reads `.eh_frame`. Allocates nothing; takes no lock, not even the
 * loader's; async-signal-safe; reads only memory that can be read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_FRAME_STEP_H
#define ML_FRAME_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "frame_registers.h"
#include "row_cache.h"
#include "signal_frame.h"
#include "stack_memory.h"

struct ml_native_frame {
    uintptr_t pc; /* the address that the frame will continue at */
    uintptr_t sp; /* its stack pointer then */
    uintptr_t fp; /* its frame pointer register then */
    /* The words that `fp` and `sp` were read from; 0: they follow from the callee's registers. The
     * word below `sp` is always the one that `pc` was read from, unless a signal came. */
    uintptr_t fp_place;
    uintptr_t sp_place;
    bool used_fp; /* the callee's `fp` was needed to find it */
    /* A signal came before `pc`. Otherwise the frame has called another, and the instruction
     * before `pc` says where it is. */
    bool is_interrupted;
};

enum ml_unwound {
    ML_UNWOUND_DONE,      /* to the caller's frame */
    ML_UNWOUND_OUTERMOST, /* there is no caller */
    ML_UNWOUND_LOST,      /* no unwind data, or memory that cannot be read */
    ML_UNWOUND_COMPLEX,   /* unwind data that only a full unwinder understands */
};

/* Call once per program, when no other thread can load libraries: see ml_symbol_after. */
void ml_unwind_init(void);

/* Call after a library may have been unloaded: if one was, its rows are forgotten. */
void ml_unwind_unloaded(void);

/* The row for an instruction whose row is not in the table, and puts it there. */
struct ml_unwind_row ml_unwind_find_row(uintptr_t instruction, uint32_t unloads);

/* The step over the frame of a signal. */
enum ml_unwound ml_unwind_signal(const struct ml_stack_range *stack, uintptr_t sp,
                                 struct ml_native_frame *ret);

/* The frame that the function whose frame address (__builtin_frame_address(0)) this is returns to.
 * Precondition: it was compiled with a frame pointer. */
static ML_ALWAYS_INLINE struct ml_native_frame ml_frame_of_caller(const void *frame_address)
{
    const uintptr_t *words = frame_address;

    return (struct ml_native_frame){.pc = words[1], .sp = (uintptr_t)(words + 2), .fp = words[0]};
}

static ML_ALWAYS_INLINE uintptr_t ml_frame_instruction(const struct ml_native_frame *f)
{
    return f->is_interrupted ? f->pc : f->pc - 1;
}

/* The place of the caller's frame pointer in memory; 0: it is in the register. */
static ML_ALWAYS_INLINE uintptr_t ml_fp_place(struct ml_unwind_row row, uintptr_t cfa, uintptr_t fp)
{
    if (row.fp == ML_FP_KEPT)
        return 0;
    return (row.fp == ML_FP_AT_CFA ? cfa : fp) + (uintptr_t)(intptr_t)row.fp_offset;
}

/* The end of the frame. *ret_place: the word that it was read from, or 0. */
static ML_ALWAYS_INLINE bool ml_cfa(const struct ml_stack_range *stack, struct ml_unwind_row row,
                                    const struct ml_native_frame *f, uintptr_t *ret,
                                    uintptr_t *ret_place)
{
    *ret = (row.cfa == ML_CFA_FROM_SP ? f->sp : f->fp) + (uintptr_t)(intptr_t)row.cfa_offset;
    *ret_place = 0;
    if (ML_LIKELY(row.cfa != ML_CFA_STORED_BY_FP))
        return true;
    *ret_place = *ret;
    return ml_stack_read(stack, *ret_place, ret);
}

/* The step over a frame whose end the row has. */
static ML_ALWAYS_INLINE enum ml_unwound ml_unwind_by_row(const struct ml_stack_range *stack,
                                                         struct ml_unwind_row row,
                                                         struct ml_native_frame *f)
{
    uintptr_t cfa, cfa_place, fp_place, pc, fp = f->fp;

    if (ML_UNLIKELY(!ml_cfa(stack, row, f, &cfa, &cfa_place) ||
                    !ml_stack_read(stack, cfa + (uintptr_t)ML_RETURN_OFFSET, &pc)))
        return ML_UNWOUND_LOST;
    fp_place = ml_fp_place(row, cfa, fp);
    if (fp_place && ML_UNLIKELY(!ml_stack_read(stack, fp_place, &fp)))
        return ML_UNWOUND_LOST;
    if (ML_UNLIKELY(!pc))
        return ML_UNWOUND_OUTERMOST;
    f->pc = pc;
    f->sp = cfa;
    f->fp = fp;
    f->fp_place = fp_place;
    f->sp_place = cfa_place;
    f->used_fp = row.cfa != ML_CFA_FROM_SP || row.fp == ML_FP_AT_FP;
    f->is_interrupted = false;
    return ML_UNWOUND_DONE;
}

/* The step where a row has no address. */
static inline enum ml_unwound ml_unwind_otherwise(const struct ml_stack_range *stack,
                                                  struct ml_unwind_row row,
                                                  struct ml_native_frame *f)
{
    struct ml_native_frame interrupted;
    enum ml_unwound step;

    switch (row.cfa) {
    case ML_CFA_SIGNAL:
        step = ml_unwind_signal(stack, f->sp, &interrupted);
        if (step == ML_UNWOUND_DONE)
            *f = interrupted;
        return step;
    case ML_CFA_OUTERMOST: return ML_UNWOUND_OUTERMOST;
    case ML_CFA_COMPLEX: return ML_UNWOUND_COMPLEX;
    default: return ML_UNWOUND_LOST;
    }
}

/* Goes on to the caller's frame. *f changes only if it is reached.
 * @unloads: ml_row_unloads() at the beginning of the walk */
static ML_ALWAYS_INLINE enum ml_unwound ml_unwind_step(const struct ml_stack_range *stack,
                                                       uint32_t unloads, struct ml_native_frame *f)
{
    uintptr_t instruction = ml_frame_instruction(f);
    struct ml_unwind_row row;

    if (ML_UNLIKELY(!ml_row_cache_get(instruction, unloads, &row)))
        row = ml_unwind_find_row(instruction, unloads);
    if (ML_LIKELY(row.cfa >= ML_CFA_FROM_SP && row.cfa <= ML_CFA_STORED_BY_FP))
        return ml_unwind_by_row(stack, row, f);
    return ml_unwind_otherwise(stack, row, f);
}

#endif
