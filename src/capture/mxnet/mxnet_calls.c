/* mxnet_calls.c: the calls of MXNet's C API, as in MXNet's profiler: a task for each, their number,
 * and the number at a time. Only while a profiler runs that wants them: MXNet's, or memledger's.
 *
 * Each function of the API begins by passing its name to mxnet::on_enter_api and ends, in success
 * or failure, with mxnet::on_exit_api; MXNet's library calls both by name. So two hooks see all
 * calls, from C and from Python, and need no knowledge of the functions.
 *
 * A call takes an object when it begins and releases it when it ends: calls of one function that
 * overlap have one each, and few are needed in all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "api_control.h"
#include "api_objects.h"
#include "compiler.h"
#include "memledger/memledger.h"
#include "mxnet_dlsym.h"
#include "mxnet_entries.h"
#include "mxnet_layout.h"
#include "mxnet_profiler.h"

typedef void enter_function(const char *function);
typedef void exit_function(void);

__attribute__((visibility("default")))
enter_function enter_call __asm__("_ZN5mxnet12on_enter_apiEPKc");
__attribute__((visibility("default"))) exit_function exit_call __asm__("_ZN5mxnet11on_exit_apiEv");

#define ENUM(entry, symbol) entry##_entry,
enum { ML_MXNET_CALL_ENTRIES(ENUM) ENTRY_COUNT };
#undef ENUM

#define SYMBOL(entry, symbol) #symbol,
static const char *const symbols[ENTRY_COUNT] = {ML_MXNET_CALL_ENTRIES(SYMBOL)};
#undef SYMBOL

#define HOOK(entry, symbol) (void *)(entry),
static void *const hooks[ENTRY_COUNT] = {ML_MXNET_CALL_ENTRIES(HOOK)};
#undef HOOK

static void *reals[ENTRY_COUNT];

/* Calls that this thread is in; 0 for one that is not recorded. */
enum { CALLS_MAX = 8 };
static __thread struct {
    uint32_t depth; /* may exceed CALLS_MAX */
    memledger_object tasks[CALLS_MAX];
} calls;

/* ---- Recording ------------------------------------------------------------------- */

static _Atomic memledger_object domain, call_count, call_concurrency;

/* One for all threads, created by the first that needs it. */
static memledger_object find(_Atomic memledger_object *at, int kind, memledger_object in,
                             const char *name)
{
    memledger_object known = atomic_load_explicit(at, memory_order_acquire);
    memledger_object made;

    if (ML_LIKELY(known))
        return known;
    made = ml_api_create(kind, in, name);
    if (made && !atomic_compare_exchange_strong(at, &known, made)) {
        ml_api_destroy(made);
        return known;
    }
    return made;
}

static memledger_object find_domain(void)
{
    return find(&domain, MEMLEDGER_DOMAIN, 0, "MXNET_C_API");
}

static void count(_Atomic memledger_object *counter, const char *name, int64_t change)
{
    memledger_object object = find(counter, MEMLEDGER_COUNTER, find_domain(), name);

    if (object)
        ml_api_counter_adjust(object, change);
}

/* MXNet's profiler leaves out the calls that control it. */
static bool is_profilers(const char *function)
{
    static const char *const names[] = {"MXProfile", "MXSetProcessProfiler", "MXDumpProcessProfile",
                                        "MXProcessProfilePause"};

    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (!strncmp(function, names[i], strlen(names[i])))
            return true;
    }
    return false;
}

static memledger_object begin(const char *function)
{
    memledger_object task;

    if (!function || is_profilers(function))
        return 0;
    task = ml_api_create(MEMLEDGER_TASK, find_domain(), function);
    if (!task)
        return 0;
    count(&call_count, "MXNet C API Calls", 1);
    count(&call_concurrency, "MXNet C API Concurrency", 1);
    ml_api_start(task);
    return task;
}

static void end(memledger_object task)
{
    ml_api_stop(task);
    ml_api_destroy(task);
    count(&call_concurrency, "MXNet C API Concurrency", -1);
}

static ML_ALWAYS_INLINE bool is_wanted(void)
{
    return ml_control_wants_calls() || ml_mxnet_profiler_wants_calls();
}

/* ---- The hooks ------------------------------------------------------------------ */

static ML_NOINLINE void enter(const char *function)
{
    memledger_object task = 0;

    if (is_wanted() && calls.depth < CALLS_MAX)
        task = begin(function);
    if (calls.depth < CALLS_MAX)
        calls.tasks[calls.depth] = task;
    calls.depth++;
}

static ML_NOINLINE void leave(void)
{
    calls.depth--;
    if (calls.depth < CALLS_MAX && calls.tasks[calls.depth])
        end(calls.tasks[calls.depth]);
}

static ML_ALWAYS_INLINE void *real(unsigned entry, const void *caller)
{
    void *found = __atomic_load_n(&reals[entry], __ATOMIC_RELAXED);

    if (ML_UNLIKELY(!found)) {
        found = ml_mxnet_real(symbols[entry], hooks[entry], caller);
        __atomic_store_n(&reals[entry], found, __ATOMIC_RELAXED);
    }
    return found;
}

/* Within a known call all calls are counted, so that each end matches its beginning when a profiler
 * is started or stopped in between. MXNet's first call may read parameters before it allocates:
 * the hook for that must already be in place. */
void enter_call(const char *function)
{
    enter_function *go_on = (enter_function *)real(enter_call_entry, __builtin_return_address(0));

    ml_mxnet_identify();
    if (ML_UNLIKELY(calls.depth || is_wanted()))
        enter(function);
    if (go_on)
        go_on(function);
}

void exit_call(void)
{
    exit_function *go_on = (exit_function *)real(exit_call_entry, __builtin_return_address(0));

    if (ML_UNLIKELY(calls.depth))
        leave();
    if (go_on)
        go_on();
}

void *ml_mxnet_call_hook_of(const char *symbol)
{
    for (unsigned i = 0; i < ENTRY_COUNT; i++) {
        if (!strcmp(symbol, symbols[i]))
            return hooks[i];
    }
    return NULL;
}
