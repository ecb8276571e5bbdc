/* signal_frame.h: the frame that the kernel puts on the stack to run a signal handler.
 *
 * The handler returns to a few instructions that end the signal; below them on the stack are the
 * registers of the interrupted code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SIGNAL_FRAME_H
#define ML_SIGNAL_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
/* mov $15, %rax; syscall */
#define ML_SIGNAL_RETURN "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"
#define ML_SIGNAL_RETURN_BYTES 9

/* In the kernel's struct ucontext, which the stack pointer points to when the handler returns. */
enum {
    ML_SIGNAL_FP_OFFSET = 120,
    ML_SIGNAL_SP_OFFSET = 160,
    ML_SIGNAL_PC_OFFSET = 168,
};
#else
#error "add the signal frame of this processor"
#endif

/* Precondition: the bytes from `at` to `end` can be read. */
static inline bool ml_signal_returns_at(uintptr_t at, uintptr_t end)
{
    return at < end && end - at >= ML_SIGNAL_RETURN_BYTES &&
           !memcmp((const void *)at, ML_SIGNAL_RETURN, ML_SIGNAL_RETURN_BYTES);
}

#endif
