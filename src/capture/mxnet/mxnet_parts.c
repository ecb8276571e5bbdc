/* mxnet_parts.c: see mxnet_parts.h.
 *
 * A std::function calls its target through a pointer, its invoker, which is copied with it. That
 * pointer is replaced with a thunk which knows the real one. There is a thunk for each invoker that
 * was ever seen: each lambda in MXNet's source has one. The operator's exceptions pass through.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_parts.h"

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"
#include "record.h"
#include "unwound.h"

struct std_function {
    uint64_t held[2];
    void *manager;
    void *invoker;
};
static_assert(sizeof(struct std_function) == 32, "the C++ library's layout");

/* The compiler of 1.9.1 passes the argument by value, later compilers pass its address. */
typedef void invoke_value_function(const void *held, struct ml_mxnet_run_context context);
typedef void invoke_function(const void *held, struct ml_mxnet_run_context *context);

/* The wheels have up to 120 of them. */
#define THUNKS 128
static _Atomic(void *) invokers[THUNKS];
static bool is_by_value;

/* ---- Running -------------------------------------------------------------------- */

static void leave(void)
{
    ml_record_pop();
}
ML_UNWOUND(ml_mxnet_part_unwound, leave)

static ML_NOINLINE void run_value(invoke_value_function *real, const void *held,
                                  struct ml_mxnet_run_context context)
{
    ML_TELL_UNWOUND(ml_mxnet_part_unwound);
    real(held, context);
    leave();
}

static ML_NOINLINE void run(invoke_function *real, const void *held,
                            struct ml_mxnet_run_context *context)
{
    ML_TELL_UNWOUND(ml_mxnet_part_unwound);
    real(held, context);
    leave();
}

static void invoke_value(unsigned i, const void *held, struct ml_mxnet_run_context context)
{
    invoke_value_function *real =
        (invoke_value_function *)atomic_load_explicit(&invokers[i], memory_order_relaxed);

    if (ml_mxnet_begin_part())
        run_value(real, held, context);
    else
        real(held, context);
}

static void invoke(unsigned i, const void *held, struct ml_mxnet_run_context *context)
{
    invoke_function *real =
        (invoke_function *)atomic_load_explicit(&invokers[i], memory_order_relaxed);

    if (ml_mxnet_begin_part())
        run(real, held, context);
    else
        real(held, context);
}

/* ---- Thunks --------------------------------------------------------------------- */

#define ROW(X, h)                                                                                  \
    X(h##0)                                                                                        \
    X(h##1)                                                                                        \
    X(h##2)                                                                                        \
    X(h##3)                                                                                        \
    X(h##4) X(h##5) X(h##6) X(h##7) X(h##8) X(h##9) X(h##a) X(h##b) X(h##c) X(h##d) X(h##e) X(h##f)
#define ALL(X)                                                                                     \
    ROW(X, 0x0) ROW(X, 0x1) ROW(X, 0x2) ROW(X, 0x3) ROW(X, 0x4) ROW(X, 0x5) ROW(X, 0x6) ROW(X, 0x7)

#define THUNK(i)                                                                                   \
    static void value_thunk_##i(const void *held, struct ml_mxnet_run_context context)             \
    {                                                                                              \
        invoke_value(i, held, context);                                                            \
    }                                                                                              \
    static void thunk_##i(const void *held, struct ml_mxnet_run_context *context)                  \
    {                                                                                              \
        invoke(i, held, context);                                                                  \
    }
ALL(THUNK)

#define VALUE_NAME(i) value_thunk_##i,
#define NAME(i) thunk_##i,
static invoke_value_function *const value_thunks[THUNKS] = {ALL(VALUE_NAME)};
static invoke_function *const thunks[THUNKS] = {ALL(NAME)};

static void *thunk(unsigned i)
{
    return is_by_value ? (void *)value_thunks[i] : (void *)thunks[i];
}

void ml_mxnet_parts_begin(const struct ml_mxnet_layout *layout)
{
    is_by_value = layout->version < 20000;
}

/* The invoker's index, assigned if it has none; THUNKS: all are taken. */
static unsigned place_of(void *invoker)
{
    unsigned first = (unsigned)((uintptr_t)invoker >> 4) % THUNKS;

    for (unsigned n = 0; n < THUNKS; n++) {
        unsigned i = (first + n) % THUNKS;
        void *there = atomic_load_explicit(&invokers[i], memory_order_relaxed);
        /* A thread that runs the thunk got it from this one, and with it these stores. */
        if (!there && atomic_compare_exchange_strong(&invokers[i], &there, invoker))
            return i;
        if (there == invoker)
            return i;
    }
    return THUNKS;
}

bool ml_mxnet_watch_part(void *function)
{
    struct std_function *f = function;
    unsigned place = f->invoker ? place_of(f->invoker) : THUNKS;

    if (place == THUNKS)
        return false;
    f->invoker = thunk(place);
    return true;
}
