/* frame_registers.h: the registers that a walk follows, by processor.
 *
 * Rows, `.eh_frame` and walk are the same for every 64-bit processor on which a call leaves the
 * return address on the stack. Another processor adds its numbers here, and its signal frame in
 * signal_frame.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_FRAME_REGISTERS_H
#define ML_FRAME_REGISTERS_H

/* DWARF's numbers. */
#if defined(__x86_64__)
enum {
    ML_REGISTER_FP = 6, /* rbp */
    ML_REGISTER_SP = 7, /* rsp */
    ML_REGISTER_RA = 16,
};
#else
#error "add the registers of this processor"
#endif

/* Where a call leaves the return address, relative to the CFA. */
#define ML_RETURN_OFFSET (-8)

#endif
