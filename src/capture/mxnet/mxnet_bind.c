/* mxnet_bind.c: see mxnet_bind.h.
 *
 * Every hook passes its call on, and names the arrays of a call that succeeded, if the build of
 * MXNet is known: another may have other arguments. The functions that bind to given arrays end in
 * MXExecutorBindEX; those that make the arrays have the same arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_bind.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "compiler.h"
#include "mxnet_argument_names.h"
#include "mxnet_dlsym.h"
#include "mxnet_entries.h"
#include "mxnet_layout.h"
#include "recorder.h"

/* The 34 arguments of MXExecutorSimpleBind, which are integers and pointers, as words. */
#define WORDS                                                                                      \
    a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, \
        a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33
#define PARAMETERS                                                                                 \
    uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6,     \
        uint64_t a7, uint64_t a8, uint64_t a9, uint64_t a10, uint64_t a11, uint64_t a12,           \
        uint64_t a13, uint64_t a14, uint64_t a15, uint64_t a16, uint64_t a17, uint64_t a18,        \
        uint64_t a19, uint64_t a20, uint64_t a21, uint64_t a22, uint64_t a23, uint64_t a24,        \
        uint64_t a25, uint64_t a26, uint64_t a27, uint64_t a28, uint64_t a29, uint64_t a30,        \
        uint64_t a31, uint64_t a32, uint64_t a33

typedef int simple_bind_function(PARAMETERS);
typedef int bind_function(const void *symbol, int device_type, int device, uint32_t group_count,
                          const char **groups, const int *group_types, const int *group_devices,
                          uint32_t count, void **arguments, void **gradients,
                          const uint32_t *requests, uint32_t state_count, void **states,
                          void *shared, void **ret);

#define DECLARE(symbol, entry, type)                                                               \
    __attribute__((visibility("default"))) type entry __asm__(#symbol);
ML_MXNET_BIND_ENTRIES(DECLARE)
#undef DECLARE

#define ENUM(symbol, entry, type) entry##_entry,
enum entry { ML_MXNET_BIND_ENTRIES(ENUM) ENTRY_COUNT };
#undef ENUM

#define SYMBOL(symbol, entry, type) #symbol,
static const char *const symbols[ENTRY_COUNT] = {ML_MXNET_BIND_ENTRIES(SYMBOL)};
#undef SYMBOL

#define HOOK(symbol, entry, type) (void *)(entry),
static void *const hooks[ENTRY_COUNT] = {ML_MXNET_BIND_ENTRIES(HOOK)};
#undef HOOK

static void *reals[ENTRY_COUNT];

void *ml_mxnet_bind_hook_of(const char *symbol)
{
    for (unsigned i = 0; i < ENTRY_COUNT; i++) {
        if (!strcmp(symbol, symbols[i]))
            return hooks[i];
    }
    return NULL;
}

static void *real_of(enum entry entry, const void *caller)
{
    void *real = __atomic_load_n(&reals[entry], __ATOMIC_RELAXED);

    if (ML_UNLIKELY(!real)) {
        real = ml_mxnet_real(symbols[entry], hooks[entry], caller);
        __atomic_store_n(&reals[entry], real, __ATOMIC_RELAXED);
    }
    return real;
}

/* ---- Names ---------------------------------------------------------------------- */

/* What is bound to a symbol. */
struct bound {
    const void *symbol;
    void *const *arguments; /* in the order of its names */
    void *const *gradients; /* likewise; NULL, or has NULLs: none */
    size_t count;
    void *const *states;
    size_t state_count;
    const char *const *inputs; /* names of arguments whose shape the program gave */
    size_t input_count;
};

/* Programs usually give the shapes of the inputs only, and MXNet infers the rest. */
static bool is_input(const struct bound *bound, const char *name)
{
    for (size_t i = 0; i < bound->input_count; i++) {
        if (!strcmp(bound->inputs[i], name))
            return true;
    }
    return !bound->input_count && ml_mxnet_is_input_name(name);
}

static void name_arguments(const struct bound *bound)
{
    struct ml_mxnet_names names;

    ml_mxnet_names_of(bound->symbol, ML_MXNET_ARGUMENTS, &names);
    for (size_t i = 0; i < names.count && i < bound->count; i++) {
        const char *name = names.items[i];
        ml_mxnet_name_array(bound->arguments[i],
                            is_input(bound, name) ? MEMLEDGER_INPUT : MEMLEDGER_PARAMETER, name);
        if (bound->gradients)
            ml_mxnet_name_array(bound->gradients[i], MEMLEDGER_GRADIENT, name);
    }
    ml_mxnet_names_release(&names);
}

static void name_states(const struct bound *bound)
{
    struct ml_mxnet_names names;

    ml_mxnet_names_of(bound->symbol, ML_MXNET_AUXILIARY_STATES, &names);
    for (size_t i = 0; i < names.count && i < bound->state_count; i++)
        ml_mxnet_name_array(bound->states[i], MEMLEDGER_BUFFER, names.items[i]);
    ml_mxnet_names_release(&names);
}

static void name_all(const struct bound *bound)
{
    if (!ml_recorder_in_session())
        return;
    name_arguments(bound);
    if (bound->state_count)
        name_states(bound);
}

/* ---- Hooks ---------------------------------------------------------------------- */

/* A pointer among the words, and what it points to. */
#define POINTER(word) ((const void *)(uintptr_t)(word))
#define COUNT_AT(word) (*(const uint32_t *)POINTER(word))
#define ARRAYS_AT(word) (*(void *const *const *)POINTER(word))

static int simple_bind_by(simple_bind_function *real, PARAMETERS)
{
    int result = real ? real(WORDS) : -1;

    if (!result && ml_mxnet_identify())
        name_all(&(struct bound){.symbol = POINTER(a0),
                                 .input_count = (uint32_t)a10,
                                 .inputs = POINTER(a11),
                                 .count = COUNT_AT(a27),
                                 .arguments = ARRAYS_AT(a28),
                                 .gradients = ARRAYS_AT(a29),
                                 .state_count = COUNT_AT(a30),
                                 .states = ARRAYS_AT(a31)});
    return result;
}

#define SIMPLE_BIND(entry)                                                                         \
    int entry(PARAMETERS)                                                                          \
    {                                                                                              \
        void *real = real_of(entry##_entry, __builtin_return_address(0));                          \
                                                                                                   \
        return simple_bind_by((simple_bind_function *)real, WORDS);                                \
    }
SIMPLE_BIND(simple_bind)
SIMPLE_BIND(simple_bind_ex)
SIMPLE_BIND(simple_bind_64)

int bind_arrays(const void *symbol, int device_type, int device, uint32_t group_count,
                const char **groups, const int *group_types, const int *group_devices,
                uint32_t count, void **arguments, void **gradients, const uint32_t *requests,
                uint32_t state_count, void **states, void *shared, void **ret)
{
    bind_function *real = (bind_function *)real_of(bind_arrays_entry, __builtin_return_address(0));
    int result =
        real ? real(symbol, device_type, device, group_count, groups, group_types, group_devices,
                    count, arguments, gradients, requests, state_count, states, shared, ret)
             : -1;

    if (!result && ml_mxnet_identify())
        name_all(&(struct bound){.symbol = symbol,
                                 .count = count,
                                 .arguments = arguments,
                                 .gradients = gradients,
                                 .state_count = state_count,
                                 .states = states});
    return result;
}
