/* unwind_row.h: how to get from one instruction's frame to its caller's, in one word.
 *
 * The tables of `.eh_frame` (DWARF call frame information) are programs. A row is the result of
 * such a program for one address, as far as a walk needs it: where the frame ends (its CFA, the
 * stack pointer after the return), and where the caller's frame pointer is. The return address is
 * always the word below the CFA. Addresses whose frames need more have the rule ML_CFA_COMPLEX.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_UNWIND_ROW_H
#define ML_UNWIND_ROW_H

#include <stdint.h>

/* Where the frame ends. `offset` is the row's cfa_offset. */
enum ml_cfa_rule {
    ML_CFA_UNKNOWN,      /* no unwind data covers the address: the stack ends early */
    ML_CFA_FROM_SP,      /* stack pointer + offset */
    ML_CFA_FROM_FP,      /* frame pointer + offset */
    ML_CFA_STORED_BY_FP, /* in the word at frame pointer + offset */
    ML_CFA_SIGNAL,       /* the kernel's frame of a signal: the registers are in memory */
    ML_CFA_OUTERMOST,    /* the frame has no caller */
    ML_CFA_COMPLEX,      /* there is unwind data, but a row cannot express it */
};

/* Where the caller's frame pointer is. `offset` is the row's fp_offset. */
enum ml_fp_rule {
    ML_FP_KEPT,   /* still in the register */
    ML_FP_AT_CFA, /* in the word at CFA + offset */
    ML_FP_AT_FP,  /* in the word at frame pointer + offset */
};

/* Offsets have 28 bits. */
#define ML_ROW_OFFSET_MAX ((1 << 27) - 1)

struct ml_unwind_row {
    uint64_t cfa : 4; /* enum ml_cfa_rule */
    uint64_t fp : 2;  /* enum ml_fp_rule */
    int64_t cfa_offset : 28;
    int64_t fp_offset : 28;
};
_Static_assert(sizeof(struct ml_unwind_row) == 8, "read and written as one word");

#endif
