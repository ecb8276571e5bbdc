/* torch_real.c: see torch_real.h. No locks: every thread that fills the table writes the same
 * values, and each slot is one word.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_real.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "dlsym_hook.h"
#include "loaded.h"

/* The name in PyTorch's own builds; Debian's append a version. */
#define C10_LIBRARY "libc10.so"
#define CPU_LIBRARY "libtorch_cpu.so"

#define ENUM(entry, symbol) entry##_of_c10,
enum { ML_TORCH_C10_ENTRIES(ENUM) C10_ENTRY_COUNT };
#undef ENUM

#define SYMBOL(entry, symbol) #symbol,
static const char *const symbols[] = {ML_TORCH_ENTRIES(SYMBOL)};
#undef SYMBOL

/* The hooks, in the order of the lists. */
#define DECLARE(entry, symbol) extern const char entry##_hook[] __asm__(#symbol);
ML_TORCH_ENTRIES(DECLARE)
#undef DECLARE
#define ADDRESS(entry, symbol) entry##_hook,
static const void *const hooks[] = {ML_TORCH_ENTRIES(ADDRESS)};
#undef ADDRESS

ML_READ_ALWAYS void *ml_torch_reals[ML_TORCH_ENTRY_COUNT];

static void *nothing(void)
{
    return NULL;
}

static void learn(unsigned entry, void *found)
{
    if (found && found != hooks[entry])
        __atomic_store_n(&ml_torch_reals[entry], found, __ATOMIC_RELAXED);
}

/* Looks up all of them at once: the first call comes while PyTorch is imported, later ones when a
 * thread may hold one of PyTorch's locks, and a look-up takes the loader's. */
static void learn_all(void)
{
    void *c10 = ml_loaded_keep(C10_LIBRARY);
    void *cpu = ml_loaded_keep(CPU_LIBRARY);

    for (unsigned i = 0; i < ML_TORCH_ENTRY_COUNT; i++) {
        void *library = i < C10_ENTRY_COUNT ? c10 : cpu;
        if (library)
            learn(i, ml_dlsym_real_function()(library, symbols[i]));
    }
}

void *ml_torch_function(const char *symbol)
{
    void *library = ml_loaded_keep(CPU_LIBRARY);

    return library ? ml_dlsym_real_function()(library, symbol) : NULL;
}

void ml_torch_learn(void)
{
    int saved_errno = errno;

    learn_all();
    dlerror(); /* the program must not find our failures there */
    errno = saved_errno;
}

/* For a build that has c10 in a library of another name: the caller finds it. */
static void learn_from(unsigned entry, const void *caller)
{
    learn(entry, ml_dlsym_as_seen_from(caller, symbols[entry]));
}

void *ml_torch_find(enum ml_torch_entry entry, const void *caller)
{
    int saved_errno = errno;
    void *real;

    learn_all();
    if (!__atomic_load_n(&ml_torch_reals[entry], __ATOMIC_RELAXED))
        learn_from(entry, caller);
    dlerror(); /* the program must not find our failures there */
    errno = saved_errno;
    real = __atomic_load_n(&ml_torch_reals[entry], __ATOMIC_RELAXED);
    return real ? real : (void *)nothing;
}

static unsigned entry_of(const char *symbol)
{
    unsigned i = 0;

    while (i < ML_TORCH_ENTRY_COUNT && strcmp(symbols[i], symbol))
        i++;
    return i;
}

void *ml_torch_hook_of(const char *symbol)
{
    unsigned i = entry_of(symbol);

    return i < ML_TORCH_ENTRY_COUNT ? (void *)hooks[i] : NULL;
}

static void *hook_for_dlsym(void *handle, const char *name)
{
    (void)handle;
    return ml_torch_hook_of(name);
}

const struct ml_dlsym_provider ml_torch_dlsym = {
    .prefix = {'_', 'Z'},
    .hook_of = hook_for_dlsym,
    .hand_out = ml_dlsym_hide,
};

void *ml_torch_behind(const char *symbol)
{
    unsigned i = entry_of(symbol);

    return i < ML_TORCH_ENTRY_COUNT ? __atomic_load_n(&ml_torch_reals[i], __ATOMIC_RELAXED) : NULL;
}
