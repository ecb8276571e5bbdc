/* mxnet_cached.c: see mxnet_cached.h.
 *
 * A CachedOp gets its arrays with each call, in the order of its symbol's inputs. It does not know
 * the symbol, so a copy of the symbol, which shares its nodes, is kept until the CachedOp is freed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_cached.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "api_control.h"
#include "loaded.h"
#include "mxnet_argument_names.h"
#include "mxnet_arrays.h"
#include "mxnet_dlsym.h"
#include "mxnet_entries.h"
#include "mxnet_layout.h"
#include "mxnet_profiler.h"
#include "recorder.h"

/* Arguments are integers and pointers, passed on as words: the versions have different ones. */
typedef int create_cached_function(const void *symbol, uint64_t a1, uint64_t a2, uint64_t a3,
                                   uint64_t a4, uint64_t a5);
typedef int invoke_cached_function(const void *op, int count, void *const *inputs, uint64_t a3,
                                   uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7);
typedef int free_cached_function(const void *op);

ML_MXNET_CACHED_ENTRIES(ML_MXNET_DECLARE)
enum entry { ML_MXNET_CACHED_ENTRIES(ML_MXNET_NUMBER) ENTRY_COUNT };
static struct ml_mxnet_entry entries[ENTRY_COUNT] = {ML_MXNET_CACHED_ENTRIES(ML_MXNET_ELEMENT)};

void *ml_mxnet_cached_hook_of(const char *symbol)
{
    return ml_mxnet_entry_hook(entries, ENTRY_COUNT, symbol);
}

static void *real_of(enum entry entry, const void *caller)
{
    return ml_mxnet_entry_real(&entries[entry], caller);
}

/* See ml_mxnet_function. */
static void *copy_known, *free_known, *gradient_known, *free_array_known;

/* ---- CachedOps and their symbols ------------------------------------------------- */

#define OPS_MAX 1024

static struct cached {
    _Atomic(const void *) op; /* NULL: free; set after the rest, paired with the load in find */
    void *symbol;             /* our copy */
    uint64_t serial;          /* no other CachedOp had it */
} ops[OPS_MAX];
static _Atomic uint32_t ops_used; /* no place from here on was ever used */
static _Atomic uint64_t serials = 1;

static const char taken; /* its address is in places that are being filled */

/* @op  NULL, which a program may free: none */
static struct cached *find(const void *op)
{
    uint32_t used = atomic_load_explicit(&ops_used, memory_order_acquire);

    for (uint32_t i = 0; op && i < used; i++) {
        if (atomic_load_explicit(&ops[i].op, memory_order_acquire) == op)
            return &ops[i];
    }
    return NULL;
}

/* Another thread may take a later place first. */
static void search_up_to(uint32_t count)
{
    uint32_t used = atomic_load_explicit(&ops_used, memory_order_relaxed);

    while (used < count && !atomic_compare_exchange_weak(&ops_used, &used, count))
        continue;
}

static struct cached *take_place(void)
{
    for (uint32_t i = 0; i < OPS_MAX; i++) {
        const void *none = NULL;

        if (!atomic_compare_exchange_strong(&ops[i].op, &none, &taken))
            continue;
        search_up_to(i + 1);
        return &ops[i];
    }
    return NULL;
}

static void remember(const void *op, const void *symbol)
{
    int (*copy)(const void *, void **) =
        (int (*)(const void *, void **))ml_mxnet_function(&copy_known, "NNSymbolCopy");
    struct cached *place = copy ? take_place() : NULL;
    void *own = NULL;

    if (!place) {
        ml_recorder_cannot_follow();
        return;
    }
    if (copy(symbol, &own))
        op = NULL; /* the place stays free */
    place->symbol = own;
    place->serial = atomic_fetch_add_explicit(&serials, 1, memory_order_relaxed);
    atomic_store_explicit(&place->op, op, memory_order_release);
}

static void forget(const void *op)
{
    int (*release)(void *) = (int (*)(void *))ml_mxnet_function(&free_known, "NNSymbolFree");
    struct cached *place = find(op);
    void *symbol;

    if (!place)
        return;
    symbol = place->symbol;
    atomic_store_explicit(&place->op, NULL, memory_order_release);
    if (release)
        release(symbol);
}

/* ---- Names ---------------------------------------------------------------------- */

/* The arrays that have their names, by CachedOp and position, so that a call with a new batch names
 * only that. Where two share an entry, they get their names again. */
#define NAMED_MAX (1u << 16)
#define POSITIONS 1021 /* so many of one CachedOp never share an entry with the next one's */

static _Atomic uint64_t named[NAMED_MAX];

/* Asking for a gradient is a call of MXNet's API, which a profiler would count. */
static bool may_ask_for_gradients(void)
{
    return !ml_control_wants_calls() && !ml_mxnet_profiler_wants_calls();
}

/* Changes whenever the array, its memory or a gradient that can be named does; not 0. */
static uint64_t number_for(uint64_t key, const void *array)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15); /* odd, so that no bit is lost */
    struct ml_mxnet_block blocks[ML_MXNET_PARTS_MAX];
    const void *node = may_ask_for_gradients() ? ml_mxnet_autograd_node(array) : NULL;
    uint64_t number = key * factor + (uintptr_t)array;

    blocks[0].ptr = NULL;
    (void)ml_mxnet_array_blocks(array, blocks);
    number = number * factor + (uintptr_t)blocks[0].ptr;
    return (number * factor + (uintptr_t)node) * factor | 1;
}

/* Whether the array needs its name; it is taken to get it. */
static bool take_unnamed(const struct cached *cached, size_t position, const void *array)
{
    uint64_t key = cached->serial * POSITIONS + position;
    uint64_t number = number_for(key, array);

    return atomic_exchange_explicit(&named[key % NAMED_MAX], number, memory_order_relaxed) !=
           number;
}

static void name_gradient(const void *array, const char *name)
{
    int (*gradient_of)(const void *, void **) =
        (int (*)(const void *, void **))ml_mxnet_function(&gradient_known, "MXNDArrayGetGrad");
    int (*release)(void *) = (int (*)(void *))ml_mxnet_function(&free_array_known, "MXNDArrayFree");
    void *gradient = NULL;

    if (!gradient_of || !release || !may_ask_for_gradients())
        return;
    if (gradient_of(array, &gradient) || !gradient)
        return;
    ml_mxnet_name_array(gradient, MEMLEDGER_GRADIENT, name);
    release(gradient);
}

/* From the first that needs its name. Auxiliary states are among the inputs, in the same order. */
static void name_inputs(const struct cached *cached, void *const *arrays, size_t count,
                        size_t first)
{
    struct ml_mxnet_names names, states;
    size_t state = 0;

    ml_mxnet_names_of(cached->symbol, ML_MXNET_ALL_INPUTS, &names);
    ml_mxnet_names_of(cached->symbol, ML_MXNET_AUXILIARY_STATES, &states);
    for (size_t i = 0; i < names.count && i < count; i++) {
        const char *name = names.items[i];
        bool is_state = state < states.count && !strcmp(states.items[state], name);

        state += is_state;
        if (i < first || (i > first && !take_unnamed(cached, i, arrays[i])))
            continue;
        ml_mxnet_name_array(arrays[i],
                            is_state                       ? MEMLEDGER_BUFFER
                            : ml_mxnet_is_input_name(name) ? MEMLEDGER_INPUT
                                                           : MEMLEDGER_PARAMETER,
                            name);
        if (!is_state)
            name_gradient(arrays[i], name);
    }
    ml_mxnet_names_release(&names);
    ml_mxnet_names_release(&states);
}

static void name_changed(const void *op, void *const *arrays, size_t count)
{
    struct cached *cached = ml_recorder_in_session() ? find(op) : NULL;
    size_t i = 0;

    while (cached && i < count && !take_unnamed(cached, i, arrays[i]))
        i++;
    if (cached && i < count)
        name_inputs(cached, arrays, count, i);
}

/* ---- Hooks ---------------------------------------------------------------------- */

/* Up to 1.9 the function of this name had two arguments. */
static bool has_flags(void)
{
    void *library = ml_loaded_keep(ML_MXNET_LIBRARY);

    return library && ml_mxnet_version(library) >= 20000;
}

/* The arguments after the symbol, and which of them is the result. */
#define WORDS a1, a2, a3, a4, a5
#define PARAMETERS uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5

static int create_by(create_cached_function *real, const void *symbol, PARAMETERS, uint64_t ret)
{
    int result = real ? real(symbol, WORDS) : -1;

    if (!result && ml_recorder_in_session() && ml_mxnet_identify())
        remember(*(void **)(uintptr_t)ret, symbol);
    return result;
}

#define CREATE(entry, ret)                                                                         \
    int entry(const void *symbol, PARAMETERS)                                                      \
    {                                                                                              \
        void *real = real_of(entry##_entry, __builtin_return_address(0));                          \
                                                                                                   \
        return create_by((create_cached_function *)real, symbol, WORDS, ret);                      \
    }
CREATE(create_cached, has_flags() ? a4 : a1)
CREATE(create_cached_ex, a4)
CREATE(create_cached_safe, a4)

int invoke_cached(const void *op, int count, void *const *inputs, uint64_t a3, uint64_t a4,
                  uint64_t a5, uint64_t a6, uint64_t a7)
{
    invoke_cached_function *real =
        (invoke_cached_function *)real_of(invoke_cached_entry, __builtin_return_address(0));
    int result = real ? real(op, count, inputs, a3, a4, a5, a6, a7) : -1;

    if (!result && count > 0)
        name_changed(op, inputs, (size_t)count);
    return result;
}

int free_cached(const void *op)
{
    free_cached_function *real =
        (free_cached_function *)real_of(free_cached_entry, __builtin_return_address(0));

    forget(op);
    return real ? real(op) : -1;
}
