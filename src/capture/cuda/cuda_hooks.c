/* cuda_hooks.c: the hooks, generated from the table in cuda_entries.h.
 *
 * A hook has its function's name, so that programs linked with the driver find it first, and takes
 * every argument as it came, in a register or on the stack. A call that the book need not see goes
 * on to the driver by a jump.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "cuda_call.h"
#include "cuda_first.h"
#include "frame_mark.h"
#include "unwound.h"
#include "cuda_resolve.h"

/* Passed by value, on the stack. */
struct ipc_handle {
    char bytes[64];
};

/* The parameters of a hook, by the table's number; their names; their values for struct
 * ml_cuda_call; the first three, one of which is a function's handle. */
/* clang-format off */
#define PARAMS_0 void
#define PARAMS_1 uintptr_t a0
#define PARAMS_2 PARAMS_1, uintptr_t a1
#define PARAMS_3 PARAMS_2, uintptr_t a2
#define PARAMS_4 PARAMS_3, uintptr_t a3
#define PARAMS_5 PARAMS_4, uintptr_t a4
#define PARAMS_6 PARAMS_5, uintptr_t a5
#define PARAMS_7 PARAMS_6, uintptr_t a6
#define PARAMS_8 PARAMS_7, uintptr_t a7
#define PARAMS_9 PARAMS_8, uintptr_t a8
#define PARAMS_10 PARAMS_9, uintptr_t a9
#define PARAMS_11 PARAMS_10, uintptr_t a10
#define PARAMS_IPC uintptr_t a0, struct ipc_handle handle, uintptr_t a2

#define NAMES_0
#define NAMES_1 a0
#define NAMES_2 NAMES_1, a1
#define NAMES_3 NAMES_2, a2
#define NAMES_4 NAMES_3, a3
#define NAMES_5 NAMES_4, a4
#define NAMES_6 NAMES_5, a5
#define NAMES_7 NAMES_6, a6
#define NAMES_8 NAMES_7, a7
#define NAMES_9 NAMES_8, a8
#define NAMES_10 NAMES_9, a9
#define NAMES_11 NAMES_10, a10
#define NAMES_IPC a0, handle, a2

#define VALUES_0 0
#define VALUES_1 NAMES_1
#define VALUES_2 NAMES_2
#define VALUES_3 NAMES_3
#define VALUES_4 NAMES_4
#define VALUES_5 NAMES_5
#define VALUES_6 NAMES_6
#define VALUES_7 NAMES_7
#define VALUES_8 NAMES_8
#define VALUES_9 NAMES_9
#define VALUES_10 NAMES_10
#define VALUES_11 NAMES_11
#define VALUES_IPC a0, 0, a2

#define THREE_0 0, 0, 0
#define THREE_1 a0, 0, 0
#define THREE_2 a0, a1, 0
#define THREE_3 NAMES_3
#define THREE_4 NAMES_3
#define THREE_5 NAMES_3
#define THREE_6 NAMES_3
#define THREE_7 NAMES_3
#define THREE_8 NAMES_3
#define THREE_9 NAMES_3
#define THREE_10 NAMES_3
#define THREE_11 NAMES_3
#define THREE_IPC a0, 0, a2
#define SECOND(three) SECOND_OF(three)
#define SECOND_OF(first, second, third) (second)
/* clang-format on */

/* The mark of the hook that this thread is inside and that calls the book; NULL: none. See
 * frame_mark.h. */
static __thread const volatile uint64_t *inside;

static void abandon(void)
{
    ml_cuda_abandon();
    inside = NULL;
}

ML_NOINLINE bool ml_cuda_is_inside_call(void)
{
    if (inside && !ml_frame_stands(inside))
        abandon();
    return inside;
}

/* For a thread that is cancelled inside the driver. */
ML_UNWOUND_BY_ANY(ml_cuda_unwound, abandon)

/* ---- Calls that the book need not see ---------------------------------------- */

/* Handles of functions are multiples of 8. */
#define ASKED 1

/* The value by which ml_cuda_seen knows the function of a call; 0 for other actions. */
static ML_ALWAYS_INLINE uintptr_t function_of(enum ml_cuda_action action, uintptr_t a0,
                                              uintptr_t a1, uintptr_t a2)
{
    switch (action) {
    case ML_CUDA_FIRST_LAUNCH: return a0;
    case ML_CUDA_FIRST_LAUNCH_1: return a1;
    case ML_CUDA_FIRST_ASK_0: return a0 | ASKED;
    case ML_CUDA_FIRST_ASK_1: return a1 | ASKED;
    case ML_CUDA_FIRST_ASK_2: return a2 | ASKED;
    default: return 0;
    }
}

/* Checks without calling anything. */
static ML_ALWAYS_INLINE bool is_nothing_new(enum ml_cuda_entry entry, enum ml_cuda_action action,
                                            uintptr_t a0, uintptr_t a1, uintptr_t a2)
{
    switch (action) {
    case ML_CUDA_SYNCHRONIZE:
        return !atomic_load_explicit(&ml_cuda_dirty_pools, memory_order_relaxed);
    case ML_CUDA_FIRST_LAUNCH:
    case ML_CUDA_FIRST_LAUNCH_1:
    case ML_CUDA_FIRST_ASK_0:
    case ML_CUDA_FIRST_ASK_1:
    case ML_CUDA_FIRST_ASK_2: return ml_cuda_seen_at_once(function_of(action, a0, a1, a2));
    case ML_CUDA_FIRST_CALL: return ml_cuda_was_called(entry);
    default: return false;
    }
}

/* Called after a call that succeeded. */
static void note(const struct ml_cuda_call *call)
{
    switch (call->action) {
    case ML_CUDA_FIRST_LAUNCH:
    case ML_CUDA_FIRST_LAUNCH_1:
    case ML_CUDA_FIRST_ASK_0:
    case ML_CUDA_FIRST_ASK_1:
    case ML_CUDA_FIRST_ASK_2:
        ml_cuda_note_seen(function_of((enum ml_cuda_action)call->action, call->args[0],
                                      call->args[1], call->args[2]));
        break;
    case ML_CUDA_FIRST_CALL: ml_cuda_note_called((enum ml_cuda_entry)call->entry); break;
    case ML_CUDA_CONTEXT_MAKE:
    case ML_CUDA_CONTEXT_END:
    case ML_CUDA_PRIMARY_MAKE:
    case ML_CUDA_PRIMARY_END:
        ml_cuda_forget_firsts();
        ml_got_patch_again();
        break;
    case ML_CUDA_MODULE:
        if (call->entry == ML_CUDA_ENTRY_cuModuleUnload ||
            call->entry == ML_CUDA_ENTRY_cuLibraryUnload)
            ml_cuda_forget_firsts();
        ml_got_patch_again();
        break;
    default: break;
    }
}

/* ---- A hook -------------------------------------------------------------------- */

static ML_ALWAYS_INLINE void *real_if_known(enum ml_cuda_entry entry)
{
    return __atomic_load_n(&ml_cuda_real[entry], __ATOMIC_RELAXED);
}

/* The caller of this thread's last hook that did not know its function. Read in the first part,
 * because the second need not have been reached by a jump. */
static __thread const void *called_from;

static void *real_of(enum ml_cuda_entry entry)
{
    void *real = real_if_known(entry);

    if (ML_UNLIKELY(!real) && ml_cuda_resolve())
        real = real_if_known(entry);
    return real ? real : ml_cuda_fallback(entry, called_from);
}

static ML_ALWAYS_INLINE bool is_armed(void)
{
    return __atomic_load_n(&ml_cuda_armed, __ATOMIC_RELAXED);
}

static bool calls_book(void)
{
    return is_armed() && (ML_LIKELY(!inside) || !ml_cuda_is_inside_call());
}

static bool is_seen(uintptr_t function)
{
    return function && ml_cuda_seen(function);
}

/* A program that asks the driver for a function gets its hook, even deep inside another call; the
 * book is not involved. */
static int hand_out(uintptr_t function, int result)
{
    void **at = (void **)function;

    if (!result && at)
        *at = ml_cuda_hand_out(*at);
    return result;
}

static void end(struct ml_cuda_call *call, int result)
{
    if (!result)
        note(call);
    inside = NULL;
}

/* In two parts, so that the first one is a few loads and a jump. */
#define HOOK(symbol, arguments, action_name)                                                       \
    static ML_NOINLINE int book_##symbol(PARAMS_##arguments)                                       \
    {                                                                                              \
        const enum ml_cuda_entry entry = ML_CUDA_ENTRY_##symbol;                                   \
        const enum ml_cuda_action action = ML_CUDA_##action_name;                                  \
        int (*real)(PARAMS_##arguments) = (int (*)(PARAMS_##arguments))real_of(entry);             \
        volatile uint64_t mark = 0;                                                                \
        struct ml_cuda_call call;                                                                  \
        int result;                                                                                \
                                                                                                   \
        ML_TELL_UNWOUND(ml_cuda_unwound);                                                          \
        if (action == ML_CUDA_GET_PROC)                                                            \
            return hand_out(SECOND(THREE_##arguments), real(NAMES_##arguments));                   \
        if (!calls_book() || is_seen(function_of(action, THREE_##arguments)))                      \
            return real(NAMES_##arguments);                                                        \
        call =                                                                                     \
            (struct ml_cuda_call){.entry = entry, .action = action, .args = {VALUES_##arguments}}; \
        mark = ml_frame_mark(&mark);                                                               \
        atomic_signal_fence(memory_order_seq_cst);                                                 \
        inside = &mark;                                                                            \
        ml_cuda_begin(&call);                                                                      \
        result = real(NAMES_##arguments);                                                          \
        ml_cuda_end(&call, result);                                                                \
        end(&call, result);                                                                        \
        return result;                                                                             \
    }                                                                                              \
                                                                                                   \
    static int hook_##symbol(PARAMS_##arguments)                                                   \
    {                                                                                              \
        const enum ml_cuda_entry entry = ML_CUDA_ENTRY_##symbol;                                   \
        int (*real)(PARAMS_##arguments) = (int (*)(PARAMS_##arguments))real_if_known(entry);       \
                                                                                                   \
        if (ML_LIKELY(real && (!is_armed() ||                                                      \
                               is_nothing_new(entry, ML_CUDA_##action_name, THREE_##arguments))))  \
            return real(NAMES_##arguments);                                                        \
        if (ML_UNLIKELY(!real))                                                                    \
            called_from = __builtin_return_address(0);                                             \
        return book_##symbol(NAMES_##arguments);                                                   \
    }                                                                                              \
    __attribute__((visibility("default"), alias("hook_" #symbol))) int symbol(PARAMS_##arguments);

ML_CUDA_ENTRIES(HOOK)

/* By names that no other library can replace. */
#define ADDRESS(symbol, arguments, action) (void *)hook_##symbol,
void *const ml_cuda_hooks[ML_CUDA_ENTRY_COUNT] = {ML_CUDA_ENTRIES(ADDRESS)};
