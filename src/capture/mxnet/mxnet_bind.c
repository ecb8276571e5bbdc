/* mxnet_bind.c: see mxnet_bind.h.
 *
 * The functions that make the arrays have the same arguments. Their hooks pass the call on, and
 * name the arrays of a call that succeeded, if the build of MXNet is known: another may have other
 * arguments. The functions that bind to existing arrays, which include those of the predict API,
 * all call mxnet::Executor::Bind. Its hook names the arrays first, because Bind may replace the
 * symbol.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_bind.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "mxnet_argument_names.h"
#include "mxnet_dlsym.h"
#include "mxnet_entries.h"
#include "mxnet_features.h"
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

ML_MXNET_BIND_ENTRIES(ML_MXNET_DECLARE)
enum entry { ML_MXNET_BIND_ENTRIES(ML_MXNET_NUMBER) ENTRY_COUNT };
static struct ml_mxnet_entry entries[ENTRY_COUNT] = {ML_MXNET_BIND_ENTRIES(ML_MXNET_ELEMENT)};

void *ml_mxnet_bind_hook_of(const char *symbol)
{
    return ml_mxnet_entry_hook(entries, ENTRY_COUNT, symbol);
}

static void *real_of(enum entry entry, const void *caller)
{
    return ml_mxnet_entry_real(&entries[entry], caller);
}

/* ---- Names ---------------------------------------------------------------------- */

struct arrays {
    const char *first; /* NULL: none */
    size_t count;
    size_t step_bytes; /* 0: pointers to arrays, of which some may be NULL */
};

static const void *array_at(const struct arrays *arrays, size_t i)
{
    if (!arrays->first || i >= arrays->count)
        return NULL;
    if (arrays->step_bytes)
        return arrays->first + i * arrays->step_bytes;
    return ((void *const *)(const void *)arrays->first)[i];
}

/* What is bound to a symbol. */
struct bound {
    const void *symbol;
    struct arrays arguments, gradients, states; /* in the order of its names */
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
    for (size_t i = 0; i < names.count; i++) {
        const char *name = names.items[i];
        ml_mxnet_name_array(array_at(&bound->arguments, i),
                            is_input(bound, name) ? MEMLEDGER_INPUT : MEMLEDGER_PARAMETER, name);
        ml_mxnet_name_array(array_at(&bound->gradients, i), MEMLEDGER_GRADIENT, name);
    }
    ml_mxnet_names_release(&names);
}

static void name_states(const struct bound *bound)
{
    struct ml_mxnet_names names;

    ml_mxnet_names_of(bound->symbol, ML_MXNET_AUXILIARY_STATES, &names);
    for (size_t i = 0; i < names.count; i++)
        ml_mxnet_name_array(array_at(&bound->states, i), MEMLEDGER_BUFFER, names.items[i]);
    ml_mxnet_names_release(&names);
}

static void name_all(const struct bound *bound)
{
    if (!ml_recorder_in_session())
        return;
    name_arguments(bound);
    if (bound->states.count)
        name_states(bound);
}

/* ---- Hooks of the functions that make the arrays --------------------------------- */

/* A pointer among the words, and what it points to. */
#define POINTER(word) ((const void *)(uintptr_t)(word))
#define COUNT_AT(word) (*(const uint32_t *)POINTER(word))
#define ARRAYS_AT(word, count_word)                                                                \
    (struct arrays)                                                                                \
    {                                                                                              \
        .first = *(const char *const *)POINTER(word), .count = COUNT_AT(count_word)                \
    }

static int simple_bind_by(simple_bind_function *real, PARAMETERS)
{
    int result = real ? real(WORDS) : -1;

    if (!result && ml_mxnet_identify())
        name_all(&(struct bound){.symbol = POINTER(a0),
                                 .input_count = (uint32_t)a10,
                                 .inputs = POINTER(a11),
                                 .arguments = ARRAYS_AT(a28, a27),
                                 .gradients = ARRAYS_AT(a29, a27),
                                 .states = ARRAYS_AT(a31, a30)});
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

/* ---- The hook for existing arrays ------------------------------------------------ */

/* The symbol is passed by value, and its class has a destructor: so the caller passes the address
 * of a copy. */
typedef void *bind_function(const void *symbol, const void *context, const void *groups,
                            const struct ml_mxnet_vector *arguments,
                            const struct ml_mxnet_vector *gradients, const void *requests,
                            const struct ml_mxnet_vector *states, void *shared);

static bind_function *real_bind;
static uint32_t array_bytes;

static struct arrays arrays_in(const struct ml_mxnet_vector *vector)
{
    return (struct arrays){
        .first = vector->begin,
        .count = (size_t)(vector->end - vector->begin) / array_bytes,
        .step_bytes = array_bytes,
    };
}

static void *bind_arrays(const void *symbol, const void *context, const void *groups,
                         const struct ml_mxnet_vector *arguments,
                         const struct ml_mxnet_vector *gradients, const void *requests,
                         const struct ml_mxnet_vector *states, void *shared)
{
    name_all(&(struct bound){.symbol = symbol,
                             .arguments = arrays_in(arguments),
                             .gradients = arrays_in(gradients),
                             .states = arrays_in(states)});
    return real_bind(symbol, context, groups, arguments, gradients, requests, states, shared);
}

#define BIND                                                                                       \
    "_ZN5mxnet8Executor4BindEN4nnvm6SymbolERKNS_7ContextERKSt3mapISsS3_St4lessISsESaISt4pairIKSsS" \
    "3_EEERKSt6vectorINS_7NDArrayESaISH_EESL_RKSG_INS_9OpReqTypeESaISM_EESL_PS0_"

const struct ml_mxnet_feature *ml_mxnet_bind_feature(const struct ml_mxnet_layout *layout)
{
    static const struct ml_mxnet_feature feature = {
        .exchanges = {{NULL, BIND, (void *)bind_arrays, (void **)&real_bind}},
    };

    array_bytes = layout->array_bytes;
    return layout->version < 20000 ? &feature : NULL;
}
