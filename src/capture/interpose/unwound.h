/* unwound.h: get notified of an exception that passes through a function, without catching it.
 *
 * Catching one takes a landing pad, which hands the exception back to the unwinder that threw it:
 * that must be the one of the process, and ours is linked in. A function's personality, which the
 * unwinder calls on the way, hands nothing back: it calls a function, says to continue, and
 * returns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_UNWOUND_H
#define ML_UNWOUND_H

#include <stdint.h>
#include <unwind.h>

/* Use it in a function that an exception may pass through, is compiled with -fexceptions and must
 * not be inlined. `personality` is a function without static, defined by ML_UNWOUND. 0x1b: its
 * address is relative to the place where it is stored. */
#define ML_TELL_UNWOUND(personality) __asm__ volatile(".cfi_personality 0x1b, " #personality)

/* Defines a personality that calls `told` once for each exception that ends the function.
 * Cancelling a thread throws none; ML_UNWOUND_BY_ANY calls it for that as well. */
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
