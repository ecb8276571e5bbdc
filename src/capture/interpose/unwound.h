/* unwound.h: to be told of an exception that passes through, without catching it.
 *
 * To catch one takes a landing pad, which hands the exception back to the unwinder
 * that threw it: that must be the one of the process, and ours is linked in. What the
 * unwinder calls on its way, the personality of a function, hands nothing back: it is
 * told, says to go on, and returns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_UNWOUND_H
#define ML_UNWOUND_H

#include <stdint.h>
#include <unwind.h>

/* Stands in a function that an exception may pass through, which is compiled with
 * -fexceptions and must not be inlined. `personality` is a function without static,
 * made by ML_UNWOUND. 0x1b: its address is given relative to where it is written. */
#define ML_TELL_UNWOUND(personality) __asm__ volatile(".cfi_personality 0x1b, " #personality)

/* The definition of a personality that calls `told` once for each exception that ends
 * the function. A thread that is cancelled throws none; the other one tells of that as well. */
#define ML_UNWOUND(personality, told) ML_UNWOUND_BY(personality, told, _UA_FORCE_UNWIND)
#define ML_UNWOUND_BY_ANY(personality, told) ML_UNWOUND_BY(personality, told, 0)
#define ML_UNWOUND_BY(personality, told, not_by)                                                   \
    __attribute__((visibility("hidden"), used)) _Unwind_Reason_Code personality(                   \
        int version, _Unwind_Action actions, uint64_t exception_class,                             \
        struct _Unwind_Exception *exception, struct _Unwind_Context *context);                     \
    _Unwind_Reason_Code personality(int version, _Unwind_Action actions, uint64_t exception_class, \
                                    struct _Unwind_Exception *exception,                           \
                                    struct _Unwind_Context *context)                               \
    {                                                                                              \
        (void)version, (void)exception_class, (void)exception, (void)context;                      \
        if ((actions & _UA_CLEANUP_PHASE) && !(actions & (not_by)))                                \
            told();                                                                                \
        return _URC_CONTINUE_UNWIND;                                                               \
    }

#endif
